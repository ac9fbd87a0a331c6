/* What differs between systems, declared once: linux.c and windows.c implement it. */

#pragma once

#include "base/compiler.h"
#include "base/system.h"

#ifndef _WIN32

typedef pthread_mutex_t zt__mutex;
typedef pthread_cond_t zt__condition;
typedef pthread_t zt__system_thread;
typedef pthread_key_t zt__thread_key;

#define ZT__MUTEX_INITIALIZER PTHREAD_MUTEX_INITIALIZER

/* A function that a thread runs is defined as static ZT__THREAD_RESULT ZT__THREAD_CALL name(void *). */
#define ZT__THREAD_RESULT void *
#define ZT__THREAD_CALL

/* Modes of zt__open_file. Other programs that the application executes inherit none of the library's
   files. */
typedef char zt__mode_character;
#define ZT__TO_READ "rbe"
#define ZT__TO_WRITE "wbe"

typedef struct zt__file_properties {
    uint64_t size;
    int is_regular, is_directory;
    mode_t permissions;
    gid_t group;
} zt__file_properties;

#define ZT__LOADER "libze_loader.so.1"
#define ZT__CXX_LIBRARIES "libstdc++.so.6", "libc++abi.so.1"

#else

typedef SRWLOCK zt__mutex;
typedef CONDITION_VARIABLE zt__condition;
typedef HANDLE zt__system_thread;
typedef DWORD zt__thread_key;

#define ZT__MUTEX_INITIALIZER SRWLOCK_INIT

#define ZT__THREAD_RESULT unsigned
#define ZT__THREAD_CALL __stdcall

typedef wchar_t zt__mode_character;
#define ZT__TO_READ L"rbN"
#define ZT__TO_WRITE L"wbN"

typedef struct zt__file_properties {
    uint64_t size;
    int is_regular, is_directory;
} zt__file_properties;

#define ZT__LOADER "ze_loader.dll"
#define ZT__CXX_LIBRARIES "libstdc++-6.dll", "libc++.dll"
#endif

/* Time */

ZT__PRIVATE uint64_t zt__now_ns(void);

/* Returns how long the system has slept since it was started, which zt__now_ns does not count on Linux. */
ZT__PRIVATE uint64_t zt__get_slept_ns(void);

/* Returns how long the calling thread has used a processor. */
ZT__PRIVATE uint64_t zt__get_thread_cpu_ns(void);

/* On Windows, a sleep of less than a millisecond only yields the processor. */
ZT__PRIVATE void zt__sleep(uint64_t ns);

/* Converts a time to a date in UTC. Returns 0 if that fails. */
ZT__PRIVATE int zt__convert_to_utc(time_t seconds, struct tm *utc);

/* Threads */

ZT__PRIVATE void zt__create_mutex(zt__mutex *mutex);

ZT__PRIVATE void zt__destroy_mutex(zt__mutex *mutex);

ZT__PRIVATE void zt__lock(zt__mutex *mutex);

/* Returns 0 if any thread holds the mutex. */
ZT__PRIVATE int zt__try_lock_mutex(zt__mutex *mutex);

ZT__PRIVATE void zt__unlock(zt__mutex *mutex);

ZT__PRIVATE void zt__create_condition(zt__condition *condition);

ZT__PRIVATE void zt__destroy_condition(zt__condition *condition);

ZT__PRIVATE void zt__signal_condition(zt__condition *condition);

/* Sleeps with the mutex unlocked, until the condition is signalled or zt__now_ns() is `deadline`. May return
   earlier. */
ZT__PRIVATE void zt__await_condition(zt__condition *condition, zt__mutex *mutex, uint64_t deadline);

/* Starts a thread. It blocks all signals but those of its own faults: functions of the application run on it,
   and may rely on a handler for these. Returns 0 if the system refuses. */
ZT__PRIVATE int zt__create_thread(zt__system_thread *thread,
                                  ZT__THREAD_RESULT(ZT__THREAD_CALL *function)(void *), void *argument);

