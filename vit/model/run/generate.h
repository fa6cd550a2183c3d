/* Writing texts with a decoder, one token after the other: each step's input is the token before,
 * and the keys and values of earlier tokens are cached. The logits are to the bit those of a
 * forward pass over the whole text. Greedy, by a beam search like that of Hugging Face's
 * transformers, or by chance. */
#ifndef VIT_MODEL_RUN_GENERATE_H
#define VIT_MODEL_RUN_GENERATE_H

#include "vit/model/run/network.h"
#include "vit/texts.h"

typedef struct vit_generation {
    size_t beams;          /* 1: greedy, or by chance */
    size_t length;         /* tokens at most, START included */
    double length_penalty; /* of beams: a text's score is the sum of its log p divided by (its
                              number of tokens, END included) to this power */
    vit_early_stopping early_stopping;
    size_t no_repeat;   /* no group of this many tokens is written twice; 0: it may be */
    size_t end;         /* the id END */
    bool sample;        /* the next token by chance, with the probabilities softmax(logits /
                           temperature) of the top_k likeliest */
    double temperature; /* of sampling alone */
    size_t top_k;       /* 0: all */
    uint64_t seed;
} vit_generation;

/* Greedy, up to the decoder's length. */
vit_generation vit_generation_default(const vit_config *config);

/* A text that was written, without START and END. */
typedef struct vit_generated {
    const uint32_t *ids; /* [count], owned by the writer, valid until it writes again */
    size_t count;
    double score; /* the sum of log p, of beams with the length penalty; NaN: a logit was NaN or
                     infinite, and the text means nothing */
    bool ended;   /* with END; false: it reached the greatest length */
} vit_generated;

typedef struct vit_generator vit_generator;

/* Writes up to `samples` texts at once. The network is borrowed; freed by vit_generator_free,
 * which takes NULL. One caller at a time. Errors: ARGUMENT, naming a value that is out
 * of range or does not suit the decoder; MEMORY. */
vit_status vit_generator_new(vit_generator **out, const vit_network *network,
                             const vit_generation *writing, const vit_kernels *kernels, int threads,
                             size_t samples, vit_error *error);
void vit_generator_free(vit_generator *writer);

/* Writes a text for each of `count` inputs, out: [count]. The inputs are images:
 * [count][height][width][channels], normalised, or, where the encoder reads texts, sources:
 * [count]; a decoder alone has none. number: of the first text, for the random numbers. */
void vit_generate(vit_generator *writer, vit_generated *out, const float *images,
                  const vit_ids *sources, size_t count, uint32_t number);

#endif
