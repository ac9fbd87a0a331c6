/* The engines: threads that execute the commands of a root device and its sub-devices. */
#include "work.h"

#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

/* ---- waking them --------------------------------------------------------------------------------------- */

void sg_root_ring(sg_root *root) {
    atomic_fetch_add(&root->rings, 1);
    if (!atomic_load(&root->asleep))
        return;
    pthread_mutex_lock(&root->bell_lock);
    pthread_cond_broadcast(&root->bell);
    pthread_mutex_unlock(&root->bell_lock);
}

void sg_ring_all(void) {
    for (uint32_t i = 0; i < SG_MAX_DEVICES; ++i)
        if (atomic_load_explicit(&sg_root_at(i)->started, memory_order_relaxed))
            sg_root_ring(sg_root_at(i));
}

static void sleep_until_rung(sg_root *root, uint64_t rings) {
    pthread_mutex_lock(&root->bell_lock);
    atomic_fetch_add(&root->asleep, 1);
    while (atomic_load(&root->rings) == rings)
        pthread_cond_wait(&root->bell, &root->bell_lock);
    atomic_fetch_sub(&root->asleep, 1);
    pthread_mutex_unlock(&root->bell_lock);
}

/* ---- pausing them -------------------------------------------------------------------------------------- */

/* A forked child has none of its parent's threads. */
static bool is_started(const sg_root *root) {
    return atomic_load(&root->started) && root->process == getpid();
}

/* Kernels are not waited for unless everything has to stand still: one may run until another starts. */
static void pause_root(sg_root *root, const uint32_t *running) {
    pthread_mutex_lock(&root->pause_lock);
    pthread_mutex_lock(&root->lock);
    root->is_paused = true;
    while (is_started(root) && *running)
        pthread_cond_wait(&root->finished, &root->lock);
    pthread_mutex_unlock(&root->lock);
}

static void resume_root(sg_root *root) {
    pthread_mutex_lock(&root->lock);
    root->is_paused = false;
    pthread_mutex_unlock(&root->lock);
    sg_root_ring(root);
    pthread_mutex_unlock(&root->pause_lock);
}

void sg_device_pause(sg_device *device) {
    pause_root(device->root, &device->root->holding);
}

void sg_device_resume(sg_device *device) {
    resume_root(device->root);
}

/* What is signalled is signalled under the lock. */
void sg_device_settle(sg_device *device) {
    pthread_mutex_lock(&device->root->lock);
    pthread_mutex_unlock(&device->root->lock);
}

void sg_drop_all_work(void) {
    for (uint32_t i = 0; i < SG_MAX_DEVICES; ++i) {
        sg_root *root = sg_root_at(i);
        if (!atomic_load(&root->started))
            continue;
        pause_root(root, &root->executing);
        pthread_mutex_lock(&root->lock);
        for (sg_lane *lane = root->lanes; lane; lane = lane->next)
            sg_lane_drop(lane);
        pthread_mutex_unlock(&root->lock);
        resume_root(root);
    }
}

/* ---- commands ------------------------------------------------------------------------------------------ */

static bool event_is_there(const sg_event_use *use) {
    return sg_object_is(&use->event->object, use->serial);
}

static void note_gone_events(const sg_command *command) {
    bool gone = command->signal.event && !event_is_there(&command->signal);
    for (uint32_t i = 0; i < command->wait_count; ++i)
        gone = gone || !event_is_there(&command->waits[i]);
    if (gone)
        sg_finding("a command uses an EVENT that was destroyed");
}

static sg_execution begin(sg_lane *lane, sg_flight *flight) {
    sg_root *root = lane->device->root;
    sg_execution execution = {.device = lane->device,
                              .list = flight->list,
                              .immediate = lane->immediate && !flight->command->recorded,
                              .engine = lane->engine};
    flight->is_started = true;
    root->executing++;
    root->holding += !flight->command->is_kernel;
    note_gone_events(flight->command);
    sg_busy_begin(&execution);
    if (flight->command->signal.event && event_is_there(&flight->command->signal))
        sg_event_start(flight->command->signal.event, execution.start);
    return execution;
}

/* A kernel is on all tiles: one that did nothing of it was there for the whole. */
static void signal_event(sg_event *event, const sg_execution *execution, bool is_kernel) {
    uint32_t tiles = execution->device->parent || !is_kernel ? 0 : sg_sub_device_count();
    sg_interval times[1 + SG_MAX_SUB_DEVICES] = {{execution->start, execution->end}};
    for (uint32_t i = 0; i < tiles; ++i)
        times[1 + i] = execution->tiles[i].end ? execution->tiles[i] : times[0];
    sg_event_signal(event, times, tiles);
}

