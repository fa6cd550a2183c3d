/* Tables of texts: labels.tsv, whose lines are a picture and the text on it, or pairs.tsv, whose
 * lines are a text and what is to be made of it, with a tab between the two. There is one table, or
 * one each in train/, val/ and test/. Pictures become grey; their paths are relative to the table.
 */
#include "datasets/reader.h"
#include "vit/base/order.h"
#include "vit/base/sys.h"
#include "vit/base/text.h"
#include "vit/formats/sha256.h"
#include "vit/image/codec/decode.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_TABLE ((size_t)1 << 30)

/* A line of a table. */
typedef struct row {
    const char *source, *target; /* before and after the tab, in the text of the part */
    size_t line;                 /* its number */
    uint64_t order;              /* a hash of its source: lines with the smallest are held back */
} row;

typedef struct part {
    char *directory, *table; /* paths; NULL: there is no such part */
    char *text;              /* of the table, with zeros in place of tabs and line ends */
    row *rows;
    size_t count, capacity;
} part;

typedef struct table {
    bool pictures;
    part train, val, test;
    bool is_shared_out; /* there is one table, a share of which is the test */
    vit_dataset *out;
    size_t problems; /* pictures that cannot be read */
} table;

static void free_part(part *p) {
    vit_free(p->directory);
    vit_free(p->table);
    vit_free(p->text);
    vit_free(p->rows);
}

/* ---- lines ---- */

static vit_status wrong_line(const part *p, size_t line, const char *why, vit_error *error) {
    return vit_fail(error, VIT_ERROR_FORMAT, "%s: line %zu %s", p->table, line, why);
}

static uint64_t hash_of(const char *text) {
    uint8_t digest[32];
    uint64_t order = 0;
    vit_sha256_digest(digest, text, strlen(text));
    for (size_t i = 0; i < 8; i++) order = order << 8 | digest[i];
    return order;
}

static vit_status add_row(part *p, char *line, size_t number, bool pictures, vit_error *error) {
    char *tab = strchr(line, '\t');
    if (!tab)
        return wrong_line(p, number,
                          pictures ? "has no tab: expected the path of a picture, a tab, its text"
                                   : "has no tab: expected a text, a tab, what is made of it",
                          error);
    *tab = 0;
    if (tab == line) return wrong_line(p, number, "has nothing before its tab", error);
    if (tab[1] == 0)
        return wrong_line(p, number,
                          "has nothing behind its tab: a label must not be empty; leave the line "
                          "out",
                          error);
    if (strchr(tab + 1, '\t')) return wrong_line(p, number, "has two tabs, expected one", error);
    if (!VIT_MAKE_ROOM(p->rows, p->count, p->capacity, "lines", error)) return VIT_ERROR_MEMORY;
    p->rows[p->count++] =
        (row){.source = line, .target = tab + 1, .line = number, .order = hash_of(line)};
    return VIT_OK;
}

/* Splits the text into rows. Lines end with LF or CR LF; empty ones are left out. */
static vit_status cut_up(part *p, bool pictures, vit_error *error) {
    char *text = p->text + vit_utf8_mark(p->text, strlen(p->text));
    vit_status status = VIT_OK;
    for (size_t number = 1; text && status == VIT_OK; number++) {
        char *line = text, *end = strchr(text, '\n');
        text = end ? end + 1 : NULL;
        if (!end) end = line + strlen(line);
        if (end > line && end[-1] == '\r') end--;
        *end = 0;
        if (*line != 0) status = add_row(p, line, number, pictures, error);
    }
    return status;
}

static vit_status read_part(part *p, bool pictures, vit_error *error) {
    vit_bytes bytes;
    if (!p->table) return VIT_OK;
    vit_status status = vit_read_regular(&bytes, p->table, MOST_TABLE, error);
    if (status != VIT_OK) return status;
    p->text = (char *)bytes.data;
    const char *other = vit_utf8_other(p->text, bytes.size);
    if (other) return vit_fail(error, VIT_ERROR_FORMAT, "%s: %s", p->table, other);
    return cut_up(p, pictures, error);
}

