/* vit-read: writes the text that a picture shows, or that a model makes of a text. */
#include <stddef.h>
#include <string.h>

#include "vit/base/size.h"
#include "vit/base/sys.h"
#include "vit/cli/models/models.h"
#include "vit/cli/parts/name_list.h"
#include "vit/cli/parts/program.h"
#include "vit/formats/json_out.h"
#include "vit/texts.h"

typedef struct settings {
    vit_model_choice from;
    const char *explain;
    vit_option_list texts;
    bool json;
    uint64_t beams, length, top_k, seed, count, threads;
    double temperature;
    vit_optional length_penalty, early_stopping, no_repeat;
    bool sample;
} settings;

#define AT_ONCE 64 /* pictures or texts */

/* In the order of vit_early_stopping, as Hugging Face calls them. */
static const char *const stops[] = {"false", "true", "never", NULL};
VIT_CHECK_ROWS(stops, VIT_EARLY_STOPPING_COUNT + 1);

static const vit_option options[] = {
    {.kind = VIT_OPTION_GROUP, .help = "What to read"},
    {VIT_OPTION(TEXT, "model", from.name, "NAME|MODEL"),
     .help = "a model that writes texts: trained here on strips,\n"
             "numbers:en-de, ... (docs/data.md), or a directory of\n"
             "Hugging Face's (docs/weights.md)",
     .required = true},
    VIT_EXIF_OPTION(settings),
    {VIT_OPTION(LIST, "text", texts, "TEXT"),
     .help = "the input of a model that reads texts; may be given\n"
             "several times. With - in place of PICTURE, each\n"
             "line of standard input is a text"},
    {VIT_OPTION(COUNT, "count", count, "N"),
     .help = "number of texts of a language model, which takes no\n"
             "input (default: 1)",
     .min = 1, .max = 1e6},
    {.kind = VIT_OPTION_GROUP, .help = "The answer"},
    {VIT_FLAG("json", json), .help = "one JSON object a line, with ids and score"},
    {VIT_OPTION(TEXT, "explain", explain, "FILE"),
     .help = "for one picture or text: what the model looked at\n"
             "while it wrote each token. FILE.html: a page to\n"
             "explore all layers and heads in a browser;\n"
             "FILE.png: the last layer"},
    {.kind = VIT_OPTION_GROUP, .help = "How it is written"},
    {VIT_OPTION(COUNT, "beams", beams, "N"),
     .help = "width of the beam search; 1: greedy (default: the\n"
             "model's)",
     .min = 1, .max = 64},
    {VIT_OPTION(COUNT, "length", length, "N"),
     .help = "maximum of tokens of a text, with its start token\n"
             "(default: the model's)",
     .min = 2, .max = 16385},
    {VIT_OPTION(NUMBER, "length-penalty", length_penalty, "X"), .optional = true,
     .help = "for beams: the score of a text is its sum of log p,\n"
             "divided by tokens^X (default: the model's, or 1)",
     .min = -100, .max = 100},
    {VIT_OPTION(CHOICE, "early-stopping", early_stopping, "false|true|never"), .optional = true,
     .help = "when the beam search ends. false: no unfinished\n"
             "text is likely to overtake; true: as many texts as\n"
             "beams are finished; never: none can overtake\n"
             "(default: the model's, or false)",
     .choices = stops},
    {VIT_OPTION(COUNT, "no-repeat", no_repeat, "N"), .optional = true,
     .help = "no sequence of N tokens comes twice; 0: any may\n"
             "(default: the model's, or 0)",
     .max = 1000},
    {VIT_FLAG("sample", sample), .help = "draw each token at random, with the model's\n"
                                         "probabilities"},
    {VIT_OPTION(NUMBER, "temperature", temperature, "X"),
     .help = "with --sample: below 1, likelier tokens are drawn\n"
             "more often (default: 1)",
     .min = 0, .max = 1000},
    {VIT_OPTION(COUNT, "top-k", top_k, "N"),
     .help = "with --sample: draw from the N likeliest tokens\n"
             "(default: from all)",
     .min = 1, .max = 1e6},
    {VIT_OPTION(COUNT, "seed", seed, "N"),
     .help = "with --sample: seed of the random numbers (default:\n"
             "0)"},
    {.kind = VIT_OPTION_GROUP, .help = "How"},
    VIT_PRECISION_OPTION(settings),
    VIT_ARITHMETIC_OPTION(settings),
    VIT_THREADS_OPTION(settings, "changes no answer (default: all processors)"),
};

