/* timm: config.json with "architecture", "model_args" and "pretrained_cfg". */
#include "vit/base/size.h"
#include "vit/base/sys.h"
#include "vit/base/text.h"
#include "vit/weights/configs/timm_names.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- what a name says ---- */

static bool is_among(const char *key, const char *const *names, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (strcmp(key, names[i]) == 0) return true;
    return false;
}

/* The words for sizes in names of architectures. */
static const struct {
    const char *word;
    size_t dim, depth, heads;
} sizes[] = {{"wee", 256, 14, 4},        {"tiny", 192, 12, 3},     {"little", 320, 14, 5},
             {"small", 384, 12, 6},      {"medium", 512, 12, 8},   {"betwixt", 640, 12, 10},
             {"base", 768, 12, 12},      {"large", 1024, 24, 16},  {"huge", 1280, 32, 16},
             {"giant", 1408, 40, 16},    {"xsmall", 256, 10, 4},   {"mediumd", 512, 20, 8},
             {"gigantic", 1664, 48, 16}, {"so400m", 1152, 27, 16}, {"giantopt", 1536, 40, 16},
             {"so150m", 896, 18, 14},    {"so150m2", 832, 21, 13}, {"intern300m", 1024, 24, 16}};

/* Other words in these names; apply_name has what they mean. */
typedef enum word {
    WORD_DISTILLED,
    WORD_DINOV2,
    WORD_CLIP,
    WORD_QUICKGELU,
    WORD_SIGLIP,
    WORD_GAP,
    WORD_REGISTERS,
    WORD_TIPSV2,
    WORD_PLUS,
    WORD_DINO,
    /* they change nothing */
    WORD_MIIL,
    WORD_SAM,
    WORD_IN21K,
    WORD_LAION2B,
    WORD_IN21FT1K,
    WORD_MAP,
    WORD_RADIO,
    WORD_V3,
    WORD_V4,
    WORD_36X1,
    WORDS,
} word;
static const char *const words[] = {"distilled", "dinov2", "clip",   "quickgelu", "siglip",
                                    "gap",       "reg",    "tipsv2", "plus",      "dino",
                                    "miil",      "sam",    "in21k",  "laion2b",   "in21ft1k",
                                    "map",       "radio",  "v3",     "v4",        "36x1"};
VIT_CHECK_ROWS(words, WORDS);

/* Words of other networks, some with a plain one's tensors, and what these networks have. */
static const struct {
    const char *word, *has;
} others[] = {{"rope", "rotary positions"},
              {"pe", "rotary positions"},
              {"dinov3", "rotary positions"},
              {"lingbot", "rotary positions"},
              {"sapiens2", "rotary positions"},
              {"eva02", "rotary positions"},
              {"eva", "blocks of EVA's"},
              {"beit", "relative positions"},
              {"beitv2", "relative positions"},
              {"relpos", "relative positions"},
              {"srelpos", "relative positions"},
              {"samvit", "windows and relative positions"},
              {"swin", "windows and merged patches"},
              {"swinv2", "windows and merged patches"},
              {"naflexvit", "patches of any number"},
              {"aimv2", "RMS norms"},
              {"beit3", "norms within attention and MLP"},
              {"rpn", "norms after its branches"},
              {"18x2", "parallel blocks"},
              {"xp", "parallel blocks"},
              {"pwee", "parallel blocks"},
              {"dpwee", "differential attention"},
              {"dwee", "differential attention"},
              {"dlittle", "differential attention"},
              {"r", "a stem of convolutions"},
              {"r26", "a stem of convolutions"},
              {"r50", "a stem of convolutions"},
              {"resnet26d", "a stem of convolutions"},
              {"resnet50", "a stem of convolutions"},
              {"resnet50d", "a stem of convolutions"},
              {"mci", "a stem of convolutions"}};

typedef struct architecture {
    const char *name;
    bool known;        /* all its words are */
    char unknown[32];  /* the first one that is not */
    const char *other; /* what it has that a plain one has not, or NULL */
    bool is_deit, is_flexible;
    bool has[WORDS];
    size_t size; /* index, or SIZE_MAX */
    size_t patch, image, registers;
} architecture;