/* ---- which tables there are ---- */

static const char *table_name(bool pictures) {
    return pictures ? "labels.tsv" : "pairs.tsv";
}

/* Sets the part's table, unless it has one, to that in directory/name, or in the directory if the
 * name is "". */
static vit_status find(part *p, const char *directory, const char *name, bool pictures,
                       vit_error *error) {
    bool exists = false;
    char *inside = *name != 0 ? vit_path_join(directory, name) : vit_strdup(directory);
    char *path = inside ? vit_path_join(inside, table_name(pictures)) : NULL;
    if (!path) {
        vit_free(inside);
        return vit_fail_memory(error, "a path", strlen(directory) + 32);
    }
    exists = vit_path_look(path) == VIT_PATH_FILE;
    if (exists && !p->table) {
        p->directory = inside;
        p->table = path;
        return VIT_OK;
    }
    vit_free(inside);
    vit_free(path);
    return VIT_OK;
}

static vit_status find_parts(table *t, const char *directory, vit_error *error) {
    static const char *const vals[] = {"val", "valid", "validation"};
    vit_status status = find(&t->train, directory, "", t->pictures, error);
    if (status != VIT_OK || t->train.table) {
        t->is_shared_out = true;
        return status;
    }
    status = find(&t->train, directory, "train", t->pictures, error);
    if (status == VIT_OK) status = find(&t->test, directory, "test", t->pictures, error);
    for (size_t i = 0; i < sizeof vals / sizeof *vals && status == VIT_OK; i++)
        status = find(&t->val, directory, vals[i], t->pictures, error);
    return status;
}

static bool has_tables(const char *directory, bool pictures) {
    table t = {.pictures = pictures};
    vit_error error;
    const bool found = find_parts(&t, directory, &error) == VIT_OK &&
                       (t.train.table || t.val.table || t.test.table);
    free_part(&t.train);
    free_part(&t.val);
    free_part(&t.test);
    return found;
}

/* ---- which lines are the test ---- */

static int compare_orders(const void *a, const void *b) {
    const row *x = a, *y = b;
    if (x->order != y->order) return x->order < y->order ? -1 : 1;
    return (x->line > y->line) - (x->line < y->line);
}

static int compare_lines(const void *a, const void *b) {
    const row *x = a, *y = b;
    return (x->line > y->line) - (x->line < y->line);
}

/* Moves the lines whose sources have the smallest hashes to the test. By hashes, few lines change
 * their part if some are added. */
static vit_status share_out(table *t, vit_error *error) {
    part *train = &t->train, *test = &t->test;
    const size_t count = train->count / VIT_TEST_SHARE;
    if (train->count == 0) return VIT_OK;
    qsort(train->rows, train->count, sizeof *train->rows, compare_orders);
    test->rows = vit_alloc(count, sizeof *test->rows);
    test->directory = vit_strdup(train->directory);
    test->table = vit_strdup(train->table);
    if (!test->rows || !test->directory || !test->table)
        return vit_fail_memory(error, "lines", count * sizeof *test->rows);
    memcpy(test->rows, train->rows, count * sizeof *test->rows);
    memmove(train->rows, train->rows + count, (train->count - count) * sizeof *train->rows);
    test->count = count;
    train->count -= count;
    qsort(train->rows, train->count, sizeof *train->rows, compare_lines);
    qsort(test->rows, test->count, sizeof *test->rows, compare_lines);
    return VIT_OK;
}

static void take_checksum(char checksum[65], const part *p) {
    vit_sha256 hash;
    vit_sha256_start(&hash);
    for (size_t i = 0; i < p->count; i++) {
        vit_sha256_add(&hash, p->rows[i].source, strlen(p->rows[i].source) + 1);
        vit_sha256_add(&hash, p->rows[i].target, strlen(p->rows[i].target) + 1);
    }
    vit_sha256_hex(&hash, checksum);
}

/* ---- pictures ---- */

#define HEIGHT 32 /* of a line of writing */
#define WIDTH_MULTIPLE 16
#define MOST_WIDTH 512

