/* The structure behind vit_few_shot, and what its files share: few_shot.c (pictures),
 * few_shot_data.c (data sets, tests), few_shot_learn.c (heads, figures, answers), few_shot_model.c
 * (the model file), few_shot_lessons.c (lessons that are kept) and few_shot_page.c (the page). */
#ifndef VIT_API_FEW_SHOT_H
#define VIT_API_FEW_SHOT_H

#include "datasets/dataset.h"
#include "vit/api/internal.h"
#include "vit/few_shot.h"
#include "vit/few_shot/solve.h"
#include "vit/formats/sha256.h"
#include "vit/image/likeness.h"

/* A picture that is learnt from. */
typedef struct vit_taught_picture {
    char *name;         /* owned, or NULL */
    uint8_t digest[32]; /* SHA-256 of its bytes */
    bool has_digest;
    bool is_kept;           /* it comes from a file of lessons: its name is no path */
    uint8_t *thumb;         /* [height][width][channels], as the network sees it, or NULL */
    vit_likeness *likeness; /* by which copies are found; owned, or NULL */
} vit_taught_picture;

/* How a head is computed. */
typedef struct vit_few_shot_solver {
    const char *name;
    vit_solver_function *solve;
    const char *left_out;
} vit_few_shot_solver;

/* Its name without the folders; "" if it has none. */
const char *vit_taught_name(const vit_taught_picture *picture);

struct vit_few_shot {
    const vit_model *backbone;
    vit_session *session;
    vit_network network; /* the backbone's without its head */
    vit_inference *inference;
    const vit_few_shot_solver *solver;
    bool balance, keep_direction, hold_out, no_curve, keep_lessons;
    vit_precision precision;
    bool empty_classes, splits_are_classes;
    char *class_column, *exclude, *relabel, *tag_branch; /* or NULL */
    size_t most_pixels, folds;
    vit_few_shot_callback *goes_on;
    void *user;
    size_t views, width; /* width: features of a view */
    char **classes;      /* [class_count], each owned */
    size_t class_count, class_room;
    vit_taught_picture *pictures; /* [count] */
    size_t *labels;               /* [count] */
    float *features;              /* [count][views][width] */
    size_t count, room;
    float *units;       /* [count][width] of length 1, of the pictures themselves; NULL: not yet */
    char corrected[65]; /* vit_dataset's of these data */
    char data[256], checksum[65]; /* of the data that were added; "": none */
    float *test; /* [test_count][width] features of the test pictures; NULL: none */
    size_t *test_labels, test_count;
    /* what was learnt last, of the classes then: */
    bool has_learnt;
    size_t learnt_classes;
    size_t taken; /* the first so many classes came with a head that was taken */
    vit_solution solution;
    vit_few_shot_result learnt;
    vit_copies copies; /* among the pictures then */
    char *json;
};

/* Features of prepared pictures: ready: [count]; out: [count][views][width]. first: the number of
 * the first of them, which decides on its views. */
vit_status vit_few_shot_embed(vit_few_shot *t, const vit_image *const *ready, size_t count,
                              size_t first, size_t views, float *out, vit_error *error);

/* *out = by what copies of a prepared picture are found, freed by vit_free; digest 0: that of its
 * pixels. NULL: no memory, and the picture has no copies. */
vit_likeness *vit_few_shot_likeness(const vit_image *ready, uint64_t digest);

/* Makes room for `count` more pictures. */
vit_status vit_few_shot_reserve(vit_few_shot *t, size_t count, vit_error *error);

/* *label = the number of the class of this name, which is added if it is new. */
vit_status vit_few_shot_label(vit_few_shot *t, size_t *label, const char *name, vit_error *error);

/* To be called when pictures or labels have changed. */
void vit_few_shot_changed(vit_few_shot *t);

/* For keep_lessons: puts classes and pictures into an order that depends on nothing but them, drops
 * classes without pictures, and sets t->checksum. Errors: MEMORY; ARGUMENT for a class of which
 * there are test pictures alone. */
vit_status vit_few_shot_sort(vit_few_shot *t, vit_error *error);

/* ARGUMENT for a head that there is not. */
vit_status vit_few_shot_choose_head(vit_few_shot *t, const char *name, vit_error *error);

/* Drops all pictures and classes. */
void vit_few_shot_clear(vit_few_shot *t);

/* hex = the SHA-256 of the backbone: its config, preprocessing and weights, without its head. */
vit_status vit_few_shot_hash_backbone(char hex[65], const vit_few_shot *t, vit_error *error);

/* Makes t->units, unless they are there. Errors: MEMORY. */
vit_status vit_few_shot_units(vit_few_shot *t, vit_error *error);

/* ARGUMENT unless something was learnt. */
vit_status vit_few_shot_needs_head(const vit_few_shot *t, vit_error *error);

/* Keeps what is known of t->solution, which is of all classes that there are now. Errors: MEMORY.
 */
vit_status vit_few_shot_know(vit_few_shot *t, const vit_few_shot_result *learnt, vit_error *error);

/* logits: [learnt_classes] of features: [width]. */
void vit_few_shot_logits(const vit_few_shot *t, const float *features, float *logits);

#endif
