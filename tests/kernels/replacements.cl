/* For tests of zt_replace: kernels for the place of saxpy, and a function for that of another. */
GLOBAL(uint, items);

/* The same, and counts its items. */
KERNEL(saxpy, BUFFER(float, y), BUFFER(const float, x), VALUE(float, a), VALUE(uint, n)) {
    FOR_EACH_ITEM {
        uint i = GLOBAL_ID(0);
        ATOMIC_ADD(items, 1);
        if (i < n)
            STORE(y, i, a * LOAD(x, i) + LOAD(y, i));
    }
}

/* Twice as much. */
KERNEL(twice, BUFFER(float, y), BUFFER(const float, x), VALUE(float, a), VALUE(uint, n)) {
    FOR_EACH_ITEM {
        uint i = GLOBAL_ID(0);
        if (i < n)
            STORE(y, i, 2 * a * LOAD(x, i) + LOAD(y, i));
    }
}

/* With fewer arguments. */
KERNEL(unlike, BUFFER(float, y), VALUE(uint, n)) {
    FOR_EACH_ITEM {
        uint i = GLOBAL_ID(0);
        if (i < n)
            STORE(y, i, 0);
    }
}

float scaled(float x);
float scaled(float x) {
    ATOMIC_ADD(items, 1);
    return 3 * x;
}
