/* Metric streamers: a thread each that samples by the clock into memory of fixed size. */
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#include "sampling.h"

enum {
    CAPACITY = 4608, /* reports, of each tile */
    LEAST_PERIOD = 10000,
    /* As hardware rounds: periods are powers of two of a slow clock's ticks, notifications fill pages. */
    ODD_TICK = 52,
    ODD_REPORTS = 113,
};

typedef struct sg_streamer {
    sg_object object;
    sg_metric_group *group;
    sg_sampler *sampler; /* of instructions, or NULL */
    uint32_t tiles;
    uint32_t period, notify_every;
    sg_event *event; /* or NULL */
    uint64_t event_serial;
    pthread_t thread;
    pid_t process;        /* in which the thread was started */
    pthread_mutex_t lock; /* of what follows */
    pthread_cond_t changed;
    bool running;
    sg_counts last[SG_MAX_TILES]; /* the readings that the next report begins with */
    size_t report_size;
    uint8_t *reports;      /* a ring; of each moment one for every tile */
    uint32_t first, count; /* moments */
    size_t cut;            /* bytes of the first that were read already */
    bool dropped;
    bool has_gap; /* reports were lost since the last that was stored */
    uint64_t last_id;
    uint32_t unannounced; /* reports since the event was signalled */
    uint32_t lingering;   /* with STREAM_MARKER_LINGERS: the marker, */
    uint32_t rows_of_one; /* and how many timer rows had it */
} sg_streamer;

SG_HANDLE(sg_streamer_of, sg_streamer, zet_metric_streamer_handle_t, SG_STREAMER)

/* Reports of a moment; of instructions, each counts as a moment of its own. */
static uint32_t columns(const sg_streamer *streamer) {
    return streamer->tiles && !streamer->sampler ? streamer->tiles : 1;
}

/* ---- sampling ---------------------------------------------------------------------------------------- */

/* The report of a moment, counted from the first, and a tile. */
static uint8_t *stored_at(const sg_streamer *streamer, uint32_t moment, uint32_t tile) {
    size_t place = (streamer->first + moment) % CAPACITY;
    return streamer->reports + (place * columns(streamer) + tile) * streamer->report_size;
}

static void store(sg_streamer *streamer, sg_report *report, const sg_counts *now) {
    for (uint32_t i = 0; i < columns(streamer); i++) {
        sg_report_fill(report, &streamer->last[i], &now[i]);
        sg_report_write(streamer->group, report, stored_at(streamer, streamer->count, i));
    }
    streamer->count++;
}

/* The value lingers for a while. Then there is a number of something else, such as a context. */
static uint32_t marker_of(sg_streamer *streamer, sg_reason reason, uint32_t marker) {
    enum { CONTEXTS = 64, ROWS_OF_ONE = 4 };
    if (!sg_behaviour_is_on(SOFTGPU_STREAM_MARKER_LINGERS))
        return marker;
    if (reason == SG_REASON_MARKER) {
        streamer->rows_of_one = 0;
        streamer->lingering = marker;
    } else if (++streamer->rows_of_one > ROWS_OF_ONE) {
        streamer->rows_of_one = 1;
        streamer->lingering = 1 + (uint32_t)(streamer->last_id * 7 % CONTEXTS);
    }
    return streamer->lingering;
}

static bool is_to_announce(sg_streamer *streamer, uint32_t reports) {
    streamer->unannounced += reports;
    bool announce = streamer->unannounced >= streamer->notify_every;
    streamer->unannounced = announce ? 0 : streamer->unannounced;
    return announce;
}

/* Of the instructions. When the memory is full, what is new is lost. True: announce. */
static bool store_samples(sg_streamer *streamer, sg_stall_report *reports, uint32_t count) {
    for (uint32_t i = 0; i < count; ++i) {
        if (streamer->count == CAPACITY) {
            streamer->dropped = streamer->has_gap = true;
            continue;
        }
        if (streamer->has_gap)
            sg_stall_report_set_dropped(&reports[i]);
        streamer->has_gap = false;
        memcpy(stored_at(streamer, streamer->count++, 0), &reports[i], sizeof reports[i]);
    }
    return is_to_announce(streamer, count);
}

