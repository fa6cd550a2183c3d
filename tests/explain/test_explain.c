/* Maps of networks of every kind: against PyTorch (tests/fixtures/make_maps.py), published programs
 * (make_map_peers.py), closed forms, and what must not change. */
#include "tests/support/check.h"
#include "tests/support/fixture.h"
#include "tests/support/unit.h"
#include "vit/explain/maps.h"
#include "vit/explain/occlude.h"
#include "vit/model/run/infer.h"
#include "vit/tensors/tensors.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const cases[] = {"cct",        "cct_one",        "class_dist",
                                    "class_mean", "class_sincos2d", "conv_class",
                                    "conv_mean",  "drop_path",      "drop_path_post",
                                    "gated",      "lecture_grey",   "lecture_colour",
                                    "map",        "mean_sincos2d",  "post_mean",
                                    "registers",  "timm_colour",    "timm_grey",
                                    "timm_odd",   "timm_one",       "post_sinusoidal",
                                    "map_heads",  "rope_axial",     "rope_mixed",
                                    "eva",        "norms_inside",   "no_positions",
                                    "relative",   "relative_class", "relative_shared"};
#define CASES (sizeof cases / sizeof *cases)
#define CLASS 1

/* ---- a network, its first picture, and an explainer ---- */

typedef struct subject {
    const char *name;
    vit_network network;
    vit_table table;
    vit_explainer *explainer;
    float *values, *packed, *image;
    size_t tokens, patches, prefix, pixels;
    vit_tensors *maps;
} subject;

static vit_tensors *open_file(const char *directory, const char *name) {
    char path[200];
    vit_error error;
    vit_tensors *file;
    snprintf(path, sizeof path, "tests/fixtures/%s/%s.safetensors", directory, name);
    if (vit_tensors_open(&file, path, &error) != VIT_OK) fail_msg("%s", error.message);
    return file;
}

static void read_values(subject *s, const vit_tensors *file) {
    s->values = check_floats(s->table.size);
    s->packed = check_floats(s->table.packed_size);
    fixture_read_parameters(file, &s->table, s->values);
}

/* Pointers to subject stay valid: explainers borrow the network. */
static subject *subject_new(const char *name, const vit_kernels *kernels, int threads) {
    subject *s = calloc(1, sizeof *s);
    vit_tensors *file = open_file("networks", name);
    vit_config *c = &s->network.config;
    *c = vit_config_default();
    s->name = name;
    assert_int_equal(vit_config_read(c, vit_tensors_metadata(file, "config"), "", NULL), VIT_OK);
    assert_int_equal(vit_table_new(&s->table, c, NULL), VIT_OK);
    read_values(s, file);
    const vit_packed_weights packed = {.transposed = s->packed};
    vit_table_pack(&(vit_exec){.kernels = kernels, .threads = 1}, &packed, s->values, &s->table);
    assert_int_equal(vit_weights_view(&s->network.weights, c, &s->table, s->values, &packed, NULL),
                     VIT_OK);
    s->image = fixture_floats(file, "input", ""); /* of which the first picture is taken */
    s->tokens = vit_config_tokens(c);
    s->patches = vit_config_patches(c);
    s->prefix = vit_config_prefix(c);
    s->pixels = c->height * c->width * c->channels;
    s->maps = open_file("maps", name);
    assert_int_equal(vit_explainer_new(&s->explainer, &s->network, kernels, threads, NULL), VIT_OK);
    vit_tensors_close(file);
    return s;
}

static void subject_free(subject *s) {
    vit_explainer_free(s->explainer);
    vit_weights_free(&s->network.weights);
    vit_table_free(&s->table);
    vit_tensors_close(s->maps);
    free(s->values);
    free(s->packed);
    free(s->image);
    free(s);
}

static const vit_kernels *best(void) {
    return vit_kernels_choose(VIT_CPU_AVX512);
}

static void near_of(const vit_tensors *file, const subject *s, const char *what, const float *got,
                    const char *name, double bound) {
    float *want = fixture_floats(file, name, "");
    const double off = check_difference(got, want, fixture_tensor(file, name, "")->count);
    if (!(off <= bound)) fail_msg("%s: %s is off by %g, at most %g", s->name, what, off, bound);
    free(want);
}

static void near(const subject *s, const char *what, const float *got, const char *name,
                 double bound) {
    near_of(s->maps, s, what, got, name, bound);
}

