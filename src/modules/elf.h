/* Kernels and functions in ELF files. */

#pragma once

#include "base/compiler.h"
#include "base/system.h"

#if defined(ZETOOLS_TRACER) || defined(ZETOOLS_DEBUG)

/* Native binaries and debug information are ELF files, of 64 bits and little-endian. They may be damaged, so
   each access is checked. */
typedef struct zt__elf {
    const uint8_t *bytes;
    size_t size;
    uint64_t sections, names; /* offset of the table of sections; index of the section with their names */
    uint32_t section_count;
    int is_relocatable; /* the addresses of symbols are relative to their sections */
} zt__elf;

typedef struct zt__elf_section {
    uint64_t name, type, address, offset, size, link;
} zt__elf_section;

/* The instructions of a kernel. Those of the same hash are assumed to be the same. */
typedef struct zt__code {
    uint64_t size, hash;
} zt__code;

/* A function in a file. */
typedef struct zt__function {
    const char *name; /* in the bytes of the file */
    uint64_t address, size;
} zt__function;

/* Returns 0 if the bytes are no such file. `bytes` may be NULL. */
ZT__PRIVATE int zt__open_elf(const uint8_t *bytes, size_t size, zt__elf *elf);

ZT__PRIVATE zt__elf_section zt__elf_section_at(const zt__elf *elf, uint64_t index);

/* Returns whether the text at an offset of a section is `prefix`, followed by `text`. */
ZT__PRIVATE int zt__is_elf_text(const zt__elf *elf, uint64_t section, uint64_t offset, const char *prefix,
                                const char *text);

/* Finds a kernel in a file: a function with the instructions `wanted`, which may have any name; else the
   section or the function that has the kernel's name. `wanted` may be NULL. Returns 0 if there is none. */
ZT__PRIVATE int zt__find_in_elf(const zt__elf *elf, const char *name, const zt__code *wanted,
                                uint64_t *address, zt__code *code);

/* Finds the function that has an address of the file: the section of a kernel, or else a symbol. Returns 0 if
   there is none. */
ZT__PRIVATE int zt__find_function_at(const zt__elf *elf, uint64_t address, zt__function *found);

#endif
