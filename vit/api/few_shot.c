/* vit_few_shot: pictures of classes, and their features. */
#include "vit/api/few_shot.h"
#include "vit/base/fpmode.h"
#include "vit/base/parallel.h"
#include "vit/base/size.h"
#include "vit/base/sys.h"
#include "vit/train/augment/augment.h"
#include <string.h>

static const vit_few_shot_solver solvers[] = {
    {"ridge", vit_solve_ridge, "each picture by itself"},
    {"logistic", vit_solve_logistic, "a tenth at a time"},
    {NULL, NULL, NULL},
};

#define MOST_VIEWS 64
#define MOST_BYTES ((size_t)256 << 20) /* of a picture's file: the library's limit */

vit_status vit_few_shot_choose_head(vit_few_shot *t, const char *name, vit_error *error) {
    for (t->solver = solvers; t->solver->name; t->solver++)
        if (strcmp(t->solver->name, name) == 0) break;
    if (t->solver->name) return VIT_OK;
    return vit_fail(error, VIT_ERROR_ARGUMENT, "the head \"%s\", expected ridge or logistic", name);
}

static vit_status choose(vit_few_shot *t, const vit_few_shot_options *o, vit_error *error) {
    const vit_status status =
        vit_few_shot_choose_head(t, o->head ? o->head : solvers[0].name, error);
    if (status != VIT_OK) return status;
    if (o->keep_lessons && o->views > 1)
        return vit_fail(error, VIT_ERROR_ARGUMENT,
                        "lessons are kept of pictures without views: views are drawn by a "
                        "picture's place, which changes when another one is forgotten");
    if (o->keep_lessons && o->empty_classes)
        return vit_fail(error, VIT_ERROR_ARGUMENT,
                        "lessons are kept of classes with pictures: empty_classes has no effect");
    if (o->views > MOST_VIEWS)
        return vit_fail(error, VIT_ERROR_ARGUMENT, "%zu views, expected 1 to %d", o->views,
                        MOST_VIEWS);
    if (o->folds == 1 || o->folds > VIT_MOST_FOLDS)
        return vit_fail(error, VIT_ERROR_ARGUMENT, "%zu folds, expected 2 to %d", o->folds,
                        VIT_MOST_FOLDS);
    t->views = vit_max(1, o->views);
    t->balance = o->balance;
    t->keep_direction = o->keep_direction;
    t->hold_out = o->hold_out;
    t->empty_classes = o->empty_classes;
    t->splits_are_classes = o->splits_are_classes;
    t->no_curve = o->no_curve;
    t->folds = o->folds;
    t->keep_lessons = o->keep_lessons;
    t->precision = o->precision;
    t->most_pixels = o->most_pixels;
    t->goes_on = o->goes_on;
    t->user = o->user;
    return VIT_OK;
}

static vit_status copy_name(char **out, const char *name, vit_error *error) {
    *out = name ? vit_strdup(name) : NULL;
    return *out || !name ? VIT_OK : vit_fail_memory(error, "a name", strlen(name));
}

vit_status vit_few_shot_new(vit_few_shot **out, const vit_model *backbone,
                            const vit_few_shot_options *options, vit_error *error) {
    VIT_ENTRY;
    const vit_few_shot_options defaults = {0}, *o = options ? options : &defaults;
    const vit_session_options running = {o->threads, o->cpu, o->precision, o->bf16};
    *out = NULL;
    vit_status status = vit_model_needs(backbone, false, error);
    if (status != VIT_OK) return status;
    vit_few_shot *t = vit_alloc(1, sizeof *t);
    if (!t) return vit_fail_memory(error, "a teaching", sizeof *t);
    t->backbone = backbone;
    t->width = vit_config_features(&backbone->file.config);
    status = choose(t, o, error);
    if (status == VIT_OK) status = copy_name(&t->class_column, o->class_column, error);
    if (status == VIT_OK) status = copy_name(&t->exclude, o->exclude, error);
    if (status == VIT_OK) status = copy_name(&t->relabel, o->relabel, error);
    if (status == VIT_OK) status = copy_name(&t->tag_branch, o->tag_branch, error);
    if (status == VIT_OK) status = vit_session_new(&t->session, backbone, &running, error);
    if (status == VIT_OK) {
        t->network = *t->session->network;
        t->network.config.head = VIT_HEAD_NONE;
        t->network.config.classes = t->width;
        status = vit_inference_new(&t->inference, &t->network, t->session->kernels,
                                   t->session->threads, error);
    }
    if (status == VIT_OK)
        *out = t;
    else
        vit_few_shot_free(t);
    return status;
}

