/* What vit/maps.h promises; vit_map_check's rules and the maps themselves are in vit/explain. */
#include "vit/api/internal.h"
#include "vit/api/maps.h"
#include "vit/base/fpmode.h"
#include "vit/base/size.h"
#include "vit/explain/draw.h"
#include "vit/explain/explain_page.h"
#include "vit/explain/maps.h"
#include "vit/explain/occlude.h"
#include "vit/maps.h"
#include <string.h>

vit_status vit_session_explainer(vit_explainer **out, vit_session *s, vit_error *error) {
    const vit_exec exec = {.kernels = s->kernels, .threads = s->threads};
    const vit_network *network;
    const vit_config *c = &s->model->file.config;
    *out = s->explainer;
    if (*out) return VIT_OK;
    if (vit_config_takes_texts(c) || vit_config_has_decoder(c))
        return vit_fail(error, VIT_ERROR_UNSUPPORTED,
                        "maps are of models that classify pictures, this one %s texts",
                        vit_config_has_decoder(c) ? "writes" : "reads");
    vit_status status = vit_model_network(&network, s->model, &exec, error);
    if (status == VIT_OK)
        status = vit_explainer_new(&s->explainer, network, s->kernels, s->threads, error);
    s->explainer_free = vit_explainer_free;
    if (status == VIT_OK) s->explainer->temperature = vit_model_temperature(s->model);
    if (status == VIT_OK) s->explainer->scoring = s->model->file.scoring;
    *out = s->explainer;
    return status;
}

vit_status vit_session_image(float **image, const vit_session *s, const uint8_t *pixels,
                             const float *values, vit_error *error) {
    const vit_config *c = &s->model->file.config;
    const size_t count = c->height * c->width;
    *image = vit_alloc(count, c->channels * sizeof **image);
    if (!*image) return vit_fail_memory(error, "a picture", count * c->channels * sizeof **image);
    if (values)
        memcpy(*image, values, count * c->channels * sizeof **image);
    else
        vit_normalize(*image, pixels, count, c->channels, s->table[0]);
    return VIT_OK;
}

vit_status vit_prepare_picture(vit_session *s, const vit_picture *picture, uint8_t *pixels,
                               vit_error *error) {
    VIT_ENTRY;
    const vit_config *c = &s->model->file.config;
    vit_image ready;
    const vit_status status = vit_model_prepare(&ready, s->model, s->kernels, picture, 0, error);
    if (status != VIT_OK) return status;
    memcpy(pixels, ready.pixels, c->height * c->width * c->channels);
    s->warning = ready.warning;
    vit_image_free(&ready);
    return VIT_OK;
}

vit_status vit_explain(vit_session *s, const uint8_t *pixels, const vit_map_options *options,
                       vit_map *map, vit_error *error) {
    VIT_ENTRY;
    const vit_map_options defaults = {0}, *o = options ? options : &defaults;
    vit_explainer *e;
    float *image = NULL;
    *map = (vit_map){0};
    vit_status status = vit_map_check(o, &s->model->file.config, error);
    if (status == VIT_OK) status = vit_session_explainer(&e, s, error);
    if (status == VIT_OK) status = vit_session_image(&image, s, pixels, o->values, error);
    if (status != VIT_OK) return status;
    status = vit_map_make(map, e, image, o, error);
    if (status == VIT_OK)
        vit_map_name(map, o, &s->model->file.config, vit_model_label(s->model, map->class_index));
    map->input = o->values;
    vit_free(image);
    return status;
}

/* ---- how faithful ---- */

enum { MOST_STEPS = 64 }; /* points of a curve, at most, but the first */

void vit_curves_clear(vit_curves *curves) {
    if (!curves) return;
    vit_free(curves->deletion);
    *curves = (vit_curves){0};
}

static vit_status fill_curves(vit_curves *c, const vit_explainer *e, const float *image,
                              const vit_map *map, vit_error *error) {
    const size_t patches = map->rows * map->columns;
    c->step = vit_ceil_div(patches, MOST_STEPS);
    c->points = vit_curve_points(patches, c->step);
    c->deletion = vit_alloc(2 * c->points, sizeof *c->deletion);
    if (!c->deletion) return vit_fail_memory(error, "curves", c->points);
    c->insertion = c->deletion + c->points;
    const vit_status status = vit_map_curve(c->deletion, &c->deletion_area, e, image, map->values,
                                            false, c->step, map->class_index, error);
    if (status != VIT_OK) return status;
    return vit_map_curve(c->insertion, &c->insertion_area, e, image, map->values, true, c->step,
                         map->class_index, error);
}

