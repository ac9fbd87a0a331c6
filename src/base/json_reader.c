/* Reads JSON from memory. */

#include "base/json_reader.h"

#include "base/compiler.h"
#include "base/numbers.h"

/* Stops all reading. */
static void zt__stop_json(zt__json_reader *reader) {
    reader->is_damaged = 1;
    reader->at = reader->end;
}

/* Returns the next character that is no space, or 0 at the end. */
static char zt__peek_json(zt__json_reader *reader) {
    while (reader->at < reader->end && *reader->at && strchr(" \t\r\n", *reader->at)) {
        reader->at++;
    }
    return reader->at < reader->end ? *reader->at : 0;
}

ZT__PRIVATE int zt__enter_json(zt__json_reader *reader, char open) {
    if (zt__peek_json(reader) != open) {
        zt__skip_json(reader);
        return 0;
    }
    reader->at++;
    return 1;
}

ZT__PRIVATE int zt__next_json(zt__json_reader *reader, char **key) {
    char close = key ? '}' : ']', next = zt__peek_json(reader);
    if (next == ',') {
        reader->at++;
        next = zt__peek_json(reader);
    }
    if (next == close) {
        reader->at++;
        return 0;
    }
    if (next && key) {
        *key = zt__read_json_string(reader);
        if (zt__peek_json(reader) == ':') {
            reader->at++;
            next = zt__peek_json(reader);
        } else {
            next = 0;
        }
    }
    if (!next) {
        zt__stop_json(reader);
    }
    return !reader->is_damaged;
}

/* Reads four hexadecimal digits. */
static int zt__read_code_unit(const char *text, uint32_t *unit) {
    int i;
    *unit = 0;
    for (i = 0; i < 4; i++) {
        const char *digits = "0123456789abcdef", *digit;
        char letter = text[i] >= 'A' && text[i] <= 'F' ? (char)(text[i] - 'A' + 'a') : text[i];
        digit = letter ? strchr(digits, letter) : NULL;
        if (!digit) {
            return 0;
        }
        *unit = *unit << 4 | (uint32_t)(digit - digits);
    }
    return 1;
}

/* Writes a character as UTF-8, and returns what follows it. */
static char *zt__put_utf8(char *to, uint32_t code) {
    static const unsigned char leads[] = {0, 0xC0, 0xE0, 0xF0};
    int more = code < 0x80 ? 0 : code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
    int i = more;
    *to++ = (char)(leads[more] | code >> (6 * more));
    for (; i > 0; i--) {
        *to++ = (char)(0x80 | (code >> (6 * (i - 1)) & 0x3F));
    }
    return to;
}

/* Decodes the escape at `*from`, behind the backslash. It is longer than what it stands for. Returns 0 if there is no such
   escape. */
static int zt__decode_escape(const char **from, const char *end, char **to) {
    static const char letters[] = "\"\\/bfnrt", meanings[] = "\"\\/\b\f\n\r\t";
    const char *letter = **from ? strchr(letters, **from) : NULL;
    uint32_t code, low;
    if (letter) {
        *(*to)++ = meanings[letter - letters];
        (*from)++;
        return 1;
    }
    if (**from != 'u' || end - *from < 5 || !zt__read_code_unit(*from + 1, &code)) {
        return 0;
    }
    *from += 5;
    if (code >= 0xD800 && code < 0xDC00 && end - *from >= 6 && (*from)[0] == '\\' && (*from)[1] == 'u' &&
        zt__read_code_unit(*from + 2, &low) && low >= 0xDC00 && low < 0xE000) {
        code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
        *from += 6;
    }
    *to = zt__put_utf8(*to, code ? code : 0xFFFD); /* 0 would end the text */
    return 1;
}

ZT__PRIVATE char *zt__read_json_string(zt__json_reader *reader) {
    static char none[1];
    const char *from;
    char *text, *to;
    if (zt__peek_json(reader) != '"') {
        zt__skip_json(reader);
        return none;
    }
    from = text = to = reader->at + 1;
    while (from < reader->end && *from != '"') {
        if (*from != '\\') {
            *to++ = *from++;
            continue;
        }
        from++;
        if (from == reader->end || !zt__decode_escape(&from, reader->end, &to)) {
            from = reader->end;
        }
    }
    if (from >= reader->end) {
        zt__stop_json(reader);
        return none;
    }
    *to = 0; /* at the latest where the quote was */
    reader->at += from + 1 - reader->at;
    return text;
}

ZT__PRIVATE double zt__read_json_number(zt__json_reader *reader) {
    char next = zt__peek_json(reader), digits[64];
    const char *text = digits;
    size_t length = 0;
    int is_negative = next == '-';
    double number;
    if (!is_negative && !(next >= '0' && next <= '9')) {
        zt__skip_json(reader);
        return zt__nan();
    }
    reader->at += is_negative;
    while (reader->at < reader->end && *reader->at && strchr("0123456789.eE+-", *reader->at) &&
           length + 1 < sizeof digits) {
        digits[length++] = *reader->at++;
    }
    digits[length] = 0;
    if (!zt__read_number(&text, &number)) {
        zt__stop_json(reader);
        return zt__nan();
    }
    return is_negative ? -number : number;
}

ZT__PRIVATE void zt__skip_json(zt__json_reader *reader) {
    size_t depth = 0;
    do {
        char next = zt__peek_json(reader);
        if (next == '"') {
            zt__read_json_string(reader);
        } else if (next == '{' || next == '[') {
            depth++;
            reader->at++;
        } else if (depth > 0 && next && strchr("}],:", next)) {
            depth -= next == '}' || next == ']';
            reader->at++;
        } else if (next && !strchr("}],:", next)) {
            while (reader->at < reader->end && *reader->at && !strchr(" \t\r\n,:{}[]\"", *reader->at)) {
                reader->at++;
            }
            if (reader->at < reader->end && !*reader->at) {
                zt__stop_json(reader); /* no text has a character 0 */
            }
        } else {
            zt__stop_json(reader);
        }
    } while (depth > 0 && !reader->is_damaged);
}
