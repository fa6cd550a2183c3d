#include "vit/cli/stream/frames.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "vit/base/size.h"
#include "vit/base/text.h"
#include "vit/cli/parts/interrupt.h"
#include "vit/cli/stream/input.h"
#include "vit/cli/stream/yuv.h"

#define LARGEST ((size_t)256 << 20) /* bytes of a frame */
#define LONGEST_LINE 2048

typedef enum stream_kind {
    STREAM_JPEG,
    STREAM_YUV,
    STREAM_PNM,
    STREAM_RAW,
    STREAM_KINDS
} stream_kind;

struct vit_frames {
    vit_input input;
    stream_kind kind;
    double rate;
    uint64_t count; /* frames that were begun */
    vit_yuv yuv;
    size_t width, height, channels; /* of STREAM_RAW */
    uint8_t first[16];              /* of STREAM_PNM: how the first frame begins */
    size_t first_size;
};

static const char *const kinds[] = {[STREAM_JPEG] = "motion JPEG",
                                    [STREAM_YUV] = "YUV4MPEG2",
                                    [STREAM_PNM] = "PPM or PGM",
                                    [STREAM_RAW] = "raw pixels"};
VIT_CHECK_ROWS(kinds, STREAM_KINDS);

const char *vit_frames_kind(const vit_frames *f) {
    return kinds[f->kind];
}

void vit_frame_free(vit_frame *frame) {
    vit_free(frame->bytes);
    vit_free(frame->pixels);
    *frame = (vit_frame){0};
}

/* ---- the bytes of a frame ---- */

static vit_status reserve(vit_frame *frame, size_t size, vit_error *error) {
    if (size <= frame->capacity) return VIT_OK;
    const size_t capacity = vit_max(size, 2 * frame->capacity);
    uint8_t *grown = vit_realloc(frame->bytes, frame->size, capacity, 1);
    if (!grown) return vit_fail_memory(error, "a frame", capacity);
    frame->bytes = grown;
    frame->capacity = capacity;
    return VIT_OK;
}

/* Appends bytes of the stream; *whole: they were all there. */
static vit_status append(vit_frames *f, vit_frame *frame, size_t size, bool *whole,
                         vit_error *error) {
    const vit_status status = reserve(frame, frame->size + size, error);
    if (status != VIT_OK) return status;
    const size_t taken = vit_input_take(&f->input, frame->bytes + frame->size, size);
    frame->size += taken;
    *whole = taken == size;
    return VIT_OK;
}

static vit_status fail_cut(const vit_frames *f, const vit_frame *frame, vit_error *error) {
    if (vit_interrupted()) return VIT_OK;
    return vit_fail(error, VIT_ERROR_FORMAT,
                    "%s ends in the midst of frame %llu, after %zu bytes of it", f->input.name,
                    (unsigned long long)frame->number, frame->size);
}

static void damage(const vit_frames *f, vit_frame *frame, const char *what) {
    vit_fail(&frame->problem, VIT_ERROR_FORMAT, "%s: frame %llu is damaged at byte %llu: %s",
             f->input.name, (unsigned long long)frame->number, (unsigned long long)f->input.offset,
             what);
}

/* ---- motion JPEG: one JPEG after the other, whatever is between them ---- */

/* Bytes up to the next marker that ends the data of a scan. */
static vit_status append_scan(vit_frames *f, vit_frame *frame, bool *whole, vit_error *error) {
    vit_status status = VIT_OK;
    for (*whole = true; *whole && status == VIT_OK;) {
        *whole = vit_input_has(&f->input, 2);
        if (!*whole) return append(f, frame, f->input.end - f->input.begin, &(bool){false}, error);
        const uint8_t *at = vit_input_look(&f->input);
        const size_t there = f->input.end - f->input.begin;
        const uint8_t *marker = memchr(at, 0xff, there - 1);
        if (frame->size > LARGEST) return VIT_OK;
        if (marker == at && at[1] != 0 && at[1] != 0xff && (at[1] & 0xf8) != 0xd0) return VIT_OK;
        const size_t plain = !marker         ? there - 1
                             : marker > at   ? (size_t)(marker - at)
                             : at[1] == 0xff ? 1
                                             : 2;
        status = append(f, frame, plain, whole, error);
    }
    return status;
}

