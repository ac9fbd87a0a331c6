/* Live handles, and the ledger of what an application did with them. */
#include "softgpu.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    SLAB_BYTES = 1 << 16,
    SLAB_LIMIT = 1 << 16, /* a power of two; a long run of the model test leaves objects behind */
    SLAB_HEADER = SG_CACHE_LINE,
    RETAINED = 1024, /* destroyed objects of a type whose addresses wait before they are used again */
    TEXTS = 64,
    TEXT_LENGTH = 160
};

/* A slab begins at a multiple of its size, so that an address names the slab that it may be in. */
typedef struct slab {
    sg_type type;
    uint32_t object_size;
    uint32_t capacity;
    _Atomic uint32_t used; /* objects that were ever created in it */
} slab;

typedef struct kind {
    pthread_mutex_t lock;
    slab *newest;
    sg_object *first_free, *last_free;
    uint32_t free_count;
    _Atomic uint64_t live;
} kind;

#define SG_KIND(name) {.lock = PTHREAD_MUTEX_INITIALIZER},
static kind kinds[SG_TYPE_COUNT] = {SG_TYPES(SG_KIND)};

#define SG_NAME(name) #name,
static const char *const type_names[SG_TYPE_COUNT] = {SG_TYPES(SG_NAME)};

static _Atomic(slab *) slabs[SLAB_LIMIT];
static pthread_mutex_t slabs_lock = PTHREAD_MUTEX_INITIALIZER;
static uint32_t slab_count;
static _Atomic uint64_t last_serial;

static _Atomic int64_t live_memory;
static pthread_mutex_t findings_lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t finding_count;
static char findings[TEXTS][TEXT_LENGTH];

/* ---- slabs --------------------------------------------------------------------------------------------- */

static uint32_t slab_place(uintptr_t address) {
    return (uint32_t)((address / SLAB_BYTES) * 2654435761u) & (SLAB_LIMIT - 1);
}

static slab *slab_of(const void *address) {
    uintptr_t wanted = (uintptr_t)address & ~(uintptr_t)(SLAB_BYTES - 1);
    for (uint32_t place = slab_place(wanted);; place = (place + 1) & (SLAB_LIMIT - 1)) {
        slab *found = atomic_load_explicit(&slabs[place], memory_order_acquire);
        if (!found || (uintptr_t)found == wanted)
            return found;
    }
}

static slab *slab_create(sg_type type, size_t object_size) {
    slab *made = NULL;
    pthread_mutex_lock(&slabs_lock);
    if (slab_count < SLAB_LIMIT / 2)
        made = aligned_alloc(SLAB_BYTES, SLAB_BYTES);
    if (made) {
        made->type = type;
        made->object_size = (uint32_t)sg_whole_lines(object_size);
        made->capacity = (SLAB_BYTES - SLAB_HEADER) / made->object_size;
        atomic_init(&made->used, 0);
        uint32_t place = slab_place((uintptr_t)made);
        while (atomic_load_explicit(&slabs[place], memory_order_relaxed))
            place = (place + 1) & (SLAB_LIMIT - 1);
        atomic_store_explicit(&slabs[place], made, memory_order_release);
        ++slab_count;
    }
    pthread_mutex_unlock(&slabs_lock);
    return made;
}

static sg_object *slab_object(slab *in, uint32_t index) {
    return (sg_object *)((char *)in + SLAB_HEADER + (size_t)index * in->object_size);
}

/* The object at this address, alive or dead; NULL if none of the type was ever there. */
static sg_object *object_at(const void *handle, sg_type type) {
    slab *in = slab_of(handle);
    if (!in || in->type != type)
        return NULL;
    uint32_t offset = (uint32_t)((uintptr_t)handle - (uintptr_t)in) - SLAB_HEADER; /* wraps in the header */
    if (offset >= atomic_load_explicit(&in->used, memory_order_acquire) * in->object_size ||
        offset % in->object_size)
        return NULL;
    return (sg_object *)((char *)in + SLAB_HEADER + offset);
}

/* ---- objects ------------------------------------------------------------------------------------------- */

static sg_object *take_place(sg_type type, size_t size) {
    kind *of = &kinds[type];
    slab *in = of->newest;
    bool at_once = sg_behaviour_is_on(SOFTGPU_HANDLES_COME_BACK);
    if (of->free_count > (at_once ? 0 : RETAINED)) {
        sg_object *object = of->first_free;
        of->first_free = object->next_free;
        --of->free_count;
        return object;
    }
    if (!in || atomic_load_explicit(&in->used, memory_order_relaxed) == in->capacity)
        in = of->newest = slab_create(type, size);
    if (!in)
        return NULL;
    sg_object *object = slab_object(in, atomic_load_explicit(&in->used, memory_order_relaxed));
    atomic_init(&object->alive, 0);
    atomic_fetch_add_explicit(&in->used, 1, memory_order_release);
    return object;
}

void *sg_object_create(sg_type type, size_t size, void *parent) {
    kind *of = &kinds[type];
    pthread_mutex_lock(&of->lock);
    sg_object *object = take_place(type, size);
    pthread_mutex_unlock(&of->lock);
    if (!object)
        return NULL;
    memset((char *)object + sizeof *object, 0, size - sizeof *object);
    object->type = type;
    object->serial = atomic_fetch_add_explicit(&last_serial, 1, memory_order_relaxed) + 1;
    object->parent = parent;
    object->parent_serial = parent ? object->parent->serial : 0;
    atomic_store_explicit(&object->children, 0, memory_order_relaxed);
    if (parent)
        atomic_fetch_add_explicit(&object->parent->children, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&of->live, 1, memory_order_relaxed);
    atomic_store_explicit(&object->alive, 1, memory_order_release);
    return object;
}

