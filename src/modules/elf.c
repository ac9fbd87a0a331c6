/* Kernels and functions in ELF files. */

#include "modules/elf.h"

#include "base/compiler.h"
#include "base/map.h"

#if defined(ZETOOLS_TRACER) || defined(ZETOOLS_DEBUG)

enum {
    ZT__ELF_SECTION = 64, /* bytes of an entry of the table of sections */
    ZT__ELF_SYMBOL = 24,  /* bytes of an entry of a table of symbols */
    ZT__ELF_PROGBITS = 1, /* types of sections */
    ZT__ELF_SYMTAB = 2,
    ZT__ELF_DYNSYM = 11,
    ZT__ELF_FUNCTION = 2 /* the type of a symbol */
};

/* Reads an integer of up to 8 bytes. Returns 0 beyond the end. */
static uint64_t zt__read_elf(const zt__elf *elf, uint64_t offset, uint32_t width) {
    uint64_t value = 0;
    if (offset > elf->size || elf->size - offset < width) {
        return 0;
    }
    while (width > 0) {
        value = value << 8 | elf->bytes[offset + --width];
    }
    return value;
}

ZT__PRIVATE int zt__open_elf(const uint8_t *bytes, size_t size, zt__elf *elf) {
    enum { HEADER = 64 };
    static const uint8_t magic[] = {0x7F, 'E', 'L', 'F', 2, 1};
    memset(elf, 0, sizeof *elf);
    if (!bytes || size < HEADER || memcmp(bytes, magic, sizeof magic) != 0) {
        return 0;
    }
    elf->bytes = bytes;
    elf->size = size;
    elf->is_relocatable = zt__read_elf(elf, 16, 2) == 1;
    elf->sections = zt__read_elf(elf, 40, 8);
    elf->section_count = (uint32_t)zt__read_elf(elf, 60, 2);
    elf->names = zt__read_elf(elf, 62, 2);
    return elf->sections <= size && (size - elf->sections) / ZT__ELF_SECTION >= elf->section_count &&
           zt__read_elf(elf, 58, 2) == ZT__ELF_SECTION;
}

ZT__PRIVATE zt__elf_section zt__elf_section_at(const zt__elf *elf, uint64_t index) {
    zt__elf_section section = {0, 0, 0, 0, 0, 0};
    uint64_t at = elf->sections + index * ZT__ELF_SECTION;
    if (index < elf->section_count) {
        section.name = zt__read_elf(elf, at, 4);
        section.type = zt__read_elf(elf, at + 4, 4);
        section.address = zt__read_elf(elf, at + 16, 8);
        section.offset = zt__read_elf(elf, at + 24, 8);
        section.size = zt__read_elf(elf, at + 32, 8);
        section.link = zt__read_elf(elf, at + 40, 4);
    }
    return section;
}

ZT__PRIVATE int zt__is_elf_text(const zt__elf *elf, uint64_t section, uint64_t offset, const char *prefix,
                                const char *text) {
    zt__elf_section strings = zt__elf_section_at(elf, section);
    size_t before = strlen(prefix), length = strlen(text) + 1;
    uint64_t at = strings.offset + offset;
    return offset < strings.size && at >= offset && at < elf->size && elf->size - at >= before + length &&
           memcmp(elf->bytes + at, prefix, before) == 0 &&
           memcmp(elf->bytes + at + before, text, length) == 0;
}

/* Reads a symbol of a function. Returns 0 if it is none, or its instructions are not in the file. */
static int zt__read_function(const zt__elf *elf, uint64_t symbol, uint64_t *address, zt__code *code) {
    uint64_t type = zt__read_elf(elf, symbol + 4, 1) & 15;
    zt__elf_section section = zt__elf_section_at(elf, zt__read_elf(elf, symbol + 6, 2));
    uint64_t value = zt__read_elf(elf, symbol + 8, 8), place;
    code->size = zt__read_elf(elf, symbol + 16, 8);
    place = section.offset + (elf->is_relocatable ? value : value - section.address);
    *address = elf->is_relocatable ? section.address + value : value;
    if (type != ZT__ELF_FUNCTION || code->size == 0 || place > elf->size || elf->size - place < code->size) {
        return 0;
    }
    code->hash = zt__hash(elf->bytes + place, (size_t)code->size);
    return 1;
}

