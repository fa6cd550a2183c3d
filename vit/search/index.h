/* An index of pictures: the features of each, in one file, for finding those that are most similar.
 *
 * The file is a row of blocks. The first says which model the features are of; each other one adds
 * pictures and takes others out, and is on the disk before the next one is begun. So a process that
 * is killed loses only the block that it was writing, which readers pass over and the next writer
 * overwrites. Features are kept with length 1, as 8-bit numbers with a scale for each picture.
 *
 * docs/search.md has the format. An open index is a mapping of the file: it is immutable, may be
 * used from any thread, and stays valid while another process adds to the file. */
#ifndef VIT_SEARCH_INDEX_H
#define VIT_SEARCH_INDEX_H

#include "vit/base/cpu.h"
#include "vit/base/stamp.h"
#include "vit/base/sys.h"

typedef struct vit_index vit_index;

/* What the features of an index are of. */
typedef struct vit_index_about {
    size_t width;            /* numbers of a picture */
    const char *model;       /* the path that the model was loaded from */
    const char *fingerprint; /* of its features: another model has another one */
} vit_index_about;

/* A picture of the index. */
typedef struct vit_indexed {
    const char *name; /* the path of its file */
    vit_stamp stamp;  /* of the file when it was read */
    bool gone;        /* taken out, or replaced by a later row */
} vit_indexed;

/* IO for a file that cannot be read, FORMAT for one that is no index, UNSUPPORTED for one of a
 * later version. *out is freed by vit_index_free, which takes NULL. */
vit_status vit_index_open(vit_index **out, const char *path, vit_error *error);
void vit_index_free(vit_index *index);

vit_index_about vit_index_describe(const vit_index *index); /* owned by the index */
size_t vit_index_rows(const vit_index *index);              /* also those that are gone */
size_t vit_index_pictures(const vit_index *index);          /* without them */
vit_indexed vit_index_row(const vit_index *index, size_t row);

/* ---- adding ---- */

typedef struct vit_index_writer vit_index_writer;

/* A picture to be added. */
typedef struct vit_index_picture {
    const char *name;
    vit_stamp stamp;
    const float *features; /* [width], of any length but 0 */
} vit_index_picture;

/* Opens an index for writing, or makes it. No other process can until vit_index_writer_close: then
 * IO. MISMATCH if it is of another model, which is named. */
vit_status vit_index_writer_open(vit_index_writer **out, const char *path,
                                 const vit_index_about *about, vit_error *error);

/* Adds pictures and takes rows out, all or nothing; it is on the disk when this returns. ARGUMENT
 * for features that are not finite, or all 0, with the name. */
vit_status vit_index_writer_put(vit_index_writer *writer, const vit_index_picture *pictures,
                                size_t count, const uint64_t *gone, size_t gone_count,
                                vit_error *error);
void vit_index_writer_close(vit_index_writer *writer); /* takes NULL */

/* ---- finding: find.c ---- */

typedef struct vit_hit {
    size_t row;
    float score; /* the cosine of the angle between both features */
} vit_hit;

/* hits[0..*count) = the `most` pictures whose stored features are most similar to features[width],
 * the best first, of equal ones the earlier. The result is exact: that of computing all products
 * in double. ARGUMENT for features that are not finite, or all 0; MEMORY. */
vit_status vit_index_find(vit_hit *hits, size_t *count, const vit_index *index,
                          const float *features, size_t most, int threads, vit_cpu highest,
                          vit_error *error);

typedef struct vit_similar {
    size_t first, second; /* rows */
    float score;
} vit_similar;

/* *out = all pairs of pictures with a score of at least `least`, in the order of their rows; freed
 * by vit_free. It takes time with the square of the number of pictures. UNSUPPORTED for more than
 * ten million pairs. */
vit_status vit_index_pairs(vit_similar **out, size_t *count, const vit_index *index, double least,
                           int threads, vit_cpu highest, vit_error *error);

#endif
