#include "vit/base/sys.h"
#include "vit/image/codec/codecs.h"
#include "vit/image/codec/source.h"

#include <string.h>

/* JPEG by stb_image, in a build without libjpeg-turbo (JPEG=no). Its pixels differ by some levels
 * from those of libjpeg-turbo, Pillow and torchvision: it has another inverse transform and another
 * chroma upsampling. It also takes missing data for zeros. The segments up to the end are walked
 * here, so a file that was cut is refused; data that are missing within a scan are not noticed.
 * Arithmetic code is not read. */

enum { SOF0 = 0xc0, SOF2 = 0xc2, SOF15 = 0xcf, DHT = 0xc4, JPG = 0xc8, DAC = 0xcc, RST0 = 0xd0 };
enum { MAX_SCANS = 100 }; /* each costs a pass over the picture, however few bytes it has */
enum { SOI = 0xd8, EOI = 0xd9, SOS = 0xda, APP1 = 0xe1, TEM = 0x01 };

typedef struct vit_jpeg {
    vit_source source;
    vit_image image; /* its pixels once a row was wanted */
    unsigned exif, xmp;
    size_t blocks; /* bytes of the samples of all components, rounded up to whole units */
    size_t row;    /* the next */
} jpeg_file;

static uint32_t big_endian(const uint8_t *p) {
    return (uint32_t)p[0] << 8 | p[1];
}

bool vit_jpeg_recognise(const uint8_t *bytes, size_t size) {
    return size >= 3 && bytes[0] == 0xff && bytes[1] == SOI && bytes[2] == 0xff;
}

/* ---- segments ---- */

static vit_status read_frame(jpeg_file *f, unsigned marker, const uint8_t *p, size_t size) {
    const vit_source *s = &f->source;
    if (marker > SOF2)
        return vit_source_refuse(s, "is lossless, hierarchical or arithmetic-coded; baseline and "
                                    "progressive ones are read");
    if (f->image.width > 0) return vit_source_corrupt(s, "it has two frames");
    if (size < 6 || size < 6 + 3 * (size_t)p[5]) return vit_source_corrupt(s, "its frame is cut");
    if (p[0] != 8) return vit_source_refuse(s, "has %u bits a sample; 8 are read", p[0]);
    if (p[5] != 1 && p[5] != 3 && p[5] != 4)
        return vit_source_corrupt(s, "it has %u components, expected 1, 3 or 4", p[5]);
    f->image.height = big_endian(p + 1);
    f->image.width = big_endian(p + 3);
    f->image.channels = p[5] == 1 ? 1 : 3;
    const vit_status status = vit_source_check_size(s, f->image.width, f->image.height);
    const size_t unit = 32; /* pixels of 4 x 4 blocks at most */
    f->blocks = p[5] * (f->image.width + unit) * (f->image.height + unit);
    return status;
}

/* stb_image writes past its table if there are more than 256 codes. */
static vit_status check_tables(const vit_source *s, const uint8_t *p, size_t size) {
    enum { HEAD = 17, MAX_CODES = 256 };
    while (size > 0) {
        size_t codes = 0;
        for (size_t i = 1; i < HEAD && size >= HEAD; i++) codes += p[i];
        if (size < HEAD || codes > MAX_CODES || size - HEAD < codes)
            return vit_source_corrupt(s, "a Huffman table has impossible lengths");
        p += HEAD + codes;
        size -= HEAD + codes;
    }
    return VIT_OK;
}

static void read_orientation(jpeg_file *f, const uint8_t *p, size_t size) {
    static const char label[] = "http://ns.adobe.com/xap/1.0/";
    const uint8_t *tiff;
    size_t count;
    if (!f->exif && vit_exif_find(&tiff, &count, p, size))
        f->exif = vit_exif_orientation(tiff, count);
    else if (size >= sizeof label && memcmp(p, label, sizeof label) == 0)
        f->xmp = vit_xmp_orientation(p + sizeof label, size - sizeof label);
}

/* The offset behind the code of a scan: of the marker that ends it. */
static size_t skip_code(const vit_source *s, size_t at) {
    for (; at + 1 < s->size; at++)
        if (s->bytes[at] == 0xff && s->bytes[at + 1] != 0 && s->bytes[at + 1] != 0xff &&
            (s->bytes[at + 1] & 0xf8) != RST0)
            return at;
    return s->size;
}