static void clear_picture(vit_taught_picture *p) {
    vit_free(p->name);
    vit_free(p->thumb);
    vit_free(p->likeness);
    *p = (vit_taught_picture){0};
}

void vit_few_shot_free(vit_few_shot *t) {
    if (!t) return;
    for (size_t i = 0; i < t->count; i++) clear_picture(&t->pictures[i]);
    for (size_t i = 0; i < t->class_count; i++) vit_free(t->classes[i]);
    void *const memory[] = {t->classes,      t->pictures, t->labels,  t->features,
                            t->units,        t->test,     t->json,    t->test_labels,
                            t->class_column, t->exclude,  t->relabel, t->tag_branch};
    for (size_t i = 0; i < VIT_COUNT(memory); i++) vit_free(memory[i]);
    vit_solution_free(&t->solution);
    vit_copies_free(&t->copies);
    vit_inference_free(t->inference);
    vit_session_free(t->session);
    vit_free(t);
}

/* ---- features ---- */

typedef struct views {
    const vit_few_shot *t;
    const vit_image *const *ready;
    size_t first, views;
} views;

/* View 0 is the picture; the others are crops of 0.5 to all of its area, half of them mirrored. */
static vit_status view_source(float *images, size_t first, size_t count, void *context,
                              vit_error *error) {
    (void)error;
    const views *v = context;
    const vit_session *s = v->t->session;
    const vit_config *c = &s->model->file.config;
    const vit_picture_shape shape = {c->height, c->width, c->channels};
    const vit_augmentation crops = {.crop = .5, .flip = !v->t->keep_direction};
    const size_t pixels = c->height * c->width;
    float table[3][256];
    memcpy(table, s->table, sizeof table);
    for (size_t i = first; i < first + count; i++, images += pixels * c->channels) {
        const vit_image *picture = v->ready[i / v->views];
        const size_t view = i % v->views;
        if (view == 0) {
            vit_normalize_prepared(images, picture, &s->model->file.preprocessing, s->table[0]);
            continue;
        }
        vit_random r = vit_random_start(0, VIT_RANDOM_AUGMENT, (uint32_t)view,
                                        (uint32_t)(v->first + i / v->views));
        const vit_box box = vit_crop_draw(&shape, &crops, &r);
        const bool mirrored = crops.flip && vit_random_below(&r, 2) == 1;
        vit_crop_apply(images, picture->pixels, table, &shape, &crops, &box, mirrored);
    }
    return VIT_OK;
}

vit_status vit_few_shot_embed(vit_few_shot *t, const vit_image *const *ready, size_t count,
                              size_t first, size_t each, float *out, vit_error *error) {
    views v = {t, ready, first, each};
    const size_t rows = count * each;
    float *logits = vit_alloc_unset(rows, t->width * sizeof *logits); /* the features again */
    if (!logits) return vit_fail_memory(error, "features", rows * t->width * sizeof *logits);
    vit_status status = vit_inference_run(t->inference, logits, out, view_source, &v, rows, error);
    for (size_t i = 0; i < rows && status == VIT_OK; i++)
        status = vit_check_answer(NULL, 0, out + i * t->width, t->width, error);
    vit_free(logits);
    return status;
}

vit_likeness *vit_few_shot_likeness(const vit_image *ready, uint64_t digest) {
    vit_likeness *l = vit_alloc(1, sizeof *l);
    if (!l || !ready->pixels || (ready->channels != 1 && ready->channels != 3)) {
        vit_free(l);
        return NULL;
    }
    vit_likeness_of(l, ready->pixels, ready->height, ready->width, ready->channels);
    l->digest = digest != 0 ? digest
                            : vit_likeness_digest(ready->pixels,
                                                  ready->height * ready->width * ready->channels);
    return l;
}

/* ---- the list of pictures ---- */