/* "patch16" -> 16; false: text is not the prefix and a number. */
static bool numbered(size_t *number, const char *text, const char *prefix) {
    const size_t n = strlen(prefix);
    uint64_t value;
    if (strncmp(text, prefix, n) != 0 || !vit_parse_u64(text + n, &value) || value > 4096)
        return false;
    *number = (size_t)value;
    return true;
}

static bool read_word(architecture *a, const char *text) {
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        if (strcmp(text, sizes[i].word) == 0) {
            a->size = i;
            return true;
        }
    for (size_t i = 0; i < WORDS; i++)
        if (strcmp(text, words[i]) == 0) return a->has[i] = true;
    if (numbered(&a->patch, text, "patch") || numbered(&a->image, text, "")) return true;
    a->has[WORD_REGISTERS] = a->has[WORD_REGISTERS] || numbered(&a->registers, text, "reg");
    return a->registers > 0;
}

/* "vit_base_patch16_224.augreg_in21k"; what follows the dot names the weights. */
static architecture parse_name(const char *name) {
    static const char *const firsts[] = {"vit", "deit", "deit3", "flexivit", "eva"};
    architecture a = {.name = name, .size = SIZE_MAX};
    const char *at = name, *end = name + strcspn(name, ".");
    const bool is_plain_eva = strncmp(name, "eva_large_patch14_", 18) == 0;
    a.is_flexible = strncmp(name, "flexivit_", 9) == 0;
    if (a.is_flexible) a.patch = 16;
    for (size_t i = 0; at < end; i++) {
        char text[32];
        const size_t n = strcspn(at, "_.");
        snprintf(text, sizeof text, "%.*s", (int)vit_min(n, sizeof text - 1), at);
        for (size_t k = 0; k < VIT_COUNT(others) && !a.other && !is_plain_eva; k++)
            if (strcmp(text, others[k].word) == 0) a.other = others[k].has;
        if (i == 0) a.is_deit = strncmp(text, "deit", 4) == 0;
        const bool known = i > 0 ? n < sizeof text && read_word(&a, text)
                                 : is_among(text, firsts, VIT_COUNT(firsts));
        if ((!known && a.unknown[0] == '\0') || a.other) memcpy(a.unknown, text, sizeof text);
        if (a.other) break;
        at += n + (at + n < end);
    }
    a.known = a.unknown[0] == '\0' && a.size != SIZE_MAX && a.patch > 0;
    return a;
}

/* What the architecture's constructor in timm sets. */
static void apply_name(vit_their_config *d, const architecture *a) {
    const char *size = sizes[a->size].word;
    const bool is_giant = strcmp(size, "giant") == 0, is_base = strcmp(size, "base") == 0;
    const bool is_dino = a->has[WORD_DINOV2] || a->has[WORD_TIPSV2];
    d->said.dim = sizes[a->size].dim;
    d->said.depth = sizes[a->size].depth;
    d->said.heads = sizes[a->size].heads;
    d->said.patch = a->patch;
    d->said.height = d->said.width = a->image > 0          ? a->image
                                     : a->has[WORD_DINOV2] ? 518
                                     : a->is_flexible      ? 240
                                                           : 224;
    VIT_SAY(d, activation, VIT_GELU);
    if (a->is_flexible) VIT_SAY(d, prefix_positions, false);
    if (is_dino) d->gate = VIT_SILU;
    if (a->has[WORD_PLUS]) { /* of the base size only */
        d->said.dim = 896;
        d->said.heads = 14;
    }
    if (is_dino && is_giant) {
        d->said.dim = 1536;
        d->said.heads = 24;
    }
    if (a->has[WORD_CLIP]) d->said.norm_eps = 1e-5;
    if (a->has[WORD_QUICKGELU]) VIT_SAY(d, activation, VIT_GELU_QUICK);
    if (a->has[WORD_SIGLIP]) {
        VIT_SAY(d, pool, VIT_POOL_MAP);
        if (a->patch == 32 || (strcmp(size, "large") == 0 && a->image == 512) ||
            strcmp(size, "giantopt") == 0 || (strcmp(size, "so400m") == 0 && a->patch == 16))
            VIT_SAY(d, activation, VIT_GELU_TANH);
    }
    if (!a->has[WORD_GAP] && !(a->has[WORD_REGISTERS] && !is_dino)) return;
    VIT_SAY(d, pool, VIT_POOL_MEAN);
    if (a->has[WORD_REGISTERS] && strcmp(size, "so150m") != 0) return;
    VIT_SAY(d, norm_before_pool, true);
    if (is_base && !a->has[WORD_SIGLIP]) d->said.heads = 16;
}

