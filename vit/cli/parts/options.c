#include "vit/cli/parts/options.h"

#include <stdio.h>
#include <string.h>

#include "vit/base/guests.h"
#include "vit/base/size.h"
#include "vit/formats/json.h"

enum { OPTIONS_MAX = 64 };

typedef struct parser {
    const vit_command *command;
    char *settings;
    bool given[OPTIONS_MAX]; /* by index in the table */
    vit_error *error;
} parser;

static vit_status refuse_value(const parser *p, const vit_option *option, const char *value,
                               const char *expected) {
    return vit_fail(p->error, VIT_ERROR_ARGUMENT, "--%s: \"%s\" is not %s", option->name, value,
                    expected);
}

static vit_status refuse_range(const parser *p, const vit_option *option, const char *value,
                               const char *expected) {
    return vit_fail(p->error, VIT_ERROR_ARGUMENT, "--%s: %s is out of range, %s", option->name,
                    value, expected);
}

static vit_status check_range(const parser *p, const vit_option *option, const char *value,
                              double number, bool above) {
    const bool low = above ? !(number > option->min) : !(number >= option->min);
    if (!low && (option->max == 0 || number <= option->max)) return VIT_OK;
    char min[32], max[32];
    vit_string limits = {0};
    vit_string_add(&limits, "expected %s %s", above ? "more than" : "at least",
                   vit_format_double(min, option->min));
    if (option->max != 0)
        vit_string_add(&limits, " and at most %s", vit_format_double(max, option->max));
    const vit_status status =
        refuse_range(p, option, value, limits.failed ? "see --help" : limits.text);
    vit_string_free(&limits);
    return status;
}

/* "n" or "nSm", where S is the separator; *has_second says which. */
static bool parse_pair(const char *value, char separator, uint64_t *first, uint64_t *second,
                       bool *has_second) {
    char text[32];
    const char *end = strchr(value, separator);
    size_t length = end ? (size_t)(end - value) : strlen(value);
    *has_second = end != NULL;
    if (length >= sizeof text) return false;
    memcpy(text, value, length);
    text[length] = '\0';
    return vit_parse_u64(text, first) && (!end || vit_parse_u64(end + 1, second));
}

/* "N" or "HxW". */
static vit_status take_size(const parser *p, const vit_option *option, const char *value,
                            vit_size *out) {
    uint64_t height = 0, width = 0;
    bool has_width;
    if (!parse_pair(value, 'x', &height, &width, &has_width))
        return refuse_value(p, option, value, "a size in pixels such as 384, or 192x320");
    if (!has_width) width = height;
    if (height < 1 || height > 65535 || width < 1 || width > 65535)
        return refuse_range(p, option, value, "expected 1 to 65535");
    *out = (vit_size){(size_t)height, (size_t)width};
    return VIT_OK;
}

/* "n" or "n/N". */
static vit_status take_steps(const parser *p, const vit_option *option, const char *value,
                             vit_steps *out) {
    bool slash;
    *out = (vit_steps){0};
    if (!parse_pair(value, '/', &out->steps, &out->schedule, &slash))
        return refuse_value(p, option, value, "a whole number, or two as in 300/4000");
    if (out->steps == 0 || (slash && out->steps > out->schedule))
        return refuse_range(p, option, value,
                            slash ? "expected n/N with n at least 1 and at most N"
                                  : "expected at least 1");
    return VIT_OK;
}

static vit_status take_choice(const parser *p, const vit_option *option, const char *value,
                              int *out) {
    vit_string words = {0};
    vit_status status = VIT_OK;
    for (*out = 0; option->choices[*out] && strcmp(value, option->choices[*out]) != 0; ++*out) {
        const char *separator = *out == 0 ? "" : option->choices[*out + 1] ? ", " : " or ";
        vit_string_add(&words, "%s%s", separator, option->choices[*out]);
    }
    if (!option->choices[*out])
        status = refuse_value(p, option, value, words.failed ? "a word it knows" : words.text);
    vit_string_free(&words);
    return status;
}

static vit_status take_text(const parser *p, const vit_option *option, const char *value,
                            const char **out) {
    *out = value;
    if (*value != '\0') return VIT_OK;
    return vit_fail(p->error, VIT_ERROR_ARGUMENT, "--%s: the value is empty, expected %s",
                    option->name, option->argument);
}

