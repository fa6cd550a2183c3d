/* Digits drawn as people write them: strokes through a few control points, every point, the whole
 * shape and the pen a little different each time, then brought into MNIST's form: the ink fitted
 * into 20x20, its centre of mass in the middle of 28x28.
 *
 * A picture is a function of (seed, index) alone, to the byte, on every machine: only operations
 * that IEEE 754 defines and this project's own sine and exponential are used.
 */
#include "datasets/reader.h"
#include "vit/base/math.h"
#include "vit/base/random.h"
#include "vit/base/sha256.h"
#include "vit/base/sys.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define SIDE 28
#define BOX 20
#define PIXELS (SIDE * SIDE)

/* ---- shapes ---- */

/* How the pen comes to a point: M puts it down there, S passes smoothly, C turns sharply. */
typedef enum pen { END, M, S, C } pen;

typedef struct control {
    pen pen;
    int8_t x, y; /* hundredths of the digit's height, y downwards */
} control;

#define MAX_CONTROLS 14

/* One way of writing a digit, chosen with probability weight / (sum of the digit's weights). */
typedef struct shape {
    uint8_t digit, weight;
    control controls[MAX_CONTROLS];
} shape;

/* clang-format off */
static const shape shapes[] = {
    {0, 6, {{M,55,2}, {S,30,14}, {S,19,50}, {S,30,86}, {S,50,98}, {S,72,85}, {S,80,50}, {S,70,14},
            {S,50,2}}},
    {0, 3, {{M,70,12}, {S,50,3}, {S,27,20}, {S,19,55}, {S,32,90}, {S,52,97}, {S,74,78}, {S,79,40},
            {S,64,10}, {S,42,8}}},
    {0, 2, {{M,80,22}, {S,48,16}, {S,10,42}, {S,8,72}, {S,40,84}, {S,84,62}, {S,92,36}, {S,70,18}}},
    {1, 14, {{M,50,0}, {S,50,50}, {S,50,100}}},
    {1, 3, {{M,34,24}, {S,44,14}, {C,54,0}, {S,53,50}, {S,52,100}}},
    {1, 1, {{M,32,24}, {S,44,14}, {C,54,0}, {S,53,50}, {C,52,98}, {M,28,99}, {S,54,98}, {S,80,98}}},
    {2, 5, {{M,22,24}, {S,32,6}, {S,55,0}, {S,75,14}, {S,72,38}, {S,48,68}, {C,20,97}, {S,50,96},
            {S,86,94}}},
    {2, 6, {{M,22,20}, {S,40,3}, {S,64,4}, {S,75,24}, {S,65,55}, {S,42,84}, {S,22,96}, {S,13,86},
            {S,26,76}, {S,48,87}, {S,70,96}, {S,92,88}}},
    {2, 2, {{M,18,12}, {S,45,1}, {S,70,10}, {S,70,34}, {S,46,70}, {S,28,92}, {S,52,98},
            {S,88,92}}},
    {2, 4, {{M,28,16}, {S,48,0}, {S,68,12}, {S,64,44}, {S,44,76}, {S,20,88}, {S,10,76}, {S,26,66},
            {S,52,80}, {S,86,100}}},
    {2, 3, {{M,48,50}, {S,24,40}, {S,26,12}, {S,52,0}, {S,74,16}, {S,70,48}, {S,46,80}, {C,16,96},
            {S,40,84}, {S,90,96}}},
    {3, 5, {{M,24,12}, {S,45,0}, {S,69,8}, {S,71,28}, {S,57,42}, {C,40,46}, {S,62,50}, {S,77,68},
            {S,70,90}, {S,45,100}, {S,19,90}}},
    {3, 4, {{M,25,8}, {S,50,0}, {S,70,12}, {S,65,32}, {S,46,45}, {S,58,50}, {S,74,64}, {S,70,88},
            {S,46,100}, {S,20,93}}},
    {3, 1, {{M,24,4}, {S,48,3}, {C,74,3}, {S,60,22}, {C,44,40}, {S,66,48}, {S,76,70}, {S,64,93},
            {S,40,99}, {S,18,88}}},
    {4, 6, {{M,30,4}, {S,25,26}, {C,19,52}, {S,50,53}, {S,84,50}, {M,72,0}, {S,67,50}, {S,62,100}}},
    {4, 4, {{M,26,4}, {S,19,32}, {S,30,50}, {S,54,50}, {S,74,40}, {M,78,0}, {S,72,50}, {S,66,100}}},
    {4, 3, {{M,88,66}, {S,50,66}, {C,12,66}, {S,36,34}, {C,62,0}, {S,62,50}, {S,60,100}}},
    {4, 2, {{M,22,6}, {S,20,36}, {S,38,52}, {S,60,44}, {C,76,4}, {S,70,50}, {S,64,100}}},
    {5, 5, {{M,78,2}, {S,54,4}, {C,32,5}, {S,29,24}, {C,25,45}, {S,48,40}, {S,72,52}, {S,74,76},
            {S,54,97}, {S,18,92}}},
    {5, 3, {{M,34,6}, {S,30,26}, {C,27,44}, {S,50,42}, {S,72,55}, {S,71,78}, {S,50,97}, {S,18,90},
            {M,34,5}, {S,56,4}, {S,82,0}}},
    {5, 4, {{M,84,2}, {S,56,4}, {S,36,14}, {S,36,34}, {S,56,48}, {S,68,66}, {S,60,88}, {S,40,98},
            {S,14,90}}},
    {5, 4, {{M,98,3}, {S,66,8}, {C,42,12}, {C,31,44}, {S,56,46}, {S,61,72}, {S,40,96}, {S,8,90}}},
    {6, 5, {{M,64,0}, {S,40,22}, {S,24,56}, {S,28,85}, {S,48,99}, {S,70,90}, {S,74,70}, {S,58,55},
            {S,38,62}, {S,26,80}}},
    {6, 5, {{M,42,0}, {S,28,34}, {S,23,70}, {S,34,95}, {S,58,98}, {S,76,82}, {S,68,64}, {S,48,60},
            {S,28,76}}},
    {6, 2, {{M,72,8}, {S,54,2}, {S,34,22}, {S,22,58}, {S,32,92}, {S,56,98}, {S,74,80}, {S,62,62},
            {S,40,64}, {S,27,76}}},
    {6, 4, {{M,46,0}, {S,24,36}, {S,14,74}, {S,34,97}, {S,62,97}, {S,82,76}, {S,70,56}, {S,46,62},
            {S,34,86}}},
    {6, 4, {{M,40,0}, {S,28,42}, {S,24,84}, {S,46,99}, {S,76,88}, {S,76,62}, {S,54,54}, {S,24,72}}},
    {6, 4, {{M,30,0}, {S,16,34}, {S,12,70}, {S,28,97}, {S,58,92}, {S,76,60}, {S,64,40}, {S,48,58},
            {S,44,82}}},
    {7, 5, {{M,18,8}, {S,48,6}, {C,80,4}, {S,60,46}, {S,44,100}}},
    {7, 4, {{M,14,12}, {S,42,5}, {S,70,5}, {S,77,18}, {S,58,55}, {S,46,100}}},
    {7, 4, {{M,14,30}, {C,18,7}, {S,48,6}, {C,80,4}, {S,62,46}, {S,50,100}}},
    {7, 3, {{M,18,8}, {S,48,6}, {C,78,4}, {S,60,46}, {S,44,100}, {M,34,54}, {S,56,51}, {S,80,48}}},
    {8, 6, {{M,72,14}, {S,50,0}, {S,29,14}, {S,35,34}, {S,55,50}, {S,73,70}, {S,67,92}, {S,46,100},
            {S,27,88}, {S,30,68}, {S,50,48}, {S,69,30}, {S,71,10}}},
    {8, 3, {{M,50,48}, {S,31,32}, {S,34,9}, {S,52,0}, {S,69,12}, {S,67,32}, {S,48,50}, {S,29,70},
            {S,32,92}, {S,50,100}, {S,70,88}, {S,70,66}, {S,52,49}}},
    {8, 4, {{M,90,8}, {S,62,1}, {S,38,12}, {S,36,32}, {S,54,50}, {S,66,72}, {S,52,98}, {S,34,88},
            {S,42,62}, {S,60,42}, {S,86,12}}},
    {9, 5, {{M,73,16}, {S,52,2}, {S,29,14}, {S,24,36}, {S,42,50}, {S,64,38}, {C,75,10}, {S,70,55},
            {S,62,100}}},
    {9, 4, {{M,70,14}, {S,50,2}, {S,28,16}, {S,27,40}, {S,46,48}, {S,66,34}, {S,74,12}, {S,74,50},
            {S,60,100}}},
    {9, 2, {{M,74,18}, {S,52,2}, {S,29,14}, {S,25,36}, {S,44,48}, {S,66,36}, {C,75,12}, {S,76,50},
            {S,66,86}, {S,42,99}, {S,22,90}}},
    {9, 3, {{M,68,8}, {S,44,6}, {S,26,24}, {S,34,40}, {S,56,34}, {C,72,6}, {S,68,50}, {S,56,100}}},
    {9, 2, {{M,62,4}, {S,40,2}, {S,18,22}, {S,18,46}, {S,44,56}, {S,66,36}, {C,70,4}, {S,68,52},
            {S,66,100}}},
};
/* clang-format on */
#define SHAPES (sizeof shapes / sizeof *shapes)

