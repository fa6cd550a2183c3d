/* vit-classify: classifies pictures. */
#include <assert.h>
#include <stddef.h>
#include <string.h>

#include "vit/base/parallel.h"
#include "vit/base/size.h"
#include "vit/base/sys.h"
#include "vit/cli/classify/answers.h"
#include "vit/cli/classify/classify_settings.h"
#include "vit/cli/classify/feature_matrix.h"
#include "vit/cli/classify/kept_output.h"
#include "vit/cli/classify/neighbours.h"
#include "vit/cli/models/model_list.h"
#include "vit/cli/parts/pictures.h"
#include "vit/cli/parts/sandbox.h"
#include "vit/cluster/cluster.h"
#include "vit/few_shot.h"
#include "vit/texts.h"

static const char *const formats[] = {"text", "json", "csv", NULL};
VIT_CHECK_ROWS(formats, VIT_AS_COUNT + 1);

typedef vit_classify_settings settings;

/* What the program does in place of answering pictures; the last two open no model. */
enum { EMBEDS = 1, STREAMS = 2, LISTS = 0x100, UNDOES = 0x200 };

enum { AS_WHAT = 1 }; /* vit_option.exclusive of --format and --json */

static const vit_option options[] = {
    {.kind = VIT_OPTION_GROUP, .help = "The model"},
    {VIT_OPTION(TEXT, "model", from.name, "NAME|MODEL"),
     .help = "a file or a directory of weights: our own, or published\n"
             "ones (timm, Hugging Face, ...: docs/weights.md); or the\n"
             "name of a model in $VIT_MODELS or beside the program;\n"
             "hub:OWNER/NAME: in Hugging Face's cache\n"
             "(default: mnist)",
     .also = EMBEDS | STREAMS},
    VIT_CONFIG_OPTION(settings),
    VIT_EMULATE_OPTION(settings),
    VIT_LABELS_OPTION(settings),
    VIT_LABELS_FILE_OPTION(settings),
    VIT_TEMPLATE_OPTION(settings),
    VIT_SIZE_OPTION(settings),
    VIT_EXIF_OPTION(settings),
    {VIT_FLAG("list", list),
     .help = "list the named models with their training data and\n"
             "accuracy; reads no picture",
     .also = LISTS},
    {.kind = VIT_OPTION_GROUP, .help = "The pictures"},
    {VIT_OPTION(TEXT, "files-from", files_from, "FILE|-"),
     .help = "read the names of the pictures from a file, or from\n"
             "standard input, one a line",
     .also = EMBEDS},
    {VIT_FLAG("null", null), .letter = '0',
     .help = "or -0: names in --files-from end with a zero byte\n"
             "instead of a newline, as find -print0 writes them",
     .also = EMBEDS},
    {VIT_FLAG("recursive", recursive),
     .help = "a directory stands for the pictures in it and\n"
             "in its subdirectories, in the order of their names",
     .also = EMBEDS},
    {VIT_OPTION(STEPS, "shard", shard, "i/n"),
     .help = "only the i-th of n parts of the pictures, i from 1;\n"
             "what the parts write, one after the other, is what all\n"
             "pictures give. For schedulers that start n processes",
     .also = EMBEDS},
    {.kind = VIT_OPTION_GROUP, .help = "The answer"},
    {VIT_OPTION(COUNT, "top", top, "K"),
     .help = "the K likeliest classes (default: 3, or all if there\n"
             "are fewer)",
     .min = 1, .max = 1e6, .also = STREAMS},
    {VIT_OPTION(CHOICE, "format", format, "F"), .optional = true,
     .help = "text, json (one object a line for each picture, or\n"
             "model) or csv (a line for each picture; default: text)",
     .choices = formats, .exclusive = AS_WHAT, .also = EMBEDS | STREAMS | LISTS},
    {VIT_FLAG("json", json), .help = "the same as --format json", .exclusive = AS_WHAT,
     .also = EMBEDS | STREAMS | LISTS},
    {VIT_FLAG("logits", logits), .help = "also the network's output for every class",
     .also = STREAMS},
    {VIT_FLAG("embed", embed),
     .help = "write the features that the head reads, instead of\n"
             "classes, as JSON; --embed tokens: the last states of all\n"
             "tokens, class token and registers first, then patches",
     .word = "tokens", .word_offset = offsetof(settings, tokens), .also = EMBEDS},
    {VIT_OPTION(TEXT, "out", out, "FILE"),
     .help = "with --embed: write the features into a .npy file, a\n"
             "row of float32 for each picture, NaN for one that could\n"
             "not be read; tokens as [pictures][tokens][width], of one\n"
             "picture as [tokens][width]",
     .also = EMBEDS},
    VIT_COVERAGE_OPTIONS(settings, sets, STREAMS, STREAMS, STREAMS),
    {VIT_OPTION(COUNT, "neighbours", neighbours, "K"),
     .help = "with --among: also the K nearest neighbours (k-NN), the\n"
             "training pictures with the most similar features",
     .min = 1, .max = 1000},
    {VIT_OPTION(TEXT, "among", among, "DATA"),
     .help = "the data that the model was taught or trained on, as\n"
             "vit-train --data names them"},
    VIT_PHOTO_OPTIONS(settings, photos, UNDOES),
    VIT_STREAM_OPTIONS(settings, stream, STREAMS),
    {.kind = VIT_OPTION_GROUP, .help = "How"},
    VIT_PRECISION_OPTION(settings),
    VIT_ARITHMETIC_OPTION(settings),
    VIT_THREADS_OPTION(settings, "changes no digit of the answer (default: all processors)"),
    VIT_SANDBOX_OPTION(settings, sandbox, "those that are named"),
};

