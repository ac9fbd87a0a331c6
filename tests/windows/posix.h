/* What the tests and the software device use of POSIX, and Windows lacks. It is given to the compiler with
   -include, so that both are written as if there were no other system; the headers beside it are those that
   mingw-w64 does not have. Errors are told less exactly than by POSIX. */
#ifndef WINDOWS_POSIX_H
#define WINDOWS_POSIX_H

#include <direct.h>
#include <errno.h>
#include <io.h>
#include <limits.h>
#include <malloc.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

#ifdef __cplusplus
extern "C" {
#endif

#undef PATH_MAX
#define PATH_MAX 4096
#define program_invocation_name _pgmptr
#define malloc_usable_size _msize
#define mkdir(path, mode) _mkdir(path)

typedef unsigned uid_t;

#ifndef TIME_UTC
#define TIME_UTC 1
static inline int timespec_get(struct timespec *now, int base) {
    return clock_gettime(CLOCK_REALTIME, now) == 0 ? base : 0;
}
#endif

/* There are no signals to keep from a thread. */
typedef int windows_signal_set;
#define sigset_t windows_signal_set
#define sigfillset(set) (*(set) = 0)
#undef pthread_sigmask
static inline int pthread_sigmask(int how, const sigset_t *set, sigset_t *before) {
    (void)how, (void)set, (void)before;
    return 0;
}
typedef jmp_buf sigjmp_buf;

/* Both the system's environment and that of the C library. */
int windows_setenv(const char *name, const char *value, int overwrite);
int windows_unsetenv(const char *name);
#define setenv windows_setenv
#define unsetenv windows_unsetenv

/* With '/' between names. */
char *windows_realpath(const char *path, char *resolved);
char *windows_mkdtemp(char *path);
int windows_mkstemps(char *path, int ending); /* such a file is removed when it is closed */
#define realpath windows_realpath
#define mkdtemp windows_mkdtemp
#define mkstemp(path) windows_mkstemps(path, 0)
#define mkstemps windows_mkstemps
FILE *windows_fmemopen(void *bytes, size_t size, const char *mode);
#define fmemopen windows_fmemopen

/* To be freed by _aligned_free(). */
#define aligned_alloc(alignment, size) _aligned_malloc(size, alignment)
#define posix_memalign(pointer, alignment, size)                                                             \
    ((*(pointer) = _aligned_malloc(size, alignment)) ? 0 : ENOMEM)

/* Deadlines of conditions are of CLOCK_MONOTONIC. A wait for less than the system can wait for ends at once,
   as if it were woken without a reason. */
int windows_timedwait(pthread_cond_t *condition, pthread_mutex_t *mutex, const struct timespec *deadline);
#define pthread_cond_timedwait windows_timedwait
#undef pthread_getcpuclockid
#define pthread_getcpuclockid(thread, clock) (*(clock) = 0) /* see windows_cpu_time() */
#define pthread_condattr_setclock(attributes, clock) ((void)(attributes))

/* A deadline of CLOCK_REALTIME. */
int windows_timedjoin(pthread_t thread, void **result, const struct timespec *deadline);
#define pthread_timedjoin_np windows_timedjoin

/* Processor time of a thread, in nanoseconds. */
uint64_t windows_cpu_time(pthread_t thread);
uint32_t windows_count_threads(void);

#ifdef __cplusplus
}
#endif

#endif
