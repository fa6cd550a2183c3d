/* Pictures that are no digits: letters and signs, figures, scribbles and textures, drawn like
 * MNIST's digits (vit/image/digit/ink.h), so that a network can learn to be unsure of them. Letters
 * that look like a digit are left out (B, D, G, I, O, S, Z, b, g, i, l, o, q, s, y, z), and so are
 * rings.
 */
#include "datasets/made/pen.h"
#include "datasets/reader.h"
#include "vit/base/math.h"
#include "vit/base/size.h"

#include <math.h>
#include <string.h>

/* ---- letters and signs ---- */

typedef struct letter {
    vit_control controls[VIT_INK_CONTROLS];
} letter;

/* clang-format off */
static const letter letters[] = {
    /* A */ {{{M,5,100}, {C,48,2}, {C,92,98}, {M,22,66}, {C,78,62}}},
    /* A */ {{{M,8,100}, {S,14,40}, {S,48,0}, {S,80,36}, {S,88,100}, {M,12,58}, {C,84,60}}},
    /* C */ {{{M,84,16}, {S,50,0}, {S,12,30}, {S,14,74}, {S,50,100}, {S,88,84}}},
    /* E */ {{{M,84,4}, {S,40,4}, {S,26,26}, {C,54,46}, {S,16,64}, {S,24,94}, {S,84,92}}},
    /* E */ {{{M,22,0}, {C,20,100}, {C,80,98}, {M,22,2}, {C,78,0}, {M,22,50}, {C,66,48}}},
    /* F */ {{{M,24,4}, {C,22,100}, {M,16,4}, {C,82,0}, {M,22,48}, {C,64,46}}},
    /* H */ {{{M,14,0}, {C,16,100}, {M,82,2}, {C,84,98}, {M,16,54}, {C,82,48}}},
    /* J */ {{{M,30,4}, {C,88,2}, {M,62,4}, {S,62,70}, {S,44,98}, {S,14,80}}},
    /* K */ {{{M,18,0}, {C,20,100}, {M,76,4}, {C,20,52}, {C,80,98}}},
    /* L */ {{{M,28,0}, {C,24,98}, {C,84,96}}},
    /* M */ {{{M,6,100}, {C,14,2}, {C,48,66}, {C,84,0}, {C,94,100}}},
    /* M */ {{{M,4,98}, {S,14,30}, {S,28,4}, {S,46,40}, {C,48,70}, {S,58,24}, {S,78,4},
              {S,94,98}}},
    /* N */ {{{M,12,100}, {C,14,2}, {C,82,96}, {C,84,0}}},
    /* P */ {{{M,24,100}, {C,22,2}, {S,68,6}, {S,74,34}, {S,26,52}}},
    /* Q */ {{{M,50,4}, {S,16,40}, {S,46,88}, {S,82,48}, {S,50,4}, {M,54,62}, {C,92,104}}},
    /* R */ {{{M,22,100}, {C,22,2}, {S,70,6}, {S,70,38}, {C,24,50}, {C,80,100}}},
    /* T */ {{{M,6,4}, {C,92,2}, {M,50,4}, {C,48,100}}},
    /* U */ {{{M,14,0}, {S,14,64}, {S,46,98}, {S,80,66}, {S,82,0}}},
    /* V */ {{{M,8,0}, {C,48,98}, {C,90,2}}},
    /* W */ {{{M,2,2}, {C,24,98}, {C,50,26}, {C,74,98}, {C,98,0}}},
    /* W */ {{{M,4,10}, {S,16,84}, {S,32,92}, {S,48,40}, {S,66,92}, {S,84,80}, {S,94,6}}},
    /* X */ {{{M,12,2}, {C,86,98}, {M,86,0}, {C,10,100}}},
    /* Y */ {{{M,10,0}, {C,50,48}, {M,88,2}, {C,50,48}, {C,50,100}}},
    /* a */ {{{M,74,30}, {S,46,18}, {S,18,54}, {S,38,90}, {S,72,62}, {C,76,22}, {S,76,76},
              {S,94,94}}},
    /* a */ {{{M,26,24}, {S,56,8}, {S,74,34}, {C,76,96}, {M,74,50}, {S,34,54}, {S,24,84},
              {S,54,94}, {S,76,72}}},
    /* c */ {{{M,78,34}, {S,50,20}, {S,22,56}, {S,46,94}, {S,82,80}}},
    /* d */ {{{M,68,50}, {S,42,42}, {S,18,70}, {S,38,98}, {S,68,74}, {M,72,0}, {S,70,70},
              {S,84,98}}},
    /* e */ {{{M,20,58}, {S,56,54}, {S,76,36}, {S,50,14}, {S,20,46}, {S,34,92}, {S,84,82}}},
    /* f */ {{{M,76,12}, {S,56,2}, {S,44,28}, {S,42,100}, {M,20,44}, {C,70,42}}},
    /* h */ {{{M,22,0}, {C,22,100}, {M,24,62}, {S,52,42}, {S,72,62}, {S,74,100}}},
    /* j */ {{{M,58,24}, {S,58,78}, {S,40,100}, {S,18,86}, {M,58,4}, {C,60,7}}},
    /* k */ {{{M,24,0}, {C,22,100}, {M,70,38}, {C,26,68}, {C,74,100}}},
    /* m */ {{{M,6,98}, {C,8,26}, {S,26,16}, {S,44,34}, {C,46,98}, {C,48,34}, {S,68,16},
              {S,86,36}, {S,92,98}}},
    /* n */ {{{M,16,100}, {C,16,16}, {M,18,44}, {S,46,16}, {S,72,36}, {S,78,100}}},
    /* p */ {{{M,22,14}, {C,20,102}, {M,22,28}, {S,56,12}, {S,74,36}, {S,50,62}, {S,24,52}}},
    /* r */ {{{M,26,18}, {C,28,98}, {M,28,46}, {S,50,20}, {S,80,24}}},
    /* t */ {{{M,46,0}, {S,44,74}, {S,60,96}, {S,82,84}, {M,16,32}, {C,78,30}}},
    /* u */ {{{M,16,18}, {S,18,70}, {S,44,92}, {S,74,60}, {C,76,18}, {S,78,80}, {S,94,94}}},
    /* v */ {{{M,14,16}, {S,34,60}, {C,48,94}, {S,62,50}, {S,88,16}}},
    /* w */ {{{M,4,18}, {C,26,94}, {C,48,34}, {C,72,94}, {C,96,16}}},
    /* x */ {{{M,14,14}, {S,34,30}, {S,62,80}, {S,88,92}, {M,84,14}, {S,56,44}, {S,14,96}}},
    /* alpha */ {{{M,92,12}, {S,62,70}, {S,32,90}, {S,12,56}, {S,34,18}, {S,62,50}, {S,94,92}}},
    /* pi */ {{{M,6,12}, {C,94,8}, {M,30,10}, {S,28,60}, {S,14,98}, {M,70,10}, {S,70,70},
              {S,88,98}}},
    /* omega */ {{{M,4,98}, {C,34,96}, {S,10,44}, {S,50,2}, {S,90,44}, {C,64,96}, {C,96,98}}},
    /* psi */ {{{M,8,10}, {S,14,54}, {S,50,70}, {S,86,54}, {S,92,10}, {M,50,0}, {C,50,100}}},
    /* zhe */ {{{M,6,4}, {C,48,52}, {C,4,98}, {M,92,4}, {C,52,52}, {C,96,98}, {M,50,0},
              {C,50,100}}},
    /* sha */ {{{M,8,0}, {C,8,96}, {C,92,96}, {C,92,0}, {M,50,0}, {C,50,96}}},
    /* ! ? */ {{{M,20,24}, {S,44,0}, {S,76,18}, {S,52,46}, {S,48,72}, {M,48,96}, {C,50,99}}},
    /* # */ {{{M,34,2}, {C,24,98}, {M,72,2}, {C,62,98}, {M,8,34}, {C,94,32}, {M,6,68},
              {C,92,66}}},
    /* = */ {{{M,8,34}, {C,92,32}, {M,8,66}, {C,92,66}}},
    /* < */ {{{M,84,8}, {C,12,50}, {C,86,94}}},
    /* > */ {{{M,14,8}, {C,88,50}, {C,12,92}}},
    /* * */ {{{M,50,0}, {C,50,100}, {M,6,24}, {C,94,76}, {M,94,24}, {C,6,76}}},
    /* + */ {{{M,50,6}, {C,50,94}, {M,4,50}, {C,96,50}}},
    /* % */ {{{M,90,4}, {C,10,96}, {M,26,6}, {S,8,22}, {S,26,36}, {S,40,20}, {S,26,6},
              {M,76,62}, {S,58,78}, {S,74,96}, {S,92,78}, {S,76,62}}},
    /* & */ {{{M,94,98}, {S,30,36}, {S,32,6}, {S,58,8}, {S,54,34}, {S,14,70}, {S,30,98},
              {S,62,90}, {S,90,54}}},
    /* @ */ {{{M,64,42}, {S,46,34}, {S,36,56}, {S,52,66}, {S,66,40}, {S,72,64}, {S,92,50},
              {S,76,10}, {S,34,6}, {S,8,46}, {S,30,92}, {S,78,92}}},
    /* infinity */ {{{M,50,50}, {S,26,28}, {S,4,50}, {S,26,72}, {S,50,50}, {S,74,28}, {S,96,50},
              {S,74,72}, {S,50,50}}},
    /* tick */ {{{M,6,56}, {C,36,96}, {C,96,6}}},
    /* note */ {{{M,40,80}, {S,22,74}, {S,10,88}, {S,26,98}, {S,40,84}, {C,42,4}, {S,64,24},
              {S,72,46}}},
    /* root */ {{{M,2,56}, {C,16,50}, {C,34,98}, {C,50,6}, {C,98,4}}},
    /* fish */ {{{M,96,20}, {S,50,74}, {S,10,50}, {S,48,24}, {S,96,82}, {C,96,20}}},
    /* heart */ {{{M,50,30}, {S,28,4}, {S,4,26}, {S,22,64}, {C,50,98}, {S,80,62}, {S,96,26},
              {S,72,4}, {S,50,30}}},
    /* moon */ {{{M,64,2}, {S,16,24}, {S,16,76}, {S,64,98}, {C,64,98}, {S,42,72}, {S,42,28},
              {S,64,2}}},
    /* flag */ {{{M,20,100}, {C,20,2}, {C,88,22}, {C,22,46}}},
    /* stairs */ {{{M,4,96}, {C,4,66}, {C,36,66}, {C,36,34}, {C,66,34}, {C,66,4}, {C,98,4}}},
};
/* clang-format on */
VIT_CHECK_ROWS(letters, VIT_SIGNS);

