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
    VIT_STEM_CCT,    /* the convolutional tokenizer of compact transformers (Hassani et al.):
                        log2(patch) convolutions of 3x3 and stride 1 without bias, twice as wide as
                        the one before, the last D wide, each with ReLU and max pooling */
    VIT_STEM_TOKENS, /* no picture but a text: a row of a table for each id */
    VIT_STEM_NONE,   /* no encoder at all: a decoder alone, which is a language model */
    VIT_STEM_COUNT,
} vit_stem;

typedef enum vit_attention_scale {
    VIT_SCALE_HEAD_DIM, /* head_dim^-0.5, sqrt(d_k) of the paper */
    VIT_SCALE_DIM,      /* dim^-0.5, the lecture's code */
    VIT_SCALE_COUNT,
} vit_attention_scale;

typedef enum vit_norm_place {
    VIT_NORM_PRE,  /* z' = MSA(LN(z)) + z; z_next = MLP(LN(z')) + z': the ViT */
    VIT_NORM_POST, /* h = LN(z + MSA(z)); z_next = LN(h + MLP(h)): the original Transformer */
    VIT_NORM_COUNT,
} vit_norm_place;

typedef enum vit_position_kind {
    VIT_POSITIONS_LEARNED,
    VIT_POSITIONS_SINUSOIDAL,        /* one-dimensional, of the original Transformer */
    VIT_POSITIONS_SINCOS2D,          /* half of the features for the row, half for the column */
    VIT_POSITIONS_SINUSOIDAL_HALVES, /* of texts, as tensor2tensor and fairseq have them: all sines,
                                        then all cosines, pos / 10000^(i / (D / 2 - 1)) */
    VIT_POSITIONS_COUNT,
} vit_position_kind;

/* What the head sees, of the tokens' last states. */
typedef enum vit_pool {
    VIT_POOL_CLASS, /* the class token's */
    VIT_POOL_MEAN,  /* the mean of the patches' */
    VIT_POOL_MAP,   /* a learned query's attention over the patches, and an MLP: timm's "map" */
    VIT_POOL_CLASS_MEAN, /* the class token's, beside it the mean of the patches': DINOv2 */
    VIT_POOL_CLASS_DIST, /* the class token's, beside it the distillation token's: DeiT */
    VIT_POOL_SEQ,        /* the mean of the patches', weighted by a softmax of one linear output */
    VIT_POOL_TOKENS, /* all of them: nothing is pooled. A decoder's head sees each; an encoder's are
                        its memory, which the decoder looks at */
    VIT_POOL_COUNT,
} vit_pool;

typedef enum vit_head {
    VIT_HEAD_LINEAR, /* Linear(dim, classes) */
    VIT_HEAD_MLP,    /* Linear(dim, mlp), GELU, Linear(mlp, classes) */
    VIT_HEAD_NONE,   /* a backbone: its logits are its features, classes as many as these */
    VIT_HEAD_COUNT,
} vit_head;

typedef enum vit_init {
    VIT_INIT_TIMM,  /* weights and positions: normal .02, cut at 2 deviations; class token: normal
                       1e-6; biases 0 */
    VIT_INIT_TORCH, /* weights and biases as PyTorch's nn.Linear draws them, uniform
                       +-1/sqrt(fan_in); positions and class token N(0, 1): the lecture */
    VIT_INIT_COUNT,
} vit_init;

/* The second stack of an encoder-decoder (Vaswani et al., section 3): a stack of the same blocks,
 * of texts. Each sees only the tokens before it and itself, and looks at the encoder's last states.
 */
typedef struct vit_decoder_config {
    size_t dim, depth, heads, mlp; /* depth 0: there is no decoder */
    size_t vocabulary;             /* ids, and so outputs */
    size_t length;                 /* tokens that it can be given, START with them */
    size_t start, end;             /* ids that a text begins and ends with */
    vit_position_kind positions;
    size_t position_offset; /* the first token has this row of the table */
    bool padding;           /* the id position_offset - 1 fills gaps and has no position: fairseq's
                               rule, of fixed ones */
    bool scale_embedding;   /* the table's rows times sqrt(D) */
    bool norm_pre;          /* a layer norm of the embedded tokens */
    bool memory_proj; /* the encoder's states go through Linear(D of the encoder, dim) first */
    vit_norm_place norm;
    vit_activation activation;
    double norm_eps;
    bool final_norm;
    bool tied; /* the head's weight is the table of ids */
    bool head_bias;
} vit_decoder_config;

