/* From files of published weights to a model: the config files beside them, the layout of their
 * tensors, the network that both describe, its values, labels and preprocessing. */
#include "vit/weights/published.h"
#include "vit/base/size.h"
#include "vit/base/sys.h"
#include "vit/formats/json_out.h"
#include "vit/text/tokenizer/tokenizer.h"
#include "vit/weights/configs/their_config.h"
#include "vit/weights/file/labels.h"
#include "vit/weights/layout/decoder.h"
#include "vit/weights/layout/shapes.h"
#include "vit/weights/prompt_head.h"
#include <string.h>

#define LARGEST_CONFIG ((size_t)16 << 20) /* labels of 20,000 classes are about a megabyte */

static void configs_close(vit_configs *c) {
    vit_free(c->processor_path);
    vit_free(c->generation_path);
    json_decref(c->processor);
    json_decref(c->generation);
}

static vit_status read_json(json_t **object, const char *path, vit_error *error) {
    vit_bytes bytes;
    vit_status status = vit_read_file(&bytes, path, LARGEST_CONFIG, error);
    if (status != VIT_OK) return status;
    status = vit_json_parse(object, (const char *)bytes.data, bytes.size, path, error);
    vit_free(bytes.data);
    return status;
}

/* Reads the first of `names` that lies beside `path`; *found: its path, freed by vit_free; *object
 * stays as it is if there is none. */
static vit_status find_beside(json_t **object, char **found, const char *path,
                              const char *const *names, vit_error *error) {
    *found = NULL;
    for (size_t i = 0; names[i]; i++) {
        vit_free(*found);
        *found = vit_path_beside(path, names[i]);
        if (!*found) return vit_fail_memory(error, "a path", strlen(path));
        if (vit_path_look(*found) == VIT_PATH_FILE) return read_json(object, *found, error);
    }
    return VIT_OK;
}

vit_status vit_published_config(vit_opened *o, const char *config, vit_error *error) {
    static const char *const names[] = {"config.json", "open_clip_config.json", NULL};
    vit_status status = VIT_OK;
    if (o->asked) return VIT_OK;
    vit_free(o->config_path); /* of an attempt that failed */
    o->config_path = config ? vit_strdup(config) : NULL;
    if (config && !o->config_path)
        status = vit_fail_memory(error, "a path", strlen(config));
    else if (config)
        status = read_json(&o->config, config, error);
    else if (o->path)
        status = find_beside(&o->config, &o->config_path, o->path, names, error);
    o->asked = status == VIT_OK;
    return status;
}

/* Reads the config files. */
static vit_status configs_open(vit_configs *c, vit_opened *opened, const char *config,
                               vit_error *error) {
    static const char *const processors[] = {"preprocessor_config.json", "processor_config.json",
                                             NULL};
    static const char *const generations[] = {"generation_config.json", NULL};
    *c = (vit_configs){0};
    const char *weights = opened->path;
    vit_status status = vit_published_config(opened, config, error);
    c->object = opened->config;
    c->path = opened->config_path;
    if (status == VIT_OK && config)
        status = find_beside(&c->processor, &c->processor_path, config, processors, error);
    if (status == VIT_OK && !c->processor && weights) {
        vit_free(c->processor_path);
        status = find_beside(&c->processor, &c->processor_path, weights, processors, error);
    }
    json_t *inner = json_object_get(c->processor, "image_processor");
    if (json_is_object(inner)) { /* a processor of pictures and texts contains that of pictures */
        json_incref(inner);
        json_decref(c->processor);
        c->processor = inner;
    }
    if (status == VIT_OK && vit_is_encoder_decoder(c->object))
        status = find_beside(&c->generation, &c->generation_path, c->path, generations, error);
    return status;
}

/* ---- which library's config it is ---- */

/* Of a file without a config, which only some layouts can do without. */
static vit_status read_no_config(vit_their_config *d, const vit_binding *b, const char *as,
                                 vit_error *error) {
    if (!b->layout->usual)
        return vit_fail(error, VIT_ERROR_UNSUPPORTED,
                        "%s: tensors in the layout of %s do not say how many heads there are nor "
                        "how pictures are prepared: put a config.json beside the file, or name one "
                        "with --config (%s)",
                        vit_tensors_name(b->file), b->layout->name,
                        b->layout->hint ? b->layout->hint : "the library's own");
    d->name = vit_tensors_name(b->file);
    b->layout->usual(d);
    return vit_answer_as(d, "google", as, NULL, error);
}

