/* Program debug: the process that is debugged. */
#define _GNU_SOURCE /* dlinfo */
#define _FILE_OFFSET_BITS                                                                                    \
    64 /* on machines of 32 bits too, where any address is an offset in /proc/self/mem */
#include "stop.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

/* Threads that a tool wants to be stopped, and hears of when each is, or cannot be. */
typedef struct interruption {
    ze_device_thread_t threads; /* UINT32_MAX in a member: all */
    uint32_t stopped_before;    /* a bit for each engine */
} interruption;

enum {
    MOST_INTERRUPTIONS = 16,
    PAUSE = 50000000 /* nanoseconds */
};

/* A device or sub-device that a tool is attached to. */
typedef struct target {
    sg_device *device;          /* NULL: nobody is attached */
    uint64_t session;           /* its number */
    int events;                 /* the end that is written */
    bool has_queues;            /* as the tool knows it */
    zet_debug_event_t *backlog; /* what does not fit into the socket */
    size_t waiting, capacity;
    uint32_t interruption_count;
    interruption interruptions[MOST_INTERRUPTIONS];
    zet_debug_event_t late; /* an answer that is sent after the next one, */
    bool has_late;          /* if there is one */
} target;

enum { TARGETS_OF_ROOT = 1 + SG_MAX_SUB_DEVICES, TARGETS = SG_MAX_DEVICES * TARGETS_OF_ROOT };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of all that follows */
static target targets[TARGETS];                          /* a root device's, then its sub-devices' */

static uint32_t attached; /* tools */
static bool is_unloaded;  /* nobody attaches any longer */

static target *targets_of(const sg_root *root) {
    return &targets[root->device->index * TARGETS_OF_ROOT];
}

/* In sg_code.holders. */
static uint32_t bit_of(const target *of) {
    return (uint32_t)1 << (of - targets) % TARGETS_OF_ROOT;
}

static sg_device *device_of(const sg_debug_request *request) {
    sg_device *root = sg_device_at(request->device);
    return !root || request->sub_device == SG_ROOT_DEVICE ? root
                                                          : sg_sub_device_at(root, request->sub_device);
}

static target *target_of(const sg_device *device) {
    return device ? &targets_of(device->root)[device->parent ? 1 + device->index : 0] : NULL;
}

/* ---- events ---------------------------------------------------------------------------------------------- */

static bool send_now(const target *to, const zet_debug_event_t *event) {
    return send(to->events, event, sizeof *event, MSG_DONTWAIT | MSG_NOSIGNAL) == (ssize_t)sizeof *event;
}

/* The tool asks for more when it has read all that fits. */
static void send_backlog(target *to) {
    size_t sent = 0;
    while (sent < to->waiting && send_now(to, &to->backlog[sent]))
        sent++;
    to->waiting -= sent;
    if (sent)
        memmove(to->backlog, to->backlog + sent, to->waiting * sizeof *to->backlog);
}

static void send_event(target *to, const zet_debug_event_t *event) {
    if (sg_behaves(SOFTGPU_DEBUG_EVENTS_LOST))
        return;
    send_backlog(to);
    if (!to->waiting && send_now(to, event))
        return;
    if (to->waiting == to->capacity) {
        size_t capacity = to->capacity ? 2 * to->capacity : 64;
        zet_debug_event_t *grown = realloc(to->backlog, capacity * sizeof *grown);
        if (!grown)
            return;
        to->backlog = grown;
        to->capacity = capacity;
    }
    to->backlog[to->waiting++] = *event;
}

/* ---- queues ---------------------------------------------------------------------------------------------- */

static bool has_queues(const sg_device *device) {
    const sg_root *root = device->root;
    uint32_t count = atomic_load(&device->queues);
    if (device->parent)
        count += atomic_load(&root->device->queues);
    for (uint32_t i = 0; i < SG_MAX_SUB_DEVICES && !device->parent; ++i)
        count += atomic_load(&root->sub_devices[i]->queues);
    return count > 0;
}

