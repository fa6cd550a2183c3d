/* However a model comes to be open and a picture to its network, the answer is the same: in f32 to
 * the bit on every instruction set, in bf16 to the bit on one, and near that of f32. Sources of the
 * model times precisions, instruction sets, threads and ways of asking. */
#include "tests/support/check.h"
#include "tests/support/scratch.h"
#include "tests/support/unit.h"
#include "vit/api/internal.h"
#include "vit/formats/json.h"
#include "vit/tensors/safetensors.h"
#include "vit/tensors/tensors.h"
#include "vit/vit.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* How far a rounded answer may be away, of the largest of a row of logits or features: bfloat16
 * rounds by 2^-9, 8 bits by 2^-8 of a row's largest, through two or three blocks of random weights.
 */
static const double bounds[VIT_PRECISION_COUNT] = {
    [VIT_PRECISION_BF16] = .03, [VIT_PRECISION_INT8] = .08};

static char project[4096];

static const char *in_project(char path[5000], const char *name) {
    snprintf(path, 5000, "%s/tests/fixtures/%s", project, name);
    return path;
}

/* ---- ways to ask ---- */

#define PICTURES 3
#define PREPARED 4

/* Rows of logits and of features, of the pictures and of what is prepared. */
typedef struct answers {
    size_t classes, features;
    float *logits, *embeddings, *prepared;
} answers;

static void free_answers(answers *a) {
    free(a->logits);
    free(a->embeddings);
    free(a->prepared);
}

static void assert_rows(const float *got, const float *want, size_t count, const char *way) {
    const size_t other = check_first_other(got, want, count);
    if (other < count)
        fail_msg("%s: number %zu is %a, expected %a", way, other, (double)got[other],
                 (double)want[other]);
}

static void succeeds(vit_status status, const vit_error *error) {
    if (status != VIT_OK) fail_msg("%s", error->message);
}

static const vit_picture *pictures(void) {
    static const char *const names[] = {"published/picture.png", "image_rgb.png", "image_grey.jpg"};
    static char paths[PICTURES][5000];
    static vit_picture list[PICTURES];
    for (size_t i = 0; i < PICTURES; i++)
        list[i] = (vit_picture){.name = in_project(paths[i], names[i])};
    return list;
}

/* A picture alone, and its features. */
static void ask_one(answers *a, vit_session *s, size_t i) {
    vit_error e;
    succeeds(vit_classify_file(s, pictures()[i].name, a->logits + i * a->classes, &e), &e);
    succeeds(vit_session_features(s, a->embeddings + i * a->features, &e), &e);
}

/* The same from memory; a row of features alone. */
static void ask_again(const answers *a, vit_session *s, size_t i) {
    const vit_picture *p = &pictures()[i];
    vit_bytes bytes;
    vit_error e;
    const float *logits = a->logits + i * a->classes, *row = a->embeddings + i * a->features;
    float *again = check_floats(a->classes + a->features);
    succeeds(vit_read_file(&bytes, p->name, 1 << 24, &e), &e);
    succeeds(vit_classify_memory(s, bytes.data, bytes.size, p->name, again, &e), &e);
    assert_rows(again, logits, a->classes, "from memory");
    succeeds(vit_embed_file(s, p->name, again, &e), &e);
    assert_rows(again, row, a->features, "vit_embed_file");
    vit_free(bytes.data);
    free(again);
}

/* Many at a time, each twice. */
static void ask_many(const answers *a, vit_session *s) {
    vit_picture list[2 * PICTURES];
    vit_answer about[2 * PICTURES];
    vit_error e;
    float *logits = check_floats(2 * PICTURES * a->classes);
    float *rows = check_floats(2 * PICTURES * a->features);
    for (size_t i = 0; i < 2 * PICTURES; i++) list[i] = pictures()[i % PICTURES];
    succeeds(vit_classify_many(s, list, 2 * PICTURES, logits, rows, about, &e), &e);
    for (size_t i = 0; i < 2; i++) {
        assert_rows(logits + i * PICTURES * a->classes, a->logits, PICTURES * a->classes, "many");
        assert_rows(rows + i * PICTURES * a->features, a->embeddings, PICTURES * a->features,
                    "features of many");
    }
    free(logits);
    free(rows);
}

