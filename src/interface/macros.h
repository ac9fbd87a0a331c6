/* ZT_REGION, ZT_SCOPE and ZT_PHASE are documented on the first screen, ZT_PASSES with the functions of passes. */

#define ZT__JOIN2(a, b) a##b
#define ZT__JOIN(a, b) ZT__JOIN2(a, b)
#ifdef __COUNTER__ /* for several regions on one line */
#define ZT__NAME(prefix) ZT__JOIN(prefix, __COUNTER__)
#else
#define ZT__NAME(prefix) ZT__JOIN(prefix, __LINE__)
#endif

#ifndef ZETOOLS_DISABLE

/* Inline, so that without a profiler a region costs one comparison. */
static inline ZT__UNUSED zt_region zt__open_region(zt_profiler *profiler, ze_command_list_handle_t list,
                                                   const char *name) {
    static const zt_region none = {NULL, 0, 0, 0};
    return profiler ? zt_begin(profiler, list, name) : none;
}
static inline ZT__UNUSED void zt__close_region(zt_region *region) {
    if (region->probe)
        zt_end(region);
}

/* Makes the statement of a ZT_REGION run once, measured or not. */
static inline ZT__UNUSED int zt__begin_body(zt_region *region) {
    return region->body++ == 0;
}

/* Makes the statement of a ZT_PHASE run once. */
typedef struct zt__phase_body {
    int body;
} zt__phase_body;
static inline ZT__UNUSED zt__phase_body zt__open_phase(const char *name) {
    static const zt__phase_body opened = {0};
    zt_phase_begin(name);
    return opened;
}
static inline ZT__UNUSED void zt__close_phase(zt__phase_body *phase) {
    (void)phase;
    zt_phase_end();
}
static inline ZT__UNUSED int zt__begin_phase_body(zt__phase_body *phase) {
    return phase->body++ == 0;
}

#ifdef __cplusplus

#ifdef ZETOOLS_STATIC
namespace { /* as the functions that they call: each copy of the library has its own */
#endif

/* A region that lasts as long as the object. It cannot be copied or moved. */
struct zt_scope {
    zt_region region;
    zt_scope(zt_profiler *profiler, ze_command_list_handle_t list, const char *name)
        : region(zt__open_region(profiler, list, name)) {}
    ~zt_scope() { zt__close_region(&region); }
    zt_scope(const zt_scope &) = delete;
    zt_scope &operator=(const zt_scope &) = delete;
};

/* A phase that lasts as long as the object. It cannot be copied or moved. */
struct zt_phase_scope {
    zt__phase_body phase;
    explicit zt_phase_scope(const char *name) : phase(zt__open_phase(name)) {}
    ~zt_phase_scope() { zt__close_phase(&phase); }
    zt_phase_scope(const zt_phase_scope &) = delete;
    zt_phase_scope &operator=(const zt_phase_scope &) = delete;
};

/* ZT_PASSES in C++. */
struct zt__all_passes {
    zt__pass_state state;
    explicit zt__all_passes(zt_profiler *profiler) : state(zt__begin_passes(profiler)) {}
    ~zt__all_passes() { zt__end_passes(&state); }
    zt__all_passes(const zt__all_passes &) = delete;
    zt__all_passes &operator=(const zt__all_passes &) = delete;
};

#ifdef ZETOOLS_STATIC
} /* namespace */
#endif

#define ZT__REGION(scope, profiler, list, name)                                                              \
    for (zt_scope scope(profiler, list, name); zt__begin_body(&scope.region);)
#define ZT__PHASE(scope, name) for (zt_phase_scope scope(name); zt__begin_phase_body(&scope.phase);)
#define ZT_SCOPE(profiler, list, name) zt_scope ZT__NAME(zt__scope)(profiler, list, name)
#define ZT__PASSES(passes, profiler) for (zt__all_passes passes(profiler); zt__next_pass(&passes.state);)
#elif defined(__GNUC__)
#define ZT__GUARD __attribute__((cleanup(zt__close_region)))
#define ZT__REGION(region, profiler, list, name)                                                             \
    for (zt_region region ZT__GUARD = zt__open_region(profiler, list, name); zt__begin_body(&region);)
#define ZT__PHASE(phase, name)                                                                               \
    for (zt__phase_body phase __attribute__((cleanup(zt__close_phase))) = zt__open_phase(name);              \
         zt__begin_phase_body(&phase);)
#define ZT_SCOPE(profiler, list, name)                                                                       \
    zt_region ZT__NAME(zt__scope)                                                                            \
    ZT__GUARD ZT__UNUSED = zt__open_region(profiler, list, name)
#define ZT__PASSES(passes, profiler)                                                                         \
    for (zt__pass_state passes __attribute__((cleanup(zt__end_passes))) = zt__begin_passes(profiler);        \
         zt__next_pass(&passes);)
#else
#define ZT__PASSES(passes, profiler)                                                                         \
    for (zt__pass_state passes = zt__begin_passes(profiler); zt__next_pass(&passes);)
/* `break` leaves the inner loop. */
#define ZT__REGION(region, profiler, list, name)                                                             \
    for (zt_region region = zt__open_region(profiler, list, name); region.body == 0;                         \
         zt__close_region(&region))                                                                          \
        for (; zt__begin_body(&region);)
#define ZT__PHASE(phase, name)                                                                               \
    for (zt__phase_body phase = zt__open_phase(name); phase.body == 0; zt__close_phase(&phase))              \
        for (; zt__begin_phase_body(&phase);)
#endif

#define ZT_REGION(profiler, list, name) ZT__REGION(ZT__NAME(zt__region), profiler, list, name)
#define ZT_PHASE(name) ZT__PHASE(ZT__NAME(zt__phase), name)
#define ZT_PASSES(profiler) ZT__PASSES(ZT__NAME(zt__passes), profiler)

#endif /* ZETOOLS_DISABLE */
