#include "vit/model/run/search.h"
#include "vit/base/math.h"
#include "vit/base/random.h"
#include <math.h>
#include <string.h>

static vit_beam *carve_beams(vit_arena *arena, const vit_generation *how) {
    vit_beam *beams = vit_arena_take(arena, how->beams * sizeof *beams);
    for (size_t i = 0; i < how->beams; i++) {
        uint32_t *ids = vit_arena_take(arena, (how->length + 1) * sizeof *ids);
        if (beams) beams[i] = (vit_beam){.ids = ids};
    }
    return beams;
}

void vit_search_carve(vit_search *s, vit_arena *arena, const vit_generation *how,
                      size_t vocabulary) {
    *s = (vit_search){.how = how, .vocabulary = vocabulary};
    s->running = carve_beams(arena, how);
    s->next = carve_beams(arena, how);
    s->finished = carve_beams(arena, how);
    s->candidates = vit_arena_take(arena, 2 * how->beams * sizeof *s->candidates);
    s->log_p = vit_arena_take(arena, vocabulary * sizeof *s->log_p);
}

void vit_search_start(vit_search *s, uint32_t start, uint32_t number) {
    s->running[0].ids[0] = start;
    s->running[0].count = 1;
    s->running[0].score = 0;
    s->running[0].from = 0;
    s->runs = s->length = 1;
    s->finished_count = 0;
    s->number = number;
    s->beaten = s->not_finite = false;
    s->done = s->how->length < 2;
}

/* ---- what may come next ---- */

/* s->log_p = log softmax(logits / temperature). */
static void take_logits(vit_search *s, const float *logits, double temperature) {
    double max = logits[0], sum = 0;
    for (size_t v = 1; v < s->vocabulary; v++) max = logits[v] > max ? logits[v] : max;
    for (size_t v = 0; v < s->vocabulary; v++) {
        s->log_p[v] = (logits[v] - max) / temperature;
        sum += vit_exp(s->log_p[v]);
    }
    const double log_sum = vit_log(sum);
    for (size_t v = 0; v < s->vocabulary; v++) {
        s->not_finite = s->not_finite || !isfinite(logits[v]);
        s->log_p[v] -= log_sum;
    }
}

/* log p = -infinity for tokens that would end a group of no_repeat tokens that the text has
 * already. */
static void forbid_repeats(vit_search *s, const vit_beam *beam) {
    const size_t n = s->how->no_repeat;
    if (n == 0 || beam->count < n) return;
    const uint32_t *last = beam->ids + beam->count + 1 - n;
    for (size_t i = 0; i + n <= beam->count; i++)
        if (memcmp(beam->ids + i, last, (n - 1) * sizeof *last) == 0)
            s->log_p[beam->ids[i + n - 1]] = -INFINITY;
}

/* ---- one text: greedy, or by chance ---- */

/* The log p of the k-th likeliest token. */
static double least_of_top(vit_search *s, size_t k) {
    double least = INFINITY;
    for (size_t taken = 0; taken < k;) {
        double next = -INFINITY;
        size_t equal = 0;
        for (size_t v = 0; v < s->vocabulary; v++) {
            if (!(s->log_p[v] < least)) continue;
            equal = s->log_p[v] > next ? 1 : equal + (s->log_p[v] >= next);
            next = s->log_p[v] > next ? s->log_p[v] : next;
        }
        if (equal == 0) break;
        least = next;
        taken += equal;
    }
    return least;
}

/* A token drawn with the probabilities softmax(logits / temperature) of the top_k likeliest. */
static size_t by_chance(vit_search *s) {
    const size_t k = s->how->top_k;
    const double least = k > 0 && k < s->vocabulary ? least_of_top(s, k) : -INFINITY;
    double total = 0;
    for (size_t v = 0; v < s->vocabulary; v++)
        if (s->log_p[v] >= least) total += vit_exp(s->log_p[v]);
    vit_random r = vit_random_start(s->how->seed, VIT_RANDOM_WRITE, s->number, (uint32_t)s->length);
    double at = vit_random_uniform(&r) * total;
    size_t last = 0;
    for (size_t v = 0; v < s->vocabulary; v++) {
        if (!(s->log_p[v] >= least)) continue;
        last = v;
        at -= vit_exp(s->log_p[v]);
        if (at < 0) break;
    }
    return last;
}

static void step_alone(vit_search *s, const float *logits) {
    vit_beam *b = &s->running[0];
    take_logits(s, logits, s->how->sample ? s->how->temperature : 1);
    forbid_repeats(s, b);
    size_t id = 0;
    for (size_t v = 1; v < s->vocabulary; v++)
        if (s->log_p[v] > s->log_p[id]) id = v;
    if (s->how->sample) id = by_chance(s);
    b->score += s->log_p[id];
    b->ids[b->count++] = (uint32_t)id;
    s->length++;
    s->done = id == s->how->end || s->length == s->how->length;
}

