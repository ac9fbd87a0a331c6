/* Program debug: the tool. */
#include "remote.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

typedef struct session {
    sg_object object;
    sg_debug_request of; /* what every request of it says: its device */
    pid_t process;
    bool is_own;            /* it is this process */
    _Atomic int events;     /* the end that is read; below 0: there is none yet */
    _Atomic int connection; /* to another process; below 0: that has no driver yet */
    pthread_mutex_t lock;   /* of the connection */
    _Atomic bool is_over;
} session;

SG_HANDLE(session_of, session, zet_debug_session_handle_t, SG_DEBUG_SESSION)

/* ---- attaching ------------------------------------------------------------------------------------------- */

/* A sub-device's code is that of its device, unless a test wants it otherwise. */
ze_result_t sg_zetDeviceGetDebugProperties(zet_device_handle_t handle,
                                           zet_device_debug_properties_t *properties) {
    const sg_device *device = sg_device_of(handle);
    SG_NEED_HANDLE(device);
    SG_NEED_POINTER(properties);
    bool can_attach = !sg_behaviour_is_on(SOFTGPU_DEBUG_UNSUPPORTED) &&
                      (!device->parent || sg_behaviour_is_on(SOFTGPU_DEBUG_SUB_DEVICES));
    properties->flags = can_attach ? ZET_DEVICE_DEBUG_PROPERTY_FLAG_ATTACH : 0;
    return ZE_RESULT_SUCCESS;
}

/* Whether another process lets itself be debugged shows when its driver is up. */
static ze_result_t check_attachment(uint32_t process) {
    bool is_own = process == (uint32_t)getpid();
    if (sg_behaviour_is_on(SOFTGPU_DEBUG_UNSUPPORTED) || (is_own && !sg_debug_is_enabled()))
        return ZE_RESULT_ERROR_UNSUPPORTED_FEATURE;
    if (!process || process > INT32_MAX || (kill((pid_t)process, 0) && errno == ESRCH))
        return ZE_RESULT_ERROR_INVALID_ARGUMENT; /* there is no such process */
    if (sg_behaviour_is_on(SOFTGPU_DEBUG_NO_PERMISSION) ||
        (is_own && sg_behaviour_is_on(SOFTGPU_DEBUG_NOT_ITSELF)))
        return ZE_RESULT_ERROR_INSUFFICIENT_PERMISSIONS;
    return ZE_RESULT_SUCCESS;
}

static ze_result_t connect_to_target(session *of) {
    int made = -1, events = -1;
    ze_result_t result = sg_remote_connect(of->process, &made);
    if (result == ZE_RESULT_SUCCESS)
        result = sg_remote_ask(made, &of->of, &events, NULL);
    if (result == ZE_RESULT_SUCCESS) {
        atomic_store(&of->events, events);
        atomic_store(&of->connection, made);
    } else if (made >= 0)
        close(made);
    return result;
}

/* The session is then one of the target, or waits for it. */
static ze_result_t begin(session *made) {
    int events = -1;
    made->of.call = SG_DEBUG_ATTACH;
    atomic_init(&made->connection, -1);
    if (!made->is_own) {
        atomic_init(&made->events, -1);
        ze_result_t result = connect_to_target(made);
        return result == ZE_RESULT_NOT_READY ? ZE_RESULT_SUCCESS : result;
    }
    ze_result_t result = sg_debug_serve(&made->of, &events, NULL);
    atomic_init(&made->events, events);
    return result;
}

ze_result_t sg_zetDebugAttach(zet_device_handle_t handle, const zet_debug_config_t *config,
                              zet_debug_session_handle_t *out_session) {
    sg_device *device = sg_device_of(handle);
    SG_NEED_HANDLE(device);
    SG_NEED_POINTER(config);
    SG_NEED_POINTER(out_session);
    ze_result_t result = check_attachment(config->pid);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    session *made = sg_object_create(SG_DEBUG_SESSION, sizeof *made, device);
    if (!made)
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    made->of.device = device->root->device->index;
    made->of.sub_device = device->parent ? device->index : SG_ROOT_DEVICE;
    made->process = (pid_t)config->pid;
    made->is_own = made->process == getpid();
    pthread_mutex_init(&made->lock, NULL);
    result = begin(made);
    if (result == ZE_RESULT_SUCCESS)
        *out_session = (zet_debug_session_handle_t)made;
    else
        sg_object_destroy(made);
    return result;
}

