/* The fields and their offsets are those of PKWARE's APPNOTE.TXT, 4.3 and 4.5.3. */
#include "vit/tensors/zip.h"

#include "vit/base/size.h"
#include "vit/base/sys.h"
#include "vit/formats/inflate.h"
#include "vit/tensors/tensor.h"

#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum {
    LOCAL_SIZE = 30,
    CENTRAL_SIZE = 46,
    END_SIZE = 22,
    LOCATOR_SIZE = 20,
    END64_SIZE = 56,
    MAX_COMMENT = 65535,
    MAX_RATIO = 1032, /* the highest compression that deflate can reach */
};

#define LOCAL_MARK 0x04034b50u
#define CENTRAL_MARK 0x02014b50u
#define END_MARK 0x06054b50u
#define LOCATOR_MARK 0x07064b50u
#define END64_MARK 0x06064b50u

typedef struct archive {
    const uint8_t *bytes;
    size_t size;
    const uint8_t *directory; /* the central directory */
    size_t directory_size, entries;
    vit_error *error;
} archive;

static uint32_t u16(const uint8_t *p) {
    return (uint32_t)p[0] | (uint32_t)p[1] << 8;
}

static uint32_t u32(const uint8_t *p) {
    return u16(p) | u16(p + 2) << 16;
}

static uint64_t u64(const uint8_t *p) {
    return (uint64_t)u32(p) | (uint64_t)u32(p + 4) << 32;
}

bool vit_zip_probe(const uint8_t *bytes, size_t size) {
    return size >= 4 && (u32(bytes) == LOCAL_MARK || u32(bytes) == END_MARK);
}

/* ---- the end of the archive ---- */

/* The end record, which is the last of the file; NULL if it is missing. */
static const uint8_t *find_end(const archive *a) {
    for (size_t back = END_SIZE; back <= a->size && back <= END_SIZE + MAX_COMMENT; back++) {
        const uint8_t *p = a->bytes + a->size - back;
        if (u32(p) == END_MARK && u16(p + 20) == back - END_SIZE) return p;
    }
    return NULL;
}

static vit_status damaged(const archive *a, const char *what) {
    return vit_fail(a->error, VIT_ERROR_FORMAT,
                    "%s: the zip archive is cut off or damaged (%zu bytes)", what, a->size);
}

/* If there is a zip64 end record, place = entries, size and offset of the directory from it. */
static vit_status read_end64(archive *a, const uint8_t *end, uint64_t place[3]) {
    if (end - a->bytes < LOCATOR_SIZE || u32(end - LOCATOR_SIZE) != LOCATOR_MARK) return VIT_OK;
    const uint64_t at = u64(end - LOCATOR_SIZE + 8);
    const uint64_t most = (uint64_t)(end - LOCATOR_SIZE - a->bytes);
    if (at > most || most - at < END64_SIZE || u32(a->bytes + at) != END64_MARK)
        return damaged(a, "the zip64 end record is not where its locator says");
    const uint8_t *p = a->bytes + at;
    place[0] = u64(p + 32);
    place[1] = u64(p + 40);
    place[2] = u64(p + 48);
    return VIT_OK;
}

static vit_status find_directory(archive *a) {
    const uint8_t *end = find_end(a);
    if (!end) return damaged(a, "the end record is missing");
    uint64_t place[3] = {u16(end + 10), u32(end + 12), u32(end + 16)}; /* entries, size, offset */
    const vit_status status = read_end64(a, end, place);
    if (status != VIT_OK) return status;
    if (u16(end + 4) != 0 && u16(end + 4) != 0xffff)
        return vit_fail(a->error, VIT_ERROR_UNSUPPORTED, "the zip archive is in several files");
    const uint64_t most = (uint64_t)(end - a->bytes);
    if (place[2] > most || place[1] > most - place[2])
        return damaged(a, "the directory reaches over the end of the file");
    if (place[0] > place[1] / CENTRAL_SIZE)
        return damaged(a, "the directory is too short for its entries");
    a->directory = a->bytes + place[2];
    a->directory_size = (size_t)place[1];
    a->entries = (size_t)place[0];
    return VIT_OK;
}

