/* vit-train: trains a network and writes the model. */
#include <stddef.h>
#include <string.h>

#include "vit/base/sys.h"
#include "vit/cli/interrupt.h"
#include "vit/cli/models.h"
#include "vit/cli/train_report.h"

typedef struct settings {
    const char *data, *preset, *init, *config, *out, *checkpoint, *log;
    const char *report, *tensorboard;
    double epochs, minutes, lr, layer_decay, val, save_every;
    vit_steps steps;
    uint64_t batch, seed, freeze, threads, patience;
    vit_option_list set;
    int keep; /* KEEP_LAST or KEEP_BEST */
    bool resume, recompute, empty_classes, json, list_presets, overwrite;
    int precision; /* vit_precision; NOT_GIVEN: the preset's */
} settings;

enum { NOT_GIVEN = -1 };

enum { KEEP_LAST, KEEP_BEST };
static const char *const keeps[] = {"last", "best", NULL};

enum { HOW_LONG = 1 }; /* the options that say so exclude each other */

#define VALUE(type, member) .kind = VIT_OPTION_##type, .offset = offsetof(settings, member)

#define DATA_HELP                                                \
    "the pictures: a directory of IDX or CIFAR files, or with\n" \
    "a folder per class of PNG or JPEG files; or mnist,\n"       \
    "fashion, cifar10, cifar100 (in $VIT_DATA, then data/);\n"   \
    "or digits, which are drawn; FIRST+SECOND trains on both"

#define PRESET_HELP                                                \
    "network and recipe: mnist, fashion, digits, cifar10,\n"       \
    "cifar10-best, folder, handwriting, lecture, or a JSON file\n" \
    "(default: the data decides)"

#define SET_HELP                                                 \
    "another value for a key of the preset (docs/presets.md);\n" \
    "may be given again: --set dim=96 --set drop_path=0.1"

#define INIT_HELP "start from the weights of a model (default: random ones)"

#define CHECKPOINT_HELP                                          \
    "save the state there after every epoch, every so often\n"   \
    "and when interrupted; the last two and the best are kept\n" \
    "(default: nowhere)"

#define REPORT_HELP                                            \
    "a page that shows the training: curves, what is taken\n"  \
    "for what, the pictures it gets most wrong, what to try\n" \
    "next; written as it goes on, and when interrupted"

#define RECOMPUTE_HELP                                          \
    "keep only the input of each block for the backward pass\n" \
    "and compute the rest again: less memory, more time, the\n" \
    "same bytes"

#define KEEP_HELP                                              \
    "the model: that of the last step, or of the epoch with\n" \
    "the best answers to the held-back pictures (default: last)"

#define OUT_HELP "the model (default: NAME.safetensors of preset or data)"

#define SEED_HELP "same seed, same bytes (default: 0)"

#define RESUME_HELP "go on from the newest state in --checkpoint DIR that is\nwhole"

#define OVERWRITE_HELP "replace a model and checkpoints of another training"

