/* Names of tensors that not only the walk of parameters.c needs. */
#include "vit/model/parameters.h"

#include <stdio.h>

const char *vit_stem_name(char name[VIT_STEM_NAME], const vit_config *c, size_t i) {
    const bool cct = vit_stems[c->stem].pools;
    snprintf(name, VIT_STEM_NAME, cct ? "tokenizer.%zu" : "stem.%zu", cct ? i : 2 * i);
    return name;
}

const char *vit_prefix_name(size_t kind) {
    static const char *const names[VIT_PREFIX_KINDS] = {"cls_token", "dist_token", "reg_token"};
    return names[kind];
}

size_t vit_prefix_count(const vit_config *c, size_t kind) {
    const size_t counts[VIT_PREFIX_KINDS] = {c->class_token, vit_pools[c->pool].dist, c->registers};
    return counts[kind];
}

const char *vit_final_norm_name(const vit_config *c) {
    return vit_pools[c->pool].patches && !vit_config_norms_tokens(c) ? "fc_norm" : "norm";
}