static void finish_flight(sg_lane *lane, sg_flight *flight, const sg_execution *execution) {
    const sg_command *command = flight->command;
    bool signals = command->signal.event && event_is_there(&command->signal);
    bool is_counted = signals && command->signal.event->is_counter_based;
    if (signals)
        signal_event(command->signal.event, execution, command->is_kernel);
    sg_lane_finish(lane, flight);
    if (is_counted)
        sg_ring_all();
}

static void finish(sg_lane *lane, sg_flight *flight, sg_execution *execution) {
    sg_root *root = lane->device->root;
    uint64_t now = sg_busy_end(execution);
    bool is_kernel = flight->command->is_kernel;
    if (!execution->end)
        execution->end = now;
    sg_count(sg_tile_for(lane->device, 0), SG_COMMANDS, 1);
    if (atomic_load_explicit(&root->watchers, memory_order_relaxed) > 0)
        sg_publish_thread_counters();
    if (!execution->has_failed)
        finish_flight(lane, flight, execution);
    root->executing--;
    root->holding -= !is_kernel;
    if (root->is_paused)
        pthread_cond_broadcast(&root->finished);
    if (atomic_load_explicit(&root->is_concurrent, memory_order_relaxed))
        sg_root_ring(root);
}

/* Executes one command, if there is one that may start. The root's lock is held, but for the command. */
static bool serve(const sg_engine_thread *engine) {
    sg_root *root = engine->root;
    sg_lane *lane = NULL;
    bool stands_still = root->is_paused || sg_is_lost();
    sg_flight *flight = stands_still ? NULL : sg_next_flight(root, engine->bit, &lane);
    if (!flight)
        return false;
    sg_execution execution = begin(lane, flight);
    const sg_command *command = flight->command;
    pthread_mutex_unlock(&root->lock);
    if (command->run)
        command->run(&execution, command->argument);
    pthread_mutex_lock(&root->lock);
    finish(lane, flight, &execution);
    return true;
}

/* ---- the threads --------------------------------------------------------------------------------------- */

static void *engine_thread(void *argument) {
    sg_engine_thread *engine = argument;
    sg_root *root = engine->root;
    sg_own_engine = engine;
    pthread_getcpuclockid(pthread_self(), &engine->cpu_clock);
    atomic_store_explicit(&engine->cpu_clock_is_set, true, memory_order_release);
    for (;;) {
        uint64_t rings = atomic_load(&root->rings); /* first, so that no ring after the question is missed */
        if (atomic_load(&root->stopping))
            return NULL;
        pthread_mutex_lock(&root->lock);
        bool worked = serve(engine);
        pthread_mutex_unlock(&root->lock);
        if (!worked)
            sleep_until_rung(root, rings);
    }
}

bool sg_thread_start(pthread_t *thread, void *(*function)(void *), void *argument) {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int failed = pthread_create(thread, NULL, function, argument);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return !failed;
}

static bool start_engine(sg_root *root, uint32_t index) {
    sg_engine_thread *engine = &root->engines[index];
    engine->root = root;
    engine->bit = (uint32_t)1 << index;
    sg_engine_prepare_sampling(engine);
    atomic_store(&engine->stop.state, SG_OUTSIDE);
    atomic_store(&engine->stop.is_asked, false);
    return sg_thread_start(&engine->thread, engine_thread, engine);
}

ze_result_t sg_root_start(sg_root *root, uint32_t engines) {
    if (!is_started(root)) {
        atomic_store(&root->engine_count, 0);
        root->executing = root->holding = 0;
        root->process = getpid();
    }
    uint32_t running = atomic_load(&root->engine_count);
    if (engines > 1)
        atomic_store(&root->is_concurrent, true);
    while (running < engines && start_engine(root, running))
        atomic_store(&root->engine_count, ++running);
    atomic_store(&root->started, running > 0);
    return running >= engines ? ZE_RESULT_SUCCESS : ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
}

void sg_root_stop(sg_root *root) {
    if (!is_started(root))
        return;
    atomic_store(&root->stopping, true);
    sg_root_ring(root);
    for (uint32_t i = 0; i < atomic_load(&root->engine_count); ++i)
        pthread_join(root->engines[i].thread, NULL);
    atomic_store(&root->started, false);
}

bool sg_is_stopping(const sg_device *device) {
    return atomic_load_explicit(&device->root->stopping, memory_order_relaxed);
}
