#include "vit/base/size.h"
#include "vit/base/sys.h"
#include "vit/image/codec/codecs.h"
#include "vit/image/codec/source.h"
#include "vit/image/pixels.h"

#include <stdio.h>
#include <string.h>

#include <tiffio.h>

/* TIFF by libtiff: the first picture of a file, with Pillow's pixels, and turned upright, as
 * Pillow turns it whenever it loads one. Of 16 bits the upper eight are used.
 *
 * libtiff fills what is damaged and warns: any warning about pixels is an error here. */

enum {
    MAX_SAMPLES = 6, /* of a pixel */
    MESSAGE = 200,
    OLD_JPEG = 6,
};

static const tmsize_t max_memory = (tmsize_t)1 << 30;    /* of one allocation of libtiff's */
static const size_t max_area = 2 * VIT_IMAGE_MAX_PIXELS; /* of all tiles */

typedef struct tiff {
    const vit_source *source;
    TIFF *file;
    char message[MESSAGE]; /* the first error; of pixels, or warning */
    bool in_pixels;
    size_t at; /* what is read next; the file is mapped, too */
    size_t width, height;
    uint16_t photometric, compression, bits, samples, planes;
    size_t colors, channels; /* samples that are colors; channels of the picture */
    bool has_alpha, is_premultiplied;
    const uint16_t *palette[3];
    unsigned orientation;
} tiff;

/* ---- libtiff's callbacks ---- */

static int report(tiff *t, const char *module, const char *format, va_list arguments) {
    if (t->message[0]) return 1;
    const int used = module ? snprintf(t->message, MESSAGE, "%s: ", module) : 0;
    if (used >= 0 && used < MESSAGE)
        vsnprintf(t->message + used, (size_t)(MESSAGE - used), format, arguments);
    return 1;
}

static int on_error(TIFF *file, void *t, const char *module, const char *format,
                    va_list arguments) {
    (void)file;
    return report(t, module, format, arguments);
}

/* Of the header only those warnings are damage that say that data of a tag are not in the file, or
 * that there is no palette, without which libtiff would make grey of the indices. Of pixels all
 * are, except that old LZW code is unusual. */
static int on_warning(TIFF *file, void *handle, const char *module, const char *format,
                      va_list arguments) {
    tiff *t = handle;
    (void)file;
    if (t->message[0] || strncmp(format, "Old-style LZW", 13) == 0) return 1;
    report(t, module, format, arguments);
    if (!t->in_pixels && !strstr(t->message, "IO error") && !strstr(t->message, "ColorMap"))
        t->message[0] = '\0';
    return 1;
}

static tmsize_t read_bytes(thandle_t handle, void *to, tmsize_t size) {
    tiff *t = handle;
    const size_t left = t->source->size - t->at, count = vit_min((size_t)size, left);
    memcpy(to, t->source->bytes + t->at, count);
    t->at += count;
    return (tmsize_t)count;
}
static tmsize_t write_nothing(thandle_t t, void *bytes, tmsize_t size) {
    (void)t, (void)bytes, (void)size;
    return 0;
}
/* Offsets are of the file, never relative. */
static toff_t seek(thandle_t handle, toff_t offset, int whence) {
    tiff *t = handle;
    if (whence != SEEK_SET || offset > t->source->size) return (toff_t)-1;
    t->at = offset;
    return offset;
}
static int close_nothing(thandle_t t) {
    (void)t;
    return 0;
}
static toff_t size_of(thandle_t t) {
    return ((const tiff *)t)->source->size;
}
static int map(thandle_t handle, void **base, toff_t *size) {
    const tiff *t = handle;
    union { /* libtiff does not write to what it reads */
        const uint8_t *constant;
        void *memory;
    } bytes = {.constant = t->source->bytes};
    *base = bytes.memory;
    *size = t->source->size;
    return 1;
}
static void unmap_nothing(thandle_t t, void *base, toff_t size) {
    (void)t, (void)base, (void)size;
}

static vit_status corrupt(const tiff *t) {
    return vit_source_corrupt(t->source, "%s",
                              t->message[0] ? t->message : "libtiff cannot read it");
}

static vit_status open_file(tiff *t) {
    TIFFOpenOptions *options = TIFFOpenOptionsAlloc();
    if (!options) return vit_fail_memory(t->source->error, t->source->name, 0);
    TIFFOpenOptionsSetMaxSingleMemAlloc(options, max_memory);
    TIFFOpenOptionsSetErrorHandlerExtR(options, on_error, t);
    TIFFOpenOptionsSetWarningHandlerExtR(options, on_warning, t);
    t->file = TIFFClientOpenExt(t->source->name, "r", t, read_bytes, write_nothing, seek,
                                close_nothing, size_of, map, unmap_nothing, options);
    TIFFOpenOptionsFree(options);
    return t->file && !t->message[0] ? VIT_OK : corrupt(t);
}

