/* Reads the shards of a directory, NAME-000000.tar, one after the other. The first pass goes from
 * header to header and reads classes alone; pictures are then measured and prepared as those of
 * folders (datasets/folders/tree_open.c). */
#include "datasets/shards/shards.h"
#include "datasets/shards/shard_files.h"
#include "vit/base/size.h"
#include "vit/image/codec/decode.h"

#include <string.h>
#include <strings.h>

/* ---- which files are shards ---- */

bool vit_shards_is(const char *name) {
    const size_t length = strlen(name);
    return vit_name_is_wanted(name) && vit_has_ending(name, ".tar") && length > 4 &&
           name[length - 5] >= '0' && name[length - 5] <= '9';
}

static bool probe(const vit_listing *directory) {
    for (size_t i = 0; i < directory->count; i++)
        if (vit_shards_is(directory->names[i])) return true;
    return false;
}

vit_status vit_shard_part(unsigned *part, const char *directory, const char *name,
                          vit_error *error) {
    bool several;
    switch (vit_tree_kind_within(&several, name)) {
    case VIT_TREE_VAL:
        *part = VIT_PART_VAL;
        return VIT_OK;
    case VIT_TREE_TEST:
        *part = VIT_PART_TEST;
        return VIT_OK;
    case VIT_TREE_TRAIN:
    case VIT_TREE_KINDS:
        *part = VIT_PART_TRAIN;
    }
    if (!several) return VIT_OK;
    return vit_fail(error, VIT_ERROR_FORMAT,
                    "%s/%s: is it for training, validation or test? Its name says several",
                    directory, name);
}

/* ---- a scan ---- */

vit_status vit_shard_scan_next(vit_shard_scan *s, const char *name, uint64_t size,
                               vit_error *error) {
    unsigned part;
    vit_status status = vit_shard_part(&part, s->directory->path, name, error);
    if (status != VIT_OK) return status;
    char *path = vit_path_join(s->directory->path, name);
    if (!path) return vit_fail_memory(error, "a path", strlen(name));
    if (s->shard) s->number++;
    s->shard = name;
    s->part = part == VIT_PART_TRAIN ? &s->tree->train
              : part == VIT_PART_VAL ? &s->tree->val
                                     : &s->tree->test;
    return vit_shard_files_add(s->tree->shards, path, size, error);
}

vit_status vit_shard_scan_add(vit_tree_file **file, vit_shard_scan *s, const char *member,
                              const char *class, const char *problem, vit_error *error) {
    uint16_t id = 0;
    vit_string path = {0};
    vit_status status = problem ? VIT_OK : vit_class_texts_add(&id, &s->texts, class, error);
    if (status != VIT_OK) return status;
    vit_string_add(&path, "%s/", s->directory->path);
    const size_t name = path.length;
    vit_string_add(&path, "%s/%s", s->shard, member);
    if (path.failed) return vit_fail_memory(error, "a path", strlen(member));
    status = vit_tree_add(s->part, path.text, name, id, problem, error);
    if (status != VIT_OK) return status;
    *file = &s->part->files[s->part->count - 1];
    (*file)->place.shard = s->number;
    if (problem) (*file)->label = UINT16_MAX; /* it counts for no class */
    return VIT_OK;
}

/* ---- samples of an archive ---- */

#define LARGEST_CLASS 1024
#define LARGEST_JSON ((size_t)1 << 20)

/* The members of a sample so far. */
typedef struct sample {
    vit_string key;     /* their name without its ending; empty: there are none yet */
    vit_string picture; /* the name of the picture; empty: there is none */
    vit_string class;   /* of KEY.cls, or of KEY.json */
    bool has_class, has_cls;
    uint64_t offset, size; /* of the picture */
    const char *problem;   /* why it is left out, or NULL */
} sample;

typedef struct archive {
    vit_shard_scan *scan;
    vit_tar tar;
    int file;
    sample sample;
    size_t samples; /* with a picture and a class */
} archive;

static vit_status read_archive(void *data, size_t size, uint64_t offset, const void *context,
                               vit_error *error) {
    const archive *a = context;
    return vit_file_read(data, size, a->file, offset, a->tar.path, error);
}

/* *text = the bytes of a member, without white space around them. */
static vit_status read_text(vit_string *text, const archive *a, const vit_tar_member *m,
                            vit_error *error) {
    char *bytes = vit_alloc((size_t)m->size + 1, 1);
    if (!bytes) return vit_fail_memory(error, "a class", (size_t)m->size);
    const vit_status status = read_archive(bytes, (size_t)m->size, m->offset, a, error);
    const char *begin = bytes + strspn(bytes, " \t\r\n");
    size_t length = strlen(begin);
    while (length > 0 && strchr(" \t\r\n", begin[length - 1])) length--;
    text->length = 0;
    if (status == VIT_OK) vit_string_add_bytes(text, begin, length);
    vit_free(bytes);
    return text->failed ? vit_fail_memory(error, "a class", (size_t)m->size) : status;
}

