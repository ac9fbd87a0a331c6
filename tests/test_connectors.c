/* Names from where programs already say them. libzt_auto.so is the collector of ITT and the tool of Kokkos, for programs that
   know nothing of zetools: two of the tests' own, and two that compute with Debian's oneDNN and Kokkos. */
#define _GNU_SOURCE
#include "fixture.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ITT "INTEL_LIBITTNOTIFY64=\"$LIBRARY\" "
#define KOKKOS "KOKKOS_TOOLS_LIBS=\"$LIBRARY\" "
#define PRELOAD "LD_PRELOAD=\"$LIBRARY\" "

static void set_to_file(const char *variable, const char *name) {
    char path[PATH_MAX];
    find_file(name, path, sizeof path);
    setenv(variable, path, 1);
}

static int open_directory(void **state) {
    /* The programs have no sanitizers, so their device must not have any either. */
    set_to_file("ZE_ENABLE_ALT_DRIVERS", "build/libze_softgpu.so");
    set_to_file("KERNELS", "build/kernels");
    set_to_file("LIBRARY", "build/examples-O0/libzt_auto.so");
    set_to_file("PROGRAMS", "build/examples-O0/programs");
    setenv("ZT_AUTO", "run.csv,run.folded", 1);
    setenv("ZT_GROUPS", "", 1);
    return make_directory(state);
}

#define IN_DIRECTORY(function) cmocka_unit_test_setup_teardown(function, open_directory, remove_directory)

static const char *text_of(const char *name) {
    static char texts[4][1 << 18];
    static int next;
    char path[PATH_MAX], *text = texts[next++ % 4];
    snprintf(path, sizeof path, "%s/%s", test_directory, name);
    FILE *file = fopen(path, "r");
    if (!file)
        fail_msg("there is no %s: %s", path, strcmp(name, "errors") ? text_of("errors") : "");
    text[0] = '\n';
    text[1 + fread(text + 1, 1, sizeof texts[0] - 2, file)] = 0;
    fclose(file);
    return text;
}

/* Runs one of the programs, which has to succeed. */
static void run_program(const char *variables, const char *program) {
    char whole[4 * PATH_MAX];
    snprintf(whole, sizeof whole, "cd '%s' && exec timeout 60 env %s \"$PROGRAMS\"/%s >output 2>errors",
             test_directory, variables, program);
    int status = system(whole);
    if (status != 0)
        fail_msg("%s: status 0x%x:\n%s", program, (unsigned)status, text_of("errors"));
}

/* Returns the count in the line of a metric, or -1 if there is no such line. */
static long count_of(const char *region, const char *metric) {
    char begin[256];
    snprintf(begin, sizeof begin, "\n\"%s\",\"%s\",", region, metric);
    const char *field = strstr(text_of("run.csv"), begin);
    if (!field)
        return -1;
    field += strlen(begin);
    for (int commas = 0; commas < 5; field++)
        commas += *field == ',';
    return strtol(field, NULL, 10);
}

static void assert_entered(const char *phase, long times) {
    if (count_of(phase, "entries") != times)
        fail_msg("%s: %ld entries, not %ld", phase, count_of(phase, "entries"), times);
}

/* Work was measured on this path, or none was. */
static void assert_path(const char *path, int is_there) {
    char line[256];
    snprintf(line, sizeof line, "\n%s ", path);
    if ((strstr(text_of("run.folded"), line) != NULL) != is_there)
        fail_msg("%s is%s there:%s", path, is_there ? " not" : "", text_of("run.folded"));
}

static void assert_unnested(long count, const char *first) {
    char text[256];
    if (count == 0) {
        assert_null(strstr(text_of("errors"), "no phases"));
        return;
    }
    snprintf(text, sizeof text, "zetools: %ld of the ranges ", count);
    assert_contains(text_of("errors"), text);
    assert_contains(text_of("errors"), first);
}

/* ==== ITT ================================================================================================= */

static void test_tasks_are_phases(void **state) {
    (void)state;
    run_program(ITT,
                "itt begin app assemble open run end app begin app solve begin lib inner run end lib run "
                "end app begin app solve run end app run");
    assert_null(strstr(text_of("errors"), "zetools: zt_auto"));
    assert_unnested(0, "");
    assert_entered("assemble", 1);
    assert_entered("solve", 2);
    assert_entered("inner", 1);
    assert_path("assemble;reduce", 1);
    assert_path("solve;inner;reduce", 1);
    assert_path("solve;inner;saxpy", 1);
    assert_int_equal(count_of("solve;saxpy", "GPU time"), 2);
    assert_int_equal(count_of("saxpy", "GPU time"), 5);
    assert_path("saxpy", 1); /* in no phase */
}

