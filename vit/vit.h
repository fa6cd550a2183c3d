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
 * vit/maps.h shows what an answer comes from; vit/texts.h has the models that write texts.
 *
 * Rules that hold for every function here:
 *   - A function that can fail returns a vit_status and, when that is not VIT_OK, has written one
 *     sentence for a person into `error` (which may be NULL): the file, tensor or option, the
 *     value found, what was expected. On failure, `*out` is NULL and nothing is left to free.
 *   - Nothing is printed, the process never exits, no global is changed; the host's locale, its
 *     OpenMP settings and its floating-point mode are as they were when a call returns.
 *   - `options` may be NULL wherever a function takes it: as if all of them were zero.
 *   - What a function gives by `vit_x_new` or `vit_x_load` is freed by `vit_x_free`, which takes
 *     NULL. Strings returned belong to the object they came from.
 *   - Models are immutable after loading and may be shared between threads; a session (scratch
 *     memory) serves one thread at a time.
 *   - Results are a function of the inputs alone: the same bytes for any number of threads, alone
 *     or in a batch, on every processor.
 */
#ifndef VIT_H
#define VIT_H
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

/* VIT_VERSION of the library that is linked, which may be another than that of this header. */
VIT_API const char *vit_version(void);

/* ---- errors --------------------------------------------------------------------------------- */

typedef enum vit_status {
    VIT_OK = 0,
    VIT_ERROR_ARGUMENT,    /* a parameter or an option is out of its range */
    VIT_ERROR_MEMORY,      /* the system gave no memory */
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
/* What both sides of a matrix product, a linear layer's or attention's, are rounded to. Sums, and
 * all the rest, are float32 either way. */
typedef enum vit_precision {
    VIT_PRECISION_F32,
    VIT_PRECISION_BF16, /* bfloat16: where the processor has instructions for it (AVX512_BF16);
                           depends on the instruction set, not on threads or batch */
} vit_precision;

/* ---- models --------------------------------------------------------------------------------- */

typedef struct vit_model vit_model;

/* What a model is. Pointers live as long as the model. */
typedef struct vit_model_info {
    size_t height, width, channels;   /* the network's input */
    size_t patch;                     /* side of a square patch, in pixels */
    size_t dim, depth, heads, mlp;    /* width D, blocks L, attention heads, width of the MLP */
    size_t prefix, registers, tokens; /* those before the patches, the last of these; all */
    size_t rows, columns;             /* of the patch grid */
    size_t features;                  /* of a picture, as the head sees it: dim, or twice that */
    size_t classes;
    bool has_head;             /* false: a backbone; its logits are its features, classes as many */
    size_t parameters;         /* trainable: weights, biases, tokens, ... */
    size_t multiply_adds;      /* of one picture */
    const char *config;        /* the architecture, JSON */
    const char *preprocessing; /* ordered list of operations, JSON */
    const char *recipe;        /* how it was trained, or where it comes from, JSON; or "{}" */
    double temperature;        /* of its probabilities, softmax(logits / temperature), fitted on
                                  pictures that its training had not seen; 1 where it has none */
    double threshold;          /* one in a hundred of those pictures had an answer of a lower
                                  probability: such answers are unsure. 0 where it has none */
} vit_model_info;

/* How a model is opened; zeroed but for what is set. */
typedef struct vit_model_options {
    const char *config;   /* of published weights, in place of the config.json beside them */
    const char *labels;   /* names of the classes, in place of the model's: a file of one a line, or
                             JSON, a list or {"0": name, ...}; or "imagenet-1k" */
    size_t height, width; /* the network's input; 0: the model's own. Positions are resampled, the
                             preprocessing keeps its share of the picture (docs/formats.md) */
    const char *cpu;      /* as in vit_session_options; changes no byte */
    vit_precision precision; /* of the sessions. BF16: weights are rounded as they are read and take
                                half the memory; a session in F32 is then refused. F32 serves both:
                                one copy in bf16 is made for the first session that wants it, and
                                shared */
} vit_model_options;

/* Loads a model: a file of this library (docs/formats.md), or published weights, a file or a
 * directory, with the config beside them: timm's, Hugging Face's, torchvision's, Google's,
 * vit-pytorch's (docs/weights.md). */
VIT_API vit_status vit_model_load(vit_model **out, const char *path, vit_error *error);
VIT_API vit_status vit_model_load_with(vit_model **out, const char *path,
                                       const vit_model_options *options, vit_error *error);
/* Loads a model from the bytes of such a file, which may be freed afterwards; `name` stands for
 * the file in messages. Nothing lies beside it: the config of published weights is the options'. */
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
    const char *in;     /* as for vit_model_load_with */
    const char *config; /* as there */
    const char *labels; /* as there */
    const char *out;    /* with a layout a directory, which must not be there yet; else, and for
                           "onnx" where it ends in ".onnx", a file, which is replaced */
    const char *layout; /* "timm", "hf", "torchvision", "npz", "onnx" or "pytorch"; NULL: this
                           library's model file */
    const char *type;   /* of the weights: "f32", "bf16" or "f16"; NULL: "f32" */
    bool force;         /* write what the layout cannot say all of, and note what is lost; but
                           nothing that its library could not load */
    void (*note)(const char *text, void *user); /* as vit_note; NULL: notes are dropped */
    void *user;
} vit_convert_options;

