#include "vit/base/build.h"

#ifdef VIT_JPEG
#define JPEG "JPEG"
#else
#define JPEG "JPEG (by stb_image)"
#endif
#ifdef VIT_WEBP
#define WEBP ", WebP"
#else
#define WEBP ""
#endif
#ifdef VIT_TIFF
#define TIFF ", TIFF"
#else
#define TIFF ""
#endif
#ifdef VIT_HEIF
#define HEIF ", HEIC, AVIF"
#else
#define HEIF ""
#endif

const char *vit_picture_formats(void) {
    return "PNG, " JPEG ", BMP, GIF, PNM, TGA" WEBP TIFF HEIF;
}
