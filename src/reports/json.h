/* run.json, and the data of run.html. */

#pragma once

#include "base/compiler.h"
#include "base/system.h"
#include "base/writer.h"
#include "reports/facts.h"
#include "reports/run_facts.h"

/* Writes `"name":"text"`, after a comma unless it is the first member. */
ZT__PRIVATE void zt__write_json_text(zt__writer *writer, const char *name, const char *text);

ZT__PRIVATE void zt__write_json_count(zt__writer *writer, const char *name, uint64_t count);

/* Writes the members of a set of facts of the run. */
ZT__PRIVATE void zt__write_json_run(zt__writer *writer, const zt__run *run, zt__run_set set);

/* Writes the document up to its end, before which a page adds members of its own. There the figures of metrics are
   arrays. */
ZT__PRIVATE void zt__write_json_members(zt__document *document);

ZT__PRIVATE void zt__write_json(zt__document *document);
