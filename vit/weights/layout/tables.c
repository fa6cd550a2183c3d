/* The layouts. A row: their name, ours, and how one becomes the other, if not by a mere copy. */
#include "vit/weights/layout/layout.h"

#define ROWS(array) \
    { (array), sizeof(array) / sizeof *(array) }

#define ROW(their_name, our_name) \
    { .theirs = (their_name), .ours = (our_name) }
#define ROW_AS(their_name, our_name, ...) \
    { .theirs = (their_name), .ours = (our_name), __VA_ARGS__ }
#define PART(i, n) .join = VIT_ROWS, .part = (i), .parts = (n)
#define CUT(first, number, n) .join = VIT_CUT, .part = (first), .taken = (number), .parts = (n)
/* Part i of their tensor, which has two of ours one below the other; the other one is `other`. */
#define SLICE(i, other) .join = VIT_SLICE, .part = (i), .parts = 2, .beside = (other)
#define TURNED .reshape = VIT_TRANSPOSED

/* Three layers of theirs, or two, are one of ours: of attention, of a gated MLP. */
#define QKV(q, k, v)                                                                \
    ROW_AS(q "@", "attn.qkv@", PART(0, 3)), ROW_AS(k "@", "attn.qkv@", PART(1, 3)), \
        ROW_AS(v "@", "attn.qkv@", PART(2, 3))
#define GATED(gate, value) \
    ROW_AS(gate "@", "mlp.fc1@", PART(0, 2)), ROW_AS(value "@", "mlp.fc1@", PART(1, 2))

/* Part i of a head that is the mean of two: of the class token's and the distillation token's. */
#define HALF(i) .join = VIT_COLUMNS, .part = (i), .parts = 2

/* ---- timm, and DeiT, DINOv2 and MAE as their authors published them ---- */

#define TIMM_NORMS_AND_POOL                                                               \
    ROW("norm_pre@", "norm_pre@"), ROW("norm@", "norm@"), ROW("fc_norm@", "fc_norm@"),    \
        ROW("attn_pool.latent", "attn_pool.latent"), ROW("attn_pool.q@", "attn_pool.q@"), \
        ROW("attn_pool.kv@", "attn_pool.kv@"), ROW("attn_pool.proj@", "attn_pool.proj@"), \
        ROW("attn_pool.norm@", "attn_pool.norm@"),                                        \
        ROW("attn_pool.mlp.fc1@", "attn_pool.mlp.fc1@"),                                  \
        ROW("attn_pool.mlp.fc2@", "attn_pool.mlp.fc2@")
/* What trainings without labels need beside the network: MAE's decoder, DINO's and iBOT's heads. */
#define PRETRAINING                                                                                \
    ROW("decoder_embed.*", NULL), ROW("decoder_pos_embed", NULL), ROW("decoder_blocks.*", NULL),   \
        ROW("decoder_norm.*", NULL), ROW("decoder_pred.*", NULL), ROW("head.mlp.*", NULL),         \
        ROW("head.mlp2.*", NULL), ROW("head.last_layer.*", NULL), ROW("head.last_layer2.*", NULL), \
        ROW("masked_embed", NULL)

#define TIMM_BESIDE                                                                   \
    ROW("cls_token", "cls_token"), ROW("dist_token", "dist_token"),                   \
        ROW("patch_embed.proj@", "patch_embed.proj@"), TIMM_NORMS_AND_POOL,           \
        ROW("rel_pos_bias.relative_position_bias_table",                              \
            "rel_pos_bias.relative_position_bias_table"),                             \
        ROW("rel_pos_bias.relative_position_index", NULL),                            \
        ROW("shared_rel_pos.relative_position_bias_table",                            \
            "rel_pos_bias.relative_position_bias_table"),                             \
        ROW("shared_rel_pos.mlp.fc1@", "shared_rel_pos.mlp.fc1@"),                    \
        ROW("shared_rel_pos.mlp.fc2@", "shared_rel_pos.mlp.fc2@"),                    \
        ROW("patch_embed.norm@", "patch_embed.norm_after@"), ROW("mask_token", NULL), \
        ROW("pre_logits.*", NULL), PRETRAINING

