#include "datasets/shards/pack.h"
#include "datasets/shards/shard_files.h"
#include "datasets/shards/shards.h"
#include "vit/base/parallel.h"
#include "vit/formats/sha256.h"
#include "vit/image/codec/decode.h"
#include "vit/image/codec/source.h"

#include <ctype.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <zlib.h>

#define ALL (VIT_PART_TRAIN | VIT_PART_VAL | VIT_PART_TEST)

static uint32_t crc_of(const vit_bytes *bytes) {
    return (uint32_t)crc32_z(0, bytes->data, bytes->size);
}

/* ---- checking every picture ---- */

typedef struct check {
    vit_tree_part *part;
    vit_shard_files *shards; /* NULL: files */
    const vit_pack_options *options;
    atomic_size_t *done; /* pictures of all parts */
    size_t total;
} check;

static void check_picture(check *c, size_t index) {
    vit_tree_file *file = &c->part->files[index];
    vit_bytes bytes;
    vit_error error;
    vit_image image;
    if (file->problem) return;
    file->status =
        vit_picture_read(&bytes, c->shards, file->path, c->shards ? &file->place : NULL, &error);
    if (file->status == VIT_OK)
        file->status = vit_image_decode(&image, bytes.data, bytes.size, file->path, &error);
    if (file->status == VIT_OK) {
        vit_sha256_digest(file->digest, bytes.data, bytes.size);
        file->place.crc = crc_of(&bytes);
        file->place.size = (uint32_t)bytes.size;
        vit_image_free(&image);
        /* The size that the file tells, before it is turned. */
        file->status = vit_image_measure(&file->width, &file->height, bytes.data, bytes.size,
                                         file->path, &error);
    }
    vit_free(bytes.data);
    if (file->status == VIT_OK || file->status == VIT_ERROR_MEMORY) return;
    file->problem = vit_strdup(error.message);
    if (!file->problem) file->status = VIT_ERROR_MEMORY;
}

static void check_task(size_t index, int thread, void *context) {
    check *c = context;
    const vit_pack_options *o = c->options;
    check_picture(c, index);
    const size_t done = atomic_fetch_add(c->done, 1) + 1;
    if (thread == 0 && o->progress) o->progress(false, done, c->total, o->user);
}

/* Decodes the pictures of a part, and drops those that cannot be read. */
static vit_status check_part(vit_packed *out, vit_tree_part *part, check c, vit_error *error) {
    const vit_pack_options *o = c.options;
    size_t kept = 0;
    c.part = part;
    vit_parallel(o->threads > 0 ? o->threads : 1, part->count, check_task, &c);
    for (size_t i = 0; i < part->count; i++)
        if (part->files[i].status == VIT_ERROR_MEMORY)
            return vit_fail(error, VIT_ERROR_MEMORY, "out of memory for the picture %s",
                            part->files[i].path);
    for (size_t i = 0; i < part->count; i++) {
        vit_tree_file *file = &part->files[i];
        if (!file->problem) {
            part->files[kept++] = *file;
            continue;
        }
        out->left_out++;
        if (o->unreadable) o->unreadable(file->problem, o->user);
        vit_tree_file_free(file);
    }
    part->count = kept;
    return VIT_OK;
}

static vit_status check_all(vit_packed *out, vit_tree *tree, const vit_pack_options *o,
                            vit_error *error) {
    vit_string strays = {0};
    atomic_size_t done;
    const check c = {.shards = tree->shards,
                     .options = o,
                     .done = &done,
                     .total = tree->train.count + tree->val.count + tree->test.count};
    atomic_init(&done, 0);
    vit_status status = check_part(out, &tree->train, c, error);
    out->left_out += tree->strays;
    if (tree->strays > 0 && o->unreadable) {
        vit_string_add(&strays, "%s: lies beside the classes", tree->stray);
        if (tree->strays > 1) vit_string_add(&strays, ", as %zu more do", tree->strays - 1);
        if (!strays.failed) o->unreadable(strays.text, o->user);
        vit_string_free(&strays);
    }
    if (status == VIT_OK) status = check_part(out, &tree->val, c, error);
    if (status == VIT_OK) status = check_part(out, &tree->test, c, error);
    if (status != VIT_OK) return status;
    out->train = tree->train.count;
    out->val = tree->val.count;
    out->test = tree->test.count;
    out->classes = tree->class_count;
    if (out->train + out->val + out->test > 0) return VIT_OK;
    return vit_fail(error, VIT_ERROR_FORMAT, "%s: holds no pictures that can be read%s%s%s",
                    o->data,
                    tree->shards ? "" : ", expected a folder for each class, or a table of them",
                    tree->no_table ? "; " : "", tree->no_table ? tree->no_table : "");
}

