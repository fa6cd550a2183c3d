/* vit-train: trains a network and writes the model. */
#include <assert.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>

#include "vit/base/size.h"
#include "vit/base/sys.h"
#include "vit/cli/models/model_list.h"
#include "vit/cli/models/models.h"
#include "vit/cli/parts/coverage.h"
#include "vit/cli/parts/interrupt.h"
#include "vit/cli/train/lr_results.h"
#include "vit/cli/train/runs.h"
#include "vit/cli/train/seeds.h"
#include "vit/cli/train/train_report.h"
#include "vit/cli/train/train_settings.h"

typedef vit_train_settings settings;

static const char *const heads[] = {"trained", "ridge", "logistic", "closed", NULL};
static const char *const backbones[] = {"inside", "reference", NULL};

static const char *const keeps[] = {"last", "best", NULL};

/* vit_option.exclusive of --epochs, --steps and --minutes; of --seed and --seeds */
enum { HOW_LONG = 1, WHICH_SEED };

/* A number from `low` to `high`. */
#define RANGE(type, word, member, letter, low, high) \
    VIT_OPTION(type, word, member, letter), .min = low, .max = high

/* An option that sets a key of the recipe, as --set does. */
#define KEY(type, word, letter, low, high)                                      \
    .kind = VIT_OPTION_##type, .key = word, .offset = offsetof(settings, keys), \
    .argument = letter, .min = low, .max = high

/* What the program does in place of a training. */
enum { COMPUTES_HEADS = 1, FINDS_LR = 2 };

