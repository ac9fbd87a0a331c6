/* ----------------------------------------------------------------------------------------------------------
   STREAMED ROWS

       All memory of a stream is allocated when it is opened. These reports are read and counted as
       discarded:

       - the first one of a stream
       - reports that the driver cannot calculate
       - reports whose rows neither a function nor a profiler receives

       Reports that the device dropped before they were read leave gaps. The row after a gap is marked
       (zt_row.gap), and zt_stream_counts.dropped is an estimate from the length of the gaps. When the
       device executes a marker, the current row ends, and has the marker's name.

       A row of an attached stream belongs to a sample if the middle of its period lies between begin and
       end of the sample. So each region has statistics of every streamed metric (ZT_STREAMED), such as mean
       and peak:

       - Samples count that ended before the last row that was read.
       - A row counts in full for each sample that it belongs to: an outer region includes the regions
         inside it.
       - A region that is shorter than the period has rows only by chance. Many samples still give a fair
         average.
       - Rows and samples are matched only while both are kept. If one is collected or read late, raise
         config.timeline or zt_stream_config.timeline_rows.
*/
