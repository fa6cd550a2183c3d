/* A strict reader of small XML documents, one token after the other, with the place of each in the
 * bytes: what is not touched can then be kept as it is.
 *
 * UTF-8 alone. There are no document types, so no entities but the five of XML, and nothing that is
 * expanded or fetched. Depth, attributes and namespaces are limited. Names of elements must match,
 * attributes must differ, prefixes must be declared.
 */
#ifndef VIT_PHOTOS_XML_H
#define VIT_PHOTOS_XML_H

#include "vit/base/error.h"
#include "vit/base/text.h"

#define VIT_XML_DEPTH 48
#define VIT_XML_ATTRIBUTES 256
#define VIT_XML_NAMESPACES 128

/* Bytes begin .. end - 1 of the document. */
typedef struct vit_span {
    size_t begin, end;
} vit_span;

typedef struct vit_xml_name {
    vit_span whole, local; /* "dc:subject" and "subject" */
    vit_span space;        /* the URI as it is written; empty: none */
} vit_xml_name;

typedef struct vit_xml_attribute {
    vit_xml_name name;
    vit_span value; /* without its quotes, not decoded */
} vit_xml_attribute;

typedef enum vit_xml_kind {
    VIT_XML_START, /* <a ...>, and <a .../>, which is followed by an END of no bytes */
    VIT_XML_END,
    VIT_XML_TEXT, /* between tags, not decoded; comments and instructions are passed over */
    VIT_XML_CDATA,
    VIT_XML_EOF,
} vit_xml_kind;

typedef struct vit_xml {
    const char *text; /* [size] */
    size_t size, at;
    const char *name; /* of the document, for messages */
    vit_xml_kind kind;
    vit_span token;                                   /* all of its bytes */
    vit_xml_name element;                             /* of START and END */
    bool is_empty;                                    /* START: <a/> */
    vit_xml_attribute attributes[VIT_XML_ATTRIBUTES]; /* of START; without xmlns */
    size_t attribute_count;
    size_t depth; /* elements that are open, this one included */
    bool is_done; /* the root has ended */
    vit_xml_name open[VIT_XML_DEPTH];
    struct vit_xml_binding {
        vit_span prefix, uri;
        size_t depth;
    } bindings[VIT_XML_NAMESPACES];
    size_t binding_count;
} vit_xml;

/* FORMAT unless the bytes are UTF-8 without control characters. */
vit_status vit_xml_open(vit_xml *out, const char *text, size_t size, const char *name,
                        vit_error *error);

/* The next token. FORMAT, UNSUPPORTED (document types, other encodings, beyond the limits): the
 * message has the byte. */
vit_status vit_xml_next(vit_xml *xml, vit_error *error);

/* Whether these bytes are `word`. */
bool vit_xml_is(const vit_xml *xml, vit_span span, const char *word);

/* Whether it is this local name in this namespace. */
bool vit_xml_named(const vit_xml *xml, const vit_xml_name *name, const char *space,
                   const char *local);

/* Appends the text of bytes that vit_xml_next gave, with &amp; and the like decoded. */
void vit_xml_decode(vit_string *out, const vit_xml *xml, vit_span span);

/* Appends a text as the content of an element. False: it has signs that XML cannot hold. */
bool vit_xml_encode(vit_string *out, const char *text);

#endif