/* ---- names of members ---- */

/* The ending of a picture's name, by its content. */
static vit_status ending_of(char ending[16], const vit_bytes *bytes, const char *path,
                            vit_error *error) {
    vit_image_file file;
    const vit_status status = vit_image_open(&file, bytes->data, bytes->size, path, error);
    if (status != VIT_OK) return status;
    snprintf(ending, 16, "%s", file.jpeg ? "jpg" : file.png ? "png" : file.format->name);
    for (char *c = ending; *c; c++) *c = (char)tolower((unsigned char)*c);
    vit_image_close(&file);
    return VIT_OK;
}

/* Appends FOLDER/NUMBER_NAME, of the file's name without its ending: the number makes it the only
 * one. Dots in NAME, which would end the key, and control characters become '_'. */
static void add_key(vit_string *key, const vit_tree_file *file, size_t number) {
    const char *name = file->path + file->name, *last = vit_path_last(name);
    const char *dot = strrchr(last, '.');
    const size_t length = dot && dot > last ? (size_t)(dot - last) : strlen(last);
    vit_string_add_bytes(key, name, (size_t)(last - name));
    vit_string_add(key, "%08zu_", number);
    const size_t from = key->length;
    vit_string_add_bytes(key, last, length);
    for (size_t i = 0; !key->failed && i < key->length; i++) {
        const uint8_t c = (uint8_t)key->text[i];
        if (c < 32 || c == 127 || (c == '.' && i >= from)) key->text[i] = '_';
    }
    /* "__x__" would be no sample's. */
    if (!key->failed && strncmp(key->text, "__", 2) == 0) key->text[0] = '-';
}

/* ---- writing shards ---- */

typedef struct packing {
    const vit_pack_options *o;
    vit_packed *out;
    char *place;       /* OUT.unfinished */
    vit_string index;  /* of all shards that are complete */
    vit_string rows;   /* of the current one */
    vit_string sample; /* bytes of a sample */
    vit_string names;  /* of the files that were written, each ended by 0 */
    vit_writer *writer;
    char shard[32]; /* its name */
    uint64_t size;  /* bytes that it has */
    size_t pictures;
    size_t number;         /* of the next shard of the part */
    size_t written, total; /* pictures */
} packing;

static vit_status add_member(vit_string *sample, const char *key, const char *ending,
                             const void *data, size_t size, vit_error *error) {
    static const char zeros[VIT_TAR_BLOCK] = {0};
    vit_string name = {0};
    vit_string_add(&name, "%s.%s", key, ending);
    if (!name.failed) vit_tar_put_header(sample, name.text, size);
    vit_string_add_bytes(sample, data, size);
    vit_string_add_bytes(sample, zeros, vit_tar_padding(size));
    const bool failed = name.failed || sample->failed;
    vit_string_free(&name);
    return failed ? vit_fail_memory(error, "a picture", size) : VIT_OK;
}

static vit_status path_of(char **path, packing *p, const char *name, vit_error *error) {
    *path = vit_path_join(p->place, name);
    vit_string_add_bytes(&p->names, name, strlen(name) + 1);
    return *path && !p->names.failed ? VIT_OK : vit_fail_memory(error, "a path", strlen(name));
}

/* Ends the shard that is being written, if there is one. */
static vit_status end_shard(packing *p, vit_error *error) {
    static const char zeros[2 * VIT_TAR_BLOCK] = {0};
    if (!p->writer) return VIT_OK;
    vit_status status = vit_writer_put(p->writer, zeros, sizeof zeros, error);
    if (status == VIT_OK) {
        status = vit_writer_commit(p->writer, error);
        p->writer = NULL;
    }
    if (status != VIT_OK) return status;
    p->size += sizeof zeros;
    vit_shards_index_shard(&p->index, p->shard, p->size, p->pictures);
    if (p->rows.length > 0) vit_string_add_bytes(&p->index, p->rows.text, p->rows.length);
    p->rows.length = 0;
    p->out->bytes += p->size;
    p->out->shards++;
    return p->index.failed ? vit_fail_memory(error, "the index", p->index.capacity) : VIT_OK;
}

