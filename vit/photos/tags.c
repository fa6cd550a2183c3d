#include "vit/photos/tags.h"

#include <string.h>

#include "vit/base/size.h"
#include "vit/photos/embedded.h"
#include "vit/photos/sidecars.h"
#include "vit/photos/xmp.h"

/* ---- one tag ---- */

/* Of programs, not of a person. */
static bool is_internal(const char *path) {
    static const char *const roots[] = {"darktable", "_Digikam_Internal_Tags_"};
    for (size_t i = 0; i < VIT_COUNT(roots); i++) {
        const size_t length = strlen(roots[i]);
        if (strncmp(path, roots[i], length) == 0 && (path[length] == 0 || path[length] == '/'))
            return true;
    }
    return false;
}

/* Takes out empty parts: "/Animals//Cat/" is "Animals/Cat". */
static void tidy(char *path) {
    char *to = path;
    for (const char *at = path; *at; at++)
        if (*at != '/' || (to > path && to[-1] != '/')) *to++ = *at;
    while (to > path && to[-1] == '/') to--;
    *to = 0;
}

static vit_status add(vit_tags *t, const char *text, bool is_plain, vit_error *error) {
    char *path = vit_strdup(text);
    if (!path) return vit_fail_memory(error, "a tag", strlen(text));
    is_plain = is_plain && !strchr(path, '|');
    for (char *at = path; *at && !is_plain; at++)
        if (*at == '|') *at = '/';
    if (!is_plain) tidy(path);
    bool is_known = *path == 0;
    for (size_t i = 0; i < t->count; i++) is_known = is_known || strcmp(t->tags[i].path, path) == 0;
    if (is_known || !VIT_MAKE_ROOM(t->tags, t->count, t->capacity, "tags", error)) {
        vit_free(path);
        return is_known ? VIT_OK : VIT_ERROR_MEMORY;
    }
    t->tags[t->count++] = (vit_tag){path, is_plain};
    return VIT_OK;
}

/* Whether a word is one of the parts of a path that is there. */
static bool is_part(const vit_tags *t, const char *word) {
    const size_t length = strlen(word);
    for (size_t i = 0; i < t->count; i++) {
        const char *at = t->tags[i].path;
        while (!t->tags[i].is_plain && at) {
            if (strncmp(at, word, length) == 0 && (at[length] == 0 || at[length] == '/'))
                return true;
            at = strchr(at, '/');
            if (at) at++;
        }
    }
    return false;
}

/* ---- one source ---- */

static vit_status add_list(vit_tags *t, const vit_xmp *xmp, vit_xmp_list list, vit_xmp_list ours,
                           vit_error *error) {
    vit_status status = VIT_OK;
    const bool is_plain = list == VIT_XMP_SUBJECT;
    for (size_t i = 0; i < xmp->count && status == VIT_OK; i++) {
        const char *text = xmp->items[i].text;
        if (xmp->items[i].list != list) continue;
        if (ours < VIT_XMP_COUNT && vit_xmp_has(xmp, ours, text))
            t->ours++;
        else if (!is_plain || !is_part(t, text))
            status = add(t, text, is_plain, error);
    }
    return status;
}

static vit_status add_packet(vit_tags *t, const char *text, size_t size, const char *name,
                             vit_error *error) {
    vit_xmp xmp;
    vit_status status = vit_xmp_read(&xmp, text, size, name, error);
    if (status == VIT_OK)
        status = add_list(t, &xmp, VIT_XMP_TAGS_LIST, VIT_XMP_OUR_HIERARCHICAL, error);
    if (status == VIT_OK)
        status = add_list(t, &xmp, VIT_XMP_HIERARCHICAL, VIT_XMP_OUR_HIERARCHICAL, error);
    if (status == VIT_OK) status = add_list(t, &xmp, VIT_XMP_SUBJECT, VIT_XMP_OUR_SUBJECT, error);
    vit_xmp_free(&xmp);
    return status;
}

/* Once the words that belong to them are known, too. */
static void drop_internal(vit_tags *t) {
    size_t kept = 0;
    for (size_t i = 0; i < t->count; i++) {
        if (is_internal(t->tags[i].path))
            vit_free(t->tags[i].path);
        else
            t->tags[kept++] = t->tags[i];
    }
    t->count = kept;
}

static vit_status read_sidecars(vit_tags *t, const char *picture, vit_error *error) {
    vit_sidecars beside;
    vit_status status = vit_sidecars_find(&beside, picture, error);
    for (size_t i = 0; i < beside.count && status == VIT_OK; i++) {
        vit_bytes bytes = {0};
        status = vit_read_regular(&bytes, beside.paths[i], VIT_XMP_LIMIT, error);
        if (status == VIT_OK)
            status = add_packet(t, (const char *)bytes.data, bytes.size, beside.paths[i], error);
        vit_free(bytes.data);
    }
    vit_sidecars_free(&beside);
    drop_internal(t);
    return status;
}

static vit_status read_embedded(vit_tags *t, const char *picture, vit_error *error) {
    vit_bytes file;
    vit_embedded carried = {0};
    vit_status status = vit_map_file(&file, picture, error);
    if (status != VIT_OK) return status;
    status = vit_embedded_find(&carried, file.data, file.size, error);
    if (status == VIT_OK && carried.xmp.text)
        status = add_packet(t, carried.xmp.text, carried.xmp.length, picture, error);
    const char *keyword = carried.keywords.text;
    const bool needs_iptc = t->count == 0;
    for (size_t i = 0; i < carried.keyword_count && status == VIT_OK && needs_iptc; i++) {
        status = add(t, keyword, true, error);
        keyword += strlen(keyword) + 1;
    }
    vit_embedded_free(&carried);
    vit_unmap_file(&file);
    drop_internal(t);
    return status;
}

vit_status vit_tags_read(vit_tags *out, const char *picture, vit_error *error) {
    *out = (vit_tags){0};
    const vit_status status = read_sidecars(out, picture, error);
    if (status != VIT_OK || out->count > 0) return status;
    return read_embedded(out, picture, error);
}

void vit_tags_free(vit_tags *t) {
    for (size_t i = 0; i < t->count; i++) vit_free(t->tags[i].path);
    vit_free(t->tags);
    *t = (vit_tags){0};
}
