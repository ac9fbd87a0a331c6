/* Source lines of addresses, by a program that reads debug information. */

#include "modules/lines.h"

#include "base/compiler.h"
#include "base/platform.h"
#include "base/programs.h"
#include "base/threads.h"
#include "base/writer.h"

#if defined(ZETOOLS_TRACER) || defined(ZETOOLS_DEBUG)

/* Called with each line that the tool prints, one for each address: "/path/file.cl:12", perhaps followed by a
   blank and more, or "??:0". */
static void zt__read_line(void *user, const char *text) {
    zt__line_search *search = (zt__line_search *)user;
    const char *colon = strrchr(text, ':');
    unsigned long line = colon ? strtoul(colon + 1, NULL, 10) : 0;
    uint32_t index = search->next < search->count ? search->next++ : UINT32_MAX;
    if (index != UINT32_MAX && line > 0 && line <= UINT32_MAX && colon > text &&
        strncmp(text, "??", 2) != 0) {
        search->found +=
            search->function(search->user, index, text, (size_t)(colon - text), (uint32_t)line) != 0;
    }
}

ZT__PRIVATE int zt__search_lines(zt__line_search *search, const uint8_t *debug, size_t size) {
    static const char *const programs[][6] = {
        {"addr2line", "-e", ZT__TOOL_OBJECT, NULL, NULL, NULL},
        {"llvm-addr2line", "-e", ZT__TOOL_OBJECT, NULL, NULL, NULL},
        {"llvm-symbolizer", "--obj=" ZT__TOOL_OBJECT, "--functions=none", "--no-inlines",
         "--output-style=GNU", NULL},
    };
    const uint64_t longest_ns = UINT64_C(10000000000);
    FILE *input = zt__create_temporary_file(), *object = zt__create_temporary_file();
    zt__tool tool = {NULL, input, object, 0, zt__read_line, search};
    zt__writer writer;
    int has_run = 0;
    uint32_t i;
    zt__begin_writing(&writer, zt__write_to_file, input);
    for (i = 0; input && i < search->count; i++) {
        char line[24];
        snprintf(line, sizeof line, "0x%llx\n", (unsigned long long)search->addresses[i]);
        zt__write_text(&writer, line);
    }
    if (input && object && zt__end_writing(&writer) && zt__write_to_file(debug, size, object) == 0) {
        tool.deadline = zt__deadline(longest_ns);
        for (i = 0; i < ZT__COUNT_OF(programs) && search->found == 0; i++) {
            tool.arguments = programs[i];
            search->next = 0;
            has_run |= zt__run_tool(&tool);
        }
    }
    if (input) {
        fclose(input);
    }
    if (object) {
        fclose(object);
    }
    return has_run;
}

#endif
