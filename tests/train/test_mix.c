/* What the loader does to pictures beyond moving them: mixing, crops, holes, reflected edges; each
 * against its definition. */
#include "tests/support/check.h"
#include "tests/support/unit.h"
#include "vit/ops/loss.h"
#include "vit/train/step/loader.h"
#include <math.h>
#include <string.h>

#define DRAWS 4000

/* ---- the target ---- */

/* The figures are PyTorch's cross_entropy with class probabilities (0, .7, 0, .3). */
static void mixed_targets_are_pytorchs(void **unused) {
    static const float logits[] = {.5f, -1, 2, .25f};
    static const double want[] = {0.12923482528416222, -0.6205855587338798, 0.6662325307415308,
                                  -0.1748817972918132};
    const vit_mixed_label label = {1, 3, .3};
    float d[4];
    const double loss = vit_cross_entropy_mixed(d, logits, 4, &label, .1, 1);
    assert_true(fabs(loss - 2.8880289984482537) <= 1e-14);
    for (size_t i = 0; i < 4; i++) assert_true(fabs(d[i] - want[i]) <= 1e-7);
    const vit_mixed_label same = {1, 1, .3};
    assert_true(fabs(vit_cross_entropy_mixed(NULL, logits, 4, &same, 0, 1) -
                     vit_cross_entropy(NULL, logits, 4, 1, 0, 1)) <= 1e-14);
}

/* T^2 kl_div(log_softmax(logits / T), target) and its gradient by PyTorch, T = 3, of a teacher's
 * one answer and of two, 0.7 and 0.3, on top of what the gradient was before. */
static void distillation_is_pytorchs(void **unused) {
    static const float logits[] = {.5f, -1, 2, .25f}, one[] = {1.5f, 0, 1, -2},
                       other[] = {-.5f, 3, .25f, 1};
    static const double losses[] = {0.7756577536507872, 0.8730861323031034};
    static const double want[][4] = {
        {-0.3667084494820996, -0.22241991778657474, 0.2660066383414843, 0.32312172892719004},
        {-0.1671218919130406, -0.4295084820654198, 0.3798314591079108, 0.21679891487054948}};
    const vit_taught taught[] = {{one, NULL, .9}, {one, other, .3}};
    for (size_t k = 0; k < 2; k++) {
        float d[] = {1, 2, 3, 4};
        const double loss = vit_distillation(d, logits, 4, &taught[k], 3, .5);
        assert_true(fabs(loss - losses[k]) <= 1e-14);
        for (size_t i = 0; i < 4; i++)
            assert_true(fabs(d[i] - (double)(i + 1) - .5 * want[k][i]) <= 1e-6);
    }
}

/* ---- mixing ---- */

/* Mean 1/2 and variance 1 / (4 (2 alpha + 1)). */
static void beta_has_its_moments(void **unused) {
    static const double alphas[] = {.2, .8, 1, 2};
    for (size_t i = 0; i < 4; i++) {
        double sum = 0, squares = 0;
        const double variance = 1 / (4 * (2 * alphas[i] + 1));
        vit_random r = check_random(3);
        for (int n = 0; n < DRAWS; n++) {
            const double x = vit_random_beta(&r, alphas[i]);
            assert_true(x >= 0 && x <= 1);
            sum += x;
            squares += (x - .5) * (x - .5);
        }
        assert_true(fabs(sum / DRAWS - .5) < 4 * sqrt(variance / DRAWS));
        assert_true(fabs(squares / DRAWS / variance - 1) < .06);
    }
}

/* The box is as large as the share says, unless the edge cuts it off, and the share is what is left
 * of it. */
static void cutmix_takes_a_box(void **unused) {
    const vit_mixing mixing = {.cutmix = 1, .pictures = .5};
    size_t mixed = 0, corners = 0;
    for (uint32_t i = 0; i < DRAWS; i++) {
        vit_random r = check_random(i);
        const vit_mix m = vit_mix_draw(&mixing, 12, 20, &r);
        float image[12 * 20 * 3], other[12 * 20 * 3];
        mixed += m.share > 0;
        if (!(m.share > 0)) continue;
        const vit_box *b = &m.box;
        assert_true(b->top + b->height <= 12 && b->left + b->width <= 20);
        assert_true(fabs(m.share - (double)(b->height * b->width) / 240) < 1e-15);
        corners += b->top == 0 && b->left == 0;
        for (size_t j = 0; j < 720; j++) image[j] = 1, other[j] = 2;
        vit_mix_apply(image, other, &m, 12, 20, 3);
        for (size_t j = 0; j < 720; j++) {
            const size_t y = j / 60, x = j / 3 % 20;
            const bool in = y - b->top < b->height && x - b->left < b->width;
            assert_true(fabsf(image[j] - (in ? 2 : 1)) <= 0);
        }
    }
    assert_true(mixed > DRAWS * 35 / 100 && mixed < DRAWS * 50 / 100 && corners > 0);
}

