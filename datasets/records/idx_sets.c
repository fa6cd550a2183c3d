#include "datasets/records/idx_sets.h"
#include "vit/base/size.h"
#include "vit/base/sys.h"
#include "vit/base/utf8.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#define TEN "0123456789"
#define UPPER "ABCDEFGHIJKLMNOPQRSTUVWXYZ"

/* Small letters that look like capital ones are the same class in the splits of 47. */
#define MERGED TEN UPPER "abdefghnqrt"

#define EMNIST(split, alphabet, first)                                                 \
    {                                                                                  \
        .prefix = "emnist-" split, .parts = {"train", "test"}, .labels = "idx1-ubyte", \
        .characters = (alphabet), .first_label = (first), .is_transposed = true,       \
        .has_mapping = true                                                            \
    }

static const vit_idx_names sets[] = {
    {.prefix = "", .parts = {"train", "t10k"}, .labels = "idx1-ubyte"},
    {.prefix = "qmnist",
     .parts = {"train", "test"},
     .labels = "idx2-int",
     .characters = TEN,
     .are_digits = true},
    EMNIST("letters", UPPER, 1),
    EMNIST("balanced", MERGED, 0),
    EMNIST("bymerge", MERGED, 0),
    EMNIST("byclass", TEN UPPER "abcdefghijklmnopqrstuvwxyz", 0),
    EMNIST("digits", TEN, 0),
    EMNIST("mnist", TEN, 0),
};

/* ---- files ---- */

#define SPELLINGS 4

/* The published names have a dash before "idx"; those in some archives have a dot. */
static void spell(char name[64], const vit_idx_names *n, vit_idx_part part, vit_idx_kind kind,
                  int spelling) {
    static const char *const kinds[] = {"labels", "images"};
    VIT_CHECK_ROWS(kinds, VIT_IDX_KINDS);
    snprintf(name, 64, "%s%s%s-%s%c%s%s", n->prefix, *n->prefix ? "-" : "", n->parts[part],
             kinds[kind], spelling % 2 == 0 ? '-' : '.',
             kind == VIT_IDX_LABELS ? n->labels : "idx3-ubyte", spelling < 2 ? "" : ".gz");
}

void vit_idx_names_spell(char name[64], const vit_idx_names *n, vit_idx_part part,
                         vit_idx_kind kind) {
    spell(name, n, part, kind, 0);
}

static bool has_files(const vit_idx_names *n, const vit_listing *directory) {
    char name[64];
    for (vit_idx_part p = 0; p < VIT_IDX_PARTS; p++)
        for (vit_idx_kind k = 0; k < VIT_IDX_KINDS; k++)
            for (int i = 0; i < SPELLINGS; i++) {
                spell(name, n, p, k, i);
                if (vit_listing_has(directory, name)) return true;
            }
    return false;
}

const vit_idx_names *vit_idx_names_find(const vit_listing *directory, size_t *count) {
    const vit_idx_names *found = NULL;
    *count = 0;
    for (size_t i = 0; i < VIT_COUNT(sets); i++) {
        if (directory->chosen && strcmp(directory->chosen, sets[i].prefix) != 0) continue;
        if (!has_files(&sets[i], directory)) continue;
        if (!found) found = &sets[i];
        ++*count;
    }
    return found;
}

bool vit_idx_names_has(const char *name) {
    for (size_t i = 0; i < VIT_COUNT(sets); i++)
        if (*sets[i].prefix && strcmp(sets[i].prefix, name) == 0) return true;
    return strncmp(name, "emnist-", 7) == 0; /* a split that is misspelt is said to have no files */
}

vit_status vit_idx_names_path(char **path, const vit_idx_names *n, vit_idx_part part,
                              vit_idx_kind kind, const vit_listing *directory, vit_error *error) {
    char name[64];
    *path = NULL;
    for (int i = 0; i < SPELLINGS; i++) {
        spell(name, n, part, kind, i);
        if (!vit_listing_has(directory, name)) continue;
        char *found = vit_path_join(directory->path, name);
        if (!found) return vit_fail_memory(error, "a path", strlen(directory->path) + 64);
        /* Some archives unpack every file into a directory of the same name. */
        if (vit_path_look(found) != VIT_PATH_DIRECTORY) {
            *path = found;
            return VIT_OK;
        }
        vit_free(found);
    }
    return VIT_OK;
}

