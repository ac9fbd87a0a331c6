/* zt_trace_config.modules: the binaries of the application's modules as files. */

#pragma once

#include "base/compiler.h"
#include "base/diagnostics.h"
#include "base/platform.h"
#include "base/shared.h"
#include "base/system.h"
#include "modules/loaded.h"

#ifdef ZETOOLS_TRACER

/* Kernels that take the place of others; see zt_replace. */
typedef struct zt__replacement {
    struct zt__replacement *next; /* an older one */
    ze_module_handle_t module;    /* where they are */
    char *kernels;                /* patterns of the names of the others */
    char *name;                   /* NULL: that of the other one */
    uint32_t users;               /* threads that create one of them */
    int has_ended;
} zt__replacement;

/* What a tracer knows of modules, for this chapter, profiled_builds and replacements. */
typedef struct zt__modules {
    zt_allocator allocator;
    zt__diagnostics *diagnostics; /* of the profiler; NULL under zt_auto */
    zt__loaded *loaded;           /* of the tracer */
    char *directory; /* absolute. NULL: modules leave no files. Changes while nothing is traced */

    zt__mutex mutex;          /* guards what follows. Held briefly, as that of the tracer */
    uint32_t failures;        /* to write files. Atomic */
    zt__message_text failure; /* the first of them */

    uint32_t profile_flags; /* changes while nothing is traced */

    /* of zt_replace */
    ze_context_handle_t context; /* of the profiler */
    ze_device_handle_t device;
    uint64_t wait_timeout_ns;
    zt__replacement *replacements; /* the newest first */
    uint64_t replaced;             /* kernels, and pointers to functions. Atomic */
} zt__modules;

/* Counts a file that is missing, keeps why for reports, and logs the first. */
ZT__PRIVATE void zt__report_not_saved(zt__modules *modules, const char *directory, ze_result_t result,
                                      const char *call, const char *reason, const char *remedy);

/* Stores the directory, which is made if it is missing, or NULL. Later changes of the working directory do
   not matter. Called while nothing is traced. */
ZT__PRIVATE void zt__configure_modules(zt__modules *modules, const char *directory);

/* Writes a file of a module, unless there is one of this name and size. It is written beside its name and
   renamed, so that nobody reads an incomplete one. */
ZT__PRIVATE void zt__save_binary(zt__modules *modules, uint64_t hash, const char *suffix,
                                 const zt__binary *binary);

#endif
