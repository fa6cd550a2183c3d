/* A picture and the sidecars beside it, which come to another place together, as a journal
 * announces it: either all of them do, or none. */
#ifndef VIT_CLI_PHOTOS_GROUP_H
#define VIT_CLI_PHOTOS_GROUP_H

#include "vit/base/place.h"
#include "vit/base/stamp.h"
#include "vit/cli/photos/journal.h"

/* A file that is linked, copied or moved; the paths are absolute. */
typedef struct vit_placed {
    vit_place_how how;
    char *from, *to;
    vit_stamp stamp; /* of `from`, when it was announced */
} vit_placed;

#define VIT_GROUP_MOST 5 /* the picture, and names of sidecars */

typedef struct vit_group {
    vit_placed files[VIT_GROUP_MOST]; /* [count]; the first is the picture */
    size_t count;
} vit_group;

/* Adds a file to a group whose `to` is not known yet. */
vit_status vit_group_add(vit_group *group, const char *from, vit_place_how how, vit_error *error);
void vit_group_free(vit_group *group);

/* *found: whether the entry of a journal is a group; *out is freed by vit_group_free. FORMAT for an
 * entry that is called like one, and is none. */
vit_status vit_group_of_entry(vit_group *out, bool *found, const vit_journal_entry *entry,
                              vit_error *error);

/* Announces the group, and carries it out. *taken: one of the names is another's by now, and
 * nothing was done. *full: the disk is full. On failure every file is where it was. */
vit_status vit_group_place(bool *taken, bool *full, const vit_group *group, vit_journal *journal,
                           vit_error *error);

/* Brings to its end what a process that was killed had announced. What cannot be told apart stays,
 * and is an error that names it. */
vit_status vit_group_finish(const vit_group *group, vit_error *error);

/* Undoes it: links and unchanged copies are removed, what was moved goes back. What was changed
 * since, or stands in the way, stays as it is, and is an error that names it; the rest of the group
 * is undone nevertheless. Undoing once more what was undone does nothing. dry_run: only looks. */
vit_status vit_group_undo(const vit_group *group, bool dry_run, vit_error *error);

#endif
