#include "vit/report/answer_rows.h"
#include "datasets/reader.h"
#include "vit/base/math.h"
#include "vit/base/order.h"
#include "vit/base/size.h"
#include "vit/base/sys.h"
#include "vit/image/codec/png_write.h"
#include "vit/image/image.h"

#include <stdlib.h>
#include <string.h>

#define LARGEST_SIDE 96              /* of a picture on the page */
#define OF_A_CELL 12                 /* pictures of one pair (truth, answer) */
#define WORST 24                     /* pictures answered most wrong */
#define LISTED 60                    /* of an evaluation: of these, and of label issues */
#define RISK_POINTS 200              /* of the curve of risk and coverage, about */
#define MOST_BYTES ((size_t)3 << 20) /* of all pictures together */
#define ACROSS 8                     /* pictures in a row of the sheet */

/* ---- which answers to show ---- */

/* An answer beside the truth. */
typedef struct judged {
    uint32_t picture;                     /* number among the answers */
    uint32_t truth, answer;               /* classes */
    float probability, truth_probability; /* of the answer, of the truth */
    uint32_t shown; /* its place among the pictures of the page, from 1; 0: not there */
} judged;

static size_t record_of(const vit_answers *a, size_t picture) {
    return a->numbers ? a->numbers[picture] : picture;
}

/* The class with the largest logit (vit_comes_before), and its probability. */
static judged judge(const vit_answers *a, size_t picture) {
    const float *z = a->logits + picture * a->classes;
    const size_t truth = a->records->labels[record_of(a, picture)];
    size_t best;
    double sum = 0;
    vit_top_k(z, a->classes, 1, &best);
    for (size_t i = 0; i < a->classes; i++)
        sum += vit_exp(((double)z[i] - (double)z[best]) / a->temperature);
    const double gap = (double)z[truth] - (double)z[best];
    return (judged){.picture = (uint32_t)picture,
                    .truth = (uint32_t)truth,
                    .answer = (uint32_t)best,
                    .probability = (float)(1 / sum),
                    .truth_probability = (float)(vit_exp(gap / a->temperature) / sum)};
}

static bool is_right(const judged *j) {
    return j->answer == j->truth;
}

/* By (truth, answer); among equals wrong answers with the highest probability, right ones with the
 * lowest, come first. */
static int by_cell(const void *left, const void *right) {
    const judged *a = left, *b = right;
    if (a->truth != b->truth) return a->truth < b->truth ? -1 : 1;
    if (a->answer != b->answer) return a->answer < b->answer ? -1 : 1;
    const int order = vit_compare_floats(&a->probability, &b->probability);
    if (order != 0) return is_right(a) ? order : -order;
    return a->picture < b->picture ? -1 : 1;
}

/* Wrong answers first, those to whose truth the model gives the lowest probability first of all. */
static int by_fault(const void *left, const void *right) {
    const judged *a = *(judged *const *)left, *b = *(judged *const *)right;
    const int right_a = is_right(a), right_b = is_right(b);
    if (right_a != right_b) return right_a - right_b;
    const int order = vit_compare_floats(&a->truth_probability, &b->truth_probability);
    return order != 0 ? order : a->picture < b->picture ? -1 : 1;
}

/* A cell of the confusion matrix: all answers with the same (truth, answer). */
typedef struct cell {
    size_t first, count; /* in ranking.all */
} cell;

/* Cells with many pictures first. */
static int by_count(const void *left, const void *right) {
    const cell *a = *(cell *const *)left, *b = *(cell *const *)right;
    if (a->count != b->count) return a->count > b->count ? -1 : 1;
    return a->first < b->first ? -1 : 1;
}

typedef struct ranking {
    const vit_answers *answers;
    judged *all;   /* [count], sorted by_cell */
    judged **list; /* [count], sorted by_fault */
    cell *cells;   /* [cell_count] */
    cell **order;  /* [cell_count], those of wrong answers first, each part sorted by_count */
    size_t cell_count, right;
    vit_json_out pictures; /* those that are on the page */
    size_t shown;          /* how many these are */
    uint8_t *scratch;      /* for vit_record_get */
} ranking;

