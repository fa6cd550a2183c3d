/* vit.h - Vision Transformers on a CPU: load, classify, train, evaluate.
 *
 *     vit_model *model;
 *     vit_session *session;
 *     vit_error error;
 *     if (vit_model_load(&model, "mnist.safetensors", &error) != VIT_OK ||
 *         vit_session_new(&session, model, NULL, &error) != VIT_OK)
 *         fprintf(stderr, "%s\n", error.message);
 *     float logits[10];
 *     if (vit_classify_file(session, "digit.png", logits, &error) == VIT_OK) ...
 *     vit_session_free(session);
 *     vit_model_free(model);
 *
 * vit/cluster.h (several processes) and vit/tensors.h (the tensors of a file) come with this
 * header; vit/maps.h is about what answers are based on, vit/texts.h about models of texts.
 *
 * Rules that hold for every function here:
 *   - A function that can fail returns a vit_status and, when that is not VIT_OK, has written one
 *     sentence for a person into `error` (which may be NULL): the file, tensor or option, the
 *     value found, what was expected. On failure, `*out` is NULL and nothing is left to free.
 *   - Nothing is printed, the process never exits (vit_cluster_close may end lost ranks), no global
 *     is changed; the host's locale, OpenMP settings, floating-point mode and raised exceptions are
 *     as they were when a call returns. Callbacks run in the library's mode, and must return.
 *   - Wherever a function takes `options`, NULL means the same as a structure of zeros. A field of
 *     0, NULL or false is not given; where 0 can be meant, the field is a vit_optional.
 *   - What `vit_x_new` or `vit_x_load` makes is freed by `vit_x_free`, which accepts NULL, as
 *     `vit_x_clear` does. Returned strings belong to the object they came from.
 *   - Models are immutable after loading and may be shared between threads; a session (scratch
 *     memory) serves one thread at a time. A thread that calls has a stack of 256 KiB or more.
 *   - Results depend on the inputs alone: the same bytes for any number of threads, alone or in a
 *     batch, on every processor (with VIT_PRECISION_BF16, for each vit_bf16 its own).
 */
