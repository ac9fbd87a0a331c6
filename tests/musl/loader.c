/* A loader for musl, for which there is no C++ library at hand, and so not the loader of Level Zero. Each function that
 * the device has in a dispatch table (tests/softgpu/functions.def) has its name here, and goes through that table; there
 * are no layers. The one driver is that of ZE_ENABLE_ALT_DRIVERS.
 */
#include "../softgpu/softgpu.h"

#include <dlfcn.h>
#include <level_zero/layers/zel_tracing_api.h>
#include <stdlib.h>

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

__attribute__((constructor)) static void load_driver(void) {
    const char *path = getenv("ZE_ENABLE_ALT_DRIVERS");
    void *driver = path ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
    if (!driver)
        return;
#define SG_TABLE(table, function) fill_table(driver, #function, table_##table);
#include "../softgpu/tables.def"
#undef SG_TABLE
}

/* Headers of other versions declare some of them otherwise: in C they have other names. */
#define SG_FUNCTION(table, slot, version, kind, name, parameters, arguments)                                 \
    ze_result_t ZE_APICALL loader_##name parameters __asm__(#name);                                          \
    ze_result_t ZE_APICALL loader_##name parameters {                                                        \
        ze_result_t(ZE_APICALL *found) parameters;                                                           \
        *(any_function *)&found = table_##table[slot];                                                       \
        return found ? found arguments : ZE_RESULT_ERROR_UNINITIALIZED;                                      \
    }
#include "../softgpu/functions.def"
#undef SG_FUNCTION

/* There is no tracing layer. */
ze_result_t ZE_APICALL zelTracerCreate(const zel_tracer_desc_t *desc, zel_tracer_handle_t *tracer) {
    (void)desc, (void)tracer;
    return ZE_RESULT_ERROR_UNINITIALIZED;
}

ze_result_t ZE_APICALL zelTracerSetEnabled(zel_tracer_handle_t tracer, ze_bool_t is_enabled) {
    (void)tracer, (void)is_enabled;
    return ZE_RESULT_ERROR_UNINITIALIZED;
}

ze_result_t ZE_APICALL zelTracerDestroy(zel_tracer_handle_t tracer) {
    (void)tracer;
    return ZE_RESULT_ERROR_UNINITIALIZED;
}