/* Puts the value at `place`. */
static vit_status put_value(const parser *p, const vit_option *option, const char *value,
                            void *place) {
    uint64_t *count = place;
    double *number = place;
    vit_option_list *list = place;
    switch (option->kind) {
    case VIT_OPTION_FLAG:
        *(bool *)place = true;
        if (*value != '\0') *(bool *)(p->settings + option->word_offset) = true;
        break;
    case VIT_OPTION_TEXT:
        return take_text(p, option, value, place);
    case VIT_OPTION_COUNT:
        return vit_parse_u64(value, count) ? check_range(p, option, value, (double)*count, false)
                                           : refuse_value(p, option, value, "a whole number");
    case VIT_OPTION_NUMBER:
        return vit_parse_double(value, number)
                   ? check_range(p, option, value, *number, !option->from_min)
                   : refuse_value(p, option, value, "a number");
    case VIT_OPTION_CHOICE:
        return take_choice(p, option, value, place);
    case VIT_OPTION_STEPS:
        return take_steps(p, option, value, place);
    case VIT_OPTION_SIZE:
        return take_size(p, option, value, place);
    case VIT_OPTION_LIST:
        if (list->count < VIT_COUNT(list->values))
            return take_text(p, option, value, &list->values[list->count++]);
        return vit_fail(p->error, VIT_ERROR_ARGUMENT, "--%s is given more than %zu times",
                        option->name, list->count);
    case VIT_OPTION_GROUP:
        break;
    }
    return VIT_OK;
}

/* Puts the value into the settings, in the form that the row asks for. */
static vit_status take_value(const parser *p, const vit_option *option, const char *value) {
    void *place = p->settings + option->offset;
    union {
        bool flag;
        uint64_t count;
        double number;
        int choice;
    } one = {0};
    if (!option->key && !option->optional) return put_value(p, option, value, place);
    const vit_status status = put_value(p, option, value, &one);
    if (status != VIT_OK) return status;
    const bool is_count = option->kind == VIT_OPTION_COUNT;
    const bool is_number = option->kind == VIT_OPTION_NUMBER;
    if (option->optional) {
        *(vit_optional *)place = vit_given(is_count    ? (double)one.count
                                           : is_number ? one.number
                                                       : one.choice);
        return VIT_OK;
    }
    char text[32];
    if (is_count) snprintf(text, sizeof text, "%llu", (unsigned long long)one.count);
    if (is_number) vit_format_double(text, one.number);
    vit_option_keys *keys = place;
    snprintf(keys->values[keys->count++], sizeof keys->values[0], "%s=%s", option->key,
             option->kind == VIT_OPTION_FLAG ? "true"
             : is_count || is_number         ? text
                                             : value);
    return VIT_OK;
}

/* "vit-train data" for each option of each program, ended by NULL: scripts/option-names. */
extern const char *const vit_option_names[];

/* Splits such a line; false: it does not fit. */
static bool split_line(const char *line, char program[32], char name[64]) {
    return sscanf(line, "%31s %63s", program, name) == 2;
}

/* Adds the programs that have an option of this name, after `before`; false: there are none. */
static bool add_owners(vit_string *t, const char *word, const char *before) {
    char program[32], name[64];
    size_t count = 0;
    for (size_t i = 0; vit_option_names[i]; i++)
        if (split_line(vit_option_names[i], program, name) && strcmp(name, word) == 0)
            vit_string_add(t, "%s%s", count++ == 0 ? before : ", ", program);
    return count > 0;
}

/* Adds the option of another program that is spelled nearly so, if there is one. */
static void add_near_owners(vit_string *t, const char *word) {
    char program[32], name[64], near[64] = "";
    for (size_t i = 0; vit_option_names[i]; i++) {
        const char *const two[] = {near, name};
        if (!split_line(vit_option_names[i], program, name)) continue;
        const char *nearer = vit_nearest(word, two, 2);
        if (nearer == name) snprintf(near, sizeof near, "%s", name);
    }
    if (*near == '\0') return;
    vit_string_add(t, "; did you mean --%s", near);
    add_owners(t, near, " of ");
    vit_string_add(t, "?");
}

