/* What the words of an architecture's name say where timm's registry has no such name. */
#include "vit/base/size.h"
#include "vit/base/text.h"
#include "vit/weights/configs/timm_names.h"
#include <stdio.h>
#include <string.h>

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

/* Whether a name may begin with the word. */
static bool is_first(const char *text) {
    static const char *const firsts[] = {"vit", "deit", "deit3", "flexivit", "eva"};
    for (size_t i = 0; i < VIT_COUNT(firsts); i++)
        if (strcmp(text, firsts[i]) == 0) return true;
    return false;
}

/* "vit_base_patch16_224.augreg_in21k"; what follows the dot names the weights. */
static architecture parse_name(const char *name) {
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
        const bool known = i > 0 ? n < sizeof text && read_word(&a, text) : is_first(text);
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

vit_status vit_timm_say_name(vit_their_config *d, const char *name, vit_error *error) {
    const architecture parsed = parse_name(name), *a = &parsed;
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

static void set_triple(double triple[3], double a, double b, double c) {
    triple[0] = a;
    triple[1] = b;
    triple[2] = c;
}

void vit_timm_say_pictures(vit_their_config *d, const char *name) {
    const architecture parsed = parse_name(name), *a = &parsed;
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
