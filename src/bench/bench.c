/* zt_bench: samples until their median is known well. */

#include "bench/bench.h"

#include "base/compiler.h"
#include "base/diagnostics.h"
#include "base/map.h"
#include "base/memory.h"
#include "base/numbers.h"
#include "base/phase_stack.h"
#include "base/platform.h"
#include "base/shared.h"
#include "base/text.h"
#include "base/threads.h"
#include "metrics/driver.h"
#include "metrics/statistics.h"
#include "regions/phases.h"
#include "regions/profiler.h"
#include "results/results.h"

/* ---- the stopping rule ----------------------------------------------------------------------------------- */

static uint32_t zt__clamp(uint32_t value, uint32_t least, uint32_t most) {
    return value < least ? least : value > most ? most : value;
}

ZT__PRIVATE zt__stop_rule zt__begin_stop_rule(const zt_bench_config *limits) {
    enum { NOISE_FROM = 64, MOST_OF_BURST = 16 };
    uint64_t time_ns = limits->min_time_ns < limits->max_time_ns ? limits->min_time_ns : limits->max_time_ns;
    zt__stop_rule rule;
    memset(&rule, 0, sizeof rule);
    rule.limits = limits;
    rule.slot_ns = time_ns / ZT__LEAST_BURSTS;
    rule.burst_begin = zt__now_ns();
    rule.deadline = zt__deadline(limits->max_time_ns);
    rule.least_of_burst = (limits->min_samples + ZT__LEAST_BURSTS - 1) / ZT__LEAST_BURSTS;
    rule.most_of_burst = rule.least_of_burst > MOST_OF_BURST ? rule.least_of_burst : (uint32_t)MOST_OF_BURST;
    if (rule.most_of_burst > limits->max_samples / ZT__LEAST_BURSTS) {
        rule.most_of_burst = limits->max_samples / ZT__LEAST_BURSTS;
    }
    rule.next_precise = limits->min_samples - limits->min_samples / 5;
    rule.next_noise = zt__clamp(limits->min_samples, NOISE_FROM, ZT_BENCH_SAMPLES);
    rule.half_precision = zt__nan();
    return rule;
}

ZT__PRIVATE int zt__is_burst_over(const zt__stop_rule *rule, const zt__series *series) {
    uint32_t taken = series->count - rule->first;
    uint64_t now = zt__now_ns();
    if (taken >= rule->most_of_burst || series->count == rule->limits->max_samples) {
        return 1;
    }
    return (taken >= rule->least_of_burst && now - rule->burst_begin >= rule->slot_ns / 2) ||
           (series->count >= rule->limits->min_samples && now >= rule->deadline);
}

/* Returns whether the interval is narrow enough, as it was at the last comparison. */
static int zt__is_precise(zt__stop_rule *rule, const zt__series *series) {
    int was_precise = rule->was_precise;
    if (series->count < rule->next_precise || series->burst_count < ZT__LEAST_BURSTS * 4 / 5) {
        return 0;
    }
    rule->next_precise = series->count + (series->count + 3) / 4;
    rule->was_precise = !zt__is_nan(series->precision) && series->precision < rule->limits->precision;
    return was_precise && rule->was_precise;
}

/* Returns whether twice the samples did not make the interval narrower. */
static int zt__is_noise(zt__stop_rule *rule, const zt__series *series) {
    double before = rule->half_precision;
    if (series->count < rule->next_noise || series->burst_count < 2 * ZT__LEAST_BURSTS) {
        return 0;
    }
    rule->next_noise = series->count * 2;
    rule->half_precision = series->precision;
    return !zt__is_nan(before) && !zt__is_nan(series->precision) && series->precision > 0.95 * before;
}

ZT__PRIVATE zt_bench_end zt__apply_stop_rule(zt__stop_rule *rule, const zt__series *series) {
    int is_precise = zt__is_precise(rule, series);
    if (series->count < rule->limits->min_samples) {
        return ZT_BENCH_NOT_RUN;
    }
    if (is_precise && series->burst_count >= ZT__LEAST_BURSTS) {
        return ZT_BENCH_PRECISE;
    }
    if (zt__is_noise(rule, series)) {
        return ZT_BENCH_NOISE;
    }
    if (series->count == rule->limits->max_samples) {
        return ZT_BENCH_FULL;
    }
    return zt__now_ns() >= rule->deadline ? ZT_BENCH_TIME : ZT_BENCH_NOT_RUN;
}

