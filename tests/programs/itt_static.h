/* What a program has of ITT: as Intel's static part, but with few functions. The first call that is not one of creation
   opens the collector, which changes the table. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef struct itt_domain {
    volatile int flags;
    const char *name;
    void *wide;
    int extra;
    void *extras;
    struct itt_domain *next;
} itt_domain;

typedef struct itt_text {
    const char *text;
    void *wide;
    int extra;
    void *extras;
    struct itt_text *next;
} itt_text;

typedef struct itt_id {
    unsigned long long d1, d2, d3;
} itt_id;

static const itt_id no_id;

typedef struct itt_entry {
    const char *name;
    void **pointer;
    void *initial, *null;
    int group;
} itt_entry;

typedef struct itt_global {
    unsigned char magic[8];
    unsigned long major, minor, build;
    volatile long initialized, mutex_initialized, count;
    pthread_mutex_t mutex;
    void *library, *error_handler;
    const char **path;
    itt_entry *entries;
    struct itt_global *next;
    void *threads;
    itt_domain *domains;
    itt_text *texts;
    int state;
} itt_global;

static itt_global itt;
static void start_itt(void);

/* ---- before the collector is known ------------------------------------------------------------------------ */

static itt_domain *first_domain_create(const char *name) {
    itt_domain *domain = calloc(1, sizeof *domain);
    domain->flags = 1;
    domain->name = strdup(name);
    domain->next = itt.domains;
    return itt.domains = domain;
}

static itt_text *first_string_handle_create(const char *name) {
    itt_text *text = calloc(1, sizeof *text);
    text->text = strdup(name);
    text->next = itt.texts;
    return itt.texts = text;
}

/* X(name, parameters, arguments): the functions that the program calls, and that start ITT. */
#define ITT_FUNCTIONS(X)                                                                                     \
    X(task_begin, (itt_domain * domain, itt_id id, itt_id parent, itt_text * name),                          \
      (domain, id, parent, name))                                                                            \
    X(task_begin_fn, (itt_domain * domain, itt_id id, itt_id parent, void *function),                        \
      (domain, id, parent, function))                                                                        \
    X(task_end, (itt_domain * domain), (domain))                                                             \
    X(task_begin_overlapped, (itt_domain * domain, itt_id id, itt_id parent, itt_text * name),               \
      (domain, id, parent, name))                                                                            \
    X(task_end_overlapped, (itt_domain * domain, itt_id id), (domain, id))                                   \
    X(region_begin, (itt_domain * domain, itt_id id, itt_id parent, itt_text * name),                        \
      (domain, id, parent, name))                                                                            \
    X(region_end, (itt_domain * domain, itt_id id), (domain, id))                                            \
    X(frame_begin_v3, (itt_domain * domain, itt_id * id), (domain, id))                                      \
    X(frame_end_v3, (itt_domain * domain, itt_id * id), (domain, id))                                        \
    X(marker, (itt_domain * domain, itt_id id, itt_text * name, int scope), (domain, id, name, scope))       \
    X(pause, (void), ())                                                                                     \
    X(resume, (void), ())                                                                                    \
    X(pause_scoped, (int scope), (scope))                                                                    \
    X(resume_scoped, (int scope), (scope))                                                                   \
    X(detach, (void), ())

#define DECLARE(name, parameters, arguments)                                                                 \
    static void first_##name parameters;                                                                     \
    static void(*itt_##name) parameters = first_##name;
ITT_FUNCTIONS(DECLARE)
static itt_domain *(*itt_domain_create)(const char *name) = first_domain_create;
static itt_text *(*itt_string_handle_create)(const char *name) = first_string_handle_create;

#define DEFINE(name, parameters, arguments)                                                                  \
    static void first_##name parameters {                                                                    \
        start_itt();                                                                                         \
        if (itt_##name && itt_##name != first_##name)                                                        \
            itt_##name arguments;                                                                            \
    }
ITT_FUNCTIONS(DEFINE)

/* Calls a function, as the macros of ITT do: not at all if it is off, or its domain. */
#define ITT(name, domain, ...) ((domain)->flags && itt_##name ? itt_##name(domain, __VA_ARGS__) : (void)0)
#define ITT_ALONE(name, ...) (itt_##name ? itt_##name(__VA_ARGS__) : (void)0)

/* ---- the table -------------------------------------------------------------------------------------------- */

#define ENTRY(name, parameters, arguments) {"__itt_" #name, (void **)&itt_##name, NULL, NULL, 0},
static itt_entry itt_entries[] = {
    {"__itt_domain_create", (void **)&itt_domain_create, NULL, NULL, 0},
    {"__itt_string_handle_create", (void **)&itt_string_handle_create, NULL, NULL, 0},
    ITT_FUNCTIONS(ENTRY){NULL, NULL, NULL, NULL, 0},
};

static itt_global itt = {{0xED, 0xAB, 0xAB, 0xEC, 0x0D, 0xEE, 0xDA, 0x30},
                         3,
                         0,
                         20210101,
                         0,
                         1,
                         0,
                         PTHREAD_MUTEX_INITIALIZER,
                         NULL,
                         NULL,
                         NULL,
                         itt_entries,
                         NULL,
                         NULL,
                         NULL,
                         NULL,
                         0};

static void start_itt(void) {
    const char *path = getenv("INTEL_LIBITTNOTIFY64");
    void (*init)(itt_global *, int) = NULL;
    pthread_mutex_lock(&itt.mutex);
    if (!itt.initialized) {
        itt.library = path ? dlopen(path, RTLD_LAZY) : NULL;
        if (itt.library)
            *(void **)&init = dlsym(itt.library, "__itt_api_init");
        if (init)
            init(&itt, -1);
        for (itt_entry *entry = itt_entries; !init && entry->name; entry++)
            *entry->pointer = entry->null;
        itt.initialized = 1;
    }
    pthread_mutex_unlock(&itt.mutex);
}
