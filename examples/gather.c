/* Joins what the ranks of a program have measured, each in a process of its own: a row a path, with the rank that the
   others wait for. MPI is not needed, because each rank has written its statistics to a file:

       ZT_AUTO=run.%q{OMPI_COMM_WORLD_RANK}.zt mpirun -n 8 ./program
       gather run.*.zt run.html        or run.csv, run.json, or - for a table

   Files that cannot be used are named, and the rest is joined. Notes name the ranks that have measured something else, have
   lost samples, are of another program or run, or have no file. Exit status 0: all files were used; 2: some were; 1: none
   was, or the report could not be written. */
#define ZETOOLS_IMPLEMENTATION
#include "zetools.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { TABLE_ROWS = 30, PAGE_ROWS = 200, ALL_USED = 0, NONE_USED = 1, SOME_USED = 2 };

#define NO_ROW SIZE_MAX

/* Where a hash begins: FNV-1a. */
#define HASH_BEGIN UINT64_C(0xcbf29ce484222325)

/* Longer than any run, in nanoseconds: a time from here on is forged. */
#define MOST_NS 1e15

/* A text that grows: part of a note, or of what a file tells. */
typedef struct message {
    char *bytes; /* NULL: it is empty */
    size_t size, room;
} message;

/* A file, and what it tells of its rank. */
typedef struct rank {
    const char *file;
    size_t place;          /* on the command line */
    char number[32];       /* of the file: "3" of run.3.zt, or "3.2" of a second one of that rank. "": none */
    const char *name;      /* the number; the file where it has none, or another one has the same */
    char why[1024];        /* it is not used; "": it is */
    int is_idle;           /* nothing was launched */
    message measured;      /* groups of metrics, or times alone */
    uint64_t metrics;      /* a hash of what was measured */
    message program;       /* the name of its file */
    uint64_t begun, ended; /* when it was measured, in seconds since 1970. 0: not known */
    zt_counts counts;
} rank;

typedef enum row_kind { REGION, PHASE, DEVICE } row_kind;

/* A path that a rank has: a region or phase inside certain others; or all that ran on a device. */
typedef struct row {
    row_kind kind;
    char *path;                      /* such as "step;solve" */
    const char *name;                /* the last one of it */
    size_t outer;                    /* the row of the path before it, or NO_ROW */
    uint32_t device;                 /* the first, second ... that a rank has used, from 0 */
    uint64_t samples, lost, dropped; /* on all ranks */
    double *times;                /* GPU time of all samples on each rank, in nanoseconds. 0: it has none */
    char *is_partial;             /* of each rank: samples are lost, or were dropped. NULL: of none */
    size_t rank_count;            /* how many have samples */
    double mean, cost, imbalance; /* over all ranks */
    size_t slowest, fastest;      /* ranks */
} row;

/* The bytes of a file. One buffer serves all files, because allocating it anew costs more than reading. */
typedef struct buffer {
    char *bytes;
    size_t size, room;
} buffer;

typedef struct gathering {
    rank *files; /* in the order of their numbers */
    rank *ranks; /* those that are used */
    rank *unused;
    size_t file_count, rank_count, unused_count;
    buffer file;
    row *rows;
    size_t row_count, row_room;
    size_t *slots; /* rows by the hash of what identifies them; NO_ROW: empty. At most half are in use */
    size_t slot_count;
    size_t *latest; /* the rows of the paths of the last file: the next one mostly has the same */
    size_t latest_count;
    uint32_t device_count; /* of the rank that has most */
    message *notes;
    size_t note_count;
} gathering;

static void *allocate(void *before, size_t count, size_t size) {
    void *memory = realloc(before, (count ? count : 1) * size);
    if (!memory) {
        fprintf(stderr, "gather: no memory\n");
        exit(NONE_USED);
    }
    return memory;
}

/* Adds to a text as printf does. */
static void add(message *to, const char *format, ...) {
    va_list arguments;
    int length;

    va_start(arguments, format);
    length = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    if (to->size + (size_t)length >= to->room) {
        to->room = 2 * (to->size + (size_t)length) + 16;
        to->bytes = (char *)allocate(to->bytes, to->room, 1);
    }
    va_start(arguments, format);
    vsnprintf(to->bytes + to->size, to->room - to->size, format, arguments);
    va_end(arguments);
    to->size += (size_t)length;
}

/* ---- rows ------------------------------------------------------------------------------------------------ */

static uint64_t add_to_hash(uint64_t hash, const char *name) {
    for (; *name; name++)
        hash = (hash ^ (unsigned char)*name) * UINT64_C(0x100000001b3);
    return hash;
}

static int is_row(const row *r, row_kind kind, uint32_t device, size_t outer, const char *name) {
    return r->kind == kind && r->device == device && r->outer == outer && strcmp(r->name, name) == 0;
}

/* Returns the slot of a row, or the empty one where it belongs. */
static size_t *find_slot(const gathering *g, row_kind kind, uint32_t device, size_t outer, const char *name) {
    uint64_t hash = add_to_hash(HASH_BEGIN ^ outer ^ (uint64_t)device << 32 ^ (uint64_t)kind << 62, name);
    size_t slot = (size_t)(hash ^ hash >> 32) & (g->slot_count - 1);

    while (g->slots[slot] != NO_ROW && !is_row(&g->rows[g->slots[slot]], kind, device, outer, name))
        slot = (slot + 1) & (g->slot_count - 1);
    return &g->slots[slot];
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
    for (size_t i = 0; i < g->row_count; i++) {
        const row *r = &g->rows[i];
        *find_slot(g, r->kind, r->device, r->outer, r->name) = i;
    }
}

