/* The network of a config as an ONNX graph: pixel_values, [batch][C][H][W], normalised as the
 * preprocessing says -> logits, [batch][classes]. */
#ifndef VIT_WEIGHTS_ONNX_GRAPH_H
#define VIT_WEIGHTS_ONNX_GRAPH_H

#include "vit/model/parameters.h"
#include "vit/weights/onnx_node.h"

#define VIT_ONNX_INPUT "pixel_values"
#define VIT_ONNX_OUTPUT "logits"

/* Adds the network's nodes and constants to *g. A weight has its name in the parameter table; those
 * of linear layers, [out][in] there, are expected as [in][out] if they have two dimensions. MEMORY.
 */
vit_status vit_onnx_network(vit_onnx_nodes *g, const vit_config *config, vit_error *error);

#endif