static vit_map map_of(const subject *s, vit_map_options options) {
    vit_map map;
    vit_error error;
    if (vit_map_check(&options, &s->network.config, &error) != VIT_OK ||
        vit_map_make(&map, s->explainer, s->image, &options, &error) != VIT_OK)
        fail_msg("%s: %s", s->name, error.message);
    return map;
}

/* ---- the passes ---- */

typedef struct kept {
    const subject *s;
    float *p, *d_p; /* [layers][heads][T][T] */
} kept;

static void keep(const vit_seen *seen, void *context) {
    const kept *k = context;
    const size_t n = k->s->tokens, rows = k->s->network.config.heads * n, row = vit_padded(n);
    for (size_t i = 0; i < rows; i++) {
        const size_t to = (seen->layer * rows + i) * n;
        memcpy(k->p + to, seen->p + i * row, n * sizeof(float));
        if (seen->d_p) memcpy(k->d_p + to, seen->d_p + i * row, n * sizeof(float));
    }
}

static void backward(const subject *s, vit_look *look, void *context) {
    vit_explainer_backward_head(s->explainer, CLASS);
    vit_explainer_backward_blocks(s->explainer, look, context);
    vit_explainer_backward_picture(s->explainer);
}

static void check_passes(const subject *s) {
    const vit_config *c = &s->network.config;
    const size_t n = s->tokens, rows = c->depth * c->heads * n;
    kept k = {s, check_floats(rows * n), check_floats(rows * n)};
    assert_int_equal(vit_explainer_forward(s->explainer, s->image, keep, &k, NULL), VIT_OK);
    near(s, "the logits", s->explainer->state.head.logits, "logits", 1e-5);
    near(s, "attention", k.p, "attention", 1e-5);
    for (size_t i = 0; i < rows; i++) {
        double sum = 0;
        for (size_t j = 0; j < n; j++) sum += (double)k.p[i * n + j];
        assert_true(fabs(sum - 1) <= 1e-6);
    }
    backward(s, keep, &k);
    near(s, "attention, once more", k.p, "attention", 1e-5);
    near(s, "the gradient of attention", k.d_p, "d_attention", 1e-5);
    near(s, "the gradient of the picture", s->explainer->state.stem.d_images, "gradient", 1e-5);
    free(k.p);
    free(k.d_p);
}

static void passes_are_pytorchs(void **state) {
    for (size_t i = 0; i < CASES; i++) {
        subject *s = subject_new(cases[i], best(), 2);
        check_passes(s);
        subject_free(s);
    }
}

/* ---- nothing of it in an answer ---- */

static vit_status first_picture(float *images, size_t first, size_t count, void *context,
                                vit_error *error) {
    (void)first, (void)count, (void)error;
    const subject *s = context;
    memcpy(images, s->image, s->pixels * sizeof *images);
    return VIT_OK;
}

static void look_away(const vit_seen *seen, void *context) {
    (void)seen, (void)context;
}

static void logits_are_an_ordinary_answers(void **state) {
    const vit_kernels *tables[CHECK_MOST_TABLES];
    const size_t count = check_tables(tables);
    for (size_t i = 0; i < CASES; i++) {
        for (size_t t = 0; t < count; t++) {
            subject *s = subject_new(cases[i], tables[t], 1 + (int)t);
            const size_t classes = s->network.config.classes;
            vit_inference *inference;
            float *logits = check_floats(classes);
            assert_int_equal(vit_inference_new(&inference, &s->network, tables[t], 1, NULL),
                             VIT_OK);
            assert_int_equal(vit_inference_run(inference, logits, NULL, first_picture, s, 1, NULL),
                             VIT_OK);
            assert_int_equal(vit_explainer_forward(s->explainer, s->image, NULL, NULL, NULL),
                             VIT_OK);
            assert_memory_equal(logits, s->explainer->state.head.logits, classes * sizeof *logits);
            assert_int_equal(vit_explainer_forward(s->explainer, s->image, look_away, NULL, NULL),
                             VIT_OK);
            assert_memory_equal(logits, s->explainer->state.head.logits, classes * sizeof *logits);
            vit_inference_free(inference);
            free(logits);
            subject_free(s);
        }
    }
}

/* ---- maps ---- */

