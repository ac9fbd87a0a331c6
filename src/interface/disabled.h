#ifdef ZETOOLS_DISABLE

/* Each function returns what stands for nothing, and fills in empty structures. Figures are NaN, so that no
   comparison with one holds; a benchmark returns UNSUPPORTED_FEATURE. */

#ifdef ZT__HAVE_LEVEL_ZERO
#define ZT__RESULT ze_result_t
#else
#define ZT__RESULT int
#endif
#define ZT__SUCCESS ((ZT__RESULT)0)
#define ZT__UNSUPPORTED ((ZT__RESULT)0x78000003)
#define ZT__OFF static inline ZT__UNUSED

/* The parameters have the names of those of the functions that they replace, and are not used. */
#if defined(__GNUC__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"
#pragma GCC diagnostic ignored "-Wdouble-promotion"
#ifdef __cplusplus
#pragma GCC diagnostic ignored "-Wold-style-cast"
#endif
#endif

ZT__OFF ZT__RESULT zt__clear(void *memory, size_t size) {
    unsigned char *byte = (unsigned char *)memory;
    while (size-- > 0) {
        *byte++ = 0;
    }
    return ZT__SUCCESS;
}

#define ZT__CLEAR(out) zt__clear(out, (out) ? sizeof *(out) : 0)
#define ZT__EMPTY(type)                                                                                      \
    {                                                                                                        \
        type empty;                                                                                          \
        zt__clear(&empty, sizeof empty);                                                                     \
        return empty;                                                                                        \
    }

ZT__OFF ZT__RESULT zt__clear_stats(zt_stats *stats) {
    if (stats) {
        stats->count = 0;
        stats->sum = stats->mean = stats->stddev = stats->min = stats->max = stats->median = stats->p95 =
            stats->rate = NAN;
    }
    return ZT__SUCCESS;
}

ZT__OFF void zt__clear_bench(zt_bench_result *result) {
    size_t i;
    zt__clear(result, sizeof *result);
    result->region = UINT32_MAX;
    result->ended_by = "not run";
    result->median = result->low = result->high = result->quartile1 = result->quartile3 = NAN;
    result->min = result->max = result->precision = result->burst_spread = result->tolerance = NAN;
    result->decile1 = NAN;
    result->bytes_per_second = result->items_per_second = result->frequency_mhz = NAN;
    result->counter_median = result->perturbation = NAN;
    for (i = 0; i < ZT_BENCH_SAMPLES; i++) {
        result->samples[i] = NAN;
    }
}

/* clang-format off */
ZT__OFF ZT__RESULT zt_open(const void *context, const void *device, const zt_config *config,
    zt_profiler **profiler) { return ZT__CLEAR(profiler); }
ZT__OFF const char *zt_last_error(ZT__RESULT *result)
    { ZT__CLEAR(result); return "ZETOOLS_DISABLE is defined: nothing is measured."; }
ZT__OFF zt_region zt_begin(zt_profiler *profiler, const void *list, const char *name) ZT__EMPTY(zt_region)
ZT__OFF void zt_end(zt_region *region) {}
ZT__OFF void zt_phase_begin(const char *name) {}
ZT__OFF void zt_phase_end(void) {}
ZT__OFF zt_phase zt_phase_current(void) ZT__EMPTY(zt_phase)
ZT__OFF void zt_phase_adopt(zt_phase phase) {}
ZT__OFF ZT__RESULT zt_release(zt_profiler *profiler, const void *list) { return ZT__SUCCESS; }
ZT__OFF ZT__RESULT zt_collect(zt_profiler *profiler, uint64_t timeout_ns) { return ZT__SUCCESS; }
ZT__OFF ZT__RESULT zt_report(const zt_profiler *profiler, const char *path) { return ZT__SUCCESS; }
ZT__OFF void zt_close(zt_profiler *profiler) {}
#ifdef ZETOOLS_TRACER
ZT__OFF ZT__RESULT zt_trace_start(zt_profiler *profiler, const zt_trace_config *config)
    { return ZT__SUCCESS; }
