#!/bin/sh
# Compiles zetools.h without a warning, links and runs it: in every language and compiler, against the headers of
# every Debian suite that is there (tests/suites.sh), in every mode. Compiles the device, the tests and the examples
# against the same headers. The last line is `N passed, N failed`.
# Usage: tests/compile/matrix.sh
set -u
top=$(cd "$(dirname "$0")/../.." && pwd)
cd "$top" || exit 1
mkdir -p "${BUILD:-build}"
collected=$(cd "${BUILD:-build}" && pwd)
build=$collected/matrix
here=$top/tests/compile
warnings="-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror"

standards="c99 gnu99 c11 c17 c2x c++11 c++14 c++17 c++20 gnu++20"
ends="c99 c2x c++11 gnu++20" # where languages differ most
modes="one two disabled optimised late static static-part two-static disabled-two header disabled-header"

# Options that add or remove a part of the library.
options=$(grep -oE '^ +ZETOOLS_[A-Z_]+ ' "$top/zetools.h" | tr -d ' ' | sort -u |
    grep -vxE 'ZETOOLS_(IMPLEMENTATION|DISABLE|STATIC)')

# The compiler's own search path, without the Level Zero headers: a directory that has them is replaced by one of
# links to all the rest.
without_level_zero() { # COMPILER LANGUAGE
    "$1" -E -v -x "$2" /dev/null 2>&1 | sed -n '/^#include </,/^End/s/^ //p' | while read -r directory; do
        if [ -d "$directory/level_zero" ]; then
            hidden=$build/without$(echo "$directory" | tr / _)
            mkdir -p "$hidden"
            for entry in "$directory"/*; do
                [ "${entry##*/}" = level_zero ] || ln -sfn "$entry" "$hidden/"
            done
            directory=$hidden
        fi
        printf -- '-isystem %s ' "$directory"
    done
}

# A job is COMPILER STANDARD HEADERS MODE. A compiler with a target, as gcc-i686, is one for Windows: what it
# compiles is neither linked nor run.
jobs() {
    newest=${suites##* }
    for compiler in gcc clang; do
        for standard in $standards; do
            echo "$compiler $standard $newest both"
        done
        for standard in $ends; do
            for mode in $modes $options; do
                echo "$compiler $standard $newest $mode"
            done
            echo "$compiler $standard none disabled"
            echo "$compiler $standard none disabled-two"
        done
        for headers in ${suites% *}; do
            for standard in c11 c++17; do
                echo "$compiler $standard $headers one"
                echo "$compiler $standard $headers both"
            done
        done
        for standard in c11 c++17; do
            for mode in both disabled $options; do
                echo "$compiler-x86_64 $standard $newest $mode"
            done
            echo "$compiler-i686 $standard $newest both"
        done
        echo "$compiler gnu11 $newest sources"
        echo "$compiler c++17 $newest sources"
    done
    [ "$newest" = "${suites%% *}" ] || echo "gcc gnu11 ${suites%% *} sources"
}

# The device, the tests and the examples; without what is of Windows or musl, or needs more than
# Level Zero and cmocka.
other_sources() { # LANGUAGE
    case $1 in
    c) find "$top/tests" "$top/examples" "$top/bench" -name '*.c' 2>/dev/null ;;
    c++) find "$top/tests" "$top/examples" "$top/bench" -name '*.cpp' -o -name '*.cc' 2>/dev/null ;;
    esac | grep -vE '/softgpu/windows\.c$|/tests/(windows|musl)/' | xargs -r grep -LE '# *include <(mpi\.h|benchmark/|oneapi/|Kokkos)'
}

