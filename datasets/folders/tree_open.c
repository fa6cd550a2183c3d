/* The pictures of a tree, in files or in shards, become a data set.
 *
 * Opening reads every picture twice. First it is checked and measured, and its checksum is
 * computed; then, when the size of the prepared pictures has been chosen, it is decoded and
 * prepared. So pictures that cannot be read are known before a training is planned. Those that fit
 * the cache stay in memory; the others are read again at each use.
 */
#include "datasets/duplicates.h"
#include "datasets/folders/tree.h"
#include "datasets/reader.h"
#include "vit/base/guests.h"
#include "vit/base/parallel.h"
#include "vit/base/sys.h"
#include "vit/base/text.h"
#include "vit/base/utf8.h"
#include "vit/formats/sha256.h"
#include "vit/image/codec/decode.h"

#include <string.h>
#include <zlib.h>

/* ---- reading all files of a part on several threads ---- */

typedef struct pass {
    const vit_dataset *set;
    vit_tree_part *part;
    vit_shard_files *shards; /* NULL: files */
    bool hashes;             /* first pass: whether to compute checksums */
    uint8_t *pixels;         /* second pass: of the first `resident` files */
    size_t resident;
} pass;

/* Stores the status of a file, and the message of its error. */
static void keep_problem(vit_tree_file *file, vit_status status, const vit_error *error) {
    file->status = status;
    if (status == VIT_OK || status == VIT_ERROR_MEMORY) return;
    file->problem = vit_strdup(error->message);
    if (!file->problem) file->status = VIT_ERROR_MEMORY;
}

static void measure_task(size_t index, int thread, void *context) {
    const pass *p = context;
    vit_tree_file *file = &p->part->files[index];
    vit_bytes bytes = {0};
    vit_error error;
    (void)thread;
    if (file->problem) return;
    vit_status status =
        vit_picture_read(&bytes, p->shards, file->path, p->shards ? &file->place : NULL, &error);
    if (status == VIT_OK)
        status = vit_image_measure(&file->width, &file->height, bytes.data, bytes.size, file->path,
                                   &error);
    if (status == VIT_OK && p->hashes) vit_sha256_digest(file->digest, bytes.data, bytes.size);
    if (status == VIT_OK && p->shards) {
        file->place.crc = (uint32_t)crc32(0, bytes.data, (uInt)bytes.size);
        file->place.has_crc = true;
    }
    vit_free(bytes.data);
    keep_problem(file, status, &error);
}

static void prepare_task(size_t index, int thread, void *context) {
    const pass *p = context;
    const size_t size = p->set->height * p->set->width * p->set->channels;
    vit_tree_file *file = &p->part->files[index];
    uint8_t *scratch = NULL, *pixels = p->pixels + index * size;
    vit_status status = VIT_OK;
    vit_error error;
    (void)thread;
    if (index >= p->resident) {
        pixels = scratch = vit_alloc(1, size);
        if (!scratch) status = VIT_ERROR_MEMORY;
    }
    if (status == VIT_OK)
        status = vit_picture_prepare(pixels, p->set, file->path, p->shards ? &file->place : NULL,
                                     &error);
    vit_free(scratch);
    keep_problem(file, status, &error);
}

static vit_status run_pass(pass *p, vit_task *task, int threads, vit_error *error) {
    vit_parallel(threads > 0 ? threads : 1, p->part->count, task, p);
    for (size_t i = 0; i < p->part->count; i++)
        if (p->part->files[i].status == VIT_ERROR_MEMORY)
            return vit_fail(error, VIT_ERROR_MEMORY, "out of memory for the picture %s",
                            p->part->files[i].path);
    return VIT_OK;
}

/* ---- files that are left out ---- */

typedef struct left_out {
    char **problems; /* [count], "FILE: why" */
    size_t count, capacity;
} left_out;

static bool can_be_read(const vit_tree_file *file) {
    return file->status == VIT_OK;
}

static bool is_held_back(const vit_tree_file *file) {
    return file->is_held_back;
}

/* Removes the other files from the part, and their pixels, of `row` bytes, from those of the first
 * *resident files. */
