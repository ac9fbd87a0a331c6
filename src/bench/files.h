/* Results of benchmarks as table or CSV, and CSV read back. */

#pragma once

#include "base/compiler.h"
#include "base/diagnostics.h"
#include "base/system.h"

/* A benchmark of an earlier run. Figures that are not known are NaN. */
typedef struct zt__earlier_bench {
    const char *name;
    double median, low, high, decile1, mhz;
    int is_compared;
} zt__earlier_bench;

/* A file of benchmarks. Texts point into `text`. */
typedef struct zt__bench_file {
    const char *path;
    zt__diagnostics *diagnostics;
    const zt_allocator *allocator;
    char *text;
    zt__earlier_bench *benches;
    uint32_t count;
    const char *date, *device, *driver_version, *core_clock_mhz; /* of the first line */
} zt__bench_file;

/* Reads a file. On failure the message was reported. In either case the caller frees `text` and `benches`. */
ZT__PRIVATE ze_result_t zt__read_bench_file(zt__bench_file *file);
