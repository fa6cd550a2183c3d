#include "vit/weights/layout/shapes.h"
#include "vit/base/size.h"
#include "vit/weights/layout/dinov3.h"
#include <math.h>
#include <string.h>

static bool has(const vit_binding *b, const char *ours) {
    return vit_binding_find(b, ours) != NULL;
}

static size_t elements(const vit_binding *b, const char *ours) {
    return vit_binding_elements(b, ours);
}

static vit_status missing(const vit_binding *b, const char *ours, vit_error *error) {
    char name[VIT_THEIR_NAME];
    return vit_fail(error, VIT_ERROR_MISMATCH, "%s: tensor %s is missing",
                    vit_tensors_name(b->file), vit_binding_name(name, b, ours));
}

/* That there is a head exactly if the config does not call the network a backbone. */
static vit_status check_head(const vit_binding *b, const vit_their_config *d, vit_error *error) {
    char name[VIT_THEIR_NAME];
    const bool has_head = has(b, "head.weight") || has(b, "head.2.weight");
    const bool projects = d->given[VIT_KEY_head] && vit_heads[d->said.head].projects;
    if (d->is_backbone && has(b, "dist_token") && b->layout->pools_dist)
        return vit_fail(error, VIT_ERROR_UNSUPPORTED,
                        "%s: a backbone with two tokens to pool, as tensor dist_token shows, is "
                        "not supported",
                        vit_tensors_name(b->file));
    if (has_head == (projects || !d->is_backbone)) return VIT_OK;
    vit_binding_name(name, b, "head.weight");
    if (projects)
        return vit_fail(error, VIT_ERROR_MISMATCH,
                        "%s: tensor %s is missing, which by %s projects the features",
                        vit_tensors_name(b->file), name, d->name);
    if (has_head)
        return vit_fail(error, VIT_ERROR_MISMATCH,
                        "%s: tensor %s is of a classifier, but %s says that there is none",
                        vit_tensors_name(b->file), name, d->name);
    return vit_fail(error, VIT_ERROR_MISMATCH,
                    "%s: tensor %s is missing; of a backbone without a classifier the config says "
                    "so: timm's has \"num_classes\" 0, Hugging Face's \"architectures\" a name "
                    "like \"ViTModel\"",
                    vit_tensors_name(b->file), name);
}

/* That the tensors are there from which everything else follows. */
static vit_status check_skeleton(const vit_binding *b, const vit_their_config *d,
                                 vit_error *error) {
    static const char *const all[] = {"patch_embed.proj.weight",  "blocks.0.norm1.weight",
                                      "blocks.0.attn.qkv.weight", "blocks.0.attn.proj.weight",
                                      "blocks.0.mlp.fc1.weight",  "blocks.0.mlp.fc2.weight"};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (!has(b, all[i])) return missing(b, all[i], error);
    if (vit_positions[d->said.positions].learned && !has(b, "pos_embed"))
        return missing(b, "pos_embed", error);
    return check_head(b, d, error);
}

/* ---- sizes ---- */

/* The number of heads, which is a dimension of Google's queries, [in][h][d]; 0: the tensors do not
 * show it.
 */
static size_t tensor_heads(const vit_binding *b) {
    const vit_source *s = vit_binding_find(b, "blocks.0.attn.qkv.weight");
    return vit_reshapes[s->row->reshape].transposes && s->tensor->dims == 3 ? s->tensor->shape[1]
                                                                            : 0;
}

