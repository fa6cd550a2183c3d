/* vit-report: shows the log of a training as a page, or compares several. */
#include <stddef.h>
#include <string.h>

#include "vit/base/sys.h"
#include "vit/cli/models/models.h"
#include "vit/cli/train/runs.h"
#include "vit/reports.h"

typedef struct settings {
    vit_model_choice from;
    const char *out, *data, *class_column;
    vit_optional split; /* vit_split */
    uint64_t threads;
    bool json;
} settings;

static const vit_option options[] = {
    {.kind = VIT_OPTION_GROUP, .help = "What is written"},
    {VIT_OPTION(TEXT, "out", out, "FILE.html"),
     .help = "the page, one file that is complete in itself; also\n"
             "-o. A file that is not such a page is not replaced",
     .letter = 'o'},
    {.kind = VIT_OPTION_GROUP, .help = "What it shows beside the curves"},
    {VIT_OPTION(TEXT, "model", from.name, "NAME|MODEL"),
     .help = "the model that was trained: shows the filters of its\n"
             "first layer and its positions"},
    VIT_CONFIG_OPTION(settings),
    {VIT_OPTION(TEXT, "data", data, "DATA"),
     .help = "with --model: its confusion matrix on these data, and\n"
             "the pictures that it gets most wrong"},
    VIT_CLASS_COLUMN_OPTION(settings, class_column),
    {VIT_OPTION(CHOICE, "split", split, "test|train|val"), .optional = true,
     .help = "which pictures of DATA (default: test)", .choices = vit_split_names},
    {.kind = VIT_OPTION_GROUP, .help = "How"},
    VIT_THREADS_OPTION(settings, "changes no byte (default: all processors)"),
    {VIT_FLAG("json", json), .help = "of several logs: the table as one JSON object"},
};

static const vit_command command = {
    .name = "vit-report",
    .usage = "usage: vit-report LOG.jsonl -o FILE.html [OPTION...]\n"
             "       vit-report LOG.jsonl LOG.jsonl... [--json | -o FILE.html]\n"
             "\n"
             "Shows a training as a page that opens in any browser, without a network; or\n"
             "compares several, in a table or on a page. Those that differ in their seed alone\n"
             "stand together, with mean and standard deviation.\n"
             "\n"
             "  vit-train --data digits --log log.jsonl\n"
             "  vit-report log.jsonl -o digits.html\n"
             "      loss, accuracy, learning rate, speed\n"
             "  vit-report log.jsonl -o digits.html --model digits.safetensors --data digits\n"
             "      and the confusion matrix, with the pictures\n"
             "  vit-report digits-seed0.jsonl digits-seed1.jsonl digits-seed2.jsonl\n"
             "      steps, and validation and test accuracy in %, a line each\n"
             "  vit-report old-*.jsonl new-*.jsonl -o recipes.html\n"
             "      two recipes: their figures and their curves\n",
    .operands = "LOG.jsonl...",
    .notes = "vit-train --report FILE.html writes such a page while it trains, with pictures.\n"
             "Exit status: 0 done, 1 failed, 2 wrong usage.\n",
    .options = options,
    .option_count = sizeof options / sizeof options[0],
};

static int run(const settings *s, const char *log) {
    vit_error error = {0};
    char *model = NULL;
    if (s->from.name && vit_find_model(&model, s->from.name, &error) != VIT_OK)
        return vit_say_error(&command, &error);
    const vit_report_options choice = {.log = log,
                                       .out = s->out,
                                       .model = model,
                                       .config = s->from.config,
                                       .data = s->data,
                                       .class_column = s->class_column,
                                       .split = (vit_split)s->split.value,
                                       .threads = (int)s->threads,
                                       .cpu = vit_chosen_cpu(),
                                       .note = vit_say_note,
                                       .user = (void *)&command};
    vit_status status = vit_write_report(&choice, &error);
    vit_free(model);
    return status == VIT_OK ? VIT_EXIT_OK : vit_say_error(&command, &error);
}

/* A page of several. */
static int write_comparison(const settings *s, char **paths, size_t count) {
    vit_error error = {0};
    const vit_comparison_options choice = {
        .logs = (const char *const *)paths, .count = count, .out = s->out};
    if (vit_write_comparison(&choice, &error) == VIT_OK) return VIT_EXIT_OK;
    return vit_say_error(&command, &error);
}

static int compare(const settings *s, char **paths, size_t count) {
    vit_error error = {0};
    bool fine = true;
    vit_run *runs = vit_alloc(count, sizeof *runs);
    if (!runs) vit_fail_memory(&error, "the trainings", count * sizeof *runs);
    for (size_t i = 0; i < count && error.status == VIT_OK; i++) {
        runs[i].name = paths[i];
        vit_read_log(&runs[i].summary, paths[i], &error);
    }
    if (error.status == VIT_OK && s->json) {
        vit_json_out json = {0};
        vit_json_open(&json, NULL, '{');
        fine = vit_runs->json(&command, &json, runs, count);
        vit_json_close(&json, '}');
        if (fine)
            fine = vit_print_json(&command, &json);
        else
            vit_string_free(&json.text);
    } else if (error.status == VIT_OK) {
        fine = vit_runs->text(&command, runs, count);
    }
    for (size_t i = 0; i < count && runs; i++) vit_log_summary_clear(&runs[i].summary);
    vit_free(runs);
    if (error.status != VIT_OK) return vit_say_error(&command, &error);
    return fine ? VIT_EXIT_OK : VIT_EXIT_FAILED;
}

int main(int argc, char **argv) {
    settings s = {0};
    int exit_status;
    if (!vit_program_start(&command, &s, &argc, argv, &exit_status)) return exit_status;
    if (argc < 2) return vit_say_usage(&command, "expected LOG.jsonl, the log of a training");
    if (argc > 2 && (s.from.name || s.data))
        return vit_say_usage(&command, "--model and --data are for the page of one log");
    if (s.from.config && !s.from.name)
        return vit_say_usage(&command, "--config is for --model MODEL");
    if ((s.class_column || s.split.given) && !s.data)
        return vit_say_usage(&command, "--class-column and --split are for --data DATA");
    if (argc > 2 && s.out && s.json)
        return vit_say_usage(&command, "--json prints the table, --out writes the page: give one");
    for (int i = 1; i < argc && s.out; i++)
        if (strcmp(s.out, argv[i]) == 0)
            return vit_say_usage(&command, "--out and a log are the same file");
    if (argc > 2 && s.out)
        return vit_program_end(&command, write_comparison(&s, argv + 1, (size_t)argc - 1));
    if (argc > 2) return vit_program_end(&command, compare(&s, argv + 1, (size_t)argc - 1));
    if (!s.out)
        return vit_say_usage(&command, "--out FILE.html is missing, or a second log to compare");
    if (s.json) return vit_say_usage(&command, "--json is for several logs");
    if (s.data && !s.from.name)
        return vit_say_usage(&command, "--data needs --model, which classifies its pictures");
    return vit_program_end(&command, run(&s, argv[1]));
}
