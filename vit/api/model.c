/* Models, and what all of vit/api needs to work with one. */
#include "vit/api/internal.h"
#include "vit/api/prompts.h"
#include "vit/base/fpmode.h"
#include "vit/base/parallel.h"
#include "vit/base/sys.h"
#include "vit/image/codec/decode.h"
#include "vit/image/prepare/preprocess.h"
#include "vit/weights/file/open.h"
#include "vit/zero_shot.h"
#include <stdatomic.h>
#include <stdio.h>

/* ---- what options ask for ---- */

static vit_status choose_kernels(const vit_kernels **kernels, const char *cpu,
                                 vit_precision precision, vit_bf16 bf16, vit_error *error) {
    vit_cpu highest = VIT_CPU_AMX;
    if (cpu && !vit_cpu_parse(cpu, &highest))
        return vit_fail(error, VIT_ERROR_ARGUMENT,
                        "instruction set \"%s\", expected scalar, sse41, neon, simd128, avx2, "
                        "avx512, avx512bf16 or amx",
                        cpu);
    return vit_precision_choose(kernels, highest, precision, bf16, error);
}

vit_status vit_choose(const vit_kernels **kernels, int *count, const char *cpu, int threads,
                      vit_precision precision, vit_bf16 bf16, vit_error *error) {
    if (threads < 0 || threads > 1024)
        return vit_fail(error, VIT_ERROR_ARGUMENT, "%d threads, expected 0 (all) to 1024", threads);
    *count = threads == 0 ? vit_threads_default() : vit_threads_most();
    if (threads > 0 && threads < *count) *count = threads; /* more would wait for each other */
    return choose_kernels(kernels, cpu, precision, bf16, error);
}

bool vit_precision_available(vit_precision precision, const char *cpu) {
    const vit_kernels *kernels = NULL;
    vit_error error;
    return choose_kernels(&kernels, cpu, precision, VIT_BF16_ANY, &error) == VIT_OK;
}

bool vit_precision_is_slower(vit_precision precision, vit_bf16 bf16, const char *cpu) {
    VIT_ENTRY;
    const vit_kernels *kernels = NULL;
    vit_error error;
    return choose_kernels(&kernels, cpu, precision, bf16, &error) == VIT_OK &&
           vit_precision_slower(precision, kernels);
}

/* ---- making a model ---- */

#define NUMBER_SIZE 12 /* "4294967295" and the terminating zero */

/* The labels of a model without names: its classes' numbers. */
static vit_status number_labels(vit_model *m, vit_error *error) {
    const size_t n = m->file.config.classes, bytes = n * (sizeof(char *) + NUMBER_SIZE);
    if (m->file.labels) return VIT_OK;
    m->numbers = vit_alloc(1, bytes);
    if (!m->numbers) return vit_fail_memory(error, "labels", bytes);
    char *text = (char *)(m->numbers + n);
    for (size_t i = 0; i < n; i++, text += NUMBER_SIZE) {
        snprintf(text, NUMBER_SIZE, "%u", (unsigned)i);
        m->numbers[i] = text;
    }
    return VIT_OK;
}

static vit_status fill(vit_model *m, vit_error *error) {
    const vit_model_file *f = &m->file;
    m->network.config = f->config;
    m->config = vit_config_write(&f->config);
    m->preprocessing = vit_preprocessing_write(&f->preprocessing);
    if (!m->config || !m->preprocessing) return vit_fail_memory(error, "a description", 0);
    const vit_status status = number_labels(m, error);
    if (status != VIT_OK) return status;
    return vit_weights_view(&m->network.weights, &f->config, &f->table, f->values, &f->packed,
                            error);
}

static void free_rounded(vit_rounded *r) {
    if (!r) return;
    vit_weights_free(&r->network.weights);
    vit_free(r->packed);
    vit_free(r);
}

