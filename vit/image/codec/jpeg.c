#include "vit/base/sys.h"
#include "vit/image/codec/container.h"

#include <setjmp.h>
#include <stdio.h>
#include <string.h>

#include <jpeglib.h>

#include <jerror.h>

/* Its pixels are those of Pillow, torchvision and OpenCV, which are built on it; the original
 * library and its other descendants scale chroma differently. */
#ifndef LIBJPEG_TURBO_VERSION
#error "libjpeg is not libjpeg-turbo (or a descendant of it): run scripts/setup"
#endif

/* JPEG (ITU-T T.81) by libjpeg-turbo. The library repairs what is damaged and warns; here every
 * warning that says that a part of the picture was invented ends the decoding. */

enum {
    /* A progressive file of the usual encoders has 10 scans. Each costs a pass over the picture
     * however few bytes it has, so their number is limited. */
    MAX_SCANS = 100,

    /* Bytes that may lie between the end of a scan and the next marker: some writers fill up there.
     * More are the picture's, left over because the decoder lost its place. */
    MAX_STRAY = 16,

    /* Bytes of zeros in a row that are no picture's (see zeros_are_a_hole). */
    HOLE = 64,

    MAX_MEMORY = 1 << 30, /* for coefficients: 100 megapixels in 4:4:4 take 600 MB */
    MARKER_JPEG_LS = 0xf7,
    MAX_CHANNELS = 4,
};

typedef struct jpeg_file {
    struct jpeg_decompress_struct library;
    struct jpeg_error_mgr reports;
    jmp_buf stop;      /* where the library's calls end that must not return */
    vit_status status; /* by then */
    bool has_scan;     /* the header is over */
    unsigned seen;     /* bit i: a scan held component i */
    size_t size;
    vit_image image;
    const char *name;
    vit_error *error;
} jpeg_file;

bool vit_jpeg_recognise(const uint8_t *bytes, size_t size) {
    return size >= 3 && bytes[0] == 0xff && bytes[1] == 0xd8 && bytes[2] == 0xff;
}

/* ---- what is refused ---- */

static vit_status corrupt(const jpeg_file *f, const char *what) {
    return vit_fail(f->error, VIT_ERROR_FORMAT, "%s: corrupt JPEG: %s", f->name, what);
}

static vit_status unsupported(const jpeg_file *f, const char *what) {
    return vit_fail(f->error, VIT_ERROR_UNSUPPORTED,
                    "%s: this is %s; baseline and progressive JPEG with 8 bits a sample is read: "
                    "save it again as one of these or as a PNG",
                    f->name, what);
}

static vit_status refuse_size(const jpeg_file *f) {
    const size_t width = f->library.image_width, height = f->library.image_height;
    if (height == 0 && width > 0)
        return unsupported(f, "a JPEG whose height stands behind its first scan (DNL)");
    if (width == 0 || height == 0)
        return vit_fail(f->error, VIT_ERROR_FORMAT, "%s: corrupt JPEG: it has %zu x %zu pixels",
                        f->name, width, height);
    return vit_fail(f->error, VIT_ERROR_UNSUPPORTED,
                    "%s: the JPEG has %zu x %zu pixels; at most %ld a side and %zu in all are read",
                    f->name, width, height, JPEG_MAX_DIMENSION, VIT_IMAGE_MAX_PIXELS);
}

static vit_status refuse_depth(const jpeg_file *f) {
    const bool is_12 = f->library.data_precision == 12;
    return unsupported(f, is_12 ? "a 12-bit JPEG" : "a JPEG of an uncommon depth");
}

/* A frame other than sequential or progressive DCT; the low bits of its marker tell which. */
static vit_status refuse_frame(const jpeg_file *f, int marker) {
    return unsupported(f, (marker & 3) == 3 ? "a lossless JPEG" : "a hierarchical JPEG");
}

