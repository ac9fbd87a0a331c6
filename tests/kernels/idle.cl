/* A kernel of the software device alone that takes its time without a processor, so that two of them overlap
   on any machine. */
#include <time.h>

KERNEL(idle, VALUE(uint, microseconds)) {
    const struct timespec time = {0, (long)microseconds * 1000};
    (void)sg_group;
    if (microseconds)
        nanosleep(&time, NULL);
}