static bool sample_engines(sg_streamer *streamer) {
    sg_stall_report reports[SG_ENGINES];
    uint32_t count = sg_sampler_ask(streamer->sampler, reports);
    return store_samples(streamer, reports, count);
}

/* When the memory is full, what is new is lost, its number in the sequence included. True: announce. */
static bool sample(sg_streamer *streamer, sg_reason reason, uint32_t marker) {
    sg_counts now[SG_MAX_TILES];
    sg_measure(streamer->group, streamer->tiles, now);
    sg_report report = sg_report_of(streamer->group, reason, ++streamer->last_id);
    report.marker = marker_of(streamer, reason, marker);
    if (streamer->count < CAPACITY)
        store(streamer, &report, now);
    else
        streamer->dropped = true;
    memcpy(streamer->last, now, sizeof *now * columns(streamer));
    return is_to_announce(streamer, 1);
}

/* Without the streamer's lock, for who waits for the event may hold others. */
static void announce(const sg_streamer *streamer) {
    if (!streamer->event || !sg_object_is(&streamer->event->object, streamer->event_serial))
        return;
    uint64_t now = sg_now();
    sg_event_signal(streamer->event, &(sg_interval){now, now}, 0);
}

static struct timespec time_at(uint64_t nanoseconds) {
    return (struct timespec){(time_t)(nanoseconds / 1000000000u), (long)(nanoseconds % 1000000000u)};
}

/* Waits, with the lock, until the time has come; false: it is to stop. */
static bool await(sg_streamer *streamer, uint64_t time) {
    struct timespec until = time_at(time);
    while (streamer->running && sg_now() < time)
        pthread_cond_timedwait(&streamer->changed, &streamer->lock, &until);
    return streamer->running;
}

/* Moments that it was too late for are lost. They have no numbers: there was never anything of them. */
static uint64_t next_moment(sg_streamer *streamer, uint64_t moment) {
    uint64_t now = sg_now();
    uint64_t missed = now > moment ? (now - moment) / streamer->period : 0;
    if (missed > 0 && !streamer->sampler && !sg_behaviour_is_on(SOFTGPU_MISSED_MOMENTS_UNTOLD))
        streamer->dropped = true;
    return moment + (missed + 1) * streamer->period;
}

static void *sample_by_clock(void *argument) {
    sg_streamer *streamer = argument;
    pthread_mutex_lock(&streamer->lock);
    uint64_t moment = sg_now() + streamer->period;
    while (await(streamer, moment)) {
        bool due = streamer->sampler ? sample_engines(streamer) : sample(streamer, SG_REASON_TIMER, 0);
        pthread_mutex_unlock(&streamer->lock);
        if (due)
            announce(streamer);
        pthread_mutex_lock(&streamer->lock);
        moment = next_moment(streamer, moment);
    }
    pthread_mutex_unlock(&streamer->lock);
    return NULL;
}

/* ---- opening and closing ----------------------------------------------------------------------------- */

static bool is_usable(ze_event_handle_t handle) {
    const sg_event *event = sg_event_of(handle);
    return !handle || (event && event->pool && event->pool->flags & ZE_EVENT_POOL_FLAG_HOST_VISIBLE);
}

static ze_result_t check_streamer(const sg_device *device, const sg_metric_group *group,
                                  ze_event_handle_t notification) {
    if (!is_usable(notification))
        return ZE_RESULT_ERROR_INVALID_SYNCHRONIZATION_OBJECT;
    ze_result_t refusal = sg_metrics_refusal(device);
    if (refusal != ZE_RESULT_SUCCESS)
        return refusal;
    if (sg_counters_are_refused())
        return ZE_RESULT_ERROR_UNKNOWN;
    if (group->device != device || group->sampling != ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_TIME_BASED)
        return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    return sg_group_is_active(group) ? ZE_RESULT_SUCCESS : ZE_RESULT_NOT_READY;
}