static vit_status make_rounded(vit_rounded **out, const vit_model *m, const vit_exec *exec,
                               vit_error *error) {
    const vit_model_file *f = &m->file;
    const size_t words = vit_table_words(&f->table, exec->precision);
    vit_rounded *r = *out = vit_alloc(1, sizeof *r);
    if (!r) return vit_fail_memory(error, "rounded weights", sizeof *r);
    r->network.config = f->config;
    r->packed = vit_alloc_unset(words, sizeof *r->packed);
    if (!r->packed) return vit_fail_memory(error, "rounded weights", words * sizeof *r->packed);
    const vit_packed_weights packed = {.transposed = r->packed, .precision = exec->precision};
    const vit_status status = vit_table_round(exec, &packed, &f->packed, &f->table, error);
    if (status != VIT_OK) return status;
    return vit_weights_view(&r->network.weights, &f->config, &f->table, f->values, &packed, error);
}

/* The precision of a session that asks for this one: F32 of a model in INT8 is INT8. */
static vit_precision precision_of(const vit_model *m, vit_precision asked) {
    const vit_precision opened = m->file.packed.precision;
    return vit_precisions[opened].scales && asked == VIT_PRECISION_F32 ? opened : asked;
}

vit_status vit_model_network(const vit_network **out, const vit_model *m, const vit_exec *exec,
                             vit_error *error) {
    const vit_precision opened = m->file.packed.precision;
    *out = &m->network;
    if (exec->precision == opened) return VIT_OK;
    if (vit_precisions[opened].converts ||
        (vit_precisions[opened].scales && exec->precision != VIT_PRECISION_F32))
        return vit_fail(error, VIT_ERROR_ARGUMENT,
                        "%s is asked of a model that was opened for %s, whose weights are "
                        "rounded: open it for f32, which serves both",
                        vit_precision_names[exec->precision], vit_precision_names[opened]);
    _Atomic(vit_rounded *) *shared = (_Atomic(vit_rounded *) *)&m->rounded[exec->precision];
    vit_rounded *found = atomic_load(shared), *made = NULL;
    const vit_status status = found ? VIT_OK : make_rounded(&made, m, exec, error);
    /* If another thread was faster, its network is taken and this one freed. */
    if (made && status == VIT_OK && atomic_compare_exchange_strong(shared, &found, made)) {
        found = made;
        made = NULL;
    }
    free_rounded(made);
    if (status == VIT_OK) *out = &found->network;
    return status;
}

vit_status vit_model_exec(vit_exec *exec, const vit_network **network, const vit_model *m,
                          const char *cpu, int threads, vit_precision asked, vit_bf16 bf16,
                          vit_error *error) {
    *exec = (vit_exec){.precision = precision_of(m, asked)};
    const vit_status status =
        vit_choose(&exec->kernels, &exec->threads, cpu, threads, exec->precision, bf16, error);
    return status == VIT_OK ? vit_model_network(network, m, exec, error) : status;
}

vit_status vit_model_from_file(vit_model **out, vit_model_file *file, vit_error *error) {
    vit_model *m = vit_alloc(1, sizeof *m);
    *out = NULL;
    if (!m) {
        vit_model_file_clear(file);
        return vit_fail_memory(error, "a model", sizeof *m);
    }
    m->file = *file;
    *file = (vit_model_file){0};
    const vit_status status = fill(m, error);
    if (status == VIT_OK)
        *out = m;
    else
        vit_model_free(m);
    return status;
}

static vit_status turn(vit_preprocessing *p, vit_orientation turn, vit_error *error) {
    switch (turn) {
    case VIT_ORIENTATION_EXIF:
        return vit_preprocessing_turn(p, true, error);
    case VIT_ORIENTATION_NEVER:
        return vit_preprocessing_turn(p, false, error);
    case VIT_ORIENTATION_MODEL:
    case VIT_ORIENTATION_COUNT:
        break;
    }
    return VIT_OK;
}

