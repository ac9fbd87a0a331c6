/* Packed statistics as a rank would write them, of times that the test chooses: by the page PACKED STATISTICS, and
   without a device. */
#ifndef TESTS_RANKS_H
#define TESTS_RANKS_H

#include "zetools.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RANK_LAYOUT = 13, RANK_HEADER = 24, RANK_BUCKETS = 25 };

/* A region or phase, of which the rank has one path or more. */
typedef struct rank_region {
    const char *name;
    int is_phase;
} rank_region;

/* `count` samples on a path, which all take the same time. */
typedef struct rank_path {
    uint32_t outer; /* a path before this one, or UINT32_MAX */
    uint32_t region;
    uint64_t count;
    uint32_t kept; /* of these */
    double total_ns;
    uint64_t lost, dropped;
    uint32_t device; /* of several, from 1 */
} rank_path;

/* What is not known is 0 or NULL. */
typedef struct rank_facts {
    const char *metric; /* measured on no sample; NULL: the rank has measured times alone */
    const char *group;
    const char *program;
    uint64_t opened_s, packed_s;
    int is_idle; /* zt_auto has seen no command list */
} rank_facts;

typedef struct rank_pack {
    rank_facts facts;
    unsigned char *bytes;
    size_t size, room;
} rank_pack;

static inline void rank_put(rank_pack *pack, uint64_t value, size_t size) {
    if (pack->size + size > pack->room) {
        pack->room = 2 * pack->room + 4096;
        pack->bytes = (unsigned char *)realloc(pack->bytes, pack->room);
        if (!pack->bytes)
            abort();
    }
    for (size_t i = 0; i < size; i++)
        pack->bytes[pack->size++] = (unsigned char)(value >> 8 * i);
}

static inline void rank_put_u32(rank_pack *pack, uint32_t value) {
    rank_put(pack, value, 4);
}

static inline void rank_put_u64(rank_pack *pack, uint64_t value) {
    rank_put(pack, value, 8);
}

static inline void rank_put_f64(rank_pack *pack, double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    rank_put_u64(pack, bits);
}

static inline void rank_put_f32(rank_pack *pack, float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    rank_put_u32(pack, bits);
}

static inline void rank_put_zeros(rank_pack *pack, size_t size) {
    for (size_t i = 0; i < size; i++)
        rank_put(pack, 0, 1);
}

static inline void rank_put_text(rank_pack *pack, const char *text) {
    size_t length = strlen(text);
    rank_put_u32(pack, (uint32_t)length);
    for (size_t i = 0; i < length; i++)
        rank_put(pack, (unsigned char)text[i], 1);
}

/* What a rank says about itself. */
static inline void rank_put_facts(rank_pack *pack, uint32_t region_count, const rank_path *paths,
                                  uint32_t path_count) {
    const rank_facts *facts = &pack->facts;
    uint64_t lost = 0, dropped = 0;
    for (uint32_t i = 0; i < path_count; i++) {
        lost += paths[i].lost;
        dropped += paths[i].dropped;
    }
    rank_put_u32(pack, facts->metric != NULL);
    rank_put_u32(pack, region_count);
    rank_put_u32(pack, 1); /* passes */
    rank_put_u32(pack, 0); /* tiles, apart from the whole */
    rank_put_u32(pack, 0); /* config.samples */
    rank_put_u32(pack, 0); /* latencies are not kept */
    rank_put_u32(pack, facts->is_idle  ? ZT_AVAILABILITY_UNKNOWN
                       : facts->metric ? ZT_AVAILABLE
                                       : ZT_TIMES_BY_CHOICE);
    for (int i = 0; i < 5; i++)
        rank_put_text(pack, ""); /* why, device, driver version, UUID, PCI address */
    rank_put_text(pack, facts->program ? facts->program : "");
    rank_put_zeros(pack, 4 + 8); /* clocks */
    rank_put_u64(pack, facts->opened_s);
    rank_put_u64(pack, facts->packed_s);
    rank_put_u32(pack, ZT_CAUSE_COUNT);
    for (int cause = 0; cause < ZT_CAUSE_COUNT; cause++)
        rank_put_u64(pack, cause == ZT_LOST_OVERWRITTEN ? lost : cause == ZT_DROPPED_NO_PROBE ? dropped : 0);
    rank_put_u64(pack, 0);                           /* unobserved lists */
    rank_put_zeros(pack, 4 + 8 * 8 + 2 * 4 + 5 * 8); /* memory */
    if (facts->metric) {
        rank_put_text(pack, facts->metric);
        rank_put_text(pack, facts->group ? facts->group : "");
        for (int i = 0; i < 3; i++)
            rank_put_text(pack, ""); /* component, units, description */
        rank_put_zeros(pack, 3 * 4); /* type, aggregation, pass */
    }
}

