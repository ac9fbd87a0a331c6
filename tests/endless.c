#define _GNU_SOURCE
#include "endless.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* ==== kernels of `endless` ================================================================================ */

work load_work_on(world *w, ze_device_handle_t device, const char *name, ze_command_list_handle_t list) {
    work of = {.list = list};
    ze_device_mem_alloc_desc_t device_desc = {.stype = ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC};
    ze_host_mem_alloc_desc_t host_desc = {.stype = ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC};
    void *memory = NULL;
    ok(zeMemAllocShared(w->context, &device_desc, &host_desc, WORDS * sizeof *of.words, 64, device, &memory));
    memset(memory, 0, WORDS * sizeof *of.words);
    of.words = memory;
    of.module = load_module(w, "build/kernels/endless.so", "");
    of.kernel = kernel_in(of.module, name);
    ok(zeKernelSetArgumentValue(of.kernel, 0, sizeof of.words, &of.words));
    return of;
}

work load_work(world *w, ze_device_handle_t device, const char *name) {
    ze_command_queue_desc_t queue = {.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC,
                                     .mode = ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS};
    ze_command_list_handle_t list;
    ok(zeCommandListCreateImmediate(w->context, device, &queue, &list));
    return load_work_on(w, device, name, list);
}

void unload_work(world *w, work *of) {
    ok(zeMemFree(w->context, of->words));
    ok(zeKernelDestroy(of->kernel));
    ok(zeModuleDestroy(of->module));
    ok(zeCommandListDestroy(of->list));
}

void launch_work(const work *of) {
    ze_group_count_t groups = {1, 1, 1};
    ok(zeCommandListAppendLaunchKernel(of->list, of->kernel, &groups, NULL, 0, NULL));
}

work begin_on(world *w, ze_device_handle_t device, const char *name) {
    work of = load_work(w, device, name);
    launch_work(&of);
    return of;
}

work begin_counting(world *w) {
    gpu.behave(SOFTGPU_DEBUG_NOT_ENABLED, 0);
    work of = begin_on(w, w->device, "count");
    await((const int *)&of.words[COUNT]);
    return of;
}

work begin_reading_from(world *w, const void *address) {
    uint64_t value = (uintptr_t)address;
    gpu.behave(SOFTGPU_DEBUG_NOT_ENABLED, 0);
    work of = load_work(w, w->device, "read_from");
    ok(zeKernelSetArgumentValue(of.kernel, 1, sizeof value, &value));
    launch_work(&of);
    return of;
}

uint32_t count_of(const work *of) {
    return __atomic_load_n(&of->words[COUNT], __ATOMIC_RELAXED);
}

void finish_work(world *w, work *of) {
    __atomic_store_n(&of->words[STOP], 1, __ATOMIC_RELAXED);
    finish_immediate(w, of->list);
    unload_work(w, of);
}

void assert_counts_on(const work *of) {
    uint32_t before = count_of(of);
    uint64_t end = now_ns() + A_WHILE;
    while (count_of(of) == before)
        assert_true(now_ns() < end);
}

void assert_stands_still(const work *of) {
    uint32_t before = count_of(of);
    for (int i = 0; i < 10; i++) {
        nap();
        assert_int_equal(count_of(of), before);
    }
}

uint32_t find_counter(const uint64_t *values, uint32_t count, uint64_t *value) {
    uint32_t found = 0, place = 0;
    for (uint32_t i = 0; i < count; i++)
        if (values[i] > UINT64_C(1) << 59 && values[i] <= UINT64_C(1) << 60) {
            place = i;
            *value = values[i];
            found++;
        }
    assert_int_equal(found, 1);
    return place;
}

/* ==== other processes ===================================================================================== */

enum { MOST_PROCESSES = 16 };

static process processes[MOST_PROCESSES];
static int process_count, processes_used;
static int (*serve_other_letter)(world *w, char letter, int from);

static void serve_parent(int from, int to) {
    void *state = NULL;
    work of = {NULL, NULL, NULL, NULL};
    char letter;
    while (read(from, &letter, 1) == 1) {
        uint64_t answer = 1;
        if (!state && letter != 'X') {
            setenv("ZET_ENABLE_PROGRAM_DEBUGGING", "1", 1);
            start(&state);
            open_leaky_world(&state);
        }
        if (letter == 'G') {
            of = begin_counting(state);
            answer = (uintptr_t)of.words;
        } else if (letter == 'C') {
            answer = count_of(&of);
        } else if (letter == 'S') {
            finish_work(state, &of);
        } else if (letter == 'M') {
            ok(zeKernelDestroy(of.kernel));
            ok(zeModuleDestroy(of.module));
        } else if (letter == 'D') {
            gpu.detach_debuggers(ZET_DEBUG_DETACH_REASON_INVALID);
        } else if (letter == 'F') {
            signal(SIGSEGV, SIG_DFL);
            begin_reading_from(state, (void *)64);
            pause();
        } else if (letter == 'X') {
            exit(0); /* with all that belongs to it */
        } else if (!serve_other_letter || !serve_other_letter(state, letter, from)) {
            break;
        }
        if (write(to, &answer, sizeof answer) != sizeof answer)
            break;
    }
    _exit(0);
}

void fork_processes(int count, int (*serve_other)(world *w, char letter, int from)) {
    serve_other_letter = serve_other;
    process_count = count < MOST_PROCESSES ? count : MOST_PROCESSES;
    for (int i = 0; i < process_count; i++) {
        int to[2], from[2];
        if (pipe2(to, O_CLOEXEC) || pipe2(from, O_CLOEXEC))
            abort();
        processes[i] = (process){fork(), to[1], from[0]};
        if (processes[i].number == 0) {
            for (int k = 0; k <= i; k++) { /* which are the parent's */
                close(processes[k].to);
                close(processes[k].from);
            }
            serve_parent(to[0], from[1]);
        }
        close(to[0]);
        close(from[1]);
    }
}

const process *new_process(void) {
    assert_in_range(processes_used, 0, process_count - 1);
    return &processes[processes_used++];
}

void send_letter(const process *to, char letter) {
    assert_int_equal(write(to->to, &letter, 1), 1);
}

uint64_t answer_of(const process *of) {
    struct pollfd waited = {.fd = of->from, .events = POLLIN};
    uint64_t answer = 0;
    assert_int_equal(poll(&waited, 1, (int)(A_WHILE / 1000000)), 1);
    assert_int_equal(read(of->from, &answer, sizeof answer), sizeof answer);
    return answer;
}

uint64_t tell(const process *to, char letter) {
    send_letter(to, letter);
    return answer_of(to);
}

void end_process(const process *of, int signal_number) {
    int status;
    if (signal_number)
        kill(of->number, signal_number);
    else
        close(of->to);
    assert_int_equal(waitpid(of->number, &status, 0), of->number);
    assert_int_equal(WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status), signal_number);
}

void assert_process_counts(const process *of) {
    uint64_t before = tell(of, 'C'), end = now_ns() + A_WHILE;
    while (tell(of, 'C') == before)
        assert_true(now_ns() < end);
}
