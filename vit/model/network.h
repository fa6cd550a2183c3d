/* The network: patches -> linear embedding -> tokens -> encoder blocks -> head -> logits, and the
 * backward pass. An encoder-decoder has a second stack of the same blocks, the decoder, whose
 * tokens are those of a text; its cross-attention reads the encoder's last states. A decoder alone
 * is a language model.
 *
 * A state holds the activations of up to `capacity` samples (pictures or texts). In training every
 * block has activations of its own, kept for the backward pass; or only its input is kept, and the
 * rest is computed again. Outputs of layer norms and of activation functions are always computed
 * again. In inference all blocks share the same memory. Weights are only read, so several threads
 * may use one network at once, each with a state of its own.
 *
 * Sizes in the comments as in part.h.
 */
#ifndef VIT_MODEL_NETWORK_H
#define VIT_MODEL_NETWORK_H

#include "vit/model/block.h"
#include "vit/text/vocabulary.h"

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
    size_t encoder_tokens;     /* of one sample, at most, that cross-attention reads */
    struct vit_state *decoder; /* the second stack's; NULL: there is none */
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
    /* For the backward pass. */
    vit_backward back;
    float *d_logits;       /* as logits; set by the caller before the backward pass */
    float *d_features;     /* [R][D], of an encoder */
    float *d_memory;       /* as memory; without memory_proj d_features itself */
    const float *d_pooled; /* [batch][F], where vit_head_backward left it; for maps */
    float *d_images;       /* as images, of VIT_KEPT_TOKENS; else NULL */
    float *d_columns;      /* as columns */
    float *d_convs[2];     /* of a convolution's output and of its input; one becomes the other */
    float *d_scores, *d_p; /* as pool_scores and pool_p */
    float *d_patches;      /* [batch][N][max(P^2 C, D)], with patch norms */
    float *d_inputs;       /* [batch][N][P^2 C], with patch norms or d_images */
} vit_state;

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
 * the decoder's cross.kv. */
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
 * state->blocks[i].cross.kv. caches: [depth], to which the new tokens' keys and values are added.
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

/* images -> z_0 = [x_class; x_p E] + E_pos in state->blocks[0].z; the caller sets state->batch and
 * rows before. */
void vit_tokens_forward(const vit_network *network, const vit_exec *exec, vit_state *state,
                        const float *images);

/* Given state->d_z, the gradient of z_0: adds to `gradients`, and fills state->d_images if it is
 * there. */
void vit_tokens_backward(const vit_network *network, const vit_exec *exec, vit_state *state,
                         const vit_gradients *gradients);

/* The arguments for block i. m: the encoder's last states; NULL for an encoder. */
vit_block_call vit_network_block(const vit_network *network, const vit_exec *exec,
                                 const vit_state *state, const vit_encoder_states *m, size_t i);

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

#endif
