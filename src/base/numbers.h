/* NaN, and reading numbers. */

#pragma once

#include "base/compiler.h"
#include "base/system.h"

ZT__PRIVATE double zt__nan(void);

ZT__PRIVATE int zt__is_nan(double value);

ZT__PRIVATE int zt__is_finite(double value);

/* Returns 0 for NaN. */
ZT__PRIVATE int zt__is_positive(double value);

/* Returns whether a number is whole, and an int64_t has it exactly. The number is finite. */
ZT__PRIVATE int zt__is_whole(double number);

/* Returns whether a text is a number of 32 bits, in digits. NULL is not. */
ZT__PRIVATE int zt__is_uint32(const char *text);

/* Reads a number, up to a comma or the end of the text, and moves `*text` behind it. The decimal point is a
   point in any locale. Returns 0 if it is no finite number of at least 0. */
ZT__PRIVATE int zt__read_number(const char **text, double *number);