/* Writes a model as its own library, or another one, reads it: the weights, and with a layout
 * config.json, for "hf" preprocessor_config.json, for "pytorch" model.py; "onnx" is one file.
 * UNSUPPORTED, with the reasons, for a model that the layout has no words for. Nothing is left
 * behind when it fails. */
VIT_API vit_status vit_convert(const vit_convert_options *options, vit_error *error);

/* ---- the tensors of a file ------------------------------------------------------------------- */

/* The tensors of a file of weights, be it a model or not: safetensors, a sharded checkpoint, .npz,
 * PyTorch's .pth (docs/formats.md). */
typedef struct vit_tensor_list vit_tensor_list;
typedef struct vit_tensor_info {
    const char *name;
    const char *type;      /* of an element: "F32", "BF16", "I64", ... */
    size_t dims, shape[8]; /* [dims] */
    size_t count;          /* elements: the product of shape */
} vit_tensor_info;

/* Of the finite elements; NaN where there are none. */
typedef struct vit_tensor_statistics {
    double min, max, mean, std; /* std: of the population, over all elements */
    size_t finite;              /* elements that are neither NaN nor infinite */
} vit_tensor_statistics;

/* `path`: a file, the index of a sharded checkpoint, or a directory that holds one of them. */
VIT_API vit_status vit_tensor_list_load(vit_tensor_list **out, const char *path, vit_error *error);
VIT_API void vit_tensor_list_free(vit_tensor_list *list);
VIT_API const char *vit_tensor_list_path(const vit_tensor_list *list); /* of the file opened */
VIT_API const char *vit_tensor_list_kind(const vit_tensor_list *list); /* "safetensors", ... */

/* Tensors in the order of their names; index < count. Strings live as long as the list. */
VIT_API size_t vit_tensor_list_count(const vit_tensor_list *list);
VIT_API vit_tensor_info vit_tensor_list_at(const vit_tensor_list *list, size_t index);

/* Reads the tensor. UNSUPPORTED for types that hold no weights: integers and BOOL. */
VIT_API vit_status vit_tensor_list_measure(const vit_tensor_list *list, size_t index,
                                           vit_tensor_statistics *out, vit_error *error);

/* ---- classification ------------------------------------------------------------------------- */

typedef struct vit_session vit_session;
typedef struct vit_session_options {
    int threads;     /* 0: OMP_NUM_THREADS, or the most: as many as the process may use */
    const char *cpu; /* highest instruction set: "scalar", "neon", "avx2", "avx512" or "avx512bf16";
                        NULL: the best here */
    vit_precision precision;
} vit_session_options;

/* Scratch memory for one thread of the caller; `model` must outlive it. */
VIT_API vit_status vit_session_new(vit_session **out, const vit_model *model,
                                   const vit_session_options *options, vit_error *error);
