/* The steps of a region on a recorded list, each over the same driver calls from a bare loop: begin and end
   (without the work between), execution, collecting. And what a released list costs, which the bare loop has
   nothing for. */
#define ZETOOLS_IMPLEMENTATION
#include "by_hand.h"

enum { ROUNDS = 301 };

typedef enum step { WORK, APPEND, EXECUTE, COLLECT, RELEASE, STEPS } step;

static void end_step(double steps[STEPS], step which, double began) {
    steps[which] = (processor_ns() - began) / BATCH;
}

static void step_work(target *t, double steps[STEPS]) {
    double began;
    CHECK(zeCommandListReset(t->list));
    began = processor_ns();
    for (int i = 0; i < BATCH; i++)
        append_work(t);
    end_step(steps, WORK, began);
}

static void step_bare(bare *b, double steps[STEPS]) {
    target *t = &b->target;
    double began;
    step_work(t, steps);
    CHECK(zeCommandListReset(t->list));
    began = processor_ns();
    append_bare(b);
    end_step(steps, APPEND, began);
    CHECK(zeCommandListClose(t->list));
    began = processor_ns();
    CHECK(zeCommandQueueExecuteCommandLists(t->queue, 1, &t->list, NULL));
    end_step(steps, EXECUTE, began);
    await_target(t);
    began = processor_ns();
    collect_bare(b);
    end_step(steps, COLLECT, began);
}

static void step_library(library *l, double steps[STEPS]) {
    target *t = &l->target;
    double began;
    CHECK(zeCommandListReset(t->list));
    began = processor_ns();
    append_library(l);
    end_step(steps, APPEND, began);
    CHECK(zeCommandListClose(t->list));
    began = processor_ns();
    CHECK(zt_execute(l->profiler, t->queue, 1, &t->list, NULL));
    end_step(steps, EXECUTE, began);
    await_target(t);
    began = processor_ns();
    CHECK(zt_collect(l->profiler, 0));
    end_step(steps, COLLECT, began);
    began = processor_ns();
    CHECK(zt_release(l->profiler, t->list));
    end_step(steps, RELEASE, began);
}

static double of_library[ROUNDS][STEPS], of_bare[ROUNDS][STEPS];

static void put_step(const char *name, step which, double wanted) {
    double ratios[ROUNDS], a[ROUNDS], b[ROUNDS];
    for (int i = 0; i < ROUNDS; i++) {
        const double between = which == APPEND ? of_bare[i][WORK] : 0;
        a[i] = of_library[i][which] - between;
        b[i] = of_bare[i][which] - between;
        ratios[i] = a[i] / b[i];
    }
    put_row(name, NULL, median(which == RELEASE ? a : ratios, ROUNDS), wanted > 0 ? AT_MOST : STATED, wanted);
    printf("# %s: library %.0f ns a region, bare calls %.0f ns\n", name, median(a, ROUNDS),
           which == RELEASE ? 0 : median(b, ROUNDS));
}

int main(void) {
    library l;
    bare b;
    open_gpu();
    l = open_library(RECORDED);
    open_bare(&b, RECORDED);
    prepare(&b);
    FOR_ALL_COSTS {
        for (int i = -ROUNDS / 3; i < ROUNDS; i++) { /* with a warm-up */
            int round = i < 0 ? 0 : i;
            if (round % 2)
                step_library(&l, of_library[round]);
            step_bare(&b, of_bare[round]);
            if (round % 2 == 0)
                step_library(&l, of_library[round]);
        }
        put_step("step_append", APPEND, 1.15);
        put_step("step_execute", EXECUTE, 0);
        put_step("step_collect", COLLECT, 1.08);
        put_step("step_release", RELEASE, 60);
    }
    unprepare(&b);
    close_bare(&b);
    close_library(&l);
    CHECK(zeContextDestroy(gpu.context));
    return EXIT_SUCCESS;
}
