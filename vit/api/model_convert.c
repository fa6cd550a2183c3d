/* vit_convert: a model in another library's layout, or as one file of ours in another type. */
#include "vit/api/calibrate.h"
#include "vit/api/convert_reader.h"
#include "vit/api/prompts.h"
#include "vit/base/fpmode.h"
#include "vit/base/size.h"
#include "vit/base/sys.h"
#include "vit/base/text.h"
#include "vit/tensors/npz_write.h"
#include "vit/tensors/safetensors.h"
#include "vit/weights/export/describe.h"
#include "vit/weights/export/onnx.h"
#include "vit/weights/file/open.h"
#include "vit/weights/layout/save.h"
#include "vit/zero_shot.h"

#include <stdio.h>
#include <string.h>

const char *const vit_written_types[] = {"f32", "bf16", "f16", "int8", NULL};
static const vit_dtype types[] = {VIT_F32, VIT_BF16, VIT_F16, VIT_I8};
VIT_CHECK_ROWS(vit_written_types, sizeof types / sizeof *types + 1);

/* The layout of vit/weights/layout/tables.c in which each target's tensors are written; NULL: under
 * the names of the parameter table. And the target's files. */
static const char *const layouts[] = {
    [VIT_TARGET_TIMM] = "timm",
    [VIT_TARGET_HF] = "Hugging Face",
    [VIT_TARGET_TORCHVISION] = "torchvision",
    [VIT_TARGET_NPZ] = "Google",
    [VIT_TARGET_ONNX] = NULL,
    [VIT_TARGET_PYTORCH] = NULL,
};
static const char safetensors_name[] = "model.safetensors", npz_name[] = "model.npz";
static const char onnx_name[] = "model.onnx", config_name[] = "config.json";
static const char processor_name[] = "preprocessor_config.json", module_name[] = "model.py";
#define MOST_FILES 3
static const char *const files[][MOST_FILES] = {
    [VIT_TARGET_TIMM] = {safetensors_name, config_name},
    [VIT_TARGET_HF] = {safetensors_name, config_name, processor_name},
    [VIT_TARGET_TORCHVISION] = {safetensors_name, config_name},
    [VIT_TARGET_NPZ] = {npz_name, config_name},
    [VIT_TARGET_ONNX] = {onnx_name},
    [VIT_TARGET_PYTORCH] = {safetensors_name, config_name, module_name},
};
/* Whether weights in 8-bit integers can be written so that somebody reads them. */
static const bool takes_int8[] = {
    [VIT_TARGET_TIMM] = false, [VIT_TARGET_HF] = true,   [VIT_TARGET_TORCHVISION] = false,
    [VIT_TARGET_NPZ] = false,  [VIT_TARGET_ONNX] = true, [VIT_TARGET_PYTORCH] = false,
};
VIT_CHECK_ROWS(layouts, VIT_TARGET_COUNT);
VIT_CHECK_ROWS(takes_int8, VIT_TARGET_COUNT);
VIT_CHECK_ROWS(files, VIT_TARGET_COUNT);

typedef struct conversion {
    vit_templates templates;
    const vit_convert_options *options;
    vit_target target;
    vit_dtype dtype;
    vit_model_file model;
    vit_description description;
    vit_exported exported;
    void *encoded;               /* the elements in another type */
    vit_rounded_tensors rounded; /* the tensors in 8 bits */
} conversion;

static vit_status find_word(int *index, const char *word, const char *const *words,
                            const char *what, const char *expected, vit_error *error) {
    for (*index = 0; words[*index]; ++*index)
        if (strcmp(word, words[*index]) == 0) return VIT_OK;
    return vit_fail(error, VIT_ERROR_ARGUMENT, "the %s is \"%s\", expected %s", what, word,
                    expected);
}

/* Whether OUT is the file itself: a model file, or NAME.onnx. */
static bool is_one_file(const conversion *c) {
    return !c->options->layout ||
           (c->target == VIT_TARGET_ONNX && vit_has_ending(c->options->out, ".onnx"));
}

/* Without a layout, no file is written under a name that promises another kind. */
static vit_status check_ending(const char *out, vit_error *error) {
    static const char *const others[][2] = {{".onnx", "onnx"},   {".npz", "npz"},
                                            {".pth", "pytorch"}, {".pt", "pytorch"},
                                            {".bin", "pytorch"}, {".ckpt", "pytorch"}};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (vit_has_ending(out, others[i][0]))
            return vit_fail(error, VIT_ERROR_ARGUMENT,
                            "%s: without a layout a model file is written, which is safetensors: "
                            "name one that ends in .safetensors, or say the layout (--layout %s)",
                            out, others[i][1]);
    return VIT_OK;
}