const vit_control *vit_sign(size_t index) {
    return letters[index].controls;
}

/* ---- figures and scribbles: random control points ---- */

typedef struct pad {
    vit_control controls[VIT_INK_CONTROLS];
    int count;
} pad;

/* Adds a point, x and y in the unit square; points that a shape has no room for are left out. */
static void put(pad *p, vit_pen pen, double x, double y) {
    if (p->count < VIT_INK_CONTROLS)
        p->controls[p->count++] =
            (vit_control){pen, (int8_t)floor(100 * x + .5), (int8_t)floor(100 * y + .5)};
}

/* A polygon, a star or a flower around the middle, but nothing round, which would be a zero. */
static void put_polygon(pad *p, double radius, vit_random *r) {
    const bool star = vit_random_below(r, 3) == 0;
    const int corners =
        star ? 2 * (3 + (int)vit_random_below(r, 4)) : 3 + (int)vit_random_below(r, 4);
    const double dent = star ? vit_random_between(r, .4, .7) : 0,
                 turn = vit_random_between(r, 0, 2 * VIT_PI);
    const vit_pen pen = star && vit_random_below(r, 2) ? S : C;
    for (int i = 0; i <= corners; i++) {
        const double angle = turn + 2 * VIT_PI * i / corners;
        const double far = radius * (i % 2 ? 1 - dent : 1);
        put(p, i > 0 ? pen : M, .5 + far * vit_cos(angle), .5 + far * vit_sin(angle));
    }
}

