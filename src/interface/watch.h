#ifdef ZETOOLS_DEBUG

/* The most places in a report of a watch. */
enum { ZT_MAX_PLACES = 32 };

/* Who debugs a process for zt_watch. */
typedef enum zt_debugged_by {
    ZT_DEBUGGED_BY_NOBODY, /* what hangs is reported, but not where */
    ZT_DEBUGGED_BY_ITSELF,
    ZT_DEBUGGED_BY_HELPER /* a process that the library has started */
} zt_debugged_by;

/* Where threads of the device were when they were stopped. */
struct zt_hang_place {
    const char *kernel; /* "": not known */
    uint64_t address;   /* of the instruction */
    uint64_t offset;  /* of the instruction from the begin of the kernel, in bytes; 0 if that is not known */
    uint32_t threads; /* that were there */
    const char *file; /* of the source. "": not known */
    uint32_t line;    /* from 1; 0: not known */
};

/* What hangs or has faulted, and where. */
struct zt_hang {
    int is_fault; /* not 0: the device has reported a fault, or threads have stopped by themselves */
    uint64_t fault_address; /* of a page fault; else 0 */
    const char *fault;      /* what it was, in words. "": no fault */
    const char *region;     /* that runs for too long; of a fault, one that was running. "": not known */
    uint64_t running_ns;    /* how long it has run, in nanoseconds */
    uint32_t others;        /* other lists with regions that run, or wait for what hangs */
    int has_ended;          /* not 0: the region ended while the threads were being stopped */
    zt_debugged_by debugged_by;
    const char *reason;          /* why nobody debugs, or why threads could not be stopped or found */
    uint32_t stopped;            /* threads that were stopped */
    uint32_t unstopped;          /* threads that could not be stopped, as far as the device reports them */
    uint32_t place_count;        /* up to ZT_MAX_PLACES */
    const zt_hang_place *places; /* in descending order of threads */
    uint32_t threads_elsewhere;  /* that were stopped at other places */
    int is_left_stopped;         /* not 0: the threads stay stopped; see zt_watch_config.leave_stopped */
    const char *text;            /* the whole report, as in the file */
};

/* Called with each hang and each fault, on the thread of the watch, after the work was resumed or left
   stopped. `user` is zt_watch_config.user. */
typedef void (*zt_hang_fn)(const zt_hang *hang, void *user);

/* How regions are watched. Start from zt_watch_config_default(). */
struct zt_watch_config {
    uint64_t hang_ns;    /* A region that runs longer hangs, in nanoseconds; see WATCHING. At least 1 ms.
                            Default: 10 seconds. */
    const char *path;    /* The file of the report; %p is the process ID. The second report goes to
                            hang.%p.2.txt, and so on. "": none. Default: "hang.%p.txt". */
    zt_hang_fn function; /* Is called with each hang and each fault. NULL: none is. */
    void *user;
    int leave_stopped; /* Not 0: threads stay stopped until zt_watch_stop or zt_close. */
    int no_helper;     /* Not 0: no other process is started to debug this one. */
};

/* What a watch does, and what it has found. */
struct zt_watch_info {
    int is_watching; /* not 0: there is a watch */
    zt_debugged_by debugged_by;
    char reason[512];       /* why the process does not debug itself, or why nobody debugs it; else "" */
    uint32_t hangs, faults; /* that were reported */
    int is_stopped;         /* not 0: threads of the device are left stopped */
};

#ifndef ZETOOLS_DISABLE

/* Returns a configuration with every field at its default. */
ZT_API zt_watch_config zt_watch_config_default(void);

/* Watches the regions of a profiler, and its device; see WATCHING. Where debugging is not possible, hangs are
   reported without places, and zt_watch_get_info returns why. A second call replaces the configuration.
   config  NULL: the defaults
   Returns SUCCESS, or
       INVALID_NULL_HANDLE   the profiler is from zt_unpack
       UNSUPPORTED_FEATURE   no thread can be started
       NOT_READY             the thread of an earlier watch does not end
       HANDLE_OBJECT_IN_USE  this is inside a sample, hang or log function
   Not by two threads at once. */
ZT_API ze_result_t zt_watch(zt_profiler *profiler, const zt_watch_config *config);

/* Ends the watch, and resumes threads that were left stopped. zt_close does the same before all else.
   Returns SUCCESS, also if nothing is watched; NOT_READY if the thread of the watch does not end;
   HANDLE_OBJECT_IN_USE inside a log function.
   Not by two threads at once. */
ZT_API ze_result_t zt_watch_stop(zt_profiler *profiler);

/* Returns what the watch does, and what it has found. */
ZT_API zt_watch_info zt_watch_get_info(const zt_profiler *profiler);

#endif

#endif /* ZETOOLS_DEBUG */
