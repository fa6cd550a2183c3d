/* vit-explain: shows what in a picture an answer comes from. */
#include <assert.h>
#include <stddef.h>
#include <string.h>

#include "vit/base/size.h"
#include "vit/base/sys.h"
#include "vit/cli/models/models.h"
#include "vit/cli/parts/map_words.h"
#include "vit/cli/parts/out_files.h"
#include "vit/cli/parts/program.h"
#include "vit/formats/npy.h"

enum { MOST_NUMBERS = 256 };

typedef struct settings {
    vit_model_choice from;
    const char *method, *class_name, *head, *query, *out, *matrices, *layers, *heads;
    vit_optional layer;
    uint64_t threads, steps, seed;
    double discard;
    bool json, faithful;
    bool given[64]; /* by row of the options */
} settings;

/* Methods that have options of their own, as bits of vit_option.also. */
enum {
    ATTENTION = 1,
    ROLLOUT = 2,
    RELEVANCE = 4,
    INTEGRATED = 8,
    RANDOM = 16,
    SIMILARITY = 32,
    POSITIONS = 64,
    OTHERS = 128
};

static const vit_option options[] = {
    {.kind = VIT_OPTION_GROUP, .help = "The model"},
    {VIT_OPTION(TEXT, "model", from.name, "NAME|MODEL"),
     .help = "as for vit-classify (default: mnist)", .also = VIT_EVERYWHERE},
    VIT_CONFIG_OPTION(settings),
    VIT_SIZE_OPTION(settings),
    VIT_EXIF_OPTION(settings),
    {.kind = VIT_OPTION_GROUP, .help = "The map"},
    {VIT_OPTION(TEXT, "method", method, "M,..."),
     .help = "attention, rollout, relevance, gradcam, gradient,\n"
             "integrated, occlusion, random, lens, similarity,\n"
             "positions (default: relevance); for a page the one that\n"
             "it starts with (default: attention)",
     .also = VIT_EVERYWHERE},
    {VIT_OPTION(TEXT, "class", class_name, "NAME|N"),
     .help = "the class that the map explains, by its label or its\n"
             "number from 0 (default: the answer)",
     .also = VIT_EVERYWHERE},
    {VIT_OPTION(COUNT, "layer", layer, "L"), .optional = true,
     .help = "for attention and similarity, from 0 (default: the\n"
             "last)",
     .max = 1e6, .also = ATTENTION | SIMILARITY},
    {VIT_OPTION(TEXT, "head", head, "H|mean|max|min"),
     .help = "for attention: one head, from 0, or all heads combined\n"
             "(default: each); for rollout how heads are combined\n"
             "(default: mean)",
     .also = ATTENTION | ROLLOUT},
    {VIT_OPTION(TEXT, "query", query, "Q"),
     .help = "the token whose attention is shown: cls, regN, a patch\n"
             "N or ROW,COLUMN, mean (of patches), or pool (default:\n"
             "what the head reads)",
     .also = ATTENTION | ROLLOUT | RELEVANCE | SIMILARITY | POSITIONS},
    {VIT_OPTION(NUMBER, "discard", discard, "X"),
     .help = "for rollout: leave out this share of each row's\n"
             "smallest weights (default: 0)",
     .from_min = true, .max = 0.9999, .also = ROLLOUT},
    {VIT_OPTION(COUNT, "steps", steps, "N"), .help = "for integrated gradients (default: 32)",
     .min = 1, .max = 10000, .also = INTEGRATED},
    {VIT_OPTION(COUNT, "seed", seed, "N"), .help = "for the random map (default: 0)",
     .also = RANDOM},
    {.kind = VIT_OPTION_GROUP, .help = "What is written"},
    {VIT_OPTION(TEXT, "out", out, "FILE"),
     .help = "FILE.png: the map over the picture, several methods\n"
             "side by side; .npy: the numbers; .json; or .html: a\n"
             "page to explore layers, heads and patches in a browser.\n"
             "For several pictures, % stands for the name: maps/%.png",
     .also = VIT_EVERYWHERE},
    {VIT_OPTION(TEXT, "matrices", matrices, "FILE.npz|DIR"),
     .help = "every matrix of the answer: z, Q, K, V, S, P, O of each\n"
             "layer and head, class token included; for NumPy, or as\n"
             "tables, NAME.csv, into a directory. % as for --out",
     .also = VIT_EVERYWHERE},
    {VIT_FLAG("json", json), .help = "write maps to standard output, one object a line",
     .also = VIT_EVERYWHERE},
    {VIT_FLAG("faithfulness", faithful),
     .help = "compare the methods with each other and with a random\n"
             "map: the area under the class's probability while\n"
             "patches are deleted in the order of the map (lower is\n"
             "better), and inserted into the mean picture (higher is\n"
             "better)",
     .also = VIT_EVERYWHERE},
    {VIT_OPTION(TEXT, "layers", layers, "L,..."), .help = "for a page: only these (default: all)",
     .also = VIT_EVERYWHERE},
    {VIT_OPTION(TEXT, "heads", heads, "H,..."), .help = "for a page: only these (default: all)",
     .also = VIT_EVERYWHERE},
    {.kind = VIT_OPTION_GROUP, .help = "How"},
    VIT_THREADS_OPTION(settings, "changes no digit of a map (default: all processors)"),
};

