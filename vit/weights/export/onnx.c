/* The ONNX file: the message ModelProto, written field by field; the graph's nodes are made in
 * onnx_graph.c. The weights come last, so that all before them is in memory and they are not. If
 * they are too large for a message, they are in a file beside it (external data). */
#include "vit/weights/export/onnx.h"
#include "vit/base/size.h"
#include "vit/base/sys.h"
#include "vit/ops/int8.h"
#include "vit/weights/export/onnx_graph.h"
#include <stdio.h>
#include <string.h>

/* Field numbers of ModelProto, OperatorSetIdProto, StringStringEntryProto, GraphProto,
 * ValueInfoProto and the types in it. */
enum {
    MODEL_IR = 1,
    MODEL_PRODUCER,
    MODEL_VERSION,
    MODEL_GRAPH = 7,
    MODEL_OPSET,
    MODEL_METADATA = 14
};
enum { OPSET_VERSION = 2, ENTRY_KEY = 1, ENTRY_VALUE };
enum { GRAPH_NAME = 2, GRAPH_INITIALIZER = 5, GRAPH_INPUT = 11, GRAPH_OUTPUT };
enum { INFO_NAME = 1, INFO_TYPE, TYPE_TENSOR = 1, TENSOR_ELEMENT = 1, TENSOR_SHAPE };
enum { SHAPE_DIM = 1, DIM_VALUE = 1, DIM_NAME };

enum { IR_VERSION = 8, OPSET = 17 }; /* those of ONNX 1.12 */
#define PAGE 4096 /* where weights in a file of their own begin, so that it can be mapped */

typedef struct onnx_file {
    const vit_model_file *model;
    vit_dtype dtype;
    vit_onnx_nodes nodes;
    char *data;        /* the file of the weights; NULL: they are the end of this one */
    vit_string before; /* the file up to its weights, or all of it */
    vit_writer *writer;
} onnx_file;

/* ---- what comes before the weights ---- */

static void add_dimension(vit_string *shape, size_t size, const char *name) {
    vit_string dimension = {0};
    if (name)
        vit_protobuf_string(&dimension, DIM_NAME, name);
    else
        vit_protobuf_int(&dimension, DIM_VALUE, (int64_t)size);
    vit_protobuf_message(shape, SHAPE_DIM, &dimension);
}

/* An input or output of the graph, of shape [batch][sizes...]. */
static void add_info(vit_string *graph, unsigned field, const char *name, const size_t *sizes,
                     size_t count) {
    vit_string shape = {0}, tensor = {0}, type = {0}, info = {0};
    add_dimension(&shape, 0, "batch");
    for (size_t i = 0; i < count; i++) add_dimension(&shape, sizes[i], NULL);
    vit_protobuf_int(&tensor, TENSOR_ELEMENT, VIT_ONNX_FLOAT);
    vit_protobuf_message(&tensor, TENSOR_SHAPE, &shape);
    vit_protobuf_message(&type, TYPE_TENSOR, &tensor);
    vit_protobuf_string(&info, INFO_NAME, name);
    vit_protobuf_message(&info, INFO_TYPE, &type);
    vit_protobuf_message(graph, field, &info);
}

static void add_metadata(vit_string *t, const char *key, const char *value) {
    vit_string entry = {0};
    vit_protobuf_string(&entry, ENTRY_KEY, key);
    vit_protobuf_string(&entry, ENTRY_VALUE, value);
    vit_protobuf_message(t, MODEL_METADATA, &entry);
}

/* The metadata of a model file. */
static void add_description(vit_string *t, const vit_model_file *m) {
    char *config = vit_config_write(&m->config);
    char *preprocessing = vit_preprocessing_write(&m->preprocessing);
    char *labels = m->labels ? vit_model_file_labels(m) : NULL;
    t->failed = t->failed || !config || !preprocessing || (m->labels && !labels);
    add_metadata(t, "vit.config", config ? config : "");
    add_metadata(t, "vit.preprocessing", preprocessing ? preprocessing : "");
    if (labels) add_metadata(t, "vit.labels", labels);
    add_metadata(t, "vit.recipe", m->recipe);
    vit_free(labels);
    vit_free(config);
    vit_free(preprocessing);
}

/* ---- weights ---- */