static vit_status load_opened(vit_model **out, vit_opened *opened, const vit_model_options *o,
                              vit_templates templates, vit_error *error) {
    vit_model_file file = {0};
    vit_prompt_head words = {0};
    const vit_kernels *kernels;
    int threads;
    bool in_words = false;
    vit_status status =
        vit_choose(&kernels, &threads, o->cpu, o->threads, o->precision, o->bf16, error);
    if (status == VIT_OK)
        status = vit_prompt_head_new(&words, &in_words, opened,
                                     &(vit_prompt_labels){.labels = o->labels,
                                                          .templates = templates.texts,
                                                          .template_count = templates.count,
                                                          .config = o->config,
                                                          .emulate = o->emulate,
                                                          .cpu = o->cpu},
                                     error);
    const vit_exec packs = {.kernels = kernels, .threads = threads, .precision = o->precision};
    const vit_wanted wanted = {.config = o->config,
                               .emulate = o->emulate,
                               .labels = in_words ? NULL : o->labels,
                               .words = in_words ? &words : NULL,
                               .height = o->height,
                               .width = o->width,
                               .packs = &packs,
                               .in_place = o->in_place && opened->path};
    if (status == VIT_OK) status = vit_model_file_read(&file, opened, &wanted, error);
    if (status == VIT_OK) status = turn(&file.preprocessing, o->exif_orientation, error);
    if (status == VIT_OK) status = vit_model_from_file(out, &file, error);
    vit_model_file_clear(&file);
    vit_prompt_head_clear(&words);
    return status;
}

/* bytes: of a file, which `path` names in messages; NULL: the file at `path` is read. */
static vit_status load(vit_model **out, const char *path, const vit_bytes *bytes,
                       const vit_model_options *options, vit_templates templates,
                       vit_error *error) {
    const vit_model_options defaults = {0};
    vit_opened opened = {0};
    *out = NULL;
    vit_status status = bytes
                            ? vit_tensors_parse(&opened.file, bytes->data, bytes->size, path, error)
                            : vit_opened_new(&opened, path, error);
    if (status == VIT_OK)
        status = load_opened(out, &opened, options ? options : &defaults, templates, error);
    vit_opened_close(&opened);
    return status;
}

vit_status vit_model_load(vit_model **out, const char *path, vit_error *error) {
    VIT_ENTRY;
    return load(out, path, NULL, NULL, (vit_templates){0}, error);
}

vit_status vit_model_load_with(vit_model **out, const char *path, const vit_model_options *options,
                               vit_error *error) {
    VIT_ENTRY;
    return load(out, path, NULL, options, (vit_templates){0}, error);
}

vit_status vit_model_load_zero_shot(vit_model **out, const char *path,
                                    const vit_model_options *options, const char *const *templates,
                                    size_t template_count, vit_error *error) {
    VIT_ENTRY;
    return load(out, path, NULL, options, (vit_templates){templates, template_count}, error);
}

vit_status vit_model_load_memory(vit_model **out, const void *bytes, size_t size, const char *name,
                                 const vit_model_options *options, vit_error *error) {
    VIT_ENTRY;
    const vit_bytes whole = {(uint8_t *)bytes, size};
    return load(out, name, &whole, options, (vit_templates){0}, error);
}

void vit_model_free(vit_model *m) {
    if (!m) return;
    vit_weights_free(&m->network.weights);
    vit_model_file_clear(&m->file);
    for (int i = 0; i < VIT_PRECISION_COUNT; i++) free_rounded(m->rounded[i]);
    vit_free(m->config);
    vit_free(m->preprocessing);
    vit_free(m->numbers);
    vit_free(m);
}

