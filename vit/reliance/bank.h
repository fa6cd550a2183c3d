/* A memory bank of patch features, inside: vit/reliance.h has what it does. Sizes: D = dim, N =
 * rows, P = patches of a picture. */
#ifndef VIT_RELIANCE_BANK_H
#define VIT_RELIANCE_BANK_H

#include "vit/base/cpu.h"
#include "vit/reliance.h"

/* The length of a patch's integers: its features divided by their length, times this, rounded. */
#define VIT_BANK_LENGTH 32767

struct vit_bank {
    char *model, *fingerprint; /* owned */
    size_t height, width;      /* the network's input */
    size_t grid_rows, grid_columns;
    size_t dim, rows; /* D, N */
    size_t pictures;
    double coreset;    /* the share that was asked for; 1: all */
    int16_t *features; /* [N][D] */
    double *scores;    /* [pictures] ascending: of each good one by the others */
};

/* The distances of patches to the nearest rows of the bank, but rows first .. end - 1: distances:
 * [patches]. queries: [patches][D], by vit_bank_integers. MEMORY. */
vit_status vit_bank_distances(double *distances, const vit_bank *bank, const int16_t *queries,
                              size_t patches, size_t first, size_t end, int threads,
                              vit_cpu highest, vit_error *error);

/* integers: [count][D] of features: [count][D]. */
void vit_bank_integers(int16_t *integers, const float *features, size_t count, size_t dim);

/* AnomalyDINO's score: the mean of the largest hundredth of distances, of one at least, which it
 * sorts. */
double vit_bank_score(double *distances, size_t patches);

/* Keeps `keep` of rows: [count][D], greedily that which is farthest from those kept so far, from
 * the first on (PatchCore's coreset). kept: [keep] ascending numbers of rows. */
vit_status vit_bank_coreset(size_t *kept, size_t keep, const int16_t *rows, size_t count,
                            size_t dim, int threads, vit_error *error);

#endif
