/* What a tracer does with the modules and kernels of others: files of binaries and debug information. */
#define _GNU_SOURCE
#include "fixture.h"

#include <dirent.h>
#include <elf.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int start_traced(void **state) {
    setenv("ZE_ENABLE_TRACING_LAYER", "1", 1);
    return start(state);
}

static int open_with_files(void **state) {
    return make_directory(state) ? -1 : open_world(state);
}

static int close_with_files(void **state) {
    return close_world(state) ? -1 : remove_directory(state);
}

#define FILE_TEST(function) cmocka_unit_test_setup_teardown(function, open_with_files, close_with_files)

static zt_profiler *trace_with(world *w, const char *directory) {
    zt_trace_config config = zt_trace_config_default();
    zt_profiler *profiler = open_groups(w, "ComputeBasic");
    config.modules = directory;
    ok(zt_trace_start(profiler, &config));
    return profiler;
}

/* ==== files =============================================================================================== */

/* FNV-1a, as the manual has it. */
static uint64_t hash_of(native_binary code) {
    uint64_t hash = 14695981039346656037u;
    for (size_t i = 0; i < code.size; i++)
        hash = (hash ^ code.bytes[i]) * 1099511628211u;
    return hash;
}

/* The path of a file of a module, in "modules" of the directory of the test. */
static const char *module_file(native_binary code, const char *suffix) {
    char name[64];
    snprintf(name, sizeof name, "modules/%016llx.%s", (unsigned long long)hash_of(code), suffix);
    return in_directory(name);
}

static int count_files(const char *directory) {
    int count = 0;
    DIR *open = opendir(directory);
    if (!open)
        return -1;
    for (struct dirent *entry; (entry = readdir(open));)
        count += entry->d_name[0] != '.';
    closedir(open);
    return count;
}

static native_binary read_whole(const char *path) {
    static uint8_t bytes[1 << 18];
    native_binary read = {bytes, 0};
    FILE *file = fopen(path, "rb");
    if (!file)
        fail_msg("there is no %s", path);
    read.size = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    return read;
}

static void expect_content(const char *path, native_binary expected) {
    native_binary read = read_whole(path);
    assert_int_equal(read.size, expected.size);
    assert_memory_equal(read.bytes, expected.bytes, expected.size);
}

static void create_and_destroy(world *w, native_binary code) {
    ze_module_handle_t module;
    ok(try_module(w, code, "", &module));
    ok(zeModuleDestroy(module));
}

/* The directory is made. Modules that exist already leave nothing, nor do those after the stop. */
static void test_modules_leave_their_files(void **state) {
    world *w = *state;
    native_binary matmul = read_binary("build/kernels/matmul.so"),
                  reduce = read_binary("build/kernels/reduce.so");
    zt_profiler *profiler = trace_with(w, in_directory("modules"));
    assert_int_equal(count_files(in_directory("modules")), 0);
    create_and_destroy(w, matmul);
    assert_int_equal(count_files(in_directory("modules")), 2);
    expect_content(module_file(matmul, "elf"), matmul);
    expect_content(module_file(matmul, "debug"), matmul); /* the device's binaries contain it */
    create_and_destroy(w, reduce);
    assert_int_equal(count_files(in_directory("modules")), 4);
    expect_content(module_file(reduce, "elf"), reduce);
    ok(zt_trace_stop(profiler));
    create_and_destroy(w, read_binary("build/kernels/saxpy.so"));
    assert_int_equal(count_files(in_directory("modules")), 4);
    assert_int_equal(w->message_count, 0);
    free(matmul.bytes);
    free(reduce.bytes);
}

static void test_no_files_by_default(void **state) {
    world *w = *state;
    native_binary matmul = read_binary("build/kernels/matmul.so");
    trace_with(w, NULL);
    create_and_destroy(w, matmul);
    assert_int_equal(calls("zeModuleGetNativeBinary"), 0);
    assert_int_equal(count_files(in_directory("")), 0);
    free(matmul.bytes);
}

static void test_without_debug_information(void **state) {
    world *w = *state;
    native_binary matmul = read_binary("build/kernels/matmul.so");
    ((ElfW(Ehdr) *)(void *)matmul.bytes)->e_shnum = 0;
    trace_with(w, in_directory("modules"));
    create_and_destroy(w, matmul);
    assert_int_equal(count_files(in_directory("modules")), 1);
    expect_content(module_file(matmul, "elf"), matmul);
    inject("zetModuleGetDebugInfo", 1, ZE_RESULT_ERROR_UNSUPPORTED_FEATURE);
    create_and_destroy(w, matmul);
    assert_int_equal(w->message_count, 0);
    free(matmul.bytes);
}

