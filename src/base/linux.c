/* The functions of platform.h for Linux and other POSIX systems. */

#include "base/platform.h"

#include "base/compiler.h"

#ifndef _WIN32

/* Time */

static uint64_t zt__read_clock(int clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

ZT__PRIVATE uint64_t zt__now_ns(void) {
    return zt__read_clock(CLOCK_MONOTONIC);
}

ZT__PRIVATE uint64_t zt__get_slept_ns(void) {
    uint64_t now = zt__read_clock(CLOCK_MONOTONIC);
    return zt__read_clock(CLOCK_BOOTTIME) - now;
}

ZT__PRIVATE uint64_t zt__get_thread_cpu_ns(void) {
    return zt__read_clock(CLOCK_THREAD_CPUTIME_ID);
}

static struct timespec zt__to_timespec(uint64_t ns) {
    struct timespec time;
    time.tv_sec = (time_t)(ns / 1000000000u);
    time.tv_nsec = (long)(ns % 1000000000u);
    return time;
}

ZT__PRIVATE void zt__sleep(uint64_t ns) {
    struct timespec time = zt__to_timespec(ns);
    nanosleep(&time, NULL);
}

ZT__PRIVATE int zt__convert_to_utc(time_t seconds, struct tm *utc) {
    return gmtime_r(&seconds, utc) != NULL;
}

/* Threads */

ZT__PRIVATE void zt__create_mutex(zt__mutex *mutex) {
    pthread_mutex_init(mutex, NULL);
}

ZT__PRIVATE void zt__destroy_mutex(zt__mutex *mutex) {
    pthread_mutex_destroy(mutex);
}

ZT__PRIVATE void zt__lock(zt__mutex *mutex) {
    pthread_mutex_lock(mutex);
}

ZT__PRIVATE int zt__try_lock_mutex(zt__mutex *mutex) {
    return pthread_mutex_trylock(mutex) == 0;
}

ZT__PRIVATE void zt__unlock(zt__mutex *mutex) {
    pthread_mutex_unlock(mutex);
}

ZT__PRIVATE void zt__create_condition(zt__condition *condition) {
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(condition, &attributes);
    pthread_condattr_destroy(&attributes);
}

ZT__PRIVATE void zt__destroy_condition(zt__condition *condition) {
    pthread_cond_destroy(condition);
}

ZT__PRIVATE void zt__signal_condition(zt__condition *condition) {
    pthread_cond_signal(condition);
}

ZT__PRIVATE void zt__await_condition(zt__condition *condition, zt__mutex *mutex, uint64_t deadline) {
    struct timespec until = zt__to_timespec(deadline);
    pthread_cond_timedwait(condition, mutex, &until);
}

ZT__PRIVATE int zt__create_thread(zt__system_thread *thread,
                                  ZT__THREAD_RESULT(ZT__THREAD_CALL *function)(void *), void *argument) {
    static const int faults[] = {SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGSYS, SIGTRAP};
    zt__signal_set blocked, before;
    int is_created;
    uint32_t i;
    sigfillset(&blocked);
    for (i = 0; i < ZT__COUNT_OF(faults); i++) {
        sigdelset(&blocked, faults[i]);
    }
    pthread_sigmask(SIG_SETMASK, &blocked, &before);
    is_created = pthread_create(thread, NULL, function, argument) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return is_created;
}

ZT__PRIVATE void zt__join_system_thread(zt__system_thread thread) {
    pthread_join(thread, NULL);
}

ZT__PRIVATE int zt__run_on_thread(ZT__THREAD_RESULT(ZT__THREAD_CALL *function)(void *), void *argument) {
#ifdef ZETOOLS_NO_THREADS
    (void)function, (void)argument;
    return 0;
#else
    zt__system_thread thread;
    int is_created = zt__create_thread(&thread, function, argument);
    if (is_created) {
        zt__join_system_thread(thread);
    }
    return is_created;
#endif
}

ZT__PRIVATE int zt__is_calling_thread(zt__system_thread thread) {
    return pthread_equal(thread, pthread_self());
}

ZT__PRIVATE uintptr_t zt__this_thread(void) {
    return (uintptr_t)pthread_self();
}

ZT__PRIVATE uint32_t zt__read_thread_number(void) {
    char path[64]; /* "PROCESS/task/THREAD" */
    ssize_t length = readlink("/proc/thread-self", path, sizeof path - 1);
    const char *number;
    path[length > 0 ? length : 0] = 0;
    number = strrchr(path, '/');
    return number ? (uint32_t)strtoul(number + 1, NULL, 10) : 0;
}

ZT__PRIVATE void zt__read_thread_name(uint32_t thread, char *name, size_t size) {
    char path[64];
    FILE *file;
    name[0] = 0;
    snprintf(path, sizeof path, "/proc/self/task/%u/comm", (unsigned)thread);
    file = fopen(path, "re");
    if (file) {
        if (!fgets(name, (int)size, file)) {
            name[0] = 0;
        }
        name[strcspn(name, "\n")] = 0;
        fclose(file);
    }
}

ZT__PRIVATE int zt__create_key(zt__thread_key *key) {
    return pthread_key_create(key, NULL) == 0;
}

ZT__PRIVATE void zt__delete_key(zt__thread_key key) {
    pthread_key_delete(key);
}

ZT__PRIVATE void *zt__get_thread_value(zt__thread_key key) {
    return pthread_getspecific(key);
}

ZT__PRIVATE int zt__set_thread_value(zt__thread_key key, void *value) {
    return pthread_setspecific(key, value) == 0;
}

/* The process */

ZT__PRIVATE long zt__get_process_id(void) {
    return (long)getpid();
}

ZT__PRIVATE int zt__is_no_process(uint32_t process) {
    return process > INT32_MAX || (kill((pid_t)process, 0) != 0 && errno == ESRCH);
}

ZT__PRIVATE void zt__read_program_bytes(uint8_t bytes[16]) {
    const void *random = (const void *)(uintptr_t)getauxval(AT_RANDOM);
    memset(bytes, 0, 16);
    if (random) {
        memcpy(bytes, random, 16);
    }
}

/* A Dl_info, which strict modes hide. */
typedef struct zt__library_address {
    const char *file;
    const void *begin;
    const char *symbol;
    const void *address;
} zt__library_address;

ZT__PRIVATE void zt__keep_loaded(void) {
    static const char anchor = 0;
    zt__library_address found = {NULL, NULL, NULL, NULL};
    int (*find_address)(const void *address, void *found);
    zt__find_symbol(NULL, "dladdr", (void *)&find_address);
    if (find_address && find_address(&anchor, &found) &&
        found.file) { /* a program is not opened, nor unloaded */
        void *kept = dlopen(found.file, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
        if (kept) {
            dlclose(kept); /* it stays: RTLD_NODELETE */
        }
    }
}

ZT__PRIVATE int zt__call_after_fork(void (*function)(void)) {
    return pthread_atfork(NULL, NULL, function) == 0;
}

static sem_t zt__arrivals;

/* The signal that was caught last, and what it did before. */
static int zt__caught_signal;
static zt__signal_action zt__action_before;

/* Runs at any moment on any thread of the application, also in a forked child, where nobody waits. */
static void zt__note_arrival(int signal) {
    int before = errno;
    (void)signal;
    sem_post(&zt__arrivals);
    errno = before;
}

ZT__PRIVATE zt__signal_refusal zt__catch_signal(const char *name) {
    static const struct {
        const char *name;
        int number;
    } signals[] = {{"USR1", SIGUSR1}, {"USR2", SIGUSR2}};
    zt__signal_action action, before;
    zt__signal_set blocked;
    int number = 0;
    uint32_t i;
    name += strncmp(name, "SIG", 3) == 0 ? 3 : 0;
    for (i = 0; i < ZT__COUNT_OF(signals); i++) {
        number = strcmp(name, signals[i].name) == 0 ? signals[i].number : number;
    }
    if (!number) {
        return ZT__SIGNAL_UNKNOWN;
    }
    sigaction(number, NULL, &before);
    if (before.sa_handler == SIG_IGN) {
        return ZT__SIGNAL_IGNORED;
    }
    /* A forked child has inherited the handler. */
    if (before.sa_handler != SIG_DFL && before.sa_handler != zt__note_arrival) {
        return ZT__SIGNAL_HANDLED;
    }
    pthread_sigmask(SIG_BLOCK, NULL, &blocked);
    if (sigismember(&blocked, number)) {
        return ZT__SIGNAL_BLOCKED;
    }
    zt__keep_loaded();
    sem_init(&zt__arrivals, 0, 0);
    memset(&action, 0, sizeof action);
    action.sa_handler = zt__note_arrival;
    action.sa_flags = SA_RESTART | SA_ONSTACK;
    sigemptyset(&action.sa_mask);
    zt__caught_signal = number;
    zt__action_before = before;
    sigaction(number, &action, NULL);
    return ZT__SIGNAL_CAUGHT;
}

ZT__PRIVATE void zt__release_signal(void) {
    sigaction(zt__caught_signal, &zt__action_before, NULL);
}

/* Returns whether a thread blocks a signal. 0 if that is not known. */
static int zt__blocks_signal(const char *thread, int number) {
    static const char field[] = "SigBlk:";
    char path[64], line[256];
    FILE *file;
    int blocks = 0;
    snprintf(path, sizeof path, "/proc/self/task/%.32s/status", thread);
    file = fopen(path, "re");
    while (file && fgets(line, sizeof line, file)) {
        if (strncmp(line, field, sizeof field - 1) == 0) {
            blocks = (int)(strtoull(line + sizeof field - 1, NULL, 16) >> (number - 1) & 1);
        }
    }
    if (file) {
        fclose(file);
    }
    return blocks;
}

/* Returns whether all threads block a signal. Those of the library do. 0 if that is not known. */
static int zt__do_all_threads_block(int number) {
    DIR *threads = opendir("/proc/self/task");
    const struct dirent *thread;
    int do_all = threads != NULL;
    while (do_all && (thread = readdir(threads)) != NULL) {
        do_all = thread->d_name[0] == '.' || zt__blocks_signal(thread->d_name, number);
    }
    if (threads) {
        closedir(threads);
    }
    return do_all;
}

ZT__PRIVATE zt__signal_refusal zt__find_signal_obstacle(void) {
    zt__signal_action now;
    sigaction(zt__caught_signal, NULL, &now);
    if (now.sa_handler == SIG_IGN) {
        return ZT__SIGNAL_IGNORED;
    }
    if (now.sa_handler != zt__note_arrival) {
        return ZT__SIGNAL_HANDLED;
    }
    return zt__do_all_threads_block(zt__caught_signal) ? ZT__SIGNAL_BLOCKED : ZT__SIGNAL_CAUGHT;
}

ZT__PRIVATE int zt__is_signal_pending(void) {
    zt__signal_set pending;
    sigpending(&pending);
    return sigismember(&pending, zt__caught_signal) == 1;
}

ZT__PRIVATE int zt__await_signal(uint32_t seconds) {
    struct timespec until;
    int result;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += seconds;
    do {
        result = sem_timedwait(&zt__arrivals, &until);
    } while (result != 0 && errno == EINTR);
    return result == 0;
}

ZT__PRIVATE void zt__end_await(void) {
    sem_post(&zt__arrivals);
}

/* Returns whether the program has more rights than the user who runs it: its file has another user's
   (set-user-ID), or capabilities. */
static int zt__has_extra_rights(void) {
    return getauxval(AT_SECURE) != 0;
}

ZT__PRIVATE const char *zt__get_variable(const char *name) {
    return zt__has_extra_rights() ? NULL : getenv(name);
}

ZT__PRIVATE int zt__read_variable(const char *name, char *text, size_t size) {
    const char *value = getenv(name);
    if (value) {
        snprintf(text, size, "%s", value);
    }
    return value != NULL;
}

ZT__PRIVATE void zt__set_variable(const char *name, const char *value, int replaces) {
    setenv(name, value, replaces);
}

ZT__PRIVATE const char *zt__find_permission_remedy(void) {
    static const struct {
        const char *path, *remedy;
    } files[] = {
        {"/proc/sys/dev/xe/observation_paranoid",
         "As root, write 0 to /proc/sys/dev/xe/observation_paranoid, or run with CAP_PERFMON."},
        {"/proc/sys/dev/i915/perf_stream_paranoid",
         "As root, write 0 to /proc/sys/dev/i915/perf_stream_paranoid, or run with CAP_PERFMON."},
    };
    const char *remedy = NULL;
    uint32_t i;
    for (i = 0; i < ZT__COUNT_OF(files); i++) {
        FILE *file = fopen(files[i].path, "re");
        int number;
        if (file) {
            if (fscanf(file, "%d", &number) != 1 || number != 0) {
                remedy = files[i].remedy;
            }
            fclose(file);
        }
    }
    return remedy;
}

static void zt__read_process_name(uint32_t process, char *name, size_t size) {
    char path[64];
    FILE *file;
    size_t i;
    snprintf(name, size, "?");
    snprintf(path, sizeof path, "/proc/%u/comm", (unsigned)process);
    file = fopen(path, "re");
    if (file) {
        if (!fgets(name, (int)size, file)) {
            snprintf(name, size, "?");
        }
        fclose(file);
    }
    name[strcspn(name, "\n")] = 0;
    for (i = 0; name[i]; i++) { /* a process chooses its name, which terminals may show */
        name[i] = name[i] < ' ' || name[i] > '~' ? '?' : name[i];
    }
}

/* Returns whether a process has counters open, which are files of the kernel's drivers i915 and xe; -1 if the system
   does not show its files. Looks at no more than `links_left`. */
static int zt__has_counters_open(uint32_t process, zt__counting_unit unit, uint32_t *links_left) {
    static const char *const names[][2] = {{"anon_inode:[i915_perf]", "anon_inode:[xe_oa]"},
                                           {"anon_inode:[i915_eu_stall]", "anon_inode:[xe_eu_stall]"}};
    char path[64], target[64];
    const struct dirent *entry;
    DIR *directory;
    int found = 0;
    snprintf(path, sizeof path, "/proc/%u/fd", (unsigned)process);
    directory = opendir(path);
    if (!directory) {
        return errno == ENOENT || errno == ESRCH ? 0 : -1; /* it may have ended */
    }
    while (!found && *links_left > 0 && (entry = readdir(directory)) != NULL) {
        --*links_left;
        snprintf(path, sizeof path, "/proc/%u/fd/%.20s", (unsigned)process, entry->d_name);
        zt__read_link(path, target, sizeof target);
        found = strcmp(target, names[unit][0]) == 0 || strcmp(target, names[unit][1]) == 0;
    }
    closedir(directory);
    return found;
}

ZT__PRIVATE zt__counter_user zt__find_counter_user(zt__counting_unit unit) {
    enum { MOST_LINKS = 100000 }; /* which take some 0.1 s */
    uint32_t links_left = MOST_LINKS, own = (uint32_t)zt__get_process_id();
    const struct dirent *entry;
    zt__counter_user user;
    DIR *directory = opendir("/proc");
    memset(&user, 0, sizeof user);
    while (directory && (user.process == 0 || user.process == own) && (entry = readdir(directory)) != NULL) {
        uint32_t process = (uint32_t)strtoul(entry->d_name, NULL, 10);
        int is_open = process ? zt__has_counters_open(process, unit, &links_left) : 0;
        user.is_shown |= process == own;
        user.hidden += is_open < 0;
        if (is_open > 0) {
            user.process = process;
        }
        if (links_left == 0) { /* there may be others */
            user.is_shown = 0;
            break;
        }
    }
    if (directory) {
        closedir(directory);
    }
    if (user.process) {
        zt__read_process_name(user.process, user.name, sizeof user.name);
    }
    return user;
}

ZT__PRIVATE void zt__read_program(char *program, size_t room) {
    FILE *file = fopen("/proc/self/cmdline", "re");
    char arguments[1024]; /* with a 0 after each */
    size_t at, used = 0, size = 0;
    if (file) {
        size = fread(arguments, 1, sizeof arguments - 1, file);
        fclose(file);
    }
    arguments[size] = 0;
    program[0] = 0;
    for (at = 0; at < size && used < room; at += strlen(arguments + at) + 1) {
        const char *quote = strchr(arguments + at, ' ') ? "\"" : "";
        int length =
            snprintf(program + used, room - used, "%s%s%s%s", at ? " " : "", quote, arguments + at, quote);
        used += length > 0 ? (size_t)length : 0;
    }
}

ZT__PRIVATE int zt__compare_ignoring_case(const char *a, const char *b) {
    return strcasecmp(a, b);
}

/* Files */

ZT__PRIVATE int zt__is_separator(char character) {
    return character == '/';
}

ZT__PRIVATE int zt__is_absolute(const char *path) {
    return *path == '/';
}

ZT__PRIVATE FILE *zt__open_file(const char *path, const zt__mode_character *mode) {
    FILE *file;
    do { /* a signal may interrupt the wait for a reader of a pipe */
        file = fopen(path, mode);
    } while (!file && errno == EINTR);
    return file;
}

/* Signals that end the program when a write fails, unless the thread blocks them: SIGPIPE if nobody reads a
   pipe any more, SIGXFSZ above the size that files may have. */
typedef struct zt__write_signals {
    zt__signal_set before, pending;
} zt__write_signals;

static void zt__block_write_signals(zt__write_signals *signals) {
    zt__signal_set blocked;
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGPIPE);
    sigaddset(&blocked, SIGXFSZ);
    sigemptyset(&signals->pending);
    sigpending(&signals->pending);
    pthread_sigmask(SIG_BLOCK, &blocked, &signals->before);
}

/* Removes the signal that a failed write has raised, unless it was pending before. Keeps errno. */
static void zt__unblock_write_signals(const zt__write_signals *signals) {
    const struct timespec at_once = {0, 0};
    int reason = errno, number = reason == EPIPE ? SIGPIPE : reason == EFBIG ? SIGXFSZ : 0;
    if (number && !sigismember(&signals->pending, number)) {
        zt__signal_set raised;
        sigemptyset(&raised);
        sigaddset(&raised, number);
        while (sigtimedwait(&raised, NULL, &at_once) < 0 && errno == EINTR) {
        }
    }
    pthread_sigmask(SIG_SETMASK, &signals->before, NULL);
    errno = reason;
}

/* Waits until a descriptor has room. Returns 0 if it has none after 10 seconds. */
static int zt__await_room(int descriptor) {
    enum { LONGEST_MS = 10000 };
    const uint64_t begin = zt__now_ns();
    struct pollfd writable = {descriptor, POLLOUT, 0};
    uint64_t passed_ms = 0;
    int ready;
    do {
        ready = poll(&writable, 1, (int)(LONGEST_MS - passed_ms));
        passed_ms = (zt__now_ns() - begin) / 1000000;
    } while (ready < 0 && errno == EINTR && passed_ms < LONGEST_MS);
    return ready > 0;
}

/* Returns 0 if all was written. What the application has written to `file` is flushed first. A C library
   discards it if a signal interrupts the flush, so this waits until there is room: a pipe then has enough for
   the usual buffer. A terminal or a pipe that does not block is waited for likewise. */
static int zt__write_to_descriptor(FILE *file, int descriptor, const char *next, size_t size) {
    zt__await_room(descriptor);
    if (fflush(file) != 0) {
        return 1;
    }
    while (size > 0) {
        ssize_t written = write(descriptor, next, size);
        if (written < 0 && errno == EAGAIN) {
            if (!zt__await_room(descriptor)) {
                errno = EAGAIN;
                return 1;
            }
        } else if (written < 0 && errno != EINTR) {
            return 1;
        }
        next += written > 0 ? written : 0;
        size -= written > 0 ? (size_t)written : 0;
    }
    return 0;
}

ZT__PRIVATE int zt__write_to_file(const void *bytes, size_t size, void *user) {
    FILE *file = (FILE *)user;
    int descriptor = fileno(file), has_failed;
    zt__write_signals signals;
    if (descriptor < 0) { /* a stream in memory */
        errno = 0;        /* which fileno has set */
        return fwrite(bytes, 1, size, file) != size;
    }
    zt__block_write_signals(&signals);
    errno = 0;
    has_failed = zt__write_to_descriptor(file, descriptor, (const char *)bytes, size);
    zt__unblock_write_signals(&signals);
    return has_failed;
}

ZT__PRIVATE int zt__get_file_properties(const char *path, zt__file_properties *properties) {
    struct stat status;
    if (stat(path, &status) != 0) {
        return 0;
    }
    properties->size = (uint64_t)status.st_size;
    properties->is_regular = S_ISREG(status.st_mode);
    properties->is_directory = S_ISDIR(status.st_mode);
    properties->permissions = status.st_mode & 0777;
    properties->group = status.st_gid;
    return 1;
}

ZT__PRIVATE int zt__rename_file(const char *from, const char *to) {
    return rename(from, to) == 0;
}

ZT__PRIVATE void zt__remove_file(const char *path) {
    remove(path);
}

/* Gives a new file, which only its owner may use, group and permissions of the file that it replaces. If the system
   refuses the group, others may do with it what both the group and others might. */
static void zt__copy_access(int file, const zt__file_properties *properties) {
    mode_t all = properties->permissions;
    mode_t shared = all & all >> 3 & 7;
    int has_group = fchown(file, (uid_t)-1, properties->group) == 0;
    fchmod(file, has_group ? all : (all & 0700) | shared << 3 | shared);
}

ZT__PRIVATE FILE *zt__create_file(const char *path, const zt__file_properties *properties) {
    FILE *file;
    int descriptor;
    unlink(path);
    do {
        descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC,
                          properties ? properties->permissions & 0700 : 0666);
    } while (descriptor < 0 && errno == EINTR);
    if (descriptor >= 0 && properties) {
        zt__copy_access(descriptor, properties);
    }
    file = descriptor < 0 ? NULL : fdopen(descriptor, "wb");
    if (!file && descriptor >= 0) {
        int reason = errno;
        close(descriptor);
        unlink(path);
        errno = reason;
    }
    return file;
}

