/* Texts that look alike are written alike: Unicode's canonical decomposition (NFD). Two texts have
 * the same one where they have the same composition (NFC): the name of a folder may hold an e with
 * its accent as one character or as two. */
#ifndef VIT_TEXT_UNICODE_DECOMPOSE_H
#define VIT_TEXT_UNICODE_DECOMPOSE_H

#include "vit/text/match.h"

/* Appends the decomposition of a text in UTF-8; bytes that are not UTF-8 stay as they are. */
void vit_string_add_decomposed(vit_string *out, const char *text);

#endif
