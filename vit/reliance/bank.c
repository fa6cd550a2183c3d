/* Memory banks: made of good pictures, and pictures scored by them. */
#include "vit/reliance/bank.h"
#include "vit/base/error.h"
#include "vit/base/fpmode.h"
#include "vit/base/order.h"
#include "vit/base/parallel.h"
#include "vit/base/size.h"
#include "vit/base/sys.h"
#include "vit/base/text.h"
#include "vit/few_shot.h"
#include "vit/formats/sha256.h"
#include "vit/reliance/conformal.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { TOGETHER = 16 }; /* pictures whose tokens are computed at a time */

static int threads_of(const vit_bank_options *o) {
    return o->threads > 0 ? o->threads : vit_threads_default();
}

static vit_cpu highest_of(const vit_bank_options *o) {
    vit_cpu cpu = VIT_CPU_COUNT;
    if (o->cpu) vit_cpu_parse(o->cpu, &cpu);
    return cpu;
}

void vit_bank_free(vit_bank *b) {
    if (!b) return;
    vit_free(b->model);
    vit_free(b->fingerprint);
    vit_free(b->features);
    vit_free(b->scores);
    vit_free(b);
}

vit_bank_info vit_bank_describe(const vit_bank *b) {
    return (vit_bank_info){.model = b->model,
                           .scores = b->scores,
                           .pictures = b->pictures,
                           .patches = b->rows,
                           .dim = b->dim,
                           .height = b->height,
                           .width = b->width,
                           .rows = b->grid_rows,
                           .columns = b->grid_columns,
                           .coreset = b->coreset};
}

/* ---- patches of pictures ---- */

/* What patches of a few pictures are computed into. */
typedef struct reader {
    vit_session *session;
    vit_model_info info;
    size_t patches;    /* of a picture */
    float *tokens;     /* [TOGETHER][tokens][D] */
    int16_t *integers; /* [TOGETHER][patches][D] */
    vit_answer own[TOGETHER];
} reader;

static vit_status reader_open(reader *r, const vit_model_info *info, vit_session *session,
                              vit_error *error) {
    *r = (reader){.session = session, .info = *info, .patches = info->rows * info->columns};
    r->tokens = vit_alloc_unset(TOGETHER * info->tokens, info->dim * sizeof *r->tokens);
    r->integers = vit_alloc_unset(TOGETHER * r->patches, info->dim * sizeof *r->integers);
    return r->tokens && r->integers
               ? VIT_OK
               : vit_fail_memory(error, "patches", TOGETHER * info->tokens * info->dim * 4);
}

static void reader_close(reader *r) {
    vit_free(r->tokens);
    vit_free(r->integers);
}

/* The patches of pictures first .. first + count - 1; answers: NULL, one that fails ends it. */
static vit_status read_patches(reader *r, const vit_picture *pictures, size_t count,
                               vit_answer *answers, vit_error *error) {
    vit_answer *outcome = answers ? answers : r->own;
    vit_status status = vit_embed_tokens(r->session, pictures, count, r->tokens, outcome, error);
    for (size_t i = 0; i < count && status == VIT_OK; i++) {
        if (outcome[i].error.status != VIT_OK && !answers)
            status = vit_fail(error, outcome[i].error.status, "%s", outcome[i].error.message);
        if (outcome[i].error.status != VIT_OK) continue;
        vit_bank_integers(r->integers + i * r->patches * r->info.dim,
                          r->tokens + (i * r->info.tokens + r->info.prefix) * r->info.dim,
                          r->patches, r->info.dim);
    }
    return status;
}

