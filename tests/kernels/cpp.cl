/* A kernel with a name as compilers of C++ and SYCL give it: scale(float*). */
KERNEL(_Z5scalePf, BUFFER(float, x)) {
    FOR_EACH_ITEM {
        uint i = GLOBAL_ID(0);
        STORE(x, i, 2 * LOAD(x, i));
    }
}
