/* PNG by stb_image_write, which lays out the file and chooses the filter of each row. zlib
 * compresses: stb's own compressor writes past its buffer if memory runs out. */
#include "vit/image/codec/png_write.h"

#include <zlib.h>

/* stb does not free it if the file gets no memory. */
static _Thread_local unsigned char *compressed;

/* Of zlib: stb's 8 takes nine times as long, for a heat map that is an eighth smaller. */
#define LEVEL 4

static unsigned char *compress_bytes(unsigned char *data, int size, int *out_size) {
    uLongf room = compressBound((uLong)size);
    unsigned char *out = room <= INT32_MAX ? vit_alloc_unset(room, 1) : NULL;
    if (!out || compress2(out, &room, data, (uLong)size, LEVEL) != Z_OK) {
        vit_free(out);
        return NULL;
    }
    *out_size = (int)room;
    return compressed = out;
}

#define STB_IMAGE_WRITE_IMPLEMENTATION
#define STB_IMAGE_WRITE_STATIC
#define STBI_WRITE_NO_STDIO
#define STBIW_ASSERT(condition) ((void)0) /* the library never aborts */
#define STBIW_MALLOC(bytes) vit_alloc(bytes, 1)
#define STBIW_REALLOC_SIZED(memory, old_bytes, bytes) vit_realloc(memory, old_bytes, bytes, 1)
#define STBIW_FREE(memory) vit_free(memory)
#define STBIW_ZLIB_COMPRESS(data, size, out_size, level) compress_bytes(data, size, out_size)

/* This warning is reported at the end of the file, so that it cannot be switched on again. */
#pragma GCC diagnostic ignored "-Wunused-function"
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wsign-conversion"
#pragma GCC diagnostic ignored "-Wshadow"
#pragma GCC diagnostic ignored "-Wunused-parameter"
#pragma GCC diagnostic ignored "-Wmissing-prototypes"
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"
#pragma GCC diagnostic ignored "-Wpedantic"
#include <stb_image_write.h>
#pragma GCC diagnostic pop

#define MOST_BYTES ((size_t)1 << 30)

vit_status vit_png_write(vit_bytes *out, const uint8_t *pixels, size_t width, size_t height,
                         size_t channels, vit_error *error) {
    size_t row, size;
    int length;
    *out = (vit_bytes){0};
    if (width == 0 || height == 0 || channels < 1 || channels > 4)
        return vit_fail(error, VIT_ERROR_ARGUMENT,
                        "no PNG: a picture of %zu x %zu with %zu channels, expected 1 to 4", width,
                        height, channels);
    if (!vit_multiply(width, channels, &row) || !vit_multiply(row + 1, height, &size) ||
        size > MOST_BYTES)
        return vit_fail(error, VIT_ERROR_UNSUPPORTED,
                        "no PNG: a picture of %zu x %zu with %zu channels has more than 1 GiB",
                        width, height, channels);
    compressed = NULL;
    out->data =
        stbi_write_png_to_mem(pixels, (int)row, (int)width, (int)height, (int)channels, &length);
    if (!out->data) {
        vit_free(compressed);
        return vit_fail_memory(error, "a PNG", size);
    }
    out->size = (size_t)length;
    return VIT_OK;
}
