/* vit-info: shows what is in a file of weights. */
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "vit/base/size.h"
#include "vit/base/sys.h"
#include "vit/cli/models/models.h"
#include "vit/cli/parts/program.h"
#include "vit/formats/json.h"
#include "vit/texts.h"

typedef struct settings {
    vit_model_choice from;
    bool tensors, json;
} settings;

static const vit_option options[] = {
    {.kind = VIT_OPTION_GROUP, .help = "The answer"},
    {VIT_FLAG("tensors", tensors), .help = "also each tensor: name, type, shape, and minimum,\n"
                                           "maximum, mean and standard deviation of its elements"},
    {VIT_FLAG("json", json), .help = "one JSON object a line for each file"},
    {.kind = VIT_OPTION_GROUP, .help = "What is read"},
    {VIT_OPTION(TEXT, "config", from.config, "FILE"),
     .help = "in place of the config.json beside the weights"},
    VIT_EMULATE_OPTION(settings),
    VIT_LABELS_OPTION(settings),
};

static const vit_command command = {
    .name = "vit-info",
    .usage = "usage: vit-info [OPTION...] FILE...\n"
             "\n"
             "Shows what is in a file of weights: network, preprocessing, labels and training.\n"
             "FILE is safetensors, .npz or PyTorch's .pth, the index of a sharded checkpoint,\n"
             "a directory that contains one of them, or the name of a model.\n"
             "\n"
             "  vit-info mnist\n"
             "  vit-info --tensors vit_base_patch16_224/\n",
    .operands = "FILE",
    .notes = "The tensors of a file can be listed even if its network is not known.\n"
             "Exit status: 0 done, 1 a file failed, 2 wrong usage.\n",
    .options = options,
    .option_count = sizeof options / sizeof options[0],
};

/* A file, and the model in it, if it is one. */
typedef struct subject {
    vit_tensor_list *list;
    vit_model *model; /* NULL: it is none, for the reason in `error` */
    vit_model_info info;
    vit_text_info texts;
    vit_error error;
} subject;

static vit_status open_subject(subject *s, const char *name, const settings *choice) {
    char *path;
    vit_status status = vit_find_model(&path, name, &s->error);
    if (status != VIT_OK) return status;
    status = vit_tensor_list_load(&s->list, path, &s->error);
    vit_model_options opening;
    if (status == VIT_OK) status = vit_chosen_model_options(&opening, &choice->from, &s->error);
    if (status == VIT_OK && vit_model_load_with(&s->model, path, &opening, &s->error) == VIT_OK) {
        s->info = vit_model_describe(s->model);
        s->texts = vit_text_describe(s->model);
    }
    vit_free(path);
    return status;
}

/* ---- JSON ---- */

/* A tensor of a type that is not read (UNSUPPORTED) has no statistics; other errors are returned.
 */
static vit_status add_tensor_json(vit_json_out *json, subject *s, size_t index) {
    const vit_tensor_info t = vit_tensor_list_at(s->list, index);
    vit_tensor_statistics m;
    vit_status status = vit_tensor_list_measure(s->list, index, &m, &s->error);
    vit_json_open(json, NULL, '{');
    vit_json_text(json, "name", t.name);
    vit_json_text(json, "type", t.type);
    vit_json_counts(json, "shape", t.shape, t.dims);
    if (status == VIT_OK) {
        vit_json_number(json, "min", m.min);
        vit_json_number(json, "max", m.max);
        vit_json_number(json, "mean", m.mean);
        vit_json_number(json, "std", m.std);
        vit_json_count(json, "not_finite", t.count - m.finite);
    }
    vit_json_close(json, '}');
    return status == VIT_ERROR_UNSUPPORTED ? VIT_OK : status;
}

