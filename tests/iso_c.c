/* Regions as compilers see them that know ISO C alone, in which no function runs at the end of a block. */
#undef __GNUC__
#include "zetools.h"

/* Returns 1. */
int break_in_iso_c(zt_profiler *profiler, ze_command_list_handle_t list);

int break_in_iso_c(zt_profiler *profiler, ze_command_list_handle_t list) {
    int runs = 0;
    ZT_REGION(profiler, list, "break") {
        runs++;
        if (list)
            break;
        runs++;
    }
    return runs;
}
