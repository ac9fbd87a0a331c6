/* root[i] = the cube root of a[i], for n elements, by Newton's method. Its divisions are the costly part.
 * Written for tests/softgpu/kernel.h, which says how. */
KERNEL(cbrt, BUFFER(float, root), BUFFER(const float, a), VALUE(uint, n), VALUE(uint, steps)) {
    FOR_EACH_ITEM {
        uint i = GLOBAL_ID(0);
        if (i < n) {
            float x = 1.0f;
            for (uint step = 0; step < steps; step++)
                x = (2.0f * x + LOAD(a, i) / (x * x)) / 3.0f; /* the costly line */
            STORE(root, i, x);
        }
    }
}
