/* vit-search: finds pictures by their features. */
#include <stddef.h>
#include <string.h>

#include "vit/base/parallel.h"
#include "vit/base/size.h"
#include "vit/base/sys.h"
#include "vit/cli/parts/indexing.h"
#include "vit/cli/parts/models.h"
#include "vit/search/index.h"
#include "vit/search/sheet.h"
#include "vit/words.h"

typedef struct settings {
    const char *model, *out, *html;
    uint64_t top, threads;
    vit_optional pairs;
    bool json;
} settings;

static const vit_option options[] = {
    {.kind = VIT_OPTION_GROUP, .help = "Building"},
    {VIT_OPTION(TEXT, "model", model, "NAME|MODEL"),
     .help = "whose features are compared: a file or directory of\n"
             "weights, or a name (default: that of the index)"},
    {VIT_OPTION(TEXT, "out", out, "INDEX"), .letter = 'o',
     .help = "the file of the index, which is made, or brought up to\n"
             "what the folders hold now"},
    {.kind = VIT_OPTION_GROUP, .help = "Finding"},
    {VIT_OPTION(COUNT, "top", top, "K"), .help = "the K most similar pictures (default: 10)",
     .min = 1, .max = 1e6},
    {VIT_OPTION(NUMBER, "duplicates", pairs, "S"), .optional = true,
     .help = "list all pairs whose similarity is at least S, such as\n"
             "0.98, instead; every picture is compared with every other",
     .min = -1, .max = 1, .from_min = true},
    {VIT_OPTION(TEXT, "html", html, "FILE"),
     .help = "also write a page with small pictures, which needs no\n"
             "other file"},
    {VIT_FLAG("json", json), .help = "one object a line for each picture, or pair"},
    {.kind = VIT_OPTION_GROUP, .help = "How"},
    VIT_THREADS_OPTION(settings, "changes no digit of the answer (default: all processors)"),
};

static const vit_command command = {
    .name = "vit-search",
    .usage = "usage: vit-search build DIR... -o INDEX --model MODEL\n"
             "       vit-search INDEX PICTURE|\"WORDS\" [--top K]\n"
             "       vit-search INDEX --duplicates S\n"
             "\n"
             "Finds the pictures of a folder that are most similar to one, or to words.\n"
             "\n"
             "  vit-search build photos -o photos.index --model clip/\n"
             "      reads new and changed pictures, takes out vanished ones; may be killed\n"
             "  vit-search photos.index beach.jpg --html found.html\n"
             "      the ten most similar ones, also as a page\n"
             "  vit-search photos.index \"a dog on a beach\"\n"
             "      words, where the model is CLIP or SigLIP\n"
             "  vit-search photos.index --duplicates 0.98\n"
             "      pairs that are nearly the same\n",
    .operands = "build DIR..., or INDEX PICTURE|WORDS",
    .notes = "Exit status: 0 done, 1 a picture, the model or the index failed, 2 wrong "
             "usage.\n" VIT_CPU_NOTE "; the answer is the same with each.\n",
    .options = options,
    .option_count = sizeof options / sizeof options[0],
};

static int threads_of(const settings *s) {
    return s->threads > 0 ? (int)s->threads : vit_threads_default();
}

static vit_cpu highest_cpu(void) {
    vit_cpu cpu = VIT_CPU_COUNT;
    if (vit_chosen_cpu()) vit_cpu_parse(vit_chosen_cpu(), &cpu);
    return cpu;
}

/* Loads a model and makes a session for it. */
static vit_status open_model(vit_model **model, vit_session **session, const char *name,
                             const settings *s, vit_error *error) {
    const vit_model_options opening = {.cpu = vit_chosen_cpu(), .threads = threads_of(s)};
    const vit_session_options choice = {.threads = threads_of(s), .cpu = vit_chosen_cpu()};
    vit_status status = vit_load_named_model(model, name, &opening, error);
    return status == VIT_OK ? vit_session_new(session, *model, &choice, error) : status;
}

/* ---- building ---- */

static bool say_built(const vit_indexing *g, const char *out, bool as_json) {
    char n[5][32];
    vit_string text = {0};
    if (as_json) {
        vit_json_out json = {0};
        vit_json_open(&json, NULL, '{');
        vit_json_text(&json, "index", out);
        vit_json_count(&json, "added", g->added);
        vit_json_count(&json, "changed", g->changed);
        vit_json_count(&json, "vanished", g->vanished);
        vit_json_count(&json, "kept", g->kept);
        vit_json_count(&json, "failed", g->failed);
        vit_json_close(&json, '}');
        return vit_print_json(&command, &json);
    }
    vit_string_add(&text, "%s: %s added, %s changed, %s vanished, %s as before", out,
                   vit_format_count(n[0], g->added), vit_format_count(n[1], g->changed),
                   vit_format_count(n[2], g->vanished), vit_format_count(n[3], g->kept));
    if (g->failed > 0)
        vit_string_add(&text, ", %s could not be read", vit_format_count(n[4], g->failed));
    vit_string_add(&text, "\n");
    return vit_print(&command, &text);
}