/* Any other message of the library, which begins with a capital letter. */
static vit_status refuse_as_told(jpeg_file *f) {
    char text[JMSG_LENGTH_MAX];
    f->reports.format_message((j_common_ptr)&f->library, text);
    const bool is_word = text[0] >= 'A' && text[0] <= 'Z' && text[1] >= 'a' && text[1] <= 'z';
    if (is_word) text[0] = (char)(text[0] - 'A' + 'a');
    return corrupt(f, text);
}

static vit_status refuse(jpeg_file *f) {
    const int first = f->reports.msg_parm.i[0];
    switch (f->reports.msg_code) {
    case JERR_OUT_OF_MEMORY:
        return vit_fail(f->error, VIT_ERROR_MEMORY, "%s: out of memory while it is decoded",
                        f->name);
    case JERR_NO_BACKING_STORE:
        return vit_fail(f->error, VIT_ERROR_UNSUPPORTED,
                        "%s: decoding it takes more than %d bytes, the most it may", f->name,
                        MAX_MEMORY);
    case JERR_EMPTY_IMAGE:
    case JERR_IMAGE_TOO_BIG:
        return refuse_size(f);
    case JERR_BAD_PRECISION:
        return refuse_depth(f);
    case JERR_SOF_UNSUPPORTED:
        return refuse_frame(f, first);
    case JERR_FRACT_SAMPLE_NOTIMPL:
    case JERR_CCIR601_NOTIMPL:
        return unsupported(f, "a fractionally sampled JPEG");
    case JERR_ARITH_NOTIMPL:
        return unsupported(f, "an arithmetic-coded JPEG, which this libjpeg-turbo was built "
                              "without");
    case JERR_UNKNOWN_MARKER:
        return first == MARKER_JPEG_LS ? unsupported(f, "a JPEG-LS") : refuse_as_told(f);
    case JWRN_JPEG_EOF:
        return vit_fail(f->error, VIT_ERROR_FORMAT,
                        "%s: truncated JPEG: it ends after %zu bytes without an end-of-image "
                        "marker",
                        f->name, f->size);
    case JWRN_HIT_MARKER:
        return corrupt(f, "the data of a scan end before its picture does");
    case JWRN_EXTRANEOUS_DATA:
        return vit_fail(f->error, VIT_ERROR_FORMAT,
                        "%s: corrupt JPEG: %d bytes of a scan are left over where its picture ends",
                        f->name, first);
    case JWRN_HUFF_BAD_CODE:
    case JWRN_ARITH_BAD_CODE:
        return corrupt(f, "its data hold a code that stands for nothing");
    case JWRN_MUST_RESYNC:
        return corrupt(f, "a restart marker is missing or out of order");
    default:
        return refuse_as_told(f);
    }
}

/* ---- the library's callbacks ---- */

static _Noreturn void stop(j_common_ptr library) {
    jpeg_file *f = library->client_data;
    f->status = refuse(f);
    longjmp(f->stop, 1);
}

/* level < 0: a warning. All but these say no more than that a file is unusual. */
static void hear(j_common_ptr library, int level) {
    const jpeg_file *f = library->client_data;
    if (level >= 0) return;
    switch (f->reports.msg_code) {
    case JWRN_EXTRANEOUS_DATA:
        if (!f->has_scan || f->reports.msg_parm.i[0] <= MAX_STRAY) return;
        stop(library);
    case JWRN_JPEG_EOF:
    case JWRN_HIT_MARKER:
    case JWRN_HUFF_BAD_CODE:
    case JWRN_ARITH_BAD_CODE:
    case JWRN_MUST_RESYNC:
        stop(library);
    default:
        break;
    }
}

static void say_nothing(j_common_ptr library) {
    (void)library;
}

/* ---- reading; these functions do not return where the library refuses ---- */

