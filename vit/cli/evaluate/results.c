#include "vit/cli/evaluate/results.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#include "vit/base/math.h"
#include "vit/base/size.h"
#include "vit/texts.h"

/* The scores of a class, from its row and column of the confusion matrix. NaN if the denominator is
 * 0. */
typedef struct class_score {
    const char *label;
    size_t images, correct, answers; /* answers: pictures that were taken for this class */
    double accuracy;                 /* recall: correct / images */
    double precision;                /* correct / answers */
    double f1;                       /* harmonic mean of the two */
} class_score;

static double share(size_t part, size_t whole) {
    return whole > 0 ? (double)part / (double)whole : NAN;
}

/* 2 right / (answered + images). */
static double label_f1(const vit_label_score *s) {
    return share(2 * s->right, s->answered + s->images);
}

static class_score score_class(const vit_results *r, size_t class) {
    const size_t *row = r->result->confusion + class * r->result->classes;
    class_score score = {.label = vit_model_label(r->model, class), .correct = row[class]};
    for (size_t i = 0; i < r->result->classes; i++) {
        score.images += row[i];
        score.answers += r->result->confusion[i * r->result->classes + class];
    }
    score.accuracy = share(score.correct, score.images);
    score.precision = share(score.correct, score.answers);
    score.f1 = share(2 * score.correct, score.images + score.answers);
    return score;
}

/* Means over classes, which weigh the same however many pictures they have: balanced accuracy over
 * classes that have pictures; the others over classes that have pictures or answers, a score with
 * denominator 0 counting as 0, as in scikit-learn. */
typedef struct means {
    double balanced, precision, recall, f1;
} means;

static means mean_scores(const vit_results *r) {
    means m = {0};
    size_t with_pictures = 0, present = 0;
    for (size_t i = 0; i < r->result->classes; i++) {
        const class_score c = score_class(r, i);
        with_pictures += c.images > 0;
        present += c.images + c.answers > 0;
        m.recall += c.images > 0 ? c.accuracy : 0;
        m.precision += c.answers > 0 ? c.precision : 0;
        m.f1 += c.images + c.answers > 0 ? c.f1 : 0;
    }
    m.balanced = m.recall / (double)with_pictures;
    m.recall /= (double)present;
    m.precision /= (double)present;
    m.f1 /= (double)present;
    return m;
}

static double images_per_second(size_t images, double seconds) {
    return seconds > 0 ? (double)images / seconds : NAN;
}

static void add_json_classes(vit_json_out *json, const vit_results *r) {
    vit_json_open(json, "per_class", '[');
    for (size_t i = 0; i < r->result->classes; i++) {
        class_score score = score_class(r, i);
        vit_json_open(json, NULL, '{');
        vit_json_text(json, "label", score.label);
        vit_json_count(json, "images", score.images);
        vit_json_count(json, "correct", score.correct);
        vit_json_number(json, "accuracy", score.accuracy);
        vit_json_number(json, "precision", score.precision);
        vit_json_number(json, "recall", score.accuracy);
        vit_json_number(json, "f1", score.f1);
        vit_json_close(json, '}');
    }
    vit_json_close(json, ']');
}

static void add_json_labels(vit_json_out *json, const vit_results *r) {
    vit_json_open(json, "per_class", '[');
    for (size_t i = 0; i < r->labels->classes; i++) {
        const vit_label_score *s = &r->labels->scores[i];
        vit_json_open(json, NULL, '{');
        vit_json_text(json, "label", vit_model_label(r->model, i));
        vit_json_count(json, "images", s->images);
        vit_json_count(json, "answered", s->answered);
        vit_json_count(json, "right", s->right);
        vit_json_number(json, "average_precision", s->average_precision);
        vit_json_number(json, "precision", share(s->right, s->answered));
        vit_json_number(json, "recall", share(s->right, s->images));
        vit_json_number(json, "f1", label_f1(s));
        vit_json_close(json, '}');
    }
    vit_json_close(json, ']');
}

static void add_json_confusion(vit_json_out *json, const vit_results *r) {
    const vit_evaluation *result = r->result;
    vit_json_open(json, "confusion", '[');
    for (size_t i = 0; i < result->classes; i++)
        vit_json_counts(json, NULL, result->confusion + i * result->classes, result->classes);
    vit_json_close(json, ']');
}