VIT_API void vit_session_free(vit_session *session);

/* logits: [classes]. The picture goes through the model's own preprocessing. PNG and JPEG. */
VIT_API vit_status vit_classify_file(vit_session *session, const char *path, float *logits,
                                     vit_error *error);
VIT_API vit_status vit_classify_memory(vit_session *session, const void *bytes, size_t size,
                                       const char *name, float *logits, vit_error *error);

/* Pixels, 8 bits a channel: [height] rows of [width][channels], `stride` bytes from row to row.
 * channels: 1 grey, 2 grey and alpha, 3 RGB, 4 RGBA. */
VIT_API vit_status vit_classify_pixels(vit_session *session, const uint8_t *pixels, size_t width,
                                       size_t height, size_t channels, size_t stride, float *logits,
                                       vit_error *error);

/* Prepared input, as a data set's records hold it: images [count][height][width][channels] of the
 * network's own size, only normalised. logits: [count][classes]. */
VIT_API vit_status vit_classify_prepared(vit_session *session, const uint8_t *images, size_t count,
                                         float *logits, vit_error *error);

/* The same with features: [count][features of vit_model_info], or NULL; and of images that are
 * normalised already, finite and as the network takes them. */
VIT_API vit_status vit_embed_prepared(vit_session *session, const uint8_t *images, size_t count,
                                      float *logits, float *features, vit_error *error);
VIT_API vit_status vit_embed_normalized(vit_session *session, const float *images, size_t count,
                                        float *logits, float *features, vit_error *error);

/* The first half of vit_classify_memory, for whoever gathers pictures before they are computed:
 * out: [height][width][channels], an image of vit_classify_prepared. A picture of more than
 * `most_pixels` (0: what the decoder takes) is UNSUPPORTED, before its pixels are decoded.
 * *warning: as vit_session_warning. Changes nothing in the session: several threads may call it at
 * once, and while another one computes. */
VIT_API vit_status vit_prepare_memory(const vit_session *session, const void *bytes, size_t size,
                                      const char *name, size_t most_pixels, uint8_t *out,
                                      const char **warning, vit_error *error);

/* A picture of several: a file, or the bytes of one. */
typedef struct vit_picture {
    const char *name;  /* of the file; with bytes, what stands for it in messages */
    const void *bytes; /* [size]; NULL: the file is read */
    size_t size;
} vit_picture;

/* What became of it. */
typedef struct vit_answer {
    vit_error error;     /* its status is VIT_OK where the picture was answered */
    const char *warning; /* as vit_session_warning has it */
} vit_answer;

/* Many pictures, on all threads: while one reads and prepares a picture, another computes; the same
 * bytes as one by one, sooner. Threads wait for each other only at the end, so some sixteen times
 * as many pictures as there are threads keep them busy. logits: [count][classes]; features:
 * [count][features of vit_model_info], as vit_session_features has them, or NULL; the rows of a
 * picture that failed are NaN. answers: [count]. Fails only where memory does. */
VIT_API vit_status vit_classify_many(vit_session *session, const vit_picture *pictures,
                                     size_t count, float *logits, float *features,
                                     vit_answer *answers, vit_error *error);

/* The features of a picture, an embedding: [features of vit_model_info], as vit_session_features
 * has them. Pictures that look alike to the network have features that point the same way. */
VIT_API vit_status vit_embed_file(vit_session *session, const char *path, float *features,
                                  vit_error *error);

/* What to know of the picture classified last ("no ink was found on it"): a constant, or NULL. */
VIT_API const char *vit_session_warning(const vit_session *session);

/* features: [features of vit_model_info], what the head sees: the class token after the encoder and
 * the final norm, or what the model pools in its place; for the picture that the session classified
 * last (the last one of a batch that could be read). */
VIT_API vit_status vit_session_features(const vit_session *session, float *features,
                                        vit_error *error);

/* probabilities[i] = exp(logits[i]) / sum_j exp(logits[j]); both [classes], may be one array. */
VIT_API void vit_probabilities(const float *logits, size_t classes, float *probabilities);