/* hex: of the tokens of a drawn digit. */
static vit_status identify(char hex[65], reader *r, vit_error *error) {
    enum { SIDE = 28, SEED = 2 };
    uint8_t pixels[SIDE * SIDE];
    vit_answer answer;
    const vit_picture picture = {.name = "a drawn digit",
                                 .pixels = pixels,
                                 .width = SIDE,
                                 .height = SIDE,
                                 .channels = 1,
                                 .stride = SIDE};
    vit_draw_digit(pixels, SEED, 0);
    const vit_status status = vit_embed_tokens(r->session, &picture, 1, r->tokens, &answer, error);
    if (status != VIT_OK) return status;
    if (answer.error.status != VIT_OK)
        return vit_fail(error, answer.error.status, "%s", answer.error.message);
    vit_sha256_of(hex, r->tokens, r->info.tokens * r->info.dim * sizeof *r->tokens);
    return VIT_OK;
}

static vit_status check_model(const vit_model_info *info, vit_error *error) {
    if (info->rows * info->columns > 0 && info->channels > 0) return VIT_OK;
    return vit_fail(error, VIT_ERROR_UNSUPPORTED,
                    "the model has no patches: a bank is of those of a picture");
}

vit_status vit_bank_check(const vit_bank *b, const vit_model *model, vit_session *session,
                          vit_error *error) {
    VIT_ENTRY;
    const vit_model_info info = vit_model_describe(model);
    char hex[65] = "";
    reader r = {0};
    vit_status status = check_model(&info, error);
    if (status == VIT_OK) status = reader_open(&r, &info, session, error);
    if (status == VIT_OK) status = identify(hex, &r, error);
    reader_close(&r);
    if (status == VIT_OK &&
        (strcmp(hex, b->fingerprint) != 0 || info.dim != b->dim || info.rows != b->grid_rows ||
         info.columns != b->grid_columns || info.height != b->height || info.width != b->width))
        status = vit_fail(error, VIT_ERROR_MISMATCH,
                          "the bank was made with a model that computes other features: other "
                          "weights, size, preprocessing or precision; build it again");
    return status;
}

/* ---- made ---- */

static vit_status read_good(vit_bank *b, reader *r, const vit_picture *pictures, size_t count,
                            const vit_bank_options *o, vit_answer *answers, vit_error *error) {
    const size_t size = r->patches * b->dim;
    vit_status status = VIT_OK;
    for (size_t first = 0; first < count && status == VIT_OK; first += TOGETHER) {
        const size_t n = vit_min(TOGETHER, count - first);
        const vit_answer *outcome = answers ? answers + first : r->own;
        if (o->read) o->read(first, count, o->user);
        status = read_patches(r, pictures + first, n, answers ? answers + first : NULL, error);
        for (size_t i = 0; i < n && status == VIT_OK; i++) {
            if (outcome[i].error.status != VIT_OK) continue;
            memcpy(b->features + b->pictures++ * size, r->integers + i * size,
                   size * sizeof *b->features);
        }
    }
    b->rows = b->pictures * r->patches;
    if (status == VIT_OK && b->pictures < 2)
        status = vit_fail(error, VIT_ERROR_ARGUMENT,
                          "a bank is made of two good pictures or more, and of %zu %zu could be "
                          "read",
                          count, b->pictures);
    return status;
}

/* Keeps a share of the rows; all: those of before. begins: [pictures + 1] the first row of each
 * picture. */
static vit_status thin_out(vit_bank *b, int16_t *all, size_t *begins, size_t patches, int threads,
                           vit_error *error) {
    const size_t count = b->rows, keep = vit_max(1, (size_t)rint((double)count * b->coreset));
    for (size_t i = 0; i <= b->pictures; i++) begins[i] = i * patches;
    if (keep >= count) return VIT_OK;
    size_t *kept = vit_alloc(keep, sizeof *kept);
    if (!kept) return vit_fail_memory(error, "a coreset", keep * sizeof *kept);
    const vit_status status = vit_bank_coreset(kept, keep, all, count, b->dim, threads, error);
    size_t next = 0;
    for (size_t i = 0; i <= b->pictures && status == VIT_OK; i++) {
        while (next < keep && kept[next] < i * patches) next++;
        begins[i] = next;
    }
    b->features = vit_alloc_unset(keep, b->dim * sizeof *b->features);
    for (size_t k = 0; k < keep && status == VIT_OK && b->features; k++)
        memcpy(b->features + k * b->dim, all + kept[k] * b->dim, b->dim * sizeof *all);
    vit_free(kept);
    b->rows = keep;
    if (status == VIT_OK && !b->features)
        return vit_fail_memory(error, "a coreset", keep * b->dim * sizeof *all);
    return status;
}