static size_t add_row(gathering *g, row_kind kind, uint32_t device, size_t outer, const char *name) {
    const char *before = outer == NO_ROW ? "" : g->rows[outer].path;
    size_t length = strlen(before) + (outer != NO_ROW);
    row *added = &g->rows[g->row_count];

    memset(added, 0, sizeof *added);
    added->kind = kind;
    added->path = (char *)allocate(NULL, length + strlen(name) + 1, 1);
    sprintf(added->path, "%s%s%s", before, outer == NO_ROW ? "" : ";", name);
    added->name = added->path + length;
    added->outer = outer;
    added->device = device;
    added->times = (double *)allocate(NULL, g->file_count, sizeof *added->times);
    for (size_t i = 0; i < g->file_count; i++)
        added->times[i] = 0;
    return g->row_count++;
}

/* Returns a row, which may be the guess. */
static size_t row_of(gathering *g, size_t guess, row_kind kind, uint32_t device, size_t outer,
                     const char *name) {
    size_t *slot;

    if (guess < g->row_count && is_row(&g->rows[guess], kind, device, outer, name))
        return guess;
    make_room_for_rows(g);
    slot = find_slot(g, kind, device, outer, name);
    if (*slot == NO_ROW)
        *slot = add_row(g, kind, device, outer, name);
    return *slot;
}

/* ---- files of ranks -------------------------------------------------------------------------------------- */

/* Finds the number at the end of a file's name, before its suffix: 3 of "run.3.zt". */
static void find_number(rank *r) {
    const char *slash = strrchr(r->file, '/'), *name = slash ? slash + 1 : r->file;
    const char *dot = strrchr(name, '.'), *end = dot ? dot : name + strlen(name), *begin = end;

    while (begin > name && (isdigit((unsigned char)begin[-1]) || begin[-1] == '.'))
        begin--;
    begin += strspn(begin, ".");
    if (begin < end)
        snprintf(r->number, sizeof r->number, "%.*s", (int)(end - begin), begin);
}

/* Files without a number come last, in their order on the command line. */
static int by_number(const void *a, const void *b) {
    const rank *left = (const rank *)a, *right = (const rank *)b;
    char *left_rest, *right_rest;
    unsigned long l = strtoul(left->number, &left_rest, 10), r = strtoul(right->number, &right_rest, 10);

    if (!*left->number || !*right->number) {
        l = !*left->number;
        r = !*right->number;
    } else if (l == r) { /* files of one rank */
        l = strtoul(left_rest + (*left_rest == '.'), NULL, 10);
        r = strtoul(right_rest + (*right_rest == '.'), NULL, 10);
    }
    if (l == r) {
        l = left->place;
        r = right->place;
    }
    return (l > r) - (l < r);
}

