#include "vit/weights/configs/timm_names.h"
#include "vit/base/size.h"
#include <string.h>

extern const char *const vit_timm_models[]; /* timm_models.json, line by line */

vit_status vit_timm_find(json_t **out, const char *architecture, vit_error *error) {
    return vit_find_line(out, vit_timm_models, architecture, strcspn(architecture, "."), error);
}

/* ---- Eva and Beit ---- */

static vit_status unsupported(const vit_their_config *d, const char *key, const char *value,
                              vit_error *error) {
    return vit_fail(error, VIT_ERROR_UNSUPPORTED, "%s: the argument \"%s\"%s%s is not supported",
                    d->name, key, *value ? " " : "", value);
}

/* Names that the class VisionTransformer has for the same. */
static const struct {
    const char *eva, *plain;
} renamed[] = {{"num_reg_tokens", "reg_tokens"}, {"use_pre_transformer_norm", "pre_norm"},
               {"scale_mlp", "scale_mlp_norm"},  {"scale_attn_inner", "scale_attn_norm"},
               {"use_fc_norm", "fc_norm"},       {"attn_pool_num_heads", "pool_heads"}};

/* What changes no answer, besides how tensors are stored, which the file shows. */
static const char *const idle[] = {
    "attn_pool_mlp_ratio", "qkv_fused",          "swiglu_align_to",
    "head_init_scale",     "rope_shift_coords",  "rope_jitter_coords",
    "rope_rescale_coords", "rope_mrope_section", "attn_type"};

static void rename_keys(json_t *args) {
    for (size_t i = 0; i < VIT_COUNT(renamed); i++) {
        json_t *value = json_object_get(args, renamed[i].eva);
        if (value) json_object_set(args, renamed[i].plain, value);
        json_object_del(args, renamed[i].eva);
    }
    for (size_t i = 0; i < VIT_COUNT(idle); i++) json_object_del(args, idle[i]);
}

/* Reads a flag and takes it out. */
static vit_status take_flag(bool *flag, const vit_their_config *d, json_t *args, const char *key,
                            vit_error *error) {
    int value = *flag;
    const vit_status status = vit_read_flag(&value, d, args, key, error);
    *flag = value;
    json_object_del(args, key);
    return status;
}

/* "ref_feat_shape", the grid that the positions are scaled to: a number or two equal ones. */
static vit_status read_reference(vit_their_config *d, const json_t *args, vit_error *error) {
    size_t sides[2] = {0, 0};
    const vit_status status = vit_read_sides(sides, d, args, "ref_feat_shape", error);
    if (status != VIT_OK) return status;
    if (sides[0] != sides[1]) return unsupported(d, "ref_feat_shape", "of two numbers", error);
    VIT_SAY(d, rope_reference, sides[0]);
    return VIT_OK;
}

static vit_status read_rope(vit_their_config *d, json_t *args, vit_error *error) {
    static const char *const types[] = {
        [VIT_ROPE_AXIAL] = "cat", [VIT_ROPE_CENTERED] = "dinov3", [VIT_ROPE_MIXED] = "mixed"};
    const char *type = "cat", *order = "ij";
    double base = 10000, offset = 0;
    int halves = false, rope = VIT_ROPE_AXIAL;
    vit_status status = vit_read_text(&type, d, args, "rope_type", error);
    if (status == VIT_OK) status = vit_read_text(&order, d, args, "rope_grid_indexing", error);
    if (status == VIT_OK) status = vit_read_number(&base, d, args, "rope_temperature", error);
    if (status == VIT_OK) status = vit_read_number(&offset, d, args, "rope_grid_offset", error);
    if (status == VIT_OK) status = vit_read_flag(&halves, d, args, "rope_rotate_half", error);
    if (status != VIT_OK) return status;
    while (rope < (int)VIT_COUNT(types) && strcmp(types[rope], type) != 0) rope++;
    if (rope == (int)VIT_COUNT(types)) return unsupported(d, "rope_type", type, error);
    if (strcmp(order, "ij") != 0 && strcmp(order, "xy") != 0)
        return unsupported(d, "rope_grid_indexing", order, error);
    VIT_SAY(d, rope, (vit_rope)rope);
    VIT_SAY(d, rope_base, base);
    VIT_SAY(d, rope_offset, offset);
    VIT_SAY(d, rope_halves, halves);
    VIT_SAY(d, rope_columns_first, strcmp(order, "xy") == 0);
    return vit_ropes[rope].scales ? read_reference(d, args, error) : VIT_OK;
}

