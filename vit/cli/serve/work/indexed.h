/* The index of pictures that is searched: a copy in memory, which is read anew when the file has
 * changed. A search under way keeps the copy that it began with.
 *
 * The file may be replaced, added to, overwritten in place or cut off at any moment. What is in it
 * while somebody writes to it is not always an index, or is one of fewer pictures: such a state is
 * refused until it is whole, unless it has all that was searched before.
 *
 * Functions may be called from any thread. */
#ifndef VIT_CLI_SERVE_WORK_INDEXED_H
#define VIT_CLI_SERVE_WORK_INDEXED_H

#include "vit/search/index.h"

typedef struct serve_indexed serve_indexed;

/* Reads the index, without a thread; freed by serve_indexed_free, which takes NULL. Errors:
 * vit_index_open's. */
vit_status serve_indexed_open(serve_indexed **out, const char *path, vit_error *error);

/* Calls `show` with the directory of each picture that does not lie in the index's. */
typedef void serve_show_directory(const char *directory, void *context);
void serve_indexed_directories(const serve_indexed *indexed, serve_show_directory *show,
                               void *context);
void serve_indexed_free(serve_indexed *indexed);

/* What is searched: given back by serve_snapshot_release, which takes NULL. */
typedef struct serve_snapshot {
    vit_index *index;
    size_t users; /* references to it, one of them the list's */
} serve_snapshot;

/* The index as it is now. IO or FORMAT while the file is not whole; messages name the file without
 * its directories. */
vit_status serve_snapshot_take(serve_snapshot **out, serve_indexed *indexed, vit_error *error);
void serve_snapshot_release(serve_indexed *indexed, serve_snapshot *snapshot);

#endif