/* ---- classes ---- */

#define MOST_CLASSES 256
#define MOST_NAME 8
#define MAX_MAPPING ((size_t)1 << 16)

typedef struct classes {
    size_t count;
    char names[MOST_CLASSES][MOST_NAME];
    unsigned labels[MOST_CLASSES];
} classes;

static vit_status add_class(classes *c, unsigned label, unsigned code, const char *path,
                            size_t line, vit_error *error) {
    for (size_t i = 0; i < c->count; i++)
        if (c->labels[i] == label)
            return vit_fail(error, VIT_ERROR_FORMAT, "%s: line %zu: label %u is there twice", path,
                            line, label);
    if (c->count == MOST_CLASSES)
        return vit_fail(error, VIT_ERROR_FORMAT, "%s: has more than %d classes", path,
                        MOST_CLASSES);
    c->names[c->count][vit_utf8_put(c->names[c->count], code)] = 0;
    c->labels[c->count++] = label;
    return VIT_OK;
}

/* The number at *text, which is moved behind it, and behind what separates it from the next. */
static bool take_number(char **text, int base, unsigned *number) {
    char *end = *text;
    unsigned long n = 0;
    const char *const digits = "0123456789ABCDEF";
    for (const char *at; *end && (at = memchr(digits, *end, (size_t)base)); end++)
        if ((n = n * (unsigned)base + (unsigned)(at - digits)) > 0x10ffff) return false;
    const bool found = end > *text;
    *number = (unsigned)n;
    *text = end + strspn(end, " ,\t");
    return found;
}

/* A line of EMNIST's mapping: a label, and the codes of the characters that are this class, of
 * which the first names it: "1 65 97". */
static bool read_emnist(char *line, unsigned *label, unsigned *code) {
    return take_number(&line, 10, label) && take_number(&line, 10, code) && *code > ' ';
}

/* A line of KMNIST's kmnist_classmap.csv: a label, the code of its character, and the character:
 * "0,U+304A,お". */
static bool read_kmnist(char *line, unsigned *label, unsigned *code) {
    if (!take_number(&line, 10, label) || strncmp(line, "U+", 2) != 0) return false;
    line += 2;
    return take_number(&line, 16, code) && *code > ' ' && (*code < 0xd800 || *code > 0xdfff);
}

typedef bool read_line(char *line, unsigned *label, unsigned *code);

/* Reads a mapping; the first line is passed over if it is no class but a title. */
static vit_status read_mapping(classes *c, const char *path, bool has_title, read_line *take,
                               vit_error *error) {
    vit_bytes file;
    size_t number = 0;
    vit_status status = vit_read_regular(&file, path, MAX_MAPPING, error);
    if (status != VIT_OK) return status;
    char *next = (char *)file.data + vit_utf8_mark(file.data, file.size);
    while (*next && status == VIT_OK) {
        char *line = next;
        unsigned label, code;
        next += strcspn(next, "\r\n");
        if (*next) *next++ = 0;
        if (*line == 0 || (number++ == 0 && has_title)) continue;
        status = take(line, &label, &code)
                     ? add_class(c, label, code, path, number, error)
                     : vit_fail(error, VIT_ERROR_FORMAT,
                                "%s: line %zu is \"%.40s\", expected a label and the code of its "
                                "character",
                                path, number, line);
    }
    vit_free(file.data);
    if (status == VIT_OK && c->count < 2)
        status = vit_fail(error, VIT_ERROR_FORMAT, "%s: names %zu classes, expected two or more",
                          path, c->count);
    return status;
}

/* Whether the files lie in a folder KMNIST, in which torchvision has them. */
static bool is_kmnist(const vit_listing *directory) {
    const char *path = directory->path, *const * end;
    static const char *const ends[] = {"kmnist", "kmnist/raw", "kmnist/", "kmnist/raw/", NULL};
    for (end = ends; *end; end++) {
        const size_t n = strlen(path), length = strlen(*end);
        if (n < length || strcasecmp(path + n - length, *end) != 0) continue;
        if (n == length || path[n - length - 1] == '/') return true;
    }
    return false;
}

