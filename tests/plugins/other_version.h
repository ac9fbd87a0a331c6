/* A file of the program test_scoped with a copy of the library of its own, of another version (ZETOOLS_STATIC). */
#ifndef TESTS_OTHER_VERSION_H
#define TESTS_OTHER_VERSION_H

#include <level_zero/ze_api.h>

/* Returns how many regions a profiler of that version has begun: three scopes. */
int count_scopes_of_other_version(ze_context_handle_t context, ze_device_handle_t device,
                                  ze_command_list_handle_t list);

#endif
