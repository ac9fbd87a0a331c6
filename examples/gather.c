/* Joins what the ranks of a program have measured, each in a process of its own: a row a path, with the rank that the
   others wait for. MPI is not needed, because each rank has written its statistics to a file:

       ZT_AUTO=run.%q{OMPI_COMM_WORLD_RANK}.zt mpirun -n 8 ./program
       gather run.*.zt run.html        or run.csv, run.json, or - for a table

   Files that cannot be used are named, and the rest is joined. Exit status 0: all were used; 2: some were; 1: none was,
   or the report could not be written. */
#define ZETOOLS_IMPLEMENTATION
#include "zetools.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TABLE_ROWS = 30, PAGE_ROWS = 200, ALL_USED = 0, NONE_USED = 1, SOME_USED = 2 };

/* No row, and no time. */
#define NO_ROW SIZE_MAX
#define NO_TIME (-1.0)

/* Longer than any run, in nanoseconds: a time from here on is forged, and sums of times are finite. */
#define MOST_NS 1e18

typedef struct rank {
    const char *file;
    size_t place;    /* on the command line */
    char number[32]; /* such as "3", or "3.2" of the second device of that rank */
    char why[1024];  /* it is not used; "": it is */
} rank;

/* A path that a rank has: a region or phase inside certain others. */
typedef struct row {
    char *path;       /* such as "step;solve" */
    const char *name; /* the last one of it */
    size_t outer;     /* the row of the path before it, or NO_ROW */
    int is_phase;
    uint64_t samples; /* on all ranks */
    double *times;    /* GPU time of all samples on each rank, in nanoseconds, or NO_TIME */
    size_t rank_count;
    double mean, cost, imbalance; /* over the ranks that have it */
    size_t slowest, fastest;      /* ranks */
} row;

/* The bytes of a file. One buffer serves all files, because allocating it anew costs more than reading. */
typedef struct buffer {
    char *bytes;
    size_t size, room;
} buffer;

typedef struct gathering {
    rank *ranks; /* those that are used, in the order of their numbers */
    rank *unused;
    size_t file_count, rank_count, unused_count;
    buffer file;
    row *rows;
    size_t row_count, row_room;
    size_t *slots; /* rows by the hash of outer row, kind and name; NO_ROW: empty. At most half are in use */
    size_t slot_count;
} gathering;

static void *allocate(void *before, size_t count, size_t size) {
    void *memory = realloc(before, (count ? count : 1) * size);
    if (!memory) {
        fprintf(stderr, "gather: no memory\n");
        exit(NONE_USED);
    }
    return memory;
}

/* ---- rows ------------------------------------------------------------------------------------------------ */

static size_t hash_of(size_t outer, int is_phase, const char *name) {
    uint64_t hash = UINT64_C(0xcbf29ce484222325) ^ outer ^ (uint64_t)is_phase << 63;
    for (; *name; name++)
        hash = (hash ^ (unsigned char)*name) * UINT64_C(0x100000001b3);
    return (size_t)(hash ^ hash >> 32);
}

/* Returns the slot of a row, or the empty one where it belongs. */
static size_t *find_slot(const gathering *g, size_t outer, int is_phase, const char *name) {
    size_t slot = hash_of(outer, is_phase, name) & (g->slot_count - 1);
    for (;; slot = (slot + 1) & (g->slot_count - 1)) {
        const row *found = &g->rows[g->slots[slot] == NO_ROW ? 0 : g->slots[slot]];
        if (g->slots[slot] == NO_ROW ||
            (found->outer == outer && found->is_phase == is_phase && strcmp(found->name, name) == 0))
            return &g->slots[slot];
    }
}

static void make_room_for_rows(gathering *g) {
    if (g->row_count < g->row_room)
        return;
    g->row_room = g->row_room ? 2 * g->row_room : 1024;
    g->slot_count = 2 * g->row_room;
    g->rows = (row *)allocate(g->rows, g->row_room, sizeof *g->rows);
    g->slots = (size_t *)allocate(g->slots, g->slot_count, sizeof *g->slots);
    for (size_t i = 0; i < g->slot_count; i++)
        g->slots[i] = NO_ROW;
    for (size_t i = 0; i < g->row_count; i++)
        *find_slot(g, g->rows[i].outer, g->rows[i].is_phase, g->rows[i].name) = i;
}