static void overwrite(const char *path, const char *text, size_t size) {
    FILE *file = fopen(path, "r+");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, strlen(text), file), strlen(text));
    fclose(file);
    if (size)
        assert_int_equal(truncate(path, (off_t)size), 0);
}

/* A file of the same name and size stays as it is. One that is cut off is written again. */
static void test_files_are_written_once(void **state) {
    world *w = *state;
    native_binary matmul = read_binary("build/kernels/matmul.so");
    trace_with(w, in_directory("modules"));
    create_and_destroy(w, matmul);
    overwrite(module_file(matmul, "elf"), "the first", 0);
    overwrite(module_file(matmul, "debug"), "cut off", 7);
    create_and_destroy(w, matmul);
    assert_memory_equal(read_whole(module_file(matmul, "elf")).bytes, "the first", 9);
    expect_content(module_file(matmul, "debug"), matmul);
    assert_int_equal(count_files(in_directory("modules")), 2);
    free(matmul.bytes);
}

static void test_files_have_the_permissions_of_the_user(void **state) {
    world *w = *state;
    native_binary matmul = read_binary("build/kernels/matmul.so");
    struct stat directory, file;
    mode_t before = umask(027);
    trace_with(w, in_directory("modules"));
    create_and_destroy(w, matmul);
    umask(before);
    assert_int_equal(stat(in_directory("modules"), &directory), 0);
    assert_int_equal(stat(module_file(matmul, "elf"), &file), 0);
    assert_int_equal(directory.st_mode & 0777, 0750);
    assert_int_equal(file.st_mode & 0777, 0640);
    free(matmul.bytes);
}

/* A relative path starts in the working directory at the start. */
static void test_a_change_of_the_working_directory(void **state) {
    world *w = *state;
    native_binary matmul = read_binary("build/kernels/matmul.so");
    char before[4096];
    assert_non_null(getcwd(before, sizeof before));
    assert_int_equal(chdir(test_directory), 0);
    trace_with(w, "modules");
    assert_int_equal(chdir("/"), 0);
    create_and_destroy(w, matmul);
    assert_int_equal(chdir(before), 0);
    assert_int_equal(count_files(in_directory("modules")), 2);
    free(matmul.bytes);
}

/* ==== failures ============================================================================================ */

/* One level of directories is made, not two. Then the modules are missing, and all else is measured. */
static void test_a_directory_that_cannot_be_made(void **state) {
    world *w = *state;
    native_binary matmul = read_binary("build/kernels/matmul.so");
    char expected[512];
    zt_profiler *profiler = trace_with(w, in_directory("far/modules"));
    snprintf(expected, sizeof expected,
             "[MODULE_NOT_SAVED] mkdir failed: No such file or directory. Files of modules are missing in "
             "'%s'. Make the directory, or the one that it is in.",
             in_directory("far/modules"));
    assert_string_equal(w->messages[0], expected);
    create_and_destroy(w, matmul);
    launch(w, w->immediate);
    finish_immediate(w, w->immediate);
    collect_all(profiler);
    assert_int_equal(region_info(profiler, "saxpy").count, 1);
    assert_int_equal(w->message_count, 1);
    assert_contains(written_report(profiler, ZT_FORMAT_TABLE), "1 file of modules could not be written.");
    free(matmul.bytes);
}

/* The first failure is logged, and reports have it with the number of all. */
static void test_files_that_cannot_be_written(void **state) {
    world *w = *state;
    native_binary matmul = read_binary("build/kernels/matmul.so");
    zt_profiler *profiler;
    fclose(fopen(in_directory("modules"), "w"));
    profiler = trace_with(w, in_directory("modules"));
    assert_int_equal(w->message_count, 0);
    create_and_destroy(w, matmul);
    create_and_destroy(w, matmul);
    assert_int_equal(w->message_count, 1);
    assert_contains(w->messages[0], "[MODULE_NOT_SAVED] fopen failed: Not a directory.");
    assert_contains(written_report(profiler, ZT_FORMAT_JSON),
                    "4 files of modules could not be written. The first: [MODULE_NOT_SAVED] fopen failed");
    free(matmul.bytes);
}

/* What was begun beside the name is removed. */
static void test_a_name_that_is_taken(void **state) {
    world *w = *state;
    native_binary matmul = read_binary("build/kernels/matmul.so");
    trace_with(w, in_directory("modules"));
    assert_int_equal(mkdir(module_file(matmul, "elf"), 0777), 0);
    create_and_destroy(w, matmul);
    assert_int_equal(count_files(in_directory("modules")), 2);
    expect_content(module_file(matmul, "debug"), matmul);
    assert_contains(w->messages[0], "[MODULE_NOT_SAVED] rename failed: Is a directory.");
    free(matmul.bytes);
}

