#include "vit/weights/file/model_file.h"
#include "vit/base/size.h"
#include "vit/base/sys.h"
#include "vit/base/text.h"
#include "vit/formats/json.h"
#include "vit/formats/json_out.h"
#include "vit/tensors/checksum.h"
#include "vit/tensors/safetensors.h"
#include "vit/weights/file/rounded.h"
#include <string.h>

enum { NAME_SIZE = 96, VALUES = 11 }; /* bytes of a tensor's name; of the metadata */

/* ---- tensors of a table ---- */

vit_status vit_table_tensors(vit_tensor *tensors, char **names, const vit_table *table,
                             const float *values, const char *prefix, vit_error *error) {
    *names = vit_alloc(table->count, NAME_SIZE);
    if (!*names) return vit_fail_memory(error, "tensor names", table->count * NAME_SIZE);
    for (size_t i = 0; i < table->count; i++) {
        const vit_parameter *p = &table->rows[i];
        char *name = *names + i * NAME_SIZE;
        snprintf(name, NAME_SIZE, "%s%s", prefix, p->name);
        tensors[i] = (vit_tensor){.name = name,
                                  .dtype = VIT_F32,
                                  .dims = p->dims,
                                  .count = p->count,
                                  .data = values + p->offset};
        memcpy(tensors[i].shape, p->shape, p->dims * sizeof *p->shape);
    }
    return VIT_OK;
}

vit_status vit_parameter_read(float *values, const vit_parameter *p, const vit_tensors *file,
                              const vit_tensor *t, vit_error *error) {
    vit_status status = VIT_OK;
    if (p->integers) return VIT_OK;
    if (p->place || p->floats) {
        status = vit_tensor_check_data(t, error);
    } else {
        status = vit_tensors_read(file, t, values, error);
        if (status != VIT_OK) return status;
        status = vit_tensor_check_finite(t, values, error);
    }
    return status == VIT_OK ? status : vit_fail_prefix(error, status, vit_tensors_name(file));
}

/* values: [p->count] = the tensor `name`, which must have the shape of p. */
static vit_status load_one(float *values, const vit_parameter *p, const vit_tensors *file,
                           const char *name, vit_error *error) {
    const vit_tensor *t = vit_tensors_find(file, name);
    if (!t)
        return vit_fail(error, VIT_ERROR_MISMATCH, "%s: tensor %s is missing",
                        vit_tensors_name(file), name);
    if (t->dims != p->dims || memcmp(t->shape, p->shape, p->dims * sizeof *p->shape) != 0) {
        char found[128], expected[128];
        vit_shape_text(found, t->shape, t->dims);
        vit_shape_text(expected, p->shape, p->dims);
        return vit_fail(error, VIT_ERROR_MISMATCH,
                        "%s: tensor %s has shape %s, its config asks for %s",
                        vit_tensors_name(file), name, found, expected);
    }
    return vit_parameter_read(values, p, file, t, error);
}

vit_status vit_table_load(float *values, const vit_table *table, const vit_tensors *file,
                          const char *prefix, vit_error *error) {
    for (size_t i = 0; i < table->count; i++) {
        char name[NAME_SIZE];
        snprintf(name, sizeof name, "%s%s", prefix, table->rows[i].name);
        const vit_parameter *p = &table->rows[i];
        const vit_status status = load_one(values + p->offset, p, file, name, error);
        if (status != VIT_OK) return status;
    }
    return VIT_OK;
}

bool vit_is_of_head(const char *name) {
    return strcmp(name, "head.weight") == 0 || strcmp(name, "head.bias") == 0;
}

/* ---- reading ---- */

bool vit_model_file_is_checkpoint(const vit_tensors *file) {
    return vit_tensors_metadata(file, "vit.step") != NULL;
}

