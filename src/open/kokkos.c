/* A tool of Kokkos: regions, parallel loops, deep copies and fences are phases.

   Kokkos opens the library that KOKKOS_TOOLS_LIBS names, and calls those of these functions that it finds. */

#include "base/compiler.h"
#include "base/system.h"
#include "open/ranges.h"

#if defined(ZETOOLS_CONNECTORS) && !defined(_WIN32)

/* The name of a memory space, by value. Its last byte may be anything. */
typedef struct zt__kokkos_space {
    char name[64];
} zt__kokkos_space;

/* What a tool demands of Kokkos, as values of bool. The first is a fence before each callback, which is on unless the tool clears it. */
typedef struct zt__kokkos_settings {
    uint8_t values[256];
} zt__kokkos_settings;

ZT__EXPORTED void kokkosp_init_library(int number, uint64_t version, uint32_t device_count, void *devices);
ZT__EXPORTED void kokkosp_request_tool_settings(uint32_t count, zt__kokkos_settings *settings);
ZT__EXPORTED void kokkosp_push_profile_region(const char *name);
ZT__EXPORTED void kokkosp_pop_profile_region(void);
ZT__EXPORTED void kokkosp_begin_parallel_for(const char *name, uint32_t device, uint64_t *id);
ZT__EXPORTED void kokkosp_end_parallel_for(uint64_t id);
ZT__EXPORTED void kokkosp_begin_parallel_reduce(const char *name, uint32_t device, uint64_t *id);
ZT__EXPORTED void kokkosp_end_parallel_reduce(uint64_t id);
ZT__EXPORTED void kokkosp_begin_parallel_scan(const char *name, uint32_t device, uint64_t *id);
ZT__EXPORTED void kokkosp_end_parallel_scan(uint64_t id);
ZT__EXPORTED void kokkosp_begin_fence(const char *name, uint32_t device, uint64_t *id);
ZT__EXPORTED void kokkosp_end_fence(uint64_t id);
ZT__EXPORTED void kokkosp_begin_deep_copy(zt__kokkos_space to_space, const char *to, const void *to_address,
                                          zt__kokkos_space from_space, const char *from,
                                          const void *from_address, uint64_t size);
ZT__EXPORTED void kokkosp_end_deep_copy(void);

enum { ZT__KOKKOS_REGION, ZT__KOKKOS_COPY, ZT__KOKKOS_NUMBERED };

static zt__range_key zt__kokkos_key(uint64_t kind, uint64_t id) {
    zt__range_key key;
    memset(&key, 0, sizeof key);
    key.kind = ZT__RANGE_KOKKOS;
    key.id[0] = kind;
    key.id[1] = id;
    return key;
}

static void zt__begin_kokkos(uint64_t kind, uint64_t id, const char *name) {
    zt__range_key key = zt__kokkos_key(kind, id);
    zt__begin_range(&key, name);
}

static void zt__end_kokkos(uint64_t kind, uint64_t id) {
    zt__range_key key = zt__kokkos_key(kind, id);
    zt__end_range(&key);
}

static void zt__begin_numbered(const char *name, uint64_t *id) {
    static uint32_t last; /* atomic */
    *id = zt__add(&last, 1);
    zt__begin_kokkos(ZT__KOKKOS_NUMBERED, *id, name);
}

void kokkosp_init_library(int number, uint64_t version, uint32_t device_count, void *devices) {
    (void)number, (void)version, (void)device_count, (void)devices;
    zt__start_ranges();
}

void kokkosp_request_tool_settings(uint32_t count, zt__kokkos_settings *settings) {
    if (count > 0) {
        settings->values[0] = 0;
    }
}

void kokkosp_push_profile_region(const char *name) {
    zt__begin_kokkos(ZT__KOKKOS_REGION, 0, name);
}

void kokkosp_pop_profile_region(void) {
    zt__end_kokkos(ZT__KOKKOS_REGION, 0);
}

void kokkosp_begin_parallel_for(const char *name, uint32_t device, uint64_t *id) {
    (void)device;
    zt__begin_numbered(name, id);
}

void kokkosp_end_parallel_for(uint64_t id) {
    zt__end_kokkos(ZT__KOKKOS_NUMBERED, id);
}

void kokkosp_begin_parallel_reduce(const char *name, uint32_t device, uint64_t *id) {
    (void)device;
    zt__begin_numbered(name, id);
}

void kokkosp_end_parallel_reduce(uint64_t id) {
    zt__end_kokkos(ZT__KOKKOS_NUMBERED, id);
}

void kokkosp_begin_parallel_scan(const char *name, uint32_t device, uint64_t *id) {
    (void)device;
    zt__begin_numbered(name, id);
}

void kokkosp_end_parallel_scan(uint64_t id) {
    zt__end_kokkos(ZT__KOKKOS_NUMBERED, id);
}

void kokkosp_begin_fence(const char *name, uint32_t device, uint64_t *id) {
    (void)device;
    zt__begin_numbered(name, id);
}

void kokkosp_end_fence(uint64_t id) {
    zt__end_kokkos(ZT__KOKKOS_NUMBERED, id);
}

void kokkosp_begin_deep_copy(zt__kokkos_space to_space, const char *to, const void *to_address,
                             zt__kokkos_space from_space, const char *from, const void *from_address,
                             uint64_t size) {
    char name[256];
    (void)to_address, (void)from_address, (void)size;
    snprintf(name, sizeof name, "copy %.48s %.63s to %.48s %.63s", from_space.name, from ? from : "",
             to_space.name, to ? to : "");
    zt__begin_kokkos(ZT__KOKKOS_COPY, 0, name);
}

void kokkosp_end_deep_copy(void) {
    zt__end_kokkos(ZT__KOKKOS_COPY, 0);
}

#endif
