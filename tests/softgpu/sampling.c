/* Instruction sampling: where the kernels of a device are, period by period, and what they wait for there.
 *
 * At each moment of its period a streamer of EuStallSampling sends a signal to each engine's thread that a
 * kernel runs on; the signal's handler notes the address of the instruction that it has interrupted. The
 * engine's thread alone takes the signal, and only while it runs kernels that somebody samples: it is a
 * real-time signal that nobody had a handler for. The application's threads and system calls notice nothing.
 * A kernel that runs already when the first streamer is opened is sampled from its next work-group on.
 *
 * Of the classes of a real device, a processor tells these without counters:
 *
 *   Active     none of the following
 *   SyncStall  the thread is in a system call, or spins: at an instruction that is for waiting (pause)
 *   OtherStall it was not running: half a period and more went by until it answered. Moments that went by
 *              before it did so count here too
 *
 * The others are 0. What would tell them is the instruction, but a processor is interrupted behind one that
 * takes long, and not at it; so a slow line's samples are at its end, or at the begin of the next. An address
 * outside of the kernel's own code, such as one in the mathematical library, is reported as it is; the
 * device's own code is not reported.
 *
 * An address in a report is that of 8 bytes: bits 3 to 31 of the instruction's. For a kernel with the base B
 * of zexKernelGetBaseAddress and the size of zeKernelGetBinaryExp, the offset is (address << 3) - B in 32
 * bits. Debug information (zetModuleGetDebugInfo) has addresses as linked, B being that of the symbol of the
 * kernel's function there: NAME's is sg_body_NAME, or sg_run_NAME where the compiler has inlined that. Its
 * value plus the offset is what addr2line -e and llvm-symbolizer -e take. */
#define _GNU_SOURCE /* syscall */
#include "sampling.h"
#include "signals.h"

#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* ---- reports -------------------------------------------------------------------------------------------
 *
 * As those of Intel's Xe2: 29 bits of the address, 8 bits for each count, and what follows in byte 48: the
 * sub-slice, which is the tile here, and flags. */

enum {
    IP_BITS = 29,
    COUNT_BITS = 8,
    OTHER_BIT = 37,
    SYNC_BIT = 85,
    ACTIVE_BIT = 101,
    END_BIT = 112, /* always 1 */
    SUB_SLICE_BYTE = 48,
    FLAGS_BYTE = 50,
    DROPPED_FLAG = 1 << 8,
    HEADER_MAGIC = 0x73736773
};

static uint64_t field_at(const sg_stall_report *report, uint32_t bit) {
    uint64_t word;
    memcpy(&word, report->bytes + bit / 8, sizeof word);
    return word >> bit % 8 & ((1u << (bit == 0 ? IP_BITS : COUNT_BITS)) - 1);
}

static void set_field(sg_stall_report *report, uint32_t bit, uint64_t value) {
    uint64_t word;
    memcpy(&word, report->bytes + bit / 8, sizeof word);
    word |= value << bit % 8;
    memcpy(report->bytes + bit / 8, &word, sizeof word);
}

static uint32_t half_word_at(const sg_stall_report *report, uint32_t byte) {
    return report->bytes[byte] | (uint32_t)report->bytes[byte + 1] << 8;
}

sg_stall_report sg_stall_report_of(uintptr_t address, uint32_t class, uint32_t samples) {
    sg_stall_report report = {{0}};
    set_field(&report, 0, address >> 3 & ((1u << IP_BITS) - 1));
    set_field(&report, class, samples);
    set_field(&report, END_BIT, 1);
    return report;
}

uint32_t sg_stall_report_tile(const sg_stall_report *report) {
    return half_word_at(report, SUB_SLICE_BYTE);
}

void sg_stall_report_set_dropped(sg_stall_report *report) {
    report->bytes[FLAGS_BYTE + 1] |= DROPPED_FLAG >> 8;
}

sg_stall_header sg_stall_header_of(uint32_t tile, uint64_t bytes) {
    return (sg_stall_header){HEADER_MAGIC, tile, bytes};
}

/* ---- samples -------------------------------------------------------------------------------------------
 *
 * A sampler asks an engine by leaving the address of a sample with it; whoever takes that away, the signal's
 * handler or the engine that no longer runs kernels, has the sample until it is ANSWERED or FREE again. */

typedef enum sg_sample_state { FREE, ASKED, ANSWERED } sg_sample_state;

struct sg_sample {
    _Atomic sg_sample_state state;
    uint64_t asked_at, patience; /* ns; what takes longer was no running thread's answer */
    sg_device *tile;
    uintptr_t address; /* 0: the device's own code, or unknown */
    uint32_t class;    /* the bit of its count */
    uint32_t missed;   /* moments since it was asked */
};