ZT__PRIVATE void zt__join_system_thread(zt__system_thread thread);

/* Runs a function on a thread of its own, and returns when it has. Returns 0 if that is not possible: without threads, or
   where a library that is unloaded may start none. */
ZT__PRIVATE int zt__run_on_thread(ZT__THREAD_RESULT(ZT__THREAD_CALL *function)(void *), void *argument);

ZT__PRIVATE int zt__is_calling_thread(zt__system_thread thread);

/* Identifies the calling thread, in the same way in every copy of this header. */
ZT__PRIVATE uintptr_t zt__this_thread(void);

/* Returns the number that the system gives the calling thread; 0 without /proc. */
ZT__PRIVATE uint32_t zt__read_thread_number(void);

/* Stores the name that the system shows for a thread of this process; "" if it has ended. */
ZT__PRIVATE void zt__read_thread_name(uint32_t thread, char *name, size_t size);

/* Creates a key, under which each thread has a value of its own. Returns 0 if no key is left. */
ZT__PRIVATE int zt__create_key(zt__thread_key *key);

ZT__PRIVATE void zt__delete_key(zt__thread_key key);

ZT__PRIVATE void *zt__get_thread_value(zt__thread_key key);

/* Returns 0 without memory. */
ZT__PRIVATE int zt__set_thread_value(zt__thread_key key, void *value);

/* The process */

ZT__PRIVATE long zt__get_process_id(void);

/* Returns whether there is no process of this number. */
ZT__PRIVATE int zt__is_no_process(uint32_t process);

/* Stores bytes that identify the program which the process executes: exec changes them, although the process
   keeps its number. */
ZT__PRIVATE void zt__read_program_bytes(uint8_t bytes[16]);

/* Keeps the file that has this code loaded until the process ends: the application has pointers into it. */
ZT__PRIVATE void zt__keep_loaded(void);

/* Registers a function to be called in each forked child. Returns 0 without memory. */
ZT__PRIVATE int zt__call_after_fork(void (*function)(void));

/* Why a signal cannot be caught. */
typedef enum zt__signal_refusal {
    ZT__SIGNAL_CAUGHT,
    ZT__SIGNAL_UNKNOWN, /* it is none of USR1 and USR2 */
    ZT__SIGNAL_HANDLED, /* the application has a handler of its own */
    ZT__SIGNAL_IGNORED, /* the application, or who has started it, ignores it */
    ZT__SIGNAL_BLOCKED, /* the calling thread blocks it */
    ZT__SIGNAL_MISSING  /* the system has no such signals */
} zt__signal_refusal;

/* Installs a handler for a signal, "USR1" or "SIGUSR1" and so on, which ends a zt__await_signal for each arrival. Nothing
   changes if the signal is in use. */
ZT__PRIVATE zt__signal_refusal zt__catch_signal(const char *name);

/* Restores what the signal did before it was caught. */
ZT__PRIVATE void zt__release_signal(void);

/* Returns CAUGHT while the handler is there and a thread of the process does not block the signal. Else HANDLED, IGNORED,
   or BLOCKED. */
ZT__PRIVATE zt__signal_refusal zt__find_signal_obstacle(void);

/* Returns whether the signal has come, and no thread has taken it. */
ZT__PRIVATE int zt__is_signal_pending(void);

/* Sleeps until the signal arrives, or zt__end_await is called, or the time is up: then returns 0. One thread may wait. */
ZT__PRIVATE int zt__await_signal(uint32_t seconds);

ZT__PRIVATE void zt__end_await(void);

/* Returns a variable of the environment with which the user configures the library, or NULL. A program that
   has more rights than its user reads none, because they name files to write and programs to run. */
ZT__PRIVATE const char *zt__get_variable(const char *name);

/* Stores a variable of the environment as other libraries of the process see it. A value that does not fit is
   cut, or "". Returns 0 if the variable is not set. */
