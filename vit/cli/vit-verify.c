/* vit-verify: whether this machine computes the bytes of the release. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "vit/base/cpu.h"
#include "vit/base/size.h"
#include "vit/base/sys.h"
#include "vit/cli/models/models.h"
#include "vit/cli/parts/out_files.h"
#include "vit/cli/parts/program.h"
#include "vit/formats/sha256.h"

/* Lines of models/verified.txt, "SHA-256 NAME", and NULL (scripts/embed-text). */
extern const char *const vit_verified[];

typedef struct settings {
    uint64_t threads;
    bool hashes, json;
    const char *release;
} settings;

static const vit_option options[] = {
    {.kind = VIT_OPTION_GROUP, .help = "What to check"},
    {VIT_OPTION(TEXT, "release", release, "SHA256SUMS"),
     .help = "compute nothing, but compare the files of a release with\n"
             "the checksums in this file, which lies beside them; its\n"
             "signature says whose it is (docs/releasing.md)"},
    {.kind = VIT_OPTION_GROUP, .help = "The answer"},
    {VIT_FLAG("json", json), .help = "one JSON object"},
    {VIT_FLAG("hashes", hashes), .help = "the hashes as models/verified.txt holds them: to make a\n"
                                         "release, or to compare two machines"},
    {.kind = VIT_OPTION_GROUP, .help = "How"},
    VIT_THREADS_OPTION(settings, "changes no byte (default: all processors)"),
};

static const vit_command command = {
    .name = "vit-verify",
    .usage = "usage: vit-verify [OPTION...]\n"
             "\n"
             "Checks in some seconds that this machine computes what the release computed, to\n"
             "the byte: the answers of the models that come with it, to pictures that are\n"
             "resized and to pictures that are not, and a short training, with every\n"
             "instruction set and precision that the processor has.\n"
             "\n"
             "  vit-verify && echo the same bytes\n"
             "  vit-verify --release SHA256SUMS\n"
             "      whether the files beside it are those of the release\n",
    .operands = NULL,
    .notes = "Exit status: 0 all are the same, 1 some are not, 2 wrong usage.\n" VIT_CPU_NOTE ".\n",
    .options = options,
    .option_count = sizeof options / sizeof options[0],
};

/* ---- what is computed ------------------------------------------------------------------------ */

enum { PICTURES = 2, WIDTH = 97, HEIGHT = 61, DIGITS = 48, TESTS = 16, SIDE = 28 };

/* How one check computes: the instruction set is `cpu`. */
typedef struct setup {
    const char *cpu;
    vit_precision precision;
    vit_bf16 bf16; /* PAIRS: the hashes are those of VDPBF16PS, on AMX, too */
    int threads;
} setup;

/* A check gives the hash of what it computed. */
typedef vit_status compute(vit_sha256 *hash, const char *subject, setup how, vit_error *error);

/* Picture i: waves of three colours, made of integers alone. */
static void draw(uint8_t *pixels, unsigned i) {
    for (unsigned y = 0; y < HEIGHT; y++)
        for (unsigned x = 0; x < WIDTH; x++)
            for (unsigned c = 0; c < 3; c++)
                *pixels++ = (uint8_t)((x * (i + 3) + y * y * (c + 1) / 4 + x * y * i / 16) % 256);
}

/* Pictures of another size than the network's, and prepared ones: drawn digits, whose bytes are
 * taken as those of any network's records. */
static vit_status answer(vit_session *session, const vit_model_info *info, float *logits,
                         uint8_t *pixels, vit_sha256 *hash, vit_error *error) {
    vit_status status = VIT_OK;
    for (unsigned i = 0; i < PICTURES && status == VIT_OK; i++) {
        draw(pixels, i);
        status = vit_classify_pixels(session, pixels, WIDTH, HEIGHT, 3, (size_t)WIDTH * 3, logits,
                                     error);
        vit_sha256_add(hash, logits, info->classes * sizeof *logits);
    }
    uint8_t digit[SIDE * SIDE];
    const size_t size = info->height * info->width * info->channels;
    for (uint32_t i = 0; i < PICTURES && status == VIT_OK; i++) {
        vit_draw_digit(digit, 2, i);
        for (size_t at = 0; at < size; at++) pixels[at] = digit[at % sizeof digit];
        status = vit_classify_prepared(session, pixels, 1, logits, error);
        vit_sha256_add(hash, logits, info->classes * sizeof *logits);
    }
    return status;
}

