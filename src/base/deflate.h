/* Compression in the format of zlib (RFC 1950 and 1951). */

#pragma once

#include "base/compiler.h"
#include "base/system.h"

enum { ZT__DEFLATE_BITS = 12, ZT__DEFLATE_PLACES = 1 << ZT__DEFLATE_BITS };

/* Where three bytes of each hash were seen last. */
typedef struct zt__deflate_places {
    uint32_t seen[ZT__DEFLATE_PLACES]; /* the index of the first of the three, plus 1; 0: not seen */
} zt__deflate_places;

/* Returns the most bytes to which `size` bytes are compressed. */
ZT__PRIVATE size_t zt__most_deflated(size_t size);

/* Compresses to memory that has room for zt__most_deflated(size) bytes. Returns how many it has written. */
ZT__PRIVATE size_t zt__deflate(zt__deflate_places *places, const uint8_t *bytes, size_t size,
                               uint8_t *compressed);