static const vit_option options[] = {
    {.kind = VIT_OPTION_GROUP, .help = "What to train, on what"},
    {.also = VIT_EVERYWHERE,
     VIT_OPTION(TEXT, "data", data, "DATA"),
     .help = VIT_DATA_HELP ";\n"
                           "FIRST+SECOND trains on both"},
    VIT_CLASS_COLUMN_OPTION(settings, classes.class_column),
    VIT_EXCLUDE_OPTION(settings, classes.exclude),
    VIT_TAG_OPTIONS(settings, classes.tags),
    {.also = VIT_EVERYWHERE,
     VIT_OPTION(SIZE, "size", size, "N|HxW"),
     .help = "resize the pictures of a folder to this, in pixels\n"
             "(default: by their sizes; with --init, the model's)"},
    {.also = VIT_EVERYWHERE,
     VIT_FLAG("list-unreadable", list_unreadable),
     .help = "name every file that is left out, not only three"},
    VIT_CLASS_OPTIONS(settings),
    {.also = FINDS_LR,
     VIT_OPTION(TEXT, "preset", preset, "NAME|FILE"),
     .help = "network and recipe: mnist, mnist-quick, mnist-best,\n"
             "mnist-plain, fashion, fashion-best, fashion-plain, digits,\n"
             "cifar10, cifar10-30min, cifar10-best, cifar10-plain,\n"
             "features, folder, finetune, handwriting, lecture,\n"
             "strips, numbers, language, or a JSON file\n"
             "(default: the data decides; with --init: finetune)"},
    {.also = FINDS_LR,
     VIT_OPTION(LIST, "set", set, "KEY=VALUE"),
     .help = "another value for a key of the preset (docs/presets.md);\n"
             "may be given again: --set dim=96 --set drop_path=0.1"},
    {.also = VIT_EVERYWHERE,
     VIT_FLAG("list-presets", list_presets),
     .help = "print the presets; no training"},
    {.also = VIT_EVERYWHERE,
     VIT_OPTION(TEXT, "init", init, "MODEL"),
     .help = "start from the weights of a model (default: random ones)"},
    {.also = VIT_EVERYWHERE,
     VIT_OPTION(TEXT, "config", config, "FILE"),
     .help = "config.json of --init"},
    {.also = COMPUTES_HEADS,
     VIT_OPTION(CHOICE, "head", head, "HOW"),
     .choices = heads,
     .help = "with --init: few-shot: compute a head for its features,\n"
             "in seconds, and train nothing: ridge (or closed) or\n"
             "logistic regression. Says how good it is with each\n"
             "picture left out (docs/few-shot.md; default: trained)"},
    {.also = COMPUTES_HEADS,
     RANGE(COUNT, "augmented-views", views, "N", 1, 64),
     .help = "with --head: data augmentation: learn from N views of\n"
             "each picture, crops, mirrored or not (default: 1, the\n"
             "picture)"},
    {.also = COMPUTES_HEADS,
     VIT_OPTION(CHOICE, "backbone", backbone, "WHERE"),
     .choices = backbones,
     .help = "with --head: reference: the model file has the name and\n"
             "checksum of --init's file in place of its weights, and\n"
             "needs it (docs/few-shot.md; default: inside)"},
    {.also = COMPUTES_HEADS,
     VIT_OPTION(TEXT, "lessons", lessons, "FILE"),
     .help = "with --head and --data: keep what the head is computed\n"
             "from. Without --data: compute it again from FILE, after\n"
             "these, which may be given again (docs/few-shot.md)"},
    {.also = COMPUTES_HEADS,
     VIT_OPTION(LIST, "forget", forget, "NAME"),
     .help = "with --lessons: forget a picture, by NAME, CLASS/NAME or\n"
             "the SHA-256 of its file"},
    {.also = VIT_EVERYWHERE,
     VIT_OPTION(LIST, "relabel", relabel, "FILE.csv"),
     .help = "give pictures another class: a table with the columns\n"
             "picture and label (docs/data.md); an empty label leaves\n"
             "one out. With --lessons, without --data: NAME=CLASS, for\n"
             "a picture"},
    {.also = COMPUTES_HEADS,
     VIT_OPTION(LIST, "add", add, "CLASS=FILE"),
     .help = "with --lessons: add a picture"},
    {.also = COMPUTES_HEADS,
     VIT_OPTION(TEXT, "out", out, "FILE"),
     .help = "the model (default: NAME.safetensors of preset or data)"},
    {.kind = VIT_OPTION_GROUP, .help = "How long (one of these; default: the preset's epochs)"},
    {RANGE(NUMBER, "epochs", epochs, "N", 0, 1e6), .help = "passes over the training pictures",
     .exclusive = HOW_LONG},
    {VIT_OPTION(STEPS, "steps", steps, "N|n/N"),
     .help = "optimiser steps; 500/2000 stops after 500 steps of a\n"
             "schedule of 2,000",
     .exclusive = HOW_LONG},
    {RANGE(NUMBER, "minutes", minutes, "M", 0, 1e6),
     .help = "as many steps as fit into M minutes, test included", .exclusive = HOW_LONG},
    {VIT_OPTION(CHOICE, "keep", keep, "last|best"), .choices = keeps,
     .help = "the model to write: that of the last step, or of the\n"
             "epoch with the best validation accuracy (default: last)"},
    {RANGE(COUNT, "patience", patience, "N", 1, 1e6),
     .help = "early stopping: stop after N epochs without better\n"
             "validation accuracy (default: never)"},
    {.kind = VIT_OPTION_GROUP, .help = "How"},
    {.also = FINDS_LR,
     .name = "batch",
     KEY(COUNT, "batch", "N", 1, 1e6),
     .help = "pictures a step (default: the preset's)"},
    {.also = FINDS_LR,
     RANGE(COUNT, "gradient-accumulation", gradient_accumulation, "N", 1, 65536),
     .help = "a step takes the gradient of N batches; the same as N\n"
             "times --batch, which takes no more memory (default: 1)"},
    {.also = FINDS_LR,
     .name = "lr",
     KEY(NUMBER, "lr", "X", 0, 100),
     .help = "highest learning rate (default: the preset's)"},
    {.also = FINDS_LR,
     VIT_FLAG("find-lr", find_lr),
     .help = "learning-rate finder: 160 steps at rising rates show how\n"
             "high it may be; prints a value for --lr"},
    {.also = FINDS_LR,
     .name = "weight-decay",
     KEY(NUMBER, "weight_decay", "X", 0, 100),
     .from_min = true,
     .help = "decay of the weights (default: the preset's)"},
    {.also = FINDS_LR,
     .name = "drop-path",
     KEY(NUMBER, "drop_path", "X", 0, 1),
     .from_min = true,
     .help = "share of the last block's branches that are dropped in\n"
             "training, fewer in earlier ones (default: the preset's)"},
    {.also = VIT_EVERYWHERE,
     .name = "balance",
     KEY(FLAG, "balance", NULL, 0, 0),
     .help = "each class weighs the same in the loss, however many\n"
             "pictures it has"},
    {.also = FINDS_LR,
     .name = "multi-label",
     KEY(FLAG, "multi_label", NULL, 0, 0),
     .help = "a picture has any number of classes, by a table of\n"
             "files and classes: sigmoid, not softmax"},
    {.also = FINDS_LR,
     .name = "freeze",
     KEY(COUNT, "freeze", "N", 1, 1e6),
     .help = "with --init: the first N blocks, and all before them,\n"
             "keep their weights (default: the preset's, 0)"},
    {.also = FINDS_LR,
     .name = "layer-decay",
     KEY(NUMBER, "layer_decay", "X", 0, 1),
     .help = "multiply the learning rate by X from block to block\n"
             "towards the input, by 0.75 say (default: the preset's,\n"
             "1)"},
    {.also = FINDS_LR,
     VIT_OPTION(TEXT, "teacher", teacher, "MODEL|FILE"),
     .help = "knowledge distillation: learn from this model's answers\n"
             "as well, or from its stored logits for the training\n"
             "pictures: recipe keys distill and distill_temperature"},
    {.also = FINDS_LR,
     .name = "val",
     KEY(NUMBER, "val", "N|SHARE", 0, 1e9),
     .from_min = true,
     .help = "validation set: hold back N training pictures, or below\n"
             "1 a share of them, to fit the temperature and to judge\n"
             "epochs (default: a tenth, at most 1,000)"},
    {.also = FINDS_LR,
     VIT_OPTION(COUNT, "seed", seed, "N"),
     .help = "same seed, same bytes (default: 0)",
     .exclusive = WHICH_SEED},
    {VIT_OPTION(TEXT, "seeds", seeds, "A,B,..."),
     .help = "a training for each seed, into NAME-seedA.safetensors,\n"
             "...; at the end their mean and standard deviation.\n"
             "--minutes is for all of them",
     .exclusive = WHICH_SEED},
    VIT_PRECISION_KEYS("f32 or bf16: the matrix products; bfloat16 is faster\n"
                       "with AMX and on AMD's AVX512_BF16, slower on Intel's\n"
                       "(default: the preset's, or f32)",
                       FINDS_LR),
    VIT_THREADS_OPTION(settings, "changes no byte of the result (default: all processors)"),
    {.also = FINDS_LR,
     VIT_FLAG("activation-checkpointing", activation_checkpointing),
     .help = "also called gradient checkpointing: keep only the input\n"
             "of each block for the backward pass and compute the rest\n"
             "again: less memory, more time, the same bytes"},
    {.also = FINDS_LR,
     VIT_FLAG("shard-optimizer", shard_optimizer),
     .help = "in data-parallel training (mpirun): each process keeps\n"
             "only its part of the optimiser's state (ZeRO stage 1):\n"
             "less memory, the same bytes"},
    {.kind = VIT_OPTION_GROUP, .help = "Checkpoints"},
    {VIT_OPTION(TEXT, "checkpoint", checkpoint, "DIR"),
     .help = "save checkpoints there: after each epoch, within long\n"
             "ones, and when interrupted; the last two and the best\n"
             "are kept (default: none are saved)"},
    {RANGE(NUMBER, "save-every", save_every, "M", 0, 1e6),
     .help = "minutes between checkpoints in an epoch (default: 10)"},
    {VIT_FLAG("resume", resume), .help = "continue from the newest intact checkpoint in\n"
                                         "--checkpoint DIR, or in NAME.checkpoint, which an\n"
                                         "interrupted training left beside the model"},
    {.also = COMPUTES_HEADS,
     VIT_FLAG("calibrate", calibrate),
     .help = "when it ends, calibrate the model for vit-classify\n"
             "--coverage and --unknown by the validation pictures; a\n"
             "few-shot head by leave-one-out (docs/reliance.md)"},
    {.also = COMPUTES_HEADS,
     VIT_FLAG("overwrite", overwrite),
     .help = "replace a model and checkpoints of another training"},
    {.kind = VIT_OPTION_GROUP, .help = "Output"},
    {VIT_OPTION(TEXT, "log", log, "FILE.jsonl"),
     .help = "write all events and notes there, one JSON object a\n"
             "line; with --resume they are appended"},
    VIT_NEAR_DUPLICATES_OPTION(settings, near_duplicates, ",\nwith their splits and classes",
                               .also = VIT_EVERYWHERE),
    {.also = COMPUTES_HEADS,
     VIT_OPTION(TEXT, "report", report, "FILE.html"),
     .help = "a page that shows the training: curves, confusion\n"
             "matrix, the pictures it gets most wrong, what to try\n"
             "next; written during the training, and when interrupted"},
    {VIT_OPTION(TEXT, "tensorboard", tensorboard, "DIR"),
     .help = "write event files there, for tensorboard --logdir DIR"},
    {.also = VIT_EVERYWHERE, VIT_FLAG("json", json), .help = "write the events to standard output"},
};