static ze_result_t ask(session *of, sg_debug_request *request, sg_debug_call call, uint8_t *bytes) {
    request->call = call;
    request->device = of->of.device;
    request->sub_device = of->of.sub_device;
    if (atomic_load(&of->is_over))
        return ZE_RESULT_ERROR_NOT_AVAILABLE;
    if (of->is_own) {
        request->session = of->of.session;
        return sg_debug_serve(request, NULL, bytes);
    }
    pthread_mutex_lock(&of->lock);
    ze_result_t result = ZE_RESULT_ERROR_NOT_AVAILABLE;
    if (of->connection >= 0 || connect_to_target(of) == ZE_RESULT_SUCCESS) {
        request->session = of->of.session;
        result = sg_remote_ask(of->connection, request, NULL, bytes);
    }
    pthread_mutex_unlock(&of->lock);
    return result;
}

ze_result_t sg_zetDebugDetach(zet_debug_session_handle_t handle) {
    session *of = session_of(handle);
    sg_debug_request request = {0};
    if (!of)
        return sg_object_refuse(handle, SG_DEBUG_SESSION);
    if (of->events >= 0) {
        ask(of, &request, SG_DEBUG_DETACH, NULL);
        close(of->events);
    }
    if (of->connection >= 0)
        close(of->connection);
    pthread_mutex_destroy(&of->lock);
    sg_object_destroy(of);
    return ZE_RESULT_SUCCESS;
}

/* ---- threads --------------------------------------------------------------------------------------------- */

ze_result_t sg_zetDebugInterrupt(zet_debug_session_handle_t handle, ze_device_thread_t thread) {
    session *of = session_of(handle);
    SG_NEED_HANDLE(of);
    sg_debug_request request = {.thread = thread};
    return ask(of, &request, SG_DEBUG_INTERRUPT, NULL);
}

ze_result_t sg_zetDebugResume(zet_debug_session_handle_t handle, ze_device_thread_t thread) {
    session *of = session_of(handle);
    SG_NEED_HANDLE(of);
    sg_debug_request request = {.thread = thread};
    return ask(of, &request, SG_DEBUG_RESUME, NULL);
}

/* ---- events ---------------------------------------------------------------------------------------------- */

/* The target's end is closed without a word: its process is gone. */
static ze_result_t note_end(session *of, zet_debug_event_t *event) {
    if (atomic_exchange(&of->is_over, true))
        return ZE_RESULT_NOT_READY;
    *event = (zet_debug_event_t){.type = ZET_DEBUG_EVENT_TYPE_DETACHED};
    event->info.detached.reason = ZET_DEBUG_DETACH_REASON_HOST_EXIT;
    return ZE_RESULT_SUCCESS;
}

static ze_result_t next_event(session *of, zet_debug_event_t *event) {
    zet_debug_event_t next;
    if (of->events < 0)
        return kill(of->process, 0) && errno == ESRCH ? note_end(of, event) : ZE_RESULT_NOT_READY;
    ssize_t size = recv(of->events, &next, sizeof next, MSG_DONTWAIT);
    if (size < 0 && (errno == EAGAIN || errno == EINTR))
        return sg_is_lost() ? ZE_RESULT_ERROR_DEVICE_LOST : ZE_RESULT_NOT_READY;
    if (size != (ssize_t)sizeof next)
        return note_end(of, event);
    if (next.type == (zet_debug_event_type_t)SG_DEBUG_EVENT_LOST)
        return ZE_RESULT_ERROR_DEVICE_LOST;
    if (next.type == ZET_DEBUG_EVENT_TYPE_DETACHED)
        atomic_store(&of->is_over, true);
    *event = next;
    return ZE_RESULT_SUCCESS;
}

/* Milliseconds for poll(), rounded up. */
static int milliseconds_until(uint64_t deadline) {
    enum { MOST = 1000000 };
    uint64_t now = sg_now();
    uint64_t left = now < deadline ? (deadline - now + 999999) / 1000000 : 0;
    return left < MOST ? (int)left : MOST;
}

ze_result_t sg_zetDebugReadEvent(zet_debug_session_handle_t handle, uint64_t timeout,
                                 zet_debug_event_t *event) {
    session *of = session_of(handle);
    SG_NEED_HANDLE(of);
    SG_NEED_POINTER(event);
    uint64_t now = sg_now();
    uint64_t deadline = timeout > (UINT64_MAX - now) / 1000000 ? UINT64_MAX : now + timeout * 1000000;
    for (;;) {
        sg_debug_request backlog = {0};
        ze_result_t result = next_event(of, event);
        if (result == ZE_RESULT_NOT_READY &&
            ask(of, &backlog, SG_DEBUG_SEND_BACKLOG, NULL) == ZE_RESULT_SUCCESS)
            result = next_event(of, event);
        if (result != ZE_RESULT_NOT_READY || sg_now() >= deadline || atomic_load(&of->is_over))
            return result;
        int wait = of->events < 0 ? 1 : milliseconds_until(deadline);
        poll(&(struct pollfd){.fd = of->events, .events = POLLIN}, 1, wait);
    }
}