static size_t add_row(gathering *g, size_t outer, int is_phase, const char *name) {
    const char *before = outer == NO_ROW ? "" : g->rows[outer].path;
    size_t length = strlen(before) + (outer != NO_ROW);
    row *added = &g->rows[g->row_count];

    memset(added, 0, sizeof *added);
    added->path = (char *)allocate(NULL, length + strlen(name) + 1, 1);
    sprintf(added->path, "%s%s%s", before, outer == NO_ROW ? "" : ";", name);
    added->name = added->path + length;
    added->outer = outer;
    added->is_phase = is_phase;
    added->times = (double *)allocate(NULL, g->file_count, sizeof *added->times);
    for (size_t i = 0; i < g->file_count; i++)
        added->times[i] = NO_TIME;
    return g->row_count++;
}

static size_t row_of(gathering *g, size_t outer, int is_phase, const char *name) {
    size_t *slot;

    make_room_for_rows(g);
    slot = find_slot(g, outer, is_phase, name);
    if (*slot == NO_ROW)
        *slot = add_row(g, outer, is_phase, name);
    return *slot;
}

/* ---- files of ranks -------------------------------------------------------------------------------------- */

/* The number at the end of a file's name, before its suffix: 3 of "run.3.zt". Else the place of the file. */
static void find_number(rank *r) {
    const char *slash = strrchr(r->file, '/'), *name = slash ? slash + 1 : r->file;
    const char *dot = strrchr(name, '.'), *end = dot ? dot : name + strlen(name), *begin = end;

    while (begin > name && (isdigit((unsigned char)begin[-1]) || begin[-1] == '.'))
        begin--;
    begin += strspn(begin, ".");
    if (begin < end)
        snprintf(r->number, sizeof r->number, "%.*s", (int)(end - begin), begin);
    else
        snprintf(r->number, sizeof r->number, "%lu", (unsigned long)r->place);
}

static int by_number(const void *a, const void *b) {
    const rank *left = (const rank *)a, *right = (const rank *)b;
    char *left_rest, *right_rest;
    unsigned long l = strtoul(left->number, &left_rest, 10), r = strtoul(right->number, &right_rest, 10);

    if (l == r) { /* devices of one rank */
        l = strtoul(left_rest + (*left_rest == '.'), NULL, 10);
        r = strtoul(right_rest + (*right_rest == '.'), NULL, 10);
    }
    if (l == r) {
        l = left->place;
        r = right->place;
    }
    return (l > r) - (l < r);
}

/* Reads a file into the buffer. Returns 0 if it cannot be read; errno is the reason. */
static int read_file(buffer *read, const char *path) {
    FILE *file = fopen(path, "rb");
    size_t count = 1;
    int reason;

    if (!file)
        return 0;
    for (read->size = 0; count > 0; read->size += count) {
        if (read->size == read->room) {
            read->room = read->room ? 2 * read->room : 1 << 16;
            read->bytes = (char *)allocate(read->bytes, read->room, 1);
        }
        count = fread(read->bytes + read->size, 1, read->room - read->size, file);
    }
    reason = ferror(file) ? errno : 0;
    fclose(file);
    errno = reason;
    return reason == 0;
}

/* Returns NULL if the file cannot be used; r->why is the reason. */
static zt_profiler *unpack_file(buffer *read, rank *r) {
    zt_profiler *profiler = NULL;

    if (!read_file(read, r->file))
        snprintf(r->why, sizeof r->why, "%s", strerror(errno));
    else if (zt_unpack(read->bytes, read->size, NULL, &profiler) != ZE_RESULT_SUCCESS)
        snprintf(r->why, sizeof r->why, "%s", zt_last_error(NULL));
    return profiler;
}