static void ask_prepared(answers *a, vit_session *s, const vit_model_info *info, bool one_by_one) {
    const size_t bytes = info->height * info->width * info->channels;
    uint8_t *images = malloc(PREPARED * bytes);
    float *one = check_floats(a->classes);
    vit_error e;
    assert_non_null(images);
    for (size_t i = 0; i < PREPARED * bytes; i++) images[i] = (uint8_t)(i * 2654435761u >> 13);
    succeeds(vit_classify_prepared(s, images, PREPARED, a->prepared, &e), &e);
    for (size_t i = 0; one_by_one && i < PREPARED; i++) {
        succeeds(vit_classify_prepared(s, images + i * bytes, 1, one, &e), &e);
        assert_rows(one, a->prepared + i * a->classes, a->classes, "prepared, one by one");
    }
    free(one);
    free(images);
}

/* In every way, or in one. */
static answers ask(const vit_model *m, const vit_session_options *options, bool every_way) {
    const vit_model_info info = vit_model_describe(m);
    answers a = {.classes = info.classes, .features = info.features};
    vit_session *s;
    vit_error e;
    a.logits = check_floats(PICTURES * a.classes);
    a.embeddings = check_floats(PICTURES * a.features);
    a.prepared = check_floats(PREPARED * a.classes);
    succeeds(vit_session_new(&s, m, options, &e), &e);
    for (size_t i = 0; i < PICTURES; i++) ask_one(&a, s, i);
    for (size_t i = 0; every_way && i < PICTURES; i++) ask_again(&a, s, i);
    if (every_way) ask_many(&a, s);
    ask_prepared(&a, s, &info, every_way);
    vit_session_free(s);
    return a;
}

/* ---- what they must be ---- */

/* Of one network: its answers in each precision, from whichever road came first. */
typedef struct expected {
    answers rows[VIT_PRECISION_COUNT];
    bool known[VIT_PRECISION_COUNT];
    size_t roads; /* so far */
} expected;

static void assert_near(const float *got, const float *want, size_t count, double bound) {
    const double difference = check_difference(got, want, count);
    if (!(difference > 0 && difference <= bound))
        fail_msg("what is rounded is %.3g of the largest away from f32", difference);
}

static void check_near(const answers *rounded, const answers *f32, double bound) {
    assert_near(rounded->logits, f32->logits, PICTURES * f32->classes, bound);
    assert_near(rounded->embeddings, f32->embeddings, PICTURES * f32->features, bound);
    assert_near(rounded->prepared, f32->prepared, PREPARED * f32->classes, bound);
}

/* Takes *got over. */
static void check_answers(expected *e, answers *got, vit_precision precision) {
    answers *want = &e->rows[precision];
    if (!e->known[precision]) {
        *want = *got;
        e->known[precision] = true;
        if (precision != VIT_PRECISION_F32)
            check_near(got, &e->rows[VIT_PRECISION_F32], bounds[precision]);
        return;
    }
    assert_int_equal(got->classes, want->classes);
    assert_int_equal(got->features, want->features);
    assert_rows(got->logits, want->logits, PICTURES * want->classes, "logits");
    assert_rows(got->embeddings, want->embeddings, PICTURES * want->features, "features");
    assert_rows(got->prepared, want->prepared, PREPARED * want->classes, "prepared");
    free_answers(got);
}

static void free_expected(expected *e) {
    for (size_t i = 0; i < VIT_PRECISION_COUNT; i++)
        if (e->known[i]) free_answers(&e->rows[i]);
}

/* ---- roads to a model ---- */

/* A model by its path, or by its bytes. */
typedef struct road {
    const char *path;
    bool from_memory;
    size_t height, width; /* or 0 */
    const char *config;   /* or NULL */
} road;

static vit_model *open_road(const road *r, const char *cpu, vit_precision precision) {
    const vit_model_options options = {.height = r->height,
                                       .width = r->width,
                                       .config = r->config,
                                       .cpu = cpu,
                                       .precision = precision};
    vit_model *m;
    vit_bytes bytes;
    vit_error e;
    if (!r->from_memory) {
        succeeds(vit_model_load_with(&m, r->path, &options, &e), &e);
        return m;
    }
    succeeds(vit_read_file(&bytes, r->path, (size_t)1 << 30, &e), &e);
    succeeds(vit_model_load_memory(&m, bytes.data, bytes.size, r->path, &options, &e), &e);
    memset(bytes.data, 0, bytes.size);
    vit_free(bytes.data);
    return m;
}

