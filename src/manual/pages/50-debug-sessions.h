/* ----------------------------------------------------------------------------------------------------------
   DEBUG SESSIONS

       Where the threads of a device are:

           const zt_debug_thread all = {ZT_DEBUG_ALL, ZT_DEBUG_ALL, ZT_DEBUG_ALL, ZT_DEBUG_ALL};
           zt_debug_open(device, pid, NULL, &debugger);
           zt_debug_stop(debugger, all, 1000000000, &stops);
           zt_debug_get_threads(debugger, threads, &count);
           for (i = 0; i < count; i++) {
               zt_debug_where(debugger, threads[i].address, &place);
               printf("%s+0x%llx\n", place.kernel, (unsigned long long)place.offset);
           }
           zt_debug_close(debugger);

       On Linux, the system may have to be prepared once, as root:

           echo 1 > /sys/class/drm/card0/prelim_enable_eu_debug      i915
           echo 1 > /sys/class/drm/card0/device/enable_eudebug       xe

       If zt_debug_open cannot attach, its message has the remedy. One debugger at a time can attach to a
       device for a process.

       Call zt_debug_wait now and then, also without a function: a module that is loaded while a debugger is
       attached does not run until its event is acknowledged. Up to 1024 events wait to be delivered.
       Further ones stay in the driver, and a stop does not see its answer until there is room.

       Threads that have stopped by themselves, because of a page fault or an exception, are listed and
       resumed like others. The driver does not list stopped threads: zt_debug_get_threads tries each thread
       of the device.

       The register sets, and number and size of their registers, are as the driver reports them, and differ
       between devices and versions. A vector register has the values of all items of a thread: the manual
       of the device, or the debug information of the kernel, tells which is which.

       The address of an instruction is the register isabase plus cr0.2. zt_debug_where looks it up in the
       ELF files of modules, which are read from the memory of the process when they are loaded, up to
       zt_debug_config.module_limit bytes. A module that is unloaded stays known until others need the room.
       Source lines come from the same files, by the programs that SAMPLED INSTRUCTIONS names.

       If a process ends with an open debugger, however it ends, the driver resumes all threads. When the
       debugged process ends, its debugger gets ZT_DEBUG_DETACHED, and its functions return NOT_AVAILABLE at
       once, except zt_debug_where.
*/
