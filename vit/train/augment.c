#include "vit/train/augment.h"
#include "vit/base/math.h"
#include <math.h>

/* A whole number from -shift to shift. */
static int draw_shift(vit_random *r, size_t shift) {
    return (int)vit_random_below(r, (uint32_t)(2 * shift + 1)) - (int)shift;
}

static double draw_between(vit_random *r, double range) {
    return range > 0 ? (2 * vit_random_uniform(r) - 1) * range : 0;
}

vit_pose vit_pose_draw(const vit_augmentation *a, vit_random *r) {
    vit_pose pose;
    pose.dy = draw_shift(r, a->shift);
    pose.dx = draw_shift(r, a->shift);
    pose.mirrored = a->flip && vit_random_below(r, 2) == 1;
    pose.degrees = draw_between(r, a->rotate);
    pose.scale = 1 + draw_between(r, a->scale);
    pose.shear = draw_between(r, a->shear);
    return pose;
}

/* Pixels as they are, at other places. */
static void move(float *image, const uint8_t *pixels, float table[3][256],
                 const vit_augmentation *a, const vit_pose *pose) {
    const int h = (int)a->height, w = (int)a->width, channels = (int)a->channels;
    for (int y = 0; y < h; y++) {
        for (int x = 0; x < w; x++) {
            const int from_y = y - pose->dy, moved = x - pose->dx;
            const int from_x = pose->mirrored ? w - 1 - moved : moved;
            const bool inside = from_y >= 0 && from_y < h && from_x >= 0 && from_x < w;
            for (int c = 0; c < channels; c++) {
                const uint8_t byte = inside ? pixels[(from_y * w + from_x) * channels + c] : 0;
                *image++ = table[c][byte];
            }
        }
    }
}

/* The place in the picture of a pixel (x, y) of the image: (xx x + xy y + x0, yx x + yy y + y0). */
typedef struct affine {
    float xx, xy, x0, yx, yy, y0;
} affine;

/* The inverse of the pose: back by the shift, turned back, scaled and sheared back, mirrored. */
static affine inverse(const vit_augmentation *a, const vit_pose *pose) {
    const double angle = pose->degrees * (VIT_PI / 180), mirror = pose->mirrored ? -1 : 1;
    const double cosine = vit_cos(angle) / pose->scale, sine = vit_sin(angle) / pose->scale;
    const double middle_x = (double)(a->width - 1) / 2, middle_y = (double)(a->height - 1) / 2;
    const double yx = -sine, yy = cosine;
    const double xx = mirror * (cosine - pose->shear * yx);
    const double xy = mirror * (sine - pose->shear * yy);
    const double from_x = middle_x + pose->dx, from_y = middle_y + pose->dy;
    return (affine){(float)xx, (float)xy, (float)(middle_x - xx * from_x - xy * from_y),
                    (float)yx, (float)yy, (float)(middle_y - yx * from_x - yy * from_y)};
}

typedef struct picture {
    const uint8_t *pixels;
    float (*table)[256];
    int height, width, channels;
} picture;

static float value_at(const picture *p, int y, int x, int c) {
    const bool inside = y >= 0 && y < p->height && x >= 0 && x < p->width;
    return p->table[c][inside ? p->pixels[(y * p->width + x) * p->channels + c] : 0];
}

static float between(float a, float b, float t) {
    return a + t * (b - a);
}

static void sample(float *out, const picture *p, float y, float x) {
    const bool near = y > -1 && y < (float)p->height && x > -1 && x < (float)p->width;
    const float low_y = floorf(y), low_x = floorf(x);
    for (int c = 0; c < p->channels; c++) {
        out[c] = p->table[c][0];
        if (!near) continue;
        const int iy = (int)low_y, ix = (int)low_x;
        const float top = between(value_at(p, iy, ix, c), value_at(p, iy, ix + 1, c), x - low_x);
        const float bottom =
            between(value_at(p, iy + 1, ix, c), value_at(p, iy + 1, ix + 1, c), x - low_x);
        out[c] = between(top, bottom, y - low_y);
    }
}

void vit_pose_apply(float *image, const uint8_t *pixels, float table[3][256],
                    const vit_augmentation *a, const vit_pose *pose) {
    if (a->rotate <= 0 && a->scale <= 0 && a->shear <= 0) {
        move(image, pixels, table, a, pose);
        return;
    }
    const picture p = {pixels, table, (int)a->height, (int)a->width, (int)a->channels};
    const affine t = inverse(a, pose);
    for (int y = 0; y < p.height; y++) {
        for (int x = 0; x < p.width; x++, image += p.channels) {
            const float fx = (float)x, fy = (float)y;
            sample(image, &p, t.yx * fx + t.yy * fy + t.y0, t.xx * fx + t.xy * fy + t.x0);
        }
    }
}