vit_status vit_map_curves(vit_session *s, const uint8_t *pixels, const vit_map *map,
                          vit_curves *curves, vit_error *error) {
    VIT_ENTRY;
    const vit_config *c = &s->model->file.config;
    vit_explainer *e;
    float *image = NULL;
    *curves = (vit_curves){0};
    if (map->dims != 2 || map->shape[0] != c->height / c->patch ||
        map->shape[1] != c->width / c->patch)
        return vit_fail(error, VIT_ERROR_ARGUMENT,
                        "curves need one map over %zu x %zu patches, this one has another shape",
                        c->height / c->patch, c->width / c->patch);
    if (map->class_index >= c->classes)
        return vit_fail(error, VIT_ERROR_ARGUMENT, "a map of class %zu, the model has %zu",
                        map->class_index, c->classes);
    vit_status status = vit_session_explainer(&e, s, error);
    if (status == VIT_OK) status = vit_session_image(&image, s, pixels, map->input, error);
    if (status != VIT_OK) return status;
    status = fill_curves(curves, e, image, map, error);
    vit_free(image);
    if (status != VIT_OK) vit_curves_clear(curves);
    return status;
}

/* ---- layer by layer ---- */

/* vit_explain_layers at work. */
typedef struct layers {
    vit_explainer *explainer;
    vit_layer layer;           /* what the callback is given */
    float *attention, *logits; /* its arrays */
    vit_layer_callback *callback;
    void *user;
    bool stopped; /* by the callback */
} layers;

static void call_layer(const vit_seen *seen, void *context) {
    layers *t = context;
    const size_t n = t->layer.tokens, rows = t->layer.heads * n, row = vit_padded(n);
    if (t->stopped) return;
    for (size_t i = 0; i < rows; i++)
        memcpy(t->attention + i * n, seen->p + i * row, n * sizeof *t->attention);
    vit_explainer_head(t->explainer, t->logits, seen->z);
    t->layer.layer = seen->layer;
    t->layer.states = seen->z;
    t->stopped = !t->callback(&t->layer, t->user);
}

static vit_status call_layers(layers *t, const float *image, float *logits, vit_error *error) {
    const vit_config *c = &t->explainer->network->config;
    const size_t n = vit_config_tokens(c);
    t->attention = vit_alloc(c->heads * n, n * sizeof *t->attention);
    t->logits = vit_alloc(c->classes, sizeof *t->logits);
    if (!t->attention || !t->logits)
        return vit_fail_memory(error, "attention", c->heads * n * n * sizeof *t->attention);
    t->layer =
        (vit_layer){.heads = c->heads, .tokens = n, .attention = t->attention, .logits = t->logits};
    const vit_status status =
        vit_explainer_forward(t->explainer, image, t->callback ? call_layer : NULL, t, error);
    if (status != VIT_OK) return status;
    if (logits) memcpy(logits, t->explainer->state.head.logits, c->classes * sizeof *logits);
    return t->stopped ? vit_fail(error, VIT_ERROR_CANCELLED, "stopped by the callback") : VIT_OK;
}

vit_status vit_explain_layers(vit_session *s, const uint8_t *pixels, const float *values,
                              float *logits, vit_layer_callback *callback, void *user,
                              vit_error *error) {
    VIT_ENTRY;
    layers t = {.callback = callback, .user = user};
    float *image = NULL;
    vit_status status = vit_session_explainer(&t.explainer, s, error);
    if (status == VIT_OK) status = vit_session_image(&image, s, pixels, values, error);
    if (status == VIT_OK) status = call_layers(&t, image, logits, error);
    vit_free(t.attention);
    vit_free(t.logits);
    vit_free(image);
    return status;
}

/* ---- maps to look at ---- */

void vit_buffer_clear(vit_buffer *buffer) {
    if (!buffer) return;
    vit_free(buffer->data);
    *buffer = (vit_buffer){0};
}

vit_status vit_map_png(const vit_session *s, const uint8_t *pixels, const vit_map *maps,
                       size_t count, vit_buffer *png, vit_error *error) {
    VIT_ENTRY;
    vit_bytes bytes = {0};
    const vit_status status =
        vit_draw_maps(&bytes, &s->model->file.config, pixels, maps, count, error);
    *png = status == VIT_OK ? (vit_buffer){bytes.data, bytes.size} : (vit_buffer){0};
    return status;
}

vit_status vit_explain_page(vit_session *s, const uint8_t *pixels, const vit_page_options *options,
                            vit_buffer *html, vit_error *error) {
    VIT_ENTRY;
    const vit_model_file *file = &s->model->file;
    const char *const *labels =
        (const char *const *)(file->labels ? file->labels : s->model->numbers);
    const vit_page_options defaults = {0};
    vit_page_call call = {
        .pixels = pixels, .labels = labels, .options = options ? options : &defaults};
    vit_bytes bytes = {0};
    float *image = NULL;
    *html = (vit_buffer){0};
    vit_status status = vit_session_explainer(&call.explainer, s, error);
    if (status == VIT_OK)
        status = vit_session_image(&image, s, pixels, call.options->values, error);
    if (status != VIT_OK) return status;
    call.image = image;
    status = vit_page_make(&bytes, &call, error);
    vit_free(image);
    *html = (vit_buffer){bytes.data, bytes.size};
    return status;
}
