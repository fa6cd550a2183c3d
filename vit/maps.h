/* vit/maps.h - maps of a picture: what an answer comes from.
 *
 *     vit_map map;
 *     const vit_picture picture = {.name = "digit.png"};
 *     const vit_map_options options = {.method = VIT_METHOD_RELEVANCE};
 *     uint8_t pixels[28 * 28]; // height * width * channels of vit_model_info
 *     if (vit_prepare_picture(session, &picture, pixels, &error) == VIT_OK &&
 *         vit_explain(session, pixels, &options, &map, &error) == VIT_OK) {
 *         ... map.values[row * map.columns + column] ...
 *         vit_map_clear(&map);
 *     }
 *
 * Maps are computed in float32, whatever the precision of the session; those of a model whose
 * weights are in 8 bits, of these weights as floats. Their probabilities may so differ a little
 * from the session's own. The rules of vit/vit.h hold here, too. */
#ifndef VIT_MAPS_H
#define VIT_MAPS_H

#include "vit/vit.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum vit_method {
    VIT_METHOD_ATTENTION,  /* how a layer's heads weight the patches for a query */
    VIT_METHOD_ROLLOUT,    /* attention through all layers, with the residual */
    VIT_METHOD_RELEVANCE,  /* attention times its gradient, through all layers */
    VIT_METHOD_GRADCAM,    /* features of the last layer times their mean gradient */
    VIT_METHOD_GRADIENT,   /* sum over a patch's pixels of |gradient| */
    VIT_METHOD_INTEGRATED, /* integrated gradients, from the mean picture */
    VIT_METHOD_OCCLUSION,  /* what the class's probability loses without the patch */
    VIT_METHOD_RANDOM,     /* random numbers: the baseline that any other map should beat */
    VIT_METHOD_LENS,       /* logits of each layer, as if it were the last */
    VIT_METHOD_SIMILARITY, /* cosine of a layer's tokens with the query's */
    VIT_METHOD_POSITIONS,  /* cosine of the patches' positions with the query's */
    VIT_METHOD_COUNT,
} vit_method;

VIT_API const char *vit_method_name(vit_method method); /* "attention", ...; or NULL */

/* Whether a map takes many passes, and so seconds for a large network: integrated gradients take
 * two for each step, occlusion one for each patch. */
VIT_API bool vit_method_takes_passes(vit_method method);

/* Which row of a matrix over tokens (attention, similarity, positions) becomes the map. */
typedef enum vit_query {
    VIT_QUERY_DEFAULT, /* the token that the head reads; for positions, the patch in the middle */
    VIT_QUERY_TOKEN,   /* number `token`, the patches beginning at `prefix` of vit_model_info */
    VIT_QUERY_MEAN,    /* the mean of the patches' rows */
    VIT_QUERY_POOL,    /* the learned query of attention pooling */
    VIT_QUERY_ALL,     /* the whole matrix */
    VIT_QUERY_COUNT,
} vit_query;

/* How the heads of attention are combined into one map. */
typedef enum vit_fuse { VIT_FUSE_MEAN, VIT_FUSE_MAX, VIT_FUSE_MIN, VIT_FUSE_COUNT } vit_fuse;

/* Return false to stop: vit_explain then returns VIT_ERROR_CANCELLED. */
typedef bool vit_map_callback(void *user);

/* Which map to make. Zero the structure, then set what you need. */
typedef struct vit_map_options {
    vit_method method;
    /* from 0; not given: the class that the model answers, the last layer, all heads */
    vit_optional class_index, layer, head;
    bool fused;    /* combine the heads into one map; else each head has its own */
    vit_fuse fuse; /* also how rollout combines a layer's heads */
    vit_query query;
    size_t token;   /* with VIT_QUERY_TOKEN */
    size_t steps;   /* for integrated gradients: steps from the mean picture to this one; 0: 32 */
    double discard; /* for rollout: the share of each row's smallest weights to leave out, 0 <= and
                       < 1 */
    uint64_t seed;  /* of VIT_METHOD_RANDOM */
    const float *values; /* [height][width][channels]: the same picture from vit_prepare_values, for
                            models whose pictures are not of 8 bits; NULL: made of its pixels */
    vit_map_callback *goes_on; /* called, on any thread, before each step of integrated gradients
                                  and between patches of occlusion; or NULL */
    void *user;                /* passed to goes_on */
} vit_map_options;

/* A map, as computed, not scaled for display. Freed by vit_map_clear. The shape is: [rows][columns]
 * of the patch grid for most methods; [heads][rows][columns] for attention whose heads are not
 * fused; [layers][classes] for the lens; with VIT_QUERY_ALL [tokens][tokens], but
 * [heads][tokens][tokens] for attention whose heads are not fused, and [patches][patches] for
 * positions. */
typedef struct vit_map {
    size_t dims, shape[3], rows, columns; /* rows, columns: of the patch grid */
    float *values;                        /* [shape...] */
    size_t class_index; /* the class explained; for maps of no class, the model's answer */
    double probability; /* the model's probability of that class */
    bool *outliers; /* [rows][columns]: patches whose token is more than three times as long as the
                       median. The network uses such tokens as memory; they do not describe their
                       patch */
    char name[64];  /* what it shows, for a caption: "attention, layer 5", "relevance: cat" */
    const float *input; /* the `values` that it was made of, borrowed: vit_map_curves reads them */
} vit_map;

/* Decodes a picture and prepares it as the network sees it. pixels: [height][width][channels],
 * before normalisation, in memory of the caller. */
VIT_API vit_status vit_prepare_picture(vit_session *session, const vit_picture *picture,
                                       uint8_t *pixels, vit_error *error);

