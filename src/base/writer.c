/* Output in blocks to a write function: text, numbers, JSON strings, paragraphs. */

#include "base/writer.h"

#include "base/compiler.h"
#include "base/text.h"

/* ---- the writer ------------------------------------------------------------------------------------------ */

ZT__PRIVATE void zt__begin_writing(zt__writer *writer, zt_write_fn write, void *user) {
    memset(writer, 0, sizeof *writer);
    writer->write = write;
    writer->user = user;
}

static void zt__flush(zt__writer *writer) {
    if (writer->used && !writer->stopped) {
        writer->stopped = writer->write(writer->bytes, writer->used, writer->user) != 0;
        writer->reason = errno;
    }
    writer->used = 0;
}

ZT__PRIVATE int zt__end_writing(zt__writer *writer) {
    zt__flush(writer);
    errno = writer->reason;
    return !writer->stopped;
}

ZT__PRIVATE void zt__write_bytes(zt__writer *writer, const char *bytes, size_t size) {
    while (size > 0) {
        size_t room = sizeof writer->bytes - writer->used;
        size_t part = size < room ? size : room;
        memcpy(writer->bytes + writer->used, bytes, part);
        writer->used += part;
        writer->last = bytes[part - 1];
        bytes += part;
        size -= part;
        if (writer->used == sizeof writer->bytes) {
            zt__flush(writer);
        }
    }
}

ZT__PRIVATE void zt__write_text(zt__writer *writer, const char *text) {
    zt__write_bytes(writer, text, strlen(text));
}

ZT__PRIVATE void zt__write_repeated(zt__writer *writer, char letter, size_t count) {
    for (; count > 0; count--) {
        zt__write_bytes(writer, &letter, 1);
    }
}

ZT__PRIVATE ZT__CHECKED_FORMAT(2, 3) void zt__print(zt__writer *writer, const char *format, ...) {
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    zt__write_text(writer, text);
}

ZT__PRIVATE ZT__CHECKED_FORMAT(3, 4) void zt__append(char *text, size_t room, const char *format, ...) {
    size_t used = strlen(text);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text + used, room - used, format, arguments);
    va_end(arguments);
}

ZT__PRIVATE void zt__append_number(char *text, size_t room, double number) {
    if (number > 0 && number < 0.0005) {
        zt__append(text, room, "<0.001");
    } else {
        zt__append(text, room, fabs(number) < 999.5 ? "%.3g" : "%.0f", number);
    }
}

ZT__PRIVATE void zt__write_digits(zt__writer *writer, double number, int digits) {
    char text[40], point[40];
    size_t i, used = 0;
    snprintf(text, sizeof text, "%.*g", digits, number);
    for (i = 0; text[i]; i++) {
        if (strchr("0123456789+-e", text[i])) {
            point[used++] = text[i];
        } else if (used > 0 && point[used - 1] != '.') { /* a locale's point may have several bytes */
            point[used++] = '.';
        }
    }
    zt__write_bytes(writer, point, used);
}

ZT__PRIVATE void zt__write_number(zt__writer *writer, double number) {
    char digits[40];
    int precision = 14;
    do {
        precision++;
        snprintf(digits, sizeof digits, "%.*g", precision, number);
    } while (precision < 17 && strtod(digits, NULL) != number);
    zt__write_digits(writer, number, precision);
}

ZT__PRIVATE void zt__write_comma(zt__writer *writer) {
    if (writer->last != '{' && writer->last != '[') {
        zt__write_text(writer, ",");
    }
}

ZT__PRIVATE void zt__write_json_characters(zt__writer *writer, const char *text) {
    zt__character character;
    while (zt__next_character(&text, &character)) {
        if (character.code < 0x20 || (character.code == '<' && writer->is_in_html)) {
            zt__print(writer, "\\u%04x", (unsigned)character.code);
            continue;
        }
        if (character.code == '"' || character.code == '\\') {
            zt__write_text(writer, "\\");
        }
        zt__write_bytes(writer, character.bytes, character.length);
    }
}

ZT__PRIVATE void zt__write_json_string(zt__writer *writer, const char *text) {
    zt__write_text(writer, "\"");
    zt__write_json_characters(writer, text);
    zt__write_text(writer, "\"");
}

ZT__PRIVATE void zt__write_shown(zt__writer *writer, const char *text) {
    zt__character character;
    size_t width;
    while (zt__next_shown_character(&text, &character, &width)) {
        zt__write_bytes(writer, character.bytes, character.length);
    }
}

ZT__PRIVATE size_t zt__write_shortened(zt__writer *writer, const char *text, size_t room) {
    zt__character character;
    size_t width, used = 0, rest = zt__shown_width(text), end;
    int is_beginning = 1;
    if (rest <= room) {
        zt__write_shown(writer, text);
        return rest;
    }
    end = (room - 3) / 2;
    while (rest > end && zt__next_shown_character(&text, &character, &width)) {
        rest -= width;
        is_beginning = is_beginning && used + width + 3 + end <= room;
        if (is_beginning) {
            zt__write_bytes(writer, character.bytes, character.length);
            used += width;
        }
    }
    zt__write_text(writer, "...");
    zt__write_shown(writer, text);
    return used + 3 + rest;
}

/* ---- paragraphs ------------------------------------------------------------------------------------------ */

ZT__PRIVATE zt__paragraph zt__begin_paragraph(zt__writer *writer, size_t room, size_t first_indent,
                                              size_t indent) {
    zt__paragraph paragraph;
    memset(&paragraph, 0, sizeof paragraph);
    paragraph.writer = writer;
    paragraph.room = room;
    paragraph.indent = indent;
    paragraph.used = first_indent;
    paragraph.line_is_empty = 1;
    zt__write_repeated(writer, ' ', first_indent);
    return paragraph;
}

static void zt__end_word(zt__paragraph *paragraph) {
    if (paragraph->word_bytes == 0) {
        return;
    }
    if (!paragraph->line_is_empty && paragraph->used + 1 + paragraph->word_width > paragraph->room) {
        zt__write_text(paragraph->writer, "\n");
        zt__write_repeated(paragraph->writer, ' ', paragraph->indent);
        paragraph->used = paragraph->indent;
    } else if (!paragraph->line_is_empty) {
        zt__write_text(paragraph->writer, " ");
        paragraph->used++;
    }
    zt__write_bytes(paragraph->writer, paragraph->word, paragraph->word_bytes);
    paragraph->used += paragraph->word_width;
    paragraph->line_is_empty = 0;
    paragraph->word_bytes = paragraph->word_width = 0;
}

ZT__PRIVATE void zt__add_text(zt__paragraph *paragraph, const char *text) {
    zt__character character;
    size_t width;
    while (zt__next_shown_character(&text, &character, &width)) {
        if (character.code == ' ') {
            zt__end_word(paragraph);
            continue;
        }
        if (paragraph->word_bytes + character.length > sizeof paragraph->word ||
            paragraph->indent + paragraph->word_width + width > paragraph->room) {
            zt__end_word(paragraph);
        }
        memcpy(paragraph->word + paragraph->word_bytes, character.bytes, character.length);
        paragraph->word_bytes += character.length;
        paragraph->word_width += width;
    }
}

ZT__PRIVATE ZT__CHECKED_FORMAT(2, 3) void zt__add_formatted(zt__paragraph *paragraph, const char *format,
                                                            ...) {
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    zt__add_text(paragraph, text);
}

ZT__PRIVATE void zt__end_paragraph(zt__paragraph *paragraph) {
    zt__end_word(paragraph);
    zt__write_text(paragraph->writer, "\n");
}
