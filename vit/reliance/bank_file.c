/* The file of a bank, docs/formats.md#bank: a line of JSON, the integers, the SHA-256 of all
 * before. */
#include "vit/base/error.h"
#include "vit/base/fpmode.h"
#include "vit/base/size.h"
#include "vit/base/sys.h"
#include "vit/formats/json.h"
#include "vit/formats/json_out.h"
#include "vit/formats/sha256.h"
#include "vit/reliance/bank.h"
#include "vit/reliance/stored.h"
#include <math.h>
#include <string.h>

#define BEGINS "{\"vit_bank\": 1, "
enum { DIGITS = 64, LIMIT = 1 << 20, DIGEST = 32 };
#define FILE_LIMIT ((size_t)1 << 36)

/* ---- written ---- */

static char *head_of(const vit_bank *b) {
    vit_json_out json = {0};
    vit_json_open(&json, NULL, '{');
    vit_json_count(&json, "vit_bank", 1);
    vit_json_text(&json, "model", b->model);
    vit_json_text(&json, "fingerprint", b->fingerprint);
    vit_json_count(&json, "height", b->height);
    vit_json_count(&json, "width", b->width);
    vit_json_count(&json, "grid_rows", b->grid_rows);
    vit_json_count(&json, "grid_columns", b->grid_columns);
    vit_json_count(&json, "dim", b->dim);
    vit_json_count(&json, "rows", b->rows);
    vit_json_number(&json, "coreset", b->coreset);
    vit_json_numbers(&json, "scores", b->scores, b->pictures);
    vit_json_close(&json, '}');
    vit_string_add(&json.text, "\n");
    return vit_json_take(&json);
}

/* The bytes of a whole bank, checked; freed by vit_free. *head: those of its line. */
static vit_status read_whole(vit_bytes *bytes, size_t *head, const char *path, vit_error *error) {
    uint8_t digest[DIGEST];
    vit_status status = vit_read_stored(bytes, path, FILE_LIMIT, error);
    if (status != VIT_OK) return status;
    const uint8_t *end = NULL;
    if (bytes->size < strlen(BEGINS) + DIGEST || memcmp(bytes->data, BEGINS, strlen(BEGINS)) != 0)
        status =
            vit_fail(error, VIT_ERROR_FORMAT, "%s is no bank, which begins with %s", path, BEGINS);
    else
        end = memchr(bytes->data, '\n', bytes->size - DIGEST);
    if (status == VIT_OK) vit_sha256_digest(digest, bytes->data, bytes->size - DIGEST);
    if (status == VIT_OK &&
        (!end || memcmp(digest, bytes->data + bytes->size - DIGEST, DIGEST) != 0))
        status =
            vit_fail(error, VIT_ERROR_FORMAT,
                     "%s is damaged: its checksum is not that of its bytes; build it again", path);
    if (status == VIT_OK) *head = (size_t)(end - bytes->data);
    if (status != VIT_OK) vit_free(bytes->data);
    return status;
}

/* MISMATCH if another file stands there. */
static vit_status check_place(const char *path, vit_error *error) {
    vit_bytes bytes;
    size_t head;
    if (vit_path_look(path) != VIT_PATH_FILE) return VIT_OK;
    const vit_status status = read_whole(&bytes, &head, path, error);
    if (status == VIT_OK) vit_free(bytes.data);
    if (status != VIT_ERROR_FORMAT) return status;
    return vit_fail(error, VIT_ERROR_MISMATCH, "%s exists and is no whole bank: it is not replaced",
                    path);
}

vit_status vit_bank_save(const vit_bank *b, const char *path, vit_error *error) {
    VIT_ENTRY;
    char *head = head_of(b);
    uint8_t digest[DIGEST];
    vit_sha256 hash;
    vit_writer *writer = NULL;
    const size_t size = b->rows * b->dim * sizeof *b->features;
    if (!head) return vit_fail_memory(error, "a bank", b->pictures * sizeof *b->scores);
    vit_sha256_start(&hash);
    vit_sha256_add(&hash, head, strlen(head));
    vit_sha256_add(&hash, b->features, size);
    vit_sha256_end(&hash, digest);
    vit_status status = check_place(path, error);
    if (status == VIT_OK) status = vit_writer_open(&writer, path, error);
    if (status == VIT_OK) {
        status = vit_writer_put(writer, head, strlen(head), error);
        if (status == VIT_OK) status = vit_writer_put(writer, b->features, size, error);
        if (status == VIT_OK) status = vit_writer_put(writer, digest, DIGEST, error);
        if (status == VIT_OK)
            status = vit_writer_commit(writer, error);
        else
            vit_writer_abort(writer);
    }
    vit_free(head);
    return status;
}

/* ---- read ---- */

