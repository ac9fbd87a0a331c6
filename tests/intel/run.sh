#!/bin/sh
# Runs on Intel's own driver what the project has of programs: `make test-intel NEO=ROOT`, `make bench-intel NEO=ROOT`.
# As root, because it changes the root directory.
# Usage: tests/intel/run.sh test|bench [STEP...]        default: all steps; tests/intel/README.md has them
#        tests/intel/run.sh run PROGRAM [ARGUMENT...]   one program, as seen from the project's directory in there
set -u
top=$(cd "$(dirname "$0")/../.." && pwd)
cd "$top" || exit 1
command=${1:-test}
[ $# -eq 0 ] || shift

if [ -z "${NEO:-}" ]; then
    echo 'NEO is not set. It names the root directory of a system with Intel'"'"'s Level Zero driver and its metrics:' >&2
    echo '"make test-intel NEO=/" on a machine with such a GPU. tests/intel/README.md says what has to be there.' >&2
    exit 1
fi
root=${NEO%/}
directory=/var/tmp/zetools-intel
home=$root$directory
standin=/usr/local/lib/libxe.so
[ -e "$root$standin" ] || standin=
build=$top/${BUILD:-build}/intel
if [ "$(id -u)" -ne 0 ] && [ -n "$root" ]; then
    echo "NEO=$NEO: only root can run programs there" >&2
    exit 1
fi
mkdir -p "$home" "$build" || exit 1
[ -d "${root:-/}/proc/self" ] || mount -t proc proc "$root/proc" || exit 1

inside() { # COMMAND...
    if [ -z "$root" ]; then (cd "$directory" && "$@"); else chroot "$root" env -C "$directory" PATH=/usr/bin:/bin:/usr/sbin:/sbin "$@"; fi
}

# One program at a time: the device belongs to one process. VARIABLES has further settings.
on_driver() { # SECONDS PROGRAM [ARGUMENT...]
    limit=$1
    shift
    if [ -n "$standin" ]; then
        # It has no direct submission, and knows the sets of counters of one process.
        rm -rf "$root"/sys/class/drm/card0/metrics/*
        set -- NEOReadDebugKeys=1 EnableDirectSubmission=0 LD_PRELOAD="${PRELOAD:-}${PRELOAD:+:}$standin" "$@"
    else
        set -- LD_PRELOAD="${PRELOAD:-}" "$@"
    fi
    # shellcheck disable=SC2086 # words
    flock "$home/.lock" timeout -k 5 "$limit" chroot "${root:-/}" env -C "$directory" HOME=/root LC_ALL=C.UTF-8 \
        PATH=/usr/bin:/bin:/usr/sbin:/sbin ZET_ENABLE_METRICS=1 ZE_ENABLE_TRACING_LAYER=1 ${VARIABLES:-} "$@"
}

# ---- what is run -----------------------------------------------------------------------------------------------

examples='groups regions replay scoped phases stream timeline trace instrument hotspots hang bench'
benches='steps launches regions execute threads phases'
faults=$(sed -n 's/^    FAULT(\([a-z_]*\)).*/\1/p' tests/intel/faults.c)

prepare() { # GOAL...
    git ls-files -co --exclude-standard | tar -c --ignore-failed-read -T - 2>/dev/null | tar -x -C "$home" || return 1
    inside make -s "$@" >"$build/make.log" 2>&1 || {
        tail -n 20 "$build/make.log"
        return 1
    }
}

# Runs a program, and prints how it ended, and what it printed if that was not well.
failed=0 passed=0
step() { # NAME SECONDS PROGRAM [ARGUMENT...]
    name=$1
    shift
    log=$build/$(echo "$name" | tr ' /' '__').log
    on_driver "$@" >"$log" 2>&1
    status=$?
    # Over the stand-in nobody computes what kernels compute.
    if [ -n "$standin" ] && [ "$status" -eq 1 ] && grep -qE "^(results: WRONG|the results of the work are wrong|the sum is)" "$log"; then
        status=0
    fi
    if [ "$status" -eq 0 ]; then
        passed=$((passed + 1))
        echo "ok      $name"
        return
    fi
    failed=$((failed + 1))
    case $status in
    124 | 137) echo "HANGS   $name" ;;
    13[0-9] | 14[0-9]) echo "CRASHES $name (signal $((status - 128)))" ;;
    *) echo "FAILS   $name (exit status $status)" ;;
    esac
    tail -n "${LINES_OF_LOG:-15}" "$log" | sed 's/^/        /'
}