static_assert(VIT_COUNT(options) <= VIT_COUNT(((settings *)NULL)->given), "a mark for each option");

static const vit_command command = {
    .name = "vit-train",
    .usage = "usage: vit-train --data DATA [OPTION...]\n"
             "\n"
             "Trains a Vision Transformer and writes it into one file.\n"
             "\n"
             "  vit-train --data digits --minutes 0.5\n"
             "      half a minute on drawn digits, which need no download; afterwards:\n"
             "      vit-classify --model digits.safetensors PICTURE.png\n"
             "  vit-train --data mnist --minutes 3 --out my.safetensors\n"
             "      the MNIST files in $VIT_DATA/mnist or data/mnist\n"
             "  vit-train --data pets --minutes 10\n"
             "      your own pictures: pets/cat/*.jpg, pets/dog/*.jpg, ...\n"
             "  vit-train --data mnist --epochs 20 --checkpoint state --resume\n"
             "      can be interrupted and run again; the model has the same bytes\n"
             "  vit-train --data digits --epochs 5 --seeds 0,1,2 --log digits.jsonl\n"
             "      three trainings, their mean and their standard deviation\n"
             "  mpirun -np 4 vit-train --data digits --out model.safetensors\n"
             "      four processes, on one machine or on several, built with make MPI=1;\n"
             "      the model has the same bytes as that of one (docs/data-parallel.md)\n",
    .notes =
        "Progress is on standard error, the result on standard output. Ctrl-C (or\n"
        "SIGTERM, SIGUSR1, SIGHUP) finishes the step and saves a checkpoint, in\n"
        "NAME.checkpoint beside the model if there is no --checkpoint; a second one ends\n"
        "at once.\n"
        "Exit status: 0 done, 1 failed, 2 wrong usage, 129, 130 or 143 interrupted.\n" VIT_CPU_NOTE
        "; in f32 the model is the same with each.\n",
    .options = options,
    .option_count = sizeof options / sizeof options[0],
    .key = vit_preset_key,
    .ranks = true,
    .given = offsetof(settings, given),
};

