/* A collector of ITT, Intel's Instrumentation and Tracing Technology API: tasks, regions and frames are phases.

   A program contains a static part of ITT, or several of its libraries contain one each. At the first call of ITT, the
   static part opens the library that INTEL_LIBITTNOTIFY64 names and calls its __itt_api_init with a mutex of its own
   held. The program may have objects from before, and shows them to the functions that are set here. */

#include "base/compiler.h"
#include "base/diagnostics.h"
#include "base/map.h"
#include "base/memory.h"
#include "base/platform.h"
#include "base/text.h"
#include "open/ranges.h"

#if defined(ZETOOLS_CONNECTORS) && !defined(_WIN32)

/* ---- structures of the interface ---------------------------------------------------------------------------- */

/* An entry of a static part's table. The last has no name. */
typedef struct zt__itt_function {
    const char *name;
    void **pointer; /* through which the program calls it */
    void *initial, *absent;
    int group;
} zt__itt_function;

typedef struct zt__itt_domain {
    volatile int flags; /* 0: the program makes no calls with it */
    const char *name;
    const void *wide_name;
    int choice; /* reserved for collectors. 0: none was made, 1: its ranges are phases, 2: they are not */
    void *reserved;
    struct zt__itt_domain *next;
} zt__itt_domain;

typedef struct zt__itt_text {
    const char *text;
    const void *wide_text;
    int reserved;
    void *also_reserved;
    struct zt__itt_text *next;
} zt__itt_text;

typedef struct zt__itt_id {
    uint64_t words[3];
} zt__itt_id;

/* The beginning of what a static part shows. Newer ones have more. */
typedef struct zt__itt_global {
    uint8_t magic[8];
    unsigned long major, minor, build;
    long is_initialised, has_mutex, users;
    pthread_mutex_t mutex;
    void *library, *error_handler;
    const char **path;
    zt__itt_function *functions;
    struct zt__itt_global *next;
    void *threads;
    zt__itt_domain *domains;
} zt__itt_global;

ZT__EXPORTED void __itt_api_init(zt__itt_global *global, int groups);
ZT__EXPORTED void __itt_api_fini(zt__itt_global *global);

/* ---- domains and texts -------------------------------------------------------------------------------------- */

/* Those that were created after the initialisation, for all static parts. They are never freed. */
static zt__mutex zt__itt_mutex = ZT__MUTEX_INITIALIZER;
static zt__map zt__itt_domains, zt__itt_texts;

static const char *zt__itt_patterns; /* ZT_ITT. NULL: all domains. Atomic */

/* Returns whether the ranges of a domain are phases. */
static int zt__is_followed(zt__itt_domain *domain) {
    int choice = domain ? zt__load(&domain->choice) : 2;
    if (choice == 0) {
        const char *patterns = zt__load(&zt__itt_patterns);
        int is_selected = !patterns || (!zt__is_off(patterns) &&
                                        zt__is_selected(patterns, domain->name ? domain->name : ""));
        choice = is_selected ? 1 : 2;
        if (!is_selected) {
            domain->flags = 0;
        }
        zt__store(&domain->choice, choice);
    }
    return choice == 1;
}

/* Returns the object of a name. A new one has `size` bytes of zeros, and the address of a copy of the name at `place`.
   Returns NULL without memory. */
static void *zt__itt_find_or_create(zt__map *map, const char *name, size_t size, size_t place) {
    size_t length = name ? strlen(name) : 0;
    char *created = name ? (char *)calloc(1, size + length + 1) : NULL, *copy, *found;
    if (!created) {
        return NULL;
    }
    copy = (char *)memcpy(created + size, name, length);
    memcpy(created + place, &copy, sizeof copy);
    zt__lock(&zt__itt_mutex);
    zt__map_make_room(map, &zt__default_allocator, &zt__itt_mutex);
    found = (char *)zt__map_find(map, name, length);
    if (!found && !zt__map_is_full(map)) {
        zt__map_add(map, copy, length, created);
        found = created;
    }
    zt__unlock(&zt__itt_mutex);
    if (found != created) {
        free(created);
    }
    return found;
}