static void name_ranks(rank *files, size_t count) {
    for (size_t i = 0; i < count; i++) {
        int is_first = i == 0 || strcmp(files[i - 1].number, files[i].number) != 0;
        int is_last = i + 1 == count || strcmp(files[i + 1].number, files[i].number) != 0;
        files[i].name = *files[i].number && is_first && is_last ? files[i].number : files[i].file;
    }
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
static zt_profiler *unpack_file(gathering *g, rank *r) {
    zt_profiler *profiler = NULL;

    for (size_t i = 0; i < g->rank_count; i++)
        if (strcmp(g->ranks[i].file, r->file) == 0) {
            snprintf(r->why, sizeof r->why, "it was passed twice, and is used once");
            return NULL;
        }
    if (!read_file(&g->file, r->file))
        snprintf(r->why, sizeof r->why, "%s", strerror(errno));
    else if (zt_unpack(g->file.bytes, g->file.size, NULL, &profiler) != ZE_RESULT_SUCCESS)
        snprintf(r->why, sizeof r->why, "%s", zt_last_error(NULL));
    return profiler;
}

/* Describes what was measured: groups and number of metrics, or times alone, and why. */
static void describe_metrics(rank *r, const zt_profiler *profiler, const zt_info *info) {
    const zt_metric *before = NULL;

    r->is_idle = info->availability == ZT_AVAILABILITY_UNKNOWN;
    if (r->is_idle) {
        add(&r->measured, "nothing, because nothing was launched");
        return;
    }
    r->metrics = HASH_BEGIN;
    for (uint32_t i = 0; i < info->metric_count; i++) {
        const zt_metric *metric = zt_get_metric(profiler, i);
        if (!before || strcmp(before->group, metric->group) != 0)
            add(&r->measured, "%s%s", before ? ", " : "", metric->group);
        r->metrics = add_to_hash(add_to_hash(r->metrics, metric->group), metric->name);
        before = metric;
    }
    if (before)
        add(&r->measured, " (%lu metrics)", (unsigned long)info->metric_count);
    else
        add(&r->measured, "times alone");
    if (info->availability != ZT_AVAILABLE && info->availability != ZT_TIMES_BY_CHOICE)
        add(&r->measured, " (%s)", info->availability_text);
}

/* Finds the name of the program's file, which is the first of the command line, and in quotes if it has a space. */
static void find_program(rank *r, const char *command) {
    int is_quoted = *command == '"';
    const char *begin = command + is_quoted, *end = begin + strcspn(begin, is_quoted ? "\"" : " ");

    for (const char *c = begin; c < end; c++)
        if (*c == '/' || *c == '\\')
            begin = c + 1;
    add(&r->program, "%.*s", (int)(end - begin), begin);
}

static void add_samples(const gathering *g, row *to, const zt_region_info *info, size_t place) {
    int is_known = info->total_ns >= 0 && info->total_ns < MOST_NS;

    to->samples += info->count;
    to->lost += info->lost;
    to->dropped += info->dropped;
    to->times[place] += is_known ? info->total_ns : 0;
    if (!is_known || info->lost > 0 || info->dropped > 0) {
        if (!to->is_partial)
            to->is_partial = (char *)memset(allocate(NULL, g->file_count, 1), 0, g->file_count);
        to->is_partial[place] = 1;
    }
}

/* Adds all paths of the rank that has this place among those that are used. Where it has used several devices, these are
   the outermost paths. Other ranks have used other ones, so a device is known by its place among those of its rank. */
static void add_paths(gathering *g, const zt_profiler *profiler, uint32_t count, size_t place) {
    size_t *rows =
        (size_t *)allocate(NULL, count, sizeof *rows); /* of the paths so far; outer ones come first */
    size_t of_device = NO_ROW;

    for (uint32_t i = 0; i < count; i++) {
        zt_region_info info;
        uint32_t device;
        size_t outer;
        rows[i] = NO_ROW;
        if (zt_get_region(profiler, ZT_PATH(i), &info) != ZE_RESULT_SUCCESS)
            continue;
        device = info.device ? info.device - 1 : 0;
        g->device_count = device < g->device_count ? g->device_count : device + 1;
        if (info.device && info.parent == UINT32_MAX)
            continue;
        outer = info.parent == UINT32_MAX ? NO_ROW : rows[info.parent ^ ZT_PATH(0)];
        rows[i] = row_of(g, i < g->latest_count ? g->latest[i] : NO_ROW, info.is_phase ? PHASE : REGION,
                         device, outer, info.name);
        add_samples(g, &g->rows[rows[i]], &info, place);
        if (outer == NO_ROW) {
            of_device = row_of(g, of_device, DEVICE, device, NO_ROW, "");
            add_samples(g, &g->rows[of_device], &info, place);
        }
    }
    free(g->latest);
    g->latest = rows;
    g->latest_count = count;
}

static void add_file(gathering *g, rank *r) {
    zt_profiler *profiler = unpack_file(g, r);

    if (profiler) {
        zt_info info = zt_get_info(profiler);
        describe_metrics(r, profiler, &info);
        find_program(r, info.program);
        r->begun = info.opened_s;
        r->ended = info.packed_s;
        r->counts = info.counts;
        add_paths(g, profiler, info.path_count, g->rank_count);
        g->ranks[g->rank_count++] = *r;
        zt_close(profiler);
    } else {
        fprintf(stderr, "gather: %s is not used: %s\n", r->file, r->why);
        g->unused[g->unused_count++] = *r;
    }
}

/* ---- figures --------------------------------------------------------------------------------------------- */

static int is_partial(const row *r, size_t place) {
    return r->is_partial && r->is_partial[place];
}

/* A rank whose time is partial has taken that long or longer: it is the fastest only where all are such. */
static void compare_ranks(row *r, size_t rank_count) {
    double sum = 0;

    for (size_t i = 0; i < rank_count; i++) {
        if (r->times[i] > r->times[r->slowest])
            r->slowest = i;
        if (is_partial(r, i) == is_partial(r, r->fastest) ? r->times[i] < r->times[r->fastest]
                                                          : !is_partial(r, i))
            r->fastest = i;
        sum += r->times[i];
        r->rank_count += r->times[i] > 0;
    }
    r->mean = sum / (double)rank_count;
    r->cost = r->times[r->slowest] - r->mean;
    r->imbalance = r->times[r->slowest] > 0 ? r->cost / r->times[r->slowest] : 0;
}

static int by_cost(const void *a, const void *b) {
    const row *left = (const row *)a, *right = (const row *)b;
    int order = strcmp(left->path, right->path);

    if (left->cost != right->cost)
        return left->cost < right->cost ? 1 : -1;
    return order ? order : (left->device > right->device) - (left->device < right->device);
}

/* Rows without a sample on any rank go, and those of devices if no rank has several. After this, row.outer and the slots
   are void. */
static void complete_rows(gathering *g) {
    size_t kept = 0;

    for (size_t i = 0; i < g->row_count; i++) {
        row *r = &g->rows[i];
        if (r->samples + r->lost + r->dropped > 0 && (r->kind != DEVICE || g->device_count > 1)) {
            compare_ranks(r, g->rank_count);
            g->rows[kept++] = *r;
        } else {
            free(r->path);
            free(r->times);
            free(r->is_partial);
        }
    }
    g->row_count = kept;
    if (kept > 0)
        qsort(g->rows, kept, sizeof *g->rows, by_cost);
}

/* ---- notes ----------------------------------------------------------------------------------------------- */

enum { MOST_LISTED = 20 };

static message *add_note(gathering *g) {
    g->notes = (message *)allocate(g->notes, g->note_count + 1, sizeof *g->notes);
    memset(&g->notes[g->note_count], 0, sizeof *g->notes);
    return &g->notes[g->note_count++];
}

/* Returns the rank's number; -1: it has no whole one. */
static long number_of(const rank *r) {
    size_t digits = strspn(r->number, "0123456789");
    return *r->number && !r->number[digits] && digits < 9 ? strtol(r->number, NULL, 10) : -1;
}

/* Adds those of the ranks that are chosen: "rank 3", "ranks 0-2, 5". */
static void add_ranks(message *to, const gathering *g, const char *word, const char *is_chosen) {
    size_t listed = 0, left = 0, count = 0;

    for (size_t i = 0; i < g->rank_count; i++)
        count += is_chosen[i] != 0;
    add(to, "%s%s", word, count == 1 ? "" : "s");
    for (size_t i = 0; i < g->rank_count; i++) {
        size_t last = i;
        if (!is_chosen[i])
            continue;
        while (last + 1 < g->rank_count && is_chosen[last + 1] && number_of(&g->ranks[last]) >= 0 &&
               number_of(&g->ranks[last + 1]) == number_of(&g->ranks[last]) + 1)
            last++;
        if (listed++ < MOST_LISTED) {
            add(to, "%s %s", listed == 1 ? "" : ",", g->ranks[i].name);
            if (last > i)
                add(to, "-%s", g->ranks[last].name);
        } else {
            left += last - i + 1;
        }
        i = last;
    }
    if (left > 0)
        add(to, " and %lu others", (unsigned long)left);
}

/* Returns the first of those ranks that most others are like. */
static size_t find_usual(const gathering *g, int (*is_like)(const rank *, const rank *)) {
    size_t usual = 0, most = 0;

    for (size_t i = 0; i < g->rank_count; i++) {
        size_t count = 0;
        for (size_t k = 0; k < g->rank_count; k++)
            count += is_like(&g->ranks[i], &g->ranks[k]) != 0;
        if (count > most) {
            most = count;
            usual = i;
        }
    }
    return usual;
}

/* Notes each set of ranks that are like each other, but not like the usual ones. One of which nothing is known is like
   all, but none is like it. */
static void note_others(gathering *g, int (*is_like)(const rank *, const rank *),
                        void (*write_note)(message *note, const gathering *g, const char *others,
                                           size_t first, const char *usual, size_t first_usual)) {
    char *is_usual, *is_other, *is_noted;
    size_t usual, alike = 0;

    while (alike < g->rank_count && is_like(&g->ranks[0], &g->ranks[alike]))
        alike++;
    if (alike == g->rank_count)
        return;
    usual = find_usual(g, is_like);
    is_usual = (char *)allocate(NULL, g->rank_count, 1);
    is_other = (char *)allocate(NULL, g->rank_count, 1);
    is_noted = (char *)allocate(NULL, g->rank_count, 1);
    for (size_t i = 0; i < g->rank_count; i++) {
        is_noted[i] = (char)is_like(&g->ranks[usual], &g->ranks[i]);
        is_usual[i] = (char)(is_noted[i] && is_like(&g->ranks[i], &g->ranks[usual]));
    }
    for (size_t i = 0; i < g->rank_count; i++) {
        if (is_noted[i])
            continue;
        for (size_t k = 0; k < g->rank_count; k++) {
            is_other[k] = (char)(!is_noted[k] && is_like(&g->ranks[i], &g->ranks[k]));
            is_noted[k] |= is_other[k];
        }
        write_note(add_note(g), g, is_other, i, is_usual, usual);
    }
    free(is_usual), free(is_other), free(is_noted);
}

/* A rank on which nothing was launched has chosen nothing. */
static int has_same_metrics(const rank *usual, const rank *other) {
    return other->is_idle || (!usual->is_idle && usual->metrics == other->metrics &&
                              strcmp(usual->measured.bytes, other->measured.bytes) == 0);
}

static void write_note_of_metrics(message *note, const gathering *g, const char *others, size_t first,
                                  const char *usual, size_t first_usual) {
    add_ranks(note, g, "Measured on rank", others);
    add(note, ": %s; ", g->ranks[first].measured.bytes);
    add_ranks(note, g, "on rank", usual);
    add(note, ": %s. Kernels that are measured with metrics do not overlap.",
        g->ranks[first_usual].measured.bytes);
}

/* The file of a rank on which nothing was launched may be that of a shell around the program, or of a command before it. */
static int has_same_program(const rank *usual, const rank *other) {
    return other->is_idle || (!usual->is_idle && strcmp(usual->program.bytes, other->program.bytes) == 0);
}

static void write_note_of_programs(message *note, const gathering *g, const char *others, size_t first,
                                   const char *usual, size_t first_usual) {
    add_ranks(note, g, "Program of rank", others);
    add(note, ": %s; ", g->ranks[first].program.size ? g->ranks[first].program.bytes : "not known");
    add_ranks(note, g, "of rank", usual);
    add(note, ": %s.",
        g->ranks[first_usual].program.size ? g->ranks[first_usual].program.bytes : "not known");
}

/* Ranks of one run need not begin or end together, but all of them run at some time. */
static int has_same_time(const rank *usual, const rank *other) {
    return other->is_idle || !other->begun ||
           (!usual->is_idle && usual->begun && usual->begun <= other->ended && other->begun <= usual->ended);
}

static void add_time(message *to, const rank *r) {
    const uint64_t seconds[] = {r->begun, r->ended};

    for (int i = 0; i < 2; i++) {
        char date[64] = "?";
        time_t at = (time_t)seconds[i];
        const struct tm *utc = gmtime(&at);
        if (utc)
            strftime(date, sizeof date, "%Y-%m-%d %H:%M:%S", utc);
        add(to, "%s%s", i ? " to " : "", date);
    }
}

static void write_note_of_times(message *note, const gathering *g, const char *others, size_t first,
                                const char *usual, size_t first_usual) {
    add_ranks(note, g, "Perhaps of another run: rank", others);
    add(note, ", from ");
    add_time(note, &g->ranks[first]);
    add(note, " UTC. Not meanwhile, but from ");
    add_time(note, &g->ranks[first_usual]);
    add_ranks(note, g, ": rank", usual);
    add(note, ".");
}

static void note_losses(gathering *g) {
    message *note = NULL;
    size_t listed = 0, left = 0;

    for (size_t i = 0; i < g->rank_count; i++) {
        const zt_counts *counts = &g->ranks[i].counts;
        if (counts->lost + counts->dropped + counts->unobserved_lists == 0)
            continue;
        if (listed++ >= MOST_LISTED) {
            left++;
            continue;
        }
        if (!note)
            add(note = add_note(g),
                "Samples are missing, and times are too short where they are marked by *:");
        add(note, "%s rank %s has lost %llu and not measured %llu of %llu", listed == 1 ? "" : ";",
            g->ranks[i].name, (unsigned long long)counts->lost, (unsigned long long)counts->dropped,
            (unsigned long long)counts->begun);
        if (counts->unobserved_lists)
            add(note, ", and not observed %llu executions of lists",
                (unsigned long long)counts->unobserved_lists);
    }
    if (left > 0)
        add(note, "; and %lu other ranks", (unsigned long)left);
    if (note)
        add(note, ".");
}

static void note_idle_ranks(gathering *g) {
    char *is_idle = (char *)allocate(NULL, g->rank_count, 1);
    size_t count = 0;

    for (size_t i = 0; i < g->rank_count; i++) {
        is_idle[i] = g->ranks[i].counts.begun == 0;
        count += is_idle[i] != 0;
    }
    if (count > 0) {
        message *note = add_note(g);
        add_ranks(note, g, "Nothing was measured on rank", is_idle);
        add(note, ".");
    }
    free(is_idle);
}

/* Notes the numbers up to the highest one that no file has, if they are ranks, and not process IDs. */
static void note_gaps(gathering *g) {
    enum { MOST_A_FILE = 8 };
    message gaps = {NULL, 0, 0};
    unsigned long next = 0, missing = 0;

    for (size_t i = 0; i < g->file_count && *g->files[i].number; i++) { /* in the order of their numbers */
        unsigned long number = strtoul(g->files[i].number, NULL, 10);
        if (number / MOST_A_FILE >= g->file_count)
            break;
        if (number > next)
            add(&gaps, "%s %lu", gaps.size ? "," : "", next);
        if (number > next + 1)
            add(&gaps, "-%lu", number - 1);
        missing += number > next ? number - next : 0;
        next = number + 1;
    }
    if (gaps.size)
        add(add_note(g), "There is no file of rank%s%s. A rank that was killed has written none.",
            missing == 1 ? "" : "s", gaps.bytes);
    free(gaps.bytes);
}

static void find_notes(gathering *g) {
    note_gaps(g);
    note_losses(g);
    note_idle_ranks(g);
    note_others(g, has_same_metrics, write_note_of_metrics);
    note_others(g, has_same_program, write_note_of_programs);
    note_others(g, has_same_time, write_note_of_times);
    for (size_t i = 0; i < g->note_count; i++)
        fprintf(stderr, "gather: %s\n", g->notes[i].bytes);
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
    "Times are the GPU time of all samples of a path on a rank: 0 on a rank that has none.\n"
    "Cost: by how much the slowest rank is above the mean of all ranks.\n"
    "Imbalance: the cost, divided by the time of the slowest rank.\n"
    "The time of a path that is inside another counts in both.\n";

static const char *const explanation_of_devices =
    "Device 0 is the first one that a rank has used, device 1 its second one, and so on.\n";

static const char *kind_of(const row *r) {
    static const char *const kinds[] = {"region", "phase", "device"};
    return kinds[r->kind];
}

static void put_path(FILE *out, format as, const gathering *g, const row *r) {
    if (g->device_count > 1)
        fprintf(out, "device %u%s", (unsigned)r->device, r->kind == DEVICE ? "" : ";");
    put_text(out, as, r->path);
}

static void put_rank(FILE *out, format as, const rank *r) {
    if (as == JSON || (as == CSV && strcmp(r->name, r->number) != 0))
        put_quoted(out, as, r->name);
    else
        put_text(out, as, r->name);
}

static void put_partial_ranks(FILE *out, format as, const gathering *g, const row *r) {
    const char *before = "";

    for (size_t i = 0; r->is_partial && i < g->rank_count; i++)
        if (r->is_partial[i]) {
            fputs(before, out);
            if (as == CSV)
                put_text(out, as, g->ranks[i].name);
            else
                put_rank(out, as, &g->ranks[i]);
            before = as == CSV ? " " : ",";
        }
}

/* A rank in a column of the table. */
static void put_column(FILE *out, const gathering *g, const row *r, size_t place) {
    const char *name = g->ranks[place].name;
    size_t length = strlen(name);

    fprintf(out, " %*s", length < 6 ? (int)(6 - length) : 0, "");
    put_text(out, TABLE, name);
    fputc(is_partial(r, place) ? '*' : ' ', out);
}

static void write_table(FILE *out, const gathering *g) {
    size_t shown = g->row_count < TABLE_ROWS ? g->row_count : TABLE_ROWS;

    fprintf(out, "Ranks: %lu\n\n%12s %9s %12s %12s %6s  %12s %6s  %6s %10s %10s  %s\n",
            (unsigned long)g->rank_count, "cost [ms]", "imbalance", "mean [ms]", "slowest [ms]", "rank",
            "fastest [ms]", "rank", "ranks", "samples", "missing", "path");
    for (size_t i = 0; i < shown; i++) {
        const row *r = &g->rows[i];
        fprintf(out, "%12.3f %8.1f%% %12.3f %12.3f", r->cost / 1e6, r->imbalance * 100, r->mean / 1e6,
                r->times[r->slowest] / 1e6);
        put_column(out, g, r, r->slowest);
        fprintf(out, " %12.3f", r->times[r->fastest] / 1e6);
        put_column(out, g, r, r->fastest);
        fprintf(out, " %6lu %10llu %10llu  ", (unsigned long)r->rank_count, (unsigned long long)r->samples,
                (unsigned long long)(r->lost + r->dropped));
        put_path(out, TABLE, g, r);
        fputs(r->kind == PHASE ? " (phase)\n" : "\n", out);
    }
    if (shown < g->row_count)
        fprintf(out, "Shown: %lu of %lu rows. A report with the suffix .csv has all.\n", (unsigned long)shown,
                (unsigned long)g->row_count);
    fprintf(out, "\n%s%s", explanation, g->device_count > 1 ? explanation_of_devices : "");
    for (size_t i = 0; i < g->note_count; i++) {
        put_text(out, TABLE, g->notes[i].bytes);
        fputc('\n', out);
    }
    for (size_t i = 0; i < g->unused_count; i++) {
        put_text(out, TABLE, g->unused[i].file);
        fputs(" is not used: ", out);
        put_text(out, TABLE, g->unused[i].why);
        fputc('\n', out);
    }
}

/* A line that has no figures. */
static void put_csv_text(FILE *out, const char *kind, const char *path, const char *reason) {
    fprintf(out, "%s,", kind);
    put_quoted(out, CSV, path);
    fputs(",,,,,,,,,,,,,", out);
    put_quoted(out, CSV, reason);
    fputc('\n', out);
}

static void write_csv(FILE *out, const gathering *g) {
    fputs("kind,path,ranks,samples,mean_ns,fastest_ns,fastest_rank,slowest_ns,slowest_rank,imbalance,cost_ns,"
          "lost,dropped,partial_ranks,reason\n",
          out);
    for (size_t i = 0; i < g->row_count; i++) {
        const row *r = &g->rows[i];
        fprintf(out, "%s,\"", kind_of(r));
        put_path(out, CSV, g, r);
        fprintf(out, "\",%lu,%llu,%.3f,%.3f,", (unsigned long)r->rank_count, (unsigned long long)r->samples,
                r->mean, r->times[r->fastest]);
        put_rank(out, CSV, &g->ranks[r->fastest]);
        fprintf(out, ",%.3f,", r->times[r->slowest]);
        put_rank(out, CSV, &g->ranks[r->slowest]);
        fprintf(out, ",%.6f,%.3f,%llu,%llu,\"", r->imbalance, r->cost, (unsigned long long)r->lost,
                (unsigned long long)r->dropped);
        put_partial_ranks(out, CSV, g, r);
        fputs("\",\n", out);
    }
    for (size_t i = 0; i < g->rank_count; i++) {
        const rank *r = &g->ranks[i];
        fputs("rank,", out);
        put_quoted(out, CSV, r->name);
        fprintf(out, ",,%llu,,,,,,,,%llu,%llu,,", (unsigned long long)r->counts.collected,
                (unsigned long long)r->counts.lost, (unsigned long long)r->counts.dropped);
        put_quoted(out, CSV, r->measured.bytes);
        fputc('\n', out);
    }
    for (size_t i = 0; i < g->note_count; i++)
        put_csv_text(out, "note", "", g->notes[i].bytes);
    for (size_t i = 0; i < g->unused_count; i++)
        put_csv_text(out, "file", g->unused[i].file, g->unused[i].why);
}

/* As "%.3f", which takes several times as long: most of a report of many ranks are times. */
static void put_thousandths(FILE *out, double ns) {
    unsigned long long thousandths = ns < MOST_NS ? (unsigned long long)(ns * 1e3 + 0.5) : 0;
    char digits[24], *end = digits + sizeof digits, *begin = end;

    if (ns >= MOST_NS) { /* of several paths */
        fprintf(out, "%.3f", ns);
        return;
    }
    for (int i = 0; i < 5 || thousandths > 0; i++) {
        *--begin = i == 3 ? '.' : (char)('0' + thousandths % 10);
        thousandths /= i == 3 ? 1 : 10;
    }
    fwrite(begin, 1, (size_t)(end - begin), out);
}

static void put_json_row(FILE *out, const gathering *g, const row *r) {
    fprintf(out, "{\"kind\":\"%s\",\"path\":\"", kind_of(r));
    put_path(out, JSON, g, r);
    fprintf(out, "\",\"ranks\":%lu,\"samples\":%llu,\"mean_ns\":%.3f,\"fastest_ns\":%.3f,\"fastest_rank\":",
            (unsigned long)r->rank_count, (unsigned long long)r->samples, r->mean, r->times[r->fastest]);
    put_rank(out, JSON, &g->ranks[r->fastest]);
    fprintf(out, ",\"slowest_ns\":%.3f,\"slowest_rank\":", r->times[r->slowest]);
    put_rank(out, JSON, &g->ranks[r->slowest]);
    fprintf(out, ",\"imbalance\":%.6f,\"cost_ns\":%.3f,\"lost\":%llu,\"dropped\":%llu,\"partial_ranks\":[",
            r->imbalance, r->cost, (unsigned long long)r->lost, (unsigned long long)r->dropped);
    put_partial_ranks(out, JSON, g, r);
    fputs("],\"times_ns\":[", out);
    for (size_t k = 0; k < g->rank_count; k++) { /* in the order of "ranks" */
        fputs(k ? "," : "", out);
        put_thousandths(out, r->times[k]);
    }
    fputs("]}", out);
}

static void put_json_file(FILE *out, const rank *r) {
    fputs("{\"rank\":", out);
    put_rank(out, JSON, r);
    fputs(",\"file\":", out);
    put_quoted(out, JSON, r->file);
    fputs(",\"program\":", out);
    put_quoted(out, JSON, r->program.bytes);
    fputs(",\"measured\":", out);
    put_quoted(out, JSON, r->measured.bytes);
    fprintf(out, ",\"samples\":%llu,\"lost\":%llu,\"dropped\":%llu,\"unobserved_lists\":%llu}",
            (unsigned long long)r->counts.collected, (unsigned long long)r->counts.lost,
            (unsigned long long)r->counts.dropped, (unsigned long long)r->counts.unobserved_lists);
}

static void write_json(FILE *out, const gathering *g) {
    fputs("{\"ranks\":[", out);
    for (size_t i = 0; i < g->rank_count; i++) {
        fputs(i ? "," : "", out);
        put_rank(out, JSON, &g->ranks[i]);
    }
    fputs("],\n\"files\":[", out);
    for (size_t i = 0; i < g->rank_count; i++) {
        fputs(i ? ",\n" : "\n", out);
        put_json_file(out, &g->ranks[i]);
    }
    fputs("],\n\"paths\":[", out);
    for (size_t i = 0; i < g->row_count; i++) {
        fputs(i ? ",\n" : "\n", out);
        put_json_row(out, g, &g->rows[i]);
    }
    fputs("],\n\"notes\":[", out);
    for (size_t i = 0; i < g->note_count; i++) {
        fputs(i ? ",\n" : "\n", out);
        put_quoted(out, JSON, g->notes[i].bytes);
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
            "rank, from %.3f ms on rank ",
            (unsigned long)g->rank_count, r->times[r->fastest] / 1e6);
    put_rank(out, PAGE, &g->ranks[r->fastest]);
    fprintf(out, " to %.3f ms on rank ", slowest / 1e6);
    put_rank(out, PAGE, &g->ranks[r->slowest]);
    fputs("\">", out);
    for (int marked = 0; marked < 2; marked++) {
        fprintf(out, "<path%s d=\"", marked ? " class=\"slowest\"" : "");
        for (size_t i = 0; i < g->rank_count; i++)
            if (r->times[i] > 0 && (i == r->slowest) == marked)
                fprintf(out, "M%lu 1v-%.2fh.8V1z", (unsigned long)i, r->times[i] / slowest);
        fputs("\"/>", out);
    }
    fputs("</svg>", out);
}

static void write_page_row(FILE *out, const gathering *g, const row *r) {
    fputs("<tr><td>", out);
    put_path(out, PAGE, g, r);
    fprintf(out,
            "%s</td><td>%lu</td><td>%llu</td><td>%llu</td><td>%.3f</td><td>%.1f%%</td><td>%.3f</td>"
            "<td>%.3f</td><td>",
            r->kind == PHASE ? " (phase)" : "", (unsigned long)r->rank_count, (unsigned long long)r->samples,
            (unsigned long long)(r->lost + r->dropped), r->cost / 1e6, r->imbalance * 100, r->mean / 1e6,
            r->times[r->slowest] / 1e6);
    put_rank(out, PAGE, &g->ranks[r->slowest]);
    fprintf(out, "%s</td><td>%.3f</td><td>", is_partial(r, r->slowest) ? "*" : "",
            r->times[r->fastest] / 1e6);
    put_rank(out, PAGE, &g->ranks[r->fastest]);
    fprintf(out, "%s</td><td>", is_partial(r, r->fastest) ? "*" : "");
    write_picture(out, g, r);
    fputs("</td></tr>\n", out);
}

static void write_page(FILE *out, const gathering *g) {
    size_t shown = g->row_count < PAGE_ROWS ? g->row_count : PAGE_ROWS;

    fprintf(out,
            "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>%lu "
            "ranks</title>\n<style>\n"
            ":root { color-scheme: light dark; }\n"
            "body { font: 14px/1.4 system-ui, sans-serif; margin: 2em; }\n"
            "p { max-width: 60em; overflow-wrap: anywhere; }\n"
            "table { border-collapse: collapse; }\n"
            "th, td { padding: 2px 10px; text-align: right; border-bottom: 1px solid #8884; }\n"
            "th:first-child, td:first-child { text-align: left; overflow-wrap: anywhere; }\n"
            "td { font-variant-numeric: tabular-nums; }\n"
            "svg { width: 160px; height: 20px; fill: #888; }\n"
            ".slowest { fill: #d55e00; }\n"
            "</style>\n</head>\n<body>\n<h1>Ranks: %lu</h1>\n<p>%s%s</p>\n",
            (unsigned long)g->rank_count, (unsigned long)g->rank_count, explanation,
            g->device_count > 1 ? explanation_of_devices : "");
    for (size_t i = 0; i < g->note_count; i++) {
        fputs("<p><strong>Note:</strong> ", out);
        put_text(out, PAGE, g->notes[i].bytes);
        fputs("</p>\n", out);
    }
    for (size_t i = 0; i < g->unused_count; i++) {
        fputs("<p><strong>", out);
        put_text(out, PAGE, g->unused[i].file);
        fputs("</strong> is not used: ", out);
        put_text(out, PAGE, g->unused[i].why);
        fputs("</p>\n", out);
    }
    fputs("<table>\n<tr>"
          "<th scope=\"col\">Path</th><th scope=\"col\">Ranks</th><th scope=\"col\">Samples</th>"
          "<th scope=\"col\">Missing</th><th scope=\"col\">Cost, ms</th><th scope=\"col\">Imbalance</th>"
          "<th scope=\"col\">Mean, ms</th><th scope=\"col\">Slowest, ms</th><th scope=\"col\">Rank</th>"
          "<th scope=\"col\">Fastest, ms</th><th scope=\"col\">Rank</th><th scope=\"col\">GPU time by "
          "rank</th></tr>\n",
          out);
    for (size_t i = 0; i < shown; i++)
        write_page_row(out, g, &g->rows[i]);
    fputs("</table>\n", out);
    if (shown < g->row_count)
        fprintf(out, "<p>Shown: %lu of %lu rows. A report with the suffix .csv has all.</p>\n",
                (unsigned long)shown, (unsigned long)g->row_count);
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

static void free_gathering(gathering *g) {
    for (size_t i = 0; i < g->row_count; i++) {
        free(g->rows[i].path);
        free(g->rows[i].times);
        free(g->rows[i].is_partial);
    }
    for (size_t i = 0; i < g->rank_count; i++) {
        free(g->ranks[i].measured.bytes);
        free(g->ranks[i].program.bytes);
    }
    for (size_t i = 0; i < g->note_count; i++)
        free(g->notes[i].bytes);
    free(g->files), free(g->ranks), free(g->unused), free(g->file.bytes);
    free(g->rows), free(g->slots), free(g->latest), free(g->notes);
}

int main(int argc, char **argv) {
    gathering g;
    int is_written, status;

    if (argc < 3 || format_of(argv[argc - 1]) == NO_FORMAT) {
        fprintf(stderr,
                "usage: gather run.*.zt REPORT, which is run.html, run.csv, run.json, or - for a table\n");
        return NONE_USED;
    }
    memset(&g, 0, sizeof g);
    g.file_count = (size_t)argc - 2;
    g.files = (rank *)allocate(NULL, g.file_count, sizeof *g.files);
    g.ranks = (rank *)allocate(NULL, g.file_count, sizeof *g.ranks);
    g.unused = (rank *)allocate(NULL, g.file_count, sizeof *g.unused);
    memset(g.files, 0, g.file_count * sizeof *g.files);
    for (size_t i = 0; i < g.file_count; i++) {
        g.files[i].file = argv[i + 1];
        g.files[i].place = i;
        find_number(&g.files[i]);
    }
    qsort(g.files, g.file_count, sizeof *g.files, by_number);
    name_ranks(g.files, g.file_count);
    for (size_t i = 0; i < g.file_count; i++)
        add_file(&g, &g.files[i]);
    complete_rows(&g);
    find_notes(&g);
    is_written = write_report(&g, argv[argc - 1]);
    status = !is_written || g.rank_count == 0 ? NONE_USED : g.unused_count ? SOME_USED : ALL_USED;
    free_gathering(&g);
    return status;
}
