/* What the software device has of the system it runs on. On Windows it has the headers of tests/windows, and
 * windows.c instead of the files for what that system lacks: signals, ELF, sockets that carry descriptors. */
#ifndef SOFTGPU_SYSTEM_H
#define SOFTGPU_SYSTEM_H

#include <stdbool.h>

#ifdef _WIN32
#define SG_HAS_SIGNALS 0       /* kernels cannot be interrupted: no sampling of instructions, no debugging */
#define SG_HAS_THREAD_EVENTS 0 /* page faults and context switches of a thread */
#define sg_free_aligned _aligned_free
#define sg_cpu_time(thread, clock) windows_cpu_time(thread)

/* Returns whether the process ends. Windows has stopped all other threads by then, with the mutexes that they held. */
bool sg_process_ends(void);
#else
#define SG_HAS_SIGNALS 1
#define SG_HAS_THREAD_EVENTS 1
#define sg_process_ends() false
#define sg_free_aligned free /* what aligned_alloc() and posix_memalign() gave */
#define sg_cpu_time(thread, clock) sg_read_clock(clock)
#endif

#endif
