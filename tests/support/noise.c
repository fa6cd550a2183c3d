#include "tests/support/noise.h"

#include "tests/support/check.h"
#include "vit/model/config.h"

vit_status noise_batch(float *images, size_t *labels, vit_sample_key *keys, size_t first,
                       size_t count, const vit_batch_room *room, void *context, vit_error *error) {
    (void)room, (void)error;
    const vit_config *c = context;
    const size_t pixels = c->height * c->width * c->channels;
    for (size_t i = 0; i < count; i++) {
        vit_random r = check_random((uint32_t)(first + i));
        check_fill(images + i * pixels, pixels, 1, &r);
        labels[i] = vit_random_below(&r, (uint32_t)c->classes);
        keys[i] = (vit_sample_key){.epoch = 4, .position = (uint32_t)(first + i)};
    }
    return VIT_OK;
}
