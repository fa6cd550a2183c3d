/* What a network is: the numbers and choices from which everything else follows (parameter table,
 * activations, arithmetic). */
#ifndef VIT_MODEL_CONFIG_H
#define VIT_MODEL_CONFIG_H

#include "vit/base/error.h"
#include "vit/ops/activation.h"
#include "vit/ops/patch.h"
#include "vit/ops/relative.h"

typedef enum vit_stem {
    VIT_STEM_LINEAR, /* patches and one linear layer, x_p E: the ViT */
    VIT_STEM_CONV,   /* log2(patch) convolutions of 3x3 and stride 2, each with GELU and twice as
                        wide as the one before, the last D wide; then one linear layer */
    VIT_STEM_CCT,    /* the convolutional tokenizer of compact transformers (Hassani et al.):
                        log2(patch) convolutions of 3x3 and stride 1 without bias, twice as wide as
                        the one before, the last D wide, each with ReLU and max pooling */
    VIT_STEM_TOKENS, /* the input is a text: each id is a row of a learned table */
    VIT_STEM_NONE,   /* no encoder: a decoder alone, which is a language model */
    VIT_STEM_COUNT,
} vit_stem;

/* What scores Q K^T are multiplied by before the softmax. */
typedef enum vit_attention_scale {
    VIT_SCALE_HEAD_DIM, /* 1 / sqrt(d_k), d_k being the width of a head: the paper */
    VIT_SCALE_DIM,      /* 1 / sqrt(D): the lecture's code */
    VIT_SCALE_COUNT,
} vit_attention_scale;

typedef enum vit_norm_place {
    VIT_NORM_PRE,      /* z' = MSA(LN(z)) + z; z_next = MLP(LN(z')) + z': the ViT */
    VIT_NORM_POST,     /* h = LN(z + MSA(z)); z_next = LN(h + MLP(h)): the original Transformer */
    VIT_NORM_RES_POST, /* z' = LN(MSA(z)) + z; z_next = LN(MLP(z')) + z' (Liu et al.: Swin
                          Transformer V2) */
    VIT_NORM_PARALLEL, /* x = LN(z); z_next = MSA(x) + MLP(x) + z (Dehghani et al.: Scaling Vision
                          Transformers to 22 Billion Parameters) */
    VIT_NORM_COUNT,
} vit_norm_place;

typedef enum vit_position_kind {
    VIT_POSITIONS_LEARNED,
    VIT_POSITIONS_SINUSOIDAL,        /* the original Transformer's, by the token's number */
    VIT_POSITIONS_SINCOS2D,          /* half of the features for the row, half for the column */
    VIT_POSITIONS_SINUSOIDAL_HALVES, /* of texts, as in tensor2tensor and fairseq: all sines, then
                                        all cosines, of pos / 10000^(i / (D / 2 - 1)) */
    VIT_POSITIONS_NONE,              /* nothing is added: the order of the tokens has no part in
                                        the answer, except through a mask or convolutions */
    VIT_POSITIONS_COUNT,
} vit_position_kind;

/* Rotary positions: angles by which queries and keys of patches are turned, beside `positions`,
 * which are added. vit/model/rope_table.h has the formulas. */
typedef enum vit_rope {
    VIT_ROPE_NONE,
    VIT_ROPE_AXIAL,    /* by the numbers of the patch's row and column: EVA-02 */
    VIT_ROPE_CENTERED, /* by the place between the picture's edges: DINOv3 */
    VIT_ROPE_MIXED,    /* by both, with learned frequencies for each block and head: RoPE-ViT */
    VIT_ROPE_COUNT,
} vit_rope;

/* Relative position bias: a learned number for each head and distance is added to scores. */
typedef enum vit_relative {
    VIT_RELATIVE_NONE,
    VIT_RELATIVE_BLOCKS, /* each block has a table: BEiT's classifiers */
    VIT_RELATIVE_SHARED, /* one for all blocks: its pre-trained models */
    VIT_RELATIVE_COUNT,
} vit_relative;