/* The model's probabilities: those of its logits divided by its temperature, so that of answers
 * with probability .9 about nine of ten are right. logits and probabilities: [classes of the
 * model], may be one array. */
VIT_API void vit_model_probabilities(const vit_model *model, const float *logits,
                                     float *probabilities);

/* indices[0..k) of the k largest values in falling order, the smaller index first where equal;
 * NaN comes last. k <= count. */
VIT_API void vit_top_k(const float *values, size_t count, size_t k, size_t *indices);

/* ---- pictures in memory --------------------------------------------------------------------- */

/* Labelled pictures in memory, borrowed for the call. Those of the network's own size are taken as
 * they are, others go through the model's preprocessing (docs/data.md). Counts of 0: no such part.
 */
typedef struct vit_array_part {
    const uint8_t *images; /* [count][height][width][channels], 8 bits a channel */
    const int64_t *labels; /* [count], from 0 */
    size_t count;
} vit_array_part;
typedef struct vit_arrays {
    size_t height, width, channels;  /* channels: 1 grey, 3 RGB */
    size_t classes;                  /* 0: the largest training label and one more */
    const char *const *names;        /* [classes]; NULL: numbers */
    vit_array_part train, val, test; /* no test: val serves */
} vit_arrays;

/* ---- evaluation ----------------------------------------------------------------------------- */

typedef enum vit_split { VIT_SPLIT_TEST, VIT_SPLIT_TRAIN, VIT_SPLIT_VAL } vit_split;

/* What the user should know about the data; one sentence, which lives for the call. */
typedef void vit_note(const char *text, void *user);

/* What a model answered to a picture; lives for the call. */
typedef struct vit_evaluated {
    const char *file;     /* of a folder; NULL: the set's pictures are not in files of their own */
    size_t index;         /* its place in its part of the data */
    size_t label, answer; /* the true class, and the likeliest */
    const float *logits, *probabilities; /* [classes], the model's */
} vit_evaluated;

typedef struct vit_evaluate_options {
    const char *data;         /* as in vit_train_options */
    const vit_arrays *arrays; /* in place of it; `data` is then a title, or NULL */
    vit_split split;
    size_t batch;    /* pictures at a time; 0: chosen. Changes no figure */
    int threads;     /* 0: OMP_NUM_THREADS, or the most: as many as the process may use */
    const char *cpu; /* as in vit_session_options */
    vit_precision precision;
    vit_note *note;                                            /* NULL: notes are dropped */
    void (*picture)(const vit_evaluated *picture, void *user); /* for each in order, or NULL */
    bool list_unreadable; /* a note for each file of a folder that is left out, not the first ones
                             alone */
    void *user;
} vit_evaluate_options;

/* The answers whose probability is in (i / VIT_BINS, (i + 1) / VIT_BINS]. */
#define VIT_BINS 15
typedef struct vit_reliability {
    size_t images;
    double confidence, accuracy; /* mean probability; share that is right. NaN without pictures */
} vit_reliability;

typedef struct vit_evaluation {
    size_t images, correct;
    double top1, top5; /* fractions 0..1 */
    double loss;       /* mean cross-entropy of the logits as they are, natural logarithm */
    double seconds;    /* computing, without reading the data */
    char data[256];    /* the name of the data */
    const char *which; /* which of its pictures were answered, a few words: "its test part", ... */
    size_t classes;
    size_t *confusion; /* [classes][classes]: rows are the true class, columns the answer */
    /* Of the model's probabilities, at its temperature: */
    double temperature;
    double ece;                  /* expected calibration error over the bins below, 0..1 */
    size_t unsure, unsure_wrong; /* answers of a probability below the model's threshold, and how
                                    many of these are wrong; 0 for a model without one */
    double brier; /* mean over pictures of the sum over classes of (probability - truth)^2, 0..2 */
    vit_reliability bins[VIT_BINS]; /* by the probability of the answer */
    double sequences_right, tokens_right, edit_distance, entropy; /* of texts: vit/texts.h */
} vit_evaluation;
VIT_API vit_status vit_evaluate(const vit_model *model, const vit_evaluate_options *options,
                                vit_evaluation *result, vit_error *error);
