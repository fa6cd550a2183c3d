/* What a library's config files say of a network, its labels and its preprocessing. */
#include "vit/weights/export/describe.h"
#include "vit/base/size.h"
#include "vit/base/sys.h"
#include "vit/formats/json_out.h"
#include "vit/image/prepare/preprocess.h"
#include "vit/model/layout_bits.h"
#include <math.h>
#include <stdio.h>

/* Appends a sentence to the list, after "; " unless it is the first. */
static void add_sentence(vit_string *list, const char *sentence) {
    vit_string_add(list, "%s%s", list->length > 0 ? "; " : "", sentence);
}

/* What a library's JSON file says: an object with a line a key, and its end. */
static void begin(vit_json_out *json) {
    vit_json_open_lines(json, NULL, '{');
}

static vit_string end(vit_json_out *json) {
    vit_json_close(json, '}');
    vit_string_add(&json->text, "\n");
    return json->text;
}

/* "key": json, which is freed. */
static void add_written(vit_json_out *json, const char *key, char *written) {
    vit_json_raw(json, key, written);
    vit_free(written);
}

static void add_size(vit_json_out *json, const char *key, size_t height, size_t width) {
    vit_json_open(json, key, '{');
    vit_json_count(json, "height", height);
    vit_json_count(json, "width", width);
    vit_json_close(json, '}');
}

/* ---- what a layout cannot express ---- */

/* Whether the switch's value is another than the default, and one of `layouts` lacks it. */
static bool is_lacking(const vit_switch *row, const vit_config *c, unsigned layouts) {
    return row->limit.layouts & layouts && vit_switch_get(row, &c->encoder) != row->usual;
}

/* Whether the network, which has a distillation token, is else one that the library with the fewest
 * switches has. */
static bool is_plain(const vit_config *c) {
    bool plain = c->prefix_positions;
    for (size_t i = 0; i < VIT_KEYS; i++) plain = plain && !is_lacking(&vit_switches[i], c, HF);
    return plain;
}

/* Appends the reasons why the layout cannot express the network. Returns whether the library could
 * still load it and would compute almost the same; true if there are no reasons. */
static bool find_limits(vit_string *reasons, vit_target target, const vit_config *c) {
    const bool has_head = vit_heads[c->head].layers > 0;
    const vit_pool_row *pool = &vit_pools[c->pool];
    const struct {
        bool holds; /* of the network: what several switches make together */
        vit_layout_limit limit;
    } together[] = {
        {true, vit_heads[c->head].limit},
        {true, pool->limit},
        {has_head && !c->head_bias, {ALL, "its head has no bias"}},
        {c->attention_scale != VIT_SCALE_HEAD_DIM && c->heads > 1,
         {ALL | VIT_LOADS, "its attention is scaled by dim^-0.5, not by that of a head's width"}},
        {vit_config_attention_dim(c) != c->dim,
         {ALL, "its heads together are not as wide as its tokens"}},
        {c->norm_pre == c->patch_bias,
         {TIMM, "of a norm before the blocks and a bias of the patches it must have one"}},
        {!c->prefix_positions && vit_config_prefix(c) > 0,
         {HF | TORCHVISION | NPZ, "only its patches have positions"}},
        {c->gated && c->activation != VIT_SILU,
         {TIMM, "its MLPs are gated by another function than SiLU"}},
        {!vit_activations[c->activation].timm, {TIMM, "timm has not its activation"}},
        {!vit_activations[c->activation].hf, {HF, "Hugging Face has not its activation"}},
        {pool->dist && !is_plain(c),
         {TIMM | HF, "it has a distillation token and is no plain DeiT"}},
        {pool->patches, {HF | TORCHVISION, "it pools its patches"}},
        {pool->choice && !pool->attends && !vit_config_norms_tokens(c),
         {NPZ, "its final norm comes after pooling"}},
        {c->height != c->width, {TORCHVISION, "its pictures are not square"}},
    };
    bool loads = true;
    for (size_t i = 0; i < VIT_KEYS + sizeof together / sizeof *together; i++) {
        const bool single = i < VIT_KEYS;
        const vit_layout_limit *limit =
            single ? &vit_switches[i].limit : &together[i - VIT_KEYS].limit;
        const bool holds =
            single ? is_lacking(&vit_switches[i], c, ~0u) : together[i - VIT_KEYS].holds;
        if (!holds || !(limit->layouts & 1u << target)) continue;
        add_sentence(reasons, limit->reason);
        loads = loads && limit->layouts & VIT_LOADS;
    }
    return loads;
}

