/* vit-evaluate: measures a model on a data set. */
#include <assert.h>
#include <stddef.h>
#include <string.h>

#include "vit/base/size.h"
#include "vit/base/sys.h"
#include "vit/cli/evaluate/confusion.h"
#include "vit/cli/evaluate/evaluation_page.h"
#include "vit/cli/evaluate/probe.h"
#include "vit/cli/evaluate/results.h"
#include "vit/cli/models/models.h"
#include "vit/cli/parts/coverage.h"
#include "vit/cli/parts/program.h"
#include "vit/cluster/cluster.h"
#include "vit/formats/csv.h"
#include "vit/formats/npy.h"
#include "vit/texts.h"

typedef struct settings {
    vit_model_choice from;
    vit_tag_choice tags;
    const char *data, *class_column, *exclude, *relabel, *predictions, *confusion_csv,
        *confusion_svg, *logits;
    const char *calibrate, *training, *outliers;
    const char *label_issues, *report, *near_duplicates;
    vit_coverage_choice sets;
    int split; /* vit_split */
    uint64_t batch, threads, knn, folds;
    bool json, confusion, list_unreadable, probe;
    bool given[64]; /* by row of the options */
} settings;

/* What the program does in place of measuring the model's answers. */
enum { CALIBRATES = 1, FINDS_UNKNOWN = 2, MEASURES_FEATURES = 4 };