/* ---- the header ---- */

static vit_status check_compression(const tiff *t) {
    switch (t->compression) {
    case COMPRESSION_NONE:
    case COMPRESSION_CCITTRLE:
    case COMPRESSION_CCITTFAX3:
    case COMPRESSION_CCITTFAX4:
    case COMPRESSION_LZW:
    case COMPRESSION_JPEG:
    case COMPRESSION_PACKBITS:
    case COMPRESSION_ADOBE_DEFLATE:
    case COMPRESSION_DEFLATE:
    case COMPRESSION_LZMA:
    case COMPRESSION_ZSTD:
    case COMPRESSION_WEBP:
        if (TIFFIsCODECConfigured(t->compression)) return VIT_OK;
        return vit_source_refuse(t->source,
                                 "has compression %u, which this libtiff was built "
                                 "without",
                                 t->compression);
    case OLD_JPEG:
        return vit_source_refuse(t->source, "has JPEG compression of the old kind (6), which is "
                                            "not read: save it as a PNG");
    default:
        return vit_source_refuse(t->source,
                                 "has compression %u, which is not read: save it as a "
                                 "PNG",
                                 t->compression);
    }
}

/* How samples become colors. */
static vit_status check_colors(tiff *t) {
    const bool is_jpeg = t->compression == COMPRESSION_JPEG && t->planes == PLANARCONFIG_CONTIG;
    bool is_known = t->bits == 8 || t->bits == 16;
    switch (t->photometric) {
    case PHOTOMETRIC_MINISWHITE:
    case PHOTOMETRIC_MINISBLACK:
        t->colors = 1;
        is_known |= (t->bits == 1 || t->bits == 2 || t->bits == 4) && t->samples == 1;
        break;
    case PHOTOMETRIC_PALETTE:
        t->colors = 1;
        is_known =
            t->bits == 8 || ((t->bits == 1 || t->bits == 2 || t->bits == 4) && t->samples == 1);
        break;
    case PHOTOMETRIC_RGB:
        t->colors = 3;
        break;
    case PHOTOMETRIC_SEPARATED:
        t->colors = 4;
        break;
    case PHOTOMETRIC_YCBCR: /* libjpeg makes RGB of it */
        t->colors = 3;
        is_known = t->bits == 8 && is_jpeg;
        break;
    default:
        is_known = false;
    }
    if (is_known && t->samples >= t->colors && t->samples <= MAX_SAMPLES) return VIT_OK;
    return vit_source_refuse(t->source,
                             "has %u samples of %u bits with photometric interpretation %u, "
                             "compression %u, which is not read: save it as a PNG",
                             t->samples, t->bits, t->photometric, t->compression);
}

static vit_status check_samples(tiff *t) {
    uint16_t format = SAMPLEFORMAT_UINT, count = 0, *extra = NULL;
    const bool is_palette = t->photometric == PHOTOMETRIC_PALETTE;
    uint16_t *palette[3];
    TIFFGetFieldDefaulted(t->file, TIFFTAG_SAMPLEFORMAT, &format);
    if (format != SAMPLEFORMAT_UINT)
        return vit_source_refuse(t->source, "has %s samples; unsigned integers are read",
                                 format == SAMPLEFORMAT_IEEEFP ? "floating-point" : "signed");
    TIFFGetFieldDefaulted(t->file, TIFFTAG_EXTRASAMPLES, &count, &extra);
    const bool is_extra = t->samples > t->colors && count > 0;
    t->is_premultiplied = is_extra && extra[0] == EXTRASAMPLE_ASSOCALPHA;
    t->has_alpha = t->is_premultiplied || (is_extra && extra[0] == EXTRASAMPLE_UNASSALPHA);
    if (t->photometric == PHOTOMETRIC_SEPARATED) t->has_alpha = t->is_premultiplied = false;
    if (t->is_premultiplied && t->colors == 1)
        return vit_source_refuse(t->source, "has premultiplied alpha beside grey, which is not "
                                            "read: save it as a PNG");
    t->channels = t->colors == 1 && !is_palette ? 1 : 3;
    if (t->has_alpha) t->channels++;
    if (!is_palette) return VIT_OK;
    if (!TIFFGetField(t->file, TIFFTAG_COLORMAP, &palette[0], &palette[1], &palette[2]))
        return vit_source_corrupt(t->source, "its palette is missing");
    for (int i = 0; i < 3; i++) t->palette[i] = palette[i];
    return VIT_OK;
}

