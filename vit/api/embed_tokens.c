/* vit_embed_tokens: the last states of all tokens, by the same network without pooling and head. */
#include "vit/api/internal.h"
#include "vit/base/fpmode.h"
#include "vit/base/parallel.h"
#include "vit/base/sys.h"
#include "vit/teach.h"
#include <math.h>
#include <string.h>

/* The network whose features are all tokens. The final norm is of each of them, unless it is one of
 * their mean. */
static vit_network without_pooling(const vit_network *n) {
    vit_network all = *n;
    const vit_pool_row *pool = &vit_pools[n->config.pool];
    all.config.final_norm = n->config.final_norm && (!pool->choice || n->config.norm_before_pool);
    all.config.pool = VIT_POOL_TOKENS;
    all.config.head = VIT_HEAD_NONE;
    return all;
}

typedef struct prepared {
    const vit_session *session;
    const vit_picture *pictures;
    vit_image *ready;
    vit_answer *answers;
} prepared;

static void prepare_one(size_t i, int thread, void *context) {
    (void)thread;
    const prepared *p = context;
    const vit_session *s = p->session;
    p->answers[i] = (vit_answer){0};
    vit_error *error = &p->answers[i].error;
    error->status = vit_model_prepare(&p->ready[i], s->model, s->kernels, &p->pictures[i], error);
    if (error->status == VIT_OK) p->answers[i].warning = p->ready[i].warning;
}

static vit_status source(float *images, size_t first, size_t count, void *context,
                         vit_error *error) {
    (void)error;
    const prepared *p = context;
    const vit_config *c = &p->session->model->file.config;
    const size_t values = c->height * c->width * c->channels;
    for (size_t i = first; i < first + count; i++, images += values)
        if (p->ready[i].pixels)
            vit_normalize_prepared(images, &p->ready[i], &p->session->model->file.preprocessing,
                                   p->session->table[0]);
        else
            memset(images, 0, values * sizeof *images);
    return VIT_OK;
}

/* Makes what a session needs for the first call. */
static vit_status open_tokens(vit_session *s, vit_error *error) {
    if (s->tokens) return VIT_OK;
    s->token_network = vit_alloc(1, sizeof *s->token_network);
    if (!s->token_network) return vit_fail_memory(error, "a session", sizeof *s->token_network);
    *s->token_network = without_pooling(s->network);
    return vit_inference_new(&s->tokens, s->token_network, s->kernels, s->threads, error);
}

static void check_tokens(const prepared *p, float *tokens, size_t width, size_t count) {
    for (size_t i = 0; i < count; i++) {
        vit_error *error = &p->answers[i].error;
        float *row = tokens + i * width;
        if (error->status == VIT_OK && vit_check_answer(NULL, 0, row, width, error) != VIT_OK)
            vit_fail_prefix(error, error->status, p->pictures[i].name);
        if (error->status == VIT_OK) continue;
        p->answers[i].warning = NULL;
        for (size_t k = 0; k < width; k++) row[k] = NAN;
    }
}

vit_status vit_embed_tokens(vit_session *s, const vit_picture *pictures, size_t count,
                            float *tokens, vit_answer *answers, vit_error *error) {
    const vit_fpmode host = vit_fpmode_enter();
    prepared p = {s, pictures, vit_alloc(count, sizeof *p.ready), answers};
    vit_status status = p.ready ? open_tokens(s, error)
                                : vit_fail_memory(error, "pictures", count * sizeof *p.ready);
    if (status == VIT_OK) vit_parallel(s->threads, count, prepare_one, &p);
    if (status == VIT_OK)
        status = vit_inference_run(s->tokens, NULL, tokens, source, &p, count, error);
    if (status == VIT_OK)
        check_tokens(&p, tokens, vit_inference_width(&s->token_network->config), count);
    for (size_t i = 0; p.ready && i < count; i++) vit_image_free(&p.ready[i]);
    vit_free(p.ready);
    vit_fpmode_leave(host);
    return status;
}