static const vit_option options[] = {
    {.kind = VIT_OPTION_GROUP, .help = "What to measure"},
    {VIT_OPTION(TEXT, "model", from.name, "NAME|MODEL"),
     .help = "a file or a directory of weights: our own, or\n"
             "published ones (timm, Hugging Face, ...:\n"
             "docs/weights.md); or the name of a model in\n"
             "$VIT_MODELS or beside the program",
     .required = true, .also = VIT_EVERYWHERE},
    VIT_CONFIG_OPTION(settings),
    VIT_EMULATE_OPTION(settings),
    VIT_LABELS_OPTION(settings),
    VIT_LABELS_FILE_OPTION(settings),
    VIT_TEMPLATE_OPTION(settings),
    VIT_SIZE_OPTION(settings),
    VIT_EXIF_OPTION(settings),
    {VIT_OPTION(TEXT, "data", data, "DATA"), .help = VIT_DATA_HELP, .also = VIT_EVERYWHERE},
    VIT_CLASS_COLUMN_OPTION(settings, class_column),
    VIT_EXCLUDE_OPTION(settings, exclude),
    {VIT_OPTION(TEXT, "relabel", relabel, "FILE.csv"),
     .help = "give pictures the class in the columns picture and label\n"
             "of this table (docs/data.md)",
     .also = VIT_EVERYWHERE},
    VIT_TAG_OPTIONS(settings, tags),
    {VIT_OPTION(CHOICE, "split", split, "test|train|val"),
     .help = "which of its pictures (default: test). For a folder\n"
             "without parts, test means those that the training\n"
             "held back, or all if the model was not trained on it",
     .choices = vit_split_names, .also = CALIBRATES | FINDS_UNKNOWN},
    {VIT_FLAG("list-unreadable", list_unreadable),
     .help = "name every file that is left out, not only three",
     .also = CALIBRATES | FINDS_UNKNOWN},
    {.kind = VIT_OPTION_GROUP, .help = "The answer"},
    {VIT_FLAG("json", json), .help = "one JSON object", .also = VIT_EVERYWHERE},
    {VIT_FLAG("confusion", confusion),
     .help = "also the confusion matrix: true classes by answers"},
    {VIT_OPTION(TEXT, "confusion-csv", confusion_csv, "FILE.csv"),
     .help = "write the confusion matrix as a table with the names\n"
             "of the classes"},
    {VIT_OPTION(TEXT, "confusion-svg", confusion_svg, "FILE.svg"),
     .help = "write the confusion matrix as a picture, for a browser"},
    {VIT_OPTION(TEXT, "report", report, "FILE.html"),
     .help = "write a page with the pictures: accuracy, classes,\n"
             "confusion matrix, calibration, risk and coverage, the\n"
             "worst answers and label issues; and all of them as\n"
             "tables beside it, FILE.csv (--predictions),\n"
             "FILE-confusion.csv, FILE-label-issues.csv"},
    {VIT_OPTION(TEXT, "predictions", predictions, "FILE.csv"),
     .help = "write a line for each picture: its file or number,\n"
             "the true class, the answer, the probabilities of both;\n"
             "with a threshold, whether the model abstains"},
    VIT_NEAR_DUPLICATES_OPTION(settings, near_duplicates,
                               ";\nalso those of a picture in the training part"),
    {VIT_OPTION(TEXT, "label-issues", label_issues, "FILE.csv"),
     .help = "write the pictures whose label is likely wrong, by\n"
             "confident learning, the likeliest first\n"
             "(docs/reliance.md); the model must not have been\n"
             "trained on them, or have a few-shot head"},
    {VIT_OPTION(COUNT, "folds", folds, "K"),
     .help = "with --label-issues and a few-shot head: answer the\n"
             "pictures of each of K folds by a head of the others\n"
             "(default: without each picture alone)",
     .min = 2, .max = 100},
    {VIT_OPTION(TEXT, "logits", logits, "FILE.npy"),
     .help = "write the logits, float32 of [pictures][classes];\n"
             "those of --split train can be a teacher's answers,\n"
             "vit-train --teacher FILE.npy"},
    {.kind = VIT_OPTION_GROUP, .help = "Prediction sets, out-of-distribution pictures"},
    {VIT_OPTION(TEXT, "calibrate", calibrate, "DATA"),
     .help = "in place of --data: calibrate the model for --coverage\n"
             "with these labelled pictures, which its training has\n"
             "not seen (docs/reliance.md)",
     .also = CALIBRATES},
    {VIT_OPTION(TEXT, "training", training, "DATA"),
     .help = "with --calibrate: the data that it was trained on, for\n"
             "--unknown by features, which are compared with those\n"
             "of its training part",
     .also = CALIBRATES},
    {VIT_OPTION(TEXT, "outliers", outliers, "DATA"),
     .help = "with --calibrate: pictures of no class, by which the\n"
             "score for --unknown is chosen; with --unknown: those\n"
             "that ought to be unknown",
     .also = CALIBRATES | FINDS_UNKNOWN},
    VIT_COVERAGE_OPTIONS(settings, sets, 0, CALIBRATES | FINDS_UNKNOWN, FINDS_UNKNOWN),
    {.kind = VIT_OPTION_GROUP, .help = "Its features, in place of its answers"},
    {VIT_OPTION(COUNT, "knn", knn, "K"),
     .help = "a vote of the K training pictures whose features are\n"
             "most similar, weighted as DINO does (20 is usual)",
     .min = 1, .max = 10000, .also = MEASURES_FEATURES},
    {VIT_FLAG("linear-probe", probe),
     .help = "a logistic regression on the features of the\n"
             "training pictures",
     .also = MEASURES_FEATURES},
    {.kind = VIT_OPTION_GROUP, .help = "How"},
    {VIT_OPTION(COUNT, "batch", batch, "N"),
     .help = "pictures at a time; changes no figure\n(default: automatic)", .min = 1, .max = 1e6,
     .also = CALIBRATES | FINDS_UNKNOWN},
    VIT_PRECISION_OPTION(settings),
    VIT_ARITHMETIC_OPTION(settings),
    VIT_THREADS_OPTION(settings, "changes no figure but the speed\n(default: all processors)"),
};

static_assert(VIT_COUNT(options) <= VIT_COUNT(((settings *)NULL)->given), "a mark for each option");

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
             "      and the answer to every picture\n"
             "  vit-evaluate --model my.safetensors --calibrate digits\n"
             "      calibrates it; afterwards vit-classify --coverage 0.95 gives sets\n"
             "  mpirun -np 4 vit-evaluate --model my.safetensors --data mnist\n"
             "      four processes, built with make MPI=1: the same figures, sooner\n"
             "\n"
             "A model that gives a picture any number of classes (vit-train --multi-label) is\n"
             "measured by average precision and f1.\n",
    .notes = "Exit status: 0 done, 1 failed, 2 wrong usage.\n" VIT_CPU_NOTE
             "; in f32 the figures are the same with each.\n",
    .options = options,
    .option_count = sizeof options / sizeof options[0],
    .ranks = true,
    .given = offsetof(settings, given),
};