static void size_facts(vit_config *c, const vit_binding *b) {
    c->dim = vit_max(elements(b, "blocks.0.norm1.weight"), 1); /* of none the shapes are wrong */
    c->depth = b->depth;
    c->mlp = elements(b, "blocks.0.mlp.fc2.weight") / c->dim;
    const vit_source *fc1 = vit_binding_find(b, "blocks.0.mlp.fc1.weight");
    c->gated = elements(b, "blocks.0.mlp.fc1.weight") == 2 * c->mlp * c->dim && c->mlp > 0 &&
               !vit_joins[fc1->row->join].slices;
    c->relative_mlp = elements(b, "blocks.0.attn.rel_pos.mlp.fc1.bias");
    if (c->relative_mlp == 0) c->relative_mlp = elements(b, "shared_rel_pos.mlp.fc1.bias");
    c->registers = elements(b, "reg_token") / c->dim;
    c->heads = tensor_heads(b);
    /* side and channels of a patch, where they are dimensions of the tensor */
    const vit_source *s = vit_binding_find(b, "patch_embed.proj.weight");
    const size_t *shape = s->tensor->shape;
    c->patch_order = s->tensor->dims == 4 ? VIT_PATCH_CONV : VIT_PATCH_PIXEL;
    if (s->tensor->dims != 4) return;
    const bool from_pixels = vit_reshapes[s->row->reshape].turns_pixels; /* [P][P][C][out] */
    c->patch = from_pixels ? shape[0] : shape[2];
    c->channels = from_pixels ? shape[2] : shape[1];
}

/* Whether the bias of queries, keys and values is whole, or has the keys' part. */
static bool has_key_bias(const vit_binding *b) {
    const char *ours = "blocks.0.attn.qkv.bias";
    bool found = !has(b, ours);
    for (size_t i = 0; i < b->count; i++)
        if (strcmp(b->sources[i].ours, ours) == 0)
            found = found || vit_is_whole(b->sources[i].row) || b->sources[i].row->part == 1;
    return found;
}

/* timm reads Google's files without the layer before the head. */
static bool leaves_pre_logits(const vit_binding *b, const vit_their_config *d) {
    return b->layout->usual && d->emulate && strcmp(d->emulate, "google") != 0;
}

static void flag_facts(vit_config *c, const vit_binding *b, const vit_their_config *d) {
    for (size_t i = 0; i < VIT_KEYS; i++) {
        const char *const *shown = vit_switches[i].tensors;
        if (shown[0])
            vit_switch_set(&vit_switches[i], &c->encoder,
                           has(b, shown[0]) || (shown[1] && has(b, shown[1])));
    }
    c->key_bias = has_key_bias(b);
    c->embed_norm = c->embed_norm && !c->patch_norm;
    const bool squashes = has(b, "pre_logits.weight") && !leaves_pre_logits(b, d);
    c->head = has(b, "head.2.weight") ? VIT_HEAD_MLP
              : squashes              ? VIT_HEAD_TANH
              : has(b, "head.weight") ? VIT_HEAD_LINEAR
                                      : VIT_HEAD_NONE;
}

static void pool_facts(vit_config *c, const vit_binding *b) {
    const vit_source *head = vit_binding_find(b, "head.weight");
    c->pool = c->class_token ? VIT_POOL_CLASS : VIT_POOL_MEAN;
    if (has(b, "fc_norm.weight")) c->pool = VIT_POOL_MEAN;
    if (has(b, "attn_pool.latent")) c->pool = VIT_POOL_MAP;
    if (has(b, "dist_token") && head && vit_joins[head->row->join].columns)
        c->pool = VIT_POOL_CLASS_DIST;
    else if (has(b, "dist_token")) /* takes part in attention, as a register does */
        c->registers = 1;
    c->norm_before_pool = !has(b, "fc_norm.weight");
    const size_t mlp = elements(b, "attn_pool.mlp.fc1.weight") / c->dim;
    c->pool_mlp = mlp == c->mlp ? 0 : mlp;
}

static void class_facts(vit_config *c, const vit_binding *b) {
    const size_t features = vit_config_features(c);
    const size_t layers = vit_heads[c->head].layers, inputs = layers > 1 ? c->mlp : features;
    const char *name = layers > 1 ? "head.2.weight" : "head.weight";
    c->classes = layers == 0 ? features : elements(b, name) / (inputs ? inputs : 1);
}