/* EXIF shares its marker with other kinds of data. */
static unsigned orientation_of(const struct jpeg_decompress_struct *library) {
    static const uint8_t label[6] = "Exif\0";
    unsigned orientation = 0;
    for (const struct jpeg_marker_struct *m = library->marker_list; m && !orientation; m = m->next)
        if (m->data_length >= sizeof label && memcmp(m->data, label, sizeof label) == 0)
            orientation =
                vit_exif_orientation(m->data + sizeof label, m->data_length - sizeof label);
    return orientation;
}

/* To the first scan. */
static vit_status read_header(jpeg_file *f, const uint8_t *bytes) {
    struct jpeg_decompress_struct *library = &f->library;
    jpeg_create_decompress(library);
    library->mem->max_memory_to_use = MAX_MEMORY;
    jpeg_save_markers(library, JPEG_APP0 + 1, 0xffff);
    jpeg_mem_src(library, bytes, (unsigned long)f->size);
    jpeg_read_header(library, TRUE);
    f->has_scan = true;
    const size_t width = library->image_width, height = library->image_height;
    const int components = library->num_components;
    if (width * height > VIT_IMAGE_MAX_PIXELS) return refuse_size(f);
    if (library->data_precision != 8) return refuse_depth(f);
    if (components != 1 && components != 3 && components != 4)
        return vit_fail(f->error, VIT_ERROR_FORMAT,
                        "%s: corrupt JPEG: it has %d components, expected 1, 3 or 4", f->name,
                        components);
    f->image.width = width;
    f->image.height = height;
    f->image.channels = components == 1 ? 1 : 3;
    f->image.orientation = orientation_of(library);
    return VIT_OK;
}

/* Every coefficient came to its last bit. Where some did not, the library makes them up. */
static bool is_complete(const jpeg_file *f) {
    const struct jpeg_decompress_struct *library = &f->library;
    const int components = library->num_components;
    if (!library->coef_bits) return f->seen == (1U << components) - 1;
    for (int i = 0; i < components; i++)
        for (int k = 0; k < DCTSIZE2; k++)
            if (library->coef_bits[i][k] != 0) return false;
    return true;
}

/* The coefficients of a file of several scans, as of progressive ones. */
static vit_status read_scans(jpeg_file *f) {
    struct jpeg_decompress_struct *library = &f->library;
    int event = JPEG_REACHED_SOS;
    library->buffered_image = TRUE;
    jpeg_start_decompress(library);
    for (; event != JPEG_REACHED_EOI; event = jpeg_consume_input(library)) {
        if (event != JPEG_REACHED_SOS) continue;
        if (library->input_scan_number > MAX_SCANS) return corrupt(f, "it has more than 100 scans");
        for (int i = 0; i < library->comps_in_scan; i++)
            f->seen |= 1U << library->cur_comp_info[i]->component_index;
    }
    if (!is_complete(f)) return corrupt(f, "some of its scans are missing");
    jpeg_start_output(library, library->input_scan_number);
    return VIT_OK;
}

/* round(a b / 255) */
static unsigned multiply(unsigned a, unsigned b) {
    const unsigned t = a * b + 128;
    return (t + (t >> 8)) >> 8;
}

/* As Pillow's convert("RGB"): samples are ink, and inverted, as Adobe's programs write them. */
static void cmyk_to_rgb(uint8_t *rgb, const uint8_t *cmyk, size_t pixels) {
    for (; pixels > 0; pixels--, rgb += 3, cmyk += 4) {
        const unsigned light = cmyk[3];
        for (int i = 0; i < 3; i++) rgb[i] = (uint8_t)(light - multiply(255U - cmyk[i], light));
    }
}

/* Zeros decode as a table's first symbol over and over. Where that is a coefficient other than 0,
 * HOLE bytes of them are several blocks of 63 times the same one: they are no picture but what a
 * disk or a transfer has lost. Where it is an end of block, they may be an even area. */