static void check_attention(const subject *s) {
    const vit_config *c = &s->network.config;
    float *want = fixture_floats(s->maps, "attention", "");
    const size_t n = s->tokens, size = c->heads * n * n, last = n - 1;
    for (size_t layer = 0; layer < c->depth; layer++) {
        vit_map all =
            map_of(s, (vit_map_options){.query = VIT_QUERY_ALL, .layer = vit_given((double)layer)});
        assert_int_equal(all.dims, 3);
        assert_true(all.shape[0] == c->heads && all.shape[1] == n && all.shape[2] == n);
        assert_true(check_difference(all.values, want + layer * size, size) <= 1e-5);
        vit_map one = map_of(s, (vit_map_options){.query = VIT_QUERY_TOKEN,
                                                  .token = last,
                                                  .layer = vit_given((double)layer),
                                                  .head = vit_given((double)(c->heads - 1))});
        assert_int_equal(one.dims, 2);
        assert_memory_equal(one.values, all.values + size - n + s->prefix,
                            s->patches * sizeof(float));
        vit_map_clear(&all);
        vit_map_clear(&one);
    }
    free(want);
}

static void check_pool(const subject *s) {
    const vit_config *c = &s->network.config;
    const size_t skip = c->pool_prefix ? s->prefix : 0, keys = s->patches + skip;
    const size_t heads = c->pool == VIT_POOL_MAP ? vit_config_pool_heads(c) : c->heads;
    if (!vit_tensors_find(s->maps, "pool")) return;
    float *want = fixture_floats(s->maps, "pool", "");
    vit_map map = map_of(s, (vit_map_options){.query = VIT_QUERY_POOL});
    assert_int_equal(map.shape[0], heads);
    for (size_t h = 0; h < heads; h++) {
        const float *row = want + (c->pool == VIT_POOL_MAP ? h * keys : 0) + skip;
        assert_true(check_difference(map.values + h * s->patches, row, s->patches) <= 1e-5);
    }
    vit_map_clear(&map);
    free(want);
}

static void check_maps(const subject *s) {
    const vit_config *c = &s->network.config;
    const vit_map_options of_class = {.class_index = vit_given((double)CLASS)};
    const struct {
        vit_method method;
        vit_query query;
        vit_fuse fuse;
        const char *name;
        double discard;
    } rows[] = {{VIT_METHOD_ROLLOUT, VIT_QUERY_ALL, VIT_FUSE_MEAN, "rollout", 0},
                {VIT_METHOD_ROLLOUT, VIT_QUERY_ALL, VIT_FUSE_MAX, "rollout_max", 1. / 3},
                {VIT_METHOD_RELEVANCE, VIT_QUERY_DEFAULT, VIT_FUSE_MEAN, "relevance", 0},
                {VIT_METHOD_GRADCAM, VIT_QUERY_DEFAULT, VIT_FUSE_MEAN, "gradcam", 0},
                {VIT_METHOD_LENS, VIT_QUERY_DEFAULT, VIT_FUSE_MEAN, "lens", 0}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        vit_map_options o = of_class;
        o.method = rows[i].method;
        o.query = rows[i].query;
        o.fuse = rows[i].fuse;
        o.discard = rows[i].discard;
        vit_map map = map_of(s, o);
        near(s, rows[i].name, map.values, rows[i].name, 1e-4);
        if (o.method == VIT_METHOD_LENS)
            assert_memory_equal(map.values + (c->depth - 1) * c->classes,
                                s->explainer->state.head.logits, c->classes * sizeof(float));
        vit_map_clear(&map);
    }
}

static void maps_are_pytorchs(void **state) {
    for (size_t i = 0; i < CASES; i++) {
        subject *s = subject_new(cases[i], best(), 2);
        check_attention(s);
        check_pool(s);
        check_maps(s);
        subject_free(s);
    }
}

/* Chefer's, pytorch-grad-cam's and captum's, as tests/fixtures/make_map_peers.py says. Integrated
 * gradients of a network that normalises patches nearly cancel: rounding weighs more in what is
 * left. */
