#!/bin/sh
# Builds for another machine, from Debian's source packages and without a patch, what the tests need there:
#
#   build/MACHINE/bin        for Windows: ze_loader.dll, its layers, cmocka.dll
#   build/MACHINE/lib        their import libraries; elsewhere the libraries and layers themselves
#   build/MACHINE/include    their headers
#
# MACHINE is windows (x64, by mingw-w64), arm64, i386, or musl: this machine with that C library, where only cmocka is
# built and the headers of Level Zero and Linux are linked to. What was built there before is removed.
# Usage: tests/cross.sh MACHINE
set -eu
umask 022

top=$(cd "$(dirname "$0")/.." && pwd)
cd "$top"
mkdir -p "${BUILD:-build}"
machine=$1
into=$(cd "${BUILD:-build}" && pwd)/$machine
suite=bookworm # the sources of newer suites are not on every mirror
. "$top/tests/apt.sh"

# The sources include headers of Windows by names that differ in case from mingw-w64's.
write_headers() { # DIRECTORY NAME...
    directory=$1
    shift
    mkdir -p "$directory"
    for name; do
        echo "#include <$(echo "$name" | tr '[:upper:]' '[:lower:]')>" >"$directory/$name"
    done
}

# The tracing layer is compiled by clang: gcc emulates thread-local variables there, and has freed them when the
# destructor of the layer's writes to them.
write_compiler() { # FILE
    libraries=$(dirname "$(x86_64-w64-mingw32-g++-posix -print-libgcc-file-name)")
    cat >"$1" <<EOF
#!/bin/sh
case " \$* " in
*' -c '*/layers/tracing/*)
    exec clang++ --target=x86_64-w64-mingw32 -nostdinc++ -isystem $libraries/include/c++ \\
        -isystem $libraries/include/c++/x86_64-w64-mingw32 "\$@"
    ;;
esac
exec x86_64-w64-mingw32-g++-posix "\$@"
EOF
    chmod +x "$1"
}

write_toolchain_for_windows() { # DIRECTORY
    echo 'set(CMAKE_SHARED_LIBRARY_PREFIX "")' >"$1/names.cmake" # mingw-w64 names DLLs lib*.dll
    cat >"$1/toolchain.cmake" <<EOF
set(CMAKE_SYSTEM_NAME Windows)
set(CMAKE_SYSTEM_PROCESSOR x86_64)
set(CMAKE_C_COMPILER x86_64-w64-mingw32-gcc-posix)
set(CMAKE_CXX_COMPILER "$1/c++")
set(CMAKE_RC_COMPILER x86_64-w64-mingw32-windres)
set(CMAKE_USER_MAKE_RULES_OVERRIDE "$1/names.cmake")
EOF
}

write_toolchain_for_linux() { # DIRECTORY PROCESSOR
    cat >"$1/toolchain.cmake" <<EOF
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR $2)
set(CMAKE_C_COMPILER $2-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER $2-linux-gnu-g++)
set(CMAKE_INSTALL_LIBDIR lib)
EOF
}

write_toolchain_for_musl() { # DIRECTORY
    cat >"$1/toolchain.cmake" <<EOF
set(CMAKE_C_COMPILER musl-gcc)
set(CMAKE_INSTALL_LIBDIR lib)
EOF
}

# musl-gcc looks nowhere else than in musl's own directory.
link_headers() {
    mkdir -p "$into/include"
    for directory in /usr/include /usr/local/include "/usr/include/$(gcc -print-multiarch)"; do
        for name in level_zero linux asm asm-generic; do
            [ ! -d "$directory/$name" ] || ln -sfn "$directory/$name" "$into/include/$name"
        done
    done
}

build() { # PACKAGE [CMAKE-ARGUMENT...]
    package=$1
    shift
    mkdir -p "$work/$package"
    (cd "$work/$package" && apt-get -qq -c "$work/apt/apt.conf" --download-only source "$package" &&
        tar xf "$package"_*.orig.tar.?z --strip-components=1)
    cmake -S "$work/$package" -B "$work/$package/build" -DCMAKE_TOOLCHAIN_FILE="$work/toolchain.cmake" \
        -DCMAKE_BUILD_TYPE=Release -DCMAKE_INSTALL_PREFIX="$into" -DCMAKE_SHARED_LINKER_FLAGS="$linking" "$@"
    cmake --build "$work/$package/build" --parallel "$(nproc)"
    cmake --install "$work/$package/build"
}

command -v apt-get >/dev/null || {
    echo "no apt here: the sources of the loader for $machine cannot be fetched" >&2
    exit 1
}
work=$into/work
log=$into/build.log
echo "building the Level Zero loader and cmocka for $machine; the log is $log" >&2
rm -rf "$into"
mkdir -p "$work"
trap 'tail -n 30 "$log" >&2; echo "could not build the Level Zero loader or cmocka for $machine" >&2' EXIT
headers=
linking=
case $machine in
windows)
    write_headers "$work/headers" Cfgmgr32.h Devpkey.h Ntddvdeo.h Windows.h
    write_compiler "$work/c++"
    write_toolchain_for_windows "$work"
    headers=-I$work/headers
    linking=-static
    ;;
arm64) write_toolchain_for_linux "$work" aarch64 ;;
i386) write_toolchain_for_linux "$work" i686 ;;
musl) write_toolchain_for_musl "$work" ;;
esac
{
    private_apt deb-src "$suite" "$work/apt"
    if [ "$machine" = musl ]; then
        link_headers
    else
        build level-zero "-DCMAKE_CXX_FLAGS=$headers -include algorithm -w"
    fi
    case $machine in
    windows) cp "$work"/level-zero/build/bin/ze_*_layer.dll "$into/bin" ;; # which are not installed
    arm64 | i386) cp "$work"/level-zero/build/lib/libze_*_layer.so* "$into/lib" ;;
    esac
    build cmocka -DWITH_EXAMPLES=OFF -DUNIT_TESTING=OFF
} >"$log" 2>&1
trap - EXIT
rm -r "$work" "$into/lib/cmake" "$into/lib/pkgconfig"
touch "$into/complete"
