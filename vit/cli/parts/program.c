#include "vit/cli/parts/program.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "vit/base/build.h"
#include "vit/base/cpu.h"
#include "vit/base/guests.h"
#include "vit/base/parallel.h"
#include "vit/base/size.h"
#include "vit/base/sys.h"
#include "vit/cli/models/models.h"
#include "vit/cluster/cluster.h"
#include "vit/formats/csv.h"

const char *const vit_orientation_names[] = {[VIT_ORIENTATION_MODEL] = "model",
                                             [VIT_ORIENTATION_EXIF] = "exif",
                                             [VIT_ORIENTATION_NEVER] = "never",
                                             NULL};
VIT_CHECK_ROWS(vit_orientation_names, VIT_ORIENTATION_COUNT + 1);

const char *const vit_labels_from[] = {"data", "tags", NULL};
const char *const vit_split_names[] = {
    [VIT_SPLIT_TEST] = "test", [VIT_SPLIT_TRAIN] = "train", [VIT_SPLIT_VAL] = "val", NULL};

/* If a program is started with a standard stream closed, a file that it opens takes the stream's
 * descriptor, and messages would be printed into that file. So the descriptor is taken first,
 * opened the wrong way round: then using the stream fails. */
static void occupy_standard_streams(void) {
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
        if (fcntl(fd, F_GETFD) == -1 && errno == EBADF) {
            int opened = open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
            (void)opened; /* the lowest free number, which is fd */
        }
    }
}

void vit_string_add_visible(vit_string *t, const char *text, size_t width) {
    size_t columns = vit_display_columns(text);
    vit_csv_visible(t, text);
    vit_string_add(t, "%*s", columns < width ? (int)(width - columns) : 0, "");
}

size_t vit_display_columns(const char *text) {
    size_t columns = 0;
    for (; *text != '\0'; columns++) {
        size_t length = vit_utf8_length(text);
        text += length > 0 ? length : 1;
    }
    return columns;
}

bool vit_print(const vit_command *command, vit_string *text) {
    bool fine = !text->failed;
    if (!fine) {
        vit_say(command, "out of memory");
    } else if (text->length > 0) {
        fwrite(text->text, 1, text->length, stdout);
        fflush(stdout);
    }
    vit_string_free(text);
    return fine;
}

vit_status vit_write_text(const char *path, vit_string *text, vit_error *error) {
    const vit_status status = text->failed ? vit_fail_memory(error, path, text->length)
                                           : vit_write_file(path, text->text, text->length, error);
    vit_string_free(text);
    return status;
}

bool vit_print_json(const vit_command *command, vit_json_out *json) {
    vit_string_add(&json->text, "\n");
    return vit_print(command, &json->text);
}

bool vit_json_end_line(vit_json_out *json, FILE *stream) {
    vit_string_add(&json->text, "\n");
    bool fine = !json->text.failed;
    fine = fine && fwrite(json->text.text, 1, json->text.length, stream) == json->text.length;
    fine = fflush(stream) == 0 && fine;
    vit_string_free(&json->text);
    *json = (vit_json_out){0};
    return fine;
}

static void say(const vit_command *command, const char *format, va_list arguments) {
    char sentence[8192];
    vit_string text = {0};
    vsnprintf(sentence, sizeof sentence, format, arguments);
    vit_string_add_visible(&text, sentence, 0);
    fprintf(stderr, "%s: %s\n", command->name, text.failed ? "out of memory" : text.text);
    vit_string_free(&text);
}

void vit_say(const vit_command *command, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    say(command, format, arguments);
    va_end(arguments);
}

void vit_say_note(const char *text, void *command) {
    vit_say(command, "%s", text);
}

int vit_say_usage(const vit_command *command, const char *format, ...) {
    vit_cluster *cluster = NULL;
    vit_error error = {.status = VIT_ERROR_ARGUMENT}, none;
    vit_status status = VIT_ERROR_ARGUMENT;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(error.message, sizeof error.message, format, arguments);
    va_end(arguments);
    if (command->ranks && vit_cluster_open(&cluster, &none) == VIT_OK)
        status = vit_cluster_agree(cluster, status, &error);
    if (vit_cluster_reports(cluster)) {
        vit_say(command, "%s", error.message);
        fprintf(stderr, "try '%s --help'\n", command->name);
    }
    vit_cluster_close(cluster, status);
    return VIT_EXIT_USAGE;
}

vit_status vit_program_join(vit_cluster **out, vit_error *error) {
    const vit_status status = vit_cluster_open(out, error);
    return status == VIT_OK ? vit_cluster_agree(*out, VIT_OK, error) : status;
}

int vit_say_error(const vit_command *command, const vit_error *error) {
    vit_say(command, "%s", error->message);
    return error->status == VIT_ERROR_ARGUMENT ? VIT_EXIT_USAGE : VIT_EXIT_FAILED;
}

