/* zt_unpack of any bytes, and all that can be done with what it returns. */
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

enum { HEADER = 24 };

int LLVMFuzzerInitialize(int *count, char ***arguments) {
    (void)count, (void)arguments;
    return 0;
}

/* Unpacks a copy that has exactly the size of the input, so that a byte beyond it is noticed. */
static zt_profiler *unpack(const uint8_t *bytes, size_t size) {
    zt_config config = fuzz_config();
    zt_profiler *profiler = NULL;
    uint8_t *copy = (uint8_t *)malloc(size + !size);
    must(copy);
    memcpy(copy, bytes, size);
    ze_result_t result = zt_unpack(copy, size, &config, &profiler);
    must((result == ZE_RESULT_SUCCESS) == (profiler != NULL));
    free(copy);
    return profiler;
}

/* What is packed again is the same, once it has been packed by the library. */
static void pack_again(const zt_profiler *profiler) {
    size_t size = 0, size_again = 0;
    must(zt_pack(profiler, NULL, &size) == ZE_RESULT_SUCCESS);
    uint8_t *packed = (uint8_t *)malloc(size), *again = (uint8_t *)malloc(size);
    must(packed && again && zt_pack(profiler, packed, &size) == ZE_RESULT_SUCCESS);
    zt_profiler *copy = unpack(packed, size);
    must(copy);
    must(zt_pack(copy, NULL, &size_again) == ZE_RESULT_SUCCESS && size_again == size);
    must(zt_pack(copy, again, &size_again) == ZE_RESULT_SUCCESS && memcmp(packed, again, size) == 0);
    must(zt_merge(copy, profiler) == ZE_RESULT_SUCCESS);
    must(zt_merge(copy, profiler) == ZE_RESULT_SUCCESS);
    fuzz_report(copy);
    zt_close(copy);
    free(packed);
    free(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    zt_profiler *profiler = unpack(bytes, size), *sealed;
    if (size >= HEADER) { /* the same with a header that fits, which no input has by chance */
        uint8_t *copy = (uint8_t *)malloc(size);
        must(copy);
        memcpy(copy, bytes, size);
        fuzz_seal(copy, size);
        sealed = unpack(copy, size);
        if (sealed) {
            fuzz_report(sealed);
            pack_again(sealed);
        }
        zt_close(sealed);
        free(copy);
    }
    zt_close(profiler);
    check_memory();
    return 0;
}
