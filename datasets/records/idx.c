/* IDX files, the format in which MNIST and its relatives are published: a magic number 0x0000TTDD
 * (type of the elements, number of dimensions), the dimensions as 32-bit big-endian integers, then
 * the elements in row-major order. What the sets are called is in idx_sets.c.
 */
#include "datasets/records/gzip.h"
#include "datasets/records/idx_sets.h"
#include "vit/base/size.h"
#include "vit/formats/sha256.h"

#include <stdio.h>
#include <string.h>

#define MAX_SIDE 1024
#define MAX_FILE ((size_t)1 << 30)

/* ---- one file ---- */

static uint32_t big_endian(const uint8_t *b) {
    return (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3];
}

/* Checks the sizes in a header against the limits, and the size of the file against them. */
static vit_status check_sizes(const vit_idx *x, size_t size, const char *name, vit_error *error) {
    if (x->count == 0 || x->height == 0 || x->width == 0)
        return vit_fail(error, VIT_ERROR_FORMAT,
                        "%s: the header says %zu records of %zux%zu, expected at least 1 of each",
                        name, x->count, x->height, x->width);
    if (x->height > MAX_SIDE || x->width > MAX_SIDE)
        return vit_fail(error, VIT_ERROR_UNSUPPORTED,
                        "%s: pictures are %zux%zu, at most %dx%d are read", name, x->height,
                        x->width, MAX_SIDE, MAX_SIDE);
    /* At most 2^32 * 2^20 + 16: no overflow in 64 bits. */
    uint64_t expected = (uint64_t)x->count * x->height * x->width + x->offset;
    if (size == expected) return VIT_OK;
    return vit_fail(error, VIT_ERROR_FORMAT,
                    "%s: %s: %zu bytes found, %llu expected for %zu records of %zux%zu", name,
                    size < expected ? "is cut off" : "goes on after its end", size,
                    (unsigned long long)expected, x->count, x->height, x->width);
}
vit_status vit_idx_parse(vit_idx *out, const uint8_t *bytes, size_t size, unsigned dimensions,
                         const char *name, vit_error *error) {
    *out = (vit_idx){0};
    vit_idx x = {.offset = 4 + 4 * (size_t)dimensions, .height = 1, .width = 1};
    uint32_t magic = 0x800 + dimensions;
    if (size >= 4 && big_endian(bytes) != magic)
        return vit_fail(error, VIT_ERROR_FORMAT,
                        "%s: begins with 0x%08x, expected 0x%08x (IDX, unsigned bytes, "
                        "dimensions: %u)",
                        name, big_endian(bytes), magic, dimensions);
    if (size < x.offset)
        return vit_fail(error, VIT_ERROR_FORMAT,
                        "%s: is cut off: %zu bytes found, the header alone has %zu", name, size,
                        x.offset);
    x.count = big_endian(bytes + 4);
    if (dimensions == 3) {
        x.height = big_endian(bytes + 8);
        x.width = big_endian(bytes + 12);
    }
    const vit_status status = check_sizes(&x, size, name, error);
    if (status == VIT_OK) *out = x;
    return status;
}

/* Labels of 32 bits, a row each of which the first is the class: QMNIST's. out->width = the
 * columns.
 */
static vit_status parse_rows(vit_idx *out, const uint8_t *bytes, size_t size, const char *name,
                             vit_error *error) {
    const uint32_t magic = 0xc02;
    *out = (vit_idx){.offset = 12, .height = 1};
    if (size < out->offset || big_endian(bytes) != magic)
        return vit_fail(error, VIT_ERROR_FORMAT,
                        "%s: begins with 0x%08x, expected 0x%08x (IDX, integers of 32 bits, "
                        "dimensions: 2)",
                        name, size < 4 ? 0 : big_endian(bytes), magic);
    out->count = big_endian(bytes + 4);
    out->width = big_endian(bytes + 8);
    const bool is_whole = out->count > 0 && out->width > 0 && out->width <= MAX_SIDE &&
                          size - out->offset == (uint64_t)out->count * out->width * 4;
    if (is_whole) return VIT_OK;
    return vit_fail(error, VIT_ERROR_FORMAT,
                    "%s: is cut off or damaged: %zu bytes found, %llu expected for %zu rows of %zu "
                    "integers",
                    name, size, (unsigned long long)out->count * out->width * 4 + 12, out->count,
                    out->width);
}

/* ---- known sets ---- */

typedef struct known_set {
    const char *name;
    const char *const *labels;
    float mean, std;
    bool are_digits;
    const char *fingerprints[VIT_IDX_KINDS][VIT_IDX_PARTS]; /* SHA-256 of the files, uncompressed */
} known_set;

