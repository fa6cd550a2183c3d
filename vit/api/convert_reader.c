#include "vit/api/convert_reader.h"
#include "vit/base/size.h"
#include "vit/base/sys.h"
#include "vit/base/text.h"
#include "vit/formats/json.h"
#include "vit/formats/json_out.h"
#include "vit/tensors/safetensors.h"
#include "vit/weights/export/describe.h"
#include "vit/weights/file/rounded.h"
#include "vit/weights/layout/layout.h"
#include <stdlib.h>
#include <string.h>

#define LARGEST_FILE ((size_t)256 << 20) /* a tokenizer's may be some megabytes */

typedef struct writing {
    const char *in, *out;
    const vit_model_file *model;
    vit_dtype dtype;
    vit_tensors *file;
    vit_tensor *tensors; /* [count], as floats, or converted */
    vit_to_round *how;   /* [count] */
    size_t count;
    float *floats;
    void *encoded;
    vit_rounded_tensors rounded;
} writing;

/* ---- tensors ---- */

/* All that hold weights, as floats. Counters and the like are made anew by whoever reads them. */
static vit_status read_tensors(writing *w, vit_error *error) {
    const size_t all = vit_tensors_count(w->file);
    size_t floats = 0, done = 0;
    vit_status status = VIT_OK;
    w->tensors = vit_alloc(all, sizeof *w->tensors);
    w->how = vit_alloc(all, sizeof *w->how);
    if (!w->tensors || !w->how) return vit_fail_memory(error, "tensors", all * sizeof *w->tensors);
    for (size_t i = 0; i < all; i++) {
        const vit_tensor *t = vit_tensors_at(w->file, i);
        const bool is_weight =
            vit_dtype_holds_weights(t->dtype) || vit_tensors_scales(w->file, t) != NULL;
        if (!is_weight || vit_tensors_are_scales(w->file, t)) continue;
        w->tensors[w->count++] = *t;
        floats += t->count;
    }
    w->floats = vit_alloc_unset(floats, sizeof *w->floats);
    if (!w->floats) return vit_fail_memory(error, "the weights", floats * sizeof *w->floats);
    for (size_t i = 0; i < w->count && status == VIT_OK; i++) {
        vit_tensor *t = &w->tensors[i];
        status =
            vit_tensors_read(w->file, vit_tensors_find(w->file, t->name), w->floats + done, error);
        t->dtype = VIT_F32;
        t->data = w->floats + done;
        done += t->count;
    }
    return status;
}

/* Which tensors are rounded: weights of the blocks of both parts. */
static vit_status choose_rounded(writing *w, vit_error *error) {
    static const char *const parts[] = {VIT_PART_ENCODER, VIT_PART_DECODER};
    for (size_t p = 0; p < VIT_COUNT(parts); p++) {
        vit_binding b;
        const vit_status status = vit_binding_new(&b, w->file, parts[p], VIT_CONFIG_HF, error);
        if (status != VIT_OK) return status;
        for (size_t i = 0; i < w->count; i++)
            if (vit_binding_rounds(&b, &w->model->table, w->tensors[i].name))
                w->how[i].rounds = true;
        vit_binding_free(&b);
    }
    return VIT_OK;
}

static vit_status write_tensors(writing *w, vit_error *error) {
    const vit_tensor *tensors = w->tensors;
    size_t count = w->count;
    vit_status status = VIT_OK;
    if (w->dtype == VIT_I8) {
        status = vit_tensors_round(&w->rounded, w->tensors, w->how, w->count, error);
        tensors = w->rounded.tensors;
        count = w->rounded.count;
    } else if (w->dtype != VIT_F32) {
        status = vit_tensors_encode(w->tensors, w->count, w->dtype, &w->encoded, error);
    }
    char *path = vit_path_join(w->out, "model.safetensors");
    if (status == VIT_OK && !path) status = vit_fail_memory(error, "a path", strlen(w->out));
    if (status == VIT_OK) status = vit_safetensors_write(path, tensors, count, NULL, 0, error);
    vit_free(path);
    return status;
}

/* ---- config.json ---- */

/* The modules whose weights, matrices, stay floats, as a JSON list; NULL: no memory. */
static char *unrounded_modules(const writing *w) {
    vit_json_out json = {0};
    vit_json_open(&json, NULL, '[');
    vit_json_text(&json, NULL, "decoder.output_projection"); /* tied */
    vit_json_text(&json, NULL, "decoder.lm_head");
    for (size_t i = 0; i < w->count; i++) {
        const vit_tensor *t = &w->tensors[i];
        if (t->dims != 2 || w->how[i].rounds || !vit_has_ending(t->name, ".weight")) continue;
        char *module = vit_strdup(t->name);
        if (!module) {
            vit_free(vit_json_take(&json));
            return NULL;
        }
        module[strlen(module) - strlen(".weight")] = '\0';
        vit_json_text(&json, NULL, module);
        vit_free(module);
    }
    vit_json_close(&json, ']');
    return vit_json_take(&json);
}

