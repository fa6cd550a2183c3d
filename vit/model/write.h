/* Writing texts: a decoder is asked for one token after the other, each given those before it,
 * whose keys and values are kept. The bytes are those that the whole text would have had at once.
 *
 * Greedy, by beams as Hugging Face's transformers search them, or by chance. */
#ifndef VIT_MODEL_WRITE_H
#define VIT_MODEL_WRITE_H

#include "vit/model/network.h"

/* When beams end that might still be overtaken. */
typedef enum vit_early_stopping {
    VIT_STOP_LIKELY, /* when what is being written would not overtake at its present length */
    VIT_STOP_FIRST,  /* as soon as there are as many whole texts as beams */
    VIT_STOP_NEVER,  /* when it could not overtake at the full length either */
    VIT_STOP_COUNT,
} vit_early_stopping;

typedef struct vit_writing {
    size_t beams;          /* 1: greedy, or by chance */
    size_t length;         /* tokens at most, START with them, to the decoder's length */
    double length_penalty; /* a text's score is the sum of its log p, divided by its tokens, END
                              with them, to this power; of beams alone */
    vit_early_stopping early_stopping;
    size_t no_repeat; /* no so many tokens are there twice; 0: they may be */
    size_t end;       /* id that ends a text */
    bool sample;      /* the next token by chance: softmax(logits / temperature), of the top_k
                         likeliest */
    double temperature;
    size_t top_k; /* 0: all */
    uint64_t seed;
} vit_writing;

/* Greedy, to the decoder's whole length. */
vit_writing vit_writing_default(const vit_config *config);

/* ARGUMENT, naming the value, unless all fits the decoder. */
vit_status vit_writing_check(const vit_writing *writing, const vit_config *config,
                             vit_error *error);

/* What was written: without START and END. */
typedef struct vit_written {
    const uint32_t *ids; /* [count], the writer's until it writes again */
    size_t count;
    double score; /* of beams as length_penalty says; else the sum of log p. NaN where a logit was
                     no number: no text then */
    bool ended;   /* by END; false: it became as long as it may */
} vit_written;

typedef struct vit_text_writer vit_text_writer;

/* For up to `samples` texts at once; the network is borrowed. One caller at a time. */
vit_status vit_text_writer_new(vit_text_writer **out, const vit_network *network,
                               const vit_writing *writing, const vit_kernels *kernels, int threads,
                               size_t samples, vit_error *error);
void vit_text_writer_free(vit_text_writer *writer);

/* images: [count][height][width][channels], normalised, or of an encoder of texts sources: [count];
 * a decoder alone needs neither. number: of the first of the texts, for their random numbers.
 * out: [count]. */
void vit_write(vit_text_writer *writer, vit_written *out, const float *images,
               const vit_ids *sources, size_t count, uint32_t number);

#endif
