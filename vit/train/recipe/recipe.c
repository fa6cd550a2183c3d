#include "vit/train/recipe/recipe.h"
#include "vit/base/math.h"
#include "vit/base/size.h"
#include "vit/base/text.h"
#include "vit/formats/json.h"
#include "vit/formats/json_out.h"
#include "vit/ops/precision.h"
#include <math.h>
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
                        .distill = .5,
                        .distill_temperature = 3,
                        .repeats = 1,
                        .mix_share = 1,
                        .mix_until = 1,
                        .val = -1,
                        .layer_decay = 1};
}

/* The numbers of a recipe. The least value of each is 0. */
typedef struct number {
    const char *key;
    size_t offset; /* in vit_recipe */
    double high;   /* the largest value */
    bool rare;     /* not written if it is the default */
    double default_value;
} number;

static const number numbers[] = {
    {"epochs", offsetof(vit_recipe, epochs), 1e6, false, 0},
    {"lr", offsetof(vit_recipe, lr), 100, false, 0},
    {"warmup", offsetof(vit_recipe, warmup), 1, false, 0},
    {"weight_decay", offsetof(vit_recipe, weight_decay), 100, false, 0},
    {"beta1", offsetof(vit_recipe, beta1), .999999, false, 0},
    {"beta2", offsetof(vit_recipe, beta2), .999999, false, 0},
    {"eps", offsetof(vit_recipe, eps), 1, false, 0},
    {"clip", offsetof(vit_recipe, clip), 1e6, false, 0},
    {"label_smoothing", offsetof(vit_recipe, label_smoothing), .999999, false, 0},
    {"drop_path", offsetof(vit_recipe, drop_path), .999999, false, 0},
    {"ema", offsetof(vit_recipe, ema), .999999, false, 0},
    {"rotate", offsetof(vit_recipe, augment.rotate), 180, false, 0},
    {"scale", offsetof(vit_recipe, augment.scale), .9, false, 0},
    {"shear", offsetof(vit_recipe, augment.shear), 1, false, 0},
    {"jitter", offsetof(vit_recipe, jitter), 1, true, 0},
    {"elastic", offsetof(vit_recipe, augment.elastic), 200, true, 0},
    {"crop", offsetof(vit_recipe, augment.crop), 1, true, 0},
    {"erase", offsetof(vit_recipe, augment.erase), 1, true, 0},
    {"mixup", offsetof(vit_recipe, mixup), 4, true, 0},
    {"cutmix", offsetof(vit_recipe, cutmix), 4, true, 0},
    {"mix_share", offsetof(vit_recipe, mix_share), 1, true, 1},
    {"mix_until", offsetof(vit_recipe, mix_until), 1, true, 1},
    {"outlier_exposure", offsetof(vit_recipe, outlier_exposure), .9, true, 0},
    {"distill", offsetof(vit_recipe, distill), 1, true, .5},
    {"distill_temperature", offsetof(vit_recipe, distill_temperature), 100, true, 3},
};
#define NUMBERS (sizeof numbers / sizeof *numbers)
#define OTHERS 18 /* keys that are no such numbers */

