#include "vit/photos/sidecars.h"

#include <string.h>

#include "vit/base/place.h"
#include "vit/base/text.h"

/* The length of a path without its ending. */
static size_t stem_of(const char *picture) {
    const char *name = vit_path_last(picture), *dot = strrchr(name, '.');
    return dot && dot > name ? (size_t)(dot - picture) : strlen(picture);
}

static bool is_sidecar(const char *name) {
    return vit_has_ending(name, ".xmp") || vit_has_ending(name, ".XMP");
}

/* Whether the folder has another file STEM.anything that is no sidecar. */
static vit_status find_sibling(bool *found, const char *picture, size_t stem, vit_error *error) {
    char **names = NULL, *folder = vit_path_directory(picture);
    const char *last = vit_path_last(picture);
    const size_t length = stem - (size_t)(last - picture);
    size_t count = 0;
    *found = false;
    if (!folder) return vit_fail_memory(error, "a path", strlen(picture));
    const vit_status status = vit_list_directory(&names, &count, folder, error);
    for (size_t i = 0; i < count && status == VIT_OK; i++) {
        const char *name = names[i];
        if (strncmp(name, last, length) != 0 || name[length] != '.') continue;
        const bool is_own = strcmp(name, last) == 0 || strchr(name + length + 1, '.');
        *found = *found || (!is_own && !is_sidecar(name));
    }
    vit_free(names);
    vit_free(folder);
    return status;
}

static vit_status add(vit_sidecars *s, const char *picture, size_t length, const char *ending,
                      vit_error *error) {
    vit_string path = {0};
    vit_string_add_bytes(&path, picture, length);
    vit_string_add(&path, "%s", ending);
    if (path.failed) {
        vit_string_free(&path);
        return vit_fail_memory(error, "a path", length);
    }
    const bool is_known = s->count > 0 && vit_path_same(s->paths[s->count - 1], path.text);
    if (is_known || vit_place_look(path.text, NULL) != VIT_PLACE_FILE) {
        vit_string_free(&path);
        return VIT_OK;
    }
    s->paths[s->count] = path.text;
    vit_status status = VIT_OK;
    if (picture[length]) status = find_sibling(&s->is_shared[s->count], picture, length, error);
    s->count++;
    return status;
}

vit_status vit_sidecars_find(vit_sidecars *out, const char *picture, vit_error *error) {
    const size_t whole = strlen(picture), stem = stem_of(picture);
    *out = (vit_sidecars){0};
    vit_status status = add(out, picture, whole, ".xmp", error);
    if (status == VIT_OK) status = add(out, picture, whole, ".XMP", error);
    if (status == VIT_OK && stem < whole) status = add(out, picture, stem, ".xmp", error);
    if (status == VIT_OK && stem < whole) status = add(out, picture, stem, ".XMP", error);
    return status;
}

void vit_sidecars_free(vit_sidecars *s) {
    for (size_t i = 0; i < s->count; i++) vit_free(s->paths[i]);
    *s = (vit_sidecars){0};
}
