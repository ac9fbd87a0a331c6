/* Tables for people: columns, widths, lines. */

#pragma once

#include "base/compiler.h"
#include "base/system.h"
#include "base/writer.h"

typedef struct zt__cell {
    const char *text; /* may point to `number` */
    size_t indent;    /* blanks before a text that is aligned to the left; 0 before the row is filled in */
    char number[32];
} zt__cell;

typedef struct zt__table_column {
    const char *heading; /* lines, separated by line feeds; the last lines of all headings are in one row */
    int is_text;         /* aligned to the left; numbers are aligned to the right */
    size_t longest;      /* wider texts are shortened to this width. 0: none is */
    size_t width; /* filled in when the table is written. 0: all texts are empty, and the column is left
                     out */
} zt__table_column;

typedef struct zt__table {
    zt__table_column *columns;
    zt__cell *cells; /* room for one row: a cell for each column */
    uint32_t column_count, row_count;
    /* Fills in the cells of a row. Called twice for each row: the columns are measured first. The texts must
       live until the next call. */
    void (*fill_row)(const void *user, uint32_t row, zt__cell *cells);
    const void *user;
    uint32_t indent; /* blanks before each line */
    int no_headings; /* not 0: no headings, and no line below them */
} zt__table;

/* Writes headings, a line below them, and the rows. */
ZT__PRIVATE void zt__write_table(zt__writer *writer, const zt__table *table);

/* Returns how many columns a line has, at least 40: on standard output, those of the terminal if it is one,
   or COLUMNS of the environment; else 80. */
ZT__PRIVATE size_t zt__get_room(int to_standard_output);

/* Returns how many rows a table has at the most: ZT_ROWS of the environment, or 30. */
ZT__PRIVATE uint32_t zt__get_most_rows(void);
