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

/* Describes who uses counters that neither a profiler nor a stream of this process uses. Returns whether the system
   shows who it is. */
static int zt__describe_user(zt__counting_unit unit, zt__counter_holder *holder) {
    const char *unknown = "another process, or a stream or query of this program's own";
    zt__counter_user user = zt__find_counter_user(unit);
    if (user.process && user.process != (uint32_t)zt__get_process_id()) {
        snprintf(holder->text, sizeof holder->text, "process %u (%s), which has counters of a GPU open",
                 (unsigned)user.process, user.name);
    } else if (user.process) {
        snprintf(holder->text, sizeof holder->text, "a stream or query of this program's own");
    } else if (!user.is_shown) {
        snprintf(holder->text, sizeof holder->text, "%s: the system does not show which", unknown);
    } else if (user.hidden) {
        snprintf(holder->text, sizeof holder->text,
                 "%s. The system does not show which, because %u processes hide what they have open: as "
                 "root, look "
                 "for %s in the output of 'ls -l /proc/[0-9]*/fd'",
                 unknown, (unsigned)user.hidden,
                 unit == ZT__UNIT_OF_WORK ? "i915_perf or xe_oa" : "i915_eu_stall or xe_eu_stall");
    } else {
        snprintf(holder->text, sizeof holder->text,
                 "%s, but no process that is visible from here has them open", unknown);
    }
    return user.process != 0;
}

ZT__PRIVATE zt_availability zt__report_refusal(zt__diagnostics *diagnostics, ze_device_handle_t device,
                                               zt__counter_use use, ze_result_t result, const char *call,
                                               const zt__counter_holder *holder) {
    const char *name = zt_result_name(result), *remedy = zt__find_permission_remedy();
    /* Drivers return these without permission, and also while another process uses the counters. */
    const int is_ambiguous =
        (result == ZE_RESULT_ERROR_INVALID_ARGUMENT && strcmp(call, "zetMetricQueryPoolCreate") == 0) ||
        (result == ZE_RESULT_ERROR_UNKNOWN && strcmp(call, "zetMetricStreamerOpen") == 0);
    zt__counter_holder own;
    zt__process *process;
    uint32_t i;
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
    if (result == ZE_RESULT_ERROR_INSUFFICIENT_PERMISSIONS) {
        zt__report(diagnostics, NO_PERMISSION, result, call, name,
                   remedy ? remedy : "Run as a privileged user.");
        return ZT_NO_PERMISSION;
    }
    if (!is_ambiguous && result != ZE_RESULT_ERROR_NOT_AVAILABLE &&
        result != ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE) {
        zt__report(diagnostics, METRICS_UNAVAILABLE, result, call, name);
        return ZT_NOT_SUPPORTED;
    }
    if (holder && holder->text[0]) { /* the library has refused, and no call of the driver has failed */
        zt__report(diagnostics, COUNTERS_HELD, result, use != ZT__FOR_REGIONS ? "zt_stream_open" : "zt_open",
                   holder->text);
        return ZT_IN_USE;
    }
    /* Some drivers do not allow regions and streams on one device at a time: a profiler may have been refused
       because of a stream of this process, or a stream because of a profiler. */
    own.text[0] = 0;
    process = zt__get_process();
    if (process) {
        zt__lock(&process->mutex);
        for (i = 0; i < ZT__MAX_ACTIVE_GROUPS; i++) {
            const zt__active_group *active = &process->active_groups[i];
            if (active->users && active->is_streamed != (use != ZT__FOR_REGIONS) &&
                zt__share_counters(active->device, device)) {
                zt__describe_holder(active, &own);
            }
        }
        zt__unlock(&process->mutex);
    }
    if (!own.text[0] &&
        !zt__describe_user(use == ZT__FOR_INSTRUCTIONS ? ZT__UNIT_OF_INSTRUCTIONS : ZT__UNIT_OF_WORK, &own) &&
        is_ambiguous && remedy) {
        zt__report(diagnostics, NO_PERMISSION_OR_IN_USE, result, call, name, own.text, remedy);
        return ZT_NO_PERMISSION;
    }
    zt__report(diagnostics, COUNTERS_IN_USE, result, call, name, own.text);
    return ZT_IN_USE;
}
