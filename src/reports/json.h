/* run.json, and the data of run.html. */

#pragma once

#include "base/compiler.h"
#include "base/system.h"
#include "base/writer.h"
#include "reports/facts.h"

/* Writes `"name":"text"`, after a comma unless it is the first member. */
ZT__PRIVATE void zt__write_json_text(zt__writer *writer, const char *name, const char *text);

ZT__PRIVATE void zt__write_json_count(zt__writer *writer, const char *name, uint64_t count);

/* Writes what became of the samples of all regions. */
ZT__PRIVATE void zt__write_json_counts(zt__writer *writer, const zt_counts *counts);

/* Writes how long the library itself has kept threads of the program busy, if that is known. */
ZT__PRIVATE void zt__write_json_own_time(zt__writer *writer, const zt_profiler *profiler);

/* Writes the document up to its end, before which a page adds members of its own. There the figures of metrics are
   arrays. */
ZT__PRIVATE void zt__write_json_members(zt__document *document);

ZT__PRIVATE void zt__write_json(zt__document *document);
