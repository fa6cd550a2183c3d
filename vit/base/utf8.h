#ifndef VIT_BASE_UTF8_H
#define VIT_BASE_UTF8_H

#include <stddef.h>

/* The length in bytes of the UTF-8 character at the beginning of a 0-terminated text; 0 at its end,
 * and if no valid character begins there. */
size_t vit_utf8_length(const char *text);

#endif
