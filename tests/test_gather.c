/* examples/gather.c: files of ranks with times that are known, joined in each format; files that cannot be used. */
#define _GNU_SOURCE
#include "fixture.h"

#include "ranks.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

enum { ALL_USED = 0, NONE_USED = 1, SOME_USED = 2 };

static const char *text_of(const char *name) {
    static char texts[2][1 << 20];
    static int next;
    char *text = texts[next++ % 2];
    FILE *file = fopen(in_directory(name), "rb");
    if (!file)
        fail_msg("there is no %s", in_directory(name));
    text[fread(text, 1, sizeof texts[0] - 1, file)] = 0;
    fclose(file);
    return text;
}

/* Runs the example in the directory. Returns its exit status. */
static int gather(const char *arguments) {
    char program[PATH_MAX], command[3 * PATH_MAX];
    int status;
    find_file("build/examples-O0/gather", program, sizeof program);
    snprintf(command, sizeof command, "cd '%s' && exec '%s' %s >output 2>errors", test_directory, program,
             arguments);
    status = system(command);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

/* What gather prints as a table, which all files that it is given have to be used for. */
static const char *table_of(const char *files) {
    char arguments[PATH_MAX];
    snprintf(arguments, sizeof arguments, "%s -", files);
    assert_int_equal(gather(arguments), ALL_USED);
    return text_of("output");
}

static void write_rank(const char *name, const rank_facts *facts, const rank_region *regions,
                       uint32_t region_count, const rank_path *paths, uint32_t path_count) {
    rank_pack pack = pack_rank(facts, regions, region_count, paths, path_count);
    assert_true(write_pack(&pack, in_directory(name)));
    free(pack.bytes);
}

/* A path with so many samples. */
#define SAMPLES_ON(outer_path, of_region, samples, ns)                                                       \
    { .outer = (outer_path), .region = (of_region), .count = (samples), .total_ns = (ns) }

static const rank_region regions[] = {{"step", 1}, {"solve", 0}, {"<b>\"copy\" & \\ \t\xFF\xC3\xA9", 0}};
enum { NONE = -1, STEP = 0, SOLVE, COPY, REGIONS };

/* The rank of this name solves for so long inside its step and, unless it is 0, copies for so long outside. */
static void write_solver(const char *name, double solve_ns, double copy_ns) {
    const rank_path paths[] = {SAMPLES_ON(UINT32_MAX, STEP, 2, solve_ns), SAMPLES_ON(0, SOLVE, 2, solve_ns),
                               SAMPLES_ON(UINT32_MAX, COPY, copy_ns > 0 ? 5 : 0, copy_ns)};
    write_rank(name, NULL, regions, REGIONS, paths, 3);
}

/* Four ranks: solving costs 3 of 8 ms, on rank 10; two of them copy. */
static void write_solvers(void) {
    write_solver("run.0.zt", 4e6, 1e6);
    write_solver("run.2.zt", 5e6, 2e6);
    write_solver("run.9.zt", 3e6, 0);
    write_solver("run.10.zt", 8e6, 0);
}

/* What was forged is what zt_unpack reads. */
static void test_forged_statistics(void **state) {
    const rank_path paths[] = {SAMPLES_ON(UINT32_MAX, STEP, 2, 4e6),
                               {.region = SOLVE, .count = 2, .kept = 1, .total_ns = 4e6},
                               SAMPLES_ON(UINT32_MAX, SOLVE, 1, 7)};
    const rank_facts facts = {.program = "/opt/solver 3", .opened_s = 5, .packed_s = 7};
    rank_pack pack = pack_rank(&facts, regions, REGIONS, paths, 3);
    zt_profiler *profiler = NULL;
    zt_region_info info;
    (void)state;
    ok(zt_unpack(pack.bytes, pack.size, NULL, &profiler));
    assert_string_equal(zt_get_info(profiler).program, "/opt/solver 3");
    assert_true(zt_get_info(profiler).opened_s == 5 && zt_get_info(profiler).packed_s == 7);
    ok(zt_get_region(profiler, zt_find_path(profiler, "step;solve"), &info));
    assert_true(info.count == 2 && info.total_ns == 4e6 && info.time_ns.mean == 2e6 && !info.is_phase);
    ok(zt_get_region(profiler, zt_find_path(profiler, ";solve"), &info));
    assert_true(info.count == 1 && info.total_ns == 7);
    ok(zt_get_region(profiler, zt_find_path(profiler, ";step"), &info));
    assert_true(info.is_phase && info.total_ns == 4e6);
    zt_close(profiler);
    free(pack.bytes);
}

/* Of what phases have: power is finite, times are not negative, no more is freed than was allocated, phases are in phases
   alone. */
static void test_forged_phases(void **state) {
    enum {
        OUTER = 0,
        HOST_WAIT = 76 + 4 * 8,
        JOULES = HOST_WAIT + 8,
        MEMORY = 76 + 20 * 8,
        SIZE = MEMORY + 48 + 24
    };
    static const struct {
        size_t at;
        unsigned char bytes[8];
    } forged[] = {{HOST_WAIT, {0, 0, 0, 0, 0, 0, 0xF0, 0xBF}}, /* -1 */
                  {JOULES, {0, 0, 0, 0, 0, 0, 0xF0, 0x7F}},    /* infinity */
                  {MEMORY, {2}},
                  {MEMORY + 8, {0, 0, 0, 0, 0, 0, 0, 1}},
                  {MEMORY + 16, {1}},
                  {OUTER, {0}}}; /* it is inside of a region */
    const rank_path paths[] = {{.outer = UINT32_MAX, .region = SOLVE}, {.outer = UINT32_MAX, .region = STEP}};
    rank_pack pack = pack_rank(NULL, regions, REGIONS, paths, 2);
    unsigned char *phase = pack.bytes + pack.size - SIZE, before[8];
    zt_profiler *profiler = NULL;
    (void)state;
    assert_int_equal(phase[4], STEP);
    for (size_t i = 0; i < sizeof forged / sizeof *forged; i++) {
        size_t size = forged[i].at == OUTER ? 4 : 8;
        memcpy(before, phase + forged[i].at, size);
        memcpy(phase + forged[i].at, forged[i].bytes, size);
        rank_seal(&pack);
        assert_int_equal(zt_unpack(pack.bytes, pack.size, NULL, &profiler), ZE_RESULT_ERROR_INVALID_ARGUMENT);
        memcpy(phase + forged[i].at, before, size);
    }
    rank_seal(&pack);
    ok(zt_unpack(pack.bytes, pack.size, NULL, &profiler));
    zt_close(profiler);
    free(pack.bytes);
}

/* Ranks are in the order of their numbers, rows in that of their cost. */
static void test_a_table(void **state) {
    (void)state;
    write_solvers();
    const char *table = table_of("run.*.zt");
    assert_contains(table, "Ranks: 4\n");
    assert_contains(table,
                    "       3.000     37.5%        5.000        8.000     10         3.000      9       4"
                    "          8          0  step (phase)\n"
                    "       3.000     37.5%        5.000        8.000     10         3.000      9       4"
                    "          8          0  step;solve\n"
                    "       1.250     62.5%        0.750        2.000      2         0.000      9       2"
                    "         10          0  <b>\"copy\" & \\ ??\xC3\xA9\n");
}

static void test_csv(void **state) {
    (void)state;
    write_solvers();
    assert_int_equal(gather("run.*.zt ranks.csv"), ALL_USED);
    assert_string_equal(
        text_of("ranks.csv"),
        "kind,path,ranks,samples,mean_ns,fastest_ns,fastest_rank,slowest_ns,slowest_rank,"
        "imbalance,cost_ns,lost,dropped,partial_ranks,reason\n"
        "phase,\"step\",4,8,5000000.000,3000000.000,9,8000000.000,10,0.375000,3000000.000,"
        "0,0,\"\",\n"
        "region,\"step;solve\",4,8,5000000.000,3000000.000,9,8000000.000,10,0.375000,"
        "3000000.000,0,0,\"\",\n"
        "region,\"<b>\"\"copy\"\" & \\ ??\xC3\xA9\",2,10,750000.000,0.000,9,"
        "2000000.000,2,0.625000,1250000.000,0,0,\"\",\n"
        "rank,\"0\",,7,,,,,,,,0,0,,\"times alone\"\n"
        "rank,\"2\",,7,,,,,,,,0,0,,\"times alone\"\n"
        "rank,\"9\",,2,,,,,,,,0,0,,\"times alone\"\n"
        "rank,\"10\",,2,,,,,,,,0,0,,\"times alone\"\n"
        "note,\"\",,,,,,,,,,,,,\"There is no file of ranks 1, 3-8. A rank that was killed has "
        "written none.\"\n");
}

static void test_json(void **state) {
    (void)state;
    write_solvers();
    assert_int_equal(gather("run.*.zt ranks.json"), ALL_USED);
    const char *json = text_of("ranks.json");
    assert_contains(json, "{\"ranks\":[\"0\",\"2\",\"9\",\"10\"],");
    assert_contains(json, "{\"kind\":\"region\",\"path\":\"step;solve\",\"ranks\":4,\"samples\":8,"
                          "\"mean_ns\":5000000.000,\"fastest_ns\":3000000.000,\"fastest_rank\":\"9\","
                          "\"slowest_ns\":8000000.000,\"slowest_rank\":\"10\",\"imbalance\":0.375000,"
                          "\"cost_ns\":3000000.000,\"lost\":0,\"dropped\":0,\"partial_ranks\":[],"
                          "\"times_ns\":[4000000.000,5000000.000,3000000.000,8000000.000]}");
    assert_contains(json, "\"path\":\"<b>\\u0022copy\\u0022 & \\u005c \\u0009?\xC3\xA9\"");
    assert_contains(json, "\"times_ns\":[1000000.000,2000000.000,0.000,0.000]}");
    assert_contains(json, "\"unused\":[]}\n");
}

/* Names are escaped; a row has a picture, with a bar for each rank that has the path. */
static void test_a_page(void **state) {
    (void)state;
    write_solvers();
    assert_int_equal(gather("run.*.zt ranks.html"), ALL_USED);
    const char *page = text_of("ranks.html");
    assert_contains(
        page, "<td>step;solve</td><td>4</td><td>8</td><td>0</td><td>3.000</td><td>37.5%</td><td>5.000</td>"
              "<td>8.000</td><td>10</td><td>3.000</td><td>9</td>");
    assert_contains(page, "aria-label=\"GPU time by rank, from 3.000 ms on rank 9 to 8.000 ms on rank 10\"");
    assert_contains(page, "<path d=\"M0 1v-0.50h.8V1z\"/><path class=\"slowest\" d=\"M1 1v-1.00h.8V1z\"/>");
    assert_contains(page, "<td>&#60;b&#62;&#34;copy&#34; &#38; \\ ??\xC3\xA9</td>");
    assert_null(strstr(page, "<b>"));
    assert_null(strstr(page, "http"));
}

/* Each is named with the reason, in each report, and the rest is joined. */
static void test_files_that_cannot_be_used(void **state) {
    const rank_path paths[] = {SAMPLES_ON(UINT32_MAX, SOLVE, 1, 1e6)};
    rank_pack pack = pack_rank(NULL, regions, REGIONS, paths, 1);
    size_t whole = pack.size;
    static const char *const formats[] = {"-", "ranks.csv", "ranks.json", "ranks.html"};
    static const char *const reasons[][2] = {{"cut.1.zt", "the buffer is cut off"},
                                             {"damaged.2.zt", "the buffer is damaged"},
                                             {"other.3.zt", "layout 13"},
                                             {"empty.4.zt", "the buffer is cut off"},
                                             {"text.5.zt", "does not begin with ZTPK"},
                                             {"forged.6.zt", "the contents of the buffer are invalid"},
                                             {"missing.7.zt", "No such file or directory"},
                                             {"two.8.zt", "the statistics end before the buffer does"}};
    (void)state;
    assert_true(write_pack(&pack, in_directory("good.0.zt")));
    rank_put_u32(&pack, 0);
    assert_true(write_pack(&pack, in_directory("two.8.zt"))); /* as cat writes two files into one */
    pack.size = whole - 1;
    assert_true(write_pack(&pack, in_directory("cut.1.zt")));
    pack.size = 0;
    assert_true(write_pack(&pack, in_directory("empty.4.zt")));
    pack.size = whole;
    pack.bytes[RANK_HEADER] ^= 1;
    assert_true(write_pack(&pack, in_directory("damaged.2.zt")));
    rank_seal(&pack); /* as if it had a metric */
    assert_true(write_pack(&pack, in_directory("forged.6.zt")));
    pack.bytes[4]++;
    assert_true(write_pack(&pack, in_directory("other.3.zt")));
    pack.bytes[0]++;
    assert_true(write_pack(&pack, in_directory("text.5.zt")));
    free(pack.bytes);
    for (int i = 0; i < 4; i++) {
        char arguments[200];
        snprintf(arguments, sizeof arguments, "*.zt missing.7.zt %s", formats[i]);
        assert_int_equal(gather(arguments), SOME_USED);
        const char *errors = text_of("errors"), *report = text_of(i ? formats[i] : "output");
        assert_contains(report, "solve");
        assert_null(strstr(report, "good.0.zt is not used"));
        for (size_t file = 0; file < sizeof reasons / sizeof *reasons; file++) {
            assert_contains(errors, reasons[file][0]);
            assert_contains(errors, reasons[file][1]);
            assert_contains(report, reasons[file][0]);
            assert_contains(report, reasons[file][1]);
        }
    }
    assert_int_equal(gather("cut.1.zt . -"), NONE_USED);
    assert_contains(text_of("output"), "Ranks: 0\n");
    assert_contains(text_of("errors"), ". is not used: Is a directory");
}

/* Runs gather with each format. Asserts that all files were used, and that a note has the text, once; NULL: that there is no
   note. */
static void expect_note(const char *files, const char *note) {
    static const char *const formats[] = {"-", "ranks.csv", "ranks.json", "ranks.html"};
    for (int i = 0; i < 4; i++) {
        char arguments[PATH_MAX];
        snprintf(arguments, sizeof arguments, "%s %s", files, formats[i]);
        assert_int_equal(gather(arguments), ALL_USED);
        const char *errors = text_of("errors"), *report = text_of(i ? formats[i] : "output");
        if (note) {
            assert_contains(errors, note);
            assert_contains(report, note);
            assert_null(strstr(strstr(report, note) + 1, note));
        } else {
            assert_string_equal(errors, "");
            assert_null(strstr(report, "Note:"));
            assert_null(strstr(report, "note,"));
        }
    }
}

/* A rank that solves for a millisecond. */
static void write_facts(const char *name, const rank_facts *facts) {
    const rank_path paths[] = {SAMPLES_ON(UINT32_MAX, SOLVE, 4, 1e6)};
    write_rank(name, facts, regions, REGIONS, paths, 1);
}

static void test_nothing_to_note(void **state) {
    (void)state;
    for (uint64_t i = 0; i < 3; i++) {
        static const char *const names[] = {"run.0.zt", "run.1.zt", "run.2.zt"};
        static const char *const programs[] = {"./solver 1", "/a/b/solver 2 /c",
                                               "\"/with a space/solver\" x"};
        write_facts(names[i], &(rank_facts){.metric = "L3_HIT",
                                            .group = "ComputeBasic",
                                            .program = programs[i],
                                            .opened_s = 1000 + 10 * i,
                                            .packed_s = 1025 + i});
    }
    expect_note("run.*.zt", NULL);
    assert_contains(text_of("ranks.json"), "\"notes\":[],");
    assert_contains(text_of("ranks.json"), "{\"rank\":\"1\",\"file\":\"run.1.zt\",\"program\":\"solver\","
                                           "\"measured\":\"ComputeBasic (1 metrics)\",\"samples\":4,");
}

/* Ranks that have not measured the same are joined, because their times are compared. */
static void test_other_metrics(void **state) {
    (void)state;
    write_facts("run.0.zt", NULL);
    write_facts("run.1.zt", &(rank_facts){.metric = "L3_HIT", .group = "ComputeBasic"});
    write_facts("run.2.zt", &(rank_facts){.metric = "L3_HIT", .group = "ComputeBasic"});
    write_facts("run.3.zt", &(rank_facts){.metric = "L3_HIT", .group = "ComputeBasic"});
    write_facts("run.4.zt", NULL);
    write_rank("run.5.zt", &(rank_facts){.is_idle = 1}, NULL, 0, NULL, 0); /* it has not chosen either */
    expect_note("run.*.zt", "Measured on ranks 0, 4: times alone; on ranks 1-3: ComputeBasic (1 metrics).");
    assert_contains(text_of("ranks.json"), "\"measured\":\"nothing, because nothing was launched\"");
    assert_int_equal(remove(in_directory("run.5.zt")), 0);
    write_facts("run.4.zt", &(rank_facts){.metric = "XVE_ACTIVE", .group = "ComputeBasic"});
    write_facts("run.0.zt", &(rank_facts){.metric = "L3_HIT", .group = "DataPort"});
    expect_note("run.*.zt",
                "Measured on rank 0: DataPort (1 metrics); on ranks 1-3: ComputeBasic (1 metrics).");
    expect_note("run.*.zt",
                "Measured on rank 4: ComputeBasic (1 metrics); on ranks 1-3: ComputeBasic (1 metrics).");
    assert_contains(text_of("ranks.json"), "\"ranks\":5,\"samples\":20,\"mean_ns\":1000000.000");
}

/* A rank that has lost most samples of a path is not the fastest there, and is marked. */
static void test_lost_samples(void **state) {
    rank_path paths[] = {SAMPLES_ON(UINT32_MAX, SOLVE, 10, 8e6), SAMPLES_ON(UINT32_MAX, COPY, 10, 5e6)};
    (void)state;
    write_rank("run.0.zt", NULL, regions, REGIONS, paths, 2);
    paths[0].total_ns = 6e6;
    write_rank("run.1.zt", NULL, regions, REGIONS, paths, 2);
    paths[0].total_ns = 2e6;
    paths[0].count = 3;
    paths[0].lost = 5;
    paths[0].dropped = 2;
    write_rank("run.2.zt", NULL, regions, REGIONS, paths, 2);
    expect_note("run.*.zt", "rank 2 has lost 5 and not measured 2 of 20.");
    assert_contains(text_of("ranks.json"), "\"fastest_ns\":6000000.000,\"fastest_rank\":\"1\","
                                           "\"slowest_ns\":8000000.000,\"slowest_rank\":\"0\",");
    assert_contains(text_of("ranks.json"), "\"lost\":5,\"dropped\":2,\"partial_ranks\":[\"2\"],\"times_ns\"");
    assert_contains(text_of("ranks.json"), "\"samples\":13,\"lost\":5,\"dropped\":2,\"unobserved_lists\":0}");
    assert_contains(text_of("ranks.csv"), ",0.333333,2666666.667,5,2,\"2\",\n");
    assert_contains(text_of("ranks.csv"), "rank,\"2\",,13,,,,,,,,5,2,,");
    assert_contains(text_of("ranks.html"), "<td>solve</td><td>3</td><td>23</td><td>7</td>");

    paths[0].total_ns = 9e6; /* at least: it is the slowest all the same */
    write_rank("run.1.zt", NULL, regions, REGIONS, paths, 2);
    assert_contains(table_of("run.*.zt"), " 9.000      1*        8.000      0       3");
    assert_int_equal(gather("run.*.zt ranks.html"), ALL_USED);
    assert_contains(text_of("ranks.html"), "<td>9.000</td><td>1*</td><td>8.000</td><td>0</td>");

    paths[0].count = 0; /* nothing is left */
    paths[0].total_ns = 0;
    write_rank("run.0.zt", NULL, regions, REGIONS, paths, 1);
    assert_contains(table_of("run.0.zt"),
                    " 0.000      0*        0.000      0*      0          0          7  solve\n");
}

/* A rank that was killed has no file; one that has launched nothing has one without paths. */
static void test_missing_ranks(void **state) {
    (void)state;
    write_facts("run.0.zt", NULL);
    write_facts("run.1.zt", NULL);
    write_rank("run.3.zt", NULL, NULL, 0, NULL, 0);
    write_facts("run.6.zt", NULL);
    expect_note("run.*.zt", "There is no file of ranks 2, 4-5.");
    expect_note("run.*.zt", "Nothing was measured on rank 3.");
    assert_contains(text_of("ranks.json"), "\"ranks\":3,\"samples\":12,\"mean_ns\":750000.000,"
                                           "\"fastest_ns\":0.000,\"fastest_rank\":\"3\","
                                           "\"slowest_ns\":1000000.000,\"slowest_rank\":\"0\","
                                           "\"imbalance\":0.250000,\"cost_ns\":250000.000");
    write_facts("run.12345.zt", NULL); /* a process ID */
    write_facts("run.12347.zt", NULL);
    expect_note("run.12345.zt run.12347.zt", NULL);
}

static void test_other_programs(void **state) {
    (void)state;
    write_facts("run.0.zt", &(rank_facts){.program = "/bin/other -n"});
    write_facts("run.1.zt", &(rank_facts){.program = "solver -n"});
    write_facts("run.2.zt", &(rank_facts){.program = "../solver"});
    write_rank("run.3.zt", &(rank_facts){.program = "sh", .is_idle = 1}, NULL, 0, NULL, 0);
    expect_note("run.*.zt", "Program of rank 0: other; of ranks 1-2: solver.");
    assert_null(strstr(text_of("errors"), "Program of rank 3"));
}

/* Ranks of one run need not begin or end at the same time. */
static void test_other_runs(void **state) {
    (void)state;
    write_facts("run.0.zt", &(rank_facts){.opened_s = 100, .packed_s = 200});
    write_facts("run.1.zt", &(rank_facts){.opened_s = 200, .packed_s = 260});
    write_facts("run.2.zt", &(rank_facts){.opened_s = 150, .packed_s = 210});
    write_facts("run.3.zt", NULL); /* it is not known */
    expect_note("run.*.zt", NULL);
    write_rank("run.4.zt", &(rank_facts){.opened_s = 10, .packed_s = 11, .is_idle = 1}, NULL, 0, NULL, 0);
    write_facts("run.0.zt", &(rank_facts){.opened_s = 100, .packed_s = 149});
    expect_note("run.*.zt",
                "Perhaps of another run: rank 0, from 1970-01-01 00:01:40 to 1970-01-01 00:02:29 "
                "UTC. Not meanwhile, but from 1970-01-01 00:03:20 to 1970-01-01 00:04:20: ranks 1-2.");
}

/* The devices of a rank are numbered by their place among those that it has used. */
static void test_devices(void **state) {
    static const char *const names[] = {"device 0: GPU", "device 1: GPU", "device 2: GPU", "device 3: GPU"};
    (void)state;
    for (int rank = 0; rank < 2; rank++) {
        const rank_region of_rank[] = {
            {names[2 * rank], 1}, {"solve", 0}, {names[2 * rank + 1], 1}, {"step", 1}};
        rank_path paths[] = {SAMPLES_ON(UINT32_MAX, 0, 1, 1e6), SAMPLES_ON(0, 1, 1, 1e6),
                             SAMPLES_ON(UINT32_MAX, 2, 1, 2e6 + 4e6 * rank),
                             SAMPLES_ON(2, 1, 1, 2e6 + 4e6 * rank), SAMPLES_ON(UINT32_MAX, 3, 0, 0)};
        paths[0].device = paths[1].device = 1;
        paths[2].device = paths[3].device = 2;
        write_rank(rank ? "run.1.zt" : "run.0.zt", NULL, of_rank, 4, paths, 5);
    }
    write_facts("run.2.zt", NULL); /* it has one device, so that its paths have no such level */
    expect_note("run.*.zt", NULL);
    const char *csv = text_of("ranks.csv");
    assert_contains(
        csv, "device,\"device 0\",3,6,1000000.000,1000000.000,0,1000000.000,0,0.000000,0.000,0,0,\"\",\n");
    assert_contains(csv, "region,\"device 0;solve\",3,6,1000000.000,");
    assert_contains(csv, "device,\"device 1\",2,2,2666666.667,0.000,2,6000000.000,1,0.555556,3333333.333,");
    assert_contains(csv, "region,\"device 1;solve\",2,2,2666666.667,0.000,2,6000000.000,1,");
    assert_null(strstr(csv, "GPU"));
    assert_null(strstr(csv, "step"));
    assert_contains(text_of("ranks.html"), "device 1 its second one");
    expect_note("run.2.zt", "There is no file of ranks 0-1.");
    assert_contains(text_of("ranks.csv"), "region,\"solve\",1,4,");
}

/* Nothing is overwritten by a report whose name was forgotten. */
static void test_wrong_arguments(void **state) {
    (void)state;
    write_solvers();
    assert_int_equal(gather("run.0.zt run.2.zt"), NONE_USED);
    assert_contains(text_of("errors"), "usage: gather");
    assert_int_equal(gather("-"), NONE_USED);
    assert_int_equal(gather("run.0.zt nowhere/ranks.csv"), NONE_USED);
    assert_contains(text_of("errors"), "cannot write nowhere/ranks.csv: No such file or directory");
    assert_contains(table_of("run.2.zt"), "Ranks: 1\n");
}

/* A rank without a number, or with that of another file, has the name of its file. A rank with two profilers has two
   files. */
static void test_numbers(void **state) {
    (void)state;
    write_solver("a.zt", 1e6, 0);
    write_solver("node12.zt", 4e6, 0);
    write_solver("run.3.2.zt", 3e6, 0);
    write_solver("run.3.zt", 2e6, 0);
    assert_int_equal(gather("node12.zt run.3.2.zt run.3.zt a.zt ranks.json"), ALL_USED);
    assert_contains(text_of("ranks.json"), "{\"ranks\":[\"3\",\"3.2\",\"12\",\"a.zt\"],");
    assert_contains(text_of("ranks.json"), "\"times_ns\":[2000000.000,3000000.000,4000000.000,1000000.000]}");
    write_solver("b.3.zt", 5e6, 0);
    assert_int_equal(gather("a.zt b.3.zt run.3.zt ranks.csv"), ALL_USED);
    assert_contains(text_of("ranks.csv"), "region,\"step;solve\",3,6,2666666.667,1000000.000,\"a.zt\","
                                          "5000000.000,\"b.3.zt\",0.466667,");
    assert_int_equal(gather("a.zt b.3.zt run.3.zt -"), ALL_USED);
    assert_contains(text_of("output"), " 5.000 b.3.zt         1.000   a.zt       3");
    assert_int_equal(gather("a.zt run.3.zt a.zt ranks.json"), SOME_USED);
    assert_contains(text_of("ranks.json"), "{\"ranks\":[\"3\",\"a.zt\"],");
    assert_contains(text_of("ranks.json"),
                    "\"unused\":[\n{\"file\":\"a.zt\",\"reason\":\"it was passed twice");
}

/* More paths than the first map has room for, of which each rank has others; more rows than table and page show. */
static void test_many_paths(void **state) {
    enum { PATHS = 3000 };
    static char names[PATHS][16];
    static rank_region many[PATHS];
    static rank_path paths[PATHS];
    (void)state;
    for (int rank = 0; rank < 2; rank++) {
        for (uint32_t i = 0; i < PATHS; i++) {
            snprintf(names[i], sizeof names[i], "r%u", (unsigned)(rank ? PATHS + 1 - i : i));
            many[i].name = names[i];
            paths[i].outer = UINT32_MAX;
            paths[i].region = i;
            paths[i].count = 1;
            paths[i].total_ns = 1e6 * (rank + 1);
        }
        write_rank(rank ? "run.1.zt" : "run.0.zt", NULL, many, PATHS, paths, PATHS);
    }
    assert_contains(table_of("run.*.zt"),
                    "\nShown: 30 of 3002 rows. A report with the suffix .csv has all.\n");
    assert_int_equal(gather("run.*.zt ranks.html"), ALL_USED);
    assert_contains(text_of("ranks.html"),
                    "<p>Shown: 200 of 3002 rows. A report with the suffix .csv has all.</p>");
    assert_int_equal(gather("run.*.zt ranks.csv"), ALL_USED);
    const char *csv = text_of("ranks.csv");
    assert_contains(
        csv, "region,\"r2\",2,2,1500000.000,1000000.000,0,2000000.000,1,0.250000,500000.000,0,0,\"\",\n");
    assert_contains(csv,
                    "region,\"r1\",1,1,500000.000,0.000,1,1000000.000,0,0.500000,500000.000,0,0,\"\",\n");
    assert_contains(
        csv, "region,\"r3001\",1,1,1000000.000,0.000,0,2000000.000,1,0.500000,1000000.000,0,0,\"\",\n");
}

#define IN_DIRECTORY(function) cmocka_unit_test_setup_teardown(function, make_directory, remove_directory)

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_forged_statistics),
        cmocka_unit_test(test_forged_phases),
        IN_DIRECTORY(test_a_table),
        IN_DIRECTORY(test_csv),
        IN_DIRECTORY(test_json),
        IN_DIRECTORY(test_a_page),
        IN_DIRECTORY(test_files_that_cannot_be_used),
        IN_DIRECTORY(test_nothing_to_note),
        IN_DIRECTORY(test_other_metrics),
        IN_DIRECTORY(test_lost_samples),
        IN_DIRECTORY(test_missing_ranks),
        IN_DIRECTORY(test_other_programs),
        IN_DIRECTORY(test_other_runs),
        IN_DIRECTORY(test_devices),
        IN_DIRECTORY(test_wrong_arguments),
        IN_DIRECTORY(test_numbers),
        IN_DIRECTORY(test_many_paths),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
