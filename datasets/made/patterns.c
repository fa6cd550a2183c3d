#include "datasets/made/patterns.h"
#include "datasets/made/pen.h"
#include "vit/base/math.h"
#include "vit/base/size.h"

#include <math.h>
#include <stdio.h>

#define SIDE VIT_PATTERN_SIDE
#define GRAINS 32 /* a power of two */

/* How a pattern is placed: u = xx x + xy y + x0, v = yx x + yy y + y0, in periods, from pixels. */
typedef struct plan {
    double xx, xy, yx, yy, x0, y0;
    double period;  /* in pixels */
    double centre;  /* of rings, in periods */
    uint32_t count; /* of rays */
    uint8_t grains[GRAINS][GRAINS];
} plan;

/* ---- what patterns are made of ---- */

static double clamp(double v) {
    return v < 0 ? 0 : v > 1 ? 1 : v;
}

/* 1 at whole numbers, 0 in the middle between them. */
static double zigzag(double t) {
    return fabs(t - floor(t) - .5) * 2;
}

/* The angle of (u, v) in turns, 0 to 1, to a few thousandths. */
static double angle(double u, double v) {
    const double a = fabs(u), b = fabs(v), most = a > b ? a : b;
    if (most == 0) return 0;
    const double t = (a > b ? b : a) / most;
    const double eighth = t * (1 + .348 * (1 - t)) / 8, quarter = a > b ? eighth : .25 - eighth;
    return u >= 0 ? (v >= 0 ? quarter : 1 - quarter) : (v >= 0 ? .5 - quarter : .5 + quarter);
}

/* 0 to 1: the random number of a square of the lattice; `salt` chooses another one. */
static double grain(const plan *p, int column, int row, int salt) {
    return p->grains[(row + 11 * salt) & (GRAINS - 1)][(column + 7 * salt) & (GRAINS - 1)] / 255.;
}

/* 0 to 1: the random numbers, interpolated. */
static double noise(const plan *p, double u, double v) {
    const int column = (int)floor(u), row = (int)floor(v);
    double a = u - column, b = v - row;
    a = a * a * (3 - 2 * a), b = b * b * (3 - 2 * b);
    const double above = (1 - a) * grain(p, column, row, 0) + a * grain(p, column + 1, row, 0),
                 below =
                     (1 - a) * grain(p, column, row + 1, 0) + a * grain(p, column + 1, row + 1, 0);
    return (1 - b) * above + b * below;
}

/* Calls for the nine squares around (u, v), each with a point at a random place in it, and keeps
 * the smallest of what `far` says: the first, the second, and the square of the first. */
typedef struct nearest {
    double first, second;
    int column, row;
} nearest;

typedef double distance(const plan *p, double du, double dv, int column, int row);

static nearest look_around(const plan *p, double u, double v, distance *far) {
    nearest n = {9, 9, 0, 0};
    for (int j = -1; j <= 1; j++)
        for (int i = -1; i <= 1; i++) {
            const int column = (int)floor(u) + i, row = (int)floor(v) + j;
            const double d = far(p, u - column - grain(p, column, row, 1),
                                 v - row - grain(p, column, row, 2), column, row);
            if (d < n.first)
                n = (nearest){d, n.first, column, row};
            else if (d < n.second)
                n.second = d;
        }
    return n;
}

static double to_point(const plan *p, double du, double dv, int column, int row) {
    (void)p, (void)column, (void)row;
    return sqrt(du * du + dv * dv);
}

/* To a stroke of length .7 along (c, s). */
static double to_stroke(double du, double dv, double c, double s) {
    double t = du * c + dv * s;
    t = t < -.35 ? -.35 : t > .35 ? .35 : t;
    return sqrt((du - t * c) * (du - t * c) + (dv - t * s) * (dv - t * s));
}

static double to_dash(const plan *p, double du, double dv, int column, int row) {
    (void)p, (void)column, (void)row;
    return to_stroke(du, dv, 1, 0);
}

