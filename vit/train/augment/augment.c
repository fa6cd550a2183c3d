#include "vit/train/augment/augment.h"
#include "vit/base/math.h"
#include <math.h>
#include <string.h>

/* A whole number from -shift to shift. */
static int draw_shift(vit_random *r, size_t shift) {
    return (int)vit_random_below(r, (uint32_t)(2 * shift + 1)) - (int)shift;
}

static double draw_between(vit_random *r, double range) {
    return range > 0 ? (2 * vit_random_uniform(r) - 1) * range : 0;
}

vit_pose vit_pose_draw(const vit_augmentation *a, vit_random *r) {
    vit_pose pose = {0};
    pose.dy = draw_shift(r, a->shift);
    pose.dx = draw_shift(r, a->shift);
    pose.mirrored = a->flip && vit_random_below(r, 2) == 1;
    pose.degrees = draw_between(r, a->rotate);
    pose.scale = 1 + draw_between(r, a->scale);
    pose.shear = draw_between(r, a->shear);
    return pose;
}

static int reflect(int at, int n) {
    if (n == 1) return 0;
    const int period = 2 * n - 2, part = (at % period + period) % period;
    return part < n ? part : period - part;
}

/* The row or column, of n, that is read for number `at`, which may be outside; -1: black. */
static int inside(int at, int n, vit_edges edges) {
    if (at >= 0 && at < n) return at;
    switch (edges) {
    case VIT_EDGES_REFLECT:
        return reflect(at, n);
    case VIT_EDGES_BLACK:
    case VIT_EDGES_COUNT:
        break;
    }
    return -1;
}

/* vit_pose_apply for a picture that is only moved and mirrored: whole pixels. */
static void move(float *image, const uint8_t *pixels, float table[3][256],
                 const vit_picture_shape *s, const vit_augmentation *a, const vit_pose *pose) {
    const int h = (int)s->height, w = (int)s->width, channels = (int)s->channels;
    for (int y = 0; y < h; y++) {
        for (int x = 0; x < w; x++) {
            const int moved = x - pose->dx, from_y = inside(y - pose->dy, h, a->edges);
            const int from_x = inside(pose->mirrored ? w - 1 - moved : moved, w, a->edges);
            const bool there = from_y >= 0 && from_x >= 0;
            for (int c = 0; c < channels; c++) {
                const uint8_t byte = there ? pixels[(from_y * w + from_x) * channels + c] : 0;
                *image++ = table[c][byte];
            }
        }
    }
}

/* Pixel (x, y) of the result is read at (xx x + xy y + x0, yx x + yy y + y0) of the picture. */
typedef struct affine {
    float xx, xy, x0, yx, yy, y0;
} affine;

/* The inverse of the pose: shift, rotation, scale and shear undone, in this order, then mirrored.
 */
static affine inverse(const vit_picture_shape *s, const vit_pose *pose) {
    const double angle = pose->degrees * (VIT_PI / 180), mirror = pose->mirrored ? -1 : 1;
    const double cosine = vit_cos(angle) / pose->scale, sine = vit_sin(angle) / pose->scale;
    const double middle_x = (double)(s->width - 1) / 2, middle_y = (double)(s->height - 1) / 2;
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
    vit_edges edges;
} picture;

static float value_at(const picture *p, int y, int x, int c) {
    y = inside(y, p->height, p->edges);
    x = inside(x, p->width, p->edges);
    const bool there = y >= 0 && x >= 0;
    return p->table[c][there ? p->pixels[(y * p->width + x) * p->channels + c] : 0];
}

static float interpolate(float a, float b, float t) {
    return a + t * (b - a);
}

/* floor(x), for |x| < 2^31 */
static int below(float x) {
    const int whole = (int)x;
    return whole - ((float)whole > x);
}

/* sample for a place whose four pixels are all inside: the inner loop. */
static void sample_inside(float *out, const picture *p, int iy, int ix, float down, float right) {
    const size_t pixel = (size_t)p->channels, row = (size_t)p->width * pixel;
    const uint8_t *at = p->pixels + (size_t)iy * row + (size_t)ix * pixel;
    for (int c = 0; c < p->channels; c++, at++) {
        const float *table = p->table[c];
        const float top = interpolate(table[at[0]], table[at[pixel]], right);
        const float bottom = interpolate(table[at[row]], table[at[row + pixel]], right);
        out[c] = interpolate(top, bottom, down);
    }
}

/* Whether one of the rows, or columns, `at` and at + 1 has pixels. */
static bool reaches(int at, int n, vit_edges edges) {
    return inside(at, n, edges) >= 0 || inside(at + 1, n, edges) >= 0;
}

/* out [channels]: the picture at (y, x), |y| and |x| < 2^31, linear between the four pixels about
 * it. */