static const shape *choose_shape(uint8_t digit, vit_random *r) {
    uint32_t total = 0;
    for (size_t i = 0; i < SHAPES; i++)
        if (shapes[i].digit == digit) total += shapes[i].weight;
    uint32_t left = vit_random_below(r, total);
    for (size_t i = 0;; i++) {
        if (shapes[i].digit != digit) continue;
        if (left < shapes[i].weight) return &shapes[i];
        left -= shapes[i].weight;
    }
}

/* ---- a hand: where this one puts the points ---- */

typedef struct vec {
    double x, y;
} vec;

/* mean + deviation * N(0, 1), cut at 2.5 deviations: rare pictures may be odd, none absurd. */
static double spread(vit_random *r, double mean, double deviation) {
    double z = vit_random_normal(r);
    z = z < -2.5 ? -2.5 : z > 2.5 ? 2.5 : z;
    return mean + deviation * z;
}

/* A map of the plane: second-order bends, then slant, width and rotation. */
typedef struct hand {
    double bend[6];        /* of x: yy, xy, xx; of y: xx, xy, yy */
    double xx, xy, yx, yy; /* x' = xx x + xy y, y' = yx x + yy y */
    double jitter;         /* of each control point on its own */
} hand;

static hand choose_hand(vit_random *r) {
    hand h;
    for (int i = 0; i < 6; i++) h.bend[i] = spread(r, 0, 0.28);
    double angle = spread(r, 0, 0.09), slant = spread(r, 0.12, 0.3); /* positive: to the right */
    double width = vit_exp(spread(r, 0, 0.27));
    double c = vit_cos(angle), s = vit_sin(angle);
    h.xx = c * width, h.xy = -s - slant * c;
    h.yx = s * width, h.yy = c - slant * s;
    h.jitter = 0.012 + 0.04 * vit_random_uniform(r);
    return h;
}