/* A height of 32 and a width by this ratio of width to height; narrower pictures get white on both
 * sides. */
static vit_preparation preparation_of(double ratio) {
    size_t width = (size_t)(HEIGHT * ratio / WIDTH_MULTIPLE + 0.5) * WIDTH_MULTIPLE;
    width = width < HEIGHT ? HEIGHT : width > MOST_WIDTH ? MOST_WIDTH : width;
    const vit_operation operations[] = {
        {.kind = VIT_OP_ORIENT},
        {.kind = VIT_OP_COMPOSITE, .background = {255, 255, 255}},
        {.kind = VIT_OP_GREY},
        {.kind = VIT_OP_RESIZE,
         .height = HEIGHT,
         .width = width,
         .fit = VIT_FIT_CONTAIN,
         .filter = VIT_FILTER_BILINEAR},
        {.kind = VIT_OP_CENTER_CROP,
         .height = HEIGHT,
         .width = width,
         .background = {255, 255, 255}},
        {.kind = VIT_OP_NORMALIZE, .mean = {0.5f, 0.5f, 0.5f}, .std = {0.5f, 0.5f, 0.5f}}};
    vit_preparation p = {.height = HEIGHT, .width = width, .channels = 1};
    p.preprocessing.count = sizeof operations / sizeof *operations;
    memcpy(p.preprocessing.operations, operations, sizeof operations);
    return p;
}

/* The path of a row's picture, freed by vit_free; NULL when there is no memory. */
static char *picture_path(const part *p, const row *r) {
    return r->source[0] == '/' ? vit_strdup(r->source) : vit_path_join(p->directory, r->source);
}

/* The first rows that are left out are in the notes, the others are given to who asks for them. */
static vit_status leave_out(table *t, const part *p, const row *r, const vit_dataset_options *o,
                            const char *why, vit_error *error) {
    char text[1400];
    snprintf(text, sizeof text, "%.300s: line %zu: %s", p->table, r->line, why);
    if (t->problems++ < VIT_UNREADABLE_NAMED)
        return vit_dataset_note(t->out, error, "left out: %s", text);
    if (o->unreadable) o->unreadable(text, o->user);
    return VIT_OK;
}

/* Removes the rows whose picture cannot be read; ratios = width / height of the others. */
static vit_status measure_rows(table *t, part *p, const vit_dataset_options *o, double *ratios,
                               vit_error *error) {
    size_t kept = 0;
    vit_status status = VIT_OK;
    for (size_t i = 0; i < p->count && status == VIT_OK; i++) {
        vit_bytes bytes = {0};
        vit_error reason;
        size_t width, height;
        char *path = picture_path(p, &p->rows[i]);
        if (!path) return vit_fail_memory(error, "a path", 64);
        vit_status found = vit_read_regular(&bytes, path, VIT_IMAGE_MAX_FILE, &reason);
        if (found == VIT_OK)
            found = vit_image_measure(&width, &height, bytes.data, bytes.size, path, &reason);
        vit_free(bytes.data);
        vit_free(path);
        if (found == VIT_OK) {
            ratios[kept] = (double)width / (double)height;
            p->rows[kept++] = p->rows[i];
        } else {
            status = leave_out(t, p, &p->rows[i], o, reason.message, error);
        }
    }
    p->count = kept;
    return status;
}

/* Measures the pictures of a part; *ratio = the median, unless another part has set it. */
static vit_status measure_part(double *ratio, table *t, part *p, const vit_dataset_options *o,
                               vit_error *error) {
    double *ratios = vit_alloc(p->count, sizeof *ratios);
    if (!ratios) return vit_fail_memory(error, "sizes", p->count * sizeof *ratios);
    vit_status status = measure_rows(t, p, o, ratios, error);
    qsort(ratios, p->count, sizeof *ratios, vit_compare_doubles);
    if (p->count > 0 && *ratio == 0) *ratio = ratios[p->count / 2];
    vit_free(ratios);
    return status;
}