ZT__PRIVATE int zt__find_in_elf(const zt__elf *elf, const char *name, const zt__code *wanted,
                                uint64_t *address, zt__code *code) {
    int is_found = 0;
    uint64_t i, symbol;
    for (i = 0; i < elf->section_count; i++) {
        zt__elf_section section = zt__elf_section_at(elf, i);
        if (section.offset > elf->size || elf->size - section.offset < section.size) {
            continue;
        }
        if (zt__is_elf_text(elf, elf->names, section.name, ".text.", name) && section.size > 0) {
            is_found = 1;
            *address = section.address;
            code->size = section.size;
            code->hash = zt__hash(elf->bytes + section.offset, (size_t)section.size);
        }
        if (section.type != ZT__ELF_SYMTAB && section.type != ZT__ELF_DYNSYM) {
            continue;
        }
        for (symbol = section.offset; symbol + ZT__ELF_SYMBOL <= section.offset + section.size;
             symbol += ZT__ELF_SYMBOL) {
            uint64_t found;
            zt__code function;
            int is_wanted = wanted && zt__read_elf(elf, symbol + 16, 8) == wanted->size;
            int has_name =
                !is_found && zt__is_elf_text(elf, section.link, zt__read_elf(elf, symbol, 4), "", name);
            if ((!is_wanted && !has_name) || !zt__read_function(elf, symbol, &found, &function)) {
                continue;
            }
            is_wanted = is_wanted && function.hash == wanted->hash;
            if (is_wanted || has_name) {
                is_found = 1;
                *address = found;
                *code = function;
            }
            if (is_wanted) {
                return 1;
            }
        }
    }
    return is_found;
}

/* Returns a text of a section, which ends inside the file, or NULL. */
static const char *zt__elf_text(const zt__elf *elf, uint64_t section, uint64_t offset) {
    zt__elf_section strings = zt__elf_section_at(elf, section);
    uint64_t at = strings.offset + offset;
    if (offset >= strings.size || at < offset || at >= elf->size ||
        !memchr(elf->bytes + at, 0, elf->size - (size_t)at)) {
        return NULL;
    }
    return (const char *)elf->bytes + at;
}

ZT__PRIVATE int zt__find_function_at(const zt__elf *elf, uint64_t address, zt__function *found) {
    static const char prefix[] = ".text.";
    static const char others[] = ".text.Intel_Symbol_Table_Void_Program"; /* functions of no kernel */
    uint64_t i, symbol;
    memset(found, 0, sizeof *found);
    for (i = 0; i < elf->section_count; i++) {
        zt__elf_section section = zt__elf_section_at(elf, i);
        const char *name = zt__elf_text(elf, elf->names, section.name);
        if (section.type == ZT__ELF_PROGBITS && address - section.address < section.size && name &&
            strncmp(name, prefix, sizeof prefix - 1) == 0 && strcmp(name, others) != 0) {
            found->name = name + sizeof prefix - 1;
            found->address = section.address;
            found->size = section.size;
            return 1;
        }
        if ((section.type != ZT__ELF_SYMTAB && section.type != ZT__ELF_DYNSYM) ||
            section.offset > elf->size || elf->size - section.offset < section.size) {
            continue;
        }
        for (symbol = section.offset; symbol + ZT__ELF_SYMBOL <= section.offset + section.size;
             symbol += ZT__ELF_SYMBOL) {
            uint64_t begin;
            zt__code code;
            if (zt__read_function(elf, symbol, &begin, &code) && address - begin < code.size) {
                found->name = zt__elf_text(elf, section.link, zt__read_elf(elf, symbol, 4));
                found->address = begin;
                found->size = code.size;
            }
        }
    }
    return found->name != NULL;
}

#endif