ZT__PRIVATE void zt__await_next_burst(zt__stop_rule *rule, const zt__series *series) {
    uint64_t now = zt__now_ns();
    rule->first = series->count;
    rule->burst_begin += rule->slot_ns;
    if (now > rule->burst_begin) {
        rule->burst_begin = now;
    }
    for (; now < rule->burst_begin; now = zt__now_ns()) {
        zt__sleep(rule->burst_begin - now);
    }
}

/* ---- taking samples -------------------------------------------------------------------------------------- */

/* Returns the index of a region by its name, which may be NULL, or UINT32_MAX if there is none. */
static uint32_t zt__find_region(zt_profiler *profiler, const char *name) {
    const zt__region_record *record = NULL;
    if (name) {
        zt__lock(&profiler->mutex);
        record = (const zt__region_record *)zt__map_find(&profiler->names, name, strlen(name));
        zt__unlock(&profiler->mutex);
    }
    return record ? record->index : UINT32_MAX;
}

static const char *zt__bench_name(const zt__bench *bench) {
    if (bench->config.name) {
        return bench->config.name;
    }
    return bench->region ? bench->region : "the benchmark";
}

/* Reports why there is no sample, and returns NaN. */
static double zt__report_no_sample(const zt__bench *bench, const char *why) {
    zt__report(zt__diagnostics_of(bench->profiler), NO_BENCH_SAMPLE, ZE_RESULT_NOT_READY, bench->call,
               zt__bench_name(bench), why);
    return zt__nan();
}

/* Runs the work once with a profiler. Returns the GPU time of its region in this run. If a sample is missing,
   reports that and returns NaN. */
static double zt__run_work(zt__bench *bench, zt_profiler *profiler) {
    zt_region_info before, after;
    zt_counts counts_before = zt__get_counts(profiler), counts;
    uint32_t region = zt__find_region(profiler, bench->region);
    ze_result_t result;
    int failed;
    memset(&before, 0, sizeof before);
    if (region != UINT32_MAX) {
        zt_get_region(profiler, region, &before);
    }
    failed = bench->config.run(profiler, bench->config.user) != 0;
    if (!bench->region && zt__get_region_count(profiler) > 0) {
        zt_get_region(profiler, 0, &after);
        bench->region = after.name;
    }
    if (failed) {
        return zt__report_no_sample(bench, "it failed");
    }
    result = zt_collect(profiler, profiler->config.wait_timeout_ns);
    if (result != ZE_RESULT_SUCCESS) {
        return zt__report_no_sample(bench, zt_result_name(result));
    }
    counts = zt__get_counts(profiler);
    if (counts.lost != counts_before.lost || counts.dropped != counts_before.dropped) {
        return zt__report_no_sample(bench, "a sample of a region was lost or dropped");
    }
    after = before;
    region = zt__find_region(profiler, bench->region);
    if (region != UINT32_MAX) {
        zt_get_region(profiler, region, &after);
    }
    if (after.time_ns.count == before.time_ns.count) {
        return zt__report_no_sample(bench, "no region was measured");
    }
    return after.time_ns.sum - (before.time_ns.count ? before.time_ns.sum : 0);
}

/* Does the work once, without metrics. Returns its time, or NaN. */
static double zt__measure_once(zt__bench *bench) {
    double sample;
    if (!bench->config.measure) {
        return zt__run_work(bench, bench->stopwatch);
    }
    sample = bench->config.measure(bench->config.user);
    return !zt__is_finite(sample) || sample < 0 ? zt__report_no_sample(bench, "it failed") : sample;
}

ZT__PRIVATE int zt__measure_sample(zt__bench *bench) {
    enum { TRIES = 4 };
    zes_freq_state_t state;
    double sample = zt__nan(), mhz = zt__nan();
    int i, is_known, is_throttled;
    for (i = 0; i < TRIES && zt__is_nan(sample); i++) {
        sample = zt__measure_once(bench);
    }
    if (zt__is_nan(sample)) {
        return 0;
    }
    memset(&state, 0, sizeof state);
    state.stype = ZES_STRUCTURE_TYPE_FREQ_STATE;
    is_known = bench->domain &&
               bench->profiler->driver.zesFrequencyGetState(bench->domain, &state) == ZE_RESULT_SUCCESS;
    is_throttled = is_known && state.throttleReasons != 0;
    if (bench->config.frequency) {
        mhz = bench->config.frequency(bench->config.user);
    } else if (is_known) {
        mhz = state.actual; /* negative: not known; 0: the device sleeps already */
    }
    zt__add_to_series(bench->series, sample, zt__is_positive(mhz) ? mhz : zt__nan(), is_throttled);
    return 1;
}