static bool on_event(const vit_event *event, void *user) {
    vit_train_report_event(user, event);
    return vit_interrupted() == 0;
}

/* Says why the training ended early; returns the exit status. */
static int explain(const settings *s, const vit_train_report *report, const vit_error *error) {
    int number = vit_interrupted();
    if (error->status == VIT_ERROR_CANCELLED && number == 0) number = SIGTERM; /* another rank's */
    if (!vit_cluster_reports(s->cluster)) {
        if (error->status == VIT_ERROR_CANCELLED) return 128 + number;
        return error->status == VIT_ERROR_ARGUMENT && report->summary.steps == 0 ? VIT_EXIT_USAGE
                                                                                 : VIT_EXIT_FAILED;
    }
    if (error->status != VIT_ERROR_CANCELLED) {
        int exit_status = vit_say_error(&command, error);
        return report->summary.steps == 0 ? exit_status : VIT_EXIT_FAILED; /* once it has started */
    }
    vit_string text = {0};
    vit_string_add(&text, "interrupted after step %llu of %llu; ",
                   (unsigned long long)report->summary.step,
                   (unsigned long long)report->summary.steps);
    if (s->checkpoint && (!report->saved_in || vit_path_same(s->checkpoint, report->saved_in))) {
        vit_string_add(&text, "the same command with --resume goes on from there");
    } else if (report->saved_in) {
        vit_string_add(&text, "the same command with --checkpoint %s --resume goes on from there",
                       report->saved_in);
    } else {
        vit_string_add(&text, "nothing was saved");
    }
    vit_say(&command, "%s", text.failed ? "interrupted" : text.text);
    vit_string_free(&text);
    return 128 + number;
}

