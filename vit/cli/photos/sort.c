#include "vit/cli/photos/sort.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "vit/base/name_map.h"
#include "vit/base/size.h"
#include "vit/cli/parts/interrupt.h"
#include "vit/cli/photos/group.h"
#include "vit/photos/sidecars.h"

struct vit_sorter {
    const vit_command *command;
    const char *given; /* the folder, as the caller names it */
    char *into;        /* its absolute path */
    char **folders;    /* [classes + 1]; the last is that of what the model abstains from */
    size_t folder_count;
    vit_place_how how;
    bool dry_run, has_journal;
    vit_journal journal;
    vit_name_map sources; /* of pictures that are placed, by their absolute paths: remember_place */
    vit_name_map claimed; /* in a dry run: names that are given away */
    char *last;           /* vit_sorter_put's *to */
    uint64_t placed, abstained, before, inside; /* pictures */
};

/* ---- folders of classes ---- */

/* A label as the name of a folder, on any file system: without separators, signs that other systems
 * refuse, or dots in front. */
static char *folder_of(const char *label) {
    enum { LONGEST = 200 };
    size_t length = strlen(label);
    if (length > LONGEST) {
        length = LONGEST;
        while (length > 0 && ((unsigned char)label[length] & 0xc0) == 0x80) length--;
    }
    char *name = vit_alloc(length + 2, 1);
    if (!name) return NULL;
    memcpy(name, label, length);
    for (size_t i = 0; i < length; i++) {
        const unsigned char c = (unsigned char)name[i];
        if (c < 0x20 || c == 0x7f || strchr("/\\<>:\"|?*", c)) name[i] = '_';
    }
    if (length == 0 || name[0] == '.') name[0] = '_';
    for (size_t i = length; i-- > 0 && (name[i] == ' ' || name[i] == '.');) name[i] = '_';
    return name;
}

static vit_status name_folders(vit_sorter *s, const vit_model *model, vit_error *error) {
    const size_t classes = vit_model_describe(model).classes;
    vit_name_map seen = {0};
    vit_status status = VIT_OK;
    s->folders = vit_alloc(classes + 1, sizeof *s->folders);
    if (!s->folders) return vit_fail_memory(error, "folders", classes * sizeof *s->folders);
    for (size_t i = 0; i <= classes && status == VIT_OK; i++) {
        const char *label = i < classes ? vit_model_label(model, i) : VIT_SORT_ABSTAINED, *other;
        s->folders[i] = folder_of(label);
        s->folder_count = i + 1;
        if (!s->folders[i]) {
            status = vit_fail_memory(error, "folders", 256);
        } else if ((other = vit_name_map_get(&seen, s->folders[i]))) {
            status = vit_fail(error, VIT_ERROR_ARGUMENT,
                              "the classes \"%s\" and \"%s\"%s would share the folder %s: --labels "
                              "FILE gives them other names",
                              other, label, i < classes ? "" : " (pictures without an answer)",
                              s->folders[i]);
        } else {
            status = vit_name_map_put(&seen, s->folders[i], label, error);
        }
    }
    vit_name_map_free(&seen);
    return status;
}

/* ---- the journal ---- */

/* "SIZE SECONDS NANOSECONDS PATH": what the picture was, and where it is now. */
static vit_status remember_place(vit_sorter *s, const vit_placed *f, vit_error *error) {
    vit_string text = {0};
    vit_string_add(&text, "%" PRIu64 " %" PRId64 " %" PRId64 " %s", f->stamp.size, f->stamp.seconds,
                   f->stamp.nanoseconds, f->to);
    const vit_status status = text.failed
                                  ? vit_fail_memory(error, "a path", text.length)
                                  : vit_name_map_put(&s->sources, f->from, text.text, error);
    vit_string_free(&text);
    return status;
}

/* Where the picture at `real` was brought; NULL: nowhere, or what is there now is another picture,
 * as of a camera that begins its numbers again, or one that was changed. */