static const char *const schedules[] = {"cosine", "linear", "wsd", "one_cycle", NULL};
static const char *const policies[] = {"none", "rand_augment", "trivial_augment", NULL};
static const char *const edges[] = {"black", "reflect", NULL};
static const char *const optimizers[] = {"adamw", "muon", NULL};
VIT_CHECK_ROWS(schedules, VIT_SCHEDULE_COUNT + 1);
VIT_CHECK_ROWS(optimizers, VIT_OPTIMIZER_COUNT + 1);
VIT_CHECK_ROWS(policies, VIT_POLICY_COUNT + 1);
VIT_CHECK_ROWS(edges, VIT_EDGES_COUNT + 1);

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
    const vit_augmentation *a = &recipe->augment;
    const double mixup = recipe->mixup, cutmix = recipe->cutmix, val = recipe->val;
    const size_t lanes = recipe->lanes;
    const struct {
        const char *key;
        double value;
        bool holds;
        const char *expected;
    } rules[] = {{"lr", recipe->lr, recipe->lr > 0, "more than 0, to 100"},
                 {"batch", (double)recipe->batch, recipe->batch >= 1 && recipe->batch <= 65536,
                  "1 to 65536"},
                 {"shift", (double)a->shift, a->shift <= 64, "0 to 64 pixels"},
                 {"lanes", (double)lanes, lanes <= VIT_RECIPE_LANES && (lanes & (lanes - 1)) == 0,
                  "a power of two up to 1024, or 0: by the network's size"},
                 {"mixup", mixup, mixup == 0 || mixup >= .01, "0, or .01 to 4"},
                 {"cutmix", cutmix, cutmix == 0 || cutmix >= .01, "0, or .01 to 4"},
                 {"distill_temperature", recipe->distill_temperature,
                  recipe->distill_temperature >= .1, ".1 to 100"},
                 {"val", val, val >= 1 ? val <= 1e9 && val == floor(val) : val >= 0 || val == -1,
                  "a whole number of pictures, or a share from 0 to less than 1"},
                 {"repeats", (double)recipe->repeats, recipe->repeats >= 1 && recipe->repeats <= 64,
                  "1 to 64"},
                 {"layer_decay", recipe->layer_decay,
                  recipe->layer_decay > 0 && recipe->layer_decay <= 1, "more than 0, to 1"}};
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        char found[32];
        if (rules[i].holds) continue;
        return vit_fail(error, VIT_ERROR_ARGUMENT, "\"%s\" is %s, expected %s", rules[i].key,
                        vit_format_double(found, rules[i].value), rules[i].expected);
    }
    if (a->crop == 0 ||
        (a->shift == 0 && a->rotate == 0 && a->scale == 0 && a->shear == 0 && a->elastic == 0))
        return VIT_OK;
    return vit_fail(error, VIT_ERROR_ARGUMENT,
                    "\"crop\" takes the place of \"shift\", \"rotate\", \"scale\", \"shear\" and "
                    "\"elastic\": leave these out, or that");
}

vit_bf16 vit_recipe_bf16(const vit_recipe *recipe) {
    const bool says_nothing = recipe->bf16 <= VIT_BF16_ANY;
    return vit_precisions[recipe->precision].orders && says_nothing ? VIT_BF16_PAIRS : recipe->bf16;
}

size_t vit_recipe_val(const vit_recipe *recipe, size_t count) {
    if (recipe->val < 0) return count / 10 < 5000 ? count / 10 : 5000;
    return (size_t)(recipe->val < 1 ? recipe->val * (double)count : recipe->val);
}

vit_status vit_recipe_fits(const vit_recipe *recipe, size_t depth, vit_error *error) {
    if (recipe->freeze <= depth) return VIT_OK;
    return vit_fail(error, VIT_ERROR_ARGUMENT,
                    "\"freeze\" is %zu, but the network has %zu blocks: expected 0 to %zu",
                    recipe->freeze, depth, depth);
}

/* The recipe's enums as ints, which the reader of JSON sets. */
typedef struct choices {
    int precision, bf16, schedule, edges, policy, optimizer;
} choices;

