/* What a network is: the numbers and choices from which everything else follows (parameter table,
 * activations, arithmetic). */
#ifndef VIT_MODEL_CONFIG_H
#define VIT_MODEL_CONFIG_H

#include "vit/base/error.h"
#include "vit/ops/activation.h"
#include "vit/ops/patch.h"

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
    VIT_NORM_PRE,  /* z' = MSA(LN(z)) + z; z_next = MLP(LN(z')) + z': the ViT */
    VIT_NORM_POST, /* h = LN(z + MSA(z)); z_next = LN(h + MLP(h)): the original Transformer */
    VIT_NORM_COUNT,
} vit_norm_place;

typedef enum vit_position_kind {
    VIT_POSITIONS_LEARNED,
    VIT_POSITIONS_SINUSOIDAL,        /* the original Transformer's, by the token's number */
    VIT_POSITIONS_SINCOS2D,          /* half of the features for the row, half for the column */
    VIT_POSITIONS_SINUSOIDAL_HALVES, /* of texts, as in tensor2tensor and fairseq: all sines, then
                                        all cosines, of pos / 10000^(i / (D / 2 - 1)) */
    VIT_POSITIONS_COUNT,
} vit_position_kind;

/* What the head is given of the tokens' last states. */
typedef enum vit_pool {
    VIT_POOL_CLASS, /* the class token's */
    VIT_POOL_MEAN,  /* the mean of the patches' */
    VIT_POOL_MAP,   /* attention of one learned query to the patches, and an MLP: timm's "map" */
    VIT_POOL_CLASS_MEAN, /* the class token's and the mean of the patches', side by side: DINOv2 */
    VIT_POOL_CLASS_DIST, /* the class token's and the distillation token's, side by side: DeiT */
    VIT_POOL_SEQ,        /* the patches' mean, weighted by a softmax of one linear output: CCT */
    VIT_POOL_TOKENS, /* all of them: nothing is pooled. A decoder's head has logits for each; those
                        of an encoder are the memory that the decoder's cross-attention reads */
    VIT_POOL_COUNT,
} vit_pool;

typedef enum vit_head {
    VIT_HEAD_LINEAR, /* Linear(dim, classes) */
    VIT_HEAD_MLP,    /* Linear(dim, mlp), GELU, Linear(mlp, classes) */
    VIT_HEAD_NONE,   /* a backbone: its logits are its features, of which there are `classes` */
    VIT_HEAD_COUNT,
} vit_head;

typedef enum vit_init {
    VIT_INIT_TIMM,  /* weights and positions: truncated normal, standard deviation .02, cut at 2 of
                       them; class token: normal, 1e-6; biases 0 */
    VIT_INIT_TORCH, /* weights and biases as PyTorch's nn.Linear has them, uniform within
                       +-1 / sqrt(fan_in); positions and class token N(0, 1): the lecture */
    VIT_INIT_COUNT,
} vit_init;

/* The decoder of an encoder-decoder (Vaswani et al., section 3): a second stack of the same blocks,
 * which reads a text. Its self-attention is masked, a token sees itself and those before it;
 * cross-attention reads the encoder's last states, the memory. */
typedef struct vit_decoder_config {
    size_t dim, depth, heads, mlp; /* depth 0: there is no decoder */
    size_t vocabulary;             /* number of ids, and so of logits per token */
    size_t length;                 /* tokens that it can be given at most, START included */
    size_t start, end;             /* the ids START and END, with which texts begin and end */
    vit_position_kind positions;
    size_t position_offset; /* the row of the table of positions that the first token has */
    bool padding; /* the id position_offset - 1 is padding, whose position is a row of zeros:
                     fairseq's rule, for fixed positions */
    bool scale_embedding; /* rows of the table of ids are multiplied by sqrt(D) */
    bool norm_pre;        /* a layer norm of the embedded tokens */
    bool memory_proj;     /* the memory is Linear(the encoder's dim, dim) of the encoder's states */
    vit_norm_place norm;
    vit_activation activation;
    double norm_eps;
    bool final_norm;
    bool tied; /* the table of ids is also the head's weight */
    bool head_bias;
} vit_decoder_config;

