/* A loader for musl, for which there is no C++ library at hand, and so not the loader of Level Zero. Each function that
 * the device has in a dispatch table (tests/softgpu/functions.def) has its name here, and goes through that table, by
 * the tracing layer if ZE_ENABLE_TRACING_LAYER is 1. The one driver is that of ZE_ENABLE_ALT_DRIVERS.
 */
#include "../softgpu/softgpu.h"

#include <dlfcn.h>
#include <level_zero/layers/zel_tracing_api.h>
#include <level_zero/layers/zel_tracing_register_cb.h>
#include <stdlib.h>
#include <string.h>

typedef void (*any_function)(void);

enum { MOST_SLOTS = 128, NEWEST_VERSION = ZE_MAKE_VERSION(1, 17) };

#define SG_TABLE(table, function) static any_function table_##table[MOST_SLOTS];
#include "../softgpu/tables.def"
#undef SG_TABLE
static any_function table_extension[MOST_SLOTS]; /* stays empty: the driver gives these by their names */

static void fill_table(void *driver, const char *name, any_function *table) {
    ze_result_t (*fill)(ze_api_version_t, any_function *);
    *(void **)&fill = dlsym(driver, name);
    if (fill)
        fill((ze_api_version_t)NEWEST_VERSION, table);
}

static bool has_tracing_layer;
static pthread_once_t is_loaded = PTHREAD_ONCE_INIT;

static void load_driver(void) {
    const char *path = getenv("ZE_ENABLE_ALT_DRIVERS"), *layer = getenv("ZE_ENABLE_TRACING_LAYER");
    void *driver = path ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
    has_tracing_layer = layer && strcmp(layer, "1") == 0;
    if (!driver)
        return;
#define SG_TABLE(table, function) fill_table(driver, #function, table_##table);
#include "../softgpu/tables.def"
#undef SG_TABLE
}

/* ---- the tracing layer ----------------------------------------------------------------------------------- */

enum { MOST_TRACERS = 16 };

/* functions.def is that of the device, in which those that can be traced are SG_TRACED, with the name of the function
 * that registers their callbacks in front: the Makefile writes it. */
#define SG_FUNCTION(table, slot, version, kind, name, parameters, arguments)
#define SG_TRACED(symbol, table, slot, version, kind, name, parameters, arguments) CALL_##name,
enum {
#include "functions.def"
    CALL_COUNT
};
#undef SG_FUNCTION
#undef SG_TRACED

typedef void(ZE_APICALL *callback)(void *parameters, ze_result_t result, void *user, void **instance);

struct _zel_tracer_handle_t {
    void *user;
    callback prologues[CALL_COUNT], epilogues[CALL_COUNT];
};

/* A call of a thread. There is none inside of another: callbacks and drivers make theirs untraced. */
typedef struct traced_call {
    zel_tracer_handle_t tracers[MOST_TRACERS]; /* those that were enabled when it began */
    void *instances[MOST_TRACERS];
} traced_call;

static _Atomic(zel_tracer_handle_t) enabled[MOST_TRACERS];
static _Thread_local bool is_in_call;

static bool begin_call(traced_call *call, int function, void *parameters) {
    bool is_observed = false;
    if (is_in_call)
        return false;
    for (int i = 0; i < MOST_TRACERS; ++i) {
        call->instances[i] = NULL;
        call->tracers[i] = atomic_load(&enabled[i]);
        is_observed = is_observed || call->tracers[i];
    }
    is_in_call = is_observed;
    for (int i = 0; i < MOST_TRACERS; ++i) {
        zel_tracer_handle_t tracer = call->tracers[i];
        if (tracer && tracer->prologues[function])
            tracer->prologues[function](parameters, ZE_RESULT_SUCCESS, tracer->user, &call->instances[i]);
    }
    return is_observed;
}

static void end_call(traced_call *call, int function, void *parameters, ze_result_t result) {
    for (int i = 0; i < MOST_TRACERS; ++i) {
        zel_tracer_handle_t tracer = call->tracers[i];
        if (tracer && tracer->epilogues[function])
            tracer->epilogues[function](parameters, result, tracer->user, &call->instances[i]);
    }
    is_in_call = false;
}

ze_result_t ZE_APICALL zelTracerCreate(const zel_tracer_desc_t *desc, zel_tracer_handle_t *tracer) {
    if (!has_tracing_layer)
        return ZE_RESULT_ERROR_UNINITIALIZED;
    *tracer = calloc(1, sizeof **tracer);
    if (!*tracer)
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    (*tracer)->user = desc->pUserData;
    return ZE_RESULT_SUCCESS;
}

static bool replace(zel_tracer_handle_t before, zel_tracer_handle_t after) {
    for (int i = 0; i < MOST_TRACERS; ++i) {
        zel_tracer_handle_t expected = before;
        if (atomic_compare_exchange_strong(&enabled[i], &expected, after))
            return true;
    }
    return false;
}

static bool is_enabled(zel_tracer_handle_t tracer) {
    return replace(tracer, tracer);
}

ze_result_t ZE_APICALL zelTracerSetEnabled(zel_tracer_handle_t tracer, ze_bool_t enable) {
    if (!enable)
        replace(tracer, NULL);
    else if (!is_enabled(tracer) && !replace(NULL, tracer))
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    return ZE_RESULT_SUCCESS;
}

