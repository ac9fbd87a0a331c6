/* Instruction sampling: what module.c, calculate.c and streamers.c need of sampling.c. */
#ifndef SOFTGPU_SAMPLING_H
#define SOFTGPU_SAMPLING_H

#include "metrics.h"

#pragma GCC visibility push(hidden)

/* ---- for the engines ------------------------------------------------------------------------------------- */

/* Whether the engines are to let themselves be sampled: one load, where nobody samples. */
static inline bool sg_sampling_is_on(const sg_device *device) {
    return atomic_load_explicit(&device->root->samplers, memory_order_relaxed) > 0;
}

/* On an engine's thread, from here to sg_sampling_close() it can be sampled, while it is at work for a tile
 * (NULL: it is not). False: it cannot. May be called again. */
bool sg_sampling_open(void);
void sg_sampling_work_for(sg_device *tile);
void sg_sampling_close(void);

/* ---- for the streamers ----------------------------------------------------------------------------------- */

typedef struct sg_stall_report {
    uint8_t bytes[SG_STALL_REPORT_SIZE];
} sg_stall_report;

/* So many samples, up to 255, at an address; the class is the first bit of its count. */
sg_stall_report sg_stall_report_of(uintptr_t address, uint32_t class, uint32_t samples);

/* The tile that it is of. */
uint32_t sg_stall_report_tile(const sg_stall_report *report);

/* Reports before it are lost. */
void sg_stall_report_set_dropped(sg_stall_report *report);

/* Before the reports of each tile of a root device. */
typedef struct sg_stall_header {
    uint32_t magic, tile;
    uint64_t bytes;
} sg_stall_header;

sg_stall_header sg_stall_header_of(uint32_t tile, uint64_t bytes);

/* Samples the kernels of a device or sub-device; NULL: out of memory, or of signals. */
typedef struct sg_sampler sg_sampler;
sg_sampler *sg_sampler_create(sg_device *device, uint64_t period);
void sg_sampler_destroy(sg_sampler *sampler);

/* A moment of the period: asks each engine where it is, and returns how many have answered since the last. */
uint32_t sg_sampler_ask(sg_sampler *sampler, sg_stall_report reports[SG_ENGINES]);

/* ---- for the calculation --------------------------------------------------------------------------------- */

ze_result_t sg_stalls_calculate(const sg_metric_group *group, zet_metric_group_calculation_type_t type,
                                size_t size, const uint8_t *data, uint32_t *set_count, uint32_t *total_count,
                                uint32_t *counts, zet_typed_value_t *values);

#pragma GCC visibility pop

#endif
