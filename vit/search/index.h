/* An index of pictures: the features of each, in one file, for finding those that are most similar.
 *
 * The file is a row of blocks. The first says which model the features are of; each other one adds
 * pictures and takes others out, and is on the disk before the next one is begun. So a process that
 * is killed loses only the block that it was writing, which readers pass over and the next writer
 * overwrites. Every block has a checksum, which is compared when the file is opened: anything but
 * such an end is refused, and vit_index_repair saves what can be saved. Features are kept with
 * length 1, as 8-bit numbers with a scale for each picture.
 *
 * docs/search.md has the format. An open index is a copy of the file: it is immutable, may be used
 * from any thread, and stays what it is whatever becomes of the file. */
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
    const char *name; /* of its file: see vit_index_path */
    vit_stamp stamp;  /* of the file when it was read */
    bool gone;        /* taken out, or replaced by a later row */
} vit_indexed;

/* IO for what is no regular file, or cannot be read; FORMAT for a file that is no index, or a
 * damaged one: the message says what can be saved; UNSUPPORTED for one of a later version. *out is
 * freed by vit_index_free, which takes NULL. */
vit_status vit_index_open(vit_index **out, const char *path, vit_error *error);

/* The same on so many threads: with 1 none is started. */
vit_status vit_index_open_on(vit_index **out, const char *path, int threads, vit_error *error);
void vit_index_free(vit_index *index);

vit_index_about vit_index_describe(const vit_index *index); /* owned by the index */
size_t vit_index_rows(const vit_index *index);              /* also those that are gone */
size_t vit_index_pictures(const vit_index *index);          /* without them */
vit_indexed vit_index_row(const vit_index *index, size_t row);

/* Bytes at the end of the file that are no whole block: a writer is at work, or was stopped. */
uint64_t vit_index_unfinished(const vit_index *index);

/* Whether `later` has all blocks of `earlier`, which may have been added to: not so if another file
 * took its place, or if it was cut off. */
bool vit_index_continues(const vit_index *later, const vit_index *earlier);

/* ---- places of pictures ---- */

/* A picture is kept under its real path, from the folder of the index on if it lies below that: so
 * a folder and its index may be moved together. */

/* *root = the real folder that the file of an index lies in, freed by vit_free. IO if there is no
 * such file. */
vit_status vit_index_root(char **root, const char *index, vit_error *error);

/* The name of a picture in an index that lies in `root`: a part of `path`, its real one. */
const char *vit_index_name(const char *root, const char *path);

/* The path by which a picture of this name can be opened, freed by vit_free; NULL: no memory. */
char *vit_index_path(const vit_index *index, const char *name);

/* ---- adding ---- */

typedef struct vit_index_writer vit_index_writer;

/* A picture to be added. */
typedef struct vit_index_picture {
    const char *name;
    vit_stamp stamp;
    const float *features; /* [width], of any length but 0 */
} vit_index_picture;

/* Opens an index for writing, or makes it. No other process can until vit_index_writer_close: then
 * IO. MISMATCH if it is of another model, which is named. Errors of vit_index_open for any other
 * file that is not empty, which stays as it is. */
vit_status vit_index_writer_open(vit_index_writer **out, const char *path,
                                 const vit_index_about *about, vit_error *error);

/* Adds pictures and takes rows out, all or nothing; it is on the disk when this returns. ARGUMENT
 * for features that are not finite, or all 0, with the name. */
vit_status vit_index_writer_put(vit_index_writer *writer, const vit_index_picture *pictures,
                                size_t count, const uint64_t *gone, size_t gone_count,
                                vit_error *error);
void vit_index_writer_close(vit_index_writer *writer); /* takes NULL */

/* Bytes of a block that was not finished, which opening has cut off. */
uint64_t vit_index_writer_cut(const vit_index_writer *writer);

/* Writes all pictures of a damaged index that can be saved to a new one, `to`, which must not
 * exist. If what was lost took pictures out, these are in it again. Errors: FORMAT if nothing can
 * be saved; IO if `to` exists or cannot be written. */
typedef struct vit_index_repaired {
    size_t saved;     /* pictures */
    char damage[128]; /* where it is, and what; "": there is none */
} vit_index_repaired;
vit_status vit_index_repair(vit_index_repaired *out, const char *from, const char *to,
                            vit_error *error);

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
