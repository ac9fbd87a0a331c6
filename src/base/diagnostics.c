/* All messages: their texts (in the .h), the log and the last error; names of results and causes. */

#include "base/diagnostics.h"

#include "base/compiler.h"
#include "base/map.h"
#include "base/platform.h"
#include "base/shared.h"

/* ---- names of results and causes ------------------------------------------------------------------------- */

#define ZT__CASE(name)                                                                                       \
    case name:                                                                                               \
        return #name
/* Results that older headers lack. */
#define ZT__CASE_NEWER(name, value)                                                                          \
    case value:                                                                                              \
        return #name
ZT_API const char *zt_result_name(ze_result_t result) {
    switch ((uint32_t)result) {
        ZT__CASE(ZE_RESULT_SUCCESS);
        ZT__CASE(ZE_RESULT_NOT_READY);
        ZT__CASE(ZE_RESULT_ERROR_DEVICE_LOST);
        ZT__CASE(ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY);
        ZT__CASE(ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY);
        ZT__CASE(ZE_RESULT_ERROR_MODULE_BUILD_FAILURE);
        ZT__CASE(ZE_RESULT_ERROR_MODULE_LINK_FAILURE);
        ZT__CASE(ZE_RESULT_ERROR_DEVICE_REQUIRES_RESET);
        ZT__CASE(ZE_RESULT_ERROR_DEVICE_IN_LOW_POWER_STATE);
        ZT__CASE(ZE_RESULT_ERROR_INSUFFICIENT_PERMISSIONS);
        ZT__CASE(ZE_RESULT_ERROR_NOT_AVAILABLE);
        ZT__CASE(ZE_RESULT_ERROR_DEPENDENCY_UNAVAILABLE);
        ZT__CASE(ZE_RESULT_WARNING_DROPPED_DATA);
        ZT__CASE(ZE_RESULT_ERROR_UNINITIALIZED);
        ZT__CASE(ZE_RESULT_ERROR_UNSUPPORTED_VERSION);
        ZT__CASE(ZE_RESULT_ERROR_UNSUPPORTED_FEATURE);
        ZT__CASE(ZE_RESULT_ERROR_INVALID_ARGUMENT);
        ZT__CASE(ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
        ZT__CASE(ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE);
        ZT__CASE(ZE_RESULT_ERROR_INVALID_NULL_POINTER);
        ZT__CASE(ZE_RESULT_ERROR_INVALID_SIZE);
        ZT__CASE(ZE_RESULT_ERROR_UNSUPPORTED_SIZE);
        ZT__CASE(ZE_RESULT_ERROR_UNSUPPORTED_ALIGNMENT);
        ZT__CASE(ZE_RESULT_ERROR_INVALID_SYNCHRONIZATION_OBJECT);
        ZT__CASE(ZE_RESULT_ERROR_INVALID_ENUMERATION);
        ZT__CASE(ZE_RESULT_ERROR_UNSUPPORTED_ENUMERATION);
        ZT__CASE(ZE_RESULT_ERROR_UNSUPPORTED_IMAGE_FORMAT);
        ZT__CASE(ZE_RESULT_ERROR_INVALID_NATIVE_BINARY);
        ZT__CASE(ZE_RESULT_ERROR_INVALID_GLOBAL_NAME);
        ZT__CASE(ZE_RESULT_ERROR_INVALID_KERNEL_NAME);
        ZT__CASE(ZE_RESULT_ERROR_INVALID_FUNCTION_NAME);
        ZT__CASE(ZE_RESULT_ERROR_INVALID_GROUP_SIZE_DIMENSION);
        ZT__CASE(ZE_RESULT_ERROR_INVALID_GLOBAL_WIDTH_DIMENSION);
        ZT__CASE(ZE_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_INDEX);
        ZT__CASE(ZE_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_SIZE);
        ZT__CASE(ZE_RESULT_ERROR_INVALID_KERNEL_ATTRIBUTE_VALUE);
        ZT__CASE(ZE_RESULT_ERROR_INVALID_MODULE_UNLINKED);
        ZT__CASE(ZE_RESULT_ERROR_INVALID_COMMAND_LIST_TYPE);
        ZT__CASE(ZE_RESULT_ERROR_OVERLAPPING_REGIONS);
        ZT__CASE(ZE_RESULT_ERROR_UNKNOWN);
        ZT__CASE_NEWER(ZE_RESULT_EXP_ERROR_DEVICE_IS_NOT_VERTEX, 0x7ff00001);
        ZT__CASE_NEWER(ZE_RESULT_EXP_ERROR_VERTEX_IS_NOT_DEVICE, 0x7ff00002);
        ZT__CASE_NEWER(ZE_RESULT_EXP_ERROR_REMOTE_DEVICE, 0x7ff00003);
        ZT__CASE_NEWER(ZE_RESULT_EXP_ERROR_OPERANDS_INCOMPATIBLE, 0x7ff00004);
        ZT__CASE_NEWER(ZE_RESULT_EXP_RTAS_BUILD_RETRY, 0x7ff00005);
        ZT__CASE_NEWER(ZE_RESULT_EXP_RTAS_BUILD_DEFERRED, 0x7ff00006);
        ZT__CASE_NEWER(ZE_RESULT_WARNING_ACTION_REQUIRED, 0x7800001b);
        ZT__CASE_NEWER(ZE_RESULT_ERROR_INVALID_KERNEL_HANDLE, 0x7800001c);
        ZT__CASE_NEWER(ZE_RESULT_EXT_RTAS_BUILD_RETRY, 0x7800001d);
        ZT__CASE_NEWER(ZE_RESULT_EXT_RTAS_BUILD_DEFERRED, 0x7800001e);
        ZT__CASE_NEWER(ZE_RESULT_EXT_ERROR_OPERANDS_INCOMPATIBLE, 0x7800001f);
        ZT__CASE_NEWER(ZE_RESULT_ERROR_SURVIVABILITY_MODE_DETECTED, 0x78000020);
        ZT__CASE_NEWER(ZE_RESULT_ERROR_ADDRESS_NOT_FOUND, 0x78000021);
        ZT__CASE_NEWER(ZE_RESULT_QUERY_TRUE, 0x78000022);
        ZT__CASE_NEWER(ZE_RESULT_QUERY_FALSE, 0x78000023);
        ZT__CASE_NEWER(ZE_RESULT_ERROR_INVALID_GRAPH, 0x78000024);
        ZT__CASE_NEWER(ZE_RESULT_ERROR_GRAPH_CAPTURE_UNSUPPORTED, 0x78000025);
        ZT__CASE_NEWER(ZE_RESULT_ERROR_GRAPH_CAPTURE_INVALIDATED, 0x78000026);
        ZT__CASE_NEWER(ZE_RESULT_ERROR_GRAPH_CAPTURE_MERGE_ATTEMPT, 0x78000027);
        ZT__CASE_NEWER(ZE_RESULT_ERROR_COMMAND_LIST_NOT_CAPTURING, 0x78000028);
        ZT__CASE_NEWER(ZE_RESULT_ERROR_GRAPH_UNJOINED_FORKS, 0x78000029);
        ZT__CASE_NEWER(ZE_RESULT_ERROR_GRAPH_INTERNAL_EVENT, 0x7800002a);
    default:
        return "an unknown ze_result_t";
    }
}
#undef ZT__CASE
#undef ZT__CASE_NEWER

ZT__PRIVATE const char *zt__cause_name(zt_cause cause) {
    static const char *const names[ZT_CAUSE_COUNT] = {
        "report error",
        "report lost",
        "report without workload",
        "report inconsistent",
        "context mismatch",
        "query mode mismatch",
        "overrun",
        "query split",
        "never delivered",
        "overwritten",
        "other pass",
        "read failed",
        "implausible GPU time",
        "event used again",
        "device lost",
        "no probe",
        "no memory",
        "too many names",
        "append failed",
        "not ended",
        "begun after device loss",
        "never ran",
    };
    return (unsigned)cause < ZT_CAUSE_COUNT ? names[cause] : "unknown";
}

/* ---- messages -------------------------------------------------------------------------------------------- */

ZT__PRIVATE ZT__CHECKED_FORMAT(1, 2) void zt__print_message(const char *format, ...) {
    char line[sizeof(zt__message_text) + 256] = "zetools: ";
    size_t used = strlen(line);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line + used, sizeof line - used - 1, format, arguments);
    va_end(arguments);
    strcat(line, "\n");
    zt__write_to_file(line, strlen(line), stderr);
}

