/* The floating-point mode for which results are defined: round to nearest, denormals are kept, no
 * traps. Entry points and worker threads enter it and restore the mode of the host.
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