/* Adds the option that sets a key of presets, or --set with it. */
static void add_key(vit_string *t, const parser *p, const char *key, const char *value) {
    for (size_t i = 0; i < p->command->option_count; i++) {
        const vit_option *option = &p->command->options[i];
        if (option->key && strcmp(option->key, key) == 0) {
            vit_string_add(t, "; did you mean --%s?", option->name);
            return;
        }
    }
    vit_string_add(t, "; did you mean --set %s=%s, a key of the preset?", key,
                   value && *value != '\0' && *value != '-' ? value : "VALUE");
}

/* What other programs call an option of ours. */
static const char *const other_names[][2] = {
    {"time", "minutes"},
    {"max-time", "minutes"},
    {"duration", "minutes"},
    {"confidence", "abstain-below"},
    {"min-confidence", "abstain-below"},
    {"threshold", "abstain-below"},
    {"workers", "threads"},
    {"num-workers", "threads"},
    {"num-threads", "threads"},
    {"jobs", "threads"},
    {"val-split", "val"},
    {"validation-split", "val"},
    {"pretrained", "init"},
    {"weights", "init"},
    {"weights", "model"},
    {"checkpoint", "model"},
    {"dataset", "data"},
    {"data-dir", "data"},
    {"root", "data"},
    {"output-dir", "out"},
    {"save", "out"},
    {"to", "layout"},
    {"format", "layout"},
    {"k", "top"},
    {"bind", "host"},
    {"address", "host"},
    {"listen", "host"},
    {"heatmap", "out"},
};

/* The option among names that the word means elsewhere; NULL: none. */
static const char *known_option(const char *word, const char *const *names, size_t count) {
    for (size_t i = 0; i < VIT_COUNT(other_names); i++)
        for (size_t k = 0; k < count && strcmp(word, other_names[i][0]) == 0; k++)
            if (strcmp(names[k], other_names[i][1]) == 0) return names[k];
    return NULL;
}

/* Whether it chooses a processor. */
static bool is_device(const char *word) {
    static const char *const words[] = {"device", "gpu", "gpus", "cuda", "mps", "cpu"};
    for (size_t i = 0; i < VIT_COUNT(words); i++)
        if (strcmp(word, words[i]) == 0) return true;
    return false;
}

/* Adds what an unknown option probably means: a key of presets, another program's option of that
 * name, an own one that is spelled nearly so, or such a key or option of others. */
static void add_meant(vit_string *t, const parser *p, const char *word, const char *value) {
    const char *names[OPTIONS_MAX + 2] = {"help", "version"};
    size_t count = 2;
    char under[64]; /* as keys are written */
    for (size_t i = 0; i < p->command->option_count; i++)
        if (p->command->options[i].name) names[count++] = p->command->options[i].name;
    snprintf(under, sizeof under, "%s", word);
    for (char *c = under; *c; c++)
        if (*c == '-') *c = '_';
    const char *key = p->command->key ? p->command->key(under, false) : NULL;
    const char *own = vit_json_known_key(under, names, count);
    if (is_device(word)) {
        vit_string_add(t, "; there is nothing to choose: all runs on the processor");
        return;
    }
    if (!key && !own) own = known_option(word, names, count);
    if (!key && !own && add_owners(t, word, "; it is an option of ")) return;
    if (!key && !own) own = vit_nearest(word, names, count);
    if (!key && !own && p->command->key) key = p->command->key(under, true);
    if (key)
        add_key(t, p, key, value);
    else if (own)
        vit_string_add(t, "; did you mean --%s?", own);
    else
        add_near_owners(t, word);
}

/* value: what follows the name, or NULL. */
static vit_status refuse_unknown(const parser *p, const char *name, size_t length,
                                 const char *value) {
    vit_string word = {0}, meant = {0};
    vit_string_add_bytes(&word, name, length);
    if (!word.failed) add_meant(&meant, p, word.text, value);
    vit_fail(p->error, VIT_ERROR_ARGUMENT, "unknown option --%s%s", word.failed ? "" : word.text,
             meant.failed || !meant.text ? "" : meant.text);
    vit_string_free(&word);
    vit_string_free(&meant);
    return VIT_ERROR_ARGUMENT;
}

/* The option called name[0..length), or NULL. */
static const vit_option *find_option(const vit_command *command, const char *name, size_t length) {
    for (size_t i = 0; i < command->option_count; i++) {
        const vit_option *option = &command->options[i];
        if (option->name && strlen(option->name) == length &&
            memcmp(option->name, name, length) == 0)
            return option;
    }
    return NULL;
}

