#include "vit/base/fpmode.h"
#include "vit/base/size.h"
#include "vit/base/sys.h"
#include "vit/tensors/npz_write.h"
#include "vit/weights/describe.h"
#include "vit/weights/layout_save.h"
#include "vit/weights/published.h"

#include <stdio.h>
#include <string.h>

/* The words of the options. */
static const char *const type_names[] = {"f32", "bf16", "f16", NULL};
static const vit_dtype types[] = {VIT_F32, VIT_BF16, VIT_F16};
VIT_CHECK_ROWS(type_names, sizeof types / sizeof *types + 1);

/* What each target's tensors are called, and its file of weights. */
static const char *const layouts[] = {"timm", "Hugging Face", "torchvision", "Google"};
static const char *const files[] = {"model.safetensors", "model.safetensors", "model.safetensors",
                                    "model.npz"};
VIT_CHECK_ROWS(layouts, VIT_TARGET_COUNT);
VIT_CHECK_ROWS(files, VIT_TARGET_COUNT);
static const char config_name[] = "config.json";
static const char processor_name[] = "preprocessor_config.json";

typedef struct conversion {
    const vit_convert_options *options;
    vit_target target;
    vit_dtype dtype;
    vit_model_file model;
    vit_description description;
    vit_exported exported;
    void *encoded; /* the elements in another type */
} conversion;

static vit_status find_word(int *index, const char *word, const char *const *words,
                            const char *what, const char *expected, vit_error *error) {
    for (*index = 0; words[*index]; ++*index)
        if (strcmp(word, words[*index]) == 0) return VIT_OK;
    return vit_fail(error, VIT_ERROR_ARGUMENT, "the %s is \"%s\", expected %s", what, word,
                    expected);
}

static vit_status check_options(conversion *c, vit_error *error) {
    const vit_convert_options *o = c->options;
    int type = 0, target = 0;
    vit_status status =
        find_word(&type, o->type ? o->type : "f32", type_names, "type", "f32, bf16 or f16", error);
    if (status == VIT_OK && o->layout)
        status = find_word(&target, o->layout, vit_target_names, "layout",
                           "timm, hf, torchvision or npz", error);
    if (status != VIT_OK) return status;
    c->dtype = types[type];
    c->target = (vit_target)target;
    if (o->layout && (vit_path_look(o->out) != VIT_PATH_NONE || vit_path_is_link(o->out)))
        return vit_fail(error, VIT_ERROR_ARGUMENT,
                        "%s is there already: name a directory that is not, which is then made",
                        o->out);
    return VIT_OK;
}

/* ---- what the layout cannot say ---- */

static void note(const conversion *c, const char *text) {
    if (c->options->note) c->options->note(text, c->options->user);
}

/* `what` is a sentence's end: said when forced, else the reason to stop. */
static vit_status lose(const conversion *c, const char *what, vit_error *error) {
    vit_error message;
    const char *name = c->options->layout;
    if (!c->options->force)
        return vit_fail(error, VIT_ERROR_UNSUPPORTED,
                        "%s: the layout \"%s\" cannot say all of this model: %s; to write it "
                        "without that is --force",
                        c->options->in, name, what);
    vit_fail(&message, VIT_ERROR_UNSUPPORTED, "what the layout \"%s\" cannot say is lost: %s", name,
             what);
    note(c, message.message);
    return VIT_OK;
}

static vit_status check_loss(const conversion *c, vit_error *error) {
    const vit_exported *e = &c->exported;
    vit_status status = VIT_OK;
    char text[160];
    if (c->description.reasons.length > 0) status = lose(c, c->description.reasons.text, error);
    if (status == VIT_OK && e->lost_count > 0) {
        snprintf(text, sizeof text, "it has no place for tensor %s%s", e->lost,
                 e->lost_count > 1 ? " and others" : "");
        status = lose(c, text, error);
    }
    if (status == VIT_OK && c->description.notes.length > 0) note(c, c->description.notes.text);
    return status;
}

