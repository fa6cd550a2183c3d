/* vit-anomaly: finds defects, from good pictures alone. */
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "vit/base/size.h"
#include "vit/base/sys.h"
#include "vit/cli/models/models.h"
#include "vit/cli/parts/defects.h"
#include "vit/cli/parts/pictures.h"
#include "vit/formats/base64.h"
#include "vit/formats/csv.h"
#include "vit/formats/page.h"
#include "vit/maps.h"
#include "vit/reliance.h"

typedef struct settings {
    vit_model_choice from;
    const char *out, *files_from;
    double coreset, alpha;
    uint64_t threads;
    bool json, csv, recursive;
} settings;

static const vit_option options[] = {
    {.kind = VIT_OPTION_GROUP, .help = "Building"},
    {VIT_OPTION(TEXT, "model", from.name, "NAME|MODEL"),
     .help = "whose patch features are compared: a file or directory\n"
             "of weights, or a name (default: features; to find, that\n"
             "of the bank); DINOv2 and DINOv3 know far more"},
    VIT_CONFIG_OPTION(settings),
    VIT_SIZE_OPTION(settings),
    {VIT_OPTION(NUMBER, "coreset", coreset, "P"),
     .help = "keep this share of the patches, those farthest from\n"
             "each other, such as 0.1: a smaller and faster bank\n"
             "(default: 1, all)",
     .max = 1},
    {.kind = VIT_OPTION_GROUP, .help = "Finding"},
    {VIT_OPTION(NUMBER, "alpha", alpha, "A"),
     .help = "the share of good pictures that may be called defective\n"
             "(default: 0.05, or as little as the good pictures\n"
             "suffice for)",
     .max = 1},
    {VIT_OPTION(TEXT, "files-from", files_from, "FILE|-"),
     .help = "read the names of the pictures from a file, or from\n"
             "standard input, one a line"},
    {VIT_FLAG("recursive", recursive), .help = "a directory stands for the pictures in it and\n"
                                               "below it"},
    {VIT_FLAG("json", json), .help = "one object a line for each picture, with the distances\n"
                                     "of its patches"},
    {VIT_FLAG("csv", csv), .help = "comma-separated values: a line for each picture"},
    {.kind = VIT_OPTION_GROUP, .help = "Files"},
    {VIT_OPTION(TEXT, "out", out, "FILE"), .letter = 'o',
     .help = "the bank that build makes; else of one picture\n"
             "FILE.png, where it is unlike the good ones, or of many\n"
             "FILE.html, a page with such heat maps"},
    {.kind = VIT_OPTION_GROUP, .help = "How"},
    VIT_PRECISION_OPTION(settings),
    VIT_THREADS_OPTION(settings, "changes no digit of the answer (default: all processors)"),
};

static const vit_command command = {
    .name = "vit-anomaly",
    .usage = "usage: vit-anomaly build GOOD... -o BANK [--model MODEL]\n"
             "       vit-anomaly BANK PICTURE... [--alpha A] [--out FILE.png|FILE.html]\n"
             "\n"
             "Finds defects: learns from good pictures what patches look like, and says how\n"
             "unlike them a picture is, and where.\n"
             "\n"
             "  vit-anomaly build good -o screws.bank\n"
             "      reads the pictures of a folder, 10 to 1,000 good ones\n"
             "  vit-anomaly screws.bank screw.png --out where.png\n"
             "      its score, a p-value, and a heat map\n"
             "  vit-anomaly screws.bank --recursive today --alpha 0.01 --out today.html\n"
             "      all of a folder, with one false alarm in a hundred good pictures\n",
    .operands = "build GOOD..., or BANK PICTURE",
    .notes = "Exit status: 0 done, 1 a picture, the model or the bank failed, 2 wrong "
             "usage.\n" VIT_CPU_NOTE "; in f32 the answer is the same with each.\n",
    .options = options,
    .option_count = sizeof options / sizeof options[0],
};

