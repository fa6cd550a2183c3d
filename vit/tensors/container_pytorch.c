/* Files by torch.save since PyTorch 1.6: a zip archive of a pickle, NAME/data.pkl, and the elements
 * of each storage, NAME/data/KEY. */
#include "vit/base/sys.h"
#include "vit/base/text.h"
#include "vit/tensors/container.h"
#include "vit/tensors/pickle.h"
#include "vit/tensors/zip.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

static const char pickle_name[] = "data.pkl";

/* Where the elements of a tensor are. */
typedef struct view {
    size_t member; /* of the archive: the storage */
    size_t offset, strides[VIT_MAX_DIMS];
} view;

typedef struct pytorch {
    vit_zip zip;
    atomic_bool *checked; /* [zip.count]: the checksum is known to be right */
    vit_tensor *tensors;  /* their names are freed with them */
    view *views;
    size_t count;
} pytorch;

/* ---- the archive ---- */

/* The member NAME/data.pkl, or NULL. */
static const vit_zip_member *find_pickle(const vit_zip *zip) {
    for (size_t i = 0; i < zip->count; i++) {
        const char *name = zip->members[i].name, *slash = strrchr(name, '/');
        if (strcmp(slash ? slash + 1 : name, pickle_name) == 0) return &zip->members[i];
    }
    return NULL;
}

static bool pytorch_probe(const uint8_t *bytes, size_t size) {
    vit_zip zip;
    if (!vit_zip_probe(bytes, size) || vit_zip_open(&zip, bytes, size, "", NULL) != VIT_OK)
        return false;
    const bool found = find_pickle(&zip) != NULL;
    vit_zip_close(&zip);
    return found;
}

/* *found = the member of that name in a folder beside the pickle, or NULL. */
static vit_status find_record(const vit_zip_member **found, const vit_zip *zip, const char *folder,
                              const char *name, size_t length, vit_error *error) {
    const vit_zip_member *pickle = find_pickle(zip);
    vit_string path = {0};
    vit_string_add_bytes(&path, pickle->name, strlen(pickle->name) - (sizeof pickle_name - 1));
    vit_string_add(&path, "%s", folder);
    vit_string_add_bytes(&path, name, length);
    *found = path.failed ? NULL : vit_zip_find(zip, path.text);
    const bool failed = path.failed;
    vit_string_free(&path);
    return failed ? vit_fail_memory(error, "the name of a record", length) : VIT_OK;
}

static vit_status check_byte_order(const vit_zip *zip, vit_error *error) {
    const vit_zip_member *member;
    char order[6];
    vit_status status = find_record(&member, zip, "", "byteorder", 9, error);
    if (status != VIT_OK || !member)
        return status; /* older files do not say; they are little-endian */
    if (member->size == sizeof order) status = vit_zip_read(member, 0, order, error);
    if (status != VIT_OK) return status;
    if (member->size == sizeof order && memcmp(order, "little", sizeof order) == 0) return VIT_OK;
    return vit_fail(error, VIT_ERROR_UNSUPPORTED,
                    "the numbers are not little-endian, others are not read");
}

/* ---- tensors ---- */

/* Whether the view is inside the storage and has at most as many elements: then the memory that is
 * allocated for it is bounded by the size of the file. */
static bool fits(const vit_tensor *t, const view *v, size_t storage_count) {
    size_t last = v->offset, step;
    if (t->count == 0) return true;
    if (t->count > storage_count) return false;
    for (size_t i = 0; i < t->dims; i++) {
        if (!vit_multiply(t->shape[i] - 1, v->strides[i], &step) || step > SIZE_MAX - last)
            return false;
        last += step;
    }
    return last < storage_count;
}