static vit_status refuse_unexpected(const vit_table *table, const vit_tensors *file,
                                    vit_error *error) {
    for (size_t i = 0; i < vit_tensors_count(file); i++) {
        const char *name = vit_tensors_at(file, i)->name;
        const bool is_of_training =
            vit_model_file_is_checkpoint(file) &&
            (strncmp(name, "adamw.", 6) == 0 || strncmp(name, "ema.", 4) == 0);
        if (!vit_table_find(table, name) && !is_of_training &&
            !vit_tensors_are_scales(file, vit_tensors_at(file, i)))
            return vit_fail(error, VIT_ERROR_MISMATCH,
                            "%s: tensor %s does not belong to the network of its config",
                            vit_tensors_name(file), name);
    }
    return VIT_OK;
}

/* A value of the metadata without which there is no model. */
static vit_status need(const char **value, const vit_tensors *file, const char *key,
                       vit_error *error) {
    *value = vit_tensors_metadata(file, key);
    if (*value) return VIT_OK;
    return vit_fail(error, VIT_ERROR_UNSUPPORTED,
                    "%s: no \"%s\" in its metadata: not a model file of this program",
                    vit_tensors_name(file), key);
}

static vit_status read_labels(vit_model_file *m, const vit_tensors *file, vit_error *error) {
    const char *text = vit_tensors_metadata(file, "vit.labels");
    const char *name = vit_tensors_name(file);
    size_t count = 0;
    json_error_t reason;
    if (!text) return VIT_OK;
    json_t *array = json_loads(text, JSON_REJECT_DUPLICATES, &reason);
    if (!array) return vit_fail(error, VIT_ERROR_FORMAT, "%s: vit.labels: %s", name, reason.text);
    vit_status status = vit_json_strings(&m->labels, &count, array, "vit.labels", error);
    json_decref(array);
    if (status != VIT_OK) return vit_fail_prefix(error, status, name);
    if (count == m->config.classes) return VIT_OK;
    return vit_fail(error, VIT_ERROR_MISMATCH, "%s: %zu labels for %zu classes", name, count,
                    m->config.classes);
}

static vit_status read_numbers(vit_model_file *m, const vit_tensors *file, vit_error *error) {
    const char *text = vit_tensors_metadata(file, "vit.temperature");
    if (text && !(vit_parse_double(text, &m->temperature) && m->temperature >= 1e-3 &&
                  m->temperature <= 1e3))
        return vit_fail(
            error, VIT_ERROR_FORMAT,
            "%s: \"vit.temperature\" is \"%.40s\", expected a number from 0.001 to 1000",
            vit_tensors_name(file), text);
    text = vit_tensors_metadata(file, "vit.threshold");
    if (text && !(vit_parse_double(text, &m->threshold) && m->threshold > 0 && m->threshold <= 1))
        return vit_fail(error, VIT_ERROR_FORMAT,
                        "%s: \"vit.threshold\" is \"%.40s\", expected a number above 0, at most 1",
                        vit_tensors_name(file), text);
    text = vit_tensors_metadata(file, "vit.scoring");
    for (int i = 0; text && i < VIT_SCORING_COUNT; i++) {
        m->scoring = (vit_scoring)i;
        if (strcmp(vit_scoring_name(m->scoring), text) == 0) return VIT_OK;
    }
    if (text)
        return vit_fail(error, VIT_ERROR_FORMAT,
                        "%s: \"vit.scoring\" is \"%.40s\", expected softmax, sigmoid or none",
                        vit_tensors_name(file), text);
    return VIT_OK;
}

/* Keeps the JSON as one line: white space between its words may be of any kind. */
static vit_status read_recipe(vit_model_file *m, const char *text, vit_error *error) {
    json_t *object;
    const vit_status status = vit_json_parse(&object, text, strlen(text), "vit.recipe", error);
    if (status != VIT_OK) return status;
    json_decref(object);
    m->recipe = vit_strdup(text);
    if (!m->recipe) return vit_fail_memory(error, "the recipe", 0);
    for (char *c = m->recipe; *c; c++)
        if (*c == '\n' || *c == '\r' || *c == '\t') *c = ' ';
    return VIT_OK;
}

