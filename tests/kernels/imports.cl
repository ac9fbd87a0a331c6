/* For tests of the software device: a kernel that calls a function of another module, with a variable of it.
 */
IMPORT(float, scaled, (float x));
IMPORT_GLOBAL(float, factor);

KERNEL(scale, BUFFER(float, y)) {
    FOR_EACH_ITEM {
        uint i = GLOBAL_ID(0);
        STORE(y, i, scaled(LOAD(y, i)) + FROM(factor));
    }
}
