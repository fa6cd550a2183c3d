#include "vit/explain/explain_page.h"
#include "vit/base/size.h"
#include "vit/explain/draw.h"
#include "vit/formats/page.h"
#include "vit/ops/loss.h"
#include <math.h>
#include <stdio.h>

/* vit/explain/page/page.html, line by line, as scripts/embed-text makes it. */
extern const char *const vit_explain_page_html[];

/* At most: layers whose patches' similarity is in the page, classes whose relevance is, likeliest
 * classes of each layer by the lens. */
enum { MOST_SIMILAR = 6, MOST_CLASSES = 5, MOST_LENS = 3 };

/* A page that is being made. Weights are stored as bytes, 255 sqrt(weight), so that small ones
 * differ. */
typedef struct page {
    const vit_page_call *call;
    size_t tokens, prefix, patches, layers, heads, classes;
    uint8_t *attention;  /* [layers][heads][T][T], of the layers and heads that are asked for */
    uint8_t *similarity; /* [similar][N (N + 1) / 2] 127.5 (1 + cosine), rows up to the diagonal */
    float *lens;         /* [depth][classes] */
    size_t similar_layers[MOST_SIMILAR], similar;
    size_t shown[MOST_CLASSES + 1], shown_count; /* the classes whose relevance is in the page */
    vit_json_out json;
} page;

static const vit_config *config_of(const page *p) {
    return &p->call->explainer->network->config;
}

/* The i-th layer, or head, that is in the page. */
static size_t layer_at(const page *p, size_t i) {
    return p->call->options->layer_count > 0 ? p->call->options->layers[i] : i;
}

static size_t head_at(const page *p, size_t i) {
    return p->call->options->head_count > 0 ? p->call->options->heads[i] : i;
}

/* ---- what fits ---- */

static vit_status check_list(const size_t *list, size_t count, size_t limit, const char *what,
                             vit_error *error) {
    for (size_t i = 0; i < count; i++)
        if (list[i] >= limit || (i > 0 && list[i] <= list[i - 1]))
            return vit_fail(error, VIT_ERROR_ARGUMENT,
                            "%s %zu is asked for, expected numbers below %zu, each larger than the "
                            "one before it",
                            what, list[i], limit);
    return VIT_OK;
}

/* That the page is not too large. If it is, the error says what would fit. */
static vit_status check_size(const page *p, vit_error *error) {
    const vit_config *c = config_of(p);
    const size_t n = p->patches, head = vit_ceil_div(p->tokens * p->tokens, 3) * 4;
    /* what is not attention: rollout, similarities and positions, the picture, the page itself */
    const size_t matrices = p->tokens * p->tokens + (p->similar + 1) * (n + 1) * n / 2;
    const size_t rest = matrices / 3 * 4 + c->height * c->width * c->channels + ((size_t)40 << 10);
    const size_t size = p->layers * p->heads * head + rest;
    if (size <= VIT_PAGE_MOST) return VIT_OK;
    const size_t fit = rest < VIT_PAGE_MOST ? (VIT_PAGE_MOST - rest) / head : 0;
    if (fit == 0)
        return vit_fail(error, VIT_ERROR_UNSUPPORTED,
                        "a page of %zu tokens would be of %zu MB, at most %zu fit: no layer does; "
                        "a smaller --size may",
                        p->tokens, (size + 999999) / 1000000, VIT_PAGE_MOST / 1000000);
    const size_t layers = fit / p->heads, last = layer_at(p, p->layers - 1);
    char first[32] = "";
    if (layers > 1) snprintf(first, sizeof first, "%zu,", layer_at(p, 0));
    if (layers > 0)
        return vit_fail(error, VIT_ERROR_UNSUPPORTED,
                        "the page would be of %zu MB, at most %zu: with %zu heads %zu layer%s, as "
                        "in --layers %s%zu",
                        (size + 999999) / 1000000, VIT_PAGE_MOST / 1000000, p->heads, layers,
                        layers > 1 ? "s fit" : " fits", first, last);
    return vit_fail(error, VIT_ERROR_UNSUPPORTED,
                    "the page would be of %zu MB, at most %zu: one layer and %zu of its heads fit, "
                    "as in --layers %zu --heads 0",
                    (size + 999999) / 1000000, VIT_PAGE_MOST / 1000000, fit, last);
}

