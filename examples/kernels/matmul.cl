/* c = a * b for square matrices of n rows, in tiles that a work-group of 16 by 16 items loads into local
 * memory. n is a multiple of 16. Written for tests/softgpu/kernel.h, which says how. */
#define TILE 16

KERNEL(matmul, BUFFER(float, c), BUFFER(const float, a), BUFFER(const float, b), VALUE(uint, n)) {
    LOCAL(float, a_tile, (TILE * TILE));
    LOCAL(float, b_tile, (TILE * TILE));
    PRIVATE(float, sum);

    FOR_EACH_ITEM {
        OWN(sum) = 0.0f;
    }
    for (uint start = 0; start < n; start += TILE) {
        FOR_EACH_ITEM {
            uint x = LOCAL_ID(0), y = LOCAL_ID(1);
            LOCAL_STORE(a_tile, y * TILE + x, LOAD(a, GLOBAL_ID(1) * n + start + x));
            LOCAL_STORE(b_tile, y * TILE + x, LOAD(b, (start + y) * n + GLOBAL_ID(0)));
        }
        BARRIER;
        FOR_EACH_ITEM {
            uint x = LOCAL_ID(0), y = LOCAL_ID(1);
            for (uint k = 0; k < TILE; ++k)
                OWN(sum) += LOCAL_LOAD(a_tile, y * TILE + k) * LOCAL_LOAD(b_tile, k * TILE + x);
        }
        BARRIER;
    }
    FOR_EACH_ITEM {
        STORE(c, GLOBAL_ID(1) * n + GLOBAL_ID(0), OWN(sum));
    }
}