/* A config is of the first kind whose key it has, with this value unless that is NULL. */
static const struct kind {
    const char *name, *emulate, *key, *value;
    vit_status (*read)(vit_their_config *d, json_t *object, vit_error *error);
} kinds[] = {
    /* read is NULL, since there is a second file: vit_read_hf_config */
    [VIT_CONFIG_HF] = {"Hugging Face", "hf", "model_type", NULL, NULL},
    [VIT_CONFIG_OPEN_CLIP] = {"OpenCLIP", "open_clip", "model_cfg", NULL,
                              vit_read_open_clip_config},
    [VIT_CONFIG_LUCIDRAINS] = {"vit-pytorch", "vit-pytorch", "architecture", "vit-pytorch",
                               vit_read_lucidrains_config},
    [VIT_CONFIG_TORCHVISION] = {"torchvision", "torchvision", "architecture", "torchvision",
                                vit_read_torchvision_config},
    [VIT_CONFIG_TIMM] = {"timm", "timm", "architecture", NULL, vit_read_timm_config},
};
VIT_CHECK_ROWS(kinds, VIT_CONFIG_COUNT);

static const struct kind *kind_of(const json_t *object) {
    if (vit_is_timm_wrapper(object)) return &kinds[VIT_CONFIG_TIMM];
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        const json_t *found = json_object_get(object, kinds[i].key);
        const char *text = json_string_value(found), *value = kinds[i].value;
        if (found && (!value || (text && strcmp(text, value) == 0))) return &kinds[i];
    }
    return NULL;
}

static vit_config_kind number_of(const json_t *object) {
    const struct kind *kind = kind_of(object);
    return kind ? (vit_config_kind)(kind - kinds) : VIT_CONFIG_COUNT;
}

static vit_status read_config(vit_their_config *d, const vit_binding *b, const vit_configs *c,
                              vit_error *error) {
    vit_their_config_init(d, c->path);
    if (!c->object) return read_no_config(d, b, c->wanted->emulate, error);
    const struct kind *kind = kind_of(c->object);
    if (!kind)
        return vit_fail(error, VIT_ERROR_UNSUPPORTED,
                        "%s is no config of timm, Hugging Face or OpenCLIP: add \"architecture\" "
                        "(\"vit-pytorch\", \"torchvision\" or timm's name)",
                        c->path);
    d->preprocessing = json_object_get(c->object, "preprocessing");
    const vit_status status =
        kind->read ? kind->read(d, c->object, error)
                   : vit_read_hf_config(d, c->object, c->processor, c->processor_path, error);
    if (status == VIT_OK && kind == &kinds[b->layout->config])
        return vit_answer_as(d, kind->emulate, c->wanted->emulate, c->object, error);
    if (status != VIT_OK) return status;
    return vit_fail(error, VIT_ERROR_MISMATCH,
                    "%s is a config for tensors in the layout of %s, those of %s are in that of %s",
                    c->path, kind->name, vit_tensors_name(b->file), b->layout->name);
}

/* ---- from there to a model ---- */

/* What a published model has as its recipe: {"layout": "timm", "architecture": ...}; NULL: no
 * memory. */
static char *origin(const vit_binding *b, const vit_configs *c, const char *as) {
    const json_t *list = json_object_get(c->object, "architectures");
    const json_t *name =
        list ? json_array_get(list, 0) : json_object_get(c->object, "architecture");
    vit_json_out json = {0};
    vit_json_open(&json, NULL, '{');
    vit_json_text(&json, "layout", b->layout->name);
    if (json_is_string(name)) vit_json_text(&json, "architecture", json_string_value(name));
    vit_json_text(&json, "as", as);
    if (*b->left_out) vit_json_text(&json, "left_out", b->left_out);
    if (c->wanted->words)
        vit_json_texts(&json, "templates", (const char *const *)c->wanted->words->templates,
                       c->wanted->words->template_count);
    vit_json_close(&json, '}');
    return vit_json_take(&json);
}

