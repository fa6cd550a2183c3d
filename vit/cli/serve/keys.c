#include "vit/cli/serve/keys.h"

#include <string.h>

#include "vit/cli/serve/request.h"

enum { MOST_KEYS = 32 };

const serve_key *serve_find_key(const serve_key *keys, unsigned where, const char *name,
                                const char **near) {
    const char *names[MOST_KEYS];
    size_t count = 0;
    *near = NULL;
    for (const serve_key *k = keys; k->name; k++) {
        if ((k->where & where) == 0) continue;
        if (strcmp(k->name, name) == 0) return k;
        if (count < MOST_KEYS) names[count++] = k->name;
    }
    if (count > 0) *near = vit_nearest(name, names, count);
    return NULL;
}

/* The types that a value is of. */
static unsigned types_of(const json_t *value) {
    switch (json_typeof(value)) {
    case JSON_STRING:
        return SERVE_TEXT;
    case JSON_INTEGER:
        return SERVE_WHOLE | SERVE_NUMBER;
    case JSON_REAL:
        return SERVE_NUMBER;
    case JSON_TRUE:
    case JSON_FALSE:
        return SERVE_FLAG;
    case JSON_ARRAY:
        return SERVE_LIST;
    case JSON_OBJECT:
        return SERVE_OBJECT | (json_object_get(value, "numbers") ? SERVE_NUMBERS : 0);
    case JSON_NULL:
        break;
    }
    return 0;
}

static bool refuse_type(const serve_key *key, serve_reply *reply) {
    static const char *const names[] = {"a text", "a whole number", "true or false",
                                        "a list", "an object",      "a number"};
    vit_string text = {0};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (key->types & 1u << i)
            vit_string_add(&text, "%s%s", text.length > 0 ? ", or " : "", names[i]);
    serve_fail(reply, 400, "\"%s\": expected %s", key->name, text.failed ? "it" : text.text);
    vit_string_free(&text);
    return false;
}

static bool refuse_name(const char *name, const serve_key *keys, unsigned where, const char *near,
                        serve_reply *reply) {
    const char *ignored;
    if (where == SERVE_IN_BODY && serve_find_key(keys, SERVE_IN_PARAMETERS, name, &ignored))
        return serve_fail(reply, 400,
                          "\"%s\" is read in \"parameters\": {\"parameters\": {\"%s\": ...}}", name,
                          name);
    return serve_fail(reply, 400, "%sthere is no key \"%.32s\"%s%s%s",
                      where == SERVE_IN_PARAMETERS ? "\"parameters\": " : "", name,
                      near ? ", did you mean \"" : "", near ? near : "", near ? "\"?" : "");
}

bool serve_check_keys(const json_t *object, const serve_key *keys, unsigned where,
                      serve_reply *reply) {
    for (void *at = json_object_iter((json_t *)(uintptr_t)object); at;
         at = json_object_iter_next((json_t *)(uintptr_t)object, at)) {
        const char *name = json_object_iter_key(at), *near;
        const json_t *value = json_object_iter_value(at);
        const serve_key *key = serve_find_key(keys, where, name, &near);
        if (json_typeof(value) == JSON_NULL) continue;
        if (!key) return refuse_name(name, keys, where, near, reply);
        if ((types_of(value) & key->types) == 0) return refuse_type(key, reply);
        if (where == SERVE_IN_BODY && strcmp(name, "parameters") == 0 &&
            !serve_check_keys(value, keys, SERVE_IN_PARAMETERS, reply))
            return false;
    }
    return true;
}
