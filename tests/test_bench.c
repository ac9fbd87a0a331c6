/* The harness: intervals, the stopping rule and comparisons against simulated samples of known shape, all of
   them seeded, so that they are the same on every machine; and a benchmark of real work on the device. */
#define _GNU_SOURCE /* for RTLD_NEXT */
#include "fixture.h"

#ifndef _WIN32
#include <dlfcn.h>
#endif
#include <fcntl.h>
#include <level_zero/zes_api.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ==== simulated work ====================================================================================== */

/* The first are of independent samples. The others have a state that lasts for some milliseconds. */
typedef enum shape {
    NORMAL,
    SKEWED,
    LONG_TAIL,
    DRIFTING,
    TWO_SPEEDS,
    WANDERING,
    DISTURBED,
    TWO_MODES,
    CHANGED_CLOCK
} shape;
enum {
    INDEPENDENT_SHAPES = 5,
    SHAPES = 9,
    TRIALS = INSTRUMENTED ? 100 : 200,
    FIRST_SEED = 1001,
    MILLISECOND = 1000000
};

typedef struct work {
    shape of;
    uint64_t state;
    double scale; /* 1 has the median below */
    double noise;
    uint32_t taken;
    uint64_t last_ns; /* when the last sample began; 0: none has */
    double away;      /* how far it has wandered */
    int is_other;     /* not 0: disturbed, in the other mode, or at the other clock */
} work;

static const double true_median = 10000;

/* splitmix64, in (0, 1) */
static double uniform(work *from) {
    uint64_t z = from->state += UINT64_C(0x9E3779B97F4A7C15);
    z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
    return ((double)((z ^ z >> 31) >> 11) + 0.5) / 9007199254740992.0;
}

static double gauss(work *from) {
    double a = uniform(from), b = uniform(from);
    return sqrt(-2 * log(a)) * cos(6.283185307179586 * b);
}

/* Changes the state of work that is in the other one for `share` of the time, as it may in `passed_ns`; `lasting_ns` is
   how long it is in either, together. A Markov chain in continuous time. */
static void change_state(work *from, double passed_ns, double share, double lasting_ns) {
    double forgotten = 1 - exp(-passed_ns / (lasting_ns * share * (1 - share)));
    int is_anew = from->last_ns == 0 || uniform(from) < forgotten;
    from->is_other = is_anew ? uniform(from) < share : from->is_other;
}

/* Each has its median at scale times true_median. */
static double draw(work *from) {
    double middle = from->scale * true_median, g = gauss(from), kept;
    double passed_ns = from->last_ns ? (double)(now_ns() - from->last_ns) : 0;
    double sample;
    from->taken++;
    switch (from->of) {
    case NORMAL:
        return middle * (1 + from->noise * g);
    case SKEWED:
        return middle * exp(from->noise * g);
    case LONG_TAIL: /* now and then something else runs */
        return middle * (1 + from->noise * (g > 0 ? g * g * g : g / 4));
    case DRIFTING: /* warms up, slowly; symmetric around the middle over any full turn */
        return middle * (1 + from->noise * (g + sin(from->taken * 0.7)));
    case TWO_SPEEDS: /* mostly at one speed; seldom, and as often, faster or slower */
        return middle * (1 + from->noise * (uniform(from) < 0.8 ? g / 4 : 3 * g));
    case WANDERING: /* an Ornstein-Uhlenbeck process, which forgets in 20 ms */
        kept = from->last_ns ? exp(-passed_ns / (20 * MILLISECOND)) : 0;
        from->away = kept * from->away + sqrt(1 - kept * kept) * gauss(from);
        sample = middle * (1 + from->noise * (0.8 * from->away + 0.6 * g));
        break;
    case DISTURBED: /* for 5 of 85 ms, other work makes it slower */
        change_state(from, passed_ns, 5.0 / 85, 85 * MILLISECOND);
        sample = middle * (1 + from->noise * (g - 0.0784)) * (from->is_other ? 1.5 : 1);
        break;
    case TWO_MODES: /* 3 of 10 ms in the slower one */
        change_state(from, passed_ns, 0.3, 10 * MILLISECOND);
        sample = middle * (1 + from->noise * (g - 0.566 + (from->is_other ? 10 : 0)));
        break;
    default: /* CHANGED_CLOCK: for 10 of 50 ms at three quarters of the frequency */
        change_state(from, passed_ns, 0.2, 50 * MILLISECOND);
        sample = middle * (1 + from->noise * g) * (from->is_other ? 4.0 / 3 : 1);
    }
    from->last_ns = now_ns();
    return sample;
}

static double simulate(void *user) {
    double sample = draw((work *)user);
    pass_time((uint64_t)sample);
    return sample;
}

static double simulate_frequency(void *user) {
    return ((const work *)user)->is_other ? 1500 : 2000;
}

/* In simulations, only what they let pass is time. */
static void simulate_time(void) {
    hold_time(1);
    pass_sleeps(1);
}

static zt_bench_config config_for(work *from) {
    zt_bench_config config;
    simulate_time();
    memset(&config, 0, sizeof config);
    config.name = "simulated";
    config.measure = simulate;
    config.user = from;
    config.frequency = from->of == CHANGED_CLOCK ? simulate_frequency : NULL;
    config.max_time_ns = A_WHILE;
    return config;
}

static work work_of(shape of, double noise, double scale, int seed) {
    work from = {of, (uint64_t)seed * 7919 + (uint64_t)of, scale, noise, 0, 0, 0, 0};
    return from;
}

/* Returns in how many of the trials the interval contains the true median. */
static int covered(shape of, double noise) {
    static zt_bench_result result;
    int inside = 0;
    for (int seed = FIRST_SEED; seed < FIRST_SEED + TRIALS; seed++) {
        work from = work_of(of, noise, 1, seed);
        zt_bench_config config = config_for(&from);
        ok(zt_bench(NULL, &config, &result));
        assert_true(result.count >= 10 && result.end != ZT_BENCH_NOT_RUN);
        inside += result.low <= true_median && true_median <= result.high;
    }
    return inside;
}

static void test_intervals_hold_the_median(void **state) {
    static const double noises[] = {0.005, 0.02, 0.08};
    (void)state;
    for (int of = 0; of < SHAPES; of++)
        for (int i = 0; i < 3; i++) {
            int inside = covered((shape)of, noises[i]);
            if (inside * 100 < 93 * TRIALS)
                fail_msg("shape %d, noise %g: %d of %d", of, noises[i], inside, TRIALS);
        }
}

/* Returns in how many trials a comparison shows a difference. */
static int found(shape of, double noise, double scale) {
    static zt_comparison result;
    int differs = 0;
    for (int seed = FIRST_SEED; seed < FIRST_SEED + TRIALS; seed++) {
        work a = work_of(of, noise, 1, seed), b = work_of(of, noise, scale, seed + 5000);
        zt_bench_config config_a = config_for(&a), config_b = config_for(&b);
        ok(zt_compare(NULL, &config_a, &config_b, &result));
        assert_true(result.low <= result.ratio && result.ratio <= result.high);
        differs += result.differs && (scale <= 1 || result.ratio > 1);
    }
    return differs;
}

static void test_no_difference_from_itself(void **state) {
    (void)state;
    for (int of = 0; of < SHAPES; of++) {
        int wrong = found((shape)of, 0.02, 1);
        if (wrong * 100 > 7 * TRIALS)
            fail_msg("shape %d: a difference in %d of %d", of, wrong, TRIALS);
    }
}

static void test_three_percent_are_found(void **state) {
    (void)state;
    for (int of = 0; of < INDEPENDENT_SHAPES; of++) {
        int right = found((shape)of, 0.02, 1.03);
        if (right * 100 < 90 * TRIALS)
            fail_msg("shape %d: found in %d of %d", of, right, TRIALS);
    }
}

/* ==== the stopping rule =================================================================================== */

static zt_bench_result bench_of(zt_bench_config config) {
    static zt_bench_result result;
    ok(zt_bench(NULL, &config, &result));
    return result;
}

static void test_ends_when_it_is_precise(void **state) {
    (void)state;
    work from = work_of(NORMAL, 0.02, 1, 1);
    zt_bench_result result = bench_of(config_for(&from));
    assert_int_equal(result.end, ZT_BENCH_PRECISE);
    assert_true(result.precision < 0.01);
    assert_int_equal(from.taken, result.count + 3); /* and the warm-up */
    zt_bench_config finer = config_for(&from);
    finer.precision = 0.003;
    assert_true(bench_of(finer).count > result.count);
}

static void test_ends_when_samples_are_full(void **state) {
    (void)state;
    work from = work_of(NORMAL, 0.5, 1, 1);
    zt_bench_config config = config_for(&from);
    config.max_samples = 40;
    zt_bench_result result = bench_of(config);
    assert_int_equal(result.end, ZT_BENCH_FULL);
    assert_int_equal(result.count, 40);
    config.max_samples = 1000000;
    config.precision = 1e-9;
    assert_true(bench_of(config).count <= ZT_BENCH_SAMPLES);
}

/* The time is up before the first sample, and there are ten nevertheless. */
static void test_ends_when_time_is_up(void **state) {
    (void)state;
    work from = work_of(NORMAL, 0.5, 1, 1);
    zt_bench_config config = config_for(&from);
    config.max_time_ns = 1;
    config.min_samples = 2;
    zt_bench_result result = bench_of(config);
    assert_int_equal(result.end, ZT_BENCH_TIME);
    assert_int_equal(result.count, 10);
}

/* A run whose first ones take a long time. */
typedef struct long_runs {
    work from;
    uint32_t count;
} long_runs;

static double run_long(void *user) {
    long_runs *runs = (long_runs *)user;
    if (runs->from.taken < runs->count)
        pass_time(A_WHILE);
    return draw(&runs->from);
}

static zt_bench_config config_of_long(long_runs *runs, uint32_t count, int seed) {
    runs->from = work_of(SKEWED, 0.5, 1, seed);
    runs->count = count;
    zt_bench_config config = config_for(&runs->from);
    config.measure = run_long;
    config.user = runs;
    config.max_samples = 40;
    return config;
}

/* The warm-up does not use up the time of the samples. */
static void test_time_is_that_of_samples(void **state) {
    (void)state;
    static zt_comparison both;
    long_runs one, other;
    zt_bench_config a = config_of_long(&one, 3, 1), b = config_of_long(&other, 3, 2);
    zt_bench_result result = bench_of(a);
    assert_int_equal(result.end, ZT_BENCH_FULL);
    assert_int_equal(result.count, 40);
    a = config_of_long(&one, 3, 1);
    ok(zt_compare(NULL, &a, &b, &both));
    assert_int_equal(both.a.end, ZT_BENCH_FULL);
    assert_int_equal(both.a.count, 40);
    assert_int_equal(other.from.taken, 43);
}

