/* What compilers do differently: atomic operations, values of a thread, checked formats. */

#pragma once

#include "base/system.h"

#define ZT__COUNT_OF(array) ((uint32_t)(sizeof(array) / sizeof((array)[0])))

/* zt__load() acquires and zt__store() releases. zt__add() returns the sum. zt__increment_if() increments a
   number if it is `expected`, and returns whether it did: of several threads that try, one succeeds. */

#if defined(__GNUC__) || defined(__clang__)

#define ZT__THREAD_LOCAL __thread

#define zt__load(pointer) __atomic_load_n(pointer, __ATOMIC_ACQUIRE)

#define zt__store(pointer, value) __atomic_store_n(pointer, value, __ATOMIC_RELEASE)

#if defined(__MINGW32__) && !defined(__clang__)

#define ZT__CHECKED_FORMAT(text, first) __attribute__((format(gnu_printf, text, first)))

#else

#define ZT__CHECKED_FORMAT(text, first) __attribute__((format(printf, text, first)))

#endif

#elif defined(_MSC_VER) && _MSC_VER >= 1939 && defined(_M_X64)

/* On x64, cl reads volatile numbers with acquire, and writes them with release. */

#ifdef __cplusplus

#define ZT__VOLATILE(pointer) ((volatile std::remove_reference<decltype(*(pointer))>::type *)(pointer))

#else

#define ZT__VOLATILE(pointer) ((volatile __typeof__(*(pointer)) *)(pointer))
#endif

#define ZT__THREAD_LOCAL __declspec(thread)

#define zt__load(pointer) (*ZT__VOLATILE(pointer))

#define zt__store(pointer, value) ((void)(*ZT__VOLATILE(pointer) = (value)))

#define ZT__CHECKED_FORMAT(text, first)
#endif

ZT__PRIVATE uint32_t zt__add(uint32_t *number, uint32_t summand);

ZT__PRIVATE int zt__increment_if(uint32_t *number, uint32_t expected);
