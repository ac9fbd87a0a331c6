/* Functions of the loader by name, demangled names of C++, and programs that the library runs. */

#include "base/programs.h"

#include "base/compiler.h"
#include "base/platform.h"
#include "base/threads.h"

/* ---- symbols --------------------------------------------------------------------------------------------- */

ZT__PRIVATE void zt__find_loader_symbol(const char *name, void *function) {
    if (!zt__find_symbol(ZT__LOADER, name, function)) {
        zt__find_symbol(NULL, name, function);
    }
}

ZT__PRIVATE void zt__enable_layer_again(void) {
    ze_result_t(ZE_APICALL * disable)(void);
    ze_result_t(ZE_APICALL * enable)(void);
    zt__find_loader_symbol("zelDisableTracingLayer", (void *)&disable);
    zt__find_loader_symbol("zelEnableTracingLayer", (void *)&enable);
    if (disable && enable) { /* the loader counts: enabling what is enabled switches nothing */
        disable();
        enable();
    }
}

ZT__PRIVATE char *zt__demangle(const char *name) {
    static const char *const libraries[] = {NULL, ZT__CXX_LIBRARIES};
    static const char type[] = "typeinfo name for "; /* before the type that names a SYCL kernel */
    char *(*demangle)(const char *, char *, size_t *, int *);
    char *text = NULL;
    uint32_t i;
    for (i = 0; strncmp(name, "_Z", 2) == 0 && i < ZT__COUNT_OF(libraries) && !text; i++) {
        int status;
        zt__find_symbol(libraries[i], "__cxa_demangle", (void *)&demangle);
        text = demangle ? demangle(name, NULL, NULL, &status) : NULL;
    }
    if (text && strncmp(text, type, sizeof type - 1) == 0) {
        memmove(text, text + sizeof type - 1, strlen(text) - (sizeof type - 1) + 1);
    }
    return text;
}

ZT__PRIVATE const char *zt__show_name(const char *name, char **demangled) {
    *demangled = zt__demangle(name);
    return *demangled ? *demangled : name;
}

/* ---- other programs -------------------------------------------------------------------------------------- */

#ifndef _WIN32

/* The descriptor of `object` in the program; ZT__TOOL_OBJECT is its path. */
enum { ZT__TOOL_DESCRIPTOR = 9 };

/* Waits until a child has ended, so that it is no zombie, and kills it at the deadline. The application may
   wait for all of its children, or ignore them; then waitpid fails. */
static void zt__await_child(pid_t process, uint64_t deadline) {
    enum { KILLED_NS = 1000000000 };
    zt__wait wait = zt__wait_until(deadline);
    pid_t ended;
    do {
        ended = waitpid(process, NULL, WNOHANG);
    } while ((ended == 0 || (ended < 0 && errno == EINTR)) && zt__wait_again(&wait));
    if (ended == 0) {
        kill(process, SIGKILL);
        wait = zt__wait_until(zt__deadline(KILLED_NS));
        while (waitpid(process, NULL, WNOHANG) == 0 && zt__wait_again(&wait)) {
        }
    }
}

/* Lets a program start with no signal blocked: the calling thread may be one of the library's, which block
   nearly all. Returns 0 if that fails. */
static int zt__unblock_signals(posix_spawnattr_t *attributes) {
    zt__signal_set none;
    sigemptyset(&none);
    return posix_spawnattr_setsigmask(attributes, (const sigset_t *)(const void *)&none) == 0 &&
           posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETSIGMASK) == 0;
}