/* The types of stored weights; ending NULL: weights are not stored in it. */
static const struct {
    const char *ending; /* of the name */
    int onnx;
} types[] = {{NULL, 0},
             {"", VIT_ONNX_FLOAT},
             {"_f16", VIT_ONNX_FLOAT16},
             {"_bf16", VIT_ONNX_BFLOAT16},
             {NULL, 0},
             {NULL, 0},
             {NULL, 0},
             {"_i8", VIT_ONNX_INT8},
             {NULL, 0},
             {NULL, 0}};
VIT_CHECK_ROWS(types, VIT_DTYPE_COUNT);

/* [out][in], which is stored as [in][out]. */
static bool is_matrix(const vit_parameter *p) {
    return vit_is_weight(p) && p->dims == 2;
}

/* The type in which the weight is stored: only those of the blocks are rounded to 8 bits. */
static vit_dtype type_of(const onnx_file *f, const vit_parameter *p) {
    return f->dtype == VIT_I8 && !(p->rounds && is_matrix(p)) ? VIT_F32 : f->dtype;
}

/* Weights in 16 or 8 bits are stored under a name of their own; a node converts them to float32
 * under the name of the parameter table. */
static vit_onnx_value stored_name(const onnx_file *f, const vit_parameter *p) {
    char name[sizeof p->name + 8];
    snprintf(name, sizeof name, "%s%s", p->name, types[type_of(f, p)].ending);
    return vit_onnx_named(name);
}

/* integers: [out][in] of a weight of a block, scales: [out]. */
static void round_weight(int8_t *integers, float *scales, const onnx_file *f,
                         const vit_parameter *p) {
    const vit_model_file *m = f->model;
    const size_t out = p->shape[0];
    for (size_t o = 0; o < out; o++) scales[o] = m->scales ? m->scales[p->scale_offset + o] : -1;
    vit_int8_round(integers, scales, m->values + p->offset, out, p->count / out);
}

/* Adds the node that makes floats of a weight in 8 bits, with a scale for each output. */
static vit_status add_scales(onnx_file *f, const vit_parameter *p, vit_error *error) {
    const size_t out = p->shape[0];
    float *scales = vit_alloc_unset(out, sizeof *scales);
    int8_t *integers = vit_alloc_unset(p->count, sizeof *integers);
    if (scales && integers) {
        round_weight(integers, scales, f, p);
        vit_onnx_dequantize(&f->nodes, stored_name(f, p), scales, out, p->name);
    }
    const bool failed = !scales || !integers;
    vit_free(scales);
    vit_free(integers);
    return failed ? vit_fail_memory(error, "scales", p->count) : VIT_OK;
}

static size_t next_page(size_t at) {
    return (at + PAGE - 1) / PAGE * PAGE;
}

static size_t size_of(const onnx_file *f, const vit_parameter *p) {
    return p->count * vit_dtype_size(type_of(f, p));
}

/* The field of the graph that holds a weight, up to its elements, or says where in f->data they
 * are: from `offset` on. */
static void add_weight_head(vit_string *t, const onnx_file *f, const vit_parameter *p,
                            size_t offset) {
    const size_t turned[2] = {p->shape[1], p->shape[0]}, size = size_of(f, p);
    vit_onnx_tensor shown = {.name = stored_name(f, p).name,
                             .type = types[type_of(f, p)].onnx,
                             .shape = is_matrix(p) ? turned : p->shape,
                             .dims = p->dims,
                             .size = size};
    vit_string tensor = {0};
    if (f->data)
        vit_onnx_tensor_elsewhere(&tensor, &shown, vit_path_last(f->data), offset);
    else
        vit_onnx_tensor_head(&tensor, &shown);
    vit_protobuf_head(t, GRAPH_INITIALIZER, tensor.length + (f->data ? 0 : size));
    vit_string_add_bytes(t, tensor.text, tensor.length);
    t->failed = t->failed || tensor.failed;
    vit_string_free(&tensor);
}

/* to: [in][out], a weight in 8 bits; scratch: [count]. False: no memory. */
static bool turn_rounded(int8_t *to, int8_t *scratch, const onnx_file *f, const vit_parameter *p) {
    const size_t out = p->shape[0], in = p->count / out;
    float *scales = vit_alloc_unset(out, sizeof *scales);
    if (!scales) return false;
    round_weight(scratch, scales, f, p);
    for (size_t i = 0; i < in; i++)
        for (size_t o = 0; o < out; o++) to[i * out + o] = scratch[o * in + i];
    vit_free(scales);
    return true;
}

