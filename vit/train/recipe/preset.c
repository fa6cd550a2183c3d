#include "vit/train/recipe/preset.h"
#include "vit/base/sys.h"
#include "vit/base/text.h"
#include "vit/formats/json.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_PRESETS 64
#define LARGEST_FILE ((size_t)1 << 20)

typedef vit_status read_part(vit_preset *preset, const char *json, const char *name,
                             vit_error *error);

static vit_status read_model(vit_preset *p, const char *json, const char *name, vit_error *error) {
    return vit_config_read(&p->config, json, name, error);
}

static vit_status read_train(vit_preset *p, const char *json, const char *name, vit_error *error) {
    const vit_status status = vit_recipe_read(&p->recipe, json, name, error);
    return status == VIT_OK ? vit_recipe_check(&p->recipe, error) : status;
}

/* Passes the part `key` of the object as text to its reader; nothing if there is no such part. */
static vit_status read_object(vit_preset *p, const json_t *object, const char *key,
                              read_part *reader, const char *name, vit_error *error) {
    const json_t *part = json_object_get(object, key);
    if (!part) return VIT_OK;
    if (!json_is_object(part))
        return vit_fail(error, VIT_ERROR_FORMAT, "%s: \"%s\" must be an object, {...}", name, key);
    char *text = json_dumps(part, JSON_REAL_PRECISION(17));
    if (!text) return vit_fail_memory(error, name, 0);
    const vit_status status = reader(p, text, key, error);
    free(text);
    return status == VIT_OK ? status : vit_fail_prefix(error, status, name);
}

static bool has_key(const char *const *keys, size_t count, const char *key) {
    size_t i = 0;
    while (i < count && strcmp(keys[i], key) != 0) i++;
    return i < count;
}

/* Keys of a part that stand outside of it. */
static vit_status check_place(json_t *object, const char *name, vit_error *error) {
    const char *of_model[MOST_PRESETS], *of_train[MOST_PRESETS], *key;
    const size_t models = vit_config_keys(of_model, MOST_PRESETS);
    const size_t trains = vit_recipe_keys(of_train, MOST_PRESETS);
    json_t *value;
    json_object_foreach(object, key, value) {
        const bool model = has_key(of_model, models, key);
        if (model || has_key(of_train, trains, key))
            return vit_fail(error, VIT_ERROR_FORMAT,
                            "%s: \"%s\" belongs into \"%s\": {\"%s\": {\"%s\": ...}}", name, key,
                            model ? "model" : "train", model ? "model" : "train", key);
    }
    return VIT_OK;
}

static vit_status load(json_t **out, const char *text, size_t size, const char *name,
                       vit_error *error) {
    static const vit_field parts[] = {{"model", VIT_FIELD_OTHER, NULL, NULL},
                                      {"train", VIT_FIELD_OTHER, NULL, NULL}};
    vit_status status = vit_json_parse(out, text, size, name, error);
    if (status == VIT_OK) status = check_place(*out, name, error);
    if (status == VIT_OK) status = vit_json_read(*out, parts, 2, name, error);
    return status;
}

static vit_status read_parts(vit_preset *p, const json_t *object, const char *name,
                             vit_error *error) {
    const json_t *train = json_object_get(object, "train");
    p->config = vit_config_default();
    p->recipe = vit_recipe_default();
    p->says_epochs = json_object_get(train, "epochs") != NULL;
    p->says_flip = json_object_get(train, "flip") != NULL;
    const vit_status status = read_object(p, object, "model", read_model, name, error);
    return status == VIT_OK ? read_object(p, object, "train", read_train, name, error) : status;
}

static vit_status load_file(json_t **out, char name[64], const char *path, vit_error *error) {
    vit_bytes bytes;
    const vit_status status = vit_read_file(&bytes, path, LARGEST_FILE, error);
    if (status != VIT_OK) return status;
    const char *file = vit_path_last(path);
    const char *dot = strrchr(file, '.');
    const int length = dot && dot > file ? (int)(dot - file) : (int)strlen(file);
    snprintf(name, 64, "%.*s", length, file);
    const vit_status loaded = load(out, (const char *)bytes.data, bytes.size, path, error);
    vit_free(bytes.data);
    return loaded;
}