ZT__PRIVATE void zt__warm_up(zt__bench *bench, uint64_t max_time_ns) {
    uint64_t deadline = zt__deadline(max_time_ns);
    uint32_t i;
    for (i = 0; i < bench->config.warm_up && (i < 3 || zt__now_ns() < deadline); i++) {
        zt__measure_once(bench);
    }
}

ZT__PRIVATE void zt__close_bench(zt__bench *bench) {
    zt_close(bench->stopwatch);
    zt__free(zt__allocator_of(bench->profiler), bench->series);
}

ZT__PRIVATE ze_result_t zt__open_bench(zt__bench *bench, const char *call, zt_profiler *profiler,
                                       const zt_bench_config *config) {
    enum { LEAST_SAMPLES = 10 };
    zt__diagnostics *diagnostics = zt__diagnostics_of(profiler);
    zt_bench_config *complete = &bench->config;
    const zt__driver *driver;
    zes_freq_handle_t domains[16] = {NULL}; /* not all that are counted need be there */
    uint32_t i, count = ZT__COUNT_OF(domains);
    ze_result_t result = ZE_RESULT_SUCCESS;
    if (!config) {
        return zt__report_null(diagnostics, call, "config");
    }
    if (!config->run && !config->measure) {
        return zt__report(diagnostics, NOTHING_TO_BENCH, ZE_RESULT_ERROR_INVALID_NULL_POINTER, call);
    }
    memset(bench, 0, sizeof *bench);
    bench->call = call;
    *complete = *config;
    complete->warm_up = config->warm_up ? config->warm_up : 3;
    complete->max_samples = config->max_samples ? config->max_samples : (uint32_t)ZT_BENCH_SAMPLES;
    complete->max_samples = zt__clamp(complete->max_samples, LEAST_SAMPLES, ZT_BENCH_SAMPLES);
    complete->min_samples = zt__clamp(config->min_samples, LEAST_SAMPLES, complete->max_samples);
    complete->max_time_ns = config->max_time_ns ? config->max_time_ns : UINT64_C(10000000000);
    complete->min_time_ns = config->min_time_ns ? config->min_time_ns : UINT64_C(500000000);
    complete->precision = zt__is_positive(config->precision) ? config->precision : 0.01;
    complete->max_change =
        zt__is_positive(config->max_change) ? config->max_change : ZT__MAX_FREQUENCY_CHANGE;
    complete->counter_runs = config->counter_runs ? config->counter_runs : 5;
    complete->tolerance = zt__is_positive(config->tolerance) ? config->tolerance : 0.02;
    bench->region = config->region;
    bench->profiler = profiler;
    bench->series = (zt__series *)zt__allocate(zt__allocator_of(profiler), 1, sizeof *bench->series);
    if (!bench->series) {
        return zt__report_no_memory(diagnostics, call, "samples");
    }
    if (!config->measure) {
        zt_config times_alone = profiler->config;
        times_alone.groups = "";
        times_alone.metrics = times_alone.columns = NULL;
        times_alone.require_metrics = times_alone.thread = 0;
        times_alone.sample = NULL;
        times_alone.timeline = 0;
        times_alone.power = 0;
        result =
            profiler->open_configured(profiler->context, profiler->device, &times_alone, &bench->stopwatch);
    }
    if (result != ZE_RESULT_SUCCESS) {
        zt__close_bench(bench);
        return zt__report(diagnostics, CALL_FAILED, result, "zt_open", zt_result_name(result),
                          zt_last_error(NULL));
    }

    /* The frequency domain of the GPU, if the system management interface has it. */
    driver = profiler ? &profiler->driver : NULL;
    if (!driver || !profiler->device || !driver->zesDeviceEnumFrequencyDomains ||
        !driver->zesFrequencyGetProperties || !driver->zesFrequencyGetState ||
        driver->zesDeviceEnumFrequencyDomains((zes_device_handle_t)profiler->device, &count, domains) !=
            ZE_RESULT_SUCCESS) {
        count = 0;
    }
    for (i = 0; i < count && i < ZT__COUNT_OF(domains) && domains[i] && !bench->domain; i++) {
        zes_freq_properties_t properties;
        memset(&properties, 0, sizeof properties);
        properties.stype = ZES_STRUCTURE_TYPE_FREQ_PROPERTIES;
        if (driver->zesFrequencyGetProperties(domains[i], &properties) == ZE_RESULT_SUCCESS &&
            properties.type == ZES_FREQ_DOMAIN_GPU) {
            bench->domain = domains[i];
        }
    }
    return ZE_RESULT_SUCCESS;
}