/* A vocabulary, which must have `ids` ids, as the config says. */
static vit_status read_vocabulary(vit_vocabulary *out, const vit_tensors *file, const char *key,
                                  size_t ids, vit_error *error) {
    const char *text, *name = vit_tensors_name(file);
    vit_status status = need(&text, file, key, error);
    if (status == VIT_OK) status = vit_vocabulary_read(out, text, key, error);
    if (status != VIT_OK) return vit_fail_prefix(error, status, name);
    if (out->count == ids) return VIT_OK;
    return vit_fail(error, VIT_ERROR_MISMATCH, "%s: \"%s\" has %zu ids, its config asks for %zu",
                    name, key, out->count, ids);
}

static vit_status read_vocabularies(vit_model_file *m, const vit_tensors *file, vit_error *error) {
    const vit_config *c = &m->config;
    vit_status status = VIT_OK;
    if (vit_config_has_decoder(c))
        status =
            read_vocabulary(&m->vocabulary, file, "vit.vocabulary", c->decoder.vocabulary, error);
    if (status == VIT_OK && vit_config_takes_texts(c))
        status = read_vocabulary(&m->source_vocabulary, file, "vit.source_vocabulary",
                                 c->vocabulary, error);
    return status;
}

static vit_status read_metadata(vit_model_file *m, const vit_tensors *file, vit_error *error) {
    const char *config, *preprocessing, *recipe = vit_tensors_metadata(file, "vit.recipe");
    vit_status status = need(&config, file, "vit.config", error);
    if (status != VIT_OK) return status;
    m->config = vit_config_default();
    status = vit_config_read(&m->config, config, "vit.config", error);
    if (status == VIT_OK) status = vit_table_new(&m->table, &m->config, error);
    if (status == VIT_OK && vit_config_takes_pictures(&m->config)) {
        status = need(&preprocessing, file, "vit.preprocessing", error);
        if (status != VIT_OK) return status;
        status =
            vit_preprocessing_read(&m->preprocessing, preprocessing, "vit.preprocessing", error);
    }
    if (status != VIT_OK) return vit_fail_prefix(error, status, vit_tensors_name(file));
    m->has_checksum =
        vit_tensors_metadata(file, VIT_CHECKSUM_KEY) && !vit_model_file_is_checkpoint(file);
    status = read_recipe(m, recipe ? recipe : "{}", error);
    if (status != VIT_OK) return vit_fail_prefix(error, status, vit_tensors_name(file));
    status = read_numbers(m, file, error);
    if (status == VIT_OK) status = read_vocabularies(m, file, error);
    return status == VIT_OK ? read_labels(m, file, error) : status;
}

/* The scales of the tensor `name`, if it has some. */
static vit_status load_scales(const vit_store *s, const vit_parameter *p, const vit_tensors *file,
                              const char *name, vit_error *error) {
    const vit_tensor *t = vit_tensors_find(file, name);
    float *scales = vit_store_scales(s, p);
    if (!scales || !vit_tensors_scales(file, t)) return VIT_OK;
    return vit_tensors_read_scales(file, t, scales, error);
}

/* A tensor of the backbone; one that is packed is there already (take_packed). */
static void take_one(const vit_store *s, const vit_parameter *p, const vit_model_file *backbone) {
    const vit_parameter *from = vit_table_find(&backbone->table, p->name);
    if (from->offset == VIT_ONLY_PACKED) return;
    memcpy(vit_store_place(s, p), backbone->values + from->offset, p->count * sizeof(float));
    float *scales = backbone->scales ? vit_store_scales(s, p) : NULL;
    if (scales) memcpy(scales, backbone->scales + from->scale_offset, p->shape[0] * sizeof *scales);
}

/* The backbone's packed weights become the model's. They are where the model looks for them, since
 * the head is the last in the tables of both. */