static void note_queues(target *of) {
    bool now = has_queues(of->device);
    if (now != of->has_queues)
        send_event(of, &(zet_debug_event_t){.type = now ? ZET_DEBUG_EVENT_TYPE_PROCESS_ENTRY
                                                        : ZET_DEBUG_EVENT_TYPE_PROCESS_EXIT});
    of->has_queues = now;
}

void sg_debug_count_queues(sg_device *device, int change) {
    pthread_mutex_lock(&lock);
    atomic_fetch_add(&device->queues, (uint32_t)change);
    for (uint32_t i = 0; i < TARGETS_OF_ROOT; ++i)
        if (targets_of(device->root)[i].device)
            note_queues(&targets_of(device->root)[i]);
    pthread_mutex_unlock(&lock);
}

/* ---- modules --------------------------------------------------------------------------------------------- */

/* A module in memory is its binary; it is loaded where the dynamic linker put it. What the structure has
   between its members differs from event to event. */
static zet_debug_event_t module_event(const sg_code *code, zet_debug_event_type_t type) {
    const struct link_map *map = NULL;
    zet_debug_event_t event = {.type = type};
    memset(&event.info, (int)type, sizeof event.info);
    event.info.module.format = ZET_MODULE_DEBUG_INFO_FORMAT_ELF_DWARF;
    event.info.module.moduleBegin = (uintptr_t)code->binary;
    event.info.module.moduleEnd = (uintptr_t)code->binary + code->size;
    event.info.module.load = 0;
    if (!dlinfo(code->library, RTLD_DI_LINKMAP, &map))
        event.info.module.load = map->l_addr;
    return event;
}

void sg_debug_module_created(const sg_module *module) {
    sg_code *code = module->code;
    const sg_root *root = module->device->root;
    pthread_mutex_lock(&lock);
    bool is_first = code->modules[root->device->index]++ == 0;
    for (uint32_t i = 0; i < TARGETS_OF_ROOT && is_first; ++i) {
        target *to = &targets_of(root)[i];
        if (!to->device)
            continue;
        zet_debug_event_t event = module_event(code, ZET_DEBUG_EVENT_TYPE_MODULE_LOAD);
        event.flags = ZET_DEBUG_EVENT_FLAG_NEED_ACK;
        atomic_fetch_or(&code->holders[root->device->index], bit_of(to));
        send_event(to, &event);
    }
    pthread_mutex_unlock(&lock);
}

void sg_debug_module_destroyed(const sg_module *module) {
    sg_code *code = module->code;
    const sg_root *root = module->device->root;
    pthread_mutex_lock(&lock);
    bool is_last = --code->modules[root->device->index] == 0;
    for (uint32_t i = 0; i < TARGETS_OF_ROOT && is_last; ++i) {
        zet_debug_event_t event = module_event(code, ZET_DEBUG_EVENT_TYPE_MODULE_UNLOAD);
        if (targets_of(root)[i].device)
            send_event(&targets_of(root)[i], &event);
    }
    pthread_mutex_unlock(&lock);
}

/* Of code that runs already: there is nothing to hold back. */
static void send_load(sg_code *code, void *argument) {
    target *to = argument;
    zet_debug_event_t event = module_event(code, ZET_DEBUG_EVENT_TYPE_MODULE_LOAD);
    if (code->modules[to->device->root->device->index])
        send_event(to, &event);
}

typedef struct release {
    const target *of;
    const zet_debug_event_t *event; /* NULL: all that it holds back */
    bool is_any;
} release;

static void release_code(sg_code *code, void *argument) {
    release *what = argument;
    zet_debug_event_t own = module_event(code, ZET_DEBUG_EVENT_TYPE_MODULE_LOAD);
    if (what->event && (own.info.module.moduleBegin != what->event->info.module.moduleBegin ||
                        own.info.module.moduleEnd != what->event->info.module.moduleEnd ||
                        own.info.module.load != what->event->info.module.load))
        return;
    uint32_t bit = bit_of(what->of);
    what->is_any |=
        (atomic_fetch_and(&code->holders[what->of->device->root->device->index], ~bit) & bit) != 0;
}

/* ---- threads --------------------------------------------------------------------------------------------- */

static const ze_device_thread_t all_threads = {UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX};

