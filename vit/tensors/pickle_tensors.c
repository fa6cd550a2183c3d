/* A part of pickle.c: the classes and functions of a dictionary of tensors, or of NumPy's arrays.
 */
#include "vit/tensors/pickle_machine.h"

#include <stdio.h>
#include <string.h>

typedef vit_pickle_value value;

/* ---- classes and functions ---- */

enum {
    ORDERED_DICT,
    REBUILD_TENSOR,
    REBUILD_PARAMETER,
    NUMPY_ARRAY,
    NUMPY_TYPE,
    SETTINGS,
    STORAGES
};

static const struct {
    const char *name;
    int64_t index; /* STORAGES + the type of its elements for a storage */
} globals[] = {
    {"collections.OrderedDict", ORDERED_DICT},
    {"torch._utils._rebuild_tensor", REBUILD_TENSOR},
    {"torch._utils._rebuild_tensor_v2", REBUILD_TENSOR},
    {"torch._utils._rebuild_parameter", REBUILD_PARAMETER},
    {"numpy.core.multiarray._reconstruct", NUMPY_ARRAY},
    {"numpy._core.multiarray._reconstruct", NUMPY_ARRAY},
    {"numpy.dtype", NUMPY_TYPE},
    {"torch.DoubleStorage", STORAGES + VIT_F64},
    {"torch.FloatStorage", STORAGES + VIT_F32},
    {"torch.HalfStorage", STORAGES + VIT_F16},
    {"torch.BFloat16Storage", STORAGES + VIT_BF16},
    {"torch.LongStorage", STORAGES + VIT_I64},
    {"torch.IntStorage", STORAGES + VIT_I32},
    {"torch.ShortStorage", STORAGES + VIT_I16},
    {"torch.CharStorage", STORAGES + VIT_I8},
    {"torch.ByteStorage", STORAGES + VIT_U8},
    {"torch.BoolStorage", STORAGES + VIT_BOOL},
};

/* Classes and functions that training programs store beside the weights: settings, paths, dates,
 * NumPy numbers. They are not called either; their contents are ignored. A final '.' stands for
 * everything in the module. */
static const char *const settings[] = {
    "argparse.Namespace",
    "_codecs.encode",
    "collections.defaultdict",
    "collections.Counter",
    "collections.deque",
    "copy_reg._reconstructor",
    "copyreg._reconstructor",
    "datetime.",
    "functools.partial",
    "pathlib.",
    "types.SimpleNamespace",
    "typing.",
    "numpy.",
    "torch.device",
    "torch.Size",
    "torch.float64",
    "torch.float32",
    "torch.float16",
    "torch.bfloat16",
    "torch.int64",
    "torch.int32",
    "torch.uint8",
    "torch.bool",
    "torch.optim.",
    "__builtin__.set",
    "builtins.set",
    "__builtin__.frozenset",
    "builtins.frozenset",
    "__builtin__.dict",
    "builtins.dict",
    "__builtin__.list",
    "builtins.list",
    "__builtin__.tuple",
    "builtins.tuple",
    "__builtin__.int",
    "builtins.int",
    "__builtin__.long",
    "builtins.long",
    "__builtin__.float",
    "builtins.float",
    "__builtin__.bool",
    "builtins.bool",
    "__builtin__.str",
    "builtins.str",
    "__builtin__.unicode",
    "builtins.unicode",
    "__builtin__.object",
    "builtins.object",
    "fastai.",
    "fastcore.",
    "lightning.",
    "lightning_fabric.",
    "pytorch_lightning.",
    "omegaconf.",
    "yacs.config.",
    "ml_collections.",
    "easydict.",
    "transformers.",
};

static bool is_settings(const char *full) {
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
        const size_t length = strlen(settings[i]);
        const bool module = settings[i][length - 1] == '.';
        if (module ? strncmp(full, settings[i], length) == 0 : strcmp(full, settings[i]) == 0)
            return true;
    }
    return false;
}