/* Three runs, and ten samples, whatever they take; and more as long as there is time. */
static void test_warm_up_ends_when_time_is_up(void **state) {
    (void)state;
    static zt_comparison both;
    long_runs one, other;
    zt_bench_config a = config_of_long(&one, UINT32_MAX, 1), b = config_of_long(&other, UINT32_MAX, 2);
    a.warm_up = b.warm_up = 1000000;
    zt_bench_result result = bench_of(a);
    assert_int_equal(result.end, ZT_BENCH_TIME);
    assert_int_equal(one.from.taken, 3 + 10);
    one.from.taken = 0;
    ok(zt_compare(NULL, &a, &b, &both));
    assert_int_equal(both.a.end, ZT_BENCH_TIME);
    assert_int_equal(one.from.taken, 3 + 10);
    assert_int_equal(other.from.taken, 3 + 10);
    a = config_of_long(&one, 0, 1);
    a.warm_up = 100;
    assert_int_equal(bench_of(a).count, 40);
    assert_int_equal(one.from.taken, 100 + 40);
}

static double slower_and_slower(void *user) {
    work *from = (work *)user;
    return true_median * (1 + 0.01 * from->taken++);
}

/* It drifts: more samples make the interval wider. */
static void test_ends_when_noise_no_longer_falls(void **state) {
    (void)state;
    work from = work_of(NORMAL, 0, 1, 1);
    zt_bench_config config = config_for(&from);
    config.measure = slower_and_slower;
    zt_bench_result result = bench_of(config);
    assert_int_equal(result.end, ZT_BENCH_NOISE);
    assert_string_equal(result.ended_by, "noise");
}

/* Half of the first 64 samples take no time, and all later ones: then the median is 0, and no interval is a share
   of it. Neither the precision nor the noise ends that. */
static double take_less_and_less(void *user) {
    work *from = (work *)user;
    return from->taken++ < 33 + 3 ? 5 : 0; /* after three of warm-up */
}

static void test_a_median_that_falls_to_zero(void **state) {
    (void)state;
    work from = work_of(NORMAL, 0, 1, 1);
    zt_bench_config config = config_for(&from);
    config.measure = take_less_and_less;
    config.min_samples = 64;
    config.max_samples = 200;
    zt_bench_result result = bench_of(config);
    assert_int_equal(result.end, ZT_BENCH_FULL);
    assert_int_equal(result.count, 200);
    assert_true(result.median == 0 && isnan(result.precision));
}

static zt_bench_result result_of(const char *name, double median);

/* ==== results ============================================================================================= */

static double take_no_time(void *user) {
    (void)user;
    return 0;
}

static double in_turn(void *user) {
    work *from = (work *)user;
    static const double samples[] = {5, 8, 1, 7, 4, 9, 2, 10, 3, 6, 1000};
    return samples[from->taken++ % 11];
}

static void test_figures(void **state) {
    (void)state;
    work from = work_of(NORMAL, 0, 1, 1);
    zt_bench_config config = config_for(&from);
    from.taken = 8; /* 3, 6 and 1000 warm up */
    config.measure = in_turn;
    config.min_samples = config.max_samples = 11;
    zt_bench_result result = bench_of(config);
    assert_int_equal(result.count, 11);
    assert_true(result.median == 6 && result.min == 1 && result.max == 1000);
    assert_true(result.quartile1 == 3.5 && result.quartile3 == 8.5);
    assert_true(result.low == 2 && result.high == 10); /* 1 - 2 * 12 / 2048 of all, and 2 * 67 are too many */
    assert_int_equal(result.outliers, 1);
    assert_int_equal(result.marks[10], ZT_BENCH_OUTLIER);
    assert_true(result.samples[0] == 5 && result.samples[10] == 1000);
    assert_true(isnan(result.frequency_mhz) && isnan(result.perturbation));
}

/* Rates are those of the median. Without a count, or without a time, there is none. */
static void test_rates_of_a_run(void **state) {
    static kept_text written;
    (void)state;
    work from = work_of(NORMAL, 0, 1, 1);
    zt_bench_config config = config_for(&from);
    from.taken = 8;
    config.measure = in_turn;
    config.min_samples = config.max_samples = 11;
    config.bytes_per_run = 24;
    zt_bench_result result = bench_of(config);
    assert_close(result.bytes_per_second, 4e9); /* 24 bytes in 6 ns */
    assert_true(isnan(result.items_per_second));
    config.items_per_run = 3;
    config.bytes_per_run = -1;
    from.taken = 8;
    result = bench_of(config);
    assert_close(result.items_per_second, 5e8);
    assert_true(isnan(result.bytes_per_second));
    written.used = 0;
    ok(zt_write_benches(NULL, &result, 1, keep_text, &written));
    assert_contains(written.bytes, "  items ");
    assert_contains(written.bytes, "    M/s ");
    assert_contains(written.bytes, "    500 ");
    assert_null(strstr(written.bytes, "B/s"));
    result.bytes_per_second = 23.5e9;
    written.used = 0;
    ok(zt_write_benches(NULL, &result, 1, keep_text, &written));
    assert_contains(written.bytes, "  bytes  items ");
    assert_contains(written.bytes, "   GB/s    M/s ");
    assert_contains(written.bytes, "  23.50    500 ");
    config.measure = take_no_time;
    config.bytes_per_run = 8;
    result = bench_of(config);
    assert_true(isnan(result.bytes_per_second) && isnan(result.items_per_second));
}

static double frequency_of(void *user) {
    return ((const work *)user)->taken % 5 == 0 ? 1500 : 2000;
}

static void test_samples_at_a_changed_frequency(void **state) {
    (void)state;
    work from = work_of(NORMAL, 0.001, 1, 1);
    zt_bench_config config = config_for(&from);
    config.frequency = frequency_of;
    config.min_samples = config.max_samples = 20;
    zt_bench_result result = bench_of(config);
    assert_true(result.frequency_mhz == 2000);
    assert_int_equal(result.changed, 4);
    assert_int_equal(result.set_aside, 4);
    assert_int_equal(result.bursts, 10);
    for (uint32_t i = 0; i < 20; i++) /* after three of warm-up */
        assert_int_equal(result.marks[i] & ZT_BENCH_CHANGED, (i + 4) % 5 == 0 ? ZT_BENCH_CHANGED : 0);
    config.max_change = 0.25; /* no more than that */
    assert_int_equal(bench_of(config).changed, 0);
    config.max_change = 0.24;
    assert_int_equal(bench_of(config).changed, 4);
}

static double frequency_of_half(void *user) {
    return ((const work *)user)->taken % 2 == 0 ? 1500 : 2000;
}

/* What is set aside is in no figure. Of which half of the samples are the changed ones, nobody knows. */
static void test_samples_that_are_set_aside(void **state) {
    (void)state;
    work from = work_of(NORMAL, 0, 1, 1);
    zt_bench_config config = config_for(&from);
    config.measure = in_turn;
    config.frequency = frequency_of;
    from.taken = 8; /* the samples after it: 5, 8, 1, (7,) 4, 9, 2, 10, (3,) 6, 1000 */
    config.min_samples = config.max_samples = 11;
    zt_bench_result result = bench_of(config);
    assert_int_equal(result.count, 11);
    assert_int_equal(result.changed, 2);
    assert_true(result.median == 6 && result.quartile1 == 4 && result.min == 1);
    assert_true(result.samples[3] == 7 && result.marks[3] == ZT_BENCH_CHANGED);
    config.frequency = frequency_of_half;
    config.min_samples = config.max_samples = 10;
    from.taken = 8;
    result = bench_of(config);
    assert_int_equal(result.changed, 10);
    assert_int_equal(result.set_aside, 0);
    assert_true(result.median == 5.5);
}

/* As a driver that does not know it, or a device that sleeps after the work. */
static double no_frequency(void *user) {
    return (double)((const work *)user)->taken - 10;
}

static void test_frequencies_that_are_not_known(void **state) {
    (void)state;
    work from = work_of(NORMAL, 0.001, 1, 1);
    zt_bench_config config = config_for(&from);
    config.frequency = no_frequency;
    config.warm_up = 1;
    config.min_samples = config.max_samples = 10; /* the last is the first at more than 0 MHz */
    zt_bench_result result = bench_of(config);
    assert_true(result.frequency_mhz == 1);
    assert_int_equal(result.changed, 0);
}

static double fail_always(void *user) {
    ++*(int *)user;
    return -1;
}

/* A comparison of two clocks says so. */
static double slow_clock(void *user) {
    (void)user;
    return 1500;
}

static double fast_clock(void *user) {
    (void)user;
    return 2000;
}

static void test_a_comparison_of_two_clocks(void **state) {
    (void)state;
    static zt_comparison result;
    work one = work_of(NORMAL, 0.001, 1, 1), other = work_of(NORMAL, 0.001, 1, 2);
    zt_bench_config a = config_for(&one), b = config_for(&other);
    a.frequency = b.frequency = fast_clock;
    ok(zt_compare(NULL, &a, &b, &result));
    assert_null(strstr(result.text, "MHz"));
    b.frequency = slow_clock;
    ok(zt_compare(NULL, &a, &b, &result));
    assert_contains(result.text, ". The clocks differ: 1500 MHz and 2000 MHz.");
}

/* What takes no time has no ratio to anything. */
static void test_a_comparison_with_nothing(void **state) {
    static zt_comparison result;
    work b = work_of(NORMAL, 0.02, 1, 1);
    zt_bench_config config_a = config_for(&b), config_b = config_for(&b);
    (void)state;
    config_a.measure = take_no_time;
    config_a.max_time_ns = 100 * MILLISECOND;
    ok(zt_compare(NULL, &config_a, &config_b, &result));
    assert_true(result.a.median == 0 && result.b.median > 0);
    assert_true(isnan(result.ratio) && isnan(result.low) && isnan(result.high));
    assert_true(!result.differs && !result.text[0]);
}

