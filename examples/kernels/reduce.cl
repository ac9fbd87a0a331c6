/* sums[group] = the sum of the group's part of n values, as a tree in local memory. The work-group has 256
 * items; what the groups leave is summed by the host, or by another launch. Written for
 * tests/softgpu/kernel.h. */
#define ITEMS 256

KERNEL(reduce, BUFFER(float, sums), BUFFER(const float, values), VALUE(uint, n)) {
    LOCAL(float, partial, ITEMS);

    FOR_EACH_ITEM {
        uint i = GLOBAL_ID(0);
        LOCAL_STORE(partial, LOCAL_ID(0), i < n ? LOAD(values, i) : 0.0f);
    }
    BARRIER;
    for (uint half_size = ITEMS / 2; half_size > 0; half_size /= 2) {
        FOR_EACH_ITEM {
            uint i = LOCAL_ID(0);
            if (i < half_size)
                LOCAL_STORE(partial, i, LOCAL_LOAD(partial, i) + LOCAL_LOAD(partial, i + half_size));
        }
        BARRIER;
    }
    FOR_EACH_ITEM {
        if (LOCAL_ID(0) == 0)
            STORE(sums, GROUP_ID(0), LOCAL_LOAD(partial, 0));
    }
}
