/* What the tests of program debug share: kernels that do not end by themselves, and processes that run them.
 */
#ifndef TESTS_ENDLESS_H
#define TESTS_ENDLESS_H

#include "fixture.h"

#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ==== kernels of `endless` ================================================================================ */

/* Words of its memory; see tests/kernels/endless.cl. */
enum { STOP, COUNT, STARTED, RESULT, WORDS = 16 };

/* A kernel, and a list for it. */
typedef struct work {
    ze_module_handle_t module;
    ze_kernel_handle_t kernel;
    ze_command_list_handle_t list;
    uint32_t *words;
} work;

work load_work(world *w, ze_device_handle_t device, const char *name); /* on an immediate list */
work load_work_on(world *w, ze_device_handle_t device, const char *name, ze_command_list_handle_t list);
void unload_work(world *w, work *of);
void launch_work(const work *of);
work begin_on(world *w, ze_device_handle_t device, const char *name);
work begin_counting(world *w);                          /* "count", which has begun. Debug is enabled */
work begin_reading_from(world *w, const void *address); /* "read_from". Debug is enabled */
uint32_t count_of(const work *of);
void finish_work(world *w, work *of); /* lets it end, and frees it */
/* Which register "countdown" counts in, and its value: only its compiler knows where. */
uint32_t find_counter(const uint64_t *values, uint32_t count, uint64_t *value);
void assert_counts_on(const work *of);
void assert_stands_still(const work *of);

/* ==== other processes ===================================================================================== */

typedef struct process {
    pid_t number;
    int to, from;
} process;

/* Called first in main: processes are forked before anything else is there, and each does what it is told by
   single letters: it answers every one with a word. G begins to count, and answers where; C answers the
   count; S ends counting; X exits, M destroys its module; D detaches its debuggers; F has a kernel with a
   page fault. For any other letter, the function is called in that process; it returns whether it knows it.
 */
void fork_processes(int count, int (*serve_other)(world *w, char letter, int from));

const process *new_process(void);
void send_letter(const process *to, char letter);
uint64_t answer_of(const process *of);
uint64_t tell(const process *to, char letter);          /* sends a letter, and returns the answer */
void end_process(const process *of, int signal_number); /* 0: it ends by itself */
void assert_process_counts(const process *of);

#ifdef __cplusplus
}
#endif

#endif
