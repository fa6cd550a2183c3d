/* The floating-point mode for which results are defined: round to nearest, denormals are kept, no
 * traps. Functions of the public headers and worker threads enter it, and leave the host's as it
 * was, with the exceptions that the host had raised.
 */
#ifndef VIT_BASE_FPMODE_H
#define VIT_BASE_FPMODE_H

#include <fenv.h>

typedef struct vit_fpmode {
    fenv_t host;
} vit_fpmode;

vit_fpmode vit_fpmode_enter(void);
void vit_fpmode_leave(const vit_fpmode *mode);

/* The first line of a function of the public headers, unless it only frees or hands out what is
 * there: until the function returns, wherever, it runs in this mode, as do the callbacks that it
 * calls. */
#define VIT_ENTRY                                                                   \
    const vit_fpmode host_mode __attribute__((cleanup(vit_fpmode_leave), unused)) = \
        vit_fpmode_enter()

#endif
