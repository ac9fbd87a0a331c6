/* Work for the device in programs that know nothing of zetools: steps of the library of examples/third_party. */
#ifdef __cplusplus
extern "C" {
#endif
#include "../../examples/third_party/stepper.h"
#ifdef __cplusplus
}
#endif

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static stepper *solver;

/* With the kernels in the directory $KERNELS, on the first device. */
static void open_solver(void) {
    ze_context_desc_t desc = {ZE_STRUCTURE_TYPE_CONTEXT_DESC, NULL, 0};
    ze_driver_handle_t driver;
    ze_device_handle_t device;
    ze_context_handle_t context;
    uint32_t drivers = 1, devices = 1;
    if (zeInit(0) != ZE_RESULT_SUCCESS || zeDriverGet(&drivers, &driver) != ZE_RESULT_SUCCESS ||
        zeDeviceGet(driver, &devices, &device) != ZE_RESULT_SUCCESS ||
        zeContextCreate(driver, &desc, &context) != ZE_RESULT_SUCCESS)
        exit(3);
    solver = stepper_open(context, device, 0, getenv("KERNELS"));
    if (!solver)
        exit(4);
}

/* Launches "saxpy" so many times, from a recorded list, and then "reduce". */
static void run_steps(uint32_t count) {
    if (stepper_run(solver, count) < 0)
        exit(5);
}