static bool zeros_are_a_hole(const struct jpeg_decompress_struct *library) {
    if (library->arith_code || library->progressive_mode) return false;
    for (int i = 0; i < library->comps_in_scan; i++) {
        const JHUFF_TBL *table = library->ac_huff_tbl_ptrs[library->cur_comp_info[i]->ac_tbl_no];
        if (table && (table->huffval[0] & 15) != 0) return true;
    }
    return false;
}

/* Looked for at every HOLE / 2-th byte: a hole half as long again is always found. */
static bool has_hole(const uint8_t *data, size_t size) {
    static const uint8_t zeros[HOLE];
    for (size_t i = 0; i + HOLE <= size; i += HOLE / 2)
        if (data[i] == 0 && memcmp(data + i, zeros, HOLE) == 0) return true;
    return false;
}

static void read_rows(jpeg_file *f) {
    struct jpeg_decompress_struct *library = &f->library;
    const size_t stride = f->image.width * f->image.channels;
    const bool is_cmyk = library->out_color_space == JCS_CMYK;
    JSAMPARRAY ink = NULL;
    if (is_cmyk)
        ink = library->mem->alloc_sarray((j_common_ptr)library, JPOOL_IMAGE,
                                         (JDIMENSION)(f->image.width * MAX_CHANNELS), 1);
    while (library->output_scanline < library->output_height) {
        JSAMPROW row = f->image.pixels + library->output_scanline * stride;
        jpeg_read_scanlines(library, is_cmyk ? ink : &row, 1);
        if (is_cmyk) cmyk_to_rgb(row, ink[0], f->image.width);
    }
}

static vit_status read_pixels(jpeg_file *f) {
    struct jpeg_decompress_struct *library = &f->library;
    const size_t bytes = f->image.width * f->image.height * f->image.channels;
    f->image.pixels = vit_alloc_unset(bytes, 1);
    if (!f->image.pixels) return vit_fail_memory(f->error, f->name, bytes);
    const bool has_scans = jpeg_has_multiple_scans(library);
    const uint8_t *data = library->src->next_input_byte;
    vit_status status = VIT_OK;
    if (has_scans)
        status = read_scans(f);
    else
        jpeg_start_decompress(library);
    if (status) return status;
    const bool knows_holes = !has_scans && zeros_are_a_hole(library); /* its tables are checked */
    read_rows(f);
    if (has_scans) jpeg_finish_output(library);
    jpeg_finish_decompress(library); /* to the end-of-image marker */
    if (knows_holes && has_hole(data, (size_t)(library->src->next_input_byte - data)))
        return corrupt(f, "a part of its data is lost: zeros stand there");
    return VIT_OK;
}

/* The picture is in f->image, without pixels where they are not wanted or cannot be had. */
static vit_status read_file(jpeg_file *f, const uint8_t *bytes, bool wants_pixels) {
    f->library.err = jpeg_std_error(&f->reports);
    f->reports.error_exit = stop;
    f->reports.emit_message = hear;
    f->reports.output_message = say_nothing;
    f->library.client_data = f;
    if (setjmp(f->stop) == 0) {
        f->status = read_header(f, bytes);
        if (!f->status && wants_pixels) f->status = read_pixels(f);
    }
    jpeg_destroy_decompress(&f->library);
    if (f->status) vit_image_free(&f->image);
    return f->status;
}

vit_status vit_jpeg_measure(size_t *width, size_t *height, const uint8_t *bytes, size_t size,
                            const char *name, vit_error *error) {
    jpeg_file f = {.size = size, .name = name, .error = error};
    vit_status status = read_file(&f, bytes, false);
    *width = f.image.width;
    *height = f.image.height;
    return status;
}

vit_status vit_jpeg_decode(vit_image *out, const uint8_t *bytes, size_t size, const char *name,
                           vit_error *error) {
    jpeg_file f = {.size = size, .name = name, .error = error};
    vit_status status = read_file(&f, bytes, true);
    *out = f.image;
    return status;
}