/* What the head is given of the tokens' last states. */
typedef enum vit_pool {
    VIT_POOL_CLASS, /* the class token's */
    VIT_POOL_MEAN,  /* the mean of the patches' */
    VIT_POOL_MAP,   /* attention of one learned query to the patches, and an MLP: timm's "map" */
    VIT_POOL_CLASS_MEAN,  /* the class token's and the mean of the patches', side by side: DINOv2 */
    VIT_POOL_CLASS_DIST,  /* the class token's and the distillation token's, side by side: DeiT */
    VIT_POOL_SEQ,         /* the patches' mean, weighted by a softmax of one linear output: CCT */
    VIT_POOL_MAX,         /* of each feature the largest of the patches' */
    VIT_POOL_MEAN_MAX,    /* half the sum of mean and maximum: timm's "avgmax" */
    VIT_POOL_PRR,         /* attention of all tokens among each other without weights of its own; of
                             that the class token, or without one the mean: timm's "prr" */
    VIT_POOL_PREFIX_MEAN, /* the mean of those before the patches: several class tokens */
    VIT_POOL_TOKENS, /* all of them: nothing is pooled. A decoder's head has logits for each; those
                        of an encoder are what the decoder's cross-attention reads */
    VIT_POOL_COUNT,
} vit_pool;

typedef enum vit_head {
    VIT_HEAD_LINEAR,     /* Linear(dim, classes) */
    VIT_HEAD_MLP,        /* Linear(dim, mlp), GELU, Linear(mlp, classes) */
    VIT_HEAD_NONE,       /* a backbone: its logits are its features, of which there are `classes` */
    VIT_HEAD_PROJECTION, /* a backbone whose features are Linear(dim, classes): CLIP, without bias
                          */
    VIT_HEAD_TANH,       /* Linear(dim, dim), tanh, Linear(dim, classes): Google's "pre_logits" */
    VIT_HEAD_COSINE, /* Linear(dim, projection) without bias, or nothing where that is 0; length 1;
                        Linear(.., classes), whose rows are texts: CLIP with words as its classes */
    VIT_HEAD_COUNT,
} vit_head;

typedef enum vit_init {
    VIT_INIT_TIMM,  /* weights and positions: truncated normal, standard deviation .02, cut at 2 of
                       them; class token: normal, 1e-6; biases 0 */
    VIT_INIT_TORCH, /* weights and biases as PyTorch's nn.Linear has them, uniform within
                       +-1 / sqrt(fan_in); positions and class token N(0, 1): the lecture */
    VIT_INIT_COUNT,
} vit_init;

/* The layouts that cannot express something, as 1 << vit_target (switches.h), and what is said
 * then; and VIT_LOADS where the library can load all tensors but computes almost the same. */
#define VIT_LOADS (1u << 16)
typedef struct vit_layout_limit {
    unsigned layouts;
    const char *reason; /* "its queries and keys are normed"; NULL: all can */
} vit_layout_limit;

/* What a stem, a pooling, a head and positions are, by the enum's value. */
typedef struct vit_stem_row {
    const char *name; /* in JSON */
    bool pictures;    /* the input is pictures */
    bool texts;       /* the input is texts */
    bool convolves;   /* patches come from log2(patch) convolutions */
    bool pools;       /* these are a tokenizer's, with max pooling and nothing after them */
} vit_stem_row;

typedef struct vit_pool_row {
    const char *name;
    const char *timm; /* timm's word for it; NULL: timm lacks it */
    bool patches; /* it reads no class token; then there is none unless the config asks for it */
    bool two;     /* two vectors side by side: the head sees 2 D features */
    bool dist;    /* there is a distillation token */
    bool tokens;  /* nothing is pooled */
    bool attends; /* it is an attention with an MLP of its own */
    bool weighs;  /* it weighs tokens by a softmax, which maps show */
    bool refines; /* it is an attention of all tokens among each other, without weights */
    bool normed;  /* the final norm is of every token, before the pooling, whatever is asked */
    bool first;   /* of the last block only the first token is needed */
    bool prefix;  /* it needs a token before the patches */
    bool choice;  /* "norm_before_pool" says whether the final norm is before the pooling */
    vit_layout_limit limit;
} vit_pool_row;

