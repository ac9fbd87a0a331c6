/* The device thread: it plays the lanes of a root device and its sub-devices, in turns, a command at a time.
 */
#include "work.h"

#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

/* ---- waking it ----------------------------------------------------------------------------------------- */

void sg_root_ring(sg_root *root) {
    atomic_fetch_add(&root->rings, 1);
    if (!atomic_load(&root->asleep))
        return;
    pthread_mutex_lock(&root->bell_lock);
    pthread_cond_signal(&root->bell);
    pthread_mutex_unlock(&root->bell_lock);
}

void sg_ring_all(void) {
    for (uint32_t i = 0; i < SG_MAX_DEVICES; ++i)
        if (atomic_load_explicit(&sg_root_at(i)->started, memory_order_relaxed))
            sg_root_ring(sg_root_at(i));
}

static void sleep_until_rung(sg_root *root, uint64_t rings) {
    pthread_mutex_lock(&root->bell_lock);
    atomic_store(&root->asleep, true);
    while (atomic_load(&root->rings) == rings)
        pthread_cond_wait(&root->bell, &root->bell_lock);
    atomic_store(&root->asleep, false);
    pthread_mutex_unlock(&root->bell_lock);
}

void sg_device_pause(sg_device *device) {
    atomic_fetch_add(&device->root->pauses, 1);
    pthread_mutex_lock(&device->root->running);
}

void sg_device_resume(sg_device *device) {
    pthread_mutex_unlock(&device->root->running);
    atomic_fetch_sub(&device->root->pauses, 1);
}

void sg_device_settle(sg_device *device) {
    sg_device_pause(device);
    sg_device_resume(device);
}

/* ---- commands ------------------------------------------------------------------------------------------ */

static bool event_is_there(const sg_event_use *use) {
    return sg_object_is(&use->event->object, use->serial);
}

/* An event that is gone is not waited for: its destruction was the mistake. */
static bool is_ready(const sg_command *command) {
    for (uint32_t i = 0; i < command->wait_count; ++i)
        if (event_is_there(&command->waits[i]) && !atomic_load(&command->waits[i].event->signalled))
            return false;
    return true;
}

static void note_gone_events(const sg_command *command) {
    bool gone = command->signal.event && !event_is_there(&command->signal);
    for (uint32_t i = 0; i < command->wait_count; ++i)
        gone = gone || !event_is_there(&command->waits[i]);
    if (gone)
        sg_finding("a command uses an EVENT that was destroyed");
}

static void execute(sg_lane *lane, sg_list *list, const sg_command *command) {
    sg_execution execution = {.device = lane->device,
                              .list = command->recorded ? command->recorded : list,
                              .immediate = lane->immediate && !command->recorded,
                              .engine = lane->engine,
                              .start = sg_now()};
    note_gone_events(command);
    sg_busy_begin(lane->device, lane->engine, execution.start);
    if (command->run)
        command->run(&execution, command->argument);
    uint64_t end = sg_busy_end(lane->device, lane->engine);
    sg_count(sg_tile_for(lane->device, 0), SG_COMMANDS, 1);
    if (atomic_load_explicit(&lane->device->root->watchers, memory_order_relaxed) > 0)
        sg_publish_thread_counters(lane->device->root);
    if (command->signal.event && event_is_there(&command->signal))
        sg_event_signal(command->signal.event, sg_ticks_at(execution.start),
                        sg_ticks_at(execution.end ? execution.end : end));
}

/* ---- lanes --------------------------------------------------------------------------------------------- */

/* Of a list that was appended to an immediate one. */
static void end_recorded(const sg_command *command, bool dropped) {
    if (!command->ends_recorded)
        return;
    atomic_fetch_sub(&command->recorded->executions, 1);
    if (!dropped)
        sg_count(sg_tile_for(command->recorded->device, 0), SG_FLUSHES, 1);
}

static bool play_immediate(sg_lane *lane) {
    sg_list *list = lane->immediate;
    sg_command *command = sg_tape_peek(&list->tape, &lane->cursor, true);
    if (!command || !is_ready(command))
        return false;
    execute(lane, list, command);
    end_recorded(command, false);
    sg_tape_step(&lane->cursor, command);
    atomic_store(&lane->completed, lane->cursor.played);
    sg_progress();
    return true;
}

static bool first_entry(sg_lane *lane, sg_entry *entry) {
    pthread_mutex_lock(&lane->lock);
    bool any = lane->entries_taken < atomic_load(&lane->submitted);
    if (any)
        *entry = lane->entries[lane->entries_taken % lane->capacity];
    pthread_mutex_unlock(&lane->lock);
    return any;
}

static void finish_entry(sg_lane *lane, const sg_entry *entry, bool dropped) {
    atomic_fetch_sub(&entry->list->executions, 1);
    if (!dropped)
        sg_count(sg_tile_for(lane->device, 0), SG_FLUSHES, 1);
    if (entry->fence && !dropped)
        atomic_store(&entry->fence->signalled, true);
    if (entry->fence)
        atomic_fetch_sub(&entry->fence->pending, 1);
    lane->cursor = (sg_cursor){NULL, 0, 0};
    pthread_mutex_lock(&lane->lock);
    ++lane->entries_taken;
    pthread_mutex_unlock(&lane->lock);
    atomic_fetch_add(&lane->completed, 1);
    sg_progress();
}