/* The engines that compute and have a thread. */
static uint32_t engine_count(const sg_root *root) {
    uint32_t count = atomic_load(&root->engine_count);
    bool is_started = atomic_load(&root->started) && root->process == getpid();
    return !is_started ? 0 : count < SG_COMPUTE_ENGINES ? count : SG_COMPUTE_ENGINES;
}

static sg_stop_state state_of(const sg_engine_thread *engine) {
    return atomic_load(&engine->stop.state);
}

static bool is_in(uint32_t number, uint32_t numbers) {
    return numbers == UINT32_MAX || number == numbers;
}

static bool matches(ze_device_thread_t threads, uint32_t slice, uint32_t eu) {
    return is_in(slice, threads.slice) && is_in(0, threads.subslice) && is_in(eu, threads.eu) &&
           is_in(0, threads.thread);
}

/* Is the engine in a kernel, and one of these threads? */
static bool is_one_of(const target *of, ze_device_thread_t threads, uint32_t eu, sg_stop_state state) {
    const sg_engine_thread *engine = &of->device->root->engines[eu];
    const sg_device *tile = state >= SG_IN_KERNEL ? atomic_load(&engine->stop.tile) : NULL;
    if (!tile || (of->device->parent && tile != of->device))
        return false;
    return matches(threads, !of->device->parent && tile->parent ? tile->index : 0, eu);
}

static bool is_stopped(const target *of, ze_device_thread_t threads, uint32_t eu) {
    return eu < engine_count(of->device->root) && is_one_of(of, threads, eu, SG_STOPPED) &&
           state_of(&of->device->root->engines[eu]) == SG_STOPPED &&
           of->device->root->engines[eu].stop.is_wanted;
}

static bool are_there(const target *of, ze_device_thread_t threads) {
    return (threads.slice == UINT32_MAX || threads.slice < sg_slices_of(of->device)) &&
           (threads.subslice == UINT32_MAX || threads.subslice == 0) &&
           (threads.eu == UINT32_MAX || threads.eu < SG_EUS) &&
           (threads.thread == UINT32_MAX || threads.thread < SG_THREADS_PER_EU);
}

/* Are there such threads, and those of them that ever run not all stopped? */
static bool may_interrupt(const target *of, ze_device_thread_t threads) {
    bool any = false;
    for (uint32_t slice = 0; slice < sg_slices_of(of->device); ++slice)
        for (uint32_t eu = 0; eu < SG_COMPUTE_ENGINES; ++eu) {
            ze_device_thread_t one = {slice, 0, eu, 0};
            bool is_meant = matches(threads, slice, eu);
            if (is_meant && !is_stopped(of, one, eu))
                return true;
            any |= is_meant;
        }
    return !any && are_there(of, threads);
}

static void send_threads(target *to, zet_debug_event_type_t type, ze_device_thread_t threads) {
    zet_debug_event_t event = {.type = type};
    event.info.thread.thread = threads;
    send_event(to, &event);
}

static void answer(target *to, zet_debug_event_type_t type, ze_device_thread_t threads) {
    if (sg_behaves(SOFTGPU_DEBUG_FAULTS_AGAIN)) {
        zet_debug_event_t fault = {.type = ZET_DEBUG_EVENT_TYPE_PAGE_FAULT};
        fault.info.page_fault.address = 0x5000;
        send_event(to, &fault);
    }
    if (!to->has_late && sg_behaves(SOFTGPU_DEBUG_ANSWERS_LATE)) {
        to->late = (zet_debug_event_t){.type = type};
        to->late.info.thread.thread = threads;
        to->has_late = true;
        return;
    }
    send_threads(to, type, threads);
    if (to->has_late)
        send_event(to, &to->late);
    to->has_late = false;
}