static vit_status place_view(pytorch *file, vit_tensor *t, view *v, const vit_pickle_tensor *from,
                             vit_error *error) {
    const vit_zip_member *member;
    size_t bytes;
    const vit_pickle_storage *s = &from->storage;
    vit_status status = find_record(&member, &file->zip, "data/", s->key, s->key_length, error);
    if (status != VIT_OK) return status;
    if (!member)
        return vit_fail(error, VIT_ERROR_FORMAT, "its record data/%.*s is missing",
                        s->key_length < 64 ? (int)s->key_length : 64, s->key);
    if (!vit_multiply(s->count, vit_dtype_size(s->dtype), &bytes) || bytes != member->size)
        return vit_fail(error, VIT_ERROR_FORMAT,
                        "its storage has %zu elements of %s, but its record %zu bytes", s->count,
                        vit_dtype_name(s->dtype), member->size);
    v->member = (size_t)(member - file->zip.members);
    t->count = 1;
    for (size_t i = 0; i < t->dims; i++)
        if (!vit_multiply(t->count, t->shape[i], &t->count)) t->count = SIZE_MAX;
    if (fits(t, v, s->count)) return VIT_OK;
    char shape[128];
    vit_shape_text(shape, t->shape, t->dims);
    return vit_fail(error, VIT_ERROR_FORMAT,
                    "the shape %s needs more than its storage of %zu elements", shape, s->count);
}

static vit_status add_tensor(pytorch *file, const vit_pickle *pickle, const vit_pickle_pair *pair,
                             vit_error *error) {
    const vit_pickle_tensor *from = vit_pickle_tensor_of(pickle, pair->value);
    vit_tensor *t = &file->tensors[file->count];
    view *v = &file->views[file->count];
    char *name = vit_alloc((size_t)pair->key.length + 1, 1);
    if (!name) return vit_fail_memory(error, "the name of a tensor", pair->key.length);
    memcpy(name, vit_pickle_text(pickle, pair->key), pair->key.length);
    *t = (vit_tensor){.name = name, .dtype = from->storage.dtype, .dims = from->dims};
    *v = (view){.offset = from->offset};
    memcpy(t->shape, from->shape, sizeof t->shape);
    memcpy(v->strides, from->strides, sizeof v->strides);
    file->count++;
    char shown[VIT_NAME_TEXT], prefix[VIT_NAME_TEXT + 16];
    vit_status status = VIT_OK;
    if (strlen(name) != pair->key.length)
        status = vit_fail(error, VIT_ERROR_UNSUPPORTED, "its name contains a 0 byte");
    if (status == VIT_OK) status = place_view(file, t, v, from, error);
    if (status == VIT_OK) return VIT_OK;
    snprintf(prefix, sizeof prefix, "tensor '%s'", vit_name_text(shown, name));
    return vit_fail_prefix(error, status, prefix);
}

/* ---- the dictionary ---- */

/* The keys under which training programs store the dictionary of weights, the one to prefer first:
 * where there is an average of the weights, that is the published model; so DINO's teacher. */
static const char *const folders[] = {"state_dict_ema",   "model_ema", "state_dict",
                                      "model_state_dict", "model",     "net",
                                      "teacher",          "student"};
#define STUDENTS 2 /* the last ones */

static size_t count_tensors(const vit_pickle *pickle, vit_pickle_value dict) {
    size_t count = 0;
    const vit_pickle_pair *pair = NULL;
    if (dict.kind != VIT_PICKLE_DICT) return 0;
    while ((pair = vit_pickle_next(pickle, dict, pair)))
        if (pair->key.kind == VIT_PICKLE_TEXT && pair->value.kind == VIT_PICKLE_TENSOR) count++;
    return count;
}

static bool has_key(const vit_pickle *pickle, const vit_pickle_pair *pair, const char *key) {
    return pair->key.kind == VIT_PICKLE_TEXT && pair->key.length == strlen(key) &&
           memcmp(vit_pickle_text(pickle, pair->key), key, pair->key.length) == 0;
}