/* What the program has created before the collector was there belongs to the static part, which stays its owner. */
static void test_objects_from_before(void **state) {
    (void)state;
    run_program(ITT,
                "itt early app solve early lib solve begin lib solve open run end lib begin app solve begin "
                "lib new run end lib run end app");
    assert_entered("solve", 2);
    assert_path("solve;saxpy", 1);
    assert_path("solve;new;saxpy", 1);
    run_program(ITT "ZT_ITT='!app'",
                "itt early app x early lib x begin app x open begin lib y run end lib run "
                "end app");
    assert_int_equal(count_of("x", "entries"), -1);
    assert_path("y;saxpy", 1);
    assert_path("saxpy", 1);
}

static void test_domains_are_chosen(void **state) {
    (void)state;
    const char *work =
        "itt begin dnnl.execute matmul open run end dnnl.execute begin dnnl.create build run end "
        "dnnl.create on dnnl.create begin dnnl.create build run end dnnl.create begin app other "
        "run end app";
    run_program(ITT "ZT_ITT='dnnl*,!*create'", work);
    assert_entered("matmul", 1);
    assert_int_equal(count_of("build", "entries"), -1);
    assert_int_equal(count_of("other", "entries"), -1);
    assert_int_equal(count_of("saxpy", "GPU time"), 4);
    run_program(ITT "ZT_ITT=off", work);
    assert_int_equal(count_of("matmul", "entries"), -1);
    assert_int_equal(count_of("saxpy", "GPU time"), 4);
    run_program(ITT, work);
    assert_entered("build", 2);
    assert_entered("other", 1);
}

static void test_regions_and_frames(void **state) {
    (void)state;
    run_program(ITT,
                "itt region app solve 5 open frame lib 0 run frame-end lib 0 frame lib 9 run frame-end lib 9 "
                "run region-end app 5 run function app run end app");
    assert_unnested(0, "");
    assert_entered("solve", 1);
    assert_entered("lib", 2);
    assert_entered("app", 1); /* a task named by a function */
    assert_path("solve;lib;saxpy", 1);
    assert_path("solve;saxpy", 1);
    assert_path("app;saxpy", 1);
    assert_path("saxpy", 1);
}

/* The second task is inside the first, whichever ends first. */
static void test_crossing(void **state) {
    (void)state;
    run_program(ITT, "itt begin app outer open begin lib inner run end app run end lib run");
    assert_unnested(0, "");
    assert_entered("outer", 1);
    assert_entered("inner", 1);
    assert_int_equal(count_of("inner;saxpy", "GPU time"), -1);
    assert_path("outer;inner;saxpy", 1);
    assert_path("outer;saxpy", 0);
    assert_path("saxpy", 1);
}

static void test_overlapped_tasks_are_counted(void **state) {
    (void)state;
    run_program(ITT,
                "itt begin app x open overlapped app load 1 run overlapped app store 2 overlapped-end app 1 "
                "thread overlapped-end app 2 end app");
    assert_unnested(2, "'load' of 'app'");
    assert_entered("x", 1);
    assert_path("x;saxpy", 1);
    assert_int_equal(count_of("load", "entries"), -1);
}

static void test_ends_on_other_threads(void **state) {
    (void)state;
    run_program(ITT, "itt region app r 5 open thread region app r 5 run thread region-end app 5 thread "
                     "region-end app 6 thread end app begin app z run end app");
    assert_unnested(3, "'a range' of 'app'");
    assert_entered("r", 1); /* the one of a thread that has ended never ends */
    assert_entered("z", 1);
    assert_path("z;saxpy", 1); /* its region had ended before */
}

/* A thread finds what others have ended, although it is not the innermost, and although there was much of it. */
static void test_many_ends_on_other_threads(void **state) {
    (void)state;
    char program[1 << 13] = "itt open region app outer 1 frame app 2 ";
    for (int i = 0; i < 100; i++)
        strcat(program, "thread frame-end app 7 ");
    strcat(program,
           "thread region-end app 1 run begin lib x run end lib frame-end app 2 begin lib y run end lib");
    run_program(PRELOAD ITT, program);
    assert_unnested(101, "'a range' of 'app'");
    assert_path("outer;app;x;saxpy", 1);
    assert_path("y;saxpy", 1);
    assert_entered("outer", 1);
}