static const vit_option options[] = {
    {.kind = VIT_OPTION_GROUP, .help = "What to train, on what"},
    {.name = "data", VALUE(TEXT, data), .argument = "DATA", .help = DATA_HELP},
    {.name = "empty-classes", VALUE(FLAG, empty_classes), .help = "allow classes without pictures"},
    {.name = "preset", VALUE(TEXT, preset), .argument = "NAME|FILE", .help = PRESET_HELP},
    {.name = "set", VALUE(LIST, set), .argument = "KEY=VALUE", .help = SET_HELP},
    {.name = "list-presets", VALUE(FLAG, list_presets), .help = "print the presets; no training"},
    {.name = "init", VALUE(TEXT, init), .argument = "MODEL", .help = INIT_HELP},
    {.name = "config", VALUE(TEXT, config), .argument = "FILE", .help = "config.json of --init"},
    {.name = "out", VALUE(TEXT, out), .argument = "FILE", .help = OUT_HELP},
    {.kind = VIT_OPTION_GROUP, .help = "How long (one of these; default: the preset's epochs)"},
    {.name = "epochs",
     VALUE(NUMBER, epochs),
     .argument = "N",
     .help = "passes over the training pictures",
     .max = 1e6,
     .exclusive = HOW_LONG},
    {.name = "steps",
     VALUE(STEPS, steps),
     .argument = "N|n/N",
     .help = "optimiser steps; n/N: the first n of a schedule of N",
     .exclusive = HOW_LONG},
    {.name = "minutes",
     VALUE(NUMBER, minutes),
     .argument = "M",
     .help = "as many steps as fit into M minutes, test included",
     .max = 1e6,
     .exclusive = HOW_LONG},
    {.name = "keep",
     VALUE(CHOICE, keep),
     .argument = "last|best",
     .choices = keeps,
     .help = KEEP_HELP},
    {.name = "patience",
     VALUE(COUNT, patience),
     .argument = "N",
     .help =
         "stop after N epochs without better answers to the\nheld-back pictures (default: never)",
     .min = 1,
     .max = 1e6},
    {.kind = VIT_OPTION_GROUP, .help = "How"},
    {.name = "batch",
     VALUE(COUNT, batch),
     .argument = "N",
     .help = "pictures a step (default: the preset's)",
     .min = 1,
     .max = 1e6},
    {.name = "lr",
     VALUE(NUMBER, lr),
     .argument = "X",
     .help = "highest learning rate (default: the preset's)",
     .max = 100},
    {.name = "freeze",
     VALUE(COUNT, freeze),
     .argument = "N",
     .help = "with --init: the first N blocks and what comes before\n"
             "them keep their weights (default: the preset's, 0)",
     .min = 1,
     .max = 1e6},
    {.name = "layer-decay",
     VALUE(NUMBER, layer_decay),
     .argument = "X",
     .help = "the learning rate falls by X from block to block towards\n"
             "the input, 0.75 say (default: the preset's, 1)",
     .max = 1},
    {.name = "val",
     VALUE(NUMBER, val),
     .argument = "N|SHARE",
     .help = "hold back N training pictures, or below 1 a share of them,\n"
             "to fit the temperature (default: a tenth, at most 1,000)",
     .min = NOT_GIVEN,
     .max = 1e9},
    {.name = "seed", VALUE(COUNT, seed), .argument = "N", .help = SEED_HELP},
    VIT_PRECISION_OPTION(settings, "the preset's, or f32"),
    VIT_THREADS_OPTION(settings, "changes no byte of the result (default: all processors)"),
    {.name = "recompute", VALUE(FLAG, recompute), .help = RECOMPUTE_HELP},
    {.kind = VIT_OPTION_GROUP, .help = "Checkpoints"},
    {.name = "checkpoint", VALUE(TEXT, checkpoint), .argument = "DIR", .help = CHECKPOINT_HELP},
    {.name = "save-every",
     VALUE(NUMBER, save_every),
     .argument = "M",
     .help = "minutes between states within an epoch (default: 10)",
     .max = 1e6},
    {.name = "resume", VALUE(FLAG, resume), .help = RESUME_HELP},
    {.name = "overwrite", VALUE(FLAG, overwrite), .help = OVERWRITE_HELP},
    {.kind = VIT_OPTION_GROUP, .help = "Output"},
    {.name = "log",
     VALUE(TEXT, log),
     .argument = "FILE.jsonl",
     .help = "write every event there, one JSON object a line;\nappended to with --resume"},
    {.name = "report", VALUE(TEXT, report), .argument = "FILE.html", .help = REPORT_HELP},
    {.name = "tensorboard",
     VALUE(TEXT, tensorboard),
     .argument = "DIR",
     .help = "event files there, for tensorboard --logdir DIR"},
    {.name = "json", VALUE(FLAG, json), .help = "the same events on standard output"},
};

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
             "      can be interrupted and given again; ends in the same bytes\n",
    .notes = "Progress is on standard error, the result on standard output. Ctrl-C (or\n"
             "SIGTERM, SIGHUP) finishes the step and saves the state, into NAME.checkpoint\n"
             "beside the model where no --checkpoint is given; a second one ends at once.\n"
             "Exit status: 0 done, 1 failed, 2 wrong usage, 129, 130 or 143 interrupted.\n"
             "VIT_CPU=scalar|neon|avx2|avx512|avx512bf16 is the highest instruction set\n"
             "used; in f32 the model is the same with each.\n",
    .options = options,
    .option_count = sizeof options / sizeof options[0],
};