static void ranking_free(ranking *c) {
    vit_free(c->all);
    vit_free(c->list);
    vit_free(c->cells);
    vit_free(c->order);
    vit_string_free(&c->pictures.text);
    vit_free(c->scratch);
}

static void find_cells(ranking *c) {
    const size_t n = c->answers->count;
    for (size_t i = 0; i < n; i++) {
        const judged *j = &c->all[i], *last = &c->all[i > 0 ? i - 1 : 0];
        if (i == 0 || j->truth != last->truth || j->answer != last->answer)
            c->cells[c->cell_count++] = (cell){i, 0};
        c->cells[c->cell_count - 1].count++;
        c->right += is_right(j);
    }
    size_t wrong = 0, at = 0;
    for (size_t i = 0; i < c->cell_count; i++) wrong += !is_right(&c->all[c->cells[i].first]);
    const size_t right = c->cell_count - wrong;
    for (int turn = 0; turn < 2; turn++)
        for (size_t i = 0; i < c->cell_count; i++)
            if (is_right(&c->all[c->cells[i].first]) == turn) c->order[at++] = &c->cells[i];
    qsort(c->order, wrong, sizeof *c->order, by_count);
    if (right > 0) qsort(c->order + wrong, right, sizeof *c->order, by_count);
}

static vit_status ranking_init(ranking *c, const vit_answers *a, vit_error *error) {
    *c = (ranking){.answers = a,
                   .all = vit_alloc(a->count, sizeof *c->all),
                   .list = vit_alloc(a->count, sizeof *c->list),
                   .cells = vit_alloc(a->count, sizeof *c->cells),
                   .order = vit_alloc(a->count, sizeof *c->order)};
    if (!c->all || !c->list || !c->cells || !c->order)
        return vit_fail_memory(error, "the answers of a report", a->count * sizeof *c->all);
    for (size_t i = 0; i < a->count; i++) c->all[i] = judge(a, i);
    qsort(c->all, a->count, sizeof *c->all, by_cell);
    for (size_t i = 0; i < a->count; i++) c->list[i] = &c->all[i];
    qsort(c->list, a->count, sizeof *c->list, by_fault);
    find_cells(c);
    return VIT_OK;
}

static size_t count_worst(const ranking *c) {
    return vit_min(c->answers->count - c->right, c->answers->lists ? LISTED : WORST);
}

/* ---- pictures ---- */

/* The size at which pictures are shown: no side above LARGEST_SIDE. */
static void shown_size(size_t *height, size_t *width, const vit_dataset *d) {
    const size_t side = d->height > d->width ? d->height : d->width;
    *height = d->height;
    *width = d->width;
    if (side <= LARGEST_SIDE) return;
    *height = (d->height * LARGEST_SIDE + side - 1) / side;
    *width = (d->width * LARGEST_SIDE + side - 1) / side;
}

/* Prepared pixels in that size; freed by vit_image_free. */
static vit_status shrink(vit_image *out, const uint8_t *pixels, const vit_dataset *d,
                         vit_error *error) {
    size_t height, width;
    *out = (vit_image){0};
    shown_size(&height, &width, d);
    vit_status status = vit_image_from_pixels(out, pixels, d->width, d->height, d->channels,
                                              d->width * d->channels, error);
    if (status != VIT_OK || (height == d->height && width == d->width)) return status;
    vit_image whole = *out;
    status = vit_image_resize(out, &whole, width, height, VIT_FILTER_BOX, d->kernels, error);
    vit_image_free(&whole);
    return status;
}

