/* Growing text buffers, in which the lines of the log are built. */
#include "layer.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static bool reserve(struct text *text, size_t more) {
    if (text->failed || text->length + more + 1 <= text->capacity)
        return !text->failed;
    size_t capacity = (text->length + more + 1) * 2;
    char *larger = realloc(text->data, capacity);
    if (larger == NULL) {
        text->failed = true;
        return false;
    }
    text->data = larger;
    text->capacity = capacity;
    return true;
}

void text_bytes(struct text *text, const void *bytes, size_t length) {
    if (!reserve(text, length))
        return;
    if (length > 0)
        memcpy(text->data + text->length, bytes, length);
    text->length += length;
    text->data[text->length] = '\0';
}

void text_format(struct text *text, const char *format, ...) {
    char piece[256]; /* enough: only numbers and fixed words are formatted */
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(piece, sizeof piece, format, arguments);
    va_end(arguments);
    if (length > 0)
        text_bytes(text, piece, (size_t)length < sizeof piece ? (size_t)length : sizeof piece - 1);
}

/* Return the number of bytes of the UTF-8 character at `at`, or 0 if it is not valid UTF-8. */
static size_t character_bytes(const unsigned char *at, size_t left) {
    size_t size = at[0] < 0x80 ? 1 : at[0] < 0xC2 ? 0 : at[0] < 0xE0 ? 2 : at[0] < 0xF0 ? 3 : at[0] < 0xF5 ? 4 : 0;
    if (size > left)
        return 0;
    for (size_t i = 1; i < size; i++)
        if ((at[i] & 0xC0) != 0x80)
            return 0;
    bool overlong = (at[0] == 0xE0 && at[1] < 0xA0) || (at[0] == 0xF0 && at[1] < 0x90);
    bool surrogate = at[0] == 0xED && at[1] >= 0xA0;
    bool too_large = at[0] == 0xF4 && at[1] >= 0x90;
    return overlong || surrogate || too_large ? 0 : size;
}

/* Append a JSON string; bytes that are not UTF-8 become U+FFFD. */
void text_quoted_bytes(struct text *text, const char *bytes, size_t length) {
    text_bytes(text, "\"", 1);
    for (size_t i = 0; i < length;) {
        unsigned char byte = (unsigned char)bytes[i];
        size_t size = character_bytes((const unsigned char *)bytes + i, length - i);
        if (size == 0)
            text_bytes(text, "\\ufffd", 6);
        else if (byte < 0x20 || byte == 0x7F)
            text_format(text, "\\u%04x", byte);
        else if (byte == '"' || byte == '\\')
            text_format(text, "\\%c", byte);
        else
            text_bytes(text, bytes + i, size);
        i += size == 0 ? 1 : size;
    }
    text_bytes(text, "\"", 1);
}

void text_quoted(struct text *text, const char *string) {
    text_quoted_bytes(text, string, strlen(string));
}

void text_hex(struct text *text, const void *bytes, size_t length) {
    static const char digits[] = "0123456789abcdef";
    const unsigned char *at = bytes;
    for (size_t i = 0; i < length; i++)
        text_bytes(text, (char[]){digits[at[i] >> 4], digits[at[i] & 15]}, 2);
}

void text_sizes(struct text *text, const size_t *sizes, cl_uint count) {
    for (cl_uint i = 0; i < count; i++)
        text_format(text, "%s%zu", i == 0 ? "[" : ", ", sizes[i]);
    text_bytes(text, "]", 1);
}

void text_free(struct text *text) {
    free(text->data);
    *text = (struct text){0};
}