/* A session of a model opened for `opened`; of the first road asked in every way, except in plain
 * C. */
static void check_session(expected *e, const vit_model *m, const vit_session_options *options,
                          vit_precision opened) {
    vit_session *s;
    vit_error error;
    if (opened == VIT_PRECISION_BF16 && options->precision == VIT_PRECISION_F32) {
        assert_int_equal(vit_session_new(&s, m, options, &error), VIT_ERROR_ARGUMENT);
        assert_says(&error, VIT_ERROR_ARGUMENT, "opened for bf16", "open it for f32");
        return;
    }
    answers got = ask(m, options, e->roads <= 1 && strcmp(options->cpu, "scalar") != 0);
    check_answers(e, &got, options->precision);
}

/* Sessions on a model that was opened with this instruction set, in the precisions that it has; in
 * 8 bits on the first two roads. */
static void check_model(expected *e, const vit_model *m, const char *cpu, int threads,
                        vit_precision opened) {
    const char *bf16 = check_bf16_cpu();
    vit_session_options options = {.threads = threads, .cpu = cpu};
    check_session(e, m, &options, opened);
    options.precision = VIT_PRECISION_BF16;
    if (bf16 && strcmp(cpu, bf16) == 0) check_session(e, m, &options, opened);
    options.precision = VIT_PRECISION_INT8;
    if (opened == VIT_PRECISION_F32 && e->roads <= 2) check_session(e, m, &options, opened);
}

static void check_opened(expected *e, const road *r, const char *cpu, int threads,
                         vit_precision opened) {
    vit_model *m = open_road(r, cpu, opened);
    check_model(e, m, cpu, threads, opened);
    vit_model_free(m);
}

/* All in two ways, one for each precision; the first road of a network on scalar C and with several
 * threads, too. Where bfloat16 is plain C, which takes minutes for all, the first two roads have
 * it.
 */
static void check_road(expected *e, const road *r) {
    const char *bf16 = check_bf16_cpu();
    const bool is_slow = bf16 && strcmp(bf16, "scalar") == 0;
    if (e->roads++ == 0) check_opened(e, r, "scalar", 3, VIT_PRECISION_F32);
    check_opened(e, r, vit_cpu_name(vit_cpu_detect()), 1, VIT_PRECISION_F32);
    if (bf16 && (!is_slow || e->roads <= 2)) check_opened(e, r, bf16, 1, VIT_PRECISION_BF16);
}

/* ---- published networks ---- */

static bool converts(const char *in, const char *out, const char *layout) {
    const vit_convert_options options = {.in = in, .out = out, .layout = layout};
    vit_error e;
    const vit_status status = vit_convert(&options, &e);
    if (status != VIT_OK && status != VIT_ERROR_UNSUPPORTED) fail_msg("%s", e.message);
    return status == VIT_OK;
}

static void copy_beside(const char *directory, const char *name) {
    char from[6000], to[300];
    vit_bytes bytes;
    vit_writer *out;
    snprintf(from, sizeof from, "%s/%s", directory, name);
    snprintf(to, sizeof to, "shards/%s", name);
    if (vit_path_look(from) != VIT_PATH_FILE) return;
    assert_int_equal(vit_read_file(&bytes, from, 1 << 24, NULL), VIT_OK);
    assert_int_equal(vit_writer_open(&out, to, NULL), VIT_OK);
    assert_int_equal(vit_writer_put(out, bytes.data, bytes.size, NULL), VIT_OK);
    assert_int_equal(vit_writer_commit(out, NULL), VIT_OK);
    vit_free(bytes.data);
}