ZT__OFF ZT__RESULT zt_trace_stop(zt_profiler *profiler) { return ZT__SUCCESS; }
ZT__OFF ZT__RESULT zt_auto(const zt_auto_config *config) { return ZT__SUCCESS; }
#endif
ZT__OFF zt_info zt_get_info(const zt_profiler *profiler)
{
    zt_info info;
    int i;
    zt__clear(&info, sizeof info);
    info.availability = ZT_AVAILABILITY_UNKNOWN;
    info.availability_text = info.error = info.program = "";
    info.pass_count = 1;
    for (i = 0; i < ZT_CAUSE_COUNT; i++) {
        info.causes[i].name = "";
    }
    info.power.text = info.power.domain = "";
    info.open_ns = info.library_busy_ns = NAN;
    info.power.joules = info.power.watts = info.power.throttled = info.power.mhz = info.power.max_celsius = NAN;
    for (i = 0; i < ZT_THROTTLE_REASONS; i++) {
        info.power.throttled_by[i] = NAN;
    }
    return info;
}
ZT__OFF const char *zt_result_name(int result) { return ""; }
ZT__OFF ZT__RESULT zt_get_region(const zt_profiler *profiler, uint32_t region, zt_region_info *info)
    { int i; ZT__CLEAR(info); if (info) { info->name = ""; info->region = info->parent = UINT32_MAX;
      for (i = 0; i < ZT_THROTTLE_REASONS; i++) { info->throttled_by[i] = NAN; }
      zt__clear_stats(&info->time_ns); info->own_ns = info->total_ns = info->bytes_per_second = info->unfreed_bytes =
          info->peak_bytes = info->end_bytes = NAN;
      info->host_ns = info->host_own_ns = info->host_wait_ns = info->busy_ns = info->joules = info->watts = info->throttled = info->mhz = NAN;
      info->change = info->change_low = info->change_high = NAN; } return ZT__SUCCESS; }
ZT__OFF uint32_t zt_find_path(const zt_profiler *profiler, const char *name) { return UINT32_MAX; }
ZT__OFF const zt_metric *zt_get_metric(const zt_profiler *profiler, uint32_t metric) { return NULL; }
ZT__OFF uint32_t zt_find_metric(const zt_profiler *profiler, const char *name) { return UINT32_MAX; }
ZT__OFF ZT__RESULT zt_get_stats(const zt_profiler *profiler, uint32_t region, uint32_t metric,
    zt_stats *stats) { return zt__clear_stats(stats); }
ZT__OFF ZT__RESULT zt_get_limit(const zt_profiler *profiler, uint32_t region, zt_limit_info *info)
    { ZT__CLEAR(info); if (info) { info->bandwidth = info->compute = info->xmx = info->occupancy = NAN; } return ZT__SUCCESS; }
ZT__OFF ZT__RESULT zt_set_peaks(zt_profiler *profiler, double bytes_per_second, double operations_per_second,
    const char *source) { return ZT__SUCCESS; }
ZT__OFF ZT__RESULT zt_set_operations(zt_profiler *profiler, const char *region, double operations)
    { return ZT__SUCCESS; }
ZT__OFF zt_timeline_info zt_get_timeline(const zt_profiler *profiler)
    { zt_timeline_info empty; zt__clear(&empty, sizeof empty); empty.overlap.span_ns = empty.overlap.busy_ns =
      empty.overlap.kernel_ns = empty.overlap.copy_ns = empty.overlap.both_ns = empty.overlap.idle_ns =
      empty.overlap.at_once_ns = NAN; return empty; }
ZT__OFF ZT__RESULT zt_write(const zt_profiler *profiler, zt_format format, zt_write_fn write, void *user)
    { return ZT__SUCCESS; }
ZT__OFF ZT__RESULT zt_clear(zt_profiler *profiler) { return ZT__SUCCESS; }
ZT__OFF ZT__RESULT zt_name_list(zt_profiler *profiler, const void *list, const char *name)
    { return ZT__SUCCESS; }
#ifdef ZETOOLS_TRACER
ZT__OFF ZT__RESULT zt_get_kernel(const zt_profiler *profiler, uint32_t kernel, zt_kernel_info *info)
    { ZT__CLEAR(info); if (info) { info->name = ""; info->occupancy = NAN; info->region = info->simd_width =
      info->registers = info->slm_bytes = info->private_bytes = info->spill_bytes = info->barriers =
      info->arguments = info->code_bytes = info->profile_flags = UINT32_MAX; } return ZT__SUCCESS; }