static vit_status take_packed(vit_model_file *m, vit_model_file *backbone, const char *name,
                              vit_error *error) {
    const vit_precision precision = backbone->packed.precision;
    for (size_t i = 0; i < m->table.count; i++) {
        vit_parameter *p = &m->table.rows[i];
        const vit_parameter *from = vit_table_find(&backbone->table, p->name);
        if (vit_is_of_head(p->name)) continue;
        if (!from || from->dims != p->dims ||
            memcmp(from->shape, p->shape, p->dims * sizeof *p->shape) != 0)
            return vit_fail(error, VIT_ERROR_MISMATCH,
                            "%s: its backbone has no tensor %s of that size", name, p->name);
        p->stored = from->stored;
    }
    if (!backbone->packed.transposed) return VIT_OK;
    vit_table_store(&m->table);
    for (size_t i = 0; i < m->table.count; i++) {
        const vit_parameter *p = &m->table.rows[i];
        const vit_parameter *from = vit_table_find(&backbone->table, p->name);
        if (p->packs && !vit_is_of_head(p->name) &&
            vit_packed_at(p, precision) != vit_packed_at(from, precision))
            return vit_fail(error, VIT_ERROR_MISMATCH,
                            "%s: tensor %s has another place in its network than in its backbone's",
                            name, p->name);
    }
    m->packed = backbone->packed;
    backbone->packed.transposed = NULL;
    return VIT_OK;
}

void vit_parameter_store(vit_parameter *p, vit_dtype dtype, const float *place) {
    static const struct {
        vit_stored packed, in_place;
    } all[] = {[VIT_F32] = {VIT_STORED_FLOATS, VIT_STORED_ROWS},
               [VIT_F16] = {VIT_STORED_F16, VIT_STORED_ROWS_F16},
               [VIT_BF16] = {VIT_STORED_BF16, VIT_STORED_ROWS_BF16},
               [VIT_BOOL] = {VIT_STORED_FLOATS, VIT_STORED_FLOATS}};
    VIT_CHECK_ROWS(all, VIT_DTYPE_COUNT);
    const bool in_words = vit_is_weight(p) && (dtype == VIT_F32 || p->count / p->shape[0] % 2 == 0);
    p->place = in_words ? place : NULL;
    p->stored = p->place ? all[dtype].in_place : all[dtype].packed;
}

/* Where load_tensor finds a row of the table. */
typedef struct reading {
    const vit_tensors *file;
    const char *prefix;
    const vit_model_file *backbone; /* NULL: all are in the file */
} reading;

/* A vit_store_load. */
static vit_status load_tensor(const vit_store *s, const vit_parameter *p, const void *context,
                              vit_error *error) {
    const reading *r = context;
    char name[NAME_SIZE];
    if (r->backbone && !vit_is_of_head(p->name)) {
        take_one(s, p, r->backbone);
        return VIT_OK;
    }
    snprintf(name, sizeof name, "%s%s", r->prefix, p->name);
    vit_status status = load_one(vit_store_place(s, p), p, r->file, name, error);
    if (status == VIT_OK) status = load_scales(s, p, r->file, name, error);
    if (status == VIT_OK) vit_store_keep(s, p);
    if (p->integers || p->floats) vit_tensors_release(r->file, vit_tensors_find(r->file, name));
    return status;
}

/* backbone: as for vit_model_file_join; or NULL. */
static vit_status load_tensors(vit_model_file *m, const vit_tensors *file, const vit_exec *packs,
                               size_t spare, vit_model_file *backbone, vit_error *error) {
    vit_store store = {0};
    vit_status status = VIT_OK;
    vit_exec room;
    char name[NAME_SIZE];
    /* a checkpoint with an average of the weights: that is the model */
    snprintf(name, sizeof name, "ema.%s", m->table.rows[0].name);
    const bool has_average = vit_model_file_is_checkpoint(file) && vit_tensors_find(file, name);
    const reading r = {file, has_average ? "ema." : "", backbone};
    packs = vit_packs_for(&room, packs, file);
    for (size_t i = 0; packs && i < m->table.count; i++) {
        vit_parameter *p = &m->table.rows[i];
        snprintf(name, sizeof name, "%s%s", r.prefix, p->name);
        const vit_tensor *t = vit_tensors_find(file, name);
        if (t) vit_parameter_store(p, t->dtype, vit_tensors_place(file, t));
        if (t && vit_is_weight(p) && !p->place) p->floats = vit_tensors_floats(t);
        if (t && p->rounds && vit_precisions[packs->precision].scales)
            p->integers = vit_tensors_integers(file, t);
    }
    if (backbone) status = take_packed(m, backbone, vit_tensors_name(file), error);
    if (status == VIT_OK) status = vit_store_open(&store, m, packs, spare, error);
    if (status == VIT_OK) status = vit_store_fill(&store, load_tensor, &r, error);
    vit_store_close(&store);
    for (size_t i = 0; i < m->table.count; i++) {
        m->table.rows[i].floats = NULL;
        m->table.rows[i].integers = NULL;
    }
    return status;
}

