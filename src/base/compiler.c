/* What compilers do differently: atomic operations, values of a thread, checked formats. */

#include "base/compiler.h"

ZT__PRIVATE uint32_t zt__add(uint32_t *number, uint32_t summand) {
    return __atomic_add_fetch(number, summand, __ATOMIC_ACQ_REL);
}

ZT__PRIVATE int zt__change_if(uint32_t *number, uint32_t from, uint32_t to) {
    return __atomic_compare_exchange_n(number, &from, to, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
}

ZT__PRIVATE int zt__change_pointer_if(void **pointer, void *from, void *to) {
    return __atomic_compare_exchange_n(pointer, &from, to, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
}
