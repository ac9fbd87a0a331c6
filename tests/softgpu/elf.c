/* Native binaries as ELF, and the dynamic linker. */
#define _GNU_SOURCE /* dlinfo, memfd_create */
#include "module.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

bool sg_is_whole_library(const uint8_t *binary, size_t size) {
    ElfW(Ehdr) header;
    if (size < sizeof header)
        return false;
    memcpy(&header, binary, sizeof header);
    if (memcmp(header.e_ident, ELFMAG, SELFMAG) ||
        header.e_ident[EI_CLASS] != (sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32) ||
        header.e_type != ET_DYN || header.e_phentsize != sizeof(ElfW(Phdr)) || header.e_phoff > size ||
        header.e_phnum > (size - header.e_phoff) / sizeof(ElfW(Phdr)))
        return false;
    bool dynamic = false;
    for (unsigned i = 0; i < header.e_phnum; ++i) {
        ElfW(Phdr) part;
        memcpy(&part, binary + header.e_phoff + i * sizeof part, sizeof part);
        if (part.p_offset > size || part.p_filesz > size - part.p_offset)
            return false;
        dynamic |= part.p_type == PT_DYNAMIC;
    }
    return dynamic;
}

void *sg_open_library(const uint8_t *binary, size_t size, int *file) {
    char path[64];
    *file = memfd_create("kernels", MFD_CLOEXEC);
    if (*file < 0 || write(*file, binary, size) != (ssize_t)size)
        return NULL;
    snprintf(path, sizeof path, "/proc/self/fd/%d", *file);
    return dlopen(path, RTLD_NOW | RTLD_LOCAL);
}

/* ---- symbols and sections ------------------------------------------------------------------------------ */

/* The table of sections, where the whole of it is there; its length goes to `count`. */
static const uint8_t *sections_of(const sg_code *code, unsigned *count, unsigned *names) {
    ElfW(Ehdr) header;
    memcpy(&header, code->binary, sizeof header);
    if (header.e_shoff > code->size || header.e_shstrndx >= header.e_shnum ||
        header.e_shnum > (code->size - header.e_shoff) / sizeof(ElfW(Shdr)))
        return NULL;
    *count = header.e_shnum;
    *names = header.e_shstrndx;
    return code->binary + header.e_shoff;
}

static ElfW(Shdr) section_at(const uint8_t *sections, unsigned index) {
    ElfW(Shdr) section;
    memcpy(&section, sections + index * sizeof section, sizeof section);
    return section;
}

/* The string at the place in a section of strings, where it ends within the binary. */
static const char *string_at(const sg_code *code, const ElfW(Shdr) * strings, size_t place) {
    if (strings->sh_offset > code->size || place >= code->size - strings->sh_offset)
        return NULL;
    const uint8_t *at = code->binary + strings->sh_offset + place;
    return memchr(at, '\0', code->size - strings->sh_offset - place) ? (const char *)at : NULL;
}

bool sg_has_debug_info(const sg_code *code) {
    unsigned count, names_index;
    const uint8_t *sections = sections_of(code, &count, &names_index);
    if (!sections)
        return false;
    ElfW(Shdr) names = section_at(sections, names_index);
    for (unsigned i = 0; i < count; ++i) {
        const char *found = string_at(code, &names, section_at(sections, i).sh_name);
        if (found && !strcmp(found, ".debug_info"))
            return true;
    }
    return false;
}

/* The entry of a function or an object in the table of what the binary exports; its size is 0 if it has none. */
static ElfW(Sym) exported_symbol(const sg_code *code, const char *name, bool is_function) {
    unsigned count = 0, unused;
    const uint8_t *sections = sections_of(code, &count, &unused);
    for (unsigned i = 0; sections && i < count; ++i) {
        ElfW(Shdr) table = section_at(sections, i);
        ElfW(Sym) symbol;
        if (table.sh_type != SHT_DYNSYM || table.sh_link >= count || table.sh_offset > code->size ||
            table.sh_size > code->size - table.sh_offset)
            continue;
        ElfW(Shdr) strings = section_at(sections, table.sh_link);
        for (size_t at = 0; at + sizeof symbol <= table.sh_size; at += sizeof symbol) {
            memcpy(&symbol, code->binary + table.sh_offset + at, sizeof symbol);
            const char *found = string_at(code, &strings, symbol.st_name);
            if (found && !strcmp(found, name) && symbol.st_shndx != SHN_UNDEF &&
                (symbol.st_info & 0xfu) == (is_function ? STT_FUNC : STT_OBJECT))
                return symbol;
        }
    }
    return (ElfW(Sym)){0};
}

