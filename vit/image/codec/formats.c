#include "vit/base/size.h"
#include "vit/image/codec/decode.h"
#include "vit/image/codec/source.h"

#include <string.h>
#include <strings.h>

bool vit_ends_as_picture(const char *name) {
    static const char *const endings[] = {"jpg",  "jpeg", "png",     "bmp",  "gif",  "pbm",  "pgm",
                                          "ppm",  "pnm",  "tga",     "webp", "tif",  "tiff", "heic",
                                          "heif", "avif", "bigtiff", "img",  "image"};
    const char *dot = strrchr(name, '.'), *ending = dot ? dot + 1 : name;
    for (size_t i = 0; i < VIT_COUNT(endings); i++)
        if (strcasecmp(ending, endings[i]) == 0) return true;
    return false;
}

static bool is_text(const uint8_t *bytes, size_t size) {
    for (size_t i = 0; i < size && i < 512; i++) {
        if (bytes[i] < ' ' && !strchr("\t\n\f\r", bytes[i])) return false;
        if (bytes[i] == 0 || bytes[i] == 0x7f) return false;
    }
    return true;
}

/* Text may begin like a BMP. */
static bool is_bmp(const uint8_t *bytes, size_t size) {
    return size >= 2 && memcmp(bytes, "BM", 2) == 0 && !is_text(bytes, size);
}

#ifdef VIT_WEBP
#define WEBP vit_webp_read, NULL
#else
#define WEBP NULL, "libwebp"
#endif
#ifdef VIT_TIFF
#define TIFF vit_tiff_read, NULL
#else
#define TIFF NULL, "libtiff 4.5 or newer"
#endif
#ifdef VIT_HEIF
#define HEIF vit_heif_read, NULL
#else
#define HEIF NULL, "libheif 1.15 or newer"
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

/* How files of formats begin that are not read, so that the message can name them. */
static const vit_signature others[] = {
    VIT_SIGNATURE(4, "ftyp", "a video or another ISO media file"),
    VIT_SIGNATURE(4, "JXL \r\n\x87\n", "a JPEG XL"),
    VIT_SIGNATURE(0, "\xff\n", "a JPEG XL"),
    VIT_SIGNATURE(4, "jP  \r\n\x87\n", "a JPEG 2000"),
    VIT_SIGNATURE(0, "v/1\1", "an OpenEXR"),
    VIT_SIGNATURE(0, "DDS ", "a DDS texture"),
    VIT_SIGNATURE(0, "icns", "an Apple icon"),
    VIT_SIGNATURE(0, "\x8aMNG\r\n\x1a\n", "an MNG"),
    VIT_SIGNATURE(0, "\x8bJNG\r\n\x1a\n", "a JNG"),
    VIT_SIGNATURE(0, "#?", "a Radiance picture"),
    VIT_SIGNATURE(0, "P7\n", "a PAM"),
    VIT_SIGNATURE(0, "Pf\n", "a PFM"),
    VIT_SIGNATURE(0, "PF\n", "a PFM"),
    VIT_SIGNATURE(0, "8BPS", "a Photoshop document"),
    VIT_SIGNATURE(0, "qoif", "a QOI"),
    VIT_SIGNATURE(0, "\0\0\1\0", "an ICO"),
    VIT_SIGNATURE(0, "\0\0\2\0", "a CUR"),
    VIT_SIGNATURE(0, "%PDF", "a PDF"),
    VIT_SIGNATURE(0, "\x1f\x8b", "gzip-compressed"),
    VIT_SIGNATURE(0, "PK", "a ZIP archive"),
};

const vit_format *vit_format_find(const uint8_t *bytes, size_t size) {
    for (size_t i = 0; i < VIT_COUNT(formats); i++) {
        const vit_format *f = &formats[i];
        if (f->recognise ? f->recognise(bytes, size) : vit_signature_fits(&f->begin, bytes, size))
            return f;
    }
    return NULL;
}

const char *vit_format_name(const uint8_t *bytes, size_t size) {
    const char *what = vit_signature_find(others, VIT_COUNT(others), bytes, size);
    return what ? what : is_text(bytes, size) ? "text" : NULL;
}
