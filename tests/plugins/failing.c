/* Preloaded into an example: an allocation or a system call of one of its files fails. Of all such calls of the file that
   FAILING_FILE names, the one of the number in FAILING_CALL, or this one and all after it: NUMBER:ERRNO, or
   NUMBER:ERRNO:ever. When the program exits, the file FAILING_COUNT has their number. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The C library's own, which dlsym() may call. */
extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *block, size_t size);

static const char *failing_file; /* NULL: nothing is counted */
static unsigned long fails_at, count;
static int error, for_ever;

__attribute__((constructor)) static void read_variables(void) {
    const char *text = getenv("FAILING_CALL"), *file = getenv("FAILING_FILE");
    char lasts[8] = "";
    if (text && sscanf(text, "%lu:%i:%7s", &fails_at, &error, lasts) >= 2)
        for_ever = strcmp(lasts, "ever") == 0;
    unsetenv("LD_PRELOAD"); /* other programs are not counted */
    failing_file = file;
}

__attribute__((destructor)) static void write_count(void) {
    const char *path = getenv("FAILING_COUNT");
    unsigned long calls = __atomic_load_n(&count, __ATOMIC_RELAXED);
    __atomic_store_n(&failing_file, NULL, __ATOMIC_RELAXED);
    FILE *file = path ? fopen(path, "w") : NULL;
    if (file) {
        fprintf(file, "%lu\n", calls);
        fclose(file);
    }
}

static int fails(const void *caller) {
    Dl_info info;
    const char *file = __atomic_load_n(&failing_file, __ATOMIC_RELAXED); /* other threads run until the end */
    if (!file || dladdr(caller, &info) == 0 || !strstr(info.dli_fname, file))
        return 0;
    unsigned long number = __atomic_add_fetch(&count, 1, __ATOMIC_RELAXED);
    if (fails_at == 0 || (for_ever ? number < fails_at : number != fails_at))
        return 0;
    errno = error;
    return 1;
}

#define FAILS fails(__builtin_return_address(0))
#define REAL(name) (*(__typeof__(name) **)&(void *){dlsym(RTLD_NEXT, #name)})

/* A function of the C library, with what it returns where it fails. */
#define FAILING(type, failure, name, parameters, arguments)                                                  \
    type name parameters {                                                                                   \
        return FAILS ? failure : REAL(name) arguments;                                                       \
    }

void *malloc(size_t size) {
    return FAILS ? NULL : __libc_malloc(size);
}

void *calloc(size_t items, size_t size) {
    return FAILS ? NULL : __libc_calloc(items, size);
}

void *realloc(void *block, size_t size) {
    return FAILS ? NULL : __libc_realloc(block, size);
}

int open(const char *path, int flags, ...) {
    va_list more;
    va_start(more, flags);
    mode_t mode = flags & O_CREAT ? va_arg(more, mode_t) : 0;
    va_end(more);
    return FAILS ? -1 : REAL(open)(path, flags, mode);
}

/* The library gives it numbers alone. */
int fcntl(int file, int command, ...) {
    va_list more;
    va_start(more, command);
    int number = va_arg(more, int);
    va_end(more);
    return FAILS ? -1 : REAL(fcntl)(file, command, number);
}

/* These two end what they are given, also if they fail. */
int fclose(FILE *file) {
    int failed = FAILS, result = REAL(fclose)(file);
    return failed ? EOF : result;
}

int close(int file) {
    int failed = FAILS, result = REAL(close)(file);
    return failed ? -1 : result;
}

FAILING(FILE *, NULL, fopen, (const char *path, const char *mode), (path, mode))
FAILING(FILE *, NULL, tmpfile, (void), ())
FAILING(FILE *, NULL, fdopen, (int file, const char *mode), (file, mode))
FAILING(size_t, 0, fread, (void *bytes, size_t size, size_t items, FILE *file), (bytes, size, items, file))
FAILING(char *, NULL, fgets, (char *line, int size, FILE *file), (line, size, file))
FAILING(int, EOF, fflush, (FILE * file), (file))
FAILING(ssize_t, -1, read, (int file, void *bytes, size_t size), (file, bytes, size))
FAILING(ssize_t, -1, write, (int file, const void *bytes, size_t size), (file, bytes, size))
FAILING(off_t, -1, lseek, (int file, off_t offset, int from), (file, offset, from))
FAILING(int, -1, rename, (const char *from, const char *to), (from, to))
FAILING(int, -1, remove, (const char *path), (path))
FAILING(int, -1, unlink, (const char *path), (path))
FAILING(int, -1, mkdir, (const char *path, mode_t mode), (path, mode))
FAILING(int, -1, chmod, (const char *path, mode_t mode), (path, mode))
FAILING(int, -1, stat, (const char *path, struct stat *status), (path, status))
FAILING(ssize_t, -1, readlink, (const char *path, char *target, size_t size), (path, target, size))
FAILING(char *, NULL, getcwd, (char *path, size_t size), (path, size))
FAILING(int, -1, setenv, (const char *name, const char *value, int replaces), (name, value, replaces))
FAILING(int, -1, pipe2, (int ends[2], int flags), (ends, flags))
FAILING(int, -1, poll, (struct pollfd * files, nfds_t items, int timeout), (files, items, timeout))
FAILING(void *, NULL, dlopen, (const char *path, int mode), (path, mode))
FAILING(int, error, pthread_create,
        (pthread_t * thread, const pthread_attr_t *attributes, void *(*function)(void *), void *argument),
        (thread, attributes, function, argument))
FAILING(int, error, pthread_key_create, (pthread_key_t * key, void (*destroy)(void *)), (key, destroy))
FAILING(int, error, posix_spawnp,
        (pid_t * child, const char *file, const posix_spawn_file_actions_t *actions,
         const posix_spawnattr_t *attributes, char *const arguments[], char *const environment[]),
        (child, file, actions, attributes, arguments, environment))
