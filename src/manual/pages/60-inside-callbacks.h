/* ----------------------------------------------------------------------------------------------------------
   INSIDE CALLBACKS

       The type of a callback documents on which thread it runs. A log function runs on the thread that
       causes the message, the functions of a benchmark on the thread that called zt_bench or zt_compare.

       In a sample function, and in a log function that is called while samples are collected, no call with
       the same profiler waits:

       zt_collect, zt_clear, and    return HANDLE_OBJECT_IN_USE
       zt_merge with it as `into`
       zt_begin                     drops the region if there is no probe
       zt_execute                   executes its lists without collecting: they count as unobserved, and
                                    [INSIDE_CALLBACK] is reported

       Under ZT_AUTO_SIGNAL, log functions also run on the library's thread that follows the signal.

       Calls with another profiler wait as elsewhere, so two sample functions must not wait for each other.
       While a sample function runs, no other thread collects. While a log function of a debugger runs,
       other calls with the debugger may wait. Keep both short.
*/
