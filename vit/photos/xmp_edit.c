#include "vit/photos/xmp_edit.h"

#include <stdlib.h>
#include <string.h>

#include "vit/base/size.h"
#include "vit/base/sys.h"

/* Bytes begin .. end - 1 become `text`. */
typedef struct change {
    vit_span span;
    size_t order; /* of those at the same place */
    char *text;   /* NULL: nothing */
} change;

typedef struct editor {
    const char *old, *name;
    size_t size;
    vit_xmp xmp;
    change *changes;
    size_t count, capacity;
    vit_string blocks;  /* descriptions before </rdf:RDF> */
    vit_string ours[2]; /* items of vit:subject and vit:hierarchicalSubject */
    vit_error *error;
} editor;

/* ---- changes ---- */

/* Owns `text`. */
static vit_status add_change(editor *e, vit_span span, vit_string *text) {
    if (text && text->failed) {
        vit_string_free(text);
        return vit_fail_memory(e->error, "a sidecar", 256);
    }
    if (!VIT_MAKE_ROOM(e->changes, e->count, e->capacity, "a sidecar", e->error)) {
        if (text) vit_string_free(text);
        return VIT_ERROR_MEMORY;
    }
    e->changes[e->count] = (change){span, e->count, text ? text->text : NULL};
    e->count++;
    return VIT_OK;
}

static int compare_changes(const void *a, const void *b) {
    const change *x = a, *y = b;
    if (x->span.begin != y->span.begin) return x->span.begin < y->span.begin ? -1 : 1;
    return (x->order > y->order) - (x->order < y->order);
}

static void apply(vit_string *out, editor *e) {
    size_t at = 0;
    if (e->count > 0) qsort(e->changes, e->count, sizeof *e->changes, compare_changes);
    for (size_t i = 0; i < e->count; i++) {
        const change *c = &e->changes[i];
        vit_string_add_bytes(out, e->old + at, c->span.begin - at);
        if (c->text) vit_string_add(out, "%s", c->text);
        at = c->span.end;
    }
    vit_string_add_bytes(out, e->old + at, e->size - at);
}

/* The beginning of the white space before a place. */
static size_t before_space(const editor *e, size_t at) {
    while (at > 0 && strchr(" \t\r\n", e->old[at - 1])) at--;
    return at;
}

static vit_status remove_span(editor *e, vit_span span) {
    return add_change(e, (vit_span){before_space(e, span.begin), span.end}, NULL);
}

/* ---- lists ---- */

static vit_status encode(editor *e, vit_string *out, const char *text) {
    if (vit_xml_encode(out, text)) return VIT_OK;
    return vit_fail(e->error, VIT_ERROR_ARGUMENT,
                    "%s: the label \"%s\" has signs that XMP cannot hold: it must be UTF-8 without "
                    "control characters",
                    e->name, text);
}

static int prefix_length(const editor *e, vit_span name) {
    const char *colon = memchr(e->old + name.begin, ':', name.end - name.begin);
    return colon ? (int)(colon - (e->old + name.begin)) : 0;
}

/* An item; indent: [indent_length] before it. */
static vit_status add_item(editor *e, vit_string *out, const char *indent, size_t indent_length,
                           const char *prefix, int prefix_size, const char *text) {
    vit_string_add_bytes(out, indent, indent_length);
    vit_string_add(out, "<%.*s:li>", prefix_size, prefix);
    const vit_status status = encode(e, out, text);
    vit_string_add(out, "</%.*s:li>", prefix_size, prefix);
    return status;
}

static const char *const list_names[] = {
    [VIT_XMP_SUBJECT] = "dc:subject", [VIT_XMP_HIERARCHICAL] = "lr:hierarchicalSubject"};
static const char *const list_spaces[] = {
    [VIT_XMP_SUBJECT] = "dc=\"" VIT_XMP_DC, [VIT_XMP_HIERARCHICAL] = "lr=\"" VIT_XMP_LR};

