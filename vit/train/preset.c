#include "vit/train/preset.h"
#include "vit/base/json.h"
#include "vit/base/sys.h"
#include "vit/base/text.h"
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

/* The parts have readers of their own, which take text. */
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

static vit_status parse(vit_preset *p, const char *text, size_t size, const char *name,
                        vit_error *error) {
    static const vit_field parts[] = {{"model", VIT_FIELD_OTHER, NULL, NULL},
                                      {"train", VIT_FIELD_OTHER, NULL, NULL}};
    json_t *object;
    p->config = vit_config_default();
    p->recipe = vit_recipe_default();
    vit_status status = vit_json_parse(&object, text, size, name, error);
    if (status != VIT_OK) return status;
    status = vit_json_read(object, parts, 2, name, error);
    if (status == VIT_OK) status = read_object(p, object, "model", read_model, name, error);
    if (status == VIT_OK) status = read_object(p, object, "train", read_train, name, error);
    json_decref(object);
    return status;
}

static vit_status load_file(vit_preset *p, const char *path, vit_error *error) {
    vit_bytes bytes;
    const vit_status status = vit_read_file(&bytes, path, LARGEST_FILE, error);
    if (status != VIT_OK) return status;
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    const char *dot = strrchr(name, '.');
    const int length = dot && dot > name ? (int)(dot - name) : (int)strlen(name);
    snprintf(p->name, sizeof p->name, "%.*s", length, name);
    const vit_status parsed = parse(p, (const char *)bytes.data, bytes.size, path, error);
    vit_free(bytes.data);
    return parsed;
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

vit_status vit_preset_load(vit_preset *p, const char *name, vit_error *error) {
    *p = (vit_preset){0};
    if (strpbrk(name, "./")) return load_file(p, name, error);
    for (const vit_builtin_preset *b = vit_builtin_presets; b->name; b++) {
        if (strcmp(b->name, name) != 0) continue;
        snprintf(p->name, sizeof p->name, "%s", name);
        p->is_sized_by_data = strcmp(name, "folder") == 0;
        return parse(p, b->json, strlen(b->json), name, error);
    }
    return unknown_preset(name, error);
}

/* ---- a network for pictures of any size and number ---- */

/* Patches have the largest power of two as their side that makes at least so many of them along the
 * shorter side of a picture: the convolutional stem halves it again and again. */
#define PATCHES_A_SIDE 8
#define LARGEST_PATCH 16

/* The more pictures there are, the larger a network they can fill, and the fewer passes it needs.
 */
static const struct {
    size_t pictures; /* up to so many */
    size_t dim, depth, heads, mlp;
    double epochs;
} networks[] = {
    {5000, 96, 5, 3, 192, 100},
    {20000, 128, 6, 4, 256, 60},
    {100000, 128, 6, 4, 256, 40},
    {SIZE_MAX, 192, 9, 6, 768, 20},
};

static size_t patch_of(size_t side) {
    size_t patch = 1;
    while (2 * patch <= LARGEST_PATCH && 2 * patch * PATCHES_A_SIDE <= side) patch *= 2;
    return patch;
}

void vit_preset_size(vit_preset *p, const vit_dataset *data) {
    size_t i = 0;
    while (data->train.count > networks[i].pictures) i++;
    p->config.patch = patch_of(data->height < data->width ? data->height : data->width);
    if (p->config.patch == 1) p->config.stem = VIT_STEM_LINEAR;
    p->config.dim = networks[i].dim;
    p->config.depth = networks[i].depth;
    p->config.heads = networks[i].heads;
    p->config.mlp = networks[i].mlp;
    p->recipe.epochs = networks[i].epochs;
    p->recipe.flip = !data->has_characters;
}

/* ---- fitting ---- */

static vit_status fit(size_t *value, size_t found, const char *what, const char *preset,
                      vit_error *error) {
    if (*value == 0) *value = found;
    if (*value == found) return VIT_OK;
    return vit_fail(error, VIT_ERROR_MISMATCH,
                    "preset %s: its %s is %zu, the data's is %zu: leave it out or choose another "
                    "preset",
                    preset, what, *value, found);
}

vit_status vit_preset_fit(vit_preset *p, const vit_dataset *data, vit_error *error) {
    vit_config *c = &p->config;
    if (p->is_sized_by_data) vit_preset_size(p, data);
    vit_status status = fit(&c->height, data->height, "picture height", p->name, error);
    if (status == VIT_OK) status = fit(&c->width, data->width, "picture width", p->name, error);
    if (status == VIT_OK)
        status = fit(&c->channels, data->channels, "number of channels", p->name, error);
    if (status == VIT_OK)
        status = fit(&c->classes, data->classes, "number of classes", p->name, error);
    if (status != VIT_OK) return status;
    if (p->recipe.flip && data->is_digits)
        return vit_fail(error, VIT_ERROR_ARGUMENT,
                        "preset %s: \"flip\" mirrors pictures, and a mirrored digit is none: leave "
                        "it out",
                        p->name);
    status = vit_config_check(c, error);
    return status == VIT_OK ? status : vit_fail_prefix(error, status, p->name);
}