/* What the config says of the network, in place of what the tensors show; what they show of a gate
 * and of a second token in the head is no choice. */
static void apply(vit_config *c, const vit_their_config *d) {
    for (size_t i = 0; i < VIT_KEYS; i++) {
        const vit_switch *row = &vit_switches[i];
        const double value = vit_switch_get(row, &d->said);
        const bool number = row->kind == VIT_FIELD_SIZE || row->kind == VIT_FIELD_DOUBLE;
        if (i == VIT_KEY_gated || (i == VIT_KEY_pool && vit_pools[c->pool].dist)) continue;
        if (d->given[i] || (number && value != 0)) vit_switch_set(row, &c->encoder, value);
    }
}

/* ---- what follows from both ---- */

static size_t square_root(size_t n) {
    const size_t root = (size_t)lround(sqrt((double)n));
    return root * root == n ? root : 0;
}

/* Rows of the table of positions. */
static size_t position_rows(const vit_config *c, const vit_binding *b) {
    return elements(b, "pos_embed") / c->dim;
}

/* DINOv2's authors stored positions of the class token, and none of the registers: what a config
 * says of timm's form of the same network does not hold. */
static bool has_none_for_registers(const vit_binding *b) {
    const vit_source *s = vit_binding_find(b, "pos_embed");
    return s && vit_reshapes[s->row->reshape].inserts_registers;
}

static vit_status picture_size(vit_config *c, const vit_binding *b, const vit_their_config *d,
                               vit_error *error) {
    const size_t rows = position_rows(c, b), prefix = vit_config_prefix(c);
    if (c->channels == 0 || c->patch == 0)
        return vit_fail(error, VIT_ERROR_UNSUPPORTED,
                        "%s: tensor %s does not show the size of a patch: add \"patch_size\" and "
                        "\"channels\" to %s",
                        vit_tensors_name(b->file),
                        vit_binding_find(b, "patch_embed.proj.weight")->tensor->name, d->name);
    c->height -= c->height % c->patch; /* the convolution does not reach the last pixels */
    c->width -= c->width % c->patch;
    if (c->height > 0) return VIT_OK;
    if (rows == 0)
        return vit_fail(error, VIT_ERROR_UNSUPPORTED,
                        "%s: no tensor shows the size of the pictures: add \"img_size\" to "
                        "\"model_args\" in %s",
                        vit_tensors_name(b->file), d->name);
    size_t side = rows > prefix ? square_root(rows - prefix) : 0;
    if (side == 0) side = square_root(rows);
    c->height = c->width = side * c->patch;
    if (side > 0) return VIT_OK;
    return vit_fail(error, VIT_ERROR_UNSUPPORTED,
                    "%s: tensor %s has %zu rows, which is no square of patches: add the picture's "
                    "size (\"image_size\": [height, width]) to %s",
                    vit_tensors_name(b->file), vit_binding_find(b, "pos_embed")->tensor->name, rows,
                    d->name);
}

static vit_status check_heads(vit_config *c, const vit_binding *b, const vit_their_config *d,
                              vit_error *error) {
    if (c->heads == 0)
        return vit_fail(error, VIT_ERROR_UNSUPPORTED,
                        "%s does not say how many heads the network has: add \"%s\"", d->name,
                        b->layout->heads_key ? b->layout->heads_key : "num_heads");
    if (tensor_heads(b) > 0 && tensor_heads(b) != c->heads)
        return vit_fail(error, VIT_ERROR_MISMATCH,
                        "%s: tensor %s has %zu heads, by %s there should be %zu",
                        vit_tensors_name(b->file),
                        vit_binding_find(b, "blocks.0.attn.qkv.weight")->tensor->name,
                        tensor_heads(b), d->name, c->heads);
    const size_t width = elements(b, "blocks.0.attn.proj.weight") / c->dim;
    if (c->head_dim == 0 && width != c->dim && width % c->heads == 0)
        c->head_dim = width / c->heads;
    if (c->head_dim * c->heads == c->dim) c->head_dim = 0;
    return VIT_OK;
}

