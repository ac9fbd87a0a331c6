/* Messages of Protocol Buffers, encoded in memory. */

#pragma once

#include "base/compiler.h"
#include "base/deflate.h"
#include "base/system.h"

enum { ZT__PROTOBUF_DEPTH = 8 };

/* A buffer of fields, one after the other, with messages inside of messages. */
typedef struct zt__protobuf {
    const zt_allocator *allocator;
    uint8_t *bytes;
    size_t used, room;
    size_t open[ZT__PROTOBUF_DEPTH]; /* where the content of each message that is open begins */
    uint32_t depth;
    int out_of_memory; /* ever: what is encoded from then on is not kept */
} zt__protobuf;

ZT__PRIVATE void zt__put_uint(zt__protobuf *protobuf, uint32_t field, uint64_t number);

ZT__PRIVATE void zt__put_fixed64(zt__protobuf *protobuf, uint32_t field, uint64_t number);

ZT__PRIVATE void zt__put_double(zt__protobuf *protobuf, uint32_t field, double number);

/* Encodes a text of any bytes as valid UTF-8. */
ZT__PRIVATE void zt__put_text(zt__protobuf *protobuf, uint32_t field, const char *text);

/* Begins a message. The next fields are in it, until it ends. */
ZT__PRIVATE void zt__begin_message(zt__protobuf *protobuf, uint32_t field);

ZT__PRIVATE void zt__end_message(zt__protobuf *protobuf);

/* Forgets what is encoded, and keeps the memory. */
ZT__PRIVATE void zt__clear_protobuf(zt__protobuf *protobuf);

/* Encodes a message with the fields that another buffer has. */
ZT__PRIVATE void zt__put_fields(zt__protobuf *protobuf, uint32_t field, const zt__protobuf *fields);

/* Encodes what another buffer has as bytes in the format of zlib. */
ZT__PRIVATE void zt__put_compressed(zt__protobuf *protobuf, uint32_t field, const zt__protobuf *content,
                                    zt__deflate_places *places);
