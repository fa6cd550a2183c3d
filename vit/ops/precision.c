#include "vit/ops/precision.h"
#include "vit/base/size.h"
#include <stdio.h>

const char *const vit_precision_names[] = {"f32", "bf16", "int8", NULL};
VIT_CHECK_ROWS(vit_precision_names, VIT_PRECISION_COUNT + 1);

const vit_precision_row vit_precisions[] = {
    {VIT_PRECISION_F32, 1, false, false, true, VIT_PRECISION_F32, VIT_PRECISION_F32,
     VIT_CPU_SCALAR},
    {VIT_PRECISION_BF16, 2, true, false, true, VIT_PRECISION_BF16, VIT_PRECISION_BF16,
     VIT_CPU_AVX512BF16},
    {VIT_PRECISION_INT8, 4, false, true, false, VIT_PRECISION_F32, VIT_PRECISION_F32,
     VIT_CPU_SCALAR},
};
VIT_CHECK_ROWS(vit_precisions, VIT_PRECISION_COUNT);

size_t vit_converted_words(size_t k) {
    size_t most = 0;
    for (int i = 0; i < VIT_PRECISION_COUNT; i++)
        if (vit_precisions[i].converts) most = vit_max(most, vit_words((vit_precision)i, k));
    return most;
}

size_t vit_whole_words(size_t k) {
    size_t most = k;
    for (int i = 0; i < VIT_PRECISION_COUNT; i++)
        if (vit_precisions[i].converts)
            most = vit_max(most, vit_words((vit_precision)i, k) * vit_precisions[i].numbers);
    return most;
}

static vit_status refuse_unknown(vit_precision precision, vit_error *error) {
    char names[64];
    size_t length = 0;
    for (int i = 0; i < VIT_PRECISION_COUNT; i++) {
        const char *comma = i == 0 ? "" : i + 1 < VIT_PRECISION_COUNT ? ", " : " or ";
        length += (size_t)snprintf(names + length, sizeof names - length, "%s%s", comma,
                                   vit_precision_names[i]);
    }
    return vit_fail(error, VIT_ERROR_ARGUMENT, "precision %d, expected %s", precision, names);
}

vit_status vit_precision_check(vit_precision precision, const vit_kernels *kernels,
                               vit_error *error) {
    if ((unsigned)precision >= VIT_PRECISION_COUNT) return refuse_unknown(precision, error);
    const vit_precision_row *row = &vit_precisions[precision];
    if (kernels->products[precision] && kernels->products[row->attention]) return VIT_OK;
    const bool has_it = vit_cpu_detect() >= row->least;
    return vit_fail(error, VIT_ERROR_ARGUMENT,
                    "precision %s needs the instruction set %s, %s (%s is used), and emulating it "
                    "would be slower than %s: choose %s",
                    vit_precision_names[precision], vit_cpu_name(row->least),
                    has_it ? "which this build or the choice of instruction set leaves out"
                           : "which this processor does not have",
                    vit_cpu_name(kernels->cpu), vit_precision_names[0], vit_precision_names[0]);
}