static const vit_layout_row timm_beside[] = {TIMM_BESIDE};
static const vit_layout_row timm_block[] = {
    ROW("norm1@", "norm1@"),
    ROW("attn.qkv@", "attn.qkv@"),
    ROW("attn.qkv.bias_mask", NULL), /* vit_read_dinov3 */
    QKV("attn.q_proj", "attn.k_proj", "attn.v_proj"),
    ROW_AS("attn.q_bias", "attn.qkv.bias", PART(0, 3)),
    ROW_AS("attn.v_bias", "attn.qkv.bias", PART(2, 3)),
    ROW("attn.relative_position_bias_table", "attn.relative_position_bias_table"),
    ROW("attn.relative_position_index", NULL),
    ROW("attn.rel_pos.relative_position_bias_table", "attn.relative_position_bias_table"),
    ROW("attn.rel_pos.mlp.fc1@", "attn.rel_pos.mlp.fc1@"),
    ROW("attn.rel_pos.mlp.fc2@", "attn.rel_pos.mlp.fc2@"),
    ROW("attn.norm@", "attn.norm@"),
    ROW("attn.q_norm@", "attn.q_norm@"),
    ROW("attn.k_norm@", "attn.k_norm@"),
    ROW("attn.proj@", "attn.proj@"),
    ROW("ls1.gamma", "ls1.gamma"),
    ROW("gamma_1", "ls1.gamma"),
    ROW("norm2@", "norm2@"),
    ROW("mlp.fc1@", "mlp.fc1@"),
    GATED("mlp.fc1_g", "mlp.fc1_x"),
    GATED("mlp.w1", "mlp.w2"),
    ROW("mlp.w12@", "mlp.fc1@"),
    ROW("mlp.norm@", "mlp.norm@"),
    ROW("mlp.fc2@", "mlp.fc2@"),
    ROW("mlp.w3@", "mlp.fc2@"),
    ROW("ls2.gamma", "ls2.gamma"),
    ROW("gamma_2", "ls2.gamma"),
};
/* timm's ParallelScalingBlock. */
static const vit_layout_row timm_parallel_block[] = {
    ROW("in_norm@", "norm1@"),
    ROW_AS("in_proj@", "mlp.fc1@", SLICE(0, "attn.qkv")),
    ROW_AS("in_proj@", "attn.qkv@", SLICE(1, "mlp.fc1")),
    ROW("mlp_bias", "mlp.fc1.bias"), /* where queries, keys and values have none */
    ROW("q_norm@", "attn.q_norm@"),
    ROW("k_norm@", "attn.k_norm@"),
    ROW("attn_out_proj@", "attn.proj@"),
    ROW("mlp_out_proj@", "mlp.fc2@"),
    ROW("ls.gamma", "ls1.gamma"),
};
/* timm's NaFlexVit. */
static const vit_layout_row naflex_beside[] = {
    ROW("embeds.cls_token", "cls_token"),
    ROW("embeds.reg_token", "reg_token"),
    ROW_AS("embeds.pos_embed", "pos_embed", .reshape = VIT_GRID),
    ROW_AS("embeds.pos_embed_y", "pos_embed", .join = VIT_OUTER, .part = 0, .parts = 2),
    ROW_AS("embeds.pos_embed_x", "pos_embed", .join = VIT_OUTER, .part = 1, .parts = 2),
    ROW("embeds.proj@", "patch_embed.proj@"),
    ROW("embeds.norm@", "patch_embed.norm_after@"),
    TIMM_NORMS_AND_POOL,
};
static const vit_layout_row timm_tokens[] = {
    ROW("reg_token", "reg_token"),
    ROW("pos_embed", "pos_embed"),
    ROW("rope.freqs", "rope.freqs"),
};
static const vit_layout_row dinov2_tokens[] = {
    ROW("register_tokens", "reg_token"),
    ROW_AS("pos_embed", "pos_embed", .reshape = VIT_AROUND_REGISTERS),
};
/* DINOv3 as its authors published it; a norm of pre-training is left out. */
static const vit_layout_row dinov3_tokens[] = {
    ROW("storage_tokens", "reg_token"),
    ROW("rope_embed.periods", NULL), /* vit_read_dinov3 */
    ROW("local_cls_norm@", NULL),
};
static const vit_layout_row timm_head[] = {
    ROW("head@", "head@"),
};
static const vit_layout_row timm_distilled_head[] = {
    ROW_AS("head@", "head@", HALF(0)),
    ROW_AS("head_dist@", "head@", HALF(1)),
};

/* ---- Hugging Face: versions 4 and 5, ViT, DeiT, DINOv2 ---- */

