/* ----------------------------------------------------------------------------------------------------------
   UNREPORTED EXECUTIONS

       What happens if a program calls Level Zero itself, and no tracer observes the list:

       zeCommandQueueExecuteCommandLists   The first execution that is seen is measured. Of later ones, each that
                                           is seen is counted as lost (ZT_LOST_OVERWRITTEN); how many there
                                           were is unknown. The list is counted (zt_counts.unobserved_lists)
                                           and reported below the table; the first one is logged. Executions
                                           are seen by zt_collect, zt_report, zt_reset, zt_release and
                                           zt_execute, once the list has run: they do not wait for it
       zeCommandListReset                  What is recorded next goes on with the old recording, until that is
                                           seen to have run. A region that was recorded before, and has not
                                           run when a later one has, has no sample. If zt_execute has
                                           counted it, it is dropped (ZT_DROPPED_NEVER_RAN)
       zeCommandListDestroy                Unless zt_release was called before, the probes stay in use until
                                           a new list has the same handle and regions are begun on it. A
                                           program that repeats this reaches config.max_probes, and regions
                                           are dropped (ZT_DROPPED_NO_PROBE). If the new list is immediate and
                                           the old one was recorded, its first regions may be taken for those
                                           of the old one, and are not counted

       zt_collect with a timeout waits for what was submitted: regions of immediate lists that have ended, and
       recorded lists that zt_execute has executed or a tracer has seen. It does not wait for open regions.

       Loaders before 1.16 cannot tell whether a list is immediate. So every list is treated as recorded:

       - The probes of an immediate list are freed by the next region that is begun on it, or by zt_release.
       - A list that is executed without zt_execute is noticed only at the second collection that finds a
         sample of it.
       - zt_collect with a timeout waits for all regions that have not run.
       - Recorded lists that never ran are to be released before zt_close. Otherwise the memory of their
         probes is not freed, because the device might still write to it.
*/
