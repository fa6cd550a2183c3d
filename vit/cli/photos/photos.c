#include "vit/cli/classify/photos.h"

#include <string.h>

#include "vit/base/size.h"
#include "vit/base/sys.h"
#include "vit/cli/photos/journal.h"
#include "vit/cli/photos/sort.h"
#include "vit/cli/photos/write_tags.h"

struct vit_photos {
    vit_sorter *sorter; /* one of the two */
    vit_tagger *tagger;
    bool stopped;
};

static bool is_asked(const vit_photo_choice *c) {
    return c->sort_into || c->write_tags;
}

static const char *contradiction(const vit_photo_choice *c, bool pictures, bool classes) {
    if (c->undo && pictures) return "--undo is alone, or with --dry-run";
    if (c->undo) return NULL;
    if (c->sort_into && c->write_tags)
        return "--sort-into and --write-tags are two runs: tags first, they go along";
    if (c->sort_into && !c->by.given) return "--sort-into needs --by link, --by copy or --by move";
    if (c->by.given && !c->sort_into) return "--by is for --sort-into DIR, which is missing";
    if (c->under && !c->write_tags) return "--under BRANCH is for --write-tags";
    if (c->journal && !c->write_tags)
        return "--journal is for --write-tags: that of --sort-into is in DIR";
    if (c->dry_run && !is_asked(c)) return "--dry-run is for --sort-into, --write-tags and --undo";
    return is_asked(c) && !classes ? "--sort-into and --write-tags need answers: leave --list, "
                                     "--embed, --out and --shard out"
                                   : NULL;
}

/* ---- undoing ---- */

static int undo(const vit_command *command, const vit_photo_choice *choice) {
    const bool is_folder = vit_path_look(choice->undo) == VIT_PATH_DIRECTORY;
    char kind[16], *path = is_folder ? vit_path_join(choice->undo, VIT_SORT_JOURNAL)
                                     : vit_strdup(choice->undo);
    int exit_status = VIT_EXIT_FAILED;
    if (!path) {
        vit_say(command, "out of memory");
        return exit_status;
    }
    vit_journal_kind(kind, path);
    if (strcmp(kind, "tags") == 0)
        exit_status = vit_tags_undo(command, path, choice->dry_run);
    else
        exit_status = vit_sort_undo(command, path, choice->dry_run);
    vit_free(path);
    return exit_status;
}

/* ---- doing ---- */

static vit_status open_photos(vit_photos **out, const vit_command *command,
                              const vit_photo_choice *c, const char *name, const vit_model *model,
                              vit_error *error) {
    *out = NULL;
    if (!is_asked(c)) return VIT_OK;
    vit_photos *p = *out = vit_alloc(1, sizeof *p);
    if (!p) return vit_fail_memory(error, "a list", sizeof *p);
    if (c->sort_into)
        return vit_sorter_open(&p->sorter, command, c->sort_into, (vit_place_how)c->by.value, model,
                               c->dry_run, error);
    return vit_tagger_open(&p->tagger, command, c->journal, c->under, name, model, c->dry_run,
                           error);
}

static void close_photos(vit_photos *p) {
    vit_sorter_close(p->sorter);
    vit_tagger_close(p->tagger);
    vit_free(p);
}

static vit_status put(vit_photos *p, vit_answered *a, vit_error *error) {
    if (strcmp(a->name, "-") == 0)
        return vit_fail(error, VIT_ERROR_ARGUMENT,
                        "-: a picture of standard input is in no folder and has no sidecar");
    if (p->tagger) return vit_tagger_put(p->tagger, &a->to, &p->stopped, a, error);
    return vit_sorter_put(p->sorter, &a->to, &p->stopped, a->name,
                          vit_answer_abstains(a) ? VIT_SORT_ABSTAINS : a->best[0], error);
}

static bool stopped(const vit_photos *p) {
    return p->stopped;
}

const vit_photo_guest vit_sorting_and_tags = {contradiction, undo, open_photos,
                                              close_photos,  put,  stopped};
