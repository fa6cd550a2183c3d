/* The nodes and constants of an ONNX graph, written as they are added. A value is the name of what
 * a node gives, of a constant, or of a weight (vit/weights/onnx.c writes these).
 *
 * https://onnx.ai/onnx/operators/, opset 17; field numbers: onnx.proto of the same project.
 */
#ifndef VIT_WEIGHTS_ONNX_NODE_H
#define VIT_WEIGHTS_ONNX_NODE_H

#include "vit/base/protobuf.h"

/* onnx.proto's TensorProto.DataType. */
enum { VIT_ONNX_FLOAT = 1, VIT_ONNX_INT64 = 7, VIT_ONNX_FLOAT16 = 10, VIT_ONNX_BFLOAT16 = 16 };

typedef struct vit_onnx_value {
    char name[80];
} vit_onnx_value;

typedef struct vit_onnx_nodes {
    vit_text nodes, constants; /* fields of a GraphProto; `failed` says that memory ran out */
    const char *scope;         /* the names of values begin with it: "", "blocks.0." */
    size_t count;              /* of nodes */
    struct {
        char name[80];
    } known[64]; /* constants there are */
    size_t known_count;
} vit_onnx_nodes;

/* An attribute of a node: an integer, a float, or integers. */
typedef struct vit_onnx_attribute {
    const char *name;
    enum { VIT_ONNX_ONE = 2, VIT_ONNX_REAL = 1, VIT_ONNX_LIST = 7 } type; /* AttributeProto's */
    int64_t one;
    float real;
    int64_t list[8];
    size_t count; /* LIST */
} vit_onnx_attribute;

#define VIT_ONNX_MOST 4

/* A node to be: inputs, attributes and outputs in their order. */
typedef struct vit_onnx_call {
    const char *op;
    vit_onnx_value inputs[VIT_ONNX_MOST];
    vit_onnx_attribute attributes[VIT_ONNX_MOST];
    size_t inputs_count, attributes_count;
} vit_onnx_call;

/* Adds the node and returns its output; or its outputs, [count]. */
vit_onnx_value vit_onnx_add(vit_onnx_nodes *g, const vit_onnx_call *call);
void vit_onnx_add_split(vit_onnx_nodes *g, const vit_onnx_call *call, vit_onnx_value *outputs,
                        size_t count);

/* `name` becomes x with elements of another type, or of its own. */
void vit_onnx_cast(vit_onnx_nodes *g, vit_onnx_value x, int type, const char *name);

/* The common cases: no attributes, one or two inputs; and one list as attribute. */
vit_onnx_value vit_onnx_one(vit_onnx_nodes *g, const char *op, vit_onnx_value x);
vit_onnx_value vit_onnx_two(vit_onnx_nodes *g, const char *op, vit_onnx_value a, vit_onnx_value b);
vit_onnx_value vit_onnx_transpose(vit_onnx_nodes *g, vit_onnx_value x, size_t count,
                                  const int64_t *order);
vit_onnx_value vit_onnx_axis(vit_onnx_nodes *g, const char *op, vit_onnx_value x, int64_t axis);

/* A weight, or a graph's input, by its name. */
vit_onnx_value vit_onnx_named(const char *name);

/* Constants: a number, a list of integers (of shapes: 0 is "as it was"), a table. Equal numbers and
 * lists are stored once. */
vit_onnx_value vit_onnx_number(vit_onnx_nodes *g, float number);
vit_onnx_value vit_onnx_list(vit_onnx_nodes *g, size_t count, const int64_t *list);
vit_onnx_value vit_onnx_table(vit_onnx_nodes *g, const char *name, const float *values, size_t rows,
                              size_t columns);
vit_onnx_value vit_onnx_reshape(vit_onnx_nodes *g, vit_onnx_value x, size_t count,
                                const int64_t *shape);

/* Everything of a TensorProto but its elements, which follow: `size` bytes. */
void vit_onnx_tensor_head(vit_text *t, const char *name, int type, const size_t *shape, size_t dims,
                          size_t size);

#endif