static const char *find_place(const vit_sorter *s, const char *real) {
    const char *text = vit_name_map_get(&s->sources, real), *to = text;
    char now[128];
    vit_stamp stamp = {0};
    for (int i = 0; i < 3 && to; i++) to = strchr(to, ' ') + 1;
    if (!to || vit_place_look(to, NULL) == VIT_PLACE_NOTHING) return NULL;
    if (s->how == VIT_PLACE_LINK || vit_place_look(real, NULL) == VIT_PLACE_NOTHING) return to;
    if (s->how == VIT_PLACE_MOVE || vit_stamp_of(&stamp, real, NULL) != VIT_OK) return NULL;
    snprintf(now, sizeof now, "%" PRIu64 " %" PRId64 " %" PRId64 " ", stamp.size, stamp.seconds,
             stamp.nanoseconds);
    return strncmp(text, now, strlen(now)) == 0 ? to : NULL;
}

/* What an earlier run announced is brought to its end; where every picture is, is remembered. */
static vit_status take_over(vit_sorter *s, size_t number, vit_error *error) {
    vit_journal_entry *entry = &s->journal.entries[number];
    vit_group group;
    bool found;
    vit_error problem;
    vit_status status = vit_group_of_entry(&group, &found, entry, error);
    if (status != VIT_OK || !found) return status;
    if (entry->state == VIT_ENTRY_PENDING && !s->dry_run) {
        const bool finished = vit_group_finish(&group, &problem) == VIT_OK;
        vit_say(s->command, "%s %s, which a run that was stopped had begun%s%s",
                finished ? "finished" : "could not finish", group.files[0].to, finished ? "" : ": ",
                finished ? "" : problem.message);
        status = vit_journal_end(&s->journal, number, finished ? VIT_ENTRY_DONE : VIT_ENTRY_FAILED,
                                 error);
    }
    if (status == VIT_OK && s->journal.entries[number].state == VIT_ENTRY_DONE)
        status = remember_place(s, &group.files[0], error);
    vit_group_free(&group);
    return status;
}

static vit_status open_journal(vit_sorter *s, vit_error *error) {
    char *path = vit_path_join(s->into, VIT_SORT_JOURNAL);
    if (!path) return vit_fail_memory(error, "a path", strlen(s->into));
    vit_status status = VIT_OK;
    s->has_journal = !s->dry_run || vit_place_look(path, NULL) != VIT_PLACE_NOTHING;
    if (s->has_journal) status = vit_journal_open(&s->journal, path, "sort", s->dry_run, error);
    vit_free(path);
    for (size_t i = 0; status == VIT_OK && i < s->journal.count; i++)
        status = take_over(s, i, error);
    return status;
}

static vit_status announce_folder(vit_sorter *s, const char *path, vit_error *error) {
    const char *const fields[] = {"mkdir", path};
    return vit_journal_add(&s->journal, NULL, fields, 2, error);
}

/* ---- opening and closing ---- */

static bool lies_in(const char *path, const char *folder) {
    const size_t length = folder ? strlen(folder) : 0;
    return folder && strncmp(path, folder, length) == 0 && path[length] == '/' && path[length + 1];
}

/* *real: the innermost folder on the way to a path that is there. */
static vit_status find_existing(char **real, const char *path, vit_error *error) {
    char *at = vit_strdup(path);
    while (at && vit_path_look(at) == VIT_PATH_NONE) {
        for (size_t length = strlen(at); length > 1 && at[length - 1] == '/';) at[--length] = 0;
        char *above = vit_path_directory(at);
        vit_free(at);
        at = above;
    }
    *real = at ? vit_path_real(at) : NULL;
    vit_free(at);
    return *real ? VIT_OK : vit_fail_memory(error, "a path", strlen(path));
}

/* Announces the folders that were made in one that was there, the outermost first. */
static vit_status announce_folders(vit_sorter *s, const char *path, const char *there,
                                   vit_error *error) {
    if (!lies_in(path, strcmp(there, "/") == 0 ? "" : there)) return VIT_OK;
    char *above = vit_path_directory(path);
    vit_status status = above ? announce_folders(s, above, there, error)
                              : vit_fail_memory(error, "a path", strlen(path));
    vit_free(above);
    return status == VIT_OK ? announce_folder(s, path, error) : status;
}