compile() { # COMPILER STANDARD HEADERS MODE PROGRAM [OPTION]
    language=c compiler=$1
    case $2 in
    *++*)
        language=c++
        case $1 in gcc) compiler=g++ ;; clang) compiler=clang++ ;; esac
        ;;
    esac

    case $1 in
    gcc-*) compiler=${1#*-}-w64-mingw32-$(if [ $language = c ]; then echo gcc; else echo g++; fi)-posix ;;
    clang-*) compiler=$(if [ $language = c ]; then echo clang; else echo clang++; fi) ;;
    esac

    libraries="-lze_loader -lm"
    case $3 in
    system)
        # Compilers for Windows do not look for headers where this system has them.
        mkdir -p "$build/system"
        ln -sfn /usr/include/level_zero "$build/system/"
        case $1 in *-*) search="-isystem $build/system" ;; *) search= ;; esac
        ;;
    none)
        search="-DNO_LEVEL_ZERO -nostdinc $(without_level_zero "$compiler" "$language")"
        libraries=
        ;;
    *) search="-isystem $collected/suites/$3/include" ;;
    esac

    # What projects with more warnings see of the declarations.
    strict="-Wdouble-promotion -Wcast-qual -Wswitch-enum -Wmissing-declarations -fsyntax-only"
    [ $language = c ] || strict="$strict -Wold-style-cast"

    sources=$here/program.c
    both="$here/program.c $here/implementation.c"
    output="-o $5 $libraries"
    case $4 in
    one) mode=-DZETOOLS_IMPLEMENTATION ;;
    both) mode="-DZETOOLS_IMPLEMENTATION -DZETOOLS_TRACER -DZETOOLS_DEBUG -DZETOOLS_CONNECTORS" ;;
    optimised) mode="-DZETOOLS_IMPLEMENTATION -O2" ;;
    # After a header of the C library, which then declares ISO C alone in strict modes.
    late) mode="-include stdio.h -DZETOOLS_IMPLEMENTATION -DZETOOLS_TRACER -DZETOOLS_DEBUG" ;;
    static) mode="-DZETOOLS_IMPLEMENTATION -DZETOOLS_STATIC" ;;
    static-part) mode="-DZETOOLS_IMPLEMENTATION -DZETOOLS_STATIC -O2" sources=$here/part.c ;;
    two) mode='' sources=$both ;;
    two-static) mode="-DZETOOLS_IMPLEMENTATION -DZETOOLS_STATIC" sources=$both ;;
    disabled) mode="-DZETOOLS_IMPLEMENTATION -DZETOOLS_DISABLE $(echo "$options" | sed 's/^./-D&/')" ;;
    header) mode="-DZETOOLS_TRACER -DZETOOLS_DEBUG $strict" sources=$here/header.c output='' ;;
    disabled-header)
        mode="-DZETOOLS_DISABLE -DZETOOLS_TRACER -DZETOOLS_DEBUG $strict" sources=$here/header.c output=''
        ;;
    disabled-two) mode=-DZETOOLS_DISABLE sources=$both ;;
    ZETOOLS_*) mode="-DZETOOLS_IMPLEMENTATION -D$4" ;;
    # Constants are enumerators; newer clang warns where one meets a floating-point number.
    sources) mode="-fsyntax-only -Wno-enum-float-conversion" sources=$(other_sources "$language") output='' ;;
    esac

    # The headers of C++ are gcc's, with POSIX threads.
    case $1 in
    clang-*)
        mode="--target=${1#*-}-w64-mingw32 $mode"
        if [ $language = c++ ]; then
            headers=$(dirname "$("${1#*-}-w64-mingw32-g++-posix" -print-libgcc-file-name)")/include/c++
            search="-nostdinc++ -isystem $headers -isystem $headers/${1#*-}-w64-mingw32 $search"
        fi
        ;;
    esac
    case $1 in
    *-*) mode="$mode ${6:--fsyntax-only}" output='' ;;
    esac

    # shellcheck disable=SC2086 # these are lists of words
    "$compiler" -std="$2" $warnings $mode $search -I"$top" -pthread -x "$language" $sources $output
}

run_if_linked() { # PROGRAM
    [ ! -e "$1" ] || timeout 60 "$1"
}

run_job() { # COMPILER STANDARD HEADERS MODE
    name=$(echo "$*" | tr ' ' -)
    if compile "$@" "$build/$name" >"$build/$name.log" 2>&1 && run_if_linked "$build/$name" >>"$build/$name.log" 2>&1; then
        echo passed >"$build/$name.result"
    else
        echo failed >"$build/$name.result"
        echo "failed: $*"
        head -n 30 "$build/$name.log"
    fi
    rm -f "$build/$name"
}

fetched_suites() {
    for suite in bookworm trixie sid; do
        if [ -d "$collected/suites/$suite/include" ]; then
            echo "$suite"
        else
            echo "without the headers of Debian $suite: 'make suites' fetches them" >&2
        fi
    done
}

if [ "${1:-}" = --job ]; then
    shift
    run_job "$@"
    exit 0
fi

rm -rf "$build"
mkdir -p "$build"
suites=$(fetched_suites | xargs)
[ -n "$suites" ] || suites=system
jobs | xargs -n 4 -P "$(nproc)" "$0" --job

cat "$build"/*.result | awk '
    { count[$1]++ }
    END { printf "%d passed, %d failed\n", count["passed"], count["failed"]; exit !count["passed"] || count["failed"] }'
