/* The matrices of the lecture's network: a row of a table for each symbol, with its formula, its
 * shape and what it is computed from. */
#include <stdio.h>

#include "vit/base/size.h"
#include "vit/lecture/inside.h"

/* Where a symbol is: before the blocks, in each block, after them; HANDED: what a section hands to
 * the next one. */
typedef enum place { BEFORE, BLOCK, AFTER, HANDED } place;

/* Sizes by their letters: sides and pixels of a patch, N patches, T tokens, D = dim, d_k of a head,
 * M of the MLP, classes. */
typedef enum size { ONE, SIDE, PIXELS, N, T, D, D_K, M, CLASSES } size;

/* Flags of an operand: it is transposed; it is of the section before, or after. */
enum { ID = 0xff, TURNED = 0x100, PREVIOUS = 0x200, NEXT = 0x400 };

typedef struct symbol {
    const char *name, *formula;
    uint8_t pass, place, rows, columns, weight; /* weight: of a gradient, what it is the gradient
                                                   of; else itself */
    uint8_t products;
    bool by_heads, is_fixed;
    uint16_t operands[VIT_LECTURE_OPERANDS + 1];
    uint8_t count;
} symbol;

#define COUNTED(...) \
    .operands = {__VA_ARGS__}, .count = sizeof((uint16_t[]){__VA_ARGS__}) / sizeof(uint16_t)
#define SYMBOL(at, in, symbol, how, n, m) \
    .name = symbol, .formula = how, .pass = VIT_LECTURE_##at, .place = in, .rows = n, .columns = m
#define IS_GIVEN(in, symbol, n, m) \
    { SYMBOL(GIVEN, in, symbol, NULL, n, m) }
#define IS_MADE(at, in, symbol, how, n, m, ...) \
    { SYMBOL(at, in, symbol, how, n, m), COUNTED(__VA_ARGS__) }
#define IS_PRODUCT(at, in, symbol, how, n, m, ...) \
    { SYMBOL(at, in, symbol, how, n, m), .products = 1, COUNTED(__VA_ARGS__) }
#define OF_HEADS(at, symbol, how, n, m, ...) \
    { SYMBOL(at, BLOCK, symbol, how, n, m), .products = 1, .by_heads = true, COUNTED(__VA_ARGS__) }
#define OF_WEIGHT(in, symbol, how, n, m, of, pairs, ...)                          \
    {                                                                             \
        SYMBOL(BACKWARD, in, symbol, how, n, m), .weight = of, .products = pairs, \
                                                 COUNTED(__VA_ARGS__)             \
    }
#define OF_W(symbol, how, of, from)                                                          \
    {                                                                                        \
        SYMBOL(BACKWARD, BLOCK, symbol, how, D, D_K),                                        \
            .weight = of, .products = 1, .by_heads = true, COUNTED(TURNED | LECTURE_X, from) \
    }

