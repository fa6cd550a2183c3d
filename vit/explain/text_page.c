#include "vit/explain/text_page.h"
#include "vit/base/size.h"
#include "vit/explain/draw.h"
#include "vit/explain/explain_page.h"
#include "vit/ops/loss.h"
#include <math.h>
#include <string.h>

/* A forward pass over a text that was written: row i of the decoder is given START or token i - 1,
 * and predicts token i or END. */
typedef struct pass {
    const vit_token_page_call *call;
    vit_config decoder;
    vit_arena arena;
    vit_state state;
    vit_ids given; /* what the decoder is given: not a last token that nothing was written after */
    size_t rows, source; /* tokens of the decoder, with START; of the encoder, 0: none */
} pass;

static const vit_config *config_of(const pass *p) {
    return &p->call->network->config;
}

static void carve(vit_arena *arena, void *context) {
    pass *p = context;
    vit_state_carve(&p->state, arena, config_of(p), 1, p->call->threads, VIT_KEPT_ALL, 0);
}

static vit_status look(pass *p, const vit_token_page_call *call, vit_error *error) {
    *p = (pass){.call = call, .decoder = vit_config_decoder(&call->network->config)};
    p->given = call->written;
    if (!call->ended && p->given.count > 0) p->given.count--;
    p->given.count = vit_min(p->given.count, vit_config_tokens(&p->decoder) - 1);
    const vit_status status =
        vit_arena_fit(&p->arena, carve, p, "what the network looks at", error);
    if (status != VIT_OK) return status;
    p->state.texts = &call->source;
    p->state.decoder->texts = &p->given;
    const vit_exec exec = vit_network_exec(call->network, &p->state, call->kernels, call->threads);
    vit_network_forward(call->network, &exec, &p->state, call->image, 1);
    p->rows = p->given.count + 1;
    p->source = p->decoder.memory > 0 ? p->state.rows : 0;
    return VIT_OK;
}

/* ---- weights of attention ---- */

/* The attention weights of a stack: of each layer [heads][queries] rows of vit_padded(keys). */
typedef struct matrices {
    const vit_state *stack;
    bool cross;
    size_t layers, heads, queries, keys;
} matrices;

/* Those of the decoder: of cross-attention or of self-attention. */
static matrices of_decoder(const pass *p, bool cross) {
    return (matrices){p->state.decoder, cross,   p->decoder.depth,
                      p->decoder.heads, p->rows, cross ? p->source : p->rows};
}

static size_t matrices_size(const matrices *m) {
    return m->layers * m->heads * m->queries * m->keys;
}

/* The row of one query. */
static const float *weights_of(const matrices *m, size_t layer, size_t head, size_t query) {
    const vit_block_state *b = &m->stack->blocks[layer];
    return (m->cross ? b->cross.p : b->p) + (head * m->queries + query) * vit_padded(m->keys);
}

/* As bytes, 255 sqrt(weight), so that small weights differ. */
static void add_matrices(vit_json_out *json, const char *key, const matrices *m) {
    uint8_t *bytes = vit_alloc(matrices_size(m), 1), *to = bytes;
    json->text.failed = json->text.failed || !bytes;
    if (!bytes) return;
    for (size_t l = 0; l < m->layers; l++)
        for (size_t h = 0; h < m->heads; h++)
            for (size_t q = 0; q < m->queries; q++)
                for (size_t k = 0; k < m->keys; k++)
                    *to++ = vit_page_byte(sqrtf(weights_of(m, l, h, q)[k]));
    vit_json_open(json, key, '{');
    vit_json_count(json, "layers", m->layers);
    vit_json_count(json, "heads", m->heads);
    vit_json_base64(json, "bytes", bytes, matrices_size(m));
    vit_json_close(json, '}');
    vit_free(bytes);
}

/* ---- the page ---- */

/* "key": [first, signs..., last]; first and last may be NULL. */
static void add_signs(vit_json_out *json, const char *key, const char *first,
                      const char *const *signs, size_t count, const char *last) {
    vit_json_open(json, key, '[');
    if (first) vit_json_text(json, NULL, first);
    for (size_t i = 0; i < count; i++) vit_json_text(json, NULL, signs[i]);
    if (last) vit_json_text(json, NULL, last);
    vit_json_close(json, ']');
}