/* What the dynamic linker finds, if it is the binary's own and not of a library that the binary needs. */
void *sg_find_symbol(const sg_code *code, const char *name, bool is_function, size_t *size) {
    const struct link_map *map = NULL;
    void *found = dlsym(code->library, name);
    ElfW(Sym) symbol = exported_symbol(code, name, is_function);
    if (!found || !symbol.st_value || dlinfo(code->library, RTLD_DI_LINKMAP, &map) ||
        map->l_addr + symbol.st_value != (uintptr_t)found)
        return NULL;
    *size = symbol.st_size;
    return found;
}

/* ---- the code of a kernel ------------------------------------------------------------------------------- */

/* The compiler may have given its copy of a function another ending, but for the part that it thinks is never
 * executed. */
static bool is_body_of(const char *symbol, const char *kernel) {
    static const char prefix[] = SOFTGPU_BODY_PREFIX;
    if (strncmp(symbol, prefix, sizeof prefix - 1) != 0)
        return false;
    symbol += sizeof prefix - 1;
    size_t length = strlen(kernel);
    const char *ending = symbol + length;
    return !strncmp(symbol, kernel, length) && (!*ending || (*ending == '.' && !strstr(ending, ".cold")));
}

/* The kernel's body, or else the function that the body was inlined into. */
static ElfW(Sym) search_symbols(const sg_kernel *kernel, const ElfW(Shdr) * table, const ElfW(Shdr) * strings,
                                ElfW(Addr) run) {
    const sg_code *code = kernel->binary;
    ElfW(Sym) symbol, found = {0};
    bool is_body = false;
    if (table->sh_offset > code->size || table->sh_size > code->size - table->sh_offset)
        return found;
    for (size_t i = 0; i < table->sh_size / sizeof symbol; ++i) {
        memcpy(&symbol, code->binary + table->sh_offset + i * sizeof symbol, sizeof symbol);
        const char *name = string_at(code, strings, symbol.st_name);
        if ((symbol.st_info & 0xfu) != STT_FUNC || !symbol.st_size || !name)
            continue;
        if (is_body_of(name, kernel->code->name) && (!is_body || symbol.st_size > found.st_size)) {
            is_body = true;
            found = symbol;
        } else if (!is_body && symbol.st_value == run) {
            found = symbol;
        }
    }
    return found;
}

sg_code_range sg_range_of(const sg_kernel *kernel) {
    const sg_code *code = kernel->binary;
    const struct link_map *map = NULL;
    unsigned count = 0, unused;
    const uint8_t *sections = sections_of(code, &count, &unused);
    sg_code_range range = {.address = (uintptr_t)kernel->code->run};
    for (unsigned i = 0; sections && i < count && !dlinfo(code->library, RTLD_DI_LINKMAP, &map); ++i) {
        ElfW(Shdr) table = section_at(sections, i);
        if (table.sh_type != SHT_SYMTAB || table.sh_link >= count)
            continue;
        ElfW(Shdr) strings = section_at(sections, table.sh_link);
        ElfW(Sym) found = search_symbols(kernel, &table, &strings, (uintptr_t)range.address - map->l_addr);
        if (!found.st_size || found.st_shndx >= count)
            break;
        ElfW(Shdr) text = section_at(sections, found.st_shndx);
        size_t place = text.sh_offset + (found.st_value - text.sh_addr);
        if (place > code->size || found.st_size > code->size - place)
            break;
        return (sg_code_range){map->l_addr + found.st_value, code->binary + place, found.st_size};
    }
    return range;
}
