/* Lanes: which of their commands may start, and what follows when one is done. The root's lock is held in all
 * but the functions that the host calls, at the end. */
#include "debug.h"

#include <stdlib.h>

/* ---- entries: the lists of a queue --------------------------------------------------------------------- */

static bool first_entry(sg_lane *lane) {
    pthread_mutex_lock(&lane->lock);
    bool any = lane->entries_taken < atomic_load(&lane->submitted);
    if (any)
        lane->entry = lane->entries[lane->entries_taken % lane->capacity];
    pthread_mutex_unlock(&lane->lock);
    return any;
}

static void finish_entry(sg_lane *lane, bool dropped) {
    sg_entry *entry = &lane->entry;
    lane->has_entry = false;
    lane->fetched = (sg_cursor){NULL, 0, 0};
    atomic_fetch_sub(&entry->list->executions, 1);
    if (dropped)
        atomic_store(&entry->list->commands_done, atomic_load(&entry->list->commands_submitted));
    else
        sg_count(sg_tile_for(lane->device, 0), SG_FLUSHES, 1);
    if (entry->fence && !dropped)
        atomic_store(&entry->fence->signalled, true);
    if (entry->fence)
        atomic_fetch_sub(&entry->fence->pending, 1);
    pthread_mutex_lock(&lane->lock);
    ++lane->entries_taken;
    pthread_mutex_unlock(&lane->lock);
    atomic_fetch_add(&lane->completed, 1);
    sg_progress();
}

/* ---- flights ------------------------------------------------------------------------------------------- */

static sg_flight *flight_at(sg_lane *lane, uint64_t number) {
    return &lane->flights[number % SG_WINDOW];
}

static bool any_flight(const sg_lane *lane) {
    return lane->first_flight < lane->end_flight;
}

/* Behind a command that blocks, nothing could start. */
static bool wants_more(sg_lane *lane) {
    if (!any_flight(lane))
        return true;
    const sg_flight *last = flight_at(lane, lane->end_flight - 1);
    bool is_blocked = last->command->order & SG_BLOCKS && !last->is_done;
    return !is_blocked && lane->end_flight - lane->first_flight < SG_WINDOW;
}

static void fetch(sg_lane *lane) {
    while (wants_more(lane)) {
        if (!lane->immediate && !lane->has_entry)
            lane->has_entry = first_entry(lane);
        sg_list *list = lane->immediate ? lane->immediate : lane->has_entry ? lane->entry.list : NULL;
        sg_command *command = list ? sg_tape_peek(&list->tape, &lane->fetched, false) : NULL;
        if (!command && lane->has_entry && !any_flight(lane)) {
            finish_entry(lane, false);
            continue;
        }
        if (!command)
            return;
        sg_list *recorded_on = command->recorded ? command->recorded : list;
        *flight_at(lane, lane->end_flight++) = (sg_flight){.command = command, .list = recorded_on};
        sg_tape_step(&lane->fetched, command);
    }
}

/* An event that is gone is not waited for: its destruction was the mistake. */
static bool is_ready(const sg_lane *lane, const sg_command *command) {
    if (command->code && sg_debug_holds(command->code, lane->device->root))
        return false;
    for (uint32_t i = 0; i < command->wait_count; ++i) {
        const sg_event_use *use = &command->waits[i];
        if (!sg_object_is(&use->event->object, use->serial))
            continue;
        if (use->event->is_counter_based ? !sg_point_is_reached(use->point)
                                         : !atomic_load(&use->event->signalled))
            return false;
    }
    return true;
}

static sg_flight *startable(sg_lane *lane, uint32_t engine_bit) {
    bool all_done = true;
    fetch(lane);
    for (uint64_t number = lane->first_flight; number < lane->end_flight; ++number) {
        sg_flight *flight = flight_at(lane, number);
        const sg_command *command = flight->command;
        bool is_mine = engine_bit & (command->order & SG_AT_HOME ? lane->home : lane->engines);
        bool is_its_turn = all_done || !(command->order & SG_AFTER_ALL);
        if (!flight->is_started && is_mine && is_its_turn && is_ready(lane, command))
            return flight;
        if (!flight->is_done && command->order & SG_BLOCKS)
            return NULL;
        all_done = all_done && flight->is_done;
    }
    return NULL;
}