/* ---- pictures ---- */

/* How pictures are prepared, in the libraries' terms: the shorter side, or both, to `resize`, then
 * the middle, `crop`. */
typedef struct pictures {
    const vit_operation *resize, *crop, *normalize; /* resize, crop NULL: there is none */
    const vit_operation *digit;                     /* NULL: they are not prepared as digits */
    bool turns;                                     /* as EXIF says */
    bool squashes;                                  /* resize does not keep the shape */
    double share;                                   /* of a side that the crop keeps */
} pictures;

/* Finds the operations by their kind. What no library can do is a reason not to write the layout;
 * what libraries leave out, or do before in their own way, is a note. */
static void find_operations(pictures *p, vit_description *d, const vit_preprocessing *list) {
    for (size_t i = 0; i < list->count; i++) {
        const vit_operation *op = &list->operations[i];
        switch (op->kind) {
        case VIT_OP_DIGIT:
            p->digit = op;
            add_sentence(&d->notes, "its library does not prepare pictures as digits, with "
                                    "what is \"preprocessing\" in config.json");
            break;
        case VIT_OP_ORIENT:
            p->turns = true;
            break;
        case VIT_OP_COMPOSITE:
            add_sentence(&d->notes, "its library does not put transparent pictures on a "
                                    "background");
            break;
        case VIT_OP_RESIZE:
            if (p->resize || p->crop)
                add_sentence(&d->reasons, "pictures are resized twice, or after cropping");
            p->resize = op;
            break;
        case VIT_OP_CENTER_CROP:
            if (p->crop) add_sentence(&d->reasons, "pictures are cropped twice");
            p->crop = op;
            break;
        case VIT_OP_CROP:
            add_sentence(&d->reasons, "of its pictures the upper left part is cut out");
            break;
        case VIT_OP_NORMALIZE:
            p->normalize = op;
            break;
        case VIT_OP_GREY:
            add_sentence(&d->notes, "its library does not make pictures grey");
            break;
        case VIT_OP_RGB:
            break;
        }
    }
}

/* timm's crop_pct: the size of the crop as a share of what it is cut from. */
static double share_of(const pictures *p, const vit_config *c) {
    const vit_operation *r = p->resize;
    if (!r || !p->crop) return 1;
    if (r->crop_share > 0) return r->crop_share;
    const double whole = (double)(r->shorter > 0 ? r->shorter : r->height);
    const double share = (double)c->height / whole;
    return floor((double)c->height / share) < whole ? nextafter(share, 0) : share;
}

/* Whether timm's two steps, resizing to floor(size / share) and cropping, lead to the same
 * pictures. */
static bool has_share(const pictures *p, const vit_config *c) {
    const vit_operation *r = p->resize;
    const double height = floor((double)c->height / p->share);
    const double width = floor((double)c->width / p->share);
    if (r->shorter > 0) return (double)r->shorter == height && c->height == c->width;
    return (double)r->height == height && (double)r->width == width;
}

/* Of Hugging Face's processors on Pillow, on torchvision, and there in floating point: how they
 * find the middle of an odd number, and how their names end. */
static const vit_rounding hf_rounding[] = {VIT_ROUNDING_FLOOR, VIT_ROUNDING_ZERO,
                                           VIT_ROUNDING_ZERO};
static const char *const hf_endings[] = {"", "Fast", "Fast"};
VIT_CHECK_ROWS(hf_rounding, VIT_ARITHMETIC_COUNT);
VIT_CHECK_ROWS(hf_endings, VIT_ARITHMETIC_COUNT);

/* Whether the library turns pictures as EXIF says where it reads them from files. */
static const bool turns_pictures[] = {
    [VIT_TARGET_TIMM] = false, [VIT_TARGET_HF] = true,    [VIT_TARGET_TORCHVISION] = false,
    [VIT_TARGET_NPZ] = false,  [VIT_TARGET_ONNX] = false, [VIT_TARGET_PYTORCH] = false,
};
VIT_CHECK_ROWS(turns_pictures, VIT_TARGET_COUNT);

