/* zt_pack and zt_unpack. */

#include "results/packing.h"
#include "base/compiler.h"
#include "base/diagnostics.h"
#include "base/map.h"
#include "base/memory.h"
#include "base/numbers.h"
#include "base/phase_stack.h"
#include "base/platform.h"
#include "base/shared.h"
#include "base/system.h"
#include "base/text.h"
#include "base/threads.h"
#include "metrics/driver.h"
#include "metrics/statistics.h"
#include "regions/columns.h"
#include "regions/configuration.h"
#include "regions/creation.h"
#include "regions/names.h"
#include "regions/profiler.h"
#include "results/merging.h"
#include "results/results.h"

/* The page PACKED STATISTICS describes the layout. The same functions write and read it: each transfers a
   value from its variable to the buffer, or from the buffer to its variable. Nothing in a buffer that is read
   is trusted. */
enum { ZT__PACK_LAYOUT = 13, ZT__PACK_HEADER_SIZE = 24, ZT__PACKED_MOMENTS_SIZE = 7 * 8 };

/* The highest count that is accepted, so that sums over all regions do not overflow. */
#define ZT__MAX_PACKED_COUNT (UINT64_C(1) << 47)

/* A buffer that is written or read. If it is written, bytes that do not fit are only counted. If it is read,
   values are 0 or "" once `result` is not SUCCESS. */
typedef struct zt__packer {
    int is_reading;
    uint8_t *bytes; /* not changed if `is_reading` */
    size_t size, used;
    ze_result_t result; /* INVALID_ARGUMENT: the buffer ends too early or is invalid; OUT_OF_HOST_MEMORY */
    uint8_t *room;      /* for the next text, moments or kept samples that are read */
} zt__packer;

/* Returns 4 or 8 bytes as an integer. Compilers make one instruction of it. */
static inline uint32_t zt__u32_at(const uint8_t *bytes) {
    return bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
}

static inline uint64_t zt__u64_at(const uint8_t *bytes) {
    return zt__u32_at(bytes) | (uint64_t)zt__u32_at(bytes + 4) << 32;
}

static inline uint64_t zt__add_to_checksum(uint64_t sum, uint64_t word) {
    sum = (sum ^ word) * UINT64_C(0x100000001b3);
    return sum ^ sum >> 32;
}

/* Returns the checksum of what is behind the header. A file with many paths has millions of bytes: each of four sums
   has every fourth word, so that the processor calculates all at once. */
static uint64_t zt__checksum(const uint8_t *packed, size_t size) {
    enum { STEP = 32 };
    const uint8_t *next = packed + ZT__PACK_HEADER_SIZE;
    size_t left = size - ZT__PACK_HEADER_SIZE;
    uint8_t last[STEP] = {0};
    uint64_t first = UINT64_C(0xcbf29ce484222325), second = first, third = first, fourth = first;
    for (; left > 0; left -= left < STEP ? left : (size_t)STEP, next += STEP) {
        if (left < STEP) {
            memcpy(last, next, left);
            next = last;
        }
        first = zt__add_to_checksum(first, zt__u64_at(next));
        second = zt__add_to_checksum(second, zt__u64_at(next + 8));
        third = zt__add_to_checksum(third, zt__u64_at(next + 16));
        fourth = zt__add_to_checksum(fourth, zt__u64_at(next + 24));
    }
    first = zt__add_to_checksum(first, second);
    first = zt__add_to_checksum(first, third);
    return zt__add_to_checksum(first, fourth);
}

/* Rejects the buffer unless a condition holds. Returns whether all has gone well so far. */
static int zt__require(zt__packer *packer, int condition) {
    if (!condition && packer->result == ZE_RESULT_SUCCESS) {
        packer->result = ZE_RESULT_ERROR_INVALID_ARGUMENT;
    }
    return packer->result == ZE_RESULT_SUCCESS;
}

/* Rejects the buffer unless it has `count` more elements of so many bytes. Memory is allocated only for what
   the buffer is long enough for. */
static int zt__require_more(zt__packer *packer, size_t count, size_t size) {
    return zt__require(packer, (packer->size - packer->used) / size >= count);
}

/* Returns room for what is read, of this size and alignment. Each text, and all moments and all kept samples of a path,
   have a number before them in the buffer, which is at least as large as the bytes that alignment or the end of a text
   take here. So a block of the size of the buffer has room for all. */
static void *zt__next_room(zt__packer *packer, size_t size, size_t alignment) {
    uint8_t *room = packer->room + (0 - (uintptr_t)packer->room) % alignment;
    packer->room = room + size;
    return room;
}

static void *zt__allocate_unpacked(zt__packer *packer, const zt_allocator *allocator, size_t count,
                                   size_t size) {
    void *memory = zt__allocate(allocator, count, size);
    if (!memory) {
        packer->result = ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    }
    return memory;
}