static_assert(VIT_COUNT(options) <= VIT_COUNT(((settings *)NULL)->given), "a mark for each option");

static const vit_command command = {
    .name = "vit-classify",
    .usage = "usage: vit-classify [OPTION...] PICTURE...\n"
             "       vit-classify [OPTION...] --files-from FILE\n"
             "       vit-classify --stream [OPTION...] [FILE]\n"
             "       vit-classify --list [--json]\n"
             "\n"
             "Classifies pictures. The picture - is read from standard input.\n"
             "\n"
             "  vit-classify --model digits.safetensors seven.png\n"
             "      the three likeliest answers, with their probabilities\n"
             "  find scans -name '*.png' | vit-classify --json --files-from - >answers.jsonl\n"
             "      thousands of pictures with the model mnist, for another program\n"
             "  vit-classify --model clip/ --labels cat,dog,\"a red bus\" photo.jpg\n"
             "      CLIP or SigLIP, with classes in your own words\n"
             "  vit-classify --model vit_small/ --embed --recursive photos --out photos.npy\n"
             "      a row of features for every picture in a directory\n"
             "  vit-classify --stream <camera.mjpeg >answers.jsonl\n"
             "      the frames of a camera or of ffmpeg, one JSON line each\n"
             "  vit-classify --files-from list --json --shard 2/8 >answers.2\n"
             "      the second of eight parts; in the end: cat answers.[1-8] >answers\n"
             "  mpirun -np 8 vit-classify --files-from list --json >answers\n"
             "      eight processes, built with make MPI=1: the same answers, in order\n",
    .operands = "PICTURE",
    .notes = "A picture that cannot be read is reported, and the rest go on; at the end they\n"
             "are counted.\n"
             "Exit status: 0 done, 1 a picture or the model failed, 2 wrong usage.\n" VIT_CPU_NOTE
             "; in f32 the answer is the same with each.\n",
    .options = options,
    .option_count = sizeof options / sizeof options[0],
    .ranks = true,
    .given = offsetof(settings, given),
};

/* A model, and the window of pictures that it classifies together. */
typedef struct classifier {
    const settings *settings;
    vit_model *model;
    vit_session *session;
    size_t classes, top, width;         /* width: features of a picture */
    size_t tokens;                      /* with --embed tokens; else 0 */
    size_t most, room, count;           /* pictures that a window may have at most, now, and has */
    vit_few_shot *among;                /* with --neighbours */
    vit_few_shot_neighbour *neighbours; /* [settings->neighbours] */
    vit_coverage coverage;
    vit_photos *photos;
    size_t *set;               /* [classes], with --coverage */
    vit_picture *pictures;     /* [MOST_TOGETHER]; names and bytes are owned */
    vit_answer *answers;       /* [MOST_TOGETHER] */
    float *logits, *features;  /* [MOST_TOGETHER][classes], [MOST_TOGETHER][width] */
    float *probabilities;      /* [classes] */
    size_t *best;              /* [top] classes, the likeliest first */
    vit_feature_matrix matrix; /* [seen][width], with --out */
    bool answered;             /* an answer was written as text */
    uint64_t seen, failed;     /* pictures so far, and those that could not be read */
    uint64_t total, from, to;  /* pictures: all, 0 if not counted; this process's part of them */
    uint64_t skipped;          /* pictures of other ranks before the next one */
    vit_cluster *cluster;      /* NULL: this process alone */
    vit_deal *deal;            /* gives the ranks their parts */
    vit_kept_output kept;      /* with a cluster: standard output until all have answered */
    int exit_status;
} classifier;

