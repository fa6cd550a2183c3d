#include "vit/cli/serve/work/teachings.h"

#include <stdio.h>
#include <string.h>

#include "vit/base/sys.h"

struct serve_teachings {
    serve_teachings_options options;
    pthread_mutex_t lock;  /* of the list */
    serve_teaching **list; /* [options.most] */
    size_t count;
};

vit_status serve_teachings_new(serve_teachings **out, const serve_teachings_options *options,
                               vit_error *error) {
    serve_teachings *t = *out = vit_alloc(1, sizeof *t);
    if (!t) return vit_fail_memory(error, "teachings", sizeof *t);
    t->options = *options;
    pthread_mutex_init(&t->lock, NULL);
    t->list = vit_alloc(options->most, sizeof(serve_teaching *));
    return t->list ? VIT_OK : vit_fail_memory(error, "teachings", options->most * sizeof(void *));
}

const serve_teachings_options *serve_teachings_limits(const serve_teachings *t) {
    return &t->options;
}

static void destroy(serve_teaching *one, serve_models *models) {
    vit_few_shot_free(one->teaching);
    serve_model_release(models, one->model);
    pthread_mutex_destroy(&one->lock);
    vit_free(one);
}

/* Gives back a reference; the list's lock is held. */
static void drop(serve_teaching *one, serve_models *models) {
    if (--one->users == 0) destroy(one, models);
}

static void take_out(serve_teachings *t, serve_models *models, size_t place) {
    serve_teaching *one = t->list[place];
    t->list[place] = t->list[--t->count];
    drop(one, models);
}

void serve_teachings_free(serve_teachings *t, serve_models *models) {
    if (!t) return;
    while (t->list && t->count > 0) take_out(t, models, 0);
    pthread_mutex_destroy(&t->lock);
    vit_free((void *)t->list);
    vit_free(t);
}

/* id: 128 bits that nobody can guess. */
static vit_status draw_id(char id[SERVE_TEACHING_ID + 1], vit_error *error) {
    uint8_t bits[SERVE_TEACHING_ID / 2];
    const vit_status status = vit_secret(bits, sizeof bits, error);
    for (size_t i = 0; status == VIT_OK && i < sizeof bits; i++)
        snprintf(id + 2 * i, 3, "%02x", bits[i]);
    return status;
}

/* Makes room for one more; the list's lock is held. */
static bool make_room(serve_teachings *t, serve_models *models) {
    size_t oldest = 0;
    if (t->count < t->options.most) return true;
    for (size_t i = 1; i < t->count; i++)
        if (t->list[i]->used < t->list[oldest]->used) oldest = i;
    if (vit_clock() - t->list[oldest]->used < t->options.idle) return false;
    take_out(t, models, oldest);
    return true;
}

vit_status serve_teaching_begin(serve_teaching **out, serve_teachings *t, serve_models *models,
                                serve_model *model, const char *head, size_t views,
                                vit_error *error) {
    const vit_few_shot_options options = {.head = head,
                                          .views = views,
                                          .threads = t->options.threads,
                                          .cpu = t->options.cpu,
                                          .precision = t->options.precision,
                                          .bf16 = t->options.bf16,
                                          .most_pixels = t->options.most_pixels,
                                          .goes_on = t->options.goes_on,
                                          .user = t->options.user};
    serve_teaching *one = *out = vit_alloc(1, sizeof *one);
    vit_status status = one ? vit_few_shot_new(&one->teaching, model->model, &options, error)
                            : vit_fail_memory(error, "a teaching", sizeof *one);
    if (status == VIT_OK) status = draw_id(one->id, error);
    if (status != VIT_OK) {
        if (one) vit_few_shot_free(one->teaching);
        vit_free(one);
        serve_model_release(models, model);
        *out = NULL;
        return status;
    }
    one->model = model;
    one->users = 2;
    pthread_mutex_init(&one->lock, NULL);
    pthread_mutex_lock(&one->lock);
    pthread_mutex_lock(&t->lock);
    one->used = vit_clock();
    if (make_room(t, models))
        t->list[t->count++] = one;
    else
        status =
            vit_fail(error, VIT_ERROR_UNSUPPORTED,
                     "%zu teachings are kept already: delete one, or come again later", t->count);
    pthread_mutex_unlock(&t->lock);
    if (status == VIT_OK) return VIT_OK;
    pthread_mutex_unlock(&one->lock);
    destroy(one, models);
    *out = NULL;
    return status;
}

static size_t find(const serve_teachings *t, const char *id) {
    size_t i = 0;
    while (i < t->count && strcmp(t->list[i]->id, id) != 0) i++;
    return i;
}

serve_teaching *serve_teaching_take(serve_teachings *t, const char *id) {
    pthread_mutex_lock(&t->lock);
    const size_t place = find(t, id);
    serve_teaching *one = place < t->count ? t->list[place] : NULL;
    if (one) {
        one->users++;
        one->used = vit_clock();
    }
    pthread_mutex_unlock(&t->lock);
    if (one) pthread_mutex_lock(&one->lock);
    return one;
}

void serve_teaching_release(serve_teachings *t, serve_models *models, serve_teaching *one) {
    if (!one) return;
    const size_t pictures = vit_few_shot_count(one->teaching);
    const size_t classes = vit_few_shot_classes(one->teaching);
    pthread_mutex_unlock(&one->lock);
    pthread_mutex_lock(&t->lock);
    one->used = vit_clock();
    one->pictures = pictures;
    one->classes = classes;
    drop(one, models);
    pthread_mutex_unlock(&t->lock);
}

bool serve_teaching_delete(serve_teachings *t, serve_models *models, const char *id) {
    pthread_mutex_lock(&t->lock);
    const size_t place = find(t, id);
    const bool found = place < t->count;
    if (found) take_out(t, models, place);
    pthread_mutex_unlock(&t->lock);
    return found;
}

void serve_teachings_list(serve_teachings *t, serve_show_teaching *show, void *context) {
    pthread_mutex_lock(&t->lock);
    for (size_t i = 0; i < t->count; i++) {
        char beginning[7];
        const serve_teaching *one = t->list[i];
        snprintf(beginning, sizeof beginning, "%.6s", one->id);
        show(beginning, one->pictures, one->classes, vit_clock() - one->used, context);
    }
    pthread_mutex_unlock(&t->lock);
}