/* Several threads create the same domains, begin and end tasks, end each other's regions, and pause. */
static void test_many_threads(void **state) {
    (void)state;
    run_program(PRELOAD ITT, "itt open storm begin app x run end app");
    assert_entered("x", 1);
    assert_path("x;saxpy", 1);
    assert_contains(text_of("errors"), " of the ranges ");
    assert_true(count_of("odd", "entries") > 0);
}

static void test_several_static_parts(void **state) {
    (void)state;
    run_program(ITT "ZT_ITT='a*'",
                "itt begin app x open run again begin lib z run end lib end app begin app y run end app");
    assert_entered("x", 1);
    assert_entered("y", 1);
    assert_int_equal(count_of("z", "entries"), -1);
    assert_int_equal(count_of("x;saxpy", "GPU time"), 2);
}

static void test_forked_child(void **state) {
    (void)state;
    run_program(ITT, "itt begin app x open run overlapped app o 1 fork end app");
    assert_entered("x", 1);
    assert_unnested(1, "'o' of 'app'");
    assert_null(strstr(strstr(text_of("errors"), " of the ranges ") + 1,
                       " of the ranges ")); /* by the parent alone */
}

/* A child of fork that ends what its parent has begun ends no phase of its own. */
static void test_end_in_a_forked_child(void **state) {
    (void)state;
    run_program(ITT, "itt_auto begin app x open run fork-end app run end app");
    assert_entered("x", 1);
    assert_int_equal(count_of("x;saxpy", "GPU time"), 2);
}

static void test_names_in_wide_characters(void **state) {
    (void)state;
    run_program(ITT, "itt begin app x open wide run end app");
    assert_unnested(1, "'(unnamed)' of '(unnamed)'");
}

static void test_deeper_than_phases(void **state) {
    (void)state;
    char program[1 << 13] = "itt open ";
    for (int i = 0; i < 70; i++)
        strcat(program, "begin app deep ");
    strcat(program, "run ");
    for (int i = 0; i < 70; i++)
        strcat(program, "end app ");
    strcat(program, "begin app x run end app");
    run_program(PRELOAD ITT, program);
    assert_unnested(0, "");
    assert_entered("x", 1);
    assert_path("x;saxpy", 1);
}

static void test_pause(void **state) {
    (void)state;
    run_program(ITT,
                "itt begin app before open run pause begin app unseen sum end app end app resume begin app "
                "after sum end app");
    assert_unnested(0, "");
    assert_entered("before", 1);
    assert_entered("after", 1);
    assert_int_equal(count_of("unseen", "entries"), -1);
    assert_int_equal(count_of("reduce", "GPU time"), 2); /* of three */
    assert_path("after;reduce", 1);
}

static void test_pause_of_host_or_device(void **state) {
    (void)state;
    run_program(ITT,
                "itt begin app x open end app pause-scoped 1 begin app host sum end app resume-scoped 1 "
                "pause-scoped 2 begin app device sum end app resume-scoped 2 begin app y sum end app detach "
                "begin app z sum end app");
    assert_int_equal(count_of("host", "entries"), -1);
    assert_entered("device", 1);
    assert_int_equal(count_of("device", "GPU time"), 0);
    assert_entered("y", 1);
    assert_int_equal(count_of("z", "entries"), -1);
    assert_int_equal(count_of("reduce", "GPU time"), 2);
    assert_path("reduce", 1);
    assert_path("y;reduce", 1);
}

static void test_end_of_itt(void **state) {
    (void)state;
    run_program(ITT, "itt begin app x open run end app fini begin app y run end app run");
    assert_entered("x", 1);
    assert_int_equal(count_of("y", "entries"), -1);
    assert_int_equal(count_of("saxpy", "GPU time"), 3);
}

/* A static part of another version is left alone. */
static void test_unknown_version(void **state) {
    (void)state;
    run_program(ITT, "itt version 4 begin app x end app open run");
    assert_contains(text_of("errors"), "a version of ITT that is not known");
    assert_int_equal(count_of("x", "entries"), -1);
    assert_int_equal(count_of("saxpy", "GPU time"), 1);
}

/* Level Zero was initialised before the library was loaded. Older loaders need a variable for this. */
static void test_loaded_late(void **state) {
    (void)state;
    run_program(ITT "ZE_ENABLE_TRACING_LAYER=1", "itt open run begin app x open run end app");
    assert_entered("x", 1);
    assert_path("x;saxpy", 1);
    assert_int_equal(count_of("saxpy", "GPU time"), 1);
    run_program(ITT "ZE_ENABLE_TRACING_LAYER=0", "itt open loader begin app x open run end app");
    if (strstr(text_of("output"), "enables its tracing layer later: yes"))
        assert_null(strstr(text_of("errors"), "nothing is traced"));
    else
        assert_contains(text_of("errors"), "Set ZE_ENABLE_TRACING_LAYER=1 in the environment before zeInit");
}

