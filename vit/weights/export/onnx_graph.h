/* The network of a config as an ONNX graph, from pixel_values: [batch][C][H][W], normalised as the
 * preprocessing says, to logits: [batch][classes]. */
#ifndef VIT_WEIGHTS_EXPORT_ONNX_GRAPH_H
#define VIT_WEIGHTS_EXPORT_ONNX_GRAPH_H

#include "vit/model/parameters.h"
#include "vit/weights/export/onnx_node.h"

#define VIT_ONNX_INPUT "pixel_values"
#define VIT_ONNX_OUTPUT "logits"

/* Appends the network's nodes and constants to *g. Weights have the names of the parameter table;
 * those of linear layers, [out][in] there, must be stored as [in][out] if they have two dimensions.
 * Errors: MEMORY.
 */
vit_status vit_onnx_network(vit_onnx_nodes *g, const vit_config *config, vit_error *error);

#endif