vit_status vit_few_shot_reserve(vit_few_shot *t, size_t count, vit_error *error) {
    const size_t wanted = t->count + count, picture = t->views * t->width;
    if (wanted <= t->room) return VIT_OK;
    const size_t room = vit_max(wanted, 2 * t->room);
    vit_taught_picture *pictures = vit_realloc(t->pictures, t->room, room, sizeof *pictures);
    if (pictures) t->pictures = pictures;
    size_t *labels = vit_realloc(t->labels, t->room, room, sizeof *labels);
    if (labels) t->labels = labels;
    float *features = vit_realloc(t->features, t->room * picture, room * picture, sizeof *features);
    if (features) t->features = features;
    if (!pictures || !labels || !features)
        return vit_fail_memory(error, "features", room * picture * sizeof *features);
    t->room = room;
    return VIT_OK;
}

vit_status vit_few_shot_label(vit_few_shot *t, size_t *label, const char *name, vit_error *error) {
    for (*label = 0; *label < t->class_count; ++*label)
        if (strcmp(t->classes[*label], name) == 0) return VIT_OK;
    if (!*name) return vit_fail(error, VIT_ERROR_ARGUMENT, "a class without a name");
    if (t->class_count >= UINT16_MAX)
        return vit_fail(error, VIT_ERROR_UNSUPPORTED, "more than %d classes", UINT16_MAX);
    if (!VIT_MAKE_ROOM(t->classes, t->class_count, t->class_room, "classes", error))
        return VIT_ERROR_MEMORY;
    t->classes[t->class_count] = vit_strdup(name);
    if (!t->classes[t->class_count]) return vit_fail_memory(error, "a class", strlen(name));
    t->class_count++;
    return VIT_OK;
}

void vit_few_shot_changed(vit_few_shot *t) {
    vit_free(t->units);
    t->units = NULL;
}

size_t vit_few_shot_count(const vit_few_shot *t) {
    return t->count;
}

vit_few_shot_picture vit_few_shot_at(const vit_few_shot *t, size_t index) {
    if (index >= t->count) return (vit_few_shot_picture){0};
    vit_few_shot_picture p = {.name = t->pictures[index].name, .label = t->labels[index]};
    if (t->pictures[index].has_digest) vit_sha256_digits(p.sha256, t->pictures[index].digest);
    return p;
}

size_t vit_few_shot_classes(const vit_few_shot *t) {
    return t->class_count;
}

const char *vit_few_shot_class(const vit_few_shot *t, size_t label) {
    return label < t->class_count ? t->classes[label] : NULL;
}

static vit_status check_index(const vit_few_shot *t, size_t index, vit_error *error) {
    if (index < t->count) return VIT_OK;
    return vit_fail(error, VIT_ERROR_ARGUMENT, "picture %zu, expected one of 0 to %zu", index,
                    t->count - 1);
}

vit_status vit_few_shot_correct(vit_few_shot *t, size_t index, const char *name, vit_error *error) {
    VIT_ENTRY;
    vit_status status = check_index(t, index, error);
    size_t label;
    if (status == VIT_OK) status = vit_few_shot_label(t, &label, name, error);
    if (status == VIT_OK) t->labels[index] = label;
    return status;
}

vit_status vit_few_shot_forget(vit_few_shot *t, size_t index, vit_error *error) {
    VIT_ENTRY;
    const vit_status status = check_index(t, index, error);
    const size_t picture = t->views * t->width;
    if (status != VIT_OK) return status;
    clear_picture(&t->pictures[index]);
    const size_t after = --t->count - index;
    memmove(t->pictures + index, t->pictures + index + 1, after * sizeof *t->pictures);
    memmove(t->labels + index, t->labels + index + 1, after * sizeof *t->labels);
    memmove(t->features + index * picture, t->features + (index + 1) * picture,
            after * picture * sizeof *t->features);
    t->pictures[t->count] = (vit_taught_picture){0};
    vit_few_shot_changed(t);
    return VIT_OK;
}

/* ---- adding ---- */

/* Pictures that are read, hashed and prepared on all threads. */
typedef struct window {
    vit_few_shot *t;
    const vit_picture *pictures;
    vit_image *ready;       /* [count]; pixels NULL: known already, or failed */
    uint8_t (*digests)[32]; /* [count] */
    size_t *known;          /* [count] the picture with the same bytes; SIZE_MAX: none */
    vit_answer *answers;    /* [count] */
} window;