/* A window starts with 4 pictures for each thread. It is doubled while it takes less than `soon`
 * seconds: in larger windows threads wait less for the last picture, but first answers come later.
 */
enum { MOST_AT_FIRST = 64, MOST_TOGETHER = 256 };
enum { MOST_OF_TOKENS = 16 }; /* with --embed tokens, of which a picture has many */
static const double soon = 0.5;

static vit_status allocate(classifier *c, vit_error *error) {
    const vit_model_info info = vit_model_describe(c->model);
    const settings *s = c->settings;
    size_t top = s->top > 0 ? (size_t)s->top : 3;
    size_t threads = s->threads > 0 ? (size_t)s->threads : (size_t)vit_threads_default();
    c->classes = info.classes;
    c->tokens = s->tokens ? info.tokens : 0;
    c->width = s->tokens ? info.tokens * info.dim : info.features;
    c->top = vit_min(top, c->classes);
    c->most = s->tokens ? MOST_OF_TOKENS : MOST_TOGETHER;
    c->room = vit_min(4 * threads, vit_min(MOST_AT_FIRST, c->most));
    c->pictures = vit_alloc(MOST_TOGETHER, sizeof *c->pictures);
    c->answers = vit_alloc_unset(MOST_TOGETHER, sizeof *c->answers);
    c->logits = vit_alloc_unset(MOST_TOGETHER, c->classes * sizeof *c->logits);
    c->features = vit_alloc_unset(c->most, c->width * sizeof *c->features);
    c->neighbours = vit_alloc((size_t)s->neighbours, sizeof *c->neighbours);
    c->probabilities = vit_alloc(c->classes, sizeof *c->probabilities);
    c->best = vit_alloc(c->top, sizeof *c->best);
    c->set = vit_alloc(c->coverage.rule ? c->classes : 0, sizeof *c->set);
    if (!c->pictures || !c->answers || !c->logits || !c->features || !c->probabilities ||
        !c->best || !c->neighbours || !c->set) {
        return vit_fail_memory(error, "answers",
                               c->most * (c->classes + c->width) * sizeof *c->logits);
    }
    return VIT_OK;
}

/* The training pictures that answers are compared with. */
static vit_status open_among(classifier *c, const vit_session_options *choice, vit_error *error) {
    if (c->settings->neighbours == 0) return VIT_OK;
    return vit_neighbours->open(&c->among, &command, c->model, c->settings->among, choice, error);
}

/* alone: one picture is asked for, for which weights are not packed. */
static vit_status open_classifier(classifier *c, bool alone, vit_error *error) {
    vit_session_options choice = {.threads = (int)c->settings->threads,
                                  .cpu = vit_chosen_cpu(),
                                  .precision = vit_chosen_precision(&c->settings->from),
                                  .bf16 = (vit_bf16)c->settings->from.bf16};
    const vit_model_choice *from = &c->settings->from;
    vit_status status = vit_load_chosen_model(&c->model, from, c->settings->threads, alone, error);
    if (status != VIT_OK) return status;
    const vit_model_info info = vit_model_describe(c->model);
    vit_say_precision(&command, from, from->name, &info);
    if (!c->settings->embed && !info.has_head) {
        const bool writes = vit_text_describe(c->model).writes;
        status = vit_fail(
            error, VIT_ERROR_ARGUMENT,
            writes ? "%s writes texts and knows no classes: vit-read asks it"
                   : "%s is a backbone without a head, it knows no classes: --labels cat,dog gives "
                     "a CLIP or SigLIP model words as classes, --embed writes features, vit-train "
                     "--init gives it a head",
            from->name);
    }
    if (status == VIT_OK) status = vit_session_new(&c->session, c->model, &choice, error);
    if (status == VIT_OK) status = open_among(c, &choice, error);
    if (status == VIT_OK && vit_coverage_asked(&c->settings->sets))
        status = vit_coverages->open(&c->coverage, &command, &c->settings->sets, from->name,
                                     c->model, c->session, error);
    if (status == VIT_OK && vit_photo_libraries)
        status = vit_photo_libraries->open(&c->photos, &command, &c->settings->photos, from->name,
                                           c->model, error);
    return status == VIT_OK ? allocate(c, error) : status;
}