/* ---- entries ---- */

typedef struct fields {
    uint64_t packed_size, size, offset;
} fields;

/* Numbers of an entry that are all ones in 32 bits are 64-bit numbers in the extra field of tag 1,
 * in this order. False if the extra field is damaged. */
static bool read_extra64(fields *f, const uint8_t *extra, size_t size) {
    uint64_t *const wanted[] = {&f->size, &f->packed_size, &f->offset};
    while (size >= 4) {
        const uint32_t tag = u16(extra), length = u16(extra + 2);
        if (length > size - 4) return false;
        const uint8_t *p = extra + 4, *end = p + length;
        for (size_t i = 0; tag == 1 && i < 3; i++) {
            if (*wanted[i] != 0xffffffffu) continue;
            if (end - p < 8) return false;
            *wanted[i] = u64(p);
            p += 8;
        }
        extra += 4 + length;
        size -= 4 + length;
    }
    return true;
}

static vit_status fail_member(const archive *a, const char *name, vit_status status,
                              const char *what) {
    char shown[VIT_NAME_TEXT];
    return vit_fail(a->error, status, "member '%s' %s", vit_name_text(shown, name), what);
}

/* Finds the contents: they follow the local header, which has its own name and extra field. */
static vit_status place_member(const archive *a, vit_zip_member *m, const fields *f) {
    const uint64_t most = (uint64_t)(a->directory - a->bytes);
    if (f->offset > most || most - f->offset < LOCAL_SIZE ||
        u32(a->bytes + f->offset) != LOCAL_MARK)
        return fail_member(a, m->name, VIT_ERROR_FORMAT,
                           "does not begin where the archive's directory says");
    const uint8_t *local = a->bytes + f->offset;
    const uint64_t data = f->offset + LOCAL_SIZE + u16(local + 26) + u16(local + 28);
    if (data > most || f->packed_size > most - data)
        return fail_member(a, m->name, VIT_ERROR_FORMAT, "reaches over the end of the data");
    const size_t length = strlen(m->name);
    if (u16(local + 26) != length || memcmp(local + LOCAL_SIZE, m->name, length) != 0)
        return fail_member(a, m->name, VIT_ERROR_FORMAT,
                           "has another name where it begins than in the directory");
    m->packed = a->bytes + data;
    return VIT_OK;
}

static vit_status check_member(const archive *a, const vit_zip_member *m, uint32_t flags,
                               uint32_t method) {
    if (flags & 1) return fail_member(a, m->name, VIT_ERROR_UNSUPPORTED, "is encrypted");
    if (method != 0 && method != 8)
        return fail_member(a, m->name, VIT_ERROR_UNSUPPORTED,
                           "is compressed by another method than deflate");
    if (!m->deflated && m->size != m->packed_size)
        return fail_member(a, m->name, VIT_ERROR_FORMAT, "is stored, but its two sizes differ");
    if (m->deflated && m->size / MAX_RATIO > m->packed_size)
        return fail_member(a, m->name, VIT_ERROR_FORMAT,
                           "claims to be larger than its data can be");
    return VIT_OK;
}

/* Reads the entry at *at, and moves *at to the next entry and *names to where the next name goes.
 */
