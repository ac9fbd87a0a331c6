/* Why counters are not available. */

#include "metrics/availability.h"

#include "base/compiler.h"
#include "base/diagnostics.h"
#include "base/platform.h"
#include "base/shared.h"
#include "metrics/driver.h"

ZT__PRIVATE void zt__describe_holder(const zt__active_group *active, zt__counter_holder *holder) {
    snprintf(holder->text, sizeof holder->text, "group '%s' of %s of this process", active->name,
             active->is_streamed ? "a stream" : "a profiler");
}

ZT__PRIVATE int zt__share_counters(ze_device_handle_t a, ze_device_handle_t b) {
    return a == b || zt__is_sub_device(a, b) || zt__is_sub_device(b, a);
}

ZT__PRIVATE zt_availability zt__report_refusal(zt__diagnostics *diagnostics, ze_device_handle_t device,
                                               int is_streamed, ze_result_t result, const char *call,
                                               const zt__counter_holder *holder) {
    const char *name = zt_result_name(result);
    /* Without permission, drivers return different results from different calls. */
    int may_be_forbidden =
        result == ZE_RESULT_ERROR_INSUFFICIENT_PERMISSIONS ||
        (result == ZE_RESULT_ERROR_INVALID_ARGUMENT && strcmp(call, "zetMetricQueryPoolCreate") == 0) ||
        (result == ZE_RESULT_ERROR_UNKNOWN && strcmp(call, "zetMetricStreamerOpen") == 0);
    /* Where the system keeps whether it reserves counters for privileged users. */
    static const char *const paths[] = {"/proc/sys/dev/xe/observation_paranoid",
                                        "/proc/sys/dev/i915/perf_stream_paranoid"};
    char files[160];
    zt__counter_holder other;
    zt__process *process;
    uint32_t i, found = 0;
    int all_may = 1; /* the system reserves counters for nobody */
    if (zt__means_device_loss(result)) {
        zt__report_device_loss(diagnostics, result, call);
        return ZT_DEVICE_LOST;
    }
    if (result == ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY) {
        zt__report_no_memory(diagnostics, call, "metric groups");
        return ZT_NOT_SUPPORTED;
    }
    if (result == ZE_RESULT_ERROR_DEPENDENCY_UNAVAILABLE || result == ZE_RESULT_ERROR_UNINITIALIZED) {
        zt__report(diagnostics, METRICS_NOT_ENABLED, result, call, name);
        return ZT_NOT_ENABLED;
    }
    snprintf(files, sizeof files, "%s (xe) or %s (i915), whichever there is", paths[0], paths[1]);
    for (i = 0; i < ZT__COUNT_OF(paths) && may_be_forbidden; i++) {
        FILE *file = zt__open_file(paths[i], ZT__TO_READ);
        int value, is_number;
        if (!file) {
            continue;
        }
        is_number = fscanf(file, "%d", &value) == 1;
        fclose(file);
        if (!is_number) {
            snprintf(files, sizeof files, "%s", paths[i]);
        } else if (value != 0 || !found) {
            snprintf(files, sizeof files, "%s (now %d)", paths[i], value);
        }
        all_may &= is_number && value == 0;
        found++;
    }
    if (may_be_forbidden && !(found && all_may) && !zt__is_privileged()) {
        zt__report(diagnostics, NO_PERMISSION, result, call, name, files);
        return ZT_NO_PERMISSION;
    }
    /* With permission, the same results mean that another process uses the counters. */
    if (!may_be_forbidden && result != ZE_RESULT_ERROR_NOT_AVAILABLE &&
        result != ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE) {
        zt__report(diagnostics, METRICS_UNAVAILABLE, result, call, name);
        return ZT_NOT_SUPPORTED;
    }
    /* Some drivers do not allow regions and streams on one device at a time: a profiler may have been refused
       because of a stream of this process, or a stream because of a profiler. */
    snprintf(other.text, sizeof other.text, "another process, or a stream or query of this program's own");
    process = holder && holder->text[0] ? NULL : zt__get_process();
    if (process) {
        zt__lock(&process->mutex);
        for (i = 0; i < ZT__MAX_ACTIVE_GROUPS; i++) {
            const zt__active_group *active = &process->active_groups[i];
            if (active->users && active->is_streamed != is_streamed &&
                zt__share_counters(active->device, device)) {
                zt__describe_holder(active, &other);
            }
        }
        zt__unlock(&process->mutex);
    }
    zt__report(diagnostics, COUNTERS_IN_USE, result, call, name,
               holder && holder->text[0] ? holder->text : other.text);
    return ZT_IN_USE;
}
