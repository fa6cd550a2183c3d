#include "vit/cli/photos/write_tags.h"

#include <string.h>

#include "vit/base/place.h"
#include "vit/base/size.h"
#include "vit/base/stamp.h"
#include "vit/cli/parts/interrupt.h"
#include "vit/cli/photos/journal.h"
#include "vit/formats/base64.h"
#include "vit/formats/sha256.h"
#include "vit/photos/embedded.h"
#include "vit/photos/sidecars.h"
#include "vit/photos/xmp_edit.h"

struct vit_tagger {
    const vit_command *command;
    const vit_model *model;
    const char *name, *under; /* of the model; the branch that answers are written under, or NULL */
    bool dry_run;
    vit_journal journal;
    char *last;              /* vit_tagger_put's *sidecar */
    vit_xmp_answer *answers; /* [classes] */
    char **paths;            /* [classes] the tag of each class */
    size_t classes;
    uint64_t written, unchanged, made; /* sidecars */
};

/* ---- opening and closing ---- */

static vit_status name_paths(vit_tagger *t, vit_error *error) {
    t->classes = vit_model_describe(t->model).classes;
    t->paths = vit_alloc(t->classes, sizeof *t->paths);
    t->answers = vit_alloc(t->classes, sizeof *t->answers);
    if (!t->paths || !t->answers) return vit_fail_memory(error, "tags", t->classes);
    size_t length = t->under ? strlen(t->under) : 0;
    while (length > 0 && strchr("/|", t->under[length - 1])) length--;
    for (size_t i = 0; i < t->classes; i++) {
        vit_string path = {0};
        if (length > 0) vit_string_add(&path, "%.*s/", (int)length, t->under);
        vit_string_add(&path, "%s", vit_model_label(t->model, i));
        t->paths[i] = path.text;
        if (path.failed) return vit_fail_memory(error, "tags", path.length);
    }
    return VIT_OK;
}

vit_status vit_tagger_open(vit_tagger **out, const vit_command *command, const char *journal,
                           const char *under, const char *name, const vit_model *model,
                           bool dry_run, vit_error *error) {
    vit_tagger *t = *out = vit_alloc(1, sizeof *t);
    if (!t) return vit_fail_memory(error, "a list", sizeof *t);
    *t = (vit_tagger){.command = command,
                      .model = model,
                      .name = vit_path_last(name),
                      .under = under,
                      .dry_run = dry_run};
    t->journal.file = -1;
    if (vit_model_describe(model).scoring == VIT_SCORING_NONE)
        return vit_fail(error, VIT_ERROR_ARGUMENT,
                        "--write-tags needs a model with classes: this one gives a number");
    const vit_status status = name_paths(t, error);
    if (status != VIT_OK || dry_run) return status;
    return vit_journal_open(&t->journal, journal ? journal : VIT_TAGS_JOURNAL, "tags", false,
                            error);
}

void vit_tagger_close(vit_tagger *t) {
    if (!t) return;
    char a[32], b[32];
    if (t->answers) {
        vit_say(t->command, "%s %s sidecars; %s have these tags already",
                t->dry_run ? "would write" : "wrote", vit_format_count(a, t->written),
                vit_format_count(b, t->unchanged));
        if (t->written > 0 && !t->dry_run)
            vit_say(t->command, "all of it is undone by: vit-classify --undo %s", t->journal.path);
    }
    vit_journal_close(&t->journal);
    for (size_t i = 0; i < t->classes && t->paths; i++) vit_free(t->paths[i]);
    vit_free(t->paths);
    vit_free(t->answers);
    vit_free(t->last);
    vit_free(t);
}

/* ---- what a sidecar becomes ---- */

/* A sidecar that is written: what it is, and what it was. */
typedef struct sidecar {
    char *path;
    bool is_there;
    vit_bytes old; /* its bytes; of a new one what it begins as */
    vit_stamp stamp;
} sidecar;