/* Adds all paths of the rank that has this place among those that are used. */
static void add_paths(gathering *g, const zt_profiler *profiler, size_t place) {
    uint32_t count = zt_get_info(profiler).path_count;
    size_t *rows =
        (size_t *)allocate(NULL, count, sizeof *rows); /* of the paths so far; outer ones come first */

    for (uint32_t i = 0; i < count; i++) {
        zt_region_info info;
        row *added;
        rows[i] = NO_ROW;
        if (zt_get_region(profiler, ZT_PATH(i), &info) != ZE_RESULT_SUCCESS)
            continue;
        rows[i] = row_of(g, info.parent == UINT32_MAX ? NO_ROW : rows[info.parent ^ ZT_PATH(0)],
                         info.is_phase, info.name);
        added = &g->rows[rows[i]];
        if (info.count > 0 && info.total_ns >= 0 && info.total_ns < MOST_NS) {
            added->samples += info.count;
            added->times[place] = info.total_ns;
        }
    }
    free(rows);
}

static void add_file(gathering *g, rank *r) {
    zt_profiler *profiler = unpack_file(&g->file, r);

    if (profiler) {
        add_paths(g, profiler, g->rank_count);
        g->ranks[g->rank_count++] = *r;
        zt_close(profiler);
    } else {
        fprintf(stderr, "gather: %s is not used: %s\n", r->file, r->why);
        g->unused[g->unused_count++] = *r;
    }
}

/* ---- figures --------------------------------------------------------------------------------------------- */

static void compare_ranks(row *r, size_t rank_count) {
    double sum = 0;

    for (size_t i = 0; i < rank_count; i++) {
        if (r->times[i] == NO_TIME)
            continue;
        if (r->rank_count == 0 || r->times[i] > r->times[r->slowest])
            r->slowest = i;
        if (r->rank_count == 0 || r->times[i] < r->times[r->fastest])
            r->fastest = i;
        sum += r->times[i];
        r->rank_count++;
    }
    if (r->rank_count == 0)
        return;
    r->mean = sum / (double)r->rank_count;
    r->cost = r->times[r->slowest] - r->mean;
    r->imbalance = r->times[r->slowest] > 0 ? r->cost / r->times[r->slowest] : 0;
}

static int by_cost(const void *a, const void *b) {
    const row *left = (const row *)a, *right = (const row *)b;

    if (left->cost != right->cost)
        return left->cost < right->cost ? 1 : -1;
    return strcmp(left->path, right->path);
}

/* Rows without a time on any rank go. After this, row.outer and the slots are void. */
static void complete_rows(gathering *g) {
    size_t kept = 0;

    for (size_t i = 0; i < g->row_count; i++) {
        compare_ranks(&g->rows[i], g->rank_count);
        if (g->rows[i].rank_count > 0) {
            g->rows[kept++] = g->rows[i];
        } else {
            free(g->rows[i].path);
            free(g->rows[i].times);
        }
    }
    g->row_count = kept;
    if (kept > 0)
        qsort(g->rows, kept, sizeof *g->rows, by_cost);
}

/* ---- texts ----------------------------------------------------------------------------------------------- */

typedef enum format { TABLE, CSV, JSON, PAGE, NO_FORMAT } format;

/* Returns how many bytes the character has that a text begins with; 0: it is not UTF-8. */
static size_t length_of_character(const char *text) {
    const unsigned char *t = (const unsigned char *)text;
    size_t length = 1 + (size_t)(t[0] >= 0xC2) + (size_t)(t[0] >= 0xE0) + (size_t)(t[0] >= 0xF0);

    if ((t[0] >= 0x80 && t[0] < 0xC2) || t[0] > 0xF4)
        return 0;
    for (size_t i = 1; i < length; i++)
        if ((t[i] & 0xC0) != 0x80)
            return 0;
    if ((t[0] == 0xE0 && t[1] < 0xA0) || (t[0] == 0xED && t[1] > 0x9F) || (t[0] == 0xF0 && t[1] < 0x90) ||
        (t[0] == 0xF4 && t[1] > 0x8F)) /* written longer than needed, or no character */
        return 0;
    return length;
}

/* Writes a text of a file, which may have any bytes, so that it ends nothing in the report. */
static void put_text(FILE *out, format as, const char *text) {
    while (*text) {
        size_t length = length_of_character(text);
        int c = (unsigned char)*text;
        if (length == 0 || c == 127 || (c < ' ' && as != JSON))
            fputc('?', out);
        else if (as == JSON && (c < ' ' || c == '"' || c == '\\'))
            fprintf(out, "\\u%04x", (unsigned)c);
        else if (as == PAGE && strchr("<>&\"'", c))
            fprintf(out, "&#%d;", c);
        else if (as == CSV && c == '"')
            fputs("\"\"", out);
        else
            fwrite(text, 1, length, out);
        text += length ? length : 1;
    }
}

