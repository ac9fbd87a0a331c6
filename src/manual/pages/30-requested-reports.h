/* ----------------------------------------------------------------------------------------------------------
   REQUESTED REPORTS

       In ZT_REPORT and ZT_AUTO, "table" is a table on standard output. In a path, %p is the process ID, and
       %q{NAME} the value of a variable of the environment, or nothing if it is not set. Processes that share
       a path overwrite each other's file: name it run.%p.csv, or run.%q{PMIX_RANK}.csv. The second profiler
       of a process writes run.2.csv, and so on. A relative path starts in the working directory at the time
       of zt_close. For a trace or a page, config.timeline is 65,536 unless it is set. zt_auto names each file
       that it has written on standard error. If a report cannot be written, the table is printed there.
*/
