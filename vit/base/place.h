/* Bringing a file to a place without replacing another one there, whoever else writes at the same
 * time. In all functions *taken says that the name was there already: nothing is changed then, and
 * the status is VIT_OK. Names are as the system has them: any bytes. */
#ifndef VIT_BASE_PLACE_H
#define VIT_BASE_PLACE_H

#include "vit/base/sys.h"

typedef enum vit_place_how {
    VIT_PLACE_LINK, /* a symbolic link to the file, by its absolute path */
    VIT_PLACE_COPY, /* with its mode and its time; complete and on the disk before it has the name
                     */
    VIT_PLACE_MOVE, /* renamed; to another file system copied, and removed when that is on the disk
                     */
    VIT_PLACE_COUNT,
} vit_place_how;

/* `from`: a regular file, no link; absolute for a link. The directory of `to` must exist. IO says
 * which file, and why; *full: that the disk is full or a quota is used up. On failure nothing is at
 * `to`, and `from` is as it was, except that where it cannot be removed after a copy was made both
 * stay; the message says so. */
vit_status vit_place_file(bool *taken, bool *full, const char *to, const char *from,
                          vit_place_how how, vit_error *error);

/* Whether both are regular files of the same bytes. IO if one cannot be read. */
vit_status vit_place_same(bool *same, const char *a, const char *b, vit_error *error);

/* Whether `path` is a symbolic link with this target. */
bool vit_place_links_to(const char *path, const char *target);

/* What is at a path, not through a link. */
typedef enum vit_place_kind {
    VIT_PLACE_NOTHING,
    VIT_PLACE_FILE,
    VIT_PLACE_SYMLINK,
    VIT_PLACE_OTHER, /* a folder, a device, or it cannot be looked at */
} vit_place_kind;
vit_place_kind vit_place_look(const char *path, uint64_t *size);

/* rename, but to a name that is there it does nothing and errno is EEXIST. Where the system has no
 * such call, the name is first made as an empty file, which nobody else then has. */
int vit_rename_new(const char *from, const char *to);

struct stat;

/* Ends and frees a writer (sys.h) as vit_writer_commit does, but under a new name alone; like: mode
 * and time of the file, or NULL. */
vit_status vit_writer_commit_new(vit_writer *writer, const struct stat *like, bool *taken,
                                 vit_error *error);

#endif
