#!/bin/sh
# Makes the pictures of README.md, of runs of the examples on the software device: what they write, without the path
# of this directory. Usage: tests/pictures.sh   after what `make pictures` builds, in ${BUILD:-build}
set -eu
cd "$(dirname "$0")/.."
build=$(cd "${BUILD:-build}" && pwd)
top=$PWD
out=$build/pictures
export ZT_DEVICE=software PYTHONDONTWRITEBYTECODE=1 ZT_COLUMNS=GPU_BUSY
mkdir -p "$out"
cd "$out" # so that the examples write there, and the program's name has no more than its path

relative() {
    sed -e "s,$top/\./,,g" -e "s,$top/,,g"
}

# A program that nobody recompiled, and the lines where its kernels spend their time.
ZT_HOTSPOTS=1 ZT_AUTO=simulate.html \
    "$top/tests/run-on-device.sh" env LD_PRELOAD="$build/libzt_auto.so" "$build/examples/simulate" >/dev/null
relative <simulate.html >page.html
"$top/tests/page/picture.py" --to '#hotspots h3 ~ h3' page.html "$top/examples/page.png" 1120

# A kernel that hangs.
"$top/tests/run-on-device.sh" "$build/examples/hang" | relative |
    "$top/tests/picture.py" 'make run-hang' >"$top/examples/hang.svg"

# The times of a kernel that is launched for inputs of three sizes.
"$top/tests/run-on-device.sh" "$build/examples/regions" >/dev/null
relative <run.html >page.html
"$top/tests/page/picture.py" --open 'reduce pass' --from thead --to 'tr.details tbody tr:nth-child(6)' page.html \
    "$top/examples/distribution.png"