static zt__itt_domain *zt__itt_domain_create(const char *name) {
    zt__itt_domain *domain = (zt__itt_domain *)zt__itt_find_or_create(&zt__itt_domains, name, sizeof *domain,
                                                                      offsetof(zt__itt_domain, name));
    if (domain && zt__load(&domain->choice) == 0) {
        domain->flags = 1;
        zt__is_followed(domain);
    }
    return domain;
}

static zt__itt_text *zt__itt_string_handle_create(const char *text) {
    return (zt__itt_text *)zt__itt_find_or_create(&zt__itt_texts, text, sizeof(zt__itt_text),
                                                  offsetof(zt__itt_text, text));
}

/* ---- ranges ------------------------------------------------------------------------------------------------- */

static zt__range_key zt__itt_key(zt__range_kind kind, const zt__itt_domain *domain, const zt__itt_id *id) {
    const char *name = domain->name ? domain->name : "";
    zt__range_key key;
    memset(&key, 0, sizeof key);
    key.kind = kind;
    key.domain = zt__hash(name, strlen(name));
    if (id) {
        memcpy(key.id, id->words, sizeof key.id);
    }
    return key;
}

static void zt__itt_begin(zt__range_kind kind, zt__itt_domain *domain, const zt__itt_id *id,
                          const zt__itt_text *name) {
    if (zt__is_followed(domain)) {
        zt__range_key key = zt__itt_key(kind, domain, id);
        zt__begin_range(&key, name ? name->text : domain->name);
    }
}

static void zt__itt_end(zt__range_kind kind, zt__itt_domain *domain, const zt__itt_id *id) {
    if (zt__is_followed(domain)) {
        zt__range_key key = zt__itt_key(kind, domain, id);
        if (!zt__end_range(&key)) {
            zt__note_range("a range", domain->name);
        }
    }
}

static void zt__itt_task_begin(zt__itt_domain *domain, zt__itt_id id, zt__itt_id parent, zt__itt_text *name) {
    (void)id, (void)parent;
    zt__itt_begin(ZT__RANGE_TASK, domain, NULL, name);
}

/* Such a task is named by a function. Its phase has the name of the domain, because addresses change. */
static void zt__itt_task_begin_fn(zt__itt_domain *domain, zt__itt_id id, zt__itt_id parent, void *function) {
    (void)id, (void)parent, (void)function;
    zt__itt_begin(ZT__RANGE_TASK, domain, NULL, NULL);
}

static void zt__itt_task_end(zt__itt_domain *domain) {
    zt__itt_end(ZT__RANGE_TASK, domain, NULL);
}

/* These may end in any order, and on any thread. Phases cannot. */
static void zt__itt_task_begin_overlapped(zt__itt_domain *domain, zt__itt_id id, zt__itt_id parent,
                                          zt__itt_text *name) {
    (void)id, (void)parent;
    if (zt__is_followed(domain)) {
        zt__note_range(name ? name->text : "a task", domain->name);
    }
}

static void zt__itt_region_begin(zt__itt_domain *domain, zt__itt_id id, zt__itt_id parent,
                                 zt__itt_text *name) {
    (void)parent;
    zt__itt_begin(ZT__RANGE_REGION, domain, &id, name);
}

static void zt__itt_region_end(zt__itt_domain *domain, zt__itt_id id) {
    zt__itt_end(ZT__RANGE_REGION, domain, &id);
}

static void zt__itt_frame_begin(zt__itt_domain *domain, zt__itt_id *id) {
    zt__itt_begin(ZT__RANGE_FRAME, domain, id, NULL);
}

static void zt__itt_frame_end(zt__itt_domain *domain, zt__itt_id *id) {
    zt__itt_end(ZT__RANGE_FRAME, domain, id);
}

/* ---- pauses ------------------------------------------------------------------------------------------------- */

static void zt__itt_pause(void) {
    zt__pause(ZT__PAUSED_PHASES | ZT__PAUSED_LAUNCHES, 1);
}

static void zt__itt_resume(void) {
    zt__pause(ZT__PAUSED_PHASES | ZT__PAUSED_LAUNCHES, 0);
}

