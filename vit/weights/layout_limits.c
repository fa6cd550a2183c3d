#include "vit/weights/layout_limits.h"
#include "vit/base/size.h"

const char *const vit_target_names[] = {"timm", "hf",      "torchvision", "npz",
                                        "onnx", "pytorch", NULL};
VIT_CHECK_ROWS(vit_target_names, VIT_TARGET_COUNT + 1);

enum { TIMM = 1 << VIT_TARGET_TIMM, HF = 1 << VIT_TARGET_HF };
enum { TORCHVISION = 1 << VIT_TARGET_TORCHVISION, NPZ = 1 << VIT_TARGET_NPZ };
enum { ALL = TIMM | HF | TORCHVISION | NPZ };
enum { BUILDS = 1 << 16 }; /* the library can load all tensors but computes something else */

bool vit_layout_limits(vit_text *reasons, vit_target target, const vit_config *c) {
    const bool has_head = c->head != VIT_HEAD_NONE, is_distilled = c->pool == VIT_POOL_CLASS_DIST;
    const bool is_plain = c->registers == 0 && !c->layer_scale && !c->qk_norm && !c->norm_pre &&
                          !c->gated && c->prefix_positions && c->final_norm;
    const struct {
        unsigned targets; /* that cannot express it */
        bool holds;       /* of the network */
        const char *reason;
    } limits[] = {
        {ALL, c->norm != VIT_NORM_PRE, "its blocks have their norms after the sums (post-norm)"},
        {ALL, c->stem != VIT_STEM_LINEAR, "its stem is of convolutions"},
        {ALL, c->patch_norm, "its patches are normed"},
        {ALL, c->positions != VIT_POSITIONS_LEARNED, "its positions are computed, not learned"},
        {ALL, c->head == VIT_HEAD_MLP, "its head has two layers"},
        {ALL, !has_head, "it is a backbone, it has no head"},
        {ALL, has_head && !c->head_bias, "its head has no bias"},
        {ALL | BUILDS, c->attention_scale == VIT_SCALE_DIM && c->heads > 1,
         "its attention is scaled by dim^-0.5, not by that of a head's width"},
        {ALL, vit_config_attention_dim(c) != c->dim,
         "its heads together are not as wide as its tokens"},
        {TIMM | TORCHVISION | NPZ | BUILDS, c->norm_eps != 1e-6,
         "the epsilon of its norms is not 1e-6"},
        {TIMM, c->norm_pre == c->patch_bias,
         "of a norm before the blocks and a bias of the patches it must have one"},
        {HF | TORCHVISION | NPZ, !c->patch_bias, "its patch embedding has no bias"},
        {HF | TORCHVISION | NPZ, c->norm_pre, "it has a norm before its blocks"},
        {HF | TORCHVISION | NPZ, c->registers > 0, "it has register tokens"},
        {HF | TORCHVISION, !c->class_token, "it has no class token"},
        {HF | TORCHVISION | NPZ, !c->prefix_positions && vit_config_prefix(c) > 0,
         "only its patches have positions"},
        {HF | TORCHVISION | NPZ, c->qk_norm, "its queries and keys are normed"},
        {HF | TORCHVISION | NPZ, c->layer_scale, "its branches are scaled (layer scale)"},
        {HF | TORCHVISION | NPZ, c->gated, "its MLPs are gated"},
        {TIMM, c->gated && c->activation != VIT_SILU,
         "its MLPs are gated by another function than SiLU"},
        {TORCHVISION | NPZ, !c->qkv_bias, "its queries, keys and values have no bias"},
        {HF | TORCHVISION | NPZ, !c->final_norm, "it has no final norm"},
        {TORCHVISION | NPZ, is_distilled, "it has a distillation token"},
        {TIMM | HF, is_distilled && !is_plain, "it has a distillation token and is no plain DeiT"},
        {ALL, c->pool == VIT_POOL_SEQ, "it pools its tokens by weights (sequence pooling)"},
        {ALL, c->pool == VIT_POOL_CLASS_MEAN,
         "its head sees both the class token and the mean of the patches"},
        {HF | TORCHVISION, vit_pools[c->pool].patches, "it pools its patches"},
        {NPZ, c->pool == VIT_POOL_MAP, "it pools by attention"},
        {NPZ, c->pool == VIT_POOL_MEAN && !vit_config_norms_tokens(c),
         "its final norm comes after pooling"},
        {TORCHVISION | BUILDS, c->activation != VIT_GELU, "its activation is not GELU"},
        {TORCHVISION, c->height != c->width, "its pictures are not square"},
    };
    bool builds = true;
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        if (!limits[i].holds || !(limits[i].targets & 1u << target)) continue;
        vit_text_add(reasons, "%s%s", reasons->length > 0 ? "; " : "", limits[i].reason);
        builds = builds && limits[i].targets & BUILDS;
    }
    return builds;
}
