/* ----------------------------------------------------------------------------------------------------------
   KERNELS

       For each kernel that is launched on a list of the profiler, the tracer reports what it is made of,
       and how much of the device its launches can fill: in zt_get_kernel and in reports, but not in
       OpenMetrics, which is for figures that change. zt_trace_config.names chooses kernels. Launches count
       when they are appended, also outside of zt_trace_config.every and limit.

       Kernels with the same name and properties, in modules with the same native binary, are one. Others of
       the same name are listed apart, and share a region. A table then has the column "module", the first
       eight digits of zt_kernel_info.module. Of each kernel, ZT_KERNEL_SHAPES shapes are kept: size and
       number of the work-groups of a launch. A size that was set before the tracer started, and a number
       that the device reads from memory, are not known.

       Properties are from zeKernelGetProperties, zetKernelGetProfileInfo, zeKernelGetBinaryExp, and the
       description in the native binary of Intel's compiler (.ze_info), which is read when the first kernel
       of a module is created. The driver is queried after the first launch of a handle, so no launch waits.
       The module and the barriers of a kernel from before the tracer started are not known. Private memory
       is mostly arrays with indices that the compiler does not know.

       Occupancy is the share of the places for threads in a subslice (Xe-core) that work-groups of a size
       can fill:

           threads of a group = items / SIMD width, rounded up
           threads of an EU   = as the compiler states; else 1024 / registers, at most those of the device
           groups             = the least of
                                  threads of an EU * EUs of a subslice / threads of a group
                                  shared local memory of a subslice / that of a group
                                  32 / barriers of a group
           occupancy          = groups * threads of a group / (places of an EU * EUs of a subslice)
           waves              = groups of the launch / (groups * subslices)

       All but the waves is from Intel's "oneAPI GPU Optimization Guide", Thread Mapping and GPU Occupancy;
       Intel's driver computes the size of cooperative launches likewise
       (KernelHelper::getMaxWorkGroupCount). EUs of today have 1024 registers for all their threads, so the
       large register file halves the threads; subslices have 32 barriers. The shared local memory of a
       subslice is taken to be the most that a group can have.

       The formula ignores that shared local memory is allocated in steps, that other kernels may run
       meanwhile, that groups end at different times, and that a device may have fewer EUs and subslices
       than the driver's maxima. Occupancy is not known if a figure of the formula is not, or if not even
       one group fits. The metric XVE_THREADS_OCCUPANCY_ALL, or its counterpart on the device, shows what
       was reached.

       The rules of zt_kernel_info.advice are one table, with the source of each threshold: search for
       zt__kernel_rules. A table has the advice for ten kernels.
*/
