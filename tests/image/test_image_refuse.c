/* Pictures that must be refused, with a reason, without a crash and without much memory. */
#include "tests/support/fault.h"
#include "tests/support/pictures.h"
#include "tests/support/unit.h"
#include "vit/image/codec/decode.h"
#include "vit/image/prepare/preprocess.h"

#include <string.h>
#include <zlib.h>

static void assert_refused(const void *bytes, size_t size, vit_status expected,
                           const char *reason) {
    vit_image image;
    vit_error error = {0};
    vit_status status = vit_image_decode(&image, bytes, size, "some.file", &error);
    if (status != expected || !strstr(error.message, reason))
        fail_msg("status %s, \"%s\"; expected %s, \"%s\"", vit_status_name(status), error.message,
                 vit_status_name(expected), reason);
    assert_ptr_equal(strstr(error.message, "some.file: "), error.message);
    assert_null(image.pixels);
}

/* ---- prefixes and single bytes ---- */

static const char *const fixtures[] = {
    "image_rgb.png",  "image_palette.png", "image_420_restart.jpg", "image_progressive.jpg",
    "image_grey.jpg", "image_cmyk.jpg",    "image_overflow.jpg"};

/* Whether the file's first `size` bytes are read, which must give the whole picture then. */
static bool is_read(const vit_bytes *file, size_t size, uint32_t whole) {
    vit_image image;
    vit_error error = {0};
    uint8_t *prefix = vit_alloc(size, 1); /* so that reading on is seen */
    memcpy(prefix, file->data, size);
    const bool read = vit_image_decode(&image, prefix, size, "some.file", &error) == VIT_OK;
    if (read) {
        assert_int_equal(picture_crc(&image), whole);
    } else {
        assert_ptr_equal(strstr(error.message, "some.file: "), error.message);
        assert_null(image.pixels);
    }
    vit_image_free(&image);
    vit_free(prefix);
    return read;
}

/* Without the end marker of a JPEG, and the last byte before it, all blocks may still be there. */
static void refuses_every_prefix(void **state) {
    for (size_t i = 0; i < sizeof fixtures / sizeof *fixtures; i++) {
        vit_bytes file = read_fixture(fixtures[i]);
        vit_image image;
        vit_error error;
        const bool is_whole =
            vit_image_decode(&image, file.data, file.size, fixtures[i], &error) == VIT_OK;
        const uint32_t whole = is_whole ? picture_crc(&image) : 0;
        vit_image_free(&image);
        for (size_t size = 0; size < file.size; size++)
            if (is_read(&file, size, whole) && (size + 3 < file.size || strstr(fixtures[i], "png")))
                fail_msg("%s cut to %zu bytes was read", fixtures[i], size);
        vit_free(file.data);
    }
}

/* Every byte of a PNG is under a check sum; a JPEG has none, and most damage gives a picture. */
static void survives_every_changed_byte(void **state) {
    static const uint8_t masks[] = {0x01, 0x10, 0x80, 0xff};
    for (size_t i = 0; i < sizeof fixtures / sizeof *fixtures; i++) {
        vit_bytes file = read_fixture(fixtures[i]);
        bool is_png = strstr(fixtures[i], ".png");
        for (size_t at = 0; at < file.size * sizeof masks; at++) {
            vit_image image;
            vit_error error = {0};
            uint8_t mask = masks[at % sizeof masks];
            file.data[at / sizeof masks] ^= mask;
            vit_status status = vit_image_decode(&image, file.data, file.size, "some.file", &error);
            if (is_png && status == VIT_OK)
                fail_msg("%s with a changed byte %zu was read", fixtures[i], at / sizeof masks);
            assert_true((status == VIT_OK) == (image.pixels != NULL));
            vit_image_free(&image);
            file.data[at / sizeof masks] ^= mask;
        }
        vit_free(file.data);
    }
}

/* ---- other files ---- */