/* The labels of the config, or ImageNet's where the classes are known to be those. */
static vit_status take_labels(vit_model_file *m, vit_their_config *d, vit_error *error) {
    if (!d->labels && d->is_imagenet && m->config.classes == VIT_IMAGENET_CLASSES)
        return vit_labels_set_imagenet(m, error);
    if (!d->labels) return VIT_OK;
    if (d->label_count != m->config.classes)
        return vit_fail(error, VIT_ERROR_MISMATCH, "%s has %zu labels, tensor head has %zu classes",
                        d->name, d->label_count, m->config.classes);
    m->labels = d->labels;
    d->labels = NULL;
    return VIT_OK;
}

/* ---- words as classes ---- */

/* The network whose features were compared with texts gets these as the rows of its head. */
static vit_status add_words(vit_config *c, vit_binding *b, const vit_prompt_head *words,
                            const char *config, vit_error *error) {
    const bool projects = vit_heads[c->head].projects;
    if (vit_config_has_head(c) || c->classes != words->width)
        return vit_fail(error, VIT_ERROR_MISMATCH,
                        "%s: words cannot be its classes: by %s pictures have %zu %s, texts %zu "
                        "features",
                        vit_tensors_name(b->file), config, c->classes,
                        vit_config_has_head(c) ? "classes" : "features", words->width);
    c->head = VIT_HEAD_COSINE;
    c->projection = projects ? c->classes : 0;
    c->classes = words->count;
    c->head_bias = words->has_bias;
    vit_binding_take_words(b);
    return VIT_OK;
}

/* The rows of the head, and its bias, which is the same for all classes. */
static void load_words(const vit_store *store, const vit_prompt_head *words) {
    const vit_parameter *weight = vit_table_find(store->table, "head.weight");
    const vit_parameter *bias = vit_table_find(store->table, "head.bias");
    memcpy(vit_store_place(store, weight), words->rows, weight->count * sizeof *words->rows);
    vit_store_keep(store, weight);
    for (size_t i = 0; bias && i < bias->count; i++) vit_store_place(store, bias)[i] = words->bias;
}

static vit_status take_words(vit_model_file *m, const vit_prompt_head *words, vit_error *error) {
    m->scoring = words->scoring;
    return vit_labels_copy(&m->labels, (const char *const *)words->labels, words->count, error);
}

vit_status vit_published_values(vit_model_file *m, const vit_binding *b, size_t count,
                                const char *config, const vit_wanted *wanted, vit_error *error) {
    vit_store store = {0};
    vit_exec room;
    vit_status status = vit_table_new(&m->table, &m->config, error);
    if (status != VIT_OK) return vit_fail_prefix(error, status, config);
    for (size_t i = 0; i < count && status == VIT_OK; i++)
        status = vit_binding_check(&b[i], &m->table, config, error);
    if (status != VIT_OK) return status;
    for (size_t i = 0; wanted->packs && i < count; i++) vit_binding_stored(&b[i], &m->table);
    status = vit_store_open(&store, m, vit_packs_for(&room, wanted->packs, b[0].file),
                            wanted->spare, error);
    for (size_t i = 0; i < count && status == VIT_OK; i++)
        status = vit_binding_load(&store, &b[i], config, error);
    if (status == VIT_OK && wanted->words) load_words(&store, wanted->words);
    vit_store_close(&store);
    return status;
}

/* Makes the preprocessing. Where the config declares the size of prepared pictures, the network
 * gets that size, or the one that the caller wants; its positions are resampled. */
static vit_status follow_pictures(vit_model_file *m, const vit_their_config *d,
                                  const vit_configs *c, vit_error *error) {
    vit_config prepared = m->config;
    if (d->input_height == 0) return vit_prepare_list(&m->preprocessing, d, &m->config, error);
    prepared.height = d->input_height;
    prepared.width = d->input_width;
    const size_t height = c->wanted->height > 0 ? c->wanted->height : prepared.height;
    const size_t width = c->wanted->width > 0 ? c->wanted->width : prepared.width;
    vit_status status = vit_model_file_resize(m, height, width, error);
    if (status != VIT_OK && c->wanted->height == 0)
        return vit_fail_prefix(error, status, c->processor ? c->processor_path : d->name);
    if (status == VIT_OK) status = vit_prepare_list(&m->preprocessing, d, &prepared, error);
    if (status != VIT_OK || (height == prepared.height && width == prepared.width)) return status;
    return vit_preprocessing_at(&m->preprocessing, prepared.height, prepared.width, height, width,
                                error);
}

