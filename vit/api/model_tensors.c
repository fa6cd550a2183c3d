/* Files of tensors, for vit-info. */
#include "vit/base/fpmode.h"
#include "vit/base/sys.h"
#include "vit/tensors/tensors.h"

#include <math.h>
#include <string.h>

struct vit_tensor_list {
    vit_tensors *file;
};

vit_status vit_tensor_list_load(vit_tensor_list **out, const char *path, vit_error *error) {
    VIT_ENTRY;
    *out = NULL;
    vit_tensor_list *list = vit_alloc(1, sizeof *list);
    if (!list) return vit_fail_memory(error, path, sizeof *list);
    const vit_status status = vit_tensors_open(&list->file, path, error);
    if (status == VIT_OK)
        *out = list;
    else
        vit_free(list);
    return status;
}

void vit_tensor_list_free(vit_tensor_list *list) {
    if (!list) return;
    vit_tensors_close(list->file);
    vit_free(list);
}

const char *vit_tensor_list_path(const vit_tensor_list *list) {
    return vit_tensors_name(list->file);
}

const char *vit_tensor_list_kind(const vit_tensor_list *list) {
    return vit_tensors_kind(list->file);
}

size_t vit_tensor_list_count(const vit_tensor_list *list) {
    return vit_tensors_count(list->file);
}

vit_tensor_info vit_tensor_list_at(const vit_tensor_list *list, size_t index) {
    const vit_tensor *t = vit_tensors_at(list->file, index);
    vit_tensor_info info = {
        .name = t->name, .type = vit_dtype_name(t->dtype), .dims = t->dims, .count = t->count};
    memcpy(info.shape, t->shape, t->dims * sizeof *t->shape);
    return info;
}

/* Of the finite elements. Two passes: the mean, then the variance around it. */
static vit_tensor_statistics measure(const float *values, size_t count) {
    vit_tensor_statistics s = {.min = NAN, .max = NAN};
    double sum = 0, squares = 0;
    for (size_t i = 0; i < count; i++) {
        const double x = (double)values[i];
        if (!isfinite(x)) continue;
        s.min = s.finite == 0 || x < s.min ? x : s.min;
        s.max = s.finite == 0 || x > s.max ? x : s.max;
        s.finite++;
        sum += x;
    }
    s.mean = sum / (double)s.finite;
    for (size_t i = 0; i < count; i++) {
        const double d = (double)values[i] - s.mean;
        if (isfinite(d)) squares += d * d;
    }
    s.std = sqrt(squares / (double)s.finite);
    return s;
}

vit_status vit_tensor_list_measure(const vit_tensor_list *list, size_t index,
                                   vit_tensor_statistics *out, vit_error *error) {
    VIT_ENTRY;
    const vit_tensor *t = vit_tensors_at(list->file, index);
    float *values = vit_alloc(t->count, sizeof *values);
    *out = (vit_tensor_statistics){0};
    if (!values) return vit_fail_memory(error, t->name, t->count * sizeof *values);
    const vit_status status = vit_tensors_read(list->file, t, values, error);
    if (status == VIT_OK) *out = measure(values, t->count);
    vit_free(values);
    return status;
}
