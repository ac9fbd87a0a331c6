/* ----------------------------------------------------------------------------------------------------------
   PATHS

       A path names a region or a phase with all that is around it: phases first, then regions. A list knows the
       probe of its innermost open region, and each probe that of the region around it, so zt_begin knows where a
       region is. A probe keeps its regions for all executions of its list, because commands that are nested once
       stay so; each execution moves it into the phases of its thread (zt__move_into_phase), by look-ups alone if
       the phases are those of the execution before.

       A path has the statistics of its samples: the moments of each column, and kept samples for quantiles.
       Those of a region are the sum over its paths. A phase has those of the samples that it counts: each is
       added to its path and to these phases (zt__count_reading), because one path can have both samples that
       a phase counts, and samples inside of a region that it counts. A kept value weighs as many samples as it
       stands for.
       A path also counts in `missing` its open regions, and samples that were begun and not collected. The own
       time of a path is the sum of its GPU times less those of the paths directly inside. This is right if all
       have the samples of the same executions, so it is known only if none is missing. Executions outside of
       zt_execute are counted when they are noticed. From the second that is noticed on, others may have gone
       unnoticed, so each adds one to `missing` for good.
*/
