/* All includes of the system, and what C libraries hide in strict modes. */

#pragma once

#include "zetools.h"

#include <level_zero/zes_api.h>
#include <level_zero/zet_api.h>
#ifdef ZETOOLS_TRACER
#include <level_zero/layers/zel_tracing_api.h>
#include <level_zero/layers/zel_tracing_register_cb.h>
#endif

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#ifdef _WIN32
#ifndef WIN32_LEAN_AND_MEAN
#define WIN32_LEAN_AND_MEAN
#endif
#ifndef NOMINMAX
#define NOMINMAX
#endif
#include <windows.h>

#include <direct.h>
#include <fcntl.h>
#include <intrin.h>
#include <io.h>
#include <sys/stat.h>
#else
#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <spawn.h>
#include <strings.h>
#include <sys/auxv.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#endif

/* A function or variable that other parts use. `static` in the joined header; there, not every configuration
   uses all of them. */
#ifdef ZT__PARTS
#define ZT__PRIVATE
#else
#define ZT__PRIVATE static ZT__UNUSED
#endif

#ifndef _WIN32

/* In strict ISO modes, or for an early POSIX, the C library does not declare what follows. C++ compilers
   always define _GNU_SOURCE. */
#ifndef CLOCK_REALTIME
#define CLOCK_REALTIME 0
#endif
#ifndef CLOCK_MONOTONIC
#define CLOCK_MONOTONIC 1
#endif
#ifndef CLOCK_THREAD_CPUTIME_ID
#define CLOCK_THREAD_CPUTIME_ID 3
#endif
#ifndef CLOCK_BOOTTIME
#define CLOCK_BOOTTIME 7
#endif
#ifndef F_DUPFD_CLOEXEC
#define F_DUPFD_CLOEXEC 1030
#endif
#ifndef O_CLOEXEC
#define O_CLOEXEC 02000000
#endif
#ifdef SIG_SETMASK
typedef sigset_t zt__signal_set;
#else
#define SIG_BLOCK 0
#define SIG_SETMASK 2
typedef struct zt__signal_set {
    unsigned long words[1024 / (8 * sizeof(unsigned long))];
} zt__signal_set;
#endif
#ifdef SI_USER
typedef siginfo_t zt__signal_information;
#else
typedef void zt__signal_information;
#endif
#ifndef SA_RESTART
#define SA_RESTART 0x10000000
#endif
#ifndef SA_ONSTACK
#define SA_ONSTACK 0x08000000
#endif
#ifdef SA_NOCLDSTOP
typedef struct sigaction zt__signal_action;
#else
typedef struct zt__signal_action {
    void (*sa_handler)(int signal);
    zt__signal_set sa_mask;
    int sa_flags;
    void (*sa_restorer)(void);
} zt__signal_action;
#endif
#ifndef __cplusplus
int clock_gettime(int clock, struct timespec *now);
int nanosleep(const struct timespec *wanted, struct timespec *left);
int setenv(const char *name, const char *value, int overwrite);
int pthread_condattr_setclock(pthread_condattr_t *attributes, int clock);
int sigfillset(zt__signal_set *set);
int sigemptyset(zt__signal_set *set);
int sigaddset(zt__signal_set *set, int signal);
int sigdelset(zt__signal_set *set, int signal);
int sem_timedwait(sem_t *semaphore, const struct timespec *until);
int sigaction(int signal, const zt__signal_action *action, zt__signal_action *before);
int sigismember(const zt__signal_set *set, int signal);
int sigpending(zt__signal_set *set);
int sigtimedwait(const zt__signal_set *set, zt__signal_information *information,
                 const struct timespec *timeout);
int kill(int process, int signal);
int fchmod(int file, mode_t permissions);
int fchown(int file, uid_t owner, gid_t group);
int fileno(FILE *file);
FILE *fdopen(int descriptor, const char *mode);
int pipe2(int ends[2], int flags);
int pthread_sigmask(int how, const zt__signal_set *set, zt__signal_set *before);
ssize_t readlink(const char *path, char *target, size_t size);
struct tm *gmtime_r(const time_t *seconds, struct tm *utc);
int unsetenv(const char *name);
#endif

#endif /* not _WIN32 */
