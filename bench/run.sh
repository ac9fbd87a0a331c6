#!/bin/sh
# Runs the benchmarks on the software device, and gathers their lines `ratio NAME VALUE target VALUE ok|short` in
# build/bench.json. Fails where one of them does: on what cannot be noise.
# Usage: bench/run.sh PROGRAM...
set -u
cd "$(dirname "$0")/.." || exit 1
build=${BUILD:-build}
lines=$build/bench.log
status=0
export ZT_DEVICE=software

run() { # COMMAND...
    timeout -k 10 120 tests/run-on-device.sh "$@" >"$lines.one"
    result=$?
    cat "$lines.one"
    cat "$lines.one" >>"$lines"
    if [ $result -ne 0 ]; then
        echo "$*: exit status $result"
        status=1
    fi
}

: >"$lines"
for program; do
    run "$program"
done
run sh bench/instructions.sh "$build/bench/regions"
run sh bench/compile.sh

awk '
    BEGIN { print "[" }
    $1 == "ratio" {
        printf "%s{\"name\": \"%s\", \"value\": %s, \"target\": %s, \"holds\": %s}", comma, $2, $3,
            $5 == "-" ? "null" : $5, $6 == "ok" ? "true" : "false"
        comma = ",\n"
    }
    END { print "\n]" }' "$lines" >"$build/bench.json"
rm -f "$lines.one"
exit $status