/* ---- model_args ---- */

/* Arguments that change nothing in evaluation. */
static const char *const idle[] = {"drop_rate",       "pos_drop_rate",  "patch_drop_rate",
                                   "proj_drop_rate",  "attn_drop_rate", "drop_path_rate",
                                   "weight_init",     "fix_init",       "dynamic_img_size",
                                   "strict_img_size", "use_naflex",     "dynamic_img_pad"};
/* Arguments of which only this value is supported. */
static const struct {
    const char *key;
    bool only;
} fixed[] = {{"proj_bias", true}};

/* Arguments that are read below, besides those of vit_switches. */
static const char *const used[] = {"img_size",    "patch_size", "global_pool", "mlp_ratio",
                                   "pos_embed",   "act_layer",  "norm_layer",  "mlp_layer",
                                   "init_values", "pool_heads"};

/* All arguments that are read; returns how many. */
static size_t list_used(const char *names[VIT_COUNT(used) + VIT_KEYS]) {
    size_t count = VIT_COUNT(used);
    memcpy(names, used, sizeof used);
    for (size_t i = 0; i < VIT_KEYS; i++)
        if (vit_switches[i].timm)
            names[count++] = vit_switches[i].timm + (vit_switches[i].timm[0] == '!');
    return count;
}

/* An argument that is not known: of the config, or of the architecture's name. */
static vit_status strange(const vit_their_config *d, const char *key, const json_t *value,
                          const json_t *own, const char *near, vit_error *error) {
    if (own && json_object_get(own, key))
        return vit_fail(error, VIT_ERROR_UNSUPPORTED,
                        "%s: the argument \"%s\" in \"model_args\" is not supported%s%s%s", d->name,
                        key, near ? "; did you mean \"" : "", near ? near : "", near ? "\"?" : "");
    char *text = json_dumps(value, JSON_ENCODE_ANY);
    const vit_status status =
        vit_fail(error, VIT_ERROR_UNSUPPORTED,
                 "%s: the architecture that is named there has \"%s\" %.60s, which is not "
                 "supported",
                 d->name, key, text ? text : "");
    free(text);
    return status;
}

/* args: all of them; own: those that the config itself has. */
static vit_status check_arguments(const vit_their_config *d, json_t *args, const json_t *own,
                                  vit_error *error) {
    const char *key, *names[VIT_COUNT(used) + VIT_KEYS];
    const size_t count = list_used(names);
    json_t *value;
    json_object_foreach(args, key, value) {
        size_t i = 0;
        if (json_is_null(value) || is_among(key, idle, VIT_COUNT(idle)) ||
            is_among(key, names, count))
            continue;
        while (i < VIT_COUNT(fixed) && strcmp(fixed[i].key, key) != 0) i++;
        if (i < VIT_COUNT(fixed) && json_is_boolean(value) && json_is_true(value) == fixed[i].only)
            continue;
        if (i < VIT_COUNT(fixed) && json_object_get(own, key))
            return vit_fail(error, VIT_ERROR_UNSUPPORTED,
                            "%s: of \"%s\" in \"model_args\" only %s is supported", d->name, key,
                            fixed[i].only ? "true" : "false");
        return strange(d, key, value, own, vit_nearest(key, names, count), error);
    }
    return VIT_OK;
}