/* The picture in that size; freed by vit_image_free. */
static vit_status get_picture(vit_image *out, ranking *c, size_t picture, vit_error *error) {
    const uint8_t *pixels;
    *out = (vit_image){0};
    const vit_status status =
        vit_record_get(&pixels, &c->scratch, c->answers->data, c->answers->records,
                       record_of(c->answers, picture), error);
    return status == VIT_OK ? shrink(out, pixels, c->answers->data, error) : status;
}

/* Adds the picture to those of the page, unless it is there or the page is full. */
static vit_status show(ranking *c, judged *j, vit_error *error) {
    vit_json_out *json = &c->pictures;
    vit_image image;
    vit_bytes png = {0};
    if (j->shown > 0 || json->text.length > MOST_BYTES) return VIT_OK;
    vit_status status = get_picture(&image, c, j->picture, error);
    if (status == VIT_OK)
        status =
            vit_png_write(&png, image.pixels, image.width, image.height, image.channels, error);
    vit_image_free(&image);
    if (status != VIT_OK) return status;
    j->shown = (uint32_t)++c->shown;
    vit_json_open(json, NULL, '{');
    vit_json_count(json, "number", record_of(c->answers, j->picture));
    if (c->answers->lists)
        vit_json_text(json, "file",
                      vit_record_file(c->answers->records, record_of(c->answers, j->picture)));
    vit_json_count(json, "truth", j->truth);
    vit_json_count(json, "answer", j->answer);
    vit_json_fixed(json, "probability", j->probability, 4);
    vit_json_fixed(json, "truth_probability", j->truth_probability, 4);
    vit_json_base64(json, "png", png.data, png.size);
    vit_json_close(json, '}');
    vit_free(png.data);
    return VIT_OK;
}

static size_t count_issues(const ranking *c) {
    const vit_page_lists *lists = c->answers->lists;
    return lists && lists->issues ? vit_min(lists->issue_count, LISTED) : 0;
}

static judged *find_picture(const ranking *c, size_t picture) {
    size_t i = 0;
    while (c->all[i].picture != picture) i++;
    return &c->all[i];
}

/* The answered picture of a file; NULL: none is. */
static judged *find_file(const ranking *c, const char *file) {
    const vit_answers *a = c->answers;
    for (size_t i = 0; file && i < a->count; i++) {
        const char *own = vit_record_file(a->records, record_of(a, c->all[i].picture));
        if (own && strcmp(own, file) == 0) return &c->all[i];
    }
    return NULL;
}

/* Of pair i of copies the answered picture, and in *other the file of the other one; NULL: it is
 * not among those that are listed. */
static judged *find_copy(const char **other, const ranking *c, size_t i) {
    const vit_listed_copy *row = &c->answers->data->copies.rows[i];
    *other = row->picture;
    return find_file(c, row->copy_of);
}

static size_t count_copies(const ranking *c) {
    return c->answers->lists ? vit_min(c->answers->data->copies.count, LISTED) : 0;
}

/* The worst, the label issues and the copies; then the first picture of every cell, the second of
 * every cell,
 * ... */
static vit_status show_all(ranking *c, vit_error *error) {
    vit_status status = VIT_OK;
    vit_json_open_lines(&c->pictures, NULL, '[');
    for (size_t i = 0; i < count_worst(c) && status == VIT_OK; i++)
        status = show(c, c->list[i], error);
    for (size_t i = 0; i < count_issues(c) && status == VIT_OK; i++)
        status = show(c, find_picture(c, c->answers->lists->issues[i].picture), error);
    for (size_t i = 0; i < count_copies(c) && status == VIT_OK; i++) {
        const char *other;
        judged *j = find_copy(&other, c, i);
        if (j) status = show(c, j, error);
    }
    for (size_t turn = 0; turn < OF_A_CELL; turn++)
        for (size_t i = 0; i < c->cell_count && status == VIT_OK; i++)
            if (turn < c->order[i]->count)
                status = show(c, &c->all[c->order[i]->first + turn], error);
    vit_json_close(&c->pictures, ']');
    return status;
}