static const vit_layout_row hf_beside[] = {
    ROW("embeddings.cls_token", "cls_token"),
    ROW("embeddings.distillation_token", "dist_token"),
    ROW("embeddings.register_tokens", "reg_token"),
    ROW("embeddings.mask_token", NULL),
    ROW_AS("embeddings.position_embeddings", "pos_embed", .reshape = VIT_AROUND_REGISTERS),
    ROW("embeddings.patch_embeddings.projection@", "patch_embed.proj@"),
    ROW("layernorm@", "norm@"),
    ROW("encoder.relative_position_bias.relative_position_bias_table",
        "rel_pos_bias.relative_position_bias_table"),
    ROW("encoder.relative_position_bias.relative_position_index", NULL),
    ROW("shared_position_bias.relative_position_bias_table",
        "rel_pos_bias.relative_position_bias_table"),
    ROW("pooler.layernorm@", "fc_norm@"),
    ROW("pooler.*", NULL),
    ROW("decoder.*", NULL),
    ROW("text_model.*", NULL), /* of TIPS v2 */
    ROW("temperature", NULL),
};
static const vit_layout_row hf_block[] = {
    ROW("layernorm_before@", "norm1@"),
    ROW("norm1@", "norm1@"),
    QKV("attention.attention.query", "attention.attention.key", "attention.attention.value"),
    QKV("attention.q_proj", "attention.k_proj", "attention.v_proj"),
    ROW("attention.output.dense@", "attn.proj@"),
    ROW("attention.o_proj@", "attn.proj@"),
    ROW("attention.attention.relative_position_bias.relative_position_bias_table",
        "attn.relative_position_bias_table"),
    ROW("attention.attention.relative_position_bias.relative_position_index", NULL),
    ROW("relative_position_bias.relative_position_bias_table", "attn.relative_position_bias_table"),
    ROW("layer_scale1.lambda1", "ls1.gamma"),
    ROW("lambda_1", "ls1.gamma"),
    ROW("lambda_2", "ls2.gamma"),
    ROW("layernorm_after@", "norm2@"),
    ROW("norm2@", "norm2@"),
    ROW("intermediate.dense@", "mlp.fc1@"),
    ROW("mlp.fc1@", "mlp.fc1@"),
    ROW("mlp.weights_in@", "mlp.fc1@"),
    GATED("mlp.gate_proj", "mlp.up_proj"),
    ROW("output.dense@", "mlp.fc2@"),
    ROW("mlp.fc2@", "mlp.fc2@"),
    ROW("mlp.weights_out@", "mlp.fc2@"),
    ROW("mlp.down_proj@", "mlp.fc2@"),
    ROW("layer_scale2.lambda1", "ls2.gamma"),
};
static const vit_layout_row hf_head[] = {
    ROW("classifier@", "head@"),
};
static const vit_layout_row hf_distilled_head[] = {
    ROW_AS("cls_classifier@", "head@", HALF(0)),
    ROW_AS("distillation_classifier@", "head@", HALF(1)),
};

/* Hugging Face's DINOv3, with a plain MLP and with a gated one. */

static const vit_layout_row hf_dinov3_beside[] = {
    ROW("embeddings.cls_token", "cls_token"),
    ROW("embeddings.register_tokens", "reg_token"),
    ROW("embeddings.mask_token", NULL),
    ROW("embeddings.patch_embeddings@", "patch_embed.proj@"),
    ROW("norm@", "norm@"),
};
#define HF_DINOV3_BLOCK                                                                       \
    ROW("norm1@", "norm1@"), QKV("attention.q_proj", "attention.k_proj", "attention.v_proj"), \
        ROW("attention.o_proj@", "attn.proj@"), ROW("layer_scale1.lambda1", "ls1.gamma"),     \
        ROW("norm2@", "norm2@"), ROW("mlp.down_proj@", "mlp.fc2@"),                           \
        ROW("layer_scale2.lambda1", "ls2.gamma")
static const vit_layout_row hf_dinov3_block[] = {HF_DINOV3_BLOCK, ROW("mlp.up_proj@", "mlp.fc1@")};
static const vit_layout_row hf_dinov3_gated_block[] = {HF_DINOV3_BLOCK,
                                                       GATED("mlp.gate_proj", "mlp.up_proj")};