ze_result_t sg_zetDebugAcknowledgeEvent(zet_debug_session_handle_t handle, const zet_debug_event_t *event) {
    session *of = session_of(handle);
    SG_NEED_HANDLE(of);
    SG_NEED_POINTER(event);
    sg_debug_request request = {.event = *event};
    return ask(of, &request, SG_DEBUG_ACKNOWLEDGE, NULL);
}

/* ---- memory and registers -------------------------------------------------------------------------------- */

static ze_result_t access_memory(zet_debug_session_handle_t handle, sg_debug_call call,
                                 ze_device_thread_t thread, const zet_debug_memory_space_desc_t *desc,
                                 size_t size, uint8_t *bytes) {
    session *of = session_of(handle);
    SG_NEED_HANDLE(of);
    SG_NEED_POINTER(desc);
    SG_NEED_POINTER(bytes);
    if (desc->type > ZET_DEBUG_MEMORY_SPACE_TYPE_SLM)
        return ZE_RESULT_ERROR_INVALID_ENUMERATION;
    ze_result_t result = ZE_RESULT_SUCCESS;
    size_t done = 0;
    do {
        size_t chunk = size - done < SG_DEBUG_CHUNK ? size - done : SG_DEBUG_CHUNK;
        sg_debug_request request = {
            .thread = thread, .type = desc->type, .address = desc->address + done, .size = chunk};
        result = ask(of, &request, call, bytes + done);
        done += chunk;
    } while (result == ZE_RESULT_SUCCESS && done < size);
    return result;
}

ze_result_t sg_zetDebugReadMemory(zet_debug_session_handle_t handle, ze_device_thread_t thread,
                                  const zet_debug_memory_space_desc_t *desc, size_t size, void *buffer) {
    return access_memory(handle, SG_DEBUG_READ_MEMORY, thread, desc, size, buffer);
}

/* The bytes are read alone. */
ze_result_t sg_zetDebugWriteMemory(zet_debug_session_handle_t handle, ze_device_thread_t thread,
                                   const zet_debug_memory_space_desc_t *desc, size_t size,
                                   const void *buffer) {
    return access_memory(handle, SG_DEBUG_WRITE_MEMORY, thread, desc, size, (uint8_t *)(uintptr_t)buffer);
}

static ze_result_t access_registers(zet_debug_session_handle_t handle, sg_debug_call call,
                                    ze_device_thread_t thread, uint32_t type, uint32_t start, uint32_t count,
                                    void *values) {
    session *of = session_of(handle);
    size_t bytes;
    SG_NEED_HANDLE(of);
    ze_result_t result = sg_registers_check(type, start, count, call == SG_DEBUG_WRITE_REGISTERS, &bytes);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    if (count)
        SG_NEED_POINTER(values);
    sg_debug_request request = {.thread = thread, .type = type, .start = start, .count = count};
    return ask(of, &request, call, values);
}

ze_result_t sg_zetDebugReadRegisters(zet_debug_session_handle_t handle, ze_device_thread_t thread,
                                     uint32_t type, uint32_t start, uint32_t count, void *values) {
    return access_registers(handle, SG_DEBUG_READ_REGISTERS, thread, type, start, count, values);
}

ze_result_t sg_zetDebugWriteRegisters(zet_debug_session_handle_t handle, ze_device_thread_t thread,
                                      uint32_t type, uint32_t start, uint32_t count, void *values) {
    return access_registers(handle, SG_DEBUG_WRITE_REGISTERS, thread, type, start, count, values);
}

/* All threads have the same registers. */
ze_result_t sg_zetDebugGetThreadRegisterSetProperties(zet_debug_session_handle_t handle,
                                                      ze_device_thread_t thread, uint32_t *count,
                                                      zet_debug_regset_properties_t *properties) {
    session *of = session_of(handle);
    SG_NEED_HANDLE(of);
    SG_NEED_POINTER(count);
    sg_debug_request request = {.thread = thread};
    ze_result_t result = ask(of, &request, SG_DEBUG_FIND_THREAD, NULL);
    return result != ZE_RESULT_SUCCESS ? result
                                       : sg_zetDebugGetRegisterSetProperties(
                                             (zet_device_handle_t)of->object.parent, count, properties);
}
