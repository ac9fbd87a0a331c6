/* ----------------------------------------------------------------------------------------------------------
   OTHER FILES

       Folded stacks (.folded) are what flamegraph.pl, speedscope and others draw flame graphs of: a line
       for each path, with the names of its regions and its own time in whole nanoseconds. In names, ';' is
       written as ':'. If the own time is not known, the last frame is "(estimate)", and the number is
       estimated as for a share; see OWN TIME.

           step;solve;gemm 314374

       If hot spots were sampled, the own time of a region with the name of a kernel is divided among its
       source lines in proportion to their samples: "step;gemm;gemm.cl:12 314374". Without such a region,
       the numbers are samples.

       Instances (.instances.csv) are a row for each sample that config.timeline keeps, in the form of
       `unitrace -q`, so that scripts for unitrace read them: for each device "=== Device #0 Metrics ===" with
       its number, a blank line, and CSV with the columns Kernel, GlobalInstanceId, SubDeviceId (the tile) and
       each metric with its units, such as GpuTime[ns] and XVE_STALL[%]. GlobalInstanceId counts samples from 1
       in the order of collection. The last two columns, which unitrace has not, are Begin[ns] and End[ns]: when
       the sample ran, on the host's CLOCK_MONOTONIC.

           import io, pandas
           for device in open("run.instances.csv").read().split("=== Device #")[1:]:
               rows = pandas.read_csv(io.StringIO(device), skiprows=2)
               print(device.split()[0], rows.groupby("Kernel")["GpuTime[ns]"].sum())
*/