vit_status vit_pickle_push_global(vit_pickle *p, const char *module, size_t module_length,
                                  const char *name, size_t length) {
    char full[160] = "a name that is too long";
    if (module_length + length + 2 <= sizeof full)
        snprintf(full, sizeof full, "%.*s.%.*s", (int)module_length, module, (int)length, name);
    for (size_t i = 0; i < sizeof globals / sizeof *globals; i++)
        if (strcmp(full, globals[i].name) == 0)
            return vit_pickle_push(p,
                                   (value){.kind = VIT_PICKLE_GLOBAL, .index = globals[i].index});
    if (is_settings(full))
        return vit_pickle_push(p, (value){.kind = VIT_PICKLE_GLOBAL, .index = SETTINGS});
    return vit_fail(p->error, VIT_ERROR_UNSUPPORTED,
                    "the pickle asks for %s, which a dictionary of tensors does not need and "
                    "which is not run: in Python, save the model's state_dict() alone, or write "
                    "safetensors",
                    full);
}

/* ---- tensors ---- */

/* ('storage', class, key, device, number of elements) */
static bool is_storage(const vit_pickle *p, value tuple) {
    if (tuple.kind != VIT_PICKLE_TUPLE || tuple.length != 5) return false;
    const value *e = vit_pickle_element(p, tuple, 0);
    return e[0].kind == VIT_PICKLE_TEXT && e[0].length == 7 &&
           memcmp(vit_pickle_text(p, e[0]), "storage", 7) == 0 && e[1].kind == VIT_PICKLE_GLOBAL &&
           e[1].index >= STORAGES && e[2].kind == VIT_PICKLE_TEXT &&
           e[4].kind == VIT_PICKLE_NUMBER && e[4].index >= 0;
}

vit_status vit_pickle_push_storage(vit_pickle *p) {
    vit_status status;
    const value *tuple = vit_pickle_last(p, 1, &status);
    if (!tuple) return status;
    if (!is_storage(p, *tuple))
        return vit_pickle_damaged(p, "a persistent object is not a storage as PyTorch writes it");
    const value *e = vit_pickle_element(p, *tuple, 0);
    const vit_pickle_storage storage = {.dtype = (vit_dtype)(e[1].index - STORAGES),
                                        .key = vit_pickle_text(p, e[2]),
                                        .key_length = e[2].length,
                                        .count = (size_t)e[4].index};
    p->stack.count--;
    return vit_pickle_push_new(p, VIT_PICKLE_STORAGE, &p->storages, &storage, sizeof storage);
}

static bool read_sizes(const vit_pickle *p, value tuple, size_t sizes[VIT_MAX_DIMS]) {
    if (tuple.kind != VIT_PICKLE_TUPLE || tuple.length > VIT_MAX_DIMS) return false;
    for (size_t i = 0; i < tuple.length; i++) {
        const value *e = vit_pickle_element(p, tuple, i);
        if (e->kind != VIT_PICKLE_NUMBER || e->index < 0) return false;
        sizes[i] = (size_t)e->index;
    }
    return true;
}

/* (storage, offset, shape, strides[, requires_grad, hooks[, metadata]]) */
static bool read_view(const vit_pickle *p, value args, vit_pickle_tensor *t) {
    if (args.length < 4 || args.length > 7) return false;
    const value *e = vit_pickle_element(p, args, 0);
    if (e[0].kind != VIT_PICKLE_STORAGE || e[1].kind != VIT_PICKLE_NUMBER || e[1].index < 0 ||
        !read_sizes(p, e[2], t->shape) || !read_sizes(p, e[3], t->strides) ||
        e[2].length != e[3].length)
        return false;
    t->storage = ((const vit_pickle_storage *)p->storages.items)[e[0].index];
    t->offset = (size_t)e[1].index;
    t->dims = e[2].length;
    return true;
}

static vit_status rebuild_tensor(vit_pickle *p, value args) {
    vit_pickle_tensor t = {0};
    if (!read_view(p, args, &t))
        return vit_pickle_damaged(
            p, "a tensor has other parts than storage, offset, shape and strides of at "
               "most 8 dimensions");
    const value metadata =
        args.length == 7 ? *vit_pickle_element(p, args, 6) : (value){.kind = VIT_PICKLE_OTHER};
    const bool is_empty = metadata.kind == VIT_PICKLE_DICT && !vit_pickle_next(p, metadata, NULL);
    if (args.length == 7 && !is_empty)
        return vit_fail(p->error, VIT_ERROR_UNSUPPORTED,
                        "pickle byte %zu: a tensor is conjugated, negated or otherwise not what "
                        "its elements say",
                        p->at);
    return vit_pickle_push_new(p, VIT_PICKLE_TENSOR, &p->tensors, &t, sizeof t);
}

