/* The machine that reads a pickle: it runs the opcodes. Its part, pickle_tensors.c, knows the
 * classes and functions of a dictionary of tensors. */
#include "vit/base/size.h"
#include "vit/tensors/pickle_machine.h"

#include "vit/base/sys.h"

#include <stdio.h>
#include <string.h>

#define MAX_MEMO (1u << 20)

typedef vit_pickle_value value;

/* ---- lists ---- */

/* Appends a copy of an item of `size` bytes. Errors: MEMORY. */
static vit_status append(vit_pickle *p, vit_pickle_list *l, const void *item, size_t size) {
    l->items = vit_make_room(l->items, l->count, &l->capacity, size, "a pickle", p->error);
    if (l->count == l->capacity) return VIT_ERROR_MEMORY;
    memcpy((char *)l->items + l->count++ * size, item, size);
    return VIT_OK;
}

vit_status vit_pickle_push(vit_pickle *p, value v) {
    return append(p, &p->stack, &v, sizeof v);
}

vit_status vit_pickle_push_new(vit_pickle *p, vit_pickle_kind kind, vit_pickle_list *l,
                               const void *item, size_t size) {
    const value v = {.kind = kind, .index = (int64_t)l->count};
    const vit_status status = append(p, l, item, size);
    return status == VIT_OK ? vit_pickle_push(p, v) : status;
}

static value *stack_end(const vit_pickle *p) {
    return (value *)p->stack.items + p->stack.count;
}

const value *vit_pickle_element(const vit_pickle *p, value tuple, size_t i) {
    return (const value *)p->elements.items + tuple.index + i;
}

/* ---- failing ---- */

vit_status vit_pickle_damaged(const vit_pickle *p, const char *what) {
    return vit_fail(p->error, VIT_ERROR_FORMAT, "pickle byte %zu: %s", p->at, what);
}

value *vit_pickle_last(vit_pickle *p, size_t count, vit_status *status) {
    *status = VIT_OK;
    if (p->stack.count < count) {
        *status = vit_pickle_damaged(p, "an opcode needs more objects than there are");
        return NULL;
    }
    value *first = stack_end(p) - count;
    for (size_t i = 0; i < count; i++)
        if (first[i].kind == VIT_PICKLE_MARK) {
            *status = vit_pickle_damaged(p, "an opcode needs more objects than follow the mark");
            return NULL;
        }
    return first;
}

/* *count = the number of objects above the last mark; FORMAT if there is no mark. */
static vit_status count_marked(vit_pickle *p, size_t *count) {
    for (*count = 0; *count < p->stack.count; ++*count)
        if (stack_end(p)[-1 - (ptrdiff_t)*count].kind == VIT_PICKLE_MARK) return VIT_OK;
    return vit_pickle_damaged(p, "an opcode needs a mark, and there is none");
}

/* ---- the bytes ---- */

static vit_status take(vit_pickle *p, const uint8_t **bytes, uint64_t count) {
    if (count > p->size - p->at) return vit_pickle_damaged(p, "the pickle is cut off");
    *bytes = p->bytes + p->at;
    p->at += (size_t)count;
    return VIT_OK;
}

static uint64_t little_endian(const uint8_t *bytes, size_t count) {
    uint64_t number = 0;
    while (count-- > 0) number = number << 8 | bytes[count];
    return number;
}

/* An unsigned number of `size` bytes. */
static vit_status take_number(vit_pickle *p, uint64_t *number, size_t size) {
    const uint8_t *bytes = NULL;
    const vit_status status = take(p, &bytes, size);
    if (status == VIT_OK) *number = little_endian(bytes, size);
    return status;
}

static vit_status push_number(vit_pickle *p, size_t size) {
    uint64_t number = 0;
    const vit_status status = take_number(p, &number, size);
    if (status != VIT_OK) return status;
    /* Of the opcodes with a fixed size, only that of four bytes is signed. */
    const int64_t n = size == 4 ? (int64_t)(int32_t)(uint32_t)number : (int64_t)number;
    return vit_pickle_push(p, (value){.kind = VIT_PICKLE_NUMBER, .index = n});
}