/* ---- CSV ---- */

static const char predictions_head[] = "file,index,label,answer,right,probability,"
                                       "label_probability"; /* ",abstains", with thresholds */

/* The lines of --predictions and the rows of --logits, collected picture by picture. */
typedef struct predictions {
    const vit_model *model;
    const settings *settings;
    vit_string lines, logits; /* logits: the bytes of the floats */
    vit_coverage coverage;
    vit_set_counts sets; /* where `counts` */
    bool counts;
    vit_kept_answers kept; /* for --label-issues and --report */
    vit_page_texts texts;  /* of --report */
    const vit_evaluate_options *choice;
    vit_cluster *cluster; /* NULL: this process alone */
} predictions;

static void on_picture(const vit_evaluated *picture, void *user) {
    predictions *p = user;
    char answer[32], label[32];
    vit_string *t = &p->lines;
    if (p->counts) vit_coverages->counts_add(&p->sets, picture);
    if (p->settings->label_issues) vit_issues->keep(&p->kept, picture);
    if (p->settings->logits) {
        const size_t classes = vit_model_describe(p->model).classes;
        vit_string_add_bytes(&p->logits, (const char *)picture->logits, classes * sizeof(float));
    }
    if (!p->settings->predictions) return;
    if (picture->file) vit_csv_path(t, picture->file);
    vit_string_add(t, ",%zu,", picture->index);
    vit_csv_field(t, vit_model_label(p->model, picture->label));
    vit_string_add(t, ",");
    vit_csv_field(t, vit_model_label(p->model, picture->answer));
    vit_string_add(t, ",%d,%s,%s", picture->label == picture->answer,
                   vit_format_float(answer, picture->probabilities[picture->answer]),
                   vit_format_float(label, picture->probabilities[picture->label]));
    const double *thresholds = p->coverage.thresholds;
    if (thresholds)
        vit_string_add(t, ",%d", vit_abstains(thresholds, picture->answer, picture->probabilities));
    vit_string_add(t, "\n");
}

static vit_status write_logits(const predictions *p, const vit_evaluation *result,
                               vit_error *error) {
    const size_t shape[] = {result->images, result->classes};
    const vit_string *t = &p->logits;
    if (t->failed) return vit_fail_memory(error, "logits", t->length);
    float *values = vit_alloc_unset(t->length, 1); /* aligned as floats are */
    if (!values) return vit_fail_memory(error, "logits", t->length);
    memcpy(values, t->text, t->length);
    const vit_status status = vit_npy_write(p->settings->logits, values, shape, 2, error);
    vit_free(values);
    return status;
}

enum { TABLES = 3 };

/* Names the tables that come with --report; owned: [TABLES]. */
static vit_status name_tables(settings *s, char **owned, vit_error *error) {
    vit_status status = vit_pages->name(&s->predictions, &owned[0], s->report, ".csv", error);
    if (status == VIT_OK)
        status = vit_pages->name(&s->confusion_csv, &owned[1], s->report, "-confusion.csv", error);
    if (status != VIT_OK || !vit_issues || s->split == VIT_SPLIT_TRAIN) return status;
    return vit_pages->name(&s->label_issues, &owned[2], s->report, "-label-issues.csv", error);
}

/* Checks that the files can be written, before all pictures are classified. */
static vit_status check_places(const settings *s, vit_error *error) {
    vit_status status = VIT_OK;
    const char *issues = s->label_issues, *confusion = s->confusion_csv;
    if (vit_same_names(s->predictions, confusion) || vit_same_names(s->predictions, issues) ||
        vit_same_names(confusion, issues))
        status = vit_fail(error, VIT_ERROR_ARGUMENT,
                          "--predictions, --confusion-csv and --label-issues name the same file "
                          "(--report PAGE.html names those that are not given PAGE.csv, "
                          "PAGE-confusion.csv and PAGE-label-issues.csv)");
    if (status == VIT_OK && s->predictions)
        status = vit_csv_check(s->predictions, "predictions", predictions_head, error);
    if (status == VIT_OK && s->label_issues)
        status = vit_csv_check(s->label_issues, "label-issues", vit_issues->head, error);
    if (status == VIT_OK && s->confusion_csv)
        status = vit_csv_check(s->confusion_csv, "confusion-csv", vit_confusion_csv_head, error);
    if (status == VIT_OK && s->confusion_svg)
        status = vit_csv_check(s->confusion_svg, "confusion-svg", vit_confusion_svg_head, error);
    return status;
}

