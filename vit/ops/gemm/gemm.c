/* A product is planned (plan.c) and its tasks are shared out to the threads. A task goes from stage
 * to stage, a band of A times a block of B; in each it computes all tiles times panels (sweep.c)
 * and packs what comes next (pack.c). What attention multiplies is not even cut into tasks:
 * small.c. */
#include "vit/ops/gemm/gemm.h"
#include "vit/ops/gemm/product.h"

/* A band times a block. The task's blocks are counted along k first, then along its panels. */
static vit_gemm_stage stage_of(const vit_gemm_product *p, const vit_gemm_task *t, size_t band,
                               size_t block) {
    const vit_gemm_plan *plan = &p->plan;
    const size_t k0 = block % plan->blocks_of_k * plan->depth;
    const size_t first = t->panels.first + block / plan->blocks_of_k * plan->breadth;
    return (vit_gemm_stage){.band = band,
                            .tiles = vit_share_of((vit_range){0, plan->tiles}, band, plan->bands),
                            .block = block,
                            .k0 = k0,
                            .words = vit_min(plan->depth, plan->words - k0),
                            .panels = {first, vit_min(first + plan->breadth, t->panels.end)}};
}

static vit_gemm_stage stage_after(const vit_gemm_product *p, const vit_gemm_task *t) {
    const size_t band = t->now.band + 1, block = t->now.block + 1;
    if (band < t->bands.end) return stage_of(p, t, band, t->now.block);
    return block < p->blocks.end ? stage_of(p, t, t->bands.first, block) : (vit_gemm_stage){0};
}

/* The room holds two panels of B and the packed A behind them, one high band or two low ones; or
 * all of a packed block of B, and then no A: floats that pass by are read where they lie, and of
 * pairs a B that stays was packed before. */
static void run_task(size_t index, int thread, void *context) {
    const vit_gemm_product *p = context;
    const vit_gemm_plan *plan = &p->plan;
    float *room = p->exec->room + (size_t)thread * VIT_GEMM_ROOM;
    vit_gemm_task t = {
        .bands = vit_share_of((vit_range){0, plan->bands}, index / plan->groups, plan->runs),
        .panels = vit_share_of((vit_range){0, plan->panels}, index % plan->groups, plan->groups),
        .packed_b = room,
        .packed_a = room + 2 * VIT_PACKED_PANEL,
        .next_a = room + 2 * VIT_PACKED_PANEL + VIT_LOW_BAND};
    t.now = stage_of(p, &t, t.bands.first, p->blocks.first);
    if (plan->b_stays && plan->pack_a) vit_pack_a(p, t.packed_a, &t.now);
    do {
        t.next = stage_after(p, &t);
        if (plan->b_stays)
            vit_sweep_under_b(p, &t);
        else
            vit_sweep_under_a(p, &t);
        t.now = t.next;
    } while (vit_length(t.now.tiles) > 0);
}

static void compute(vit_gemm_product *p, int threads) {
    const vit_gemm_plan *plan = &p->plan;
    const size_t blocks = plan->blocks_of_k * vit_ceil_div(plan->panels, plan->breadth);
    const size_t at_once = vit_gemm_block_by_block(plan) ? 1 : blocks;
    for (size_t q = 0; q < blocks; q += at_once) {
        p->blocks = (vit_range){q, q + at_once};
        vit_parallel(threads, plan->runs * plan->groups, run_task, p);
    }
}

void vit_gemm(const vit_exec *exec, float *c, size_t c_row, size_t m, size_t n, size_t k,
              vit_operand_a a, vit_operand_b b, const vit_epilogue *epilogue) {
    const int threads = vit_exec_threads(exec, m * n * vit_words(exec->precision, k));
    const bool transposed = a.row == 1;
    const vit_gemm_shape shape = {.m = m,
                                  .n = n,
                                  .k = k,
                                  .precision = exec->precision,
                                  .a_transposed = transposed,
                                  .a_row = transposed ? a.col : a.row,
                                  .b_packed = b.packed,
                                  .b_row = b.row,
                                  .in_place = epilogue->residual == c};
    if (m == 0 || n == 0) return;
    vit_gemm_product p = {.exec = exec,
                          .inner = vit_products_of(exec),
                          .plan = vit_gemm_plan_of(&shape, &exec->kernels->tile, (size_t)threads),
                          .c = c,
                          .c_row = c_row,
                          .n = n,
                          .k = k,
                          .a = a,
                          .b = b,
                          .epilogue = *epilogue};
    compute(&p, threads);
}