static vit_status read_numbers(vit_their_config *d, const json_t *args, vit_error *error) {
    double ratio = 0, init_values = 0;
    vit_status status = vit_read_image(d, args, "img_size", error);
    if (status == VIT_OK) status = vit_read_patch(d, args, "patch_size", error);
    for (size_t i = 0; i < VIT_KEYS && status == VIT_OK; i++)
        if (vit_switches[i].timm)
            status = vit_read_switch(d, &vit_switches[i], args, vit_switches[i].timm, error);
    if (status == VIT_OK) status = vit_read_number(&ratio, d, args, "mlp_ratio", error);
    if (status == VIT_OK) status = vit_read_number(&init_values, d, args, "init_values", error);
    if (status != VIT_OK) return status;
    status = vit_read_size(&d->said.pool_heads, d, args, "pool_heads", error);
    if (status != VIT_OK) return status;
    if (init_values > 0) VIT_SAY(d, layer_scale, true);
    if (!json_is_number(json_object_get(args, "mlp_ratio"))) return VIT_OK;
    if (!(ratio > 0 && ratio < 1000))
        return vit_fail(error, VIT_ERROR_FORMAT,
                        "%s: \"mlp_ratio\" is %g, expected above 0 to 1000", d->name, ratio);
    /* of a gated MLP this is both halves; its tensors show the width */
    d->said.mlp = (size_t)((double)d->said.dim * ratio);
    return VIT_OK;
}

static vit_status unsupported(const vit_their_config *d, const char *key, const char *value,
                              const char *expected, vit_error *error) {
    return vit_fail(error, VIT_ERROR_UNSUPPORTED, "%s: \"%s\" \"%s\" is not supported, expected %s",
                    d->name, key, value, expected);
}

/* The first pooling that has the word. */
static vit_status set_pool(vit_their_config *d, const char *pool, vit_error *error) {
    if (!pool) return VIT_OK;
    size_t i = 0;
    while (i < VIT_POOL_COUNT && !(vit_pools[i].timm && strcmp(vit_pools[i].timm, pool) == 0)) i++;
    if (i == VIT_POOL_COUNT) return unsupported(d, "global_pool", pool, "token, avg or map", error);
    VIT_SAY(d, pool, (vit_pool)i);
    return VIT_OK;
}

static vit_status read_words(vit_their_config *d, const json_t *args, vit_error *error) {
    const char *pool = NULL, *act = NULL, *norm = NULL, *mlp = NULL, *positions = NULL;
    const struct {
        const char *key;
        const char **text;
    } texts[] = {{"global_pool", &pool},
                 {"act_layer", &act},
                 {"norm_layer", &norm},
                 {"mlp_layer", &mlp},
                 {"pos_embed", &positions}};
    vit_status status = VIT_OK;
    for (size_t i = 0; i < VIT_COUNT(texts) && status == VIT_OK; i++)
        status = vit_read_text(texts[i].text, d, args, texts[i].key, error);
    if (status == VIT_OK) status = set_pool(d, pool, error);
    if (status == VIT_OK) status = vit_read_activation(d, act, "act_layer", error);
    if (status != VIT_OK) return status;
    if (norm && strcmp(norm, "layernorm") != 0 && strcmp(norm, "LayerNorm") != 0 &&
        strcmp(norm, "layernormfp32") != 0)
        return unsupported(d, "norm_layer", norm, "layernorm", error);
    if (norm) d->said.norm_eps = 1e-6;
    if (positions && strcmp(positions, "learn") != 0)
        return unsupported(d, "pos_embed", positions, "learn", error);
    const bool is_gated = mlp && (strcmp(mlp, "swiglu") == 0 || strcmp(mlp, "swiglupacked") == 0 ||
                                  strcmp(mlp, "SwiGLU") == 0 || strcmp(mlp, "SwiGLUPacked") == 0);
    if (mlp && !is_gated && strcmp(mlp, "mlp") != 0 && strcmp(mlp, "Mlp") != 0)
        return unsupported(d, "mlp_layer", mlp, "Mlp or SwiGLUPacked", error);
    if (is_gated) d->gate = VIT_SILU;
    if (mlp) VIT_SAY(d, gated, is_gated);
    if (act) d->gate = (int)d->said.activation;
    return VIT_OK;
}

/* ---- pretrained_cfg ---- */

