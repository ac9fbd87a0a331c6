/* Kernels that wait for each other, on lists of several engines; see tests/kernels/meet.cl. */
#ifndef TESTS_MEET_H
#define TESTS_MEET_H

#include "values.h"

enum {
    WORDS = 16,
    COMPUTE = 0,
    COPY = 1,
    LIST_IN_ORDER = 1 << 3,  /* ZE_COMMAND_LIST_FLAG_IN_ORDER, of newer headers */
    QUEUE_IN_ORDER = 1 << 1, /* ZE_COMMAND_QUEUE_FLAG_IN_ORDER, likewise */
    LONG = 60000,            /* milliseconds; never waited out */
    SHORT = 5                /* always waited out */
};

/* As in meet.cl. */
enum { NOTHING, STARTED, MET, GAVE_UP };

/* Kernels by the word that they write. */
typedef struct rig {
    world *w;
    ze_module_handle_t module;
    uint32_t *words;
    uint64_t *stamps;
    ze_event_pool_handle_t pool; /* NULL: it has none */
    ze_event_handle_t event;     /* in the pool */
} rig;

extern const ze_group_count_t one_group;

rig open_rig(world *w);
rig open_concurrent(world *w);
void close_rig(rig *r);
uint32_t word(const rig *r, uint32_t index);
void set_word(rig *r, uint32_t index);
void await_word(const rig *r, uint32_t index);
ze_kernel_handle_t meeting(rig *r, uint32_t own, uint32_t awaited, uint32_t patience);
void append_with(rig *r, ze_command_list_handle_t list, uint32_t own, uint32_t awaited, uint32_t patience,
                 ze_event_handle_t signal, ze_event_handle_t wait);
void append_meeting(rig *r, ze_command_list_handle_t list, uint32_t own, uint32_t awaited, uint32_t patience);
/* A kernel that holds the device until let_device_go(). */
rig hold_device(world *w);
void let_device_go(rig *held);
void append_plain(rig *r, ze_command_list_handle_t list, uint32_t own);
ze_command_list_handle_t immediate_on(world *w, ze_device_handle_t device, uint32_t ordinal, uint32_t index,
                                      uint32_t flags);
ze_command_list_handle_t immediate_of(world *w, uint32_t ordinal, uint32_t index, uint32_t flags);
ze_command_list_handle_t recorded_of(world *w, uint32_t flags);
ze_command_queue_handle_t queue_of(world *w, uint32_t ordinal, uint32_t index);
void finish_and_destroy(world *w, ze_command_list_handle_t immediate);
void execute_once(world *w, ze_command_list_handle_t recorded);
void need_in_order_lists(world *w);
ze_event_handle_t new_event(world *w, uint32_t index);

#endif
