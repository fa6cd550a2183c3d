/* The structure behind vit_teaching, and what its files share: teaching.c (pictures),
 * teaching_data.c (data sets, tests), teaching_learn.c (heads, figures, answers), teaching_model.c
 * (the model file), teaching_lessons.c (lessons that are kept) and teaching_page.c (the page). */
#ifndef VIT_API_TEACHING_H
#define VIT_API_TEACHING_H

#include "datasets/dataset.h"
#include "vit/api/internal.h"
#include "vit/formats/sha256.h"
#include "vit/image/likeness.h"
#include "vit/teach.h"
#include "vit/teach/solve.h"

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
typedef struct vit_teach_solver {
    const char *name;
    vit_solver_function *solve;
    const char *left_out;
} vit_teach_solver;

struct vit_teaching {
    const vit_model *backbone;
    vit_session *session;
    vit_network network; /* the backbone's without its head */
    vit_inference *inference;
    const vit_teach_solver *solver;
    bool balance, keep_direction, hold_out, no_curve, keep_lessons;
    vit_precision precision;
    bool empty_classes, parts_are_classes;
    char *class_column; /* or NULL */
    size_t most_pixels;
    vit_teach_callback *goes_on;
    void *user;
    size_t views, width; /* width: features of a view */
    char **classes;      /* [class_count], each owned */
    size_t class_count, class_room;
    vit_taught_picture *pictures; /* [count] */
    size_t *labels;               /* [count] */
    float *features;              /* [count][views][width] */
    size_t count, room;
    float *units; /* [count][width] of length 1, of the pictures themselves; NULL: not yet */
    char data[256], checksum[65]; /* of the data that were added; "": none */
    float *test; /* [test_count][width] features of the test pictures; NULL: none */
    size_t *test_labels, test_count;
    /* what was learnt last, of the classes then: */
    bool has_learnt;
    size_t learnt_classes;
    size_t taken; /* the first so many classes came with a head that was taken */
    vit_solution solution;
    vit_learnt learnt;
    vit_copies copies; /* among the pictures then */
    char *json;
};

/* Features of prepared pictures: ready: [count]; out: [count][views][width]. first: the number of
 * the first of them, which decides on its views. */
vit_status vit_teaching_embed(vit_teaching *t, const vit_image *const *ready, size_t count,
                              size_t first, size_t views, float *out, vit_error *error);

/* UNSUPPORTED if a picture whose bytes are given has more pixels than the options allow. */
vit_status vit_teaching_check(const vit_teaching *t, const vit_picture *picture, vit_error *error);

/* *out = by what copies of a prepared picture are found, freed by vit_free; digest 0: that of its
 * pixels. NULL: no memory, and the picture has no copies. */
vit_likeness *vit_teaching_likeness(const vit_image *ready, uint64_t digest);

/* Makes room for `count` more pictures. */
vit_status vit_teaching_reserve(vit_teaching *t, size_t count, vit_error *error);

/* *label = the number of the class of this name, which is added if it is new. */
vit_status vit_teaching_label(vit_teaching *t, size_t *label, const char *name, vit_error *error);

/* To be called when pictures or labels have changed. */
void vit_teaching_changed(vit_teaching *t);

/* For keep_lessons: puts classes and pictures into an order that depends on nothing but them, drops
 * classes without pictures, and sets t->checksum. Errors: MEMORY; ARGUMENT for a class of which
 * there are test pictures alone. */
vit_status vit_teaching_sort(vit_teaching *t, vit_error *error);

/* ARGUMENT for a head that there is not. */
vit_status vit_teaching_choose_head(vit_teaching *t, const char *name, vit_error *error);

/* Drops all pictures and classes. */
void vit_teaching_clear(vit_teaching *t);

/* hex = the SHA-256 of the backbone: its config, preprocessing and weights, without its head. */
vit_status vit_teaching_hash_backbone(char hex[65], const vit_teaching *t, vit_error *error);

/* Makes t->units, unless they are there. Errors: MEMORY. */
vit_status vit_teaching_units(vit_teaching *t, vit_error *error);

/* ARGUMENT unless something was learnt. */
vit_status vit_teaching_needs_head(const vit_teaching *t, vit_error *error);

/* Keeps what is known of t->solution, which is of all classes that there are now. Errors: MEMORY.
 */
vit_status vit_teaching_know(vit_teaching *t, const vit_learnt *learnt, vit_error *error);

/* logits: [learnt_classes] of features: [width]. */
void vit_teaching_logits(const vit_teaching *t, const float *features, float *logits);

#endif