/* Returns the next bytes of the buffer, or NULL if it does not have so many. */
static inline uint8_t *zt__next_bytes(zt__packer *packer, size_t size) {
    uint8_t *bytes = NULL;
    if (packer->used <= packer->size && size <= packer->size - packer->used) {
        bytes = packer->bytes + packer->used;
    }
    if (packer->is_reading && !zt__require(packer, bytes != NULL)) {
        return NULL;
    }
    packer->used += size;
    return bytes;
}

/* Transfers the low `size` bytes of an integer, 4 or 8, little-endian. A buffer that is read is rejected if the value
   is above `most`. */
static inline uint64_t zt__transfer_integer(zt__packer *packer, uint64_t value, size_t size, uint64_t most) {
    uint8_t *bytes = zt__next_bytes(packer, size);
    uint64_t read;
    size_t i;
    for (i = 0; i < size && bytes && !packer->is_reading; i++) {
        bytes[i] = (uint8_t)(value >> 8 * i);
    }
    if (!bytes || !packer->is_reading) {
        return 0;
    }
    read = size == 4 ? zt__u32_at(bytes) : zt__u64_at(bytes);
    return zt__require(packer, read <= most) ? read : 0;
}

static void zt__transfer_u32(zt__packer *packer, uint32_t *value, uint32_t most) {
    uint32_t read = (uint32_t)zt__transfer_integer(packer, *value, 4, most);
    if (packer->is_reading) {
        *value = read;
    }
}

static void zt__transfer_u64(zt__packer *packer, uint64_t *value, uint64_t most) {
    uint64_t read = zt__transfer_integer(packer, *value, 8, most);
    if (packer->is_reading) {
        *value = read;
    }
}

/* Transfers several counts at once. Returns their sum. */
static uint64_t zt__transfer_counts(zt__packer *packer, uint64_t *counts, size_t count, uint64_t most) {
    uint8_t *bytes = zt__next_bytes(packer, count * sizeof *counts);
    uint64_t all = 0;
    size_t i, k;
    for (i = 0; i < count && bytes && packer->is_reading; i++) {
        counts[i] = zt__u64_at(bytes + i * 8);
        zt__require(packer, counts[i] <= most);
        all += counts[i];
    }
    for (i = 0; i < count && bytes && !packer->is_reading; i++) {
        for (k = 0; k < 8; k++) {
            bytes[i * 8 + k] = (uint8_t)(counts[i] >> 8 * k);
        }
    }
    return all;
}

static void zt__transfer_f64(zt__packer *packer, double *value) {
    uint64_t bits;
    memcpy(&bits, value, sizeof bits);
    bits = zt__transfer_integer(packer, bits, 8, UINT64_MAX);
    if (packer->is_reading) {
        memcpy(value, &bits, sizeof bits);
    }
}

/* Transfers many values at once: most of a buffer are kept samples. */
static void zt__transfer_floats(zt__packer *packer, float *values, size_t count) {
    uint8_t *bytes = zt__next_bytes(packer, count * sizeof *values);
#if defined(_WIN32) || (defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__)
    if (bytes && packer->is_reading) {
        memcpy(values, bytes, count * sizeof *values);
    } else if (bytes) {
        memcpy(bytes, values, count * sizeof *values);
    }
#else
    uint32_t bits;
    size_t i;
    for (i = 0; bytes && packer->is_reading && i < count; i++) {
        bits = zt__u32_at(bytes + i * 4);
        memcpy(&values[i], &bits, sizeof bits);
    }
    for (i = 0; bytes && !packer->is_reading && i < count; i++) {
        memcpy(&bits, &values[i], sizeof bits);
        bytes[i * 4] = (uint8_t)bits;
        bytes[i * 4 + 1] = (uint8_t)(bits >> 8);
        bytes[i * 4 + 2] = (uint8_t)(bits >> 16);
        bytes[i * 4 + 3] = (uint8_t)(bits >> 24);
    }
#endif
}

static void zt__transfer_flag(zt__packer *packer, int *flag) {
    uint32_t read = (uint32_t)zt__transfer_integer(packer, (uint64_t)*flag, 4, 1);
    if (packer->is_reading) {
        *flag = (int)read;
    }
}

static void zt__transfer_text(zt__packer *packer, const char **text) {
    uint32_t length = packer->is_reading ? 0 : (uint32_t)strlen(*text);
    uint8_t *bytes;
    char *copy;
    zt__transfer_u32(packer, &length, UINT32_MAX);
    bytes = zt__next_bytes(packer, length);
    if (!packer->is_reading) {
        if (bytes) {
            memcpy(bytes, *text, length);
        }
        return;
    }
    *text = "";
    if (bytes && zt__require(packer, memchr(bytes, 0, length) == NULL)) {
        copy = (char *)zt__next_room(packer, (size_t)length + 1, 1);
        memcpy(copy, bytes, length);
        copy[length] = 0;
        *text = copy;
    }
}

