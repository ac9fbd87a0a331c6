#ifdef ZETOOLS_DEBUG

/* ---- sessions and events ------------------------------------------------------------------------------- */

/* How a process is debugged. */
struct zt_debug_config {
    uint64_t wait_timeout_ns; /* How many nanoseconds calls wait for other threads, and zt_debug_close for
                                 threads of the device that are about to stop. Default: 1 second. */
    size_t module_limit;      /* Bytes of modules that are kept for zt_debug_where. Default: 64 MiB. */
    int no_lines;             /* Not 0: zt_debug_where runs no program to find source lines. */
    zt_log_fn log;            /* Receives each message once. NULL: none, or standard error with ZT_LOG. */
    void *log_user;
    zt_allocator allocator; /* Functions that are NULL: malloc and free. */
};

/* In a zt_debug_thread: all slices, subslices, EUs or threads. */
#define ZT_DEBUG_ALL UINT32_MAX

/* A thread of the device, counted from 0. Where a member is ZT_DEBUG_ALL, several threads: {1, ZT_DEBUG_ALL,
   ZT_DEBUG_ALL, ZT_DEBUG_ALL} are those of the second slice. */
struct zt_debug_thread {
    uint32_t slice, subslice, eu, thread;
};

/* What has happened in a debugged process. */
typedef enum zt_debug_event_type {
    ZT_DEBUG_OTHER,               /* what this version of the library does not know */
    ZT_DEBUG_DETACHED,            /* the session is over: `reason` */
    ZT_DEBUG_PROCESS_ENTRY,       /* the process has created a command queue on the device */
    ZT_DEBUG_PROCESS_EXIT,        /* the process has destroyed its command queues on the device */
    ZT_DEBUG_MODULE_LOAD,         /* `begin`, `end` and `load` */
    ZT_DEBUG_MODULE_UNLOAD,       /* likewise: the module is about to be unloaded */
    ZT_DEBUG_THREADS_STOPPED,     /* `threads`: at least one of them has stopped */
    ZT_DEBUG_THREADS_UNAVAILABLE, /* `threads`: none of them can be stopped */
    ZT_DEBUG_PAGE_FAULT,          /* `address`, `mask` and `reason` */
    ZT_DEBUG_EVENT_COUNT
} zt_debug_event_type;

/* An event. Members that do not belong to its type are 0. */
struct zt_debug_event {
    zt_debug_event_type type;
    const char *name;        /* the same as a text: "module load" for ZT_DEBUG_MODULE_LOAD, and so on */
    int is_held;             /* not 0: what follows, such as a launch of the module, waits until the function
                                that receives the event has returned */
    uint32_t reason;         /* of DETACHED, a zet_debug_detach_reason_t: 1 if the process has ended. Of
                                PAGE_FAULT, a zet_debug_page_fault_reason_t: 1 if the address is not mapped,
                                2 if the access is not permitted */
    zt_debug_thread threads; /* that have stopped, or cannot be stopped */
    uint64_t begin, end;     /* where the ELF file of the module is in the memory of the device */
    uint64_t load;           /* where the module is loaded */
    uint64_t address, mask;  /* the page of the fault: its address, and the bits that count */
};

/* Called with each event, on the thread that waits. `user` is that of the call. Returns 0, or anything else
   to stop: later events wait for the next call. */
typedef int (*zt_debug_fn)(zt_debugger *debugger, const zt_debug_event *event, void *user);

#ifndef ZETOOLS_DISABLE

/* Attaches to a device and to a process that uses it, or will; see PROGRAM DEBUG. The driver must be
   initialised.
   pid       the process ID. 0: that of this process
   config    NULL: the defaults
   debugger  receives the debugger; NULL on failure
   Returns SUCCESS. On failure, zt_last_error has the message:
       UNSUPPORTED_FEATURE       the device cannot be debugged
       DEPENDENCY_UNAVAILABLE    program debug is not enabled, on this system or in one of the processes
       INSUFFICIENT_PERMISSIONS  this process may not debug the other, or itself
       NOT_AVAILABLE             another debugger is attached
       INVALID_ARGUMENT          there is no such process
       otherwise the result of the call that failed */
