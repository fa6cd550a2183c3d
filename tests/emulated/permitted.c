/* In place of vit/base/cpu_tiles.c: tiles are permitted. VIT_EMULATED=no-tiles: they are not. */
#include "vit/base/cpu.h"
#include <stdlib.h>
#include <string.h>

const char *vit_cpu_tiles_missing(void) {
    const char *value = getenv("VIT_EMULATED");
    return value && strcmp(value, "no-tiles") == 0 ? "this test refuses them" : NULL;
}

bool vit_cpu_try_tiles(void) {
    return !vit_cpu_tiles_missing();
}
