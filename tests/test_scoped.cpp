/* Regions in C++: closed by the end of a scope, a return, a break and an exception. Passes in C++, likewise. */
#include "fixture.h"

#include "plugins/other_version.h"

#include <stdexcept>
#include <type_traits>

static_assert(!std::is_copy_constructible<zt_scope>::value, "a scope is one region");
static_assert(!std::is_copy_assignable<zt_scope>::value, "a scope is one region");

static void expect(const zt_profiler *profiler, const char *region, uint64_t count, uint32_t launches) {
    assert_int_equal(region_info(profiler, region).count, count);
    assert_true(stats_of(profiler, region, "GPGPU_THREADGROUP_COUNT").sum == launches * double(WORK_GROUPS));
}

static void test_scope(void **state) {
    world *w = static_cast<world *>(*state);
    zt_profiler *profiler = open_groups(w, "ComputeBasic");
    {
        zt_scope outer(profiler, w->immediate, "outer");
        launch(w, w->immediate);
        ZT_SCOPE(profiler, w->immediate, "inner");
        launch(w, w->immediate);
    }
    launch(w, w->immediate);
    check_work(w);
    collect_all(profiler);
    expect(profiler, "outer", 1, 2);
    expect(profiler, "inner", 1, 1);
}

#ifdef __cpp_exceptions
static void throw_inside(world *w, zt_profiler *profiler) {
    ZT_SCOPE(profiler, w->immediate, "scope");
    ZT_REGION(profiler, w->immediate, "region") {
        launch(w, w->immediate);
        throw std::runtime_error("on purpose");
    }
}

static void test_exception(void **state) {
    world *w = static_cast<world *>(*state);
    zt_profiler *profiler = open_groups(w, "ComputeBasic");
    bool caught = false;
    try {
        throw_inside(w, profiler);
    } catch (const std::runtime_error &) {
        caught = true;
    }
    assert_true(caught);
    launch(w, w->immediate);
    check_work(w);
    collect_all(profiler);
    expect(profiler, "scope", 1, 1);
    expect(profiler, "region", 1, 1);
}
#else
static void test_exception(void **) {
    std::puts("skipped: compiled without exceptions");
    skip();
}
#endif

static void return_inside(world *w, zt_profiler *profiler) {
    ZT_REGION(profiler, w->immediate, "return") {
        launch(w, w->immediate);
        return;
    }
}

static void test_return_and_break(void **state) {
    world *w = static_cast<world *>(*state);
    zt_profiler *profiler = open_groups(w, "ComputeBasic");
    return_inside(w, profiler);
    for (int i = 0; i < 3; i++) {
        ZT_REGION(profiler, w->immediate, "break") {
            launch(w, w->immediate);
            if (i == 1)
                break;
            launch(w, w->immediate);
        }
    }
    check_work(w);
    collect_all(profiler);
    expect(profiler, "return", 1, 1);
    expect(profiler, "break", 3, 5);
    assert_counts(profiler, counted(4, 4, 0, 0, 0));
}

/* The work is repeated once for each pass. A return ends the passes, and those that follow begin anew. */
static void return_from_pass(world *w, zt_profiler *profiler) {
    ZT_PASSES(profiler) {
        ZT_SCOPE(profiler, w->immediate, "returned");
        launch(w, w->immediate);
        return;
    }
}

static void test_passes(void **state) {
    world *w = static_cast<world *>(*state);
    zt_profiler *profiler = open_two_passes(w);
    int passes = 0;
    return_from_pass(w, profiler);
    ZT_PASSES(profiler) {
        ZT_SCOPE(profiler, w->immediate, "repeated");
        launch(w, w->immediate);
        passes++;
    }
    assert_int_equal(passes, 2);
    check_work(w);
    collect_all(profiler);
    assert_int_equal(region_info(profiler, "returned").count, 1);
    assert_int_equal(region_info(profiler, "repeated").count, 2);
    for (uint32_t pass = 0; pass < 2; pass++) {
        zt_stats time;
        ok(zt_get_stats(profiler, find_region(profiler, "returned"), ZT_PASS_TIME(pass), &time));
        assert_int_equal(time.count, pass == 0);
        ok(zt_get_stats(profiler, find_region(profiler, "repeated"), ZT_PASS_TIME(pass), &time));
        assert_int_equal(time.count, 1);
    }
    assert_counts(profiler, counted(3, 3, 0, 0, 0));
}

/* Scopes of two copies of the library, of which each calls its own. */
static void test_scopes_of_two_versions(void **state) {
    world *w = static_cast<world *>(*state);
    zt_profiler *profiler = open_groups(w, "ComputeBasic");
    for (int i = 0; i < 2; i++) {
        {
            ZT_SCOPE(profiler, w->immediate, "scope");
            launch(w, w->immediate);
        }
        check_work(w);
        assert_int_equal(count_scopes_of_other_version(w->context, w->device, w->immediate), 3);
    }
    collect_all(profiler);
    assert_counts(profiler, counted(2, 2, 0, 0, 0));
}

int main() {
    const struct CMUnitTest tests[] = {
        TEST(test_scope),
        TEST(test_exception),
        TEST(test_return_and_break),
        TEST(test_passes),
        TEST(test_scopes_of_two_versions),
    };
    return cmocka_run_group_tests(tests, start, nullptr);
}
