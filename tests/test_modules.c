/* What a tracer does with the modules of others: files of binaries and debug information, profile flags, and
   kernels in place of theirs. */
#define _GNU_SOURCE
#include "fixture.h"

#include <dirent.h>
#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static int open_with_files(void **state) {
    return make_directory(state) ? -1 : open_world(state);
}

static int close_with_files(void **state) {
    return close_world(state) ? -1 : remove_directory(state);
}

#define FILE_TEST(function) cmocka_unit_test_setup_teardown(function, open_with_files, close_with_files)

static zt_profiler *trace_with(world *w, const char *directory) {
    zt_trace_config config = {0};
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
    ok(zeModuleDestroy(load_module(w, "build/kernels/saxpy.so", "")));
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

/* The suffix tells the format of a binary: drivers may deliver archives, and others. */
static void test_binaries_of_other_formats(void **state) {
    static const struct {
        const char *bytes, *suffix;
    } formats[] = {{"!<arch>\nfile/", "ar"}, {"!<arch>\n", "ar"},  {"!<arch>", "bin"}, {"\177ELF", "elf"},
                   {"\177EL", "bin"},        {"CTNI at 8", "bin"}, {"?", "bin"}};
    world *w = *state;
    native_binary matmul = read_binary("build/kernels/matmul.so");
    trace_with(w, in_directory("modules"));
    inject("zetModuleGetDebugInfo", 1, ZE_RESULT_ERROR_UNSUPPORTED_FEATURE);
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        uint8_t bytes[16];
        native_binary given = {bytes, strlen(formats[i].bytes)};
        memcpy(bytes, formats[i].bytes, given.size);
        gpu.set_native_binary(given.bytes, given.size);
        create_and_destroy(w, matmul);
        expect_content(module_file(given, formats[i].suffix), given);
    }
    gpu.set_native_binary(NULL, 0);
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

/* A file that is replaced keeps them. */
static void test_permissions_of_a_replaced_file_stay(void **state) {
    world *w = *state;
    native_binary matmul = read_binary("build/kernels/matmul.so");
    struct stat file;
    trace_with(w, in_directory("modules"));
    create_and_destroy(w, matmul);
    overwrite(module_file(matmul, "elf"), "cut off", 7);
    assert_int_equal(chmod(module_file(matmul, "elf"), 0600), 0);
    create_and_destroy(w, matmul);
    expect_content(module_file(matmul, "elf"), matmul);
    assert_int_equal(stat(module_file(matmul, "elf"), &file), 0);
    assert_int_equal(file.st_mode & 0777, 0600);
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

/* A relative path in a working directory whose own path is too long: it would be another after a change. */
static void test_a_working_directory_that_is_not_known(void **state) {
    enum { LEVELS = 21, LENGTH = 200 };
    world *w = *state;
    native_binary matmul = read_binary("build/kernels/matmul.so");
    char before[4096], name[LENGTH + 1];
    memset(name, 'd', LENGTH);
    name[LENGTH] = 0;
    assert_non_null(getcwd(before, sizeof before));
    assert_int_equal(chdir(test_directory), 0);
    for (int i = 0; i < LEVELS; i++) {
        assert_int_equal(mkdir(name, 0755), 0);
        assert_int_equal(chdir(name), 0);
    }
    zt_profiler *profiler = trace_with(w, "modules");
    assert_int_equal(chdir(".."), 0);
    create_and_destroy(w, matmul);
    int files = count_files("modules"); /* -1: it is not there */
    assert_int_equal(chdir(name), 0);
    assert_int_equal(rmdir("modules"), 0);
    for (int i = 0; i < LEVELS; i++) {
        assert_int_equal(chdir(".."), 0);
        assert_int_equal(rmdir(name), 0);
    }
    assert_int_equal(chdir(before), 0);
    assert_int_equal(files, -1);
    assert_int_equal(w->message_count, 1);
    assert_contains(w->messages[0], "[MODULE_NOT_SAVED] getcwd failed: ");
    assert_contains(w->messages[0], "missing in 'modules'. Use the absolute path of a directory.");
    assert_contains(written_report(profiler, ZT_FORMAT_TABLE), "Writing files of modules has failed. [");
    free(matmul.bytes);
}

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
    assert_contains(written_report(profiler, ZT_FORMAT_TABLE), "Writing files of modules has failed. [");
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
    assert_contains(w->messages[0], "[MODULE_NOT_SAVED] write failed: Not a directory.");
    assert_contains(
        written_report(profiler, ZT_FORMAT_JSON),
        "Writing files of modules has failed 4 times. The first: [MODULE_NOT_SAVED] write failed");
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
    assert_contains(w->messages[0], "[MODULE_NOT_SAVED] write failed: Is a directory.");
    free(matmul.bytes);
}

static const struct rlimit *file_limit; /* from when the library gets a binary on; NULL: none */

ze_result_t ZE_APICALL zeModuleGetNativeBinary(ze_module_handle_t module, size_t *size, uint8_t *bytes) {
    if (file_limit && setrlimit(RLIMIT_FSIZE, file_limit) != 0)
        return ZE_RESULT_ERROR_UNKNOWN;
    return REAL(zeModuleGetNativeBinary)(module, size, bytes);
}

/* The disk is full, or files may not be as large. What there was room for is removed. */
static void test_a_disk_without_room(void **state) {
    enum { SMALL = 1000 };
    world *w = *state;
    native_binary matmul = read_binary("build/kernels/matmul.so");
    struct rlimit unlimited, limit;
    zt_profiler *profiler = trace_with(w, in_directory("modules"));
    char expected[256];
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &unlimited), 0);
    limit = unlimited;
    file_limit = &limit;
    for (int i = 0; i < 2; i++) {
        limit.rlim_cur = i ? matmul.size - 1 : SMALL; /* the last byte may be missing alone */
        create_and_destroy(w, matmul);
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &unlimited), 0);
    }
    file_limit = NULL;
    assert_int_equal(count_files(in_directory("modules")), 0);
    assert_int_equal(w->message_count, 1);
    snprintf(expected, sizeof expected, "[MODULE_NOT_SAVED] write failed: %s. ", strerror(EFBIG));
    assert_contains(w->messages[0], expected);
    assert_contains(written_report(profiler, ZT_FORMAT_JSON), "Writing files of modules has failed 4 times.");
    create_and_destroy(w, matmul);
    assert_int_equal(count_files(in_directory("modules")), 2);
    free(matmul.bytes);
}

