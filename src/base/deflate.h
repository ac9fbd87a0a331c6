/* Compression in the format of zlib (RFC 1950 and 1951). */

#pragma once

#include "base/compiler.h"
#include "base/system.h"

enum { ZT__DEFLATE_PLACES = 1 << 12 };

/* Where bytes that may come again were seen last. */
typedef struct zt__deflate_places {
    uint32_t ends[ZT__DEFLATE_PLACES]; /* by a hash: the index behind the first of three bytes; 0: not seen */
} zt__deflate_places;

/* Returns how many bytes the compressed form of so many has at the most. */
ZT__PRIVATE size_t zt__most_deflated(size_t size);

/* Compresses to memory that has room for the most bytes. Returns how many there are. */
ZT__PRIVATE size_t zt__deflate(zt__deflate_places *places, const uint8_t *bytes, size_t size,
                               uint8_t *compressed);