static void put_quoted(FILE *out, format as, const char *text) {
    fputc('"', out);
    put_text(out, as, text);
    fputc('"', out);
}

/* ---- reports --------------------------------------------------------------------------------------------- */

static const char *const explanation =
    "Times are the GPU time of all samples of a path on a rank.\n"
    "Cost: by how much the slowest rank is above the mean of the ranks that have the path.\n"
    "Imbalance: the cost, divided by the time of the slowest rank.\n"
    "The time of a path that is inside another counts in both.\n";

static const char *kind_of(const row *r) {
    return r->is_phase ? "phase" : "region";
}

static void write_table(FILE *out, const gathering *g) {
    size_t shown = g->row_count < TABLE_ROWS ? g->row_count : TABLE_ROWS;

    fprintf(out, "Ranks: %lu\n\n%12s %9s %12s %12s %6s %12s %6s %6s %10s  %s\n", (unsigned long)g->rank_count,
            "cost [ms]", "imbalance", "mean [ms]", "slowest [ms]", "rank", "fastest [ms]", "rank", "ranks",
            "samples", "path");
    for (size_t i = 0; i < shown; i++) {
        const row *r = &g->rows[i];
        fprintf(out, "%12.3f %8.1f%% %12.3f %12.3f %6s %12.3f %6s %6lu %10llu  ", r->cost / 1e6,
                r->imbalance * 100, r->mean / 1e6, r->times[r->slowest] / 1e6, g->ranks[r->slowest].number,
                r->times[r->fastest] / 1e6, g->ranks[r->fastest].number, (unsigned long)r->rank_count,
                (unsigned long long)r->samples);
        put_text(out, TABLE, r->path);
        fputs(r->is_phase ? " (phase)\n" : "\n", out);
    }
    if (shown < g->row_count)
        fprintf(out, "Shown: %lu of %lu rows. A report with the suffix .csv has all.\n", (unsigned long)shown,
                (unsigned long)g->row_count);
    fprintf(out, "\n%s", explanation);
    for (size_t i = 0; i < g->unused_count; i++) {
        put_text(out, TABLE, g->unused[i].file);
        fputs(" is not used: ", out);
        put_text(out, TABLE, g->unused[i].why);
        fputc('\n', out);
    }
}

static void write_csv(FILE *out, const gathering *g) {
    fputs("kind,path,ranks,samples,mean_ns,fastest_ns,fastest_rank,slowest_ns,slowest_rank,imbalance,cost_ns,"
          "reason\n",
          out);
    for (size_t i = 0; i < g->row_count; i++) {
        const row *r = &g->rows[i];
        fprintf(out, "%s,", kind_of(r));
        put_quoted(out, CSV, r->path);
        fprintf(out, ",%lu,%llu,%.3f,%.3f,%s,%.3f,%s,%.6f,%.3f,\n", (unsigned long)r->rank_count,
                (unsigned long long)r->samples, r->mean, r->times[r->fastest], g->ranks[r->fastest].number,
                r->times[r->slowest], g->ranks[r->slowest].number, r->imbalance, r->cost);
    }
    for (size_t i = 0; i < g->unused_count; i++) {
        fputs("file,", out);
        put_quoted(out, CSV, g->unused[i].file);
        fputs(",,,,,,,,,,", out);
        put_quoted(out, CSV, g->unused[i].why);
        fputc('\n', out);
    }
}