/* Finds *p, and adds to d->reasons and d->notes what the library cannot do, or does otherwise. */
static void find_pictures(pictures *p, vit_description *d, vit_target target,
                          const vit_model_file *m) {
    const vit_config *c = &m->config;
    *p = (pictures){0};
    find_operations(p, d, &m->preprocessing);
    if (p->turns != turns_pictures[target])
        add_sentence(&d->notes, p->turns ? "its library does not turn pictures as EXIF says"
                                         : "its library's pipeline() turns pictures as EXIF says");
    p->share = share_of(p, c);
    p->squashes = p->resize && p->resize->shorter == 0 && p->resize->fit == VIT_FIT_STRETCH;
    if (!p->resize || (p->crop && (p->crop->height != c->height || p->crop->width != c->width))) {
        if (!p->digit)
            add_sentence(&d->reasons, "pictures are not resized to what the network takes");
        return;
    }
    bool crops_elsewhere = p->crop && p->crop->rounding != VIT_ROUNDING_EVEN;
    bool rounds_otherwise = p->resize->arithmetic != VIT_ARITHMETIC_PILLOW;
    switch (target) {
    case VIT_TARGET_HF:
        if (p->resize->fit != VIT_FIT_STRETCH)
            add_sentence(&d->reasons, "pictures are fitted without being squashed");
        crops_elsewhere = p->crop && p->crop->rounding != hf_rounding[p->resize->arithmetic];
        rounds_otherwise = false;
        break;
    case VIT_TARGET_TORCHVISION:
        if (p->resize->shorter == 0 || !p->crop)
            add_sentence(&d->reasons, "pictures are not resized by their shorter side and cropped");
        crops_elsewhere = false;
        break;
    case VIT_TARGET_TIMM:
    case VIT_TARGET_NPZ:
    case VIT_TARGET_ONNX:
    case VIT_TARGET_PYTORCH:
    case VIT_TARGET_COUNT:
        if (!has_share(p, c))
            add_sentence(&d->reasons,
                         "pictures are cropped from a size that timm's crop_pct does not give");
        break;
    }
    if (crops_elsewhere)
        add_sentence(&d->notes, "the middle of an odd number of pixels may be one pixel off");
    if (rounds_otherwise)
        add_sentence(&d->notes, "its library resizes with Pillow, which rounds otherwise");
}

/* Our own list of operations, where the library's words cannot express all of it. */
static void add_own_pictures(vit_json_out *json, const vit_description *d,
                             const vit_model_file *m) {
    if (d->reasons.length > 0 || d->notes.length > 0)
        add_written(json, "preprocessing", vit_preprocessing_write(&m->preprocessing));
}

/* Both lists have a number a channel. */
static void add_normalize(vit_json_out *json, const pictures *p, const vit_config *c,
                          const char *mean, const char *std) {
    vit_json_floats(json, mean, p->normalize->mean, c->channels);
    vit_json_floats(json, std, p->normalize->std, c->channels);
}

/* ---- Hugging Face: ViT and DeiT ---- */

/* The numbers that the filters have in PIL. */
static const unsigned filters[] = {
    [VIT_FILTER_NEAREST] = 0, [VIT_FILTER_LANCZOS] = 1, [VIT_FILTER_BILINEAR] = 2,
    [VIT_FILTER_BICUBIC] = 3, [VIT_FILTER_BOX] = 4,     [VIT_FILTER_HAMMING] = 5,
};
VIT_CHECK_ROWS(filters, VIT_FILTER_COUNT);

void vit_describe_rounded(vit_json_out *json, const char *ignore) {
    static const char *const targets[] = {"Linear"};
    vit_json_open(json, "quantization_config", '{');
    vit_json_text(json, "quant_method", "compressed-tensors");
    vit_json_text(json, "format", "int-quantized");
    vit_json_text(json, "quantization_status", "compressed");
    vit_json_raw(json, "ignore", ignore);
    vit_json_open(json, "config_groups", '{');
    vit_json_open(json, "group_0", '{');
    vit_json_texts(json, "targets", targets, 1);
    for (int activations = 0; activations < 2; activations++) {
        vit_json_open(json, activations ? "input_activations" : "weights", '{');
        vit_json_count(json, "num_bits", 8);
        vit_json_text(json, "type", "int");
        vit_json_bool(json, "symmetric", true);
        vit_json_text(json, "strategy", activations ? "token" : "channel");
        vit_json_bool(json, "dynamic", activations);
        vit_json_close(json, '}');
    }
    vit_json_close(json, '}');
    vit_json_close(json, '}');
    vit_json_close(json, '}');
}

