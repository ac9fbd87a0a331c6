/* One kernel source for two targets: OpenCL C, to become SPIR-V for a real device, and C, to become a shared
 * object for the software device. It is given to the compiler with -include:
 *
 *     cc -O2 -shared -fPIC -include tests/softgpu/kernel.h -o saxpy.so -x c saxpy.cl
 *
 *     clang -O2 -cl-std=CL2.0 --target=spir64 -emit-llvm -include tests/softgpu/kernel.h -c saxpy.cl
 *     llvm-spirv-14 saxpy.bc
 *
 * The last is of the version of clang, and writes saxpy.spv.
 *
 * A kernel is written as phases, each for all items of a work-group, with barriers between:
 *
 *     KERNEL(scale, BUFFER(float, y), VALUE(float, a), VALUE(uint, n)) {
 *         FOR_EACH_ITEM {
 *             uint i = GLOBAL_ID(0);
 *             if (i < n)
 *                 STORE(y, i, a * LOAD(y, i));
 *         }
 *     }
 *
 * In OpenCL a phase is a plain block and runs once an item; in C it is a loop over the group's items. So what
 * is between the phases, such as a loop around them, has to be the same for all items.
 *
 *   BUFFER(type, name)  VALUE(type, name)    arguments: memory, and a plain value
 *   LOAD(p, i)  STORE(p, i, value)           access to a buffer, counted in C
 *   LOCAL(type, name, n)                     an array shared by the group
 *   LOCAL_LOAD(p, i)  LOCAL_STORE(p, i, v)   access to it, counted in C
 *   PRIVATE(type, name)  OWN(name)           a value of each item that lives from phase to phase
 *   BARRIER                                  between two phases that share local memory
 *   GLOBAL_ID  LOCAL_ID (in a phase)  GROUP_ID  GROUP_SIZE   by dimension
 *   GLOBAL(type, name)                       a variable of the module, which starts as zero
 *   ATOMIC_ADD(name, value)                  adds to one of type uint
 *   IMPORT(type, name, (parameters))         a function of another module: see zeModuleDynamicLink
 *   IMPORT_GLOBAL(type, name)  FROM(name)    a variable of another module, and access to it
 */
#ifndef SOFTGPU_KERNEL_H
#define SOFTGPU_KERNEL_H

/* An argument is a tuple (kind, type, name), from which SG_EACH makes what either target wants of it. */
#define BUFFER(type, name) (buffer, type, name)
#define VALUE(type, name) (value, type, name)

#define SG_COMMA() ,
#define SG_NOTHING()
#define SG_EACH_1(make, between, a) make a
#define SG_EACH_2(make, between, a, ...) make a between() SG_EACH_1(make, between, __VA_ARGS__)
#define SG_EACH_3(make, between, a, ...) make a between() SG_EACH_2(make, between, __VA_ARGS__)
#define SG_EACH_4(make, between, a, ...) make a between() SG_EACH_3(make, between, __VA_ARGS__)
#define SG_EACH_5(make, between, a, ...) make a between() SG_EACH_4(make, between, __VA_ARGS__)
#define SG_EACH_6(make, between, a, ...) make a between() SG_EACH_5(make, between, __VA_ARGS__)
#define SG_EACH_7(make, between, a, ...) make a between() SG_EACH_6(make, between, __VA_ARGS__)
#define SG_EACH_8(make, between, a, ...) make a between() SG_EACH_7(make, between, __VA_ARGS__)
#define SG_CHOOSE(a, b, c, d, e, f, g, h, chosen, ...) chosen
#define SG_EACH(make, between, ...)                                                                          \
    SG_CHOOSE(__VA_ARGS__, SG_EACH_8, SG_EACH_7, SG_EACH_6, SG_EACH_5, SG_EACH_4, SG_EACH_3, SG_EACH_2,      \
              SG_EACH_1, )                                                                                   \
    (make, between, __VA_ARGS__)

#define SG_PARAMETER(kind, type, name) SG_PARAMETER_##kind(type, name)
#define SG_PARAMETER_value(type, name) type name

#ifdef __OPENCL_C_VERSION__

#define SG_PARAMETER_buffer(type, name) __global type *name
#define KERNEL(name, ...) __kernel void name(SG_EACH(SG_PARAMETER, SG_COMMA, __VA_ARGS__))
#define FOR_EACH_ITEM
#define BARRIER barrier(CLK_LOCAL_MEM_FENCE)
#define LOAD(p, i) ((p)[i])
#define STORE(p, i, value) ((p)[i] = (value))
#define LOCAL(type, name, n) __local type name[n]
#define LOCAL_LOAD(p, i) ((p)[i])
#define LOCAL_STORE(p, i, value) ((p)[i] = (value))
#define PRIVATE(type, name) type name
#define OWN(name) name
#define GLOBAL_ID(dimension) ((uint)get_global_id(dimension))
#define LOCAL_ID(dimension) ((uint)get_local_id(dimension))
#define GROUP_ID(dimension) ((uint)get_group_id(dimension))
#define GROUP_SIZE(dimension) ((uint)get_local_size(dimension))
#define GLOBAL(type, name) __global type name
#define ATOMIC_ADD(name, value) ((void)atomic_add((volatile __global uint *)&(name), value))
#define IMPORT(type, name, parameters) extern type name parameters
#define IMPORT_GLOBAL(type, name) extern __global type name
#define FROM(name) (name)

