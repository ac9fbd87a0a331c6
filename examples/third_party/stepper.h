/* A library that somebody else wrote. It launches kernels, and has never heard of profiling.

   In each step it adds half of x, which is 2 everywhere, to y, which is 1 at first; then it sums up y. */
#ifndef STEPPER_H
#define STEPPER_H

#include <level_zero/ze_api.h>

typedef struct stepper stepper;

/* Kernels are read from the directory. NULL where something is missing. */
stepper *stepper_open(ze_context_handle_t context, ze_device_handle_t device, uint32_t queue_group,
                      const char *kernels);

/* So many steps. Returns the sum of the 65,536 elements of y, or a negative number on failure. */
double stepper_run(stepper *solver, uint32_t steps);

void stepper_close(stepper *solver);

#endif
