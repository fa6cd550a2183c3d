/* The network: patches -> linear embedding -> tokens -> encoder blocks -> head -> logits, and the
 * backward pass. An encoder-decoder has a second stack of the same blocks, the decoder, whose
 * tokens are those of a text; its cross-attention reads the encoder's last states, called the
 * memory. A decoder alone is a language model.
 *
 * A state holds the activations of up to `capacity` samples (pictures or texts). In training every
 * block has activations of its own, kept for the backward pass; or only its input is kept, and the
 * rest is computed again. Outputs of layer norms and of activation functions are always computed
 * again. In inference all blocks share the same memory. Weights are only read, so several threads
 * may use one network at once, each with a state of its own.
 *
 * Sizes in the comments: R rows, the tokens of all samples (batch * T, or of texts the sum of their
 * lengths); D = dim; A = heads * head_dim, which is D unless the config has a head_dim; M = width
 * of the MLP; N patches; T tokens, the patches and the class token, ... before them; F = features
 * that the head sees, D or 2 D. d_x is the gradient of the loss with respect to x.
 *
 * Functions that carve take memory from an arena; the arena owns it, and nothing else is to be
 * freed.
 */
#ifndef VIT_MODEL_NETWORK_H
#define VIT_MODEL_NETWORK_H

#include "vit/base/arena.h"
#include "vit/model/parameters.h"
#include "vit/ops/attention.h"
#include "vit/text/vocabulary.h"

/* The activations of one block. Pre-norm (Dosovitskiy et al., eq. 2 and 3):
 *     z' = MSA(LN(z)) + z; z_next = MLP(LN(z')) + z'.
 * Post-norm (Vaswani et al., section 3.1):
 *     h = LN(z + MSA(z)); z_next = LN(h + MLP(h)).
 * Cross-attention, CA, to the memory m stands between the two and replaces z' or h:
 *     z'' = CA(LN(z'), m) + z'; h' = LN(h + CA(h, m)). */
typedef struct vit_block_state {
    float *z;                   /* [R][D] the block's input */
    vit_norm_state stats1;      /* [R] each: mean and 1 / sigma of the first norm */
    float *norm;                /* [R][D] LN(z), then LN(z'); post-norm: h; shared by all blocks */
    float *qkv;                 /* [R][3][heads][head_dim] Q, K, V */
    float *raw_qkv;             /* the same before qk norm; NULL without it and in inference */
    vit_norm_state qk_stats[2]; /* [R][heads] each, of queries and keys */
    float *p; /* [batch][heads][T][padded T] softmax(Q K^T / sqrt(d)); NULL: not kept */
    float *o; /* [R][A] p V, the heads side by side */
    /* Of the last block, where the head reads class tokens alone: their rows of z: [batch][D], of
     * LN(z): [batch][D], and their queries: [batch][A]. All that follows then has one row per
     * picture. */
    float *first_z, *first_x, *first_q;
    float *unscaled1, *unscaled2; /* [R][D] MSA and MLP before layer scale; NULL without it and
                                     in inference */
    float *mid;                   /* [R][D] z'; post-norm: z + MSA(z) */
    vit_norm_state stats2;        /* [R] each, of the second norm */
    float *cross_q;               /* [R][A] */
    float *cross_kv;              /* [rows of the memory][2][A] */
    float *cross_p, *cross_o;     /* as p and o, of cross-attention */
    float *cross_mid;             /* [R][D] z''; post-norm: h + CA(h, m) */
    vit_norm_state cross_stats;   /* [R] each, of cross-attention's norm */
    float *sum;                   /* [R][D] h + MLP(h), post-norm */
    float *hidden;                /* [R][M] before the activation; gated: [R][2 M] */
    float *active;                /* [R][M] after the activation; shared by all blocks */
} vit_block_state;

/* The activations of a convolution of the stem. */
typedef struct vit_conv_state {
    float *hidden, *active; /* [batch][pixels][width] before and after GELU, or max pooling */
    uint8_t *place; /* as active: which input of max pooling was the largest; NULL in inference */
} vit_conv_state;

/* The activations of pooling by attention, map_pool.c: one learned query, the same for all
 * pictures; y = o W^O + b, pooled = y + MLP(LN(y)). */
typedef struct vit_map_state {
    float *query;               /* [batch][D] Q = latent W^Q + b, the same row for each picture */
    float *kv;                  /* [R][2][D] K and V */
    float *p;                   /* [batch][heads][1][padded T] attention weights */
    float *o, *y, *norm;        /* [batch][D] */
    float *hidden, *active;     /* [batch][M] */
    vit_norm_state stats;       /* [batch] */
    float *d_query, *d_o, *d_y; /* [batch][D] */
    float *d_hidden;            /* [batch][M] */
    float *d_p;                 /* as p: its gradient, wanted for maps; or NULL */
} vit_map_state;