static bool play_entry(sg_lane *lane) {
    sg_entry entry;
    if (!first_entry(lane, &entry))
        return false;
    sg_command *command = sg_tape_peek(&entry.list->tape, &lane->cursor, false);
    if (command && !is_ready(command))
        return false;
    if (command) {
        execute(lane, entry.list, command);
        sg_tape_step(&lane->cursor, command);
    }
    if (!sg_tape_peek(&entry.list->tape, &lane->cursor, false))
        finish_entry(lane, &entry, false);
    return true;
}

static void drop_lane(sg_lane *lane) {
    if (lane->immediate) {
        for (sg_command *command; (command = sg_tape_peek(&lane->immediate->tape, &lane->cursor, true));) {
            end_recorded(command, true);
            sg_tape_step(&lane->cursor, command);
        }
        atomic_store(&lane->completed, lane->cursor.played);
        return;
    }
    for (sg_entry entry; first_entry(lane, &entry);)
        finish_entry(lane, &entry, true);
}

static bool serve(sg_root *root) {
    bool worked = false;
    for (sg_lane *lane = atomic_load(&root->lanes); lane && !sg_is_lost(); lane = atomic_load(&lane->next))
        worked |= lane->immediate ? play_immediate(lane) : play_entry(lane);
    return worked;
}

void sg_drop_all_work(void) {
    for (uint32_t i = 0; i < SG_MAX_DEVICES; ++i) {
        sg_root *root = sg_root_at(i);
        if (!atomic_load(&root->started))
            continue;
        sg_device_pause(root->device);
        for (sg_lane *lane = atomic_load(&root->lanes); lane; lane = atomic_load(&lane->next))
            drop_lane(lane);
        sg_device_resume(root->device);
    }
}

/* ---- the thread ---------------------------------------------------------------------------------------- */

static void *device_thread(void *argument) {
    sg_root *root = argument;
    pthread_getcpuclockid(pthread_self(), &root->cpu_clock);
    root->thread_self = pthread_self();
    atomic_store_explicit(&root->cpu_clock_is_set, true, memory_order_release);
    while (!atomic_load(&root->stopping)) {
        uint64_t rings = atomic_load(&root->rings);
        while (atomic_load(&root->pauses))
            sched_yield();
        pthread_mutex_lock(&root->running);
        bool worked = serve(root);
        pthread_mutex_unlock(&root->running);
        if (!worked)
            sleep_until_rung(root, rings);
    }
    return NULL;
}

bool sg_thread_start(pthread_t *thread, void *(*function)(void *), void *argument) {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int failed = pthread_create(thread, NULL, function, argument);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return !failed;
}

/* A forked child has none of its parent's threads. */
static bool is_started(sg_root *root) {
    return atomic_load(&root->started) && root->process == getpid();
}

static ze_result_t start_thread(sg_root *root) {
    if (!sg_thread_start(&root->thread, device_thread, root))
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    root->process = getpid();
    atomic_store(&root->started, true);
    return ZE_RESULT_SUCCESS;
}

void sg_root_stop(sg_root *root) {
    if (!is_started(root))
        return;
    atomic_store(&root->stopping, true);
    sg_root_ring(root);
    pthread_join(root->thread, NULL);
    atomic_store(&root->started, false);
}

bool sg_is_stopping(const sg_device *device) {
    return atomic_load_explicit(&device->root->stopping, memory_order_relaxed);
}

/* ---- opening and closing lanes ------------------------------------------------------------------------- */

ze_result_t sg_lane_open(sg_lane *lane, sg_device *device, uint32_t ordinal, sg_list *immediate) {
    sg_root *root = device->root;
    lane->device = device;
    lane->engine = ordinal == SG_COPY_ORDINAL ? SG_COPY_ENGINE : SG_COMPUTE_ENGINE;
    lane->immediate = immediate;
    pthread_mutex_init(&lane->lock, NULL);
    pthread_mutex_lock(&root->lanes_lock);
    ze_result_t result = is_started(root) ? ZE_RESULT_SUCCESS : start_thread(root);
    if (result == ZE_RESULT_SUCCESS) {
        atomic_store(&lane->next, atomic_load(&root->lanes));
        atomic_store(&root->lanes, lane);
    }
    pthread_mutex_unlock(&root->lanes_lock);
    return result;
}

void sg_lane_close(sg_lane *lane) {
    sg_root *root = lane->device->root;
    sg_device_pause(lane->device);
    pthread_mutex_lock(&root->lanes_lock);
    sg_lane *_Atomic *link = &root->lanes;
    while (atomic_load(link) != lane)
        link = &atomic_load(link)->next;
    atomic_store(link, atomic_load(&lane->next));
    pthread_mutex_unlock(&root->lanes_lock);
    sg_device_resume(lane->device);
    pthread_mutex_destroy(&lane->lock);
    free(lane->entries);
}

/* ---- waiting for lanes --------------------------------------------------------------------------------- */

typedef struct target {
    const sg_lane *lane;
    uint64_t completed;
} target;

static bool is_reached(void *argument) {
    const target *wanted = argument;
    return atomic_load(&wanted->lane->completed) >= wanted->completed;
}

ze_result_t sg_lane_wait(sg_lane *lane, uint64_t timeout) {
    target all = {lane, atomic_load(&lane->submitted)};
    return sg_wait(is_reached, &all, timeout);
}

bool sg_lane_is_idle(const sg_lane *lane) {
    return atomic_load(&lane->completed) >= atomic_load(&lane->submitted);
}