static void mixup_is_a_weighted_mean(void **unused) {
    const vit_mixing mixing = {.mixup = .8, .pictures = 1},
                     both = {.mixup = .8, .cutmix = 1, .pictures = 1};
    size_t boxes = 0;
    for (uint32_t i = 0; i < 1000; i++) {
        vit_random r = check_random(i), q = check_random(i);
        const vit_mix m = vit_mix_draw(&mixing, 2, 3, &r);
        float image[6] = {1, 2, 3, 4, 5, 6};
        const float other[6] = {6, 6, 6, 0, 0, 0};
        assert_int_equal(m.box.height, 0);
        vit_mix_apply(image, other, &m, 2, 3, 1);
        for (int j = 0; j < 6; j++)
            assert_true(fabs(image[j] - ((1 - m.share) * (j + 1) + m.share * other[j])) < 1e-6);
        boxes += vit_mix_draw(&both, 20, 20, &q).box.height > 0;
    }
    assert_true(boxes > 400 && boxes < 600);
}

/* ---- crops and holes ---- */

static void crops_are_of_the_sizes_asked_for(void **unused) {
    const vit_picture_shape shape = {40, 40, 1};
    const vit_augmentation a = {.crop = .25};
    double least = 1, most = 0, narrow = 1, wide = 1;
    for (uint32_t i = 0; i < DRAWS; i++) {
        vit_random r = check_random(i);
        const vit_box b = vit_crop_draw(&shape, &a, &r);
        const double area = (double)(b.height * b.width) / 1600;
        const double ratio = (double)b.width / (double)b.height;
        assert_true(b.top + b.height <= 40 && b.left + b.width <= 40);
        least = fmin(least, area);
        most = fmax(most, area);
        narrow = fmin(narrow, ratio);
        wide = fmax(wide, ratio);
    }
    assert_true(least > .235 && least < .27 && most > .95 && most <= 1);
    assert_true(narrow > .72 && narrow < .78 && wide > 1.28 && wide < 1.39);
    const vit_picture_shape long_shape = {10, 100, 1};
    const vit_augmentation strip = {.crop = 1};
    vit_random r = check_random(1);
    const vit_box b = vit_crop_draw(&long_shape, &strip, &r); /* nothing fits: the middle */
    assert_true(b.height == 10 && b.width == 13 && b.left == 43 && b.top == 0);
}

/* Two pixels become four: at -1/4, 1/4, 3/4, 5/4, within the part. */
static void crops_are_stretched(void **unused) {
    static const uint8_t pixels[16] = {9, 9, 9, 9, 9, 0, 100, 9, 9, 200, 40, 9, 9, 9, 9, 9};
    const vit_picture_shape shape = {4, 4, 1};
    const vit_augmentation a = {.crop = .5};
    const vit_box whole = {0, 0, 4, 4}, part = {1, 1, 2, 2};
    float table[3][256], image[16];
    for (int i = 0; i < 256; i++) table[0][i] = (float)i;
    vit_crop_apply(image, pixels, table, &shape, &a, &whole, true);
    for (size_t i = 0; i < 16; i++)
        assert_true(fabsf(image[i] - (float)pixels[i / 4 * 4 + 3 - i % 4]) <= 0);
    vit_crop_apply(image, pixels, table, &shape, &a, &part, false);
    const float first[4] = {0, 25, 75, 100}, second[4] = {50, 58.75f, 76.25f, 85};
    for (size_t i = 0; i < 4; i++) {
        assert_true(fabsf(image[i] - first[i]) <= 1e-4f);
        assert_true(fabsf(image[4 + i] - second[i]) <= 1e-4f);
    }
}

