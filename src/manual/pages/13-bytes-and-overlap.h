/* ----------------------------------------------------------------------------------------------------------
   BYTES AND OVERLAP

       Traced copies and fills have the bytes that they move, with or without a timeline. The bytes of
       images are not known, because they depend on the format of the pixels.

       With config.timeline, zt_timeline_info.overlap divides the time from the first begin of a kept sample
       to the last end into parts: covered by traced kernels, by traced copies, by both at once, and by
       neither. No time counts twice. Barriers, waits and all that is not measured are idle time, so trace
       all kernels and copies (zt_trace_config.copies). If newer samples have replaced others, the time
       begins at the last end of a replaced one.

       Regions, and launches between queries or barriers, overlap with nothing on their list. To see what the
       application overlaps there, trace with times alone (config.groups = "").

       Regions of different lists may run at once. Then each has the time and the counters of the others'
       work, too. zt_overlap.at_once_ns is the time in which several ran that are not inside each other. Where
       it is at least 1% of the time in which any ran, reports name the regions, and for how much of their
       time they ran beside others. Without a timeline, or where samples are missing on it, they note that
       this cannot be told.
*/
