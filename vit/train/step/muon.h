/* Muon (Jordan et al., 2024): the matrices between the first layer and the head move along the
 * nearest matrix with orthonormal rows or columns to their momentum, all other tensors as AdamW
 * says. It needs no second moments. */
#ifndef VIT_TRAIN_MUON_H
#define VIT_TRAIN_MUON_H

#include "vit/kernels/kernels.h"
#include "vit/train/step/adamw.h"

typedef struct vit_muon vit_muon;

/* Whether that row of the table is such a matrix: a weight that neither reads the pictures nor
 * answers. */
bool vit_muon_moves(const vit_table *table, size_t row);

/* Of the tensors of `table`, those that are trained; freed by vit_muon_free. *out stays NULL where
 * the recipe's optimiser is another one. */
vit_status vit_muon_new(vit_muon **out, const vit_table *table, const vit_recipe *recipe,
                        int threads, vit_error *error);
void vit_muon_free(vit_muon *muon);

/* One step of the matrices at learning rate lr: with gradients g, scaled as vit_adamw_update does,
 *   m = mu m + g, O = orthonormal(g + mu m), mu = .95,
 *   W = (1 - lr weight_decay) W - lr .2 sqrt(max(rows, columns)) O,
 * whose root mean square is that of AdamW's steps (Liu et al.: Muon is Scalable for LLM Training,
 * eq. 4). A matrix is the task of one thread, and the same for any number of them. */
void vit_muon_update(const vit_muon *muon, const vit_kernels *kernels, int threads,
                     const vit_adamw_state *state, const vit_recipe *recipe, double lr,
                     double norm);

#endif