static void keep(bool (*is_kept)(const vit_tree_file *), vit_tree_part *part, uint8_t *pixels,
                 size_t row, size_t *resident) {
    size_t kept = 0, kept_resident = 0;
    for (size_t i = 0; i < part->count; i++) {
        if (!is_kept(&part->files[i])) {
            vit_tree_file_free(&part->files[i]);
            continue;
        }
        if (i < *resident) memmove(pixels + kept_resident++ * row, pixels + i * row, row);
        part->files[kept++] = part->files[i];
    }
    part->count = kept;
    *resident = kept_resident;
}

/* Moves the problems of files to the list and removes these files from the part. */
static vit_status drop_problems(left_out *l, vit_tree_part *part, uint8_t *pixels, size_t row,
                                size_t *resident, vit_error *error) {
    for (size_t i = 0; i < part->count; i++) {
        vit_tree_file *file = &part->files[i];
        if (!file->problem) continue;
        if (!VIT_MAKE_ROOM(l->problems, l->count, l->capacity, "files that cannot be read", error))
            return VIT_ERROR_MEMORY;
        l->problems[l->count++] = file->problem;
        file->problem = NULL;
    }
    keep(can_be_read, part, pixels, row, resident);
    return VIT_OK;
}

/* Adds notes about the files that are left out. */
static vit_status note_left_out(vit_dataset *out, const left_out *l, vit_error *error) {
    vit_status status = VIT_OK;
    for (size_t i = 0; i < l->count && i < VIT_UNREADABLE_NAMED && status == VIT_OK; i++)
        status = vit_dataset_note(out, error, "left out: %s", l->problems[i]);
    if (status == VIT_OK && l->count > VIT_UNREADABLE_NAMED)
        status = vit_dataset_note(out, error, "left out: %zu files in all that cannot be read",
                                  l->count);
    return status;
}

/* ---- checks ---- */

/* "; left out: ..." with the first files that cannot be read; "" if there are none. Freed by
 * vit_string_free. */
static vit_string left_out_text(const left_out *l) {
    vit_string text = {0};
    vit_string_add(&text, "%s", l->count > 0 ? "; left out: " : "");
    for (size_t i = 0; i < l->count && i < VIT_UNREADABLE_NAMED; i++)
        vit_string_add(&text, "%s%s", i > 0 ? "; " : "", l->problems[i]);
    if (l->count > VIT_UNREADABLE_NAMED)
        vit_string_add(&text, "; %zu files in all that cannot be read", l->count);
    return text;
}

/* There must be two or more classes, each with a training picture. */
static vit_status check_classes(const vit_tree *tree, const vit_tree_part *part, const left_out *l,
                                const char *path, bool may_be_empty, vit_error *error) {
    size_t class = 0;
    bool *has_picture = vit_alloc(tree->class_count, sizeof *has_picture);
    if (!has_picture) return vit_fail_memory(error, "classes", tree->class_count);
    for (size_t i = 0; i < part->count; i++) {
        const vit_tree_file *file = &part->files[i];
        if (!file->classes) has_picture[file->label] = true;
        for (size_t k = 0; k < file->class_id_count; k++) has_picture[file->class_ids[k]] = true;
    }
    while (class < tree->class_count && has_picture[class]) class ++;
    vit_free(has_picture);
    if (class < tree->class_count && (!may_be_empty || part->count == 0)) {
        vit_string problems = left_out_text(l);
        vit_fail(error, VIT_ERROR_FORMAT,
                 "%s: class %s has no picture that can be read for training%s", path,
                 tree->classes[class], problems.failed ? "" : problems.text);
        vit_string_free(&problems);
        return VIT_ERROR_FORMAT;
    }
    if (tree->class_count > 1) return VIT_OK;
    if (tree->shards)
        return vit_fail(error, VIT_ERROR_FORMAT,
                        "%s: its pictures are all of one class, %s, expected two or more", path,
                        tree->classes[0]);
    return vit_fail(error, VIT_ERROR_FORMAT,
                    "%s: holds one folder of pictures, %s, expected one for each of two or more "
                    "classes; if the classes are folders in it, name %s/%s",
                    path, tree->classes[0], path, tree->classes[0]);
}