/* OUT with .checkpoint in place of .safetensors. NULL: no memory. */
static char *rescue_name(const char *out) {
    vit_string name = {0};
    vit_string_add_bytes(&name, out, vit_stem_length(out, ".safetensors"));
    vit_string_add(&name, ".checkpoint");
    if (name.failed) vit_string_free(&name);
    return name.text;
}

/* With --calibrate, by the validation pictures. */
static int calibrate(const settings *s, const char *out) {
    const vit_evaluate_options pictures = {.data = s->data,
                                           .class_column = s->classes.class_column,
                                           .exclude = s->classes.exclude,
                                           .relabel = s->classes.relabel,
                                           .split = VIT_SPLIT_VAL,
                                           .threads = (int)s->threads,
                                           .cpu = vit_chosen_cpu()};
    const bool asked = s->calibrate && s->status == VIT_OK && !s->find_lr;
    if (!asked || vit_cluster_rank(s->cluster) > 0) return VIT_EXIT_OK;
    return vit_coverages ? vit_coverages->calibrate_trained(&command, out, &pictures, false)
                         : VIT_EXIT_OK;
}

/* *outcome: what the training has reached. */
static int train(settings *s, const vit_train_paths *p, vit_log_summary *outcome) {
    vit_error error = {0};
    vit_train_report report = {.command = &command,
                               .out = p->out,
                               .log_path = s->log,
                               .append = s->resume,
                               .arguments = (const char *const *)s->argv,
                               .argument_count = s->argc,
                               .json = s->json,
                               .silent = vit_cluster_rank(s->cluster) > 0,
                               .list_details = s->list_unreadable};
    s->status = vit_train_report_start(&report, &error);
    if (s->status != VIT_OK) return vit_say_error(&command, &error);
    vit_key_values sets;
    vit_train_options choice = vit_chosen_training(s, p, &sets);
    choice.callback = on_event;
    choice.user = &report;
    s->status = vit_train(NULL, &choice, &error);
    bool logged = vit_train_report_end(&report);
    int exit_status = logged ? VIT_EXIT_OK : VIT_EXIT_FAILED;
    if (s->status != VIT_OK) exit_status = explain(s, &report, &error);
    vit_free(report.saved_in);
    *outcome = report.summary;
    return exit_status;
}

static bool on_search(const vit_event *event, void *user) {
    const settings *s = user;
    if (event->kind == VIT_EVENT_NOTE && event->text && vit_cluster_rank(s->cluster) == 0)
        vit_say(&command, "%s", event->text);
    return vit_interrupted() == 0;
}

static int find_lr(settings *s, const vit_train_paths *p) {
    vit_error error = {0};
    vit_lr_search found;
    vit_key_values sets;
    vit_train_options choice = vit_chosen_training(s, p, &sets);
    choice.callback = on_search;
    choice.user = s;
    s->status = vit_find_lr(&found, &choice, &error);
    if (s->status != VIT_OK) {
        const int number = vit_interrupted();
        if (!vit_cluster_reports(s->cluster)) return VIT_EXIT_FAILED;
        return number != 0 ? 128 + number : vit_say_error(&command, &error);
    }
    if (vit_cluster_rank(s->cluster) > 0) return VIT_EXIT_OK;
    return vit_lr_results(&command, &found, s->json) ? VIT_EXIT_OK : VIT_EXIT_FAILED;
}

/* With --resume alone, the checkpoints are those that an interrupted training left. */
static void find_rescued(settings *s, const char *rescue, vit_error *error) {
    if (!s->resume || s->checkpoint) return;
    s->checkpoint = rescue;
    if (vit_path_look(rescue) != VIT_PATH_DIRECTORY)
        vit_fail(error, VIT_ERROR_ARGUMENT,
                 "--resume: there is no %s to go on from; name the directory of the checkpoints: "
                 "--checkpoint DIR",
                 rescue);
}