/* The logits of a model that comes with the program. */
static vit_status compute_answers(vit_sha256 *hash, const char *subject, setup how,
                                  vit_error *error) {
    vit_model *model;
    vit_status status = vit_load_named_model(&model, subject, NULL, error);
    if (status != VIT_OK) return status;
    const vit_model_info info = vit_model_describe(model);
    const size_t prepared = info.height * info.width * info.channels;
    vit_session *session = NULL;
    float *logits = calloc(info.classes, sizeof *logits);
    uint8_t *pixels = malloc(vit_max(prepared, (size_t)WIDTH * HEIGHT * 3));
    const vit_session_options choice = {how.threads, how.cpu, how.precision, how.bf16};
    status = logits && pixels ? vit_session_new(&session, model, &choice, error)
                              : vit_fail(error, VIT_ERROR_MEMORY, "out of memory");
    if (status == VIT_OK) status = answer(session, &info, logits, pixels, hash, error);
    free(pixels);
    free(logits);
    vit_session_free(session);
    vit_model_free(model);
    return status;
}

/* Reads the file at `path` into the hash. */
static vit_status add_file(vit_sha256 *hash, const char *path, vit_error *error) {
    vit_bytes file;
    vit_status status = vit_map_file(&file, path, error);
    if (status != VIT_OK) return status;
    vit_sha256_add(hash, file.data, file.size);
    vit_unmap_file(&file);
    return VIT_OK;
}

/* Trains into a directory of its own, which is removed again. */
static vit_status train(vit_sha256 *hash, vit_train_options *choice, vit_error *error) {
    char path[VIT_OWN_PATH];
    vit_status status = vit_own_file(path, "vit-verify", error);
    if (status != VIT_OK) return status;
    choice->out = path;
    status = vit_train(NULL, choice, error);
    if (status == VIT_OK) status = add_file(hash, path, error);
    vit_own_file_remove(path);
    return status;
}

/* The model file of a short training of the preset `subject` with drawn digits. */
static vit_status compute_training(vit_sha256 *hash, const char *subject, setup how,
                                   vit_error *error) {
    static uint8_t images[(DIGITS + TESTS) * SIDE * SIDE];
    static int64_t labels[DIGITS + TESTS];
    for (uint32_t i = 0; i < DIGITS + TESTS; i++)
        labels[i] = vit_draw_digit(images + (size_t)i * SIDE * SIDE, 1, i);
    const vit_arrays arrays = {
        .height = SIDE,
        .width = SIDE,
        .channels = 1,
        .classes = 10,
        .train = {images, labels, DIGITS},
        .val = {images + (size_t)DIGITS * SIDE * SIDE, labels + DIGITS, TESTS},
    };
    const char *const pairs = "arithmetic=pairs";
    vit_train_options choice = {.data = "digits drawn by vit-verify",
                                .arrays = &arrays,
                                .preset = subject,
                                .steps = 3,
                                .batch = 16,
                                .threads = how.threads,
                                .cpu = how.cpu,
                                .set = &pairs,
                                .set_count = how.bf16 > VIT_BF16_ANY,
                                .precision = how.precision};
    return train(hash, &choice, error);
}

/* A row: what is computed of what. Its name in the table: "answers mnist f32". */
static const struct check {
    const char *kind, *subject;
    compute *compute;
    bool trains;
} checks[] = {
    {"answers", "mnist", compute_answers, false},
    {"answers", "mnist-cct", compute_answers, false},
    {"answers", "lecture", compute_answers, false},
    {"answers", "fashion", compute_answers, false},
    {"answers", "fashion-plain", compute_answers, false},
    {"answers", "cifar10", compute_answers, false},
    {"answers", "cifar10-plain", compute_answers, false},
    {"training", "lecture", compute_training, true},
    {"training", "mnist", compute_training, true},
};

/* ---- comparison ------------------------------------------------------------------------------ */

/* What came of one check with one instruction set. */
typedef struct outcome {
    char name[64]; /* "answers mnist f32", as in the table */
    const char *cpu, *expected;
    char hex[65];
} outcome;

/* The hash that the table has for this name; NULL: none. */
static const char *find_expected(const char *name) {
    for (const char *const *line = vit_verified; *line; line++) {
        const size_t length = strlen(name);
        const char *at = *line + 65;
        if (strlen(*line) > 65 && strncmp(at, name, length) == 0 && at[length] == '\n')
            return *line;
    }
    return NULL;
}

