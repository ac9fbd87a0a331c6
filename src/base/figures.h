/* Tables of figures: each column has one unit, prefix and number of decimals. base/tables.h writes them. */

#pragma once

#include "base/compiler.h"
#include "base/system.h"
#include "base/writer.h"

/* A column of figures. All of them have the same unit and the same number of decimals. */
typedef struct zt__figure_column {
    uint32_t figure;          /* index of the figure in a row */
    const char *const *texts; /* not NULL: the figures are indices of these */
    double scale;             /* figures are divided by it */
    int decimals;
    int rank;     /* 0: always shown; columns with a higher rank are left out first */
    size_t width; /* in columns of a terminal */
    char heading[64];
} zt__figure_column;

typedef struct zt__figure_row {
    const char *name;
    char *demangled;       /* `name`, if the row owns it; else NULL */
    size_t indent;         /* blanks before it */
    const double *figures; /* NaN: not measured */
    uint32_t index;        /* of what the row describes */
} zt__figure_row;

typedef struct zt__figure_table {
    const char *heading; /* of the names */
    zt__figure_row *rows;
    zt__figure_column *columns;
    uint32_t row_count, column_count;
    size_t longest_name; /* longer names are shortened to this width */
    uint32_t time_unit;  /* of all times: an index of zt__time_units */
    int is_precise;      /* figures have four significant digits; 0: three, if that is enough for all */
} zt__figure_table;

/* Appends a time to a sentence, in a unit that suits it: "12.3 ms", "2002 s". */
ZT__PRIVATE void zt__append_time(char *text, size_t room, double ns);

/* Chooses the time unit of a table: the largest in which the smallest figure `smallest_of` is at least 0.1,
   or 1 in a precise table; or a larger one, if the largest figure `largest_of` would have eight digits or
   more. Both are indices of a figure in a row. */
ZT__PRIVATE void zt__choose_time_unit(zt__figure_table *table, uint32_t smallest_of, uint32_t largest_of);

/* Adds a column. Times are shown in the time unit of the table. Other figures that add up get a prefix that
   suits the largest: "bytes" becomes "MB", and "/s" becomes "M/s". Figures that do not add up keep their
   units. A column without figures is left out, unless its rank is 0. Returns 0 if the heading is hard to
   read: shortened, or broken inside of a word. */
ZT__PRIVATE int zt__add_figures(zt__figure_table *table, uint32_t figure, const char *name, const char *units,
                                int adds_up, int rank);

/* Adds a column of rank 0. Its figures are indices of `texts`. */
ZT__PRIVATE void zt__add_texts(zt__figure_table *table, uint32_t figure, const char *name,
                               const char *const *texts);

/* Leaves out columns that do not fit into `room`, those with the highest rank first. Columns of rank 0 stay.
   The room that is left goes to the names. */
ZT__PRIVATE void zt__fit_columns(zt__figure_table *table, size_t room);

/* Writes a table. Columns that do not fit into `room` follow in another one below. */
ZT__PRIVATE void zt__write_figures(zt__writer *writer, const zt__figure_table *table, size_t room);
