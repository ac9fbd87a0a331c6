/* Watches the device while it works: a line of how busy it is, its bandwidth and its frequency, and at the
   end the course of each. The work comes in bursts, each announced by a marker.

       stream [SECONDS] */
#define ZETOOLS_IMPLEMENTATION
#include "zetools.h"

#include "example.h"

#include <time.h>
#include <unistd.h>

enum {
    SECONDS = 3,
    ELEMENTS = 1 << 18, /* of the vectors */
    GROUP = 256,
    PERIOD_NS = 1000000,
    ROWS_A_POINT = 25, /* rows whose mean is one point of the course */
    POINTS = 4096,
    WIDTH = 60 /* of a sparkline */
};

/* ---- what is shown -------------------------------------------------------------------------------------- */

/* One curve: the sum of one or two metrics. */
typedef struct curve {
    const char *label, *units;
    const char *metrics[2];
    uint32_t index[2]; /* UINT32_MAX: the device does not measure it */
    double sum;        /* of the rows of the point to come */
    double points[POINTS];
} curve;

typedef struct view {
    curve curves[3];
    uint32_t rows, points, marks;
    int is_terminal;
} view;

static view view_of(const zt_stream *stream) {
    view v = {
        {{"busy", "%", {"GPU_BUSY", NULL}, {0, 0}, 0, {0}},
         {"bandwidth", "GB/s", {"GPU_MEMORY_BYTE_READ_RATE", "GPU_MEMORY_BYTE_WRITE_RATE"}, {0, 0}, 0, {0}},
         {"frequency", "MHz", {"AvgGpuCoreFrequencyMHz", NULL}, {0, 0}, 0, {0}}},
        0,
        0,
        0,
        0};
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 2; k++)
            v.curves[i].index[k] = zt_stream_find_metric(stream, v.curves[i].metrics[k]);
    v.is_terminal = isatty(STDOUT_FILENO);
    return v;
}

static void print_line(const view *v) {
    printf(v->is_terminal ? "\r" : "");
    for (int i = 0; i < 3; i++)
        printf("%s %8.1f %-4s  ", v->curves[i].label, v->curves[i].points[v->points - 1], v->curves[i].units);
    printf(v->is_terminal ? "" : "\n");
    fflush(stdout);
}

static void end_point(view *v) {
    for (int i = 0; i < 3; i++) {
        v->curves[i].points[v->points] = v->curves[i].sum / ROWS_A_POINT;
        v->curves[i].sum = 0;
    }
    v->points++;
    if (v->is_terminal || v->points % 10 == 0)
        print_line(v);
}

/* What the stream calls with each row. */
static int show(const zt_row *row, void *user) {
    view *v = (view *)user;

    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 2; k++)
            if (v->curves[i].index[k] < row->metric_count)
                v->curves[i].sum += row->values[v->curves[i].index[k]];
    v->marks += row->marker != NULL;
    if (++v->rows % ROWS_A_POINT == 0 && v->points < POINTS)
        end_point(v);
    return 0;
}

static double mean_of_points(const curve *c, uint32_t from, uint32_t to) {
    double sum = 0;

    for (uint32_t i = from; i < to; i++)
        sum += c->points[i];
    return sum / (to - from);
}