static void empty_window(classifier *c) {
    for (size_t i = 0; i < c->count; i++) {
        vit_free((void *)c->pictures[i].name);
        vit_free((void *)c->pictures[i].bytes);
    }
    c->count = 0;
}

static void close_classifier(classifier *c) {
    empty_window(c);
    void *const arrays[] = {c->pictures,   c->answers,       c->logits,
                            c->features,   c->probabilities, c->best,
                            c->neighbours, c->set,           c->matrix.values};
    if (c->photos) vit_photo_libraries->close(c->photos);
    if (c->among) vit_neighbours->free(c->among);
    if (vit_coverages) vit_coverages->free(&c->coverage);
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++) vit_free(arrays[i]);
    vit_session_free(c->session);
    vit_model_free(c->model);
}

/* ---- answers ---- */

static bool write_answer(classifier *c, const vit_answered *a) {
    const settings *s = c->settings;
    if (s->out) {
        if (a->failure) vit_say(&command, "%s", a->failure->message);
        return vit_feature_matrix_add(&c->matrix, &command, (size_t)c->seen,
                                      a->failure ? NULL : a->features, c->width) &&
               vit_answer_row(&command, a, c->skipped + c->seen);
    }
    if (s->embed) return vit_answer_embedding(&command, a);
    if (vit_classify_writes(s, VIT_AS_JSON)) return vit_answer_json(&command, a);
    if (vit_classify_writes(s, VIT_AS_CSV)) return vit_answer_csv(&command, a);
    if (a->failure) {
        vit_say(&command, "%s", a->failure->message);
        return true;
    }
    const bool is_first = !c->answered;
    c->answered = true;
    return vit_answer_text(&command, a, is_first);
}

/* Writes the answer to a picture, whose logits and features have this place in the window. */
static void answer(classifier *c, const char *name, const vit_answer *about, size_t place) {
    bool fine = about->error.status == VIT_OK;
    const float *logits = c->logits + place * c->classes;
    vit_unknown unknown = {0};
    vit_answered a = {.name = name,
                      .failure = fine ? NULL : &about->error,
                      .warning = about->warning,
                      .model = c->model,
                      .probabilities = c->probabilities,
                      .logits = c->settings->logits ? logits : NULL,
                      .classes = c->classes,
                      .top = c->top,
                      .best = c->best,
                      .features = c->features + place * c->width,
                      .width = c->width,
                      .tokens = c->tokens,
                      .among = c->among,
                      .neighbours = c->neighbours,
                      .coverage = c->settings->sets.coverage,
                      .set = c->set,
                      .unknown = c->coverage.unknown ? &unknown : NULL,
                      .thresholds = c->coverage.thresholds};
    vit_error failed;
    if (fine && c->among) {
        a.neighbour_count = (size_t)c->settings->neighbours;
        if (vit_neighbours->find(c->among, a.features, c->neighbours, &a.neighbour_count,
                                 &failed) != VIT_OK) {
            fine = false;
            a.failure = &failed;
        }
    }
    if (fine && !c->settings->tokens) {
        vit_model_probabilities(c->model, logits, c->probabilities);
        vit_top_k(c->probabilities, c->classes, c->top, c->best);
        if (c->coverage.rule)
            a.set_count = vit_coverages->set(&c->coverage, c->probabilities, c->set);
        if (c->coverage.unknown && vit_coverages->test(&c->coverage, c->model, logits, a.features,
                                                       &unknown, &failed) != VIT_OK) {
            fine = false;
            a.failure = &failed;
        }
    }
    if (fine && c->photos && vit_photo_libraries->put(c->photos, &a, &failed) != VIT_OK) {
        fine = false;
        a.failure = &failed;
    }
    if (fine && about->warning) vit_say(&command, "%s: warning: %s", name, about->warning);
    bool written = write_answer(c, &a);
    c->seen++;
    c->failed += !fine;
    if (!fine || !written) c->exit_status = VIT_EXIT_FAILED;
}