static const symbol symbols[] = {
    [LECTURE_PICTURE] = IS_GIVEN(BEFORE, "x", SIDE, SIDE),
    [LECTURE_E] = IS_GIVEN(BEFORE, "E", PIXELS, D),
    [LECTURE_B_E] = IS_GIVEN(BEFORE, "b_E", ONE, D),
    [LECTURE_CLASS] = IS_GIVEN(BEFORE, "x_class", ONE, D),
    [LECTURE_POSITIONS] = IS_GIVEN(BEFORE, "E_pos", T, D),
    [LECTURE_PATCHES] =
        IS_MADE(FORWARD, BEFORE, "x_p", "the patches of x, a row each", N, PIXELS, LECTURE_PICTURE),
    [LECTURE_EMBEDDED] = IS_PRODUCT(FORWARD, BEFORE, "e", "x_p E + b_E", N, D, LECTURE_PATCHES,
                                    LECTURE_E, LECTURE_B_E),
    [LECTURE_GAMMA_1] = IS_GIVEN(BLOCK, "gamma_1", ONE, D),
    [LECTURE_BETA_1] = IS_GIVEN(BLOCK, "beta_1", ONE, D),
    [LECTURE_W_Q] = {SYMBOL(GIVEN, BLOCK, "W^Q", NULL, D, D_K), .by_heads = true},
    [LECTURE_W_K] = {SYMBOL(GIVEN, BLOCK, "W^K", NULL, D, D_K), .by_heads = true},
    [LECTURE_W_V] = {SYMBOL(GIVEN, BLOCK, "W^V", NULL, D, D_K), .by_heads = true},
    [LECTURE_W_O] = IS_GIVEN(BLOCK, "W^O", D, D),
    [LECTURE_B_O] = IS_GIVEN(BLOCK, "b^O", ONE, D),
    [LECTURE_GAMMA_2] = IS_GIVEN(BLOCK, "gamma_2", ONE, D),
    [LECTURE_BETA_2] = IS_GIVEN(BLOCK, "beta_2", ONE, D),
    [LECTURE_W_1] = IS_GIVEN(BLOCK, "W_1", D, M),
    [LECTURE_B_1] = IS_GIVEN(BLOCK, "b_1", ONE, M),
    [LECTURE_W_2] = IS_GIVEN(BLOCK, "W_2", M, D),
    [LECTURE_B_2] = IS_GIVEN(BLOCK, "b_2", ONE, D),
    [LECTURE_X] = IS_MADE(FORWARD, BLOCK, "X", "LN(z)", T, D, PREVIOUS | LECTURE_Z, LECTURE_GAMMA_1,
                          LECTURE_BETA_1),
    [LECTURE_Q] = OF_HEADS(FORWARD, "Q", "X W^Q", T, D_K, LECTURE_X, LECTURE_W_Q),
    [LECTURE_K] = OF_HEADS(FORWARD, "K", "X W^K", T, D_K, LECTURE_X, LECTURE_W_K),
    [LECTURE_V] = OF_HEADS(FORWARD, "V", "X W^V", T, D_K, LECTURE_X, LECTURE_W_V),
    [LECTURE_S] = OF_HEADS(FORWARD, "S", "Q K^T / sqrt(D)", T, T, LECTURE_Q, TURNED | LECTURE_K),
    [LECTURE_P] = {SYMBOL(FORWARD, BLOCK, "P", "softmax(S), of each row", T, T), .by_heads = true,
                   COUNTED(LECTURE_S)},
    [LECTURE_HEAD] = OF_HEADS(FORWARD, "head", "P V", T, D_K, LECTURE_P, LECTURE_V),
    [LECTURE_CAT] = IS_MADE(FORWARD, BLOCK, "cat", "cat(head_1 ... head_h)", T, D, LECTURE_HEAD),
    [LECTURE_Z_PRIME] = IS_PRODUCT(FORWARD, BLOCK, "z'", "cat W^O + b^O + z", T, D, LECTURE_CAT,
                                   LECTURE_W_O, LECTURE_B_O, PREVIOUS | LECTURE_Z),
    [LECTURE_X_PRIME] = IS_MADE(FORWARD, BLOCK, "X'", "LN(z')", T, D, LECTURE_Z_PRIME,
                                LECTURE_GAMMA_2, LECTURE_BETA_2),
    [LECTURE_H] = IS_PRODUCT(FORWARD, BLOCK, "H", "X' W_1 + b_1", T, M, LECTURE_X_PRIME,
                             LECTURE_W_1, LECTURE_B_1),
    [LECTURE_G] = IS_MADE(FORWARD, BLOCK, "G", "GELU(H)", T, M, LECTURE_H),
    [LECTURE_Z] = IS_PRODUCT(FORWARD, HANDED, "z", "G W_2 + b_2 + z'", T, D, LECTURE_G, LECTURE_W_2,
                             LECTURE_B_2, LECTURE_Z_PRIME),
    [LECTURE_W_3] = IS_GIVEN(AFTER, "W_3", D, M),
    [LECTURE_B_3] = IS_GIVEN(AFTER, "b_3", ONE, M),
    [LECTURE_W_4] = IS_GIVEN(AFTER, "W_4", M, CLASSES),
    [LECTURE_B_4] = IS_GIVEN(AFTER, "b_4", ONE, CLASSES),
    [LECTURE_Y] =
        IS_MADE(FORWARD, AFTER, "y", "the class token's row of z", ONE, D, PREVIOUS | LECTURE_Z),
    [LECTURE_HIDDEN] =
        IS_PRODUCT(FORWARD, AFTER, "h", "y W_3 + b_3", ONE, M, LECTURE_Y, LECTURE_W_3, LECTURE_B_3),
    [LECTURE_ACTIVE] = IS_MADE(FORWARD, AFTER, "g", "GELU(h)", ONE, M, LECTURE_HIDDEN),
    [LECTURE_LOGITS] = IS_PRODUCT(FORWARD, AFTER, "logits", "g W_4 + b_4", ONE, CLASSES,
                                  LECTURE_ACTIVE, LECTURE_W_4, LECTURE_B_4),
    [LECTURE_PROBABILITIES] = {SYMBOL(FORWARD, AFTER, "p", "softmax(logits)", ONE, CLASSES),
                               .is_fixed = true, COUNTED(LECTURE_LOGITS)},
    [LECTURE_LOSS] = {SYMBOL(FORWARD, AFTER, "loss", "-log p(label)", ONE, ONE), .is_fixed = true,
                      COUNTED(LECTURE_PROBABILITIES)},
    [LECTURE_D_LOGITS] = IS_MADE(BACKWARD, AFTER, "dlogits", "p, less 1 at the label", ONE, CLASSES,
                                 LECTURE_PROBABILITIES),
    [LECTURE_D_W_4] = OF_WEIGHT(AFTER, "dW_4", "g^T dlogits", M, CLASSES, LECTURE_W_4, 1,
                                TURNED | LECTURE_ACTIVE, LECTURE_D_LOGITS),
    [LECTURE_D_B_4] =
        OF_WEIGHT(AFTER, "db_4", "dlogits", ONE, CLASSES, LECTURE_B_4, 0, LECTURE_D_LOGITS),
    [LECTURE_D_ACTIVE] = IS_PRODUCT(BACKWARD, AFTER, "dg", "dlogits W_4^T", ONE, M,
                                    LECTURE_D_LOGITS, TURNED | LECTURE_W_4),
    [LECTURE_D_HIDDEN] = IS_MADE(BACKWARD, AFTER, "dh", "dg GELU'(h), element by element", ONE, M,
                                 LECTURE_D_ACTIVE, LECTURE_HIDDEN),
    [LECTURE_D_W_3] = OF_WEIGHT(AFTER, "dW_3", "y^T dh", D, M, LECTURE_W_3, 1, TURNED | LECTURE_Y,
                                LECTURE_D_HIDDEN),
    [LECTURE_D_B_3] = OF_WEIGHT(AFTER, "db_3", "dh", ONE, M, LECTURE_B_3, 0, LECTURE_D_HIDDEN),
    [LECTURE_D_Y] = IS_PRODUCT(BACKWARD, AFTER, "dy", "dh W_3^T", ONE, D, LECTURE_D_HIDDEN,
                               TURNED | LECTURE_W_3),
    [LECTURE_D_Z] = IS_MADE(BACKWARD, HANDED, "dz", "dz' + what LN gives back of dX", T, D,
                            NEXT | LECTURE_D_Z_PRIME, NEXT | LECTURE_D_X, LECTURE_Z),
    [LECTURE_D_W_2] =
        OF_WEIGHT(BLOCK, "dW_2", "G^T dz", M, D, LECTURE_W_2, 1, TURNED | LECTURE_G, LECTURE_D_Z),
    [LECTURE_D_B_2] =
        OF_WEIGHT(BLOCK, "db_2", "sum of the rows of dz", ONE, D, LECTURE_B_2, 0, LECTURE_D_Z),
    [LECTURE_D_G] =
        IS_PRODUCT(BACKWARD, BLOCK, "dG", "dz W_2^T", T, M, LECTURE_D_Z, TURNED | LECTURE_W_2),
    [LECTURE_D_H] = IS_MADE(BACKWARD, BLOCK, "dH", "dG GELU'(H), element by element", T, M,
                            LECTURE_D_G, LECTURE_H),
    [LECTURE_D_W_1] = OF_WEIGHT(BLOCK, "dW_1", "X'^T dH", D, M, LECTURE_W_1, 1,
                                TURNED | LECTURE_X_PRIME, LECTURE_D_H),
    [LECTURE_D_B_1] =
        OF_WEIGHT(BLOCK, "db_1", "sum of the rows of dH", ONE, M, LECTURE_B_1, 0, LECTURE_D_H),
    [LECTURE_D_X_PRIME] =
        IS_PRODUCT(BACKWARD, BLOCK, "dX'", "dH W_1^T", T, D, LECTURE_D_H, TURNED | LECTURE_W_1),
    [LECTURE_D_GAMMA_2] = OF_WEIGHT(BLOCK, "dgamma_2", "sum of dX' times the norm of z'", ONE, D,
                                    LECTURE_GAMMA_2, 0, LECTURE_D_X_PRIME, LECTURE_Z_PRIME),
    [LECTURE_D_BETA_2] = OF_WEIGHT(BLOCK, "dbeta_2", "sum of the rows of dX'", ONE, D,
                                   LECTURE_BETA_2, 0, LECTURE_D_X_PRIME),
    [LECTURE_D_Z_PRIME] = IS_MADE(BACKWARD, BLOCK, "dz'", "dz + what LN gives back of dX'", T, D,
                                  LECTURE_D_Z, LECTURE_D_X_PRIME, LECTURE_Z_PRIME),
    [LECTURE_D_W_O] = OF_WEIGHT(BLOCK, "dW^O", "cat^T dz'", D, D, LECTURE_W_O, 1,
                                TURNED | LECTURE_CAT, LECTURE_D_Z_PRIME),
    [LECTURE_D_B_O] = OF_WEIGHT(BLOCK, "db^O", "sum of the rows of dz'", ONE, D, LECTURE_B_O, 0,
                                LECTURE_D_Z_PRIME),
    [LECTURE_D_HEAD] = {SYMBOL(BACKWARD, BLOCK, "dhead", "its columns of dz' W^O^T", T, D_K),
                        .by_heads = true, COUNTED(LECTURE_D_Z_PRIME, TURNED | LECTURE_W_O)},
    [LECTURE_D_V] =
        OF_HEADS(BACKWARD, "dV", "P^T dhead", T, D_K, TURNED | LECTURE_P, LECTURE_D_HEAD),
    [LECTURE_D_P] = OF_HEADS(BACKWARD, "dP", "dhead V^T", T, T, LECTURE_D_HEAD, TURNED | LECTURE_V),
    [LECTURE_D_S] = {SYMBOL(BACKWARD, BLOCK, "d(Q K^T)",
                            "P (dP - sum of P dP in the row) / sqrt(D)", T, T),
                     .by_heads = true, COUNTED(LECTURE_P, LECTURE_D_P)},
    [LECTURE_D_Q] = OF_HEADS(BACKWARD, "dQ", "d(Q K^T) K", T, D_K, LECTURE_D_S, LECTURE_K),
    [LECTURE_D_K] =
        OF_HEADS(BACKWARD, "dK", "d(Q K^T)^T Q", T, D_K, TURNED | LECTURE_D_S, LECTURE_Q),
    [LECTURE_D_W_Q] = OF_W("dW^Q", "X^T dQ", LECTURE_W_Q, LECTURE_D_Q),
    [LECTURE_D_W_K] = OF_W("dW^K", "X^T dK", LECTURE_W_K, LECTURE_D_K),
    [LECTURE_D_W_V] = OF_W("dW^V", "X^T dV", LECTURE_W_V, LECTURE_D_V),
    [LECTURE_D_X] = {SYMBOL(BACKWARD, BLOCK, "dX", "dQ W^Q^T + dK W^K^T + dV W^V^T, of all heads",
                            T, D),
                     .products = 3,
                     COUNTED(LECTURE_D_Q, TURNED | LECTURE_W_Q, LECTURE_D_K, TURNED | LECTURE_W_K,
                             LECTURE_D_V, TURNED | LECTURE_W_V)},
    [LECTURE_D_GAMMA_1] = OF_WEIGHT(BLOCK, "dgamma_1", "sum of dX times the norm of z", ONE, D,
                                    LECTURE_GAMMA_1, 0, LECTURE_D_X, PREVIOUS | LECTURE_Z),
    [LECTURE_D_BETA_1] = OF_WEIGHT(BLOCK, "dbeta_1", "sum of the rows of dX", ONE, D,
                                   LECTURE_BETA_1, 0, LECTURE_D_X),
    [LECTURE_D_POSITIONS] =
        OF_WEIGHT(BEFORE, "dE_pos", "dz", T, D, LECTURE_POSITIONS, 0, LECTURE_D_Z),
    [LECTURE_D_CLASS] =
        OF_WEIGHT(BEFORE, "dx_class", "the first row of dz", ONE, D, LECTURE_CLASS, 0, LECTURE_D_Z),
    [LECTURE_D_EMBEDDED] =
        IS_MADE(BACKWARD, BEFORE, "de", "the other rows of dz", N, D, LECTURE_D_Z),
    [LECTURE_D_E] = OF_WEIGHT(BEFORE, "dE", "x_p^T de", PIXELS, D, LECTURE_E, 1,
                              TURNED | LECTURE_PATCHES, LECTURE_D_EMBEDDED),
    [LECTURE_D_B_E] = OF_WEIGHT(BEFORE, "db_E", "sum of the rows of de", ONE, D, LECTURE_B_E, 0,
                                LECTURE_D_EMBEDDED),
};
VIT_CHECK_ROWS(symbols, LECTURE_ID_COUNT);

