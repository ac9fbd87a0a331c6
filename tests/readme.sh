#!/bin/sh
# What README.md says holds: its size, links, targets and names; its program compiles as it stands and runs on the
# software device; its other code compiles; its lines for the preload library write a page. Of the other pages, links,
# targets and the paths of files are looked up.
# Usage: tests/readme.sh          all of it. Needs what `make run-preload` builds, in ${BUILD:-build}
#        tests/readme.sh --text   what needs no compiler
set -u
cd "$(dirname "$0")/.." || exit 1
build=${BUILD:-build}
most=17000
pages='README.md CONTRIBUTING.md tests/softgpu/README.md bench/README.md'
status=0

complain() { # HEADING, then the lines that prove it
    if [ -n "$2" ]; then
        printf '%s\n%s\n' "$1" "$2"
        status=1
    fi
}

words() { # EXTENDED-REGULAR-EXPRESSION FILE...
    expression=$1
    shift
    grep -ohE "$expression" "$@" | sort -u
}

# Code blocks of a language, each preceded by a line `// README.md:N`.
blocks() { # LANGUAGE
    awk -v language="$1" '
        /^```/ { inside = !inside && $0 == "```" language; if (inside) print "// README.md:" NR; next }
        inside' README.md
}

# The anchor that hosts give to a heading.
anchors() { # FILE
    sed -nE 's/^#+ //p' "$1" | tr '[:upper:]' '[:lower:]' | sed -e 's/[^a-z0-9_ -]//g' -e 's/ /-/g'
}

broken_links() {
    for file in $pages; do
        grep -oE '\]\([^)]*\)' "$file" | sed -e 's/^](//' -e 's/)$//' | sort -u | while read -r link; do
            path=$(dirname "$file")/${link%%#*}
            case $link in
            https:*) ;;
            \#*) anchors "$file" | grep -qxF -- "${link#\#}" || echo "$file: $link" ;;
            *) [ -e "$path" ] || echo "$file: $link" ;;
            esac
        done
    done
}

# Targets that the Makefile has by name, or by the pattern of their prefix.
missing_targets() {
    # shellcheck disable=SC2016,SC2086 # backquotes of Markdown, and words
    words '(`|^)make [a-z][a-z_-]*([^a-z/_-]|$)' $pages | tr -dc 'a-z_ \n-' | while read -r _ target; do
        grep -qE "^([a-z -]* )?$target( [a-z -]*)?:|^${target%%-*}-%:" Makefile || echo "make $target"
    done | sort -u
}

missing_files() {
    # shellcheck disable=SC2016,SC2086 # backquotes of Markdown, and words
    words '`(src|examples|tests|bench)/[a-z0-9_./-]+`' $pages | tr -d '`' | while read -r path; do
        [ -e "$path" ] || echo "$path"
    done
}

missing_names() {
    words '\b(zt|ZT|ZETOOLS)_[A-Za-z_]*[A-Za-z]' README.md | while read -r name; do
        grep -qwF -- "$name" zetools.h || echo "$name"
    done
}

check_text() {
    size=$(wc -c <README.md)
    complain "README.md has more than $most bytes:" "$([ "$size" -le $most ] || echo "$size")"
    complain 'links that lead nowhere:' "$(broken_links)"
    complain 'targets that the documentation has and the Makefile lacks:' "$(missing_targets)"
    complain 'files that the documentation has and the repository lacks:' "$(missing_files)"
    complain 'names that README.md has and zetools.h lacks:' "$(missing_names)"
}

# Files with a main are programs; the others stand inside of a function, with what they name declared before it.
split_code() { # DIRECTORY
    blocks c | awk -v directory="$1" '/^\/\/ README.md:/ { file = directory "/" ++count ".c" } { print >file }'
    for file in "$1"/*.c; do
        grep -q 'int main(' "$file" && mv "$file" "$1/app.c" && continue
        {
            printf '#define ZETOOLS_TRACER\n#define ZETOOLS_DEBUG\n#include "zetools.h"\nvoid solve(void *);\n'
            printf 'void assemble(void *);\n'
            printf 'void fragment(zt_profiler *profiler, void *problem);\n'
            printf 'void fragment(zt_profiler *profiler, void *problem) {\n(void)profiler;\n'
            cat "$file"
            printf '}\n'
        } >"$file.whole" && mv "$file.whole" "$file"
    done
}

check_code() { # DIRECTORY
    compile="${CC:-cc} -Wall -Wextra -Werror -I."
    split_code "$1"
    for file in "$1"/[0-9]*.c; do
        $compile -fsyntax-only "$file" || status=1
    done
    if ! $compile "$1/app.c" -o "$1/app" -lze_loader -lm -ldl -lpthread; then
        complain 'the program of README.md:' 'does not compile'
        return
    fi
    ZT_DEVICE=software tests/run-on-device.sh "$1/app" >"$1/table" ||
        complain 'the program of README.md fails:' "exit status $?"
    for row in 'copy .* 100 ' 'clear .* 1 '; do
        grep -qE "^$row" "$1/table" ||
            complain "no row '$row' in what the program of README.md prints:" "$(cat "$1/table")"
    done
}

# The lines for the device in software, as they stand, but for the path of the page.
check_preload() { # DIRECTORY
    blocks sh | sed -n '/^export ZE_ENABLE_ALT_DRIVERS/,/LD_PRELOAD/p' |
        sed -e "s,build/,$build/,g" -e "s,=run.html,=$1/run.html," >"$1/preload.sh"
    case $build in
    /*) sed -i "s,\$PWD/$build,$build,g" "$1/preload.sh" ;;
    esac
    sh -e "$1/preload.sh" >"$1/preload.log" 2>&1 ||
        complain 'the preload lines of README.md fail:' "$(cat "$1/preload.log")"
    grep -q '<html' "$1/run.html" 2>/dev/null ||
        complain 'the preload lines of README.md write no page:' "$(cat "$1/preload.sh")"
}

check_text
if [ "${1:-}" != --text ]; then
    directory=$(mktemp -d) || exit 1
    trap 'rm -rf "$directory"' EXIT
    check_code "$directory"
    check_preload "$directory"
fi
exit $status