static void maps_are_those_of_published_programs(void **state) {
    static const vit_method methods[] = {VIT_METHOD_RELEVANCE,  VIT_METHOD_ROLLOUT,
                                         VIT_METHOD_GRADCAM,    VIT_METHOD_GRADIENT,
                                         VIT_METHOD_INTEGRATED, VIT_METHOD_OCCLUSION};
    vit_tensors *file = open_file(".", "map_peers");
    size_t compared = 0;
    for (size_t i = 0; i < CASES; i++) {
        subject *s = subject_new(cases[i], best(), 2);
        for (size_t k = 0; k < sizeof methods / sizeof *methods; k++) {
            char name[100];
            snprintf(name, sizeof name, "%s.%s", s->name, vit_method_name(methods[k]));
            if (!vit_tensors_find(file, name)) continue;
            vit_map map = map_of(s, (vit_map_options){.method = methods[k],
                                                      .class_index = vit_given((double)CLASS)});
            near_of(file, s, name, map.values, name,
                    methods[k] == VIT_METHOD_INTEGRATED ? 2e-4 : 1e-4);
            vit_map_clear(&map);
            compared++;
        }
        subject_free(s);
    }
    assert_int_equal(compared, vit_tensors_count(file));
    vit_tensors_close(file);
}

static void maps_are_the_same_everywhere(void **state) {
    const vit_kernels *tables[CHECK_MOST_TABLES];
    const size_t count = check_tables(tables);
    for (size_t i = 0; i < CASES; i += 4) {
        for (int method = 0; method < VIT_METHOD_COUNT; method++) {
            vit_map first = {0};
            for (size_t t = 0; t < count; t++) {
                subject *s = subject_new(cases[i], tables[t], 1 + 2 * (int)t);
                vit_map map = map_of(s, (vit_map_options){.method = (vit_method)method});
                size_t size = map.shape[0] * map.shape[1] * (map.dims > 2 ? map.shape[2] : 1);
                if (t > 0) assert_memory_equal(map.values, first.values, size * sizeof(float));
                if (t > 0) vit_map_clear(&map);
                if (t == 0) first = map;
                subject_free(s);
            }
            vit_map_clear(&first);
        }
    }
}

/* ---- rollout in closed form ---- */

/* depth layers of the same attention p, [heads][T][padded T] -> r, freed by the caller. */
static float *roll(const float *p, size_t heads, size_t tokens, size_t depth, vit_fuse fuse,
                   double discard) {
    const vit_exec exec = {.kernels = best(), .threads = 1, .room = check_floats(VIT_GEMM_ROOM)};
    const size_t row = vit_padded(tokens), size = tokens * row;
    float *a = check_floats(size), *r = check_floats(size), *next = check_floats(size);
    memset(r, 0, size * sizeof *r);
    for (size_t t = 0; t < tokens; t++) r[t * row + t] = 1;
    for (size_t l = 0; l < depth; l++) {
        vit_rollout_matrix(&exec, a, p, heads, tokens, fuse, discard);
        vit_rollout_step(&exec, next, a, r, tokens);
        float *last = r;
        r = next;
        next = last;
    }
    free(a);
    free(next);
    free(exec.room);
    return r;
}

static void rollout_of_known_attention(void **state) {
    const size_t tokens = 19, row = vit_padded(tokens), depth = 5;
    float *p = check_floats(tokens * row);
    memset(p, 0, tokens * row * sizeof *p);
    for (size_t t = 0; t < tokens; t++) p[t * row + t] = 1;
    float *r = roll(p, 1, tokens, depth, VIT_FUSE_MEAN, 0);
    for (size_t t = 0; t < tokens; t++)
        for (size_t j = 0; j < tokens; j++) assert_true(r[t * row + j] == (t == j ? 1.0f : 0.0f));
    free(r);
    for (size_t i = 0; i < tokens * row; i++) p[i] = 1 / (float)tokens;
    r = roll(p, 1, tokens, depth, VIT_FUSE_MEAN, 0);
    const double stays = exp2(-(double)depth), even = (1 - stays) / (double)tokens;
    for (size_t t = 0; t < tokens; t++)
        for (size_t j = 0; j < tokens; j++)
            assert_true(fabs((double)r[t * row + j] - even - (t == j ? stays : 0)) <= 1e-7);
    free(r);
    free(p);
}