/* ---- the whole evaluation ---- */

static void on_note(const char *text, void *user) {
    predictions *p = user;
    if (p->settings->report) vit_pages->note(&p->texts, text);
    if (vit_cluster_rank(p->cluster) == 0) vit_say(&command, "%s", text);
}

/* How the pictures of `data` are answered; notes go to `p`. */
static vit_evaluate_options options_for(const settings *s, const char *data, predictions *p) {
    return (vit_evaluate_options){.data = data,
                                  .class_column = s->class_column,
                                  .exclude = s->exclude,
                                  .relabel = s->relabel,
                                  .tag_branch = vit_chosen_tags(&s->tags),
                                  .near_duplicates = s->near_duplicates,
                                  .split = (vit_split)s->split,
                                  .batch = (size_t)s->batch,
                                  .threads = (int)s->threads,
                                  .cpu = vit_chosen_cpu(),
                                  .precision = vit_chosen_precision(&s->from),
                                  .bf16 = (vit_bf16)s->from.bf16,
                                  .note = on_note,
                                  .list_unreadable = s->list_unreadable,
                                  .user = p,
                                  .cluster = p->cluster};
}

/* Whether every answer is asked for. */
static bool reads_answers(const settings *s) {
    return s->predictions || s->logits || s->label_issues || vit_coverage_asked(&s->sets);
}

/* What --coverage and its like mean for the model, and memory to count. */
static vit_status open_sets(predictions *p, const vit_evaluate_options *choice, vit_error *error) {
    const vit_session_options own = {.threads = choice->threads,
                                     .cpu = choice->cpu,
                                     .precision = choice->precision,
                                     .bf16 = choice->bf16};
    const settings *s = p->settings;
    vit_session *session;
    if (!vit_coverage_asked(&s->sets)) return VIT_OK;
    vit_status status = vit_session_new(&session, p->model, &own, error);
    if (status != VIT_OK) return status;
    status = vit_coverages->open(&p->coverage, &command, &s->sets, s->from.name, p->model, session,
                                 error);
    vit_session_free(session);
    p->counts = status == VIT_OK;
    return status == VIT_OK ? vit_coverages->counts_new(&p->sets, &p->coverage,
                                                        vit_model_describe(p->model).classes, error)
                            : status;
}

/* How many labels are likely wrong, and what to do next. */
static void say_issues(const predictions *p) {
    const settings *s = p->settings;
    char *training = vit_path_join(s->data, "train");
    vit_say(&command, "%zu of %zu labels are likely wrong: %s%s", p->kept.issue_count,
            p->kept.count, s->label_issues,
            p->kept.issue_count == 0
                ? ""
                : "; look through it, then vit-train --relabel, or --exclude, with what is left");
    if (training && vit_path_look(training) == VIT_PATH_DIRECTORY)
        vit_say(&command,
                "these are not of the training part: a few-shot head (vit-train --head ridge) "
                "lists its own with --data %s",
                training);
    vit_free(training);
}

/* The pictures whose label is likely wrong, when all are answered. */
static vit_status find_issues(predictions *p, const vit_evaluation *result, vit_error *error) {
    vit_status status = VIT_OK;
    if (p->kept.count == 0) return VIT_OK;
    if (result->seen)
        status =
            vit_issues->leave_out(&p->kept, p->model, p->choice, (size_t)p->settings->folds, error);
    else if (p->settings->folds > 0)
        status = vit_fail(error, VIT_ERROR_ARGUMENT,
                          "--folds K is for a head that was computed from these pictures "
                          "(vit-train --head ridge --data %s); the model has not learnt from them, "
                          "and its own answers do: leave --folds out",
                          p->settings->data);
    if (status == VIT_OK) status = vit_issues->find(&p->kept, error);
    if (status == VIT_OK) say_issues(p);
    return status;
}

