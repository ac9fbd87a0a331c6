/* A plugin: a shared object with its own copy of the library, its own use of Level Zero, and hidden symbols.
   The program that loads it knows nothing of either. */
#ifndef TESTS_PLUGIN_H
#define TESTS_PLUGIN_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What a plugin measures with: a context, an immediate list, memory to fill and at most one profiler. */
typedef struct plugin_world plugin_world;

typedef struct plugin_counts {
    uint64_t begun, collected, lost, dropped, in_flight;
} plugin_counts;

/* Functions return a ze_result_t, where nothing else is said. */
typedef struct plugin {
    plugin_world *(*create)(void); /* NULL: it failed */
    void (*destroy)(plugin_world *w);
    int (*open)(plugin_world *w, const char *groups, void (*sample)(void *user), void *user);
    int (*availability)(plugin_world *w);                          /* a zt_availability */
    const char *(*text)(plugin_world *w);                          /* of it */
    int (*run)(plugin_world *w, const char *region, size_t bytes); /* fills them, and waits */
    int (*collect)(plugin_world *w, uint64_t timeout_ns);
    plugin_counts (*counts)(plugin_world *w);
    double (*written)(plugin_world *w, const char *region); /* sum of GPU_MEMORY_BYTE_WRITE */
    uint32_t (*tiles)(plugin_world *w);
    const char *(*trace)(plugin_world *w); /* until the next call */
    void (*close)(plugin_world *w);
    const char *(*version)(void); /* of its copy of the library */
    size_t (*profiler_size)(void);
} plugin;

/* All that a plugin exports. */
typedef const plugin *(*plugin_entry_fn)(void);

#ifdef __cplusplus
}
#endif

#endif