static_assert(VIT_COUNT(options) <= VIT_COUNT(((settings *)NULL)->given), "a mark for each option");

static const vit_command command = {
    .name = "vit-explain",
    .usage = "usage: vit-explain [OPTION...] PICTURE...\n"
             "\n"
             "Shows what in a picture the answer comes from.\n"
             "\n"
             "  vit-explain --out seven.html seven.png\n"
             "      a page: point at a patch and see what it attends to\n"
             "  vit-explain --method attention,relevance --out cat.png --model vit/ cat.jpg\n"
             "      heads of the last layer, and what speaks for the answer, over the picture\n"
             "  vit-explain --method rollout --json scans/*.png\n"
             "      a map a line, for another program\n"
             "  vit-explain --matrices nine.npz nine.png\n"
             "      Q, K, V, softmax(Q K^T scale) of every layer and head, for numpy.load\n"
             "  vit-explain --method rollout,relevance --faithfulness cat.png\n"
             "      which of them shows better what the answer comes from\n",
    .operands = "PICTURE",
    .notes = "Exit status: 0 done, 1 a picture or the model failed, 2 wrong usage.\n" VIT_CPU_NOTE
             "; the maps are the same with each.\n",
    .options = options,
    .option_count = sizeof options / sizeof options[0],
    .given = offsetof(settings, given),
};

/* A model, and the options as it takes them. */
typedef struct explainer {
    const settings *settings;
    vit_model *model;
    vit_session *session;
    vit_model_info info;
    vit_map_options asked; /* all except the method */
    vit_method methods[VIT_METHOD_COUNT];
    size_t method_count;
    size_t layers[MOST_NUMBERS], layer_count, heads[MOST_NUMBERS], head_count;
    uint8_t *pixels; /* the picture, prepared */
    float *values;   /* the same, normalised */
    uint64_t number; /* of the picture, from 0 */
} explainer;

/* ---- options ---- */

/* word: the next part of a list, up to a comma; false at the end. */
static bool next_word(char word[64], const char **list) {
    const size_t length = strcspn(*list, ",");
    if (**list == '\0') return false;
    const size_t kept = vit_min(length, 63);
    memcpy(word, *list, kept);
    word[kept] = '\0';
    *list += length + ((*list)[length] == ',');
    return true;
}

static bool makes_page(const settings *s) {
    return s->out && vit_has_ending(s->out, ".html");
}