static vit_status fill_page(vit_page_lists *lists, const vit_evaluation *result, void *user,
                            vit_error *error) {
    predictions *p = user;
    const settings *s = p->settings;
    const vit_status status = find_issues(p, result, error);
    vit_pages->file(&p->texts, s->predictions, "the answer to every picture");
    vit_pages->file(&p->texts, s->confusion_csv, "the confusion matrix");
    vit_pages->file(&p->texts, s->label_issues, "the pictures whose label is likely wrong");
    if (status != VIT_OK) return status;
    return vit_pages->fill(lists, &p->texts, s->label_issues ? &p->kept : NULL, error);
}

static vit_status evaluate(predictions *p, const vit_evaluate_options *choice,
                           vit_evaluation *result, vit_error *error) {
    const settings *s = p->settings;
    const vit_evaluation_page page = {
        .out = s->report, .model = s->from.name, .lists = fill_page, .user = p};
    p->choice = choice;
    if (s->report) return vit_pages->evaluate(p->model, choice, &page, result, error);
    const vit_status status = vit_evaluate(p->model, choice, result, error);
    return status == VIT_OK && s->label_issues ? find_issues(p, result, error) : status;
}

/* *labels: of a model of any number of classes a picture; *result: of others. */
static vit_status measure(const settings *s, vit_model **model, predictions *p,
                          vit_evaluation *result, vit_label_evaluation *labels, vit_error *error) {
    const bool writes = vit_cluster_rank(p->cluster) == 0;
    vit_status status = check_places(s, error);
    if (status == VIT_OK) status = vit_load_chosen_model(model, &s->from, s->threads, false, error);
    status = vit_cluster_agree(p->cluster, status, error);
    vit_evaluate_options choice = options_for(s, s->data, p);
    choice.picture = writes && reads_answers(s) ? on_picture : NULL;
    p->model = *model;
    p->settings = s;
    const vit_model_info info = status == VIT_OK ? vit_model_describe(*model) : (vit_model_info){0};
    if (status == VIT_OK && writes) vit_say_precision(&command, &s->from, s->from.name, &info);
    if (status == VIT_OK) status = open_sets(p, &choice, error);
    if (status == VIT_OK && info.scoring == VIT_SCORING_SIGMOID)
        return vit_evaluate_labels(*model, &choice, labels, error);
    p->kept.classes = info.classes;
    if (status == VIT_OK && s->predictions)
        vit_string_add(&p->lines, "%s%s\n", predictions_head,
                       p->coverage.thresholds ? ",abstains" : "");
    if (status == VIT_OK) status = evaluate(p, &choice, result, error);
    if (status == VIT_OK && writes && strcmp(p->coverage.calibrated_on, result->data) == 0)
        vit_say(&command,
                "the model was calibrated with %s, too: if these are the same pictures, what is "
                "measured here says nothing of others",
                result->data);
    return status;
}

/* Whether something is asked for that only answers of one class have. */
static bool for_one_class(const settings *s) {
    return s->report || s->predictions || s->logits || s->label_issues || s->confusion ||
           s->confusion_csv || s->confusion_svg;
}

/* Writes files first, so that what is on standard output is also in the files; returns the exit
 * status. */
static int answer(const settings *s, const vit_results *r, predictions *p) {
    vit_error error;
    vit_status status = VIT_OK;
    const char *other = r->labels                            ? "has any number of classes a picture"
                        : vit_text_describe(r->model).writes ? "writes texts"
                                                             : NULL;
    if (other && for_one_class(s)) {
        vit_say(&command,
                "the model %s: --report, --label-issues, --predictions, --logits, --confusion and "
                "files of it are for one class a picture",
                other);
        return VIT_EXIT_FAILED;
    }
    if (s->label_issues) status = vit_issues->write(s->label_issues, &p->kept, r->model, &error);
    if (status == VIT_OK && s->predictions)
        status = vit_write_text(s->predictions, &p->lines, &error);
    if (status == VIT_OK && s->logits) status = write_logits(p, r->result, &error);
    if (status == VIT_OK && s->confusion_csv)
        status = vit_confusion_csv(s->confusion_csv, r->model, r->result, &error);
    if (status == VIT_OK && s->confusion_svg)
        status = vit_confusion_svg(s->confusion_svg, r->model, r->result, &error);
    if (status != VIT_OK) vit_say(&command, "%s", error.message);
    const bool printed = s->json ? vit_results_json(r) : vit_results_text(r);
    return printed && status == VIT_OK ? VIT_EXIT_OK : VIT_EXIT_FAILED;
}

