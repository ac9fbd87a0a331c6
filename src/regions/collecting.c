/* zt_collect and its thread: what was read is calculated, counted and delivered, and slots are freed. */

#include "regions/collecting.h"

#include "base/compiler.h"
#include "base/diagnostics.h"
#include "base/map.h"
#include "base/numbers.h"
#include "base/platform.h"
#include "base/shared.h"
#include "base/threads.h"
#include "metrics/calculation.h"
#include "metrics/groups.h"
#include "regions/adding.h"
#include "regions/columns.h"
#include "regions/names.h"
#include "regions/profiler.h"
#include "regions/reading.h"
#include "regions/slots.h"

/* ---- calculating: no mutex held -------------------------------------------------------------------------- */

/* Fills the row of a sample, and checks whether its flags or its GPU time show that it is invalid. */
static void zt__fill_row(const zt_profiler *profiler, zt__reading *reading, double *row) {
    const zt__batch *batch = &profiler->batch;
    const zt__pass *pass = batch->pass;
    uint64_t mask = reading->times.is_kernel ? profiler->kernel_tick_mask : profiler->tick_mask;
    uint64_t ticks = (reading->times.end_ticks - reading->times.begin_ticks) & mask;
    static const char *const clocks[] = {"ns", "us", "ms", "s", "cycles"};
    double longest_ns;
    uint32_t g, m, tile, i;
    for (i = 0; i < profiler->row_length; i++) {
        row[i] = zt__nan();
    }
    for (g = 0; g < pass->group_count; g++) {
        const zt__group *group = &pass->groups[g];
        const zet_typed_value_t *values =
            batch->values[g] + (size_t)reading->report * group->metric_count * group->tiles;
        for (tile = 0; tile < group->tiles; tile++) {
            double *to = row + (profiler->tile_count ? zt__tile_column(profiler, tile, group->first_metric)
                                                     : 1 + group->first_metric);
            for (m = 0; m < group->metric_count; m++) {
                to[m] = zt__value_of(values++);
            }
        }
    }

    /* The values of the tiles are combined into that of the whole root device. Times, clock cycles and flags
       are the largest of the tiles, because tiles run at the same time. Other sums are added. Means are
       weighted by the GPU time of the tiles. A metric that is not aggregated is that of the first tile. */
    for (m = 0; m < profiler->metric_count && profiler->tile_count; m++) {
        const zt_metric *metric = &profiler->metrics[m];
        int takes_largest = metric->aggregation == ZT_AGGREGATE_FLAG;
        double whole = zt__nan(), weights = 0;
        for (i = 0; i < ZT__COUNT_OF(clocks) && metric->aggregation == ZT_AGGREGATE_SUM; i++) {
            takes_largest |= strcmp(metric->units, clocks[i]) == 0;
        }
        for (tile = 0; tile < profiler->tile_count; tile++) {
            double value = row[zt__tile_column(profiler, tile, m)], weight = 1;
            if (metric->aggregation == ZT_AGGREGATE_MEAN && pass->time_metric != UINT32_MAX) {
                weight = row[zt__tile_column(profiler, tile, pass->time_metric)];
            }
            if (zt__is_nan(value) || !zt__is_positive(weight)) {
                continue;
            }
            weights += weight;
            if (zt__is_nan(whole)) {
                whole = value;
            } else if (metric->aggregation == ZT_AGGREGATE_MEAN) {
                whole += (value - whole) * weight / weights;
            } else if (takes_largest) {
                whole = value > whole ? value : whole;
            } else if (metric->aggregation == ZT_AGGREGATE_SUM) {
                whole += value;
            }
        }
        row[1 + m] = whole;
    }

    row[0] =
        pass->time_metric == UINT32_MAX ? (double)ticks * profiler->ns_per_tick : row[1 + pass->time_metric];
    if (pass->index != ZT__TIMES_PASS) {
        row[zt__pass_time_column(profiler, pass->index)] = row[0];
    }
    for (i = 0; i < profiler->lost_flag_count; i++) {
        if (zt__is_positive(row[profiler->lost_flags[i].column])) {
            zt__lose(reading, profiler->lost_flags[i].cause);
        }
    }
    /* A nested region can make the GPU time wrong, without a flag. The limit has a margin, because the
       device's clock may run a little faster than the host's. */
    longest_ns = (double)(reading->times.not_after_ns - reading->times.not_before_ns) * 1.0625 + 1e6;
    if (reading->outcome == ZT__READ && row[0] > longest_ns) {
        zt__lose(reading, ZT_LOST_IMPLAUSIBLE);
    }
}