/* An integer of any size in two's complement; one of more than 8 bytes is ignored. */
static vit_status push_long(vit_pickle *p) {
    uint64_t size = 0, number;
    const uint8_t *bytes = NULL;
    vit_status status = take_number(p, &size, 1);
    if (status == VIT_OK) status = take(p, &bytes, size);
    if (status != VIT_OK) return status;
    if (size > 8) return vit_pickle_push(p, (value){.kind = VIT_PICKLE_OTHER});
    number = little_endian(bytes, (size_t)size);
    if (size > 0 && size < 8 && bytes[size - 1] & 0x80) number |= UINT64_MAX << (8 * size);
    return vit_pickle_push(p, (value){.kind = VIT_PICKLE_NUMBER, .index = (int64_t)number});
}

static vit_status push_text(vit_pickle *p, size_t size_bytes) {
    uint64_t size = 0;
    const uint8_t *bytes = NULL;
    vit_status status = take_number(p, &size, size_bytes);
    if (status == VIT_OK) status = take(p, &bytes, size);
    if (status != VIT_OK) return status;
    if (size > UINT32_MAX) return vit_pickle_damaged(p, "a text is too long");
    return vit_pickle_push(p, (value){VIT_PICKLE_TEXT, (uint32_t)size, bytes - p->bytes});
}

static vit_status skip(vit_pickle *p, size_t count) {
    const uint8_t *bytes = NULL;
    return take(p, &bytes, count);
}

static vit_status push_other(vit_pickle *p, size_t size) {
    const vit_status status = skip(p, size);
    return status == VIT_OK ? vit_pickle_push(p, (value){.kind = VIT_PICKLE_OTHER}) : status;
}

static vit_status check_protocol(vit_pickle *p) {
    uint64_t version = 0;
    const vit_status status = take_number(p, &version, 1);
    if (status != VIT_OK || (version >= 2 && version <= 5)) return status;
    return vit_fail(p->error, VIT_ERROR_UNSUPPORTED,
                    "the pickle is of protocol %d, expected 2 to 5", (int)version);
}

/* ---- the memo ---- */

static vit_status memo_put(vit_pickle *p, uint64_t index) {
    const value none = {.kind = VIT_PICKLE_MARK};
    vit_status status;
    const value *v = vit_pickle_last(p, 1, &status);
    if (!v) return status;
    if (index >= MAX_MEMO)
        return vit_pickle_damaged(p, "the memo is larger than 1,048,576 objects");
    while (p->memo.count <= index && status == VIT_OK)
        status = append(p, &p->memo, &none, sizeof none);
    if (status == VIT_OK) ((value *)p->memo.items)[index] = *v;
    return status;
}

static vit_status take_put(vit_pickle *p, size_t size) {
    uint64_t index = 0;
    const vit_status status = take_number(p, &index, size);
    return status == VIT_OK ? memo_put(p, index) : status;
}

static vit_status take_get(vit_pickle *p, size_t size) {
    uint64_t index = 0;
    const vit_status status = take_number(p, &index, size);
    if (status != VIT_OK) return status;
    if (index >= p->memo.count || ((value *)p->memo.items)[index].kind == VIT_PICKLE_MARK)
        return vit_pickle_damaged(p, "an object of the memo is used that was not put there");
    return vit_pickle_push(p, ((value *)p->memo.items)[index]);
}

/* ---- tuples and dictionaries ---- */

/* Replaces the last `count` objects by a tuple of them. */
static vit_status make_tuple(vit_pickle *p, size_t count) {
    vit_status status;
    const value *first = vit_pickle_last(p, count, &status);
    const value tuple = {VIT_PICKLE_TUPLE, (uint32_t)count, (int64_t)p->elements.count};
    if (!first) return status;
    for (size_t i = 0; i < count && status == VIT_OK; i++)
        status = append(p, &p->elements, &first[i], sizeof *first);
    p->stack.count -= count;
    return status == VIT_OK ? vit_pickle_push(p, tuple) : status;
}

static vit_status make_marked_tuple(vit_pickle *p) {
    size_t count;
    vit_status status = count_marked(p, &count);
    if (status == VIT_OK) status = make_tuple(p, count);
    if (status != VIT_OK) return status;
    stack_end(p)[-2] = stack_end(p)[-1]; /* the tuple takes the place of the mark */
    p->stack.count--;
    return VIT_OK;
}

vit_status vit_pickle_push_dictionary(vit_pickle *p) {
    const vit_pickle_dictionary empty = {SIZE_MAX, SIZE_MAX};
    return vit_pickle_push_new(p, VIT_PICKLE_DICT, &p->dictionaries, &empty, sizeof empty);
}

