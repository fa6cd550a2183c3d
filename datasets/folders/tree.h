/* Pictures on the disk, a folder per class or in shards: which belong to which class and part. */
#ifndef VIT_DATASETS_FOLDERS_TREE_H
#define VIT_DATASETS_FOLDERS_TREE_H

#include "datasets/dataset.h"

/* What the caller says of tables of pictures and classes. */
typedef struct vit_table_options {
    bool multi_label;         /* a picture has any number of classes */
    const char *class_column; /* that names the classes; NULL: chosen (../tables/columns.h) */
} vit_table_options;

typedef struct vit_tree_file {
    char *path;
    size_t name;       /* path + name is the path from the class's folder on */
    const char *class; /* by a table, in which the name has none; NULL: the name begins with it */
    uint16_t label;
    char *classes;       /* of a table of several classes: all names, joined by semicolons; owned */
    uint32_t *class_ids; /* their numbers, ascending; `label` is the first, or 0; owned */
    size_t class_id_count;
    bool is_held_back;               /* it was in a training folder and is held back for the test */
    bool is_copy;                    /* of a test picture: it is left out of the training */
    bool is_left_out, is_relabelled; /* by a list of corrections */
    size_t position;                 /* among the files of the training folders */
    char *problem;                   /* a sentence that says why it is left out, or NULL */
    vit_status status;               /* of reading the file */
    size_t width, height;            /* by the file's header */
    uint8_t digest[32];              /* SHA-256 of its bytes, if the checksum of the set needs it */
    vit_place place;                 /* of a tree in shards */
} vit_tree_file;

typedef struct vit_tree_part {
    vit_tree_file *files; /* sorted by class, then by name; in shards, by their places */
    size_t count, capacity;
} vit_tree_part;

typedef struct vit_tree {
    char **classes; /* names, sorted as bytes; one block */
    size_t class_count;
    vit_tree_part train, val, test;
    vit_shard_files *shards; /* where the pictures are; NULL: each is a file */
    bool is_measured;        /* an index told sizes and checksums */
    bool are_numbers;        /* the classes have no names; `classes` are numbers from 0 on */
    bool has_train;          /* there are training folders, whether they are read or not */
    bool has_val;            /* there are validation folders, whether they are read or not */
    bool test_is_val;        /* there is no test/: the test part is val/ */
    bool is_shared_out; /* there is neither: a share of the training files is held back as test */
    size_t shared;      /* the number of files of which that share is */
    char *stray;     /* the first file or folder beside the classes, which is not read; or NULL */
    size_t strays;   /* how many such there are */
    char *no_table;  /* why a table beside the folders is not one of pictures; or NULL */
    bool is_named;   /* that table names pictures that are there */
    char *source;    /* what names the classes: "column label of train.csv"; NULL: folders */
    size_t repeated; /* lines of a table that name a picture again, of the same classes */
    char **numbers;  /* classes that have names now, which `class` of files still points to */
    char *naming;    /* why a list of names is not that of the numbers; or NULL */
    char *parts;     /* what says the parts: "column split of train.csv"; NULL: no column */
} vit_tree;

/* The part that a folder's name tells, in any case, alone or with words that say nothing and
 * numbers: "Train", "training_set", "seg_test", "test1"; KINDS: none. */
typedef enum vit_tree_kind {
    VIT_TREE_TRAIN,
    VIT_TREE_VAL,
    VIT_TREE_TEST,
    VIT_TREE_KINDS
} vit_tree_kind;
vit_tree_kind vit_tree_kind_of(const char *name);

/* The number of words in a folder's name; *contents: of those that say that it holds pictures,
 * masks or a share of them, as all words of "images", "annotations" and "batch_2" do. */
size_t vit_tree_count_words(size_t *contents, const char *name);

/* Whether a name of `length` bytes says that masks, or other pictures drawn over those of a set,
 * are in it: "masks", "_mask", "Ground truth". */
bool vit_tree_is_mask(const char *name, size_t length);

/* The part that one of the name's words tells, whatever the others are: "imagenet1k-train-0000";
 * KINDS: none does, or *several do. */
vit_tree_kind vit_tree_kind_within(bool *several, const char *name);

/* Adds a file; problem: why it is left out, or NULL. Owns `path` from now on. */
vit_status vit_tree_add(vit_tree_part *part, char *path, size_t name, size_t label,
                        const char *problem, vit_error *error);