/* Classifies the pictures of the window, writes the answers, and empties it. */
static vit_status answer_window(classifier *c, vit_error *error) {
    const double start = vit_clock();
    vit_status status =
        c->tokens > 0
            ? vit_embed_tokens(c->session, c->pictures, c->count, c->features, c->answers, error)
            : vit_classify_many(c->session, c->pictures, c->count, c->logits, c->features,
                                c->answers, error);
    if (c->count == c->room && 2 * c->room <= c->most && vit_clock() - start < soon) c->room *= 2;
    for (size_t i = 0; i < c->count && status == VIT_OK; i++) {
        const vit_picture *p = &c->pictures[i];
        answer(c, p->bytes ? "-" : p->name, &c->answers[i], i);
        if (c->photos && vit_photo_libraries->stopped(c->photos))
            status = vit_fail(error, VIT_ERROR_IO,
                              "stopped at %s: the other pictures stay as they are, and the same "
                              "command goes on when that is mended",
                              p->name);
    }
    empty_window(c);
    return status;
}

/* ---- pictures ---- */

/* Adds a picture to the window; takes ownership of `name`. If *problem says that it is none, it is
 * answered with that, after the window. */
static vit_status add_picture(classifier *c, char *name, vit_answer *problem, vit_error *error) {
    vit_picture picture = {.name = name, .is_regular_file = c->settings->files_from};
    vit_status status = VIT_OK;
    if (problem->error.status == VIT_OK && strcmp(name, "-") == 0) {
        problem->error.status =
            vit_picture_of_input(&picture, c->settings->files_from, &problem->error);
        if (problem->error.status == VIT_OK) vit_free(name);
    }
    if (problem->error.status == VIT_OK) {
        c->pictures[c->count++] = picture;
        return VIT_OK;
    }
    status = answer_window(c, error);
    if (status == VIT_OK) answer(c, name, problem, 0);
    vit_free(name);
    return status;
}

/* Answers the pictures before number c->to; *at: the number of the next one in the list. The window
 * is answered when it is full, and when the list has no next name yet: its writer may be waiting
 * for the answers. */
static vit_status answer_part(classifier *c, vit_pictures *pictures, uint64_t *at,
                              vit_error *error) {
    for (; *at < c->to; ++*at) {
        vit_status status = VIT_OK;
        vit_answer problem = {0};
        char *name;
        if (c->count == c->room || (c->count > 0 && !vit_pictures_ready(pictures)))
            status = answer_window(c, error);
        if (status == VIT_OK) status = vit_pictures_next(pictures, &name, &problem.error, error);
        if (status != VIT_OK) return status;
        if (!name) break;
        if (*at < c->from) {
            vit_free(name);
            continue;
        }
        status = add_picture(c, name, &problem, error);
        if (status != VIT_OK) return status;
    }
    return answer_window(c, error);
}

/* Answers the parts that this process is dealt, one after the other. */
static vit_status answer_pictures(classifier *c, vit_pictures *pictures, vit_error *error) {
    const uint64_t base = c->from;
    uint64_t at = 0, first, end;
    vit_status status = vit_deal_open(&c->deal, c->cluster, c->to - c->from, error);
    if (status != VIT_OK) return status;
    status = vit_deal_next(c->deal, &first, &end, error);
    while (status == VIT_OK && first < end) {
        c->from = base + first;
        c->to = base + end;
        c->answered = c->from > 0;
        if (c->cluster) c->skipped = first - c->seen;
        status = answer_part(c, pictures, &at, error);
        if (status == VIT_OK && c->cluster)
            status = vit_output_end_part(&c->kept, end - first, error);
        if (status == VIT_OK) status = vit_deal_next(c->deal, &first, &end, error);
    }
    return vit_deal_end(c->deal, status, error);
}

