#include "datasets/records/gzip.h"
#include "vit/base/size.h"
#include "vit/formats/inflate.h"

#include <limits.h>

/* zlib's largest ratio of compression: limits what the length in a short file can make us allocate.
 */
#define MAX_RATIO 1032

static bool is_gzip(const uint8_t *data, size_t size) {
    return size >= 2 && data[0] == 0x1f && data[1] == 0x8b;
}

/* The first allocation. The last four bytes are the length of the last member, which is exact for
 * files of one member; if it is wrong, the array grows with the data. */
static size_t first_capacity(const uint8_t *data, size_t size, size_t limit) {
    size_t length = 0;
    for (size_t i = 0; i < 4 && i < size; i++) length = length << 8 | data[size - 1 - i];
    size_t most = size <= SIZE_MAX / MAX_RATIO ? size * MAX_RATIO : SIZE_MAX;
    return vit_min(vit_min(length, most), limit) + 1;
}

static vit_status corrupt(const z_stream *z, int result, const char *name, vit_error *error) {
    if (result == Z_MEM_ERROR) return vit_fail_memory(error, name, sizeof(z_stream));
    if (result == Z_OK || result == Z_BUF_ERROR)
        return vit_fail(
            error, VIT_ERROR_FORMAT,
            "%s: the gzip data is cut off: it ends after %lu bytes, before its end mark", name,
            z->total_in);
    return vit_fail(error, VIT_ERROR_FORMAT, "%s: the gzip data is corrupt at byte %lu: %s", name,
                    z->total_in, z->msg ? z->msg : "no reason given");
}

/* After the end of a member: *more = whether another one follows; z is then ready to inflate it. */
static vit_status next_member(z_stream *z, bool *more, const char *name, vit_error *error) {
    *more = z->avail_in > 0;
    if (!*more) return VIT_OK;
    if (!is_gzip(z->next_in, z->avail_in))
        return vit_fail(error, VIT_ERROR_FORMAT,
                        "%s: %u bytes follow the end of the gzip data and are not gzip data", name,
                        z->avail_in);
    /* total_in counts all members, as it is the position in messages. */
    uLong total = z->total_in;
    int result = inflateReset(z);
    z->total_in = total;
    return result == Z_OK ? VIT_OK : corrupt(z, result, name, error);
}

/* Inflates all members to out->data, which has `capacity` bytes and grows to at most limit + 1:
 * with that byte it is known that the data are too large. */
static vit_status inflate_members(vit_bytes *out, size_t capacity, z_stream *z, size_t limit,
                                  const char *name, vit_error *error) {
    for (bool more = true; more;) {
        vit_status status = VIT_OK;
        if (out->size == capacity) {
            const size_t wanted = capacity <= limit / 2 ? 2 * capacity : limit + 1;
            void *data = vit_realloc(out->data, capacity, wanted, 1);
            if (!data) return vit_fail_memory(error, name, wanted);
            out->data = data;
            capacity = wanted;
        }
        z->next_out = out->data + out->size;
        z->avail_out = (uInt)vit_min(capacity - out->size, UINT_MAX);
        int result = inflate(z, Z_NO_FLUSH);
        out->size = (size_t)(z->next_out - out->data);
        if (out->size > limit)
            return vit_fail(error, VIT_ERROR_FORMAT,
                            "%s: the gzip data inflates to more than %zu bytes, the most allowed",
                            name, limit);
        if (result == Z_STREAM_END)
            status = next_member(z, &more, name, error);
        else if (result != Z_OK || z->avail_out > 0)
            status = corrupt(z, result, name, error);
        if (status != VIT_OK) return status;
    }
    return VIT_OK;
}

vit_status vit_gunzip(vit_bytes *out, const void *data, size_t size, size_t limit, const char *name,
                      vit_error *error) {
    *out = (vit_bytes){0};
    if (size > UINT_MAX)
        return vit_fail(error, VIT_ERROR_UNSUPPORTED,
                        "%s: %zu bytes of gzip data, at most %u are read", name, size, UINT_MAX);
    z_stream z = vit_inflate_stream();
    z.next_in = data;
    z.avail_in = (uInt)size;
    int result = inflateInit2(&z, 16 + MAX_WBITS); /* 16: a gzip header, not zlib's */
    if (result != Z_OK) return corrupt(&z, result, name, error);
    const size_t capacity = first_capacity(data, size, limit);
    out->data = vit_alloc(capacity, 1);
    vit_status status = out->data ? inflate_members(out, capacity, &z, limit, name, error)
                                  : vit_fail_memory(error, name, capacity);
    inflateEnd(&z);
    if (status != VIT_OK) {
        vit_free(out->data);
        *out = (vit_bytes){0};
    }
    return status;
}

vit_status vit_read_plain_or_gzip(vit_bytes *out, const char *path, size_t limit,
                                  vit_error *error) {
    vit_status status = vit_read_regular(out, path, limit, error);
    if (status != VIT_OK || !is_gzip(out->data, out->size)) return status;
    vit_bytes packed = *out;
    status = vit_gunzip(out, packed.data, packed.size, limit, path, error);
    vit_free(packed.data);
    return status;
}
