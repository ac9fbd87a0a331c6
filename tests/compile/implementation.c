/* The translation unit with the implementation, where program.c has none. */
#ifndef ZETOOLS_IMPLEMENTATION
#define ZETOOLS_IMPLEMENTATION
#endif
#include "zetools.h"
#include "zetools.h" /* a repeated include is harmless */