/* Why there are no pictures for the test. Freed by vit_string_free. */
static vit_string no_test_text(const vit_tree *tree, const char *path) {
    vit_string text = {0};
    if (tree->shards) {
        vit_string_add(&text, "expected shards train-000000.tar, val-..., test-..., with a KEY.jpg "
                              "and a KEY.cls for each picture");
    } else if (!tree->is_shared_out || tree->shared == 0) {
        vit_string_add(&text, "expected a folder per class of pictures, directly or in "
                              "train/, val/ and test/");
    } else {
        vit_string_add(
            &text,
            "without test/ or val/ the test is a sixth of each class, and the %zu files "
            "of %zu classes give none that can be read: put pictures into %s/test/CLASS, "
            "or take --split train",
            tree->shared, tree->class_count, path);
    }
    return text;
}

static vit_status lacks(const vit_tree *tree, const char *what, const left_out *l, const char *path,
                        vit_error *error) {
    vit_string problems = left_out_text(l), reason = no_test_text(tree, path);
    vit_fail(error, VIT_ERROR_IO, "%s: has no pictures%s: %s%s", path, what,
             reason.failed ? "" : reason.text, problems.failed ? "" : problems.text);
    vit_string_free(&problems);
    vit_string_free(&reason);
    return VIT_ERROR_IO;
}

static vit_status check_parts(const vit_tree *tree, const left_out *l, const char *path,
                              const vit_dataset_options *o, vit_error *error) {
    const unsigned train = VIT_PART_TRAIN | (tree->has_val ? 0 : VIT_PART_VAL);
    const size_t tests = tree->test_is_val ? tree->val.count : tree->test.count;
    if (o->need & train && !tree->has_train) return lacks(tree, " for training", l, path, error);
    if (o->need & VIT_PART_TEST && tests == 0) return lacks(tree, " for the test", l, path, error);
    if (o->need & VIT_PART_VAL && tree->has_val && tree->val.count == 0)
        return lacks(tree, " to choose by", l, path, error);
    const bool is_wanted = (o->need | o->want) & train;
    const bool is_learnt = o->learns && tree->is_shared_out && !is_wanted;
    if ((is_wanted || is_learnt) && tree->has_train) {
        const vit_tree_part *part = is_learnt ? &tree->test : &tree->train;
        vit_status status = o->splits_are_classes || tree->shards
                                ? VIT_OK
                                : vit_tree_check_names(tree, path, error);
        return status == VIT_OK ? check_classes(tree, part, l, path, o->empty_classes, error)
                                : status;
    }
    return tree->test.count + tree->val.count > 0 ? VIT_OK : lacks(tree, "", l, path, error);
}

/* ---- the checksum ---- */

/* The SHA-256 over names, which begin with the class, and checksums of files. all: also of files
 * that are held back. */
static void hash_part(char checksum[65], const vit_tree_part *part, bool all) {
    vit_sha256 hash;
    vit_sha256_start(&hash);
    for (size_t i = 0; i < part->count; i++) {
        const vit_tree_file *file = &part->files[i];
        const char *name = file->path + file->name;
        if (file->is_held_back && !all) continue;
        const char *class = file->classes ? file->classes : file->class;
        if (class) vit_sha256_add(&hash, class, strlen(class) + 1);
        vit_sha256_add(&hash, name, strlen(name) + 1);
        vit_sha256_add(&hash, file->digest, sizeof file->digest);
    }
    vit_sha256_hex(&hash, checksum);
}

/* ---- one part ---- */

static vit_status measure_part(vit_tree_part *part, const vit_tree *tree, bool hashes, left_out *l,
                               int threads, vit_error *error) {
    pass p = {.part = part, .shards = tree->shards, .hashes = hashes};
    size_t none = 0;
    vit_status status = tree->is_measured ? VIT_OK : run_pass(&p, measure_task, threads, error);
    return status == VIT_OK ? drop_problems(l, part, NULL, 0, &none, error) : status;
}

/* Decodes and prepares every file; the pixels of those that fit in *cache bytes are kept. If none
 * are to be kept, pictures that were measured by an index are not read at all. */
static vit_status prepare_part(vit_records *records, vit_dataset *set, vit_tree *tree,
                               vit_tree_part *part, size_t *cache, left_out *l, int threads,
                               vit_error *error) {
    const size_t row = set->height * set->width * set->channels, fit = *cache / row;
    pass p = {.set = set,
              .part = part,
              .shards = tree->shards,
              .resident = fit < part->count ? fit : part->count};
    records->pixels = p.pixels = vit_alloc(p.resident, row);
    if (!records->pixels) return vit_fail_memory(error, "pictures", p.resident * row);
    const bool is_read = !tree->is_measured || p.resident > 0;
    vit_status status = is_read ? run_pass(&p, prepare_task, threads, error) : VIT_OK;
    if (status == VIT_OK) status = drop_problems(l, part, p.pixels, row, &p.resident, error);
    if (status != VIT_OK) return status;
    *cache -= p.resident * row;
    records->files = vit_alloc(1, sizeof *records->files);
    if (!records->files) return vit_fail_memory(error, "pictures", sizeof *records->files);
    records->files->resident = p.resident;
    return VIT_OK;
}

