#include "vit/photos/xmp.h"

#include <string.h>

#include "vit/base/size.h"
#include "vit/base/sys.h"

static const struct {
    const char *space, *name;
} properties[] = {
    [VIT_XMP_SUBJECT] = {VIT_XMP_DC, "subject"},
    [VIT_XMP_HIERARCHICAL] = {VIT_XMP_LR, "hierarchicalSubject"},
    [VIT_XMP_TAGS_LIST] = {"http://www.digikam.org/ns/1.0/", "TagsList"},
    [VIT_XMP_OUR_SUBJECT] = {VIT_XMP_OURS, "subject"},
    [VIT_XMP_OUR_HIERARCHICAL] = {VIT_XMP_OURS, "hierarchicalSubject"},
};
VIT_CHECK_ROWS(properties, VIT_XMP_COUNT);

typedef struct reader {
    vit_xml xml;
    vit_xmp *out;
    vit_error *error;
} reader;

static vit_status next(reader *r) {
    return vit_xml_next(&r->xml, r->error);
}

/* The list that a name is; LISTS: none. */
static vit_xmp_list list_of(const reader *r, const vit_xml_name *name) {
    vit_xmp_list list = 0;
    while (list < VIT_XMP_COUNT &&
           !vit_xml_named(&r->xml, name, properties[list].space, properties[list].name))
        list++;
    return list;
}

static bool is_rdf(const reader *r, const vit_xml_name *name, const char *local) {
    return vit_xml_named(&r->xml, name, VIT_XMP_RDF, local);
}

/* Owns text's memory from now on. */
static vit_status add_item(reader *r, vit_xmp_list list, vit_string *text, vit_span span) {
    vit_xmp *x = r->out;
    size_t length = text->length, begin = 0;
    while (length > begin && strchr(" \t\r\n", text->text[length - 1])) length--;
    while (begin < length && strchr(" \t\r\n", text->text[begin])) begin++;
    const bool is_there = !text->failed && length > begin;
    const bool has_room =
        !text->failed && VIT_MAKE_ROOM(x->items, x->count, x->capacity, "keywords", r->error);
    if (!has_room || !is_there) {
        const bool failed = text->failed || !has_room;
        vit_string_free(text);
        return failed ? vit_fail_memory(r->error, "keywords", length) : VIT_OK;
    }
    memmove(text->text, text->text + begin, length - begin);
    text->text[length - begin] = 0;
    x->items[x->count++] = (vit_xmp_item){list, text->text, span};
    return VIT_OK;
}

static vit_status add_ours(reader *r, vit_span span) {
    vit_xmp *x = r->out;
    if (!VIT_MAKE_ROOM(x->ours, x->our_count, x->our_capacity, "keywords", r->error))
        return VIT_ERROR_MEMORY;
    x->ours[x->our_count++] = span;
    return VIT_OK;
}

/* Reads up to the end of the element that has just begun, of this depth; text: NULL, or what is
 * directly in it is appended. */
static vit_status skip_element(reader *r, size_t depth, vit_string *text) {
    vit_status status = next(r);
    while (status == VIT_OK && !(r->xml.kind == VIT_XML_END && r->xml.depth < depth)) {
        const bool is_direct = text && r->xml.depth == depth;
        if (is_direct && r->xml.kind == VIT_XML_TEXT) vit_xml_decode(text, &r->xml, r->xml.token);
        if (is_direct && r->xml.kind == VIT_XML_CDATA)
            vit_string_add_bytes(text, r->xml.text + r->xml.token.begin + 9,
                                 r->xml.token.end - r->xml.token.begin - 12);
        status = next(r);
    }
    return status;
}

/* ---- a list ---- */

static vit_status read_items(reader *r, vit_xmp_list list, size_t depth) {
    vit_status status = next(r);
    while (status == VIT_OK && !(r->xml.kind == VIT_XML_END && r->xml.depth < depth)) {
        if (r->xml.kind == VIT_XML_START) {
            const bool is_item = is_rdf(r, &r->xml.element, "li");
            vit_span span = r->xml.token;
            vit_string text = {0};
            status = skip_element(r, r->xml.depth, &text);
            span.end = r->xml.token.end;
            if (status == VIT_OK && is_item)
                status = add_item(r, list, &text, span);
            else
                vit_string_free(&text);
        }
        if (status == VIT_OK) status = next(r);
    }
    return status;
}

/* A property that has just begun: a container of items, or text alone. */
static vit_status read_list(reader *r, vit_xmp_list list) {
    vit_xmp_place *place = &r->out->places[list];
    const size_t depth = r->xml.depth;
    vit_string text = {0};
    vit_status status = next(r);
    place->count++;
    while (status == VIT_OK && !(r->xml.kind == VIT_XML_END && r->xml.depth < depth)) {
        const vit_xml_name *name = &r->xml.element;
        const bool is_start = r->xml.kind == VIT_XML_START;
        if (is_start &&
            (is_rdf(r, name, "Bag") || is_rdf(r, name, "Seq") || is_rdf(r, name, "Alt"))) {
            place->is_bag = true;
            place->is_empty = r->xml.is_empty;
            place->start = r->xml.token;
            place->container = name->whole;
            status = read_items(r, list, r->xml.depth);
            place->end = r->xml.token;
        } else if (is_start) {
            status = skip_element(r, r->xml.depth, NULL);
        } else if (r->xml.kind == VIT_XML_TEXT) {
            vit_xml_decode(&text, &r->xml, r->xml.token);
        }
        if (status == VIT_OK) status = next(r);
    }
    if (status == VIT_OK && !place->is_bag) return add_item(r, list, &text, (vit_span){0});
    vit_string_free(&text);
    return status;
}