ZT__OFF ZT__RESULT zt_replace(zt_profiler *profiler, const char *kernels, const void *module,
    const char *name) { return ZT__SUCCESS; }
ZT__OFF ZT__RESULT zt_get_call(const zt_profiler *profiler, uint32_t call, zt_call_info *info)
    { ZT__CLEAR(info); if (info) { info->name = ""; zt__clear_stats(&info->time_ns); } return ZT__SUCCESS; }
#endif
ZT__OFF ZT__RESULT zt_stream_open(const void *context, const void *device, const zt_stream_config *config,
    zt_stream **stream) { return ZT__CLEAR(stream); }
ZT__OFF ZT__RESULT zt_stream_read(zt_stream *stream, uint64_t timeout_ns, zt_row_fn function, void *user)
    { return ZT__SUCCESS; }
ZT__OFF ZT__RESULT zt_stream_mark(zt_stream *stream, const void *list, const char *name)
    { return ZT__SUCCESS; }
ZT__OFF ZT__RESULT zt_stream_close(zt_stream *stream, zt_row_fn function, void *user,
    zt_stream_counts *counts) { return ZT__CLEAR(counts); }
ZT__OFF zt_stream_info zt_stream_get_info(const zt_stream *stream)
    { zt_stream_info empty; zt__clear(&empty, sizeof empty); empty.group = empty.error = "";
      return empty; }
ZT__OFF uint32_t zt_stream_find_metric(const zt_stream *stream, const char *name) { return UINT32_MAX; }
ZT__OFF ZT__RESULT zt_bench(zt_profiler *profiler, const zt_bench_config *config, zt_bench_result *result)
    { if (result) { zt__clear_bench(result); } return ZT__UNSUPPORTED; }
ZT__OFF ZT__RESULT zt_compare(zt_profiler *profiler, const zt_bench_config *a, const zt_bench_config *b,
    zt_comparison *result)
    { ZT__CLEAR(result); if (result) { zt__clear_bench(&result->a); zt__clear_bench(&result->b);
      result->ratio = result->low = result->high = NAN; } return ZT__UNSUPPORTED; }
ZT__OFF ZT__RESULT zt_write_benches(const zt_profiler *profiler, const zt_bench_result *results,
    uint32_t count, zt_write_fn write, void *user) { return ZT__SUCCESS; }
ZT__OFF ZT__RESULT zt_report_benches(const zt_profiler *profiler, const zt_bench_result *results,
    uint32_t count, const char *path) { return ZT__SUCCESS; }
ZT__OFF ZT__RESULT zt_compare_benches(const zt_profiler *profiler, const zt_bench_result *results,
    uint32_t count, const char *before, const char *report, zt_bench_changes *changes)
    { return ZT__CLEAR(changes); }
#ifdef ZETOOLS_TRACER
ZT__OFF ZT__RESULT zt_hotspots_start(zt_profiler *profiler, const zt_hotspots_config *config)
    { return ZT__SUCCESS; }
ZT__OFF ZT__RESULT zt_hotspots_stop(zt_profiler *profiler) { return ZT__SUCCESS; }
ZT__OFF ZT__RESULT zt_get_hotspot(const zt_profiler *profiler, uint32_t hotspot, zt_hotspot_info *info)
    { ZT__CLEAR(info); if (info) { info->kernel = info->file = ""; info->share = NAN; } return ZT__SUCCESS; }
#endif
ZT__OFF ZT__RESULT zt_merge(zt_profiler *into, const zt_profiler *from) { return ZT__SUCCESS; }
ZT__OFF ZT__RESULT zt_pack(const zt_profiler *profiler, void *buffer, size_t *size)
    { return ZT__CLEAR(size); }
ZT__OFF ZT__RESULT zt_unpack(const void *buffer, size_t size, const zt_config *config, zt_profiler **profiler)
    { return ZT__CLEAR(profiler); }
#ifdef ZETOOLS_DEBUG
ZT__OFF ZT__RESULT zt_watch(zt_profiler *profiler, const zt_watch_config *config) { return ZT__SUCCESS; }
ZT__OFF ZT__RESULT zt_watch_stop(zt_profiler *profiler) { return ZT__SUCCESS; }
ZT__OFF ZT__RESULT zt_debug_open(const void *device, uint32_t pid, const zt_debug_config *config,
    zt_debugger **debugger) { return ZT__CLEAR(debugger); }
