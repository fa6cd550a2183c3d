#include "vit/formats/json_out.h"
#include "vit/formats/sha256.h"
#include "vit/tensors/safetensors.h"

#include <stdlib.h>
#include <string.h>

/* What will be written: the tensors in their order, and the header with its padding. */
typedef struct plan {
    const vit_tensor **order;
    size_t count, data_size;
    vit_json_out header;
} plan;

static size_t tensor_bytes(const vit_tensor *t) {
    return t->count * vit_dtype_size(t->dtype);
}

/* Larger elements first, so that every tensor is aligned to the size of its elements. */
static int compare_sizes(const void *a, const void *b) {
    const vit_tensor *const *left = a, *const *right = b;
    size_t x = vit_dtype_size((*left)->dtype), y = vit_dtype_size((*right)->dtype);
    return x != y ? (x > y ? -1 : 1) : vit_compare_names(a, b);
}

/* ---- checks ---- */

static bool is_utf8(const char *text) {
    size_t length;
    while ((length = vit_utf8_length(text)) > 0) text += length;
    return *text == '\0';
}

static vit_status check_tensor(const vit_tensor *t, vit_error *error) {
    char name[VIT_NAME_TEXT], shape[128];
    if (!t->name || !is_utf8(t->name) || strcmp(t->name, "__metadata__") == 0)
        return vit_fail(error, VIT_ERROR_ARGUMENT,
                        "a tensor's name is '%s', expected UTF-8 and not __metadata__",
                        t->name ? vit_name_text(name, t->name) : "(none)");
    vit_name_text(name, t->name);
    if ((unsigned)t->dtype >= VIT_DTYPE_COUNT || t->dims > VIT_MAX_DIMS)
        return vit_fail(error, VIT_ERROR_ARGUMENT,
                        "tensor '%s' has dtype %u and %zu dimensions, expected at most %d and %d",
                        name, (unsigned)t->dtype, t->dims, VIT_BOOL, VIT_MAX_DIMS);
    size_t count = 1, bytes;
    bool fits = true;
    for (size_t i = 0; i < t->dims && fits; i++) fits = vit_multiply(count, t->shape[i], &count);
    vit_shape_text(shape, t->shape, t->dims);
    if (!fits || count != t->count || !vit_multiply(count, vit_dtype_size(t->dtype), &bytes))
        return vit_fail(error, VIT_ERROR_ARGUMENT,
                        "tensor '%s' has %zu elements, expected as many as its shape %s says", name,
                        t->count, shape);
    if (count > 0 && !t->data)
        return vit_fail(error, VIT_ERROR_ARGUMENT, "tensor '%s' of shape %s has no data", name,
                        shape);
    return VIT_OK;
}

/* ---- the plan ---- */

/* Checks the tensors and sorts them into the order of the file. */
static vit_status plan_order(plan *p, const vit_tensor *tensors, size_t count, vit_error *error) {
    char name[VIT_NAME_TEXT];
    p->order = vit_alloc(count, sizeof *p->order);
    if (!p->order) return vit_fail_memory(error, "the order of the tensors", count);
    p->count = count;
    for (size_t i = 0; i < count; i++) {
        vit_status status = check_tensor(&tensors[i], error);
        if (status != VIT_OK) return status;
        size_t bytes = tensor_bytes(&tensors[i]);
        if (bytes > SIZE_MAX / 2 - p->data_size)
            return vit_fail(error, VIT_ERROR_ARGUMENT,
                            "the tensors need more bytes than a file can have");
        p->data_size += bytes;
        p->order[i] = &tensors[i];
    }
    qsort(p->order, count, sizeof *p->order, vit_compare_names);
    for (size_t i = 1; i < count; i++)
        if (vit_compare_names(&p->order[i - 1], &p->order[i]) == 0)
            return vit_fail(error, VIT_ERROR_ARGUMENT,
                            "two tensors are named '%s', expected each name once",
                            vit_name_text(name, p->order[i]->name));
    qsort(p->order, count, sizeof *p->order, compare_sizes);
    return VIT_OK;
}

/* Checks the metadata and adds them, with "format": "pt", without which old readers refuse a file.
 */
