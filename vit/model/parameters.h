/* The parameter table: one row per tensor of trainable parameters, in the order of the network,
 * generated from a config. Sizes, offsets, names in files, initial values, weight decay and the
 * layout of gradients all come from it. A view gives an array of the table's size the names of the
 * network: weights.blocks[3].qkv. */
#ifndef VIT_MODEL_PARAMETERS_H
#define VIT_MODEL_PARAMETERS_H

#include "vit/model/config.h"
#include "vit/ops/layernorm.h"
#include "vit/ops/linear.h"

typedef enum vit_parameter_kind {
    VIT_PARAMETER_CLASS_TOKEN, /* or another learned token: distillation, register, latent; or the
                                  class token's rotary angles */
    VIT_PARAMETER_POSITIONS,
    VIT_PARAMETER_WEIGHT,      /* of a linear layer, [out][in...]: the only kind that decays */
    VIT_PARAMETER_BIAS,        /* of a linear layer */
    VIT_PARAMETER_GAMMA,       /* of a layer norm, or a layer scale */
    VIT_PARAMETER_BETA,        /* of a layer norm */
    VIT_PARAMETER_EMBEDDING,   /* [ids][D]: a row for each id of a text */
    VIT_PARAMETER_RELATIVE,    /* of a relative position bias, [distances][heads] */
    VIT_PARAMETER_FREQUENCIES, /* of rotary positions, [2][L][heads][d / 2]: for each
                                  coordinate */
    VIT_PARAMETER_COUNT,
} vit_parameter_kind;

typedef struct vit_parameter {
    char name[64]; /* timm's: "blocks.0.attn.qkv.weight" */
    vit_parameter_kind kind;
    size_t dims, shape[4];
    size_t count;   /* elements: the product of shape */
    size_t offset;  /* of its elements in an array of vit_table.size floats; or VIT_ONLY_PACKED */
    size_t fan_in;  /* WEIGHT, BIAS: inputs of the layer */
    bool convolves; /* WEIGHT, BIAS: of a convolutional stem */
    bool packs;     /* matrix products read it packed: a WEIGHT, or an EMBEDDING that is the head's
                       weight, too */
    bool rounds;    /* and in INT8 as 8-bit integers: it is a WEIGHT of a block */
    vit_stored stored;      /* if it packs: how it is in F32 (vit_table_store) */
    const float *place;     /* if that is in rows: where it is; borrowed; else NULL */
    const float *floats;    /* while it is loaded: where it is in a file; borrowed; or NULL */
    const int8_t *integers; /* the same of one in 8-bit integers */
    size_t packed_offset;   /* if it packs: in an array of vit_table.packed_size floats */
    size_t stored_offset;   /* the same in F32: in an array of vit_table.stored_size words */
    size_t int8_offset;     /* the same in INT8: in an array of vit_table.int8_size words */
    size_t scale_offset;    /* if it rounds: of its scales, in an array of vit_table.scale_size */
    size_t layer;    /* 0: what comes before the blocks; 1 + i: block i; 1 + depth: the rest */
    bool of_block;   /* it is in a block, of the encoder or of the decoder */
    double base;     /* FREQUENCIES: the config's rope_base */
    size_t zeros[2]; /* first and number of elements that are 0 and stay so: the bias of keys
                        that have none */
} vit_parameter;

/* Whether it is a WEIGHT. */
bool vit_is_weight(const vit_parameter *p);

/* Whether it is positions, which are resampled for pictures of another size. */
bool vit_resamples(const vit_parameter *p);

/* The offset of a linear layer's weight that is kept in its packed form alone. */
#define VIT_ONLY_PACKED SIZE_MAX

typedef struct vit_table {
    vit_parameter *rows; /* owned */
    size_t count;
    size_t size;        /* floats of an array of all tensors but those that are only packed; each
                           begins at a multiple of 16 */
    size_t packed_size; /* floats of all packed weights */
    size_t stored_size; /* words of all in F32, some perhaps in halves */
    size_t int8_size;   /* words of all in INT8, in which those outside the blocks are floats */
    size_t scale_size;  /* outputs of all rows that round */
    size_t parameters;  /* trainable parameters: the sum of the rows' counts */
} vit_table;

/* The table of a network; freed by vit_table_free. Errors: as vit_config_check, MEMORY. */
vit_status vit_table_new(vit_table *out, const vit_config *config, vit_error *error);
void vit_table_free(vit_table *table);

/* Leaves the weights of linear layers out of the array of values: their offset becomes
 * VIT_ONLY_PACKED, and table->size and the other offsets those of what remains. */