static vit_status read_methods(explainer *e, vit_error *error) {
    const char *list = e->settings->method;
    const bool attention = makes_page(e->settings) && !e->settings->class_name;
    if (!list) list = attention ? "attention" : "relevance";
    char word[64];
    while (next_word(word, &list)) {
        vit_method method;
        const vit_status status = vit_map_read_method(&method, "--method", word, error);
        if (status != VIT_OK) return status;
        if (e->method_count == VIT_METHOD_COUNT)
            return vit_fail(error, VIT_ERROR_ARGUMENT, "--method names a method twice");
        e->methods[e->method_count++] = method;
    }
    if (e->method_count == 0)
        return vit_fail(error, VIT_ERROR_ARGUMENT, "--method \"\" names no method");
    return VIT_OK;
}

static vit_status read_numbers(size_t *numbers, size_t *count, const char *list, const char *option,
                               vit_error *error) {
    char word[64];
    while (list && next_word(word, &list)) {
        uint64_t value;
        if (!vit_parse_u64(word, &value) || *count == MOST_NUMBERS)
            return vit_fail(error, VIT_ERROR_ARGUMENT,
                            "--%s has \"%s\", expected numbers from 0, as in 0,5,11", option, word);
        numbers[(*count)++] = (size_t)value;
    }
    return VIT_OK;
}

static bool asks_for(const explainer *e, vit_method method) {
    for (size_t i = 0; i < e->method_count; i++)
        if (e->methods[i] == method) return true;
    return false;
}

static vit_status read_asked(explainer *e, vit_error *error) {
    const settings *s = e->settings;
    e->asked.layer = s->layer;
    e->asked.discard = s->discard;
    e->asked.steps = (size_t)s->steps;
    e->asked.seed = s->seed;
    vit_status status = s->head ? vit_map_read_head(&e->asked, "--head", s->head, error) : VIT_OK;
    if (status == VIT_OK && e->asked.head.given && !asks_for(e, VIT_METHOD_ATTENTION) &&
        !makes_page(s))
        status = vit_fail(error, VIT_ERROR_ARGUMENT,
                          "--head %s is one head, for attention; rollout combines all by mean, max "
                          "or min",
                          s->head);
    if (status == VIT_OK && s->query)
        status = vit_map_read_query(&e->asked, &e->info, "--query", s->query, error);
    if (status == VIT_OK && s->class_name)
        status = vit_map_read_class(&e->asked, e->model, "--class", s->class_name, error);
    if (status == VIT_OK)
        status = read_numbers(e->layers, &e->layer_count, s->layers, "layers", error);
    if (status == VIT_OK) status = read_numbers(e->heads, &e->head_count, s->heads, "heads", error);
    return status;
}

/* ---- the model ---- */

static vit_status open_explainer(explainer *e, vit_error *error) {
    const settings *s = e->settings;
    const vit_session_options choice = {.threads = (int)s->threads, .cpu = vit_chosen_cpu()};
    vit_status status = vit_load_chosen_model(&e->model, &s->from, s->threads, false, error);
    if (status == VIT_OK) status = vit_session_new(&e->session, e->model, &choice, error);
    if (status != VIT_OK) return status;
    e->info = vit_model_describe(e->model);
    if (e->info.precision != VIT_PRECISION_F32)
        vit_say(&command,
                "note: the model's weights are in %s: maps and their probabilities are those of "
                "these weights in float32",
                vit_precision_names[e->info.precision]);
    const size_t bytes = e->info.height * e->info.width * e->info.channels;
    e->pixels = vit_alloc(bytes, 1);
    e->values = vit_alloc(bytes, sizeof *e->values);
    e->asked.values = e->values;
    return e->pixels && e->values ? VIT_OK : vit_fail_memory(error, "a picture", bytes);
}

/* ---- output ---- */

static void add_curve(vit_json_out *json, const char *name, const float *curve, size_t points,
                      double area) {
    vit_json_open(json, name, '{');
    vit_json_number(json, "area", area);
    vit_json_g9s(json, "curve", curve, points);
    vit_json_close(json, '}');
}