static ze_result_t interrupt(target *of, ze_device_thread_t threads) {
    interruption *added = &of->interruptions[of->interruption_count];
    for (uint32_t i = 0; i < of->interruption_count; ++i)
        if (!memcmp(&of->interruptions[i].threads, &threads, sizeof threads))
            return ZE_RESULT_ERROR_NOT_AVAILABLE;
    if (of->interruption_count == MOST_INTERRUPTIONS || !may_interrupt(of, threads))
        return ZE_RESULT_ERROR_NOT_AVAILABLE;
    if (sg_behaves(SOFTGPU_DEBUG_THREADS_UNAVAILABLE)) {
        answer(of, ZET_DEBUG_EVENT_TYPE_THREAD_UNAVAILABLE, threads);
        return ZE_RESULT_SUCCESS;
    }
    *added = (interruption){.threads = threads};
    for (uint32_t eu = 0; eu < engine_count(of->device->root); ++eu)
        added->stopped_before |= (uint32_t)is_stopped(of, threads, eu) << eu;
    of->interruption_count++;
    sg_agent_wake();
    return ZE_RESULT_SUCCESS;
}

/* A thread that has stopped by a fault of which no tool has heard: the agent is awake, and step_faults comes.
 */
static bool has_new_fault(const sg_engine_thread *engine) {
    return engine->stop.is_fault && !engine->stop.is_wanted;
}

/* Asks the threads that run. Returns whether each has stopped, or cannot: the tool is told so. */
static bool is_settled(target *of, const interruption *what) {
    bool any_stopped = false, is_open = false;
    for (uint32_t eu = 0; eu < engine_count(of->device->root); ++eu) {
        sg_engine_thread *engine = &of->device->root->engines[eu];
        sg_stop_state state = state_of(engine);
        bool is_meant = is_one_of(of, what->threads, eu, state);
        if (state == SG_STOPPED && has_new_fault(engine)) {
            is_open = true;
        } else if (state == SG_STOPPED && is_meant && !(what->stopped_before >> eu & 1)) {
            engine->stop.is_wanted = true;
            any_stopped = true;
        } else if (state == SG_BETWEEN_GROUPS ? is_in(eu, what->threads.eu)
                                              : state == SG_IN_KERNEL && is_meant) {
            sg_stop_ask(engine);
            is_open = true;
        }
    }
    if (!is_open)
        answer(of,
               any_stopped ? ZET_DEBUG_EVENT_TYPE_THREAD_STOPPED : ZET_DEBUG_EVENT_TYPE_THREAD_UNAVAILABLE,
               what->threads);
    return !is_open;
}

static void step_interruptions(target *of) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < of->interruption_count; ++i)
        if (!is_settled(of, &of->interruptions[i]))
            of->interruptions[kept++] = of->interruptions[i];
    of->interruption_count = kept;
}

/* A tool hears of a fault, and of the thread that it has stopped. */
static void send_fault(target *to, const sg_engine_thread *engine) {
    const sg_device *tile = atomic_load(&engine->stop.tile);
    const uint32_t slice = !to->device->parent && tile->parent ? tile->index : 0;
    const uint64_t mask = ~(uint64_t)(sysconf(_SC_PAGESIZE) - 1);
    zet_debug_event_t event = {.type = ZET_DEBUG_EVENT_TYPE_PAGE_FAULT};
    event.info.page_fault.address = engine->stop.fault_address & mask;
    event.info.page_fault.mask = mask;
    event.info.page_fault.reason = engine->stop.reason;
    if (!sg_behaves(SOFTGPU_DEBUG_EXCEPTIONS))
        send_event(to, &event);
    send_threads(to, ZET_DEBUG_EVENT_TYPE_THREAD_STOPPED,
                 (ze_device_thread_t){slice, 0, (uint32_t)(engine - engine->root->engines), 0});
}

static void step_faults(sg_root *root) {
    for (uint32_t eu = 0; eu < engine_count(root); ++eu) {
        sg_engine_thread *engine = &root->engines[eu];
        if (state_of(engine) != SG_STOPPED || !has_new_fault(engine))
            continue;
        for (uint32_t i = 0; i < TARGETS_OF_ROOT && !engine->stop.is_wanted; ++i) {
            target *to = &targets_of(root)[i];
            engine->stop.is_wanted = to->device && is_one_of(to, all_threads, eu, SG_STOPPED);
            if (engine->stop.is_wanted)
                send_fault(to, engine);
        }
        if (!engine->stop.is_wanted)
            sg_stop_end(engine);
    }
}