ZT__PRIVATE FILE *zt__create_temporary_file(void) {
    FILE *file = tmpfile();
    if (file) {
        fcntl(fileno(file), F_SETFD, FD_CLOEXEC);
    }
    return file;
}

ZT__PRIVATE int zt__make_directory(const char *path) {
    return mkdir(path, 0777) == 0 || errno == EEXIST;
}

ZT__PRIVATE int zt__get_working_directory(char *path, size_t size) {
    return getcwd(path, size) != NULL;
}

ZT__PRIVATE size_t zt__read_link(const char *path, char *target, size_t size) {
    ssize_t length = readlink(path, target, size - 1);
    target[length > 0 ? length : 0] = 0;
    return length > 0 ? (size_t)length : 0;
}

ZT__PRIVATE int zt__get_terminal_width(void) {
    struct winsize size;
    return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

ZT__PRIVATE unsigned zt__begin_utf8(FILE *file) {
    (void)file;
    return 0;
}

ZT__PRIVATE void zt__end_utf8(unsigned before) {
    (void)before;
}

/* Symbols, and the end of the process */

ZT__PRIVATE int zt__find_symbol(const char *library, const char *name, void *function) {
    void *handle = dlopen(library, library ? RTLD_LAZY | RTLD_NOLOAD : RTLD_LAZY);
    void *symbol = handle ? dlsym(handle, name) : NULL;
    memcpy(function, &symbol, sizeof symbol); /* ISO C has no cast from object to function */
    if (handle) {
        dlclose(handle);
    }
    return handle != NULL;
}

ZT__PRIVATE int zt__has_lost_threads(void) {
    return 0;
}

#endif
