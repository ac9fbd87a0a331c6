/* Tables of figures: each column has one unit, prefix and number of decimals. base/tables.h writes them. */

#include "base/figures.h"

#include "base/compiler.h"
#include "base/numbers.h"
#include "base/platform.h"
#include "base/tables.h"
#include "base/text.h"
#include "base/writer.h"

static const struct {
    const char *name;
    double ns;
} zt__time_units[] = {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}};

ZT__PRIVATE void zt__append_time(char *text, size_t room, double ns) {
    uint32_t unit = 0;
    while (unit + 1 < ZT__COUNT_OF(zt__time_units) &&
           ns >= zt__time_units[unit + 1].ns * 0.9995) { /* else 1000 */
        unit++;
    }
    zt__append_number(text, room, ns / zt__time_units[unit].ns);
    zt__append(text, room, " %s", zt__time_units[unit].name);
}

ZT__PRIVATE void zt__choose_time_unit(zt__figure_table *table, uint32_t smallest_of, uint32_t largest_of) {
    double smallest = zt__nan(), largest = 0, least = table->is_precise ? 1 : 0.1;
    uint32_t row;
    for (row = 0; row < table->row_count; row++) {
        double small = table->rows[row].figures[smallest_of], large = table->rows[row].figures[largest_of];
        if (zt__is_positive(small) && (zt__is_nan(smallest) || small < smallest)) {
            smallest = small;
        }
        if (zt__is_positive(large) && large > largest) {
            largest = large;
        }
    }
    table->time_unit = 0;
    while (!zt__is_nan(smallest) && table->time_unit + 1 < ZT__COUNT_OF(zt__time_units) &&
           (smallest >= zt__time_units[table->time_unit + 1].ns * least ||
            largest >= zt__time_units[table->time_unit].ns * 1e7)) {
        table->time_unit++;
    }
}

/* Returns whether a word of a metric's name begins at a byte: SECOND_WORD, SecondWord. */
static int zt__begins_word(const char *text, size_t at) {
    char before = text[at - 1], after = text[at];
    return before == '_' || (before >= 'a' && before <= 'z' && after >= 'A' && after <= 'Z');
}

/* Finds where to break a heading so that it is as narrow as possible: at a blank, and with `in_names` also
   between the words of a name. Returns where the second line begins, or 0 if there is no such place. Stores
   the width of the wider line. */
static size_t zt__find_break(const char *text, int in_names, size_t *narrowest) {
    size_t i, cut = 0, length = strlen(text);
    *narrowest = length;
    for (i = 1; i < length; i++) {
        size_t blank = text[i - 1] == ' ' ? 1 : 0;
        size_t width = i - blank > length - i ? i - blank : length - i;
        if ((blank || (in_names && zt__begins_word(text, i))) && width < *narrowest) {
            *narrowest = width;
            cut = i;
        }
    }
    return cut;
}

/* Returns whether a byte is not the first of a character of UTF-8. */
static int zt__continues_character(char next) {
    return ((unsigned char)next & 0xC0) == 0x80;
}

/* Makes a heading of a name and its units, in at most two lines. What is too long for that is shortened in
   the middle. Returns 0 if the heading is hard to read: shortened, or broken inside of a word. */
static int zt__make_heading(char heading[64], const char *name, const char *units) {
    enum { SHORTEST = 12, LONGEST = 18 };
    char text[512];
    size_t length, narrowest, width, cut, i;
    int is_shortened = 0;
    snprintf(text, sizeof text, "%.400s%s%.40s", name, *units ? " " : "", units);
    length = strlen(text);
    cut = zt__find_break(text, 0, &narrowest);
    if (narrowest > SHORTEST) {
        cut = zt__find_break(text, 1, &narrowest);
    }
    if (cut == 0 && length <= LONGEST) {
        strcpy(heading, text);
        return 1;
    }
    width = cut - (cut > 0 && text[cut - 1] == ' ');
    if (narrowest > LONGEST) {
        /* No break makes both lines short enough. The second line is the end of the text, from a word on if
           the middle is left out. */
        is_shortened = length > (size_t)2 * LONGEST;
        cut = length - LONGEST;
        while (zt__continues_character(text[cut])) {
            cut++;
        }
        for (i = cut; is_shortened && i < length; i++) {
            if (zt__begins_word(text, i)) {
                cut = i;
                break;
            }
        }
        width = is_shortened ? LONGEST - 3 : cut;
        while (width > 0 && zt__continues_character(text[width])) {
            width--;
        }
    }
    memcpy(heading, text, width);
    strcpy(heading + width, is_shortened ? "...\n" : "\n");
    strcat(heading, text + cut);
    return narrowest <= LONGEST;
}