/* Begins a description of its own, before those that are there end. */
static void open_block(editor *e, const char *space) {
    const vit_xmp *x = &e->xmp;
    const int prefix = prefix_length(e, x->rdf_name);
    const char *rdf = e->old + x->rdf_name.begin;
    vit_string_add(&e->blocks, "\n  <%.*s:Description %.*s:about=\"", prefix, rdf, prefix, rdf);
    for (size_t i = x->about.begin; i < x->about.end;
         i++) { /* it may have been in the other quotes */
        if (e->old[i] == '"')
            vit_string_add(&e->blocks, "&quot;");
        else
            vit_string_add_bytes(&e->blocks, e->old + i, 1);
    }
    vit_string_add(&e->blocks, "\" xmlns:%s\">", space);
}

static void close_block(editor *e) {
    vit_string_add(&e->blocks, "\n  </%.*s:Description>", prefix_length(e, e->xmp.rdf_name),
                   e->old + e->xmp.rdf_name.begin);
}

/* A list that is not there yet. */
static vit_status add_list(editor *e, vit_xmp_list list, const char *const *texts, size_t count) {
    const int prefix = prefix_length(e, e->xmp.rdf_name);
    const char *rdf = e->old + e->xmp.rdf_name.begin;
    vit_status status = VIT_OK;
    if (count == 0) return VIT_OK;
    open_block(e, list_spaces[list]);
    vit_string_add(&e->blocks, "\n   <%s>\n    <%.*s:Bag>", list_names[list], prefix, rdf);
    for (size_t i = 0; i < count && status == VIT_OK; i++)
        status = add_item(e, &e->blocks, "\n     ", 6, rdf, prefix, texts[i]);
    vit_string_add(&e->blocks, "\n    </%.*s:Bag>\n   </%s>", prefix, rdf, list_names[list]);
    close_block(e);
    return status;
}

/* The last item of a list; NULL: it has none. */
static const vit_xmp_item *last_item(const editor *e, vit_xmp_list list) {
    const vit_xmp_item *last = NULL;
    for (size_t i = 0; i < e->xmp.count; i++)
        if (e->xmp.items[i].list == list) last = &e->xmp.items[i];
    return last;
}

/* Items at the end of a list that is there. */
static vit_status extend_list(editor *e, vit_xmp_list list, const char *const *texts,
                              size_t count) {
    const vit_xmp_place *p = &e->xmp.places[list];
    const vit_xmp_item *last = last_item(e, list);
    const size_t at = last ? last->span.end : p->start.end;
    const size_t from = last ? before_space(e, last->span.begin) : at;
    const size_t indent = last ? last->span.begin - from : 0;
    const int prefix = prefix_length(e, p->container);
    const char *rdf = e->old + p->container.begin;
    vit_string text = {0};
    vit_status status = VIT_OK;
    if (count == 0) return VIT_OK;
    if (p->is_empty) {
        vit_string_add_bytes(&text, e->old + p->start.begin, p->start.end - p->start.begin - 2);
        vit_string_add(&text, ">");
    }
    for (size_t i = 0; i < count && status == VIT_OK; i++)
        status = add_item(e, &text, e->old + from, indent, rdf, prefix, texts[i]);
    if (p->is_empty)
        vit_string_add(&text, "</%.*s>", (int)(p->container.end - p->container.begin), rdf);
    if (status == VIT_OK) return add_change(e, p->is_empty ? p->start : (vit_span){at, at}, &text);
    vit_string_free(&text);
    return status;
}

static vit_status check_list(const editor *e, vit_xmp_list list) {
    const vit_xmp_place *p = &e->xmp.places[list];
    if (p->count == 0 || (p->count == 1 && p->is_bag && prefix_length(e, p->container) > 0))
        return VIT_OK;
    return vit_fail(e->error, VIT_ERROR_UNSUPPORTED, "%s: its %s is %s, and is not changed",
                    e->name, list_names[list],
                    p->count > 1 ? "there twice" : "no list of items (rdf:Bag)");
}

static bool among(const char *text, const char *const *texts, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (strcmp(text, texts[i]) == 0) return true;
    return false;
}

