#include "vit/model/run/generate.h"

vit_generation vit_generation_default(const vit_config *c) {
    return (vit_generation){.beams = 1,
                            .length = c->decoder.length + 1,
                            .length_penalty = 1,
                            .end = c->decoder.end,
                            .temperature = 1};
}
