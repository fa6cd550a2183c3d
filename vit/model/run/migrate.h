/* Migration of outliers (Xiao et al.: SmoothQuant, section 4) before weights become integers: a
 * channel x_j of a norm's output that is far larger than the others makes the scale of its token
 * coarse. Of the linear layers that read the norm alone, x W^T = (x / s) (W s)^T, with
 *
 *   s_j = sqrt(max |x_j| / max |w_j|),
 *
 * the largest that pictures showed of the channel, and of its column in the weights: half of the
 * outlier goes over to the weights, whose outputs have a scale each. Gamma and beta are divided by
 * s, so that the network is the same in floats, up to rounding.
 *
 * Norms whose output other layers or a residual sum read stay as they are: where blocks are
 * post-norm, only those within a branch migrate (attention_norm, mlp_norm).
 */
#ifndef VIT_MODEL_RUN_MIGRATE_H
#define VIT_MODEL_RUN_MIGRATE_H

#include "vit/model/run/network.h"

typedef struct vit_migration vit_migration;

/* Norms of a block that migrate; 0: none. And whether those before its branches are among them. */
size_t vit_migration_norms(const vit_config *config);
bool vit_migration_is_whole(const vit_config *config);

/* For a network of pictures without a decoder, whose parameters are values: [table->size], borrowed
 * until vit_migration_free, which takes NULL. Errors: MEMORY. */
vit_status vit_migration_new(vit_migration **out, const vit_config *config, const vit_table *table,
                             float *values, const vit_kernels *kernels, int threads,
                             vit_error *error);
void vit_migration_free(vit_migration *migration);

/* Runs a picture through the network in float32: image: [height][width][channels], normalised.
 * FORMAT if the last state is not finite. */
vit_status vit_migration_see(vit_migration *migration, const float *image, vit_error *error);

/* Changes the values by what the pictures so far have shown; nothing else may follow. */
void vit_migration_fold(vit_migration *migration);

#endif
