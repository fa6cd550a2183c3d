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

#endif
