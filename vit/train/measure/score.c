#include "vit/train/measure/score.h"
#include "vit/base/order.h"
#include "vit/base/size.h"
#include "vit/base/sys.h"
#include "vit/cluster/deal.h"
#include "vit/ops/loss.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

#define MOST_TOGETHER 8 /* batches that ranks answer at the same time */

typedef struct records_source {
    const vit_dataset *data;
    const vit_records *records;
    const uint32_t *numbers;
    size_t first; /* of this batch */
    float (*table)[256];
} records_source;

static size_t record_number(const records_source *s, size_t index) {
    return s->numbers ? s->numbers[s->first + index] : s->first + index;
}

static vit_status normalise(float *images, size_t first, size_t count, void *context,
                            vit_error *error) {
    const records_source *s = context;
    const size_t channels = s->data->channels;
    const size_t size = s->data->height * s->data->width;
    uint8_t *scratch = NULL;
    vit_status status = VIT_OK;
    for (size_t i = 0; i < count && status == VIT_OK; i++)
        status = vit_record_normalize(images + i * size * channels, &scratch, s->data, s->records,
                                      record_number(s, first + i), s->table[0], error);
    vit_free(scratch);
    return status;
}

/* How many classes are likelier than `label`: all of them if its logit is NaN. */
static size_t rank_of(const float *logits, size_t classes, size_t label) {
    size_t before = 0;
    if (logits[label] != logits[label]) return classes;
    for (size_t i = 0; i < classes; i++) before += vit_comes_before(logits, i, label);
    return before;
}

/* The likeliest class. */
static size_t answer(const float *logits, size_t classes) {
    size_t best = 0;
    for (size_t i = 1; i < classes; i++)
        if (vit_comes_before(logits, i, best)) best = i;
    return best;
}

/* vit_check_answer, naming the picture in the error. */
static vit_status check(const float *logits, size_t classes, const records_source *s, size_t index,
                        vit_error *error) {
    char name[40];
    const size_t number = record_number(s, index);
    const char *file = vit_record_file(s->records, number);
    const vit_status status = vit_check_answer(logits, classes, NULL, 0, error);
    if (status == VIT_OK) return status;
    snprintf(name, sizeof name, "picture %zu", number);
    vit_fail_prefix(error, status, file ? file : name);
    return vit_fail_prefix(error, status, s->data->name);
}

/* Whether the classes with a positive logit are those of the list, which is ascending. */
static bool are_all_right(const float *logits, size_t classes, vit_ids list) {
    size_t next = 0;
    for (size_t i = 0; i < classes; i++) {
        const bool is_one = next < list.count && list.ids[next] == i;
        if (!(is_one ? logits[i] > 0 : logits[i] <= 0)) return false;
        next += is_one;
    }
    return true;
}

/* The same for records that list their classes. */
static void count_lists(vit_score *score, const float *logits, size_t classes,
                        const records_source *s, size_t count) {
    for (size_t i = 0; i < count; i++, logits += classes) {
        const vit_ids list = vit_texts_get(&s->records->target, record_number(s, i));
        const vit_class_lists lists = {list.ids, NULL, list.count, 0, 0};
        score->images++;
        score->correct += are_all_right(logits, classes, list);
        score->loss += vit_binary_cross_entropy(NULL, logits, classes, &lists, 0, 1);
        if (score->logits)
            memcpy(score->logits + (s->first + i) * classes, logits, classes * sizeof *logits);
    }
}

/* probabilities: [classes], scratch. */
static void count_answers(vit_score *score, const float *logits, float *probabilities,
                          size_t classes, const records_source *s, size_t count) {
    if (vit_records_list_classes(s->records)) {
        count_lists(score, logits, classes, s, count);
        return;
    }
    for (size_t i = 0; i < count; i++, logits += classes) {
        const size_t label = s->records->labels[record_number(s, i)];
        const size_t before = rank_of(logits, classes, label), chosen = answer(logits, classes);
        score->images++;
        score->correct += before == 0;
        score->correct5 += before < 5 && before < classes;
        score->loss += vit_cross_entropy(NULL, logits, classes, label, 0, 1);
        if (score->confusion) score->confusion[label * classes + chosen]++;
        if (score->logits)
            memcpy(score->logits + (s->first + i) * classes, logits, classes * sizeof *logits);
        if (!score->calibration) continue;
        vit_softmax_at(probabilities, logits, classes, score->temperature);
        vit_calibration_add(score->calibration, probabilities, classes, label);
        if ((double)probabilities[chosen] < score->threshold) {
            score->below_threshold++;
            score->below_threshold_wrong += chosen != label;
        }
        if (score->each)
            score->each(record_number(s, i), label, chosen, logits, probabilities, score->context);
    }
}

/* ---- ranks ---- */

typedef vit_status answer_function(void *context, size_t first, size_t count, vit_error *error);

/* Calls the function for parts of `count` records, one after the other; several ranks share them.
 * answers: [count] of `size` bytes each, which the function sets; all ranks then have all. */
static vit_status answer_all(vit_cluster *cluster, answer_function *function, void *context,
                             void *answers, size_t count, size_t size, vit_error *error) {
    uint64_t first = 0, end = 0;
    vit_deal *deal;
    vit_status status = vit_deal_open(&deal, cluster, count, error);
    if (status != VIT_OK) return status;
    status = vit_deal_next(deal, &first, &end, error);
    while (status == VIT_OK && first < end) {
        status = function(context, (size_t)first, (size_t)(end - first), error);
        if (status == VIT_OK) status = vit_deal_next(deal, &first, &end, error);
    }
    status = vit_deal_end(deal, status, error);
    status = vit_cluster_agree(cluster, status, error);
    if (status == VIT_OK) status = vit_deal_unite(deal, answers, size, error);
    vit_deal_close(deal);
    return status;
}

