/* Builds of the application's modules: profile flags are added before, files are written after. */

#pragma once

#include "base/compiler.h"
#include "base/system.h"
#include "tracer/module_files.h"

#ifdef ZETOOLS_TRACER

/* A zeModuleCreate whose build flags are changed for the call. */
typedef struct zt__build {
    const ze_module_desc_t **place; /* the call's parameter, if it was changed; else NULL */
    const ze_module_desc_t *before; /* its value before */
    void *changed;                  /* from malloc, because a call may end after its tracer was destroyed */
    ze_result_t trial;              /* of the build with the flags, if there was one */
} zt__build;

/* Called before a module is created. Adds the profile flags, unless the application passes some or builds the
   module from several inputs. If its call failed because of them, nothing could be done about that. So the tracer
   itself builds the module before, as a trial, and leaves the flags out if that fails. */
ZT__PRIVATE void zt__begin_build(zt__modules *modules, const ze_module_create_params_t *parameters,
                                 zt__build *build);

/* Called after a module was created: writes its files. If the trial has failed before, the driver refuses the
   flags, and this is reported. */
ZT__PRIVATE void zt__end_build(zt__modules *modules, const ze_module_create_params_t *parameters,
                               const zt__build *build);

#endif
