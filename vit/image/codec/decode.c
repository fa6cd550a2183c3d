#include "vit/image/codec/decode.h"
#include "vit/base/build.h"
#include "vit/base/sys.h"
#include "vit/image/codec/codecs.h"
#include "vit/image/codec/source.h"

#include <string.h>

/* Why a file is not read that is neither a PNG nor a JPEG nor of a format that is built in. */
static vit_status refuse_format(const uint8_t *bytes, size_t size, const char *name,
                                const vit_format *format, vit_error *error) {
    if (size == 0)
        return vit_fail(error, VIT_ERROR_FORMAT, "%s: the file is empty, expected a picture", name);
    if (size == 2 && memcmp(bytes, "\xff\xd8", 2) == 0)
        return vit_fail(error, VIT_ERROR_FORMAT, "%s: truncated JPEG: it ends after 2 bytes", name);
    if (format)
        return vit_fail(error, VIT_ERROR_UNSUPPORTED,
                        "%s: the file is %s, for which this vit was built without %s: install it "
                        "(scripts/setup) and build again, or convert the file to PNG",
                        name, format->begin.what, format->library);
    const char *what = vit_format_name(bytes, size);
    if (what)
        return vit_fail(error, VIT_ERROR_UNSUPPORTED,
                        "%s: the file is %s; pictures are read as %s: convert it to one of these",
                        name, what, vit_picture_formats());
    if (size >= 4 && memcmp(bytes + 1, "PNG", 3) == 0)
        return vit_fail(error, VIT_ERROR_FORMAT,
                        "%s: corrupt PNG: its signature is damaged, as by a transfer in text mode",
                        name);
    return vit_fail(error, VIT_ERROR_FORMAT,
                    "%s: the file begins with byte 0x%02X and is no picture that is read here: %s",
                    name, bytes[0], vit_picture_formats());
}

static vit_status check_file_size(size_t size, const char *name, vit_error *error) {
    if (size <= VIT_IMAGE_MAX_FILE) return VIT_OK;
    return vit_fail(error, VIT_ERROR_UNSUPPORTED,
                    "%s: the file has %zu bytes, at most %zu are read", name, size,
                    VIT_IMAGE_MAX_FILE);
}

static vit_status open_png(vit_image_file *out, size_t size, vit_error *error) {
    out->png = vit_alloc(1, sizeof *out->png);
    if (!out->png) return vit_fail_memory(error, out->name, sizeof *out->png);
    const vit_status status = vit_png_check(out->png, out->bytes, size, out->name, error);
    out->image.width = out->png->width;
    out->image.height = out->png->height;
    return status;
}

/* A file of another format: only its header, or its pixels, too. */
static vit_status read_other(vit_image_file *file, bool header, vit_error *error) {
    const vit_source source = {file->bytes, file->size, file->name, file->format->name, error};
    file->image = (vit_image){0};
    return file->format->read(&file->image, &source, header);
}

static vit_status open_other(vit_image_file *out, size_t size, vit_error *error) {
    const vit_format *format = vit_format_find(out->bytes, size);
    if (!format || !format->read) return refuse_format(out->bytes, size, out->name, format, error);
    out->format = format;
    return read_other(out, true, error);
}

vit_status vit_image_open(vit_image_file *out, const void *bytes, size_t size, const char *name,
                          vit_error *error) {
    *out = (vit_image_file){.bytes = bytes, .size = size, .name = name};
    vit_status status = check_file_size(size, name, error);
    if (status != VIT_OK) return status;
    if (vit_png_recognise(bytes, size))
        status = open_png(out, size, error);
    else if (vit_jpeg_recognise(bytes, size))
        status = vit_jpeg_open(&out->jpeg, &out->image, bytes, size, name, error);
    else
        status = open_other(out, size, error);
    if (status != VIT_OK) vit_image_close(out);
    return status;
}

vit_status vit_image_measure(size_t *width, size_t *height, const void *bytes, size_t size,
                             const char *name, vit_error *error) {
    vit_image_file file;
    const vit_status status = vit_image_open(&file, bytes, size, name, error);
    *width = status == VIT_OK ? file.image.width : 0;
    *height = status == VIT_OK ? file.image.height : 0;
    if (status == VIT_OK) vit_image_close(&file);
    return status;
}

vit_status vit_image_narrow(const vit_image_file *file, size_t *left, size_t *width,
                            vit_error *error) {
    return vit_jpeg_narrow(file->jpeg, left, width, error);
}

vit_status vit_image_read_rows(vit_image_file *file, uint8_t *rows, size_t count,
                               vit_error *error) {
    return vit_jpeg_rows(file->jpeg, rows, count, error);
}

vit_status vit_image_read(vit_image_file *file, vit_error *error) {
    vit_image *image = &file->image;
    if (image->pixels) return VIT_OK;
    if (file->png) return vit_png_decode(image, file->png, file->bytes, file->name, error);
    if (file->format) return read_other(file, false, error);
    const size_t bytes = image->width * image->height * image->channels;
    image->pixels = vit_alloc_unset(bytes, 1);
    if (!image->pixels) return vit_fail_memory(error, file->name, bytes);
    return vit_image_read_rows(file, image->pixels, image->height, error);
}

void vit_image_close(vit_image_file *file) {
    vit_jpeg_close(file->jpeg);
    vit_free(file->png);
    vit_image_free(&file->image);
    *file = (vit_image_file){0};
}

vit_status vit_image_decode(vit_image *out, const void *bytes, size_t size, const char *name,
                            vit_error *error) {
    vit_image_file file;
    *out = (vit_image){0};
    vit_status status = vit_image_open(&file, bytes, size, name, error);
    if (status != VIT_OK) return status;
    status = vit_image_read(&file, error);
    if (status == VIT_OK) {
        *out = file.image;
        file.image = (vit_image){0};
    }
    vit_image_close(&file);
    return status;
}

vit_status vit_image_read_file(vit_bytes *bytes, const char **name, const char *path,
                               vit_error *error) {
    *bytes = (vit_bytes){0};
    *name = strcmp(path, "-") == 0 ? "standard input" : path;
    return vit_read_file(bytes, path, VIT_IMAGE_MAX_FILE, error);
}

vit_status vit_image_load(vit_image *out, const char *path, vit_error *error) {
    vit_bytes file;
    const char *name;
    *out = (vit_image){0};
    vit_status status = vit_image_read_file(&file, &name, path, error);
    if (status == VIT_OK) status = vit_image_decode(out, file.data, file.size, name, error);
    vit_free(file.data);
    return status;
}