/* Prepares the pictures that fit in *cache bytes; if these are not all, the paths of all are kept.
 */
static vit_status prepare_part(vit_records *records, table *t, part *p, size_t *cache,
                               vit_error *error) {
    const size_t bytes = t->out->height * t->out->width * t->out->channels;
    const size_t fit = *cache / bytes, resident = fit < p->count ? fit : p->count;
    vit_status status = VIT_OK;
    records->count = p->count;
    records->pixels = vit_alloc(resident, bytes);
    if (!records->pixels) return vit_fail_memory(error, "pictures", resident * bytes);
    *cache -= resident * bytes;
    if (resident < p->count) {
        records->files = vit_alloc(1, sizeof *records->files);
        if (!records->files) return vit_fail_memory(error, "paths", 64);
        records->files->resident = resident;
        records->files->paths = vit_alloc(p->count, sizeof *records->files->paths);
        if (!records->files->paths) return vit_fail_memory(error, "paths", p->count * 8);
    }
    for (size_t i = 0; i < p->count && status == VIT_OK; i++) {
        char *path = picture_path(p, &p->rows[i]);
        if (!path) return vit_fail_memory(error, "a path", 64);
        if (i < resident)
            status = vit_picture_prepare(records->pixels + i * bytes, t->out, path, NULL, error);
        if (records->files)
            records->files->paths[i] = path;
        else
            vit_free(path);
    }
    return status;
}

static vit_status read_pictures(table *t, const vit_dataset_options *o, vit_error *error) {
    vit_dataset *out = t->out;
    size_t cache = o->cache > 0 ? o->cache : VIT_DATASET_CACHE;
    double ratio = 0;
    vit_status status = measure_part(&ratio, t, &t->train, o, error);
    if (status == VIT_OK) status = measure_part(&ratio, t, &t->val, o, error);
    if (status == VIT_OK) status = measure_part(&ratio, t, &t->test, o, error);
    if (status == VIT_OK && t->problems > VIT_UNREADABLE_NAMED)
        status = vit_dataset_note(out, error, "left out: %zu pictures in all that cannot be read",
                                  t->problems);
    if (status != VIT_OK) return status;
    const vit_preparation p = o->preparation ? *o->preparation : preparation_of(ratio);
    if (p.unrounded) cache = 0;
    vit_dataset_prepare_as(out, &p);
    status = prepare_part(&out->train, t, &t->train, &cache, error);
    if (status == VIT_OK) status = prepare_part(&out->val, t, &t->val, &cache, error);
    return status == VIT_OK ? prepare_part(&out->test, t, &t->test, &cache, error) : status;
}

/* ---- texts ---- */

static const char *half(const row *r, bool source) {
    return source ? r->source : r->target;
}

/* One half of all rows of parts[0..parts_count), a list freed by vit_free. NULL, with the error
 * set, if there is no memory. */
static const char **halves(const part *const *parts, size_t parts_count, bool source, size_t *count,
                           vit_error *error) {
    *count = 0;
    for (size_t k = 0; k < parts_count; k++) *count += parts[k]->count;
    const char **texts = vit_alloc(*count, sizeof *texts), **next = texts;
    if (!texts) vit_fail_memory(error, "texts", *count * sizeof *texts);
    for (size_t k = 0; texts && k < parts_count; k++)
        for (size_t i = 0; i < parts[k]->count; i++) *next++ = half(&parts[k]->rows[i], source);
    return texts;
}

/* Texts are taken as words if there are this many times as many of them as different ones. */
#define RECURS 20

/* The vocabulary of the training texts or, if the test is a share of the same table, of all. Signs
 * are words if they recur, else characters; texts on pictures are always taken as characters. */
