/* Encoder-decoders and language models: against PyTorch (tests/fixtures/make_decoders.py), and the
 * same bytes whatever the batch, the threads and the kernels, and whatever comes later in a text.
 */
#include "tests/support/check.h"
#include "tests/support/fixture.h"
#include "tests/support/unit.h"
#include "vit/base/math.h"
#include "vit/model/run/generate.h"
#include "vit/ops/loss.h"
#include "vit/tensors/tensors.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST 8 /* samples */
#define END 1

/* ---- a network of a fixture, with its memory and its samples ---- */

typedef struct subject {
    vit_tensors *file;
    vit_network network;
    vit_table table;
    vit_gradients views;
    vit_arena arena;
    vit_state state;
    float *values, *gradients, *images;
    vit_packed_weights packed;
    uint32_t *ids[2];
    vit_ids texts[2][MOST]; /* source, target */
    size_t batch;
} subject;

static int64_t integer(const vit_tensor *t, size_t index) {
    int64_t value;
    assert_true(t->dtype == VIT_I64 && index < t->count);
    memcpy(&value, (const char *)t->data + index * sizeof value, sizeof value);
    return value;
}

static void read_texts(subject *s, size_t which, const char *name) {
    const vit_tensor *ids = fixture_tensor(s->file, name, ""),
                     *lengths = fixture_tensor(s->file, name, ".lengths");
    size_t at = 0;
    s->batch = lengths->count;
    s->ids[which] = calloc(ids->count, sizeof **s->ids);
    assert_non_null(s->ids[which]);
    for (size_t i = 0; i < ids->count; i++) s->ids[which][i] = (uint32_t)integer(ids, i);
    for (size_t i = 0; i < s->batch; i++) {
        s->texts[which][i] = (vit_ids){s->ids[which] + at, (size_t)integer(lengths, i)};
        at += s->texts[which][i].count;
    }
}

static void carve(subject *s, vit_kept kept) {
    vit_arena measure = vit_arena_count();
    vit_arena_free(&s->arena);
    vit_state_carve(&s->state, &measure, &s->network.config, MOST, 8, kept, 0);
    assert_int_equal(vit_arena_init(&s->arena, measure.peak, "a test", NULL), VIT_OK);
    vit_state_carve(&s->state, &s->arena, &s->network.config, MOST, 8, kept, 0);
    assert_int_equal(s->arena.used, measure.peak);
}

static void read_weights(subject *s) {
    fixture_read_parameters(s->file, &s->table, s->values);
    vit_table_pack(&(vit_exec){.kernels = vit_kernels_scalar(), .threads = 1}, &s->packed,
                   s->values, &s->table);
}

static subject subject_new(const char *name) {
    subject s = {.network.config = vit_config_default()};
    vit_config *c = &s.network.config;
    vit_error error;
    char path[200];
    snprintf(path, sizeof path, "tests/fixtures/decoders/%s.safetensors", name);
    if (vit_tensors_open(&s.file, path, &error) != VIT_OK) fail_msg("%s", error.message);
    if (vit_config_read(c, vit_tensors_metadata(s.file, "config"), "", &error) != VIT_OK ||
        vit_table_new(&s.table, c, &error) != VIT_OK)
        fail_msg("%s", error.message);
    s.values = check_floats(s.table.size);
    s.gradients = check_floats(s.table.size);
    s.packed.transposed = check_floats(s.table.packed_size);
    read_weights(&s);
    if (vit_tensors_find(s.file, "input")) s.images = fixture_floats(s.file, "input", "");
    assert_int_equal(vit_weights_view(&s.network.weights, c, &s.table, s.values, &s.packed, NULL),
                     VIT_OK);
    assert_int_equal(vit_gradients_view(&s.views, c, &s.table, s.gradients, false, NULL), VIT_OK);
    return s;
}

/* With the fixture's samples. */
static subject subject_open(const char *name, vit_kept kept) {
    subject s = subject_new(name);
    read_texts(&s, 0, "source");
    read_texts(&s, 1, "target");
    carve(&s, kept);
    return s;
}

