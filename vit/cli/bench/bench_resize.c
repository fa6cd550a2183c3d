/* Resizing a picture of 12 megapixels to the network's input. */
#include "vit/base/random.h"
#include "vit/base/sys.h"
#include "vit/cli/bench/bench.h"
#include "vit/image/image.h"
#include <stdio.h>

enum { WIDTH = 4000, HEIGHT = 3000 };

typedef struct resizing {
    const bench *bench;
    vit_image picture;
    vit_filter filter;
    vit_status status;
    vit_error error;
} resizing;

static void resize(void *context) {
    resizing *r = context;
    const vit_config *c = &r->bench->preset.config;
    vit_image out;
    r->status = vit_image_resize_as(&out, &r->picture, c->width, c->height, r->filter,
                                    VIT_ARITHMETIC_PILLOW, r->bench->kernels, &r->error);
    vit_image_free(&out);
}

static vit_status measure(const bench *b, resizing *r, vit_filter filter) {
    const vit_config *c = &b->preset.config;
    const size_t made = c->width * c->height;
    const size_t read = filter == VIT_FILTER_NEAREST ? made : (size_t)WIDTH * HEIGHT;
    bench_line line = {.images = 1, .bytes = (double)((read + made) * c->channels)};
    r->filter = filter;
    line.what = vit_filter_names[filter];
    snprintf(line.detail, sizeof line.detail, "%dx%dx%zu -> %zux%zu", WIDTH, HEIGHT, c->channels,
             c->width, c->height);
    line.seconds = bench_median(resize, r);
    if (r->status == VIT_OK) bench_print(b, &line);
    return r->status;
}

vit_status bench_resize(const bench *b, vit_error *error) {
    const size_t channels = b->preset.config.channels, bytes = WIDTH * HEIGHT * channels;
    resizing r = {.bench = b, .picture = {.width = WIDTH, .height = HEIGHT, .channels = channels}};
    r.picture.pixels = vit_alloc(bytes, 1);
    if (!r.picture.pixels) return vit_fail_memory(error, "a picture", bytes);
    vit_random random = vit_random_start(0, VIT_RANDOM_TEST, 2, 0);
    for (size_t i = 0; i < bytes; i++) r.picture.pixels[i] = (uint8_t)vit_random_u32(&random);
    vit_status status = VIT_OK;
    for (int f = VIT_FILTER_NEAREST; status == VIT_OK && f <= VIT_FILTER_HAMMING; f++)
        status = measure(b, &r, (vit_filter)f);
    vit_image_free(&r.picture);
    if (status != VIT_OK && error) *error = r.error;
    return status;
}