static vit_status find_classes(classes *c, const vit_idx_names *names, const vit_listing *directory,
                               vit_error *error) {
    static const unsigned hiragana[] = {0x304a, 0x304d, 0x3059, 0x3064, 0x306a,
                                        0x306f, 0x307e, 0x3084, 0x308c, 0x3092};
    static const char classmap[] = "kmnist_classmap.csv";
    char mapping[64];
    vit_status status = VIT_OK;
    snprintf(mapping, sizeof mapping, "%s-mapping.txt", names->prefix);
    const bool is_mapped = names->has_mapping && vit_listing_has(directory, mapping);
    if (is_mapped || (*names->prefix == 0 && vit_listing_has(directory, classmap))) {
        char *path = vit_path_join(directory->path, is_mapped ? mapping : classmap);
        if (!path) return vit_fail_memory(error, "a path", strlen(directory->path) + 64);
        status = read_mapping(c, path, !is_mapped, is_mapped ? read_emnist : read_kmnist, error);
        vit_free(path);
    } else if (names->characters) {
        for (size_t i = 0; names->characters[i] && status == VIT_OK; i++)
            status = add_class(c, names->first_label + (unsigned)i,
                               (unsigned char)names->characters[i], "", 0, error);
    } else if (*names->prefix == 0 && is_kmnist(directory)) {
        for (unsigned i = 0; i < VIT_COUNT(hiragana) && status == VIT_OK; i++)
            status = add_class(c, i, hiragana[i], "", 0, error);
    }
    return status;
}

static vit_status place_labels(vit_records *r, const char *part, const classes *c,
                               const vit_listing *directory, vit_error *error) {
    for (size_t i = 0; i < r->count; i++) {
        size_t class = 0;
        while (class < c->count && c->labels[class] != r->labels[i]) class ++;
        if (class == c->count)
            return vit_fail(error, VIT_ERROR_FORMAT,
                            "%s: the label of %s picture %zu is %d, expected one of the %zu "
                            "classes, %u to %u",
                            directory->path, part, i, r->labels[i], c->count, c->labels[0],
                            c->labels[c->count - 1]);
        r->labels[i] = (uint16_t) class;
    }
    return VIT_OK;
}

static vit_status name_classes(vit_dataset *set, const classes *c, vit_error *error) {
    const size_t table = c->count * sizeof(char *);
    const char **labels = vit_alloc(table + sizeof c->names, 1);
    if (!labels) return vit_fail_memory(error, "names of classes", table + sizeof c->names);
    char *text = (char *)labels + table;
    memcpy(text, c->names, sizeof c->names);
    for (size_t i = 0; i < c->count; i++) labels[i] = text + i * MOST_NAME;
    set->labels = labels;
    set->label_memory = labels;
    set->classes = c->count;
    return VIT_OK;
}

/* ---- pixels ---- */

static vit_status turn(vit_records *r, size_t height, size_t width, vit_error *error) {
    const size_t size = height * width;
    uint8_t *copy = vit_alloc_unset(1, size);
    if (!copy) return vit_fail_memory(error, "a picture", size);
    for (size_t i = 0; i < r->count; i++) {
        uint8_t *pixels = r->pixels + i * size;
        memcpy(copy, pixels, size);
        for (size_t y = 0; y < width; y++)
            for (size_t x = 0; x < height; x++) pixels[y * height + x] = copy[x * width + y];
    }
    vit_free(copy);
    return VIT_OK;
}

vit_status vit_idx_names_apply(vit_dataset *set, const vit_idx_names *names,
                               const vit_listing *directory, vit_error *error) {
    classes c = {0};
    vit_status status = find_classes(&c, names, directory, error);
    if (status == VIT_OK && c.count > 0) status = name_classes(set, &c, error);
    if (status == VIT_OK && c.count > 0)
        status = place_labels(&set->train, "training", &c, directory, error);
    if (status == VIT_OK && c.count > 0)
        status = place_labels(&set->test, "test", &c, directory, error);
    if (status != VIT_OK || !names->is_transposed) return status;
    status = turn(&set->train, set->height, set->width, error);
    if (status == VIT_OK) status = turn(&set->test, set->height, set->width, error);
    const size_t height = set->height;
    set->height = set->width;
    set->width = height;
    if (status != VIT_OK) return status;
    return vit_dataset_note(set, error,
                            "%s: EMNIST's pictures are stored lying on their side: they are "
                            "turned upright",
                            directory->path);
}
