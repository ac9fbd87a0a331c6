/* See posix.h. The system does not count these. */
#ifndef WINDOWS_SYS_RESOURCE_H
#define WINDOWS_SYS_RESOURCE_H

struct rusage {
    long ru_minflt, ru_majflt, ru_nvcsw, ru_nivcsw;
};

#define RUSAGE_THREAD 1
#define getrusage(who, usage) (memset(usage, 0, sizeof *(usage)), -1)

#endif