/* BEiT's relative position bias: of each block, or one for all. */
static vit_status read_relative(vit_their_config *d, json_t *args, vit_error *error) {
    bool blocks = false, shared = false;
    vit_status status = take_flag(&blocks, d, args, "use_rel_pos_bias", error);
    if (status == VIT_OK) status = take_flag(&shared, d, args, "use_shared_rel_pos_bias", error);
    if (status != VIT_OK) return status;
    if (blocks && shared)
        return unsupported(d, "use_shared_rel_pos_bias", "besides \"use_rel_pos_bias\"", error);
    VIT_SAY(d, relative,
            blocks   ? VIT_RELATIVE_BLOCKS
            : shared ? VIT_RELATIVE_SHARED
                     : VIT_RELATIVE_NONE);
    return VIT_OK;
}

/* There is a norm of all tokens, or after the pooling, or none. */
static vit_status translate_norms(const vit_their_config *d, json_t *args, vit_error *error) {
    const char *pool = "avg";
    int after = -1, before = -1;
    vit_status status = vit_read_text(&pool, d, args, "global_pool", error);
    if (status == VIT_OK) status = vit_read_flag(&after, d, args, "fc_norm", error);
    if (status == VIT_OK)
        status = vit_read_flag(&before, d, args, "use_post_transformer_norm", error);
    if (status != VIT_OK) return status;
    json_object_del(args, "use_post_transformer_norm");
    if (after < 0) after = strcmp(pool, "avg") == 0;
    if (before < 0) before = !after;
    if (before && after) return unsupported(d, "use_post_transformer_norm", "", error);
    json_object_set_new(args, "fc_norm", json_boolean(after));
    json_object_set_new(args, "final_norm", json_boolean(before || after));
    if (strcmp(pool, "map") == 0) json_object_set_new(args, "pool_include_prefix", json_true());
    return VIT_OK;
}

vit_status vit_timm_translate_relpos(vit_their_config *d, json_t *args, vit_error *error) {
    const char *type = "mlp";
    bool shared = false;
    vit_status status = vit_read_text(&type, d, args, "rel_pos_type", error);
    if (status == VIT_OK) status = take_flag(&shared, d, args, "shared_rel_pos", error);
    if (status != VIT_OK) return status;
    if (strncmp(type, "mlp", 3) == 0 && strstr(type, "swin"))
        return unsupported(d, "rel_pos_type", type, error);
    json_object_del(args, "rel_pos_type"); /* the tensors show whether there is an MLP, and */
    json_object_del(args, "rel_pos_dim");  /* its width */
    VIT_SAY(d, relative, shared ? VIT_RELATIVE_SHARED : VIT_RELATIVE_BLOCKS);
    VIT_SAY(d, positions, VIT_POSITIONS_NONE);
    if (!json_object_get(args, "init_values"))
        json_object_set_new(args, "init_values", json_real(1e-6));
    if (!json_object_get(args, "fc_norm")) json_object_set_new(args, "fc_norm", json_false());
    return VIT_OK;
}

vit_status vit_timm_translate_eva(vit_their_config *d, json_t *args, vit_error *error) {
    static const char *const ropes[] = {"rope_type",        "rope_grid_indexing",
                                        "rope_temperature", "rope_grid_offset",
                                        "rope_rotate_half", "ref_feat_shape"};
    bool learned = true, turns = false, gated = false, after = false;
    rename_keys(args);
    vit_status status = take_flag(&learned, d, args, "use_abs_pos_emb", error);
    if (status == VIT_OK) status = take_flag(&turns, d, args, "use_rot_pos_emb", error);
    if (status == VIT_OK) status = take_flag(&gated, d, args, "swiglu_mlp", error);
    if (status == VIT_OK) status = take_flag(&after, d, args, "use_post_norm", error);
    if (after) VIT_SAY(d, norm, VIT_NORM_RES_POST);
    if (status == VIT_OK && turns) status = read_rope(d, args, error);
    if (status == VIT_OK) status = read_relative(d, args, error);
    if (status == VIT_OK) status = translate_norms(d, args, error);
    if (status != VIT_OK) return status;
    for (size_t i = 0; i < VIT_COUNT(ropes); i++) json_object_del(args, ropes[i]);
    VIT_SAY(d, positions, learned ? VIT_POSITIONS_LEARNED : VIT_POSITIONS_NONE);
    if (gated) json_object_set_new(args, "mlp_layer", json_string("SwiGLU"));
    return VIT_OK;
}

/* ---- NaFlexVit ---- */

