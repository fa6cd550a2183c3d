/* Classes in words: labels, each in every template, as the rows of a head. */
#include "vit/api/embedder.h"
#include "vit/api/prompts.h"
#include "vit/base/order.h"
#include "vit/base/size.h"
#include "vit/base/sys.h"
#include "vit/base/text.h"
#include "vit/formats/label_list.h"
#include "vit/ops/unit.h"
#include "vit/weights/file/labels.h"
#include "vit/weights/text_encoder.h"
#include "vit/zero_shot.h"
#include <stdlib.h>
#include <string.h>

#define TEXTS_AT_ONCE 1024 /* of which the features are in memory */

/* ---- labels ---- */

/* The names between commas, without the spaces around them. */
static vit_status split_labels(vit_label_list *out, const char *text, vit_error *error) {
    vit_string lines = {0};
    vit_status status = VIT_OK;
    for (const char *at = text; status == VIT_OK && at;) {
        const size_t length = strcspn(at, ",");
        size_t from = 0, to = length;
        while (from < to && at[from] == ' ') from++;
        while (to > from && at[to - 1] == ' ') to--;
        if (from == to)
            status = vit_fail(error, VIT_ERROR_ARGUMENT,
                              "labels \"%.200s\": one of them is empty: write them as cat,dog, or "
                              "one a line into a file",
                              text);
        vit_string_add_bytes(&lines, at + from, to - from);
        vit_string_add(&lines, "\n");
        at = at[length] ? at + length + 1 : NULL;
    }
    if (status == VIT_OK && lines.failed) status = vit_fail_memory(error, "labels", strlen(text));
    if (status == VIT_OK)
        status = vit_label_list_lines(out, lines.text, lines.length, "labels", error);
    vit_string_free(&lines);
    return status;
}

static vit_status check_labels(const vit_label_list *n, vit_error *error) {
    const char **sorted = vit_alloc(n->count, sizeof *sorted);
    vit_status status = VIT_OK;
    if (!sorted) return vit_fail_memory(error, "labels", n->count * sizeof *sorted);
    for (size_t i = 0; i < n->count; i++) sorted[i] = n->labels[i];
    qsort(sorted, n->count, sizeof *sorted, vit_compare_texts);
    for (size_t i = 0; i < n->count && status == VIT_OK; i++) {
        if (!*sorted[i])
            status = vit_fail(error, VIT_ERROR_ARGUMENT, "a label is empty: write a word there");
        else if (i > 0 && strcmp(sorted[i], sorted[i - 1]) == 0)
            status = vit_fail(error, VIT_ERROR_ARGUMENT,
                              "the label \"%.200s\" is there twice: leave one out", sorted[i]);
    }
    vit_free(sorted);
    return status;
}

/* Whether it is a path, even of nothing: a list of labels has commas, or is one word. */
static bool is_path(const char *labels) {
    if (vit_path_look(labels) != VIT_PATH_NONE) return true;
    return !strchr(labels, ',') && (strchr(labels, '/') || strchr(labels, '.'));
}

static vit_status read_labels(vit_label_list *out, const char *labels, vit_error *error) {
    vit_status status;
    *out = (vit_label_list){0};
    if (strcmp(labels, "imagenet-1k") == 0) {
        status = vit_labels_imagenet(out, error);
    } else if (is_path(labels)) {
        status = vit_label_list_read(out, labels, error);
        if (status == VIT_ERROR_IO) vit_fail_prefix(error, status, "labels");
    } else {
        status = split_labels(out, labels, error);
    }
    return status == VIT_OK ? check_labels(out, error) : status;
}

/* ---- templates ---- */

static const char place[] = "{}";

/* The seven of vit_imagenet_templates that CLIP's authors found to do nearly as well. */
static const char *const simple_templates[] = {"itap of a {}.\n",
                                               "a bad photo of the {}.\n",
                                               "a origami {}.\n",
                                               "a photo of the large {}.\n",
                                               "a {} in a video game.\n",
                                               "art of the {}.\n",
                                               "a photo of the small {}.\n",
                                               NULL};

static const struct {
    const char *name;
    const char *const *lines; /* each with a newline; ended by NULL */
} named_templates[] = {{"imagenet", vit_imagenet_templates}, {"imagenet-simple", simple_templates}};

