/* The network: patches -> linear embedding -> tokens -> encoder blocks -> head -> logits, and back.
 * Or an encoder-decoder: the encoder's last states are the memory that the blocks of a decoder look
 * at, a second stack of the same blocks, of texts; a decoder alone is a language model.
 *
 * A state holds the activations of up to `capacity` pictures. In training every block has its own,
 * kept for the backward pass, or only its input, from which the rest is made again; what norms and
 * the activation give always is. In inference all blocks share one. Weights are only read, so many
 * states may use one network at once, each on its own thread.
 *
 * R = batch * tokens rows, of texts the tokens that they have, D = dim, A = heads * head_dim (D
 * unless the config says otherwise), M = mlp width, N = patches, T = tokens: N and those before
 * them, F = features: D, or 2 D.
 */
#ifndef VIT_MODEL_NETWORK_H
#define VIT_MODEL_NETWORK_H

#include "vit/base/arena.h"
#include "vit/model/parameters.h"
#include "vit/ops/attention.h"
#include "vit/text/vocabulary.h"

/* One encoder block. Pre-norm (Dosovitskiy et al., eq. 2 and 3):
 *     z' = MSA(LN(z)) + z; z_next = MLP(LN(z')) + z'.
 * Post-norm (Vaswani et al., section 3.1):
 *     h = LN(z + MSA(z)); z_next = LN(h + MLP(h)).
 * With cross-attention, CA, to the memory m, between the two:
 *     z'' = CA(LN(z'), m) + z', and then z'' for z'; or h' = LN(h + CA(h, m)), and h' for h. */
typedef struct vit_block_state {
    float *z;                   /* [R][D] the block's input */
    vit_norm_state stats1;      /* [R] each */
    float *norm;                /* [R][D] LN(z), then LN(z'); post-norm: h; all blocks' */
    float *qkv;                 /* [R][3][heads][A / heads] */
    float *raw_qkv;             /* the same before qk norm; NULL without it and in inference */
    vit_norm_state qk_stats[2]; /* [R][heads] each, of queries and keys */
    float *p;                   /* [batch][heads][T][padded T] attention weights; NULL: not
                                   kept */
    float *o;                   /* [R][A] heads side by side */
    /* [batch][D], [batch][D], [batch][A], of the last block where only class tokens are read: their
     * z, their x that the queries come from, and the queries. What follows the queries then has one
     * row per picture. */
    float *first_z, *first_x, *first_q;
    float *unscaled1, *unscaled2; /* [R][D] MSA and MLP before layer scale; NULL without it and
                                     in inference */
    float *mid;                   /* [R][D] z'; post-norm: z + MSA(z) */
    vit_norm_state stats2;
    float *cross_q;             /* [R][A] */
    float *cross_kv;            /* [rows of the memory][2][A] */
    float *cross_p, *cross_o;   /* as p and o */
    float *cross_mid;           /* [R][D] z''; post-norm: h + CA(h, m) */
    vit_norm_state cross_stats; /* [R] */
    float *sum;                 /* [R][D] h + MLP(h), post-norm */
    float *hidden;              /* [R][M] before the activation; gated: [R][2 M] */
    float *active;              /* [R][M] after; all blocks' */
} vit_block_state;

typedef struct vit_conv_state {
    float *hidden, *active; /* [batch][pixels][width] before and after GELU, or max pooling */
    uint8_t *place;         /* as active: where max pooling found it; NULL in inference */
} vit_conv_state;

/* Pooling by attention: y = o Wo^T + b, out = y + MLP(LN(y)); one query for all pictures. */
typedef struct vit_map_state {
    float *query;               /* [batch][D] latent Wq^T + b, over and over */
    float *kv;                  /* [R][2][D] */
    float *p;                   /* [batch][heads][1][padded T] */
    float *o, *y, *norm;        /* [batch][D] */
    float *hidden, *active;     /* [batch][M] */
    vit_norm_state stats;       /* [batch] */
    float *d_query, *d_o, *d_y; /* [batch][D] */
    float *d_hidden;            /* [batch][M] */
    float *d_p;                 /* as p: its gradient, for maps; or NULL */
} vit_map_state;