/* Transfers a text in an array of `room` bytes, cut if it is too long. */
static void zt__transfer_short_text(zt__packer *packer, char *text, size_t room) {
    const char *read = text;
    zt__transfer_text(packer, &read);
    if (packer->is_reading) {
        zt__copy_text(text, room, read, strlen(read));
    }
}

/* Transfers the memory of a phase, or of none. */
static void zt__transfer_memory(zt__packer *packer, zt__phase_memory *memory) {
    zt__transfer_flag(packer, &memory->is_watched);
    zt__transfer_flag(packer, &memory->has_ended);
    zt__transfer_u64(packer, &memory->allocations, ZT__MAX_PACKED_COUNT);
    zt__transfer_u64(packer, &memory->unfreed, memory->allocations);
    zt__transfer_u64(packer, &memory->unfreed_bytes, UINT64_MAX);
    zt__transfer_u64(packer, &memory->peak_bytes, UINT64_MAX);
    zt__transfer_u64(packer, &memory->end_bytes, UINT64_MAX);
}

/* Transfers the memory of all phases and of none. */
static void zt__transfer_memory_info(zt__packer *packer, zt_profiler *profiler) {
    zt_memory_info info;
    zt__phase_memory root;
    zt__lock(&profiler->mutex);
    info = profiler->memory_info;
    root = profiler->root.memory;
    zt__unlock(&profiler->mutex);
    zt__transfer_flag(packer, &info.is_watched);
    zt__transfer_u64(packer, &info.allocations, ZT__MAX_PACKED_COUNT);
    zt__transfer_u64(packer, &info.unfreed, info.allocations);
    zt__transfer_u64(packer, &info.unfreed_bytes, UINT64_MAX);
    zt__transfer_u64(packer, &info.unseen, ZT__MAX_PACKED_COUNT);
    zt__transfer_u64(packer, &info.bytes, UINT64_MAX);
    zt__transfer_u64(packer, &info.peak_bytes, UINT64_MAX);
    zt__transfer_u64(packer, &info.host_bytes, UINT64_MAX);
    zt__transfer_u64(packer, &info.host_peak_bytes, UINT64_MAX);
    zt__transfer_memory(packer, &root);
    if (packer->is_reading) {
        profiler->memory_info = info;
        profiler->root.memory = root;
    }
}

/* Transfers what is known about profiler, device and program. */
static void zt__transfer_profiler(zt__packer *packer, zt_profiler *profiler, uint32_t *region_count) {
    const uint32_t max_metrics = 4096; /* more than any device has: each is compared with those before it */
    uint32_t i, cause_count = ZT_CAUSE_COUNT, availability = (uint32_t)zt__get_availability(profiler);
    const char *why = availability == ZT_AVAILABLE ? "" : zt__get_availability_text(profiler);
    uint64_t unobserved_lists, causes[ZT_CAUSE_COUNT];
    zt__facts *facts = &profiler->facts;
    uint64_t packed_s = facts->packed_s ? facts->packed_s : (uint64_t)time(NULL);
    zt__lock(&profiler->mutex);
    memcpy(causes, profiler->causes, sizeof causes);
    unobserved_lists = profiler->counts.unobserved_lists;
    zt__unlock(&profiler->mutex);
    zt__transfer_u32(packer, &profiler->metric_count, max_metrics);
    zt__transfer_u32(packer, region_count, ZT__MAX_REGIONS);
    zt__transfer_u32(packer, &profiler->pass_count, ZT__MAX_PASSES);
    zt__transfer_u32(packer, &profiler->tile_count, ZT__MAX_TILES);
    zt__transfer_u32(packer, &profiler->config.samples, ZT__MAX_SAMPLES);
    zt__transfer_flag(packer, &profiler->keeps_latencies);
    zt__transfer_u32(packer, &availability, ZT_AVAILABILITY_UNKNOWN);
    zt__transfer_text(packer, &why);
    zt__transfer_short_text(packer, profiler->device_name, sizeof profiler->device_name);
    zt__transfer_short_text(packer, facts->driver_version, sizeof facts->driver_version);
    zt__transfer_short_text(packer, facts->uuid, sizeof facts->uuid);
    zt__transfer_short_text(packer, facts->pci_address, sizeof facts->pci_address);
    zt__transfer_short_text(packer, facts->program, sizeof facts->program);
    zt__transfer_u32(packer, &facts->core_clock_mhz, UINT32_MAX);
    zt__transfer_u64(packer, &facts->timer_hz, UINT64_MAX);
    zt__transfer_u64(packer, &facts->opened_s, ZT__MAX_PACKED_COUNT);
    zt__transfer_u64(packer, &packed_s, ZT__MAX_PACKED_COUNT);
    zt__transfer_u32(packer, &cause_count, ZT_CAUSE_COUNT);
    for (i = 0; i < ZT_CAUSE_COUNT; i++) {
        zt__transfer_u64(packer, &causes[i], ZT__MAX_PACKED_COUNT);
    }
    zt__transfer_u64(packer, &unobserved_lists, ZT__MAX_PACKED_COUNT);
    zt__transfer_memory_info(packer, profiler);
    if (packer->is_reading) {
        zt__require(packer, cause_count == ZT_CAUSE_COUNT && profiler->pass_count > 0);
        facts->packed_s = packed_s;
        profiler->availability = (zt_availability)availability;
        zt__copy_text(profiler->availability_text.text, sizeof profiler->availability_text.text, why,
                      strlen(why));
        zt__add_causes(profiler, causes, unobserved_lists);
    }
}