static void put_polygons(pad *p, vit_random *r) {
    put_polygon(p, .5, r);
    const uint32_t inside = vit_random_below(r, 4);
    if (inside == 0) put_polygon(p, vit_random_between(r, .15, .3), r);
    if (inside != 1) return;
    put(p, M, vit_random_between(r, 0, 1), 0);
    put(p, C, vit_random_between(r, 0, 1), 1);
}

/* Parallel lines, perhaps crossed by others. */
static void put_lines(pad *p, vit_random *r) {
    const int lines = 3 + (int)vit_random_below(r, 4);
    const bool crossed = vit_random_below(r, 2) == 0, lying = vit_random_below(r, 2) == 0;
    for (int k = 0; k <= (int)crossed; k++)
        for (int i = 0; i < lines; i++) {
            const double at = (double)i / (lines - 1);
            const bool flat = lying == (k == 0);
            put(p, M, flat ? 0 : at, flat ? at : 0);
            put(p, C, flat ? 1 : at, flat ? at : 1);
        }
}

/* A zigzag, or a wave. */
static void put_zigzag(pad *p, vit_random *r) {
    const int points = 5 + (int)vit_random_below(r, 6);
    const vit_pen pen = vit_random_below(r, 2) ? S : C;
    const double height = vit_random_between(r, .15, .5);
    const bool stands = vit_random_below(r, 2) == 0;
    for (int i = 0; i < points; i++) {
        const double along = (double)i / (points - 1), across = .5 + (i % 2 ? height : -height);
        put(p, i > 0 ? pen : M, stands ? across : along, stands ? along : across);
    }
}

