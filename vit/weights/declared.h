/* What a config beside published weights says of their network, in the words of its library. What
 * it leaves out is "not said", and then follows from the tensors or is asked for.
 */
#ifndef VIT_WEIGHTS_DECLARED_H
#define VIT_WEIGHTS_DECLARED_H

#include "vit/base/json.h"
#include "vit/image/prepare/preprocess.h"
#include "vit/model/config.h"

#define VIT_NOT_SAID (-1)

/* How a library makes the network's input of a picture. */
typedef enum vit_prepare_kind {
    VIT_PREPARE_UNKNOWN,
    VIT_PREPARE_CENTER,     /* timm: the shorter side to floor(size / share), the middle */
    VIT_PREPARE_SQUASH,     /* timm: both sides to that, the middle */
    VIT_PREPARE_BORDER,     /* timm: the longer side to that, bordered with the mean */
    VIT_PREPARE_STRETCH,    /* both sides to the network's, or to `resize`, of which the middle */
    VIT_PREPARE_SHORTER,    /* the shorter side to resize[0], the middle */
    VIT_PREPARE_BIG_VISION, /* at 224: the shorter side to 256, the middle; else STRETCH */
} vit_prepare_kind;

typedef struct vit_prepare {
    vit_prepare_kind kind;
    double share;     /* CENTER, SQUASH, BORDER: crop_pct */
    size_t resize[2]; /* height, width; 0: the network's */
    size_t crop[2];   /* 0: the network's; what the network then gets must be this */
    vit_filter filter;
    vit_arithmetic arithmetic;
    vit_rounding rounding;
    double rescale; /* as vit_operation */
    bool fused;
    bool has_mean;          /* mean and std are said */
    double mean[3], std[3]; /* as they stand in the config */
} vit_prepare;

typedef struct vit_declared {
    const char *name; /* of the config, for messages */
    /* 0: not said */
    size_t height, width, channels, patch, dim, depth, heads, head_dim, mlp, classes;
    size_t input_height, input_width; /* to which the positions are resampled when opened */
    double norm_eps;
    /* VIT_NOT_SAID, or a value, or 0 and 1 */
    int activation, pool, attention_scale, registers;
    int gate; /* the activation of a gated MLP, where that is said apart */
    int gated;
    int qkv_bias, class_token, prefix_positions, norm_pre, qk_norm, layer_scale;
    int final_norm, norm_before_pool, pool_prefix;
    bool is_backbone; /* the config says that there is no classifier */
    vit_prepare prepare;
    json_t *preprocessing; /* borrowed: the list itself, in our own form; or NULL */
    char **labels;         /* owned, one block; or NULL */
    size_t label_count;
    bool is_imagenet; /* a thousand classes without names are ImageNet-1k's */
} vit_declared;

void vit_declared_init(vit_declared *out, const char *name);
void vit_declared_clear(vit_declared *declared);

/* The readers, one a library; `object` is the config and must outlive *out. Errors: FORMAT for a
 * value of the wrong type; UNSUPPORTED, naming the key, for a network that is none of ours. */
vit_status vit_declare_timm(vit_declared *out, json_t *object, vit_error *error);

/* processor: preprocessor_config.json, or NULL. */
vit_status vit_declare_hf(vit_declared *out, json_t *object, json_t *processor,
                          const char *processor_name, vit_error *error);
vit_status vit_declare_lucidrains(vit_declared *out, json_t *object, vit_error *error);
vit_status vit_declare_torchvision(vit_declared *out, json_t *object, vit_error *error);
vit_status vit_declare_open_clip(vit_declared *out, json_t *object, vit_error *error);

/* Without a config: Google's and big_vision's own libraries, which have but one way. */
void vit_declare_google(vit_declared *out);
void vit_declare_big_vision(vit_declared *out);

/* ---- values of JSON objects ---- */

/* Each leaves *value as it is where the key is absent or null. FORMAT names config and key. */
vit_status vit_declare_object(json_t **value, const vit_declared *d, const json_t *object,
                              const char *key, vit_error *error);
vit_status vit_declare_size(size_t *value, const vit_declared *d, const json_t *object,
                            const char *key, vit_error *error);
vit_status vit_declare_number(double *value, const vit_declared *d, const json_t *object,
                              const char *key, vit_error *error);
vit_status vit_declare_flag(int *value, const vit_declared *d, const json_t *object,
                            const char *key, vit_error *error);
vit_status vit_declare_text(const char **value, const vit_declared *d, const json_t *object,
                            const char *key, vit_error *error);

/* One number, or [height, width], or {"height", "width"}. */
vit_status vit_declare_sides(size_t sides[2], const vit_declared *d, const json_t *object,
                             const char *key, vit_error *error);

/* The same into d->height and d->width, and into d->patch: UNSUPPORTED where that is not square. */
vit_status vit_declare_image(vit_declared *d, const json_t *object, const char *key,
                             vit_error *error);
vit_status vit_declare_patch(vit_declared *d, const json_t *object, const char *key,
                             vit_error *error);

/* One number, or one a channel. *found: whether the key is there. */
vit_status vit_declare_triple(double triple[3], bool *found, const vit_declared *d,
                              const json_t *object, const char *key, vit_error *error);

/* ["cat", "dog"], or {"0": "cat", "1": "dog"}. */
vit_status vit_declare_labels(vit_declared *d, const json_t *labels, const char *key,
                              vit_error *error);

/* "gelu", "quick_gelu", ...: the names of all libraries. UNSUPPORTED for one that is not ours. */
vit_status vit_declare_activation(vit_declared *d, const char *name, const char *key,
                                  vit_error *error);

/* ---- the preprocessing list ---- */

/* Whether the config says that pictures are prepared to this size, whatever the network's. */
bool vit_prepares_to(const vit_declared *d, size_t height, size_t width);

/* MISMATCH where the network would not get its size; UNSUPPORTED, saying what to add, where the
 * config does not say enough. */
vit_status vit_prepare_list(vit_preprocessing *out, const vit_declared *d, const vit_config *config,
                            vit_error *error);

#endif
