/* NaN, and reading numbers. */

#include "base/numbers.h"

#include "base/compiler.h"

/* These functions test the bits, because with -ffast-math a comparison does not recognise NaN. */

static uint64_t zt__bits_without_sign(double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits & (UINT64_MAX >> 1);
}

#define ZT__INFINITY_BITS UINT64_C(0x7ff0000000000000)

ZT__PRIVATE double zt__nan(void) {
    return (double)NAN;
}

ZT__PRIVATE int zt__is_nan(double value) {
    return zt__bits_without_sign(value) > ZT__INFINITY_BITS;
}

ZT__PRIVATE int zt__is_finite(double value) {
    return zt__bits_without_sign(value) < ZT__INFINITY_BITS;
}

ZT__PRIVATE int zt__is_positive(double value) {
    return !zt__is_nan(value) && value > 0;
}

ZT__PRIVATE int zt__is_whole(double number) {
    double magnitude = number < 0 ? -number : number;
    return magnitude < 9e15 && (double)(int64_t)number == number;
}

ZT__PRIVATE int zt__is_uint32(const char *text) {
    return text && *text && !text[strspn(text, "0123456789")] && strtoull(text, NULL, 10) <= UINT32_MAX;
}

ZT__PRIVATE int zt__read_number(const char **text, double *number) {
    char digits[64], example[16], *end;
    size_t used = 0, point;
    snprintf(example, sizeof example, "%.1f", 0.5); /* the locale's point may have several bytes */
    point = strlen(example) - 2;
    for (; **text && **text != ',' && used + point < sizeof digits; (*text)++) {
        if (**text == '.') {
            memcpy(digits + used, example + 1, point);
            used += point;
        } else {
            digits[used++] = **text;
        }
    }
    digits[used] = 0;
    *number = strtod(digits, &end);
    return used > 0 && !*end && zt__is_finite(*number) && *number >= 0;
}