/* In some layouts the final norm's name tells whether it is of the tokens or of their mean; it must
 * agree with the config. */
static vit_status check_norm(const vit_binding *b, const vit_their_config *d, vit_error *error) {
    const bool before = d->said.norm_before_pool;
    const char *name = before ? "norm.weight" : "fc_norm.weight";
    const char *other = before ? "fc_norm.weight" : "norm.weight";
    if (!b->layout->names_norm || !d->given[VIT_KEY_norm_before_pool] || !has(b, other))
        return VIT_OK;
    return vit_fail(error, VIT_ERROR_MISMATCH, "%s: tensor %s is there, by %s it should be %s",
                    vit_tensors_name(b->file), vit_binding_find(b, other)->tensor->name, d->name,
                    name);
}

/* vit-pytorch changed the scale between versions whose files look alike. */
static vit_status check_scale(const vit_binding *b, const vit_their_config *d, vit_error *error) {
    const vit_source *patches = vit_binding_find(b, "patch_embed.proj.weight");
    if (d->given[VIT_KEY_attention_scale] || !strstr(patches->tensor->name, "patch_to_embedding"))
        return VIT_OK;
    return vit_fail(error, VIT_ERROR_UNSUPPORTED,
                    "%s: vit-pytorch's first versions divided scores by the root of \"dim\", later "
                    "ones by that of a head's width: add \"attention_scale\": \"dim\" or "
                    "\"head_dim\"",
                    d->name);
}

/* The activation of a gated MLP, which no shape shows. */
static vit_status check_gate(vit_config *c, const vit_binding *b, const vit_their_config *d,
                             vit_error *error) {
    if (!c->gated && d->said.gated)
        return vit_fail(error, VIT_ERROR_MISMATCH,
                        "%s: by %s the MLPs are gated (SwiGLU), but tensor %s is of a plain one",
                        vit_tensors_name(b->file), d->name,
                        vit_binding_find(b, "blocks.0.mlp.fc1.weight")->tensor->name);
    if (!c->gated) return VIT_OK;
    if (d->said.mlp > 0) c->mlp = elements(b, "blocks.0.mlp.fc2.weight") / c->dim;
    if (d->gate != VIT_UNSPECIFIED) c->activation = (vit_activation)d->gate;
    if (d->gate != VIT_UNSPECIFIED) return VIT_OK;
    return vit_fail(error, VIT_ERROR_UNSUPPORTED,
                    "%s: tensor %s is of a gated MLP, but the config does not say that it is "
                    "SwiGLU: add \"act_layer\": \"silu\" to \"model_args\"",
                    vit_tensors_name(b->file),
                    vit_binding_find(b, "blocks.0.mlp.fc1.weight")->tensor->name);
}

vit_status vit_config_of_tensors(vit_config *out, const vit_binding *b, const vit_their_config *d,
                                 vit_error *error) {
    vit_status status = check_skeleton(b, d, error);
    if (status != VIT_OK) return status;
    vit_config c = vit_config_default();
    size_facts(&c, b);
    flag_facts(&c, b, d);
    pool_facts(&c, b);
    apply(&c, d);
    if (d->said.classes == 0) class_facts(&c, b);
    status = check_norm(b, d, error);
    if (status == VIT_OK) status = check_scale(b, d, error);
    if (status == VIT_OK) status = check_heads(&c, b, d, error);
    if (status == VIT_OK) status = check_gate(&c, b, d, error);
    if (status == VIT_OK) status = picture_size(&c, b, d, error);
    if (status != VIT_OK) return status;
    if ((!d->given[VIT_KEY_prefix_positions] || has_none_for_registers(b)) &&
        vit_positions[c.positions].learned)
        c.prefix_positions = position_rows(&c, b) != vit_config_patches(&c);
    *out = c;
    return vit_read_dinov3(out, b, error);
}
