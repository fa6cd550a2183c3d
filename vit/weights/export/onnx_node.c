#include "vit/weights/export/onnx_node.h"
#include <stdio.h>
#include <string.h>

/* Field numbers of GraphProto, NodeProto, AttributeProto, TensorProto. */
enum { GRAPH_NODE = 1, GRAPH_INITIALIZER = 5 };
enum { NODE_INPUT = 1, NODE_OUTPUT, NODE_NAME, NODE_OP, NODE_ATTRIBUTE };
enum { ATTRIBUTE_NAME = 1, ATTRIBUTE_F, ATTRIBUTE_I, ATTRIBUTE_INTS = 8, ATTRIBUTE_TYPE = 20 };
enum {
    TENSOR_DIMS = 1,
    TENSOR_TYPE,
    TENSOR_NAME = 8,
    TENSOR_RAW,
    TENSOR_EXTERNAL = 13,
    TENSOR_LOCATION
};
enum { ENTRY_KEY = 1, ENTRY_VALUE, LOCATION_EXTERNAL = 1 };

typedef vit_onnx_value value;

/* ---- nodes ---- */

static void add_attribute(vit_string *node, const vit_onnx_attribute *a) {
    vit_string t = {0};
    vit_protobuf_string(&t, ATTRIBUTE_NAME, a->name);
    if (a->type == VIT_ONNX_ONE) vit_protobuf_int(&t, ATTRIBUTE_I, a->one);
    if (a->type == VIT_ONNX_REAL) vit_protobuf_float(&t, ATTRIBUTE_F, a->real);
    for (size_t i = 0; a->type == VIT_ONNX_LIST && i < a->count; i++)
        vit_protobuf_int(&t, ATTRIBUTE_INTS, a->list[i]);
    vit_protobuf_int(&t, ATTRIBUTE_TYPE, a->type);
    vit_protobuf_message(node, NODE_ATTRIBUTE, &t);
}

static void write_node(vit_onnx_nodes *g, const vit_onnx_call *call, const value *outputs,
                       size_t outputs_count) {
    vit_string node = {0};
    for (size_t i = 0; i < call->inputs_count; i++)
        vit_protobuf_string(&node, NODE_INPUT, call->inputs[i].name);
    for (size_t i = 0; i < outputs_count; i++)
        vit_protobuf_string(&node, NODE_OUTPUT, outputs[i].name);
    vit_protobuf_string(&node, NODE_NAME, outputs[0].name);
    vit_protobuf_string(&node, NODE_OP, call->op);
    for (size_t i = 0; i < call->attributes_count; i++) add_attribute(&node, &call->attributes[i]);
    vit_protobuf_message(&g->nodes, GRAPH_NODE, &node);
}

void vit_onnx_add_split(vit_onnx_nodes *g, const vit_onnx_call *call, value *outputs,
                        size_t count) {
    for (size_t i = 0; i < count; i++) {
        char part[24] = "";
        if (i > 0) snprintf(part, sizeof part, "_%zu", i);
        snprintf(outputs[i].name, sizeof outputs[i].name, "%s%s_%zu%s", g->scope, call->op,
                 g->count, part);
    }
    g->count++;
    write_node(g, call, outputs, count);
}

value vit_onnx_add(vit_onnx_nodes *g, const vit_onnx_call *call) {
    value output;
    vit_onnx_add_split(g, call, &output, 1);
    return output;
}

value vit_onnx_one(vit_onnx_nodes *g, const char *op, value x) {
    return vit_onnx_add(g, &(vit_onnx_call){.op = op, .inputs = {x}, .inputs_count = 1});
}

value vit_onnx_two(vit_onnx_nodes *g, const char *op, value a, value b) {
    return vit_onnx_add(g, &(vit_onnx_call){.op = op, .inputs = {a, b}, .inputs_count = 2});
}

void vit_onnx_cast(vit_onnx_nodes *g, value x, int type, const char *name) {
    const vit_onnx_call call = {.op = "Cast",
                                .inputs = {x},
                                .inputs_count = 1,
                                .attributes = {{"to", VIT_ONNX_ONE, .one = type}},
                                .attributes_count = 1};
    const value output = vit_onnx_named(name);
    write_node(g, &call, &output, 1);
}

value vit_onnx_axis(vit_onnx_nodes *g, const char *op, value x, int64_t axis) {
    return vit_onnx_add(g, &(vit_onnx_call){.op = op,
                                            .inputs = {x},
                                            .inputs_count = 1,
                                            .attributes = {{"axis", VIT_ONNX_ONE, .one = axis}},
                                            .attributes_count = 1});
}

value vit_onnx_transpose(vit_onnx_nodes *g, value x, size_t count, const int64_t *order) {
    vit_onnx_call call = {.op = "Transpose",
                          .inputs = {x},
                          .inputs_count = 1,
                          .attributes = {{"perm", VIT_ONNX_LIST, .count = count}},
                          .attributes_count = 1};
    memcpy(call.attributes[0].list, order, count * sizeof *order);
    return vit_onnx_add(g, &call);
}