static void write_json(FILE *out, const gathering *g) {
    fputs("{\"ranks\":[", out);
    for (size_t i = 0; i < g->rank_count; i++)
        fprintf(out, "%s\"%s\"", i ? "," : "", g->ranks[i].number);
    fputs("],\n\"paths\":[", out);
    for (size_t i = 0; i < g->row_count; i++) {
        const row *r = &g->rows[i];
        fprintf(out, "%s\n{\"kind\":\"%s\",\"path\":", i ? "," : "", kind_of(r));
        put_quoted(out, JSON, r->path);
        fprintf(
            out,
            ",\"ranks\":%lu,\"samples\":%llu,\"mean_ns\":%.3f,\"fastest_ns\":%.3f,\"fastest_rank\":\"%s\","
            "\"slowest_ns\":%.3f,\"slowest_rank\":\"%s\",\"imbalance\":%.6f,\"cost_ns\":%.3f,\"times_ns\":[",
            (unsigned long)r->rank_count, (unsigned long long)r->samples, r->mean, r->times[r->fastest],
            g->ranks[r->fastest].number, r->times[r->slowest], g->ranks[r->slowest].number, r->imbalance,
            r->cost);
        for (size_t k = 0; k < g->rank_count; k++) { /* in the order of "ranks" */
            fputs(k ? "," : "", out);
            if (r->times[k] == NO_TIME)
                fputs("null", out);
            else
                fprintf(out, "%.3f", r->times[k]);
        }
        fputs("]}", out);
    }
    fputs("],\n\"unused\":[", out);
    for (size_t i = 0; i < g->unused_count; i++) {
        fprintf(out, "%s\n{\"file\":", i ? "," : "");
        put_quoted(out, JSON, g->unused[i].file);
        fputs(",\"reason\":", out);
        put_quoted(out, JSON, g->unused[i].why);
        fputc('}', out);
    }
    fputs("]}\n", out);
}

/* A bar a rank, as high as its time; that of the slowest is marked. */
static void write_picture(FILE *out, const gathering *g, const row *r) {
    double slowest = r->times[r->slowest];

    fprintf(out,
            "<svg role=\"img\" viewBox=\"0 0 %lu 1\" preserveAspectRatio=\"none\" aria-label=\"GPU time by "
            "rank, from "
            "%.3f ms on rank %s to %.3f ms on rank %s\">",
            (unsigned long)g->rank_count, r->times[r->fastest] / 1e6, g->ranks[r->fastest].number,
            slowest / 1e6, g->ranks[r->slowest].number);
    for (int marked = 0; marked < 2; marked++) {
        fprintf(out, "<path%s d=\"", marked ? " class=\"slowest\"" : "");
        for (size_t i = 0; i < g->rank_count; i++)
            if (r->times[i] != NO_TIME && (i == r->slowest) == marked)
                fprintf(out, "M%lu 1v-%.2fh.8V1z", (unsigned long)i, slowest > 0 ? r->times[i] / slowest : 0);
        fputs("\"/>", out);
    }
    fputs("</svg>", out);
}

static void write_page(FILE *out, const gathering *g) {
    size_t shown = g->row_count < PAGE_ROWS ? g->row_count : PAGE_ROWS;

    fprintf(out,
            "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>%lu "
            "ranks</title>\n<style>\n"
            ":root { color-scheme: light dark; }\n"
            "body { font: 14px/1.4 system-ui, sans-serif; margin: 2em; }\n"
            "p { max-width: 60em; }\n"
            "table { border-collapse: collapse; }\n"
            "th, td { padding: 2px 10px; text-align: right; border-bottom: 1px solid #8884; }\n"
            "th:first-child, td:first-child { text-align: left; overflow-wrap: anywhere; }\n"
            "td { font-variant-numeric: tabular-nums; }\n"
            "svg { width: 160px; height: 20px; fill: #888; }\n"
            ".slowest { fill: #d55e00; }\n"
            "</style>\n</head>\n<body>\n<h1>Ranks: %lu</h1>\n<p>%s</p>\n<table>\n<tr>"
            "<th scope=\"col\">Path</th><th scope=\"col\">Ranks</th><th scope=\"col\">Samples</th>"
            "<th scope=\"col\">Cost, ms</th><th scope=\"col\">Imbalance</th><th scope=\"col\">Mean, ms</th>"
            "<th scope=\"col\">Slowest, ms</th><th scope=\"col\">Rank</th><th scope=\"col\">Fastest, ms</th>"
            "<th scope=\"col\">Rank</th><th scope=\"col\">GPU time by rank</th></tr>\n",
            (unsigned long)g->rank_count, (unsigned long)g->rank_count, explanation);
    for (size_t i = 0; i < shown; i++) {
        const row *r = &g->rows[i];
        fputs("<tr><td>", out);
        put_text(out, PAGE, r->path);
        fprintf(out,
                "%s</td><td>%lu</td><td>%llu</td><td>%.3f</td><td>%.1f%%</td><td>%.3f</td><td>%.3f</"
                "td><td>%s</td>"
                "<td>%.3f</td><td>%s</td><td>",
                r->is_phase ? " (phase)" : "", (unsigned long)r->rank_count, (unsigned long long)r->samples,
                r->cost / 1e6, r->imbalance * 100, r->mean / 1e6, r->times[r->slowest] / 1e6,
                g->ranks[r->slowest].number, r->times[r->fastest] / 1e6, g->ranks[r->fastest].number);
        write_picture(out, g, r);
        fputs("</td></tr>\n", out);
    }
    fputs("</table>\n", out);
    if (shown < g->row_count)
        fprintf(out, "<p>Shown: %lu of %lu rows. A report with the suffix .csv has all.</p>\n",
                (unsigned long)shown, (unsigned long)g->row_count);
    for (size_t i = 0; i < g->unused_count; i++) {
        fputs("<p><strong>", out);
        put_text(out, PAGE, g->unused[i].file);
        fputs("</strong> is not used: ", out);
        put_text(out, PAGE, g->unused[i].why);
        fputs("</p>\n", out);
    }
    fputs("</body>\n</html>\n", out);
}

