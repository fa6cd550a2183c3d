/* vit-train --head: a head that is computed from features, in place of a training. */
#include "vit/base/size.h"
#include "vit/base/sys.h"
#include "vit/cli/parts/few_shot.h"
#include "vit/cli/parts/models.h"
#include "vit/cli/parts/train_settings.h"
#include <string.h>

const char *const vit_train_heads[] = {"trained", "ridge", "logistic", "closed", NULL};
const char *const vit_train_backbones[] = {"inside", "reference", NULL};

char *vit_default_out(const vit_train_settings *s) {
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.";
    const char *path = s->preset ? s->preset : s->data;
    size_t end = strlen(path);
    while (end > 0 && path[end - 1] == '/') end--;
    size_t start = end;
    while (start > 0 && path[start - 1] != '/') start--;
    if (s->preset && path[end] == '\0') end = start + vit_stem_length(path + start, ".json");
    while (start < end && path[start] == '.') start++; /* no hidden file, no ".." */
    vit_string name = {0};
    for (size_t i = start; i < end; i++)
        vit_string_add_bytes(&name, strchr(plain, path[i]) ? &path[i] : "-", 1);
    vit_string_add(&name, "%s.safetensors", start == end ? "model" : "");
    if (name.failed) vit_string_free(&name);
    return name.text;
}

/* An option that has no meaning for a head that is computed; NULL: none was given. */
static const char *option_of_trainings(const vit_train_settings *s) {
    const struct {
        const char *name;
        bool given;
    } rows[] = {
        {"--preset", s->preset},
        {"--set", s->set.count > 0},
        {"--epochs", s->epochs > 0},
        {"--steps", s->steps.steps > 0},
        {"--minutes", s->minutes > 0},
        {"--patience", s->patience > 0},
        {"--gradient-accumulation", s->gradient_accumulation > 0},
        {"--teacher", s->teacher},
        {"--seeds", s->seeds},
        {"--find-lr", s->find_lr},
        {"--checkpoint", s->checkpoint},
        {"--resume", s->resume},
        {"--log", s->log},
        {"--tensorboard", s->tensorboard},
        {"--keep best", s->keep == KEEP_BEST},
    };
    for (size_t i = 0; i < VIT_COUNT(rows); i++)
        if (rows[i].given) return rows[i].name;
    for (size_t i = 0; i < s->keys.count; i++)
        if (strcmp(s->keys.values[i], "balance=true") != 0) return s->keys.values[i];
    return NULL;
}

bool vit_changes_lessons(const vit_train_settings *s) {
    return s->forget.count + s->add.count + (s->data ? 0 : s->relabel.count) > 0;
}

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
        s->classes.splits_are_classes)
        return "--class-column, --exclude, --empty-classes and --splits-are-classes are for --data";
    return s->out ? NULL : "--lessons: --out FILE, the model, is missing";
}

int vit_train_head(const vit_command *command, const vit_train_settings *s) {
    const char *other = option_of_trainings(s), *wrong = s->lessons ? lessons_fault(s) : NULL;
    vit_error error;
    char *init = NULL;
    if (wrong) return vit_say_usage(command, "%s", wrong);
    if (!s->init)
        return vit_say_usage(command, "--head: --init MODEL, whose features it reads, is missing");
    if (s->config && s->backbone == BACKBONE_REFERENCE)
        return vit_say_usage(command, "--backbone reference takes the config beside the weights");
    if (other) return vit_say_usage(command, "%s is for trainings: a head is computed", other);
    if (vit_find_model(&init, s->init, &error) != VIT_OK) return vit_say_error(command, &error);
    char *out = s->out ? vit_strdup(s->out) : vit_default_out(s);
    if (out && s->lessons && strcmp(out, s->lessons) == 0) {
        vit_free(init);
        vit_free(out);
        return vit_say_usage(command, "--out and --lessons name the same file");
    }
    const vit_few_shot_call call = {
        .data = s->data,
        .classes = s->classes,
        .init = init,
        .config = s->config,
        .head = s->head == HEAD_TRAINED
                    ? NULL /* as the lessons say */
                    : vit_train_heads[s->head == HEAD_CLOSED ? HEAD_RIDGE : s->head],
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
    const int exit_status = out ? vit_few_shot_make(command, &call) : VIT_EXIT_FAILED;
    vit_free(init);
    vit_free(out);
    return exit_status;
}
