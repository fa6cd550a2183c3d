/* HTML's names and numbers for characters: "&amp;", "&#233;". */
#ifndef VIT_TEXT_UNICODE_ENTITIES_H
#define VIT_TEXT_UNICODE_ENTITIES_H

#include "vit/base/text.h"

/* entities.txt: "name=hex hex" with a newline, sorted by bytes; ended by NULL. Names have their
 * ';', some also stand without it. */
extern const char *const vit_html_entities[];
#define VIT_HTML_ENTITIES 2231

/* The characters of the bytes 0x80 to 0x9f in Windows-1252; of those that have none, C1's controls.
 */
extern const uint16_t vit_windows_1252[32];

/* Appends text[0..length), valid UTF-8, with all names and numbers resolved as Python's
 * html.unescape does: a name may lack its ';' where HTML knows it so, even within a word. */
void vit_string_add_unescaped(vit_string *out, const char *text, size_t length);

/* The same as the package ftfy does: names and numbers with their ';' alone. */
void vit_string_add_unescaped_strictly(vit_string *out, const char *text, size_t length);

#endif
