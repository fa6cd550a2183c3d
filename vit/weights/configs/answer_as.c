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

vit_status vit_answer_as(vit_their_config *d, const char *own, const char *as, const json_t *object,
                         vit_error *error) {
    const char *name = json_string_value(json_object_get(object, "architecture"));
    const bool dinov3 = d->is_backbone && d->given[VIT_KEY_rope] &&
                        d->said.rope == VIT_ROPE_CENTERED && (is(own, "timm") || is(own, "hf"));
    const bool siglip = name && strstr(name, "siglip") && vit_pools[d->said.pool].attends;
    size_t i = 0;
    d->as = as ? as : own;
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
    return vit_fail(error, VIT_ERROR_UNSUPPORTED,
                    "%s: these weights are %s's and are not answered as %s; there is a choice for "
                    "features of DINOv3 (timm, hf, meta) and for timm's SigLIP (timm, hf)",
                    d->name, own, as);
}