static void add_json(vit_json_out *json, const explainer *e, const char *name, vit_method method,
                     const vit_map *map, const vit_curves *curves) {
    vit_json_open(json, NULL, '{');
    vit_map_add_json(json, name, e->model, method, map, false);
    if (curves->points > 0) {
        vit_json_count(json, "patches_a_step", curves->step);
        add_curve(json, "deletion", curves->deletion, curves->points, curves->deletion_area);
        add_curve(json, "insertion", curves->insertion, curves->points, curves->insertion_area);
    }
    vit_json_close(json, '}');
}

static void print_areas(const explainer *e, const char *name, const vit_map *map,
                        const vit_curves *curves) {
    printf("%s: %s\n%-12s %9s %9s\n%-12s %9s %9s\n", name,
           vit_model_label(e->model, map->class_index), "", "deletion", "insertion",
           "better:", "lower", "higher");
    for (size_t i = 0; i < e->method_count; i++)
        printf("%-12s %9.4f %9.4f\n", vit_method_name(e->methods[i]), curves[i].deletion_area,
               curves[i].insertion_area);
}

/* Writes maps [method_count] and, with --faithfulness, curves [method_count] as the options say. */
static vit_status write_maps(const explainer *e, const char *name, const char *out,
                             const vit_map *maps, const vit_curves *curves, vit_error *error) {
    vit_json_out json = {0};
    vit_buffer png = {0};
    vit_status status = VIT_OK;
    for (size_t i = 0; i < e->method_count && e->settings->json; i++) {
        json = (vit_json_out){0};
        add_json(&json, e, name, e->methods[i], &maps[i], &curves[i]);
        if (!vit_print_json(&command, &json)) return VIT_ERROR_MEMORY;
    }
    if (e->settings->faithful && !e->settings->json) print_areas(e, name, maps, curves);
    json = (vit_json_out){0};
    if (!out) return VIT_OK;
    if (vit_has_ending(out, ".npy"))
        return vit_npy_write(out, maps[0].values, maps[0].shape, maps[0].dims, error);
    if (vit_has_ending(out, ".png")) {
        status = vit_map_png(e->session, e->pixels, maps, e->method_count, &png, error);
        if (status == VIT_OK) status = vit_write_file(out, png.data, png.size, error);
        vit_buffer_clear(&png);
        return status;
    }
    for (size_t i = 0; i < e->method_count; i++) {
        add_json(&json, e, name, e->methods[i], &maps[i], &curves[i]);
        vit_string_add(&json.text, "\n");
        json.comma = false;
    }
    return vit_write_text(out, &json.text, error);
}

static vit_status write_page(const explainer *e, const char *name, const char *out,
                             vit_error *error) {
    vit_buffer html = {0};
    vit_map_options first = e->asked;
    first.method = e->methods[0];
    const vit_page_options page = {.title = vit_path_last(name),
                                   .layers = e->layers,
                                   .layer_count = e->layer_count,
                                   .heads = e->heads,
                                   .head_count = e->head_count,
                                   .first = &first,
                                   .values = e->values};
    vit_status status = vit_explain_page(e->session, e->pixels, &page, &html, error);
    if (status == VIT_OK)
        status = vit_write_file(out, html.data, html.size, error);
    else
        vit_fail_prefix(error, status, name);
    vit_buffer_clear(&html);
    return status;
}

