/* The options of a program, described by one table from which they are parsed and checked and
 * --help is written.
 *
 *     typedef struct settings { const char *data; uint64_t batch; bool json; } settings;
 *     static const vit_option options[] = {
 *         {.kind = VIT_OPTION_GROUP, .help = "What"},
 *         {VIT_OPTION(COUNT, "batch", batch, "N"),
 *          .help = "pictures a step (default: 128)",
 *          .min = 1,
 *          .max = 65536},
 *     };
 *
 * `--name VALUE` and `--name=VALUE` mean the same; `--` ends the options; options and operands may
 * be mixed; `-` alone is an operand. Options that only a guest serves (vit/base/guests.h) are
 * refused, and not in --help, where it is not built in. Every program has `--help` (or `-h`) and
 * `--version`. An option that is unknown, given twice, out of range or without its value is
 * refused.
 */
#ifndef VIT_CLI_PARTS_OPTIONS_H
#define VIT_CLI_PARTS_OPTIONS_H

#include <stddef.h>

#include "vit/base/error.h"
#include "vit/base/text.h"

typedef enum vit_option_kind {
    VIT_OPTION_GROUP,  /* not an option, but a heading in --help */
    VIT_OPTION_FLAG,   /* bool; takes no value */
    VIT_OPTION_TEXT,   /* const char *, not empty; points into argv */
    VIT_OPTION_COUNT,  /* uint64_t, min <= value <= max */
    VIT_OPTION_NUMBER, /* double, min < value <= max; with `from_min` min <= value <= max */
    VIT_OPTION_CHOICE, /* int: the index of the word in `choices` */
    VIT_OPTION_STEPS,  /* vit_steps: "n", or "n/N" with 1 <= n <= N */
    VIT_OPTION_SIZE,   /* vit_size: "N", or "HxW", each 1 .. 65535 */
    VIT_OPTION_LIST,   /* vit_option_list; may be given several times */
} vit_option_kind;

typedef struct vit_steps {
    uint64_t steps, schedule; /* schedule: 0 if no "/N" was given */
} vit_steps;

typedef struct vit_size {
    size_t height, width; /* pixels */
} vit_size;

typedef struct vit_option_list {
    const char *values[64]; /* not empty; they point into argv */
    size_t count;
} vit_option_list;

/* What options with a `key` were given, as "KEY=VALUE". */
typedef struct vit_option_keys {
    char values[16][64];
    size_t count;
} vit_option_keys;

typedef struct vit_option {
    const char *name; /* without its dashes */
    vit_option_kind kind;
    size_t offset;        /* of the value within the program's settings */
    const char *key;      /* of a recipe that the option sets: it goes into a vit_option_keys */
    bool optional;        /* COUNT, NUMBER, CHOICE: the value is a vit_optional */
    const char *argument; /* placeholder for the value in --help: "N" */
    const char *help;     /* what it does, and its default; '\n' begins another line */
    double min, max;      /* COUNT and NUMBER; max 0: no limit */
    bool from_min;
    const char *const *choices; /* CHOICE: ended by NULL */
    char letter;                /* 'o': "-o" is short for it; 0: it has no short form */
    bool required;
    const char *word; /* FLAG: it may be followed by this word, which sets the bool at word_offset;
                         NULL: by none */
    size_t word_offset;
    int exclusive; /* not 0: only one of the options with this number may be given */
    unsigned also; /* of a program that does several things: those beside its first, as bits, for
                      which it has a meaning, too */
} vit_option;

#define VIT_EVERYWHERE 0xffU /* bits of all that open a model */

/* The beginning of a row: its kind, its name, its member of the program's `settings`, and the
 * placeholder for its value. */
#define VIT_OPTION(form, word, member, value) \
    .name = word, .kind = VIT_OPTION_##form, .offset = offsetof(settings, member), .argument = value
#define VIT_FLAG(word, member) \
    .name = word, .kind = VIT_OPTION_FLAG, .offset = offsetof(settings, member)

typedef struct vit_command {
    const char *name;     /* "vit-train" */
    const char *usage;    /* the part of --help before the options */
    const char *operands; /* what the operands are: "PICTURE"; NULL: the program takes none */
    const char *notes;    /* the part of --help after the options */
    const vit_option *options;
    size_t option_count;
    const char *(*key)(const char *word, bool near); /* of a program with --set: vit_preset_key */
    bool ranks;   /* its processes compute together when mpirun or srun starts several */
    size_t given; /* of a bool [option_count] in the settings: which options were given; 0: none */
} vit_command;

/* What to do. REFUSED: error->message says why. HELP and VERSION: what follows is not looked at. */
typedef enum vit_request {
    VIT_REQUEST_RUN,
    VIT_REQUEST_HELP,
    VIT_REQUEST_VERSION,
    VIT_REQUEST_REFUSED,
} vit_request;

/* Fills *settings, leaving values that are not given as they are. Afterwards argv[1 .. *argc - 1]
 * are the operands. */
vit_request vit_options_parse(const vit_command *command, void *settings, int *argc, char **argv,
                              vit_error *error);

/* The first option that was given, by a table that `given` of the command has filled, and that has
 * no meaning for what the program does, one bit; NULL: there is none. */
const char *vit_option_elsewhere(const vit_command *command, const bool *given, unsigned does);

/* Appends the text of --help. */
void vit_options_help(vit_string *out, const vit_command *command);

#endif
