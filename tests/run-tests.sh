#!/bin/sh
# Runs the test programs through the Level Zero loader on the software device, and counts.
# Usage: tests/run-tests.sh              every program in every variant
#        tests/run-tests.sh PROGRAM...   these, plain
# Each program's output is in build/logs/VARIANT/PROGRAM.log; that of a failing one is printed. The last line is
# the sum, `N passed, N failed`. A program that crashes, hangs or reports nothing counts as failed.
set -u
top=$(cd "$(dirname "$0")/.." && pwd)
build=$top/build
cd "$top" || exit 1
limit=${ZT_TEST_TIMEOUT:-120}

# A variant is a directory of programs and what is put before them on the command line.
run_in_variant() { # VARIANT PROGRAM
    directory=$build
    case $1 in
    plain) set -- "$2" ;;
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
    validation) set -- "$2" ZE_ENABLE_VALIDATION_LAYER=1 ZE_ENABLE_PARAMETER_VALIDATION=1 ;;
    validation-*)
        set -- "$2" ZE_ENABLE_VALIDATION_LAYER=1 ZE_ENABLE_PARAMETER_VALIDATION=1 \
            "$build/suites/${1#validation-}/run"
        ;;
    loader-*) set -- "$2" "$build/suites/${1#loader-}/run" ;;
    esac
    program=$directory/tests/$1
    shift
    timeout -k 10 "$limit" env CMOCKA_MESSAGE_OUTPUT=tap ZET_ENABLE_METRICS=1 \
        ZE_ENABLE_ALT_DRIVERS="$directory/libze_softgpu.so" "$@" "$program"
}

# From TAP output: passed, failed, skipped. What was planned and did not happen has failed.
count() { # LOG STATUS
    awk -v status="$2" '
        /^1\.\.[0-9]+$/                 { planned += substr($0, 4) }
        /ok [0-9]+.*# SKIP/             { skipped++; next }
        /not ok [0-9]+/                 { next }
        /ok [0-9]+ - /                  { passed++ }
        END {
            failed = planned - passed - skipped
            if (failed < 0 || (failed == 0 && (planned == 0 || status != 0)))
                failed = 1
            print passed + 0, failed, skipped + 0
        }' "$1"
}

run_one() { # VARIANT PROGRAM
    log=$build/logs/$1/$2.log
    mkdir -p "$(dirname "$log")"
    rm -f "$log.counts"
    run_in_variant "$1" "$2" >"$log" 2>&1 </dev/null
    status=$?
    count "$log" "$status" >"$log.counts"
    read -r passed failed skipped <"$log.counts"
    line="$1 $2: $passed passed, $failed failed"
    [ "$skipped" -eq 0 ] || line="$line, $skipped skipped"
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
    for suite in trixie sid; do
        if [ -x "$build/suites/$suite/run" ]; then
            echo "loader-$suite"
        else
            echo "not run under the loader of Debian $suite: 'make suites' fetches it" >&2
        fi
    done
    [ ! -x "$build/suites/sid/run" ] || echo validation-sid
}

# The newer loader's validation layer allocates memory in every call, which the tests of cost would count.
fits() { # VARIANT PROGRAM
    [ "$1 $2" != "validation-sid test_cost" ]
}

plan() {
    for variant in $(variants); do
        for program in $(programs "$build"); do
            ! fits "$variant" "$program" || echo "$variant $program"
        done
    done
}

if [ "${1:-}" = --one ]; then
    run_one "$2" "$3"
    exit 0
fi

if [ $# -gt 0 ]; then
    work=$(printf 'plain %s\n' "$@")
else
    work=$(plan)
fi
echo "$work" | xargs -n 2 -P "$(nproc)" tests/run-tests.sh --one

echo "$work" | while read -r variant program; do
    cat "$build/logs/$variant/$program.log.counts"
done | awk '
    { passed += $1; failed += $2 }
    END { printf "%d passed, %d failed\n", passed, failed; exit failed > 0 || passed == 0 }'
