/* libzt_auto.so, which profiles programs that nobody recompiled. The program of these tests knows nothing of
   zetools: neither it nor the library that it uses contains a copy. */
#define _GNU_SOURCE
#include "fixture.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int open_directory(void **state) {
    char device[PATH_MAX];
    /* The program has no sanitizers, so its device must not have any either. */
    find_file("build/libze_softgpu.so", device, sizeof device);
    setenv("ZE_ENABLE_ALT_DRIVERS", device, 1);
    setenv("ZET_ENABLE_METRICS", "1", 0);
    return make_directory(state);
}

#define IN_DIRECTORY(function) cmocka_unit_test_setup_teardown(function, open_directory, remove_directory)

static const char *text_of(const char *name) {
    static char texts[2][1 << 20];
    static int next;
    char path[PATH_MAX], *text = texts[next++ % 2];
    snprintf(path, sizeof path, "%s/%s", test_directory, name);
    FILE *file = fopen(path, "r");
    if (!file)
        fail_msg("there is no %s", path);
    text[fread(text, 1, sizeof texts[0] - 1, file)] = 0;
    fclose(file);
    return text;
}

/* Runs a command in the directory under the library, which `variables` configure. Returns its status. */
static int run_preloaded(const char *variables, const char *command) {
    char library[PATH_MAX], whole[4 * PATH_MAX];
    find_file("build/examples-O0/libzt_auto.so", library, sizeof library);
    snprintf(whole, sizeof whole, "cd '%s' && exec env LD_PRELOAD='%s' %s %s >output 2>errors",
             test_directory, library, variables, command);
    return system(whole);
}

/* Layers of the loader print as well. */
static void assert_no_messages(void) {
    assert_null(strstr(text_of("errors"), "zetools"));
}

static const char *simulate(void) {
    static char path[PATH_MAX];
    find_file("build/examples-O0/simulate", path, sizeof path);
    return path;
}

/* A program is named by its file, whatever is in the path of that. */
static void test_a_path_with_a_space(void **state) {
    char command[2 * PATH_MAX];
    (void)state;
    snprintf(command, sizeof command, "cd '%s' && mkdir 'a b' && cp '%s' 'a b/c d'", test_directory,
             simulate());
    assert_int_equal(system(command), 0);
    snprintf(command, sizeof command,
             "KERNELS='%.*s/../kernels' LD_LIBRARY_PATH='%.*s':\"$LD_LIBRARY_PATH\" 'a b/c d'",
             (int)(strrchr(simulate(), '/') - simulate()), simulate(),
             (int)(strrchr(simulate(), '/') - simulate()), simulate());
    assert_int_equal(run_preloaded("ZT_AUTO=run.trace.json,run.json", command), 0);
    assert_contains(text_of("run.trace.json"), "\"args\":{\"name\":\"c d\"}");
    assert_contains(text_of("run.json"), "\"program\":\"\\\"a b/c d\\\"\"");
}

static void test_program_that_nobody_recompiled(void **state) {
    (void)state;
    int status = run_preloaded("ZT_AUTO=run.csv,run.prom,run.trace.json", simulate());
    if (status != 0)
        fail_msg("status 0x%x:\n%s", (unsigned)status, text_of("errors"));
    assert_string_equal(text_of("output"), "the sum is 32833536\n");
    assert_contains(text_of("errors"),
                    "zetools: wrote run.csv\nzetools: wrote run.prom\nzetools: wrote run.trace.json\n");
    assert_null(strstr(text_of("errors"), "zetools: ["));
    assert_contains(text_of("run.csv"), "\n\"saxpy\",\"GPU time\",\"\",\"\",\"ns\",duration,sum,500,");
    assert_contains(text_of("run.csv"), "\n\"reduce\",\"GPU time\",\"\",\"\",\"ns\",duration,sum,10,");
    assert_contains(text_of("run.csv"), "\n\"saxpy\",\"GPU_BUSY\",\"ComputeBasic\",");
    assert_contains(text_of("run.prom"), "\nzetools_region_gpu_time_seconds_count{region=\"saxpy\"} 500\n");
    assert_contains(text_of("run.trace.json"), "\"name\":\"reduce\"");
}

static void test_table_without_variables(void **state) {
    (void)state;
    assert_int_equal(run_preloaded("", simulate()), 0);
    assert_contains(text_of("output"), "the sum is 32833536\n");
    assert_contains(text_of("output"), "\nsaxpy ");
    assert_contains(text_of("output"), "\nreduce ");
}

static void test_kernels_are_chosen(void **state) {
    (void)state;
    assert_int_equal(run_preloaded("ZT_KERNELS='!saxpy' ZT_AUTO=run.csv", simulate()), 0);
    assert_null(strstr(text_of("run.csv"), "saxpy"));
    assert_contains(text_of("run.csv"), "reduce");
}

static void test_switched_off(void **state) {
    (void)state;
    assert_int_equal(run_preloaded("ZT_AUTO=off", simulate()), 0);
    assert_string_equal(text_of("output"), "the sum is 32833536\n");
    assert_no_messages();
}

/* A program that does not use the GPU runs as always. */
static void test_program_without_gpu_work(void **state) {
    (void)state;
    assert_int_equal(run_preloaded("", "python3 -c 'print(\"as always\")'"), 0);
    assert_string_equal(text_of("output"), "as always\n");
    assert_contains(text_of("errors"), "created no command list");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        IN_DIRECTORY(test_program_that_nobody_recompiled),
        IN_DIRECTORY(test_a_path_with_a_space),
        IN_DIRECTORY(test_table_without_variables),
        IN_DIRECTORY(test_kernels_are_chosen),
        IN_DIRECTORY(test_switched_off),
        IN_DIRECTORY(test_program_without_gpu_work),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