static void add_model_json(vit_json_out *json, const subject *s) {
    vit_json_raw(json, "config", s->info.config);
    vit_json_count(json, "parameters", s->info.parameters);
    vit_json_count(json, "multiply_adds", s->info.multiply_adds);
    vit_json_raw(json, "preprocessing", s->info.preprocessing);
    vit_json_number(json, "temperature", s->info.temperature);
    vit_json_number(json, "threshold", s->info.threshold);
    vit_json_text(json, "precision", vit_precision_names[s->info.precision]);
    vit_json_raw(json, "recipe", s->info.recipe);
    vit_json_open(json, "labels", '[');
    for (size_t i = 0; s->info.has_head && i < s->info.classes; i++)
        vit_json_text(json, NULL, vit_model_label(s->model, i));
    vit_json_close(json, ']');
}

static vit_status show_json(const settings *choice, subject *s, const char *name, bool *written) {
    vit_json_out json = {0};
    vit_status status = s->model ? VIT_OK : s->error.status;
    vit_json_open(&json, NULL, '{');
    vit_json_text(&json, "name", name);
    vit_json_text(&json, "file", vit_tensor_list_path(s->list));
    vit_json_text(&json, "kind", vit_tensor_list_kind(s->list));
    if (s->model)
        add_model_json(&json, s);
    else
        vit_json_text(&json, "error", s->error.message);
    if (choice->tensors) {
        vit_status read = VIT_OK;
        vit_json_open(&json, "tensors", '[');
        for (size_t i = 0; i < vit_tensor_list_count(s->list) && read == VIT_OK; i++)
            read = add_tensor_json(&json, s, i);
        vit_json_close(&json, ']');
        status = read != VIT_OK ? read : status;
    }
    vit_json_close(&json, '}');
    *written = vit_print_json(&command, &json);
    return status;
}

/* ---- text ---- */

static void add_title(vit_string *text, const char *title) {
    vit_string_add(text, "  %-13s ", title);
}

static void add_scalar(vit_string *text, const json_t *value) {
    char number[32];
    if (json_is_string(value)) {
        vit_string_add_visible(text, json_string_value(value), 0);
    } else if (json_is_number(value)) {
        vit_string_add(text, "%s", vit_format_double(number, json_number_value(value)));
    } else {
        vit_string_add(text, "%s",
                       json_is_true(value)    ? "yes"
                       : json_is_false(value) ? "no"
                                              : "...");
    }
}

/* Key and value without JSON's punctuation: "background 255 255 255". */
static void add_pair(vit_string *text, const char *key, const json_t *value) {
    vit_string_add_visible(text, key, 0);
    if (!json_is_array(value)) {
        vit_string_add(text, " ");
        add_scalar(text, value);
    }
    for (size_t i = 0; i < json_array_size(value); i++) {
        vit_string_add(text, " ");
        add_scalar(text, json_array_get(value, i));
    }
}

/* Each operation on a line. */
static void add_preprocessing(vit_string *text, const char *list) {
    json_t *operations = json_loads(list, 0, NULL), *operation, *value;
    const char *key;
    size_t i;
    json_array_foreach(operations, i, operation) {
        add_title(text, i == 0 ? "preprocessing" : "");
        add_scalar(text, json_object_get(operation, "op"));
        json_object_foreach(operation, key, value) {
            if (strcmp(key, "op") == 0) continue;
            vit_string_add(text, " ");
            add_pair(text, key, value);
        }
        vit_string_add(text, "\n");
    }
    json_decref(operations);
}

/* The members of an object, four on a line, but no objects and nothing that `hidden` names. */
static void add_members(vit_string *text, const char *title, const char *object,
                        const char *const *hidden) {
    json_t *members = json_loads(object, 0, NULL), *value;
    const char *key;
    size_t count = 0;
    json_object_foreach(members, key, value) {
        size_t h = 0;
        while (hidden[h] && strcmp(hidden[h], key) != 0) h++;
        if (hidden[h] || json_is_object(value)) continue;
        vit_string_add(text, "%s", count == 0 ? "" : count % 4 == 0 ? ",\n" : ", ");
        if (count % 4 == 0) add_title(text, count == 0 ? title : "");
        add_pair(text, key, value);
        count++;
    }
    vit_string_add(text, "%s", count > 0 ? "\n" : "");
    json_decref(members);
}

