/* What a config file beside published weights says about their network: the libraries' keys,
 * read into one structure. What the config leaves out is unspecified; it then follows from the
 * tensors (vit/weights/layout/shapes.h), or the caller is told what to add.
 */
#ifndef VIT_WEIGHTS_CONFIGS_THEIR_CONFIG_H
#define VIT_WEIGHTS_CONFIGS_THEIR_CONFIG_H

#include "vit/formats/json.h"
#include "vit/image/prepare/preprocess.h"
#include "vit/model/resample_positions.h"
#include "vit/model/switches.h"

#define VIT_UNSPECIFIED (-1)

/* How a library turns a picture into the network's input. */
typedef enum vit_prepare_kind {
    VIT_PREPARE_UNKNOWN,
    VIT_PREPARE_CENTER,     /* timm: shorter side to floor(size / share), centre crop */
    VIT_PREPARE_SQUASH,     /* timm: both sides to floor(size / share), centre crop */
    VIT_PREPARE_BORDER,     /* timm: longer side to floor(size / share), padded with the mean */
    VIT_PREPARE_STRETCH,    /* both sides to the network's, or to `resize` and centre crop */
    VIT_PREPARE_SHORTER,    /* shorter side to resize[0], centre crop */
    VIT_PREPARE_BIG_VISION, /* at 224: shorter side to 256, centre crop; else STRETCH */
} vit_prepare_kind;

typedef struct vit_prepare {
    vit_prepare_kind kind;
    double share;     /* CENTER, SQUASH, BORDER: timm's crop_pct */
    size_t resize[2]; /* height, width; 0: the network's */
    size_t crop[2];   /* height, width, which must be the network's; 0: unspecified */
    vit_filter filter;
    vit_arithmetic arithmetic;
    vit_rounding rounding;
    double rescale; /* as in vit_operation */
    bool fused;
    bool turns;             /* upright, as the picture says, before all else */
    bool has_mean;          /* the config has mean and std */
    double mean[3], std[3]; /* a value a channel */
} vit_prepare;

typedef struct vit_their_config {
    const char *name;     /* of the config file, for messages */
    const char *emulate;  /* the library as which pictures are answered, borrowed */
    const char *version;  /* of Hugging Face's library that wrote it, or NULL; borrowed */
    vit_stack said;       /* what the config says of the network: numbers that are not 0, and */
    bool given[VIT_KEYS]; /* what is given here */
    size_t input_height, input_width; /* of the prepared pictures; positions are resampled to it */
    int position_rule;                /* a vit_position_rule, or VIT_UNSPECIFIED */
    int gate; /* the activation of gated MLPs, where the config has one of its own for them, or
                 VIT_UNSPECIFIED */
    bool is_backbone; /* the config says that there is no classifier */
    vit_prepare prepare;
    json_t *preprocessing; /* a list in our own form, borrowed from the config; or NULL */
    char **labels;         /* [label_count], owned, one block; or NULL */
    size_t label_count;
    vit_scoring scoring;
    bool is_imagenet; /* if there are 1,000 classes without names, they are ImageNet-1k's */
} vit_their_config;

