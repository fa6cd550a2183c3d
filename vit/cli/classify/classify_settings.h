/* What vit-classify's options say. */
#ifndef VIT_CLI_CLASSIFY_CLASSIFY_SETTINGS_H
#define VIT_CLI_CLASSIFY_CLASSIFY_SETTINGS_H

#include "vit/cli/classify/photos.h"
#include "vit/cli/classify/stream.h"
#include "vit/cli/models/models.h"
#include "vit/cli/parts/coverage.h"
#include "vit/cli/parts/sandbox.h"

enum { VIT_AS_TEXT, VIT_AS_JSON, VIT_AS_CSV, VIT_AS_COUNT }; /* --format */

typedef struct vit_classify_settings {
    vit_model_choice from;
    const char *files_from, *out;
    uint64_t top;    /* 0: not said */
    vit_steps shard; /* part `steps` of `schedule`; 0: all */
    uint64_t threads;
    const char *among; /* DATA */
    uint64_t neighbours;
    vit_coverage_choice sets;
    vit_photo_choice photos;
    vit_stream_choice stream;
    bool list, null, recursive, json, embed, tokens, logits;
    vit_optional format; /* VIT_AS_TEXT, ... */
    vit_optional sandbox;
    bool given[64]; /* by row of the options */
} vit_classify_settings;

/* Whether --format asks for this one. */
bool vit_classify_writes(const vit_classify_settings *s, int format);

/* Whether it sorts pictures, or writes sidecars. */
bool vit_classify_changes_files(const vit_classify_settings *s);

/* Options that contradict each other, as a sentence; NULL: none do. */
const char *vit_classify_contradiction(const vit_classify_settings *s, int pictures);

#endif
