/* A folder per class of pictures of any formats and sizes, or a table of them. */
#include "datasets/folders/tree.h"
#include "datasets/reader.h"
#include "vit/base/guests.h"
#include "vit/base/sys.h"

#include <string.h>

/* All files below `root` as the test part, of the one class "picture". */
static vit_status scan_unlabelled(vit_tree *out, const char *root, vit_error *error) {
    static const char class[] = "picture";
    const size_t length = strlen(root);
    *out = (vit_tree){.class_count = 1, .classes = vit_alloc(1, sizeof(char *) + sizeof class)};
    if (!out->classes) return vit_fail_memory(error, "classes", sizeof class);
    out->classes[0] = memcpy(out->classes + 1, class, sizeof class);
    const vit_status status =
        vit_tree_walk(&out->test, root, length + (length > 0 && root[length - 1] != '/'), error);
    for (size_t i = 0; i < out->test.count; i++) out->test.files[i].class = out->classes[0];
    if (status != VIT_OK || out->test.count > 0) return status;
    return vit_fail(error, VIT_ERROR_FORMAT, "%s: no picture lies in this folder", root);
}

static vit_status read_folder(vit_dataset *out, const vit_listing *directory,
                              const vit_dataset_options *options, vit_error *error) {
    vit_tree tree;
    const vit_table_options tables = {options->multi_label, options->class_column};
    const unsigned parts = options->need | options->want;
    char guest[VIT_GUEST_TEXT];
    if (options->tag_branch && !vit_picture_tags)
        return vit_fail(error, VIT_ERROR_UNSUPPORTED, "%s: tags are not read%s", directory->path,
                        vit_guests_for(guest, "vit_picture_tags"));
    vit_status status = options->tag_branch ? vit_picture_tags->scan(&tree, directory->path, parts,
                                                                     options->tag_branch, &tables,
                                                                     options->threads, error)
                        : vit_tree_is_unlabelled(options)
                            ? scan_unlabelled(&tree, directory->path, error)
                            : vit_tree_scan(&tree, directory->path, parts, &tables, error);
    if (status == VIT_OK) status = vit_tree_open(out, &tree, directory->path, options, error);
    if (status != VIT_OK && tree.no_table) {
        vit_error first = *error;
        const bool has_folders = tree.class_count > 0;
        vit_fail(error, status, "%s%s%s", has_folders ? first.message : "",
                 has_folders ? ". Nor are its pictures those of a table: " : "", tree.no_table);
    }
    vit_tree_free(&tree);
    return status;
}

/* Whether there is a table of pictures, or a folder that is not hidden. */
static bool probe(const vit_listing *directory) {
    if (vit_picture_tables && vit_picture_tables->is(directory)) return true;
    for (size_t i = 0; i < directory->count; i++) {
        if (!vit_name_is_wanted(directory->names[i])) continue;
        char *path = vit_path_join(directory->path, directory->names[i]);
        bool is_folder = path && vit_path_look(path) == VIT_PATH_DIRECTORY;
        vit_free(path);
        if (is_folder) return true;
    }
    return false;
}

const vit_reader vit_reader_folder = {
    .expects = "a folder per class of pictures, or a table of their names and classes "
               "(metadata.csv, train.csv, ...)",
    .probe = probe,
    .read = read_folder,
};