static bool is_plain(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           strchr("-_.", c) != NULL;
}

/* NAME.safetensors: NAME is the last part of a path, without .json, of plain characters. */
static char *default_out(const settings *s) {
    const char *path = s->preset != NULL ? s->preset : s->data;
    size_t end = strlen(path);
    while (end > 0 && path[end - 1] == '/') end--;
    size_t start = end;
    while (start > 0 && path[start - 1] != '/') start--;
    if (s->preset != NULL && end - start > 5 && memcmp(path + end - 5, ".json", 5) == 0) {
        end -= 5;
    }
    while (start < end && path[start] == '.') start++; /* no hidden file, no ".." */
    vit_text name = {0};
    for (size_t i = start; i < end; i++) {
        vit_text_add_bytes(&name, is_plain(path[i]) ? &path[i] : "-", 1);
    }
    vit_text_add(&name, "%s.safetensors", start == end ? "model" : "");
    char *out = name.failed ? NULL : vit_strdup(name.text);
    vit_text_free(&name);
    return out;
}

static bool on_event(const vit_event *event, void *user) {
    vit_train_report_event(user, event);
    return vit_interrupted() == 0;
}

static vit_train_options train_options(const settings *s, const char *init, const char *out,
                                       const char *rescue, vit_train_report *report) {
    return (vit_train_options){
        .data = s->data,
        .preset = s->preset,
        .set = s->set.values,
        .set_count = s->set.count,
        .init = init,
        .config = s->config,
        .out = out,
        .checkpoint = s->checkpoint,
        .save_minutes = s->save_every,
        .report = s->report,
        .tensorboard = s->tensorboard,
        .resume = s->resume,
        .rescue = rescue,
        .overwrite = s->overwrite,
        .keep_best = s->keep == KEEP_BEST,
        .patience = (size_t)s->patience,
        .epochs = s->epochs,
        .steps = s->steps.steps,
        .schedule_steps = s->steps.schedule,
        .minutes = s->minutes,
        .batch = (size_t)s->batch,
        .lr = s->lr,
        .freeze = (size_t)s->freeze,
        .layer_decay = s->layer_decay,
        .val = s->val,
        .val_given = s->val > NOT_GIVEN,
        .empty_classes = s->empty_classes,
        .seed = s->seed,
        .threads = (int)s->threads,
        .recompute = s->recompute,
        .cpu = vit_chosen_cpu(),
        .precision = s->precision == NOT_GIVEN ? VIT_PRECISION_F32 : (vit_precision)s->precision,
        .precision_given = s->precision != NOT_GIVEN,
        .callback = on_event,
        .user = report,
    };
}

/* Says why the training ended early; returns the exit status. */
static int explain(const settings *s, const vit_train_report *report, const vit_error *error) {
    int number = vit_interrupted();
    if (error->status != VIT_ERROR_CANCELLED || number == 0) {
        int exit_status = vit_say_error(&command, error);
        return report->steps == 0 ? exit_status : VIT_EXIT_FAILED; /* no usage error any more */
    }
    vit_text text = {0};
    vit_text_add(&text, "interrupted after step %llu of %llu; ", (unsigned long long)report->step,
                 (unsigned long long)report->steps);
    if (s->checkpoint != NULL &&
        (report->saved_in == NULL || vit_path_same(s->checkpoint, report->saved_in))) {
        vit_text_add(&text, "the same command with --resume goes on from there");
    } else if (report->saved_in != NULL) {
        vit_text_add(&text, "the same command with --checkpoint %s --resume goes on from there",
                     report->saved_in);
    } else {
        vit_text_add(&text, "nothing was saved");
    }
    vit_say(&command, text.failed ? "interrupted" : text.text);
    vit_text_free(&text);
    return 128 + number;
}