/* ---- the forward pass ---- */

uint8_t vit_page_byte(float share) {
    return (uint8_t)(255 * fminf(fmaxf(share, 0), 1) + .5f);
}

/* The weights of a layer, the page's layer number `place`, as bytes. */
static void keep_attention(const page *p, const vit_seen *seen, size_t place) {
    const size_t n = p->tokens, row = vit_padded(n);
    for (size_t h = 0; h < p->heads; h++)
        for (size_t t = 0; t < n; t++) {
            const float *from = seen->p + (head_at(p, h) * n + t) * row;
            uint8_t *to = p->attention + ((place * p->heads + h) * n + t) * n;
            for (size_t j = 0; j < n; j++) to[j] = vit_page_byte(sqrtf(from[j]));
        }
}

static double dot(const float *a, const float *b, size_t n) {
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += (double)a[i] * (double)b[i];
    return sum;
}

/* to: [n (n + 1) / 2], the cosines of the rows of x: [n][dim] as bytes, each row up to the
 * diagonal. */
static void keep_similarity(uint8_t *to, const float *x, size_t n, size_t dim) {
    for (size_t i = 0; i < n; i++) {
        const double own = dot(x + i * dim, x + i * dim, dim);
        for (size_t j = 0; j <= i; j++) {
            const double both = own * dot(x + j * dim, x + j * dim, dim);
            const double cosine = both > 0 ? dot(x + i * dim, x + j * dim, dim) / sqrt(both) : 0;
            *to++ = vit_page_byte((float)(.5 * (1 + cosine)));
        }
    }
}

/* After each block: what the page shows of its attention, similarity and lens. */
static void look(const vit_seen *seen, void *context) {
    page *p = context;
    const vit_config *c = config_of(p);
    const size_t half = p->patches * (p->patches + 1) / 2;
    vit_explainer_head(p->call->explainer, p->lens + seen->layer * c->classes, seen->z);
    for (size_t i = 0; i < p->layers; i++)
        if (layer_at(p, i) == seen->layer) keep_attention(p, seen, i);
    for (size_t i = 0; i < p->similar; i++)
        if (p->similar_layers[i] == seen->layer)
            keep_similarity(p->similarity + i * half, seen->z + p->prefix * c->dim, p->patches,
                            c->dim);
}

/* ---- the parts ---- */

/* An answer: [class, label, probability]. */
static void add_answer(page *p, const char *key, const float *logits, size_t index) {
    vit_json_open(&p->json, key, '[');
    vit_json_count(&p->json, NULL, index);
    vit_json_text(&p->json, NULL, p->call->labels[index]);
    vit_json_fixed(&p->json, NULL,
                   vit_score_one(logits, p->classes, index, p->call->explainer->temperature,
                                 p->call->explainer->scoring),
                   6);
    vit_json_close(&p->json, ']');
}

/* The likeliest answers of each layer by the lens. */
static void add_lens(page *p) {
    size_t best[MOST_LENS];
    const size_t count = vit_min(MOST_LENS, p->classes);
    vit_json_open(&p->json, "lens", '[');
    for (size_t l = 0; l < config_of(p)->depth; l++) {
        const float *logits = p->lens + l * p->classes;
        vit_top_k(logits, p->classes, count, best);
        vit_json_open(&p->json, NULL, '[');
        for (size_t i = 0; i < count; i++) add_answer(p, NULL, logits, best[i]);
        vit_json_close(&p->json, ']');
    }
    vit_json_close(&p->json, ']');
}