/* Which activations a state keeps for the backward pass. Gradients are the same to the bit. */
typedef enum vit_kept {
    VIT_KEPT_NOTHING, /* inference */
    VIT_KEPT_INPUTS, /* each block's input z; the rest is computed again (Chen et al.: Training Deep
                        Nets with Sublinear Memory Cost) */
    VIT_KEPT_ALL,    /* everything that a matrix product makes */
    VIT_KEPT_TOKENS, /* for maps (vit/explain): as INPUTS; besides, the last block computes every
                        token, read or not, the attention weights p of the block that is being
                        computed are there, and there is memory for the pictures' gradient */
} vit_kept;

/* The activations of one stack, in the order of the forward pass, and the gradients' memory. */
typedef struct vit_state {
    size_t capacity, batch; /* samples there is memory for; samples of the last forward pass */
    vit_kept kept;
    size_t frozen; /* the first `frozen` blocks, and what comes before them, are not trained and
                      keep nothing for the backward pass */
    const float *images; /* of the last forward pass, borrowed from the caller */
    size_t rows;         /* R of the last forward pass */
    /* Of a stack whose tokens are those of texts: */
    const vit_ids *texts;   /* [batch], without START and END; set by the caller, borrowed */
    uint32_t *ids, *places; /* [R] id and position of each token; a decoder's begin with START */
    vit_attention_span *spans, *cross_spans; /* [batch]; NULL where all samples have T tokens */
    size_t memory_tokens;                    /* of one sample's memory, at most */
    struct vit_state *decoder;               /* the second stack's; NULL: there is none */
    /* Stem: x_p, and x_p E */
    float *patches; /* [batch][N][P^2 C] x_p; after convolutions [batch][N][D]; of a tokenizer they
                       are `embedded` */
    vit_conv_state convs[VIT_MOST_CONVS];
    float *columns;                /* of the largest convolution, vit/ops/conv.h */
    float *raw_patches;            /* patches before their norm; without one the same array */
    float *raw_embedded;           /* embedded before its norm, in training with patch norms */
    vit_norm_state patch_stats[2]; /* [batch][N] each, of patch norms */
    float *embedded;               /* [batch][N][D] x_p E */
    float *tokens;                 /* [R][D] the input of norm_pre; without it z_0, blocks[0].z */
    vit_norm_state pre_stats;      /* [R] each, of norm_pre */
    /* Blocks */
    vit_block_state *blocks; /* [depth] */
    size_t outputs;          /* tokens of a picture that the last block computes: T or 1 */
    float *z;                /* its output, [batch][outputs][D] */
    /* Pooling and head */
    float *normed; /* [R][D] z after a final norm of all tokens; without one z itself */
    vit_map_state map;
    float *pool_scores;   /* [R], sequence pooling */
    float *pool_p;        /* [batch][padded T] their softmax */
    float *pooled;        /* [batch][F] */
    vit_norm_state stats; /* of the final norm: [R] each if of all tokens, [batch] after pooling */
    float *features;      /* [batch][F] what the head sees; of VIT_POOL_TOKENS [R][D] */
    float *memory; /* of an encoder: [R][width that cross-attention reads] the features, projected
                      where the config has memory_proj */
    float *head_hidden, *head_active; /* [batch][M], MLP head */
    float *logits;                    /* [batch][classes]; of texts [R][classes] */
    float *scratch;                   /* of attention: [threads][vit_attention_scratch] */
    float *room;                      /* of matrix products, for vit_exec: [threads][...] */
    /* Drop path (Huang et al.: Deep Networks with Stochastic Depth): the factors of MSA and MLP of
     * each picture, [depth][2][batch], set by the caller before the forward pass; NULL: all are 1.
     */
    const float *keep;
    /* For the backward pass. d_narrow, d_branch and d_wide are scratch memory of each block in
     * turn. */
    float *d_logits;       /* as logits; set by the caller before the backward pass */
    float *d_features;     /* [R][D], of an encoder */
    float *d_memory;       /* as memory; without memory_proj d_features itself */
    float *d_cross_kv;     /* [rows of the memory][2][A] */
    const float *d_pooled; /* [batch][F], where vit_head_backward left it; for maps */
    float *d_images;       /* as images, of VIT_KEPT_TOKENS; else NULL */
    float *d_z;            /* [R][D] */
    float *d_narrow;       /* [R][max(D, A)] */
    float *d_branch;       /* [R][max(D, A)] */
    float *d_columns;      /* as columns */
    float *d_convs[2];     /* of a convolution's output and of its input; one becomes the other */
    float *d_scores, *d_p; /* as pool_scores and pool_p */
    float *d_patches;      /* [batch][N][max(P^2 C, D)], with patch norms */
    float *d_inputs;       /* [batch][N][P^2 C], with patch norms or d_images */
    float *d_wide;         /* [R][max(3 A, M or 2 M, 2 D)] */
    float *d_gated;        /* [R][M], gated MLPs */
    float *d_heads;        /* [A], qk norm */
} vit_state;

