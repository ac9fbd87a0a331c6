/* The application's allocator. */

#include "base/memory.h"

#include "base/compiler.h"

static void *zt__default_allocate(size_t size, void *user) {
    (void)user;
    return malloc(size);
}

static void zt__default_release(void *memory, void *user) {
    (void)user;
    free(memory);
}

ZT__PRIVATE const zt_allocator zt__default_allocator = {zt__default_allocate, zt__default_release, NULL};

ZT__PRIVATE void *zt__allocate(const zt_allocator *allocator, size_t count, size_t size) {
    void *memory;
    if (count == 0 || size > SIZE_MAX / count) {
        return NULL;
    }
    memory = allocator->allocate(count * size, allocator->user);
    if (memory) {
        memset(memory, 0, count * size);
    }
    return memory;
}

ZT__PRIVATE void zt__free(const zt_allocator *allocator, void *memory) {
    if (memory) {
        allocator->release(memory, allocator->user);
    }
}

ZT__PRIVATE char *zt__duplicate_text(const zt_allocator *allocator, const char *text) {
    size_t size = strlen(text) + 1;
    char *copy = (char *)zt__allocate(allocator, size, 1);
    return copy ? (char *)memcpy(copy, text, size) : NULL;
}

ZT__PRIVATE void zt__copy_config(void *to, const void *given, size_t size) {
    if (given) {
        memcpy(to, given, size);
    } else {
        memset(to, 0, size);
    }
}