static vit_status unknown_preset(const char *name, vit_error *error) {
    const char *names[MOST_PRESETS];
    char list[512] = "";
    size_t count = 0;
    for (const vit_builtin_preset *b = vit_builtin_presets; b->name && count < MOST_PRESETS; b++) {
        names[count++] = b->name;
        const size_t used = strlen(list);
        snprintf(list + used, sizeof list - used, "%s%s", used ? ", " : "", b->name);
    }
    const char *near = vit_nearest(name, names, count);
    return vit_fail(error, VIT_ERROR_ARGUMENT,
                    "there is no preset \"%s\"%s%s%s; known are %s, or the path of a .json file",
                    name, near ? "; did you mean \"" : "", near ? near : "", near ? "\"" : "",
                    list);
}

static vit_status load_named(json_t **out, char name[64], const char *wanted, vit_error *error) {
    if (strpbrk(wanted, "./")) return load_file(out, name, wanted, error);
    for (const vit_builtin_preset *b = vit_builtin_presets; b->name; b++) {
        if (strcmp(b->name, wanted) != 0) continue;
        snprintf(name, 64, "%s", wanted);
        return load(out, b->json, strlen(b->json), wanted, error);
    }
    return unknown_preset(wanted, error);
}

/* Completes a preset without "model" by the data's own preset. */
static vit_status add_network(json_t *object, const char *data_preset, vit_error *error) {
    json_t *whole = NULL;
    char name[64];
    vit_status status = load_named(&whole, name, data_preset, error);
    if (status == VIT_OK) {
        json_t *train = json_object_get(whole, "train"), *own = json_object_get(object, "train");
        if (json_is_object(own) && json_object_update(train, own) != 0)
            status = vit_fail_memory(error, "a preset", 0);
        else if (!own || json_is_object(own))
            json_object_update(object, whole);
    }
    json_decref(whole);
    return status;
}

/* Of networks and recipes: first *of_model of the former; returns how many there are. */
static size_t list_keys(const char *keys[2 * MOST_PRESETS], size_t *of_model) {
    *of_model = vit_config_keys(keys, MOST_PRESETS);
    return *of_model + vit_recipe_keys(keys + *of_model, MOST_PRESETS);
}

const char *vit_preset_key(const char *word, bool near) {
    const char *keys[2 * MOST_PRESETS];
    size_t of_model;
    const size_t count = list_keys(keys, &of_model);
    return near ? vit_json_nearest_key(word, keys, count) : vit_json_known_key(word, keys, count);
}

/* Whether both are the same but for case, '_' and '-': "RMSNorm" and "rms_norm". */
static bool same_letters(const char *a, const char *b) {
    for (;; a++, b++) {
        while (*a == '_' || *a == '-') a++;
        while (*b == '_' || *b == '-') b++;
        const char x = *a >= 'A' && *a <= 'Z' ? (char)(*a + 'a' - 'A') : *a;
        if (x != *b) return false;
        if (x == '\0') return true;
    }
}

/* The key that "norm=rms" or "norm=RMSNorm" means, rms_norm; NULL: it means none. */
static const char *key_of_value(const char *key, const char *value, const char *const *keys,
                                size_t count) {
    char both[128];
    snprintf(both, sizeof both, "%.60s_%.60s", value, key);
    for (size_t i = 0; i < count; i++)
        if (strcmp(keys[i], key) != 0 &&
            (same_letters(both, keys[i]) || same_letters(value, keys[i])))
            return keys[i];
    return NULL;
}

