/* Functions of the loader by name, demangled names of C++, and programs that the library runs. */

#pragma once

#include "base/compiler.h"
#include "base/system.h"

/* A program that this process runs for a report. */
typedef struct zt__tool {
    const char *const *arguments; /* from the name, which is looked up in PATH, to a NULL */
    FILE *input, *object;         /* files that it reads: its standard input, and ZT__TOOL_OBJECT */
    uint64_t deadline;            /* it is killed then */
    void (*line)(void *user, const char *text); /* called for each line that it prints */
    void *user;
} zt__tool;

#ifndef _WIN32

#define ZT__TOOL_OBJECT "/dev/fd/9"

#else

#define ZT__TOOL_OBJECT ""
#endif

/* Stores the address of a function of the Level Zero loader, or NULL, in the function pointer at `function`.
   The loader is looked up by its file name, because its symbols are not in the global scope if it came with a
   library that was opened with RTLD_LOCAL. The symbols of a statically linked loader are in that scope. */
ZT__PRIVATE void zt__find_loader_symbol(const char *name, void *function);

/* Makes the loader call its tracing layer again. Loaders from 1.15.7 on have a table of functions with the layer and one
   without, and switch to the latter in the first call of each of zeInit, zeInitDrivers and zesInit, although the layer is
   enabled; unless ZE_ENABLE_TRACING_LAYER=1 was set before the first of these: then both have it. */
ZT__PRIVATE void zt__enable_layer_again(void);

/* Returns a mangled name of C++ as it is written in the source, to be freed with free(). NULL if the name is
   not mangled, or the process has no C++ library. */
ZT__PRIVATE char *zt__demangle(const char *name);

/* Returns a name as reports show it: demangled, if that is possible. `*demangled` is to be freed with free(); it is
   NULL if the name is returned as it is. */
ZT__PRIVATE const char *zt__show_name(const char *name, char **demangled);

/* Runs a program, and passes the lines that it prints to a function, until it has closed its output. A line
   that is too long, or has a character 0, is passed as "". Returns 0 if there is no such program. The files
   must be flushed. The program gets few variables of the environment: LD_PRELOAD and ZT_AUTO could
   make it a program that is profiled. */
ZT__PRIVATE int zt__run_tool(const zt__tool *tool);