static vit_status make_vocabulary(vit_vocabulary *out, const table *t, bool source,
                                  vit_error *error) {
    const part *parts[] = {&t->train, &t->test, &t->val};
    size_t first = 0, count, words = 0, length;
    while (first < 2 && parts[first]->count == 0) first++;
    const char **texts =
        halves(parts + first, t->is_shared_out && first == 0 ? 2 : 1, source, &count, error);
    if (!texts) return VIT_ERROR_MEMORY;
    vit_status status = vit_vocabulary_new(out, VIT_SIGNS_WORDS, texts, count, error);
    for (size_t i = 0; i < count && status == VIT_OK; i++, words += length)
        status = vit_vocabulary_encode(NULL, &length, SIZE_MAX, out, texts[i], error);
    if (status == VIT_OK && (t->pictures || words < RECURS * out->count)) {
        vit_vocabulary_free(out);
        status = vit_vocabulary_new(out, VIT_SIGNS_CHARACTERS, texts, count, error);
    }
    vit_free(texts);
    return status;
}

typedef struct halves_of {
    const part *part;
    bool source;
} halves_of;

static void put_half(vit_string *text, size_t index, const void *context) {
    const halves_of *h = context;
    const char *put = half(&h->part->rows[index], h->source);
    vit_string_add_bytes(text, put, strlen(put));
}

/* Encodes one half of all rows; an error names the line. */
static vit_status encode_part(vit_texts *out, size_t *most, const part *p, bool source,
                              const vit_vocabulary *vocabulary, vit_error *error) {
    const halves_of h = {p, source};
    char where[1100];
    size_t at = 0;
    const vit_status status =
        vit_texts_encode(out, most, &at, vocabulary, p->count, put_half, &h, error);
    if (status != VIT_OK) {
        snprintf(where, sizeof where, "%s: line %zu", p->table, p->rows[at].line);
        return vit_fail_prefix(error, status, where);
    }
    for (at = 0; at < p->count; at++)
        if (out->at[at] == out->at[at + 1])
            return wrong_line(p, p->rows[at].line, "has a text of spaces alone", error);
    return VIT_OK;
}

static vit_status read_texts(table *t, bool source, const vit_vocabulary *given, vit_error *error) {
    vit_dataset *out = t->out;
    const part *parts[] = {&t->train, &t->val, &t->test};
    vit_records *records[] = {&out->train, &out->val, &out->test};
    vit_vocabulary *vocabulary = source ? &out->source_vocabulary : &out->target_vocabulary;
    size_t *most = source ? &out->most_source : &out->most_target;
    vit_status status = given ? vit_vocabulary_copy(vocabulary, given, error)
                              : make_vocabulary(vocabulary, t, source, error);
    for (size_t i = 0; i < 3 && status == VIT_OK; i++) {
        if (parts[i]->count == 0) continue;
        status = encode_part(source ? &records[i]->source : &records[i]->target, most, parts[i],
                             source, vocabulary, error);
    }
    return status;
}

/* ---- the set ---- */

static vit_status check_parts(const table *t, const vit_dataset_options *o, const char *path,
                              vit_error *error) {
    const bool no_train = (o->need & (VIT_PART_TRAIN | VIT_PART_VAL)) && t->train.count == 0;
    const size_t tests = t->test.table ? t->test.count : t->val.count;
    const bool no_test = (o->need & VIT_PART_TEST) && tests == 0;
    if (!no_train && !no_test && t->train.count + t->val.count + t->test.count > 0) return VIT_OK;
    vit_string left_out = {0}; /* so far, the notes are about pictures that cannot be read */
    for (size_t i = 0; i < t->out->note_count; i++)
        vit_string_add(&left_out, "; %s", t->out->notes[i]);
    vit_fail(error, VIT_ERROR_IO, "%s: has no lines %sin its %s%s", path,
             no_train  ? "for training "
             : no_test ? "for the test "
                       : "",
             table_name(t->pictures), left_out.length > 0 && !left_out.failed ? left_out.text : "");
    vit_string_free(&left_out);
    return VIT_ERROR_IO;
}

/* Makes all rows the test. */
static vit_status test_all(table *t, vit_error *error) {
    part *train = &t->train, *test = &t->test;
    const size_t count = train->count + test->count;
    row *rows = vit_realloc(test->rows, test->count, count, sizeof *rows);
    if (!rows) return vit_fail_memory(error, "lines", count * sizeof *rows);
    memcpy(rows + test->count, train->rows, train->count * sizeof *rows);
    qsort(rows, count, sizeof *rows, compare_lines);
    test->rows = rows;
    test->count = count;
    t->out->test_is = "all of them, as the model was not trained on this table";
    return VIT_OK;
}

