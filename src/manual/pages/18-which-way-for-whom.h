/* ----------------------------------------------------------------------------------------------------------
   WHICH WAY FOR WHOM

       Whose kernels they are decides what a program writes. Lines without a profiler go anywhere in it; with
       the tracer, "open" is zt_open and zt_trace_start, or zt_auto(NULL) first in main.

       own command lists   ZT_REGION(profiler, list, "spmv") around commands: times and metrics of each part.
                           ZT_PHASE("solve") around what belongs together
       SYCL                open; ZT_PHASE("solve") { queue.submit(...); queue.wait(); }. Phases need no handle.
                           For a region of its own, sycl::get_native<backend::ext_oneapi_level_zero>(queue)
                           returns the queue's immediate list, or a queue: then there is no list to take.
                           ONEAPI_DEVICE_SELECTOR=level_zero:gpu
       OpenMP offload      open; ZT_PHASE("solve") around target regions. LIBOMPTARGET_PLUGIN=LEVEL0
       oneDNN              open; ZT_PHASE("forward") around execute() and wait(): each primitive's kernels are
                           rows below it. NAMES FROM ITT AND KOKKOS has its primitives as phases
       Kokkos, llama.cpp   with their SYCL backend: as SYCL. Kokkos has names of its own: the same page
       PyTorch (XPU)       LD_PRELOAD of libzt_auto.so; phases by a C extension that calls zt_phase_begin
       a program that      LD_PRELOAD of libzt_auto.so: each kernel is a row, and so is what it says to ITT
       cannot be built     or Kokkos

       In all of them, a phase that ends before its work is done still gets it, because the work belongs to the
       phase in which it was submitted. Runtimes that submit on a thread of their own, such as SYCL's host
       tasks, submit in no phase: their launches are rows outside of all phases.

       Regions, the tracer, oneDNN on the CPU and Kokkos' hooks have been run here. Programs of SYCL, OpenMP,
       llama.cpp and PyTorch have not: there is no GPU for them. Tell us what you find.
*/
