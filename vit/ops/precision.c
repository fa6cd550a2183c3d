#include "vit/ops/precision.h"
#include "vit/base/size.h"
#include "vit/base/sys.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

const char *const vit_precision_names[] = {"f32", "bf16", "int8", NULL};
VIT_CHECK_ROWS(vit_precision_names, VIT_PRECISION_COUNT + 1);

const char *const vit_bf16_names[] = {"any", "pairs", "tiles", NULL};
VIT_CHECK_ROWS(vit_bf16_names, VIT_BF16_COUNT + 1);

const vit_precision_row vit_precisions[] = {
    {VIT_PRECISION_F32, 1, false, false, true, false, false, VIT_PRECISION_F32, VIT_PRECISION_F32,
     VIT_CPU_SCALAR},
    {VIT_PRECISION_BF16, 2, true, false, true, true, true, VIT_PRECISION_BF16, VIT_PRECISION_BF16,
     VIT_CPU_AVX512BF16},
    {VIT_PRECISION_INT8, 4, false, true, false, true, false, VIT_PRECISION_F32, VIT_PRECISION_F32,
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

static vit_status refuse_order(vit_precision precision, vit_bf16 bf16, const vit_kernels *kernels,
                               vit_error *error) {
    if (!vit_precisions[precision].orders)
        return vit_fail(error, VIT_ERROR_ARGUMENT,
                        "arithmetic %s is one of bf16, but the precision is %s: leave it out, or "
                        "choose bf16",
                        vit_bf16_names[bf16], vit_precision_names[precision]);
    return vit_fail(
        error, VIT_ERROR_ARGUMENT,
        "arithmetic %s needs the instruction set amx (%s is used%s%s): choose %s",
        vit_bf16_names[bf16], vit_cpu_name(kernels->cpu), vit_cpu_tiles_missing() ? "; " : "",
        vit_cpu_tiles_missing() ? vit_cpu_tiles_missing() : "", vit_bf16_names[VIT_BF16_PAIRS]);
}

vit_status vit_precision_choose(const vit_kernels **out, vit_cpu highest, vit_precision precision,
                                vit_bf16 bf16, vit_error *error) {
    if ((unsigned)precision >= VIT_PRECISION_COUNT) return refuse_unknown(precision, error);
    if ((unsigned)bf16 >= VIT_BF16_COUNT)
        return vit_fail(error, VIT_ERROR_ARGUMENT, "arithmetic %d, expected any, pairs or tiles",
                        (int)bf16);
    const vit_precision_row *row = &vit_precisions[precision];
    /* Of what AMX does not do, its table is the one below it: no permission is asked for. */
    if (!row->tiles && highest > VIT_CPU_AVX512BF16) highest = VIT_CPU_AVX512BF16;
    *out = row->tiles ? vit_kernels_with(highest, bf16) : vit_kernels_choose(highest);
    if (bf16 > VIT_BF16_ANY && !row->orders) return refuse_order(precision, bf16, *out, error);
    const vit_status status = vit_precision_check(precision, *out, error);
    if (status != VIT_OK || bf16 <= VIT_BF16_ANY || (*out)->products[precision]->bf16 >= bf16)
        return status;
    return refuse_order(precision, bf16, *out, error);
}

const char *vit_precision_lacks_tiles(vit_cpu highest, vit_precision precision) {
    const bool wanted = vit_precisions[precision].tiles && highest >= VIT_CPU_AMX;
    return wanted && vit_cpu_detect() >= VIT_CPU_AMX ? vit_cpu_tiles_missing() : NULL;
}

/* ---- which is faster ---- */

enum { MEASURED_ROWS = 32, MEASURED_WORDS = 64, MEASURED_TILES = 16, MEASURED_TURNS = 8 };

/* The least seconds that a multiply-add takes in a tile whose operands are in the first-level
 * cache. Their words are floats and pairs that are not 0. */
static double seconds_of_one(const vit_kernels *kernels, vit_precision precision) {
    const vit_product_kernels *inner = kernels->products[precision];
    const vit_tile_size *tile = inner->tile.rows > 0 ? &inner->tile : &kernels->tile;
    _Alignas(64) float a[MEASURED_ROWS * MEASURED_WORDS], b[MEASURED_WORDS * VIT_MOST_PANEL];
    _Alignas(64) float c[MEASURED_ROWS * VIT_MOST_PANEL];
    const uint32_t word = 0x3f213f43;
    float number;
    memcpy(&number, &word, sizeof number);
    for (size_t i = 0; i < sizeof a / sizeof *a; i++) a[i] = number;
    for (size_t i = 0; i < sizeof b / sizeof *b; i++) b[i] = number;
    const vit_tiles run = {.count = MEASURED_TILES,
                           .rows = vit_min(tile->rows, MEASURED_ROWS),
                           .columns = vit_min(tile->cols, VIT_MOST_PANEL),
                           .k = MEASURED_WORDS,
                           .c = c,
                           .a = a,
                           .b = b,
                           .c_row = VIT_MOST_PANEL,
                           .a_row = MEASURED_WORDS,
                           .a_col = 1,
                           .b_row = VIT_MOST_PANEL,
                           .epilogue = {.scale = 1}};
    double least = HUGE_VAL;
    for (int turn = 0; turn < MEASURED_TURNS; turn++) {
        const double start = vit_clock();
        inner->gemm_tiles(&run);
        least = fmin(least, vit_clock() - start);
    }
    return least / (double)(run.count * run.rows * run.columns * run.k) /
           (double)vit_precisions[precision].numbers;
}

bool vit_precision_slower(vit_precision precision, const vit_kernels *kernels) {
    const vit_precision_row *row = &vit_precisions[precision];
    return row->converts &&
           seconds_of_one(kernels, precision) > 1.1 * seconds_of_one(kernels, VIT_PRECISION_F32);
}