typedef struct vit_head_row {
    const char *name;
    size_t layers; /* linear ones; 0: logits are the features */
    bool projects; /* logits are the features, too, and made by its layers */
    bool squashes; /* a layer of the features' width and tanh come before its layers */
    bool unit;     /* what its last layer reads has length 1 */
    vit_layout_limit limit;
} vit_head_row;

typedef struct vit_norm_row {
    const char *name;
    bool one;   /* a block has one norm and one layer scale, not one for each branch */
    bool after; /* norms are of what the branches give, before the sums */
} vit_norm_row;

typedef struct vit_position_row {
    const char *name;
    bool learned; /* they are a row of the parameter table */
    bool fixed;   /* they are a table that is computed */
    bool grid;    /* they are of rows and columns, for pictures alone */
} vit_position_row;

typedef struct vit_rope_row {
    const char *name;
    bool turns;    /* there are angles */
    bool fixed;    /* they are a table that is computed */
    bool learned;  /* their frequencies are a row of the parameter table */
    bool scales;   /* they may be scaled to a grid, rope_reference */
    bool centered; /* coordinates are between the picture's edges, from -1 to 1 */
} vit_rope_row;

typedef struct vit_relative_row {
    const char *name;
    bool blocks, shared; /* tables in each block, or one beside them */
} vit_relative_row;

extern const vit_stem_row vit_stems[];
extern const vit_pool_row vit_pools[];
extern const vit_head_row vit_heads[];
extern const vit_norm_row vit_norms[];
extern const vit_position_row vit_positions[];
extern const vit_rope_row vit_ropes[];
extern const vit_relative_row vit_relatives[];

/* One stack of blocks, with what stands before and after them. switches.inc has the fields. */
#define SWITCH(type, field, ...) type field;
typedef struct vit_stack {
#include "vit/model/switches.inc"
} vit_stack;

/* A network: c.dim is c.encoder.dim. Its decoder (Vaswani et al., section 3) is a second stack of
 * the same blocks, which reads a text. Its self-attention is masked, a token sees itself and those
 * before it; cross-attention reads the encoder's last states. */
typedef struct vit_config {
    union {
        vit_stack encoder;
        struct {
#include "vit/model/switches.inc"
        };
    };
    vit_stack decoder; /* depth 0: there is none */
} vit_config;
#undef SWITCH

/* Whether the network has a decoder, and so writes texts. */
static inline bool vit_config_has_decoder(const vit_config *config) {
    return config->decoder.depth > 0;
}

/* Whether it has an encoder: else it is a language model. */
static inline bool vit_config_has_encoder(const vit_config *config) {
    return vit_stems[config->stem].pictures || vit_stems[config->stem].texts;
}

/* Whether its input is a picture. */
static inline bool vit_config_takes_pictures(const vit_config *config) {
    return vit_stems[config->stem].pictures;
}

/* Whether it is a text. */
static inline bool vit_config_takes_texts(const vit_config *config) {
    return vit_stems[config->stem].texts;
}

/* Whether logits are more than the features: else, without a decoder, it is a backbone. */
static inline bool vit_config_has_head(const vit_config *config) {
    return vit_heads[config->head].layers > 0 && !vit_heads[config->head].projects;
}

/* The network that is the decoder alone: the code for both stacks takes it as that of an encoder.
 */
vit_config vit_config_decoder(const vit_config *config);

/* timm's plain ViT; its sizes are 0 and still to be set. */
vit_config vit_config_default(void);

