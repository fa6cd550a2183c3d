#include "vit/report/groups.h"
#include "vit/base/sys.h"
#include "vit/base/text.h"
#include "vit/formats/json.h"

#include <stdlib.h>
#include <string.h>

size_t vit_recipes_group(size_t *group, const char *const *recipes, size_t count) {
    size_t groups = 0;
    for (size_t i = 0; i < count; i++) {
        size_t k = 0;
        while (k < i && strcmp(recipes[k], recipes[i]) != 0) k++;
        group[i] = k < i ? group[k] : groups++;
    }
    return groups;
}

/* The value of a key in an object, or in the objects within it; NULL: it has none. */
static json_t *find(const json_t *object, const char *part, const char *key) {
    return json_object_get(part ? json_object_get(object, part) : object, key);
}

/* A value as people write it: a checksum is cut, a text has no quotes. */
static void add_value(vit_string *t, const char *key, const json_t *value) {
    const bool is_sum = strstr(key, "sha256") != NULL;
    char *text = json_is_string(value)
                     ? NULL
                     : json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT | JSON_REAL_PRECISION(6));
    if (json_is_string(value))
        vit_string_add(t, is_sum ? "%s %.8s" : "%s %s", key, json_string_value(value));
    else
        vit_string_add(t, "%s %s", key, text ? text : "");
    free(text);
}

/* Adds a key of `which` unless all recipes agree on it. */
static void add_key(vit_string *t, json_t *const *recipes, size_t count, size_t which,
                    const char *part, const char *key) {
    const json_t *own = find(recipes[which], part, key);
    bool all = true;
    for (size_t i = 0; i < count && all; i++) {
        const json_t *other = find(recipes[i], part, key);
        all = own && other ? json_equal(own, other) : own == other;
    }
    if (all) return;
    if (t->length > 0) vit_string_add(t, ", ");
    if (own)
        add_value(t, key, own);
    else
        vit_string_add(t, "no %s", key);
}

/* Whether an earlier recipe has the key, too: then it was added already. */
static bool had(json_t *const *recipes, size_t before, const char *part, const char *key) {
    for (size_t i = 0; i < before; i++)
        if (find(recipes[i], part, key)) return true;
    return false;
}

static void add_keys(vit_string *t, json_t *const *recipes, size_t count, size_t which,
                     const char *part) {
    for (size_t i = 0; i < count; i++) {
        json_t *object = part ? json_object_get(recipes[i], part) : recipes[i];
        const char *key;
        json_t *value;
        json_object_foreach(object, key, value) {
            if (json_is_object(value) || had(recipes, i, part, key)) continue;
            add_key(t, recipes, count, which, part, key);
        }
    }
}

vit_status vit_recipe_differs(char **out, const char *const *recipes, size_t count, size_t which,
                              vit_error *error) {
    json_t **parsed = vit_alloc(count, sizeof *parsed);
    vit_string t = {0};
    vit_status status = parsed ? VIT_OK : vit_fail_memory(error, "recipes", count * sizeof *parsed);
    *out = NULL;
    for (size_t i = 0; i < count && status == VIT_OK; i++)
        status = vit_json_parse(&parsed[i], recipes[i], strlen(recipes[i]), "a recipe", error);
    if (status == VIT_OK) {
        vit_string_add(&t, "%s", "");
        add_keys(&t, parsed, count, which, NULL);
        add_keys(&t, parsed, count, which, "train");
        add_keys(&t, parsed, count, which, "network");
        if (t.failed) status = vit_fail_memory(error, "recipes", t.length);
    }
    if (status == VIT_OK)
        *out = t.text;
    else
        vit_string_free(&t);
    for (size_t i = 0; parsed && i < count; i++) json_decref(parsed[i]);
    vit_free(parsed);
    return status;
}