/* The probability of each token that was written. */
static void add_probabilities(vit_json_out *json, const pass *p) {
    const vit_ids *written = &p->call->written;
    const size_t ids = p->decoder.vocabulary;
    vit_json_open(json, "probabilities", '[');
    for (size_t i = 0; i < p->rows; i++) {
        const float *logits = p->state.decoder->head.logits + i * ids;
        const size_t id = i < written->count ? written->ids[i] : config_of(p)->decoder.end;
        vit_json_fixed(json, NULL, vit_softmax_one(logits, ids, id, 1), 6);
    }
    vit_json_close(json, ']');
}

static vit_status add_all(vit_json_out *json, const pass *p, vit_error *error) {
    const vit_token_page_call *call = p->call;
    const matrices self = of_decoder(p, false), cross = of_decoder(p, true);
    const vit_config *c = config_of(p);
    const matrices encoder = {&p->state, false, c->depth, c->heads, p->state.rows, p->state.rows};
    const bool reads = call->source.count > 0;
    const size_t bytes = matrices_size(&self) + (p->source > 0 ? matrices_size(&cross) : 0) +
                         (reads ? matrices_size(&encoder) : 0);
    if (bytes / 3 * 4 > VIT_PAGE_MOST)
        return vit_fail(error, VIT_ERROR_UNSUPPORTED,
                        "the page would be of %zu MB, at most %zu: FILE.png is smaller",
                        (bytes / 3 * 4 + 999999) / 1000000, VIT_PAGE_MOST / 1000000);
    vit_status status = VIT_OK;
    vit_json_open(json, NULL, '{');
    vit_json_text(json, "title", call->title);
    vit_json_text(json, "answer", call->answer);
    if (reads) add_signs(json, "source", NULL, call->source_signs, call->source.count, NULL);
    add_signs(json, "given", "START", call->written_signs, p->given.count, NULL);
    add_signs(json, "written", NULL, call->written_signs, vit_min(p->rows, call->written.count),
              p->rows > call->written.count ? "END" : NULL);
    add_probabilities(json, p);
    if (call->pixels) {
        vit_page_add_sizes(json, c);
        status = vit_page_add_picture(json, c, call->pixels, error);
    }
    if (reads) add_matrices(json, "encoder", &encoder);
    if (p->source > 0) add_matrices(json, "cross", &cross);
    add_matrices(json, "self", &self);
    return status;
}

vit_status vit_token_page_make(vit_bytes *html, const vit_token_page_call *call, vit_error *error) {
    pass p;
    vit_json_out json = {.compact = true};
    vit_status status = look(&p, call, error);
    if (status == VIT_OK) status = add_all(&json, &p, error);
    if (status == VIT_OK) status = vit_page_fill(html, &json, error);
    vit_string_free(&json.text);
    vit_arena_free(&p.arena);
    return status;
}

/* ---- the picture ---- */

vit_status vit_token_png_make(vit_bytes *png, const vit_token_page_call *call, vit_error *error) {
    pass p;
    vit_status status = look(&p, call, error);
    const matrices m = of_decoder(&p, p.source > 0);
    const vit_config *c = &call->network->config;
    const size_t skip = call->pixels ? vit_config_prefix(c) : 0;
    float *values = NULL;
    uint8_t *black = NULL;
    if (status == VIT_OK) {
        values = vit_alloc(m.queries * (m.keys - skip), sizeof *values);
        black = vit_alloc(m.queries * m.keys, 1);
        if (!values || !black) status = vit_fail_memory(error, "a map", m.queries * m.keys);
    }
    if (status == VIT_OK) {
        float *to = values;
        for (size_t q = 0; q < m.queries; q++)
            for (size_t k = skip; k < m.keys; k++) {
                float sum = 0;
                for (size_t h = 0; h < m.heads; h++) sum += weights_of(&m, m.layers - 1, h, q)[k];
                *to++ = sum / (float)m.heads;
            }
        vit_map map = {.dims = 2, .shape = {m.queries, m.keys}, .values = values};
        vit_config matrix = {.height = m.queries, .width = m.keys, .channels = 1, .patch = 1};
        map.rows = m.queries;
        map.columns = m.keys;
        if (call->pixels) {
            map.rows = c->height / c->patch;
            map.columns = c->width / c->patch;
            map.dims = 3;
            memcpy(map.shape, (size_t[3]){m.queries, map.rows, map.columns}, sizeof map.shape);
        }
        status = vit_draw_maps(png, call->pixels ? c : &matrix, call->pixels ? call->pixels : black,
                               &map, 1, error);
    }
    vit_free(black);
    vit_free(values);
    vit_arena_free(&p.arena);
    return status;
}