static void write_cell(vit_json_out *json, const ranking *c, const cell *at) {
    const judged *first = &c->all[at->first];
    vit_json_open(json, NULL, '{');
    vit_json_count(json, "truth", first->truth);
    vit_json_count(json, "answer", first->answer);
    vit_json_count(json, "count", at->count);
    vit_json_open(json, "pictures", '[');
    for (size_t i = 0; i < vit_min(at->count, OF_A_CELL); i++)
        if (first[i].shown > 0) vit_json_count(json, NULL, first[i].shown - 1);
    vit_json_close(json, ']');
    vit_json_close(json, '}');
}

static void write_issues(vit_json_out *json, const ranking *c) {
    const vit_page_lists *lists = c->answers->lists;
    if (!lists->issues) {
        vit_json_raw(json, "issues", "null");
        return;
    }
    vit_json_open(json, "issues", '{');
    vit_json_count(json, "count", lists->issue_count);
    vit_json_open(json, "pictures", '[');
    for (size_t i = 0; i < count_issues(c); i++) {
        const judged *j = find_picture(c, lists->issues[i].picture);
        if (j->shown > 0) vit_json_count(json, NULL, j->shown - 1);
    }
    vit_json_close(json, ']');
    vit_json_open(json, "likely", '[');
    for (size_t i = 0; i < count_issues(c); i++)
        if (find_picture(c, lists->issues[i].picture)->shown > 0)
            vit_json_count(json, NULL, lists->issues[i].likely);
    vit_json_close(json, ']');
    vit_json_close(json, '}');
}

/* "png": a picture that is not among the answered ones; nothing if it cannot be read alone, as in
 * shards. */
static void write_other(vit_json_out *json, const ranking *c, const char *file) {
    const vit_dataset *d = c->answers->data;
    vit_image image = {0};
    vit_bytes png = {0};
    uint8_t *pixels = vit_alloc(d->height * d->width, d->channels);
    if (pixels && vit_picture_prepare(pixels, d, file, NULL, NULL) == VIT_OK &&
        shrink(&image, pixels, d, NULL) == VIT_OK &&
        vit_png_write(&png, image.pixels, image.width, image.height, image.channels, NULL) ==
            VIT_OK)
        vit_json_base64(json, "png", png.data, png.size);
    vit_image_free(&image);
    vit_free(png.data);
    vit_free(pixels);
}

/* "copies": {"count", "pairs": [{"picture", "file", "split", "label", "alike", "png"}]}: the other
 * file of each pair, its part, its class, and itself. */
static void write_copies(vit_json_out *json, const ranking *c) {
    const vit_copy_list *copies = &c->answers->data->copies;
    vit_json_open(json, "copies", '{');
    vit_json_count(json, "count", copies->count);
    vit_json_open(json, "pairs", '[');
    for (size_t i = 0; i < count_copies(c); i++) {
        const char *other;
        const judged *j = find_copy(&other, c, i);
        if (!j || j->shown == 0) continue;
        vit_json_open(json, NULL, '{');
        vit_json_count(json, "picture", j->shown - 1);
        vit_json_text(json, "file", other);
        vit_json_text(json, "split", copies->rows[i].split);
        vit_json_count(json, "label", copies->rows[i].label);
        vit_json_text(json, "alike", vit_alike_name(copies->rows[i].alike));
        write_other(json, c, other);
        vit_json_close(json, '}');
    }
    vit_json_close(json, ']');
    vit_json_close(json, '}');
}

/* The answer of the highest probability first. */
static int by_confidence(const void *left, const void *right) {
    const judged *a = *(judged *const *)left, *b = *(judged *const *)right;
    const int order = vit_compare_floats(&b->probability, &a->probability);
    return order != 0 ? order : a->picture < b->picture ? -1 : 1;
}

/* If the model answers only the surest pictures: how many these are, how many it gets right, and
 * the lowest probability among them. A point is taken only where the probability falls, which a
 * threshold can tell apart. Sorts c->list. */
