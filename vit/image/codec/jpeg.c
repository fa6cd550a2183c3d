#include "vit/base/size.h"
#include "vit/base/sys.h"
#include "vit/image/codec/codecs.h"
#include "vit/image/codec/source.h"

#include <setjmp.h>
#include <stdio.h>
#include <string.h>

#include <jpeglib.h>

#include <jerror.h>

/* Pillow, torchvision and OpenCV are built on libjpeg-turbo, so it gives the same pixels; the
 * original libjpeg and its other descendants scale chroma differently. */
#ifndef LIBJPEG_TURBO_VERSION
#error "libjpeg is not libjpeg-turbo (or a descendant of it): run scripts/setup"
#endif

/* JPEG (ITU-T T.81) by libjpeg-turbo, "the library". It repairs damaged files and warns; here every
 * warning that a part of the picture was made up ends the decoding. A picture is whole when all its
 * blocks were there. What comes after the last one is not read: left-over bytes, what a camera's
 * maker wrote, an end marker or none. */

enum {
    /* The usual encoders write progressive files of 10 scans. Each scan costs a pass over the
     * picture, however few bytes it has, so their number is limited. */
    MAX_SCANS = 100,

    /* Bytes that may be left over before a restart marker, as some encoders pad there. More are
     * data of the picture: the decoder lost its place. */
    MAX_STRAY = 16,

    /* This many zero bytes in a row are not data of a picture (see zeros_are_a_hole). */
    HOLE = 64,

    MARGIN = 16,          /* columns, see narrow */
    MAX_MEMORY = 1 << 30, /* for coefficients: 100 megapixels in 4:4:4 need 600 MB */
    MARKER_JPEG_LS = 0xf7,
    MAX_CHANNELS = 4,
};

typedef struct vit_jpeg {
    struct jpeg_decompress_struct library;
    struct jpeg_error_mgr reports;
    jmp_buf stop;        /* where a call of the library continues that found an error */
    vit_status status;   /* the error then */
    bool has_scan;       /* the header was read up to the first scan */
    bool is_over;        /* all bytes of the file were read */
    bool is_started;     /* rows can be read */
    bool has_scans;      /* there are several scans */
    bool knows_holes;    /* runs of zeros mean that data are missing */
    unsigned seen;       /* bit i: a scan had component i */
    const uint8_t *data; /* of the first scan */
    const uint8_t *end;  /* of the file */
    size_t size;         /* of the file */
    size_t left, width;  /* the columns that rows have */
    JSAMPARRAY ink;      /* a row of CMYK; NULL: the picture is not CMYK */
    vit_image image;     /* without pixels */
    const char *name;
    vit_error *error; /* of the current call */
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

static vit_status truncated(const jpeg_file *f) {
    return vit_fail(f->error, VIT_ERROR_FORMAT,
                    "%s: truncated JPEG: it ends after %zu bytes, before its picture does", f->name,
                    f->size);
}

static vit_status refuse_size(const jpeg_file *f) {
    const size_t width = f->library.image_width, height = f->library.image_height;
    if (height == 0 && width > 0)
        return unsupported(f, "a JPEG whose height is given after its first scan (DNL)");
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

/* Any other message of the library; its first word gets a small letter. */
static vit_status refuse_as_told(jpeg_file *f) {
    char text[JMSG_LENGTH_MAX];
    f->reports.format_message((j_common_ptr)&f->library, text);
    const bool is_word = text[0] >= 'A' && text[0] <= 'Z' && text[1] >= 'a' && text[1] <= 'z';
    if (is_word) text[0] = (char)(text[0] - 'A' + 'a');
    return corrupt(f, text);
}

/* The error for what the library reported. */
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
    case JERR_SOF_UNSUPPORTED: /* no sequential or progressive DCT; the marker's low bits tell */
        return unsupported(f, (first & 3) == 3 ? "a lossless JPEG" : "a hierarchical JPEG");
    case JERR_FRACT_SAMPLE_NOTIMPL:
    case JERR_CCIR601_NOTIMPL:
        return unsupported(f, "a fractionally sampled JPEG");
    case JERR_ARITH_NOTIMPL:
        return unsupported(f, "an arithmetic-coded JPEG, which this libjpeg-turbo was built "
                              "without");
    case JERR_UNKNOWN_MARKER:
        return first == MARKER_JPEG_LS ? unsupported(f, "a JPEG-LS") : refuse_as_told(f);
    case JWRN_JPEG_EOF:
        return truncated(f);
    case JWRN_HIT_MARKER:
        if (f->is_over) return truncated(f);
        return corrupt(f, "the data of a scan end before its picture does");
    case JWRN_EXTRANEOUS_DATA:
        return vit_fail(f->error, VIT_ERROR_FORMAT,
                        "%s: corrupt JPEG: %d bytes are left over before a restart marker", f->name,
                        first);
    case JWRN_HUFF_BAD_CODE:
    case JWRN_ARITH_BAD_CODE:
        return corrupt(f, "its data have an invalid code");
    case JWRN_MUST_RESYNC:
        return corrupt(f, "a restart marker is missing or out of order");
    default:
        return refuse_as_told(f);
    }
}

