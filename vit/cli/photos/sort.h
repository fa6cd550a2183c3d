/* Sorts pictures into a folder for each class, by links, copies or moves. No file is ever replaced;
 * a journal in the folder (".vit-journal") has all that is done before it is done, so that it can
 * be undone, and so that a run that was killed is finished by the next one. */
#ifndef VIT_CLI_PHOTOS_SORT_H
#define VIT_CLI_PHOTOS_SORT_H

#include "vit/base/place.h"
#include "vit/cli/parts/program.h"

#define VIT_SORT_JOURNAL ".vit-journal"

/* The folder of pictures that the model abstains from. */
#define VIT_SORT_ABSTAINED "abstained"

typedef struct vit_sorter vit_sorter;

/* Opens the folder `into`, which is made if it is missing, and brings to its end what an earlier
 * run began. dry_run: nothing is made or changed. ARGUMENT if two classes would share a folder. */
vit_status vit_sorter_open(vit_sorter **out, const vit_command *command, const char *into,
                           vit_place_how how, const vit_model *model, bool dry_run,
                           vit_error *error);

#define VIT_SORT_ABSTAINS SIZE_MAX

/* Brings a picture to the folder of its class, or of VIT_SORT_ABSTAINS, with the sidecars beside
 * it. *to: where it is then, or would be, until the next call; NULL if it lies in `into` already
 * and stays. *stop: nothing more can be done, as the disk is full or the journal cannot be written.
 * On failure the picture is where it was. */
vit_status vit_sorter_put(vit_sorter *sorter, const char **to, bool *stop, const char *picture,
                          size_t class, vit_error *error);

/* Says what was done, and how to undo it. Takes NULL. */
void vit_sorter_close(vit_sorter *sorter);

/* Undoes what the journal has, the last first; returns the exit status. */
int vit_sort_undo(const vit_command *command, const char *journal, bool dry_run);

#endif