static vit_status set_mode(vit_their_config *d, const char *mode, vit_error *error) {
    if (!mode) return VIT_OK;
    if (strcmp(mode, "center") == 0)
        d->prepare.kind = VIT_PREPARE_CENTER;
    else if (strcmp(mode, "squash") == 0)
        d->prepare.kind = VIT_PREPARE_SQUASH;
    else if (strcmp(mode, "border") == 0)
        d->prepare.kind = VIT_PREPARE_BORDER;
    else
        return unsupported(d, "crop_mode", mode, "center, squash or border", error);
    return VIT_OK;
}

/* "input_size" is the network's size unless the arguments have one. If they do, and the network
 * takes pictures of any size, it is the size of prepared pictures. */
static vit_status read_input_size(vit_their_config *d, const json_t *cfg, const json_t *args,
                                  vit_error *error) {
    const json_t *size = json_object_get(cfg, "input_size"),
                 *image = json_object_get(args, "img_size");
    size_t n[3];
    if (!size || json_is_null(size)) return VIT_OK;
    for (size_t i = 0; i < 3; i++) {
        const json_int_t value = json_integer_value(json_array_get(size, i));
        if (json_array_size(size) != 3 || value < 1 || value > 4096)
            return vit_fail(error, VIT_ERROR_FORMAT,
                            "%s: \"input_size\" must be [channels, height, width]", d->name);
        n[i] = (size_t)value;
    }
    if (d->said.channels == 0) d->said.channels = n[0];
    const bool has_image = image && !json_is_null(image);
    if (!has_image) {
        d->said.height = n[1];
        d->said.width = n[2];
    } else if (json_is_true(json_object_get(args, "dynamic_img_size"))) {
        d->input_height = n[1];
        d->input_width = n[2];
    }
    return VIT_OK;
}

static vit_status read_pictures(vit_their_config *d, const json_t *cfg, vit_error *error) {
    vit_prepare *p = &d->prepare;
    bool has_mean, has_std;
    const char *interpolation = NULL, *mode = NULL;
    vit_status status = vit_read_triple(p->mean, &has_mean, d, cfg, "mean", error);
    if (status == VIT_OK) status = vit_read_triple(p->std, &has_std, d, cfg, "std", error);
    if (status == VIT_OK) status = vit_read_number(&p->share, d, cfg, "crop_pct", error);
    if (status == VIT_OK) status = vit_read_text(&interpolation, d, cfg, "interpolation", error);
    if (status == VIT_OK) status = vit_read_text(&mode, d, cfg, "crop_mode", error);
    if (status == VIT_OK) status = set_mode(d, mode, error);
    if (status != VIT_OK) return status;
    if (has_mean != has_std)
        return vit_fail(error, VIT_ERROR_FORMAT,
                        "%s: of \"mean\" and \"std\" only one is given, expected both", d->name);
    p->has_mean = p->has_mean || has_mean;
    if (p->kind == VIT_PREPARE_UNKNOWN && p->share > 0) p->kind = VIT_PREPARE_CENTER;
    if (interpolation && !vit_filter_parse(interpolation, &p->filter))
        return unsupported(d, "interpolation", interpolation, "bicubic, bilinear, lanczos, ...",
                           error);
    if (!(p->share > 0 && p->share <= 1) && p->kind != VIT_PREPARE_UNKNOWN)
        return vit_fail(error, VIT_ERROR_FORMAT, "%s: \"crop_pct\" is %g, expected above 0 to 1",
                        d->name, p->share);
    return VIT_OK;
}

static void set_triple(double triple[3], double a, double b, double c) {
    triple[0] = a;
    triple[1] = b;
    triple[2] = c;
}

/* How timm prepares pictures for weights of that name, unless the config says otherwise. */
static void apply_family(vit_their_config *d, const architecture *a) {
    vit_prepare *p = &d->prepare;
    p->has_mean = true;
    p->kind = VIT_PREPARE_CENTER;
    p->filter = VIT_FILTER_BICUBIC;
    p->share = d->said.height >= 384 ? 1.0 : 0.9;
    if (a->has[WORD_CLIP]) {
        set_triple(p->mean, .48145466, .4578275, .40821073);
        set_triple(p->std, .26862954, .26130258, .27577711);
    } else if (a->is_deit || a->has[WORD_DINOV2] || a->has[WORD_DINO]) {
        set_triple(p->mean, .485, .456, .406);
        set_triple(p->std, .229, .224, .225);
    } else {
        set_triple(p->mean, .5, .5, .5);
        set_triple(p->std, .5, .5, .5);
    }
}

