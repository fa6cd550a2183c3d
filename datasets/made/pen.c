#include "datasets/made/pen.h"
#include "vit/base/math.h"

#include <math.h>
#include <string.h>

/* ---- handwriting: where the points are ---- */

typedef struct vec {
    double x, y;
} vec;

/* mean + deviation * N(0, 1), clipped at 2.5 deviations so that no picture is absurd. */
static double spread(vit_random *r, double mean, double deviation) {
    double z = vit_random_normal(r);
    z = z < -2.5 ? -2.5 : z > 2.5 ? 2.5 : z;
    return mean + deviation * z;
}

vit_hand vit_hand_draw(vit_random *r) {
    vit_hand h;
    for (int i = 0; i < 6; i++) h.bend[i] = spread(r, 0, 0.28);
    double angle = spread(r, 0, 0.09), slant = spread(r, 0.12, 0.3); /* positive: to the right */
    double width = vit_exp(spread(r, 0, 0.27));
    double c = vit_cos(angle), s = vit_sin(angle);
    h.xx = c * width, h.xy = -s - slant * c;
    h.yx = s * width, h.yy = c - slant * s;
    h.jitter = 0.012 + 0.04 * vit_random_uniform(r);
    return h;
}

static vec place(const vit_hand *h, const vit_control *p, vit_random *r) {
    double x = p->x * 0.01 - 0.5 + spread(r, 0, h->jitter);
    double y = p->y * 0.01 - 0.5 + spread(r, 0, h->jitter);
    double u = x + h->bend[0] * y * y + h->bend[1] * x * y + h->bend[2] * x * x;
    double v = y + h->bend[3] * x * x + h->bend[4] * x * y + h->bend[5] * y * y;
    return (vec){h->xx * u + h->xy * v, h->yx * u + h->yy * v};
}

/* ---- strokes: a polyline through the points ---- */

#define STEPS 6 /* lines for a curve from one point to the next */
#define MAX_VERTICES (VIT_INK_CONTROLS * STEPS + VIT_INK_CONTROLS)

typedef struct path {
    vec vertices[MAX_VERTICES];
    bool starts[MAX_VERTICES]; /* whether a stroke begins here: no line leads to this vertex */
    int count;
} path;

static void add_vertex(path *p, vec v, bool starts) {
    p->vertices[p->count] = v;
    p->starts[p->count] = starts;
    p->count++;
}

/* A Catmull-Rom spline from b to c, with the neighbours a and d, at t in [0, 1]. */
static double spline(double a, double b, double c, double d, double t) {
    double t1 = 0.5 * (c - a);
    double t2 = a - 2.5 * b + 2 * c - 0.5 * d;
    double t3 = 1.5 * (b - c) + 0.5 * (d - a);
    return b + t * (t1 + t * (t2 + t * t3));
}

static void write_shape(path *p, const vit_control *controls, const vit_hand *h, vit_random *r) {
    vec at[VIT_INK_CONTROLS];
    int n = 0;
    for (; n < VIT_INK_CONTROLS && controls[n].pen != END; n++) at[n] = place(h, &controls[n], r);
    p->count = 0;
    for (int i = 0; i < n; i++) {
        if (controls[i].pen == M) {
            add_vertex(p, at[i], true);
            continue;
        }
        /* At ends and corners the point itself takes the place of the next one. */
        bool from_curve = controls[i - 1].pen == S;
        bool to_curve = i + 1 < n && controls[i].pen == S && controls[i + 1].pen != M;
        vec a = at[from_curve ? i - 2 : i - 1], b = at[i - 1];
        vec c = at[i], d = at[to_curve ? i + 1 : i];
        for (int k = 1; k <= STEPS; k++) {
            double t = (double)k / STEPS;
            add_vertex(p, (vec){spline(a.x, b.x, c.x, d.x, t), spline(a.y, b.y, c.y, d.y, t)},
                       false);
        }
    }
}

/* Scales the path so that the longer side of its ink, which extends `radius` around it, fits the
 * middle 20 x 20 of the picture, as in MNIST. */