vit_status vit_model_file_size(size_t *height, size_t *width, size_t *head, const vit_tensors *file,
                               vit_error *error) {
    vit_model_file m = {0};
    const vit_status status = read_metadata(&m, file, error);
    const vit_parameter *p = status == VIT_OK ? vit_table_find(&m.table, "head.weight") : NULL;
    *height = m.config.height;
    *width = m.config.width;
    *head = p ? vit_packed_size(p->shape[0], p->count / p->shape[0]) : 0;
    vit_model_file_clear(&m);
    return status;
}

static vit_status load(vit_model_file *m, const vit_tensors *file, const vit_exec *packs,
                       size_t spare, vit_model_file *backbone, vit_error *error) {
    *m = (vit_model_file){0};
    vit_status status = read_metadata(m, file, error);
    if (status == VIT_OK) status = refuse_unexpected(&m->table, file, error);
    if (status == VIT_OK) status = load_tensors(m, file, packs, spare, backbone, error);
    if (status != VIT_OK) vit_model_file_clear(m);
    return status;
}

vit_status vit_model_file_load(vit_model_file *m, const vit_tensors *file, const vit_exec *packs,
                               size_t spare, vit_error *error) {
    return load(m, file, packs, spare, NULL, error);
}

vit_status vit_model_file_join(vit_model_file *m, const vit_tensors *file, const vit_exec *packs,
                               vit_model_file *backbone, vit_error *error) {
    return load(m, file, packs, 0, backbone, error);
}

void vit_model_file_clear(vit_model_file *m) {
    vit_table_free(&m->table);
    vit_free(m->values);
    vit_free(m->packed.transposed);
    vit_free(m->scales);
    vit_tensors_close(m->stays_in);
    vit_free(m->labels);
    vit_free(m->recipe);
    vit_free(m->backbone);
    vit_vocabulary_free(&m->source_vocabulary);
    vit_vocabulary_free(&m->vocabulary);
    if (m->tokenizer) m->tokenizer_free(m->tokenizer);
    *m = (vit_model_file){0};
}

/* ---- writing ---- */

char *vit_model_file_labels(const vit_model_file *m) {
    vit_json_out json = {0};
    vit_json_texts(&json, NULL, (const char *const *)m->labels, m->config.classes);
    return vit_json_take(&json);
}

static char *vocabulary_text(const vit_vocabulary *v) {
    return v->count > 0 ? vit_vocabulary_write(v) : NULL;
}

vit_status vit_tensors_encode(vit_tensor *tensors, size_t count, vit_dtype dtype, void **memory,
                              vit_error *error) {
    const size_t size = vit_dtype_size(dtype);
    size_t elements = 0;
    for (size_t i = 0; i < count; i++) elements += tensors[i].count;
    char *at = *memory = vit_alloc(elements, size);
    if (!at) return vit_fail_memory(error, "the tensors", elements * size);
    for (size_t i = 0; i < count; i++) {
        vit_tensor *t = &tensors[i];
        const float *values = t->data;
        const size_t done = vit_tensor_encode(at, dtype, values, t->count);
        if (done < t->count)
            return vit_fail(error, VIT_ERROR_UNSUPPORTED,
                            "tensor %s: element %zu is %g, which float16 cannot hold: use bf16 or "
                            "f32",
                            t->name, done, (double)values[done]);
        t->dtype = dtype;
        t->data = at;
        at += t->count * size;
    }
    return VIT_OK;
}

