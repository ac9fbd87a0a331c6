/* libzt_auto.so: profiles a program that nobody recompiled, because the dynamic linker loads it first:

       make preload
       LD_PRELOAD=$PWD/build/libzt_auto.so ZT_AUTO=run.csv program

   Without a GPU, `make run-preload` shows it. Every kernel that the program launches becomes a region.
   ZT_AUTO names the reports that are written at exit; without it, a table is printed. The manual lists what
   else can be chosen, under ENVIRONMENT. Programs that this one starts inherit LD_PRELOAD.

   Programs that name their work for ITT or Kokkos Tools are profiled by these names, as phases:

       INTEL_LIBITTNOTIFY64=$PWD/build/libzt_auto.so ZT_AUTO=run.csv program
       KOKKOS_TOOLS_LIBS=$PWD/build/libzt_auto.so ZT_AUTO=run.csv program

   The page NAMES FROM ITT AND KOKKOS has when LD_PRELOAD is needed as well. */
#define ZETOOLS_TRACER
#define ZETOOLS_CONNECTORS
#define ZETOOLS_STATIC /* a program that contains the library as well keeps its own */
#define ZETOOLS_IMPLEMENTATION
#include "zetools.h"

/* Runs before main. What goes wrong is printed by zt_auto. */
__attribute__((constructor)) static void profile_this_program(void) {
    zt_auto(NULL);
}
