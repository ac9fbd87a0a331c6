/* How much of the device a kernel can fill, and advice about it. */

#include "modules/occupancy.h"

#include "base/compiler.h"
#include "base/numbers.h"
#include "base/writer.h"
#include "modules/kernel_facts.h"
#include "results/advice.h"

#ifdef ZETOOLS_TRACER

/* ---- occupancy ------------------------------------------------------------------------------------------- */

ZT__PRIVATE zt__filling zt__fill_subslice(const zt__device_limits *limits, const zt__kernel_facts *facts,
                                          const uint32_t group_size[3]) {
    zt__filling filling;
    uint32_t threads_per_eu, groups;
    uint64_t items = (uint64_t)group_size[0] * group_size[1];
    memset(&filling, 0, sizeof filling);
    filling.groups = UINT32_MAX;
    items = items > UINT32_MAX ? items : items * group_size[2];
    filling.items = items > UINT32_MAX ? UINT32_MAX : (uint32_t)items;
    filling.slots = limits->threads_per_eu * limits->eus_per_subslice;
    if (facts->simd_width != UINT32_MAX && facts->simd_width > 0) {
        filling.threads = filling.items / facts->simd_width + (filling.items % facts->simd_width != 0);
    }
    if (facts->threads_per_eu != UINT32_MAX && facts->threads_per_eu > 0) {
        threads_per_eu = facts->threads_per_eu;
    } else if (facts->registers != UINT32_MAX && facts->registers > 0) {
        threads_per_eu = ZT__REGISTER_FILE / facts->registers;
    } else {
        return filling;
    }
    if (!filling.threads || !filling.slots || facts->barriers == UINT32_MAX ||
        facts->slm_bytes == UINT32_MAX || (facts->slm_bytes && !limits->slm_bytes)) {
        return filling;
    }
    filling.registers_limit = threads_per_eu < limits->threads_per_eu;
    threads_per_eu = filling.registers_limit ? threads_per_eu : limits->threads_per_eu;
    groups = threads_per_eu * limits->eus_per_subslice / filling.threads;
    if (facts->slm_bytes && limits->slm_bytes / facts->slm_bytes < groups) {
        groups = limits->slm_bytes / facts->slm_bytes;
        filling.slm_limits = 1;
    }
    if (facts->barriers && ZT__BARRIERS_OF_SUBSLICE / facts->barriers < groups) {
        groups = ZT__BARRIERS_OF_SUBSLICE / facts->barriers;
        filling.barriers_limit = 1;
        filling.slm_limits = 0;
    }
    filling.groups = groups ? groups : UINT32_MAX; /* it ran, so the formula is wrong for it */
    return filling;
}

/* ---- advice ---------------------------------------------------------------------------------------------- */

typedef enum zt__kernel_figure {
    ZT__KERNEL_NOTHING,
    ZT__KERNEL_SPILL, /* bytes */
    ZT__KERNEL_PRIVATE,
    ZT__KERNEL_SLM,
    ZT__KERNEL_EMPTY,           /* percent of the threads of a subslice */
    ZT__KERNEL_IDLE_SIMD_LANES, /* percent of the SIMD lanes of the threads of a work-group */
    ZT__KERNEL_ITEMS,           /* of a work-group. Numbers from here on */
    ZT__KERNEL_SIMD,
    ZT__KERNEL_REGISTERS,
    ZT__KERNEL_GROUPS,         /* of a launch */
    ZT__KERNEL_FITTING_GROUPS, /* of a subslice */
    ZT__KERNEL_CAPACITY,       /* groups of the device */
    ZT__KERNEL_WAVES,
    ZT__KERNEL_SLM_LIMITS, /* 1 or 0 */
    ZT__KERNEL_BARRIERS_LIMIT,
    ZT__KERNEL_REGISTERS_LIMIT,
    ZT__KERNEL_FIGURES
} zt__kernel_figure;

/* A sentence about a kernel, which applies if all conditions hold: texts with figures between them. */
typedef struct zt__kernel_rule {
    struct {
        zt__kernel_figure figure;
        zt__relation relation;
        double threshold;
    } conditions[2];
    struct {
        const char *text;
        zt__kernel_figure figure; /* after the text */
    } parts[4];
} zt__kernel_rule;

