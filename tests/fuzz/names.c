/* Names of regions and lists, paths of reports, and other texts of the application, in every report. */
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_NAMES = 24, MOST_DEPTH = 6, ROOM = 256 };

int LLVMFuzzerInitialize(int *count, char ***arguments) {
    (void)count, (void)arguments;
    return open_fuzz_world();
}

static void run_regions(zt_profiler *profiler, fuzz_input *input) {
    zt_region regions[MOST_DEPTH];
    char name[ROOM];
    int depth = 0;
    for (int i = 0; i < MOST_NAMES && input->size > 0; i++) {
        uint8_t what = take_byte(input);
        take_text(input, name, sizeof name);
        if (what % 8 == 7) {
            zt_name_list(profiler, world.list, name);
        } else if (what % 8 == 6) {
            zt_set_operations(profiler, name, what);
        } else if (what % 8 == 5) {
            zt_set_peaks(profiler, what * 1e9, what * 1e9, name);
        } else {
            while (depth > 0 && (depth == MOST_DEPTH || depth > what % 8))
                zt_end(&regions[--depth]);
            regions[depth++] = zt_begin(profiler, world.list, name);
            fuzz_launch();
        }
    }
    while (depth > 0)
        zt_end(&regions[--depth]);
    must(zt_collect(profiler, 1000000000) == ZE_RESULT_SUCCESS);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    static zt_bench_result result;
    fuzz_input input = {bytes, size};
    zt_config config = fuzz_config();
    zt_profiler *profiler;
    char columns[ROOM], path[ROOM];
    uint8_t options = take_byte(&input);
    take_text(&input, columns, sizeof columns);
    take_text(&input, path, sizeof path);
    config.groups = options & 1 ? "ComputeBasic" : "";
    config.timeline = options & 2 ? 64 : 0;
    config.columns = columns;
    must(zt_open(world.context, world.device, &config, &profiler) == ZE_RESULT_SUCCESS);
    run_regions(profiler, &input);
    fuzz_report(profiler);
    zt_report(profiler, path);
    memcpy(result.name, columns, sizeof result.name);
    result.name[sizeof result.name - 1] = 0;
    result.region = 0;
    result.median = result.low = result.high = 1;
    zt_report_benches(profiler, &result, 1, path);
    zt_close(profiler);
    check_memory();
    return 0;
}