/* Sets "quantization_config" of a config. */
static vit_status add_quantization(json_t *config, const writing *w, vit_error *error) {
    vit_json_out json = {0};
    json_t *added = NULL;
    char *ignore = unrounded_modules(w);
    vit_json_open(&json, NULL, '{');
    vit_describe_rounded(&json, ignore);
    vit_json_close(&json, '}');
    vit_free(ignore);
    char *text = vit_json_take(&json);
    if (!text) return vit_fail_memory(error, "a config", 0);
    const vit_status status = vit_json_parse(&added, text, strlen(text), "config.json", error);
    if (status == VIT_OK) json_object_update(config, added);
    json_decref(added);
    vit_free(text);
    return status;
}

static vit_status write_config(const writing *w, const char *from, const char *to,
                               vit_error *error) {
    static const char *const types[] = {
        [VIT_F32] = "float32", [VIT_F16] = "float16", [VIT_BF16] = "bfloat16",
        [VIT_I8] = "float32",  [VIT_BOOL] = NULL,
    };
    VIT_CHECK_ROWS(types, VIT_DTYPE_COUNT);
    static const char *const keys[] = {"dtype", "torch_dtype"};
    vit_bytes bytes;
    json_t *object = NULL;
    vit_status status = vit_read_file(&bytes, from, LARGEST_FILE, error);
    if (status != VIT_OK) return status;
    status = vit_json_parse(&object, (const char *)bytes.data, bytes.size, from, error);
    vit_free(bytes.data);
    if (status != VIT_OK) return status;
    for (size_t i = 0; i < VIT_COUNT(keys); i++)
        if (json_object_get(object, keys[i]))
            json_object_set_new(object, keys[i], json_string(types[w->dtype]));
    json_object_del(object, "quantization_config");
    if (w->dtype == VIT_I8) status = add_quantization(object, w, error);
    char *text = json_dumps(object, JSON_INDENT(2) | JSON_REAL_PRECISION(17));
    json_decref(object);
    if (status == VIT_OK)
        status = text ? vit_write_file(to, text, strlen(text), error)
                      : vit_fail_memory(error, "a config", bytes.size);
    free(text);
    return status;
}

/* ---- the directory ---- */

static vit_status copy(const char *from, const char *to, vit_error *error) {
    vit_bytes bytes;
    vit_status status = vit_read_file(&bytes, from, LARGEST_FILE, error);
    if (status != VIT_OK) return status;
    status = vit_write_file(to, bytes.data, bytes.size, error);
    vit_free(bytes.data);
    return status;
}

/* Whether a file is one of weights, in any form that is published beside others. */
static bool is_of_weights(const char *name) {
    static const char *const ends[] = {".safetensors", ".index.json", ".bin",     ".pt",  ".pth",
                                       ".npz",         ".h5",         ".msgpack", ".onnx"};
    for (size_t i = 0; i < VIT_COUNT(ends); i++)
        if (vit_has_ending(name, ends[i])) return true;
    return false;
}

static vit_status write_other_files(const writing *w, vit_error *error) {
    char **names;
    size_t count;
    vit_status status = vit_list_directory(&names, &count, w->in, error);
    if (status != VIT_OK) return status;
    for (size_t i = 0; i < count && status == VIT_OK; i++) {
        if (is_of_weights(names[i])) continue;
        char *from = vit_path_join(w->in, names[i]), *to = vit_path_join(w->out, names[i]);
        if (!from || !to)
            status = vit_fail_memory(error, "a path", strlen(w->in) + strlen(w->out));
        else if (vit_path_look(from) == VIT_PATH_FILE)
            status = strcmp(names[i], "config.json") == 0 ? write_config(w, from, to, error)
                                                          : copy(from, to, error);
        vit_free(from);
        vit_free(to);
    }
    vit_free(names);
    return status;
}

void vit_convert_remove(const char *directory) {
    char **names;
    size_t count;
    if (vit_list_directory(&names, &count, directory, NULL) != VIT_OK) return;
    for (size_t i = 0; i < count; i++) {
        char *path = vit_path_join(directory, names[i]);
        if (path) vit_remove_file(path, NULL);
        vit_free(path);
    }
    vit_free(names);
    vit_remove_directory(directory, NULL);
}

vit_status vit_convert_reader(const char *in, const char *out, const vit_model_file *model,
                              vit_dtype dtype, vit_error *error) {
    writing w = {.in = in, .out = out, .model = model, .dtype = dtype};
    if (vit_path_look(in) != VIT_PATH_DIRECTORY)
        return vit_fail(error, VIT_ERROR_UNSUPPORTED,
                        "%s: a reader is written with the files beside its weights: name the "
                        "directory that holds all of them",
                        in);
    vit_status status = vit_tensors_open(&w.file, in, error);
    if (status == VIT_OK) status = read_tensors(&w, error);
    if (status == VIT_OK && dtype == VIT_I8) status = choose_rounded(&w, error);
    if (status == VIT_OK) status = vit_make_directory(out, error);
    if (status == VIT_OK) {
        status = write_tensors(&w, error);
        if (status == VIT_OK) status = write_other_files(&w, error);
        if (status != VIT_OK) vit_convert_remove(out);
    }
    vit_rounded_tensors_free(&w.rounded);
    vit_free(w.encoded);
    vit_free(w.floats);
    vit_free(w.tensors);
    vit_free(w.how);
    vit_tensors_close(w.file);
    return status;
}
