/* The page that the library writes. With ZT_PAGES=DIRECTORY, it stays there, with the JSON of the same
   figures, and tests/page/test_page.py compares what a browser shows of the one with the other. */
#define _GNU_SOURCE
#include "fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { STEPS = 30 };

static const softgpu_metric metrics[] = {
    {"GPU_BUSY", "GPU", "percent", ZET_METRIC_TYPE_DURATION, ZET_VALUE_TYPE_FLOAT32},
    {"XVE_ACTIVE", "XVE", "percent", ZET_METRIC_TYPE_DURATION, ZET_VALUE_TYPE_FLOAT32},
    {"XVE_STALL", "XVE", "percent", ZET_METRIC_TYPE_DURATION, ZET_VALUE_TYPE_FLOAT32},
    {"XVE_THREADS_OCCUPANCY_ALL", "XVE", "percent", ZET_METRIC_TYPE_DURATION, ZET_VALUE_TYPE_FLOAT32},
    {"GPU_MEMORY_BYTE_READ_RATE", "Memory", "GBpS", ZET_METRIC_TYPE_THROUGHPUT, ZET_VALUE_TYPE_FLOAT32},
    {"GPU_MEMORY_BYTE_WRITE_RATE", "Memory", "GBpS", ZET_METRIC_TYPE_THROUGHPUT, ZET_VALUE_TYPE_FLOAT32},
    {"GPU_MEMORY_REQUEST_QUEUE_FULL", "Memory", "percent", ZET_METRIC_TYPE_DURATION, ZET_VALUE_TYPE_FLOAT32},
    {"L3_HIT", "L3", "events", ZET_METRIC_TYPE_EVENT, ZET_VALUE_TYPE_UINT64},
    {"L3_MISS", "L3", "events", ZET_METRIC_TYPE_EVENT, ZET_VALUE_TYPE_UINT64},
    {"XVE_INST_EXECUTED_ALU0_ALL", "XVE", "events", ZET_METRIC_TYPE_EVENT, ZET_VALUE_TYPE_UINT64},
};
enum { METRICS = sizeof metrics / sizeof metrics[0] };

/* Regions of a step, and what the hardware counts in each. The memory is designed for 8 GB a second. */
static const struct {
    const char *name;
    double values[METRICS];
} regions[] = {
    {"conv2d_fwd_nhwc_f16", {98, 24, 71, 86, 5.2, 2.2, 95, 900000, 700000, 4000}},
    {"gemm_tn<half, 256, 128, 32>", {99, 91, 7, 88, 1.5, 0.4, 10, 3000000, 90000, 90000}},
    {"softmax", {97, 22, 71, 31, 1.2, 0.2, 12, 50000, 40000, 700}},
    {"relu", {96, 30, 5, 40, 0.6, 0.5, 8, 20000, 19000, 300}},
    {"</script><script>document.title = 'not this'</script>", {0}},
};
enum { REGIONS = sizeof regions / sizeof regions[0] };

static void run_steps(world *w, zt_profiler *profiler) {
    for (int step = 0; step < STEPS; step++) {
        for (int i = 0; i < REGIONS - 1; i++) {
            for (int m = 0; m < METRICS; m++)
                assert_true(gpu.set_metric(metrics[m].name, regions[i].values[m] * (1 - step % 3 * 0.01)));
            run(w, profiler, regions[i].name);
        }
    }
    gpu.behave(SOFTGPU_REPORT_LOST, 1);
    run(w, profiler, regions[REGIONS - 1].name);
    collect_all(profiler);
    gpu.behave(SOFTGPU_REPORT_LOST, 0);
}

/* Regions inside each other, of which one has a sample that is lost: its own time is not known, nor that of
   the region around it. */
static void run_nested(world *w, zt_profiler *profiler) {
    for (int step = 0; step < STEPS; step++) {
        gpu.behave(SOFTGPU_REPORT_LOST, step == 0);
        ZT_REGION(profiler, w->immediate, "lost once")
        ZT_REGION(profiler, w->immediate, "lost inside")
        launch(w, w->immediate);
        finish_immediate(w, w->immediate);
        collect_all(profiler);
        gpu.behave(SOFTGPU_REPORT_LOST, 0);
        ZT_REGION(profiler, w->immediate, "step") {
            launch(w, w->immediate);
            ZT_REGION(profiler, w->immediate, "forward") {
                for (int i = 0; i < 20; i++)
                    launch(w, w->immediate);
                run(w, profiler, "gemm");
                run(w, profiler, "relu");
            }
            run(w, profiler, "update");
        }
        finish_immediate(w, w->immediate);
    }
    collect_all(profiler);
}

/* Steps of phases, of which one has samples that are lost, and one has none. A list is recorded once, and executed on the
   queue in each step. */
static void run_phases(world *w, zt_profiler *profiler) {
    ok(zt_name_list(profiler, w->immediate, "solver"));
    for (int step = 0; step < STEPS; step++) {
        zt_phase_begin("step");
        ZT_PHASE("assemble") {
            run(w, profiler, "integrate");
            run(w, profiler, "scatter");
            if (step == 0) {
                append(w, profiler, w->list, "recorded");
                ok(zeCommandListClose(w->list));
            }
            execute(w, profiler, w->list);
            w->launches++;
        }
        ZT_PHASE("solve")
            for (int sweep = 0; sweep < 3; sweep++)
                ZT_PHASE("sweep") {
                    ZT_REGION(profiler, w->immediate, "smooth")
                    run(w, profiler, "spmv");
                    finish_immediate(w, w->immediate);
                    run(w, profiler, "dot");
                }
        gpu.behave(SOFTGPU_REPORT_LOST, step == 0);
        if (step % 10 == 0)
            ZT_PHASE("output") {
                run(w, profiler, "dot");
                collect_all(profiler);
                ZT_PHASE("write") {
                }
            }
        gpu.behave(SOFTGPU_REPORT_LOST, 0);
        zt_phase_end();
        run(w, profiler, "dot");
    }
    collect_all(profiler);
}

