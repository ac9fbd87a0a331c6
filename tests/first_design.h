/* Temporary: lets tests of the second design compile against the first, to see them fail. Included last. */
#ifndef TESTS_FIRST_DESIGN_H
#define TESTS_FIRST_DESIGN_H
#ifndef ZETOOLS_SECOND_DESIGN

#define thread deferred_thread
#define unobserved_lists dropped

static inline ze_result_t zt_reset(zt_profiler *profiler, ze_command_list_handle_t list) {
    ze_result_t result = zeCommandListReset(list);
    if (profiler)
        zt_release(profiler, list);
    return result;
}

#endif
#endif
