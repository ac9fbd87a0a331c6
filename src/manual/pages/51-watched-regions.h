/* ----------------------------------------------------------------------------------------------------------
   WATCHED REGIONS

       The time of a region counts from the moment when the watch finds that it was submitted and that all
       before it on its list has ended: up to an eighth of hang_ns, or 0.1 s, late. So it includes waits
       for events and for other lists. Of nested regions, the innermost is reported. Not seen are

       - regions that are begun and not ended
       - recorded lists that are executed without zt_execute while nothing traces
       - on loaders before 1.16, immediate lists, unless they were created while tracing
       - regions that were dropped, launches that zt_trace_config leaves out, and all other work
       - launches that are measured by an event of the application which the application then signals or
         destroys itself

       While a hang lasts, no other is reported, because what is behind it waits. Afterwards the times of
       the others begin anew. On a lost device nothing is reported.

       A watch stops no thread of the device. Where they are, zt_debug_open shows in another program, with
       the number of the process, which is in the report: examples/hang.c does both.

       The watch wakes up eight times in hang_ns, but at least ten times a second. It queries one event of each
       list that has work, and locks the profiler briefly.
*/
