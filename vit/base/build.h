/* What this vit was built with. */
#ifndef VIT_BASE_BUILD_H
#define VIT_BASE_BUILD_H

/* The formats of pictures that are read: "PNG, JPEG, BMP, GIF, PNM, TGA, WebP, TIFF, HEIC, AVIF".
 * The last four are there if their libraries were when it was built. "JPEG (by stb_image)" without
 * libjpeg-turbo. A constant string. */
const char *vit_picture_formats(void);

#endif
