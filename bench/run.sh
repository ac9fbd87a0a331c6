#!/bin/sh
# Runs the benchmarks on the software device, BENCH_RUNS times (1), and gathers their lines
# `ratio NAME VALUE target VALUE ok|short` in build/bench.json and, in words, in bench/README.md: of several runs the
# median. Fails where one of them does: on what cannot be noise.
# Usage: bench/run.sh PROGRAM...
set -u
top=$(cd "$(dirname "$0")/.." && pwd)
build=${BUILD:-build}
runs=${BENCH_RUNS:-1}
load=$(cut -d ' ' -f 1 /proc/loadavg)
status=0
cd "$top" || exit 1
lines=$build/bench.log
export ZT_DEVICE=software

run() { # COMMAND...
    timeout -k 10 400 tests/run-on-device.sh "$@" >"$lines.one"
    result=$?
    cat "$lines.one"
    cat "$lines.one" >>"$lines"
    if [ $result -ne 0 ]; then
        echo "$*: exit status $result"
        status=1
    fi
}

# Of each name, in the order of the runs: NAME MEDIAN LEAST MOST TARGET ok|short
medians() {
    awk '$1 == "ratio" { if (!($2 in place)) place[$2] = ++count; print place[$2], $2, $3, $5, $6 }' "$lines" |
        sort -k1,1n -k3,3g |
        awk '
            function put() {
                if (n)
                    print name, value[int((n + 1) / 2)], value[1], value[n], target, verdict[int((n + 1) / 2)]
                n = 0
            }
            $2 != name { put() }
            { name = $2; value[++n] = $3; target = $4; verdict[n] = $5 }
            END { put() }'
}

# With three digits, and no exponent. Whether a target is the most or the least shows in whether it is reached. The
# last column is of Intel's driver: bench/intel.txt, which `make bench-intel` writes.
tables() {
    awk '
        function short(number) {
            return number >= 100 || number == int(number) ? sprintf("%.0f", number) : sprintf("%.3g", number) + 0
        }
        FILENAME ~ /intel/ {
            intel[$1] = short($2)
            next
        }
        FILENAME ~ /medians/ {
            figure[$1] = short($2) " | " ($3 == $4 ? "" : short($3) " to " short($4)) " | "
            if ($5 != "-") {
                figure[$1] = figure[$1] (($6 == "ok") == ($2 <= $5) ? "at most " : "at least ") short($5)
                if ($6 != "ok")
                    figure[$1] = figure[$1] ": missed"
            }
            next
        }
        /^##/ { print "\n" $0 "\n\n| | median | runs | target | Intel\047s driver |\n|---|---|---|---|---|" }
        / \| / {
            name = $1
            sub(/^[^|]*\| /, "")
            print "| " $0 " | " (name in figure ? figure[name] : "not measured | |") " | " intel[name] " |"
        }' bench/intel.txt "$build/bench.medians" bench/rows.txt
}

version() { # COMMAND
    command -v "$1" >/dev/null && "$@" --version | head -n 1
}

busy() {
    if [ "${load%%.*}" -ge 1 ]; then
        echo "Other programs ran meanwhile (a load of $load at the start), so some figures are noise."
    fi
}

page() {
    cat <<END
# What the library costs

\`make bench\` writes this page, and build/bench.json. Everything is measured on the [device in software](../tests/softgpu),
whose calls cost so much that the library costs, beside them, what it costs beside those of Intel's driver: for a
recorded region 0.6 microseconds for begin and end of a query, 0.3 for its data, and 2.5 to calculate one report of 64.
Each ratio compares two pieces of work in turns, by the processor time of the submitting thread; by the clock where
waiting is measured. Ratios carry over to other machines better than times do. \`BENCH_RUNS=5 make bench\` takes the
median of five runs.

**No GPU was measured.** The last column has what \`make bench-intel\` has measured with Intel's own driver over a stand-in for
the kernel's device ([tests/intel](../tests/intel/README.md)).

Measured on $(uname -sm) with $(nproc) cores, by $(version "${CC:-cc}"), $runs times.
$(busy)
END
    tables
}

: >"$lines"
for _ in $(seq "$runs"); do
    for program; do
        run "$program"
    done
    run sh bench/instructions.sh "$build/bench/regions"
    run sh bench/compile.sh
done

medians >"$build/bench.medians"
awk '
    BEGIN { print "[" }
    {
        printf "%s{\"name\": \"%s\", \"value\": %s, \"target\": %s, \"holds\": %s}", comma, $1, $2,
            $5 == "-" ? "null" : $5, $6 == "ok" ? "true" : "false"
        comma = ",\n"
    }
    END { print "\n]" }' "$build/bench.medians" >"$build/bench.json"
page >bench/README.md
rm -f "$lines.one"
exit $status