/* Writes tensors; if the last of the metadata is the file's checksum, it is computed here. */
static vit_status write_tensors(const char *path, const vit_tensor *tensors, size_t count,
                                vit_metadata *metadata, size_t metadata_count, vit_error *error) {
    char hex[65];
    vit_metadata *last = &metadata[metadata_count - 1];
    vit_status status = VIT_OK;
    if (strcmp(last->key, VIT_CHECKSUM_KEY) == 0) {
        status = vit_safetensors_hash(hex, tensors, count, metadata, metadata_count, error);
        last->value = hex;
    }
    if (status == VIT_OK)
        status = vit_safetensors_write(path, tensors, count, metadata, metadata_count, error);
    last->value = NULL;
    return status;
}

/* The weights of the blocks in 8-bit integers, all others in float32. */
static vit_status write_rounded(const char *path, const vit_model_file *m,
                                const vit_tensor *tensors, vit_metadata *metadata,
                                size_t metadata_count, vit_error *error) {
    vit_rounded_tensors rounded = {0};
    vit_to_round *how = vit_alloc(m->table.count, sizeof *how);
    if (!how) return vit_fail_memory(error, "the tensors", m->table.count * sizeof *how);
    for (size_t i = 0; i < m->table.count; i++) {
        const vit_parameter *p = &m->table.rows[i];
        how[i] = (vit_to_round){p->rounds, m->scales ? m->scales + p->scale_offset : NULL};
    }
    vit_status status = vit_tensors_round(&rounded, tensors, how, m->table.count, error);
    if (status == VIT_OK)
        status =
            write_tensors(path, rounded.tensors, rounded.count, metadata, metadata_count, error);
    vit_rounded_tensors_free(&rounded);
    vit_free(how);
    return status;
}

/* Moves the tensors of the head to the front; returns how many they are. */
static size_t keep_head(vit_tensor *tensors, size_t count) {
    size_t kept = 0;
    for (size_t i = 0; i < count; i++)
        if (vit_is_of_head(tensors[i].name)) tensors[kept++] = tensors[i];
    return kept;
}

static vit_status write_file(const char *path, const vit_model_file *m, vit_dtype dtype,
                             char *const values[VALUES], vit_error *error) {
    static const char *const keys[] = {"vit.config",     "vit.preprocessing",     "vit.recipe",
                                       "vit.labels",     "vit.temperature",       "vit.threshold",
                                       "vit.vocabulary", "vit.source_vocabulary", "vit.scoring",
                                       "vit.backbone",   VIT_CHECKSUM_KEY};
    const bool wanted[] = {true,
                           vit_config_takes_pictures(&m->config),
                           true,
                           m->labels != NULL,
                           m->temperature > 0,
                           m->threshold > 0,
                           m->vocabulary.count > 0,
                           m->source_vocabulary.count > 0,
                           m->scoring != VIT_SCORING_SOFTMAX,
                           m->backbone != NULL,
                           m->has_checksum || m->backbone};
    vit_metadata metadata[VALUES];
    char *names = NULL;
    void *elements = NULL;
    size_t count = 0;
    for (size_t i = 0; i < VALUES; i++) {
        if (!wanted[i]) continue;
        if (!values[i]) return vit_fail_memory(error, keys[i], 0);
        metadata[count++] = (vit_metadata){keys[i], values[i]};
    }
    vit_tensor *tensors = vit_alloc(m->table.count, sizeof *tensors);
    if (!tensors) return vit_fail_memory(error, "tensor list", m->table.count * sizeof *tensors);
    vit_status status = vit_table_tensors(tensors, &names, &m->table, m->values, "", error);
    const size_t written = m->backbone ? keep_head(tensors, m->table.count) : m->table.count;
    if (status == VIT_OK && dtype == VIT_I8) {
        status = write_rounded(path, m, tensors, metadata, count, error);
    } else {
        if (status == VIT_OK && dtype != VIT_F32)
            status = vit_tensors_encode(tensors, written, dtype, &elements, error);
        if (status == VIT_OK)
            status = write_tensors(path, tensors, written, metadata, count, error);
    }
    vit_free(elements);
    vit_free(names);
    vit_free(tensors);
    return status;
}

vit_status vit_model_file_save(const char *path, const vit_model_file *m, vit_error *error) {
    return vit_model_file_save_as(path, m, VIT_F32, error);
}