/* Every picture's score by the rows of the others. */
static vit_status leave_out(vit_bank *b, const int16_t *all, const size_t *begins, size_t patches,
                            const vit_bank_options *o, vit_error *error) {
    double *distances = vit_alloc(patches, sizeof *distances);
    b->scores = vit_alloc(b->pictures, sizeof *b->scores);
    if (!distances || !b->scores) {
        vit_free(distances);
        return vit_fail_memory(error, "scores", b->pictures * sizeof *b->scores);
    }
    vit_status status = VIT_OK;
    for (size_t i = 0; i < b->pictures && status == VIT_OK; i++) {
        status = vit_bank_distances(distances, b, all + i * patches * b->dim, patches, begins[i],
                                    begins[i + 1], threads_of(o), highest_of(o), error);
        b->scores[i] = vit_bank_score(distances, patches);
    }
    qsort(b->scores, b->pictures, sizeof *b->scores, vit_compare_doubles);
    vit_free(distances);
    return status;
}

static vit_status make(vit_bank *b, const vit_model_info *info, vit_session *session,
                       const vit_picture *pictures, size_t count, const vit_bank_options *o,
                       vit_answer *answers, vit_error *error) {
    char hex[65];
    reader r = {0};
    b->height = info->height;
    b->width = info->width;
    b->grid_rows = info->rows;
    b->grid_columns = info->columns;
    b->dim = info->dim;
    b->coreset = o->coreset > 0 ? o->coreset : 1;
    const size_t patches = info->rows * info->columns;
    int16_t *all = b->features = vit_alloc_unset(count * patches, b->dim * sizeof *b->features);
    size_t *begins = vit_alloc(count + 1, sizeof *begins);
    vit_status status = reader_open(&r, info, session, error);
    if (status == VIT_OK && (!all || !begins))
        status = vit_fail_memory(error, "a bank", count * patches * b->dim * sizeof *all);
    if (status == VIT_OK) status = identify(hex, &r, error);
    if (status == VIT_OK) {
        b->fingerprint = vit_strdup(hex);
        b->model = vit_strdup(o->name ? o->name : "");
        if (!b->fingerprint || !b->model) status = vit_fail_memory(error, "a bank", sizeof hex);
    }
    if (status == VIT_OK) status = read_good(b, &r, pictures, count, o, answers, error);
    if (status == VIT_OK) status = thin_out(b, all, begins, patches, threads_of(o), error);
    if (status == VIT_OK) status = leave_out(b, all, begins, patches, o, error);
    if (all != b->features) vit_free(all);
    vit_free(begins);
    reader_close(&r);
    return status;
}

vit_status vit_bank_new(vit_bank **out, const vit_model *model, vit_session *session,
                        const vit_picture *pictures, size_t count, const vit_bank_options *options,
                        vit_answer *answers, vit_error *error) {
    VIT_ENTRY;
    static const vit_bank_options none;
    const vit_bank_options *o = options ? options : &none;
    const vit_model_info info = vit_model_describe(model);
    vit_bank *b = NULL;
    *out = NULL;
    vit_status status = check_model(&info, error);
    if (status == VIT_OK && !(o->coreset >= 0 && o->coreset <= 1))
        status = vit_fail(error, VIT_ERROR_ARGUMENT,
                          "the coreset is a share of the patches, above 0 and at most 1");
    if (status == VIT_OK && !(b = vit_alloc(1, sizeof *b)))
        status = vit_fail_memory(error, "a bank", sizeof *b);
    if (status == VIT_OK) status = make(b, &info, session, pictures, count, o, answers, error);
    if (status == VIT_OK)
        *out = b;
    else
        vit_bank_free(b);
    return status;
}