/* The map as bytes, 255 sqrt(value / largest); largest 0: its own largest value. */
static void add_map(page *p, const char *key, const vit_map *map, float largest) {
    size_t count = 1;
    for (size_t i = 0; i < map->dims; i++) count *= map->shape[i];
    uint8_t *bytes = vit_alloc(count, 1);
    const bool own = largest == 0;
    for (size_t i = 0; i < count && own; i++) largest = fmaxf(largest, map->values[i]);
    for (size_t i = 0; i < count && bytes && largest > 0; i++)
        bytes[i] = vit_page_byte(sqrtf(fmaxf(map->values[i], 0) / largest));
    if (bytes)
        vit_json_base64(&p->json, key, bytes, count);
    else
        p->json.text.failed = true;
    vit_free(bytes);
}

static vit_status add_rollout(page *p, vit_error *error) {
    const vit_map_options o = {.method = VIT_METHOD_ROLLOUT, .query = VIT_QUERY_ALL};
    vit_map map;
    const vit_status status = vit_map_make(&map, p->call->explainer, p->call->image, &o, error);
    if (status != VIT_OK) return status;
    add_map(p, "rollout", &map, 1);
    vit_json_open(&p->json, "outliers", '[');
    for (size_t i = 0; i < p->patches; i++)
        if (map.outliers[i]) vit_json_count(&p->json, NULL, i);
    vit_json_close(&p->json, ']');
    vit_map_clear(&map);
    return VIT_OK;
}

/* How each head of a pooling by attention weights the patches: [heads][N]. */
static vit_status add_pooling(page *p, vit_error *error) {
    const vit_map_options o = {.query = VIT_QUERY_POOL};
    vit_map map;
    if (!vit_pools[config_of(p)->pool].weighs) return VIT_OK;
    const vit_status status = vit_map_make(&map, p->call->explainer, p->call->image, &o, error);
    if (status != VIT_OK) return status;
    add_map(p, "pooling", &map, 1);
    vit_map_clear(&map);
    return VIT_OK;
}

/* A map of relevance for each of the likeliest classes, and for the one that is asked for. */
static vit_status add_relevance(page *p, vit_error *error) {
    const float *logits = p->lens + (config_of(p)->depth - 1) * p->classes;
    const vit_map_options *first = p->call->options->first;
    bool there = !first || !first->class_index.given;
    vit_status status = VIT_OK;
    p->shown_count = vit_min(MOST_CLASSES, p->classes);
    vit_top_k(logits, p->classes, p->shown_count, p->shown);
    for (size_t i = 0; i < p->shown_count && !there; i++)
        there = p->shown[i] == (size_t)first->class_index.value;
    if (!there) p->shown[p->shown_count++] = (size_t)first->class_index.value;
    vit_json_open(&p->json, "relevance", '[');
    for (size_t i = 0; i < p->shown_count && status == VIT_OK; i++) {
        const vit_map_options o = {.method = VIT_METHOD_RELEVANCE,
                                   .class_index = vit_given((double)p->shown[i])};
        vit_map map;
        status = vit_map_make(&map, p->call->explainer, p->call->image, &o, error);
        if (status != VIT_OK) break;
        vit_json_open(&p->json, NULL, '{');
        add_answer(p, "answer", logits, p->shown[i]);
        add_map(p, "map", &map, 0);
        vit_json_count(&p->json, "of", p->shown[i]);
        vit_json_close(&p->json, '}');
        vit_map_clear(&map);
    }
    vit_json_close(&p->json, ']');
    return status;
}

static void add_positions(page *p) {
    const vit_config *c = config_of(p);
    if (!p->call->explainer->network->weights.positions) return;
    const size_t half = p->patches * (p->patches + 1) / 2;
    const float *positions = p->call->explainer->network->weights.positions;
    uint8_t *bytes = vit_alloc(half, 1);
    p->json.text.failed = p->json.text.failed || !bytes;
    if (!bytes) return;
    keep_similarity(bytes, positions + (vit_config_positions(c) - p->patches) * c->dim, p->patches,
                    c->dim);
    vit_json_base64(&p->json, "positions", bytes, half);
    vit_free(bytes);
}