/* A model with its session; size: of the input, 0: the model's own. */
static vit_status open_model(vit_model **model, vit_session **session, const settings *s,
                             const char *name, vit_size size, vit_error *error) {
    vit_model_choice from = s->from;
    const vit_session_options choice = {.threads = (int)s->threads,
                                        .cpu = vit_chosen_cpu(),
                                        .precision = vit_chosen_precision(&s->from)};
    from.name = name;
    from.size = size;
    vit_status status = vit_load_chosen_model(model, &from, s->threads, false, error);
    if (status == VIT_OK) status = vit_session_new(session, *model, &choice, error);
    if (status != VIT_OK) return status;
    const vit_model_info info = vit_model_describe(*model);
    vit_say_precision(&command, &from, name, &info);
    return VIT_OK;
}

static vit_bank_options options_of(const settings *s) {
    return (vit_bank_options){
        .coreset = s->coreset, .threads = (int)s->threads, .cpu = vit_chosen_cpu()};
}

/* ---- the pictures ---- */

typedef struct list {
    vit_picture *pictures; /* [count]; names are owned */
    size_t count, room;
    size_t failed; /* that could not be read */
} list;

static void free_list(list *l) {
    for (size_t i = 0; i < l->count; i++) {
        vit_free((void *)(uintptr_t)l->pictures[i].name);
        vit_free((void *)(uintptr_t)l->pictures[i].bytes);
    }
    vit_free(l->pictures);
}

static vit_status add_next(list *l, char *name, const char *files_from, vit_error *error) {
    vit_picture picture = {.name = name, .is_regular_file = files_from};
    if (!VIT_MAKE_ROOM(l->pictures, l->count, l->room, "pictures", error)) {
        vit_free(name);
        return VIT_ERROR_MEMORY;
    }
    l->pictures[l->count++] = picture;
    if (strcmp(name, "-") != 0) return VIT_OK;
    const vit_status status = vit_picture_of_input(&l->pictures[l->count - 1], files_from, error);
    if (status != VIT_OK) l->pictures[l->count - 1] = picture;
    return status;
}

/* All pictures that are named; a directory without one is an error. */
static vit_status list_pictures(list *l, const settings *s, bool recursive, int count, char **names,
                                vit_error *error) {
    vit_pictures pictures;
    vit_error problem = {0};
    char *name = NULL;
    vit_status status =
        vit_pictures_open(&pictures, names, (size_t)count, s->files_from, false, recursive, error);
    if (status != VIT_OK) return status;
    while (status == VIT_OK) {
        problem.status = VIT_OK;
        status = vit_pictures_next(&pictures, &name, &problem, error);
        if (status != VIT_OK || !name) break;
        if (problem.status == VIT_OK) {
            status = add_next(l, name, s->files_from, error);
        } else {
            vit_say(&command, "%s", problem.message);
            l->failed++;
            vit_free(name);
        }
    }
    vit_pictures_close(&pictures);
    if (status == VIT_OK && l->count == 0)
        status = vit_fail(error, VIT_ERROR_ARGUMENT, "no picture is named");
    return status;
}

/* Says which pictures failed. */
static void say_failed(list *l, const vit_answer *answers) {
    char failed[32], all[32];
    for (size_t i = 0; i < l->count; i++) {
        if (answers[i].error.status == VIT_OK) continue;
        vit_say(&command, "%s", answers[i].error.message);
        l->failed++;
    }
    if (l->failed > 0 && l->count > 1)
        vit_say(&command, "%s of %s pictures could not be read",
                vit_format_count(failed, l->failed), vit_format_count(all, l->count));
}

/* ---- building ---- */

