#include "vit/base/fpmode.h"

#if defined(__SSE__)
#include <xmmintrin.h>
#endif

vit_fpmode vit_fpmode_enter(void) {
    vit_fpmode mode;
    fegetenv(&mode.host);
    fesetenv(FE_DFL_ENV);
#if defined(__SSE__)
    /* Not every C library clears flush-to-zero and denormals-are-zero with the default mode. This
     * is MXCSR as the processor starts: all exceptions masked, to nearest, denormals kept. */
    _mm_setcsr(0x1f80);
#endif
    return mode;
}

void vit_fpmode_leave(const vit_fpmode *mode) {
    fesetenv(&mode->host);
}
