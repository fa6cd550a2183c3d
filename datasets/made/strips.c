/* Strips, rows of digits to be read: 32 x 192 grey pictures, white on black, of two to six digits,
 * each a picture of MNIST or a drawn digit; the answer is the digits, or the number in words of a
 * language.
 *
 * A strip is a function of (seed, index) and of the pictures of digits, to the byte, on every
 * machine; training strips are made of training pictures, test strips of test pictures. There are
 * too many to keep: a strip is drawn whenever it is used.
 */
#include "datasets/made/number_words.h"
#include "datasets/reader.h"
#include "vit/base/math.h"
#include "vit/base/random.h"
#include "vit/base/sys.h"
#include "vit/formats/sha256.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define HEIGHT 32
#define WIDTH 192
#define SIDE 28 /* of a digit's picture; its ink fits the middle 20 x 20 */
#define MIDDLE 14.0
#define FEWEST 2
#define MOST 6

/* Must be changed whenever the strips change: it is part of the checksum. */
#define VERSION 1
#define TRAIN_SEED 1
#define TRAIN_COUNT 200000
#define TEST_SEED 2
#define TEST_COUNT 10000

/* ---- the plan of a strip ---- */

typedef struct glyph {
    size_t record;       /* of the digits' pictures */
    double x, y;         /* its centre, in pixels of the strip */
    double cosine, sine; /* of its tilt, divided by its scale */
} glyph;

typedef struct plan {
    glyph glyphs[MOST];
    size_t count;
    double ink;       /* a factor of all grey levels */
    int32_t noise;    /* by how many levels pixels become lighter or darker, at most */
    vit_random noisy; /* the random numbers for that */
} plan;

typedef struct strips {
    vit_drawing drawing; /* must be the first */
    vit_records digits;  /* owned */
    uint64_t seed;
    size_t count; /* digits in each strip; 0: two to six */
} strips;
static double clamp(double v, double low, double high) {
    return v < low ? low : v > high ? high : v;
}

/* Digits are scaled by 0.8 to 1.1 and tilted by up to 10 degrees, with 18 to 30 pixels from one to
 * the next, up to 3 pixels above or below their row. The row is at a random place, with all ink
 * inside the strip. */
static void place_glyphs(plan *p, vit_random *r) {
    double reach[MOST];
    p->glyphs[0].x = 0;
    for (size_t i = 0; i < p->count; i++) {
        glyph *g = &p->glyphs[i];
        const double scale = vit_random_between(r, 0.8, 1.1),
                     tilt = vit_random_between(r, -10, 10) * VIT_PI / 180;
        if (i > 0) g->x = g[-1].x + vit_random_between(r, 18, 30);
        g->y = vit_random_between(r, -3, 3);
        g->cosine = vit_cos(tilt) / scale;
        g->sine = vit_sin(tilt) / scale;
        reach[i] = 11 * scale + 1;
    }
    const size_t last = p->count - 1;
    const double left = vit_random_between(r, reach[0], WIDTH - reach[last] - p->glyphs[last].x);
    const double row = vit_random_between(r, 10, HEIGHT - 10);
    for (size_t i = 0; i < p->count; i++) {
        glyph *g = &p->glyphs[i];
        g->x += left;
        g->y = clamp(g->y + row, reach[i], HEIGHT - reach[i]);
    }
}

static void make_plan(plan *p, const strips *s, size_t index) {
    vit_random r = vit_random_start(s->seed, VIT_RANDOM_STRIPS, 0, (uint32_t)index);
    p->count = FEWEST + vit_random_below(&r, MOST - FEWEST + 1);
    if (s->count > 0) p->count = s->count;
    for (size_t i = 0; i < p->count; i++)
        p->glyphs[i].record = vit_random_below(&r, (uint32_t)s->digits.count);
    place_glyphs(p, &r);
    p->ink = vit_random_between(&r, 0.7, 1);
    p->noise = (int32_t)vit_random_below(&r, 64) - 16; /* a fourth of the strips have none */
    p->noisy = r;
}

/* ---- drawing ---- */

/* The grey level at (x, y) of a digit's picture by bilinear interpolation; pixels outside are 0. */
static double level_at(const uint8_t *picture, double x, double y) {
    const double left = floor(x), top = floor(y), fx = x - left, fy = y - top;
    double levels[2][2];
    for (int j = 0; j < 2; j++)
        for (int i = 0; i < 2; i++) {
            const int column = (int)left + i, line = (int)top + j;
            const bool inside = column >= 0 && column < SIDE && line >= 0 && line < SIDE;
            levels[j][i] = inside ? picture[line * SIDE + column] : 0;
        }
    const double above = levels[0][0] + fx * (levels[0][1] - levels[0][0]);
    const double below = levels[1][0] + fx * (levels[1][1] - levels[1][0]);
    return above + fy * (below - above);
}

