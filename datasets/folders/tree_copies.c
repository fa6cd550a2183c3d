/* Training pictures that are copies of test pictures, where the test is a share of one folder. */
#include "datasets/duplicates.h"
#include "datasets/folders/tree.h"
#include "datasets/reader.h"
#include "vit/base/sys.h"

/* Marks the training pictures that are copies of test pictures, but not the last of a class: *count
 * of them. */
static vit_status mark_copies(size_t *count, vit_copy *copies, const vit_dataset *out,
                              vit_tree *tree, int threads, vit_error *error) {
    vit_tree_part *train = &tree->train;
    size_t *left = vit_alloc(tree->class_count, sizeof *left);
    vit_status status = VIT_OK;
    if (!left) status = vit_fail_memory(error, "copies", tree->class_count);
    if (status == VIT_OK) status = vit_duplicates_of_test(copies, out, threads, error);
    for (size_t i = 0; i < train->count && status == VIT_OK; i++) left[train->files[i].label]++;
    for (size_t i = 0; i < train->count && status == VIT_OK; i++) {
        if (copies[i].alike == VIT_ALIKE_NOT || left[train->files[i].label] == 1) continue;
        left[train->files[i].label]--;
        train->files[i].is_copy = true;
        ++*count;
    }
    vit_free(left);
    return status;
}

/* out->copies = the training pictures that are left out as copies of test pictures. */
static vit_status list_copies(vit_dataset *out, const vit_tree *tree, const vit_copy *copies,
                              vit_error *error) {
    vit_status status = VIT_OK;
    for (size_t i = 0; i < tree->train.count && status == VIT_OK; i++) {
        const vit_tree_file *file = &tree->train.files[i];
        if (!file->is_copy) continue;
        const vit_tree_file *of = &tree->test.files[copies[i].second];
        const vit_listed_copy row = {.picture = file->path,
                                     .copy_of = of->path,
                                     .label = file->label,
                                     .of_label = of->label,
                                     .split = "left out",
                                     .of_split = "test",
                                     .alike = copies[i].alike};
        status = vit_copy_list_add(&out->copies, &row, error);
    }
    return status;
}

vit_status vit_tree_find_copies(size_t *count, vit_dataset *out, vit_tree *tree, int threads,
                                vit_error *error) {
    const vit_tree_part *train = &tree->train;
    *count = 0;
    vit_copy *copies = vit_alloc(train->count, sizeof *copies);
    if (!copies) return vit_fail_memory(error, "copies", train->count * sizeof *copies);
    out->train.count = train->count; /* records are handed over later */
    out->test.count = tree->test.count;
    vit_status status = mark_copies(count, copies, out, tree, threads, error);
    out->train.count = out->test.count = 0;
    if (2 * *count > train->count) *count = 0;
    if (status == VIT_OK && *count > 0) status = list_copies(out, tree, copies, error);
    vit_free(copies);
    return status;
}
