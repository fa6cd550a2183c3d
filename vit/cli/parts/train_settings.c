#include "vit/cli/parts/train_settings.h"

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
