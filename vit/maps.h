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
 * The rules of vit/vit.h hold here, too. */
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
    VIT_METHOD_RANDOM,     /* chance, which other maps are to be better than */
    VIT_METHOD_LENS,       /* logits of each layer, as if it were the last */
    VIT_METHOD_SIMILARITY, /* cosine of a layer's tokens with the query's */
    VIT_METHOD_POSITIONS,  /* cosine of the patches' positions with the query's */
    VIT_METHOD_COUNT,
} vit_method;

VIT_API const char *vit_method_name(vit_method method); /* "attention", ...; or NULL */

/* Whose row of a matrix over tokens is wanted. */
typedef enum vit_query {
    VIT_QUERY_DEFAULT, /* what the head reads; of positions the patch in the middle */
    VIT_QUERY_TOKEN,   /* number `token`, the patches beginning at `prefix` of vit_model_info */
    VIT_QUERY_MEAN,    /* the mean of the patches' rows */
    VIT_QUERY_POOL,    /* of a pooling by attention */
    VIT_QUERY_ALL,     /* the whole matrix */
    VIT_QUERY_COUNT,
} vit_query;

/* The heads of attention as one. */
typedef enum vit_fuse { VIT_FUSE_MEAN, VIT_FUSE_MAX, VIT_FUSE_MIN, VIT_FUSE_COUNT } vit_fuse;

/* Returns false to stop: vit_explain then returns VIT_ERROR_CANCELLED. */
typedef bool vit_map_callback(void *user);

/* Zeroed but for what is set. */
typedef struct vit_map_options {
    vit_method method;
    size_t class_index, layer, head;           /* from 0 */
    bool class_given, layer_given, head_given; /* what is not given: the class that the model
                                                  answers, the last layer, all heads */
    bool fused;    /* the heads of attention become one map, by `fuse`; else each has its own */
    vit_fuse fuse; /* also how rollout makes one matrix of a layer's heads */
    vit_query query;
    size_t token;   /* with VIT_QUERY_TOKEN */
    size_t steps;   /* of integrated gradients, from the mean picture to this one; 0: 32 */
    double discard; /* of rollout: the share of a row's smallest weights left out, 0 <= and < 1 */
    uint64_t seed;  /* of VIT_METHOD_RANDOM */
    vit_map_callback *goes_on; /* or NULL; asked, by any thread, before each step of integrated
                                  gradients and among the patches of occlusion */
    void *user;                /* for it */
} vit_map_options;

/* A map, as computed, without any scaling for the eye. Its shape is
 *   - [rows][columns] of the patch grid, of most methods;
 *   - [heads][rows][columns] of attention whose heads are not fused;
 *   - [layers][classes] of the lens;
 *   - with VIT_QUERY_ALL [tokens][tokens], of attention whose heads are not fused
 *     [heads][tokens][tokens], of positions [patches][patches]. */
typedef struct vit_map {
    size_t dims, shape[3], rows, columns; /* rows, columns: of the patch grid */
    float *values;                        /* [shape...] */
    size_t class_index;                   /* the class it is of, or the answer */
    double probability;                   /* of that class, the model's */
    bool *outliers; /* [rows][columns]: patches whose token is more than three times as long as the
                       median: such tokens hold what the network noted down, not what is there */
} vit_map;

/* The picture as the network sees it: pixels [height][width][channels], not normalised. */
VIT_API vit_status vit_prepare_picture(vit_session *session, const vit_picture *picture,
                                       uint8_t *pixels, vit_error *error);

/* The map of a picture that vit_prepare_picture made; freed by vit_map_clear. */
VIT_API vit_status vit_explain(vit_session *session, const uint8_t *pixels,
                               const vit_map_options *options, vit_map *map, vit_error *error);
VIT_API void vit_map_clear(vit_map *map);

/* Bytes that a function below made; freed by vit_buffer_clear. */
typedef struct vit_buffer {
    uint8_t *data;
    size_t size;
} vit_buffer;
VIT_API void vit_buffer_clear(vit_buffer *buffer);

/* The maps of a picture as PNG: the picture, and to its right the picture under each of the maps,
 * or under each head of one. The colours span the values from the smallest, or 0 if that is
 * smaller, to the 99th percentile; outliers have a white frame. ARGUMENT for maps that are not of
 * the patch grid. */
VIT_API vit_status vit_map_png(const vit_session *session, const uint8_t *pixels,
                               const vit_map *maps, size_t count, vit_buffer *png,
                               vit_error *error);

/* How faithful a map is (Samek et al.: Evaluating the Visualization of What a Deep Neural Network
 * Has Learned): the probability of its class (the softmax of the logits, no temperature) as
 * patches, the map's largest value first, are taken out of the picture, or are put on the mean
 * picture. Compare areas of one picture: the lower deletion's and the higher insertion's, the
 * better the map tells what the network uses; better than VIT_METHOD_RANDOM's it should be. */
typedef struct vit_curves {
    size_t step, points;         /* patches from point to point; all are done at the last */
    float *deletion, *insertion; /* [points], from no patch on */
    double deletion_area, insertion_area; /* trapezoids over the share of patches, 0..1 */
} vit_curves;

/* curves: freed by vit_curves_clear. Some 130 answers: a step is a patch, or a 64th of many.
 * ARGUMENT for maps that are not of the patch grid. */
VIT_API vit_status vit_map_curves(vit_session *session, const uint8_t *pixels, const vit_map *map,
                                  vit_curves *curves, vit_error *error);
VIT_API void vit_curves_clear(vit_curves *curves);

/* What a page shows; zeroed but for what is set. layers, heads: ascending; a count of 0: all. */
typedef struct vit_page_options {
    const char *title; /* the picture's name */
    const size_t *layers, *heads;
    size_t layer_count, head_count;
    const vit_map_options *first; /* what it shows when it is opened: attention, rollout, relevance,
                                     similarity or positions, of a layer, head, token and class;
                                     NULL: attention of the last layer. A class that is given is
                                     in the page, however unlikely */
} vit_page_options;

/* A page of HTML that opens in any browser and needs nothing but itself, to look at all maps.
 * UNSUPPORTED where it would be of more than 8 MB: the message says which layers and heads fit. */
VIT_API vit_status vit_explain_page(vit_session *session, const uint8_t *pixels,
                                    const vit_page_options *options, vit_buffer *html,
                                    vit_error *error);

/* What a layer of the network shows; pointers live for the call. */
typedef struct vit_layer {
    size_t layer, heads, tokens;
    const float *attention; /* [heads][tokens][tokens]: a row is a query's, and sums to 1 */
    const float *states;    /* [tokens][dim]: what the layer puts out */
    const float *logits;    /* [classes]: as if it were the last */
} vit_layer;

/* Returns false to stop: vit_explain_layers then returns VIT_ERROR_CANCELLED. */
typedef bool vit_layer_callback(const vit_layer *layer, void *user);

/* Tells of all layers of one forward pass, from the first. logits: [classes], the answer; or NULL.
 */
VIT_API vit_status vit_explain_layers(vit_session *session, const uint8_t *pixels, float *logits,
                                      vit_layer_callback *callback, void *user, vit_error *error);

#ifdef __cplusplus
}
#endif

#endif
