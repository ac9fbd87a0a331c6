/* The process that debugs for a watch. */

#include "watch/helper.h"

#include "base/compiler.h"
#include "base/memory.h"
#include "base/platform.h"
#include "base/text.h"
#include "watch/server.h"

#ifdef ZETOOLS_DEBUG

#ifndef _WIN32

#ifndef SO_PEERCRED

#define SO_PEERCRED 17 /* hidden in strict ISO modes */
#endif

/* What SO_PEERCRED returns. The C library hides the type. */
typedef struct zt__peer {
    pid_t process;
    uid_t user;
    gid_t group;
} zt__peer;

ZT__PRIVATE size_t zt__answer_size(const zt__watch_answer *answer) {
    return offsetof(zt__watch_answer, places) + answer->place_count * sizeof *answer->places;
}

/* Runs before main, in every process that has this code. It returns unless the process was started as a
   helper, which the socket shows; then it never returns, so main is not called. The helper serves until the
   program has closed its end of the socket, or has ended while a child of it keeps that end open. */
__attribute__((constructor(101))) static void zt__become_helper(void) {
    const int socket = ZT__HELPER_DESCRIPTOR;
    const char *value = getenv(ZT__HELPER_VARIABLE); /* also with extra rights: see below */
    long program;
    zt__peer peer; /* the process that has made the socket */
    socklen_t size = sizeof peer;
    DIR *directory;
    const struct dirent *entry;
    const int is_ending = 0; /* the program closes the socket instead */
    zt__watch_server server = {NULL, &zt__default_allocator, NULL, &is_ending, NULL, 0, 0, 0};
    zt__watch_request request;
    zt__watch_answer *answer;
    int is_asked;
    memset(&peer, 0, sizeof peer);
    if (!value || sscanf(value, "%ld", &program) != 1 || program <= 1) {
        return;
    }
    if (getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0 && errno != EBADF &&
        errno != ENOTSOCK) {
        _exit(0); /* it may be a helper: the program must not run again */
    }
    if (size != sizeof peer || peer.process != program) {
        return;
    }
    /* It is a helper. It does not serve if the program has ended, or if its file gives it other rights. It is
       no child of the program, so that programs which wait for all their children do not wait for it. */
    if (zt__has_extra_rights() || getppid() != program || peer.user != getuid() || fork() != 0) {
        _exit(0);
    }
    unsetenv(ZT__HELPER_VARIABLE);

    /* Close what the program has open, so that its files and ports do not stay in use. */
    directory = opendir("/proc/self/fd");
    while (directory && (entry = readdir(directory))) {
        int descriptor = atoi(entry->d_name);
        if (descriptor > STDERR_FILENO && descriptor != socket && descriptor != dirfd(directory)) {
            close(descriptor);
        }
    }
    if (directory) {
        closedir(directory);
    }

    /* The first message reports that the helper is there. */
    answer = (zt__watch_answer *)calloc(1, sizeof *answer);
    is_asked = answer != NULL;
    if (answer) {
        answer->process = (uint32_t)zt__get_process_id();
    }
    while (is_asked && send(socket, answer, zt__answer_size(answer), MSG_NOSIGNAL) > 0) {
        struct pollfd readable = {socket, POLLIN, 0};
        while (poll(&readable, 1, ZT__HELPER_LOOK_MS) <= 0 && kill((pid_t)program, 0) == 0) {
        }
        is_asked = readable.revents && recv(socket, &request, sizeof request, 0) == (ssize_t)sizeof request;
        if (is_asked) {
            zt__serve_watch(&server, &request, answer);
        }
    }
    zt_debug_close(server.debugger);
    _exit(0);
}

/* Finds the file that is mapped at an address of this process. Returns 0 if there is none. */
static int zt__find_mapped_file(uintptr_t address, char *path, size_t size) {
    FILE *maps = fopen("/proc/self/maps", "re");
    char line[4096 + 256];
    int is_found = 0;
    while (maps && !is_found && fgets(line, sizeof line, maps)) {
        unsigned long long begin, end;
        const char *slash = strchr(line, '/');
        if (slash && sscanf(line, "%llx-%llx", &begin, &end) == 2 && address >= begin && address < end) {
            zt__copy_text(path, size, slash, strcspn(slash, "\n"));
            is_found = 1;
        }
    }
    if (maps) {
        fclose(maps);
    }
    return is_found;
}

ZT__PRIVATE int zt__find_helper(zt__helper_command *command) {
    uintptr_t base = (uintptr_t)getauxval(AT_BASE);
    ssize_t length = readlink("/proc/self/exe", command->linker, sizeof command->linker - 1);
    static const char *const shell[] = {"/bin/sh", "-c", ":"};
    uint32_t i, count = 1;
    if (length <= 0 ||
        !zt__find_mapped_file((uintptr_t)&zt__become_helper, command->file, sizeof command->file)) {
        return 0;
    }
    command->linker[length] = 0; /* for now, the file that was executed */
    command->arguments[0] = command->file;
    strcpy(command->program, "/proc/self/exe");
    if (strcmp(command->linker, command->file) == 0) {
        return 1;
    }
    command->arguments[0] = command->linker;
    if (base == 0) {
        /* What was executed is the dynamic linker itself: "ld.so [--library-path PATH] PROGRAM". */
        char *text = command->arguments_of_program, *next;
        FILE *file = fopen("/proc/self/cmdline", "re");
        size_t used = file ? fread(text, 1, sizeof command->arguments_of_program - 4, file) : 0;
        if (file) {
            fclose(file);
        }
        memset(text + used, 0, 4);
        next = text + strlen(text) + 1;
        if (strcmp(next, "--library-path") == 0) {
            command->arguments[count++] = next;
            next += strlen(next) + 1;
            command->arguments[count++] = next;
            next += strlen(next) + 1;
        }
        if (realpath(next, command->program) && strcmp(command->program, command->file) == 0) {
            command->arguments[count] = command->file;
            strcpy(command->program, "/proc/self/exe");
            return 1;
        }
    } else if (!zt__find_mapped_file(base, command->linker, sizeof command->linker)) {
        return 0;
    }
    strcpy(command->program, command->linker);
    command->arguments[count++] = "--preload";
    command->arguments[count++] = command->file;
    for (i = 0; i < ZT__COUNT_OF(shell); i++) {
        command->arguments[count++] = shell[i];
    }
    return strpbrk(command->file, " :") == NULL; /* these would separate several libraries */
}

#endif

#endif
