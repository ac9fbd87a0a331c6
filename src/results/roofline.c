/* What a roofline needs, as program or driver state it: peaks of the device, operations of a region. */

#include "results/roofline.h"

#include "base/compiler.h"
#include "base/diagnostics.h"
#include "base/numbers.h"
#include "base/platform.h"
#include "base/shared.h"
#include "base/text.h"
#include "regions/names.h"
#include "regions/profiler.h"

ZT__PRIVATE zt__peaks zt__get_peaks(zt_profiler *profiler) {
    ze_device_memory_properties_t memories[2];
    ze_device_memory_ext_properties_t extended[2];
    uint32_t count = 2, i;
    ze_result_t result;
    zt__peaks peaks;
    zt__lock(&profiler->mutex);
    peaks = profiler->peaks;
    zt__unlock(&profiler->mutex);
    if (peaks.bytes > 0 || peaks.operations > 0 || !profiler->device || profiler->tile_count > 0 ||
        zt__is_device_lost(&profiler->diagnostics)) {
        return peaks;
    }
    memset(memories, 0, sizeof memories);
    memset(extended, 0, sizeof extended);
    for (i = 0; i < count; i++) {
        memories[i].stype = ZE_STRUCTURE_TYPE_DEVICE_MEMORY_PROPERTIES;
        memories[i].pNext = &extended[i];
        extended[i].stype = ZE_STRUCTURE_TYPE_DEVICE_MEMORY_EXT_PROPERTIES;
    }
    ZT__INTERNAL(result = zeDeviceGetMemoryProperties(profiler->device, &count, memories));
    if (result == ZE_RESULT_SUCCESS && count == 1 && extended[0].readBandwidth > 0 &&
        extended[0].bandwidthUnit == ZE_BANDWIDTH_UNIT_BYTES_PER_NANOSEC) {
        uint32_t read = extended[0].readBandwidth, write = extended[0].writeBandwidth;
        peaks.bytes = (read > write ? read : write) * 1e9;
        strcpy(peaks.source, "reported by the driver");
    }
    return peaks;
}

/* Checks a figure that the application gives. `what` names it. */
static ze_result_t zt__check_figure(zt_profiler *profiler, const char *call, const char *what,
                                    double figure) {
    if (zt__is_finite(figure) && figure >= 0) {
        return ZE_RESULT_SUCCESS;
    }
    return zt__report(&profiler->diagnostics, BAD_FIGURE, ZE_RESULT_ERROR_INVALID_ARGUMENT, call, what,
                      figure);
}

ZT_API ze_result_t zt_set_peaks(zt_profiler *profiler, double bytes_per_second, double operations_per_second,
                                const char *source) {
    ze_result_t result = ZE_RESULT_SUCCESS;
    if (!profiler) {
        return result;
    }
    result = zt__check_figure(profiler, "zt_set_peaks", "bytes_per_second", bytes_per_second);
    if (result == ZE_RESULT_SUCCESS) {
        result = zt__check_figure(profiler, "zt_set_peaks", "operations_per_second", operations_per_second);
    }
    if (result != ZE_RESULT_SUCCESS) {
        return result;
    }
    source = source ? source : "given by the program";
    zt__lock(&profiler->mutex);
    if (!profiler->peaks_are_overridden) {
        profiler->peaks.bytes = bytes_per_second;
        profiler->peaks.operations = operations_per_second;
        zt__copy_text(profiler->peaks.source, sizeof profiler->peaks.source, source, strlen(source));
    }
    zt__unlock(&profiler->mutex);
    return result;
}

ZT_API ze_result_t zt_set_operations(zt_profiler *profiler, const char *region, double operations) {
    zt__region_record *record;
    zt_cause cause;
    ze_result_t result;
    if (!profiler) {
        return ZE_RESULT_SUCCESS;
    }
    result = zt__check_figure(profiler, "zt_set_operations", "operations", operations);
    if (result != ZE_RESULT_SUCCESS) {
        return result;
    }
    zt__lock(&profiler->mutex);
    record = zt__find_or_add_region(profiler, zt__shown_name(region), &cause);
    if (record) {
        record->operations = operations;
    }
    zt__unlock(&profiler->mutex);
    if (!record && cause == ZT_DROPPED_TOO_MANY_NAMES) {
        result = zt__report(&profiler->diagnostics, TOO_MANY_NAMES, ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY,
                            "zt_set_operations", (unsigned)ZT__MAX_REGIONS);
    } else if (!record) {
        result = zt__report_no_memory(&profiler->diagnostics, "zt_set_operations", "the name of a region");
    }
    return result;
}
