/* y = a * x + y, an item for each of n elements. Written for tests/softgpu/kernel.h, which says how. */
KERNEL(saxpy, BUFFER(float, y), BUFFER(const float, x), VALUE(float, a), VALUE(uint, n)) {
    FOR_EACH_ITEM {
        uint i = GLOBAL_ID(0);
        if (i < n)
            STORE(y, i, a * LOAD(x, i) + LOAD(y, i));
    }
}