static vit_status build(vit_model_file *m, vit_binding *b, vit_their_config *d,
                        const vit_configs *c, vit_error *error) {
    vit_status status = vit_config_of_tensors(&m->config, b, d, error);
    if (status == VIT_OK && c->wanted->words)
        status = add_words(&m->config, b, c->wanted->words, d->name, error);
    if (status == VIT_OK) status = vit_published_values(m, b, 1, d->name, c->wanted, error);
    m->position_rule = d->position_rule != VIT_UNSPECIFIED
                           ? (vit_position_rule)d->position_rule
                           : b->layout->positions[c->object != NULL];
    m->recipe = origin(b, c, d->emulate);
    if (status == VIT_OK && !m->recipe) status = vit_fail_memory(error, "the recipe", 0);
    if (status == VIT_OK && d->input_height == 0 &&
        vit_prepares_to(d, c->wanted->height, c->wanted->width)) {
        d->input_height = c->wanted->height;
        d->input_width = c->wanted->width;
    }
    if (status == VIT_OK) status = follow_pictures(m, d, c, error);
    m->scoring = d->scoring;
    if (status == VIT_OK)
        status =
            c->wanted->words ? take_words(m, c->wanted->words, error) : take_labels(m, d, error);
    /* a softmax of one number is always 1 */
    if (status == VIT_OK && m->config.classes == 1 && m->scoring == VIT_SCORING_SOFTMAX)
        m->scoring = VIT_SCORING_SIGMOID;
    return status;
}

/* If the config is one of another kind of network (Swin, BEiT, ...), says so, which helps more than
 * the name of the first unknown tensor. */
static vit_status explain(const vit_configs *c, vit_status status, vit_error *error) {
    vit_their_config d;
    vit_error why;
    const struct kind *kind = c->object ? kind_of(c->object) : NULL;
    if (status != VIT_ERROR_MISMATCH || !kind) return status;
    vit_their_config_init(&d, c->path);
    const vit_status read = kind->read ? kind->read(&d, c->object, &why)
                                       : vit_read_hf_config(&d, c->object, NULL, NULL, &why);
    vit_their_config_clear(&d);
    if (read != VIT_ERROR_UNSUPPORTED) return status;
    *error = why;
    return read;
}

/* ---- encoder and decoder ---- */

static vit_status build_parts(vit_model_file *m, const vit_binding parts[2],
                              const vit_their_config *d, const vit_decoder_facts *reader,
                              const vit_configs *c, vit_error *error) {
    vit_status status = vit_config_of_tensors(&m->config, &parts[0], d, error);
    if (status == VIT_OK) status = vit_complete_decoder(&m->config, reader, d, &parts[1], error);
    if (status == VIT_OK) status = vit_published_values(m, parts, 2, d->name, c->wanted, error);
    m->position_rule = parts[0].layout->positions[true];
    m->writing = reader->writing;
    m->recipe = origin(&parts[1], c, "hf");
    if (status == VIT_OK && !m->recipe) status = vit_fail_memory(error, "the recipe", 0);
    return status == VIT_OK ? vit_prepare_list(&m->preprocessing, d, &m->config, error) : status;
}

static vit_status build_reader(vit_model_file *out, const vit_tensors *file, const vit_configs *c,
                               vit_error *error) {
    static const char *const names[] = {VIT_PART_ENCODER, VIT_PART_DECODER};
    vit_binding parts[2] = {{0}};
    vit_their_config d;
    vit_decoder_facts reader;
    json_t *encoder = NULL;
    vit_their_config_init(&d, c->path);
    vit_status status = vit_read_object(&encoder, &d, c->object, "encoder", error);
    d.version = json_string_value(json_object_get(c->object, "transformers_version"));
    if (status == VIT_OK && !encoder)
        status = vit_fail(error, VIT_ERROR_FORMAT, "%s: expected \"encoder\", the config of one",
                          d.name);
    if (status == VIT_OK)
        status = vit_read_hf_config(&d, encoder, c->processor, c->processor_path, error);
    if (status == VIT_OK)
        status = vit_read_decoder_config(&reader, &d, c->object, c->generation, c->generation_path,
                                         error);
    for (size_t i = 0; i < 2 && status == VIT_OK; i++)
        status = vit_binding_new(&parts[i], file, names[i], VIT_CONFIG_HF, error);
    if (status == VIT_OK) status = build_parts(out, parts, &d, &reader, c, error);
    for (size_t i = 0; i < 2; i++) vit_binding_free(&parts[i]);
    vit_their_config_clear(&d);
    return status;
}