/* The first keys of the root dictionary, for a message. */
static void list_keys(const vit_pickle *pickle, vit_pickle_value root, char text[200]) {
    const vit_pickle_pair *pair = NULL;
    size_t used = 0;
    *text = '\0';
    if (root.kind != VIT_PICKLE_DICT) return;
    while ((pair = vit_pickle_next(pickle, root, pair)) && used < 150) {
        if (pair->key.kind != VIT_PICKLE_TEXT) continue;
        const int length = pair->key.length < 40 ? (int)pair->key.length : 40;
        used += (size_t)snprintf(text + used, 200 - used, "%s%.*s", used ? ", " : ": it holds ",
                                 length, vit_pickle_text(pickle, pair->key));
    }
}

static const vit_pickle_pair *find_key(const vit_pickle *pickle, vit_pickle_value root,
                                       const char *key) {
    const vit_pickle_pair *pair = NULL;
    while ((pair = vit_pickle_next(pickle, root, pair)))
        if (has_key(pickle, pair, key)) return pair;
    return NULL;
}

/* Whether it holds a student and a teacher, and is not of DINO or iBOT, where the teacher is an
 * average of the student: which of the two is meant, nobody can tell. */
static bool is_unclear(const vit_pickle *pickle, vit_pickle_value root) {
    return find_key(pickle, root, "student") && find_key(pickle, root, "teacher") &&
           !find_key(pickle, root, "dino_loss") && !find_key(pickle, root, "ibot_loss");
}

/* *state = the dictionary with tensors that the root has under a known key; false: there is none.
 */
static bool find_folder(vit_pickle_value *state, const vit_pickle *pickle, vit_pickle_value root) {
    if (root.kind != VIT_PICKLE_DICT) return false;
    const size_t count = sizeof folders / sizeof *folders;
    for (size_t i = 0; i < (is_unclear(pickle, root) ? count - STUDENTS : count); i++) {
        const vit_pickle_pair *pair = find_key(pickle, root, folders[i]);
        if (!pair || count_tensors(pickle, pair->value) == 0) continue;
        *state = pair->value;
        return true;
    }
    return false;
}

/* *state = the dictionary of weights: the one under a known key, since there may be other tensors
 * beside it, such as a loss or the best accuracy; else the root. */
static vit_status find_state(vit_pickle_value *state, const vit_pickle *pickle, vit_error *error) {
    const vit_pickle_value root = vit_pickle_root(pickle);
    char keys[200];
    *state = root;
    if (find_folder(state, pickle, root) || count_tensors(pickle, root) > 0) return VIT_OK;
    if (root.kind == VIT_PICKLE_DICT && is_unclear(pickle, root))
        return vit_fail(error, VIT_ERROR_UNSUPPORTED,
                        "it holds a student and a teacher, and nothing says which is meant, as "
                        "dino_loss and ibot_loss do: in Python, torch.save(torch.load(FILE)"
                        "['teacher'], OUT)");
    list_keys(pickle, root, keys);
    return vit_fail(error, VIT_ERROR_UNSUPPORTED,
                    "expected a dictionary of tensors, or one under state_dict or model (or "
                    "state_dict_ema, model_ema, model_state_dict, net, teacher, student)%s",
                    keys);
}

static vit_status add_tensors(pytorch *file, const vit_pickle *pickle, vit_error *error) {
    vit_pickle_value state;
    const vit_pickle_pair *pair = NULL;
    vit_status status = find_state(&state, pickle, error);
    if (status != VIT_OK) return status;
    const size_t count = count_tensors(pickle, state);
    file->tensors = vit_alloc(count, sizeof *file->tensors);
    file->views = vit_alloc(count, sizeof *file->views);
    if (!file->tensors || !file->views)
        return vit_fail_memory(error, "the list of tensors", count * sizeof *file->tensors);
    while (status == VIT_OK && (pair = vit_pickle_next(pickle, state, pair)))
        if (pair->key.kind == VIT_PICKLE_TEXT && pair->value.kind == VIT_PICKLE_TENSOR)
            status = add_tensor(file, pickle, pair, error);
    return status;
}

