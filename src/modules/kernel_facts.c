/* What a kernel has, such as registers and shared memory, as the driver reports it. */

#include "modules/kernel_facts.h"

#include "base/compiler.h"
#include "metrics/driver.h"

#ifdef ZETOOLS_TRACER

ZT__PRIVATE zt__kernel_facts zt__unknown_facts(void) {
    zt__kernel_facts facts;
    memset(&facts, 0xFF, sizeof facts);
    memset(facts.required_group_size, 0, sizeof facts.required_group_size);
    facts.module = 0;
    return facts;
}

/* An extension of zeKernelGetProperties of Intel's driver, zex_kernel_register_file_size_exp_t. */
typedef struct zt__register_file_size {
    ze_structure_type_t stype;
    const void *next;
    uint32_t registers;
} zt__register_file_size;

ZT__PRIVATE void zt__query_kernel(const zt__driver *driver, ze_kernel_handle_t kernel,
                                  zt__kernel_facts *facts) {
    zt__register_file_size file = {(ze_structure_type_t)0x00030012, NULL, UINT32_MAX};
    union {
        zet_profile_properties_t properties;
        uint8_t bytes[ZT__PROFILE_INFO_BYTES];
    } profile;
    ze_kernel_properties_t properties;
    size_t size = 0;
    ze_result_t result;
    memset(&properties, 0, sizeof properties);
    properties.stype = ZE_STRUCTURE_TYPE_KERNEL_PROPERTIES;
    properties.pNext = &file;
    result = zeKernelGetProperties(kernel, &properties);
    if (result != ZE_RESULT_SUCCESS) { /* a validation layer may refuse the extension */
        properties.pNext = NULL;
        result = zeKernelGetProperties(kernel, &properties);
    }
    if (result == ZE_RESULT_SUCCESS) {
        if (file.registers != UINT32_MAX && file.registers != 0) {
            facts->registers = file.registers;
        }
        if (properties.maxSubgroupSize) {
            facts->simd_width = properties.maxSubgroupSize;
        }
        facts->slm_bytes = properties.localMemSize;
        facts->private_bytes = properties.privateMemSize;
        facts->spill_bytes = properties.spillMemSize;
        facts->arguments = properties.numKernelArgs;
        facts->required_group_size[0] = properties.requiredGroupSizeX;
        facts->required_group_size[1] = properties.requiredGroupSizeY;
        facts->required_group_size[2] = properties.requiredGroupSizeZ;
    }
    if (driver->zeKernelGetBinaryExp &&
        driver->zeKernelGetBinaryExp(kernel, &size, NULL) == ZE_RESULT_SUCCESS && size < UINT32_MAX) {
        facts->code_bytes = (uint32_t)size;
    }
    memset(&profile, 0, sizeof profile);
    profile.properties.stype = ZET_STRUCTURE_TYPE_PROFILE_PROPERTIES;
    if (zetKernelGetProfileInfo(kernel, &profile.properties) == ZE_RESULT_SUCCESS) {
        facts->profile_flags = profile.properties.flags;
    }
}

#endif