/* Moves the places of pictures in shards to the records. */
static vit_status hand_over_places(vit_records *records, const vit_tree_part *part,
                                   vit_error *error) {
    const size_t count = part->count;
    records->shards = vit_alloc(count, sizeof *records->shards);
    if (!records->shards) return vit_fail_memory(error, "places", count * sizeof(uint32_t));
    for (size_t i = 0; i < count; i++) records->shards[i] = part->files[i].place.shard;
    if (records->files->resident == count) return VIT_OK;
    vit_place *places = records->files->places = vit_alloc(count, sizeof *places);
    if (!places) return vit_fail_memory(error, "places", count * sizeof *places);
    for (size_t i = 0; i < count; i++) places[i] = part->files[i].place;
    return VIT_OK;
}

/* Moves labels and paths of the files to the records. */
static vit_status hand_over(vit_records *records, vit_tree_part *part, bool in_shards,
                            bool multi_label, vit_error *error) {
    const size_t count = part->count;
    vit_status status = VIT_OK;
    if (multi_label) status = vit_tree_list_classes(&records->target, part, error);
    if (status == VIT_OK && in_shards) status = hand_over_places(records, part, error);
    if (status != VIT_OK) return status;
    records->labels = vit_alloc(count, sizeof *records->labels);
    if (!records->labels) return vit_fail_memory(error, "labels", count * 2);
    for (size_t i = 0; i < count; i++) records->labels[i] = part->files[i].label;
    char **paths = vit_alloc(count, sizeof *paths);
    if (!paths) return vit_fail_memory(error, "paths", count * sizeof *paths);
    for (size_t i = 0; i < count; i++) {
        paths[i] = part->files[i].path;
        part->files[i].path = NULL;
    }
    if (records->files->resident < count) {
        records->files->paths = paths;
    } else {
        vit_files_free(records->files, 0);
        records->files = NULL;
        records->names = paths;
    }
    records->count = count;
    return VIT_OK;
}

/* ---- the set ---- */

/* Digits and letters are at most as many as this; more classes without names are of other things.
 */
#define MOST_CHARACTERS 62

static void describe(vit_dataset *out, vit_tree *tree, const vit_preparation *p) {
    out->preset = "folder";
    out->classes = tree->class_count;
    out->labels = (const char *const *)tree->classes;
    out->label_memory = tree->classes;
    vit_dataset_prepare_as(out, p);
    if (tree->are_numbers && tree->class_count > MOST_CHARACTERS) return;
    /* Classes named by one character are taken for digits or letters. */
    for (size_t i = 0; i < tree->class_count; i++)
        if (tree->classes[i][vit_utf8_length(tree->classes[i])] == 0) out->has_characters = true;
}

static const char all_of_it[] = "all of them, as the model was not trained on this folder";
static const char its_share[] = "the sixth of each class that its training held back";

/* Whether the model was trained on the files of the part that are not held back. */
static bool was_trained_on(const vit_dataset_options *o, const vit_tree_part *part) {
    char checksum[65];
    hash_part(checksum, part, false);
    return strstr(o->trained_on, checksum) != NULL;
}

static int by_position(const void *a, const void *b) {
    const vit_tree_file *x = a, *y = b;
    return (x->position > y->position) - (x->position < y->position);
}

/* Moves all training files to the test part, in their original order. */
static vit_status test_all(vit_tree *tree, vit_error *error) {
    vit_tree_part *train = &tree->train, *test = &tree->test;
    const size_t count = train->count + test->count;
    vit_tree_file *files = vit_alloc(count, sizeof *files);
    if (!files) return vit_fail_memory(error, "a list of files", count * sizeof *files);
    for (size_t i = 0; i < count; i++)
        files[i] = i < train->count ? train->files[i] : test->files[i - train->count];
    qsort(files, count, sizeof *files, by_position);
    vit_free(train->files);
    vit_free(test->files);
    *train = (vit_tree_part){0};
    *test = (vit_tree_part){.files = files, .count = count, .capacity = count};
    return VIT_OK;
}

