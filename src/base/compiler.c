/* What compilers do differently: atomic operations, values of a thread, checked formats. */

#include "base/compiler.h"

#if defined(__GNUC__) || defined(__clang__)

ZT__PRIVATE uint32_t zt__add(uint32_t *number, uint32_t summand) {
    return __atomic_add_fetch(number, summand, __ATOMIC_ACQ_REL);
}

ZT__PRIVATE int zt__increment_if(uint32_t *number, uint32_t expected) {
    return __atomic_compare_exchange_n(number, &expected, expected + 1, 0, __ATOMIC_ACQ_REL,
                                       __ATOMIC_ACQUIRE);
}

#elif defined(_MSC_VER) && _MSC_VER >= 1939 && defined(_M_X64)

ZT__PRIVATE uint32_t zt__add(uint32_t *number, uint32_t summand) {
    return (uint32_t)_InterlockedExchangeAdd((volatile long *)number, (long)summand) + summand;
}

ZT__PRIVATE int zt__increment_if(uint32_t *number, uint32_t expected) {
    return (uint32_t)_InterlockedCompareExchange((volatile long *)number, (long)(expected + 1),
                                                 (long)expected) == expected;
}

#else

#error "zetools.h needs gcc, clang, or Visual Studio 2022 17.9 for x64 where ZETOOLS_IMPLEMENTATION is"

#endif