/* ---- objects ---- */

static bool is_object(int64_t class) {
    return class == SETTINGS || class == NUMPY_ARRAY || class == NUMPY_TYPE;
}

static vit_status push_object(vit_pickle *p, int64_t class, value arguments) {
    const vit_pickle_object object = {.class = class, .arguments = arguments};
    return vit_pickle_push_new(p, VIT_PICKLE_OBJECT, &p->objects, &object, sizeof object);
}

static const vit_pickle_object *object_of(const vit_pickle *p, value v, int64_t class) {
    if (v.kind != VIT_PICKLE_OBJECT) return NULL;
    const vit_pickle_object *o = (const vit_pickle_object *)p->objects.items + v.index;
    return o->class == class ? o : NULL;
}

static bool is_byte_type(const vit_pickle *p, value v) {
    const vit_pickle_object *o = object_of(p, v, NUMPY_TYPE);
    if (!o || o->arguments.length == 0) return false;
    const value name = *vit_pickle_element(p, o->arguments, 0);
    return name.kind == VIT_PICKLE_TEXT && name.length == 2 &&
           memcmp(vit_pickle_text(p, name), "u1", 2) == 0;
}

/* The state of an array is (version, shape, type, whether in Fortran's order, bytes). */
bool vit_pickle_array_of(const vit_pickle *p, value v, vit_pickle_array *a) {
    const vit_pickle_object *o = object_of(p, v, NUMPY_ARRAY);
    if (!o || o->state.kind != VIT_PICKLE_TUPLE || o->state.length != 5) return false;
    const value *e = vit_pickle_element(p, o->state, 0);
    if (!read_sizes(p, e[1], a->shape) || !is_byte_type(p, e[2]) || e[4].kind != VIT_PICKLE_TEXT)
        return false;
    a->dims = e[1].length;
    a->count = 1;
    for (size_t i = 0; i < a->dims; i++)
        if (a->shape[i] > 0 && a->count > e[4].length / a->shape[i])
            return false;
        else
            a->count *= a->shape[i];
    a->fortran = e[3].index != 0;
    a->data = (const uint8_t *)vit_pickle_text(p, e[4]);
    return a->count == e[4].length;
}

vit_status vit_pickle_reduce(vit_pickle *p) {
    vit_status status;
    const value *v = vit_pickle_last(p, 2, &status);
    if (!v) return status;
    const value called = v[0], args = v[1];
    if (called.kind != VIT_PICKLE_GLOBAL || args.kind != VIT_PICKLE_TUPLE)
        return vit_pickle_damaged(p, "what is called is no class or function");
    p->stack.count -= 2;
    if (called.index == ORDERED_DICT && args.length == 0) return vit_pickle_push_dictionary(p);
    if (is_object(called.index)) return push_object(p, called.index, args);
    if (called.index == REBUILD_TENSOR) return rebuild_tensor(p, args);
    if (called.index == REBUILD_PARAMETER && args.length > 0 &&
        vit_pickle_element(p, args, 0)->kind == VIT_PICKLE_TENSOR)
        return vit_pickle_push(p, *vit_pickle_element(p, args, 0));
    return vit_pickle_damaged(p, "a class or function is called with arguments that do not fit it");
}

vit_status vit_pickle_new_object(vit_pickle *p) {
    vit_status status;
    const value *v = vit_pickle_last(p, 2, &status);
    if (!v) return status;
    if (v[0].kind != VIT_PICKLE_GLOBAL || !is_object(v[0].index) || v[1].kind != VIT_PICKLE_TUPLE)
        return vit_pickle_damaged(p, "an object is made of what is no class of settings");
    const value class = v[0], arguments = v[1];
    p->stack.count -= 2;
    return push_object(p, class.index, arguments);
}
