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

       A rank without a path has taken 0 there, so that work that one rank alone has is an imbalance. Where ranks have
       used several devices, the outermost level of a path is the first, second ... that the rank has used: device 0,
       device 1, whatever they are called. A rank is known by the number at the end of its file's name; where that has
       none, or another file has the same, by the file.

       A file of another layout of the statistics, or one that is cut off, damaged, or two files in one, is named, and
       the others are joined. So are all others; notes in each report, and on standard error, name ranks

       - that have measured other metrics than most, or times alone. Their times are compared all the same.
       - that have lost samples or not measured some. Where that is on a path, the time of the rank is marked by * (JSON
         and CSV: partial_ranks), and the rank is called the fastest only if all are such.
       - that have measured nothing. With ZT_AUTO, a rank that launches nothing writes empty statistics, unless there is
         a file of the name already, or the name has %p or a variable that is not set: then it is no rank.
       - of which there is no file, though there is one of a higher number: as of ranks that were killed.
       - of another program than most, and those that had ended before others began, which may be of another run.

       examples/ranks.c joins ranks inside of a program, by MPI. Timelines of ranks are joined by
       "cat run.*.pftrace >all.pftrace".
*/