/* shards/: the same tensors in two files and their index; false where they are no safetensors. */
static bool split(const char *directory) {
    char path[6000], name[40];
    vit_tensors *file;
    snprintf(path, sizeof path, "%s/model.safetensors", directory);
    if (vit_path_look(path) != VIT_PATH_FILE) return false;
    assert_int_equal(vit_tensors_open(&file, path, NULL), VIT_OK);
    assert_int_equal(vit_make_directory("shards", NULL), VIT_OK);
    const size_t count = vit_tensors_count(file);
    vit_tensor *half = malloc((count + 1) * sizeof *half);
    json_t *map = json_object(), *index = json_pack("{s:O}", "weight_map", map);
    assert_non_null(half);
    for (size_t shard = 0; shard < 2; shard++) {
        size_t n = 0;
        snprintf(name, sizeof name, "model-%zu-of-2.safetensors", shard + 1);
        for (size_t i = shard; i < count; i += 2) {
            half[n] = *vit_tensors_at(file, i);
            json_object_set_new(map, half[n++].name, json_string(name));
        }
        snprintf(path, sizeof path, "shards/%s", name);
        assert_int_equal(vit_safetensors_write(path, half, n, NULL, 0, NULL), VIT_OK);
    }
    assert_int_equal(json_dump_file(index, "shards/model.safetensors.index.json", 0), 0);
    copy_beside(directory, "config.json");
    copy_beside(directory, "open_clip_config.json");
    copy_beside(directory, "preprocessor_config.json");
    json_decref(map);
    json_decref(index);
    free(half);
    vit_tensors_close(file);
    return true;
}

/* At another size, where the network takes one: alone, as a model file has forgotten by which rule
 * its library resamples positions. */
static void check_other_size(const char *directory) {
    vit_model *m;
    vit_error e;
    assert_int_equal(vit_model_load(&m, directory, &e), VIT_OK);
    const vit_model_info info = vit_model_describe(m);
    const road larger = {.path = directory,
                         .height = info.height + info.patch,
                         .width = info.width + 2 * info.patch};
    const vit_model_options options = {.height = larger.height, .width = larger.width};
    vit_model_free(m);
    if (vit_model_load_with(&m, directory, &options, &e) != VIT_OK) {
        assert_int_equal(e.status, VIT_ERROR_ARGUMENT);
        return;
    }
    assert_int_equal(vit_model_describe(m).height, larger.height);
    vit_model_free(m);
    expected sized = {.roads = 2}; /* not in plain C */
    check_road(&sized, &larger);
    free_expected(&sized);
}

/* Other libraries have the pixels of a patch in another order, in which a sum is rounded otherwise.
 */
static bool turns_patches(const char *directory) {
    vit_model *m;
    assert_int_equal(vit_model_load(&m, directory, NULL), VIT_OK);
    const bool turns = strstr(vit_model_describe(m).config, "\"pixel\"") != NULL;
    vit_model_free(m);
    return turns;
}

static void check_rounding(const expected *got, const expected *want) {
    const answers *a = &got->rows[VIT_PRECISION_F32], *b = &want->rows[VIT_PRECISION_F32];
    assert_true(check_difference(a->logits, b->logits, PICTURES * a->classes) <= 1e-5);
    assert_true(check_difference(a->prepared, b->prepared, PREPARED * a->classes) <= 1e-5);
}

static void test_published(void **state) {
    const char *name = *state;
    char directory[5000], below[200];
    static const char *const layouts[] = {"timm", "hf", "torchvision", "npz"};
    snprintf(below, sizeof below, "published/%s", name);
    in_project(directory, below);
    expected e = {0};
    check_road(&e, &(road){.path = directory});
    assert_true(converts(directory, "own.safetensors", NULL));
    check_road(&e, &(road){.path = "own.safetensors"});
    check_road(&e, &(road){.path = "own.safetensors", .from_memory = true});
    if (split(directory)) check_road(&e, &(road){.path = "shards"});
    for (size_t i = 0; i < COUNT(layouts); i++) {
        const road there = {.path = layouts[i]};
        expected turned = {0};
        if (!converts("own.safetensors", layouts[i], layouts[i])) continue;
        check_road(turns_patches(directory) ? &turned : &e, &there);
        if (turned.roads > 0) check_rounding(&turned, &e);
        free_expected(&turned);
    }
    free_expected(&e);
    check_other_size(directory);
}

/* The same weights as PyTorch and training programs save them, with the moments of an optimizer and
 * settings beside them (tests/fixtures/make_roads.py): as a directory, and the file alone, to which
 * the config is named. */
