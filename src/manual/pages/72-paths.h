/* ----------------------------------------------------------------------------------------------------------
   PATHS

       A path is a region inside a path. A list knows its innermost open slot, and an open slot the one
       around it, so zt_begin knows where a region is. A slot keeps its path for all its executions, because
       commands that are nested once stay so.

       A path adds up the GPU times of its samples, and counts in `missing` samples that were begun and not
       collected. Both follow from the transitions of slots. The own time of a path is its sum less the sums
       of the paths directly inside. This is right if all have the samples of the same executions, so it is
       known only if none is missing. Executions outside of zt_execute are counted when they are noticed.
       From the second execution of a slot on, others may have gone unnoticed, so each adds one to `missing`
       for good.
*/
