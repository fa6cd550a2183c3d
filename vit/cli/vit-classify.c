/* vit-classify: tells what pictures show. */
#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "vit/base/sys.h"
#include "vit/cli/json_out.h"
#include "vit/cli/model_list.h"
#include "vit/cli/models.h"
#include "vit/cli/name_list.h"
#include "vit/cli/program.h"

typedef struct settings {
    const char *model, *config, *files_from;
    uint64_t top, threads;
    vit_size size; /* 0: the model's own */
    bool list, json, logits;
    int precision; /* vit_precision */
} settings;

#define PLACE(member) offsetof(settings, member)

static const vit_option options[] = {
    {.kind = VIT_OPTION_GROUP, .help = "The model"},
    {.name = "model",
     .kind = VIT_OPTION_TEXT,
     .offset = PLACE(model),
     .argument = "NAME|MODEL",
     .help = "a file or a directory of weights: our own, or published\n"
             "ones (timm, Hugging Face, ...: docs/weights.md); or the\n"
             "name of a model in $VIT_MODELS or beside the program\n"
             "(default: mnist)"},
    {.name = "config",
     .kind = VIT_OPTION_TEXT,
     .offset = PLACE(config),
     .argument = "FILE",
     .help = "of published weights: the config, instead of the\n"
             "config.json beside them"},
    {.name = "size",
     .kind = VIT_OPTION_SIZE,
     .offset = PLACE(size),
     .argument = "N|HxW",
     .help = "the network's input in pixels, instead of the model's:\n"
             "positions are resampled"},
    {.name = "list",
     .kind = VIT_OPTION_FLAG,
     .offset = PLACE(list),
     .help = "the models that have names, what they were trained on\n"
             "and how often they are right; reads no picture"},
    {.kind = VIT_OPTION_GROUP, .help = "The pictures"},
    {.name = "files-from",
     .kind = VIT_OPTION_TEXT,
     .offset = PLACE(files_from),
     .argument = "FILE|-",
     .help = "take the names of the pictures from a file, or from\n"
             "standard input, one a line"},
    {.kind = VIT_OPTION_GROUP, .help = "The answer"},
    {.name = "top",
     .kind = VIT_OPTION_COUNT,
     .offset = PLACE(top),
     .argument = "K",
     .help = "the K likeliest classes (default: 3; where the model\n"
             "has fewer, all)",
     .min = 1,
     .max = 1e6},
    {.name = "json",
     .kind = VIT_OPTION_FLAG,
     .offset = PLACE(json),
     .help = "one JSON object a line for each picture, or model"},
    {.name = "logits",
     .kind = VIT_OPTION_FLAG,
     .offset = PLACE(logits),
     .help = "also what the network put out for every class"},
    {.kind = VIT_OPTION_GROUP, .help = "How"},
    VIT_PRECISION_OPTION(settings),
    {.name = "threads",
     .kind = VIT_OPTION_COUNT,
     .offset = PLACE(threads),
     .argument = "N",
     .help = "changes no digit of the answer (default: all processors)",
     .min = 1,
     .max = 1024},
};

static const vit_command command = {
    .name = "vit-classify",
    .usage = "usage: vit-classify [OPTION...] PICTURE...\n"
             "       vit-classify [OPTION...] --files-from FILE\n"
             "       vit-classify --list [--json]\n"
             "\n"
             "Tells what pictures (PNG or JPEG) show. A picture - is read from standard input.\n"
             "\n"
             "  vit-classify --model digits.safetensors seven.png\n"
             "      the three likeliest answers, with their probabilities\n"
             "  find scans -name '*.png' | vit-classify --json --files-from - >answers.jsonl\n"
             "      thousands of pictures by the model mnist, for another program\n",
    .operands = "PICTURE",
    .notes = "A picture that cannot be read is reported, and the rest go on; at the end they\n"
             "are counted.\n"
             "Exit status: 0 done, 1 a picture or the model failed, 2 wrong usage.\n"
             "VIT_CPU=scalar|neon|avx2|avx512|avx512bf16 is the highest instruction set\n"
             "used; in f32 the answer is the same with each.\n",
    .options = options,
    .option_count = sizeof options / sizeof options[0],
};

/* The model at work, and room for one answer. */
typedef struct classifier {
    const settings *settings;
    vit_model *model;
    vit_session *session;
    size_t classes, top;
    float *logits, *probabilities; /* [classes] */
    size_t *best;                  /* [top] classes, the likeliest first */
    bool answered;                 /* a block of text has been written */
    uint64_t pictures, failed;     /* so far; the latter could not be read */
    int exit_status;
} classifier;

