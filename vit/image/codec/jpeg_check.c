#include "vit/base/size.h"
#include "vit/image/codec/container.h"

#include <string.h>

/* JPEG (ITU-T T.81): markers 0xFF xx; most begin a segment {length, data}, numbers big-endian;
 * after a scan header (SOS) follow entropy-coded data, in which 0xFF is written 0xFF 00 and
 * restart markers RST0..7 stand at fixed distances. Names as in T.81. */

enum {
    SOF0 = 0xc0, /* baseline */
    SOF1 = 0xc1, /* extended */
    SOF2 = 0xc2, /* progressive */
    DHT = 0xc4,
    JPG = 0xc8,
    DAC = 0xcc,
    SOF15 = 0xcf,
    RST0 = 0xd0,
    RST7 = 0xd7,
    SOI = 0xd8,
    EOI = 0xd9,
    SOS = 0xda,
    DQT = 0xdb,
    DNL = 0xdc,
    DRI = 0xdd,
    APP0 = 0xe0,
    APP1 = 0xe1,
    APP15 = 0xef,
    SOF55 = 0xf7, /* JPEG-LS (ITU-T T.87) */
    COM = 0xfe,
};

enum { MAX_COMPONENTS = 3, MAX_TABLES = 4 };

/* A progressive file of the usual encoders has 10 scans. Each costs a pass over the picture
 * however few bytes it has, so their number is limited. */
enum { MAX_SCANS = 100 };

typedef struct component {
    uint8_t id, h, v, quant; /* sampling factors; quantisation table */
    size_t width, height;    /* in samples */
    bool has_dc;             /* a scan held its DC coefficients */
} component;

typedef struct jpeg_walk {
    const uint8_t *bytes;
    size_t size, at;
    const uint8_t *segment; /* the current one, without its length */
    size_t left;            /* of the current segment */
    bool has_quant[MAX_TABLES], has_dc[MAX_TABLES], has_ac[MAX_TABLES];
    bool has_frame, is_progressive;
    size_t width, height, count;
    component components[MAX_COMPONENTS];
    size_t h_max, v_max;
    size_t restart_interval; /* in MCUs; 0: none */
    unsigned orientation;
    size_t scans, coded; /* scans and their entropy-coded bytes so far */
    const char *name;
    vit_error *error;
} jpeg_walk;

bool vit_jpeg_recognise(const uint8_t *bytes, size_t size) {
    return size >= 3 && bytes[0] == 0xff && bytes[1] == SOI && bytes[2] == 0xff;
}

static vit_status corrupt(const jpeg_walk *w, const char *what) {
    return vit_fail(w->error, VIT_ERROR_FORMAT, "%s: corrupt JPEG: %s", w->name, what);
}

static vit_status truncated(const jpeg_walk *w) {
    return vit_fail(w->error, VIT_ERROR_FORMAT,
                    "%s: truncated JPEG: it ends after %zu bytes without an end-of-image marker",
                    w->name, w->size);
}

static size_t get_u16(const uint8_t *p) {
    return (size_t)p[0] << 8 | p[1];
}

/* The next `count` bytes of the segment, or NULL when it is shorter. */
static const uint8_t *take(jpeg_walk *w, size_t count) {
    const uint8_t *p = w->segment;
    if (w->left < count) return NULL;
    w->segment += count;
    w->left -= count;
    return p;
}

static vit_status next_marker(jpeg_walk *w, int *marker) {
    if (w->at >= w->size) return truncated(w);
    if (w->bytes[w->at] != 0xff) {
        return vit_fail(w->error, VIT_ERROR_FORMAT, "%s: corrupt JPEG: no marker at byte %zu",
                        w->name, w->at);
    }
    while (w->at < w->size && w->bytes[w->at] == 0xff) w->at++;
    if (w->at == w->size) return truncated(w);
    *marker = w->bytes[w->at++];
    return VIT_OK;
}

