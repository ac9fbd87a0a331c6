/* run.folded: stacks of nested regions, for flame graphs. */

#include "reports/folded.h"

#include "base/compiler.h"
#include "base/memory.h"
#include "base/numbers.h"
#include "base/platform.h"
#include "base/programs.h"
#include "base/text.h"
#include "base/writer.h"
#include "regions/names.h"
#include "regions/profiler.h"
#include "reports/facts.h"
#include "results/results.h"

/* Writes a name as one frame of a stack: ';' separates frames, and a line feed ends the stack. */
static void zt__write_frame(zt__writer *writer, const char *name) {
    char *demangled;
    const char *text = zt__show_name(name, &demangled);
    zt__character character;
    while (zt__next_character(&text, &character)) {
        if (character.code == ';') {
            zt__write_text(writer, ":");
        } else if (character.code < 0x20 || (character.code >= 0x7F && character.code <= 0x9F)) {
            zt__write_text(writer, " ");
        } else {
            zt__write_bytes(writer, character.bytes, character.length);
        }
    }
    free(demangled);
}

#ifdef ZETOOLS_TRACER

/* Hot spots, as frames inside of kernels. */
typedef struct zt__folded_spots {
    zt__hot_row *rows;
    uint32_t count;
} zt__folded_spots;

/* Returns how many samples the kernels of a name have. */
static double zt__count_folded_samples(const zt__folded_spots *spots, const char *kernel) {
    double samples = 0;
    uint32_t i;
    for (i = 0; i < spots->count; i++) {
        samples += strcmp(spots->rows[i].kernel->name, kernel) == 0 ? (double)spots->rows[i].samples : 0;
    }
    return samples;
}

/* Writes the frame of a row, and the end of its line. */
static void zt__write_folded_spot(zt__writer *writer, const zt__hot_row *row, double number) {
    zt__hot_place place = zt__describe_hot_place(row);
    zt__write_text(writer, ";");
    zt__write_frame(writer, place.text);
    zt__print(writer, " %.0f\n", number);
}
#endif

/* Writes the names of the regions on a path, the outermost first. `names` has them in reverse. */
static void zt__write_stack(zt__writer *writer, const char *const *names, uint32_t depth) {
    while (depth > 0) {
        zt__write_frame(writer, names[--depth]);
        zt__write_text(writer, depth > 0 ? ";" : "");
    }
}

ZT__PRIVATE void zt__write_folded(zt__document *document) {
    zt_profiler *profiler = document->profiler;
    zt__writer *writer = &document->writer;
    uint32_t i, depth, written = 0, count = zt__get_path_count(profiler);
    const char *names[ZT__MAX_DEPTH];
#ifdef ZETOOLS_TRACER
    zt__folded_spots spots;
    zt_hotspots_counts counts;
    uint32_t j;
    spots.rows = zt__read_hot_rows(document, 1, &spots.count, &counts);
#endif
    for (i = 0; i < count; i++) {
        const zt__path *path;
        int is_known;
        double own_ns;
        zt__lock(&profiler->mutex);
        path = zt__path_at(profiler, i);
        is_known = !zt__is_nan(zt__get_own_time(path, &own_ns));
        for (depth = 0; path->depth > 0; path = path->key.outer) {
            names[depth++] = path->key.region->name;
        }
        zt__unlock(&profiler->mutex);
        if (!(own_ns >= 0.5 && own_ns < 1e19)) {
            continue;
        }
        written++;
#ifdef ZETOOLS_TRACER
        if (is_known && zt__count_folded_samples(&spots, names[0]) > 0) {
            double of_sample = own_ns / zt__count_folded_samples(&spots, names[0]);
            for (j = 0; j < spots.count; j++) {
                if (strcmp(spots.rows[j].kernel->name, names[0]) == 0) {
                    zt__write_stack(writer, names, depth);
                    zt__write_folded_spot(writer, &spots.rows[j], of_sample * (double)spots.rows[j].samples);
                }
            }
            continue;
        }
#endif
        zt__write_stack(writer, names, depth);
        zt__print(writer, "%s %.0f\n", is_known ? "" : ";(estimate)", own_ns);
    }
#ifdef ZETOOLS_TRACER
    for (j = 0; j < spots.count && written == 0; j++) {
        zt__write_frame(writer, spots.rows[j].kernel->name);
        zt__write_folded_spot(writer, &spots.rows[j], (double)spots.rows[j].samples);
    }
    if (spots.rows) {
        zt__free(&profiler->config.allocator, spots.rows);
    }
#else
    (void)written;
#endif
}