/* ---- a description ---- */

/* Its attributes: rdf:about, and properties in short. *others: that are neither about nor ours. */
static vit_status read_attributes(reader *r, size_t *others) {
    vit_status status = VIT_OK;
    for (size_t i = 0; i < r->xml.attribute_count && status == VIT_OK; i++) {
        const vit_xml_attribute *a = &r->xml.attributes[i];
        const vit_xmp_list list = list_of(r, &a->name);
        vit_string text = {0};
        if (is_rdf(r, &a->name, "about") || vit_xml_is(&r->xml, a->name.whole, "about")) {
            if (r->out->about.end == 0) r->out->about = a->value;
            continue;
        }
        if (vit_xml_is(&r->xml, a->name.space, VIT_XMP_OURS))
            status = add_ours(r, (vit_span){a->name.whole.begin, a->value.end + 1});
        else
            ++*others;
        if (list == VIT_XMP_COUNT || status != VIT_OK) continue;
        r->out->places[list].count++;
        vit_xml_decode(&text, &r->xml, a->value);
        status = add_item(r, list, &text, (vit_span){0});
    }
    return status;
}

static vit_status read_property(reader *r, size_t *others) {
    const vit_xmp_list list = list_of(r, &r->xml.element);
    const bool is_ours = vit_xml_is(&r->xml, r->xml.element.space, VIT_XMP_OURS);
    vit_span span = r->xml.token;
    vit_status status =
        list < VIT_XMP_COUNT ? read_list(r, list) : skip_element(r, r->xml.depth, NULL);
    span.end = r->xml.token.end;
    if (!is_ours) ++*others;
    return status == VIT_OK && is_ours ? add_ours(r, span) : status;
}

static vit_status read_description(reader *r) {
    const size_t depth = r->xml.depth, before = r->out->our_count;
    vit_span span = r->xml.token;
    size_t others = 0;
    vit_status status = read_attributes(r, &others);
    if (status == VIT_OK) status = next(r);
    while (status == VIT_OK && !(r->xml.kind == VIT_XML_END && r->xml.depth < depth)) {
        if (r->xml.kind == VIT_XML_START) status = read_property(r, &others);
        if (status == VIT_OK) status = next(r);
    }
    span.end = r->xml.token.end;
    if (status == VIT_OK && others == 0 && r->out->our_count > before) {
        r->out->our_count = before;
        return add_ours(r, span);
    }
    return status;
}

static vit_status read_rdf(reader *r) {
    const size_t depth = r->xml.depth;
    r->out->rdf_count++;
    r->out->rdf_start = r->xml.token;
    r->out->rdf_name = r->xml.element.whole;
    r->out->rdf_is_empty = r->xml.is_empty;
    vit_status status = next(r);
    while (status == VIT_OK && !(r->xml.kind == VIT_XML_END && r->xml.depth < depth)) {
        if (r->xml.kind == VIT_XML_START) status = read_description(r);
        if (status == VIT_OK) status = next(r);
    }
    r->out->rdf_end = r->xml.token;
    return status;
}

vit_status vit_xmp_read(vit_xmp *out, const char *text, size_t size, const char *name,
                        vit_error *error) {
    *out = (vit_xmp){0};
    if (size > VIT_XMP_LIMIT)
        return vit_fail(error, VIT_ERROR_UNSUPPORTED, "%s: XMP of more than 16 MiB is not read",
                        name);
    reader *r = vit_alloc(1, sizeof *r);
    if (!r) return vit_fail_memory(error, "a reader of XMP", sizeof *r);
    r->out = out;
    r->error = error;
    vit_status status = vit_xml_open(&r->xml, text, size, name, error);
    if (status == VIT_OK) status = next(r);
    while (status == VIT_OK && r->xml.kind != VIT_XML_EOF) {
        if (r->xml.kind == VIT_XML_START && is_rdf(r, &r->xml.element, "RDF")) status = read_rdf(r);
        if (status == VIT_OK) status = next(r);
    }
    if (status == VIT_OK && out->rdf_count == 0)
        status = vit_fail(error, VIT_ERROR_FORMAT, "%s: is no XMP: it has no rdf:RDF", name);
    vit_free(r);
    return status;
}

void vit_xmp_free(vit_xmp *x) {
    for (size_t i = 0; i < x->count; i++) vit_free(x->items[i].text);
    vit_free(x->items);
    vit_free(x->ours);
    *x = (vit_xmp){0};
}

bool vit_xmp_has(const vit_xmp *x, vit_xmp_list list, const char *text) {
    for (size_t i = 0; i < x->count; i++)
        if (x->items[i].list == list && strcmp(x->items[i].text, text) == 0) return true;
    return false;
}
