#include "vit/ops/patch.h"
#include <string.h>

/* One patch whose upper left pixel is `pixel`, in the order of a convolution. */
static void planes(float *out, const float *pixel, const vit_patch_shape *s) {
    for (size_t c = 0; c < s->channels; c++)
        for (size_t y = 0; y < s->patch; y++)
            for (size_t x = 0; x < s->patch; x++)
                *out++ = pixel[(y * s->width + x) * s->channels + c];
}

static void join_planes(float *pixel, const float *in, const vit_patch_shape *s) {
    for (size_t c = 0; c < s->channels; c++)
        for (size_t y = 0; y < s->patch; y++)
            for (size_t x = 0; x < s->patch; x++)
                pixel[(y * s->width + x) * s->channels + c] = *in++;
}

static void pixels(float *out, const float *pixel, const vit_patch_shape *s) {
    const size_t line = s->patch * s->channels;
    for (size_t y = 0; y < s->patch; y++)
        memcpy(out + y * line, pixel + y * s->width * s->channels, line * sizeof *out);
}

void vit_patch_extract(float *patches, const float *image, const vit_patch_shape *s) {
    for (size_t y = 0; y < s->height; y += s->patch) {
        for (size_t x = 0; x < s->width; x += s->patch) {
            const float *pixel = image + (y * s->width + x) * s->channels;
            if (s->order == VIT_PATCH_CONV)
                planes(patches, pixel, s);
            else
                pixels(patches, pixel, s);
            patches += s->patch * s->patch * s->channels;
        }
    }
}

void vit_patch_join(float *image, const float *patches, const vit_patch_shape *s) {
    const size_t line = s->patch * s->channels;
    for (size_t y = 0; y < s->height; y += s->patch) {
        for (size_t x = 0; x < s->width; x += s->patch, patches += s->patch * line) {
            float *pixel = image + (y * s->width + x) * s->channels;
            if (s->order == VIT_PATCH_CONV) join_planes(pixel, patches, s);
            for (size_t i = 0; i < s->patch && s->order != VIT_PATCH_CONV; i++)
                memcpy(pixel + i * s->width * s->channels, patches + i * line,
                       line * sizeof *pixel);
        }
    }
}