ZT__PRIVATE void zt__log_to_stderr(int result, const char *text, void *user) {
    (void)result;
    (void)user;
    zt__print_message("%s", text);
}

ZT__PRIVATE zt_log_fn zt__default_log(void) {
    const char *log = zt__get_variable("ZT_LOG");
    return log && strcmp(log, "stderr") == 0 ? zt__log_to_stderr : NULL;
}

ZT__PRIVATE ZT__THREAD_LOCAL const zt__log_call *zt__log_calls;

static ZT__THREAD_LOCAL zt__message_text zt__last_of_thread; /* whatever it is about */

/* Returns whether a message is to be logged, and adds it to those of its kind that were. */
static int zt__is_new(uint64_t logged[ZT__LOGGED_OF_KIND], const char *text) {
    char key[sizeof(zt__message_text)];
    size_t used = 0;
    uint64_t hash;
    uint32_t i;
    for (; *text; text++) {
        if (*text < '0' || *text > '9') {
            key[used++] = *text;
        }
    }
    hash = zt__hash(key, used) | 1;
    for (i = 0; i < ZT__LOGGED_OF_KIND && logged[i] && logged[i] != hash; i++) {
    }
    if (i == ZT__LOGGED_OF_KIND || logged[i]) {
        return 0;
    }
    logged[i] = hash;
    return 1;
}