static void holes_are_of_the_sizes_asked_for(void **unused) {
    const vit_picture_shape shape = {32, 32, 1};
    const vit_augmentation a = {.erase = .25};
    size_t holes = 0, last_row = 0;
    double least = 1, most = 0;
    for (uint32_t i = 0; i < DRAWS; i++) {
        vit_random r = check_random(i);
        const vit_box b = vit_erase_draw(&shape, &a, &r);
        if (b.height == 0) continue;
        const double area = (double)(b.height * b.width) / 1024;
        holes++;
        assert_true(b.height < 32 && b.width < 32 && b.top + b.height <= 32);
        assert_true(b.left + b.width <= 32);
        last_row += b.top + b.height == 32;
        least = fmin(least, area);
        most = fmax(most, area);
    }
    assert_true(holes > DRAWS * 22 / 100 && holes < DRAWS * 28 / 100 && last_row > 0);
    assert_true(least > .01 && least < .03 && most > .31 && most < .36);
}

/* ---- edges ---- */

static void edges_reflect(void **unused) {
    static const uint8_t pixels[3] = {1, 2, 3};
    static const float want[3] = {3, 2, 1}, far[3] = {2, 3, 2};
    float table[3][256], image[3];
    for (int i = 0; i < 256; i++) table[0][i] = (float)i;
    for (int turned = 0; turned < 2; turned++) { /* the other road interpolates */
        const vit_picture_shape shape = {1, 3, 1};
        const vit_augmentation a = {.edges = VIT_EDGES_REFLECT, .rotate = turned};
        vit_pose p = {.scale = 1, .dx = 2};
        vit_pose_apply(image, pixels, table, &shape, &a, &p);
        for (size_t i = 0; i < 3; i++) assert_true(fabsf(image[i] - want[i]) <= 1e-5f);
        p.dx = -5; /* beyond a whole reflection: the row goes on 1 2 3 2 1 2 3 2 */
        vit_pose_apply(image, pixels, table, &shape, &a, &p);
        for (size_t i = 0; i < 3; i++) assert_true(fabsf(image[i] - far[i]) <= 1e-5f);
    }
}

/* ---- bends ---- */

static void bends_move_pixels(void **unused) {
    static const uint8_t pixels[6] = {1, 2, 3, 4, 5, 6};
    static const float bend[12] = {0, 1, 0, 0, 0, .5f, 1, 0, -.5f, -1, 0, 0};
    static const float want[6] = {2, 5, 2.5f, 0, 5, 3};
    const vit_picture_shape shape = {2, 3, 1};
    const vit_augmentation a = {.elastic = 1};
    const vit_pose p = {.scale = 1, .bend = bend};
    float table[3][256], image[6];
    for (int i = 0; i < 256; i++) table[0][i] = (float)i;
    vit_pose_apply(image, pixels, table, &shape, &a, &p);
    for (size_t i = 0; i < 6; i++) assert_true(fabsf(image[i] - want[i]) <= 1e-5f);
}

/* Far from the edge: mean 0 and deviation alpha sqrt(1/3) / (2 sigma sqrt(pi)), and neighbours move
 * together: by exp(-1 / (4 sigma^2)). */
static void bends_are_smooth(void **unused) {
    enum { SIDE_OF = 96, AREA = SIDE_OF * SIDE_OF };
    static float bend[2 * AREA], room[AREA];
    const vit_picture_shape shape = {SIDE_OF, SIDE_OF, 1};
    const vit_augmentation a = {.elastic = 30};
    double squares = 0, products = 0, sum = 0, count = 0;
    for (uint32_t n = 0; n < 20; n++) {
        vit_random r = check_random(n);
        vit_bend_draw(bend, room, &shape, &a, &r);
        for (size_t y = 12; y < 2 * SIDE_OF - 12; y++) {
            if (y >= SIDE_OF - 12 && y < SIDE_OF + 12) continue;
            for (size_t x = 12; x < SIDE_OF - 12; x++, count++) {
                const double here = bend[y * SIDE_OF + x];
                sum += here;
                squares += here * here;
                products += here * bend[y * SIDE_OF + x + 1];
            }
        }
    }
    const double deviation = 30 * sqrt(1. / 3) / (8 * sqrt(3.14159265358979));
    assert_true(fabs(sum / count) < .1 * deviation);
    assert_true(fabs(sqrt(squares / count) / deviation - 1) < .05);
    assert_true(fabs(products / squares - exp(-1. / 64)) < .01);
}