/* The option that "-x" is short for, or NULL. */
static const vit_option *find_letter(const vit_command *command, const char *argument) {
    for (size_t i = 0; i < command->option_count; i++) {
        const vit_option *option = &command->options[i];
        if (option->letter != 0 && argument[1] == option->letter && argument[2] == '\0')
            return option;
    }
    return NULL;
}

/* Records that an option is given; refuses one that was given before, or that another excludes. */
static vit_status mark_given(parser *p, const vit_option *option) {
    const vit_guest *missing = vit_guest_missing(p->command->name, option->name);
    if (missing)
        return vit_fail(p->error, VIT_ERROR_ARGUMENT,
                        "--%s is of the guest %s (%s), which this vit was built without: make "
                        "without CORE=yes and WITHOUT=%s builds it",
                        option->name, missing->name, missing->what, missing->name);
    const size_t place = (size_t)(option - p->command->options);
    if (p->given[place] && option->kind != VIT_OPTION_LIST)
        return vit_fail(p->error, VIT_ERROR_ARGUMENT, "--%s is given twice", option->name);
    for (size_t i = 0; i < p->command->option_count && option->exclusive != 0; i++) {
        const vit_option *other = &p->command->options[i];
        if (p->given[i] && other->exclusive == option->exclusive)
            return vit_fail(p->error, VIT_ERROR_ARGUMENT,
                            "--%s and --%s exclude each other: give one of them", other->name,
                            option->name);
    }
    p->given[place] = true;
    if (p->command->given > 0) ((bool *)(p->settings + p->command->given))[place] = true;
    return VIT_OK;
}

/* *value: that of an option, after its '=', or the next argument; of a flag "", or its word. */
static vit_status find_value(const char **value, const parser *p, const vit_option *option,
                             const char *equals, const char *next, bool *took_next) {
    const bool is_flag = option->kind == VIT_OPTION_FLAG;
    *value = equals ? equals + 1 : next;
    if (is_flag && !(option->word && *value && strcmp(*value, option->word) == 0)) {
        if (equals)
            return vit_fail(p->error, VIT_ERROR_ARGUMENT, "--%s takes no value%s%s, got \"%s\"",
                            option->name, option->word ? " but " : "",
                            option->word ? option->word : "", *value);
        *value = "";
        return VIT_OK;
    }
    if (!is_flag && !equals && (!next || strncmp(next, "--", 2) == 0))
        return vit_fail(p->error, VIT_ERROR_ARGUMENT,
                        "--%s: the value is missing, expected --%s %s", option->name, option->name,
                        option->argument);
    *took_next = equals == NULL;
    return VIT_OK;
}

/* Parses an argument that begins with '-'; *took_next: the next one is its value. */
static vit_request take_option(parser *p, const char *argument, const char *next, bool *took_next) {
    if (strcmp(argument, "--help") == 0 || strcmp(argument, "-h") == 0) return VIT_REQUEST_HELP;
    if (strcmp(argument, "--version") == 0) return VIT_REQUEST_VERSION;
    const vit_option *option = find_letter(p->command, argument);
    if (!option && strncmp(argument, "--", 2) != 0) {
        vit_fail(p->error, VIT_ERROR_ARGUMENT,
                 "unknown option %s: options begin with two dashes, and a file of that name is "
                 "written ./%s",
                 argument, argument);
        return VIT_REQUEST_REFUSED;
    }
    const char *name = argument + 2, *value;
    const char *equals = option ? NULL : strchr(name, '=');
    const size_t length = equals ? (size_t)(equals - name) : strlen(name);
    if (!option) option = find_option(p->command, name, length);
    vit_status status = option ? find_value(&value, p, option, equals, next, took_next)
                               : refuse_unknown(p, name, length, equals ? equals + 1 : next);
    if (status == VIT_OK) status = mark_given(p, option);
    if (status == VIT_OK) status = take_value(p, option, value);
    return status == VIT_OK ? VIT_REQUEST_RUN : VIT_REQUEST_REFUSED;
}