/* Draws a digit; where digits overlap, the lighter pixel stays. */
static void draw_glyph(uint8_t *pixels, const glyph *g, const uint8_t *picture, double ink) {
    const int reach = 22; /* more than half of the diagonal of the largest */
    const int x0 = (int)clamp(g->x - reach, 0, WIDTH), x1 = (int)clamp(g->x + reach, 0, WIDTH);
    for (int y = 0; y < HEIGHT; y++)
        for (int x = x0; x < x1; x++) {
            const double dx = x + 0.5 - g->x, dy = y + 0.5 - g->y;
            const double u = MIDDLE - 0.5 + g->cosine * dx + g->sine * dy;
            const double v = MIDDLE - 0.5 - g->sine * dx + g->cosine * dy;
            if (u <= -1 || u >= SIDE || v <= -1 || v >= SIDE) continue;
            const uint8_t level = (uint8_t)(level_at(picture, u, v) * ink + 0.5);
            uint8_t *pixel = &pixels[y * WIDTH + x];
            if (level > *pixel) *pixel = level;
        }
}

/* Adds the sum of two uniform numbers to each pixel, so that most change little. */
static void add_noise(uint8_t *pixels, int32_t most, vit_random r) {
    for (size_t i = 0; i < (size_t)HEIGHT * WIDTH; i += 2) {
        uint32_t bits = vit_random_u32(&r);
        for (size_t k = 0; k < 2; k++, bits >>= 16) {
            const int32_t sum = (int32_t)(bits & 255) + (int32_t)(bits >> 8 & 255) - 255;
            const int32_t level = pixels[i + k] + sum * most / 255;
            pixels[i + k] = (uint8_t)(level < 0 ? 0 : level > 255 ? 255 : level);
        }
    }
}

static void draw(uint8_t *pixels, const vit_drawing *drawing, size_t index) {
    const strips *s = (const strips *)drawing;
    plan p;
    make_plan(&p, s, index);
    memset(pixels, 0, (size_t)HEIGHT * WIDTH);
    for (size_t i = 0; i < p.count; i++)
        draw_glyph(pixels, &p.glyphs[i], s->digits.pixels + p.glyphs[i].record * SIDE * SIDE,
                   p.ink);
    if (p.noise > 0) add_noise(pixels, p.noise, p.noisy);
}

static void free_strips(vit_drawing *drawing) {
    strips *s = (strips *)drawing;
    vit_free(s->digits.pixels);
    vit_free(s->digits.labels);
    vit_free(s);
}

/* ---- names ---- */

/* Parses "strips" or "drawn-strips", with nothing, ":LANGUAGE" or ":N" after it. *language =
 * VIT_LANGUAGE_COUNT: the answers are digits. */
static bool parse(const char *name, bool *drawn, size_t *count, vit_language *language) {
    static const char *const kinds[] = {"strips", "drawn-strips"};
    for (size_t k = 0; k < 2; k++) {
        const size_t length = strlen(kinds[k]);
        if (strncmp(name, kinds[k], length) != 0) continue;
        *drawn = k == 1;
        *language = VIT_LANGUAGE_COUNT;
        *count = 0;
        if (name[length] == 0) return true;
        if (name[length] == ':' && name[length + 1] >= '0' + FEWEST &&
            name[length + 1] <= '0' + MOST && name[length + 2] == 0)
            return *count = (size_t)(name[length + 1] - '0'), true;
        for (int l = 0; l < VIT_LANGUAGE_COUNT && name[length] == ':'; l++)
            if (strcmp(name + length + 1, vit_language_names[l]) == 0)
                return *language = (vit_language)l, true;
    }
    return false;
}

static bool is_called(const char *name) {
    bool drawn;
    size_t count;
    vit_language language;
    return parse(name, &drawn, &count, &language);
}

/* ---- answers ---- */

typedef struct speaker {
    const strips *strips;
    vit_language language; /* VIT_LANGUAGE_COUNT: digits */
} speaker;

static void answer(vit_string *text, size_t index, const void *context) {
    const speaker *s = context;
    const strips *of = s->strips;
    plan p;
    uint32_t number = 0;
    make_plan(&p, of, index);
    for (size_t i = 0; i < p.count; i++) {
        const uint32_t digit = of->digits.labels[p.glyphs[i].record];
        if (s->language == VIT_LANGUAGE_COUNT) vit_string_add(text, "%u", digit);
        number = 10 * number + digit;
    }
    if (s->language < VIT_LANGUAGE_COUNT) vit_number_words(text, s->language, number);
}