/* ---- features ---- */

static int probe(const settings *s) {
    const vit_probe_call call = {.data = s->data,
                                 .class_column = s->class_column,
                                 .exclude = s->exclude,
                                 .relabel = s->relabel,
                                 .tag_branch = vit_chosen_tags(&s->tags),
                                 .name = s->from.name,
                                 .neighbours = (size_t)s->knn,
                                 .probe = s->probe,
                                 .json = s->json,
                                 .threads = (int)s->threads,
                                 .precision = vit_chosen_precision(&s->from),
                                 .bf16 = (vit_bf16)s->from.bf16};
    vit_model *model = NULL;
    vit_error error;
    if (s->from.labels || s->from.labels_file || s->from.templates.count > 0)
        return vit_say_usage(&command,
                             "--knn and --linear-probe answer with the classes of the data: "
                             "--labels and --template are for the model's own answers");
    if (vit_load_chosen_model(&model, &s->from, s->threads, false, &error) != VIT_OK)
        return vit_say_error(&command, &error);
    const vit_model_info info = vit_model_describe(model);
    vit_say_precision(&command, &s->from, s->from.name, &info);
    const int exit_status = vit_probes->probe(&command, model, &call);
    vit_model_free(model);
    return exit_status;
}

/* ---- calibration ---- */

/* Of outliers, which may be of any class, the test part; of a folder all pictures. */
static vit_evaluate_options options_of_outliers(const settings *s, predictions *p) {
    vit_evaluate_options o = options_for(s, s->outliers, p);
    o.split = VIT_SPLIT_TEST;
    o.class_column = ""; /* they have none */
    o.exclude = o.relabel = o.tag_branch = NULL;
    return o;
}

/* Measures --unknown. */
static int test_unknown(const settings *s) {
    predictions p = {.settings = s};
    const vit_evaluate_options data = options_for(s, s->data, &p),
                               outliers = options_of_outliers(s, &p);
    const vit_unknown_call call = {.choice = &s->sets,
                                   .name = s->from.name,
                                   .data = &data,
                                   .outliers = s->outliers ? &outliers : NULL,
                                   .json = s->json};
    vit_model *model = NULL;
    vit_error error;
    if (vit_load_chosen_model(&model, &s->from, s->threads, false, &error) != VIT_OK)
        return vit_say_error(&command, &error);
    const int exit_status = vit_coverages->measure_unknown(&command, model, &call);
    vit_model_free(model);
    return exit_status;
}

/* Calibrates the model with --calibrate's pictures. */
static int calibrate(const settings *s) {
    predictions p = {.settings = s};
    const vit_evaluate_options choice = options_for(s, s->calibrate, &p);
    const vit_evaluate_options training = options_for(s, s->training, &p),
                               outliers = options_of_outliers(s, &p);
    vit_error error;
    bool printed;
    if (vit_coverages->calibrate(&command, &s->sets, &s->from, &choice,
                                 s->training ? &training : NULL, s->outliers ? &outliers : NULL,
                                 s->json, &printed, &error) != VIT_OK)
        return vit_say_error(&command, &error);
    return printed ? VIT_EXIT_OK : VIT_EXIT_FAILED;
}

/* Options that contradict each other, as a sentence; NULL: none do. */
static const char *contradiction(const settings *s) {
    if (!s->data && !s->calibrate)
        return "--data DATA is missing, pictures to measure the model on; or --calibrate DATA";
    if (s->data && s->calibrate) return "--data and --calibrate exclude each other";
    if (s->training && !s->calibrate) return "--training is for --calibrate DATA";
    if (s->outliers && !s->calibrate && s->sets.unknown <= 0)
        return "--outliers is for --calibrate DATA, or to measure --unknown ALPHA";
    if (s->calibrate && s->split == VIT_SPLIT_TRAIN)
        return "--calibrate needs pictures that the training has not seen, not --split train";
    if (s->label_issues && s->split == VIT_SPLIT_TRAIN)
        return "--label-issues needs answers to pictures that the training has not seen, not "
               "--split train: take --split val or test; or compute a head from all of them, "
               "vit-train --head ridge --init MODEL, and measure that, which answers each "
               "picture without it (of data with parts: --data DATA/train)";
    if (s->folds > 0 && !s->label_issues && !s->report)
        return "--folds K is for --label-issues FILE.csv, or --report FILE.html";
    if (s->report && !vit_has_ending(s->report, ".html"))
        return "--report: the file is a page, FILE.html";
    if (s->logits && !vit_has_ending(s->logits, ".npy"))
        return "--logits: the file is an array of NumPy, FILE.npy";
    const char *tags = vit_tag_contradiction(&s->tags);
    return tags || s->calibrate ? tags : vit_coverage_contradiction(&s->sets);
}

