#!/bin/sh
# Brings what is missing on Debian and Ubuntu, and is silent when nothing is. What is there is used, whoever brought it.
# Usage: tests/deps.sh NEED...   where NEED is one of
#   COMMAND:PACKAGE               a command
#   HEADER.h[+LIBRARY]:PACKAGE    what CC compiles and links, with ZE_FLAGS
#   PACKAGE                       nothing else is looked for; elsewhere than on Debian and its kin this is not checked
# Of PACKAGE there may be several, with + between them; a + before no letter is of the name, as in g++.
set -u

# One at a time: a parallel make asks for several targets' needs at once.
exec 9<"$0" && flock 9

installed() { # PACKAGE
    ! command -v dpkg-query >/dev/null || dpkg-query -W -f '${db:Status-Status}\n' "$1" 2>/dev/null | grep -qx installed
}

compiles() { # HEADER[+LIBRARY]
    output=$(mktemp) || return
    includes="#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>"
    case $1 in *+*) library=-l${1#*+} ;; *) library= ;; esac
    # shellcheck disable=SC2086 # words
    printf '%s\n#include <%s>\nint main(void) { return 0; }\n' "$includes" "${1%+*}" |
        ${CC:-cc} -x c -o "$output" - ${ZE_FLAGS:-} $library >/dev/null 2>&1
    compiled=$?
    rm -f "$output"
    return $compiled
}

missing=
packages=
for need; do
    what=${need%%:*}
    case $need in
    *.h*:*) ! compiles "$what" || continue ;;
    *:*) ! command -v "$what" >/dev/null || continue ;;
    *) ! installed "$need" || continue ;;
    esac
    missing="$missing $what"
    packages="$packages $(echo "${need#*:}" | sed 's/+\([a-z]\)/ \1/g')"
done
[ -n "$missing" ] || exit 0

cannot() { # WHY
    echo "missing:$missing" >&2
    case $missing in
    *level_zero*)
        echo "If Level Zero is somewhere, ZE_DIR=dir says where: dir/include has its headers, dir/lib its loader. CPATH," >&2
        echo "LIBRARY_PATH and LD_LIBRARY_PATH do, too. Debian's packages can be unpacked there: dpkg-deb -x PACKAGE dir" >&2
        ;;
    esac
    echo "$1" >&2
    exit 1
}

command -v apt-get >/dev/null || cannot "There is no apt-get here. Debian has this in:$packages"
[ -z "${ZT_INSTALLED:-}" ] || cannot "The packages$packages are installed, and do not bring this for ${CC:-cc}."
as_root=
if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null || cannot "As root, run:  apt-get update && apt-get install$packages"
    as_root=sudo
    [ -t 0 ] || as_root="sudo -n"
fi
echo "installing:$packages" >&2
$as_root apt-get -qq update </dev/null >&2 || echo "apt-get update failed; trying with the lists there are" >&2
# shellcheck disable=SC2086 # words
$as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends -qq -o Dpkg::Use-Pty=0 \
    -o DPkg::Lock::Timeout=120 $packages </dev/null >&2 ||
    cannot "apt-get could not install$packages; its messages are above. Without a network, install them by hand."
ZT_INSTALLED=1 exec "$0" "$@"