/* Shows a figure with the decimals of its column. A positive figure that would be shown as 0 is "<0.1". */
static void zt__show_figure(zt__cell *cell, const zt__figure_column *column, double figure) {
    static const double steps[] = {1, 0.1, 0.01, 0.001};
    double value = figure / column->scale, step = steps[column->decimals];
    cell->text = cell->number;
    if (zt__is_nan(figure)) {
        strcpy(cell->number, "-");
    } else if (column->texts) {
        cell->text = column->texts[(uint32_t)figure];
    } else if (fabs(value) >= 1e12) {
        snprintf(cell->number, sizeof cell->number, "%.2e", value);
    } else if (value > 0 && value < step / 2) {
        snprintf(cell->number, sizeof cell->number, "<%.*f", column->decimals, step);
    } else {
        snprintf(cell->number, sizeof cell->number, "%.*f", column->decimals, value);
    }
}

/* Stores the decimals of a column, and its width. */
static void zt__measure_column(const zt__figure_table *table, zt__figure_column *column, int is_share) {
    double smallest = zt__nan(), largest = 0, power;
    double digits_from = table->is_precise ? 999.5 : 99.95; /* from here on, no decimals are needed */
    const char *second_line = strchr(column->heading, '\n');
    size_t width = zt__shown_width(column->heading);
    int are_integers = 1;
    zt__cell cell;
    uint32_t row;
    for (row = 0; row < table->row_count; row++) {
        double value = table->rows[row].figures[column->figure] / column->scale;
        if (zt__is_nan(value)) {
            continue;
        }
        are_integers &= fabs(value) < 1e15 && (double)(int64_t)value == value;
        value = fabs(value);
        if (value > 0 && (zt__is_nan(smallest) || value < smallest)) {
            smallest = value;
        }
        largest = value > largest ? value : largest;
    }
    /* Three or four significant digits of the smallest figure, as far as three decimals have them, and not
       more than six of the largest. Shares have one decimal. */
    column->decimals = 0;
    if (!are_integers && is_share) {
        column->decimals = 1;
    } else if (!are_integers) {
        for (power = 1; column->decimals < 3 && smallest * power < digits_from && largest * power < 99999.5;
             power *= 10) {
            column->decimals++;
        }
    }
    column->width = width;
    if (second_line) {
        column->width = zt__shown_width(second_line + 1);
        width -= column->width + 1; /* the line feed is shown as one column */
        column->width = width > column->width ? width : column->width;
    }
    for (row = 0; row < table->row_count; row++) {
        zt__show_figure(&cell, column, table->rows[row].figures[column->figure]);
        width = zt__shown_width(cell.text);
        column->width = width > column->width ? width : column->width;
    }
}

ZT__PRIVATE int zt__add_figures(zt__figure_table *table, uint32_t figure, const char *name, const char *units,
                                int adds_up, int rank) {
    static const char *const prefixes[] = {"", "k", "M", "G", "T"};
    zt__figure_column *column = &table->columns[table->column_count++];
    int is_share = strcmp(units, "percent") == 0 || units[0] == '%', is_readable;
    size_t length = strlen(units);
    double largest = 0;
    int has_figures = 0;
    uint32_t i, prefix = 0;
    char unit[64];
    memset(column, 0, sizeof *column);
    column->figure = figure;
    column->scale = 1;
    column->rank = rank;
    snprintf(unit, sizeof unit, "%.40s", strcmp(units, "percent") == 0 ? "%" : units);
    if (length > 3 && zt__compare_ignoring_case(&units[length - 3], "Bps") == 0) { /* GBpS */
        snprintf(unit, sizeof unit, "%.*s/s", (int)length - 2 < 40 ? (int)length - 2 : 40, units);
    }
    for (i = 0; i < table->row_count; i++) {
        double value = table->rows[i].figures[figure];
        largest = zt__is_positive(value) && value > largest ? value : largest;
        has_figures |= !zt__is_nan(value);
    }
    if (rank > 0 && !has_figures) {
        table->column_count--;
        return 1;
    }
    for (i = 0; i < ZT__COUNT_OF(zt__time_units); i++) {
        if (strcmp(units, zt__time_units[i].name) == 0) {
            column->scale = zt__time_units[table->time_unit].ns / zt__time_units[i].ns;
            strcpy(unit, zt__time_units[table->time_unit].name);
            adds_up = 0;
        }
    }
    for (; adds_up && *units && prefix + 1 < ZT__COUNT_OF(prefixes) && largest >= column->scale * 1e4;
         prefix++) {
        column->scale *= 1e3;
    }
    if (adds_up && strncmp(units, "bytes", 5) == 0) { /* bytes, or bytes/s */
        snprintf(unit, sizeof unit, "%sB%.40s", prefixes[prefix], units + 5);
    } else if (prefix > 0) {
        snprintf(unit, sizeof unit, "%s%s%.40s", prefixes[prefix], *units == '/' ? "" : " ", units);
    } else if (strcmp(units, "events") == 0) {
        unit[0] = 0; /* a count needs no unit */
    }
    is_readable = zt__make_heading(column->heading, name, unit);
    zt__measure_column(table, column, is_share);
    return is_readable;
}

