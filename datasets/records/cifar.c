/* CIFAR-10 and CIFAR-100 in their binary form, or in their Python form (cifar_python.c). In the
 * binary form a record is a label byte (in CIFAR-100 two, the
 * coarse and the fine label, of which the fine one is used), then 32 x 32 bytes of red, of green
 * and of blue, row by row.
 */
#include "datasets/reader.h"
#include "vit/base/guests.h"
#include "vit/base/size.h"
#include "vit/formats/sha256.h"

#include <stdio.h>
#include <string.h>

#define SIDE 32
#define PLANE (SIDE * SIDE)
#define PICTURE (3 * PLANE)
#define BATCHES 5
#define COARSE_CLASSES 20
#define MAX_FILE ((size_t)1 << 30)
#define MAX_LABEL_FILE ((size_t)1 << 16)

typedef enum part { TRAIN, TEST, PARTS } part;

static const char *const names_10[10] = {"airplane", "automobile", "bird",  "cat",  "deer",
                                         "dog",      "frog",       "horse", "ship", "truck"};
/* clang-format off */
static const char *const names_100[100] = {
    "apple", "aquarium_fish", "baby", "bear", "beaver", "bed", "bee", "beetle", "bicycle", "bottle",
    "bowl", "boy", "bridge", "bus", "butterfly", "camel", "can", "castle", "caterpillar", "cattle",
    "chair", "chimpanzee", "clock", "cloud", "cockroach", "couch", "crab", "crocodile", "cup",
    "dinosaur", "dolphin", "elephant", "flatfish", "forest", "fox", "girl", "hamster", "house",
    "kangaroo", "keyboard", "lamp", "lawn_mower", "leopard", "lion", "lizard", "lobster", "man",
    "maple_tree", "motorcycle", "mountain", "mouse", "mushroom", "oak_tree", "orange", "orchid",
    "otter", "palm_tree", "pear", "pickup_truck", "pine_tree", "plain", "plate", "poppy",
    "porcupine", "possum", "rabbit", "raccoon", "ray", "road", "rocket", "rose", "sea", "seal",
    "shark", "shrew", "skunk", "skyscraper", "snail", "snake", "spider", "squirrel", "streetcar",
    "sunflower", "sweet_pepper", "table", "tank", "telephone", "television", "tiger", "tractor",
    "train", "trout", "tulip", "turtle", "wardrobe", "whale", "willow_tree", "wolf", "woman",
    "worm"};
/* clang-format on */

typedef struct cifar_set {
    const char *name;
    const char *files[PARTS][BATCHES]; /* the rest is NULL */
    size_t published;                  /* records in each published training file */
    const char *label_file;
    unsigned classes;
    const char *const *labels;
    float mean[3], std[3]; /* std 0: they are measured */
    bool is_python;        /* the files are pickles */
} cifar_set;

static const cifar_set sets[] = {
    {"cifar10",
     {{"data_batch_1.bin", "data_batch_2.bin", "data_batch_3.bin", "data_batch_4.bin",
       "data_batch_5.bin"},
      {"test_batch.bin"}},
     10000,
     "batches.meta.txt",
     10,
     names_10,
     {0.4914f, 0.4822f, 0.4465f},
     {0.2470f, 0.2435f, 0.2616f},
     false},
    {"cifar100",
     {{"train.bin"}, {"test.bin"}},
     50000,
     "fine_label_names.txt",
     100,
     names_100,
     {0},
     {0},
     false},
    {"cifar10",
     {{"data_batch_1", "data_batch_2", "data_batch_3", "data_batch_4", "data_batch_5"},
      {"test_batch"}},
     10000,
     "batches.meta",
     10,
     names_10,
     {0.4914f, 0.4822f, 0.4465f},
     {0.2470f, 0.2435f, 0.2616f},
     true},
    {"cifar100", {{"train"}, {"test"}}, 50000, "meta", 100, names_100, {0}, {0}, true},
};
#define SETS (sizeof sets / sizeof *sets)

/* ---- one file ---- */

static size_t label_bytes(unsigned classes) {
    return classes == 100 ? 2 : 1;
}

static vit_status check_labels(const uint8_t *bytes, size_t count, unsigned classes,
                               const char *name, vit_error *error) {
    size_t head = label_bytes(classes);
    for (size_t i = 0; i < count; i++) {
        const uint8_t *record = bytes + i * (head + PICTURE);
        if (record[head - 1] >= classes)
            return vit_fail(error, VIT_ERROR_FORMAT,
                            "%s: the label of record %zu is %d, expected 0 to %u", name, i,
                            record[head - 1], classes - 1);
        if (head == 2 && record[0] >= COARSE_CLASSES)
            return vit_fail(error, VIT_ERROR_FORMAT,
                            "%s: the coarse label of record %zu is %d, expected 0 to %d", name, i,
                            record[0], COARSE_CLASSES - 1);
    }
    return VIT_OK;
}

