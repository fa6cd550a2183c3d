/* vit-pack: many pictures in few files. */
#include <stddef.h>

#include "datasets/shards/pack.h"
#include "vit/base/parallel.h"
#include "vit/cli/parts/program.h"
#include "vit/cli/parts/progress.h"

typedef struct settings {
    const char *out, *class_column;
    uint64_t megabytes, seed, threads;
    bool index, json;
} settings;

static const vit_option options[] = {
    {.kind = VIT_OPTION_GROUP, .help = "What is written"},
    {VIT_OPTION(TEXT, "out", out, "DIR"), .letter = 'o',
     .help = "the directory of the shards, which is made; nothing is\n"
             "overwritten"},
    VIT_CLASS_COLUMN_OPTION(settings, class_column),
    {VIT_OPTION(COUNT, "megabytes", megabytes, "N"), .help = "of a shard, at most (default: 256)",
     .min = 1, .max = 1e6},
    {VIT_OPTION(COUNT, "seed", seed, "N"), .help = "draws the order of the pictures (default: 0)"},
    {VIT_FLAG("index", index), .help = "write only the index of shards that are there, such as\n"
                                       "WebDataset's, so that data open without reading them"},
    {.kind = VIT_OPTION_GROUP, .help = "How"},
    VIT_THREADS_OPTION(settings, "that check pictures; changes no byte (default: all\n"
                                 "processors)"),
    {VIT_FLAG("json", json), .help = "what was written as one JSON object"},
};

static const vit_command command = {
    .name = "vit-pack",
    .usage = "usage: vit-pack DATA -o DIR [OPTION...]\n"
             "       vit-pack --index DIR\n"
             "\n"
             "Writes the pictures of a folder into tar files of equal size, shards, in an\n"
             "order drawn by a seed: file systems of clusters are slow with millions of small\n"
             "files. vit-train and vit-evaluate read DIR like the folder; so does WebDataset.\n"
             "\n"
             "  vit-pack pets -o pets-shards\n"
             "      pets-shards/train-000000.tar, ..., test-000000.tar, shards.tsv\n"
             "  vit-train --data pets-shards\n",
    .operands = "DATA",
    .notes = "DATA is a folder for each class, or a table of pictures and classes. Pictures\n"
             "that cannot be read are named and left out.\n"
             "Exit status: 0 done, 1 failed, 2 wrong usage.\n",
    .options = options,
    .option_count = sizeof options / sizeof options[0],
};

static void say_left_out(const char *problem, void *user) {
    vit_progress_clear(user);
    vit_say(&command, "left out: %s", problem);
}

static void show_progress(bool writes, size_t done, size_t total, void *user) {
    char n[2][32];
    vit_progress_text(user, "%s %s of %s pictures", writes ? "writing" : "checking",
                      vit_format_count(n[0], done), vit_format_count(n[1], total));
}

static bool say_packed(const vit_packed *p, const char *where, bool as_json) {
    char n[6][32];
    vit_string text = {0};
    if (as_json) {
        vit_json_out json = {0};
        vit_json_open(&json, NULL, '{');
        vit_json_text(&json, "data", where);
        vit_json_count(&json, "train", p->train);
        vit_json_count(&json, "val", p->val);
        vit_json_count(&json, "test", p->test);
        vit_json_count(&json, "classes", p->classes);
        vit_json_count(&json, "shards", p->shards);
        vit_json_count(&json, "bytes", p->bytes);
        vit_json_count(&json, "left_out", p->left_out);
        vit_json_close(&json, '}');
        return vit_print_json(&command, &json);
    }
    vit_string_add(&text,
                   "%s: %s pictures for training, %s for validation, %s for the test, of "
                   "%s classes, in %s shards, %s bytes",
                   where, vit_format_count(n[0], p->train), vit_format_count(n[1], p->val),
                   vit_format_count(n[2], p->test), vit_format_count(n[3], p->classes),
                   vit_format_count(n[4], p->shards), vit_format_count(n[5], p->bytes));
    if (p->left_out > 0)
        vit_string_add(&text, "; %s left out", vit_format_count(n[0], p->left_out));
    vit_string_add(&text, "\n");
    return vit_print(&command, &text);
}

static int run(const settings *s, const char *data) {
    vit_packed packed;
    vit_error error;
    vit_progress progress = vit_progress_start(false);
    const vit_pack_options o = {.data = data,
                                .class_column = s->class_column,
                                .out = s->out,
                                .bytes = (s->megabytes > 0 ? s->megabytes : 256) * 1000000,
                                .seed = s->seed,
                                .threads = s->threads > 0 ? (int)s->threads : vit_threads_default(),
                                .unreadable = say_left_out,
                                .progress = show_progress,
                                .user = &progress};
    const vit_status status =
        s->index ? vit_pack_index(&packed, &o, &error) : vit_pack(&packed, &o, &error);
    vit_progress_clear(&progress);
    if (status != VIT_OK) return vit_say_error(&command, &error);
    return say_packed(&packed, s->index ? data : s->out, s->json) ? VIT_EXIT_OK : VIT_EXIT_FAILED;
}

int main(int argc, char **argv) {
    settings s = {0};
    int exit_status;
    if (!vit_program_start(&command, &s, &argc, argv, &exit_status)) return exit_status;
    if (argc != 2) return vit_say_usage(&command, "expected one DATA, the folder of the pictures");
    if (s.index && s.class_column)
        return vit_say_usage(&command, "--class-column is for the pictures of a table");
    if (s.index && (s.out || s.seed > 0 || s.megabytes > 0))
        return vit_say_usage(&command, "--index writes into the directory of the shards: leave "
                                       "--out, --megabytes and --seed out");
    if (!s.index && !s.out) return vit_say_usage(&command, "--out DIR is missing");
    return vit_program_end(&command, run(&s, argv[1]));
}
