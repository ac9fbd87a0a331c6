/* Lists of names, patterns, the nearest names, UTF-8. */

#pragma once

#include "base/compiler.h"
#include "base/system.h"

/* Ends a text in an array, which a faulty driver may have filled to the last byte. */
#define ZT__END_TEXT(array) ((array)[sizeof(array) - 1] = 0)

/* The names nearest to a wrong one, as text for a message. */
typedef struct zt__nearest {
    char text[320];
} zt__nearest;

/* Returns a name by its index, or NULL if it is not to be shown. */
typedef const char *(*zt__name_fn)(const void *names, uint32_t index);

typedef struct zt__character {
    const char *bytes; /* valid UTF-8 */
    size_t length;
    uint32_t code;
} zt__character;

/* Finds the next name of a list whose names are separated by commas, without the blanks around it. Moves
   `*list` behind it. Returns 0 at the end. */
ZT__PRIVATE int zt__next_name(const char **list, const char **name, size_t *length);

ZT__PRIVATE int zt__has_names(const char *list);

/* Returns whether the value of a variable switches something off: it is NULL, has no names, or is "0" or
   "off". */
ZT__PRIVATE int zt__is_off(const char *value);

/* Returns whether a text equals the first `length` bytes of another. */
ZT__PRIVATE int zt__equals(const char *text, const char *other, size_t length);

/* Copies `length` bytes of a text, or as many as there is room for, and ends it with a 0. */
ZT__PRIVATE void zt__copy_text(char *to, size_t room, const char *text, size_t length);

/* Returns whether `text` matches the `length` bytes of `pattern`: * stands for any bytes, ? for one. */
ZT__PRIVATE int zt__matches(const char *pattern, size_t length, const char *text);

/* Returns whether a list of patterns selects a name. A pattern after '!' excludes the names that it matches.
   If no other pattern is in the list, all names that are not excluded are selected. */
ZT__PRIVATE int zt__is_selected(const char *list, const char *name);

/* Returns whether a text ends with another. `compare` is strcmp, or strcasecmp for the suffix of a file. */
ZT__PRIVATE int zt__ends_with(const char *text, const char *end, int (*compare)(const char *, const char *));

/* Finds the three nearest names by their Levenshtein distance without regard to case, the nearest first. Only
   the first 63 bytes count. A name that occurs twice is shown once. */
ZT__PRIVATE zt__nearest zt__find_nearest(const char *wanted, const void *names, uint32_t count,
                                         zt__name_fn name_at);

/* Decodes the next character. A byte that is not valid UTF-8 becomes U+FFFD. Returns 0 at the end. */
ZT__PRIVATE int zt__next_character(const char **text, zt__character *character);

/* As zt__next_character, for a terminal. Control characters and marks of the writing direction, which a
   terminal obeys, become '?'. `width` is the number of columns that the character occupies. */
ZT__PRIVATE int zt__next_shown_character(const char **text, zt__character *character, size_t *width);

/* Returns how many columns of a terminal a text occupies. */
ZT__PRIVATE size_t zt__shown_width(const char *text);