static void write_risk(vit_json_out *json, ranking *c) {
    static const char *const names[] = {"answered", "right", "confidence"};
    const size_t n = c->answers->count, each = (n + RISK_POINTS - 1) / RISK_POINTS;
    qsort(c->list, n, sizeof *c->list, by_confidence);
    vit_json_open_lines(json, "risk", '{');
    for (size_t k = 0; k < VIT_COUNT(names); k++) {
        size_t right = 0, last = 0;
        vit_json_open(json, names[k], '[');
        for (size_t i = 0; i < n; i++) {
            const float p = c->list[i]->probability;
            right += is_right(c->list[i]);
            if (i + 1 < n && (i + 1 - last < each || c->list[i + 1]->probability == p)) continue;
            last = i + 1;
            if (k < 2)
                vit_json_count(json, NULL, k == 0 ? i + 1 : right);
            else
                vit_json_float(json, NULL, p);
        }
        vit_json_close(json, ']');
    }
    vit_json_close(json, '}');
}

vit_status vit_answers_write(vit_json_out *json, const vit_answers *a, vit_error *error) {
    ranking c;
    size_t height, width;
    vit_status status = ranking_init(&c, a, error);
    if (status == VIT_OK) status = show_all(&c, error);
    if (status == VIT_OK) {
        shown_size(&height, &width, a->data);
        vit_json_open_lines(json, "answers", '{');
        vit_json_text(json, "which", a->which);
        vit_json_count(json, "count", a->count);
        vit_json_count(json, "right", c.right);
        vit_json_counts(json, "size", (const size_t[]){height, width}, 2);
        vit_json_open_lines(json, "cells", '[');
        for (size_t i = 0; i < c.cell_count; i++) write_cell(json, &c, &c.cells[i]);
        vit_json_close(json, ']');
        vit_json_open(json, "worst", '[');
        for (size_t i = 0; i < count_worst(&c); i++)
            if (c.list[i]->shown > 0) vit_json_count(json, NULL, c.list[i]->shown - 1);
        vit_json_close(json, ']');
        if (a->lists) write_issues(json, &c);
        if (a->lists) write_copies(json, &c);
        if (a->lists) write_risk(json, &c);
        vit_json_close(json, '}');
        vit_json_raw(json, "pictures", c.pictures.text.failed ? NULL : c.pictures.text.text);
    }
    ranking_free(&c);
    return status;
}

/* ---- the sheet ---- */

vit_status vit_answers_sheet(vit_sheet *out, const vit_answers *a, vit_error *error) {
    ranking c;
    size_t height, width;
    uint8_t *pixels = NULL;
    *out = (vit_sheet){.channels = a->data->channels};
    vit_status status = ranking_init(&c, a, error);
    const size_t count = status == VIT_OK ? count_worst(&c) : 0;
    if (count > 0) {
        shown_size(&height, &width, a->data);
        out->width = (width + 1) * vit_min(count, ACROSS) - 1;
        out->height = (height + 1) * ((count + ACROSS - 1) / ACROSS) - 1;
        pixels = vit_alloc(out->height, out->width * out->channels);
        if (!pixels) status = vit_fail_memory(error, "a sheet of pictures", out->height);
    }
    for (size_t i = 0; i < count && status == VIT_OK; i++) {
        vit_image image;
        const size_t top = i / ACROSS * (height + 1), left = i % ACROSS * (width + 1);
        status = get_picture(&image, &c, c.list[i]->picture, error);
        for (size_t y = 0; y < height && status == VIT_OK; y++)
            memcpy(pixels + ((top + y) * out->width + left) * out->channels,
                   image.pixels + y * width * out->channels, width * out->channels);
        vit_image_free(&image);
    }
    if (count > 0 && status == VIT_OK)
        status = vit_png_write(&out->png, pixels, out->width, out->height, out->channels, error);
    vit_free(pixels);
    ranking_free(&c);
    return status;
}