/* Calculates the reports of the batch, and fills a row for each. The reports of a group are calculated in one
   call. If that fails, they are calculated one by one, so that a bad report loses only its own sample. */
static void zt__calculate_batch(zt_profiler *profiler) {
    zt__batch *batch = &profiler->batch;
    uint32_t g, i;
    for (g = 0; g < batch->pass->group_count && batch->report_count > 0; g++) {
        zt__group *group = &batch->pass->groups[g];
        size_t report_values = (size_t)group->metric_count * group->tiles;
        void *values = batch->values[g];
        ze_result_t result = ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
        int has_room = zt__ensure_room(profiler, &values, &batch->value_count[g], ZT__BATCH * report_values,
                                       sizeof *batch->values[g]);
        batch->values[g] = has_room ? (zet_typed_value_t *)values : NULL;
        if (has_room) {
            result = zt__calculate_reports(&profiler->driver, group, batch->raw[g], batch->report_count,
                                           batch->values[g]);
        }
        for (i = 0; i < batch->count && result != ZE_RESULT_SUCCESS; i++) {
            zt__reading *reading = &batch->readings[i];
            ze_result_t alone = ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
            if (reading->outcome == ZT__READ && has_room) {
                alone = zt__calculate_reports(&profiler->driver, group,
                                              batch->raw[g] + reading->report * group->report_size, 1,
                                              batch->values[g] + reading->report * report_values);
            }
            if (reading->outcome == ZT__READ && alone != ZE_RESULT_SUCCESS) {
                reading->result = alone;
                reading->call = !has_room           ? "config.allocator"
                                : group->tiles == 1 ? "zetMetricGroupCalculateMetricValues"
                                                    : "zetMetricGroupCalculateMultipleMetricValuesExp";
                zt__lose(reading, ZT_LOST_READ_FAILED);
            }
        }
    }
    for (i = 0; i < batch->count; i++) {
        zt__reading *reading = &batch->readings[i];
        if (reading->outcome == ZT__READ) {
            zt__fill_row(profiler, reading, batch->rows + (size_t)i * profiler->row_length);
        }
        if (reading->outcome == ZT__READ && !zt__reserve_room(profiler, reading->slot->path, batch->count)) {
            zt__lose(reading, ZT_DROPPED_NO_MEMORY);
        }
    }
}

/* ---- counting -------------------------------------------------------------------------------------------- */

/* Updates what is known about the list of a slot that was read, counts its sample, and adds it to the
   statistics of its region. With the mutex held. */
static void zt__count_reading(zt_profiler *profiler, zt__reading *reading, double *row) {
    zt__slot *slot = reading->slot;
    zt__list *list = slot->list;
    zt__path *path = slot->path;
    zt__region_record *region = slot->region;
    int shows_others = !slot->is_unordered; /* its event shows that slots before it have ended, too */
    /* zt__submit_slots counts a sample as lost when the next execution overlaps it. If the slot was read in
       between and its event has signalled again, both samples exist, so one loss is taken back. */
    int was_overwritten = reading->from == ZT__SLOT_ARMED && reading->has_signalled &&
                          slot->overwritten > 0 && !zt__ran_unobserved(slot);
    reading->region = region;
    reading->is_submitted |= was_overwritten;
    if (reading->has_signalled && reading->condition != ZT__NOT_READY) {
        /* If the kind of the list is unknown, its second execution shows that it is recorded. */
        if ((reading->from == ZT__SLOT_ARMED || list->state != ZT__LIST_UNKNOWN) && !reading->is_submitted &&
            list->state != ZT__LIST_IMMEDIATE) {
            reading->is_unobserved = 1;
            if (slot->number > list->destroyed_up_to) {
                zt__move_list(profiler, list, ZT__LIST_UNOBSERVED);
            } else if (!list->destroyed_was_unobserved) {
                list->destroyed_was_unobserved = 1;
                profiler->counts.unobserved_lists++;
            }
        }
        if (slot->number > list->ran_up_to && (shows_others || list->state != ZT__LIST_IMMEDIATE)) {
            list->ran_up_to = slot->number;
        }
        if (list->state == ZT__LIST_IMMEDIATE && shows_others && slot->number > list->final_up_to) {
            list->final_up_to = slot->number;
        }
        /* An execution that was not submitted may still be followed by others. */
        if (reading->is_submitted && list->state != ZT__LIST_UNOBSERVED && list->state != ZT__LIST_UNKNOWN &&
            !list->overlaps && shows_others && slot->number > list->complete_up_to) {
            list->complete_up_to = slot->number;
        }
    }

    if (reading->outcome == ZT__NO_SAMPLE) {
        return;
    }
    if (was_overwritten) {
        slot->overwritten--;
        zt__count_lost(profiler, slot, ZT_LOST_OVERWRITTEN, -1);
    } else if (reading->from == ZT__SLOT_ARMED) { /* this execution was not submitted */
        zt__count_begun(profiler, path, 1);
        path->missing++; /* there may have been others, so the samples of nested regions need not match */
    }
    if (reading->outcome == ZT__LOST) {
        if (reading->cause >= ZT_DROPPED_NO_SLOT) {
            zt__count_dropped(profiler, region, slot->list, slot->submitted_ns, reading->cause);
        } else {
            zt__count_lost(profiler, slot, reading->cause, 1);
        }
        return;
    }
    profiler->counts.collected++;
    if (profiler->sample_collected) {
        profiler->sample_collected(profiler, reading, row);
    }
    zt__add_to_path(profiler, path, slot->pass, row, slot->bytes);
}

