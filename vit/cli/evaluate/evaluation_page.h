/* The page of vit-evaluate --report, and the tables beside it. */
#ifndef VIT_CLI_EVALUATE_EVALUATION_PAGE_H
#define VIT_CLI_EVALUATE_EVALUATION_PAGE_H

#include "vit/cli/evaluate/kept_answers.h"
#include "vit/reports.h"

/* What is told of the data while they are read, and where the tables lie. */
typedef struct vit_page_texts {
    char **notes, **files;
    size_t note_count, file_count, note_room, file_room;
    vit_listed_picture *issues;
    bool failed; /* there was no memory for one of them */
} vit_page_texts;

/* What the guest that writes pages does; of the list `guests`. */
typedef struct vit_page_guest {
    void (*note)(vit_page_texts *t, const char *note);
    /* "FILE: what it holds". file: as on the command line; NULL: nothing is added. */
    void (*file)(vit_page_texts *t, const char *file, const char *what);
    void (*free)(vit_page_texts *t);
    /* *out = PAGE-ENDING for a page PAGE.html, in place of *out NULL; *owned: freed by vit_free. */
    vit_status (*name)(const char **out, char **owned, const char *page, const char *ending,
                       vit_error *error);
    /* The lists of the page; answers: their label issues, or NULL. */
    vit_status (*fill)(vit_page_lists *out, vit_page_texts *t, const vit_kept_answers *answers,
                       vit_error *error);
    /* vit_evaluate_page */
    vit_status (*evaluate)(const vit_model *model, const vit_evaluate_options *options,
                           const vit_evaluation_page *page, vit_evaluation *result,
                           vit_error *error);
} vit_page_guest;

extern const vit_page_guest *const vit_pages; /* NULL: there is none */

#endif
