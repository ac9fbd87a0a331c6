/* Samples in bursts: which of them count, and their median with its interval. */

#pragma once

#include "base/compiler.h"
#include "base/system.h"

typedef struct zt__series {
    uint32_t count;
    uint32_t burst_count;              /* bursts that are over */
    double samples[ZT_BENCH_SAMPLES];  /* in the order in which they were taken */
    double mhz[ZT_BENCH_SAMPLES];      /* the device's frequency after each; NaN: unknown */
    uint32_t bursts[ZT_BENCH_SAMPLES]; /* in which burst each was taken, from 0 */
    unsigned char is_throttled[ZT_BENCH_SAMPLES];
    int is_of_pairs; /* ratios: what lasts longer than two runs disturbs both */
    /* Figures of the samples so far: */
    unsigned char is_changed[ZT_BENCH_SAMPLES];
    uint32_t changed, set_aside;
    double sorted[ZT_BENCH_SAMPLES]; /* the samples that count, in ascending order */
    uint32_t counting;               /* how many there are */
    uint32_t measured_bursts;        /* bursts that have some */
    double frequency_mhz;            /* median */
    double median, low, high;
    double precision;    /* half the interval as a share of the median; NaN if the median is 0 */
    double burst_spread; /* the same of what is between the least and the greatest median of a burst */
} zt__series;

/* The default of zt_bench_config.max_change. */
#define ZT__MAX_FREQUENCY_CHANGE 0.02

/* Adds a sample of the last burst, which is the first one at the beginning. There must be room. */
ZT__PRIVATE void zt__add_to_series(zt__series *series, double sample, double mhz, int is_throttled);

/* Finds the changed samples: throttled ones, and those whose frequency differs from the median by more than the
   share `max_change`. They are set aside, unless they are at least half. */
ZT__PRIVATE void zt__find_changed_samples(zt__series *series, double max_change);

/* Sets changed samples aside, unless they are at least half. */
ZT__PRIVATE void zt__set_changed_aside(zt__series *series);

ZT__PRIVATE int zt__is_set_aside(const zt__series *series, uint32_t sample);

/* Computes the figures of the samples that count: those that are not set aside.

   The interval of the median is that of the sign test: a sample lies on either side of the true median with
   equal chance, so the ranks of the interval's ends follow from the binomial distribution. The ends are chosen
   for 97.5%: stopping when the interval is narrow lowers its coverage a little, so that at least 95% remain.

   The test is of independent samples, but those of one burst resemble each other, and so do bursts if what
   disturbs them lasts long. How much they do shows in the numbers of samples below the median: where these differ
   between bursts, or between fifths of all bursts, by more than chance, n samples are worth fewer (the design
   effect of cluster samples; Kish, "Survey sampling", 1965). Of a burst in which all samples are alike, all are
   worth one. No burst is worth more than 4: ten bursts may miss what disturbs one in twenty. What lasts for a burst
   or longer cancels in ratios of pairs, so that for these neither that limit holds nor are fifths compared.

   The interval of samples contains the medians of the fifths, too. What makes these differ lasts as long as the
   benchmark, or longer: the next run may be in one of its states for all of its time. Of independent samples, the
   interval contains most of these medians already. */
ZT__PRIVATE void zt__evaluate_series(zt__series *series);