value vit_onnx_reshape(vit_onnx_nodes *g, value x, size_t count, const int64_t *shape) {
    return vit_onnx_two(g, "Reshape", x, vit_onnx_list(g, count, shape));
}

/* ---- constants ---- */

value vit_onnx_named(const char *name) {
    value v;
    snprintf(v.name, sizeof v.name, "%s", name);
    return v;
}

static void describe_tensor(vit_string *t, const vit_onnx_tensor *tensor) {
    for (size_t i = 0; i < tensor->dims; i++)
        vit_protobuf_int(t, TENSOR_DIMS, (int64_t)tensor->shape[i]);
    vit_protobuf_int(t, TENSOR_TYPE, tensor->type);
    vit_protobuf_string(t, TENSOR_NAME, tensor->name);
}

void vit_onnx_tensor_head(vit_string *t, const vit_onnx_tensor *tensor) {
    describe_tensor(t, tensor);
    vit_protobuf_head(t, TENSOR_RAW, tensor->size);
}

static void add_entry(vit_string *t, const char *key, const char *text) {
    vit_string entry = {0};
    vit_protobuf_string(&entry, ENTRY_KEY, key);
    vit_protobuf_string(&entry, ENTRY_VALUE, text);
    vit_protobuf_message(t, TENSOR_EXTERNAL, &entry);
}

void vit_onnx_tensor_elsewhere(vit_string *t, const vit_onnx_tensor *tensor, const char *file,
                               size_t offset) {
    char number[32];
    describe_tensor(t, tensor);
    add_entry(t, "location", file);
    snprintf(number, sizeof number, "%zu", offset);
    add_entry(t, "offset", number);
    snprintf(number, sizeof number, "%zu", tensor->size);
    add_entry(t, "length", number);
    vit_protobuf_int(t, TENSOR_LOCATION, LOCATION_EXTERNAL);
}

static void add_constant(vit_onnx_nodes *g, const char *name, int type, const size_t *shape,
                         size_t dims, const void *bytes, size_t size) {
    vit_string t = {0};
    vit_onnx_tensor_head(&t, &(vit_onnx_tensor){name, type, shape, dims, size});
    vit_string_add_bytes(&t, bytes, size);
    vit_protobuf_message(&g->constants, GRAPH_INITIALIZER, &t);
}

/* Whether a constant of that name was added; if not, it is noted. */
static bool is_known(vit_onnx_nodes *g, const char *name) {
    for (size_t i = 0; i < g->known_count; i++)
        if (strcmp(g->known[i].name, name) == 0) return true;
    if (g->known_count == sizeof g->known / sizeof *g->known) {
        g->nodes.failed = true; /* does not happen: networks have some twenty */
        return true;
    }
    snprintf(g->known[g->known_count++].name, sizeof g->known->name, "%s", name);
    return false;
}

value vit_onnx_number(vit_onnx_nodes *g, float number) {
    char text[32];
    value v;
    snprintf(v.name, sizeof v.name, "number_%s", vit_format_float(text, number));
    if (!is_known(g, v.name))
        add_constant(g, v.name, VIT_ONNX_FLOAT, NULL, 0, &number, sizeof number);
    return v;
}

value vit_onnx_list(vit_onnx_nodes *g, size_t count, const int64_t *list) {
    value v = vit_onnx_named("list");
    for (size_t i = 0; i < count; i++) {
        const size_t used = strlen(v.name);
        snprintf(v.name + used, sizeof v.name - used, "_%lld", (long long)list[i]);
    }
    if (!is_known(g, v.name))
        add_constant(g, v.name, VIT_ONNX_INT64, &count, 1, list, count * sizeof *list);
    return v;
}

value vit_onnx_indices(vit_onnx_nodes *g, const char *name, size_t count, const int64_t *list) {
    if (!is_known(g, name))
        add_constant(g, name, VIT_ONNX_INT64, &count, 1, list, count * sizeof *list);
    return vit_onnx_named(name);
}

void vit_onnx_dequantize(vit_onnx_nodes *g, value x, const float *scales, size_t out,
                         const char *name) {
    char scale[sizeof x.name];
    snprintf(scale, sizeof scale, "%.70s_scale", name);
    add_constant(g, scale, VIT_ONNX_FLOAT, &out, 1, scales, out * sizeof *scales);
    const vit_onnx_call call = {.op = "DequantizeLinear",
                                .inputs = {x, vit_onnx_named(scale)},
                                .inputs_count = 2,
                                .attributes = {{"axis", VIT_ONNX_ONE, .one = 1}},
                                .attributes_count = 1};
    const value output = vit_onnx_named(name);
    write_node(g, &call, &output, 1);
}

value vit_onnx_table(vit_onnx_nodes *g, const char *name, const float *values, size_t rows,
                     size_t columns) {
    const size_t shape[3] = {1, rows, columns};
    add_constant(g, name, VIT_ONNX_FLOAT, shape, 3, values, rows * columns * sizeof *values);
    return vit_onnx_named(name);
}
