/* Samples in bursts: which of them count, and their median with its interval. */

#include "bench/series.h"

#include "base/compiler.h"
#include "base/numbers.h"
#include "metrics/statistics.h"

enum { ZT__FIFTHS = 5 };

ZT__PRIVATE void zt__add_to_series(zt__series *series, double sample, double mhz, int is_throttled) {
    uint32_t i = series->count++;
    series->samples[i] = sample;
    series->mhz[i] = mhz;
    series->bursts[i] = series->burst_count;
    series->is_throttled[i] = is_throttled != 0;
}

ZT__PRIVATE void zt__find_changed_samples(zt__series *series, double max_change) {
    uint32_t i, known = 0;
    for (i = 0; i < series->count; i++) {
        if (!zt__is_nan(series->mhz[i])) {
            series->sorted[known++] = series->mhz[i];
        }
    }
    series->frequency_mhz = zt__quantile(series->sorted, known, 0.5);
    for (i = 0; i < series->count; i++) {
        double change = fabs(series->mhz[i] / series->frequency_mhz - 1);
        series->is_changed[i] = series->is_throttled[i] || (!zt__is_nan(change) && change > max_change);
    }
    zt__set_changed_aside(series);
}

ZT__PRIVATE void zt__set_changed_aside(zt__series *series) {
    uint32_t i;
    series->changed = 0;
    for (i = 0; i < series->count; i++) {
        series->changed += series->is_changed[i];
    }
    series->set_aside = series->changed * 2 < series->count ? series->changed : 0;
}

ZT__PRIVATE int zt__is_set_aside(const zt__series *series, uint32_t i) {
    return series->is_changed[i] && series->set_aside > 0;
}

/* For qsort. */
static int zt__compare_samples(const void *a, const void *b) {
    double one = *(const double *)a, other = *(const double *)b;
    return one < other ? -1 : one > other;
}

/* Collects the samples that count, from `*next` to the end of its burst. Returns how many there are. */
static uint32_t zt__collect_burst(const zt__series *series, uint32_t *next, double *samples) {
    uint32_t burst = series->bursts[*next], count = 0;
    for (; *next < series->count && series->bursts[*next] == burst; ++*next) {
        if (!zt__is_set_aside(series, *next)) {
            samples[count++] = series->samples[*next];
        }
    }
    return count;
}

/* Returns the variance of the number of samples below the median, estimated from groups of bursts that follow each
   other. `excesses` has how many more than half of each burst are below it. Because the groups are few, the estimate
   is increased as Student's quantiles are above the normal ones: by the first terms of their expansion, for an interval
   of 97.5%. */
static double zt__variance_of_groups(const double *excesses, uint32_t bursts, uint32_t groups) {
    double variance = 0, freedom = groups - 1, few = 1;
    uint32_t group, i = 0;
    for (group = 1; group <= groups; group++) {
        double excess = 0;
        for (; i < bursts * group / groups; i++) {
            excess += excesses[i];
        }
        variance += excess * excess;
    }
    if (groups > 1) {
        few += (1.5 + 2.2 / freedom) / freedom;
    }
    return variance * few * few;
}

/* Widens the interval to contain the medians of fifths of all bursts. */
static void zt__contain_fifths(zt__series *series) {
    double samples[ZT_BENCH_SAMPLES];
    uint32_t next = 0, fifth, bursts = 0;
    for (fifth = 1; fifth <= ZT__FIFTHS && series->measured_bursts >= ZT__FIFTHS; fifth++) {
        uint32_t count = 0;
        double median;
        while (bursts < series->measured_bursts * fifth / ZT__FIFTHS) {
            uint32_t taken = zt__collect_burst(series, &next, samples + count);
            count += taken;
            bursts += taken > 0;
        }
        median = zt__quantile(samples, count, 0.5);
        series->low = median < series->low ? median : series->low;
        series->high = median > series->high ? median : series->high;
    }
}

