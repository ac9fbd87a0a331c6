/* An earlier run, whose JSON is read, and how much the GPU time of each path differs from it. */

#include "results/baseline.h"

#include "base/compiler.h"
#include "base/diagnostics.h"
#include "base/files.h"
#include "base/json_reader.h"
#include "base/map.h"
#include "base/memory.h"
#include "base/numbers.h"
#include "regions/profiler.h"

/* ---- reading --------------------------------------------------------------------------------------------- */

/* Returns an array with room for one more item: the same one, or one of twice the size. Returns NULL, and leaves the array,
   if there is no memory. */
static void *zt__grow_array(const zt_allocator *allocator, void *items, uint32_t count, size_t size) {
    void *larger;
    if (count & (count - 1)) {
        return items; /* there is room up to the next power of two */
    }
    larger = zt__allocate(allocator, count ? (size_t)count * 2 : 1, size);
    if (larger && count) {
        memcpy(larger, items, count * size);
    }
    if (larger) {
        zt__free(allocator, items);
    }
    return larger;
}

/* Reads count, mean and standard deviation of a time. */
static void zt__read_baseline_time(zt__json_reader *reader, zt__baseline_time *time) {
    char *key = NULL;
    if (!zt__enter_json(reader, '{')) {
        return;
    }
    while (zt__next_json(reader, &key)) {
        if (strcmp(key, "count") == 0) {
            time->count = zt__read_json_number(reader);
        } else if (strcmp(key, "mean") == 0) {
            time->mean = zt__read_json_number(reader);
        } else if (strcmp(key, "stddev") == 0) {
            time->stddev = zt__read_json_number(reader);
        } else {
            zt__skip_json(reader);
        }
    }
}

static int zt__read_baseline_regions(const zt_allocator *allocator, zt__baseline *baseline,
                                     zt__json_reader *reader) {
    if (!zt__enter_json(reader, '[')) {
        return 1;
    }
    while (zt__next_json(reader, NULL)) {
        zt__baseline_region *region;
        char *key = NULL;
        void *grown;
        if (!zt__enter_json(reader, '{')) {
            continue;
        }
        grown = zt__grow_array(allocator, baseline->regions, baseline->region_count, sizeof *region);
        if (!grown) {
            return 0;
        }
        baseline->regions = (zt__baseline_region *)grown;
        region = &baseline->regions[baseline->region_count++];
        memset(region, 0, sizeof *region);
        region->name = "";
        region->time.mean = region->time.stddev = zt__nan();
        while (zt__next_json(reader, &key)) {
            if (strcmp(key, "name") == 0) {
                region->name = zt__read_json_string(reader);
            } else if (strcmp(key, "phase") == 0) {
                region->is_phase = 1;
                zt__skip_json(reader);
            } else if (strcmp(key, "time_ns") == 0) {
                zt__read_baseline_time(reader, &region->time);
            } else {
                zt__skip_json(reader);
            }
        }
    }
    return 1;
}

/* Reads an index below `limit`; UINT32_MAX for anything else. */
static uint32_t zt__read_baseline_index(zt__json_reader *reader, uint32_t limit) {
    double number = zt__read_json_number(reader);
    return !zt__is_nan(number) && number >= 0 && number < limit ? (uint32_t)number : UINT32_MAX;
}

static int zt__read_baseline_paths(const zt_allocator *allocator, zt__baseline *baseline,
                                   zt__json_reader *reader) {
    if (!zt__enter_json(reader, '[')) {
        return 1;
    }
    while (zt__next_json(reader, NULL)) {
        zt__baseline_path *path;
        int has_time = 0;
        char *key = NULL;
        void *grown;
        if (!zt__enter_json(reader, '{')) {
            continue;
        }
        grown = zt__grow_array(allocator, baseline->paths, baseline->path_count, sizeof *path);
        if (!grown) {
            return 0;
        }
        baseline->paths = (zt__baseline_path *)grown;
        path = &baseline->paths[baseline->path_count];
        memset(path, 0, sizeof *path);
        path->time.mean = path->time.stddev = zt__nan();
        path->place.outer = path->place.region = UINT32_MAX;
        while (zt__next_json(reader, &key)) {
            if (strcmp(key, "region") == 0) {
                path->place.region = zt__read_baseline_index(reader, baseline->region_count);
            } else if (strcmp(key, "parent") ==
                       0) { /* it stands before what is inside, so there is no circle */
                path->place.outer = zt__read_baseline_index(reader, baseline->path_count);
            } else if (strcmp(key, "time_ns") == 0) {
                has_time = 1;
                zt__read_baseline_time(reader, &path->time);
            } else {
                zt__skip_json(reader);
            }
        }
        if (path->place.region == UINT32_MAX) {
            reader->is_damaged = 1;
            return 1;
        }
        if (!has_time) { /* the region has no other path */
            path->time = baseline->regions[path->place.region].time;
        }
        baseline->path_count++;
    }
    return 1;
}