#define KNOWN_CLASSES 10
#define KNOWN_SIDE 28

static const char *const digits[KNOWN_CLASSES] = {"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"};
static const char *const clothes[KNOWN_CLASSES] = {
    "T-shirt/top", "Trouser", "Pullover", "Dress", "Coat",
    "Sandal",      "Shirt",   "Sneaker",  "Bag",   "Ankle boot"};

static const known_set known_sets[] = {
    {"mnist",
     digits,
     0.1307f,
     0.3081f,
     true,
     {{"65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5",
       "ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2"},
      {"ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db",
       "0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7"}}},
    {"fashion",
     clothes,
     0.2860f,
     0.3530f,
     false,
     {{"bad3541b69d912435c50bb6ba87bec294ff4f6a2e1246121d8633921760443d9",
       "0402a96d92fd2663957122ceb108a494c5af83dab82d92729df917d7dec38c34"},
      {"c59f468a2f672dc815687fe0f83887768d799fd8a3f3276145d20f83aa44d888",
       "5b4141f0afbad91edebe8549f8fcffe087ea10ca49f1dbef5c9a5cd8815ce37b"}}},
};

static const known_set *recognise(vit_idx_kind k, vit_idx_part p, const uint8_t *bytes,
                                  size_t size) {
    char hex[65];
    vit_sha256_of(hex, bytes, size);
    for (size_t i = 0; i < sizeof known_sets / sizeof *known_sets; i++)
        if (strcmp(hex, known_sets[i].fingerprints[k][p]) == 0) return &known_sets[i];
    return NULL;
}

/* ---- one part ---- */

/* The state while the parts are read. */
typedef struct gathered {
    vit_dataset *set;
    const vit_idx_names *names;
    vit_sha256 hash;                       /* of the files of the first part that is read */
    bool hashed;                           /* that part has been read */
    const known_set *known[VIT_IDX_PARTS]; /* the set that the labels are of; NULL: another */
} gathered;

static vit_status take_labels(vit_records *records, const vit_idx *idx, const uint8_t *labels,
                              bool are_rows, const char *path, vit_error *error) {
    const size_t stride = are_rows ? 4 * idx->width : 1;
    records->labels = vit_alloc(idx->count, sizeof *records->labels);
    if (!records->labels) return vit_fail_memory(error, path, idx->count * sizeof *records->labels);
    for (size_t i = 0; i < idx->count; i++, labels += stride) {
        const uint32_t label = are_rows ? big_endian(labels) : *labels;
        if (label > UINT16_MAX)
            return vit_fail(error, VIT_ERROR_FORMAT, "%s: label %zu is %u, expected at most %d",
                            path, i, label, UINT16_MAX);
        records->labels[i] = (uint16_t)label;
    }
    records->count = idx->count;
    return VIT_OK;
}

static vit_status read_labels(vit_records *records, gathered *g, vit_idx_part p, const char *path,
                              vit_error *error) {
    const bool are_rows = strcmp(g->names->labels, "idx2-int") == 0;
    vit_bytes file;
    vit_idx idx;
    vit_status status = vit_read_plain_or_gzip(&file, path, MAX_FILE, error);
    if (status == VIT_OK)
        status = are_rows ? parse_rows(&idx, file.data, file.size, path, error)
                          : vit_idx_parse(&idx, file.data, file.size, 1, path, error);
    if (status == VIT_OK) {
        if (!g->hashed) vit_sha256_add(&g->hash, file.data, file.size);
        if (*g->names->prefix == 0)
            g->known[p] = recognise(VIT_IDX_LABELS, p, file.data, file.size);
        status = take_labels(records, &idx, file.data + idx.offset, are_rows, path, error);
    }
    vit_free(file.data);
    return status;
}

/* The pictures must fit the labels, the other part, and the set that the labels are of. */
static vit_status check_pictures(const vit_idx *idx, const vit_records *records,
                                 const vit_dataset *set, const known_set *known, const char *path,
                                 vit_error *error) {
    if (idx->count != records->count)
        return vit_fail(error, VIT_ERROR_MISMATCH,
                        "%s: holds %zu pictures, but the labels beside it are %zu", path,
                        idx->count, records->count);
    if (set->height != 0 && (idx->height != set->height || idx->width != set->width))
        return vit_fail(error, VIT_ERROR_MISMATCH,
                        "%s: pictures are %zux%zu, expected %zux%zu as in the training files", path,
                        idx->height, idx->width, set->height, set->width);
    if (known && (idx->height != KNOWN_SIDE || idx->width != KNOWN_SIDE))
        return vit_fail(error, VIT_ERROR_MISMATCH,
                        "%s: pictures are %zux%zu, expected %dx%d: the labels are those of %s",
                        path, idx->height, idx->width, KNOWN_SIDE, KNOWN_SIDE, known->name);
    return VIT_OK;
}