static vec place(const hand *h, const control *p, vit_random *r) {
    double x = p->x * 0.01 - 0.5 + spread(r, 0, h->jitter);
    double y = p->y * 0.01 - 0.5 + spread(r, 0, h->jitter);
    double u = x + h->bend[0] * y * y + h->bend[1] * x * y + h->bend[2] * x * x;
    double v = y + h->bend[3] * x * x + h->bend[4] * x * y + h->bend[5] * y * y;
    return (vec){h->xx * u + h->xy * v, h->yx * u + h->yy * v};
}

/* ---- strokes: a polyline through the points ---- */

#define STEPS 6 /* pieces of a curve from point to point */
#define MAX_VERTICES (MAX_CONTROLS * STEPS + MAX_CONTROLS)

typedef struct path {
    vec vertices[MAX_VERTICES];
    bool starts[MAX_VERTICES]; /* no line leads to this vertex */
    int count;
} path;

static void add_vertex(path *p, vec v, bool starts) {
    p->vertices[p->count] = v;
    p->starts[p->count] = starts;
    p->count++;
}

/* Catmull-Rom: from b to c, coming from a, going on to d. */
static double spline(double a, double b, double c, double d, double t) {
    double t1 = 0.5 * (c - a);
    double t2 = a - 2.5 * b + 2 * c - 0.5 * d;
    double t3 = 1.5 * (b - c) + 0.5 * (d - a);
    return b + t * (t1 + t * (t2 + t * t3));
}

static void write_shape(path *p, const shape *s, const hand *h, vit_random *r) {
    vec at[MAX_CONTROLS];
    int n = 0;
    for (; n < MAX_CONTROLS && s->controls[n].pen != END; n++) at[n] = place(h, &s->controls[n], r);
    p->count = 0;
    for (int i = 0; i < n; i++) {
        if (s->controls[i].pen == M) {
            add_vertex(p, at[i], true);
            continue;
        }
        /* At ends and corners the curve does not see what lies beyond. */
        bool from_curve = s->controls[i - 1].pen == S;
        bool to_curve = i + 1 < n && s->controls[i].pen == S && s->controls[i + 1].pen != M;
        vec a = at[from_curve ? i - 2 : i - 1], b = at[i - 1];
        vec c = at[i], d = at[to_curve ? i + 1 : i];
        for (int k = 1; k <= STEPS; k++) {
            double t = (double)k / STEPS;
            add_vertex(p, (vec){spline(a.x, b.x, c.x, d.x, t), spline(a.y, b.y, c.y, d.y, t)},
                       false);
        }
    }
}