/* Reports tell that files are missing, even those for which there was no directory. */
static void test_without_memory_for_the_directory(void **state) {
    world *w = *state;
    native_binary matmul = read_binary("build/kernels/matmul.so");
    zt_trace_config trace = {0};
    int few = 0, files = -1;
    trace.modules = in_directory("modules");
    while (files < 2) {
        zt_config config = config_of(w);
        config.allocator = scarce_allocator();
        allocations_left = -1;
        zt_profiler *profiler = open_profiler(w, &config);
        allocations_left = few++;
        ze_result_t result = zt_trace_start(profiler, &trace);
        allocations_left = -1;
        if (result == ZE_RESULT_SUCCESS) {
            create_and_destroy(w, matmul);
            files = count_files(trace.modules);
            assert_true(files == 2 || heard(w, "[MODULE_NOT_SAVED] malloc failed: no memory for a path."));
            assert_true(files == 2 || strstr(written_report(profiler, ZT_FORMAT_TABLE),
                                             "Writing files of modules has failed. [MODULE_NOT_SAVED]"));
        } else {
            assert_result(result, ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY);
        }
        close_profiler(w, profiler);
        w->message_count = 0;
    }
    assert_true(few > 2);
    free(matmul.bytes);
}

static void test_a_driver_without_a_binary(void **state) {
    world *w = *state;
    native_binary matmul = read_binary("build/kernels/matmul.so");
    zt_profiler *profiler = trace_with(w, in_directory("modules"));
    gpu.set_native_binary("", 0);
    create_and_destroy(w, matmul);
    gpu.set_native_binary(NULL, 0);
    assert_int_equal(count_files(in_directory("modules")), 0);
    assert_int_equal(w->message_count, 1);
    assert_contains(w->messages[0],
                    "[MODULE_NOT_SAVED] zeModuleGetNativeBinary failed: the binary has no bytes.");
    assert_contains(written_report(profiler, ZT_FORMAT_TABLE), "Writing files of modules has failed. [");
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
    zt_trace_config trace = {0};
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

/* ==== builds with profile flags =========================================================================== */

static zt_profiler *trace_profiled(world *w, uint32_t flags) {
    zt_trace_config config = {0};
    zt_profiler *profiler = open_groups(w, "ComputeBasic");
    config.profile_flags = flags;
    ok(zt_trace_start(profiler, &config));
    gpu.reset_calls();
    return profiler;
}

/* With which flags a module is built, of which the application has asked for `flags`. */
static uint32_t profile_flags(world *w, const char *flags) {
    zet_profile_properties_t properties = {.stype = ZET_STRUCTURE_TYPE_PROFILE_PROPERTIES};
    ze_module_handle_t module = load_module(w, "build/kernels/saxpy.so", flags);
    ze_kernel_handle_t kernel = kernel_in(module, "saxpy");
    ok(zetKernelGetProfileInfo((zet_kernel_handle_t)kernel, &properties));
    ok(zeKernelDestroy(kernel));
    ok(zeModuleDestroy(module));
    return properties.flags;
}

static void test_modules_are_built_with_profile_flags(void **state) {
    world *w = *state;
    zt_profiler *profiler = trace_profiled(w, 3);
    assert_int_equal(profile_flags(w, ""), 3);
    assert_int_equal(calls("zeModuleCreate"), 2); /* the first is a trial, as of each module */
    assert_int_equal(profile_flags(w, NULL), 3);
    assert_int_equal(profile_flags(w, "-ze-opt-disable"), 3);
    assert_int_equal(profile_flags(w, "-zet-profile-flags 0x1 -g"), 1);
    assert_int_equal(calls("zeModuleCreate"), 7);
    ok(zt_trace_stop(profiler));
    assert_int_equal(profile_flags(w, ""), 0);
    ok(zt_trace_start(profiler, NULL));
    assert_int_equal(profile_flags(w, ""), 0);
    assert_int_equal(w->message_count, 0);
}

/* The module is built as the application wants it, and a message tells that the flags are missing. */
static void test_profile_flags_without_memory(void **state) {
    world *w = *state;
    uint32_t flags = 0;
    uint64_t nth = 1;
    trace_profiled(w, 3);
    for (; !heard(w, "zeModuleCreate"); nth++) {
        assert_true(nth < 100);
        fail_heap(nth, 0);
        flags = profile_flags(w, "");
        fail_heap(0, 0);
        assert_true(flags == 3 || w->message_count > 0);
    }
    assert_int_equal(flags, 0);
    assert_contains(w->messages[w->message_count - 1], "build flags");
    assert_int_equal(profile_flags(w, ""), 3);
}

/* A call that the driver refuses as well. */
static void test_a_module_without_a_description(void **state) {
    world *w = *state;
    ze_module_handle_t module = NULL;
    trace_profiled(w, 3);
    assert_result(zeModuleCreate(w->context, w->device, NULL, &module, NULL),
                  ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    assert_null(module);
    assert_int_equal(profile_flags(w, ""), 3);
    assert_int_equal(w->message_count, 0);
}

/* Then the application has its module all the same. */
static void test_a_driver_that_refuses_profile_flags(void **state) {
    world *w = *state;
    trace_profiled(w, 2);
    inject("zeModuleCreate", 1, ZE_RESULT_ERROR_MODULE_BUILD_FAILURE);
    assert_int_equal(profile_flags(w, ""), 0);
    assert_string_equal(w->messages[0],
                        "[FLAGS_REFUSED] zeModuleCreate failed: ZE_RESULT_ERROR_MODULE_BUILD_FAILURE, with "
                        "-zet-profile-flags 0x2, and not without. Modules are built without. Set "
                        "ZET_ENABLE_PROGRAM_INSTRUMENTATION=1 in the environment before zeInit.");
    assert_int_equal(profile_flags(w, ""), 2); /* what is refused once need not be for ever */
    assert_int_equal(calls("zeModuleCreate"), 4);
    inject("zeModuleCreate", 1, ZE_RESULT_ERROR_MODULE_BUILD_FAILURE);
    assert_int_equal(profile_flags(w, ""), 0);
    assert_int_equal(w->message_count, 1);
}

/* It says nothing of the flags. */
static void test_modules_that_cannot_be_built(void **state) {
    world *w = *state;
    native_binary code = read_binary("build/kernels/saxpy.so");
    ze_module_handle_t module;
    trace_profiled(w, 2);
    code.size /= 2;
    assert_result(try_module(w, code, "", &module), ZE_RESULT_ERROR_INVALID_NATIVE_BINARY);
    assert_int_equal(w->message_count, 0);
    assert_int_equal(profile_flags(w, ""), 2);
    free(code.bytes);
}

static void test_profile_flags_in_the_environment(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_groups(w, "ComputeBasic");
    setenv("ZT_PROFILE_FLAGS", "2", 1);
    ok(zt_trace_start(profiler, NULL));
    assert_int_equal(profile_flags(w, ""), 2);
    ok(zt_trace_stop(profiler));
    const char *const mistakes[] = {"", "0x3 ", "0x100000002", "-1"};
    for (size_t i = 0; i < sizeof mistakes / sizeof *mistakes; i++) {
        setenv("ZT_PROFILE_FLAGS", mistakes[i], 1);
        assert_result(zt_trace_start(profiler, NULL), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    }
    unsetenv("ZT_PROFILE_FLAGS");
}

/* ==== kernels in place of others ========================================================================== */

static ze_module_handle_t load_replacements(world *w) {
    return load_module(w, "build/kernels/replacements.so", "");
}

/* A variable of that module. */
static uint32_t *items_of(ze_module_handle_t replacements) {
    size_t size;
    void *items;
    ok(zeModuleGetGlobalPointer(replacements, "items", &size, &items));
    assert_int_equal(size, sizeof(uint32_t));
    return items;
}

/* Launches a kernel that adds so many times 1 to each sum. */
static void launch_new(world *w, uint32_t times) {
    ze_kernel_handle_t kernel;
    create_kernel(w, &kernel);
    launch_kernel(w->immediate, kernel);
    finish_immediate(w, w->immediate);
    ok(zeKernelDestroy(kernel));
    w->launches += times;
    check_work(w);
}

static uint64_t replaced(const zt_profiler *profiler) {
    return zt_get_info(profiler).launches.replaced;
}

static zt_profiler *trace_replaced(world *w, const char *kernels, ze_module_handle_t module,
                                   const char *name) {
    zt_profiler *profiler = open_groups(w, "ComputeBasic");
    ok(zt_replace(profiler, kernels, module, name));
    ok(zt_trace_start(profiler, NULL));
    return profiler;
}

static void test_a_kernel_of_the_same_name(void **state) {
    world *w = *state;
    ze_module_handle_t replacements = load_replacements(w);
    uint32_t *items = items_of(replacements), before = *items;
    zt_profiler *profiler = trace_replaced(w, "saxpy", replacements, NULL);
    launch_new(w, 1);
    assert_int_equal(*items - before, WORK_ITEMS);
    assert_int_equal(replaced(profiler), 1);
    launch(w, w->immediate); /* a kernel that was created before stays */
    finish_immediate(w, w->immediate);
    assert_int_equal(*items - before, WORK_ITEMS);
    collect_all(profiler);
    assert_int_equal(region_info(profiler, "saxpy").count, 2);
    assert_contains(written_report(profiler, ZT_FORMAT_TABLE), "zt_replace has replaced 1 kernel:");
    assert_int_equal(w->message_count, 0);
    ok(zeModuleDestroy(replacements));
}

static void test_a_kernel_of_another_name(void **state) {
    world *w = *state;
    ze_module_handle_t replacements = load_replacements(w);
    zt_profiler *profiler = trace_replaced(w, "sa*,!*_tail", replacements, "twice");
    launch_new(w, 2);
    collect_all(profiler);
    assert_int_equal(region_info(profiler, "twice").count, 1);
    ok(zeModuleDestroy(replacements));
}

/* It is of no matter whether it begins before the start. It lasts over a stop, in which nothing is replaced,
   and ends by the same text or with all. */
static void test_a_replacement_begins_and_ends(void **state) {
    world *w = *state;
    ze_module_handle_t replacements = load_replacements(w);
    zt_profiler *profiler = open_groups(w, "ComputeBasic");
    ok(zt_replace(profiler, "saxpy", NULL, NULL)); /* there is none */
    ok(zt_trace_start(profiler, NULL));
    launch_new(w, 1);
    ok(zt_replace(profiler, "saxpy", replacements, "twice"));
    launch_new(w, 2);
    ok(zt_trace_stop(profiler));
    launch_new(w, 1);
    ok(zt_trace_start(profiler, NULL));
    launch_new(w, 2);
    ok(zt_replace(profiler, "sax*", NULL, NULL)); /* another text */
    launch_new(w, 2);
    ok(zt_replace(profiler, "saxpy", NULL, NULL));
    launch_new(w, 1);
    ok(zt_replace(profiler, NULL, replacements, "twice"));
    launch_new(w, 2);
    ok(zt_replace(profiler, NULL, NULL, NULL));
    launch_new(w, 1);
    assert_int_equal(replaced(profiler), 4);
    ok(zeModuleDestroy(replacements));
}

static void test_the_newest_replacement_counts(void **state) {
    world *w = *state;
    ze_module_handle_t replacements = load_replacements(w);
    zt_profiler *profiler = trace_replaced(w, "saxpy", replacements, NULL);
    ok(zt_replace(profiler, "s*", replacements, "twice"));
    launch_new(w, 2);
    ok(zt_replace(profiler, "saxpy", replacements, "saxpy"));
    launch_new(w, 1);
    ok(zt_replace(profiler, "saxpy", replacements, "twice"));
    launch_new(w, 2);
    ok(zt_replace(profiler, "saxpy", NULL, NULL));
    launch_new(w, 2);
    ok(zt_replace(profiler, "s*", NULL, NULL));
    launch_new(w, 1);
    ok(zeModuleDestroy(replacements));
}

static void test_kernels_that_are_not_selected(void **state) {
    world *w = *state;
    ze_module_handle_t replacements = load_replacements(w), reduce;
    zt_profiler *profiler = trace_replaced(w, "saxpy", replacements, "twice");
    reduce = load_module(w, "build/kernels/reduce.so", "");
    gpu.reset_calls();
    ok(zeKernelDestroy(kernel_in(reduce, "reduce")));
    assert_int_equal(calls("zeKernelCreate"), 1);
    assert_int_equal(replaced(profiler), 0);
    assert_int_equal(w->message_count, 0);
    ok(zeModuleDestroy(reduce));
    ok(zeModuleDestroy(replacements));
}

static void test_kernels_that_the_module_lacks(void **state) {
    world *w = *state;
    ze_module_handle_t replacements = load_replacements(w), reduce;
    zt_profiler *profiler = trace_replaced(w, NULL, replacements, NULL);
    reduce = load_module(w, "build/kernels/reduce.so", "");
    ok(zeKernelDestroy(kernel_in(reduce, "reduce")));
    assert_int_equal(replaced(profiler), 0);
    assert_int_equal(w->message_count, 0);
    assert_result(zt_replace(profiler, "reduce", replacements, "twise"), ZE_RESULT_ERROR_INVALID_KERNEL_NAME);
    assert_string_equal(w->messages[0], "[NO_SUCH_KERNEL] zt_replace: the module has no kernel 'twise'. "
                                        "Nearest: 'twice', 'unlike', 'saxpy'.");
    ok(zeModuleDestroy(reduce));
    ok(zeModuleDestroy(replacements));
}

static void test_another_number_of_arguments(void **state) {
    world *w = *state;
    ze_module_handle_t replacements = load_replacements(w);
    zt_profiler *profiler = trace_replaced(w, "saxpy", replacements, "unlike");
    launch_new(w, 1);
    launch_new(w, 1);
    assert_int_equal(replaced(profiler), 0);
    assert_int_equal(w->message_count, 1);
    assert_string_equal(w->messages[0],
                        "[NOT_REPLACED] zt_replace: 'saxpy' is not replaced by 'unlike': it has 4 arguments, "
                        "and the other one 2. Build the other one with the same arguments, for the context "
                        "and device of the profiler.");
    ok(zeModuleDestroy(replacements));
}

/* The kernel of the application stays, whatever fails. */
static void test_failures_of_the_driver(void **state) {
    world *w = *state;
    ze_module_handle_t replacements = load_replacements(w);
    zt_profiler *profiler = trace_replaced(w, "saxpy", replacements, "twice");
    inject("zeKernelCreate", 2, ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY);
    launch_new(w, 1);
    assert_contains(w->messages[0], "zeKernelCreate failed: ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY");
    for (uint32_t nth = 1; nth <= 2; nth++) {
        inject("zeKernelGetProperties", nth, ZE_RESULT_ERROR_UNKNOWN);
        launch_new(w, 1);
        assert_contains(zt_get_info(profiler).error, "zeKernelGetProperties failed: ZE_RESULT_ERROR_UNKNOWN");
    }
    assert_int_equal(w->message_count, 2);
    inject("zeKernelCreate", 1, ZE_RESULT_ERROR_UNKNOWN); /* that of the application */
    ze_kernel_desc_t desc = {ZE_STRUCTURE_TYPE_KERNEL_DESC, NULL, 0, "saxpy"};
    ze_kernel_handle_t kernel;
    assert_result(zeKernelCreate(w->module, &desc, &kernel), ZE_RESULT_ERROR_UNKNOWN);
    assert_int_equal(replaced(profiler), 0);
    launch_new(w, 2);
    inject("zeModuleGetKernelNames", 1, ZE_RESULT_ERROR_UNKNOWN);
    assert_result(zt_replace(profiler, "saxpy", replacements, "twice"), ZE_RESULT_ERROR_UNKNOWN);
    launch_new(w, 2);
    ok(zeModuleDestroy(replacements));
}

/* That a kernel does not exist is no failure only where its name was not asked for, and when it is created. */
static void test_kernels_that_are_missing_against_expectation(void **state) {
    world *w = *state;
    ze_module_handle_t replacements = load_replacements(w);
    zt_profiler *profiler = trace_replaced(w, "saxpy", replacements, NULL);
    inject("zeKernelCreate", 2, ZE_RESULT_ERROR_INVALID_KERNEL_NAME);
    launch_new(w, 1);
    assert_int_equal(w->message_count, 0);
    inject("zeKernelGetProperties", 1, ZE_RESULT_ERROR_INVALID_KERNEL_NAME);
    launch_new(w, 1);
    assert_contains(zt_get_info(profiler).error,
                    "zeKernelGetProperties failed: ZE_RESULT_ERROR_INVALID_KERNEL_NAME");
    ok(zt_replace(profiler, "saxpy", replacements, "twice"));
    inject("zeKernelCreate", 2, ZE_RESULT_ERROR_INVALID_KERNEL_NAME);
    launch_new(w, 1);
    assert_contains(zt_get_info(profiler).error,
                    "zeKernelCreate failed: ZE_RESULT_ERROR_INVALID_KERNEL_NAME");
    assert_int_equal(replaced(profiler), 0);
    ok(zeModuleDestroy(replacements));
}

/* What a tool creates itself of its own modules stays. */
static void test_kernels_of_the_replacing_modules(void **state) {
    world *w = *state;
    ze_module_handle_t replacements = load_replacements(w), other = load_replacements(w);
    ze_kernel_handle_t kernel;
    zt_profiler *profiler = trace_replaced(w, "*", replacements, "twice");
    ok(zt_replace(profiler, "saxpy", other, "twice"));
    kernel = kernel_in(replacements, "saxpy");
    ok(zeKernelDestroy(kernel));
    kernel = kernel_in(other, "saxpy");
    ok(zeKernelDestroy(kernel));
    assert_int_equal(replaced(profiler), 0);
    ok(zeModuleDestroy(other));
    ok(zeModuleDestroy(replacements));
}

/* A module that is created while tracing is known to be of another context. */
static void test_modules_of_other_contexts(void **state) {
    world *w = *state;
    ze_context_desc_t desc = {ZE_STRUCTURE_TYPE_CONTEXT_DESC, NULL, 0};
    ze_module_handle_t replacements = load_replacements(w), elsewhere;
    world other = *w;
    zt_profiler *profiler = trace_replaced(w, "saxpy", replacements, NULL);
    ok(zeContextCreate(w->driver, &desc, &other.context));
    elsewhere = load_module(&other, "build/kernels/saxpy.so", "");
    ok(zeKernelDestroy(kernel_in(elsewhere, "saxpy")));
    assert_int_equal(replaced(profiler), 0);
    ok(zeModuleDestroy(elsewhere));
    elsewhere = load_module(w, "build/kernels/saxpy.so", "");
    ok(zeKernelDestroy(kernel_in(elsewhere, "saxpy")));
    assert_int_equal(replaced(profiler), 1);
    ok(zeModuleDestroy(elsewhere));
    ok(zeContextDestroy(other.context));
    ok(zeModuleDestroy(replacements));
}

/* What the epilogue of a hook sees. */
typedef struct seen_kernel {
    ze_module_handle_t module;
    ze_kernel_handle_t kernel;
} seen_kernel;

static void note_kernel(void *parameters, int result, void *user, void **instance) {
    const ze_kernel_create_params_t *p = parameters;
    (void)instance;
    assert_int_equal(result, ZE_RESULT_SUCCESS);
    *(seen_kernel *)user = (seen_kernel){*p->phModule, **p->pphKernel};
}

/* Epilogues of hooks get the replacement and its module. */
static void test_hooks_beside_it(void **state) {
    world *w = *state;
    ze_module_handle_t replacements = load_replacements(w);
    ze_kernel_handle_t kernel;
    seen_kernel seen = {NULL, NULL};
    const zt_hook hook = {"zeKernelCreate", NULL, note_kernel, &seen};
    zt_trace_config config = {0};
    char name[16];
    size_t size = sizeof name;
    zt_profiler *profiler = open_groups(w, "ComputeBasic");
    config.hooks = &hook;
    config.hook_count = 1;
    config.no_launches = 1;
    ok(zt_trace_start(profiler, &config));
    ok(zt_replace(profiler, "saxpy", replacements, "twice"));
    kernel = kernel_in(w->module, "saxpy");
    assert_ptr_equal(seen.kernel, kernel);
    assert_ptr_equal(seen.module, replacements);
    ok(zeKernelGetName(kernel, &size, name));
    assert_string_equal(name, "twice");
    ok(zeKernelDestroy(kernel));
    ok(zeModuleDestroy(replacements));
}

static void test_a_module_that_is_destroyed(void **state) {
    world *w = *state;
    ze_module_handle_t replacements = load_replacements(w);
    zt_profiler *profiler = trace_replaced(w, "saxpy", replacements, "twice");
    launch_new(w, 2);
    ok(zeModuleDestroy(replacements));
    launch_new(w, 1);
    assert_int_equal(replaced(profiler), 1);
    assert_int_equal(w->message_count, 0);
}

static void test_pointers_to_functions(void **state) {
    world *w = *state;
    ze_module_handle_t replacements = load_replacements(w), caller;
    const ze_group_count_t one = {1, 1, 1};
    void *function, *other;
    zt_profiler *profiler = trace_replaced(w, NULL, replacements, NULL);
    caller = load_module(w, "build/kernels/functions.so", "");
    ok(zeModuleGetFunctionPointer(replacements, "scaled", &other));
    ok(zeModuleGetFunctionPointer(caller, "scaled", &function));
    assert_ptr_equal(function, other);
    assert_int_equal(replaced(profiler), 1);
    ze_kernel_handle_t kernel = kernel_in(caller, "apply");
    ok(zeKernelSetGroupSize(kernel, WORK_ITEMS, 1, 1));
    ok(zeKernelSetArgumentValue(kernel, 0, sizeof w->ones, &w->ones));
    ok(zeKernelSetArgumentValue(kernel, 1, sizeof function, &function));
    ok(zeCommandListAppendLaunchKernel(w->immediate, kernel, &one, NULL, 0, NULL));
    finish_immediate(w, w->immediate);
    assert_true(w->ones[0] == 3); /* 2 without a replacement */
    ok(zt_replace(profiler, NULL, NULL, NULL));
    ok(zeModuleGetFunctionPointer(caller, "scaled", &function));
    assert_ptr_not_equal(function, other);
    ok(zt_replace(profiler, "scaled", replacements, "scaled"));
    inject("zeModuleGetFunctionPointer", 2, ZE_RESULT_ERROR_UNKNOWN);
    ok(zeModuleGetFunctionPointer(caller, "scaled", &function));
    assert_ptr_not_equal(function, other);
    assert_contains(zt_get_info(profiler).error, "zeModuleGetFunctionPointer failed");
    ok(zeKernelDestroy(kernel));
    ok(zeModuleDestroy(caller));
    ok(zeModuleDestroy(replacements));
}

/* Functions of every name are replaced, of which the module has some. */
static void test_functions_that_the_module_lacks(void **state) {
    world *w = *state;
    ze_module_handle_t replacements = load_replacements(w), caller;
    void *function = NULL, *before = NULL;
    caller = load_module(w, "build/kernels/functions.so", "");
    ok(zeModuleGetFunctionPointer(caller, "scaled", &before));
    zt_profiler *profiler = trace_replaced(w, NULL, replacements, NULL);
    inject("zeModuleGetFunctionPointer", 2, ZE_RESULT_ERROR_INVALID_FUNCTION_NAME);
    ok(zeModuleGetFunctionPointer(caller, "scaled", &function));
    assert_ptr_equal(function, before);
    assert_int_equal(w->message_count, 0);
    inject("zeModuleGetFunctionPointer", 2, ZE_RESULT_ERROR_UNKNOWN);
    ok(zeModuleGetFunctionPointer(caller, "scaled", &function));
    assert_ptr_equal(function, before);
    assert_contains(zt_get_info(profiler).error,
                    "zeModuleGetFunctionPointer failed: ZE_RESULT_ERROR_UNKNOWN");
    assert_int_equal(replaced(profiler), 0);
    ok(zeModuleDestroy(caller));
    ok(zeModuleDestroy(replacements));
}

static void test_replacements_without_memory(void **state) {
    world *w = *state;
    ze_module_handle_t replacements = load_replacements(w);
    zt_config config = config_of(w);
    ze_result_t result = ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    int few = 0;
    for (; result == ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY; few++) {
        config.allocator = scarce_allocator();
        allocations_left = -1;
        zt_profiler *profiler = open_profiler(w, &config);
        allocations_left = few;
        result = zt_replace(profiler, "saxpy", replacements, "twice");
        allocations_left = -1;
        ok(zt_trace_start(profiler, NULL));
        launch_new(w, result == ZE_RESULT_SUCCESS ? 2 : 1);
        close_profiler(w, profiler);
    }
    ok(result);
    assert_true(few > 3);
    ok(zeModuleDestroy(replacements));
}

/* Without a profiler, and with one that has no device. */
static void test_nothing_to_replace(void **state) {
    world *w = *state;
    static char packed[1 << 16];
    size_t size = sizeof packed;
    zt_profiler *profiler = open_groups(w, "ComputeBasic"), *unpacked;
    ok(zt_replace(NULL, "saxpy", w->module, NULL));
    ok(zt_replace(profiler, NULL, NULL, NULL));
    ok(zt_pack(profiler, packed, &size));
    ok(zt_unpack(packed, size, NULL, &unpacked));
    ok(zt_replace(unpacked, NULL, NULL, NULL));
    assert_result(zt_replace(unpacked, "saxpy", w->module, NULL), ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
    zt_close(unpacked);
}

typedef struct kernel_creator {
    world *w;
    pthread_t thread;
    atomic_int *has_ended;
    atomic_uint rounds;
} kernel_creator;

static void *create_kernels(void *argument) {
    kernel_creator *me = argument;
    while (!atomic_load(me->has_ended)) {
        ok(zeKernelDestroy(kernel_in(me->w->module, "saxpy")));
        atomic_fetch_add(&me->rounds, 1);
    }
    return NULL;
}

/* Every kernel that a thread has now is destroyed then. */
static void await_new_rounds(kernel_creator *creators) {
    unsigned before[THREADS];
    for (int i = 0; i < THREADS; i++)
        before[i] = atomic_load(&creators[i].rounds);
    for (int i = 0; i < THREADS; i++)
        while (atomic_load(&creators[i].rounds) - before[i] < 2)
            nap();
}

/* A module is not used any more once zt_replace has ended what it replaces, and its kernels are destroyed. */
static void test_threads_that_create_kernels(void **state) {
    world *w = *state;
    static kernel_creator creators[THREADS];
    atomic_int has_ended = 0;
    zt_profiler *profiler = open_groups(w, "ComputeBasic");
    ok(zt_trace_start(profiler, NULL));
    for (int i = 0; i < THREADS; i++) {
        creators[i].w = w;
        creators[i].has_ended = &has_ended;
        assert_int_equal(pthread_create(&creators[i].thread, NULL, create_kernels, &creators[i]), 0);
    }
    for (int i = 0; i < ROUNDS; i++) {
        ze_module_handle_t replacements = load_replacements(w);
        uint64_t before = replaced(profiler);
        ok(zt_replace(profiler, "saxpy", replacements, NULL));
        await_new_rounds(creators);
        assert_true(replaced(profiler) > before);
        ok(zt_replace(profiler, "saxpy", NULL, NULL));
        await_new_rounds(creators);
        ok(zeModuleDestroy(replacements));
    }
    atomic_store(&has_ended, 1);
    for (int i = 0; i < THREADS; i++)
        join_in_time(w, creators[i].thread);
    assert_int_equal(w->message_count, 0);
}

/* The end of a replacement waits for a thread that creates one of its kernels, here for no time at all. */
static void test_a_replacement_in_use(void **state) {
    world *w = *state;
    static kernel_creator thread;
    atomic_int has_ended = 0;
    ze_module_handle_t replacements = load_replacements(w);
    zt_config config = config_of(w);
    zt_profiler *profiler;
    ze_result_t result = ZE_RESULT_SUCCESS;
    thread.w = w;
    thread.has_ended = &has_ended;
    config.groups = "";
    config.wait_timeout_ns = 1;
    profiler = open_profiler(w, &config);
    ok(zt_trace_start(profiler, NULL));
    gpu.set_call_cost("zeKernelCreate", 1000000);
    assert_int_equal(pthread_create(&thread.thread, NULL, create_kernels, &thread), 0);
    while (result == ZE_RESULT_SUCCESS) {
        ok(zt_replace(profiler, "saxpy", replacements, NULL));
        nap();
        result = zt_replace(profiler, "saxpy", NULL, NULL);
    }
    assert_result(result, ZE_RESULT_NOT_READY);
    assert_string_equal(w->messages[0],
                        "[REPLACEMENT_IN_USE] zt_replace: another thread still creates a kernel of "
                        "a module that replaces no more. Keep the module, and try again.");
    atomic_store(&has_ended, 1);
    join_in_time(w, thread.thread);
    ok(zt_replace(profiler, "saxpy", NULL, NULL));
    ok(zeModuleDestroy(replacements));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        FILE_TEST(test_modules_leave_their_files),
        FILE_TEST(test_no_files_by_default),
        FILE_TEST(test_without_debug_information),
        FILE_TEST(test_binaries_of_other_formats),
        FILE_TEST(test_files_are_written_once),
        FILE_TEST(test_files_have_the_permissions_of_the_user),
        FILE_TEST(test_permissions_of_a_replaced_file_stay),
        FILE_TEST(test_a_change_of_the_working_directory),
        FILE_TEST(test_a_working_directory_that_is_not_known),
        FILE_TEST(test_a_directory_that_cannot_be_made),
        FILE_TEST(test_files_that_cannot_be_written),
        FILE_TEST(test_a_name_that_is_taken),
        FILE_TEST(test_a_disk_without_room),
        FILE_TEST(test_without_memory_for_the_directory),
        FILE_TEST(test_a_driver_without_a_binary),
        FILE_TEST(test_a_driver_that_does_not_deliver),
        FILE_TEST(test_without_memory),
        FILE_TEST(test_threads_that_create_the_same),
        FILE_TEST(test_the_environment_overrides),
        TEST(test_modules_are_built_with_profile_flags),
        TEST(test_profile_flags_without_memory),
        TEST(test_a_module_without_a_description),
        TEST(test_a_driver_that_refuses_profile_flags),
        TEST(test_modules_that_cannot_be_built),
        TEST(test_profile_flags_in_the_environment),
        TEST(test_a_kernel_of_the_same_name),
        TEST(test_a_kernel_of_another_name),
        TEST(test_a_replacement_begins_and_ends),
        TEST(test_the_newest_replacement_counts),
        TEST(test_kernels_that_are_not_selected),
        TEST(test_kernels_that_the_module_lacks),
        TEST(test_another_number_of_arguments),
        TEST(test_failures_of_the_driver),
        TEST(test_kernels_that_are_missing_against_expectation),
        TEST(test_kernels_of_the_replacing_modules),
        TEST(test_modules_of_other_contexts),
        TEST(test_hooks_beside_it),
        TEST(test_a_module_that_is_destroyed),
        TEST(test_pointers_to_functions),
        TEST(test_functions_that_the_module_lacks),
        TEST(test_replacements_without_memory),
        TEST(test_nothing_to_replace),
        TEST(test_threads_that_create_kernels),
        TEST(test_a_replacement_in_use),
    };
    return cmocka_run_group_tests(tests, start_traced, NULL);
}