/* Keys and values of a text's earlier tokens, while it is written token by token. Each text has
 * memory for `length` tokens; the call's spans say how many are there, the new one included. */
typedef struct vit_block_cache {
    float *kv;     /* [texts][length][2][A] */
    size_t length; /* tokens, at most */
} vit_block_cache;

typedef struct vit_network {
    vit_config config;
    vit_weights weights;
} vit_network;

/* Carves a state for `capacity` samples from an arena; a counting arena (arena.h) only measures.
 * threads: at least those of the exec that it will be used with. frozen: as in vit_state; 0 for
 * inference. */
void vit_state_carve(vit_state *out, vit_arena *arena, const vit_config *config, size_t capacity,
                     int threads, vit_kept kept, size_t frozen);

/* The decoder as a network of its own; its weights are borrowed from `network`. */
vit_network vit_network_decoder(const vit_network *network);

/* Carves a state for writing texts token by token (write.h): the encoder for `samples` samples, the
 * decoder for one new token of each of `rows` texts of at most `length` tokens. The caller carves
 * the decoder's cross_kv. */
void vit_state_carve_writer(vit_state *out, vit_arena *arena, const vit_config *config,
                            size_t samples, size_t rows, size_t length, int threads);

/* The exec for the functions below: the precision of the network's weights, the state's memory.
 * threads: at most as many as the state was carved for. */
vit_exec vit_network_exec(const vit_network *network, const vit_state *state,
                          const vit_kernels *kernels, int threads);

/* The forward pass: fills state->features and state->logits. images:
 * [batch][height][width][channels], normalised, borrowed until after the backward pass; batch <=
 * capacity. Where a stack reads texts, the caller sets its state->texts before: of the encoder the
 * source, of the decoder the target. Row i of the decoder's logits then is the prediction of token
 * i given the right tokens before it (teacher forcing). */
void vit_network_forward(const vit_network *network, const vit_exec *exec, vit_state *state,
                         const float *images, size_t batch);

/* The decoder alone on one new token of each of state->batch texts; fills state->logits:
 * [batch][ids]. The caller has set state->ids, places, spans and cross_spans, and computed
 * state->blocks[i].cross_kv. caches: [depth], to which the new tokens' keys and values are added.
 */
void vit_decoder_step(const vit_network *decoder, const vit_exec *exec, vit_state *state,
                      const vit_block_cache *caches);

/* The encoder alone: fills state->memory. The arguments are those of vit_network_forward. */
void vit_network_encode(const vit_network *network, const vit_exec *exec, vit_state *state,
                        const float *images, size_t batch);

/* The backward pass: adds the gradients of the last forward pass to `gradients`, given
 * state->d_logits (of an encoder-decoder, state->decoder->d_logits). Those of frozen parameters,
 * and those that are NULL in `gradients`, are not computed. */
void vit_network_backward(const vit_network *network, const vit_exec *exec, vit_state *state,
                          const vit_gradients *gradients);

/* How many tokens per picture the block must compute: all T, or where the head reads the class
 * token alone, of the last block 1. */
size_t vit_block_outputs(const vit_config *c, size_t block);

/* ---- the parts of vit_network_forward and vit_network_backward, for callers that go block by
 * block ---- */

typedef struct vit_block_call vit_block_call;
typedef struct vit_memory vit_memory;

/* images -> z_0 = [x_class; x_p E] + E_pos in state->blocks[0].z; the caller sets state->batch and
 * rows before. */
void vit_tokens_forward(const vit_network *network, const vit_exec *exec, vit_state *state,
                        const float *images);

/* Given state->d_z, the gradient of z_0: adds to `gradients`, and fills state->d_images if it is
 * there. */
void vit_tokens_backward(const vit_network *network, const vit_exec *exec, vit_state *state,
                         const vit_gradients *gradients);

/* The arguments for block i. memory: NULL for an encoder. */
vit_block_call vit_network_block(const vit_network *network, const vit_exec *exec,
                                 const vit_state *state, const vit_memory *memory, size_t i);

/* Mean and 1 / sigma of `rows` rows. */
vit_norm_state vit_carve_stats(vit_arena *arena, size_t rows);

/* ---- stem.c: pictures -> x_p E, state->embedded ---- */