static bool counts(const sg_streamer *streamer) {
    return !sg_group_is_ip_sampling(streamer->group);
}

/* One streamer a domain, and none where query pools are in the way. */
static ze_result_t reserve_domain(sg_streamer *streamer) {
    sg_metrics *metrics = streamer->group->device->metrics;
    sg_streamer **place = &metrics->streamers[streamer->group->domain];
    ze_result_t result = ZE_RESULT_SUCCESS;
    if (counts(streamer) && !sg_counters_acquire(streamer->group->device))
        return ZE_RESULT_ERROR_UNKNOWN; /* as without permission */
    pthread_mutex_lock(&metrics->lock);
    if (*place)
        result = ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE;
    else if (sg_metrics_have_pool(metrics, streamer->group->domain))
        result = ZE_RESULT_ERROR_NOT_AVAILABLE;
    if (result == ZE_RESULT_SUCCESS)
        *place = streamer;
    pthread_mutex_unlock(&metrics->lock);
    if (result != ZE_RESULT_SUCCESS && counts(streamer))
        sg_counters_release(streamer->group->device);
    return result;
}

static void release_domain(const sg_streamer *streamer) {
    sg_metrics *metrics = streamer->group->device->metrics;
    pthread_mutex_lock(&metrics->lock);
    metrics->streamers[streamer->group->domain] = NULL;
    pthread_mutex_unlock(&metrics->lock);
    if (counts(streamer))
        sg_counters_release(streamer->group->device);
}

static uint32_t rounded_period(uint32_t period) {
    uint32_t rounded = ODD_TICK;
    while (rounded <= period / 2)
        rounded *= 2;
    return rounded;
}

static void set_pace(sg_streamer *streamer, const zet_metric_streamer_desc_t *desc) {
    bool rounds = sg_behaviour_is_on(SOFTGPU_STREAMER_ROUNDS);
    uint32_t period = desc->samplingPeriod > LEAST_PERIOD ? desc->samplingPeriod : LEAST_PERIOD;
    uint32_t reports = desc->notifyEveryNReports > 0 ? desc->notifyEveryNReports : 1;
    reports = reports < CAPACITY ? reports : CAPACITY;
    streamer->period = rounds ? rounded_period(period) : period;
    streamer->notify_every = rounds ? (reports + ODD_REPORTS - 1) / ODD_REPORTS * ODD_REPORTS : reports;
}

static void set_event(sg_streamer *streamer, ze_event_handle_t handle) {
    streamer->event = sg_event_of(handle);
    streamer->event_serial = streamer->event ? streamer->event->object.serial : 0;
}

static void watch(const sg_streamer *streamer, int change) {
    if (sg_group_needs_thread(streamer->group))
        sg_watch_thread(streamer->group->device, change);
}

static sg_streamer *create(sg_object *context, sg_metric_group *group) {
    sg_streamer *streamer = sg_object_create(SG_STREAMER, sizeof *streamer, context);
    if (!streamer)
        return NULL;
    streamer->group = group;
    streamer->tiles = sg_tiles_of(group->device);
    streamer->report_size = sg_report_size(group);
    pthread_mutex_init(&streamer->lock, NULL);
    sg_condition_init(&streamer->changed);
    return streamer;
}

/* A marker may be about to use it: the device has to pause. */
static void destroy(sg_streamer *streamer) {
    sg_device *device = streamer->group->device;
    sg_device_pause(device);
    if (streamer->sampler)
        sg_sampler_destroy(streamer->sampler);
    free(streamer->reports);
    pthread_cond_destroy(&streamer->changed);
    pthread_mutex_destroy(&streamer->lock);
    sg_object_destroy(streamer);
    sg_device_resume(device);
}

/* A forked child has none of its parent's threads, which may hold the lock. */
static void stop(sg_streamer *streamer) {
    if (streamer->process != getpid())
        return;
    pthread_mutex_lock(&streamer->lock);
    bool was_running = streamer->running;
    streamer->running = false;
    pthread_cond_signal(&streamer->changed);
    pthread_mutex_unlock(&streamer->lock);
    if (!was_running)
        return;
    pthread_join(streamer->thread, NULL);
    watch(streamer, -1);
}

