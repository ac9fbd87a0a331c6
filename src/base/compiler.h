/* What compilers do differently: atomic operations, values of a thread, checked formats. */

#pragma once

#include "base/system.h"

#define ZT__COUNT_OF(array) ((uint32_t)(sizeof(array) / sizeof((array)[0])))

/* zt__load() acquires and zt__store() releases. zt__add() returns the sum. zt__change_if() changes a
   number if it is `from`, and returns whether it did: of several threads that try, one succeeds. */

#if defined(__GNUC__) || defined(__clang__)

#define ZT__THREAD_LOCAL __thread

#define zt__load(pointer) __atomic_load_n(pointer, __ATOMIC_ACQUIRE)

#define zt__store(pointer, value) __atomic_store_n(pointer, value, __ATOMIC_RELEASE)

#if defined(__MINGW32__) && !defined(__clang__)

#define ZT__CHECKED_FORMAT(text, first) __attribute__((format(gnu_printf, text, first)))

#else

#define ZT__CHECKED_FORMAT(text, first) __attribute__((format(printf, text, first)))

#endif

#else

#error "zetools.h needs gcc or clang where ZETOOLS_IMPLEMENTATION is"

#endif

ZT__PRIVATE uint32_t zt__add(uint32_t *number, uint32_t summand);

ZT__PRIVATE int zt__change_if(uint32_t *number, uint32_t from, uint32_t to);

ZT__PRIVATE int zt__change_pointer_if(void **pointer, void *from, void *to);