static vit_status read_entry(const archive *a, vit_zip_member *m, const uint8_t **at,
                             char **names) {
    const uint8_t *p = *at, *end = a->directory + a->directory_size;
    if (end - p < CENTRAL_SIZE || u32(p) != CENTRAL_MARK)
        return damaged(a, "an entry of the directory is missing");
    const size_t length = u16(p + 28), extra = u16(p + 30), comment = u16(p + 32);
    if ((size_t)(end - p) - CENTRAL_SIZE < length + extra + comment)
        return damaged(a, "an entry of the directory is too long");
    m->name = memcpy(*names, p + CENTRAL_SIZE, length);
    *names += length + 1;
    fields f = {u32(p + 20), u32(p + 24), u32(p + 42)};
    if (strlen(m->name) != length || !read_extra64(&f, p + CENTRAL_SIZE + length, extra) ||
        f.size > PTRDIFF_MAX)
        return fail_member(a, m->name, VIT_ERROR_FORMAT, "has a damaged entry in the directory");
    m->crc = u32(p + 16);
    m->size = (size_t)f.size;
    m->packed_size = (size_t)f.packed_size;
    m->deflated = u16(p + 10) == 8;
    *at = p + CENTRAL_SIZE + length + extra + comment;
    const vit_status status = check_member(a, m, u16(p + 8), u16(p + 10));
    return status == VIT_OK ? place_member(a, m, &f) : status;
}

static int compare_members(const void *a, const void *b) {
    const vit_zip_member *left = a, *right = b;
    return strcmp(left->name, right->name);
}

/* Reads all entries. Members must not overlap: a small file could claim a lot of data that way. */
static vit_status read_entries(vit_zip *zip, const archive *a) {
    const uint8_t *at = a->directory;
    char *names = zip->names;
    size_t left = a->size;
    for (size_t i = 0; i < a->entries; i++) {
        vit_zip_member *m = &zip->members[i];
        const vit_status status = read_entry(a, m, &at, &names);
        if (status != VIT_OK) return status;
        if (m->packed_size > left) return damaged(a, "members overlap");
        left -= m->packed_size;
    }
    zip->count = a->entries;
    qsort(zip->members, zip->count, sizeof *zip->members, compare_members);
    for (size_t i = 1; i < zip->count; i++)
        if (compare_members(&zip->members[i - 1], &zip->members[i]) == 0)
            return fail_member(a, zip->members[i].name, VIT_ERROR_FORMAT, "is there twice");
    return VIT_OK;
}

vit_status vit_zip_open(vit_zip *out, const uint8_t *bytes, size_t size, const char *name,
                        vit_error *error) {
    archive a = {.bytes = bytes, .size = size, .error = error};
    *out = (vit_zip){0};
    vit_status status = find_directory(&a);
    if (status == VIT_OK) {
        /* Enough for all names with a 0 each: an entry is longer than its name. */
        out->names = vit_alloc(a.directory_size, 1);
        out->members = vit_alloc(a.entries, sizeof *out->members);
        status = out->names && out->members ? read_entries(out, &a)
                                            : vit_fail_memory(error, "a directory", a.entries);
    }
    if (status == VIT_OK) return VIT_OK;
    vit_zip_close(out);
    return vit_fail_prefix(error, status, name);
}

void vit_zip_close(vit_zip *zip) {
    vit_free(zip->members);
    vit_free(zip->names);
    *zip = (vit_zip){0};
}

const vit_zip_member *vit_zip_find(const vit_zip *zip, const char *name) {
    const vit_zip_member wanted = {.name = name};
    if (zip->count == 0) return NULL;
    return bsearch(&wanted, zip->members, zip->count, sizeof wanted, compare_members);
}

/* ---- contents ---- */

static uInt piece(size_t left) {
    return (uInt)vit_min(left, UINT_MAX);
}

static uint32_t add_crc(uint32_t crc, const uint8_t *bytes, size_t size) {
    for (size_t done = 0; done < size;) {
        const uInt n = piece(size - done);
        crc = (uint32_t)crc32(crc, bytes + done, n);
        done += n;
    }
    return crc;
}

