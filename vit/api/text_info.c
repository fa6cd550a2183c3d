/* vit/texts.h: what a model that reads or writes texts takes, and how it writes. */
#include "vit/api/internal.h"
#include "vit/base/fpmode.h"
#include "vit/texts.h"

vit_generation vit_model_writing(const vit_model *m, const vit_text_options *o) {
    vit_generation w =
        m->file.writing.beams > 0 ? m->file.writing : vit_generation_default(&m->file.config);
    if (o->beams > 0) w.beams = o->beams;
    if (o->length > 0) w.length = o->length;
    if (o->length_penalty.given) w.length_penalty = o->length_penalty.value;
    if (o->early_stopping.given) w.early_stopping = (vit_early_stopping)o->early_stopping.value;
    if (o->no_repeat.given) w.no_repeat = (size_t)o->no_repeat.value;
    if (o->sample) w.beams = o->beams > 0 ? o->beams : 1;
    w.sample = o->sample;
    if (o->temperature > 0) w.temperature = o->temperature;
    w.top_k = o->top_k;
    w.seed = o->seed;
    return w;
}

vit_text_info vit_text_describe(const vit_model *m) {
    VIT_ENTRY;
    const vit_config *c = &m->file.config;
    const vit_text_info what = {.reads_pictures = vit_config_takes_pictures(c)};
    if (!vit_config_has_decoder(c)) return what;
    const vit_generation w = vit_model_writing(m, &(vit_text_options){0});
    return (vit_text_info){.writes = true,
                           .reads_pictures = what.reads_pictures,
                           .reads_texts = vit_config_takes_texts(c),
                           .beams = w.beams,
                           .length = w.length,
                           .no_repeat = w.no_repeat,
                           .length_penalty = w.length_penalty,
                           .early_stopping = w.early_stopping,
                           .tokens = m->file.tokens};
}
