/* What all programs share: options, messages, the environment, the exit status. */
#ifndef VIT_CLI_PARTS_PROGRAM_H
#define VIT_CLI_PARTS_PROGRAM_H

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "vit/cli/parts/options.h"
#include "vit/formats/json_out.h"
#include "vit/vit.h"

enum { VIT_EXIT_OK = 0, VIT_EXIT_FAILED = 1, VIT_EXIT_USAGE = 2 };

/* Parses the options into *settings and checks VIT_CPU; *exit_status becomes VIT_EXIT_OK. False:
 * the program must end with *exit_status, as --help or --version was printed, or a usage error. */
bool vit_program_start(const vit_command *command, void *settings, int *argc, char **argv,
                       int *exit_status);

/* Prints "NAME: SENTENCE" to standard error. */
void vit_say(const vit_command *command, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The same for a usage error, with a hint at --help; returns the exit status. Of several ranks only
 * one says it, so it is for the time before vit_program_join. */
int vit_say_usage(const vit_command *command, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Says the text: a vit_note, whose user is the vit_command. */
void vit_say_note(const char *text, void *command);

/* vit_cluster_open, for a command with `ranks`: all ranks return the usage error that one has. */
vit_status vit_program_join(vit_cluster **out, vit_error *error);

/* Prints error->message; returns the exit status that belongs to it. */
int vit_say_error(const vit_command *command, const vit_error *error);

/* Appends `text`, padded with spaces to `width` columns. Control characters, and bytes that are not
 * UTF-8, become '?': names of files and labels of models may come from strangers. */
void vit_string_add_visible(vit_string *t, const char *text, size_t width);

/* The columns that `text` takes then. */
size_t vit_display_columns(const char *text);

/* 1234567 as "1,234,567"; returns `text`. */
char *vit_format_count(char text[32], uint64_t count);

/* Whether the locale's variables say that UTF-8 is understood. */
bool vit_speaks_utf8(void);

extern const char *const vit_precision_names[];   /* vit/ops/precision.c */
extern const char *const vit_bf16_names[];        /* "any", "pairs", "tiles", NULL; the same */
extern const char *const vit_orientation_names[]; /* "model", "exif", "never", NULL */
extern const char *const vit_split_names[];       /* "test", "train", "val", NULL */

/* Which model, and how it is opened, as the options say that have a macro below. The settings of a
 * program have it under the name `from`. */
typedef struct vit_model_choice {
    const char *name, *config, *emulate;
    const char *labels, *labels_file; /* one of them at most */
    vit_option_list templates;
    vit_size size;          /* 0: the model's own */
    int exif_orientation;   /* vit_orientation */
    vit_optional precision; /* vit_precision */
    int bf16;               /* vit_bf16 */
} vit_model_choice;

/* --precision; what: the help. */
#define VIT_PRECISION_ROW(what)                                                      \
    .name = "precision", .kind = VIT_OPTION_CHOICE, .argument = "P", .help = (what), \
    .choices = vit_precision_names
/* Of a program that answers. */
#define VIT_PRECISION_OPTION(settings)                                                             \
    {                                                                                              \
        VIT_PRECISION_ROW("f32, bf16 or int8: the matrix products; bf16 is\n"                      \
                          "faster with AMX and on AMD's AVX512_BF16, slower\n"                     \
                          "on Intel's; int8 rounds the blocks' weights and\n"                      \
                          "activations to 8 bits\n"                                                \
                          "(default: f32; int8 of a file of 8-bit weights)"),                      \
            .offset = offsetof(settings, from.precision), .optional = true, .also = VIT_EVERYWHERE \
    }

/* --arithmetic; what: the help. */
#define VIT_ARITHMETIC_ROW(what)                                                      \
    .name = "arithmetic", .kind = VIT_OPTION_CHOICE, .argument = "A", .help = (what), \
    .choices = vit_bf16_names
/* Of a program that trains: keys of the recipe; what: the help of --precision; besides: .also. */
#define VIT_PRECISION_KEYS(what, besides)                                              \
    {VIT_PRECISION_ROW(what), .key = "precision", .offset = offsetof(settings, keys),  \
     .also = (besides)},                                                               \
    {                                                                                  \
        VIT_ARITHMETIC_ROW("the order of sums in bf16: pairs (VDPBF16PS), tiles\n"     \
                           "(AMX), or any: tiles where there is AMX. The same\n"       \
                           "order gives the same bytes (default: any)"),               \
            .key = "arithmetic", .offset = offsetof(settings, keys), .also = (besides) \
    }
/* Of a program that answers. */
#define VIT_ARITHMETIC_OPTION(settings)                                            \
    {                                                                              \
        VIT_ARITHMETIC_ROW("the order of sums in bf16: pairs (VDPBF16PS), tiles\n" \
                           "(AMX), or any: tiles where there is AMX\n"             \
                           "(default: any)"),                                      \
            .offset = offsetof(settings, from.bf16), .also = VIT_EVERYWHERE        \
    }

/* For programs that answer: the precision that is asked for; f32 in place of one that this
 * processor does not have. */
vit_precision vit_chosen_precision(const vit_model_choice *from);

/* Says if a model that is opened so answers in another precision than was asked for. */
void vit_say_precision(const vit_command *command, const vit_model_choice *from, const char *name,
                       const vit_model_info *info);

/* A sentence in the notes of a program, which continues it. */
#define VIT_CPU_NOTE                                                    \
    "VIT_CPU=scalar|sse41|neon|simd128|avx2|avx512|avx512bf16|amx is\n" \
    "the highest instruction set used"

/* --threads, for a uint64_t `threads` in the settings; 0: not given, all processors. */
#define VIT_THREADS_OPTION(settings, explanation)                                               \
    {                                                                                           \
        VIT_OPTION(COUNT, "threads", threads, "N"), .help = explanation, .min = 1, .max = 1024, \
                                                    .also = VIT_EVERYWHERE                      \
    }

/* The help of --data. */
/* Where the classes of a photo library's pictures stand. */
typedef struct vit_tag_choice {
    int labels_from;   /* of vit_labels_from */
    const char *under; /* or NULL */
} vit_tag_choice;
extern const char *const vit_labels_from[]; /* "data", "tags", NULL */

/* Two rows, of a vit_tag_choice. */
#define VIT_TAG_OPTIONS(settings, member)                                      \
    {VIT_OPTION(CHOICE, "labels-from", member.labels_from, "data|tags"),       \
     .help = "tags: the classes are the tags of a photo library, in\n"         \
             "sidecars or in the pictures (docs/photos.md; default:\n"         \
             "data, as they are laid out)",                                    \
     .choices = vit_labels_from, .also = VIT_EVERYWHERE},                      \
    {                                                                          \
        VIT_OPTION(TEXT, "under", member.under, "BRANCH"),                     \
            .help = "with --labels-from tags: those below this tag, such as\n" \
                    "Animals/ for Animals/Cat and Animals/Dog",                \
            .also = VIT_EVERYWHERE                                             \
    }

/* The branch of tags, for the library; NULL: the classes are not tags. */
const char *vit_chosen_tags(const vit_tag_choice *choice);

/* A sentence if the options contradict each other, or NULL. */
const char *vit_tag_contradiction(const vit_tag_choice *choice);

/* How the classes of data are chosen, and which are allowed. */
typedef struct vit_class_choice {
    const char *class_column, *exclude, *relabel;
    vit_tag_choice tags;
    bool empty_classes, splits_are_classes;
} vit_class_choice;
#define VIT_CLASS_COLUMN_OPTION(settings, member)                           \
    {                                                                       \
        VIT_OPTION(TEXT, "class-column", member, "NAME"),                   \
            .help = "the column with the classes, of a table of pictures\n" \
                    "(default: by its name, as label; docs/data.md)",       \
            .also = VIT_EVERYWHERE                                          \
    }
#define VIT_EXCLUDE_OPTION(settings, member)                                 \
    {                                                                        \
        VIT_OPTION(TEXT, "exclude", member, "FILE.csv"),                     \
            .help = "leave out the pictures in the column picture of this\n" \
                    "table, as --label-issues writes one",                   \
            .also = VIT_EVERYWHERE                                           \
    }
#define VIT_NEAR_DUPLICATES_OPTION(settings, member, ...)                         \
    {                                                                             \
        VIT_OPTION(TEXT, "near-duplicates", member, "FILE.csv"),                  \
            .help = "write a table of the near-duplicates: pictures that are\n"   \
                    "the same file, saved again, mirrored or cropped" __VA_ARGS__ \
    }
/* Two rows, of a vit_class_choice `classes`. */
#define VIT_CLASS_OPTIONS(settings)                                                              \
    {VIT_FLAG("empty-classes", classes.empty_classes), .help = "allow classes without pictures", \
     .also = VIT_EVERYWHERE},                                                                    \
    {                                                                                            \
        VIT_FLAG("splits-are-classes", classes.splits_are_classes),                              \
            .help = "allow classes that are called train, val or test, as\n"                     \
                    "splits are, or hold such folders",                                          \
            .also = VIT_EVERYWHERE                                                               \
    }
#define VIT_DATA_HELP                                        \
    "a directory: files of MNIST, EMNIST, CIFAR, STL-10,\n"  \
    "SVHN, ..., or one folder of pictures a class, or a\n"   \
    "table of them, or tar files of them (vit-pack);\n"      \
    "FILE.npz or a directory with NumPy's images and\n"      \
    "labels; or mnist, fashion, cifar10, cifar100, medley\n" \
    "(looked up in $VIT_DATA, then data/); or\n"             \
    "digits, drawn; or strips, numbers:en-de and others\n"   \
    "of docs/data.md, whose answers are texts"

/* --config, --emulate, --labels, --labels-file, --template, --size and --exif-orientation of the
 * model. */
#define VIT_CONFIG_OPTION(settings)                                      \
    {                                                                    \
        VIT_OPTION(TEXT, "config", from.config, "FILE"),                 \
            .help = "the config of published weights, in place of the\n" \
                    "config.json beside them",                           \
            .also = VIT_EVERYWHERE                                       \
    }
#define VIT_EMULATE_OPTION(settings)                                         \
    {                                                                        \
        VIT_OPTION(TEXT, "emulate", from.emulate, "LIBRARY"),                \
            .help = "answer as this library, where libraries answer\n"       \
                    "differently with the same weights: timm, hf, meta or\n" \
                    "open_clip (default: the library of the weights)",       \
            .also = VIT_EVERYWHERE                                           \
    }
#define VIT_LABELS_OPTION(settings)                                      \
    {                                                                    \
        VIT_OPTION(TEXT, "labels", from.labels, "FILE|A,B"),             \
            .help = "names of the classes, in place of the model's: a\n" \
                    "file, one a line or a JSON list or object; or\n"    \
                    "imagenet-1k. Of CLIP and SigLIP they are class\n"   \
                    "prompts, for zero-shot classification: --labels\n"  \
                    "cat,dog,\"a red bus\", or a file",                  \
            .also = VIT_EVERYWHERE, .exclusive = VIT_LABELS_EXCLUSIVE    \
    }
#define VIT_LABELS_EXCLUSIVE 77
#define VIT_LABELS_FILE_OPTION(settings)                                                        \
    {                                                                                           \
        VIT_OPTION(TEXT, "labels-file", from.labels_file, "FILE"),                              \
            .help = "the same, always a file, never a list", .exclusive = VIT_LABELS_EXCLUSIVE, \
            .also = VIT_EVERYWHERE                                                              \
    }
#define VIT_TEMPLATE_OPTION(settings)                                         \
    {                                                                         \
        VIT_OPTION(LIST, "template", from.templates, "TEXT"),                 \
            .help = "prompt template of zero-shot classification: a text\n"   \
                    "with the label at {}, as \"a photo of a {}\"; several\n" \
                    "are averaged; or a file with one a line; or imagenet\n"  \
                    "or imagenet-simple, CLIP's 80 and 7 (default: {})",      \
            .also = VIT_EVERYWHERE                                            \
    }
#define VIT_SIZE_OPTION(settings)                                     \
    {                                                                 \
        VIT_OPTION(SIZE, "size", from.size, "N|HxW"),                 \
            .help = "the network's input in pixels, instead of the\n" \
                    "model's: positions are resampled",               \
            .also = VIT_EVERYWHERE                                    \
    }

#define VIT_EXIF_OPTION(settings)                                             \
    {                                                                         \
        VIT_OPTION(CHOICE, "exif-orientation", from.exif_orientation, "HOW"), \
            .help = "exif: turn a camera's pictures upright by their EXIF\n"  \
                    "orientation; never: leave them as they are stored;\n"    \
                    "model: as the model says, exif for our own and\n"        \
                    "Hugging Face's (default: model)",                        \
            .choices = vit_orientation_names, .also = VIT_EVERYWHERE          \
    }

/* What --labels or --labels-file says, for vit_model_options; NULL: neither. IO if the latter is no
 * file. */
vit_status vit_chosen_labels(const char **out, const vit_model_choice *from, vit_error *error);

/* The value of VIT_CPU, which vit_program_start has checked; NULL if it is not set. */
const char *vit_chosen_cpu(void);

/* Writes `text` to standard output, flushes it, and frees it. False, with a message, if the text is
 * incomplete for want of memory; errors of standard output itself are left to vit_program_end. */
bool vit_print(const vit_command *command, vit_string *text);

/* Whether both names are given, and the same. */
static inline bool vit_same_names(const char *a, const char *b) {
    return a && b && strcmp(a, b) == 0;
}

/* Replaces a file by the text, or leaves it as it is, and frees the text. */
vit_status vit_write_text(const char *path, vit_string *text, vit_error *error);

/* The same as vit_print for a line of JSON, which it ends. */
bool vit_print_json(const vit_command *command, vit_json_out *json);

/* Ends the line, writes and flushes it, and frees it; false if it could not be written, or there
 * was no memory. */
bool vit_json_end_line(vit_json_out *json, FILE *stream);

/* Returns the exit status of main: failed, with a message, if standard output could not be written.
 */
int vit_program_end(const vit_command *command, int exit_status);

#endif