static vit_status answers(vit_records *records, vit_dataset *out, vit_language language,
                          vit_error *error) {
    const speaker s = {(const strips *)records->drawing, language};
    size_t reached;
    return vit_texts_encode(&records->target, &out->most_target, &reached, &out->target_vocabulary,
                            records->count, answer, &s, error);
}

/* ---- the set ---- */

static vit_status make_part(vit_records *records, vit_records *digits, uint64_t seed,
                            size_t digits_each, size_t count, vit_error *error) {
    strips *s = vit_alloc(1, sizeof *s);
    if (!s) return vit_fail_memory(error, "strips", sizeof *s);
    *s = (strips){
        .drawing = {draw, free_strips}, .digits = *digits, .seed = seed, .count = digits_each};
    *digits = (vit_records){0}; /* they belong to the strips now */
    records->drawing = &s->drawing;
    records->count = count;
    return VIT_OK;
}

static void describe(vit_dataset *out, const char *name) {
    /* Measured on 2,000 training strips of MNIST. */
    const vit_operation normalize = {.kind = VIT_OP_NORMALIZE,
                                     .mean = {0.0615f, 0.0615f, 0.0615f},
                                     .std = {0.1765f, 0.1765f, 0.1765f}};
    const vit_operation operations[] = {
        {.kind = VIT_OP_ORIENT},
        {.kind = VIT_OP_COMPOSITE},
        {.kind = VIT_OP_GREY},
        {.kind = VIT_OP_RESIZE, .height = HEIGHT, .width = WIDTH, .filter = VIT_FILTER_BILINEAR},
        normalize};
    snprintf(out->name, sizeof out->name, "%s", name);
    out->preset = "strips";
    out->has_characters = true;
    out->height = HEIGHT;
    out->width = WIDTH;
    out->channels = 1;
    out->preprocessing.count = sizeof operations / sizeof *operations;
    memcpy(out->preprocessing.operations, operations, sizeof operations);
    out->mean[0] = normalize.mean[0];
    out->std[0] = normalize.std[0];
}

static void take_checksum(vit_dataset *out, const char *of_digits) {
    char text[256];
    const int length = snprintf(text, sizeof text, "strips %d %s seed %d count %d %s", VERSION,
                                out->name, TRAIN_SEED, TRAIN_COUNT, of_digits);
    vit_sha256_of(out->checksum, text, (size_t)length);
}

static vit_status make(vit_dataset *out, vit_dataset *source, size_t count, vit_language language,
                       vit_error *error) {
    vit_status status = VIT_OK;
    take_checksum(out, source->checksum);
    if (source->train.count > 0)
        status = make_part(&out->train, &source->train, TRAIN_SEED, count, TRAIN_COUNT, error);
    if (status == VIT_OK && source->test.count > 0)
        status = make_part(&out->test, &source->test, TEST_SEED, count, TEST_COUNT, error);
    if (status == VIT_OK) status = vit_number_vocabulary(&out->target_vocabulary, language, error);
    if (status == VIT_OK && out->train.count > 0)
        status = answers(&out->train, out, language, error);
    if (status == VIT_OK && out->test.count > 0) status = answers(&out->test, out, language, error);
    return status;
}

static vit_status open_set(vit_dataset *out, const char *name, const vit_dataset_options *options,
                           vit_error *error) {
    vit_dataset_options o = vit_options_without_val(options);
    vit_dataset source;
    vit_language language;
    bool drawn;
    size_t count;
    o.preparation = NULL;
    parse(name, &drawn, &count, &language);
    vit_status status = vit_dataset_open(&source, drawn ? "digits" : "mnist", &o, error);
    if (status != VIT_OK) return status;
    describe(out, name);
    if (source.height != SIDE || source.width != SIDE || source.classes != 10)
        status =
            vit_fail(error, VIT_ERROR_MISMATCH,
                     "%s: needs pictures of %dx%d of ten digits, %s has %zux%zu of %zu classes",
                     name, SIDE, SIDE, source.name, source.height, source.width, source.classes);
    if (status == VIT_OK) status = make(out, &source, count, language, error);
    vit_dataset_close(&source);
    return status;
}

static const char *const names[] = {"strips", "drawn-strips", NULL};
const vit_named_set vit_strips_sets = {names, is_called, open_set};