/* ---- the library's callbacks ---- */

/* Called for errors: ends the call of the library. */
static _Noreturn void stop(j_common_ptr library) {
    jpeg_file *f = library->client_data;
    f->status = refuse(f);
    longjmp(f->stop, 1);
}

static bool is_restart(int marker) {
    return marker >= JPEG_RST0 && marker <= JPEG_RST0 + 7;
}

/* Called for messages; level < 0: a warning. Warnings other than these only mean that a file is
 * unusual. At the end of the file the library goes on as if an end marker stood there, and warns
 * with JWRN_HIT_MARKER if a block is missing; of arithmetic code it cannot know. */
static void on_message(j_common_ptr library, int level) {
    jpeg_file *f = library->client_data;
    const int *numbers = f->reports.msg_parm.i;
    if (level >= 0) return;
    switch (f->reports.msg_code) {
    case JWRN_EXTRANEOUS_DATA:
        if (!is_restart(numbers[1]) || numbers[0] <= MAX_STRAY) return;
        stop(library);
    case JWRN_JPEG_EOF:
        f->is_over = true;
        if (f->has_scan && !f->library.arith_code) return;
        stop(library);
    case JWRN_HIT_MARKER:
    case JWRN_HUFF_BAD_CODE:
    case JWRN_ARITH_BAD_CODE:
    case JWRN_MUST_RESYNC:
        stop(library);
    default:
        break;
    }
}

/* Called to print a message. */
static void print_nothing(j_common_ptr library) {
    (void)library;
}

/* ---- reading: on an error of the library these functions do not return (see stop) ---- */

/* The orientation in the first EXIF data, else in the last XMP packet. They share their marker with
 * other kinds of data. */
static unsigned orientation_of(const struct jpeg_decompress_struct *library) {
    static const char label[] = "http://ns.adobe.com/xap/1.0/";
    unsigned exif = 0, xmp = 0;
    bool has_exif = false;
    for (const struct jpeg_marker_struct *m = library->marker_list; m; m = m->next) {
        const uint8_t *tiff;
        size_t size;
        if (!has_exif && vit_exif_find(&tiff, &size, m->data, m->data_length)) {
            has_exif = true;
            exif = vit_exif_orientation(tiff, size);
        } else if (m->data_length >= sizeof label && memcmp(m->data, label, sizeof label) == 0) {
            xmp = vit_xmp_orientation(m->data + sizeof label, m->data_length - sizeof label);
        }
    }
    if (!exif) exif = xmp;
    return exif < VIT_ORIENTATION_UNKNOWN ? exif : 0;
}

/* Reads up to the first scan. */
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
    f->image.width = f->width = width;
    f->image.height = height;
    f->image.channels = components == 1 ? 1 : 3;
    f->image.orientation = orientation_of(library);
    return VIT_OK;
}

/* Whether every coefficient was read to its last bit. The library makes up those that were not. */
static bool is_complete(const jpeg_file *f) {
    const struct jpeg_decompress_struct *library = &f->library;
    const int components = library->num_components;
    if (!library->coef_bits) return f->seen == (1U << components) - 1;
    for (int i = 0; i < components; i++)
        for (int k = 0; k < DCTSIZE2; k++)
            if (library->coef_bits[i][k] != 0) return false;
    return true;
}

/* Reads the coefficients of a file with several scans, such as a progressive one. */
static vit_status read_scans(jpeg_file *f) {
    struct jpeg_decompress_struct *library = &f->library;
    int event = JPEG_REACHED_SOS;
    library->buffered_image = TRUE;
    jpeg_start_decompress(library);
    for (; event != JPEG_REACHED_EOI; event = jpeg_consume_input(library)) {
        if (event == JPEG_SCAN_COMPLETED && is_complete(f)) break;
        if (event != JPEG_REACHED_SOS) continue;
        if (library->input_scan_number > MAX_SCANS) return corrupt(f, "it has more than 100 scans");
        for (int i = 0; i < library->comps_in_scan; i++)
            f->seen |= 1U << library->cur_comp_info[i]->component_index;
    }
    if (!is_complete(f))
        return f->is_over ? truncated(f) : corrupt(f, "some of its scans are missing");
    jpeg_start_output(library, library->input_scan_number);
    return VIT_OK;
}

/* Whether a run of HOLE zero bytes must be data that a disk or a transfer has lost. Zeros decode to
 * the first symbol of a table over and over. If that symbol is a coefficient other than 0, the run
 * is several blocks of 63 equal coefficients, which is no picture. If it is an end of block, it may
 * be an even area. */