ZT_API ze_result_t zt_debug_open(ze_device_handle_t device, uint32_t pid, const zt_debug_config *config,
                                 zt_debugger **debugger);

/* Acknowledges all events, resumes all threads, also those that stop meanwhile, detaches, and frees the
   debugger. Ends calls that wait. In a forked child, it does nothing.
   Returns SUCCESS, also where it does nothing, or
       HANDLE_OBJECT_IN_USE  a call of another thread does not end in 10 seconds, or this is inside one of the
                             debugger's callbacks: the debugger stays open
       otherwise the result of the call that failed: the debugger is freed, and the driver detaches when this
       process ends
   Not by two threads at once. */
ZT_API ze_result_t zt_debug_close(zt_debugger *debugger);

/* Delivers the events that there are, and waits for the first if there is none. When the function has
   returned, an event that needs it is acknowledged; if that fails, the next call or zt_debug_close does it.
   One thread waits for events while others wait for that thread.
   timeout_ns  how long it waits at the most, in nanoseconds; 0: not at all
   function    is called with each event and `user`. NULL: events are only acknowledged
   Returns SUCCESS, or
       NOT_READY             there was no event in time, or an event could not be acknowledged, because other
                             threads used the debugger for longer than config.wait_timeout_ns
       NOT_AVAILABLE         the session is over and ZT_DEBUG_DETACHED was delivered, or the debugger is being
                             closed
       DEVICE_LOST
       HANDLE_OBJECT_IN_USE  this is inside a callback of the debugger
       otherwise the result of the call that failed */
ZT_API ze_result_t zt_debug_wait(zt_debugger *debugger, uint64_t timeout_ns, zt_debug_fn function,
                                 void *user);

#endif

/* ---- threads of the device ----------------------------------------------------------------------------- */

/* What zt_debug_stop has done. */
struct zt_debug_stops {
    uint32_t stopped;     /* selected threads that are stopped now, also those that were stopped before */
    uint32_t unavailable; /* the other selected threads: they are idle, or cannot be stopped. The device does
                             not report which */
};

/* A stopped thread. */
struct zt_debug_thread_info {
    zt_debug_thread thread;
    uint64_t address; /* of the instruction at which it is stopped. 0: the device lacks a register for that */
};

/* Where an instruction is. */
struct zt_debug_place {
    const char *kernel; /* or another function of the module, as its file names it. "": not known */
    uint64_t offset;    /* of the instruction from the begin of the kernel, in bytes */
    uint64_t size;      /* of the kernel's instructions, in bytes */
    const char *file;   /* of the source. "": not known */
    uint32_t line;      /* from 1; 0: not known */
    int is_unloaded;    /* not 0: the module was unloaded since */
};

#ifndef ZETOOLS_DISABLE

/* Stops threads of the device in the middle of what they do. zt_debug_wait also delivers the answer of the
   device, as an event.
   threads     which threads
   timeout_ns  how long it waits for the device at the most, in nanoseconds
   stops       receives how many are stopped; may be NULL
   Returns SUCCESS when the device has answered, even if there was nothing to stop, or
       NOT_READY      the device has not answered. The next call that reads its answer, such as zt_debug_wait,
                      resumes the threads, except those that another stop has stopped
       NOT_AVAILABLE  the session is over, or ends meanwhile
       otherwise the result of the call that failed */
ZT_API ze_result_t zt_debug_stop(zt_debugger *debugger, zt_debug_thread threads, uint64_t timeout_ns,
                                 zt_debug_stops *stops);

/* Resumes threads of the device.
   Returns SUCCESS if none of them is stopped any more, even if none was;
   NOT_AVAILABLE if the session is over; otherwise the result of the call that failed. */
ZT_API ze_result_t zt_debug_resume(zt_debugger *debugger, zt_debug_thread threads);

