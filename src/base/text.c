/* Lists of names, patterns, the nearest names, UTF-8. */

#include "base/text.h"

#include "base/compiler.h"
#include "base/platform.h"

/* ---- lists of names -------------------------------------------------------------------------------------- */

ZT__PRIVATE int zt__next_name(const char **list, const char **name, size_t *length) {
    const char *p = *list;
    while (*p == ',' || *p == ' ') {
        p++;
    }
    *name = p;
    while (*p && *p != ',') {
        p++;
    }
    *list = p;
    while (p > *name && p[-1] == ' ') {
        p--;
    }
    *length = (size_t)(p - *name);
    return *length > 0;
}

ZT__PRIVATE int zt__has_names(const char *list) {
    const char *name;
    size_t length;
    return list && zt__next_name(&list, &name, &length);
}

ZT__PRIVATE int zt__is_off(const char *value) {
    return !zt__has_names(value) || strcmp(value, "0") == 0 || zt__compare_ignoring_case(value, "off") == 0;
}

ZT__PRIVATE int zt__equals(const char *text, const char *other, size_t length) {
    return strlen(text) == length && memcmp(text, other, length) == 0;
}

ZT__PRIVATE void zt__copy_text(char *to, size_t room, const char *text, size_t length) {
    if (length >= room) {
        length = room - 1;
    }
    memcpy(to, text, length);
    to[length] = 0;
}

ZT__PRIVATE int zt__matches(const char *pattern, size_t length, const char *text) {
    const char *end = pattern + length, *after_star = NULL, *retry = NULL;
    while (*text) {
        if (pattern < end && *pattern == '*') {
            after_star = ++pattern;
            retry = text;
        } else if (pattern < end && (*pattern == '?' || *pattern == *text)) {
            pattern++;
            text++;
        } else if (after_star) {
            pattern = after_star;
            text = ++retry;
        } else {
            return 0;
        }
    }
    while (pattern < end && *pattern == '*') {
        pattern++;
    }
    return pattern == end;
}

ZT__PRIVATE int zt__is_selected(const char *list, const char *name) {
    const char *pattern;
    size_t length;
    int excluded = 0, has_patterns = 0, matched = 0;
    while (list && zt__next_name(&list, &pattern, &length)) {
        if (*pattern == '!') {
            excluded |= zt__matches(pattern + 1, length - 1, name);
        } else {
            has_patterns = 1;
            matched |= zt__matches(pattern, length, name);
        }
    }
    return !excluded && (matched || !has_patterns);
}

ZT__PRIVATE int zt__ends_with(const char *text, const char *end, int (*compare)(const char *, const char *)) {
    size_t length = strlen(text), end_length = strlen(end);
    return length >= end_length && compare(text + length - end_length, end) == 0;
}

/* ---- the names nearest to a wrong one -------------------------------------------------------------------- */

ZT__PRIVATE zt__nearest zt__find_nearest(const char *wanted, const void *names, uint32_t count,
                                         zt__name_fn name_at) {
    enum { SHOWN = 3, LONGEST = 63 };
    const char *shown[SHOWN] = {NULL};
    uint32_t distances[SHOWN] = {UINT32_MAX, UINT32_MAX, UINT32_MAX};
    uint32_t row[LONGEST + 1]; /* distances of a beginning of `wanted` to all beginnings of the name */
    uint32_t n, i, j, columns;
    size_t used = 0;
    zt__nearest nearest;
    strcpy(nearest.text, "none, because there are no names");
    for (n = 0; n < count; n++) {
        const char *name = name_at(names, n);
        int is_new = name != NULL;
        for (i = 0; i < SHOWN && is_new && shown[i]; i++) {
            is_new = strcmp(shown[i], name) != 0;
        }
        if (!is_new) {
            continue;
        }
        for (columns = 0; columns < LONGEST && name[columns];) {
            columns++;
        }
        for (j = 0; j <= columns; j++) {
            row[j] = j;
        }
        for (i = 0; i < LONGEST && wanted[i]; i++) {
            uint32_t diagonal = row[0];
            row[0] = i + 1;
            for (j = 0; j < columns; j++) {
                uint32_t best = diagonal + ((wanted[i] | 32) != (name[j] | 32));
                diagonal = row[j + 1];
                best = row[j] + 1 < best ? row[j] + 1 : best;
                row[j + 1] = diagonal + 1 < best ? diagonal + 1 : best;
            }
        }
        /* Insert the name before those that are farther. */
        for (i = SHOWN; i > 0 && row[columns] < distances[i - 1]; i--) {
            if (i < SHOWN) {
                shown[i] = shown[i - 1];
                distances[i] = distances[i - 1];
            }
        }
        if (i < SHOWN) {
            shown[i] = name;
            distances[i] = row[columns];
        }
    }
    for (i = 0; i < SHOWN && shown[i]; i++) {
        used += (size_t)snprintf(nearest.text + used, sizeof nearest.text - used, "%s'%.80s'", i ? ", " : "",
                                 shown[i]);
    }
    return nearest;
}

