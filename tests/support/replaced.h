/* Values of JSON in the place of others: what configs and requests of strangers have. */
#ifndef VIT_TESTS_SUPPORT_REPLACED_H
#define VIT_TESTS_SUPPORT_REPLACED_H

#include <jansson.h>
#include <stdbool.h>

/* value: what is in the place of that at `path`, "/key/0/key"; "": it was taken out. NULL asks
 * whether that place is to be changed; after a value, whether by more. */
typedef bool replaced_give(void *context, const char *path, const char *value);

/* Takes each value within `root` out, then replaces it by null, true, a number, a text, ..., and
 * calls give() with every one of these. Of long lists and objects only the first values. */
void replace_each(json_t *root, replaced_give *give, void *context);

#endif
