/* The reader thread of streams: nothing is lost while the application sleeps, memory is bounded, and the
   thread ends with its stream, with the device, and with the process. */
#include "rows.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

enum { DEVICE_CAPACITY = 4608 };

static zt_stream *open_with_reader(world *w, uint32_t period_ns, size_t memory_limit) {
    zt_stream_config config = stream_config_of(w);
    config.period_ns = period_ns;
    config.memory_limit = memory_limit;
    config.notify_reports = 100;
    config.thread = 1;
    return open_stream_with(w, &config);
}

static void await_reports(const zt_stream *stream, uint64_t count) {
    uint64_t limit = now_ns() + A_WHILE;
    while (zt_stream_get_info(stream).counts.reports < count && now_ns() < limit)
        nap();
    assert_true(zt_stream_get_info(stream).counts.reports >= count);
}

/* More reports than the device can keep, while nobody calls zt_stream_read. */
static void test_nothing_is_lost_while_nobody_polls(void **state) {
    world *w = (world *)*state;
    zt_stream *stream = open_with_reader(w, SLOW_PERIOD, 0);
    rows *kept = rows_of(stream);
    for (uint64_t marks = 0; marks < 2 * DEVICE_CAPACITY;) {
        for (int i = 0; i < 1000; i++, marks++)
            mark_now(w, stream, "mark");
        finish_immediate(w, w->immediate);
        await_reports(stream, marks);
    }
    ok(zt_stream_read(stream, A_WHILE, keep_row, kept));
    assert_true(kept->count >= 2 * DEVICE_CAPACITY);
    zt_stream_counts counts = close_rows(stream, kept);
    assert_int_equal(counts.gaps, 0);
    assert_int_equal(counts.discarded, 1);
    check_rows(kept);
}

/* By the clock, read at leisure. */
static void test_rows_by_the_clock(void **state) {
    world *w = (world *)*state;
    zt_stream *stream = open_with_reader(w, 1000000, 0);
    rows *kept = rows_of(stream);
    for (uint32_t i = 1; i <= 4; i++)
        read_rows(stream, kept, i * 10);
    close_rows(stream, kept);
    check_rows(kept);
}

/* What there is no room for stays in the device, and is dropped there, which is counted. */
static void test_memory_is_bounded(void **state) {
    world *w = (world *)*state;
    zt_stream *stream = open_with_reader(w, SLOW_PERIOD, 64 << 10);
    rows *kept = rows_of(stream);
    mark_now(w, stream, "mark");
    finish_immediate(w, w->immediate);
    await_reports(stream, 1);
    int64_t bytes = heap_bytes();
    for (int i = 0; i < 2 * DEVICE_CAPACITY; i++)
        mark_now(w, stream, "mark");
    finish_immediate(w, w->immediate);
    assert_int_equal(heap_bytes(), bytes);
    zt_stream_counts counts = close_rows(stream, kept);
    assert_true(counts.gaps >= 1);
    assert_int_equal(counts.rows, kept->count);
    assert_true(kept->count >= DEVICE_CAPACITY && kept->count < 2 * DEVICE_CAPACITY);
}

static void test_close_at_once(void **state) {
    world *w = (world *)*state;
    for (int i = 0; i < 20; i++)
        close_rows(open_with_reader(w, 1000000, 0), NULL);
}

static void test_device_is_lost(void **state) {
    world *w = (world *)*state;
    zt_stream *stream = open_with_reader(w, SLOW_PERIOD, 0);
    rows *kept = rows_of(stream);
    for (int i = 0; i < 6; i++)
        mark_now(w, stream, "mark");
    finish_immediate(w, w->immediate);
    await_reports(stream, 6);
    kept->stop_at = 1;
    ok(zt_stream_read(stream, A_WHILE, keep_row, kept)); /* the others are calculated, and wait */
    kept->stop_at = 0;
    gpu.lose_device();
    assert_result(zt_stream_read(stream, A_WHILE, keep_row, kept), ZE_RESULT_SUCCESS);
    assert_result(zt_stream_read(stream, A_WHILE, keep_row, kept), ZE_RESULT_ERROR_DEVICE_LOST);
    assert_int_equal(kept->count, 5);
    close_rows(stream, kept);
    gpu.restore_device();
}

static void test_its_processor_time_is_told(void **state) {
    world *w = (world *)*state;
    zt_stream *stream = open_with_reader(w, 1000000, 0);
    read_rows(stream, rows_of(stream), 20);
    assert_true(zt_stream_get_info(stream).thread_cpu_ns > 0);
    close_rows(stream, NULL);
}

/* A driver may wait busily: nobody waits in it, neither the thread nor a read. */
static void test_nobody_waits_in_the_driver(void **state) {
    world *w = (world *)*state;
    gpu.reset_calls();
    zt_stream *stream = open_with_reader(w, 1000000, 0);
    read_rows(stream, rows_of(stream), 20);
    close_rows(stream, NULL);
    stream = open_rows(w, 1000000);
    read_rows(stream, rows_of(stream), 20);
    close_rows(stream, NULL);
    assert_int_equal(calls("zeEventHostSynchronize"), 0);
    assert_true(calls("zeEventQueryStatus") > 0);
}

/* ==== the end of the process ============================================================================== */

/* A process that ends with its stream open, while the thread reads. */
static zt_stream *left_open;

static int leave_a_stream_open(void) {
    void *state = NULL;
    if (start(&state) || open_world(&state))
        return 1;
    left_open = open_with_reader((world *)state, 100000, 0);
    await_reports(left_open, 10);
    return 0;
}

/* The command that this process was started with, which may be that of a dynamic linker, and an argument. */
static void command_again(char *command, size_t size, const char *argument) {
    char words[4096];
    FILE *file = fopen("/proc/self/cmdline", "rb");
    assert_non_null(file);
    size_t length = fread(words, 1, sizeof words - 1, file);
    fclose(file);
    words[length] = 0;
    size_t used = (size_t)snprintf(command, size, "ASAN_OPTIONS=detect_leaks=0 timeout 60");
    for (const char *word = words; word < words + length; word += strlen(word) + 1)
        used += (size_t)snprintf(command + used, size - used, " '%s'", word);
    snprintf(command + used, size - used, " %s", argument);
}

static void test_the_process_ends(void **state) {
    char command[8192];
    (void)state;
    command_again(command, sizeof command, "leave-open");
    for (int i = 0; i < 3; i++) {
        int status = system(command);
        assert_true(WIFEXITED(status));
        assert_int_equal(WEXITSTATUS(status), 0);
    }
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        STREAM_TEST(test_nothing_is_lost_while_nobody_polls),
        STREAM_TEST(test_rows_by_the_clock),
        STREAM_TEST(test_memory_is_bounded),
        STREAM_TEST(test_close_at_once),
        STREAM_TEST(test_device_is_lost),
        STREAM_TEST(test_its_processor_time_is_told),
        STREAM_TEST(test_nobody_waits_in_the_driver),
        STREAM_TEST(test_the_process_ends),
    };
    if (argc > 1 && strcmp(argv[1], "leave-open") == 0)
        return leave_a_stream_open();
    return cmocka_run_group_tests(tests, start, NULL);
}