static void fit(path *p, double radius) {
    vec low = p->vertices[0], high = low;
    for (int i = 1; i < p->count; i++) {
        vec v = p->vertices[i];
        low = (vec){fmin(low.x, v.x), fmin(low.y, v.y)};
        high = (vec){fmax(high.x, v.x), fmax(high.y, v.y)};
    }
    double scale = (VIT_INK_BOX - 2 * radius) / fmax(high.x - low.x, high.y - low.y);
    for (int i = 0; i < p->count; i++) {
        vec *v = &p->vertices[i];
        v->x = (v->x - 0.5 * (low.x + high.x)) * scale + 0.5 * VIT_INK_SIDE;
        v->y = (v->y - 0.5 * (low.y + high.y)) * scale + 0.5 * VIT_INK_SIDE;
    }
}

/* ---- ink ---- */

typedef struct nib {
    double radius;   /* in pixels */
    double taper;    /* the share by which the radius grows from the first vertex to the last */
    double tilt;     /* the share by which it is smaller along one direction */
    vec along;       /* that direction */
    double softness; /* over how many pixels the edge fades */
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
    return v < 0 ? 0 : v > VIT_INK_SIDE - 1 ? VIT_INK_SIDE - 1 : (int)v;
}

/* edge[y][x] = min(edge[y][x], the distance of the pixel's centre to the line a-b - radius). */
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
            if (distance < edge[y * VIT_INK_SIDE + x]) edge[y * VIT_INK_SIDE + x] = distance;
        }
}

static void ink_path(double *edge, const path *p, const nib *n) {
    for (int i = 0; i < VIT_INK_PIXELS; i++) edge[i] = VIT_INK_SIDE;
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

/* ink = the share of each pixel that is covered by ink, 0..255. */
static void expose(uint8_t *ink, const double *edge, const nib *n, vit_random *r) {
    for (int i = 0; i < VIT_INK_PIXELS; i++) {
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

/* By how much to move along one axis so that the centre of mass is in the middle; at most by the
 * margin around the ink, so that none is lost. */
static int centring(uint64_t moment, uint64_t mass) {
    int shift = (int)floor(0.5 * VIT_INK_SIDE - (double)moment / (double)mass);
    int margin = (VIT_INK_SIDE - VIT_INK_BOX) / 2;
    return shift < -margin ? -margin : shift > margin ? margin : shift;
}

void vit_ink_centre(uint8_t *pixels, const uint8_t *ink) {
    uint64_t mass = 0, mx = 0, my = 0;
    for (uint32_t i = 0; i < VIT_INK_PIXELS; i++) {
        mass += ink[i];
        mx += ink[i] * (uint64_t)(i % VIT_INK_SIDE);
        my += ink[i] * (uint64_t)(i / VIT_INK_SIDE);
    }
    memset(pixels, 0, VIT_INK_PIXELS);
    if (mass == 0) return;
    int shift_x = centring(mx, mass), shift_y = centring(my, mass);
    for (int y = 0; y < VIT_INK_SIDE; y++)
        for (int x = 0; x < VIT_INK_SIDE; x++) {
            int to_x = x + shift_x, to_y = y + shift_y;
            if (to_x >= 0 && to_x < VIT_INK_SIDE && to_y >= 0 && to_y < VIT_INK_SIDE)
                pixels[to_y * VIT_INK_SIDE + to_x] = ink[y * VIT_INK_SIDE + x];
        }
}

void vit_hand_write(uint8_t *pixels, const vit_control *controls, const vit_hand *hand,
                    vit_random *r) {
    uint8_t ink[VIT_INK_PIXELS];
    double edge[VIT_INK_PIXELS];
    path p;
    write_shape(&p, controls, hand, r);
    nib n = choose_nib(r);
    fit(&p, n.radius);
    ink_path(edge, &p, &n);
    expose(ink, edge, &n, r);
    vit_ink_centre(pixels, ink);
}
