#include "vit/cli/photos/group.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "vit/base/size.h"
#include "vit/cli/classify/photos.h"

enum { FIELDS = 6, BEFORE = 1 }; /* of a file in an entry; before the first file */

/* ---- in a journal ---- */

vit_status vit_group_add(vit_group *g, const char *from, vit_place_how how, vit_error *error) {
    if (g->count == VIT_GROUP_MOST)
        return vit_fail(error, VIT_ERROR_UNSUPPORTED, "%s has too many sidecars", from);
    vit_placed *file = &g->files[g->count];
    *file = (vit_placed){.how = how, .from = vit_strdup(from)};
    g->count++;
    return file->from ? vit_stamp_of(&file->stamp, from, error)
                      : vit_fail_memory(error, "a path", strlen(from));
}

void vit_group_free(vit_group *g) {
    for (size_t i = 0; i < g->count; i++) {
        vit_free(g->files[i].from);
        vit_free(g->files[i].to);
    }
    *g = (vit_group){0};
}

static bool parse_file(vit_placed *file, char *const *fields) {
    uint64_t size, seconds, nanoseconds;
    size_t how = 0;
    while (how < VIT_PLACE_COUNT && strcmp(fields[0], vit_place_words[how]) != 0) how++;
    if (how == VIT_PLACE_COUNT || fields[1][0] == 0 || fields[2][0] == 0) return false;
    const bool is_early = fields[4][0] == '-';
    if (!vit_parse_u64(fields[3], &size) || !vit_parse_u64(fields[4] + is_early, &seconds) ||
        !vit_parse_u64(fields[5], &nanoseconds))
        return false;
    file->how = (vit_place_how)how;
    file->stamp = (vit_stamp){.seconds = is_early ? -(int64_t)seconds : (int64_t)seconds,
                              .nanoseconds = (int64_t)nanoseconds,
                              .size = size};
    file->from = vit_strdup(fields[1]);
    file->to = vit_strdup(fields[2]);
    return true;
}

vit_status vit_group_of_entry(vit_group *out, bool *found, const vit_journal_entry *entry,
                              vit_error *error) {
    *out = (vit_group){0};
    *found = strcmp(entry->fields[0], "put") == 0;
    if (!*found) return VIT_OK;
    const size_t count = (entry->count - BEFORE) / FIELDS;
    bool fine = entry->count == BEFORE + count * FIELDS && count > 0 && count <= VIT_GROUP_MOST;
    for (size_t i = 0; i < count && fine; i++) {
        fine = parse_file(&out->files[i], entry->fields + BEFORE + i * FIELDS);
        out->count = i + 1;
        if (fine && (!out->files[i].from || !out->files[i].to)) {
            vit_group_free(out);
            return vit_fail_memory(error, "a path", 256);
        }
    }
    if (fine) return VIT_OK;
    vit_group_free(out);
    return vit_fail(error, VIT_ERROR_FORMAT, "an entry of the journal is not one of a picture");
}

static vit_status announce(size_t *number, const vit_group *g, vit_journal *j, vit_error *error) {
    const char *fields[BEFORE + VIT_GROUP_MOST * FIELDS] = {"put"};
    char numbers[VIT_GROUP_MOST][3][32];
    for (size_t i = 0; i < g->count; i++) {
        const vit_placed *f = &g->files[i];
        snprintf(numbers[i][0], 32, "%" PRIu64, f->stamp.size);
        snprintf(numbers[i][1], 32, "%" PRId64, f->stamp.seconds);
        snprintf(numbers[i][2], 32, "%" PRId64, f->stamp.nanoseconds);
        const char *const row[FIELDS] = {vit_place_words[f->how], f->from,       f->to,
                                         numbers[i][0],           numbers[i][1], numbers[i][2]};
        memcpy(fields + BEFORE + i * FIELDS, row, sizeof row);
    }
    return vit_journal_add(j, number, fields, BEFORE + g->count * FIELDS, error);
}

/* ---- one file ---- */

static vit_status refuse(const vit_placed *f, const char *why, vit_error *error) {
    return vit_fail(error, VIT_ERROR_MISMATCH, "%s (from %s): %s", f->to, f->from, why);
}

