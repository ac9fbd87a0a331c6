/* See posix.h. */
#include <windows.h>

#include <dlfcn.h>
#include <fcntl.h>
#include <psapi.h>
#include <tlhelp32.h>

/* ---- the environment ------------------------------------------------------------------------------------- */

int windows_setenv(const char *name, const char *value, int overwrite) {
    if (!overwrite && getenv(name))
        return 0;
    _putenv_s(name, value);
    return SetEnvironmentVariableA(name, value) ? 0 : -1; /* an empty value has removed it */
}

int windows_unsetenv(const char *name) {
    _putenv_s(name, "");
    SetEnvironmentVariableA(name, NULL);
    return 0;
}

/* ---- files ----------------------------------------------------------------------------------------------- */

char *windows_realpath(const char *path, char *resolved) {
    DWORD length = GetFullPathNameA(path, PATH_MAX, resolved, NULL);
    if (!length || length >= PATH_MAX || GetFileAttributesA(resolved) == INVALID_FILE_ATTRIBUTES)
        return NULL;
    for (char *at = resolved; *at; at++)
        *at = *at == '\\' ? '/' : *at;
    return resolved;
}

/* Writes other characters into a name, from its last X, which are six. */
static void choose_name(char *last) {
    static _Thread_local uint32_t state;
    LARGE_INTEGER ticks;
    QueryPerformanceCounter(&ticks);
    state = state * 1664525u + 1013904223u + (uint32_t)ticks.QuadPart + GetCurrentThreadId();
    uint32_t left = state ^ state >> 15;
    for (int i = 0; i < 6; i++, left /= 36)
        last[-i] = "0123456789abcdefghijklmnopqrstuvwxyz"[left % 36];
}

char *windows_mkdtemp(char *path) {
    for (int tries = 0; tries < 100; tries++) {
        choose_name(path + strlen(path) - 1);
        if (_mkdir(path) == 0)
            return path;
    }
    return NULL;
}

int windows_mkstemps(char *path, int ending) {
    enum { FLAGS = _O_CREAT | _O_EXCL | _O_RDWR | _O_BINARY | _O_NOINHERIT };
    for (int tries = 0; tries < 100; tries++) {
        choose_name(path + strlen(path) - (size_t)ending - 1);
        int file = _open(path, FLAGS, _S_IREAD | _S_IWRITE);
        if (file >= 0)
            return file;
    }
    return -1;
}

FILE *windows_fmemopen(void *bytes, size_t size, const char *mode) {
    FILE *file = tmpfile();
    (void)mode;
    if (file) {
        fwrite(bytes, 1, size, file);
        rewind(file);
    }
    return file;
}

/* ---- threads --------------------------------------------------------------------------------------------- */

static int64_t read_clock(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static int64_t to_ns(const struct timespec *time) {
    return (int64_t)time->tv_sec * 1000000000 + time->tv_nsec;
}

int windows_timedwait(pthread_cond_t *condition, pthread_mutex_t *mutex, const struct timespec *deadline) {
    enum { LEAST_NS = 3000000 };
    int64_t left = to_ns(deadline) - read_clock(CLOCK_MONOTONIC);
    if (left <= 0)
        return ETIMEDOUT;
    if (left < LEAST_NS) {
        pthread_mutex_unlock(mutex);
        SwitchToThread();
        pthread_mutex_lock(mutex);
        return 0;
    }
    left -= LEAST_NS / 2;
    struct timespec wait = {(time_t)(left / 1000000000), (long)(left % 1000000000)};
    pthread_cond_timedwait_relative_np(condition, mutex, &wait);
    return 0;
}

int windows_timedjoin(pthread_t thread, void **result, const struct timespec *deadline) {
    int64_t left = (to_ns(deadline) - read_clock(CLOCK_REALTIME)) / 1000000;
    HANDLE handle = (HANDLE)pthread_gethandle(thread);
    if (handle && WaitForSingleObject(handle, left > 0 ? (DWORD)left : 0) == WAIT_TIMEOUT)
        return ETIMEDOUT;
    return pthread_join(thread, result);
}

uint64_t windows_cpu_time(pthread_t thread) {
    FILETIME created, ended, kernel, user;
    HANDLE handle = (HANDLE)pthread_gethandle(thread);
    if (!handle || !GetThreadTimes(handle, &created, &ended, &kernel, &user))
        return 0;
    uint64_t high = (uint64_t)kernel.dwHighDateTime + user.dwHighDateTime;
    return ((high << 32) + kernel.dwLowDateTime + user.dwLowDateTime) * 100;
}

uint32_t windows_count_threads(void) {
    THREADENTRY32 entry = {.dwSize = sizeof entry};
    HANDLE all = CreateToolhelp32Snapshot(TH32CS_SNAPTHREAD, 0);
    uint32_t count = 0;
    for (BOOL any = Thread32First(all, &entry); any; any = Thread32Next(all, &entry))
        count += entry.th32OwnerProcessID == GetCurrentProcessId();
    CloseHandle(all);
    return count;
}

/* ---- libraries ------------------------------------------------------------------------------------------- */

void *dlopen(const char *path, int flags) {
    HMODULE module = NULL;
    if (!path)
        return GetModuleHandleA(NULL);
    if (flags & RTLD_NOLOAD)
        return GetModuleHandleExA(0, path, &module) ? (void *)module : NULL;
    return LoadLibraryExA(path, NULL, LOAD_WITH_ALTERED_SEARCH_PATH);
}

/* Of all modules, in the order in which they were loaded. */
static void *find_anywhere(const char *name) {
    HMODULE modules[256];
    DWORD bytes = 0;
    FARPROC found = NULL;
    EnumProcessModules(GetCurrentProcess(), modules, sizeof modules, &bytes);
    for (DWORD i = 0; i < bytes / sizeof *modules && i < 256 && !found; i++)
        found = GetProcAddress(modules[i], name);
    return (void *)(uintptr_t)found;
}

void *dlsym(void *library, const char *name) {
    if (!library || library == (void *)GetModuleHandleA(NULL))
        return find_anywhere(name);
    return (void *)(uintptr_t)GetProcAddress((HMODULE)library, name);
}

int dlclose(void *library) {
    return library == (void *)GetModuleHandleA(NULL) || FreeLibrary((HMODULE)library) ? 0 : -1;
}

char *dlerror(void) {
    static char text[64];
    snprintf(text, sizeof text, "error %lu of the system", GetLastError());
    return text;
}
