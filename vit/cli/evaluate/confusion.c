#include "vit/cli/evaluate/confusion.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "vit/base/size.h"
#include "vit/base/text.h"
#include "vit/cli/parts/program.h"
#include "vit/formats/csv.h"
#include "vit/formats/page.h"

const char vit_confusion_csv_head[] = "label/answer";
const char vit_confusion_svg_head[] = "<svg xmlns=\"http://www.w3.org/2000/svg\"";

vit_status vit_confusion_csv(const char *file, const vit_model *model, const vit_evaluation *result,
                             vit_error *error) {
    const size_t classes = result->classes;
    vit_string t = {0};
    vit_string_add(&t, "%s", vit_confusion_csv_head);
    for (size_t i = 0; i < classes; i++) {
        vit_string_add(&t, ",");
        vit_csv_field(&t, vit_model_label(model, i));
    }
    vit_string_add(&t, "\n");
    for (size_t i = 0; i < classes; i++) {
        vit_csv_field(&t, vit_model_label(model, i));
        for (size_t j = 0; j < classes; j++)
            vit_string_add(&t, ",%zu", result->confusion[i * classes + j]);
        vit_string_add(&t, "\n");
    }
    return vit_write_text(file, &t, error);
}

/* ---- the picture ---- */

/* Pixels: a cell of few classes and of many, a letter's width, the title above the names. */
enum { CELL = 36, CELL_OF_MANY = 14, FEW = 30, MOST = 200, LETTER = 8, TITLE = 24 };

static void add_escaped(vit_string *t, const char *text) {
    vit_string visible = {0};
    vit_string_add_visible(&visible, text, 0);
    vit_string_add_html(t, visible.text ? visible.text : "");
    t->failed = t->failed || visible.failed;
    vit_string_free(&visible);
}

static void add_name(vit_string *t, const char *attributes, const char *name) {
    vit_string_add(t, "<text %s>", attributes);
    add_escaped(t, name);
    vit_string_add(t, "</text>\n");
}

/* A cell at (x, y): its share of the row as darkness, and the count where there is room. */
static void add_cell(vit_string *t, const vit_evaluation *r, size_t i, size_t j, size_t x, size_t y,
                     size_t cell) {
    const size_t count = r->confusion[i * r->classes + j];
    size_t row = 0;
    for (size_t k = 0; k < r->classes; k++) row += r->confusion[i * r->classes + k];
    if (count == 0) return;
    const double share = (double)count / (double)row;
    char opacity[32];
    vit_string_add(t,
                   "<rect x=\"%zu\" y=\"%zu\" width=\"%zu\" height=\"%zu\" fill=\"%s\" "
                   "fill-opacity=\"%s\"/>\n",
                   x, y, cell, cell, i == j ? "#1b7f4b" : "#c0392b",
                   vit_format_fixed(opacity, .15 + .85 * sqrt(share), 2));
    if (cell == CELL)
        vit_string_add(t,
                       "<text x=\"%zu\" y=\"%zu\" text-anchor=\"middle\" font-size=\"11\" "
                       "fill=\"%s\">%zu</text>\n",
                       x + cell / 2, y + cell / 2 + 4, share > .3 ? "white" : "black", count);
}

static void add_class(vit_string *t, const vit_model *model, const vit_evaluation *r, size_t i,
                      size_t left, size_t top, size_t cell) {
    const size_t at = i * cell + cell / 2;
    char where[96];
    snprintf(where, sizeof where, "x=\"%zu\" y=\"%zu\" text-anchor=\"end\"", left - 6,
             top + at + 4);
    add_name(t, where, vit_model_label(model, i));
    snprintf(where, sizeof where, "transform=\"translate(%zu %zu) rotate(-90)\"", left + at + 4,
             top - 6);
    add_name(t, where, vit_model_label(model, i));
    for (size_t j = 0; j < r->classes; j++)
        add_cell(t, r, i, j, left + j * cell, top + i * cell, cell);
}

vit_status vit_confusion_svg(const char *file, const vit_model *model, const vit_evaluation *result,
                             vit_error *error) {
    const size_t classes = result->classes, cell = classes <= FEW ? CELL : CELL_OF_MANY;
    size_t longest = 4;
    if (classes > MOST)
        return vit_fail(error, VIT_ERROR_UNSUPPORTED,
                        "%s: a picture of the confusion matrix has at most %d classes, these are "
                        "%zu: --confusion-csv writes a table",
                        file, MOST, classes);
    for (size_t i = 0; i < classes; i++)
        longest = vit_max(longest, strlen(vit_model_label(model, i)));
    const size_t left = longest * LETTER + 12, top = left + TITLE, side = classes * cell;
    vit_string t = {0};
    vit_string_add(&t,
                   "%s width=\"%zu\" height=\"%zu\" font-family=\"sans-serif\" "
                   "font-size=\"%d\">\n<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n",
                   vit_confusion_svg_head, left + side + 12, top + side + 12,
                   cell == CELL ? 13 : 11);
    add_name(&t, "x=\"8\" y=\"18\"", "rows: true classes; columns: answers");
    for (size_t i = 0; i < classes; i++) add_class(&t, model, result, i, left, top, cell);
    vit_string_add(&t,
                   "<rect x=\"%zu\" y=\"%zu\" width=\"%zu\" height=\"%zu\" fill=\"none\" "
                   "stroke=\"#888\"/>\n</svg>\n",
                   left, top, side, side);
    return vit_write_text(file, &t, error);
}