static vit_status check_options(conversion *c, vit_error *error) {
    const vit_convert_options *o = c->options;
    int type = 0, target = 0;
    vit_status status = find_word(&type, o->type ? o->type : "f32", vit_written_types, "type",
                                  "f32, bf16, f16 or int8", error);
    if (status == VIT_OK && o->layout)
        status = find_word(&target, o->layout, vit_target_names, "layout",
                           "timm, hf, torchvision, npz, onnx or pytorch", error);
    if (status == VIT_OK && (!o->in || !o->out))
        status = vit_fail(error, VIT_ERROR_ARGUMENT,
                          "a conversion needs a model to read and a name to write it to");
    if (status != VIT_OK) return status;
    c->dtype = types[type];
    c->target = (vit_target)target;
    if (o->calibrate && c->dtype != VIT_I8)
        return vit_fail(error, VIT_ERROR_ARGUMENT,
                        "a calibration (--calibrate) is for weights in 8 bits, not for %s: add the "
                        "type int8 (--dtype int8)",
                        vit_written_types[type]);
    if (o->layout && c->dtype == VIT_I8 && !takes_int8[target])
        return vit_fail(
            error, VIT_ERROR_ARGUMENT,
            "nothing reads weights in 8 bits in the layout \"%s\": int8 is for files of "
            "this library (without a layout), for \"hf\" and for \"onnx\"",
            o->layout);
    if (!o->layout) return check_ending(o->out, error);
    if (is_one_file(c)) return VIT_OK;
    if (vit_path_look(o->out) != VIT_PATH_NONE || vit_path_is_link(o->out))
        return vit_fail(
            error, VIT_ERROR_ARGUMENT,
            "%s is there already: name a directory that does not exist, it will be made", o->out);
    return VIT_OK;
}

/* ---- what the layout cannot express ---- */

static void note(const conversion *c, const char *text) {
    if (c->options->note) c->options->note(text, c->options->user);
}

/* `what` would be lost: an error, or with `force` a note. If the library could not even load the
 * result (loads is false), it is an error in any case. */
static vit_status lose(const conversion *c, const char *what, bool loads, vit_error *error) {
    vit_error message;
    const char *name = c->options->layout;
    if (!c->options->force || !loads)
        return vit_fail(error, VIT_ERROR_UNSUPPORTED,
                        "%s: the layout \"%s\" cannot express all of this model: %s; %s",
                        c->options->in, name, what,
                        loads ? "to write it without that is --force"
                              : "its library could not load it, the layouts \"onnx\" and "
                                "\"pytorch\" take every model");
    vit_fail(&message, VIT_ERROR_UNSUPPORTED, "what the layout \"%s\" cannot express is lost: %s",
             name, what);
    note(c, message.message);
    return VIT_OK;
}

static vit_status check_loss(const conversion *c, vit_error *error) {
    const vit_exported *e = &c->exported;
    const vit_description *d = &c->description;
    vit_status status = VIT_OK;
    char text[160];
    if (d->reasons.length > 0) status = lose(c, d->reasons.text, d->builds, error);
    if (status == VIT_OK && e->lost_count > 0) {
        snprintf(text, sizeof text, "it has no place for tensor %s%s", e->lost,
                 e->lost_count > 1 ? " and others" : "");
        status = lose(c, text, false, error);
    }
    if (status == VIT_OK && d->notes.length > 0) note(c, d->notes.text);
    return status;
}

/* ---- writing ---- */

/* One of the target's files, in the directory that was made for them. */
static vit_status write_file(const conversion *c, const char *name, vit_error *error) {
    const vit_exported *e = &c->exported;
    const vit_description *d = &c->description;
    const vit_string *text = name == config_name      ? &d->config
                             : name == processor_name ? &d->processor
                             : name == module_name    ? &d->module
                                                      : NULL;
    char *path = vit_path_join(c->options->out, name);
    vit_status status;
    if (!path) return vit_fail_memory(error, "a path", strlen(name));
    if (text)
        status = vit_write_file(path, text->text, text->length, error);
    else if (name == onnx_name)
        status = vit_onnx_write(path, &c->model, c->dtype, VIT_ONNX_LARGEST, error);
    else if (name == npz_name)
        status = vit_npz_write(path, e->tensors, e->count, error);
    else if (c->rounded.count > 0)
        status = vit_safetensors_write(path, c->rounded.tensors, c->rounded.count, NULL, 0, error);
    else if (layouts[c->target])
        status = vit_safetensors_write(path, e->tensors, e->count, NULL, 0, error);
    else
        status = vit_model_file_save_as(path, &c->model, c->dtype, error);
    vit_free(path);
    return status;
}

