#include "vit/photos/tags.h"

#include <string.h>

#include "vit/base/name_map.h"
#include "vit/base/size.h"
#include "vit/photos/embedded.h"
#include "vit/photos/sidecars.h"
#include "vit/photos/xmp.h"

typedef struct reading {
    vit_tags *tags;
    vit_name_map paths, parts; /* what is there: tags, and the parts of those that are not plain */
    const char *picture;
    vit_error *error;
} reading;

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

static vit_status add_parts(reading *r, const char *path) {
    char *copy = vit_strdup(path), *part = copy;
    vit_status status = copy ? VIT_OK : vit_fail_memory(r->error, "a tag", strlen(path));
    while (part && status == VIT_OK) {
        char *end = strchr(part, '/');
        if (end) *end = 0;
        status = vit_name_map_put(&r->parts, part, "", r->error);
        part = end ? end + 1 : NULL;
    }
    vit_free(copy);
    return status;
}

/* Takes the path. */
static vit_status keep(reading *r, char *path, bool is_plain) {
    vit_tags *t = r->tags;
    vit_status status = vit_name_map_put(&r->paths, path, "", r->error);
    if (status == VIT_OK && !is_plain) status = add_parts(r, path);
    if (status == VIT_OK && !VIT_MAKE_ROOM(t->tags, t->count, t->capacity, "tags", r->error))
        status = VIT_ERROR_MEMORY;
    if (status == VIT_OK)
        t->tags[t->count++] = (vit_tag){path, is_plain};
    else
        vit_free(path);
    return status;
}

static vit_status add(reading *r, const char *text, bool is_plain) {
    char *path = vit_strdup(text);
    if (!path) return vit_fail_memory(r->error, "a tag", strlen(text));
    is_plain = is_plain && !strchr(path, '|');
    for (char *at = path; *at && !is_plain; at++)
        if (*at == '|') *at = '/';
    if (!is_plain) tidy(path);
    if (*path && !vit_name_map_get(&r->paths, path)) return keep(r, path, is_plain);
    vit_free(path);
    return VIT_OK;
}

/* Whether a word is one of the parts of a path that is there, or several of them. */
static bool is_part(const reading *r, const char *word) {
    const vit_tags *t = r->tags;
    const size_t length = strlen(word);
    if (!strchr(word, '/')) return vit_name_map_get(&r->parts, word) != NULL;
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

static vit_status add_list(reading *r, const vit_xmp *xmp, vit_xmp_list list, vit_xmp_list ours) {
    vit_status status = VIT_OK;
    const bool is_plain = list == VIT_XMP_SUBJECT, has_ours = xmp->places[ours].count > 0;
    for (size_t i = 0; i < xmp->count && status == VIT_OK; i++) {
        const char *text = xmp->items[i].text;
        if (xmp->items[i].list != list) continue;
        if (has_ours && vit_xmp_has(xmp, ours, text))
            r->tags->ours++;
        else if (!is_plain || !is_part(r, text))
            status = add(r, text, is_plain);
    }
    return status;
}

static vit_status add_packet(reading *r, const char *text, size_t size, const char *name) {
    vit_xmp xmp;
    vit_status status = vit_xmp_read(&xmp, text, size, name, r->error);
    if (status == VIT_OK) status = add_list(r, &xmp, VIT_XMP_TAGS_LIST, VIT_XMP_OUR_HIERARCHICAL);
    if (status == VIT_OK)
        status = add_list(r, &xmp, VIT_XMP_HIERARCHICAL, VIT_XMP_OUR_HIERARCHICAL);
    if (status == VIT_OK) status = add_list(r, &xmp, VIT_XMP_SUBJECT, VIT_XMP_OUR_SUBJECT);
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

static vit_status read_sidecars(reading *r) {
    vit_sidecars beside;
    vit_status status = vit_sidecars_find(&beside, r->picture, r->error);
    for (size_t i = 0; i < beside.count && status == VIT_OK; i++) {
        vit_bytes bytes = {0};
        status = vit_read_regular(&bytes, beside.paths[i], VIT_XMP_LIMIT, r->error);
        if (status == VIT_OK)
            status = add_packet(r, (const char *)bytes.data, bytes.size, beside.paths[i]);
        vit_free(bytes.data);
    }
    vit_sidecars_free(&beside);
    drop_internal(r->tags);
    return status;
}

static vit_status read_embedded(reading *r) {
    vit_bytes file;
    vit_embedded carried = {0};
    vit_status status = vit_map_file(&file, r->picture, r->error);
    if (status != VIT_OK) return status;
    status = vit_embedded_find(&carried, file.data, file.size, r->error);
    if (status == VIT_OK && carried.xmp.text)
        status = add_packet(r, carried.xmp.text, carried.xmp.length, r->picture);
    const char *keyword = carried.keywords.text;
    const bool needs_iptc = r->tags->count == 0;
    for (size_t i = 0; i < carried.keyword_count && status == VIT_OK && needs_iptc; i++) {
        status = add(r, keyword, true);
        keyword += strlen(keyword) + 1;
    }
    vit_embedded_free(&carried);
    vit_unmap_file(&file);
    drop_internal(r->tags);
    return status;
}

vit_status vit_tags_read(vit_tags *out, const char *picture, vit_error *error) {
    reading r = {.tags = out, .picture = picture, .error = error};
    *out = (vit_tags){0};
    vit_status status = read_sidecars(&r);
    if (status == VIT_OK && out->count == 0) status = read_embedded(&r);
    vit_name_map_free(&r.paths);
    vit_name_map_free(&r.parts);
    return status;
}

void vit_tags_free(vit_tags *t) {
    for (size_t i = 0; i < t->count; i++) vit_free(t->tags[i].path);
    vit_free(t->tags);
    *t = (vit_tags){0};
}
