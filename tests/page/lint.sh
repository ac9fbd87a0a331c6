#!/bin/sh
# Looks at the sources of the page: eslint at the JavaScript, tidy at the HTML. tests/page/test_page.py looks at the
# style, in a browser. Prints what they find, and fails if they find anything.
# Debian's packages: eslint tidy
set -u
cd "$(dirname "$0")/../../src/reports/page" || exit 1
status=0

# Where node is not Debian's, it does not look for modules there.
export NODE_PATH="/usr/share/nodejs${NODE_PATH:+:$NODE_PATH}"

# The scripts share their names, so eslint reads them as the page has them: one after the other. What it finds is
# printed with the file and line that it is in.
scripts=$(sed -n 's/^@\(.*\.js\)@$/\1/p' page.html)
places=$(mktemp) || exit 1
trap 'rm -f "$places"' EXIT
# shellcheck disable=SC2086 # several names
awk '{ print FILENAME ":" FNR }' $scripts >"$places"
# shellcheck disable=SC2086
found=$(cat $scripts | eslint --no-eslintrc --config eslint.json --max-warnings 0 --format unix --stdin 2>&1) || {
    printf '%s\n' "$found" | awk -F : '
        FNR == NR { place[FNR] = $0; next }
        $1 == "<text>" { sub(/^<text>:[0-9]+/, place[$2]) }
        { print }' "$places" - >&2
    status=1
}

# The script fills elements that are empty.
tidy -quiet -errors --drop-empty-elements no page.html || status=1

exit $status