/* Loads what was written, as this library reads it. */
static vit_status check_written(conversion *c, vit_error *error) {
    vit_model_file written;
    vit_rounded_tensors_free(&c->rounded);
    vit_exported_free(&c->exported);
    if (c->target == VIT_TARGET_ONNX) return VIT_OK;
    const vit_status status =
        vit_model_file_open(&written, c->options->out, &(vit_wanted){0}, error);
    if (status != VIT_OK) return vit_fail_prefix(error, status, "what was written does not load");
    vit_model_file_clear(&written);
    return VIT_OK;
}

static vit_status write_directory(conversion *c, vit_error *error) {
    const char *const *names = files[c->target];
    vit_status status = vit_make_directory(c->options->out, error);
    if (status != VIT_OK) return status;
    for (size_t i = 0; i < MOST_FILES && names[i] && status == VIT_OK; i++)
        status = write_file(c, names[i], error);
    if (status == VIT_OK) status = check_written(c, error);
    if (status != VIT_OK) vit_convert_remove(c->options->out);
    return status;
}

/* ---- the whole ---- */

static vit_status export(conversion *c, vit_error *error) {
    vit_model_file *m = &c->model;
    vit_exported *e = &c->exported;
    vit_status status = vit_describe(&c->description, c->target, m, c->dtype, error);
    if (status == VIT_OK && layouts[c->target])
        status = vit_export(e, vit_layout_find(layouts[c->target]), m, error);
    if (status == VIT_OK) status = check_loss(c, error);
    if (status == VIT_OK && e->count > 0 && c->dtype == VIT_I8)
        status = vit_tensors_round(&c->rounded, e->tensors, e->how, e->count, error);
    else if (status == VIT_OK && e->count > 0 && c->dtype != VIT_F32)
        status = vit_tensors_encode(e->tensors, e->count, c->dtype, &c->encoded, error);
    if (status != VIT_OK) return status;
    return is_one_file(c) ? vit_onnx_write(c->options->out, m, c->dtype, VIT_ONNX_LARGEST, error)
                          : write_directory(c, error);
}

static vit_status load(conversion *c, vit_error *error) {
    const vit_convert_options *o = c->options;
    const vit_prompt_labels labels = {.labels = o->labels,
                                      .templates = c->templates.texts,
                                      .template_count = c->templates.count,
                                      .config = o->config,
                                      .emulate = o->emulate};
    vit_prompt_head words = {0};
    vit_opened opened;
    bool in_words = false;
    vit_status status = vit_opened_new(&opened, o->in, error);
    if (status == VIT_OK) status = vit_prompt_head_new(&words, &in_words, &opened, &labels, error);
    if (status == VIT_OK)
        status = vit_model_file_read(&c->model, &opened,
                                     &(vit_wanted){.config = o->config,
                                                   .emulate = o->emulate,
                                                   .labels = in_words ? NULL : o->labels,
                                                   .words = in_words ? &words : NULL},
                                     error);
    vit_prompt_head_clear(&words);
    vit_opened_close(&opened);
    return status;
}

static vit_status convert(conversion *c, vit_error *error) {
    const vit_convert_options *o = c->options;
    vit_status status = check_options(c, error);
    if (status == VIT_OK) status = load(c, error);
    if (status == VIT_OK && o->calibrate) status = vit_migrate_outliers(&c->model, o, error);
    if (status != VIT_OK) return status;
    if (o->layout && c->target == VIT_TARGET_HF && c->model.tokenizer)
        return vit_convert_reader(o->in, o->out, &c->model, c->dtype, error);
    if (o->layout &&
        (vit_config_has_decoder(&c->model.config) || !vit_config_takes_pictures(&c->model.config)))
        return vit_fail(error, VIT_ERROR_UNSUPPORTED,
                        "%s: reads or writes texts, and the layout \"%s\" is for what classifies "
                        "pictures%s",
                        o->in, o->layout,
                        c->model.tokenizer
                            ? ": --layout hf writes it as it is published, with smaller weights"
                            : ": without --layout it becomes a file of this library");
    return o->layout ? export(c, error)
                     : vit_model_file_save_as(o->out, &c->model, c->dtype, error);
}

vit_status vit_convert(const vit_convert_options *options, vit_error *error) {
    VIT_ENTRY;
    return vit_convert_zero_shot(options, NULL, 0, error);
}

vit_status vit_convert_zero_shot(const vit_convert_options *options, const char *const *templates,
                                 size_t template_count, vit_error *error) {
    VIT_ENTRY;
    const vit_convert_options none = {0};
    conversion c = {.options = options ? options : &none, .templates = {templates, template_count}};
    const vit_status status = convert(&c, error);
    vit_description_clear(&c.description);
    vit_rounded_tensors_free(&c.rounded);
    vit_exported_free(&c.exported);
    vit_free(c.encoded);
    vit_model_file_clear(&c.model);
    return status;
}
