#include "vit/cli/serve/answer/zero_shot.h"

#include <math.h>
#include <string.h>

#include "vit/base/size.h"
#include "vit/base/sys.h"
#include "vit/cli/serve/answer/classify.h"
#include "vit/cli/serve/answer/texts.h"

enum { MOST_LABELS = 1000 };

/* The labels of a request, their prompts, and what is computed of them. */
typedef struct labels {
    const json_t *list;
    size_t count;
    const char **prompts; /* [count], each owned */
    float *features;      /* [count][features] */
    float *scores;        /* [count] of one picture */
    size_t *best;         /* [count] */
} labels;

static void free_labels(labels *l) {
    for (size_t i = 0; l->prompts && i < l->count; i++) vit_free((void *)(uintptr_t)l->prompts[i]);
    void *const arrays[] = {l->prompts, l->features, l->scores, l->best};
    for (size_t i = 0; i < VIT_COUNT(arrays); i++) vit_free(arrays[i]);
}

static const char *label_at(const labels *l, size_t i) {
    return json_string_value(json_array_get(l->list, i));
}

/* The template with the label in place of its {}; NULL: no memory. */
static char *write_prompt(const char *template, const char *label) {
    const char *hole = strstr(template, "{}");
    vit_string text = {0};
    vit_string_add_bytes(&text, template, (size_t)(hole - template));
    vit_string_add_bytes(&text, label, strlen(label));
    vit_string_add_bytes(&text, hole + 2, strlen(hole + 2));
    if (text.failed) vit_string_free(&text);
    return text.text;
}

static bool check_labels(const labels *l, const char *template, serve_reply *reply) {
    if (l->count < 1 || l->count > MOST_LABELS)
        return serve_fail(reply, 400, "\"candidate_labels\": expected a list of 1 to %d texts",
                          MOST_LABELS);
    if (!strstr(template, "{}"))
        return serve_fail(reply, 400, "\"hypothesis_template\": expected a text with {} in it");
    for (size_t i = 0; i < l->count; i++) {
        const char *label = label_at(l, i);
        if (!label || !*label)
            return serve_fail(reply, 400, "\"candidate_labels\": label %zu is no text, or empty",
                              i);
        for (size_t k = 0; k < i; k++)
            if (strcmp(label_at(l, k), label) == 0)
                return serve_fail(reply, 400, "\"candidate_labels\": \"%.64s\" is there twice",
                                  label);
    }
    return true;
}

static bool read_labels(labels *l, const json_t *parameters, serve_model *model,
                        serve_reply *reply) {
    const char *given = json_string_value(json_object_get(parameters, "hypothesis_template"));
    const char *template = given ? given : "This is a photo of {}.";
    size_t tokens;
    bool has_memory;
    l->list = json_object_get(parameters, "candidate_labels");
    l->count = json_array_size(l->list);
    if (!check_labels(l, template, reply)) return false;
    l->prompts = vit_alloc(l->count, sizeof *l->prompts);
    l->scores = vit_alloc(l->count, sizeof *l->scores);
    l->best = vit_alloc(l->count, sizeof *l->best);
    has_memory = l->prompts && l->scores && l->best;
    for (size_t i = 0; i < l->count && has_memory; i++)
        has_memory = (l->prompts[i] = write_prompt(template, label_at(l, i)));
    if (!has_memory) return serve_fail(reply, 503, "no memory for the labels: try again later");
    const serve_texts texts = {.texts = l->prompts, .count = l->count};
    return serve_embed_texts(&l->features, &tokens, model, &texts, reply);
}

static double dot(const float *a, const float *b, size_t count) {
    double sum = 0;
    for (size_t i = 0; i < count; i++) sum += (double)a[i] * (double)b[i];
    return sum;
}

/* l->scores: probabilities of the labels for a picture's features. */
static void score(labels *l, const serve_model *m, const float *picture) {
    const vit_embedder_info words = vit_embedder_describe(m->words);
    const size_t width = m->info.features;
    double largest = -INFINITY, sum = 0;
    for (size_t i = 0; i < l->count; i++) {
        const float *text = l->features + i * width;
        const double lengths = sqrt(dot(picture, picture, width) * dot(text, text, width));
        const double cosine = lengths > 0 ? dot(picture, text, width) / lengths : 0;
        l->scores[i] = (float)(words.scale * cosine + words.bias);
        largest = fmax(largest, (double)l->scores[i]);
    }
    for (size_t i = 0; i < l->count; i++) sum += exp((double)l->scores[i] - largest);
    for (size_t i = 0; i < l->count; i++) {
        const double logit = (double)l->scores[i];
        l->scores[i] = (float)(words.scoring == VIT_SCORING_SIGMOID ? 1 / (1 + exp(-logit))
                                                                    : exp(logit - largest) / sum);
    }
}

static void write_scores(vit_json_out *json, labels *l, size_t top) {
    vit_top_k(l->scores, l->count, top, l->best);
    vit_json_open(json, NULL, '[');
    for (size_t k = 0; k < top; k++) {
        vit_json_open(json, NULL, '{');
        vit_json_text(json, "label", label_at(l, l->best[k]));
        vit_json_float(json, "score", l->scores[l->best[k]]);
        vit_json_close(json, '}');
    }
    vit_json_close(json, ']');
}

static void write_answers(labels *l, const serve_answers *a, const serve_pictures *sent, size_t top,
                          serve_reply *reply) {
    vit_json_out json = {0};
    if (sent->is_list) vit_json_open(&json, NULL, '[');
    for (size_t i = 0; i < a->count; i++) {
        if (a->answers[i].error.status == VIT_OK) {
            score(l, a->model, a->features + i * a->model->info.features);
            write_scores(&json, l, vit_min(top, l->count));
            continue;
        }
        vit_json_open(&json, NULL, '{');
        vit_json_text(&json, "error", a->answers[i].error.message);
        vit_json_close(&json, '}');
    }
    if (sent->is_list) vit_json_close(&json, ']');
    vit_string_add(&json.text, "\n");
    reply->body = json.text;
}

void serve_zero_shot(serve_request *request, const serve_pictures *sent, const json_t *parameters,
                     size_t top, serve_reply *reply) {
    serve_models *models = request->server->models;
    serve_model *model = serve_model_take(models, request->model);
    labels l = {0};
    serve_answers a;
    if (read_labels(&l, parameters, model, reply) &&
        serve_answer_pictures(&a, request, request->model, sent, true, reply)) {
        write_answers(&l, &a, sent, top, reply);
        serve_answers_free(&a, request->server);
    }
    free_labels(&l);
    serve_model_release(models, model);
}