/* Chooses which pictures of a folder without parts are the test, if only that is read. */
static vit_status choose_test(vit_dataset *out, vit_tree *tree, const vit_dataset_options *o,
                              vit_error *error) {
    if (o->trained_on && !was_trained_on(o, &tree->train)) {
        out->test_is = all_of_it;
        return test_all(tree, error);
    }
    if (o->trained_on) out->test_is = its_share;
    vit_tree_part_free(&tree->train);
    return VIT_OK;
}

static vit_status measure_parts(vit_dataset *out, vit_tree *tree, left_out *l,
                                const vit_dataset_options *o, vit_error *error) {
    const unsigned train = VIT_PART_TRAIN | (tree->has_val ? 0 : VIT_PART_VAL);
    const bool test_alone = tree->is_shared_out && !((o->need | o->want) & train);
    vit_status status = VIT_OK;
    /* If there is a test, its training files are not needed. */
    if (test_alone && !o->trained_on && tree->test.count > 0) vit_tree_part_free(&tree->train);
    status = measure_part(&tree->train, tree, true, l, o->threads, error);
    const bool hashes = tree->train.count == 0 || test_alone;
    if (status == VIT_OK) status = measure_part(&tree->val, tree, hashes, l, o->threads, error);
    if (status == VIT_OK) status = measure_part(&tree->test, tree, hashes, l, o->threads, error);
    return status == VIT_OK && test_alone ? choose_test(out, tree, o, error) : status;
}

/* Files that turn out to be damaged when they are decoded are not in the checksum of a training:
 * the model may have been trained on the others. */
static void choose_again(vit_dataset *out, vit_tree *tree, const vit_dataset_options *o) {
    if (out->test_is != all_of_it || !was_trained_on(o, &tree->test)) return;
    out->test_is = its_share;
    keep(is_held_back, &tree->test, out->test.pixels, out->height * out->width * out->channels,
         &out->test.files->resident);
}

/* ---- corrections ---- */

static bool is_kept(const vit_tree_file *file) {
    return !file->is_left_out;
}

static const vit_tree_part *first_part(const vit_tree *tree) {
    return tree->train.count > 0 ? &tree->train : tree->test.count > 0 ? &tree->test : &tree->val;
}

/* Leaves out and relabels what lists say. As with copies, which pictures are the test does not
 * depend on it, nor does the checksum. */
static vit_status correct(vit_dataset *out, vit_tree *tree, const char *path,
                          const vit_dataset_options *o, vit_error *error) {
    const unsigned all = VIT_PART_TRAIN | VIT_PART_VAL | VIT_PART_TEST;
    const size_t row = out->height * out->width * out->channels;
    vit_tree_part *const parts[] = {&tree->train, &tree->val, &tree->test};
    vit_records *const records[] = {&out->train, &out->val, &out->test};
    char guest[VIT_GUEST_TEXT];
    if (!o->exclude && !o->relabel) return VIT_OK;
    if (!vit_picture_tables)
        return vit_fail(error, VIT_ERROR_UNSUPPORTED, "%s: lists of pictures are not read%s",
                        o->exclude ? o->exclude : o->relabel,
                        vit_guests_for(guest, "vit_picture_tables"));
    hash_part(out->checksum, first_part(tree), true);
    vit_status status =
        vit_picture_tables->correct(out, tree, path, o, ((o->need | o->want) & all) == all, error);
    for (size_t k = 0; k < 3 && status == VIT_OK; k++)
        keep(is_kept, parts[k], records[k]->pixels, row, &records[k]->files->resident);
    return status;
}

/* ---- copies of test pictures ---- */

static bool is_no_copy(const vit_tree_file *file) {
    return !file->is_copy;
}

/* If the test is a share of the pictures, copies of it are left out of the training. Which pictures
 * are the test does not depend on copies, nor does the checksum: so a model's test part is found
 * again without comparing pictures. */