static vit_status read_lines(vit_label_list *out, const char *const *lines, const char *name,
                             vit_error *error) {
    vit_string text = {0};
    for (size_t i = 0; lines[i]; i++) vit_string_add(&text, "%s", lines[i]);
    const vit_status status = text.failed
                                  ? vit_fail_memory(error, name, text.length)
                                  : vit_label_list_lines(out, text.text, text.length, name, error);
    vit_string_free(&text);
    return status;
}

/* A template, the name of several, or a file of templates: one a line. */
static vit_status read_template(vit_label_list *out, const char *text, vit_error *error) {
    if (strstr(text, place)) {
        out->count = 1;
        return vit_labels_copy(&out->labels, &text, 1, error);
    }
    for (size_t i = 0; i < VIT_COUNT(named_templates); i++)
        if (strcmp(text, named_templates[i].name) == 0)
            return read_lines(out, named_templates[i].lines, text, error);
    if (vit_path_look(text) == VIT_PATH_FILE) return vit_label_list_read_texts(out, text, error);
    return vit_fail(error, VIT_ERROR_ARGUMENT,
                    "the template \"%.200s\" has no {}, where the label goes, and no file is "
                    "called so: expected one such as \"a photo of a {}\", or imagenet or "
                    "imagenet-simple",
                    text);
}

static vit_status check_template(const char *text, vit_error *error) {
    const char *found = strstr(text, place);
    if (found && !strstr(found + 1, place)) return VIT_OK;
    return vit_fail(error, VIT_ERROR_ARGUMENT,
                    "the template \"%.200s\" must have one {}, where the label goes", text);
}

/* The parts, one after the other. */
static vit_status join_templates(vit_label_list *out, const vit_label_list *parts, size_t count,
                                 vit_error *error) {
    size_t all = 0, at = 0;
    vit_status status = VIT_OK;
    for (size_t i = 0; i < count; i++) all += parts[i].count;
    const char **list = vit_alloc(all, sizeof *list);
    if (!list) return vit_fail_memory(error, "templates", all * sizeof *list);
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < parts[i].count && status == VIT_OK; k++) {
            list[at++] = parts[i].labels[k];
            status = check_template(parts[i].labels[k], error);
        }
    out->count = all;
    if (status == VIT_OK) status = vit_labels_copy(&out->labels, list, all, error);
    vit_free(list);
    return status;
}

/* All templates; without any, "{}". */
static vit_status read_templates(vit_label_list *out, const vit_prompt_labels *w,
                                 vit_error *error) {
    static const char *const alone[] = {place};
    const char *const *from = w->template_count > 0 ? w->templates : alone;
    const size_t count = vit_max(w->template_count, 1);
    vit_label_list *parts = vit_alloc(count, sizeof *parts);
    vit_status status = VIT_OK;
    *out = (vit_label_list){0};
    if (!parts) return vit_fail_memory(error, "templates", count * sizeof *parts);
    for (size_t i = 0; i < count && status == VIT_OK; i++)
        status = read_template(&parts[i], from[i], error);
    if (status == VIT_OK) status = join_templates(out, parts, count, error);
    for (size_t i = 0; i < count; i++) vit_free(parts[i].labels);
    vit_free(parts);
    return status;
}

/* ---- features ---- */

static char *fill_in(const char *template, const char *label) {
    const char *at = strstr(template, place);
    vit_string text = {0};
    vit_string_add_bytes(&text, template, (size_t)(at - template));
    vit_string_add(&text, "%s%s", label, at + strlen(place));
    if (!text.failed) return text.text;
    vit_string_free(&text);
    return NULL;
}

/* sums: [count][width] += the features of some labels in one template, each of length 1. */
static vit_status add_features(double *sums, vit_embedder *words, const char *template,
                               char *const *labels, size_t count, float *features,
                               vit_error *error) {
    const vit_embed_texts_options unit = {.unit = true};
    const size_t width = vit_embedder_describe(words).features;
    char *texts[TEXTS_AT_ONCE] = {0};
    vit_status status = VIT_OK;
    for (size_t i = 0; i < count && status == VIT_OK; i++) {
        texts[i] = fill_in(template, labels[i]);
        if (!texts[i]) status = vit_fail_memory(error, "a text", strlen(template));
    }
    if (status == VIT_OK)
        status = vit_embed_texts(words, (const char *const *)texts, count, &unit, features, error);
    for (size_t i = 0; i < count * width && status == VIT_OK; i++) sums[i] += (double)features[i];
    for (size_t i = 0; i < count; i++) vit_free(texts[i]);
    return status;
}

