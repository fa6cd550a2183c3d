#include "vit/report/figures.h"
#include "vit/base/math.h"
#include "vit/base/size.h"

typedef enum column { IMAGES, RIGHT, ANSWERS, COLUMNS } column;

static const char *const columns[] = {"images", "right", "answers"};
VIT_CHECK_ROWS(columns, COLUMNS);

/* Of a class: its pictures, those answered right, and those that were taken for it. */
static size_t count_class(const vit_evaluation *r, size_t class, column which) {
    const size_t classes = r->classes;
    size_t images = 0, answers = 0;
    for (size_t i = 0; i < classes; i++) {
        images += r->confusion[class * classes + i];
        answers += r->confusion[i * classes + class];
    }
    switch (which) {
    case IMAGES:
        return images;
    case RIGHT:
        return r->confusion[class * classes + class];
    case ANSWERS:
        return answers;
    case COLUMNS:
        break;
    }
    return 0;
}

static void write_classes(vit_json_out *json, const vit_evaluation *r) {
    vit_json_open_lines(json, "classes", '{');
    for (column which = 0; which < COLUMNS; which++) {
        vit_json_open(json, columns[which], '[');
        for (size_t k = 0; k < r->classes; k++)
            vit_json_count(json, NULL, count_class(r, k, which));
        vit_json_close(json, ']');
    }
    vit_json_close(json, '}');
}

static void write_bins(vit_json_out *json, const vit_evaluation *r) {
    vit_json_open_lines(json, "bins", '[');
    for (size_t i = 0; i < VIT_BINS; i++) {
        vit_json_open(json, NULL, '{');
        vit_json_count(json, "images", r->bins[i].images);
        vit_json_number(json, "confidence", r->bins[i].confidence);
        vit_json_number(json, "accuracy", r->bins[i].accuracy);
        vit_json_close(json, '}');
    }
    vit_json_close(json, ']');
}

void vit_figures_write(vit_json_out *json, const vit_figures *m) {
    const vit_evaluation *r = m->result;
    double interval[2];
    vit_wilson(&interval[0], &interval[1], r->correct, r->images);
    vit_json_open_lines(json, "measured", '{');
    vit_json_count(json, "images", r->images);
    vit_json_count(json, "correct", r->correct);
    vit_json_numbers(json, "interval", interval, 2);
    vit_json_number(json, "top5", r->top5);
    vit_json_number(json, "loss", r->loss);
    vit_json_number(json, "ece", r->ece);
    vit_json_number(json, "brier", r->brier);
    vit_json_number(json, "temperature", r->temperature);
    vit_json_bool(json, "seen", r->seen);
    vit_json_count(json, "unknown_images", r->unknown_images);
    write_classes(json, r);
    write_bins(json, r);
    vit_json_texts(json, "notes", m->lists->notes, m->lists->note_count);
    vit_json_texts(json, "files", m->lists->files, m->lists->file_count);
    vit_json_close(json, '}');
}
