#include "vit/base/inflate.h"
#include "vit/base/size.h"
#include "vit/base/sys.h"
#include "vit/tensors/tensor.h"
#include "vit/tensors/zip.h"

#include <inttypes.h>
#include <limits.h>
#include <string.h>

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

/* ---- deflate ---- */

/* A member on its way out of the file. */
typedef struct stream {
    z_stream z;
    const vit_zip_member *member;
    size_t taken; /* packed bytes that z was given */
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

/* The next `size` bytes. */
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
