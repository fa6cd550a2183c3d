/* What a picture's file carries besides pixels: an XMP packet, and the keywords of IPTC. JPEG, PNG,
 * WebP, HEIC, AVIF and TIFF; of others nothing is found. */
#ifndef VIT_PHOTOS_EMBEDDED_H
#define VIT_PHOTOS_EMBEDDED_H

#include "vit/base/sys.h"
#include "vit/base/text.h"

typedef struct vit_embedded {
    vit_string xmp;      /* the packet, with what extends it; text NULL: there is none */
    vit_string keywords; /* of IPTC (2:25), UTF-8, each with a zero byte at its end */
    size_t keyword_count;
} vit_embedded;

/* Looks for them in a file; what is damaged is passed over, as the picture's own reader says what
 * is wrong with it. MEMORY alone. Freed by vit_embedded_free. */
vit_status vit_embedded_find(vit_embedded *out, const uint8_t *bytes, size_t size,
                             vit_error *error);
void vit_embedded_free(vit_embedded *embedded);

/* ---- for vit_embedded_find ---- */

/* Bytes that are looked at, a part of a file. */
typedef struct vit_part {
    const uint8_t *data;
    size_t size;
} vit_part;

/* Appends the keywords of records of IPTC-IIM; or those in Photoshop's image resources. */
void vit_iptc_read(vit_embedded *out, vit_part records);
void vit_photoshop_read(vit_embedded *out, vit_part resources);

/* Keeps a packet, unless there is one. */
void vit_embedded_keep_xmp(vit_embedded *out, vit_part packet);

/* The XMP, the keywords and the image resources of the first picture of a TIFF file; of another
 * file nothing. */
void vit_tiff_find_tags(vit_embedded *out, vit_part file);

/* The XMP item of a HEIC or AVIF file, which begins with a box "ftyp". */
void vit_heic_find_xmp(vit_embedded *out, vit_part file);

#endif
