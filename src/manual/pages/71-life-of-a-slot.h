/* ----------------------------------------------------------------------------------------------------------
   THE LIFE OF A SLOT

       A slot is what one sample in flight needs: a query for each metric group, an event, time stamps. Only
       zt__move_slot changes its state, as the table zt__transitions allows. (+1) and (-1) change
       zt_counts.begun.

       state     means                             goes to
       FREE      on no list; event and queries are OPEN (+1) by zt_begin; RETIRED if the first query of a
                 reset                             pass, which the library executes, fails
       OPEN      begun                             PENDING by zt_end on an immediate list, else RECORDED.
                                                   When dropped, PARTIAL if it has commands on the list,
                                                   else FREE
       RECORDED  ended on a recorded list; no      PENDING by zt_execute; READING; FREE (-1) when it is
                 execution is known                final and never ran, or zt_close knows that it cannot be
                                                   running
       PENDING   an execution is on its way        READING; if the driver refuses the execution, back to
                                                   RECORDED, or to ARMED (-1)
       READING   used by the collector alone       as zt__states_after_reading has it. If it was PENDING and
                                                   is not on its list any more, RECORDED, then FREE
       ARMED     read and reset; may run again     PENDING (+1) by zt_execute; READING, as it may run
                                                   without zt_execute, or be final by now
       PARTIAL   lacks commands, or is not reset;  READING, to be reset, when it is complete or its event
                 its data is never read            may have signalled
       RETIRED   never used again: it cannot be    nothing. zt_close also moves slots here that the device
                 reset, or the device may still    may still write to, from OPEN, PENDING, PARTIAL and
                 write to it                       RECORDED (-1)

       A region is submitted when it has ended on an immediate list, an execution when zt_execute has moved
       its slots to PENDING. A tracer does what zt_execute does for the executions that it sees, and the
       tracer of zt_auto what zt_close does when it sees that the context of a profiler is destroyed.

       If the driver refuses a command of a region, the commands before it are on the list already. So the
       library appends a barrier that signals the event of the slot: the event shows when the device is done
       with them. If the driver refuses the barrier, too, nothing shows this.

       A slot is used again when it is final and complete. It is final when its commands can never run
       again, and complete when the device is done with its last execution. A list numbers its slots as they
       end, up to `ended`, and keeps four numbers:

       ran_up_to          the newest slot that has run, or that zt_execute has submitted. Raised
                          - to a slot whose event has signalled
                          - by zt_execute to `ended`, and restored if the driver refuses the execution
       final_up_to        the slots up to it are final. Raised
                          - on an immediate list, to a slot whose event has signalled
                          - to `ended` when zt_release, zt_reset or the tracer reports that the list is
                            destroyed or reset
                          - to `ended` when the handle comes back: the tracer sees that a list with it is
                            created, or zt_begin that the list is of another kind
                          - to ran_up_to when a region is begun. Later slots may belong to the recording
                            that goes on
       complete_up_to     the slots up to it are complete. Set to 0 by zt_execute, and raised
                          - to a PENDING or a submitted PARTIAL slot whose event has signalled, as the end
                            of a region waits for all before it. Not if executions overlap, or the list also
                            runs without zt_execute: the event may be of another execution
                          - when a region is begun: to final_up_to on a recorded list, because a list is
                            reset only when the device is done with it; to ran_up_to if the list is or may
                            be immediate
                          - to `ended` when the handle comes back as a list of another kind, or all slots
                            are final and none is on its way
       unsubmitted_up_to  zt_execute neither submits nor counts the slots up to it, because they may have
                          been recorded before a reset that nothing has reported. If they run all the same,
                          they are read. Raised
                          - by zt_execute on a list that may also run without it and has a RECORDED slot: to
                            ran_up_to, but below the first such slot. Slots that have run while a later one
                            has not are of an earlier list or recording, or still running
                          - by zt_trace_stop to `ended`, because no reset is observed any more

       The event of a launch that is measured by it, on a list that is not in order, says nothing of the
       slots before it. It raises neither complete_up_to nor, on an immediate list, ran_up_to, and makes its
       own slot alone final there.

       A slot of a recorded list that is PENDING and complete, and whose event has not signalled, never ran:
       it belongs to a recording that was reset.
*/