/* Threads that have stopped although nobody wants it any longer, or are about to. */
static void resume_unwanted(const sg_root *root) {
    for (uint32_t eu = 0; eu < engine_count(root); ++eu) {
        sg_engine_thread *engine = &sg_root_at(root->device->index)->engines[eu];
        sg_stop_withdraw(engine);
        if (state_of(engine) == SG_STOPPED && !engine->stop.is_wanted && !engine->stop.is_fault)
            sg_stop_resume(engine);
    }
}

static void pause_agent(void) {
    nanosleep(&(struct timespec){.tv_nsec = PAUSE}, NULL);
}

static void step_root(sg_root *root, bool *again) {
    bool is_open = false;
    step_faults(root);
    if (sg_behaves(SOFTGPU_DEBUG_SLOW_AGENT))
        pause_agent();
    for (uint32_t i = 0; i < TARGETS_OF_ROOT; ++i) {
        target *of = &targets_of(root)[i];
        if (of->device)
            step_interruptions(of);
        is_open |= of->interruption_count > 0;
    }
    if (!is_open)
        resume_unwanted(root);
    *again |= is_open;
}

bool sg_target_step(void) {
    bool again = false;
    if (sg_behaves(SOFTGPU_DEBUG_SLOW_AGENT))
        pause_agent();
    pthread_mutex_lock(&lock);
    for (uint32_t i = 0; i < SG_MAX_DEVICES; ++i)
        if (sg_root_at(i)->device)
            step_root(sg_root_at(i), &again);
    pthread_mutex_unlock(&lock);
    return again;
}

static ze_result_t resume(target *of, ze_device_thread_t threads) {
    bool any = false;
    for (uint32_t eu = 0; eu < engine_count(of->device->root); ++eu)
        if (is_stopped(of, threads, eu)) {
            sg_stop_resume(&of->device->root->engines[eu]);
            any = true;
        }
    return any ? ZE_RESULT_SUCCESS : ZE_RESULT_ERROR_NOT_AVAILABLE;
}

/* What has stopped by a fault does not go on: nobody is there to see that again. */
static void release_threads(target *of) {
    for (uint32_t eu = 0; eu < engine_count(of->device->root); ++eu) {
        sg_engine_thread *engine = &of->device->root->engines[eu];
        if (is_stopped(of, all_threads, eu) && engine->stop.is_fault)
            sg_stop_end(engine);
        else if (is_stopped(of, all_threads, eu))
            sg_stop_resume(engine);
    }
}

/* ---- memory and registers -------------------------------------------------------------------------------- */

/* The one thread that is named, where it is stopped. */
static sg_engine_thread *find_stopped(const target *of, ze_device_thread_t thread) {
    if (sg_behaviour_is_on(SOFTGPU_DEBUG_MANY_THREADS) && are_there(of, thread))
        thread = (ze_device_thread_t){0, 0, 0, 0};
    bool is_one = thread.slice != UINT32_MAX && thread.subslice != UINT32_MAX &&
                  thread.eu < SG_COMPUTE_ENGINES && thread.thread != UINT32_MAX;
    return is_one && is_stopped(of, thread, thread.eu) ? &of->device->root->engines[thread.eu] : NULL;
}

/* Through the system, since an address may be any; so that code can be written too, for breakpoints. */
static bool access_default(uint64_t address, uint8_t *bytes, size_t size, bool is_write) {
    int file = open("/proc/self/mem", (is_write ? O_RDWR : O_RDONLY) | O_CLOEXEC);
    bool done = file >= 0;
    while (done && size) {
        ssize_t moved =
            is_write ? pwrite(file, bytes, size, (off_t)address) : pread(file, bytes, size, (off_t)address);
        done = moved > 0;
        if (done) {
            address += (size_t)moved;
            bytes += moved;
            size -= (size_t)moved;
        }
    }
    if (file >= 0)
        close(file);
    return done;
}

static bool access_local(const sg_engine_thread *engine, uint64_t address, uint8_t *bytes, size_t size,
                         bool is_write) {
    uint32_t used;
    const uint8_t *local = sg_stop_local(engine, &used);
    if (address > used || size > used - address)
        return false;
    return access_default((uintptr_t)local + address, bytes, size, is_write);
}

