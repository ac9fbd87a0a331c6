/* How a watch debugs: by the debugger of this process, or by a helper process that is started here. */

#include "watch/client.h"

#include "base/compiler.h"
#include "base/diagnostics.h"
#include "base/platform.h"
#include "base/programs.h"
#include "base/shared.h"
#include "base/threads.h"
#include "base/writer.h"
#include "regions/profiler.h"
#include "watch/helper.h"
#include "watch/server.h"
#include "watch/watch.h"

#ifdef ZETOOLS_DEBUG

/* ---- requests to the helper ---------------------------------------------------------------------------- */

#ifndef _WIN32

enum { ZT__WATCH_LOOK_MS = 50 }; /* how often a wait looks whether the watch is to end */

/* Waits for an answer of the helper until the deadline, or until the watch is to end. Returns 0 if there is
   none. */
static int zt__await_answer(zt__watch *watch, uint64_t deadline) {
    struct pollfd readable = {watch->socket, POLLIN, 0};
    ssize_t size;
    for (;;) {
        int ready = poll(&readable, 1, ZT__WATCH_LOOK_MS);
        if (ready > 0) {
            break;
        }
        if ((ready < 0 && errno != EINTR) || zt__is_ending(watch) || zt__now_ns() >= deadline) {
            return 0;
        }
    }
    size = recv(watch->socket, &watch->answer, sizeof watch->answer, MSG_DONTWAIT);
    return size >= (ssize_t)offsetof(zt__watch_answer, places) &&
           watch->answer.place_count <= ZT_MAX_PLACES && (size_t)size == zt__answer_size(&watch->answer);
}

/* Closes the connection. The helper then resumes what is stopped, and ends. One that does not end is killed:
   while its end of the socket is open, no other process has its number. */
static void zt__dismiss_helper(zt__watch *watch) {
    enum { LONGEST_NS = 1000000000 };
    uint64_t deadline = zt__deadline(LONGEST_NS);
    ssize_t size = 1;
    if (watch->socket < 0) {
        return;
    }
    shutdown(watch->socket, SHUT_WR);
    while (size != 0 && zt__now_ns() < deadline) {
        struct pollfd readable = {watch->socket, POLLIN, 0};
        if (poll(&readable, 1, ZT__WATCH_LOOK_MS) > 0) {
            size = recv(watch->socket, &watch->answer, sizeof watch->answer, MSG_DONTWAIT);
            size = size < 0 && errno != EAGAIN && errno != EINTR ? 0 : size;
        }
    }
    if (size != 0 && watch->helper > 1) {
        kill((pid_t)watch->helper, SIGKILL);
    }
    close(watch->socket);
    watch->socket = -1;
    watch->helper = 0;
}

/* Starts a helper, which inherits its end of the socket as ZT__HELPER_DESCRIPTOR. Variables that would
   preload libraries or start tracing are left out of its environment. Returns 0 if that fails. */
static int zt__spawn_helper(zt__helper_command *command, int end, pid_t *process) {
    static const char *const left_out[] = {"LD_PRELOAD=", "ZT_AUTO=", ZT__HELPER_VARIABLE "="};
    char variable[64];
    char **environment;
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    uint32_t i, j, count = 0, used = 0;
    int failed;
    while (environ[count]) {
        count++;
    }
    environment = (char **)calloc(count + 2, sizeof *environment);
    if (!environment) {
        return 0;
    }
    for (i = 0; i < count; i++) {
        j = 0;
        while (j < ZT__COUNT_OF(left_out) && strncmp(environ[i], left_out[j], strlen(left_out[j])) != 0) {
            j++;
        }
        if (j == ZT__COUNT_OF(left_out)) {
            environment[used++] = environ[i];
        }
    }
    snprintf(variable, sizeof variable, ZT__HELPER_VARIABLE "=%ld", zt__get_process_id());
    environment[used] = variable;
    failed = posix_spawn_file_actions_init(&actions) != 0;
    if (!failed) {
        failed = posix_spawnattr_init(&attributes) != 0;
        if (!failed) {
            failed = !zt__unblock_signals(&attributes);
            failed |= posix_spawn_file_actions_adddup2(&actions, end, ZT__HELPER_DESCRIPTOR) != 0;
            for (i = 0; i <= STDERR_FILENO; i++) {
                failed |= posix_spawn_file_actions_addopen(&actions, (int)i, "/dev/null", O_RDWR, 0) != 0;
            }
            failed = failed || posix_spawn(process, command->program, &actions, &attributes,
                                           (char *const *)(uintptr_t)command->arguments, environment) != 0;
            posix_spawnattr_destroy(&attributes);
        }
        posix_spawn_file_actions_destroy(&actions);
    }
    free(environment);
    return !failed;
}

