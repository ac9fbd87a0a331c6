/* What hot spots are made of: modules, kernels, places, samples. */

#pragma once

#include "base/compiler.h"
#include "base/map.h"
#include "base/platform.h"
#include "base/shared.h"
#include "base/system.h"
#include "base/threads.h"
#include "modules/elf.h"
#include "regions/profiler.h"
#include "streams/stream.h"

#ifdef ZETOOLS_TRACER

/* A stream of the group that samples instructions is read into the ring of the stream. Its reports are
   calculated here: a row has an address, and how often threads of the device were seen there, by what they
   did. Where the kernels lie is what the tracer observes: it records each kernel and module that is loaded
   (zt__loaded), and hot spots that are being sampled query the address of each (zt__place_kernel).

   An address may be that of another kernel later. So each sample is given to a kernel when it is read, and
   what is waiting is read before a kernel or module is destroyed, and before one takes the place of another.

   Locks: `reading` is locked first. The thread that holds it reads samples, calls the driver about kernels
   that another thread might destroy, and starts or stops the stream. `finding` is held while source lines are
   found, and alone. `mutex` guards results and places, and is held briefly. */

enum {
    ZT__LOADER_HANDLE_KERNEL = 11,      /* ZEL_HANDLE_KERNEL of the loader's header */
    ZT__ADDRESS_SHIFT = 3,              /* the device reports addresses in units of 8 bytes, */
    ZT__MOST_COUNTS = 1 + ZT_MAX_STALLS /* and beside each, counts: Active, and kinds of stall */
};

/* A module with kernels that were placed, for its debug information. */
typedef struct zt__sampled_module {
    struct zt__sampled_module *next;
    ze_module_handle_t handle; /* NULL: destroyed, or not observed any more */
    uint8_t *debug;            /* NULL: not read, or there is none */
    size_t debug_size;
    int is_read;
    uint32_t kernel_count; /* kernels that refer to it */
} zt__sampled_module;

/* A kernel. Those that have the same name and the same instructions are one. */
typedef struct zt__sampled_kernel {
    struct zt__sampled_kernel *next;
    char *name;
    zt__code code;
    uint64_t base;              /* where it was placed last */
    zt__sampled_module *module; /* NULL: not known */
    uint64_t samples;
    uint64_t debug_address; /* in the debug information of the module; UINT64_MAX: not known. Guarded by
                               `finding` */
} zt__sampled_kernel;

/* Where a kernel lies. */
typedef struct zt__place {
    uint64_t base, size;
    zt__sampled_kernel *kernel;
} zt__place;

typedef struct zt__spot_key {
    const zt__sampled_kernel *kernel;
    uint64_t offset;
} zt__spot_key;

/* An instruction with samples. */
typedef struct zt__spot {
    zt__spot_key key;
    uint64_t samples;
    uint64_t counts[ZT__MOST_COUNTS];
    const char *file; /* "": not known */
    uint32_t line;
    int is_looked_up; /* file and line are as they will ever be */
} zt__spot;

typedef ze_result_t(ZE_APICALL *zt__get_binary_fn)(ze_kernel_handle_t kernel, size_t *size, uint8_t *binary);

/* The hot spots of a profiler, from its first zt_hotspots_start on. */
typedef struct zt__hotspots {
    zt_profiler *profiler;
    zt_allocator allocator;
    zt_hotspots_config config; /* of the last start */

    zt__timed_mutex reading; /* guards what follows */
    zt_stream *stream;       /* NULL: nothing is sampled. Atomic */
    /* Functions of the driver's own. They do not know handles that the loader has wrapped. */
    ze_result_t(ZE_APICALL *get_base)(ze_kernel_handle_t kernel, uint64_t *base);
    zt__get_binary_fn get_binary; /* or NULL */
    uint32_t address_metric, count_metrics[ZT__MOST_COUNTS];

    zt__timed_mutex finding;

    zt__mutex mutex; /* guards what follows */
    char group[ZET_MAX_METRIC_GROUP_NAME];
    uint32_t period_ns;
    uint32_t count_count; /* counts of a row */
    char count_names[ZT__MOST_COUNTS][64];
    uint32_t active_count; /* the index of Active; UINT32_MAX: the device does not count it */
    int has_started;       /* once: its counts are not changed any more */
    zt_hotspots_counts counts;
    zt__sampled_kernel *kernels;
    zt__sampled_module *modules;
    size_t debug_bytes;
    int has_skipped_debug; /* for config.debug_limit */
    zt__place *places;     /* sorted by the low 32 bits of their bases */
    uint32_t place_count;
    int places_overlap; /* in these bits */
    zt__map spot_map;   /* by their keys */
    zt__spot **spots;   /* in the order of their first samples */
    uint32_t spot_count, spot_capacity;
    zt__map files;            /* names of source files, to themselves */
    zt__message_text refusal; /* why the last start has failed */
    int lacks_tool;           /* there is no program that finds lines */
    int lacks_lines;          /* there was no line for any address of a module */
} zt__hotspots;

ZT__PRIVATE zt__hotspots *zt__hotspots_of(const zt_profiler *profiler);

/* Sets the module of a kernel, which may be NULL. The mutex is held. */
ZT__PRIVATE void zt__set_module(zt__sampled_kernel *kernel, zt__sampled_module *module);

/* Returns whether a place has the low 32 bits of an address. A place may go on beyond the last of them. */
ZT__PRIVATE int zt__has_address(const zt__place *place, uint32_t address);

/* Returns whether two places overlap: then the later kernel has replaced the earlier one. */
ZT__PRIVATE int zt__replaces(const zt__place *later, const zt__place *earlier);

#endif
