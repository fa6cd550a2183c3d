#include "vit/ops/patch.h"
#include <string.h>

/* One patch and its upper left pixel in the image. */
static void extract_one(float *patch, const float *pixel, const vit_patch_shape *s) {
    const size_t line = s->patch * s->channels, image_line = s->width * s->channels;
    switch (s->order) {
    case VIT_PATCH_PIXEL:
        for (size_t y = 0; y < s->patch; y++)
            memcpy(patch + y * line, pixel + y * image_line, line * sizeof *patch);
        break;
    case VIT_PATCH_CONV:
        for (size_t c = 0; c < s->channels; c++)
            for (size_t y = 0; y < s->patch; y++)
                for (size_t x = 0; x < s->patch; x++)
                    *patch++ = pixel[y * image_line + x * s->channels + c];
        break;
    case VIT_PATCH_COUNT:
        break;
    }
}

static void join_one(float *pixel, const float *patch, const vit_patch_shape *s) {
    const size_t line = s->patch * s->channels, image_line = s->width * s->channels;
    switch (s->order) {
    case VIT_PATCH_PIXEL:
        for (size_t y = 0; y < s->patch; y++)
            memcpy(pixel + y * image_line, patch + y * line, line * sizeof *pixel);
        break;
    case VIT_PATCH_CONV:
        for (size_t c = 0; c < s->channels; c++)
            for (size_t y = 0; y < s->patch; y++)
                for (size_t x = 0; x < s->patch; x++)
                    pixel[y * image_line + x * s->channels + c] = *patch++;
        break;
    case VIT_PATCH_COUNT:
        break;
    }
}

void vit_patch_extract(float *patches, const float *image, const vit_patch_shape *s) {
    const size_t size = s->patch * s->patch * s->channels;
    for (size_t y = 0; y < s->height; y += s->patch)
        for (size_t x = 0; x < s->width; x += s->patch, patches += size)
            extract_one(patches, image + (y * s->width + x) * s->channels, s);
}

void vit_patch_join(float *image, const float *patches, const vit_patch_shape *s) {
    const size_t size = s->patch * s->patch * s->channels;
    for (size_t y = 0; y < s->height; y += s->patch)
        for (size_t x = 0; x < s->width; x += s->patch, patches += size)
            join_one(image + (y * s->width + x) * s->channels, patches, s);
}
