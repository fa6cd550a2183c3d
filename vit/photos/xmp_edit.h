/* Writing keywords into XMP: all that is not touched keeps its bytes. */
#ifndef VIT_PHOTOS_XMP_EDIT_H
#define VIT_PHOTOS_XMP_EDIT_H

#include "vit/photos/xmp.h"

/* An answer. `path` is the tag with its branch, "Animals/Cat"; its last part is the keyword. */
typedef struct vit_xmp_answer {
    const char *path;
    float probability;
} vit_xmp_answer;

typedef struct vit_xmp_answers {
    const char *model;             /* its name */
    const vit_xmp_answer *answers; /* [count]; 0: the model abstains */
    size_t count;
} vit_xmp_answers;

/* *out = the packet with these answers in place of those that it had from vit-classify: their
 * keywords in dc:subject, their paths in lr:hierarchicalSubject, and a description in our own
 * namespace with the model, the probabilities and which of the keywords are ours. Keywords that
 * somebody else wrote are never taken away. The same answers again give the same bytes. Errors:
 * those of vit_xmp_read; UNSUPPORTED if the packet has a list in a form that keywords cannot be
 * added to; ARGUMENT for a label that XML cannot hold. */
vit_status vit_xmp_edit(vit_string *out, const char *text, size_t size, const char *name,
                        const vit_xmp_answers *answers, vit_error *error);

/* Appends an empty packet, to be edited. */
void vit_xmp_add_empty(vit_string *out);

/* *out = the packet with these texts, each with a zero byte at its end, in dc:subject, not ours. */
vit_status vit_xmp_add_keywords(vit_string *out, const char *text, size_t size, const char *name,
                                const char *keywords, size_t count, vit_error *error);

enum { VIT_XMP_DIGEST = 32 };

/* Whether a JPEG's packet names another one that has what the first has no room for. */
bool vit_xmp_extension(char digest[VIT_XMP_DIGEST + 1], const vit_string *packet);

/* Puts the descriptions of the other packet into this one, which no longer names it; what is no XMP
 * leaves it as it was. */
void vit_xmp_join(vit_string *packet, const vit_string *extension);

#endif