static vit_status answer_all(classifier *c, int count, char **names, vit_error *error) {
    const settings *s = c->settings;
    vit_pictures pictures;
    char number[32];
    vit_status status = vit_pictures_open(&pictures, names, (size_t)count, s->files_from, s->null,
                                          s->recursive, error);
    if (status != VIT_OK) return status;
    const bool is_first = c->from == 0 && vit_cluster_rank(c->cluster) == 0;
    if (vit_classify_writes(s, VIT_AS_CSV) && is_first &&
        !vit_answer_csv_head(&command, c->top, &c->settings->sets))
        c->exit_status = VIT_EXIT_FAILED;
    if (c->cluster) status = vit_output_keep(&c->kept, error);
    status = vit_cluster_agree(c->cluster, status, error);
    if (status == VIT_OK) status = answer_pictures(c, &pictures, error);
    if (c->cluster && c->kept.file) vit_output_restore(&c->kept);
    if (status == VIT_OK && c->seen == 0 && c->total == 0) {
        status =
            vit_fail(error, VIT_ERROR_ARGUMENT,
                     "%s names no picture, expected one name of a file a line", pictures.list.path);
    }
    if (pictures.left_out > 0 && is_first)
        vit_say(&command, "left out in directories: %s that are not named as pictures are",
                vit_format_count(number, pictures.left_out));
    vit_pictures_close(&pictures);
    return status;
}

/* Counts the failed pictures: their messages may be out of sight after many answers. */
static void say_failed(const classifier *c) {
    char failed[32], pictures[32];
    const uint64_t seen = c->cluster ? c->total : c->seen;
    if (c->failed > 0 && seen != 1)
        vit_say(&command, "%s of %s pictures could not be read",
                vit_format_count(failed, c->failed), vit_format_count(pictures, seen));
}

/* Which of the pictures this process answers: its shard, or what its rank is dealt, or all. */
static vit_status choose_share(classifier *c, int count, char **names, vit_error *error) {
    const settings *s = c->settings;
    vit_pictures pictures;
    c->to = UINT64_MAX;
    if (s->shard.schedule == 0 && !c->cluster) return VIT_OK;
    if (c->cluster && s->files_from && strcmp(s->files_from, "-") == 0)
        return vit_fail(error, VIT_ERROR_ARGUMENT,
                        "several processes cannot read one standard input: give --files-from a "
                        "file that all can read");
    vit_status status = vit_pictures_open(&pictures, names, (size_t)count, s->files_from, s->null,
                                          s->recursive, error);
    if (status != VIT_OK) return status;
    status = vit_pictures_count(&pictures, &c->total, error);
    vit_pictures_close(&pictures);
    c->to = c->total;
    if (s->shard.schedule > 0) {
        c->from = (s->shard.steps - 1) * c->total / s->shard.schedule;
        c->to = s->shard.steps * c->total / s->shard.schedule;
    }
    uint64_t first = c->total;
    if (status == VIT_OK) status = vit_cluster_broadcast(c->cluster, &first, sizeof first, error);
    if (status == VIT_OK && first != c->total)
        status = vit_fail(error, VIT_ERROR_MISMATCH, "it finds %llu pictures, rank 0 %llu",
                          (unsigned long long)c->total, (unsigned long long)first);
    return status;
}

/* Brings the answers of all ranks together, if there are several. */
static vit_status join_parts(classifier *c, vit_error *error) {
    double sums[] = {(double)c->failed, c->exit_status != VIT_EXIT_OK};
    if (!c->cluster) return VIT_OK;
    vit_status status =
        vit_output_join(&c->kept, c->cluster, c->deal, c->total,
                        c->settings->out ? &c->matrix.values : NULL, c->width, error);
    if (status == VIT_OK) status = vit_cluster_sum(c->cluster, sums, VIT_COUNT(sums), error);
    c->failed = (uint64_t)sums[0];
    if (sums[1] > 0) c->exit_status = VIT_EXIT_FAILED;
    return status;
}

/* Before the model is read, and a thread started. Ranks have the files and connections of MPI. */
static vit_status enter_sandbox(const settings *s, int count, char **names, vit_error *error) {
    vit_sandbox box;
    vit_sandbox_open(&box, &s->sandbox);
    vit_sandbox_read_model(&box, s->from.name);
    vit_sandbox_read_choice(&box, &s->from);
    vit_sandbox_read(&box, s->sets.calibration, true);
    vit_sandbox_read_data(&box, s->among);
    vit_sandbox_read(&box, s->files_from || s->recursive ? "/" : NULL, false); /* any, later */
    for (int i = 0; i < count; i++) vit_sandbox_read(&box, names[i], false);
    vit_sandbox_write(&box, s->out);
    const vit_status status = vit_sandbox_enter(&box, NULL, error);
    return status == VIT_OK ? vit_sandbox_seal(&box, NULL, error) : status;
}

