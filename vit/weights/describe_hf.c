/* Hugging Face: config.json of ViT and DeiT, and preprocessor_config.json. A part of
 * describe.c. */
#include "vit/base/size.h"
#include "vit/image/prepare/preprocess.h"
#include "vit/weights/describe.h"

/* PIL's numbers. */
static const unsigned filters[] = {
    [VIT_FILTER_NEAREST] = 0, [VIT_FILTER_LANCZOS] = 1, [VIT_FILTER_BILINEAR] = 2,
    [VIT_FILTER_BICUBIC] = 3, [VIT_FILTER_BOX] = 4,     [VIT_FILTER_HAMMING] = 5,
};
VIT_CHECK_ROWS(filters, VIT_FILTER_COUNT);

/* A number, or [height, width]. */
static void add_image_size(vit_text *t, const vit_config *c) {
    if (c->height == c->width)
        vit_text_add(t, "  \"image_size\": %zu,\n", c->height);
    else
        vit_text_add(t, "  \"image_size\": [%zu, %zu],\n", c->height, c->width);
}

static void add_label(vit_text *t, const vit_model_file *m, size_t i) {
    if (m->labels)
        vit_text_add_json(t, m->labels[i]);
    else
        vit_text_add(t, "\"LABEL_%zu\"", i);
}

/* Only this direction: labels may be there twice. */
static void add_labels(vit_text *t, const vit_model_file *m) {
    vit_text_add(t, "  \"id2label\": {");
    for (size_t i = 0; i < m->config.classes; i++) {
        vit_text_add(t, "%s\"%zu\": ", i > 0 ? ", " : "", i);
        add_label(t, m, i);
    }
    vit_text_add(t, "}");
}

static void add_config(vit_description *d, const vit_model_file *m) {
    vit_text *t = &d->config;
    const vit_config *c = &m->config;
    const bool is_distilled = c->pool == VIT_POOL_CLASS_DIST;
    char number[32];
    vit_text_add(t, "{\n  \"architectures\": [\"%s\"],\n  \"model_type\": \"%s\",\n",
                 is_distilled ? "DeiTForImageClassificationWithTeacher"
                              : "ViTForImageClassification",
                 is_distilled ? "deit" : "vit");
    vit_text_add(t, "  \"hidden_size\": %zu,\n  \"num_hidden_layers\": %zu,\n", c->dim, c->depth);
    vit_text_add(t, "  \"num_attention_heads\": %zu,\n  \"intermediate_size\": %zu,\n", c->heads,
                 c->mlp);
    vit_text_add(t, "  \"hidden_act\": \"%s\",\n  \"layer_norm_eps\": %s,\n",
                 vit_activations[c->activation].hf, vit_format_double(number, c->norm_eps));
    vit_text_add(t, "  \"hidden_dropout_prob\": 0.0,\n  \"attention_probs_dropout_prob\": 0.0,\n");
    add_image_size(t, c);
    vit_text_add(t, "  \"patch_size\": %zu,\n  \"num_channels\": %zu,\n  \"qkv_bias\": %s,\n",
                 c->patch, c->channels, c->qkv_bias ? "true" : "false");
    add_labels(t, m);
    vit_describe_own(t, d, m);
    vit_text_add(t, "\n}\n");
}

/* ViT's processor only squashes, DeiT's also crops, BiT's keeps the shape and crops. */
static void add_resize(vit_text *t, const vit_described_pictures *p, const vit_config *c) {
    const vit_operation all = {.height = c->height, .width = c->width};
    const vit_operation *r = p->resize ? p->resize : &all;
    const bool is_shorter = r->shorter > 0, crops = p->crop;
    const char *name = is_shorter ? "BitImageProcessor"
                       : crops    ? "DeiTImageProcessor"
                                  : "ViTImageProcessor";
    vit_text_add(t, "  \"image_processor_type\": \"%s%s\",\n  \"do_resize\": true,\n", name,
                 r->arithmetic == VIT_ARITHMETIC_TORCH ? "Fast" : "");
    if (is_shorter)
        vit_text_add(t, "  \"size\": {\"shortest_edge\": %zu},\n", r->shorter);
    else
        vit_text_add(t, "  \"size\": {\"height\": %zu, \"width\": %zu},\n", r->height, r->width);
    vit_text_add(t, "  \"resample\": %u,\n", filters[r->filter]);
    if (crops)
        vit_text_add(t,
                     "  \"do_center_crop\": true,\n"
                     "  \"crop_size\": {\"height\": %zu, \"width\": %zu},\n",
                     c->height, c->width);
}

static void add_processor(vit_text *t, const vit_model_file *m, const vit_described_pictures *p) {
    char number[32];
    const vit_operation *n = p->normalize;
    vit_text_add(t, "{\n");
    add_resize(t, p, &m->config);
    vit_text_add(t, "  \"do_rescale\": true,\n  \"rescale_factor\": %s,\n",
                 vit_format_double(number, n->rescale > 0 ? n->rescale : 1 / 255.0));
    vit_text_add(t, "  \"do_normalize\": true,\n  \"image_mean\": ");
    vit_describe_numbers(t, n->mean, m->config.channels);
    vit_text_add(t, ",\n  \"image_std\": ");
    vit_describe_numbers(t, n->std, m->config.channels);
    vit_text_add(t, "\n}\n");
}

void vit_describe_hf(vit_description *d, const vit_model_file *m, const vit_described_pictures *p) {
    add_config(d, m);
    add_processor(&d->processor, m, p);
}
