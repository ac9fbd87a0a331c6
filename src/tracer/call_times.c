/* Host times of calls. */

#include "tracer/call_times.h"

#include "base/compiler.h"
#include "base/diagnostics.h"
#include "base/memory.h"
#include "base/platform.h"
#include "base/threads.h"
#include "metrics/statistics.h"
#include "tracer/calls.h"
#include "tracer/tracer.h"

#ifdef ZETOOLS_TRACER

static const zt_aggregation zt__call_columns[1] = {ZT_AGGREGATE_SUM};

static const uint32_t zt__kept_call_columns[1] = {0};

ZT__PRIVATE const zt__sample_layout zt__call_layout = {1, ZT__KEPT_CALLS, 1, zt__kept_call_columns,
                                                       zt__call_columns};

ZT__PRIVATE void zt__free_timed_call(const zt_allocator *allocator, zt__timed_call *timed) {
    if (timed) {
        zt__free_statistics(allocator, &timed->statistics);
        zt__free(allocator, timed);
    }
}

ZT__PRIVATE void zt__clear_calls(zt__tracer *tracer) {
    uint32_t i;
    zt__lock(&tracer->mutex);
    for (i = 0; i < tracer->timed_call_count; i++) {
        zt__clear_statistics(&zt__call_layout, &tracer->by_appearance[i]->statistics);
        tracer->by_appearance[i]->errors = 0;
    }
    tracer->span_count = 0;
    zt__unlock(&tracer->mutex);
}

ZT__PRIVATE void zt__count_call(zt__tracer *tracer, zt__call call, uint64_t begin_ns, uint64_t end_ns,
                                ze_result_t result) {
    zt__timed_call *timed, *made = NULL;
    double duration = (double)(end_ns - begin_ns);
    zt__lock(&tracer->mutex);
    timed = tracer->timed_calls[call];
    zt__unlock(&tracer->mutex);
    if (!timed) {
        made = (zt__timed_call *)zt__allocate(&tracer->allocator, 1, sizeof *made);
        if (made && !zt__reserve_samples(&tracer->allocator, &tracer->mutex, &zt__call_layout,
                                         &made->statistics, ZT__KEPT_CALLS)) {
            zt__free_timed_call(&tracer->allocator, made);
            made = NULL;
        }
        if (!made) {
            zt__report_no_memory(tracer->diagnostics, zt__starting_call(tracer), "the times of calls");
        }
    }

    zt__lock(&tracer->mutex);
    if (made && !tracer->timed_calls[call]) { /* else another thread was faster */
        made->call = call;
        tracer->timed_calls[call] = tracer->by_appearance[tracer->timed_call_count++] = made;
        made = NULL;
    }
    timed = tracer->timed_calls[call];
    if (timed) {
        zt__add_sample(&zt__call_layout, &timed->statistics, &duration);
        switch ((uint32_t)result) {
        case ZE_RESULT_SUCCESS: /* Warnings and answers are no errors. Older headers lack some names. */
        case ZE_RESULT_NOT_READY:
        case ZE_RESULT_WARNING_DROPPED_DATA:
        case 0x7800001b: /* WARNING_ACTION_REQUIRED */
        case 0x7ff00005: /* EXP_RTAS_BUILD_RETRY */
        case 0x7ff00006: /* EXP_RTAS_BUILD_DEFERRED */
        case 0x7800001d: /* EXT_RTAS_BUILD_RETRY */
        case 0x7800001e: /* EXT_RTAS_BUILD_DEFERRED */
        case 0x78000022: /* QUERY_TRUE */
        case 0x78000023: /* QUERY_FALSE */
            break;
        default:
            timed->errors++;
            break;
        }
    }
    if (tracer->spans) {
        zt__host_span *span = &tracer->spans[tracer->span_count++ % tracer->span_capacity];
        span->begin_ns = begin_ns;
        span->duration_ns = end_ns - begin_ns;
        span->call = call;
        span->thread = zt__get_thread_number();
    }
    zt__unlock(&tracer->mutex);
    zt__free_timed_call(&tracer->allocator, made);
}

#endif