static void add_labels(vit_string *text, const subject *s) {
    enum { SHOWN = 10 };
    char number[32];
    add_title(text, "classes");
    if (!s->info.has_head) {
        vit_string_add(text, "none: a backbone of %s features\n",
                       vit_format_count(number, s->info.features));
        return;
    }
    vit_string_add(text, "%s:", vit_format_count(number, s->info.classes));
    for (size_t i = 0; i < s->info.classes && i < SHOWN; i++) {
        vit_string_add(text, "%s ", i > 0 ? "," : "");
        vit_string_add_visible(text, vit_model_label(s->model, i), 0);
    }
    vit_string_add(text, "%s\n", s->info.classes > SHOWN ? ", ..." : "");
}

/* The decoder, and how it writes a text. */
static void add_decoder(vit_string *text, const subject *s) {
    static const char *const hidden[] = {NULL};
    static const char *const stops[] = {"false", "true", "never"};
    VIT_CHECK_ROWS(stops, VIT_EARLY_STOPPING_COUNT);
    const vit_text_info *t = &s->texts;
    json_t *config = json_loads(s->info.config, 0, NULL);
    char *decoder = json_dumps(json_object_get(config, "decoder"), 0);
    if (decoder) add_members(text, "decoder", decoder, hidden);
    free(decoder);
    json_decref(config);
    add_title(text, "writes");
    if (t->beams > 1)
        vit_string_add(text, "by %zu beams, length penalty %g, early stopping %s, ", t->beams,
                       t->length_penalty, stops[t->early_stopping]);
    else
        vit_string_add(text, "greedily, ");
    if (t->no_repeat > 0) vit_string_add(text, "no %zu tokens twice, ", t->no_repeat);
    vit_string_add(text, "to %zu tokens", t->length);
    if (t->tokens > 0) vit_string_add(text, "; a tokenizer of %zu", t->tokens);
    vit_string_add(text, "\n");
}

static void add_probabilities(vit_string *text, const vit_model_info *m) {
    char number[32];
    add_title(text, "probabilities");
    switch (m->scoring) {
    case VIT_SCORING_SOFTMAX:
        vit_string_add(text, "softmax(logits / %s)", vit_format_fixed(number, m->temperature, 3));
        break;
    case VIT_SCORING_SIGMOID:
        vit_string_add(text, "sigmoid of each logit, as classes do not exclude each other");
        break;
    case VIT_SCORING_NONE:
    case VIT_SCORING_COUNT:
        vit_string_add(text, "none: the logits are the numbers of a regression");
        break;
    }
    if (m->threshold > 0)
        vit_string_add(text, ", below %s %% an answer is below the threshold",
                       vit_format_fixed(number, 100 * m->threshold, 2));
    vit_string_add(text, "\n");
}

static void add_precision(vit_string *text, vit_precision precision) {
    if (precision == VIT_PRECISION_F32) return;
    add_title(text, "answers");
    vit_string_add(text, "in %s, as the weights of the blocks are stored\n",
                   vit_precision_names[precision]);
}

static void add_model(vit_string *text, const subject *s) {
    static const char *const sizes[] = {"image", "channels", "patch",   "dim", "depth",
                                        "heads", "mlp",      "classes", NULL};
    static const char *const digests[] = {"data_sha256", "corrected_sha256", "joined_sha256", NULL};
    const vit_model_info *m = &s->info;
    char number[32];
    if (s->texts.reads_pictures) {
        add_title(text, "pictures");
        vit_string_add(text, "%zux%zux%zu, patches of %zux%zu\n", m->height, m->width, m->channels,
                       m->patch, m->patch);
    }
    add_title(text, "network");
    vit_string_add(text, "dim %zu, depth %zu, heads %zu, mlp %zu\n", m->dim, m->depth, m->heads,
                   m->mlp);
    add_members(text, "", m->config, sizes);
    if (s->texts.writes) add_decoder(text, s);
    add_title(text, "parameters");
    vit_string_add(text, "%s\n", vit_format_count(number, m->parameters));
    add_title(text, "multiply-adds");
    vit_string_add(text, "%s a %s\n", vit_format_count(number, m->multiply_adds),
                   s->texts.writes ? "text" : "picture");
    add_precision(text, m->precision);
    if (!s->texts.writes) add_labels(text, s);
    add_preprocessing(text, m->preprocessing);
    if (!s->texts.writes && m->has_head) add_probabilities(text, m);
    add_members(text, "origin", m->recipe, digests);
}