/* TIPS v2 as it is published and saved, with its authors' names. */
static const vit_layout_row hf_tips_beside[] = {
    ROW("cls_token", "cls_token"),
    ROW("register_tokens", "reg_token"),
    ROW("mask_token", NULL),
    ROW_AS("pos_embed", "pos_embed", .reshape = VIT_AROUND_REGISTERS),
    ROW("patch_embed.proj@", "patch_embed.proj@"),
    ROW("norm@", "norm@"),
    ROW("text_encoder.*", NULL),
    ROW("temperature", NULL),
};
static const vit_layout_row hf_tips_block[] = {
    ROW("norm1@", "norm1@"),        ROW("attn.qkv@", "attn.qkv@"), ROW("attn.proj@", "attn.proj@"),
    ROW("ls1.gamma", "ls1.gamma"),  ROW("norm2@", "norm2@"),       ROW("mlp.c_fc@", "mlp.fc1@"),
    ROW("mlp.c_proj@", "mlp.fc2@"), ROW("mlp.w12@", "mlp.fc1@"),   ROW("mlp.w3@", "mlp.fc2@"),
    ROW("ls2.gamma", "ls2.gamma"),
};

/* Hugging Face's CLIP and SigLIP: the image encoder. That of texts is another network. */

#define HF_TOWER_BESIDE                                                  \
    ROW("embeddings.class_embedding", "cls_token"),                      \
        ROW("embeddings.patch_embedding@", "patch_embed.proj@"),         \
        ROW("embeddings.position_embedding.weight", "pos_embed"),        \
        ROW("embeddings.position_ids", NULL), ROW("text_model.*", NULL), \
        ROW("text_projection.*", NULL), ROW("logit_scale", NULL), ROW("logit_bias", NULL)

static const vit_layout_row hf_clip_beside[] = {
    HF_TOWER_BESIDE, ROW("pre_layrnorm@", "norm_pre@"), ROW("post_layernorm@", "norm@"),
    ROW("class_pos_emb", "rope.class"), /* of MLCD */
};
/* A classifier takes the mean of the patches before that norm. */
static const vit_layout_row hf_clip_classifier_beside[] = {
    HF_TOWER_BESIDE,
    ROW("pre_layrnorm@", "norm_pre@"),
    ROW("post_layernorm@", NULL),
};
static const vit_layout_row hf_clip_head[] = {
    ROW("visual_projection.weight", "head.weight"),
};
static const vit_layout_row hf_siglip_beside[] = {
    HF_TOWER_BESIDE,
    ROW("post_layernorm@", "norm@"),
    ROW("head.probe", "attn_pool.latent"),
    ROW_AS("head.attention.in_proj_weight", "attn_pool.q.weight", CUT(0, 1, 3)),
    ROW_AS("head.attention.in_proj_weight", "attn_pool.kv.weight", CUT(1, 2, 3)),
    ROW_AS("head.attention.in_proj_bias", "attn_pool.q.bias", CUT(0, 1, 3)),
    ROW_AS("head.attention.in_proj_bias", "attn_pool.kv.bias", CUT(1, 2, 3)),
    ROW("head.attention.out_proj@", "attn_pool.proj@"),
    ROW("head.layernorm@", "attn_pool.norm@"),
    ROW("head.mlp.fc1@", "attn_pool.mlp.fc1@"),
    ROW("head.mlp.fc2@", "attn_pool.mlp.fc2@"),
};
/* A classifier takes the mean of the patches in place of this pooling, which is saved, too. */
static const vit_layout_row hf_siglip_classifier_beside[] = {
    HF_TOWER_BESIDE,
    ROW("post_layernorm@", "norm@"),
    ROW("head.*", NULL),
};
static const vit_layout_row hf_tower_block[] = {
    ROW("layer_norm1@", "norm1@"),
    QKV("self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj"),
    ROW("self_attn.out_proj@", "attn.proj@"),
    ROW("layer_norm2@", "norm2@"),
    ROW("mlp.fc1@", "mlp.fc1@"),
    ROW("mlp.fc2@", "mlp.fc2@"),
};