static ze_result_t access_memory(const target *of, const sg_debug_request *request, uint8_t *bytes,
                                 bool is_write) {
    const sg_engine_thread *engine = find_stopped(of, request->thread);
    const bool is_local = request->type == ZET_DEBUG_MEMORY_SPACE_TYPE_SLM;
    bool is_all = !memcmp(&request->thread, &all_threads, sizeof all_threads);
    if (!engine && (is_local || !is_all))
        return ZE_RESULT_ERROR_NOT_AVAILABLE;
    bool done = is_local ? access_local(engine, request->address, bytes, request->size, is_write)
                         : access_default(request->address, bytes, request->size, is_write);
    return done ? ZE_RESULT_SUCCESS : ZE_RESULT_ERROR_NOT_AVAILABLE;
}

/* How far behind the first one's instruction a thread's is, by DEBUG_MANY_THREADS and DEBUG_THREADS_IN_ORDER. */
static int32_t distance_of(ze_device_thread_t thread) {
    uint32_t number = thread.eu * SG_THREADS_PER_EU + thread.thread;
    int32_t group = 0;
    while (number > (uint32_t)group)
        number -= (uint32_t)++group;
    return group % 2 && !sg_behaviour_is_on(SOFTGPU_DEBUG_THREADS_IN_ORDER) ? group : -group;
}

static ze_result_t access_registers(const target *of, const sg_debug_request *request, uint8_t *values,
                                    bool is_write) {
    sg_engine_thread *engine = find_stopped(of, request->thread);
    if (!engine)
        return ZE_RESULT_ERROR_NOT_AVAILABLE;
    sg_registers_access(engine, request->type, request->start, request->count, values, is_write);
    if (request->type == SOFTGPU_CONTROL_REGISTERS && sg_behaviour_is_on(SOFTGPU_DEBUG_MANY_THREADS) &&
        !is_write) {
        int32_t address[4];
        memcpy(address, values, sizeof address);
        address[2] += distance_of(request->thread);
        memcpy(values, address, sizeof address);
    }
    return ZE_RESULT_SUCCESS;
}

/* ---- requests -------------------------------------------------------------------------------------------- */

/* A device and one of its sub-devices exclude each other. */
static bool is_taken(const sg_device *device) {
    const target *of = targets_of(device->root);
    bool taken = of[0].device || target_of(device)->device;
    for (uint32_t i = 1; i < TARGETS_OF_ROOT && !device->parent; ++i)
        taken |= of[i].device != NULL;
    return taken;
}

static ze_result_t attach(sg_device *device, uint64_t *session, int *events) {
    static uint64_t sessions;
    int ends[2];
    if (is_taken(device) || (device->parent && !sg_behaviour_is_on(SOFTGPU_DEBUG_SUB_DEVICES)))
        return ZE_RESULT_ERROR_NOT_AVAILABLE;
    if (!sg_agent_start() || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends))
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    target *to = target_of(device);
    *to = (target){.device = device, .session = ++sessions, .events = ends[0]};
    *session = to->session;
    atomic_fetch_add(&device->root->tools, 1);
    if (attached++ == 0)
        sg_stop_hold_faults();
    *events = ends[1];
    note_queues(to);
    sg_each_code(send_load, to);
    return ZE_RESULT_SUCCESS;
}

static void detach(target *from) {
    release all = {.of = from};
    sg_each_code(release_code, &all);
    release_threads(from);
    atomic_fetch_sub(&from->device->root->tools, 1);
    if (--attached == 0)
        sg_stop_release_faults();
    close(from->events);
    free(from->backlog);
    *from = (target){.device = NULL};
    sg_agent_wake(); /* a thread may be about to stop */
    sg_ring_all();
}

static ze_result_t acknowledge(target *of, const zet_debug_event_t *event) {
    release one = {.of = of, .event = event};
    if (event->type == ZET_DEBUG_EVENT_TYPE_MODULE_LOAD)
        sg_each_code(release_code, &one);
    if (!one.is_any)
        return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    sg_ring_all();
    return ZE_RESULT_SUCCESS;
}