void vit_page_add_sizes(vit_json_out *json, const vit_config *c) {
    static const char *const names[] = {"class token", "distillation token", "register"};
    char name[32];
    vit_json_counts(json, "grid", (const size_t[]){c->height / c->patch, c->width / c->patch}, 2);
    vit_json_counts(json, "size", (const size_t[]){c->height, c->width}, 2);
    vit_json_open(json, "prefix", '[');
    for (size_t k = 0; k < VIT_PREFIX_KINDS; k++)
        for (size_t i = 0; i < vit_prefix_count(c, k); i++) {
            snprintf(name, sizeof name, k == 2 ? "%s %zu" : "%s", names[k], i);
            vit_json_text(json, NULL, name);
        }
    vit_json_close(json, ']');
}

vit_status vit_page_add_picture(vit_json_out *json, const vit_config *c, const uint8_t *pixels,
                                vit_error *error) {
    vit_bytes png;
    const vit_status status = vit_draw_picture(&png, c, pixels, 1, error);
    if (status != VIT_OK) return status;
    vit_json_base64(json, "picture", png.data, png.size);
    vit_free(png.data);
    return VIT_OK;
}

/* What the page shows first: places in its lists of layers, heads (-1: their mean) and classes. */
static void add_first(page *p) {
    const vit_map_options *o = p->call->options->first;
    const vit_map_options none = {0};
    size_t layer = p->layers - 1, of = 0;
    double head = -1;
    if (!o) o = &none;
    for (size_t i = 0; i < p->layers && o->layer.given; i++)
        if (layer_at(p, i) == (size_t)o->layer.value) layer = i;
    for (size_t i = 0; i < p->heads && o->head.given; i++)
        if (head_at(p, i) == (size_t)o->head.value) head = (double)i;
    for (size_t i = 0; i < p->shown_count && o->class_index.given; i++)
        if (p->shown[i] == (size_t)o->class_index.value) of = i;
    vit_json_open(&p->json, "first", '{');
    vit_json_text(&p->json, "view", vit_method_name(o->method));
    vit_json_count(&p->json, "layer", layer);
    vit_json_number(&p->json, "head", head);
    vit_json_count(&p->json, "of", of);
    if (o->query == VIT_QUERY_TOKEN) vit_json_count(&p->json, "token", o->token);
    vit_json_close(&p->json, '}');
}

/* The title, sizes, and what each list of the page contains. */
static void add_facts(page *p) {
    const vit_config *c = config_of(p);
    const vit_page_options *o = p->call->options;
    vit_json_text(&p->json, "title", o->title ? o->title : "a picture");
    vit_page_add_sizes(&p->json, c);
    vit_json_count(&p->json, "depth", c->depth);
    vit_json_open(&p->json, "layers", '[');
    for (size_t i = 0; i < p->layers; i++) vit_json_count(&p->json, NULL, layer_at(p, i));
    vit_json_close(&p->json, ']');
    vit_json_counts(&p->json, "similar", p->similar_layers, p->similar);
    vit_json_open(&p->json, "heads", '[');
    for (size_t i = 0; i < p->heads; i++) vit_json_count(&p->json, NULL, head_at(p, i));
    vit_json_close(&p->json, ']');
}

/* ---- the whole ---- */

/* Makes p->json. */
static vit_status fill(page *p, vit_error *error) {
    const size_t n = p->tokens, half = p->patches * (p->patches + 1) / 2;
    p->attention = vit_alloc(p->layers * p->heads, n * n);
    p->similarity = vit_alloc(p->similar, half);
    p->lens = vit_alloc(config_of(p)->depth * p->classes, sizeof *p->lens);
    if (!p->attention || !p->similarity || !p->lens)
        return vit_fail_memory(error, "a page", p->layers * p->heads * n * n + p->similar * half);
    vit_status status = vit_explainer_forward(p->call->explainer, p->call->image, look, p, error);
    if (status != VIT_OK) return status;
    vit_json_open(&p->json, NULL, '{');
    add_facts(p);
    add_lens(p);
    status = vit_page_add_picture(&p->json, config_of(p), p->call->pixels, error);
    if (status == VIT_OK) status = add_rollout(p, error);
    if (status == VIT_OK) status = add_relevance(p, error);
    if (status == VIT_OK) status = add_pooling(p, error);
    if (status != VIT_OK) return status;
    add_first(p);
    add_positions(p);
    vit_json_base64(&p->json, "similarity", p->similarity, p->similar * half);
    vit_json_base64(&p->json, "attention", p->attention, p->layers * p->heads * n * n);
    return VIT_OK;
}

