/* A file of benchmarks, which zt_compare_benches reads and zt_report_benches has written. */
#include "fuzz.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { RESULTS = 2 };

static zt_bench_result results[RESULTS];

int LLVMFuzzerInitialize(int *count, char ***arguments) {
    (void)count, (void)arguments;
    for (int i = 0; i < RESULTS; i++) {
        strcpy(results[i].name, i ? "second \"one\", quoted" : "first");
        results[i].end = ZT_BENCH_PRECISE;
        results[i].count = 10;
        results[i].median = 1000;
        results[i].low = 990;
        results[i].high = 1010;
        results[i].tolerance = 0.02;
        results[i].frequency_mhz = i ? NAN : 2000;
        results[i].region = UINT32_MAX;
    }
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    zt_bench_changes changes;
    FILE *file = fopen(fuzz_path("before.csv"), "wb");
    must(file && fwrite(bytes, 1, size, file) == size && fclose(file) == 0);
    ze_result_t result = zt_compare_benches(NULL, results, RESULTS, "before.csv", "changes.txt", &changes);
    must(result == ZE_RESULT_SUCCESS ||
         changes.same + changes.faster + changes.slower + changes.missing + changes.added == 0);
    must(changes.same + changes.faster + changes.slower <= RESULTS);
    return 0;
}