static const vit_command command = {
    .name = "vit-read",
    .usage = "usage: vit-read --model NAME|MODEL [OPTION...] PICTURE...\n"
             "       vit-read --model NAME|MODEL [OPTION...] --text TEXT | -\n"
             "\n"
             "Writes the text that a picture shows, or that a model makes of another text.\n"
             "\n"
             "  vit-read --model strips.safetensors row.png\n"
             "      the digits on a picture of a row of them\n"
             "  vit-read --model numbers.safetensors --text \"forty-two\"\n"
             "      the number in another language\n"
             "  vit-read --model numbers.safetensors --text \"sixty thousand\" --explain 60.html\n"
             "      and which words it looked at, as a page\n"
             "  vit-read --model language.safetensors --sample --count 5\n"
             "      five texts of a language model\n"
             "  vit-read --model trocr-base-printed/ --beams 4 line.png\n"
             "      a line of text, with published weights\n",
    .operands = "PICTURE",
    .notes = "Exit status: 0 done, 1 failed, also where one picture could not be read, 2\n"
             "wrong usage.\n" VIT_CPU_NOTE "; in f32 the answers are the same with each.\n",
    .options = options,
    .option_count = sizeof options / sizeof options[0],
};

typedef struct reading {
    const settings *settings;
    vit_model *model;
    vit_text_session *session;
    bool fine; /* nothing has failed so far */
} reading;

static vit_status open_session(reading *r, vit_error *error) {
    const settings *s = r->settings;
    const vit_status status = vit_load_chosen_model(&r->model, &s->from, s->threads, false, error);
    const vit_text_options how = {.threads = (int)s->threads,
                                  .cpu = vit_chosen_cpu(),
                                  .precision = vit_chosen_precision(&s->from),
                                  .bf16 = (vit_bf16)s->from.bf16,
                                  .beams = (size_t)s->beams,
                                  .length = (size_t)s->length,
                                  .length_penalty = s->length_penalty,
                                  .early_stopping = s->early_stopping,
                                  .no_repeat = s->no_repeat,
                                  .sample = s->sample,
                                  .temperature = s->temperature,
                                  .top_k = (size_t)s->top_k,
                                  .seed = s->seed};
    if (status != VIT_OK) return status;
    const vit_model_info info = vit_model_describe(r->model);
    vit_say_precision(&command, &s->from, s->from.name, &info);
    return vit_text_session_new(&r->session, r->model, &how, error);
}

/* ---- answers ---- */

static bool answer_json(const char *key, const char *name, const vit_text_answer *a) {
    vit_json_out json = {0};
    vit_json_open(&json, NULL, '{');
    if (name) vit_json_text(&json, key, name);
    if (a->error.status != VIT_OK) {
        vit_json_text(&json, "error", a->error.message);
    } else {
        vit_json_text(&json, "text", a->text);
        vit_json_open(&json, "tokens", '[');
        for (size_t i = 0; i < a->count; i++) vit_json_count(&json, NULL, a->ids[i]);
        vit_json_close(&json, ']');
        vit_json_number(&json, "score", a->score);
        if (a->warning) vit_json_text(&json, "warning", a->warning);
    }
    vit_json_close(&json, '}');
    return vit_print_json(&command, &json);
}

/* The text, after the picture's name if there are several. */
static bool answer_text(const char *name, bool several, const vit_text_answer *a) {
    vit_string text = {0};
    if (a->error.status != VIT_OK) {
        vit_say(&command, "%s", a->error.message);
        return true;
    }
    if (several) {
        vit_string_add_visible(&text, name, 0);
        vit_string_add(&text, ": ");
    }
    vit_string_add_visible(&text, a->text, 0);
    vit_string_add(&text, "\n");
    return vit_print(&command, &text);
}

/* names: of pictures or texts, or NULL. */
static void tell(reading *r, const char *key, const char *const *names, bool several, size_t count,
                 const vit_text_answer *answers) {
    for (size_t i = 0; i < count; i++) {
        const char *name = names ? names[i] : NULL;
        if (answers[i].error.status == VIT_OK && answers[i].warning)
            vit_say(&command, "%s%swarning: %s", name ? name : "", name ? ": " : "",
                    answers[i].warning);
        const bool told = r->settings->json ? answer_json(key, name, &answers[i])
                                            : answer_text(name, several, &answers[i]);
        if (!told || answers[i].error.status != VIT_OK) r->fine = false;
    }
}

/* ---- what it looked at ---- */

/* With --explain, writes its file; name: the picture, the text, or NULL. */
static vit_status explain(const reading *r, const char *name, const vit_text_answer *answer,
                          vit_error *error) {
    const char *file = r->settings->explain;
    const vit_picture picture = {.name = name};
    const bool shown = vit_text_describe(r->model).reads_pictures;
    vit_buffer made;
    if (!file || answer->error.status != VIT_OK) return VIT_OK;
    vit_status status = vit_explain_text(r->session, shown ? &picture : NULL, name, answer,
                                         name ? name : r->settings->from.name,
                                         vit_has_ending(file, ".png"), &made, error);
    if (status == VIT_OK) status = vit_write_file(file, made.data, made.size, error);
    vit_buffer_clear(&made);
    return status;
}

