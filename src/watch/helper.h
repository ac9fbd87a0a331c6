/* The process that debugs for a watch. */

#pragma once

#include "base/compiler.h"
#include "base/system.h"
#include "watch/server.h"

#ifdef ZETOOLS_DEBUG

#ifndef _WIN32

/* The helper runs the same code: the file that has it is started with a variable of the environment, by which
   a constructor knows, before main is called, that it is to serve. Helper and program talk through a socket
   that the helper inherits, and that nobody else can open. */

enum { ZT__HELPER_DESCRIPTOR = 9, ZT__HELPER_LOOK_MS = 500 };

#define ZT__HELPER_VARIABLE "ZETOOLS_HELPER_1"

/* The command line of a helper. `file` has this code, `linker` is the dynamic linker, and `program` is what
   is executed, with `arguments`. */
typedef struct zt__helper_command {
    char file[4096 + 64], linker[4096 + 64], program[4096 + 64];
    char arguments_of_program[8192]; /* of this process; some of `arguments` may point here */
    const char *arguments[10];
} zt__helper_command;

/* Returns the bytes of an answer that are sent: up to its last place. */
ZT__PRIVATE size_t zt__answer_size(const zt__watch_answer *answer);

/* Finds what has to be started for zt__become_helper to run. A program that contains it is started again. A
   shared library that contains it is preloaded into a shell that has nothing to do, because the program must
   not run again, whatever else happens. Returns 0 if that is not known. */
ZT__PRIVATE int zt__find_helper(zt__helper_command *command);

#endif

#endif
