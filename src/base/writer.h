/* Output in blocks to a write function: text, numbers, JSON strings, paragraphs. */

#pragma once

#include "base/compiler.h"
#include "base/system.h"

/* Buffers bytes and passes them to `write` in blocks. `write` is a callback: no mutex may be held. */
typedef struct zt__writer {
    zt_write_fn write;
    void *user;
    int stopped;    /* `write` returned nonzero: further bytes are discarded */
    int reason;     /* errno after that */
    int is_in_html; /* JSON inside HTML: "<" is escaped, so that no text ends the element */
    char last;      /* the last byte, for zt__write_comma */
    size_t used;
    char bytes[4096];
} zt__writer;

/* Text that is broken into lines between its words, safe on a terminal. */
typedef struct zt__paragraph {
    zt__writer *writer;
    size_t room, indent; /* columns of a line; blanks before each line but the first */
    size_t used;         /* columns of the line so far */
    int line_is_empty;
    char word[256]; /* not written yet */
    size_t word_bytes, word_width;
} zt__paragraph;

ZT__PRIVATE void zt__begin_writing(zt__writer *writer, zt_write_fn write, void *user);

/* Passes the rest to `write`. Returns 0 if `write` has returned nonzero; errno is what it was after that. */
ZT__PRIVATE int zt__end_writing(zt__writer *writer);

ZT__PRIVATE void zt__write_bytes(zt__writer *writer, const char *bytes, size_t size);

ZT__PRIVATE void zt__write_text(zt__writer *writer, const char *text);

ZT__PRIVATE void zt__write_repeated(zt__writer *writer, char letter, size_t count);

/* For numbers and constant texts, up to 1023 bytes. Fractions have the locale's decimal point. Texts of the
   application or the driver may be longer and need escaping: the functions below write them. */
ZT__PRIVATE ZT__CHECKED_FORMAT(2, 3) void zt__print(zt__writer *writer, const char *format, ...);

/* Appends to a text of `room` bytes, as much as fits. */
ZT__PRIVATE ZT__CHECKED_FORMAT(3, 4) void zt__append(char *text, size_t room, const char *format, ...);

/* Appends a number to a sentence: with three digits, from 1000 on as an integer, and without an exponent. */
ZT__PRIVATE void zt__append_number(char *text, size_t room, double number);

/* Writes a finite number in so many significant digits, with a point in any locale. */
ZT__PRIVATE void zt__write_digits(zt__writer *writer, double number, int digits);

/* Writes a finite number in the fewest digits that read back the same. */
ZT__PRIVATE void zt__write_number(zt__writer *writer, double number);

/* Writes the comma before a member of an object or an element of an array in JSON, unless it is the first. */
ZT__PRIVATE void zt__write_comma(zt__writer *writer);

/* Writes what stands between the quotes of a string in JSON. */
ZT__PRIVATE void zt__write_json_characters(zt__writer *writer, const char *text);

ZT__PRIVATE void zt__write_json_string(zt__writer *writer, const char *text);

/* Writes a text of any origin so that it is safe on a terminal. */
ZT__PRIVATE void zt__write_shown(zt__writer *writer, const char *text);

/* As zt__write_shown, but shortened to `room` columns of a terminal. "..." stands for the middle, because
   names of kernels often differ at their end. Returns how many columns were written. */
ZT__PRIVATE size_t zt__write_shortened(zt__writer *writer, const char *text, size_t room);

/* `first_indent` is for the first line, `indent` for the others. */
ZT__PRIVATE zt__paragraph zt__begin_paragraph(zt__writer *writer, size_t room, size_t first_indent,
                                              size_t indent);

/* Adds a text of any origin. A word that is longer than a line is broken, too. */
ZT__PRIVATE void zt__add_text(zt__paragraph *paragraph, const char *text);

/* As zt__add_text, for up to 1023 bytes. Fractions have the locale's decimal point. */
ZT__PRIVATE ZT__CHECKED_FORMAT(2, 3) void zt__add_formatted(zt__paragraph *paragraph, const char *format,
                                                            ...);

ZT__PRIVATE void zt__end_paragraph(zt__paragraph *paragraph);