vit_status vit_cifar_parse(size_t *count, const uint8_t *bytes, size_t size, unsigned classes,
                           const char *name, vit_error *error) {
    size_t record = label_bytes(classes) + PICTURE;
    *count = 0;
    if (size == 0 || size % record != 0)
        return vit_fail(error, VIT_ERROR_FORMAT,
                        "%s: %zu bytes found, not a whole number of records of %zu bytes: the file "
                        "is cut off, or not one of CIFAR-%u",
                        name, size, record, classes);
    vit_status status = check_labels(bytes, size / record, classes, name, error);
    if (status == VIT_OK) *count = size / record;
    return status;
}

void vit_cifar_unpack(uint8_t *pixels, uint16_t *labels, const uint8_t *bytes, size_t count,
                      unsigned classes) {
    size_t head = label_bytes(classes);
    for (size_t i = 0; i < count; i++, bytes += head + PICTURE) {
        const uint8_t *planes = bytes + head;
        labels[i] = bytes[head - 1];
        for (size_t j = 0; j < PLANE; j++)
            for (size_t c = 0; c < 3; c++) *pixels++ = planes[c * PLANE + j];
    }
}

/* ---- finding files ---- */

static size_t file_count(const cifar_set *s, part p) {
    size_t n = 0;
    while (n < BATCHES && s->files[p][n]) n++;
    return n;
}

static bool has_part(const cifar_set *s, part p, const vit_listing *directory) {
    for (size_t i = 0; i < file_count(s, p); i++)
        if (vit_listing_find(directory, s->files[p][i])) return true;
    return false;
}

/* Whether the directory has files of the set. Those of CIFAR-100 in Python are called as folders
 * are, so that its "meta" must be beside them. */
static bool is_of(const cifar_set *s, const vit_listing *directory) {
    const bool needs_names = s->is_python && s->classes == 100;
    if (needs_names && !vit_listing_find(directory, s->label_file)) return false;
    return has_part(s, TRAIN, directory) || has_part(s, TEST, directory);
}

/* The set whose files are in the directory; NULL: none. */
static const cifar_set *recognise(const vit_listing *directory) {
    for (size_t i = 0; i < SETS; i++)
        if (is_of(&sets[i], directory)) return &sets[i];
    return NULL;
}

static bool probe(const vit_listing *directory) {
    return recognise(directory);
}

/* ---- one part ---- */

typedef struct reading {
    vit_dataset *out;
    const cifar_set *set;
    const vit_listing *directory;
    vit_sha256 hash; /* of the files of the first part that is read */
    bool hashed;     /* that part has been read */
} reading;

/* Adds file `index` of `files`, which must all have the same number of records. */
static vit_status add_file(reading *g, vit_records *records, const vit_bytes *file, size_t index,
                           size_t files, const char *path, vit_error *error) {
    size_t count;
    vit_status status =
        vit_cifar_parse(&count, file->data, file->size, g->set->classes, path, error);
    if (status != VIT_OK) return status;
    if (index == 0) {
        records->pixels = vit_alloc(count * files, PICTURE);
        records->labels = vit_alloc(count * files, sizeof *records->labels);
        if (!records->pixels || !records->labels)
            return vit_fail_memory(error, path, count * files * (PICTURE + 2));
    }
    if (index > 0 && count != records->count / index)
        return vit_fail(error, VIT_ERROR_MISMATCH,
                        "%s: holds %zu records, the batches before it %zu each", path, count,
                        records->count / index);
    vit_cifar_unpack(records->pixels + records->count * PICTURE, records->labels + records->count,
                     file->data, count, g->set->classes);
    records->count += count;
    if (!g->hashed) vit_sha256_add(&g->hash, file->data, file->size);
    return VIT_OK;
}

typedef vit_status unpickler(vit_bytes *out, const uint8_t *bytes, size_t size, unsigned classes,
                             const char *name, vit_error *error);

/* Puts what `take` makes of a file in its place. */
static vit_status unpickle(vit_bytes *file, unpickler *take, unsigned classes, const char *path,
                           vit_error *error) {
    vit_bytes out;
    const vit_status status = take(&out, file->data, file->size, classes, path, error);
    vit_free(file->data);
    *file = out;
    return status;
}

static vit_status read_file(reading *g, vit_records *records, const char *name, size_t index,
                            size_t files, vit_error *error) {
    vit_bytes file;
    char *path;
    vit_status status = vit_listing_read(&file, &path, g->directory, name, MAX_FILE, error);
    if (status == VIT_OK && g->set->is_python)
        status = unpickle(&file, vit_cifar_pickles->records, g->set->classes, path, error);
    if (status == VIT_OK) status = add_file(g, records, &file, index, files, path, error);
    vit_free(file.data);
    vit_free(path);
    return status;
}

/* Reads a part. One that is missing is an error only if it is needed. */
static vit_status read_part(reading *g, part p, bool needed, vit_error *error) {
    vit_records *const parts[] = {&g->out->train, &g->out->test}, *records = parts[p];
    VIT_CHECK_ROWS(parts, PARTS);
    size_t files = file_count(g->set, p);
    vit_status status = VIT_OK;
    if (!needed && !has_part(g->set, p, g->directory)) return VIT_OK;
    for (size_t i = 0; i < files && status == VIT_OK; i++)
        status = read_file(g, records, g->set->files[p][i], i, files, error);
    g->hashed = true;
    return status;
}

