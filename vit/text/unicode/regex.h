/* Regular expressions, as far as tokenizers need them: literals, classes ([^\s\p{L}], \s \S \d \w,
 * \p{Lu}), alternatives, groups (?:...) and (?i:...), the quantifiers ? * + {m,n} in their greedy,
 * lazy (+?) and possessive (++) forms, lookahead (?=...) and (?!...), ^ and $. Alternatives are
 * tried from left to right, as by Oniguruma and Perl. Everything else is refused by name. An
 * expression is immutable and may be used from any thread. */
#ifndef VIT_TEXT_UNICODE_REGEX_H
#define VIT_TEXT_UNICODE_REGEX_H

#include "vit/base/error.h"

typedef struct vit_regex vit_regex;

/* Messages call the file `name`. Errors: FORMAT, UNSUPPORTED, MEMORY. */
vit_status vit_regex_new(vit_regex **out, const char *pattern, const char *name, vit_error *error);
void vit_regex_free(vit_regex *regex); /* takes NULL */

/* The first match in valid UTF-8 text[0..length) that begins at `from` or later. *found is set;
 * then the match is text[*start..*end). *steps is what may still be done for this text, and gets
 * less: begin with VIT_REGEX_STEPS. UNSUPPORTED if they do not suffice, MEMORY. */
#define VIT_REGEX_STEPS ((size_t)1 << 28)
vit_status vit_regex_find(bool *found, size_t *start, size_t *end, const vit_regex *regex,
                          const char *text, size_t length, size_t from, size_t *steps,
                          vit_error *error);

#endif