/* OK if there is such a network, else ARGUMENT, naming the value. Sizes are 1 .. 65,536, depth to
 * 256, pictures to 4,096 a side, classes to 1,000,000. patch divides the picture into at most
 * 16,384 patches; heads divides dim, and so does 4 where the positions are two-dimensional; a stem
 * of convolutions needs a patch of 2, 4, 8, ... whose half divides dim; pooling by the class token
 * needs one; patch norms are those of a linear stem in the order "pixel". */
vit_status vit_config_check(const vit_config *config, vit_error *error);

/* JSON object <-> config, the part "model" of a preset and `vit.config` of a model file: {"image":
 * [28, 28], "channels": 1, "patch": 7, "dim": 64, "depth": 6, "heads": 8, "mlp": 128, "classes":
 * 10, "stem": "linear"|"conv"|"cct", "patch_order": "conv"|"pixel", "positions":
 * "learned"|"sinusoidal"|"sincos2d", "norm": "pre"|"post", "activation": "gelu"|"relu"|..., ...}.
 * docs/presets.md has all keys and what each means.
 *
 * vit_config_read: what is left out keeps the value in *config, except "class_token", which then
 * follows from the pooling. `name` says in messages where the text came from. FORMAT for values of
 * a wrong type and for unknown keys, with the nearest known one. The result is not checked, since
 * the number of classes may come later.
 *
 * vit_config_write: the keys that every network has, and the others where they differ from the
 * default. The string is freed by vit_free; NULL: no memory. */
vit_status vit_config_read(vit_config *config, const char *json, const char *name,
                           vit_error *error);
char *vit_config_write(const vit_config *config);

/* The keys that vit_config_read knows, at most `most` of them; returns how many. */
size_t vit_config_keys(const char **keys, size_t most);

/* Sizes that follow from the config. */
size_t vit_config_patches(const vit_config *config);   /* N; of a text, its tokens at most */
size_t vit_config_prefix(const vit_config *config);    /* tokens before the patches: class token,
                                                          distillation token, registers */
size_t vit_config_tokens(const vit_config *config);    /* T: both together */
size_t vit_config_positions(const vit_config *config); /* rows of the table of positions */
size_t vit_config_head_dim(const vit_config *config);  /* d_k, width of an attention head */
size_t vit_config_attention_dim(const vit_config *config); /* A: all heads, h d_k */
size_t vit_config_pool_heads(const vit_config *config);    /* of the map pooling */
size_t vit_config_pool_mlp(const vit_config *config);
size_t vit_config_hidden(const vit_config *config);      /* outputs of fc1: M, gated 2 M */
size_t vit_config_features(const vit_config *config);    /* F, what the head sees: D or 2 D */
size_t vit_config_head_inputs(const vit_config *config); /* of its last layer: F, M or projection */
size_t vit_config_embedding(const vit_config *config); /* features as others get them: F, or what a
                                                          projection makes of them */

/* Whether embedded patches are normed: embed_norm, or part of patch_norm. */
bool vit_config_norms_embedding(const vit_config *config);

/* Whether the final norm is of all tokens, before they are pooled. */
bool vit_config_norms_tokens(const vit_config *config);

/* Tokens of a sample, at most, in the longer of its two stacks. */
size_t vit_config_rows(const vit_config *config);

/* The grid of a relative position bias; zeros for a network of texts, which has none. */
vit_relative_shape vit_config_relative(const vit_config *config);

/* How the picture is cut into patches. */
vit_patch_shape vit_config_patch_shape(const vit_config *config);

/* The number of convolutions of the stem, 0 for a linear one; output channels of convolution i. */
#define VIT_MOST_CONVS 12
size_t vit_config_convs(const vit_config *config);
size_t vit_config_conv_width(const vit_config *config, size_t i);

/* Multiply-adds of one sample's forward pass: stem (linear: N P^2 C D) + L (4 T D A + 2 T^2 A +
 * 2 T D M) + pooling + head; with a decoder, also those of its longest text. */
size_t vit_config_multiply_adds(const vit_config *config);

#endif
