#!/bin/sh
# Formatting of the sources, and a look for what must not be in the tree.
set -u
cd "$(dirname "$0")/.." || exit 1
status=0

complain() { # HEADING, then the lines that prove it
    if [ -n "$2" ]; then
        printf '%s\n%s\n' "$1" "$2"
        status=1
    fi
}

# Without what the examples write, and the inputs of fuzzing, which are any bytes.
files() { # NAME-PATTERN...
    for pattern; do
        find . \( -name .git -o -path ./build -o -path './run.*' -o -path ./tests/fuzz/corpus \) -prune -o -type f -name "$pattern" -print
    done
}

find_in_all() { # EXTENDED-REGULAR-EXPRESSION
    files '*' | xargs grep -nIE -- "$1"
}

# Other versions of clang-format lay out the same style differently.
case $(clang-format --version) in
# The format of the joined header is that of the parts.
*'version 14.'*) files '*.h' '*.c' '*.cpp' '*.cc' '*.cl' | grep -vx ./zetools.h | xargs clang-format --dry-run -Werror || status=1 ;;
*) echo "formatting is not checked: that takes clang-format 14, this is $(clang-format --version)" ;;
esac

complain 'paths of a machine:' "$(find_in_all '(^|[^A-Za-z0-9_.*])/(home|root|work|Users)/[A-Za-z0-9]')"
complain 'hosts, other than where specification, licences and XML namespaces are published:' \
    "$(find_in_all 'https?://' | grep -vE 'https?://(github\.com|spec\.oneapi\.io|oneapi-src\.github\.io|www\.w3\.org)/')"
complain 'white space at the end of lines:' "$(find_in_all '[[:blank:]]+$')"
complain 'shell scripts that do not parse:' "$(files '*.sh' run | xargs -n 1 bash -n 2>&1)"

complain 'the header:' "$(src/join.py --check 2>&1)"
complain 'what parts declare for others, and none of them uses; rooms of more than 1,000 lines:' "$(tests/unshared.py)"
complain 'the page:' "$(tests/page/lint.sh 2>&1)"
complain 'README and the pages beside it:' "$(tests/readme.sh --text 2>&1)"

# Options and variables of the environment: those that the code reads, and those that the documentation lists.
in_one_only() { # LIST LIST, each without repetitions
    printf '%s\n%s\n' "$1" "$2" | sort | uniq -u
}
# A chapter of the manual: from its heading to the next.
manual() { # HEADING
    sed -n "/^   $1/,/^   [A-Z][A-Z ,]*$\|^\*\//p" zetools.h
}

options=$(sed -nE '/^ *# *(if|elif)/p' zetools.h | grep -oE 'ZETOOLS_[A-Z_]+' | grep -vx ZETOOLS_H | sort -u)
variables=$(grep -oE 'zt__get_variable\("ZT_[A-Z_]+' zetools.h | grep -oE 'ZT_.*' | sort -u)
complain 'options that only one of code and manual has:' \
    "$(in_one_only "$options" "$(manual OPTIONS | grep -oE '^ {7}ZETOOLS_[A-Z_]+' | tr -d ' ' | sort -u)")"
complain 'variables of the environment that only one of code and manual has:' \
    "$(in_one_only "$variables" "$(manual ENVIRONMENT | grep -oE 'ZT_[A-Z_]+' | sort -u)")"

complain 'private names that README has and the code lacks:' \
    "$(grep -oE 'zt__[a-z_]+' README.md | sort -u | while read -r name; do grep -qw "$name" zetools.h || echo "$name"; done)"

if command -v shellcheck >/dev/null; then
    files '*.sh' | xargs shellcheck -s sh || status=1
    shellcheck .ci/run || status=1
fi

exit $status
