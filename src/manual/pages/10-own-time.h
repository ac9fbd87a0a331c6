/* ----------------------------------------------------------------------------------------------------------
   OWN TIME

       The own time of a region is the sum of its GPU times less the sum of the regions directly inside it.
       It is always known for a region without regions inside. Otherwise it is NaN if

       - samples of the region, or of regions directly inside it, are in flight, lost, dropped, or without
         GPU time
       - a region directly inside has ended after it: the two overlap, and the own time of the region around
         both is not known either
       - the list was executed several times without zt_execute: samples of the two may be from different
         executions
       - a sample is shorter than the samples inside it: the device has measured one of them wrongly
       - regions and phases are nested more than 128 deep: regions beyond count as not nested, in their phase
       - there are more than 16,384 paths: regions beyond count as "(other)" in their phase, and a note says
         how many samples. Phases beyond belong to the phase around them

       Own time includes the time that it takes to begin and end the regions inside, and work that was not
       measured, such as launches that zt_trace_config.names leaves out.

       If regions nest on a recorded list that is executed again, some drivers return a wrong GPU time for
       the outer one. Then its sample is lost (ZT_LOST_IMPLAUSIBLE).

       The share of a region is its own time divided by the time in which any region ran, so shares add up to
       more than 100% where regions of different lists ran at once. A timeline shows that; see BYTES AND
       OVERLAP. Without one, it is divided by the sum of all own times. If the own time is not known, the
       share is estimated: from the GPU time of the region, less the collected samples directly inside. A note
       reports how many regions have estimates.

       A table and a page have a row for each path, below that of the region around it. A table sorts by the
       sum of the shares of a row and the rows below it. It has the column "own" if any region is inside
       another.
*/