static void add_config(vit_description *d, const vit_model_file *m, vit_dtype dtype) {
    vit_json_out json = {0};
    const vit_config *c = &m->config;
    const bool is_distilled = vit_pools[c->pool].dist;
    const char *const class =
        is_distilled ? "DeiTForImageClassificationWithTeacher" : "ViTForImageClassification";
    const char *const problem_types[] = {
        [VIT_SCORING_SIGMOID] = "multi_label_classification", [VIT_SCORING_NONE] = "regression"};
    VIT_CHECK_ROWS(problem_types, VIT_SCORING_COUNT);
    begin(&json);
    vit_json_texts(&json, "architectures", &class, 1);
    vit_json_text(&json, "model_type", is_distilled ? "deit" : "vit");
    vit_json_count(&json, "hidden_size", c->dim);
    vit_json_count(&json, "num_hidden_layers", c->depth);
    vit_json_count(&json, "num_attention_heads", c->heads);
    vit_json_count(&json, "intermediate_size", c->mlp);
    vit_json_text(&json, "hidden_act", vit_activations[c->activation].hf);
    vit_json_number(&json, "layer_norm_eps", c->norm_eps);
    vit_json_raw(&json, "hidden_dropout_prob", "0.0");
    vit_json_raw(&json, "attention_probs_dropout_prob", "0.0");
    if (c->height == c->width)
        vit_json_count(&json, "image_size", c->height);
    else
        vit_json_counts(&json, "image_size", (const size_t[]){c->height, c->width}, 2);
    vit_json_count(&json, "patch_size", c->patch);
    vit_json_count(&json, "num_channels", c->channels);
    vit_json_bool(&json, "qkv_bias", c->qkv_bias);
    if (problem_types[m->scoring]) vit_json_text(&json, "problem_type", problem_types[m->scoring]);
    vit_json_open(&json, "id2label", '{'); /* no "label2id": two classes may have the same name */
    for (size_t i = 0; i < c->classes; i++) {
        char number[32], name[32];
        snprintf(number, sizeof number, "%zu", i);
        snprintf(name, sizeof name, "LABEL_%zu", i);
        vit_json_text(&json, number, m->labels ? m->labels[i] : name);
    }
    vit_json_close(&json, '}');
    if (dtype == VIT_I8)
        vit_describe_rounded(&json, is_distilled
                                        ? "[\"cls_classifier\", \"distillation_classifier\"]"
                                        : "[\"classifier\"]");
    add_own_pictures(&json, d, m);
    d->config = end(&json);
}

/* ViT's processor only squashes pictures, DeiT's squashes and crops, BiT's keeps the shape and
 * crops; DINOv3's resizes in floating point. */
static void add_resize(vit_json_out *json, const pictures *p, const vit_config *c) {
    const vit_operation all = {.height = c->height, .width = c->width};
    const vit_operation *r = p->resize ? p->resize : &all;
    const bool is_shorter = r->shorter > 0, crops = p->crop;
    char name[64];
    snprintf(name, sizeof name, "%sImageProcessor%s",
             r->arithmetic == VIT_ARITHMETIC_FLOAT ? "DINOv3ViT"
             : is_shorter                          ? "Bit"
             : crops                               ? "DeiT"
                                                   : "ViT",
             hf_endings[r->arithmetic]);
    vit_json_text(json, "image_processor_type", name);
    vit_json_bool(json, "do_resize", true);
    if (is_shorter) {
        vit_json_open(json, "size", '{');
        vit_json_count(json, "shortest_edge", r->shorter);
        vit_json_close(json, '}');
    } else {
        add_size(json, "size", r->height, r->width);
    }
    vit_json_count(json, "resample", filters[r->filter]);
    if (crops) {
        vit_json_bool(json, "do_center_crop", true);
        add_size(json, "crop_size", c->height, c->width);
    }
}

/* config.json and preprocessor_config.json */
static void describe_hf(vit_description *d, const vit_model_file *m, vit_dtype dtype,
                        const pictures *p) {
    vit_json_out json = {0};
    const vit_operation *n = p->normalize;
    add_config(d, m, dtype);
    begin(&json);
    add_resize(&json, p, &m->config);
    vit_json_bool(&json, "do_rescale", true);
    vit_json_number(&json, "rescale_factor", n->rescale > 0 ? n->rescale : 1 / 255.0);
    vit_json_bool(&json, "do_normalize", true);
    add_normalize(&json, p, &m->config, "image_mean", "image_std");
    d->processor = end(&json);
    if (p->resize && p->resize->arithmetic == VIT_ARITHMETIC_PILLOW)
        add_sentence(&d->notes,
                     "transformers resizes with torchvision unless told otherwise, which changes "
                     "probabilities by about .001; as here it answers with the processor of "
                     "AutoImageProcessor.from_pretrained(DIR, backend=\"pil\"), in version 4 with "
                     "use_fast=False");
}

