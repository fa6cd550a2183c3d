/* The page of vit-evaluate --report, and the tables beside it. */
#ifndef VIT_CLI_PARTS_EVALUATION_PAGE_H
#define VIT_CLI_PARTS_EVALUATION_PAGE_H

#include "vit/cli/parts/kept_answers.h"
#include "vit/reports.h"

/* What is told of the data while they are read, and where the tables lie. */
typedef struct vit_page_texts {
    char **notes, **files;
    size_t note_count, file_count, note_room, file_room;
    vit_listed_picture *issues;
    bool failed; /* there was no memory for one of them */
} vit_page_texts;

void vit_page_note(vit_page_texts *t, const char *note);

/* "FILE: what it holds". file: as on the command line; NULL: nothing is added. */
void vit_page_file(vit_page_texts *t, const char *file, const char *what);
void vit_page_texts_free(vit_page_texts *t);

/* The lists of the page; answers: their label issues, or NULL. */
vit_status vit_page_lists_fill(vit_page_lists *out, vit_page_texts *t,
                               const vit_kept_answers *answers, vit_error *error);

/* *out = PAGE-ENDING for a page PAGE.html, in place of *out NULL; *owned: freed by vit_free. */
vit_status vit_name_beside(const char **out, char **owned, const char *page, const char *ending,
                           vit_error *error);

#endif
