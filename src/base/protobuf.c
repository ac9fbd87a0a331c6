/* Messages of Protocol Buffers, encoded in memory. */

#include "base/protobuf.h"

#include "base/compiler.h"
#include "base/deflate.h"
#include "base/memory.h"
#include "base/text.h"

/* How a field is encoded: the low bits of its key. */
enum { ZT__WIRE_VARINT = 0, ZT__WIRE_64_BITS = 1, ZT__WIRE_BYTES = 2, ZT__MOST_VARINT = 10 };

/* Makes room for so many more bytes. Returns 0 without memory. */
static int zt__make_bytes(zt__protobuf *protobuf, size_t more) {
    size_t room = protobuf->room ? protobuf->room : 1024;
    uint8_t *bytes;
    if (protobuf->used + more <= protobuf->room) {
        return 1;
    }
    while (room < protobuf->used + more) {
        room *= 2;
    }
    bytes = (uint8_t *)zt__allocate(protobuf->allocator, room, 1);
    if (!bytes) {
        protobuf->out_of_memory = 1;
        return 0;
    }
    if (protobuf->used) {
        memcpy(bytes, protobuf->bytes, protobuf->used);
    }
    zt__free(protobuf->allocator, protobuf->bytes);
    protobuf->bytes = bytes;
    protobuf->room = room;
    return 1;
}

static void zt__put_bytes(zt__protobuf *protobuf, const void *bytes, size_t size) {
    if (zt__make_bytes(protobuf, size)) {
        memcpy(protobuf->bytes + protobuf->used, bytes, size);
        protobuf->used += size;
    }
}

/* Encodes a number in groups of seven bits, the low ones first. Returns how many there are. */
static size_t zt__encode_varint(uint8_t bytes[ZT__MOST_VARINT], uint64_t number) {
    size_t count = 0;
    for (; number >= 0x80; number >>= 7) {
        bytes[count++] = (uint8_t)(number | 0x80);
    }
    bytes[count++] = (uint8_t)number;
    return count;
}

static void zt__put_varint(zt__protobuf *protobuf, uint64_t number) {
    uint8_t bytes[ZT__MOST_VARINT];
    zt__put_bytes(protobuf, bytes, zt__encode_varint(bytes, number));
}

static void zt__put_key(zt__protobuf *protobuf, uint32_t field, uint32_t wire) {
    zt__put_varint(protobuf, (uint64_t)field << 3 | wire);
}

ZT__PRIVATE void zt__put_uint(zt__protobuf *protobuf, uint32_t field, uint64_t number) {
    zt__put_key(protobuf, field, ZT__WIRE_VARINT);
    zt__put_varint(protobuf, number);
}

ZT__PRIVATE void zt__put_fixed64(zt__protobuf *protobuf, uint32_t field, uint64_t number) {
    uint8_t bytes[8];
    uint32_t i;
    for (i = 0; i < sizeof bytes; i++) {
        bytes[i] = (uint8_t)(number >> (8 * i));
    }
    zt__put_key(protobuf, field, ZT__WIRE_64_BITS);
    zt__put_bytes(protobuf, bytes, sizeof bytes);
}

ZT__PRIVATE void zt__put_double(zt__protobuf *protobuf, uint32_t field, double number) {
    uint64_t bits;
    memcpy(&bits, &number, sizeof bits);
    zt__put_fixed64(protobuf, field, bits);
}

ZT__PRIVATE void zt__put_text(zt__protobuf *protobuf, uint32_t field, const char *text) {
    zt__character character;
    zt__begin_message(protobuf, field);
    while (zt__next_character(&text, &character)) {
        zt__put_bytes(protobuf, character.bytes, character.length);
    }
    zt__end_message(protobuf);
}

ZT__PRIVATE void zt__begin_message(zt__protobuf *protobuf, uint32_t field) {
    zt__put_key(protobuf, field, ZT__WIRE_BYTES);
    protobuf->open[protobuf->depth++] = protobuf->used;
}

/* The length stands before the content, which moves: most messages have a few bytes. */
ZT__PRIVATE void zt__end_message(zt__protobuf *protobuf) {
    size_t begin = protobuf->open[--protobuf->depth], length, count;
    uint8_t bytes[ZT__MOST_VARINT];
    if (!zt__make_bytes(protobuf, sizeof bytes)) {
        return;
    }
    length = protobuf->used - begin;
    count = zt__encode_varint(bytes, length);
    memmove(protobuf->bytes + begin + count, protobuf->bytes + begin, length);
    memcpy(protobuf->bytes + begin, bytes, count);
    protobuf->used += count;
}

ZT__PRIVATE void zt__clear_protobuf(zt__protobuf *protobuf) {
    protobuf->used = 0;
    protobuf->depth = 0;
}

ZT__PRIVATE void zt__put_fields(zt__protobuf *protobuf, uint32_t field, const zt__protobuf *fields) {
    zt__put_key(protobuf, field, ZT__WIRE_BYTES);
    zt__put_varint(protobuf, fields->used);
    zt__put_bytes(protobuf, fields->bytes, fields->used);
}

ZT__PRIVATE void zt__put_compressed(zt__protobuf *protobuf, uint32_t field, const zt__protobuf *content,
                                    zt__deflate_places *places) {
    zt__begin_message(protobuf, field);
    if (zt__make_bytes(protobuf, zt__most_deflated(content->used))) {
        protobuf->used +=
            zt__deflate(places, content->bytes, content->used, protobuf->bytes + protobuf->used);
    }
    zt__end_message(protobuf);
}
