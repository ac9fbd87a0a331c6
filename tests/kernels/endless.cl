/* For tests of program debug: kernels that do not end by themselves. */
enum { STOP, COUNT, STARTED, RESULT };

/* Counts in memory until the first word is not 0. */
KERNEL(count, BUFFER(uint, words)) {
    (void)sg_group;
    while (!__atomic_load_n(&words[STOP], __ATOMIC_RELAXED))
        __atomic_fetch_add(&words[COUNT], 1, __ATOMIC_RELAXED);
}

/* Waits in local memory until it is 99. */
KERNEL(in_local, BUFFER(uint, words)) {
    LOCAL(uint, first, 1);
    LOCAL(uint, second, 4);
    second[1] = 22;
    __atomic_store_n(&first[0], 11, __ATOMIC_SEQ_CST);
    __atomic_store_n(&words[STARTED], 1, __ATOMIC_RELAXED);
    while (__atomic_load_n(&first[0], __ATOMIC_SEQ_CST) != 99)
        ;
    words[RESULT] = __atomic_load_n(&second[1], __ATOMIC_SEQ_CST);
}

/* Reads from an address that need not be one. */
KERNEL(read_from, BUFFER(uint, words), VALUE(uint64_t, address)) {
    (void)sg_group;
    __atomic_store_n(&words[STARTED], 1, __ATOMIC_RELAXED);
    words[RESULT] = *(const volatile uint *)(uintptr_t)address;
}

/* Counts down in a register, for years. */
KERNEL(countdown, BUFFER(uint, words)) {
    uint64_t left = UINT64_C(1) << 60;
    (void)sg_group;
    __atomic_store_n(&words[STARTED], 1, __ATOMIC_RELAXED);
    do
        __asm__ volatile("" : "+r"(left));
    while (--left);
    words[RESULT] = 7;
}
