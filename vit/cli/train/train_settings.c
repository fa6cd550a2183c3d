#include "vit/cli/train/train_settings.h"

#include <string.h>

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

bool vit_changes_lessons(const vit_train_settings *s) {
    return s->forget.count + s->add.count + (s->data ? 0 : s->relabel.count) > 0;
}

static void collect_sets(vit_key_values *out, const vit_train_settings *s) {
    *out = (vit_key_values){.count = s->set.count};
    memcpy(out->values, s->set.values, s->set.count * sizeof *out->values);
    for (size_t i = 0; i < s->keys.count; i++) out->values[out->count++] = s->keys.values[i];
}

vit_train_options vit_chosen_training(const vit_train_settings *s, const vit_train_paths *p,
                                      vit_key_values *sets) {
    collect_sets(sets, s);
    return (vit_train_options){
        .data = s->data,
        .class_column = s->classes.class_column,
        .exclude = s->classes.exclude,
        .relabel = s->classes.relabel,
        .tag_branch = vit_chosen_tags(&s->classes.tags),
        .near_duplicates = s->near_duplicates,
        .preset = s->preset,
        .set = sets->values,
        .set_count = sets->count,
        .height = s->size.height,
        .width = s->size.width,
        .init = p->init,
        .config = s->config,
        .out = p->out,
        .checkpoint = s->checkpoint,
        .save_minutes = s->save_every,
        .report = s->report,
        .tensorboard = s->tensorboard,
        .resume = s->resume,
        .rescue = p->rescue,
        .overwrite = s->overwrite,
        .keep_best = s->keep == KEEP_BEST,
        .patience = (size_t)s->patience,
        .epochs = s->epochs,
        .steps = s->steps.steps,
        .schedule_steps = s->steps.schedule,
        .minutes = s->minutes,
        .gradient_accumulation = (size_t)s->gradient_accumulation,
        .teacher = p->teacher,
        .empty_classes = s->classes.empty_classes,
        .splits_are_classes = s->classes.splits_are_classes,
        .seed = s->seed,
        .threads = (int)s->threads,
        .activation_checkpointing = s->activation_checkpointing,
        .cpu = vit_chosen_cpu(),
        .cluster = s->cluster,
        .shard_optimizer = s->shard_optimizer,
    };
}
