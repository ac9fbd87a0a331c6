/* A program that somebody else wrote: it runs some steps of a library, and has never heard of profiling.

   Usage: simulate [DIRECTORY-OF-KERNELS]   else $KERNELS, or ../kernels as seen from the program */
#include "stepper.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RUNS = 10, STEPS = 50, ELEMENTS = 1 << 16 };

static ze_device_handle_t find_gpu(ze_driver_handle_t *driver) {
    ze_driver_handle_t drivers[16];
    uint32_t driver_count = 16;
    if (zeInit(0) != ZE_RESULT_SUCCESS || zeDriverGet(&driver_count, drivers) != ZE_RESULT_SUCCESS)
        return NULL;
    for (uint32_t i = 0; i < driver_count; i++) {
        ze_device_handle_t devices[16];
        uint32_t count = 16;
        *driver = drivers[i];
        for (zeDeviceGet(drivers[i], &count, devices); count > 0; count--) {
            ze_device_properties_t properties;
            memset(&properties, 0, sizeof properties);
            properties.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES;
            if (zeDeviceGetProperties(devices[count - 1], &properties) == ZE_RESULT_SUCCESS &&
                properties.type == ZE_DEVICE_TYPE_GPU)
                return devices[count - 1];
        }
    }
    return NULL;
}

static int simulate(ze_context_handle_t context, ze_device_handle_t device, const char *kernels) {
    stepper *solver = stepper_open(context, device, 0, kernels);
    double sum = 0;
    if (!solver)
        return 0;
    for (int i = 0; i < RUNS; i++)
        sum = stepper_run(solver, STEPS);
    stepper_close(solver);
    printf("the sum is %.0f\n", sum);
    return sum == ELEMENTS * (1.0 + RUNS * STEPS);
}

int main(int argc, char **argv) {
    ze_context_desc_t desc = {ZE_STRUCTURE_TYPE_CONTEXT_DESC, NULL, 0};
    const char *slash = strrchr(argv[0], '/'), *kernels = getenv("KERNELS");
    ze_driver_handle_t driver = NULL;
    ze_device_handle_t device = find_gpu(&driver);
    ze_context_handle_t context;
    char beside[1024];
    int is_right;
    snprintf(beside, sizeof beside, "%.*s/../kernels", slash ? (int)(slash - argv[0]) : 1,
             slash ? argv[0] : ".");
    if (argc > 1)
        kernels = argv[1];
    if (!device || zeContextCreate(driver, &desc, &context) != ZE_RESULT_SUCCESS) {
        fprintf(stderr, "no GPU\n");
        return EXIT_FAILURE;
    }
    is_right = simulate(context, device, kernels ? kernels : beside);
    zeContextDestroy(context);
    return is_right ? EXIT_SUCCESS : EXIT_FAILURE;
}