/* The scopes of ITT, host and offload, are the bits of ZT__PAUSED_PHASES and ZT__PAUSED_LAUNCHES. */
static void zt__itt_pause_scoped(int scope) {
    zt__pause((uint32_t)scope & (ZT__PAUSED_PHASES | ZT__PAUSED_LAUNCHES), 1);
}

static void zt__itt_resume_scoped(int scope) {
    zt__pause((uint32_t)scope & (ZT__PAUSED_PHASES | ZT__PAUSED_LAUNCHES), 0);
}

/* ---- initialisation ----------------------------------------------------------------------------------------- */

typedef void (*zt__itt_any)(void);

/* Returns the address of the collector's function of a name, or NULL if it has none. */
static void *zt__find_itt_function(const char *name) {
    static const struct {
        const char *name;
        zt__itt_any function;
    } functions[] = {
        {"__itt_domain_create", (zt__itt_any)zt__itt_domain_create},
        {"__itt_string_handle_create", (zt__itt_any)zt__itt_string_handle_create},
        {"__itt_task_begin", (zt__itt_any)zt__itt_task_begin},
        {"__itt_task_begin_fn", (zt__itt_any)zt__itt_task_begin_fn},
        {"__itt_task_end", (zt__itt_any)zt__itt_task_end},
        {"__itt_task_begin_overlapped", (zt__itt_any)zt__itt_task_begin_overlapped},
        {"__itt_region_begin", (zt__itt_any)zt__itt_region_begin},
        {"__itt_region_end", (zt__itt_any)zt__itt_region_end},
        {"__itt_frame_begin_v3", (zt__itt_any)zt__itt_frame_begin},
        {"__itt_frame_end_v3", (zt__itt_any)zt__itt_frame_end},
        {"__itt_pause", (zt__itt_any)zt__itt_pause},
        {"__itt_resume", (zt__itt_any)zt__itt_resume},
        {"__itt_pause_scoped", (zt__itt_any)zt__itt_pause_scoped},
        {"__itt_resume_scoped", (zt__itt_any)zt__itt_resume_scoped},
        {"__itt_detach", (zt__itt_any)zt__itt_pause},
    };
    void *address = NULL;
    uint32_t i;
    for (i = 0; i < ZT__COUNT_OF(functions); i++) {
        if (strcmp(functions[i].name, name) == 0) {
            memcpy(&address, &functions[i].function, sizeof address);
        }
    }
    return address;
}

/* In a forked child: a thread of the parent may have held the mutex, and changed the maps. */
static void zt__forget_itt_objects(void) {
    zt__create_mutex(&zt__itt_mutex);
    memset(&zt__itt_domains, 0, sizeof zt__itt_domains);
    memset(&zt__itt_texts, 0, sizeof zt__itt_texts);
}

void __itt_api_init(zt__itt_global *global, int groups) {
    static uint32_t has_started; /* atomic */
    static const uint8_t magic[8] = {0xed, 0xab, 0xab, 0xec, 0x0d, 0xee, 0xda, 0x30};
    const char *patterns = zt__get_variable("ZT_ITT");
    zt__itt_function *function;
    zt__itt_domain *domain;
    (void)groups;
    if (!global || memcmp(global->magic, magic, sizeof magic) != 0 || global->major != 3) {
        zt__print_message(
            "this program has a version of ITT that is not known here: its tasks are no phases.");
        return;
    }
    zt__start_ranges();
    if (zt__change_if(&has_started, 0, 1)) {
        zt__call_after_fork(zt__forget_itt_objects);
    }
    if (patterns && !zt__load(&zt__itt_patterns)) {
        zt__store(&zt__itt_patterns, (const char *)zt__duplicate_text(&zt__default_allocator, patterns));
    }
    for (domain = global->domains; domain; domain = domain->next) {
        zt__is_followed(domain);
    }
    for (function = global->functions; function && function->name; function++) {
        void *found = zt__find_itt_function(function->name);
        zt__store(function->pointer, found ? found : function->absent);
    }
}

void __itt_api_fini(zt__itt_global *global) {
    zt__itt_function *function = global ? global->functions : NULL;
    for (; function && function->name; function++) {
        zt__store(function->pointer, function->absent);
    }
}

#endif