static ze_result_t serve_attached(target *of, const sg_debug_request *request, uint8_t *bytes) {
    switch (request->call) {
    case SG_DEBUG_ATTACH:
        break;
    case SG_DEBUG_DETACH:
        detach(of);
        return ZE_RESULT_SUCCESS;
    case SG_DEBUG_SEND_BACKLOG:
        send_backlog(of);
        return ZE_RESULT_SUCCESS;
    case SG_DEBUG_ACKNOWLEDGE:
        return acknowledge(of, &request->event);
    case SG_DEBUG_INTERRUPT:
        return interrupt(of, request->thread);
    case SG_DEBUG_RESUME:
        return resume(of, request->thread);
    case SG_DEBUG_FIND_THREAD:
        return find_stopped(of, request->thread) ? ZE_RESULT_SUCCESS : ZE_RESULT_ERROR_NOT_AVAILABLE;
    case SG_DEBUG_READ_MEMORY:
    case SG_DEBUG_WRITE_MEMORY:
        return access_memory(of, request, bytes, request->call == SG_DEBUG_WRITE_MEMORY);
    case SG_DEBUG_READ_REGISTERS:
    case SG_DEBUG_WRITE_REGISTERS:
        return access_registers(of, request, bytes, request->call == SG_DEBUG_WRITE_REGISTERS);
    }
    return ZE_RESULT_ERROR_INVALID_ARGUMENT;
}

ze_result_t sg_debug_serve(sg_debug_request *request, int *events, uint8_t *bytes) {
    ze_result_t result = ZE_RESULT_ERROR_NOT_AVAILABLE;
    pthread_mutex_lock(&lock);
    sg_device *device = device_of(request);
    target *of = target_of(device);
    if (of && request->call == SG_DEBUG_ATTACH && !is_unloaded)
        result = attach(device, &request->session, events);
    else if (of && of->device && of->session == request->session)
        result = serve_attached(of, request, bytes);
    pthread_mutex_unlock(&lock);
    return result;
}

/* The sessions of a parent are the parent's. */
void sg_target_forked(void) {
    pthread_mutex_init(&lock, NULL);
    for (uint32_t i = 0; i < TARGETS; ++i)
        if (targets[i].device)
            close(targets[i].events);
    memset(targets, 0, sizeof targets);
    for (uint32_t i = 0; i < SG_MAX_DEVICES; ++i)
        atomic_store(&sg_root_at(i)->tools, 0);
    if (attached)
        sg_stop_release_faults();
    attached = 0;
}

/* ---- ends ------------------------------------------------------------------------------------------------ */

/* Those that can be stopped end; the others are left to end by themselves. */
static void end_kernels(void) {
    for (uint32_t i = 0; i < SG_MAX_DEVICES; ++i)
        for (uint32_t eu = 0; eu < engine_count(sg_root_at(i)); ++eu)
            if (&sg_root_at(i)->engines[eu] != sg_own_engine)
                sg_stop_kill(&sg_root_at(i)->engines[eu]);
}

void sg_debug_device_lost(void) {
    pthread_mutex_lock(&lock);
    for (uint32_t i = 0; i < TARGETS; ++i)
        if (targets[i].device) {
            zet_debug_event_t event = {.type = (zet_debug_event_type_t)SG_DEBUG_EVENT_LOST};
            send_event(&targets[i], &event);
            targets[i].interruption_count = 0;
            release_threads(&targets[i]);
        }
    pthread_mutex_unlock(&lock);
    end_kernels();
    sg_agent_wake();
}

void sg_debug_unload(void) {
    pthread_mutex_lock(&lock);
    is_unloaded = true;
    for (uint32_t i = 0; i < TARGETS; ++i)
        if (targets[i].device)
            detach(&targets[i]);
    pthread_mutex_unlock(&lock);
    end_kernels();
}

void softgpu_detach_debuggers(uint32_t reason) {
    zet_debug_event_t event = {.type = ZET_DEBUG_EVENT_TYPE_DETACHED};
    event.info.detached.reason = (zet_debug_detach_reason_t)reason;
    pthread_mutex_lock(&lock);
    for (uint32_t i = 0; i < TARGETS; ++i)
        if (targets[i].device) {
            send_event(&targets[i], &event);
            detach(&targets[i]);
        }
    pthread_mutex_unlock(&lock);
}