/* Reports the errors of the batch, and delivers its samples. The log and sample functions run here, so no
   slot is READING any more. No mutex is held. */
static void zt__deliver_batch(zt_profiler *profiler) {
    static const char remedy[] = "Lost samples are counted. Update the driver if this persists.";
    zt__batch *batch = &profiler->batch;
    uint32_t i;
    for (i = 0; i < batch->count; i++) {
        const zt__reading *reading = &batch->readings[i];
        zt__check(&profiler->diagnostics, reading->result, reading->call, remedy);
        if (reading->outcome == ZT__LOST && reading->cause >= ZT_DROPPED_NO_SLOT) {
            zt__report(&profiler->diagnostics, SAMPLE_DROPPED, ZE_RESULT_WARNING_DROPPED_DATA,
                       reading->region->name, zt_cause_name(reading->cause));
        } else if (reading->outcome == ZT__LOST) {
            zt__report(&profiler->diagnostics, SAMPLE_LOST, ZE_RESULT_WARNING_DROPPED_DATA,
                       reading->region->name, zt_cause_name(reading->cause));
        }
        if (reading->is_unobserved) {
            zt__report(&profiler->diagnostics, UNOBSERVED_LIST, ZE_RESULT_WARNING_DROPPED_DATA,
                       reading->region->name);
        }
        if (reading->outcome == ZT__READ && profiler->config.sample) {
            const double *row = batch->rows + (size_t)i * profiler->row_length;
            zt_sample sample;
            sample.name = reading->region->name;
            sample.region = reading->region->index;
            sample.metric_count = profiler->metric_count;
            sample.gpu_time_ns = row[0];
            sample.values = row + 1;
            sample.pass = batch->pass->index == ZT__TIMES_PASS ? 0 : batch->pass->index;
            profiler->config.sample(&sample, profiler->config.sample_user);
        }
    }
}

/* ---- a collection: with the collector held --------------------------------------------------------------- */

/* Collects from one list, or from all if `handle` is NULL. Every 64th collection from all is thorough: after
   a reset without zt_reset, slots that never run would otherwise hide later ones. Works in batches of up to
   64 slots:

   1. zt__fill_batch, with the mutex held, moves slots to READING, so that no other thread uses them.
   2. zt__read_batch and zt__calculate_batch, without the mutex, read the slots, reset them, and calculate
      their reports in one call.
   3. zt__count_reading, with the mutex held, adds the samples to the statistics. Then each slot moves to its
      next state.
   4. zt__deliver_batch, without the mutex, logs messages and passes the samples to the application. */