static void stop_one(void *streamer, void *unused) {
    (void)unused;
    stop(streamer);
}

static void stop_all(void) {
    sg_object_each(SG_STREAMER, stop_one, NULL);
}
static void stop_all_at_unload(void) {
    sg_at_unload(stop_all);
}

static bool start(sg_streamer *streamer) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, stop_all_at_unload);
    watch(streamer, 1);
    sg_measure(streamer->group, streamer->tiles, streamer->last);
    streamer->lingering = 1;
    streamer->running = true;
    streamer->process = getpid();
    if (sg_thread_start(&streamer->thread, sample_by_clock, streamer))
        return true;
    streamer->running = false;
    watch(streamer, -1);
    return false;
}

static bool allocate(sg_streamer *streamer) {
    const sg_metric_group *group = streamer->group;
    bool samples = sg_group_is_ip_sampling(group);
    if (samples)
        streamer->sampler = sg_sampler_create(group->device, streamer->period);
    streamer->reports = calloc((size_t)CAPACITY * columns(streamer), streamer->report_size);
    return streamer->reports && (streamer->sampler || !samples);
}

static ze_result_t reserve_and_start(sg_streamer *streamer) {
    if (!allocate(streamer))
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    ze_result_t result = reserve_domain(streamer);
    if (result != ZE_RESULT_SUCCESS || start(streamer))
        return result;
    release_domain(streamer);
    return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
}

ze_result_t sg_zetMetricStreamerOpen(zet_context_handle_t context_handle, zet_device_handle_t device_handle,
                                     zet_metric_group_handle_t group_handle, zet_metric_streamer_desc_t *desc,
                                     ze_event_handle_t notification,
                                     zet_metric_streamer_handle_t *out_streamer) {
    sg_object *context = sg_context_of(context_handle);
    const sg_device *device = sg_device_of(device_handle);
    sg_metric_group *group = sg_group_of(group_handle);
    SG_NEED_HANDLE(context);
    SG_NEED_HANDLE(device);
    SG_NEED_HANDLE(group);
    SG_NEED_POINTER(desc);
    SG_NEED_POINTER(out_streamer);
    ze_result_t result = check_streamer(device, group, notification);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    sg_streamer *streamer = create(context, group);
    if (!streamer)
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    set_pace(streamer, desc);
    set_event(streamer, notification);
    result = reserve_and_start(streamer);
    if (result != ZE_RESULT_SUCCESS) {
        destroy(streamer);
        return result;
    }
    desc->samplingPeriod = streamer->period;
    desc->notifyEveryNReports = streamer->notify_every;
    *out_streamer = (zet_metric_streamer_handle_t)streamer;
    return ZE_RESULT_SUCCESS;
}

ze_result_t sg_zetMetricStreamerClose(zet_metric_streamer_handle_t handle) {
    sg_streamer *streamer = sg_streamer_of(handle);
    if (!streamer)
        return sg_object_refuse(handle, SG_STREAMER);
    stop(streamer);
    release_domain(streamer);
    destroy(streamer);
    return ZE_RESULT_SUCCESS;
}

/* ---- reading ----------------------------------------------------------------------------------------- */

static uint32_t least(uint32_t a, uint32_t b) {
    return a < b ? a : b;
}

static size_t raw_size(const sg_streamer *streamer, size_t moments) {
    if (streamer->sampler)
        return streamer->tiles * sizeof(sg_stall_header) + moments * streamer->report_size;
    return sg_raw_size(streamer->group, streamer->tiles, moments);
}

static void drop_first(sg_streamer *streamer, uint32_t moments) {
    streamer->first = (streamer->first + moments) % CAPACITY;
    streamer->count -= moments;
}

static size_t size_to_ask_for(const sg_streamer *streamer, uint32_t max_reports) {
    bool is_available = sg_behaviour_is_on(SOFTGPU_STREAMER_SIZE_IS_AVAILABLE);
    return raw_size(streamer, least(is_available ? streamer->count : CAPACITY, max_reports));
}