static void test_pickled(void **state) {
    static const char *const files[] = {"timm_gap/pytorch_model.bin",
                                        "timm_saver/model_best.pth.tar",
                                        "lightning/last.ckpt",
                                        "fastai/learner.pth",
                                        "hf_trainer/pytorch_model.bin",
                                        "pytorch_example/checkpoint.pth.tar",
                                        "tutorial/last.pt",
                                        "hydra/last.ckpt"};
    char path[5000], config[5000], below[200];
    expected e = {0};
    in_project(config, "published/timm_gap/config.json");
    check_road(&e, &(road){.path = in_project(path, "published/timm_gap")});
    for (size_t i = 0; i < COUNT(files); i++) {
        snprintf(below, sizeof below, "roads/%s", files[i]);
        in_project(path, below);
        check_road(&e, &(road){.path = path, .from_memory = true, .config = config});
        *strrchr(path, '/') = '\0';
        check_road(&e, &(road){.path = path});
    }
    free_expected(&e);
}

/* A student and a teacher: neither is taken. */
/* Checkpoints of trainings without labels: the network of the teacher, or of the base encoder, is
 * read, and what is left out is said. features.npy is timm's. */
static void test_pretraining(void **state) {
    static const struct {
        const char *name, *left_out;
    } cases[] = {{"dino", "head"},
                 {"ibot", "masked_embed, head"},
                 {"dinov2", "student"},
                 {"dinov2_teacher", "dino_head"},
                 {"moco_v3", "momentum_enc"},
                 {"mae", "decoder_blocks"}};
    char path[5000], below[200];
    float want[12], got[12];
    vit_bytes npy;
    vit_error e;
    succeeds(vit_read_file(&npy, in_project(path, "pretraining/features.npy"), 1 << 12, &e), &e);
    memcpy(want, npy.data + npy.size - sizeof want, sizeof want);
    vit_free(npy.data);
    for (size_t i = 0; i < COUNT(cases); i++) {
        vit_model *m;
        vit_session *s;
        snprintf(below, sizeof below, "pretraining/%s", cases[i].name);
        succeeds(vit_model_load(&m, in_project(path, below), &e), &e);
        succeeds(vit_session_new(&s, m, NULL, &e), &e);
        succeeds(vit_embed_file(s, in_project(path, "published/picture.png"), got, &e), &e);
        for (size_t k = 0; k < COUNT(want); k++)
            if (!(fabsf(got[k] - want[k]) < 1e-4F))
                fail_msg("%s: feature %zu is %g, timm's %g", cases[i].name, k, (double)got[k],
                         (double)want[k]);
        if (!strstr(vit_model_describe(m).recipe, cases[i].left_out))
            fail_msg("%s: %s", cases[i].name, vit_model_describe(m).recipe);
        vit_session_free(s);
        vit_model_free(m);
    }
}

static void test_no_pretraining(void **state) {
    char path[5000];
    vit_model *m;
    vit_error e;
    assert_int_equal(vit_model_load(&m, in_project(path, "pretraining/distilled"), &e),
                     VIT_ERROR_UNSUPPORTED);
    assert_says(&e, VIT_ERROR_UNSUPPORTED, "it holds a student and a teacher", "['teacher']");
    assert_int_equal(vit_model_load(&m, in_project(path, "pretraining/peft"), &e),
                     VIT_ERROR_UNSUPPORTED);
    assert_says(&e, VIT_ERROR_UNSUPPORTED, "an adapter of PEFT", "merge_and_unload");
}

static void test_two_networks(void **state) {
    char path[5000];
    vit_model *m;
    vit_error e;
    assert_int_equal(vit_model_load(&m, in_project(path, "roads/two"), &e), VIT_ERROR_MISMATCH);
    assert_says(&e, VIT_ERROR_MISMATCH, "tensor teacher.", "is none of a Vision Transformer");
}

/* Published weights as bytes, to which the config is named. */
static void test_memory(void **state) {
    char directory[5000], weights[5000], config[5000];
    vit_bytes bytes;
    vit_model *m;
    vit_error e;
    expected rows = {0};
    in_project(directory, "published/timm_gap");
    in_project(weights, "published/timm_gap/model.safetensors");
    in_project(config, "published/timm_gap/config.json");
    check_road(&rows, &(road){.path = directory});
    check_road(&rows, &(road){.path = weights, .from_memory = true, .config = config});
    free_expected(&rows);
    succeeds(vit_read_file(&bytes, weights, 1 << 24, &e), &e);
    assert_int_equal(vit_model_load_memory(&m, bytes.data, bytes.size, "them", NULL, &e),
                     VIT_ERROR_UNSUPPORTED);
    assert_says(&e, VIT_ERROR_UNSUPPORTED, "them: tensors in the layout of timm", "config.json");
    vit_free(bytes.data);
}

