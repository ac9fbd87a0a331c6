/* Waits until somebody sets a flag, which nobody does: it hangs. Then result[i] = 42 for each item.
 * Written for tests/softgpu/kernel.h, which says how. */
KERNEL(spin, BUFFER(volatile uint, flag), BUFFER(uint, result)) {
    FOR_EACH_ITEM {
        uint i = GLOBAL_ID(0);
        while (flag[0] == 0) /* here it hangs */
            ;
        STORE(result, i, 42);
    }
}
