#!/bin/sh
# Analyses zetools.h, all of it, without running it, and runs test programs under valgrind. The last line is
# `N passed, N failed`; what the tools print is in build/analysis.
# Usage: tests/analysis.sh [PROGRAM...]    the plain test programs for valgrind
set -u
cd "$(dirname "$0")/.." || exit 1
mkdir -p "${BUILD:-build}"
top=$(cd "${BUILD:-build}" && pwd)
build=$top/analysis

# Blocks that are still referenced are no leaks: some tests are meant to exit with threads alive.
memcheck() { # PROGRAM [ARGUMENT...]
    ZET_ENABLE_METRICS=1 ZE_ENABLE_ALT_DRIVERS="$top/libze_softgpu.so" timeout 300 valgrind -q --error-exitcode=9 \
        --fair-sched=yes --leak-check=full --show-leak-kinds=definite --errors-for-leak-kinds=definite \
        --suppressions=tests/valgrind.supp "$@"
}

check() { # NAME
    case $1 in
    # Without limits the analyzer of gcc 12 does not end in a quarter of an hour. With them, and at a call it has seen
    # before, it forgets what a function stores where an argument points to, and what it promises about it: it takes that
    # for uninitialised, or for NULL. clang's analyser and valgrind look for these.
    gcc-fanalyzer)
        gcc -std=gnu11 -I. -c -o /dev/null -Werror -fanalyzer -fanalyzer-call-summaries \
            --param=analyzer-bb-explosion-factor=1 --param=analyzer-max-enodes-per-program-point=2 \
            --param=analyzer-max-recursion-depth=0 -Wno-analyzer-use-of-uninitialized-value \
            -Wno-analyzer-null-dereference "$build/all.c"
        ;;
    clang-tidy) clang-tidy --quiet --config-file=.clang-tidy "$build/all.c" -- -std=gnu11 -I"$PWD" ;;
    # It sees the headers of Level Zero, and knows those of the C library, which it cannot parse. Threads may call
    # readdir() for directories of their own.
    cppcheck)
        cppcheck -q --std=c99 --enable=warning,performance,portability --library=posix \
            --suppress=missingIncludeSystem --suppress=readdirCalled --error-exitcode=1 -D__linux__ -D__x86_64__ \
            -D__GNUC__=12 -I "$build/include" -I . "$build/all.c"
        ;;
    # That faults make a run fail is tried with two that are meant.
    finds-*)
        memcheck "$build/faults" "${1#finds-}"
        [ $? -eq 9 ]
        ;;
    *) memcheck "$top/tests/$1" ;;
    esac
}

if [ "${1:-}" = --one ]; then
    if check "$2" >"$build/$2.log" 2>&1 </dev/null; then
        echo "$2: passed" | tee "$build/$2.result"
    else
        echo "$2: failed" | tee "$build/$2.result"
        tail -n 40 "$build/$2.log"
    fi
    exit 0
fi

rm -rf "$build"
mkdir -p "$build/include"
for directory in /usr/include /usr/local/include; do
    [ ! -d "$directory/level_zero" ] || ln -sfn "$directory/level_zero" "$build/include/level_zero"
done
cat >"$build/all.c" <<'EOF'
#define ZETOOLS_TRACER
#define ZETOOLS_DEBUG
#define ZETOOLS_CONNECTORS
#define ZETOOLS_IMPLEMENTATION
#include "zetools.h"
EOF
cat >"$build/faults.c" <<'EOF'
#include <stdlib.h>
int main(int argc, char **argv) {
    volatile char *block = malloc((size_t)argc);
    if (argv[1][0] == 'l')
        block = NULL; /* lost */
    else if (block[0])
        return 1;
    free((void *)block);
    return 0;
}
EOF
gcc -w -g -o "$build/faults" "$build/faults.c" || exit 1

printf '%s\n' gcc-fanalyzer clang-tidy cppcheck finds-lost finds-uninitialised "$@" |
    xargs -n 1 -P "$(nproc)" tests/analysis.sh --one
cat "$build"/*.result | awk '
    { count[$2]++ }
    END { printf "%d passed, %d failed\n", count["passed"], count["failed"]; exit !count["passed"] || count["failed"] }'