/* What a state keeps of the blocks for the backward pass: nothing, in inference; every block's
 * input z, the rest being computed again (Chen et al.: Training Deep Nets with Sublinear Memory
 * Cost); all that takes products to make. The gradients are the same to the bit.
 * TOKENS: inputs, and room for the pictures' gradient; the last block gives every token's output,
 * be it read or not, and `p` is kept of the block at work: for maps (vit/explain). */
typedef enum vit_kept {
    VIT_KEPT_NOTHING,
    VIT_KEPT_INPUTS,
    VIT_KEPT_ALL,
    VIT_KEPT_TOKENS,
} vit_kept;

typedef struct vit_state {
    size_t capacity, batch; /* pictures there is room for; of the last forward pass */
    vit_kept kept;
    size_t frozen; /* so many of the first blocks, and what comes before them, get no gradient: of
                      them nothing is kept */
    const float *images; /* of the last forward pass, the caller's */
    size_t rows;         /* R of the last forward pass */
    /* Of a stack of texts: */
    const vit_ids *texts;   /* [batch], without START and END; set by the caller before */
    uint32_t *ids, *places; /* [R], of each token; a decoder's texts have START before them */
    vit_attention_span *spans, *cross_spans; /* [batch]; NULL where all have T tokens */
    size_t memory_tokens;                    /* of a sample's memory, at most */
    struct vit_state *decoder;               /* of the second stack; NULL: there is none */
    float *patches; /* [batch][N][P^2 C], or [batch][N][D] after the convolutions; those of a
                       tokenizer are `embedded` */
    vit_conv_state convs[VIT_MOST_CONVS];
    float *columns;                /* of the largest convolution, conv.h */
    float *raw_patches;            /* patches before their norm, or the same array */
    float *raw_embedded;           /* embedded before its norm, in training with patch norms */
    vit_norm_state patch_stats[2]; /* [batch][N] each, of patch norms */
    float *embedded;               /* [batch][N][D] */
    float *tokens;                 /* [R][D] what norm_pre takes; without it blocks[0].z */
    vit_norm_state pre_stats;      /* [R] */
    vit_block_state *blocks;
    size_t outputs; /* tokens of a picture that the last block gives */
    float *z;       /* its output, [batch][outputs][D] */
    float *normed;  /* [R][D] z after a final norm of all tokens; without it z */
    vit_map_state map;
    float *pool_scores;   /* [R], sequence pooling */
    float *pool_p;        /* [batch][padded T] its weights */
    float *pooled;        /* [batch][F] */
    vit_norm_state stats; /* [R] of a norm of all tokens, [batch] of one after pooling */
    float *features;      /* [batch][F] after the final norm: what the head sees; of a pooling that
                             keeps all tokens [R][D] */
    float *memory; /* of an encoder: [R][D of the decoder] its features projected, where they are;
                      else these themselves */
    float *head_hidden, *head_active; /* [batch][M], MLP head */
    float *logits;                    /* [batch][classes] */
    float *scratch;                   /* attention: [threads][...] */
    float *room;                      /* of vit_exec, for matrix products */
    /* Drop path (Huang et al.: Deep Networks with Stochastic Depth), set by the caller before the
     * forward pass: what MSA and MLP of each picture are multiplied by, [depth][2][batch]; NULL:
     * 1. */
    const float *keep;
    /* training: */
    float *d_logits;           /* [batch][classes], set by the caller before the backward pass; of
                                  texts [R][classes], as `logits` are */
    float *d_features;         /* [R][D], of an encoder's last states */
    float *d_memory;           /* of the memory, or the same array */
    float *d_cross_kv;         /* [rows of the memory][2][A] */
    const float *d_pooled;     /* [batch][F], where vit_head_backward left it for now */
    float *d_images;           /* as images: their gradient, of VIT_KEPT_TOKENS; else NULL */
    float *d_z;                /* [R][D] */
    float *d_narrow;           /* [R][max(D, A)] */
    float *d_branch;           /* [R][max(D, A)] */
    float *d_conv, *d_columns; /* of the largest convolution */
    float *d_max;              /* of the largest max pooling's output */
    float *d_scores, *d_p;     /* as pool_scores and pool_p */
    float *d_patches;          /* [batch][N][max(P^2 C, D)], with patch norms */
    float *d_inputs;           /* [batch][N][P^2 C], with patch norms or d_images */
    float *d_wide;             /* [R][max(3 A, M or 2 M)] */
    float *d_gated;            /* [R][M], gated */
    float *d_heads;            /* [A], qk norm */
} vit_state;

