/* In place of vit/base/cpu_detect.c, in programs of the tests whose kernels were compiled with
 * tests/support/amx.h: a processor with all that is emulated there. VIT_EMULATED=no-tiles: Linux
 * refuses its tiles; VIT_EMULATED=no-vnni: it has no VPDPBUSD. */
#include "vit/base/cpu.h"
#include <stdlib.h>
#include <string.h>

static bool says(const char *word) {
    const char *value = getenv("VIT_EMULATED");
    return value && strcmp(value, word) == 0;
}

vit_cpu vit_cpu_detect(void) {
    return VIT_CPU_AMX;
}

bool vit_cpu_has_vnni(vit_cpu cpu) {
    return cpu >= VIT_CPU_AVX512 && !says("no-vnni");
}

const char *vit_cpu_tiles_missing(void) {
    return says("no-tiles") ? "this test refuses them" : NULL;
}

bool vit_cpu_try_tiles(void) {
    return !says("no-tiles");
}
