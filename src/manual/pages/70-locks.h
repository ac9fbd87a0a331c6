/* ----------------------------------------------------------------------------------------------------------
   LOCKS

       A thread locks timed mutexes first, then at most one mutex. Timed mutexes (zt__timed_mutex) know the
       thread that holds them, because callbacks run under them.

       timed mutex                   guards                                               held during
                                                                                          driver  callbacks
       reporting, of profilers that  reading their results for a report, closing one      yes     yes
       report together               of them
       collector, of a profiler      reading, calculating and delivering samples          yes     yes
       reader, of a stream           reading, calculating and delivering rows             yes     yes
       reader, of power              reading energy, clock and temperature                yes     no
       reading, of hot spots         reading and calculating samples, addresses of        yes     yes
                                     kernels
       finding, of hot spots         looking source lines up                              no      yes
       opening, of a tracer          opening profilers for zt_auto                        yes     yes
       beginning, of zt_auto         beginning and ending to trace, by signals            yes     yes
       delivering, of a debugger     delivering events                                    no      yes
       session, of a debugger        calls of the driver with it, events, modules         yes     yes

       mutex                         guards                                               held during
                                                                                          driver  callbacks
       of a profiler, a stream, hot  bookkeeping: names, lists, probes, counts,            no      no
       spots or a debugger           statistics, rings of rows, samples of instructions
       of a tracer                   records of handles, names, counts, times, modules    no      no
                                     and kernels
       of the events of a tracer     events of the application, which are borrowed, and   no      no
                                     which of them a thread asks the driver about
       of the memory of a tracer     allocations that are not freed                       no      no
       of the modules of a tracer    replacements                                         no      no
       of the process                activation and calculation of metric groups          yes     no
       setup, of a copy of the       finding what all copies share                        no      no
       header
       setup, of the dispatcher      starting and stopping a tracer                       yes     no
       of the dispatcher             the live tracer; it finds a frame for each call      no      no
       of a thread, of the list of   waking, starting and stopping the library's own      no      no
       threads                       threads

       Order and exceptions:

       - `beginning` comes before all others, `delivering` and `reading` before `session`, `opening` before the
         locks of the opened profiler and the mutex of the tracer. zt_merge locks two collectors, the one of the
         lower address first.
       - `reporting` comes before the collectors. Who holds it waits for these with a deadline, so others wait for it
         without one. A callback under a collector that writes a report of several profilers waits for it, too: a thread
         that holds it gives the collector up in config.wait_timeout_ns.
       - Other timed mutexes have no order: a callback under a collector may read a stream, and one under a
         reader may collect. So a thread that waits for one has a deadline, and nothing waits for its own
         thread: it skips collecting, or returns HANDLE_OBJECT_IN_USE.
       - `setup` of the dispatcher is held during calls of the loader, none of which waits for a callback.
         The mutex of the dispatcher may follow. At exit, the list of threads stays locked while they are
         stopped.
       - Mutexes are held briefly, except the one of the process and `setup` of the dispatcher. Memory is
         allocated and messages are logged without a mutex, because allocators and log functions are
         callbacks.
*/
