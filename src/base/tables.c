/* Tables for people: columns, widths, lines. */

#include "base/tables.h"

#include "base/compiler.h"
#include "base/numbers.h"
#include "base/platform.h"
#include "base/text.h"
#include "base/writer.h"

/* Fills the cells with one line of the headings, counted upwards from the last one, which is 0. Returns 0 if
   no heading has so many lines. */
static int zt__fill_heading(const zt__table *table, uint32_t above_last) {
    uint32_t i;
    int found = 0;
    for (i = 0; i < table->column_count; i++) {
        const char *line = table->columns[i].heading, *p;
        zt__cell *cell = &table->cells[i];
        uint32_t feeds = 0;
        for (p = line; *p; p++) {
            feeds += *p == '\n';
        }
        cell->text = cell->number;
        cell->number[0] = 0;
        cell->indent = 0;
        if (above_last <= feeds) {
            for (; feeds > above_last; feeds--) {
                line = strchr(line, '\n') + 1;
            }
            zt__copy_text(cell->number, sizeof cell->number, line, strcspn(line, "\n"));
            found = 1;
        }
    }
    return found;
}

static void zt__fill_cells(const zt__table *table, uint32_t row) {
    uint32_t i;
    for (i = 0; i < table->column_count; i++) {
        table->cells[i].indent = 0;
    }
    table->fill_row(table->user, row, table->cells);
}

static void zt__widen_columns(const zt__table *table) {
    uint32_t i;
    for (i = 0; i < table->column_count; i++) {
        zt__table_column *column = &table->columns[i];
        size_t width = table->cells[i].indent + zt__shown_width(table->cells[i].text);
        if (column->longest && width > column->longest) {
            width = column->longest;
        }
        if (width > column->width) {
            column->width = width;
        }
    }
}

/* Stores the width of each column in the description. Returns how many lines the headings have. */
static uint32_t zt__measure_table(const zt__table *table) {
    uint32_t i, lines = 0;
    for (i = 0; i < table->column_count; i++) {
        table->columns[i].width = 0;
    }
    for (; !table->no_headings && zt__fill_heading(table, lines); lines++) {
        zt__widen_columns(table);
    }
    for (i = 0; i < table->row_count; i++) {
        zt__fill_cells(table, i);
        zt__widen_columns(table);
    }
    return lines;
}

/* Writes the cells as one line, without blanks at its end. */
static void zt__write_cells(zt__writer *writer, const zt__table *table) {
    size_t blanks = table->indent; /* to be written before the next text */
    uint32_t i, written = 0;
    for (i = 0; i < table->column_count; i++) {
        const zt__table_column *column = &table->columns[i];
        const char *text = table->cells[i].text;
        size_t width = zt__shown_width(text), indent = table->cells[i].indent;
        if (column->width == 0) {
            continue;
        }
        blanks += (written++ ? 2 : 0) + indent;
        if (!column->is_text && width < column->width) {
            blanks += column->width - width;
        }
        if (*text) {
            zt__write_repeated(writer, ' ', blanks);
            width = zt__write_shortened(writer, text, column->longest ? column->longest - indent : width);
            blanks = 0;
        }
        if (column->is_text && width + indent < column->width) {
            blanks += column->width - width - indent;
        }
    }
    zt__write_text(writer, "\n");
}

ZT__PRIVATE void zt__write_table(zt__writer *writer, const zt__table *table) {
    uint32_t i, lines = zt__measure_table(table);
    size_t width = 0;
    while (lines > 0) {
        zt__fill_heading(table, --lines);
        zt__write_cells(writer, table);
    }
    if (!table->no_headings) {
        for (i = 0; i < table->column_count; i++) {
            width += table->columns[i].width + (i > 0 ? 2 : 0);
        }
        zt__write_repeated(writer, ' ', table->indent);
        zt__write_repeated(writer, '-', width);
        zt__write_text(writer, "\n");
    }
    for (i = 0; i < table->row_count; i++) {
        zt__fill_cells(table, i);
        zt__write_cells(writer, table);
    }
}

ZT__PRIVATE uint32_t zt__get_most_rows(void) {
    enum { DEFAULT = 30 };
    const char *rows = zt__get_variable("ZT_ROWS");
    uint32_t most = zt__is_uint32(rows) ? (uint32_t)strtoull(rows, NULL, 10) : (uint32_t)DEFAULT;
    return most ? most : UINT32_MAX;
}

ZT__PRIVATE size_t zt__get_room(int to_standard_output) {
    enum { DEFAULT = 80, LEAST = 40 };
    const char *columns = zt__get_variable("COLUMNS");
    int room = DEFAULT, width = to_standard_output ? zt__get_terminal_width() : 0;
    if (width > 0) {
        room = width;
    } else if (to_standard_output && columns && atoi(columns) > 0) {
        room = atoi(columns);
    }
    return room > LEAST ? (size_t)room : (size_t)LEAST;
}