run_examples() {
    for example in ${1:-$examples}; do
        step "example $example" 120 "build/examples-O0/$example"
    done
}

# A program that knows nothing of the library, with times alone and with metrics, in a table and a page.
run_preload() {
    PRELOAD=$directory/build/examples-O0/libzt_auto.so VARIABLES='ZT_AUTO=run.csv,run.html ZT_GROUPS=' step preload 120 build/examples-O0/simulate
    PRELOAD=$directory/build/examples-O0/libzt_auto.so VARIABLES=ZT_AUTO=run.csv step 'preload with metrics' 120 build/examples-O0/simulate
}

run_sequences() {
    step sequences 900 build/intel/sequences "${ZT_SEQUENCES:-2000}" "${ZT_SEED:-1}"
}

run_faults() {
    for fault in ${1:-$faults}; do
        step "fault $fault" 60 build/intel/faults "$fault"
    done
}

# The address sanitizer's library has to be loaded first; and it shall not look for leaks of the driver.
run_sanitizers() {
    asan=$(inside gcc -print-file-name=libasan.so)
    PRELOAD=$(inside realpath "$asan")
    VARIABLES='ASAN_OPTIONS=detect_leaks=0:new_delete_type_mismatch=0 UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1'
    step 'sequences, asan' 900 build/intel/sequences-asan $((${ZT_SEQUENCES:-2000} / 10)) "${ZT_SEED:-1}"
    for fault in $faults; do
        step "fault $fault, asan" 120 build/intel/faults-asan "$fault"
    done
    PRELOAD='' VARIABLES=''
}

# What has to be built for a step.
goals_of() { # STEP
    examples_in=build/examples-O0
    case $1 in
    examples) for example in $examples; do echo "$examples_in/$example"; done ;;
    example-*) echo "$examples_in/${1#example-}" ;;
    preload) echo "$examples_in/libzt_auto.so $examples_in/simulate" ;;
    sequences) echo build/intel/sequences ;;
    fault*) echo build/intel/faults ;;
    sanitizers) echo build/intel/sequences-asan build/intel/faults-asan ;;
    esac
}

test_all() {
    steps=${*:-examples preload sequences faults sanitizers}
    # shellcheck disable=SC2046 # words
    prepare intel-kernels $(for what in $steps; do goals_of "$what"; done) || exit 1
    for what in $steps; do
        case $what in
        example-*) run_examples "${what#example-}" ;;
        fault-*) run_faults "${what#fault-}" ;;
        *) "run_$what" ;;
        esac
    done
    echo "$passed passed, $failed failed"
    [ "$failed" -eq 0 ]
}

# Of several runs the median. The lines are kept in bench/intel.txt, which bench/README.md shows beside its own.
bench_all() {
    # shellcheck disable=SC2046,SC2048 # words
    prepare intel-kernels $(for bench in ${*:-$benches}; do echo "build/bench/$bench"; done) || exit 1
    lines=$build/bench.log
    : >"$lines"
    for _ in $(seq "${BENCH_RUNS:-3}"); do
        # shellcheck disable=SC2048 # words
        for bench in ${*:-$benches}; do
            on_driver 300 "build/bench/$bench" >"$lines.one" 2>&1 || echo "$bench: exit status $?"
            cat "$lines.one"
            cat "$lines.one" >>"$lines"
        done
    done
    awk '$1 == "ratio" { print $2, $3 }' "$lines" | sort -k1,1 -k2,2g | awk '
        function put() { if (n) printf "%s %.4g %.4g %.4g\n", name, value[int((n + 1) / 2)], value[1], value[n]; n = 0 }
        $1 != name { put() }
        { name = $1; value[++n] = $2 }
        END { put() }' >"$build/bench.medians"
    echo "medians, least and most:"
    cat "$build/bench.medians"
    [ $# -gt 0 ] || cp "$build/bench.medians" bench/intel.txt
}

case $command in
test) test_all "$@" ;;
bench) bench_all "$@" ;;
run) on_driver "${SECONDS_AT_MOST:-600}" "$@" ;;
*) echo "usage: tests/intel/run.sh test|bench|run" >&2 && exit 1 ;;
esac
