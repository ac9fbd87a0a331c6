/* Answers a watch: attaches, waits for a fault, stops threads and reports where they are. */

#include "watch/server.h"

#include "base/compiler.h"
#include "base/diagnostics.h"
#include "base/memory.h"
#include "base/platform.h"
#include "base/text.h"
#include "debug/debugger.h"

#ifdef ZETOOLS_DEBUG

/* Copies the last message of the debugger, without its identifier. */
static void zt__copy_debug_error(const zt__watch_server *server) {
    const char *text = zt_debug_get_last_error(server->debugger), *end = strstr(text, "] ");
    text = end ? end + 2 : text;
    zt__copy_text(server->answer->reason, sizeof server->answer->reason, text, strlen(text));
}

/* Finds a device or sub-device by its UUID, which is the same in every process. Returns NULL if there is
   none. */
static ze_device_handle_t zt__find_watched_device(const uint8_t uuid[ZE_MAX_DEVICE_UUID_SIZE]) {
    enum { MOST_DRIVERS = 16, MOST_DEVICES = 64, MOST_TILES = 16 };
    ze_driver_handle_t drivers[MOST_DRIVERS] = {NULL}; /* not all that are counted need be there */
    uint32_t i, j, k, driver_count = MOST_DRIVERS;
    if (zeDriverGet(&driver_count, drivers) != ZE_RESULT_SUCCESS) {
        return NULL;
    }
    for (i = 0; i < driver_count && i < MOST_DRIVERS && drivers[i]; i++) {
        ze_device_handle_t devices[MOST_DEVICES] = {NULL};
        uint32_t device_count = MOST_DEVICES;
        if (zeDeviceGet(drivers[i], &device_count, devices) != ZE_RESULT_SUCCESS) {
            continue;
        }
        for (j = 0; j < device_count && j < MOST_DEVICES && devices[j]; j++) {
            ze_device_handle_t found[MOST_TILES + 1] = {NULL};
            uint32_t tile_count = MOST_TILES;
            found[0] = devices[j];
            if (zeDeviceGetSubDevices(devices[j], &tile_count, found + 1) != ZE_RESULT_SUCCESS) {
                tile_count = 0;
            }
            for (k = 0; k <= tile_count && k <= MOST_TILES && found[k]; k++) {
                ze_device_properties_t properties;
                memset(&properties, 0, sizeof properties);
                properties.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES;
                if (zeDeviceGetProperties(found[k], &properties) == ZE_RESULT_SUCCESS &&
                    memcmp(properties.uuid.id, uuid, ZE_MAX_DEVICE_UUID_SIZE) == 0) {
                    return found[k];
                }
            }
        }
    }
    return NULL;
}

/* A zt_debug_fn. Records in the answer what an event means. Stops the delivery at a fault. */
static int zt__note_event(zt_debugger *debugger, const zt_debug_event *event, void *user) {
    zt__watch_answer *answer = ((zt__watch_server *)user)->answer;
    (void)debugger;
    if (event->type == ZT_DEBUG_PAGE_FAULT) {
        answer->has_faulted = answer->has_page_fault = 1;
        answer->fault_address = event->address;
        answer->fault_reason = event->reason;
    } else if (event->type == ZT_DEBUG_DETACHED) {
        answer->is_over = 1;
    } else if (event->type == ZT_DEBUG_THREADS_STOPPED) {
        answer->has_faulted = 1;
    }
    return answer->has_faulted;
}

static int zt__compare_addresses(const void *a, const void *b) {
    const uint64_t *first = (const uint64_t *)a, *second = (const uint64_t *)b;
    return *first < *second ? -1 : *first > *second;
}

