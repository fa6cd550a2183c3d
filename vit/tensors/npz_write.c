#include "vit/tensors/npz_write.h"

#include "vit/base/size.h"
#include "vit/base/sys.h"
#include "vit/formats/npy.h"

#include <limits.h>
#include <string.h>
#include <zlib.h>

enum { MAX_NAME = 65535 }; /* of a member, with ".npy" */

typedef struct archive {
    vit_writer *writer;
    vit_string directory;
    size_t at, count;
    vit_error *error;
} archive;

/* NumPy's names of vit_dtype; NULL: not written. */
static const char *const type_names[] = {"<f8", "<f4", "<f2", "<V2", "<i8",
                                         NULL,  NULL,  NULL,  "|u1", NULL};
VIT_CHECK_ROWS(type_names, VIT_DTYPE_COUNT);

/* ---- records ---- */

static void add_number(vit_string *t, uint64_t number, size_t bytes) {
    for (size_t i = 0; i < bytes; i++) {
        const char byte = (char)(number >> (8 * i));
        vit_string_add_bytes(t, &byte, 1);
    }
}

/* The fields that the two headers of a member have in common. The date is 1980-01-01, the earliest
 * that a zip archive can express. */
static void add_fields(vit_string *t, uint32_t crc, size_t size, size_t name_length) {
    enum { VERSION = 20, STORED = 0, TIME = 0, DATE = 1 << 5 | 1 };
    add_number(t, VERSION, 2);
    add_number(t, 0, 2); /* flags */
    add_number(t, STORED, 2);
    add_number(t, TIME, 2);
    add_number(t, DATE, 2);
    add_number(t, crc, 4);
    add_number(t, size, 4);
    add_number(t, size, 4);
    add_number(t, name_length, 2);
    add_number(t, 0, 2); /* extra field */
}

static void add_central(archive *a, uint32_t crc, size_t size, const char *name) {
    vit_string *t = &a->directory;
    add_number(t, 0x02014b50, 4);
    add_number(t, 20, 2); /* written by */
    add_fields(t, crc, size, strlen(name));
    add_number(t, 0, 2);     /* comment */
    add_number(t, 0, 2);     /* disk */
    add_number(t, 0, 2 + 4); /* attributes */
    add_number(t, a->at, 4);
    vit_string_add(t, "%s", name);
}

/* ---- writing ---- */

static vit_status put_text(archive *a, vit_string *t) {
    const vit_status status = t->failed ? vit_fail_memory(a->error, "an archive", t->length)
                                        : vit_writer_put(a->writer, t->text, t->length, a->error);
    a->at += t->length;
    vit_string_free(t);
    return status;
}

static uint32_t checksum(const vit_string *header, const vit_tensor *t, size_t bytes) {
    uLong crc = crc32(0, (const Bytef *)header->text, (uInt)header->length);
    for (size_t done = 0; done < bytes;) {
        const size_t left = bytes - done;
        const uInt n = (uInt)(left < UINT_MAX ? left : UINT_MAX);
        crc = crc32(crc, (const Bytef *)t->data + done, n);
        done += n;
    }
    return (uint32_t)crc;
}

static vit_status put_member(archive *a, const vit_tensor *t) {
    const size_t bytes = t->count * vit_dtype_size(t->dtype);
    vit_string name = {0}, array = {0}, local = {0};
    vit_string_add(&name, "%s.npy", t->name);
    vit_string_add_npy(&array, type_names[t->dtype], t->shape, t->dims);
    vit_status status = VIT_OK;
    if (name.failed || array.failed) {
        status = vit_fail_memory(a->error, "an archive", 0);
    } else {
        const uint32_t crc = checksum(&array, t, bytes);
        const size_t size = array.length + bytes;
        add_central(a, crc, size, name.text);
        add_number(&local, 0x04034b50, 4);
        add_fields(&local, crc, size, name.length);
        vit_string_add(&local, "%s", name.text);
        vit_string_add_bytes(&local, array.text, array.length);
        status = put_text(a, &local);
        if (status == VIT_OK) status = vit_writer_put(a->writer, t->data, bytes, a->error);
        a->at += bytes;
        a->count++;
    }
    vit_string_free(&name);
    vit_string_free(&array);
    return status;
}

static vit_status put_end(archive *a) {
    const size_t at = a->at, size = a->directory.length;
    vit_string *t = &a->directory;
    add_number(t, 0x06054b50, 4);
    add_number(t, 0, 4); /* disks */
    add_number(t, a->count, 2);
    add_number(t, a->count, 2);
    add_number(t, size, 4);
    add_number(t, at, 4);
    add_number(t, 0, 2); /* comment */
    return put_text(a, t);
}

static vit_status check(const vit_tensor *tensors, size_t count, const char *path,
                        vit_error *error) {
    size_t left = UINT32_MAX;
    for (size_t i = 0; i < count; i++) {
        const vit_tensor *t = &tensors[i];
        char shown[VIT_NAME_TEXT];
        if (!type_names[t->dtype] || strlen(t->name) + 4 > MAX_NAME)
            return vit_fail(error, VIT_ERROR_ARGUMENT,
                            "%s: tensor '%s' is of type %s, which is not written to .npz", path,
                            vit_name_text(shown, t->name), vit_dtype_name(t->dtype));
        const size_t bytes = t->count * vit_dtype_size(t->dtype), more = 1024 + strlen(t->name) * 2;
        if (bytes + more > left || count > 65535)
            return vit_fail(error, VIT_ERROR_UNSUPPORTED,
                            "%s: an .npz of more than 4 GiB is not written: use another layout",
                            path);
        left -= bytes + more;
    }
    return VIT_OK;
}

vit_status vit_npz_write(const char *path, const vit_tensor *tensors, size_t count,
                         vit_error *error) {
    archive a = {.error = error};
    vit_status status = check(tensors, count, path, error);
    if (status == VIT_OK) status = vit_writer_open(&a.writer, path, error);
    if (status != VIT_OK) return status;
    for (size_t i = 0; i < count && status == VIT_OK; i++) status = put_member(&a, &tensors[i]);
    if (status == VIT_OK) status = put_end(&a);
    vit_string_free(&a.directory);
    if (status == VIT_OK) return vit_writer_commit(a.writer, error);
    vit_writer_abort(a.writer);
    return status;
}