/* That the tokenizer's ids are the network's. It may have fewer, since tables of ids are rounded
 * up. */
static vit_status check_tokenizer(const vit_tokenizer *t, size_t rows, const char *directory,
                                  vit_error *error) {
    const size_t last = vit_tokenizer_ids(t);
    if (last <= rows) return VIT_OK;
    return vit_fail(error, VIT_ERROR_MISMATCH,
                    "%s: the tokenizer has tokens up to id %zu, the network of texts ids up to %zu "
                    "(\"vocab_size\" %zu): take the tokenizer's files of the same model",
                    directory, last - 1, rows - 1, rows);
}

vit_status vit_published_tokenizer(vit_model_file *m, const char *config, size_t rows, bool decodes,
                                   vit_error *error) {
    char *directory = vit_path_directory(config);
    if (!directory) return vit_fail_memory(error, "a path", strlen(config));
    vit_status status = vit_tokenizer_new(&m->tokenizer, directory, decodes, error);
    m->tokenizer_free = vit_tokenizer_delete;
    if (status == VIT_OK) status = check_tokenizer(m->tokenizer, rows, directory, error);
    vit_free(directory);
    return status;
}

/* The tokenizer of a network that writes texts, with a token that ends them. */
static vit_status load_tokenizer(vit_model_file *m, const char *config, vit_error *error) {
    const vit_stack *decoder = &m->config.decoder;
    const vit_status status = vit_published_tokenizer(m, config, decoder->vocabulary, true, error);
    if (status != VIT_OK) return status;
    m->tokens = vit_tokenizer_ids(m->tokenizer);
    if (decoder->end < m->tokens && m->tokenizer->tokens[decoder->end].text) return VIT_OK;
    return vit_fail(error, VIT_ERROR_MISMATCH,
                    "%s: the tokenizer beside it has no token of id %zu, with which texts end "
                    "(\"eos_token_id\"): it is of another model",
                    config, decoder->end);
}

/* ---- the whole ---- */

vit_status vit_published_build(vit_model_file *out, const vit_tensors *file, const vit_configs *c,
                               vit_error *error) {
    vit_binding binding;
    vit_their_config d = {0};
    *out = (vit_model_file){0};
    if (vit_is_encoder_decoder(c->object)) {
        vit_status built = vit_refuse_as(c->wanted->emulate, c->path, error);
        if (built == VIT_OK) built = build_reader(out, file, c, error);
        if (built != VIT_OK) vit_model_file_clear(out);
        return built;
    }
    vit_status status = vit_binding_new(&binding, file, NULL, number_of(c->object), error);
    if (status != VIT_OK) return explain(c, status, error);
    status = read_config(&d, &binding, c, error);
    if (status == VIT_OK) status = build(out, &binding, &d, c, error);
    if (status != VIT_OK) vit_model_file_clear(out);
    vit_their_config_clear(&d);
    vit_binding_free(&binding);
    return status;
}

/* The model of tensors that are no model file of ours; vit_foreign_model.build. */
static vit_status build_foreign(vit_model_file *out, vit_opened *opened, const vit_wanted *wanted,
                                vit_error *error) {
    vit_configs c;
    vit_status status = configs_open(&c, opened, wanted->config, error);
    c.wanted = wanted;
    if (status == VIT_OK) /* big_vision's "scan" */
        status = vit_tensors_unstack(opened->file, "/encoderblock/", "/encoderblock_%zu/", error);
    if (status == VIT_OK) status = vit_published_build(out, opened->file, &c, error);
    if (status == VIT_OK && vit_config_has_decoder(&out->config)) {
        status = load_tokenizer(out, c.path, error);
        if (status != VIT_OK) vit_model_file_clear(out);
    }
    configs_close(&c);
    return status;
}

const vit_foreign_model vit_published_models = {build_foreign};