/* scratch: [of the largest tensor] each, for the transposed weight and for its stored elements. */
static vit_status write_weight(const onnx_file *f, const vit_parameter *p, float *scratch[2],
                               vit_error *error) {
    const size_t out = p->shape[0], in = p->count / out;
    const float *values = f->model->values + p->offset;
    const vit_dtype dtype = type_of(f, p);
    const void *elements = values;
    vit_string head = {0};
    if (dtype == VIT_I8) {
        elements = scratch[0];
        if (!turn_rounded((int8_t *)scratch[0], (int8_t *)scratch[1], f, p))
            return vit_fail_memory(error, "scales", out);
    } else if (is_matrix(p)) {
        for (size_t i = 0; i < in; i++)
            for (size_t o = 0; o < out; o++) scratch[0][i * out + o] = values[o * in + i];
        elements = values = scratch[0];
    }
    if (dtype != VIT_F32 && dtype != VIT_I8) {
        const size_t done = vit_tensor_encode(scratch[1], dtype, values, p->count);
        elements = scratch[1];
        if (done < p->count)
            return vit_fail(error, VIT_ERROR_UNSUPPORTED,
                            "tensor %s: an element is %g, which float16 cannot hold: use bf16 or "
                            "f32",
                            p->name, (double)values[done]);
    }
    if (!f->data) add_weight_head(&head, f, p, 0);
    vit_status status = head.failed ? vit_fail_memory(error, "a tensor", 0)
                                    : vit_writer_put(f->writer, head.text, head.length, error);
    if (status == VIT_OK)
        status = vit_writer_put(f->writer, elements, p->count * vit_dtype_size(dtype), error);
    vit_string_free(&head);
    return status;
}

static vit_status write_weights(const onnx_file *f, vit_error *error) {
    const vit_table *table = &f->model->table;
    size_t most = 0;
    for (size_t i = 0; i < table->count; i++)
        most = table->rows[i].count > most ? table->rows[i].count : most;
    float *scratch[2] = {vit_alloc_unset(most, sizeof(float)),
                         vit_alloc_unset(most, sizeof(float))};
    vit_status status = scratch[0] && scratch[1]
                            ? VIT_OK
                            : vit_fail_memory(error, "a tensor", 2 * most * sizeof(float));
    for (size_t i = 0, at = 0; i < table->count && status == VIT_OK; i++) {
        static const char zeros[PAGE];
        const size_t from = f->data ? next_page(at) : at;
        status = vit_writer_put(f->writer, zeros, from - at, error);
        if (status == VIT_OK) status = write_weight(f, &table->rows[i], scratch, error);
        at = from + size_of(f, &table->rows[i]);
    }
    vit_free(scratch[0]);
    vit_free(scratch[1]);
    return status;
}

/* ---- the whole ---- */

/* heads = the fields of all weights up to their elements; returns the bytes that these add. */
static size_t add_heads(vit_string *heads, const onnx_file *f) {
    size_t at = 0, size = 0;
    for (size_t i = 0; i < f->model->table.count; i++) {
        const vit_parameter *p = &f->model->table.rows[i];
        at = next_page(at);
        add_weight_head(heads, f, p, at);
        at += size_of(f, p);
        size += size_of(f, p);
    }
    return f->data ? 0 : size;
}

/* Makes f->before: the metadata, then the graph up to its weights, or with all of them that says
 * where they are; *size = the bytes of the whole file. */
