#include "vit/train/recipe.h"
#include "vit/base/json.h"
#include "vit/base/math.h"
#include "vit/base/text.h"
#include <string.h>

vit_recipe vit_recipe_default(void) {
    return (vit_recipe){.batch = 128,
                        .epochs = 10,
                        .lr = 1e-3,
                        .warmup = .05,
                        .weight_decay = .05,
                        .beta1 = .9,
                        .beta2 = .999,
                        .eps = 1e-8,
                        .clip = 1,
                        .label_smoothing = .1,
                        .shift = 0,
                        .layer_decay = 1};
}

/* Every number of a recipe: its key, where it is, and the largest value; the least is 0. */
typedef struct number {
    const char *key;
    size_t offset;
    double high;
} number;

static const number numbers[] = {
    {"epochs", offsetof(vit_recipe, epochs), 1e6},
    {"lr", offsetof(vit_recipe, lr), 100},
    {"warmup", offsetof(vit_recipe, warmup), 1},
    {"weight_decay", offsetof(vit_recipe, weight_decay), 100},
    {"beta1", offsetof(vit_recipe, beta1), .999999},
    {"beta2", offsetof(vit_recipe, beta2), .999999},
    {"eps", offsetof(vit_recipe, eps), 1},
    {"clip", offsetof(vit_recipe, clip), 1e6},
    {"label_smoothing", offsetof(vit_recipe, label_smoothing), .999999},
    {"drop_path", offsetof(vit_recipe, drop_path), .999999},
    {"ema", offsetof(vit_recipe, ema), .999999},
    {"rotate", offsetof(vit_recipe, rotate), 180},
    {"scale", offsetof(vit_recipe, scale), .9},
    {"shear", offsetof(vit_recipe, shear), 1},
};
#define NUMBERS (sizeof numbers / sizeof *numbers)
#define OTHERS 6

static const char *const precisions[] = {"f32", "bf16", NULL};

static double *number_at(vit_recipe *recipe, size_t i) {
    return (double *)((char *)recipe + numbers[i].offset);
}

vit_status vit_recipe_check(const vit_recipe *recipe, vit_error *error) {
    vit_recipe copy = *recipe;
    for (size_t i = 0; i < NUMBERS; i++) {
        char found[32], high[32];
        const double value = *number_at(&copy, i);
        if (value >= 0 && value <= numbers[i].high) continue;
        return vit_fail(error, VIT_ERROR_ARGUMENT, "\"%s\" is %s, expected 0 to %s", numbers[i].key,
                        vit_format_double(found, value), vit_format_double(high, numbers[i].high));
    }
    if (recipe->batch < 1 || recipe->batch > 65536)
        return vit_fail(error, VIT_ERROR_ARGUMENT, "\"batch\" is %zu, expected 1 to 65536",
                        recipe->batch);
    if (recipe->shift > 64)
        return vit_fail(error, VIT_ERROR_ARGUMENT, "\"shift\" is %zu, expected 0 to 64 pixels",
                        recipe->shift);
    if (recipe->layer_decay > 0 && recipe->layer_decay <= 1) return VIT_OK;
    char found[32];
    return vit_fail(error, VIT_ERROR_ARGUMENT, "\"layer_decay\" is %s, expected more than 0, to 1",
                    vit_format_double(found, recipe->layer_decay));
}

vit_status vit_recipe_fits(const vit_recipe *recipe, size_t depth, vit_error *error) {
    if (recipe->freeze <= depth) return VIT_OK;
    return vit_fail(error, VIT_ERROR_ARGUMENT,
                    "\"freeze\" is %zu, but the network has %zu blocks: expected 0 to %zu",
                    recipe->freeze, depth, depth);
}

vit_status vit_recipe_read(vit_recipe *recipe, const char *json, const char *name,
                           vit_error *error) {
    int precision = (int)recipe->precision;
    vit_field fields[NUMBERS + OTHERS] = {
        {"batch", VIT_FIELD_SIZE, &recipe->batch, NULL},
        {"shift", VIT_FIELD_SIZE, &recipe->shift, NULL},
        {"flip", VIT_FIELD_BOOL, &recipe->flip, NULL},
        {"precision", VIT_FIELD_ENUM, &precision, precisions},
        {"freeze", VIT_FIELD_SIZE, &recipe->freeze, NULL},
        {"layer_decay", VIT_FIELD_DOUBLE, &recipe->layer_decay, NULL}};
    for (size_t i = 0; i < NUMBERS; i++)
        fields[i + OTHERS] =
            (vit_field){numbers[i].key, VIT_FIELD_DOUBLE, number_at(recipe, i), NULL};
    json_t *object;
    vit_status status = vit_json_parse(&object, json, strlen(json), name, error);
    if (status != VIT_OK) return status;
    status = vit_json_read(object, fields, NUMBERS + OTHERS, name, error);
    recipe->precision = (vit_precision)precision;
    json_decref(object);
    return status;
}

char *vit_recipe_write(const vit_recipe *recipe) {
    vit_recipe copy = *recipe;
    vit_text t = {0};
    vit_text_add(&t, "{\"batch\": %zu, \"shift\": %zu, \"flip\": %s", recipe->batch, recipe->shift,
                 recipe->flip ? "true" : "false");
    for (size_t i = 0; i < NUMBERS; i++) {
        char value[32];
        vit_text_add(&t, ", \"%s\": %s", numbers[i].key,
                     vit_format_double(value, *number_at(&copy, i)));
    }
    if (recipe->precision != VIT_PRECISION_F32)
        vit_text_add(&t, ", \"precision\": \"%s\"", precisions[recipe->precision]);
    if (recipe->freeze > 0) vit_text_add(&t, ", \"freeze\": %zu", recipe->freeze);
    if (recipe->layer_decay != 1) {
        char value[32];
        vit_text_add(&t, ", \"layer_decay\": %s", vit_format_double(value, recipe->layer_decay));
    }
    vit_text_add(&t, "}");
    if (t.failed) vit_text_free(&t);
    return t.text;
}

double vit_learning_rate(double lr, uint64_t warmup, uint64_t step, uint64_t steps) {
    if (step < warmup) return lr * (double)(step + 1) / (double)warmup;
    if (step >= steps) return 0;
    return lr * .5 * (1 + vit_cos(VIT_PI * (double)(step - warmup) / (double)(steps - warmup)));
}

uint64_t vit_warmup_steps(const vit_recipe *recipe, uint64_t steps) {
    const uint64_t warmup = (uint64_t)(recipe->warmup * (double)steps);
    return warmup == 0 && recipe->warmup > 0 ? 1 : warmup;
}