static bool among(const size_t *list, size_t count, size_t value) {
    bool found = count == 0; /* all */
    for (size_t i = 0; i < count; i++) found = found || list[i] == value;
    return found;
}

/* That the map to be shown first is in the page. */
static vit_status check_first(const page *p, vit_error *error) {
    const vit_page_options *o = p->call->options;
    const vit_map_options *first = o->first;
    if (!first) return VIT_OK;
    const vit_status status = vit_map_check(first, config_of(p), error);
    if (status != VIT_OK) return status;
    const bool token = first->query == VIT_QUERY_TOKEN || first->query == VIT_QUERY_DEFAULT;
    if (vit_method_begins_page(first->method) && token && first->fuse == VIT_FUSE_MEAN &&
        !(first->discard > 0)) {
        if (first->layer.given && !among(o->layers, o->layer_count, (size_t)first->layer.value))
            return vit_fail(error, VIT_ERROR_ARGUMENT, "layer %zu is not among those of the page",
                            (size_t)first->layer.value);
        if (first->head.given && !among(o->heads, o->head_count, (size_t)first->head.value))
            return vit_fail(error, VIT_ERROR_ARGUMENT, "head %zu is not among those of the page",
                            (size_t)first->head.value);
        return VIT_OK;
    }
    return vit_fail(error, VIT_ERROR_ARGUMENT,
                    "a page begins with attention, rollout, relevance, similarity or positions, of "
                    "a token, one head or the mean, nothing discarded; %s as asked for is a map of "
                    "its own, as in --out FILE.png",
                    vit_method_name(first->method));
}

vit_status vit_page_fill(vit_bytes *html, vit_json_out *json, vit_error *error) {
    vit_string text = {0};
    vit_json_count(json, "version", 1);
    vit_json_close(json, '}');
    vit_string_add(&json->text, "\n");
    const vit_page_part part = {.name = "data", .json = json->text.failed ? NULL : json->text.text};
    vit_string_add_page(&text, vit_explain_page_html, &part, 1);
    if (text.failed) {
        vit_string_free(&text);
        return vit_fail_memory(error, "a page", VIT_PAGE_MOST);
    }
    *html = (vit_bytes){(uint8_t *)text.text, text.length};
    return VIT_OK;
}

vit_status vit_page_make(vit_bytes *html, const vit_page_call *call, vit_error *error) {
    const vit_config *c = &call->explainer->network->config;
    const vit_page_options *o = call->options;
    page p = {.call = call,
              .json = {.compact = true},
              .tokens = vit_config_tokens(c),
              .prefix = vit_config_prefix(c),
              .patches = vit_config_patches(c),
              .layers = o->layer_count > 0 ? o->layer_count : c->depth,
              .heads = o->head_count > 0 ? o->head_count : c->heads,
              .classes = c->classes,
              .similar = vit_min(MOST_SIMILAR, c->depth)};
    for (size_t i = 0; i < p.similar; i++)
        p.similar_layers[i] = p.similar > 1 ? i * (c->depth - 1) / (p.similar - 1) : 0;
    vit_status status = check_list(o->layers, o->layer_count, c->depth, "layer", error);
    if (status == VIT_OK) status = check_list(o->heads, o->head_count, c->heads, "head", error);
    if (status == VIT_OK) status = check_first(&p, error);
    if (status == VIT_OK) status = check_size(&p, error);
    if (status == VIT_OK) status = fill(&p, error);
    if (status == VIT_OK) status = vit_page_fill(html, &p.json, error);
    vit_string_free(&p.json.text);
    vit_free(p.attention);
    vit_free(p.similarity);
    vit_free(p.lens);
    return status;
}
