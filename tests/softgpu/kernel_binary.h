/* What a kernel's shared object and the software device know of each other. */
#ifndef SOFTGPU_KERNEL_BINARY_H
#define SOFTGPU_KERNEL_BINARY_H

#include <stdint.h>

/* A work-group on its way through a kernel; what the kernel moved is added up in it. */
typedef struct softgpu_group {
    uint32_t id[3], size[3], count[3];
    uint32_t items;
    uint64_t bytes_read, bytes_written;
    uint64_t local_bytes_read, local_bytes_written;
    uint64_t barriers;
    uint8_t *local; /* the memory that it shares, and how much of that its kernel has declared */
    uint32_t local_used;
} softgpu_group;

typedef struct softgpu_argument {
    uint32_t size;
    uint32_t is_buffer;
} softgpu_argument;

/* run() executes one work-group; values has the address of each argument's value. */
typedef struct softgpu_kernel {
    const char *name;
    void (*run)(softgpu_group *group, void *const *values);
    const softgpu_argument *arguments;
    uint32_t argument_count;
} softgpu_kernel;

/* What a kernel declares: an array that a work-group shares, or a value that each item has. */
typedef struct softgpu_memory {
    const char *function; /* the kernel's name behind a prefix */
    uint32_t is_local, bytes;
} softgpu_memory;

/* A function or variable of another module, and where its address is stored when they are linked. */
typedef struct softgpu_import {
    const char *name;
    uint32_t is_function;
    void **place;
} softgpu_import;

/* The functions that the shared object exports: its kernels, their memory, and its imports, from the first to
 * before the last. All but the first may be missing. */
typedef void softgpu_kernels_function(const softgpu_kernel *const **first,
                                      const softgpu_kernel *const **last);
#define SOFTGPU_KERNELS_SYMBOL "softgpu_kernels"
typedef void softgpu_memory_function(const softgpu_memory *const **first, const softgpu_memory *const **last);
#define SOFTGPU_MEMORY_SYMBOL "softgpu_memory_of_kernels"
typedef void softgpu_imports_function(const softgpu_import *const **first,
                                      const softgpu_import *const **last);
#define SOFTGPU_IMPORTS_SYMBOL "softgpu_imports_of_kernels"
#define SOFTGPU_BODY_PREFIX "sg_body_"

/* The registers of a thread: those of the processor, general ones and those of vectors. */
#ifdef __aarch64__
#define SOFTGPU_REGISTERS 63
#else
#define SOFTGPU_REGISTERS 32
#endif

#endif