static void names_other_formats(void **state) {
    static const struct {
        const char *bytes;
        size_t size;
        vit_status status;
        const char *reason;
    } cases[] = {
        {"", 0, VIT_ERROR_FORMAT, "the file is empty"},
        {"GIF89a\1\0\1\0", 10, VIT_ERROR_FORMAT, "truncated GIF"},
        {"BM\x46\0\0\0", 6, VIT_ERROR_FORMAT, "truncated BMP"},
        {"qoif\0\0", 6, VIT_ERROR_UNSUPPORTED, "the file is a QOI; pictures are read as PNG, JPEG"},
        {"\0\0\1\0\1\0", 6, VIT_ERROR_UNSUPPORTED, "an ICO"},
        {"8BPS\0\1", 6, VIT_ERROR_UNSUPPORTED, "a Photoshop document"},
        {"P7\nWIDTH 3", 10, VIT_ERROR_UNSUPPORTED, "a PAM"},
        {"hello\n", 6, VIT_ERROR_UNSUPPORTED, "the file is text"},
        {"<svg xmlns=''/>", 15, VIT_ERROR_UNSUPPORTED, "the file is text"},
        {"\x89PNG\n\x1a\n\0", 8, VIT_ERROR_FORMAT, "signature is damaged"},
        {"\x07\x08\x09", 3, VIT_ERROR_FORMAT, "byte 0x07 and is no picture that is read here"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_refused(cases[i].bytes, cases[i].size, cases[i].status, cases[i].reason);
}

static void names_files_it_cannot_open(void **state) {
    vit_image image;
    vit_error error;
    assert_int_equal(vit_image_load(&image, "/nonexistent/a.png", &error), VIT_ERROR_IO);
    assert_non_null(strstr(error.message, "/nonexistent/a.png"));
    assert_null(image.pixels);
}

/* ---- PNG ---- */

static void assert_png_refused(png_builder *png, vit_status status, const char *reason) {
    png_chunk(png, "IEND", NULL, 0);
    assert_refused(png->bytes, png->size, status, reason);
}

static void refuses_impossible_png_headers(void **state) {
    static png_builder png;
    static const struct {
        uint32_t width, height;
        int depth, color, interlace;
        vit_status status;
        const char *reason;
    } cases[] = {
        {0, 5, 8, 0, 0, VIT_ERROR_FORMAT, "0 x 5 pixels"},
        {5, 0, 8, 0, 0, VIT_ERROR_FORMAT, "5 x 0 pixels"},
        {65536, 1, 8, 0, 0, VIT_ERROR_UNSUPPORTED, "at most 65535 a side"},
        {0xffffffff, 0xffffffff, 8, 0, 0, VIT_ERROR_UNSUPPORTED, "at most 65535 a side"},
        {10001, 10000, 8, 0, 0, VIT_ERROR_UNSUPPORTED, "100000000 in all"},
        {5, 5, 16, 3, 0, VIT_ERROR_FORMAT, "color type 3 with 16 bits"},
        {5, 5, 4, 2, 0, VIT_ERROR_FORMAT, "color type 2 with 4 bits"},
        {5, 5, 8, 5, 0, VIT_ERROR_FORMAT, "color type 5 with 8 bits"},
        {5, 5, 8, 0, 2, VIT_ERROR_FORMAT, "interlace 2"},
        {10000, 10000, 8, 0, 0, VIT_ERROR_FORMAT, "cannot hold 10000 x 10000 pixels"},
        {10000, 10000, 16, 6, 1, VIT_ERROR_FORMAT, "cannot hold 10000 x 10000 pixels"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        png_begin(&png, cases[i].width, cases[i].height, cases[i].depth, cases[i].color,
                  cases[i].interlace);
        png_data(&png, "\0\0", 2);
        assert_png_refused(&png, cases[i].status, cases[i].reason);
    }
}

/* What begins with a 1 x 1 picture of 8 bits grey (0) or palette (3) and goes on with chunks. */
static void refuses_misplaced_png_chunks(void **state) {
    static png_builder png;
    static const struct {
        int color;
        struct {
            const char *type, *data; /* an IDAT of the data when they are "pixels" */
            size_t size;
        } chunks[4];
        vit_status status;
        const char *reason;
    } cases[] = {
        {0, {{"", NULL, 0}}, VIT_ERROR_FORMAT, "no IDAT chunk"},
        {0, {{"IHDR", "0123456789abc", 13}}, VIT_ERROR_FORMAT, "two IHDR chunks"},
        {0, {{"CgBI", "abcd", 4}}, VIT_ERROR_UNSUPPORTED, "chunk CgBI"},
        {0, {{"p+xy", "a", 1}}, VIT_ERROR_FORMAT, "no chunk begins at byte 33"},
        {3, {{"IDAT", "pixels", 0}}, VIT_ERROR_FORMAT, "no PLTE chunk"},
        {3, {{"PLTE", "abcd", 4}}, VIT_ERROR_FORMAT, "PLTE chunk has 4 bytes"},
        {3, {{"PLTE", "", 0}}, VIT_ERROR_FORMAT, "PLTE chunk has 0 bytes"},
        {3, {{"PLTE", "abc", 3}, {"PLTE", "abc", 3}}, VIT_ERROR_FORMAT, "two PLTE chunks"},
        {3, {{"tRNS", "a", 1}, {"PLTE", "abc", 3}}, VIT_ERROR_FORMAT, "tRNS chunk does not fit"},
        {3, {{"PLTE", "abc", 3}, {"tRNS", "ab", 2}}, VIT_ERROR_FORMAT, "tRNS chunk does not fit"},
        {0, {{"tRNS", "abc", 3}}, VIT_ERROR_FORMAT, "tRNS chunk does not fit"},
        {0, {{"IDAT", "pixels", 0}, {"tRNS", "ab", 2}}, VIT_ERROR_FORMAT, "tRNS chunk follows"},
        {0, {{"IDAT", "pixels", 0}, {"PLTE", "abc", 3}}, VIT_ERROR_FORMAT, "PLTE chunk follows"},
        {0,
         {{"IDAT", "pixels", 0}, {"tEXt", "a", 1}, {"IDAT", "", 0}},
         VIT_ERROR_FORMAT,
         "not in a row"},
        {3,
         {{"PLTE", "abc", 3}, {"IDAT", "pixels", 0}},
         VIT_ERROR_FORMAT,
         "color 1, the palette 1"},
        {0, {{"IDAT", "no zlib", 7}}, VIT_ERROR_FORMAT, "compressed pixels are damaged"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        png_begin(&png, 1, 1, 8, cases[i].color, 0);
        for (size_t k = 0; k < 4 && cases[i].chunks[k].data; k++) {
            if (strcmp(cases[i].chunks[k].data, "pixels") == 0)
                png_data(&png, "\0\1", 2);
            else
                png_chunk(&png, cases[i].chunks[k].type, cases[i].chunks[k].data,
                          cases[i].chunks[k].size);
        }
        assert_png_refused(&png, cases[i].status, cases[i].reason);
    }
}

static void refuses_png_without_its_header(void **state) {
    static png_builder png;
    png_begin(&png, 1, 1, 8, 0, 0);
    png.size = 8; /* the signature */
    png_chunk(&png, "CgBI", "\x50\0\x20\2", 4);
    assert_png_refused(&png, VIT_ERROR_UNSUPPORTED, "Apple's CgBI");
    png.size = 8;
    assert_png_refused(&png, VIT_ERROR_FORMAT, "first chunk is IEND, expected IHDR");
}

/* Too few rows; a filter that does not exist. */
static void refuses_png_data_of_the_wrong_size(void **state) {
    static png_builder png;
    uint8_t zeros[16 * 17] = {0};
    png_begin(&png, 16, 16, 8, 0, 0);
    png_data(&png, zeros, 15 * 17);
    assert_png_refused(&png, VIT_ERROR_FORMAT, "compressed pixels end too early");
    png_begin(&png, 16, 16, 8, 0, 1);
    png_data(&png, zeros, 16 * 17);
    assert_png_refused(&png, VIT_ERROR_FORMAT, "compressed pixels end too early");
    zeros[17] = 5;
    png_begin(&png, 16, 16, 8, 0, 0);
    png_data(&png, zeros, 16 * 17);
    assert_png_refused(&png, VIT_ERROR_FORMAT, "compressed pixels are corrupt");
}

/* The pixels of a picture of side x side, and `more` bytes, in IDAT chunks of `part` bytes without
 * the last `cut` ones; bytes of the checksum are changed by `mask`. */
static vit_status decode_tail(size_t side, size_t more, size_t part, size_t cut, uint8_t mask,
                              vit_error *error) {
    const size_t row = side + 1;
    static png_builder png;
    vit_image image;
    uint8_t *raw = vit_alloc(side * row + more, 1);
    uLongf size = compressBound((uLong)(side * row + more));
    uint8_t *packed = vit_alloc(size, 1);
    for (size_t i = 0; i < side * row; i++) raw[i] = i % row ? (uint8_t)(i / 7) : 0;
    assert_int_equal(compress(packed, &size, raw, (uLong)(side * row + more)), Z_OK);
    for (size_t i = 1; i <= 4; i++) packed[size - i] ^= mask;
    size -= cut;
    png_begin(&png, (uint32_t)side, (uint32_t)side, 8, 0, 0);
    for (size_t at = 0; at < size; at += part)
        png_chunk(&png, "IDAT", packed + at, size - at < part ? size - at : part);
    png_chunk(&png, "IEND", NULL, 0);
    const vit_status status = vit_image_decode(&image, png.bytes, png.size, "some.file", error);
    for (size_t y = 0; y < side && status == VIT_OK; y++)
        assert_memory_equal(image.pixels + y * side, raw + y * row + 1, side);
    vit_image_free(&image);
    vit_free(raw);
    vit_free(packed);
    return status;
}

/* Pillow reads pictures whose data lack the checksum or go on after the pixels, and refuses those
 * with a wrong checksum. */
static void checks_the_sum_of_png_pixels(void **state) {
    static const struct { size_t side, part; } cases[] = {{300, 1 << 20}, {300, 1000}, {20, 1}};
    vit_error error = {0};
    for (size_t i = 0; i < 3; i++) {
        for (size_t cut = 0; cut < 5; cut++)
            assert_int_equal(decode_tail(cases[i].side, 0, cases[i].part, cut, 0, &error), VIT_OK);
        assert_int_equal(decode_tail(cases[i].side, 1, cases[i].part, 0, 0, &error), VIT_OK);
        assert_int_equal(
            decode_tail(cases[i].side, (size_t)16 << 20, (size_t)1 << 20, 0, 1, &error), VIT_OK);
        assert_int_equal(decode_tail(cases[i].side, 0, cases[i].part, 0, 1, &error),
                         VIT_ERROR_FORMAT);
        assert_non_null(strstr(error.message, "some.file: corrupt PNG: "));
        assert_non_null(strstr(error.message, "another checksum (Adler-32)"));
        assert_int_equal(decode_tail(cases[i].side, 0, cases[i].part, 20, 0, &error),
                         VIT_ERROR_FORMAT);
        assert_non_null(strstr(error.message, "compressed pixels end too early"));
    }
}

/* ---- JPEG ---- */

/* Where segment `marker` of a JPEG begins (its 0xff). */
static size_t find_segment(const vit_bytes *file, int marker) {
    size_t at = 2;
    while (file->data[at + 1] != marker) {
        assert_int_equal(file->data[at], 0xff);
        at += 2 + ((size_t)file->data[at + 2] << 8 | file->data[at + 3]);
        assert_true(at + 4 < file->size);
    }
    return at;
}

/* Bytes changed within a segment of a fixture. */
static void refuses_changed_jpeg_segments(void **state) {
    static const struct {
        const char *name;
        int marker;
        size_t at; /* from the segment's 0xff */
        const char *bytes;
        size_t size;
        vit_status status;
        const char *reason;
    } cases[] = {
        {"image_grey.jpg", 0xc0, 1, "\xc3", 1, VIT_ERROR_UNSUPPORTED, "a lossless JPEG"},
        {"image_grey.jpg", 0xc0, 1, "\xc5", 1, VIT_ERROR_UNSUPPORTED, "a hierarchical JPEG"},
        {"image_grey.jpg", 0xc0, 1, "\xf7", 1, VIT_ERROR_UNSUPPORTED, "this is a JPEG-LS;"},
        {"image_grey.jpg", 0xc0, 1, "\xf0", 1, VIT_ERROR_FORMAT, "unsupported marker type 0xf0"},
        {"image_grey.jpg", 0xc0, 1, "\xca", 1, VIT_ERROR_FORMAT, "invalid progressive parameters"},
        {"image_grey.jpg", 0xc0, 4, "\x0c", 1, VIT_ERROR_UNSUPPORTED, "a 12-bit JPEG"},
        {"image_grey.jpg", 0xc0, 5, "\0\0", 2, VIT_ERROR_UNSUPPORTED, "(DNL)"},
        {"image_grey.jpg", 0xc0, 5, "\0\0\0\0", 4, VIT_ERROR_FORMAT, "0 x 0 pixels"},
        {"image_grey.jpg", 0xc0, 7, "\0\0", 2, VIT_ERROR_FORMAT, "0 x 14 pixels"},
        {"image_grey.jpg", 0xc0, 5, "\xff\xff\xff\xff", 4, VIT_ERROR_UNSUPPORTED,
         "65535 x 65535 pixels; at most 65500 a side and 100000000 in all"},
        {"image_grey.jpg", 0xc0, 5, "\x27\x11\x27\x10", 4, VIT_ERROR_UNSUPPORTED,
         "10000 x 10001 pixels; at most"},
        {"image_grey.jpg", 0xc0, 5, "\x27\x10\x27\x10", 4, VIT_ERROR_FORMAT,
         "end before its picture does"},
        {"image_grey.jpg", 0xc0, 9, "\3", 1, VIT_ERROR_FORMAT, "bogus marker length"},
        {"image_grey.jpg", 0xc0, 11, "\x01", 1, VIT_ERROR_FORMAT, "sampling factors"},
        {"image_grey.jpg", 0xc0, 11, "\x15", 1, VIT_ERROR_FORMAT, "sampling factors"},
        {"image_grey.jpg", 0xc0, 12, "\4", 1, VIT_ERROR_FORMAT, "was not defined"},
        {"image_grey.jpg", 0xc0, 12, "\1", 1, VIT_ERROR_FORMAT, "was not defined"},
        {"image_420_restart.jpg", 0xc0, 14, "\x33", 1, VIT_ERROR_UNSUPPORTED,
         "a fractionally sampled JPEG"},
        {"image_420_restart.jpg", 0xc0, 13, "\1", 1, VIT_ERROR_FORMAT, "component ID"},
        {"image_420_restart.jpg", 0xdd, 3, "\5", 1, VIT_ERROR_FORMAT, "bogus marker length"},
        {"image_420_restart.jpg", 0xdd, 4, "\0\0", 2, VIT_ERROR_FORMAT, "end before its picture"},
        {"image_420_restart.jpg", 0xdd, 4, "\0\2", 2, VIT_ERROR_FORMAT, "end before its picture"},
        {"image_grey.jpg", 0xdb, 4, "\x24", 1, VIT_ERROR_FORMAT, "bogus DQT index 4"},
        {"image_grey.jpg", 0xdb, 4, "\x10", 1, VIT_ERROR_FORMAT, "bogus marker length"},
        {"image_grey.jpg", 0xc4, 4, "\x04", 1, VIT_ERROR_FORMAT, "bogus DHT index 4"},
        {"image_grey.jpg", 0xc4, 5, "\2", 1, VIT_ERROR_FORMAT, "bogus Huffman table"},
        {"image_grey.jpg", 0xc4, 20, "\x09", 1, VIT_ERROR_FORMAT, "bogus Huffman table"},
        {"image_grey.jpg", 0xda, 4, "\2", 1, VIT_ERROR_FORMAT, "bogus marker length"},
        {"image_grey.jpg", 0xda, 5, "\7", 1, VIT_ERROR_FORMAT, "component ID 7"},
        {"image_420_restart.jpg", 0xda, 7, "\1", 1, VIT_ERROR_FORMAT, "component ID 1"},
        {"image_progressive.jpg", 0xda, 12, "\1", 1, VIT_ERROR_FORMAT,
         "invalid progressive parameters"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        vit_bytes file = read_fixture(cases[i].name);
        size_t at = find_segment(&file, cases[i].marker);
        memcpy(file.data + at + cases[i].at, cases[i].bytes, cases[i].size);
        assert_refused(file.data, file.size, cases[i].status, cases[i].reason);
        vit_free(file.data);
    }
}

/* A file with one segment more, before the segment `before`. */
static void assert_segment_refused(int before, int marker, const uint8_t *data, size_t size,
                                   const char *reason) {
    vit_bytes file = read_fixture("image_grey.jpg");
    const size_t at = find_segment(&file, before), total = file.size + size + 4;
    uint8_t *bytes = vit_alloc(total, 1);
    assert_non_null(bytes);
    memcpy(bytes, file.data, at);
    bytes[at] = 0xff;
    bytes[at + 1] = (uint8_t)marker;
    bytes[at + 2] = (uint8_t)((size + 2) >> 8);
    bytes[at + 3] = (uint8_t)(size + 2);
    memcpy(bytes + at + 4, data, size);
    memcpy(bytes + at + 4 + size, file.data + at, file.size - at);
    assert_refused(bytes, total, VIT_ERROR_FORMAT, reason);
    vit_free(bytes);
    vit_free(file.data);
}

/* Tables with which a decoder that trusts them writes out of bounds. */
static void refuses_impossible_huffman_tables(void **state) {
    static const struct {
        uint8_t bits, count, more_bits, more_count;
    } cases[] = {
        {1, 3, 0, 0},       /* codes that do not fit */
        {8, 255, 9, 3},     /* 258 symbols, over-subscribed */
        {16, 255, 15, 2},   /* 257 symbols, each fits */
        {16, 255, 14, 255}, /* 510 */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint8_t data[17 + 600] = {0x10};
        data[cases[i].bits] = cases[i].count;
        if (cases[i].more_bits) data[cases[i].more_bits] = cases[i].more_count;
        size_t symbols = (size_t)cases[i].count + cases[i].more_count;
        assert_segment_refused(0xda, 0xc4, data, 17 + symbols, "bogus Huffman table");
    }
    uint8_t all[17] = {0};
    memset(all + 1, 255, 16);
    assert_segment_refused(0xda, 0xc4, all, 17, "bogus Huffman table");
}

static void refuses_misplaced_jpeg_segments(void **state) {
    const uint8_t scan[] = {1, 1, 0, 0, 63, 0};
    assert_segment_refused(0xc0, 0xda, scan, sizeof scan, "SOS before SOF");
    const uint8_t frame[] = {8, 0, 1, 0, 1, 1, 1, 0x11, 0};
    assert_segment_refused(0xc0, 0xc0, frame, sizeof frame, "two SOF markers");
    assert_segment_refused(0xc0, 0xd8, scan, 2, "two SOI markers");
    assert_refused("\xff\xd8\xff\xd9", 4, VIT_ERROR_FORMAT, "contains no image");
}

static void refuses_two_components(void **state) {
    static const uint8_t jpeg[] = "\xff\xd8\xff\xc0\0\x0e\x08\0\1\0\1\2\1\x11\0\2\x11\0"
                                  "\xff\xda\0\x0a\2\1\0\2\0\0\x3f\0\xff\xd9";
    assert_refused(jpeg, sizeof jpeg - 1, VIT_ERROR_FORMAT, "2 components, expected 1, 3 or 4");
}

/* Many scans of few bytes make a decoder work for hours. */
static void limits_the_number_of_scans(void **state) {
    vit_bytes file = read_fixture("image_progressive.jpg");
    /* One bit more of the DC coefficients of 20 blocks. */
    const uint8_t scan[] = {0xff, 0xda, 0, 8, 1, 1, 0, 0, 0, 0x10, 0, 0, 0, 0};
    size_t last = file.size, more = 101 * sizeof scan;
    uint8_t *bytes = vit_realloc(file.data, file.size, file.size + more, 1);
    assert_non_null(bytes);
    do last--;
    while (memcmp(bytes + last, "\xff\xda", 2) != 0);
    memmove(bytes + last + more, bytes + last, file.size - last);
    for (size_t i = 0; i < 101; i++) memcpy(bytes + last + i * sizeof scan, scan, sizeof scan);
    assert_refused(bytes, file.size + more, VIT_ERROR_FORMAT, "more than 100 scans");
    vit_free(bytes);
}

/* ---- no memory ---- */

/* Decodes and prepares while the n-th call of the system fails; true when there was no n-th. */
static bool prepare_with_fault(const vit_bytes *file, const vit_preprocessing *p, long n) {
    vit_image image, prepared = {0};
    vit_error error;
    fault_arm(n);
    vit_status status = vit_image_decode(&image, file->data, file->size, "some.file", &error);
    if (!status) status = vit_preprocess(&prepared, &image, p, 8, 8, 1, NULL, &error);
    fault_disarm();
    bool is_over = fault_call() == NULL;
    assert_int_equal(status, is_over ? VIT_OK : VIT_ERROR_MEMORY);
    assert_true((prepared.pixels != NULL) == is_over);
    if (!is_over) assert_non_null(strstr(error.message, "out of memory"));
    vit_image_free(&prepared);
    vit_image_free(&image);
    return is_over;
}

static void ends_well_without_memory(void **state) {
    static const vit_preprocessing p = {
        .operations = {{.kind = VIT_OP_GREY},
                       {.kind = VIT_OP_RESIZE, .shorter = 9, .filter = VIT_FILTER_LANCZOS},
                       {.kind = VIT_OP_CENTER_CROP, .width = 9, .height = 9},
                       {.kind = VIT_OP_RESIZE, .width = 8, .height = 8},
                       {.kind = VIT_OP_NORMALIZE, .std = {1, 1, 1}}},
        .count = 5};
    for (size_t i = 0; i < 5; i++) {
        vit_bytes file = read_fixture(fixtures[i]);
        long n = 1;
        while (!prepare_with_fault(&file, &p, n)) n++;
        assert_true(n > 10);
        vit_free(file.data);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(refuses_every_prefix),
        cmocka_unit_test(survives_every_changed_byte),
        cmocka_unit_test(names_other_formats),
        cmocka_unit_test(names_files_it_cannot_open),
        cmocka_unit_test(refuses_impossible_png_headers),
        cmocka_unit_test(refuses_misplaced_png_chunks),
        cmocka_unit_test(refuses_png_without_its_header),
        cmocka_unit_test(refuses_png_data_of_the_wrong_size),
        cmocka_unit_test(checks_the_sum_of_png_pixels),
        cmocka_unit_test(refuses_changed_jpeg_segments),
        cmocka_unit_test(refuses_impossible_huffman_tables),
        cmocka_unit_test(refuses_misplaced_jpeg_segments),
        cmocka_unit_test(refuses_two_components),
        cmocka_unit_test(limits_the_number_of_scans),
        cmocka_unit_test(ends_well_without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
