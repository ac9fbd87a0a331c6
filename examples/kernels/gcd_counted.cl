/* An instrumented build of gcd.cl, whose source stays as it is: it counts in a variable of the module how
 * often the body of its loop runs. Written for tests/softgpu/kernel.h. */
GLOBAL(uint, iterations);

/* clang-format off */
#define while(condition) while ((condition) && (ATOMIC_ADD(iterations, 1), 1))
/* clang-format on */
#include "gcd.cl"
