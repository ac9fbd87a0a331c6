/* For fixture.c: what it puts in place of functions that the library calls, as the library calls them there.
 */
#include <windows.h>

#include <direct.h>
#include <intrin.h>
#include <io.h>
#include <process.h>

static FARPROC watched_GetProcAddress(HMODULE module, const char *name) {
    return (FARPROC)(uintptr_t)watched_dlsym((void *)module, name);
}

static BOOL advanced_counter(LARGE_INTEGER *ticks) {
    LARGE_INTEGER frequency;
    struct timespec now;
    QueryPerformanceFrequency(&frequency);
    advanced_clock(CLOCK_MONOTONIC, &now);
    ticks->QuadPart = (int64_t)now.tv_sec * frequency.QuadPart +
                      ((int64_t)now.tv_nsec * frequency.QuadPart + 999999999) / 1000000000;
    return TRUE;
}

/* The least that passes is a millisecond, as without it a loop of shorter sleeps would not end. */
static void advanced_Sleep(DWORD ms) {
    if (atomic_load(&sleeps_pass))
        pass_time((ms ? ms : 1) * UINT64_C(1000000));
    else
        Sleep(ms);
}

#define GetProcAddress watched_GetProcAddress
#define QueryPerformanceCounter advanced_counter
#define Sleep advanced_Sleep