static void rows_of_rollout_sum_to_one(void **state) {
    const size_t heads = 3, tokens = 197, row = vit_padded(tokens), depth = 24;
    float *p = check_floats(heads * tokens * row);
    vit_random random = vit_random_start(1, VIT_RANDOM_TEST, 0, 0);
    check_fill(p, heads * tokens * row, 6, &random);
    best()->softmax(p, heads * tokens, tokens);
    const double discards[] = {0, .5, .9, .999};
    for (int fuse = 0; fuse < VIT_FUSE_COUNT; fuse++) {
        for (size_t d = 0; d < sizeof discards / sizeof *discards; d++) {
            float *r = roll(p, heads, tokens, depth, (vit_fuse)fuse, discards[d]);
            for (size_t t = 0; t < tokens; t++) {
                double sum = 0;
                for (size_t j = 0; j < tokens; j++) sum += (double)r[t * row + j];
                assert_true(fabs(sum - 1) <= 1e-6);
            }
            free(r);
        }
    }
    free(p);
}

static void the_largest_weight_stays(void **state) {
    enum { TOKENS = 5, ROW = 16 };
    const vit_exec exec = {.kernels = best(), .threads = 1};
    const float row[TOKENS] = {.1f, .4f, .2f, .2f, .1f};
    float p[TOKENS * ROW] = {0}, a[TOKENS * ROW];
    for (size_t t = 0; t < TOKENS; t++) memcpy(p + t * ROW, row, sizeof row);
    vit_rollout_matrix(&exec, a, p, 1, TOKENS, VIT_FUSE_MEAN, .999);
    for (size_t t = 0; t < TOKENS; t++)
        for (size_t j = 0; j < TOKENS; j++) assert_true((a[t * ROW + j] > 0) == (j == 1 || j == t));
    vit_rollout_matrix(&exec, a, p, 1, TOKENS, VIT_FUSE_MEAN, .61); /* three, the first of equals */
    for (size_t j = 0; j < TOKENS; j++) assert_true((a[ROW + j] > 0) == (j == 1 || j == 3));
}

/* ---- pixels ---- */

static double logit_at(const subject *s, float share) {
    float *image = check_floats(s->pixels);
    for (size_t i = 0; i < s->pixels; i++) image[i] = share * s->image[i];
    assert_int_equal(vit_explainer_forward(s->explainer, image, NULL, NULL, NULL), VIT_OK);
    const double logit = (double)s->explainer->state.head.logits[CLASS];
    free(image);
    return logit;
}

static void integrated_gradients_add_up(void **state) {
    for (size_t i = 0; i < CASES; i += 3) {
        subject *s = subject_new(cases[i], best(), 1);
        vit_map map = map_of(s, (vit_map_options){.method = VIT_METHOD_INTEGRATED,
                                                  .class_index = vit_given((double)CLASS),
                                                  .steps = 1000});
        double sum = 0, size = 1;
        for (size_t j = 0; j < s->patches; j++) {
            sum += (double)map.values[j];
            size += fabs((double)map.values[j]);
        }
        const double want = logit_at(s, 1) - logit_at(s, 0);
        if (!(fabs(sum - want) <= 1e-3 * size))
            fail_msg("%s: the map adds up to %g, expected %g", s->name, sum, want);
        vit_map_clear(&map);
        subject_free(s);
    }
}

/* 1 - probability of the class without some patches, by hand. */
static double doubt_without(const subject *s, const bool *gone) {
    const vit_config *c = &s->network.config;
    float *image = check_floats(s->pixels);
    for (size_t y = 0; y < c->height; y++)
        for (size_t x = 0; x < c->width; x++)
            for (size_t k = 0; k < c->channels; k++) {
                const size_t at = (y * c->width + x) * c->channels + k;
                const size_t patch = y / c->patch * (c->width / c->patch) + x / c->patch;
                image[at] = gone[patch] ? 0 : s->image[at];
            }
    assert_int_equal(vit_explainer_forward(s->explainer, image, NULL, NULL, NULL), VIT_OK);
    free(image);
    return vit_map_doubt(s->explainer->state.head.logits, c->classes, CLASS);
}

static void occlusion_is_what_a_patch_gives(void **state) {
    subject *s = subject_new("lecture_colour", best(), 2);
    vit_map map = map_of(s, (vit_map_options){.method = VIT_METHOD_OCCLUSION,
                                              .class_index = vit_given((double)CLASS)});
    bool *gone = calloc(s->patches, sizeof *gone);
    const double whole = doubt_without(s, gone);
    assert_true(fabs(map.probability - (1 - whole)) <= 1e-12);
    for (size_t i = 0; i < s->patches; i++) {
        memset(gone, 0, s->patches * sizeof *gone);
        gone[i] = true;
        assert_true(map.values[i] == (float)(doubt_without(s, gone) - whole));
    }
    free(gone);
    vit_map_clear(&map);
    subject_free(s);
}

