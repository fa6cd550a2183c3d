#include "vit/image/codec/codecs.h"
#include "vit/image/codec/source.h"
#include "vit/image/pixels.h"

#include <webp/decode.h>
#include <webp/demux.h>

/* WebP by libwebp: the first frame on its canvas, which is transparent around it, as by Pillow. */

static unsigned orientation_of(const WebPDemuxer *file) {
    WebPChunkIterator chunk;
    unsigned orientation = 0;
    if (WebPDemuxGetChunk(file, "EXIF", 1, &chunk)) {
        const uint8_t *tiff = chunk.chunk.bytes;
        size_t size = chunk.chunk.size;
        vit_exif_find(&tiff, &size, tiff, size);
        orientation = vit_exif_orientation(tiff, size);
        WebPDemuxReleaseChunkIterator(&chunk);
    }
    if (!orientation && WebPDemuxGetChunk(file, "XMP ", 1, &chunk)) {
        orientation = vit_xmp_orientation(chunk.chunk.bytes, chunk.chunk.size);
        WebPDemuxReleaseChunkIterator(&chunk);
    }
    return orientation < VIT_ORIENTATION_UNKNOWN ? orientation : 0;
}

static vit_status decode(vit_image *out, const WebPIterator *frame, const vit_source *s) {
    WebPDecoderConfig config;
    const size_t stride = out->width * out->channels;
    const size_t left = (size_t)frame->x_offset, top = (size_t)frame->y_offset;
    const size_t width = (size_t)frame->width, height = (size_t)frame->height;
    if (left + width > out->width || top + height > out->height)
        return vit_source_corrupt(s, "its first frame goes past its canvas");
    if (!WebPInitDecoderConfig(&config))
        return vit_source_refuse(s, "needs another version of libwebp");
    config.output.colorspace = out->channels == 4 ? MODE_RGBA : MODE_RGB;
    config.output.is_external_memory = 1;
    config.output.u.RGBA.rgba = out->pixels + top * stride + left * out->channels;
    config.output.u.RGBA.stride = (int)stride;
    config.output.u.RGBA.size = (height - 1) * stride + width * out->channels;
    const VP8StatusCode status = WebPDecode(frame->fragment.bytes, frame->fragment.size, &config);
    WebPFreeDecBuffer(&config.output);
    switch (status) {
    case VP8_STATUS_OK:
        return VIT_OK;
    case VP8_STATUS_OUT_OF_MEMORY:
        return vit_fail_memory(s->error, s->name, width * height * out->channels);
    case VP8_STATUS_NOT_ENOUGH_DATA:
        return vit_source_truncated(s);
    default:
        return vit_source_corrupt(s, "its compressed pixels are damaged");
    }
}

static vit_status read_frame(vit_image *out, const WebPDemuxer *file, bool has_alpha,
                             const vit_source *s) {
    WebPIterator frame;
    const unsigned orientation = out->orientation;
    if (!WebPDemuxGetFrame(file, 1, &frame)) return vit_source_corrupt(s, "it has no picture");
    vit_status status =
        vit_image_new(out, s->name, out->width, out->height, has_alpha ? 4 : 3, s->error);
    if (status == VIT_OK) status = decode(out, &frame, s);
    WebPDemuxReleaseIterator(&frame);
    out->orientation = orientation;
    if (status != VIT_OK) vit_image_free(out);
    return status;
}

vit_status vit_webp_read(vit_image *out, const vit_source *s, bool header) {
    const WebPData data = {s->bytes, s->size};
    WebPBitstreamFeatures features;
    WebPDemuxState state;
    WebPDemuxer *file = WebPDemuxPartial(&data, &state);
    if (!file || state != WEBP_DEMUX_DONE) {
        WebPDemuxDelete(file);
        return state == WEBP_DEMUX_PARSE_ERROR
                   ? vit_source_corrupt(s, "its chunks do not follow each other")
                   : vit_source_truncated(s);
    }
    out->width = WebPDemuxGetI(file, WEBP_FF_CANVAS_WIDTH);
    out->height = WebPDemuxGetI(file, WEBP_FF_CANVAS_HEIGHT);
    out->orientation = orientation_of(file);
    vit_status status = vit_source_check_size(s, out->width, out->height);
    if (status == VIT_OK && WebPGetFeatures(s->bytes, s->size, &features) != VP8_STATUS_OK)
        status = vit_source_corrupt(s, "its header is damaged");
    if (status == VIT_OK && !header) status = read_frame(out, file, features.has_alpha != 0, s);
    WebPDemuxDelete(file);
    return status;
}