/* Hugging Face's AIMv2; its text encoder is another network, too. */
static const vit_layout_row hf_aimv2_beside[] = {
    ROW("embeddings.patch_embed@", "patch_embed.proj@"),
    ROW("embeddings.rms_norm@", "patch_embed.norm_after@"),
    ROW("embeddings.position_embedding.weight", "pos_embed"),
    ROW("rms_norm@", "norm@"),
    ROW("head.cls_token", "attn_pool.latent"),
    ROW_AS("head.k_proj@", "attn_pool.kv@", PART(0, 2)),
    ROW_AS("head.v_proj@", "attn_pool.kv@", PART(1, 2)),
    ROW("head.output_proj@", "attn_pool.proj@"),
    ROW("text_model.*", NULL),
    ROW("text_projection.*", NULL),
    ROW("logit_scale", NULL),
};
static const vit_layout_row hf_aimv2_block[] = {
    ROW("rms_norm1@", "norm1@"),
    QKV("attention.q_proj", "attention.k_proj", "attention.v_proj"),
    ROW("attention.out_proj@", "attn.proj@"),
    ROW("rms_norm2@", "norm2@"),
    GATED("ffn.gate_proj", "ffn.up_proj"),
    ROW("ffn.down_proj@", "mlp.fc2@"),
};

/* ---- torchvision ---- */

static const vit_layout_row torchvision_beside[] = {
    ROW("class_token", "cls_token"),           ROW("conv_proj@", "patch_embed.proj@"),
    ROW("encoder.pos_embedding", "pos_embed"), ROW("encoder.ln@", "norm@"),
    ROW("heads.pre_logits@", "pre_logits@"),   ROW("heads.head@", "head@"),
};
static const vit_layout_row torchvision_block[] = {
    ROW("ln_1@", "norm1@"),
    ROW("self_attention.in_proj_weight", "attn.qkv.weight"),
    ROW("self_attention.in_proj_bias", "attn.qkv.bias"),
    ROW("self_attention.out_proj@", "attn.proj@"),
    ROW("ln_2@", "norm2@"),
    ROW("mlp.0@", "mlp.fc1@"),
    ROW("mlp.linear_1@", "mlp.fc1@"),
    ROW("mlp.3@", "mlp.fc2@"),
    ROW("mlp.linear_2@", "mlp.fc2@"),
};

/* ---- Google's vision_transformer and big_vision: kernels are [in][out] ---- */

/* Flax calls the tensors of a dense layer and of a norm otherwise. */
#define DENSE(theirs, ours) \
    ROW_AS(theirs "/kernel", ours ".weight", TURNED), ROW(theirs "/bias", ours ".bias")
#define DENSE_PART(theirs, ours, i, n)                            \
    ROW_AS(theirs "/kernel", ours ".weight", TURNED, PART(i, n)), \
        ROW_AS(theirs "/bias", ours ".bias", PART(i, n))
#define SCALED(theirs, ours) ROW(theirs "/scale", ours ".weight"), ROW(theirs "/bias", ours ".bias")

#define MAP_ATTENTION "MAPHead_0/MultiHeadDotProductAttention_0"

static const vit_layout_row google_beside[] = {
    ROW("cls", "cls_token"),
    ROW("Transformer/posembed_input/pos_embedding", "pos_embed"),
    ROW("pos_embedding", "pos_embed"),
    ROW_AS("embedding/kernel", "patch_embed.proj.weight", .reshape = VIT_FROM_PIXELS),
    ROW("embedding/bias", "patch_embed.proj.bias"),
    SCALED("Transformer/encoder_norm", "norm"),
    DENSE("head", "head"),
    DENSE("pre_logits", "pre_logits"),
    ROW("txt/*", NULL), /* the text encoder */
    ROW("t", NULL),
    ROW("b", NULL),
    ROW("MAPHead_0/probe", "attn_pool.latent"),
    DENSE(MAP_ATTENTION "/query", "attn_pool.q"),
    DENSE_PART(MAP_ATTENTION "/key", "attn_pool.kv", 0, 2),
    DENSE_PART(MAP_ATTENTION "/value", "attn_pool.kv", 1, 2),
    DENSE(MAP_ATTENTION "/out", "attn_pool.proj"),
    SCALED("MAPHead_0/LayerNorm_0", "attn_pool.norm"),
    DENSE("MAPHead_0/MlpBlock_0/Dense_0", "attn_pool.mlp.fc1"),
    DENSE("MAPHead_0/MlpBlock_0/Dense_1", "attn_pool.mlp.fc2"),
};

/* Flax numbers the modules of a block; the two libraries count differently. */
#define GOOGLE_BLOCK(attention, norm2, mlp)                                                     \
    SCALED("LayerNorm_0", "norm1"), DENSE_PART(attention "/query", "attn.qkv", 0, 3),           \
        DENSE_PART(attention "/key", "attn.qkv", 1, 3),                                         \
        DENSE_PART(attention "/value", "attn.qkv", 2, 3), DENSE(attention "/out", "attn.proj"), \
        SCALED(norm2, "norm2"), DENSE(mlp "/Dense_0", "mlp.fc1"), DENSE(mlp "/Dense_1", "mlp.fc2")