/* ---- pictures ---- */

/* How many good pictures score at least as high. */
static size_t count_as_high(const vit_bank *b, double score) {
    return b->pictures - vit_count_below(b->scores, b->pictures, score, false);
}

vit_status vit_bank_threshold(const vit_bank *b, double rate, double *threshold, vit_error *error) {
    VIT_ENTRY;
    char percent[32];
    if (!(rate > 0 && rate < 1))
        return vit_fail(error, VIT_ERROR_ARGUMENT,
                        "the rate of false alarms is above 0 and below 1");
    const size_t needed = vit_conformal_needs(1 - rate);
    if (b->pictures < needed)
        return vit_fail(error, VIT_ERROR_ARGUMENT,
                        "a rate of %s %% false alarms needs at least %zu good pictures, and the "
                        "bank has %zu; build it of more, or ask for a higher rate",
                        vit_format_fixed(percent, 100 * rate, 2), needed, b->pictures);
    const size_t above = (size_t)(rate * (double)(b->pictures + 1) + 1e-9) - 1;
    *threshold = nextafter(b->scores[b->pictures - 1 - above], INFINITY);
    return VIT_OK;
}

static vit_status score_picture(const vit_bank *b, const int16_t *queries, size_t patches,
                                const vit_bank_options *o, double *distances, vit_anomaly *out,
                                float *map, vit_error *error) {
    const vit_status status = vit_bank_distances(distances, b, queries, patches, 0, 0,
                                                 threads_of(o), highest_of(o), error);
    if (status != VIT_OK) return status;
    for (size_t i = 0; i < patches && map; i++) map[i] = (float)distances[i];
    out->score = vit_bank_score(distances, patches);
    out->p_value = (double)(1 + count_as_high(b, out->score)) / (double)(1 + b->pictures);
    return VIT_OK;
}

static void score_nothing(vit_anomaly *out, float *map, size_t patches) {
    *out = (vit_anomaly){NAN, NAN};
    for (size_t i = 0; i < patches && map; i++) map[i] = NAN;
}

vit_status vit_bank_test(const vit_bank *b, const vit_model *model, vit_session *session,
                         const vit_picture *pictures, size_t count, const vit_bank_options *options,
                         vit_anomaly *anomalies, float *maps, vit_answer *answers,
                         vit_error *error) {
    VIT_ENTRY;
    static const vit_bank_options none;
    const vit_bank_options *o = options ? options : &none;
    const vit_model_info info = vit_model_describe(model);
    reader r = {0};
    vit_status status = check_model(&info, error);
    if (status == VIT_OK &&
        (info.dim != b->dim || info.rows != b->grid_rows || info.columns != b->grid_columns))
        status = vit_fail(error, VIT_ERROR_MISMATCH,
                          "the bank was made with another model than the session's");
    if (status == VIT_OK) status = reader_open(&r, &info, session, error);
    double *distances = status == VIT_OK ? vit_alloc(r.patches, sizeof *distances) : NULL;
    if (status == VIT_OK && !distances)
        status = vit_fail_memory(error, "distances", r.patches * sizeof *distances);
    for (size_t first = 0; first < count && status == VIT_OK; first += TOGETHER) {
        const size_t n = vit_min(TOGETHER, count - first);
        status = read_patches(&r, pictures + first, n, answers + first, error);
        for (size_t i = 0; i < n && status == VIT_OK; i++) {
            float *map = maps ? maps + (first + i) * r.patches : NULL;
            if (answers[first + i].error.status == VIT_OK)
                status = score_picture(b, r.integers + i * r.patches * b->dim, r.patches, o,
                                       distances, &anomalies[first + i], map, error);
            else
                score_nothing(&anomalies[first + i], map, r.patches);
        }
    }
    vit_free(distances);
    reader_close(&r);
    return status;
}
