/* Writes answers as tags into XMP sidecars: dc:subject and lr:hierarchicalSubject, as photo
 * libraries read them, and the probabilities in a namespace of ours. A journal has what the
 * sidecars were. */
#ifndef VIT_CLI_PHOTOS_WRITE_TAGS_H
#define VIT_CLI_PHOTOS_WRITE_TAGS_H

#include "vit/cli/classify/answers.h"

typedef struct vit_tagger vit_tagger;

/* journal: NULL: VIT_TAGS_JOURNAL. under: the branch of the tags that are written, or NULL. name:
 * of the model. dry_run: nothing is written. */
#define VIT_TAGS_JOURNAL "vit-tags.journal"
vit_status vit_tagger_open(vit_tagger **out, const vit_command *command, const char *journal,
                           const char *under, const char *name, const vit_model *model,
                           bool dry_run, vit_error *error);

/* *sidecar: the one that was written, or would be, until the next call; NULL: none had to be. *stop
 * as of vit_sorter_put. On failure the sidecar is as it was. */
vit_status vit_tagger_put(vit_tagger *tagger, const char **sidecar, bool *stop,
                          const vit_answered *answer, vit_error *error);

void vit_tagger_close(vit_tagger *tagger); /* takes NULL */

int vit_tags_undo(const vit_command *command, const char *journal, bool dry_run);

#endif