static vit_status plan_metadata(plan *p, const vit_metadata *metadata, size_t count,
                                vit_error *error) {
    char key[VIT_NAME_TEXT];
    vit_status status = VIT_OK;
    for (size_t i = 0; i < count; i++) {
        const vit_metadata *m = &metadata[i];
        if (!m->key || !m->value || !is_utf8(m->key) || !is_utf8(m->value))
            return vit_fail(error, VIT_ERROR_ARGUMENT,
                            "the metadata '%s': expected key and value to be UTF-8",
                            m->key ? vit_name_text(key, m->key) : "(none)");
    }
    vit_metadata *pairs = vit_alloc(count + 1, sizeof *pairs);
    if (!pairs) return vit_fail_memory(error, "the metadata", (count + 1) * sizeof *pairs);
    for (size_t i = 0; i < count; i++) pairs[i] = metadata[i];
    pairs[count] = (vit_metadata){"format", "pt"};
    qsort(pairs, count + 1, sizeof *pairs, vit_compare_keys);
    p->header.compact = true;
    vit_json_open(&p->header, NULL, '{');
    vit_json_open(&p->header, "__metadata__", '{');
    for (size_t i = 0; i <= count && status == VIT_OK; i++) {
        if (i > 0 && vit_compare_keys(&pairs[i - 1], &pairs[i]) == 0)
            status = vit_fail(error, VIT_ERROR_ARGUMENT,
                              "two metadata have the key '%s', expected each key once (\"format\" "
                              "is added by the writer)",
                              vit_name_text(key, pairs[i].key));
        vit_json_text(&p->header, pairs[i].key, pairs[i].value);
    }
    vit_json_close(&p->header, '}');
    vit_free(pairs);
    return status;
}

static void plan_entry(vit_json_out *header, const vit_tensor *t, size_t begin) {
    vit_json_open(header, t->name, '{');
    vit_json_text(header, "dtype", vit_dtype_name(t->dtype));
    vit_json_counts(header, "shape", t->shape, t->dims);
    vit_json_counts(header, "data_offsets", (const size_t[]){begin, begin + tensor_bytes(t)}, 2);
    vit_json_close(header, '}');
}

static vit_status plan_make(plan *p, const vit_tensor *tensors, size_t count,
                            const vit_metadata *metadata, size_t metadata_count, vit_error *error) {
    vit_status status = plan_order(p, tensors, count, error);
    if (status == VIT_OK) status = plan_metadata(p, metadata, metadata_count, error);
    if (status != VIT_OK) return status;
    size_t begin = 0;
    for (size_t i = 0; i < count; i++) {
        plan_entry(&p->header, p->order[i], begin);
        begin += tensor_bytes(p->order[i]);
    }
    vit_json_close(&p->header, '}');
    vit_string_add(&p->header.text, "%*s", (int)(7 - (p->header.text.length + 7) % 8), "");
    if (p->header.text.failed) return vit_fail_memory(error, "the header", p->header.text.length);
    if (p->header.text.length > VIT_SAFETENSORS_MAX_HEADER)
        return vit_fail(error, VIT_ERROR_UNSUPPORTED,
                        "names and metadata need a header of %zu bytes, expected at most %u",
                        p->header.text.length, VIT_SAFETENSORS_MAX_HEADER);
    return VIT_OK;
}

static void plan_free(plan *p) {
    vit_free(p->order);
    vit_string_free(&p->header.text);
}

/* ---- output ---- */

typedef vit_status put_bytes(void *to, const void *data, size_t size, vit_error *error);

static vit_status emit(const plan *p, put_bytes *put, void *to, vit_error *error) {
    uint8_t length[8];
    for (size_t i = 0; i < 8; i++)
        length[i] = (uint8_t)((uint64_t)p->header.text.length >> (8 * i));
    vit_status status = put(to, length, sizeof length, error);
    if (status == VIT_OK) status = put(to, p->header.text.text, p->header.text.length, error);
    for (size_t i = 0; i < p->count && status == VIT_OK; i++)
        if (p->order[i]->count > 0)
            status = put(to, p->order[i]->data, tensor_bytes(p->order[i]), error);
    return status;
}

static vit_status put_file(void *to, const void *data, size_t size, vit_error *error) {
    return vit_writer_put(to, data, size, error);
}

vit_status vit_safetensors_write(const char *path, const vit_tensor *tensors, size_t count,
                                 const vit_metadata *metadata, size_t metadata_count,
                                 vit_error *error) {
    plan p = {0};
    vit_writer *writer;
    vit_status status = plan_make(&p, tensors, count, metadata, metadata_count, error);
    if (status != VIT_OK) {
        status = vit_fail_prefix(error, status, path);
        goto done;
    }
    status = vit_writer_open(&writer, path, error);
    if (status != VIT_OK) goto done;
    status = emit(&p, put_file, writer, error);
    if (status == VIT_OK)
        status = vit_writer_commit(writer, error);
    else
        vit_writer_abort(writer);
done:
    plan_free(&p);
    return status;
}

static vit_status put_hash(void *to, const void *data, size_t size, vit_error *error) {
    (void)error;
    vit_sha256_add(to, data, size);
    return VIT_OK;
}

vit_status vit_safetensors_hash(char hex[65], const vit_tensor *tensors, size_t count,
                                const vit_metadata *metadata, size_t metadata_count,
                                vit_error *error) {
    plan p = {0};
    vit_sha256 hash;
    vit_sha256_start(&hash);
    vit_status status = plan_make(&p, tensors, count, metadata, metadata_count, error);
    if (status == VIT_OK) status = emit(&p, put_hash, &hash, error);
    vit_sha256_hex(&hash, hex);
    plan_free(&p);
    return status;
}
