/* Traces in Perfetto's own format, read by a library for Protocol Buffers. */
#define _GNU_SOURCE
#include "perfetto.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Which has the packages of the system, whatever else there is. */
#define SYSTEMS_PYTHON "env -u LD_LIBRARY_PATH -u LD_PRELOAD PATH=\"/usr/bin:$PATH\" python3"

int can_read_perfetto(void) {
    static int answer = -1;
    if (answer < 0)
        answer = system(SYSTEMS_PYTHON " -c 'import google.protobuf' 2>/dev/null") == 0;
    return answer;
}

const char *check_perfetto(const char *arguments) {
    static char output[1 << 14];
    char script[PATH_MAX], command[4 * PATH_MAX];
    find_file("tests/check_perfetto.py", script, sizeof script);
    snprintf(command, sizeof command, SYSTEMS_PYTHON " '%s' %s", script, arguments);
    FILE *pipe = popen(command, "r");
    assert_non_null(pipe);
    output[fread(output, 1, sizeof output - 1, pipe)] = 0;
    if (pclose(pipe) != 0)
        fail_msg("%s:\n%s", command, output);
    return output;
}

/* Writes a report to a new file, whose path ends in X's and this suffix. */
static void report_to_new_file(const zt_profiler *profiler, char *path, int suffix) {
    int file = mkstemps(path, suffix);
    assert_true(file >= 0);
    close(file);
    ok(zt_report(profiler, path));
}

const char *compare_with_perfetto(const zt_profiler *profiler, const char *trace) {
    char path[] = "/tmp/zetools-XXXXXX.pftrace", arguments[2 * PATH_MAX];
    if (!can_read_perfetto())
        return "";
    report_to_new_file(profiler, path, 8);
    snprintf(arguments, sizeof arguments, "'%s' '%s'", path, trace);
    const char *output = check_perfetto(arguments);
    unlink(path);
    return output;
}

const char *compare_traces(const zt_profiler *profiler) {
    char path[] = "/tmp/zetools-XXXXXX.trace.json";
    report_to_new_file(profiler, path, 11);
    const char *output = compare_with_perfetto(profiler, path);
    unlink(path);
    return output;
}