static void zt__run_collection(zt_profiler *profiler, ze_command_list_handle_t handle, int thorough) {
    enum { THOROUGH_EVERY = 64, FEW_LISTS = 64 };
    zt__batch *batch = &profiler->batch;
    zt__collection collection;
    zt__list **place = &profiler->lists;
    int is_repeated = 0;
    uint32_t i;
    memset(&collection, 0, sizeof collection);
    collection.one_list = handle != NULL;
    collection.thorough = thorough || profiler->collections % THOROUGH_EVERY == 0;
    if (profiler->before_collection) {
        profiler->before_collection(profiler);
    }
    zt__lock(&profiler->mutex);
    if (!handle) {
        profiler->uncollected = 0;
    }
    zt__enter_list(profiler, &collection, handle ? zt__find_list(profiler, handle) : profiler->lists);
    for (;;) {
        if (!zt__fill_batch(profiler, &collection)) {
            if (!handle || is_repeated || profiler->state_counts[ZT__SLOT_PARTIAL] == 0) {
                break;
            }
            /* What was read may show that PARTIAL slots are complete. */
            zt__enter_list(profiler, &collection, zt__find_list(profiler, handle));
            is_repeated = 1;
            continue;
        }
        zt__unlock(&profiler->mutex);
        ZT__INTERNAL(zt__read_batch(profiler, &collection));
        zt__calculate_batch(profiler);
        zt__lock(&profiler->mutex);
        for (i = 0; i < batch->count; i++) {
            zt__count_reading(profiler, &batch->readings[i], batch->rows + (size_t)i * profiler->row_length);
        }
        for (i = 0; i < batch->count; i++) { /* the page THE LIFE OF A SLOT has the table */
            const zt__reading *reading = &batch->readings[i];
            zt__slot *slot = reading->slot;
            /* `reading` describes the list as it was before the event was queried. A slot that became final
               since then, also because the handle came back as an immediate list, may have run again in
               between, so it is read once more. */
            int is_final = reading->is_final || reading->is_immediate;
            zt__slot_state to =
                (zt__slot_state)zt__states_after_reading[reading->condition][is_final ? 2 : slot->is_dropped];
            if (reading->condition == ZT__NEVER_RUNS && reading->from != ZT__SLOT_ARMED) {
                zt__move_slot(profiler, slot, ZT__SLOT_RECORDED); /* so that it is not counted as begun */
            }
            if (to == ZT__SLOT_FREE) {
                zt__unbind_slot(slot);
                zt__free_slot(profiler, slot);
            } else {
                zt__move_slot(profiler, slot, to == ZT__SLOT_READING ? reading->from : to);
            }
            if (to == ZT__SLOT_ARMED) {
                slot->not_before_ns = slot->submitted_ns; /* the next execution is submitted after this one */
            }
        }
        profiler->is_delivering = 1;
        zt__unlock(&profiler->mutex);
        zt__deliver_batch(profiler);
        if (profiler->batch_collected) {
            profiler->batch_collected(profiler);
        }
        zt__lock(&profiler->mutex);
        profiler->is_delivering = 0;
    }

    /* If there are many lists, the records of those without slots are removed. Otherwise memory would grow in
       programs that create a list for each use. */
    if (profiler->list_count > profiler->lists_after_cleaning * 2 + FEW_LISTS) {
        while (*place) {
            zt__list *list = *place;
            if (list->first || list->open_count || list->name) {
                place = &list->next;
                continue;
            }
            *place = list->next;
            zt__map_remove(&profiler->list_map, (const void *)&list->handle, sizeof list->handle);
            profiler->list_count--;
            list->next = profiler->unused_lists;
            profiler->unused_lists = list;
        }
        profiler->lists_after_cleaning = profiler->list_count;
    }
    zt__unlock(&profiler->mutex);
    if (!handle) {
        zt__store(&profiler->collections, profiler->collections + 1);
    }
}

/* ---- the two ways to collect ----------------------------------------------------------------------------- */

ZT__PRIVATE int zt__try_collect(zt_profiler *profiler, ze_command_list_handle_t handle, int thorough) {
    if (profiler->config.thread && !zt__load(&profiler->thread.ended)) {
        zt__lock(&profiler->mutex);
        profiler->thread_is_idle = 0;
        profiler->thread_is_thorough |= thorough;
        zt__unlock(&profiler->mutex);
        zt__wake_thread(&profiler->thread);
        return 0;
    }
    if (!zt__try_lock(&profiler->collector)) {
        return 0;
    }
    zt__run_collection(profiler, handle, thorough);
    zt__unlock_timed(&profiler->collector);
    return 1;
}

