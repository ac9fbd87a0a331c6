/* Profilers that report together: config.with. */

#include "regions/reporting.h"

#include "base/compiler.h"
#include "base/memory.h"
#include "base/platform.h"
#include "base/threads.h"
#include "metrics/driver.h"
#include "regions/profiler.h"

/* Returns what a profiler shares with those that report with it, made if it reports alone so far. NULL: no memory. */
static zt__reporting *zt__find_or_make_reporting(zt_profiler *profiler) {
    zt__reporting *made, *found = zt__load(&profiler->reporting);
    if (found) {
        return found;
    }
    made = (zt__reporting *)zt__allocate(&profiler->config.allocator, 1, sizeof *made);
    if (!made) {
        return NULL;
    }
    zt__create_mutex(&made->lock.mutex);
    made->allocator = profiler->config.allocator;
    made->owners = 1;
    made->first = made->last = profiler;
    zt__lock(&profiler->mutex);
    found = zt__load(&profiler->reporting);
    if (!found) {
        zt__store(&profiler->reporting, made);
    }
    zt__unlock(&profiler->mutex);
    if (found) { /* another thread was faster */
        zt__destroy_mutex(&made->lock.mutex);
        zt__free(&profiler->config.allocator, made);
    }
    return found ? found : made;
}

ZT__PRIVATE uint32_t zt__count_devices(const zt_profiler *profiler) {
    return profiler->joined ? profiler->joined->device_count : 1;
}

ZT__PRIVATE int zt__join_reporting(zt_profiler *opened, zt_profiler *with) {
    zt__reporting *reporting = zt__find_or_make_reporting(with);
    int is_locked;
    if (!reporting) {
        return 0;
    }
    is_locked = zt__lock_until(&reporting->lock, UINT64_MAX);
    if (zt__load(&reporting->first)) {
        if (reporting->first == reporting->last) { /* the first is on its own so far */
            zt__find_device_place(reporting->first->opened_device, &reporting->first->place,
                                  &reporting->first->tile);
        }
        zt__find_device_place(opened->opened_device, &opened->place, &opened->tile);
        reporting->owners++;
        zt__store(&opened->reporting, reporting);
        zt__store(&reporting->last->next_reporting, opened);
        reporting->last = opened;
    }
    if (is_locked) {
        zt__unlock_timed(&reporting->lock);
    }
    return 1;
}

ZT__PRIVATE int zt__reports_for_others(const zt_profiler *profiler) {
    zt__reporting *reporting = zt__load(&profiler->reporting);
    return reporting && zt__load(&reporting->first) == profiler;
}

ZT__PRIVATE int zt__is_reported_by_other(const zt_profiler *profiler) {
    zt__reporting *reporting = zt__load(&profiler->reporting);
    zt_profiler *first = reporting ? zt__load(&reporting->first) : NULL;
    return first && first != profiler;
}

ZT__PRIVATE int zt__report_on_one_device(const zt_profiler *one, const zt_profiler *other) {
    const zt__reporting *reporting = zt__load(&one->reporting);
    return reporting && reporting == zt__load(&other->reporting) &&
           one->opened_device == other->opened_device;
}

ZT__PRIVATE zt__held zt__hold_reporting(zt_profiler *profiler, uint64_t deadline) {
    zt__reporting *reporting = zt__load(&profiler->reporting);
    if (!reporting || zt__is_owner(&reporting->lock)) {
        return ZT__HELD_BEFORE;
    }
    return zt__lock_until(&reporting->lock, deadline) ? ZT__HELD : ZT__NOT_HELD;
}

ZT__PRIVATE void zt__release_reporting(zt_profiler *profiler, zt__held held) {
    if (held == ZT__HELD) {
        zt__unlock_timed(&zt__load(&profiler->reporting)->lock);
    }
}

ZT__PRIVATE zt_profiler *zt__leave_reporting(zt_profiler *closed, zt__held held) {
    zt__reporting *reporting = zt__load(&closed->reporting);
    zt_profiler *unneeded = NULL, *next, *profiler = NULL;
    int is_first, is_last_owner;
    zt_allocator allocator;
    if (!reporting) {
        return closed;
    }
    allocator = reporting->allocator;
    closed->is_closed = 1;
    is_first = zt__load(&reporting->first) == closed;
    is_last_owner = --reporting->owners == 0;
    if (is_first) {
        zt__store(&reporting->first, (zt_profiler *)NULL);
        profiler = closed;
    } else if (!zt__load(&reporting->first)) { /* it is on its own */
        closed->next_reporting = NULL;
        unneeded = closed;
    }
    for (; profiler; profiler = next) {
        next = profiler->next_reporting;
        profiler->next_reporting = NULL;
        if (profiler->is_closed) {
            profiler->next_reporting = unneeded;
            unneeded = profiler;
        }
    }
    if (held == ZT__HELD) {
        zt__unlock_timed(&reporting->lock);
    }
    if (is_last_owner) {
        zt__destroy_mutex(&reporting->lock.mutex);
        zt__free(&allocator, reporting);
    }
    return unneeded;
}