static bool is_same(const outcome *o) {
    return o->expected && strncmp(o->hex, o->expected, 64) == 0;
}

typedef struct tally {
    size_t same, other;
    const settings *settings;
    vit_json_out json;
} tally;

static void show(tally *t, const outcome *o) {
    const bool same = is_same(o);
    *(same ? &t->same : &t->other) += 1;
    if (t->settings->json) {
        vit_json_open(&t->json, NULL, '{');
        vit_json_text(&t->json, "name", o->name);
        vit_json_text(&t->json, "cpu", o->cpu);
        vit_json_text(&t->json, "sha256", o->hex);
        vit_json_bool(&t->json, "same", same);
        vit_json_close(&t->json, '}');
    } else if (t->settings->hashes) {
        printf("%s %s\n", o->hex, o->name);
    } else {
        printf("%-24s %-12s %s\n", o->name, o->cpu, same ? "the same bytes" : "OTHER BYTES");
        fflush(stdout);
    }
}

/* Whether this kind of processor has the set, if it has all up to highest(). */
static bool is_there(vit_cpu cpu) {
    switch (cpu) {
    case VIT_CPU_SCALAR:
    case VIT_CPU_AVX2:
    case VIT_CPU_AVX512:
    case VIT_CPU_AVX512BF16:
    case VIT_CPU_AMX:
        return true;
    case VIT_CPU_NEON: /* the only ones of their kinds that are above scalar */
    case VIT_CPU_SIMD128:
        return vit_cpu_detect() == cpu;
    case VIT_CPU_SSE41:
        return vit_cpu_detect() == cpu || vit_cpu_detect() >= VIT_CPU_AVX2;
    case VIT_CPU_COUNT:
        break;
    }
    return false;
}

/* The highest instruction set to use: the processor's, or VIT_CPU, which is one that is known. */
static vit_cpu highest(void) {
    vit_cpu cpu = vit_cpu_detect();
    if (vit_chosen_cpu()) vit_cpu_parse(vit_chosen_cpu(), &cpu);
    return cpu;
}

static vit_bf16 bf16_of(vit_precision precision) {
    switch (precision) {
    case VIT_PRECISION_BF16:
        return VIT_BF16_PAIRS;
    case VIT_PRECISION_F32:
    case VIT_PRECISION_INT8:
    case VIT_PRECISION_COUNT:
        break;
    }
    return VIT_BF16_ANY;
}

/* One check in one precision with every instruction set that is there, the best first; with
 * --hashes only with that one. */
static vit_status verify(tally *t, const struct check *check, vit_precision precision,
                         vit_error *error) {
    for (int cpu = (int)highest(); cpu >= 0; cpu--) {
        const char *name = vit_cpu_name((vit_cpu)cpu);
        if (!is_there((vit_cpu)cpu) || !vit_precision_available(precision, name)) continue;
        outcome o = {.cpu = name};
        snprintf(o.name, sizeof o.name, "%s %s %s", check->kind, check->subject,
                 vit_precision_names[precision]);
        vit_sha256 hash;
        vit_sha256_start(&hash);
        const setup how = {name, precision, bf16_of(precision), (int)t->settings->threads};
        vit_status status = check->compute(&hash, check->subject, how, error);
        if (status != VIT_OK) return status;
        vit_sha256_hex(&hash, o.hex);
        o.expected = find_expected(o.name);
        show(t, &o);
        if (t->settings->hashes) break;
    }
    return VIT_OK;
}

static bool has_gradients(vit_precision precision) {
    switch (precision) {
    case VIT_PRECISION_F32:
    case VIT_PRECISION_BF16:
        return true;
    case VIT_PRECISION_INT8:
    case VIT_PRECISION_COUNT:
        break;
    }
    return false;
}

static vit_status verify_all(tally *t, vit_error *error) {
    vit_status status = VIT_OK;
    for (size_t i = 0; i < VIT_COUNT(checks); i++)
        for (int p = 0; p < VIT_PRECISION_COUNT && status == VIT_OK; p++)
            if (!checks[i].trains || has_gradients((vit_precision)p))
                status = verify(t, &checks[i], (vit_precision)p, error);
    return status;
}

