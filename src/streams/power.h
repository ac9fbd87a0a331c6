/* Energy, clock, throttling and temperature, which a thread of the library's own reads by system management (zes...). */

#pragma once

#include "base/compiler.h"
#include "base/diagnostics.h"
#include "base/system.h"
#include "base/threads.h"
#include "regions/profiler.h"

enum { ZT__POWER_STEPS = 1024, ZT__POWER_SPANS = 1024 };

/* A moment at which the energy counter was seen to have changed, and the sums from the first step up to it. Without an
   energy counter, every reading is a step. */
typedef struct zt__power_step {
    uint64_t ns; /* host time */
    zt__power_sums sums;
    double celsius; /* NaN: not known */
} zt__power_step;

/* A phase that has ended, and whose energy is not known before the next step. */
typedef struct zt__power_span {
    zt__path *path;
    uint64_t begin_ns, end_ns; /* host time */
} zt__power_span;

typedef struct zt__power {
    zes_pwr_handle_t domain; /* NULL, as the next two: it cannot be read */
    char energy_file[96];    /* that is read in its place; "": none */
    zes_freq_handle_t clock;
    zes_temp_handle_t sensor;
    const char *domain_name;
    zt__message_text refusal; /* why something cannot be read; "": all can */

    zt__timed_mutex reader; /* the thread that holds it reads, and alone writes what follows up to `steps` */
    zt__thread thread;
    uint64_t opened_ns, read_ns; /* the first reading, or 0 if nothing can be read; and the last one */
    uint64_t counted;            /* energy counter at the last reading, in microjoules, */
    int is_counted;              /* if that could be read */
    int has_changed;             /* the counter has, ever */
    int is_step_of_energy;       /* the last step is a change of the counter */
    uint64_t shortest_step_ns;   /* between two changes; UINT64_MAX: not known */

    zt__power_step
        steps[ZT__POWER_STEPS]; /* the older, the fewer. profiler->mutex guards this and what follows */
    uint32_t step_count;
    zt__power_sums sums; /* up to the last reading */
    double max_celsius;
    zt__power_span spans[ZT__POWER_SPANS]; /* a ring */
    uint32_t first_span, span_count;
} zt__power;

/* Finds what can be read, and reads it for the first time. What cannot be read is reported, and no failure. Returns
   OUT_OF_HOST_MEMORY, or SUCCESS. */
ZT__PRIVATE ze_result_t zt__open_power(zt_profiler *profiler);

/* Starts the thread that reads. */
ZT__PRIVATE void zt__start_power(zt_profiler *profiler);

/* Stops the thread. Returns 0 if it hangs. */
ZT__PRIVATE int zt__stop_power(zt_profiler *profiler);

ZT__PRIVATE void zt__close_power(zt_profiler *profiler);

/* Reads, unless that was done within the last ten milliseconds. No mutex is held. */
ZT__PRIVATE void zt__update_power(zt_profiler *profiler);

/* The same, and then extrapolates the energy of phases that have ended since the last step. For reports. */
ZT__PRIVATE void zt__finish_power(zt_profiler *profiler);

/* Returns whether energy, clock and temperature are read. */
ZT__PRIVATE int zt__has_power(const zt_profiler *profiler);

/* Returns what was read since zt_open. */
ZT__PRIVATE zt_power_info zt__get_power_info(const zt_profiler *profiler);

/* Copies a step. Returns 0 if there are not so many. */
ZT__PRIVATE int zt__copy_power_step(zt_profiler *profiler, uint32_t index, zt__power_step *step);