char *vit_format_count(char text[32], uint64_t count) {
    char digits[32];
    int length = snprintf(digits, sizeof digits, "%llu", (unsigned long long)count);
    char *out = text;
    for (int i = 0; i < length; i++) {
        if (i > 0 && (length - i) % 3 == 0) *out++ = ',';
        *out++ = digits[i];
    }
    *out = '\0';
    return text;
}

bool vit_speaks_utf8(void) {
    static const char *const variables[] = {"LC_ALL", "LC_CTYPE", "LANG"};
    for (size_t i = 0; i < sizeof variables / sizeof variables[0]; i++) {
        const char *value = getenv(variables[i]);
        if (value && *value != '\0') return strstr(value, "UTF-8") || strstr(value, "utf8");
    }
    return false;
}

vit_status vit_chosen_labels(const char **out, const vit_model_choice *from, vit_error *error) {
    const char *file = from->labels_file;
    *out = file ? file : from->labels;
    if (!file || vit_path_look(file) == VIT_PATH_FILE) return VIT_OK;
    return vit_fail(error, VIT_ERROR_IO, "--labels-file %s: there is no such file", file);
}

const char *vit_chosen_cpu(void) {
    const char *word = getenv("VIT_CPU");
    return word && *word != '\0' ? word : NULL;
}

/* A usage error if VIT_CPU is not an instruction set; returns the exit status. */
static int check_cpu(const vit_command *command) {
    const char *word = vit_chosen_cpu();
    vit_cpu cpu;
    if (!word || vit_cpu_parse(word, &cpu)) return VIT_EXIT_OK;
    return vit_say_usage(
        command,
        "the environment variable VIT_CPU is \"%s\", expected scalar, sse41, neon, simd128, avx2, "
        "avx512, avx512bf16 or amx",
        word);
}

/* A usage error if VIT_PARALLEL (vit/ops/exec.c) is another word than its own. */
static int check_parallel(const vit_command *command) {
    const char *word = getenv("VIT_PARALLEL");
    if (!word || *word == '\0' || strcmp(word, "always") == 0) return VIT_EXIT_OK;
    return vit_say_usage(command,
                         "the environment variable VIT_PARALLEL is \"%s\", expected always: "
                         "threads within every operator, however small it is",
                         word);
}

static vit_precision asked_precision(const vit_model_choice *from) {
    return from->precision.given ? (vit_precision)from->precision.value : VIT_PRECISION_F32;
}

vit_precision vit_chosen_precision(const vit_model_choice *from) {
    const vit_precision asked = asked_precision(from);
    const bool is_had = vit_precision_available(asked, vit_chosen_cpu());
    return is_had || from->bf16 > 0 ? asked : VIT_PRECISION_F32;
}

void vit_say_precision(const vit_command *command, const vit_model_choice *from, const char *name,
                       const vit_model_info *info) {
    const vit_precision asked = asked_precision(from), chosen = vit_chosen_precision(from);
    const vit_precision had = chosen == VIT_PRECISION_F32 ? info->precision : chosen;
    const char *answers = vit_precision_names[had];
    vit_cpu highest = VIT_CPU_AMX;
    if (vit_chosen_cpu()) vit_cpu_parse(vit_chosen_cpu(), &highest);
    const bool wanted = had > VIT_PRECISION_F32 && highest >= VIT_CPU_AMX; /* int8 or bf16 */
    const char *why = wanted && vit_cpu_detect() >= VIT_CPU_AMX ? vit_cpu_tiles_missing() : NULL;
    if (why) vit_say(command, "note: AMX is not used: %s", why);
    if (!from->precision.given) return;
    if (asked == had && vit_precision_is_slower(had, (vit_bf16)from->bf16, vit_chosen_cpu()))
        vit_say(command,
                "note: this processor multiplies more slowly in %s than in %s: the answers of %s "
                "come sooner without --precision %s",
                answers, vit_precision_names[VIT_PRECISION_F32], name, answers);
    if (asked == had) return;
    if (asked == chosen)
        vit_say(command,
                "note: %s has weights in 8 bits: its answers are those of %s, not of %s; "
                "vit-convert --dtype f32 writes these weights as floats, which answer in f32",
                name, answers, vit_precision_names[asked]);
    else
        vit_say(command,
                "note: this processor cannot compute in %s: the answers of %s are those of %s",
                vit_precision_names[asked], name, answers);
}