static vit_status make_maps(const explainer *e, const char *name, const char *out,
                            vit_error *error) {
    const bool faithful = e->settings->faithful;
    vit_map maps[VIT_METHOD_COUNT] = {0};
    vit_curves curves[VIT_METHOD_COUNT] = {0};
    vit_status status = VIT_OK;
    for (size_t i = 0; i < e->method_count && status == VIT_OK; i++) {
        vit_map_options asked = e->asked;
        asked.method = e->methods[i];
        if (faithful) { /* attention as one map; another random order for each picture */
            asked.fused = !asked.head.given;
            asked.seed += e->number;
        }
        status = vit_explain(e->session, e->pixels, &asked, &maps[i], error);
        if (status == VIT_OK && faithful) {
            if (asked.class_index.given) maps[i].class_index = (size_t)asked.class_index.value;
            status = vit_map_curves(e->session, e->pixels, &maps[i], &curves[i], error);
        }
        if (status != VIT_OK) vit_fail_prefix(error, status, name);
    }
    if (status == VIT_OK) status = write_maps(e, name, out, maps, curves, error);
    for (size_t i = 0; i < e->method_count; i++) {
        vit_map_clear(&maps[i]);
        vit_curves_clear(&curves[i]);
    }
    return status;
}

/* The file or directory that --matrices names for this picture. */
static vit_status write_matrices(const explainer *e, const char *name, vit_error *error) {
    char *out = vit_out_file(e->settings->matrices, name);
    vit_answer_matrices matrices = {0};
    if (!out) return vit_fail_memory(error, "a file's name", 0);
    vit_status status = vit_explain_matrices(e->session, e->pixels, e->values, &matrices, error);
    if (status == VIT_OK) status = vit_matrices_save(&matrices, out, error);
    vit_matrices_clear(&matrices);
    vit_free(out);
    return status;
}

static vit_status explain(const explainer *e, const char *name, vit_error *error) {
    const vit_picture picture = {.name = name};
    const char *warning;
    vit_status status =
        vit_prepare_values(e->session, &picture, 0, e->pixels, e->values, &warning, error);
    if (status != VIT_OK) return status;
    if (warning) vit_say(&command, "%s", warning);
    if (e->settings->matrices) status = write_matrices(e, name, error);
    const settings *s = e->settings;
    if (status != VIT_OK || (s->matrices && !s->out && !s->json && !s->faithful)) return status;
    if (!e->settings->out) return make_maps(e, name, NULL, error);
    char *out = vit_out_file(e->settings->out, name);
    if (!out) return vit_fail_memory(error, "a file's name", 0);
    status =
        makes_page(e->settings) ? write_page(e, name, out, error) : make_maps(e, name, out, error);
    vit_free(out);
    return status;
}

/* A picture that fails is reported, and the others go on. */
static int explain_all(explainer *e, int count, char **names) {
    int exit_status = VIT_EXIT_OK;
    for (int i = 0; i < count; i++) {
        vit_error error = {0};
        e->number = (uint64_t)i;
        const vit_status status = explain(e, names[i], &error);
        if (status == VIT_OK) continue;
        exit_status = VIT_EXIT_FAILED;
        if (e->settings->json) {
            vit_json_out json = {0};
            vit_json_open(&json, NULL, '{');
            vit_json_text(&json, "file", names[i]);
            vit_json_text(&json, "error", error.message);
            vit_json_close(&json, '}');
            vit_print_json(&command, &json);
        } else {
            vit_say(&command, "%s", error.message);
        }
    }
    return exit_status;
}

static int run(explainer *e, int count, char **names) {
    vit_error error;
    vit_status status = open_explainer(e, &error);
    if (status == VIT_OK) {
        status = read_asked(e, &error);
        if (status != VIT_OK) return vit_say_usage(&command, "%s", error.message);
    }
    if (status != VIT_OK) {
        vit_say(&command, "%s", error.message);
        return VIT_EXIT_FAILED;
    }
    return explain_all(e, count, names);
}