static vit_status add_pair(vit_pickle *p, value dict, value key, value v) {
    const vit_pickle_pair pair = {key, v, SIZE_MAX};
    const size_t index = p->pairs.count;
    const vit_status status = append(p, &p->pairs, &pair, sizeof pair);
    if (status != VIT_OK) return status;
    vit_pickle_dictionary *d = (vit_pickle_dictionary *)p->dictionaries.items + dict.index;
    if (d->first == SIZE_MAX)
        d->first = index;
    else
        ((vit_pickle_pair *)p->pairs.items)[d->last].next = index;
    d->last = index;
    return VIT_OK;
}

static vit_status no_dictionary(vit_pickle *p, const char *what, vit_pickle_kind kind) {
    static const char *const kinds[] = {"an object",       "a mark",   "a number",     "a text",
                                        "a tuple",         "a list",   "a dictionary", "a class",
                                        "a tensor's data", "a tensor", "settings"};
    VIT_CHECK_ROWS(kinds, VIT_PICKLE_COUNT);
    char text[96];
    snprintf(text, sizeof text, "%s are set in %s, which is no dictionary", what, kinds[kind]);
    return vit_pickle_damaged(p, text);
}

/* Adds the last `count` objects, keys and values, to the dictionary below them, of which `marks`
 * marks separate them. */
static vit_status set_items(vit_pickle *p, size_t count, size_t marks) {
    vit_status status = VIT_OK;
    if (p->stack.count < count + marks + 1 || count % 2 != 0)
        return vit_pickle_damaged(p, "keys and values do not pair");
    const value *first = stack_end(p) - count, *dict = first - marks - 1;
    if (dict->kind == VIT_PICKLE_OBJECT) {
        p->stack.count -= count + marks;
        return VIT_OK;
    }
    if (dict->kind != VIT_PICKLE_DICT) return no_dictionary(p, "items", dict->kind);
    for (size_t i = 0; i < count && status == VIT_OK; i += 2)
        status = add_pair(p, *dict, first[i], first[i + 1]);
    p->stack.count -= count + marks;
    return status;
}

static vit_status set_one_item(vit_pickle *p) {
    vit_status status;
    return vit_pickle_last(p, 3, &status) ? set_items(p, 2, 0) : status;
}

static vit_status set_marked_items(vit_pickle *p) {
    size_t count;
    const vit_status status = count_marked(p, &count);
    return status == VIT_OK ? set_items(p, count, 1) : status;
}

/* An empty list: a dictionary without keys. */
static vit_status push_list(vit_pickle *p) {
    const vit_status status = vit_pickle_push_dictionary(p);
    if (status == VIT_OK) stack_end(p)[-1].kind = VIT_PICKLE_LIST;
    return status;
}

/* Adds the last `count` objects to the list below them, of which `marks` marks separate them.
 * Objects of classes for settings may be given some, too; they are ignored. */
static vit_status extend(vit_pickle *p, size_t count, size_t marks) {
    static const value none = {.kind = VIT_PICKLE_OTHER};
    vit_status status = VIT_OK;
    if (p->stack.count < count + marks + 1)
        return vit_pickle_damaged(p, "an opcode needs more objects than there are");
    const value *first = stack_end(p) - count, *list = first - marks - 1;
    for (size_t i = 0; i < count && list->kind == VIT_PICKLE_LIST && status == VIT_OK; i++)
        status = add_pair(p, *list, none, first[i]);
    p->stack.count -= count + marks;
    return status;
}

static vit_status append_one(vit_pickle *p) {
    vit_status status;
    return vit_pickle_last(p, 2, &status) ? extend(p, 1, 0) : status;
}

static vit_status append_marked(vit_pickle *p) {
    size_t count;
    const vit_status status = count_marked(p, &count);
    return status == VIT_OK ? extend(p, count, 1) : status;
}

/* Sets are ignored, and what is added to them: all objects above the last mark. */
static vit_status drop_marked(vit_pickle *p) {
    size_t count;
    const vit_status status = count_marked(p, &count);
    if (status == VIT_OK) p->stack.count -= count + 1;
    return status;
}

/* Opcode BUILD: the attributes of a dictionary, such as the _metadata of a state_dict, are ignored;
 * those of an object are kept. */
