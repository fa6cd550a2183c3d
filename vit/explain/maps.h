/* Maps of a picture (vit/maps.h): from a method to numbers over the patch grid. Each method is a
 * table row, vit_map_method, in one of the files named below. T tokens, N patches, D = dim. */
#ifndef VIT_EXPLAIN_MAPS_H
#define VIT_EXPLAIN_MAPS_H

#include "vit/explain/explainer.h"
#include "vit/maps.h"

/* ARGUMENT, naming the value, where an option is out of the network's range or means nothing for
 * the method. */
vit_status vit_map_check(const vit_map_options *options, const vit_config *config,
                         vit_error *error);

/* Whether a page may show it first. */
bool vit_method_begins_page(vit_method method);

/* image: [height][width][channels], normalised; the options were checked. Freed by vit_map_clear.
 * Errors: CANCELLED by the options' callback; FORMAT for values that are NaN or infinite; MEMORY.
 */
vit_status vit_map_make(vit_map *map, vit_explainer *explainer, const float *image,
                        const vit_map_options *options, vit_error *error);

/* ---- what methods share ---- */

/* A map that is being made. */
typedef struct vit_map_call {
    vit_explainer *explainer;
    const float *image;
    const vit_map_options *options;
    vit_map *map;
    size_t tokens, prefix, patches, row; /* T; tokens before the patches; N; padded T */
    float *weights; /* [T] of the mean of rows that the query is, as vit_map_weigh makes it */
    float *scratch; /* the method's scratch memory */
} vit_map_call;

/* A method: what it does before, during and after the forward pass to fill map->values. */
typedef struct vit_map_method {
    const char *name;
    bool of_class, of_query, of_layer;                /* which of the options it uses */
    bool passes;                                      /* it takes many passes through the network */
    bool begins;                                      /* a page may show it first */
    size_t (*scratch_size)(const vit_map_call *call); /* floats of scratch memory; NULL: none */
    void (*begin)(vit_map_call *call);                /* before the forward pass; or NULL */
    vit_look *look; /* after each block, its context is the call; or NULL */
    vit_status (*end)(vit_map_call *call, vit_error *error); /* after the forward pass; or NULL */
} vit_map_method;

/* attention_maps.c */
extern const vit_map_method vit_map_attention, vit_map_rollout;
/* relevance.c */
extern const vit_map_method vit_map_relevance, vit_map_gradcam;
/* pixels.c */
extern const vit_map_method vit_map_gradient, vit_map_integrated, vit_map_occlusion, vit_map_random;
/* states.c */
extern const vit_map_method vit_map_lens, vit_map_similarity, vit_map_positions;

/* The layer that the options ask for: theirs, or the last. */
size_t vit_map_layer(const vit_map_call *call);

/* weights: [T], with sum 1: the query's row is the mean of the tokens' rows with these weights. A
 * query that is the pooling's needs the forward pass to be done. */
void vit_map_weigh(const vit_map_call *call, float *weights, vit_query query);

/* Writes what a map shows into its name. label: of its class. */
void vit_map_name(vit_map *map, const vit_map_options *options, const vit_config *config,
                  const char *label);

/* Whether a map of attention is of the pooling's weights instead of a layer's, and how many heads
 * it then has. Sequence pooling has one, which stands for each of the layers'. */
bool vit_map_of_pooling(const vit_map_options *options, const vit_config *config);
size_t vit_map_heads(const vit_map_options *options, const vit_config *config);

/* The weights of a pooling that weighs tokens (vit_pool_row), after the forward pass:
 * [*heads][padded keys]; the keys are the last *keys tokens. */
const float *vit_map_pooling(const vit_map_call *call, size_t *heads, size_t *keys);

/* out: [N] = sum over tokens t of call->weights[t] matrix[t][patch]; matrix: [T] rows of `row`
 * floats. */
void vit_map_read(const vit_map_call *call, float *out, const float *matrix, size_t row);

/* out: [T][T], copied from matrix: [T] rows of `row` floats. */
void vit_map_copy(const vit_map_call *call, float *out, const float *matrix, size_t row);

/* Asks the options' callback, if there is one, whether to go on. */
bool vit_map_goes_on(const vit_map_options *options);

/* 1 - the probability of class `index`, computed as the sum of the others' so that small values
 * keep their digits. logits: [classes]. */
double vit_map_doubt(const float *logits, size_t classes, size_t index);

/* In the order of vit_fuse. */
extern const char *const vit_fuse_names[];

/* ---- rollout (Abnar, Zuidema: Quantifying Attention Flow in Transformers), for tests ---- */

/* a: [T][padded T] = (A + I) / row sums, where A: the heads of p: [heads][T][padded T] combined by
 * `fuse`; in each row of A the share `discard` of the smallest weights is 0. */
void vit_rollout_matrix(const vit_exec *exec, float *a, const float *p, size_t heads, size_t tokens,
                        vit_fuse fuse, double discard);

/* next = a r, [T][padded T] each. Rows of next are divided by their sums, which are 1
 * except for rounding. */
void vit_rollout_step(const vit_exec *exec, float *next, const float *a, const float *r,
                      size_t tokens);

#endif