/* Puts "KEY=VALUE" into the part of the preset that has the key; *of_network if that is "model". */
static vit_status set(json_t *object, const char *text, bool *of_network, vit_error *error) {
    const char *keys[2 * MOST_PRESETS], *equals = strchr(text, '=');
    char key[64];
    if (!equals || equals == text || equals[1] == '\0' || equals - text >= (ptrdiff_t)sizeof key)
        return vit_fail(error, VIT_ERROR_ARGUMENT, "\"%s\": expected KEY=VALUE, as in lr=0.001",
                        text);
    snprintf(key, sizeof key, "%.*s", (int)(equals - text), text);
    size_t of_model;
    const size_t count = list_keys(keys, &of_model);
    if (!has_key(keys, count, key)) {
        const char *near = vit_json_nearest_key(key, keys, count);
        return vit_fail(error, VIT_ERROR_ARGUMENT, "\"%s\": unknown key \"%s\"%s%s%s", text, key,
                        near ? "; did you mean \"" : "", near ? near : "", near ? "\"?" : "");
    }
    const char *meant = key_of_value(key, equals + 1, keys, count);
    if (meant)
        return vit_fail(error, VIT_ERROR_ARGUMENT,
                        "\"%s\": \"%s\" has no such value; did you mean the key \"%s\", "
                        "as in %s=true?",
                        text, key, meant, meant);
    double number; /* options may say .5, which is not JSON */
    json_t *value = json_loads(equals + 1, JSON_DECODE_ANY, NULL);
    if (!value && vit_parse_double(equals + 1, &number)) value = json_real(number);
    if (!value) value = json_string(equals + 1); /* relu stands for "relu" */
    const bool model = has_key(keys, of_model, key);
    const char *part = model ? "model" : "train";
    *of_network |= model;
    if (!json_object_get(object, part)) json_object_set_new(object, part, json_object());
    if (!value || json_object_set_new(json_object_get(object, part), key, value) != 0)
        return vit_fail(error, VIT_ERROR_ARGUMENT, "\"%s\": the value is no text in UTF-8", text);
    return VIT_OK;
}

/* ARGUMENT for a size of the network that is said to be 0: only one that is left out is chosen by
 * the data. */
static vit_status check_sizes(const json_t *object, const char *name, vit_error *error) {
    static const char *const sizes[] = {"patch", "dim", "depth", "heads", "mlp"};
    const json_t *model = json_object_get(object, "model");
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        const json_t *size = json_object_get(model, sizes[i]);
        if (json_is_number(size) && !(json_number_value(size) >= 1))
            return vit_fail(error, VIT_ERROR_ARGUMENT,
                            "%s: \"%s\" is %g, expected at least 1; a preset that leaves it out "
                            "takes what suits the data",
                            name, sizes[i], json_number_value(size));
    }
    return VIT_OK;
}

vit_status vit_preset_choose(vit_preset *p, const char *wanted, const char *data_preset,
                             const char *const *sets, size_t set_count, vit_error *error) {
    *p = (vit_preset){0};
    json_t *object = NULL;
    const char *name = wanted ? wanted : data_preset;
    vit_status status = load_named(&object, p->name, name, error);
    const bool whole = status == VIT_OK && json_object_get(object, "model") != NULL;
    p->says_network = wanted && whole;
    if (status == VIT_OK && !whole && data_preset) status = add_network(object, data_preset, error);
    for (size_t i = 0; i < set_count && status == VIT_OK; i++)
        status = set(object, sets[i], &p->says_network, error);
    if (status == VIT_OK) status = check_sizes(object, name, error);
    if (status == VIT_OK) status = read_parts(p, object, name, error);
    json_decref(object);
    const vit_config *c = &p->config;
    p->is_sized_by_data =
        vit_config_takes_pictures(c) && (!c->patch || !c->dim || !c->depth || !c->heads || !c->mlp);
    return status;
}

vit_status vit_preset_load(vit_preset *p, const char *name, vit_error *error) {
    return vit_preset_choose(p, name, NULL, NULL, 0, error);
}

/* ---- a network for pictures of any size and number ---- */

/* The side of a patch is the largest power of two, up to LARGEST_PATCH, with at least this many
 * patches along the shorter side of a picture (powers of two are what the convolutional stem can
 * halve). */
