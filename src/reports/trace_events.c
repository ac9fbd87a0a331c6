/* Events of the Trace Event format. */

#include "reports/trace_events.h"

#include "base/compiler.h"
#include "base/programs.h"
#include "base/writer.h"
#include "reports/json.h"

ZT__PRIVATE void zt__begin_event(zt__writer *writer, const char *phase, const char *name, long process,
                                 uint32_t track) {
    char *demangled;
    zt__write_comma(writer);
    zt__print(writer, "\n{\"ph\":\"%s\",\"name\":", phase);
    zt__write_json_string(writer, zt__show_name(name, &demangled));
    free(demangled);
    zt__print(writer, ",\"pid\":%ld", process);
    if (*phase != 'C') { /* counters are of a process */
        zt__print(writer, ",\"tid\":%u", (unsigned)track);
    }
}

ZT__PRIVATE void zt__write_event_time(zt__writer *writer, const char *name, uint64_t ns) {
    zt__print(writer, ",\"%s\":%llu.%03u", name, (unsigned long long)(ns / 1000), (unsigned)(ns % 1000));
}

ZT__PRIVATE void zt__write_name(zt__writer *writer, const char *what, long process, uint32_t track,
                                const char *name) {
    zt__begin_event(writer, "M", what, process, track);
    zt__write_text(writer, ",\"args\":{");
    zt__write_json_text(writer, "name", name);
    zt__write_text(writer, "}}");
}

ZT__PRIVATE void zt__write_place(zt__writer *writer, const char *what, long process, uint32_t track,
                                 uint32_t place) {
    zt__begin_event(writer, "M", what, process, track);
    zt__print(writer, ",\"args\":{\"sort_index\":%u}}", (unsigned)place);
}

ZT__PRIVATE void zt__write_flow(zt__writer *writer, const char *phase, long process, uint32_t track,
                                uint64_t ns, uint32_t id) {
    zt__begin_event(writer, phase, "submit", process, track);
    zt__write_event_time(writer, "ts", ns);
    zt__print(writer, ",\"cat\":\"flow\",\"id\":%u%s}", (unsigned)id, *phase == 'f' ? ",\"bp\":\"e\"" : "");
}
