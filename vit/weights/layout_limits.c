#include "vit/weights/layout_limits.h"
#include "vit/base/size.h"

const char *const vit_target_names[] = {"timm", "hf",      "torchvision", "npz",
                                        "onnx", "pytorch", NULL};
VIT_CHECK_ROWS(vit_target_names, VIT_TARGET_COUNT + 1);

enum { TIMM = 1 << VIT_TARGET_TIMM, HF = 1 << VIT_TARGET_HF };
enum { TORCHVISION = 1 << VIT_TARGET_TORCHVISION, NPZ = 1 << VIT_TARGET_NPZ };
enum { ALL = TIMM | HF | TORCHVISION | NPZ };
enum { BUILDS = 1 << 16 }; /* the library has all tensors, and computes somewhat otherwise */

/* Each is true of a network that has what the reason says. */
static bool is_post_norm(const vit_config *c) {
    return c->norm != VIT_NORM_PRE;
}

static bool has_conv_stem(const vit_config *c) {
    return c->stem != VIT_STEM_LINEAR;
}

static bool has_patch_norm(const vit_config *c) {
    return c->patch_norm;
}

static bool has_fixed_positions(const vit_config *c) {
    return c->positions != VIT_POSITIONS_LEARNED;
}

static bool has_deep_head(const vit_config *c) {
    return c->head == VIT_HEAD_MLP;
}

static bool lacks_head(const vit_config *c) {
    return c->head == VIT_HEAD_NONE;
}

static bool lacks_head_bias(const vit_config *c) {
    return !c->head_bias && !lacks_head(c);
}

static bool scales_by_dim(const vit_config *c) {
    return c->attention_scale == VIT_SCALE_DIM && c->heads > 1;
}

static bool has_odd_heads(const vit_config *c) {
    return vit_config_attention_dim(c) != c->dim;
}

static bool has_other_epsilon(const vit_config *c) {
    return c->norm_eps != 1e-6;
}

static bool lacks_patch_bias(const vit_config *c) {
    return !c->patch_bias;
}

/* In timm the one takes the place of the other. */
static bool has_norm_pre_and_bias(const vit_config *c) {
    return c->norm_pre == c->patch_bias;
}

static bool has_norm_pre(const vit_config *c) {
    return c->norm_pre;
}

static bool has_registers(const vit_config *c) {
    return c->registers > 0;
}

static bool lacks_class_token(const vit_config *c) {
    return !c->class_token;
}

static bool has_patch_positions(const vit_config *c) {
    return !c->prefix_positions && vit_config_prefix(c) > 0;
}

static bool has_qk_norm(const vit_config *c) {
    return c->qk_norm;
}

static bool has_layer_scale(const vit_config *c) {
    return c->layer_scale;
}

static bool is_gated(const vit_config *c) {
    return c->gated;
}

/* The one gated MLP that a name of timm's stands for. */
static bool is_gated_otherwise(const vit_config *c) {
    return c->gated && c->activation != VIT_SILU;
}

static bool lacks_qkv_bias(const vit_config *c) {
    return !c->qkv_bias;
}

static bool lacks_final_norm(const vit_config *c) {
    return !c->final_norm;
}

static bool is_distilled(const vit_config *c) {
    return c->pool == VIT_POOL_CLASS_DIST;
}

static bool is_distilled_otherwise(const vit_config *c) {
    return is_distilled(c) && (c->registers > 0 || c->layer_scale || c->qk_norm || c->norm_pre ||
                               c->gated || !c->prefix_positions || !c->final_norm);
}

static bool pools_patches(const vit_config *c) {
    return vit_config_pools_patches(c);
}

static bool pools_twice(const vit_config *c) {
    return c->pool == VIT_POOL_CLASS_MEAN;
}

static bool pools_by_weights(const vit_config *c) {
    return c->pool == VIT_POOL_SEQ;
}

static bool pools_by_attention(const vit_config *c) {
    return c->pool == VIT_POOL_MAP;
}

static bool norms_after_pool(const vit_config *c) {
    return c->pool == VIT_POOL_MEAN && !vit_config_norms_tokens(c);
}

static bool is_not_gelu(const vit_config *c) {
    return c->activation != VIT_GELU;
}

static bool is_not_square(const vit_config *c) {
    return c->height != c->width;
}

static const struct {
    unsigned targets;
    bool (*holds)(const vit_config *);
    const char *reason;
} limits[] = {
    {ALL, is_post_norm, "its blocks have their norms after the sums (post-norm)"},
    {ALL, has_conv_stem, "its stem is of convolutions"},
    {ALL, has_patch_norm, "its patches are normed"},
    {ALL, has_fixed_positions, "its positions are computed, not learned"},
    {ALL, has_deep_head, "its head has two layers"},
    {ALL, lacks_head, "it is a backbone, it has no head"},
    {ALL, lacks_head_bias, "its head has no bias"},
    {ALL | BUILDS, scales_by_dim,
     "its attention is scaled by dim^-0.5, not by that of a head's width"},
    {ALL, has_odd_heads, "its heads together are not as wide as its tokens"},
    {TIMM | TORCHVISION | NPZ | BUILDS, has_other_epsilon, "the epsilon of its norms is not 1e-6"},
    {TIMM, has_norm_pre_and_bias,
     "of a norm before the blocks and a bias of the patches it must "
     "have one"},
    {HF | TORCHVISION | NPZ, lacks_patch_bias, "its patch embedding has no bias"},
    {HF | TORCHVISION | NPZ, has_norm_pre, "it has a norm before its blocks"},
    {HF | TORCHVISION | NPZ, has_registers, "it has register tokens"},
    {HF | TORCHVISION, lacks_class_token, "it has no class token"},
    {HF | TORCHVISION | NPZ, has_patch_positions, "only its patches have positions"},
    {HF | TORCHVISION | NPZ, has_qk_norm, "its queries and keys are normed"},
    {HF | TORCHVISION | NPZ, has_layer_scale, "its branches are scaled (layer scale)"},
    {HF | TORCHVISION | NPZ, is_gated, "its MLPs are gated"},
    {TIMM, is_gated_otherwise, "its MLPs are gated by another function than SiLU"},
    {TORCHVISION | NPZ, lacks_qkv_bias, "its queries, keys and values have no bias"},
    {HF | TORCHVISION | NPZ, lacks_final_norm, "it has no final norm"},
    {TORCHVISION | NPZ, is_distilled, "it has a distillation token"},
    {TIMM | HF, is_distilled_otherwise, "it has a distillation token and is no plain DeiT"},
    {ALL, pools_by_weights, "it pools its tokens by weights (sequence pooling)"},
    {ALL, pools_twice, "its head sees both the class token and the mean of the patches"},
    {HF | TORCHVISION, pools_patches, "it pools its patches"},
    {NPZ, pools_by_attention, "it pools by attention"},
    {NPZ, norms_after_pool, "its final norm comes after pooling"},
    {TORCHVISION | BUILDS, is_not_gelu, "its activation is not GELU"},
    {TORCHVISION, is_not_square, "its pictures are not square"},
};

bool vit_layout_limits(vit_text *reasons, vit_target target, const vit_config *config) {
    bool builds = true;
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++)
        if (limits[i].targets & 1u << target && limits[i].holds(config)) {
            vit_text_add(reasons, "%s%s", reasons->length > 0 ? "; " : "", limits[i].reason);
            builds = builds && limits[i].targets & BUILDS;
        }
    return builds;
}
