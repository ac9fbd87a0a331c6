/* Modules and kernels, before and after calls that create, launch or destroy them. */

#pragma once

#include "base/compiler.h"
#include "base/system.h"
#include "tracer/frames.h"
#include "tracer/tracer.h"

#ifdef ZETOOLS_TRACER

/* Records that a kernel exists. If hot spots are sampled, looks its address up; sampling that begins later does
   so for all records. No mutex is held. */
ZT__PRIVATE void zt__observe_kernel(zt__tracer *tracer, ze_kernel_handle_t kernel);

ZT__PRIVATE void zt__before_module_create(zt__frame *frame);

/* The handle may be that of an earlier module. */
ZT__PRIVATE void zt__after_module_create(zt__frame *frame);

ZT__PRIVATE void zt__before_module_destroy(zt__frame *frame);

/* The handle may already be that of a new module, with a new record. */
ZT__PRIVATE void zt__after_module_destroy(zt__frame *frame);

ZT__PRIVATE void zt__after_get_function(zt__frame *frame);

/* Puts the kernel that zt_replace has requested in the place of the one that was created. Called before the
   epilogues of hooks; zt__after_kernel_create follows them. */
ZT__PRIVATE void zt__put_kernel_in_place(zt__frame *frame);

ZT__PRIVATE void zt__after_group_size(zt__frame *frame);

/* Counts the kernels of a launch, unless zt_trace_config.names leaves them out. At the first launch of its
   handle, the driver is queried for what a kernel is made of. */
ZT__PRIVATE void zt__after_launch(zt__frame *frame);

/* Records that a kernel is about to be destroyed. If the driver refuses, its next launch shows that it
   exists. */
ZT__PRIVATE void zt__note_kernel_destroy(zt__tracer *tracer, ze_kernel_handle_t kernel);

ZT__PRIVATE void zt__before_kernel_destroy(zt__frame *frame);

/* Forgets the kernel, and the one that the application has passed, if a hook has destroyed this one in its
   place. The handles may already be those of new kernels, with new records. */
ZT__PRIVATE void zt__after_kernel_destroy(zt__frame *frame);

/* Called after a kernel was created. The handle, which an epilogue of a hook may have replaced, may be that
   of an earlier kernel. If a hook has replaced it, its module is not known. The native binary of a module is read
   for the first of its kernels. */
ZT__PRIVATE void zt__after_kernel_create(const zt__frame *frame);

#endif
