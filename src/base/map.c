/* The hash table that all parts use. */

#include "base/map.h"

#include "base/compiler.h"
#include "base/memory.h"
#include "base/platform.h"

ZT__PRIVATE uint64_t zt__hash(const void *key, size_t length) {
    const unsigned char *next = (const unsigned char *)key, *end = next + length;
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (; next < end; next++) {
        hash = (hash ^ *next) * UINT64_C(0x100000001b3);
    }
    return hash;
}

/* The hash of a key: eight bytes at a time, because each begin of a region looks up a list and a name. Each step can
   be undone, so no two keys of the same length, of at most eight bytes, have the same hash. */
static uint64_t zt__hash_key(const void *key, size_t length) {
    const uint64_t factor = UINT64_C(0x9E3779B97F4A7C15);
    const unsigned char *next = (const unsigned char *)key;
    uint64_t hash = length, word;
    for (; length >= sizeof word; length -= sizeof word, next += sizeof word) {
        memcpy(&word, next, sizeof word);
        hash = (hash ^ word) * factor;
        hash ^= hash >> 32;
    }
    for (word = 0; length > 0; length--) {
        word = word << 8 | *next++;
    }
    hash = (hash ^ word) * factor;
    return hash ^ hash >> 32;
}

/* Returns the entry of a key, or the free entry for it. The map must have a free entry. */
static zt__map_entry *zt__map_place(const zt__map *map, uint64_t hash, const void *key, size_t length) {
    uint32_t i = (uint32_t)hash & (map->capacity - 1);
    for (;; i = (i + 1) & (map->capacity - 1)) {
        zt__map_entry *entry = &map->entries[i];
        if (!entry->value || (entry->hash == hash && entry->length == length &&
                              (length <= sizeof hash || memcmp(entry->key, key, length) == 0))) {
            return entry;
        }
    }
}

ZT__PRIVATE void *zt__map_find(const zt__map *map, const void *key, size_t length) {
    return map->capacity ? zt__map_place(map, zt__hash_key(key, length), key, length)->value : NULL;
}

/* Returns whether the map has no room for so many more entries. */
static int zt__map_lacks_room(const zt__map *map, uint32_t more) {
    return (map->count + more) * 2 > map->capacity;
}

ZT__PRIVATE int zt__map_is_full(const zt__map *map) {
    return zt__map_lacks_room(map, 1);
}

ZT__PRIVATE void zt__map_add(zt__map *map, const void *key, size_t length, void *value) {
    uint64_t hash = zt__hash_key(key, length);
    zt__map_entry *entry = zt__map_place(map, hash, key, length);
    entry->hash = hash;
    entry->key = key;
    entry->length = length;
    entry->value = value;
    map->count++;
}

ZT__PRIVATE void zt__map_remove(zt__map *map, const void *key, size_t length) {
    zt__map_entry *entry = map->capacity ? zt__map_place(map, zt__hash_key(key, length), key, length) : NULL;
    uint32_t i;
    if (!entry || !entry->value) {
        return;
    }
    entry->value = NULL;
    map->count--;
    for (i = (uint32_t)(entry - map->entries);;) {
        zt__map_entry moved;
        i = (i + 1) & (map->capacity - 1);
        moved = map->entries[i];
        if (!moved.value) {
            return;
        }
        map->entries[i].value = NULL;
        *zt__map_place(map, moved.hash, moved.key, moved.length) = moved;
    }
}

ZT__PRIVATE int zt__map_make_room(zt__map *map, const zt_allocator *allocator, zt__mutex *mutex) {
    return zt__map_make_room_for(map, 1, allocator, mutex);
}

ZT__PRIVATE int zt__map_make_room_for(zt__map *map, uint32_t more, const zt_allocator *allocator,
                                      zt__mutex *mutex) {
    while (zt__map_lacks_room(map, more)) {
        zt__map grown = {NULL, 64, 0};
        uint32_t i, before = map->capacity;
        zt__map_entry *unused;
        if (before) {
            grown.capacity = before * 2;
        }
        while (zt__map_lacks_room(&grown, map->count + more)) {
            grown.capacity *= 2;
        }
        zt__unlock(mutex);
        grown.entries = (zt__map_entry *)zt__allocate(allocator, grown.capacity, sizeof *grown.entries);
        zt__lock(mutex);
        if (!grown.entries) {
            return !zt__map_lacks_room(map, more);
        }
        unused = grown.entries;
        if (map->capacity == before) { /* else another thread has grown it */
            for (i = 0; i < before; i++) {
                if (map->entries[i].value) {
                    zt__map_entry *entry = &map->entries[i];
                    *zt__map_place(&grown, entry->hash, entry->key, entry->length) = *entry;
                }
            }
            grown.count = map->count;
            unused = map->entries;
            *map = grown;
        }
        zt__unlock(mutex);
        zt__free(allocator, unused);
        zt__lock(mutex);
    }
    return 1;
}

ZT__PRIVATE void zt__map_free(zt__map *map, const zt_allocator *allocator) {
    zt__free(allocator, map->entries);
    memset(map, 0, sizeof *map);
}

ZT__PRIVATE void zt__map_free_values(zt__map *map, const zt_allocator *allocator) {
    uint32_t i;
    for (i = 0; i < map->capacity; i++) {
        zt__free(allocator, map->entries[i].value);
    }
    zt__map_free(map, allocator);
}