static void sample(float *out, const picture *p, float y, float x) {
    const int iy = below(y), ix = below(x);
    const float down = y - (float)iy, right = x - (float)ix;
    if (iy >= 0 && ix >= 0 && iy + 1 < p->height && ix + 1 < p->width) {
        sample_inside(out, p, iy, ix, down, right);
        return;
    }
    const bool near = reaches(iy, p->height, p->edges) && reaches(ix, p->width, p->edges);
    for (int c = 0; c < p->channels && !near; c++) out[c] = p->table[c][0];
    if (!near) return;
    for (int c = 0; c < p->channels; c++) {
        const float top = interpolate(value_at(p, iy, ix, c), value_at(p, iy, ix + 1, c), right);
        const float bottom =
            interpolate(value_at(p, iy + 1, ix, c), value_at(p, iy + 1, ix + 1, c), right);
        out[c] = interpolate(top, bottom, down);
    }
}

#define AT_ONCE 32 /* pixels whose positions are computed before any of them is looked up */

void vit_pose_apply(float *image, const uint8_t *pixels, float table[3][256],
                    const vit_picture_shape *s, const vit_augmentation *a, const vit_pose *pose) {
    static const float none[AT_ONCE];
    const float *bend = pose->bend;
    if (a->rotate <= 0 && a->scale <= 0 && a->shear <= 0 && !bend) {
        move(image, pixels, table, s, a, pose);
        return;
    }
    const picture p = {pixels, table, (int)s->height, (int)s->width, (int)s->channels, a->edges};
    const affine t = inverse(s, pose);
    for (int y = 0; y < p.height; y++)
        for (int x = 0; x < p.width; x += AT_ONCE) {
            float down[AT_ONCE], right[AT_ONCE];
            const int count = p.width - x < AT_ONCE ? p.width - x : AT_ONCE;
            const float *by = bend ? bend + y * p.width + x : none;
            const float *bx = bend ? bend + (p.height + y) * p.width + x : none;
            const float fy = (float)y;
            for (int i = 0; i < count; i++) {
                const float fx = (float)(x + i);
                down[i] = t.yx * fx + t.yy * fy + t.y0 + by[i];
                right[i] = t.xx * fx + t.xy * fy + t.x0 + bx[i];
            }
            for (int i = 0; i < count; i++, image += p.channels)
                sample(image, &p, down[i], right[i]);
        }
}

/* ---- bends ---- */

/* A field that was smoothed by a Gaussian of 4 pixels varies so slowly that it is drawn and
 * smoothed at every second pixel only. */
#define SPACING 2
#define SIGMA (4 / SPACING)
#define RADIUS (3 * SIGMA)

/* Points of a grid over n pixels, the last at or beyond the last pixel. */
static size_t grid_points(size_t n) {
    return (n - 1) / SPACING + 2;
}

/* Floats from one row of the grid to the next: RADIUS zeros lie between, so that a row is smoothed
 * without a look at where it ends. */
static size_t stride(size_t width) {
    return grid_points(width) + RADIUS;
}

size_t vit_bend_room(size_t height, size_t width) {
    return 2 * grid_points(height) * stride(width);
}

/* to[i] += weight * from[i] */
static void add_scaled(float *restrict to, const float *restrict from, float weight, size_t n) {
    for (size_t i = 0; i < n; i++) to[i] += weight * from[i];
}

/* n points of `step` floats: to[j] = sum over k from -RADIUS to RADIUS, ascending, of
 * weights[k + RADIUS] from[j + k], points outside being 0. The loop over j is inside, over
 * contiguous floats. */
static void smooth(float *to, const float *from, const float *weights, size_t n, size_t step) {
    memset(to, 0, n * step * sizeof *to);
    for (size_t k = 0; k <= 2 * RADIUS; k++) {
        const size_t back = k < RADIUS ? RADIUS - k : 0, on = k > RADIUS ? k - RADIUS : 0;
        if (back + on < n)
            add_scaled(to + back * step, from + on * step, weights[k], (n - back - on) * step);
    }
}

/* Uniform from -range to range in 65,536 steps, which smoothing hides: two values of a random word.
 */
static void draw_field(float *field, size_t n, double range, vit_random *r) {
    const float unit = (float)(range / 32768);
    for (size_t i = 0; i < n; i += 2) {
        const uint32_t word = vit_random_u32(r);
        field[i] = unit * ((float)(word & 65535) - 32767.5f);
        if (i + 1 < n) field[i + 1] = unit * ((float)(word >> 16) - 32767.5f);
    }
}

/* The w numbers of each of h rows, `row` floats from one to the next, with zeros between. */
static void spread(float *grid, const float *field, size_t h, size_t w, size_t row) {
    memset(grid, 0, h * row * sizeof *grid);
    for (size_t i = 0; i < h; i++) memcpy(grid + i * row, field + i * w, w * sizeof *grid);
}

_Static_assert(SPACING == 2, "upsample writes two pixels for each point of the grid");

