/* ----------------------------------------------------------------------------------------------------------
   WATCHED REGIONS

       zt_hang has what a report contains. zt_watch_config.leave_stopped is for a look at the memory of the
       program with a debugger of the host.

       The time of a region counts from the moment when the watch finds that it was submitted and that all
       before it on its list has ended: up to an eighth of hang_ns, or a second, late. So it includes waits
       for events and for other lists. Of nested regions, the innermost is reported. Not seen are

       - regions that are begun and not ended
       - recorded lists that are executed without zt_execute while nothing traces
       - on loaders before 1.16, immediate lists, unless they were created while tracing
       - regions that were dropped, launches that zt_trace_config leaves out, and all other work
       - launches that are measured by an event of the application which the application then signals or
         destroys itself

       While a hang lasts, no other is reported, because what is behind it waits. Afterwards the times of
       the others begin anew. Faults are always reported, except a page fault at the same address after the
       work was resumed, which ends debugging. After a fault most drivers lose the device; a fault that
       arrives after the loss is reported without a region.

       A watch is attached as a debugger of this process (see PROGRAM DEBUG), and acknowledges events at
       once, so modules run as without it. If the process may not debug itself, the watch starts a helper,
       unless the file of the program gives the program privileges, as setcap does:

       - The helper is the same program once more, in which a constructor of this header serves instead of
         main. If the header is in a shared library, the helper is a shell with this library preloaded.
       - Other constructors and static objects may run in it: of shared libraries, and with a priority below
         101.
       - It talks through a socket that nobody else can open. It is no child of the program.
       - It ends with the watch, or when the program ends, however that happens. What it had stopped is
         resumed.

       If nobody can debug the process, the reason is logged, and is in the report and in zt_watch_get_info.
       At the next hang the watch tries again.

       While no region hangs, the watch wakes up eight times in hang_ns, but at least once a second, and ten
       times a second while it is attached. It queries one event of each list that has work, and locks the
       profiler briefly.
*/