typedef struct vit_config {
    size_t height, width, channels; /* the picture, H x W x C */
    size_t patch;                   /* P, side of a patch; divides height and width */
    size_t dim, depth, heads, mlp;  /* D, L, h, width of the MLP */
    size_t head_dim;                /* d_k; 0: dim / heads, and heads must divide dim */
    size_t registers;               /* learned tokens between class token and patches (Darcet et
                                       al.: Vision Transformers Need Registers) */
    size_t classes;                 /* logits */
    vit_stem stem;
    vit_patch_order patch_order; /* of the linear stem */
    bool patch_bias;             /* of its linear layer */
    bool patch_norm;             /* a layer norm before that layer and one after it */
    vit_position_kind positions;
    bool prefix_positions; /* the tokens before the patches have positions, too */
    bool class_token;
    bool norm_pre; /* a layer norm of z_0, the tokens before the first block: CLIP */
    vit_norm_place norm;
    vit_activation activation; /* f, of the blocks' MLPs and of the map pooling's */
    bool gated;                /* MLP(x) = fc2(f(x W1) * x W2); with SiLU it is SwiGLU */
    bool qkv_bias;
    bool qk_norm;     /* a layer norm of every head's queries and keys, over the head's width */
    bool layer_scale; /* MSA and MLP are multiplied by a learned factor per feature (Touvron et al.:
                         Going deeper with Image Transformers) */
    vit_attention_scale attention_scale;
    double norm_eps;       /* epsilon of all layer norms */
    bool final_norm;       /* a layer norm after the last block or after the pooling */
    bool norm_before_pool; /* where the pooling is by mean or map: the final norm is of every token,
                              before it; that of VIT_POOL_SEQ always is */
    vit_pool pool;
    bool pool_prefix; /* mean, map and seq pool all tokens, not only the patches */
    vit_head head;
    bool head_bias;
    vit_init init;
    /* Of a stack that reads texts, VIT_STEM_TOKENS, as in vit_decoder_config: */
    size_t vocabulary, length, position_offset;
    bool padding, scale_embedding, tied;
    bool causal; /* masked: a token sees itself and those before it; the first is `start` */
    size_t start;
    size_t memory; /* width of the memory that cross-attention reads; 0: there is none */
    vit_decoder_config decoder;
} vit_config;

/* Whether the network has a decoder, and so writes texts. */
static inline bool vit_config_has_decoder(const vit_config *config) {
    return config->decoder.depth > 0;
}

/* Whether its input is a picture. */
static inline bool vit_config_takes_pictures(const vit_config *config) {
    return config->stem != VIT_STEM_TOKENS && config->stem != VIT_STEM_NONE;
}

/* The decoder's config in the form that the code for both stacks takes. */
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
 * vit_config_read: what is left out keeps the value in *config, but for "class_token", which then
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

/* Whether the pooling reads no class token; then there is none unless the config asks for it. */
bool vit_config_pools_patches(const vit_config *config);

/* Sizes that follow from the config. */
size_t vit_config_patches(const vit_config *config);   /* N; of a text, its tokens at most */
size_t vit_config_prefix(const vit_config *config);    /* tokens before the patches: class token,
                                                          distillation token, registers */
size_t vit_config_tokens(const vit_config *config);    /* T: both together */
size_t vit_config_positions(const vit_config *config); /* rows of the table of positions */
size_t vit_config_head_dim(const vit_config *config);  /* d_k, width of an attention head */
size_t vit_config_attention_dim(const vit_config *config); /* A: all heads, h d_k */
size_t vit_config_hidden(const vit_config *config);        /* outputs of fc1: M, gated 2 M */
size_t vit_config_features(const vit_config *config);      /* F, what the head sees: D or 2 D */

/* Whether the final norm is of all tokens, before they are pooled. */
bool vit_config_norms_tokens(const vit_config *config);

/* Tokens of a sample, at most, in the longer of its two stacks. */
size_t vit_config_rows(const vit_config *config);

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
