#include "vit/model/switches.h"
#include "vit/base/size.h"
#include "vit/formats/json_out.h"
#include "vit/model/layout_bits.h"
#include <string.h>

/* ---- the names of values, and what they are ---- */

const char *const vit_target_names[] = {"timm", "hf",      "torchvision", "npz",
                                        "onnx", "pytorch", NULL};
VIT_CHECK_ROWS(vit_target_names, VIT_TARGET_COUNT + 1);

const vit_stem_row vit_stems[] = {
    {.name = "linear", .pictures = true},
    {.name = "conv", .pictures = true, .convolves = true},
    {.name = "cct", .pictures = true, .convolves = true, .pools = true},
    {.name = "tokens", .texts = true},
    {.name = "none"},
};
VIT_CHECK_ROWS(vit_stems, VIT_STEM_COUNT);

const vit_pool_row vit_pools[] = {
    {.name = "class", .timm = "token", .first = true},
    {.name = "mean", .timm = "avg", .patches = true, .choice = true},
    {.name = "map",
     .timm = "map",
     .patches = true,
     .attends = true,
     .weighs = true,
     .choice = true,
     .limit = {NPZ, "it pools by attention"}},
    {.name = "class_mean",
     .two = true,
     .normed = true,
     .limit = {ALL, "its head sees both the class token and the mean of the patches"}},
    {.name = "class_dist",
     .timm = "token",
     .two = true,
     .dist = true,
     .normed = true,
     .limit = {TORCHVISION | NPZ, "it has a distillation token"}},
    {.name = "seq",
     .patches = true,
     .weighs = true,
     .normed = true,
     .limit = {ALL, "it pools its tokens by weights (sequence pooling)"}},
    {.name = "max",
     .timm = "max",
     .patches = true,
     .choice = true,
     .limit = {HF | TORCHVISION | NPZ, "it pools by the largest"}},
    {.name = "mean_max",
     .timm = "avgmax",
     .patches = true,
     .choice = true,
     .limit = {HF | TORCHVISION | NPZ, "it pools by mean and largest"}},
    {.name = "prr",
     .timm = "prr",
     .patches = true,
     .refines = true,
     .choice = true,
     .limit = {HF | TORCHVISION | NPZ, "it pools by attention"}},
    {.name = "prefix_mean",
     .patches = true,
     .prefix = true,
     .choice = true,
     .limit = {ALL, "it pools the tokens before its patches"}},
    {.name = "tokens", .patches = true, .tokens = true, .normed = true},
};
VIT_CHECK_ROWS(vit_pools, VIT_POOL_COUNT);

const vit_head_row vit_heads[] = {
    {.name = "linear", .layers = 1},
    {.name = "mlp", .layers = 2, .limit = {ALL, "its head has two layers"}},
    {.name = "none", .limit = {HF | TORCHVISION | NPZ, "it is a backbone, it has no head"}},
    {.name = "projection",
     .layers = 1,
     .projects = true,
     .limit = {ALL, "it is a backbone, and its features are projected"}},
    {.name = "tanh",
     .layers = 1,
     .squashes = true,
     .limit = {ALL, "its head has a tanh layer before it"}},
    {.name = "cosine",
     .layers = 1,
     .unit = true,
     .limit = {ALL, "its head compares directions, of pictures and of texts"}}};
VIT_CHECK_ROWS(vit_heads, VIT_HEAD_COUNT);

const vit_norm_row vit_norms[] = {{.name = "pre"},
                                  {.name = "post"},
                                  {.name = "res_post", .after = true},
                                  {.name = "parallel", .one = true}};
VIT_CHECK_ROWS(vit_norms, VIT_NORM_COUNT);

const vit_position_row vit_positions[] = {{.name = "learned", .learned = true},
                                          {.name = "sinusoidal", .fixed = true},
                                          {.name = "sincos2d", .fixed = true, .grid = true},
                                          {.name = "sinusoidal_halves", .fixed = true},
                                          {.name = "none"}};
VIT_CHECK_ROWS(vit_positions, VIT_POSITIONS_COUNT);

const vit_rope_row vit_ropes[] = {
    {.name = "none"},
    {.name = "axial", .turns = true, .fixed = true, .scales = true},
    {.name = "centered", .turns = true, .fixed = true, .centered = true},
    {.name = "mixed", .turns = true, .learned = true}};
