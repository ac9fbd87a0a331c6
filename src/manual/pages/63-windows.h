/* ----------------------------------------------------------------------------------------------------------
   WINDOWS

       - Link with ze_loader.lib, or with -lze_loader by mingw-w64.
       - Compile with mingw-w64 or clang.
       - Paths are UTF-8.
       - An empty variable of the environment counts as not set. Changes by SetEnvironmentVariable after the
         start of the program are not seen.
       - Hot spots have no source lines, because no symboliser is run.
       - ZT_AUTO_SIGNAL is refused: Windows has no such signals.
       - ZETOOLS_CONNECTORS does nothing: names from ITT and Kokkos are not known.
       - A report cannot be replaced while another program has it open without sharing.
*/
