#include "vit/image/codec/source.h"

#include <string.h>

#include <libheif/heif.h>

/* HEIC, AVIF and other HEIF by libheif, with its pixels: the primary picture, turned and cropped as
 * the file says, deeper samples reduced to 8 bits. EXIF data say the same and are not read. What
 * libheif passes to the decoders of HEVC and AV1 is checked by them: not all damage shows. */

static vit_status refuse(const vit_source *s, struct heif_error e) {
    switch (e.code) {
    case heif_error_Memory_allocation_error:
        if (e.subcode == heif_suberror_Security_limit_exceeded)
            return vit_source_refuse(s, "goes past a limit of libheif: %s", e.message);
        return vit_fail_memory(s->error, s->name, 0);
    case heif_error_Unsupported_filetype:
    case heif_error_Unsupported_feature:
        return vit_source_refuse(s, "cannot be read by this libheif: %s", e.message);
    default:
        return vit_source_corrupt(s, "%s", e.message);
    }
}

static vit_status copy(vit_image *out, struct heif_image *image, const vit_source *s) {
    int stride = 0;
    const uint8_t *from = heif_image_get_plane_readonly(image, heif_channel_interleaved, &stride);
    const int width = heif_image_get_width(image, heif_channel_interleaved);
    const int height = heif_image_get_height(image, heif_channel_interleaved);
    const size_t channels =
        heif_image_get_chroma_format(image) == heif_chroma_interleaved_RGBA ? 4 : 3;
    struct heif_error warning;
    if (heif_image_get_decoding_warnings(image, 0, &warning, 1) > 0) return refuse(s, warning);
    if (!from || width < 1 || height < 1) return vit_source_corrupt(s, "it has no pixels");
    vit_status status = vit_source_check_size(s, (size_t)width, (size_t)height);
    if (status != VIT_OK) return status;
    return vit_image_from_pixels(out, from, (size_t)width, (size_t)height, channels, (size_t)stride,
                                 s->error);
}

static vit_status decode(vit_image *out, const struct heif_image_handle *handle,
                         const vit_source *s) {
    struct heif_decoding_options *options = heif_decoding_options_alloc();
    struct heif_image *image = NULL;
    if (!options) return vit_fail_memory(s->error, s->name, 0);
    options->convert_hdr_to_8bit = 1;
    options->strict_decoding = 1;
    const struct heif_error e =
        heif_decode_image(handle, &image, heif_colorspace_RGB,
                          heif_image_handle_has_alpha_channel(handle) ? heif_chroma_interleaved_RGBA
                                                                      : heif_chroma_interleaved_RGB,
                          options);
    heif_decoding_options_free(options);
    if (e.code != heif_error_Ok) return refuse(s, e);
    const vit_status status = copy(out, image, s);
    heif_image_release(image);
    return status;
}

static vit_status read_primary(vit_image *out, struct heif_context *file, const vit_source *s,
                               bool header) {
    struct heif_image_handle *handle = NULL;
    heif_context_set_maximum_image_size_limit(file, (int)VIT_IMAGE_MAX_SIDE);
    heif_context_set_max_decoding_threads(file, 0);
    struct heif_error e = heif_context_read_from_memory_without_copy(file, s->bytes, s->size, NULL);
    if (e.code == heif_error_Ok) e = heif_context_get_primary_image_handle(file, &handle);
    if (e.code != heif_error_Ok) return refuse(s, e);
    const int width = heif_image_handle_get_width(handle);
    const int height = heif_image_handle_get_height(handle);
    *out = (vit_image){.width = (size_t)width, .height = (size_t)height};
    vit_status status = width < 0 || height < 0 ? vit_source_corrupt(s, "it has no size")
                                                : vit_source_check_size(s, out->width, out->height);
    if (status == VIT_OK && !header) status = decode(out, handle, s);
    heif_image_handle_release(handle);
    return status;
}

vit_status vit_heif_read(vit_image *out, const vit_source *s, bool header) {
    struct heif_context *file = heif_context_alloc();
    if (!file) return vit_fail_memory(s->error, s->name, 0);
    const vit_status status = read_primary(out, file, s, header);
    heif_context_free(file);
    return status;
}