/* Bytes of "512K" or "1M"; 0 if it is no such size from 64K to 64M. */
static size_t size_of(const char *word) {
    char *end;
    const unsigned long count = strtoul(word, &end, 10);
    const int bits = *end == 'K' ? 10 : *end == 'M' ? 20 : 0;
    const bool whole = *word >= '0' && *word <= '9' && bits > 0 && end[1] == '\0';
    const size_t bytes = count <= 65536 ? (size_t)count << bits : 0;
    return whole && bytes >= (size_t)64 << 10 && bytes <= (size_t)64 << 20 ? bytes : 0;
}

/* Assumes the second-level cache that VIT_CACHE says; a usage error if it is no size. Returns the
 * exit status. */
static int assume_cache(const vit_command *command) {
    const char *word = getenv("VIT_CACHE");
    if (!word || *word == '\0') return VIT_EXIT_OK;
    const size_t bytes = size_of(word);
    if (bytes > 0) return vit_cpu_assume_cache(bytes), VIT_EXIT_OK;
    return vit_say_usage(command,
                         "the environment variable VIT_CACHE is \"%s\", expected the size of a "
                         "core's second-level cache, from 64K to 64M, such as 512K or 1M",
                         word);
}

/* Says if a program that computes on several threads cannot have them. */
static void check_threads(const vit_command *command, const void *settings) {
    const vit_option *option = NULL;
    for (size_t i = 0; i < command->option_count && !option; i++)
        if (command->options[i].name && strcmp(command->options[i].name, "threads") == 0)
            option = &command->options[i];
    if (!option) return;
    const uint64_t asked = *(const uint64_t *)((const char *)settings + option->offset);
    const int most = asked > 0 ? vit_threads_most() : vit_threads_default();
    const int wanted = asked > 0 && asked < (uint64_t)most ? (int)asked : most;
    const int had = vit_threads_to_be_had(wanted);
    if (had < wanted)
        vit_say(command,
                "note: of %d threads only %d can be started, within the limits of processes and "
                "memory (ulimit -u, ulimit -v): it only takes longer",
                wanted, had);
}

/* Which guests this vit was built with, and without. */
static void print_guests(void) {
    size_t count[2] = {0};
    for (const vit_guest *g = vit_guests; g->name; g++) count[g->built]++;
    printf("guests:%s", count[true] > 0 ? "" : " none");
    for (const vit_guest *g = vit_guests; g->name; g++)
        if (g->built) printf(" %s", g->name);
    printf("%s", count[false] > 0 ? "; without:" : "");
    for (const vit_guest *g = vit_guests; g->name; g++)
        if (!g->built) printf(" %s", g->name);
    printf("\n");
}

bool vit_program_start(const vit_command *command, void *settings, int *argc, char **argv,
                       int *exit_status) {
    vit_error error;
    vit_string help = {0};
    const char *mpi = vit_cluster_kind();
    occupy_standard_streams();
    signal(SIGXFSZ, SIG_IGN); /* so that a file that may not grow is an error with a sentence */
    switch (vit_options_parse(command, settings, argc, argv, &error)) {
    case VIT_REQUEST_HELP:
        vit_options_help(&help, command);
        *exit_status = vit_print(command, &help) ? VIT_EXIT_OK : VIT_EXIT_FAILED;
        *exit_status = vit_program_end(command, *exit_status);
        return false;
    case VIT_REQUEST_VERSION:
        printf("%s %s\npictures: %s\nprocesses: %s\n", command->name, VIT_VERSION,
               vit_picture_formats(), *mpi ? mpi : "one (without MPI)");
        print_guests();
        *exit_status = vit_program_end(command, VIT_EXIT_OK);
        return false;
    case VIT_REQUEST_REFUSED:
        *exit_status = vit_say_usage(command, "%s", error.message);
        return false;
    case VIT_REQUEST_RUN:
        break;
    }
    vit_offer_models();
    *exit_status = check_cpu(command);
    if (*exit_status == VIT_EXIT_OK) *exit_status = check_parallel(command);
    if (*exit_status == VIT_EXIT_OK) *exit_status = assume_cache(command);
    if (*exit_status == VIT_EXIT_OK) check_threads(command, settings);
    return *exit_status == VIT_EXIT_OK;
}

int vit_program_end(const vit_command *command, int exit_status) {
    bool failed = ferror(stdout) != 0;
    failed |= fflush(stdout) != 0;
    if (failed) {
        vit_say(command, "cannot write standard output: is it closed, or its disk full?");
        return exit_status == VIT_EXIT_OK ? VIT_EXIT_FAILED : exit_status;
    }
    return exit_status;
}

/* ---- tags as classes ---- */

const char *vit_chosen_tags(const vit_tag_choice *choice) {
    if (choice->labels_from == 0) return NULL;
    return choice->under ? choice->under : "";
}

const char *vit_tag_contradiction(const vit_tag_choice *choice) {
    return choice->under && choice->labels_from == 0 ? "--under BRANCH is for --labels-from tags"
                                                     : NULL;
}
