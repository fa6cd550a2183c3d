/* The floating-point mode that results are defined in: round to nearest, denormals as they are,
 * no traps. Entry points and worker threads enter it and restore what the host had.
 *
 *     vit_fpmode host = vit_fpmode_enter();
 *     ...
 *     vit_fpmode_leave(host);
 */
#ifndef VIT_BASE_FPMODE_H
#define VIT_BASE_FPMODE_H

#include <fenv.h>

typedef struct vit_fpmode {
    fenv_t host;
} vit_fpmode;

vit_fpmode vit_fpmode_enter(void);
void vit_fpmode_leave(vit_fpmode mode);

#endif
