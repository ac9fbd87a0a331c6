/* What a device can do at the most: bytes a second, and multiply-adds a second. Written for
 * tests/softgpu/kernel.h, which says how. */

/* Copies, and nothing else. */
KERNEL(stream, BUFFER(float, to), BUFFER(const float, from)) {
    FOR_EACH_ITEM {
        uint i = GLOBAL_ID(0);
        STORE(to, i, LOAD(from, i));
    }
}

/* Eight chains of multiply-adds an item, 16 operations in each step, so that no step waits for the one before. */
KERNEL(multiply_add, BUFFER(float, to), VALUE(float, factor), VALUE(uint, steps)) {
    FOR_EACH_ITEM {
        float a = (float)LOCAL_ID(0), b = a + 1, c = a + 2, d = a + 3, e = a + 4, f = a + 5, g = a + 6,
              h = a + 7;
        for (uint i = 0; i < steps; i++) {
            a = a * factor + 1.0f;
            b = b * factor + 1.0f;
            c = c * factor + 1.0f;
            d = d * factor + 1.0f;
            e = e * factor + 1.0f;
            f = f * factor + 1.0f;
            g = g * factor + 1.0f;
            h = h * factor + 1.0f;
        }
        STORE(to, GLOBAL_ID(0), a + b + c + d + e + f + g + h);
    }
}