static double to_needle(const plan *p, double du, double dv, int column, int row) {
    const double turn = VIT_PI * grain(p, column, row, 3);
    return to_stroke(du, dv, vit_cos(turn), vit_sin(turn));
}

static double to_bubble(const plan *p, double du, double dv, int column, int row) {
    return fabs(sqrt(du * du + dv * dv) - .2 - .25 * grain(p, column, row, 3));
}

/* ---- patterns: hard ones are signed distances in periods, soft ones shades from -.5 to .5 ---- */

typedef double field(const plan *p, double u, double v);

static double wave(double u) {
    return vit_cos(2 * VIT_PI * u);
}

static double honeycomb(const plan *p, double u, double v) {
    (void)p;
    return (wave(u) + wave(.5 * u + .866 * v) + wave(.866 * v - .5 * u)) / 5;
}

static double triangles(const plan *p, double u, double v) {
    (void)p;
    const double a = vit_sin(VIT_PI * u), b = vit_sin(VIT_PI * (.5 * u + .866 * v)),
                 c = vit_sin(VIT_PI * (.866 * v - .5 * u));
    return a * b * c;
}

static double chevrons(const plan *p, double u, double v) {
    (void)p;
    return (zigzag(v + zigzag(u)) - .5) / 2;
}

static double rings(const plan *p, double u, double v) {
    (void)p;
    return (zigzag(sqrt(u * u + v * v)) - .5) / 2;
}

static double two_rings(const plan *p, double u, double v) {
    const double far = u - p->centre;
    return (zigzag(sqrt(u * u + v * v)) + zigzag(sqrt(far * far + v * v)) - 1) / 2;
}

static double rays(const plan *p, double u, double v) {
    const double n = p->count;
    return (zigzag(n * angle(u, v)) - .5) * VIT_PI * sqrt(u * u + v * v) / n;
}

/* The last of the discs that cover the point, as tiles of a roof do, darker to its edge. */
static double scales(const plan *p, double u, double v) {
    (void)p;
    const int first = (int)floor(2 * v);
    for (int row = first + 1; row > first - 2; row--) {
        const double middle = row % 2 ? .5 : 0;
        const double du = u - middle - floor(u - middle + .5), dv = v - .5 * row;
        const double d = sqrt(du * du + dv * dv);
        if (d < .6) return 1.2 * d - .4;
    }
    return -.5;
}

static double weave(const plan *p, double u, double v) {
    (void)p;
    const int column = (int)floor(u), row = (int)floor(v);
    const double t = (column + row) % 2 ? u - column : v - row;
    return 4 * t * (1 - t) - .5;
}

static double plaid(const plan *p, double u, double v) {
    return .5 * (clamp(.5 + (zigzag(u) - .5) * p->period) +
                 clamp(.5 + (zigzag(v) - .5) * p->period)) -
           .5;
}

static double cells(const plan *p, double u, double v) {
    return .5 - look_around(p, u, v, to_point).first;
}

static double crackle(const plan *p, double u, double v) {
    const nearest n = look_around(p, u, v, to_point);
    return n.second - n.first - .12;
}

static double stones(const plan *p, double u, double v) {
    const nearest n = look_around(p, u, v, to_point);
    return grain(p, n.column, n.row, 3) - .5;
}

static double dashes(const plan *p, double u, double v) {
    return .09 - look_around(p, u, v, to_dash).first;
}

static double needles(const plan *p, double u, double v) {
    return .09 - look_around(p, u, v, to_needle).first;
}

static double bubbles(const plan *p, double u, double v) {
    return .07 - look_around(p, u, v, to_bubble).first;
}

/* Quarters of circles around two opposite corners of each square. */
static double arcs(const plan *p, double u, double v) {
    const int column = (int)floor(u), row = (int)floor(v);
    double a = u - column, b = v - row;
    if (grain(p, column, row, 0) < .5) a = 1 - a;
    const double near = fabs(sqrt(a * a + b * b) - .5),
                 far = fabs(sqrt((1 - a) * (1 - a) + (1 - b) * (1 - b)) - .5);
    return .13 - (near < far ? near : far);
}