ZT__PRIVATE int zt__read_variable(const char *name, char *text, size_t size);

/* Sets a variable of the environment. One that is set already keeps its value, unless `replaces`. */
ZT__PRIVATE void zt__set_variable(const char *name, const char *value, int replaces);

/* Returns how a process gets permission to use counters, or NULL if the system reserves them for nobody. */
ZT__PRIVATE const char *zt__find_permission_remedy(void);

/* What counts on a device: the kernel gives it to one user at a time. */
typedef enum zt__counting_unit { ZT__UNIT_OF_WORK, ZT__UNIT_OF_INSTRUCTIONS } zt__counting_unit;

/* Who has counters open, as far as the system shows it to this process. It does not show of which device. */
typedef struct zt__counter_user {
    uint32_t process; /* 0: none was found */
    char name[32];    /* of that process */
    int is_shown;     /* the system shows what processes have open */
    uint32_t hidden;  /* processes of which it shows that to others alone */
} zt__counter_user;

/* Finds another process that has counters of this kind open, else this one. */
ZT__PRIVATE zt__counter_user zt__find_counter_user(zt__counting_unit unit);

/* Stores the command line, with blanks between the arguments. */
ZT__PRIVATE void zt__read_program(char *program, size_t room);

ZT__PRIVATE int zt__compare_ignoring_case(const char *a, const char *b);

/* Files. Paths are UTF-8. A function that fails sets errno. */

ZT__PRIVATE int zt__is_separator(char character);

ZT__PRIVATE int zt__is_absolute(const char *path);

/* Opens a file. `mode` is ZT__TO_READ or ZT__TO_WRITE. */
ZT__PRIVATE FILE *zt__open_file(const char *path, const zt__mode_character *mode);

/* A zt_write_fn for a FILE. fwrite would lose bytes when a signal interrupts it. */
ZT__PRIVATE int zt__write_to_file(const void *bytes, size_t size, void *user);

/* Returns 0 if there is no such file. */
ZT__PRIVATE int zt__get_file_properties(const char *path, zt__file_properties *properties);

/* Renames a file; one that has that name is replaced. Returns 0 if it fails. */
ZT__PRIVATE int zt__rename_file(const char *from, const char *to);

ZT__PRIVATE void zt__remove_file(const char *path);

/* Creates a file that is going to replace one with these properties; NULL: there is none. At no moment may more
   users read it than that one. A file or link that has its name is removed, and never followed. */
ZT__PRIVATE FILE *zt__create_file(const char *path, const zt__file_properties *properties);

/* Creates a file without a name. */
ZT__PRIVATE FILE *zt__create_temporary_file(void);

/* Returns 0 if the directory is not there and cannot be made. */
ZT__PRIVATE int zt__make_directory(const char *path);

/* Stores the working directory. Returns 0 if that fails. */
ZT__PRIVATE int zt__get_working_directory(char *path, size_t size);

/* Stores what a symbolic link contains. Returns its length, or 0 if the path is no link. */
ZT__PRIVATE size_t zt__read_link(const char *path, char *target, size_t size);

/* Returns the width of the terminal that is standard output, or 0. */
ZT__PRIVATE int zt__get_terminal_width(void);

/* Prepares a file that may be a terminal for UTF-8. Returns what zt__end_utf8() needs. */
ZT__PRIVATE unsigned zt__begin_utf8(FILE *file);

ZT__PRIVATE void zt__end_utf8(unsigned before);

/* Symbols, and the end of the process */

/* Stores the address of a function, or NULL, in the function pointer at `function`. If `library` is NULL, the
   program and the global scope are searched. Returns 0 if the library is not loaded. */
ZT__PRIVATE int zt__find_symbol(const char *library, const char *name, void *function);

/* Returns whether the system has ended all other threads, because the process ends. */
ZT__PRIVATE int zt__has_lost_threads(void);
