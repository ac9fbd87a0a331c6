/* ----------------------------------------------------------------------------------------------------------
   REQUESTED REPORTS

       In ZT_REPORT and ZT_AUTO, "table" is a table on standard output. In a path, %p is the process ID, and
       %q{NAME} the value of a variable of the environment, or nothing if it is not set. Processes that share
       a path overwrite each other's file: name it run.%p.csv, or run.%q{PMIX_RANK}.csv. The second profiler
       of a process writes run.2.csv, and so on, unless another reports for it (SEVERAL DEVICES). A relative path
       starts in the working directory at the time of zt_close. For a trace or a page, config.timeline is 65,536
       unless it is set. zt_auto names each file that it has written on standard error. If a report cannot be
       written, the table is printed there.

       Ranks of a program write their packed statistics (.zt), each to a file of its own, and examples/gather.c joins
       them, without MPI: a row a path, with the mean of the ranks, the slowest and the fastest one, the imbalance and
       the GPU time that it costs, as a page, a table, CSV or JSON.

           ZT_AUTO=run.%q{OMPI_COMM_WORLD_RANK}.zt mpirun -n 8 ./program
           build/examples/gather run.*.zt run.html

       The metrics of the ranks may differ, but not the layout of the statistics, which a version of zetools may
       change. A file of another layout, or one that is cut off or damaged, is named, and the others are joined. A
       rank that was killed has written none. examples/ranks.c joins ranks inside of a program, by MPI. Timelines of
       ranks are joined by "cat run.*.pftrace >all.pftrace".
*/