/* Transfers the metrics, and lays out the columns of a profiler that is read. */
static void zt__transfer_metrics(zt__packer *packer, zt_profiler *profiler) {
    enum { LEAST_METRIC = 5 * 4 + 3 * 4 }; /* bytes of a metric whose texts are empty */
    uint32_t i, before;
    if (packer->is_reading) {
        if (!zt__require_more(packer, profiler->metric_count, LEAST_METRIC)) {
            return;
        }
        profiler->metrics = (zt_metric *)zt__allocate_unpacked(
            packer, &profiler->config.allocator, profiler->metric_count + 1, sizeof *profiler->metrics);
    }
    for (i = 0; profiler->metrics && i < profiler->metric_count; i++) {
        zt_metric *metric = &profiler->metrics[i];
        uint32_t type = (uint32_t)metric->type, aggregation = (uint32_t)metric->aggregation;
        zt__transfer_text(packer, &metric->name);
        zt__transfer_text(packer, &metric->group);
        zt__transfer_text(packer, &metric->component);
        zt__transfer_text(packer, &metric->units);
        zt__transfer_text(packer, &metric->description);
        zt__transfer_u32(packer, &type, INT32_MAX);
        zt__transfer_u32(packer, &aggregation, ZT_AGGREGATE_NONE);
        zt__transfer_u32(packer, &metric->pass, profiler->pass_count - 1);
        if (packer->is_reading) {
            metric->type = (int)type;
            metric->aggregation = (zt_aggregation)aggregation;
        }
        for (before = 0; packer->is_reading && before < i; before++) {
            const zt_metric *other = &profiler->metrics[before];
            zt__require(packer,
                        strcmp(other->name, metric->name) != 0 || strcmp(other->group, metric->group) != 0);
        }
    }
    if (packer->is_reading && packer->result == ZE_RESULT_SUCCESS && !zt__lay_out_columns(profiler)) {
        packer->result = ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    }
}

/* Returns whether the values of a column are GPU times, which are not negative. */
static int zt__has_gpu_times(const zt_profiler *profiler, uint32_t column) {
    return column == 0 ||
           (column >= zt__pass_time_column(profiler, 0) && column < zt__tile_column(profiler, 0, 0));
}

/* Transfers how many times are in each bucket; in all, these are the values of the first column. */
static void zt__transfer_time_counts(zt__packer *packer, zt__statistics *statistics) {
    uint64_t all = zt__transfer_counts(packer, statistics->time_counts, ZT__TIME_BUCKETS, statistics->count);
    if (packer->is_reading) {
        zt__require(packer, all == statistics->moments[0].count);
    }
}

/* Transfers the moments of all columns, and the kept samples. Counts and weights that are read are checked, because
   values are divided by them; so is the sign of GPU times. Other values are not checked: reports leave out what is
   not a number, as they do for those of a driver. */