/* Scales the path so that its ink, `radius` around it, just fits the middle 20x20 of the picture;
 * as MNIST does, the longer side decides. */
static void fit(path *p, double radius) {
    vec low = p->vertices[0], high = low;
    for (int i = 1; i < p->count; i++) {
        vec v = p->vertices[i];
        low = (vec){fmin(low.x, v.x), fmin(low.y, v.y)};
        high = (vec){fmax(high.x, v.x), fmax(high.y, v.y)};
    }
    double scale = (BOX - 2 * radius) / fmax(high.x - low.x, high.y - low.y);
    for (int i = 0; i < p->count; i++) {
        vec *v = &p->vertices[i];
        v->x = (v->x - 0.5 * (low.x + high.x)) * scale + 0.5 * SIDE;
        v->y = (v->y - 0.5 * (low.y + high.y)) * scale + 0.5 * SIDE;
    }
}

/* ---- ink ---- */

typedef struct nib {
    double radius;   /* in pixels */
    double taper;    /* share by which it changes from the first vertex to the last */
    double tilt;     /* share by which it is narrower along one direction */
    vec along;       /* that direction */
    double softness; /* pixels over which the edge fades */
    double rough;    /* noise of the edge, in pixels */
} nib;

static nib choose_nib(vit_random *r) {
    nib n;
    n.radius = 1.27 * vit_exp(spread(r, 0, 0.33));
    n.taper = spread(r, 0, 0.12);
    n.tilt = 0.25 * vit_random_uniform(r);
    double angle = VIT_PI * vit_random_uniform(r);
    n.along = (vec){vit_cos(angle), vit_sin(angle)};
    n.softness = 0.8 + 0.7 * vit_random_uniform(r);
    n.rough = 0.25 * vit_random_uniform(r);
    return n;
}

static int clamp(double v) {
    return v < 0 ? 0 : v > SIDE - 1 ? SIDE - 1 : (int)v;
}

/* edge[y][x] = min(edge, distance of the pixel's centre from the line a-b, less its radius). */
static void ink_line(double *edge, vec a, vec b, double radius, double reach) {
    double dx = b.x - a.x, dy = b.y - a.y, length2 = dx * dx + dy * dy;
    double scale = length2 > 0 ? 1 / length2 : 0;
    int x0 = clamp(floor(fmin(a.x, b.x) - reach)), x1 = clamp(ceil(fmax(a.x, b.x) + reach));
    int y0 = clamp(floor(fmin(a.y, b.y) - reach)), y1 = clamp(ceil(fmax(a.y, b.y) + reach));
    for (int y = y0; y <= y1; y++)
        for (int x = x0; x <= x1; x++) {
            double px = x + 0.5 - a.x, py = y + 0.5 - a.y;
            double t = (px * dx + py * dy) * scale;
            t = t < 0 ? 0 : t > 1 ? 1 : t;
            double ex = px - t * dx, ey = py - t * dy;
            double distance = sqrt(ex * ex + ey * ey) - radius;
            if (distance < edge[y * SIDE + x]) edge[y * SIDE + x] = distance;
        }
}

static void ink_path(double *edge, const path *p, const nib *n) {
    for (int i = 0; i < PIXELS; i++) edge[i] = SIDE;
    for (int i = 1; i < p->count; i++) {
        if (p->starts[i]) continue;
        vec a = p->vertices[i - 1], b = p->vertices[i];
        double dx = b.x - a.x, dy = b.y - a.y, length2 = dx * dx + dy * dy;
        double across = dx * n->along.x + dy * n->along.y;
        double share = length2 > 0 ? across * across / length2 : 0;
        double position = (double)i / p->count - 0.5;
        double radius = n->radius * (1 - n->tilt * share) * (1 + n->taper * position);
        ink_line(edge, a, b, radius, radius + n->softness + 0.5);
    }
}

