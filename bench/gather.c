/* What it takes to join the files of 512 ranks with 5,000 paths each, by examples/gather.c: time of a processor, and memory. */
#define _GNU_SOURCE
#define ZETOOLS_IMPLEMENTATION
#include "bench.h"

#include "tests/ranks.h"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* Several ranks have the same file, by links, because reading files that all differ would measure the disk. */
enum { RANKS = 512, FILES = 16, PATHS = 5000, OUTER = 50, SAMPLES = 20 };

/* Each outer path has as many inner ones, and each inner one has a name of its own. */
static void write_file(const char *path, int file) {
    static char names[PATHS][48];
    static rank_region regions[PATHS];
    static rank_path paths[PATHS];
    rank_pack pack;
    for (uint32_t i = 0; i < PATHS; i++) {
        snprintf(names[i], sizeof names[i], "a region with a name of usual length %u", (unsigned)i);
        regions[i].name = names[i];
        paths[i].outer = i < OUTER ? UINT32_MAX : i % OUTER;
        paths[i].region = i;
        paths[i].count = paths[i].kept = SAMPLES;
        paths[i].total_ns = 1e6 + 1e3 * (file * (int)i % 97);
    }
    pack = pack_rank(NULL, regions, PATHS, paths, PATHS);
    NEED(write_pack(&pack, path));
    printf("# %d ranks with a file of %.1f MB\n", RANKS / FILES, (double)pack.size / 1e6);
    free(pack.bytes);
}

static void write_files(const char *directory) {
    char first[64], path[64];
    for (int i = 0; i < RANKS; i++) {
        snprintf(first, sizeof first, "%s/run.%d.zt", directory, i % FILES);
        snprintf(path, sizeof path, "%s/run.%d.zt", directory, i);
        if (i < FILES)
            write_file(path, i);
        else
            NEED(link(first, path) == 0);
    }
}

static struct rusage children(void) {
    struct rusage used;
    getrusage(RUSAGE_CHILDREN, &used);
    return used;
}

static double children_seconds(void) {
    struct rusage used = children();
    return (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
           (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6;
}

/* Returns the seconds of a processor that it takes. */
static double gather(const char *program, const char *directory, const char *report) {
    char command[2 * PATH_MAX];
    const char *slash = strrchr(program, '/');
    double before = children_seconds(), seconds;
    snprintf(command, sizeof command, "'%.*s/../examples/gather' %s/run.*.zt %s/%s",
             slash ? (int)(slash - program) : 1, slash ? program : ".", directory, directory, report);
    NEED(system(command) == 0);
    seconds = children_seconds() - before;
    printf("# %s: %.1f s\n", report, seconds);
    return seconds;
}

int main(int argc, char **argv) {
    char directory[] = "/tmp/zetools-XXXXXX", command[64];
    double seconds, most;
    (void)argc;
    NEED(mkdtemp(directory));
    write_files(directory);
    most = gather(argv[0], directory, "ranks.html");
    seconds = gather(argv[0], directory, "ranks.json");
    snprintf(command, sizeof command, "rm -r '%s'", directory);
    NEED(system(command) == 0);
    put_ratio("gather_seconds", seconds > most ? seconds : most, AT_MOST, 10);
    return put_exact("gather_MiB", (double)children().ru_maxrss / 1024, 1024);
}
