#include "vit/weights/file/rounded.h"
#include "vit/base/sys.h"
#include "vit/ops/int8.h"
#include <stdio.h>

#define NAME_SIZE 192

/* Bytes that the tensor takes as integers, with its scales before them. */
static size_t bytes_of(const vit_tensor *t) {
    return t->shape[0] * sizeof(float) +
           (t->count + sizeof(float) - 1) / sizeof(float) * sizeof(float);
}

static vit_status allocate(vit_rounded_tensors *out, const vit_tensor *tensors,
                           const vit_to_round *how, size_t count, vit_error *error) {
    size_t bytes = 0, rounded = 0;
    for (size_t i = 0; i < count; i++)
        if (how[i].rounds) bytes += bytes_of(&tensors[i]), rounded++;
    out->tensors = vit_alloc(count + rounded, sizeof *out->tensors);
    out->names = vit_alloc(rounded, NAME_SIZE);
    out->elements = vit_alloc(1, bytes);
    if (out->tensors && out->names && out->elements) return VIT_OK;
    return vit_fail_memory(error, "the tensors in 8 bits", bytes);
}

/* Puts t in integers and its scales into `to`, whose data begin at `at`. */
static void round_tensor(vit_tensor to[2], char *name, float *at, const vit_tensor *t,
                         const float *known) {
    const size_t out = t->shape[0];
    int8_t *integers = (int8_t *)(at + out);
    for (size_t o = 0; o < out; o++) at[o] = known ? known[o] : -1;
    vit_int8_round(integers, at, t->data, out, t->count / out);
    snprintf(name, NAME_SIZE, "%s_scale", t->name);
    to[0] = *t;
    to[0].dtype = VIT_I8;
    to[0].data = integers;
    to[1] = (vit_tensor){
        .name = name, .dtype = VIT_F32, .dims = 2, .shape = {out, 1}, .count = out, .data = at};
}

vit_status vit_tensors_round(vit_rounded_tensors *out, const vit_tensor *tensors,
                             const vit_to_round *how, size_t count, vit_error *error) {
    *out = (vit_rounded_tensors){0};
    const vit_status status = allocate(out, tensors, how, count, error);
    if (status != VIT_OK) {
        vit_rounded_tensors_free(out);
        return status;
    }
    char *name = out->names, *at = out->elements;
    for (size_t i = 0; i < count; i++) {
        vit_tensor *to = &out->tensors[out->count];
        *to = tensors[i];
        out->count += how[i].rounds ? 2 : 1;
        if (!how[i].rounds) continue;
        round_tensor(to, name, (float *)(void *)at, &tensors[i], how[i].scales);
        name += NAME_SIZE;
        at += bytes_of(&tensors[i]);
    }
    return VIT_OK;
}

void vit_rounded_tensors_free(vit_rounded_tensors *t) {
    vit_free(t->tensors);
    vit_free(t->names);
    vit_free(t->elements);
    *t = (vit_rounded_tensors){0};
}