/* Its part of a state. training: it gets gradients. */
void vit_stem_carve(vit_state *s, vit_arena *arena, const vit_config *c, bool training);

/* images: as in vit_network_forward */
void vit_stem_forward(const vit_network *n, const vit_exec *exec, vit_state *s,
                      const float *images);

/* Adds to g, given d_embedded: [batch][N][D]; fills s->d_images if it is there. */
void vit_stem_backward(const vit_network *n, const vit_exec *exec, vit_state *s,
                       const vit_gradients *g, const float *d_embedded);

/* ---- text_stem.c: state->texts -> state->tokens ---- */

/* Its part of a state. */
void vit_text_carve(vit_state *s, vit_arena *arena, const vit_config *c);

/* Sets s->ids, places, spans and rows from s->texts. */
void vit_text_rows(vit_state *s, const vit_config *c);

/* The row of the table of positions for a text's token number `place`, counted from 0, whose id is
 * `id`. */
uint32_t vit_text_place(const vit_config *c, size_t id, size_t place);

/* s->tokens: [R][D] = embedding[id] + positions[place] */
void vit_text_forward(const vit_network *n, const vit_exec *exec, vit_state *s);

/* Adds to the gradients of both tables, given d_tokens: [R][D], which is overwritten. */
void vit_text_backward(const vit_network *n, const vit_exec *exec, vit_state *s,
                       const vit_gradients *g, float *d_tokens);

/* ---- head.c: state->z -> state->features -> state->logits ---- */

/* Its part of a state. */
void vit_head_carve(vit_state *s, vit_arena *arena, const vit_config *c, bool training);

/* The final norm, pooling, and the head's linear layers. */
void vit_head_forward(const vit_network *n, const vit_exec *exec, vit_state *s);

/* s->d_z = d_z of the last block's output s->z, given s->d_logits; adds to g. */
void vit_head_backward(const vit_network *n, const vit_exec *exec, vit_state *s,
                       const vit_gradients *g);

/* ---- map_pool.c: pooling by attention, x: [R][D] -> state->pooled: [batch][D] ---- */

/* Its state. */
void vit_map_carve(vit_map_state *m, vit_arena *arena, const vit_config *c, size_t capacity,
                   bool training);

/* The shape of its attention, which has one query. */
vit_attention_shape vit_map_attention_shape(const vit_config *c, size_t batch);

void vit_map_forward(const vit_network *n, const vit_exec *exec, vit_state *s, const float *x);

/* dx = d_x: [R][D], given d_pooled: [batch][D]; adds to g. */
void vit_map_backward(const vit_network *n, const vit_exec *exec, vit_state *s,
                      const vit_gradients *g, float *dx, const float *d_pooled, const float *x);

/* ---- block.c ---- */

/* The memory that cross-attention reads: the encoder's last states. */
struct vit_memory {
    const float *states; /* [rows][its width]; NULL: the blocks' cross_kv are computed already */
    float *d_states;     /* as states: the backward pass adds their gradient */
    size_t rows;
    const vit_attention_span
        *spans; /* [batch] the rows of each sample's queries, and of its memory */
};

/* What a block is called with. All is borrowed. */

struct vit_block_call {
    const vit_exec *exec;
    const vit_config *config;
    const vit_block_weights *weights;
    size_t batch;
    size_t rows;       /* R */
    size_t outputs;    /* tokens of a picture that are wanted: all of them, or the first */
    const float *keep; /* [2][batch] drop path of this block's MSA and MLP, or NULL */
    float *scratch;    /* of attention */
    const vit_attention_span *spans; /* [batch] of self-attention; NULL: all have T tokens */
    const vit_memory *memory;        /* NULL: there is no cross-attention */
    const vit_block_cache *cache;    /* NULL: all tokens are computed at once */
    /* For maps, or NULL; filled by the backward pass: the gradient of the state's p, and that of
     * the first norm's output, [R][D], which itself is left in the state's norm. */
    float *d_p, *d_norm1;
};

/* z_next: [batch][outputs][D], the input of the next block; may be state->z. */
void vit_block_forward(const vit_block_call *call, float *z_next, vit_block_state *state);

/* Computes again, from state->z, what the backward pass needs. z_next holds what vit_block_forward
 * wrote there and keeps it; what only z_next needs is not computed. */
void vit_block_recompute(const vit_block_call *call, float *z_next, vit_block_state *state);

/* s->d_z: on entry the gradient of the block's output, [batch][outputs][D], on return that of its
 * input, [R][D]. Adds to g. */
void vit_block_backward(const vit_block_call *call, vit_state *s, const vit_block_state *state,
                        const vit_block_gradients *g);

#endif