/* All rules that hold apply, but of those with the same first condition only the first. A figure that is not
   known fulfils no condition. Sources of the thresholds and remedies, beside those of zt__rules in
   results/advice.c:
   [oneAPI] Intel, "oneAPI GPU Optimization Guide": Registerization and Avoiding Register Spills; Small
            Register Mode vs. Large Register Mode; Thread Mapping and GPU Occupancy; Considerations for
            Selecting Work-Group Size. It advises against any spill. */
static const zt__kernel_rule zt__kernel_rules[] = {
    /* [oneAPI] */
    {{{ZT__KERNEL_SPILL, ZT__AT_LEAST, 1}, {ZT__KERNEL_REGISTERS, ZT__AT_LEAST, 256}},
     {{"It spills ", ZT__KERNEL_SPILL},
      {" a thread in spite of the large register file: split it, or keep fewer values at a time.",
       ZT__KERNEL_NOTHING}}},
    {{{ZT__KERNEL_SPILL, ZT__AT_LEAST, 1}, {ZT__KERNEL_NOTHING, ZT__NO_CONDITION, 0}},
     {{"It spills ", ZT__KERNEL_SPILL},
      {" a thread: use the large register file (-ze-opt-large-register-file), or split the kernel.",
       ZT__KERNEL_NOTHING}}},
    /* [own]: an array, and not a few values */
    {{{ZT__KERNEL_PRIVATE, ZT__AT_LEAST, 256}, {ZT__KERNEL_NOTHING, ZT__NO_CONDITION, 0}},
     {{"It keeps ", ZT__KERNEL_PRIVATE},
      {" a thread in memory: arrays with indices that the compiler does not know are not in registers.",
       ZT__KERNEL_NOTHING}}},
    /* [own]: an empty SIMD lane is lost for as long as its thread runs */
    {{{ZT__KERNEL_IDLE_SIMD_LANES, ZT__AT_LEAST, 20}, {ZT__KERNEL_NOTHING, ZT__NO_CONDITION, 0}},
     {{"Work-groups of ", ZT__KERNEL_ITEMS},
      {" leave ", ZT__KERNEL_IDLE_SIMD_LANES},
      {" of the SIMD lanes of their threads empty: use a multiple of ", ZT__KERNEL_SIMD},
      {".", ZT__KERNEL_NOTHING}}},
    /* [Gen9], [oneAPI] */
    {{{ZT__KERNEL_EMPTY, ZT__AT_LEAST, 20}, {ZT__KERNEL_BARRIERS_LIMIT, ZT__AT_LEAST, 1}},
     {{"A subslice has barriers for ", ZT__KERNEL_FITTING_GROUPS},
      {" work-groups of ", ZT__KERNEL_ITEMS},
      {", which leave ", ZT__KERNEL_EMPTY},
      {" of its threads empty: use larger ones.", ZT__KERNEL_NOTHING}}},
    {{{ZT__KERNEL_EMPTY, ZT__AT_LEAST, 20}, {ZT__KERNEL_SLM_LIMITS, ZT__AT_LEAST, 1}},
     {{"Work-groups with ", ZT__KERNEL_SLM},
      {" of shared local memory leave ", ZT__KERNEL_EMPTY},
      {" of the threads of a subslice empty: use less of it, or larger work-groups.", ZT__KERNEL_NOTHING}}},
    {{{ZT__KERNEL_EMPTY, ZT__AT_LEAST, 20}, {ZT__KERNEL_REGISTERS_LIMIT, ZT__AT_LEAST, 1}},
     {{"Threads with ", ZT__KERNEL_REGISTERS},
      {" registers leave ", ZT__KERNEL_EMPTY},
      {" of the threads of a subslice empty: try the small register file, unless it spills then.",
       ZT__KERNEL_NOTHING}}},
    {{{ZT__KERNEL_EMPTY, ZT__AT_LEAST, 20}, {ZT__KERNEL_NOTHING, ZT__NO_CONDITION, 0}},
     {{"Work-groups of ", ZT__KERNEL_ITEMS},
      {" leave ", ZT__KERNEL_EMPTY},
      {" of the threads of a subslice empty: use a size of which more fit.", ZT__KERNEL_NOTHING}}},
    {{{ZT__KERNEL_WAVES, ZT__BELOW, 1}, {ZT__KERNEL_NOTHING, ZT__NO_CONDITION, 0}},
     {{"A launch has ", ZT__KERNEL_GROUPS},
      {" work-groups, and the device has room for ", ZT__KERNEL_CAPACITY},
      {" at a time: give a launch more work, or run launches beside each other.", ZT__KERNEL_NOTHING}}},
};