/* ---- UTF-8 ----------------------------------------------------------------------------------------------- */

ZT__PRIVATE int zt__next_character(const char **text, zt__character *character) {
    const unsigned char *bytes = (const unsigned char *)*text;
    uint32_t code = bytes[0], least = 0; /* the smallest code of this length */
    size_t i, length = 1;
    int is_valid = bytes[0] < 0x80 || (bytes[0] >= 0xC0 && bytes[0] <= 0xF4);
    if (!bytes[0]) {
        return 0;
    }
    if (bytes[0] >= 0xF0) {
        length = 4;
        least = 0x10000;
        code &= 0x07;
    } else if (bytes[0] >= 0xE0) {
        length = 3;
        least = 0x800;
        code &= 0x0F;
    } else if (bytes[0] >= 0xC0) {
        length = 2;
        least = 0x80;
        code &= 0x1F;
    }
    for (i = 1; i < length && is_valid; i++) {
        is_valid = (bytes[i] & 0xC0) == 0x80;
        code = code << 6 | (bytes[i] & 0x3Fu);
    }
    is_valid = is_valid && code >= least && code <= 0x10FFFF && (code < 0xD800 || code >= 0xE000);
    character->bytes = is_valid ? *text : "\xEF\xBF\xBD";
    character->length = is_valid ? length : 3;
    character->code = is_valid ? code : 0xFFFD;
    *text += is_valid ? length : 1;
    return 1;
}

ZT__PRIVATE int zt__next_shown_character(const char **text, zt__character *character, size_t *width) {
    enum { OBEYED = -1 };
    /* The characters whose width is not 1, in ascending order. A terminal obeys some of them. */
    static const struct {
        uint32_t first, last;
        int width;
    } ranges[] = {
        {0x0, 0x1F, OBEYED},   {0x7F, 0x9F, OBEYED},     {0x300, 0x36F, 0},        {0x1100, 0x115F, 2},
        {0x200B, 0x200D, 0},   {0x200E, 0x200F, OBEYED}, {0x2028, 0x202E, OBEYED}, {0x2066, 0x2069, OBEYED},
        {0x20D0, 0x20F0, 0},   {0x2E80, 0x303E, 2},      {0x3041, 0xA4CF, 2},      {0xAC00, 0xD7A3, 2},
        {0xF900, 0xFAFF, 2},   {0xFE00, 0xFE0F, 0},      {0xFE30, 0xFE6F, 2},      {0xFF01, 0xFF60, 2},
        {0xFFE0, 0xFFE6, 2},   {0x1F300, 0x1F64F, 2},    {0x1F680, 0x1F6FF, 2},    {0x1F900, 0x1F9FF, 2},
        {0x20000, 0x3FFFD, 2},
    };
    uint32_t i = 0;
    *width = 1;
    if (!zt__next_character(text, character)) {
        return 0;
    }
    while (i < ZT__COUNT_OF(ranges) && character->code > ranges[i].last) {
        i++;
    }
    if (i < ZT__COUNT_OF(ranges) && character->code >= ranges[i].first) {
        if (ranges[i].width == OBEYED) {
            character->bytes = "?";
            character->length = 1;
        } else {
            *width = (size_t)ranges[i].width;
        }
    }
    return 1;
}

ZT__PRIVATE size_t zt__shown_width(const char *text) {
    zt__character character;
    size_t width, sum = 0;
    while (zt__next_shown_character(&text, &character, &width)) {
        sum += width;
    }
    return sum;
}