ZT__PRIVATE void zt__add_texts(zt__figure_table *table, uint32_t figure, const char *name,
                               const char *const *texts) {
    zt__figure_column *column = &table->columns[table->column_count++];
    memset(column, 0, sizeof *column);
    column->figure = figure;
    column->texts = texts;
    column->scale = 1;
    zt__make_heading(column->heading, name, "");
    zt__measure_column(table, column, 0);
}

/* Returns how many blanks are before a name: not more than half of the room for names. */
static size_t zt__indent_of_row(const zt__figure_table *table, uint32_t row) {
    size_t indent = table->rows[row].indent;
    return indent < table->longest_name / 2 ? indent : table->longest_name / 2;
}

static size_t zt__widest_name(const zt__figure_table *table) {
    size_t widest = zt__shown_width(table->heading);
    uint32_t i;
    for (i = 0; i < table->row_count && widest < table->longest_name; i++) {
        size_t width = zt__indent_of_row(table, i) + zt__shown_width(table->rows[i].name);
        widest = width > widest ? width : widest;
    }
    return widest < table->longest_name ? widest : table->longest_name;
}

ZT__PRIVATE void zt__fit_columns(zt__figure_table *table, size_t room) {
    enum { SHORTEST_NAME = 16, HIGHEST_RANK = 3 };
    uint32_t i, kept = 0;
    size_t used;
    int rank;
    table->longest_name = room / 4 > SHORTEST_NAME ? room / 4 : (size_t)SHORTEST_NAME;
    used = zt__widest_name(table);
    for (rank = 0; rank <= HIGHEST_RANK; rank++) {
        for (i = 0; i < table->column_count; i++) {
            size_t width = 2 + table->columns[i].width;
            if (table->columns[i].rank == rank && (rank == 0 || used + width <= room)) {
                table->columns[i].rank = -1; /* stays */
                used += width;
            }
        }
    }
    for (i = 0; i < table->column_count; i++) {
        if (table->columns[i].rank == -1) {
            table->columns[kept++] = table->columns[i];
        }
    }
    table->column_count = kept;
    if (used < room) {
        table->longest_name += room - used;
    }
}

/* The columns of a table of figures that are written beside each other: `user` of zt__fill_figures. */
typedef struct zt__figure_part {
    const zt__figure_table *table;
    uint32_t first, count;
} zt__figure_part;

static void zt__fill_figures(const void *user, uint32_t row, zt__cell *cells) {
    const zt__figure_part *part = (const zt__figure_part *)user;
    uint32_t i;
    cells[0].text = part->table->rows[row].name;
    cells[0].indent = zt__indent_of_row(part->table, row);
    for (i = 0; i < part->count; i++) {
        const zt__figure_column *column = &part->table->columns[part->first + i];
        zt__show_figure(&cells[1 + i], column, part->table->rows[row].figures[column->figure]);
    }
}

ZT__PRIVATE void zt__write_figures(zt__writer *writer, const zt__figure_table *table, size_t room) {
    enum { MOST = 48 };
    zt__table_column columns[1 + MOST];
    zt__cell cells[1 + MOST];
    zt__figure_part part = {table, 0, 0};
    zt__table shown;
    memset(&shown, 0, sizeof shown);
    shown.columns = columns;
    shown.cells = cells;
    shown.row_count = table->row_count;
    shown.fill_row = zt__fill_figures;
    shown.user = &part;
    do {
        size_t used = zt__widest_name(table);
        memset(columns, 0, sizeof columns);
        columns[0].heading = table->heading;
        columns[0].is_text = 1;
        columns[0].longest = table->longest_name;
        for (part.count = 0; part.count < MOST && part.first + part.count < table->column_count;
             part.count++) {
            const zt__figure_column *column = &table->columns[part.first + part.count];
            used += 2 + column->width;
            if (part.count > 0 && used > room) {
                break;
            }
            columns[1 + part.count].heading = column->heading;
        }
        shown.column_count = 1 + part.count;
        zt__write_text(writer, part.first > 0 ? "\n" : "");
        zt__write_table(writer, &shown);
        part.first += part.count;
    } while (part.first < table->column_count);
}