static const vit_layout_row google_block[] = {
    GOOGLE_BLOCK("MultiHeadDotProductAttention_1", "LayerNorm_2", "MlpBlock_3")};
static const vit_layout_row big_vision_block[] = {
    GOOGLE_BLOCK("MultiHeadDotProductAttention_0", "LayerNorm_1", "MlpBlock_0")};

#include "vit/weights/layout/rows.inc"

/* ---- OpenCLIP's image encoder; its text encoder is not needed ---- */

#define OPEN_CLIP_TEXTS                                                                            \
    ROW("transformer.*", NULL), ROW("token_embedding.*", NULL), ROW("positional_embedding", NULL), \
        ROW("ln_final.*", NULL), ROW("text_projection", NULL), ROW("logit_scale", NULL),           \
        ROW("logit_bias", NULL), ROW("text.*", NULL), ROW("attn_mask", NULL)

static const vit_layout_row open_clip_beside[] = {
    ROW("visual.class_embedding", "cls_token"),
    ROW("visual.positional_embedding", "pos_embed"),
    ROW("visual.conv1.weight", "patch_embed.proj.weight"),
    ROW("visual.ln_pre@", "norm_pre@"),
    ROW("visual.ln_post@", "norm@"),
    ROW_AS("visual.proj", "head.weight", TURNED),
    OPEN_CLIP_TEXTS,
};
/* An image encoder that is timm's, with a projection that is the trunk's head, OpenCLIP's own, or
 * none. */
static const vit_layout_row open_clip_timm_beside[] = {TIMM_BESIDE, OPEN_CLIP_TEXTS};
static const vit_layout_row open_clip_timm_head[] = {
    ROW("visual.head.proj@", "head@"),
};
static const vit_layout_row open_clip_block[] = {
    ROW("ln_1@", "norm1@"),
    ROW("attn.in_proj_weight", "attn.qkv.weight"),
    ROW("attn.in_proj_bias", "attn.qkv.bias"),
    ROW("attn.out_proj@", "attn.proj@"),
    ROW("ls_1.gamma", "ls1.gamma"),
    ROW("ln_2@", "norm2@"),
    ROW("mlp.c_fc@", "mlp.fc1@"),
    ROW("mlp.c_proj@", "mlp.fc2@"),
    ROW("ls_2.gamma", "ls2.gamma"),
};

#define HF_TOWER                                                                 \
    .config = VIT_CONFIG_HF,                                                     \
    .positions = {VIT_POSITIONS_OF_HUGGING_FACE, VIT_POSITIONS_OF_HUGGING_FACE}, \
    .prefixes = {"vision_model."}, .blocks = {"encoder.layers.%."},              \
    .in_block = ROWS(hf_tower_block)

/* ---- text encoders; those of pictures beside them are other networks ---- */

static const vit_layout_row hf_texts_beside[] = {
    ROW("embeddings.token_embedding.weight", "embed.weight"),
    ROW("embeddings.position_embedding.weight", "pos_embed"),
    ROW("embeddings.position_ids", NULL),
    ROW("final_layer_norm@", "norm@"),
    ROW("head@", "head@"),
    ROW("text_projection.weight", "head.weight"),
    ROW("vision_model.*", NULL),
    ROW("visual_projection.*", NULL),
    ROW("logit_scale", NULL),
    ROW("logit_bias", NULL),
};
static const vit_layout_row open_clip_texts_beside[] = {
    ROW("token_embedding.weight", "embed.weight"),
    ROW("positional_embedding", "pos_embed"),
    ROW("ln_final@", "norm@"),
    ROW_AS("text_projection", "head.weight", TURNED),
    ROW("text_projection@", "head@"),
    ROW("visual.*", NULL),
    ROW("attn_mask", NULL),
    ROW("logit_scale", NULL),
    ROW("logit_bias", NULL),
};

