/* What the fuzz targets share: values from an input, a world of the software device, a driver that answers
   from the input, and reports in every format. */
#ifndef FUZZ_H
#define FUZZ_H

#include <stddef.h>
#include <stdint.h>

#include <level_zero/zet_api.h>

#define ZETOOLS_TRACER
#include "zetools.h"

/* The bytes that are not taken yet. */
typedef struct fuzz_input {
    const uint8_t *bytes;
    size_t size;
} fuzz_input;

/* Takes values from the front. An input that has ended consists of zeros. */
uint8_t take_byte(fuzz_input *input);
uint64_t take_number(fuzz_input *input);
void take_bytes(fuzz_input *input, void *bytes, size_t size);

/* Takes a text, up to the next 0 or `room` - 1 bytes. */
void take_text(fuzz_input *input, char *text, size_t room);

/* The objects of an application, which live as long as the process. */
typedef struct fuzz_world {
    ze_driver_handle_t driver;
    ze_device_handle_t device;
    ze_context_handle_t context;
    ze_command_list_handle_t list; /* immediate and synchronous */
    ze_module_handle_t module;
    ze_kernel_handle_t kernel;
} fuzz_world;

extern fuzz_world world;
int open_fuzz_world(void); /* for LLVMFuzzerInitialize */
void fuzz_launch(void);
ze_kernel_handle_t fuzz_create_kernel(ze_module_handle_t module);
ze_module_handle_t fuzz_create_module(void);

/* From here on, the driver's answers to the library are changed by what is taken from this input. NULL: they
   are not. */
void set_hostile(fuzz_input *input);

/* No allocation above 64 MiB succeeds, and messages are formatted and dropped. */
zt_config fuzz_config(void);

/* All memory of closed profilers and streams with that configuration is released. LeakSanitizer cannot tell
   while a device's threads run. */
void check_memory(void);

/* Of the device that the world has. */
void set_sub_devices(uint32_t count);

/* Writes every report, and has every result read. With FUZZ_REPORTS=DIRECTORY in the environment, the reports
   are also files there, beside N.names with the regions' names in hexadecimal, for tests/fuzz/read_back.py.
 */
void fuzz_report(zt_profiler *profiler);

/* Reads an ELF file by the private functions of zetools.h. */
void fuzz_read_elf(const uint8_t *bytes, size_t size);

/* Gives packed statistics of 24 bytes or more the header that fits them. */
void fuzz_seal(uint8_t *packed, size_t size);

/* The path, in the directory of this process, of the one file that the library finds under `name`. */
const char *fuzz_path(const char *name);

/* Ends the process with a message unless a condition holds. */
#define must(condition) must_((condition) != 0, #condition, __FILE__, __LINE__)
void must_(int holds, const char *condition, const char *file, int line);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);
int LLVMFuzzerInitialize(int *count, char ***arguments);

#endif
