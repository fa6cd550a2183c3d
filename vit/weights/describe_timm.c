/* timm: config.json with "architecture", "model_args" and "pretrained_cfg"; torchvision, which has
 * no config of its own: what vit_declare_torchvision reads. A part of describe.c. */
#include "vit/image/prepare/preprocess.h"
#include "vit/weights/describe.h"

#include <string.h>

static const char *truth(bool value) {
    return value ? "true" : "false";
}

/* The constructor's name decides the class of the MLP and of the network; the arguments all else.
 */
static const char *architecture(const vit_config *c) {
    if (c->pool == VIT_POOL_CLASS_DIST) return "deit_base_distilled_patch16_224";
    return c->gated ? "vit_giant_patch14_dinov2" : "vit_base_patch16_224";
}

static const char *pool_name(const vit_config *c) {
    return c->pool == VIT_POOL_MEAN ? "avg" : c->pool == VIT_POOL_MAP ? "map" : "token";
}

/* A ratio of which timm makes the width again: int(dim * ratio). */
static double mlp_ratio(const vit_config *c) {
    const size_t hidden = vit_config_hidden(c);
    double ratio = (double)hidden / (double)c->dim;
    if ((size_t)((double)c->dim * ratio) < hidden) ratio *= 1 + 0x1p-52;
    return ratio;
}

static void add_arguments(vit_text *t, const vit_config *c) {
    char number[32];
    vit_text_add(t, "  \"model_args\": {\n    \"img_size\": [%zu, %zu],\n", c->height, c->width);
    vit_text_add(t, "    \"patch_size\": %zu,\n    \"in_chans\": %zu,\n", c->patch, c->channels);
    vit_text_add(t, "    \"embed_dim\": %zu,\n    \"depth\": %zu,\n    \"num_heads\": %zu,\n",
                 c->dim, c->depth, c->heads);
    vit_text_add(t, "    \"mlp_ratio\": %s,\n", vit_format_double(number, mlp_ratio(c)));
    vit_text_add(t, "    \"qkv_bias\": %s", truth(c->qkv_bias));
    if (c->pool != VIT_POOL_CLASS_DIST) {
        vit_text_add(t, ",\n    \"global_pool\": \"%s\",\n    \"class_token\": %s", pool_name(c),
                     truth(c->class_token));
        if (c->pool != VIT_POOL_CLASS)
            vit_text_add(t, ",\n    \"fc_norm\": %s", truth(!vit_config_norms_tokens(c)));
        vit_text_add(t, ",\n    \"init_values\": %s", c->layer_scale ? "1e-05" : "null");
    }
    if (!c->prefix_positions) vit_text_add(t, ",\n    \"no_embed_class\": true");
    if (c->registers > 0) vit_text_add(t, ",\n    \"reg_tokens\": %zu", c->registers);
    if (c->norm_pre) vit_text_add(t, ",\n    \"pre_norm\": true");
    if (c->qk_norm) vit_text_add(t, ",\n    \"qk_norm\": true");
    if (!c->final_norm) vit_text_add(t, ",\n    \"final_norm\": false");
    if (c->pool_prefix) vit_text_add(t, ",\n    \"pool_include_prefix\": true");
    if (c->activation != (c->gated ? VIT_SILU : VIT_GELU))
        vit_text_add(t, ",\n    \"act_layer\": \"%s\"", vit_activations[c->activation].timm);
    vit_text_add(t, "\n  },\n");
}

static const char *crop_mode(const vit_described_pictures *p) {
    if (p->squashes) return "squash";
    return p->resize && p->resize->fit == VIT_FIT_CONTAIN ? "border" : "center";
}

static void add_pictures(vit_text *t, const vit_config *c, const vit_described_pictures *p) {
    char number[32];
    const vit_operation *n = p->normalize;
    vit_text_add(t, "  \"pretrained_cfg\": {\n    \"input_size\": [%zu, %zu, %zu],\n", c->channels,
                 c->height, c->width);
    vit_text_add(t, "    \"fixed_input_size\": true,\n");
    if (p->resize) {
        vit_text_add(t, "    \"interpolation\": \"%s\",\n", vit_filter_names[p->resize->filter]);
        vit_text_add(t, "    \"crop_pct\": %s,\n    \"crop_mode\": \"%s\",\n",
                     vit_format_double(number, p->share), crop_mode(p));
    }
    vit_text_add(t, "    \"mean\": ");
    vit_describe_numbers(t, n->mean, c->channels);
    vit_text_add(t, ",\n    \"std\": ");
    vit_describe_numbers(t, n->std, c->channels);
    vit_text_add(t, ",\n    \"num_classes\": %zu,\n    \"first_conv\": \"patch_embed.proj\",\n",
                 c->classes);
    vit_text_add(t, "    \"classifier\": %s\n  }",
                 c->pool == VIT_POOL_CLASS_DIST ? "[\"head\", \"head_dist\"]" : "\"head\"");
}

static void add_labels(vit_text *t, const vit_model_file *m) {
    if (!m->labels) return;
    vit_text_add(t, ",\n  \"label_names\": ");
    vit_describe_labels(t, m);
}

void vit_describe_timm(vit_description *d, const vit_model_file *m,
                       const vit_described_pictures *p) {
    vit_text *t = &d->config;
    const vit_config *c = &m->config;
    vit_text_add(t, "{\n  \"architecture\": \"%s\",\n  \"num_classes\": %zu,\n", architecture(c),
                 c->classes);
    vit_text_add(t, "  \"num_features\": %zu,\n  \"global_pool\": \"%s\",\n", c->dim, pool_name(c));
    add_arguments(t, c);
    add_pictures(t, c, p);
    add_labels(t, m);
    vit_describe_own(t, d, m);
    vit_text_add(t, "\n}\n");
}

void vit_describe_torchvision(vit_description *d, const vit_model_file *m,
                              const vit_described_pictures *p) {
    vit_text *t = &d->config;
    const vit_config *c = &m->config;
    vit_text_add(t, "{\n  \"architecture\": \"torchvision\",\n  \"num_heads\": %zu,\n", c->heads);
    if (p->resize) {
        vit_text_add(t, "  \"resize\": %zu,\n  \"crop\": %zu,\n",
                     p->resize->shorter > 0 ? p->resize->shorter : p->resize->height, c->height);
        vit_text_add(t, "  \"interpolation\": \"%s\",\n", vit_filter_names[p->resize->filter]);
    }
    vit_text_add(t, "  \"mean\": ");
    vit_describe_numbers(t, p->normalize->mean, c->channels);
    vit_text_add(t, ",\n  \"std\": ");
    vit_describe_numbers(t, p->normalize->std, c->channels);
    add_labels(t, m);
    vit_describe_own(t, d, m);
    vit_text_add(t, "\n}\n");
}