/* The class of KEY.json: {"label": 3} or {"label": "cat"}; other JSON says nothing. */
static vit_status take_json(archive *a, const vit_tar_member *m, vit_error *error) {
    sample *s = &a->sample;
    vit_string text = {0};
    json_t *object = NULL;
    vit_status status = read_text(&text, a, m, error);
    if (status != VIT_OK) return status;
    if (vit_json_parse(&object, text.text, text.length, m->name, NULL) == VIT_OK) {
        const json_t *label = json_object_get(object, "label");
        s->class.length = 0;
        s->has_class =
            json_is_string(label) || (json_is_integer(label) && json_integer_value(label) >= 0);
        if (json_is_string(label)) vit_string_add(&s->class, "%s", json_string_value(label));
        if (json_is_integer(label))
            vit_string_add(&s->class, "%lld", (long long)json_integer_value(label));
        if (s->class.failed) status = vit_fail_memory(error, "a class", text.length);
    }
    json_decref(object);
    vit_string_free(&text);
    return status;
}

/* Takes a member of the sample, whose name ends so. */
static vit_status take_member(archive *a, const vit_tar_member *m, const char *ending,
                              vit_error *error) {
    sample *s = &a->sample;
    const bool is_class = strcasecmp(ending, "cls") == 0;
    if (vit_ends_as_picture(ending)) {
        if (s->picture.length > 0) s->problem = "its sample has two pictures";
        if (m->size > UINT32_MAX) s->problem = "has more than 4 GiB";
        s->picture.length = 0;
        vit_string_add(&s->picture, "%s", m->name);
        s->offset = m->offset;
        s->size = m->size;
        return s->picture.failed ? vit_fail_memory(error, "a name", strlen(m->name)) : VIT_OK;
    }
    if (is_class && m->size <= LARGEST_CLASS) {
        s->has_class = s->has_cls = true;
        return read_text(&s->class, a, m, error);
    }
    if (is_class) s->problem = "its .cls is too long: expected a number or a name";
    if (strcasecmp(ending, "json") == 0 && !s->has_cls && m->size <= LARGEST_JSON)
        return take_json(a, m, error);
    return VIT_OK;
}

/* Adds the sample to the tree, and begins a new one. */
static vit_status end_sample(archive *a, vit_error *error) {
    sample *s = &a->sample;
    vit_tree_file *file;
    vit_status status = VIT_OK;
    if (s->picture.length > 0) {
        if (!s->problem && !s->has_class)
            s->problem = "its class is not told: expected KEY.cls, or KEY.json with \"label\"";
        if (!s->problem && !vit_shards_index_takes(s->class.text))
            s->problem = "its class is empty, or has control characters";
        if (!s->problem) a->samples++;
        status =
            vit_shard_scan_add(&file, a->scan, s->picture.text, s->class.text, s->problem, error);
        if (status == VIT_OK) {
            file->place.offset = s->offset;
            file->place.size = (uint32_t)s->size;
        }
    }
    s->key.length = s->picture.length = s->class.length = 0;
    s->has_class = s->has_cls = false;
    s->problem = NULL;
    return status;
}

/* Whether the first part of a name is __x__, which says of an archive, not of a sample. */
static bool is_meta(const char *name) {
    const size_t length = strcspn(name, "/");
    return length >= 4 && strncmp(name, "__", 2) == 0 && strncmp(name + length - 2, "__", 2) == 0;
}

/* The ending of a name, behind the first dot of its last part; NULL: it has none, or is not part of
 * a sample: hidden, or WebDataset's __x__. */
static const char *ending_of(const char *name) {
    const char *last = vit_path_last(name), *dot = strchr(last, '.');
    return !dot || dot == last || !vit_name_is_wanted(last) || is_meta(name) ? NULL : dot + 1;
}

static vit_status take_next(archive *a, const vit_tar_member *m, vit_error *error) {
    sample *s = &a->sample;
    const char *ending = ending_of(m->name);
    vit_status status = VIT_OK;
    if (!ending) return VIT_OK;
    const size_t length = (size_t)(ending - m->name) - 1;
    if (s->key.length != length || strncmp(s->key.text, m->name, length) != 0) {
        status = end_sample(a, error);
        vit_string_add_bytes(&s->key, m->name, length);
        if (s->key.failed) status = vit_fail_memory(error, "a name", length);
    }
    return status == VIT_OK ? take_member(a, m, ending, error) : status;
}

