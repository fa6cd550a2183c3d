/* vit-search: finds pictures by their features. */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "vit/base/parallel.h"
#include "vit/base/size.h"
#include "vit/base/sys.h"
#include "vit/cli/models/models.h"
#include "vit/cli/parts/indexing.h"
#include "vit/formats/csv.h"
#include "vit/search/copies.h"
#include "vit/search/index.h"
#include "vit/search/sheet.h"
#include "vit/zero_shot.h"

typedef struct settings {
    const char *model, *out, *html;
    uint64_t top, threads;
    vit_optional pairs;
    bool json, csv, copies;
} settings;

static const vit_option options[] = {
    {.kind = VIT_OPTION_GROUP, .help = "Building"},
    {VIT_OPTION(TEXT, "model", model, "NAME|MODEL"),
     .help = "whose features are compared: a file or directory of\n"
             "weights, or a name (default: that of the index)"},
    {VIT_OPTION(TEXT, "out", out, "INDEX"), .letter = 'o',
     .help = "the file of the index: build makes it, or updates it to\n"
             "what the folders hold now; repair writes it anew"},
    {.kind = VIT_OPTION_GROUP, .help = "Finding"},
    {VIT_OPTION(COUNT, "top", top, "K"), .help = "the K most similar pictures (default: 10)",
     .min = 1, .max = 1e6},
    {VIT_FLAG("near-duplicates", copies),
     .help = "list all pairs of pictures that are copies: exact (the same\n"
             "bytes), near (saved again, another size), mirrored, or a\n"
             "crop, as in a burst; the files are read again"},
    {VIT_OPTION(NUMBER, "look-alikes", pairs, "S"), .optional = true,
     .help = "list all pairs whose features have a cosine similarity of\n"
             "at least S, such as 0.9: pictures of similar things; every\n"
             "picture is compared with every other",
     .min = -1, .max = 1, .from_min = true},
    {VIT_OPTION(TEXT, "html", html, "FILE"),
     .help = "also write a page with small pictures, which needs no\n"
             "other file"},
    {VIT_FLAG("json", json), .help = "one object a line for each picture, or pair"},
    {VIT_FLAG("csv", csv), .help = "comma-separated values: a line for each picture, or pair"},
    {.kind = VIT_OPTION_GROUP, .help = "How"},
    VIT_THREADS_OPTION(settings, "changes no digit of the answer (default: all processors)"),
};

static const vit_command command = {
    .name = "vit-search",
    .usage = "usage: vit-search build DIR... -o INDEX --model MODEL\n"
             "       vit-search INDEX PICTURE|\"WORDS\" [--top K]\n"
             "       vit-search INDEX --near-duplicates | --look-alikes S\n"
             "       vit-search repair INDEX -o NEW\n"
             "\n"
             "Finds the pictures of a folder that are most similar to one, or to words.\n"
             "\n"
             "  vit-search build photos -o photos.index --model clip/\n"
             "      reads new and changed pictures, takes out vanished ones; may be killed\n"
             "  vit-search photos.index beach.jpg --html found.html\n"
             "      the ten most similar ones, also as a page\n"
             "  vit-search photos.index \"a dog on a beach\"\n"
             "      words, where the model is CLIP or SigLIP\n"
             "  vit-search photos.index --near-duplicates --csv\n"
             "      copies: the same bytes, saved again, mirrored, crops\n"
             "  vit-search photos.index --look-alikes 0.9\n"
             "      pairs of pictures of similar things\n"
             "  vit-search repair photos.index -o saved.index\n"
             "      saves what can be saved of a damaged index\n",
    .operands = "build DIR..., INDEX PICTURE|WORDS, or repair INDEX",
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
    if (g->cut > 0)
        vit_say(&command, "%s: a block at its end was not finished, and is computed again", out);
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
    char *real = status == VIT_OK ? vit_path_real(name) : NULL;
    if (status == VIT_OK) status = open_model(&model, &g.session, name, s, &error);
    if (status == VIT_OK) {
        g.model = real ? real : name;
        g.info = vit_model_describe(model);
        status = vit_index_folders(&g, folders, (size_t)count, &error);
    }
    vit_session_free(g.session);
    vit_model_free(model);
    vit_free(name);
    vit_free(real);
    if (status != VIT_OK) return vit_say_error(&command, &error);
    if (!say_built(&g, s->out, s->json)) return VIT_EXIT_FAILED;
    return g.failed > 0 ? VIT_EXIT_FAILED : VIT_EXIT_OK;
}

/* ---- repairing ---- */