static void zt__transfer_statistics(zt__packer *packer, zt_profiler *profiler,
                                    const zt__sample_layout *layout, zt__statistics *statistics) {
    uint32_t column, place, kept = statistics->kept;
    size_t i, values;
    zt__transfer_u64(packer, &statistics->count, ZT__MAX_PACKED_COUNT);
    if (packer->is_reading && statistics->count > 0) {
        if (!zt__require_more(packer, layout->column_count, ZT__PACKED_MOMENTS_SIZE)) {
            return;
        }
        statistics->moments = (zt__moments *)zt__next_room(
            packer, layout->column_count * sizeof *statistics->moments, sizeof statistics->moments->sum);
        statistics->borrows_moments = 1;
    }
    for (column = 0; column < layout->column_count && statistics->count > 0 && statistics->moments;
         column++) {
        zt__moments *moments = &statistics->moments[column];
        zt__transfer_u64(packer, &moments->count, statistics->count);
        zt__transfer_f64(packer, &moments->weight);
        zt__transfer_f64(packer, &moments->sum);
        zt__transfer_f64(packer, &moments->mean);
        zt__transfer_f64(packer, &moments->m2);
        zt__transfer_f64(packer, &moments->min);
        zt__transfer_f64(packer, &moments->max);
        if (packer->is_reading) {
            zt__require(packer, zt__is_finite(moments->weight) && moments->weight >= 0 &&
                                    (zt__is_nan(moments->m2) || moments->m2 >= 0));
            zt__require(packer,
                        !zt__has_gpu_times(profiler, column) ||
                            !(moments->sum < 0 || moments->mean < 0 || moments->min < 0 || moments->max < 0));
        }
        if (packer->is_reading && moments->count == 0) {
            memset(moments, 0, sizeof *moments);
        }
    }
    if (statistics->count > 0 && statistics->moments) {
        zt__transfer_time_counts(packer, statistics);
    }
    zt__transfer_u32(packer, &kept, layout->row_limit);
    values = (size_t)kept * layout->kept_count;
    if (!packer->is_reading && packer->used > packer->size) { /* nothing more fits: only the size is needed */
        packer->used += values * sizeof *statistics->rows;
        return;
    }
    if (packer->is_reading && zt__require(packer, kept <= statistics->count) &&
        zt__require_more(packer, values, sizeof *statistics->rows) && values > 0) {
        statistics->rows =
            (float *)zt__next_room(packer, values * sizeof *statistics->rows, sizeof *statistics->rows);
        statistics->kept = statistics->capacity = kept;
        statistics->borrows_rows = 1;
    }
    if (!packer->is_reading) {
        zt__sort_rows(layout, statistics);
    }
    if (statistics->rows) {
        zt__transfer_floats(packer, statistics->rows, values);
    }
    if (!packer->is_reading || !statistics->rows) {
        return;
    }
    zt__find_sorted_quantiles(layout, statistics);
    for (place = 0; place < layout->kept_count; place++) {
        int is_time = zt__has_gpu_times(profiler, layout->kept_columns[place]), is_valid = 1;
        int is_ascending = place == 0 && statistics->sorted_at > 0; /* then the first is the least */
        for (i = place; is_time && i < (is_ascending ? 1 : values); i += layout->kept_count) {
            is_valid &= !(statistics->rows[i] < 0);
        }
        zt__require(packer, is_valid);
    }
}

/* Makes room in a map for all regions or paths that are read next, because growing step by step costs more. Each has at
   least so many bytes in the buffer. */
static void zt__make_unpacked_room(zt__packer *packer, zt_profiler *profiler, zt__map *map, uint32_t count) {
    enum { LEAST_SIZE = 2 * 4 + 2 * 8 };
    int has_room = 1;
    if (zt__require_more(packer, count, LEAST_SIZE)) {
        zt__lock(&profiler->mutex);
        has_room = zt__map_make_room_for(map, count, &profiler->config.allocator, &profiler->mutex);
        zt__unlock(&profiler->mutex);
    }
    packer->result = has_room ? packer->result : ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
}

/* Transfers a region. If the buffer is written, the mutex is held. */
static void zt__transfer_region(zt__packer *packer, zt_profiler *profiler, uint32_t index) {
    zt__region_record *record = packer->is_reading ? NULL : profiler->regions[index];
    const char *name = record ? record->name : "";
    int is_phase = record ? record->is_phase : 0;
    zt_cause cause;
    zt__transfer_text(packer, &name);
    zt__transfer_flag(packer, &is_phase);
    if (packer->is_reading) {
        if (!zt__require_more(packer, 2, sizeof record->lost)) {
            return;
        }
        zt__lock(&profiler->mutex);
        record = is_phase ? zt__find_or_add_phase_record(profiler, zt__shown_name(name), &cause)
                          : zt__find_or_add_region(profiler, zt__shown_name(name), &cause);
        zt__unlock(&profiler->mutex);
        if (!record) {
            packer->result = ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
            return;
        }
        if (!zt__require(packer, record->index == index)) { /* another region has this name */
            return;
        }
    }
    zt__transfer_u64(packer, &record->lost, ZT__MAX_PACKED_COUNT);
    zt__transfer_u64(packer, &record->dropped, ZT__MAX_PACKED_COUNT);
}

static int zt__is_time_or_nan(double ns) {
    return zt__is_nan(ns) || (zt__is_finite(ns) && ns >= 0);
}