ZT__PRIVATE int zt__collect_until(zt_profiler *profiler, zt__goal goal, uint64_t deadline) {
    zt__wait wait = zt__wait_until(deadline);
    uint32_t before = zt__load(&profiler->collections);
    int is_current = 0, awaits = 0;
    const zt__list *list;
    const zt__slot *slot;
    if (zt__is_owner(&profiler->collector)) {
        return 0;
    }
    do {
        /* A collection from all lists that begins from now on reads them. One of another thread that is already
           running may have passed them, so the next one counts. */
        is_current = zt__try_collect(profiler, NULL, 1) || is_current ||
                     zt__load(&profiler->collections) - before >= 2;
        if (is_current && goal == ZT__ALL_SAMPLES) {
            zt__lock(&profiler->mutex);
            awaits = profiler->state_counts[ZT__SLOT_PENDING] || profiler->state_counts[ZT__SLOT_READING] ||
                     profiler->is_delivering;
            /* RECORDED slots may be on their way where an execution need not be submitted by zt_execute. */
            list = profiler->state_counts[ZT__SLOT_RECORDED] ? profiler->lists : NULL;
            for (; list && !awaits; list = list->next) {
                int may_run = list->state == ZT__LIST_UNKNOWN || list->state == ZT__LIST_UNOBSERVED ||
                              (list->state == ZT__LIST_RECORDED && !profiler->has_submitted);
                for (slot = may_run ? list->first : NULL; slot && !awaits; slot = slot->next) {
                    awaits = slot->state == ZT__SLOT_RECORDED;
                }
            }
            zt__unlock(&profiler->mutex);
        }
    } while ((!is_current || awaits) && zt__wait_again(&wait));
    return is_current && !awaits;
}

ZT__PRIVATE int zt__refuse_inside_callback(zt_profiler *profiler, const char *call) {
    int is_inside = zt__is_owner(&profiler->collector);
    if (is_inside) {
        zt__report(&profiler->diagnostics, INSIDE_CALLBACK, ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE, call);
    }
    return is_inside;
}

ZT_API ze_result_t zt_collect(zt_profiler *profiler, uint64_t timeout_ns) {
    void (*collect_hotspots)(zt_profiler *);
    const char *not_ended = NULL;
    int is_complete = 1;
    if (!profiler || !profiler->device) {
        return ZE_RESULT_SUCCESS;
    }
    if (zt__refuse_inside_callback(profiler, "zt_collect")) {
        return ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE;
    }
    collect_hotspots = zt__load(&profiler->collect_hotspots);
    if (collect_hotspots) {
        collect_hotspots(profiler);
    }
    if (timeout_ns) {
        is_complete = zt__collect_until(profiler, ZT__ALL_SAMPLES, zt__deadline(timeout_ns));
    } else {
        zt__try_collect(profiler, NULL, 0);
    }
    if (zt__is_device_lost(&profiler->diagnostics)) {
        return ZE_RESULT_ERROR_DEVICE_LOST;
    }
    if (timeout_ns && is_complete) {
        not_ended = zt__name_open_region(profiler);
    }
    if (not_ended) {
        return zt__report(&profiler->diagnostics, REGION_OPEN, ZE_RESULT_NOT_READY, not_ended);
    }
    return is_complete ? ZE_RESULT_SUCCESS
                       : zt__report(&profiler->diagnostics, TIMED_OUT, ZE_RESULT_NOT_READY, "zt_collect",
                                    (unsigned long long)timeout_ns);
}

/* ---- the collecting thread ------------------------------------------------------------------------------- */

ZT__PRIVATE int zt__run_collecting_thread(void *user) {
    zt_profiler *profiler = (zt_profiler *)user;
    uint64_t sleep_ns = UINT64_C(1000000000);
    int thorough;
    zt__lock(&profiler->mutex);
    /* Waking a thread is expensive. So while regions come, it polls every millisecond instead. */
    profiler->thread_is_idle = profiler->state_counts[ZT__SLOT_PENDING] == 0 &&
                               profiler->counts.begun == profiler->begun_at_last_look;
    profiler->begun_at_last_look = profiler->counts.begun;
    if (!profiler->thread_is_idle) {
        sleep_ns = 1000000;
    } else if (profiler->state_counts[ZT__SLOT_RECORDED] || profiler->state_counts[ZT__SLOT_ARMED]) {
        sleep_ns = 50000000; /* if these run without zt_execute, nothing wakes the thread */
    }
    zt__unlock(&profiler->mutex);
    zt__sleep_thread(&profiler->thread, sleep_ns);
    zt__lock(&profiler->mutex);
    thorough = profiler->thread_is_thorough;
    profiler->thread_is_thorough = 0;
    zt__unlock(&profiler->mutex);
    if (zt__try_lock(&profiler->collector)) {
        zt__run_collection(profiler, NULL, thorough);
        zt__unlock_timed(&profiler->collector);
    }
    return 1;
}

ZT__PRIVATE int zt__must_wake_thread(zt_profiler *profiler) {
    int is_needed = profiler->config.thread && profiler->thread_is_idle;
    if (is_needed) {
        profiler->thread_is_idle = 0;
    }
    return is_needed;
}