static void add_json_reliability(vit_json_out *json, const vit_results *r) {
    const vit_evaluation *result = r->result;
    vit_json_open(json, "reliability", '[');
    for (size_t i = 0; i < VIT_BINS; i++) {
        vit_json_open(json, NULL, '{');
        vit_json_count(json, "images", result->bins[i].images);
        vit_json_number(json, "confidence", result->bins[i].confidence);
        vit_json_number(json, "accuracy", result->bins[i].accuracy);
        vit_json_close(json, '}');
    }
    vit_json_close(json, ']');
}

static void add_json_unknown(vit_json_out *json, const vit_results *r) {
    vit_json_open(json, "unknown_classes", '{');
    for (size_t i = 0; i < r->result->unknown_classes; i++)
        vit_json_count(json, r->result->unknown[i].label, r->result->unknown[i].images);
    vit_json_close(json, '}');
}

/* ---- the figures, a row a line ---- */

/* What the rows show. */
typedef struct figures {
    vit_evaluation result;
    vit_label_evaluation labels;
    means means;  /* of a model that names classes */
    double exact; /* share, of labels */
    double perplexity, source_perplexity, images_per_second;
} figures;

typedef enum figure_kind {
    FIGURE_TEXT,   /* const char * */
    FIGURE_COUNT,  /* size_t; as text left out if it is 0 */
    FIGURE_NUMBER, /* double; as text with four decimals */
    FIGURE_SHARE,  /* double, 0..1; as text a percentage */
    FIGURE_PART,   /* values of their own: `add` */
} figure_kind;

typedef struct figure {
    const char *key; /* in JSON; NULL: it is not there */
    figure_kind kind;
    size_t offset;    /* in `figures` */
    const char *word; /* in text; NULL: it is not there */
    const char *what; /* behind it */
    size_t counted;   /* of a size_t that goes before `what`; 0: none */
    void (*add)(vit_json_out *json, const vit_results *r);
    bool (*is_there)(const vit_results *r); /* NULL: always */
} figure;

static bool knows_entropy(const vit_results *r) {
    return r->result->entropy > 0;
}

static bool asks_confusion(const vit_results *r) {
    return r->confusion;
}

#define ROW(name, form, member) \
    .key = name, .kind = FIGURE_##form, .offset = offsetof(figures, member)
#define SHOWN(name, meaning) .word = name, .what = meaning
#define COUNTED(member) .counted = offsetof(figures, member)

static const figure of_classes[] = {
    {ROW("images", COUNT, result.images)},
    {ROW("correct", COUNT, result.correct)},
    {ROW("top1", SHARE, result.top1), SHOWN("right", "pictures"), COUNTED(result.correct)},
    {ROW("top5", SHARE, result.top5),
     SHOWN("top five", "the right class is among the five likeliest")},
    {ROW("classes_matched_by", TEXT, result.matched_by)},
    {ROW("unknown_images", COUNT, result.unknown_images),
     SHOWN("unknown", "pictures of classes that the model does not know")},
    {.key = "unknown_classes", .kind = FIGURE_PART, .add = add_json_unknown},
    {ROW("balanced_accuracy", SHARE, means.balanced),
     SHOWN("balanced", "mean recall of the classes")},
    {ROW("macro_precision", SHARE, means.precision)},
    {ROW("macro_recall", SHARE, means.recall)},
    {ROW("macro_f1", SHARE, means.f1),
     SHOWN("macro f1", "mean f1 of the classes, of precision and recall")},
    {ROW("loss", NUMBER, result.loss), SHOWN("loss", "mean cross-entropy")},
    {ROW("temperature", NUMBER, result.temperature)},
    {ROW("ece", SHARE, result.ece),
     SHOWN("ece", "mean gap between probability and accuracy (calibration)")},
    {ROW("brier", NUMBER, result.brier), SHOWN("brier", "mean squared error of the probabilities")},
    {ROW("below_threshold", COUNT, result.below_threshold)},
    {ROW("below_threshold_wrong", COUNT, result.below_threshold_wrong)},
    {.key = "reliability", .kind = FIGURE_PART, .add = add_json_reliability},
    {ROW("seconds", NUMBER, result.seconds)},
    {ROW("images_per_second", NUMBER, images_per_second)},
    {.key = "per_class", .kind = FIGURE_PART, .add = add_json_classes},
    {.key = "confusion",
     .kind = FIGURE_PART,
     .add = add_json_confusion,
     .is_there = asks_confusion},
};