VIT_CHECK_ROWS(vit_ropes, VIT_ROPE_COUNT);

const vit_relative_row vit_relatives[] = {
    {.name = "none"}, {.name = "blocks", .blocks = true}, {.name = "shared", .shared = true}};
VIT_CHECK_ROWS(vit_relatives, VIT_RELATIVE_COUNT);

static const char *const patch_orders[] = {"conv", "pixel"};
static const char *const attention_scales[] = {"head_dim", "dim"};
static const char *const inits[] = {"timm", "torch"};
VIT_CHECK_ROWS(patch_orders, VIT_PATCH_COUNT);
VIT_CHECK_ROWS(attention_scales, VIT_SCALE_COUNT);
VIT_CHECK_ROWS(inits, VIT_INIT_COUNT);

/* ---- the table ---- */

/* The layouts that cannot express another value than the default, and what is said then. */
#define LACKS(layouts, sentence) .limit = {layouts, sentence}

/* An enum's values, by a table whose rows begin with the name. */
#define CHOICES(table, rows) \
    .names = (const char *const *)(const void *)(table), .stride = sizeof *(table), .count = (rows)
/* Where size_t is unsigned int, as on 32-bit ARM, an enum is of the same type: the names, vit_...
 * and longer than these three, tell them apart. */
#define KIND(type, field)                                                               \
    (sizeof #type > sizeof "double" ? VIT_FIELD_ENUM                                    \
                                    : _Generic(((const vit_stack *)NULL)->field, size_t \
                                               : VIT_FIELD_SIZE, double                 \
                                               : VIT_FIELD_DOUBLE, default              \
                                               : VIT_FIELD_BOOL))
