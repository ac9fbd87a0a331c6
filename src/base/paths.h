/* Paths of files: names, suffixes and formats, lists of reports. */

#pragma once

#include "base/compiler.h"
#include "base/system.h"

/* What a file has: a format that zt_write can write, too, or one that only a path chooses. */
typedef enum zt__file_kind {
    ZT__OF_FORMAT,
    ZT__OF_PERFETTO, /* a trace in Perfetto's own format */
    ZT__OF_PACK      /* packed statistics */
} zt__file_kind;

/* A suffix of reports, and what it stands for. */
typedef struct zt__suffix {
    const char *text;
    zt_format format; /* of packed statistics: none */
    int shows_timeline;
    zt__file_kind kind;
} zt__suffix;

/* A path of a list. A path that is cut to fit is longer than any system accepts, and cannot be opened. */
typedef struct zt__file_path {
    char text[5120];
    int is_of_process; /* it has the process ID, or nothing for a variable that is not set */
} zt__file_path;

/* Returns what follows the last separator of a path. */
ZT__PRIVATE const char *zt__file_name(const char *path);

/* Returns the suffix of a report that a path ends with, or NULL. */
ZT__PRIVATE const zt__suffix *zt__find_suffix(const char *path);

/* Finds the format that the suffix of a path stands for. Returns 0 if it stands for none. Without a
   suffix, or with a number as suffix, the format is a table. */
ZT__PRIVATE int zt__find_format(const char *path, zt_format *format);

/* Returns the standard stream that a path stands for, or NULL. A stream is not opened by such a path, because
   it may be redirected to a file, which must not be replaced. */
ZT__PRIVATE FILE *zt__find_standard_stream(const char *path);

/* Returns a path with %p and %q{NAME} replaced: by the process ID, and by a variable of the
   environment. */
ZT__PRIVATE zt__file_path zt__expand_path(const char *name, size_t length);

/* Gets the next path of a list. "table" is a table on standard output. Returns 0 at the end. */
ZT__PRIVATE int zt__next_path(const char **list, zt__file_path *path);

/* Returns whether a report of this path is a file: no pipe, terminal or other device. */
ZT__PRIVATE int zt__is_file(const char *path);

/* Makes a path that of the n-th report of its kind: run.csv, run.2.csv, ... Pipes and devices get no
   number. */
ZT__PRIVATE void zt__number_path(zt__file_path *path, uint32_t n);
