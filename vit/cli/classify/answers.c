#include "vit/cli/classify/answers.h"

#include <math.h>

#include "vit/base/size.h"
#include "vit/formats/csv.h"

/* ---- text ---- */

/* A bar, 24 columns long for a probability of 1, in eighths of a column if the terminal can show
 * them. */
static void add_bar(vit_string *text, float probability) {
    static const char *const parts[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
    enum { COLUMNS = 24 };
    int eighths = probability > 0 ? (int)(probability * 8 * COLUMNS + 0.5f) : 0;
    bool fine = vit_speaks_utf8();
    int whole = fine ? eighths / 8 : (eighths + 4) / 8;
    for (int i = 0; i < whole; i++) vit_string_add(text, "%s", fine ? "█" : "#");
    const char *part = fine ? parts[eighths % 8] : "";
    int used = whole + (*part != '\0');
    vit_string_add(text, "%s%*s", part, COLUMNS - used, "");
}

/* Whether the answer's probability is lower than for 99 % of the validation pictures. */
static bool is_below_threshold(const vit_answered *a) {
    return (double)a->probabilities[a->best[0]] < vit_model_describe(a->model).threshold;
}

/* Whether the answer is less probable than the caller's threshold for its class. */
static bool abstains(const vit_answered *a) {
    return vit_abstains(a->thresholds, a->best[0], a->probabilities);
}

bool vit_answer_abstains(const vit_answered *a) {
    if (a->coverage > 0 && a->set_count != 1) return true;
    return a->thresholds ? abstains(a) : is_below_threshold(a);
}

/* Whether the scores are those of a regression, no probabilities. */
static bool is_number(const vit_answered *a) {
    return vit_model_describe(a->model).scoring == VIT_SCORING_NONE;
}

/* The training pictures that are most similar. */
static void add_neighbours(vit_string *text, const vit_answered *a) {
    char number[32];
    for (size_t i = 0; i < a->neighbour_count; i++) {
        const vit_few_shot_picture lesson = vit_neighbours->at(a->among, a->neighbours[i].index);
        vit_string_add(text, "  like ");
        if (lesson.name)
            vit_string_add_visible(text, lesson.name, 0);
        else
            vit_string_add(text, "picture %zu", a->neighbours[i].index);
        vit_string_add(text, " (");
        vit_string_add_visible(text, vit_neighbours->name(a->among, lesson.label), 0);
        vit_string_add(text, ", %s)\n", vit_format_fixed(number, a->neighbours[i].cosine, 3));
    }
}

void vit_answer_add_neighbours(vit_json_out *json, const vit_few_shot *among,
                               const vit_few_shot_neighbour *neighbours, size_t count) {
    vit_json_open(json, "neighbours", '[');
    for (size_t i = 0; i < count; i++) {
        const vit_few_shot_picture lesson = vit_neighbours->at(among, neighbours[i].index);
        vit_json_open(json, NULL, '{');
        vit_json_count(json, "picture", neighbours[i].index);
        vit_json_text(json, "file", lesson.name);
        vit_json_text(json, "label", vit_neighbours->name(among, lesson.label));
        vit_json_float(json, "cosine", (float)neighbours[i].cosine);
        vit_json_close(json, '}');
    }
    vit_json_close(json, ']');
}

/* The classes of the set, separated by `comma`. */
static void add_set(vit_string *text, const vit_answered *a, const char *comma) {
    for (size_t i = 0; i < a->set_count; i++) {
        vit_string_add(text, "%s", i > 0 ? comma : "");
        vit_string_add_visible(text, vit_model_label(a->model, a->set[i]), 0);
    }
}

/* "  prediction set, right in 95 % of cases: cat, dog" */
static void add_coverage(vit_string *text, const vit_answered *a) {
    char number[32];
    if (a->coverage <= 0) return;
    vit_string_add(text, "  prediction set, right in %s %% of cases: ",
                   vit_format_float(number, (float)(100 * a->coverage)));
    add_set(text, a, ", ");
    vit_string_add(text, "%s\n", a->set_count > 0 ? "" : "empty, no class fits");
}

/* Whether the picture is like those of the calibration. */
static void add_unknown(vit_string *text, const vit_answered *a) {
    char share[32], number[32];
    if (!a->unknown) return;
    vit_string_add(text, "  %s %s %% of these classes' pictures look as unusual (p = %s)\n",
                   a->unknown->unknown ? "unknown, perhaps of no class here: only" : "known:",
                   vit_format_fixed(share, 100 * a->unknown->p_value, 2),
                   vit_format_fixed(number, a->unknown->p_value, 4));
}

bool vit_answer_text(const vit_command *command, const vit_answered *a, bool is_first) {
    char number[32];
    vit_string text = {0};
    size_t width = 0; /* of the labels' column, at most 40 */
    for (size_t i = 0; i < a->top; i++)
        width = vit_max(width, vit_display_columns(vit_model_label(a->model, a->best[i])));
    width = vit_min(width, 40);
    vit_string_add(&text, "%s", is_first ? "" : "\n");
    vit_string_add_visible(&text, a->name, 0);
    vit_string_add(&text, "\n");
    for (size_t i = 0; i < a->top; i++) {
        float probability = a->probabilities[a->best[i]];
        vit_string_add(&text, "  ");
        vit_string_add_visible(&text, vit_model_label(a->model, a->best[i]), width);
        vit_string_add(&text, "  ");
        if (is_number(a)) {
            vit_string_add(&text, "%s\n", vit_format_float(number, probability));
            continue;
        }
        add_bar(&text, probability);
        vit_string_add(&text, " %6s %%\n",
                       vit_format_fixed(number, 100.0 * (double)probability, 2));
    }
    if (abstains(a))
        vit_string_add(&text, "  abstains: no answer is sure enough\n");
    else if (is_below_threshold(a) && !a->thresholds)
        vit_string_add(&text, "  below the confidence threshold\n");
    add_unknown(&text, a);
    add_coverage(&text, a);
    add_neighbours(&text, a);
    if (a->to) {
        vit_string_add(&text, "  to ");
        vit_string_add_visible(&text, a->to, 0);
        vit_string_add(&text, "\n");
    }
    for (size_t i = 0; i < a->classes && a->logits; i++) {
        vit_string_add(&text, "%s%s", i == 0 ? "  logits " : " ",
                       vit_format_g9(number, a->logits[i]));
    }
    vit_string_add(&text, "%s", a->logits ? "\n" : "");
    return vit_print(command, &text);
}

/* ---- JSON ---- */

/* {"file": ..., and "error" for a picture that failed */
static void open_object(vit_json_out *json, const vit_answered *a) {
    vit_json_open(json, NULL, '{');
    if (!a->is_frame) vit_json_text(json, "file", a->name);
    if (a->is_frame) vit_json_count(json, "frame", a->frame);
    if (a->is_frame && !isnan(a->time)) vit_json_number(json, "time", a->time);
    if (a->failure) vit_json_text(json, "error", a->failure->message);
}

static bool close_object(const vit_command *command, vit_json_out *json, const vit_answered *a) {
    if (!a->failure && a->warning) vit_json_text(json, "warning", a->warning);
    vit_json_close(json, '}');
    return vit_print_json(command, json);
}

void vit_answer_add_reliance(vit_json_out *json, const vit_answered *a) {
    if (a->thresholds) vit_json_bool(json, "abstains", abstains(a));
    if (a->unknown) {
        vit_json_number(json, "p_value", a->unknown->p_value);
        vit_json_bool(json, "unknown", a->unknown->unknown);
    }
    if (a->coverage > 0) {
        vit_json_number(json, "coverage", a->coverage);
        vit_json_open(json, "set", '[');
        for (size_t i = 0; i < a->set_count; i++)
            vit_json_text(json, NULL, vit_model_label(a->model, a->set[i]));
        vit_json_close(json, ']');
    }
}

void vit_answer_add_json(vit_json_out *json, const vit_answered *a) {
    open_object(json, a);
    if (!a->failure) {
        vit_json_open(json, "predictions", '[');
        for (size_t i = 0; i < a->top; i++) {
            vit_json_open(json, NULL, '{');
            vit_json_count(json, "index", a->best[i]);
            vit_json_text(json, "label", vit_model_label(a->model, a->best[i]));
            vit_json_float(json, is_number(a) ? "score" : "probability",
                           a->probabilities[a->best[i]]);
            vit_json_close(json, '}');
        }
        vit_json_close(json, ']');
        if (vit_model_describe(a->model).threshold > 0)
            vit_json_bool(json, "below_threshold", is_below_threshold(a));
        vit_answer_add_reliance(json, a);
        if (a->warning) vit_json_text(json, "warning", a->warning);
        if (a->logits) vit_json_g9s(json, "logits", a->logits, a->classes);
        if (a->to) vit_json_text(json, "to", a->to);
        if (a->among) vit_answer_add_neighbours(json, a->among, a->neighbours, a->neighbour_count);
    }
    vit_json_close(json, '}');
}

bool vit_answer_json(const vit_command *command, const vit_answered *a) {
    vit_json_out json = {0};
    vit_answer_add_json(&json, a);
    return vit_print_json(command, &json);
}

bool vit_answer_embedding(const vit_command *command, const vit_answered *a) {
    vit_json_out json = {0};
    open_object(&json, a);
    const size_t width = a->tokens > 0 ? a->width / a->tokens : a->width;
    if (!a->failure && a->tokens == 0) vit_json_g9s(&json, "embedding", a->features, width);
    if (!a->failure && a->tokens > 0) {
        vit_json_open(&json, "embedding", '[');
        for (size_t i = 0; i < a->tokens; i++)
            vit_json_g9s(&json, NULL, a->features + i * width, width);
        vit_json_close(&json, ']');
    }
    return close_object(command, &json, a);
}

bool vit_answer_row(const vit_command *command, const vit_answered *a, uint64_t row) {
    vit_json_out json = {0};
    open_object(&json, a);
    vit_json_count(&json, "row", row);
    return close_object(command, &json, a);
}

/* ---- CSV ---- */

bool vit_answer_csv_head(const vit_command *command, size_t top, const vit_coverage_choice *sets) {
    vit_string text = {0};
    vit_string_add(&text, "file,label,probability");
    for (size_t i = 2; i <= top; i++) vit_string_add(&text, ",label%zu,probability%zu", i, i);
    const bool thresholds = sets->abstain_below.given || sets->answered_right > 0;
    vit_string_add(&text, "%s%s%s,error\n", thresholds ? ",abstains" : "",
                   sets->coverage > 0 ? ",set" : "", sets->unknown > 0 ? ",p_value,unknown" : "");
    return vit_print(command, &text);
}

bool vit_answer_csv(const vit_command *command, const vit_answered *a) {
    char number[32];
    vit_string text = {0};
    vit_csv_field(&text, a->name);
    for (size_t i = 0; i < a->top; i++) {
        vit_string_add(&text, ",");
        if (!a->failure) vit_csv_field(&text, vit_model_label(a->model, a->best[i]));
        vit_string_add(&text, ",%s",
                       a->failure ? "" : vit_format_float(number, a->probabilities[a->best[i]]));
    }
    vit_string_add(&text, ",");
    if (a->thresholds) vit_string_add(&text, "%s,", a->failure ? "" : abstains(a) ? "1" : "0");
    if (a->coverage > 0) {
        vit_string set = {0};
        add_set(&set, a, "|");
        vit_csv_field(&text, set.text && !a->failure ? set.text : "");
        vit_string_free(&set);
        vit_string_add(&text, ",");
    }
    if (a->unknown && a->failure) vit_string_add(&text, ",,");
    if (a->unknown && !a->failure)
        vit_string_add(&text, "%s,%d,", vit_format_float(number, (float)a->unknown->p_value),
                       a->unknown->unknown);
    if (a->failure) vit_csv_field(&text, a->failure->message);
    vit_string_add(&text, "\n");
    return vit_print(command, &text);
}