/* The packet in the picture, with IPTC's keywords, so that a program that prefers a sidecar to the
 * picture misses nothing; or an empty one. */
static vit_status begin_sidecar(sidecar *s, const char *picture, vit_error *error) {
    vit_bytes file;
    vit_embedded carried = {0};
    vit_string text = {0};
    vit_xmp xmp = {0};
    vit_status status = vit_map_file(&file, picture, error);
    if (status != VIT_OK) return status;
    status = vit_embedded_find(&carried, file.data, file.size, error);
    const bool is_fine =
        status == VIT_OK && carried.xmp.text &&
        vit_xmp_read(&xmp, carried.xmp.text, carried.xmp.length, picture, NULL) == VIT_OK;
    const bool needs_iptc = !is_fine || xmp.places[VIT_XMP_SUBJECT].count == 0;
    vit_xmp_free(&xmp);
    if (is_fine)
        vit_string_add_bytes(&text, carried.xmp.text, carried.xmp.length);
    else
        vit_xmp_add_empty(&text);
    if (status == VIT_OK && carried.keyword_count > 0 && needs_iptc && !text.failed) {
        vit_string more;
        status = vit_xmp_add_keywords(&more, text.text, text.length, picture, carried.keywords.text,
                                      carried.keyword_count, error);
        vit_string_free(&text);
        text = more;
    }
    vit_embedded_free(&carried);
    vit_unmap_file(&file);
    if (status == VIT_OK && text.failed) status = vit_fail_memory(error, "a sidecar", 4096);
    if (status == VIT_OK)
        s->old = (vit_bytes){(uint8_t *)text.text, text.length};
    else
        vit_string_free(&text);
    return status;
}

/* Which sidecar a picture has: PICTURE.jpg.xmp, else PICTURE.xmp if that is no other file's, too;
 * else the first is made. */
static vit_status find_sidecar(sidecar *s, const char *picture, vit_error *error) {
    vit_sidecars beside;
    vit_string path = {0};
    *s = (sidecar){0};
    vit_status status = vit_sidecars_find(&beside, picture, error);
    for (size_t i = 0; i < beside.count && status == VIT_OK && !s->path; i++) {
        if (beside.is_shared[i]) continue;
        s->path = vit_strdup(beside.paths[i]);
        s->is_there = true;
        if (!s->path) status = vit_fail_memory(error, "a path", strlen(picture));
    }
    vit_sidecars_free(&beside);
    if (status != VIT_OK) return status;
    if (s->is_there) {
        status = vit_stamp_of(&s->stamp, s->path, error);
        if (status == VIT_OK) status = vit_read_regular(&s->old, s->path, VIT_XMP_LIMIT, error);
        return status;
    }
    vit_string_add(&path, "%s.xmp", picture);
    s->path = path.text;
    if (path.failed) return vit_fail_memory(error, "a path", path.length);
    if (vit_place_look(s->path, NULL) != VIT_PLACE_NOTHING)
        return vit_fail(error, VIT_ERROR_IO, "%s is no regular file, and is not written", s->path);
    return begin_sidecar(s, picture, error);
}

/* The answers that are written: none if the model abstains; of a model of several classes those of
 * a half and more; else the likeliest. */
static vit_xmp_answers answers_of(vit_tagger *t, const vit_answered *a) {
    vit_xmp_answers answers = {.model = t->name, .answers = t->answers};
    const bool several = vit_model_describe(t->model).scoring == VIT_SCORING_SIGMOID;
    if (!several && vit_answer_abstains(a)) return answers;
    for (size_t i = 0; i < (several ? t->classes : 1); i++) {
        const size_t class = several ? i : a->best[0];
        if (several && !(a->probabilities[class] >= 0.5f)) continue;
        t->answers[answers.count++] = (vit_xmp_answer){t->paths[class], a->probabilities[class]};
    }
    return answers;
}

/* ---- writing ---- */