/* The program has called zt_auto, and is the one that reports. */
static void test_program_with_zt_auto(void **state) {
    (void)state;
    run_program(ITT, "itt_auto open begin app x run end app");
    assert_null(strstr(text_of("errors"), "nothing is traced"));
    assert_entered("x", 1);
    assert_path("x;saxpy", 1);
}

/* ==== Kokkos ============================================================================================== */

static void test_kokkos(void **state) {
    (void)state;
    run_program(KOKKOS, "kokkos");
    assert_string_equal(text_of("output"), "\nfences: 0\n");
    assert_null(strstr(text_of("errors"), "the tool has no"));
    assert_unnested(0, "");
    assert_entered("time step", 3);
    assert_entered("fill", 3);
    assert_path("time step;fill;saxpy", 1);
    assert_path("time step;norm;reduce", 1);
    assert_path("time step;offsets;reduce", 1);
    assert_entered("copy SYCL x to Host x_mirror", 3);
    assert_path("time step;copy SYCL x to Host x_mirror;fence of the copy;saxpy", 1);
    assert_path("saxpy", 1);
    assert_int_equal(count_of("saxpy", "GPU time"), 13);
}

/* Debian's Kokkos is older than the other name of the variable. */
static void test_kokkos_of_debian(void **state) {
    (void)state;
    run_program("KOKKOS_PROFILE_LIBRARY=\"$LIBRARY\"", "loops");
    assert_unnested(0, "");
    assert_entered("time step", 1);
    assert_path("time step;saxpy", 1);
    assert_entered("fill", 1);
    assert_int_equal(count_of("fill", "host time"), 1);
    assert_entered("sum up", 1);
    assert_entered("copy Host values to Host values_mirror", 1);
}

static void test_kokkos_without_tool(void **state) {
    (void)state;
    run_program(PRELOAD, "kokkos");
    assert_string_equal(text_of("output"), "\nfences: 1\n");
    assert_int_equal(count_of("fill", "entries"), -1);
    assert_int_equal(count_of("saxpy", "GPU time"), 13);
}

/* ==== oneDNN ============================================================================================== */

/* Debian's oneDNN has a static part of ITT. Its primitives run on the processor: their phases have host times. */
static void test_primitives_of_onednn(void **state) {
    (void)state;
    run_program(PRELOAD ITT "ONEDNN_ITT_TASK_LEVEL=1", "primitives");
    assert_entered("matmul", 5);
    assert_int_equal(count_of("matmul", "host time"), 5);
    assert_int_equal(count_of("matmul", "GPU time"), 0);
    assert_int_equal(count_of("saxpy", "GPU time"), 2);
    run_program(PRELOAD ITT "ONEDNN_ITT_TASK_LEVEL=1 ZT_ITT='!dnnl::*'", "primitives");
    assert_int_equal(count_of("matmul", "entries"), -1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        IN_DIRECTORY(test_tasks_are_phases),
        IN_DIRECTORY(test_objects_from_before),
        IN_DIRECTORY(test_domains_are_chosen),
        IN_DIRECTORY(test_regions_and_frames),
        IN_DIRECTORY(test_crossing),
        IN_DIRECTORY(test_overlapped_tasks_are_counted),
        IN_DIRECTORY(test_ends_on_other_threads),
        IN_DIRECTORY(test_many_ends_on_other_threads),
        IN_DIRECTORY(test_many_threads),
        IN_DIRECTORY(test_several_static_parts),
        IN_DIRECTORY(test_forked_child),
        IN_DIRECTORY(test_end_in_a_forked_child),
        IN_DIRECTORY(test_names_in_wide_characters),
        IN_DIRECTORY(test_deeper_than_phases),
        IN_DIRECTORY(test_pause),
        IN_DIRECTORY(test_pause_of_host_or_device),
        IN_DIRECTORY(test_end_of_itt),
        IN_DIRECTORY(test_unknown_version),
        IN_DIRECTORY(test_loaded_late),
        IN_DIRECTORY(test_program_with_zt_auto),
        IN_DIRECTORY(test_kokkos),
        IN_DIRECTORY(test_kokkos_of_debian),
        IN_DIRECTORY(test_kokkos_without_tool),
        IN_DIRECTORY(test_primitives_of_onednn),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