static vit_status open_folder(vit_sorter *s, vit_error *error) {
    const vit_place_kind there = vit_place_look(s->given, NULL);
    const bool is_there = vit_path_look(s->given) == VIT_PATH_DIRECTORY;
    if (there != VIT_PLACE_NOTHING && !is_there)
        return vit_fail(error, VIT_ERROR_IO, "%s is no folder, expected one to sort into",
                        s->given);
    if (!is_there && s->dry_run) return VIT_OK;
    char *outer;
    vit_status status = find_existing(&outer, s->given, error);
    if (status == VIT_OK && !is_there) status = vit_make_directories(s->given, error);
    if (status == VIT_OK && !(s->into = vit_path_real(s->given)))
        status = vit_fail_memory(error, "a path", strlen(s->given));
    if (status == VIT_OK) status = open_journal(s, error);
    if (status == VIT_OK) status = announce_folders(s, s->into, outer, error);
    vit_free(outer);
    return status;
}

vit_status vit_sorter_open(vit_sorter **out, const vit_command *command, const char *into,
                           vit_place_how how, const vit_model *model, bool dry_run,
                           vit_error *error) {
    vit_sorter *s = *out = vit_alloc(1, sizeof *s);
    if (!s) return vit_fail_memory(error, "a list", sizeof *s);
    *s = (vit_sorter){.command = command, .given = into, .how = how, .dry_run = dry_run};
    s->journal.file = -1;
    const vit_scoring scoring = vit_model_describe(model).scoring;
    if (scoring != VIT_SCORING_SOFTMAX)
        return vit_fail(error, VIT_ERROR_ARGUMENT,
                        "--sort-into needs a model that gives a picture one class: this one %s",
                        scoring == VIT_SCORING_NONE ? "gives a number"
                                                    : "gives it any number of them; --write-tags "
                                                      "writes these");
    const vit_status status = name_folders(s, model, error);
    return status == VIT_OK ? open_folder(s, error) : status;
}

static void say_summary(const vit_sorter *s) {
    static const char *const did[][2] = {
        {"linked", "would link"}, {"copied", "would copy"}, {"moved", "would move"}};
    char a[32], b[32];
    vit_say(s->command, "%s %s pictures into folders of %s, %s of them into %s",
            did[s->how][s->dry_run], vit_format_count(a, s->placed), s->given,
            vit_format_count(b, s->abstained), VIT_SORT_ABSTAINED);
    if (s->before > 0)
        vit_say(s->command, "%s pictures are there from an earlier run",
                vit_format_count(a, s->before));
    if (s->inside > 0)
        vit_say(s->command, "%s pictures lie in %s already, and stay where they are",
                vit_format_count(a, s->inside), s->given);
    if (s->placed > 0 && !s->dry_run)
        vit_say(s->command, "all of it is undone by: vit-classify --undo %s", s->given);
}

void vit_sorter_close(vit_sorter *s) {
    if (!s) return;
    if (s->folder_count > 0) say_summary(s);
    for (size_t i = 0; i < s->folder_count; i++) vit_free(s->folders[i]);
    vit_journal_close(&s->journal);
    vit_name_map_free(&s->sources);
    vit_name_map_free(&s->claimed);
    vit_free(s->folders);
    vit_free(s->into);
    vit_free(s->last);
    vit_free(s);
}

/* ---- a picture ---- */

/* *real: the absolute path of a picture; of a link, that of the file. */
static vit_status find_source(char **real, const vit_sorter *s, const char *picture,
                              vit_error *error) {
    const bool is_link = vit_path_is_link(picture);
    char *folder = is_link ? NULL : vit_path_directory(picture);
    char *above = folder ? vit_path_real(folder) : NULL;
    *real = NULL;
    if (is_link && s->how != VIT_PLACE_MOVE) *real = vit_path_real(picture);
    if (above) *real = vit_path_join(strcmp(above, "/") == 0 ? "" : above, vit_path_last(picture));
    vit_free(folder);
    vit_free(above);
    if (is_link && s->how == VIT_PLACE_MOVE)
        return vit_fail(error, VIT_ERROR_ARGUMENT,
                        "%s is a symbolic link, and stays: moved, it might lead nowhere", picture);
    return *real ? VIT_OK : vit_fail(error, VIT_ERROR_IO, "cannot look at %s", picture);
}

