/* What a network is: the numbers and choices from which everything else follows (parameter table,
 * activations, arithmetic). */
#ifndef VIT_MODEL_CONFIG_H
#define VIT_MODEL_CONFIG_H

#include "vit/base/error.h"
#include "vit/ops/activation.h"
#include "vit/ops/patch.h"

typedef enum vit_stem {
    VIT_STEM_LINEAR, /* the patches themselves, one linear layer: the ViT */
    VIT_STEM_CONV,   /* log2(patch) convolutions of 3x3 and stride 2, each with GELU and twice as
                        wide as the one before, the last D wide; then one linear layer */
} vit_stem;

typedef enum vit_attention_scale {
    VIT_SCALE_HEAD_DIM, /* head_dim^-0.5, sqrt(d_k) of the paper */
    VIT_SCALE_DIM,      /* dim^-0.5, the lecture's code */
} vit_attention_scale;

typedef enum vit_norm_place {
    VIT_NORM_PRE,  /* z' = MSA(LN(z)) + z; z_next = MLP(LN(z')) + z': the ViT */
    VIT_NORM_POST, /* h = LN(z + MSA(z)); z_next = LN(h + MLP(h)): the original Transformer */
} vit_norm_place;

typedef enum vit_position_kind {
    VIT_POSITIONS_LEARNED,
    VIT_POSITIONS_SINUSOIDAL, /* one-dimensional, of the original Transformer */
    VIT_POSITIONS_SINCOS2D,   /* half of the features for the row, half for the column */
} vit_position_kind;

typedef enum vit_pool {
    VIT_POOL_CLASS, /* the class token's last state */
    VIT_POOL_MEAN,  /* the mean of the patches' last states; there is no class token */
} vit_pool;

typedef enum vit_head {
    VIT_HEAD_LINEAR, /* Linear(dim, classes) */
    VIT_HEAD_MLP,    /* Linear(dim, mlp), GELU, Linear(mlp, classes) */
} vit_head;

typedef enum vit_init {
    VIT_INIT_TIMM,  /* weights and positions: normal .02, cut at 2 deviations; class token: normal
                       1e-6; biases 0 */
    VIT_INIT_TORCH, /* weights and biases as PyTorch's nn.Linear draws them, uniform
                       +-1/sqrt(fan_in); positions and class token N(0, 1): the lecture */
} vit_init;

typedef struct vit_config {
    size_t height, width, channels; /* the picture, H x W x C */
    size_t patch;                   /* side P; divides height and width */
    size_t dim, depth, heads, mlp;  /* D, L, h, width of the MLP; heads divides dim */
    size_t classes;
    vit_stem stem;
    vit_patch_order patch_order; /* of the linear stem */
    vit_position_kind positions;
    vit_norm_place norm;
    vit_activation activation; /* of the blocks' MLPs */
    bool qkv_bias;
    vit_attention_scale attention_scale;
    double norm_eps;
    bool final_norm; /* layer norm after the last block, or after mean pooling */
    vit_pool pool;
    vit_head head;
    vit_init init;
} vit_config;

/* timm's plain ViT with the sizes left 0. */
vit_config vit_config_default(void);

/* ARGUMENT, naming the value, unless sizes are 1 .. 65,536 (depth to 256, pictures to 4,096 a side,
 * classes to 1,000,000), patch divides the picture, into at most 16,384 patches, heads divides dim,
 * and 4 does where the positions are two-dimensional; a convolutional stem needs a patch of 2, 4,
 * 8, ... whose half divides dim. */
vit_status vit_config_check(const vit_config *config, vit_error *error);

/* JSON object <-> config, the part "model" of a preset and `vit.config` of a model file: {"image":
 * [28, 28], "channels": 1, "patch": 7, "dim": 64, "depth": 6, "heads": 8, "mlp": 128, "classes":
 * 10, "stem": "linear"|"conv", "patch_order": "conv"|"pixel", "positions":
 * "learned"|"sinusoidal"|"sincos2d", "norm": "pre"|"post", "activation": "gelu"|"relu", "qkv_bias":
 * true, "attention_scale": "head_dim"|"dim", "norm_eps": 1e-6, "final_norm": true, "pool":
 * "class"|"mean", "head": "linear"|"mlp", "init": "timm"|"torch"}. docs/presets.md says what each
 * means. What is left out keeps the value in *config; unknown keys are refused with the nearest
 * known one; `name` stands for where the text came from. Reading does not check the result (classes
 * may come later). vit_config_write returns a string freed by vit_free, NULL when there is no
 * memory. */
vit_status vit_config_read(vit_config *config, const char *json, const char *name,
                           vit_error *error);
char *vit_config_write(const vit_config *config);

/* N, and T: N + 1 with a class token. */
size_t vit_config_patches(const vit_config *config);
size_t vit_config_tokens(const vit_config *config);

vit_patch_shape vit_config_patch_shape(const vit_config *config);

/* Convolutions of the stem, 0 for a linear one, and the width of number i. */
#define VIT_MOST_CONVS 12
size_t vit_config_convs(const vit_config *config);
size_t vit_config_conv_width(const vit_config *config, size_t i);

/* Multiply-adds of one picture: stem (linear: N P^2 C D) + L (4 T D^2 + 2 T^2 D + 2 T D M) + head.
 */
size_t vit_config_multiply_adds(const vit_config *config);

#endif
