/* See posix.h. A handle is that of a loaded module; NULL stands for the program and all that it has loaded.
 */
#ifndef WINDOWS_DLFCN_H
#define WINDOWS_DLFCN_H

#ifdef __cplusplus
extern "C" {
#endif

#define RTLD_LAZY 1
#define RTLD_NOW 2
#define RTLD_NOLOAD 4
#define RTLD_LOCAL 0
#define RTLD_GLOBAL 0
#define RTLD_DEFAULT NULL

void *dlopen(const char *path, int flags);
void *dlsym(void *library, const char *name);
int dlclose(void *library);
char *dlerror(void);

#ifdef __cplusplus
}
#endif

#endif
