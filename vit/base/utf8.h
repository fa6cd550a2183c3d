#ifndef VIT_BASE_UTF8_H
#define VIT_BASE_UTF8_H

#include <stddef.h>

/* Bytes of the UTF-8 character that a 0-terminated text starts with; 0 at its end, and where no
 * valid character starts. */
size_t vit_utf8_length(const char *text);

#endif
