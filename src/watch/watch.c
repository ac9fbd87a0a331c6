/* What a watch is made of. */

#include "watch/watch.h"

#include "base/compiler.h"

#ifdef ZETOOLS_DEBUG

ZT__PRIVATE int zt__is_ending(zt__watch *watch) {
    return zt__load(&watch->thread.stop_requested);
}

/* The reason why there is no answer, if the watch is ending. */
ZT__PRIVATE const char *const zt__watch_stopped = "the watch was stopped meanwhile";

#endif