static int repair(const settings *s, const char *index) {
    vit_index_repaired r;
    vit_error error;
    char n[32];
    vit_string text = {0};
    if (vit_index_repair(&r, index, s->out, &error) != VIT_OK)
        return vit_say_error(&command, &error);
    if (s->json) {
        vit_json_out json = {0};
        vit_json_open(&json, NULL, '{');
        vit_json_text(&json, "index", s->out);
        vit_json_count(&json, "saved", r.saved);
        vit_json_text(&json, "damage", r.damage[0] ? r.damage : NULL);
        vit_json_close(&json, '}');
        return vit_print_json(&command, &json) ? VIT_EXIT_OK : VIT_EXIT_FAILED;
    }
    vit_string_add(&text, "%s: %s pictures saved; ", s->out, vit_format_count(n, r.saved));
    if (r.damage[0])
        vit_string_add(&text, "in %s %s; vit-search build DIR... -o %s adds the others\n", index,
                       r.damage, s->out);
    else
        vit_string_add(&text, "%s has no damage\n", index);
    return vit_print(&command, &text) ? VIT_EXIT_OK : VIT_EXIT_FAILED;
}

/* ---- answers ---- */

/* The path of a row's picture, freed by vit_free. */
static vit_status path_of(char **path, const vit_index *index, size_t row, vit_error *error) {
    *path = vit_index_path(index, vit_index_row(index, row).name);
    return *path ? VIT_OK : vit_fail_memory(error, "a path", 0);
}

/* A hit, or the two pictures of a pair: with a score, or of a copy with how it is one. */
typedef struct answer {
    const char *names[2];
    size_t count;
    float score;
    const char *alike; /* NULL: the score counts */
} answer;

static bool print_csv(const answer *a) {
    char number[32];
    vit_string text = {0};
    for (size_t i = 0; i < a->count; i++) {
        vit_csv_field(&text, a->names[i]);
        vit_string_add(&text, ",");
    }
    vit_string_add(&text, "%s\n", a->alike ? a->alike : vit_format_g9(number, a->score));
    return vit_print(&command, &text);
}

static bool print_csv_head(const settings *s, const char *head) {
    vit_string text = {0};
    if (!s->csv) return true;
    vit_string_add(&text, "%s\n", head);
    return vit_print(&command, &text);
}

