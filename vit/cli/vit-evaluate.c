/* vit-evaluate: measures a model on a data set. */
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "vit/base/math.h"
#include "vit/base/npy.h"
#include "vit/base/sys.h"
#include "vit/cli/csv.h"
#include "vit/cli/json_out.h"
#include "vit/cli/models.h"
#include "vit/cli/program.h"
#include "vit/texts.h"

typedef struct settings {
    const char *model, *config, *labels, *data, *predictions, *confusion_csv, *logits;
    int split; /* vit_split */
    uint64_t batch, threads;
    vit_size size; /* 0: the model's own */
    bool json, confusion, list_unreadable;
    int precision; /* vit_precision */
} settings;

#define PLACE(member) offsetof(settings, member)

/* In the order of vit_split. */
static const char *const splits[] = {"test", "train", "val", NULL};

static const vit_option options[] = {
    {.kind = VIT_OPTION_GROUP, .help = "What to measure"},
    {.name = "model",
     .kind = VIT_OPTION_TEXT,
     .offset = PLACE(model),
     .argument = "NAME|MODEL",
     .help = "a file or a directory of weights: our own, or\n"
             "published ones (timm, Hugging Face, ...:\n"
             "docs/weights.md); or the name of a model in\n"
             "$VIT_MODELS or beside the program",
     .required = true},
    VIT_CONFIG_OPTION(settings),
    VIT_LABELS_OPTION(settings),
    VIT_SIZE_OPTION(settings),
    {.name = "data",
     .kind = VIT_OPTION_TEXT,
     .offset = PLACE(data),
     .argument = "DATA",
     .help = VIT_DATA_HELP,
     .required = true},
    {.name = "split",
     .kind = VIT_OPTION_CHOICE,
     .offset = PLACE(split),
     .argument = "test|train|val",
     .help = "which of its pictures (default: test). For a folder\n"
             "without parts, test means those that the training\n"
             "held back, or all if the model was not trained on it",
     .choices = splits},
    {.name = "list-unreadable",
     .kind = VIT_OPTION_FLAG,
     .offset = PLACE(list_unreadable),
     .help = "name every file that is left out, not only three"},
    {.kind = VIT_OPTION_GROUP, .help = "The answer"},
    {.name = "json", .kind = VIT_OPTION_FLAG, .offset = PLACE(json), .help = "one JSON object"},
    {.name = "confusion",
     .kind = VIT_OPTION_FLAG,
     .offset = PLACE(confusion),
     .help = "also the confusion matrix: how often each class was\n"
             "taken for each other one"},
    {.name = "confusion-csv",
     .kind = VIT_OPTION_TEXT,
     .offset = PLACE(confusion_csv),
     .argument = "FILE.csv",
     .help = "write the confusion matrix as a table with the names\n"
             "of the classes"},
    {.name = "predictions",
     .kind = VIT_OPTION_TEXT,
     .offset = PLACE(predictions),
     .argument = "FILE.csv",
     .help = "write a line for each picture: its file or number,\n"
             "the true class, the answer, and the probabilities of\n"
             "the answer and of the true class"},
    {.name = "logits",
     .kind = VIT_OPTION_TEXT,
     .offset = PLACE(logits),
     .argument = "FILE.npy",
     .help = "write the logits, float32 of [pictures][classes];\n"
             "those of --split train can be a teacher's answers,\n"
             "vit-train --teacher FILE.npy"},
    {.kind = VIT_OPTION_GROUP, .help = "How"},
    {.name = "batch",
     .kind = VIT_OPTION_COUNT,
     .offset = PLACE(batch),
     .argument = "N",
     .help = "pictures at a time; changes no figure\n(default: automatic)",
     .min = 1,
     .max = 1e6},
    VIT_PRECISION_OPTION(settings, "f32"),
    VIT_THREADS_OPTION(settings, "changes no figure but the speed\n(default: all processors)"),
};

static const vit_command command = {
    .name = "vit-evaluate",
    .usage = "usage: vit-evaluate --model NAME|MODEL --data DATA [OPTION...]\n"
             "\n"
             "Measures the accuracy of a model.\n"
             "\n"
             "  vit-evaluate --model digits.safetensors --data digits\n"
             "      accuracy on the test pictures, as a whole and class by class\n"
             "  vit-evaluate --model my.safetensors --data mnist --confusion\n"
             "      and the confusion matrix\n"
             "  vit-evaluate --model my.safetensors --data mnist --predictions answers.csv\n"
             "      and the answer to every picture\n",
    .notes = "Exit status: 0 done, 1 failed, 2 wrong usage.\n" VIT_CPU_NOTE
             "; in f32 the figures are the same with each.\n",
    .options = options,
    .option_count = sizeof options / sizeof options[0],
};

