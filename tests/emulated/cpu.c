/* In place of vit/base/cpu_detect.c, in programs of the tests whose kernels were compiled with
 * tests/support/amx.h: a processor with all that is emulated there. VIT_EMULATED=no-vnni: it has no
 * VPDPBUSD. */
#include "vit/base/cpu.h"
#include <stdlib.h>
#include <string.h>

vit_cpu vit_cpu_detect(void) {
    return VIT_CPU_AMX;
}

bool vit_cpu_has_vnni(vit_cpu cpu) {
    const char *value = getenv("VIT_EMULATED");
    return cpu >= VIT_CPU_AVX512 && !(value && strcmp(value, "no-vnni") == 0);
}

bool vit_cpu_has_sha(void) {
    return false;
}