static void subject_free(subject *s) {
    vit_weights_free(&s->network.weights);
    vit_gradients_free(&s->views);
    vit_arena_free(&s->arena);
    vit_table_free(&s->table);
    void *const all[] = {s->values, s->packed.transposed, s->gradients, s->images, s->ids[0],
                         s->ids[1]};
    for (size_t i = 0; i < 6; i++) free(all[i]);
    vit_tensors_close(s->file);
}

static vit_exec with(const vit_kernels *kernels, int threads) {
    return (vit_exec){.kernels = kernels, .threads = threads};
}

static vit_exec best(int threads) {
    return with(vit_kernels_choose(VIT_CPU_AVX512), threads);
}

static void forward(subject *s, vit_exec exec) {
    s->state.texts = s->texts[0];
    s->state.decoder->texts = s->texts[1];
    const vit_exec here = vit_network_exec(&s->network, &s->state, exec.kernels, exec.threads);
    vit_network_forward(&s->network, &here, &s->state, s->images, s->batch);
}

/* The id that is to follow row r: the next one of its text, or END. */
static size_t label_of(const subject *s, size_t r) {
    size_t b = 0;
    for (; r > s->texts[1][b].count; b++) r -= s->texts[1][b].count + 1;
    return r < s->texts[1][b].count ? s->texts[1][b].ids[r] : END;
}

/* Mean loss over the tokens; gradients are added to. */
static double backward(subject *s, vit_exec exec) {
    vit_state *d = s->state.decoder;
    const size_t ids = s->network.config.decoder.vocabulary;
    double loss = 0;
    for (size_t r = 0; r < d->rows; r++)
        loss += vit_cross_entropy(d->head.d_logits + r * ids, d->head.logits + r * ids, ids,
                                  label_of(s, r), .1, 1 / (double)d->rows);
    const vit_exec here = vit_network_exec(&s->network, &s->state, exec.kernels, exec.threads);
    vit_network_backward(&s->network, &here, &s->state, &s->views);
    return loss / (double)d->rows;
}

/* ---- against PyTorch ---- */

static void check_pytorch(const char *name, vit_kept kept) {
    subject s = subject_open(name, kept);
    const vit_tensor *logits = fixture_tensor(s.file, "logits", "");
    float *want = fixture_floats(s.file, "logits", "");
    forward(&s, best(1));
    assert_int_equal(logits->shape[0], s.state.decoder->rows);
    assert_true(check_difference(s.state.decoder->head.logits, want, logits->count) <= 1e-5);
    if (kept != VIT_KEPT_NOTHING) {
        double loss;
        memcpy(&loss, fixture_tensor(s.file, "loss", "")->data, sizeof loss);
        assert_true(fabs(backward(&s, best(1)) - loss) <= 1e-5 * loss);
        fixture_check_gradients(s.file, &s.table, s.gradients);
    }
    free(want);
    subject_free(&s);
}

static void test_pytorch(void **state) {
    check_pytorch(*state, VIT_KEPT_ALL);
    check_pytorch(*state, VIT_KEPT_INPUTS);
    check_pytorch(*state, VIT_KEPT_NOTHING);
}

/* ---- the same bytes ---- */

static void test_same_bytes(void **state) {
    static const int threads[] = {1, 2, 3, 8};
    const vit_kernels *tables[CHECK_MOST_TABLES];
    const size_t table_count = check_tables(tables);
    subject want = subject_open(*state, VIT_KEPT_ALL), got = subject_open(*state, VIT_KEPT_ALL);
    const size_t ids = want.network.config.decoder.vocabulary;
    forward(&want, with(vit_kernels_scalar(), 1));
    backward(&want, with(vit_kernels_scalar(), 1));
    const size_t bytes = want.state.decoder->rows * ids * sizeof(float);
    for (size_t t = 0; t < table_count; t++) {
        for (size_t i = 0; i < 4; i++) {
            memset(got.gradients, 0, got.table.size * sizeof(float));
            forward(&got, with(tables[t], threads[i]));
            backward(&got, with(tables[t], threads[i]));
            assert_memory_equal(got.state.decoder->head.logits, want.state.decoder->head.logits,
                                bytes);
            assert_memory_equal(got.gradients, want.gradients, got.table.size * sizeof(float));
        }
    }
    subject_free(&want);
    subject_free(&got);
}

