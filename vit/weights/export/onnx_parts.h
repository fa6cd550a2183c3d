/* What the files share that write a network as an ONNX graph. */
#ifndef VIT_WEIGHTS_EXPORT_ONNX_PARTS_H
#define VIT_WEIGHTS_EXPORT_ONNX_PARTS_H

#include "vit/model/parameters.h"
#include "vit/weights/export/onnx_node.h"

typedef struct vit_onnx_builder {
    vit_onnx_nodes *nodes;
    const vit_config *config;
    char scope[32];                /* of the block: "blocks.3." */
    vit_onnx_value index;          /* of a relative position bias, [T T] rows of its table */
    vit_onnx_value places, none;   /* what an MLP makes that table of; its rows of a class token */
    vit_onnx_value cosines, sines; /* of the block's rotary positions, [T][heads or 1][d / 2] */
} vit_onnx_builder;

/* A weight in the scope: "attn.proj", ".bias". A linear layer. Equal parts of the last dimension.
 * Parts along an axis. */
vit_onnx_value vit_onnx_weight(const vit_onnx_builder *n, const char *layer, const char *part);
vit_onnx_value vit_onnx_linear(vit_onnx_builder *n, vit_onnx_value x, const char *layer, bool bias);
void vit_onnx_split(vit_onnx_builder *n, vit_onnx_value x, vit_onnx_value *parts, size_t count);
vit_onnx_value vit_onnx_concat(vit_onnx_builder *n, const vit_onnx_value *parts, size_t count,
                               int64_t axis);

/* ---- onnx_positions.c ---- */

/* Sets n->cosines and n->sines, of fixed angles; of learned frequencies, *out = the coordinates of
 * the patches, [1][T][2], then those of block i. Errors: MEMORY. */
vit_status vit_onnx_fixed_rope(vit_onnx_builder *n, vit_error *error);
vit_status vit_onnx_rope_grid(vit_onnx_builder *n, vit_onnx_value *out, vit_error *error);
void vit_onnx_mixed_rope(vit_onnx_builder *n, vit_onnx_value grid, size_t i);

/* x: [batch][rows][heads][d], turned. */
vit_onnx_value vit_onnx_turn(vit_onnx_builder *n, vit_onnx_value x);

/* Sets n->index, and n->places. Errors: MEMORY. */
vit_status vit_onnx_relative_index(vit_onnx_builder *n, vit_error *error);

/* The block's relative position bias: [1][heads][T][T] */
vit_onnx_value vit_onnx_relative_bias(vit_onnx_builder *n);

#endif
