/* ----------------------------------------------------------------------------------------------------------
   UNREPORTED EXECUTIONS

       What happens if a program calls Level Zero itself, and no tracer observes the list:

       zeCommandQueueExecuteCommandLists   Of the executions between two collections, the last is measured,
                                           and the number of the others is unknown. The list is counted
                                           (zt_counts.unobserved_lists) and reported below the table; the
                                           first one is logged. Until zt_release, regions whose execution
                                           was not seen may be running: zt_collect waits for them, and
                                           zt_close does not free their slots
       zeCommandListReset                  The next zt_begin on the list frees slots that are known to have
                                           run. Others stay in use, and in flight, until zt_execute has
                                           executed a later region of the list
       zeCommandListDestroy                Unless zt_release was called before, the slots stay in use until
                                           a new list has the same handle and regions are begun on it. A
                                           program that repeats this reaches config.max_slots, and regions
                                           are dropped (ZT_DROPPED_NO_SLOT)

       zt_collect with a timeout waits for immediate lists, for recorded lists that zt_execute has
       submitted, and for lists that have already run without zt_execute. Until the program first calls
       zt_execute, it waits for all recorded regions, because nothing shows whether the program ever will.

       Loaders before 1.16 cannot tell whether a list is immediate. So every list is treated as recorded:

       - The slots of an immediate list are freed by the next region that is begun on it, or by zt_release.
       - A list that is executed without zt_execute is noticed only at the second collection that finds a
         sample of it.
       - zt_collect with a timeout waits for all regions that have not run.
       - Recorded lists that never ran are to be released before zt_close. Otherwise the memory of their
         slots is not freed, because the device might still write to it.
*/
