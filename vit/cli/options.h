/* Options of a program, described by one table: it parses them, checks them and writes --help.
 *
 *     struct settings { const char *data; uint64_t batch; bool json; };
 *     static const vit_option options[] = {
 *         {.kind = VIT_OPTION_GROUP, .help = "What"},
 *         {.name = "batch",
 *          .kind = VIT_OPTION_COUNT,
 *          .offset = offsetof(struct settings, batch),
 *          .argument = "N",
 *          .help = "pictures a step (default: 128)",
 *          .min = 1,
 *          .max = 65536},
 *     };
 *
 * `--name VALUE` and `--name=VALUE` mean the same; `--` ends the options; options and operands may
 * be mixed; `-` alone is an operand. `--help` (or `-h`) and `--version` are every program's. An
 * option that is unknown, given twice, out of range or without its value is refused.
 */
#ifndef VIT_CLI_OPTIONS_H
#define VIT_CLI_OPTIONS_H

#include "vit/base/error.h"
#include "vit/base/text.h"

typedef enum vit_option_kind {
    VIT_OPTION_GROUP,  /* no option: a heading in --help */
    VIT_OPTION_FLAG,   /* bool; takes no value */
    VIT_OPTION_TEXT,   /* const char *, not empty; points into argv */
    VIT_OPTION_COUNT,  /* uint64_t, min <= value <= max */
    VIT_OPTION_NUMBER, /* double, min < value <= max; from min on where `from_min` says so */
    VIT_OPTION_CHOICE, /* int: the index of the word in `choices` */
    VIT_OPTION_STEPS,  /* vit_steps: "n", or "n/N" with 1 <= n <= N */
    VIT_OPTION_SIZE,   /* vit_size: "N", or "HxW", each 1 .. 65535 */
    VIT_OPTION_LIST,   /* vit_option_list; may be given again and again */
} vit_option_kind;

typedef struct vit_steps {
    uint64_t steps, schedule; /* schedule is 0 where no "/N" was given */
} vit_steps;

typedef struct vit_size {
    size_t height, width; /* pixels */
} vit_size;

typedef struct vit_option_list {
    const char *values[64]; /* not empty; they point into argv */
    size_t count;
} vit_option_list;

typedef struct vit_option {
    const char *name; /* without its dashes */
    vit_option_kind kind;
    size_t offset;        /* of the value within the program's settings */
    const char *argument; /* what stands for the value in --help: "N" */
    const char *help;     /* what it does and its default; '\n' starts another line */
    double min, max;      /* COUNT and NUMBER; max 0: no limit */
    bool from_min;
    const char *const *choices; /* CHOICE: ended by NULL */
    char letter;                /* "-o" is short for it; 0: nothing is */
    bool required;
    int exclusive; /* of the options with the same number other than 0, only one may be given */
} vit_option;

typedef struct vit_command {
    const char *name;     /* "vit-train" */
    const char *usage;    /* the head of --help, up to the options */
    const char *operands; /* what the operands are, as "PICTURE"; NULL: there are none */
    const char *notes;    /* the end of --help, after the options */
    const vit_option *options;
    size_t option_count;
} vit_command;

/* REFUSED: error->message says why. HELP and VERSION win over whatever follows them. */
typedef enum vit_request {
    VIT_REQUEST_RUN,
    VIT_REQUEST_HELP,
    VIT_REQUEST_VERSION,
    VIT_REQUEST_REFUSED,
} vit_request;

/* Fills `settings`, where values that are not given stay as they are. The operands move to the
 * front: argv[1 .. *argc - 1] afterwards. */
vit_request vit_options_parse(const vit_command *command, void *settings, int *argc, char **argv,
                              vit_error *error);

/* --help, made from the table. */
void vit_options_help(vit_text *out, const vit_command *command);

#endif