/* ---- beams ---- */

/* The 2 * beams best of all beams with one more token, the best first, of equal scores the earlier:
 * at most `beams` of them end a text, so there are enough to go on with. Returns how many. */
static size_t choose_candidates(vit_search *s, const float *logits) {
    const size_t most = 2 * s->how->beams;
    size_t count = 0;
    for (size_t b = 0; b < s->runs; b++, logits += s->vocabulary) {
        take_logits(s, logits, 1);
        forbid_repeats(s, &s->running[b]);
        for (size_t v = 0; v < s->vocabulary; v++) {
            const double score = s->running[b].score + s->log_p[v];
            if (count == most && !(score > s->candidates[count - 1].score)) continue;
            size_t at = count < most ? count++ : count - 1;
            for (; at > 0 && score > s->candidates[at - 1].score; at--)
                s->candidates[at] = s->candidates[at - 1];
            s->candidates[at] = (vit_candidate){b, (uint32_t)v, score};
        }
    }
    return count;
}

/* Length to the power of length_penalty. */
static double penalty(const vit_search *s, size_t tokens) {
    return vit_exp(s->how->length_penalty * vit_log((double)tokens));
}

/* *to = *from and the candidate's token. */
static void extend(vit_beam *to, const vit_beam *from, const vit_candidate *c) {
    memcpy(to->ids, from->ids, from->count * sizeof *to->ids);
    to->ids[from->count] = c->id;
    to->count = from->count + 1;
    to->score = c->score;
    to->from = c->beam;
}

/* Sorts a finished text in, if it is among the best `beams`. */
static void add_finished(vit_search *s, const vit_candidate *c) {
    const double score = c->score / penalty(s, s->length);
    const bool full = s->finished_count == s->how->beams;
    if (full && !(score > s->finished[s->finished_count - 1].score)) return;
    size_t at = full ? s->finished_count - 1 : s->finished_count++;
    const vit_beam last = s->finished[at];
    for (; at > 0 && score > s->finished[at - 1].score; at--) s->finished[at] = s->finished[at - 1];
    s->finished[at] = last;
    extend(&s->finished[at], &s->running[c->beam], c);
    s->finished[at].score = score;
}

/* Whether a running beam might still become better than the worst finished text. */
static bool may_overtake(const vit_search *s) {
    size_t tokens = s->length - 1;
    if (s->finished_count < s->how->beams) return true;
    switch (s->how->early_stopping) {
    case VIT_EARLY_STOPPING_TRUE:
        return false;
    case VIT_EARLY_STOPPING_NEVER:
        if (s->how->length_penalty > 0) tokens = s->how->length - 1;
        break;
    case VIT_EARLY_STOPPING_FALSE:
    case VIT_EARLY_STOPPING_COUNT:
        break;
    }
    return s->runs > 0 &&
           s->next[0].score / penalty(s, tokens) > s->finished[s->finished_count - 1].score;
}

/* A candidate that ends with END, or has the greatest length, is a finished text if it is among the
 * best `beams` candidates; the best of the others are the next running beams. */
static void step_beams(vit_search *s, const float *logits) {
    const size_t count = choose_candidates(s, logits), beams = s->how->beams;
    const bool full = s->length + 1 == s->how->length;
    const bool enough =
        s->finished_count == beams && s->how->early_stopping == VIT_EARLY_STOPPING_TRUE;
    size_t runs = 0;
    for (size_t i = 0; i < count; i++) {
        const vit_candidate *c = &s->candidates[i];
        const bool ends = full || c->id == s->how->end;
        if (ends && i < beams && !s->beaten && !enough) add_finished(s, c);
        if (!ends && runs < beams) extend(&s->next[runs++], &s->running[c->beam], c);
    }
    s->runs = runs;
    s->length++;
    s->beaten = s->beaten || !may_overtake(s);
    s->done = full || runs == 0 || s->beaten;
    vit_beam *const old = s->running;
    s->running = s->next;
    s->next = old;
}

void vit_search_step(vit_search *s, const float *logits) {
    if (s->how->beams > 1)
        step_beams(s, logits);
    else
        step_alone(s, logits);
}

vit_generated vit_search_result(const vit_search *s) {
    const vit_beam *b =
        s->how->beams > 1 && s->finished_count > 0 ? &s->finished[0] : &s->running[0];
    const bool ended = b->count > 1 && b->ids[b->count - 1] == s->how->end;
    return (vit_generated){b->ids + 1, b->count - 1 - ended, s->not_finite ? NAN : b->score, ended};
}
