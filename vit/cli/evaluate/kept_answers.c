#include "vit/cli/evaluate/kept_answers.h"

#include <stdio.h>
#include <string.h>

#include "vit/base/sys.h"
#include "vit/formats/csv.h"

static const char issues_head[] =
    "file,index,label,likely_label,self_confidence,normalized_margin\n";

static void keep(vit_kept_answers *a, const vit_evaluated *picture) {
    vit_kept_answer next = {.index = picture->index, .label = picture->label};
    if (a->status != VIT_OK) return;
    a->status = VIT_ERROR_MEMORY;
    a->probabilities =
        vit_make_room(a->probabilities, a->count, &a->row_room,
                      a->classes * sizeof *a->probabilities, "probabilities", &a->error);
    if (a->count >= a->row_room ||
        !VIT_MAKE_ROOM(a->pictures, a->count, a->picture_room, "answers", &a->error))
        return;
    if (picture->file && !(next.file = vit_strdup(picture->file))) {
        vit_fail_memory(&a->error, "the name of a picture", strlen(picture->file));
        return;
    }
    memcpy(a->probabilities + a->count * a->classes, picture->probabilities,
           a->classes * sizeof *a->probabilities);
    a->pictures[a->count++] = next;
    a->status = VIT_OK;
}

static void free_answers(vit_kept_answers *a) {
    for (size_t i = 0; i < a->count; i++) vit_free(a->pictures[i].file);
    vit_free(a->pictures);
    vit_free(a->probabilities);
    vit_label_issues_free(a->issues);
    *a = (vit_kept_answers){0};
}

/* ---- pictures that the head was computed from ---- */

/* Takes the answers in place of those that are kept. */
typedef struct replacing {
    vit_kept_answers *kept;
    size_t next;
    bool differs; /* the pictures are not those that are kept */
} replacing;

static void replace_answer(const vit_evaluated *picture, void *user) {
    replacing *r = user;
    vit_kept_answers *a = r->kept;
    if (r->next >= a->count) {
        r->differs = true;
        return;
    }
    const vit_kept_answer *kept = &a->pictures[r->next];
    r->differs = r->differs || picture->label != kept->label ||
                 (kept->file && picture->file && strcmp(picture->file, kept->file) != 0);
    memcpy(a->probabilities + r->next++ * a->classes, picture->probabilities,
           a->classes * sizeof *a->probabilities);
}

static void note_left_out(const vit_left_out *l, const vit_evaluate_options *options) {
    char text[400], right[32], low[32], high[32];
    snprintf(text, sizeof text,
             "the model's head was computed from these pictures: for label issues each is answered "
             "by a head that is computed without it (%s), which gets %s %% right, in 19 of 20 "
             "cases between %s and %s %%",
             l->left_out, vit_format_fixed(right, 100 * l->accuracy, 2),
             vit_format_fixed(low, 100 * l->low, 2), vit_format_fixed(high, 100 * l->high, 2));
    options->note(text, options->user);
}

static vit_status leave_out(vit_kept_answers *a, const vit_model *model,
                            const vit_evaluate_options *options, size_t folds, vit_error *error) {
    replacing r = {a, 0, false};
    vit_evaluate_options choice = *options;
    vit_left_out left_out;
    choice.picture = replace_answer;
    choice.user = &r;
    choice.note = NULL;
    const vit_status status = vit_evaluate_left_out(model, &choice, folds, &left_out, error);
    if (status != VIT_OK) return status;
    if (r.differs || r.next != a->count)
        return vit_fail(error, VIT_ERROR_MISMATCH,
                        "the pictures of %s are not those, or not in the order, that the head was "
                        "computed from: compute it again (vit-train --head)",
                        options->data);
    note_left_out(&left_out, options);
    return VIT_OK;
}

/* ---- label issues ---- */

static vit_status find(vit_kept_answers *a, vit_error *error) {
    if (a->status != VIT_OK) return vit_fail(error, a->status, "%s", a->error.message);
    size_t *labels = vit_alloc(a->count, sizeof *labels);
    if (!labels) return vit_fail_memory(error, "labels", a->count * sizeof *labels);
    for (size_t i = 0; i < a->count; i++) labels[i] = a->pictures[i].label;
    const vit_status status = vit_label_issues_find(&a->issues, &a->issue_count, a->probabilities,
                                                    labels, a->count, a->classes, error);
    vit_free(labels);
    return status;
}

static vit_status write_table(const char *path, const vit_kept_answers *a, const vit_model *model,
                              vit_error *error) {
    vit_string text = {0};
    char confidence[32], margin[32];
    vit_string_add(&text, "%s", issues_head);
    for (size_t i = 0; i < a->issue_count; i++) {
        const vit_label_issue *issue = &a->issues[i];
        const vit_kept_answer *picture = &a->pictures[issue->picture];
        if (picture->file) vit_csv_path(&text, picture->file);
        vit_string_add(&text, ",%zu,", picture->index);
        vit_csv_field(&text, vit_model_label(model, issue->label));
        vit_string_add(&text, ",");
        vit_csv_field(&text, vit_model_label(model, issue->likely));
        vit_string_add(&text, ",%s,%s\n",
                       vit_format_float(confidence, (float)issue->self_confidence),
                       vit_format_float(margin, (float)issue->normalized_margin));
    }
    return vit_write_text(path, &text, error);
}

const vit_issue_guest vit_issues_reliance = {.keep = keep,
                                             .free = free_answers,
                                             .leave_out = leave_out,
                                             .find = find,
                                             .head = issues_head,
                                             .write = write_table};
