/* A program that names its work for ITT. Its arguments are what it does, each with those that it needs:

   begin DOMAIN NAME, end DOMAIN            a task; task names may be new or known
   function DOMAIN                          a task that is named by a function
   overlapped DOMAIN NAME NUMBER            a task that may end in any order, with overlapped-end DOMAIN NUMBER
   region DOMAIN NAME NUMBER                with region-end DOMAIN NUMBER
   frame DOMAIN NUMBER, frame-end DOMAIN NUMBER   0: without an identifier
   early DOMAIN NAME                        creates both. Before any other word, they are the static part's
   on DOMAIN                                switches a domain on
   pause, resume, detach, pause-scoped SCOPE, resume-scoped SCOPE
   thread                                   what comes next is done on another thread
   again                                    a second static part, of the same functions, is initialised
   wide                                     an overlapped task, all of whose names are in wide characters alone
   fork                                     a child process creates, begins and ends a task, and exits
   fork-end DOMAIN                          a child process ends a task of its parent in a phase of its own, and exits
   fini                                     ends ITT
   storm                                    much of it on several threads at once
   open                                     prepares work for the device, and calls zeInit
   run, sum                                 does it: launches "saxpy" from a recorded list and "reduce", or "reduce" alone
   version NUMBER                           of ITT, for the collector
   loader                                   prints whether the loader enables its tracing layer after zeInit */
#define _GNU_SOURCE
#include "steps.h"

#include <sys/wait.h>
#include <unistd.h>

#include "itt_static.h"

#ifdef WITH_ZT_AUTO
#define ZETOOLS_IMPLEMENTATION
#define ZETOOLS_TRACER
#include "../../zetools.h"
#endif

static itt_domain *domain_of(const char *name) {
    static itt_domain *known[16];
    int i;
    for (i = 0; known[i]; i++)
        if (strcmp(known[i]->name, name) == 0)
            return known[i];
    return known[i] = itt_domain_create(name);
}

static itt_id id_of(const char *number) {
    itt_id id = {strtoull(number, NULL, 10), 0, 7};
    return id;
}

static void *storm(void *number) {
    char name[32];
    for (int i = 0; i < 2000; i++) {
        snprintf(name, sizeof name, "domain %d", i % 100);
        itt_domain *domain = itt_domain_create(name);
        itt_id id = {(uint64_t)(intptr_t)number, 0, 0}, other = {(id.d1 + 1) % 4, 0, 0};
        ITT(task_begin, domain, no_id, no_id, itt_string_handle_create(i % 2 ? "odd" : "even"));
        ITT(region_begin, domain, id, no_id, itt_string_handle_create("region"));
        if (domain->flags && itt_task_end)
            itt_task_end(domain);
        ITT(region_end, domain, i % 3 ? id : other);
        if (i % 100 == 50)
            itt_pause();
        if (i % 100 == 60)
            itt_resume();
    }
    return NULL;
}

static void run_storm(void) {
    pthread_t threads[4];
    for (intptr_t i = 0; i < 4; i++)
        if (pthread_create(&threads[i], NULL, storm, (void *)i) != 0)
            exit(7);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    itt_resume();
}