static vit_status plan(size_t *size, onnx_file *f, vit_error *error) {
    const vit_config *c = &f->model->config;
    const size_t pixels[] = {c->channels, c->height, c->width};
    vit_string graph = {0}, opset = {0}, heads = {0};
    size_t weights = add_heads(&heads, f);
    if (!f->data) weights += heads.length;
    vit_protobuf_string(&graph, GRAPH_NAME, "vit");
    add_info(&graph, GRAPH_INPUT, VIT_ONNX_INPUT, pixels, 3);
    add_info(&graph, GRAPH_OUTPUT, VIT_ONNX_OUTPUT, &c->classes, 1);
    vit_string_add_bytes(&graph, f->nodes.nodes.text, f->nodes.nodes.length);
    vit_string_add_bytes(&graph, f->nodes.constants.text, f->nodes.constants.length);
    if (f->data) vit_string_add_bytes(&graph, heads.text, heads.length);
    vit_protobuf_int(&f->before, MODEL_IR, IR_VERSION);
    vit_protobuf_string(&f->before, MODEL_PRODUCER, "vit");
    vit_protobuf_string(&f->before, MODEL_VERSION, VIT_VERSION);
    vit_protobuf_int(&opset, OPSET_VERSION, OPSET);
    vit_protobuf_message(&f->before, MODEL_OPSET, &opset);
    add_description(&f->before, f->model);
    vit_protobuf_head(&f->before, MODEL_GRAPH, graph.length + weights);
    vit_string_add_bytes(&f->before, graph.text, graph.length);
    const bool failed = heads.failed || graph.failed || f->before.failed;
    vit_string_free(&heads);
    vit_string_free(&graph);
    if (failed) return vit_fail_memory(error, "an ONNX graph", 0);
    *size = f->before.length + weights;
    return VIT_OK;
}

/* Plans one file, or two if it were larger than `largest`. */
static vit_status plan_files(onnx_file *f, const char *path, size_t largest, vit_error *error) {
    size_t size;
    vit_string data = {0};
    vit_status status = plan(&size, f, error);
    if (status != VIT_OK || size <= largest) return status;
    vit_string_free(&f->before);
    vit_string_add(&data, "%s.data", path);
    f->data = data.text;
    if (data.failed) return vit_fail_memory(error, "a path", strlen(path));
    status = plan(&size, f, error);
    if (status != VIT_OK || size <= largest) return status;
    return vit_fail(error, VIT_ERROR_UNSUPPORTED,
                    "%s would have %zu bytes beside its weights, an ONNX file has at most %zu",
                    path, size, largest);
}

/* Writes the weights in their file. The graph that is there belongs to other weights, and goes
 * before these appear. */
static vit_status write_data(onnx_file *f, const char *path, vit_error *error) {
    vit_status status = vit_writer_open(&f->writer, f->data, error);
    if (status == VIT_OK) status = write_weights(f, error);
    if (status == VIT_OK && vit_path_look(path) == VIT_PATH_FILE &&
        vit_path_look(f->data) == VIT_PATH_FILE)
        status = vit_remove_file(path, error);
    if (status == VIT_OK)
        status = vit_writer_commit(f->writer, error);
    else
        vit_writer_abort(f->writer);
    f->writer = NULL;
    return status;
}

static vit_status write_graph(onnx_file *f, const char *path, vit_error *error) {
    vit_status status = vit_writer_open(&f->writer, path, error);
    if (status == VIT_OK)
        status = vit_writer_put(f->writer, f->before.text, f->before.length, error);
    if (status == VIT_OK && !f->data) status = write_weights(f, error);
    if (status == VIT_OK)
        status = vit_writer_commit(f->writer, error);
    else
        vit_writer_abort(f->writer);
    return status;
}

vit_status vit_onnx_write(const char *path, const vit_model_file *m, vit_dtype dtype,
                          size_t largest, vit_error *error) {
    onnx_file f = {.model = m, .dtype = dtype, .nodes.scope = ""};
    vit_status status = VIT_OK;
    for (size_t i = 0; i < m->table.count && status == VIT_OK; i++) {
        const vit_parameter *p = &m->table.rows[i];
        if (type_of(&f, p) == VIT_I8)
            status = add_scales(&f, p, error);
        else if (type_of(&f, p) != VIT_F32)
            vit_onnx_cast(&f.nodes, stored_name(&f, p), VIT_ONNX_FLOAT, p->name);
    }
    if (status == VIT_OK) status = vit_onnx_network(&f.nodes, &m->config, error);
    if (status == VIT_OK) status = plan_files(&f, path, largest, error);
    if (status == VIT_OK && f.data) status = write_data(&f, path, error);
    if (status == VIT_OK) status = write_graph(&f, path, error);
    vit_free(f.data);
    vit_string_free(&f.nodes.nodes);
    vit_string_free(&f.nodes.constants);
    vit_string_free(&f.before);
    return status;
}