/* Options that contradict each other, as a sentence; NULL: none do. */
static const char *contradiction(const explainer *e, int pictures) {
    static const char *const endings[] = {".png", ".npy", ".json", ".html"};
    const settings *s = e->settings;
    bool known = false;
    if (pictures == 0) return "no picture is named: give PICTURE...";
    if (!s->out && !s->json && !s->faithful && !s->matrices)
        return "nothing is to be written: give --out FILE, --matrices, --json or --faithfulness";
    if (s->matrices && pictures > 1 && !strchr(s->matrices, '%'))
        return "--matrices for several pictures needs a % for their names, as in %.npz";
    for (size_t i = 0; i < sizeof endings / sizeof endings[0] && s->out; i++)
        known = known || vit_has_ending(s->out, endings[i]);
    if (s->out && !known) return "--out FILE ends in .png, .npy, .json or .html";
    if (s->out && pictures > 1 && !strchr(s->out, '%'))
        return "--out for several pictures needs a % for their names, as in maps/%.png";
    if (s->out && strchr(s->out, '%') != strrchr(s->out, '%'))
        return "--out has at most one %, for the picture's name";
    if (s->faithful && asks_for(e, VIT_METHOD_LENS))
        return "--faithfulness is for maps over the patches, which lens is not";
    if (s->out && vit_has_ending(s->out, ".npy") && e->method_count > 1)
        return "a .npy file holds one map: give --method one name";
    const bool page = makes_page(s);
    if (page && e->method_count > 1)
        return "a page starts with one map and offers the others: give --method one name";
    if ((s->layers || s->heads) && !page)
        return "--layers and --heads are for a page, --out FILE.html; for a map take --layer and "
               "--head";
    return page && (s->json || s->faithful)
               ? "a page and --json or --faithfulness exclude each other"
               : NULL;
}

/* An option that was given for other methods than those asked for; NULL: none. A page shows all. */
static const char *option_of_others(const explainer *e) {
    static const unsigned bits[] = {
        [VIT_METHOD_ATTENTION] = ATTENTION, [VIT_METHOD_ROLLOUT] = ROLLOUT,
        [VIT_METHOD_RELEVANCE] = RELEVANCE, [VIT_METHOD_GRADCAM] = OTHERS,
        [VIT_METHOD_GRADIENT] = OTHERS,     [VIT_METHOD_INTEGRATED] = INTEGRATED,
        [VIT_METHOD_OCCLUSION] = OTHERS,    [VIT_METHOD_RANDOM] = RANDOM,
        [VIT_METHOD_LENS] = OTHERS,         [VIT_METHOD_SIMILARITY] = SIMILARITY,
        [VIT_METHOD_POSITIONS] = POSITIONS};
    VIT_CHECK_ROWS(bits, VIT_METHOD_COUNT);
    unsigned asked = makes_page(e->settings) ? VIT_EVERYWHERE : 0;
    for (size_t i = 0; i < e->method_count; i++) asked |= bits[e->methods[i]];
    return vit_option_elsewhere(&command, e->settings->given, asked);
}

int main(int argc, char **argv) {
    settings s = {.from.name = "mnist"};
    explainer e = {.settings = &s};
    vit_error error;
    int exit_status;
    if (!vit_program_start(&command, &s, &argc, argv, &exit_status)) return exit_status;
    if (read_methods(&e, &error) != VIT_OK) return vit_say_usage(&command, "%s", error.message);
    if (s.faithful && !asks_for(&e, VIT_METHOD_RANDOM) && e.method_count < VIT_METHOD_COUNT)
        e.methods[e.method_count++] = VIT_METHOD_RANDOM;
    const char *wrong = contradiction(&e, argc - 1);
    if (wrong) return vit_say_usage(&command, "%s", wrong);
    const char *other = option_of_others(&e);
    if (other) return vit_say_usage(&command, "--%s is for other methods: see --help", other);
    if (vit_out_check(s.out, argc - 1, argv + 1, &error) != VIT_OK ||
        vit_out_check(s.matrices, argc - 1, argv + 1, &error) != VIT_OK)
        return vit_say_usage(&command, "%s", error.message);
    exit_status = run(&e, argc - 1, argv + 1);
    vit_free(e.pixels);
    vit_free(e.values);
    vit_session_free(e.session);
    vit_model_free(e.model);
    return vit_program_end(&command, exit_status);
}