static bool zeros_are_a_hole(const struct jpeg_decompress_struct *library) {
    if (library->arith_code || library->progressive_mode) return false;
    for (int i = 0; i < library->comps_in_scan; i++) {
        const JHUFF_TBL *table = library->ac_huff_tbl_ptrs[library->cur_comp_info[i]->ac_tbl_no];
        if (table && (table->huffval[0] & 15) != 0) return true;
    }
    return false;
}

/* Looks at every HOLE / 2-th byte, so that a run of 1.5 HOLE zeros is always found. */
static bool has_hole(const uint8_t *data, size_t size) {
    static const uint8_t zeros[HOLE];
    for (size_t i = 0; i + HOLE <= size; i += HOLE / 2)
        if (data[i] == 0 && memcmp(data + i, zeros, HOLE) == 0) return true;
    return false;
}

/* Gets ready to read rows. */
static vit_status start(jpeg_file *f) {
    struct jpeg_decompress_struct *library = &f->library;
    vit_status status = VIT_OK;
    f->has_scans = jpeg_has_multiple_scans(library);
    f->data = library->src->next_input_byte;
    if (f->has_scans)
        status = read_scans(f);
    else
        jpeg_start_decompress(library);
    if (status != VIT_OK) return status;
    f->knows_holes = !f->has_scans && zeros_are_a_hole(library); /* tables were checked by now */
    if (library->out_color_space == JCS_CMYK)
        f->ink = library->mem->alloc_sarray((j_common_ptr)library, JPOOL_IMAGE,
                                            (JDIMENSION)(f->image.width * MAX_CHANNELS), 1);
    f->is_started = true;
    return VIT_OK;
}

/* Leaves out columns before the inverse transform. At the new edges upsampling lacks a neighbour,
 * so MARGIN more columns are kept on either side of those that are wanted. */
static vit_status narrow(jpeg_file *f, size_t left, size_t width) {
    const size_t right = vit_min(left + width + MARGIN, f->image.width);
    JDIMENSION first = (JDIMENSION)(left - vit_min(left, MARGIN));
    JDIMENSION columns = (JDIMENSION)right - first;
    const vit_status status = start(f);
    if (status != VIT_OK || f->has_scans) return status;
    jpeg_crop_scanline(&f->library, &first, &columns);
    f->left = first;
    f->width = columns;
    return VIT_OK;
}

/* After the last row. */
static vit_status end(const jpeg_file *f) {
    const uint8_t *after = f->is_over ? f->end : f->library.src->next_input_byte;
    if (f->knows_holes && has_hole(f->data, (size_t)(after - f->data)))
        return corrupt(f, "a part of its data is lost: there are zeros in its place");
    return VIT_OK;
}

static vit_status read_rows(jpeg_file *f, uint8_t *row, size_t count) {
    struct jpeg_decompress_struct *library = &f->library;
    const vit_status status = f->is_started ? VIT_OK : start(f);
    if (status != VIT_OK) return status;
    for (; count > 0; count--, row += f->width * f->image.channels) {
        jpeg_read_scanlines(library, f->ink ? f->ink : &row, 1);
        if (f->ink) vit_cmyk_to_rgb(row, f->ink[0], f->width, true);
    }
    return library->output_scanline < library->output_height ? VIT_OK : end(f);
}

/* ---- the interface ---- */

vit_status vit_jpeg_open(vit_jpeg **out, vit_image *header, const uint8_t *bytes, size_t size,
                         const char *name, vit_error *error) {
    jpeg_file *f = *out = vit_alloc(1, sizeof *f);
    if (!f) return vit_fail_memory(error, name, sizeof *f);
    f->size = size;
    f->end = bytes + size;
    f->name = name;
    f->error = error;
    f->library.err = jpeg_std_error(&f->reports);
    f->reports.error_exit = stop;
    f->reports.emit_message = on_message;
    f->reports.output_message = print_nothing;
    f->library.client_data = f;
    if (setjmp(f->stop) == 0) f->status = read_header(f, bytes);
    *header = f->image;
    const vit_status status = f->status;
    if (status == VIT_OK) return VIT_OK;
    vit_jpeg_close(f);
    *out = NULL;
    return status;
}

vit_status vit_jpeg_rows(vit_jpeg *f, uint8_t *rows, size_t count, vit_error *error) {
    f->error = error;
    if (setjmp(f->stop) == 0) f->status = read_rows(f, rows, count);
    return f->status;
}

vit_status vit_jpeg_narrow(vit_jpeg *f, size_t *left, size_t *width, vit_error *error) {
    f->error = error;
    if (setjmp(f->stop) == 0) f->status = narrow(f, *left, *width);
    *left = f->left;
    *width = f->width;
    return f->status;
}

void vit_jpeg_close(vit_jpeg *f) {
    if (f) jpeg_destroy_decompress(&f->library);
    vit_free(f);
}