ZT__PRIVATE int zt__has_nothing_to_run(const zt_profiler *profiler, const zt_bench_config *config) {
    return (!profiler || !profiler->device) && config && config->run && !config->measure;
}

/* ---- results --------------------------------------------------------------------------------------------- */

ZT__PRIVATE const char *const zt__bench_ends[] = {"not run", "precise", "noise", "time", "full"};

ZT__PRIVATE const char *zt__bench_end_name(zt_bench_end end) {
    return (unsigned)end < ZT__COUNT_OF(zt__bench_ends) ? zt__bench_ends[end] : "unknown";
}

ZT__PRIVATE void zt__clear_bench_result(zt_bench_result *result, const zt_bench_config *config,
                                        const char *unnamed) {
    const char *name = unnamed;
    if (config && (config->name || config->region)) {
        name = config->name ? config->name : config->region;
    }
    memset(result, 0, sizeof *result);
    zt__copy_text(result->name, sizeof result->name, name, strlen(name));
    result->median = result->low = result->high = result->decile1 = result->quartile1 = result->quartile3 =
        zt__nan();
    result->min = result->max = result->precision = result->burst_spread = result->frequency_mhz = zt__nan();
    result->counter_median = result->perturbation = zt__nan();
    result->bytes_per_second = result->items_per_second = zt__nan();
    result->region = UINT32_MAX;
    result->ended_by = zt__bench_end_name(ZT_BENCH_NOT_RUN);
}

/* Returns what a run does in a second, or NaN. `amount` is what it does, or 0; `ns` is its time. */
static double zt__rate_of_run(double amount, double ns) {
    double rate = zt__is_positive(amount) && zt__is_positive(ns) ? amount / ns * 1e9 : zt__nan();
    return zt__is_finite(rate) ? rate : zt__nan();
}

ZT__PRIVATE void zt__describe_series(zt_bench_result *result, zt__series *series,
                                     const zt_bench_config *config) {
    uint32_t i, count = series->count;
    double spread;
    result->count = count;
    result->bursts = series->measured_bursts;
    result->burst_spread = series->burst_spread;
    result->changed = series->changed;
    result->set_aside = series->set_aside;
    result->ended_by = zt__bench_end_name(result->end);
    result->median = series->median;
    result->low = series->low;
    result->high = series->high;
    result->precision = series->precision;
    result->decile1 = zt__quantile(series->sorted, series->counting, 0.1);
    result->quartile1 = zt__quantile(series->sorted, series->counting, 0.25);
    result->quartile3 = zt__quantile(series->sorted, series->counting, 0.75);
    result->min = series->sorted[0];
    result->max = series->sorted[series->counting - 1];
    result->bytes_per_second = zt__rate_of_run(config->bytes_per_run, result->median);
    result->items_per_second = zt__rate_of_run(config->items_per_run, result->median);
    result->tolerance = config->tolerance;
    result->frequency_mhz = series->frequency_mhz;
    spread = 1.5 * (result->quartile3 - result->quartile1);
    for (i = 0; i < count; i++) {
        double sample = series->samples[i];
        int is_outlier = !zt__is_set_aside(series, i) &&
                         (sample < result->quartile1 - spread || sample > result->quartile3 + spread);
        result->samples[i] = sample;
        result->marks[i] = (unsigned char)((is_outlier ? ZT_BENCH_OUTLIER : 0) |
                                           (series->is_changed[i] ? ZT_BENCH_CHANGED : 0));
        result->outliers += (uint32_t)is_outlier;
    }
}

/* ---- zt_bench ------------------------------------------------------------------------------------------ */

/* Begins a phase of the benchmark's name that the profiler does not know yet: "copy", "copy (2)" and so on. Its counters
   are those of this benchmark alone, whatever regions it shares with others. */
