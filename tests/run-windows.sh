#!/bin/sh
# Runs test programs that were built for Windows under Wine, on the software device behind the loader, and counts, as
# tests/run-tests.sh does. Usage: tests/run-windows.sh PROGRAM...
set -u
cd "$(dirname "$0")/.." || exit 1
build=$(cd "${BUILD:-build}" && pwd)
windows=$build/windows

# A directory of Wine's own, in which the loader is registered: it looks for its layers beside itself.
export WINEPREFIX="$windows/wine" WINEDEBUG=-all WINEDLLOVERRIDES="mscoree,mshtml=" WINEPATH="$windows/bin"
prepare() {
    [ ! -e "$WINEPREFIX/registered" ] || return 0
    rm -rf "$WINEPREFIX"
    wineboot --init && wine reg add 'HKLM\Software\Intel\oneAPI\LevelZero\1' /v LevelZeroLoaderPath \
        /d "$(winepath -w "$windows/bin")" /f && touch "$WINEPREFIX/registered"
}

mkdir -p "$build/logs/windows"
prepare >"$build/logs/windows/wine.log" 2>&1 || {
    cat "$build/logs/windows/wine.log"
    echo "Wine does not start" >&2
    exit 1
}
tests/run-tests.sh windows -- "$@"
