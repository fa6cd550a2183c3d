/* vit-train --head: a few-shot head, computed from features, in place of a training. */
#include "vit/base/size.h"
#include "vit/base/sys.h"
#include "vit/cli/models/models.h"
#include "vit/cli/parts/coverage.h"
#include "vit/cli/parts/few_shot.h"
#include "vit/cli/train/train_settings.h"
#include <string.h>

/* What is wrong with the options beside --lessons; NULL: nothing. */
static const char *lessons_fault(const vit_train_settings *s) {
    if (s->data && vit_changes_lessons(s))
        return "--forget and --add change lessons that are kept: without --data";
    if (s->data)
        return s->views > 1 ? "--lessons: lessons are kept without --augmented-views" : NULL;
    if (s->head != HEAD_TRAINED || s->keys.count > 0 || s->views > 0)
        return "--head, --balance and --augmented-views are as the lessons were taught: leave them "
               "out";
    if (s->classes.class_column || s->classes.exclude || s->classes.empty_classes ||
        s->classes.splits_are_classes || vit_chosen_tags(&s->classes.tags))
        return "--class-column, --labels-from, --exclude, --empty-classes and --splits-are-classes "
               "are for --data";
    return s->out ? NULL : "--lessons: --out FILE, the model, is missing";
}

static int train_head(const vit_command *command, const vit_train_settings *s) {
    const char *wrong = s->lessons ? lessons_fault(s) : NULL;
    vit_error error;
    char *init = NULL;
    if (s->calibrate && !s->data) wrong = "--calibrate is for --data: lessons are kept without it";
    if (wrong) return vit_say_usage(command, "%s", wrong);
    if (!s->init)
        return vit_say_usage(command, "--head: --init MODEL, whose features it reads, is missing");
    if (s->config && s->backbone == BACKBONE_REFERENCE)
        return vit_say_usage(command, "--backbone reference takes the config beside the weights");
    if (vit_find_model(&init, s->init, &error) != VIT_OK) return vit_say_error(command, &error);
    char *out = s->out ? vit_strdup(s->out) : vit_default_out(s);
    if (out && s->lessons && strcmp(out, s->lessons) == 0) {
        vit_free(init);
        vit_free(out);
        return vit_say_usage(command, "--out and --lessons name the same file");
    }
    const vit_few_shot_call call = {.data = s->data,
                                    .classes = s->classes,
                                    .init = init,
                                    .config = s->config,
                                    .head = s->head == HEAD_TRAINED ? NULL /* as the lessons say */
                                            : s->head == HEAD_LOGISTIC ? "logistic"
                                                                       : "ridge",
                                    .out = out,
                                    .report = s->report,
                                    .near_duplicates = s->near_duplicates,
                                    .size = s->size,
                                    .views = (size_t)s->views,
                                    .threads = (int)s->threads,
                                    .balance = s->keys.count > 0,
                                    .overwrite = s->overwrite,
                                    .json = s->json,
                                    .lessons = s->lessons,
                                    .forget = s->forget,
                                    .relabel = s->relabel,
                                    .add = s->add,
                                    .refers = s->backbone == BACKBONE_REFERENCE};
    const vit_evaluate_options pictures = {.data = s->data,
                                           .class_column = s->classes.class_column,
                                           .exclude = s->classes.exclude,
                                           .relabel = s->classes.relabel,
                                           .threads = (int)s->threads,
                                           .cpu = vit_chosen_cpu()};
    int exit_status = out ? vit_few_shot_make(command, &call) : VIT_EXIT_FAILED;
    if (exit_status == VIT_EXIT_OK && s->calibrate && vit_coverages)
        exit_status = vit_coverages->calibrate_trained(command, out, &pictures, true);
    vit_free(init);
    vit_free(out);
    return exit_status;
}

const vit_head_guest vit_heads_by_features = {train_head};