static vit_status build(vit_pickle *p) {
    vit_status status;
    const value *v = vit_pickle_last(p, 2, &status);
    if (!v) return status;
    if (v->kind != VIT_PICKLE_DICT && v->kind != VIT_PICKLE_OBJECT)
        return no_dictionary(p, "attributes", v->kind);
    if (v->kind == VIT_PICKLE_OBJECT)
        ((vit_pickle_object *)p->objects.items)[v->index].state = v[1];
    p->stack.count--;
    return VIT_OK;
}

/* ---- classes ---- */

/* A line of text, without its end. */
static vit_status take_line(vit_pickle *p, const char **line, size_t *length) {
    const uint8_t *begin = p->bytes + p->at, *end = memchr(begin, '\n', p->size - p->at);
    if (!end) return vit_pickle_damaged(p, "the pickle is cut off");
    *line = (const char *)begin;
    *length = (size_t)(end - begin);
    p->at += *length + 1;
    return VIT_OK;
}

static vit_status take_global(vit_pickle *p) {
    const char *module = NULL, *name = NULL;
    size_t module_length = 0, length = 0;
    vit_status status = take_line(p, &module, &module_length);
    if (status == VIT_OK) status = take_line(p, &name, &length);
    return status == VIT_OK ? vit_pickle_push_global(p, module, module_length, name, length)
                            : status;
}

static vit_status take_stack_global(vit_pickle *p) {
    vit_status status;
    const value *v = vit_pickle_last(p, 2, &status);
    if (!v) return status;
    if (v[0].kind != VIT_PICKLE_TEXT || v[1].kind != VIT_PICKLE_TEXT)
        return vit_pickle_damaged(p, "the names of a class are no texts");
    p->stack.count -= 2;
    return vit_pickle_push_global(p, vit_pickle_text(p, v[0]), v[0].length,
                                  vit_pickle_text(p, v[1]), v[1].length);
}

/* ---- opcodes ---- */

static vit_status push_kind(vit_pickle *p, size_t kind) {
    return vit_pickle_push(p, (value){.kind = (vit_pickle_kind)kind});
}

static vit_status push_bool(vit_pickle *p, size_t is_true) {
    return vit_pickle_push(p, (value){.kind = VIT_PICKLE_OTHER, .index = (int64_t)is_true});
}

static vit_status memoize(vit_pickle *p) {
    return memo_put(p, p->memo.count);
}

/* What an opcode does; `with` gets n, the bytes of its number or length, or how many objects. */
typedef struct opcode {
    vit_status (*run)(vit_pickle *p);
    vit_status (*with)(vit_pickle *p, size_t n);
    size_t n;
} opcode;

static const opcode opcodes[256] = {
    ['('] = {.with = push_kind, .n = VIT_PICKLE_MARK},
    [')'] = {.with = push_kind, .n = VIT_PICKLE_TUPLE},
    [']'] = {.run = push_list},
    ['}'] = {.run = vit_pickle_push_dictionary},
    ['N'] = {.with = push_other, .n = 0},
    ['G'] = {.with = push_other, .n = 8},
    ['B'] = {.with = push_text, .n = 4}, /* bytes; 'T' and 'U' are texts of Python 2 */
    ['T'] = {.with = push_text, .n = 4},
    ['X'] = {.with = push_text, .n = 4},
    ['C'] = {.with = push_text, .n = 1},
    ['U'] = {.with = push_text, .n = 1},
    ['J'] = {.with = push_number, .n = 4},
    ['K'] = {.with = push_number, .n = 1},
    ['M'] = {.with = push_number, .n = 2},
    ['Q'] = {.run = vit_pickle_push_storage},
    ['R'] = {.run = vit_pickle_reduce},
    ['a'] = {.run = append_one},
    ['b'] = {.run = build},
    ['c'] = {.run = take_global},
    ['e'] = {.run = append_marked},
    ['h'] = {.with = take_get, .n = 1},
    ['j'] = {.with = take_get, .n = 4},
    ['q'] = {.with = take_put, .n = 1},
    ['r'] = {.with = take_put, .n = 4},
    ['s'] = {.run = set_one_item},
    ['t'] = {.run = make_marked_tuple},
    ['u'] = {.run = set_marked_items},
    [0x80] = {.run = check_protocol},
    [0x81] = {.run = vit_pickle_new_object},
    [0x85] = {.with = make_tuple, .n = 1},
    [0x86] = {.with = make_tuple, .n = 2},
    [0x87] = {.with = make_tuple, .n = 3},
    [0x88] = {.with = push_bool, .n = true},
    [0x89] = {.with = push_bool, .n = false},
    [0x8a] = {.run = push_long},
    [0x8c] = {.with = push_text, .n = 1},
    [0x8d] = {.with = push_text, .n = 8},
    [0x8e] = {.with = push_text, .n = 8},  /* bytes */
    [0x8f] = {.with = push_other, .n = 0}, /* an empty set */
    [0x90] = {.run = drop_marked},
    [0x93] = {.run = take_stack_global},
    [0x94] = {.run = memoize},
    [0x95] = {.with = skip, .n = 8}, /* the size of a frame */
};