/* Divides a table without parts, computes the checksum and drops the parts that are not asked for.
 * If only the test of a model is read that was not trained on this table, all of it is the test. */
static vit_status choose_parts(table *t, const vit_dataset_options *o, vit_error *error) {
    const bool trains = (o->need | o->want) & (VIT_PART_TRAIN | VIT_PART_VAL);
    vit_status status = t->is_shared_out ? share_out(t, error) : VIT_OK;
    const part *first = t->train.count > 0 ? &t->train : t->test.count > 0 ? &t->test : &t->val;
    if (status != VIT_OK) return status;
    take_checksum(t->out->checksum, first);
    if (t->is_shared_out && !trains && o->trained_on && !strstr(o->trained_on, t->out->checksum))
        status = test_all(t, error);
    if (!trains) t->train.count = 0;
    if (!((o->need | o->want) & VIT_PART_TEST)) t->test.count = 0;
    return status;
}

static void describe(table *t) {
    vit_dataset *out = t->out;
    out->preset = t->pictures ? "strips" : "numbers";
    out->has_characters = true;
    out->train.count = t->train.count;
    out->val.count = t->val.count;
    out->test.count = t->test.count;
    if (!t->test.table && t->val.table) {
        out->test = out->val;
        out->test_is_val = true;
    }
}

static vit_status read_tables(table *t, const char *path, const vit_dataset_options *o,
                              vit_error *error) {
    vit_status status = find_parts(t, path, error);
    if (status == VIT_OK) status = read_part(&t->train, t->pictures, error);
    if (status == VIT_OK) status = read_part(&t->val, t->pictures, error);
    if (status == VIT_OK) status = read_part(&t->test, t->pictures, error);
    if (status == VIT_OK) status = choose_parts(t, o, error);
    if (status == VIT_OK && t->pictures) status = read_pictures(t, o, error);
    if (status == VIT_OK) status = check_parts(t, o, path, error);
    if (status == VIT_OK) status = read_texts(t, false, o->target_vocabulary, error);
    if (status == VIT_OK && !t->pictures) status = read_texts(t, true, o->source_vocabulary, error);
    if (status != VIT_OK) return status;
    describe(t);
    if (!t->is_shared_out || t->out->test.count == 0 || t->out->test_is) return VIT_OK;
    return vit_dataset_note(t->out, error,
                            "%s: a sixth of its lines, chosen by a hash of what is before the tab, "
                            "%zu, is the test part",
                            t->train.table, t->out->test.count);
}

static vit_status read_kind(vit_dataset *out, const vit_listing *directory, bool pictures,
                            const vit_dataset_options *options, vit_error *error) {
    table t = {.pictures = pictures, .out = out};
    out->kernels = options->kernels;
    const vit_status status = read_tables(&t, directory->path, options, error);
    free_part(&t.train);
    free_part(&t.val);
    free_part(&t.test);
    return status;
}

static bool probe_labels(const vit_listing *directory) {
    return has_tables(directory->path, true);
}

static bool probe_pairs(const vit_listing *directory) {
    return has_tables(directory->path, false);
}

static vit_status read_labels(vit_dataset *out, const vit_listing *directory,
                              const vit_dataset_options *options, vit_error *error) {
    return read_kind(out, directory, true, options, error);
}

static vit_status read_pairs(vit_dataset *out, const vit_listing *directory,
                             const vit_dataset_options *options, vit_error *error) {
    return read_kind(out, directory, false, options, error);
}

const vit_reader vit_reader_labels = {.expects = "labels.tsv, pictures and the texts on them",
                                      .probe = probe_labels,
                                      .read = read_labels};

const vit_reader vit_reader_pairs = {
    .expects = "pairs.tsv, texts and other texts", .probe = probe_pairs, .read = read_pairs};