static vit_status allocate(classifier *c, vit_error *error) {
    c->classes = vit_model_describe(c->model).classes;
    c->top = c->settings->top < c->classes ? (size_t)c->settings->top : c->classes;
    c->logits = vit_alloc(c->classes, sizeof *c->logits);
    c->probabilities = vit_alloc(c->classes, sizeof *c->probabilities);
    c->best = vit_alloc(c->top, sizeof *c->best);
    if (c->logits == NULL || c->probabilities == NULL || c->best == NULL) {
        return vit_fail_memory(error, "an answer", c->classes * sizeof *c->logits);
    }
    return VIT_OK;
}

static vit_status open_classifier(classifier *c, vit_error *error) {
    char *path;
    vit_session_options choice = {.threads = (int)c->settings->threads,
                                  .cpu = vit_chosen_cpu(),
                                  .precision = (vit_precision)c->settings->precision};
    vit_status status = vit_find_model(&path, c->settings->model, error);
    if (status == VIT_OK) {
        const vit_size size = c->settings->size;
        const vit_model_options opening = {
            .config = c->settings->config, .height = size.height, .width = size.width};
        status = vit_model_load_with(&c->model, path, &opening, error);
        vit_free(path);
    }
    if (status == VIT_OK) {
        status = vit_session_new(&c->session, c->model, &choice, error);
    }
    return status == VIT_OK ? allocate(c, error) : status;
}

static void close_classifier(classifier *c) {
    vit_free(c->best);
    vit_free(c->probabilities);
    vit_free(c->logits);
    vit_session_free(c->session);
    vit_model_free(c->model);
}

static vit_status classify(classifier *c, const char *name, vit_error *error) {
    const size_t limit = (size_t)256 << 20; /* as for a picture in a file */
    const char *list = c->settings->files_from;
    vit_status status;
    if (strcmp(name, "-") == 0 && list != NULL && strcmp(list, "-") == 0) {
        status = vit_fail(error, VIT_ERROR_ARGUMENT,
                          "-: standard input holds the names of the pictures, expected a file");
    } else if (strcmp(name, "-") == 0) {
        vit_bytes bytes;
        status = vit_read_file(&bytes, name, limit, error);
        if (status == VIT_OK) {
            status = vit_classify_memory(c->session, bytes.data, bytes.size, "standard input",
                                         c->logits, error);
        }
        vit_free(bytes.data);
    } else {
        status = vit_classify_file(c->session, name, c->logits, error);
    }
    if (status == VIT_OK) {
        vit_probabilities(c->logits, c->classes, c->probabilities);
        vit_top_k(c->probabilities, c->classes, c->top, c->best);
    }
    return status;
}

static bool write_json(const classifier *c, const char *name, const vit_error *failure) {
    vit_json_out json = {0};
    vit_json_open(&json, NULL, '{');
    vit_json_text(&json, "file", name);
    if (failure != NULL) {
        vit_json_text(&json, "error", failure->message);
    } else {
        vit_json_open(&json, "predictions", '[');
        for (size_t i = 0; i < c->top; i++) {
            vit_json_open(&json, NULL, '{');
            vit_json_count(&json, "index", c->best[i]);
            vit_json_text(&json, "label", vit_model_label(c->model, c->best[i]));
            vit_json_float(&json, "probability", c->probabilities[c->best[i]]);
            vit_json_close(&json, '}');
        }
        vit_json_close(&json, ']');
        const char *warning = vit_session_warning(c->session);
        if (warning != NULL) vit_json_text(&json, "warning", warning);
    }
    if (failure == NULL && c->settings->logits) {
        vit_json_open(&json, "logits", '[');
        for (size_t i = 0; i < c->classes; i++) vit_json_g9(&json, NULL, c->logits[i]);
        vit_json_close(&json, ']');
    }
    vit_json_close(&json, '}');
    return vit_print_json(&command, &json);
}