/* Finds the files that the names stand for, and trains. */
static int run(settings *s, vit_log_summary *outcome) {
    vit_error error = {0};
    vit_train_paths p = {.out = s->out ? vit_strdup(s->out) : vit_default_out(s)};
    p.rescue = p.out ? rescue_name(p.out) : NULL;
    if (!p.rescue) vit_fail_memory(&error, "the name of the model", strlen(s->data));
    if (error.status == VIT_OK) find_rescued(s, p.rescue, &error);
    if (error.status == VIT_OK && s->init) vit_find_model(&p.init, s->init, &error);
    if (error.status == VIT_OK && s->teacher) vit_find_model(&p.teacher, s->teacher, &error);
    s->status = error.status;
    int exit_status = error.status != VIT_OK ? vit_say_error(&command, &error)
                      : s->find_lr           ? find_lr(s, &p)
                                             : train(s, &p, outcome);
    if (exit_status == VIT_EXIT_OK) exit_status = calibrate(s, p.out);
    vit_free(p.init);
    vit_free(p.teacher);
    vit_free(p.rescue);
    vit_free(p.out);
    return exit_status;
}

/* ---- several seeds ---- */

/* Of each seed, what --out, --log, --report, --tensorboard and --checkpoint become; owned. */
enum { PLACES = 5 };
typedef char *seed_places[PLACES];

/* one: the settings with these places. */
static vit_status name_places(seed_places places, settings *one, uint64_t seed, vit_error *error) {
    const char **const files[] = {&one->out, &one->log, &one->report};
    const char **const directories[] = {&one->tensorboard, &one->checkpoint};
    char *out = one->out ? vit_strdup(one->out) : vit_default_out(one);
    vit_status status = out ? VIT_OK : vit_fail_memory(error, "the name of the model", 0);
    one->out = out;
    for (size_t i = 0; i < VIT_COUNT(files) && status == VIT_OK; i++) {
        status = vit_seed_file(&places[i], *files[i], seed, error);
        *files[i] = places[i];
    }
    for (size_t i = 0; i < VIT_COUNT(directories) && status == VIT_OK; i++) {
        char **place = &places[VIT_COUNT(files) + i];
        status = vit_seed_directory(place, *directories[i], seed, error);
        *directories[i] = *place;
    }
    vit_free(out);
    return status;
}

/* Trains with one of the seeds. --minutes are shared by all of them: the first seed takes its part,
 * the others take as many steps. */
static int run_seed(settings *s, seed_places places, const vit_seeds *seeds, size_t i,
                    vit_run *runs) {
    settings one = *s;
    vit_error error;
    if (name_places(places, &one, seeds->values[i], &error) != VIT_OK)
        return vit_say_error(&command, &error);
    one.seed = seeds->values[i];
    one.minutes = i == 0 ? s->minutes / (double)seeds->count : 0;
    if (s->minutes > 0 && i > 0)
        one.steps = (vit_steps){runs[0].summary.step, runs[0].summary.steps};
    runs[i].name = one.out;
    const int exit_status = run(&one, &runs[i].summary);
    s->status = one.status;
    return exit_status;
}

static bool print_runs(const settings *s, const vit_run *runs, size_t count) {
    if (!s->json) return vit_runs->text(&command, runs, count);
    vit_json_out json = {0};
    vit_json_open(&json, NULL, '{');
    vit_json_text(&json, "event", "seeds");
    const bool grouped = vit_runs->json(&command, &json, runs, count);
    vit_json_close(&json, '}');
    if (!grouped) return vit_string_free(&json.text), false;
    return vit_print_json(&command, &json);
}

static int run_seeds(settings *s) {
    vit_error error = {0};
    vit_seeds seeds;
    vit_run runs[VIT_MOST_SEEDS] = {0};
    seed_places places[VIT_MOST_SEEDS] = {{0}};
    int exit_status = VIT_EXIT_OK;
    if (vit_seeds_parse(&seeds, s->seeds, &error) != VIT_OK)
        return vit_say_usage(&command, "%s", error.message);
    for (size_t i = 0; i < seeds.count && exit_status == VIT_EXIT_OK; i++)
        exit_status = run_seed(s, places[i], &seeds, i, runs);
    if (exit_status == VIT_EXIT_OK && vit_cluster_rank(s->cluster) == 0 &&
        !print_runs(s, runs, seeds.count))
        exit_status = VIT_EXIT_FAILED;
    for (size_t i = 0; i < seeds.count; i++)
        for (size_t k = 0; k < PLACES; k++) vit_free(places[i][k]);
    return exit_status;
}

