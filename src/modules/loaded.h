/* Modules and kernels that exist, their names and binaries. */

#pragma once

#include "base/compiler.h"
#include "base/map.h"
#include "base/platform.h"
#include "base/system.h"
#include "regions/profiler.h"

#ifdef ZETOOLS_TRACER

/* A tracer records here the modules and kernels that it sees, until they are destroyed. */

/* A module that exists. */
typedef struct zt__loaded_module {
    const void *handle;          /* the key */
    ze_context_handle_t context; /* NULL: not known, like the next */
    ze_device_handle_t device;
    struct zt__described_module *described; /* what its binary states of its kernels; NULL: not read */
    int may_be_destroyed;                   /* a call that destroys it has begun */
} zt__loaded_module;

/* A kernel that exists. */
typedef struct zt__loaded_kernel {
    const void *handle;        /* the key */
    ze_module_handle_t module; /* NULL: not known, like the next */
    ze_device_handle_t device;
    int is_placed;        /* its address was recorded for the hot spots that were sampled when it was seen */
    int may_be_destroyed; /* a call that destroys it has begun */

    /* for launches */
    struct zt__kernel_name *name; /* NULL: not known yet */
    uint32_t group_size[3];       /* 0: not known */
    zt_profiler *counted_for;     /* for which its launches were counted last; NULL: for none */
    struct zt__kernel *counted;   /* its record there; NULL: there is no room for it */
} zt__loaded_kernel;

/* What a tracer has seen, and what still exists. Belongs to the tracer. */
typedef struct zt__loaded {
    const zt_allocator *allocator;
    int is_observed;          /* the tracer is live. Atomic, like the next */
    int is_sampled;           /* zt_hotspots_start was called */
    zt__mutex *mutex;         /* of the tracer. Guards the maps */
    zt__map kernels, modules; /* zt__loaded_kernel and zt__loaded_module, by handle */
} zt__loaded;

/* What the driver returns of a module. */
typedef struct zt__binary {
    uint8_t *bytes; /* NULL: none */
    size_t size;    /* as the driver reports it, even if the bytes could not be read */
} zt__binary;

/* Returns the record of a handle, which is added if there is none. Records have `size` bytes, and begin with
   the handle. The mutex is held. It is unlocked while the allocator runs. Returns NULL without memory. */
ZT__PRIVATE void *zt__find_or_add_record(const zt__loaded *loaded, zt__map *map, const void *handle,
                                         size_t size);

/* Allocates a record of `size` bytes, followed by the name of a kernel: "" if the driver fails. Returns NULL
   without memory. */
ZT__PRIVATE void *zt__allocate_with_name(const zt_allocator *allocator, size_t size,
                                         ze_kernel_handle_t kernel);

/* Reads the native binary of a module or, with `is_debug`, its debug information. There may be none, and one
   of more than `most` bytes is not read. */
ZT__PRIVATE ze_result_t zt__read_binary(const zt_allocator *allocator, ze_module_handle_t module,
                                        int is_debug, size_t most, zt__binary *binary);

#endif