ZT__PRIVATE void zt__advise_kernel(const zt__device_limits *limits, const zt__kernel_facts *facts,
                                   const zt_kernel_shape *shape, char *text, size_t room) {
    const zt__filling filling = zt__fill_subslice(limits, facts, shape->group_size);
    const struct {
        zt__kernel_figure figure;
        uint32_t value;
    } known[] = {{ZT__KERNEL_SPILL, facts->spill_bytes},
                 {ZT__KERNEL_PRIVATE, facts->private_bytes},
                 {ZT__KERNEL_SLM, facts->slm_bytes},
                 {ZT__KERNEL_SIMD, facts->simd_width},
                 {ZT__KERNEL_REGISTERS, facts->registers},
                 {ZT__KERNEL_FITTING_GROUPS, filling.groups},
                 {ZT__KERNEL_ITEMS, filling.items ? filling.items : UINT32_MAX}};
    double figures[ZT__KERNEL_FIGURES];
    zt__kernel_figure reported = ZT__KERNEL_NOTHING;
    uint32_t i, j;
    for (i = 0; i < ZT__KERNEL_FIGURES; i++) {
        figures[i] = zt__nan(); /* not known */
    }
    for (i = 0; i < ZT__COUNT_OF(known); i++) {
        figures[known[i].figure] = known[i].value == UINT32_MAX ? zt__nan() : (double)known[i].value;
    }
    if (filling.threads) {
        figures[ZT__KERNEL_IDLE_SIMD_LANES] =
            100 - 100.0 * filling.items / ((double)filling.threads * facts->simd_width);
    }
    figures[ZT__KERNEL_EMPTY] = 100 - 100 * shape->occupancy;
    figures[ZT__KERNEL_WAVES] = shape->waves;
    if (!zt__is_nan(shape->waves)) {
        figures[ZT__KERNEL_CAPACITY] = (double)filling.groups * limits->subslices;
        figures[ZT__KERNEL_GROUPS] = shape->waves * figures[ZT__KERNEL_CAPACITY];
    }
    figures[ZT__KERNEL_SLM_LIMITS] = filling.slm_limits;
    figures[ZT__KERNEL_BARRIERS_LIMIT] = filling.barriers_limit;
    figures[ZT__KERNEL_REGISTERS_LIMIT] = filling.registers_limit;
    text[0] = 0;
    for (i = 0; i < ZT__COUNT_OF(zt__kernel_rules); i++) {
        const zt__kernel_rule *rule = &zt__kernel_rules[i];
        int holds = rule->conditions[0].figure != reported;
        for (j = 0; j < ZT__COUNT_OF(rule->conditions); j++) {
            double figure = figures[rule->conditions[j].figure], threshold = rule->conditions[j].threshold;
            zt__relation relation = rule->conditions[j].relation;
            if (relation != ZT__NO_CONDITION) {
                holds = holds && !zt__is_nan(figure) &&
                        (relation == ZT__BELOW ? figure < threshold : figure >= threshold);
            }
        }
        if (!holds) {
            continue;
        }
        reported = rule->conditions[0].figure;
        zt__append(text, room, "%s", text[0] ? " " : "");
        for (j = 0; j < ZT__COUNT_OF(rule->parts) && rule->parts[j].text; j++) {
            zt__kernel_figure figure = rule->parts[j].figure;
            zt__append(text, room, "%s", rule->parts[j].text);
            if (figure >= ZT__KERNEL_ITEMS) {
                zt__append(text, room, "%.0f", figures[figure]);
            } else if (figure >= ZT__KERNEL_EMPTY) {
                zt__append(text, room, "%.0f%%", figures[figure]);
            } else if (figure != ZT__KERNEL_NOTHING && figures[figure] < 1024) {
                zt__append(text, room, "%.0f bytes", figures[figure]);
            } else if (figure != ZT__KERNEL_NOTHING) {
                zt__append_number(text, room, figures[figure] / 1024);
                zt__append(text, room, " KiB");
            }
        }
    }
}

#endif