static const figure of_labels[] = {
    {ROW("images", COUNT, labels.images)},
    {ROW("exact", COUNT, labels.exact)},
    {ROW("unknown_images", COUNT, labels.unknown_images)},
    {ROW("mean_average_precision", SHARE, labels.mean_average_precision),
     SHOWN("mAP", "mean average precision of the classes that have pictures")},
    {ROW("threshold", NUMBER, labels.threshold)},
    {ROW("micro_f1", SHARE, labels.micro_f1),
     SHOWN("micro f1", "of all classes together, scores above a half")},
    {ROW("macro_f1", SHARE, labels.macro_f1), SHOWN("macro f1", "mean f1 of the classes")},
    {ROW(NULL, SHARE, exact), SHOWN("exact", "pictures of which all classes are right")},
    {ROW(NULL, COUNT, labels.unknown_images),
     SHOWN("unknown", "classes of pictures that the model does not know")},
    {ROW("loss", NUMBER, labels.loss), SHOWN("loss", "mean binary cross-entropy")},
    {ROW("seconds", NUMBER, labels.seconds)},
    {ROW("images_per_second", NUMBER, images_per_second)},
    {.key = "per_class", .kind = FIGURE_PART, .add = add_json_labels},
};

static const figure of_texts[] = {
    {ROW("images", COUNT, result.images)},
    {ROW("sequences_right", SHARE, result.sequences_right), SHOWN("right", "whole texts"),
     COUNTED(result.correct)},
    {ROW("tokens_right", SHARE, result.tokens_right),
     SHOWN("tokens", "the next one, given the right ones before it")},
    {ROW("edit_distance", SHARE, result.edit_distance),
     SHOWN("distance", "characters to insert, delete or replace, of all characters")},
    {ROW("loss", NUMBER, result.loss), SHOWN("loss", "mean cross-entropy of a token")},
    {ROW("perplexity", NUMBER, perplexity), SHOWN("perplexity", "of a token, exp(loss)")},
    {ROW("entropy", NUMBER, result.entropy), .is_there = knows_entropy},
    {ROW("source_perplexity", NUMBER, source_perplexity),
     SHOWN("of source", "the least possible: exp(entropy of the source)"),
     .is_there = knows_entropy},
    {ROW("seconds", NUMBER, result.seconds)},
    {ROW("images_per_second", NUMBER, images_per_second)},
};

/* The rows for this model. */
static const figure *rows_of(const vit_results *r, size_t *count) {
    const bool writes = vit_text_describe(r->model).writes;
    *count = r->labels ? VIT_COUNT(of_labels)
             : writes  ? VIT_COUNT(of_texts)
                       : VIT_COUNT(of_classes);
    return r->labels ? of_labels : writes ? of_texts : of_classes;
}

static figures figures_of(const vit_results *r) {
    if (r->labels)
        return (figures){.labels = *r->labels,
                         .exact = share(r->labels->exact, r->labels->images),
                         .images_per_second =
                             images_per_second(r->labels->images, r->labels->seconds)};
    const vit_evaluation *result = r->result;
    const means none = {0};
    return (figures){.result = *result,
                     .means = vit_text_describe(r->model).writes ? none : mean_scores(r),
                     .perplexity = vit_exp(result->loss),
                     .source_perplexity = vit_exp(result->entropy),
                     .images_per_second = images_per_second(result->images, result->seconds)};
}