static vit_status leave_copies_out(vit_dataset *out, vit_tree *tree, int threads,
                                   vit_error *error) {
    vit_tree_part *train = &tree->train;
    const size_t row = out->height * out->width * out->channels;
    size_t count = 0, example = 0;
    vit_status status = vit_tree_find_copies(&count, out, tree, threads, error);
    if (status != VIT_OK || count == 0) return status;
    while (!train->files[example].is_copy) example++;
    if (!out->checksum[0]) hash_part(out->checksum, train, true);
    status = vit_dataset_note(
        out, error, "left out of the training: %zu picture%s of test pictures, such as %s", count,
        count == 1 ? " that is a copy" : "s that are copies", train->files[example].path);
    keep(is_no_copy, train, out->train.pixels, row, &out->train.files->resident);
    return status;
}

static vit_status read_parts(vit_dataset *out, vit_tree *tree, left_out *l, const char *path,
                             const vit_dataset_options *o, vit_error *error) {
    size_t cache = o->cache > 0 ? o->cache : VIT_DATASET_CACHE;
    vit_preparation chosen;
    vit_status status = measure_parts(out, tree, l, o, error);
    if (status == VIT_OK) status = check_parts(tree, l, path, o, error);
    if (status == VIT_OK && !o->preparation) status = vit_tree_choose(&chosen, tree, o, error);
    if (status != VIT_OK) return status;
    describe(out, tree, o->preparation ? o->preparation : &chosen);
    if (out->unrounded) cache = 0;
    const size_t pictures = tree->train.count + tree->val.count + tree->test.count;
    if (tree->is_measured && cache / (out->height * out->width * out->channels) < pictures)
        cache = 0;
    status = prepare_part(&out->train, out, tree, &tree->train, &cache, l, o->threads, error);
    if (status == VIT_OK)
        status = prepare_part(&out->val, out, tree, &tree->val, &cache, l, o->threads, error);
    if (status == VIT_OK)
        status = prepare_part(&out->test, out, tree, &tree->test, &cache, l, o->threads, error);
    if (status == VIT_OK) choose_again(out, tree, o);
    if (status == VIT_OK) status = correct(out, tree, path, o, error);
    if (status == VIT_OK && tree->is_shared_out && tree->train.count > 0 && tree->test.count > 0 &&
        !out->test_is)
        status = leave_copies_out(out, tree, o->threads, error);
    if (status == VIT_OK) status = check_parts(tree, l, path, o, error);
    return status;
}

static vit_status finish(vit_dataset *out, vit_tree *tree, left_out *l, const char *path,
                         bool multi_label, vit_error *error) {
    const vit_tree_part *first = first_part(tree);
    if (!out->checksum[0]) hash_part(out->checksum, first, true);
    const bool in_shards = tree->shards;
    vit_status status = vit_tree_note_source(out, tree, multi_label, error);
    if (status == VIT_OK && !in_shards) status = vit_tree_note_inner(out, tree, first, error);
    if (status == VIT_OK) status = vit_tree_note_names(out, tree, error);
    if (status == VIT_OK)
        status = hand_over(&out->train, &tree->train, in_shards, multi_label, error);
    if (status == VIT_OK) status = hand_over(&out->val, &tree->val, in_shards, multi_label, error);
    if (status == VIT_OK)
        status = hand_over(&out->test, &tree->test, in_shards, multi_label, error);
    if (status == VIT_OK && tree->test_is_val) {
        vit_records_free(&out->test); /* none, but labels and paths are arrays of 0 */
        out->test = out->val;
        out->test_is_val = true;
    }
    if (status == VIT_OK) status = vit_tree_note_layout(out, tree, path, error);
    if (status == VIT_OK) status = note_left_out(out, l, error);
    return status;
}

vit_status vit_tree_open(vit_dataset *out, vit_tree *tree, const char *path,
                         const vit_dataset_options *o, vit_error *error) {
    left_out l = {0};
    out->kernels = o->kernels;
    out->shard_files = tree->shards;
    vit_status status = read_parts(out, tree, &l, path, o, error);
    if (status == VIT_OK) status = finish(out, tree, &l, path, o->multi_label, error);
    if (status == VIT_OK) status = vit_duplicates_note(out, o->threads, error);
    if (status == VIT_OK && o->finds_copies) status = vit_duplicates_group(out, o->threads, error);
    if (out->label_memory) tree->classes = NULL; /* they belong to the set now */
    tree->shards = NULL;
    for (size_t i = VIT_UNREADABLE_NAMED; o->unreadable && i < l.count; i++)
        o->unreadable(l.problems[i], o->user);
    vit_names_free(l.problems, l.count);
    return status;
}
