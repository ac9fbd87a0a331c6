/* ----------------------------------------------------------------------------------------------------------
   THE LIFE OF A RECORDING

       A probe is what one sample needs: a query for each metric group, an event, time stamps. A recording has
       the probes of a list between two resets, in the order in which their regions ended. A probe has no state
       of its own. A recording has one, which zt__move_recording alone changes, with the mutex held:

       state       means                           goes to
       OPEN        regions are being begun on it;  SUBMITTING; READING when it is looked at; CLOSED
                   it is not known to have run
       READY       all that ran was read, and its  SUBMITTING; READING when it is looked at; CLOSED
                   events are reset
       SUBMITTING  calls of the driver with it     the state before when the driver refuses; SUBMITTED when it
                   are in progress                 accepts, and only then the samples are counted as begun; DIRTY
                                                   when it accepts another before the last was read; CLOSED
       SUBMITTED   on its way                      READING; SUBMITTING; CLOSED
       READING     the collector's alone; no       READY when all of it is read and reset; else back where it
                   callback runs meanwhile         came from
       DIRTY       several executions wrote to     SUBMITTING; READING when it is idle: a wait for its queue or
                   the same probes: the samples    immediate list, a reset or a release shows this. The last
                   of all but the last are lost    execution is read if all were on one of these; CLOSED
       CLOSED      reset, released, or begun anew  READING, until all of it is read. Then all its probes are free
                   after it had run

       A probe is used again when its recording is closed and the device is done with it; on an immediate list,
       when it was read. There, a recording is a queue, which is SUBMITTED as long as it exists.

       A recording that was submitted has ended when its last probe in order has signalled, and all that are not
       in order. A probe before it that has not signalled is on the list no more: it is dropped, as never run. A
       region that the driver refuses in the middle, or that is not ended when its list is executed, is dropped
       alone: its probe is never read. It is reset when something after it has ended, else when its recording is
       closed, because nothing shows when the device begins it.

       zt_collect, zt_report, zt_reset, zt_release and zt_execute look at the last probe of what is OPEN or READY:
       by calling them the application states that it has waited. See UNREPORTED EXECUTIONS. A recording that
       nobody has reported is looked at once more when its list is released: it may have run while it was read.

       Where the loader cannot tell whether a list is immediate (before 1.16), its regions count as begun when
       they end, signalled probes are read from the front, and are free when the next region is begun. When
       zt_execute executes such a list, it is recorded.

       What becomes of a probe that was looked at is decided by the table of zt__decide.

       One sample of a recorded list passes through these functions:

       zt__open_probe        finds region, list and path, and takes a probe from the pool
       zt__append_begin      appends its queries
       zt__end               appends their ends, the last of which signals its event
       zt__add_region        adds the probe to the recording of the list
       zt__finish_list       in zt_execute: reads what the execution would overwrite
       zt__submit_recording  moves the recording to SUBMITTING
       zt__count_execution   counts the samples of all its probes as begun, when the driver has accepted
       zt__run_collection    visits what is in flight
       zt__visit_one         moves the recording to READING, and, when all of it is read, to READY
       zt__visit_whole       reads the probes, if the last of them has signalled
       zt__visit_probe       reads reports, asks zt__decide what becomes of the probe, and resets it
       zt__calculate_batch   calculates the values of up to 64 samples in one call
       zt__count_reading     counts the sample as collected or lost
       zt__add_sample        adds it to the statistics of its path
*/