/* Lists the stopped threads of the device, and where they are.
   threads  receives them; may be NULL
   count    how many there is room for, if `threads` is not NULL; receives the number of all stopped threads,
            which may be more
   Returns SUCCESS; UNSUPPORTED_FEATURE if the device has no register that can be read; NOT_AVAILABLE if the
   session is over; otherwise the result of the call that failed. */
ZT_API ze_result_t zt_debug_get_threads(zt_debugger *debugger, zt_debug_thread_info *threads,
                                        uint32_t *count);

/* Finds the kernel and the source line of an instruction, by the modules that the process has loaded. Works
   also when the session is over. Runs a program to find the source line, as for hot spots, which takes a few
   milliseconds the first time; see DEBUG SESSIONS.
   Returns SUCCESS if the kernel is known; NOT_AVAILABLE if it is not. */
ZT_API ze_result_t zt_debug_where(zt_debugger *debugger, uint64_t address, zt_debug_place *place);

#endif

/* ---- memory and registers ------------------------------------------------------------------------------ */

/* Kinds of memory. Registers of each kind are one more: zt_debug_registers.space. */
enum {
    ZT_DEBUG_MEMORY, /* what pointers point to */
    ZT_DEBUG_SLM     /* shared local memory of the thread's work-group, from 0 on */
};

/* A register, or all registers of a kind. To read or write them, pass `space`, an address and a size to
   zt_debug_read and zt_debug_write: register i begins at address + i * bytes. */
struct zt_debug_registers {
    char set[16];     /* their kind. Intel's: "GRF", "ADDR", "FLAG", "CE", "SR", "CR", "TDR", "ACC", "MME",
                         "SP", "SBA", "DBG", "FC"; for other types "SET 14" */
    uint32_t type;    /* as the device numbers it */
    uint32_t version; /* of the set, as the device numbers it */
    uint32_t space;
    uint64_t address;
    int is_readable;
    int is_writable;
    uint32_t count; /* how many registers: of a set, a thread may have fewer */
    uint32_t bits;  /* of a register */
    uint32_t bytes; /* of a register */
};

#ifndef ZETOOLS_DISABLE

/* Reads memory of the process, or registers, as a stopped thread sees them.
   thread  the thread. For ZT_DEBUG_MEMORY, also all threads, stopped or not: {ZT_DEBUG_ALL, ZT_DEBUG_ALL,
           ZT_DEBUG_ALL, ZT_DEBUG_ALL}
   space   ZT_DEBUG_MEMORY, ZT_DEBUG_SLM or zt_debug_registers.space
   size    in bytes; of registers, a multiple of zt_debug_registers.bytes
   Returns SUCCESS; NOT_AVAILABLE if the thread is not stopped, if it has no such memory, or if the session is
   over; INVALID_ARGUMENT if there are no such registers, or they cannot be read; otherwise the result of the
   call that failed. */
ZT_API ze_result_t zt_debug_read(zt_debugger *debugger, zt_debug_thread thread, uint32_t space,
                                 uint64_t address, void *bytes, size_t size);

/* Writes memory or registers, with parameters and results as those of zt_debug_read. */
ZT_API ze_result_t zt_debug_write(zt_debugger *debugger, zt_debug_thread thread, uint32_t space,
                                  uint64_t address, const void *bytes, size_t size);

/* Gets which registers the device has, and how they are read.
   name       a register, as Intel's assembler and debugger name it: "r12", "a0", "f1", "ce", "sr0", "cr0",
              "tdr0", "acc3", "mme0", "sp", "dbg0", "fc0"; of SBA "genstbase", "sustbase", "dynbase",
              "iobase", "isabase", "blsustbase", "blsastbase", "btbase", "scrbase". Or a kind of registers,
              such as "GRF". NULL: all kinds
   registers  receives the register, the kind, or each of them; may be NULL
   count      how many there is room for, if `registers` is not NULL; receives how many there are
   Returns SUCCESS; INVALID_ARGUMENT if the device has none of that name. */
ZT_API ze_result_t zt_debug_get_registers(zt_debugger *debugger, const char *name,
                                          zt_debug_registers *registers, uint32_t *count);

#endif

#endif /* ZETOOLS_DEBUG */
