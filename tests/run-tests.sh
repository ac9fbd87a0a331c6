#!/bin/sh
# Runs test programs through the Level Zero loader on the software device, and counts.
# Usage: tests/run-tests.sh [VARIANT...] [-- PROGRAM...]     default: plain, every program that was built for the variant
# Each program's output is in build/logs/VARIANT/PROGRAM.log; that of a failing one is printed. build/logs/VARIANT/seconds
# has how long each took. What has failed is named again at the end, in lines `failed: VARIANT PROGRAM: ...`. The last
# line is the sum, `N passed, N failed`. A program that crashes, hangs or reports nothing counts as failed.
#
# A variant is a directory of programs and what is put before them on the command line. VARIANT-SUITE runs on the loader
# of another Debian suite, any other on the one of this system. windows is for tests/run-windows.sh.
set -u
cd "$(dirname "$0")/.." || exit 1
mkdir -p "${BUILD:-build}"
build=$(cd "${BUILD:-build}" && pwd)
limit=${ZT_TEST_TIMEOUT:-300}

# What is compiled for a variant is in a directory of that name. The others run the plain programs.
directory_of() { # VARIANT
    if [ -d "$build/${1%%-*}/tests" ]; then echo "$build/${1%%-*}"; else echo "$build"; fi
}

# Not all machines execute programs of 32 bits: elsewhere, and with ZT_I386=qemu, they are emulated.
runs_i386() {
    [ "${ZT_I386:-}" != qemu ] && /usr/i686-linux-gnu/lib/ld-linux.so.2 --version >/dev/null 2>&1
}

run_in_variant() { # VARIANT PROGRAM
    directory=$(directory_of "$1")
    program=$directory/tests/$2
    launcher=
    case $1 in
    *-*) launcher=$build/suites/${1#*-}/run ;;
    esac
    case $1 in
    asan) set -- ASAN_OPTIONS=detect_leaks=1 UBSAN_OPTIONS=print_stacktrace=1 ;;
    # ThreadSanitizer of some compilers cannot live with many bits of address randomisation.
    tsan) if setarch -R true 2>/dev/null; then set -- setarch -R; else set --; fi ;;
    coverage*) set -- GCOV_PREFIX="$build/coverage/data/$2" ;;
    # With parameter validation and the leak checker, which are parts of it. The loader of bookworm has no checkers.
    validation*) set -- ZE_ENABLE_VALIDATION_LAYER=1 ZE_ENABLE_PARAMETER_VALIDATION=1 ZEL_ENABLE_BASIC_LEAK_CHECKER=1 ;;
    events*) set -- ZE_ENABLE_VALIDATION_LAYER=1 ZEL_ENABLE_EVENTS_CHECKER=1 ;;
    intercept*) set -- ZE_ENABLE_LOADER_INTERCEPT=1 ;;
    # Two drivers in the loader, of which the tests use the first.
    drivers*) set -- ZE_ENABLE_ALT_DRIVERS="$build/libze_softgpu.so,$build/libze_second.so" ;;
    arm64)
        root=/usr/aarch64-linux-gnu
        launcher="qemu-aarch64 -L $root -E LD_LIBRARY_PATH=$directory/lib:$root/lib"
        set --
        ;;
    i386)
        runs_i386 || launcher="qemu-i386 -L /usr/i686-linux-gnu"
        set --
        ;;
    windows)
        launcher=wine
        program=$program.exe
        set -- ZE_ENABLE_ALT_DRIVERS="$(winepath -w "$directory/ze_softgpu.dll")"
        ;;
    *) set -- ;;
    esac
    device=$directory/libze_softgpu.so
    [ -e "$device" ] || device=$build/libze_softgpu.so
    # shellcheck disable=SC2086 # there may be no launcher
    timeout -k 10 "$limit" env CMOCKA_MESSAGE_OUTPUT=tap ZET_ENABLE_METRICS=1 ZE_ENABLE_ALT_DRIVERS="$device" "$@" \
        $launcher "$program"
}

run_one() { # VARIANT PROGRAM
    log=$build/logs/$1/$2.log
    begin=$(date +%s%N)
    run_in_variant "$1" "$2" >"$log" 2>&1 </dev/null
    status=$?
    seconds=$(awk -v begin="$begin" -v end="$(date +%s%N)" 'BEGIN { printf "%.1f", (end - begin) / 1e9 }')
    echo "$seconds $2" >>"$build/logs/$1/seconds"
    sed -i 's/\r$//' "$log"
    tests/count-tap.sh "$status" <"$log" >"$log.counts"
    read -r passed failed skipped <"$log.counts"
    if leaks "$1" "$2" "$log"; then
        failed=$((failed + 1))
        echo "$passed $failed $skipped" >"$log.counts"
    fi
    line="$1 $2: $passed passed, $failed failed"
    if [ "$skipped" -gt 0 ]; then
        line="$line, $skipped skipped"
        reasons=$(grep '^skipped: ' "$log" | sort -u)
        [ -z "$reasons" ] || line="$line
$reasons"
    fi
    if [ "$failed" -gt 0 ]; then
        [ "$status" -ne 124 ] || line="$line (no end after $limit seconds)"
        line="$line, exit status $status; $log:
$(tail -n 200 "$log")"
    fi
    printf '%s\n' "$line"
}