VIT_API void vit_evaluation_clear(vit_evaluation *result);

/* ---- a training as a page -------------------------------------------------------------------- */

typedef struct vit_report_options {
    const char *log; /* of a training: JSON lines, as vit-train --log writes them */
    const char *out; /* the page: one HTML file that needs nothing else; a file of another kind is
                        not replaced, VIT_ERROR_MISMATCH */
    const char *model, *config; /* its first weights are shown, too; config as for published
                                   weights; or NULL */
    const char *data; /* with model: what it takes for what, and the pictures it gets most wrong; or
                         NULL */
    vit_split split;
    int threads;     /* 0: OMP_NUM_THREADS, or the most: as many as the process may use */
    const char *cpu; /* as in vit_session_options */
    vit_note *note;  /* NULL: notes are dropped */
    void *user;
} vit_report_options;

/* Writes the page of a training that left a log; vit_train writes it itself where its options name
 * a report. A log has one point an epoch. */
VIT_API vit_status vit_write_report(const vit_report_options *options, vit_error *error);

/* ---- built-in data --------------------------------------------------------------------------- */

/* The digit of picture `index` of a set drawn with `seed`: pixels [28][28], white on black. Returns
 * its label, 0..9. The training pictures of "digits" have seed 1, its test pictures seed 2. */
VIT_API uint8_t vit_draw_digit(uint8_t *pixels, uint64_t seed, uint32_t index);

/* ---- training ------------------------------------------------------------------------------- */

typedef enum vit_event_kind {
    VIT_EVENT_START,      /* what will be done: steps, batch, model, ... */
    VIT_EVENT_STEP,       /* after some steps, a few times a second at most, and the last */
    VIT_EVENT_EPOCH,      /* an epoch ended and its held-back pictures were answered */
    VIT_EVENT_CHECKPOINT, /* a checkpoint was written (`path`) */
    VIT_EVENT_NOTE,       /* something the user should know (`text`) */
    VIT_EVENT_DONE,       /* the model was written (`path`) and tested */
} vit_event_kind;

typedef struct vit_event {
    vit_event_kind kind;
    const char *preset, *data; /* names, for a title */
    size_t parameters;
    size_t train_images, val_images, batch;
    uint64_t step, steps;      /* done so far, and of the whole schedule */
    double epoch, epochs;      /* the same in passes over the training pictures */
    double loss;               /* mean training loss since the last event of this kind */
    double grad_norm;          /* mean norm of the gradient before clipping, likewise */
    double lr;                 /* learning rate of the last step */
    double val_top1, val_loss; /* of the held-back pictures; NaN: not measured */
    double test_top1;          /* DONE: fraction 0..1; NaN: the data has no test set */
    double images_per_second;  /* training alone */
    double seconds, seconds_left;
    const char *path, *text;
    bool from_pictures, to_texts; /* what the network is given, and what it answers with */
    bool is_detail; /* NOTE: one of many of its kind, for a log: a file that is left out, ... */
} vit_event;

/* Return false to stop: the training then writes its checkpoint, if one was asked for, and
 * vit_train returns VIT_ERROR_CANCELLED. `event` and its strings live for the call. */
typedef bool vit_callback(const vit_event *event, void *user);

