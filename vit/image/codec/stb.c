#include "vit/base/sys.h"
#include "vit/formats/inflate.h"
#include "vit/image/codec/codecs.h"
#include "vit/image/codec/source.h"

#include <string.h>

/* stb_image allocates and decompresses through functions that have no argument for a context, so
 * the budget of a call is a thread-local variable. It is set and cleared within vit_stb_decode;
 * nothing outlives the call. */
static _Thread_local struct budget {
    size_t left;
    size_t refused;    /* the bytes that the system could not allocate; 0: none */
    bool is_overdrawn; /* more was wanted than the picture can need */
    size_t inflated;   /* of a PNG: bytes of its data when decompressed */
    const char *wrong; /* with these data; NULL: nothing */
} budget;

/* Freed memory does not return to the budget, which is for all allocations together. */
static bool spend(size_t bytes) {
    if (bytes > budget.left) {
        budget.is_overdrawn = true;
        return false;
    }
    budget.left -= bytes;
    return true;
}

/* Zeroed, so that pixels which a file leaves undefined are the same every time. */
static void *allocate(size_t bytes) {
    if (!spend(bytes)) return NULL;
    void *memory = vit_alloc(bytes, 1);
    if (!memory) budget.refused = bytes;
    return memory;
}

static void *reallocate(void *old, size_t old_bytes, size_t bytes) {
    if (!old) return allocate(bytes);
    if (!spend(bytes)) return NULL;
    void *memory = vit_realloc(old, old_bytes, bytes, 1);
    if (!memory) budget.refused = bytes;
    return memory;
}

#define STB_IMAGE_IMPLEMENTATION
#define STB_IMAGE_STATIC
#ifndef VIT_JPEG
#define STBI_ONLY_JPEG /* for jpeg_stb.c */
#endif
#define STBI_ONLY_PNG
#define STBI_ONLY_BMP
#define STBI_ONLY_TGA
#define STBI_ONLY_PNM
#define STBI_NO_ZLIB /* its decompressor is below */
#define STBI_NO_STDIO
#define STBI_NO_FAILURE_STRINGS /* one of them is a buffer that threads share */
#define STBI_MAX_DIMENSIONS 65535
#define STBI_ASSERT(condition) ((void)0) /* the library never aborts */
#define STBI_MALLOC(bytes) allocate(bytes)
#define STBI_REALLOC_SIZED(memory, old_bytes, bytes) reallocate(memory, old_bytes, bytes)
#define STBI_FREE(memory) vit_free(memory)

/* This warning is reported at the end of the file, so that it cannot be switched on again. */
#pragma GCC diagnostic ignored "-Wunused-function"
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wsign-conversion"
#pragma GCC diagnostic ignored "-Wshadow"
#pragma GCC diagnostic ignored "-Wsign-compare"
#pragma GCC diagnostic ignored "-Wunused-parameter"
#pragma GCC diagnostic ignored "-Wunused-but-set-variable"
#pragma GCC diagnostic ignored "-Wmissing-prototypes"
#pragma GCC diagnostic ignored "-Wpedantic"
#include <stb_image.h>
#pragma GCC diagnostic pop

/* What is wrong with the data of a PNG; NULL: nothing. They fill to[size]; more than these are left
 * out, as by Pillow, and so is a missing checksum. */
static const char *decompress(char *to, size_t size, const char *data, size_t count) {
    z_stream zlib = vit_inflate_stream();
    if (inflateInit(&zlib) != Z_OK) {
        budget.refused = count;
        return "are not decompressed";
    }
    int status = Z_OK;
    zlib.next_in = (const uint8_t *)data;
    zlib.avail_in = (uInt)count;
    zlib.next_out = (uint8_t *)to;
    zlib.avail_out = (uInt)size;
    while (status == Z_OK) status = inflate(&zlib, Z_NO_FLUSH); /* checks the sum at the end */
    const bool is_whole = zlib.avail_out == 0;
    inflateEnd(&zlib);
    if (status == Z_MEM_ERROR) budget.refused = size;
    if (status == Z_DATA_ERROR)
        return is_whole ? "have another checksum (Adler-32) than it says" : "are damaged";
    if (status == Z_STREAM_END || status == Z_BUF_ERROR) return is_whole ? NULL : "end too early";
    return "are damaged";
}

/* Takes the place of stb_image's decompressor. `guess` is what it takes for the size. */
STBIDEF char *stbi_zlib_decode_malloc_guesssize_headerflag(const char *data, int count, int guess,
                                                           int *size, int has_header) {
    char *to = allocate(budget.inflated);
    (void)guess;
    (void)has_header; /* always: Apple's variant without one is refused before */
    if (!to) return NULL;
    budget.wrong = decompress(to, budget.inflated, data, (size_t)count);
    *size = (int)budget.inflated;
    if (!budget.wrong) return to;
    vit_free(to);
    return NULL;
}

vit_status vit_stb_decode(vit_image *out, const vit_stb_file *file, const char *name,
                          vit_error *error) {
    int width = 0, height = 0, own = 0;
    const int channels = (int)file->channels;
    *out = (vit_image){0};
    budget = (struct budget){.left = file->budget, .inflated = file->inflated};
    uint8_t *pixels =
        stbi_load_from_memory(file->bytes, (int)file->size, &width, &height, &own, channels);
    struct budget end = budget;
    budget = (struct budget){0};
    if (end.refused || end.is_overdrawn) vit_free(pixels);
    if (end.refused) return vit_fail_memory(error, name, end.refused);
    if (end.is_overdrawn)
        return vit_fail(error, VIT_ERROR_FORMAT,
                        "%s: its data unpack to far more than the picture needs", name);
    if (!pixels && end.wrong)
        return vit_fail(error, VIT_ERROR_FORMAT, "%s: corrupt PNG: its compressed pixels %s", name,
                        end.wrong);
    if (!pixels)
        return vit_fail(error, VIT_ERROR_FORMAT, "%s: its compressed pixels are corrupt", name);
    *out = (vit_image){.pixels = pixels,
                       .width = (size_t)width,
                       .height = (size_t)height,
                       .channels = (size_t)(channels ? channels : own)};
    return VIT_OK;
}

vit_status vit_stb_read(vit_image *out, const vit_source *s, size_t channels) {
    const size_t pixels = out->width * out->height * channels;
    const vit_stb_file file = {
        .bytes = s->bytes, .size = s->size, .channels = channels, .budget = pixels + (1 << 12)};
    const vit_image want = *out;
    const vit_status status = vit_stb_decode(out, &file, s->name, s->error);
    if (status != VIT_OK || (out->width == want.width && out->height == want.height)) return status;
    return vit_source_corrupt(s, "its header has two sizes");
}
