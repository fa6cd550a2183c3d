/* vit/few_shot.h - few-shot classification: features (embeddings) of a trained network, and a ridge
 * or logistic-regression head, computed from them for a few pictures of each class, not trained.
 *
 *     vit_few_shot *t;
 *     vit_few_shot_new(&t, backbone, NULL, &error);
 *     vit_few_shot_add(t, "cat", cats, 10, NULL, &error);
 *     vit_few_shot_add(t, "dog", dogs, 10, NULL, &error);
 *     vit_few_shot_result learnt;
 *     vit_few_shot_learn(t, &learnt, &error); ... learnt.accuracy, with what is left of chance
 *     vit_few_shot_save(t, "pets.safetensors", &error);
 *
 * The rules of vit/vit.h hold. A vit_few_shot serves one thread at a time. docs/few-shot.md says
 * what to expect, and when to train the whole network instead.
 */
#ifndef VIT_FEW_SHOT_H
#define VIT_FEW_SHOT_H
#include "vit/vit.h"
#ifdef __cplusplus
extern "C" {
#endif

/* ---- features ------------------------------------------------------------------------------- */

/* Computes the last states of all tokens of pictures, after the final norm where the network norms
 * tokens or reads the class token: tokens: [count][tokens][dim of vit_model_info], the prefix
 * (class token, ...) first, then the patches row by row. answers: [count], as for
 * vit_classify_many. */
VIT_API vit_status vit_embed_tokens(vit_session *session, const vit_picture *pictures, size_t count,
                                    float *tokens, vit_answer *answers, vit_error *error);

/* A picture of data; valid during the callback. */
typedef struct vit_embedded_picture {
    const char *file;           /* path; NULL: the pictures are not in files of their own */
    size_t index;               /* its place in its part of the data */
    size_t label, class_number; /* the model's class of the same name, SIZE_MAX: there is none; and
                                   the data's */
    const float *logits, *features; /* [classes], [features of vit_model_info] */
} vit_embedded_picture;
typedef void vit_embedded_callback(const vit_embedded_picture *picture, void *user);

/* What was read. */
typedef struct vit_embedded_data {
    char data[256];         /* the name of the data */
    const char *which;      /* of its pictures, in a few words */
    size_t images, classes; /* classes: of the data */
    bool seen;              /* the model, or its head, learnt from them */
} vit_embedded_data;

/* Computes logits and features of all pictures that vit_evaluate would answer, and of those whose
 * class the model does not know; calls `callback` for each, in order. Records of a data set that
 * have another size than the network's input go through the model's preprocessing. The callback
 * `picture` and the cluster of the options are ignored, and `user` is that of notes. *out may be
 * NULL. Errors: those of vit_evaluate; UNSUPPORTED for a model of texts. */
VIT_API vit_status vit_embed_data(const vit_model *model, const vit_evaluate_options *options,
                                  vit_embedded_callback *callback, void *user,
                                  vit_embedded_data *out, vit_error *error);

/* ---- pictures and their classes ----------------------------------------------------------------
 */

typedef struct vit_few_shot vit_few_shot;

/* Return false to stop: the function that asks then returns VIT_ERROR_CANCELLED. */
typedef bool vit_few_shot_callback(void *user);

typedef struct vit_few_shot_options {
    /* How the head is computed: "ridge", regression on targets of 1 and -1, whose leave-one-out is
     * exact; or "logistic", multinomial, whose leave-one-out is approximated by ten folds. NULL:
     * "ridge" */
    const char *head;
    /* These six are as in vit_train_options, for vit_few_shot_add_data. */
    const char *class_column, *exclude, *relabel, *tag_branch;
    bool empty_classes, splits_are_classes;
    bool balance;        /* each class weighs the same, however many pictures it has */
    size_t folds;        /* 2..100: left-out pictures are answered by heads of the other ones of
                            so many folds; 0: as the head does */
    size_t views;        /* of each picture: the picture, and crops of it, mirrored or not, that are
                            learnt from as well; 0: 1, the picture alone */
    bool keep_direction; /* views are not mirrored: letters, signs */
    bool hold_out;       /* of data without parts, one sixth of each class is the test part */
    bool keep_lessons;   /* for vit_few_shot_save_lessons: what is learnt depends on nothing but
                            the pictures, their names and classes; without views */
    bool no_curve;       /* vit_few_shot_learn leaves the learning curve out */
    size_t most_pixels;  /* of a picture: one of more is refused before it is decoded; 0: the
                            decoder's own limit */
    int threads;         /* as in vit_session_options; changes no byte */
    const char *cpu;
    vit_precision precision;
    vit_bf16 bf16;
    vit_few_shot_callback *goes_on; /* called, on any thread, before vit_few_shot_add reads a
                                    picture and between the steps of vit_few_shot_learn; or NULL */
    void *user;                     /* passed to goes_on */
} vit_few_shot_options;

/* The backbone is borrowed; its own head, if it has one, is not used. MISMATCH for a model that
 * writes texts. */
VIT_API vit_status vit_few_shot_new(vit_few_shot **out, const vit_model *backbone,
                                    const vit_few_shot_options *options, vit_error *error);
VIT_API void vit_few_shot_free(vit_few_shot *few_shot);

/* Computes the features of pictures of a class, which is a new one if its name is new. A picture
 * whose bytes were seen before is not decoded again; of the same class it is not added either.
 * answers: [count], the outcome of each; NULL: the first picture that fails ends the call, and none
 * is added. */
VIT_API vit_status vit_few_shot_add(vit_few_shot *few_shot, const char *name,
                                    const vit_picture *pictures, size_t count, vit_answer *answers,
                                    vit_error *error);

/* Adds the training part of a data set or folder, as vit_train_options names them; all pictures of
 * data without parts. Its test part, if there is one, is what vit_few_shot_test answers. note:
 * NULL: notes are dropped. */
VIT_API vit_status vit_few_shot_add_data(vit_few_shot *few_shot, const char *data,
                                         const vit_arrays *arrays, vit_note *note, void *user,
                                         vit_error *error);

/* The pictures that were added, and their classes. name: its path, or what it was called; NULL: it
 * has none. */
typedef struct vit_few_shot_picture {
    const char *name;
    size_t label;
    char sha256[65]; /* of its bytes, by which vit_few_shot_find finds it; "": not known */
} vit_few_shot_picture;
VIT_API size_t vit_few_shot_count(const vit_few_shot *few_shot);
VIT_API vit_few_shot_picture vit_few_shot_at(const vit_few_shot *few_shot, size_t index);
VIT_API size_t vit_few_shot_classes(const vit_few_shot *few_shot);
VIT_API const char *vit_few_shot_class(const vit_few_shot *few_shot, size_t label);

/* Gives a picture another class, by name; and forgets one. ARGUMENT for an index that there is not.
 * What was learnt before stays until the next vit_few_shot_learn. */
VIT_API vit_status vit_few_shot_correct(vit_few_shot *few_shot, size_t index, const char *name,
                                        vit_error *error);
VIT_API vit_status vit_few_shot_forget(vit_few_shot *few_shot, size_t index, vit_error *error);

/* ---- learning, and how good it is ------------------------------------------------------------ */

/* A point of the learning curve: so many pictures of each class, drawn ten times. */
typedef struct vit_learning_point {
    size_t pictures;                  /* of each class */
    double accuracy, lowest, highest; /* of the other pictures: the mean, and of the ten draws */
} vit_learning_point;
#define VIT_CURVE 6

/* A picture that may be of another class than it is said to be. */
typedef struct vit_suspect {
    size_t index, answer;     /* of the picture; the class that it looks like */
    double probability, said; /* of that class, and of its own */
} vit_suspect;
#define VIT_SUSPECTS 20

/* What was learnt. Every picture is answered by a head that was computed without it. */
typedef struct vit_few_shot_result {
    size_t pictures, classes, right;
    double accuracy;      /* right / pictures */
    double low, high;     /* between these it is in 19 of 20 cases (Wilson's interval) */
    const char *left_out; /* "each picture by itself", "a tenth at a time", "a fold at a time"; a
                             constant */
    double strength;      /* of the regularisation, as scikit-learn's Ridge has alpha; of
                             "logistic" 1 / C */
    double temperature, threshold; /* of the model; 0: there are too few pictures for one */
    size_t points;
    vit_learning_point curve[VIT_CURVE]; /* 2, 5, 10, 20, ... pictures of each class */
    double doubled; /* the accuracy to expect of twice as many pictures; NaN: it is not known */
    size_t suspects;
    vit_suspect suspect[VIT_SUSPECTS]; /* the likeliest first */
    size_t confused[2], confusions; /* the two classes that are taken for each other most often, and
                                       how often; 0: never */
    size_t copies;                  /* pictures that are copies of earlier ones, exact or nearly
                                       (vit_few_shot_duplicate) */
    size_t contradictions;          /* pairs of copies whose classes differ */
} vit_few_shot_result;

/* Computes the head. *out may be NULL. ARGUMENT for fewer than two classes with pictures. */
VIT_API vit_status vit_few_shot_learn(vit_few_shot *few_shot, vit_few_shot_result *out,
                                      vit_error *error);

/* The classes that were learnt last, which are the first of those that there are; 0 before. */
VIT_API size_t vit_few_shot_learnt_classes(const vit_few_shot *few_shot);

/* Two of the pictures of which one is a copy of the other. */
typedef struct vit_near_duplicate {
    size_t first, second;
    const char *alike; /* "exact", "near" (saved again), "mirrored", "crop"; a constant */
} vit_near_duplicate;

/* Of the pairs of copies that were found when a head was learnt last, number `index`; alike is NULL
 * behind the last one. Copies are left out together, so that no picture is answered by a head that
 * knows its copy. Pictures of arrays and of files of records are not compared. */
VIT_API vit_near_duplicate vit_few_shot_duplicate(const vit_few_shot *few_shot, size_t index);

/* As JSON, one line, of what was learnt last; lives until the next vit_few_shot_learn. NULL before
 * the first. */
VIT_API const char *vit_few_shot_json(const vit_few_shot *few_shot);

/* The answer to picture `index` of those that were learnt last, by the head that was computed
 * without it: probabilities: [vit_few_shot_learnt_classes]. ARGUMENT: nothing was learnt, or
 * pictures were added or forgotten since. */
VIT_API vit_status vit_few_shot_left_out(const vit_few_shot *few_shot, size_t index,
                                         float *probabilities, vit_error *error);

/* Writes what was learnt as a page, one self-contained HTML file, with the pictures that may be of
 * another class. A file that is no such page is not replaced: MISMATCH. */
VIT_API vit_status vit_few_shot_report(const vit_few_shot *few_shot, const char *path,
                                       vit_error *error);

/* How many of the test pictures are answered right. */
typedef struct vit_tested {
    size_t images, correct;
    double top1, top5, low, high; /* fractions; Wilson's interval */
} vit_tested;

/* Answers the test pictures of vit_few_shot_add_data: by the head that was learnt, or, with
 * k > 0, by DINO's vote of its k nearest neighbours (k-NN) among the training pictures: the class
 * with the largest sum of exp(cosine / 0.07). ARGUMENT if there are no test pictures. The features
 * are computed once. */
VIT_API vit_status vit_few_shot_test(vit_few_shot *few_shot, size_t k, vit_tested *out,
                                     vit_error *error);

/* ---- lessons that are kept ------------------------------------------------------------------- */

/* With keep_lessons, vit_few_shot_learn first puts classes into the order of their names, and the
 * pictures of a class into that of their names without the folder, then of the SHA-256 of their
 * bytes; indices change, and classes without pictures go. So a model has the bytes of one that was
 * taught the same pictures in any other way: without one that was forgotten, with the class that
 * was given later. */

/* Writes features, names, classes and checksums of the pictures, and the small copies (32 x 32
 * pixels) by which copies are found, to a file (docs/formats.md); what is learnt is not in it.
 * ARGUMENT without keep_lessons or pictures; UNSUPPORTED for a picture without a name; MISMATCH for
 * a file that is none of lessons, which is not replaced. */
VIT_API vit_status vit_few_shot_save_lessons(vit_few_shot *few_shot, const char *path,
                                             vit_error *error);

/* Reads such a file into a vit_few_shot without pictures and classes, which takes head and balance
 * from it; then vit_few_shot_learn. FORMAT for a damaged file; MISMATCH for lessons of another
 * backbone, and for a file that is none. It has no pictures afterwards if it fails. */
VIT_API vit_status vit_few_shot_load_lessons(vit_few_shot *few_shot, const char *path,
                                             vit_error *error);

/* *index = the picture that is called so: NAME without folders, CLASS/NAME, a path that ends so, or
 * the SHA-256 of its bytes. MISMATCH if there is none, or several that differ. */
VIT_API vit_status vit_few_shot_find(size_t *index, const vit_few_shot *few_shot, const char *name,
                                     vit_error *error);

/* ---- answers --------------------------------------------------------------------------------- */

/* One of a picture's k nearest neighbours (k-NN) among the training pictures. */
typedef struct vit_few_shot_neighbour {
    size_t index;  /* for vit_few_shot_at */
    double cosine; /* of the angle between their features */
} vit_few_shot_neighbour;

/* Answers a picture by the head that was learnt last. probabilities: [classes that were learnt];
 * neighbours: [k] the most similar training pictures, the first being the most similar, or NULL
 * with k = 0; k is at most vit_few_shot_count. *warning, if not NULL: as from vit_session_warning.
 */
VIT_API vit_status vit_few_shot_answer(vit_few_shot *few_shot, const vit_picture *picture,
                                       float *probabilities, vit_few_shot_neighbour *neighbours,
                                       size_t k, const char **warning, vit_error *error);

/* The most similar training pictures for features that were computed by the backbone: [features].
 */
VIT_API vit_status vit_few_shot_nearest(vit_few_shot *few_shot, const float *features,
                                        vit_few_shot_neighbour *neighbours, size_t k,
                                        vit_error *error);

/* The backbone with the head that was learnt: an ordinary model, which owns a copy of the weights;
 * and its model file. A backbone in int8 makes a model in int8. UNSUPPORTED for a backbone that was
 * opened for bf16, whose weights are rounded. */
VIT_API vit_status vit_few_shot_model(vit_model **out, const vit_few_shot *few_shot,
                                      vit_error *error);
VIT_API vit_status vit_few_shot_save(const vit_few_shot *few_shot, const char *path,
                                     vit_error *error);

/* Writes a model file without the backbone's weights: the head, and the name and the SHA-256 of
 * the file `backbone` that the backbone was loaded from, or of the file in that directory. To load
 * it, that file must be beside it, in the working directory or in $VIT_MODELS. UNSUPPORTED for
 * weights in several files. */
VIT_API vit_status vit_few_shot_save_head(const vit_few_shot *few_shot, const char *path,
                                          const char *backbone, vit_error *error);

/* Takes the head of a model that was taught on this backbone: its classes, and what is known of it;
 * vit_few_shot_answer then answers by it. Its pictures are in no model file: vit_few_shot_learn
 * asks for new ones of each of its classes. ARGUMENT if it has classes already; MISMATCH
 * for a model of another backbone. */
VIT_API vit_status vit_few_shot_take_head(vit_few_shot *few_shot, const vit_model *taught,
                                          vit_error *error);

#ifdef __cplusplus
}
#endif

#endif
