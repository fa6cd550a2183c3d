/* The optimiser Muon (Jordan et al., 2024): a matrix of a block, of a decoder's too, or of a stem's
 * later layers moves along the matrix with orthonormal rows or columns that is nearest to its
 * momentum; all other tensors are AdamW's. It needs no second moments. */
#ifndef VIT_TRAIN_MUON_H
#define VIT_TRAIN_MUON_H

#include "vit/kernels/kernels.h"
#include "vit/train/step/adamw.h"

typedef struct vit_muon vit_muon;

/* Whether Muon is the recipe's optimiser and moves that row of the table: a weight that neither
 * reads pictures or words nor answers. */
bool vit_muon_moves(const vit_recipe *recipe, const vit_table *table, size_t row);

/* For the tensors of `table`, the rows that are not frozen; freed by vit_muon_free. *out is NULL
 * unless Muon is the recipe's optimiser. */
vit_status vit_muon_new(vit_muon **out, const vit_table *table, const vit_recipe *recipe,
                        int threads, vit_error *error);
void vit_muon_free(vit_muon *muon);

/* One step of the matrices at learning rate lr; g is the gradient times vit_clip_factor, mu = .95:
 *   m = mu m + g,  O = orthonormal(g + mu m),
 *   W = (1 - lr weight_decay) W - lr .2 sqrt(max(rows, columns)) O,
 * so that the root mean square of a step is AdamW's (Liu et al.: Muon is Scalable for LLM Training,
 * eq. 4). m is state->m. Each matrix is computed by one thread, so threads do not change a bit. */
void vit_muon_update(const vit_muon *muon, const vit_kernels *kernels, int threads,
                     const vit_adamw_state *state, const vit_recipe *recipe, double lr,
                     double norm);

#endif