void vit_table_omit_weights(vit_table *table);

/* To be called when rows' `stored` was set: gives each the words that it takes so. */
void vit_table_store(vit_table *table);

/* The row of that name, or NULL. */
const vit_parameter *vit_table_find(const vit_table *table, const char *name);

/* Initial values, values: [table->size]. Those of a tensor are a pure function of its kind, its
 * row's number and the seed. Each tensor is one task of the threads. */
void vit_table_init(int threads, float *values, const vit_table *table, vit_init init,
                    uint64_t seed);

/* The same for one tensor, table->rows[row]; values: [its count]. */
void vit_table_init_row(float *values, const vit_table *table, size_t row, vit_init init,
                        uint64_t seed);

/* How a weight is packed in this precision, where that begins, and how many words all of them are.
 */
vit_stored vit_packed_as(const vit_parameter *p, vit_precision precision);
size_t vit_packed_at(const vit_parameter *p, vit_precision precision);
size_t vit_table_words(const vit_table *table, vit_precision precision);

/* The weights that matrix products read, packed into panels (vit/ops/gemm/gemm.h) or, in INT8 those
 * of the blocks, by vit_int8_pack. Each array is [vit_table_words]; owned by whoever made them. */
typedef struct vit_packed_weights {
    float *transposed;       /* W^T, for y = x W^T; NULL: there are none */
    float *rows;             /* W, for dx = dy W, but of layer 0; NULL: W is read where it lies */
    vit_precision precision; /* of both, and so of the products they are in */
} vit_packed_weights;

/* The weight in packed->transposed, or where it is in rows; NULL: there are none. */
const float *vit_packed_of(const vit_packed_weights *packed, const vit_parameter *p);

/* Fills the arrays of *packed from values: [table->size]. Each tensor is one task of the threads.
 */
void vit_table_pack(const vit_exec *exec, const vit_packed_weights *packed, const float *values,
                    const vit_table *table);

/* rounded->transposed = packed->transposed, which is in f32, in rounded->precision; or of INT8 in
 * f32, where no row is stored in halves. Each tensor is one task. Errors: MEMORY. */
vit_status vit_table_round(const vit_exec *exec, const vit_packed_weights *rounded,
                           const vit_packed_weights *packed, const vit_table *table,
                           vit_error *error);

/* The name of layer i of a convolutional stem: "stem.0", "stem.2", ..., the last being the
 * projection; or "tokenizer.0", "tokenizer.1", ... Returns `name`. */
#define VIT_STEM_NAME 32
const char *vit_stem_name(char name[VIT_STEM_NAME], const vit_config *config, size_t i);

/* The tensor's name, "cls_token", and the number of the tokens of a kind, 0 .. VIT_PREFIX_KINDS
 * - 1.
 */
const char *vit_prefix_name(size_t kind);
size_t vit_prefix_count(const vit_config *config, size_t kind);

/* timm's name of the final norm: "fc_norm" where it comes after a pooling of patches, else "norm".
 */
const char *vit_final_norm_name(const vit_config *config);

/* ---- views: an array of table->size by the names of the network ---- */

/* A relative position bias: its table, [distances][heads], or the MLP that makes it; zeros: there
 * is none. */
typedef struct vit_relative_weights {
    const float *table;
    vit_linear fc1, fc2; /* out 0: the table is there itself */
} vit_relative_weights;

/* The weights of a block. qkv: W^Q, W^K, W^V one below the other, [3 A][D]; proj: W^O, [D][A]. */
typedef struct vit_block_weights {
    vit_norm norm1, norm2;
    vit_linear qkv, proj, fc1, fc2;
    vit_norm q_norm, k_norm;           /* qk norm */
    vit_norm attention_norm, mlp_norm; /* of the heads' output, of the MLP's hidden layer */
    const float *ls1, *ls2;            /* [D], layer scale of MSA and MLP; or NULL */
    const float *rope;                 /* [N][2][d / 2], angles that are not learned; or NULL */
    vit_relative_weights relative;
    const float *rope_freqs[2]; /* [heads][d / 2] each, learned frequencies; or NULL */
    const float *rope_class;    /* [d / 2], learned angles of the class token; or NULL */
    vit_norm cross_norm;        /* cross-attention */
    vit_linear cross_q, cross_kv, cross_proj;
} vit_block_weights;

/* Pooling by attention, vit/model/parts/map_pool.c. */
typedef struct vit_map_weights {
    const float *latent; /* [D], from which the one query is computed */
    vit_linear q, kv, proj, fc1, fc2;
    vit_norm norm;
} vit_map_weights;

