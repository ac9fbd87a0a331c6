/* Graphs: what was captured into them, and the names of their regions. */

#pragma once

#include "base/compiler.h"
#include "base/system.h"
#include "tracer/frames.h"
#include "tracer/tracer.h"

#ifdef ZETOOLS_TRACER

/* Adds a command that was captured to the content of its graph, and counts it. For any command that was appended. */
ZT__PRIVATE void zt__after_command(zt__frame *frame);

/* Stores what a list has captured as the content of a graph, when its capture has ended. The mutex is held, and
   unlocked while a record is added. */
ZT__PRIVATE void zt__store_content(zt__tracer *tracer, ze_command_list_handle_t list, const void *graph);

ZT__PRIVATE void zt__after_graph_instantiate(zt__frame *frame);

ZT__PRIVATE void zt__before_graph_destroy(zt__frame *frame);

/* Returns the name of an executable graph, or NULL without memory. The mutex is held, and unlocked if the graph is not
   known. */
ZT__PRIVATE zt__kernel_name *zt__name_of_graph(zt__tracer *tracer, const void *executable);

#endif
