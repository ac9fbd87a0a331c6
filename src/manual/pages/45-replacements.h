/* ----------------------------------------------------------------------------------------------------------
   REPLACEMENTS

       zt_replace puts kernels of another module in place of the application's, which need not know of it.
       So an instrumented build can count in a variable of its module what the kernels of a program do:

           zt_replace(profiler, "solve*", instrumented, NULL);
           zt_trace_start(profiler, NULL);
           ...
           zeModuleGetGlobalPointer(instrumented, "iterations", &size, &counter);

       When a zeKernelCreate of the application has succeeded, the tracer creates the replacement, destroys
       the first kernel, and returns the handle of the replacement, which is measured and listed under its
       own name. Epilogues of hooks get the replacement and its module. What zeModuleGetFunctionPointer
       returns is replaced likewise, if the other module has a function of the name; zeModuleGetKernelNames
       is not changed. Reports note how much was replaced. The replacement ends when the application
       destroys the other module while it is traced.

       A kernel stays as it is

       - if the replacement cannot be created, or has a different number of arguments. This is logged once
       - if it was created before zt_replace or zt_trace_start
       - if zt_replace has no name, and the other module has no kernel of the same name
       - if it is of a module that replaces others
       - if it is of another context or device than the profiler's. A module from before the tracer started
         counts as the profiler's
*/
