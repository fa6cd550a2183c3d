/* The settings of vit-train, what they mean for the library, and a training's other form, a head
 * that is computed (train_head.c).
 */
#ifndef VIT_CLI_TRAIN_TRAIN_SETTINGS_H
#define VIT_CLI_TRAIN_TRAIN_SETTINGS_H

#include "vit/cli/parts/program.h"
#include "vit/cluster/cluster.h"

/* What the options of vit-train say. */
typedef struct vit_train_settings {
    vit_class_choice classes;
    const char *data, *preset, *init, *config, *out, *checkpoint, *log;
    const char *report, *tensorboard, *teacher, *seeds, *lessons, *near_duplicates;
    double epochs, minutes, save_every;
    vit_steps steps;
    uint64_t gradient_accumulation, seed, threads, patience, views;
    vit_option_list set, forget, relabel, add;
    vit_option_keys keys; /* of options that are keys of a recipe */
    vit_size size;
    int keep;           /* KEEP_LAST or KEEP_BEST */
    int head, backbone; /* HEAD_TRAINED, ...; BACKBONE_INSIDE, ... */
    bool list_unreadable, find_lr;
    vit_cluster *cluster; /* no option: the processes that mpirun started, */
    vit_status status;    /* what the last training returned, */
    char **argv;          /* and the command line, [argc] */
    size_t argc;
    bool given[64]; /* by row of the options */
    bool shard_optimizer, resume, activation_checkpointing, json, list_presets, overwrite,
        calibrate;
} vit_train_settings;

enum { KEEP_LAST, KEEP_BEST };

/* The last is another word for the first that is computed. */
enum { HEAD_TRAINED, HEAD_RIDGE, HEAD_LOGISTIC, HEAD_CLOSED };
enum { BACKBONE_INSIDE, BACKBONE_REFERENCE };

/* NAME.safetensors, where NAME is the last part of the path of preset or data, without .json, its
 * characters other than letters, digits and "-_." replaced by '-'. NULL: no memory. */
char *vit_default_out(const vit_train_settings *s);

/* The values of --set, and those of options that are keys, which go before them. */
typedef struct vit_key_values {
    const char
        *values[sizeof((vit_option_list){0}.values) / sizeof(char *) +
                sizeof((vit_option_keys){0}.values) / sizeof((vit_option_keys){0}.values[0])];
    size_t count;
} vit_key_values;

/* Of files; owned. */
typedef struct vit_train_paths {
    char *init, *teacher; /* NULL: not given */
    char *out;            /* the model */
    char *rescue;         /* where a training without --checkpoint is saved when interrupted */
} vit_train_paths;

/* The training that the options ask for, without a callback. *sets: its keys, which it borrows. */
vit_train_options vit_chosen_training(const vit_train_settings *s, const vit_train_paths *p,
                                      vit_key_values *sets);

/* Whether pictures of kept lessons are to be forgotten, relabelled or added. */
bool vit_changes_lessons(const vit_train_settings *s);

/* What the guest that computes heads does; of the list `guests`. */
typedef struct vit_head_guest {
    /* Computes a head for the features of --init, or computes the head of --lessons again; returns
     * the exit status. */
    int (*train)(const vit_command *command, const vit_train_settings *s);
} vit_head_guest;

extern const vit_head_guest *const vit_computed_heads; /* NULL: there is none */

#endif
