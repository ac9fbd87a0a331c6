#!/bin/sh
# Runs a program on a real device where the loader finds one, else on the software device.
# Usage: tests/run-on-device.sh PROGRAM [ARGUMENT...]
#        tests/run-on-device.sh            succeeds where it would be a real device
# ZT_DEVICE=software or ZT_DEVICE=real overrides the choice.
set -u
build=$(cd "$(dirname "$0")/.." && cd "${BUILD:-build}" && pwd)

case ${ZE_ENABLE_ALT_DRIVERS:-} in
'' | *,*) ;;
*) [ -e "$ZE_ENABLE_ALT_DRIVERS" ] || echo "ZE_ENABLE_ALT_DRIVERS: $ZE_ENABLE_ALT_DRIVERS is not there" >&2 ;;
esac

finds_device() { # NAME=VALUE
    env "$1" timeout 30 "$build/has_device" >/dev/null 2>&1
}

is_real() {
    case ${ZT_DEVICE:-} in
    software) false ;;
    real) true ;;
    *) finds_device ZET_ENABLE_METRICS=1 || finds_device ZET_ENABLE_METRICS=0 ;;
    esac
}

if ! is_real; then
    [ $# -gt 0 ] || exit 1
    export ZE_ENABLE_ALT_DRIVERS="$build/libze_softgpu.so" ZET_ENABLE_METRICS=1
    export ZET_ENABLE_PROGRAM_DEBUGGING="${ZET_ENABLE_PROGRAM_DEBUGGING-1}"
    export SOFTGPU_BEHAVE="${SOFTGPU_BEHAVE-STALL_SAMPLING}"
elif finds_device ZET_ENABLE_METRICS=1; then
    # A driver without any source of metrics refuses to start when they are asked for.
    export ZET_ENABLE_METRICS=1
fi
exec "$@"