#else

#include "kernel_binary.h"

typedef uint32_t uint;

enum { SG_GROUP_LIMIT = 1024 };

typedef struct sg_item {
    uint32_t index;
    uint32_t id[3];
} sg_item;

/* Declared once in a kernel, and not in a loop. */
static inline void *sg_local(softgpu_group *group, uint32_t bytes) {
    void *declared = group->local + group->local_used;
    group->local_used += (bytes + 15) & ~15u;
    return declared;
}

static inline void sg_next_item(sg_item *item, const softgpu_group *group) {
    ++item->index;
    if (++item->id[0] < group->size[0])
        return;
    item->id[0] = 0;
    if (++item->id[1] < group->size[1])
        return;
    item->id[1] = 0;
    ++item->id[2];
}

#define SG_PARAMETER_buffer(type, name) type *name
#define SG_DECLARE(kind, type, name)                                                                         \
    SG_PARAMETER_##kind(type, name) = *(SG_POINTER_##kind(type))(*sg_values++);
#define SG_POINTER_buffer(type) type *const *
#define SG_POINTER_value(type) const type *
#define SG_NAME(kind, type, name) name
#define SG_DESCRIBE(kind, type, name) SG_DESCRIBE_##kind(type)
#define SG_DESCRIBE_buffer(type)                                                                             \
    { sizeof(type *), 1 }
#define SG_DESCRIBE_value(type)                                                                              \
    { sizeof(type), 0 }

/* The section .ze_info, in which the binaries of Intel's compiler describe their kernels as YAML. A group
 * runs on one thread of the host, so that it needs no barrier of the hardware. The section is not loaded. */
#define SG_TEXT(number) SG_TEXT_OF(number)
#define SG_TEXT_OF(number) #number
#ifdef _WIN32
#define SG_ZE_INFO(text) /* a DLL has no such sections */
#else
#define SG_ZE_INFO(text)                                                                                     \
    __asm__(".pushsection .ze_info,\"\"," SG_SECTION_TYPE "\n\t.ascii \"" text "\"\n\t.popsection")
#ifdef __arm__
#define SG_SECTION_TYPE "%progbits"
#else
#define SG_SECTION_TYPE "@progbits"
#endif
#endif
SG_ZE_INFO("---\\nversion: '1.34'\\nkernels:\\n");

/* As in the binaries of Intel's compiler, a kernel has a section of its own, with its name. */
#define SG_TEXT_SECTION(kernel) __attribute__((section(".text." #kernel)))

/* The kernel's body as a function of one work-group; a function that takes its arguments from an array; and
 * the description of both, in the section from which softgpu_kernels() has them all. */
#define KERNEL(kernel, ...)                                                                                  \
    SG_ZE_INFO("  - name: " #kernel                                                                          \
               "\\n    execution_env:\\n      barrier_count: 0\\n      grf_count: " SG_TEXT(                 \
                   SOFTGPU_REGISTERS) "\\n      simd_size: 1\\n");                                           \
    SG_TEXT_SECTION(kernel)                                                                                  \
    static void sg_body_##kernel(softgpu_group *sg_group, SG_EACH(SG_PARAMETER, SG_COMMA, __VA_ARGS__));     \
    SG_TEXT_SECTION(kernel) static void sg_run_##kernel(softgpu_group *sg_group, void *const *sg_values) {   \
        SG_EACH(SG_DECLARE, SG_NOTHING, __VA_ARGS__)                                                         \
        sg_body_##kernel(sg_group, SG_EACH(SG_NAME, SG_COMMA, __VA_ARGS__));                                 \
    }                                                                                                        \
    static const softgpu_argument sg_arguments_##kernel[] = {SG_EACH(SG_DESCRIBE, SG_COMMA, __VA_ARGS__)};   \
    static const softgpu_kernel sg_kernel_##kernel = {#kernel, sg_run_##kernel, sg_arguments_##kernel,       \
                                                      sizeof sg_arguments_##kernel /                         \
                                                          sizeof *sg_arguments_##kernel};                    \
    static const softgpu_kernel *const sg_entry_##kernel __attribute__((SG_SECTION(entries, m), used)) =     \
        &sg_kernel_##kernel;                                                                                 \
    static void sg_body_##kernel(softgpu_group *sg_group, SG_EACH(SG_PARAMETER, SG_COMMA, __VA_ARGS__))