vit_model_info vit_model_describe(const vit_model *m) {
    VIT_ENTRY;
    const vit_config *c = &m->file.config;
    return (vit_model_info){.height = c->height,
                            .width = c->width,
                            .channels = c->channels,
                            .patch = c->patch,
                            .dim = c->dim,
                            .depth = c->depth,
                            .heads = c->heads,
                            .mlp = c->mlp,
                            .registers = c->registers,
                            .prefix = vit_config_prefix(c),
                            .tokens = vit_config_tokens(c),
                            .rows = c->patch > 0 ? c->height / c->patch : 0,
                            .columns = c->patch > 0 ? c->width / c->patch : 0,
                            .features = vit_config_embedding(c),
                            .classes = c->classes,
                            .has_head = vit_config_has_head(c),
                            .parameters = m->file.table.parameters,
                            .multiply_adds = vit_config_multiply_adds(c),
                            .config = m->config,
                            .preprocessing = m->preprocessing,
                            .recipe = m->file.recipe,
                            .temperature = vit_model_temperature(m),
                            .scoring = m->file.scoring,
                            .precision = precision_of(m, VIT_PRECISION_F32),
                            .threshold = m->file.threshold};
}

const char *vit_model_label(const vit_model *m, size_t index) {
    if (index >= m->file.config.classes) return NULL;
    return (m->file.labels ? m->file.labels : m->numbers)[index];
}

/* ---- using one ---- */

double vit_model_temperature(const vit_model *m) {
    return m->file.temperature > 0 ? m->file.temperature : 1;
}

vit_status vit_model_needs(const vit_model *m, bool writes, vit_error *error) {
    if (vit_config_has_decoder(&m->file.config) == writes) return VIT_OK;
    return vit_fail(error, VIT_ERROR_MISMATCH,
                    writes ? "the model names classes and writes no texts: it is one for "
                             "vit-classify"
                           : "the model writes texts and knows no classes: it is one for vit-read");
}

static vit_status prepare_pixels(vit_image *ready, const vit_model *m, const vit_kernels *kernels,
                                 const vit_picture *p, vit_error *error) {
    const vit_config *c = &m->file.config;
    vit_image image;
    vit_status status = vit_image_from_pixels(&image, p->pixels, p->width, p->height, p->channels,
                                              p->stride, error);
    if (status == VIT_OK)
        status = vit_preprocess(ready, &image, &m->file.preprocessing, c->height, c->width,
                                c->channels, kernels, error);
    vit_image_free(&image);
    if (status == VIT_OK) return VIT_OK;
    return vit_fail_prefix(error, status, p->name ? p->name : "the picture");
}

vit_status vit_model_prepare(vit_image *ready, const vit_model *m, const vit_kernels *kernels,
                             const vit_picture *p, size_t most_pixels, vit_error *error) {
    const vit_config *c = &m->file.config;
    vit_bytes read = {0};
    vit_image_file file = {.bytes = p->bytes, .size = p->size, .name = p->name};
    vit_status status = VIT_OK;
    *ready = (vit_image){0};
    if (p->pixels) return prepare_pixels(ready, m, kernels, p, error);
    if (!p->bytes && !p->name)
        return vit_fail(error, VIT_ERROR_ARGUMENT, "a picture has no path, no bytes and no pixels");
    if (!p->bytes) {
        status = p->is_regular_file ? vit_read_regular(&read, p->name, VIT_IMAGE_MAX_FILE, error)
                                    : vit_image_read_file(&read, &file.name, p->name, error);
        file.bytes = read.data;
        file.size = read.size;
    }
    if (status == VIT_OK) status = vit_image_open(&file, file.bytes, file.size, file.name, error);
    if (status == VIT_OK) {
        const size_t width = file.image.width, height = file.image.height;
        status = most_pixels > 0 && width > most_pixels / height
                     ? vit_fail(error, VIT_ERROR_UNSUPPORTED,
                                "%s: %zu x %zu pixels, expected at most %zu altogether", file.name,
                                width, height, most_pixels)
                     : vit_preprocess_opened(ready, &file, &m->file.preprocessing, c->height,
                                             c->width, c->channels, kernels, error);
        vit_image_close(&file);
    }
    vit_free(read.data);
    return status;
}