/* ---- the loader ---- */

#define RECORDS 40
#define BATCH 8

/* Picture i: i in the left half, 100 + i in the right. */
static vit_dataset halves(uint8_t *pixels, uint16_t *labels) {
    for (size_t i = 0; i < RECORDS * 16; i++) pixels[i] = (uint8_t)(i / 16 + (i % 4 < 2 ? 0 : 100));
    for (size_t i = 0; i < RECORDS; i++) labels[i] = (uint16_t)i;
    return (vit_dataset){.height = 4,
                         .width = 4,
                         .channels = 1,
                         .classes = RECORDS,
                         .mean = {0},
                         .std = {1.f / 255},
                         .train = {RECORDS, pixels, labels, NULL}};
}

typedef struct batch {
    float images[BATCH * 16];
    size_t labels[BATCH];
    vit_sample_key keys[BATCH];
} batch;

static vit_loader loader_of(const vit_dataset *data, const vit_recipe *recipe) {
    vit_loader l;
    assert_int_equal(vit_loader_new(&l, data, recipe, 5, NULL), VIT_OK);
    return l;
}

static void take(batch *b, vit_loader *l, uint64_t step) {
    vit_batch_room room;
    assert_int_equal(vit_batch_room_new(&room, l->recipe, 4, 4, 1, NULL), VIT_OK);
    vit_loader_prepare(l, step);
    for (size_t i = 0; i < BATCH; i++) /* picture by picture, as from several threads */
        assert_int_equal(
            vit_loader_source(b->images + i * 16, b->labels + i, b->keys + i, i, 1, &room, l, NULL),
            VIT_OK);
    vit_batch_room_free(&room);
}

/* A mixed picture is made of the one before it in the batch, until mixing ends. */
static void the_loader_mixes_neighbours(void **unused) {
    uint8_t pixels[RECORDS * 16];
    uint16_t labels[RECORDS];
    const vit_dataset data = halves(pixels, labels);
    vit_recipe recipe = vit_recipe_default();
    recipe.batch = BATCH;
    recipe.mixup = 1;
    recipe.mix_until = .5;
    vit_loader l = loader_of(&data, &recipe);
    vit_loader_plan(&l, 20);
    for (uint64_t step = 0; step < 20; step++) {
        batch b;
        take(&b, &l, step);
        for (size_t i = 0; i < BATCH; i++) {
            const vit_sample_key *k = &b.keys[i];
            const size_t before = b.labels[(i + BATCH - 1) % BATCH];
            const double want = (1 - k->share) * (double)b.labels[i] + k->share * (double)before;
            assert_true(step < 10 ? k->share > 0 && k->other == before : !(k->share > 0));
            assert_true(fabs(b.images[i * 16] - want) < 1e-3);
        }
    }
    vit_loader_free(&l);
}

/* A policy and jitter change pictures, and the same ones again in the same way. */
static void the_loader_applies_operators(void **unused) {
    uint8_t pixels[RECORDS * 16];
    uint16_t labels[RECORDS];
    const vit_dataset data = halves(pixels, labels);
    vit_recipe still = vit_recipe_default();
    still.batch = BATCH;
    vit_recipe recipe = still;
    recipe.policy = VIT_POLICY_RAND_AUGMENT;
    recipe.jitter = .3;
    vit_loader plain = loader_of(&data, &still);
    vit_loader l = loader_of(&data, &recipe), m = loader_of(&data, &recipe);
    batch a, b, c;
    take(&a, &plain, 3);
    take(&b, &l, 3);
    take(&c, &m, 3);
    assert_memory_equal(a.labels, b.labels, sizeof a.labels);
    assert_memory_not_equal(a.images, b.images, sizeof a.images);
    assert_memory_equal(b.images, c.images, sizeof b.images);
    vit_loader_free(&plain);
    vit_loader_free(&l);
    vit_loader_free(&m);
}