static vit_status open_segment(jpeg_walk *w, int marker) {
    if (w->size - w->at < 2) return truncated(w);
    size_t length = get_u16(w->bytes + w->at);
    if (length < 2 || length > w->size - w->at) {
        return vit_fail(w->error, VIT_ERROR_FORMAT,
                        "%s: truncated JPEG: segment 0x%02X at byte %zu claims %zu bytes, the file "
                        "has %zu left",
                        w->name, (unsigned)marker, w->at, length, w->size - w->at);
    }
    w->segment = w->bytes + w->at + 2;
    w->left = length - 2;
    w->at += length;
    return VIT_OK;
}

static vit_status check_quantisation(jpeg_walk *w) {
    while (w->left) {
        const uint8_t *p = take(w, 1);
        size_t precision = *p >> 4, table = *p & 15;
        if (precision > 1 || table >= MAX_TABLES || !take(w, (size_t)64 << precision))
            return corrupt(w, "a quantisation table is invalid");
        w->has_quant[table] = true;
    }
    return VIT_OK;
}

/* counts[i] codes have i + 1 bits. Codes are numbered upwards; in each length they must fit, and
 * the one of ones alone stays unused (T.81, annex C). */
static bool is_prefix_code(const uint8_t counts[16], size_t *symbols) {
    uint32_t code = 0;
    *symbols = 0;
    for (int bits = 1; bits <= 16; bits++) {
        uint32_t count = counts[bits - 1];
        code += count;
        *symbols += count;
        if (count && code >= 1U << bits) return false;
        code <<= 1;
    }
    return *symbols <= 256;
}

static vit_status check_huffman(jpeg_walk *w) {
    while (w->left) {
        const uint8_t *p = take(w, 17);
        size_t symbols = 0;
        if (!p) return corrupt(w, "a Huffman table is cut off");
        size_t is_ac = p[0] >> 4, table = p[0] & 15;
        if (is_ac > 1 || table >= MAX_TABLES) {
            return vit_fail(w->error, VIT_ERROR_FORMAT,
                            "%s: corrupt JPEG: Huffman table 0x%02X, expected 0x00 to 0x03 or 0x10 "
                            "to 0x13",
                            w->name, p[0]);
        }
        if (!is_prefix_code(p + 1, &symbols))
            return corrupt(w, "the code lengths of a Huffman table are impossible");
        if (!take(w, symbols)) return corrupt(w, "a Huffman table is cut off");
        (is_ac ? w->has_ac : w->has_dc)[table] = true;
    }
    return VIT_OK;
}

static vit_status check_restart(jpeg_walk *w) {
    if (w->left != 2) return corrupt(w, "its restart interval is not two bytes long");
    w->restart_interval = get_u16(w->segment);
    return VIT_OK;
}

static vit_status unsupported(const jpeg_walk *w, const char *what) {
    return vit_fail(
        w->error, VIT_ERROR_UNSUPPORTED,
        "%s: this is %s; baseline and progressive JPEG with 8 bits a sample, grey or three "
        "colors, are read: save it again as one of these or as a PNG",
        w->name, what);
}

static vit_status check_frame_size(jpeg_walk *w) {
    if (w->height == 0 && w->width > 0)
        return unsupported(w, "a JPEG whose height stands behind its first scan (DNL)");
    if (w->width == 0 || w->height == 0) {
        return vit_fail(w->error, VIT_ERROR_FORMAT, "%s: corrupt JPEG: it has %zu x %zu pixels",
                        w->name, w->width, w->height);
    }
    if (w->width * w->height > VIT_IMAGE_MAX_PIXELS) {
        return vit_fail(w->error, VIT_ERROR_UNSUPPORTED,
                        "%s: the JPEG has %zu x %zu pixels; at most %zu in all are read", w->name,
                        w->width, w->height, VIT_IMAGE_MAX_PIXELS);
    }
    if (w->count == 4) return unsupported(w, "a four-component (CMYK) JPEG");
    if (w->count != 1 && w->count != 3) {
        return vit_fail(w->error, VIT_ERROR_FORMAT,
                        "%s: corrupt JPEG: it has %zu components, expected 1 or 3", w->name,
                        w->count);
    }
    return VIT_OK;
}

