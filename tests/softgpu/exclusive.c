/* Counters of a root device are one process's at a time, where processes say by SOFTGPU_COUNTERS that they share the
 * device: from the first query pool or streamer to the last. The kernel's drivers i915 and xe do so, by a file that the
 * process has open meanwhile. So does this, and the file is locked. */
#define _GNU_SOURCE
#include "metrics.h"

#ifdef _WIN32

bool sg_counters_acquire(const sg_device *device) {
    (void)device;
    return true;
}

void sg_counters_release(const sg_device *device) {
    (void)device;
}

#else

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static struct {
    uint32_t users;
    int file; /* -1: nobody shares the device */
} held[SG_MAX_DEVICES];

/* Returns whether this process has the file now. */
static bool lock_file(uint32_t index) {
    const char *path = getenv("SOFTGPU_COUNTERS");
    char name[PATH_MAX];
    held[index].file = -1;
    if (!path)
        return true;
    snprintf(name, sizeof name, "%s.%u", path, (unsigned)index);
    held[index].file = open(name, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (held[index].file >= 0 && !flock(held[index].file, LOCK_EX | LOCK_NB))
        return true;
    if (held[index].file >= 0)
        close(held[index].file);
    return false;
}

bool sg_counters_acquire(const sg_device *device) {
    uint32_t index = device->root->device->index;
    pthread_mutex_lock(&lock);
    bool is_ours = held[index].users > 0 || lock_file(index);
    held[index].users += is_ours;
    pthread_mutex_unlock(&lock);
    return is_ours;
}

void sg_counters_release(const sg_device *device) {
    uint32_t index = device->root->device->index;
    pthread_mutex_lock(&lock);
    if (--held[index].users == 0 && held[index].file >= 0)
        close(held[index].file);
    pthread_mutex_unlock(&lock);
}

#endif