# Those of the largest sources first, since these take longest.
programs() { # DIRECTORY
    find tests -maxdepth 1 -name 'test_*.c*' -printf '%s %f\n' | sort -rn | sed 's/^[0-9]* //; s/\..*//' | while read -r program; do
        [ ! -e "$1/tests/$program" ] || echo "$program"
    done
}

# What cannot be run in a layer, through no fault of the library.
fits() { # VARIANT PROGRAM
    case $1:$2 in
    # A layer checks the library's calls, not those of the device's own tests.
    validation*:test_softgpu* | intercept*:test_softgpu* | drivers*:test_softgpu* | events*:test_softgpu*) false ;;
    # These fail calls and leave lists to the device, which layers take for mistakes.
    validation*:test_sequences | intercept*:test_sequences | drivers*:test_sequences | events*:test_sequences) false ;;
    validation*:test_every_call | intercept*:test_every_call | drivers*:test_every_call | events*:test_every_call) false ;;
    # Where they are emulated, the others are too slow.
    i386:*) runs_i386 || echo "${EMULATED_TESTS:-$2}" | grep -qw "$2" ;;
    # The events checker remembers every use of every event: memory grows.
    events*:test_completeness) false ;;
    # It is not thread-safe: with bare calls on two threads it corrupts the heap as well.
    events*) ! grep -qE 'pthread_t|[.]thread = [^0]|zt_watch[(]' "tests/$2".c* ;;
    *) true ;;
    esac
}

# Whether the leak checker found objects that were never destroyed.
leaks() { # VARIANT PROGRAM LOG
    case $1:$2 in
    # These exit with objects alive, let destruction fail, or leave what the device may still write to.
    *:test_auto | *:test_bad_input | *:test_debug | *:test_driver | *:test_faults | *:test_lost | *:test_process | *:test_reader | *:test_signal | *:test_stamps | *:test_thread | *:test_watch) false ;;
    # Threads count without a lock, so that fewer may seem to be created than destroyed.
    validation*) grep -q 'LEAK = [0-9]' "$3" ;;
    *) false ;;
    esac
}

if [ "${1:-}" = --one ]; then
    run_one "$2" "$3"
    exit 0
fi

variants=
while [ $# -gt 0 ] && [ "$1" != -- ]; do
    variants="$variants $1"
    shift
done
[ $# -eq 0 ] || shift
work=$(for variant in ${variants:-plain}; do
    # shellcheck disable=SC2048 # words
    for program in ${*:-$(programs "$(directory_of "$variant")")}; do
        ! fits "$variant" "$program" || echo "$variant $program"
    done
done)
case " $variants " in
*' i386 '*) runs_i386 || echo "i386: under qemu, without the programs that are too slow there" ;;
esac
for variant in ${variants:-plain}; do
    mkdir -p "$build/logs/$variant"
    rm -f "$build/logs/$variant/seconds" "$build/logs/$variant"/*.counts
done
echo "$work" | BUILD=$build xargs -n 2 -P "$(nproc)" tests/run-tests.sh --one

echo "$work" | while read -r variant program; do
    log=$build/logs/$variant/$program.log
    if ! grep -q ' 0 [0-9]*$' "$log.counts" 2>/dev/null; then
        { grep -A 2 '^not ok' "$log" || tail -n 3 "$log"; } 2>/dev/null | sed "s/^/failed: $variant $program: /"
    fi
done
sum=$(echo "$work" | while read -r variant program; do
    cat "$build/logs/$variant/$program.log.counts" 2>/dev/null || echo 0 1
done | awk '
    { passed += $1; failed += $2 }
    END { printf "%d passed, %d failed\n", passed, failed; exit failed > 0 || passed == 0 }')
status=$?
for variant in ${variants:-plain}; do
    awk -v variant="$variant" '{ sum += $1 } END { printf "%s: %.0f seconds of programs\n", variant, sum }' "$build/logs/$variant/seconds"
done
echo "$sum"

# make reports a failure below the sum, which is to be the last line: it is printed again when make has ended.
if [ "$status" -ne 0 ] && [ -n "${MAKELEVEL:-}" ]; then
    (
        while kill -0 "$PPID" 2>/dev/null; do sleep 0.02; done
        echo "$sum"
    ) &
fi
exit "$status"
