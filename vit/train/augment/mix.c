#include "vit/train/augment/mix.h"
#include "vit/base/math.h"
#include <math.h>
#include <string.h>

double vit_random_beta(vit_random *r, double alpha) {
    for (;;) { /* u^(1/alpha), of u in (0, 1] */
        const double x = vit_exp(vit_log(1 - vit_random_uniform(r)) / alpha);
        const double y = vit_exp(vit_log(1 - vit_random_uniform(r)) / alpha);
        if (x + y > 0 && x + y <= 1) return x / (x + y);
    }
}

/* The pixels of `size` about `centre` that are within n: from *first on, returns how many. */
static size_t span(size_t *first, size_t centre, size_t size, size_t n) {
    const size_t low = centre > size / 2 ? centre - size / 2 : 0;
    const size_t end = centre + size / 2 < n ? centre + size / 2 : n;
    *first = low;
    return end - low;
}

vit_mix vit_mix_draw(const vit_mixing *mixing, size_t height, size_t width, vit_random *r) {
    vit_mix mix = {0};
    if (!(mixing->mixup > 0 || mixing->cutmix > 0)) return mix;
    if (vit_random_uniform(r) >= mixing->pictures) return mix;
    const bool both = mixing->mixup > 0 && mixing->cutmix > 0;
    const bool cuts = both ? vit_random_below(r, 2) == 1 : mixing->cutmix > 0;
    mix.share = 1 - vit_random_beta(r, cuts ? mixing->cutmix : mixing->mixup);
    if (!cuts) return mix;
    const double side = sqrt(mix.share);
    const size_t y = vit_random_below(r, (uint32_t)height),
                 x = vit_random_below(r, (uint32_t)width);
    mix.box.height = span(&mix.box.top, y, (size_t)((double)height * side), height);
    mix.box.width = span(&mix.box.left, x, (size_t)((double)width * side), width);
    mix.share = (double)(mix.box.height * mix.box.width) / (double)(height * width);
    return mix;
}

void vit_mix_apply(float *image, const float *other, const vit_mix *mix, size_t height,
                   size_t width, size_t channels) {
    const size_t row = width * channels;
    const float share = (float)mix->share, rest = (float)(1 - mix->share);
    for (size_t y = 0; y < mix->box.height; y++) {
        const size_t at = (mix->box.top + y) * row + mix->box.left * channels;
        memcpy(image + at, other + at, mix->box.width * channels * sizeof *image);
    }
    for (size_t i = 0; mix->box.height == 0 && i < height * row; i++)
        image[i] = rest * image[i] + share * other[i];
}
