#!/bin/sh
# What the header costs the compiler, and what is left of it when it is disabled.
# Usage: bench/compile.sh
# Fails where ZETOOLS_DISABLE leaves anything.
set -u
top=$(cd "$(dirname "$0")/.." && pwd)
here=$top/bench/compile
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
cc=${CC:-cc}
status=0

put() { # NAME VALUE
    awk -v name="$1" -v value="$2" 'BEGIN { printf "ratio %s %.4g target - ok\n", name, value }'
}

# Bytes of code and constants in which the two differ.
difference() { # COMPILER
    for variant in PLAIN REGIONS; do
        "$1" -O2 -I"$top" -D"$variant" -c -o "$out/$variant.o" "$here/disabled.c" || exit 1
        objcopy -O binary -j '.text*' -j '.rodata*' -j '.data*' --set-section-flags .text=alloc \
            "$out/$variant.o" "$out/$variant.bin" || exit 1
    done
    [ -s "$out/PLAIN.bin" ] || exit 1
    cmp -l "$out/PLAIN.bin" "$out/REGIONS.bin" 2>&1 | wc -l
}

disabled() {
    differing=0
    for compiler in "$cc" clang; do
        if command -v "$compiler" >/dev/null; then
            differing=$((differing + $(difference "$compiler"))) || exit 1
        fi
    done
    if [ "$differing" -eq 0 ]; then
        echo "ratio disabled 0 target 0 ok"
    else
        echo "ratio disabled $differing target 0 short"
        status=1
    fi
}

# Of the processor, not of the clock, for the machine may be busy: the median of three.
seconds() { # COMPILER
    for _ in 1 2 3; do
        bash -c 'TIMEFORMAT="%U %S"; time "$@"' - "$1" -O2 -I"$top" -DZETOOLS_IMPLEMENTATION -x c -c \
            -o "$out/$1.o" "$top/zetools.h" 2>&1 | awk '{ print $1 + $2 }'
    done | sort -g | sed -n 2p
}

implementation() {
    for compiler in gcc clang; do
        if command -v "$compiler" >/dev/null; then
            put "compile_seconds_$compiler" "$(seconds "$compiler")"
            put "text_KiB_$compiler" "$(size "$out/$compiler.o" | awk 'NR == 2 { print $1 / 1024 }')"
        fi
    done
}

disabled
implementation
exit $status