/* The last line, or the end of the object. False if it could not be written. */
static bool conclude(tally *t) {
    if (t->settings->hashes) return true;
    if (t->settings->json) {
        vit_json_close(&t->json, ']');
        vit_json_count(&t->json, "same", t->same);
        vit_json_count(&t->json, "other", t->other);
        vit_json_close(&t->json, '}');
        return vit_print_json(&command, &t->json);
    }
    if (t->other == 0)
        printf("vit %s computes here what it computes elsewhere: %zu of %zu\n", vit_version(),
               t->same, t->same);
    else
        printf("%zu of %zu differ from the release: please report this, with the output of "
               "vit-verify --json\n",
               t->other, t->same + t->other);
    return true;
}

/* ---- a release ------------------------------------------------------------------------------- */

/* *hex, *name: those of a line "SHA-256  NAME" or "SHA-256 *NAME", which is cut up; the name is
 * that of a file beside the list. False: it is no such line. */
static bool cut_line(char *line, const char **hex, const char **name) {
    if (strlen(line) < 67 || strspn(line, "0123456789abcdef") != 64 || line[64] != ' ' ||
        (line[65] != ' ' && line[65] != '*'))
        return false;
    line[64] = '\0';
    *hex = line;
    *name = line + 66;
    return !strchr(*name, '/') && strcmp(*name, "..") != 0;
}

/* Compares the file that a line names; *same: it has these bytes. */
static vit_status compare_file(bool *same, const char *list, char *line, size_t number,
                               vit_error *error) {
    const char *hex, *name;
    vit_sha256 hash;
    char found[65];
    if (!cut_line(line, &hex, &name))
        return vit_fail(
            error, VIT_ERROR_FORMAT,
            "%s: line %zu is not a SHA-256, two blanks and the name of a file beside it", list,
            number);
    char *path = vit_path_beside(list, name);
    if (!path) return vit_fail_memory(error, "a path", strlen(list));
    const bool there = vit_path_look(path) == VIT_PATH_FILE;
    vit_sha256_start(&hash);
    const vit_status status = there ? add_file(&hash, path, error) : VIT_OK;
    vit_free(path);
    if (status != VIT_OK) return status;
    vit_sha256_hex(&hash, found);
    *same = there && strcmp(hex, found) == 0;
    printf("%-40s %s\n", name, *same ? "the same bytes" : there ? "OTHER BYTES" : "NOT THERE");
    return VIT_OK;
}

/* Returns the exit status. */
static int check_release(const char *list) {
    vit_bytes text;
    vit_error error;
    size_t count = 0, other = 0;
    vit_status status = vit_read_regular(&text, list, 1 << 20, &error);
    if (status != VIT_OK) return vit_say_error(&command, &error);
    for (char *line = (char *)text.data; *line != '\0' && status == VIT_OK;) {
        bool same = false;
        char *end = line + strcspn(line, "\n"), *next = *end != '\0' ? end + 1 : end;
        *end = '\0';
        status = compare_file(&same, list, line, ++count, &error);
        other += !same;
        line = next;
    }
    if (status == VIT_OK && count == 0)
        status = vit_fail(&error, VIT_ERROR_FORMAT, "%s: names no file", list);
    vit_free(text.data);
    if (status != VIT_OK) return vit_say_error(&command, &error);
    if (other > 0) printf("%zu of %zu are not those of the release\n", other, count);
    return other > 0 ? VIT_EXIT_FAILED : VIT_EXIT_OK;
}

int main(int argc, char **argv) {
    settings s = {0};
    int exit_status;
    if (!vit_program_start(&command, &s, &argc, argv, &exit_status)) return exit_status;
    if (s.json && s.hashes) return vit_say_usage(&command, "--json and --hashes: choose one");
    if (s.release && (s.json || s.hashes || s.threads > 0))
        return vit_say_usage(&command, "--release compares files: leave the other options out");
    if (s.release) return vit_program_end(&command, check_release(s.release));
    vit_error error = {0};
    tally t = {.settings = &s};
    vit_json_open(&t.json, NULL, '{');
    vit_json_text(&t.json, "version", vit_version());
    vit_json_open(&t.json, "checks", '[');
    if (verify_all(&t, &error) != VIT_OK) return vit_say_error(&command, &error);
    if (!conclude(&t) || t.other) exit_status = s.hashes ? exit_status : VIT_EXIT_FAILED;
    return vit_program_end(&command, exit_status);
}