/* ---- texts ---- */

typedef struct text_answer {
    double loss; /* sum over its tokens */
    size_t tokens, right;
} text_answer;

typedef struct texts_source {
    records_source records;
    const vit_stack *decoder;
    vit_inference *inference;
    text_answer *answers; /* [count] */
} texts_source;

static vit_status take_texts(float *images, vit_ids *sources, vit_ids *targets, size_t first,
                             size_t count, void *context, vit_error *error) {
    texts_source *t = context;
    const vit_records *r = t->records.records;
    for (size_t i = 0; i < count; i++) {
        const size_t number = record_number(&t->records, first + i);
        sources[i] = r->source.at ? vit_texts_get(&r->source, number) : (vit_ids){0};
        targets[i] = vit_texts_get(&r->target, number);
    }
    return t->records.data->height > 0 ? normalise(images, first, count, &t->records, error)
                                       : VIT_OK;
}

static void answer_texts(const vit_state *state, size_t first, size_t count, void *context) {
    const texts_source *t = context;
    const vit_state *d = state->decoder;
    const size_t ids = t->decoder->vocabulary;
    for (size_t i = 0; i < count; i++) {
        const vit_ids *text = &d->texts[i];
        text_answer a = {.tokens = text->count + 1};
        for (size_t k = 0; k < a.tokens; k++) {
            const float *logits = d->head.logits + (d->text.spans[i].query + k) * ids;
            const size_t label = k < text->count ? text->ids[k] : t->decoder->end;
            a.loss += vit_cross_entropy(NULL, logits, ids, label, 0, 1);
            a.right += answer(logits, ids) == label;
        }
        t->answers[first + i] = a;
    }
}

static vit_status answer_part_of_texts(void *context, size_t first, size_t count,
                                       vit_error *error) {
    texts_source own = *(const texts_source *)context;
    own.records.first += first;
    own.answers += first;
    return vit_inference_visit(own.inference, take_texts, answer_texts, &own, count, error);
}

static vit_status score_texts(vit_score *score, vit_inference *inference, const vit_config *config,
                              const records_source *records, size_t count, vit_error *error) {
    texts_source t = {*records, &config->decoder, inference, vit_alloc(count, sizeof *t.answers)};
    if (!t.answers) return vit_fail_memory(error, "answers", count * sizeof *t.answers);
    vit_status status = answer_all(score->cluster, answer_part_of_texts, &t, t.answers, count,
                                   sizeof *t.answers, error);
    for (size_t i = 0; i < count && status == VIT_OK; i++) {
        const text_answer *a = &t.answers[i];
        score->images++;
        score->correct += a->right == a->tokens;
        score->tokens += a->tokens;
        score->tokens_right += a->right;
        score->loss += a->loss;
        if (score->right) score->right[i] = a->right == a->tokens;
    }
    if (score->tokens > 0) score->loss /= (double)score->tokens;
    vit_free(t.answers);
    if (status == VIT_OK && score->only_numbers && !isfinite(score->loss))
        return vit_fail(error, VIT_ERROR_FORMAT,
                        "%s: the model's answer is not finite, its weights are damaged or of a "
                        "training that failed: use another model, or an earlier checkpoint",
                        records->data->name);
    return status;
}

typedef struct batch_source {
    records_source records;
    vit_inference *inference;
    size_t classes;
    float *logits; /* [records][classes] */
} batch_source;

static vit_status answer_part_of_batch(void *context, size_t first, size_t count,
                                       vit_error *error) {
    batch_source own = *(const batch_source *)context;
    own.records.first += first;
    return vit_inference_run(own.inference, own.logits + first * own.classes, NULL, normalise,
                             &own.records, count, error);
}

vit_status vit_score_records(vit_score *score, vit_inference *inference, const vit_config *config,
                             const vit_dataset *data, const vit_records *records,
                             const uint32_t *numbers, size_t count, float table[3][256],
                             size_t batch, vit_error *error) {
    if (vit_config_has_decoder(config)) {
        const records_source all = {data, records, numbers, 0, table};
        return score_texts(score, inference, config, &all, count, error);
    }
    const size_t together = vit_min((size_t)vit_cluster_size(score->cluster), MOST_TOGETHER);
    batch = vit_max(batch, vit_min(count, batch * together));
    float *logits = vit_alloc(batch + 1, config->classes * sizeof *logits);
    if (!logits) return vit_fail_memory(error, "logits", batch * config->classes * sizeof *logits);
    float *probabilities = logits + batch * config->classes;
    vit_status status = VIT_OK;
    for (size_t first = 0; first < count && status == VIT_OK; first += batch) {
        const size_t n = count - first < batch ? count - first : batch;
        batch_source own = {
            {data, records, numbers, first, table}, inference, config->classes, logits};
        const records_source source = own.records;
        status = answer_all(score->cluster, answer_part_of_batch, &own, logits, n,
                            config->classes * sizeof *logits, error);
        for (size_t i = 0; i < n && status == VIT_OK && score->only_numbers; i++)
            status = check(logits + i * config->classes, config->classes, &source, i, error);
        if (status == VIT_OK)
            count_answers(score, logits, probabilities, config->classes, &source, n);
    }
    if (count > 0) score->loss /= (double)count;
    vit_free(logits);
    return status;
}
