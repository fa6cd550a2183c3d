#include "vit/ops/exec.h"

/* Multiply-adds that take about as long as it takes to wake a thread, some microseconds. */
#define WORTH_A_THREAD ((size_t)1 << 18)

int vit_exec_threads(const vit_exec *exec, size_t multiply_adds) {
    const size_t worth = multiply_adds / WORTH_A_THREAD;
    return worth < (size_t)exec->threads ? (worth > 0 ? (int)worth : 1) : exec->threads;
}

vit_status vit_precision_check(vit_precision precision, const vit_kernels *kernels,
                               vit_error *error) {
    switch (precision) {
    case VIT_PRECISION_F32:
        return VIT_OK;
    case VIT_PRECISION_BF16:
        if (kernels->pairs) return VIT_OK;
    }
    const bool has_it = vit_cpu_detect() >= VIT_CPU_AVX512BF16;
    return vit_fail(error, VIT_ERROR_ARGUMENT,
                    "precision bf16 needs the instruction set avx512bf16, %s (%s is used), and "
                    "emulating it would be slower than f32: choose f32",
                    has_it ? "which this build or the choice of instruction set leaves out"
                           : "which this processor does not have",
                    vit_cpu_name(kernels->cpu));
}
