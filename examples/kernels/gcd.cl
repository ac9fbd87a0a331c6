/* result[i] = the greatest common divisor of a[i] and b[i], for n pairs. Written for tests/softgpu/kernel.h,
 * which says how. */
KERNEL(gcd, BUFFER(uint, result), BUFFER(const uint, a), BUFFER(const uint, b), VALUE(uint, n)) {
    FOR_EACH_ITEM {
        uint i = GLOBAL_ID(0);
        if (i < n) {
            uint x = LOAD(a, i), y = LOAD(b, i);
            while (y != 0) {
                uint rest = x % y;
                x = y;
                y = rest;
            }
            STORE(result, i, x);
        }
    }
}