/* How many moments fit. */
static uint32_t room_for(const sg_streamer *streamer, size_t size) {
    size_t header = raw_size(streamer, 0);
    size_t moment = raw_size(streamer, 1) - header;
    size_t room = size > header ? (size - header) / moment : 0;
    return room < CAPACITY ? (uint32_t)room : CAPACITY;
}

/* Those of each tile, behind a header. Returns how many bytes they are. */
static size_t take_by_tile(const sg_streamer *streamer, uint32_t count, uint8_t *data) {
    const uint8_t *begin = data;
    for (uint32_t tile = 0; tile < streamer->tiles; tile++) {
        uint8_t *place = data;
        data += sizeof(sg_stall_header);
        for (uint32_t i = 0; i < count; i++) {
            sg_stall_report report;
            memcpy(&report, stored_at(streamer, i, 0), sizeof report);
            if (sg_stall_report_tile(&report) != tile)
                continue;
            memcpy(data, &report, sizeof report);
            data += sizeof report;
        }
        sg_stall_header header = sg_stall_header_of(tile, (uint64_t)(data - place) - sizeof header);
        memcpy(place, &header, sizeof header);
    }
    return (size_t)(data - begin);
}

static size_t take(sg_streamer *streamer, uint32_t moments, uint8_t *data) {
    if (moments == 0)
        return 0;
    if (streamer->sampler && streamer->tiles) {
        size_t size = take_by_tile(streamer, moments, data);
        drop_first(streamer, moments);
        return size;
    }
    if (streamer->tiles) {
        sg_packet packet = sg_packet_of(streamer->tiles, moments * streamer->report_size);
        memcpy(data, &packet, sizeof packet);
        data += sizeof packet;
    }
    for (uint32_t tile = 0; tile < columns(streamer); tile++)
        for (uint32_t i = 0; i < moments; i++, data += streamer->report_size)
            memcpy(data, stored_at(streamer, i, tile), streamer->report_size);
    drop_first(streamer, moments);
    return raw_size(streamer, moments);
}

/* As a stream of bytes, whatever reports begin and end there. */
static size_t take_bytes(sg_streamer *streamer, size_t size, uint8_t *data) {
    const size_t report = streamer->report_size;
    size_t there = streamer->count * report - streamer->cut;
    size_t given = size < there ? size : there;
    if (given > report)
        given -= report / 2;
    for (size_t done = 0, part; done < given; done += part) {
        size_t from = (streamer->cut + done) % report;
        uint32_t moment = (uint32_t)((streamer->cut + done) / report);
        part = report - from < given - done ? report - from : given - done;
        memcpy(data + done, stored_at(streamer, moment, 0) + from, part);
    }
    uint32_t whole = (uint32_t)((streamer->cut + given) / report);
    streamer->cut = (streamer->cut + given) % report;
    drop_first(streamer, whole);
    return given;
}

static ze_result_t read_reports(sg_streamer *streamer, uint32_t max_reports, size_t *size, uint8_t *data) {
    if (*size == 0) {
        *size = size_to_ask_for(streamer, max_reports);
        return ZE_RESULT_SUCCESS;
    }
    SG_NEED_POINTER(data);
    if (streamer->dropped && sg_behaves(SOFTGPU_STREAMER_UNKNOWN)) {
        streamer->dropped = false;
        return ZE_RESULT_ERROR_UNKNOWN;
    }
    uint32_t moments = least(streamer->count, room_for(streamer, *size));
    if (!sg_behaviour_is_on(SOFTGPU_STREAMER_IGNORES_MAXIMUM))
        moments = least(moments, max_reports);
    *size = sg_behaviour_is_on(SOFTGPU_STREAMER_SPLITS_REPORTS) && !streamer->tiles
                ? take_bytes(streamer, *size, data)
                : take(streamer, moments, data);
    bool dropped = streamer->dropped;
    streamer->dropped = false;
    return dropped ? ZE_RESULT_WARNING_DROPPED_DATA : ZE_RESULT_SUCCESS;
}

