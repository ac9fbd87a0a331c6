/* The functions of platform.h for Windows. */

#include "base/platform.h"

#include "base/compiler.h"

#ifdef _WIN32

/* Time */

ZT__PRIVATE uint64_t zt__now_ns(void) {
    LARGE_INTEGER frequency, ticks;
    uint64_t hz, now;
    QueryPerformanceFrequency(&frequency);
    QueryPerformanceCounter(&ticks);
    hz = (uint64_t)frequency.QuadPart;
    now = (uint64_t)ticks.QuadPart;
    return now / hz * 1000000000u + now % hz * 1000000000u / hz;
}

ZT__PRIVATE uint64_t zt__get_slept_ns(void) {
    return 0;
}

static uint64_t zt__filetime_value(FILETIME time) {
    return (uint64_t)time.dwHighDateTime << 32 | time.dwLowDateTime;
}

ZT__PRIVATE uint64_t zt__get_thread_cpu_ns(void) {
    FILETIME created, ended, kernel, user;
    if (!GetThreadTimes(GetCurrentThread(), &created, &ended, &kernel, &user)) {
        return 0;
    }
    return (zt__filetime_value(kernel) + zt__filetime_value(user)) * 100;
}

ZT__PRIVATE void zt__sleep(uint64_t ns) {
    Sleep((DWORD)(ns / 1000000));
}

ZT__PRIVATE int zt__convert_to_utc(time_t seconds, struct tm *utc) {
    return gmtime_s(utc, &seconds) == 0;
}

/* Threads */

ZT__PRIVATE void zt__create_mutex(zt__mutex *mutex) {
    InitializeSRWLock(mutex);
}

ZT__PRIVATE void zt__destroy_mutex(zt__mutex *mutex) {
    (void)mutex;
}

ZT__PRIVATE void zt__lock(zt__mutex *mutex) {
    AcquireSRWLockExclusive(mutex);
}

ZT__PRIVATE int zt__try_lock_mutex(zt__mutex *mutex) {
    return TryAcquireSRWLockExclusive(mutex) != 0;
}

ZT__PRIVATE void zt__unlock(zt__mutex *mutex) {
    ReleaseSRWLockExclusive(mutex);
}

ZT__PRIVATE void zt__create_condition(zt__condition *condition) {
    InitializeConditionVariable(condition);
}

ZT__PRIVATE void zt__destroy_condition(zt__condition *condition) {
    (void)condition;
}

ZT__PRIVATE void zt__signal_condition(zt__condition *condition) {
    WakeConditionVariable(condition);
}

ZT__PRIVATE void zt__await_condition(zt__condition *condition, zt__mutex *mutex, uint64_t deadline) {
    uint64_t now = zt__now_ns(), ms;
    if (now < deadline) {
        ms = (deadline - now - 1) / 1000000 + 1; /* rounded up */
        SleepConditionVariableSRW(condition, mutex, ms < 0x7fffffff ? (DWORD)ms : 0x7fffffff, 0);
    }
}

typedef struct zt__thread_start {
    ZT__THREAD_RESULT(ZT__THREAD_CALL *function)(void *);
    void *argument;
    HMODULE module;
} zt__thread_start;

/* While a thread runs, the DLL that has its code stays loaded, even if the program unloads it. Threads are
   not started by _beginthreadex, which keeps the DLL loaded in some C libraries and not in others. */
static DWORD WINAPI zt__start_of_thread(void *argument) {
    zt__thread_start start = *(zt__thread_start *)argument;
    free(argument);
    start.function(start.argument);
    FreeLibraryAndExitThread(start.module, 0);
}

ZT__PRIVATE int zt__create_thread(zt__system_thread *thread,
                                  ZT__THREAD_RESULT(ZT__THREAD_CALL *function)(void *), void *argument) {
    zt__thread_start *start = (zt__thread_start *)calloc(1, sizeof *start);
    *thread = NULL;
    if (start) {
        start->function = function;
        start->argument = argument;
        if (GetModuleHandleExA(GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS, (LPCSTR)(uintptr_t)zt__start_of_thread,
                               &start->module)) {
            *thread = CreateThread(NULL, 0, zt__start_of_thread, start, 0, NULL);
            if (!*thread) {
                FreeLibrary(start->module);
            }
        }
    }
    if (!*thread) {
        free(start);
    }
    return *thread != NULL;
}

