#include "vit/cli/evaluate/evaluation_page.h"

#include <string.h>

#include "vit/base/sys.h"
#include "vit/base/text.h"

static void add_text(char ***list, size_t *count, size_t *room, vit_page_texts *t, char *text) {
    if (!text || !VIT_MAKE_ROOM(*list, *count, *room, "texts of a page", NULL)) {
        vit_free(text);
        t->failed = true;
        return;
    }
    (*list)[(*count)++] = text;
}

static void add_note(vit_page_texts *t, const char *note) {
    add_text(&t->notes, &t->note_count, &t->note_room, t, vit_strdup(note));
}

static void add_file(vit_page_texts *t, const char *file, const char *what) {
    vit_string text = {0};
    if (!file) return;
    vit_string_add(&text, "%s: %s", file, what);
    if (text.failed) vit_string_free(&text);
    add_text(&t->files, &t->file_count, &t->file_room, t, text.text);
}

static void free_texts(vit_page_texts *t) {
    for (size_t i = 0; i < t->note_count; i++) vit_free(t->notes[i]);
    for (size_t i = 0; i < t->file_count; i++) vit_free(t->files[i]);
    vit_free(t->notes);
    vit_free(t->files);
    vit_free(t->issues);
    *t = (vit_page_texts){0};
}

static vit_status name_table(const char **out, char **owned, const char *page, const char *ending,
                             vit_error *error) {
    vit_string text = {0};
    if (*out) return VIT_OK;
    vit_string_add(&text, "%.*s%s", (int)vit_stem_length(page, ".html"), page, ending);
    if (text.failed) {
        vit_string_free(&text);
        return vit_fail_memory(error, "the name of a table", strlen(page));
    }
    *out = *owned = text.text;
    return VIT_OK;
}

static vit_status fill(vit_page_lists *out, vit_page_texts *t, const vit_kept_answers *answers,
                       vit_error *error) {
    const size_t count = answers ? answers->issue_count : 0;
    t->issues = vit_alloc(count, sizeof *t->issues);
    if (!t->issues || t->failed) return vit_fail_memory(error, "the texts of a page", count);
    for (size_t i = 0; i < count; i++)
        t->issues[i] = (vit_listed_picture){answers->issues[i].picture, answers->issues[i].likely};
    *out = (vit_page_lists){.issues = answers ? t->issues : NULL,
                            .issue_count = count,
                            .notes = (const char *const *)t->notes,
                            .files = (const char *const *)t->files,
                            .note_count = t->note_count,
                            .file_count = t->file_count};
    return VIT_OK;
}

const vit_page_guest vit_evaluation_pages = {.note = add_note,
                                             .file = add_file,
                                             .free = free_texts,
                                             .name = name_table,
                                             .fill = fill,
                                             .evaluate = vit_evaluate_page};