/* ---- timm and torchvision ---- */

/* The architecture's name decides which class of network and of MLP timm builds; the arguments
 * decide all else. */
static const char *architecture(const vit_config *c) {
    if (vit_pools[c->pool].dist) return "deit_base_distilled_patch16_224";
    return c->gated ? "vit_giant_patch14_dinov2" : "vit_base_patch16_224";
}

/* timm's word; what it lacks is among the reasons. */
static const char *pool_name(const vit_config *c) {
    return vit_pools[c->pool].timm ? vit_pools[c->pool].timm : vit_pools[c->pool].name;
}

/* The ratio from which timm computes the MLP's width again, as int(dim * ratio). */
static double mlp_ratio(const vit_config *c) {
    const size_t hidden = vit_config_hidden(c);
    double ratio = (double)hidden / (double)c->dim;
    if ((size_t)((double)c->dim * ratio) < hidden) ratio *= 1 + 0x1p-52;
    return ratio;
}

static void add_timm_arguments(vit_json_out *json, const vit_config *c) {
    vit_json_open_lines(json, "model_args", '{');
    vit_json_counts(json, "img_size", (const size_t[]){c->height, c->width}, 2);
    vit_json_count(json, "patch_size", c->patch);
    vit_json_count(json, "in_chans", c->channels);
    vit_json_count(json, "embed_dim", c->dim);
    vit_json_count(json, "depth", c->depth);
    vit_json_count(json, "num_heads", c->heads);
    vit_json_number(json, "mlp_ratio", mlp_ratio(c));
    vit_json_bool(json, "qkv_bias", c->qkv_bias);
    if (!vit_pools[c->pool].dist) {
        vit_json_text(json, "global_pool", pool_name(c));
        vit_json_bool(json, "class_token", c->class_token);
        if (vit_pools[c->pool].choice) vit_json_bool(json, "fc_norm", !vit_config_norms_tokens(c));
        vit_json_raw(json, "init_values", c->layer_scale ? "1e-05" : "null");
    }
    if (!c->prefix_positions) vit_json_bool(json, "no_embed_class", true);
    for (size_t i = 0; i < VIT_KEYS; i++) {
        const vit_switch *row = &vit_switches[i];
        const bool written = !row->rare || i == VIT_KEY_class_token;
        const double value = vit_switch_get(row, &c->encoder);
        if (written || !row->timm || row->timm[0] == '!' || value == row->usual) continue;
        if (row->kind == VIT_FIELD_BOOL)
            vit_json_bool(json, row->timm, value > 0);
        else
            vit_json_number(json, row->timm, value);
    }
    if (!c->final_norm) vit_json_bool(json, "final_norm", false);
    if (c->activation != (c->gated ? VIT_SILU : VIT_GELU))
        vit_json_text(json, "act_layer", vit_activations[c->activation].timm);
    vit_json_close(json, '}');
}

static const char *crop_mode(const pictures *p) {
    static const char *const modes[] = {"center", "center", "border"}; /* of each vit_fit */
    VIT_CHECK_ROWS(modes, VIT_FIT_COUNT);
    return p->squashes ? "squash" : modes[p->resize ? p->resize->fit : VIT_FIT_STRETCH];
}

/* 0: a backbone. */
static size_t timm_classes(const vit_config *c) {
    return vit_config_has_head(c) ? c->classes : 0;
}

static void add_timm_pictures(vit_json_out *json, const vit_config *c, const pictures *p) {
    vit_json_open_lines(json, "pretrained_cfg", '{');
    vit_json_counts(json, "input_size", (const size_t[]){c->channels, c->height, c->width}, 3);
    vit_json_bool(json, "fixed_input_size", true);
    if (p->resize) {
        vit_json_text(json, "interpolation", vit_filter_names[p->resize->filter]);
        vit_json_number(json, "crop_pct", p->share);
        vit_json_text(json, "crop_mode", crop_mode(p));
    }
    add_normalize(json, p, c, "mean", "std");
    vit_json_count(json, "num_classes", timm_classes(c));
    vit_json_text(json, "first_conv", "patch_embed.proj");
    if (vit_pools[c->pool].dist)
        vit_json_texts(json, "classifier", (const char *const[]){"head", "head_dist"}, 2);
    else
        vit_json_text(json, "classifier", "head");
    vit_json_close(json, '}');
}