const vit_layout vit_layouts[] = {
    {.name = "timm",
     .config = VIT_CONFIG_TIMM,
     .hint = "timm's, with \"architecture\", \"num_classes\", \"model_args\" and "
             "\"pretrained_cfg\"",
     .positions = {VIT_POSITIONS_OF_TIMM, VIT_POSITIONS_OF_TIMM},
     .names_norm = true,
     .pools_dist = true,
     .blocks = {"blocks.%.", "blocks.#.%."}, /* DINOv2's training has groups of blocks */
     .in_block = ROWS(timm_block),
     .beside = ROWS(timm_beside),
     .stems = {ROWS(timm_tokens), ROWS(dinov2_tokens), ROWS(dinov3_tokens)},
     .heads = {ROWS(timm_head), ROWS(timm_distilled_head)}},
    {.name = "timm, parallel blocks",
     .config = VIT_CONFIG_TIMM,
     .positions = {VIT_POSITIONS_OF_TIMM, VIT_POSITIONS_OF_TIMM},
     .names_norm = true,
     .blocks = {"blocks.%."},
     .in_block = ROWS(timm_parallel_block),
     .beside = ROWS(timm_beside),
     .stems = {ROWS(timm_tokens)},
     .heads = {ROWS(timm_head)}},
    {.name = "timm, NaFlexVit",
     .config = VIT_CONFIG_TIMM,
     .positions = {VIT_POSITIONS_OF_TIMM, VIT_POSITIONS_OF_TIMM},
     .names_norm = true,
     .blocks = {"blocks.%."},
     .in_block = ROWS(timm_block),
     .beside = ROWS(naflex_beside),
     .heads = {ROWS(timm_head)}},
    {.name = "Hugging Face",
     .config = VIT_CONFIG_HF,
     .hint = "the library's own, and preprocessor_config.json",
     .positions = {VIT_POSITIONS_OF_HUGGING_FACE, VIT_POSITIONS_OF_HUGGING_FACE},
     .wraps = true,
     .prefixes = {"vit.", "deit.", "dinov2.", "dinov2_with_registers.", "beit.", "data2vec_vision.",
                  "ijepa.", "vision_model."},
     .blocks = {"encoder.layer.%.", "layers.%."},
     .in_block = ROWS(hf_block),
     .beside = ROWS(hf_beside),
     .heads = {ROWS(hf_head), ROWS(hf_distilled_head)}},
    {.name = "Hugging Face DINOv3",
     .config = VIT_CONFIG_HF,
     .blocks = {"layer.%.", "model.layer.%."},
     .in_block = ROWS(hf_dinov3_block),
     .beside = ROWS(hf_dinov3_beside)},
    {.name = "Hugging Face DINOv3, gated",
     .config = VIT_CONFIG_HF,
     .blocks = {"layer.%.", "model.layer.%."},
     .in_block = ROWS(hf_dinov3_gated_block),
     .beside = ROWS(hf_dinov3_beside)},
    {.name = "Hugging Face TIPS v2",
     .config = VIT_CONFIG_HF,
     .prefixes = {"vision_encoder."},
     .blocks = {"blocks.%."},
     .in_block = ROWS(hf_tips_block),
     .beside = ROWS(hf_tips_beside)},
    {.name = "Hugging Face CLIP",
     HF_TOWER,
     .beside = ROWS(hf_clip_beside),
     .heads = {ROWS(hf_clip_head)}},
    {.name = "Hugging Face CLIP, classifier",
     HF_TOWER,
     .beside = ROWS(hf_clip_classifier_beside),
     .heads = {ROWS(hf_head)}},
    {.name = "Hugging Face SigLIP", HF_TOWER, .beside = ROWS(hf_siglip_beside)},
    {.name = "Hugging Face SigLIP, classifier",
     HF_TOWER,
     .beside = ROWS(hf_siglip_classifier_beside),
     .heads = {ROWS(hf_head)}},
    {.name = "Hugging Face AIMv2",
     .config = VIT_CONFIG_HF,
     .positions = {VIT_POSITIONS_OF_HUGGING_FACE, VIT_POSITIONS_OF_HUGGING_FACE},
     .prefixes = {"vision_model."},
     .blocks = {"encoder.layers.%."},
     .in_block = ROWS(hf_aimv2_block),
     .beside = ROWS(hf_aimv2_beside),
     .heads = {ROWS(hf_clip_head)}},
    {.name = "torchvision",
     .config = VIT_CONFIG_TORCHVISION,
     .hint = "{\"architecture\": \"torchvision\", \"num_heads\": 12, \"resize\": 256, "
             "\"crop\": 224}",
     .positions = {VIT_POSITIONS_OF_TORCHVISION, VIT_POSITIONS_OF_TORCHVISION},
     .blocks = {"encoder.layers.encoder_layer_%."},
     .in_block = ROWS(torchvision_block),
     .beside = ROWS(torchvision_beside)},
    {.name = "vit-pytorch",
     .config = VIT_CONFIG_LUCIDRAINS,
     .hint = "{\"architecture\": \"vit-pytorch\", \"image_size\": 28, \"patch_size\": 14, "
             "\"channels\": 1, \"heads\": 8, \"attention_scale\": \"dim\" or \"head_dim\", "
             "\"mean\": 0.5, \"std\": 0.5}",
     .heads_key = "heads",
     .positions = {VIT_POSITIONS_OF_TIMM, VIT_POSITIONS_OF_TIMM},
     .blocks = {"transformer.layers.%."},
     .in_block = ROWS(lucidrains_block),
     .beside = ROWS(lucidrains_beside),
     .stems = {ROWS(lucidrains_first_stem), ROWS(lucidrains_plain_stem),
               ROWS(lucidrains_normed_stem)},
     .heads = {ROWS(lucidrains_mlp_head), ROWS(lucidrains_normed_head),
               ROWS(lucidrains_normed_mlp_head), ROWS(lucidrains_linear_head)}},
    {.name = "Google",
     .config = VIT_CONFIG_TIMM,
     .usual = vit_google_config,
     .positions = {VIT_POSITIONS_OF_GOOGLE, VIT_POSITIONS_OF_TIMM_NPZ},
     .prefixes = {"opt/target/", "params/"},
     .blocks = {"Transformer/encoderblock_%/"},
     .in_block = ROWS(google_block),
     .beside = ROWS(google_beside)},
    {.name = "big_vision",
     .config = VIT_CONFIG_TIMM,
     .usual = vit_big_vision_config,
     .positions = {VIT_POSITIONS_OF_GOOGLE, VIT_POSITIONS_OF_TIMM_NPZ},
     .prefixes = {"params/img/", "params/"},
     .blocks = {"Transformer/encoderblock_%/"},
     .in_block = ROWS(big_vision_block),
     .beside = ROWS(google_beside)},
    {.name = "OpenCLIP",
     .config = VIT_CONFIG_OPEN_CLIP,
     .hint = "the library's own, open_clip_config.json",
     .positions = {VIT_POSITIONS_OF_TIMM, VIT_POSITIONS_OF_TIMM},
     .blocks = {"visual.transformer.resblocks.%."},
     .in_block = ROWS(open_clip_block),
     .beside = ROWS(open_clip_beside)},
    {.name = "OpenCLIP, timm",
     .config = VIT_CONFIG_OPEN_CLIP,
     .positions = {VIT_POSITIONS_OF_TIMM, VIT_POSITIONS_OF_TIMM},
     .names_norm = true,
     .prefixes = {"visual.trunk."},
     .blocks = {"blocks.%."},
     .in_block = ROWS(timm_block),
     .beside = ROWS(open_clip_timm_beside),
     .stems = {ROWS(timm_tokens)},
     .heads = {ROWS(timm_head), ROWS(open_clip_timm_head)}},
    {.name = "Hugging Face CLIP and SigLIP",
     .config = VIT_CONFIG_HF,
     .reads_texts = true,
     .prefixes = {"text_model."},
     .blocks = {"encoder.layers.%."},
     .in_block = ROWS(hf_tower_block),
     .beside = ROWS(hf_texts_beside)},
    {.name = "OpenCLIP's texts",
     .config = VIT_CONFIG_OPEN_CLIP,
     .reads_texts = true,
     .prefixes = {"text."},
     .blocks = {"transformer.resblocks.%."},
     .in_block = ROWS(open_clip_block),
     .beside = ROWS(open_clip_texts_beside)},
    {.name = "TrOCR",
     .config = VIT_CONFIG_HF,
     .decodes = true,
     .blocks = {"model.decoder.layers.%."},
     .in_block = ROWS(trocr_block),
     .beside = ROWS(trocr_beside)},
    {.name = "GPT-2",
     .config = VIT_CONFIG_HF,
     .decodes = true,
     .blocks = {"transformer.h.%."},
     .in_block = ROWS(gpt2_block),
     .beside = ROWS(gpt2_beside)},
};
const size_t vit_layout_count = sizeof vit_layouts / sizeof *vit_layouts;
