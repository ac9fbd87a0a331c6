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

case ${1:-} in
--list)
    echo "$programs"
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
# shellcheck disable=SC2086 # words
ZT_TEST_TIMEOUT=${ZT_TEST_TIMEOUT:-300} tests/run-tests.sh --variant windows $programs