/* Each sample alone, and each text only as far as a token: what comes later, and the others of a
 * batch, change no byte. */
static void test_prefixes(void **state) {
    subject all = subject_open(*state, VIT_KEPT_NOTHING), one = subject_open(*state, VIT_KEPT_ALL);
    const vit_config *c = &all.network.config;
    const size_t ids = c->decoder.vocabulary, picture = c->height * c->width * c->channels;
    float *const images = one.images;
    size_t row = 0;
    forward(&all, best(2));
    one.batch = 1;
    for (size_t b = 0; b < all.batch; b++) {
        if (images) one.images = images + b * picture;
        one.texts[0][0] = all.texts[0][b];
        for (size_t n = 0; n <= all.texts[1][b].count; n++, row++) {
            one.texts[1][0] = (vit_ids){all.texts[1][b].ids, n};
            forward(&one, best(1));
            assert_memory_equal(one.state.decoder->head.logits + n * ids,
                                all.state.decoder->head.logits + row * ids, ids * sizeof(float));
        }
    }
    one.images = images;
    subject_free(&all);
    subject_free(&one);
}

/* ---- writing ---- */

/* log softmax(logits)[id], as a search computes it. */
static double log_p(const float *logits, size_t n, size_t id) {
    double max = logits[0], sum = 0;
    for (size_t v = 1; v < n; v++) max = logits[v] > max ? logits[v] : max;
    for (size_t v = 0; v < n; v++) sum += vit_exp(logits[v] - max);
    return logits[id] - max - vit_log(sum);
}

/* What was written, given at once: the sum of its log p is the score to the bit, so the logits of
 * each token are, too; and where it is greedy, each is the likeliest. */
static void check_whole(subject *s, size_t sample, const vit_generated *w, bool greedy) {
    const vit_config *c = &s->network.config;
    const size_t ids = c->decoder.vocabulary, picture = c->height * c->width * c->channels;
    vit_state *d = s->state.decoder;
    float *const images = s->images;
    double score = 0;
    if (images) s->images = images + sample * picture;
    const vit_ids source = s->texts[0][0];
    s->texts[0][0] = s->texts[0][sample];
    s->texts[1][0] = (vit_ids){w->ids, w->count - !w->ended};
    s->batch = 1;
    forward(s, best(1));
    for (size_t k = 0; k < w->count + w->ended; k++) {
        const float *logits = d->head.logits + k * ids;
        const size_t id = k < w->count ? w->ids[k] : END;
        score += log_p(logits, ids, id);
        for (size_t v = 0; v < ids && greedy; v++) assert_true(logits[v] <= logits[id]);
    }
    assert_true(memcmp(&score, &w->score, sizeof score) == 0);
    s->texts[0][0] = source;
    s->images = images;
}

/* Both at once and one by one, at any number of threads; beams whose score is the plain sum. */
static void test_write(void **state) {
    for (size_t beams = 1; beams <= 4; beams++) {
        subject all = subject_open(*state, VIT_KEPT_NOTHING);
        subject s = subject_open(*state, VIT_KEPT_NOTHING);
        vit_generation how = vit_generation_default(&all.network.config);
        how.beams = beams;
        how.length_penalty = 0;
        how.early_stopping = VIT_EARLY_STOPPING_NEVER;
        vit_generator *together, *alone;
        vit_generated out[MOST], one;
        const vit_config *c = &all.network.config;
        const size_t picture = c->height * c->width * c->channels;
        assert_int_equal(vit_generator_new(&together, &all.network, &how,
                                           vit_kernels_choose(VIT_CPU_AVX512), 3, MOST, NULL),
                         VIT_OK);
        assert_int_equal(
            vit_generator_new(&alone, &all.network, &how, vit_kernels_scalar(), 1, 1, NULL),
            VIT_OK);
        vit_generate(together, out, all.images, all.texts[0], all.batch, 0);
        for (size_t i = 0; i < all.batch; i++) {
            check_whole(&s, i, &out[i], beams == 1);
            vit_generate(alone, &one, all.images ? all.images + i * picture : NULL,
                         &all.texts[0][i], 1, 0);
            assert_int_equal(one.count, out[i].count);
            assert_memory_equal(one.ids, out[i].ids, one.count * sizeof *one.ids);
            assert_true(memcmp(&one.score, &out[i].score, sizeof one.score) == 0);
        }
        vit_generator_free(together);
        vit_generator_free(alone);
        subject_free(&all);
        subject_free(&s);
    }
}

