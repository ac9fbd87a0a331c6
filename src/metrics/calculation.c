/* From a query's raw data to the values of metrics. */

#include "metrics/calculation.h"

#include "base/compiler.h"
#include "base/numbers.h"
#include "base/platform.h"
#include "base/shared.h"
#include "metrics/driver.h"
#include "metrics/groups.h"

ZT__PRIVATE ze_result_t zt__calculate_reports(const zt__driver *driver, const zt__group *group,
                                              const uint8_t *raw, uint32_t count, zet_typed_value_t *values) {
    zt__process *process = zt__get_process();
    uint32_t i, set, room = group->tiles * group->metric_count;
    uint32_t wanted = count * group->metric_count, calculated = wanted;
    ze_result_t result = ZE_RESULT_SUCCESS;
    if (!process) {
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    }
    zt__lock(&process->mutex);
    if (group->tiles == 1) {
        result = zetMetricGroupCalculateMetricValues(group->handle,
                                                     ZET_METRIC_GROUP_CALCULATION_TYPE_METRIC_VALUES,
                                                     count * group->report_size, raw, &calculated, values);
        if (result == ZE_RESULT_SUCCESS && calculated != wanted) {
            result = ZE_RESULT_ERROR_INVALID_SIZE;
        }
        count = 0; /* none is left for the loop */
    }
    /* A report of a root device with tiles has a header and a set of values for each tile, so each report is
       calculated alone. */
    for (i = 0; i < count && result == ZE_RESULT_SUCCESS; i++, raw += group->report_size, values += room) {
        uint32_t counts[ZT__MAX_TILES] = {0}, sets = group->tiles, total = room;
        result = driver->zetMetricGroupCalculateMultipleMetricValuesExp(
            group->handle, ZET_METRIC_GROUP_CALCULATION_TYPE_METRIC_VALUES, group->report_size, raw, &sets,
            &total, counts, values);
        for (set = 0; set < sets && set < group->tiles; set++) {
            if (result == ZE_RESULT_SUCCESS && counts[set] != group->metric_count) {
                result = ZE_RESULT_ERROR_INVALID_SIZE;
            }
        }
        /* Tiles without work are the last, and have no set. zt__value_of makes NaN of this type. */
        for (set *= group->metric_count; set < room; set++) {
            values[set].type = ZET_VALUE_TYPE_FORCE_UINT32;
        }
    }
    zt__unlock(&process->mutex);
    return result;
}

ZT__PRIVATE int zt__read_integer(const zet_typed_value_t *values, uint32_t metric, uint64_t *integer) {
    double number;
    if (metric == UINT32_MAX) {
        return 0;
    }
    if (values[metric].type == ZET_VALUE_TYPE_UINT64) {
        *integer = values[metric].value.ui64;
        return 1;
    }
    number = zt__value_of(&values[metric]);
    if (zt__is_nan(number) || number < 0 || number >= 18446744073709551616.0) {
        return 0;
    }
    *integer = (uint64_t)number;
    return 1;
}