static vit_status read_scores(vit_bank *b, const json_t *list, const char *path, vit_error *error) {
    b->pictures = json_array_size(list);
    if (b->pictures < 2) return vit_fail_stored(VIT_STORED_BANK, path, "scores", error);
    b->scores = vit_alloc(b->pictures, sizeof *b->scores);
    if (!b->scores) return vit_fail_memory(error, "a bank", b->pictures * sizeof *b->scores);
    for (size_t i = 0; i < b->pictures; i++) {
        const json_t *value = json_array_get(list, i);
        b->scores[i] = json_number_value(value);
        if (!json_is_number(value) || !(b->scores[i] >= (i > 0 ? b->scores[i - 1] : 0)))
            return vit_fail_stored(VIT_STORED_BANK, path, "scores", error);
    }
    return VIT_OK;
}

/* Whether the sizes can be those of a bank, and the integers are `bytes`. */
static bool fits(const vit_bank *b, size_t bytes) {
    const size_t sizes[] = {b->height, b->width, b->grid_rows, b->grid_columns, b->dim};
    size_t numbers;
    for (size_t i = 0; i < VIT_COUNT(sizes); i++)
        if (sizes[i] == 0 || sizes[i] > LIMIT) return false;
    return b->rows > 0 && vit_multiply(b->rows, b->dim, &numbers) && numbers <= FILE_LIMIT &&
           numbers * sizeof *b->features == bytes && b->coreset > 0 && b->coreset <= 1;
}

/* The lengths of rows, and so sums of products, are bounded. */
static bool rows_fit(const vit_bank *b) {
    const double most = 1.001 * VIT_BANK_LENGTH * VIT_BANK_LENGTH;
    for (size_t i = 0; i < b->rows; i++) {
        double sum = 0;
        for (size_t j = 0; j < b->dim; j++) {
            const double x = b->features[i * b->dim + j];
            sum += x * x;
        }
        if (sum > most + (double)b->dim * VIT_BANK_LENGTH) return false;
    }
    return true;
}

static vit_status read_head(vit_bank *b, json_t *object, const char *path, vit_error *error) {
    size_t version = 0;
    const vit_field fields[] = {{"vit_bank", VIT_FIELD_SIZE, &version, NULL},
                                {"model", VIT_FIELD_OTHER, NULL, NULL},
                                {"fingerprint", VIT_FIELD_OTHER, NULL, NULL},
                                {"height", VIT_FIELD_SIZE, &b->height, NULL},
                                {"width", VIT_FIELD_SIZE, &b->width, NULL},
                                {"grid_rows", VIT_FIELD_SIZE, &b->grid_rows, NULL},
                                {"grid_columns", VIT_FIELD_SIZE, &b->grid_columns, NULL},
                                {"dim", VIT_FIELD_SIZE, &b->dim, NULL},
                                {"rows", VIT_FIELD_SIZE, &b->rows, NULL},
                                {"coreset", VIT_FIELD_DOUBLE, &b->coreset, NULL},
                                {"scores", VIT_FIELD_OTHER, NULL, NULL}};
    const vit_status status = vit_json_read(object, fields, VIT_COUNT(fields), path, error);
    if (status != VIT_OK) return status;
    const char *model = json_string_value(json_object_get(object, "model"));
    const char *fingerprint = json_string_value(json_object_get(object, "fingerprint"));
    if (!model) return vit_fail_stored(VIT_STORED_BANK, path, "model", error);
    if (!fingerprint || strlen(fingerprint) != DIGITS)
        return vit_fail_stored(VIT_STORED_BANK, path, "fingerprint", error);
    b->model = vit_strdup(model);
    b->fingerprint = vit_strdup(fingerprint);
    if (!b->model || !b->fingerprint) return vit_fail_memory(error, "a bank", strlen(model));
    return read_scores(b, json_object_get(object, "scores"), path, error);
}

static vit_status read_bank(vit_bank *b, const vit_bytes *bytes, size_t head, const char *path,
                            vit_error *error) {
    json_t *object = NULL;
    const size_t size = bytes->size - DIGEST - head - 1;
    vit_status status = vit_json_parse(&object, (const char *)bytes->data, head, path, error);
    if (status == VIT_OK) status = read_head(b, object, path, error);
    json_decref(object);
    if (status == VIT_OK && !fits(b, size))
        status = vit_fail_stored(VIT_STORED_BANK, path, "rows", error);
    if (status != VIT_OK) return status;
    b->features = vit_alloc_unset(size, 1);
    if (!b->features) return vit_fail_memory(error, "a bank", size);
    memcpy(b->features, bytes->data + head + 1, size);
    return rows_fit(b) ? VIT_OK : vit_fail_stored(VIT_STORED_BANK, path, "rows", error);
}

vit_status vit_bank_load(vit_bank **out, const char *path, vit_error *error) {
    VIT_ENTRY;
    vit_bytes bytes;
    vit_bank *b = NULL;
    size_t head;
    *out = NULL;
    vit_status status = read_whole(&bytes, &head, path, error);
    if (status != VIT_OK) return status;
    b = vit_alloc(1, sizeof *b);
    status =
        b ? read_bank(b, &bytes, head, path, error) : vit_fail_memory(error, "a bank", sizeof *b);
    vit_free(bytes.data);
    if (status == VIT_OK)
        *out = b;
    else
        vit_bank_free(b);
    return status;
}
