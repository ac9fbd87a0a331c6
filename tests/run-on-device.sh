#!/bin/sh
# Runs a program on a real device where the loader finds one, else on the software device.
# Usage: tests/run-on-device.sh PROGRAM [ARGUMENT...]
# ZT_DEVICE=software or ZT_DEVICE=real overrides the choice.
set -u
build=$(cd "$(dirname "$0")/../build" && pwd)

finds_device() { # [NAME=VALUE...]
    env "$@" timeout 30 "$build/has_device" >/dev/null 2>&1
}

run_on_real_device() { # PROGRAM [ARGUMENT...]
    finds_device ZET_ENABLE_METRICS=1 && export ZET_ENABLE_METRICS=1
    exec "$@"
}

case ${ZT_DEVICE:-} in
software) ;;
real) run_on_real_device "$@" ;;
*) if finds_device; then run_on_real_device "$@"; fi ;;
esac
export ZE_ENABLE_ALT_DRIVERS="$build/libze_softgpu.so" ZET_ENABLE_METRICS=1
exec "$@"