/* Checks that operands are taken, and required options given. */
static vit_status check_all(const parser *p, int operands, char **argv) {
    const vit_command *command = p->command;
    if (operands > 0 && !command->operands)
        return vit_fail(p->error, VIT_ERROR_ARGUMENT,
                        "unexpected argument \"%s\": %s takes only options", argv[1],
                        command->name);
    for (size_t i = 0; i < command->option_count; i++) {
        const vit_option *option = &command->options[i];
        if (option->required && !p->given[i])
            return vit_fail(p->error, VIT_ERROR_ARGUMENT, "--%s %s is missing", option->name,
                            option->argument);
    }
    return VIT_OK;
}

const char *vit_option_elsewhere(const vit_command *command, const bool *given, unsigned does) {
    for (size_t i = 0; i < command->option_count; i++)
        if (given[i] && !(command->options[i].also & does)) return command->options[i].name;
    return NULL;
}

vit_request vit_options_parse(const vit_command *command, void *settings, int *argc, char **argv,
                              vit_error *error) {
    parser p = {.command = command, .settings = settings, .error = error};
    int operands = 0;
    bool options_end = false;
    for (int i = 1; i < *argc; i++) {
        char *argument = argv[i];
        if (options_end || argument[0] != '-' || argument[1] == '\0') {
            argv[1 + operands++] = argument;
        } else if (strcmp(argument, "--") == 0) {
            options_end = true;
        } else {
            bool took_next = false;
            const char *next = i + 1 < *argc ? argv[i + 1] : NULL;
            vit_request request = take_option(&p, argument, next, &took_next);
            if (request != VIT_REQUEST_RUN) return request;
            i += took_next;
        }
    }
    *argc = 1 + operands;
    return check_all(&p, operands, argv) == VIT_OK ? VIT_REQUEST_RUN : VIT_REQUEST_REFUSED;
}

/* ---- --help ---- */

static size_t label_width(const vit_option *option) {
    return strlen(option->name) + (option->argument ? strlen(option->argument) + 1 : 0);
}

/* A label that is wider than `width` has a line of its own. */
static void add_option_help(vit_string *out, const vit_option *option, size_t width) {
    const size_t label = label_width(option);
    vit_string_add(out, "  --%s%s%s", option->name, option->argument ? " " : "",
                   option->argument ? option->argument : "");
    if (label > width) vit_string_add(out, "\n");
    vit_string_add(out, "%*s", (int)(label > width ? width + 6 : width - label + 2), "");
    const char *line = option->help;
    for (const char *end = strchr(line, '\n'); end; end = strchr(line, '\n')) {
        vit_string_add_bytes(out, line, (size_t)(end - line));
        vit_string_add(out, "\n%*s", (int)width + 6, "");
        line = end + 1;
    }
    vit_string_add(out, "%s\n", line);
}

/* The columns of the labels: those of the widest beside which the longest line of all texts has
 * room on a terminal of 80. */
static size_t column_width(const vit_command *command) {
    size_t longest = 0, width = strlen("version");
    for (size_t i = 0; i < command->option_count; i++) {
        if (!command->options[i].name) continue;
        for (const char *line = command->options[i].help; line; line = strchr(line, '\n')) {
            line += *line == '\n';
            longest = vit_max(longest, strcspn(line, "\n"));
        }
    }
    for (size_t i = 0; i < command->option_count; i++) {
        const size_t label = command->options[i].name ? label_width(&command->options[i]) : 0;
        if (label + 6 + longest <= 80) width = vit_max(width, label);
    }
    return width;
}

void vit_options_help(vit_string *out, const vit_command *command) {
    static const vit_option always[] = {
        {.kind = VIT_OPTION_GROUP, .help = "Help"},
        {.name = "help", .help = "this text; also -h"},
        {.name = "version", .help = "the version"},
    };
    const vit_option *const tables[] = {command->options, always};
    const size_t counts[] = {command->option_count, sizeof always / sizeof always[0]};
    const size_t width = column_width(command);
    vit_string_add(out, "%s", command->usage);
    for (size_t t = 0; t < 2; t++) {
        const char *group = NULL; /* its heading, until one of its options is there */
        for (size_t i = 0; i < counts[t]; i++) {
            const vit_option *option = &tables[t][i];
            if (!option->name) group = option->help;
            if (!option->name || vit_guest_missing(command->name, option->name)) continue;
            if (group) vit_string_add(out, "\n%s:\n", group);
            group = NULL;
            add_option_help(out, option, width);
        }
    }
    vit_string_add(out, "\n%s", command->notes);
}