#define SWITCH(type, field, ...) \
    {.key = #field, .kind = KIND(type, field), .offset = offsetof(vit_stack, field), __VA_ARGS__},

const vit_switch vit_switches[] = {
#include "vit/model/switches.inc"
};
VIT_CHECK_ROWS(vit_switches, VIT_KEYS);

static const size_t *size_at(const vit_switch *row, const vit_stack *stack) {
    return (const size_t *)(const void *)((const char *)stack + row->offset);
}

double vit_switch_get(const vit_switch *row, const vit_stack *stack) {
    const void *at = (const char *)stack + row->offset;
    if (row->kind == VIT_FIELD_SIZE) return (double)*size_at(row, stack);
    if (row->kind == VIT_FIELD_DOUBLE) return *(const double *)at;
    return row->kind == VIT_FIELD_BOOL ? *(const bool *)at : *(const unsigned *)at;
}

void vit_switch_set(const vit_switch *row, vit_stack *stack, double value) {
    void *at = (char *)stack + row->offset;
    if (row->kind == VIT_FIELD_SIZE) *(size_t *)at = (size_t)value;
    if (row->kind == VIT_FIELD_DOUBLE) *(double *)at = value;
    if (row->kind == VIT_FIELD_BOOL) *(bool *)at = value > 0;
    if (row->kind == VIT_FIELD_ENUM) *(unsigned *)at = (unsigned)value;
}

const char *vit_switch_name(const vit_switch *row, size_t value) {
    return *(const char *const *)((const char *)row->names + value * row->stride);
}

vit_config vit_config_default(void) {
    vit_config c = {0};
    for (size_t i = 0; i < VIT_KEYS; i++) {
        vit_switch_set(&vit_switches[i], &c.encoder, vit_switches[i].usual);
        vit_switch_set(&vit_switches[i], &c.decoder, vit_switches[i].usual);
    }
    return c;
}

/* ---- which rows a stack has ---- */

enum { MOST_ROWS = 80 };

/* A decoder's keys in the order in which they are written, the first DECODER_ALWAYS always, the
 * others where they differ from the default. */
enum { DECODER_ALWAYS = 12 };
static const size_t decoder_keys[] = {VIT_KEY_dim,
                                      VIT_KEY_depth,
                                      VIT_KEY_heads,
                                      VIT_KEY_mlp,
                                      VIT_KEY_vocabulary,
                                      VIT_KEY_length,
                                      VIT_KEY_start,
                                      VIT_KEY_end,
                                      VIT_KEY_positions,
                                      VIT_KEY_norm,
                                      VIT_KEY_activation,
                                      VIT_KEY_norm_eps,
                                      VIT_KEY_position_offset,
                                      VIT_KEY_padding,
                                      VIT_KEY_scale_embedding,
                                      VIT_KEY_norm_pre,
                                      VIT_KEY_memory_proj,
                                      VIT_KEY_final_norm,
                                      VIT_KEY_tied,
                                      VIT_KEY_head_bias};

typedef struct rows {
    const vit_switch *row[MOST_ROWS];
    size_t count, always; /* the first `always` are written whatever their value */
} rows;

/* Whether the network's encoder has the key. */
static bool is_of(const vit_switch *row, const vit_config *c) {
    switch (row->of) {
    case VIT_OF_NETWORKS:
        return true;
    case VIT_OF_ALL:
        return vit_config_has_encoder(c);
    case VIT_OF_PICTURES:
        return vit_stems[c->stem].pictures;
    case VIT_OF_TEXTS:
        return vit_stems[c->stem].texts;
    case VIT_OF_CLASSES:
        return !vit_config_has_decoder(c);
    case VIT_OF_DECODERS:
    case VIT_OF_NOTHING:
        break;
    }
    return false;
}

static rows encoder_rows(const vit_config *c) {
    rows r = {.count = 0};
    for (int rare = 0; rare < 2; rare++) {
        for (size_t i = 0; i < VIT_KEYS; i++)
            if (vit_switches[i].rare == rare && is_of(&vit_switches[i], c))
                r.row[r.count++] = &vit_switches[i];
        if (!rare) r.always = r.count;
    }
    return r;
}

static rows decoder_rows(void) {
    rows r = {.always = DECODER_ALWAYS};
    for (; r.count < sizeof decoder_keys / sizeof *decoder_keys; r.count++)
        r.row[r.count] = &vit_switches[decoder_keys[r.count]];
    return r;
}

/* ---- ranges ---- */

static vit_status check_size(const vit_switch *row, size_t value, const char *of,
                             vit_error *error) {
    const char *label = row->label ? row->label : row->key;
    if (row->high == 0 || (value >= row->low && value <= row->high)) return VIT_OK;
    if (value == 0 && !*of)
        return vit_fail(error, VIT_ERROR_ARGUMENT, "\"%s\" is missing: expected %zu to %zu", label,
                        row->low, row->high);
    return vit_fail(error, VIT_ERROR_ARGUMENT, "%s\"%s\" is %zu, expected %zu to %zu", of, label,
                    value, row->low, row->high);
}

vit_status vit_switches_check(const vit_config *c, bool decoder, vit_error *error) {
    const rows r = decoder ? decoder_rows() : encoder_rows(c);
    const vit_stack *stack = decoder ? &c->decoder : &c->encoder;
    const char *of = decoder ? "\"decoder\": " : "";
    vit_status status = VIT_OK;
    for (size_t i = 0; i < r.count && status == VIT_OK; i++)
        if (r.row[i]->kind == VIT_FIELD_SIZE)
            status = check_size(r.row[i], *size_at(r.row[i], stack), of, error);
    if (status == VIT_OK && !(stack->norm_eps > 0 && stack->norm_eps < 1))
        status = vit_fail(error, VIT_ERROR_ARGUMENT,
                          "%s\"norm_eps\" is %g, expected between 0 and 1", of, stack->norm_eps);
    return status;
}

/* ---- JSON ---- */

/* A row of a picture's side, which the key "image" holds. */
static bool is_side(const vit_switch *row) {
    return row->label != NULL;
}

/* Keys as vit_json_read takes them. */
typedef struct key_list {
    vit_field fields[MOST_ROWS + 2];
    const char *names[128]; /* those of all enums, each list ended by NULL */
    size_t count, named;
} key_list;

static void add_key(key_list *list, const vit_switch *row, vit_stack *stack) {
    const char **names = list->names + list->named;
    for (size_t i = 0; i < row->count; i++) names[i] = vit_switch_name(row, i);
    list->named += row->count > 0 ? row->count + 1 : 0;
    list->fields[list->count++] =
        (vit_field){row->key, row->kind, (char *)stack + row->offset, names};
}

/* All keys of an encoder, whatever its stem. */
static void add_encoder_keys(key_list *list, vit_stack *stack) {
    *list = (key_list){.fields = {{"image", VIT_FIELD_OTHER, NULL, NULL}}, .count = 1};
    for (size_t i = 0; i < VIT_KEYS; i++) {
        const vit_switch *row = &vit_switches[i];
        if (row->of != VIT_OF_DECODERS && row->of != VIT_OF_NOTHING && !is_side(row))
            add_key(list, row, stack);
    }
    list->fields[list->count++] = (vit_field){"decoder", VIT_FIELD_OTHER, NULL, NULL};
}

size_t vit_config_keys(const char **keys, size_t most) {
    key_list list;
    vit_stack stack = {0};
    add_encoder_keys(&list, &stack);
    for (size_t i = 0; i < list.count && i < most; i++) keys[i] = list.fields[i].key;
    return vit_min(list.count, most);
}

static vit_status read_image(vit_config *config, const json_t *object, const char *name,
                             vit_error *error) {
    const json_t *image = json_object_get(object, "image");
    if (!image) return VIT_OK;
    const json_int_t h = json_integer_value(json_array_get(image, 0));
    const json_int_t w = json_integer_value(json_array_get(image, 1));
    if (json_array_size(image) != 2 || h < 1 || w < 1 || h > 4096 || w > 4096)
        return vit_fail(error, VIT_ERROR_FORMAT,
                        "%s: \"image\" must be [height, width], each 1 to 4096", name);
    config->height = (size_t)h;
    config->width = (size_t)w;
    return VIT_OK;
}

static vit_status read_decoder(vit_config *config, const json_t *object, const char *name,
                               vit_error *error) {
    json_t *part = json_object_get(object, "decoder");
    key_list list = {.count = 0};
    const rows r = decoder_rows();
    if (!part) return VIT_OK;
    if (!json_is_object(part))
        return vit_fail(error, VIT_ERROR_FORMAT, "%s: \"decoder\" must be an object, {...}", name);
    for (size_t i = 0; i < r.count; i++) add_key(&list, r.row[i], &config->decoder);
    const vit_status status = vit_json_read(part, list.fields, list.count, "decoder", error);
    return status == VIT_OK ? status : vit_fail_prefix(error, status, name);
}

vit_status vit_config_read(vit_config *config, const char *json, const char *name,
                           vit_error *error) {
    key_list list;
    json_t *object;
    add_encoder_keys(&list, &config->encoder);
    vit_status status = vit_json_parse(&object, json, strlen(json), name, error);
    if (status != VIT_OK) return status;
    status = vit_json_read(object, list.fields, list.count, name, error);
    if (status == VIT_OK) status = read_image(config, object, name, error);
    if (status == VIT_OK) status = read_decoder(config, object, name, error);
    if (!json_object_get(object, "class_token"))
        config->class_token = !vit_pools[config->pool].patches;
    json_decref(object);
    return status;
}

static void write_value(vit_json_out *json, const vit_switch *row, const vit_stack *stack) {
    const double value = vit_switch_get(row, stack);
    if (row->kind == VIT_FIELD_SIZE) vit_json_count(json, row->key, *size_at(row, stack));
    if (row->kind == VIT_FIELD_DOUBLE) vit_json_number(json, row->key, value);
    if (row->kind == VIT_FIELD_BOOL) vit_json_bool(json, row->key, value > 0);
    if (row->kind == VIT_FIELD_ENUM)
        vit_json_text(json, row->key, vit_switch_name(row, (size_t)value));
}

static void write_rows(vit_json_out *json, const rows *r, const vit_stack *stack) {
    for (size_t i = 0; i < r->count; i++) {
        const vit_switch *row = r->row[i];
        const double usual = row == &vit_switches[VIT_KEY_class_token]
                                 ? !vit_pools[stack->pool].patches
                                 : row->usual;
        if (!is_side(row) && (i < r->always || vit_switch_get(row, stack) != usual))
            write_value(json, row, stack);
    }
}

char *vit_config_write(const vit_config *c) {
    vit_json_out json = {0};
    const rows encoder = encoder_rows(c), decoder = decoder_rows();
    vit_json_open(&json, NULL, '{');
    if (vit_config_takes_pictures(c))
        vit_json_counts(&json, "image", (const size_t[]){c->height, c->width}, 2);
    write_rows(&json, &encoder, &c->encoder);
    if (vit_config_has_decoder(c)) {
        vit_json_open(&json, "decoder", '{');
        write_rows(&json, &decoder, &c->decoder);
        vit_json_close(&json, '}');
    }
    vit_json_close(&json, '}');
    return vit_json_take(&json);
}
