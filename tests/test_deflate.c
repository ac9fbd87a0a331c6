/* Compression, undone by the rules of RFC 1950 and 1951. Google's library for Protocol Buffers and Python's zlib read whole
   files of it in test_perfetto. */
#define ZETOOLS_IMPLEMENTATION
#define ZETOOLS_STATIC
#include "fixture.h"

#include <stdlib.h>
#include <string.h>

enum { MOST = 200000 };

static uint8_t bytes[MOST], compressed[MOST + MOST / 8 + 100], undone[MOST];

typedef struct bits {
    const uint8_t *bytes;
    size_t used; /* bits */
} bits;

static uint32_t take(bits *from, uint32_t count) {
    uint32_t number = 0;
    for (uint32_t i = 0; i < count; i++, from->used++)
        number |= (uint32_t)(from->bytes[from->used / 8] >> from->used % 8 & 1) << i;
    return number;
}

/* Codes have their highest bit first. */
static uint32_t take_code(bits *from, uint32_t code, uint32_t count) {
    while (count--)
        code = code << 1 | take(from, 1);
    return code;
}

/* The fixed codes, by the table of RFC 1951, 3.2.6. */
static uint32_t take_symbol(bits *from) {
    uint32_t code = take_code(from, 0, 7);
    if (code <= 0x17)
        return 256 + code;
    code = take_code(from, code, 1);
    if (code >= 0x30 && code <= 0xBF)
        return code - 0x30;
    if (code >= 0xC0 && code <= 0xC7)
        return 280 + code - 0xC0;
    return 144 + take_code(from, code, 1) - 0x190;
}

/* Returns how many bytes there are. The tables are those of RFC 1951, 3.2.5. */
static size_t inflate_block(bits *from) {
    static const uint16_t lengths[] = {3,  4,  5,  6,  7,  8,  9,  10, 11,  13,  15,  17,  19,  23, 27,
                                       31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195, 227, 258};
    static const uint16_t distances[] = {1,    2,    3,    4,    5,    7,    9,    13,    17,    25,
                                         33,   49,   65,   97,   129,  193,  257,  385,   513,   769,
                                         1025, 1537, 2049, 3073, 4097, 6145, 8193, 12289, 16385, 24577};
    size_t count = 0;
    uint32_t symbol;
    while ((symbol = take_symbol(from)) != 256) {
        if (symbol < 256) {
            undone[count++] = (uint8_t)symbol;
            continue;
        }
        assert_in_range(symbol, 257, 285);
        uint32_t of_length = symbol - 257;
        uint32_t length =
            lengths[of_length] + take(from, of_length < 8 || of_length == 28 ? 0 : of_length / 4 - 1);
        uint32_t of_distance = take_code(from, 0, 5);
        assert_in_range(of_distance, 0, 29);
        uint32_t distance = distances[of_distance] + take(from, of_distance < 4 ? 0 : of_distance / 2 - 1);
        assert_true(distance <= count && count + length <= MOST);
        for (; length; length--, count++)
            undone[count] = undone[count - distance];
    }
    return count;
}

/* Returns the size of the compressed form of the first `size` bytes. */
static size_t check(size_t size) {
    static zt__deflate_places places;
    size_t used = zt__deflate(&places, bytes, size, compressed);
    bits from = {compressed, 16};
    uint32_t low = 1, high = 0, checksum = 0;
    assert_true(used <= zt__most_deflated(size));
    assert_int_equal((compressed[0] << 8 | compressed[1]) % 31, 0);
    assert_int_equal(compressed[0], 0x78);
    assert_int_equal(take(&from, 3), 3); /* the last block, with the fixed codes */
    assert_int_equal(inflate_block(&from), size);
    assert_memory_equal(undone, bytes, size);
    for (size_t i = 0; i < size; i++) {
        low = (low + bytes[i]) % 65521;
        high = (high + low) % 65521;
    }
    from.used = (from.used + 7) / 8 * 8;
    for (int i = 0; i < 4; i++)
        checksum = checksum << 8 | take(&from, 8);
    assert_int_equal(checksum, high << 16 | low);
    assert_int_equal(from.used, used * 8);
    return used;
}

static void fill(size_t from, size_t to, uint32_t seed, uint32_t kinds) {
    for (size_t i = from; i < to; i++) {
        seed = seed * 1664525u + 1013904223u;
        bytes[i] = (uint8_t)((seed >> 16) % kinds);
    }
}

/* Every size up to that of the longest match, of each kind of bytes. */
static void test_short_ones(void **state) {
    (void)state;
    for (uint32_t kinds = 1; kinds <= 256; kinds *= 4) {
        fill(0, 600, kinds, kinds);
        for (size_t size = 0; size <= 600; size++)
            check(size);
    }
}

static void test_bytes_at_random(void **state) {
    (void)state;
    fill(0, MOST, 1, 256);
    assert_in_range(check(MOST), MOST, MOST + MOST / 8);
}

static void test_one_byte_again_and_again(void **state) {
    (void)state;
    memset(bytes, 0xFF, MOST);
    assert_in_range(check(MOST), 1, MOST / 100);
}

/* A match of every length, at every distance at which the classes of distances begin or end. */
static void test_each_distance(void **state) {
    (void)state;
    for (size_t distance = 1; distance <= (1 << 15) + 2;
         distance = distance < 8 ? distance + 1 : distance * 2 - distance / 2)
        for (size_t more = 0; more < 3; more++) {
            size_t far = distance + more;
            fill(0, far, (uint32_t)far, 256);
            for (size_t i = 0; i < 300; i++)
                bytes[far + i] = bytes[i];
            check(far + 300);
        }
    for (size_t far = (1 << 15) - 2; far <= (1 << 15) + 2; far++) { /* the longest distance is 32 KiB */
        memset(bytes, 0, far);
        fill(0, 64, 7, 256);
        memcpy(bytes + far, bytes, 64);
        assert_int_equal(check(far + 64) < check(far) + 32, far <= 1 << 15);
    }
}

/* What a trace is like: some bytes of each packet differ. */
static void test_packets(void **state) {
    (void)state;
    for (size_t i = 0; i < MOST; i++)
        bytes[i] = (uint8_t)(i % 50 < 40 ? i % 50 * 5 : i * i / 7);
    assert_in_range(check(MOST), 1, MOST / 3);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_short_ones),
        cmocka_unit_test(test_bytes_at_random),
        cmocka_unit_test(test_one_byte_again_and_again),
        cmocka_unit_test(test_each_distance),
        cmocka_unit_test(test_packets),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
