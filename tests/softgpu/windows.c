/* On Windows: native binaries as DLLs; and what the device has elsewhere, and lacks there. */
#include "sampling.h"
#include "stop.h"

#include <windows.h>

/* ---- native binaries ----------------------------------------------------------------------------------- */

bool sg_is_whole_library(const uint8_t *binary, size_t size) {
    IMAGE_DOS_HEADER start;
    IMAGE_NT_HEADERS header;
    if (size < sizeof start)
        return false;
    memcpy(&start, binary, sizeof start);
    if (start.e_magic != IMAGE_DOS_SIGNATURE || start.e_lfanew < 0 ||
        (size_t)start.e_lfanew > size - sizeof header || size < sizeof header)
        return false;
    memcpy(&header, binary + start.e_lfanew, sizeof header);
    size_t sections = (size_t)start.e_lfanew + offsetof(IMAGE_NT_HEADERS, OptionalHeader) +
                      header.FileHeader.SizeOfOptionalHeader;
    if (header.Signature != IMAGE_NT_SIGNATURE || !(header.FileHeader.Characteristics & IMAGE_FILE_DLL) ||
        header.OptionalHeader.Magic != IMAGE_NT_OPTIONAL_HDR_MAGIC || sections > size ||
        header.FileHeader.NumberOfSections > (size - sections) / sizeof(IMAGE_SECTION_HEADER))
        return false;
    for (unsigned i = 0; i < header.FileHeader.NumberOfSections; ++i) {
        IMAGE_SECTION_HEADER section;
        memcpy(&section, binary + sections + i * sizeof section, sizeof section);
        if (section.PointerToRawData > size || section.SizeOfRawData > size - section.PointerToRawData)
            return false;
    }
    return true;
}

/* A file that is loaded cannot be removed: that is done when the process ends. */
static char (*loaded_files)[MAX_PATH];
static unsigned loaded_count;

static void remove_loaded(void) {
    for (unsigned i = 0; i < loaded_count; ++i) {
        HMODULE library = GetModuleHandleA(loaded_files[i]);
        if (library)
            FreeLibrary(library);
        DeleteFileA(loaded_files[i]);
    }
    free(loaded_files);
    loaded_files = NULL;
    loaded_count = 0;
}

static bool process_ends;

bool sg_process_ends(void) {
    return process_ends;
}

BOOL WINAPI DllMain(HINSTANCE library, DWORD reason, LPVOID is_end_of_process) {
    (void)library;
    if (reason == DLL_PROCESS_DETACH && is_end_of_process) {
        process_ends = true;
        remove_loaded();
    }
    return TRUE;
}

void *sg_open_library(const uint8_t *binary, size_t size, int *file) {
    char directory[MAX_PATH - 20], path[MAX_PATH];
    char(*more)[MAX_PATH] = realloc(loaded_files, (loaded_count + 1) * sizeof *more);
    *file = -1;
    if (!more)
        return NULL;
    loaded_files = more;
    if (!GetTempPathA(sizeof directory, directory) || !GetTempFileNameA(directory, "zek", 0, path))
        return NULL;
    FILE *copy = fopen(path, "wb");
    bool is_written = copy && fwrite(binary, 1, size, copy) == size;
    is_written = copy && fclose(copy) == 0 && is_written;
    void *library = is_written ? (void *)LoadLibraryA(path) : NULL;
    if (!library) {
        DeleteFileA(path);
        return NULL;
    }
    if (loaded_count == 0)
        sg_at_unload(remove_loaded);
    strcpy(loaded_files[loaded_count++], path);
    return library;
}

/* The table of exports has neither types nor sizes: what can be executed is a function. */
void *sg_find_symbol(const sg_code *code, const char *name, bool is_function, size_t *size) {
    enum { EXECUTABLE = PAGE_EXECUTE | PAGE_EXECUTE_READ | PAGE_EXECUTE_READWRITE | PAGE_EXECUTE_WRITECOPY };
    void *found = (void *)(uintptr_t)GetProcAddress((HMODULE)code->library, name);
    MEMORY_BASIC_INFORMATION page;
    *size = 0;
    if (!found || !VirtualQuery(found, &page, sizeof page))
        return NULL;
    return ((page.Protect & EXECUTABLE) != 0) == is_function ? found : NULL;
}

bool sg_has_debug_info(const sg_code *code) {
    (void)code;
    return false;
}

sg_code_range sg_range_of(const sg_kernel *kernel) {
    return (sg_code_range){.address = (uintptr_t)kernel->code->run};
}

/* ---- no samples of instructions ------------------------------------------------------------------------ */

bool sg_sampling_open(void) {
    return false;
}

void sg_sampling_work_for(sg_device *tile) {
    (void)tile;
}

void sg_sampling_close(void) {}

void sg_engine_prepare_sampling(sg_engine_thread *engine) {
    (void)engine;
}

sg_stall_report sg_stall_report_of(uintptr_t address, uint32_t class, uint32_t samples) {
    (void)address, (void)class, (void)samples;
    return (sg_stall_report){{0}};
}

uint32_t sg_stall_report_tile(const sg_stall_report *report) {
    (void)report;
    return 0;
}

void sg_stall_report_set_dropped(sg_stall_report *report) {
    (void)report;
}

sg_stall_header sg_stall_header_of(uint32_t tile, uint64_t bytes) {
    return (sg_stall_header){0, tile, bytes};
}

sg_sampler *sg_sampler_create(sg_device *device, uint64_t period) {
    (void)device, (void)period;
    return NULL;
}

void sg_sampler_destroy(sg_sampler *sampler) {
    (void)sampler;
}

uint32_t sg_sampler_ask(sg_sampler *sampler, sg_stall_report reports[SG_ENGINES]) {
    (void)sampler, (void)reports;
    return 0;
}

ze_result_t sg_stalls_calculate(const sg_metric_group *group, zet_metric_group_calculation_type_t type,
                                size_t size, const uint8_t *data, uint32_t *set_count, uint32_t *total_count,
                                uint32_t *counts, zet_typed_value_t *values) {
    (void)group, (void)type, (void)size, (void)data, (void)set_count, (void)total_count, (void)counts;
    (void)values;
    return ZE_RESULT_ERROR_UNSUPPORTED_FEATURE;
}

/* ---- no debugging -------------------------------------------------------------------------------------- */

bool sg_stop_open(void) {
    return false;
}

void sg_stop_close(void) {}

bool sg_stop_run(sg_device *tile, const softgpu_kernel *kernel, softgpu_group *group, void *const *values) {
    (void)tile;
    kernel->run(group, values);
    return true;
}

void sg_agent_listen(void) {}

void sg_agent_end(void) {}

void sg_debug_module_created(const sg_module *module) {
    (void)module;
}

void sg_debug_module_destroyed(const sg_module *module) {
    (void)module;
}

void sg_debug_count_queues(sg_device *device, int change) {
    (void)device, (void)change;
}

void sg_debug_device_lost(void) {}

void sg_debug_unload(void) {}

int softgpu_list_registers(const softgpu_register_set *sets, uint32_t count) {
    (void)sets, (void)count;
    return 0;
}

void softgpu_detach_debuggers(uint32_t reason) {
    (void)reason;
}