/* Nothing is freed, as another thread may be in a call of this tracer. */
ze_result_t ZE_APICALL zelTracerDestroy(zel_tracer_handle_t tracer) {
    return is_enabled(tracer) ? ZE_RESULT_ERROR_INVALID_ARGUMENT : ZE_RESULT_SUCCESS;
}

static ze_result_t set_callback(zel_tracer_handle_t tracer, zel_tracer_reg_t when, int function,
                                callback added) {
    if (is_enabled(tracer))
        return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    (when == ZEL_REGISTER_PROLOGUE ? tracer->prologues : tracer->epilogues)[function] = added;
    return ZE_RESULT_SUCCESS;
}

/* ---- the functions --------------------------------------------------------------------------------------- */

/* The addresses of up to 15 arguments, in their order: what the structures of parameters consist of. */
#define SELECT(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, selected, ...) selected
#define COUNT(...) SELECT(__VA_ARGS__, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0)
#define ADDRESSES_1(a) &a
#define ADDRESSES_2(a, ...) &a, ADDRESSES_1(__VA_ARGS__)
#define ADDRESSES_3(a, ...) &a, ADDRESSES_2(__VA_ARGS__)
#define ADDRESSES_4(a, ...) &a, ADDRESSES_3(__VA_ARGS__)
#define ADDRESSES_5(a, ...) &a, ADDRESSES_4(__VA_ARGS__)
#define ADDRESSES_6(a, ...) &a, ADDRESSES_5(__VA_ARGS__)
#define ADDRESSES_7(a, ...) &a, ADDRESSES_6(__VA_ARGS__)
#define ADDRESSES_8(a, ...) &a, ADDRESSES_7(__VA_ARGS__)
#define ADDRESSES_9(a, ...) &a, ADDRESSES_8(__VA_ARGS__)
#define ADDRESSES_10(a, ...) &a, ADDRESSES_9(__VA_ARGS__)
#define ADDRESSES_11(a, ...) &a, ADDRESSES_10(__VA_ARGS__)
#define ADDRESSES_12(a, ...) &a, ADDRESSES_11(__VA_ARGS__)
#define ADDRESSES_13(a, ...) &a, ADDRESSES_12(__VA_ARGS__)
#define ADDRESSES_14(a, ...) &a, ADDRESSES_13(__VA_ARGS__)
#define ADDRESSES_15(a, ...) &a, ADDRESSES_14(__VA_ARGS__)
#define JOIN(a, b) a##b
#define ADDRESSES_OF(count, ...) JOIN(ADDRESSES_, count)(__VA_ARGS__)
#define ADDRESSES(...) ADDRESSES_OF(COUNT(__VA_ARGS__), __VA_ARGS__)

/* Headers of other versions declare some of them otherwise: in C they have other names. */
#define SG_FUNCTION(table, slot, version, kind, name, parameters, arguments)                                 \
    ze_result_t ZE_APICALL loader_##name parameters __asm__(#name);                                          \
    ze_result_t ZE_APICALL loader_##name parameters {                                                        \
        ze_result_t(ZE_APICALL *found) parameters;                                                           \
        *(any_function *)&found = table_##table[slot];                                                       \
        return found ? found arguments : ZE_RESULT_ERROR_UNINITIALIZED;                                      \
    }
#define SG_TRACED(symbol, table, slot, version, kind, name, parameters, arguments)                           \
    ze_result_t ZE_APICALL register_##name(zel_tracer_handle_t, zel_tracer_reg_t, callback) __asm__(symbol); \
    ze_result_t ZE_APICALL register_##name(zel_tracer_handle_t tracer, zel_tracer_reg_t when,                \
                                           callback added) {                                                 \
        return set_callback(tracer, when, CALL_##name, added);                                               \
    }                                                                                                        \
    ze_result_t ZE_APICALL loader_##name parameters __asm__(#name);                                          \
    ze_result_t ZE_APICALL loader_##name parameters {                                                        \
        if (CALL_##name == CALL_zeInit || CALL_##name == CALL_zeInitDrivers)                                 \
            pthread_once(&is_loaded, load_driver);                                                           \
        ze_result_t(ZE_APICALL *found) parameters;                                                           \
        void *addresses[] = {ADDRESSES arguments};                                                           \
        traced_call call;                                                                                    \
        *(any_function *)&found = table_##table[slot];                                                       \
        if (!found)                                                                                          \
            return ZE_RESULT_ERROR_UNINITIALIZED;                                                            \
        if (!begin_call(&call, CALL_##name, addresses))                                                      \
            return found arguments;                                                                          \
        ze_result_t result = found arguments;                                                                \
        end_call(&call, CALL_##name, addresses, result);                                                     \
        return result;                                                                                       \
    }
#include "functions.def"
#undef SG_FUNCTION
#undef SG_TRACED

/* The device has none of these, so that the loader of Level Zero answers. Headers differ in their parameters. */
#define UNSUPPORTED(name)                                                                                    \
    ze_result_t ZE_APICALL unsupported_##name(void) __asm__(#name);                                          \
    ze_result_t ZE_APICALL unsupported_##name(void) {                                                        \
        return ZE_RESULT_ERROR_UNSUPPORTED_FEATURE;                                                          \
    }
UNSUPPORTED(zeEventPoolGetIpcHandle)
UNSUPPORTED(zeImageCreate)
UNSUPPORTED(zeSamplerCreate)
UNSUPPORTED(zeVirtualMemQueryPageSize)