static void zt__begin_bench_phase(const zt__bench *bench) {
    const zt__phase_frame *around = zt__get_top_frame();
    const zt__phase *outer = around ? around->phase : NULL, *phase;
    char name[64 + 16];
    uint32_t number = 1;
    int is_known;
    snprintf(name, sizeof name, "%.64s", zt__bench_name(bench));
    do {
        phase = zt__find_or_add_phase(zt__get_process(), outer, name);
        zt__lock(&bench->profiler->mutex);
        is_known = phase != outer && zt__known_path_of_phase(bench->profiler, phase) != NULL;
        zt__unlock(&bench->profiler->mutex);
        if (is_known) {
            snprintf(name, sizeof name, "%.64s (%u)", zt__bench_name(bench), (unsigned)++number);
        }
    } while (is_known);
    zt_phase_begin(name);
}

/* Returns ZT_PATH of the benchmark's region in the phase that the calling thread is in, the outermost if there are
   several. Without memory, returns its region. */
static uint32_t zt__find_bench_path(const zt__bench *bench) {
    zt_profiler *profiler = bench->profiler;
    const zt__phase_frame *frame = zt__get_top_frame();
    uint32_t index = zt__find_region(profiler, bench->region);
    const zt__path *phase, *path, *outer, *found = NULL;
    zt__lock(&profiler->mutex);
    phase = frame ? zt__known_path_of_phase(profiler, frame->phase) : NULL;
    path = index != UINT32_MAX && phase ? profiler->regions[index]->paths : NULL;
    for (; path; path = path->next) {
        for (outer = path->key.outer; outer && outer != phase; outer = outer->key.outer) {
        }
        if (outer && (!found || path->depth < found->depth)) {
            found = path;
        }
    }
    zt__unlock(&profiler->mutex);
    return found ? ZT_PATH(found->index) : index;
}

/* Runs the work with metrics, in all passes. */
static void zt__run_with_counters(zt__bench *bench, zt_bench_result *result) {
    double *samples = bench->series->samples; /* free to use: the samples are in the result */
    uint32_t i, taken = 0;
    zt__begin_bench_phase(bench);
    for (i = 0; i < bench->config.counter_runs; i++) {
        ZT_PASSES(bench->profiler) {
            double sample = zt__run_work(bench, bench->profiler);
            if (!zt__is_nan(sample) && taken < ZT_BENCH_SAMPLES) {
                samples[taken++] = sample;
            }
        }
    }
    result->counter_runs = bench->config.counter_runs;
    result->region = zt__find_bench_path(bench);
    result->counter_median = zt__quantile(samples, taken, 0.5);
    result->perturbation = result->counter_median / result->median;
    zt_phase_end();
}

ZT_API ze_result_t zt_bench(zt_profiler *profiler, const zt_bench_config *config, zt_bench_result *result) {
    zt__bench bench;
    zt__stop_rule rule;
    ze_result_t opened;
    int has_sample;
    if (!result) {
        return zt__report_null(zt__diagnostics_of(profiler), "zt_bench", "result");
    }
    zt__clear_bench_result(result, config, "");
    if (zt__has_nothing_to_run(profiler, config)) {
        return ZE_RESULT_SUCCESS;
    }
    opened = zt__open_bench(&bench, "zt_bench", profiler, config);
    if (opened != ZE_RESULT_SUCCESS) {
        return opened;
    }
    zt__warm_up(&bench, bench.config.max_time_ns);
    rule = zt__begin_stop_rule(&bench.config);
    do {
        has_sample = zt__measure_sample(&bench);
        if (has_sample && zt__is_burst_over(&rule, bench.series)) {
            bench.series->burst_count++;
            zt__find_changed_samples(bench.series, bench.config.max_change);
            zt__evaluate_series(bench.series);
            result->end = zt__apply_stop_rule(&rule, bench.series);
            if (result->end == ZT_BENCH_NOT_RUN) {
                zt__await_next_burst(&rule, bench.series);
            }
        }
    } while (has_sample && result->end == ZT_BENCH_NOT_RUN);
    if (has_sample) {
        zt__describe_series(result, bench.series, &bench.config);
    }
    if (has_sample && !bench.config.measure && profiler->metric_count > 0) {
        zt__run_with_counters(&bench, result);
    }
    zt__copy_text(result->name, sizeof result->name, zt__bench_name(&bench), strlen(zt__bench_name(&bench)));
    zt__close_bench(&bench);
    return has_sample ? ZE_RESULT_SUCCESS : ZE_RESULT_NOT_READY;
}
