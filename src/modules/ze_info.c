/* The section .ze_info: what the compiler states of kernels. */

#include "modules/ze_info.h"

#include "base/compiler.h"
#include "base/map.h"
#include "base/memory.h"
#include "base/text.h"
#include "modules/elf.h"
#include "modules/kernel_facts.h"
#include "modules/loaded.h"

#ifdef ZETOOLS_TRACER

/* A line of .ze_info, which is YAML in block style: "  - key: value", or "key: value". */
typedef struct zt__yaml_line {
    size_t dash;   /* column of the '-' that begins an element of a list; else that of the key */
    size_t column; /* of the key */
    int is_element;
    const char *key, *value;
    size_t key_length, value_length;
} zt__yaml_line;

/* Splits the next line that is not empty. Returns 0 at the end of the text. */
static int zt__next_yaml_line(const char **text, const char *end, zt__yaml_line *line) {
    while (*text < end) {
        const char *begin = *text, *at = begin, *colon;
        const char *stop = (const char *)memchr(begin, '\n', (size_t)(end - begin));
        stop = stop ? stop : end;
        *text = stop < end ? stop + 1 : end;
        while (at < stop && *at == ' ') {
            at++;
        }
        line->dash = (size_t)(at - begin);
        line->is_element = at + 1 < stop && at[0] == '-' && at[1] == ' ';
        for (at += line->is_element; at < stop && *at == ' ';) {
            at++;
        }
        while (stop > at && (stop[-1] == ' ' || stop[-1] == '\r')) {
            stop--;
        }
        if (at == stop || *at == '#') {
            continue;
        }
        colon = (const char *)memchr(at, ':', (size_t)(stop - at));
        line->column = (size_t)(at - begin);
        line->key = at;
        line->key_length = (size_t)((colon ? colon : stop) - at);
        for (at = colon ? colon + 1 : stop; at < stop && *at == ' ';) {
            at++;
        }
        if (stop - at >= 2 && (*at == '\'' || *at == '"') && stop[-1] == *at) {
            at++;
            stop--;
        }
        line->value = at;
        line->value_length = (size_t)(stop - at);
        return 1;
    }
    return 0;
}

/* Reads the kernels of a .ze_info into `kernels`, or only counts them if it is NULL. Returns their number. */
static uint32_t zt__read_ze_info(const char *text, size_t size, zt__described_kernel *kernels) {
    const char *end = text + size;
    size_t item = SIZE_MAX; /* column of the '-' of kernels; SIZE_MAX: none yet */
    size_t members = 0;     /* column of their keys */
    size_t environment = 0; /* column of the keys of execution_env; 0: none yet */
    int in_kernels = 0, in_environment = 0;
    uint32_t count = 0;
    zt__yaml_line line;
    while (zt__next_yaml_line(&text, end, &line)) {
        zt__kernel_facts *facts;
        if (line.dash == 0 && !line.is_element) {
            in_kernels = zt__equals("kernels", line.key, line.key_length);
            item = SIZE_MAX;
            continue;
        }
        if (in_kernels && line.is_element && line.dash <= item) {
            item = line.dash;
            members = line.column;
            in_environment = 0;
            count++;
            if (kernels) {
                memset(&kernels[count - 1], 0, sizeof *kernels);
                kernels[count - 1].facts = zt__unknown_facts();
            }
        }
        if (!in_kernels || item == SIZE_MAX || !kernels) {
            continue;
        }
        facts = &kernels[count - 1].facts;
        if (line.column == members) {
            in_environment = zt__equals("execution_env", line.key, line.key_length);
            environment = 0;
            if (in_environment) { /* these defaults are documented */
                facts->barriers = facts->slm_bytes = 0;
            } else if (zt__equals("name", line.key, line.key_length)) {
                kernels[count - 1].name = line.value;
                kernels[count - 1].name_length = line.value_length;
            }
            continue;
        }
        if (in_environment && line.column > members && environment == 0) {
            environment = line.column;
        }
        if (in_environment && line.column == environment && !line.is_element) {
            const struct {
                const char *key;
                uint32_t *number;
            } numbers[] = {{"simd_size", &facts->simd_width},
                           {"grf_count", &facts->registers},
                           {"slm_size", &facts->slm_bytes},
                           {"private_size", &facts->private_bytes},
                           {"spill_size", &facts->spill_bytes},
                           {"barrier_count", &facts->barriers},
                           {"eu_thread_count", &facts->threads_per_eu}};
            uint64_t value = 0;
            size_t digits = 0, i;
            while (digits < line.value_length && line.value[digits] >= '0' && line.value[digits] <= '9' &&
                   value <= INT32_MAX) {
                value = value * 10 + (uint64_t)(line.value[digits++] - '0');
            }
            if (digits == 0 || digits < line.value_length || value > INT32_MAX) {
                continue; /* negative, too large, or no number: it stays unknown */
            }
            for (i = 0; i < ZT__COUNT_OF(numbers); i++) {
                if (zt__equals(numbers[i].key, line.key, line.key_length)) {
                    *numbers[i].number = (uint32_t)value;
                }
            }
        }
    }
    return count;
}

ZT__PRIVATE void zt__free_described_module(const zt_allocator *allocator, zt__described_module *module) {
    if (module) {
        zt__free(allocator, module->text);
        zt__free(allocator, module->kernels);
        zt__free(allocator, module);
    }
}

ZT__PRIVATE zt__described_module *zt__describe_module(const zt_allocator *allocator,
                                                      ze_module_handle_t handle) {
    zt__described_module *module = (zt__described_module *)zt__allocate(allocator, 1, sizeof *module);
    zt__elf_section section = {0, 0, 0, 0, 0, 0};
    const char *text;
    uint32_t i, count;
    zt__binary binary;
    zt__elf elf;
    if (!module) {
        return NULL;
    }
    zt__read_binary(allocator, handle, 0, ZT__MAX_BINARY, &binary);
    if (binary.bytes) {
        module->hash = zt__hash(binary.bytes, binary.size);
    }
    if (zt__open_elf(binary.bytes, binary.size, &elf)) {
        for (i = 0; i < elf.section_count; i++) {
            section = zt__elf_section_at(&elf, i);
            if (zt__is_elf_text(&elf, elf.names, section.name, "", ".ze_info")) {
                break;
            }
        }
        if (i == elf.section_count || section.offset > elf.size || section.size > elf.size - section.offset) {
            section.size = 0;
        }
    }
    if (section.size > 0) {
        text = (const char *)binary.bytes + section.offset;
        count = zt__read_ze_info(text, (size_t)section.size, NULL);
        if (count > 0) {
            module->text = (char *)zt__allocate(allocator, (size_t)section.size, 1);
            module->kernels = (zt__described_kernel *)zt__allocate(allocator, count, sizeof *module->kernels);
        }
        if (module->text && module->kernels) {
            memcpy(module->text, text, (size_t)section.size);
            module->kernel_count = zt__read_ze_info(module->text, (size_t)section.size, module->kernels);
        }
    }
    zt__free(allocator, binary.bytes);
    return module;
}

ZT__PRIVATE zt__kernel_facts zt__describe_kernel(const zt__described_module *module, const char *name) {
    zt__kernel_facts facts = zt__unknown_facts();
    uint32_t i;
    for (i = 0; i < module->kernel_count; i++) {
        if (zt__equals(name, module->kernels[i].name ? module->kernels[i].name : "",
                       module->kernels[i].name_length)) {
            facts = module->kernels[i].facts;
            break;
        }
    }
    facts.module = module->hash;
    return facts;
}

#endif