/* A tensor on a line. */
static vit_status add_tensor(vit_string *text, subject *s, size_t index, size_t width) {
    const vit_tensor_info t = vit_tensor_list_at(s->list, index);
    vit_tensor_statistics m;
    vit_string shape = {0};
    const vit_status status = vit_tensor_list_measure(s->list, index, &m, &s->error);
    for (size_t i = 0; i < t.dims; i++)
        vit_string_add(&shape, "%s%zu", i > 0 ? "x" : "", t.shape[i]);
    vit_string_add(text, "  ");
    vit_string_add_visible(text, t.name, width);
    vit_string_add(text, "  %-4s  %-16s", t.type, shape.length > 0 ? shape.text : "scalar");
    const double numbers[] = {m.min, m.max, m.mean, m.std};
    for (size_t i = 0; i < 4 && status == VIT_OK; i++) {
        if (isfinite(numbers[i]))
            vit_string_add(text, " %11.4g", numbers[i]);
        else
            vit_string_add(text, " %11s", "-");
    }
    if (status == VIT_OK && m.finite < t.count)
        vit_string_add(text, "  %zu not finite", t.count - m.finite);
    vit_string_add(text, "\n");
    vit_string_free(&shape);
    return status == VIT_ERROR_UNSUPPORTED ? VIT_OK : status;
}

static vit_status add_tensors(vit_string *text, subject *s) {
    size_t width = strlen("tensor");
    vit_status status = VIT_OK;
    for (size_t i = 0; i < vit_tensor_list_count(s->list); i++)
        width = vit_max(width, vit_display_columns(vit_tensor_list_at(s->list, i).name));
    width = vit_min(width, 60);
    vit_string_add(text, "  ");
    vit_string_add_visible(text, "tensor", width);
    vit_string_add(text, "  type  %-16s %11s %11s %11s %11s\n", "shape", "min", "max", "mean",
                   "std");
    for (size_t i = 0; i < vit_tensor_list_count(s->list) && status == VIT_OK; i++)
        status = add_tensor(text, s, i, width);
    return status;
}

static vit_status show_text(const settings *choice, subject *s, const char *name, bool *written) {
    vit_string text = {0};
    const size_t count = vit_tensor_list_count(s->list);
    vit_status status = s->model ? VIT_OK : s->error.status;
    if (!s->model) vit_say(&command, "%s", s->error.message);
    vit_string_add_visible(&text, name, 0);
    vit_string_add(&text, "\n");
    add_title(&text, "file");
    vit_string_add_visible(&text, vit_tensor_list_path(s->list), 0);
    vit_string_add(&text, ": %s, %zu tensor%s\n", vit_tensor_list_kind(s->list), count,
                   count == 1 ? "" : "s");
    if (s->model) add_model(&text, s);
    if (choice->tensors) {
        const vit_status read = add_tensors(&text, s);
        if (read != VIT_OK) vit_say(&command, "%s", s->error.message);
        status = read != VIT_OK ? read : status;
    }
    *written = vit_print(&command, &text);
    return status;
}

/* ---- a file ---- */

static bool show(const settings *choice, const char *name) {
    subject s = {0};
    bool written = true;
    vit_status status = open_subject(&s, name, choice);
    if (status != VIT_OK)
        vit_say(&command, "%s", s.error.message);
    else
        status = (choice->json ? show_json : show_text)(choice, &s, name, &written);
    vit_model_free(s.model);
    vit_tensor_list_free(s.list);
    return status == VIT_OK && written;
}

int main(int argc, char **argv) {
    settings s = {0};
    int exit_status;
    if (!vit_program_start(&command, &s, &argc, argv, &exit_status)) return exit_status;
    if (argc == 1) return vit_say_usage(&command, "no file is named: give FILE...");
    for (int i = 1; i < argc; i++)
        if (!show(&s, argv[i])) exit_status = VIT_EXIT_FAILED;
    return vit_program_end(&command, exit_status);
}