/* ---- what is read ---- */

/* names: [count] pictures, or texts; NULL: `count` texts of a language model. count <= AT_ONCE */
static vit_status read_some(reading *r, const char *const *names, bool several, size_t count,
                            vit_error *error) {
    vit_text_answer answers[AT_ONCE];
    vit_picture pictures[AT_ONCE];
    const bool shown = vit_text_describe(r->model).reads_pictures;
    for (size_t i = 0; i < count && shown; i++) pictures[i] = (vit_picture){.name = names[i]};
    vit_status status = shown ? vit_read_pictures(r->session, pictures, count, answers, error)
                              : vit_read_texts(r->session, names, count, answers, error);
    if (status != VIT_OK) return status;
    tell(r, shown ? "file" : "source", names, several && shown, count, answers);
    status = explain(r, names ? names[0] : NULL, answers, error);
    vit_text_answers_clear(answers, count);
    return status;
}

static vit_status read_all(reading *r, const char *const *names, size_t count, vit_error *error) {
    vit_status status = VIT_OK;
    for (size_t i = 0; i < count && status == VIT_OK; i += AT_ONCE) {
        const size_t some = count - i < AT_ONCE ? count - i : AT_ONCE;
        status = read_some(r, names ? names + i : NULL, count > 1, some, error);
    }
    return status;
}

/* Reads texts from standard input, one a line, and answers each at once. */
static vit_status read_lines(reading *r, vit_error *error) {
    vit_name_list list;
    vit_status status = vit_name_list_open(&list, "-", false, error);
    if (status != VIT_OK) return status;
    for (const char *line; status == VIT_OK;) {
        status = vit_name_list_next(&list, &line, error);
        if (status != VIT_OK || !line) break;
        status = read_some(r, &line, false, 1, error);
    }
    vit_name_list_close(&list);
    return status;
}

/* Reads what the model takes as its input; the operands are `names`. */
static vit_status read_wanted(reading *r, char **names, size_t count, vit_error *error) {
    const settings *s = r->settings;
    const vit_text_info info = vit_text_describe(r->model);
    if (!info.reads_pictures && s->from.exif_orientation > 0) /* not the default */
        return vit_fail(error, VIT_ERROR_ARGUMENT,
                        "%s reads no pictures, which --exif-orientation is for", s->from.name);
    if ((info.reads_pictures || info.reads_texts) && s->count > 0)
        return vit_fail(error, VIT_ERROR_ARGUMENT,
                        "%s reads %s, and writes one text for each: --count is for language models",
                        s->from.name, info.reads_pictures ? "pictures" : "texts");
    if (info.reads_pictures && s->texts.count > 0)
        return vit_fail(error, VIT_ERROR_MISMATCH, "%s reads pictures, not texts: name PICTURE...",
                        s->from.name);
    if (info.reads_pictures && count == 0)
        return vit_fail(error, VIT_ERROR_ARGUMENT, "no picture is named, which %s reads",
                        s->from.name);
    if (info.reads_pictures) return read_all(r, (const char *const *)names, count, error);
    if (!info.reads_texts)
        return count + s->texts.count > 0
                   ? vit_fail(error, VIT_ERROR_MISMATCH,
                              "%s is a language model, which is given nothing", s->from.name)
                   : read_all(r, NULL, s->count > 0 ? (size_t)s->count : 1, error);
    if (count == 1 && strcmp(names[0], "-") == 0) return read_lines(r, error);
    if (count > 0 || s->texts.count == 0)
        return vit_fail(error, VIT_ERROR_MISMATCH,
                        "%s reads texts: give --text TEXT, or - for lines of standard input",
                        s->from.name);
    return read_all(r, s->texts.values, s->texts.count, error);
}

int main(int argc, char **argv) {
    settings s = {0};
    int exit_status;
    if (!vit_program_start(&command, &s, &argc, argv, &exit_status)) return exit_status;
    if (s.explain && !vit_has_ending(s.explain, ".html") && !vit_has_ending(s.explain, ".png"))
        return vit_say_usage(&command, "--explain FILE ends in .html or .png");
    if (s.explain && ((size_t)argc - 1 + s.texts.count > 1 || s.count > 1 ||
                      (argc == 2 && strcmp(argv[1], "-") == 0))) {
        return vit_say_usage(&command, "--explain is for one picture, or one --text");
    }
    reading r = {.settings = &s, .fine = true};
    vit_error error;
    vit_status status = open_session(&r, &error);
    if (status == VIT_OK) status = read_wanted(&r, argv + 1, (size_t)argc - 1, &error);
    exit_status = status != VIT_OK ? vit_say_error(&command, &error)
                  : r.fine         ? VIT_EXIT_OK
                                   : VIT_EXIT_FAILED;
    vit_text_session_free(r.session);
    vit_model_free(r.model);
    return vit_program_end(&command, exit_status);
}
