#include "vit/model/search.h"
#include "vit/base/math.h"
#include "vit/base/random.h"
#include "vit/base/size.h"
#include <math.h>
#include <string.h>

static vit_beam *carve_beams(vit_arena *arena, const vit_writing *how) {
    vit_beam *beams = vit_arena_take(arena, how->beams * sizeof *beams);
    for (size_t i = 0; i < how->beams; i++) {
        uint32_t *ids = vit_arena_take(arena, (how->length + 1) * sizeof *ids);
        if (beams) beams[i] = (vit_beam){.ids = ids};
    }
    return beams;
}

void vit_search_carve(vit_search *s, vit_arena *arena, const vit_writing *how, size_t vocabulary) {
    *s = (vit_search){.how = how, .vocabulary = vocabulary};
    s->running = carve_beams(arena, how);
    s->next = carve_beams(arena, how);
    s->whole = carve_beams(arena, how);
    s->candidates = vit_arena_take(arena, 2 * how->beams * sizeof *s->candidates);
    s->log_p = vit_arena_take(arena, vocabulary * sizeof *s->log_p);
}

void vit_search_start(vit_search *s, uint32_t start, uint32_t number) {
    s->running[0].ids[0] = start;
    s->running[0].count = 1;
    s->running[0].score = 0;
    s->running[0].from = 0;
    s->runs = s->length = 1;
    s->wholes = 0;
    s->number = number;
    s->hopeless = s->numberless = false;
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
        s->numberless = s->numberless || !isfinite(logits[v]);
        s->log_p[v] -= log_sum;
    }
}

/* What would complete no_repeat tokens that are there already gets -infinity. */
static void forbid_repeats(vit_search *s, const vit_beam *beam) {
    const size_t n = s->how->no_repeat;
    if (n == 0 || beam->count < n) return;
    const uint32_t *last = beam->ids + beam->count + 1 - n;
    for (size_t i = 0; i + n <= beam->count; i++)
        if (memcmp(beam->ids + i, last, (n - 1) * sizeof *last) == 0)
            s->log_p[beam->ids[i + n - 1]] = -INFINITY;
}

/* ---- one after the other ---- */

static size_t likeliest(const vit_search *s) {
    size_t best = 0;
    for (size_t v = 1; v < s->vocabulary; v++)
        if (s->log_p[v] > s->log_p[best]) best = v;
    return best;
}

/* The log p that so many are not below. */
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

/* One of them, as likely as it is among the top_k. */
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
    const size_t id = s->how->sample ? by_chance(s) : likeliest(s);
    b->score += s->log_p[id];
    b->ids[b->count++] = (uint32_t)id;
    s->length++;
    s->done = id == s->how->end || s->length == s->how->length;
}

/* ---- beams ---- */

/* The best 2 beams of all continuations, in falling order, the earlier first where equal: at least
 * as many as beams are then not the end of a text. Returns how many. */
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

static void extend(vit_beam *to, const vit_beam *from, const vit_candidate *c) {
    memcpy(to->ids, from->ids, from->count * sizeof *to->ids);
    to->ids[from->count] = c->id;
    to->count = from->count + 1;
    to->score = c->score;
    to->from = c->beam;
}

static void add_whole(vit_search *s, const vit_candidate *c) {
    const double score = c->score / penalty(s, s->length);
    const bool full = s->wholes == s->how->beams;
    if (full && !(score > s->whole[s->wholes - 1].score)) return;
    size_t at = full ? s->wholes - 1 : s->wholes++;
    const vit_beam room = s->whole[at];
    for (; at > 0 && score > s->whole[at - 1].score; at--) s->whole[at] = s->whole[at - 1];
    s->whole[at] = room;
    extend(&s->whole[at], &s->running[c->beam], c);
    s->whole[at].score = score;
}

/* Whether a running one might still become better than the worst whole one. */
static bool may_overtake(const vit_search *s) {
    size_t tokens = s->length - 1;
    if (s->wholes < s->how->beams) return true;
    switch (s->how->early_stopping) {
    case VIT_STOP_FIRST:
        return false;
    case VIT_STOP_NEVER:
        if (s->how->length_penalty > 0) tokens = s->how->length - 1;
        break;
    case VIT_STOP_LIKELY:
    case VIT_STOP_COUNT:
        break;
    }
    return s->runs > 0 && s->next[0].score / penalty(s, tokens) > s->whole[s->wholes - 1].score;
}

/* A candidate that ends, by END or as the text is full, is a whole text if it is among the best
 * `beams`; the best of the others go on. */
static void step_beams(vit_search *s, const float *logits) {
    const size_t count = choose_candidates(s, logits), beams = s->how->beams;
    const bool full = s->length + 1 == s->how->length;
    const bool enough = s->wholes == beams && s->how->early_stopping == VIT_STOP_FIRST;
    size_t runs = 0;
    for (size_t i = 0; i < count; i++) {
        const vit_candidate *c = &s->candidates[i];
        const bool ends = full || c->id == s->how->end;
        if (ends && i < beams && !s->hopeless && !enough) add_whole(s, c);
        if (!ends && runs < beams) extend(&s->next[runs++], &s->running[c->beam], c);
    }
    s->runs = runs;
    s->length++;
    s->hopeless = s->hopeless || !may_overtake(s);
    s->done = full || runs == 0 || s->hopeless;
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

vit_written vit_search_result(const vit_search *s) {
    const vit_beam *b = s->how->beams > 1 && s->wholes > 0 ? &s->whole[0] : &s->running[0];
    const bool ended = b->count > 1 && b->ids[b->count - 1] == s->how->end;
    return (vit_written){b->ids + 1, b->count - 1 - ended, s->numberless ? NAN : b->score, ended};
}