static void give_place_back(sg_object *object) {
    kind *of = &kinds[object->type];
    pthread_mutex_lock(&of->lock);
    bool comes_back = sg_behaviour_is_on(SOFTGPU_HANDLES_COME_BACK);
    object->next_free = comes_back && of->free_count ? of->first_free : NULL;
    if (of->free_count++ && !comes_back)
        of->last_free->next_free = object;
    else
        of->first_free = object;
    if (!object->next_free)
        of->last_free = object;
    pthread_mutex_unlock(&of->lock);
}

void sg_object_destroy(void *destroyed) {
    sg_object *object = destroyed;
    if (!atomic_exchange_explicit(&object->alive, 0, memory_order_acq_rel)) {
        sg_finding("%s %llu destroyed by two threads", type_names[object->type],
                   (unsigned long long)object->serial);
        return;
    }
    uint32_t children = atomic_load_explicit(&object->children, memory_order_relaxed);
    if (children)
        sg_finding("%s %llu destroyed before %u that belong to it", type_names[object->type],
                   (unsigned long long)object->serial, children);
    if (object->parent && sg_object_is(object->parent, object->parent_serial))
        atomic_fetch_sub_explicit(&object->parent->children, 1, memory_order_relaxed);
    atomic_fetch_sub_explicit(&kinds[object->type].live, 1, memory_order_relaxed);
    give_place_back(object);
}

void *sg_object_check(const void *handle, sg_type type) {
    sg_object *object = object_at(handle, type);
    return object && atomic_load_explicit(&object->alive, memory_order_acquire) ? object : NULL;
}

ze_result_t sg_object_refuse(const void *handle, sg_type type) {
    if (object_at(handle, type))
        sg_finding("%s destroyed twice", type_names[type]);
    else if (handle)
        sg_finding("something destroyed as a %s that is none", type_names[type]);
    return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
}

ze_result_t sg_object_end(const void *handle, sg_type type) {
    void *object = sg_object_check(handle, type);
    if (!object)
        return sg_object_refuse(handle, type);
    sg_object_destroy(object);
    return ZE_RESULT_SUCCESS;
}

void sg_object_each(sg_type type, void (*visit)(void *object, void *argument), void *argument) {
    for (uint32_t place = 0; place < SLAB_LIMIT; ++place) {
        slab *in = atomic_load_explicit(&slabs[place], memory_order_acquire);
        uint32_t used = in && in->type == type ? atomic_load_explicit(&in->used, memory_order_acquire) : 0;
        for (uint32_t index = 0; index < used; ++index) {
            sg_object *object = slab_object(in, index);
            if (atomic_load_explicit(&object->alive, memory_order_acquire))
                visit(object, argument);
        }
    }
}

void sg_objects_unload(void) {
    for (uint32_t place = 0; place < SLAB_LIMIT; ++place)
        sg_free_aligned(atomic_exchange(&slabs[place], NULL));
}

/* ---- the ledger ---------------------------------------------------------------------------------------- */

void sg_finding(const char *format, ...) {
    va_list values;
    va_start(values, format);
    pthread_mutex_lock(&findings_lock);
    if (finding_count < TEXTS)
        vsnprintf(findings[finding_count], TEXT_LENGTH, format, values);
    ++finding_count;
    pthread_mutex_unlock(&findings_lock);
    va_end(values);
}

void sg_ledger_count_memory(int change) {
    atomic_fetch_add_explicit(&live_memory, change, memory_order_relaxed);
}

/* The driver's own objects are nobody's leak. */
static uint64_t live_of(sg_type type) {
    bool own = type == SG_DRIVER || type == SG_DEVICE || type == SG_METRIC_GROUP || type == SG_METRIC;
    return own ? 0 : atomic_load_explicit(&kinds[type].live, memory_order_relaxed);
}

uint64_t softgpu_live(void) {
    uint64_t live = (uint64_t)atomic_load_explicit(&live_memory, memory_order_relaxed);
    for (unsigned type = 0; type < SG_TYPE_COUNT; ++type)
        live += live_of((sg_type)type);
    return live;
}

uint64_t softgpu_findings(void) {
    pthread_mutex_lock(&findings_lock);
    uint64_t count = finding_count;
    pthread_mutex_unlock(&findings_lock);
    return count;
}

void softgpu_forget_findings(void) {
    pthread_mutex_lock(&findings_lock);
    finding_count = 0;
    pthread_mutex_unlock(&findings_lock);
}

typedef struct writer {
    char *text;
    size_t size, length;
} writer;

static void write_line(writer *to, const char *format, ...) {
    if (to->length >= to->size)
        return;
    va_list values;
    va_start(values, format);
    int written = vsnprintf(to->text + to->length, to->size - to->length, format, values);
    va_end(values);
    to->length += written > 0 ? (size_t)written : 0;
}

uint64_t softgpu_ledger(char *text, size_t size) {
    writer to = {text, size, 0};
    if (size)
        text[0] = '\0';
    for (unsigned type = 0; type < SG_TYPE_COUNT; ++type)
        if (live_of((sg_type)type))
            write_line(&to, "alive: %llu %s\n", (unsigned long long)live_of((sg_type)type), type_names[type]);
    int64_t memory = atomic_load_explicit(&live_memory, memory_order_relaxed);
    if (memory)
        write_line(&to, "alive: %lld allocations\n", (long long)memory);
    pthread_mutex_lock(&findings_lock);
    uint64_t count = finding_count;
    for (uint64_t i = 0; i < count && i < TEXTS; ++i)
        write_line(&to, "finding: %s\n", findings[i]);
    pthread_mutex_unlock(&findings_lock);
    return softgpu_live() + count;
}
