/* ----------------------------------------------------------------------------------------------------------
   FROM OUTSIDE

       A program that runs for days can be looked at for a minute:

           ZT_AUTO=run.html ZT_AUTO_SIGNAL=USR2 LD_PRELOAD=$PWD/libzt_auto.so ./server &
           kill -USR2 $!      starts tracing
           sleep 60
           kill -USR2 $!      writes run.html, and stops

       The first signal starts tracing, the next one ends it, and so on. A look begins with nothing: its reports
       have what was launched in it alone. The files of a second look are run.2.html and so on, after those of
       the first: no report is overwritten. Messages on standard error state that tracing has begun, what was
       written, and that tracing has ended. Work is done on a thread of the library, which sleeps until the signal
       comes; the handler only wakes it. While nothing is traced, the loader calls no function of the library,
       and its tracing layer is off, where the loader can switch it off.

       zt_auto itself starts tracing and stops it at once, so that a mistake in the configuration shows there. If
       the process exits in a look, reports are written as usual, otherwise none. A forked child ignores the
       signal; so does a server that calls daemon() after zt_auto, which goes on as a forked child.

       The signal is USR1 or USR2, also as SIGUSR1 or SIGUSR2. If the program has a handler for it, ignores it, or
       blocks it in the thread that calls zt_auto, it is left alone: nothing is ever traced, and a message says so.
       If the program installs a handler or blocks the signal in all threads later, a look does not begin, or does
       not end before exit: a message says so, within about a minute or at exit. The thread wakes for that after
       1, 2, 4 and so on seconds, at the latest every 64. As with any handler, calls that sleep (poll, nanosleep)
       return EINTR in the thread that the system chooses for the signal; others are restarted.

       What was there before a look:

       kernels, modules              are named and described at their first launch
       lists                         are measured from the next launch that is appended. Loaders that cannot query
                                     their device (without zeCommandListGetContextHandle) need lists that are
                                     created in the look: launches on others are counted
       lists that were recorded      are not measured until they are recorded again: executions are counted
       events                        are not borrowed: see TRACED LAUNCHES
       graphs                        are named by their numbers
       pointers to functions of the  are not seen, unless an earlier look has returned them
       driver

       At the end of a look, all that it has made is destroyed, with one exception. The program may go on executing
       a list that was recorded in the look and is neither reset nor destroyed. So the events, time stamps and
       queries of its launches stay, and are never used again, because nobody sees any more whether the list or its
       context is still there. A message has the number of these launches. Each look may leave as many, and the
       blocks of zt_config.probes_per_step probes that they are in. Until it is recorded again, such a list runs as
       it was recorded: with metrics, its launches do not overlap. What it had on its way when the look ended, and
       was not collected within config.wait_timeout_ns, is lost (ZT_LOST_OVERWRITTEN).

       While a look ends, it waits for calls that it has observed and that are still in the driver, for at most
       config.wait_timeout_ns. A context that another thread destroys in this time is not noticed: its pools of
       events and queries are destroyed after it.

       Windows has no such signals: there, ZT_AUTO_SIGNAL is refused.
*/