/* Before the first block and after the last one these two are made otherwise. */
static const symbol z_0 = IS_MADE(FORWARD, HANDED, "z", "[x_class; e] + E_pos", T, D, LECTURE_CLASS,
                                  LECTURE_EMBEDDED, LECTURE_POSITIONS);
static const symbol d_z_last = IS_MADE(
    BACKWARD, HANDED, "dz", "dy, and zeros: nobody reads the other rows", T, D, NEXT | LECTURE_D_Y);

static size_t size_of(const vit_config *c, size s) {
    switch (s) {
    case ONE:
        return 1;
    case SIDE:
        return c->height;
    case PIXELS:
        return c->patch * c->patch;
    case N:
        return vit_config_patches(c);
    case T:
        return vit_config_tokens(c);
    case D:
        return c->dim;
    case D_K:
        return vit_config_head_dim(c);
    case M:
        return c->mlp;
    case CLASSES:
        break;
    }
    return c->classes;
}

/* The weights of a section, [out][in], or NULL for what is no weight. */
static const float *weight_of(const vit_lecture *l, size_t block, vit_lecture_id id) {
    const vit_weights *w = &l->network.weights;
    const bool is_block = block > 0 && block <= l->network.config.depth;
    const vit_block_weights *b = is_block ? &w->blocks[block - 1] : w->blocks;
    const size_t square = l->network.config.dim * l->network.config.dim;
    const struct {
        vit_lecture_id id;
        const float *values;
    } all[] = {{LECTURE_E, w->patch_embed.weight},
               {LECTURE_B_E, w->patch_embed.bias},
               {LECTURE_CLASS, w->prefix[0]},
               {LECTURE_POSITIONS, w->positions},
               {LECTURE_GAMMA_1, b->norm1.gamma},
               {LECTURE_BETA_1, b->norm1.beta},
               {LECTURE_W_Q, b->qkv.weight},
               {LECTURE_W_K, b->qkv.weight + square},
               {LECTURE_W_V, b->qkv.weight + 2 * square},
               {LECTURE_W_O, b->proj.weight},
               {LECTURE_B_O, b->proj.bias},
               {LECTURE_GAMMA_2, b->norm2.gamma},
               {LECTURE_BETA_2, b->norm2.beta},
               {LECTURE_W_1, b->fc1.weight},
               {LECTURE_B_1, b->fc1.bias},
               {LECTURE_W_2, b->fc2.weight},
               {LECTURE_B_2, b->fc2.bias},
               {LECTURE_W_3, w->head[0].weight},
               {LECTURE_B_3, w->head[0].bias},
               {LECTURE_W_4, w->head[1].weight},
               {LECTURE_B_4, w->head[1].bias}};
    for (size_t i = 0; i < VIT_COUNT(all); i++)
        if (all[i].id == id) return all[i].values;
    return NULL;
}

