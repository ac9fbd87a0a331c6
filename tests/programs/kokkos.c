/* A program that calls the tool that KOKKOS_TOOLS_LIBS names as Kokkos does. Its last line has which callbacks are fenced:
   what the tool leaves of the first setting. */
#include "steps.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct space {
    char name[64];
} space;

static void *tool;
static int fences;

static void *hook(const char *name) {
    void *function = tool ? dlsym(tool, name) : NULL;
    if (tool && !function)
        fprintf(stderr, "the tool has no %s\n", name);
    return function;
}

#define CALL(name, parameters, ...)                                                                          \
    do {                                                                                                     \
        void(*function_) parameters = NULL;                                                                  \
        *(void **)&function_ = hook(#name);                                                                  \
        if (function_)                                                                                       \
            function_(__VA_ARGS__);                                                                          \
    } while (0)

#define BEGIN (const char *name, uint32_t device, uint64_t *id)
#define END (uint64_t id)
#define COPY                                                                                                 \
    (space to, const char *to_name, const void *to_address, space from, const char *from_name,               \
     const void *from_address, uint64_t size)

static space space_of(const char *name) {
    space made;
    memset(&made, '?', sizeof made); /* as uninitialised as it may be */
    snprintf(made.name, sizeof made.name, "%s", name);
    return made;
}

int main(void) {
    const char *path = getenv("KOKKOS_TOOLS_LIBS");
    bool settings[256] = {true};
    uint64_t ids[4] = {0, 0, 0, 0};
    tool = path ? dlopen(path, RTLD_NOW | RTLD_GLOBAL) : NULL;
    CALL(kokkosp_init_library, (int, uint64_t, uint32_t, void *), 0, 20240906, 0, NULL);
    CALL(kokkosp_request_tool_settings, (uint32_t, bool *), 1, settings);
    fences = settings[0];
    open_solver();
    for (int i = 0; i < 3; i++) {
        CALL(kokkosp_push_profile_region, (const char *), "time step");
        CALL(kokkosp_begin_parallel_for, BEGIN, "fill", 7u << 24, &ids[0]);
        run_steps(1);
        CALL(kokkosp_end_parallel_for, END, ids[0]);
        CALL(kokkosp_begin_parallel_reduce, BEGIN, "norm", 7u << 24, &ids[1]);
        run_steps(1);
        CALL(kokkosp_end_parallel_reduce, END, ids[1]);
        CALL(kokkosp_begin_parallel_scan, BEGIN, "offsets", 7u << 24, &ids[2]);
        run_steps(1);
        CALL(kokkosp_end_parallel_scan, END, ids[2]);
        CALL(kokkosp_begin_deep_copy, COPY, space_of("Host"), "x_mirror", NULL, space_of("SYCL"), "x", NULL,
             8);
        CALL(kokkosp_begin_fence, BEGIN, "fence of the copy", 7u << 24, &ids[3]);
        run_steps(1);
        CALL(kokkosp_end_fence, END, ids[3]);
        CALL(kokkosp_end_deep_copy, (void), );
        CALL(kokkosp_pop_profile_region, (void), );
        if (tool && (ids[0] == ids[1] || ids[1] == ids[2] || ids[2] == ids[3]))
            return 7;
    }
    run_steps(1);
    CALL(kokkosp_pop_profile_region, (void), ); /* of none */
    printf("fences: %d\n", fences);
    stepper_close(solver);
    return 0;
}
