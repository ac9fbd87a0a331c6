#!/bin/sh
# Has programs of Prometheus read what zetools.h writes: tests/prometheus.py. Debian's packages of them are unpacked into
# build/prometheus, once; no service is installed.
# Usage: tests/prometheus.sh          needs what `make run-preload` builds, in ${BUILD:-build}
set -eu
umask 022
top=$(cd "$(dirname "$0")/.." && pwd)
cd "$top"
build=$(cd "${BUILD:-build}" && pwd)
unpacked=$build/prometheus

. "$top/tests/apt.sh"

if [ ! -e "$unpacked/complete" ]; then
    rm -rf "$unpacked"
    private_apt deb bookworm "$unpacked/apt"
    (cd "$unpacked" && apt-get -qq -c apt/apt.conf download prometheus prometheus-node-exporter prometheus-pushgateway)
    for package in "$unpacked"/*.deb; do
        dpkg-deb -x "$package" "$unpacked"
        rm "$package"
    done
    rm -r "$unpacked/apt"
    touch "$unpacked/complete"
fi

directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
(cd "$directory" && ZT_DEVICE=software "$top/tests/run-on-device.sh" \
    env ZT_AUTO=run.prom LD_PRELOAD="$build/libzt_auto.so" "$build/examples/simulate" >/dev/null)
python3 "$top/tests/prometheus.py" "$unpacked" "$directory/run.prom"