/* Tokens before the patches: class token, distillation token, registers. */
#define VIT_PREFIX_KINDS 3

typedef struct vit_weights {
    vit_precision precision; /* of the packed weights, and so of the products they are in */
    const float *prefix[VIT_PREFIX_KINDS]; /* [count][D] each; NULL: there is none */
    const float *embedding; /* [ids][D], of a stack that reads texts; NULL: there is none */
    const float *positions; /* [vit_config_positions][D], E_pos */
    float *fixed_positions; /* owned: positions that are not learned; else NULL */
    float *fixed_rope;      /* owned: angles of rotary positions that are not learned; else NULL */
    vit_relative_weights relative; /* that blocks share */
    const float *rope_freqs; /* [2][L][heads][d / 2], learned frequencies; NULL: there are none */
    const float *rope_class; /* [d / 2], the class token's angles; NULL: it is not turned */
    vit_linear convs[VIT_MOST_CONVS]; /* of a convolutional stem */
    vit_linear patch_embed;           /* E, or the projection after the convolutions; out 0: none */
    vit_norm patch_norms[2];          /* before and after E; gamma NULL: there are none */
    vit_norm norm_pre;                /* gamma NULL: there is none */
    vit_block_weights *blocks;        /* [depth], owned */
    vit_norm norm;                    /* gamma NULL: there is no final norm */
    vit_map_weights map;
    vit_linear attention_pool;   /* [1][D], sequence pooling */
    vit_linear pre_logits;       /* [F][F], before tanh and the head; weight NULL: there is none */
    vit_linear head[2];          /* the second of MLP and cosine; out 0: there is none */
    vit_linear memory_proj;      /* of a decoder; out 0: cross-attention reads the encoder's states
                                    themselves */
    struct vit_weights *decoder; /* owned; NULL: there is none */
} vit_weights;

typedef struct vit_relative_gradients {
    float *table;
    vit_linear_gradient fc1, fc2;
} vit_relative_gradients;

/* Gradients, each as the weight of its name. A pointer is NULL where there is no such parameter, or
 * its gradient is not wanted. */
typedef struct vit_block_gradients {
    vit_norm_gradient norm1, norm2;
    vit_linear_gradient qkv, proj, fc1, fc2;
    vit_norm_gradient q_norm, k_norm;
    vit_norm_gradient attention_norm, mlp_norm;
    float *ls1, *ls2;
    vit_relative_gradients relative;
    float *rope_freqs[2], *rope_class;
    vit_norm_gradient cross_norm;
    vit_linear_gradient cross_q, cross_kv, cross_proj;
} vit_block_gradients;

typedef struct vit_map_gradients {
    float *latent;
    vit_linear_gradient q, kv, proj, fc1, fc2;
    vit_norm_gradient norm;
} vit_map_gradients;

typedef struct vit_gradients {
    float *prefix[VIT_PREFIX_KINDS];
    float *embedding;
    float *positions;
    vit_relative_gradients relative;
    float *rope_freqs, *rope_class;
    vit_linear_gradient convs[VIT_MOST_CONVS];
    vit_linear_gradient patch_embed;
    vit_norm_gradient patch_norms[2];
    vit_norm_gradient norm_pre;
    vit_block_gradients *blocks; /* [depth], owned */
    vit_norm_gradient norm;
    vit_map_gradients map;
    vit_linear_gradient attention_pool;
    vit_linear_gradient pre_logits;
    vit_linear_gradient head[2];
    vit_linear_gradient memory_proj;
    struct vit_gradients *decoder; /* owned */
} vit_gradients;

/* Views of values and packed weights, and of gradients; the arrays are borrowed, the view itself is
 * freed by vit_weights_free or vit_gradients_free. Backward passes add to gradients; but with
 * `begins` those of linear layers' weights are replaced, see vit_linear_gradient. Errors: MEMORY.
 */
vit_status vit_weights_view(vit_weights *out, const vit_config *config, const vit_table *table,
                            const float *values, const vit_packed_weights *packed,
                            vit_error *error);
void vit_weights_free(vit_weights *view);
vit_status vit_gradients_view(vit_gradients *out, const vit_config *config, const vit_table *table,
                              float *gradients, bool begins, vit_error *error);
void vit_gradients_free(vit_gradients *view);

/* gradients: [table->size]; = 0, except those of linear layers' weights */
void vit_gradients_clear(float *gradients, const vit_table *table);

#endif