static vit_status place(const vit_placed *f, vit_error *error) {
    bool taken, full;
    const vit_status status = vit_place_file(&taken, &full, f->to, f->from, f->how, error);
    return status == VIT_OK && taken ? refuse(f, "another file has the name by now", error)
                                     : status;
}

/* File systems of cards keep times in steps of up to two seconds. */
static bool is_unchanged(const vit_placed *f, const char *path) {
    vit_stamp now;
    if (vit_stamp_of(&now, path, NULL) != VIT_OK || now.size != f->stamp.size) return false;
    const int64_t later = now.seconds - f->stamp.seconds;
    return later >= -2 && later <= 2;
}

/* What is at both ends. */
typedef struct ends {
    vit_place_kind from, to;
    uint64_t size; /* of a file at `to` */
} ends;

static ends look(const vit_placed *f) {
    ends e = {.from = vit_place_look(f->from, NULL)};
    e.to = vit_place_look(f->to, &e.size);
    return e;
}

/* A name that was made and not yet given to the file (vit_rename_new). */
static bool is_reserved(const vit_placed *f, const ends *e) {
    return e->to == VIT_PLACE_FILE && e->size == 0 && f->stamp.size > 0;
}

static vit_status finish_both(const vit_placed *f, const ends *e, vit_error *error) {
    bool same = false;
    if (is_reserved(f, e)) {
        const vit_status status = vit_remove_file(f->to, error);
        return status == VIT_OK ? place(f, error) : status;
    }
    vit_status status = vit_place_same(&same, f->to, f->from, error);
    if (status != VIT_OK) return status;
    if (!same) return refuse(f, "both are there, and differ: both stay as they are", error);
    if (f->how == VIT_PLACE_COPY) return VIT_OK;
    status = vit_remove_file(f->from, error);
    return status == VIT_OK ? vit_sync_place(f->from, error) : status;
}

static vit_status finish_file(const vit_placed *f, vit_error *error) {
    const ends e = look(f);
    if (f->how == VIT_PLACE_LINK && vit_place_links_to(f->to, f->from)) return VIT_OK;
    if (e.to == VIT_PLACE_NOTHING && e.from == VIT_PLACE_FILE) return place(f, error);
    if (e.to == VIT_PLACE_NOTHING) return refuse(f, "neither of the two is there", error);
    if (f->how == VIT_PLACE_LINK || e.to != VIT_PLACE_FILE)
        return refuse(f, "something else has the name by now", error);
    if (e.from == VIT_PLACE_NOTHING) return VIT_OK;
    return finish_both(f, &e, error);
}

/* ---- undoing ---- */

static vit_status undo_link(const vit_placed *f, bool dry_run, vit_error *error) {
    const vit_place_kind there = vit_place_look(f->to, NULL);
    if (there == VIT_PLACE_NOTHING) return VIT_OK;
    if (!vit_place_links_to(f->to, f->from))
        return refuse(f, "it is no longer the link that was made, and stays", error);
    return dry_run ? VIT_OK : vit_remove_file(f->to, error);
}

static vit_status undo_copy(const vit_placed *f, bool dry_run, vit_error *error) {
    const ends e = look(f);
    bool same = false;
    if (e.to == VIT_PLACE_NOTHING) return VIT_OK;
    if (e.from != VIT_PLACE_FILE)
        return refuse(f, "what it was copied from is gone, so that the copy stays", error);
    if (e.to != VIT_PLACE_FILE) return refuse(f, "it is no longer the copy, and stays", error);
    const bool reserved = is_reserved(f, &e);
    const vit_status status = reserved ? VIT_OK : vit_place_same(&same, f->to, f->from, error);
    if (status != VIT_OK) return status;
    if (!same && !reserved)
        return refuse(f, "the copy and what it was copied from differ: both stay", error);
    return dry_run ? VIT_OK : vit_remove_file(f->to, error);
}