/* Goes through one shard. */
static vit_status scan_shard(vit_shard_scan *scan, const char *name, size_t *samples,
                             vit_error *error) {
    char *path = vit_path_join(scan->directory->path, name);
    archive a = {.scan = scan, .file = -1};
    vit_tar_member m;
    if (!path) return vit_fail_memory(error, "a path", strlen(name));
    a.tar = (vit_tar){.path = path, .read = read_archive, .context = &a};
    vit_status status = vit_file_open(&a.file, &a.tar.size, path, error);
    if (status == VIT_OK) status = vit_shard_scan_next(scan, name, a.tar.size, error);
    do {
        if (status == VIT_OK) status = vit_tar_next(&a.tar, &m, error);
        if (status == VIT_OK && m.name) status = take_next(&a, &m, error);
    } while (status == VIT_OK && m.name);
    if (status == VIT_OK) status = end_sample(&a, error);
    *samples += a.samples;
    vit_tar_close(&a.tar);
    vit_file_close(a.file);
    vit_string_free(&a.sample.key);
    vit_string_free(&a.sample.picture);
    vit_string_free(&a.sample.class);
    vit_free(path);
    return status;
}

/* ---- the directory ---- */

/* Which parts there are, by the names of all shards. */
static vit_status look(vit_tree *tree, const vit_listing *directory, vit_error *error) {
    unsigned have = 0;
    for (size_t i = 0; i < directory->count; i++) {
        unsigned part = 0;
        if (!vit_shards_is(directory->names[i])) continue;
        const vit_status status =
            vit_shard_part(&part, directory->path, directory->names[i], error);
        if (status != VIT_OK) return status;
        have |= part;
    }
    tree->has_train = have & VIT_PART_TRAIN;
    tree->has_val = have & VIT_PART_VAL;
    tree->test_is_val = !(have & VIT_PART_TEST) && tree->has_val;
    tree->is_shared_out = have == VIT_PART_TRAIN;
    return VIT_OK;
}

/* Goes through the shards of the parts that are wanted. */
static vit_status scan_archives(vit_shard_scan *scan, unsigned wanted, vit_error *error) {
    const vit_listing *l = scan->directory;
    vit_status status = VIT_OK;
    size_t samples = 0;
    for (size_t i = 0; i < l->count && status == VIT_OK; i++) {
        unsigned part = 0;
        if (!vit_shards_is(l->names[i])) continue;
        status = vit_shard_part(&part, l->path, l->names[i], error);
        if (status == VIT_OK && part & wanted)
            status = scan_shard(scan, l->names[i], &samples, error);
    }
    if (status == VIT_OK && samples == 0)
        return vit_fail(error, VIT_ERROR_FORMAT,
                        "%s: its tar files hold no samples, expected KEY.jpg and KEY.cls for each "
                        "picture; archives of something else are unpacked first (tar xf)",
                        l->path);
    return status;
}

vit_status vit_shards_list(vit_shard_scan *scan, unsigned parts, bool reads_index,
                           vit_error *error) {
    char name[256];
    vit_tree *tree = scan->tree;
    const vit_listing *l = scan->directory;
    unsigned wanted = parts;
    vit_path_name(name, sizeof name, l->path);
    if (vit_has_ending(name, VIT_SHARDS_UNFINISHED))
        return vit_fail(error, VIT_ERROR_FORMAT,
                        "%s: is what a vit-pack left that did not end; remove it, and pack again",
                        l->path);
    vit_status status = look(tree, l, error);
    if (status == VIT_OK) status = vit_shard_files_new(&tree->shards, error);
    if (status != VIT_OK) return status;
    if (parts & VIT_PART_VAL && !tree->has_val) wanted |= VIT_PART_TRAIN;
    if (parts & VIT_PART_TEST && tree->test_is_val) wanted |= VIT_PART_VAL;
    if (tree->is_shared_out) wanted |= VIT_PART_TRAIN;
    tree->is_measured = reads_index && vit_listing_has(l, VIT_SHARDS_INDEX);
    return tree->is_measured ? vit_shards_read_index(scan, wanted, error)
                             : scan_archives(scan, wanted, error);
}

static vit_status scan(vit_tree *out, const vit_listing *directory, unsigned parts,
                       vit_error *error) {
    vit_shard_scan scan = {.directory = directory, .tree = out};
    *out = (vit_tree){0};
    vit_status status = vit_shards_list(&scan, parts, true, error);
    if (status == VIT_OK) status = vit_class_texts_resolve(&scan.texts, out, directory, error);
    if (status == VIT_OK && out->is_shared_out) status = vit_tree_share_out(out, error);
    if (!(parts & VIT_PART_TEST)) vit_tree_part_free(&out->test);
    vit_class_texts_free(&scan.texts);
    return status;
}

static vit_status read_shards(vit_dataset *out, const vit_listing *directory,
                              const vit_dataset_options *options, vit_error *error) {
    vit_tree tree;
    vit_status status = scan(&tree, directory, options->need | options->want, error);
    if (status == VIT_OK) status = vit_tree_open(out, &tree, directory->path, options, error);
    vit_tree_free(&tree);
    return status;
}

const vit_reader vit_reader_shards = {
    .named = true,
    .expects = "shards of pictures (train-000000.tar, ...)",
    .probe = probe,
    .read = read_shards,
};

const vit_shard_reader vit_tar_files = {vit_shard_files_read, vit_shard_files_free};