ze_result_t sg_zetMetricStreamerReadData(zet_metric_streamer_handle_t handle, uint32_t max_reports,
                                         size_t *size, uint8_t *data) {
    sg_streamer *streamer = sg_streamer_of(handle);
    SG_NEED_HANDLE(streamer);
    SG_NEED_POINTER(size);
    pthread_mutex_lock(&streamer->lock);
    ze_result_t result = read_reports(streamer, max_reports, size, data);
    pthread_mutex_unlock(&streamer->lock);
    return result;
}

/* ---- what a test gives ------------------------------------------------------------------------------- */

static bool give_to_streamer(sg_streamer *streamer, const char *metric, uint64_t address, uint32_t count) {
    const sg_metric_group *group = streamer->group;
    uint32_t index = 1; /* behind the address */
    while (index < group->metric_count && strcmp(group->formulas[index]->name, metric) != 0)
        ++index;
    if (index == group->metric_count)
        return false;
    sg_stall_report report = sg_stall_report_of(address, group->formulas[index]->of, count);
    pthread_mutex_lock(&streamer->lock);
    bool due = store_samples(streamer, &report, 1);
    pthread_mutex_unlock(&streamer->lock);
    if (due)
        announce(streamer);
    return true;
}

/* With the lock, no streamer is closed. */
static bool give_to_device(sg_device *device, const char *metric, uint64_t address, uint32_t count) {
    sg_metrics *metrics = sg_metrics_of(device);
    bool any = false;
    pthread_mutex_lock(&metrics->lock);
    for (uint32_t i = 0; i < SG_DOMAINS; ++i)
        if (metrics->streamers[i] && metrics->streamers[i]->sampler)
            any = give_to_streamer(metrics->streamers[i], metric, address, count) || any;
    pthread_mutex_unlock(&metrics->lock);
    return any;
}

int softgpu_give_samples(const char *metric, uint64_t address, uint32_t count) {
    bool any = false;
    if (count == 0 || count > UINT8_MAX)
        return 0;
    for (uint32_t i = 0; i < sg_device_count(); ++i) {
        sg_device *device = sg_device_at(i);
        any = (device && give_to_device(device, metric, address, count)) || any;
        for (uint32_t k = 0; device && k < sg_sub_device_count(); ++k)
            any = give_to_device(sg_sub_device_at(device, k), metric, address, count) || any;
    }
    return any;
}

/* ---- markers ----------------------------------------------------------------------------------------- */

typedef struct sg_marker {
    sg_streamer *streamer;
    uint64_t serial;
    uint32_t value;
} sg_marker;

/* A report of its own, at the very moment. */
static void run_marker(sg_execution *execution, void *argument) {
    (void)execution;
    const sg_marker *marker = argument;
    sg_streamer *streamer = marker->streamer;
    if (!sg_object_is(&streamer->object, marker->serial)) {
        sg_finding("a command list marks a streamer that was closed");
        return;
    }
    pthread_mutex_lock(&streamer->lock);
    bool due = sample(streamer, SG_REASON_MARKER, marker->value);
    pthread_mutex_unlock(&streamer->lock);
    if (due)
        announce(streamer);
}

ze_result_t sg_zetCommandListAppendMetricStreamerMarker(zet_command_list_handle_t list_handle,
                                                        zet_metric_streamer_handle_t handle, uint32_t value) {
    const sg_list *list = sg_list_of(list_handle);
    sg_streamer *streamer = sg_streamer_of(handle);
    SG_NEED_HANDLE(list);
    SG_NEED_HANDLE(streamer);
    if (streamer->sampler)
        return ZE_RESULT_ERROR_UNSUPPORTED_FEATURE;
    if (!sg_list_fits(list, streamer->object.parent, streamer->group->device))
        return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    sg_marker marker = {streamer, streamer->object.serial, value};
    return sg_list_append(list_handle,
                          &(sg_append){.run = run_marker, .argument = &marker, .size = sizeof marker});
}
