/* What a kernel has, such as registers and shared memory, and what a device has for it. */

#include "modules/kernel_facts.h"

#include "base/compiler.h"

#ifdef ZETOOLS_TRACER

ZT__PRIVATE zt__kernel_facts zt__unknown_facts(void) {
    zt__kernel_facts facts;
    memset(&facts, 0xFF, sizeof facts);
    memset(facts.required_group_size, 0, sizeof facts.required_group_size);
    facts.module = 0;
    return facts;
}

#endif
