/* The nodes and constants of an ONNX graph, encoded as they are added. A value is a name: of a
 * node's output, of a constant, or of a weight, which vit/weights/export/onnx.c writes.
 *
 * https://onnx.ai/onnx/operators/, opset 17; field numbers: onnx.proto of the same project.
 */
#ifndef VIT_WEIGHTS_EXPORT_ONNX_NODE_H
#define VIT_WEIGHTS_EXPORT_ONNX_NODE_H

#include "vit/formats/protobuf.h"

/* onnx.proto's TensorProto.DataType. */
enum {
    VIT_ONNX_FLOAT = 1,
    VIT_ONNX_INT8 = 3,
    VIT_ONNX_INT64 = 7,
    VIT_ONNX_FLOAT16 = 10,
    VIT_ONNX_BFLOAT16 = 16
};

typedef struct vit_onnx_value {
    char name[80];
} vit_onnx_value;

typedef struct vit_onnx_nodes {
    vit_string nodes, constants; /* fields of a GraphProto; `failed`: memory ran out */
    const char *scope;           /* what names of values begin with: "", "blocks.0." */
    size_t count;                /* nodes */
    struct {
        char name[80];
    } known[64]; /* the constants that were added */
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

/* A node that is to be added. */
typedef struct vit_onnx_call {
    const char *op;
    vit_onnx_value inputs[VIT_ONNX_MOST];
    vit_onnx_attribute attributes[VIT_ONNX_MOST];
    size_t inputs_count, attributes_count;
} vit_onnx_call;

/* Adds the node and returns its output; or sets its outputs: [count]. */
vit_onnx_value vit_onnx_add(vit_onnx_nodes *g, const vit_onnx_call *call);
void vit_onnx_add_split(vit_onnx_nodes *g, const vit_onnx_call *call, vit_onnx_value *outputs,
                        size_t count);

/* The value `name` = x converted to the type. */
void vit_onnx_cast(vit_onnx_nodes *g, vit_onnx_value x, int type, const char *name);

/* The value `name` = x, 8-bit integers [in][out], as floats: column o times scales[o]. */
void vit_onnx_dequantize(vit_onnx_nodes *g, vit_onnx_value x, const float *scales, size_t out,
                         const char *name);

/* Common nodes: one or two inputs without attributes; Transpose by order: [count]; one input and
 * the attribute "axis". Each returns its output. */
vit_onnx_value vit_onnx_one(vit_onnx_nodes *g, const char *op, vit_onnx_value x);
vit_onnx_value vit_onnx_two(vit_onnx_nodes *g, const char *op, vit_onnx_value a, vit_onnx_value b);
vit_onnx_value vit_onnx_transpose(vit_onnx_nodes *g, vit_onnx_value x, size_t count,
                                  const int64_t *order);
vit_onnx_value vit_onnx_axis(vit_onnx_nodes *g, const char *op, vit_onnx_value x, int64_t axis);

/* The value with that name: a weight, or an input of the graph. */
vit_onnx_value vit_onnx_named(const char *name);

/* Constants: a number; a list of integers; a table: [rows][columns], whose shape is
 * [1][rows][columns]. Equal numbers and lists are stored once. Reshape: to `shape`: [count], where
 * 0 keeps a dimension. */
vit_onnx_value vit_onnx_number(vit_onnx_nodes *g, float number);
vit_onnx_value vit_onnx_list(vit_onnx_nodes *g, size_t count, const int64_t *list);
vit_onnx_value vit_onnx_table(vit_onnx_nodes *g, const char *name, const float *values, size_t rows,
                              size_t columns);
/* The same as a list, of any length, with a name of its own. */
vit_onnx_value vit_onnx_indices(vit_onnx_nodes *g, const char *name, size_t count,
                                const int64_t *list);
vit_onnx_value vit_onnx_reshape(vit_onnx_nodes *g, vit_onnx_value x, size_t count,
                                const int64_t *shape);

typedef struct vit_onnx_tensor {
    const char *name;
    int type;
    const size_t *shape; /* [dims] */
    size_t dims, size;   /* size: bytes of its elements */
} vit_onnx_tensor;

/* A TensorProto up to its elements, which the caller writes after it. */
void vit_onnx_tensor_head(vit_string *t, const vit_onnx_tensor *tensor);

/* One whose elements are in a file beside the graph, from `offset` on. */
void vit_onnx_tensor_elsewhere(vit_string *t, const vit_onnx_tensor *tensor, const char *file,
                               size_t offset);

#endif