static vit_status check_component(jpeg_walk *w, size_t index, const uint8_t p[3]) {
    component *c = &w->components[index];
    *c = (component){.id = p[0], .h = p[1] >> 4, .v = p[1] & 15, .quant = p[2]};
    if (c->h < 1 || c->h > 4 || c->v < 1 || c->v > 4) {
        return vit_fail(w->error, VIT_ERROR_FORMAT,
                        "%s: corrupt JPEG: sampling factors %d x %d, expected 1 to 4", w->name,
                        c->h, c->v);
    }
    if (c->quant >= MAX_TABLES) return corrupt(w, "a component has no quantisation table");
    for (size_t i = 0; i < index; i++) {
        if (w->components[i].id == c->id) return corrupt(w, "two components have the same name");
    }
    if (c->h > w->h_max) w->h_max = c->h;
    if (c->v > w->v_max) w->v_max = c->v;
    return VIT_OK;
}

static vit_status check_frame(jpeg_walk *w, int marker) {
    const uint8_t *p = take(w, 6);
    if (w->has_frame) return corrupt(w, "it has two frames");
    if (!p) return corrupt(w, "its frame header is cut off");
    if (p[0] != 8)
        return unsupported(w, p[0] == 12 ? "a 12-bit JPEG" : "a JPEG of an uncommon depth");
    w->height = get_u16(p + 1);
    w->width = get_u16(p + 3);
    w->count = p[5];
    w->is_progressive = marker == SOF2;
    vit_status status = check_frame_size(w);
    if (status) return status;
    if (w->left != 3 * w->count) return corrupt(w, "its frame header has the wrong length");
    for (size_t i = 0; !status && i < w->count; i++) status = check_component(w, i, take(w, 3));
    if (status) return status;
    for (size_t i = 0; i < w->count; i++) {
        component *c = &w->components[i];
        if (w->h_max % c->h || w->v_max % c->v)
            return unsupported(w, "a fractionally sampled JPEG");
        c->width = vit_ceil_div(w->width * c->h, w->h_max);
        c->height = vit_ceil_div(w->height * c->v, w->v_max);
    }
    w->has_frame = true;
    return VIT_OK;
}

typedef struct scan {
    component *components[MAX_COMPONENTS];
    uint8_t dc[MAX_COMPONENTS], ac[MAX_COMPONENTS]; /* Huffman tables */
    size_t count;
    size_t first, last;         /* coefficients, in zigzag order */
    size_t bit_before, bit_now; /* successive approximation */
} scan;

/* Which tables and what order the coefficients need. */
static vit_status check_scan_component(jpeg_walk *w, const scan *s, size_t i) {
    component *c = s->components[i];
    bool needs_dc = s->first == 0 && s->bit_before == 0, needs_ac = s->last > 0;
    if ((needs_dc && (s->dc[i] >= MAX_TABLES || !w->has_dc[s->dc[i]])) ||
        (needs_ac && (s->ac[i] >= MAX_TABLES || !w->has_ac[s->ac[i]])))
        return corrupt(w, "a scan uses a Huffman table that is not defined");
    if (!w->has_quant[c->quant])
        return corrupt(w, "a component uses a quantisation table that is not defined");
    if (needs_dc == c->has_dc) return corrupt(w, "its scans come in an impossible order");
    if (needs_dc) c->has_dc = true;
    return VIT_OK;
}

static bool is_spectrum_valid(const jpeg_walk *w, const scan *s) {
    if (!w->is_progressive) return s->first == 0 && s->bit_before == 0 && s->bit_now == 0;
    bool is_dc_scan = s->first == 0 && s->last == 0;
    bool is_ac_scan = s->first > 0 && s->first <= s->last && s->last <= 63 && s->count == 1;
    bool is_bit_valid = s->bit_before == 0 || s->bit_before == s->bit_now + 1;
    return (is_dc_scan || is_ac_scan) && is_bit_valid && s->bit_now <= 13;
}

