#include "vit/weights/configs/pairs.h"
#include "vit/base/text.h"
#include <stdio.h>
#include <string.h>

extern const char *const vit_hugging_face_models[]; /* hugging_face_models.json, line by line */

vit_status vit_complete_config(json_t *object, const char *type, vit_error *error) {
    json_t *usual;
    const vit_status status = /* all types have a line there, as make lint says */
        vit_find_line(&usual, vit_hugging_face_models, type, strlen(type), error);
    if (status != VIT_OK) return status;
    const bool failed = json_object_update_missing(object, usual) != 0;
    json_decref(usual);
    return failed ? vit_fail_memory(error, "a config", 0) : VIT_OK;
}

/* Old files have "vision_config_dict" beside "vision_config"; then the library takes that, and the
 * defaults for what it leaves out. */
vit_status vit_pair_config(json_t **part, const vit_their_config *d, json_t *object,
                           const char *key, const char *type, vit_error *error) {
    char old[32];
    *part = NULL;
    snprintf(old, sizeof old, "%s_dict", key);
    vit_status status = vit_read_object(part, d, object, old, error);
    if (status == VIT_OK && !*part) status = vit_read_object(part, d, object, key, error);
    if (status == VIT_OK && !*part) {
        *part = json_object();
        if (json_object_set_new(object, key, *part) != 0)
            status = vit_fail_memory(error, "a config", 0);
    }
    return status == VIT_OK ? vit_complete_config(*part, type, error) : status;
}

/* ---- the image encoder ---- */

/* CLIPModel has the projection; of the encoders alone, the class "...WithProjection". */
static vit_status read_clip(vit_their_config *d, const char *class, const json_t *own,
                            const json_t *object, vit_error *error) {
    const bool alone = own == object || vit_has_ending(class, "VisionModel");
    VIT_SAY(d, pool, d->is_backbone ? VIT_POOL_CLASS : VIT_POOL_MEAN);
    if (!d->is_backbone || (alone && !vit_has_ending(class, "WithProjection"))) return VIT_OK;
    VIT_SAY(d, head, VIT_HEAD_PROJECTION);
    return vit_read_size(&d->said.classes, d, object, "projection_dim", error);
}

static vit_status read_siglip(vit_their_config *d, const json_t *own, vit_error *error) {
    int pools = true;
    const vit_status status = vit_read_flag(&pools, d, own, "vision_use_head", error);
    if (status != VIT_OK) return status;
    if (d->is_backbone && !pools)
        return vit_fail(error, VIT_ERROR_UNSUPPORTED,
                        "%s: \"vision_use_head\" false is not supported: the encoder gives the "
                        "states of its patches, and no feature of the picture",
                        d->name);
    VIT_SAY(d, pool, d->is_backbone ? VIT_POOL_MAP : VIT_POOL_MEAN);
    VIT_SAY(d, norm_before_pool, true);
    return VIT_OK;
}

vit_status vit_read_pair(vit_their_config *d, vit_pair pair, const json_t *own,
                         const json_t *object, vit_error *error) {
    const json_t *name = json_array_get(json_object_get(object, "architectures"), 0);
    const char *class = json_is_string(name) ? json_string_value(name) : "";
    if (pair == VIT_PAIR_NONE) return VIT_OK;
    d->is_backbone = !strstr(class, "ForImageClassification");
    if (strstr(class, "TextModel"))
        return vit_fail(error, VIT_ERROR_UNSUPPORTED, "%s: \"%s\" reads texts, and no pictures",
                        d->name, class);
    switch (pair) {
    case VIT_PAIR_CLIP:
        return read_clip(d, class, own, object, error);
    case VIT_PAIR_SIGLIP:
        return read_siglip(d, own, error);
    case VIT_PAIR_NONE:
    case VIT_PAIR_COUNT:
        break;
    }
    return VIT_OK;
}