/* The name of the model: as it was given, or that of the index. */
static vit_status model_name(char **name, const settings *s, const char *index, vit_error *error) {
    vit_index *old = NULL;
    *name = NULL;
    if (s->model) return vit_find_model(name, s->model, error);
    const vit_status status = vit_index_open(&old, index, error);
    if (status != VIT_OK) return status;
    *name = vit_strdup(vit_index_describe(old).model);
    vit_index_free(old);
    return *name ? VIT_OK : vit_fail_memory(error, "a path", 0);
}

static int build(const settings *s, int count, char **folders) {
    vit_model *model = NULL;
    vit_error error;
    char *name;
    vit_indexing g = {.command = &command, .out = s->out};
    vit_status status = model_name(&name, s, s->out, &error);
    if (status == VIT_OK) status = open_model(&model, &g.session, name, s, &error);
    if (status == VIT_OK) {
        g.model = name;
        g.info = vit_model_describe(model);
        status = vit_index_folders(&g, folders, (size_t)count, &error);
    }
    vit_session_free(g.session);
    vit_model_free(model);
    vit_free(name);
    if (status != VIT_OK) return vit_say_error(&command, &error);
    if (!say_built(&g, s->out, s->json)) return VIT_EXIT_FAILED;
    return g.failed > 0 ? VIT_EXIT_FAILED : VIT_EXIT_OK;
}

/* ---- answers ---- */

/* A hit, or the two pictures of a pair. */
static bool print_found(const char *const *names, size_t count, float score, bool as_json) {
    char number[32];
    vit_string text = {0};
    if (as_json) {
        vit_json_out json = {0};
        vit_json_open(&json, NULL, '{');
        if (count == 1)
            vit_json_text(&json, "file", names[0]);
        else
            vit_json_texts(&json, "files", names, count);
        vit_json_float(&json, "score", score);
        vit_json_close(&json, '}');
        return vit_print_json(&command, &json);
    }
    vit_string_add(&text, "%s", vit_format_fixed(number, (double)score, 4));
    for (size_t i = 0; i < count; i++) {
        vit_string_add(&text, "  ");
        vit_string_add_visible(&text, names[i], 0);
    }
    vit_string_add(&text, "\n");
    return vit_print(&command, &text);
}

static vit_status write_sheet(const settings *s, const char *title, const vit_sheet_item *items,
                              size_t count, vit_error *error) {
    vit_string page = {0};
    vit_string_add_sheet(&page, title, items, count, threads_of(s));
    return vit_write_text(s->html, &page, error);
}

/* ---- similar pictures ---- */

/* Whether the query is the path of a picture, even of one that is not there; else it is words. */
static bool is_path(const char *query) {
    const char *dot = strrchr(query, '.');
    if (vit_path_look(query) == VIT_PATH_FILE || strcmp(query, "-") == 0) return true;
    if (strchr(query, ' ')) return false;
    return strchr(query, '/') || (dot && strlen(dot) > 2 && strlen(dot) < 6);
}

/* features = those of words, by the tower of texts beside the model. */
static vit_status embed_words(float *features, size_t width, const char *words, const char *name,
                              const settings *s, vit_error *error) {
    const vit_embedder_options choice = {.threads = threads_of(s), .cpu = vit_chosen_cpu()};
    vit_embedder *embedder = NULL;
    char *path;
    vit_status status = vit_find_model(&path, name, error);
    if (status != VIT_OK) return status;
    status = vit_embedder_load(&embedder, path, &choice, error);
    if (status == VIT_OK && vit_embedder_describe(embedder).features != width)
        status = vit_fail(error, VIT_ERROR_MISMATCH, "%s: texts have %zu features, the index %zu",
                          path, vit_embedder_describe(embedder).features, width);
    if (status == VIT_OK) status = vit_embed_texts(embedder, &words, 1, NULL, features, error);
    vit_embedder_free(embedder);
    vit_free(path);
    return status;
}

/* *features = those of the picture, or of the words, by the model that the index is of. */
static vit_status embed(float **features, const vit_index *index, const char *query,
                        const settings *s, vit_error *error) {
    const vit_index_about about = vit_index_describe(index);
    const char *name = s->model ? s->model : about.model;
    vit_model *model = NULL;
    vit_indexing g = {.command = &command};
    char fingerprint[65];
    vit_status status = open_model(&model, &g.session, name, s, error);
    if (status == VIT_OK) {
        g.info = vit_model_describe(model);
        status = vit_model_fingerprint(fingerprint, &g, error);
    }
    if (status == VIT_OK &&
        (g.info.features != about.width || strcmp(fingerprint, about.fingerprint) != 0))
        status = vit_fail(error, VIT_ERROR_MISMATCH,
                          "the index was made with another model than %s is now: build it again, "
                          "or name that one with --model",
                          name);
    if (status == VIT_OK) {
        *features = vit_alloc(about.width, sizeof **features);
        if (!*features) status = vit_fail_memory(error, "features", about.width);
    }
    if (status == VIT_OK)
        status = is_path(query) ? vit_embed_file(g.session, query, *features, error)
                                : embed_words(*features, about.width, query, name, s, error);
    vit_session_free(g.session);
    vit_model_free(model);
    return status;
}

