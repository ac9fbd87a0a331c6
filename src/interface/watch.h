#ifdef ZETOOLS_DEBUG

/* A region or a traced launch that hangs. */
struct zt_hang {
    const char *region;  /* of a traced launch, the name of its kernel */
    uint64_t running_ns; /* how long it has run, in nanoseconds */
    uint32_t others;     /* other lists with regions that run, or wait for it */
    const char *text;    /* the whole report, as in the file: also the first region of each of these lists */
};

/* Called with each hang, on the thread of the watch. `user` is zt_watch_config.user. */
typedef void (*zt_hang_fn)(const zt_hang *hang, void *user);

/* How regions are watched. */
struct zt_watch_config {
    uint64_t hang_ns;    /* A region that runs longer hangs, in nanoseconds; see WATCHING. At least 1 ms.
                            Default: 10 seconds. */
    const char *path;    /* The file of the report; %p is the process ID. The second report goes to
                            hang.%p.2.txt, and so on. "": none. Default: "hang.%p.txt". */
    zt_hang_fn function; /* Is called with each hang. NULL: none is. */
    void *user;
};

#ifndef ZETOOLS_DISABLE

/* Watches the regions of a profiler; see WATCHING. A second call replaces the configuration.
   config  NULL: the defaults
   Returns SUCCESS, or
       INVALID_NULL_HANDLE   the profiler is from zt_unpack
       UNSUPPORTED_FEATURE   no thread can be started
       NOT_READY             the thread of an earlier watch does not end
       HANDLE_OBJECT_IN_USE  this is inside a sample, hang or log function
   Not by two threads at once. */
ZT_API ze_result_t zt_watch(zt_profiler *profiler, const zt_watch_config *config);

/* Ends the watch. zt_close does the same before all else.
   Returns SUCCESS, also if nothing is watched; NOT_READY if the thread of the watch does not end;
   HANDLE_OBJECT_IN_USE inside a log function.
   Not by two threads at once. */
ZT_API ze_result_t zt_watch_stop(zt_profiler *profiler);

#endif

#endif /* ZETOOLS_DEBUG */