/* Starts a helper, and waits until it answers. Returns NULL, or why there is none. */
static const char *zt__start_helper(zt__watch *watch, uint64_t deadline) {
    enum { LEAST = ZT__HELPER_DESCRIPTOR + 1, CHILD_NS = 2000000000 };
    zt__helper_command *command = (zt__helper_command *)calloc(1, sizeof *command);
    int ends[2] = {-1, -1}, end = -1, started = 0;
    const char *failure = "no process could be started";
    pid_t child = 0;
    if (!command) {
        failure = "out of memory";
    } else if (zt__has_extra_rights()) { /* a helper would have them, too, and not serve */
        failure = "this program has more rights than its user, and cannot be started as one";
    } else if (zt__get_variable(ZT__HELPER_VARIABLE)) {
        failure = "this process is one itself, or " ZT__HELPER_VARIABLE " is set by accident";
    } else if (!zt__find_helper(command)) {
        failure = "the file that it would be started from is not known";
    } else if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) == 0) {
        end = fcntl(ends[1], F_DUPFD_CLOEXEC, LEAST); /* above ZT__HELPER_DESCRIPTOR */
        close(ends[1]);
        started = end >= 0 && zt__spawn_helper(command, end, &child);
    }
    free(command);
    if (end >= 0) {
        close(end);
    }
    if (started) {
        zt__await_child(child, zt__deadline(CHILD_NS)); /* it forks the helper, and ends */
        watch->socket = ends[0];
        if (zt__await_answer(watch, deadline)) {
            watch->helper = (long)watch->answer.process;
            return NULL;
        }
        zt__dismiss_helper(watch);
        return "it did not answer. A library that needs symbols of the program cannot be loaded without it";
    }
    if (ends[0] >= 0) {
        close(ends[0]);
    }
    return failure;
}

/* Sends a request to the helper. Returns 0 if there is no answer before the deadline. */
static int zt__request_from_helper(zt__watch *watch, const zt__watch_request *request, uint64_t deadline) {
    return send(watch->socket, request, sizeof *request, MSG_NOSIGNAL) == (ssize_t)sizeof *request &&
           zt__await_answer(watch, deadline);
}

#else

static int zt__request_from_helper(zt__watch *watch, const zt__watch_request *request, uint64_t deadline) {
    (void)watch, (void)request, (void)deadline;
    return 0;
}

static void zt__dismiss_helper(zt__watch *watch) {
    (void)watch;
}

static const char *zt__start_helper(zt__watch *watch, uint64_t deadline) {
    (void)watch, (void)deadline;
    return "not on this system";
}
#endif

ZT__PRIVATE int zt__request_answer(zt__watch *watch, const zt__watch_request *request, uint64_t timeout_ns) {
    if (watch->socket >= 0) {
        return zt__request_from_helper(watch, request, zt__deadline(timeout_ns));
    }
    zt__serve_watch(&watch->server, request, &watch->answer);
    while (zt__load(&watch->thread.is_abandoned)) { /* it hung at exit, and sleeps until the end */
        zt__store(&watch->is_explaining, 0);
        zt__sleep(1000000000);
    }
    return 1;
}

ZT__PRIVATE void zt__begin_debugging(zt__watch *watch) {
    enum { HELPER_S = 10 };
    const uint64_t timeout_ns = HELPER_S * UINT64_C(1000000000);
    zt_profiler *profiler = watch->profiler;
    zt_debugged_by by = ZT_DEBUGGED_BY_NOBODY;
    ze_device_properties_t properties;
    zt__watch_request request;
    const char *failure = "config.no_helper is set";
    char reason[512] = "";
    memset(&request, 0, sizeof request);
    request.call = ZT__WATCH_ATTACH;
    request.process = (uint32_t)zt__get_process_id();
    zt__request_answer(watch, &request, 0);
    if (watch->answer.result == ZE_RESULT_SUCCESS) {
        by = ZT_DEBUGGED_BY_ITSELF;
    } else {
        snprintf(reason, sizeof reason, "%.300s", watch->answer.reason);
    }
    if (watch->answer.result == ZE_RESULT_ERROR_UNSUPPORTED_FEATURE ||
        watch->answer.result == ZE_RESULT_ERROR_DEPENDENCY_UNAVAILABLE) {
        failure = "would find the same";
    } else if (by == ZT_DEBUGGED_BY_NOBODY && !watch->config.no_helper && !zt__is_ending(watch)) {
        failure = zt__start_helper(watch, zt__deadline(timeout_ns));
        if (!failure) {
            memset(&properties, 0, sizeof properties);
            properties.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES;
            ZT__INTERNAL(zeDeviceGetProperties(profiler->device, &properties));
            memcpy(request.device, properties.uuid.id, sizeof request.device);
            if (zt__request_answer(watch, &request, timeout_ns)) {
                by = watch->answer.result == ZE_RESULT_SUCCESS ? ZT_DEBUGGED_BY_HELPER : by;
                failure = watch->answer.reason;
            } else {
                failure = "it did not answer in time";
            }
        }
    }
    if (by == ZT_DEBUGGED_BY_NOBODY) {
        failure = zt__is_ending(watch) ? zt__watch_stopped : failure;
        zt__append(reason, sizeof reason, " A helper process: %.180s.", failure);
        zt__dismiss_helper(watch);
        zt__report(&profiler->diagnostics, NOT_DEBUGGED, ZE_RESULT_ERROR_NOT_AVAILABLE, reason);
    }
    zt__lock(&profiler->mutex);
    watch->info.debugged_by = by;
    memcpy(watch->info.reason, reason, sizeof reason);
    zt__unlock(&profiler->mutex);
}

ZT__PRIVATE void zt__end_debugging(zt__watch *watch, const char *reason) {
    zt_profiler *profiler = watch->profiler;
    char copy[sizeof watch->info.reason]; /* `reason` may be in the answer, which is overwritten */
    snprintf(copy, sizeof copy, "%s", reason);
    zt_debug_close(watch->server.debugger);
    watch->server.debugger = NULL;
    zt__dismiss_helper(watch);
    zt__lock(&profiler->mutex);
    watch->info.debugged_by = ZT_DEBUGGED_BY_NOBODY;
    watch->info.is_stopped = 0;
    memcpy(watch->info.reason, copy, sizeof copy);
    zt__unlock(&profiler->mutex);
}

#endif