/* Transfers what a phase has and a region has not. If the buffer is written, the mutex is held. */
static void zt__transfer_phase(zt__packer *packer, zt__path *path) {
    double *power[7 + ZT_THROTTLE_REASONS];
    uint32_t i;
    power[0] = &path->power.joules;
    power[1] = &path->power.energy_s;
    power[2] = &path->power.throttled_s;
    power[3] = &path->power.clock_s;
    power[4] = &path->power.megahertz_s;
    power[5] = &path->power.awake_s;
    power[6] = &path->power_s;
    for (i = 0; i < ZT_THROTTLE_REASONS; i++) {
        power[7 + i] = &path->power.throttled_by_s[i];
    }
    zt__transfer_u64(packer, &path->entered, ZT__MAX_PACKED_COUNT);
    zt__transfer_u64(packer, &path->incomplete, ZT__MAX_PACKED_COUNT);
    zt__transfer_u64(packer, &path->host_ns, UINT64_MAX);
    zt__transfer_u64(packer, &path->host_own_ns, UINT64_MAX);
    zt__transfer_f64(packer, &path->host_wait_ns);
    for (i = 0; i < ZT__COUNT_OF(power); i++) {
        zt__transfer_f64(packer, power[i]);
        zt__require(packer, !packer->is_reading || zt__is_finite(*power[i]));
    }
    zt__transfer_memory(packer, &path->memory);
    if (packer->is_reading) {
        zt__require(packer, zt__is_time_or_nan(path->host_wait_ns));
        /* A device may be around all phases. */
        zt__require(packer, path->depth <= ZT__MAX_PHASE_DEPTH + 1 && zt__is_phase_or_root(path->key.outer));
    }
}

/* Transfers a path. If the buffer is written, the mutex is held. */
static void zt__transfer_path(zt__packer *packer, zt_profiler *profiler, uint32_t index) {
    zt__path *outer, *path = packer->is_reading ? NULL : zt__path_at(profiler, index);
    uint32_t outer_index = path && path->depth > 1 ? path->key.outer->index : UINT32_MAX;
    uint32_t region = path ? path->key.region->index : 0, device = path ? path->device : 0, pass;
    uint64_t timed = 0;
    zt__transfer_u32(packer, &outer_index, UINT32_MAX);
    zt__transfer_u32(packer, &region, UINT32_MAX);
    if (packer->is_reading) {
        if (!zt__require(packer, (outer_index < index || outer_index == UINT32_MAX) &&
                                     region < profiler->region_count)) {
            return;
        }
        outer = outer_index == UINT32_MAX ? &profiler->root : zt__path_at(profiler, outer_index);
        zt__lock(&profiler->mutex);
        path = zt__find_or_add_path(profiler, outer, profiler->regions[region]);
        zt__unlock(&profiler->mutex);
        if (!path) {
            packer->result = ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
            return;
        }
        if (!zt__require(packer, path->index == index && path->key.outer == outer &&
                                     path->key.region->index == region)) {
            return; /* it was there before, or is nested too deeply */
        }
    }
    zt__transfer_u32(packer, &device, ZT__MAX_PROFILERS);
    if (zt__require(packer, path->depth == 1 || device == path->device) && packer->is_reading) {
        path->device = device;
    }
    zt__transfer_u64(packer, &path->lost, ZT__MAX_PACKED_COUNT);
    zt__transfer_u64(packer, &path->dropped, ZT__MAX_PACKED_COUNT);
    zt__transfer_u64(packer, &path->missing, ZT__MAX_PACKED_COUNT);
    zt__transfer_flag(packer, &path->outlives_outer);
    zt__transfer_flag(packer, &path->is_own_unknown);
    zt__transfer_u64(packer, &path->bytes, UINT64_MAX);
    zt__transfer_f64(packer, &path->bytes_ns);
    zt__transfer_f64(packer, &path->launch_error_ns);
    zt__transfer_u64(packer, &path->with_metrics, ZT__MAX_PACKED_COUNT);
    if (path->key.region->is_phase) {
        zt__transfer_phase(packer, path);
    }
    zt__transfer_statistics(packer, profiler, &profiler->layout, &path->statistics);
    if (path->key.region->is_phase) {
        zt__transfer_statistics(packer, profiler, &profiler->entry_layout, &path->entries);
    }
    if (packer->is_reading && packer->result == ZE_RESULT_SUCCESS) {
        zt__require(packer, zt__is_finite(path->launch_error_ns) && path->launch_error_ns >= 0 &&
                                zt__is_time_or_nan(path->bytes_ns));
        zt__require(packer, path->with_metrics <= path->statistics.count);
        for (pass = 0; pass < profiler->pass_count && profiler->metric_count > 0 && path->statistics.moments;
             pass++) {
            timed += path->statistics.moments[zt__pass_time_column(profiler, pass)].count;
        }
        zt__require(packer, timed <= path->with_metrics);
        if (!path->key.region->is_phase) {
            profiler->counts.collected += path->statistics.count;
            profiler->counts.begun += path->statistics.count;
        }
    }
}