static bool say_built(const vit_bank *bank, const settings *s, size_t failed) {
    const vit_bank_info info = vit_bank_describe(bank);
    const double median = info.scores[info.pictures / 2], most = info.scores[info.pictures - 1];
    char n[6][32];
    vit_string text = {0};
    vit_json_out json = {0};
    if (s->json) {
        vit_json_open(&json, NULL, '{');
        vit_json_text(&json, "bank", s->out);
        vit_json_text(&json, "model", info.model);
        vit_json_count(&json, "pictures", info.pictures);
        vit_json_count(&json, "failed", failed);
        vit_json_count(&json, "patches", info.patches);
        vit_json_number(&json, "least_alpha", 1 / (double)(info.pictures + 1));
        vit_json_numbers(&json, "scores", info.scores, info.pictures);
        vit_json_close(&json, '}');
        return vit_print_json(&command, &json);
    }
    vit_string_add_visible(&text, s->out, 0);
    vit_string_add(&text,
                   ": %s patches of %s good pictures; their scores by the others: median %s, most "
                   "%s; enough for an --alpha of %s or more\n",
                   vit_format_count(n[0], info.patches), vit_format_count(n[1], info.pictures),
                   vit_format_fixed(n[2], median, 4), vit_format_fixed(n[3], most, 4),
                   vit_format_fixed(n[4], 1 / (double)(info.pictures + 1), 4));
    return vit_print(&command, &text);
}

static int build(const settings *s, int count, char **names) {
    const char *name = s->from.name ? s->from.name : "features";
    vit_bank_options choice = options_of(s);
    vit_model *model = NULL;
    vit_session *session = NULL;
    vit_bank *bank = NULL;
    list good = {0};
    char *path = NULL, *real = NULL;
    vit_error error;
    bool printed = false;
    vit_status status = list_pictures(&good, s, true, count, names, &error);
    vit_answer *answers = vit_alloc(vit_max(good.count, 1), sizeof *answers);
    if (status == VIT_OK && !answers)
        status = vit_fail_memory(&error, "pictures", good.count * sizeof *answers);
    if (status == VIT_OK) status = vit_find_model(&path, name, &error);
    if (status == VIT_OK) real = vit_path_real(path);
    choice.name = real ? real : path;
    if (status == VIT_OK) status = open_model(&model, &session, s, name, s->from.size, &error);
    if (status == VIT_OK)
        status = vit_bank_new(&bank, model, session, good.pictures, good.count, &choice, answers,
                              &error);
    if (status == VIT_OK || bank) say_failed(&good, answers);
    if (status == VIT_OK) status = vit_bank_save(bank, s->out, &error);
    if (status == VIT_OK) printed = say_built(bank, s, good.failed);
    const bool whole = good.failed == 0;
    vit_bank_free(bank);
    vit_session_free(session);
    vit_model_free(model);
    vit_free(answers);
    vit_free(path);
    vit_free(real);
    free_list(&good);
    if (status != VIT_OK) return vit_say_error(&command, &error);
    return printed && whole ? VIT_EXIT_OK : VIT_EXIT_FAILED;
}

/* ---- answers ---- */

/* The pictures, and what the bank says of them. */
typedef struct findings {
    const settings *settings;
    vit_bank *bank;
    vit_bank_info info;
    vit_model *model;
    vit_session *session;
    double alpha, threshold;
    list tested;
    vit_anomaly *anomalies; /* [count] */
    float *maps;            /* [count][patches] */
    vit_answer *answers;    /* [count] */
} findings;

static bool is_defect(const findings *f, size_t i) {
    return f->anomalies[i].score >= f->threshold;
}

static void add_json(vit_string *text, const findings *f, size_t i) {
    const size_t patches = f->info.rows * f->info.columns;
    const vit_answer *a = &f->answers[i];
    vit_json_out json = {.text = *text};
    vit_json_open(&json, NULL, '{');
    vit_json_text(&json, "file", f->tested.pictures[i].name);
    if (a->error.status != VIT_OK) {
        vit_json_text(&json, "error", a->error.message);
    } else {
        vit_defect_json(&json, &f->info, &f->anomalies[i], f->threshold, f->maps + i * patches);
    }
    vit_json_close(&json, '}');
    vit_string_add(&json.text, "\n");
    *text = json.text;
}

