/* ----------------------------------------------------------------------------------------------------------
   COPIES OF THE HEADER

       Copies of this header are in plugins, in libraries with hidden symbols or loaded with RTLD_LOCAL, and
       in files with ZETOOLS_STATIC. They must agree on which metric groups are active, and must not
       calculate metrics at the same time, and one tracer runs in all of them. The number in the name
       ZETOOLS_PROCESS_9 is the layout of what they share: copies with different layouts do not find each
       other. Messages are not shared: zt_last_error has those of its own copy.
*/