/* Packs into a buffer of `*size` bytes. NULL: only `*size` is set. Returns INVALID_SIZE, which is not reported, if the
   buffer is too small. */
static ze_result_t zt__pack_into(zt_profiler *locked, const char *call, uint8_t *buffer, size_t *size) {
    zt__packer packer = {0, buffer, 0, ZT__PACK_HEADER_SIZE, ZE_RESULT_SUCCESS, NULL};
    uint32_t i, regions, paths, layout = ZT__PACK_LAYOUT;
    uint64_t packed_size, hash;
    int is_inside;
    /* Nothing is collected meanwhile, so that the samples of all regions are of one moment. What other
       threads lose or drop meanwhile may be in the counts of a region alone, or in those of all regions
       alone. Inside a sample function this thread holds the collector already. */
    is_inside = zt__is_owner(&locked->collector);
    if (!is_inside && !zt__lock_until(&locked->collector, zt__deadline(locked->config.wait_timeout_ns))) {
        return zt__report(&locked->diagnostics, COLLECTOR_BUSY, ZE_RESULT_NOT_READY, call);
    }
    packer.size = buffer ? *size : 0;
    paths = zt__get_path_count(locked); /* before that of the regions, so that it has all their regions */
    regions = zt__get_region_count(locked);
    zt__transfer_profiler(&packer, locked, &regions);
    zt__transfer_metrics(&packer, locked);
    for (i = 0; i < regions; i++) {
        zt__lock(&locked->mutex);
        zt__transfer_region(&packer, locked, i);
        zt__unlock(&locked->mutex);
    }
    zt__transfer_u32(&packer, &paths, ZT__MOST_PATHS);
    for (i = 0; i < paths; i++) {
        zt__lock(&locked->mutex);
        zt__transfer_path(&packer, locked, i);
        zt__unlock(&locked->mutex);
    }
    if (!is_inside) {
        zt__unlock_timed(&locked->collector);
    }
    *size = packer.used;
    if (!buffer) {
        return ZE_RESULT_SUCCESS;
    }
    if (packer.used > packer.size) {
        return ZE_RESULT_ERROR_INVALID_SIZE;
    }
    /* The header comes last, because it has the size and the checksum of the rest. */
    packed_size = packer.used;
    hash = zt__checksum(packer.bytes, packer.used);
    memcpy(packer.bytes, "ZTPK", 4);
    packer.used = 4;
    zt__transfer_u32(&packer, &layout, UINT32_MAX);
    zt__transfer_u64(&packer, &packed_size, UINT64_MAX);
    zt__transfer_u64(&packer, &hash, UINT64_MAX);
    return ZE_RESULT_SUCCESS;
}

ZT_API ze_result_t zt_pack(const zt_profiler *profiler, void *buffer, size_t *size) {
    zt_profiler *locked = zt__mutable(profiler);
    size_t room;
    ze_result_t result;
    if (!profiler) {
        if (size) {
            *size = 0;
        }
        return ZE_RESULT_SUCCESS;
    }
    if (!size) {
        return zt__report_null(&locked->diagnostics, "zt_pack", "size");
    }
    room = *size;
    result = zt__pack_into(locked, "zt_pack", (uint8_t *)buffer, size);
    if (result == ZE_RESULT_ERROR_INVALID_SIZE) {
        zt__report(&locked->diagnostics, BUFFER_TOO_SMALL, result, (unsigned long long)room,
                   (unsigned long long)*size);
    }
    return result;
}

ZT__PRIVATE ze_result_t zt__pack(zt_profiler *profiler, const char *call, uint8_t **bytes, size_t *size) {
    const zt_allocator *allocator = &profiler->config.allocator;
    ze_result_t result = ZE_RESULT_ERROR_INVALID_SIZE;
    *bytes = NULL;
    *size = ZT__PACK_HEADER_SIZE;
    /* The first attempt finds the size. Others follow while other threads add regions. */
    while (result == ZE_RESULT_ERROR_INVALID_SIZE) {
        zt__free(allocator, *bytes);
        *bytes = (uint8_t *)zt__allocate(allocator, *size, 1);
        result = *bytes ? zt__pack_into(profiler, call, *bytes, size)
                        : zt__report_no_memory(&profiler->diagnostics, call, "a report");
    }
    if (result != ZE_RESULT_SUCCESS) {
        zt__free(allocator, *bytes);
        *bytes = NULL;
    }
    return result;
}