/* Element (i, j) of a weight is at [j][i]; what has one row, and positions, lie as they are. */
static void turn_weight(vit_lecture_matrix *m, const symbol *s) {
    if (s->rows == ONE || s->rows == T) return;
    m->head = m->rows * m->columns;
    m->row = 1;
    m->column = m->rows;
}

static float *part(float *values, size_t offset) {
    return values ? values + offset : NULL;
}

/* Heads side by side, in rows of `row` floats. */
static void share(vit_lecture_matrix *m, float *values, size_t offset, size_t row) {
    m->values = part(values, offset);
    m->row = row;
    m->head = m->columns;
}

/* The memory of a matrix that is computed. */
static void place_values(vit_arena *arena, vit_lecture *l, vit_lecture_matrix *m, size_t block,
                         vit_lecture_id id) {
    vit_lecture_section *s = &l->sections[block];
    const size_t d = l->network.config.dim, rows = m->rows;
    if (id == LECTURE_Q || id == LECTURE_K || id == LECTURE_V) {
        if (id == LECTURE_Q) s->qkv = vit_arena_floats(arena, rows * 3 * d);
        share(m, s->qkv, (size_t)(id - LECTURE_Q) * d, 3 * d);
    } else if (id == LECTURE_D_V || id == LECTURE_D_Q || id == LECTURE_D_K) {
        if (id == LECTURE_D_V) s->d_qkv = vit_arena_floats(arena, rows * 3 * d);
        const size_t third = id == LECTURE_D_V ? 2 : (size_t)(id - LECTURE_D_Q);
        share(m, s->d_qkv, third * d, 3 * d);
    } else if (id == LECTURE_HEAD || id == LECTURE_D_HEAD) {
        float **at = id == LECTURE_HEAD ? &s->cat : &s->d_cat;
        *at = vit_arena_floats(arena, rows * d);
        share(m, *at, 0, d);
    } else if (id == LECTURE_CAT) {
        m->values = s->cat;
    } else if (id == LECTURE_Y) {
        m->values = l->matrices[l->sections[block - 1].at[LECTURE_Z]].values;
    } else { /* rows of scores as the kernels of softmax read them */
        if (m->heads > 1) m->row = vit_padded(m->columns);
        m->head = rows * m->row;
        m->values = vit_arena_floats(arena, m->heads * m->head);
    }
}

