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

/* The one function that the shared object exports: its kernels, from the first to before the last. */
typedef void softgpu_kernels_function(const softgpu_kernel *const **first,
                                      const softgpu_kernel *const **last);
#define SOFTGPU_KERNELS_SYMBOL "softgpu_kernels"

#endif
