/* A file of the program test_process with a copy of the library of its own (ZETOOLS_STATIC). */
#ifndef TESTS_OTHER_FILE_H
#define TESTS_OTHER_FILE_H

#include "../fixture.h"

ze_result_t other_open(ze_context_handle_t context, ze_device_handle_t device, const zt_config *config,
                       zt_profiler **profiler);
ze_result_t other_collect(zt_profiler *profiler, uint64_t timeout_ns);
void other_run(zt_profiler *profiler, ze_command_list_handle_t list, const char *name);
zt_counts other_counts(const zt_profiler *profiler);
void other_close(zt_profiler *profiler);

#endif