ZT__OFF ZT__RESULT zt_debug_close(zt_debugger *debugger) { return ZT__SUCCESS; }
ZT__OFF ZT__RESULT zt_debug_wait(zt_debugger *debugger, uint64_t timeout_ns, zt_debug_fn function, void *user)
    { return ZT__SUCCESS; }
ZT__OFF ZT__RESULT zt_debug_stop(zt_debugger *debugger, zt_debug_thread threads, uint64_t timeout_ns,
    zt_debug_stops *stops) { return ZT__CLEAR(stops); }
ZT__OFF ZT__RESULT zt_debug_resume(zt_debugger *debugger, zt_debug_thread threads) { return ZT__SUCCESS; }
ZT__OFF ZT__RESULT zt_debug_get_threads(zt_debugger *debugger, zt_debug_thread_info *threads,
    uint32_t *count) { return ZT__CLEAR(count); }
ZT__OFF ZT__RESULT zt_debug_get_registers(zt_debugger *debugger, const char *name,
    zt_debug_registers *registers, uint32_t *count) { return ZT__CLEAR(count); }
ZT__OFF ZT__RESULT zt_debug_where(zt_debugger *debugger, uint64_t address, zt_debug_place *place)
    { ZT__CLEAR(place); if (place) { place->kernel = place->file = ""; } return ZT__SUCCESS; }
ZT__OFF ZT__RESULT zt_debug_read(zt_debugger *debugger, zt_debug_thread thread, uint32_t space,
    uint64_t address, void *bytes, size_t size) { return zt__clear(bytes, bytes ? size : 0); }
ZT__OFF ZT__RESULT zt_debug_write(zt_debugger *debugger, zt_debug_thread thread, uint32_t space,
    uint64_t address, const void *bytes, size_t size) { return ZT__SUCCESS; }
#endif
ZT__OFF ZT__RESULT zt_find_group(const void *device, const char *name, uint32_t type, zt_group *group)
    { return ZT__CLEAR(group); }
ZT__OFF ZT__RESULT zt_write_groups(const void *device, int metrics, zt_write_fn write, void *user)
    { return ZT__SUCCESS; }
/* clang-format on */

#define zt_execute(profiler, queue, count, lists, fence)                                                     \
    ((void)sizeof(profiler), zeCommandQueueExecuteCommandLists(queue, count, lists, fence))
#define zt_reset(profiler, list) ((void)sizeof(profiler), zeCommandListReset(list))

#if defined(__GNUC__)
#pragma GCC diagnostic pop
#endif

#define ZT__PASSES(once, profiler) for (int once = ((void)sizeof(profiler), 1); once; once = 0)
#define ZT_PASSES(profiler) ZT__PASSES(ZT__NAME(zt__once), profiler)
#define ZT__REGION(once, profiler, list, name)                                                               \
    for (int once = ((void)sizeof(profiler), (void)sizeof(list), (void)sizeof(name), 1); once; once = 0)
#define ZT_REGION(profiler, list, name) ZT__REGION(ZT__NAME(zt__once), profiler, list, name)
#define ZT_SCOPE(profiler, list, name) ((void)sizeof(profiler), (void)sizeof(list), (void)sizeof(name))
#define ZT__PHASE(once, name) for (int once = ((void)sizeof(name), 1); once; once = 0)
#define ZT_PHASE(name) ZT__PHASE(ZT__NAME(zt__once), name)

#ifdef __cplusplus
/* Has a name of its own, because a program may link files with and without ZETOOLS_DISABLE. */
struct zt__disabled_scope {
    zt__disabled_scope(const zt_profiler *, const void *, const char *) {}
    ~zt__disabled_scope() {}
    zt__disabled_scope(const zt__disabled_scope &) = delete;
    zt__disabled_scope &operator=(const zt__disabled_scope &) = delete;
};
typedef zt__disabled_scope zt_scope;
struct zt__disabled_phase_scope {
    explicit zt__disabled_phase_scope(const char *) {}
    ~zt__disabled_phase_scope() {}
    zt__disabled_phase_scope(const zt__disabled_phase_scope &) = delete;
    zt__disabled_phase_scope &operator=(const zt__disabled_phase_scope &) = delete;
};
typedef zt__disabled_phase_scope zt_phase_scope;
#endif

#endif /* ZETOOLS_DISABLE */
