/* ----------------------------------------------------------------------------------------------------------
   NAMES FROM ITT AND KOKKOS

       Many programs and libraries announce what they do to tools: by ITT, as oneDNN and OpenVINO do, or by
       Kokkos Tools. libzt_auto.so, which examples/preload.c makes, understands both. What is announced
       becomes phases, and nothing is compiled again:

           export LIBRARY=/path/to/libzt_auto.so
           LD_PRELOAD=$LIBRARY INTEL_LIBITTNOTIFY64=$LIBRARY ZT_AUTO=run.html ./program
           LD_PRELOAD=$LIBRARY KOKKOS_TOOLS_LIBS=$LIBRARY ZT_AUTO=run.html ./program

       Programs of 32 bits read INTEL_LIBITTNOTIFY32, older ones of Kokkos KOKKOS_PROFILE_LIBRARY.

       Without LD_PRELOAD the program opens the library at its first use of ITT, or in Kokkos::initialize,
       and zt_auto is called then. If the program has called zeInit before,

       - loaders before 1.15.7 can be traced only with ZE_ENABLE_TRACING_LAYER=1 in the environment. A
         message says so if it is missing. Metrics may need ZET_ENABLE_METRICS=1 there, as always
       - what was recorded before is not measured. With loaders before 1.16, nor is what is appended to
         lists from before

       A program that traces by itself, by zt_auto or zt_trace_start, reports these phases, too:
       libzt_auto.so then traces nothing, if the program was first. Any shared library with
       ZETOOLS_CONNECTORS can be named in place of libzt_auto.so, but not the program itself, which ITT and
       Kokkos cannot open.

       A phase is reported if it ends while a profiler is open: zt_auto opens one when the program creates
       its first command list. The GPU time of a phase is that of what is submitted in it. Work on the
       processor, such as that of oneDNN with an engine of the processor, has host time alone.

       ITT     name of the phase
       task    its own; of a task that is named by a function, that of its domain
       region  its own
       frame   that of its domain

       ZT_ITT chooses domains: ZT_ITT="dnnl*,!*create" has the primitives of oneDNN as they are executed,
       and not as they are created. With ONEDNN_ITT_TASK_LEVEL=1, oneDNN announces a primitive once, else on
       each of its threads.

       While ITT is paused (__itt_pause), nothing that begins is a phase, and no launch is measured that is
       appended then. Lists that were recorded before are measured. __itt_pause_scoped pauses phases (host)
       or launches (offload) alone. __itt_detach pauses both, and __itt_resume resumes them.

       Phases are a stack of their thread. So

       - a task that ends before one inside it lasts until that has ended
       - a region or frame that another thread ends lasts until its own thread next begins or ends something
       - tasks of __itt_task_begin_overlapped, which may end in any order, are no phases

       A message at exit counts the last two, and names the first of them. Tasks and regions with times of
       their own (..._ex), __itt_frame_submit_v3, markers, counters and metadata are ignored.

       Of Kokkos, regions, parallel_for, parallel_reduce, parallel_scan, deep copies and fences are phases,
       with the names that Kokkos gives. A copy is "copy SPACE LABEL to SPACE LABEL". For a tool that does
       not refuse, Kokkos fences before each of them; libzt_auto.so refuses. So the host time of a loop is
       that of its submission. Its kernel belongs to it whenever that runs. Sections and allocations are
       ignored.
*/