/* The value of --set whose key is no key of presets but an option of this name; NULL: none is. */
static const char *option_as_key(const settings *s) {
    for (size_t i = 0; i < s->set.count; i++) {
        const char *value = s->set.values[i];
        const size_t length = strcspn(value, "=");
        for (size_t k = 0; k < sizeof options / sizeof *options; k++)
            if (options[k].name && strlen(options[k].name) == length &&
                strncmp(options[k].name, value, length) == 0 &&
                !vit_preset_key(options[k].name, false))
                return value;
    }
    return NULL;
}

int main(int argc, char **argv) {
    settings s = {.argv = argv, .argc = (size_t)argc};
    int exit_status;
    if (!vit_program_start(&command, &s, &argc, argv, &exit_status)) return exit_status;
    if (s.list_presets) return vit_show_presets(&command);
    if (vit_changes_lessons(&s) && !s.lessons)
        return vit_say_usage(&command,
                             "--lessons FILE, which --forget, --relabel and --add change, "
                             "is missing");
    const char *tags = vit_tag_contradiction(&s.classes.tags);
    if (tags) return vit_say_usage(&command, "%s", tags);
    if (!s.data && !s.lessons) return vit_say_usage(&command, "--data DATA is missing");
    if (s.data && s.relabel.count > 1)
        return vit_say_usage(&command, "--relabel: one FILE.csv with --data");
    if (s.data && s.relabel.count == 1) s.classes.relabel = s.relabel.values[0];
    const char *option = option_as_key(&s);
    if (option)
        return vit_say_usage(&command, "--set %s: that is no key of presets but an option: --%s",
                             option, option);
    if (s.config && !s.init)
        return vit_say_usage(&command, "--config: --init MODEL, whose config it is, is missing");
    if (vit_same_names(s.log, s.out) || vit_same_names(s.log, s.report) ||
        vit_same_names(s.report, s.out))
        return vit_say_usage(&command, "two of --out, --log and --report name the same file");
    const char *other = s.find_lr ? vit_option_elsewhere(&command, s.given, FINDS_LR) : NULL;
    if (other) return vit_say_usage(&command, "--%s has no meaning with --find-lr", other);
    if (s.seeds && s.resume && !s.checkpoint)
        return vit_say_usage(&command, "--seeds with --resume needs --checkpoint DIR");
    if (s.data && s.lessons && s.head == HEAD_TRAINED)
        return vit_say_usage(&command, vit_changes_lessons(&s)
                                           ? "--forget and --add change lessons that are kept: "
                                             "without --data"
                                           : "--lessons is for --head ridge or logistic");
    if (s.head != HEAD_TRAINED || s.lessons) {
        const char *training = vit_option_elsewhere(&command, s.given, COMPUTES_HEADS);
        if (training)
            return vit_say_usage(&command, "--%s is for trainings: --head computes a few-shot head",
                                 training);
        exit_status = vit_computed_heads->train(&command, &s);
        return vit_program_end(&command, exit_status);
    }
    if (s.views > 0)
        return vit_say_usage(&command, "--augmented-views is for --head ridge or logistic");
    if (s.backbone != BACKBONE_INSIDE)
        return vit_say_usage(&command, "--backbone is for --head ridge or logistic");
    vit_interrupt_catch();
    vit_log_summary outcome;
    vit_error error;
    const vit_status joined = vit_program_join(&s.cluster, &error);
    if (joined != VIT_OK) {
        exit_status = VIT_EXIT_USAGE;
        if (vit_cluster_reports(s.cluster)) exit_status = vit_say_error(&command, &error);
        vit_cluster_close(s.cluster, joined);
        return exit_status;
    }
    exit_status = s.seeds ? run_seeds(&s) : run(&s, &outcome);
    exit_status = vit_program_end(&command, exit_status);
    vit_cluster_close(s.cluster, s.status);
    return exit_status;
}