static size_t resolve(const vit_lecture *l, size_t block, uint16_t operand) {
    const size_t at = operand & PREVIOUS ? block - 1 : operand & NEXT ? block + 1 : block;
    return l->sections[at].at[operand & ID];
}

/* "z'" of block 2 is z'_2; other symbols are the same in every block. */
static void name(vit_lecture_matrix *m, const symbol *s, vit_lecture_id id) {
    const bool numbered =
        id == LECTURE_Z || id == LECTURE_Z_PRIME || id == LECTURE_D_Z || id == LECTURE_D_Z_PRIME;
    snprintf(m->symbol, sizeof m->symbol, numbered ? "%s_%zu" : "%s", s->name, m->block);
}

static void add(vit_arena *arena, vit_lecture *l, size_t block, vit_lecture_id id,
                const symbol *s) {
    const vit_config *c = &l->network.config;
    vit_lecture_matrix *m = &l->matrices[l->count];
    const vit_lecture_id weight = s->weight > 0 ? (vit_lecture_id)s->weight : id;
    const float *values = weight_of(l, block, weight);
    *m = (vit_lecture_matrix){.formula = s->formula,
                              .pass = (vit_lecture_pass)s->pass,
                              .block = block,
                              .heads = s->by_heads ? c->heads : 1,
                              .rows = size_of(c, (size)s->rows),
                              .columns = size_of(c, (size)s->columns),
                              .column = 1,
                              .operand_count = s->count,
                              .products = s->products,
                              .is_fixed = s->is_fixed || s->weight > 0};
    name(m, s, id);
    m->row = m->columns;
    if (values) {
        m->values = (s->weight > 0 ? l->gradients : l->values) + (values - l->values);
        turn_weight(m, s);
    } else {
        place_values(arena, l, m, block, id);
    }
    for (size_t i = 0; i < s->count; i++)
        m->operands[i] = (vit_lecture_operand){resolve(l, block, s->operands[i]),
                                               (s->operands[i] & TURNED) != 0};
    l->sections[block].at[id] = l->count++;
}