/* A spiral of more than two turns. */
static void put_spiral(pad *p, vit_random *r) {
    const double turn = vit_random_between(r, 0, 2 * VIT_PI), way = vit_random_below(r, 2) ? 1 : -1;
    const double step = way * vit_random_between(r, .55, .8) * VIT_PI / 2,
                 angular = vit_random_between(r, 0, .3);
    for (int i = 0; i < VIT_INK_CONTROLS; i++) {
        const double far = .04 + .46 * i / (VIT_INK_CONTROLS - 1);
        const double angle = turn + step * i * (1 + angular);
        put(p, i > 0 ? S : M, .5 + far * vit_cos(angle), .5 + far * vit_sin(angle));
    }
}

/* Two to five short strokes, or one with many turns. */
static void put_scribble(pad *p, vit_random *r) {
    const int strokes = 1 + (int)vit_random_below(r, 5);
    const int points = strokes == 1 ? 8 + (int)vit_random_below(r, 10) : 2;
    for (int k = 0; k < strokes; k++) {
        const int more = strokes == 1 ? 0 : (int)vit_random_below(r, 3);
        const vit_pen pen = vit_random_below(r, 2) ? S : C;
        for (int i = 0; i < points + more; i++) {
            const double y = vit_random_between(r, 0, 1), x = vit_random_between(r, 0, 1);
            put(p, i > 0 ? pen : M, x, y);
        }
    }
}

/* ---- textures: a box is filled pixel by pixel ---- */

#define GRAINS 22

typedef struct texture {
    double x, y;  /* of a wave: radians per pixel in each direction */
    double phase; /* of a wave */
    double share; /* how much of a wave is ink; how large blots are */
    bool crossed; /* checks, not stripes */
    bool round;   /* an ellipse, not the whole box */
    uint8_t grains[GRAINS][GRAINS];
    double grain; /* the side of a grain in pixels */
} texture;