/* Of a text that is written token by token: keys and values of the tokens that were there before.
 * Each sample has room for `length` of them; the call's spans say where, with the new one. */
typedef struct vit_block_cache {
    float *kv;     /* [samples][length][2][A] */
    size_t length; /* tokens, at most */
} vit_block_cache;

typedef struct vit_network {
    vit_config config;
    vit_weights weights;
} vit_network;

/* Carves a state from an arena; a counting arena (arena.h) only measures. threads: those of the
 * exec that will be used. frozen: as in the state; 0 for inference. */
void vit_state_carve(vit_state *out, vit_arena *arena, const vit_config *config, size_t capacity,
                     int threads, vit_kept kept, size_t frozen);

/* The second stack as a network of its own, whose weights are borrowed. */
vit_network vit_network_decoder(const vit_network *network);

/* The same for writing texts token by token (write.h): the encoder for `samples`, the decoder for
 * one new token in each of `rows`, of texts of at most `length` tokens; its cross_kv are not
 * carved. */
void vit_state_carve_writer(vit_state *out, vit_arena *arena, const vit_config *config,
                            size_t samples, size_t rows, size_t length, int threads);

/* How the functions below run on a state: in the precision of the network's weights, with the
 * state's memory; threads: at most as many as it was carved for. */
vit_exec vit_network_exec(const vit_network *network, const vit_state *state,
                          const vit_kernels *kernels, int threads);

/* images: [batch][height][width][channels], normalised, to be kept until after the backward pass;
 * batch <= capacity. Fills state->features and state->logits. Where a stack is of texts, its
 * state->texts are to be there before: of the encoder the source, of the decoder the target, whose
 * last states, and logits, then are those that follow each of its tokens (teacher forcing). */
void vit_network_forward(const vit_network *network, const vit_exec *exec, vit_state *state,
                         const float *images, size_t batch);

/* The decoder alone, on state->batch new tokens, one a sample: state->ids and places are set, spans
 * as the cache and the memory want them. caches: [depth]; state->blocks[i].cross_kv are made. */
void vit_decoder_step(const vit_network *decoder, const vit_exec *exec, vit_state *state,
                      const vit_block_cache *caches);

/* The encoder alone: state->memory, [R][width that the decoder's blocks look at]. */
void vit_network_encode(const vit_network *network, const vit_exec *exec, vit_state *state,
                        const float *images, size_t batch);

/* Adds the gradients of the last forward pass to `gradients`, given state->d_logits (of an
 * encoder-decoder, the decoder's d_logits). Frozen parameters, and gradients that are NULL, are
 * left out. */
void vit_network_backward(const vit_network *network, const vit_exec *exec, vit_state *state,
                          const vit_gradients *gradients);

/* How many tokens per picture a block must compute: of the last block often only the class token.
 */
size_t vit_block_outputs(const vit_config *c, size_t block);

/* ---- the parts of vit_network_forward and vit_network_backward, for callers that look at every
 * block ---- */

typedef struct vit_block_call vit_block_call;
typedef struct vit_memory vit_memory;

/* images -> state->blocks[0].z, the tokens; state->batch and rows are set before. */
void vit_tokens_forward(const vit_network *network, const vit_exec *exec, vit_state *state,
                        const float *images);
/* state->d_z = their gradient -> gradients, and state->d_images where there is room for it. */
void vit_tokens_backward(const vit_network *network, const vit_exec *exec, vit_state *state,
                         const vit_gradients *gradients);

/* The arguments with which block i is called. memory: NULL for an encoder. */
vit_block_call vit_network_block(const vit_network *network, const vit_exec *exec,
                                 const vit_state *state, const vit_memory *memory, size_t i);