/* Enters all that was read into the maps. Returns 0 without memory. */
static int zt__index_baseline(zt_profiler *profiler, zt__baseline *baseline) {
    const zt_allocator *allocator = &profiler->config.allocator;
    uint32_t i;
    int has_room = 1;
    zt__lock(&profiler->mutex); /* which maps unlock while they grow */
    for (i = 0; i < baseline->region_count && has_room; i++) {
        zt__baseline_region *region = &baseline->regions[i];
        zt__map *map = &baseline->region_maps[region->is_phase];
        has_room = zt__map_make_room(map, allocator, &profiler->mutex);
        if (has_room && !zt__map_find(map, region->name, strlen(region->name))) {
            zt__map_add(map, region->name, strlen(region->name), region);
        }
    }
    for (i = 0; i < baseline->path_count && has_room; i++) {
        zt__baseline_path *path = &baseline->paths[i];
        has_room = zt__map_make_room(&baseline->path_map, allocator, &profiler->mutex);
        if (has_room && !zt__map_find(&baseline->path_map, &path->place, sizeof path->place)) {
            zt__map_add(&baseline->path_map, &path->place, sizeof path->place, path);
        }
    }
    zt__unlock(&profiler->mutex);
    return has_room;
}

static void zt__read_baseline_device(zt__baseline *baseline, zt__json_reader *reader) {
    char *key = NULL;
    if (!zt__enter_json(reader, '{')) {
        return;
    }
    while (zt__next_json(reader, &key)) {
        if (strcmp(key, "name") == 0) {
            baseline->device = zt__read_json_string(reader);
        } else if (strcmp(key, "driver_version") == 0) {
            baseline->driver_version = zt__read_json_string(reader);
        } else if (strcmp(key, "core_clock_mhz") == 0) {
            baseline->core_clock_mhz = zt__read_json_number(reader);
        } else {
            zt__skip_json(reader);
        }
    }
}

/* Reads a document. Returns 0 without memory; `*is_report` is 0 if it is no report, or a damaged one. */
static int zt__read_baseline_document(zt_profiler *profiler, zt__baseline *baseline, zt__json_reader *reader,
                                      int *is_report) {
    const zt_allocator *allocator = &profiler->config.allocator;
    int has_memory = 1, has_version = 0, has_paths = 0;
    char *key = NULL;
    if (zt__enter_json(reader, '{')) {
        while (has_memory && zt__next_json(reader, &key)) {
            if (strcmp(key, "zetools") == 0) {
                has_version = *zt__read_json_string(reader) != 0;
            } else if (strcmp(key, "date") == 0) {
                baseline->date = zt__read_json_string(reader);
            } else if (strcmp(key, "device") == 0) {
                zt__read_baseline_device(baseline, reader);
            } else if (strcmp(key, "regions") == 0) {
                has_memory = zt__read_baseline_regions(allocator, baseline, reader);
            } else if (strcmp(key, "paths") == 0) {
                has_paths = 1;
                has_memory = zt__read_baseline_paths(allocator, baseline, reader);
            } else {
                zt__skip_json(reader);
            }
        }
    }
    *is_report = has_version && has_paths && !reader->is_damaged;
    return has_memory;
}