/* A diagonal of each square, one of the two. */
static double maze(const plan *p, double u, double v) {
    const int column = (int)floor(u), row = (int)floor(v);
    double a = u - column, b = v - row;
    if (grain(p, column, row, 0) < .5) a = 1 - a;
    return .13 - fabs(a - b) / 1.414;
}

static double wood(const plan *p, double u, double v) {
    return zigzag(.5 * sqrt(u * u + v * v) + 1.6 * noise(p, .35 * u, .1 * v)) - .5;
}

static double folds(const plan *p, double u, double v) {
    const double coarse = fabs(2 * noise(p, u, v) - 1),
                 fine = fabs(2 * noise(p, 2.1 * u + 5, 2.1 * v) - 1);
    return .5 - 1.2 * coarse - .5 * fine;
}

static double blots(const plan *p, double u, double v) {
    return .7 * (noise(p, u, v) - .5);
}

static double contours(const plan *p, double u, double v) {
    return (zigzag(4 * noise(p, .4 * u, .4 * v)) - .75) / 4;
}

/* The rest has no period: one transition over the whole picture. */
static double ramp(const plan *p, double u, double v) {
    (void)v;
    return u * p->period / SIDE;
}

static double glow(const plan *p, double u, double v) {
    return .6 - 1.5 * sqrt(u * u + v * v) * p->period / SIDE;
}

static double halves(const plan *p, double u, double v) {
    (void)p, (void)v;
    return u;
}

static double quarters(const plan *p, double u, double v) {
    (void)p;
    return (u > 0) == (v > 0) ? .5 : -.5;
}

/* A light source around which it gets darker by the angle. */
static double fan(const plan *p, double u, double v) {
    (void)p;
    return angle(u, v) - .5;
}

static const struct {
    const char *name;
    field *at;
    bool hard, centred; /* the origin is in the picture */
} patterns[] = {
    {"honeycomb", honeycomb, false, false},
    {"triangles", triangles, true, false},
    {"chevrons", chevrons, true, false},
    {"rings", rings, true, true},
    {"two rings", two_rings, false, true},
    {"rays", rays, true, true},
    {"scales", scales, false, false},
    {"weave", weave, false, false},
    {"plaid", plaid, false, false},
    {"cells", cells, false, false},
    {"crackle", crackle, true, false},
    {"stones", stones, false, false},
    {"dashes", dashes, true, false},
    {"needles", needles, true, false},
    {"bubbles", bubbles, true, false},
    {"arcs", arcs, true, false},
    {"maze", maze, true, false},
    {"wood", wood, false, true},
    {"folds", folds, false, false},
    {"blots", blots, true, false},
    {"contours", contours, true, false},
    {"ramp", ramp, false, true},
    {"glow", glow, false, true},
    {"halves", halves, true, true},
    {"quarters", quarters, false, true},
    {"fan", fan, false, true},
};
#define PATTERNS VIT_COUNT(patterns)

static plan make_plan(bool centred, vit_random *r) {
    plan p;
    p.period = 4 * vit_exp(vit_random_between(r, 0, 1.2));
    const double turn = vit_random_between(r, 0, 2 * VIT_PI),
                 wide = vit_random_between(r, .85, 1.18) / p.period, c = vit_cos(turn),
                 s = vit_sin(turn);
    p.xx = c * wide, p.xy = s * wide, p.yx = -s / p.period, p.yy = c / p.period;
    p.x0 = vit_random_between(r, 8, 16), p.y0 = vit_random_between(r, 8, 16);
    if (centred) {
        const double x = vit_random_between(r, .2 * SIDE, .8 * SIDE),
                     y = vit_random_between(r, .2 * SIDE, .8 * SIDE);
        p.x0 = -p.xx * x - p.xy * y, p.y0 = -p.yx * x - p.yy * y;
    }
    p.centre = vit_random_between(r, 1, 3);
    p.count = 5 + vit_random_below(r, 9);
    for (int j = 0; j < GRAINS; j++)
        for (int i = 0; i < GRAINS; i++) p.grains[j][i] = (uint8_t)vit_random_below(r, 256);
    return p;
}