/* All keys, and where their values are: in *recipe, or in *c for enums. */
static void list_fields(vit_field fields[NUMBERS + OTHERS], vit_recipe *recipe, choices *c) {
    *c = (choices){(int)recipe->precision,     (int)recipe->bf16,   (int)recipe->schedule,
                   (int)recipe->augment.edges, (int)recipe->policy, (int)recipe->optimizer};
    const vit_field others[OTHERS] = {
        {"batch", VIT_FIELD_SIZE, &recipe->batch, NULL},
        {"shift", VIT_FIELD_SIZE, &recipe->augment.shift, NULL},
        {"flip", VIT_FIELD_BOOL, &recipe->augment.flip, NULL},
        {"precision", VIT_FIELD_ENUM, &c->precision, vit_precision_names},
        {"arithmetic", VIT_FIELD_ENUM, &c->bf16, vit_bf16_names},
        {"freeze", VIT_FIELD_SIZE, &recipe->freeze, NULL},
        {"lanes", VIT_FIELD_SIZE, &recipe->lanes, NULL},
        {"bf16_gradients", VIT_FIELD_BOOL, &recipe->bf16_gradients, NULL},
        {"schedule", VIT_FIELD_ENUM, &c->schedule, schedules},
        {"optimizer", VIT_FIELD_ENUM, &c->optimizer, optimizers},
        {"edges", VIT_FIELD_ENUM, &c->edges, edges},
        {"policy", VIT_FIELD_ENUM, &c->policy, policies},
        {"flip_alternates", VIT_FIELD_BOOL, &recipe->flip_alternates, NULL},
        {"balance", VIT_FIELD_BOOL, &recipe->balance, NULL},
        {"multi_label", VIT_FIELD_BOOL, &recipe->multi_label, NULL},
        {"repeats", VIT_FIELD_SIZE, &recipe->repeats, NULL},
        {"val", VIT_FIELD_DOUBLE, &recipe->val, NULL},
        {"layer_decay", VIT_FIELD_DOUBLE, &recipe->layer_decay, NULL}};
    memcpy(fields, others, sizeof others);
    for (size_t i = 0; i < NUMBERS; i++)
        fields[i + OTHERS] =
            (vit_field){numbers[i].key, VIT_FIELD_DOUBLE, number_at(recipe, i), NULL};
}

size_t vit_recipe_keys(const char **keys, size_t most) {
    vit_field fields[NUMBERS + OTHERS];
    vit_recipe recipe = vit_recipe_default();
    choices c;
    list_fields(fields, &recipe, &c);
    size_t count = 0;
    for (; count < NUMBERS + OTHERS && count < most; count++) keys[count] = fields[count].key;
    return count;
}

/* Models that were made before "outlier_exposure" was called so have it as "strangers". */
static bool rename_old_key(json_t *object) {
    json_t *old = json_object_get(object, "strangers");
    return !old || (json_object_set(object, "outlier_exposure", old) == 0 &&
                    json_object_del(object, "strangers") == 0);
}

vit_status vit_recipe_read(vit_recipe *recipe, const char *json, const char *name,
                           vit_error *error) {
    vit_field fields[NUMBERS + OTHERS];
    choices c;
    list_fields(fields, recipe, &c);
    json_t *object;
    vit_status status = vit_json_parse(&object, json, strlen(json), name, error);
    if (status != VIT_OK) return status;
    if (!rename_old_key(object)) status = vit_fail_memory(error, "a recipe", 0);
    if (status == VIT_OK) status = vit_json_read(object, fields, NUMBERS + OTHERS, name, error);
    recipe->precision = (vit_precision)c.precision;
    recipe->bf16 = (vit_bf16)c.bf16;
    recipe->schedule = (vit_schedule)c.schedule;
    recipe->optimizer = (vit_optimizer)c.optimizer;
    recipe->augment.edges = (vit_edges)c.edges;
    recipe->policy = (vit_policy)c.policy;
    json_decref(object);
    return status;
}

/* Writes a choice unless it is the first of its values, the default. */
static void add_choice(vit_json_out *json, const char *key, const char *const *names, int value) {
    if (value > 0) vit_json_text(json, key, names[value]);
}

