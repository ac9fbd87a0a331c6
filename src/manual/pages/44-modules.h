/* ----------------------------------------------------------------------------------------------------------
   MODULES

       With zt_trace_config.modules, each module that is created while tracing leaves files in a directory,
       for disassemblers and symbolisers:

           3f9c6a0d5e21b784.elf     the native binary. Its suffix is .elf, .ar for a fat binary, else .bin
           3f9c6a0d5e21b784.debug   the debug information, ELF with DWARF, if there is some: build with -g

       The name is the FNV-1a hash of the native binary, printed as %016llx, as JSON and CSV have it;
       zt_kernel_info.module is the number. So processes may share a directory, and a module that is created
       again is not written again. Two of 10,000 different modules have the same hash with a probability of
       3 in 10^12. A file is written beside its name and then renamed, so nobody reads an incomplete one.
       What cannot be written is logged once and noted in reports; the program goes on.

       With zt_trace_config.profile_flags, -zet-profile-flags is added to the build flags of these modules,
       so zetKernelGetProfileInfo describes their registers to tools that inject instructions. Set
       ZET_ENABLE_PROGRAM_INSTRUMENTATION=1 before zeInit; zt_auto does so if it is given profile flags. Each
       module is built twice: first to see whether the driver accepts the flags. If not, it is built as the
       application says, which is logged once. So are modules of several inputs
       (ze_module_program_exp_desc_t).
*/
