/* Uses little of the library: what is static and not used must not be warned of, and what is used is inlined
   in another way than where all is. Two regions share a line. */
#include "zetools.h"

#include <stddef.h>

int main(void) {
    zt_profiler *profiler = NULL;
    int runs = 0;
    ZT_REGION(profiler, NULL, "outer") ZT_REGION(profiler, NULL, "inner") runs++;
    return runs != 1 || zt_collect(profiler, 0) != 0;
}