static vit_status read_name(vit_their_config *d, architecture *a, const json_t *object,
                            vit_error *error) {
    const char *name = NULL;
    const vit_status status = vit_read_text(&name, d, object, "architecture", error);
    if (status != VIT_OK) return status;
    *a = parse_name(name ? name : "");
    if (a->known) apply_name(d, a);
    if (a->known) return VIT_OK;
    /* beside its tensors, what a network computes follows from its name alone */
    if (a->other)
        return vit_fail(error, VIT_ERROR_UNSUPPORTED,
                        "%s: the architecture \"%s\" has %s (\"%s\"), which is not supported",
                        d->name, a->name, a->other, a->unknown);
    if (a->unknown[0])
        return vit_fail(
            error, VIT_ERROR_UNSUPPORTED,
            "%s: the architecture \"%s\" is not supported: \"%s\" is a word for no plain "
            "Vision Transformer of timm's that is known",
            d->name, a->name, a->unknown);
    return vit_fail(error, VIT_ERROR_UNSUPPORTED,
                    "%s: the architecture \"%s\" does not have a size and a patch, as "
                    "\"vit_base_patch16_224\" has",
                    d->name, a->name);
}

/* What the classes have that are not read here. */
static const struct {
    const char *name, *has;
} classes[] = {{"VisionTransformer", NULL},
               {"VisionTransformerDistilled", NULL},
               {"Eva", NULL},
               {"Beit", NULL},
               {"VisionTransformerRelPos", "relative positions of another kind than BEiT's"}};

/* The arguments of a name in timm's registry, those of the config before them. `named` is what
 * vit_timm_find found; *all is owned. */
static vit_status merge(json_t **all, vit_their_config *d, const json_t *named,
                        const json_t *object, json_t *own, vit_error *error) {
    const char *class = json_string_value(json_object_get(named, "class"));
    json_t *args = json_object_get(named, "args");
    size_t i = 0;
    while (i + 1 < VIT_COUNT(classes) && strcmp(classes[i].name, class) != 0) i++;
    if (classes[i].has)
        return vit_fail(error, VIT_ERROR_UNSUPPORTED,
                        "%s: the architecture \"%s\" has %s, which is not supported", d->name,
                        json_string_value(json_object_get(object, "architecture")), classes[i].has);
    VIT_SAY(d, activation, VIT_GELU);
    vit_status status = vit_read_number(&d->said.norm_eps, d, args, "norm_eps", error);
    json_object_del(args, "norm_eps");
    const char *norm = json_string_value(json_object_get(args, "norm_layer"));
    if (norm && strcmp(norm, "LayerNorm") == 0) json_object_del(args, "norm_layer");
    if (json_object_get(object, "global_pool")) json_object_del(args, "global_pool");
    *all = own ? json_deep_copy(own) : json_object();
    if (!*all || json_object_update_missing(*all, args) != 0)
        return vit_fail_memory(error, "arguments", 0);
    if (status == VIT_OK && (strcmp(class, "Eva") == 0 || strcmp(class, "Beit") == 0))
        status = vit_timm_translate_eva(d, *all, error);
    return status;
}

/* What the architecture's name says, by timm's registry or by its words; a->known: by its words.
 * *all: all arguments, owned. */
static vit_status read_architecture(json_t **all, vit_their_config *d, architecture *a,
                                    const json_t *object, json_t *own, vit_error *error) {
    const char *name = "";
    json_t *named = NULL;
    vit_status status = vit_read_text(&name, d, object, "architecture", error);
    if (status == VIT_OK) status = vit_timm_find(&named, name, error);
    if (status != VIT_OK) return status;
    if (!named) {
        status = read_name(d, a, object, error);
        if (own) *all = json_incref(own);
        return status;
    }
    const json_t *cfg = json_object_get(named, "cfg");
    d->prepare.kind = VIT_PREPARE_UNKNOWN;
    if (!strchr(name, '.')) status = read_input_size(d, cfg, NULL, error);
    if (status == VIT_OK && !strchr(name, '.')) status = read_pictures(d, cfg, error);
    if (status == VIT_OK) status = merge(all, d, named, object, own, error);
    json_decref(named);
    return status;
}

