/* ----------------------------------------------------------------------------------------------------------
   WAITS

       Each function documents what it waits for, and how long: for its timeout, or for
       config.wait_timeout_ns, which is W in this list of the other waits:

       zt_begin                 a thread that collects, if all probes are in use          W
       zt_open                  the first metric query                                    W
       ZT_PASSES                the work of each pass                                     W
       zt_bench, zt_compare     each of their runs                                        W
       zt_close                 samples and dropped regions on their way                  W
                                threads that match rows with samples                      W
                                the ends of the collecting thread and of that of          2 seconds
                                config.power, and the log function, in which another
                                thread reports a phase
                                the ends of a watch, a tracer and hot spots               as their stops
       end of a traced list or  commands of the library that follow launches              W
       queue
       zt_watch, zt_watch_stop  the end of the thread of the watch                        2 seconds
       zt_get_info, zt_report   a thread that reads power                                 W
       zt_report, zt_write,     programs that look source lines up, for each module with  24 seconds
       zt_hotspots_stop,        hot spots or places
       zt_debug_where
       other zt_debug_...       calls of other threads                                    W

       exit, while a look ends  the end of the look (see FROM OUTSIDE)                    30 seconds

       Threads of the library (config.thread, config.power, zt_stream_config.thread, hot spots, zt_watch) run
       from opening or start to closing or stop, that of ZT_AUTO_SIGNAL from zt_auto to exit. They block all
       signals except those of faults (SIGSEGV, ...), and end before the process exits. A thread that does not end
       within 2 seconds, because the driver or a function of the application does not return, is left behind.
*/
