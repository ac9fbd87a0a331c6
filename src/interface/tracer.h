#ifdef ZETOOLS_TRACER

/* zt_trace_start, zt_trace_stop and zt_auto are on the first screen. */

/* ---- what is traced ------------------------------------------------------------------------------------ */

/* A callback of the application before or after a call; see HOOKS. Runs on the thread that calls.
   parameters  a structure with the addresses of the call's parameters, such as a ze_kernel_create_params_t
               from <level_zero/layers/zel_tracing_api.h>. A prologue may change the parameters
   result      a ze_result_t: that of the call; in a prologue SUCCESS
   user        zt_hook.user
   instance    points to NULL in the prologue, which may store a pointer there for the epilogue of the call */
typedef void (*zt_hook_fn)(void *parameters, int result, void *user, void **instance);

/* The application's callbacks around one call. */
struct zt_hook {
    const char *call;    /* such as "zeKernelCreate" */
    zt_hook_fn prologue; /* is called before it. NULL: none */
    zt_hook_fn epilogue; /* is called after it. NULL: none */
    void *user;
};

/* What a tracer does. */
struct zt_trace_config {
    const char *names;    /* Kernels to measure: patterns with * and ?, separated by commas. A pattern after
                             '!' excludes: "gemm*,!*_tail". NULL: all kernels. */
    uint32_t every;       /* With n, the first launch of each kernel and every n-th after it are measured
                             with metrics. The others are measured with times alone, which costs less and
                             disturbs nothing (see TRACED LAUNCHES); if the profiler measures no metrics, not
                             at all. Default: 1. */
    uint64_t limit;       /* The most launches of each kernel with metrics. Further ones are measured as
                             those that `every` leaves out. 0: no limit. */
    int copies;           /* Not 0: copies and fills are measured, too, as "MemoryCopy", "MemoryFill", ... If
                             the profiler measures times alone, so are barriers and waits for events. */
    int no_launches;      /* Not 0: launches are not measured; lists are observed all the same. */
    const char *calls;    /* Calls to count and time: patterns separated by commas, as in `names`:
                             "zeEvent*,zeCommandQueue*". Other calls cost no more than without a tracer, but those
                             that wait for the device: for zt_region_info.host_wait_ns. NULL: none. */
    const zt_hook *hooks; /* Callbacks of the application, up to 16. NULL: none. */
    uint32_t hook_count;
    const char *modules;    /* A directory for the binaries and the debug information of modules that are
                               created while tracing; see MODULES. It is made if it is missing. NULL and "":
                               none. */
    uint32_t profile_flags; /* zet_profile_flags_t: modules that are created while tracing are built with
                               -zet-profile-flags and these; see MODULES. 0: as the application builds. */
    int memory; /* Not 0: allocations of device, shared and host memory are watched; see MEMORY. */
};

/* ---- kernels ------------------------------------------------------------------------------------------- */

/* The most different sizes and numbers of work-groups that are kept of a kernel. */
enum { ZT_KERNEL_SHAPES = 8 };

/* Launches of a kernel with the same sizes and numbers of work-groups; see KERNELS. */
struct zt_kernel_shape {
    uint32_t group_size[3];  /* items of a work-group. 0: not known */
    uint32_t group_count[3]; /* 0: not known to the host */
    uint64_t launches;
    uint32_t groups_per_subslice; /* how many work-groups fit into a subslice. UINT32_MAX: not known */
    double occupancy;             /* the share of a subslice's places for threads that these work-groups fill,
                                     from 0 to 1. NaN: not known */
    double waves; /* how many times a launch fills the device; below 1: not even once. NaN: not known */
};

/* A kernel that was launched while tracing; see KERNELS. Numbers are UINT32_MAX where they are not known.
   About 1.3 kB. */
struct zt_kernel_info {
    const char *name;
    uint64_t module;   /* a hash of the module's native binary (FNV-1a); as %016llx it names the files of
                          zt_trace_config.modules. 0: not known */
    uint32_t region;   /* that of its name, for zt_get_region. UINT32_MAX: none */
    uint64_t launches; /* as zt_trace_counts counts them, also those that were not measured */

    uint32_t simd_width;             /* items of a thread */
    uint32_t registers;              /* of a thread: 128, or 256 of the large register file */
    uint32_t slm_bytes;              /* shared local memory of a work-group */
    uint32_t private_bytes;          /* memory of a thread for what is not in registers */
    uint32_t spill_bytes;            /* memory of a thread for what did not fit into registers */
    uint32_t barriers;               /* of a work-group, held at a time */
    uint32_t arguments;              /* that zeKernelSetArgumentValue can set */
    uint32_t code_bytes;             /* of its instructions */
    uint32_t profile_flags;          /* zet_profile_flags_t: what the module was built with */
    uint32_t required_group_size[3]; /* as its source demands. 0: any */

    uint32_t shape_count; /* of `shapes`, which are in descending order of launches */
    zt_kernel_shape shapes[ZT_KERNEL_SHAPES];
    uint64_t other_launches; /* of other shapes than these */
    double occupancy;        /* of the first shape, which has most launches */
    char advice[768];        /* sentences: what it spills, and what keeps the device from being full. "":
                                nothing */
};

#ifndef ZETOOLS_DISABLE

/* Gets a kernel by its index: what it is made of, how it was launched, and how much of the device it can
   fill. Kernels are in the order of their first launch. */
ZT_API ze_result_t zt_get_kernel(const zt_profiler *profiler, uint32_t kernel, zt_kernel_info *info);

/* Replaces kernels by those of another module while the profiler traces, from their next zeKernelCreate on;
   see REPLACEMENTS. Call it before zt_trace_start, or while tracing.
   kernels  which kernels: patterns as in zt_trace_config.names. NULL: all. A second call with the same text
            changes the replacement. Where several texts select a kernel, the newest counts
   module   where the replacements are, of the profiler's context and device. It must live until the
            replacement has ended and its kernels are destroyed. NULL: ends the replacement that was begun
            with the same text, and all of them if `kernels` is NULL, too. Kernels that were replaced stay so
   name     of the kernel in that module. NULL: the same name; kernels that the module lacks are not replaced
   Returns SUCCESS; INVALID_KERNEL_NAME if the module has no kernel `name`, and zt_last_error has the
   nearest names; NOT_READY if, after config.wait_timeout_ns, another thread still creates a kernel of a
   module whose replacement has ended: then keep that module. */
ZT_API ze_result_t zt_replace(zt_profiler *profiler, const char *kernels, ze_module_handle_t module,
                              const char *name);

#endif

/* ---- calls --------------------------------------------------------------------------------------------- */

/* A call to Level Zero that was timed. */
struct zt_call_info {
    const char *name;
    uint64_t count;
    uint64_t errors;  /* calls that failed. NOT_READY, warnings and results that answer a question, such as
                         QUERY_FALSE, are no errors */
    zt_stats time_ns; /* host time of a call, in nanoseconds */
};

#ifndef ZETOOLS_DISABLE

/* Gets a call by its index. Calls are in the order in which they were first made. Median and 95th percentile
   are exact up to 512 calls. */
ZT_API ze_result_t zt_get_call(const zt_profiler *profiler, uint32_t call, zt_call_info *info);

#endif

#endif /* ZETOOLS_TRACER */