/* Puts the file back; a folder that is gone is made again. */
static vit_status move_back(const vit_placed *f, vit_error *error) {
    bool taken, full;
    char *folder = vit_path_directory(f->from);
    vit_status status =
        folder ? vit_make_directories(folder, error) : vit_fail_memory(error, "a path", 256);
    vit_free(folder);
    if (status == VIT_OK)
        status = vit_place_file(&taken, &full, f->from, f->to, VIT_PLACE_MOVE, error);
    return status == VIT_OK && taken ? refuse(f, "another file is where it came from", error)
                                     : status;
}

static vit_status undo_move(const vit_placed *f, bool dry_run, vit_error *error) {
    const ends e = look(f);
    bool same = false;
    if (e.to == VIT_PLACE_NOTHING && e.from == VIT_PLACE_FILE) return VIT_OK;
    if (e.to == VIT_PLACE_NOTHING) return refuse(f, "neither of the two is there", error);
    if (e.to != VIT_PLACE_FILE) return refuse(f, "it is no longer a file, and stays", error);
    if (e.from == VIT_PLACE_NOTHING) {
        if (!is_unchanged(f, f->to))
            return refuse(f, "it was changed since it was moved, and stays", error);
        return dry_run ? VIT_OK : move_back(f, error);
    }
    if (e.from == VIT_PLACE_FILE && !is_reserved(f, &e) &&
        vit_place_same(&same, f->to, f->from, error) != VIT_OK)
        return error ? error->status : VIT_ERROR_IO;
    if (!same && !is_reserved(f, &e))
        return refuse(f, "another file is where it came from: both stay", error);
    return dry_run ? VIT_OK : vit_remove_file(f->to, error); /* killed in the midst of a move */
}

static vit_status undo_file(const vit_placed *f, bool dry_run, vit_error *error) {
    switch (f->how) {
    case VIT_PLACE_LINK:
        return undo_link(f, dry_run, error);
    case VIT_PLACE_COPY:
        return undo_copy(f, dry_run, error);
    case VIT_PLACE_MOVE:
        return undo_move(f, dry_run, error);
    case VIT_PLACE_COUNT:
        break;
    }
    return VIT_OK;
}

vit_status vit_group_undo(const vit_group *g, bool dry_run, vit_error *error) {
    vit_status status = VIT_OK;
    vit_error one;
    for (size_t i = g->count; i-- > 0;)
        if (undo_file(&g->files[i], dry_run, &one) != VIT_OK && status == VIT_OK)
            status = vit_fail(error, one.status, "%s", one.message);
    return status;
}

/* ---- all of a group ---- */

vit_status vit_group_finish(const vit_group *g, vit_error *error) {
    vit_status status = VIT_OK;
    for (size_t i = 0; i < g->count && status == VIT_OK; i++)
        status = finish_file(&g->files[i], error);
    return status;
}

static bool is_taken(const vit_group *g) {
    bool taken = false;
    for (size_t i = 0; i < g->count; i++)
        taken = taken || vit_place_look(g->files[i].to, NULL) != VIT_PLACE_NOTHING;
    return taken;
}

vit_status vit_group_place(bool *taken, bool *full, const vit_group *g, vit_journal *j,
                           vit_error *error) {
    size_t number, done = 0;
    *full = false;
    *taken = is_taken(g);
    if (*taken) return VIT_OK;
    vit_status status = announce(&number, g, j, error);
    if (status != VIT_OK) return status;
    while (done < g->count && status == VIT_OK && !*taken) {
        const vit_placed *f = &g->files[done];
        status = vit_place_file(taken, full, f->to, f->from, f->how, error);
        if (status == VIT_OK && !*taken) done++;
    }
    if (done == g->count) return vit_journal_end(j, number, VIT_ENTRY_DONE, error);
    const vit_group part = {.count = done}; /* what was done of it goes back */
    vit_group back = part;
    memcpy(back.files, g->files, sizeof back.files);
    vit_error second;
    if (vit_group_undo(&back, false, &second) != VIT_OK)
        return vit_fail(error, VIT_ERROR_IO, "%s; and could not be taken back", second.message);
    const vit_status written = vit_journal_end(j, number, VIT_ENTRY_FAILED, &second);
    if (status == VIT_OK && written != VIT_OK)
        status = vit_fail(error, written, "%s", second.message);
    return status;
}
