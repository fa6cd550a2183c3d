/* zlib, with its memory from the system layer. */
#ifndef VIT_FORMATS_INFLATE_H
#define VIT_FORMATS_INFLATE_H

#define ZLIB_CONST /* next_in is const */
#include <zlib.h>

/* A stream for inflateInit2, which then allocates by vit_alloc. */
z_stream vit_inflate_stream(void);

#endif