/* The end of both libraries' config.json. */
static void add_labels(vit_description *d, vit_json_out *json, const vit_model_file *m) {
    if (m->labels) add_written(json, "label_names", vit_model_file_labels(m));
    add_own_pictures(json, d, m);
    d->config = end(json);
}

/* config.json with "architecture", "model_args" and "pretrained_cfg" */
static void describe_timm(vit_description *d, const vit_model_file *m, const pictures *p) {
    vit_json_out json = {0};
    const vit_config *c = &m->config;
    begin(&json);
    vit_json_text(&json, "architecture", architecture(c));
    vit_json_count(&json, "num_classes", timm_classes(c));
    vit_json_count(&json, "num_features", c->dim);
    vit_json_text(&json, "global_pool", pool_name(c));
    add_timm_arguments(&json, c);
    add_timm_pictures(&json, c, p);
    add_labels(d, &json, m);
}

/* torchvision has no config of its own; this is the one that vit_read_torchvision_config reads. */
static void describe_torchvision(vit_description *d, const vit_model_file *m, const pictures *p) {
    vit_json_out json = {0};
    const vit_config *c = &m->config;
    const vit_operation *r = p->resize;
    begin(&json);
    vit_json_text(&json, "architecture", "torchvision");
    vit_json_count(&json, "num_heads", c->heads);
    if (r) {
        vit_json_count(&json, "resize", r->shorter > 0 ? r->shorter : r->height);
        vit_json_count(&json, "crop", c->height);
        vit_json_text(&json, "interpolation", vit_filter_names[r->filter]);
    }
    add_normalize(&json, p, c, "mean", "std");
    add_labels(d, &json, m);
}

/* ---- a PyTorch class of our own ---- */

extern const char
    *const vit_pytorch_model[]; /* vit/weights/export/pytorch_model.py, line by line */

/* config.json in our own form, and model.py */
static void describe_pytorch(vit_description *d, const vit_model_file *m) {
    vit_json_out json = {0};
    begin(&json);
    add_written(&json, "model", vit_config_write(&m->config));
    add_written(&json, "preprocessing", vit_preprocessing_write(&m->preprocessing));
    if (m->labels) add_written(&json, "labels", vit_model_file_labels(m));
    d->config = end(&json);
    for (size_t i = 0; vit_pytorch_model[i]; i++)
        vit_string_add(&d->module, "%s", vit_pytorch_model[i]);
}

/* ---- the whole ---- */

vit_status vit_describe(vit_description *d, vit_target target, const vit_model_file *m,
                        vit_dtype dtype, vit_error *error) {
    pictures p;
    *d = (vit_description){0};
    d->builds = find_limits(&d->reasons, target, &m->config);
    if (m->scoring != VIT_SCORING_SOFTMAX && target != VIT_TARGET_HF)
        add_sentence(&d->notes,
                     "its library does not know that the classes' scores are no softmax");
    switch (target) {
    case VIT_TARGET_TIMM:
    case VIT_TARGET_NPZ:
        find_pictures(&p, d, target, m);
        describe_timm(d, m, &p);
        break;
    case VIT_TARGET_HF:
        find_pictures(&p, d, target, m);
        describe_hf(d, m, dtype, &p);
        break;
    case VIT_TARGET_TORCHVISION:
        find_pictures(&p, d, target, m);
        describe_torchvision(d, m, &p);
        break;
    case VIT_TARGET_PYTORCH:
        describe_pytorch(d, m);
        break;
    case VIT_TARGET_ONNX: /* one file, which onnx.c writes */
    case VIT_TARGET_COUNT:
        break;
    }
    if (!d->config.failed && !d->processor.failed && !d->module.failed && !d->reasons.failed &&
        !d->notes.failed)
        return VIT_OK;
    vit_description_clear(d);
    return vit_fail_memory(error, "the description of a network", 0);
}

void vit_description_clear(vit_description *d) {
    vit_string_free(&d->config);
    vit_string_free(&d->processor);
    vit_string_free(&d->module);
    vit_string_free(&d->reasons);
    vit_string_free(&d->notes);
}