#ifndef VIT_H
#define VIT_H
#include "vit/precision.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#ifdef __cplusplus
extern "C" {
#endif
#if defined(__GNUC__)
#define VIT_API __attribute__((visibility("default")))
#else
#define VIT_API
#endif

#define VIT_VERSION "0.2.0"

/* The version of the library that is linked, which may differ from VIT_VERSION, the version of this
 * header. A constant string. */
VIT_API const char *vit_version(void);

/* ---- errors --------------------------------------------------------------------------------- */

typedef enum vit_status {
    VIT_OK = 0,
    VIT_ERROR_ARGUMENT,    /* a parameter or an option is out of its range */
    VIT_ERROR_MEMORY,      /* out of memory */
    VIT_ERROR_IO,          /* the system could not open, read or write a file */
    VIT_ERROR_FORMAT,      /* a file is not what its format promises: truncated, corrupt, ... */
    VIT_ERROR_UNSUPPORTED, /* valid, but beyond what this library does */
    VIT_ERROR_MISMATCH,    /* two things that belong together disagree: model and data, ... */
    VIT_ERROR_CANCELLED,   /* a callback asked to stop */
} vit_status;

typedef struct vit_error {
    vit_status status;
    char message[1024]; /* one sentence, UTF-8, no newline */
} vit_error;

/* The name of a status, such as "format"; never NULL. */
VIT_API const char *vit_status_name(vit_status status);

/* What the scores of the classes are, of logits z. */
typedef enum vit_scoring {
    VIT_SCORING_SOFTMAX, /* of one class a picture: softmax(z / temperature) */
    VIT_SCORING_SIGMOID, /* of every class by itself: 1 / (1 + exp(-z)) */
    VIT_SCORING_NONE,    /* of a regression: z */
    VIT_SCORING_COUNT,
} vit_scoring;
/* "softmax", "sigmoid", "none"; a constant. */
VIT_API const char *vit_scoring_name(vit_scoring scoring);

/* A number that may be left out. Zeroed, it is not given; vit_given(3) is 3. */
typedef struct vit_optional {
    bool given;
    double value;
} vit_optional;

static inline vit_optional vit_given(double value) {
    vit_optional number = {true, value};
    return number;
}

/* ---- models --------------------------------------------------------------------------------- */

typedef struct vit_model vit_model;

/* Describes a model. The strings belong to the model and live as long as it does. */
typedef struct vit_model_info {
    size_t height, width, channels; /* the network's input */
    size_t patch;                   /* side of a square patch, in pixels */
    size_t dim, depth, heads, mlp;  /* width D, blocks L, attention heads, width of the MLP */
    /* prefix: tokens before the patches; registers: the last of these; tokens: all */
    size_t prefix, registers, tokens;
    size_t rows, columns; /* of the patch grid */
    size_t features;      /* of a picture: dim, 2 dim, or what a projection makes of them */
    size_t classes;
    bool has_head;     /* false: a backbone, whose logits are its features (classes == features) */
    size_t parameters; /* trainable: weights, biases, tokens, ... */
    size_t multiply_adds;      /* in the forward pass of one picture */
    const char *config;        /* the architecture, JSON */
    const char *preprocessing; /* the operations that make the input of a picture, in order, JSON */
    const char *recipe;        /* how it was trained, or where it comes from, JSON; or "{}" */
    double temperature;        /* its probabilities are softmax(logits / temperature); fitted on the
                                  validation set; 1 where the model has none */
    double threshold; /* answers with a lower probability are below the confidence threshold: one in
                         a hundred of the validation pictures got such an answer. 0 where the model
                         has none */
    vit_scoring scoring;     /* SOFTMAX unless a published config says otherwise ("problem_type") */
    vit_precision precision; /* of a session in F32: INT8 if the weights are in 8 bits */
} vit_model_info;

/* Which side of a picture is up. A camera that is held upright stores its pictures on their side
 * and writes into them how to turn them: into EXIF data or XMP. */
typedef enum vit_orientation {
    VIT_ORIENTATION_MODEL, /* as the model's preprocessing says: models of this library turn
                       pictures of people's, Hugging Face's all, as its pipeline() does; timm's none
                     */
    VIT_ORIENTATION_EXIF,  /* every picture is turned as it says, first of all */
    VIT_ORIENTATION_NEVER, /* pictures are taken as they are stored */
    VIT_ORIENTATION_COUNT,
} vit_orientation;

/* How to open a model. Zero the structure, then set what you need. */
typedef struct vit_model_options {
    const char *config;  /* for published weights alone: the path of their config, in place of the
                            config.json beside them */
    const char *emulate; /* for published weights that libraries answer differently: "timm", "hf",
                       "meta", ...; NULL: as their own library */
    const char *labels;  /* class names in place of the model's own: a text file with one name a
                            line, a JSON file (a list, or {"0": name, ...}), or "imagenet-1k" */
    /* the network's input; 0: the model's own. Positions are resampled; the preprocessing keeps
     * taking the same share of the picture (docs/formats.md) */
    size_t height, width;
    vit_orientation
        exif_orientation; /* changes the model's preprocessing: whether it has "orient" */
    const char *cpu;      /* as in vit_session_options; changes no byte */
    /* Of sessions. F32 allows all: the first session in another one makes a rounded copy of the
     * weights, which later ones share. BF16, INT8: weights are rounded as they are read, and take a
     * half or a quarter; a session in F32 is then refused, or in INT8, too. Of a file of 8-bit
     * weights (docs/formats.md), F32 means INT8; weights of 16 bits take a half in F32, too. */
    vit_precision precision;
    vit_bf16 bf16; /* of a head that is made of words in BF16 */
    int threads;   /* that load it, as in vit_session_options; changes no byte */
    bool in_place; /* weights of 32 and 16 bits stay in the file, which must not change: loaded much
                      sooner, answers up to a tenth later. Not with BF16, INT8 or bytes in memory */
} vit_model_options;

/* Loads a model from `path`: a model file of this library (docs/formats.md), or published weights
 * of timm, Hugging Face, torchvision, Google or vit-pytorch, a file or a directory with the config
 * beside them (docs/weights.md). */
VIT_API vit_status vit_model_load(vit_model **out, const char *path, vit_error *error);
VIT_API vit_status vit_model_load_with(vit_model **out, const char *path,
                                       const vit_model_options *options, vit_error *error);
/* Loads a model from the bytes of such a file; they may be freed afterwards. `name` stands for the
 * file in messages. The config of published weights is options->config. */
VIT_API vit_status vit_model_load_memory(vit_model **out, const void *bytes, size_t size,
                                         const char *name, const vit_model_options *options,
                                         vit_error *error);
VIT_API void vit_model_free(vit_model *model);
VIT_API vit_model_info vit_model_describe(const vit_model *model);

/* The name of class `index`, or NULL when index >= classes. Never NULL otherwise: a model without
 * labels has the numbers "0", "1", ... */
VIT_API const char *vit_model_label(const vit_model *model, size_t index);

/* ---- conversion ----------------------------------------------------------------------------- */

typedef struct vit_convert_options {
    const char *in;                        /* the model to read: a path as for vit_model_load */
    const char *config, *emulate, *labels; /* as in vit_model_options */
    const char *out;    /* without a layout, or for "onnx" with a name that ends in ".onnx": a file,
                           which is replaced; otherwise a directory, which must not exist yet */
    const char *layout; /* "timm", "hf", "torchvision", "npz", "onnx", "pytorch"; NULL: our file */
    const char *type;   /* element type of the weights: "f32", "bf16", "f16" or, without a layout,
                           for "hf" and "onnx", "int8", as VIT_PRECISION_INT8; NULL: "f32" */
    bool force; /* write the model even if the layout cannot express all of it, with a note for each
                   loss; what the other library could not load is refused all the same */
    const char *calibrate;     /* calibration set: folder or data, docs/quantization.md */
    size_t calibrate_pictures; /* of these, evenly spread; 0: 64 */
    const char *cpu;           /* as in vit_session_options; changes no byte */
    void (*note)(const char *text, void *user); /* as vit_note; NULL: notes are dropped */
    void *user;
} vit_convert_options;

/* Writes a model in the layout of another library, or as a model file of this one. A layout's
 * directory holds the weights and config.json, of "hf" also preprocessor_config.json, of "pytorch"
 * model.py. UNSUPPORTED, with reasons: it cannot express the model. On failure nothing stays. */
VIT_API vit_status vit_convert(const vit_convert_options *options, vit_error *error);

/* ---- classification ------------------------------------------------------------------------- */

typedef struct vit_session vit_session;
typedef struct vit_session_options {
    int threads;     /* 0: OMP_NUM_THREADS where it is set, else as many as the process may use */
    const char *cpu; /* the highest instruction set to use: "scalar", "sse41", "neon", "simd128",
                        "avx2", "avx512", "avx512bf16" or "amx"; NULL: the best that the processor
                        has. AMX changes what the system allows the process: vit/precision.h */
    vit_precision precision;
    vit_bf16 bf16; /* ARGUMENT if it cannot be had, and with another precision than BF16 */
} vit_session_options;

/* Whether sessions can have this precision with this instruction set, on this processor. An unknown
 * precision or instruction set has none. */
VIT_API bool vit_precision_available(vit_precision precision, const char *cpu);

/* Whether products in bf16, in this arithmetic, take longer than those in f32 with this instruction
 * set (NULL: the best) on this processor. Every call measures both, for a fraction of a
 * millisecond. False for another precision, or one that is not available. For a note: no result
 * depends on it. Any threads may call it. */
VIT_API bool vit_precision_is_slower(vit_precision precision, vit_bf16 bf16, const char *cpu);

/* Makes a session: the scratch memory in which one thread of the caller at a time runs the model.
 * The model must outlive it. Several sessions may share one model. */
VIT_API vit_status vit_session_new(vit_session **out, const vit_model *model,
                                   const vit_session_options *options, vit_error *error);
VIT_API void vit_session_free(vit_session *session);

/* Classify one picture, of any format that this build reads (docs/formats.md), from a file or
 * from its bytes, after the model's own preprocessing. logits: [classes]. `name` stands for the
 * file in messages. */
VIT_API vit_status vit_classify_file(vit_session *session, const char *path, float *logits,
                                     vit_error *error);
VIT_API vit_status vit_classify_memory(vit_session *session, const void *bytes, size_t size,
                                       const char *name, float *logits, vit_error *error);

/* The same for decoded pixels of 8 bits a channel: [height] rows of [width][channels], with
 * `stride` bytes from row to row. channels: 1 grey, 2 with alpha, 3 RGB, 4 RGBA. */
VIT_API vit_status vit_classify_pixels(vit_session *session, const uint8_t *pixels, size_t width,
                                       size_t height, size_t channels, size_t stride, float *logits,
                                       vit_error *error);

/* Classifies images that are prepared already, as a data set's records hold them:
 * [count][height][width][channels] of the network's own size; only normalisation is left to do.
 * logits: [count][classes]. */
VIT_API vit_status vit_classify_prepared(vit_session *session, const uint8_t *images, size_t count,
                                         float *logits, vit_error *error);

/* The same, giving features, too: [count][features of vit_model_info], or NULL.
 * vit_embed_normalized takes images that are normalised already; every value must be finite. */
VIT_API vit_status vit_embed_prepared(vit_session *session, const uint8_t *images, size_t count,
                                      float *logits, float *features, vit_error *error);
VIT_API vit_status vit_embed_normalized(vit_session *session, const float *images, size_t count,
                                        float *logits, float *features, vit_error *error);

/* The first half of vit_classify_memory, for callers that gather pictures into batches: decodes and
 * prepares one. out: [height][width][channels], an image for vit_classify_prepared. A picture of
 * more than `most_pixels` (0: the decoder's own limit) is refused as UNSUPPORTED before its pixels
 * are decoded. *warning: as from vit_session_warning. Leaves the session unchanged: several threads
 * may call it at once, even while another one computes with the session. */
VIT_API vit_status vit_prepare_memory(const vit_session *session, const void *bytes, size_t size,
                                      const char *name, size_t most_pixels, uint8_t *out,
                                      const char **warning, vit_error *error);

/* One of several pictures: a file, the bytes of one, or pixels as for vit_classify_pixels. */
typedef struct vit_picture {
    const char *name;  /* path of the file; with bytes or pixels, the name used in messages */
    const void *bytes; /* [size]; NULL: the file is read */
    size_t size;
    const uint8_t *pixels; /* in place of a file; or NULL */
    size_t width, height, channels, stride;
    bool is_regular_file; /* a pipe of this name, which a stranger may give, is refused at once */
} vit_picture;

/* vit_prepare_memory for any picture, and in two forms, either of which may be NULL: `pixels` as
 * there, rounded to 8 bits, and `values` [height][width][channels], normalised and exact, for
 * vit_embed_normalized. most_pixels: of a picture given as bytes. */
VIT_API vit_status vit_prepare_values(const vit_session *session, const vit_picture *picture,
                                      size_t most_pixels, uint8_t *pixels, float *values,
                                      const char **warning, vit_error *error);

/* The outcome for one picture of vit_classify_many. */
typedef struct vit_answer {
    vit_error error;     /* status VIT_OK: the picture was classified */
    const char *warning; /* as from vit_session_warning */
} vit_answer;

/* Classifies many pictures on all threads: while some threads read and prepare pictures, others
 * compute. The bytes are those of one call per picture, only sooner. Threads wait for each other
 * only at the end, so give at least some sixteen pictures per thread to keep them busy. logits:
 * [count][classes]; features: [count][features of vit_model_info], as from vit_session_features, or
 * NULL. answers: [count]. A picture that fails has its error in its answer, and NaN in its rows;
 * the call itself fails only when memory runs out. */
VIT_API vit_status vit_classify_many(vit_session *session, const vit_picture *pictures,
                                     size_t count, float *logits, float *features,
                                     vit_answer *answers, vit_error *error);

/* Computes the features of a picture, its embedding: [features of vit_model_info], as from
 * vit_session_features. Pictures that look alike to the network have features that point in similar
 * directions. */
VIT_API vit_status vit_embed_file(vit_session *session, const char *path, float *features,
                                  vit_error *error);

/* A warning about the picture classified last, "no ink was found on it": constant, or NULL. */
VIT_API const char *vit_session_warning(const vit_session *session);

/* Copies what the head received for the picture that the session classified last (of a batch, the
 * last one that could be read): the class token after the encoder and the final norm, or what the
 * model pools in its place. features: [vit_model_info.features]. ARGUMENT before the first. */
VIT_API vit_status vit_session_features(const vit_session *session, float *features,
                                        vit_error *error);

/* probabilities[i] = exp(logits[i]) / sum_j exp(logits[j]). Both: [classes]; in place works. */
VIT_API void vit_probabilities(const float *logits, size_t classes, float *probabilities);

/* The model's scores of the classes, by its scoring: softmax(logits / temperature) unless it is
 * another. The temperature is fitted so that about nine in ten of the answers with probability 0.9
 * are right. logits and probabilities: [classes of the model]; they may be the same array. */
VIT_API void vit_model_probabilities(const vit_model *model, const float *logits,
                                     float *probabilities);
/* The same by another scoring than the model's. */
VIT_API void vit_model_scores(const vit_model *model, vit_scoring scoring, const float *logits,
                              float *scores);

/* indices[0..k): of the k largest values, largest first, the smaller index first where values are
 * equal; NaN comes last. k <= count. */
VIT_API void vit_top_k(const float *values, size_t count, size_t k, size_t *indices);

/* ---- pictures in memory --------------------------------------------------------------------- */

/* Labelled pictures in memory, borrowed for the call. Pictures of the network's own size are taken
 * as they are; others go through the model's preprocessing (docs/data.md). Count 0: no part. */
typedef struct vit_array_part {
    const uint8_t *images; /* [count][height][width][channels], 8 bits a channel */
    const int64_t *labels; /* [count], from 0 */
    size_t count;
} vit_array_part;
typedef struct vit_arrays {
    size_t height, width, channels;  /* channels: 1 grey, 3 RGB */
    size_t classes;                  /* 0: the largest training label plus one */
    const char *const *names;        /* [classes]; NULL: numbers */
    vit_array_part train, val, test; /* if test is absent, val stands in for it */
} vit_arrays;

/* Processes that compute together: vit/cluster.h, which is included below. */
typedef struct vit_cluster vit_cluster;

/* ---- evaluation ----------------------------------------------------------------------------- */

typedef enum vit_split { VIT_SPLIT_TEST, VIT_SPLIT_TRAIN, VIT_SPLIT_VAL } vit_split;

/* Receives something the user should know about the data: one sentence, valid during the call. */
typedef void vit_note(const char *text, void *user);

/* A model's answer to one picture; valid during the callback. */
typedef struct vit_evaluated {
    const char *file;     /* path; NULL: the pictures are not in files of their own */
    size_t index;         /* its place in its part of the data */
    size_t label, answer; /* the true class, and the likeliest */
    const float *logits, *probabilities; /* [classes], the model's */
} vit_evaluated;

typedef struct vit_evaluate_options {
    /* as in vit_train_options; near_duplicates: of the answered pictures and the training part */
    const char *data, *class_column, *exclude, *relabel, *near_duplicates, *tag_branch;
    const vit_arrays *arrays; /* in place of it; `data` is then a title, or NULL */
    vit_split split;
    size_t batch;    /* pictures computed at a time; 0: chosen automatically; changes no result */
    int threads;     /* 0: OMP_NUM_THREADS where it is set, else as many as the process may use */
    const char *cpu; /* as in vit_session_options */
    vit_precision precision;
    vit_bf16 bf16;                                             /* as in vit_session_options */
    vit_note *note;                                            /* NULL: notes are dropped */
    void (*picture)(const vit_evaluated *picture, void *user); /* for each in order, or NULL */
    bool list_unreadable; /* a note for every file of a folder that is left out, not only for the
                             first few */
    void *user;
    vit_cluster *cluster; /* ranks that answer together, all of which return the same result; NULL:
                             this process alone */
} vit_evaluate_options;

/* One bin of a reliability diagram: bin i has the answers whose probability is in (i / VIT_BINS, (i
 * + 1) / VIT_BINS]. */
#define VIT_BINS 15
typedef struct vit_reliability {
    size_t images;
    double confidence, accuracy; /* mean probability of the answers; share of them that are right.
                                    NaN in an empty bin */
} vit_reliability;

/* A class of the data that the model does not know. */
typedef struct vit_unknown_class {
    const char *label;
    size_t images;
} vit_unknown_class;

typedef struct vit_evaluation {
    size_t images, correct;
    double top1, top5; /* fractions 0..1 */
    double loss;       /* mean cross-entropy of the logits, without temperature, in nats */
    double seconds;    /* spent computing, without reading the data */
    char data[256];    /* the name of the data */
    /* which of its pictures were classified, in a few words: "its test part", ... */
    const char *which;
    bool seen; /* the model learnt from them: its figures say nothing of other pictures */
    size_t classes;
    size_t *confusion; /* [classes][classes]: rows are the true class, columns the answer */
    /* Of the model's probabilities, at its temperature: */
    double temperature;
    double ece; /* expected calibration error over the bins below, 0..1 */
    size_t below_threshold,
        below_threshold_wrong; /* answers of a probability below the model's threshold, and how
                many of these are wrong; 0 for a model without one */
    double brier; /* mean over pictures of the sum over classes of (probability - truth)^2, 0..2 */
    vit_reliability bins[VIT_BINS]; /* by probability of the answer */
    double sequences_right, tokens_right, edit_distance,
        entropy; /* for models that write texts: see vit/texts.h */
    /* How the data's classes were found among the model's: by "name"; by "number", an index of the
     * model's classes; in "order", where the model's classes have no names. NULL: texts. */
    const char *matched_by;
    size_t unknown_images; /* of classes that the model does not know: in no other figure */
    size_t unknown_classes;
    vit_unknown_class *unknown; /* [unknown_classes] */
} vit_evaluation;
/* Classifies every picture of the chosen split and measures how good the answers are. *result is
 * freed by vit_evaluation_clear. */
VIT_API vit_status vit_evaluate(const vit_model *model, const vit_evaluate_options *options,
                                vit_evaluation *result, vit_error *error);
VIT_API void vit_evaluation_clear(vit_evaluation *result);

/* ---- built-in data --------------------------------------------------------------------------- */

/* Draws picture `index` of the set with this seed: pixels [28][28], white on black. Returns its
 * label, 0..9. The training pictures of "digits" have seed 1, its test pictures seed 2. */
VIT_API uint8_t vit_draw_digit(uint8_t *pixels, uint64_t seed, uint32_t index);

/* ---- training ------------------------------------------------------------------------------- */

typedef enum vit_event_kind {
    VIT_EVENT_START, /* what will be done: steps, batch, model, ... */
    VIT_EVENT_STEP,  /* some steps were done: a few times a second at most, and after the last */
    VIT_EVENT_EPOCH, /* an epoch ended, and the validation pictures were classified */
    VIT_EVENT_CHECKPOINT, /* a checkpoint was written (`path`) */
    VIT_EVENT_NOTE,       /* something the user should know (`text`) */
    VIT_EVENT_DONE,       /* the model was written (`path`) and tested */
    VIT_EVENT_POINT,      /* a point of the training's curves: means over 1/400 of the schedule, at
                             steps that depend on the number of steps alone */
} vit_event_kind;

typedef struct vit_event {
    vit_event_kind kind;
    const char *preset, *data; /* names, for a title */
    /* START: all that the model depends on, and the config of its network, as JSON; else NULL */
    const char *recipe, *network;
    size_t parameters;
    size_t train_images, val_images, batch;
    uint64_t step, steps;      /* done so far, and of the whole schedule */
    double epoch, epochs;      /* the same, as passes over the training pictures */
    double loss;               /* mean training loss since the last event of this kind */
    double grad_norm;          /* mean norm of the gradient before clipping, likewise */
    double lr;                 /* learning rate of the last step */
    uint64_t mean_over;        /* POINT: loss, grad_norm and lr are means over so many steps */
    double val_top1, val_loss; /* of the validation pictures; NaN: not measured */
    double test_top1;          /* DONE: fraction 0..1; NaN: the data has no test set */
    double images_per_second;  /* while training, without evaluation */
    double seconds, seconds_left;
    /* of a training on several ranks, NaN for one process: bytes that this rank sent and received a
     * step, the share of the time of steps that it spent in communication alone, and the share of
     * the bytes sent that it sent while it computed, 0..1 */
    double step_sent, step_received, communication, overlap;
    const char *path, *text, *classes_from; /* the last: "folders", "column label of train.csv" */
    bool from_pictures,
        to_texts;   /* whether its input is pictures, and whether it answers with texts */
    bool is_detail; /* NOTE: one of many alike, meant for a log: a file that was left out, ... */
} vit_event;

/* Called at every event. Return false to stop: the training then writes its checkpoint, if one was
 * asked for, and vit_train returns VIT_ERROR_CANCELLED. `event` ends with the call. */
typedef bool vit_callback(const vit_event *event, void *user);

typedef struct vit_train_options {
    const char *data; /* a directory, FILE.npz, or a known name: "mnist", ... (docs/data.md) */
    const vit_arrays *arrays; /* in place of it; `data` is then a title, or NULL */
    const char *class_column; /* of a table; NULL: chosen by its name (docs/data.md) */
    /* tables of pictures (docs/data.md, "Corrections"): those that are left out, and those that
     * have another class than the data say; or NULL. The pictures of the data must be in files */
    const char *exclude, *relabel;
    const char *tag_branch; /* the classes are the tags of a photo library's pictures that lie under
                               this branch, "Animals/"; "": all tags; NULL: they are not
                               (docs/photos.md) */
    const char *near_duplicates; /* a table (CSV) of copies among the pictures of the data, which is
                                    written (docs/data.md, "Copies"); or NULL */
    const char *preset;          /* a preset's name or JSON file; NULL: chosen to suit the data */
    const char *const *set; /* [set_count] "KEY=VALUE" for keys of docs/presets.md: these replace
                               the preset's values; may be NULL */
    size_t set_count;
    size_t height, width; /* the size to which a folder's pictures are brought; 0: that of the model
                             in `init`, or else chosen by their sizes */
    const char *init;     /* a model to start from, or NULL */
    const char *config;   /* with init: as in vit_model_options */
    const char *out;      /* the model file; NULL: none */
    const char *checkpoint; /* a directory, or NULL. A checkpoint that cannot be written is a note,
                               and the next epoch tries again; the call fails only if the last one
                               cannot be written, and still writes the model first */
    double save_minutes;    /* between checkpoints within an epoch; 0: ten */
    /* an HTML page about the training: curves, confusion matrix, worst mistakes, first-layer
     * weights, what to try next. Written at the end of an epoch (every few seconds at most),
     * when the training is stopped, and at its end. A file that is not such a page is not
     * replaced: VIT_ERROR_MISMATCH. Neither `report` nor `tensorboard` affects the model */
    const char *report;
    const char *tensorboard; /* a directory for TensorBoard's event files; or NULL */
    bool resume;             /* go on from the newest checkpoint whose checksum is right */
    const char *rescue; /* without `checkpoint`: a directory for a checkpoint in case the training
                           is stopped; or NULL */
    bool overwrite;     /* replace a model at `out`, and checkpoints, that another training made;
                           otherwise they are refused: VIT_ERROR_MISMATCH */
    bool keep_best;     /* keep the weights of the epoch with the best top-1 on validation pictures;
                           where equal, with the lowest loss */
    size_t patience; /* epochs without improvement on validation pictures to stop after; 0: never */
    /* How long to train: set at most one of epochs, steps and minutes. All 0: the preset's epochs.
     */
    double epochs;
    uint64_t steps, schedule_steps; /* stop after `steps` steps of a schedule of `schedule_steps`
                                       (0: the same number) */
    double minutes;                 /* the whole call takes at most minutes + 0.5 */
    size_t batch;                   /* 0: the preset's */
    size_t gradient_accumulation; /* batches per step, whose gradients are added up as if they were
                          one larger batch; 0: 1 */
    double lr;                    /* 0: the preset's */
    size_t freeze; /* with init: this many of the first blocks, and what comes before them, keep
                      their weights; 0: the preset's */
    double layer_decay; /* X: block i, from 0, learns at rate lr X^(depth - i), and what comes
                           before the blocks at lr X^(depth + 1); 0: the preset's (1) */
    /* knowledge distillation: a model, or FILE.npy with its logits; or NULL */
    const char *teacher;
    /* the validation set: how many training pictures, or below 1 their share. Not given: the
     * preset's, or a tenth of them but 1,000 at most. The temperature is fitted on them */
    vit_optional val;
    bool empty_classes;      /* allow classes without a training picture */
    bool splits_are_classes; /* allow classes called train, val or test, or with such folders */
    uint64_t seed;
    int threads; /* 0: OMP_NUM_THREADS where it is set, else as many as the process may use; does
                    not affect the result */
    bool activation_checkpointing; /* keep only each block's input for the backward pass and compute
                       the rest again: less memory, more time, the same result */
    const char *cpu;               /* as in vit_session_options; does not affect a float32 result */
    vit_precision precision; /* F32: the preset's, which "precision=f32" in `set` overrides; of
                                BF16, "arithmetic=pairs" or "arithmetic=tiles" chooses vit_bf16 */
    vit_callback *callback;
    void *user;
    /* the ranks that train together; NULL: this process alone. Does not affect the model. Only rank
     * 0's output, and its checkpoints, are used */
    vit_cluster *cluster;
    bool shard_optimizer; /* each rank keeps and updates only its part of the optimiser's state:
                             less memory, the same model */
} vit_train_options;

/* The key of presets (docs/presets.md) that is called `word`, here or in other libraries
 * ("num_heads"); with `near` also one that is spelled nearly so. NULL: there is none. */
VIT_API const char *vit_preset_key(const char *word, bool near);

/* The JSON of built-in preset number i, from 0, and its name in *name; NULL after the last. */
VIT_API const char *vit_preset_json(size_t i, const char **name);

/* Trains a network and writes the model. Zero the options, then set what you need. The callback
 * runs on the calling thread. *out is the trained model, freed by vit_model_free; out may be NULL
 * if it is not wanted. */
VIT_API vit_status vit_train(vit_model **out, const vit_train_options *options, vit_error *error);

/* The result of a learning rate test: 160 steps, each at a higher rate. */
#define VIT_LR_STEPS 160
typedef struct vit_lr_search {
    double suggested; /* as the peak rate of a training; NaN: the loss never fell */
    double preset;    /* the rate that the preset or the option gives */
    size_t count;     /* steps done: the test ends early if the loss explodes */
    double lr[VIT_LR_STEPS],
        loss[VIT_LR_STEPS]; /* [count] the rate of each step, and a running mean of the loss */
} vit_lr_search;

/* Tests learning rates with the data, network and recipe of a training, without training: nothing
 * is written, and options about output and duration are ignored. The result depends on the options
 * and the seed alone. */
VIT_API vit_status vit_find_lr(vit_lr_search *out, const vit_train_options *options,
                               vit_error *error);

#ifdef __cplusplus
}
#endif

#include "vit/cluster.h"
#include "vit/tensors.h"

#endif