/* By chance: as often as the network says, within five deviations. */
static void test_sample(void **state) {
    enum { TEXTS = 2000 };
    subject s = subject_open("language", VIT_KEPT_NOTHING);
    vit_generation how = vit_generation_default(&s.network.config);
    const size_t ids = s.network.config.decoder.vocabulary;
    size_t counts[16] = {0};
    how.sample = true;
    how.length = 2;
    how.temperature = .8;
    how.top_k = 6;
    vit_generator *w;
    vit_generated out;
    assert_int_equal(
        vit_generator_new(&w, &s.network, &how, vit_kernels_choose(VIT_CPU_AVX512), 1, 1, NULL),
        VIT_OK);
    for (uint32_t i = 0; i < TEXTS; i++) {
        vit_generate(w, &out, NULL, NULL, 1, i);
        counts[out.ended ? END : out.ids[0]]++;
    }
    s.texts[1][0].count = 0;
    s.batch = 1;
    forward(&s, best(1));
    const float *logits = s.state.decoder->head.logits;
    double total = 0;
    for (size_t v = 0; v < ids; v++) {
        size_t above = 0;
        for (size_t o = 0; o < ids; o++) above += logits[o] > logits[v];
        if (above < how.top_k) total += vit_exp(logits[v] / how.temperature);
    }
    for (size_t v = 0; v < ids; v++) {
        size_t above = 0;
        for (size_t o = 0; o < ids; o++) above += logits[o] > logits[v];
        const double p = above < how.top_k ? vit_exp(logits[v] / how.temperature) / total : 0;
        assert_true(fabs((double)counts[v] - p * TEXTS) <= 5 * sqrt(p * (1 - p) * TEXTS));
    }
    vit_generator_free(w);
    subject_free(&s);
}

/* ---- names ---- */

static void test_table(void **state) {
    vit_config c = vit_config_default();
    vit_table t;
    const char *json = "{\"stem\": \"none\", \"decoder\": {\"dim\": 8, \"depth\": 2, \"heads\": 2, "
                       "\"mlp\": 16, \"vocabulary\": 5, \"length\": 4}}";
    assert_int_equal(vit_config_read(&c, json, "", NULL), VIT_OK);
    assert_int_equal(vit_table_new(&t, &c, NULL), VIT_OK);
    assert_non_null(vit_table_find(&t, "decoder.embed.weight"));
    assert_non_null(vit_table_find(&t, "decoder.blocks.1.attn.qkv.weight"));
    assert_null(vit_table_find(&t, "decoder.blocks.1.cross_attn.q.weight"));
    for (size_t i = 0; i < t.count; i++) assert_int_equal(t.rows[i].layer, 1);
    vit_table_free(&t);
}

#define CASES(X)           \
    X("picture_pre")       \
    X("picture_conv_tied") \
    X("picture_post") X("picture_projected") X("text_post") X("text_pre") X("language")

int main(void) {
#define FOR_CASE(name)                                                   \
    {"pytorch " name, test_pytorch, NULL, NULL, (void *)name},           \
        {"same bytes " name, test_same_bytes, NULL, NULL, (void *)name}, \
        {"prefixes " name, test_prefixes, NULL, NULL, (void *)name},     \
        {"write " name, test_write, NULL, NULL, (void *)name},
    const struct CMUnitTest tests[] = {CASES(FOR_CASE) cmocka_unit_test(test_table),
                                       cmocka_unit_test(test_sample)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