/* What the options ask for in place of the model's own answers; 0: those. */
static unsigned asked_for(const settings *s) {
    if (s->calibrate) return CALIBRATES;
    if (s->sets.unknown > 0) return FINDS_UNKNOWN;
    return s->knn > 0 || s->probe ? MEASURES_FEATURES : 0;
}

/* Refuses an option that has no meaning for what is asked for. */
static int refuse(const char *option, unsigned asked) {
    const char *why = asked == CALIBRATES ? "--calibrate, which only calibrates: measure with "
                                            "--data afterwards"
                      : asked == FINDS_UNKNOWN
                          ? "--unknown ALPHA, which measures out-of-distribution pictures alone"
                          : "--knn and --linear-probe, which answer the test part by the features "
                            "of the training part";
    return vit_say_usage(&command, "--%s has no meaning with %s", option, why);
}

int main(int argc, char **argv) {
    settings s = {.split = VIT_SPLIT_TEST};
    int exit_status;
    if (!vit_program_start(&command, &s, &argc, argv, &exit_status)) return exit_status;
    const char *wrong = contradiction(&s);
    if (wrong) return vit_say_usage(&command, "%s", wrong);
    const unsigned asked = asked_for(&s);
    const char *other = asked ? vit_option_elsewhere(&command, s.given, asked) : NULL;
    if (other) return refuse(other, asked);
    if (asked == CALIBRATES) return vit_program_end(&command, calibrate(&s));
    if (asked == FINDS_UNKNOWN) return vit_program_end(&command, test_unknown(&s));
    if (asked == MEASURES_FEATURES) return vit_program_end(&command, probe(&s));
    vit_model *model = NULL;
    vit_evaluation result = {0};
    vit_label_evaluation labels = {0};
    predictions p = {0};
    vit_error error;
    char *owned[TABLES] = {0};
    vit_status status = s.report ? name_tables(&s, owned, &error) : VIT_OK;
    if (status == VIT_OK) status = vit_program_join(&p.cluster, &error);
    if (status == VIT_OK) status = measure(&s, &model, &p, &result, &labels, &error);
    if (status != VIT_OK) {
        exit_status = error.status == VIT_ERROR_ARGUMENT ? VIT_EXIT_USAGE : VIT_EXIT_FAILED;
        if (vit_cluster_reports(p.cluster)) exit_status = vit_say_error(&command, &error);
    } else if (vit_cluster_rank(p.cluster) == 0) {
        const vit_results results = {.command = &command,
                                     .name = s.from.name,
                                     .split = vit_split_names[s.split],
                                     .confusion = s.confusion,
                                     .model = model,
                                     .sets = p.counts ? &p.sets : NULL,
                                     .choice = &s.sets,
                                     .result = labels.scores ? NULL : &result,
                                     .labels = labels.scores ? &labels : NULL};
        exit_status = answer(&s, &results, &p);
    }
    vit_string_free(&p.lines);
    vit_string_free(&p.logits);
    if (vit_coverages) vit_coverages->counts_free(&p.sets);
    if (vit_issues) vit_issues->free(&p.kept);
    if (vit_pages) vit_pages->free(&p.texts);
    for (size_t i = 0; i < TABLES; i++) vit_free(owned[i]);
    if (vit_coverages) vit_coverages->free(&p.coverage);
    vit_evaluation_clear(&result);
    vit_label_evaluation_clear(&labels);
    vit_model_free(model);
    exit_status = vit_program_end(&command, exit_status);
    vit_cluster_close(p.cluster, status);
    return exit_status;
}