ZT__PRIVATE ZT__CHECKED_FORMAT(3, 5) ze_result_t
    zt__report_message(zt__diagnostics *diagnostics, zt__message message, const char *format, unsigned result,
                       ...) {
    zt__message_text now;
    zt__log_call call;
    int is_new;
    va_list arguments;
    va_start(arguments, result);
    vsnprintf(now.text, sizeof now.text, format, arguments);
    va_end(arguments);
    now.result = (ze_result_t)result;
    zt__last_of_thread = now;
    if (!diagnostics) {
        if (zt__default_log()) {
            zt__log_to_stderr((int)result, now.text, NULL);
        }
        return now.result;
    }
    zt__lock(diagnostics->mutex);
    diagnostics->last = now;
    is_new = zt__is_new(diagnostics->logged[message], now.text);
    zt__unlock(diagnostics->mutex);
    if (is_new && diagnostics->log) {
        call.diagnostics = diagnostics;
        call.outer = zt__log_calls;
        zt__log_calls = &call;
        diagnostics->log((int)result, now.text, diagnostics->log_user);
        zt__log_calls = call.outer;
    }
    return now.result;
}

ZT__PRIVATE int zt__is_inside_log(zt__diagnostics *diagnostics, const char *call) {
    const zt__log_call *inside = zt__log_calls;
    while (inside && inside->diagnostics != diagnostics) {
        inside = inside->outer;
    }
    if (inside) {
        zt__report(diagnostics, INSIDE_LOG, ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE, call);
    }
    return inside != NULL;
}

ZT__PRIVATE int zt__is_device_lost(const zt__diagnostics *diagnostics) {
    return zt__load(&diagnostics->device_lost);
}

ZT__PRIVATE int zt__means_device_loss(ze_result_t result) {
    return result == ZE_RESULT_ERROR_DEVICE_LOST || result == ZE_RESULT_ERROR_DEVICE_REQUIRES_RESET;
}

ZT__PRIVATE ze_result_t zt__report_device_loss(zt__diagnostics *diagnostics, ze_result_t result,
                                               const char *call) {
    if (diagnostics) {
        zt__store(&diagnostics->device_lost, 1);
    }
    return zt__report(diagnostics, DEVICE_LOST, result, call, zt_result_name(result));
}

ZT__PRIVATE ze_result_t zt__check(zt__diagnostics *diagnostics, ze_result_t result, const char *call,
                                  const char *remedy) {
    if (result == ZE_RESULT_SUCCESS) {
        return result;
    }
    if (zt__means_device_loss(result)) {
        return zt__report_device_loss(diagnostics, result, call);
    }
    if (result == ZE_RESULT_ERROR_INVALID_NULL_HANDLE) { /* the library passes none */
        remedy = "A context, device or list was destroyed before the profiler or stream that uses it. Close "
                 "that first; call zt_release before a list is destroyed.";
    }
    return zt__report(diagnostics, CALL_FAILED, result, call, zt_result_name(result), remedy);
}

ZT__PRIVATE ze_result_t zt__report_null(zt__diagnostics *diagnostics, const char *call, const char *what) {
    return zt__report(diagnostics, NULL_ARGUMENT, ZE_RESULT_ERROR_INVALID_NULL_POINTER, call, what);
}

ZT__PRIVATE ze_result_t zt__report_null_handle(zt__diagnostics *diagnostics, const char *call,
                                               const char *what) {
    return zt__report(diagnostics, NULL_ARGUMENT, ZE_RESULT_ERROR_INVALID_NULL_HANDLE, call, what);
}

ZT__PRIVATE ze_result_t zt__report_no_memory(zt__diagnostics *diagnostics, const char *call,
                                             const char *what) {
    return zt__report(diagnostics, NO_MEMORY, ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY, call, what);
}

ZT__PRIVATE ze_result_t zt__check_process(zt__diagnostics *diagnostics, const char *call) {
    if (!zt__get_process()) {
        return zt__report(diagnostics, NO_SHARED_DATA, ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY, call);
    }
    return ZE_RESULT_SUCCESS;
}

ZT_API const char *zt_last_error(ze_result_t *result) {
    if (result) {
        *result = zt__last_of_thread.result;
    }
    return zt__last_of_thread.text;
}

ZT__PRIVATE const char *zt__get_last_error(zt__diagnostics *diagnostics) {
    static ZT__THREAD_LOCAL zt__message_text copy;
    zt__lock(diagnostics->mutex);
    copy = diagnostics->last;
    zt__unlock(diagnostics->mutex);
    return copy.text;
}

ZT__PRIVATE void zt__keep_error(const zt__diagnostics *diagnostics, ze_result_t result) {
    zt__last_of_thread = diagnostics->last;
    zt__last_of_thread.result = result;
}