typedef struct vit_config {
    size_t height, width, channels; /* the picture, H x W x C */
    size_t patch;                   /* side P; divides height and width */
    size_t dim, depth, heads, mlp;  /* D, L, h, width of the MLP */
    size_t head_dim;                /* 0: dim / heads, which heads must divide then */
    size_t registers;               /* tokens of their own between class token and patches (Darcet
                                       et al.: Vision Transformers Need Registers) */
    size_t classes;
    vit_stem stem;
    vit_patch_order patch_order; /* of the linear stem */
    bool patch_bias;             /* of its linear layer */
    bool patch_norm;             /* a layer norm before it and one after it */
    vit_position_kind positions;
    bool prefix_positions; /* positions for class token, ..., registers too, not only for patches */
    bool class_token;
    bool norm_pre; /* a layer norm of the tokens before the first block: CLIP */
    vit_norm_place norm;
    vit_activation activation; /* of the blocks' MLPs and of the map pooling's */
    bool gated;                /* the blocks' MLPs are: fc2(f(x W1) * x W2); SwiGLU with SiLU */
    bool qkv_bias;
    bool qk_norm;     /* a layer norm of every query and key, over the head's width */
    bool layer_scale; /* a factor per feature of each branch (Touvron et al.: Going deeper with
                         Image Transformers) */
    vit_attention_scale attention_scale;
    double norm_eps;
    bool final_norm;       /* layer norm after the last block, or after pooling */
    bool norm_before_pool; /* where pooling is by mean or map: of every token, before it; that of
                              VIT_POOL_SEQ always is */
    vit_pool pool;
    bool pool_prefix; /* mean, map and seq are of all tokens, not only of the patches */
    vit_head head;
    bool head_bias;
    vit_init init;
    /* A stack of texts: */
    size_t vocabulary;      /* ids */
    size_t length;          /* tokens at most */
    size_t position_offset; /* these five as in vit_decoder_config */
    bool padding, scale_embedding, tied;
    bool causal; /* a token sees those before it and itself; the first is `start` */
    size_t start;
    size_t memory; /* width of the states that cross-attention looks at; 0: there is none */
    vit_decoder_config decoder;
} vit_config;

/* Whether it writes texts: it has a decoder. */
static inline bool vit_config_reads(const vit_config *config) {
    return config->decoder.depth > 0;
}

/* Whether it is given pictures. */
static inline bool vit_config_sees(const vit_config *config) {
    return config->stem != VIT_STEM_TOKENS && config->stem != VIT_STEM_NONE;
}

/* The decoder as a stack of its own, for the code that both stacks share. */
vit_config vit_config_decoder(const vit_config *config);

/* timm's plain ViT with the sizes left 0. */
vit_config vit_config_default(void);

/* ARGUMENT, naming the value, unless sizes are 1 .. 65,536 (depth to 256, pictures to 4,096 a side,
 * classes to 1,000,000), patch divides the picture, into at most 16,384 patches, heads divides dim,
 * and 4 does where the positions are two-dimensional; a stem of convolutions needs a patch of 2, 4,
 * 8, ... whose half divides dim; pooling by the class token needs one; patch norms are those of a
 * linear stem in the order "pixel". */
vit_status vit_config_check(const vit_config *config, vit_error *error);

/* JSON object <-> config, the part "model" of a preset and `vit.config` of a model file: {"image":
 * [28, 28], "channels": 1, "patch": 7, "dim": 64, "depth": 6, "heads": 8, "mlp": 128, "classes":
 * 10, "stem": "linear"|"conv"|"cct", "patch_order": "conv"|"pixel", "positions":
 * "learned"|"sinusoidal"|"sincos2d", "norm": "pre"|"post", "activation": "gelu"|"relu"|..., ...}.
 * docs/presets.md has all keys and what each means. What is left out keeps the value in *config,
 * but for "class_token", which then follows from the pooling; unknown keys are refused with the
 * nearest known one; `name` stands for where the text came from. Reading does not check the result
 * (classes may come later). Written are the keys that every network has and those others whose
 * value is not the default; vit_config_write returns a string freed by vit_free, NULL when there is
 * no memory. */
vit_status vit_config_read(vit_config *config, const char *json, const char *name,
                           vit_error *error);
char *vit_config_write(const vit_config *config);

/* The keys that vit_config_read knows, at most `most` of them; returns how many. */
size_t vit_config_keys(const char **keys, size_t most);

/* Whether the pooling is of the patches alone, and there is no class token unless asked for. */
bool vit_config_pools_patches(const vit_config *config);

/* N patches, of a text its tokens at most; the tokens before them (class token, distillation token,
 * registers); T, all; rows of the table of positions. */
size_t vit_config_patches(const vit_config *config);
size_t vit_config_prefix(const vit_config *config);
size_t vit_config_tokens(const vit_config *config);
size_t vit_config_positions(const vit_config *config);

size_t vit_config_head_dim(const vit_config *config);      /* of an attention head */
size_t vit_config_attention_dim(const vit_config *config); /* A, the heads side by side */
size_t vit_config_hidden(const vit_config *config);        /* outputs of fc1: M, gated 2 M */
size_t vit_config_features(const vit_config *config);      /* F, what the head sees: D or 2 D */

/* Whether the final norm is of all tokens, before they are pooled. */
bool vit_config_norms_tokens(const vit_config *config);

/* Rows that a sample takes, at most, in the longer of its stacks. */
size_t vit_config_rows(const vit_config *config);

vit_patch_shape vit_config_patch_shape(const vit_config *config);

/* Convolutions of the stem, 0 for a linear one, and the width of number i. */
#define VIT_MOST_CONVS 12
size_t vit_config_convs(const vit_config *config);
size_t vit_config_conv_width(const vit_config *config, size_t i);

/* Multiply-adds of one picture: stem (linear: N P^2 C D) + L (4 T D A + 2 T^2 A + 2 T D M) +
 * pooling
 * + head.
 */
size_t vit_config_multiply_adds(const vit_config *config);

#endif
