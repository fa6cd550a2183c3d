/* What this vit was built with. */
#ifndef VIT_BASE_BUILD_H
#define VIT_BASE_BUILD_H

#ifdef VIT_JPEG /* libjpeg-turbo */
#define VIT_CORE_FORMATS "PNG, JPEG"
#else
#define VIT_CORE_FORMATS "PNG, JPEG (by stb_image)"
#endif

/* The formats of pictures that are read, the first two by the core: "PNG, JPEG, BMP, GIF, PNM, TGA,
 * WebP, TIFF, HEIC, AVIF". The last four are there if their libraries were when it was built. A
 * constant string. */
const char *vit_picture_formats(void);

typedef struct vit_format_names {
    const char *all;
} vit_format_names;

extern const vit_format_names *const vit_more_format_names; /* of the list `guests`; or NULL */

#endif