static texture choose_texture(vit_random *r) {
    texture t;
    const double angle = vit_random_between(r, 0, VIT_PI),
                 wave = 2 * VIT_PI / vit_random_between(r, 2.5, 10);
    t.x = wave * vit_cos(angle), t.y = wave * vit_sin(angle);
    t.share = vit_random_between(r, -.5, .5), t.phase = vit_random_between(r, 0, 2 * VIT_PI);
    t.crossed = vit_random_below(r, 2) == 0;
    t.round = vit_random_below(r, 2) == 0;
    t.grain = vit_random_between(r, 1, 8);
    for (int i = 0; i < GRAINS; i++)
        for (int k = 0; k < GRAINS; k++) t.grains[i][k] = (uint8_t)vit_random_below(r, 256);
    return t;
}

/* Stripes or checks: above 0 is ink. */
static double wave_at(const texture *t, double x, double y) {
    const double along = vit_sin(t->x * x + t->y * y + t->phase);
    return t->crossed ? 3 * along * vit_sin(t->y * x - t->x * y) : along + t->share;
}

/* Noise, -1 to 1: bilinear interpolation between random grains. */
static double noise_at(const texture *t, double x, double y) {
    const double u = x / t->grain, v = y / t->grain;
    const int column = (int)u, row = (int)v;
    const double a = u - column, b = v - row;
    const uint8_t *above = &t->grains[row][column], *below = &t->grains[row + 1][column];
    return ((1 - b) * ((1 - a) * above[0] + a * above[1]) +
            b * ((1 - a) * below[0] + a * below[1])) /
               127.5 -
           1;
}

/* The amount of ink at a pixel, 0 to 1. Kind 0: waves, 1: grey noise, others: blots. */
static double texture_at(const texture *t, uint32_t kind, double x, double y) {
    const double v = kind == 0   ? 4 * wave_at(t, x, y)
                     : kind == 1 ? 1.4 * noise_at(t, x, y)
                                 : 8 * (noise_at(t, x, y) + .4 * t->share);
    return v < -1 ? 0 : v > 1 ? 1 : .5 + .5 * v;
}

/* A fourth are waves, a fourth grey noise, half are blots. */
static void draw_texture(uint8_t *pixels, vit_random *r) {
    const texture t = choose_texture(r);
    const uint32_t kind = vit_random_below(r, 4);
    const int first = (VIT_INK_SIDE - VIT_INK_BOX) / 2;
    const int height = 12 + (int)vit_random_below(r, 9);
    const int width = height < 20 ? 20 : 12 + (int)vit_random_below(r, 9);
    uint8_t ink[VIT_INK_PIXELS] = {0};
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++) {
            const double u = (2 * x + 1.) / width - 1, v = (2 * y + 1.) / height - 1;
            if (t.round && u * u + v * v > 1) continue;
            ink[(first + y) * VIT_INK_SIDE + first + x] =
                (uint8_t)(255 * texture_at(&t, kind, x, y) + .5);
        }
    vit_ink_centre(pixels, ink);
}

/* ---- the picture ---- */

static void put_figure(pad *p, vit_random *r) {
    switch (vit_random_below(r, 6)) {
    case 0:
    case 1:
        put_polygons(p, r);
        return;
    case 2:
        put_lines(p, r);
        return;
    case 3:
        put_zigzag(p, r);
        return;
    case 4:
        put_spiral(p, r);
        return;
    default:
        put_scribble(p, r);
        return;
    }
}

void vit_stranger_draw(uint8_t *pixels, vit_random *r) {
    const uint32_t kind = vit_random_below(r, 9);
    if (kind >= 7) {
        draw_texture(pixels, r);
        return;
    }
    pad p = {.count = 0};
    vit_hand hand = vit_hand_draw(r);
    const double steady = vit_random_uniform(r);
    for (int i = 0; i < 6; i++) hand.bend[i] *= steady;
    if (kind < 4)
        memcpy(p.controls, vit_sign(vit_random_below(r, VIT_SIGNS)), sizeof p.controls);
    else
        put_figure(&p, r);
    vit_hand_write(pixels, p.controls, &hand, r);
}