static void shade_pattern(double *shades, size_t kind, vit_random *r) {
    const plan p = make_plan(patterns[kind].centred, r);
    for (int y = 0; y < SIDE; y++)
        for (int x = 0; x < SIDE; x++) {
            const double u = p.xx * x + p.xy * y + p.x0, v = p.yx * x + p.yy * y + p.y0;
            const double f = patterns[kind].at(&p, u, v);
            shades[y * SIDE + x] = clamp(.5 + f * (patterns[kind].hard ? p.period : 1));
        }
}

/* ---- surfaces of one colour ---- */

static const char *const colours[] = {"red",  "orange", "yellow", "lime", "green", "teal", "sky",
                                      "blue", "purple", "pink",   "grey", "white", "black"};
#define COLOURS VIT_COUNT(colours)
#define HUES 10

/* rgb [3], 0 to 255: a shade of the colour. */
static void mix_colour(double *rgb, size_t colour, vit_random *r) {
    const bool coloured = colour < HUES;
    const double hue = ((double)colour + vit_random_between(r, -.35, .35)) / HUES,
                 full = coloured ? vit_random_between(r, .4, 1) : vit_random_between(r, 0, .12);
    double low = coloured ? .4 : .3, high = coloured ? 1 : .7;
    if (colour == HUES + 1) low = .82, high = 1;
    if (colour == HUES + 2) low = 0, high = .2;
    const double value = vit_random_between(r, low, high);
    for (int c = 0; c < 3; c++) {
        const double t = hue - c / 3., away = 6 * fabs(t - floor(t + .5)); /* 0 to 3 */
        rgb[c] = 255 * value * (1 - full * clamp(away - 1));
    }
}

/* Smooth spots or fine ones. */
static void shade_surface(double *shades, vit_random *r) {
    const plan p = make_plan(false, r);
    for (int y = 0; y < SIDE; y++)
        for (int x = 0; x < SIDE; x++)
            shades[y * SIDE + x] =
                noise(&p, p.xx * x + p.xy * y + p.x0, p.yx * x + p.yy * y + p.y0);
}

/* ---- signs ---- */

/* Of vit_sign: crosses and stars of lines are left out, with which features are measured
 * (scripts/measure-backbones), and what is another one mirrored. */
static const uint8_t left_out[] = {21, 40, 51, 52, 53};
#define SIGNS (VIT_SIGNS - VIT_COUNT(left_out))

/* The number of a sign among all of them. */
static size_t number_of(size_t sign) {
    for (size_t i = 0; i < VIT_COUNT(left_out); i++) sign += sign >= left_out[i];
    return sign;
}

/* The sign turned by up to 40 degrees, of .6 to 1.4 of MNIST's size, anywhere in the picture. */
static void shade_sign(double *shades, size_t sign, vit_random *r) {
    uint8_t ink[VIT_INK_PIXELS];
    vit_hand hand = vit_hand_draw(r);
    vit_hand_write(ink, vit_sign(number_of(sign)), &hand, r);
    const double turn = vit_random_between(r, -.7, .7),
                 size = vit_exp(vit_random_between(r, -.5, .35)), c = vit_cos(turn) / size,
                 s = vit_sin(turn) / size, most = size < 1 ? 16 - 10 * size : 5,
                 left = SIDE / 2. + vit_random_between(r, -most, most),
                 top = SIDE / 2. + vit_random_between(r, -most, most);
    for (int y = 0; y < SIDE; y++)
        for (int x = 0; x < SIDE; x++) {
            const double dx = x + .5 - left, dy = y + .5 - top;
            const double u = c * dx + s * dy + 13.5, v = c * dy - s * dx + 13.5;
            const int column = (int)floor(u), row = (int)floor(v);
            double sum = 0;
            for (int k = 0; k < 4; k++) {
                const int i = column + k % 2, j = row + k / 2;
                if (i < 0 || j < 0 || i >= VIT_INK_SIDE || j >= VIT_INK_SIDE) continue;
                sum += (1 - fabs(u - i)) * (1 - fabs(v - j)) * ink[j * VIT_INK_SIDE + i];
            }
            shades[y * SIDE + x] = sum / 255;
        }
}