/* Frees what was read. */
static void zt__clear_baseline(const zt_allocator *allocator, zt__baseline *baseline) {
    zt__map_free(&baseline->region_maps[0], allocator);
    zt__map_free(&baseline->region_maps[1], allocator);
    zt__map_free(&baseline->path_map, allocator);
    zt__free(allocator, baseline->regions);
    zt__free(allocator, baseline->paths);
    zt__free(allocator, baseline->text);
    baseline->regions = NULL;
    baseline->paths = NULL;
    baseline->text = NULL;
    baseline->region_count = baseline->path_count = 0;
}

ZT__PRIVATE int zt__read_baseline(zt_profiler *profiler, const char *path) {
    enum { MOST_BYTES = 1 << 28 };
    const zt_allocator *allocator = &profiler->config.allocator;
    zt__baseline *baseline = (zt__baseline *)zt__allocate(allocator, 1, sizeof *baseline);
    const char *why = NULL;
    zt__json_reader reader;
    size_t size = 0;
    int has_memory, is_report = 1;
    profiler->baseline = baseline;
    if (baseline) {
        baseline->path = zt__duplicate_text(allocator, path);
    }
    if (!baseline || !baseline->path) {
        return 0; /* what there is of it is freed with the profiler */
    }
    baseline->date = baseline->device = baseline->driver_version = "";
    baseline->core_clock_mhz = zt__nan();
    baseline->text = zt__read_file(allocator, path, MOST_BYTES, &size, &why);
    has_memory = baseline->text || why;
    if (baseline->text) {
        reader.at = baseline->text;
        reader.end = baseline->text + size;
        reader.is_damaged = 0;
        has_memory = zt__read_baseline_document(profiler, baseline, &reader, &is_report) &&
                     (!is_report || zt__index_baseline(profiler, baseline));
    }
    if (!has_memory) {
        zt__report_no_memory(&profiler->diagnostics, "zt_open", "config.baseline");
        snprintf(baseline->failure, sizeof baseline->failure, "there is no memory");
    } else if (why) {
        zt__report(&profiler->diagnostics, BASELINE_UNREADABLE, ZE_RESULT_ERROR_UNKNOWN, path, why);
        snprintf(baseline->failure, sizeof baseline->failure, "it cannot be read: %.200s", why);
    } else if (!is_report) {
        zt__report(&profiler->diagnostics, BAD_BASELINE, ZE_RESULT_ERROR_INVALID_ARGUMENT, path);
        snprintf(baseline->failure, sizeof baseline->failure,
                 "it is no report of zetools in JSON, or is damaged");
    }
    if (*baseline->failure) {
        baseline->date = baseline->device = baseline->driver_version = "";
        zt__clear_baseline(allocator, baseline);
    }
    return 1;
}

ZT__PRIVATE const zt__baseline *zt__baseline_of(const zt_profiler *profiler) {
    return profiler->baseline && !*profiler->baseline->failure ? profiler->baseline : NULL;
}

ZT__PRIVATE void zt__free_baseline(zt_profiler *profiler) {
    const zt_allocator *allocator = &profiler->config.allocator;
    if (profiler->baseline) {
        zt__clear_baseline(allocator, profiler->baseline);
        zt__free(allocator, profiler->baseline->path);
        zt__free(allocator, profiler->baseline);
    }
    profiler->baseline = NULL;
}

/* ---- comparing ------------------------------------------------------------------------------------------- */

ZT__PRIVATE zt__baseline_path *zt__find_baseline_path(const zt_profiler *profiler, const zt__path *path) {
    const zt__baseline *baseline = profiler->baseline;
    const zt__region_record *record = path->key.region;
    const zt__baseline_path *outer;
    const zt__baseline_region *region;
    zt__baseline_path wanted;
    memset(&wanted.place, 0, sizeof wanted.place);
    wanted.place.outer = UINT32_MAX;
    if (path->depth > 1) {
        outer = zt__find_baseline_path(profiler, path->key.outer);
        if (!outer && !path->key.outer->device) {
            return NULL;
        }
        /* A run on one device has no paths of devices: each device is compared with it. */
        wanted.place.outer = outer ? (uint32_t)(outer - baseline->paths) : UINT32_MAX;
    }
    region = (const zt__baseline_region *)zt__map_find(&baseline->region_maps[record->is_phase], record->name,
                                                       strlen(record->name));
    if (!region) {
        return NULL;
    }
    wanted.place.region = (uint32_t)(region - baseline->regions);
    return (zt__baseline_path *)zt__map_find(&baseline->path_map, &wanted.place, sizeof wanted.place);
}

