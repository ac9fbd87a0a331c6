/* The trace of a minute: a stream at 100 microseconds beside 10,000 regions. */
#define ZETOOLS_IMPLEMENTATION
#define ZETOOLS_STATIC
#include "rows.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "a_minute.h"

typedef struct a_trace {
    size_t size, regions, arguments, flows, counters, merged;
    char line[4096];
    size_t used;
} a_trace;

/* Looks at one event a line. */
static int take_trace(const void *bytes, size_t size, void *user) {
    a_trace *trace = (a_trace *)user;
    trace->size += size;
    for (size_t i = 0; i < size; i++) {
        char byte = ((const char *)bytes)[i];
        if (byte != '\n') {
            assert_true(trace->used + 1 < sizeof trace->line);
            trace->line[trace->used++] = byte;
            continue;
        }
        trace->line[trace->used] = 0;
        trace->used = 0;
        trace->counters += strncmp(trace->line, "{\"ph\":\"C\"", 9) == 0;
        trace->flows += strncmp(trace->line, "{\"ph\":\"f\"", 9) == 0;
        if (strstr(trace->line, "\"cat\":\"region\"")) {
            trace->regions++;
            for (const char *next = trace->line; (next = strstr(next, "]\":")) != NULL; next++)
                trace->arguments++;
        }
        trace->merged += strstr(trace->line, "\"cat\":\"merged\"") != NULL;
    }
    return 0;
}

/* Regions with metrics of one domain, and a stream of another. */
static a_trace trace_of_a_minute(world *w, const char *columns, int is_noisy) {
    zt_config config = config_of(w);
    zt_stream_config streamed = stream_config_of(w);
    zt_profiler *profiler;
    zt_stream *stream;
    a_trace trace;
    memset(&trace, 0, sizeof trace);
    config.groups = "ComputeBasic";
    config.columns = columns;
    config.timeline = A_MINUTE_REGIONS;
    ok(zt_open(w->context, w->device, &config, &profiler));
    streamed.group = "HostScheduler";
    streamed.period_ns = SLOW_PERIOD; /* its own rows do not matter */
    streamed.profiler = profiler;
    streamed.timeline_rows = A_MINUTE_ROWS;
    ok(zt_stream_open(w->context, w->device, &streamed, &stream));
    run(w, profiler, "a region with a name of ordinary length");
    ok(zt_collect(profiler, A_WHILE));
    uint64_t begin_ns = now_ns();
    a_minute_of_rows(stream, begin_ns, is_noisy);
    a_minute_of_samples(profiler, w->immediate, begin_ns);
    ok(zt_write(profiler, ZT_FORMAT_TRACE, take_trace, &trace));
    zt_stream_close(stream, NULL, NULL, NULL);
    zt_close(profiler);
    return trace;
}

/* Though each of the shown metrics changes in each row. */
static void test_noise_stays_small(void **state) {
    world *w = (world *)*state;
    a_trace trace = trace_of_a_minute(w, NULL, 1);
    assert_true(trace.size < 20000000);
    assert_int_equal(trace.regions, A_MINUTE_REGIONS);
    assert_int_equal(trace.flows, A_MINUTE_REGIONS);
    assert_true(trace.arguments >= 9 * A_MINUTE_REGIONS);
    assert_true(trace.counters > 40000 && trace.counters <= 80000);
    assert_int_equal(trace.merged, 1);
    check_work(w);
}

/* The fewer counters are chosen, the more values has each. */
static void test_a_chosen_counter(void **state) {
    world *w = (world *)*state;
    a_trace trace = trace_of_a_minute(w, "HOST_CPU_BUSY", 1);
    assert_true(trace.size < 20000000);
    assert_true(trace.counters > 40000 && trace.counters <= 80000);
    assert_int_equal(trace.merged, 1);
    check_work(w);
}

/* What does not change is written when it begins and when it ends, and is not merged. */
static void test_what_does_not_change(void **state) {
    world *w = (world *)*state;
    a_trace trace = trace_of_a_minute(w, "HOST_CPU_BUSY,PAGE_FAULTS_MINOR", 0);
    assert_int_equal(trace.counters, 4);
    assert_int_equal(trace.merged, 0);
    check_work(w);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        STREAM_TEST(test_noise_stays_small),
        STREAM_TEST(test_a_chosen_counter),
        STREAM_TEST(test_what_does_not_change),
    };
    return cmocka_run_group_tests(tests, start, NULL);
}
