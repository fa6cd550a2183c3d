/* Maps of a picture: one call from a method to numbers over the patch grid (vit/vit.h). */
#ifndef VIT_EXPLAIN_MAPS_H
#define VIT_EXPLAIN_MAPS_H

#include "vit/explain/explainer.h"
#include "vit/maps.h"

/* ARGUMENT, naming the value, where an option is out of the network's range or of no meaning for
 * the method. */
vit_status vit_map_check(const vit_map_options *options, const vit_config *config,
                         vit_error *error);

/* image: [height][width][channels], normalised; options are checked. */
vit_status vit_map_make(vit_map *map, vit_explainer *explainer, const float *image,
                        const vit_map_options *options, vit_error *error);

/* ---- what methods share ---- */

/* A map being made. */
typedef struct vit_map_call {
    vit_explainer *explainer;
    const float *image;
    const vit_map_options *options;
    vit_map *map;
    size_t tokens, prefix, patches, row; /* row: padded tokens */
    float *weights; /* [T], how much of each token's row the map has, as vit_map_weigh made it */
    float *room;    /* of the method */
} vit_map_call;

/* Looks at the forward pass, and makes map->values of what it has seen. */
typedef struct vit_map_method {
    const char *name;
    bool of_class, of_query, of_layer;
    size_t (*room)(const vit_map_call *call); /* floats; NULL: none */
    void (*begin)(vit_map_call *call);        /* before the forward pass, or NULL */
    vit_look *look;                           /* or NULL */
    vit_status (*end)(vit_map_call *call, vit_error *error);
} vit_map_method;

/* attention.c */
extern const vit_map_method vit_map_attention, vit_map_rollout;
/* relevance.c */
extern const vit_map_method vit_map_relevance, vit_map_gradcam;
/* pixels.c */
extern const vit_map_method vit_map_gradient, vit_map_integrated, vit_map_occlusion, vit_map_random;
/* states.c */
extern const vit_map_method vit_map_lens, vit_map_similarity, vit_map_positions;

/* The layer that the options ask for. */
size_t vit_map_layer(const vit_map_call *call);

/* weights: [T], sum 1: of which tokens' rows the query is the mean. After the forward pass, as it
 * may be the pooling's. */
void vit_map_weigh(const vit_map_call *call, float *weights, vit_query query);

/* Whether the head reads the tokens by a query of its own. */
bool vit_map_pools(const vit_map_call *call);

/* out: [N] = sum over tokens t of weights[t] matrix[t][patch]; matrix: [T] rows of `row`. */
void vit_map_read(const vit_map_call *call, float *out, const float *matrix, size_t row);

/* out: [T][T] from rows of `row`. */
void vit_map_copy(const vit_map_call *call, float *out, const float *matrix, size_t row);

/* Whether the callback of the options, where there is one, lets the map go on. */
bool vit_map_goes_on(const vit_map_options *options);

/* 1 - probability of class `index`, in double: small numbers keep their digits. */
double vit_map_doubt(const float *logits, size_t classes, size_t index);

/* ---- rollout (Abnar, Zuidema: Quantifying Attention Flow in Transformers), for tests ---- */

/* a: [T] rows of padded T = (A + I) / row sums, A being p's heads as one, of whose rows the share
 * `discard` of smallest weights is left out. p: [heads][T][padded T]. */
void vit_rollout_matrix(const vit_exec *exec, float *a, const float *p, size_t heads, size_t tokens,
                        vit_fuse fuse, double discard);

/* next = a r, rows divided by their sums, which are 1 but for rounding; all [T] rows of padded T.
 */
void vit_rollout_step(const vit_exec *exec, float *next, const float *a, const float *r,
                      size_t tokens);

#endif