/* ---- writing ---- */

static vit_status write_text(const char *path, const vit_text *text, vit_error *error) {
    vit_writer *writer;
    vit_status status = vit_writer_open(&writer, path, error);
    if (status != VIT_OK) return status;
    status = vit_writer_put(writer, text->text, text->length, error);
    if (status == VIT_OK) return vit_writer_commit(writer, error);
    vit_writer_abort(writer);
    return status;
}

static vit_status write_weights(const conversion *c, const char *path, vit_error *error) {
    const vit_exported *e = &c->exported;
    return c->target == VIT_TARGET_NPZ
               ? vit_npz_write(path, e->tensors, e->count, error)
               : vit_safetensors_write(path, e->tensors, e->count, NULL, 0, error);
}

/* The names of the files; those beyond `count` of them are not of this layout. */
static size_t file_names(const conversion *c, const char *names[3]) {
    names[0] = files[c->target];
    names[1] = config_name;
    names[2] = processor_name;
    return c->description.processor.length > 0 ? 3 : 2;
}

static vit_status write_file(const conversion *c, size_t i, const char *name, vit_error *error) {
    char *path = vit_path_join(c->options->out, name);
    if (!path) return vit_fail_memory(error, "a path", strlen(name));
    const vit_status status =
        i == 0
            ? write_weights(c, path, error)
            : write_text(path, i == 1 ? &c->description.config : &c->description.processor, error);
    vit_free(path);
    return status;
}

/* After a failure: the directory is this call's own. */
static void remove_files(const conversion *c) {
    const char *names[3];
    const size_t count = file_names(c, names);
    for (size_t i = 0; i < count; i++) {
        char *path = vit_path_join(c->options->out, names[i]);
        if (path) vit_remove_file(path, NULL);
        vit_free(path);
    }
    vit_remove_directory(c->options->out, NULL);
}

static vit_status write_directory(const conversion *c, vit_error *error) {
    const char *names[3];
    const size_t count = file_names(c, names);
    vit_status status = vit_make_directory(c->options->out, error);
    if (status != VIT_OK) return status;
    for (size_t i = 0; i < count && status == VIT_OK; i++)
        status = write_file(c, i, names[i], error);
    if (status != VIT_OK) remove_files(c);
    return status;
}

/* ---- the whole ---- */

static vit_status export(conversion *c, vit_error *error) {
    vit_model_file *m = &c->model;
    vit_exported *e = &c->exported;
    vit_status status = vit_describe(&c->description, c->target, m, error);
    if (status == VIT_OK)
        status = vit_export(e, vit_layout_find(layouts[c->target]), &m->config, &m->table,
                            m->values, error);
    if (status == VIT_OK) status = check_loss(c, error);
    if (status == VIT_OK && c->dtype != VIT_F32)
        status = vit_tensors_encode(e->tensors, e->count, c->dtype, &c->encoded, error);
    return status == VIT_OK ? write_directory(c, error) : status;
}

static vit_status convert(conversion *c, vit_error *error) {
    const vit_convert_options *o = c->options;
    vit_status status = check_options(c, error);
    if (status == VIT_OK)
        status = vit_published_load(&c->model, o->in, &(vit_wanted){.config = o->config}, error);
    if (status != VIT_OK) return status;
    return o->layout ? export(c, error)
                     : vit_model_file_save_as(o->out, &c->model, c->dtype, error);
}

vit_status vit_convert(const vit_convert_options *options, vit_error *error) {
    conversion c = {.options = options};
    const vit_fpmode host = vit_fpmode_enter();
    const vit_status status = convert(&c, error);
    vit_fpmode_leave(host);
    vit_description_clear(&c.description);
    vit_exported_free(&c.exported);
    vit_free(c.encoded);
    vit_model_file_clear(&c.model);
    return status;
}