/* The config says that the network has this value of a switch. */
#define VIT_SAY(config, field, value) \
    ((config)->said.field = (value), (config)->given[VIT_KEY_##field] = true)

/* Everything unspecified. name: of the config, borrowed. */
void vit_their_config_init(vit_their_config *out, const char *name);
void vit_their_config_clear(vit_their_config *config);

/* One function for each library's config, `object`, which must outlive *out. *out was initialised.
 * Errors: FORMAT for a value of the wrong type; UNSUPPORTED, naming the key, for a network that
 * vit/model does not have; MEMORY. */
vit_status vit_read_timm_config(vit_their_config *out, json_t *object, vit_error *error);

/* Whether the config is timm's as Hugging Face's library writes it, for its TimmWrapper classes. */
bool vit_is_timm_wrapper(const json_t *object);

/* Changes what d says of its own library's answer, d->emulate, to that of library `as`; NULL:
 * nothing. object: the config. Errors: ARGUMENT for a library that is not known; UNSUPPORTED where
 * there is no choice. */
vit_status vit_answer_as(vit_their_config *d, const char *own, const char *as, const json_t *object,
                         vit_error *error);

/* processor: preprocessor_config.json, or NULL. */
vit_status vit_read_hf_config(vit_their_config *out, json_t *object, json_t *processor,
                              const char *processor_name, vit_error *error);
/* usual: the class that is taken where the file names none. */
vit_status vit_read_hf_processor(vit_their_config *d, const char *usual, json_t *processor,
                                 vit_error *error);
vit_status vit_read_lucidrains_config(vit_their_config *out, json_t *object, vit_error *error);
vit_status vit_read_torchvision_config(vit_their_config *out, json_t *object, vit_error *error);
vit_status vit_read_open_clip_config(vit_their_config *out, json_t *object, vit_error *error);

/* What holds for all weights of Google's libraries, which have no config. */
void vit_google_config(vit_their_config *out);
void vit_big_vision_config(vit_their_config *out);

/* ---- values of JSON objects ---- */

/* The value of the key; NULL: there is none, or null. */
json_t *vit_json_given(const json_t *object, const char *key);

/* Whether a value that is there is null or false. */
bool vit_json_is_off(const json_t *value);

/* Read one key's value. *value stays as it is if the key is absent or null. FORMAT, naming config
 * and key, for a value of another type. Texts and objects are borrowed from `object`. */
vit_status vit_read_object(json_t **value, const vit_their_config *d, const json_t *object,
                           const char *key, vit_error *error);
vit_status vit_read_size(size_t *value, const vit_their_config *d, const json_t *object,
                         const char *key, vit_error *error);
vit_status vit_read_number(double *value, const vit_their_config *d, const json_t *object,
                           const char *key, vit_error *error);
vit_status vit_read_flag(int *value, const vit_their_config *d, const json_t *object,
                         const char *key, vit_error *error);
vit_status vit_read_text(const char **value, const vit_their_config *d, const json_t *object,
                         const char *key, vit_error *error);

/* A key, and the variable that one of these functions reads it into: all but one are NULL. */
typedef struct vit_their_key {
    const char *key;
    size_t *size;
    double *number;
    int *flag;
    const char **text;
} vit_their_key;

/* Reads several keys, in order, up to the first error. */
vit_status vit_read_keys(const vit_their_key *keys, size_t count, const vit_their_config *d,
                         const json_t *object, vit_error *error);

/* Reads the library's key `theirs` into the switch that a row of vit_switches is about; of a
 * "!key" the contrary. */
vit_status vit_read_switch(vit_their_config *out, const vit_switch *row, const json_t *object,
                           const char *theirs, vit_error *error);

/* UNSUPPORTED, naming the key, if `object`, the config's key `of`, has another key than `known`, of
 * which a final '*' stands for anything; those that are null or false may be there. */
vit_status vit_check_known(const vit_their_config *d, json_t *object, const char *of,
                           const char *const *known, size_t count, vit_error *error);

/* As above, two sides: one number for both, [height, width], or {"height": ..., "width": ...}. */
vit_status vit_read_sides(size_t sides[2], const vit_their_config *d, const json_t *object,
                          const char *key, vit_error *error);

/* As above, into height and width of d->said; and into its patch, UNSUPPORTED unless the sides are
 * equal. */
vit_status vit_read_image(vit_their_config *d, const json_t *object, const char *key,
                          vit_error *error);
vit_status vit_read_patch(vit_their_config *d, const json_t *object, const char *key,
                          vit_error *error);

/* "mlp_ratio", the width of the MLPs as a multiple of d->said.dim, into d->said.mlp. */
vit_status vit_read_ratio(vit_their_config *d, const json_t *object, vit_error *error);

/* As above, one number for all channels, or one for each. *found: whether the key is there. */
vit_status vit_read_triple(double triple[3], bool *found, const vit_their_config *d,
                           const json_t *object, const char *key, vit_error *error);

/* *out: the object, owned, of the line `"NAME": {...}` of an embedded list of models, where NAME is
 * the first `length` characters of `name`; NULL: there is no such line. Errors: MEMORY. */
vit_status vit_find_line(json_t **out, const char *const *lines, const char *name, size_t length,
                         vit_error *error);

/* d->labels from ["cat", "dog"] or {"0": "cat", "1": "dog"}; nothing if `labels` is NULL. `key`
 * is for messages. Errors: FORMAT, MEMORY. */
vit_status vit_read_labels(vit_their_config *d, const json_t *labels, const char *key,
                           vit_error *error);

/* d->scoring from Hugging Face's "problem_type", as its pipeline takes it. UNSUPPORTED for a type
 * that is not known. */
vit_status vit_read_problem(vit_their_config *d, const json_t *object, vit_error *error);

/* The activation from its name in any of the libraries: "gelu", "quick_gelu", ...; nothing if name
 * is NULL. UNSUPPORTED for a name that is not known. */
vit_status vit_read_activation(vit_their_config *d, const char *name, const char *key,
                               vit_error *error);

/* ---- the preprocessing list, pictures.c ---- */

/* Whether the config says that pictures are prepared to this size. */
bool vit_prepares_to(const vit_their_config *d, size_t height, size_t width);

/* The operations that prepare pictures as the config says. Errors: MISMATCH if they lead to another
 * size than the network's; UNSUPPORTED, saying what to add, if it says too little; FORMAT, MEMORY.
 */
vit_status vit_prepare_list(vit_preprocessing *out, const vit_their_config *d,
                            const vit_config *config, vit_error *error);

#endif
