#include "vit/cli/parts/label_results.h"

#include <math.h>
#include <string.h>

static double share(size_t part, size_t whole) {
    return whole > 0 ? (double)part / (double)whole : NAN;
}

/* 2 right / (answered + images). */
static double f1(const vit_label_score *s) {
    return share(2 * s->right, s->answered + s->images);
}

static void add_json_classes(vit_json_out *json, const vit_label_results *r) {
    vit_json_open(json, "per_class", '[');
    for (size_t i = 0; i < r->result->classes; i++) {
        const vit_label_score *s = &r->result->scores[i];
        vit_json_open(json, NULL, '{');
        vit_json_text(json, "label", vit_model_label(r->model, i));
        vit_json_count(json, "images", s->images);
        vit_json_count(json, "answered", s->answered);
        vit_json_count(json, "right", s->right);
        vit_json_number(json, "average_precision", s->average_precision);
        vit_json_number(json, "precision", share(s->right, s->answered));
        vit_json_number(json, "recall", share(s->right, s->images));
        vit_json_number(json, "f1", f1(s));
        vit_json_close(json, '}');
    }
    vit_json_close(json, ']');
}

bool vit_label_results_json(const vit_label_results *r) {
    const vit_label_evaluation *e = r->result;
    vit_json_out json = {0};
    vit_json_open(&json, NULL, '{');
    vit_json_text(&json, "model", r->name);
    vit_json_text(&json, "data", e->data);
    vit_json_text(&json, "split", r->split);
    vit_json_text(&json, "which", e->which);
    vit_json_count(&json, "images", e->images);
    vit_json_count(&json, "exact", e->exact);
    vit_json_count(&json, "unknown_images", e->unknown_images);
    vit_json_number(&json, "mean_average_precision", e->mean_average_precision);
    vit_json_number(&json, "threshold", e->threshold);
    vit_json_number(&json, "micro_f1", e->micro_f1);
    vit_json_number(&json, "macro_f1", e->macro_f1);
    vit_json_number(&json, "loss", e->loss);
    vit_json_number(&json, "seconds", e->seconds);
    vit_json_number(&json, "images_per_second",
                    e->seconds > 0 ? (double)e->images / e->seconds : NAN);
    add_json_classes(&json, r);
    vit_json_close(&json, '}');
    return vit_print_json(r->command, &json);
}

/* "98.71 %", or "-" for NaN. */
static void add_percent(vit_string *text, double fraction) {
    char number[32];
    if (isfinite(fraction))
        vit_string_add(text, "%7s %%", vit_format_fixed(number, 100 * fraction, 2));
    else
        vit_string_add(text, "%9s", "-");
}

static void add_share(vit_string *text, const char *word, double fraction, const char *what) {
    vit_string_add(text, "  %-10s", word);
    add_percent(text, fraction);
    vit_string_add(text, "   %s\n", what);
}

static void add_summary(vit_string *text, const vit_label_results *r) {
    const vit_label_evaluation *e = r->result;
    char number[32];
    vit_string_add_visible(text, r->name, 0);
    vit_string_add(text, " on ");
    vit_string_add_visible(text, e->data, 0);
    vit_string_add(text, ", split %s: %s pictures, %s\n\n", r->split,
                   vit_format_count(number, e->images), e->which);
    add_share(text, "mAP", e->mean_average_precision,
              "mean average precision of the classes that have pictures");
    add_share(text, "micro f1", e->micro_f1, "of all classes together, scores above a half");
    add_share(text, "macro f1", e->macro_f1, "mean f1 of the classes");
    add_share(text, "exact", share(e->exact, e->images), "pictures of which all classes are right");
    if (e->unknown_images > 0)
        vit_string_add(text,
                       "  unknown   %7s     classes of pictures that the model does not know\n",
                       vit_format_count(number, e->unknown_images));
    vit_string_add(text, "  loss      %7s     mean binary cross-entropy\n",
                   vit_format_fixed(number, e->loss, 4));
    vit_string_add(text, "  time      %7s s\n\n", vit_format_fixed(number, e->seconds, 2));
}

static void add_classes(vit_string *text, const vit_label_results *r) {
    size_t width = strlen("class");
    for (size_t i = 0; i < r->result->classes; i++) {
        const size_t columns = vit_display_columns(vit_model_label(r->model, i));
        width = columns > width ? columns : width;
    }
    if (width > 40) width = 40;
    vit_string_add(text, "  ");
    vit_string_add_visible(text, "class", width);
    vit_string_add(text, "   pictures  average precision  precision    recall        f1\n");
    for (size_t i = 0; i < r->result->classes; i++) {
        const vit_label_score *s = &r->result->scores[i];
        char images[32];
        vit_string_add(text, "  ");
        vit_string_add_visible(text, vit_model_label(r->model, i), width);
        vit_string_add(text, " %10s          ", vit_format_count(images, s->images));
        add_percent(text, s->average_precision);
        vit_string_add(text, "  ");
        add_percent(text, share(s->right, s->answered));
        vit_string_add(text, " ");
        add_percent(text, share(s->right, s->images));
        vit_string_add(text, " ");
        add_percent(text, f1(s));
        vit_string_add(text, "\n");
    }
}

bool vit_label_results_text(const vit_label_results *r) {
    vit_string text = {0};
    add_summary(&text, r);
    add_classes(&text, r);
    return vit_print(r->command, &text);
}