static format format_of(const char *path) {
    static const char *const suffixes[] = {"-", ".csv", ".json", ".html"}; /* by format */
    size_t length = strlen(path);

    for (int i = TABLE; i < NO_FORMAT; i++) {
        size_t size = strlen(suffixes[i]);
        if (length >= size && strcmp(path + length - size, suffixes[i]) == 0 &&
            (i != TABLE || length == size))
            return (format)i;
    }
    return NO_FORMAT;
}

/* Returns whether the report could be written. */
static int write_report(const gathering *g, const char *path) {
    static void (*const writers[])(FILE *, const gathering *) = {write_table, write_csv, write_json,
                                                                 write_page};
    format as = format_of(path);
    FILE *out = as == TABLE ? stdout : fopen(path, "wb");
    int has_failed = !out;

    if (out) {
        writers[as](out, g);
        has_failed = ferror(out);
        has_failed |= (out == stdout ? fflush(out) : fclose(out)) != 0;
    }
    if (has_failed)
        fprintf(stderr, "gather: cannot write %s: %s\n", path, strerror(errno));
    return !has_failed;
}

int main(int argc, char **argv) {
    gathering g;
    rank *files;
    int is_written;

    if (argc < 3 || format_of(argv[argc - 1]) == NO_FORMAT) {
        fprintf(stderr,
                "usage: gather run.*.zt REPORT, which is run.html, run.csv, run.json, or - for a table\n");
        return NONE_USED;
    }
    memset(&g, 0, sizeof g);
    g.file_count = (size_t)argc - 2;
    files = (rank *)allocate(NULL, g.file_count, sizeof *files);
    g.ranks = (rank *)allocate(NULL, g.file_count, sizeof *g.ranks);
    g.unused = (rank *)allocate(NULL, g.file_count, sizeof *g.unused);
    memset(files, 0, g.file_count * sizeof *files);
    for (size_t i = 0; i < g.file_count; i++) {
        files[i].file = argv[i + 1];
        files[i].place = i;
        find_number(&files[i]);
    }
    qsort(files, g.file_count, sizeof *files, by_number);
    for (size_t i = 0; i < g.file_count; i++)
        add_file(&g, &files[i]);
    complete_rows(&g);
    is_written = write_report(&g, argv[argc - 1]);
    for (size_t i = 0; i < g.row_count; i++) {
        free(g.rows[i].path);
        free(g.rows[i].times);
    }
    free(g.file.bytes), free(g.rows), free(g.slots), free(g.ranks), free(g.unused), free(files);
    if (!is_written || g.rank_count == 0)
        return NONE_USED;
    return g.unused_count ? SOME_USED : ALL_USED;
}