typedef struct vit_train_options {
    const char *data; /* a directory, FILE.npz, or a known name: "mnist", ... (docs/data.md) */
    const vit_arrays *arrays; /* in place of it; `data` is then a title, or NULL */
    const char *preset;       /* a name or a JSON file; NULL: the data decides */
    const char *const *set;   /* [set_count] "KEY=VALUE" for any key of docs/presets.md, in place of
                                 the preset's; may be NULL */
    size_t set_count;
    size_t height, width;   /* what the pictures of a folder become; 0: chosen by their sizes, with
                               init the model's */
    const char *init;       /* a model to start from, or NULL */
    const char *config;     /* with init: as in vit_model_options */
    const char *out;        /* the model file; NULL: none */
    const char *checkpoint; /* a directory, or NULL. What cannot be written there is a note, and the
                               next epoch tries again; only the last one fails the call, after the
                               model was written */
    double save_minutes;    /* between checkpoints within an epoch; 0: ten */
    const char *report; /* an HTML file that shows the training: curves, what is taken for what, the
                           pictures it gets most wrong, first weights, what to try next. Written
                           every few seconds at an epoch's end, when the training is stopped and at
                           the end; a file of another kind is refused, VIT_ERROR_MISMATCH. NULL:
                           none. It, and `tensorboard`, change no byte of the model */
    const char *tensorboard; /* a directory for event files of TensorBoard; or NULL */
    bool resume;             /* go on from the newest checkpoint that verifies */
    const char *rescue;      /* without `checkpoint`: a directory for that of a training that is
                                stopped, or NULL */
    bool overwrite;  /* replace a model in `out`, and checkpoints, that this same training did not
                        make; else those are refused, VIT_ERROR_MISMATCH */
    bool keep_best;  /* the model is that of the epoch with the best held-back top-1, then loss */
    size_t patience; /* stop after so many epochs without better held-back answers; 0: never */
    /* How long; at most one of the three kinds. All 0: the preset's epochs. */
    double epochs;
    uint64_t steps, schedule_steps; /* stop after `steps` of a schedule of `schedule_steps`
                                       (0: the same) */
    double minutes;                 /* the whole call ends within minutes + 0.5 */
    size_t batch;                   /* 0: the preset's */
    size_t accumulate;   /* a step takes the gradient of so many batches, as of one batch of so many
                            times as many pictures; 0: 1 */
    double lr;           /* 0: the preset's */
    size_t freeze;       /* with init: the first blocks that keep their weights, with what comes
                            before them; 0: the preset's */
    double layer_decay;  /* X: the learning rate of block i, from 0, is lr X^(depth - i), and
                            lr X^(depth + 1) before the blocks; 0: the preset's (1) */
    const char *teacher; /* a model, or FILE.npy of its logits, to learn from; NULL: none */
    double val;          /* where val_given: training pictures held back, their number, or below 1
                            their share; else the preset's, or a tenth of them, 1,000 at most. The
                            temperature is fitted on them */
    bool val_given;
    bool empty_classes; /* classes without a training picture are no error */
    uint64_t seed;
    int threads;     /* 0: OMP_NUM_THREADS, or the most: as many as the process may use; changes
                        no byte of the result */
    bool recompute;  /* keep only the input of each block for the backward pass and compute
                        the rest again: less memory, more time; changes no byte */
    const char *cpu; /* as in vit_session_options; changes no byte of an f32 result */
    vit_precision precision; /* BF16 goes before the preset's; so does F32 where it is given */
    bool precision_given;
    vit_callback *callback;
    void *user;
} vit_train_options;

/* The JSON of a preset that is compiled in, by place from 0, and its name; NULL after the last. */
VIT_API const char *vit_preset_json(size_t i, const char **name);

/* Trains a network and writes the model. Call with options zeroed but for what you set. The
 * callback runs on the calling thread. `*out` is the trained model, or not wanted: out NULL. */
VIT_API vit_status vit_train(vit_model **out, const vit_train_options *options, vit_error *error);

/* A test of learning rates: 160 steps, each at a higher one. */
#define VIT_LR_STEPS 160
typedef struct vit_lr_search {
    double suggested; /* for the highest rate of a training; NaN: the loss never fell */
    double preset;    /* what the preset, or the option, says */
    size_t count;     /* of the steps that were done: it ends where the loss explodes */
    double lr[VIT_LR_STEPS], loss[VIT_LR_STEPS]; /* of each; the loss is a running mean */
} vit_lr_search;

/* Tests learning rates with the data, network and recipe of a training, which is not begun: nothing
 * is written, where and how long are ignored. A function of the options and the seed. */
VIT_API vit_status vit_find_lr(vit_lr_search *out, const vit_train_options *options,
                               vit_error *error);

#ifdef __cplusplus
}
#endif

#endif