/* Returns the exit status. */
static int run(const settings *s, int pictures, char **names) {
    classifier c = {.settings = s};
    vit_writer *writer;
    vit_error error;
    vit_status status = VIT_OK;
    if (s->shard.schedule == 0) status = vit_program_join(&c.cluster, &error);
    const bool is_first = vit_cluster_rank(c.cluster) == 0;
    /* Whether OUT can be written is found out before thousands of pictures are read. */
    if (status == VIT_OK && s->out && is_first) status = vit_writer_open(&writer, s->out, &error);
    if (status == VIT_OK && s->out && is_first) vit_writer_abort(writer);
    if (status == VIT_OK && !c.cluster && !vit_classify_changes_files(s))
        status = enter_sandbox(s, pictures, names, &error);
    const bool alone =
        pictures == 1 && vit_path_look(names[0]) != VIT_PATH_DIRECTORY && s->neighbours == 0;
    if (status == VIT_OK) status = open_classifier(&c, alone, &error);
    status = vit_cluster_agree(c.cluster, status, &error);
    if (status == VIT_OK) status = choose_share(&c, pictures, names, &error);
    status = vit_cluster_agree(c.cluster, status, &error);
    if (status == VIT_OK) status = answer_all(&c, pictures, names, &error);
    status = vit_cluster_agree(c.cluster, status, &error);
    if (status == VIT_OK) status = join_parts(&c, &error);
    if (status == VIT_OK && s->out && is_first)
        status = vit_feature_matrix_write(&c.matrix, s->out, (size_t)(c.cluster ? c.total : c.seen),
                                          c.tokens, c.width, &error);
    if (status != VIT_OK) {
        if (vit_cluster_reports(c.cluster)) vit_say(&command, "%s", error.message);
        c.exit_status = VIT_EXIT_FAILED;
    }
    if (is_first) say_failed(&c);
    close_classifier(&c);
    vit_deal_close(c.deal);
    vit_output_close(&c.kept);
    vit_cluster_close(c.cluster, status);
    return c.exit_status;
}

/* Answers a stream; returns the exit status. */
static int run_stream(const settings *s, const char *path) {
    classifier c = {.settings = s, .exit_status = VIT_EXIT_FAILED};
    vit_error error;
    if (open_classifier(&c, false, &error) == VIT_OK) {
        const vit_stream_model how = {c.model,          c.session, &c.coverage,
                                      s->sets.coverage, c.top,     s->logits};
        c.exit_status = vit_streams->run(&command, &s->stream, &how, path);
    } else {
        vit_say(&command, "%s", error.message);
    }
    close_classifier(&c);
    return c.exit_status;
}

/* What the options ask for; 0: answers to pictures. *word: the option that does. */
static unsigned asked_for(const settings *s, const char **word) {
    *word = s->stream.stream ? "stream" : s->photos.undo ? "undo" : s->list ? "list" : "embed";
    if (s->stream.stream) return STREAMS;
    if (s->photos.undo) return UNDOES;
    return s->list ? LISTS : s->embed ? EMBEDS : 0;
}

int main(int argc, char **argv) {
    settings s = {.from.name = "mnist"};
    int exit_status;
    if (!vit_program_start(&command, &s, &argc, argv, &exit_status)) return exit_status;
    if (s.json) s.format = vit_given(VIT_AS_JSON);
    const char *word, *wrong = vit_classify_contradiction(&s, argc - 1);
    const unsigned asked = asked_for(&s, &word);
    const char *other = asked ? vit_option_elsewhere(&command, s.given, asked) : NULL;
    if (other) return vit_say_usage(&command, "--%s has no meaning with --%s", other, word);
    if (wrong) return vit_say_usage(&command, "%s", wrong);
    exit_status = asked == STREAMS  ? run_stream(&s, argc > 1 ? argv[1] : "-")
                  : asked == UNDOES ? vit_photo_libraries->undo(&command, &s.photos)
                  : asked == LISTS ? vit_show_models(&command, vit_classify_writes(&s, VIT_AS_JSON))
                                   : run(&s, argc - 1, argv + 1);
    return vit_program_end(&command, exit_status);
}