/* An evaluation, and what it is of. */
typedef struct report {
    const settings *settings;
    const vit_model *model;
    const vit_evaluation *result;
} report;

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

static class_score score_class(const report *r, size_t class) {
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

static means mean_scores(const report *r) {
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

static double images_per_second(const vit_evaluation *result) {
    return result->seconds > 0 ? (double)result->images / result->seconds : NAN;
}

static void add_json_classes(vit_json_out *json, const report *r) {
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

static void add_json_means(vit_json_out *json, const report *r) {
    const means m = mean_scores(r);
    vit_json_number(json, "balanced_accuracy", m.balanced);
    vit_json_number(json, "macro_precision", m.precision);
    vit_json_number(json, "macro_recall", m.recall);
    vit_json_number(json, "macro_f1", m.f1);
}

static void add_json_confusion(vit_json_out *json, const vit_evaluation *result) {
    vit_json_open(json, "confusion", '[');
    for (size_t i = 0; i < result->classes; i++) {
        vit_json_open(json, NULL, '[');
        for (size_t j = 0; j < result->classes; j++)
            vit_json_count(json, NULL, result->confusion[i * result->classes + j]);
        vit_json_close(json, ']');
    }
    vit_json_close(json, ']');
}

static void add_json_reliability(vit_json_out *json, const vit_evaluation *result) {
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

/* For a model that writes texts. */
static bool write_text_json(const report *r) {
    const vit_evaluation *result = r->result;
    vit_json_out json = {0};
    vit_json_open(&json, NULL, '{');
    vit_json_text(&json, "model", r->settings->model);
    vit_json_text(&json, "data", result->data);
    vit_json_text(&json, "split", splits[r->settings->split]);
    vit_json_text(&json, "which", result->which);
    vit_json_count(&json, "images", result->images);
    vit_json_number(&json, "sequences_right", result->sequences_right);
    vit_json_number(&json, "tokens_right", result->tokens_right);
    vit_json_number(&json, "edit_distance", result->edit_distance);
    vit_json_number(&json, "loss", result->loss);
    vit_json_number(&json, "perplexity", vit_exp(result->loss));
    if (result->entropy > 0) {
        vit_json_number(&json, "entropy", result->entropy);
        vit_json_number(&json, "source_perplexity", vit_exp(result->entropy));
    }
    vit_json_number(&json, "seconds", result->seconds);
    vit_json_number(&json, "images_per_second", images_per_second(result));
    vit_json_close(&json, '}');
    return vit_print_json(&command, &json);
}

static bool write_json(const report *r) {
    const vit_evaluation *result = r->result;
    vit_json_out json = {0};
    vit_json_open(&json, NULL, '{');
    vit_json_text(&json, "model", r->settings->model);
    vit_json_text(&json, "data", result->data);
    vit_json_text(&json, "split", splits[r->settings->split]);
    vit_json_text(&json, "which", result->which);
    vit_json_count(&json, "images", result->images);
    vit_json_count(&json, "correct", result->correct);
    vit_json_number(&json, "top1", result->top1);
    vit_json_number(&json, "top5", result->top5);
    vit_json_text(&json, "classes_matched_by", result->matched_by);
    vit_json_count(&json, "unknown_images", result->unknown_images);
    vit_json_open(&json, "unknown_classes", '{');
    for (size_t i = 0; i < result->unknown_classes; i++)
        vit_json_count(&json, result->unknown[i].label, result->unknown[i].images);
    vit_json_close(&json, '}');
    add_json_means(&json, r);
    vit_json_number(&json, "loss", result->loss);
    vit_json_number(&json, "temperature", result->temperature);
    vit_json_number(&json, "ece", result->ece);
    vit_json_number(&json, "brier", result->brier);
    vit_json_count(&json, "unsure", result->unsure);
    vit_json_count(&json, "unsure_wrong", result->unsure_wrong);
    add_json_reliability(&json, result);
    vit_json_number(&json, "seconds", result->seconds);
    vit_json_number(&json, "images_per_second", images_per_second(result));
    add_json_classes(&json, r);
    if (r->settings->confusion) add_json_confusion(&json, result);
    vit_json_close(&json, '}');
    return vit_print_json(&command, &json);
}

/* "98.71 %", or "-" for NaN. */
static void add_percent(vit_text *text, double fraction) {
    char number[32];
    if (isfinite(fraction)) {
        vit_text_add(text, "%7s %%", vit_format_fixed(number, 100 * fraction, 2));
    } else {
        vit_text_add(text, "%9s", "-");
    }
}

/* The first line: model, data and split; what: "pictures" or "texts". */
static void add_title(vit_text *text, const report *r, const char *what) {
    const vit_evaluation *result = r->result;
    char images[32];
    vit_text_add_visible(text, r->settings->model, 0);
    vit_text_add(text, " on ");
    vit_text_add_visible(text, result->data, 0);
    vit_text_add(text, ", split %s: %s %s, %s\n\n", splits[r->settings->split],
                 vit_format_count(images, result->images), what, result->which);
}

static void add_summary(vit_text *text, const report *r) {
    const vit_evaluation *result = r->result;
    char images[32], number[32], seconds[32];
    add_title(text, r, "pictures");
    vit_text_add(text, "  right     ");
    add_percent(text, result->top1);
    vit_text_add(text, "   %s pictures\n", vit_format_count(number, result->correct));
    if (result->unknown_images > 0)
        vit_text_add(text, "  unknown   %7s     pictures of classes that the model does not know\n",
                     vit_format_count(number, result->unknown_images));
    vit_text_add(text, "  top five  ");
    add_percent(text, result->top5);
    vit_text_add(text, "   the right class is among the five likeliest\n  balanced  ");
    const means m = mean_scores(r);
    add_percent(text, m.balanced);
    vit_text_add(text, "   mean recall of the classes\n  macro f1  ");
    add_percent(text, m.f1);
    vit_text_add(text, "   mean f1 of the classes, of precision and recall\n");
    vit_text_add(text, "  loss      %7s     mean cross-entropy\n",
                 vit_format_fixed(number, result->loss, 4));
    vit_text_add(text, "  ece       ");
    add_percent(text, result->ece);
    vit_text_add(text, "   mean gap between probability and accuracy (calibration)\n");
    vit_text_add(text, "  brier     %7s     mean squared error of the probabilities\n",
                 vit_format_fixed(number, result->brier, 4));
    if (vit_model_describe(r->model).threshold > 0)
        vit_text_add(text,
                     "  unsure    %7s     answers; %s of them are wrong, of %s wrong in all\n",
                     vit_format_count(images, result->unsure),
                     vit_format_count(number, result->unsure_wrong),
                     vit_format_count(seconds, result->images - result->correct));
    double rate = images_per_second(result);
    vit_text_add(text, "  time      %7s s   %s pictures a second\n\n",
                 vit_format_fixed(seconds, result->seconds, 2),
                 vit_format_count(number, rate > 0 && rate < 1e15 ? (uint64_t)rate : 0));
}

static size_t label_width(const report *r) {
    size_t width = strlen("class");
    for (size_t i = 0; i < r->result->classes; i++) {
        size_t columns = vit_text_columns(vit_model_label(r->model, i));
        width = columns > width ? columns : width;
    }
    return width < 40 ? width : 40;
}

static void add_classes(vit_text *text, const report *r) {
    char images[32], correct[32];
    size_t width = label_width(r);
    vit_text_add(text, "  ");
    vit_text_add_visible(text, "class", width);
    vit_text_add(text, "   pictures      right    recall precision        f1\n");
    for (size_t i = 0; i < r->result->classes; i++) {
        class_score score = score_class(r, i);
        vit_text_add(text, "  ");
        vit_text_add_visible(text, score.label, width);
        vit_text_add(text, " %10s %10s ", vit_format_count(images, score.images),
                     vit_format_count(correct, score.correct));
        add_percent(text, score.accuracy);
        vit_text_add(text, " ");
        add_percent(text, score.precision);
        vit_text_add(text, " ");
        add_percent(text, score.f1);
        vit_text_add(text, "\n");
    }
}

/* A line for each bin that has answers. */
static void add_reliability(vit_text *text, const report *r) {
    char low[32], high[32], images[32];
    vit_text_add(text, "\n  probability of the answer   pictures       mean      right\n");
    for (size_t i = 0; i < VIT_BINS; i++) {
        const vit_reliability *bin = &r->result->bins[i];
        if (bin->images == 0) continue;
        vit_text_add(text, "  %7s to %7s %%      %10s  ",
                     vit_format_fixed(low, 100. * (double)i / VIT_BINS, 2),
                     vit_format_fixed(high, 100. * (double)(i + 1) / VIT_BINS, 2),
                     vit_format_count(images, bin->images));
        add_percent(text, bin->confidence);
        vit_text_add(text, "  ");
        add_percent(text, bin->accuracy);
        vit_text_add(text, "\n");
    }
}

/* Columns have no headings, as labels may be long. */
static void add_confusion(vit_text *text, const report *r) {
    size_t classes = r->result->classes, width = label_width(r);
    vit_text_add(text,
                 "\n  rows: the true class; columns: the answer, classes in the same order\n");
    for (size_t i = 0; i < classes; i++) {
        vit_text_add(text, "  ");
        vit_text_add_visible(text, vit_model_label(r->model, i), width);
        for (size_t j = 0; j < classes; j++)
            vit_text_add(text, " %6zu", r->result->confusion[i * classes + j]);
        vit_text_add(text, "\n");
    }
}

static void add_text_summary(vit_text *text, const report *r) {
    const vit_evaluation *result = r->result;
    char number[32], seconds[32];
    add_title(text, r, "texts");
    vit_text_add(text, "  right     ");
    add_percent(text, result->sequences_right);
    vit_text_add(text, "   %s whole texts\n", vit_format_count(number, result->correct));
    vit_text_add(text, "  tokens    ");
    add_percent(text, result->tokens_right);
    vit_text_add(text, "   the next one, given the right ones before it\n");
    vit_text_add(text, "  distance  ");
    add_percent(text, result->edit_distance);
    vit_text_add(text, "   characters to insert, delete or replace, of all characters\n");
    vit_text_add(text, "  loss      %7s     mean cross-entropy of a token\n",
                 vit_format_fixed(number, result->loss, 4));
    vit_text_add(text, "  perplexity%7s     of a token, exp(loss)\n",
                 vit_format_fixed(number, vit_exp(result->loss), 4));
    if (result->entropy > 0)
        vit_text_add(text, "  of source %7s     the least possible: exp(entropy of the source)\n",
                     vit_format_fixed(number, vit_exp(result->entropy), 4));
    vit_text_add(text, "  time      %7s s\n", vit_format_fixed(seconds, result->seconds, 2));
}

static bool write_text(const report *r) {
    vit_text text = {0};
    if (vit_text_describe(r->model).writes) {
        add_text_summary(&text, r);
        return vit_print(&command, &text);
    }
    add_summary(&text, r);
    add_classes(&text, r);
    add_reliability(&text, r);
    if (r->settings->confusion) add_confusion(&text, r);
    return vit_print(&command, &text);
}

/* ---- CSV ---- */

static const char predictions_head[] = "file,index,label,answer,right,probability,"
                                       "label_probability\n";
static const char confusion_head[] = "label/answer";

/* The lines of --predictions and the rows of --logits, collected picture by picture. */
typedef struct predictions {
    const vit_model *model;
    const settings *settings;
    vit_text lines, logits; /* logits: the bytes of the floats */
} predictions;

static void on_picture(const vit_evaluated *picture, void *user) {
    predictions *p = user;
    char answer[32], label[32];
    vit_text *t = &p->lines;
    if (p->settings->logits) {
        const size_t classes = vit_model_describe(p->model).classes;
        vit_text_add_bytes(&p->logits, (const char *)picture->logits, classes * sizeof(float));
    }
    if (!p->settings->predictions) return;
    if (picture->file) vit_csv_field(t, picture->file);
    vit_text_add(t, ",%zu,", picture->index);
    vit_csv_field(t, vit_model_label(p->model, picture->label));
    vit_text_add(t, ",");
    vit_csv_field(t, vit_model_label(p->model, picture->answer));
    vit_text_add(t, ",%d,%s,%s\n", picture->label == picture->answer,
                 vit_format_float(answer, picture->probabilities[picture->answer]),
                 vit_format_float(label, picture->probabilities[picture->label]));
}

static vit_status write_confusion(const report *r, vit_error *error) {
    const size_t classes = r->result->classes;
    vit_text t = {0};
    vit_text_add(&t, "%s", confusion_head);
    for (size_t i = 0; i < classes; i++) {
        vit_text_add(&t, ",");
        vit_csv_field(&t, vit_model_label(r->model, i));
    }
    vit_text_add(&t, "\n");
    for (size_t i = 0; i < classes; i++) {
        vit_csv_field(&t, vit_model_label(r->model, i));
        for (size_t j = 0; j < classes; j++)
            vit_text_add(&t, ",%zu", r->result->confusion[i * classes + j]);
        vit_text_add(&t, "\n");
    }
    const vit_status status = vit_csv_write(r->settings->confusion_csv, &t, error);
    vit_text_free(&t);
    return status;
}

static vit_status write_logits(const report *r, const predictions *p, vit_error *error) {
    const size_t shape[] = {r->result->images, r->result->classes};
    const vit_text *t = &p->logits;
    if (t->failed) return vit_fail_memory(error, "logits", t->length);
    float *values = vit_alloc_unset(t->length, 1); /* aligned as floats are */
    if (!values) return vit_fail_memory(error, "logits", t->length);
    memcpy(values, t->text, t->length);
    const vit_status status = vit_npy_write(r->settings->logits, values, shape, 2, error);
    vit_free(values);
    return status;
}

/* Checks that the files can be written, before all pictures are classified. */
static vit_status check_places(const settings *s, vit_error *error) {
    vit_status status = VIT_OK;
    if (s->predictions)
        status = vit_csv_check(s->predictions, "predictions", predictions_head, error);
    if (status == VIT_OK && s->confusion_csv)
        status = vit_csv_check(s->confusion_csv, "confusion-csv", confusion_head, error);
    return status;
}

/* ---- the whole evaluation ---- */

static void on_note(const char *text, void *user) {
    (void)user;
    vit_say(&command, text);
}

static vit_status measure(const settings *s, vit_model **model, predictions *p,
                          vit_evaluation *result, vit_error *error) {
    const vit_model_options opening = {.config = s->config,
                                       .labels = s->labels,
                                       .height = s->size.height,
                                       .width = s->size.width,
                                       .cpu = vit_chosen_cpu(),
                                       .precision = (vit_precision)s->precision};
    vit_status status = vit_load_named_model(model, s->model, &opening, error);
    vit_evaluate_options choice = {.data = s->data,
                                   .split = (vit_split)s->split,
                                   .batch = (size_t)s->batch,
                                   .threads = (int)s->threads,
                                   .cpu = vit_chosen_cpu(),
                                   .precision = (vit_precision)s->precision,
                                   .note = on_note,
                                   .list_unreadable = s->list_unreadable,
                                   .picture = s->predictions || s->logits ? on_picture : NULL,
                                   .user = p};
    p->model = *model;
    p->settings = s;
    if (status == VIT_OK && s->predictions) vit_text_add(&p->lines, "%s", predictions_head);
    return status == VIT_OK ? vit_evaluate(*model, &choice, result, error) : status;
}

/* Writes files first, so that what is on standard output is also in the files; returns the exit
 * status. */
static int answer(const report *r, const predictions *p) {
    const settings *s = r->settings;
    vit_error error;
    vit_status status = VIT_OK;
    if (vit_text_describe(r->model).writes &&
        (s->predictions || s->logits || s->confusion_csv || s->confusion)) {
        vit_say(&command, "the model writes texts: --predictions, --logits, --confusion and "
                          "--confusion-csv are for classes");
        return VIT_EXIT_FAILED;
    }
    if (s->predictions) status = vit_csv_write(s->predictions, &p->lines, &error);
    if (status == VIT_OK && s->logits) status = write_logits(r, p, &error);
    if (status == VIT_OK && s->confusion_csv) status = write_confusion(r, &error);
    if (status != VIT_OK) vit_say(&command, error.message);
    bool (*const write)(const report *) = !s->json                             ? write_text
                                          : vit_text_describe(r->model).writes ? write_text_json
                                                                               : write_json;
    const bool fine = write(r);
    return fine && status == VIT_OK ? VIT_EXIT_OK : VIT_EXIT_FAILED;
}

int main(int argc, char **argv) {
    settings s = {.split = VIT_SPLIT_TEST};
    int exit_status;
    if (!vit_program_start(&command, &s, &argc, argv, &exit_status)) return exit_status;
    vit_model *model = NULL;
    vit_evaluation result = {0};
    predictions p = {0};
    vit_error error;
    if (s.predictions && s.confusion_csv && strcmp(s.predictions, s.confusion_csv) == 0)
        return vit_say_usage(&command, "--predictions and --confusion-csv name the same file");
    if (s.logits && !vit_has_ending(s.logits, ".npy"))
        return vit_say_usage(&command, "--logits: the file is an array of NumPy, FILE.npy");
    if (check_places(&s, &error) != VIT_OK || measure(&s, &model, &p, &result, &error) != VIT_OK) {
        exit_status = vit_say_error(&command, &error);
    } else {
        report r = {.settings = &s, .model = model, .result = &result};
        exit_status = answer(&r, &p);
    }
    vit_text_free(&p.lines);
    vit_text_free(&p.logits);
    vit_evaluation_clear(&result);
    vit_model_free(model);
    return vit_program_end(&command, exit_status);
}
