/* What it takes to join the files of ranks by examples/gather.c: time of a processor, and memory. Files have as many kept
   samples as those of a program that chooses nothing and runs for long. */
#define _GNU_SOURCE
#define ZETOOLS_IMPLEMENTATION
#include "bench.h"

#include "tests/ranks.h"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* Several ranks have the same file, by links, because reading files that all differ would measure the disk. */
enum { FILES = 16, MOST_PATHS = 5000, OUTER = 50, SAMPLES = 512 };

static char directory[] = "/tmp/zetools-XXXXXX";
static const char *gatherer; /* the path of this program, which is beside that of the example */

/* Each outer path has as many inner ones, and each inner one has a name of its own. */
static void write_file(const char *path, int file, uint32_t path_count) {
    static char names[MOST_PATHS][48];
    static rank_region regions[MOST_PATHS];
    static rank_path paths[MOST_PATHS];
    rank_pack pack;
    for (uint32_t i = 0; i < path_count; i++) {
        snprintf(names[i], sizeof names[i], "a region with a name of usual length %u", (unsigned)i);
        regions[i].name = names[i];
        paths[i].outer = i < OUTER ? UINT32_MAX : i % OUTER;
        paths[i].region = i;
        paths[i].count = paths[i].kept = SAMPLES;
        paths[i].total_ns = 1e6 + 1e3 * (file * (int)i % 97);
    }
    pack = pack_rank(NULL, regions, path_count, paths, path_count);
    NEED(write_pack(&pack, path));
    free(pack.bytes);
}

static void write_files(int ranks, uint32_t path_count) {
    char first[64], path[64];
    for (int i = 0; i < ranks; i++) {
        snprintf(first, sizeof first, "%s/run.%d.zt", directory, i % FILES);
        snprintf(path, sizeof path, "%s/run.%d.zt", directory, i);
        if (i < FILES)
            write_file(path, i, path_count);
        else
            NEED(link(first, path) == 0);
    }
}

static struct rusage run(const char *command) {
    struct rusage used;
    int status;
    pid_t process;
    fflush(NULL);
    process = fork();
    NEED(process >= 0);
    if (process == 0) {
        execl("/bin/sh", "sh", "-c", command, (char *)NULL);
        _exit(127);
    }
    NEED(wait4(process, &status, 0, &used) == process && status == 0);
    return used;
}

typedef struct cost {
    double seconds, MiB;
} cost;

/* The most of the reports in two formats: means of several runs. */
static cost gather(int ranks, uint32_t path_count, int runs) {
    static const char *const reports[] = {"ranks.html", "ranks.json"};
    const char *slash = strrchr(gatherer, '/');
    char command[2 * PATH_MAX];
    cost most = {0, 0};
    write_files(ranks, path_count);
    for (int i = 0; i < 2; i++) {
        snprintf(command, sizeof command, "exec '%.*s/../examples/gather' %s/run.*.zt %s/%s",
                 slash ? (int)(slash - gatherer) : 1, slash ? gatherer : ".", directory, directory,
                 reports[i]);
        double seconds = 0, MiB = 0;
        for (int k = 0; k < runs; k++) {
            struct rusage used = run(command);
            seconds += (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) / runs +
                       (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6 / runs;
            MiB = (double)used.ru_maxrss / 1024;
        }
        printf("# %d ranks with %u paths, %s: %.2f s, %.0f MiB\n", ranks, (unsigned)path_count, reports[i],
               seconds, MiB);
        most.seconds = seconds > most.seconds ? seconds : most.seconds;
        most.MiB = MiB > most.MiB ? MiB : most.MiB;
    }
    snprintf(command, sizeof command, "rm -f %s/*", directory);
    run(command);
    return most;
}

/* The least is before and behind each of the others: what else runs meanwhile is the same on both sides. It takes a
   twentieth of a second, and is run more often. */
static void compare_sizes(void) {
    enum {
        FEW_RANKS = 64,
        MANY_RANKS = 4096,
        FEW_PATHS = 500,
        MANY_PATHS = MOST_PATHS,
        RUNS = 10,
        FEW_RUNS = 3
    };
    cost before = gather(FEW_RANKS, FEW_PATHS, RUNS), paths = gather(FEW_RANKS, MANY_PATHS, FEW_RUNS);
    cost between = gather(FEW_RANKS, FEW_PATHS, RUNS), ranks = gather(MANY_RANKS, FEW_PATHS, 1);
    cost after = gather(FEW_RANKS, FEW_PATHS, RUNS);
    put_ratio("gather_growth_paths",
              paths.seconds / (before.seconds + between.seconds) * 2 * FEW_PATHS / MANY_PATHS, AT_MOST, 1.15);
    put_ratio("gather_growth_ranks",
              ranks.seconds / (between.seconds + after.seconds) * 2 * FEW_RANKS / MANY_RANKS, AT_MOST, 1.15);
    put_ratio("gather_growth_MiB", ranks.MiB, AT_MOST, 1024);
}

int main(int argc, char **argv) {
    cost most;
    (void)argc;
    gatherer = argv[0];
    NEED(mkdtemp(directory));
    most = gather(512, MOST_PATHS, 1);
    compare_sizes();
    NEED(rmdir(directory) == 0);
    put_ratio("gather_seconds", most.seconds, AT_MOST, 10);
    return put_exact("gather_MiB", most.MiB, 1024);
}