/* The bytes of a file, or of pixels and their shape. */
static void hash_picture(uint8_t digest[32], const vit_picture *p, const vit_bytes *file) {
    vit_sha256 hash;
    vit_sha256_start(&hash);
    if (!p->pixels) vit_sha256_add(&hash, file->data, file->size);
    if (p->pixels) {
        const size_t shape[] = {p->width, p->height, p->channels};
        vit_sha256_add(&hash, shape, sizeof shape);
        for (size_t row = 0; row < p->height; row++)
            vit_sha256_add(&hash, p->pixels + row * p->stride, p->width * p->channels);
    }
    vit_sha256_end(&hash, digest);
}

/* The picture that was added before and has these bytes; SIZE_MAX: none. */
static size_t find_known(const vit_few_shot *t, const uint8_t digest[32]) {
    for (size_t k = 0; k < t->count; k++)
        if (t->pictures[k].has_digest && memcmp(t->pictures[k].digest, digest, 32) == 0) return k;
    return SIZE_MAX;
}

static void take_picture(size_t i, int thread, void *context) {
    (void)thread;
    const window *w = context;
    const vit_picture *p = &w->pictures[i];
    vit_error *error = &w->answers[i].error;
    vit_picture whole = *p;
    vit_bytes file = {(uint8_t *)p->bytes, p->size}, read = {0};
    w->answers[i] = (vit_answer){0};
    w->known[i] = SIZE_MAX;
    if (w->t->goes_on && !w->t->goes_on(w->t->user)) {
        error->status = vit_fail(error, VIT_ERROR_CANCELLED, "the teaching was cancelled");
        return;
    }
    if (!p->bytes && !p->pixels && p->name) {
        error->status = p->is_regular_file ? vit_read_regular(&read, p->name, MOST_BYTES, error)
                                           : vit_read_file(&read, p->name, MOST_BYTES, error);
        if (error->status != VIT_OK) return;
        file = read;
        whole.bytes = read.data;
        whole.size = read.size;
    }
    if (file.data || p->pixels) {
        hash_picture(w->digests[i], p, &file);
        w->known[i] = find_known(w->t, w->digests[i]);
    }
    if (w->known[i] == SIZE_MAX) {
        error->status = vit_model_prepare(&w->ready[i], w->t->backbone, w->t->session->kernels,
                                          &whole, w->t->most_pixels, error);
        if (error->status == VIT_OK) w->answers[i].warning = w->ready[i].warning;
    }
    vit_free(read.data);
}

const char *vit_taught_name(const vit_taught_picture *p) {
    return p->name ? vit_path_last(p->name) : "";
}

/* Whether a picture has this name, whatever the folder. */
static bool has_name(const vit_taught_picture *p, const char *name) {
    return strcmp(vit_taught_name(p), name ? vit_path_last(name) : "") == 0;
}

/* Appends picture i, which is known or whose features are given. */
static vit_status append(window *w, size_t i, size_t label, const float *features,
                         vit_error *error) {
    vit_few_shot *t = w->t;
    const size_t picture = t->views * t->width;
    const char *name = w->pictures[i].name;
    for (size_t k = 0; k < t->count; k++)
        if (t->labels[k] == label && t->pictures[k].has_digest &&
            memcmp(t->pictures[k].digest, w->digests[i], 32) == 0 &&
            (!t->keep_lessons || has_name(&t->pictures[k], name)))
            return VIT_OK; /* it is there already */
    vit_taught_picture added = {.name = name ? vit_strdup(name) : NULL, .has_digest = true};
    if (name && !added.name) return vit_fail_memory(error, "a name", strlen(name));
    memcpy(added.digest, w->digests[i], 32);
    if (w->ready[i].pixels) {
        const vit_config *c = &t->backbone->file.config;
        const size_t bytes = c->height * c->width * c->channels;
        added.thumb = vit_alloc_unset(1, bytes);
        if (added.thumb) memcpy(added.thumb, w->ready[i].pixels, bytes);
    }
    if (w->ready[i].pixels) {
        uint64_t digest = 0; /* lessons have that of the pixels, as pictures of folders */
        if (!t->keep_lessons) memcpy(&digest, added.digest, sizeof digest);
        added.likeness = vit_few_shot_likeness(&w->ready[i], digest);
    } else if (t->pictures[w->known[i]].likeness) {
        added.likeness = vit_alloc(1, sizeof *added.likeness);
        if (added.likeness) *added.likeness = *t->pictures[w->known[i]].likeness;
    }
    const float *from = features ? features : t->features + w->known[i] * picture;
    memmove(t->features + t->count * picture, from, picture * sizeof *from);
    t->pictures[t->count] = added;
    t->labels[t->count++] = label;
    return VIT_OK;
}