static vit_status check_crc(const vit_zip_member *m, uint32_t crc, vit_error *error) {
    char shown[VIT_NAME_TEXT];
    if (crc == m->crc) return VIT_OK;
    return vit_fail(error, VIT_ERROR_FORMAT,
                    "member '%s' has the checksum %08" PRIx32 ", expected %08" PRIx32
                    ": it is damaged",
                    vit_name_text(shown, m->name), crc, m->crc);
}

vit_status vit_zip_check(const vit_zip_member *m, vit_error *error) {
    return check_crc(m, add_crc(0, m->packed, m->size), error);
}

/* A member that is being inflated. */
typedef struct stream {
    z_stream z;
    const vit_zip_member *member;
    size_t taken; /* packed bytes given to z so far */
    uint32_t crc;
} stream;

static vit_status corrupt(const stream *s, const char *what, vit_error *error) {
    char shown[VIT_NAME_TEXT];
    return vit_fail(error, VIT_ERROR_FORMAT, "member '%s': the deflated data %s",
                    vit_name_text(shown, s->member->name), what);
}

static vit_status start(stream *s, const vit_zip_member *member, vit_error *error) {
    *s = (stream){.z = vit_inflate_stream(), .member = member};
    s->z.next_in = member->packed;
    if (inflateInit2(&s->z, -MAX_WBITS) == Z_OK) return VIT_OK; /* negative: no zlib header */
    return vit_fail_memory(error, "inflating", sizeof *s);
}

/* out = the next `size` bytes. */
static vit_status inflate_some(stream *s, uint8_t *out, size_t size, vit_error *error) {
    const size_t packed_size = s->member->packed_size;
    for (size_t done = 0; done < size;) {
        if (s->z.avail_in == 0) {
            s->z.avail_in = piece(packed_size - s->taken);
            s->taken += s->z.avail_in;
        }
        const uInt room = piece(size - done);
        s->z.next_out = out + done;
        s->z.avail_out = room;
        const int result = inflate(&s->z, Z_NO_FLUSH);
        const size_t got = room - s->z.avail_out;
        s->crc = add_crc(s->crc, out + done, got);
        done += got;
        if (result == Z_STREAM_END && done < size) return corrupt(s, "ends too early", error);
        if (result == Z_MEM_ERROR) return vit_fail_memory(error, "inflating", size);
        if (result == Z_BUF_ERROR || (result == Z_OK && got == 0 && s->taken == packed_size))
            return corrupt(s, "is cut off", error);
        if (result != Z_OK && result != Z_STREAM_END)
            return corrupt(s, s->z.msg ? s->z.msg : "is not valid", error);
    }
    return VIT_OK;
}

static vit_status inflate_member(const vit_zip_member *m, size_t skip, uint8_t *contents,
                                 vit_error *error) {
    stream s;
    uint8_t *skipped = vit_alloc(skip, 1);
    if (!skipped) return vit_fail_memory(error, m->name, skip);
    vit_status status = start(&s, m, error);
    if (status == VIT_OK) {
        status = inflate_some(&s, skipped, skip, error);
        if (status == VIT_OK) status = inflate_some(&s, contents, m->size - skip, error);
        if (status == VIT_OK) status = check_crc(m, s.crc, error);
        inflateEnd(&s.z);
    }
    vit_free(skipped);
    return status;
}

vit_status vit_zip_read(const vit_zip_member *m, size_t skip, void *contents, vit_error *error) {
    if (m->deflated) return inflate_member(m, skip, contents, error);
    if (m->size > skip) memcpy(contents, m->packed + skip, m->size - skip);
    return vit_zip_check(m, error);
}

vit_status vit_zip_peek(const vit_zip_member *m, void *contents, size_t size, vit_error *error) {
    stream s;
    if (!m->deflated) {
        if (size > 0) memcpy(contents, m->packed, size);
        return VIT_OK;
    }
    vit_status status = start(&s, m, error);
    if (status != VIT_OK) return status;
    status = inflate_some(&s, contents, size, error);
    inflateEnd(&s.z);
    return status;
}