static void add_csv(vit_string *text, const findings *f, size_t i) {
    const vit_answer *a = &f->answers[i];
    char score[32], p[32];
    vit_csv_path(text, f->tested.pictures[i].name);
    if (a->error.status == VIT_OK)
        vit_string_add(text, ",%s,%s,%d,", vit_format_float(score, (float)f->anomalies[i].score),
                       vit_format_float(p, (float)f->anomalies[i].p_value), is_defect(f, i));
    else
        vit_string_add(text, ",,,,");
    if (a->error.status != VIT_OK) vit_csv_field(text, a->error.message);
    vit_string_add(text, "\n");
}

static void add_text(vit_string *text, const findings *f, size_t i) {
    char score[32], p[32];
    if (f->answers[i].error.status != VIT_OK) return;
    vit_string_add(text, "%-7s score %s  p = %s  ", is_defect(f, i) ? "defect" : "good",
                   vit_format_fixed(score, f->anomalies[i].score, 4),
                   vit_format_fixed(p, f->anomalies[i].p_value, 4));
    vit_string_add_visible(text, f->tested.pictures[i].name, 0);
    vit_string_add(text, "\n");
}

static bool print_answers(const findings *f) {
    const settings *s = f->settings;
    vit_string text = {0};
    if (s->csv) vit_string_add(&text, "file,score,p_value,defect,error\n");
    for (size_t i = 0; i < f->tested.count; i++) {
        if (s->json)
            add_json(&text, f, i);
        else if (s->csv)
            add_csv(&text, f, i);
        else
            add_text(&text, f, i);
    }
    return vit_print(&command, &text);
}

/* ---- heat maps ---- */

/* The picture as the network sees it, with the distances of its patches. */
static vit_status draw(vit_buffer *png, const findings *f, size_t i, vit_error *error) {
    const vit_bank_info *info = &f->info;
    const size_t channels = vit_model_describe(f->model).channels;
    const vit_map map = {.dims = 2,
                         .shape = {info->rows, info->columns},
                         .rows = info->rows,
                         .columns = info->columns,
                         .values = f->maps + i * info->rows * info->columns,
                         .name = "distance"};
    uint8_t *pixels = vit_alloc(info->height * info->width, channels);
    if (!pixels) return vit_fail_memory(error, "a picture", info->height * info->width * channels);
    vit_status status = vit_prepare_picture(f->session, &f->tested.pictures[i], pixels, error);
    if (status == VIT_OK) status = vit_map_png(f->session, pixels, &map, 1, png, error);
    vit_free(pixels);
    return status;
}

static const char page_head[] =
    "</title>\n<style>\n"
    "body { font: 14px/1.4 system-ui, sans-serif; margin: 1.5em; }\n"
    "main { display: grid; gap: 1em; grid-template-columns: repeat(auto-fill, minmax(256px, 1fr)); "
    "}\n"
    "figure { margin: 0; overflow-wrap: anywhere; border-top: 4px solid #3a3; }\n"
    "figure.defect { border-color: #d22; }\n"
    "img { width: 256px; max-width: 100%; image-rendering: pixelated; }\n"
    "@media (prefers-color-scheme: dark) { body { background: #111; color: #eee; } }\n"
    "</style>\n<h1>";

