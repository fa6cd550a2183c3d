/* As which library weights are answered: the same ones have several answers. docs/weights.md has
 * the table. */
#include "vit/base/size.h"
#include "vit/weights/configs/their_config.h"
#include <string.h>

static const char *const libraries[] = {"timm",        "hf",          "meta",  "open_clip",
                                        "torchvision", "vit-pytorch", "google"};

static bool is(const char *a, const char *b) {
    return strcmp(a, b) == 0;
}

/* timm pools the mean of the patches, the others the class token. */
static void choose_dinov3(vit_their_config *d, bool timm) {
    VIT_SAY(d, pool, timm ? VIT_POOL_MEAN : VIT_POOL_CLASS);
    VIT_SAY(d, norm_before_pool, true);
}

/* CLIP's pictures are answered alike by both libraries; their texts are not. */
static bool is_clip(const char *own, const json_t *object) {
    const json_t *model = json_object_get(object, "model_cfg");
    const char *type = json_string_value(json_object_get(object, "model_type"));
    if (is(own, "open_clip")) return model && !json_object_get(model, "init_logit_bias");
    return is(own, "hf") && type && is(type, "clip");
}

vit_status vit_answer_as(vit_their_config *d, const char *own, const char *as, const json_t *object,
                         vit_error *error) {
    const char *name = json_string_value(json_object_get(object, "architecture"));
    const bool dinov3 = d->is_backbone && d->given[VIT_KEY_rope] &&
                        d->said.rope == VIT_ROPE_CENTERED && (is(own, "timm") || is(own, "hf"));
    const bool siglip = name && strstr(name, "siglip") && vit_pools[d->said.pool].attends;
    size_t i = 0;
    d->emulate = as ? as : own;
    while (as && i < VIT_COUNT(libraries) && !is(libraries[i], as)) i++;
    if (i == VIT_COUNT(libraries))
        return vit_fail(error, VIT_ERROR_ARGUMENT,
                        "as \"%s\": no such library is known, expected timm, hf, meta, open_clip, "
                        "torchvision, vit-pytorch or google",
                        as);
    if (!as || is(as, own)) return VIT_OK;
    if (dinov3 && (is(as, "timm") || is(as, "hf") || is(as, "meta"))) {
        choose_dinov3(d, is(as, "timm"));
        return VIT_OK;
    }
    if (siglip && is(as, "hf")) {
        VIT_SAY(d, activation, VIT_GELU_TANH);
        return VIT_OK;
    }
    if ((is(as, "hf") || is(as, "open_clip")) && is_clip(own, object)) return VIT_OK;
    return vit_fail(error, VIT_ERROR_UNSUPPORTED,
                    "%s: these weights are %s's and are not answered as %s; there is a choice for "
                    "features of DINOv3 (timm, hf, meta), for timm's SigLIP (timm, hf) and for the "
                    "texts of CLIP (hf, open_clip)",
                    d->name, own, as);
}