static char *read_text(const char *path) {
    static char text[1 << 22];
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    size_t size = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    text[size] = 0;
    return text;
}

/* Where the newest samples have replaced others, a page has how many there were. */
static void test_timeline_of_the_newest(void **state) {
    world *w = *state;
    zt_config config = config_of(w);
    char directory[] = "/tmp/zetools-page-XXXXXX", path[64];
    config.timeline = 4;
    zt_profiler *profiler = open_profiler(w, &config);
    for (int i = 0; i < 7; i++) {
        run(w, profiler, i < 3 ? "replaced" : "kept");
        collect_all(profiler);
    }
    assert_non_null(mkdtemp(directory));
    snprintf(path, sizeof path, "%s/run.html", directory);
    ok(zt_report(profiler, path));
    const char *text = strstr(read_text(path), "\"timeline\":{\"samples\":7,\"span_ns\":");
    assert_non_null(text);
    unlink(path);
    rmdir(directory);
    uint32_t kept = find_region(profiler, "kept"), spans = 0;
    char span[16];
    snprintf(span, sizeof span, "[%u,", (unsigned)kept);
    const char *end = strstr(text, "]]}");
    assert_non_null(end);
    for (text = strstr(text, "\"spans\":["); text && text < end; text = strstr(text + 1, span))
        spans++;
    assert_int_equal(spans - 1, 4);
    close_profiler(w, profiler);
}

static void test_the_page(void **state) {
    world *w = *state;
    char directory[256] = "/tmp/zetools-page-XXXXXX", html[300], json[300], operations[300], nested[2][300],
         phases[2][300];
    const char *stays = getenv("ZT_PAGES");
    zt_config config = config_of(w);
    if (stays)
        snprintf(directory, sizeof directory, "%s", stays);
    else
        assert_non_null(mkdtemp(directory));
    snprintf(html, sizeof html, "%s/library.html", directory);
    snprintf(json, sizeof json, "%s/library.json", directory);
    snprintf(operations, sizeof operations, "%s/operations.html", directory);
    snprintf(nested[0], sizeof nested[0], "%s/nested.html", directory);
    snprintf(nested[1], sizeof nested[1], "%s/nested.json", directory);
    snprintf(phases[0], sizeof phases[0], "%s/phases.html", directory);
    snprintf(phases[1], sizeof phases[1], "%s/phases.json", directory);
    assert_true(gpu.list_metrics("Chosen", metrics, METRICS));
    config.groups = "Chosen";
    config.timeline = 1000;
    config.samples = 16; /* fewer than there are */
    zt_profiler *profiler = open_profiler(w, &config);
    run_steps(w, profiler);
    ok(zt_report(profiler, html));
    ok(zt_report(profiler, json));
    ok(zt_set_peaks(profiler, 7.2e9, 2e12, "measured: copy of 256 MB"));
    ok(zt_set_operations(profiler, regions[0].name, 2e6));
    ok(zt_set_operations(profiler, regions[1].name, 9e7));
    ok(zt_report(profiler, operations));

    const char *text = read_text(html);
    assert_memory_equal(text, "<!DOCTYPE html>\n", 16);
    assert_int_equal(strcmp(text + strlen(text) - 8, "</html>\n"), 0);
    assert_null(strstr(text, "@DATA@"));
    assert_contains(text, "\"name\":\"\\u003c/script>\\u003cscript>document.title");
    assert_contains(text, "\"timeline\":{\"samples\":120,\"span_ns\":");
    assert_contains(text, ",\"phases\":[],\"queues\":[\n{\"kind\":\"list\",\"name\":\"\",\"spans\":[\n[0,0,");
    zt_limit_info limit;
    ok(zt_get_limit(profiler, find_region(profiler, regions[REGIONS - 1].name), &limit));
    assert_int_equal(limit.limit, ZT_LIMIT_UNKNOWN); /* it has no samples */
    close_profiler(w, profiler);
    config.timeline = 0;
    profiler = open_profiler(w, &config);
    run_nested(w, profiler);
    for (int i = 0; i < 2; i++)
        ok(zt_report(profiler, nested[i]));
    close_profiler(w, profiler);
    config.timeline = 1000;
    profiler = open_profiler(w, &config);
    run_phases(w, profiler);
    for (int i = 0; i < 2; i++)
        ok(zt_report(profiler, phases[i]));
    text = read_text(phases[0]);
    assert_contains(text, "\"phase\":{\"entered\":30,");
    assert_contains(text, "{\"kind\":\"list\",\"name\":\"solver\",\"spans\":[\n[");
    assert_contains(text, "{\"kind\":\"queue\",\"name\":\"\",\"spans\":[\n[");
    assert_contains(text, ",\"phases\":[\n[");
    if (!stays) {
        for (int i = 0; i < 2; i++) {
            unlink(nested[i]);
            unlink(phases[i]);
        }
        unlink(html);
        unlink(json);
        unlink(operations);
        rmdir(directory);
    }
    check_work(w);
}

int main(void) {
    const struct CMUnitTest tests[] = {TEST(test_the_page), TEST(test_timeline_of_the_newest)};
    return cmocka_run_group_tests(tests, start, NULL);
}
