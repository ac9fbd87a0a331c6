/* ----------------------------------------------------------------------------------------------------------
   THE LIFE OF A RECORDING

       A probe is what one sample needs: a query for each metric group, an event, time stamps. A recording has
       the probes of a list between two resets, in the order in which their regions ended. That of an immediate
       list is a queue, which probes leave when they were read.

       A probe is used again when nothing of it is left to be read or reset, and its recording lets go of it: a
       queue at once, any other when it is CLOSED, but one of a list of unknown kind, as below. The probe of a
       region that is dropped before its first command is free at once. Never used again are probes that cannot
       be reset or queried for long, those of a dropped region that no recording takes, those of a lost device, and
       those of lists that a process keeps after zt_auto has stopped.

       A recording has a state. After its creation zt__move_recording alone changes it, with the mutex held:

       state       means                           goes to
       OPEN        regions are being begun on it;  SUBMITTING; READING when it is looked at; CLOSED
                   nobody has reported that it ran
       READY       all that ran was read, and its  SUBMITTING; READING when it is looked at; CLOSED
                   events are reset
       SUBMITTING  calls of the driver with it     the state before, if the driver refuses; DIRTY, if it accepts
                   are in progress                 and the execution before was not read; else SUBMITTED; CLOSED
       SUBMITTED   on its way                      READING; SUBMITTING; CLOSED
       READING     the collector's alone; no       READY when all of it is read and reset; DIRTY when the driver
                   function of the application     cannot be asked for long; CLOSED when its list was reset
                   runs but its allocator          unseen; else back where it came from
       DIRTY       several executions wrote to     SUBMITTING; CLOSED; READING when the queue or immediate list on
                   the same probes: the samples    which all executions were is found idle: the last one is read.
                   of all but the last are lost    If they were on several, nothing shows that all have ended
       CLOSED      reset, released, or begun anew  READING, until all of it is read. Then all its probes are free
                   after it had run

       A queue is SUBMITTED as long as it exists.

       The state says what the application and the library do with a recording. What the device has done is known
       apart from it: whether the last execution has ended, whether anybody has reported it, and whether it
       overlaps with those before it.

       Samples count as begun when the driver has accepted the execution.

       A probe is in order if it ends after all that are before it on the list. An execution has ended when the
       last probe in order and all others have signalled, or when the queue that zt_execute is given is idle. A
       probe in order that has not signalled by then is on the list no more, because the list was reset in between:
       its region is dropped, as never run. If no probe has signalled, the recording is closed. If the first probe
       had not signalled when the recording was submitted, and has since, its list was not reset in between: all
       probes in order have run, and are not queried one by one.

       A region that the driver refuses in the middle, or that is not ended when its list is executed, is dropped
       alone: no data is copied from its probe. If no event shows that the device is done with it, it is reset
       when a probe after it has ended, else when its recording is closed.

       zt_collect, zt_report, zt_reset, zt_release and zt_execute look at what is OPEN or READY, that is, they
       query whether its last probe has signalled: by calling them the application states that it has waited. See
       UNREPORTED EXECUTIONS. So do zt_close, and zt_begin where no probe is free. A recording that nobody has
       reported is looked at once more when its list is reset or released: it may have run while it was read.

       Regions of immediate lists count as begun when they end, and so do regions of lists of which it is not known
       whether they are immediate (the loader is before 1.16, or the query fails). On lists of unknown kind,
       signalled probes are read from the front, and are free when the next region begins or ends. A list that is
       executed is recorded.

       One sample of a recorded list passes through these functions. What they call to find something, or for
       memory, is left out:

       zt__open_probe        finds region, list and path, takes a probe from the pool, and ensures that the list
                             has an OPEN recording. zt__append_begin then appends the begins of its queries,
                             or a time stamp
       zt__end               appends the ends of its queries, or a time stamp: the last one signals its event
       zt__add_region        adds the probe to the recording
       zt__submit_recording  moves the recording to SUBMITTING. Before that, zt_execute collects the execution
                             before
       zt__count_execution   counts its samples as begun: it is SUBMITTED
       zt__run_collection    visits what is in flight. When 64 probes were read, or those of one pass, the batch
                             is calculated and counted
       zt__visit_one         moves the recording to READING
       zt__visit_recording   visits the probes, if the event of the last shows that the execution has ended
       zt__visit_probe       reads the reports of a probe, and resets it. Its event is queried only where that of the
                             first probe does not show that all have run
       zt__decide            has the table of what becomes of a probe, by what was seen, owed and read
       zt__leave_recording   moves the recording to READY, or where else zt__decide_recording says
       zt__calculate_batch   calculates the values of the batch; a value may show that a sample is lost
       zt__count_reading     counts the sample as collected, lost or dropped
       zt__add_batch         adds the samples to the statistics of their paths and of the phases that count them
*/