/* Computes a map of a picture that vit_prepare_picture made. *map is freed by vit_map_clear. */
VIT_API vit_status vit_explain(vit_session *session, const uint8_t *pixels,
                               const vit_map_options *options, vit_map *map, vit_error *error);
VIT_API void vit_map_clear(vit_map *map);

/* Bytes that a function below made; freed by vit_buffer_clear. */
typedef struct vit_buffer {
    uint8_t *data;
    size_t size;
} vit_buffer;
VIT_API void vit_buffer_clear(vit_buffer *buffer);

/* Draws maps of a picture as a PNG: the picture, and to its right the picture overlaid with each
 * map, or with each head of a single map; under each is its name, with the head's number. A single
 * map is drawn alone, without a name. The colours span the values from the smallest, or from 0
 * if that is smaller, to the 99th percentile; outliers have a white frame. ARGUMENT for maps that
 * are not over the patch grid. */
VIT_API vit_status vit_map_png(const vit_session *session, const uint8_t *pixels,
                               const vit_map *maps, size_t count, vit_buffer *png,
                               vit_error *error);

/* How faithful a map is (Samek et al.: Evaluating the Visualization of What a Deep Neural Network
 * Has Learned): the probability of its class (softmax of the logits, without temperature) while
 * patches, in falling order of the map, are removed from the picture (deletion) or added to the
 * mean picture (insertion). Compare areas on the same picture: a good map has a small deletion area
 * and a large insertion area, and should do better than VIT_METHOD_RANDOM. */
typedef struct vit_curves {
    size_t step, points;         /* patches between two points; at the last point all are done */
    float *deletion, *insertion; /* [points], the first with no patch done */
    double deletion_area, insertion_area; /* trapezoids over the share of patches, 0..1 */
} vit_curves;

/* Measures these curves; freed by vit_curves_clear. Takes as long as some 130 answers: a step is
 * one patch, or a 64th of them if there are many. ARGUMENT for maps that are not over the patch
 * grid. */
VIT_API vit_status vit_map_curves(vit_session *session, const uint8_t *pixels, const vit_map *map,
                                  vit_curves *curves, vit_error *error);
VIT_API void vit_curves_clear(vit_curves *curves);

/* What a page shows. Zero the structure, then set what you need. layers, heads: in ascending order;
 * a count of 0 means all. */
typedef struct vit_page_options {
    const char *title; /* the picture's name */
    const size_t *layers, *heads;
    size_t layer_count, head_count;
    /* the map shown first: attention, rollout, relevance, similarity or positions, of some
     * layer, head, token and class; NULL: attention of the last layer. A class given here is in
     * the page, however unlikely */
    const vit_map_options *first;
    const float *values; /* as in vit_map_options */
} vit_page_options;

/* Makes a self-contained HTML page, for any browser, in which to explore all maps. UNSUPPORTED if
 * it would be larger than 8 MB: the message says which layers and heads fit. */
VIT_API vit_status vit_explain_page(vit_session *session, const uint8_t *pixels,
                                    const vit_page_options *options, vit_buffer *html,
                                    vit_error *error);

/* What one layer computed; the pointers are valid during the callback. */
typedef struct vit_layer {
    size_t layer, heads, tokens;
    const float *attention; /* [heads][tokens][tokens]: one row per query; it sums to 1 */
    const float *states;    /* [tokens][dim]: the layer's output */
    const float *logits;    /* [classes]: as if this layer were the last */
} vit_layer;

/* Return false to stop: vit_explain_layers then returns VIT_ERROR_CANCELLED. */
typedef bool vit_layer_callback(const vit_layer *layer, void *user);

/* Runs one forward pass and calls `callback` for every layer, from the first. values: as in
 * vit_map_options, or NULL. logits: [classes], the answer; or NULL. */
VIT_API vit_status vit_explain_layers(vit_session *session, const uint8_t *pixels,
                                      const float *values, float *logits,
                                      vit_layer_callback *callback, void *user, vit_error *error);

/* ---- the matrices of an answer --------------------------------------------------------------- */

/* A matrix of the forward pass of one picture, by the symbols of the lecture. Layers and heads are
 * numbered from 0. Of the tokens the class token and registers come first, then the patches, row by
 * row. */
typedef struct vit_answer_matrix {
    char name[48]; /* "layer0.head2.Q" */
    size_t rows, columns;
    bool token_rows, token_columns; /* a row, a column is one of all tokens */
    float *values;                  /* [rows][columns] */
} vit_answer_matrix;

typedef struct vit_answer_matrices {
    size_t count, capacity;
    vit_answer_matrix *items;               /* [count] in the order in which they are computed */
    size_t prefix, grid_rows, grid_columns; /* tokens before the patches; the patches' grid */
    bool class_token;
} vit_answer_matrices;

/* Computes the matrices of a picture that vit_prepare_picture made: z (a block's input), Q, K, V
 * (as they meet: after norms and rotation), S = Q K^T scale, P = softmax(S), O = P V of each head,
 * z' and the block's output, then the logits. values: as in vit_map_options, or NULL. *out is freed
 * by vit_matrices_clear. */
VIT_API vit_status vit_explain_matrices(vit_session *session, const uint8_t *pixels,
                                        const float *values, vit_answer_matrices *out,
                                        vit_error *error);
VIT_API void vit_matrices_clear(vit_answer_matrices *matrices);

/* Writes FILE.npz, as numpy.load reads it; or into a directory, which is made, a table a matrix,
 * NAME.csv, with the tokens' names. */
VIT_API vit_status vit_matrices_save(const vit_answer_matrices *matrices, const char *path,
                                     vit_error *error);

#ifdef __cplusplus
}
#endif

#endif
