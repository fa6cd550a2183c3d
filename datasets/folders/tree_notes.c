/* What is said of folders and tables that were read. */
#include "datasets/folders/tree.h"
#include "datasets/reader.h"
#include "datasets/unread.h"
#include "vit/base/size.h"
#include "vit/base/sys.h"
#include <string.h>

/* Whether a class of a table is called as where there is none. */
static bool is_none(const char *name) {
    static const char *const words[] = {"none",       "null",        "na",       "nil",
                                        "no finding", "no findings", "no label", "no class",
                                        "unlabeled",  "unlabelled",  "unknown",  "undefined",
                                        "missing",    "?",           "-1"};
    for (size_t i = 0; i < VIT_COUNT(words); i++)
        if (vit_tree_compare_loosely(name, words[i]) == 0) return true;
    return false;
}

static vit_status note_none(vit_dataset *out, const vit_tree *tree, bool several,
                            vit_error *error) {
    size_t i = 0;
    while (i < tree->class_count && !is_none(tree->classes[i])) i++;
    if (i == tree->class_count || (tree->class_count == 2 && strcmp(tree->classes[i], "-1") == 0))
        return VIT_OK; /* -1 and 1 are no and yes */
    return vit_dataset_note(
        out, error, "\"%s\" is learnt as a class, as any other; if it says that there is none, %s",
        tree->classes[i],
        several ? "leave it out: the cell of a picture of no class is empty"
                : "leave its lines out of the table");
}

vit_status vit_tree_note_source(vit_dataset *out, vit_tree *tree, bool several, vit_error *error) {
    if (tree->shards) return VIT_OK;
    out->class_source = tree->source ? tree->source : vit_strdup("folders");
    const bool is_table = tree->source;
    tree->source = NULL;
    if (!out->class_source) return vit_fail_memory(error, "a note", 64);
    if (is_table) {
        vit_status status = vit_dataset_note(out, error, "classes: %s", out->class_source);
        if (status == VIT_OK && tree->parts)
            status = vit_dataset_note(out, error, "parts: %s", tree->parts);
        if (status == VIT_OK && tree->naming)
            status = vit_dataset_note(out, error, "%s: the numbers are the classes", tree->naming);
        if (status == VIT_OK) status = note_none(out, tree, several, error);
        if (status == VIT_OK && tree->repeated > 0)
            status = vit_dataset_note(out, error,
                                      "%zu line%s of the table name%s a picture again, of the same "
                                      "class: each picture counts once",
                                      tree->repeated, tree->repeated == 1 ? "" : "s",
                                      tree->repeated == 1 ? "s" : "");
        return status;
    }
    if (!tree->is_named || !tree->no_table) return VIT_OK;
    return vit_dataset_note(out, error, "classes: folders (%s)", tree->no_table);
}

/* Notes a file beside the folders that may say other classes, and is not read. */
static vit_status note_unread(vit_dataset *out, const char *path, vit_error *error) {
    const vit_unread unread = vit_unread_find(path, 0);
    const vit_status status =
        unread.path ? vit_dataset_note(out, error, "classes: folders; if %s names them, %s",
                                       unread.path, unread.advice)
                    : VIT_OK;
    vit_free(unread.path);
    return status;
}

vit_status vit_tree_note_layout(vit_dataset *out, const vit_tree *tree, const char *path,
                                vit_error *error) {
    vit_status status = VIT_OK;
    const bool is_part =
        tree->stray && vit_tree_kind_of(vit_path_last(tree->stray)) != VIT_TREE_KINDS;
    if (tree->strays == 1)
        status = vit_dataset_note(out, error, "left out: %s: %s", tree->stray,
                                  is_part ? "holds no folders of classes, so it is no part"
                                          : "lies beside the classes");
    if (tree->strays > 1)
        status = vit_dataset_note(out, error,
                                  "left out: %s and %zu more files or folders that lie beside the "
                                  "classes",
                                  tree->stray, tree->strays - 1);
    if (status == VIT_OK && tree->strays > 0) status = note_unread(out, path, error);
    const char *end = out->shard_files ? "-*.tar" : "/";
    if (status == VIT_OK && tree->test_is_val && out->test.count > 0)
        status = vit_dataset_note(out, error, "%s has no test%s: val%s is the test, too", path, end,
                                  end);
    if (status == VIT_OK && tree->is_shared_out && out->test.count > 0 && !out->test_is)
        status = vit_dataset_note(out, error,
                                  "%s has neither test%s nor val%s: a sixth of each class, chosen "
                                  "by the files' names, %zu pictures, is the test part",
                                  path, end, end, out->test.count);
    if (status == VIT_OK && tree->are_numbers && out->has_characters)
        status = vit_dataset_note(out, error,
                                  "%s: the classes have no names, and may be digits or letters: "
                                  "pictures are not mirrored; classes.txt may name them",
                                  path);
    return status;
}
