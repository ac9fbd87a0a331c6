/* Reports and settings that the environment requests: ZT_REPORT, ZT_PEAKS. */

#pragma once

#include "base/compiler.h"
#include "base/diagnostics.h"
#include "base/system.h"
#include "regions/profiler.h"

/* A list of reports is what ZT_REPORT and ZT_AUTO contain: paths, separated by commas. */

/* Samples that are kept for reports that show the timeline, where config.timeline is not set. */
enum { ZT__REPORT_TIMELINE = 65536 };

/* Returns whether a list has a report that shows the timeline. */
ZT__PRIVATE int zt__shows_timeline(const char *list);

/* Reports the first path of a list whose suffix stands for no format. */
ZT__PRIVATE ze_result_t zt__check_reports(zt__diagnostics *diagnostics, const char *call, const char *list);

/* Writes the reports of a list, for the n-th profiler of the process that has such a list. It is closed next.
   Messages go to standard error, and to zt_last_error. If a report cannot be written, the table
   goes to standard error instead. With `names_files`, each file that was written is named there. */
ZT__PRIVATE void zt__write_reports(zt_profiler *profiler, const char *list, uint32_t n, int names_files);

/* Reads the variables of the environment that zt_open obeys, and keeps ZT_REPORT for zt_close. */
ZT__PRIVATE void zt__read_environment(zt_profiler *profiler);
