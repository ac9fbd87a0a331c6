/* Reads JSON from memory, one value after the other, and never beyond its end, whatever it holds. Strings are decoded in
   place. The first error stops all reading: what is read then is empty. */

#pragma once

#include "base/compiler.h"
#include "base/system.h"

typedef struct zt__json_reader {
    char *at, *end;
    int is_damaged;
} zt__json_reader;

/* Enters an object ('{') or an array ('['). Returns 0, and skips the value, if it is something else. */
ZT__PRIVATE int zt__enter_json(zt__json_reader *reader, char open);

/* Returns whether the object or array that was entered has one more member; else leaves it. Of an object, `*key` receives
   the name of the member. `key` is NULL in an array. */
ZT__PRIVATE int zt__next_json(zt__json_reader *reader, char **key);

/* Reads a string, which lives as long as the text; "" if the value is something else. */
ZT__PRIVATE char *zt__read_json_string(zt__json_reader *reader);

/* Reads a number; NaN if the value is something else. */
ZT__PRIVATE double zt__read_json_number(zt__json_reader *reader);

/* Skips a value of any kind. */
ZT__PRIVATE void zt__skip_json(zt__json_reader *reader);