/* Whether a pass goes from the last matrix to the first. */
static const bool goes_back[] = {[VIT_LECTURE_BACKWARD] = true, [VIT_LECTURE_STEP] = false};
VIT_CHECK_ROWS(goes_back, VIT_LECTURE_PASS_COUNT);

static bool is_in(place of, place here) {
    switch (of) {
    case BEFORE:
    case BLOCK:
    case AFTER:
        break;
    case HANDED:
        return here != AFTER;
    }
    return of == here;
}

/* The matrices of a section that these passes have. */
static void add_section(vit_arena *arena, vit_lecture *l, size_t block, bool backward) {
    const size_t depth = l->network.config.depth;
    const place here = block == 0 ? BEFORE : block > depth ? AFTER : BLOCK;
    for (size_t id = 0; id < LECTURE_ID_COUNT; id++) {
        const symbol *s = &symbols[id];
        if (id == LECTURE_Z && block == 0) s = &z_0;
        if (id == LECTURE_D_Z && block == depth) s = &d_z_last;
        if (is_in(s->place, here) && goes_back[s->pass] == backward)
            add(arena, l, block, (vit_lecture_id)id, s);
    }
}

/* A step of one weight: as it was, its moments, and as it is. */
static void add_step(vit_lecture *l, size_t gradient, size_t weight, bool decays) {
    const vit_lecture_matrix *w = &l->matrices[weight];
    const ptrdiff_t offset = w->values - l->values;
    const struct {
        const char *symbol, *formula;
        float *values;
    } all[] = {
        {w->symbol, NULL, l->before + offset},
        {"m", "b1 m + (1 - b1) g", l->m + offset},
        {"v", "b2 v + (1 - b2) g^2", l->v + offset},
        {w->symbol,
         decays ? "W - lr (m' / (sqrt(v') + eps) + decay W)" : "b - lr m' / (sqrt(v') + eps)",
         w->values}};
    const size_t first = l->count;
    for (size_t i = 0; i < VIT_COUNT(all); i++) {
        vit_lecture_matrix *m = &l->matrices[l->count++];
        *m = *w;
        m->pass = VIT_LECTURE_STEP;
        m->formula = all[i].formula;
        m->values = all[i].values;
        m->is_fixed = true;
        if (i == 1 || i == 2) {
            snprintf(m->symbol, sizeof m->symbol, "%s", all[i].symbol);
            m->operands[m->operand_count++].index = gradient;
        }
    }
    vit_lecture_matrix *last = &l->matrices[l->count - 1];
    last->operand_count = 4;
    for (size_t i = 0; i < 4; i++)
        last->operands[i].index = i == 0 ? first : i == 1 ? gradient : first + i - 1;
}

