#!/bin/sh
# Runs the test programs through the Level Zero loader on the software device, and counts.
# Usage: tests/run-tests.sh              every program in every variant
#        tests/run-tests.sh PROGRAM...   these, plain
#        tests/run-tests.sh --variant VARIANT [PROGRAM...]
#                                        these, or every program, in one variant
# Each program's output is in build/logs/VARIANT/PROGRAM.log; that of a failing one is printed. The last line is
# the sum, `N passed, N failed`. A program that crashes, hangs or reports nothing counts as failed.
#
# ZT_UNSTEADY=n, as in CI: up to n programs may fail beside others, if each then passes three times alone. They are
# named as unsteady above the sum. If more have failed, none is repeated. Default: 0.
set -u
top=$(cd "$(dirname "$0")/.." && pwd)
build=$top/build
cd "$top" || exit 1
limit=${ZT_TEST_TIMEOUT:-120}

# A variant is a directory of programs and what is put before them on the command line. LAYER runs on the loader
# of this system, LAYER-SUITE on the one of another Debian suite.
# drivers is with two drivers in the loader, of which the tests use the first.
# headers-SUITE is compiled against the newest headers, and runs on the loader of that suite. arm64 and i386 are programs
# and a loader for these machines, musl for that C library. windows is for tests/run-windows.sh.
run_in_variant() { # VARIANT PROGRAM
    directory=$build
    driver=
    launcher=
    validation=ZE_ENABLE_VALIDATION_LAYER=1
    case $1 in
    *-*) launcher=$build/suites/${1#*-}/run ;;
    esac
    case $1 in
    plain | loader-*) set -- "$2" ;;
    lto | o0 | native | fast | hidden)
        directory=$build/$1
        set -- "$2"
        ;;
    arm64)
        directory=$build/arm64
        root=/usr/aarch64-linux-gnu
        launcher="qemu-aarch64 -L $root -E LD_LIBRARY_PATH=$directory/lib:$root/lib"
        set -- "$2"
        ;;
    i386 | musl)
        directory=$build/$1
        set -- "$2"
        ;;
    windows)
        directory=$build/windows
        driver=$(winepath -w "$directory/ze_softgpu.dll")
        launcher=wine
        set -- "$2.exe"
        ;;
    headers-*)
        directory=$build/headers
        set -- "$2"
        ;;
    asan)
        directory=$build/asan
        set -- "$2" ASAN_OPTIONS=detect_leaks=1 UBSAN_OPTIONS=print_stacktrace=1
        ;;
    tsan)
        directory=$build/tsan
        set -- "$2"
        # ThreadSanitizer of some compilers cannot live with many bits of address randomisation.
        if setarch -R true 2>/dev/null; then set -- "$@" setarch -R; fi
        ;;
    coverage*)
        directory=$build/coverage
        set -- "$2" GCOV_PREFIX="$build/coverage/data/$2"
        ;;
    validation*) set -- "$2" $validation ZE_ENABLE_PARAMETER_VALIDATION=1 ;;
    leaks*) set -- "$2" $validation ZEL_ENABLE_BASIC_LEAK_CHECKER=1 ;;
    drivers*)
        driver=$build/libze_softgpu.so,$build/libze_second.so
        set -- "$2"
        ;;
    events*) set -- "$2" $validation ZEL_ENABLE_EVENTS_CHECKER=1 ;;
    intercept*) set -- "$2" ZE_ENABLE_LOADER_INTERCEPT=1 ;;
    esac
    program=$directory/tests/$1
    shift
    # shellcheck disable=SC2086 # there may be no launcher
    timeout -k 10 "$limit" env CMOCKA_MESSAGE_OUTPUT=tap ZET_ENABLE_METRICS=1 \
        ZE_ENABLE_ALT_DRIVERS="${driver:-$directory/libze_softgpu.so}" "$@" $launcher "$program"
}

