/* Why launches are not measured, or overlap with nothing: by cause, in counts and sentences. */

#include "tracer/unmeasured.h"

#include "base/compiler.h"
#include "tracer/tracer.h"

#ifdef ZETOOLS_TRACER

typedef struct zt__cause_text {
    const char *name;     /* in zt_cause_count, and as a label of ZT_FORMAT_OPENMETRICS */
    const char *sentence; /* follows the numbers. NULL: reports do not note it */
} zt__cause_text;

/* By zt_unmeasured. */
static const zt__cause_text zt__unmeasured_texts[ZT_UNMEASURED_COUNT] = {
    {"null handle",
     "could not be measured, because their list or kernel was NULL, which drivers refuse. Check "
     "the results of the application's calls."},
    {"other device", "could not be measured, because their lists are not of a context and device that is "
                     "measured. zt_auto measures all of them."},
    {"not opened", "could not be measured, because zt_auto could not open a profiler for their context and "
                   "device. ZT_LOG=stderr names the call that failed."},
    {"early list", "could not be measured, because their lists were created before tracing, and this loader "
                   "cannot query of which device they are. Update the loader."},
    {"copy engine", "could not be measured, because they are on copy engines, which have no metrics. With "
                    "ZT_GROUPS= their times are measured."},
    {"cloneable list",
     "could not be measured, because their lists can be cloned, and clones would write to the "
     "same events. Create lists without that flag while measuring."},
    {"changeable list",
     "could not be measured, because the application has queried identifiers of commands on "
     "their lists to change these, and nothing may be appended in between."},
    {"graph", "were captured into graphs. Each execution of a graph is measured as one, and counted as one "
              "launch."},
    {"unknown capture", "could not be measured, because other lists were captured into graphs meanwhile, and "
                        "this loader cannot query which lists are. Update the loader."},
    {"possible capture",
     "could not be measured, because they waited for events while another list was captured "
     "into a graph, and may have joined its capture. Launch them before or after it."},
    {"out of order",
     "could not be measured, because they are barriers and waits on lists that are not in order, "
     "where other barriers would measure themselves. Use lists that are in order."},
    {"no memory", "could not be measured, because there was no memory for their names."},
    {"variable",
     "could not be measured, because zexCommandListAppendVariableLaunchKernel appended them, whose "
     "variables are not known. Shares are of the others."},
    {"operation", "could not be measured, because zexCommandListAppendCustomOperation appended them, whose "
                  "parameters are not known. Shares are of the others."},
    {"driver handle",
     "could not be measured, because they were appended through pointers that "
     "zeDriverGetExtensionFunctionAddress returned, and this loader wraps handles. Shares are "
     "of the others. Use the loader's functions."},
};

#define ZT__SERIALISED(why) "were measured between barriers, and overlapped with nothing, because " why

/* By zt_serialised. */
static const zt__cause_text zt__serialised_texts[ZT_SERIALISED_COUNT] = {
    {"event in use",
     ZT__SERIALISED(
         "their events were signalled, or other commands may signal them. Use an event for one launch "
         "at a time, and reset it on the host.")},
    {"metrics", NULL}, /* as documented */
    {"graph", ZT__SERIALISED("they are graphs, which have no time stamps of their own.")},
    {"unknown list", ZT__SERIALISED("this driver cannot tell whether their lists, which were created before "
                                    "tracing, are immediate. Start tracing first.")},
    {"unseen event",
     ZT__SERIALISED("the creation of their events was not seen. Start tracing before events are created.")},
    {"counter-based event",
     ZT__SERIALISED("their events are counter-based, and the loader cannot query whether their lists, which "
                    "were created before tracing, are in order. Start tracing first.")},
    {"invisible event", ZT__SERIALISED("the host cannot see their events. Create the pools of these with "
                                       "ZE_EVENT_POOL_FLAG_HOST_VISIBLE.")},
    {"shared event",
     ZT__SERIALISED("their events can be shared with other processes. Create the pools of these "
                    "without ZE_EVENT_POOL_FLAG_IPC.")},
    {"mapped event", ZT__SERIALISED("their events have mapped time stamps. Create the pools of these with "
                                    "ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP.")},
    {"extended pool", ZT__SERIALISED("the pools of their events were created with extensions (pNext).")},
    {"no time stamps", ZT__SERIALISED("the driver refuses pools with time stamps as their events need.")},
};

ZT__PRIVATE void zt__name_causes(zt_trace_counts *counts) {
    uint32_t i;
    for (i = 0; i < ZT_UNMEASURED_COUNT; i++) {
        counts->unmeasured[i].name = zt__unmeasured_texts[i].name;
    }
    for (i = 0; i < ZT_SERIALISED_COUNT; i++) {
        counts->serialised_by[i].name = zt__serialised_texts[i].name;
    }
}

ZT__PRIVATE void zt__count_unmeasured(zt__tracer *tracer, zt_unmeasured cause) {
    tracer->counts.launches++;
    tracer->counts.elsewhere++;
    tracer->counts.unmeasured[cause].count++;
}

ZT__PRIVATE void zt__change_cause(zt__tracer *tracer, zt_unmeasured from, zt_unmeasured to) {
    tracer->counts.unmeasured[from].count--;
    tracer->counts.unmeasured[to].count++;
}

ZT__PRIVATE void zt__count_serialised(zt__tracer *tracer, zt_serialised cause) {
    tracer->counts.serialised++;
    tracer->counts.serialised_by[cause].count++;
}

static int zt__describe(const zt_trace_counts *counts, uint64_t count, const char *sentence, char *text,
                        size_t room) {
    if (count > 0 && sentence) {
        snprintf(text, room, "%llu of %llu launches %s", (unsigned long long)count,
                 (unsigned long long)counts->launches, sentence);
    }
    return count > 0 && sentence;
}

ZT__PRIVATE int zt__describe_unmeasured(const zt_trace_counts *counts, zt_unmeasured cause, char *text,
                                        size_t room) {
    return zt__describe(counts, counts->unmeasured[cause].count, zt__unmeasured_texts[cause].sentence, text,
                        room);
}

ZT__PRIVATE int zt__describe_serialised(const zt_trace_counts *counts, zt_serialised cause, char *text,
                                        size_t room) {
    return zt__describe(counts, counts->serialised_by[cause].count, zt__serialised_texts[cause].sentence,
                        text, room);
}

#endif