/* The picture and its sidecars; of these one that belongs to other files, too, is not moved. */
static vit_status gather(vit_group *g, const vit_sorter *s, const char *real, vit_error *error) {
    vit_sidecars beside;
    vit_status status = vit_group_add(g, real, s->how, error);
    if (status == VIT_OK) status = vit_sidecars_find(&beside, real, error);
    if (status != VIT_OK) return status;
    for (size_t i = 0; i < beside.count && status == VIT_OK; i++) {
        const bool is_shared = beside.is_shared[i] && s->how == VIT_PLACE_MOVE;
        status = vit_group_add(g, beside.paths[i], is_shared ? VIT_PLACE_COPY : s->how, error);
    }
    vit_sidecars_free(&beside);
    return status;
}

/* FOLDER/STEM-N.jpg, and for sidecars FOLDER/STEM-N.jpg.xmp and FOLDER/STEM-N.xmp. N 1 is not
 * written. stem: the length of the picture's name without its ending. */
static vit_status name_group(vit_group *g, const char *folder, const char *name, size_t stem,
                             uint64_t n, vit_error *error) {
    for (size_t i = 0; i < g->count; i++) {
        vit_string path = {0};
        const char *own = i == 0 ? name : vit_path_last(g->files[i].from);
        vit_string_add(&path, "%s/%.*s", folder, (int)stem, name);
        if (n > 1) vit_string_add(&path, "-%llu", (unsigned long long)n);
        vit_string_add(&path, "%s", own + stem);
        vit_free(g->files[i].to);
        g->files[i].to = path.text;
        if (path.failed) return vit_fail_memory(error, "a path", path.length);
    }
    return VIT_OK;
}

static bool is_free(const vit_sorter *s, const vit_group *g) {
    for (size_t i = 0; i < g->count; i++) {
        if (vit_place_look(g->files[i].to, NULL) != VIT_PLACE_NOTHING) return false;
        if (s->dry_run && vit_name_map_get(&s->claimed, g->files[i].to)) return false;
    }
    return true;
}

/* Makes the folder of a class, which is announced first. */
static vit_status make_folder(vit_sorter *s, const char *path, vit_error *error) {
    if (vit_path_look(path) == VIT_PATH_DIRECTORY) return VIT_OK;
    if (vit_place_look(path, NULL) != VIT_PLACE_NOTHING)
        return vit_fail(error, VIT_ERROR_IO, "%s is no folder, expected one to sort into", path);
    const vit_status status = announce_folder(s, path, error);
    return status == VIT_OK ? vit_make_directory(path, error) : status;
}

static vit_status claim(vit_sorter *s, const vit_group *g, vit_error *error) {
    vit_status status = VIT_OK;
    for (size_t i = 0; i < g->count && status == VIT_OK; i++)
        status = vit_name_map_put(&s->claimed, g->files[i].to, "", error);
    return status;
}

/* Under the first free number. */
static vit_status place(vit_sorter *s, vit_group *g, bool *stop, const char *folder,
                        const char *name, vit_error *error) {
    const char *dot = strrchr(name, '.');
    const size_t stem = dot && dot > name ? (size_t)(dot - name) : strlen(name);
    bool taken = true, full = false;
    vit_status status = s->dry_run ? VIT_OK : make_folder(s, folder, error);
    for (uint64_t n = 1; status == VIT_OK && taken; n++) {
        status = name_group(g, folder, name, stem, n, error);
        if (status != VIT_OK || !is_free(s, g)) continue;
        taken = false;
        status =
            s->dry_run ? claim(s, g, error) : vit_group_place(&taken, &full, g, &s->journal, error);
    }
    const bool unwritten = status == VIT_ERROR_IO && strstr(error->message, "the journal");
    *stop = full || unwritten || status == VIT_ERROR_MEMORY;
    return status;
}

/* The path as the caller names the folder. */
static vit_status show(vit_sorter *s, const char **to, const char *path, vit_error *error) {
    const size_t inner = s->into ? strlen(s->into) : 0;
    vit_free(s->last);
    s->last = lies_in(path, s->into) ? vit_path_join(s->given, path + inner + 1) : vit_strdup(path);
    *to = s->last;
    return s->last ? VIT_OK : vit_fail_memory(error, "a path", strlen(path));
}

/* A picture that an earlier run has brought here, or an earlier name of it. */
static vit_status was_placed(vit_sorter *s, const char **to, const char *folder,
                             const char *picture, const char *there, vit_error *error) {
    if (!lies_in(there, folder))
        return vit_fail(error, VIT_ERROR_MISMATCH,
                        "%s: is at %s from an earlier run, and belongs to %s by this answer: vit-"
                        "classify --undo %s first",
                        picture, there, folder, s->given);
    s->before++;
    return show(s, to, there, error);
}