run_one() { # VARIANT PROGRAM
    log=$build/logs/$1/$2.log
    mkdir -p "$(dirname "$log")"
    rm -f "$log.counts"
    run_in_variant "$1" "$2" >"$log" 2>&1 </dev/null
    status=$?
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

programs() { # DIRECTORY
    find "$1/tests" -maxdepth 1 -type f -name 'test_*' ! -name '*.*' 2>/dev/null | sed 's|.*/||' | sort
}

variants() {
    echo plain
    echo asan
    echo tsan
    echo validation
    echo intercept
    echo drivers
    for options in lto o0 native fast hidden; do
        [ ! -d "$build/$options/tests" ] || echo "$options"
    done
    own=$(ldd "$build/tests/$(programs "$build" | head -n 1)" | awk '/libze_loader/ { print $3; exit }')
    for suite in bookworm trixie sid; do
        if [ ! -x "$build/suites/$suite/run" ]; then
            echo "not run under the loader of Debian $suite: 'make suites' fetches it" >&2
            continue
        fi
        [ "$suite" != bookworm ] || [ ! -d "$build/headers/tests" ] || echo headers-bookworm
        cmp -s "$own" "$build/suites/$suite/lib/libze_loader.so.1" ||
            printf '%s\n' "loader-$suite" "validation-$suite" "intercept-$suite" "drivers-$suite"
        # The loader of bookworm has no checkers.
        [ "$suite" = bookworm ] || printf '%s\n' "leaks-$suite" "events-$suite"
    done
}

# What cannot be run in a variant, through no fault of the library.
fits() { # VARIANT PROGRAM
    case $1:$2 in
    # These pass wrong handles, which interception, with one driver or two, and the events checker dereference.
    intercept*:test_softgpu* | drivers*:test_softgpu* | events*:test_softgpu*) false ;;
    # The events checker remembers every use of every event: memory grows.
    events*:test_completeness) false ;;
    # These fail calls and leave lists to the device, which layers take for mistakes.
    validation*:test_sequences | intercept*:test_sequences | drivers*:test_sequences | leaks*:test_sequences | events*:test_sequences) false ;;
    validation*:test_every_call | intercept*:test_every_call | drivers*:test_every_call | leaks*:test_every_call | events*:test_every_call) false ;;
    # Statistics without optimisation take minutes, and need no driver.
    headers*:test_bench) false ;;
    # The events checker is not thread-safe: with bare calls on two threads it corrupts the heap as well.
    events*) ! grep -qE 'pthread_t|[.]thread = [^0]|zt_watch[(]' "tests/$2".c* ;;
    *) true ;;
    esac
}

# Whether the leak checker found objects that were never destroyed.
leaks() { # VARIANT PROGRAM LOG
    case $1:$2 in
    # These exit with objects alive, let destruction fail, or leave what the device may still write to.
    *:test_auto | *:test_bad_input | *:test_debug | *:test_faults | *:test_lost | *:test_process | *:test_reader | *:test_softgpu* | *:test_stamps | *:test_thread | *:test_watch) false ;;
    # Threads count without a lock, so that fewer may seem to be created than destroyed.
    leaks-*) grep -q 'LEAK = [0-9]' "$3" ;;
    *) false ;;
    esac
}

plan() {
    for variant in $(variants); do
        directory=$build/${variant%%-*}
        [ -d "$directory/tests" ] || directory=$build
        for program in $(programs "$directory"); do
            ! fits "$variant" "$program" || echo "$variant $program"
        done
    done
}

has_passed() { # VARIANT PROGRAM
    read -r _ failed _ <"$build/logs/$1/$2.log.counts" && [ "$failed" -eq 0 ]
}

# Runs programs that have failed three times more each, one at a time, until one run fails.
repeat_alone() { # LINES OF VARIANT PROGRAM
    echo "$1" | while read -r variant program; do
        first=$build/logs/$variant/$program.first.log
        cp "$build/logs/$variant/$program.log" "$first"
        for _ in 1 2 3; do
            tests/run-tests.sh --one "$variant" "$program"
            has_passed "$variant" "$program" || break
        done
        has_passed "$variant" "$program" && echo "unsteady: $variant $program failed in one of four runs; $first"
    done
}

if [ "${1:-}" = --one ]; then
    run_one "$2" "$3"
    exit 0
fi

variant=plain
if [ "${1:-}" = --variant ]; then
    variant=$2
    shift 2
    directory=$build/${variant%%-*}
    [ -d "$directory/tests" ] || directory=$build
    # shellcheck disable=SC2046 # words
    [ $# -gt 0 ] || set -- $(programs "$directory")
fi
if [ $# -gt 0 ]; then
    work=$(printf '%s\n' "$@" | sed "s/^/$variant /")
else
    work=$(plan)
fi
echo "$work" | xargs -n 2 -P "$(nproc)" tests/run-tests.sh --one

failing=$(echo "$work" | while read -r variant program; do
    has_passed "$variant" "$program" || echo "$variant $program"
done)
[ -z "$failing" ] || [ "$(echo "$failing" | wc -l)" -gt "${ZT_UNSTEADY:-0}" ] || repeat_alone "$failing"

sum=$(echo "$work" | while read -r variant program; do
    cat "$build/logs/$variant/$program.log.counts"
done | awk '
    { passed += $1; failed += $2 }
    END { printf "%d passed, %d failed\n", passed, failed; exit failed > 0 || passed == 0 }')
status=$?
echo "$sum"

# make reports a failure below the sum, which is to be the last line: it is printed again when make has ended.
if [ "$status" -ne 0 ] && [ -n "${MAKELEVEL:-}" ]; then
    (
        while kill -0 "$PPID" 2>/dev/null; do sleep 0.02; done
        echo "$sum"
    ) &
fi
exit "$status"
