#include "vit/image/codec/decode.h"
#include "vit/base/sys.h"
#include "vit/image/codec/container.h"

#include <string.h>

/* What other files begin with, so that the message can name them. */
static const struct {
    size_t at, size;
    const char *bytes, *what;
} formats[] = {
    {0, 4, "GIF8", "a GIF"},
    {8, 4, "WEBP", "a WebP"},
    {0, 4, "II*\0", "a TIFF"},
    {0, 4, "MM\0*", "a TIFF"},
    {4, 8, "ftypheic", "a HEIC"},
    {4, 8, "ftypheix", "a HEIC"},
    {4, 8, "ftypavif", "an AVIF"},
    {4, 8, "ftypavis", "an AVIF"},
    {4, 8, "ftypmif1", "a HEIF"},
    {4, 8, "ftypmsf1", "a HEIF"},
    {4, 7, "ftyphev", "a HEIF"},
    {4, 4, "ftyp", "a video or another ISO media file"},
    {4, 8, "JXL \r\n\x87\n", "a JPEG XL"},
    {0, 2, "\xff\n", "a JPEG XL"},
    {4, 8, "jP  \r\n\x87\n", "a JPEG 2000"},
    {0, 4, "II+\0", "a BigTIFF"},
    {0, 4, "v/1\1", "an OpenEXR"},
    {0, 4, "DDS ", "a DDS texture"},
    {0, 4, "icns", "an Apple icon"},
    {0, 8, "\x8aMNG\r\n\x1a\n", "an MNG"},
    {0, 8, "\x8bJNG\r\n\x1a\n", "a JNG"},
    {0, 2, "#?", "a Radiance picture"},
    {0, 2, "P4", "a PBM"},
    {0, 2, "P5", "a PGM"},
    {0, 2, "P6", "a PPM"},
    {0, 4, "8BPS", "a Photoshop document"},
    {0, 4, "qoif", "a QOI"},
    {0, 4, "\0\0\1\0", "an ICO"},
    {0, 4, "%PDF", "a PDF"},
    {0, 2, "\x1f\x8b", "gzip-compressed"},
    {0, 2, "PK", "a ZIP archive"},
    {0, 2, "BM", "a BMP"},
};

static bool is_text(const uint8_t *bytes, size_t size) {
    for (size_t i = 0; i < size && i < 512; i++) {
        if (bytes[i] < ' ' && !strchr("\t\n\f\r", bytes[i])) return false;
        if (bytes[i] == 0 || bytes[i] == 0x7f) return false;
    }
    return true;
}

static vit_status refuse_format(const uint8_t *bytes, size_t size, const char *name,
                                vit_error *error) {
    const char *what = is_text(bytes, size) ? "text" : NULL;
    if (size == 0) {
        return vit_fail(error, VIT_ERROR_FORMAT, "%s: the file is empty, expected a PNG or a JPEG",
                        name);
    }
    if (size == 2 && memcmp(bytes, "\xff\xd8", 2) == 0)
        return vit_fail(error, VIT_ERROR_FORMAT, "%s: truncated JPEG: it ends after 2 bytes", name);
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        if (size >= formats[i].at + formats[i].size &&
            memcmp(bytes + formats[i].at, formats[i].bytes, formats[i].size) == 0) {
            what = formats[i].what;
            break;
        }
    }
    if (what) {
        return vit_fail(error, VIT_ERROR_UNSUPPORTED,
                        "%s: the file is %s; PNG and JPEG are read: convert it to one of these",
                        name, what);
    }
    if (size >= 4 && memcmp(bytes + 1, "PNG", 3) == 0) {
        return vit_fail(error, VIT_ERROR_FORMAT,
                        "%s: corrupt PNG: its signature is damaged, as by a transfer in text mode",
                        name);
    }
    return vit_fail(error, VIT_ERROR_FORMAT,
                    "%s: the file begins with byte 0x%02X and is neither a PNG nor a JPEG", name,
                    bytes[0]);
}

static vit_status check_file_size(size_t size, const char *name, vit_error *error) {
    if (size <= VIT_IMAGE_MAX_FILE) return VIT_OK;
    return vit_fail(error, VIT_ERROR_UNSUPPORTED,
                    "%s: the file has %zu bytes, at most %zu are read", name, size,
                    VIT_IMAGE_MAX_FILE);
}

vit_status vit_image_measure(size_t *width, size_t *height, const void *bytes, size_t size,
                             const char *name, vit_error *error) {
    vit_png png = {0};
    *width = *height = 0;
    vit_status status = check_file_size(size, name, error);
    if (status) return status;
    if (vit_png_recognise(bytes, size)) {
        status = vit_png_check(&png, bytes, size, name, error);
        *width = png.width;
        *height = png.height;
    } else if (vit_jpeg_recognise(bytes, size)) {
        status = vit_jpeg_measure(width, height, bytes, size, name, error);
    } else {
        status = refuse_format(bytes, size, name, error);
    }
    return status;
}

vit_status vit_image_decode(vit_image *out, const void *bytes, size_t size, const char *name,
                            vit_error *error) {
    *out = (vit_image){0};
    vit_status status = check_file_size(size, name, error);
    if (status) return status;
    if (vit_png_recognise(bytes, size)) return vit_png_decode(out, bytes, size, name, error);
    if (vit_jpeg_recognise(bytes, size)) return vit_jpeg_decode(out, bytes, size, name, error);
    return refuse_format(bytes, size, name, error);
}

vit_status vit_image_load(vit_image *out, const char *path, vit_error *error) {
    const char *name = strcmp(path, "-") == 0 ? "standard input" : path;
    vit_bytes file = {0};
    *out = (vit_image){0};
    vit_status status = vit_read_file(&file, path, VIT_IMAGE_MAX_FILE, error);
    if (!status) status = vit_image_decode(out, file.data, file.size, name, error);
    vit_free(file.data);
    return status;
}