/* One marker and what belongs to it. *ends: the picture is complete, or damaged. */
static vit_status append_segment(vit_frames *f, vit_frame *frame, bool *ends, bool *whole,
                                 vit_error *error) {
    *whole = vit_input_has(&f->input, 2);
    if (!*whole) return VIT_OK;
    const uint8_t *at = vit_input_look(&f->input), marker = at[1];
    const bool is_restart = (marker & 0xf8) == 0xd0 || marker == 1;
    *ends = at[0] != 0xff || marker == 0xd8 || marker == 0 || frame->size > LARGEST;
    if (*ends) {
        damage(f, frame,
               at[0] == 0xff && marker == 0xd8 ? "the next one begins before it ends"
               : frame->size > LARGEST         ? "it is larger than 256 MiB"
                                               : "a marker of JPEG is expected");
        return VIT_OK;
    }
    if (marker == 0xff) return append(f, frame, 1, whole, error);
    *ends = marker == 0xd9;
    if (is_restart || *ends) return append(f, frame, 2, whole, error);
    *whole = vit_input_has(&f->input, 4);
    if (!*whole) return VIT_OK;
    at = vit_input_look(&f->input);
    const size_t length = (size_t)at[2] << 8 | at[3];
    *ends = length < 2;
    if (*ends) {
        damage(f, frame, "a segment of JPEG has no length");
        vit_input_skip(&f->input, 2);
        return VIT_OK;
    }
    const vit_status status = append(f, frame, 2 + length, whole, error);
    return status == VIT_OK && *whole && marker == 0xda ? append_scan(f, frame, whole, error)
                                                        : status;
}

static vit_status next_jpeg(vit_frames *f, vit_frame *frame, bool *more, vit_error *error) {
    bool ends = false, whole = true;
    *more = vit_input_find(&f->input, "\xff\xd8\xff", 3);
    if (!*more) return VIT_OK;
    frame->number = f->count++;
    vit_status status = append(f, frame, 2, &whole, error);
    while (status == VIT_OK && whole && !ends)
        status = append_segment(f, frame, &ends, &whole, error);
    return status == VIT_OK && !whole ? fail_cut(f, frame, error) : status;
}

/* ---- frames of a known size ---- */

static vit_status next_sized(vit_frames *f, vit_frame *frame, size_t size, vit_error *error) {
    bool whole;
    const vit_status status = append(f, frame, size, &whole, error);
    return status == VIT_OK && !whole ? fail_cut(f, frame, error) : status;
}

static vit_status next_raw(vit_frames *f, vit_frame *frame, bool *more, vit_error *error) {
    *more = vit_input_has(&f->input, 1);
    if (!*more) return VIT_OK;
    frame->number = f->count++;
    return next_sized(f, frame, f->width * f->height * f->channels, error);
}

/* ---- YUV4MPEG2 ---- */

/* A line without its newline. False: it is too long, or the stream ends. */
static bool take_line(vit_frames *f, char line[LONGEST_LINE]) {
    size_t length = 0;
    while (length + 1 < LONGEST_LINE && vit_input_has(&f->input, 1)) {
        const char c = (char)*vit_input_look(&f->input);
        vit_input_skip(&f->input, 1);
        line[length] = 0;
        if (c == '\n') return true;
        line[length++] = c;
    }
    return false;
}

static bool begins(vit_frames *f, const char *word) {
    const size_t length = strlen(word);
    return vit_input_has(&f->input, length) && memcmp(vit_input_look(&f->input), word, length) == 0;
}

static vit_status next_yuv(vit_frames *f, vit_frame *frame, bool *more, vit_error *error) {
    char line[LONGEST_LINE];
    *more = vit_input_has(&f->input, 1);
    if (!*more) return VIT_OK;
    frame->number = f->count++;
    if (!begins(f, "FRAME")) {
        if (f->input.ended) return fail_cut(f, frame, error);
        damage(f, frame, "the word FRAME is expected");
        vit_input_find(&f->input, "FRAME", 5);
        return VIT_OK;
    }
    if (!take_line(f, line)) {
        if (f->input.ended) return fail_cut(f, frame, error);
        damage(f, frame, "its line FRAME does not end");
        return VIT_OK;
    }
    return next_sized(f, frame, vit_yuv_size(&f->yuv), error);
}

static vit_status open_yuv(vit_frames *f, const vit_frames_options *o, vit_error *error) {
    char line[LONGEST_LINE];
    if (!take_line(f, line))
        return vit_fail(error, VIT_ERROR_FORMAT, "%s: the header of YUV4MPEG2 does not end",
                        f->input.name);
    f->yuv.matrix = o->matrix;
    const vit_status status = vit_yuv_parse(&f->yuv, line, error);
    if (status != VIT_OK) return vit_fail_prefix(error, status, f->input.name);
    if (vit_yuv_size(&f->yuv) > LARGEST)
        return vit_fail(error, VIT_ERROR_UNSUPPORTED, "%s: frames of more than 256 MiB",
                        f->input.name);
    if (o->rate > 0 && f->yuv.rate > 0)
        return vit_fail(error, VIT_ERROR_ARGUMENT,
                        "%s: says its own frames a second: leave --fps out", f->input.name);
    if (f->yuv.rate > 0) f->rate = f->yuv.rate;
    return VIT_OK;
}