static void test_failing_work(void **state) {
    (void)state;
    static zt_bench_result result;
    int calls_made = 0;
    const char *text;
    zt_bench_config config;
    memset(&config, 0, sizeof config);
    assert_result(zt_bench(NULL, &config, &result), ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    assert_result(zt_bench(NULL, NULL, &result), ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    config.measure = fail_always;
    config.user = &calls_made;
    assert_result(zt_bench(NULL, &config, NULL), ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    assert_result(zt_bench(NULL, &config, &result), ZE_RESULT_NOT_READY);
    assert_true(calls_made > 1 && calls_made < 20);
    assert_int_equal(result.end, ZT_BENCH_NOT_RUN);
    text = zt_last_error(NULL);
    assert_contains(text, "[NO_BENCH_SAMPLE]");
    assert_string_equal(result.ended_by, "not run");
    assert_result(zt_compare(NULL, &config, &config, NULL), ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    assert_contains(zt_last_error(NULL), "zt_compare");
}

static double fail_later(void *user) {
    return ++*(int *)user > 8 ? -1 : 1000;
}

/* What was measured before the failure is no result, and no change since an earlier run. */
static void test_work_that_fails_later(void **state) {
    (void)state;
    static zt_bench_result before, now;
    static zt_comparison both;
    zt_bench_changes changes;
    int calls_made = 0;
    zt_bench_config config;
    simulate_time();
    memset(&config, 0, sizeof config);
    config.name = "work";
    config.measure = fail_later;
    config.user = &calls_made;
    before = result_of("work", 2000);
    ok(zt_report_benches(NULL, &before, 1, in_directory("before.csv")));
    assert_result(zt_bench(NULL, &config, &now), ZE_RESULT_NOT_READY);
    assert_int_equal(calls_made, 8 + 4); /* four attempts */
    assert_int_equal(now.count + now.bursts + now.outliers + now.changed, 0);
    assert_true(isnan(now.median) && isnan(now.low) && isnan(now.max) && isnan(now.burst_spread));
    assert_string_equal(now.ended_by, "not run");
    ok(zt_compare_benches(NULL, &now, 1, in_directory("before.csv"), NULL, &changes));
    assert_int_equal(changes.missing, 1);
    assert_int_equal(changes.same + changes.faster + changes.slower + changes.added, 0);
    calls_made = 0;
    assert_result(zt_compare(NULL, &config, &config, &both), ZE_RESULT_NOT_READY);
    assert_true(both.a.count == 0 && isnan(both.a.median) && isnan(both.ratio) && !both.differs);
}

/* ==== on the device ======================================================================================= */

typedef struct job {
    world *w;
    int launches;
    int runs, clean_runs;
    zt_profiler *measured;
    uint64_t clean_queries;
} job;

static int run_job(zt_profiler *profiler, void *user) {
    job *of = (job *)user;
    uint64_t before = calls("zetCommandListAppendMetricQueryBegin");
    of->runs++;
    ZT_REGION(profiler, of->w->immediate, "work")
    for (int i = 0; i < of->launches; i++)
        launch(of->w, of->w->immediate);
    finish_immediate(of->w, of->w->immediate);
    if (profiler != of->measured) {
        of->clean_runs++;
        of->clean_queries += calls("zetCommandListAppendMetricQueryBegin") - before;
    }
    return 0;
}

static zt_bench_config config_of_job(job *of) {
    zt_bench_config config;
    memset(&config, 0, sizeof config);
    config.run = run_job;
    config.user = of;
    config.min_time_ns = 1;
    config.max_samples = 20;
    config.counter_runs = 4;
    return config;
}

/* Clean timing first, then the passes, apart. */
static void test_work_on_the_device(void **state) {
    world *w = *state;
    static zt_bench_result result;
    static kept_text written;
    zt_profiler *profiler = open_two_passes(w);
    job of = {w, 3, 0, 0, profiler, 0};
    zt_bench_config bench = config_of_job(&of);
    ok(zt_bench(profiler, &bench, &result));
    assert_string_equal(result.name, "work");
    assert_true(result.count >= 10 && result.end != ZT_BENCH_NOT_RUN && result.median > 0);
    assert_true(result.low <= result.median && result.median <= result.high);
    assert_int_equal(of.clean_runs, result.count + 3);
    assert_int_equal(of.clean_queries, 0);
    assert_int_equal(of.runs - of.clean_runs, 4 * 2);
    assert_counts(profiler, counted(8, 8, 0, 0, 0)); /* of the passes alone */
    assert_true(result.counter_median > 0 && result.perturbation > 0);
    assert_int_equal(result.region, zt_find_path(profiler, "work;work"));
    written.used = 0;
    ok(zt_write_benches(profiler, &result, 1, keep_text, &written));
    assert_null(strstr(written.bytes, " \n"));
    assert_contains(written.bytes, "\nwork   ");
    assert_contains(written.bytes, "  ended ");
    assert_contains(written.bytes, result.ended_by);
    assert_contains(written.bytes, "read GB/s"); /* a rate, and what adds up by itself is none */
    assert_null(strstr(written.bytes, "GpuTime"));
    check_work(w);
}

static uint64_t executions_of(const zt_profiler *profiler, uint32_t region) {
    zt_region_info info;
    ok(zt_get_region(profiler, region, &info));
    return info.count;
}

/* Two benchmarks of one name and one region, and another one that has it inside of a region, have counters of their
   own. */
static int run_inside(zt_profiler *profiler, void *user) {
    ZT_REGION(profiler, ((const job *)user)->w->immediate, "around")
    run_job(profiler, user);
    return 0;
}

static void test_counters_of_one_benchmark(void **state) {
    world *w = *state;
    static zt_bench_result one, two, other;
    zt_profiler *profiler = open_groups(w, "ComputeBasic");
    job few = {w, 1, 0, 0, profiler, 0}, many = {w, 5, 0, 0, profiler, 0};
    zt_bench_config config = config_of_job(&few), nested = config_of_job(&many);
    config.name = "copy";
    config.counter_runs = 3;
    ok(zt_bench(profiler, &config, &one));
    config.user = &many;
    ok(zt_bench(profiler, &config, &two));
    nested.name = "nested";
    nested.region = "work";
    nested.run = run_inside;
    ok(zt_bench(profiler, &nested, &other));
    assert_int_equal(one.region, zt_find_path(profiler, "copy;work"));
    assert_int_equal(two.region, zt_find_path(profiler, "copy (2);work"));
    assert_int_equal(other.region, zt_find_path(profiler, "nested;around;work"));
    assert_int_equal(executions_of(profiler, one.region), 3);
    assert_int_equal(executions_of(profiler, two.region), 3);
    assert_int_equal(executions_of(profiler, other.region), 4);
    check_work(w);
}

static double take_a_microsecond(void *unused) {
    (void)unused;
    return 1000;
}

/* Times of less than a microsecond keep their digits. A time that is not finite is no sample. */
static double take_five_and_a_half_ns(void *user) {
    (void)user;
    return 5.5;
}

static double take_for_ever(void *user) {
    (void)user;
    return (double)INFINITY;
}

static ze_result_t bench_measured(const char *name, double (*measure)(void *), zt_bench_result *result) {
    zt_bench_config config;
    simulate_time();
    memset(&config, 0, sizeof config);
    config.name = name;
    config.measure = measure;
    return zt_bench(NULL, &config, result);
}

static void test_very_short_times(void **state) {
    static zt_bench_result results[2];
    static kept_text written;
    (void)state;
    ok(bench_measured("short", take_five_and_a_half_ns, &results[0]));
    ok(bench_measured("nothing", take_no_time, &results[1]));
    ok(zt_write_benches(NULL, results, 2, keep_text, &written));
    assert_contains(written.bytes, "\nbenchmark      ns  +- %       ns ");
    assert_contains(written.bytes, "\nshort       5.500     0    5.500 ");
    assert_contains(written.bytes, "\nnothing     0.000     -    0.000 ");
    assert_result(bench_measured("endless", take_for_ever, &results[0]), ZE_RESULT_NOT_READY);
}

/* The text for people has a name even if none is configured, and nothing that is unknown. */
static void test_results_for_people(void **state) {
    static zt_bench_result result;
    static zt_comparison comparison;
    static kept_text written;
    zt_bench_config config;
    int calls_made = 0;
    (void)state;
    simulate_time();
    memset(&config, 0, sizeof config);
    config.measure = take_a_microsecond;
    ok(zt_bench(NULL, &config, &result));
    assert_string_equal(result.name, "the benchmark");
    written.used = 0;
    ok(zt_write_benches(NULL, &result, 1, keep_text, &written));
    assert_contains(written.bytes,
                    "               median   95%  minimum                      bursts    ended\n"
                    "benchmark          us  +- %       us  samples  outliers  apart %       by\n");
    assert_contains(written.bytes,
                    "\nthe benchmark       1     0        1      160         0        0  precise\n");
    assert_contains(written.bytes, "The samples are of 10 bursts, whose medians lie up to 0.0% apart.\n");
    assert_contains(written.bytes, "config.frequency");
    assert_contains(written.bytes, "ZES_ENABLE_SYSMAN=1");

    ok(zt_compare(NULL, &config, &config, &comparison));
    assert_contains(comparison.text, "b takes 1.0000 times as long as a (95%: ");

    config.measure = fail_always;
    config.user = &calls_made;
    config.name = "broken";
    assert_result(zt_bench(NULL, &config, &result), ZE_RESULT_NOT_READY);
    written.used = 0;
    ok(zt_write_benches(NULL, &result, 1, keep_text, &written));
    assert_contains(written.bytes, "\nbroken          -     -        -        0         0  not run\n");
    assert_result(zt_compare(NULL, &config, &config, &comparison), ZE_RESULT_NOT_READY);
    assert_string_equal(comparison.text, "");
}

/* A row for each result, with one unit for all times. */
static void test_a_table_of_results(void **state) {
    static zt_bench_result results[2];
    static kept_text written;
    (void)state;
    ok(bench_measured("a microsecond", take_a_microsecond, &results[0]));
    results[1] = results[0];
    strcpy(results[1].name, "a second");
    results[1].median = results[1].min = 1e9;
    results[1].changed = 3;
    written.used = 0;
    ok(zt_write_benches(NULL, results, 2, keep_text, &written));
    assert_contains(written.bytes, "\na microsecond        1 ");
    assert_contains(written.bytes, "\na second       1000000 ");
    assert_contains(written.bytes, "  precise           0\n"); /* samples at another frequency */
    assert_contains(written.bytes, "  precise           3\n");
    written.used = 0;
    ok(zt_write_benches(NULL, results, 0, keep_text, &written));
    assert_int_equal(written.used, 0);
    assert_result(zt_write_benches(NULL, NULL, 2, keep_text, &written), ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    assert_result(zt_write_benches(NULL, results, 2, NULL, NULL), ZE_RESULT_ERROR_INVALID_NULL_POINTER);
}

/* What warns stays in a narrow table, and notes say what is set aside. */
static void test_warnings_in_a_narrow_table(void **state) {
    world *w = *state;
    static zt_bench_result results[2];
    static kept_text written;
    zt_profiler *profiler = open_groups(w, "ComputeBasic");
    ok(zt_set_peaks(profiler, 40e9, 1e12, "the test"));
    results[0] = result_of("steady", 1000);
    results[0].bursts = 10;
    results[0].burst_spread = 0.01;
    results[0].bytes_per_second = 10e9;
    results[1] = results[0];
    ok(zt_write_benches(profiler, results, 2, keep_text, &written));
    assert_null(strstr(written.bytes, "counters"));
    assert_null(strstr(written.bytes, "another"));
    assert_contains(written.bytes, "  peak %  ");
    assert_contains(written.bytes, "     10      25  "); /* of 40 GB/s */
    assert_contains(written.bytes, "10 bursts, whose medians lie up to 1.0% apart.");
    strcpy(results[1].name, "a name that is so long that it leaves no room for most columns");
    results[1].bursts = 14;
    results[1].burst_spread = 0.125;
    results[1].perturbation = 2;
    results[1].changed = results[1].set_aside = 1;
    written.used = 0;
    ok(zt_write_benches(profiler, results, 2, keep_text, &written));
    assert_contains(written.bytes, "counters");
    assert_contains(written.bytes, "another");
    assert_contains(written.bytes, "10 to 14 bursts, whose medians lie up to 12.5% apart. 1 at");
    results[1].changed = 12;
    results[1].set_aside = 0;
    written.used = 0;
    ok(zt_write_benches(profiler, results, 2, keep_text, &written));
    assert_contains(written.bytes,
                    "Of 1\nbenchmark at least half are at another frequency, so that all count.");
}

/* Each rate is relative to the GPU time of its own pass. */
static void test_rates(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_two_passes(w);
    int pass = 0;
    ZT_PASSES(profiler)
    for (int i = 0; i <= 2 * pass; i++, pass = 1)
        run(w, profiler, "work");
    collect_all(profiler);
    uint32_t region = find_region(profiler, "work");
    for (uint32_t i = 0; i < zt_get_info(profiler).metric_count; i++) {
        const zt_metric *metric = zt_get_metric(profiler, i);
        zt_stats stats, time;
        ok(zt_get_stats(profiler, region, i, &stats));
        ok(zt_get_stats(profiler, region, ZT_PASS_TIME(metric->pass), &time));
        if (metric->aggregation == ZT_AGGREGATE_SUM)
            assert_close(stats.rate, stats.sum / time.sum * 1e9);
        else if (metric->aggregation == ZT_AGGREGATE_MEAN)
            assert_close(stats.rate, stats.mean);
    }
    zt_stats wrong = {0}, time;
    zt_get_stats(profiler, 99, 0, &wrong);
    assert_true(isnan(wrong.rate));
    wrong.rate = 0;
    zt_get_stats(profiler, 0, 9999, &wrong);
    assert_true(isnan(wrong.rate));
    ok(zt_get_stats(profiler, region, ZT_GPU_TIME, &time));
    assert_true(time.sum > 0 && isnan(time.rate));
    ok(zt_get_stats(profiler, region, ZT_PASS_TIME(1), &time));
    assert_true(time.sum > 0 && isnan(time.rate));
    check_work(w);
}

static void test_two_variants_on_the_device(void **state) {
    world *w = *state;
    static zt_comparison result;
    zt_profiler *profiler = open_groups(w, "ComputeBasic");
    job few = {w, 1, 0, 0, profiler, 0}, many = {w, 200, 0, 0, profiler, 0};
    zt_bench_config a = config_of_job(&few), b = config_of_job(&many);
    a.name = "few";
    b.name = "many";
    ok(zt_compare(profiler, &a, &b, &result));
    assert_int_equal(result.a.count, result.b.count);
    assert_true(result.a.median > 0 && result.b.median > 0);
    assert_int_equal(few.clean_runs, 3 + result.a.count); /* none but the warm-up and the samples */
    assert_int_equal(many.clean_runs, few.clean_runs);
    assert_int_equal(few.clean_queries + many.clean_queries, 0);
    assert_contains(result.text, "many takes ");
    check_work(w);
}

/* The system management interface of a driver, of which each test has some: this loader may have none. Domains
   are handles from 1 on; the figures of a state come in turn. */
static struct {
    ze_result_t result;       /* of the enumeration */
    uint32_t listed;          /* what it returns as the number of domains */
    uint32_t filled;          /* the number of those that it has */
    uint32_t of_gpu;          /* the domain of the GPU; the others are of memory. 0: none */
    uint32_t unknown;         /* the domain whose properties are not known */
    ze_result_t state_result; /* of each query of a frequency */
    double mhz[3];
    uint32_t throttled_from; /* the query from which on reasons for throttling are reported, for two */
    uint32_t queries;
} management;

static ze_result_t ZE_APICALL list_domains(zes_device_handle_t device, uint32_t *count,
                                           zes_freq_handle_t *domains) {
    (void)device;
    for (uint32_t i = 0; i < *count && i < management.filled; i++)
        domains[i] = (zes_freq_handle_t)(uintptr_t)(i + 1);
    *count = management.listed;
    return management.result;
}

static ze_result_t ZE_APICALL describe_domain(zes_freq_handle_t domain, zes_freq_properties_t *properties) {
    if ((uintptr_t)domain - 1 >= management.filled)
        note_failure("the properties of no domain", ZE_RESULT_ERROR_INVALID_ARGUMENT);
    properties->type = (uintptr_t)domain == management.of_gpu ? ZES_FREQ_DOMAIN_GPU : ZES_FREQ_DOMAIN_MEMORY;
    return (uintptr_t)domain == management.unknown ? ZE_RESULT_ERROR_UNKNOWN : ZE_RESULT_SUCCESS;
}

static ze_result_t ZE_APICALL query_frequency(zes_freq_handle_t domain, zes_freq_state_t *state) {
    if (!domain || (uintptr_t)domain != management.of_gpu)
        note_failure("the frequency of another domain", ZE_RESULT_ERROR_INVALID_ARGUMENT);
    state->throttleReasons =
        management.queries - management.throttled_from < 2 ? ZES_FREQ_THROTTLE_REASON_FLAG_THERMAL_LIMIT : 0;
    state->actual = management.mhz[management.queries++ % 3];
    return management.state_result;
}

/* Work that a runtime launches: only a tracer sees it. */
static int run_as_a_runtime(zt_profiler *profiler, void *user) {
    job *of = (job *)user;
    (void)profiler;
    of->runs++;
    for (int i = 0; i < of->launches; i++)
        launch(of->w, of->w->immediate);
    finish_immediate(of->w, of->w->immediate);
    return 0;
}

static void test_work_through_a_runtime(void **state) {
    world *w = *state;
    static zt_bench_result result;
    static zt_comparison both;
    zt_region_info phase;
    zt_profiler *profiler = open_two_passes(w);
    job few = {w, 2, 0, 0, profiler, 0}, many = {w, 100, 0, 0, profiler, 0};
    zt_bench_config config = config_of_job(&few), other = config_of_job(&many);
    config.run = other.run = run_as_a_runtime;
    config.name = "runtime";
    assert_result(zt_bench(profiler, &config, &result), ZE_RESULT_NOT_READY); /* nobody sees it */
    ok(zt_trace_start(profiler, NULL));
    few.runs = 0;
    ok(zt_bench(profiler, &config, &result));
    assert_string_equal(result.name, "runtime");
    assert_true(result.count >= 10 && result.median > 0);
    assert_int_equal(few.runs,
                     1 + 3 + result.count + 4 * 2); /* the first run shows that it begins no region */
    ok(zt_get_region(profiler, result.region, &phase));
    assert_string_equal(phase.name, "runtime");
    assert_int_equal(phase.entered, few.runs - 1);
    assert_int_equal(phase.count, 2 * (few.runs - 1)); /* launches */
    config.name = "few";
    other.name = "many";
    few.runs = 0;
    ok(zt_compare(profiler, &config, &other, &both));
    assert_int_equal(both.a.count, both.b.count);
    assert_true(both.a.count >= 10 && both.a.median > 0 && both.b.median > 0);
    assert_int_equal(few.runs, 1 + 3 + both.a.count);
    assert_int_equal(many.runs, few.runs);
    assert_contains(both.text, "many takes ");
    ok(zt_trace_stop(profiler));
    assert_result(zt_bench(profiler, &config, &result), ZE_RESULT_NOT_READY);
    check_work(w);
}

/* Returns the mean of the metric that has the frequency, of the runs with metrics. */
static double frequency_by_metrics(const zt_profiler *profiler, const zt_bench_result *result) {
    zt_stats stats;
    ok(zt_get_stats(profiler, result->region, zt_find_metric(profiler, "AvgGpuCoreFrequencyMHz"), &stats));
    return stats.mean;
}

/* The frequency is that of the GPU's domain; else that of the metrics. What is not known does not end the benchmark. */
static void test_frequencies_of_the_device(void **state) {
    const ze_result_t good = ZE_RESULT_SUCCESS, bad = ZE_RESULT_ERROR_UNSUPPORTED_FEATURE;
    const struct {
        ze_result_t result;
        uint32_t listed, filled, of_gpu, unknown;
        ze_result_t state_result;
        double mhz[3];
        double median; /* 0: not known, but by metrics */
        uint32_t changed;
    } cases[] = {
        {good, 2, 2, 2, 0, good, {2000, 2000, 2000}, 2000, 0},
        {good, 3, 3, 3, 1, good, {2000, 1000, 2000}, 2000, 10},
        {good, 1000, 16, 16, 0, good, {2000, 2000, 2000}, 2000, 0},
        {good, 2, 2, 1, 0, good, {-1, 1500, 0}, 1500, 0}, /* not known, and asleep */
        {good, 2, 2, 1, 0, bad, {2000, 2000, 2000}, 0, 0},
        {good, 1000, 16, 17, 0, good, {2000, 2000, 2000}, 0, 0},
        {good, 1000, 2, 3, 0, good, {2000, 2000, 2000}, 0, 0},
        {good, 0, 1, 1, 0, good, {2000, 2000, 2000}, 0, 0},
        {good, 1, 1, 1, 1, good, {2000, 2000, 2000}, 0, 0},
        {good, 2, 2, 0, 0, good, {2000, 2000, 2000}, 0, 0},
        {bad, 2, 2, 1, 0, good, {2000, 2000, 2000}, 0, 0},
    };
    world *w = *state;
    static zt_bench_result result;
    replace_symbol("zesDeviceEnumFrequencyDomains", (any_function)list_domains);
    replace_symbol("zesFrequencyGetProperties", (any_function)describe_domain);
    replace_symbol("zesFrequencyGetState", (any_function)query_frequency);
    zt_profiler *profiler = open_groups(w, "ComputeBasic");
    job of = {w, 1, 0, 0, profiler, 0};
    zt_bench_config config = config_of_job(&of);
    config.min_samples = config.max_samples = 30;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        memset(&management, 0, sizeof management);
        management.throttled_from = UINT32_MAX / 2;
        management.result = cases[i].result;
        management.listed = cases[i].listed;
        management.filled = cases[i].filled;
        management.of_gpu = cases[i].of_gpu;
        management.unknown = cases[i].unknown;
        management.state_result = cases[i].state_result;
        memcpy(management.mhz, cases[i].mhz, sizeof management.mhz);
        ok(zt_bench(profiler, &config, &result));
        assert_int_equal(result.count, 30);
        double expected = cases[i].median > 0 ? cases[i].median : frequency_by_metrics(profiler, &result);
        if (result.frequency_mhz != expected)
            fail_msg("case %zu: %g MHz", i, result.frequency_mhz);
        assert_int_equal(result.changed, cases[i].changed);
        assert_no_noted_failure();
    }
    check_work(w);
}

/* The clock is the same, but the driver reports that it throttles. */
static void test_samples_while_it_throttles(void **state) {
    world *w = *state;
    static zt_bench_result result;
    replace_symbol("zesDeviceEnumFrequencyDomains", (any_function)list_domains);
    replace_symbol("zesFrequencyGetProperties", (any_function)describe_domain);
    replace_symbol("zesFrequencyGetState", (any_function)query_frequency);
    zt_profiler *profiler = open_groups(w, "ComputeBasic");
    job of = {w, 1, 0, 0, profiler, 0};
    zt_bench_config config = config_of_job(&of);
    memset(&management, 0, sizeof management);
    management.listed = management.filled = management.of_gpu = 1;
    management.throttled_from = 5;
    for (int i = 0; i < 3; i++)
        management.mhz[i] = 2000;
    config.min_samples = config.max_samples = 10;
    ok(zt_bench(profiler, &config, &result));
    assert_int_equal(result.changed, 2);
    assert_int_equal(result.set_aside, 2);
    for (uint32_t i = 0; i < 10; i++)
        assert_int_equal(result.marks[i] & ZT_BENCH_CHANGED, i == 5 || i == 6 ? ZT_BENCH_CHANGED : 0);
    check_work(w);
}

/* Each function of the interface may be missing. */
static void test_frequencies_without_a_function(void **state) {
    static const char *const functions[] = {"zesDeviceEnumFrequencyDomains", "zesFrequencyGetProperties",
                                            "zesFrequencyGetState"};
    world *w = *state;
    static zt_bench_result result;
    for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++) {
        hide_symbol(functions[i]);
        zt_profiler *profiler = open_groups(w, "ComputeBasic");
        hide_symbol(NULL);
        job of = {w, 1, 0, 0, profiler, 0};
        zt_bench_config config = config_of_job(&of);
        config.min_samples = config.max_samples = 10;
        ok(zt_bench(profiler, &config, &result));
        assert_int_equal(result.count, 10);
        assert_true(result.frequency_mhz == frequency_by_metrics(profiler, &result));
        close_profiler(w, profiler);
    }
    check_work(w);
}

/* The name of the benchmark is that of its region, if it has no other. More runs with counters than samples of a
   benchmark are kept: all count for the statistics. */
static void test_many_runs_with_counters(void **state) {
    enum { RUNS = ZT_BENCH_SAMPLES + 8 };
    world *w = *state;
    static zt_bench_result result;
    zt_profiler *profiler = open_groups(w, "ComputeBasic");
    job of = {w, 1, 0, 0, profiler, 0};
    zt_bench_config config = config_of_job(&of);
    config.region = "work";
    config.min_samples = config.max_samples = 10;
    config.counter_runs = RUNS;
    ok(zt_bench(profiler, &config, &result));
    assert_string_equal(result.name, "work");
    assert_int_equal(result.counter_runs, RUNS);
    assert_int_equal(of.runs - of.clean_runs, RUNS);
    assert_int_equal(region_info(profiler, "work").count, RUNS);
    assert_true(result.counter_median > 0);
    check_work(w);
}

static int fail_with_counters(zt_profiler *profiler, void *user) {
    job *of = (job *)user;
    return run_job(profiler, user) != 0 || profiler == of->measured;
}

/* The times are there, and what the counters cost is not known. */
static void test_runs_with_counters_that_fail(void **state) {
    world *w = *state;
    static zt_bench_result result;
    zt_profiler *profiler = open_groups(w, "ComputeBasic");
    job of = {w, 1, 0, 0, profiler, 0};
    zt_bench_config config = config_of_job(&of);
    config.run = fail_with_counters;
    ok(zt_bench(profiler, &config, &result));
    assert_true(result.count >= 10 && result.median > 0);
    assert_true(isnan(result.counter_median) && isnan(result.perturbation));
    assert_int_equal(heard(w, "[NO_BENCH_SAMPLE]"), 1);
    check_work(w);
}

/* Wherever memory ends: no crash, no leak, and a result that shows that there are no figures. */
static void test_benchmarks_without_memory(void **state) {
    world *w = *state;
    static zt_bench_result result;
    static zt_comparison comparison;
    zt_config config = config_of(w);
    config.allocator = scarce_allocator();
    zt_profiler *profiler = open_profiler(w, &config);
    job of = {w, 1, 0, 0, profiler, 0};
    zt_bench_config bench = config_of_job(&of);
    bench.min_samples = bench.max_samples = 10;
    bench.counter_runs = 1;
    for (int compared = 0; compared < 2; compared++) {
        ze_result_t answer = ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
        int failures = 0;
        while (answer != ZE_RESULT_SUCCESS) {
            allocations_left = failures;
            answer = compared ? zt_compare(profiler, &bench, &bench, &comparison)
                              : zt_bench(profiler, &bench, &result);
            allocations_left = -1;
            if (answer != ZE_RESULT_SUCCESS) {
                assert_true(answer == ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY || answer == ZE_RESULT_NOT_READY);
                assert_true(compared ? isnan(comparison.ratio) || comparison.a.count < 10
                                     : result.count < 10);
                failures++;
            }
        }
        assert_true(failures > 5);
    }
    assert_int_equal(result.count, 10);
    assert_int_equal(comparison.a.count, 10);
    assert_true(comparison.ratio > 0);
    check_work(w);
}

static int run_nothing(zt_profiler *profiler, void *user) {
    (void)profiler, (void)user;
    return 0;
}

static void test_a_run_without_a_region(void **state) {
    world *w = *state;
    static zt_bench_result result;
    zt_profiler *profiler = open_groups(w, "ComputeBasic");
    zt_bench_config config;
    memset(&config, 0, sizeof config);
    config.run = run_nothing;
    assert_result(zt_bench(profiler, &config, &result), ZE_RESULT_NOT_READY);
    assert_int_equal(heard(w, "[NO_BENCH_SAMPLE]"), 1);
    assert_int_equal(result.count, 0);
}

static int run_twice(zt_profiler *profiler, void *user) {
    const job *of = (job *)user;
    return of->runs < 2 ? run_job(profiler, user) : 0;
}

/* The region is there from earlier runs. */
static void test_a_run_that_measures_nothing_more(void **state) {
    world *w = *state;
    static zt_bench_result result;
    zt_profiler *profiler = open_groups(w, "ComputeBasic");
    job of = {w, 1, 0, 0, profiler, 0};
    zt_bench_config config = config_of_job(&of);
    config.run = run_twice;
    assert_result(zt_bench(profiler, &config, &result), ZE_RESULT_NOT_READY);
    assert_int_equal(of.runs, 2);
    assert_int_equal(heard(w, "has no sample: no region was measured."), 1);
    check_work(w);
}

/* A benchmark opens a profiler of its own. The message says why it cannot. */
static void test_without_room_for_another_profiler(void **state) {
    enum { TRIED = 300 };
    world *w = *state;
    static zt_bench_result result;
    job of = {w, 1, 0, 0, NULL, 0};
    zt_bench_config bench = config_of_job(&of);
    zt_config config = config_of(w);
    zt_profiler *opened[TRIED];
    uint32_t count = 0;
    config.groups = "";
    config.probes_per_step = config.max_probes = 1;
    while (count < TRIED && zt_open(w->context, w->device, &config, &opened[count]) == ZE_RESULT_SUCCESS)
        count++;
    assert_result(zt_bench(opened[0], &bench, &result), ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY);
    assert_contains(zt_get_info(opened[0]).error, "profilers are open in this process");
    assert_int_equal(of.runs, 0);
    while (count > 0)
        zt_close(opened[--count]);
    zt_profiler *profiler = open_groups(w, "ComputeBasic");
    ok(zt_bench(profiler, &bench, &result));
}

static void test_without_a_profiler_nothing_runs(void **state) {
    world *w = *state;
    static zt_bench_result result;
    static zt_comparison comparison;
    job of = {w, 1, 0, 0, NULL, 0};
    zt_bench_config config = config_of_job(&of);
    ok(zt_bench(NULL, &config, &result));
    ok(zt_compare(NULL, &config, &config, &comparison));
    assert_int_equal(of.runs, 0);
    assert_int_equal(result.end, ZT_BENCH_NOT_RUN);
    assert_int_equal(comparison.differs, 0);

    /* Nor with one that has no device. What needs none is measured. */
    work from = work_of(NORMAL, 0.001, 1, 1);
    zt_bench_config measured = config_for(&from);
    zt_profiler *profiler = open_groups(w, "ComputeBasic"), *unpacked = NULL;
    size_t size = 0;
    ok(zt_pack(profiler, NULL, &size));
    void *packed = malloc(size);
    assert_non_null(packed);
    ok(zt_pack(profiler, packed, &size));
    ok(zt_unpack(packed, size, NULL, &unpacked));
    ok(zt_bench(unpacked, &config, &result));
    ok(zt_compare(unpacked, &measured, &config, &comparison));
    assert_int_equal(of.runs + (int)from.taken, 0);
    ok(zt_bench(unpacked, &measured, &result));
    assert_true(result.count >= 10 && isnan(result.frequency_mhz));
    measured.run = run_job; /* which config.measure overrides */
    ok(zt_bench(NULL, &measured, &result));
    ok(zt_compare(NULL, &measured, &measured, &comparison));
    assert_int_equal(of.runs, 0);
    assert_true(comparison.a.count >= 10);
    zt_close(unpacked);
    free(packed);
}

/* ==== an earlier run ====================================================================================== */

/* A result whose median is known to half a percent. */
static zt_bench_result result_of(const char *name, double median) {
    zt_bench_result result;
    memset(&result, 0, sizeof result);
    strcpy(result.name, name);
    result.end = ZT_BENCH_PRECISE;
    result.count = 20;
    result.median = median;
    result.low = median * 0.995;
    result.high = median * 1.005;
    result.decile1 = result.quartile1 = result.min = median * 0.99;
    result.quartile3 = result.max = median * 1.01;
    result.precision = 0.005;
    result.tolerance = 0.02;
    result.frequency_mhz = 2000;
    result.bytes_per_second = result.items_per_second = result.perturbation = (double)NAN;
    result.region = UINT32_MAX;
    return result;
}

/* Returns the text of a file in the test's directory. It lives until the next call. */
static char *text_of_file(const char *name) {
    static char text[1 << 16];
    FILE *file = fopen(in_directory(name), "rb");
    assert_non_null(file);
    text[fread(text, 1, sizeof text - 1, file)] = 0;
    fclose(file);
    return text;
}

static void write_bytes(const char *name, const void *bytes, size_t size) {
    FILE *file = fopen(in_directory(name), "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

static ze_result_t compare_benches(const zt_bench_result *results, uint32_t count,
                                   zt_bench_changes *changes) {
    return zt_compare_benches(NULL, results, count, in_directory("before.csv"), in_directory("changes.txt"),
                              changes);
}

static void test_changes_since_an_earlier_run(void **state) {
    (void)state;
    static zt_bench_result before[6], now[6];
    zt_bench_changes changes;
    const char *table;
    before[0] = result_of("same", 1000);
    before[1] = result_of("slower, \"quoted\"\nname", 2000);
    before[2] = result_of("faster", 3000);
    before[3] = result_of("gone", 4000);
    before[4] = result_of("failed now", 5000);
    before[5] = result_of("failed before", 0);
    before[5].count = 0;
    before[5].median = before[5].low = before[5].high = (double)NAN;
    now[0] = result_of("faster", 2700);
    now[1] = result_of("same", 1020);
    now[2] = result_of("slower, \"quoted\"\nname", 2100);
    now[3] = result_of("failed now", 0);
    now[3].count = 0;
    now[3].median = (double)NAN;
    now[4] = result_of("failed before", 6000);
    now[5] = result_of("new", 7000);
    ok(zt_report_benches(NULL, before, 6, in_directory("before.csv")));
    ok(compare_benches(now, 6, &changes));
    assert_int_equal(changes.same, 1);
    assert_int_equal(changes.slower, 1);
    assert_int_equal(changes.faster, 1);
    assert_int_equal(changes.missing, 2);
    assert_int_equal(changes.added, 2);
    assert_int_equal(changes.other_conditions, 0);
    table = text_of_file("changes.txt");
    assert_contains(table, "\nfaster  ");
    assert_contains(table, "\nslower, \"quoted\"?name  ");
    assert_contains(table, "   -10.0");
    assert_contains(table, "1 slower, 1 faster, 1 same, 2 missing, 2 new, compared with\n");
    assert_contains(table, "tolerance of 2%.");
    /* 2% of change is known to 1%, so that it is not beyond a tolerance of 2%, but beyond one of 0.9%. */
    now[1].tolerance = 0.009;
    ok(compare_benches(now, 6, &changes));
    assert_int_equal(changes.slower, 2);
    assert_contains(text_of_file("changes.txt"), "tolerance of 0.9%\nto 2%.");
}

/* The n-th of a name is compared with the n-th. Names that are not valid UTF-8 find each other. */
static void test_benchmarks_of_one_name(void **state) {
    (void)state;
    static zt_bench_result before[3], now[3];
    zt_bench_changes changes;
    before[0] = result_of("twice", 1000);
    before[1] = result_of("\xFFname", 50);
    before[2] = result_of("twice", 2000);
    now[0] = before[2];
    now[1] = before[0];
    now[2] = before[1];
    ok(zt_report_benches(NULL, before, 3, in_directory("before.csv")));
    ok(compare_benches(now, 3, &changes));
    assert_int_equal(changes.slower, 1);
    assert_int_equal(changes.faster, 1);
    assert_int_equal(changes.same, 1);
    ok(compare_benches(before, 3, &changes));
    assert_int_equal(changes.same, 3);
}

/* The time of a benchmark may be so short that its interval reaches 0: then no change is shown. */
static void test_an_interval_that_reaches_zero(void **state) {
    (void)state;
    static zt_bench_result before, now;
    zt_bench_changes changes;
    before = result_of("short", 10);
    before.low = 0;
    now = result_of("short", 20);
    ok(zt_report_benches(NULL, &before, 1, in_directory("before.csv")));
    ok(compare_benches(&now, 1, &changes));
    assert_int_equal(changes.same, 1);
    assert_contains(text_of_file("changes.txt"), " -  ");
}

/* The later run is beside other load most of the time, but not in its fastest samples. */
static void test_a_change_without_the_first_decile(void **state) {
    (void)state;
    static zt_bench_result before, now;
    zt_bench_changes changes;
    before = result_of("a", 1000);
    now = result_of("a", 1100);
    ok(zt_report_benches(NULL, &before, 1, in_directory("before.csv")));
    ok(compare_benches(&now, 1, &changes));
    assert_int_equal(changes.slower, 1);
    now.decile1 = before.decile1 * 1.01;
    ok(compare_benches(&now, 1, &changes));
    assert_int_equal(changes.same, 1);
    now = result_of("a", 900);
    ok(compare_benches(&now, 1, &changes));
    assert_int_equal(changes.faster, 1);
    now.decile1 = before.decile1;
    ok(compare_benches(&now, 1, &changes));
    assert_int_equal(changes.same, 1);
}

/* However wide the intervals are: no time is less than nothing. */
static void test_a_change_of_wide_intervals(void **state) {
    (void)state;
    static zt_bench_result before, now;
    zt_bench_changes changes;
    before = result_of("wide", 1000);
    before.low = 100;
    before.high = 20000;
    now = result_of("wide", 900);
    now.low = 100;
    now.high = 5000;
    ok(zt_report_benches(NULL, &before, 1, in_directory("before.csv")));
    ok(compare_benches(&now, 1, &changes));
    assert_int_equal(changes.same, 1);
    assert_contains(text_of_file("changes.txt"), "  -99.5  4900  "); /* 100 after 20000, and 5000 after 100 */
    now.low = 0;
    ok(compare_benches(&now, 1, &changes));
    assert_contains(text_of_file("changes.txt"), "  -100  ");
}

/* Returns in how many trials a later run is faster or slower than an earlier one. */
static int changed(shape of, double noise, double scale) {
    static zt_bench_result before, now;
    int count = 0;
    for (int seed = FIRST_SEED; seed < FIRST_SEED + TRIALS; seed++) {
        work a = work_of(of, noise, 1, seed), b = work_of(of, noise, scale, seed + 5000);
        zt_bench_config config_a = config_for(&a), config_b = config_for(&b);
        zt_bench_changes changes;
        config_b.tolerance = 1e-9;
        ok(zt_bench(NULL, &config_a, &before));
        ok(zt_bench(NULL, &config_b, &now));
        ok(zt_report_benches(NULL, &before, 1, in_directory("before.csv")));
        ok(zt_compare_benches(NULL, &now, 1, in_directory("before.csv"), NULL, &changes));
        count += (int)changes.slower + (scale > 1 ? 0 : (int)changes.faster);
    }
    return count;
}

/* The interval of the change holds in at least 95 of 100 runs. */
static void test_no_change_of_the_same_work(void **state) {
    (void)state;
    for (int of = 0; of < SHAPES; of++) {
        int wrong = changed((shape)of, 0.02, 1);
        if (wrong * 100 > 7 * TRIALS)
            fail_msg("shape %d: a change in %d of %d", of, wrong, TRIALS);
    }
}

static void test_a_change_of_three_percent(void **state) {
    (void)state;
    for (int of = 0; of < INDEPENDENT_SHAPES; of++) {
        int right = changed((shape)of, 0.02, 1.03);
        if (right * 100 < 90 * TRIALS)
            fail_msg("shape %d: found in %d of %d", of, right, TRIALS);
    }
}

#ifndef _WIN32

static int hides_core_clock;

ze_result_t ZE_APICALL zeDeviceGetProperties(ze_device_handle_t device, ze_device_properties_t *properties) {
    ze_result_t result = REAL(zeDeviceGetProperties)(device, properties);
    if (hides_core_clock)
        properties->coreClockRate = 0;
    return result;
}

/* A driver may not tell it: the field is empty, and is not compared. */
static void test_a_core_clock_that_is_not_known(void **state) {
    world *w = *state;
    static zt_bench_result results[1];
    zt_bench_changes changes;
    results[0] = result_of("a", 1000);
    zt_profiler *profiler = open_groups(w, "ComputeBasic");
    ok(zt_report_benches(profiler, results, 1, in_directory("known.csv")));
    hides_core_clock = 1;
    zt_profiler *other = open_groups(w, "ComputeBasic");
    hides_core_clock = 0;
    ok(zt_report_benches(other, results, 1, in_directory("unknown.csv")));
    assert_null(strstr(text_of_file("known.csv"), ",," ZETOOLS_VERSION));
    assert_contains(text_of_file("unknown.csv"), ",," ZETOOLS_VERSION);
    ok(zt_compare_benches(other, results, 1, in_directory("known.csv"), NULL, &changes));
    assert_int_equal(changes.other_conditions, 0);
    ok(zt_compare_benches(profiler, results, 1, in_directory("unknown.csv"), NULL, &changes));
    assert_int_equal(changes.other_conditions, 0);
    assert_int_equal(changes.same, 1);
}
#endif

/* Another device, driver, clock or frequency may be the reason of a change. */
static void test_conditions_that_differ(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_groups(w, "ComputeBasic");
    static zt_bench_result before[5], now[5];
    zt_bench_changes changes;
    char text[1 << 15], *at;
    for (int i = 0; i < 5; i++) {
        before[i] = result_of("a", 1000);
        before[i].name[0] = (char)('a' + i);
        now[i] = before[i];
    }
    ok(zt_report_benches(profiler, before, 5, in_directory("before.csv")));
    ok(zt_compare_benches(profiler, now, 5, in_directory("before.csv"), in_directory("changes"), &changes));
    assert_int_equal(changes.same, 5);
    assert_int_equal(changes.other_conditions, 0);
    assert_null(strstr(text_of_file("changes"), " was "));

    /* The frequency of the first is not known. */
    now[0].frequency_mhz = (double)NAN;
    for (int i = 1; i < 5; i++)
        now[i].frequency_mhz = 1500;
    ok(zt_compare_benches(profiler, now, 5, in_directory("before.csv"), in_directory("changes"), &changes));
    assert_int_equal(changes.other_conditions, 1);
    assert_contains(text_of_file("changes"),
                    "4 benchmarks ran at another frequency; b: 2000 MHz before, 1500 MHz now.");
    assert_contains(text_of_file("changes"), "not be those of the program.");

    strcpy(text, text_of_file("before.csv"));
    while ((at = strstr(text, "\"Soft")) != NULL)
        memcpy(at, "\"Hard", 5);
    write_bytes("before.csv", text, strlen(text));
    ok(zt_compare_benches(profiler, before, 5, in_directory("before.csv"), in_directory("changes"),
                          &changes));
    assert_int_equal(changes.other_conditions, 1);
    assert_contains(text_of_file("changes"), "The device was Hard");
    /* Without a profiler, the device is not known. */
    ok(zt_compare_benches(NULL, before, 5, in_directory("before.csv"), NULL, &changes));
    assert_int_equal(changes.other_conditions, 0);
}

/* Compares with a file of these bytes. Returns the result, and the message in `*text`. */
static ze_result_t compare_with(const void *bytes, size_t size, const char **text) {
    static zt_bench_result now;
    zt_bench_changes changes;
    ze_result_t result;
    now = result_of("a", 1000);
    write_bytes("before.csv", bytes, size);
    result = zt_compare_benches(NULL, &now, 1, in_directory("before.csv"), NULL, &changes);
    *text = zt_last_error(NULL);
    if (result != ZE_RESULT_SUCCESS)
        assert_int_equal(changes.same + changes.slower + changes.faster + changes.added + changes.missing, 0);
    return result;
}

static ze_result_t compare_with_text(const char *bytes, const char **text) {
    return compare_with(bytes, strlen(bytes), text);
}

#define HEAD "layout,results,name,median_ns,low_ns,high_ns\n"

static void test_files_that_cannot_be_read(void **state) {
    static const char *const damaged[] = {
        HEAD "1,1,a,1000,990\n",
        HEAD "1,1,a,1000,1001,1002\n",
        HEAD "1,1,a,1000,990,inf\n",
        HEAD "1,1,a,1000,990,1e999\n",
        HEAD "1,1,a,-5,-6,-4\n",
        HEAD "1,1,a,1.0.0,990,1010\n",
        HEAD "1,1,a,1000,,1010\n",
        HEAD "x,1,a,1000,990,1010\n",
        HEAD "1,,a,1000,990,1010\n",
        HEAD "1,1,\"a\"b,1000,990,1010\n",
        HEAD "1,1,a,1000,990,1e3x\n",
        HEAD "1,1,a,1000,990,1010,1\n",
        HEAD "1,1,a,9,9,9\n1,1,b,9,9,9\n",
        HEAD "1,2,a,9,9,9\n" HEAD,
        HEAD "\n",
        HEAD "1,1,a,5,-6,7\n",
        HEAD "1,1,a,-,990,1010\n",
        HEAD "1,1,a,8,7,6\n",
        HEAD "1,1,a,\"1000,0\",990,1010\n",
    };
    static const char *const foreign[] = {"",
                                          "\n",
                                          "a",
                                          "{\"benchmarks\": []}\n",
                                          "name,median_ns\na,1\n",
                                          "layout,results,name,median_ns",
                                          "layout,results\n1,1\n",
                                          "layout,results,median_ns,low_ns,high_ns\n1,1,9,9,9\n"};
    static zt_bench_result now;
    zt_bench_changes changes;
    const char *text;
    (void)state;
    now = result_of("a", 1000);
    assert_result(compare_with_text(HEAD "1,1,a,1000,990,1010\r\n", &text), ZE_RESULT_SUCCESS);
    assert_result(compare_with_text(HEAD "1,1,a,,,\n", &text), ZE_RESULT_SUCCESS);
    for (size_t i = 0; i < sizeof damaged / sizeof *damaged; i++) {
        if (compare_with_text(damaged[i], &text) != ZE_RESULT_ERROR_INVALID_ARGUMENT)
            fail_msg("accepted: %s", damaged[i]);
        assert_contains(text, "[BAD_BENCHES]");
        assert_contains(text, "is damaged in line ");
        assert_contains(text, "Write it anew with zt_report_benches.");
    }
    for (size_t i = 0; i < sizeof foreign / sizeof *foreign; i++) {
        assert_result(compare_with_text(foreign[i], &text), ZE_RESULT_ERROR_INVALID_ARGUMENT);
        assert_contains(text, "is no file of benchmarks");
    }
    assert_result(compare_with_text("layout,new\n2,\"?\"\n", &text), ZE_RESULT_ERROR_UNSUPPORTED_VERSION);
    assert_contains(text, "[NEWER_BENCHES]");
    assert_contains(text, "has layout 2, and zetools " ZETOOLS_VERSION " reads layout 1.");
    assert_result(compare_with_text(HEAD, &text), ZE_RESULT_ERROR_INVALID_SIZE);
    assert_contains(text, "is cut off");

    /* More columns than a line is read with. */
    char wide[1024] = "layout,results,name,median_ns,low_ns,high_ns";
    for (int i = 6; i < 70; i++)
        strcat(wide, ",x");
    strcat(wide, "\n1,1,a,1000,990,1010");
    for (int i = 6; i < 70; i++)
        strcat(wide, ",0");
    strcat(wide, "\n");
    assert_result(compare_with_text(wide, &text), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    assert_contains(text, "is no file of benchmarks");

    FILE *large = fopen(in_directory("large.csv"), "wb");
    assert_non_null(large);
    assert_int_equal(fseek(large, 1 << 26, SEEK_SET), 0);
    assert_int_equal(fputc('\n', large), '\n');
    assert_int_equal(fclose(large), 0);
    assert_result(zt_compare_benches(NULL, &now, 1, in_directory("large.csv"), NULL, &changes),
                  ZE_RESULT_ERROR_UNKNOWN);
    assert_contains(zt_last_error(NULL), "it is too large");

    assert_result(zt_compare_benches(NULL, &now, 1, in_directory("none.csv"), NULL, &changes),
                  ZE_RESULT_ERROR_UNKNOWN);
    assert_contains(zt_last_error(NULL), "none.csv': No such file or directory. Check the path, or write ");
    assert_result(zt_compare_benches(NULL, &now, 1, test_directory, NULL, &changes), ZE_RESULT_ERROR_UNKNOWN);
    assert_contains(zt_last_error(NULL), "it is no regular file");
}

/* A file of two runs, with all that a name may contain. Returns its size. */
static size_t write_two(char *bytes, size_t room) {
    static zt_bench_result before[2];
    const char *text;
    before[0] = result_of("a", 1000.0 / 3);
    before[1] = result_of("b \"\n,\r\xC3\xA9", 2000);
    ok(zt_report_benches(NULL, before, 2, in_directory("before.csv")));
    text = text_of_file("before.csv");
    assert_true(strlen(text) < room);
    strcpy(bytes, text);
    return strlen(text);
}

static void test_files_that_are_cut_off(void **state) {
    char bytes[2048];
    const char *text;
    size_t size = write_two(bytes, sizeof bytes), head = strcspn(bytes, "\n") + 1;
    (void)state;
    for (size_t i = 0; i < size; i++) {
        ze_result_t result = compare_with(bytes, i, &text);
        if (result != (i < head ? ZE_RESULT_ERROR_INVALID_ARGUMENT : ZE_RESULT_ERROR_INVALID_SIZE))
            fail_msg("cut off after %zu of %zu: %s, %s", i, size, zt_result_name(result), text);
    }
    ok(compare_with(bytes, size, &text));
}

/* Bytes at chance: nothing crashes, and what is not an error is a whole file. */
static void test_files_with_wrong_bytes(void **state) {
    enum { MUTATIONS = 2000 };
    static const char letters[] = "\",\n\r.0129e-+ax";
    char bytes[2048], changed_bytes[2048];
    const char *text;
    size_t size = write_two(bytes, sizeof bytes), head = strcspn(bytes, "\n") + 1;
    work chance = work_of(NORMAL, 0, 1, FIRST_SEED);
    int refused = 0;
    (void)state;
    for (int i = 0; i < MUTATIONS; i++) {
        int mutations = 1 + (int)(4 * uniform(&chance));
        memcpy(changed_bytes, bytes, size);
        for (int j = 0; j < mutations; j++) {
            size_t at = uniform(&chance) < 0.8 ? head + (size_t)((double)(size - head) * uniform(&chance))
                                               : (size_t)((double)size * uniform(&chance));
            int is_letter = uniform(&chance) < 0.7;
            changed_bytes[at] = is_letter ? letters[(size_t)((sizeof letters - 1) * uniform(&chance))]
                                          : (char)(256 * uniform(&chance));
        }
        refused += compare_with(changed_bytes, size, &text) != ZE_RESULT_SUCCESS;
    }
    assert_true(refused > MUTATIONS / 4);
}

static void test_reports_of_benchmarks(void **state) {
    static zt_bench_result results[2];
    zt_bench_changes changes;
    (void)state;
    results[0] = result_of("a", 1000.5);
    results[1] = result_of("b", 2000);
    results[1].bytes_per_second = 4e9;
    ok(zt_report_benches(NULL, results, 2, in_directory("run.CSV")));
    assert_contains(text_of_file("run.CSV"), "\n1,2,\"a\",20,0,0,precise,1000.5,");
    assert_contains(text_of_file("run.CSV"), ",2000,4000000000,,,20");
    ok(zt_report_benches(NULL, results, 2, in_directory("run.txt")));
    assert_contains(text_of_file("run.txt"), "\nbenchmark ");
    assert_result(zt_report_benches(NULL, results, 2, in_directory("run.json")),
                  ZE_RESULT_ERROR_INVALID_ARGUMENT);
    assert_contains(zt_last_error(NULL), "[BENCH_SUFFIX]");
    assert_result(zt_report_benches(NULL, results, 2, in_directory("none/run.csv")), ZE_RESULT_ERROR_UNKNOWN);
    assert_contains(zt_last_error(NULL), "[CANNOT_WRITE] zt_report_benches: cannot write ");
    assert_result(
        zt_compare_benches(NULL, results, 2, in_directory("run.CSV"), in_directory("run.csv"), &changes),
        ZE_RESULT_ERROR_INVALID_ARGUMENT);
    assert_result(zt_report_benches(NULL, NULL, 2, "-"), ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    assert_result(zt_report_benches(NULL, results, 2, NULL), ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    assert_result(zt_compare_benches(NULL, NULL, 2, "a", NULL, &changes),
                  ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    assert_result(zt_compare_benches(NULL, results, 2, NULL, NULL, &changes),
                  ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    assert_result(zt_compare_benches(NULL, results, 2, "a", NULL, NULL),
                  ZE_RESULT_ERROR_INVALID_NULL_POINTER);
}

/* Writing that the application stops, and what is no figure, are errors. */
static int stop_at_once(const void *bytes, size_t size, void *user) {
    (void)bytes, (void)size, (void)user;
    return 1;
}

static void test_writing_that_is_stopped(void **state) {
    const ze_result_t null_pointer = ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    static zt_bench_result result;
    static kept_text text;
    (void)state;
    result = result_of("a", 1000);
    assert_result(zt_write_benches(NULL, &result, 1, stop_at_once, NULL), ZE_RESULT_ERROR_UNKNOWN);
    assert_contains(zt_last_error(NULL), "[WRITE_STOPPED] zt_write_benches");
    assert_result(zt_write_benches(NULL, NULL, 1, keep_text, &text), null_pointer);
    assert_result(zt_write_benches(NULL, &result, 1, NULL, NULL), null_pointer);
    assert_int_equal(text.used, 0);
}

/* What a file does not say is not in the comparison. A name that begins as another is another. */
static void test_a_file_with_few_columns(void **state) {
    static const char few[] = HEAD "1,2,a,1000,990,1010\n1,2,ab,1000,990,1010\n";
    static zt_bench_result now[2];
    zt_bench_changes changes;
    world *w = *state;
    zt_profiler *profiler = open_groups(w, "ComputeBasic");
    now[0] = result_of("abc", 1000);
    now[1] = result_of("ab", 1000);
    write_bytes("before.csv", few, sizeof few - 1);
    ok(zt_compare_benches(profiler, now, 2, in_directory("before.csv"), in_directory("changes"), &changes));
    assert_int_equal(changes.same, 1);
    assert_int_equal(changes.added, 1);
    assert_int_equal(changes.missing, 1);
    assert_int_equal(changes.other_conditions, 0);
    assert_contains(text_of_file("changes"), "before.csv.\n");
    assert_result(
        zt_compare_benches(NULL, now, 2, in_directory("before.csv"), in_directory("changes.doc"), &changes),
        ZE_RESULT_ERROR_INVALID_ARGUMENT);
    assert_contains(zt_last_error(NULL), "[BENCH_SUFFIX]");
    assert_result(zt_report_benches(NULL, now, 2, in_directory("run.doc")), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    assert_contains(zt_last_error(NULL), "[BENCH_SUFFIX]");

    /* One benchmark at another frequency. */
    now[0] = now[1];
    ok(zt_report_benches(profiler, now, 1, in_directory("before.csv")));
    now[0].frequency_mhz = 1500;
    ok(zt_compare_benches(profiler, now, 1, in_directory("before.csv"), in_directory("changes"), &changes));
    assert_contains(text_of_file("changes"),
                    "1 benchmark ran at another frequency; ab: 2000 MHz before, 1500 MHz now.");
}

/* The name of a file may have blanks that follow each other, and characters without a width, more than a word has
   room for. */
static void test_a_file_with_an_odd_name(void **state) {
    static zt_bench_result result;
    zt_bench_changes changes;
    NOT_ON_WINDOWS("the C library takes names of files for texts in another encoding there");
    char name[256] = "";
    (void)state;
    while (strlen(name) < 235)
        strcat(name, "e\xCC\x81\xCC\x81"); /* with two accents */
    strcat(name, "  two");
    result = result_of("a", 1000);
    ok(zt_report_benches(NULL, &result, 1, in_directory("before.csv")));
    assert_int_equal(rename(in_directory("before.csv"), in_directory(name)), 0);
    ok(zt_compare_benches(NULL, &result, 1, in_directory(name), in_directory("changes"), &changes));
    assert_int_equal(changes.same, 1);
    const char *shown = strstr(text_of_file("changes"), test_directory);
    assert_non_null(shown);
    uint32_t accents = 0;
    for (const char *at = shown; (at = strstr(at, "\xCC\x81")) != NULL; at++)
        accents++;
    assert_int_equal(accents, 2 * 235 / 5);
    const char *end = strstr(shown, "two"); /* after one blank, or on the next line */
    assert_non_null(end);
    assert_true(end[-2] == '\x81' && (end[-1] == ' ' || end[-1] == '\n'));
}

/* From less than a nanosecond to hours: the longest time has few enough digits. */
static void test_times_far_from_each_other(void **state) {
    static zt_bench_result results[2];
    (void)state;
    results[0] = result_of("short", 2);
    results[1] = result_of("long", 4e12);
    ok(zt_report_benches(NULL, results, 2, in_directory("run.txt")));
    assert_contains(text_of_file("run.txt"), "\nlong   ");
    assert_contains(text_of_file("run.txt"), " 4000000 ");
}

/* Prints results and their changes on standard output. Returns the width of the widest line. */
static size_t widest_printed(const zt_bench_result *results, uint32_t count, const char *columns) {
    zt_bench_changes changes;
    int file = open(in_directory("output"), O_WRONLY | O_CREAT | O_TRUNC, 0600), saved = dup(1);
    size_t widest = 0;
    setenv("COLUMNS", columns, 1);
    fflush(stdout);
    assert_true(file >= 0 && saved >= 0 && dup2(file, 1) >= 0);
    ze_result_t printed = zt_report_benches(NULL, results, count, "-");
    ze_result_t compared =
        zt_compare_benches(NULL, results, count, in_directory("before.csv"), "-", &changes);
    dup2(saved, 1);
    close(saved);
    close(file);
    unsetenv("COLUMNS");
    ok(printed);
    ok(compared);
    for (const char *line = text_of_file("output"); *line; line += strcspn(line, "\n") + 1) {
        size_t width = strcspn(line, "\r\n"); /* Windows ends lines with both */
        widest = width > widest ? width : widest;
    }
    return widest;
}

/* Standard output has tables as wide as it is, so that longer names have room. Files have 80 columns. */
static void test_tables_fit(void **state) {
    (void)state;
    static zt_bench_result results[2];
    char name[64];
    memset(name, 'n', 63);
    name[63] = 0;
    results[0] = result_of(name, 123456);
    results[1] = result_of("b", 1.5);
    results[0].bytes_per_second = 12e12;
    results[0].items_per_second = 3e9;
    ok(zt_report_benches(NULL, results, 2, in_directory("before.csv")));
    assert_in_range(widest_printed(results, 2, "80"), 70, 80);
    assert_in_range(widest_printed(results, 2, "120"), 100, 120);
    ok(compare_benches(results, 2, &(zt_bench_changes){0}));
    assert_int_equal(strcspn(strchr(text_of_file("changes.txt"), '-'), "\n"), 80);
}

/* Wherever memory ends, there is a message, no count, and no leak. */
static void test_comparing_without_memory(void **state) {
    world *w = *state;
    static zt_bench_result before;
    zt_config config = config_of(w);
    zt_bench_changes changes;
    ze_result_t result = ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    int failures = 0;
    before = result_of("a", 1000);
    config.allocator = scarce_allocator();
    zt_profiler *profiler = open_profiler(w, &config);
    ok(zt_report_benches(profiler, &before, 1, in_directory("before.csv")));
    while (result != ZE_RESULT_SUCCESS) {
        allocations_left = failures;
        result = zt_compare_benches(profiler, &before, 1, in_directory("before.csv"), in_directory("changes"),
                                    &changes);
        allocations_left = -1;
        if (result != ZE_RESULT_SUCCESS) {
            assert_result(result, ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY);
            assert_int_equal(changes.same, 0);
            failures++;
        }
    }
    assert_int_equal(failures, 5); /* the text, the lines, the rows, their figures, the path */
    assert_int_equal(changes.same, 1);
}

static int start_with_directory(void **state) {
    return make_directory(state) == 0 ? start_traced(state) : -1;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_intervals_hold_the_median),
        TEST(test_no_difference_from_itself),
        TEST(test_three_percent_are_found),
        TEST(test_ends_when_it_is_precise),
        TEST(test_ends_when_samples_are_full),
        TEST(test_ends_when_time_is_up),
        TEST(test_time_is_that_of_samples),
        TEST(test_warm_up_ends_when_time_is_up),
        TEST(test_ends_when_noise_no_longer_falls),
        TEST(test_a_median_that_falls_to_zero),
        TEST(test_figures),
        TEST(test_rates_of_a_run),
        TEST(test_samples_at_a_changed_frequency),
        TEST(test_samples_that_are_set_aside),
        TEST(test_frequencies_that_are_not_known),
        TEST(test_a_comparison_of_two_clocks),
        TEST(test_a_comparison_with_nothing),
        TEST(test_failing_work),
        TEST(test_work_that_fails_later),
        TEST(test_work_on_the_device),
        TEST(test_counters_of_one_benchmark),
        TEST(test_very_short_times),
        TEST(test_results_for_people),
        TEST(test_a_table_of_results),
        TEST(test_warnings_in_a_narrow_table),
        TEST(test_rates),
        TEST(test_two_variants_on_the_device),
        TEST(test_work_through_a_runtime),
        TEST(test_frequencies_of_the_device),
        TEST(test_samples_while_it_throttles),
        TEST(test_frequencies_without_a_function),
        TEST(test_many_runs_with_counters),
        TEST(test_runs_with_counters_that_fail),
        TEST(test_benchmarks_without_memory),
        TEST(test_a_run_without_a_region),
        TEST(test_a_run_that_measures_nothing_more),
        TEST(test_without_room_for_another_profiler),
        TEST(test_without_a_profiler_nothing_runs),
        TEST(test_changes_since_an_earlier_run),
        TEST(test_benchmarks_of_one_name),
        TEST(test_an_interval_that_reaches_zero),
        TEST(test_a_change_without_the_first_decile),
        TEST(test_a_change_of_wide_intervals),
        TEST(test_no_change_of_the_same_work),
        TEST(test_a_change_of_three_percent),
        TEST(test_conditions_that_differ),
#ifndef _WIN32
        TEST(test_a_core_clock_that_is_not_known),
#endif
        TEST(test_files_that_cannot_be_read),
        TEST(test_files_that_are_cut_off),
        TEST(test_files_with_wrong_bytes),
        TEST(test_reports_of_benchmarks),
        TEST(test_writing_that_is_stopped),
        TEST(test_a_file_with_few_columns),
        TEST(test_a_file_with_an_odd_name),
        TEST(test_times_far_from_each_other),
        TEST(test_tables_fit),
        TEST(test_comparing_without_memory),
    };
    return cmocka_run_group_tests(tests, start_with_directory, remove_directory);
}