static bool is_frame(unsigned marker) {
    return marker >= SOF0 && marker <= SOF15 && marker != DHT && marker != JPG && marker != DAC;
}

/* Walks all segments up to the end marker. */
static vit_status read_segments(jpeg_file *f) {
    const vit_source *s = &f->source;
    vit_status status = VIT_OK;
    size_t scans = 0;
    for (size_t at = 2; status == VIT_OK;) {
        while (at < s->size && s->bytes[at] != 0xff) at++;
        while (at < s->size && s->bytes[at] == 0xff) at++;
        if (at >= s->size) return vit_source_truncated(s);
        const unsigned marker = s->bytes[at++];
        if (marker == EOI) break;
        if (marker == 0 || marker == TEM || (marker & 0xf8) == RST0) continue;
        if (s->size - at < 2) return vit_source_truncated(s);
        const size_t size = big_endian(s->bytes + at);
        if (size < 2) return vit_source_corrupt(s, "a segment of %zu bytes", size);
        if (s->size - at < size) return vit_source_truncated(s);
        const uint8_t *p = s->bytes + at + 2;
        if (is_frame(marker)) status = read_frame(f, marker, p, size - 2);
        if (marker == DHT) status = check_tables(s, p, size - 2);
        if (marker == APP1) read_orientation(f, p, size - 2);
        at += size;
        if (marker == SOS && ++scans > MAX_SCANS)
            return vit_source_corrupt(s, "it has more than %d scans", MAX_SCANS);
        if (marker == SOS) at = skip_code(s, at);
    }
    if (status == VIT_OK && f->image.width == 0) status = vit_source_corrupt(s, "it has no frame");
    return status;
}

/* ---- the interface ---- */

vit_status vit_jpeg_open(vit_jpeg **out, vit_image *header, const uint8_t *bytes, size_t size,
                         const char *name, vit_error *error) {
    jpeg_file *f = *out = vit_alloc(1, sizeof *f);
    if (!f) return vit_fail_memory(error, name, sizeof *f);
    f->source = (vit_source){bytes, size, name, "JPEG", error};
    const vit_status status = read_segments(f);
    const unsigned orientation = f->exif ? f->exif : f->xmp;
    f->image.orientation = orientation < VIT_ORIENTATION_UNKNOWN ? orientation : 0;
    *header = f->image;
    if (status == VIT_OK) return VIT_OK;
    vit_jpeg_close(f);
    *out = NULL;
    return status;
}

vit_status vit_jpeg_narrow(vit_jpeg *f, size_t *left, size_t *width, vit_error *error) {
    (void)error;
    *left = 0;
    *width = f->image.width;
    return VIT_OK;
}

/* What stb_image may allocate: the samples; of a progressive file coefficients of two bytes as
 * well; the picture; and its own tables. */
static vit_status decode(jpeg_file *f) {
    const vit_image want = f->image;
    const size_t pixels = want.width * want.height * want.channels;
    const vit_stb_file file = {.bytes = f->source.bytes,
                               .size = f->source.size,
                               .channels = want.channels,
                               .budget = 4 * f->blocks + 2 * pixels + (1 << 16)};
    const vit_status status = vit_stb_decode(&f->image, &file, f->source.name, f->source.error);
    if (status == VIT_OK && (f->image.width != want.width || f->image.height != want.height))
        return vit_source_corrupt(&f->source, "it has two frames");
    f->image.orientation = want.orientation;
    return status;
}

vit_status vit_jpeg_rows(vit_jpeg *f, uint8_t *rows, size_t count, vit_error *error) {
    f->source.error = error;
    const vit_status status = f->image.pixels ? VIT_OK : decode(f);
    if (status != VIT_OK) return status;
    const size_t row = f->image.width * f->image.channels;
    memcpy(rows, f->image.pixels + f->row * row, count * row);
    f->row += count;
    return VIT_OK;
}

void vit_jpeg_close(vit_jpeg *f) {
    if (f) vit_image_free(&f->image);
    vit_free(f);
}