/* Brings a list to hold `texts`: ours of before that are not among them go, what is missing comes.
 * ours: the list of those that are ours, or LISTS; kept gets the new ones as items. */
static vit_status edit_list(editor *e, vit_xmp_list list, vit_xmp_list ours, vit_string *kept,
                            const char *const *texts, size_t count) {
    const char **missing = vit_alloc(count, sizeof *missing);
    size_t missing_count = 0;
    if (!missing) return vit_fail_memory(e->error, "keywords", count * sizeof *missing);
    vit_status status = check_list(e, list);
    for (size_t i = 0; i < e->xmp.count && status == VIT_OK && ours < VIT_XMP_COUNT; i++) {
        const vit_xmp_item *item = &e->xmp.items[i];
        if (item->list == list && vit_xmp_has(&e->xmp, ours, item->text) &&
            !among(item->text, texts, count))
            status = remove_span(e, item->span);
    }
    for (size_t i = 0; i < count && status == VIT_OK; i++) {
        const bool is_there = vit_xmp_has(&e->xmp, list, texts[i]);
        const bool is_ours = ours < VIT_XMP_COUNT && vit_xmp_has(&e->xmp, ours, texts[i]);
        const bool is_new = !is_there && !among(texts[i], missing, missing_count);
        if (is_new) missing[missing_count++] = texts[i];
        if (kept && (is_new || (is_there && is_ours)))
            status = add_item(e, kept, "\n     ", 6, e->old + e->xmp.rdf_name.begin,
                              prefix_length(e, e->xmp.rdf_name), texts[i]);
    }
    if (status == VIT_OK)
        status = e->xmp.places[list].count > 0 ? extend_list(e, list, missing, missing_count)
                                               : add_list(e, list, missing, missing_count);
    vit_free(missing);
    return status;
}

/* ---- our own description ---- */

static void add_ours(editor *e, const char *name, const vit_string *items) {
    const int prefix = prefix_length(e, e->xmp.rdf_name);
    const char *rdf = e->old + e->xmp.rdf_name.begin;
    if (items->length == 0) return;
    vit_string_add(&e->blocks, "\n   <vit:%s>\n    <%.*s:Bag>%s\n    </%.*s:Bag>\n   </vit:%s>",
                   name, prefix, rdf, items->text, prefix, rdf, name);
}

static vit_status add_answers(editor *e, const vit_xmp_answers *a) {
    const int prefix = prefix_length(e, e->xmp.rdf_name);
    const char *rdf = e->old + e->xmp.rdf_name.begin;
    char number[32];
    open_block(e, "vit=\"" VIT_XMP_OURS);
    vit_string_add(&e->blocks, "\n   <vit:model>");
    vit_status status = encode(e, &e->blocks, a->model);
    vit_string_add(&e->blocks, "</vit:model>");
    if (a->count > 0) vit_string_add(&e->blocks, "\n   <vit:answers>\n    <%.*s:Seq>", prefix, rdf);
    for (size_t i = 0; i < a->count && status == VIT_OK; i++) {
        vit_string_add(&e->blocks,
                       "\n     <%.*s:li %.*s:parseType=\"Resource\">\n      <vit:label>", prefix,
                       rdf, prefix, rdf);
        status = encode(e, &e->blocks, a->answers[i].path);
        vit_string_add(&e->blocks,
                       "</vit:label>\n      <vit:probability>%s</vit:probability>\n     </%.*s:li>",
                       vit_format_float(number, a->answers[i].probability), prefix, rdf);
    }
    if (a->count > 0)
        vit_string_add(&e->blocks, "\n    </%.*s:Seq>\n   </vit:answers>", prefix, rdf);
    add_ours(e, "subject", &e->ours[0]);
    add_ours(e, "hierarchicalSubject", &e->ours[1]);
    close_block(e);
    return status;
}

