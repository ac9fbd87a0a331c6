/* Files that are read whole, and files that are written whole: beside the name, and then renamed. */

#pragma once

#include "base/compiler.h"
#include "base/system.h"

/* Writes the content of a file. UNKNOWN: the file does not take it, and errno has the reason. Other failures
   are reported by the function itself. */
typedef ze_result_t (*zt__content_fn)(const void *content, FILE *file);

/* Writes to `file`, and then calls `end` with it: fclose, or fflush for a standard stream. `file` may be
   NULL: it could not be opened. Returns what `write` returns; UNKNOWN with the reason in errno, if the file
   could not be written. */
ZT__PRIVATE ze_result_t zt__write_content(FILE *file, int (*end)(FILE *), zt__content_fn write,
                                          const void *content);

/* Writes a file beside the one of this name and renames it, so that nobody reads an incomplete one. The file
   has the access rights of the one that it replaces. Returns as zt__write_content. */
ZT__PRIVATE ze_result_t zt__replace_file(const char *path, zt__content_fn write, const void *content);

/* Reads a regular file of at most `most` bytes. A 0 follows its text. Returns NULL if it cannot be read, with the reason in
   `*why`: NULL if there is no memory. */
ZT__PRIVATE char *zt__read_file(const zt_allocator *allocator, const char *path, uint64_t most, size_t *size,
                                const char **why);