static void curves_take_the_largest_first(void **state) {
    subject *s = subject_new("lecture_colour", best(), 2);
    const size_t n = s->patches;
    float *values = check_floats(n), *curve = check_floats(n + 1);
    bool *gone = calloc(n, sizeof *gone);
    for (size_t i = 0; i < n; i++) values[i] = (float)(i * 5 % n);
    for (int kind = 0; kind < 4; kind++) {
        const bool insertion = kind % 2 == 1;
        const size_t step = kind < 2 ? 1 : n / 2 + 1; /* the second: two steps, of unequal width */
        double area, want = 0, before = 0;
        assert_int_equal(vit_map_curve(curve, &area, s->explainer, s->image, values, insertion,
                                       step, CLASS, NULL),
                         VIT_OK);
        for (size_t k = 0; k < vit_curve_points(n, step); k++) {
            const size_t done = k * step < n ? k * step : n;
            for (size_t i = 0; i < n; i++) gone[i] = (values[i] >= (float)(n - done)) != insertion;
            const double p = 1 - doubt_without(s, gone);
            assert_true(fabs((double)curve[k] - p) <= 1e-7);
            if (k > 0) want += (before + p) / 2 * (double)(done - (k - 1) * step) / (double)n;
            before = p;
        }
        assert_true(fabs(area - want) <= 1e-6);
    }
    free(values);
    free(curve);
    free(gone);
    subject_free(s);
}

/* ---- options ---- */

static void check_refused(const subject *s, vit_map_options options, const char *part) {
    vit_error error;
    assert_int_equal(vit_map_check(&options, &s->network.config, &error), VIT_ERROR_ARGUMENT);
    if (!strstr(error.message, part)) fail_msg("\"%s\" lacks \"%s\"", error.message, part);
}

static void what_is_out_of_range_is_refused(void **state) {
    subject *s = subject_new("lecture_colour", best(), 1);
    const vit_config *c = &s->network.config;
    check_refused(s, (vit_map_options){.method = VIT_METHOD_COUNT}, "method 11");
    check_refused(s, (vit_map_options){.layer = vit_given((double)c->depth)}, "layer 1 ");
    check_refused(s, (vit_map_options){.head = vit_given((double)c->heads)}, "head 3 ");
    check_refused(s, (vit_map_options){.query = VIT_QUERY_TOKEN, .token = s->tokens}, "token 7 ");
    check_refused(s, (vit_map_options){.query = VIT_QUERY_POOL}, "does not pool by attention");
    check_refused(s, (vit_map_options){.method = VIT_METHOD_RELEVANCE, .query = VIT_QUERY_ALL},
                  "one query");
    check_refused(s,
                  (vit_map_options){.method = VIT_METHOD_RELEVANCE,
                                    .class_index = vit_given((double)c->classes)},
                  "class 4 ");
    check_refused(s, (vit_map_options){.method = VIT_METHOD_ROLLOUT, .discard = 1}, "discard 1");
    check_refused(s, (vit_map_options){.method = VIT_METHOD_ROLLOUT, .discard = NAN}, "discard");
    s->network.config.positions = VIT_POSITIONS_NONE;
    check_refused(s, (vit_map_options){.method = VIT_METHOD_POSITIONS}, "no positions to compare");
    subject_free(s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(passes_are_pytorchs),
        cmocka_unit_test(logits_are_an_ordinary_answers),
        cmocka_unit_test(maps_are_pytorchs),
        cmocka_unit_test(maps_are_those_of_published_programs),
        cmocka_unit_test(maps_are_the_same_everywhere),
        cmocka_unit_test(rollout_of_known_attention),
        cmocka_unit_test(rows_of_rollout_sum_to_one),
        cmocka_unit_test(the_largest_weight_stays),
        cmocka_unit_test(integrated_gradients_add_up),
        cmocka_unit_test(occlusion_is_what_a_patch_gives),
        cmocka_unit_test(curves_take_the_largest_first),
        cmocka_unit_test(what_is_out_of_range_is_refused),
    };
    return cmocka_run_group_tests_name("explain", tests, NULL, NULL);
}