static unsigned orientation_of(const tiff *t) {
    uint16_t orientation = 0;
    uint32_t size = 0;
    const void *text = NULL;
    if (TIFFGetField(t->file, TIFFTAG_ORIENTATION, &orientation))
        return orientation <= 8 ? orientation : 0;
    if (!TIFFGetField(t->file, TIFFTAG_XMLPACKET, &size, &text)) return 0;
    orientation = (uint16_t)vit_xmp_orientation(text, size);
    return orientation <= 8 ? orientation : 0;
}

static vit_status read_header(tiff *t) {
    uint32_t width = 0, height = 0;
    TIFFGetField(t->file, TIFFTAG_IMAGEWIDTH, &width);
    TIFFGetField(t->file, TIFFTAG_IMAGELENGTH, &height);
    TIFFGetField(t->file, TIFFTAG_PHOTOMETRIC, &t->photometric);
    TIFFGetFieldDefaulted(t->file, TIFFTAG_COMPRESSION, &t->compression);
    TIFFGetFieldDefaulted(t->file, TIFFTAG_BITSPERSAMPLE, &t->bits);
    TIFFGetFieldDefaulted(t->file, TIFFTAG_SAMPLESPERPIXEL, &t->samples);
    TIFFGetFieldDefaulted(t->file, TIFFTAG_PLANARCONFIG, &t->planes);
    t->width = width;
    t->height = height;
    vit_status status = vit_source_check_size(t->source, width, height);
    if (status == VIT_OK) status = check_compression(t);
    if (status == VIT_OK) status = check_colors(t);
    if (status == VIT_OK) status = check_samples(t);
    if (status == VIT_OK) t->orientation = orientation_of(t);
    return status;
}

/* ---- pixels: by blocks, which are tiles or strips ---- */

typedef struct blocks {
    size_t width, height; /* of a block; at the edges tiles are filled up, strips end */
    bool are_tiles;
    uint8_t *raw;     /* one block of one plane, as libtiff gives it */
    uint8_t *samples; /* [height][width][t->samples] of 8 bits, or indices */
} blocks;

static bool is_separate(const tiff *t) {
    return t->planes == PLANARCONFIG_SEPARATE && t->samples > 1;
}

/* Bytes of a row of a block. */
static size_t row_bytes(const tiff *t, size_t width) {
    return (width * t->bits * (is_separate(t) ? 1U : t->samples) + 7) / 8;
}

/* `count` samples of a row, `step` apart in `to`. */
static void unpack(const tiff *t, uint8_t *to, const uint8_t *from, size_t count, size_t step) {
    const unsigned mask = (1U << t->bits) - 1;
    const unsigned scale = t->palette[0] || mask > 255 ? 1 : 255 / mask;
    uint16_t deep;
    for (size_t i = 0; i < count; i++, to += step) {
        if (t->bits == 16) { /* in the machine's order of bytes */
            memcpy(&deep, from + 2 * i, 2);
            *to = (uint8_t)(deep >> 8);
        } else {
            const size_t bit = i * t->bits;
            *to = (uint8_t)((from[bit / 8] >> (8 - t->bits - bit % 8) & mask) * scale);
        }
    }
}

static void divide_by_alpha(uint8_t *rgba) {
    const unsigned alpha = rgba[3];
    for (int i = 0; i < 3; i++)
        rgba[i] = alpha == 0 ? 0 : (uint8_t)vit_min(rgba[i] * 255U / alpha, 255);
}

static void put_row(const tiff *t, uint8_t *to, const uint8_t *from, size_t width) {
    for (size_t x = 0; x < width; x++, to += t->channels, from += t->samples) {
        switch (t->photometric) {
        case PHOTOMETRIC_MINISWHITE:
            to[0] = (uint8_t)(255 - from[0]);
            break;
        case PHOTOMETRIC_PALETTE:
            for (int i = 0; i < 3; i++) to[i] = (uint8_t)(t->palette[i][from[0]] >> 8);
            break;
        case PHOTOMETRIC_SEPARATED:
            vit_cmyk_to_rgb(to, from, 1, false);
            break;
        default:
            memcpy(to, from, t->colors);
        }
        if (t->has_alpha) to[t->channels - 1] = from[t->colors];
        if (t->is_premultiplied) divide_by_alpha(to);
    }
}

