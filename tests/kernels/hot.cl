/* For tests of instruction sampling: kernels whose groups each work for some microseconds, until the first
   word is not 0. What comes after that does nothing. */
enum { STOP, SUM };

#define IS_STOPPED(words) __atomic_load_n(&(words)[STOP], __ATOMIC_RELAXED)

KERNEL(hot, BUFFER(uint, words), VALUE(uint, rounds)) {
    uint sum = words[SUM];
    (void)sg_group;
    for (uint i = 0; i < rounds && !IS_STOPPED(words); i++)
        sum = ((sum * 1664525u ^ sum >> 7) * 22695477u ^ sum >> 9) * 134775813u + 1; /* the hot line */
    words[SUM] = sum;
}

KERNEL(warm, BUFFER(uint, words), VALUE(uint, rounds)) {
    uint sum = words[SUM];
    (void)sg_group;
    for (uint i = 0; i < rounds && !IS_STOPPED(words); i++)
        sum = (sum << 5 | sum >> 27) ^ i;
    words[SUM] = sum;
}

/* As a lock that spins. */
KERNEL(spin, BUFFER(uint, words), VALUE(uint, rounds)) {
    (void)sg_group;
    for (uint i = 0; i < rounds && !IS_STOPPED(words); i++) {
#if defined(__x86_64__) || defined(__i386__)
        __asm__ volatile("pause");
#elif defined(__aarch64__)
        __asm__ volatile("yield");
#endif
    }
}