vit_status vit_model_file_save_as(const char *path, const vit_model_file *m, vit_dtype dtype,
                                  vit_error *error) {
    char temperature[32], threshold[32];
    if (m->tokenizer)
        return vit_fail(error, VIT_ERROR_UNSUPPORTED,
                        "%s: a model file has no place for the tokenizer of a published reader: "
                        "vit-read and vit-info take its directory as it is, and --layout hf writes "
                        "one with smaller weights",
                        path);
    vit_format_double(temperature, m->temperature);
    vit_format_double(threshold, m->threshold);
    char *values[VALUES] = {vit_config_write(&m->config),
                            vit_preprocessing_write(&m->preprocessing),
                            m->recipe,
                            m->labels ? vit_model_file_labels(m) : NULL,
                            temperature,
                            threshold,
                            vocabulary_text(&m->vocabulary),
                            vocabulary_text(&m->source_vocabulary),
                            (char *)vit_scoring_name(m->scoring),
                            m->backbone,
                            (char *)vit_checksum_zeros};
    const vit_status status = write_file(path, m, dtype, values, error);
    vit_free(values[0]);
    vit_free(values[1]);
    vit_free(values[3]);
    vit_free(values[6]);
    vit_free(values[7]);
    return status;
}

/* ---- another size of picture ---- */

static vit_grid grid_of(const vit_config *c) {
    return (vit_grid){c->height / c->patch, c->width / c->patch};
}

/* Copies tensor i, or if it is the positions, resamples it. */
static vit_status take_over(const vit_model_file *to, const vit_model_file *from, size_t i,
                            vit_error *error) {
    const vit_parameter *p = &from->table.rows[i];
    if (p->offset == VIT_ONLY_PACKED) return VIT_OK; /* packed weights do not depend on the size */
    const float *in = from->values + p->offset;
    float *out = to->values + to->table.rows[i].offset;
    if (p->count != to->table.rows[i].count && !vit_resamples(p))
        return vit_fail(error, VIT_ERROR_ARGUMENT,
                        "the relative position bias (%s) is of pictures of %zu x %zu; those of "
                        "another size are not supported",
                        p->name, from->config.height, from->config.width);
    if (!vit_resamples(p)) {
        memcpy(out, in, p->count * sizeof *out);
        return VIT_OK;
    }
    const size_t dim = from->config.dim,
                 prefix = p->count / dim - vit_config_patches(&from->config);
    return vit_positions_resample(out, in, prefix, dim, grid_of(&to->config),
                                  grid_of(&from->config), from->position_rule, error);
}

static vit_status fill(vit_model_file *to, const vit_model_file *from, vit_error *error) {
    vit_status status =
        vit_preprocessing_at(&to->preprocessing, from->config.height, from->config.width,
                             to->config.height, to->config.width, error);
    if (status == VIT_OK) status = vit_table_new(&to->table, &to->config, error);
    if (status != VIT_OK) return status;
    for (size_t i = 0; i < from->table.count; i++) {
        to->table.rows[i].stored = from->table.rows[i].stored;
        to->table.rows[i].place = from->table.rows[i].place;
    }
    vit_table_store(&to->table);
    if (from->packed.transposed) vit_table_omit_weights(&to->table);
    to->values = vit_alloc(to->table.size, sizeof *to->values);
    if (!to->values)
        return vit_fail_memory(error, "the weights", to->table.size * sizeof *to->values);
    for (size_t i = 0; status == VIT_OK && i < from->table.count; i++)
        status = take_over(to, from, i, error);
    return status;
}

vit_status vit_model_file_resize(vit_model_file *m, size_t height, size_t width, vit_error *error) {
    vit_model_file resized = *m;
    resized.config.height = height;
    resized.config.width = width;
    resized.table = (vit_table){0};
    resized.values = NULL;
    if (height == m->config.height && width == m->config.width) return VIT_OK;
    vit_status status = vit_config_check(&resized.config, error);
    if (status == VIT_OK) status = fill(&resized, m, error);
    vit_model_file *useless = status == VIT_OK ? m : &resized;
    vit_table_free(&useless->table);
    vit_free(useless->values);
    if (status == VIT_OK) *m = resized;
    return status;
}