/* ---- just trained ---- */

static void test_trained(void **state) {
    static const char preset[] =
        "{\"model\": {\"image\": [28, 28], \"channels\": 1, \"patch\": 14, "
        "\"dim\": 24, \"depth\": 2, \"heads\": 3, \"mlp\": 40, "
        "\"classes\": 10}, \"train\": {\"batch\": 8, \"epochs\": 1}}";
    const vit_train_options options = {
        .data = "digits", .preset = "small.json", .steps = 3, .out = "trained.safetensors"};
    vit_model *m;
    vit_error error;
    expected e = {0};
    put_file("small.json", preset);
    succeeds(vit_train(&m, &options, &error), &error);
    check_model(&e, m, vit_cpu_name(vit_cpu_detect()), 1, VIT_PRECISION_F32);
    check_model(&e, m, "scalar", 3, VIT_PRECISION_F32);
    check_road(&e, &(road){.path = options.out});
    check_road(&e, &(road){.path = options.out, .from_memory = true});
    vit_model_free(m);
    free_expected(&e);
}

/* ---- sessions of one model ---- */

/* They share what is rounded. */
static void test_shared(void **state) {
    char path[5000];
    const vit_network *networks[2], *own;
    vit_cpu cpu;
    if (!check_bf16_cpu() || !vit_cpu_parse(check_bf16_cpu(), &cpu)) skip();
    const road r = {.path = in_project(path, "published/timm_gap")};
    vit_model *m = open_road(&r, NULL, VIT_PRECISION_F32);
    vit_exec exec = {.kernels = vit_kernels_choose(cpu), .threads = 1};
    assert_int_equal(vit_model_network(&own, m, &exec, NULL), VIT_OK);
    exec.precision = VIT_PRECISION_BF16;
    for (size_t i = 0; i < 2; i++)
        assert_int_equal(vit_model_network(&networks[i], m, &exec, NULL), VIT_OK);
    assert_ptr_equal(networks[0], networks[1]);
    assert_ptr_not_equal(networks[0], own);
    vit_model_free(m);
}

/* Where the processor has no bfloat16, a model is not opened for it, and says why. */
static void test_refused(void **state) {
    char path[5000];
    vit_model *m;
    vit_error e;
    const vit_model_options options = {.cpu = "avx2", .precision = VIT_PRECISION_BF16},
                            unknown = {.precision = (vit_precision)7};
    in_project(path, "published/timm_gap");
    if (vit_cpu_detect() >= VIT_CPU_AVX2) {
        assert_int_equal(vit_model_load_with(&m, path, &options, &e), VIT_ERROR_ARGUMENT);
        assert_says(&e, VIT_ERROR_ARGUMENT, "precision bf16 needs", "avx2 is used");
        assert_null(m);
    }
    assert_int_equal(vit_model_load_with(&m, path, &unknown, &e), VIT_ERROR_ARGUMENT);
    assert_says(&e, VIT_ERROR_ARGUMENT, "precision 7", "f32, bf16 or int8");
}

static void test_bf16(void **state) {
    if (!check_bf16_cpu()) skip(); /* of it, nothing above was tested */
}

int main(void) {
    const struct CMUnitTest others[] = {
        cmocka_unit_test(test_memory),       IN_DIRECTORY(test_pickled),
        cmocka_unit_test(test_two_networks), IN_DIRECTORY(test_trained),
        cmocka_unit_test(test_pretraining),  cmocka_unit_test(test_no_pretraining),
        cmocka_unit_test(test_shared),       cmocka_unit_test(test_refused),
        cmocka_unit_test(test_bf16)};
    char **names;
    size_t count, n = 0;
    if (!getcwd(project, sizeof project) ||
        vit_list_directory(&names, &count, "tests/fixtures/published", NULL) != VIT_OK)
        return 1;
    struct CMUnitTest *tests = calloc(count + COUNT(others), sizeof *tests);
    if (!tests) return 1;
    for (size_t i = 0; i < count; i++)
        if (!strchr(names[i], '.'))
            tests[n++] = (struct CMUnitTest){names[i], test_published, enter_directory,
                                             leave_directory, names[i]};
    memcpy(tests + n, others, sizeof others);
    const int failed = _cmocka_run_group_tests("roads", tests, n + COUNT(others), NULL, NULL);
    free(tests);
    vit_free(names);
    return failed;
}
