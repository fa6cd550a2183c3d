/* A product is planned (plan.c) and divided into tasks for the threads. A task is a sequence of
 * stages, each a band of A times a block of B: a stage computes all tiles under all panels
 * (sweep.c) and packs what the next one needs (pack.c). The small products of attention are not
 * divided into tasks: small.c. */
#include "vit/ops/gemm/gemm.h"
#include "vit/ops/gemm/product.h"

/* The stage of this band and block. A task's blocks are numbered along k first, then along its
 * panels. */
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

/* The stage after t->now: the next band under the same block, else the first under the next. */
static vit_gemm_stage stage_after(const vit_gemm_product *p, const vit_gemm_task *t) {
    const size_t band = t->now.band + 1, block = t->now.block + 1;
    if (band < t->bands.end) return stage_of(p, t, band, t->now.block);
    return block < p->blocks.end ? stage_of(p, t, t->bands.first, block) : (vit_gemm_stage){0};
}

/* The thread's room holds two panels of B and after them packed A, one high band or two low ones;
 * or a whole packed block of B and no A. It never holds both: if B stays, A of floats is read where
 * it is, and a converted B was packed before. */
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

void vit_gemm(const vit_exec *exec, float *c, size_t c_row, size_t m, size_t n, size_t k,
              vit_operand_a a, vit_operand_b b, const vit_epilogue *epilogue) {
    if (m == 0 || n == 0) return;
    const bool quads = vit_products_of(exec)->quantise != NULL;
    const size_t words = quads ? k : vit_words(exec->precision, k);
    const int threads = vit_exec_threads(exec, m * n * words);
    const bool transposed = a.row == 1;
    const vit_gemm_shape shape = {.m = m,
                                  .n = n,
                                  .k = k,
                                  .panel = vit_panel(),
                                  .precision = exec->precision,
                                  .a_transposed = transposed,
                                  .a_row = transposed ? a.col : a.row,
                                  .a_ready = quads,
                                  .b_packed = b.packed,
                                  .b_made = vit_stored_is_made(b.stored),
                                  .b_row = b.row};
    vit_gemm_product p = {.exec = exec,
                          .inner = vit_products_of(exec),
                          .plan = vit_gemm_plan_of(&shape, vit_tile_of(exec), (size_t)threads,
                                                   vit_cpu_cache() / sizeof(float)),
                          .c = c,
                          .c_row = c_row,
                          .n = n,
                          .k = k,
                          .panel = shape.panel,
                          .a = a,
                          .b = b,
                          .epilogue = *epilogue};
    const vit_gemm_plan *plan = &p.plan;
    const size_t blocks = plan->blocks_of_k * vit_ceil_div(plan->panels, plan->breadth);
    /* A converted B that stays goes block by block through all tasks, so that all threads are at
     * the same block: runs are short then, and a thread that takes one over from another finds the
     * block in its cache. */
    const size_t at_once = plan->b_stays && plan->converts ? 1 : blocks;
    for (size_t q = 0; q < blocks; q += at_once) {
        p.blocks = (vit_range){q, q + at_once};
        vit_parallel(threads, plan->runs * plan->groups, run_task, &p);
    }
}
