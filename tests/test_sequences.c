/* A figure is never wrong silently: random sequences of the library's calls, and of plain calls of Level Zero
   that the library does not see, held against a model that knows what ran.

   How a wrong figure shows. Each piece of work writes a number of units of its own, on a channel. There are
   four channels, which one sample tells apart: fills and copies, each in units of one byte and of LARGE
   bytes. One list at a time has work on a channel. So whatever else the device does meanwhile, the units of
   its own channel in a sample are exactly those of the pieces between begin and end of its region.

   What the model requires, and why it may:
   - A sample has the name and the units of a region that was submitted more often than samples came of it.
   - An execution on an immediate list or by zt_execute is counted exactly once, collected or lost.
   - An execution by plain calls is counted at most once. It is counted for certain where nothing of the
   list's earlier executions was left to be read, for then its event stays signalled until somebody reads it.
   - A region is dropped only where it was not ended, or where a cause is possible: few probes, a failed call.
   - Lost and dropped have causes that can have happened in this sequence.
   - A region is in flight only where nobody ended it, or where its list did not run and nobody was told that
     it never will.
   - A region has the parent in which it was begun. Its own time is that of its samples less that of the
   samples directly inside it, or not known; and it is known unless one of these was not collected, they
   overlap, or their list was executed again by plain calls.
   - A sample is in a phase in which its region was submitted: of the thread that appended it to an immediate list, or
   executed its list. A phase has the GPU time of the samples inside, and so have its entries together if nothing is
   missing in them.
   - begun = collected + lost + dropped + in_flight, at any time and on any thread.
   - The application's memory is right, and the device's ledger has no leak and no finding but those that the
     application's plain executions make themselves.

   In one sequence of three, tracers see what the library is not told. In any of one thread, the driver may
   refuse to destroy a list, which is then used as before.

   In one sequence of sixteen the device is busy for longer than the profiler waits when that is opened.

   ZT_SEQUENCES=n   so many sequences, over all tests
   ZT_SEED=n        this one alone: a failing sequence prints it, with the steps that each thread took. With
                    ZT_SEQUENCES: the first of these */
#include "meet.h"

#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ==== the model ========================================================================================== */

enum {
    CHANNELS = 4,
    WORKERS = 4,
    LISTS = 5,   /* of a worker at a time */
    PIECES = 32, /* of work in a recording */
    OPEN = 4,    /* regions of a list at a time */
    RECORDS = 512,
    MOST_UNITS = 60, /* of a piece */
    LARGE = 4096,    /* bytes of a large unit: more than all small ones of a sequence */
    SOURCES = 4,     /* of copies, each of one value */
    PROFILERS_USED = 2,
    OF_TRACERS = 1 << 14, /* bytes that they may keep for later calls of all threads */
    HANG = 60,            /* seconds for one sequence */
    LOOKS = 10000,        /* a millisecond apart, at what a thread of the library's own may still count */
    MOST_FAILURES = 10,   /* shown of a test */
    PHASES = 7            /* none; "A", "B"; "A;A", "A;B", "B;A", "B;B" */
};

/* config.wait_timeout_ns: regions of a recording that was reset, of which nobody told, can be waited for in
   vain. */
#define LONG_TIMEOUT_NS UINT64_C(20000000000)
#define SHORT_TIMEOUT_NS UINT64_C(10000000)

typedef enum kind { ONE_THREAD, SEVERAL_THREADS, FEW_PROBES, OWN_THREAD, BUSY_SAMPLE, KINDS } kind;

/* One region that was begun. */
typedef struct record {
    char name[24];
    ze_command_list_handle_t list;
    int profiler;
    int channel;
    int is_immediate;
    int is_ended;
    int may_drop;
    int is_over;      /* the library was told that it never runs again */
    int is_done;      /* on an immediate list, and the device has reached its end */
    uint32_t units;   /* of its channel, an execution */
    uint32_t must;    /* executions that have to be counted */
    uint32_t may;     /* and that can be */
    uint32_t surplus; /* losses that may be counted beyond: see expect_execution */
    uint32_t samples;
    uint32_t phases; /* bits of those in which it may have been submitted */
    double time_ns;  /* of these samples */

    /* nesting */
    struct record *outer; /* the region around it when it was begun */
    int is_known;         /* to the library: it was not dropped at once */
    int is_open;          /* to the library, also if nobody will ever end it */
    int has_unknown;      /* regions directly inside it were dropped at once, or have outlived it */
    uint32_t unseen;      /* executions that were not by zt_execute of its profiler */
} record;

typedef struct piece {
    uint32_t units;
    uint8_t value;
} piece;

typedef struct open_region {
    zt_region region;
    record *record;
} open_region;

typedef struct list {
    ze_command_list_handle_t handle;
    int is_immediate;
    int is_closed;
    int is_running;              /* it was executed, and nobody waited for its end */
    int follows_untold;          /* regions of a recorded one with its handle are not over */
    int last_executor;           /* a profiler, by zt_execute; -1: a plain call */
    int is_read[PROFILERS_USED]; /* nothing of earlier executions is left to be read */
    int channel;
    uint32_t piece_count, record_count, open_count;
    piece pieces[PIECES];
    record *records[PIECES];
    open_region open[OPEN];
} list;

/* A part of the device that is used by one list at a time. */
typedef struct channel {
    struct worker *owner;
    list *user;                     /* whose work is on it; for a queue, its last list */
    int on_queue;                   /* that work is on the worker's queue */
    int is_held;                    /* by its gate */
    uint32_t units;                 /* submitted so far: no more than LARGE - 1 */
    uint8_t shadow[MOST_UNITS + 1]; /* what its memory has to hold, a value for each unit */
} channel;

struct sequence;

typedef struct worker {
    struct sequence *sequence;
    pthread_t thread;
    int index;
    uint64_t random;
    int queue_channel;
    int immediate_channels[CHANNELS];
    int immediate_channel_count;
    list lists[LISTS];
    ze_command_list_handle_t destroyed; /* the last */
    uint32_t phase_depth;
    int phases[2]; /* that it is in: 0 is "A" */
    int steps;
    char log[16384];
    size_t log_used;
} worker;

/* Given to the sample function. */
typedef struct measured {
    struct sequence *sequence;
    int index;
    zt_profiler *profiler;
    uint32_t fill, copy;     /* metrics */
    uint32_t probes;         /* that it can use */
    double phase_ns[PHASES]; /* of the samples in each, but for those inside of other regions */
    uint32_t phase_samples[PHASES];
} measured;

typedef struct sequence {
    world *world;
    kind kind;
    uint64_t seed;
    uint64_t random;
    int worker_count;
    int has_bystander;
    int profiler_count;
    int injects;
    int is_roomy;         /* probes are never scarce */
    int closes_early;     /* with work in flight */
    int forgets;          /* to tell of resets and destructions */
    int is_traced;        /* the tracers of the profilers see executions, resets and destructions */
    int opens_late;       /* the device is busy when the profilers are opened */
    int plain_executions; /* of lists with regions */
    int unended_recorded;
    int is_forgetful; /* a region is open for ever: others may be inside of it, in whatever phase */
    int never_delivered;
    int may_leak;
    uint32_t max_probes;
    uint32_t struck; /* bits of causes that the device's behaviour can have */
    worker workers[WORKERS];
    channel channels[CHANNELS];
    measured measured[PROFILERS_USED];

    pthread_mutex_t lock; /* of what follows */
    record records[RECORDS];
    uint32_t record_count;
    ze_command_list_handle_t handed_over[LISTS * WORKERS];
    uint32_t handed_count;
    int workers_done;
    list in_sample; /* the immediate list of regions begun inside the sample function */
    uint32_t left_in_sample;
    char failure[1024];
} sequence;

/* What all sequences of a test use. */
typedef struct stage {
    ze_command_queue_handle_t queues[WORKERS];
    ze_event_pool_handle_t events;
    ze_event_handle_t gates[CHANNELS];
    ze_command_list_handle_t gate_lists[CHANNELS]; /* each waits for its gate, and no more */
    ze_event_handle_t done[CHANNELS];
    uint8_t *memory[CHANNELS];
    uint8_t *sources[SOURCES];
    int64_t heap; /* bytes that the library holds at first */
} stage;

static sequence now_running;
static stage on;

static const uint32_t unit_bytes[CHANNELS] = {1, 1, LARGE, LARGE};
static const int channel_copies[CHANNELS] = {0, 1, 0, 1};

/* ==== chance, complaints, the log ======================================================================== */