ZT__PRIVATE void zt__join_system_thread(zt__system_thread thread) {
    WaitForSingleObject(thread, INFINITE);
    CloseHandle(thread);
}

ZT__PRIVATE int zt__run_on_thread(ZT__THREAD_RESULT(ZT__THREAD_CALL *function)(void *), void *argument) {
    (void)function, (void)argument;
    return 0; /* at exit, a thread waits for the lock that the exiting one holds */
}

ZT__PRIVATE int zt__is_calling_thread(zt__system_thread thread) {
    return GetThreadId(thread) == GetCurrentThreadId();
}

ZT__PRIVATE uintptr_t zt__this_thread(void) {
    return GetCurrentThreadId();
}

ZT__PRIVATE uint32_t zt__read_thread_number(void) {
    return GetCurrentThreadId();
}

typedef struct zt__wide_path {
    wchar_t text[5120];
} zt__wide_path;

/* Returns 0, and sets errno, if the text is no UTF-8 or too long. */
static int zt__to_wide(const char *text, zt__wide_path *wide) {
    if (!MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, text, -1, wide->text,
                             (int)ZT__COUNT_OF(wide->text))) {
        errno = GetLastError() == ERROR_INSUFFICIENT_BUFFER ? ENAMETOOLONG : EINVAL;
        return 0;
    }
    return 1;
}

/* Stores UTF-8; "" if there is no room. */
static void zt__from_wide(const wchar_t *wide, char *text, size_t size) {
    if (!WideCharToMultiByte(CP_UTF8, 0, wide, -1, text, (int)size, NULL, NULL)) {
        text[0] = 0;
    }
}

ZT__PRIVATE int zt__find_symbol(const char *library, const char *name, void *function) {
    HMODULE module = GetModuleHandleA(library);
    FARPROC symbol = module ? GetProcAddress(module, name) : NULL;
    memcpy(function, &symbol, sizeof symbol);
    return module != NULL;
}

ZT__PRIVATE void zt__read_thread_name(uint32_t thread, char *name, size_t size) {
    HRESULT(WINAPI * get_description)(HANDLE, PWSTR *);
    HANDLE handle = OpenThread(THREAD_QUERY_LIMITED_INFORMATION, FALSE, thread);
    wchar_t *description = NULL;
    name[0] = 0;
    zt__find_symbol("kernelbase.dll", "GetThreadDescription", (void *)&get_description);
    if (handle && get_description && get_description(handle, &description) >= 0) {
        zt__from_wide(description, name, size);
        LocalFree(description);
    }
    if (handle) {
        CloseHandle(handle);
    }
}

ZT__PRIVATE void zt__keep_loaded(void) {
    static const char anchor = 0;
    HMODULE module;
    GetModuleHandleExA(GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS | GET_MODULE_HANDLE_EX_FLAG_PIN, &anchor,
                       &module);
}

ZT__PRIVATE int zt__create_key(zt__thread_key *key) {
    *key = FlsAlloc(NULL);
    return *key != FLS_OUT_OF_INDEXES;
}

ZT__PRIVATE void zt__delete_key(zt__thread_key key) {
    FlsFree(key);
}

ZT__PRIVATE void *zt__get_thread_value(zt__thread_key key) {
    return FlsGetValue(key);
}

ZT__PRIVATE int zt__set_thread_value(zt__thread_key key, void *value) {
    return FlsSetValue(key, value) != 0;
}

/* The process */

ZT__PRIVATE long zt__get_process_id(void) {
    return (long)GetCurrentProcessId();
}

ZT__PRIVATE int zt__is_no_process(uint32_t process) {
    HANDLE opened = OpenProcess(SYNCHRONIZE, FALSE, process);
    if (opened) {
        CloseHandle(opened);
    }
    return !opened && GetLastError() == ERROR_INVALID_PARAMETER;
}

