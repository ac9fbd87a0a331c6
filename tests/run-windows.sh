#!/bin/sh
# Runs the test programs that were built for Windows under Wine, on the software device behind the loader, and
# counts. Usage: tests/run-windows.sh              every program
#                tests/run-windows.sh PROGRAM...   these
#                tests/run-windows.sh --list       the names of all
# Each program's output is in build/logs/windows/PROGRAM.log; that of a failing one is printed. The last line is
# the sum, `N passed, N failed`. A program that crashes, hangs or reports nothing counts as failed.
set -u
top=$(cd "$(dirname "$0")/.." && pwd)
windows=$top/build/windows
cd "$top" || exit 1
limit=${ZT_TEST_TIMEOUT:-300}

programs=$(echo "test_advice test_bench test_callbacks test_every test_fast_math test_faults test_latency
    test_lists test_locks test_lost test_merge test_nesting test_no_threads test_open test_passes test_regions
    test_soak test_softgpu test_softgpu_engines test_softgpu_metrics test_softgpu_work test_stamps
    test_statistics test_streams test_thread test_timestamps test_trace test_trace_off" | xargs)

# A directory of Wine's own, in which the loader is registered: it looks for its layers beside itself.
export WINEPREFIX="$windows/wine" WINEDEBUG=-all WINEDLLOVERRIDES="mscoree,mshtml=" WINEPATH="$windows/bin"
prepare() {
    [ ! -e "$WINEPREFIX/registered" ] || return 0
    rm -rf "$WINEPREFIX"
    wineboot --init && wine reg add 'HKLM\Software\Intel\oneAPI\LevelZero\1' /v LevelZeroLoaderPath \
        /d "$(winepath -w "$windows/bin")" /f && touch "$WINEPREFIX/registered"
}

run_one() { # PROGRAM
    log=$top/build/logs/windows/$1.log
    timeout -k 10 "$limit" env CMOCKA_MESSAGE_OUTPUT=tap ZET_ENABLE_METRICS=1 \
        ZE_ENABLE_ALT_DRIVERS="$(winepath -w "$windows/ze_softgpu.dll")" \
        wine "$windows/tests/$1.exe" >"$log" 2>&1 </dev/null
    status=$?
    tr -d '\r' <"$log" | tests/count-tap.sh "$status" >"$log.counts"
    read -r passed failed skipped <"$log.counts"
    line="windows $1: $passed passed, $failed failed"
    if [ "$skipped" -gt 0 ]; then
        line="$line, $skipped skipped
$(tr -d '\r' <"$log" | grep '^skipped: ' | sort -u)"
    fi
    if [ "$failed" -gt 0 ]; then
        line="$line, exit status $status; $log:
$(tail -n 200 "$log")"
    fi
    printf '%s\n' "$line"
}

case ${1:-} in
--list)
    echo "$programs"
    exit 0
    ;;
--one)
    run_one "$2"
    exit 0
    ;;
esac

[ $# -eq 0 ] || programs=$*
mkdir -p build/logs/windows
prepare >build/logs/windows/wine.log 2>&1 || {
    cat build/logs/windows/wine.log
    echo "Wine does not start" >&2
    exit 1
}
echo "$programs" | tr ' ' '\n' | xargs -n 1 -P "$(nproc)" tests/run-windows.sh --one
for program in $programs; do
    cat "build/logs/windows/$program.log.counts"
done | awk '
    { passed += $1; failed += $2 }
    END { printf "%d passed, %d failed\n", passed, failed; exit failed > 0 || passed == 0 }'
