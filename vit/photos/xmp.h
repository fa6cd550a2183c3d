/* Keywords in an XMP packet, as photo libraries write them, and where they stand in its bytes. */
#ifndef VIT_PHOTOS_XMP_H
#define VIT_PHOTOS_XMP_H

#include "vit/photos/xml.h"

/* What vit-classify writes: which keywords are its own, and how sure they are. */
#define VIT_XMP_OURS "urn:vit:tags:1.0/"
#define VIT_XMP_RDF "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
#define VIT_XMP_DC "http://purl.org/dc/elements/1.1/"
#define VIT_XMP_LR "http://ns.adobe.com/lightroom/1.0/"

#define VIT_XMP_LIMIT ((size_t)16 << 20) /* bytes of a packet */

typedef enum vit_xmp_list {
    VIT_XMP_SUBJECT,          /* dc:subject: words */
    VIT_XMP_HIERARCHICAL,     /* lr:hierarchicalSubject: Animals|Cat */
    VIT_XMP_TAGS_LIST,        /* digiKam:TagsList: Animals/Cat */
    VIT_XMP_OUR_SUBJECT,      /* vit:subject: those of dc:subject that vit-classify added */
    VIT_XMP_OUR_HIERARCHICAL, /* vit:hierarchicalSubject: likewise */
    VIT_XMP_COUNT,
} vit_xmp_list;

typedef struct vit_xmp_item {
    vit_xmp_list list;
    char *text;    /* without the space around it, not empty */
    vit_span span; /* of its element; of another form empty */
} vit_xmp_item;

/* Where a list is written. */
typedef struct vit_xmp_place {
    size_t count;        /* how often the property is there */
    bool is_bag;         /* it is a container of items, as every program writes it */
    bool is_empty;       /* the container is <rdf:Bag/>, all of it `start` */
    vit_span start, end; /* the tags of the container */
    vit_span container;  /* its name */
} vit_xmp_place;

typedef struct vit_xmp {
    vit_xmp_item *items;
    size_t count, capacity;
    vit_xmp_place places[VIT_XMP_COUNT];
    size_t rdf_count;
    bool rdf_is_empty;
    vit_span rdf_start, rdf_end, rdf_name; /* the tags of rdf:RDF, its name */
    vit_span about; /* the value of the first rdf:about, which may be empty */
    vit_span
        *ours; /* [our_count] everything in our namespace; a description of nothing else whole */
    size_t our_count, our_capacity;
} vit_xmp;

/* Reads a packet, or a sidecar; `text` must stay. Errors: those of xml.h; FORMAT if it has no
 * rdf:RDF. Freed by vit_xmp_free, also on failure. */
vit_status vit_xmp_read(vit_xmp *out, const char *text, size_t size, const char *name,
                        vit_error *error);
void vit_xmp_free(vit_xmp *xmp);

/* Whether the list has this text. */
bool vit_xmp_has(const vit_xmp *xmp, vit_xmp_list list, const char *text);

#endif