static vit_status read_scan(jpeg_walk *w, scan *s) {
    const uint8_t *p = take(w, 1);
    if (!w->has_frame) return corrupt(w, "a scan comes before the frame header");
    if (++w->scans > MAX_SCANS) return corrupt(w, "it has more than 100 scans");
    s->count = p ? *p : 0;
    if (s->count < 1 || s->count > w->count || w->left != 2 * s->count + 3)
        return corrupt(w, "a scan header has the wrong length");
    for (size_t i = 0; i < s->count; i++) {
        size_t which = 0;
        p = take(w, 2);
        while (which < w->count && w->components[which].id != p[0]) which++;
        if (which == w->count) return corrupt(w, "a scan names an unknown component");
        s->components[i] = &w->components[which];
        s->dc[i] = p[1] >> 4;
        s->ac[i] = p[1] & 15;
    }
    p = take(w, 3);
    s->first = p[0];
    s->last = w->is_progressive ? p[1] : 63; /* some sequential files have 0 there */
    s->bit_before = p[2] >> 4;
    s->bit_now = p[2] & 15;
    return VIT_OK;
}

/* MCUs of the scan: single blocks of one component, or a rectangle of blocks of each. */
static size_t scan_mcus(const jpeg_walk *w, const scan *s) {
    if (s->count == 1)
        return vit_ceil_div(s->components[0]->width, 8) * vit_ceil_div(s->components[0]->height, 8);
    return vit_ceil_div(w->width, 8 * w->h_max) * vit_ceil_div(w->height, 8 * w->v_max);
}

/* To the marker after the entropy-coded data. Restart markers must count up and be complete:
 * otherwise part of the picture is missing. */
static vit_status walk_coded(jpeg_walk *w, const scan *s) {
    size_t mcus = scan_mcus(w, s), start = w->at, restarts = 0;
    size_t expected = w->restart_interval ? (mcus - 1) / w->restart_interval : 0;
    while (w->at < w->size) {
        const uint8_t *p = memchr(w->bytes + w->at, 0xff, w->size - w->at);
        if (!p) break;
        size_t mark = w->at = (size_t)(p - w->bytes);
        while (w->at < w->size && w->bytes[w->at] == 0xff) w->at++;
        if (w->at == w->size) break;
        int code = w->bytes[w->at++];
        if (code == 0) continue;
        if (code < RST0 || code > RST7) {
            w->coded += mark - start;
            w->at = mark;
            if (restarts == expected) return VIT_OK;
            return corrupt(w, "its data end before the last restart marker");
        }
        if ((size_t)(code - RST0) != restarts % 8 || restarts == expected)
            return corrupt(w, "a restart marker is out of order");
        restarts++;
    }
    w->at = w->size;
    return truncated(w);
}

static vit_status check_scan(jpeg_walk *w) {
    scan s = {0};
    vit_status status = read_scan(w, &s);
    if (!status && !is_spectrum_valid(w, &s))
        status = corrupt(w, "the coefficients of a scan are invalid");
    for (size_t i = 0; !status && i < s.count; i++) status = check_scan_component(w, &s, i);
    if (!status) status = walk_coded(w, &s);
    return status;
}

/* At the end: every component was coded, and a block took at least a bit. */
static vit_status check_end(const jpeg_walk *w) {
    size_t blocks = 0;
    if (!w->has_frame || w->scans == 0) return corrupt(w, "it holds no picture");
    for (size_t i = 0; i < w->count; i++) {
        const component *c = &w->components[i];
        if (!c->has_dc) return corrupt(w, "a component is missing");
        blocks += vit_ceil_div(c->width, 8) * vit_ceil_div(c->height, 8);
    }
    if (w->coded < blocks / 8) {
        return vit_fail(w->error, VIT_ERROR_FORMAT,
                        "%s: corrupt JPEG: %zu bytes of data cannot hold %zu x %zu pixels", w->name,
                        w->coded, w->width, w->height);
    }
    return VIT_OK;
}

