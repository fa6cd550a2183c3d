/* A folder per class, as it lies on the disk: which files belong to which class and part. */
#ifndef VIT_DATASETS_TREE_H
#define VIT_DATASETS_TREE_H

#include "datasets/dataset.h"

typedef struct vit_tree_file {
    char *path;
    size_t name; /* path + name: the class's folder, '/', and on */
    uint16_t label;
    bool is_held_back;    /* of the share of the training folders' files */
    size_t position;      /* among those files */
    char *problem;        /* why it is left out, a sentence; NULL: nothing found yet */
    vit_status status;    /* MEMORY, or what became of the file */
    size_t width, height; /* as the file says */
    uint8_t digest[32];   /* SHA-256 of its bytes, where it counts */
} vit_tree_file;

typedef struct vit_tree_part {
    vit_tree_file *files; /* by class, then by name */
    size_t count, capacity;
} vit_tree_part;

typedef struct vit_tree {
    char **classes; /* names in byte order, one block */
    size_t class_count;
    vit_tree_part train, val, test;
    bool has_train;     /* there are training folders, be they read or not */
    bool has_val;       /* the same of folders to choose by */
    bool test_is_val;   /* the test part is val: there is no test/ */
    bool is_shared_out; /* there is neither: it is a share of the training folders' files */
    size_t shared;      /* so many files, those left out too */
    char *stray;        /* the first of what lies beside the classes and is not read, or NULL */
    size_t strays;
} vit_tree;

/* Looks through `root`, for the parts of `parts`: its folders are the classes, or those of train/,
 * of val/ (or valid/, validation/) and of test/. Where there is no val/, that part is the training
 * part. Where there is no test/, it is val/; where there is neither, of each class's n files the
 * n / 6 whose names have the smallest hash are the test part, and the training files are there,
 * too. Hidden files are ignored. Links to folders are followed where a class or a part is one, but
 * not deeper, so that no walk is endless. On failure, too, vit_tree_free is called by the caller.
 */
vit_status vit_tree_scan(vit_tree *out, const char *root, unsigned parts, vit_error *error);

/* All training files go to the test part, in order. */
vit_status vit_tree_test_all(vit_tree *tree, vit_error *error);

void vit_tree_part_free(vit_tree_part *part);
void vit_tree_free(vit_tree *tree);

void vit_tree_file_free(vit_tree_file *file);

#endif
