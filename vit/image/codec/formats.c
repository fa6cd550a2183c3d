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

bool vit_is_text(const uint8_t *bytes, size_t size) {
    for (size_t i = 0; i < size && i < 512; i++) {
        if (bytes[i] < ' ' && !strchr("\t\n\f\r", bytes[i])) return false;
        if (bytes[i] == 0 || bytes[i] == 0x7f) return false;
    }
    return true;
}

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
    for (size_t set = 0; vit_format_sets[set]; set++)
        for (size_t i = 0; i < vit_format_sets[set]->count; i++) {
            const vit_format *f = &vit_format_sets[set]->formats[i];
            if (f->recognise ? f->recognise(bytes, size)
                             : vit_signature_fits(&f->begin, bytes, size))
                return f;
        }
    return NULL;
}

const char *vit_format_name(const uint8_t *bytes, size_t size) {
    const char *what = vit_signature_find(others, VIT_COUNT(others), bytes, size);
    return what ? what : vit_is_text(bytes, size) ? "text" : NULL;
}
