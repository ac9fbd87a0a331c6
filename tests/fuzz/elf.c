/* Native binaries and debug information of modules: ELF, and its section .ze_info. */
#include "fuzz.h"

int LLVMFuzzerInitialize(int *count, char ***arguments) {
    (void)count, (void)arguments;
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    fuzz_read_elf(bytes, size);
    return 0;
}