/* If these are the pictures of a known set, the labels, which are not those of the set, are
 * damaged. */
static vit_status check_known(const vit_records *records, vit_idx_part p, const vit_bytes *pictures,
                              const char *label_path, vit_error *error) {
    const known_set *known = recognise(VIT_IDX_PICTURES, p, pictures->data, pictures->size);
    size_t i = 0;
    if (!known) return VIT_OK;
    while (i < records->count && records->labels[i] < KNOWN_CLASSES) i++;
    if (i < records->count)
        return vit_fail(error, VIT_ERROR_MISMATCH,
                        "%s: is damaged: the pictures beside it are those of %s, but label %zu is "
                        "%d, expected 0 to %d",
                        label_path, known->name, i, records->labels[i], KNOWN_CLASSES - 1);
    return vit_fail(error, VIT_ERROR_MISMATCH,
                    "%s: the pictures beside it are those of %s, but the labels are not (expected "
                    "SHA-256 %s): it is damaged. Fetch it again; for other labels of these "
                    "pictures, put them into a folder per class",
                    label_path, known->name, known->fingerprints[VIT_IDX_LABELS][p]);
}

static vit_status read_pictures(vit_records *records, gathered *g, vit_idx_part p, const char *path,
                                const char *label_path, vit_error *error) {
    vit_bytes file;
    vit_idx idx = {0};
    vit_status status = vit_read_plain_or_gzip(&file, path, MAX_FILE, error);
    if (status == VIT_OK) status = vit_idx_parse(&idx, file.data, file.size, 3, path, error);
    if (status == VIT_OK) status = check_pictures(&idx, records, g->set, g->known[p], path, error);
    if (status == VIT_OK && !g->known[p] && idx.height == KNOWN_SIDE && *g->names->prefix == 0)
        status = check_known(records, p, &file, label_path, error);
    if (status != VIT_OK) {
        vit_free(file.data);
        return status;
    }
    if (!g->hashed) vit_sha256_add(&g->hash, file.data, file.size);
    /* The records take the memory of the file, with its contents moved to the front. */
    memmove(file.data, file.data + idx.offset, file.size - idx.offset);
    records->pixels = file.data;
    g->set->height = idx.height;
    g->set->width = idx.width;
    return VIT_OK;
}

static vit_status missing(const vit_listing *directory, const vit_idx_names *names, vit_idx_part p,
                          vit_idx_kind k, vit_error *error) {
    char name[64];
    vit_idx_names_spell(name, names, p, k);
    return vit_fail(error, VIT_ERROR_IO, "%s: has no %s (or %s.gz), the %s of the %s part",
                    directory->path, name, name, k == VIT_IDX_LABELS ? "labels" : "pictures",
                    p == VIT_IDX_TRAIN ? "training" : "test");
}

/* Reads a part. One that is missing is an error only if it is needed. */
static vit_status read_part(gathered *g, const vit_listing *directory, vit_idx_part p, bool needed,
                            vit_error *error) {
    vit_records *const parts[] = {&g->set->train, &g->set->test}, *records = parts[p];
    VIT_CHECK_ROWS(parts, VIT_IDX_PARTS);
    char *paths[VIT_IDX_KINDS] = {NULL, NULL};
    vit_status status = VIT_OK;
    for (vit_idx_kind k = 0; k < VIT_IDX_KINDS && status == VIT_OK; k++)
        status = vit_idx_names_path(&paths[k], g->names, p, k, directory, error);
    if (status != VIT_OK) goto done;
    if (!paths[VIT_IDX_LABELS] && !paths[VIT_IDX_PICTURES] && !needed) goto done;
    for (vit_idx_kind k = VIT_IDX_LABELS; k < VIT_IDX_KINDS && status == VIT_OK; k++)
        if (!paths[k]) status = missing(directory, g->names, p, k, error);
    if (status == VIT_OK) status = read_labels(records, g, p, paths[VIT_IDX_LABELS], error);
    if (status == VIT_OK)
        status =
            read_pictures(records, g, p, paths[VIT_IDX_PICTURES], paths[VIT_IDX_LABELS], error);
    g->hashed = true;
done:
    for (vit_idx_kind k = VIT_IDX_LABELS; k < VIT_IDX_KINDS; k++) vit_free(paths[k]);
    return status;
}

/* ---- the set ---- */