ZT__PRIVATE void zt__read_program_bytes(uint8_t bytes[16]) {
    FILETIME created, ended, kernel, user;
    memset(bytes, 0, 16);
    if (GetProcessTimes(GetCurrentProcess(), &created, &ended, &kernel, &user)) {
        memcpy(bytes, &created, sizeof created);
    }
}

ZT__PRIVATE int zt__call_after_fork(void (*function)(void)) {
    (void)function; /* there is no fork */
    return 1;
}

ZT__PRIVATE zt__signal_refusal zt__catch_signal(const char *name) {
    (void)name;
    return ZT__SIGNAL_MISSING;
}

ZT__PRIVATE void zt__release_signal(void) {}

ZT__PRIVATE zt__signal_refusal zt__find_signal_obstacle(void) {
    return ZT__SIGNAL_CAUGHT;
}

ZT__PRIVATE int zt__is_signal_pending(void) {
    return 0;
}

ZT__PRIVATE int zt__await_signal(uint32_t seconds) {
    (void)seconds;
    return 1;
}

ZT__PRIVATE void zt__end_await(void) {}

ZT__PRIVATE const char *zt__get_variable(const char *name) {
    return getenv(name);
}

/* Each C library of the process has an environment of its own. The system's is the common one. */
ZT__PRIVATE int zt__read_variable(const char *name, char *text, size_t size) {
    DWORD length;
    text[0] = 0;
    SetLastError(ERROR_SUCCESS);
    length = GetEnvironmentVariableA(name, text, (DWORD)size);
    if (length >= size) {
        text[0] = 0;
    }
    return length > 0 || GetLastError() != ERROR_ENVVAR_NOT_FOUND;
}

ZT__PRIVATE void zt__set_variable(const char *name, const char *value, int replaces) {
    char before[1];
    if (replaces || !zt__read_variable(name, before, sizeof before)) {
        SetEnvironmentVariableA(name, value);
    }
}

ZT__PRIVATE const char *zt__find_permission_remedy(void) {
    return "Run as administrator.";
}

ZT__PRIVATE zt__counter_user zt__find_counter_user(zt__counting_unit unit) {
    zt__counter_user user;
    (void)unit;
    memset(&user, 0, sizeof user); /* the system does not show it */
    return user;
}

ZT__PRIVATE void zt__read_program(char *program, size_t room) {
    zt__from_wide(GetCommandLineW(), program, room);
}

ZT__PRIVATE int zt__compare_ignoring_case(const char *a, const char *b) {
    return _stricmp(a, b);
}

/* Files */

ZT__PRIVATE int zt__is_separator(char character) {
    return character == '/' || character == '\\';
}

ZT__PRIVATE int zt__is_absolute(const char *path) {
    return zt__is_separator(*path) || (*path && path[1] == ':');
}

ZT__PRIVATE FILE *zt__open_file(const char *path, const zt__mode_character *mode) {
    zt__wide_path wide;
    return zt__to_wide(path, &wide) ? _wfopen(wide.text, mode) : NULL;
}

ZT__PRIVATE int zt__write_to_file(const void *bytes, size_t size, void *file) {
    return fwrite(bytes, 1, size, (FILE *)file) != size;
}

ZT__PRIVATE int zt__get_file_properties(const char *path, zt__file_properties *properties) {
    zt__wide_path wide;
    BY_HANDLE_FILE_INFORMATION information;
    HANDLE file;
    int is_on_disk;
    if (!zt__to_wide(path, &wide)) {
        return 0;
    }
    file = CreateFileW(wide.text, 0, FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, NULL,
                       OPEN_EXISTING, FILE_FLAG_BACKUP_SEMANTICS, NULL);
    if (file == INVALID_HANDLE_VALUE) {
        errno = GetLastError() == ERROR_ACCESS_DENIED ? EACCES : ENOENT;
        return 0;
    }
    is_on_disk = GetFileType(file) == FILE_TYPE_DISK && GetFileInformationByHandle(file, &information);
    CloseHandle(file);
    memset(properties, 0, sizeof *properties);
    if (is_on_disk) {
        properties->size = (uint64_t)information.nFileSizeHigh << 32 | information.nFileSizeLow;
        properties->is_directory = (information.dwFileAttributes & FILE_ATTRIBUTE_DIRECTORY) != 0;
        properties->is_regular = !properties->is_directory;
    }
    return 1;
}

