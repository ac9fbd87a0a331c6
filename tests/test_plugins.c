/* A program that is not linked with the Level Zero loader, and plugins that are, each with its own copy of
   the library, which RTLD_LOCAL or hidden symbols hide. Two at a time measure: those of one version in C and
   C++, then two of different versions. The copies must share activation and calculation. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plugins/plugin.h"
#include "softgpu/softgpu_control.h"

/* Values of Level Zero and the library, whose headers are not included here. */
enum { SUCCESS = 0, AVAILABLE = 0, IN_USE = 5, HANDLE_OBJECT_IN_USE = 0x78000006 };

#define A_WHILE UINT64_C(30000000000)

#define CONTROL(X) X(reset) X(behave) X(set_devices) X(findings) X(forget_findings) X(live) X(ledger)

static struct {
#define MEMBER(name) __typeof__(softgpu_##name) *name;
    CONTROL(MEMBER)
#undef MEMBER
} gpu;

static const plugin *plugins[2]; /* the first in C; the second in C++, or of a newer version */

static void *symbol_of(void *library, const char *name) {
    void *symbol = library ? dlsym(library, name) : NULL;
    if (!symbol)
        fail_msg("no %s: %s", name, dlerror());
    return symbol;
}

static const plugin *load_plugin(const char *name) {
    char program[PATH_MAX], path[PATH_MAX + 32];
    plugin_entry_fn entry;
    if (!realpath(program_invocation_name, program))
        fail_msg("there is no %s", program_invocation_name);
    *strrchr(program, '/') = 0;
    snprintf(path, sizeof path, "%s/plugins/%s", program, name);
    *(void **)&entry = symbol_of(dlopen(path, RTLD_NOW | RTLD_LOCAL), "plugin_entry");
    return entry();
}

static int load_both(const char *second) {
    const char *drivers = getenv("ZE_ENABLE_ALT_DRIVERS");
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%.*s", (int)strcspn(drivers, ","), drivers); /* the first */
    unsetenv("ZT_GROUPS");
    setenv("ZET_ENABLE_METRICS", "1", 0);
    assert_null(dlsym(RTLD_DEFAULT, "zeInit")); /* else there is nothing to test */
    plugins[0] = load_plugin("plugin_c.so");
    plugins[1] = load_plugin(second);
    assert_null(dlsym(RTLD_DEFAULT, "zeInit"));
    plugins[0]->destroy(plugins[0]->create()); /* initialises Level Zero, which loads the driver */
    void *driver = dlopen(path, RTLD_NOW | RTLD_NOLOAD);
#define REACH(name) *(void **)&gpu.name = symbol_of(driver, "softgpu_" #name);
    CONTROL(REACH)
#undef REACH
    dlclose(driver);
    return 0;
}

static int load(void **state) {
    (void)state;
    return load_both("plugin_cpp.so");
}

/* Its struct zt_profiler is larger, and all members of it lie elsewhere. */
static int load_newer(void **state) {
    (void)state;
    load_both("plugin_newer.so");
    assert_string_not_equal(plugins[0]->version(), plugins[1]->version());
    assert_true(plugins[0]->profiler_size() < plugins[1]->profiler_size());
    return 0;
}

/* ==== both of them ======================================================================================== */

static plugin_world *worlds[2];
static uint64_t live_before;

static int open_worlds(void **state) {
    (void)state;
    gpu.reset();
    gpu.forget_findings();
    live_before = gpu.live();
    for (int i = 0; i < 2; i++) {
        worlds[i] = plugins[i]->create();
        if (!worlds[i])
            return -1;
    }
    return 0;
}

static int close_worlds(void **state) {
    char text[4096];
    (void)state;
    for (int i = 0; i < 2; i++)
        plugins[i]->destroy(worlds[i]);
    gpu.ledger(text, sizeof text);
    if (gpu.findings() > 0 || gpu.live() > live_before)
        fail_msg("the device's ledger:\n%s", text);
    gpu.reset();
    return 0;
}

#define BOTH(function) cmocka_unit_test_setup_teardown(function, open_worlds, close_worlds)

static void open_in(int i, const char *groups, int expected) {
    assert_int_equal(plugins[i]->open(worlds[i], groups, NULL, NULL), SUCCESS);
    if (plugins[i]->availability(worlds[i]) != expected)
        fail_msg("plugin %d: %s", i, plugins[i]->text(worlds[i]));
}

static void measure(int i, uint64_t expected) {
    assert_int_equal(plugins[i]->run(worlds[i], "fill", 1000), SUCCESS);
    assert_int_equal(plugins[i]->collect(worlds[i], A_WHILE), SUCCESS);
    plugin_counts counts = plugins[i]->counts(worlds[i]);
    assert_int_equal(counts.begun, expected);
    assert_int_equal(counts.collected, expected);
}

/* ==== activation ========================================================================================== */

