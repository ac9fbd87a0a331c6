/* The tables of a tracer: kernels, calls, hot spots; and paragraphs below any table. */

#pragma once

#include "base/compiler.h"
#include "base/system.h"
#include "reports/facts.h"

/* Writes a paragraph about a region or kernel. */
ZT__PRIVATE void zt__write_paragraph_about(zt__document *document, const char *name, const char *text);

ZT__PRIVATE void zt__write_table_note(zt__document *document, const char *text);

/* Says how many rows of a table are left out, if any, and their share of `what`, if it is known: "the GPU time". */
ZT__PRIVATE void zt__write_left_out(zt__document *document, uint32_t count, double percent, const char *what);

#ifdef ZETOOLS_TRACER

/* Writes a table of kernels, and below it the advice about those with the largest shares, a paragraph each. */
ZT__PRIVATE void zt__write_table_of_kernels(zt__document *document);

ZT__PRIVATE void zt__write_table_of_calls(zt__document *document);

/* Writes the source lines, or instructions, with most samples. */
ZT__PRIVATE void zt__write_table_of_hotspots(zt__document *document);

#endif
