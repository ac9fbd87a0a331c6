/* The hash table that all parts use. */

#pragma once

#include "base/compiler.h"
#include "base/platform.h"
#include "base/system.h"

typedef struct zt__map_entry {
    uint64_t hash;
    const void *key; /* not copied: it must live as long as the entry */
    size_t length;
    void *value; /* NULL: the entry is free */
} zt__map_entry;

/* Maps keys, which are strings of bytes, to values. Open addressing, at most half full. */
typedef struct zt__map {
    zt__map_entry *entries;
    uint32_t capacity; /* a power of two, or 0 */
    uint32_t count;
} zt__map;

/* FNV-1a. */
ZT__PRIVATE uint64_t zt__hash(const void *key, size_t length);

/* Returns the value of a key, or NULL. */
ZT__PRIVATE void *zt__map_find(const zt__map *map, const void *key, size_t length);

/* Returns whether there is no room for one more key. */
ZT__PRIVATE int zt__map_is_full(const zt__map *map);

/* Adds a key that is not in the map. The map must not be full. */
ZT__PRIVATE void zt__map_add(zt__map *map, const void *key, size_t length, void *value);

/* Removes a key, and enters those that follow it again, because a search for them would stop at the free
   entry. */
ZT__PRIVATE void zt__map_remove(zt__map *map, const void *key, size_t length);

/* Makes room for one more key. The mutex that guards the map is held. It is unlocked while the allocator
   runs, so the caller has to look its key up again. Returns 0 without memory. */
ZT__PRIVATE int zt__map_make_room(zt__map *map, const zt_allocator *allocator, zt__mutex *mutex);

/* The same for so many entries more. */
ZT__PRIVATE int zt__map_make_room_for(zt__map *map, uint32_t more, const zt_allocator *allocator,
                                      zt__mutex *mutex);

ZT__PRIVATE void zt__map_free(zt__map *map, const zt_allocator *allocator);

/* Frees a map and its values. The key of a value may be part of it. */
ZT__PRIVATE void zt__map_free_values(zt__map *map, const zt_allocator *allocator);
