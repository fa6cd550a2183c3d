/* Model files that hold a head alone, and name the file of their backbone: "vit.backbone" in the
 * metadata is {"file": NAME, "sha256": its 64 hexadecimal digits}. NAME is that of a file, or
 * DIRECTORY/FILE where weights have their config beside them. */
#ifndef VIT_WEIGHTS_FILE_BACKBONE_H
#define VIT_WEIGHTS_FILE_BACKBONE_H

#include "vit/base/error.h"

/* *json = the reference to the weights at `path`, a file or a directory; freed by vit_free.
 * UNSUPPORTED for weights in several files, and for a file that is such a reference itself; errors
 * of reading. */
vit_status vit_backbone_refer(char **json, const char *path, vit_error *error);

/* *path = the file that a reference in the model file `model` means, freed by vit_free: that name
 * beside the model file, in the working directory, or in $VIT_MODELS, with that checksum. Errors:
 * IO where there is no such file, MISMATCH if it is another one, FORMAT for what is no reference,
 * MEMORY. */
vit_status vit_backbone_find(char **path, const char *json, const char *model, vit_error *error);

#endif
