/* Instruction set, threads and precision, as options ask for them. */
#include "vit/api/internal.h"
#include "vit/base/parallel.h"

vit_status vit_choose_kernels(const vit_kernels **kernels, const char *cpu, vit_error *error) {
    vit_cpu highest = VIT_CPU_AVX512BF16;
    if (cpu && !vit_cpu_parse(cpu, &highest))
        return vit_fail(error, VIT_ERROR_ARGUMENT,
                        "instruction set \"%s\", expected scalar, neon, avx2, avx512 or avx512bf16",
                        cpu);
    *kernels = vit_kernels_choose(highest);
    return VIT_OK;
}

vit_status vit_choose(const vit_kernels **kernels, int *count, const char *cpu, int threads,
                      vit_precision precision, vit_error *error) {
    const vit_status status = vit_choose_kernels(kernels, cpu, error);
    if (status != VIT_OK) return status;
    if (threads < 0 || threads > 1024)
        return vit_fail(error, VIT_ERROR_ARGUMENT, "%d threads, expected 0 (all) to 1024", threads);
    if (precision != VIT_PRECISION_F32 && precision != VIT_PRECISION_BF16)
        return vit_fail(error, VIT_ERROR_ARGUMENT, "precision %d, expected f32 or bf16", precision);
    *count = threads == 0 ? vit_threads_default() : vit_threads_most();
    if (threads > 0 && threads < *count) *count = threads; /* more would wait for each other */
    return vit_precision_check(precision, *kernels, error);
}
