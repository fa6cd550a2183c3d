#include "tests/support/replaced.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 24, MOST_LISTED = 3 }; /* of one object, of one list */

typedef struct place {
    json_t *holder, *value; /* the value that was there, of which we have a reference */
    const char *key;        /* NULL: it is in a list */
    size_t index;
    char path[200];
} place;

static void put(const place *p, json_t *value) {
    if (p->key ? json_object_set_new(p->holder, p->key, value)
               : json_array_set_new(p->holder, p->index, value))
        abort();
}

static void replace(place *p, replaced_give *give, void *context) {
    static const char *const texts[] = {"\"x\"", "null", "true",   "-1", "0",
                                        "3",     "1e30", "[2, 2]", "{}", ""};
    bool goes_on = true;
    for (size_t i = 0; i < sizeof texts / sizeof *texts && goes_on; i++) {
        json_t *value = json_loads(texts[i], JSON_DECODE_ANY, NULL);
        if (!value && !p->key) break;
        if (value)
            put(p, value);
        else
            json_object_del(p->holder, p->key);
        goes_on = give(context, p->path, texts[i]);
    }
    put(p, json_incref(p->value));
}

/* The first keys, since a key that was taken out comes back as the last. */
static size_t keys_of(char keys[MOST][100], json_t *object) {
    const char *key;
    json_t *value;
    size_t count = 0;
    json_object_foreach(object, key, value) if (count < MOST)
        snprintf(keys[count++], sizeof keys[0], "%.99s", key);
    return count;
}

static void walk(json_t *holder, const char *path, replaced_give *give, void *context) {
    char keys[MOST][100];
    const size_t named = keys_of(keys, holder), listed = json_array_size(holder);
    for (size_t i = 0; i < named + (listed < MOST_LISTED ? listed : MOST_LISTED); i++) {
        place p = {.holder = holder, .index = i, .key = named > 0 ? keys[i] : NULL};
        p.value = json_incref(p.key ? json_object_get(holder, p.key) : json_array_get(holder, i));
        snprintf(p.path, sizeof p.path, "%.90s/%.90s", path, p.key ? p.key : "0");
        if (give(context, p.path, NULL)) replace(&p, give, context);
        walk(p.value, p.path, give, context);
        json_decref(p.value);
    }
}

void replace_each(json_t *root, replaced_give *give, void *context) {
    walk(root, "", give, context);
}