static uint64_t next_random(uint64_t *state) {
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

static uint32_t below(uint64_t *state, uint32_t limit) {
    return (uint32_t)(next_random(state) >> 32) % limit;
}

static int chance(uint64_t *state, uint32_t percent) {
    return below(state, 100) < percent;
}

/* The first complaint is kept: what follows may follow from it. */
static void complain(sequence *s, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void complain(sequence *s, const char *format, ...) {
    static pthread_mutex_t one = PTHREAD_MUTEX_INITIALIZER;
    va_list values;
    va_start(values, format);
    pthread_mutex_lock(&one);
    if (!s->failure[0])
        vsnprintf(s->failure, sizeof s->failure, format, values);
    pthread_mutex_unlock(&one);
    va_end(values);
}

static void note(worker *w, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void note(worker *w, const char *format, ...) {
    va_list values;
    va_start(values, format);
    size_t room = sizeof w->log - w->log_used;
    int wrote = vsnprintf(w->log + w->log_used, room, format, values);
    if (wrote > 0)
        w->log_used += (size_t)wrote < room ? (size_t)wrote : room - 1;
    va_end(values);
}

/* A call of the application's own. An injected fault may hit it, once. */
#define app(s, call)                                                                                         \
    do {                                                                                                     \
        ze_result_t result_ = (call);                                                                        \
        if (result_ != ZE_RESULT_SUCCESS && (s)->injects)                                                    \
            result_ = (call);                                                                                \
        if (result_ != ZE_RESULT_SUCCESS)                                                                    \
            complain(s, "%s: %s", #call, zt_result_name(result_));                                           \
    } while (0)

static void end_at_once(int signal) {
    char text[128];
    int size =
        snprintf(text, sizeof text, "\na sequence %s: ZT_SEED=%llu\n",
                 signal == SIGALRM ? "hangs" : "ends the process", (unsigned long long)now_running.seed);
    if (write(2, text, (size_t)size) == size)
        for (int i = 0; i < now_running.worker_count; i++) {
            const worker *w = &now_running.workers[i];
            if (write(2, w->log, w->log_used) < 0 || write(2, "\n", 1) < 0)
                break;
        }
    _exit(1);
}

/* ==== what ran =========================================================================================== */

static uint32_t units_of(int channel_index, double fills, double copies) {
    uint64_t bytes = (uint64_t)(channel_copies[channel_index] ? copies : fills);
    return (uint32_t)(unit_bytes[channel_index] == 1 ? bytes % LARGE : bytes / LARGE);
}

/* The region of this profiler that is open on the list and was begun last, but before this one; NULL: before
   now. The lock is held. */
static record *innermost(sequence *s, ze_command_list_handle_t handle, int profiler, const record *before) {
    for (uint32_t i = before ? (uint32_t)(before - s->records) : s->record_count; i-- > 0;) {
        record *r = &s->records[i];
        if (r->list == handle && r->profiler == profiler && r->is_open)
            return r;
    }
    return NULL;
}

/* zt_begin has returned. */
static void note_begun(sequence *s, record *r, int is_known) {
    pthread_mutex_lock(&s->lock);
    r->outer = innermost(s, r->list, r->profiler, r);
    r->is_known = r->is_open = is_known;
    if (r->outer && !is_known)
        r->outer->has_unknown = 1;
    pthread_mutex_unlock(&s->lock);
}

/* zt_end is about to be called. The lock is held. */
static void note_ended(sequence *s, record *r) {
    if (r->is_open && innermost(s, r->list, r->profiler, NULL) != r) {
        record *outer = innermost(s, r->list, r->profiler, r);
        r->has_unknown = 1;
        if (outer)
            outer->has_unknown = 1;
    }
    r->is_open = 0;
}

/* The lock is held. */
static record *add_record(sequence *s, const list *on_list, int profiler, const char *name) {
    record *added = &s->records[s->record_count++];
    memset(added, 0, sizeof *added);
    snprintf(added->name, sizeof added->name, "%s", name);
    added->list = on_list->handle;
    added->profiler = profiler;
    added->channel = on_list->channel;
    added->is_immediate = on_list->is_immediate;
    return added;
}

/* Regions that can hold a probe, whatever the library found out about them. The lock is held. */
static uint32_t most_probes_held(const sequence *s, int profiler) {
    uint32_t held = 0;
    for (uint32_t i = 0; i < s->record_count; i++) {
        const record *r = &s->records[i];
        int is_seen = r->is_done && r->must && can_tell_immediate(); /* whoever needs a probe collects it */
        /* What counts as executed and never ran is waited for, and then lost. */
        held += r->profiler == profiler && (r->surplus || (!r->is_over && !is_seen));
    }
    return held;
}

static void mark_over(sequence *s, int profiler, ze_command_list_handle_t handle) {
    pthread_mutex_lock(&s->lock);
    for (uint32_t i = 0; i < s->record_count; i++)
        if (s->records[i].list == handle && s->records[i].profiler == profiler) {
            s->records[i].is_over = 1;
            s->records[i].is_open = 0;
        }
    pthread_mutex_unlock(&s->lock);
}

/* A list is reset or destroyed, which tracers see. */
static void tell_tracers(sequence *s, ze_command_list_handle_t handle) {
    for (int i = 0; i < s->profiler_count && s->is_traced; i++)
        mark_over(s, i, handle);
}

static int is_current(const list *l, const record *r) {
    for (uint32_t i = 0; i < l->record_count; i++)
        if (l->records[i] == r)
            return 1;
    return 0;
}

/* A list is about to be executed `times` in one call; by zt_execute of this profiler, or of none (-1).
   Regions of an older recording on its handle, whose end nobody told of, may be taken for executed, and lost.
 */
static void expect_execution(sequence *s, list *l, int profiler, uint32_t times) {
    pthread_mutex_lock(&s->lock);
    for (uint32_t i = 0; i < l->record_count; i++) {
        if (!l->records[i]->is_ended)
            continue;
        l->records[i]->may += times;
    }
    for (uint32_t i = 0; i < s->record_count; i++) {
        record *r = &s->records[i];
        if (r->list == l->handle && (r->profiler == profiler || s->is_traced))
            r->is_open = 0; /* a region that was not ended is dropped */
        if (r->list == l->handle && r->profiler == profiler && !r->is_over && !is_current(l, r))
            r->surplus += times;
    }
    pthread_mutex_unlock(&s->lock);
}

static void take_back_execution(sequence *s, list *l, uint32_t times) {
    pthread_mutex_lock(&s->lock);
    for (uint32_t i = 0; i < l->record_count; i++)
        if (l->records[i]->is_ended)
            l->records[i]->may -= times;
    pthread_mutex_unlock(&s->lock);
}

static void paint(channel *c, const list *l) {
    for (uint32_t i = 0; i < l->piece_count; i++)
        for (uint32_t unit = 0; unit < l->pieces[i].units; unit++)
            c->shadow[unit] = l->pieces[i].value;
}

/* And it was. */
static void count_execution(sequence *s, list *l, int profiler, uint32_t times) {
    pthread_mutex_lock(&s->lock);
    for (uint32_t i = 0; i < l->record_count; i++) {
        record *r = l->records[i];
        if (!r->is_ended)
            s->unended_recorded = 1;
        else if (r->profiler == profiler)
            r->must += times;
        else if (l->is_read[r->profiler] && !(s->forgets && s->kind != ONE_THREAD) && !s->injects)
            r->must++; /* with a short timeout another thread may collect for longer than zt_execute waits,
                          what is not reset is not read where nothing shows when an execution has ended, and
                          where the query of an event fails, an execution that was not submitted is not seen
                        */
        else
            r->surplus++; /* its query may be reset while it runs: its event comes then, and its data do not
                           */
        r->unseen += r->profiler != profiler;
        s->plain_executions |= r->profiler != profiler;
    }
    pthread_mutex_unlock(&s->lock);
    for (int i = 0; i < PROFILERS_USED; i++)
        l->is_read[i] = 0;
    l->is_running = 1;
    l->last_executor = profiler;
    for (uint32_t i = 0; i < times; i++)
        paint(&s->channels[l->channel], l);
}

static uint32_t units_in(const list *l) {
    uint32_t sum = 0;
    for (uint32_t i = 0; i < l->piece_count; i++)
        sum += l->pieces[i].units;
    return sum;
}

/* ==== samples ============================================================================================ */

static void append_piece(sequence *s, const list *l, piece work) {
    uint8_t *to = on.memory[l->channel];
    size_t bytes = (size_t)work.units * unit_bytes[l->channel];
    if (channel_copies[l->channel])
        app(s, zeCommandListAppendMemoryCopy(l->handle, to, on.sources[work.value], bytes, NULL, 0, NULL));
    else
        app(s, zeCommandListAppendMemoryFill(l->handle, to, &work.value, 1, bytes, NULL, 0, NULL));
}

/* A region of its own in the middle of a collection. Callbacks come one at a time. */
static void run_in_sample(sequence *s, zt_profiler *profiler) {
    char name[24];
    record *r = NULL;
    list *l = &s->in_sample;
    pthread_mutex_lock(&s->lock);
    if (s->left_in_sample && s->record_count < RECORDS) {
        snprintf(name, sizeof name, "in sample %u", s->left_in_sample--);
        r = add_record(s, l, 0, name);
        r->phases = UINT32_MAX; /* those of the thread that collects */
        r->may_drop = 1;        /* no room can be made in here */
        r->units = s->left_in_sample + 1;
        r->is_ended = 1;
        r->must = r->may = 1;
    }
    pthread_mutex_unlock(&s->lock);
    if (!r)
        return;
    piece work = {r->units, 1};
    zt_region region = zt_begin(profiler, l->handle, name);
    append_piece(s, l, work);
    zt_end(&region);
    for (uint32_t unit = 0; unit < work.units; unit++)
        s->channels[l->channel].shadow[unit] = work.value;
}

/* ==== phases ============================================================================================== */

/* Of the first `depth` that are named, the outermost first. */
static uint32_t phase_number(const int *named, uint32_t depth) {
    return depth == 0   ? 0
           : depth == 1 ? 1 + (uint32_t)named[0]
                        : 3 + 2 * (uint32_t)named[0] + (uint32_t)named[1];
}

static uint32_t phase_bit(const worker *w) {
    return 1u << phase_number(w->phases, w->phase_depth);
}

/* Phases change only while no region is open, so that nested regions are in the same. */
static void change_phase(worker *w) {
    for (int i = 0; i < LISTS; i++)
        if (w->lists[i].open_count)
            return;
    if (w->phase_depth < 2 && chance(&w->random, 60)) {
        w->phases[w->phase_depth] = chance(&w->random, 50);
        note(w, " phase(%c)", 'A' + w->phases[w->phase_depth]);
        zt_phase_begin(w->phases[w->phase_depth++] ? "B" : "A");
    } else if (w->phase_depth > 0) {
        note(w, " end");
        zt_phase_end();
        w->phase_depth--;
    }
}

static void note_phase(worker *w, const list *l, uint32_t bits) {
    pthread_mutex_lock(&w->sequence->lock);
    for (uint32_t i = 0; i < l->record_count; i++)
        l->records[i]->phases |= bits;
    pthread_mutex_unlock(&w->sequence->lock);
}

/* The phase of a path, and whether no region is around it. */
static uint32_t phase_of_path(const zt_profiler *profiler, uint32_t path, int *is_outermost) {
    int named[8];
    uint32_t depth = 0;
    zt_region_info info = {.parent = path};
    *is_outermost = 1;
    for (int is_own = 1; info.parent != UINT32_MAX; is_own = 0) {
        if (zt_get_region(profiler, info.parent, &info) != ZE_RESULT_SUCCESS)
            return PHASES;
        *is_outermost &= is_own || info.is_phase;
        if (info.is_phase)
            named[depth++] = info.name[0] == 'B';
    }
    if (depth == 2) {
        int inner = named[0];
        named[0] = named[1];
        named[1] = inner;
    }
    return depth <= 2 ? phase_number(named, depth) : PHASES;
}

/* What is wrong with a phase, or NULL. */
static const char *wrong_phase(sequence *s, const measured *of, uint32_t phase, const zt_region_info *info) {
    int is_complete = info->incomplete + info->lost + info->dropped == 0 && s->plain_executions == 0 &&
                      zt_get_info(of->profiler).counts.in_flight == 0;
    uint32_t count = 0;
    double ns = 0, entries_ns = info->time_ns.count ? info->time_ns.sum : 0;
    pthread_mutex_lock(&s->lock);
    for (uint32_t i = phase; i < PHASES; i++)
        if (i == phase || (phase <= 2 && i >= 3 && (i - 3) / 2 == phase - 1)) {
            ns += of->phase_ns[i];
            count += of->phase_samples[i];
        }
    for (uint32_t i = 0; i < s->record_count; i++) /* an entry lasts as long as a region that is open in it */
        is_complete &= s->records[i].profiler != of->index || s->records[i].is_ended;
    pthread_mutex_unlock(&s->lock);
    /* On a recorded list, what is inside of a dropped region counts in its place. */
    if (zt_get_info(of->profiler).counts.dropped ? info->count < count : info->count != count)
        return "its samples are not those that were delivered";
    if (info->count == count && fabs(info->total_ns - ns) > 1e-6 * ns)
        return "its GPU time is not that of its samples";
    return is_complete && fabs(entries_ns - ns) > 1e-6 * ns ? "its entries have another GPU time" : NULL;
}

static void check_phase(sequence *s, int profiler, uint32_t path) {
    const measured *of = &s->measured[profiler];
    const char *wrong = "it cannot be had";
    zt_region_info info;
    int is_outermost;
    uint32_t phase = phase_of_path(of->profiler, path, &is_outermost);
    for (int i = 0; i < LOOKS && wrong;
         i++) { /* a thread of the library's own may count a sample in between */
        if (zt_get_region(of->profiler, path, &info) != ZE_RESULT_SUCCESS)
            continue;
        if (!info.is_phase)
            return;
        wrong = phase == 0 || phase >= PHASES   ? "nobody began it"
                : s->is_forgetful || s->forgets ? NULL
                                                : wrong_phase(s, of, phase, &info);
        if (wrong)
            nap();
    }
    if (wrong)
        complain(s, "phase \"%s\": %s. %llu samples, %g ns, entries %llu, %g ns", info.name, wrong,
                 (unsigned long long)info.count, info.total_ns, (unsigned long long)info.time_ns.count,
                 info.time_ns.sum);
}

/* ==== samples ============================================================================================= */

/* What the regions of a name may have as samples. */
static const char *list_records(sequence *s, int profiler, const char *name) {
    static _Thread_local char text[800];
    size_t used = 0;
    text[0] = 0;
    pthread_mutex_lock(&s->lock);
    for (uint32_t i = 0; i < s->record_count && used < sizeof text; i++) {
        const record *r = &s->records[i];
        if (r->profiler == profiler && strcmp(r->name, name) == 0)
            used += (size_t)snprintf(text + used, sizeof text - used,
                                     " %u units of channel %d, phases 0x%x, submitted %u, came %u;", r->units,
                                     r->channel, r->phases, r->may, r->samples);
    }
    pthread_mutex_unlock(&s->lock);
    return text;
}

static void check_sample(const zt_sample *sample, void *user) {
    measured *of = user;
    sequence *s = of->sequence;
    double fills = sample->values[of->fill], copies = sample->values[of->copy];
    int is_outermost, is_named = 0;
    record *found = NULL;
    uint32_t phase = phase_of_path(of->profiler, sample->path, &is_outermost);
    if (phase >= PHASES) {
        complain(s, "a sample of \"%s\" in phases that nobody began", sample->name);
        return;
    }
    pthread_mutex_lock(&s->lock);
    of->phase_ns[phase] += is_outermost ? sample->gpu_time_ns : 0;
    of->phase_samples[phase] += (uint32_t)is_outermost;
    for (uint32_t i = 0; i < s->record_count; i++) {
        record *r = &s->records[i];
        if (r->profiler != of->index || strcmp(r->name, sample->name) != 0)
            continue;
        is_named = 1;
        /* Of several, that which can be in the fewest phases: others may take what comes in further ones. */
        if (r->samples < r->may && units_of(r->channel, fills, copies) == r->units &&
            r->phases >> phase & 1 &&
            (!found || __builtin_popcount(r->phases) < __builtin_popcount(found->phases)))
            found = r;
    }
    if (found) {
        found->samples++;
        found->time_ns += sample->gpu_time_ns;
    }
    pthread_mutex_unlock(&s->lock);
    if (!found && !is_named)
        complain(s, "a sample of \"%s\", which nobody began", sample->name);
    else if (!found)
        complain(s, "a sample of \"%s\" in phase %u: fills %g, copies %g. Begun:%s", sample->name, phase,
                 fills, copies, list_records(s, of->index, sample->name));
    if (s->kind == BUSY_SAMPLE && of->index == 0) {
        sched_yield();
        run_in_sample(s, of->profiler);
    }
}

/* ==== channels =========================================================================================== */

static void open_gate(sequence *s, int index) {
    channel *c = &s->channels[index];
    if (c->is_held)
        app(s, zeEventHostSignal(on.gates[index]));
    c->is_held = 0;
}

/* Waits until the channel has nothing to do. */
static void finish(worker *w, int index) {
    sequence *s = w->sequence;
    channel *c = &s->channels[index];
    if (!c->user)
        return;
    open_gate(s, index);
    if (c->on_queue) {
        app(s, zeCommandQueueSynchronize(on.queues[w->index], A_WHILE));
    } else {
        app(s, zeCommandListAppendBarrier(c->user->handle, on.done[index], 0, NULL));
        app(s, zeEventHostSynchronize(on.done[index], A_WHILE));
        app(s, zeEventHostReset(on.done[index]));
    }
    for (int i = 0; i < LISTS; i++)
        if (w->lists[i].channel == index)
            w->lists[i].is_running = 0;
    pthread_mutex_lock(&s->lock);
    for (uint32_t i = 0; i < s->record_count; i++) {
        record *r = &s->records[i];
        r->is_done |= r->channel == index && r->is_immediate && r->is_ended;
    }
    pthread_mutex_unlock(&s->lock);
}

static void finish_list(worker *w, const list *l) {
    const channel *c = &w->sequence->channels[l->channel];
    if (l->is_immediate ? c->user == l : c->on_queue)
        finish(w, l->channel);
}

static void end_region(worker *w, list *l, uint32_t which) {
    sequence *s = w->sequence;
    open_region ended = l->open[which];
    zt_region copy = ended.region;
    memmove(&l->open[which], &l->open[which + 1], (--l->open_count - which) * sizeof *l->open);
    pthread_mutex_lock(&s->lock);
    ended.record->is_ended = 1;
    note_ended(s, ended.record);
    if (l->is_immediate) {
        ended.record->may = 1;
        /* The kind of a list is asked once a recording: one with the handle of a recorded list of which nobody told
           that it is over may be taken for that list. */
        ended.record->must = (uint32_t)!l->follows_untold;
    }
    pthread_mutex_unlock(&s->lock);
    note(w, " end(%s)", ended.record->name);
    zt_end(&ended.region);
    zt_end(&copy);
}

static void abandon_region(worker *w, list *l, uint32_t which) {
    note(w, " forget(%s)", l->open[which].record->name);
    pthread_mutex_lock(&w->sequence->lock);
    w->sequence->is_forgetful = 1;
    pthread_mutex_unlock(&w->sequence->lock);
    l->open[which].record->may_drop = 1;
    memmove(&l->open[which], &l->open[which + 1], (--l->open_count - which) * sizeof *l->open);
}

static void end_all(worker *w, list *l) {
    while (l->open_count) {
        if (chance(&w->random, 8))
            abandon_region(w, l, 0);
        else
            end_region(w, l, below(&w->random, l->open_count));
    }
}

/* From here on, what is on the channel is this list's, or the queue's. */
static void use_channel(worker *w, list *l) {
    channel *c = &w->sequence->channels[l->channel];
    int same = c->user && (l->is_immediate ? c->user == l : c->on_queue);
    if (!same && c->user) {
        if (!c->on_queue)
            end_all(w, c->user);
        finish(w, l->channel);
    }
    c->owner = w;
    c->user = l;
    c->on_queue = !l->is_immediate;
}

static void hold(worker *w, list *l) {
    sequence *s = w->sequence;
    use_channel(w, l);
    finish(w, l->channel);
    note(w, " hold(%d)", l->channel);
    app(s, zeEventHostReset(on.gates[l->channel]));
    s->channels[l->channel].is_held = 1;
    if (l->is_immediate)
        app(s, zeCommandListAppendWaitOnEvents(l->handle, 1, &on.gates[l->channel]));
    else
        app(s, zeCommandQueueExecuteCommandLists(on.queues[w->index], 1, &on.gate_lists[l->channel], NULL));
}

/* ==== lists ============================================================================================== */

static int place_of(const worker *w, const list *l) {
    return (int)(l - w->lists);
}

static list *random_list(worker *w) {
    list *l = &w->lists[below(&w->random, LISTS)];
    return l->handle ? l : NULL;
}

static int is_recording(const list *l) {
    return l->is_immediate || !l->is_closed;
}

static void start_recording(list *l) {
    l->is_closed = 0;
    l->piece_count = l->record_count = l->open_count = 0;
    for (int i = 0; i < PROFILERS_USED; i++)
        l->is_read[i] = 1;
}

/* Returns whether nobody told that regions of a recorded list with this handle are over. */
static int has_untold(sequence *s, ze_command_list_handle_t handle) {
    int found = 0;
    pthread_mutex_lock(&s->lock);
    for (uint32_t i = 0; i < s->record_count; i++) {
        const record *r = &s->records[i];
        found |= r->list == handle && !r->is_immediate && !r->is_over;
    }
    pthread_mutex_unlock(&s->lock);
    return found;
}

static void create(worker *w, list *l) {
    sequence *s = w->sequence;
    memset(l, 0, sizeof *l);
    l->is_immediate = chance(&w->random, 40);
    l->channel = w->queue_channel;
    if (l->is_immediate)
        l->channel = w->immediate_channels[below(&w->random, (uint32_t)w->immediate_channel_count)];
    if (l->is_immediate)
        create_immediate(s->world, &l->handle);
    else
        create_list(s->world, &l->handle);
    l->follows_untold = has_untold(s, l->handle);
    note(w, " %s(%d)%s", l->is_immediate ? "immediate" : "list", place_of(w, l),
         l->handle == w->destroyed ? "=again" : "");
    start_recording(l);
}

static void begin(worker *w, list *l) {
    sequence *s = w->sequence;
    char name[24];
    if (!is_recording(l) || l->open_count == OPEN || l->record_count == PIECES)
        return;
    int profiler = (int)below(&w->random, (uint32_t)s->profiler_count);
    if (l->is_immediate)
        use_channel(w, l);
    pthread_mutex_lock(&s->lock);
    record *r = NULL;
    if (s->record_count < RECORDS) {
        if (chance(&w->random, 15))
            snprintf(name, sizeof name, "shared %d", l->channel);
        else
            snprintf(name, sizeof name, "w%d.%u", w->index, s->record_count);
        int fits = most_probes_held(s, profiler) < s->measured[profiler].probes;
        r = add_record(s, l, profiler, name);
        /* Where the kind of a list is not known, it may be immediate. What runs unreported is in no phase. */
        r->phases = (l->is_immediate || !can_tell_immediate() ? phase_bit(w) : 0) | !l->is_immediate;
        if (s->forgets)
            r->phases =
                UINT32_MAX; /* it may be inside of a region that was never ended, on the same handle */
        r->may_drop = s->injects || !(s->is_roomy || (fits && s->kind == FEW_PROBES && !s->has_bystander &&
                                                      s->worker_count == 1 && !s->never_delivered));
    }
    pthread_mutex_unlock(&s->lock);
    if (!r)
        return;
    note(w, " begin(%d,%s%s)", place_of(w, l), r->name, profiler ? ",twin" : "");
    open_region *opened = &l->open[l->open_count++];
    opened->record = r;
    opened->region = zt_begin(s->measured[profiler].profiler, l->handle, name);
    note_begun(s, r, opened->region.probe != NULL);
    if (!l->is_immediate)
        l->records[l->record_count++] = r;
    memset(name, '?', sizeof name); /* names are copied */
}

static void work(worker *w, list *l) {
    sequence *s = w->sequence;
    channel *c = &s->channels[l->channel];
    piece added = {1 + below(&w->random, MOST_UNITS), 0};
    added.value = (uint8_t)below(&w->random, channel_copies[l->channel] ? SOURCES : 250);
    if (!is_recording(l) || l->piece_count == PIECES)
        return;
    if (l->is_immediate) {
        if (c->units + added.units >= LARGE)
            return;
        c->units += added.units;
        use_channel(w, l);
        for (uint32_t unit = 0; unit < added.units; unit++)
            c->shadow[unit] = added.value;
        l->is_running = 1;
    } else {
        l->pieces[l->piece_count++] = added;
    }
    note(w, " work(%d,%u)", place_of(w, l), added.units);
    append_piece(s, l, added);
    pthread_mutex_lock(&s->lock);
    for (uint32_t i = 0; i < l->open_count; i++)
        l->open[i].record->units += added.units;
    pthread_mutex_unlock(&s->lock);
}

static void whole_region(worker *w, list *l) {
    uint32_t before = l->open_count;
    begin(w, l);
    if (l->open_count == before)
        return;
    work(w, l);
    if (chance(&w->random, 40))
        return;
    end_region(w, l, l->open_count - 1);
}

static void close_list(worker *w, list *l) {
    if (l->is_immediate || l->is_closed)
        return;
    end_all(w, l);
    note(w, " close(%d)", place_of(w, l));
    app(w->sequence, zeCommandListClose(l->handle));
    l->is_closed = 1;
}

static int may_execute(worker *w, list *l, uint32_t times) {
    channel *c = &w->sequence->channels[l->channel];
    uint32_t units = units_in(l) * times;
    if (l->is_immediate || !l->is_closed || c->units + units >= LARGE)
        return 0;
    c->units += units;
    return 1;
}

static void execute_by(worker *w, list **lists, uint32_t count, int profiler) {
    sequence *s = w->sequence;
    ze_command_list_handle_t handles[2];
    uint32_t times = count == 2 && lists[0] == lists[1] ? 2 : 1;
    uint32_t distinct = count / times;
    use_channel(w, lists[0]);
    for (uint32_t i = 0; i < count; i++) {
        handles[i] = lists[i]->handle;
        if (lists[i]->is_running && profiler >= 0 && lists[i]->last_executor == profiler &&
            s->profiler_count == 1)
            open_gate(s, lists[i]->channel); /* zt_execute waits for the last execution, */
        else if (lists[i]->is_running)
            finish(w, lists[i]->channel);
    }
    if (times == 2)
        open_gate(s, lists[0]->channel); /* and for the first half of this one */
    note(w, " %s(", profiler < 0 ? "plain" : profiler ? "execute.twin" : "execute");
    for (uint32_t i = 0; i < count; i++)
        note(w, "%s%d", i ? "," : "", place_of(w, lists[i]));
    note(w, ")");
    for (uint32_t i = 0; i < distinct; i++) {
        expect_execution(s, lists[i], profiler, times);
        note_phase(w, lists[i], phase_bit(w));
    }
    ze_result_t result;
    if (profiler < 0)
        result = zeCommandQueueExecuteCommandLists(on.queues[w->index], count, handles, NULL);
    else
        result = zt_execute(s->measured[profiler].profiler, on.queues[w->index], count, handles, NULL);
    if (result != ZE_RESULT_SUCCESS)
        note(w, "=%s", zt_result_name(result));
    if (result != ZE_RESULT_SUCCESS && !s->injects)
        complain(s, "an execution answered %s", zt_result_name(result));
    for (uint32_t i = 0; i < distinct; i++) {
        if (result == ZE_RESULT_SUCCESS)
            count_execution(s, lists[i], profiler, times);
        else
            take_back_execution(s, lists[i], times);
    }
}

static void execute_some(worker *w, list *l, int plainly) {
    sequence *s = w->sequence;
    list *lists[2] = {l, random_list(w)};
    uint32_t count = 1;
    int again = !plainly && !s->injects && chance(&w->random, 3); /* a refusal may concern its second half */
    if (l->is_immediate)
        return;
    if (again)
        lists[1] = l;
    close_list(w, l);
    if (!may_execute(w, l, again ? 2 : 1))
        return;
    if (again || (lists[1] && lists[1] != l && chance(&w->random, 25) && may_execute(w, lists[1], 1)))
        count = 2;
    execute_by(w, lists, count, plainly ? -1 : (int)below(&w->random, (uint32_t)s->profiler_count));
}

static void release(worker *w, ze_command_list_handle_t handle) {
    sequence *s = w->sequence;
    for (int i = 0; i < s->profiler_count; i++) {
        ze_result_t result = zt_release(s->measured[i].profiler, handle);
        if (result != ZE_RESULT_SUCCESS && result != ZE_RESULT_NOT_READY)
            complain(s, "zt_release answered %s", zt_result_name(result));
        mark_over(s, i, handle);
    }
}

/* Nobody tells that the recording of a list is over. If another is begun on its handle before this one was read, it is
   read when that has ended, too, or when the profiler is closed. */
static void leave_untold(sequence *s, const list *l) {
    pthread_mutex_lock(&s->lock);
    for (uint32_t i = 0; i < l->record_count; i++) {
        record *r = l->records[i];
        if (r->unseen && r->must && !l->is_read[r->profiler] && !s->is_traced)
            r->must--;
    }
    pthread_mutex_unlock(&s->lock);
}

static void reset(worker *w, list *l) {
    sequence *s = w->sequence;
    uint32_t how = below(&w->random, s->forgets ? 6 : 3);
    if (l->is_immediate)
        return;
    end_all(w, l);
    finish_list(w, l);
    note(w, " %s(%d)",
         how == 0   ? "zt_reset"
         : how == 1 ? "release,reset"
         : how == 2 ? "reset,release"
                    : "reset",
         place_of(w, l));
    if (how == 1)
        release(w, l->handle);
    if (how == 0) {
        app(s, zt_reset(s->measured[0].profiler, l->handle));
        release(w, l->handle); /* the other profilers */
    } else {
        app(s, zeCommandListReset(l->handle));
        tell_tracers(s, l->handle);
    }
    if (how > 2)
        leave_untold(s, l);
    if (how == 2)
        release(w, l->handle);
    start_recording(l);
}

static int hand_over(sequence *s, ze_command_list_handle_t handle) {
    pthread_mutex_lock(&s->lock);
    int room = s->has_bystander && s->handed_count < LISTS * WORKERS;
    if (room)
        s->handed_over[s->handed_count++] = handle;
    pthread_mutex_unlock(&s->lock);
    return room;
}

static void destroy(worker *w, list *l, int released) {
    sequence *s = w->sequence;
    channel *c = &s->channels[l->channel];
    end_all(w, l);
    finish_list(w, l);
    if (c->user == l && l->is_immediate)
        c->user = NULL;
    note(w, " %sdestroy(%d)", released ? "release," : "", place_of(w, l));
    if (released && chance(&w->random, 30) && hand_over(s, l->handle)) {
        memset(l, 0, sizeof *l);
        return;
    }
    if (released)
        release(w, l->handle);
    else
        leave_untold(s, l);
    tell_tracers(s, l->handle); /* afterwards, the handle may be that of another thread's list */
    app(s, zeCommandListDestroy(l->handle));
    w->destroyed = l->handle;
    list *user = c->user;
    memset(l, 0, sizeof *l);
    if (user == l)
        c->user = NULL; /* a queue's list: it was waited for */
}

/* The driver refuses. No other thread destroys lists, which could be refused instead. */
static void destroy_in_vain(worker *w, const list *l) {
    const sequence *s = w->sequence;
    if (s->worker_count > 1 || s->has_bystander)
        return;
    note(w, " destroy(%d)=refused", place_of(w, l));
    inject("zeCommandListDestroy", 1, ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY);
    if (zeCommandListDestroy(l->handle) == ZE_RESULT_SUCCESS)
        complain(w->sequence, "a list was destroyed");
}

/* ==== questions, which any thread may ask at any time =================================================== */

static int discard(const void *bytes, size_t size, void *user) {
    (void)bytes, (void)size, (void)user;
    return 0;
}

static void check_counts(sequence *s, const zt_profiler *profiler) {
    zt_counts c = zt_get_info(profiler).counts;
    if (c.begun != c.collected + c.lost + c.dropped + c.in_flight)
        complain(s, "begun %llu, collected %llu, lost %llu, dropped %llu, in flight %llu",
                 (unsigned long long)c.begun, (unsigned long long)c.collected, (unsigned long long)c.lost,
                 (unsigned long long)c.dropped, (unsigned long long)c.in_flight);
}

/* A packed copy, which has to be as right as what it was made of. */
static zt_profiler *copy_of(sequence *s, const zt_profiler *profiler) {
    zt_profiler *copy = NULL;
    void *buffer = NULL;
    size_t size;
    ze_result_t result;
    do { /* until others do not collect more meanwhile than there is room for */
        free(buffer);
        buffer = NULL;
        size = 0;
        if (zt_pack(profiler, NULL, &size) == ZE_RESULT_NOT_READY)
            return NULL; /* another thread collects for longer than the timeout */
        size += 65536;
        buffer = malloc(size);
        result = zt_pack(profiler, buffer, &size);
    } while (result == ZE_RESULT_ERROR_INVALID_SIZE);
    if (result == ZE_RESULT_SUCCESS)
        result = zt_unpack(buffer, size, NULL, &copy);
    if (result != ZE_RESULT_SUCCESS && result != ZE_RESULT_NOT_READY)
        complain(s, "packed and unpacked: %s", zt_result_name(result));
    free(buffer);
    return copy;
}

static void ask(sequence *s, uint64_t *random) {
    zt_profiler *profiler = s->measured[below(random, (uint32_t)s->profiler_count)].profiler;
    zt_region_info info;
    zt_stats stats;
    uint32_t regions = zt_get_info(profiler).region_count;
    uint32_t region = regions ? below(random, regions) : 0;
    check_counts(s, profiler);
    switch (below(random, 8)) {
    case 0:
        zt_write(profiler, (zt_format)below(random, 4), discard, NULL);
        break;
    case 1: {
        zt_profiler *copy = copy_of(s, profiler);
        if (copy && zt_merge(copy, profiler) != ZE_RESULT_SUCCESS)
            complain(s, "zt_merge into a packed copy failed");
        check_counts(s, copy);
        zt_close(copy);
        break;
    }
    case 2:
    case 3:
        if (regions && zt_get_stats(profiler, region, below(random, zt_get_info(profiler).metric_count),
                                    &stats) != ZE_RESULT_SUCCESS)
            complain(s, "zt_get_stats failed");
        break;
    default:
        if (regions && zt_get_region(profiler, region, &info) != ZE_RESULT_SUCCESS)
            complain(s, "zt_get_region failed");
        break;
    }
}

static void collect(worker *w) {
    sequence *s = w->sequence;
    int profiler = (int)below(&w->random, (uint32_t)s->profiler_count);
    uint64_t timeout = chance(&w->random, 60) ? 0 : 1 + below(&w->random, 500000);
    ze_result_t result = zt_collect(s->measured[profiler].profiler, timeout);
    note(w, " collect%s(%llu)", profiler ? ".twin" : "", (unsigned long long)timeout);
    if (timeout && result == ZE_RESULT_SUCCESS) {
        note(w, "=all");
        for (int i = 0; i < LISTS; i++)
            if (!w->lists[i].is_running)
                w->lists[i].is_read[profiler] = 1;
    } else if (result != ZE_RESULT_SUCCESS && !(timeout && result == ZE_RESULT_NOT_READY)) {
        complain(s, "zt_collect answered %s", zt_result_name(result));
    }
}

/* ==== steps ============================================================================================== */

static const char *const injected[] = {"zetCommandListAppendMetricQueryBegin",
                                       "zetCommandListAppendMetricQueryEnd",
                                       "zetMetricQueryGetData",
                                       "zetMetricGroupCalculateMetricValues",
                                       "zetMetricQueryReset",
                                       "zeEventHostReset",
                                       "zeEventQueryStatus",
                                       "zeEventCreate",
                                       "zetMetricQueryCreate",
                                       "zetMetricQueryPoolCreate",
                                       "zeEventPoolCreate",
                                       "zeCommandListIsImmediate",
                                       "zeCommandListReset",
                                       "zeCommandListDestroy",
                                       "zeCommandQueueExecuteCommandLists"};
enum { INJECTED = sizeof injected / sizeof *injected };

static void inject_some(worker *w) {
    static const ze_result_t results[] = {ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY, ZE_RESULT_ERROR_UNKNOWN,
                                          ZE_RESULT_ERROR_INVALID_ARGUMENT};
    const char *function = injected[below(&w->random, INJECTED)];
    uint32_t nth = 1 + below(&w->random, 4);
    ze_result_t result = results[below(&w->random, 3)];
    note(w, " fail(%s,%u)", function, nth);
    inject(function, nth, result);
}

static void step(worker *w) {
    sequence *s = w->sequence;
    list *l = &w->lists[below(&w->random, LISTS)];
    uint32_t what = below(&w->random, 100);
    if (!l->handle)
        create(w, l);
    if (what < 26)
        whole_region(w, l);
    else if (what < 32)
        begin(w, l);
    else if (what < 40)
        work(w, l);
    else if (what < 42)
        change_phase(w);
    else if (what < 47 && l->open_count)
        end_region(w, l, below(&w->random, l->open_count));
    else if (what < 60)
        execute_some(w, l, 0);
    else if (what < 66)
        execute_some(w, l, 1);
    else if (what < 72)
        reset(w, l);
    else if (what < 78)
        destroy(w, l, !s->forgets || chance(&w->random, 50));
    else if (what < 80)
        destroy_in_vain(w, l);
    else if (what < 90)
        collect(w);
    else if (what < 93)
        ask(s, &w->random);
    else if (what < 96)
        hold(w, l);
    else if (what < 98)
        finish(w, l->channel);
    else if (s->injects)
        inject_some(w);
}

static void *run_worker(void *argument) {
    worker *w = argument;
    for (int i = 0; i < w->steps && !w->sequence->failure[0]; i++)
        step(w);
    for (; w->phase_depth > 0; w->phase_depth--)
        zt_phase_end();
    return NULL;
}

/* Finishes what the others leave to it, and asks meanwhile. */
static int clear_away_one(sequence *s) {
    ze_command_list_handle_t handle = NULL;
    pthread_mutex_lock(&s->lock);
    if (s->handed_count)
        handle = s->handed_over[--s->handed_count];
    pthread_mutex_unlock(&s->lock);
    if (!handle)
        return 0;
    for (int i = 0; i < s->profiler_count; i++) {
        zt_release(s->measured[i].profiler, handle);
        mark_over(s, i, handle);
    }
    app(s, zeCommandListDestroy(handle));
    return 1;
}

static void *stand_by(void *argument) {
    sequence *s = argument;
    uint64_t random = s->random;
    int done = 0;
    while (!done) {
        zt_profiler *profiler = s->measured[below(&random, (uint32_t)s->profiler_count)].profiler;
        switch (below(&random, 4)) {
        case 0:
            zt_collect(profiler, below(&random, 300000));
            break;
        case 1:
            ask(s, &random);
            break;
        case 2:
            clear_away_one(s);
            break;
        default:
            zt_collect(profiler, 0);
            break;
        }
        sched_yield();
        pthread_mutex_lock(&s->lock);
        done = s->workers_done;
        pthread_mutex_unlock(&s->lock);
    }
    while (clear_away_one(s))
        continue;
    return NULL;
}

/* ==== what has to be right at the end =================================================================== */

/* Returns whether a region is followed by one on a list of the other kind with the same handle, of which nobody told: this
   loader cannot tell them apart, so both may count as one recording, which has not run to its end. */
static int is_followed_by_other_kind(const sequence *s, const record *r) {
    if (r->is_over || !s->forgets || can_tell_immediate())
        return 0;
    for (uint32_t i = 0; i < s->record_count; i++) {
        const record *other = &s->records[i];
        if (other > r && other->profiler == r->profiler && other->list == r->list &&
            other->is_immediate != r->is_immediate)
            return 1;
    }
    return 0;
}

/* Executions of the region may have overlapped, and no call has named their idle queue: the last is not read. */
static int may_wait(const sequence *s, const record *r) {
    return (r->may > 1 && s->forgets && !r->is_over) || is_followed_by_other_kind(s, r);
}

typedef struct total {
    uint64_t records, must, may, surplus, droppable, largest, samples, waiting;
} total;

/* Of all regions of a name. */
static total total_of(sequence *s, int profiler, const char *name) {
    total sum = {0, 0, 0, 0, 0, 0, 0, 0};
    pthread_mutex_lock(&s->lock);
    for (uint32_t i = 0; i < s->record_count; i++) {
        const record *r = &s->records[i];
        if (r->profiler != profiler || strcmp(r->name, name) != 0)
            continue;
        sum.records++;
        sum.must += r->must;
        sum.may += r->may;
        sum.surplus += r->surplus;
        sum.droppable += (uint64_t)r->may_drop;
        sum.samples += r->samples;
        sum.waiting += (uint64_t)may_wait(s, r);
        sum.largest = r->must > sum.largest ? r->must : sum.largest;
    }
    pthread_mutex_unlock(&s->lock);
    return sum;
}

static void print_causes(const zt_profiler *profiler) {
    const zt_info info = zt_get_info(profiler);
    for (int i = 0; i < ZT_CAUSE_COUNT; i++)
        if (info.causes[i].count)
            print_message("%s: %llu\n", info.causes[i].name, (unsigned long long)info.causes[i].count);
}

static void check_region(sequence *s, int profiler, uint32_t index) {
    zt_region_info info;
    zt_stats fills;
    const measured *of = &s->measured[profiler];
    total sum;
    for (int i = 0; i < LOOKS; i++) { /* a thread of the library's own may count a sample in between */
        if (zt_get_stats(of->profiler, index, of->fill, &fills) != ZE_RESULT_SUCCESS ||
            zt_get_region(of->profiler, index, &info) != ZE_RESULT_SUCCESS) {
            complain(s, "region %u cannot be had", index);
            return;
        }
        if (info.is_phase)
            return; /* check_phase */
        sum = total_of(s, profiler, info.name);
        if (info.count == sum.samples && info.count == fills.count)
            break;
        nap();
    }
    uint64_t counted = info.count + info.lost;
    /* What counts as executed, and is seen never to have run, is dropped. */
    uint64_t never_ran = info.dropped < sum.surplus ? info.dropped : sum.surplus;
    uint64_t others = info.dropped < sum.droppable ? info.dropped : sum.droppable;
    uint64_t dropped = info.dropped - never_ran, missed = info.dropped * sum.largest;
    const char *wrong = NULL;
    if (info.count != sum.samples)
        wrong = "its count is not that of the samples";
    else if (fills.count != info.count)
        wrong = "its statistics have another count";
    else if (info.count > sum.may || counted + info.dropped - others > sum.may + sum.surplus)
        wrong = "it was counted more often than it ran";
    else if (counted + missed + sum.waiting < sum.must)
        wrong = "an execution was not counted";
    else if (sum.records == 1 && dropped && counted)
        wrong = "it was dropped, and counted all the same";
    else if (dropped > sum.droppable)
        wrong = "it was dropped without a cause";
    if (wrong)
        print_causes(of->profiler);
    if (wrong)
        complain(
            s,
            "region \"%s\": %s. Collected %llu, lost %llu, dropped %llu; samples %llu, must %llu, may %llu, "
            "surplus %llu, droppable %llu",
            info.name, wrong, (unsigned long long)info.count, (unsigned long long)info.lost,
            (unsigned long long)info.dropped, (unsigned long long)sum.samples, (unsigned long long)sum.must,
            (unsigned long long)sum.may, (unsigned long long)sum.surplus, (unsigned long long)sum.droppable);
}

/* Returns whether a sample of this region may be missing. */
static int misses_samples(const sequence *s, const record *r) {
    zt_region_info info;
    const zt_profiler *of = s->measured[r->profiler].profiler;
    uint32_t region = find_region(of, r->name);
    if (region == UINT32_MAX || zt_get_region(of, region, &info) != ZE_RESULT_SUCCESS)
        return 1;
    return !r->is_known || !r->is_ended || info.lost || info.dropped || r->surplus ||
           (r->unseen && r->may > 1) || r->samples < r->may || (r->may == 0 && !r->is_over);
}

/* Describes what is wrong with the parent or the own time of a region whose name no other has. */
static const char *wrong_nesting(sequence *s, const record *r, const zt_region_info *info) {
    const zt_profiler *of = s->measured[r->profiler].profiler;
    double own_ns = r->time_ns;
    int has_inner = r->has_unknown, may_miss = misses_samples(s, r) || r->has_unknown;
    uint32_t parent = r->outer ? find_region(of, r->outer->name) : UINT32_MAX;
    zt_region_info around = {.is_phase = 0};
    if (r->is_immediate && r->is_ended && !r->must)
        return NULL; /* it may be taken for one of a recorded list, see end_region */
    if (info->parent != UINT32_MAX)
        zt_get_region(of, info->parent, &around);
    if (r->is_known && info->parent != parent && (r->outer || !around.is_phase))
        return "it has another parent";
    for (uint32_t i = 0; i < s->record_count; i++) {
        const record *inner = &s->records[i];
        if (inner->outer != r)
            continue;
        if (strncmp(inner->name, "shared", 6) == 0)
            return NULL; /* nobody knows which of their samples were here */
        has_inner = 1;
        own_ns -= inner->time_ns;
        may_miss |= misses_samples(s, inner);
        if (!isnan(info->own_ns) && inner->samples != r->samples)
            return "the samples inside are others";
    }
    if (isnan(info->own_ns))
        return !has_inner ? "its own time is that of all" : !may_miss ? "its own time has to be known" : NULL;
    if (r->has_unknown)
        return "its own time cannot be known";
    if (fabs(info->own_ns - own_ns) > 1e-6 * r->time_ns)
        return "its own time is wrong";
    return NULL;
}

static void check_nesting(sequence *s, const record *r) {
    const char *wrong = "it cannot be had";
    zt_region_info info;
    const zt_profiler *of = s->measured[r->profiler].profiler;
    uint32_t region = find_region(of, r->name);
    if (strncmp(r->name, "shared", 6) == 0 || region == UINT32_MAX)
        return;
    for (int i = 0; i < LOOKS && wrong; i++) { /* as in check_region */
        if (i > 0)
            nap();
        if (zt_get_region(of, region, &info) == ZE_RESULT_SUCCESS) {
            pthread_mutex_lock(&s->lock);
            wrong = wrong_nesting(s, r, &info);
            pthread_mutex_unlock(&s->lock);
        }
    }
    if (wrong)
        complain(s,
                 "region \"%s\": %s. Own time %g, parent %u; its record: outer %s, time %g, samples %u, must "
                 "%u, may %u, surplus %u, unseen %u, known %d, ended %d, unknown inside %d",
                 r->name, wrong, info.own_ns, info.parent, r->outer ? r->outer->name : "none", r->time_ns,
                 r->samples, r->must, r->may, r->surplus, r->unseen, r->is_known, r->is_ended,
                 r->has_unknown);
}

static int is_cause_possible(const sequence *s, zt_cause cause) {
    switch (cause) {
    case ZT_LOST_NEVER_DELIVERED:
        return s->never_delivered || s->plain_executions || s->forgets || s->injects || s->unended_recorded;
    case ZT_LOST_OVERWRITTEN:
        return s->forgets || s->plain_executions || s->injects;
    case ZT_LOST_READ_FAILED:
    case ZT_DROPPED_NO_MEMORY:
    case ZT_DROPPED_APPEND_FAILED:
        return s->injects;
    case ZT_DROPPED_NO_PROBE:
        return s->injects || !s->is_roomy || s->kind == BUSY_SAMPLE;
    case ZT_DROPPED_NEVER_RAN:
        return s->forgets || s->injects;
    case ZT_LOST_IMPLAUSIBLE: /* what a plain execution has left may be longer than the next one has run */
        return s->plain_executions || ((s->struck >> cause) & 1);
    case ZT_DROPPED_NOT_CLOSED:
        return 1; /* by region it is known better */
    default:
        return (s->struck >> cause) & 1;
    }
}

/* A thread of the library's own may still collect what nobody waits for, and notice that recorded regions
   never run, which are then no longer counted as begun. */
static int is_settled(zt_counts before, const zt_profiler *profiler) {
    zt_counts now = zt_get_info(profiler).counts;
    return before.begun == now.begun && before.collected == now.collected && before.lost == now.lost &&
           before.dropped == now.dropped;
}

static void check_causes_of(sequence *s, const zt_profiler *profiler) {
    zt_counts counts;
    uint64_t lost, dropped;
    do {
        counts = zt_get_info(profiler).counts;
        lost = dropped = 0;
        for (int cause = 0; cause < ZT_CAUSE_COUNT; cause++) {
            uint64_t count = zt_get_info(profiler).causes[(zt_cause)cause].count;
            *(cause < ZT_DROPPED_NO_PROBE ? &lost : &dropped) += count;
            if (count && !is_cause_possible(s, (zt_cause)cause))
                complain(s, "%llu times \"%s\", which did not happen", (unsigned long long)count,
                         zt_get_info(NULL).causes[(zt_cause)cause].name);
        }
    } while (!is_settled(counts, profiler));
    if (lost != counts.lost || dropped != counts.dropped)
        complain(s, "by cause: lost %llu of %llu, dropped %llu of %llu", (unsigned long long)lost,
                 (unsigned long long)counts.lost, (unsigned long long)dropped,
                 (unsigned long long)counts.dropped);
}

/* Regions that nobody ended, and those that did not run and that the library was not told to be over. */
static uint64_t most_in_flight(const sequence *s, int profiler) {
    uint64_t most = 0;
    for (uint32_t i = 0; i < s->record_count; i++) {
        const record *r = &s->records[i];
        if (r->profiler == profiler &&
            ((!r->is_ended && !r->is_over) || r->surplus || (!r->may && !r->is_over) || may_wait(s, r)))
            most++;
    }
    return most;
}

/* Everything has ended on the device. What is never delivered is only found out with time. */
static void collect_the_rest(sequence *s, int profiler) {
    zt_profiler *of = s->measured[profiler].profiler;
    uint64_t most = most_in_flight(s, profiler);
    for (int i = 0; i < 3; i++)
        zt_collect(of, 0);
    for (int i = 0; i < 10000 && zt_get_info(of).counts.in_flight > most; i++) {
        nap();
        zt_collect(of, 0);
    }
    for (int i = 0; i < 3; i++)
        zt_collect(of, 0);
    if (most == 0 && zt_collect(of, A_WHILE) != ZE_RESULT_SUCCESS)
        complain(s, "zt_collect did not get everything");
}

static int has_every_execution(sequence *s, int profiler) {
    zt_profiler *of = s->measured[profiler].profiler;
    for (uint32_t i = 0; i < zt_get_info(of).region_count; i++) {
        zt_region_info info;
        if (zt_get_region(of, i, &info) != ZE_RESULT_SUCCESS)
            return 1;
        if (info.is_phase)
            continue;
        total sum = total_of(s, profiler, info.name);
        if (info.count + info.lost + info.dropped * sum.largest < sum.must || info.count != sum.samples)
            return 0;
    }
    return 1;
}

static int is_close(double a, double b) {
    return (isnan(a) && isnan(b)) || fabs(a - b) <= 1e-9 * fabs(b);
}

/* `counts` are those of the profiler before it was packed. */
static void check_copied_paths(sequence *s, const zt_profiler *profiler, zt_counts counts,
                               const zt_profiler *copy, double times) {
    if (zt_get_info(copy).path_count != zt_get_info(profiler).path_count && is_settled(counts, profiler))
        complain(s, "a packed copy has %u paths of %u", zt_get_info(copy).path_count,
                 zt_get_info(profiler).path_count);
    for (uint32_t i = 0; i < zt_get_info(copy).path_count; i++) {
        zt_region_info one, other;
        int is_same = zt_get_region(profiler, ZT_PATH(i), &one) == ZE_RESULT_SUCCESS &&
                      zt_get_region(copy, ZT_PATH(i), &other) == ZE_RESULT_SUCCESS &&
                      one.region == other.region && one.parent == other.parent &&
                      is_close(other.total_ns, times * one.total_ns) &&
                      is_close(other.own_ns, times * one.own_ns);
        if (!is_same && is_settled(counts, profiler))
            complain(
                s, "a packed copy, %g times: path %u is of regions %u and %u, total %g and %g, own %g and %g",
                times, i, one.region, other.region, one.total_ns, other.total_ns, one.own_ns, other.own_ns);
    }
}

/* The copy has what the original has, and twice that after a merge. */
static void check_copy(sequence *s, const zt_profiler *profiler) {
    zt_counts counts = zt_get_info(profiler).counts;
    zt_profiler *copy = copy_of(s, profiler);
    for (uint64_t times = 1; copy && times <= 2; times++) {
        zt_counts copied = zt_get_info(copy).counts;
        if (!is_settled(counts, profiler))
            break;
        if (copied.collected != times * counts.collected || copied.lost != times * counts.lost ||
            copied.dropped != times * counts.dropped)
            complain(s, "a packed copy, %llu times: collected %llu of %llu", (unsigned long long)times,
                     (unsigned long long)copied.collected, (unsigned long long)counts.collected);
        check_counts(s, copy);
        check_copied_paths(s, profiler, counts, copy, (double)times);
        if (times == 1)
            zt_merge(copy, profiler);
    }
    zt_close(copy);
}

static void check_profiler(sequence *s, int profiler) {
    const zt_profiler *of = s->measured[profiler].profiler;
    collect_the_rest(s, profiler);
    for (int i = 0; i < LOOKS && !has_every_execution(s, profiler); i++) {
        nap();
        zt_collect(s->measured[profiler].profiler, 0);
    }
    for (uint32_t i = 0; i < zt_get_info(of).region_count; i++)
        check_region(s, profiler, i);
    for (uint32_t i = 0; i < zt_get_info(of).path_count; i++)
        check_phase(s, profiler, ZT_PATH(i));
    for (uint32_t i = 0; i < s->record_count; i++) {
        const record *r = &s->records[i];
        if (r->profiler == profiler && r->must && !r->may_drop && find_region(of, r->name) == UINT32_MAX)
            complain(s, "region \"%s\" is missing", r->name);
        if (r->profiler == profiler)
            check_nesting(s, r);
    }
    check_causes_of(s, of);
    check_counts(s, of);
    uint64_t in_flight = zt_get_info(of).counts.in_flight;
    if (in_flight > most_in_flight(s, profiler))
        complain(s, "%llu in flight, where no more than %llu can be", (unsigned long long)in_flight,
                 (unsigned long long)most_in_flight(s, profiler));
    check_copy(s, of);
}

static void check_memory(sequence *s) {
    for (int i = 0; i < CHANNELS; i++) {
        for (uint32_t unit = 0; unit < MOST_UNITS; unit++) {
            const uint8_t *bytes = on.memory[i] + (size_t)unit * unit_bytes[i];
            uint8_t expected = s->channels[i].shadow[unit];
            if (bytes[0] != expected || bytes[unit_bytes[i] - 1] != expected)
                complain(s, "channel %d, unit %u: the memory has %u, and not %u", i, unit, bytes[0],
                         expected);
        }
    }
}

/* Queries that the application's own executions begin again before anybody read them. */
static int is_tolerated(const sequence *s, const char *line) {
    /* Where the driver has refused to reset a query, nobody knows what it holds when its list runs again. */
    if (s->injects && strstr(line, "a metric query was"))
        return 1;
    if (strstr(line, "a metric query was begun again without a reset"))
        return s->plain_executions || s->forgets || s->unended_recorded || s->injects;
    if (strstr(line, "a metric query was ended that had not begun"))
        return s->plain_executions || s->forgets;
    return strncmp(line, "alive:", 6) == 0; /* checked by their number */
}

static void check_findings(sequence *s) {
    char text[16384];
    char *rest = NULL;
    gpu.ledger(text, sizeof text);
    for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
        if (!is_tolerated(s, line))
            complain(s, "the device's ledger: %s", line);
    gpu.forget_findings();
}

/* ==== a sequence ========================================================================================= */

static const struct {
    enum softgpu_behaviour behaviour;
    zt_cause cause;
} strikes[] = {{SOFTGPU_REPORT_LOST, ZT_LOST_REPORT_LOST},
               {SOFTGPU_REPORT_ERROR, ZT_LOST_REPORT_ERROR},
               {SOFTGPU_REPORT_WITHOUT_WORKLOAD, ZT_LOST_REPORT_WITHOUT_WORKLOAD},
               {SOFTGPU_REPORT_QUERY_SPLIT, ZT_LOST_QUERY_SPLIT}};

static void choose_behaviour(sequence *s) {
    static const enum softgpu_behaviour harmless[] = {SOFTGPU_UNKNOWN_FOR_NOT_READY, SOFTGPU_STALE_REPLAY,
                                                      SOFTGPU_UNDEFINED_QUERY_TIMESTAMP,
                                                      SOFTGPU_ACTIVATE_AT_EXECUTION};
    for (uint32_t i = 0; i < sizeof harmless / sizeof *harmless; i++)
        if (chance(&s->random, 25))
            gpu.behave(harmless[i], 1);
    for (uint32_t i = 0; i < sizeof strikes / sizeof *strikes; i++)
        if (chance(&s->random, 10)) {
            gpu.behave(strikes[i].behaviour, 2 + below(&s->random, 9));
            s->struck |= UINT32_C(1) << strikes[i].cause;
        }
    if (chance(&s->random, 60))
        gpu.behave(SOFTGPU_HANDLES_COME_BACK, 1);
    s->never_delivered = chance(&s->random, 5);
    if (s->never_delivered) {
        gpu.behave(SOFTGPU_NEVER_DELIVERED, 3 + below(&s->random, 12));
        gpu.behave(SOFTGPU_STALE_REPLAY, 0); /* or old data would be delivered, and nobody could tell */
    }
}

/* Which channels a worker has: the queue's, and those of immediate lists. */
static void share_channels(sequence *s) {
    static const int few[3][2] = {{0, 1}, {2, 2}, {3, 3}};
    int most = s->kind == BUSY_SAMPLE ? CHANNELS - 1 : CHANNELS; /* the last is the sample function's */
    for (int i = 0; i < s->worker_count; i++) {
        worker *w = &s->workers[i];
        w->immediate_channel_count = 1;
        if (s->worker_count == 1) {
            w->immediate_channel_count = most - 1;
            for (int k = 1; k < most; k++)
                w->immediate_channels[k - 1] = k;
        } else if (s->worker_count == 2) {
            w->queue_channel = 2 * i;
            w->immediate_channels[0] = most == CHANNELS ? 2 * i + 1 : i + 1;
        } else if (s->worker_count == 3) {
            w->queue_channel = few[i][0];
            w->immediate_channels[0] = few[i][1];
        } else {
            w->queue_channel = w->immediate_channels[0] = i;
        }
    }
}

static void choose(sequence *s, world *w, kind of, uint64_t seed) {
    memset(s, 0, sizeof *s);
    pthread_mutex_init(&s->lock, NULL);
    s->world = w;
    s->kind = of;
    s->seed = seed;
    s->random = seed * UINT64_C(0x2545f4914f6cdd1d) + 1;
    next_random(&s->random);
    s->worker_count = of == SEVERAL_THREADS ? 2 + (int)below(&s->random, 3) : 1;
    if (of == OWN_THREAD || of == FEW_PROBES)
        s->worker_count = chance(&s->random, 50) ? 1 : 2;
    s->has_bystander = of == BUSY_SAMPLE || (of != ONE_THREAD && chance(&s->random, 50));
    s->profiler_count = chance(&s->random, 12) ? 2 : 1;
    s->injects = chance(&s->random, 20);
    s->closes_early = chance(&s->random, 10);
    s->forgets = chance(&s->random, 50);
    s->is_traced = s->profiler_count == 1 && chance(&s->random, 33); /* one tracer runs at a time */
    s->opens_late = s->forgets && seed / KINDS % 8 == 0;
    s->max_probes = of == FEW_PROBES ? 4 + below(&s->random, 12) : 16384;
    s->is_roomy = of != FEW_PROBES;
    for (int i = 0; i < s->worker_count; i++) {
        s->workers[i].sequence = s;
        s->workers[i].index = i;
        s->workers[i].random = next_random(&s->random);
        s->workers[i].steps = 10 + (int)below(&s->random, 60);
    }
    share_channels(s);
    choose_behaviour(s);
}

/* Profilers that were opened with a query that was not complete in time: its probe is never used again. */
static uint32_t count_late_queries(const world *w) {
    return (uint32_t)heard(w, "The first regions of several threads");
}

static void open_profilers(sequence *s) {
    for (int i = 0; i < s->profiler_count; i++) {
        measured *of = &s->measured[i];
        zt_config config = config_of(s->world);
        uint32_t late = count_late_queries(s->world);
        config.groups = "MemoryProfile";
        config.probes_per_step = s->kind == FEW_PROBES ? 4 : 16;
        config.max_probes = s->max_probes;
        config.samples = 8;
        config.timeline = chance(&s->random, 20) ? 64 : 0;
        config.thread = s->kind == OWN_THREAD;
        config.wait_timeout_ns = s->forgets ? SHORT_TIMEOUT_NS : LONG_TIMEOUT_NS;
        config.sample = check_sample;
        config.sample_user = of;
        of->sequence = s;
        of->index = i;
        of->profiler = open_profiler(s->world, &config);
        of->probes = s->max_probes - (count_late_queries(s->world) - late);
        assert_int_equal(zt_get_info(of->profiler).availability, ZT_AVAILABLE);
        of->fill = zt_find_metric(of->profiler, "FILL_BYTE_COUNT");
        of->copy = zt_find_metric(of->profiler, "COPY_BYTE_COUNT");
        if (s->is_traced)
            assert_int_equal(zt_trace_start(of->profiler, NULL), ZE_RESULT_SUCCESS);
    }
}

static void open_in_time_or_late(sequence *s) {
    if (s->opens_late) {
        rig held = hold_device(s->world);
        open_profilers(s);
        let_device_go(&held);
    } else {
        open_profilers(s);
    }
}

static void prepare_list_of_samples(sequence *s) {
    if (s->kind != BUSY_SAMPLE)
        return;
    s->left_in_sample = 8;
    s->in_sample.is_immediate = 1;
    s->in_sample.channel = CHANNELS - 1;
    create_immediate(s->world, &s->in_sample.handle);
}

static void run_threads(sequence *s) {
    pthread_t bystander;
    if (s->has_bystander)
        assert_int_equal(pthread_create(&bystander, NULL, stand_by, s), 0);
    for (int i = 1; i < s->worker_count; i++)
        assert_int_equal(pthread_create(&s->workers[i].thread, NULL, run_worker, &s->workers[i]), 0);
    run_worker(&s->workers[0]);
    for (int i = 1; i < s->worker_count; i++)
        pthread_join(s->workers[i].thread, NULL);
    pthread_mutex_lock(&s->lock);
    s->workers_done = 1;
    pthread_mutex_unlock(&s->lock);
    if (s->has_bystander)
        pthread_join(bystander, NULL);
}

static void finish_everything(sequence *s) {
    for (int i = 0; i < CHANNELS; i++)
        if (s->channels[i].user)
            finish(s->channels[i].owner, i);
    if (s->in_sample.handle)
        finish_immediate(s->world, s->in_sample.handle);
}

static void destroy_lists(sequence *s) {
    for (int i = 0; i < s->worker_count; i++)
        for (int k = 0; k < LISTS; k++)
            if (s->workers[i].lists[k].handle)
                app(s, zeCommandListDestroy(s->workers[i].lists[k].handle));
    if (s->in_sample.handle)
        app(s, zeCommandListDestroy(s->in_sample.handle));
}

/* Some are ended only after the profiler was closed, which does nothing. */
static void end_on_immediate(sequence *s, int closed) {
    for (int i = 0; i < s->worker_count; i++) {
        worker *w = &s->workers[i];
        for (int k = 0; k < LISTS; k++) {
            list *l = &w->lists[k];
            if (closed)
                while (l->open_count)
                    zt_end(&l->open[--l->open_count].region);
            else if (l->handle && l->is_immediate)
                end_all(w, l);
        }
    }
}

/* What the library has to leave to the device, which may still write to it: probes of regions that nobody
   ended, and of queries that were never delivered or that the driver refused to reset; with a loader that
   cannot tell immediate lists, also those of regions that may be still to run. */
static int may_leave_probes(const sequence *s) {
    int may = s->injects || s->forgets || (s->closes_early && (s->never_delivered || !can_tell_immediate()));
    for (int i = 0; i < s->profiler_count; i++)
        may |= zt_get_info(s->measured[i].profiler).causes[ZT_LOST_NEVER_DELIVERED].count ||
               zt_get_info(s->measured[i].profiler).causes[ZT_LOST_OVERWRITTEN].count;
    for (uint32_t i = 0; i < s->record_count; i++) {
        const record *r = &s->records[i];
        may |= r->surplus || (!r->is_over && (!r->is_ended || (!r->may && !can_tell_immediate())));
    }
    return may;
}

static void close_profilers(sequence *s) {
    s->may_leak = may_leave_probes(s);
    for (int i = s->profiler_count - 1; i >= 0; i--)
        close_profiler(s->world, s->measured[i].profiler);
}

/* The sample function may begin regions until nothing is left to collect. */
static void settle(sequence *s) {
    uint32_t before = UINT32_MAX;
    for (int i = 0; i < 16 && before != s->left_in_sample; i++) {
        before = s->left_in_sample;
        zt_collect(s->measured[0].profiler, 0);
        finish_everything(s);
    }
    s->left_in_sample = 0;
}

static void release_all(sequence *s) {
    for (int i = 0; i < s->worker_count; i++)
        for (int k = 0; k < LISTS; k++)
            if (s->workers[i].lists[k].handle)
                release(&s->workers[i], s->workers[i].lists[k].handle);
    for (int i = 0; i < s->profiler_count; i++)
        check_counts(s, s->measured[i].profiler);
}

static void end_sequence(sequence *s) {
    for (uint32_t i = 0; i < INJECTED; i++)
        inject(injected[i], 0, ZE_RESULT_SUCCESS);
    if (s->closes_early) {
        for (int i = 0; i < CHANNELS; i++)
            open_gate(s, i);
        if (s->plain_executions) /* the library cannot wait for what it did not see */
            finish_everything(s);
        close_profilers(s);
        end_on_immediate(s, 1);
        finish_everything(s);
    } else {
        end_on_immediate(s, 0);
        finish_everything(s);
        if (s->in_sample.handle)
            settle(s);
        for (int i = 0; i < s->profiler_count; i++)
            check_profiler(s, i);
        if (chance(&s->random, 50))
            release_all(s);
        close_profilers(s);
        end_on_immediate(s, 1);
    }
    check_memory(s);
    destroy_lists(s);
}

static void report_failure(const sequence *s) {
    print_message("\nA sequence failed: %s\nTo run it again: ZT_SEED=%llu tests/run-tests.sh test_sequences\n"
                  "forgets %d, traced %d, never delivered %d, injects %d, closes early %d, bystander %d, "
                  "profilers %d\n",
                  s->failure, (unsigned long long)s->seed, s->forgets, s->is_traced, s->never_delivered,
                  s->injects, s->closes_early, s->has_bystander, s->profiler_count);
    for (int i = 0; i < s->worker_count; i++)
        fprintf(stderr, "thread %d:%s\n", i, s->workers[i].log);
}

/* Phases stay as long as the process, so they are made before its memory is counted. */
static void make_phases(void) {
    for (uint32_t i = 0; i < 4; i++) {
        zt_phase_begin(i / 2 ? "B" : "A");
        zt_phase_begin(i % 2 ? "B" : "A");
        zt_phase_end();
        zt_phase_end();
    }
}

static void reset_stage(void) {
    for (int i = 0; i < CHANNELS; i++)
        memset(on.memory[i], 0, (MOST_UNITS + 1) * LARGE);
}

/* Returns whether all was right. */
static int run_sequence(world *w, kind of, uint64_t seed) {
    sequence *s = &now_running;
    uint64_t live = gpu.live();
    int64_t heap = heap_bytes();
    gpu.reset();
    w->message_count = 0;
    reset_stage();
    choose(s, w, of, seed);
    alarm(HANG);
    open_in_time_or_late(s);
    prepare_list_of_samples(s);
    run_threads(s);
    end_sequence(s);
    alarm(0);
    check_findings(s);
    if (gpu.live() != live && !s->may_leak)
        complain(s, "%lld objects more than before", (long long)(gpu.live() - live));
    if (s->is_traced ? heap_bytes() - on.heap > OF_TRACERS : heap_bytes() != heap)
        complain(s, "the library keeps %lld bytes", (long long)(heap_bytes() - heap));
    pthread_mutex_destroy(&s->lock);
    if (s->failure[0])
        report_failure(s);
    return !s->failure[0];
}

/* What may be left to the device is checked by the ledger; to LeakSanitizer it would be a leak of the driver.
 */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void) {
    return "leak:sg_zetMetricQueryPoolCreate\nleak:sg_zetMetricQueryCreate\nleak:sg_zeEventPoolCreate\n"
           "leak:sg_zeEventCreate\nleak:softgpu/memory.c\nleak:zt__make_probes\n";
}

/* ==== the stage ========================================================================================== */

static void *allocate(world *w, size_t size) {
    ze_host_mem_alloc_desc_t desc = {ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC, NULL, 0};
    void *memory = NULL;
    ok(zeMemAllocHost(w->context, &desc, size, 64, &memory));
    return memory;
}

static void create_events(world *w) {
    ze_event_pool_desc_t pool = {ZE_STRUCTURE_TYPE_EVENT_POOL_DESC, NULL, ZE_EVENT_POOL_FLAG_HOST_VISIBLE,
                                 2 * CHANNELS};
    ok(zeEventPoolCreate(w->context, &pool, 1, &w->device, &on.events));
    for (uint32_t i = 0; i < 2 * CHANNELS; i++) {
        ze_event_desc_t desc = {ZE_STRUCTURE_TYPE_EVENT_DESC, NULL, i, ZE_EVENT_SCOPE_FLAG_HOST,
                                ZE_EVENT_SCOPE_FLAG_HOST};
        ok(zeEventCreate(on.events, &desc, i < CHANNELS ? &on.gates[i] : &on.done[i - CHANNELS]));
    }
}

static int open_stage(void **state) {
    open_leaky_world(state); /* see may_leave_probes: each sequence checks for itself what may be left */
    world *w = *state;
    ze_command_queue_desc_t queue = {
        ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC, NULL, 0, 0, 0, ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS,
        ZE_COMMAND_QUEUE_PRIORITY_NORMAL};
    create_events(w);
    for (int i = 0; i < WORKERS; i++)
        ok(zeCommandQueueCreate(w->context, w->device, &queue, &on.queues[i]));
    for (int i = 0; i < CHANNELS; i++) {
        create_list(w, &on.gate_lists[i]);
        ok(zeCommandListAppendWaitOnEvents(on.gate_lists[i], 1, &on.gates[i]));
        ok(zeCommandListClose(on.gate_lists[i]));
        on.memory[i] = allocate(w, (MOST_UNITS + 1) * LARGE);
    }
    for (int i = 0; i < SOURCES; i++) {
        on.sources[i] = allocate(w, (MOST_UNITS + 1) * LARGE);
        memset(on.sources[i], i, (MOST_UNITS + 1) * LARGE);
    }
    close_profiler(w, open_groups(w, "MemoryProfile")); /* what the library keeps once in a process */
    make_phases();
    on.heap = heap_bytes();
    signal(SIGALRM, end_at_once);
    signal(SIGABRT, end_at_once);
    return 0;
}

static int close_stage(void **state) {
    world *w = *state;
    for (int i = 0; i < CHANNELS; i++) {
        zeEventHostSignal(on.gates[i]);
        zeMemFree(w->context, on.memory[i]);
    }
    for (int i = 0; i < SOURCES; i++)
        zeMemFree(w->context, on.sources[i]);
    for (int i = 0; i < WORKERS; i++) {
        zeCommandQueueSynchronize(on.queues[i], A_WHILE);
        zeCommandQueueDestroy(on.queues[i]);
    }
    for (int i = 0; i < CHANNELS; i++) {
        zeCommandListDestroy(on.gate_lists[i]);
        zeEventDestroy(on.gates[i]);
        zeEventDestroy(on.done[i]);
    }
    zeEventPoolDestroy(on.events);
    return abandon_world(state);
}

/* ==== the tests ========================================================================================== */

/* Of each kind. */
#ifdef COVERAGE
enum { SEQUENCES = 600 };
#else
enum { SEQUENCES = INSTRUMENTED ? 60 : 200 };
#endif

/* The seed says which test it is of. */
static void run_sequences(void **state, kind of) {
    const char *only = getenv("ZT_SEED");
    const char *wanted = getenv("ZT_SEQUENCES");
    uint64_t seed = only ? strtoull(only, NULL, 10) : 0;
    uint64_t count = wanted ? strtoull(wanted, NULL, 10) / KINDS : only ? 1 : SEQUENCES;
    uint32_t failed = 0;
    if (only && !wanted && seed % KINDS != (uint64_t)of)
        skip();
    while (seed % KINDS != (uint64_t)of)
        seed++;
    for (uint64_t i = 0; i < count && failed < MOST_FAILURES; i++)
        failed += !run_sequence(*state, of, seed + i * KINDS);
    if (failed)
        fail_msg("%u sequences failed", failed);
}

static void test_one_thread(void **state) {
    run_sequences(state, ONE_THREAD);
}

static void test_several_threads(void **state) {
    run_sequences(state, SEVERAL_THREADS);
}

static void test_few_probes(void **state) {
    run_sequences(state, FEW_PROBES);
}

static void test_own_thread(void **state) {
    run_sequences(state, OWN_THREAD);
}

static void test_busy_sample_function(void **state) {
    run_sequences(state, BUSY_SAMPLE);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_one_thread, open_stage, close_stage),
        cmocka_unit_test_setup_teardown(test_several_threads, open_stage, close_stage),
        cmocka_unit_test_setup_teardown(test_few_probes, open_stage, close_stage),
        cmocka_unit_test_setup_teardown(test_own_thread, open_stage, close_stage),
        cmocka_unit_test_setup_teardown(test_busy_sample_function, open_stage, close_stage),
    };
    return cmocka_run_group_tests(tests, start_traced, NULL);
}
