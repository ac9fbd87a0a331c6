/* Statistics of several profilers together: merged, packed, and the bad buffers. And the tiles of a device.
 */
#include "fixture.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Launches of different length, so that values differ. */
static void run_varied(world *w, zt_profiler *profiler, const char *name, int from, int to) {
    for (int i = from; i < to; i++) {
        ZT_REGION(profiler, w->immediate, name)
        for (int launches = 0; launches <= i % 7; launches++)
            launch(w, w->immediate);
        finish_immediate(w, w->immediate);
    }
    collect_all(profiler);
}

typedef struct pack {
    size_t size;
    unsigned char *bytes;
} pack;

static pack pack_of(const zt_profiler *profiler) {
    pack packed = {0, NULL};
    ok(zt_pack(profiler, NULL, &packed.size));
    packed.bytes = (unsigned char *)malloc(packed.size);
    assert_non_null(packed.bytes);
    ok(zt_pack(profiler, packed.bytes, &packed.size));
    return packed;
}

static zt_profiler *unpack(const pack *packed) {
    zt_profiler *profiler = NULL;
    ok(zt_unpack(packed->bytes, packed->size, NULL, &profiler));
    assert_non_null(profiler);
    check_identity(profiler);
    return profiler;
}

static void assert_same_stats(zt_stats got, zt_stats expected) {
    assert_int_equal(got.count, expected.count);
    assert_close(got.sum, expected.sum);
    assert_close(got.mean, expected.mean);
    assert_close(got.stddev, expected.stddev);
    assert_close(got.min, expected.min);
    assert_close(got.max, expected.max);
    assert_close(got.median, expected.median);
    assert_close(got.p95, expected.p95);
}

/* Everything that can be asked of a region is the same. */
static void assert_same_region(const zt_profiler *got, const zt_profiler *expected, const char *name) {
    zt_region_info a = region_info(got, name), b = region_info(expected, name);
    assert_int_equal(a.count, b.count);
    assert_int_equal(a.lost, b.lost);
    assert_int_equal(a.dropped, b.dropped);
    assert_same_stats(a.time_ns, b.time_ns);
    assert_int_equal(zt_get_info(got).metric_count, zt_get_info(expected).metric_count);
    for (uint32_t i = 0; i < zt_get_info(got).metric_count; i++) {
        zt_stats left, right;
        ok(zt_get_stats(got, find_region(got, name), i, &left));
        ok(zt_get_stats(expected, find_region(expected, name), i, &right));
        assert_same_stats(left, right);
    }
}

/* ==== merging ============================================================================================= */

static void add_up(const zt_sample *sample, void *user) {
    *(double *)user += sample->gpu_time_ns;
}

static void test_two_add_up(void **state) {
    world *w = *state;
    double all = 0;
    zt_config config = config_of(w);
    config.sample = add_up;
    config.sample_user = &all;
    config.samples = 64;
    zt_profiler *a = open_profiler(w, &config), *b = open_profiler(w, &config);
    run_varied(w, a, "both", 0, 20);
    run_varied(w, b, "both", 20, 50);
    run_varied(w, b, "of b", 0, 5);
    zt_stats items_a = stats_of(a, "both", "WORK_ITEM_COUNT"),
             items_b = stats_of(b, "both", "WORK_ITEM_COUNT");
    zt_stats rate_a = stats_of(a, "both", "GPU_MEMORY_BYTE_READ_RATE");
    zt_stats rate_b = stats_of(b, "both", "GPU_MEMORY_BYTE_READ_RATE");
    zt_stats time_a = region_info(a, "both").time_ns, time_b = region_info(b, "both").time_ns;
    ok(zt_merge(a, b));
    assert_counts(a, counted(55, 55, 0, 0, 0));
    assert_counts(b, counted(35, 35, 0, 0, 0));
    zt_stats items = stats_of(a, "both", "WORK_ITEM_COUNT"), time = region_info(a, "both").time_ns;
    assert_int_equal(items.count, 50);
    assert_true(items.sum == items_a.sum + items_b.sum);
    assert_true(items.min == WORK_ITEMS && items.max == 7 * WORK_ITEMS);
    assert_true(items.median == 4 * WORK_ITEMS); /* of 50, all kept */
    assert_close(time.sum + region_info(a, "of b").time_ns.sum, all);
    assert_close(stats_of(a, "both", "GPU_MEMORY_BYTE_READ_RATE").mean,
                 (rate_a.mean * time_a.sum + rate_b.mean * time_b.sum) / (time_a.sum + time_b.sum));
    assert_same_region(a, b, "of b");
    check_work(w);
}

/* One after the other or merged: the same. */
static void test_variance_of_both(void **state) {
    world *w = *state;
    zt_profiler *a = open_groups(w, "ComputeBasic"), *b = open_groups(w, "ComputeBasic");
    zt_profiler *all = open_groups(w, "ComputeBasic");
    run_varied(w, a, "items", 0, 10);
    run_varied(w, b, "items", 10, 30);
    run_varied(w, all, "items", 0, 30);
    ok(zt_merge(a, b));
    assert_same_stats(stats_of(a, "items", "WORK_ITEM_COUNT"), stats_of(all, "items", "WORK_ITEM_COUNT"));
    check_work(w);
}