static inline void rank_put_path(rank_pack *pack, const rank_region *regions, const rank_path *path) {
    double mean = path->count ? path->total_ns / (double)path->count : 0;
    rank_put_u32(pack, path->outer);
    rank_put_u32(pack, path->region);
    rank_put_u32(pack, path->device);
    rank_put_u64(pack, path->lost);
    rank_put_u64(pack, path->dropped);
    rank_put_zeros(pack, 8 + 2 * 4 + 4 * 8); /* missing and so on, bytes */
    if (regions[path->region].is_phase)
        rank_put_zeros(pack, 4 * 8 + 16 * 8 + 2 * 4 + 5 * 8); /* entries, power, memory */
    rank_put_u64(pack, path->count);
    if (path->count) {
        rank_put_u64(pack, path->count);
        rank_put_f64(pack, (double)path->count);
        rank_put_f64(pack, path->total_ns);
        rank_put_f64(pack, mean);
        rank_put_f64(pack, 0);
        rank_put_f64(pack, mean);
        rank_put_f64(pack, mean);
        rank_put_zeros(pack, (pack->facts.metric ? 2 : 0) * 7 * 8); /* the metric, and the time of its pass */
        rank_put_zeros(pack, 2 * 7 * 8);                            /* latencies */
        rank_put_u64(pack, path->count);                            /* all in one bucket */
        rank_put_zeros(pack, (RANK_BUCKETS - 1) * 8);
    }
    rank_put_u32(pack, path->kept);
    for (uint32_t i = 0; i < path->kept; i++)
        rank_put_f32(pack, (float)mean);
    if (regions[path->region].is_phase)
        rank_put_zeros(pack, 8 + 4); /* entries */
}

static inline uint64_t rank_add_word(uint64_t sum, uint64_t word) {
    sum = (sum ^ word) * UINT64_C(0x100000001b3);
    return sum ^ sum >> 32;
}

/* Writes size and checksum into the header. */
static inline void rank_seal(rank_pack *pack) {
    const uint64_t begin = UINT64_C(0xcbf29ce484222325);
    uint64_t sums[4] = {begin, begin, begin, begin}, hash;
    size_t size = pack->size, fours = (size - RANK_HEADER + 31) / 32;
    for (size_t w = 0; w < 4 * fours; w++) {
        uint64_t word = 0;
        for (size_t k = 0; k < 8 && RANK_HEADER + 8 * w + k < size; k++)
            word |= (uint64_t)pack->bytes[RANK_HEADER + 8 * w + k] << 8 * k;
        sums[w % 4] = rank_add_word(sums[w % 4], word);
    }
    hash = rank_add_word(rank_add_word(rank_add_word(sums[0], sums[1]), sums[2]), sums[3]);
    memcpy(pack->bytes, "ZTPK", 4);
    pack->size = 4;
    rank_put_u32(pack, RANK_LAYOUT);
    rank_put_u64(pack, size);
    rank_put_u64(pack, hash);
    pack->size = size;
}

/* The caller frees the bytes. */
static inline rank_pack pack_rank(const rank_facts *facts, const rank_region *regions, uint32_t region_count,
                                  const rank_path *paths, uint32_t path_count) {
    rank_pack pack = {{NULL, NULL, NULL, 0, 0, 0}, NULL, 0, 0};
    if (facts)
        pack.facts = *facts;
    rank_put_zeros(&pack, RANK_HEADER);
    rank_put_facts(&pack, region_count, paths, path_count);
    for (uint32_t i = 0; i < region_count; i++) {
        rank_put_text(&pack, regions[i].name);
        rank_put_u32(&pack, (uint32_t)regions[i].is_phase);
        rank_put_zeros(&pack, 2 * 8); /* lost, dropped */
    }
    rank_put_u32(&pack, path_count);
    for (uint32_t i = 0; i < path_count; i++)
        rank_put_path(&pack, regions, &paths[i]);
    rank_seal(&pack);
    return pack;
}

/* Returns whether the file could be written. */
static inline int write_pack(const rank_pack *pack, const char *path) {
    FILE *file = fopen(path, "wb");
    int is_written = file && fwrite(pack->bytes, 1, pack->size, file) == pack->size;
    return (file ? fclose(file) == 0 : 0) && is_written;
}

#endif