ZT__PRIVATE int zt__run_tool(const zt__tool *tool) {
    enum { LEAST = ZT__TOOL_DESCRIPTOR + 1 }; /* above those of the program, so that none replaces another */
    char path[4096 + 8], libraries[4096 + 24], text[4096 + 64], *end;
    char c_locale[] = "LC_ALL=C";
    const char *given_path = zt__get_variable("PATH"), *given_libraries = zt__get_variable("LD_LIBRARY_PATH");
    char *environment[4] = {c_locale, path, NULL, NULL};
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    int pipes[2], descriptors[3], has_actions, has_attributes, failed = 1, is_too_long = 0;
    uint64_t now, killed_at = 0; /* at once, unless it has closed its output */
    size_t used = 0;
    uint32_t i;
    pid_t process = 0;
    if (!given_path || strlen(given_path) >= 4096 || pipe2(pipes, O_CLOEXEC) != 0) {
        return 0;
    }
    snprintf(path, sizeof path, "PATH=%s", given_path);
    if (given_libraries && strlen(given_libraries) < 4096) {
        snprintf(libraries, sizeof libraries, "LD_LIBRARY_PATH=%s", given_libraries);
        environment[2] = libraries;
    }

    /* The descriptors are duplicated, and no other program inherits them. */
    descriptors[0] = fcntl(fileno(tool->input), F_DUPFD_CLOEXEC, LEAST);
    descriptors[1] = fcntl(fileno(tool->object), F_DUPFD_CLOEXEC, LEAST);
    descriptors[2] = fcntl(pipes[1], F_DUPFD_CLOEXEC, LEAST);
    close(pipes[1]);
    has_actions = posix_spawn_file_actions_init(&actions) == 0;
    has_attributes = posix_spawnattr_init(&attributes) == 0;
    if (has_actions && has_attributes && descriptors[0] >= 0 && descriptors[1] >= 0 && descriptors[2] >= 0 &&
        lseek(descriptors[0], 0, SEEK_SET) == 0) {
        failed = !zt__unblock_signals(&attributes);
        failed |= posix_spawn_file_actions_adddup2(&actions, descriptors[0], STDIN_FILENO) != 0;
        failed |= posix_spawn_file_actions_adddup2(&actions, descriptors[2], STDOUT_FILENO) != 0;
        failed |= posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0) != 0;
        failed |= posix_spawn_file_actions_adddup2(&actions, descriptors[1], ZT__TOOL_DESCRIPTOR) != 0;
        failed = failed || posix_spawnp(&process, tool->arguments[0], &actions, &attributes,
                                        (char *const *)(uintptr_t)tool->arguments, environment) != 0;
    }
    if (has_attributes) {
        posix_spawnattr_destroy(&attributes);
    }
    if (has_actions) {
        posix_spawn_file_actions_destroy(&actions);
    }
    for (i = 0; i < ZT__COUNT_OF(descriptors); i++) {
        if (descriptors[i] >= 0) {
            close(descriptors[i]);
        }
    }

    /* Read its output until it is closed, and pass on each complete line. */
    while (!failed && (now = zt__now_ns()) < tool->deadline) {
        struct pollfd readable = {pipes[0], POLLIN, 0};
        ssize_t size = 0;
        int ready;
        if (used + 1 == sizeof text) {
            is_too_long = 1;
            used = 0;
        }
        ready = poll(&readable, 1, (int)((tool->deadline - now) / 1000000) + 1);
        size = ready > 0 ? read(pipes[0], text + used, sizeof text - 1 - used) : 0;
        if ((ready < 0 || size < 0) && errno != EINTR) {
            break;
        }
        if (ready > 0 && size == 0) { /* the end of its output */
            killed_at = tool->deadline;
            break;
        }
        used += size > 0 ? (size_t)size : 0;
        while ((end = (char *)memchr(text, '\n', used))) {
            *end = 0;
            tool->line(tool->user, is_too_long || strlen(text) < (size_t)(end - text) ? "" : text);
            is_too_long = 0;
            used -= (size_t)(end + 1 - text);
            memmove(text, end + 1, used);
        }
    }
    if (!failed) {
        zt__await_child(process, killed_at);
    }
    close(pipes[0]);
    return !failed;
}

#else

ZT__PRIVATE int zt__run_tool(const zt__tool *tool) {
    (void)tool; /* not on this system yet */
    return 0;
}

#endif