/* The descriptions come before the white space before </rdf:RDF>. */
static vit_status insert_blocks(editor *e) {
    const vit_xmp *x = &e->xmp;
    vit_string text = {0};
    const size_t at = before_space(e, x->rdf_end.begin);
    if (e->blocks.length == 0) return VIT_OK;
    if (e->blocks.failed) return vit_fail_memory(e->error, "a sidecar", 256);
    if (!x->rdf_is_empty) {
        vit_string_add(&text, "%s", e->blocks.text);
        return add_change(e, (vit_span){at, at}, &text);
    }
    vit_string_add_bytes(&text, e->old + x->rdf_start.begin,
                         x->rdf_start.end - x->rdf_start.begin - 2);
    vit_string_add(&text, ">%s\n</", e->blocks.text);
    vit_string_add_bytes(&text, e->old + x->rdf_name.begin, x->rdf_name.end - x->rdf_name.begin);
    vit_string_add(&text, ">");
    return add_change(e, x->rdf_start, &text);
}

/* ---- all of it ---- */

static vit_status open_editor(editor *e, const char *text, size_t size, const char *name,
                              vit_error *error) {
    *e = (editor){.old = text, .size = size, .name = name, .error = error};
    const vit_status status = vit_xmp_read(&e->xmp, text, size, name, error);
    if (status != VIT_OK) return status;
    if (e->xmp.rdf_count == 1 && prefix_length(e, e->xmp.rdf_name) > 0) return VIT_OK;
    return vit_fail(error, VIT_ERROR_UNSUPPORTED, "%s: %s, and is not changed", name,
                    e->xmp.rdf_count > 1 ? "has rdf:RDF twice" : "its rdf:RDF has no prefix");
}

static vit_status close_editor(editor *e, vit_string *out, vit_status status) {
    if (status == VIT_OK) status = insert_blocks(e);
    if (status == VIT_OK) apply(out, e);
    if (status == VIT_OK && out->failed) status = vit_fail_memory(e->error, "a sidecar", e->size);
    for (size_t i = 0; i < e->count; i++) vit_free(e->changes[i].text);
    vit_free(e->changes);
    vit_string_free(&e->blocks);
    vit_string_free(&e->ours[0]);
    vit_string_free(&e->ours[1]);
    vit_xmp_free(&e->xmp);
    if (status != VIT_OK) vit_string_free(out);
    return status;
}

/* *paths = the answers with '|' between their parts; *words = their last parts. One block. */
static char *split_paths(const char ***paths, const char ***words, const vit_xmp_answers *a) {
    size_t size = 0;
    for (size_t i = 0; i < a->count; i++) size += strlen(a->answers[i].path) + 1;
    char *block = vit_alloc(1, 2 * a->count * sizeof(char *) + size + 1);
    if (!block) return NULL;
    *paths = (const char **)(void *)block;
    *words = *paths + a->count;
    char *at = (char *)(*words + a->count);
    for (size_t i = 0; i < a->count; i++) {
        const size_t length = strlen(a->answers[i].path);
        memcpy(at, a->answers[i].path, length + 1);
        (*paths)[i] = (*words)[i] = at;
        for (char *c = at; *c; c++) {
            if (*c == '/') *c = '|';
            if (*c == '|' && c[1]) (*words)[i] = c + 1;
        }
        at += length + 1;
    }
    return block;
}

vit_status vit_xmp_edit(vit_string *out, const char *text, size_t size, const char *name,
                        const vit_xmp_answers *answers, vit_error *error) {
    editor e;
    const char **paths = NULL, **words = NULL;
    *out = (vit_string){0};
    vit_status status = open_editor(&e, text, size, name, error);
    char *block = split_paths(&paths, &words, answers);
    if (!block) status = vit_fail_memory(error, "keywords", 256);
    for (size_t i = 0; i < e.xmp.our_count && status == VIT_OK; i++)
        status = remove_span(&e, e.xmp.ours[i]);
    if (status == VIT_OK)
        status =
            edit_list(&e, VIT_XMP_SUBJECT, VIT_XMP_OUR_SUBJECT, &e.ours[0], words, answers->count);
    if (status == VIT_OK)
        status = edit_list(&e, VIT_XMP_HIERARCHICAL, VIT_XMP_OUR_HIERARCHICAL, &e.ours[1], paths,
                           answers->count);
    if (status == VIT_OK) status = add_answers(&e, answers);
    vit_free(block);
    return close_editor(&e, out, status);
}

