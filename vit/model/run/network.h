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
 * Sizes in the comments as in vit/model/parts/part.h.
 */
#ifndef VIT_MODEL_RUN_NETWORK_H
#define VIT_MODEL_RUN_NETWORK_H

#include "vit/model/parts/block.h"
#include "vit/model/parts/head.h"
#include "vit/model/parts/pool.h"
#include "vit/model/parts/positions.h"
#include "vit/model/parts/stem.h"
#include "vit/model/parts/token_embedding.h"

/* One stack: the states of its parts, in the order of the forward pass. */
typedef struct vit_state {
    size_t capacity, batch; /* samples there is memory for; samples of the last forward pass */
    size_t rows;            /* R of the last forward pass */
    size_t encoder_tokens;  /* of one sample, at most, that cross-attention reads */
    vit_kept kept;
    size_t frozen; /* the first `frozen` blocks, and what comes before them, are not trained and
                      keep nothing for the backward pass */
    /* Set by the caller before the forward pass, borrowed: the texts, [batch], without START and
     * END, of a stack that reads them; and for drop path the factors of MSA and MLP of each
     * picture, [depth][2][batch]; NULL: all are 1. */
    const vit_ids *texts;
    const float *keep;
    /* Set by the caller, or NULL: in the backward pass, called when the gradients of all parameters
     * of the layers from `layer` on (vit_parameter.layer) are complete, for each layer but 0. */
    void (*passed)(size_t layer, void *passed_by);
    void *passed_by;
    vit_stem_state stem;
    vit_token_embedding_state text;
    vit_positions_state positions;
    vit_block_state *blocks; /* [depth] */
    float *z;                /* the last block's output, [batch][outputs][D] */
    vit_pool_state pool;
    vit_head_state head;
    /* Of an encoder whose config has memory_proj: [R][the decoder's D] its features, projected for
     * cross-attention, and their gradient; else NULL, and cross-attention reads the features. */
    float *projected, *d_projected;
    vit_backward back;
    float *scratch;            /* of attention: [threads][vit_attention_scratch] */
    float *room;               /* of matrix products, for vit_exec: [threads][...] */
    struct vit_state *decoder; /* the second stack's; NULL: there is none */
} vit_state;

typedef struct vit_network {
    vit_config config;
    vit_weights weights;
} vit_network;

/* Carves a state for `capacity` samples from an arena; a counting arena (vit/base/arena.h) only
 * measures. threads: at least those of the exec that it will be used with. frozen: as in vit_state;
 * 0 for inference. */
void vit_state_carve(vit_state *out, vit_arena *arena, const vit_config *config, size_t capacity,
                     int threads, vit_kept kept, size_t frozen);

/* The decoder as a network of its own; its weights are borrowed from `network`. */
vit_network vit_network_decoder(const vit_network *network);

/* Carves a state for writing texts token by token (vit/model/run/generate.h): the encoder for
 * `samples` samples, the decoder for one new token of each of `rows` texts of at most `length`
 * tokens. The caller carves the decoder's cross.kv. */
void vit_state_carve_writer(vit_state *out, vit_arena *arena, const vit_config *config,
                            size_t samples, size_t rows, size_t length, int threads);

/* Carves a state for texts of at most `rows` tokens together, of a network that is one text
 * encoder; a text has at least one token, so that there are at most `rows` of them. */
void vit_state_carve_texts(vit_state *out, vit_arena *arena, const vit_config *config, size_t rows,
                           int threads);

/* The exec for the functions below: the precision of the network's weights, the state's memory.
 * threads: at most as many as the state was carved for. */
vit_exec vit_network_exec(const vit_network *network, const vit_state *state,
                          const vit_kernels *kernels, int threads);

/* The forward pass: fills state->pool.features and state->head.logits. images:
 * [batch][height][width][channels], normalised, borrowed until after the backward pass; batch <=
 * capacity. Where a stack reads texts, the caller sets its state->texts before: of the encoder the
 * source, of the decoder the target. Row i of the decoder's logits then is the prediction of token
 * i given the right tokens before it (teacher forcing). */
void vit_network_forward(const vit_network *network, const vit_exec *exec, vit_state *state,
                         const float *images, size_t batch);

/* The decoder alone on one new token of each of state->batch texts; fills state->head.logits:
 * [batch][ids]. The caller has set state->text and computed state->blocks[i].cross.kv. caches:
 * [depth], to which the new tokens' keys and values are added. */
void vit_decoder_step(const vit_network *decoder, const vit_exec *exec, vit_state *state,
                      const vit_block_cache *caches);

/* What cross-attention reads of an encoder's last forward pass: [rows][width]. */
const float *vit_encoder_output(const vit_state *encoder);

/* The encoder alone: fills state->pool.features, and state->projected. The arguments are those of
 * vit_network_forward. */
void vit_network_encode(const vit_network *network, const vit_exec *exec, vit_state *state,
                        const float *images, size_t batch);

/* The backward pass: adds the gradients of the last forward pass to `gradients`, given
 * state->head.d_logits (of an encoder-decoder, state->decoder->head.d_logits). Those of frozen
 * parameters, and those that are NULL in `gradients`, are not computed. */
void vit_network_backward(const vit_network *network, const vit_exec *exec, vit_state *state,
                          const vit_gradients *gradients);

/* How many tokens per picture the block must compute in a state that keeps so much: all T, or where
 * the head reads the class token alone, of the last block 1. */
size_t vit_block_outputs(const vit_config *c, vit_kept kept, size_t block);

/* ---- the parts of vit_network_forward and vit_network_backward, for callers that go block by
 * block ---- */

/* images -> z_0 = [x_class; x_p E] + E_pos in state->blocks[0].z; the caller sets state->batch and
 * rows before. */
void vit_tokens_forward(const vit_network *network, const vit_exec *exec, vit_state *state,
                        const float *images);

/* Given state->back.d_z, the gradient of z_0: adds to `gradients`, and fills state->stem.d_images
 * if it is there. */
void vit_tokens_backward(const vit_network *network, const vit_exec *exec, vit_state *state,
                         const vit_gradients *gradients);

/* The final norm, the pooling and the head: state->z -> state->head.logits, and
 * state->head.d_logits -> state->back.d_z, [batch][outputs][D]. */
void vit_logits_forward(const vit_network *network, const vit_exec *exec, vit_state *state);
void vit_logits_backward(const vit_network *network, const vit_exec *exec, vit_state *state,
                         const vit_gradients *gradients);

/* The arguments for block i. m: the encoder's last states; NULL for an encoder. */
vit_block_call vit_network_block(const vit_network *network, const vit_exec *exec,
                                 const vit_state *state, const vit_encoder_states *m, size_t i);

#endif
