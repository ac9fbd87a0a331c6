/* Hot spots: samples of instructions, read and added up. */

#include "tracer/sampling.h"

#include "base/compiler.h"
#include "base/diagnostics.h"
#include "base/map.h"
#include "base/memory.h"
#include "base/platform.h"
#include "base/shared.h"
#include "base/threads.h"
#include "metrics/calculation.h"
#include "metrics/driver.h"
#include "metrics/groups.h"
#include "regions/profiler.h"
#include "streams/rows.h"
#include "streams/stream.h"
#include "streams/streamer.h"
#include "tracer/hotspots.h"

#ifdef ZETOOLS_TRACER

/* ---- samples: with `reading` held ------------------------------------------------------------------------ */

/* Adds samples to those of the instruction at an address. */
static void zt__add_samples(zt__hotspots *hotspots, uint32_t address, const uint64_t *counts) {
    const zt__place *places, *place = NULL;
    uint32_t i, low = 0, high, found = 0;
    uint64_t samples = 0;
    zt__spot *spot = NULL, *made = NULL;
    for (i = 0; i < hotspots->count_count; i++) {
        samples += counts[i];
    }
    /* Find the place. Its kernel is known only if no other one has the address, too. */
    zt__lock(&hotspots->mutex);
    places = hotspots->places;
    high = hotspots->place_count;
    if (hotspots->places_overlap) {
        for (i = 0; i < hotspots->place_count && found < 2; i++) {
            if (zt__has_address(&places[i], address)) {
                place = &places[i];
                found++;
            }
        }
    } else if (high > 0) {
        while (low < high) {
            uint32_t middle = low + (high - low) / 2;
            if ((uint32_t)places[middle].base <= address) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        /* The place before, or the last one, which may go on at 0. */
        place = &places[low > 0 ? low - 1 : hotspots->place_count - 1];
        if (!zt__has_address(place, address)) {
            place = &places[hotspots->place_count - 1];
        }
        found = zt__has_address(place, address) ? 1 : 0;
    }

    /* Count the samples there, or why they belong to no instruction. */
    hotspots->counts.samples += samples;
    if (found == 0) {
        hotspots->counts.outside += samples;
    } else if (found > 1) {
        hotspots->counts.ambiguous += samples;
    } else if (samples > 0) {
        const zt__spot_key key = {place->kernel, (uint32_t)(address - place->base)};
        zt__sampled_kernel *kernel = place->kernel;
        spot = (zt__spot *)zt__map_find(&hotspots->spot_map, &key, sizeof key);
        if (!spot && hotspots->spot_count < hotspots->spot_capacity) {
            zt__unlock(&hotspots->mutex); /* while the allocator runs. No other thread adds any */
            made = (zt__spot *)zt__allocate(&hotspots->allocator, 1, sizeof *made);
            zt__lock(&hotspots->mutex);
            if (made && zt__map_make_room(&hotspots->spot_map, &hotspots->allocator, &hotspots->mutex)) {
                spot = made;
                made = NULL;
                spot->key = key;
                spot->file = "";
                zt__map_add(&hotspots->spot_map, &spot->key, sizeof spot->key, spot);
                hotspots->spots[hotspots->spot_count++] = spot;
            }
        }
        if (spot) {
            hotspots->counts.matched += samples;
            kernel->samples += samples;
            spot->samples += samples;
            for (i = 0; i < hotspots->count_count; i++) {
                spot->counts[i] += counts[i];
            }
        } else {
            hotspots->counts.no_room += samples;
        }
    }
    zt__unlock(&hotspots->mutex);
    zt__free(&hotspots->allocator, made);
    if (found == 1 && samples > 0 && !spot) {
        zt__report(&hotspots->profiler->diagnostics, TOO_MANY_ADDRESSES, ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY,
                   (unsigned)hotspots->spot_capacity);
    }
}

/* Calculates and adds up what is in the ring. A report has one row at the most, for which there is room in
   the stream's values. Returns whether the driver has reported that data were dropped. */
static int zt__count_ring(zt__hotspots *hotspots) {
    zt_stream *stream = hotspots->stream;
    const zt__group *group = &stream->data->group;
    zt__process *process = zt__get_process();
    const uint8_t *raw;
    uint32_t i, j, reports;
    int is_dropped = 0;
    while ((reports = zt__find_waiting(stream, &raw)) > 0) {
        uint32_t sizes[ZT__MAX_TILES] = {0}, discarded = 0;
        uint32_t sets = ZT__MAX_TILES, values = 0, most = reports * group->metric_count, total = most;
        ze_result_t result = ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
        if (process) {
            zt__lock(&process->mutex); /* drivers calculate on one thread at a time */
            result = stream->driver.zetMetricGroupCalculateMultipleMetricValuesExp(
                group->handle, ZET_METRIC_GROUP_CALCULATION_TYPE_METRIC_VALUES, reports * stream->report_size,
                raw, &sets, &total, sizes, stream->values);
            zt__unlock(&process->mutex);
        }
        if (result == ZE_RESULT_SUCCESS || result == ZE_RESULT_WARNING_DROPPED_DATA) {
            for (i = 0; i < sets && i < ZT__MAX_TILES; i++) {
                values += sizes[i] < most ? sizes[i] : most;
            }
            if (sets > ZT__MAX_TILES || values > most || values % group->metric_count != 0) {
                result = ZE_RESULT_ERROR_INVALID_SIZE;
                values = 0;
            }
        }
        is_dropped |= result == ZE_RESULT_WARNING_DROPPED_DATA;
        if (result != ZE_RESULT_SUCCESS && result != ZE_RESULT_WARNING_DROPPED_DATA) {
            zt__report_not_calculated(stream, result, "zetMetricGroupCalculateMultipleMetricValuesExp");
            discarded = reports;
        }
        for (i = 0; i < values; i += group->metric_count) {
            const zet_typed_value_t *row = &stream->values[i];
            uint64_t counts[ZT__MOST_COUNTS] = {0}, address = 0;
            int is_usable = zt__read_integer(row, hotspots->address_metric, &address);
            for (j = 0; j < hotspots->count_count && is_usable; j++) {
                /* No device takes so many samples in one report. */
                is_usable =
                    zt__read_integer(row, hotspots->count_metrics[j], &counts[j]) && counts[j] <= UINT32_MAX;
            }
            if (is_usable) {
                zt__add_samples(hotspots, (uint32_t)(address << ZT__ADDRESS_SHIFT), counts);
            }
            discarded += !is_usable;
        }
        zt__lock(&hotspots->mutex);
        hotspots->counts.discarded += discarded;
        zt__unlock(&hotspots->mutex);
        zt__lock(&stream->data->mutex);
        stream->calculated += reports;
        zt__unlock(&stream->data->mutex);
    }
    return is_dropped;
}

ZT__PRIVATE void zt__read_samples(zt__hotspots *hotspots) {
    enum { MOST_READS = 64 };
    zt_stream *stream = hotspots->stream;
    uint64_t gaps = stream->counts.gaps;
    int more = 1, is_dropped = 0, reads;
    if (!stream->streamer) { /* threads are stopped instead: nothing waits to be read */
        return;
    }
    for (reads = 0; more && reads < MOST_READS; reads++) {
        more = zt__fill_ring(stream);
        is_dropped |= zt__count_ring(hotspots);
    }
    if (is_dropped || stream->counts.gaps != gaps) {
        zt__lock(&hotspots->mutex);
        hotspots->counts.drops++;
        zt__unlock(&hotspots->mutex);
        zt__report(&hotspots->profiler->diagnostics, SAMPLES_DROPPED, ZE_RESULT_WARNING_DROPPED_DATA,
                   "zetMetricStreamerReadData");
    }
}

/* ---- who reads, and when -------------------------------------------------------------------------------- */

ZT__PRIVATE int zt__is_sampling(const zt_profiler *profiler) {
    const zt__hotspots *hotspots = zt__hotspots_of(profiler);
    return hotspots && zt__load(&hotspots->stream);
}

ZT__PRIVATE int zt__begin_reading(zt__hotspots *hotspots) {
    if (!hotspots || !zt__load(&hotspots->stream) ||
        !zt__lock_until(&hotspots->reading, zt__deadline(hotspots->profiler->config.wait_timeout_ns))) {
        return 0;
    }
    if (hotspots->stream) {
        return 1;
    }
    zt__unlock_timed(&hotspots->reading);
    return 0;
}

ZT__PRIVATE void zt__collect_hotspots(zt_profiler *profiler) {
    zt__hotspots *hotspots = zt__hotspots_of(profiler);
    if (zt__is_sampling(profiler) && zt__try_lock(&hotspots->reading)) {
        if (hotspots->stream && hotspots->config.no_thread) {
            zt__read_samples(hotspots);
        }
        zt__unlock_timed(&hotspots->reading);
    }
}

ZT__PRIVATE int zt__run_sampling_thread(void *user) {
    zt__hotspots *hotspots = (zt__hotspots *)user;
    zt_stream *stream = hotspots->stream; /* it is closed after this thread has ended */
    if (zt__try_lock(&hotspots->reading)) {
        zt__read_samples(hotspots);
        zt__unlock_timed(&hotspots->reading);
    }
    zt__sleep_until_notified(stream);
    return !zt__is_device_lost(stream->diagnostics);
}

#endif