/* bend [height][width], interpolated linearly from the grid. */
static void upsample(float *restrict bend, const float *restrict grid, size_t height,
                     size_t width) {
    const size_t row = stride(width);
    for (size_t y = 0; y < height; y++, bend += width) {
        const float *a = grid + y / SPACING * row, *b = a + y % SPACING * row;
        for (size_t i = 0; i < width / 2; i++) {
            bend[2 * i] = .5f * (a[i] + b[i]);
            bend[2 * i + 1] = .25f * ((a[i] + a[i + 1]) + (b[i] + b[i + 1]));
        }
        if (width % 2 == 1) bend[width - 1] = .5f * (a[width / 2] + b[width / 2]);
    }
}

void vit_bend_draw(float *bend, float *scratch, const vit_picture_shape *s,
                   const vit_augmentation *a, vit_random *r) {
    const size_t h = grid_points(s->height), w = grid_points(s->width), row = stride(s->width);
    float weights[2 * RADIUS + 1], *grid = scratch, *other = scratch + h * row;
    double gauss[2 * RADIUS + 1], sum = 0;
    for (int k = -RADIUS; k <= RADIUS; k++)
        sum += gauss[k + RADIUS] = vit_exp(-k * k / (2. * SIGMA * SIGMA));
    for (int k = 0; k <= 2 * RADIUS; k++) weights[k] = (float)(gauss[k] / sum);
    for (size_t field = 0; field < 2; field++, bend += s->height * s->width) {
        /* A point stands for SPACING x SPACING pixels, whose mean deviates 1 / SPACING as much. */
        draw_field(other, h * w, a->elastic / SPACING, r);
        spread(grid, other, h, w, row);
        smooth(other, grid, weights, h * row, 1);
        smooth(grid, other, weights, h, row);
        upsample(bend, grid, s->height, s->width);
    }
}

/* ---- crops and holes ---- */

static size_t round_size(double x) {
    return (size_t)floor(x + .5);
}

/* Draws the place of a rectangle of `area` whose width is exp(log_ratio) times its height; false:
 * it does not fit, with `rest` pixels beside and below it. */
static bool place_box(vit_box *box, double area, double log_ratio, size_t rest,
                      const vit_picture_shape *s, vit_random *r) {
    const double ratio = vit_exp(log_ratio);
    box->width = round_size(sqrt(area * ratio));
    box->height = round_size(sqrt(area / ratio));
    if (box->width < 1 || box->height < 1 || box->width + rest > s->width ||
        box->height + rest > s->height)
        return false;
    box->top = vit_random_below(r, (uint32_t)(s->height - box->height + 1));
    box->left = vit_random_below(r, (uint32_t)(s->width - box->width + 1));
    return true;
}

#define TRIES 10

vit_box vit_crop_draw(const vit_picture_shape *s, const vit_augmentation *a, vit_random *r) {
    const double all = (double)(s->height * s->width), most = vit_log(4. / 3);
    vit_box box;
    for (int i = 0; i < TRIES; i++) {
        const double area = all * (a->crop + (1 - a->crop) * vit_random_uniform(r));
        if (place_box(&box, area, draw_between(r, most), 0, s, r)) return box;
    }
    box = (vit_box){0, 0, s->height, s->width};
    if (3 * s->width > 4 * s->height) box.width = round_size((double)s->height * 4 / 3);
    if (4 * s->width < 3 * s->height) box.height = round_size((double)s->width * 4 / 3);
    box.top = (s->height - box.height) / 2;
    box.left = (s->width - box.width) / 2;
    return box;
}

vit_box vit_erase_draw(const vit_picture_shape *s, const vit_augmentation *a, vit_random *r) {
    const double all = (double)(s->height * s->width), low = vit_log(.3), high = vit_log(3.3);
    const vit_box nothing = {0};
    vit_box box;
    if (a->erase <= 0 || vit_random_uniform(r) >= a->erase) return nothing;
    for (int i = 0; i < TRIES; i++) {
        const double area = all * (.02 + (.33 - .02) * vit_random_uniform(r));
        const double ratio = low + (high - low) * vit_random_uniform(r);
        if (place_box(&box, area, -ratio, 1, s, r)) return box;
    }
    return nothing;
}

/* Where pixel `at` of n is read when pixels first .. first + size - 1 are stretched to n. */
static float source_of(size_t at, size_t n, size_t first, size_t size) {
    const float x = ((float)at + .5f) * ((float)size / (float)n) - .5f, last = (float)(size - 1);
    return (float)first + (x < 0 ? 0 : x > last ? last : x);
}

void vit_crop_apply(float *image, const uint8_t *pixels, float table[3][256],
                    const vit_picture_shape *s, const vit_augmentation *a, const vit_box *box,
                    bool mirrored) {
    const picture p = {pixels, table, (int)s->height, (int)s->width, (int)s->channels, a->edges};
    for (size_t y = 0; y < s->height; y++) {
        const float from_y = source_of(y, s->height, box->top, box->height);
        for (size_t x = 0; x < s->width; x++, image += s->channels) {
            const size_t to = mirrored ? s->width - 1 - x : x;
            sample(image, &p, from_y, source_of(to, s->width, box->left, box->width));
        }
    }
}