#define FOR_EACH_ITEM                                                                                        \
    for (sg_item sg_this = {0}; sg_this.index < sg_group->items; sg_next_item(&sg_this, sg_group))
#define BARRIER ((void)++sg_group->barriers)
#define LOAD(p, i) (sg_group->bytes_read += sizeof *(p), (p)[i])
#define STORE(p, i, value) ((void)(sg_group->bytes_written += sizeof *(p)), (void)((p)[i] = (value)))
#define SG_MEMORY(name, is_local, bytes)                                                                     \
    static const softgpu_memory sg_memory_##name = {__func__, is_local, (uint32_t)(bytes)};                  \
    static const softgpu_memory *const sg_memory_entry_##name                                                \
        __attribute__((SG_SECTION(memories, m), used)) = &sg_memory_##name
#define LOCAL(type, name, n)                                                                                 \
    SG_MEMORY(name, 1, sizeof(type) * (n));                                                                  \
    type *const __restrict name = (type *)sg_local(sg_group, (uint32_t)(sizeof(type) * (n)))
#define LOCAL_LOAD(p, i) (sg_group->local_bytes_read += sizeof *(p), (p)[i])
#define LOCAL_STORE(p, i, value)                                                                             \
    ((void)(sg_group->local_bytes_written += sizeof *(p)), (void)((p)[i] = (value)))
#define PRIVATE(type, name)                                                                                  \
    SG_MEMORY(name, 0, sizeof(type));                                                                        \
    type name[SG_GROUP_LIMIT]
#define OWN(name) name[sg_this.index]
#define GLOBAL(type, name) type name
#define ATOMIC_ADD(name, value) ((void)__atomic_fetch_add(&(name), value, __ATOMIC_RELAXED))
#define SG_IMPORT(name, is_function)                                                                         \
    static const softgpu_import sg_import_##name = {#name, is_function, (void **)(void *)&name};             \
    static const softgpu_import *const sg_import_entry_##name                                                \
        __attribute__((SG_SECTION(imports, m), used)) = &sg_import_##name
#define IMPORT(type, name, parameters)                                                                       \
    static type(*name) parameters;                                                                           \
    SG_IMPORT(name, 1)
#define IMPORT_GLOBAL(type, name)                                                                            \
    static type *name;                                                                                       \
    SG_IMPORT(name, 0)
#define FROM(name) (*(name))
#define LOCAL_ID(dimension) (sg_this.id[dimension])
#define GROUP_ID(dimension) (sg_group->id[dimension])
#define GROUP_SIZE(dimension) (sg_group->size[dimension])
#define GLOBAL_ID(dimension) (GROUP_ID(dimension) * GROUP_SIZE(dimension) + LOCAL_ID(dimension))

/* The linker for Windows sorts the parts of a section by what follows the dollar. */
#ifdef _WIN32
#define SG_SECTION(name, part) section(".sg" #name "$" #part)
#define SG_TABLE(type, name)                                                                                 \
    static const type *const sg_first_##name __attribute__((SG_SECTION(name, a), used)) = 0;                 \
    static const type *const sg_last_##name __attribute__((SG_SECTION(name, z), used)) = 0
#define SG_FIRST(name) (&sg_first_##name + 1)
#define SG_LAST(name) (&sg_last_##name)
#else
#define SG_TABLE(type, name)                                                                                 \
    extern const type *const __start_softgpu_##name[] __attribute__((weak, visibility("hidden")));           \
    extern const type *const __stop_softgpu_##name[] __attribute__((weak, visibility("hidden")))
#define SG_SECTION(name, part) section("softgpu_" #name)
#define SG_FIRST(name) __start_softgpu_##name
#define SG_LAST(name) __stop_softgpu_##name
#endif

SG_TABLE(softgpu_kernel, entries);
SG_TABLE(softgpu_memory, memories);
SG_TABLE(softgpu_import, imports);

softgpu_kernels_function softgpu_kernels;
void softgpu_kernels(const softgpu_kernel *const **first, const softgpu_kernel *const **last) {
    *first = SG_FIRST(entries);
    *last = SG_LAST(entries);
}

softgpu_memory_function softgpu_memory_of_kernels;
void softgpu_memory_of_kernels(const softgpu_memory *const **first, const softgpu_memory *const **last) {
    *first = SG_FIRST(memories);
    *last = SG_LAST(memories);
}

softgpu_imports_function softgpu_imports_of_kernels;
void softgpu_imports_of_kernels(const softgpu_import *const **first, const softgpu_import *const **last) {
    *first = SG_FIRST(imports);
    *last = SG_LAST(imports);
}

#endif

#endif
