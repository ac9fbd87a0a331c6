/* Events of the Trace Event format. */

#pragma once

#include "base/compiler.h"
#include "base/system.h"
#include "base/writer.h"

/* Writes the beginning of an event. The caller adds its other members and the closing brace. `phase` is its
   type: "X" a span, "C" a counter, "i" an instant, "s" and "f" begin and end of a flow, "M" a name. */
ZT__PRIVATE void zt__begin_event(zt__writer *writer, const char *phase, const char *name, long process,
                                 uint32_t track);

/* Writes a time in microseconds, as the format wants it, exactly. */
ZT__PRIVATE void zt__write_event_time(zt__writer *writer, const char *name, uint64_t ns);

/* Writes the name of a process or track. */
ZT__PRIVATE void zt__write_name(zt__writer *writer, const char *what, long process, uint32_t track,
                                const char *name);

/* Writes the place of a process or track among the others. */
ZT__PRIVATE void zt__write_place(zt__writer *writer, const char *what, long process, uint32_t track,
                                 uint32_t place);

/* Writes begin or end ("s" or "f") of a flow. It leads from and to the innermost span at that time that is written
   before it. */
ZT__PRIVATE void zt__write_flow(zt__writer *writer, const char *phase, long process, uint32_t track,
                                uint64_t ns, uint32_t id);