static vit_status add_figure(vit_string *page, const findings *f, size_t i, vit_error *error) {
    vit_buffer png = {0};
    char score[32], p[32];
    const vit_status status = draw(&png, f, i, error);
    if (status != VIT_OK) return status;
    vit_string_add(page, "<figure%s><img alt=\"heat map\" src=\"data:image/png;base64,",
                   is_defect(f, i) ? " class=\"defect\"" : "");
    vit_string_add_base64(page, png.data, png.size);
    vit_string_add(page, "\"><figcaption><b>%s</b> score %s, p = %s<br>",
                   is_defect(f, i) ? "defect" : "good",
                   vit_format_fixed(score, f->anomalies[i].score, 4),
                   vit_format_fixed(p, f->anomalies[i].p_value, 4));
    vit_string_add_html(page, f->tested.pictures[i].name);
    vit_string_add(page, "</figcaption></figure>\n");
    vit_buffer_clear(&png);
    return VIT_OK;
}

/* All pictures, the most unlike first. */
static vit_status write_page(const findings *f, vit_error *error) {
    const size_t count = f->tested.count;
    vit_string page = {0};
    char alpha[32], threshold[32];
    vit_status status = VIT_OK;
    size_t *order = vit_alloc(count, sizeof *order);
    float *scores = vit_alloc(count, sizeof *scores);
    if (!order || !scores) status = vit_fail_memory(error, "a page", count * sizeof *order);
    for (size_t i = 0; i < count && status == VIT_OK; i++) scores[i] = (float)f->anomalies[i].score;
    if (status == VIT_OK) vit_top_k(scores, count, count, order);
    vit_string_add(&page,
                   "<!doctype html>\n<html lang=\"en\"><meta charset=\"utf-8\">\n"
                   "<meta name=\"viewport\" content=\"width=device-width\">\n<title>"
                   "Defects%sDefects</h1>\n<p>",
                   page_head);
    vit_string_add(&page,
                   "A defect scores %s or more; of good pictures like the %zu of the bank at most "
                   "%s %% do. Colours show where a picture is unlike them; they span each "
                   "picture's own distances.</p>\n<main>\n",
                   vit_format_fixed(threshold, f->threshold, 4), f->info.pictures,
                   vit_format_float(alpha, (float)(100 * f->alpha)));
    for (size_t i = 0; i < count && status == VIT_OK; i++)
        if (f->answers[order[i]].error.status == VIT_OK)
            status = add_figure(&page, f, order[i], error);
    vit_string_add(&page, "</main>\n</html>\n");
    vit_free(order);
    vit_free(scores);
    if (status == VIT_OK) return vit_write_text(f->settings->out, &page, error);
    vit_string_free(&page);
    return status;
}

static vit_status write_out(const findings *f, vit_error *error) {
    vit_buffer png = {0};
    if (!f->settings->out) return VIT_OK;
    if (vit_has_ending(f->settings->out, ".html")) return write_page(f, error);
    if (f->answers[0].error.status != VIT_OK) return VIT_OK;
    vit_status status = draw(&png, f, 0, error);
    if (status == VIT_OK) status = vit_write_file(f->settings->out, png.data, png.size, error);
    vit_buffer_clear(&png);
    return status;
}

/* ---- finding ---- */

/* The bank with its model, and the threshold. */
static vit_status open_bank(findings *f, const char *path, vit_error *error) {
    const settings *s = f->settings;
    char alpha[32];
    vit_status status = vit_bank_load(&f->bank, path, error);
    if (status != VIT_OK) return status;
    f->info = vit_bank_describe(f->bank);
    const double least = 1 / (double)(f->info.pictures + 1);
    f->alpha = s->alpha > 0 ? s->alpha : vit_bank_usual_rate(&f->info);
    if (s->alpha <= 0 && least > .05)
        vit_say(&command,
                "%zu good pictures suffice for an --alpha of %s, which is taken; 19 for 0.05",
                f->info.pictures, vit_format_fixed(alpha, least, 4));
    status = vit_bank_threshold(f->bank, f->alpha, &f->threshold, error);
    const vit_size size = {.height = f->info.height, .width = f->info.width};
    if (status == VIT_OK)
        status = open_model(&f->model, &f->session, s, s->from.name ? s->from.name : f->info.model,
                            size, error);
    return status == VIT_OK ? vit_bank_check(f->bank, f->model, f->session, error) : status;
}