/* A bar of 24 columns for 1, in eighths of a column where the terminal can show them. */
static void add_bar(vit_text *text, float probability) {
    static const char *const parts[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
    enum { COLUMNS = 24 };
    int eighths = probability > 0 ? (int)(probability * 8 * COLUMNS + 0.5f) : 0;
    bool fine = vit_speaks_utf8();
    int whole = fine ? eighths / 8 : (eighths + 4) / 8;
    for (int i = 0; i < whole; i++) vit_text_add(text, "%s", fine ? "█" : "#");
    const char *part = fine ? parts[eighths % 8] : "";
    int used = whole + (*part != '\0');
    vit_text_add(text, "%s%*s", part, COLUMNS - used, "");
}

static size_t label_width(const classifier *c) {
    size_t width = 0;
    for (size_t i = 0; i < c->top; i++) {
        size_t columns = vit_text_columns(vit_model_label(c->model, c->best[i]));
        width = columns > width ? columns : width;
    }
    return width < 40 ? width : 40;
}

static bool write_text(classifier *c, const char *name) {
    char number[32];
    vit_text text = {0};
    size_t width = label_width(c);
    vit_text_add(&text, "%s", c->answered ? "\n" : "");
    vit_text_add_visible(&text, name, 0);
    vit_text_add(&text, "\n");
    c->answered = true;
    for (size_t i = 0; i < c->top; i++) {
        float probability = c->probabilities[c->best[i]];
        vit_text_add(&text, "  ");
        vit_text_add_visible(&text, vit_model_label(c->model, c->best[i]), width);
        vit_text_add(&text, "  ");
        add_bar(&text, probability);
        vit_text_add(&text, " %6s %%\n", vit_format_fixed(number, 100.0 * (double)probability, 2));
    }
    for (size_t i = 0; i < c->classes && c->settings->logits; i++) {
        vit_text_add(&text, "%s%s", i == 0 ? "  logits " : " ",
                     vit_format_g9(number, c->logits[i]));
    }
    vit_text_add(&text, "%s", c->settings->logits ? "\n" : "");
    return vit_print(&command, &text);
}

static void say_warning(const classifier *c, const char *name) {
    vit_text text = {0};
    const char *warning = vit_session_warning(c->session);
    if (warning == NULL) return;
    vit_text_add(&text, "%s: warning: %s", name, warning);
    if (!text.failed) vit_say(&command, text.text);
    vit_text_free(&text);
}

static void answer(classifier *c, const char *name) {
    vit_error error;
    bool fine = classify(c, name, &error) == VIT_OK;
    bool written = true;
    c->pictures++;
    c->failed += !fine;
    if (fine) say_warning(c, name);
    if (c->settings->json) {
        written = write_json(c, name, fine ? NULL : &error);
    } else if (fine) {
        written = write_text(c, name);
    } else {
        vit_say(&command, error.message);
    }
    if (!fine || !written) {
        c->exit_status = VIT_EXIT_FAILED;
    }
}

/* Answers for each name of a list as it arrives. */
static void answer_list(classifier *c, const char *path) {
    vit_name_list list;
    vit_error error;
    vit_status status = vit_name_list_open(&list, path, &error);
    while (status == VIT_OK) {
        const char *name;
        status = vit_name_list_next(&list, &name, &error);
        if (status == VIT_OK && name == NULL) {
            break;
        }
        if (status == VIT_OK) answer(c, name);
    }
    if (status == VIT_OK && c->pictures == 0) {
        status = vit_fail(&error, VIT_ERROR_ARGUMENT,
                          "%s names no picture, expected one name of a file a line", list.path);
    }
    vit_name_list_close(&list);
    if (status != VIT_OK) {
        vit_say(&command, error.message);
        c->exit_status = VIT_EXIT_FAILED;
    }
}

/* After many answers, the one that failed is out of sight. */
static void say_failed(const classifier *c) {
    char failed[32], pictures[32];
    vit_text text = {0};
    if (c->failed == 0 || c->pictures == 1) return;
    vit_text_add(&text, "%s of %s pictures could not be read", vit_format_count(failed, c->failed),
                 vit_format_count(pictures, c->pictures));
    if (!text.failed) vit_say(&command, text.text);
    vit_text_free(&text);
}

static int run(const settings *s, int pictures, char **names) {
    classifier c = {.settings = s};
    vit_error error;
    if (open_classifier(&c, &error) != VIT_OK) {
        vit_say(&command, error.message);
        c.exit_status = VIT_EXIT_FAILED;
    } else if (s->files_from != NULL) {
        answer_list(&c, s->files_from);
    } else {
        for (int i = 0; i < pictures; i++) answer(&c, names[i]);
    }
    say_failed(&c);
    close_classifier(&c);
    return c.exit_status;
}

int main(int argc, char **argv) {
    settings s = {.model = "mnist", .top = 3};
    int exit_status;
    if (!vit_program_start(&command, &s, &argc, argv, &exit_status)) {
        return exit_status;
    }
    if (s.list && (argc > 1 || s.files_from != NULL)) {
        return vit_say_usage(&command, "--list reads no picture");
    }
    if (s.list) {
        return vit_program_end(&command, vit_show_models(&command, s.json));
    }
    if (argc == 1 && s.files_from == NULL) {
        return vit_say_usage(&command, "no picture is named: give PICTURE... or --files-from FILE");
    }
    if (argc > 1 && s.files_from != NULL) {
        return vit_say_usage(&command, "PICTURE... and --files-from exclude each other");
    }
    exit_status = run(&s, argc - 1, argv + 1);
    return vit_program_end(&command, exit_status);
}