/* The features of the new pictures of the window: [their number][views][width]. */
static vit_status embed_window(float **out, window *w, size_t count, vit_error *error) {
    const vit_image **ready = vit_alloc(count, sizeof *ready);
    size_t found = 0;
    for (size_t i = 0; i < count && ready; i++)
        if (w->ready[i].pixels) ready[found++] = &w->ready[i];
    *out = vit_alloc_unset(found, w->t->views * w->t->width * sizeof **out);
    vit_status status = VIT_OK;
    if (!ready || !*out)
        status = vit_fail_memory(error, "features", found * w->t->width * sizeof **out);
    if (status == VIT_OK && found > 0)
        status = vit_few_shot_embed(w->t, ready, found, w->t->count, w->t->views, *out, error);
    vit_free(ready);
    return status;
}

static vit_status add_window(window *w, size_t count, size_t label, vit_error *error) {
    float *features = NULL;
    size_t at = 0;
    vit_status status = VIT_OK;
    vit_parallel(w->t->session->threads, count, take_picture, w);
    for (size_t i = 0; i < count && status == VIT_OK; i++)
        if (w->answers[i].error.status == VIT_ERROR_CANCELLED)
            status = vit_fail(error, VIT_ERROR_CANCELLED, "%s", w->answers[i].error.message);
    if (status == VIT_OK) status = embed_window(&features, w, count, error);
    if (status == VIT_OK) status = vit_few_shot_reserve(w->t, count, error);
    for (size_t i = 0; i < count && status == VIT_OK; i++) {
        const bool is_new = w->ready[i].pixels;
        if (w->answers[i].error.status == VIT_OK)
            status = append(w, i, label, is_new ? features + at * w->t->views * w->t->width : NULL,
                            error);
        at += is_new;
    }
    vit_free(features);
    return status;
}

/* Takes back what was added since there were `count` pictures. */
static void take_back(vit_few_shot *t, size_t count) {
    while (t->count > count) clear_picture(&t->pictures[--t->count]);
}

void vit_few_shot_clear(vit_few_shot *t) {
    take_back(t, 0);
    while (t->class_count > 0) vit_free(t->classes[--t->class_count]);
    vit_few_shot_changed(t);
}

enum { WINDOW = 64 };

vit_status vit_few_shot_add(vit_few_shot *t, const char *name, const vit_picture *pictures,
                            size_t count, vit_answer *answers, vit_error *error) {
    VIT_ENTRY;
    const size_t before = t->count, classes = t->class_count;
    vit_answer *own = answers ? NULL : vit_alloc(count, sizeof *own), *all = own ? own : answers;
    window w = {.t = t, .ready = vit_alloc(WINDOW, sizeof *w.ready)};
    w.digests = vit_alloc(WINDOW, sizeof *w.digests);
    w.known = vit_alloc(WINDOW, sizeof *w.known);
    size_t label;
    vit_status status = VIT_OK;
    if (!all || !w.ready || !w.digests || !w.known)
        status = vit_fail_memory(error, "pictures", count * sizeof *own);
    if (status == VIT_OK) status = vit_few_shot_label(t, &label, name, error);
    for (size_t first = 0; first < count && status == VIT_OK; first += WINDOW) {
        const size_t some = vit_min(WINDOW, count - first);
        w.pictures = pictures + first;
        w.answers = all + first;
        status = add_window(&w, some, label, error);
        for (size_t i = 0; i < some; i++) {
            vit_image_free(&w.ready[i]);
            const vit_error *failed = &w.answers[i].error;
            if (own && status == VIT_OK && failed->status != VIT_OK)
                status = vit_fail(error, failed->status, "%s", failed->message);
        }
    }
    if (status != VIT_OK) take_back(t, before);
    if (status != VIT_OK)
        while (t->class_count > classes) vit_free(t->classes[--t->class_count]);
    vit_few_shot_changed(t);
    vit_free(own);
    vit_free(w.ready);
    vit_free(w.digests);
    vit_free(w.known);
    return status;
}