static vit_status begin_shard(packing *p, const char *part, vit_error *error) {
    char *path;
    vit_status status = end_shard(p, error);
    if (status != VIT_OK) return status;
    p->size = p->pictures = 0;
    snprintf(p->shard, sizeof p->shard, "%s-%06zu.tar", part, p->number++);
    status = path_of(&path, p, p->shard, error);
    if (status == VIT_OK) status = vit_writer_open(&p->writer, path, error);
    vit_free(path);
    return status;
}

/* sample = the members of one picture; *row tells of it, with its offset in the sample. */
static vit_status make_sample(packing *p, vit_shard_row *row, vit_string *member,
                              const vit_tree_file *file, size_t number, vit_error *error) {
    char ending[16] = "", class[16];
    vit_bytes bytes;
    vit_status status = vit_read_regular(&bytes, file->path, VIT_IMAGE_MAX_FILE, error);
    if (status == VIT_OK && (bytes.size != file->place.size || crc_of(&bytes) != file->place.crc))
        status =
            vit_fail(error, VIT_ERROR_IO, "%s: was changed while it was being packed", file->path);
    if (status == VIT_OK) status = ending_of(ending, &bytes, file->path, error);
    member->length = p->sample.length = 0;
    add_key(member, file, number);
    if (status == VIT_OK && member->failed) status = vit_fail_memory(error, "a name", 256);
    if (status == VIT_OK)
        status = add_member(&p->sample, member->text, ending, bytes.data, bytes.size, error);
    row->offset = p->sample.length - bytes.size - vit_tar_padding(bytes.size);
    snprintf(class, sizeof class, "%u\n", (unsigned)file->label);
    if (status == VIT_OK)
        status = add_member(&p->sample, member->text, "cls", class, strlen(class), error);
    vit_string_add(member, ".%s", ending);
    vit_free(bytes.data);
    return status;
}

static vit_status pack_picture(packing *p, const char *part, const vit_tree_file *file,
                               size_t number, vit_error *error) {
    vit_string member = {0};
    char class[16];
    snprintf(class, sizeof class, "%u", (unsigned)file->label);
    vit_shard_row row = {.class = class,
                         .size = file->place.size,
                         .width = file->width,
                         .height = file->height,
                         .crc = file->place.crc,
                         .digest = file->digest};
    vit_status status = make_sample(p, &row, &member, file, number, error);
    const uint64_t size = p->size + p->sample.length + 2 * VIT_TAR_BLOCK;
    if (status == VIT_OK && (!p->writer || (p->pictures > 0 && size > p->o->bytes)))
        status = begin_shard(p, part, error);
    if (status == VIT_OK)
        status = vit_writer_put(p->writer, p->sample.text, p->sample.length, error);
    if (status == VIT_OK) {
        row.member = member.text;
        row.offset += p->size;
        vit_shards_index_picture(&p->rows, &row);
        p->size += p->sample.length;
        p->pictures++;
        p->written++;
        if (p->o->progress) p->o->progress(true, p->written, p->total, p->o->user);
    }
    if (status == VIT_OK && (member.failed || p->rows.failed))
        status = vit_fail_memory(error, "the index", p->rows.capacity);
    vit_string_free(&member);
    return status;
}

/* Writes the pictures of a part, shuffled. */
static vit_status pack_part(packing *p, const char *name, const vit_tree_part *part,
                            uint32_t number, vit_error *error) {
    const size_t count = part->count;
    if (count > UINT32_MAX)
        return vit_fail(error, VIT_ERROR_UNSUPPORTED, "%zu pictures, expected at most %u", count,
                        UINT32_MAX);
    uint32_t *order = vit_alloc(count, sizeof *order);
    vit_status status = order ? VIT_OK : vit_fail_memory(error, "an order", count * sizeof *order);
    if (status != VIT_OK) return status;
    for (size_t i = 0; i < count; i++) order[i] = (uint32_t)i;
    vit_random r = vit_random_start(p->o->seed, VIT_RANDOM_PACK, number, 0);
    vit_random_shuffle(&r, order, (uint32_t)count);
    p->number = 0;
    for (size_t i = 0; i < count && status == VIT_OK; i++)
        status = pack_picture(p, name, &part->files[order[i]], order[i], error);
    if (status == VIT_OK) status = end_shard(p, error);
    vit_free(order);
    return status;
}

