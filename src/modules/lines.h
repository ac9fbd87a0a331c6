/* Source lines of addresses, by a program that reads debug information. */

#pragma once

#include "base/compiler.h"
#include "base/system.h"

#if defined(ZETOOLS_TRACER) || defined(ZETOOLS_DEBUG)

/* Called with the source line of an address, by its index. `file` has `length` characters. Returns 0 if it
   cannot be kept. */
typedef int (*zt__line_fn)(void *user, uint32_t index, const char *file, size_t length, uint32_t line);

/* Addresses of a file with debug information, whose source lines are looked up. */
typedef struct zt__line_search {
    const uint64_t *addresses;
    uint32_t count;
    uint32_t next;  /* index of the address whose line is printed next */
    uint32_t found; /* lines that `function` has kept */
    zt__line_fn function;
    void *user;
} zt__line_search;

/* Finds the lines of addresses in debug information. Programs are run in turn until one of them finds lines:
   a program that exists may not know the format of the device. Returns 0 if none could be run. */
ZT__PRIVATE int zt__search_lines(zt__line_search *search, const uint8_t *debug, size_t size);

#endif
