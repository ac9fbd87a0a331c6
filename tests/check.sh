#!/bin/sh
# Makes goals one after the other, whether or not those before have failed. A goal that ends with a line
# `N passed, N failed` adds that; any other is one check. Says how many seconds each has taken, and repeats the lines in which
# a goal names what has failed. The last line is the sum.
# Usage: tests/check.sh GOAL...
set -u
cd "$(dirname "$0")/.." || exit 1
log=$(mktemp)
trap 'rm -f "$log" "$log".*' EXIT

for goal; do
    echo "==== $goal"
    begin=$(date +%s)
    # The goal is not a part of the make that has started this.
    {
        env -u MAKELEVEL -u MAKEFLAGS -u MFLAGS make "$goal" </dev/null 2>&1
        echo $? >"$log.status"
    } | tee "$log"
    read -r status <"$log.status"
    sum=$(grep -E '^[0-9]+ passed, [0-9]+ failed$' "$log" | tail -n 1)
    read -r passed _ failed _ <<END
${sum:-$((status == 0)) passed, $((status != 0)) failed}
END
    [ "$status" -eq 0 ] || [ "$failed" -gt 0 ] || failed=1
    grep '^failed: ' "$log" >>"$log.failures"
    [ "$failed" -eq 0 ] || echo "==== $goal FAILED"
    echo "==== $goal: $(($(date +%s) - begin)) seconds, $passed passed, $failed failed" | tee -a "$log.all"
done

sed -i 's/^==== //' "$log.all"
cat "$log.all"
awk '!seen[$0]++' "$log.failures" # a goal of goals has repeated them
awk '{ passed += $(NF - 3); failed += $(NF - 1) }
     END { printf "%d passed, %d failed\n", passed, failed; exit failed > 0 }' "$log.all"