/* The share of each pixel that is inked, 0..255. */
static void expose(uint8_t *ink, const double *edge, const nib *n, vit_random *r) {
    for (int i = 0; i < PIXELS; i++) {
        if (edge[i] > n->softness) {
            ink[i] = 0;
            continue;
        }
        double shake = n->rough * (2 * vit_random_uniform(r) - 1);
        double share = 0.5 - (edge[i] + shake) / n->softness;
        share = share < 0 ? 0 : share > 1 ? 1 : share;
        ink[i] = (uint8_t)(255 * share + 0.5);
    }
}

/* By how much to move so that the centre of mass of one axis is in the middle, and no ink is lost:
 * the fitted ink leaves a margin of 4 all around. */
static int centring(uint64_t moment, uint64_t mass) {
    int shift = (int)floor(0.5 * SIDE - (double)moment / (double)mass);
    int margin = (SIDE - BOX) / 2;
    return shift < -margin ? -margin : shift > margin ? margin : shift;
}

static void centre(uint8_t *pixels, const uint8_t *ink) {
    uint64_t mass = 0, mx = 0, my = 0;
    for (uint32_t i = 0; i < PIXELS; i++) {
        mass += ink[i];
        mx += ink[i] * (uint64_t)(i % SIDE);
        my += ink[i] * (uint64_t)(i / SIDE);
    }
    int shift_x = centring(mx, mass), shift_y = centring(my, mass);
    memset(pixels, 0, PIXELS);
    for (int y = 0; y < SIDE; y++)
        for (int x = 0; x < SIDE; x++) {
            int to_x = x + shift_x, to_y = y + shift_y;
            if (to_x >= 0 && to_x < SIDE && to_y >= 0 && to_y < SIDE)
                pixels[to_y * SIDE + to_x] = ink[y * SIDE + x];
        }
}

uint8_t vit_digits_draw(uint8_t *pixels, uint64_t seed, uint32_t index) {
    vit_random r = vit_random_start(seed, VIT_RANDOM_DIGITS, 0, index);
    uint8_t digit = (uint8_t)(index % 10), ink[PIXELS];
    double edge[PIXELS];
    path p;
    hand h = choose_hand(&r);
    write_shape(&p, choose_shape(digit, &r), &h, &r);
    nib n = choose_nib(&r);
    fit(&p, n.radius);
    ink_path(edge, &p, &n);
    expose(ink, edge, &n, &r);
    centre(pixels, ink);
    return digit;
}

/* ---- the set ---- */

/* Changes whenever the pictures do: it goes into the checksum. */
#define VERSION 1

#define TRAIN_SEED 1
#define TRAIN_COUNT 20000
#define TEST_SEED 2
#define TEST_COUNT 2000

static vit_status draw_part(vit_records *records, uint32_t seed, uint32_t count, char checksum[65],
                            vit_error *error) {
    vit_sha256 hash;
    records->pixels = vit_alloc(count, PIXELS);
    records->labels = vit_alloc(count, sizeof *records->labels);
    if (!records->pixels || !records->labels)
        return vit_fail_memory(error, "digits", (size_t)count * (PIXELS + 2));
    for (uint32_t i = 0; i < count; i++)
        records->labels[i] = vit_digits_draw(records->pixels + (size_t)i * PIXELS, seed, i);
    records->count = count;
    if (*checksum != 0) return VIT_OK; /* that of the other part, which comes first */
    char head[64];
    int length = snprintf(head, sizeof head, "digits %d seed %u count %u\n", VERSION, seed, count);
    vit_sha256_start(&hash);
    vit_sha256_add(&hash, head, (size_t)length);
    vit_sha256_add(&hash, records->pixels, (size_t)count * PIXELS);
    vit_sha256_hex(&hash, checksum);
    return VIT_OK;
}

vit_status vit_digits_open(vit_dataset *out, unsigned parts, vit_error *error) {
    vit_status status = VIT_OK;
    snprintf(out->name, sizeof out->name, "digits");
    out->preset = "digits";
    out->is_digits = out->has_characters = true;
    out->height = out->width = SIDE;
    out->channels = 1;
    out->classes = 10;
    /* Measured over the training part, and written down so that the test part can be had alone. */
    out->mean[0] = 0.1271f;
    out->std[0] = 0.3023f;
    if (parts & VIT_PART_TRAIN)
        status = draw_part(&out->train, TRAIN_SEED, TRAIN_COUNT, out->checksum, error);
    if (status == VIT_OK && (parts & VIT_PART_TEST))
        status = draw_part(&out->test, TEST_SEED, TEST_COUNT, out->checksum, error);
    return status;
}
