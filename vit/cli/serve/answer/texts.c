#include "vit/cli/serve/answer/texts.h"

#include "vit/base/size.h"
#include "vit/base/sys.h"

static bool check(const serve_model *m, const serve_texts *t, serve_reply *reply) {
    if (!m->words)
        return serve_fail(reply, 400, "%s reads no texts: %s", m->name, m->no_words.message);
    for (size_t i = 0; i < t->count; i++) {
        if (*t->texts[i]) continue;
        return serve_fail(reply, 400, "text %zu is empty: expected words", i);
    }
    return true;
}

bool serve_embed_texts(float **features, size_t *tokens, serve_model *m, const serve_texts *t,
                       serve_reply *reply) {
    const vit_embed_texts_options options = {.cut = t->cut};
    vit_error error;
    *features = NULL;
    *tokens = 0;
    if (!check(m, t, reply)) return false;
    *features = vit_alloc(vit_max(t->count, 1), m->info.features * sizeof **features);
    vit_status status = *features ? VIT_OK : vit_fail_memory(&error, "features", t->count);
    pthread_mutex_lock(&m->words_lock);
    if (status == VIT_OK)
        status = vit_embed_texts(m->words, t->texts, t->count, &options, *features, &error);
    for (size_t i = 0; i < t->count && status == VIT_OK; i++)
        *tokens += vit_embedder_tokens(m->words, t->texts[i]);
    pthread_mutex_unlock(&m->words_lock);
    if (status == VIT_OK) return true;
    if (status == VIT_ERROR_MEMORY)
        serve_fail_with(reply, &error);
    else
        serve_fail(reply, 400, "%s", error.message);
    vit_free(*features);
    *features = NULL;
    return false;
}