static struct sg_sample nobody_asks;    /* an engine that cannot be sampled */
static struct sg_sample being_answered; /* by the handler */

/* At or behind an instruction that is for waiting, or behind a system call. */
static bool is_waiting(uintptr_t address) {
    enum { PAGE = 4096 };
    const uint8_t *at = (const uint8_t *)address;
#if defined(__x86_64__) || defined(__i386__)
    static const uint8_t pause[] = {0xf3, 0x90};
    static const uint8_t calls[][2] = {{0x0f, 0x05}, {0x0f, 0x34}, {0xcd, 0x80}};
    if (!memcmp(at, pause, sizeof pause))
        return true;
    if (address % PAGE < sizeof pause)
        return false;
    bool is_behind = !memcmp(at - sizeof pause, pause, sizeof pause);
    for (size_t i = 0; i < sizeof calls / sizeof *calls; ++i)
        is_behind = is_behind || !memcmp(at - sizeof *calls, calls[i], sizeof *calls);
    return is_behind;
#elif defined(__aarch64__)
    const uint32_t yield = 0xd503203f, supervisor_call = 0xd4000001;
    uint32_t before = 0, now;
    memcpy(&now, at, sizeof now);
    if (address % PAGE >= sizeof before)
        memcpy(&before, at - sizeof before, sizeof before);
    return now == yield || before == yield || before == supervisor_call;
#else
    (void)at;
    return false;
#endif
}

static void take_sample(struct sg_sample *sample, const sg_engine_thread *engine, uintptr_t address) {
    sg_device *tile = atomic_load_explicit(&engine->works_for, memory_order_relaxed);
    bool is_own = !address || sg_is_own_code(address);
    bool is_late = sg_now() - sample->asked_at > sample->patience;
    sample->address = is_own ? 0 : address;
    sample->tile = tile ? tile : sample->tile;
    sample->class = !is_own && is_waiting(address) ? SYNC_BIT : is_late ? OTHER_BIT : ACTIVE_BIT;
    atomic_store_explicit(&sample->state, ANSWERED, memory_order_release);
}

static void answer(int number, siginfo_t *info, void *context) {
    (void)number;
    (void)info;
    sg_engine_thread *engine = sg_own_engine;
    if (!engine)
        return;
    struct sg_sample *sample = atomic_exchange(&engine->asked, &being_answered);
    bool is_asked = sample && sample != &nobody_asks;
    if (is_asked)
        take_sample(sample, engine, sg_interrupted_at(context));
    atomic_store(&engine->asked, is_asked ? NULL : sample);
}

static sg_signal moments = {.handler = answer, .lock = PTHREAD_MUTEX_INITIALIZER};

/* ---- engines ------------------------------------------------------------------------------------------- */

void sg_engine_prepare_sampling(sg_engine_thread *engine) {
    atomic_store(&engine->asked, &nobody_asks);
    atomic_store(&engine->works_for, NULL);
    engine->is_sampled = false;
    engine->number = 0;
}

bool sg_sampling_open(void) {
    sg_engine_thread *engine = sg_own_engine;
    if (!engine || engine->is_sampled || !sg_signal_hold(&moments))
        return engine && engine->is_sampled;
    engine->is_sampled = true;
    if (!engine->number)
        engine->number = (pid_t)syscall(SYS_gettid);
    sg_signal_let(&moments, SIG_UNBLOCK);
    atomic_store(&engine->asked, NULL);
    return true;
}

void sg_sampling_work_for(sg_device *tile) {
    atomic_store_explicit(&sg_own_engine->works_for, tile, memory_order_relaxed);
}

/* A signal that is still on its way finds nothing to answer. */
void sg_sampling_close(void) {
    sg_engine_thread *engine = sg_own_engine;
    sg_signal_let(&moments, SIG_BLOCK);
    struct sg_sample *sample = atomic_exchange(&engine->asked, &nobody_asks);
    if (sample)
        atomic_store(&sample->state, FREE);
    engine->is_sampled = false;
    sg_signal_release(&moments);
}

/* ---- samplers ------------------------------------------------------------------------------------------ */

struct sg_sampler {
    sg_device *device;
    pid_t process;
    uint64_t patience;
    struct sg_sample samples[SG_ENGINES];
};

sg_sampler *sg_sampler_create(sg_device *device, uint64_t period) {
    sg_sampler *sampler = calloc(1, sizeof *sampler);
    if (!sampler || !sg_signal_hold(&moments)) {
        free(sampler);
        return NULL;
    }
    sampler->device = device;
    sampler->process = getpid();
    sampler->patience = period / 2;
    atomic_fetch_add(&device->root->samplers, 1);
    return sampler;
}