/* How positions are resampled; those of rows and columns apart are always so without antialias. */
static vit_status read_resampling(vit_their_config *d, json_t *args, bool apart, vit_error *error) {
    static const struct {
        bool cubic, antialiased, corners, square;
        vit_position_rule rule;
    } rules[] = {{true, true, false, false, VIT_POSITIONS_OF_TIMM},
                 {true, false, false, false, VIT_POSITIONS_OF_HUGGING_FACE},
                 {false, true, false, false, VIT_POSITIONS_OF_NAFLEX},
                 {false, false, false, false, VIT_POSITIONS_OF_TIMM_NPZ},
                 {false, false, true, false, VIT_POSITIONS_OF_GOOGLE},
                 {true, true, false, true, VIT_POSITIONS_OF_NAFLEX_CUBIC},
                 {false, false, false, true, VIT_POSITIONS_OF_NAFLEX_LINEAR},
                 {false, false, true, true, VIT_POSITIONS_OF_NAFLEX_CORNERS}};
    const char *mode = "bicubic";
    bool antialiased = true, corners = false, square = false;
    vit_status status = vit_read_text(&mode, d, args, "pos_embed_interp_mode", error);
    if (status == VIT_OK) status = take_flag(&antialiased, d, args, "pos_embed_antialias", error);
    if (status == VIT_OK) status = take_flag(&corners, d, args, "pos_embed_align_corners", error);
    if (status == VIT_OK) status = take_flag(&square, d, args, "pos_embed_ar_preserving", error);
    if (status != VIT_OK) return status;
    const bool cubic = !apart && strcmp(mode, "bicubic") == 0;
    if (!cubic && !apart && strcmp(mode, "bilinear") != 0)
        return unsupported(d, "pos_embed_interp_mode", mode, error);
    for (size_t i = 0; i < VIT_COUNT(rules); i++)
        if (rules[i].cubic == cubic && rules[i].antialiased == (antialiased && !apart) &&
            rules[i].corners == (corners && !apart) && rules[i].square == square) {
            d->position_rule = rules[i].rule;
            return VIT_OK;
        }
    return unsupported(d, "pos_embed_align_corners", "in this way of resampling", error);
}

/* The grid of positions becomes the size of the pictures, to which others are resampled. */
static vit_status read_grid(const vit_their_config *d, json_t *args, vit_error *error) {
    size_t grid[2] = {16, 16}, patch = 16;
    const json_t *given = json_object_get(args, "pos_embed_grid_size");
    vit_status status = vit_read_sides(grid, d, args, "pos_embed_grid_size", error);
    if (status == VIT_OK) status = vit_read_size(&patch, d, args, "patch_size", error);
    if (status != VIT_OK) return status;
    if (!given || json_typeof(given) != JSON_NULL) /* null: that of img_size */
        json_object_set_new(args, "img_size",
                            json_pack("[ii]", (int)(grid[0] * patch), (int)(grid[1] * patch)));
    json_object_set_new(args, "dynamic_img_size", json_true());
    return VIT_OK;
}

vit_status vit_timm_translate_naflex(vit_their_config *d, json_t *args, vit_error *error) {
    static const char *const rest[] = {"pos_embed_grid_size",       "pos_embed_interp_mode",
                                       "embed_proj_type",           "use_key_only_attn_mask",
                                       "enable_patch_interpolator", "pos_embed_use_grid_sample"};
    const char *positions = "learned", *pool = "map", *rope = "";
    bool last = true, gated = false;
    vit_status status = vit_read_text(&positions, d, args, "pos_embed", error);
    if (status == VIT_OK) status = vit_read_text(&pool, d, args, "global_pool", error);
    if (status == VIT_OK) status = vit_read_text(&rope, d, args, "rope_type", error);
    if (status == VIT_OK) status = take_flag(&last, d, args, "patchify_channels_last", error);
    if (status == VIT_OK) status = take_flag(&gated, d, args, "swiglu_mlp", error);
    if (status != VIT_OK) return status;
    const bool none = !*positions || strcmp(positions, "none") == 0;
    const bool apart = strcmp(positions, "factorized") == 0;
    if (!none && !apart && strcmp(positions, "learned") != 0)
        return unsupported(d, "pos_embed", positions, error);
    if (*rope && strcmp(rope, "none") != 0) return unsupported(d, "rope_type", rope, error);
    if (!last) return unsupported(d, "patchify_channels_last", "false", error);
    status = read_resampling(d, args, apart, error);
    if (status == VIT_OK) status = read_grid(d, args, error);
    if (status != VIT_OK) return status;
    rename_keys(args);
    for (size_t i = 0; i < VIT_COUNT(rest); i++) json_object_del(args, rest[i]);
    if (*rope) json_object_del(args, "rope_type");
    json_object_del(args, "pos_embed");
    VIT_SAY(d, positions, none ? VIT_POSITIONS_NONE : VIT_POSITIONS_LEARNED);
    VIT_SAY(d, prefix_positions, false);
    if (gated) json_object_set_new(args, "mlp_layer", json_string("SwiGLU"));
    if (!vit_json_given(args, "fc_norm"))
        json_object_set_new(args, "fc_norm", json_boolean(strcmp(pool, "avg") == 0));
    return VIT_OK;
}