/* Returns how many independent samples would show the median as precisely as the bursts do. */
static double zt__count_independent(const zt__series *series) {
    const double most_of_burst = series->is_of_pairs ? ZT_BENCH_SAMPLES : 4;
    double samples[ZT_BENCH_SAMPLES], excesses[ZT_BENCH_SAMPLES];
    double count = series->counting, variance, of_groups, least = 0, most = 0;
    uint32_t next = 0, bursts = 0, i, taken;
    memset(excesses, 0, sizeof excesses);
    while (next < series->count) {
        taken = zt__collect_burst(series, &next, samples);
        for (i = 0; i < taken; i++) {
            excesses[bursts] += samples[i] < series->median ? 0.5 : samples[i] > series->median ? -0.5 : 0;
        }
        bursts += taken > 0;
        least += taken * (taken > most_of_burst ? taken / most_of_burst : 1) / 4;
        most += (double)taken * taken / 4;
    }
    variance = zt__variance_of_groups(excesses, bursts, bursts);
    variance = variance < most ? variance : most; /* as if all samples of a burst were alike */
    if (bursts >= ZT__FIFTHS && !series->is_of_pairs) {
        of_groups = zt__variance_of_groups(excesses, bursts, ZT__FIFTHS);
        variance = variance > of_groups ? variance : of_groups;
    }
    return count * count / (4 * (variance > least ? variance : least));
}

/* Returns the rank, from 1, of the lower end of the interval among so many independent samples. 0: there is none. */
static uint32_t zt__rank_of_low(uint32_t count) {
    const double tail = 0.0125; /* of the interval of 97.5%, on each side */
    double term = 1, below = 0;
    uint32_t i, rank = 0;
    for (i = 0; i < count; i++) {
        term /= 2; /* 2^-1000 at the least, which a double still holds */
    }
    /* `term` is the chance that i samples lie below the true median, and `below` that of at most i. */
    for (i = 0; i < count / 2; i++) {
        below += term;
        if (below > tail) {
            break;
        }
        rank = i + 1;
        term = term * (count - i) / (i + 1);
    }
    return rank;
}

static double zt__share_of_median(const zt__series *series, double width) {
    return series->median > 0 ? width / series->median : zt__nan();
}

ZT__PRIVATE void zt__evaluate_series(zt__series *series) {
    double scratch[ZT_BENCH_SAMPLES], least = 0, greatest = 0;
    uint32_t next, taken, independent, rank, end = 0;
    series->counting = series->measured_bursts = 0;
    for (next = 0; next < series->count;) {
        taken = zt__collect_burst(series, &next, series->sorted + series->counting);
        if (taken > 0) {
            double median;
            memcpy(scratch, series->sorted + series->counting, taken * sizeof *scratch);
            median = zt__quantile(scratch, taken, 0.5);
            least = series->measured_bursts == 0 || median < least ? median : least;
            greatest = series->measured_bursts == 0 || median > greatest ? median : greatest;
            series->counting += taken;
            series->measured_bursts++;
        }
    }
    qsort(series->sorted, series->counting, sizeof *series->sorted, zt__compare_samples);
    series->median = zt__quantile(series->sorted, series->counting, 0.5);
    series->burst_spread = zt__share_of_median(series, greatest - least);

    /* Each independent sample stands for count / independent neighbours of the sorted samples: the end of the interval
       is in the middle of those of its rank. */
    independent = (uint32_t)(zt__count_independent(series) + 1e-6);
    rank = zt__rank_of_low(independent);
    if (rank > 0) {
        end = (uint32_t)((rank - 0.5) * series->counting / independent - 0.5);
    }
    series->low = series->sorted[end];
    series->high = series->sorted[series->counting - 1 - end];
    if (!series->is_of_pairs) {
        zt__contain_fifths(series);
    }
    series->precision = zt__share_of_median(series, (series->high - series->low) / 2);
}
