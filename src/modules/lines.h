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
    uint32_t count, next; /* the address that the next line is for */
    uint32_t found;
    zt__line_fn function;
    void *user;
} zt__line_search;

/* Finds the lines of addresses in debug information. Programs are run until one of them finds lines: one that
   exists may not know the device's format. Returns 0 if there is none, or no room for their files. */
ZT__PRIVATE int zt__search_lines(zt__line_search *search, const uint8_t *debug, size_t size);

#endif