vit_status vit_sorter_put(vit_sorter *s, const char **to, bool *stop, const char *picture,
                          size_t class, vit_error *error) {
    char *real, *folder;
    const bool abstains = class == VIT_SORT_ABSTAINS;
    const char *name = s->folders[abstains ? s->folder_count - 1 : class];
    vit_group group = {0};
    *to = NULL;
    *stop = false;
    vit_status status = find_source(&real, s, picture, error);
    if (status != VIT_OK) return status;
    if (lies_in(real, s->into)) {
        s->inside++;
        vit_free(real);
        return VIT_OK;
    }
    folder = vit_path_join(s->into ? s->into : s->given, name);
    const char *there = find_place(s, real);
    if (!folder) {
        status = vit_fail_memory(error, "a path", strlen(name));
    } else if (there) {
        status = was_placed(s, to, folder, picture, there, error);
    } else {
        status = gather(&group, s, real, error);
        if (status == VIT_OK) status = place(s, &group, stop, folder, vit_path_last(real), error);
        if (status == VIT_OK) status = remember_place(s, &group.files[0], error);
        if (status == VIT_OK) status = show(s, to, group.files[0].to, error);
        s->placed += status == VIT_OK;
        s->abstained += status == VIT_OK && abstains;
    }
    vit_group_free(&group);
    vit_free(folder);
    vit_free(real);
    return status;
}

/* ---- undoing ---- */

typedef struct counts {
    uint64_t undone, stay;
} counts;

static vit_status undo_group(vit_journal *j, size_t number, const vit_group *g, bool dry_run,
                             const vit_command *command, counts *c, vit_error *error) {
    vit_error problem;
    if (vit_group_undo(g, dry_run, &problem) != VIT_OK) {
        vit_say(command, "%s", problem.message);
        c->stay++;
        return VIT_OK;
    }
    c->undone++;
    return dry_run ? VIT_OK : vit_journal_end(j, number, VIT_ENTRY_UNDONE, error);
}

static vit_status undo_entries(vit_journal *j, bool dry_run, const vit_command *command, counts *c,
                               vit_error *error) {
    vit_status status = VIT_OK;
    for (size_t i = j->count; i-- > 1 && status == VIT_OK && !vit_interrupted();) {
        vit_journal_entry *entry = &j->entries[i];
        vit_group group;
        bool found;
        if (entry->state == VIT_ENTRY_UNDONE || entry->state == VIT_ENTRY_FAILED) continue;
        status = vit_group_of_entry(&group, &found, entry, error);
        if (status == VIT_OK && found)
            status = undo_group(j, i, &group, dry_run, command, c, error);
        vit_group_free(&group);
    }
    return status;
}

/* Removes the journal, and the folders that were made if nothing is in them: others stay. */
static void remove_folders(vit_journal *j, const char *path) {
    vit_remove_file(path, NULL);
    for (size_t i = j->count; i-- > 1;)
        if (j->entries[i].count == 2 && strcmp(j->entries[i].fields[0], "mkdir") == 0)
            vit_remove_directory(j->entries[i].fields[1], NULL);
}

int vit_sort_undo(const vit_command *command, const char *path, bool dry_run) {
    vit_journal journal;
    vit_error error;
    counts c = {0};
    char a[32], b[32];
    vit_interrupt_catch();
    vit_status status = vit_journal_open(&journal, path, "sort", true, &error);
    if (status == VIT_OK) status = undo_entries(&journal, dry_run, command, &c, &error);
    if (status == VIT_OK && c.stay == 0 && !dry_run && !vit_interrupted())
        remove_folders(&journal, path);
    vit_journal_close(&journal);
    if (status != VIT_OK) vit_say(command, "%s", error.message);
    vit_say(command, "%s %s pictures; %s stay as they are, for the reasons above",
            dry_run ? "would undo" : "undone for", vit_format_count(a, c.undone),
            vit_format_count(b, c.stay));
    if (vit_interrupted()) return 128 + vit_interrupted();
    return status == VIT_OK && c.stay == 0 ? VIT_EXIT_OK : VIT_EXIT_FAILED;
}
