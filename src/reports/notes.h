/* Notes below reports. */

#pragma once

#include "base/compiler.h"
#include "base/system.h"
#include "reports/facts.h"

/* A note is a sentence or two about what a report does not show, why, and what to do. */
typedef void (*zt__note_fn)(zt__document *document, const char *text);

/* Of a tracer of zt_auto: %llu is their number. */
#define ZT__UNSEEN_EXECUTIONS                                                                                \
    "%llu executions of command lists that were recorded before are not measured: their launches were not "  \
    "seen."

/* When the loader did not call the tracer for a time. */
#define ZT__LAYER_WAS_OFF                                                                                    \
    "The loader's tracing layer was switched off while tracing, so launches are missing: the first call of " \
    "zesInit, zeInitDrivers or zeInit does this. Make it before tracing, or set ZE_ENABLE_TRACING_LAYER=1 "  \
    "before zeInit."

/* Notes why there are no regions. */
ZT__PRIVATE void zt__note_why_empty(zt__document *document, zt__note_fn note);

/* Notes launches that a tracer cannot measure. */
ZT__PRIVATE void zt__note_elsewhere(zt__document *document, zt__note_fn note);

/* Passes what all reports note to a function, when the regions have been read. */
ZT__PRIVATE void zt__list_notes(zt__document *document, zt__note_fn note);