#define PATCHES_A_SIDE 8
#define LARGEST_PATCH 16

/* More pictures can train a larger network, and need fewer epochs. */
static const struct {
    size_t pictures; /* at most */
    size_t dim, depth, heads, mlp;
    double epochs;
} networks[] = {
    {5000, 96, 3, 3, 192, 100},
    {20000, 128, 4, 4, 256, 60},
    {100000, 128, 4, 4, 256, 40},
    {SIZE_MAX, 192, 6, 6, 768, 20},
};

void vit_preset_size(vit_preset *p, const vit_dataset *data) {
    size_t i = 0;
    while (data->train.count > networks[i].pictures) i++;
    vit_config *c = &p->config;
    if (!c->patch) {
        const size_t side = data->height < data->width ? data->height : data->width;
        c->patch = 1;
        while (2 * c->patch <= LARGEST_PATCH && 2 * c->patch * PATCHES_A_SIDE <= side)
            c->patch *= 2;
        if (c->patch == 1) c->stem = VIT_STEM_LINEAR;
    }
    if (!c->dim) c->dim = networks[i].dim;
    if (!c->depth) c->depth = networks[i].depth;
    if (!c->heads) c->heads = networks[i].heads;
    if (!c->mlp) c->mlp = networks[i].mlp;
    if (!p->says_epochs) p->recipe.epochs = networks[i].epochs;
    if (!p->says_flip) p->recipe.augment.flip = !data->has_characters && !data->is_digits;
}

/* ---- fitting ---- */

/* *value = found if it was left out (0); else they must be equal. */
static vit_status fit(size_t *value, size_t found, const char *what, const char *preset,
                      vit_error *error) {
    if (*value == 0) *value = found;
    if (*value == found) return VIT_OK;
    return vit_fail(error, VIT_ERROR_MISMATCH,
                    "preset %s: its %s is %zu, the data's is %zu: leave it out or choose another "
                    "preset",
                    preset, what, *value, found);
}

/* The same for a length, which may be longer than the longest text. */
static vit_status fit_length(size_t *value, size_t longest, const char *what, const char *preset,
                             vit_error *error) {
    if (*value == 0) *value = longest;
    if (*value >= longest) return VIT_OK;
    return vit_fail(error, VIT_ERROR_MISMATCH,
                    "preset %s: its %s is %zu, the data's longest text takes %zu: leave it out",
                    preset, what, *value, longest);
}

/* Fits vocabularies and lengths of a network that writes texts. */
static vit_status fit_texts(vit_preset *p, const vit_dataset *data, vit_error *error) {
    vit_config *c = &p->config;
    const bool reads_texts = vit_config_takes_texts(c);
    if (vit_config_has_encoder(c) && reads_texts != (data->source_vocabulary.count > 0))
        return vit_fail(error, VIT_ERROR_MISMATCH,
                        "preset %s reads %s, the data are %s: choose another preset", p->name,
                        reads_texts ? "texts" : "pictures",
                        data->height > 0                    ? "pictures"
                        : data->source_vocabulary.count > 0 ? "texts"
                                                            : "texts without a source");
    vit_status status = fit(&c->decoder.vocabulary, data->target_vocabulary.count,
                            "decoder's vocabulary", p->name, error);
    if (status == VIT_OK)
        status = fit_length(&c->decoder.length, data->most_target + 1, "decoder's length", p->name,
                            error);
    if (status == VIT_OK && reads_texts)
        status = fit(&c->vocabulary, data->source_vocabulary.count, "vocabulary", p->name, error);
    if (status == VIT_OK && reads_texts)
        status = fit_length(&c->length, data->most_source, "length", p->name, error);
    return status;
}

/* Refuses parts of a recipe that make no sense for texts. */
static vit_status check_text_recipe(const vit_preset *p, vit_error *error) {
    const vit_recipe *r = &p->recipe;
    const struct {
        const char *key;
        bool asked;
    } keys[] = {{"mixup", r->mixup > 0},
                {"cutmix", r->cutmix > 0},
                {"flip", r->augment.flip},
                {"balance", r->balance},
                {"drop_path", r->drop_path > 0 && vit_config_takes_texts(&p->config)}};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (keys[i].asked)
            return vit_fail(error, VIT_ERROR_ARGUMENT,
                            "preset %s: \"%s\" is not for texts: leave it out", p->name,
                            keys[i].key);
    return VIT_OK;
}

