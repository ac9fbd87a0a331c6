/* Included before anything else where clang imitates Visual Studio's compiler. The system's headers of mingw-w64 need
   extensions of GNU C; after them, the header meets a compiler that has none, as far as it can see. */
#include <direct.h>
#include <errno.h>
#include <fcntl.h>
#include <intrin.h>
#include <io.h>
#include <math.h>
#include <process.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <windows.h>
#ifdef __cplusplus
#include <type_traits>
#endif

#undef __GNUC__
#undef __GNUC_MINOR__
#undef __GNUC_PATCHLEVEL__
#undef __GNUG__
#undef __MINGW32__
#undef __clang__

/* Macros of the C library that expand to GNU C: where the text of the header is searched for it, they stay. */
#ifdef EXPANDED_TO_SEARCH
#undef NAN
#undef va_start
#undef va_end
#undef offsetof
#endif