static vit_status write_text(packing *p, const char *name, const vit_string *text,
                             vit_error *error) {
    char *path;
    if (text->failed) return vit_fail_memory(error, name, text->capacity);
    vit_status status = path_of(&path, p, name, error);
    if (status == VIT_OK) status = vit_write_file(path, text->text, text->length, error);
    vit_free(path);
    return status;
}

static vit_status write_classes(packing *p, const vit_tree *tree, vit_error *error) {
    vit_string text = {0};
    vit_status status = VIT_OK;
    for (size_t i = 0; i < tree->class_count && status == VIT_OK; i++) {
        vit_string_add(&text, "%s\n", tree->classes[i]);
        if (!vit_shards_index_takes(tree->classes[i]))
            status = vit_fail(error, VIT_ERROR_UNSUPPORTED,
                              "%s: the name of class %zu has control characters", p->o->data, i);
    }
    if (status == VIT_OK) status = write_text(p, "classes.txt", &text, error);
    vit_string_free(&text);
    return status;
}

static vit_status write_all(packing *p, const vit_tree *tree, vit_error *error) {
    vit_shards_index_begin(&p->index);
    vit_status status = write_classes(p, tree, error);
    if (status == VIT_OK) status = pack_part(p, "test", &tree->test, 2, error);
    if (status == VIT_OK) status = pack_part(p, "train", &tree->train, 0, error);
    if (status == VIT_OK) status = pack_part(p, "val", &tree->val, 1, error);
    vit_shards_index_end(&p->index);
    if (status == VIT_OK) status = write_text(p, VIT_SHARDS_INDEX, &p->index, error);
    return status == VIT_OK ? vit_rename_file(p->place, p->o->out, error) : status;
}

/* Removes what was written, after a failure. */
static void remove_all(packing *p) {
    vit_error ignored;
    vit_writer_abort(p->writer);
    for (size_t at = 0; at < p->names.length; at += strlen(p->names.text + at) + 1) {
        char *path = vit_path_join(p->place, p->names.text + at);
        if (path) vit_remove_file(path, &ignored);
        vit_free(path);
    }
    vit_remove_directory(p->place, &ignored);
}

/* Nothing is overwritten: the directory must be missing or empty, and no other run at work. */
static vit_status check_place(const packing *p, vit_error *error) {
    char **names = NULL;
    size_t count = 0;
    bool exists, other = false;
    vit_status status = vit_path_exists(&exists, p->o->out, error);
    if (status == VIT_OK && exists) status = vit_list_directory(&names, &count, p->o->out, error);
    vit_free(names);
    if (status == VIT_OK && count > 0)
        return vit_fail(error, VIT_ERROR_IO,
                        "%s: is there already, and not empty: nothing is overwritten", p->o->out);
    if (status == VIT_OK) status = vit_path_exists(&other, p->place, error);
    if (status != VIT_OK || !other) return status;
    return vit_fail(error, VIT_ERROR_IO,
                    "%s: is there already: another vit-pack is at work, or one did not end; then "
                    "remove it (rm -r)",
                    p->place);
}

/* place = OUT.unfinished; slashes at the end of OUT are dropped. */
static char *place_of(const char *out) {
    size_t length = strlen(out);
    vit_string place = {0};
    while (length > 1 && out[length - 1] == '/') length--;
    vit_string_add_bytes(&place, out, length);
    vit_string_add(&place, VIT_SHARDS_UNFINISHED);
    return place.text;
}