bool vit_results_json(const vit_results *r) {
    const figures f = figures_of(r);
    vit_json_out json = {0};
    size_t count;
    const figure *rows = rows_of(r, &count);
    vit_json_open(&json, NULL, '{');
    vit_json_text(&json, "model", r->name);
    vit_json_text(&json, "data", r->labels ? r->labels->data : r->result->data);
    vit_json_text(&json, "split", r->split);
    vit_json_text(&json, "which", r->labels ? r->labels->which : r->result->which);
    for (size_t i = 0; i < count; i++) {
        const void *value = (const char *)&f + rows[i].offset;
        if (!rows[i].key || (rows[i].is_there && !rows[i].is_there(r))) continue;
        switch (rows[i].kind) {
        case FIGURE_TEXT:
            vit_json_text(&json, rows[i].key, *(const char *const *)value);
            break;
        case FIGURE_COUNT:
            vit_json_count(&json, rows[i].key, *(const size_t *)value);
            break;
        case FIGURE_NUMBER:
        case FIGURE_SHARE:
            vit_json_number(&json, rows[i].key, *(const double *)value);
            break;
        case FIGURE_PART:
            rows[i].add(&json, r);
            break;
        }
    }
    if (r->sets) vit_coverages->counts_json(&json, r->sets, r->model, r->choice);
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

/* The first line: model, data and split; what: "pictures" or "texts". */
static void add_title(vit_string *text, const vit_results *r, const char *what) {
    char images[32];
    vit_string_add_visible(text, r->name, 0);
    vit_string_add(text, " on ");
    vit_string_add_visible(text, r->labels ? r->labels->data : r->result->data, 0);
    vit_string_add(text, ", split %s: %s %s, %s\n\n", r->split,
                   vit_format_count(images, r->labels ? r->labels->images : r->result->images),
                   what, r->labels ? r->labels->which : r->result->which);
}

/* The value of a row, 7 characters wide, and two for a percent sign. */
static void add_value(vit_string *text, const figure *row, const void *value) {
    char number[32];
    switch (row->kind) {
    case FIGURE_SHARE:
        add_percent(text, *(const double *)value);
        break;
    case FIGURE_NUMBER:
        vit_string_add(text, "%7s  ", vit_format_fixed(number, *(const double *)value, 4));
        break;
    case FIGURE_COUNT:
        vit_string_add(text, "%7s  ", vit_format_count(number, *(const size_t *)value));
        break;
    case FIGURE_TEXT:
    case FIGURE_PART:
        break;
    }
}

static void add_figures(vit_string *text, const vit_results *r) {
    const figures f = figures_of(r);
    size_t count;
    const figure *rows = rows_of(r, &count);
    for (size_t i = 0; i < count; i++) {
        char number[32];
        const void *value = (const char *)&f + rows[i].offset;
        const size_t *counted = (const void *)((const char *)&f + rows[i].counted);
        if (!rows[i].word || (rows[i].is_there && !rows[i].is_there(r))) continue;
        if (rows[i].kind == FIGURE_COUNT && *(const size_t *)value == 0) continue;
        vit_string_add(text, "  %-10s", rows[i].word);
        add_value(text, &rows[i], value);
        vit_string_add(text, "   %s%s%s\n",
                       rows[i].counted > 0 ? vit_format_count(number, *counted) : "",
                       rows[i].counted > 0 ? " " : "", rows[i].what);
    }
}

static void add_summary(vit_string *text, const vit_results *r) {
    const vit_evaluation *result = r->result;
    char below[32], wrong[32], all[32], seconds[32], rate[32];
    add_title(text, r, "pictures");
    add_figures(text, r);
    if (vit_model_describe(r->model).threshold > 0)
        vit_string_add(
            text,
            "  threshold %7s     answers are below it; %s of them are wrong, of %s wrong in all\n",
            vit_format_count(below, result->below_threshold),
            vit_format_count(wrong, result->below_threshold_wrong),
            vit_format_count(all, result->images - result->correct));
    const double speed = images_per_second(result->images, result->seconds);
    vit_string_add(text, "  time      %7s s   %s images/s\n\n",
                   vit_format_fixed(seconds, result->seconds, 2),
                   vit_format_count(rate, speed > 0 && speed < 1e15 ? (uint64_t)speed : 0));
}

/* The width of the labels' column, at most 40. */
static size_t label_width(const vit_results *r) {
    const size_t classes = r->labels ? r->labels->classes : r->result->classes;
    size_t width = strlen("class");
    for (size_t i = 0; i < classes; i++)
        width = vit_max(width, vit_display_columns(vit_model_label(r->model, i)));
    return vit_min(width, 40);
}

static void add_classes(vit_string *text, const vit_results *r) {
    char images[32], correct[32];
    size_t width = label_width(r);
    vit_string_add(text, "  ");
    vit_string_add_visible(text, "class", width);
    vit_string_add(text, "   pictures      right    recall precision        f1\n");
    for (size_t i = 0; i < r->result->classes; i++) {
        class_score score = score_class(r, i);
        vit_string_add(text, "  ");
        vit_string_add_visible(text, score.label, width);
        vit_string_add(text, " %10s %10s ", vit_format_count(images, score.images),
                       vit_format_count(correct, score.correct));
        add_percent(text, score.accuracy);
        vit_string_add(text, " ");
        add_percent(text, score.precision);
        vit_string_add(text, " ");
        add_percent(text, score.f1);
        vit_string_add(text, "\n");
    }
}

static void add_labels(vit_string *text, const vit_results *r) {
    char images[32];
    const size_t width = label_width(r);
    vit_string_add(text, "  ");
    vit_string_add_visible(text, "class", width);
    vit_string_add(text, "   pictures  average precision  precision    recall        f1\n");
    for (size_t i = 0; i < r->labels->classes; i++) {
        const vit_label_score *s = &r->labels->scores[i];
        vit_string_add(text, "  ");
        vit_string_add_visible(text, vit_model_label(r->model, i), width);
        vit_string_add(text, " %10s          ", vit_format_count(images, s->images));
        add_percent(text, s->average_precision);
        vit_string_add(text, "  ");
        add_percent(text, share(s->right, s->answered));
        vit_string_add(text, " ");
        add_percent(text, share(s->right, s->images));
        vit_string_add(text, " ");
        add_percent(text, label_f1(s));
        vit_string_add(text, "\n");
    }
}

/* A line for each bin that has answers. */
static void add_reliability(vit_string *text, const vit_results *r) {
    char low[32], high[32], images[32];
    vit_string_add(text, "\n  probability of the answer   pictures       mean      right\n");
    for (size_t i = 0; i < VIT_BINS; i++) {
        const vit_reliability *bin = &r->result->bins[i];
        if (bin->images == 0) continue;
        vit_string_add(text, "  %7s to %7s %%      %10s  ",
                       vit_format_fixed(low, 100. * (double)i / VIT_BINS, 2),
                       vit_format_fixed(high, 100. * (double)(i + 1) / VIT_BINS, 2),
                       vit_format_count(images, bin->images));
        add_percent(text, bin->confidence);
        vit_string_add(text, "  ");
        add_percent(text, bin->accuracy);
        vit_string_add(text, "\n");
    }
}

/* Columns have no headings, as labels may be long. */
static void add_confusion(vit_string *text, const vit_results *r) {
    size_t classes = r->result->classes, width = label_width(r);
    vit_string_add(text,
                   "\n  rows: the true class; columns: the answer, classes in the same order\n");
    for (size_t i = 0; i < classes; i++) {
        vit_string_add(text, "  ");
        vit_string_add_visible(text, vit_model_label(r->model, i), width);
        for (size_t j = 0; j < classes; j++)
            vit_string_add(text, " %6zu", r->result->confusion[i * classes + j]);
        vit_string_add(text, "\n");
    }
}

static void add_time(vit_string *text, double seconds) {
    char number[32];
    vit_string_add(text, "  time      %7s s\n", vit_format_fixed(number, seconds, 2));
}

bool vit_results_text(const vit_results *r) {
    vit_string text = {0};
    if (r->labels) {
        add_title(&text, r, "pictures");
        add_figures(&text, r);
        add_time(&text, r->labels->seconds);
        vit_string_add(&text, "\n");
        add_labels(&text, r);
    } else if (vit_text_describe(r->model).writes) {
        add_title(&text, r, "texts");
        add_figures(&text, r);
        add_time(&text, r->result->seconds);
    } else {
        add_summary(&text, r);
        add_classes(&text, r);
        add_reliability(&text, r);
        if (r->sets) vit_coverages->counts_text(&text, r->sets, r->model, r->choice);
        if (r->confusion) add_confusion(&text, r);
    }
    return vit_print(r->command, &text);
}
