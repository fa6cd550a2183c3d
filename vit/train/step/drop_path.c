#include "vit/train/step/drop_path.h"
#include "vit/base/random.h"

void vit_drop_path(float *keep, double rate, size_t depth, uint64_t seed,
                   const vit_sample_key *keys, size_t count) {
    for (size_t i = 0; i < count; i++) {
        vit_random r =
            vit_random_start(seed, VIT_RANDOM_DROP_PATH, keys[i].epoch, keys[i].position);
        for (size_t branch = 0; branch < 2 * depth; branch++) {
            const double share = depth > 1 ? (double)(branch / 2) / (double)(depth - 1) : 0;
            const double p = rate * share;
            keep[branch * count + i] = vit_random_uniform(&r) < p ? 0 : (float)(1 / (1 - p));
        }
    }
}