static void test_one_group(void **state) {
    (void)state;
    for (int first = 0; first < 2; first++) {
        open_in(first, "ComputeBasic", AVAILABLE);
        open_in(1 - first, "ComputeBasic", AVAILABLE);
        for (uint64_t i = 1; i <= 5; i++) {
            measure(0, i);
            measure(1, i);
        }
        plugins[1 - first]->close(worlds[1 - first]);
        for (uint64_t i = 6; i <= 10; i++)
            measure(first, i);
        plugins[first]->close(worlds[first]);
    }
}

static void test_groups_that_go_together(void **state) {
    (void)state;
    open_in(0, "MemoryProfile", AVAILABLE);
    open_in(1, "HostScheduler", AVAILABLE);
    for (uint64_t i = 1; i <= 5; i++) {
        measure(0, i);
        measure(1, i);
    }
    assert_true(plugins[0]->written(worlds[0], "fill") == 5 * 1000.0);
    plugins[0]->close(worlds[0]);
    measure(1, 6);
    open_in(0, "MemoryProfile", AVAILABLE);
    measure(0, 1);
    measure(1, 7);
}

/* Two groups of one domain: opening the second reports it, and the first continues. */
static void test_groups_that_do_not(void **state) {
    (void)state;
    open_in(0, "ComputeBasic", AVAILABLE);
    open_in(1, "MemoryProfile", IN_USE);
    for (uint64_t i = 1; i <= 5; i++) {
        measure(1, i); /* times */
        measure(0, i);
    }
    plugins[0]->close(worlds[0]);
    plugins[1]->close(worlds[1]);
    open_in(1, "MemoryProfile", AVAILABLE);
    measure(1, 1);
}

/* ==== calculation ========================================================================================= */

static void *measure_often(void *number) {
    int i = *(int *)number;
    for (int n = 0; n < 50; n++) {
        plugins[i]->run(worlds[i], "fill", 100);
        plugins[i]->collect(worlds[i], A_WHILE);
    }
    return NULL;
}

/* The device records two calculations at once. */
static void test_one_calculation_at_a_time(void **state) {
    pthread_t threads[2];
    int numbers[2] = {0, 1};
    (void)state;
    gpu.behave(SOFTGPU_SLOW_CALCULATION, 1);
    open_in(0, "ComputeBasic", AVAILABLE);
    open_in(1, "HostScheduler", AVAILABLE);
    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, measure_often, &numbers[i]), 0);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(gpu.findings(), 0);
    for (int i = 0; i < 2; i++)
        measure(i, 51);
}

/* ==== inside ============================================================================================== */

static int collect_result;

static void collect_in_the_other(void *user) {
    int other = *(int *)user;
    collect_result = plugins[other]->collect(worlds[other], A_WHILE);
}

/* A sample function may collect for another profiler, also with another copy of the library. */
static void test_collecting_for_another_profiler(void **state) {
    (void)state;
    for (int first = 0; first < 2; first++) {
        int other = 1 - first;
        collect_result = HANDLE_OBJECT_IN_USE;
        assert_int_equal(plugins[first]->open(worlds[first], "ComputeBasic", collect_in_the_other, &other),
                         SUCCESS);
        open_in(other, "ComputeBasic", AVAILABLE);
        assert_int_equal(plugins[other]->run(worlds[other], "fill", 100), SUCCESS);
        measure(first, 1);
        assert_int_equal(collect_result, SUCCESS);
        assert_int_equal(plugins[other]->counts(worlds[other]).collected, 1);
        plugins[first]->close(worlds[first]);
        plugins[other]->close(worlds[other]);
    }
}

/* ==== a loader that the program does not see ============================================================== */

static void test_a_timeline(void **state) {
    (void)state;
    for (int i = 0; i < 2; i++) {
        open_in(i, "ComputeBasic", AVAILABLE);
        for (uint64_t n = 1; n <= 3; n++)
            measure(i, n);
        const char *trace = plugins[i]->trace(worlds[i]);
        if (!strstr(trace, "\"fill\""))
            fail_msg("no region in the trace: %s", trace);
        plugins[i]->close(worlds[i]);
    }
}

static void test_tiles(void **state) {
    (void)state;
    gpu.set_devices(1, 2);
    for (int i = 0; i < 2; i++) {
        open_in(i, "ComputeBasic", AVAILABLE);
        assert_int_equal(plugins[i]->tiles(worlds[i]), 2);
        measure(i, 1);
        assert_int_equal(plugins[i]->counts(worlds[i]).lost, 0);
        plugins[i]->close(worlds[i]);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        BOTH(test_one_group),
        BOTH(test_groups_that_go_together),
        BOTH(test_groups_that_do_not),
        BOTH(test_one_calculation_at_a_time),
        BOTH(test_collecting_for_another_profiler),
        BOTH(test_a_timeline),
        BOTH(test_tiles),
    };
    int failed = cmocka_run_group_tests_name("one version", tests, load, NULL);
    return failed + cmocka_run_group_tests_name("two versions", tests, load_newer, NULL);
}
