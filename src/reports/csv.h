/* run.csv: a line for each set of figures; run.instances.csv: one for each sample. */

#pragma once

#include "base/compiler.h"
#include "base/system.h"
#include "base/writer.h"
#include "reports/facts.h"

/* Writes a field in quotes, which are doubled inside. */
ZT__PRIVATE void zt__write_csv_field(zt__writer *writer, const char *text);

/* Writes nothing for NaN and infinite numbers. */
ZT__PRIVATE void zt__write_csv_number(zt__writer *writer, double number);

ZT__PRIVATE void zt__write_csv(zt__document *document);

/* Writes the kept samples in the form of `unitrace -q`, for scripts that read that: one line before a blank
   one, the names of the columns, such as "GpuTime[ns]" and "XVE_STALL[%]", and a row for each sample and
   tile. What was not measured is empty. */
ZT__PRIVATE void zt__write_instances(zt__document *document);