/* ---- colours, light and noise ---- */

/* Any two colours that differ by so much in one channel at least. */
static void choose_colours(double *first, double *second, vit_random *r) {
    double most = 0;
    while (most < 60) {
        most = 0;
        for (int c = 0; c < 3; c++) {
            first[c] = vit_random_between(r, 10, 245);
            second[c] = vit_random_between(r, 10, 245);
            most = fmax(most, fabs(first[c] - second[c]));
        }
    }
}

/* Of half of the signs: dark on light paper; of a fourth light on dark; else any two. */
static void choose_inks(double *paper, double *ink, vit_random *r) {
    const uint32_t how = vit_random_below(r, 4);
    if (how == 3) {
        choose_colours(paper, ink, r);
        return;
    }
    for (int c = 0; c < 3; c++) {
        const double light = vit_random_between(r, 200, 255), dark = vit_random_between(r, 0, 110);
        paper[c] = how < 2 ? light : dark;
        ink[c] = how < 2 ? dark : light;
    }
}

/* pixels = the shades between two colours, brighter to one side, with noise. */
static void paint(uint8_t *pixels, const double *shades, const double *first, const double *second,
                  vit_random *r) {
    const double turn = vit_random_between(r, 0, 2 * VIT_PI),
                 light = vit_random_between(r, 0, .25) / SIDE, right = light * vit_cos(turn),
                 down = light * vit_sin(turn), grains = vit_random_between(r, -8, 16);
    for (int i = 0; i < SIDE * SIDE; i++) {
        const double bright = 1 + right * (i % SIDE - SIDE / 2) + down * (i / SIDE - SIDE / 2);
        uint32_t bits = grains > 0 ? vit_random_u32(r) : 0;
        for (int c = 0; c < 3; c++, bits >>= 8) {
            const double stir = grains > 0 ? grains * ((bits & 255) / 127.5 - 1) : 0;
            const double v = bright * (first[c] + shades[i] * (second[c] - first[c])) + stir;
            pixels[3 * i + c] = (uint8_t)(v < 0 ? 0 : v > 255 ? 255 : v + .5);
        }
    }
}

size_t vit_pattern_kinds(void) {
    return PATTERNS + COLOURS + SIGNS;
}

void vit_pattern_name(char name[16], size_t kind) {
    if (kind < PATTERNS)
        snprintf(name, 16, "%s", patterns[kind].name);
    else if (kind < PATTERNS + COLOURS)
        snprintf(name, 16, "%s", colours[kind - PATTERNS]);
    else
        snprintf(name, 16, "sign %u", (unsigned)number_of(kind - PATTERNS - COLOURS) & 255);
}

void vit_pattern_draw(uint8_t *pixels, size_t kind, vit_random *r) {
    double shades[SIDE * SIDE], first[3], second[3];
    if (kind < PATTERNS) {
        choose_colours(first, second, r);
        shade_pattern(shades, kind, r);
    } else if (kind < PATTERNS + COLOURS) {
        mix_colour(first, kind - PATTERNS, r);
        mix_colour(second, kind - PATTERNS, r);
        shade_surface(shades, r);
    } else {
        choose_inks(first, second, r);
        shade_sign(shades, kind - PATTERNS - COLOURS, r);
    }
    paint(pixels, shades, first, second, r);
}