/* tag, PATH, "1" if it was there, the SHA-256 of what it becomes, what it was in base64. */
static vit_status announce(vit_tagger *t, size_t *number, const sidecar *s, const vit_string *text,
                           vit_error *error) {
    char digest[65];
    vit_string old = {0};
    char *real = NULL, *folder = vit_path_directory(s->path), *above = NULL;
    if (folder && (above = vit_path_real(folder)))
        real = vit_path_join(above, vit_path_last(s->path));
    vit_sha256_of(digest, text->text, text->length);
    vit_string_add(&old, "%s", "");
    if (s->is_there) vit_string_add_base64(&old, s->old.data, s->old.size);
    const char *const fields[] = {"tag", real, s->is_there ? "1" : "0", digest, old.text};
    vit_status status = VIT_ERROR_MEMORY;
    if (!real || old.failed)
        vit_fail_memory(error, "a journal", old.length);
    else
        status = vit_journal_add(&t->journal, number, fields, VIT_COUNT(fields), error);
    vit_string_free(&old);
    vit_free(folder);
    vit_free(above);
    vit_free(real);
    return status;
}

static vit_status check_unchanged(const sidecar *s, vit_error *error) {
    vit_stamp now;
    bool same = !s->is_there && vit_place_look(s->path, NULL) == VIT_PLACE_NOTHING;
    if (s->is_there && vit_stamp_of(&now, s->path, NULL) == VIT_OK)
        same = now.size == s->stamp.size && now.seconds == s->stamp.seconds &&
               now.nanoseconds == s->stamp.nanoseconds;
    if (same) return VIT_OK;
    return vit_fail(error, VIT_ERROR_IO,
                    "%s: another program has just written it, and it is left as that wrote it",
                    s->path);
}

/* A new one never replaces a file that somebody has made meanwhile. */
static vit_status write_text(const sidecar *s, const vit_string *text, vit_error *error) {
    vit_writer *writer;
    bool taken = false;
    if (s->is_there) return vit_write_file(s->path, text->text, text->length, error);
    vit_status status = vit_writer_open(&writer, s->path, error);
    if (status != VIT_OK) return status;
    status = vit_writer_put(writer, text->text, text->length, error);
    if (status == VIT_OK) {
        status = vit_writer_commit_new(writer, NULL, &taken, error);
        return status == VIT_OK && taken ? check_unchanged(s, error) : status;
    }
    vit_writer_abort(writer);
    return status;
}

static vit_status write_sidecar(vit_tagger *t, bool *stop, const sidecar *s, const vit_string *text,
                                vit_error *error) {
    size_t number;
    vit_error second;
    vit_status status = announce(t, &number, s, text, error);
    *stop = status != VIT_OK;
    if (status != VIT_OK) return status;
    status = check_unchanged(s, error);
    if (status == VIT_OK) status = write_text(s, text, error);
    const vit_entry_state state = status == VIT_OK ? VIT_ENTRY_DONE : VIT_ENTRY_FAILED;
    if (vit_journal_end(&t->journal, number, state, &second) == VIT_OK || status != VIT_OK)
        return status;
    *stop = true;
    return vit_fail(error, second.status, "%s", second.message);
}

vit_status vit_tagger_put(vit_tagger *t, const char **to, bool *stop, const vit_answered *a,
                          vit_error *error) {
    const vit_xmp_answers answers = answers_of(t, a);
    sidecar s;
    vit_string text = {0};
    *to = NULL;
    *stop = false;
    vit_status status = find_sidecar(&s, a->name, error);
    if (status == VIT_OK)
        status = vit_xmp_edit(&text, (const char *)s.old.data, s.old.size, s.path, &answers, error);
    const bool same = status == VIT_OK && text.length == s.old.size &&
                      memcmp(text.text, s.old.data, s.old.size) == 0;
    /* Where the model abstains, nothing is written but what takes an earlier answer away. */
    const bool is_needed =
        status == VIT_OK && !same &&
        (answers.count > 0 || (s.is_there && strstr((const char *)s.old.data, VIT_XMP_OURS)));
    if (is_needed && !t->dry_run) status = write_sidecar(t, stop, &s, &text, error);
    if (is_needed && status == VIT_OK) {
        vit_free(t->last);
        *to = t->last = s.path;
        s.path = NULL;
    }
    t->written += is_needed && status == VIT_OK;
    t->unchanged += status == VIT_OK && !is_needed;
    vit_string_free(&text);
    vit_free(s.old.data);
    vit_free(s.path);
    return status;
}

