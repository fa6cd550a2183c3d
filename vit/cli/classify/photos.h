/* What vit-classify does with a person's pictures besides answering: it sorts them into folders, or
 * writes the answers as tags into sidecars. One of the two, and each can be undone. */
#ifndef VIT_CLI_CLASSIFY_PHOTOS_H
#define VIT_CLI_CLASSIFY_PHOTOS_H

#include "vit/base/place.h"
#include "vit/cli/classify/answers.h"

typedef struct vit_photo_choice {
    const char *sort_into, *journal, *under, *undo;
    vit_optional by; /* vit_place_how */
    bool write_tags, dry_run;
} vit_photo_choice;

extern const char *const vit_place_words[]; /* "link", "copy", "move", NULL */

/* undoes: vit_option.also of --undo and --dry-run. */
#define VIT_PHOTO_OPTIONS(settings, member, undoes)                                              \
    {.kind = VIT_OPTION_GROUP, .help = "A photo library (docs/photos.md)"},                      \
        {VIT_OPTION(TEXT, "sort-into", member.sort_into, "DIR"),                                 \
         .help = "bring each picture into the folder of its class in\n"                          \
                 "DIR, or into DIR/abstained; never replaces a file"},                           \
        {VIT_OPTION(CHOICE, "by", member.by, "HOW"), .optional = true,                           \
         .help = "with --sort-into: link (symbolic), copy or move", .choices = vit_place_words}, \
        {VIT_FLAG("write-tags", member.write_tags),                                              \
         .help = "write the answers as tags into the XMP sidecars of\n"                          \
                 "the pictures, never into the pictures"},                                       \
        {VIT_OPTION(TEXT, "journal", member.journal, "FILE"),                                    \
         .help = "with --write-tags: what was changed, for --undo\n"                             \
                 "(default: vit-tags.journal)"},                                                 \
        {VIT_OPTION(TEXT, "under", member.under, "BRANCH"),                                      \
         .help = "with --write-tags: the tags lie below this one, such\n"                        \
                 "as Animals/"},                                                                 \
        {VIT_FLAG("dry-run", member.dry_run),                                                    \
         .help = "with --sort-into, --write-tags or --undo: only say\nwhat would be done",       \
         .also = (undoes)},                                                                      \
    {                                                                                            \
        VIT_OPTION(TEXT, "undo", member.undo, "DIR|FILE"),                                       \
            .help = "undo what --sort-into DIR did, or --write-tags\nwith this journal",         \
            .also = (undoes)                                                                     \
    }

typedef struct vit_photos vit_photos;

/* What the guest that knows photo libraries does; of the list `guests`. */
typedef struct vit_photo_guest {
    /* A sentence if the options contradict each other, or NULL. pictures: whether any are named;
     * classes: whether they are answered with classes. */
    const char *(*contradiction)(const vit_photo_choice *choice, bool pictures, bool classes);
    /* Undoes; returns the exit status. */
    int (*undo)(const vit_command *command, const vit_photo_choice *choice);
    /* *out = NULL if neither is asked for. name: of the model. Freed by `close`, which says what
     * was done. */
    vit_status (*open)(vit_photos **out, const vit_command *command, const vit_photo_choice *choice,
                       const char *name, const vit_model *model, vit_error *error);
    void (*close)(vit_photos *photos);
    /* Does it for one picture, whose name is answer->name, and sets answer->to, until the next
     * call. On failure the picture and its sidecars are as they were. */
    vit_status (*put)(vit_photos *photos, vit_answered *answer, vit_error *error);
    /* Whether nothing more can be done: the disk is full, or the journal cannot be written. */
    bool (*stopped)(const vit_photos *photos);
} vit_photo_guest;

extern const vit_photo_guest *const vit_photo_libraries; /* NULL: there is none */

#endif