/* ---- opening ---- */

static vit_status read_pickle(pytorch *file, vit_error *error) {
    const vit_zip_member *member = find_pickle(&file->zip);
    vit_pickle *pickle = NULL;
    if (member->size > VIT_PICKLE_MAX_SIZE)
        return vit_fail(error, VIT_ERROR_UNSUPPORTED,
                        "the pickle has %zu bytes, expected at most %zu for a dictionary of "
                        "tensors",
                        member->size, VIT_PICKLE_MAX_SIZE);
    uint8_t *bytes = vit_alloc(member->size, 1);
    if (!bytes) return vit_fail_memory(error, "a pickle", member->size);
    vit_status status = vit_zip_read(member, 0, bytes, error);
    if (status == VIT_OK) status = vit_pickle_read(&pickle, bytes, member->size, error);
    if (status == VIT_OK) status = add_tensors(file, pickle, error);
    vit_pickle_free(pickle);
    vit_free(bytes);
    return status;
}

static void pytorch_close(void *state) {
    pytorch *file = state;
    for (size_t i = 0; i < file->count; i++) vit_free((void *)(uintptr_t)file->tensors[i].name);
    vit_zip_close(&file->zip);
    vit_free(file->checked);
    vit_free(file->tensors);
    vit_free(file->views);
    vit_free(file);
}

static vit_status pytorch_open(void **state, const uint8_t *bytes, size_t size, const char *name,
                               vit_error *error) {
    pytorch *file = vit_alloc(1, sizeof *file);
    *state = file;
    if (!file) return vit_fail_memory(error, name, sizeof *file);
    vit_status status = vit_zip_open(&file->zip, bytes, size, name, error);
    if (status != VIT_OK) return status;
    file->checked = vit_alloc(file->zip.count, sizeof *file->checked);
    if (!file->checked) status = vit_fail_memory(error, "the archive", file->zip.count);
    if (status == VIT_OK) status = check_byte_order(&file->zip, error);
    if (status == VIT_OK) status = read_pickle(file, error);
    return status == VIT_OK ? VIT_OK : vit_fail_prefix(error, status, name);
}

/* ---- access ---- */

static const vit_tensor *pytorch_list(const void *state, size_t *count) {
    const pytorch *file = state;
    *count = file->count;
    return file->tensors;
}

static void copy_view(void *elements, const vit_tensor *t, const view *v, const uint8_t *storage) {
    const size_t size = vit_dtype_size(t->dtype);
    vit_strided_copy(elements, storage + v->offset * size, size, t->dims, t->shape, v->strides);
}

static vit_status pytorch_fetch(const void *state, size_t index, void *elements, vit_error *error) {
    const pytorch *file = state;
    const vit_tensor *t = &file->tensors[index];
    const view *v = &file->views[index];
    const vit_zip_member *member = &file->zip.members[v->member];
    if (t->count == 0) return VIT_OK;
    if (!member->deflated) { /* many tensors may be views of one storage: it is checked once */
        const bool checked = atomic_load(&file->checked[v->member]);
        const vit_status status = checked ? VIT_OK : vit_zip_check(member, error);
        if (status != VIT_OK) return status;
        atomic_store(&file->checked[v->member], true);
        copy_view(elements, t, v, member->packed);
        return VIT_OK;
    }
    uint8_t *storage = vit_alloc(member->size, 1);
    if (!storage) return vit_fail_memory(error, t->name, member->size);
    const vit_status status = vit_zip_read(member, 0, storage, error);
    if (status == VIT_OK) copy_view(elements, t, v, storage);
    vit_free(storage);
    return status;
}

const vit_container vit_container_pytorch = {.kind = "pytorch",
                                             .probe = pytorch_probe,
                                             .open = pytorch_open,
                                             .close = pytorch_close,
                                             .list = pytorch_list,
                                             .fetch = pytorch_fetch};