char *vit_recipe_write(const vit_recipe *recipe) {
    vit_recipe copy = *recipe;
    vit_json_out json = {0};
    vit_json_open(&json, NULL, '{');
    vit_json_count(&json, "batch", recipe->batch);
    vit_json_count(&json, "shift", recipe->augment.shift);
    vit_json_bool(&json, "flip", recipe->augment.flip);
    for (size_t i = 0; i < NUMBERS; i++)
        if (!numbers[i].rare || *number_at(&copy, i) != numbers[i].default_value)
            vit_json_number(&json, numbers[i].key, *number_at(&copy, i));
    add_choice(&json, "schedule", schedules, (int)recipe->schedule);
    add_choice(&json, "optimizer", optimizers, (int)recipe->optimizer);
    add_choice(&json, "edges", edges, (int)recipe->augment.edges);
    add_choice(&json, "policy", policies, (int)recipe->policy);
    if (recipe->flip_alternates) vit_json_bool(&json, "flip_alternates", true);
    if (recipe->balance) vit_json_bool(&json, "balance", true);
    if (recipe->multi_label) vit_json_bool(&json, "multi_label", true);
    if (recipe->val >= 0) vit_json_number(&json, "val", recipe->val);
    if (recipe->repeats != 1) vit_json_count(&json, "repeats", recipe->repeats);
    add_choice(&json, "precision", vit_precision_names, (int)recipe->precision);
    if (recipe->bf16 > VIT_BF16_PAIRS)
        add_choice(&json, "arithmetic", vit_bf16_names, (int)recipe->bf16);
    if (recipe->freeze > 0) vit_json_count(&json, "freeze", recipe->freeze);
    if (recipe->lanes > 0) vit_json_count(&json, "lanes", recipe->lanes);
    if (recipe->bf16_gradients) vit_json_bool(&json, "bf16_gradients", true);
    if (recipe->layer_decay != 1) vit_json_number(&json, "layer_decay", recipe->layer_decay);
    vit_json_close(&json, '}');
    return vit_json_take(&json);
}

double vit_learning_rate(double lr, uint64_t warmup, uint64_t step, uint64_t steps) {
    if (step < warmup) return lr * (double)(step + 1) / (double)warmup;
    if (step >= steps) return 0;
    return lr * .5 * (1 + vit_cos(VIT_PI * (double)(step - warmup) / (double)(steps - warmup)));
}

/* PyTorch's OneCycleLR with its defaults, except pct_start. */
static double one_cycle(double lr, uint64_t warmup, uint64_t step, uint64_t steps) {
    const double top = warmup > 1 ? (double)warmup - 1 : 0, end = (double)steps - 1;
    const double at = (double)step, low = lr / 25, least = low / 1e4;
    if (at < top) return lr + (low - lr) / 2 * (1 + vit_cos(VIT_PI * at / top));
    if (at >= end) return least;
    return least + (lr - least) / 2 * (1 + vit_cos(VIT_PI * (at - top) / (end - top)));
}

/* After the warm-up constant, and from step `fall` on along a straight line to 0. */
static double straight(double lr, uint64_t warmup, uint64_t fall, uint64_t step, uint64_t steps) {
    if (step < warmup || step >= steps) return vit_learning_rate(lr, warmup, step, steps);
    return step < fall ? lr : lr * (double)(steps - step) / (double)(steps - fall);
}

double vit_recipe_learning_rate(const vit_recipe *r, uint64_t step, uint64_t steps) {
    const uint64_t warmup = vit_warmup_steps(r, steps), fifth = steps - steps / 5;
    switch (r->schedule) {
    case VIT_SCHEDULE_COSINE:
        return vit_learning_rate(r->lr, warmup, step, steps);
    case VIT_SCHEDULE_LINEAR:
        return straight(r->lr, warmup, warmup, step, steps);
    case VIT_SCHEDULE_WSD:
        return straight(r->lr, warmup, fifth > warmup ? fifth : warmup, step, steps);
    case VIT_SCHEDULE_ONE_CYCLE:
        return one_cycle(r->lr, warmup, step, steps);
    case VIT_SCHEDULE_COUNT:
        break;
    }
    return 0;
}

uint64_t vit_warmup_steps(const vit_recipe *recipe, uint64_t steps) {
    const uint64_t warmup = (uint64_t)(recipe->warmup * (double)steps);
    return warmup == 0 && recipe->warmup > 0 ? 1 : warmup;
}