/* A sample that an engine has taken is about to be given back. */
static void withdraw(sg_engine_thread *engine, struct sg_sample *sample) {
    struct sg_sample *expected = sample;
    if (atomic_load(&sample->state) != ASKED)
        return;
    if (!atomic_compare_exchange_strong(&engine->asked, &expected, NULL))
        while (atomic_load(&sample->state) == ASKED)
            sched_yield();
}

/* In a forked child, no engine has its samples, and nobody holds the signal. */
void sg_sampler_destroy(sg_sampler *sampler) {
    sg_root *root = sampler->device->root;
    bool is_ours = sampler->process == getpid();
    atomic_fetch_sub(&root->samplers, 1);
    for (uint32_t i = 0; is_ours && i < atomic_load(&root->engine_count); ++i)
        withdraw(&root->engines[i], &sampler->samples[i]);
    if (is_ours)
        sg_signal_release(&moments);
    free(sampler);
}

static bool concerns(const sg_sampler *sampler, const sg_device *tile) {
    return tile && (tile == sampler->device || tile->parent == sampler->device);
}

static bool make_report(const sg_sampler *sampler, const struct sg_sample *sample, sg_stall_report *report) {
    enum { MOST = (1 << COUNT_BITS) - 1 };
    uint32_t missed = sample->missed < MOST ? sample->missed : MOST - 1;
    if (!sample->address || !concerns(sampler, sample->tile))
        return false;
    *report = sg_stall_report_of(sample->address, OTHER_BIT, missed + (sample->class == OTHER_BIT));
    if (sample->class != OTHER_BIT)
        set_field(report, sample->class, 1);
    if (!sampler->device->parent && sample->tile->parent)
        report->bytes[SUB_SLICE_BYTE] = (uint8_t)sample->tile->index;
    return true;
}

static void ask(const sg_sampler *sampler, sg_engine_thread *engine, struct sg_sample *sample) {
    struct sg_sample *nobody = NULL;
    sg_device *tile = atomic_load_explicit(&engine->works_for, memory_order_relaxed);
    if (!concerns(sampler, tile))
        return;
    sample->tile = tile;
    sample->missed = 0;
    sample->patience = sampler->patience;
    sample->asked_at = sg_now();
    atomic_store(&sample->state, ASKED);
    if (!atomic_compare_exchange_strong(&engine->asked, &nobody, sample)) {
        atomic_store(&sample->state, FREE);
    } else if (!sg_signal_send(&moments, engine->number)) {
        struct sg_sample *own = sample;
        if (atomic_compare_exchange_strong(&engine->asked, &own, NULL))
            atomic_store(&sample->state, FREE);
    }
}

uint32_t sg_sampler_ask(sg_sampler *sampler, sg_stall_report reports[SG_ENGINES]) {
    sg_root *root = sampler->device->root;
    uint32_t count = 0;
    for (uint32_t i = 0; i < atomic_load(&root->engine_count); ++i) {
        struct sg_sample *sample = &sampler->samples[i];
        sg_sample_state state = atomic_load_explicit(&sample->state, memory_order_acquire);
        if (state == ASKED) {
            sample->missed++;
            continue;
        }
        if (state == ANSWERED)
            count += make_report(sampler, sample, &reports[count]);
        ask(sampler, &root->engines[i], sample);
    }
    return count;
}

/* ---- calculation --------------------------------------------------------------------------------------- */

/* The sums of an address. */
typedef struct row {
    uint64_t of[SG_MAX_STALL_METRICS];
} row;

static int by_address(const void *a, const void *b) {
    const row *one = a, *other = b;
    return (one->of[0] > other->of[0]) - (one->of[0] < other->of[0]);
}

/* Adds up what has the same address. Returns how many rows there are. */
static size_t merge_rows(row *rows, size_t count, uint32_t metrics) {
    size_t merged = 0;
    qsort(rows, count, sizeof *rows, by_address);
    for (size_t i = 0; i < count; ++i) {
        if (i == 0 || rows[i].of[0] != rows[merged - 1].of[0]) {
            rows[merged++] = rows[i];
            continue;
        }
        for (uint32_t k = 1; k < metrics; ++k)
            rows[merged - 1].of[k] += rows[i].of[k];
    }
    return merged;
}

/* The next reports in data of a root device with tiles, or all the others. */
static bool next_part(bool has_headers, const uint8_t **data, size_t *size, uint32_t *tile, size_t *bytes) {
    sg_stall_header header = {0};
    *tile = 0;
    *bytes = *size;
    if (!has_headers)
        return *size % SG_STALL_REPORT_SIZE == 0;
    if (*size < sizeof header)
        return false;
    memcpy(&header, *data, sizeof header);
    *data += sizeof header;
    *size -= sizeof header;
    *tile = header.tile;
    *bytes = header.bytes;
    return header.magic == HEADER_MAGIC && header.bytes <= *size &&
           header.bytes % SG_STALL_REPORT_SIZE == 0 && header.tile < SG_MAX_TILES;
}