/* OUT without .safetensors, and ".checkpoint": where a training goes that is interrupted and has no
 * --checkpoint. */
static char *rescue_name(const char *out) {
    static const char ending[] = ".safetensors";
    size_t length = strlen(out), tail = sizeof ending - 1;
    if (length > tail && strcmp(out + length - tail, ending) == 0) {
        length -= tail;
    }
    vit_text name = {0};
    vit_text_add_bytes(&name, out, length);
    vit_text_add(&name, ".checkpoint");
    char *copy = name.failed ? NULL : vit_strdup(name.text);
    vit_text_free(&name);
    return copy;
}

static int train(const settings *s, const char *init, const char *out, const char *rescue) {
    vit_error error = {0};
    vit_train_report report = {
        .command = &command, .out = out, .log_path = s->log, .append = s->resume, .json = s->json};
    if (vit_train_report_start(&report, &error) != VIT_OK) {
        return vit_say_error(&command, &error);
    }
    vit_train_options choice = train_options(s, init, out, rescue, &report);
    vit_status status = vit_train(NULL, &choice, &error);
    bool logged = vit_train_report_end(&report);
    int exit_status = logged ? VIT_EXIT_OK : VIT_EXIT_FAILED;
    if (status != VIT_OK) {
        exit_status = explain(s, &report, &error);
    }
    vit_free(report.saved_in);
    return exit_status;
}

/* Finds out which files the names mean. */
static int run(const settings *s) {
    vit_error error = {0};
    char *init = NULL;
    char *out = s->out != NULL ? vit_strdup(s->out) : default_out(s);
    char *rescue = out != NULL ? rescue_name(out) : NULL;
    if (rescue == NULL) {
        vit_fail_memory(&error, "the name of the model", strlen(s->data));
    } else if (s->init != NULL) {
        vit_find_model(&init, s->init, &error);
    }
    int exit_status =
        error.status != VIT_OK ? vit_say_error(&command, &error) : train(s, init, out, rescue);
    vit_free(init);
    vit_free(rescue);
    vit_free(out);
    return exit_status;
}

static int list_presets(void) {
    vit_text text = {0};
    const char *name, *json;
    for (size_t i = 0; (json = vit_preset_json(i, &name)) != NULL; i++) {
        vit_text_add(&text, "%s%s\n%s", i > 0 ? "\n" : "", name, json);
    }
    bool fine = vit_print(&command, &text);
    return vit_program_end(&command, fine ? VIT_EXIT_OK : VIT_EXIT_FAILED);
}

static bool same(const char *a, const char *b) {
    return a != NULL && b != NULL && strcmp(a, b) == 0;
}

int main(int argc, char **argv) {
    settings s = {.precision = NOT_GIVEN, .val = NOT_GIVEN};
    int exit_status;
    if (!vit_program_start(&command, &s, &argc, argv, &exit_status)) {
        return exit_status;
    }
    if (s.list_presets) {
        return list_presets();
    }
    if (s.data == NULL) {
        return vit_say_usage(&command, "--data DATA is missing");
    }
    if (s.resume && s.checkpoint == NULL) {
        return vit_say_usage(&command, "--resume: --checkpoint DIR, to go on from, is missing");
    }
    if (same(s.log, s.out) || same(s.log, s.report) || same(s.report, s.out)) {
        return vit_say_usage(&command, "two of --out, --log and --report name the same file");
    }
    vit_interrupt_catch();
    exit_status = run(&s);
    return vit_program_end(&command, exit_status);
}
