/* The translation unit with the implementation, where program.c has none. */
#define ZETOOLS_IMPLEMENTATION
#include "zetools.h"
#include "zetools.h" /* a repeated include is harmless */