/* ---- PPM and PGM, as bytes ---- */

static bool is_space(uint8_t c) {
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* A number of a header, with the white space and the comments before it, and one sign behind it. */
static vit_status append_number(vit_frames *f, vit_frame *frame, size_t *value, bool *whole,
                                vit_error *error) {
    bool in_comment = false, has_digit = false;
    vit_status status = VIT_OK;
    *value = 0;
    for (;;) {
        *whole = frame->size < LONGEST_LINE && vit_input_has(&f->input, 1);
        if (!*whole) return VIT_OK;
        const uint8_t c = *vit_input_look(&f->input);
        const bool is_digit = c >= '0' && c <= '9';
        if (!in_comment && !is_digit && !is_space(c) && (c != '#' || has_digit)) {
            *value = 0;
            return VIT_OK;
        }
        status = append(f, frame, 1, whole, error);
        if (status != VIT_OK || (!in_comment && has_digit && !is_digit)) return status;
        if (!in_comment && is_digit) {
            *value = vit_min(*value * 10 + (size_t)(c - '0'), (size_t)1 << 24);
            has_digit = true;
        }
        in_comment = in_comment ? c != '\n' : c == '#';
    }
}

/* 0: the header is damaged. */
static vit_status read_pnm_header(vit_frames *f, vit_frame *frame, size_t *size, bool *whole,
                                  vit_error *error) {
    size_t numbers[3] = {0};
    *size = 0;
    *whole = vit_input_has(&f->input, 2);
    if (!*whole) return VIT_OK;
    const uint8_t *at = vit_input_look(&f->input), kind = at[1];
    if (at[0] != 'P' || (kind != '5' && kind != '6')) return VIT_OK;
    vit_status status = append(f, frame, 2, whole, error);
    for (int i = 0; i < 3 && status == VIT_OK && *whole; i++) {
        status = append_number(f, frame, &numbers[i], whole, error);
        if (status == VIT_OK && numbers[i] == 0) return VIT_OK;
    }
    if (status != VIT_OK || !*whole) return status;
    if (numbers[0] > 65535 || numbers[1] > 65535 || numbers[2] > 65535) return VIT_OK;
    *size = numbers[0] * numbers[1] * (kind == '6' ? 3 : 1) * (numbers[2] > 255 ? 2 : 1);
    if (*size > LARGEST) *size = 0;
    return VIT_OK;
}

static vit_status next_pnm(vit_frames *f, vit_frame *frame, bool *more, vit_error *error) {
    size_t size;
    bool whole;
    while ((*more = vit_input_has(&f->input, 1)) && is_space(*vit_input_look(&f->input)))
        vit_input_skip(&f->input, 1);
    if (!*more) return VIT_OK;
    frame->number = f->count++;
    vit_status status = read_pnm_header(f, frame, &size, &whole, error);
    if (status != VIT_OK) return status;
    if (!whole && f->input.ended) return fail_cut(f, frame, error);
    if (size == 0) {
        damage(f, frame, "a header of PPM or PGM is expected, P6 or P5, width, height, maximum");
        if (f->first_size > 0) vit_input_find(&f->input, f->first, f->first_size);
        return VIT_OK;
    }
    if (f->first_size == 0) {
        f->first_size = vit_min(frame->size, sizeof f->first);
        memcpy(f->first, frame->bytes, f->first_size);
    }
    return next_sized(f, frame, size, error);
}

/* ---- all kinds ---- */

vit_status vit_frames_next(vit_frames *f, vit_frame *frame, bool *more, vit_error *error) {
    vit_status status = VIT_OK;
    frame->size = 0;
    frame->problem = (vit_error){0};
    switch (f->kind) {
    case STREAM_JPEG:
        status = next_jpeg(f, frame, more, error);
        break;
    case STREAM_YUV:
        status = next_yuv(f, frame, more, error);
        break;
    case STREAM_PNM:
        status = next_pnm(f, frame, more, error);
        break;
    case STREAM_RAW:
        status = next_raw(f, frame, more, error);
        break;
    case STREAM_KINDS:
        *more = false;
    }
    *more = *more && status == VIT_OK && !vit_interrupted();
    snprintf(frame->name, sizeof frame->name, "%.80s: frame %llu", f->input.name,
             (unsigned long long)frame->number);
    frame->time = f->rate > 0 ? (double)frame->number / f->rate : NAN;
    frame->arrived = vit_clock();
    if (f->input.failed)
        return vit_fail_errno(error, f->input.failed, "cannot read %s", f->input.name);
    return status;
}

/* A picture that comes as bytes is read by its own decoder. */
vit_status vit_frame_picture(vit_picture *picture, const vit_frames *f, vit_frame *frame,
                             vit_error *error) {
    *picture = (vit_picture){.name = frame->name, .bytes = frame->bytes, .size = frame->size};
    if (f->kind == STREAM_JPEG || f->kind == STREAM_PNM) return VIT_OK;
    const bool is_yuv = f->kind == STREAM_YUV;
    const size_t channels = !is_yuv ? f->channels : f->yuv.across > 0 ? 3 : 1;
    const size_t width = is_yuv ? f->yuv.width : f->width;
    const size_t height = is_yuv ? f->yuv.height : f->height, size = width * height * channels;
    if (is_yuv && frame->pixel_capacity < size) {
        vit_free(frame->pixels);
        frame->pixels = vit_alloc(1, size);
        frame->pixel_capacity = frame->pixels ? size : 0;
        if (!frame->pixels) return vit_fail_memory(error, "a frame", size);
    }
    if (is_yuv) vit_yuv_convert(frame->pixels, &f->yuv, frame->bytes);
    *picture = (vit_picture){.name = frame->name,
                             .pixels = is_yuv ? frame->pixels : frame->bytes,
                             .width = width,
                             .height = height,
                             .channels = channels,
                             .stride = width * channels};
    return VIT_OK;
}

/* ---- opening ---- */

/* "640x480" or "640x480:rgb24" or "640x480:gray". */
static vit_status open_raw(vit_frames *f, const char *raw, vit_error *error) {
    char size[32];
    const size_t length = strcspn(raw, ":");
    const char *form = raw[length] ? raw + length + 1 : "rgb24";
    uint64_t sides[2] = {0};
    f->kind = STREAM_RAW;
    f->channels = strcmp(form, "gray") == 0 ? 1 : strcmp(form, "rgb24") == 0 ? 3 : 0;
    if (length < sizeof size) {
        memcpy(size, raw, length);
        size[length] = 0;
        char *x = strchr(size, 'x');
        if (x) *x = 0;
        if (!x || !vit_parse_u64(size, &sides[0]) || !vit_parse_u64(x + 1, &sides[1])) sides[0] = 0;
    }
    f->width = (size_t)sides[0];
    f->height = (size_t)sides[1];
    const bool fits = sides[0] > 0 && sides[1] > 0 && sides[0] <= 65535 && sides[1] <= 65535;
    if (fits && f->channels > 0 && f->width * f->height * f->channels <= LARGEST) return VIT_OK;
    return vit_fail(error, VIT_ERROR_ARGUMENT,
                    "--frames %s: expected width and height as 640x480, of rgb24, or 640x480:gray",
                    raw);
}

static vit_status recognise(vit_frames *f, const vit_frames_options *o, vit_error *error) {
    if (o->raw) return open_raw(f, o->raw, error);
    const bool is_there = vit_input_has(&f->input, 1);
    if (!is_there && vit_interrupted()) return VIT_OK;
    if (!is_there)
        return vit_fail(error, VIT_ERROR_FORMAT, "%s is empty, expected frames", f->input.name);
    if (begins(f, "YUV4MPEG2")) {
        f->kind = STREAM_YUV;
        return open_yuv(f, o, error);
    }
    f->kind = STREAM_PNM;
    if (begins(f, "P6") || begins(f, "P5")) return VIT_OK;
    f->kind = STREAM_JPEG;
    if (begins(f, "\xff\xd8") || begins(f, "--") || begins(f, "\r\n--")) return VIT_OK;
    return vit_fail(error, VIT_ERROR_FORMAT,
                    "%s: is no stream of frames that is read: expected motion JPEG (ffmpeg -f "
                    "mjpeg), YUV4MPEG2 (ffmpeg -f yuv4mpegpipe), PPM (ffmpeg -f image2pipe -c:v "
                    "ppm), or with --frames WxH raw pixels (ffmpeg -f rawvideo -pix_fmt rgb24)",
                    f->input.name);
}

vit_status vit_frames_open(vit_frames **out, const vit_frames_options *o, vit_error *error) {
    vit_frames *f = *out = vit_alloc(1, sizeof *f);
    if (!f) return vit_fail_memory(error, "a stream", sizeof *f);
    f->rate = o->rate;
    vit_status status = vit_input_open(&f->input, o->path, error);
    if (status != VIT_OK) return status;
    vit_interrupt_ends_within(1);
    vit_interrupt_catch(); /* before, an interruption ends the program, which waits for a writer */
    return recognise(f, o, error);
}

void vit_frames_close(vit_frames *f) {
    if (!f) return;
    vit_input_close(&f->input);
    vit_free(f);
}