/* Serves ZT__WATCH_STOP. If a call fails, the answer has the reason, and what is known all the same. */
static void zt__serve_stop(zt__watch_server *server, const zt__watch_request *request) {
    zt_debugger *debugger = server->debugger;
    zt__watch_answer *answer = server->answer;
    const zt_debug_thread all = {ZT_DEBUG_ALL, ZT_DEBUG_ALL, ZT_DEBUG_ALL, ZT_DEBUG_ALL};
    zt_debug_stops stops = {0, 0};
    zt_debug_thread *threads = NULL;
    uint64_t *addresses = NULL, begin = zt__now_ns();
    ze_result_t stop_result = zt_debug_stop(debugger, all, request->timeout_ns, &stops), result;
    uint32_t i, k, count = 0, room, known = 0, same;
    answer->unavailable = stops.unavailable;
    if (stop_result != ZE_RESULT_SUCCESS) {
        zt__copy_debug_error(server);
    }

    result = zt_debug_threads(debugger, NULL, &count);
    room = count;
    if (result == ZE_RESULT_SUCCESS && count > 0) {
        threads = (zt_debug_thread *)zt__allocate(server->allocator, count, sizeof *threads);
        addresses = (uint64_t *)zt__allocate(server->allocator, count, sizeof *addresses);
        result = threads && addresses ? zt_debug_threads(debugger, threads, &count)
                                      : ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    }
    for (i = 0; result == ZE_RESULT_SUCCESS && i < count && i < room; i++) {
        known += zt_debug_get_address(debugger, threads[i], &addresses[known]) == ZE_RESULT_SUCCESS;
    }
    answer->result = result;
    answer->stopped = count;
    answer->elsewhere = count - known;

    /* Group equal addresses to places, those with the most threads first. If there are too many places, the
       threads of the last one are counted as elsewhere. */
    if (known > 0) {
        qsort(addresses, known, sizeof *addresses, zt__compare_addresses);
    }
    for (i = 0; i < known; i += same) {
        zt__found_place *places = answer->places;
        same = 1;
        while (i + same < known && addresses[i + same] == addresses[i]) {
            same++;
        }
        if (answer->place_count < ZT_MAX_PLACES) {
            answer->place_count++;
        } else if (places[ZT_MAX_PLACES - 1].threads < same) {
            answer->elsewhere += places[ZT_MAX_PLACES - 1].threads;
        } else {
            answer->elsewhere += same;
            continue;
        }
        for (k = answer->place_count - 1; k > 0 && places[k - 1].threads < same; k--) {
            places[k] = places[k - 1];
        }
        memset(&places[k], 0, sizeof places[k]);
        places[k].address = addresses[i];
        places[k].threads = same;
    }
    zt__free(server->allocator, threads);
    zt__free(server->allocator, addresses);

    /* Events of the stop are no faults of the device. A page fault is kept for later, unless one is being
       reported already. */
    while (zt_debug_wait(debugger, 0, zt__note_event, server) == ZE_RESULT_SUCCESS) {
        if (answer->has_page_fault && !request->is_fault) {
            server->has_pending_fault = 1;
            server->pending_address = answer->fault_address;
            server->pending_reason = answer->fault_reason;
        }
        answer->has_faulted = answer->has_page_fault = 0;
    }
    if (!request->leave_stopped) {
        result = zt_debug_resume(debugger, all);
        answer->result = answer->result == ZE_RESULT_SUCCESS ? result : answer->result;
    }
    answer->stopped_ns = zt__now_ns() - begin;
    if (stop_result == ZE_RESULT_SUCCESS && answer->result != ZE_RESULT_SUCCESS) {
        zt__copy_debug_error(server);
    }

    /* Look the places up when the threads are resumed already, because this may run a program. */
    for (i = 0; i < answer->place_count && !zt__load(server->is_ending); i++) {
        zt__found_place *place = &answer->places[i];
        zt_debug_place found;
        if (zt_debug_where(debugger, place->address, &found) == ZE_RESULT_SUCCESS) {
            place->offset = found.offset;
            place->line = found.line;
            zt__copy_text(place->kernel, sizeof place->kernel, found.kernel, strlen(found.kernel));
            zt__copy_text(place->file, sizeof place->file, found.file, strlen(found.file));
        }
    }
}

ZT__PRIVATE void zt__serve_watch(zt__watch_server *server, const zt__watch_request *request,
                                 zt__watch_answer *answer) {
    memset(answer, 0, offsetof(zt__watch_answer, places));
    answer->process = (uint32_t)zt__get_process_id();
    server->answer = answer;
    if (request->call == ZT__WATCH_ATTACH) {
        if (!server->device) { /* in a helper */
            answer->result = zeInit(0);
            if (answer->result == ZE_RESULT_SUCCESS) {
                server->device = zt__find_watched_device(request->device);
            }
        }
        if (server->device) {
            zt_debug_config config;
            memset(&config, 0, sizeof config);
            config.allocator = *server->allocator;
            answer->result = zt_debug_open(server->device, request->process, &config, &server->debugger);
            if (answer->result != ZE_RESULT_SUCCESS) {
                zt__copy_debug_error(server);
            } else {
                server->debugger->ends_stops = server->is_ending;
            }
        } else {
            snprintf(answer->reason, sizeof answer->reason,
                     "the helper does not find the device (zeInit: %s)", zt_result_name(answer->result));
            answer->result = ZE_RESULT_ERROR_NOT_AVAILABLE;
        }
    } else if (request->call == ZT__WATCH_STOP) {
        zt__serve_stop(server, request);
    } else if (server->has_pending_fault) { /* ZT__WATCH_AWAIT, from here on */
        server->has_pending_fault = 0;
        answer->has_faulted = answer->has_page_fault = 1;
        answer->fault_address = server->pending_address;
        answer->fault_reason = server->pending_reason;
    } else {
        ze_result_t result = zt_debug_wait(server->debugger, request->timeout_ns, zt__note_event, server);
        if (result != ZE_RESULT_SUCCESS && result != ZE_RESULT_NOT_READY) {
            answer->is_over = 1;
            zt__copy_debug_error(server);
        }
        if (answer->has_faulted && !answer->has_page_fault) {
            uint32_t stopped = 0;
            /* A thread that stops after zt_debug_stop has given up is resumed at once: it is no fault. */
            zt_debug_threads(server->debugger, NULL, &stopped);
            answer->has_faulted = stopped > 0;
        }
    }
}

#endif
