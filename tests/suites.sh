#!/bin/sh
# Fetches the Level Zero headers and loader of other Debian suites, so that the tests can use them all:
#
#   build/suites/SUITE/include    the headers of libze-dev
#   build/suites/SUITE/lib        the loader and its layers, from libze1
#   build/suites/SUITE/libc       that suite's C and C++ libraries, where this machine's are too old for the loader
#   build/suites/SUITE/run        run a program under that loader: build/suites/SUITE/run PROGRAM [ARGUMENT...]
#
# Uses apt, from the mirror that this machine uses already, in directories of its own: the system's apt state is
# not touched, nothing is installed and no privilege is needed. What was fetched before is kept.
# Usage: tests/suites.sh [SUITE...]
set -eu
umask 022

top=$(cd "$(dirname "$0")/.." && pwd)
cd "$top"
mkdir -p "${BUILD:-build}"
build=$(cd "${BUILD:-build}" && pwd)

. "$top/tests/apt.sh"

unpack() { # APT-DIRECTORY DIRECTORY PACKAGE...
    conf=$1/apt.conf into=$2
    shift 2
    mkdir -p "$into"
    (cd "$into" && apt-get -qq -c "$conf" download "$@")
    for package in "$into"/*.deb; do
        dpkg-deb -x "$package" "$into"
        rm "$package"
    done
}

copy_libraries() { # FROM TO PATTERN...
    from=$1 to=$2
    shift 2
    mkdir -p "$to"
    for pattern; do
        find "$from" -name "$pattern" ! -path '*/lib64/*' ! -path '*/gconv/*' -exec cp -L {} "$to" \;
    done
}

write_run() { # SUITE-DIRECTORY
    cat >"$1/run" <<'EOF'
#!/bin/sh
here=$(cd "$(dirname "$0")" && pwd)
linker=$(find "$here/libc" -name 'ld-linux*' 2>/dev/null | head -n 1)
if [ -n "$linker" ]; then
    exec "$linker" --library-path "$here/lib:$here/libc" "$@"
fi
LD_LIBRARY_PATH="$here/lib" exec "$@"
EOF
    chmod +x "$1/run"
}

fetch() { # SUITE
    suite=$build/suites/$1
    [ ! -e "$suite/run" ] || return 0
    echo "fetching the Level Zero packages of $1" >&2
    rm -rf "$suite"
    private_apt deb "$1" "$suite/apt"
    unpack "$suite/apt" "$suite/unpacked/ze" libze1 libze-dev
    cp -R "$suite/unpacked/ze/usr/include" "$suite/include"
    copy_libraries "$suite/unpacked/ze" "$suite/lib" 'libze_*.so.1'
    if ldd "$suite/lib/libze_loader.so.1" 2>&1 | grep -q 'not found'; then
        unpack "$suite/apt" "$suite/unpacked/libc" libc6 libgcc-s1 libstdc++6
        copy_libraries "$suite/unpacked/libc" "$suite/libc" 'ld-linux*' 'lib*.so.[0-9]'
    fi
    rm -rf "$suite/unpacked" "$suite/apt"
    write_run "$suite"
}

[ $# -gt 0 ] || set -- bookworm trixie sid
command -v apt-get >/dev/null || {
    echo "no apt here: the headers and loaders of other suites cannot be fetched" >&2
    exit 1
}
for name; do
    trap 'echo "could not fetch the Level Zero packages of $name" >&2' EXIT
    fetch "$name"
done
trap - EXIT