static bool print_found(const settings *s, const answer *a) {
    char number[32];
    vit_string text = {0};
    if (s->csv) return print_csv(a);
    if (s->json) {
        vit_json_out json = {0};
        vit_json_open(&json, NULL, '{');
        if (a->count == 1)
            vit_json_text(&json, "file", a->names[0]);
        else
            vit_json_texts(&json, "files", a->names, a->count);
        if (a->alike)
            vit_json_text(&json, "alike", a->alike);
        else
            vit_json_float(&json, "score", a->score);
        vit_json_close(&json, '}');
        return vit_print_json(&command, &json);
    }
    if (a->alike)
        vit_string_add_visible(&text, a->alike, 8);
    else
        vit_string_add(&text, "%s", vit_format_fixed(number, (double)a->score, 4));
    for (size_t i = 0; i < a->count; i++) {
        vit_string_add(&text, "  ");
        vit_string_add_visible(&text, a->names[i], 0);
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

/* features = those of words, by the text encoder beside the model. */
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

static void free_items(vit_sheet_item *items, size_t count) {
    for (size_t i = 0; items && i < count; i++) vit_free((void *)(uintptr_t)items[i].path);
    vit_free(items);
}

static vit_status show_hits(const settings *s, const vit_index *index, const vit_hit *hits,
                            size_t count, const char *query, vit_error *error) {
    vit_sheet_item *items = vit_alloc(count, sizeof *items);
    vit_status status = VIT_OK;
    if (!items) return vit_fail_memory(error, "answers", count * sizeof *items);
    print_csv_head(s, "file,score");
    for (size_t i = 0; i < count && status == VIT_OK; i++) {
        char *path;
        status = path_of(&path, index, hits[i].row, error);
        items[i] = (vit_sheet_item){path, hits[i].score};
        if (status == VIT_OK) print_found(s, &(answer){{path}, 1, hits[i].score, NULL});
    }
    if (status == VIT_OK && s->html) status = write_sheet(s, query, items, count, error);
    free_items(items, count);
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

/* Two rows of the index, and what is said of them. */
typedef struct pair {
    size_t rows[2];
    float score;
    const char *alike;
} pair;

static vit_status show_pairs(const settings *s, const vit_index *index, const pair *pairs,
                             size_t count, const char *title, vit_error *error) {
    vit_sheet_item *items = vit_alloc(2 * count, sizeof *items);
    vit_status status =
        items ? VIT_OK : vit_fail_memory(error, "answers", 2 * count * sizeof *items);
    print_csv_head(s, s->copies ? "first,second,alike" : "first,second,score");
    for (size_t i = 0; i < count && status == VIT_OK; i++) {
        const pair *p = &pairs[i];
        char *path[2] = {NULL, NULL};
        for (size_t k = 0; k < 2 && status == VIT_OK; k++) {
            status = path_of(&path[k], index, p->rows[k], error);
            items[2 * i + k] = (vit_sheet_item){path[k], p->alike ? 1 : p->score};
        }
        if (status == VIT_OK) print_found(s, &(answer){{path[0], path[1]}, 2, p->score, p->alike});
    }
    if (status == VIT_OK && s->html) status = write_sheet(s, title, items, 2 * count, error);
    free_items(items, 2 * count);
    return status;
}

static vit_status look_alikes(const settings *s, const vit_index *index, vit_error *error) {
    vit_similar *found;
    size_t count;
    vit_status status =
        vit_index_pairs(&found, &count, index, s->pairs.value, threads_of(s), highest_cpu(), error);
    if (status != VIT_OK) return status;
    pair *pairs = vit_alloc(count, sizeof *pairs);
    if (!pairs) status = vit_fail_memory(error, "answers", count * sizeof *pairs);
    for (size_t i = 0; i < count && pairs; i++)
        pairs[i] = (pair){{found[i].first, found[i].second}, found[i].score, NULL};
    if (status == VIT_OK)
        status = show_pairs(s, index, pairs, count, "Pictures that look alike", error);
    vit_free(pairs);
    vit_free(found);
    return status;
}

/* Counts and names the pictures that cannot be read. */
static void say_unread(const vit_error *problem, void *user) {
    ++*(size_t *)user;
    vit_say(&command, "%s", problem->message);
}

static vit_status near_duplicates(const settings *s, const vit_index *index, vit_error *error) {
    vit_index_copy *found;
    size_t count, unread = 0;
    vit_status status =
        vit_index_copies(&found, &count, index, threads_of(s), say_unread, &unread, error);
    if (status != VIT_OK) return status;
    pair *pairs = vit_alloc(count, sizeof *pairs);
    if (!pairs) status = vit_fail_memory(error, "answers", count * sizeof *pairs);
    for (size_t i = 0; i < count && pairs; i++)
        pairs[i] = (pair){{found[i].first, found[i].second}, 1, found[i].alike};
    if (status == VIT_OK) status = show_pairs(s, index, pairs, count, "Near-duplicates", error);
    if (status == VIT_OK && unread > 0)
        status = vit_fail(error, VIT_ERROR_IO, "%zu of %zu pictures could not be read", unread,
                          vit_index_pictures(index));
    vit_free(pairs);
    vit_free(found);
    return status;
}

static int search(const settings *s, int count, char **operands) {
    vit_index *index;
    vit_error error;
    vit_status status = vit_index_open(&index, operands[0], &error);
    if (status == VIT_OK && vit_index_unfinished(index) > 0)
        vit_say(&command,
                "%s: a block at its end is not finished: a build is at work, or was stopped",
                operands[0]);
    if (status == VIT_OK)
        status = count == 2  ? find(s, index, operands[1], &error)
                 : s->copies ? near_duplicates(s, index, &error)
                             : look_alikes(s, index, &error);
    vit_index_free(index);
    return status == VIT_OK ? VIT_EXIT_OK : vit_say_error(&command, &error);
}

/* What is wrong with the words of the command line, as a sentence; NULL: nothing. */
static const char *contradiction(const settings *s, bool builds, bool repairs, int count,
                                 char **operands) {
    if (repairs && (count != 2 || !s->out)) return "repair expects INDEX -o NEW";
    const bool lists = s->pairs.given || s->copies;
    if (s->json && s->csv) return "--json or --csv, not both";
    if (builds && s->csv) return "--csv is for searches";
    if (repairs && (s->html || lists || s->top > 0 || s->model || s->csv))
        return "repair takes INDEX, -o NEW and --json alone";
    if (repairs) return NULL;
    if (builds && count < 2) return "build: no folder is named";
    if (builds && !s->out) return "build: -o INDEX is missing";
    if (builds && (s->html || lists || s->top > 0))
        return "build makes an index: leave --top, --near-duplicates, --look-alikes and --html to "
               "searches";
    if (builds) return NULL;
    if (count == 0) return "name an INDEX, or: build DIR... -o INDEX";
    if (s->out) return "-o is for build";
    if (s->pairs.given && s->copies) return "--near-duplicates or --look-alikes, not both";
    if (s->copies && s->model) return "--near-duplicates needs no model: leave --model out";
    if (lists && (count > 1 || s->top > 0))
        return "--near-duplicates and --look-alikes compare all pictures: leave PICTURE and --top "
               "out";
    if (!lists && count != 2)
        return "after INDEX one PICTURE is expected, or words between \" and \"";
    if (count == 2 && operands[1][strspn(operands[1], " \t\n")] == 0)
        return "the query is empty: name a PICTURE, or words";
    return NULL;
}

int main(int argc, char **argv) {
    settings s = {0};
    int exit_status;
    if (!vit_program_start(&command, &s, &argc, argv, &exit_status)) return exit_status;
    const bool builds = argc > 1 && strcmp(argv[1], "build") == 0;
    const bool repairs = argc > 1 && strcmp(argv[1], "repair") == 0;
    const char *wrong = contradiction(&s, builds, repairs, argc - 1, argv + 1);
    if (wrong) return vit_say_usage(&command, "%s", wrong);
    exit_status = builds    ? build(&s, argc - 2, argv + 2)
                  : repairs ? repair(&s, argv[2])
                            : search(&s, argc - 1, argv + 1);
    return vit_program_end(&command, exit_status);
}