static void flips_alternate(void **unused) {
    uint8_t pixels[RECORDS * 16];
    uint16_t labels[RECORDS];
    const vit_dataset data = halves(pixels, labels);
    vit_recipe recipe = vit_recipe_default();
    recipe.batch = BATCH;
    recipe.augment.flip = recipe.flip_alternates = true;
    vit_loader l = loader_of(&data, &recipe);
    bool mirrored[RECORDS];
    size_t first = 0;
    for (size_t at = 0; at < 4 * l.train_count; at += BATCH) {
        batch b;
        take(&b, &l, at / BATCH);
        for (size_t i = 0; i < BATCH && at + i < 4 * l.train_count; i++) {
            const size_t record = b.labels[i];
            const bool now = b.images[i * 16] > 99;
            if (b.keys[i].epoch > 0)
                assert_true(now != mirrored[record]);
            else
                first += now;
            mirrored[record] = now;
        }
    }
    assert_true(first > 8 && first < 28); /* of 36 */
    vit_loader_free(&l);
}

static void pictures_repeat_side_by_side(void **unused) {
    uint8_t pixels[RECORDS * 16];
    uint16_t labels[RECORDS];
    const vit_dataset data = halves(pixels, labels);
    vit_recipe recipe = vit_recipe_default();
    recipe.batch = BATCH;
    recipe.repeats = 2;
    recipe.augment.shift = 3;
    vit_loader l = loader_of(&data, &recipe);
    size_t alike = 0;
    for (uint64_t step = 0; step < 4; step++) {
        batch b;
        take(&b, &l, step);
        for (size_t i = 0; i < BATCH; i += 2) {
            assert_int_equal(b.labels[i], b.labels[i + 1]);
            alike += memcmp(b.images + i * 16, b.images + (i + 1) * 16, 64) == 0;
        }
    }
    assert_true(alike < 4);
    vit_loader_free(&l);
}

/* ---- schedules ---- */

static void rates_are_those_of_the_schedule(void **unused) {
    static const struct {
        uint64_t step;
        double rate; /* of PyTorch's OneCycleLR(max_lr=2, total_steps=50, pct_start=.2) */
    } cycle[] = {{0, 0.08000000000000007},   {1, 0.13789508404552797},
                 {5, 1.2067022505602532},    {9, 2.0},
                 {10, 1.9969173460637932},   {30, 0.9215452181085381},
                 {48, 0.003090653936206969}, {49, 8e-06}};
    vit_recipe r = vit_recipe_default();
    r.lr = 2;
    r.warmup = .2;
    r.schedule = VIT_SCHEDULE_ONE_CYCLE;
    for (size_t i = 0; i < sizeof cycle / sizeof *cycle; i++)
        assert_true(fabs(vit_recipe_learning_rate(&r, cycle[i].step, 50) - cycle[i].rate) < 1e-13);
    for (int s = VIT_SCHEDULE_COSINE; s <= VIT_SCHEDULE_WSD; s++) {
        r.schedule = (vit_schedule)s;
        assert_true(fabs(vit_recipe_learning_rate(&r, 0, 50) - .2) < 1e-15);
        assert_true(fabs(vit_recipe_learning_rate(&r, 10, 50) - 2) < 1e-15);
        assert_true(fabs(vit_recipe_learning_rate(&r, 50, 50)) <= 0);
    }
    r.schedule = VIT_SCHEDULE_LINEAR;
    assert_true(fabs(vit_recipe_learning_rate(&r, 30, 50) - 1) < 1e-15);
    assert_true(fabs(vit_recipe_learning_rate(&r, 49, 50) - .05) < 1e-15);
    r.schedule = VIT_SCHEDULE_WSD;
    assert_true(fabs(vit_recipe_learning_rate(&r, 39, 50) - 2) < 1e-15);
    assert_true(fabs(vit_recipe_learning_rate(&r, 45, 50) - 1) < 1e-15);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mixed_targets_are_pytorchs),
        cmocka_unit_test(distillation_is_pytorchs),
        cmocka_unit_test(beta_has_its_moments),
        cmocka_unit_test(cutmix_takes_a_box),
        cmocka_unit_test(mixup_is_a_weighted_mean),
        cmocka_unit_test(crops_are_of_the_sizes_asked_for),
        cmocka_unit_test(crops_are_stretched),
        cmocka_unit_test(holes_are_of_the_sizes_asked_for),
        cmocka_unit_test(edges_reflect),
        cmocka_unit_test(bends_move_pixels),
        cmocka_unit_test(bends_are_smooth),
        cmocka_unit_test(the_loader_mixes_neighbours),
        cmocka_unit_test(the_loader_applies_operators),
        cmocka_unit_test(flips_alternate),
        cmocka_unit_test(pictures_repeat_side_by_side),
        cmocka_unit_test(rates_are_those_of_the_schedule),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