vit_status vit_pack(vit_packed *out, const vit_pack_options *o, vit_error *error) {
    vit_tree tree = {0};
    const vit_table_options tables = {.class_column = o->class_column};
    packing p = {.o = o, .out = out, .place = place_of(o->out)};
    *out = (vit_packed){0};
    if (!p.place) return vit_fail_memory(error, "a path", strlen(o->out));
    vit_status status = check_place(&p, error);
    if (status == VIT_OK) status = vit_tree_scan(&tree, o->data, ALL, &tables, error);
    if (status == VIT_OK) status = check_all(out, &tree, o, error);
    p.total = out->train + out->val + out->test;
    if (status == VIT_OK) {
        status = vit_make_directories(p.place, error);
        if (status == VIT_OK) status = write_all(&p, &tree, error);
        if (status != VIT_OK) remove_all(&p);
    }
    vit_tree_free(&tree);
    vit_string_free(&p.index);
    vit_string_free(&p.rows);
    vit_string_free(&p.sample);
    vit_string_free(&p.names);
    vit_free(p.place);
    return status;
}

/* ---- the index of shards that are there ---- */

/* Appends a shard and its pictures; *at: how many of each part's pictures were before it. */
static void add_shard(vit_string *index, const vit_shard_scan *scan, size_t shard, size_t at[3]) {
    const vit_tree *tree = scan->tree;
    const vit_tree_part *parts[] = {&tree->train, &tree->val, &tree->test};
    const char *name = vit_path_last(vit_shard_files_path(tree->shards, shard));
    size_t from = 0, to = 0, which = 0;
    for (size_t k = 0; k < 3 && from == to; k++) {
        const vit_tree_part *part = parts[k];
        for (from = to = at[k]; to < part->count && part->files[to].place.shard == shard;) to++;
        at[k] = to;
        which = k;
    }
    vit_shards_index_shard(index, name, vit_shard_files_size(tree->shards, shard), to - from);
    for (size_t i = from; i < to; i++) {
        const vit_tree_file *file = &parts[which]->files[i];
        const vit_shard_row row = {.member = file->path + file->name + strlen(name) + 1,
                                   .class = vit_class_texts_get(&scan->texts, file->label),
                                   .offset = file->place.offset,
                                   .size = file->place.size,
                                   .width = file->width,
                                   .height = file->height,
                                   .crc = file->place.crc,
                                   .digest = file->digest};
        vit_shards_index_picture(index, &row);
    }
}

static vit_status write_index(vit_packed *out, const vit_shard_scan *scan, vit_error *error) {
    vit_string text = {0};
    size_t at[3] = {0};
    char *path = vit_path_join(scan->directory->path, VIT_SHARDS_INDEX);
    out->shards = vit_shard_files_count(scan->tree->shards);
    vit_shards_index_begin(&text);
    for (size_t i = 0; i < out->shards; i++) {
        add_shard(&text, scan, i, at);
        out->bytes += vit_shard_files_size(scan->tree->shards, i);
    }
    vit_shards_index_end(&text);
    const vit_status status = path && !text.failed
                                  ? vit_write_file(path, text.text, text.length, error)
                                  : vit_fail_memory(error, "the index", text.capacity);
    vit_string_free(&text);
    vit_free(path);
    return status;
}

vit_status vit_pack_index(vit_packed *out, const vit_pack_options *o, vit_error *error) {
    vit_tree tree = {0};
    vit_listing directory = {.path = o->data};
    vit_shard_scan scan = {.directory = &directory, .tree = &tree};
    char **names = NULL;
    *out = (vit_packed){0};
    vit_status status = vit_list_directory(&names, &directory.count, o->data, error);
    directory.names = names;
    size_t shards = 0;
    for (size_t i = 0; status == VIT_OK && i < directory.count; i++)
        shards += vit_shards_is(names[i]);
    if (status == VIT_OK && shards == 0)
        status = vit_fail(error, VIT_ERROR_IO, "%s: has no shards, expected NAME-000000.tar, ...",
                          o->data);
    if (status == VIT_OK) status = vit_shards_list(&scan, ALL, false, error);
    if (status == VIT_OK) status = check_all(out, &tree, o, error);
    out->classes = scan.texts.count;
    if (status == VIT_OK) status = write_index(out, &scan, error);
    vit_class_texts_free(&scan.texts);
    vit_tree_free(&tree);
    vit_free(names);
    return status;
}
