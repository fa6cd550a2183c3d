/* The formats of pictures beside PNG and JPEG: which there are, and how files of them are told. */
#include "vit/base/build.h"
#include "vit/base/size.h"
#include "vit/image/codec/source.h"

#include <string.h>

/* Text may begin like a BMP. */
static bool is_bmp(const uint8_t *bytes, size_t size) {
    return size >= 2 && memcmp(bytes, "BM", 2) == 0 && !vit_is_text(bytes, size);
}

#ifdef VIT_WEBP
#define WEBP vit_webp_read, NULL
#define WEBP_NAME ", WebP"
#else
#define WEBP NULL, "libwebp"
#define WEBP_NAME ""
#endif
#ifdef VIT_TIFF
#define TIFF vit_tiff_read, NULL
#define TIFF_NAME ", TIFF"
#else
#define TIFF NULL, "libtiff 4.5 or newer"
#define TIFF_NAME ""
#endif
#ifdef VIT_HEIF
#define HEIF vit_heif_read, NULL
#define HEIF_NAME ", HEIC, AVIF"
#else
#define HEIF NULL, "libheif 1.15 or newer"
#define HEIF_NAME ""
#endif

static const vit_format formats[] = {
    {.name = "BMP", .recognise = is_bmp, .read = vit_bmp_read},
    {VIT_SIGNATURE(0, "GIF87a", "a GIF"), "GIF", NULL, vit_gif_read, NULL},
    {VIT_SIGNATURE(0, "GIF89a", "a GIF"), "GIF", NULL, vit_gif_read, NULL},
    {.name = "PNM", .recognise = vit_pnm_recognise, .read = vit_pnm_read},
    {VIT_SIGNATURE(8, "WEBP", "a WebP"), "WebP", NULL, WEBP},
    {VIT_SIGNATURE(0, "II*\0", "a TIFF"), "TIFF", NULL, TIFF},
    {VIT_SIGNATURE(0, "MM\0*", "a TIFF"), "TIFF", NULL, TIFF},
    {VIT_SIGNATURE(0, "II+\0", "a BigTIFF"), "BigTIFF", NULL, TIFF},
    {VIT_SIGNATURE(0, "MM\0+", "a BigTIFF"), "BigTIFF", NULL, TIFF},
    {VIT_SIGNATURE(4, "ftypheic", "a HEIC"), "HEIC", NULL, HEIF},
    {VIT_SIGNATURE(4, "ftypheix", "a HEIC"), "HEIC", NULL, HEIF},
    {VIT_SIGNATURE(4, "ftyphevc", "a HEIC"), "HEIC", NULL, HEIF},
    {VIT_SIGNATURE(4, "ftyphevx", "a HEIC"), "HEIC", NULL, HEIF},
    {VIT_SIGNATURE(4, "ftypheim", "a HEIC"), "HEIC", NULL, HEIF},
    {VIT_SIGNATURE(4, "ftypheis", "a HEIC"), "HEIC", NULL, HEIF},
    {VIT_SIGNATURE(4, "ftypavif", "an AVIF"), "AVIF", NULL, HEIF},
    {VIT_SIGNATURE(4, "ftypavis", "an AVIF"), "AVIF", NULL, HEIF},
    {VIT_SIGNATURE(4, "ftypmif1", "a HEIF"), "HEIF", NULL, HEIF},
    {VIT_SIGNATURE(4, "ftypmsf1", "a HEIF"), "HEIF", NULL, HEIF},
    /* The last, as it has no signature. */
    {.name = "TGA", .recognise = vit_tga_recognise, .read = vit_tga_read},
};

const vit_format_set vit_formats_more = {formats, VIT_COUNT(formats)};
const vit_format_names vit_format_names_more = {
    VIT_CORE_FORMATS ", BMP, GIF, PNM, TGA" WEBP_NAME TIFF_NAME HEIF_NAME};