static void test_a_driver_that_does_not_deliver(void **state) {
    world *w = *state;
    native_binary matmul = read_binary("build/kernels/matmul.so");
    trace_with(w, in_directory("modules"));
    inject("zeModuleGetNativeBinary", 1, ZE_RESULT_ERROR_UNKNOWN);
    create_and_destroy(w, matmul);
    assert_int_equal(count_files(in_directory("modules")), 0);
    assert_contains(w->messages[0],
                    "[MODULE_NOT_SAVED] zeModuleGetNativeBinary failed: ZE_RESULT_ERROR_UNKNOWN.");
    inject("zetModuleGetDebugInfo", 2, ZE_RESULT_ERROR_UNKNOWN);
    create_and_destroy(w, matmul);
    assert_int_equal(count_files(in_directory("modules")), 1);
    create_and_destroy(w, matmul);
    assert_int_equal(count_files(in_directory("modules")), 2);
    assert_int_equal(w->message_count, 1);
    free(matmul.bytes);
}

/* With ever more allocations, until everything is there. */
static void test_without_memory(void **state) {
    world *w = *state;
    native_binary matmul = read_binary("build/kernels/matmul.so");
    zt_trace_config trace = zt_trace_config_default();
    int files = 0, few = 0;
    trace.modules = in_directory("modules");
    while (files < 2) {
        zt_config config = config_of(w);
        config.allocator = scarce_allocator();
        allocations_left = -1;
        zt_profiler *profiler = open_profiler(w, &config);
        ok(zt_trace_start(profiler, &trace));
        allocations_left = few++;
        create_and_destroy(w, matmul);
        allocations_left = -1;
        files = count_files(trace.modules);
        assert_true(files == 2 || heard(w, "[MODULE_NOT_SAVED]"));
        close_profiler(w, profiler);
        w->message_count = 0;
    }
    assert_true(few > 2);
    free(matmul.bytes);
}

/* ==== threads ============================================================================================= */

enum { THREADS = 4, ROUNDS = 10 };

typedef struct creator {
    world *w;
    native_binary code;
} creator;

static void *create_often(void *argument) {
    const creator *me = argument;
    for (int i = 0; i < ROUNDS; i++)
        create_and_destroy(me->w, me->code);
    return NULL;
}

/* Several threads write the same files. */
static void test_threads_that_create_the_same(void **state) {
    world *w = *state;
    creator me = {w, read_binary("build/kernels/matmul.so")};
    pthread_t threads[THREADS];
    trace_with(w, in_directory("modules"));
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, create_often, &me), 0);
    for (int i = 0; i < THREADS; i++)
        join_in_time(w, threads[i]);
    assert_int_equal(count_files(in_directory("modules")), 2);
    expect_content(module_file(me.code, "elf"), me.code);
    assert_int_equal(w->message_count, 0);
    free(me.code.bytes);
}

/* ==== the environment ===================================================================================== */

static void test_the_environment_overrides(void **state) {
    world *w = *state;
    native_binary matmul = read_binary("build/kernels/matmul.so");
    zt_profiler *profiler;
    setenv("ZT_MODULES", in_directory("modules"), 1);
    profiler = trace_with(w, in_directory("other"));
    create_and_destroy(w, matmul);
    assert_int_equal(count_files(in_directory("modules")), 2);
    assert_int_equal(count_files(in_directory("other")), -1);
    ok(zt_trace_stop(profiler));
    setenv("ZT_MODULES", "", 1);
    close_profiler(w, profiler);
    trace_with(w, in_directory("other"));
    create_and_destroy(w, matmul);
    unsetenv("ZT_MODULES");
    assert_int_equal(count_files(in_directory("other")), -1);
    free(matmul.bytes);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        FILE_TEST(test_modules_leave_their_files),
        FILE_TEST(test_no_files_by_default),
        FILE_TEST(test_without_debug_information),
        FILE_TEST(test_files_are_written_once),
        FILE_TEST(test_files_have_the_permissions_of_the_user),
        FILE_TEST(test_a_change_of_the_working_directory),
        FILE_TEST(test_a_directory_that_cannot_be_made),
        FILE_TEST(test_files_that_cannot_be_written),
        FILE_TEST(test_a_name_that_is_taken),
        FILE_TEST(test_a_driver_that_does_not_deliver),
        FILE_TEST(test_without_memory),
        FILE_TEST(test_threads_that_create_the_same),
        FILE_TEST(test_the_environment_overrides),
    };
    return cmocka_run_group_tests(tests, start_traced, NULL);
}
