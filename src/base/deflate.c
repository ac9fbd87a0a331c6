/* Compression in the format of zlib (RFC 1950 and 1951). */

#include "base/deflate.h"

#include "base/compiler.h"

/* The output is one block with the fixed codes: tables of codes would save little of what traces contain. A match is
   searched for only at the last place of the same hash. */

enum {
    ZT__LEAST_MATCH = 3,
    ZT__MOST_MATCH = 258,
    ZT__LONGEST_DISTANCE = 1 << 15,
    ZT__END_OF_BLOCK = 256,
    ZT__FIRST_LENGTH = 257 /* the symbol of the least match */
};

typedef struct zt__bits {
    uint8_t *bytes;
    size_t used;
    uint32_t pending; /* bits that are no whole byte yet, the first one lowest */
    uint32_t count;
} zt__bits;

/* Appends at most 16 bits, the lowest first. */
static void zt__put_bits(zt__bits *out, uint32_t bits, uint32_t count) {
    out->pending |= bits << out->count;
    for (out->count += count; out->count >= 8; out->count -= 8) {
        out->bytes[out->used++] = (uint8_t)out->pending;
        out->pending >>= 8;
    }
}

/* Appends a code, whose highest bit is the first. */
static void zt__put_code(zt__bits *out, uint32_t code, uint32_t count) {
    uint32_t reversed = 0, i;
    for (i = 0; i < count; i++) {
        reversed |= (code >> i & 1) << (count - 1 - i);
    }
    zt__put_bits(out, reversed, count);
}

/* Appends a byte, the end of the block, or the symbol of a length. */
static void zt__put_symbol(zt__bits *out, uint32_t symbol) {
    if (symbol < 144) {
        zt__put_code(out, 0x30 + symbol, 8);
    } else if (symbol < 256) {
        zt__put_code(out, 0x190 + symbol - 144, 9);
    } else if (symbol < 280) {
        zt__put_code(out, symbol - 256, 7);
    } else {
        zt__put_code(out, 0xC0 + symbol - 280, 8);
    }
}

static uint32_t zt__highest_bit(uint32_t number) {
    uint32_t bit = 0;
    while (number >>= 1) {
        bit++;
    }
    return bit;
}

/* Lengths and distances are in classes. All symbols of a class have the same number of extra bits: of lengths, these
   are four symbols, of distances two. */
static void zt__put_match(zt__bits *out, uint32_t length, uint32_t distance) {
    uint32_t rest = length - ZT__LEAST_MATCH, extra = rest < 8 ? 0 : zt__highest_bit(rest) - 2;
    if (length == ZT__MOST_MATCH) {
        zt__put_symbol(out, 285);
    } else {
        zt__put_symbol(out, ZT__FIRST_LENGTH + 4 * extra + (rest >> extra));
        zt__put_bits(out, rest & ((1u << extra) - 1), extra);
    }
    rest = distance - 1;
    extra = rest < 4 ? 0 : zt__highest_bit(rest) - 1;
    zt__put_code(out, 2 * extra + (rest >> extra), 5);
    zt__put_bits(out, rest & ((1u << extra) - 1), extra);
}

/* Returns where the last place of three bytes is kept that have the same hash as these. */
static uint32_t *zt__find_place(zt__deflate_places *places, const uint8_t *bytes) {
    uint32_t three = bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16;
    return &places->seen[three * 2654435761u >> (32 - ZT__DEFLATE_BITS)];
}

/* Adler-32 */
static uint32_t zt__checksum_of(const uint8_t *bytes, size_t size) {
    uint32_t low = 1, high = 0;
    size_t i;
    for (i = 0; i < size; i++) {
        low = (low + bytes[i]) % 65521;
        high = (high + low) % 65521;
    }
    return high << 16 | low;
}

/* Two bytes are before the block, and four behind it. Nine bits for a byte are the most, and ten for what begins and ends
   the block. */
ZT__PRIVATE size_t zt__most_deflated(size_t size) {
    return 2 + size + size / 8 + 3 + 4;
}

ZT__PRIVATE size_t zt__deflate(zt__deflate_places *places, const uint8_t *bytes, size_t size,
                               uint8_t *compressed) {
    zt__bits out = {NULL, 0, 0, 0};
    uint32_t checksum = zt__checksum_of(bytes, size);
    size_t i = 0;
    out.bytes = compressed;
    memset(places, 0, sizeof *places);
    zt__put_bits(&out, 0x0178, 16); /* deflate, in a window of 32 KiB */
    zt__put_bits(&out, 1, 1);       /* the last block */
    zt__put_bits(&out, 1, 2);       /* with the fixed codes */
    while (i < size) {
        size_t length = 0, distance = 0, end;
        if (i + ZT__LEAST_MATCH <= size) {
            uint32_t *seen = zt__find_place(places, bytes + i);
            size_t most = size - i < ZT__MOST_MATCH ? size - i : (size_t)ZT__MOST_MATCH;
            distance = i + 1 - *seen;
            while (*seen && distance <= ZT__LONGEST_DISTANCE && length < most &&
                   bytes[i + length] == bytes[i + length - distance]) {
                length++;
            }
            *seen = (uint32_t)i + 1;
        }
        if (length < ZT__LEAST_MATCH) {
            zt__put_symbol(&out, bytes[i++]);
            continue;
        }
        zt__put_match(&out, (uint32_t)length, (uint32_t)distance);
        end = i + length;
        for (i++; i < end && i + ZT__LEAST_MATCH <= size; i++) {
            *zt__find_place(places, bytes + i) = (uint32_t)i + 1;
        }
        i = end;
    }
    zt__put_symbol(&out, ZT__END_OF_BLOCK);
    zt__put_bits(&out, 0, (8 - out.count) % 8);
    for (i = 0; i < 4; i++) {
        zt__put_bits(&out, checksum >> (24 - 8 * i) & 0xFF, 8);
    }
    return out.used;
}
