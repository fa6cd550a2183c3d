/* vit_embed_data: logits and features of the pictures of data, whatever their classes. */
#include "vit/api/evaluate.h"
#include "vit/base/fpmode.h"
#include "vit/base/size.h"
#include "vit/base/sys.h"
#include "vit/few_shot.h"
#include "vit/weights/file/labels.h"
#include <stdio.h>

enum { TOGETHER = 512 };

typedef struct embedding {
    const vit_model *model;
    const vit_dataset *data;
    const vit_chosen *chosen;
    const vit_kernels *kernels;
    size_t first; /* of the pictures that are computed */
    bool fits;    /* records have the size of the network's input */
    float table[3][256];
} embedding;

static size_t number_of(const vit_chosen *c, size_t i) {
    return c->numbers ? c->numbers[i] : i;
}

/* A record of another size, through the model's preprocessing. */
static vit_status prepare_record(float *image, const embedding *e, size_t number,
                                 vit_error *error) {
    const vit_model_file *f = &e->model->file;
    const vit_config *c = &f->config;
    vit_image record, ready;
    vit_status status = vit_record_prepare(&record, e->data, e->chosen->records, number, error);
    if (status != VIT_OK) return status;
    status = vit_preprocess(&ready, &record, &f->preprocessing, c->height, c->width, c->channels,
                            e->kernels, error);
    vit_image_free(&record);
    if (status != VIT_OK) return vit_fail_prefix(error, status, e->data->name);
    vit_normalize_prepared(image, &ready, &f->preprocessing, e->table[0]);
    vit_image_free(&ready);
    return VIT_OK;
}

static vit_status read_records(float *images, size_t first, size_t count, void *context,
                               vit_error *error) {
    const embedding *e = context;
    const vit_config *c = &e->model->file.config;
    uint8_t *scratch = NULL;
    vit_status status = VIT_OK;
    for (size_t i = 0; i < count && status == VIT_OK; i++) {
        const size_t number = number_of(e->chosen, e->first + first + i);
        status = e->fits ? vit_record_normalize(images, &scratch, e->data, e->chosen->records,
                                                number, e->table[0], error)
                         : prepare_record(images, e, number, error);
        images += c->height * c->width * c->channels;
    }
    vit_free(scratch);
    return status;
}

/* *match: from the data's classes to the model's; match->to NULL: no class is known. */
static vit_status match_classes(vit_match *match, const vit_dataset *d, const vit_model *m,
                                vit_error *error) {
    const vit_classes data = {d->labels, d->classes};
    *match = (vit_match){0};
    return vit_config_has_head(&m->file.config) ? vit_labels_match(match, &data, &m->file, error)
                                                : VIT_OK;
}

typedef struct called {
    vit_embedded_callback *callback;
    void *user;
    const vit_match *match;
} called;

static void call_back(const called *to, const embedding *e, size_t i, const float *logits,
                      const float *features) {
    const size_t number = number_of(e->chosen, i);
    const size_t class_number = e->chosen->records->labels[number];
    const size_t label = to->match->to ? to->match->to[class_number] : SIZE_MAX;
    const vit_embedded_picture picture = {vit_record_file(e->chosen->records, number),
                                          number,
                                          label < e->model->file.config.classes ? label : SIZE_MAX,
                                          class_number,
                                          logits,
                                          features};
    to->callback(&picture, to->user);
}

static vit_status embed_all(embedding *e, vit_inference *inference, const called *to,
                            vit_error *error) {
    const vit_config *c = &e->model->file.config;
    const size_t width = vit_config_embedding(c);
    const size_t count = e->chosen->count, together = vit_min(count, TOGETHER);
    float *logits = vit_alloc(together, c->classes * sizeof *logits);
    float *features = vit_alloc(together, width * sizeof *features);
    vit_status status = logits && features
                            ? VIT_OK
                            : vit_fail_memory(error, "features", together * width * sizeof(float));
    for (e->first = 0; e->first < count && status == VIT_OK; e->first += together) {
        const size_t n = vit_min(together, count - e->first);
        status = vit_inference_run(inference, logits, features, read_records, e, n, error);
        for (size_t i = 0; i < n && status == VIT_OK; i++) {
            const float *own = logits + i * c->classes, *feature = features + i * width;
            status = vit_check_answer(own, c->classes, feature, width, error);
            if (status == VIT_OK) call_back(to, e, e->first + i, own, feature);
        }
    }
    vit_free(logits);
    vit_free(features);
    return status;
}

/* Of data that are open. */
static vit_status embed(const vit_model *m, const vit_dataset *d, const vit_chosen *chosen,
                        const vit_evaluate_options *o, called *to, vit_error *error) {
    const vit_config *c = &m->file.config;
    embedding e = {.model = m, .data = d, .chosen = chosen};
    const vit_network *network;
    vit_inference *inference = NULL;
    vit_match match = {0};
    vit_exec exec;
    vit_status status =
        vit_model_exec(&exec, &network, m, o->cpu, o->threads, o->precision, o->bf16, error);
    if (status == VIT_OK)
        status = vit_inference_new(&inference, network, exec.kernels, exec.threads, error);
    if (status == VIT_OK) status = match_classes(&match, d, m, error);
    e.kernels = status == VIT_OK ? exec.kernels : NULL;
    e.fits = d->height == c->height && d->width == c->width && d->channels == c->channels;
    to->match = &match;
    vit_normalize_table(e.table, &m->file.preprocessing, c->channels);
    if (status == VIT_OK) status = embed_all(&e, inference, to, error);
    to->match = NULL;
    vit_match_free(&match);
    vit_inference_free(inference);
    return status;
}

vit_status vit_embed_data(const vit_model *m, const vit_evaluate_options *options,
                          vit_embedded_callback *callback, void *user, vit_embedded_data *out,
                          vit_error *error) {
    VIT_ENTRY;
    static const vit_evaluate_options none;
    const vit_evaluate_options *o = options ? options : &none;
    called to = {callback, user, NULL};
    vit_training training;
    vit_dataset data;
    vit_chosen chosen = {0};
    vit_loader loader = {0};
    if (m->file.config.channels == 0 || vit_config_has_decoder(&m->file.config))
        return vit_fail(error, VIT_ERROR_UNSUPPORTED,
                        "features of data are those of a model of pictures, this one is of texts");
    vit_status status = vit_model_training(&training, m, error);
    if (status != VIT_OK) return status;
    status = vit_evaluate_open(&data, m, o, training.checksums, error);
    if (status == VIT_OK) {
        status = vit_choose_records(&chosen, &loader, &training, &data, o->split, error);
        if (status == VIT_OK && chosen.count == 0)
            status = vit_fail(error, VIT_ERROR_ARGUMENT, "%s has no such pictures", data.name);
        if (status == VIT_OK) status = embed(m, &data, &chosen, o, &to, error);
        if (status == VIT_OK && out) {
            *out = (vit_embedded_data){.which = chosen.which,
                                       .images = chosen.count,
                                       .classes = data.classes,
                                       .seen = chosen.seen};
            snprintf(out->data, sizeof out->data, "%s", data.name);
        }
        vit_loader_free(&loader);
        vit_dataset_close(&data);
    }
    vit_free(training.checksums);
    return status;
}
