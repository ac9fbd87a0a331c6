/* ----------------------------------------------------------------------------------------------------------
   HOOKS

       zt_trace_config.hooks are callbacks of the application around calls. Prologues run before the call,
       in the order of the array; epilogues run after it, in reverse order. The tracer does its part between
       them and the call. So the tracer measures what a prologue has changed, and a kernel that an epilogue
       of zeKernelCreate puts in place of another is measured under its own name.

       Calls of zt_trace_config.calls are timed on the host. Reports show them below the regions, and the
       timeline has a track for each thread. Calls that the library or a hook makes are neither timed nor
       traced.
*/