/* ---- labels ---- */

/* Splits text into lines, without '\r' and empty ones: the first `room` of them. Returns how many
 * there are. */
static size_t split_lines(const char **lines, size_t room, char *text) {
    size_t count = 0;
    char *rest;
    for (char *line = strtok_r(text, "\r\n", &rest); line; line = strtok_r(NULL, "\r\n", &rest))
        if (count++ < room) lines[count - 1] = line;
    return count;
}

/* Takes the names in a file, in which one is on each line. */
static vit_status take_names(vit_dataset *out, unsigned classes, const vit_bytes *file,
                             const char *path, vit_error *error) {
    const size_t table = classes * sizeof(char *);
    const char **lines = out->label_memory = vit_alloc(table + file->size + 1, 1);
    if (!lines) return vit_fail_memory(error, path, table + file->size);
    memcpy((char *)lines + table, file->data, file->size);
    const size_t found = split_lines(lines, classes, (char *)lines + table);
    out->labels = lines;
    if (found == classes) return VIT_OK;
    return vit_fail(error, VIT_ERROR_FORMAT, "%s: holds %zu names, expected %u, one a line", path,
                    found, classes);
}

/* Reads the file of names if there is one. */
static vit_status read_names(vit_dataset *out, const cifar_set *s, const vit_listing *directory,
                             vit_error *error) {
    vit_bytes file;
    char *path;
    if (!vit_listing_find(directory, s->label_file)) return VIT_OK;
    vit_status status =
        vit_listing_read(&file, &path, directory, s->label_file, MAX_LABEL_FILE, error);
    if (status == VIT_OK && s->is_python)
        status = unpickle(&file, vit_cifar_pickles->names, s->classes, path, error);
    if (status == VIT_OK) status = take_names(out, s->classes, &file, path, error);
    vit_free(file.data);
    vit_free(path);
    return status;
}

static void describe(vit_dataset *out, const cifar_set *s) {
    snprintf(out->name, sizeof out->name, "%s", s->name);
    out->preset = "cifar10"; /* CIFAR-100, too: pictures of the same kind */
    out->height = out->width = SIDE;
    out->channels = 3;
    out->classes = s->classes;
    out->labels = s->labels;
    memcpy(out->mean, s->mean, sizeof out->mean);
    memcpy(out->std, s->std, sizeof out->std);
}

/* ---- the set ---- */
static vit_status read_set(vit_dataset *out, const cifar_set *s, const vit_listing *directory,
                           const vit_dataset_options *o, vit_error *error) {
    reading g = {.out = out, .set = s, .directory = directory};
    describe(out, s);
    vit_status status = read_names(out, s, directory, error);
    vit_sha256_start(&g.hash);
    if (status == VIT_OK && ((o->need | o->want) & VIT_PART_TRAIN))
        status = read_part(&g, TRAIN, (o->need & VIT_PART_TRAIN) != 0, error);
    if (status == VIT_OK && ((o->need | o->want) & VIT_PART_TEST))
        status = read_part(&g, TEST, (o->need & VIT_PART_TEST) != 0, error);
    if (status != VIT_OK) return status;
    if (out->train.count == 0 && out->test.count == 0)
        return vit_fail(error, VIT_ERROR_IO, "%s: has no %s (or %s.gz)", directory->path,
                        s->files[TRAIN][0], s->files[TRAIN][0]);
    vit_sha256_hex(&g.hash, out->checksum);
    if (s->std[0] == 0) vit_dataset_measure(out);
    /* A training file that is cut off between two records looks complete. */
    const size_t published = s->published * file_count(s, TRAIN);
    if (out->train.count == 0 || out->train.count == published) return VIT_OK;
    return vit_dataset_note(out, error,
                            "the training part holds %zu pictures, that of the published %s %zu",
                            out->train.count, s->name, published);
}

static vit_status read_cifar(vit_dataset *out, const vit_listing *directory,
                             const vit_dataset_options *options, vit_error *error) {
    const vit_dataset_options o = vit_options_without_val(options);
    const cifar_set *s = recognise(directory);
    char guest[VIT_GUEST_TEXT];
    if (s->is_python && !vit_cifar_pickles)
        return vit_fail(error, VIT_ERROR_UNSUPPORTED, "%s: holds %s in its Python form%s",
                        directory->path, s->name, vit_guests_for(guest, "vit_cifar_pickles"));
    return read_set(out, s, directory, &o, error);
}

static const char *const published[] = {"cifar10", "cifar100", NULL};
static const char *const wrappers[] = {"cifar-10-batches-bin", "cifar-10-batches-py",
                                       "cifar-100-binary", "cifar-100-python", NULL};

const vit_reader vit_reader_cifar = {
    .sets = published,
    .wrappers = wrappers,
    .expects = "CIFAR-10 or CIFAR-100 in binary form (data_batch_1.bin to data_batch_5.bin and "
               "test_batch.bin, or train.bin and test.bin, gzipped or not) or as Python's pickles",
    .probe = probe,
    .read = read_cifar,
};