vit_status vit_xmp_add_keywords(vit_string *out, const char *text, size_t size, const char *name,
                                const char *keywords, size_t count, vit_error *error) {
    editor e;
    const char **texts = vit_alloc(count, sizeof *texts);
    *out = (vit_string){0};
    vit_status status = open_editor(&e, text, size, name, error);
    if (!texts) status = vit_fail_memory(error, "keywords", count * sizeof *texts);
    for (size_t i = 0; i < count && texts; i++, keywords += strlen(keywords) + 1)
        texts[i] = keywords;
    if (status == VIT_OK)
        status = edit_list(&e, VIT_XMP_SUBJECT, VIT_XMP_COUNT, NULL, texts, count);
    vit_free(texts);
    return close_editor(&e, out, status);
}

void vit_xmp_add_empty(vit_string *out) {
    vit_string_add(out, "<?xpacket begin=\"\xef\xbb\xbf\" id=\"W5M0MpCehiHzreSzNTczkc9d\"?>\n"
                        "<x:xmpmeta xmlns:x=\"adobe:ns:meta/\">\n"
                        " <rdf:RDF xmlns:rdf=\"" VIT_XMP_RDF "\">\n"
                        " </rdf:RDF>\n"
                        "</x:xmpmeta>\n"
                        "<?xpacket end=\"w\"?>\n");
}

/* ---- a packet in two parts ---- */

static const char extension[] = "HasExtendedXMP";

bool vit_xmp_extension(char digest[VIT_XMP_DIGEST + 1], const vit_string *packet) {
    const char *at = packet->text ? strstr(packet->text, extension) : NULL;
    if (!at) return false;
    at += strlen(extension);
    at += strspn(at, " \t\r\n=>\"'");
    if (strspn(at, "0123456789ABCDEFabcdef") != VIT_XMP_DIGEST) return false;
    memcpy(digest, at, VIT_XMP_DIGEST);
    digest[VIT_XMP_DIGEST] = 0;
    return true;
}

/* The attribute, or the element, that names the extension. */
static vit_span find_naming(const char *text) {
    const char *name = strstr(text, extension), *begin = name;
    while (begin > text && !strchr(" \t\r\n<", begin[-1])) begin--;
    const bool is_element = begin > text && begin[-1] == '<';
    const char *end = name + strcspn(name, is_element ? "/" : "'\"");
    end += *end ? strcspn(end + 1, is_element ? ">" : "'\"") + 1 : 0;
    return (vit_span){(size_t)(begin - text) - is_element, (size_t)(end - text) + (*end != 0)};
}

/* *span = what is in the one rdf:RDF of a packet. */
static bool find_inner(vit_span *span, const vit_string *packet) {
    vit_xmp xmp;
    const bool fine = vit_xmp_read(&xmp, packet->text, packet->length, "XMP", NULL) == VIT_OK &&
                      xmp.rdf_count == 1 && !xmp.rdf_is_empty;
    *span = (vit_span){xmp.rdf_start.end, xmp.rdf_end.begin};
    vit_xmp_free(&xmp);
    return fine;
}

void vit_xmp_join(vit_string *packet, const vit_string *other) {
    vit_span into, from;
    vit_string joined = {0};
    if (!find_inner(&into, packet) || !find_inner(&from, other)) return;
    const vit_span naming = find_naming(packet->text);
    if (naming.end > into.end || packet->length + other->length > VIT_XMP_LIMIT) return;
    vit_string_add_bytes(&joined, packet->text, naming.begin);
    vit_string_add_bytes(&joined, packet->text + naming.end, into.end - naming.end);
    vit_string_add_bytes(&joined, other->text + from.begin, from.end - from.begin);
    vit_string_add_bytes(&joined, packet->text + into.end, packet->length - into.end);
    vit_string_free(packet);
    *packet = joined;
}
