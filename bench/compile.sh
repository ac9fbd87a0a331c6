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

# What three runs take: of the processor, not of the clock, for the machine may be busy.
seconds() { # COMMAND...
    bash -c 'TIMEFORMAT="seconds %U %S"; time { "$@" && "$@" && "$@"; }' - "$@" 2>&1 |
        awk '$1 == "seconds" { print $2 + $3 }'
}

median() {
    sort -g | awk '{ value[NR] = $1 } END { print (value[int((NR + 1) / 2)] + value[int(NR / 2) + 1]) / 2 }'
}

put() { # NAME VALUE TARGET
    awk -v name="$1" -v value="$2" -v target="$3" \
        'BEGIN { printf "ratio %s %.4g target %.4g %s\n", name, value, target, value + 0 <= target + 0 ? "ok" : "short" }'
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
    put disabled "$differing" 0
    [ "$differing" -eq 0 ] || status=1
}

with_header() {
    seconds "$cc" -O2 -I"$top" -DWITH_HEADER -c -o "$out/header.o" "$here/header.c"
}

without_header() {
    seconds "$cc" -O2 -I"$top" -c -o "$out/header.o" "$here/header.c"
}

include() {
    for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15; do
        echo "$(with_header) $(without_header)"
        echo "$(without_header) $(with_header)" | awk '{ print $2, $1 }'
    done | awk '{ print $1 / $2 }' | median
}

implementation() {
    seconds "$cc" -O2 -I"$top" -DZETOOLS_IMPLEMENTATION -x c -c -o "$out/implementation.o" "$top/zetools.h" |
        awk '{ print $1 / 3 }'
}

disabled
put include "$(include)" 1.05
put implementation_seconds "$(implementation)" 2
put implementation_KiB "$(size "$out/implementation.o" | awk 'NR == 2 { print $1 / 1024 }')" 96
exit $status