/* b->samples = the samples of the block at (left, top). */
static vit_status read_block(tiff *t, const blocks *b, size_t left, size_t top) {
    const size_t rows = b->are_tiles ? b->height : vit_min(b->height, t->height - top);
    const size_t bytes = row_bytes(t, b->width), planes = is_separate(t) ? t->samples : 1;
    for (size_t plane = 0; plane < planes; plane++) {
        const uint32_t x = (uint32_t)left, y = (uint32_t)top;
        const tmsize_t size = (tmsize_t)(rows * bytes);
        const tmsize_t found =
            b->are_tiles
                ? TIFFReadEncodedTile(t->file, TIFFComputeTile(t->file, x, y, 0, (uint16_t)plane),
                                      b->raw, size)
                : TIFFReadEncodedStrip(t->file, TIFFComputeStrip(t->file, y, (uint16_t)plane),
                                       b->raw, size);
        if (found < size || t->message[0]) return corrupt(t);
        const size_t count = b->width * (planes > 1 ? 1U : t->samples);
        for (size_t i = 0; i < rows; i++)
            unpack(t, b->samples + i * b->width * t->samples + plane, b->raw + i * bytes, count,
                   planes);
    }
    return VIT_OK;
}

static vit_status read_blocks(const vit_image *out, tiff *t, const blocks *b) {
    for (size_t top = 0; top < t->height; top += b->height) {
        const size_t rows = vit_min(b->height, t->height - top);
        for (size_t left = 0; left < t->width; left += b->width) {
            const size_t columns = vit_min(b->width, t->width - left);
            const vit_status status = read_block(t, b, left, top);
            if (status != VIT_OK) return status;
            for (size_t i = 0; i < rows; i++)
                put_row(t, out->pixels + ((top + i) * t->width + left) * t->channels,
                        b->samples + i * b->width * t->samples, columns);
        }
    }
    return VIT_OK;
}

/* The size of blocks. libtiff must agree on their bytes. */
static vit_status plan_blocks(blocks *b, tiff *t) {
    uint32_t width = (uint32_t)t->width, height = (uint32_t)t->height;
    b->are_tiles = TIFFIsTiled(t->file) != 0;
    if (b->are_tiles) {
        TIFFGetField(t->file, TIFFTAG_TILEWIDTH, &width);
        TIFFGetField(t->file, TIFFTAG_TILELENGTH, &height);
    } else {
        TIFFGetFieldDefaulted(t->file, TIFFTAG_ROWSPERSTRIP, &height);
        height = (uint32_t)vit_min(height, t->height);
    }
    if (width == 0 || height == 0) return vit_source_corrupt(t->source, "its blocks are empty");
    const size_t across = vit_ceil_div(t->width, width), down = vit_ceil_div(t->height, height);
    if (width > max_area / across || height > max_area / (across * width) / down)
        return vit_source_refuse(t->source,
                                 "has tiles of %u x %u pixels for a picture of %zu x "
                                 "%zu: together too large",
                                 width, height, t->width, t->height);
    b->width = width;
    b->height = height;
    const size_t bytes = row_bytes(t, width) * height;
    const tmsize_t found = b->are_tiles ? TIFFTileSize(t->file) : TIFFStripSize(t->file);
    if (found != (tmsize_t)bytes || found > max_memory) return corrupt(t);
    return VIT_OK;
}

static vit_status decode(vit_image *out, tiff *t) {
    const vit_source *s = t->source;
    blocks b = {0};
    if (t->photometric == PHOTOMETRIC_YCBCR)
        TIFFSetField(t->file, TIFFTAG_JPEGCOLORMODE, JPEGCOLORMODE_RGB);
    t->in_pixels = true;
    vit_status status = plan_blocks(&b, t);
    if (status != VIT_OK) return status;
    status = vit_image_new(out, s->name, t->width, t->height, t->channels, s->error);
    if (status != VIT_OK) return status;
    const size_t raw = row_bytes(t, b.width) * b.height, area = b.width * b.height;
    b.raw = vit_alloc(raw, 1);
    b.samples = vit_alloc(area, t->samples);
    status = b.raw && b.samples ? read_blocks(out, t, &b)
                                : vit_fail_memory(s->error, s->name, raw + area * t->samples);
    vit_free(b.raw);
    vit_free(b.samples);
    return status;
}

static vit_status turn(vit_image *image, unsigned orientation, vit_error *error) {
    vit_image turned;
    image->orientation = orientation;
    const vit_status status = vit_image_orient(&turned, image, error);
    if (status != VIT_OK) return status;
    vit_image_free(image);
    *image = turned;
    return VIT_OK;
}

vit_status vit_tiff_read(vit_image *out, const vit_source *source, bool header) {
    tiff t = {.source = source};
    vit_status status = open_file(&t);
    if (status == VIT_OK) status = read_header(&t);
    if (status == VIT_OK) *out = (vit_image){.width = t.width, .height = t.height};
    if (status == VIT_OK && !header) {
        status = decode(out, &t);
        if (status == VIT_OK && t.orientation > 1) status = turn(out, t.orientation, source->error);
    }
    if (t.file) TIFFClose(t.file);
    return status;
}
