#include "vit/weights/layout/dinov3.h"
#include "vit/base/sys.h"
#include "vit/base/text.h"
#include "vit/model/rope_table.h"
#include <math.h>
#include <string.h>

/* values: the tensor's, [count], freed by vit_free. */
static vit_status read_tensor(float **values, const vit_binding *b, const vit_tensor *t,
                              vit_error *error) {
    *values = vit_alloc(t->count, sizeof **values);
    if (!*values) return vit_fail_memory(error, "a tensor", t->count * sizeof **values);
    return vit_tensors_read(b->file, t, *values, error);
}

static bool are_periods(const vit_config *c, const float *values, size_t count) {
    bool same = count == vit_config_head_dim(c) / 4;
    for (size_t i = 0; i < count && same; i++) {
        const float period = vit_rope_period(c, i);
        same = fabsf(values[i] - period) <= 1e-6f * period;
    }
    return same;
}

static vit_status read_periods(vit_config *c, const vit_binding *b, const vit_tensor *t,
                               vit_error *error) {
    float *values;
    vit_status status = read_tensor(&values, b, t, error);
    bool known = false;
    for (int rounded = 0; rounded < 2 && status == VIT_OK && !known; rounded++) {
        c->rope_rounded = rounded;
        known = are_periods(c, values, t->count);
    }
    if (status == VIT_OK && !known)
        status = vit_fail(error, VIT_ERROR_UNSUPPORTED,
                          "%s: the periods in tensor %s are not powers of %g, which is not "
                          "supported",
                          vit_tensors_name(b->file), t->name, c->rope_base);
    vit_free(values);
    return status;
}

/* A mask of ones for queries and values; that of keys does not matter, it is meant to be 0. */
static vit_status read_mask(vit_config *c, const vit_binding *b, const vit_tensor *t,
                            vit_error *error) {
    const size_t a = vit_config_attention_dim(c);
    float *values;
    vit_status status = read_tensor(&values, b, t, error);
    bool known = t->count == 3 * a;
    for (size_t i = 0; i < a && status == VIT_OK && known; i++)
        known = values[i] == 1 && values[2 * a + i] == 1 && !(values[a + i] > 0);
    if (status == VIT_OK && !known)
        status = vit_fail(error, VIT_ERROR_UNSUPPORTED,
                          "%s: the mask in tensor %s is not 1 for queries and values and 0 for "
                          "keys, which is not supported",
                          vit_tensors_name(b->file), t->name);
    vit_free(values);
    c->key_bias = false;
    return status;
}

vit_status vit_read_dinov3(vit_config *c, const vit_binding *b, vit_error *error) {
    vit_status status = VIT_OK;
    if (!vit_ropes[c->rope].fixed) return VIT_OK;
    for (size_t i = 0; i < vit_tensors_count(b->file) && status == VIT_OK; i++) {
        const vit_tensor *t = vit_tensors_at(b->file, i);
        if (strstr(t->name, "rope_embed.periods")) status = read_periods(c, b, t, error);
        if (vit_has_ending(t->name, "attn.qkv.bias_mask")) status = read_mask(c, b, t, error);
    }
    return status;
}