/* Refuses what needs one class a picture, and a recipe that is not for these data. */
static vit_status check_multi_label(const vit_preset *p, const vit_dataset *data,
                                    vit_error *error) {
    const vit_recipe *r = &p->recipe;
    const bool has_lists = vit_records_list_classes(&data->train);
    if (r->multi_label != has_lists)
        return vit_fail(error, VIT_ERROR_ARGUMENT,
                        has_lists ? "preset %s: \"multi_label\" is false, but %s was read with the "
                                    "lists of classes of its pictures"
                                  : "preset %s: \"multi_label\" is true, but %s was read with one "
                                    "class a picture: several come from a table of files and "
                                    "classes (docs/data.md), and --multi-label reads it",
                        p->name, data->name);
    const char *key = r->balance ? "balance" : r->outlier_exposure > 0 ? "outlier_exposure" : NULL;
    if (!r->multi_label || !key) return VIT_OK;
    return vit_fail(
        error, VIT_ERROR_ARGUMENT,
        "preset %s: \"%s\" is for one class a picture, not for \"multi_label\": leave it "
        "out",
        p->name, key);
}

vit_status vit_preset_fit(vit_preset *p, const vit_dataset *data, vit_error *error) {
    vit_config *c = &p->config;
    const bool writes = data->target_vocabulary.count > 0;
    if (writes != vit_config_has_decoder(c))
        return vit_fail(error, VIT_ERROR_MISMATCH,
                        writes
                            ? "preset %s names classes, but the answers of %s are texts: choose "
                              "a preset with a \"decoder\", such as strips or numbers"
                            : "preset %s writes texts, but the answers of %s are classes: choose "
                              "a preset without a \"decoder\"",
                        p->name, data->name);
    if (p->is_sized_by_data) vit_preset_size(p, data);
    vit_status status = writes ? fit_texts(p, data, error) : VIT_OK;
    if (status == VIT_OK && writes) status = check_text_recipe(p, error);
    if (status == VIT_OK && !writes) status = check_multi_label(p, data, error);
    if (status == VIT_OK && !vit_config_has_encoder(c)) return vit_config_check(c, error);
    if (status == VIT_OK) status = fit(&c->height, data->height, "picture height", p->name, error);
    if (status == VIT_OK) status = fit(&c->width, data->width, "picture width", p->name, error);
    if (status == VIT_OK)
        status = fit(&c->channels, data->channels, "number of channels", p->name, error);
    if (status == VIT_OK)
        status = fit(&c->classes, data->classes, "number of classes", p->name, error);
    if (status != VIT_OK) return status;
    if (p->recipe.augment.flip && data->is_digits)
        return vit_fail(error, VIT_ERROR_ARGUMENT,
                        "preset %s: \"flip\" mirrors pictures, but a mirrored digit is no digit: "
                        "leave it out",
                        p->name);
    if (p->recipe.outlier_exposure > 0 && !data->is_digits)
        return vit_fail(
            error, VIT_ERROR_ARGUMENT,
            "preset %s: \"outlier_exposure\" draws pictures that are no digits, and %s has no "
            "digits like MNIST's: leave it out",
            p->name, data->name);
    if (p->is_sized_by_data && (c->height % c->patch > 0 || c->width % c->patch > 0))
        return vit_fail(error, VIT_ERROR_ARGUMENT,
                        "pictures of %zu x %zu pixels are not whole patches of %zu x %zu: take a "
                        "multiple of %zu, or another \"patch\"",
                        c->height, c->width, c->patch, c->patch, c->patch);
    status = vit_config_check(c, error);
    return status == VIT_OK ? status : vit_fail_prefix(error, status, p->name);
}