static bool has_headers(size_t size, const uint8_t *data) {
    sg_stall_header header = {0};
    memcpy(&header, data, size < sizeof header ? size : sizeof header);
    return header.magic == HEADER_MAGIC;
}

/* How many reports there are of each tile, and of how many tiles. */
static ze_result_t count_reports(size_t size, const uint8_t *data, size_t counts[SG_MAX_TILES],
                                 uint32_t *tiles) {
    bool headers = has_headers(size, data);
    if (size == 0)
        return ZE_RESULT_ERROR_INVALID_SIZE;
    for (*tiles = 1; size > 0;) {
        uint32_t tile;
        size_t bytes;
        if (!next_part(headers, &data, &size, &tile, &bytes))
            return ZE_RESULT_ERROR_INVALID_SIZE;
        counts[tile] += bytes / SG_STALL_REPORT_SIZE;
        *tiles = tile + 1 > *tiles ? tile + 1 : *tiles;
        data += bytes;
        size -= bytes;
    }
    return ZE_RESULT_SUCCESS;
}

/* The rows of a tile's reports; false: there are some that are none. */
static bool read_rows(const sg_metric_group *group, size_t size, const uint8_t *data, uint32_t wanted_tile,
                      row *rows, bool *dropped) {
    bool headers = has_headers(size, data), sound = true;
    while (size > 0) {
        uint32_t tile;
        size_t bytes;
        next_part(headers, &data, &size, &tile, &bytes);
        for (size_t at = 0; at < bytes && tile == wanted_tile; at += SG_STALL_REPORT_SIZE, ++rows) {
            sg_stall_report report;
            memcpy(&report, data + at, sizeof report);
            for (uint32_t i = 0; i < group->metric_count; ++i)
                rows->of[i] = field_at(&report, group->formulas[i]->of);
            sound = sound && field_at(&report, END_BIT) & 1;
            *dropped |= (half_word_at(&report, FLAGS_BYTE) & DROPPED_FLAG) != 0;
        }
        data += bytes;
        size -= bytes;
    }
    return sound;
}

/* A tile's values, as many as there is room for. */
static ze_result_t put_tile(const sg_metric_group *group, size_t size, const uint8_t *data, uint32_t tile,
                            size_t reports, uint32_t *room, zet_typed_value_t **values, bool *dropped) {
    row *rows = calloc(reports + 1, sizeof *rows);
    if (!rows)
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    bool sound = read_rows(group, size, data, tile, rows, dropped);
    size_t count = sound ? merge_rows(rows, reports, group->metric_count) : 0;
    for (size_t i = 0; i<count * group->metric_count && * room> 0; ++i, --*room)
        *(*values)++ = (zet_typed_value_t){
            .type = ZET_VALUE_TYPE_UINT64,
            .value.ui64 = rows[i / group->metric_count].of[i % group->metric_count],
        };
    free(rows);
    return sound ? ZE_RESULT_SUCCESS : ZE_RESULT_ERROR_INVALID_ARGUMENT;
}

ze_result_t sg_stalls_calculate(const sg_metric_group *group, zet_metric_group_calculation_type_t type,
                                size_t size, const uint8_t *data, uint32_t *set_count, uint32_t *total_count,
                                uint32_t *counts, zet_typed_value_t *values) {
    size_t reports[SG_MAX_TILES] = {0};
    uint32_t tiles = 0, sum = 0;
    bool dropped = false;
    if (type != ZET_METRIC_GROUP_CALCULATION_TYPE_METRIC_VALUES)
        return ZE_RESULT_ERROR_UNSUPPORTED_FEATURE;
    ze_result_t result = count_reports(size, data, reports, &tiles);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    for (uint32_t i = 0; i < tiles; ++i)
        sum += (uint32_t)reports[i] * group->metric_count;
    if (*set_count == 0 || *total_count == 0) {
        *set_count = tiles;
        *total_count = sum;
        return ZE_RESULT_SUCCESS;
    }
    SG_NEED_POINTER(values);
    uint32_t room = *total_count, sets = sg_clamp_count(set_count, tiles);
    for (uint32_t i = 0; i < sets && result == ZE_RESULT_SUCCESS; ++i) {
        uint32_t before = room;
        result = put_tile(group, size, data, i, reports[i], &room, &values, &dropped);
        if (counts)
            counts[i] = before - room;
    }
    *total_count -= room;
    return result == ZE_RESULT_SUCCESS && dropped ? ZE_RESULT_WARNING_DROPPED_DATA : result;
}