/* Whether the caller says that pictures have no classes, by a column without a name. */
static inline bool vit_tree_is_unlabelled(const vit_dataset_options *options) {
    return options->class_column && !*options->class_column;
}

/* Adds every file in a folder and the folders inside it; name: as in vit_tree_file. */
vit_status vit_tree_walk(vit_tree_part *part, const char *directory, size_t name, vit_error *error);

/* Whether there is a class of this name, in any of Unicode's forms; *label: which. */
bool vit_tree_find_class(const vit_tree *tree, const char *name, size_t *label);

/* Moves a share of the training files of each class to the test part. */
vit_status vit_tree_share_out(vit_tree *tree, vit_error *error);

/* Finds the files of `parts` (VIT_PART_*) in `root`: by a table of pictures and classes
 * (datasets/tables/listed.h) if there is one, else by its folders. These are the classes; or the
 * classes are the folders in train/, in val/ (or valid/, validation/) and in test/, also in other
 * case and with words that say nothing ("Training_set", "seg_test", "test1"), if they hold the same
 * classes; or these lie in a folder that is alone in `root`. If there is no val/, that part is the
 * training part. If there is no test/, it is val/. If there is neither, the files of a class whose
 * names have the smallest hashes, one of VIT_TEST_SHARE, are the test part; the training files are
 * then found, too. Hidden files and those that systems leave (vit_name_is_wanted) are ignored.
 * Links to folders are followed unless they lead to a folder that they lie in. The caller calls
 * vit_tree_free, also on failure. */
vit_status vit_tree_scan(vit_tree *out, const char *root, unsigned parts,
                         const vit_table_options *options, vit_error *error);

/* *t = the classes of each file: one, if it is of a folder. */
vit_status vit_tree_list_classes(vit_texts *t, const vit_tree_part *part, vit_error *error);

/* FORMAT if classes are called as parts are, or hold folders that are: a folder "train" among many
 * others may be one of vehicles, any other such name is a part that was not recognised. Also if all
 * are called "images", "annotations" and the like, or divide the pictures that a table names. */
vit_status vit_tree_check_names(const vit_tree *tree, const char *path, vit_error *error);

/* FORMAT if a table's classes are others than the folders that its pictures lie in. root: what
 * their paths begin with. */
vit_status vit_tree_check_table(const vit_tree *tree, const char *root, vit_error *error);

/* Adds a note if folders lie in the folder of a class, and may be meant as classes themselves.
 * part: one whose files have their paths. */
vit_status vit_tree_note_inner(vit_dataset *out, const vit_tree *tree, const vit_tree_part *part,
                               vit_error *error);

/* Adds notes if names of classes differ in case, or in '_', '-' and ' ', alone, and if all are
 * those of days or months. */
vit_status vit_tree_note_names(vit_dataset *out, const vit_tree *tree, vit_error *error);

/* The order of two names if case, and '_', '-' and ' ' do not count. */
int vit_tree_compare_loosely(const char *a, const char *b);

/* Notes what names the classes, where that was a choice: a table, or folders in spite of one; and a
 * class of a table that is called none or unknown. several: a picture has any number. The name of
 * the source moves to *out. */
vit_status vit_tree_note_source(vit_dataset *out, vit_tree *tree, bool several, vit_error *error);

/* Notes which part is the test, and what lies beside the classes. path: the directory. */
vit_status vit_tree_note_layout(vit_dataset *out, const vit_tree *tree, const char *path,
                                vit_error *error);

/* *out = how the pictures of a tree, which are measured, are prepared if nobody else says it. */
vit_status vit_tree_choose(vit_preparation *out, const vit_tree *tree,
                           const vit_dataset_options *options, vit_error *error);

/* Reads the pictures of a tree into *out, which is zeroed; what the tree holds moves there. path:
 * the directory, for messages. */
vit_status vit_tree_open(vit_dataset *out, vit_tree *tree, const char *path,
                         const vit_dataset_options *options, vit_error *error);

/* Marks the training pictures that are copies of test pictures, which are both prepared and in
 * *out, and adds them to out->copies; *count: of them, 0 if they are most of the training. Errors:
 * MEMORY.
 */
vit_status vit_tree_find_copies(size_t *count, vit_dataset *out, vit_tree *tree, int threads,
                                vit_error *error);

void vit_tree_part_free(vit_tree_part *part);
void vit_tree_free(vit_tree *tree);

void vit_tree_file_free(vit_tree_file *file);

#endif
