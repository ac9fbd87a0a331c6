#!/bin/sh
# Fuzzes each target for FUZZ_SECONDS (10), from its corpus and from what earlier runs found; with FUZZ_SEED, from the
# corpus alone and with this seed, so that runs try the same inputs, as many as there is time for. Then all reports that
# its inputs lead to are written and read back. The last line is the sum, `N passed, N failed`.
# Usage: tests/fuzz/run.sh TARGET...
set -u
cd "$(dirname "$0")/../.." || exit 1
build=${BUILD:-build}
passed=0
failed=0

# Leaks are found by the targets themselves: LeakSanitizer fails while threads of the device run.
export ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1 UBSAN_OPTIONS=print_stacktrace=1

fail() { # TARGET, WHAT
    failed=$((failed + 1))
    echo "fuzz $1: $2"
    tail -n 60 "$build/fuzz/$1.log"
    find "$build/fuzz" -maxdepth 1 -type f -name "$1-*-*" -newer "$build/fuzz/$1.started" | while read -r input; do
        echo "To run it again: ASAN_OPTIONS=$ASAN_OPTIONS $build/fuzz/$1 $input"
    done
}

for target; do
    found=$build/fuzz/found/$target
    if [ -n "${FUZZ_SEED:-}" ]; then
        found=$build/fuzz/seeded/$target
        rm -rf "$found"
    fi
    mkdir -p "$found"
    touch "$build/fuzz/$target.started"
    if ! "$build/fuzz/$target" -seed="${FUZZ_SEED:-0}" -max_total_time="${FUZZ_SECONDS:-10}" -timeout=120 \
        -rss_limit_mb=3000 -max_len=25000 -artifact_prefix="$build/fuzz/$target-" "$found" "tests/fuzz/corpus/$target" >"$build/fuzz/$target.log" 2>&1; then
        fail "$target" "an input fails"
        continue
    fi
    echo "fuzz $target: $(grep -E '^Done ' "$build/fuzz/$target.log")"
    case $target in
    names) kind= ;;
    environment | unpack | driver) kind=--hostile ;;
    *)
        passed=$((passed + 1))
        continue
        ;;
    esac
    reports=$build/fuzz/reports/$target
    rm -rf "$reports" && mkdir -p "$reports"
    # shellcheck disable=SC2086 # there may be no option
    if FUZZ_REPORTS=$reports "$build/fuzz/$target" -runs=0 -max_len=25000 -artifact_prefix="$build/fuzz/$target-" \
        "$found" "tests/fuzz/corpus/$target" >"$build/fuzz/$target.log" 2>&1 &&
        tests/fuzz/read_back.py "$reports" $kind >>"$build/fuzz/$target.log" 2>&1; then
        passed=$((passed + 1))
        tail -n 1 "$build/fuzz/$target.log"
        rm -rf "$reports"
    else
        fail "$target" "its reports cannot be read back"
    fi
done

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