static vit_status test(findings *f, vit_error *error) {
    const size_t count = f->tested.count, patches = f->info.rows * f->info.columns;
    const vit_bank_options choice = options_of(f->settings);
    f->anomalies = vit_alloc(count, sizeof *f->anomalies);
    f->answers = vit_alloc(count, sizeof *f->answers);
    f->maps = vit_alloc(count, patches * sizeof *f->maps);
    if (!f->anomalies || !f->answers || !f->maps)
        return vit_fail_memory(error, "answers", count * patches * sizeof *f->maps);
    return vit_bank_test(f->bank, f->model, f->session, f->tested.pictures, count, &choice,
                         f->anomalies, f->maps, f->answers, error);
}

static int find(const settings *s, const char *bank, int count, char **names) {
    findings f = {.settings = s};
    vit_error error;
    bool printed = false;
    vit_status status = open_bank(&f, bank, &error);
    if (status == VIT_OK) status = list_pictures(&f.tested, s, s->recursive, count, names, &error);
    if (status == VIT_OK && s->out && !vit_has_ending(s->out, ".html") && f.tested.count > 1)
        status =
            vit_fail(&error, VIT_ERROR_ARGUMENT,
                     "--out FILE.png is of one picture: name FILE.html for %zu", f.tested.count);
    if (status == VIT_OK) status = test(&f, &error);
    if (status == VIT_OK) status = write_out(&f, &error);
    if (status == VIT_OK) say_failed(&f.tested, f.answers);
    if (status == VIT_OK) printed = print_answers(&f);
    const bool whole = f.tested.failed == 0;
    vit_free(f.anomalies);
    vit_free(f.answers);
    vit_free(f.maps);
    free_list(&f.tested);
    vit_session_free(f.session);
    vit_model_free(f.model);
    vit_bank_free(f.bank);
    if (status != VIT_OK) return vit_say_error(&command, &error);
    return printed && whole ? VIT_EXIT_OK : VIT_EXIT_FAILED;
}

/* What is wrong with the words of the command line, as a sentence; NULL: nothing. */
static const char *contradiction(const settings *s, bool builds, int count) {
    if (s->json && s->csv) return "--json or --csv, not both";
    if (builds && count < 2 && !s->files_from) return "build: no folder of good pictures is named";
    if (builds && !s->out) return "build: -o BANK is missing";
    if (builds && (s->alpha > 0 || s->csv))
        return "build makes a bank: leave --alpha and --csv to answers";
    if (builds) return NULL;
    if (count == 0) return "name a BANK and pictures, or: build GOOD... -o BANK";
    if (count == 1 && !s->files_from) return "after BANK a PICTURE is expected, or --files-from";
    if (count > 1 && s->files_from) return "PICTURE... and --files-from exclude each other";
    if (s->coreset > 0) return "--coreset is for build";
    if (s->from.size.height > 0) return "--size is for build: the bank knows its own";
    if (s->alpha >= 1) return "--alpha is below 1: a share of false alarms, such as 0.01";
    if (s->out && !vit_has_ending(s->out, ".html") && !vit_has_ending(s->out, ".png"))
        return "--out: the file is a picture, FILE.png, or a page, FILE.html";
    return NULL;
}

int main(int argc, char **argv) {
    settings s = {0};
    int exit_status;
    if (!vit_program_start(&command, &s, &argc, argv, &exit_status)) return exit_status;
    const bool builds = argc > 1 && strcmp(argv[1], "build") == 0;
    const char *wrong = contradiction(&s, builds, argc - 1);
    if (wrong) return vit_say_usage(&command, "%s", wrong);
    exit_status = builds ? build(&s, argc - 2, argv + 2) : find(&s, argv[1], argc - 2, argv + 2);
    return vit_program_end(&command, exit_status);
}
