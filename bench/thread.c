/* What the submitting thread loses to regions where config.thread collects: its time for begin and end, over
   that for the driver's own begin and end. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* for affinity */
#endif
#define ZETOOLS_IMPLEMENTATION
#include "by_hand.h"

#include <sched.h>

/* ---- begin and end alone --------------------------------------------------------------------------------- */

static void *collect_in_thread(void *argument) {
    collect_bare((const bare *)argument);
    return NULL;
}

/* Collects on another core, as the library does: what begin and end touch comes from there. */
static void collect_elsewhere(bare *b) {
    pthread_attr_t attributes;
    pthread_t thread;
    cpu_set_t cores;
    NEED(sched_getaffinity(0, sizeof cores, &cores) == 0 && pthread_attr_init(&attributes) == 0);
    CPU_CLR((unsigned)sched_getcpu(), &cores);
    if (CPU_COUNT(&cores) > 0)
        NEED(pthread_attr_setaffinity_np(&attributes, sizeof cores, &cores) == 0);
    NEED(pthread_create(&thread, &attributes, collect_in_thread, b) == 0);
    pthread_join(thread, NULL);
    pthread_attr_destroy(&attributes);
}

static void run_submission(void *argument, uint32_t regions) {
    bare *b = (bare *)argument;
    target *t = &b->target;
    for (uint32_t done = 0; done < regions; done += BATCH) {
        start_watch();
        append_bare(b);
        stop_watch();
        if (t->kind == RECORDED) {
            CHECK(zeCommandListClose(t->list));
            CHECK(zeCommandQueueExecuteCommandLists(t->queue, 1, &t->list, NULL));
            CHECK(zeCommandQueueSynchronize(t->queue, UINT64_MAX));
            CHECK(zeCommandListReset(t->list));
        }
        collect_elsewhere(b);
    }
}

/* ---- by the library -------------------------------------------------------------------------------------- */

/* Two lists in turn, so that the thread collects from one while the other is recorded. */
typedef struct submitter {
    library libraries[2];
} submitter;

static void run_submitter(void *argument, uint32_t regions) {
    submitter *s = (submitter *)argument;
    for (uint32_t done = 0, turn = 0; done < regions; done += BATCH, turn = !turn) {
        library *l = &s->libraries[turn];
        target *t = &l->target;
        if (t->kind == RECORDED) {
            CHECK(zeCommandQueueSynchronize(t->queue, UINT64_MAX));
            CHECK(zt_reset(l->profiler, t->list));
            while (zt_get_info(l->profiler).counts.in_flight >
                   BATCH) /* the thread is behind with this list */
                nanosleep(&(struct timespec){0, 20000}, NULL);
        }
        start_watch();
        append_library(l);
        stop_watch();
        if (t->kind == RECORDED) {
            CHECK(zeCommandListClose(t->list));
            CHECK(zt_execute(l->profiler, t->queue, 1, &t->list, NULL));
        }
    }
}

static void measure(kind wanted) {
    zt_config config = {0};
    submitter s;
    bare b;
    config.thread = 1;
    s.libraries[0].profiler = s.libraries[1].profiler = open_profiler(&config);
    s.libraries[0].target = open_target(wanted);
    s.libraries[1].target = open_target(wanted);
    open_bare(&b, wanted);
    prepare(&b);
    run_submitter(&s, 4096);
    FOR_ALL_COSTS {
        double times[2];
        put_row("thread", kind_names[wanted],
                compare((work){run_submitter, &s}, (work){run_submission, &b}, 201, 4 * BATCH, times),
                AT_MOST, wanted == IMMEDIATE ? 1.05 : 1.25);
        printf("# submitting thread %.0f ns a region; begin and end alone %.0f ns\n", times[0], times[1]);
    }
    unprepare(&b);
    close_bare(&b);
    close_profiler(s.libraries[0].profiler);
    close_target(&s.libraries[0].target);
    close_target(&s.libraries[1].target);
}

int main(void) {
    return measure_both_kinds(measure);
}
