#!/bin/sh
# Brings what is missing on Debian and Ubuntu, and is silent when nothing is.
# Usage: tests/deps.sh NEED...   where NEED is a PACKAGE, or COMMAND:PACKAGE (satisfied by the command, whoever
# brought it). Elsewhere than on Debian and its kin it does nothing: the compiler will say what it lacks.
set -u

command -v apt-get >/dev/null && command -v dpkg-query >/dev/null || exit 0

# One at a time: a parallel make asks for several targets' needs at once.
exec 9<"$0" && flock 9

installed() {
    dpkg-query -W -f '${db:Status-Status}\n' "$1" 2>/dev/null | grep -qx installed
}

missing=
for need; do
    package=${need#*:}
    case $need in
    *:*) ! command -v "${need%%:*}" >/dev/null || continue ;;
    *) ! installed "$package" || continue ;;
    esac
    case "$missing " in
    *" $package "*) ;;
    *) missing="$missing $package" ;;
    esac
done
[ -n "$missing" ] || exit 0

install="apt-get install -y --no-install-recommends$missing"

cannot() {
    echo "These packages are missing and could not be installed:$missing" >&2
    echo "As root, run:  apt-get update && $install" >&2
    exit 1
}

as_root=
if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null || cannot
    as_root=sudo
    [ -t 0 ] || as_root="sudo -n"
fi
echo "installing:$missing" >&2
$as_root apt-get -qq update </dev/null >&2 || echo "apt-get update failed; trying with the lists there are" >&2
# shellcheck disable=SC2086 # words
$as_root env DEBIAN_FRONTEND=noninteractive $install -qq -o Dpkg::Use-Pty=0 -o DPkg::Lock::Timeout=120 </dev/null >&2 || cannot