ZT_API ze_result_t zt_unpack(const void *buffer, size_t size, const zt_config *config,
                             zt_profiler **profiler) {
    zt__packer header = {1, (uint8_t *)buffer, size, 4, ZE_RESULT_SUCCESS, NULL}; /* after ZTPK */
    zt__packer packer = {1, (uint8_t *)buffer, 0, ZT__PACK_HEADER_SIZE, ZE_RESULT_SUCCESS, NULL};
    zt_config complete = zt__complete_config(config);
    zt_profiler *unpacked;
    ze_result_t result;
    uint64_t stated = 0, hash = 0;
    uint32_t i, layout = 0, region_count = 0, path_count = 0;
    if (profiler) {
        *profiler = NULL;
    }
    if (!buffer || !profiler) {
        return zt__report_null(NULL, "zt_unpack", buffer ? "profiler" : "buffer");
    }
    if (config && !config->allocator.allocate != !config->allocator.release) {
        return zt__report(NULL, BAD_ALLOCATOR, ZE_RESULT_ERROR_INVALID_ARGUMENT, "zt_unpack");
    }
    if (size >= 4 && memcmp(buffer, "ZTPK", 4) != 0) {
        return zt__report(NULL, BAD_PACK, ZE_RESULT_ERROR_INVALID_ARGUMENT,
                          "the buffer does not begin with ZTPK");
    }
    if (size < ZT__PACK_HEADER_SIZE) {
        return zt__report(NULL, BAD_PACK, ZE_RESULT_ERROR_INVALID_SIZE, "the buffer is cut off");
    }
    zt__transfer_u32(&header, &layout, UINT32_MAX);
    zt__transfer_u64(&header, &stated, UINT64_MAX);
    zt__transfer_u64(&header, &hash, UINT64_MAX);
    if (layout != ZT__PACK_LAYOUT && layout != 0) {
        return zt__report(NULL, OTHER_PACK, ZE_RESULT_ERROR_UNSUPPORTED_VERSION, (unsigned)layout,
                          (unsigned)ZT__PACK_LAYOUT);
    }
    if (stated > size) {
        return zt__report(NULL, BAD_PACK, ZE_RESULT_ERROR_INVALID_SIZE, "the buffer is cut off");
    }
    if (layout == 0 || stated < ZT__PACK_HEADER_SIZE || hash != zt__checksum(packer.bytes, (size_t)stated)) {
        return zt__report(NULL, BAD_PACK, ZE_RESULT_ERROR_INVALID_ARGUMENT, "the buffer is damaged");
    }
    if (stated < size) {
        return zt__report(NULL, BAD_PACK, ZE_RESULT_ERROR_INVALID_ARGUMENT,
                          "the statistics end before the buffer does");
    }

    unpacked = zt__create_profiler(&complete);
    if (!unpacked) {
        return zt__report_no_memory(NULL, "zt_unpack", "the profiler");
    }
    unpacked->config.groups = unpacked->config.metrics = unpacked->config.columns = NULL;
    unpacked->config.baseline = NULL;
    /* Not cleared: each part is written before it is used. */
    unpacked->unpacked = (uint8_t *)complete.allocator.allocate(size, complete.allocator.user);
    if (!unpacked->unpacked || !zt__keep_columns(unpacked, &complete)) {
        packer.result = ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    }
    packer.size = size;
    packer.room = unpacked->unpacked;
    zt__transfer_profiler(&packer, unpacked, &region_count);
    zt__transfer_metrics(&packer, unpacked);
    zt__make_unpacked_room(&packer, unpacked, &unpacked->names, region_count);
    for (i = 0; i < region_count && packer.result == ZE_RESULT_SUCCESS; i++) {
        zt__transfer_region(&packer, unpacked, i);
    }
    zt__transfer_u32(&packer, &path_count, ZT__MOST_PATHS);
    zt__make_unpacked_room(&packer, unpacked, &unpacked->path_map, path_count);
    for (i = 0; i < path_count && packer.result == ZE_RESULT_SUCCESS; i++) {
        zt__transfer_path(&packer, unpacked, i);
    }
    zt__require(&packer, packer.used == packer.size);
    result = packer.result;
    if (result == ZE_RESULT_ERROR_INVALID_ARGUMENT) {
        zt__report(NULL, BAD_PACK, result, "the contents of the buffer are invalid");
    } else if (result != ZE_RESULT_SUCCESS) {
        zt__report_no_memory(NULL, "zt_unpack", "statistics");
    } else if (zt__check_process(NULL, "zt_unpack") != ZE_RESULT_SUCCESS) {
        result = ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    } else if (!zt__register_profiler(unpacked)) {
        result = zt__report(NULL, TOO_MANY_UNPACKED, ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY,
                            (unsigned)ZT__MAX_PROFILERS);
    }
    if (result == ZE_RESULT_SUCCESS) {
        *profiler = unpacked;
    } else {
        zt__free_profiler(unpacked);
    }
    return result;
}