void vit_lecture_carve(vit_arena *arena, void *context) {
    vit_lecture *l = context;
    const vit_config *c = &l->network.config;
    const size_t sections = c->depth + 2, tokens = vit_config_tokens(c);
    l->count = 0;
    for (size_t b = 0; b < sections; b++) {
        for (size_t i = 0; i < LECTURE_ID_COUNT; i++) l->sections[b].at[i] = LECTURE_NONE;
        for (size_t i = 0; i < 2; i++) {
            l->sections[b].stats[i].mean = vit_arena_floats(arena, tokens);
            l->sections[b].stats[i].rstd = vit_arena_floats(arena, tokens);
        }
        add_section(arena, l, b, false);
    }
    for (size_t b = sections; b-- > 0;) add_section(arena, l, b, true);
    for (size_t b = 0; b < sections; b++)
        for (size_t id = 0; id < LECTURE_ID_COUNT; id++)
            if (symbols[id].weight > 0 && l->sections[b].at[id] != LECTURE_NONE) {
                const size_t weight = l->sections[b].at[symbols[id].weight];
                const bool decays = symbols[id].rows != ONE && symbols[id].rows != T;
                add_step(l, l->sections[b].at[id], weight, decays);
            }
    l->attended = vit_arena_floats(arena, tokens * c->dim);
}