static void print_course(const curve *c, uint32_t points) {
    static const char *const bars[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    uint32_t width = points < WIDTH ? points : WIDTH;
    double peak = 0;

    for (uint32_t i = 0; i < points; i++)
        peak = c->points[i] > peak ? c->points[i] : peak;
    printf("%-10s ", c->label);
    for (uint32_t i = 0; i < width; i++) {
        double mean = mean_of_points(c, i * points / width, (i + 1) * points / width);
        printf("%s", bars[peak > 0 ? (int)(mean / peak * 7.99) : 0]);
    }
    printf("  mean %.1f, peak %.1f %s\n", points ? mean_of_points(c, 0, points) : 0, peak, c->units);
}

static void print_summary(const view *v, zt_stream_counts counts) {
    printf("\n\n");
    for (int i = 0; i < 3; i++)
        print_course(&v->curves[i], v->points);
    printf("%llu rows, %u bursts, %llu gaps\n", (unsigned long long)counts.rows, v->marks,
           (unsigned long long)counts.gaps);
}

/* ---- the work ------------------------------------------------------------------------------------------- */

typedef struct work {
    program saxpy;
    float *x, *y; /* y += x */
    immediate device;
    uint32_t launches;
} work;

static work work_open(const gpu *g) {
    const float factor = 1;
    const uint32_t elements = ELEMENTS;
    work w;

    w.saxpy = program_load(g, "saxpy");
    w.x = gpu_floats(g, ELEMENTS);
    w.y = gpu_floats(g, ELEMENTS);
    w.device = immediate_open(g);
    w.launches = 0;
    for (uint32_t i = 0; i < ELEMENTS; i++) {
        w.x[i] = (float)(i % 3);
        w.y[i] = 1;
    }
    SET_ARGUMENT(w.saxpy.kernel, 0, w.y);
    SET_ARGUMENT(w.saxpy.kernel, 1, w.x);
    SET_ARGUMENT(w.saxpy.kernel, 2, factor);
    SET_ARGUMENT(w.saxpy.kernel, 3, elements);
    CHECK(zeKernelSetGroupSize(w.saxpy.kernel, GROUP, 1, 1));
    return w;
}

static void work_close(const gpu *g, work *w) {
    immediate_close(&w->device);
    CHECK(zeMemFree(g->context, w->x));
    CHECK(zeMemFree(g->context, w->y));
    program_unload(&w->saxpy);
}

static void burst(work *w, zt_stream *stream, uint32_t launches) {
    ze_group_count_t groups = {ELEMENTS / GROUP, 1, 1};

    zt_stream_mark(stream, w->device.list, "burst");
    for (uint32_t i = 0; i < launches; i++) {
        CHECK(zeCommandListAppendLaunchKernel(w->device.list, w->saxpy.kernel, &groups, NULL, 0, NULL));
        CHECK(zeCommandListAppendBarrier(w->device.list, NULL, 0, NULL));
    }
    w->launches += launches;
    immediate_wait(&w->device);
}

static int are_results_right(const work *w) {
    for (uint32_t i = 0; i < ELEMENTS; i++)
        if (w->y[i] != 1 + (float)w->launches * w->x[i])
            return 0;
    return 1;
}

/* Bursts that grow, and then begin small again, with a pause after each. */
static void run(work *w, zt_stream *stream, view *v, double seconds) {
    const struct timespec pause = {0, 40000000};
    time_t end = time(NULL) + (time_t)seconds;

    for (uint32_t i = 0; time(NULL) < end; i++) {
        burst(w, stream, 1 + i % 16 * 4);
        nanosleep(&pause, NULL);
        zt_stream_read(stream, 0, show, v);
    }
}

int main(int argc, char **argv) {
    static view v;
    gpu g = gpu_open(argv[0]);
    work w = work_open(&g);
    zt_stream_config config = {0};
    zt_stream_counts counts;
    zt_stream *stream;
    int right, measured;

    config.period_ns = PERIOD_NS;
    config.thread = 1; /* bursts may take longer than the device's memory lasts */
    if (zt_stream_open(g.context, g.device, &config, &stream) != ZE_RESULT_SUCCESS)
        print_last_error();
    v = view_of(stream);
    run(&w, stream, &v, argc > 1 ? atof(argv[1]) : SECONDS);
    measured = stream != NULL;
    zt_stream_close(stream, show, &v, &counts);
    if (measured)
        print_summary(&v, counts);

    right = are_results_right(&w);
    printf("results: %s\n", right ? "right" : "WRONG");
    work_close(&g, &w);
    gpu_close(&g);
    return right && measured && counts.rows > 0 && v.marks > 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