/* EXIF shares its marker with other kinds of data. */
static vit_status read_exif(jpeg_walk *w) {
    static const uint8_t label[6] = "Exif\0";
    const uint8_t *p = take(w, sizeof label);
    if (p && memcmp(p, label, sizeof label) == 0 && !w->orientation)
        w->orientation = vit_exif_orientation(w->segment, w->left);
    return VIT_OK;
}

static vit_status refuse_frame(const jpeg_walk *w, int marker) {
    if (marker == DAC || marker >= 0xc9) return unsupported(w, "an arithmetic-coded JPEG");
    if ((marker & 3) == 3) return unsupported(w, "a lossless JPEG");
    return unsupported(w, "a hierarchical JPEG");
}

static vit_status check_segment(jpeg_walk *w, int marker) {
    vit_status status = open_segment(w, marker);
    if (status) return status;
    switch (marker) {
    case DQT:
        return check_quantisation(w);
    case DHT:
        return check_huffman(w);
    case DRI:
        return check_restart(w);
    case SOS:
        return check_scan(w);
    case COM:
        return VIT_OK;
    case APP1:
        return read_exif(w);
    case SOF0:
    case SOF1:
    case SOF2:
        return check_frame(w, marker);
    case DNL:
        if (w->has_frame && w->left == 2 && get_u16(w->segment) == w->height) return VIT_OK;
        return corrupt(w, "it changes its height after the frame header");
    case SOF55:
        return unsupported(w, "a JPEG-LS");
    default:
        break;
    }
    if (marker >= APP0 && marker <= APP15) return VIT_OK;
    if (marker >= SOF0 && marker <= SOF15 && marker != JPG) return refuse_frame(w, marker);
    return vit_fail(w->error, VIT_ERROR_FORMAT, "%s: corrupt JPEG: marker 0x%02X has no place here",
                    w->name, (unsigned)marker);
}

/* For each component samples in whole MCUs, and as many 16-bit coefficients when progressive; the
 * picture; a row of each component; stb_image's state, twice, of some 20 kB. */
static size_t memory_of(const jpeg_walk *w) {
    size_t total = (w->width + 1) * w->height * w->count + (1 << 18);
    for (size_t i = 0; i < w->count; i++) {
        const component *c = &w->components[i];
        size_t columns = vit_ceil_div(w->width, 8 * w->h_max) * c->h * 8;
        size_t rows = vit_ceil_div(w->height, 8 * w->v_max) * c->v * 8;
        total += columns * rows * (w->is_progressive ? 3 : 1) + w->width;
    }
    return total;
}

vit_status vit_jpeg_check(vit_jpeg *out, const uint8_t *bytes, size_t size, const char *name,
                          vit_error *error) {
    jpeg_walk w = {
        .bytes = bytes, .size = size, .h_max = 1, .v_max = 1, .name = name, .error = error};
    vit_status status = VIT_OK;
    int marker = SOI;
    *out = (vit_jpeg){0};
    w.at = 2;
    while (!status && marker != EOI) {
        status = next_marker(&w, &marker);
        if (!status && marker != EOI) status = check_segment(&w, marker);
    }
    if (!status) status = check_end(&w);
    if (status) return status;
    *out = (vit_jpeg){.width = w.width,
                      .height = w.height,
                      .memory = memory_of(&w),
                      .orientation = w.orientation};
    return VIT_OK;
}

vit_status vit_jpeg_decode(vit_image *out, const uint8_t *bytes, size_t size, const char *name,
                           vit_error *error) {
    vit_jpeg jpeg;
    *out = (vit_image){0};
    vit_status status = vit_jpeg_check(&jpeg, bytes, size, name, error);
    if (!status) status = vit_stb_decode(out, bytes, size, jpeg.memory, name, error);
    if (!status) out->orientation = jpeg.orientation;
    return status;
}