/* Lanes are served in turns, a command at a time. */
sg_flight *sg_next_flight(sg_root *root, uint32_t engine_bit, sg_lane **out_lane) {
    sg_lane *begin = root->turn ? root->turn : root->lanes;
    sg_lane *lane = begin;
    if (!begin)
        return NULL;
    do {
        sg_flight *flight = lane->engines & engine_bit ? startable(lane, engine_bit) : NULL;
        sg_lane *next = lane->next ? lane->next : root->lanes;
        if (flight) {
            root->turn = next;
            *out_lane = lane;
            return flight;
        }
        lane = next;
    } while (lane != begin);
    return NULL;
}

/* Of a list that was appended to an immediate one. */
static void end_recorded(const sg_command *command, bool dropped) {
    if (!command->ends_recorded)
        return;
    if (dropped)
        atomic_store(&command->recorded->commands_done, atomic_load(&command->recorded->commands_submitted));
    else
        sg_count(sg_tile_for(command->recorded->device, 0), SG_FLUSHES, 1);
    atomic_fetch_sub(&command->recorded->executions, 1);
}

/* A command of an immediate list is over, and its room on the tape free, when all before it are done. */
static void retire_first(sg_lane *lane, bool dropped) {
    sg_command *command = sg_tape_peek(&lane->immediate->tape, &lane->retired, true);
    end_recorded(command, dropped);
    sg_tape_step(&lane->retired, command);
}

void sg_lane_finish(sg_lane *lane, sg_flight *flight) {
    flight->is_done = true;
    if (flight->list != lane->immediate && !flight->command->ends_recorded)
        atomic_fetch_add(&flight->list->commands_done, 1);
    while (any_flight(lane) && flight_at(lane, lane->first_flight)->is_done) {
        if (lane->immediate)
            retire_first(lane, false);
        lane->first_flight++;
    }
    if (lane->immediate)
        atomic_store(&lane->completed, lane->retired.played);
    else if (!any_flight(lane))
        fetch(lane); /* the list may be over */
    sg_progress();
}

void sg_lane_drop(sg_lane *lane) {
    lane->first_flight = lane->end_flight;
    if (!lane->immediate) {
        while (first_entry(lane))
            finish_entry(lane, true);
        return;
    }
    while (sg_tape_peek(&lane->immediate->tape, &lane->retired, true))
        retire_first(lane, true);
    lane->fetched = lane->retired;
    atomic_store(&lane->completed, lane->retired.played);
}

/* ---- opening and closing ------------------------------------------------------------------------------- */

/* See CONCURRENT_ENGINES. */
static uint32_t choose_engines(sg_lane *lane, uint32_t index) {
    if (!sg_behaviour_is_on(SOFTGPU_CONCURRENT_ENGINES)) {
        lane->engines = lane->home = 1;
        return 1;
    }
    bool copies = lane->engine == SG_COPY_ENGINE;
    uint32_t count = copies ? SG_COPY_ENGINES : SG_COMPUTE_ENGINES;
    uint32_t first = copies ? SG_COMPUTE_ENGINES : 0;
    uint32_t tile = lane->device->parent ? lane->device->index : 0;
    lane->engines = (((uint32_t)1 << count) - 1) << first;
    lane->home = (uint32_t)1 << (first + (tile + index) % count);
    return SG_ENGINES;
}

ze_result_t sg_lane_open(sg_lane *lane, sg_device *device, uint32_t ordinal, uint32_t index,
                         sg_list *immediate) {
    sg_root *root = device->root;
    lane->device = device;
    lane->engine = ordinal == SG_COPY_ORDINAL ? SG_COPY_ENGINE : SG_COMPUTE_ENGINE;
    lane->immediate = immediate;
    pthread_mutex_init(&lane->lock, NULL);
    pthread_mutex_lock(&root->lock);
    ze_result_t result = sg_root_start(root, choose_engines(lane, index));
    if (result == ZE_RESULT_SUCCESS) {
        lane->next = root->lanes;
        root->lanes = lane;
    }
    pthread_mutex_unlock(&root->lock);
    if (result == ZE_RESULT_SUCCESS)
        sg_debug_count_queues(device, 1);
    return result;
}

/* It is idle. */
void sg_lane_close(sg_lane *lane) {
    sg_root *root = lane->device->root;
    pthread_mutex_lock(&root->lock);
    sg_lane **link = &root->lanes;
    while (*link != lane)
        link = &(*link)->next;
    *link = lane->next;
    if (root->turn == lane)
        root->turn = lane->next;
    pthread_mutex_unlock(&root->lock);
    sg_debug_count_queues(lane->device, -1);
    pthread_mutex_destroy(&lane->lock);
    free(lane->entries);
}

/* ---- waiting ------------------------------------------------------------------------------------------- */

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