static bool says_zero(const json_t *object, const char *key) {
    const json_t *value = json_object_get(object, key);
    return json_is_integer(value) && json_integer_value(value) == 0;
}

/* Whether one of the names says that the weights were last trained on ImageNet-1k, like
 * "vit_base_patch16_224.augreg2_in21k_ft_in1k". */
static bool names_imagenet(const json_t *object) {
    static const char *const keys[] = {"architecture", "tag", "hf_hub_id", "url", "file"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        const char *text = json_string_value(json_object_get(object, keys[i]));
        if (text && (strstr(text, "in1k") || strstr(text, "imagenet"))) return true;
    }
    return false;
}

/* ---- TimmWrapper ---- */

static const char wrapper[] = "timm_wrapper";

bool vit_is_timm_wrapper(const json_t *object) {
    const char *type = json_string_value(json_object_get(object, "model_type"));
    return type && strcmp(type, wrapper) == 0;
}

/* What Hugging Face's class has besides timm's network: files are read by its load_image(). */
static vit_status read_wrapper(vit_their_config *d, const json_t *object, vit_error *error) {
    const json_t *names = json_object_get(object, "architectures");
    const char *name = json_string_value(json_array_get(names, 0));
    d->prepare.turns = true;
    if (!name || strcmp(name, "TimmWrapperModel") != 0) return vit_read_problem(d, object, error);
    d->is_backbone = true;
    d->said.classes = 0;
    return VIT_OK;
}

/* ---- the whole ---- */

vit_status vit_read_timm_config(vit_their_config *d, json_t *object, vit_error *error) {
    /* older configs have the keys of "pretrained_cfg" themselves */
    json_t *args = NULL, *cfg = object;
    const json_t *labels = json_object_get(object, "label_names");
    const char *pool = NULL;
    json_t *all = NULL;
    architecture a = {0};
    d->said.norm_eps = 1e-6;
    d->prepare.filter = VIT_FILTER_BICUBIC;
    vit_status status = vit_read_object(&args, d, object, "model_args", error);
    if (status == VIT_OK) status = vit_read_object(&cfg, d, object, "pretrained_cfg", error);
    if (!labels) labels = json_object_get(cfg, "label_names");
    if (!labels) labels = json_object_get(object, "labels"); /* until 2022 */
    if (status == VIT_OK) status = read_architecture(&all, d, &a, object, args, error);
    if (status == VIT_OK) status = vit_read_text(&pool, d, object, "global_pool", error);
    if (status == VIT_OK) status = set_pool(d, pool, error);
    if (status == VIT_OK) status = read_input_size(d, cfg, all, error);
    if (status == VIT_OK) status = vit_read_size(&d->said.classes, d, object, "num_classes", error);
    if (status == VIT_OK) status = check_arguments(d, all, args, error);
    if (status == VIT_OK) status = read_numbers(d, all, error);
    if (status == VIT_OK) status = read_words(d, all, error);
    json_decref(all);
    if (status != VIT_OK) return status;
    d->is_backbone = says_zero(args, "num_classes") ||
                     (!json_object_get(args, "num_classes") && says_zero(object, "num_classes"));
    if (a.known) apply_family(d, &a);
    const vit_pool_row *row = &vit_pools[d->said.pool];
    if (row->choice && !row->attends && !d->given[VIT_KEY_norm_before_pool])
        VIT_SAY(d, norm_before_pool, false);
    status = read_pictures(d, cfg, error);
    if (status == VIT_OK && vit_is_timm_wrapper(object)) status = read_wrapper(d, object, error);
    if (status != VIT_OK || d->is_backbone) return status;
    d->is_imagenet = names_imagenet(object) || names_imagenet(cfg);
    return vit_read_labels(d, labels, "label_names", error);
}
