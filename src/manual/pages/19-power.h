/* ----------------------------------------------------------------------------------------------------------
   POWER

       With config.power or ZT_POWER=1, a thread of the library's own reads the energy counter, the clock, the
       reasons for throttling and the temperature of the device, by system management (zes...). It reads four
       times in a step of the energy counter, but not more often than every 10 ms, and at least every
       100 ms. zt_get_info and reports also read.

       The energy is that of the widest domain whose counter can be read: the card, the package, or the GPU.
       Where the driver lets only root read it, the counter of Linux is read (hwmon, of the card). Figures of a
       phase are those of the whole device while the phase was entered on a thread of the host, whatever ran
       meanwhile, and for whichever process. Two threads in one phase count twice. What was submitted and runs
       after the end does not count: let the phase wait for its work.

       The counter changes in steps. In between, its energy is interpolated, so the energy of a phase is known
       when the counter has changed after its end; a report extrapolates by one step. An entry that is shorter
       than the steps in which it begins and ends is left out. zt_region_info.watts, throttled and mhz are of
       the entries that are long enough; joules is NaN if the others are more than 1% of the time.

       A state of the clock counts for the time since the reading before. The clock has no figure for the time
       in which it stands still. Several reasons for throttling may hold at once, so their shares may add up
       to more than zt_region_info.throttled. A table has the one that held longest. The temperature changes
       slowly: the highest is that of the whole run, and a trace shows its course.

       A counter that turns at 262,144 J, as that of the B580, is followed; one that goes back otherwise is
       not used, and the energy until the next reading is not known. One that has not changed for a second
       took nothing, and one that has never changed is broken.

       Old loaders, such as 1.8 of Debian 12, have no zesInit: there ZES_ENABLE_SYSMAN=1, set before zeInit, is
       needed. Where it is set, zesInit is not called, because Intel's driver has one of the two. The first
       zesInit of a process switches off the tracing layer of newer loaders (see TRACED LISTS): zt_auto calls it before
       it traces, and zt_open enables the layer again. If the
       energy cannot be read, a message and the reports have the reason and what to do. Clock and temperature are
       left out where the driver has none.
*/