static vit_status show_hits(const settings *s, const vit_index *index, const vit_hit *hits,
                            size_t count, const char *query, vit_error *error) {
    vit_sheet_item *items = vit_alloc(count, sizeof *items);
    vit_status status = VIT_OK;
    if (!items) return vit_fail_memory(error, "answers", count * sizeof *items);
    for (size_t i = 0; i < count; i++) {
        const char *name = vit_index_row(index, hits[i].row).name;
        print_found(&name, 1, hits[i].score, s->json);
        items[i] = (vit_sheet_item){name, hits[i].score};
    }
    if (s->html) status = write_sheet(s, query, items, count, error);
    vit_free(items);
    return status;
}

static vit_status find(const settings *s, const vit_index *index, const char *query,
                       vit_error *error) {
    float *features = NULL;
    const size_t most = vit_min(s->top > 0 ? (size_t)s->top : 10, vit_index_pictures(index));
    vit_hit *hits = vit_alloc(most, sizeof *hits);
    size_t count = 0;
    vit_status status = hits ? embed(&features, index, query, s, error)
                             : vit_fail_memory(error, "answers", most * sizeof *hits);
    if (status == VIT_OK)
        status = vit_index_find(hits, &count, index, features, most, threads_of(s), highest_cpu(),
                                error);
    if (status == VIT_OK) status = show_hits(s, index, hits, count, query, error);
    vit_free(features);
    vit_free(hits);
    return status;
}

/* ---- pairs ---- */

static vit_status pairs(const settings *s, const vit_index *index, vit_error *error) {
    vit_similar *found;
    size_t count;
    vit_status status =
        vit_index_pairs(&found, &count, index, s->pairs.value, threads_of(s), highest_cpu(), error);
    if (status != VIT_OK) return status;
    vit_sheet_item *items = s->html ? vit_alloc(2 * count, sizeof *items) : NULL;
    for (size_t i = 0; i < count; i++) {
        const char *const names[] = {vit_index_row(index, found[i].first).name,
                                     vit_index_row(index, found[i].second).name};
        print_found(names, 2, found[i].score, s->json);
        for (size_t k = 0; items && k < 2; k++)
            items[2 * i + k] = (vit_sheet_item){names[k], found[i].score};
    }
    if (s->html)
        status = items
                     ? write_sheet(s, "Pictures that are nearly the same", items, 2 * count, error)
                     : vit_fail_memory(error, "answers", 2 * count * sizeof *items);
    vit_free(items);
    vit_free(found);
    return status;
}

static int search(const settings *s, int count, char **operands) {
    vit_index *index;
    vit_error error;
    vit_status status = vit_index_open(&index, operands[0], &error);
    if (status == VIT_OK)
        status = count == 2 ? find(s, index, operands[1], &error) : pairs(s, index, &error);
    vit_index_free(index);
    return status == VIT_OK ? VIT_EXIT_OK : vit_say_error(&command, &error);
}

/* What is wrong with the words of the command line, as a sentence; NULL: nothing. */
static const char *contradiction(const settings *s, bool builds, int count) {
    if (builds && count < 2) return "build: no folder is named";
    if (builds && !s->out) return "build: -o INDEX is missing";
    if (builds && (s->html || s->pairs.given || s->top > 0))
        return "build makes an index: leave --top, --duplicates and --html to searches";
    if (builds) return NULL;
    if (count == 0) return "name an INDEX, or: build DIR... -o INDEX";
    if (s->out) return "-o is for build";
    if (s->pairs.given && (count > 1 || s->top > 0))
        return "--duplicates compares all pictures: leave PICTURE and --top out";
    if (!s->pairs.given && count != 2)
        return "after INDEX one PICTURE is expected, or words between \" and \"";
    return NULL;
}

int main(int argc, char **argv) {
    settings s = {0};
    int exit_status;
    if (!vit_program_start(&command, &s, &argc, argv, &exit_status)) return exit_status;
    const bool builds = argc > 1 && strcmp(argv[1], "build") == 0;
    const char *wrong = contradiction(&s, builds, argc - 1);
    if (wrong) return vit_say_usage(&command, "%s", wrong);
    exit_status = builds ? build(&s, argc - 2, argv + 2) : search(&s, argc - 1, argv + 1);
    return vit_program_end(&command, exit_status);
}