/* How the mean GPU time of a path differs from that of the earlier run, in percent of the latter: Welch's interval of 95%
   for the difference of two means. */
typedef struct zt__change {
    double percent, low, high; /* NaN: not known; an interval takes two samples on either side */
} zt__change;

/* Returns the value that Student's t exceeds, in either direction, in one of twenty cases. The probability between 0 and
   t is an integral of a power of the cosine, from 0 to the arc tangent of t / sqrt(freedom); it is summed up to 0.475. */
static double zt__student_quantile(double freedom) {
    enum { STEPS = 4096 };
    const double half_pi = 1.57079632679489661923, farthest = 8 / sqrt(freedom);
    const double step =
        (farthest < half_pi ? farthest : half_pi) / (double)STEPS; /* t is below 8 unless freedom is small */
    double scale = exp(lgamma((freedom + 1) / 2) - lgamma(freedom / 2)) / sqrt(2 * half_pi);
    double wanted = 0.475 / scale, sum = 0, before = 1;
    int i;
    for (i = 1; i < STEPS; i++) {
        /* Simpson's rule for one step */
        double middle = pow(cos((i - 0.5) * step), freedom - 1), after = pow(cos(i * step), freedom - 1);
        double part = (before + 4 * middle + after) * step / 6;
        if (sum + part >= wanted) {
            return sqrt(freedom) * tan((i - 1 + (wanted - sum) / part) * step);
        }
        sum += part;
        before = after;
    }
    return zt__nan();
}

/* Returns the change from one mean to another. */
static zt__change zt__compare_means(const zt__baseline_time *before, const zt_stats *now) {
    zt__change change;
    double of_before, of_now, both, freedom, reach;
    change.percent = change.low = change.high = zt__nan();
    if (!zt__is_positive(before->mean) || !zt__is_positive(now->mean)) {
        return change;
    }
    change.percent = 100 * (now->mean / before->mean - 1);
    if (!zt__is_positive(before->count - 1) || now->count < 2 || zt__is_nan(before->stddev) ||
        zt__is_nan(now->stddev)) {
        return change;
    }
    of_before = before->stddev * before->stddev / before->count;
    of_now = now->stddev * now->stddev / (double)now->count;
    both = of_before + of_now;
    reach = 0;
    if (both > 0) {
        freedom = both * both /
                  (of_before * of_before / (before->count - 1) + of_now * of_now / ((double)now->count - 1));
        reach = zt__is_finite(freedom) ? 100 * zt__student_quantile(freedom) * sqrt(both) / before->mean
                                       : zt__nan();
    }
    if (!zt__is_finite(reach)) {
        return change;
    }
    change.low = change.percent - reach < -100 ? -100 : change.percent - reach;
    change.high = change.percent + reach;
    return change;
}

ZT__PRIVATE void zt__compare_with_baseline(const zt_profiler *profiler, const zt__region_record *region,
                                           const zt__path *path, zt_region_info *info) {
    const zt__baseline_path *before;
    zt_profiler *locked = zt__mutable(profiler);
    zt__change change = {zt__nan(), zt__nan(), zt__nan()};
    info->is_new = 0;
    if (!path) {
        zt__lock(&locked->mutex);
        path = region->paths && !region->paths->next ? region->paths : NULL;
        zt__unlock(&locked->mutex);
    }
    if (path && info->time_ns.count > 0 && zt__baseline_of(profiler)) {
        before = zt__find_baseline_path(profiler, path);
        if (before && zt__is_positive(before->time.count)) {
            change = zt__compare_means(&before->time, &info->time_ns);
        } else {
            info->is_new = !path->device;
        }
    }
    info->change = change.percent;
    info->change_low = change.low;
    info->change_high = change.high;
}