/* Statistics of `rows` rows. */
vit_norm_state vit_carve_stats(vit_arena *arena, size_t rows);

/* ---- stem.c: pictures -> state->embedded ---- */

void vit_stem_carve(vit_state *s, vit_arena *arena, const vit_config *c, bool training);

void vit_stem_forward(const vit_network *n, const vit_exec *exec, vit_state *s,
                      const float *images);

/* d_embedded: [batch][N][D] */
void vit_stem_backward(const vit_network *n, const vit_exec *exec, vit_state *s,
                       const vit_gradients *g, const float *d_embedded);

/* ---- text_stem.c: state->texts -> state->tokens ---- */

void vit_text_carve(vit_state *s, vit_arena *arena, const vit_config *c);

/* ids, places, spans and rows of state->texts. */
void vit_text_rows(vit_state *s, const vit_config *c);

/* The row of the table of positions for token number `place` of a text. */
uint32_t vit_text_place(const vit_config *c, size_t id, size_t place);

void vit_text_forward(const vit_network *n, const vit_exec *exec, vit_state *s);

/* d_tokens, [R][D], is overwritten. */
void vit_text_backward(const vit_network *n, const vit_exec *exec, vit_state *s,
                       const vit_gradients *g, float *d_tokens);

/* ---- head.c: state->z -> state->logits ---- */

void vit_head_carve(vit_state *s, vit_arena *arena, const vit_config *c, bool training);

void vit_head_forward(const vit_network *n, const vit_exec *exec, vit_state *s);

/* state->d_z = gradient of the last block's output, state->z. */
void vit_head_backward(const vit_network *n, const vit_exec *exec, vit_state *s,
                       const vit_gradients *g);

/* ---- map_pool.c: x, [R][D], -> state->pooled ---- */

void vit_map_carve(vit_map_state *m, vit_arena *arena, const vit_config *c, size_t capacity,
                   bool training);

/* The shape of the attention of its one query. */
vit_attention_shape vit_map_attention_shape(const vit_config *c, size_t batch);

void vit_map_forward(const vit_network *n, const vit_exec *exec, vit_state *s, const float *x);

/* dx: [R][D], given d_pooled: [batch][D]. */
void vit_map_backward(const vit_network *n, const vit_exec *exec, vit_state *s,
                      const vit_gradients *g, float *dx, const float *d_pooled, const float *x);

/* ---- block.c ---- */

/* The memory that cross-attention reads. */
struct vit_memory {
    const float *states; /* [rows][its width]; NULL: the blocks' cross_kv are made of it already */
    float *d_states;     /* += its gradient */
    size_t rows;
    const vit_attention_span *spans; /* [batch] each sample's rows of its own, and of the memory */
};

struct vit_block_call {
    const vit_exec *exec;
    const vit_config *config;
    const vit_block_weights *weights;
    size_t batch;
    size_t rows;       /* R, of all samples */
    size_t outputs;    /* tokens of a picture whose output is wanted: all of them, or the first */
    const float *keep; /* [2][batch] of this block, or NULL */
    float *scratch;    /* of attention */
    const vit_attention_span *spans; /* [batch] of self-attention; NULL: all have T tokens */
    const vit_memory *memory;        /* NULL: there is no cross-attention */
    const vit_block_cache *cache;    /* NULL: all tokens are there at once */
    /* What maps want of the backward pass, or NULL: the gradients of the state's p, and of what the
     * first norm puts out, [R][D]; the latter then stands in the state's norm. */
    float *d_p, *d_norm1;
};

/* z_next: [batch][outputs][D], may be state->z. */
void vit_block_forward(const vit_block_call *call, float *z_next, vit_block_state *state);

/* Repeats the forward pass for the backward pass; z_next holds what vit_block_forward wrote there,
 * and is left so. What only z_next needs is not computed again. */
void vit_block_recompute(const vit_block_call *call, float *z_next, vit_block_state *state);

/* On entry s->d_z is the gradient of the block's output, [batch][outputs][D], on return that of its
 * input. */
void vit_block_backward(const vit_block_call *call, vit_state *s, const vit_block_state *state,
                        const vit_block_gradients *g);

#endif
