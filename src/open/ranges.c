/* Ranges that a program announces to other tools, as phases: a stack a thread. */

#include "open/ranges.h"

#include "base/compiler.h"
#include "base/diagnostics.h"
#include "base/phase_stack.h"
#include "base/platform.h"
#include "base/shared.h"
#include "regions/names.h"

#if defined(ZETOOLS_CONNECTORS) && !defined(_WIN32)

enum { ZT__ENDED_ELSEWHERE = 64 };

/* A range that was begun and not ended, or that contains such a one. */
typedef struct zt__open_range {
    zt__range_key key;
    uint32_t ends_before; /* ends on other threads that were noted before its begin */
    int is_phase, has_ended;
} zt__open_range;

/* The ranges of a thread. What is deeper than the phases can be is only counted. */
typedef struct zt__open_ranges {
    zt__open_range ranges[ZT__MAX_PHASE_DEPTH];
    uint32_t count, deeper;
    uint32_t ends_seen; /* of zt__elsewhere.count */
} zt__open_ranges;

static ZT__THREAD_LOCAL zt__open_ranges zt__ranges;

/* Ends of ranges that the ending thread has not begun. The thread that has finds them here. */
static struct {
    zt__mutex mutex;
    zt__range_key keys[ZT__ENDED_ELSEWHERE]; /* the latest, by count % ZT__ENDED_ELSEWHERE */
    uint32_t count;                          /* Atomic */
} zt__elsewhere = {ZT__MUTEX_INITIALIZER, {{ZT__RANGE_TASK, 0, {0, 0, 0}}}, 0};

/* Ranges that are no phases, or whose phase may have ended late. */
static struct {
    zt__mutex mutex;
    uint64_t count;
    char first[160];
} zt__unnested = {ZT__MUTEX_INITIALIZER, 0, ""};

/* ---- the stack ---------------------------------------------------------------------------------------------- */

static int zt__is_range(const zt__open_range *range, const zt__range_key *key) {
    return !range->has_ended && range->key.kind == key->kind && range->key.domain == key->domain &&
           memcmp(range->key.id, key->id, sizeof key->id) == 0;
}

/* Marks the innermost range with this key as ended. Returns 0 if this thread has none. */
static int zt__mark_ended(zt__open_ranges *open, const zt__range_key *key, uint32_t end_number) {
    uint32_t i;
    for (i = open->count; i > 0; i--) {
        zt__open_range *range = &open->ranges[i - 1];
        if (zt__is_range(range, key) && (int32_t)(end_number - range->ends_before) >= 0) {
            range->has_ended = 1;
            return 1;
        }
    }
    return 0;
}

/* Marks the ranges of this thread that other threads have ended. */
static void zt__mark_ended_elsewhere(zt__open_ranges *open) {
    uint32_t i, count = zt__load(&zt__elsewhere.count);
    if (open->ends_seen == count) {
        return;
    }
    zt__lock(&zt__elsewhere.mutex);
    count = zt__load(&zt__elsewhere.count);
    i = count - open->ends_seen < ZT__ENDED_ELSEWHERE ? open->ends_seen : count - ZT__ENDED_ELSEWHERE;
    for (; i != count; i++) {
        zt__range_key *key = &zt__elsewhere.keys[i % ZT__ENDED_ELSEWHERE];
        if (key->kind != ZT__RANGE_TASK && zt__mark_ended(open, key, i)) {
            key->kind = ZT__RANGE_TASK; /* no other thread looks for it */
        }
    }
    open->ends_seen = count;
    zt__unlock(&zt__elsewhere.mutex);
}

static void zt__end_marked(zt__open_ranges *open) {
    while (open->count > 0 && open->ranges[open->count - 1].has_ended) {
        if (open->ranges[--open->count].is_phase) {
            zt_phase_end();
        }
    }
}

ZT__PRIVATE void zt__begin_range(const zt__range_key *key, const char *name) {
    zt__open_ranges *open = &zt__ranges;
    zt__open_range *range;
    zt__mark_ended_elsewhere(open);
    zt__end_marked(open);
    if (open->count == ZT__MAX_PHASE_DEPTH) {
        open->deeper++;
        return;
    }
    range = &open->ranges[open->count++];
    range->key = *key;
    range->ends_before = open->ends_seen;
    range->has_ended = 0;
    range->is_phase = !zt__is_paused(ZT__PAUSED_PHASES);
    if (range->is_phase) {
        zt_phase_begin(name);
    }
}

ZT__PRIVATE int zt__end_range(const zt__range_key *key) {
    zt__open_ranges *open = &zt__ranges;
    int is_found;
    if (open->deeper > 0) {
        open->deeper--;
        return 1;
    }
    zt__mark_ended_elsewhere(open);
    is_found = zt__mark_ended(open, key, open->ends_seen);
    if (!is_found && key->kind != ZT__RANGE_TASK) {
        zt__lock(&zt__elsewhere.mutex);
        zt__elsewhere.keys[zt__elsewhere.count % ZT__ENDED_ELSEWHERE] = *key;
        zt__store(&zt__elsewhere.count, zt__elsewhere.count + 1);
        zt__unlock(&zt__elsewhere.mutex);
    }
    zt__end_marked(open);
    return is_found;
}

/* ---- what is not measured ----------------------------------------------------------------------------------- */

ZT__PRIVATE void zt__note_range(const char *name, const char *domain) {
    zt__lock(&zt__unnested.mutex);
    if (zt__unnested.count++ == 0) {
        snprintf(zt__unnested.first, sizeof zt__unnested.first, "'%.64s' of '%.64s'", zt__shown_name(name),
                 zt__shown_name(domain));
    }
    zt__unlock(&zt__unnested.mutex);
}

static void zt__print_noted_ranges(void) {
    zt__lock(&zt__unnested.mutex);
    if (zt__unnested.count > 0) {
        zt__print_message(
            "%llu of the ranges that the program announces are no phases, or ended late, because they may "
            "overlap, or end on a thread that has not begun them. The first: %s.",
            (unsigned long long)zt__unnested.count, zt__unnested.first);
    }
    zt__unlock(&zt__unnested.mutex);
}

/* In a forked child: a thread of the parent may have held the mutexes. */
static void zt__forget_ranges(void) {
    uint32_t i;
    for (i = 0; i < zt__ranges.count; i++) {
        zt__ranges.ranges[i].is_phase = 0; /* the child is in no phase of its parent */
    }
    zt__create_mutex(&zt__elsewhere.mutex);
    zt__create_mutex(&zt__unnested.mutex);
    zt__unnested.count = 0;
}

ZT__PRIVATE void zt__start_ranges(void) {
    static uint32_t has_started; /* atomic */
    if (zt__change_if(&has_started, 0, 1)) {
        zt__keep_loaded();
        zt__call_after_fork(zt__forget_ranges);
        atexit(zt__print_noted_ranges);
    }
}

ZT__PRIVATE void zt__pause(uint32_t what, int is_paused) {
    zt__process *process = zt__get_process();
    uint32_t before = process ? zt__load(&process->paused) : 0;
    while (process && !zt__change_if(&process->paused, before, is_paused ? before | what : before & ~what)) {
        before = zt__load(&process->paused);
    }
}

#endif