/* The largest label + 1, of the training part if there is one: the test part must not change what
 * is trained. */
static size_t count_classes(const vit_dataset *set) {
    const vit_records *r = set->train.count > 0 ? &set->train : &set->test;
    uint16_t largest = 0;
    for (size_t i = 0; i < r->count; i++)
        if (r->labels[i] > largest) largest = r->labels[i];
    return (size_t)largest + 1;
}

static void describe(vit_dataset *set, const known_set *known) {
    set->channels = 1;
    if (!known) {
        /* The classes have no names, so they may be digits or letters. */
        set->has_characters = true;
        set->preset = set->height % 7 == 0 && set->width % 7 == 0 ? "mnist" : "folder";
        set->classes = count_classes(set);
        vit_dataset_measure(set);
        return;
    }
    snprintf(set->name, sizeof set->name, "%s", known->name);
    set->preset = known->name;
    set->is_digits = set->has_characters = known->are_digits;
    set->classes = KNOWN_CLASSES;
    set->labels = known->labels;
    set->mean[0] = known->mean;
    set->std[0] = known->std;
}

static vit_status check_test_labels(const vit_dataset *set, const vit_listing *directory,
                                    vit_error *error) {
    for (size_t i = 0; i < set->test.count; i++)
        if (set->test.labels[i] >= set->classes)
            return vit_fail(error, VIT_ERROR_MISMATCH,
                            "%s: the label of test picture %zu is %d, expected at most %zu, the "
                            "largest of the training labels",
                            directory->path, i, set->test.labels[i], set->classes - 1);
    return VIT_OK;
}

static vit_status read_idx(vit_dataset *out, const vit_listing *directory,
                           const vit_dataset_options *options, vit_error *error) {
    const vit_dataset_options o = vit_options_without_val(options);
    unsigned need = o.need, want = o.want;
    size_t sets;
    gathered g = {.set = out, .names = vit_idx_names_find(directory, &sets)};
    vit_status status = VIT_OK;
    if (sets > 1)
        return vit_fail(error, VIT_ERROR_MISMATCH,
                        "%s: holds %zu sets of IDX files: name one by the beginning of its files, "
                        "such as %s/%s",
                        directory->path, sets, directory->path,
                        *g.names->prefix ? g.names->prefix : "emnist-letters");
    vit_sha256_start(&g.hash);
    if ((need | want) & VIT_PART_TRAIN)
        status = read_part(&g, directory, VIT_IDX_TRAIN, (need & VIT_PART_TRAIN) != 0, error);
    if (status == VIT_OK && ((need | want) & VIT_PART_TEST))
        status = read_part(&g, directory, VIT_IDX_TEST, (need & VIT_PART_TEST) != 0, error);
    if (status == VIT_OK && out->train.count == 0 && out->test.count == 0)
        status = missing(directory, g.names, want & VIT_PART_TRAIN ? VIT_IDX_TRAIN : VIT_IDX_TEST,
                         VIT_IDX_LABELS, error);
    if (status != VIT_OK) return status;
    const known_set *train = g.known[VIT_IDX_TRAIN], *test = g.known[VIT_IDX_TEST];
    if (train && test && train != test)
        return vit_fail(error, VIT_ERROR_MISMATCH,
                        "%s: the training labels are those of %s, the test labels those of %s",
                        directory->path, train->name, test->name);
    describe(out, g.known[out->train.count > 0 ? VIT_IDX_TRAIN : VIT_IDX_TEST]);
    vit_sha256_hex(&g.hash, out->checksum);
    if (!out->labels) status = vit_idx_names_apply(out, g.names, directory, error);
    if (g.names->are_digits) out->is_digits = true;
    if (status != VIT_OK) return status;
    if (!options->empty_classes) status = vit_dataset_check_classes(out, directory->path, error);
    return status == VIT_OK ? check_test_labels(out, directory, error) : status;
}

static bool probe(const vit_listing *directory) {
    size_t count;
    return vit_idx_names_find(directory, &count);
}

static const char *const published[] = {"mnist", "fashion", NULL};
static const char *const wrappers[] = {"MNIST",  "FashionMNIST", "KMNIST", "EMNIST",
                                       "QMNIST", "raw",          "gzip",   NULL};

const vit_reader vit_reader_idx = {
    .sets = published,
    .wrappers = wrappers,
    .is_choice = vit_idx_names_has,
    .expects = "IDX files (train-images-idx3-ubyte and train-labels-idx1-ubyte, or t10k-..., "
               "or EMNIST's or QMNIST's, gzipped or not)",
    .probe = probe,
    .read = read_idx,
};
