/* zt_write and zt_report: formats and files. */

#pragma once

#include "base/compiler.h"
#include "base/diagnostics.h"
#include "base/files.h"
#include "base/system.h"

/* What is written, where to, and for whom. */
typedef struct zt__output {
    const char *call, *path; /* the path of the application, "-" for standard output */
    zt__diagnostics *diagnostics;
    const zt_allocator *allocator;
    zt__content_fn write_content;
    const void *content;
} zt__output;

/* Writes a file beside the target and renames it, so that nobody reads an incomplete one. Pipes, terminals
   and devices are written to, and not replaced by a file. */
ZT__PRIVATE ze_result_t zt__write_output(const zt__output *output);