static void test_merge_refuses(void **state) {
    world *w = *state;
    zt_profiler *a = open_groups(w, "ComputeBasic"), *other = open_groups(w, "HostScheduler");
    ok(zt_merge(NULL, a));
    ok(zt_merge(a, NULL));
    assert_result(zt_merge(a, a), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    assert_result(zt_merge(a, other), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    assert_int_equal(heard(w, "[MERGE_SELF]"), 1);
    assert_int_equal(heard(w, "[LAYOUTS_DIFFER]"), 1);
}

typedef struct pair {
    zt_profiler *into, *from;
} pair;

static void *merge_often(void *user) {
    pair *both = (pair *)user;
    for (int i = 0; i < 50; i++)
        ok(zt_merge(both->into, both->from));
    return NULL;
}

/* Into each other, at once, and none waits for another that waits for it. */
static void test_merges_in_threads(void **state) {
    world *w = *state;
    pair one = {open_with_timeout(w, A_WHILE), open_with_timeout(w, A_WHILE)};
    pair other = {one.from, open_with_timeout(w, A_WHILE)}, third = {other.from, one.into};
    pthread_t threads[3];
    run_varied(w, one.into, "one", 0, 3);
    run_varied(w, one.from, "other", 0, 3);
    assert_int_equal(pthread_create(&threads[0], NULL, merge_often, &one), 0);
    assert_int_equal(pthread_create(&threads[1], NULL, merge_often, &other), 0);
    assert_int_equal(pthread_create(&threads[2], NULL, merge_often, &third), 0);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    check_identity(one.into);
    check_identity(one.from);
    check_identity(other.from);
    check_work(w);
}

static void *run_first(void *user) {
    pair *both = (pair *)user;
    for (int i = 0; i < 3; i++) {
        ZT_REGION(both->from, NULL, i ? "second" : "first") {} /* dropped: there is no list */
    }
    return NULL;
}

/* Neither has a region, until one gets its first while it is merged. */
static void test_merge_while_the_first_region_comes(void **state) {
    world *w = *state;
    for (int i = 0; i < OFTEN(200); i++) {
        pthread_t thread;
        zt_config config = config_of(w);
        config.groups = "";
        pair both = {open_profiler(w, &config), open_profiler(w, &config)};
        assert_int_equal(pthread_create(&thread, NULL, run_first, &both), 0);
        ok(zt_merge(both.into, both.from));
        pthread_join(thread, NULL);
        check_identity(both.into);
        ok(zt_merge(both.into, both.from));
        check_identity(both.into);
        assert_counts(both.from, counted(3, 0, 0, 3, 0));
        close_profiler(w, both.into);
        close_profiler(w, both.from);
    }
    w->message_count = 0;
}

/* A sample function that merges, or waits until it may go on. */
typedef struct merging_sample {
    zt_profiler *collecting, *other;
    ze_result_t into_collecting, into_other;
    int waits, entered, may_go_on;
    ze_result_t packed;
    size_t size; /* of the pack */
} merging_sample;

static void merge_in_sample(const zt_sample *sample, void *user) {
    merging_sample *me = (merging_sample *)user;
    (void)sample;
    if (!me->waits) {
        me->into_collecting = zt_merge(me->collecting, me->other);
        me->into_other = zt_merge(me->other, me->collecting);
        me->packed = zt_pack(me->collecting, NULL, &me->size);
    }
    __atomic_store_n(&me->entered, 1, __ATOMIC_RELEASE);
    while (me->waits && !__atomic_load_n(&me->may_go_on, __ATOMIC_ACQUIRE))
        nap();
}

static void test_merge_inside_a_sample_function(void **state) {
    world *w = *state;
    merging_sample me = {NULL,
                         open_groups(w, "ComputeBasic"),
                         ZE_RESULT_SUCCESS,
                         ZE_RESULT_SUCCESS,
                         0,
                         0,
                         0,
                         ZE_RESULT_NOT_READY,
                         0};
    zt_config config = config_of(w);
    config.sample = merge_in_sample;
    config.sample_user = &me;
    me.collecting = open_profiler(w, &config);
    run(w, me.collecting, "one");
    collect_all(me.collecting);
    assert_true(me.entered);
    assert_result(me.into_collecting, ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE);
    assert_result(me.into_other, ZE_RESULT_SUCCESS);
    assert_result(me.packed, ZE_RESULT_SUCCESS);
    assert_true(me.size > 0);
    assert_counts(me.collecting, counted(1, 1, 0, 0, 0));
    assert_counts(me.other, counted(1, 1, 0, 0, 0));
    assert_int_equal(heard(w, "[INSIDE_CALLBACK]"), 1);
    check_work(w);
}

static void *collect_here(void *user) {
    zt_collect(((merging_sample *)user)->collecting, A_WHILE);
    return NULL;
}

/* The wait for another thread's sample function is bounded, whichever collector is locked first. */
static void test_merge_while_another_thread_collects(void **state) {
    world *w = *state;
    for (int is_last = 0; is_last < 2; is_last++) {
        pthread_t thread;
        merging_sample me = {.waits = 1, .may_go_on = 1};
        zt_config config = config_of(w);
        config.sample = merge_in_sample;
        config.sample_user = &me;
        config.wait_timeout_ns = 100000000;
        zt_profiler *a = open_profiler(w, &config), *b = open_profiler(w, &config);
        me.collecting = ((uintptr_t)a < (uintptr_t)b) == is_last ? b : a;
        me.other = me.collecting == a ? b : a;
        run(w, me.other, "other");
        collect_all(me.other);
        me.entered = me.may_go_on = 0;
        run(w, me.collecting, "one");
        assert_int_equal(pthread_create(&thread, NULL, collect_here, &me), 0);
        while (!__atomic_load_n(&me.entered, __ATOMIC_ACQUIRE))
            nap();
        w->message_count = 0;
        assert_result(zt_merge(me.collecting, me.other), ZE_RESULT_NOT_READY);
        assert_result(zt_merge(me.other, me.collecting), ZE_RESULT_NOT_READY);
        assert_int_equal(heard(w, "[COLLECTOR_BUSY]"), 2); /* once for each profiler */
        assert_result(zt_pack(me.collecting, NULL, &me.size), ZE_RESULT_NOT_READY);
        assert_contains(zt_get_info(me.collecting).error, "[COLLECTOR_BUSY] zt_pack");
        assert_int_equal(me.size, 0);
        __atomic_store_n(&me.may_go_on, 1, __ATOMIC_RELEASE);
        pthread_join(thread, NULL);
        ok(zt_merge(me.other, me.collecting));
        ok(zt_merge(me.collecting, me.other));
        assert_counts(me.collecting, counted(3, 3, 0, 0, 0));
        close_profiler(w, a);
        close_profiler(w, b);
    }
    check_work(w);
}

/* What is in flight stays with its own. */
static void test_in_flight_is_not_merged(void **state) {
    world *w = *state;
    zt_profiler *a = open_groups(w, "ComputeBasic"), *b = open_groups(w, "ComputeBasic");
    run_varied(w, b, "ran", 0, 3);
    append(w, b, w->list, "waits");
    ok(zt_merge(a, b));
    assert_counts(a, counted(3, 3, 0, 0, 0));
    assert_counts(b, counted(3 + maybe_running(1), 3, 0, 0, maybe_running(1)));
    ok(zt_release(b, w->list));
    check_work(w);
}

/* Of 900 and 100 samples, with 64 kept of each, the values of the one are about nine in ten. */
static void test_the_kept_are_drawn_by_weight(void **state) {
    world *w = *state;
    zt_config config = config_of(w);
    config.samples = 64;
    zt_profiler *many = open_profiler(w, &config), *few = open_profiler(w, &config);
    for (int i = 0; i < 900; i++)
        run(w, many, "one");
    for (int i = 0; i < 100; i++) {
        ZT_REGION(few, w->immediate, "one")
        for (int launches = 0; launches < 2; launches++)
            launch(w, w->immediate);
        finish_immediate(w, w->immediate);
    }
    collect_all(many);
    collect_all(few);
    ok(zt_merge(many, few));
    zt_stats items = stats_of(many, "one", "WORK_ITEM_COUNT");
    assert_int_equal(items.count, 1000);
    assert_true(items.sum == (900 + 200) * (double)WORK_ITEMS);
    assert_true(items.median == WORK_ITEMS);
    assert_true(items.p95 >= WORK_ITEMS && items.p95 <= 2 * WORK_ITEMS);
    ok(zt_merge(few, many)); /* and again, the other way round */
    assert_true(stats_of(few, "one", "WORK_ITEM_COUNT").median == WORK_ITEMS);
    check_work(w);
}

static void test_merge_without_memory_changes_nothing(void **state) {
    world *w = *state;
    zt_config config = config_of(w);
    config.allocator = scarce_allocator();
    zt_profiler *a = open_profiler(w, &config), *b = open_profiler(w, &config);
    run_varied(w, b, "x", 0, 3);
    run_varied(w, b, "y", 0, 3);
    for (int n = 0;; n++) {
        allocations_left = n;
        ze_result_t result = zt_merge(a, b);
        allocations_left = -1;
        if (result == ZE_RESULT_SUCCESS) {
            assert_true(n > 3);
            break;
        }
        assert_result(result, ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY);
        assert_counts(a, counted(0, 0, 0, 0, 0));
    }
    assert_same_region(a, b, "x");
    assert_same_region(a, b, "y");
    check_work(w);
}

/* ==== packing ============================================================================================= */

static void test_packed_and_unpacked(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_groups(w, "ComputeBasic,HostScheduler");
    run_varied(w, profiler, "a \"name\",\n", 0, 9);
    run_varied(w, profiler, "another", 3, 8);
    ZT_REGION(profiler, NULL, "dropped") {}
    pack packed = pack_of(profiler);
    zt_profiler *back = unpack(&packed);
    assert_same_region(back, profiler, "a \"name\",\n");
    assert_same_region(back, profiler, "another");
    assert_counts(back, zt_get_info(profiler).counts);
    assert_int_equal(zt_get_info(back).availability, ZT_AVAILABLE);
    for (uint32_t i = 0; i < zt_get_info(back).metric_count; i++) {
        const zt_metric *a = zt_get_metric(back, i), *b = zt_get_metric(profiler, i);
        assert_string_equal(a->name, b->name);
        assert_string_equal(a->group, b->group);
        assert_string_equal(a->component, b->component);
        assert_string_equal(a->units, b->units);
        assert_string_equal(a->description, b->description);
        assert_int_equal(a->type, b->type);
        assert_int_equal(a->aggregation, b->aggregation);
    }
    pack again = pack_of(back);
    assert_int_equal(again.size, packed.size);
    assert_memory_equal(again.bytes, packed.bytes, packed.size);
    zt_close(back);
    free(again.bytes);
    free(packed.bytes);
    check_work(w);
}

static void test_unpacked_measures_nothing(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_groups(w, "ComputeBasic");
    run_varied(w, profiler, "one", 0, 3);
    pack packed = pack_of(profiler);
    zt_profiler *back = unpack(&packed);
    append(w, back, w->list, "ignored");
    ok(zeCommandListClose(w->list));
    execute(w, back, w->list);
    w->launches++;
    ok(zt_collect(back, A_WHILE));
    ok(zt_release(back, w->list));
    assert_counts(back, counted(3, 3, 0, 0, 0));
    assert_int_equal(zt_get_info(back).region_count, 1);
    ok(zt_merge(back, profiler)); /* but merges, */
    ok(zt_merge(profiler, back)); /* both ways */
    assert_counts(profiler, counted(9, 9, 0, 0, 0));
    assert_true(stats_of(profiler, "one", "WORK_ITEM_COUNT").sum == 3 * 6 * (double)WORK_ITEMS);
    zt_close(back);
    free(packed.bytes);
    check_work(w);
}

static void test_an_empty_profiler_packs(void **state) {
    world *w = *state;
    zt_profiler *times = open_profiler(w, &(zt_config){.groups = ""});
    pack packed = pack_of(times);
    zt_profiler *back = unpack(&packed);
    assert_int_equal(zt_get_info(back).availability, ZT_TIMES_BY_CHOICE);
    assert_int_equal(zt_get_info(back).region_count, 0);
    zt_close(back);
    free(packed.bytes);
}

/* As the manual has it. */
static uint64_t add_word(uint64_t sum, uint64_t word) {
    sum = (sum ^ word) * UINT64_C(0x100000001b3);
    return sum ^ sum >> 32;
}

static uint64_t checksum_of(const pack *packed) {
    const uint64_t begin = UINT64_C(0xcbf29ce484222325);
    uint64_t sums[4] = {begin, begin, begin, begin};
    size_t fours = (packed->size - 24 + 31) / 32;
    for (size_t w = 0; w < 4 * fours; w++) {
        uint64_t word = 0;
        for (size_t k = 0; k < 8 && 24 + 8 * w + k < packed->size; k++)
            word |= (uint64_t)packed->bytes[24 + 8 * w + k] << 8 * k;
        sums[w % 4] = add_word(sums[w % 4], word);
    }
    return add_word(add_word(add_word(sums[0], sums[1]), sums[2]), sums[3]);
}

/* The layout is what the manual says, whatever the machine. */
static void test_layout(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_groups(w, "ComputeBasic");
    pack packed = pack_of(profiler);
    uint64_t size = 0, stated = 0;
    assert_memory_equal(packed.bytes, "ZTPK\15\0\0\0", 8);
    for (int i = 7; i >= 0; i--) {
        size = size << 8 | packed.bytes[8 + i];
        stated = stated << 8 | packed.bytes[16 + i];
    }
    assert_int_equal(size, packed.size);
    assert_true(checksum_of(&packed) == stated);
    assert_int_equal(packed.bytes[24] | packed.bytes[25] << 8, zt_get_info(profiler).metric_count);
    free(packed.bytes);
}

/* Packing sorts the kept samples; those that are not sorted are copied and sorted to find quantiles. Later samples replace
   them all the same. */
static void test_quantiles_of_sorted_samples(void **state) {
    enum { KEPT = 40 };
    world *w = *state;
    zt_config config = config_of(w);
    config.samples = KEPT;
    config.groups = "ComputeBasic";
    zt_profiler *profiler = open_profiler(w, &config), *back;
    for (int kept = 1; kept <= 2 * KEPT; kept += kept < 4 ? 1 : 19) {
        uint32_t metrics = zt_get_info(profiler).metric_count;
        zt_stats before[64], after, unpacked;
        zt_region_info of_path, times;
        assert_true(metrics <= 64);
        run_varied(w, profiler, "region", 0, kept);
        ok(zt_get_region(profiler, ZT_PATH(0), &times));
        for (uint32_t m = 0; m < metrics; m++)
            ok(zt_get_stats(profiler, ZT_PATH(0), m, &before[m]));
        back = repacked(profiler);
        for (int of_back = 0; of_back < 2; of_back++) {
            ok(zt_get_region(of_back ? back : profiler, ZT_PATH(0), &of_path));
            assert_close(of_path.time_ns.median, times.time_ns.median);
            assert_close(of_path.time_ns.p95, times.time_ns.p95);
            assert_close(region_info(back, "region").time_ns.median, times.time_ns.median);
            assert_close(region_info(back, "region").time_ns.p95, times.time_ns.p95);
        }
        for (uint32_t m = 0; m < metrics; m++) {
            ok(zt_get_stats(profiler, ZT_PATH(0), m, &after));
            ok(zt_get_stats(back, ZT_PATH(0), m, &unpacked));
            assert_close(after.median, before[m].median);
            assert_close(after.p95, before[m].p95);
            assert_close(unpacked.median, before[m].median);
            assert_close(unpacked.p95, before[m].p95);
        }
        zt_close(back);
    }
    check_work(w);
}

static void expect_refused(const unsigned char *bytes, size_t size, ze_result_t expected) {
    zt_profiler *profiler = (zt_profiler *)1;
    const char *text;
    assert_result(zt_unpack(bytes, size, NULL, &profiler), expected);
    assert_null(profiler);
    text = zt_last_error(NULL);
    assert_result(last_result(), expected);
    assert_contains(text, "zt_unpack");
}

static void test_bad_buffers(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_groups(w, "ComputeBasic"), *none;
    run_varied(w, profiler, "one", 0, 2);
    pack packed = pack_of(profiler);
    for (size_t size = 0; size < packed.size; size += size < 64 ? 1 : 251) {
        unsigned char *part = (unsigned char *)malloc(size + 1); /* so that a read beyond it is found */
        memcpy(part, packed.bytes, size);
        expect_refused(part, size, ZE_RESULT_ERROR_INVALID_SIZE);
        free(part);
    }
    unsigned char *twice = (unsigned char *)malloc(2 * packed.size); /* as cat writes two files into one */
    memcpy(twice, packed.bytes, packed.size);
    memcpy(twice + packed.size, packed.bytes, packed.size);
    expect_refused(twice, packed.size + 1, ZE_RESULT_ERROR_INVALID_ARGUMENT);
    expect_refused(twice, 2 * packed.size, ZE_RESULT_ERROR_INVALID_ARGUMENT);
    assert_contains(zt_last_error(NULL), "the statistics end before the buffer does");
    free(twice);
    for (size_t i = 0; i < packed.size; i += i < 64 ? 1 : 97) {
        packed.bytes[i] ^= 0x10;
        assert_true(zt_unpack(packed.bytes, packed.size, NULL, &none) != ZE_RESULT_SUCCESS);
        assert_null(none);
        packed.bytes[i] ^= 0x10;
    }
    for (int layout = 12; layout <= 14; layout += 2) {
        packed.bytes[4] = (unsigned char)layout;
        expect_refused(packed.bytes, packed.size, ZE_RESULT_ERROR_UNSUPPORTED_VERSION);
    }
    packed.bytes[4] = 0; /* as bytes that were never written */
    expect_refused(packed.bytes, packed.size, ZE_RESULT_ERROR_INVALID_ARGUMENT);
    packed.bytes[4] = 13;
    memset(packed.bytes + 8, 0, 8); /* the size is less than that of the header */
    packed.bytes[8] = 23;
    expect_refused(packed.bytes, packed.size, ZE_RESULT_ERROR_INVALID_ARGUMENT);
    assert_result(zt_unpack(NULL, 10, NULL, &none), ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    assert_result(zt_unpack(packed.bytes, packed.size, NULL, NULL), ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    assert_counts(profiler, counted(2, 2, 0, 0, 0));
    free(packed.bytes);
    check_work(w);
}

/* Whoever makes the check sum right as well finds that nothing else is believed. */
static void mend_check_sum(pack *packed) {
    uint64_t sum = checksum_of(packed);
    for (int i = 0; i < 8; i++)
        packed->bytes[16 + i] = (unsigned char)(sum >> 8 * i);
}

static void test_malicious_buffers(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_groups(w, "ComputeBasic"), *back;
    int refused = 0;
    run_varied(w, profiler, "one", 0, 2);
    run_varied(w, profiler, "two", 0, 1);
    pack packed = pack_of(profiler);
    for (size_t i = 24; i < packed.size; i += i < 256 ? 1 : 61) {
        unsigned char before = packed.bytes[i];
        packed.bytes[i] = (unsigned char)(before ^ 0xC5);
        mend_check_sum(&packed);
        if (zt_unpack(packed.bytes, packed.size, NULL, &back) == ZE_RESULT_SUCCESS)
            for (uint32_t region = 0; region < zt_get_info(back).region_count; region++) {
                zt_region_info info;
                ok(zt_get_region(back, region, &info));
            }
        else
            refused++;
        zt_close(back);
        packed.bytes[i] = before;
    }
    assert_true(refused > 0);
    free(packed.bytes);
    check_work(w);
}

static void put_u64(unsigned char *bytes, uint64_t value) {
    for (int i = 0; i < 8; i++)
        bytes[i] = (unsigned char)(value >> 8 * i);
}

static void put_f64(unsigned char *bytes, double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    put_u64(bytes, bits);
}

static void put_f32(unsigned char *bytes, float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    for (int i = 0; i < 4; i++)
        bytes[i] = (unsigned char)(bits >> 8 * i);
}

/* What is packed of a path: outer path, region, device, lost, dropped, missing, flags, and these. */
enum {
    DEVICE = 8,
    MISSING = 28,
    FLAGS = 36,
    BYTES_NS = 52,
    ERROR_NS = 60,
    WITH_METRICS = 68, /* and then, of phases, what they have */
    COLLECTED = 76,
    COLUMNS =
        84, /* then the buckets, and then the kept samples: their number, and a float of each kept column */
    COLUMN_SIZE = 7 * 8,
    BUCKETS_SIZE = 25 * 8, /* behind the columns */
    LATENCIES = 2,         /* of the queue, and of the launch */
    COUNT_SIZE = 4,
    KEPT_SIZE = 4
};

/* How many columns there are with so many passes, and no tiles. */
static size_t columns_of(const zt_profiler *profiler) {
    uint32_t metrics = zt_get_info(profiler).metric_count;
    return 1 + metrics + (metrics ? zt_get_info(profiler).pass_count : 0) + LATENCIES;
}

/* Where the figures of a region are: lost and dropped. */
static unsigned char *figures_of(const pack *packed, const char *name) {
    size_t length = strlen(name);
    for (size_t i = 24; i + 4 + length < packed->size; i++)
        if (packed->bytes[i] == length && memcmp(packed->bytes + i + 4, name, length) == 0)
            return packed->bytes + i + 4 + length + 4; /* behind the flag of phases */
    fail_msg("there is no region %s", name);
    return NULL;
}

/* Where the path of the last region is: behind the number of paths. */
static unsigned char *path_of(const pack *packed, const char *name) {
    return figures_of(packed, name) + 2 * 8 + COUNT_SIZE;
}

static void expect_mended_is_refused(pack *packed, const unsigned char *before) {
    mend_check_sum(packed);
    expect_refused(packed->bytes, packed->size, ZE_RESULT_ERROR_INVALID_ARGUMENT);
    memcpy(packed->bytes, before, packed->size);
}

/* Of paths: their outer ones come before them, their regions are there, and none is there twice. */
/* Paths that nest deeper than those of any profiler. */
static void test_deep_paths_are_not_believed(void **state) {
    enum {
        PATH = COLUMNS + (1 + LATENCIES) * COLUMN_SIZE + BUCKETS_SIZE + COUNT_SIZE + KEPT_SIZE,
        DEEPEST = 128
    };
    world *w = *state;
    zt_config config = config_of(w);
    zt_region open[DEEPEST];
    char name[16];
    config.groups = "";
    zt_profiler *profiler = open_profiler(w, &config), *back = NULL;
    for (int i = 0; i < DEEPEST; i++) {
        snprintf(name, sizeof name, "r%d", i);
        open[i] = zt_begin(profiler, w->immediate, name);
    }
    for (int i = DEEPEST; i-- > 0;)
        zt_end(&open[i]);
    append(w, profiler, w->immediate, "alone");
    w->launches++;
    finish_immediate(w, w->immediate);
    collect_all(profiler);
    assert_int_equal(zt_get_info(profiler).path_count, DEEPEST + 1);
    pack packed = pack_of(profiler);
    ok(zt_unpack(packed.bytes, packed.size, NULL, &back));
    zt_close(back);
    unsigned char *last = packed.bytes + packed.size - PATH;
    assert_int_equal(last[0], 0xFF); /* it is inside of no other */
    memset(last, 0, 4);
    last[0] = DEEPEST - 2; /* two deep less than there can be */
    mend_check_sum(&packed);
    ok(zt_unpack(packed.bytes, packed.size, NULL, &back));
    zt_close(back);
    last[0] = DEEPEST - 1;
    mend_check_sum(&packed);
    assert_result(zt_unpack(packed.bytes, packed.size, NULL, &back), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    assert_null(back);
    free(packed.bytes);
    check_work(w);
}

static void test_paths_are_not_believed(void **state) {
    world *w = *state;
    enum { PATHS = 3 };
    zt_profiler *profiler = open_groups(w, "MemoryProfile"), *back;
    const size_t PATH = COLUMNS + columns_of(profiler) * COLUMN_SIZE + BUCKETS_SIZE + COUNT_SIZE + KEPT_SIZE;
    zt_region outer = zt_begin(profiler, w->immediate, "outer");
    append(w, profiler, w->immediate, "inner");
    append(w, profiler, w->immediate, "next");
    zt_end(&outer);
    finish_immediate(w, w->immediate);
    collect_all(profiler);
    pack packed = pack_of(profiler);
    unsigned char *before = (unsigned char *)malloc(packed.size), *paths;
    memcpy(before, packed.bytes, packed.size);
    paths = packed.bytes + packed.size - PATHS * PATH;
    assert_int_equal(paths[-4], PATHS);
    const struct {
        size_t at;
        unsigned char value;
    } wrong[] = {
        {PATH, 1},
        {PATH, 2},
        {2 * PATH, 5},
        {4, 3},
        {PATH + 4, 7},
        {2 * PATH + 4, 1},
        {PATH + DEVICE, 1}, /* the path around it is on none */
        {DEVICE + 1, 2},    /* more than there are profilers */
        {MISSING + 7, 1},
        {FLAGS, 2},
        {FLAGS + 4, 2},
        {COLLECTED + 7, 1},
        {PATH - KEPT_SIZE - COUNT_SIZE - 8, 1} /* one time more is in the last bucket than there are */};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        paths[wrong[i].at] = wrong[i].value;
        expect_mended_is_refused(&packed, before);
    }
    for (size_t i = 0; i < PATHS * PATH + 4; i++) {
        packed.bytes[packed.size - 1 - i] ^= 0xC5;
        mend_check_sum(&packed);
        if (zt_unpack(packed.bytes, packed.size, NULL, &back) == ZE_RESULT_SUCCESS)
            for (uint32_t path = 0; path < zt_get_info(back).path_count; path++) {
                zt_region_info info;
                ok(zt_get_region(back, ZT_PATH(path), &info));
                assert_true(info.parent < ZT_PATH(path) || info.parent == UINT32_MAX);
            }
        zt_close(back);
        memcpy(packed.bytes, before, packed.size);
    }
    free(before);
    free(packed.bytes);
}

/* Of all samples and of those with metrics, in sums and in samples that are kept. What is not known may be NaN. */
static void test_negative_times_are_refused(void **state) {
    world *w = *state;
    enum { KEPT = 2 };
    const size_t figures[] = {2 * 8, 3 * 8, 5 * 8, 6 * 8};
    zt_profiler *profiler = open_groups(w, "ComputeBasic"), *back;
    const size_t times[] = {COLUMNS, COLUMNS + (1 + zt_get_info(profiler).metric_count) * COLUMN_SIZE};
    const size_t rows = COLUMNS + columns_of(profiler) * COLUMN_SIZE + BUCKETS_SIZE + COUNT_SIZE;
    run_varied(w, profiler, "one", 0, KEPT);
    pack packed = pack_of(profiler);
    unsigned char *before = (unsigned char *)malloc(packed.size), *path = path_of(&packed, "one");
    memcpy(before, packed.bytes, packed.size);
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 4; j++) {
            put_f64(path + times[i] + figures[j], -1);
            expect_mended_is_refused(&packed, before);
        }
    for (int i = 0; i < KEPT; i++) {
        path[rows + (size_t)i * KEPT_SIZE + 3] |= 0x80; /* the sign */
        expect_mended_is_refused(&packed, before);
    }
    put_f64(path + COLUMNS + figures[2], NAN);
    mend_check_sum(&packed);
    ok(zt_unpack(packed.bytes, packed.size, NULL, &back));
    zt_close(back);
    free(before);
    free(packed.bytes);
}

/* Counts that are divided by, or that sums over all regions are made of. */
/* No pass, more samples than can be kept, another number of causes. */
static void test_sizes_are_not_believed(void **state) {
    enum { PASSES = 24 + 2 * 4, SAMPLES = PASSES + 2 * 4 };
    world *w = *state;
    zt_profiler *profiler = open_groups(w, "ComputeBasic");
    run_varied(w, profiler, "one", 0, 2);
    pack packed = pack_of(profiler);
    unsigned char *before = (unsigned char *)malloc(packed.size), *causes = packed.bytes;
    memcpy(before, packed.bytes, packed.size);
    assert_int_equal(packed.bytes[PASSES], 1);
    assert_int_equal(packed.bytes[SAMPLES] + 256 * packed.bytes[SAMPLES + 1], 0);
    packed.bytes[PASSES] = 0;
    expect_mended_is_refused(&packed, before);
    packed.bytes[SAMPLES + 3] = 1;
    expect_mended_is_refused(&packed, before);
    /* The number of causes is followed by as many counts, which are 0. */
    const unsigned char none[4 + ZT_CAUSE_COUNT * 8] = {ZT_CAUSE_COUNT};
    while (memcmp(causes, none, sizeof none) != 0)
        causes++;
    causes[0]--;
    expect_mended_is_refused(&packed, before);
    free(before);
    free(packed.bytes);
    check_work(w);
}

static void test_counts_are_not_believed(void **state) {
    world *w = *state;
    enum { WEIGHT = 8, SQUARES = WEIGHT + 3 * 8 };
    const uint64_t counts[] = {UINT64_MAX, UINT64_C(1) << 63, UINT64_C(1) << 60, 3};
    const double weights[] = {NAN, INFINITY, -INFINITY, -1};
    zt_profiler *profiler = open_groups(w, "ComputeBasic");
    run_varied(w, profiler, "one", 0, 2);
    const size_t of_times[] = {COLUMNS, COLUMNS + (1 + zt_get_info(profiler).metric_count) * COLUMN_SIZE};
    const size_t kept = COLUMNS + columns_of(profiler) * COLUMN_SIZE;
    pack packed = pack_of(profiler);
    unsigned char *before = (unsigned char *)malloc(packed.size), *one = figures_of(&packed, "one"),
                  *path = path_of(&packed, "one");
    memcpy(before, packed.bytes, packed.size);
    for (int i = 0; i < 4; i++) {
        if (i < 3) {
            put_u64(path + COLLECTED, counts[i]); /* fewer than GPU times is refused below */
            put_u64(path + COLUMNS, counts[i]);
            expect_mended_is_refused(&packed, before);
            put_u64(one, counts[i]); /* lost */
            expect_mended_is_refused(&packed, before);
            put_u64(one + 8, counts[i]); /* dropped */
            expect_mended_is_refused(&packed, before);
        }
        put_u64(path + WITH_METRICS, counts[i]); /* more than collected */
        expect_mended_is_refused(&packed, before);
        for (int j = 0; j < 2; j++) {
            put_u64(path + of_times[j], counts[i]); /* GPU times */
            expect_mended_is_refused(&packed, before);
            put_u64(path + of_times[j] + COLUMN_SIZE, counts[i]); /* values of the next column */
            expect_mended_is_refused(&packed, before);
            put_f64(path + of_times[j] + WEIGHT, weights[i]);
            expect_mended_is_refused(&packed, before);
        }
        put_f64(path + ERROR_NS, weights[i]);
        expect_mended_is_refused(&packed, before);
        put_f64(path + BYTES_NS, weights[i == 0 ? 1 : i]); /* it may be NaN: not known */
        expect_mended_is_refused(&packed, before);
    }
    put_u64(path + COLLECTED, 512); /* more samples are kept than there are bytes */
    path[kept] = 0;
    path[kept + 1] = 2;
    assert_true(512 * KEPT_SIZE > packed.size - (size_t)(path - packed.bytes) - kept);
    expect_mended_is_refused(&packed, before);
    put_u64(path + COLLECTED, 1); /* fewer than there are GPU times */
    expect_mended_is_refused(&packed, before);
    put_u64(path + WITH_METRICS, 1);
    expect_mended_is_refused(&packed, before);
    for (int j = 0; j < 2; j++) {
        put_f64(path + of_times[j] + SQUARES, -1);
        expect_mended_is_refused(&packed, before);
    }
    path[kept] = 3; /* of 2 */
    expect_mended_is_refused(&packed, before);
    free(before);
    free(packed.bytes);
    check_work(w);
}

/* More samples than a count of 32 bits has are merged. */
static void test_counts_of_more_than_32_bits(void **state) {
    world *w = *state;
    const uint64_t many = UINT64_C(1) << 40;
    zt_profiler *profiler = open_groups(w, "ComputeBasic");
    run_varied(w, profiler, "one", 0, 2);
    pack packed = pack_of(profiler);
    unsigned char *path = path_of(&packed, "one");
    put_u64(path + COLLECTED, many);
    put_u64(path + WITH_METRICS, many);
    put_f64(path + BYTES_NS, NAN); /* not known */
    mend_check_sum(&packed);
    zt_profiler *back = unpack(&packed);
    ok(zt_merge(profiler, back));
    assert_counts(profiler, counted(many + 2, many + 2, 0, 0, 0));
    assert_int_equal(region_info(profiler, "one").count, many + 2);
    assert_int_equal(region_info(profiler, "one").with_metrics, many + 2);
    zt_close(back);
    free(packed.bytes);
    check_work(w);
}

/* Fewer samples are kept than there were, though there is room for all: those that are kept stand for them. */
static void test_fewer_kept_than_there_is_room_for(void **state) {
    world *w = *state;
    for (int into_unpacked = 0; into_unpacked < 2; into_unpacked++) {
        zt_config config = config_of(w);
        config.samples = 512;
        zt_profiler *profiler = open_profiler(w, &config);
        run_varied(w, profiler, "one", 0, 2);
        pack packed = pack_of(profiler);
        put_u64(path_of(&packed, "one") + COLLECTED, 6); /* 2 are kept */
        put_u64(path_of(&packed, "one") + WITH_METRICS, 6);
        mend_check_sum(&packed);
        zt_profiler *back = unpack(&packed), *into = into_unpacked ? back : profiler;
        zt_stats before = stats_of(profiler, "one", "WORK_ITEM_COUNT");
        ok(zt_merge(into, into_unpacked ? profiler : back));
        assert_counts(into, counted(8, 8, 0, 0, 0));
        zt_stats after = stats_of(into, "one", "WORK_ITEM_COUNT");
        assert_close(after.sum, 2 * before.sum);
        assert_true(after.median >= before.min && after.median <= before.max);
        zt_close(back);
        close_profiler(w, profiler);
        free(packed.bytes);
    }
    check_work(w);
}

static void test_texts_are_not_believed(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_groups(w, "ComputeBasic");
    run_varied(w, profiler, "one", 0, 2);
    run_varied(w, profiler, "two", 0, 2);
    pack packed = pack_of(profiler);
    unsigned char *before = (unsigned char *)malloc(packed.size);
    memcpy(before, packed.bytes, packed.size);
    figures_of(&packed, "two")[-2 - 4] = 0; /* a text that ends early */
    expect_mended_is_refused(&packed, before);
    memcpy(figures_of(&packed, "two") - 3 - 4, "one", 3); /* a name that was there already */
    expect_mended_is_refused(&packed, before);
    free(before);
    free(packed.bytes);
    check_work(w);
}

static void test_half_an_allocator(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_groups(w, "ComputeBasic"), *none;
    pack packed = pack_of(profiler);
    zt_config config = config_of(w);
    config.allocator.allocate = scarce_allocator().allocate;
    assert_result(zt_unpack(packed.bytes, packed.size, &config, &none), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    assert_null(none);
    assert_contains(zt_last_error(NULL), "[BAD_ALLOCATOR] zt_unpack");
    config.allocator.allocate = NULL;
    config.allocator.release = scarce_allocator().release;
    assert_result(zt_unpack(packed.bytes, packed.size, &config, &none), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    free(packed.bytes);
}

/* Puts bytes over others of the same length, wherever these are. */
static void replace(pack *packed, const char *from, const char *to, size_t size) {
    for (size_t i = 24; i + size <= packed->size; i++)
        if (memcmp(packed->bytes + i, from, size) == 0)
            memcpy(packed->bytes + i, to, size);
}

/* Puts a longer text over a text, wherever that is. */
static void lengthen(pack *packed, const char *from, const char *to) {
    size_t old = strlen(from), new = strlen(to), size = packed->size + 8 * new;
    unsigned char *bytes = (unsigned char *)calloc(size, 1);
    assert_non_null(bytes);
    memcpy(bytes, packed->bytes, packed->size);
    free(packed->bytes);
    packed->bytes = bytes;
    for (size_t i = 24; i + 4 + old <= packed->size; i++)
        if (bytes[i] == old && memcmp(bytes + i + 4, from, old) == 0) {
            assert_true(packed->size + new - old <= size);
            memmove(bytes + i + 4 + new, bytes + i + 4 + old, packed->size - i - 4 - old);
            memcpy(bytes + i + 4, to, new);
            bytes[i] = (unsigned char)new;
            bytes[i + 1] = (unsigned char)(new >> 8);
            packed->size += new - old;
            i += 3 + new;
        }
    put_u64(bytes + 8, packed->size);
}

/* The name of a metric may be of any length there. What OpenMetrics needs is appended even to the longest. */
static void test_long_names_of_malicious_buffers(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_groups(w, "ComputeBasic");
    run_varied(w, profiler, "one", 0, 2);
    for (size_t length = 990; length <= 1030; length++) {
        char name[1031], family[16];
        pack packed = pack_of(profiler);
        memset(name, 'x', length);
        memcpy(name + length - 6, "_count", 7); /* which is reserved, wherever a name is cut */
        for (size_t i = 0; i + 12 < length; i += 6)
            memcpy(name + i, "_count", 6);
        lengthen(&packed, "WORK_ITEMS_PER_GROUP", name);
        mend_check_sum(&packed);
        zt_profiler *back = unpack(&packed);
        const char *text =
            strstr(written_report(back, ZT_FORMAT_OPENMETRICS), "\n# TYPE zetools_metric_count_");
        assert_non_null(text);
        const char *end = strchr(text + 8, ' ');
        assert_in_range(end - text - 8, 500, 1000);
        snprintf(family, sizeof family, "%.6s", end - 6);
        assert_string_not_equal(family, "_count");
        zt_close(back);
        free(packed.bytes);
    }
    check_work(w);
}

/* Readers of JSON and terminals get what they understand: no infinity, no commands, no halves of letters. */
static void test_reports_of_malicious_buffers(void **state) {
    world *w = *state;
    const double figures[] = {NAN, INFINITY, INFINITY}; /* of squares, least, greatest */
    zt_profiler *profiler = open_groups(w, "ComputeBasic"), *back;
    run_varied(w, profiler, "one", 0, 2);
    pack packed = pack_of(profiler);
    replace(&packed, "WORK_ITEM", "\033[2J\xC3XXXX", 9);
    replace(&packed, "ComputeBasic", "Compute\033[31m", 12);
    replace(&packed, "events", "\xE2\x82\xAC\b\xFF\x7F", 6);
    memcpy(path_of(&packed, "one") + COLUMNS + 4 * 8, figures, sizeof figures);
    mend_check_sum(&packed);
    setenv("ZT_COLUMNS", "GPGPU_THREADGROUP_COUNT", 1);
    back = unpack(&packed);
    unsetenv("ZT_COLUMNS");
    assert_contains(written_report(back, ZT_FORMAT_JSON), "\"stddev\":null,\"min\":null,\"max\":null,");
    assert_null(strstr(written_report(back, ZT_FORMAT_JSON), ":."));
    assert_null(strstr(written_report(back, ZT_FORMAT_CSV), ",.,"));
    const char *table = written_report(back, ZT_FORMAT_TABLE);
    assert_contains(table, "Compute?[31m");
    assert_contains(table, "\xE2\x82\xAC?\xEF\xBF\xBD?");
    for (const char *letter = table; *letter; letter++)
        assert_true(*letter == '\n' || (unsigned char)*letter >= 0x20);
    zt_close(back);
    free(packed.bytes);
    check_work(w);
}

/* Latencies may be negative there, which OpenMetrics forbids, and GPU times infinite, which no histogram has. */
static void test_odd_times_of_malicious_buffers(void **state) {
    world *w = *state;
    enum { KEPT = 2, TIME_COLUMNS = 1 + LATENCIES };
    static const char samples[] = "\nzetools_region_queue_latency_seconds";
    static kept_text folded;
    zt_config config = config_of(w);
    config.timeline = 10;
    zt_profiler *profiler = open_profiler(w, &config);
    append(w, profiler, w->list, "one"); /* its queue latency is known */
    ok(zeCommandListClose(w->list));
    for (int i = 0; i < KEPT; i++) {
        execute(w, profiler, w->list);
        w->launches++;
        collect_all(profiler);
    }
    ok(zt_release(profiler, w->list));
    pack packed = pack_of(profiler);
    unsigned char *path = path_of(&packed, "one");
    unsigned char *rows = path + COLUMNS + columns_of(profiler) * COLUMN_SIZE + BUCKETS_SIZE + COUNT_SIZE;
    unsigned char *latency = rows - COUNT_SIZE - BUCKETS_SIZE - LATENCIES * COLUMN_SIZE;
    assert_true(latency[0] > 0);
    const size_t figures[] = {2 * 8, 3 * 8, 5 * 8, 6 * 8};
    for (int i = 0; i < 4; i++)
        put_f64(latency + figures[i], -1);
    for (int i = 0; i < KEPT; i++)
        put_f32(rows + ((size_t)i * TIME_COLUMNS + 1) * KEPT_SIZE, -1);
    put_f32(rows, INFINITY);
    latency += COLUMN_SIZE; /* of the launch */
    assert_true(latency[0] > 0);
    put_f64(latency + 5 * 8, 1e9);         /* the least; but what work takes */
    put_f64(path + COLUMNS + 3 * 8, NAN);  /* is not known, so a table has no launch latency */
    put_f64(path + COLUMNS + 2 * 8, 1e30); /* the time of its path: no flame graph has that */
    mend_check_sum(&packed);
    zt_profiler *back = unpack(&packed);
    const char *text = written_report(back, ZT_FORMAT_OPENMETRICS);
    assert_contains(text, samples);
    for (const char *at = text; (at = strstr(at, samples)) != NULL; at++)
        assert_memory_equal(at + sizeof samples - 1, "_count{", 7);
    assert_contains(written_report(back, ZT_FORMAT_JSON), "\"counts\":[1]}"); /* of two */
    text = written_report(back, ZT_FORMAT_TABLE);
    assert_contains(text, "\none ");
    assert_null(strstr(text, "\"launch\" is the median"));
    folded.used = 0;
    ok(zt_write(back, ZT_FORMAT_FOLDED, keep_text, &folded));
    assert_int_equal(folded.used, 0);
    zt_close(back);
    free(packed.bytes);
    check_work(w);
}

static void test_room(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_groups(w, "ComputeBasic");
    run_varied(w, profiler, "one", 0, 2);
    pack packed = pack_of(profiler);
    size_t size = packed.size - 1;
    unsigned char *small = (unsigned char *)malloc(size);
    assert_result(zt_pack(profiler, small, &size), ZE_RESULT_ERROR_INVALID_SIZE);
    assert_int_equal(size, packed.size);
    assert_result(zt_pack(profiler, small, NULL), ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    ok(zt_pack(NULL, small, &size));
    assert_int_equal(size, 0);
    ok(zt_pack(NULL, small, NULL));
    free(small);
    size = packed.size; /* it was enough, and is no more */
    run_varied(w, profiler, "another", 0, 1);
    assert_result(zt_pack(profiler, packed.bytes, &size), ZE_RESULT_ERROR_INVALID_SIZE);
    assert_true(size > packed.size);
    assert_int_equal(heard(w, "[BUFFER_TOO_SMALL]"), 1);
    free(packed.bytes);
    check_work(w);
}

typedef struct packing {
    zt_profiler *profiler;
    int stop, failures;
} packing;

static void *pack_on(void *user) {
    packing *me = (packing *)user;
    while (!__atomic_load_n(&me->stop, __ATOMIC_ACQUIRE)) {
        zt_profiler *back = NULL;
        size_t size = 0;
        zt_pack(me->profiler, NULL, &size);
        size += 1 << 20; /* for what comes meanwhile */
        void *bytes = malloc(size);
        me->failures += zt_pack(me->profiler, bytes, &size) != ZE_RESULT_SUCCESS ||
                        zt_unpack(bytes, size, NULL, &back) != ZE_RESULT_SUCCESS;
        zt_close(back);
        free(bytes);
    }
    return NULL;
}

/* Whatever is packed while regions are collected can be unpacked. */
static void test_pack_while_regions_are_collected(void **state) {
    world *w = *state;
    pthread_t thread;
    packing me = {open_groups(w, "ComputeBasic"), 0, 0};
    assert_int_equal(pthread_create(&thread, NULL, pack_on, &me), 0);
    for (int i = 0; i < OFTEN(400); i++) {
        char name[16];
        snprintf(name, sizeof name, "region %d", i % 20);
        run(w, me.profiler, name);
        zt_collect(me.profiler, 0);
    }
    __atomic_store_n(&me.stop, 1, __ATOMIC_RELEASE);
    pthread_join(thread, NULL);
    assert_int_equal(me.failures, 0);
    collect_all(me.profiler);
    check_work(w);
}

/* Who gathers figures is to know what they are worth. */
static void test_unobserved_lists_are_gathered(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_groups(w, "ComputeBasic"), *all = open_groups(w, "ComputeBasic");
    append(w, profiler, w->list, "region");
    ok(zeCommandListClose(w->list));
    execute(w, profiler, w->list);
    w->launches++;
    collect_all(profiler);
    execute_unprofiled(w, w->list);
    collect_all(profiler);
    assert_int_equal(zt_get_info(profiler).counts.unobserved_lists, 1);
    pack packed = pack_of(profiler);
    zt_profiler *back = unpack(&packed);
    assert_int_equal(zt_get_info(back).counts.unobserved_lists, 1);
    ok(zt_merge(all, back));
    ok(zt_merge(all, profiler));
    assert_int_equal(zt_get_info(all).counts.unobserved_lists, 2);
    zt_close(back);
    free(packed.bytes);
    ok(zt_release(profiler, w->list));
    reset_list(w->list);
}

/* As many as profilers can be open in a process. */
static void test_too_many_unpacked(void **state) {
    enum { TRIED = 300 };
    world *w = *state;
    zt_config config = config_of(w);
    config.groups = "";
    zt_profiler *profiler = open_profiler(w, &config), *unpacked[TRIED];
    pack packed = pack_of(profiler);
    uint32_t count = 0;
    while (count < TRIED && zt_unpack(packed.bytes, packed.size, NULL, &unpacked[count]) == ZE_RESULT_SUCCESS)
        count++;
    assert_int_equal(count, 255);
    assert_null(unpacked[count]);
    assert_result(last_result(), ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY);
    assert_contains(zt_last_error(NULL), "zt_unpack: 256 profilers are open in this process");
    while (count > 0)
        zt_close(unpacked[--count]);
    zt_close(unpack(&packed));
    free(packed.bytes);
}

static void test_unpack_without_memory(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_groups(w, "ComputeBasic"), *back;
    zt_config config = config_of(w);
    config.allocator = scarce_allocator();
    config.columns = "GpuTime";
    run_varied(w, profiler, "one", 0, 2);
    pack packed = pack_of(profiler);
    for (int n = 0;; n++) {
        allocations_left = n;
        ze_result_t result = zt_unpack(packed.bytes, packed.size, &config, &back);
        allocations_left = -1;
        if (result == ZE_RESULT_SUCCESS)
            break;
        assert_result(result, ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY);
        assert_null(back);
    }
    zt_close(back);
    free(packed.bytes);
    check_work(w);
}

/* ==== while other threads collect ========================================================================== */

typedef struct collecting_allocator {
    world *w;
    zt_profiler *collected; /* NULL: not yet */
} collecting_allocator;

/* As another thread may while zt_merge makes room. */
static void *collect_elsewhere(void *profiler) {
    zt_collect((zt_profiler *)profiler, 0);
    return NULL;
}

static void *allocate_while_others_collect(size_t size, void *user) {
    collecting_allocator *me = (collecting_allocator *)user;
    if (me->collected)
        run_in_time(me->w, collect_elsewhere, me->collected);
    return malloc(size);
}

static void release_plainly(void *memory, void *user) {
    (void)user;
    free(memory);
}

/* All regions, and what was lost of them, are of one moment. */
static void test_a_merge_is_of_one_moment(void **state) {
    world *w = *state;
    collecting_allocator me = {w, NULL};
    zt_profiler *from = open_groups(w, "ComputeBasic"), *into = NULL;
    zt_config config = config_of(w);
    config.groups = "ComputeBasic";
    config.allocator.allocate = allocate_while_others_collect;
    config.allocator.release = release_plainly;
    config.allocator.user = &me;
    ok(zt_open(w->context, w->device, &config, &into));
    for (int i = 0; i < 2; i++) {
        append(w, from, w->immediate, "one");
        append(w, from, w->immediate, "two");
        w->launches += 2;
        finish_immediate(w, w->immediate);
        if (i == 0)
            collect_all(from);
    }
    me.collected = from;
    ok(zt_merge(into, from));
    me.collected = NULL;
    assert_counts(into, counted(2, 2, 0, 0, 0));
    assert_int_equal(region_info(into, "one").count, region_info(into, "two").count);
    collect_all(from);
    assert_counts(from, counted(4, 4, 0, 0, 0));
    zt_close(into);
    check_work(w);
}

/* ==== passes and tiles ==================================================================================== */

static void test_passes_merge_and_pack(void **state) {
    world *w = *state;
    zt_profiler *a = open_two_passes(w);
    ZT_PASSES(a)
    run_varied(w, a, "one", 0, 7);
    pack packed = pack_of(a);
    zt_profiler *back = unpack(&packed);
    assert_int_equal(zt_get_info(back).pass_count, 2);
    int runs = 0;
    ZT_PASSES(back)
    runs++;
    assert_int_equal(runs, 1); /* there is nothing to be measured again */
    assert_same_region(back, a, "one");
    ok(zt_merge(a, back));
    assert_int_equal(region_info(a, "one").count, 28);
    assert_int_equal(stats_of(a, "one", "WORK_ITEM_COUNT").count, 14);
    zt_close(back);
    free(packed.bytes);
    check_work(w);
}

/* What is packed of each pass and tile comes back. Values of tiles may be negative: only GPU times are not. */
static void test_tiles_of_passes_pack(void **state) {
    world *w = *state;
    gpu.set_devices(1, 2);
    zt_profiler *a = open_two_passes(w);
    assert_int_equal(zt_get_info(a).tile_count, 2);
    ZT_PASSES(a)
    run_varied(w, a, "one", 0, 2);
    pack packed = pack_of(a);
    zt_profiler *back = unpack(&packed);
    assert_int_equal(zt_get_info(back).pass_count, 2);
    assert_same_region(back, a, "one");
    for (uint32_t metric = 0; metric < zt_get_info(a).metric_count; metric++)
        for (uint32_t tile = 0; tile < 2; tile++) {
            zt_stats got, expected;
            ok(zt_get_stats(back, 0, ZT_TILE(tile, metric), &got));
            ok(zt_get_stats(a, 0, ZT_TILE(tile, metric), &expected));
            assert_same_stats(got, expected);
        }
    zt_close(back);
    free(packed.bytes);
    check_work(w);
}

/* Of a region that was collected in the second pass alone, some samples without a GPU time, the packed
   statistics have more samples than times. No pass has more times than samples. */
static void test_kept_samples_without_times(void **state) {
    world *w = *state;
    zt_profiler *a = open_two_passes(w), *none;
    ZT_PASSES(a)
    run_varied(w, a, "one", 0, 7);
    pack packed = pack_of(a);
    unsigned char *path = path_of(&packed, "one");
    unsigned char *times = path + COLUMNS + (1 + zt_get_info(a).metric_count) * COLUMN_SIZE;
    put_u64(path + WITH_METRICS, 7);
    put_u64(times, 0); /* in the first pass */
    put_u64(times + COLUMN_SIZE, 4);
    mend_check_sum(&packed);
    zt_profiler *back = unpack(&packed);
    assert_int_equal(region_info(back, "one").count, 14);
    assert_int_equal(region_info(back, "one").with_metrics, 7);
    ok(zt_merge(back, a));
    assert_int_equal(region_info(back, "one").count, 28);
    zt_close(back);
    put_u64(path + WITH_METRICS, 3); /* fewer than the 4 times of the second pass */
    mend_check_sum(&packed);
    assert_result(zt_unpack(packed.bytes, packed.size, NULL, &none), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    free(packed.bytes);
    check_work(w);
}

static uint32_t sub_devices_of(ze_device_handle_t device, ze_device_handle_t subs[4]) {
    uint32_t count = 0;
    ok(zeDeviceGetSubDevices(device, &count, NULL));
    assert_true(count <= 4);
    ok(zeDeviceGetSubDevices(device, &count, subs));
    return count;
}

/* What is no metric has no statistics, and the message names what is wrong. */
static void expect_wrong(const zt_profiler *profiler, uint32_t region, uint32_t metric, const char *message) {
    zt_stats stats;
    assert_null(zt_get_metric(profiler, metric));
    assert_result(zt_get_stats(profiler, region, metric, &stats), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    assert_contains(zt_get_info(profiler).error, message);
    assert_true(stats.count == 0 && isnan(stats.sum) && isnan(stats.rate));
}

/* F20: each tile, and the whole. */
static void test_tiles_and_the_whole(void **state) {
    world *w = *state;
    gpu.set_devices(1, 2);
    zt_profiler *profiler = open_groups(w, "ComputeBasic,HostScheduler");
    assert_int_equal(zt_get_info(profiler).tile_count, 2);
    run_varied(w, profiler, "one", 0, 9);
    assert_counts(profiler, counted(9, 9, 0, 0, 0));
    assert_true(calls("zetMetricGroupCalculateMultipleMetricValuesExp") >= 18);
    uint32_t region = find_region(profiler, "one");
    for (uint32_t metric = 0; metric < zt_get_info(profiler).metric_count; metric++) {
        zt_stats whole, tile[2], time;
        const zt_metric *of = zt_get_metric(profiler, metric);
        ok(zt_get_stats(profiler, region, metric, &whole));
        for (uint32_t i = 0; i < 2; i++) {
            ok(zt_get_stats(profiler, region, ZT_TILE(i, metric), &tile[i]));
            assert_int_equal(tile[i].count, 9);
            assert_ptr_equal(zt_get_metric(profiler, ZT_TILE(i, metric)), of);
            ok(zt_get_stats(profiler, region, ZT_PASS_TIME(of->pass), &time));
            if (of->aggregation == ZT_AGGREGATE_SUM)
                assert_close(tile[i].rate, tile[i].sum / time.sum * 1e9);
            else if (of->aggregation == ZT_AGGREGATE_MEAN)
                assert_close(tile[i].rate, tile[i].mean);
            else
                assert_true(isnan(tile[i].rate));
        }
        if (of->aggregation == ZT_AGGREGATE_NONE)
            assert_true(whole.min == tile[0].min && whole.max == tile[0].max);
        if (strcmp(of->units, "events") == 0 || strcmp(of->units, "bytes") == 0)
            assert_close(whole.sum, tile[0].sum + tile[1].sum);
        if (strcmp(of->units, "ns") == 0 && of->aggregation == ZT_AGGREGATE_SUM)
            assert_true(whole.sum >= tile[0].sum && whole.sum >= tile[1].sum &&
                        whole.sum <= tile[0].sum + tile[1].sum);
    }
    expect_wrong(profiler, region, ZT_TILE(2, 0), "index 2 is too high. See tile_count of");
    expect_wrong(profiler, region, ZT_TILE(64, 0), "tile_count of");
    expect_wrong(profiler, region, ZT_TILE(UINT32_MAX, 0), "tile_count of");
    expect_wrong(profiler, region, ZT_TILE(0, 7777), "index 7777 is too high. See metric_count of");
    expect_wrong(profiler, region, ZT_TILE(0, 1 << 24), "UINT32_MAX");
    expect_wrong(profiler, region, ZT_TILE(0, UINT32_MAX), "UINT32_MAX");
    expect_wrong(profiler, region, ZT_TILE(1, ZT_GPU_TIME), "UINT32_MAX");
    expect_wrong(profiler, region, ZT_TILE(1, ZT_STREAMED(0)), "UINT32_MAX");
    expect_wrong(profiler, region, 0xB0000000, "metric_count of");
    assert_true(stats_of(profiler, "one", "WORK_ITEM_COUNT").sum == (28 + 1 + 2) * (double)WORK_ITEMS);
    pack packed = pack_of(profiler);
    zt_profiler *back = unpack(&packed);
    assert_int_equal(zt_get_info(back).tile_count, 2);
    assert_same_region(back, profiler, "one");
    zt_close(back);
    free(packed.bytes);
    check_work(w);
}

static void test_a_lost_tile_is_a_lost_instance(void **state) {
    world *w = *state;
    gpu.set_devices(1, 2);
    zt_profiler *profiler = open_groups(w, "ComputeBasic");
    gpu.behave(SOFTGPU_REPORT_LOST, 2);
    for (int i = 0; i < 6; i++)
        run(w, profiler, "one");
    collect_all(profiler);
    assert_counts(profiler, counted(6, 3, 3, 0, 0));
    assert_int_equal(zt_get_info(profiler).causes[ZT_LOST_REPORT_LOST].count, 3);
    check_work(w);
}

/* A profiler for each sub-device, at once, and their sum. */
static void test_profilers_of_sub_devices(void **state) {
    world *w = *state;
    ze_device_handle_t subs[4];
    gpu.set_devices(1, 2);
    assert_int_equal(sub_devices_of(w->device, subs), 2);
    zt_config config = config_of(w);
    zt_profiler *profilers[2];
    ze_command_list_handle_t lists[2];
    ze_command_queue_desc_t desc = {
        ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC, NULL, 0, 0, 0, ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS,
        ZE_COMMAND_QUEUE_PRIORITY_NORMAL};
    for (int i = 0; i < 2; i++) {
        profilers[i] = open_on(w, subs[i], &config);
        assert_int_equal(zt_get_info(profilers[i]).availability, ZT_AVAILABLE);
        assert_int_equal(zt_get_info(profilers[i]).tile_count, 0);
        ok(zeCommandListCreateImmediate(w->context, subs[i], &desc, &lists[i]));
    }
    for (int i = 0; i < 8; i++) {
        append(w, profilers[i % 2], lists[i % 2], "one");
        w->launches++;
    }
    for (int i = 0; i < 2; i++) {
        collect_all(profilers[i]);
        assert_true(stats_of(profilers[i], "one", "GPGPU_THREADGROUP_COUNT").sum == 4 * (double)WORK_GROUPS);
        ok(zt_release(profilers[i], lists[i]));
        ok(zeCommandListDestroy(lists[i]));
    }
    ok(zt_merge(profilers[0], profilers[1]));
    assert_true(stats_of(profilers[0], "one", "GPGPU_THREADGROUP_COUNT").sum == 8 * (double)WORK_GROUPS);
    uint64_t before = calls("zetContextActivateMetricGroups");
    close_profiler(w, profilers[0]);
    close_profiler(w, profilers[1]);
    assert_int_equal(calls("zetContextActivateMetricGroups"), before + 2); /* on the handle of each */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_two_add_up),
        TEST(test_variance_of_both),
        TEST(test_merge_refuses),
        TEST(test_merges_in_threads),
        TEST(test_merge_while_the_first_region_comes),
        TEST(test_merge_inside_a_sample_function),
        TEST(test_merge_while_another_thread_collects),
        TEST(test_in_flight_is_not_merged),
        TEST(test_the_kept_are_drawn_by_weight),
        TEST(test_merge_without_memory_changes_nothing),
        TEST(test_packed_and_unpacked),
        TEST(test_unpacked_measures_nothing),
        TEST(test_an_empty_profiler_packs),
        TEST(test_layout),
        TEST(test_quantiles_of_sorted_samples),
        TEST(test_bad_buffers),
        TEST(test_malicious_buffers),
        TEST(test_sizes_are_not_believed),
        TEST(test_negative_times_are_refused),
        TEST(test_counts_are_not_believed),
        TEST(test_paths_are_not_believed),
        TEST(test_deep_paths_are_not_believed),
        TEST(test_counts_of_more_than_32_bits),
        TEST(test_fewer_kept_than_there_is_room_for),
        TEST(test_texts_are_not_believed),
        TEST(test_half_an_allocator),
        TEST(test_reports_of_malicious_buffers),
        TEST(test_odd_times_of_malicious_buffers),
        TEST(test_long_names_of_malicious_buffers),
        TEST(test_room),
        TEST(test_pack_while_regions_are_collected),
        TEST(test_unobserved_lists_are_gathered),
        TEST(test_unpack_without_memory),
        TEST(test_too_many_unpacked),
        TEST(test_a_merge_is_of_one_moment),
        TEST(test_passes_merge_and_pack),
        TEST(test_tiles_of_passes_pack),
        TEST(test_kept_samples_without_times),
        TEST(test_tiles_and_the_whole),
        TEST(test_a_lost_tile_is_a_lost_instance),
        TEST(test_profilers_of_sub_devices),
    };
    return cmocka_run_group_tests(tests, start, NULL);
}