ZT__PRIVATE int zt__rename_file(const char *from, const char *to) {
    zt__wide_path wide_from, wide_to;
    if (!zt__to_wide(from, &wide_from) || !zt__to_wide(to, &wide_to)) {
        return 0;
    }
    if (!MoveFileExW(wide_from.text, wide_to.text, MOVEFILE_REPLACE_EXISTING)) {
        DWORD error = GetLastError();
        errno = error == ERROR_DISK_FULL ? ENOSPC : error == ERROR_PATH_NOT_FOUND ? ENOENT : EACCES;
        return 0;
    }
    return 1;
}

ZT__PRIVATE void zt__remove_file(const char *path) {
    zt__wide_path wide;
    if (zt__to_wide(path, &wide)) {
        _wremove(wide.text);
    }
}

/* Who may read it is inherited from its directory. */
ZT__PRIVATE FILE *zt__create_file(const char *path, const zt__file_properties *properties) {
    zt__wide_path wide;
    int file;
    (void)properties;
    if (!zt__to_wide(path, &wide)) {
        return NULL;
    }
    _wremove(wide.text);
    file = _wopen(wide.text, _O_CREAT | _O_EXCL | _O_WRONLY | _O_BINARY | _O_NOINHERIT, _S_IREAD | _S_IWRITE);
    return file >= 0 ? _fdopen(file, "wb") : NULL;
}

ZT__PRIVATE FILE *zt__create_temporary_file(void) {
    return tmpfile();
}

ZT__PRIVATE int zt__make_directory(const char *path) {
    zt__wide_path wide;
    return zt__to_wide(path, &wide) && (_wmkdir(wide.text) == 0 || errno == EEXIST);
}

ZT__PRIVATE int zt__get_working_directory(char *path, size_t size) {
    zt__wide_path wide;
    DWORD length = GetCurrentDirectoryW((DWORD)ZT__COUNT_OF(wide.text), wide.text);
    if (!length || length >= ZT__COUNT_OF(wide.text)) {
        return 0;
    }
    zt__from_wide(wide.text, path, size);
    return *path != 0;
}

/* The system follows links itself when a file is replaced. */
ZT__PRIVATE size_t zt__read_link(const char *path, char *target, size_t size) {
    (void)path, (void)target, (void)size;
    return 0;
}

ZT__PRIVATE int zt__get_terminal_width(void) {
    CONSOLE_SCREEN_BUFFER_INFO information;
    if (!GetConsoleScreenBufferInfo(GetStdHandle(STD_OUTPUT_HANDLE), &information)) {
        return 0;
    }
    return information.srWindow.Right - information.srWindow.Left + 1;
}

/* A console shows bytes in a code page that it has for all programs. */
ZT__PRIVATE unsigned zt__begin_utf8(FILE *file) {
    unsigned before = (file == stdout || file == stderr) && _isatty(_fileno(file)) ? GetConsoleOutputCP() : 0;
    if (before) {
        SetConsoleOutputCP(CP_UTF8);
    }
    return before;
}

ZT__PRIVATE void zt__end_utf8(unsigned before) {
    if (before) {
        SetConsoleOutputCP(before);
    }
}

/* When the process ends, its other threads end before DLLs are notified. One of them may have held a lock of
   the DLL. */
ZT__PRIVATE int zt__has_lost_threads(void) {
    BOOLEAN(NTAPI * is_ending)(void);
    return zt__find_symbol("ntdll.dll", "RtlDllShutdownInProgress", (void *)&is_ending) && is_ending &&
           is_ending();
}

#endif