static vit_status run(vit_pickle *p, uint8_t code) {
    const opcode *o = &opcodes[code];
    if (o->run) return o->run(p);
    if (o->with) return o->with(p, o->n);
    return vit_fail(p->error, VIT_ERROR_UNSUPPORTED,
                    "pickle byte %zu: the opcode 0x%02x is none that a dictionary of tensors "
                    "needs: in Python, save the model's state_dict() alone, or write safetensors",
                    p->at - 1, code);
}

/* Runs all opcodes; afterwards the stack holds the one object that was pickled. */
static vit_status run_all(vit_pickle *p) {
    for (;;) {
        if (p->at == p->size) return vit_pickle_damaged(p, "the pickle is cut off");
        const uint8_t code = p->bytes[p->at++];
        if (code == '.') break;
        const vit_status status = run(p, code);
        if (status != VIT_OK) return status;
    }
    if (p->stack.count != 1 || stack_end(p)[-1].kind == VIT_PICKLE_MARK)
        return vit_pickle_damaged(p, "the pickle ends with other than one object");
    return p->at == p->size ? VIT_OK : vit_pickle_damaged(p, "bytes follow the end of the pickle");
}

/* ---- the whole ---- */

vit_status vit_pickle_read(vit_pickle **out, const uint8_t *bytes, size_t size, vit_error *error) {
    *out = NULL;
    vit_pickle *p = vit_alloc(1, sizeof *p);
    if (!p) return vit_fail_memory(error, "a pickle", sizeof *p);
    *p = (vit_pickle){.bytes = bytes, .size = size, .error = error};
    const vit_status status = run_all(p);
    p->error = NULL; /* that of this call */
    if (status == VIT_OK)
        *out = p;
    else
        vit_pickle_free(p);
    return status;
}

void vit_pickle_free(vit_pickle *p) {
    if (!p) return;
    vit_pickle_list *const lists[] = {&p->stack, &p->memo,     &p->elements, &p->dictionaries,
                                      &p->pairs, &p->storages, &p->tensors,  &p->objects};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) vit_free(lists[i]->items);
    vit_free(p);
}

value vit_pickle_root(const vit_pickle *p) {
    return stack_end(p)[-1];
}

const vit_pickle_pair *vit_pickle_next(const vit_pickle *p, value dict,
                                       const vit_pickle_pair *pair) {
    const vit_pickle_dictionary *d =
        (const vit_pickle_dictionary *)p->dictionaries.items + dict.index;
    const size_t next = pair ? pair->next : d->first;
    return next == SIZE_MAX ? NULL : (const vit_pickle_pair *)p->pairs.items + next;
}

const value *vit_pickle_get(const vit_pickle *p, value dict, const char *key) {
    const vit_pickle_pair *pair = NULL;
    while (dict.kind == VIT_PICKLE_DICT && (pair = vit_pickle_next(p, dict, pair)))
        if (pair->key.kind == VIT_PICKLE_TEXT && pair->key.length == strlen(key) &&
            memcmp(vit_pickle_text(p, pair->key), key, pair->key.length) == 0)
            return &pair->value;
    return NULL;
}

const char *vit_pickle_text(const vit_pickle *p, value text) {
    return (const char *)p->bytes + text.index;
}

const vit_pickle_tensor *vit_pickle_tensor_of(const vit_pickle *p, value tensor) {
    return (const vit_pickle_tensor *)p->tensors.items + tensor.index;
}