/* ---- undoing ---- */

static vit_status undo_tag(const vit_journal_entry *entry, bool dry_run, vit_error *error) {
    const char *path = entry->fields[1];
    const bool was_there = strcmp(entry->fields[2], "1") == 0;
    char digest[65];
    vit_bytes now = {0}, old = {0};
    if (vit_place_look(path, NULL) == VIT_PLACE_NOTHING && !was_there) return VIT_OK;
    vit_status status = vit_read_regular(&now, path, VIT_XMP_LIMIT, error);
    if (status == VIT_OK)
        status = vit_read_base64(&old, path, entry->fields[4], strlen(entry->fields[4]), error);
    if (status == VIT_OK) vit_sha256_of(digest, now.data, now.size);
    const bool is_old = status == VIT_OK && was_there && now.size == old.size &&
                        memcmp(now.data, old.data, old.size) == 0;
    if (status == VIT_OK && !is_old && strcmp(digest, entry->fields[3]) != 0)
        status = vit_fail(error, VIT_ERROR_MISMATCH,
                          "%s: was changed since its tags were written, and stays", path);
    if (status == VIT_OK && !is_old && !dry_run)
        status = was_there ? vit_write_file(path, old.data, old.size, error)
                           : vit_remove_file(path, error);
    vit_free(now.data);
    vit_free(old.data);
    return status;
}

static vit_status undo_all(vit_journal *j, bool dry_run, const vit_command *command,
                           uint64_t *undone, uint64_t *stay, vit_error *error) {
    vit_status status = VIT_OK;
    for (size_t i = j->count; i-- > 1 && status == VIT_OK && !vit_interrupted();) {
        const vit_journal_entry *entry = &j->entries[i];
        vit_error problem;
        if (strcmp(entry->fields[0], "tag") != 0 || entry->count != 5) continue;
        if (entry->state == VIT_ENTRY_UNDONE || entry->state == VIT_ENTRY_FAILED) continue;
        if (undo_tag(entry, dry_run, &problem) != VIT_OK) {
            vit_say(command, "%s", problem.message);
            ++*stay;
            continue;
        }
        ++*undone;
        if (!dry_run) status = vit_journal_end(j, i, VIT_ENTRY_UNDONE, error);
    }
    return status;
}

int vit_tags_undo(const vit_command *command, const char *path, bool dry_run) {
    vit_journal journal;
    vit_error error;
    uint64_t undone = 0, stay = 0;
    char a[32], b[32];
    vit_interrupt_catch();
    vit_status status = vit_journal_open(&journal, path, "tags", true, &error);
    if (status == VIT_OK) status = undo_all(&journal, dry_run, command, &undone, &stay, &error);
    if (status == VIT_OK && stay == 0 && !dry_run && !vit_interrupted())
        vit_remove_file(path, NULL);
    vit_journal_close(&journal);
    if (status != VIT_OK) vit_say(command, "%s", error.message);
    vit_say(command, "%s %s sidecars; %s stay as they are", dry_run ? "would undo" : "undone for",
            vit_format_count(a, undone), vit_format_count(b, stay));
    if (vit_interrupted()) return 128 + vit_interrupted();
    return status == VIT_OK && stay == 0 ? VIT_EXIT_OK : VIT_EXIT_FAILED;
}
