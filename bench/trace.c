/* What it takes to write the trace of a minute, with a noisy stream at 100 microseconds beside 10,000
   regions: compared with copying a file of its size, and in Perfetto's format with JSON. */
#define ZETOOLS_IMPLEMENTATION
#include "bench.h"

#include "tests/a_minute.h"

#include <unistd.h>

enum { ROUNDS = 5 };

static zt_profiler *open_timeline(zt_stream **stream, target *t) {
    zt_config config = {0};
    zt_stream_config streamed = {0};
    zt_profiler *profiler;
    zt_region region;
    config.groups = "ComputeBasic";
    config.timeline = A_MINUTE_REGIONS;
    CHECK(zt_open(gpu.context, gpu.device, &config, &profiler));
    streamed.group = "HostScheduler";
    streamed.profiler = profiler;
    streamed.period_ns = 1000000000; /* its own rows do not matter */
    streamed.timeline_rows = A_MINUTE_ROWS;
    CHECK(zt_stream_open(gpu.context, gpu.device, &streamed, stream));
    region = zt_begin(profiler, t->list, "a region with a name of ordinary length");
    zt_end(&region);
    CHECK(zt_collect(profiler, UINT64_C(10000000000)));
    return profiler;
}

/* Returns the size of the copy. */
static long copy_file(const char *from, const char *to) {
    static char bytes[1 << 16];
    FILE *in = fopen(from, "rb"), *out = fopen(to, "wb");
    size_t count;
    long size = 0;
    NEED(in && out);
    while ((count = fread(bytes, 1, sizeof bytes, in)) > 0) {
        NEED(fwrite(bytes, 1, count, out) == count);
        size += (long)count;
    }
    fclose(in);
    NEED(fclose(out) == 0);
    return size;
}

int main(void) {
    char trace[] = "/tmp/zetools-XXXXXX.trace.json", copy[] = "/tmp/zetools-XXXXXX";
    char perfetto[] = "/tmp/zetools-XXXXXX.pftrace";
    double writing[ROUNDS], processor[ROUNDS], ratios[ROUNDS], to_json[ROUNDS];
    long size = 0, perfetto_size = 0;
    zt_stream *stream;
    open_gpu();
    target t = open_target(IMMEDIATE);
    zt_profiler *profiler = open_timeline(&stream, &t);
    uint64_t begin_ns = zt__now_ns();
    a_minute_of_rows(stream, begin_ns, 1);
    a_minute_of_samples(profiler, t.list, begin_ns);
    close(mkstemps(trace, 11));
    close(mkstemp(copy));
    close(mkstemps(perfetto, 8));
    for (int i = 0; i < ROUNDS; i++) {
        double begin = now_ns(), written;
        clock_t busy = clock();
        CHECK(zt_report(profiler, trace));
        written = now_ns();
        processor[i] = (double)(clock() - busy) * 1000 / CLOCKS_PER_SEC;
        size = copy_file(trace, copy);
        writing[i] = (written - begin) / 1e6;
        ratios[i] = (written - begin) / (now_ns() - written);
        begin = now_ns();
        CHECK(zt_report(profiler, perfetto));
        to_json[i] = (now_ns() - begin) / 1e6 / writing[i];
        perfetto_size = copy_file(perfetto, copy);
    }
    unlink(perfetto);
    unlink(trace);
    unlink(copy);
    printf("# %.1f MB in %.0f ms, %.0f ms of a processor\n", (double)size / 1e6, median(writing, ROUNDS),
           median(processor, ROUNDS));
    put_ratio("trace_writing_to_copying", median(ratios, ROUNDS), AT_MOST, 60);
    put_ratio("trace_perfetto_to_json", median(to_json, ROUNDS), AT_MOST, 1);
    zt_stream_close(stream, NULL, NULL, NULL);
    zt_close(profiler);
    close_target(&t);
    CHECK(zeContextDestroy(gpu.context));
    return put_exact("trace_megabytes", (double)size / 1e6, 20) |
           put_exact("trace_perfetto_to_json_bytes", (double)perfetto_size / (double)size, 1.0 / 3);
}