/* h->rows = scale times the mean over the templates, of length 1. */
static vit_status embed_labels(vit_prompt_head *h, vit_embedder *words,
                               const vit_label_list *templates, vit_error *error) {
    const double scale = vit_embedder_describe(words).scale;
    const size_t most = vit_min(h->count, TEXTS_AT_ONCE);
    float *features = vit_alloc_unset(most, h->width * sizeof *features);
    double *sums = vit_alloc(most, h->width * sizeof *sums);
    vit_status status = VIT_OK;
    if (!features || !sums)
        status = vit_fail_memory(error, "features of labels", most * h->width * sizeof *sums);
    for (size_t first = 0; first < h->count && status == VIT_OK; first += most) {
        const size_t count = vit_min(most, h->count - first), values = count * h->width;
        float *rows = h->rows + first * h->width;
        memset(sums, 0, values * sizeof *sums);
        for (size_t t = 0; t < templates->count && status == VIT_OK; t++)
            status = add_features(sums, words, templates->labels[t], h->labels + first, count,
                                  features, error);
        for (size_t i = 0; i < values; i++) rows[i] = (float)(sums[i] / (double)templates->count);
        vit_unit_forward(rows, rows, count, h->width);
        for (size_t i = 0; i < values; i++) rows[i] = (float)(scale * (double)rows[i]);
    }
    vit_free(features);
    vit_free(sums);
    return status;
}

/* ARGUMENT for one class of a model whose classes share a probability of 1. */
static vit_status check_count(const vit_prompt_head *h, vit_error *error) {
    if (h->count > 1 || h->has_bias) return VIT_OK; /* a sigmoid is of each alone */
    return vit_fail(error, VIT_ERROR_ARGUMENT,
                    "labels: \"%.200s\" is the only class, and CLIP compares classes: the "
                    "probability of one is always 1. Add what it could be otherwise, such as "
                    "--labels \"%.200s,something else\"",
                    h->labels[0], h->labels[0]);
}

static vit_status make_head(vit_prompt_head *h, vit_opened *opened, const vit_prompt_labels *w,
                            vit_error *error) {
    const vit_embedder_options options = {
        .config = w->config, .emulate = w->emulate, .cpu = w->cpu};
    vit_embedder *words = NULL;
    vit_label_list labels = {0}, templates = {0};
    *h = (vit_prompt_head){0};
    vit_status status = read_labels(&labels, w->labels, error);
    h->labels = labels.labels;
    h->count = labels.count;
    if (status == VIT_OK) status = read_templates(&templates, w, error);
    h->templates = templates.labels;
    h->template_count = templates.count;
    if (status == VIT_OK) status = vit_embedder_new(&words, opened, &options, error);
    if (status == VIT_OK) {
        const vit_embedder_info info = vit_embedder_describe(words);
        h->width = info.features;
        h->scoring = info.scoring;
        h->has_bias = info.scoring == VIT_SCORING_SIGMOID;
        h->bias = (float)info.bias;
        status = check_count(h, error);
    }
    if (status == VIT_OK) {
        h->rows = vit_alloc_unset(h->count, h->width * sizeof *h->rows);
        status = h->rows ? embed_labels(h, words, &templates, error)
                         : vit_fail_memory(error, "features of labels", h->count * h->width);
    }
    vit_embedder_free(words);
    return status;
}

static vit_status is_wanted(bool *wanted, vit_opened *opened, const vit_prompt_labels *w,
                            vit_error *error) {
    *wanted = opened->path && w->labels && vit_text_encoder_is_in(opened, w->config);
    if (*wanted || w->template_count == 0) return VIT_OK;
    return vit_fail(error, VIT_ERROR_ARGUMENT,
                    w->labels ? "a template is for labels in words, and the model has classes of "
                                "its own: leave --template out, or take a CLIP or SigLIP model"
                              : "a template is for labels in words: add --labels, such as "
                                "--labels cat,dog");
}

static vit_status head(vit_prompt_head *out, bool *wanted, vit_opened *opened,
                       const vit_prompt_labels *labels, vit_error *error) {
    const vit_status status = is_wanted(wanted, opened, labels, error);
    return status == VIT_OK && *wanted ? make_head(out, opened, labels, error) : status;
}

const vit_prompts_guest vit_prompts_as_classes = {head};
