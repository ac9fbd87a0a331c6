/* zt_replace: other kernels in place of the application's. */

#pragma once

#include "base/compiler.h"
#include "base/system.h"
#include "tracer/module_files.h"

#ifdef ZETOOLS_TRACER

/* Ends the replacements of these patterns (NULL: any) by this module (NULL: any), and adds `added` in their
   place, unless it is NULL. Frees those that have ended, each when no thread uses it any more. Returns
   SUCCESS, or NOT_READY if that takes too long; then the next call frees them. */
ZT__PRIVATE ze_result_t zt__change_replacements(zt__modules *modules, const char *kernels,
                                                ze_module_handle_t module, zt__replacement *added,
                                                const char *call);

/* A zt__name_fn, for zt__find_nearest. */
ZT__PRIVATE const char *zt__name_in_list(const void *names, uint32_t index);

/* Called after a kernel was created. Puts another one in its place, if zt_replace has requested one and both
   have as many arguments. The other module need not have a kernel of the same name. The call's module is then
   that of the other kernel, for the rest of the tracer and for hooks. */
ZT__PRIVATE void zt__replace_kernel(zt__modules *modules, const ze_kernel_create_params_t *parameters);

/* Called after a pointer to a function was returned. Replaces it likewise. */
ZT__PRIVATE void zt__replace_function(zt__modules *modules,
                                      const ze_module_get_function_pointer_params_t *parameters);

#endif