/* Does what the first of the words says. Returns how many of them it was. */
static int perform(char **words) {
    const char *what = words[0];
    if (strcmp(what, "run") == 0) {
        run_steps(1);
    } else if (strcmp(what, "sum") == 0) {
        run_steps(0);
    } else if (strcmp(what, "version") == 0) {
        itt.major = strtoul(words[1], NULL, 10);
        return 2;
    } else if (strcmp(what, "loader") == 0) {
        void *function = dlsym(RTLD_DEFAULT, "zelEnableTracingLayer");
        printf("enables its tracing layer later: %s\n", function ? "yes" : "no");
    } else if (strcmp(what, "open") == 0) {
        open_solver();
    } else if (strcmp(what, "again") == 0) {
        static itt_global second;
        void (*init)(itt_global *, int) = NULL;
        second = itt;
        *(void **)&init = dlsym(itt.library, "__itt_api_init");
        init(&second, -1);
    } else if (strcmp(what, "wide") == 0) {
        static itt_domain domain;
        static itt_text text;
        domain.flags = 1;
        ITT(task_begin_overlapped, &domain, no_id, no_id, &text);
#ifdef WITH_ZT_AUTO
    } else if (strcmp(what, "fork-end") == 0) {
        char *end[] = {"end", words[1]};
        pid_t child = fork();
        int status = 1;
        if (child == 0) {
            zt_phase_begin("of the child");
            const void *phase = zt_phase_current().phase;
            perform(end);
            _exit(zt_phase_current().phase == phase ? 0 : 8);
        }
        if (waitpid(child, &status, 0) != child || status != 0)
            exit(9);
        return 2;
#endif
    } else if (strcmp(what, "fork") == 0) {
        char *words_of_child[] = {"begin", "of the child", "task of the child", "end", "of the child"};
        pid_t child = fork();
        int status = 1;
        if (child == 0) {
            perform(words_of_child);
            perform(words_of_child + 3);
            exit(0);
        }
        if (waitpid(child, &status, 0) != child || status != 0)
            exit(9);
    } else if (strcmp(what, "storm") == 0) {
        run_storm();
    } else if (strcmp(what, "pause") == 0) {
        itt_pause();
    } else if (strcmp(what, "resume") == 0) {
        itt_resume();
    } else if (strcmp(what, "detach") == 0) {
        itt_detach();
    } else if (strcmp(what, "fini") == 0) {
        void (*fini)(itt_global *) = NULL;
        *(void **)&fini = dlsym(itt.library, "__itt_api_fini");
        fini(&itt);
    } else if (strcmp(what, "pause-scoped") == 0) {
        itt_pause_scoped(atoi(words[1]));
        return 2;
    } else if (strcmp(what, "resume-scoped") == 0) {
        itt_resume_scoped(atoi(words[1]));
        return 2;
    } else {
        itt_domain *domain = domain_of(words[1]);
        itt_id id;
        if (strcmp(what, "begin") == 0) {
            ITT(task_begin, domain, no_id, no_id, itt_string_handle_create(words[2]));
            return 3;
        } else if (strcmp(what, "end") == 0) {
            if (domain->flags && itt_task_end)
                itt_task_end(domain);
            return 2;
        } else if (strcmp(what, "function") == 0) {
            ITT(task_begin_fn, domain, no_id, no_id, (void *)(uintptr_t)&no_id);
            return 2;
        } else if (strcmp(what, "overlapped") == 0) {
            ITT(task_begin_overlapped, domain, id_of(words[3]), no_id, itt_string_handle_create(words[2]));
            return 4;
        } else if (strcmp(what, "overlapped-end") == 0) {
            ITT(task_end_overlapped, domain, id_of(words[2]));
            return 3;
        } else if (strcmp(what, "region") == 0) {
            ITT(region_begin, domain, id_of(words[3]), no_id, itt_string_handle_create(words[2]));
            return 4;
        } else if (strcmp(what, "region-end") == 0) {
            ITT(region_end, domain, id_of(words[2]));
            return 3;
        } else if (strcmp(what, "frame") == 0) {
            id = id_of(words[2]);
            ITT(frame_begin_v3, domain, id.d1 ? &id : NULL);
            return 3;
        } else if (strcmp(what, "frame-end") == 0) {
            id = id_of(words[2]);
            ITT(frame_end_v3, domain, id.d1 ? &id : NULL);
            return 3;
        } else if (strcmp(what, "early") == 0) {
            itt_string_handle_create(words[2]);
            return 3;
        } else if (strcmp(what, "on") == 0) {
            domain->flags = 1;
            return 2;
        }
        exit(2);
    }
    return 1;
}

static void *perform_on_thread(void *words) {
    return (void *)(intptr_t)perform((char **)words);
}

int main(int argc, char **argv) {
#ifdef WITH_ZT_AUTO
    zt_auto(NULL);
#endif
    for (char **words = argv + 1; words < argv + argc;) {
        if (strcmp(*words, "thread") == 0) {
            pthread_t thread;
            void *count;
            if (pthread_create(&thread, NULL, perform_on_thread, words + 1) != 0 ||
                pthread_join(thread, &count) != 0)
                return 6;
            words += 1 + (intptr_t)count;
        } else {
            words += perform(words);
        }
    }
    if (solver)
        stepper_close(solver);
    return 0;
}
