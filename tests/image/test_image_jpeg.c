/* JPEG files of all kinds against Pillow, to the bit (tests/fixtures/make_jpegs.py), and damaged.
 * With the path of another file that the script made, only that is compared (scripts/compare-jpeg).
 */
#include "tests/support/pictures.h"
#include "tests/support/unit.h"
#include "vit/image/codec/decode.h"
#include "vit/image/prepare/preprocess.h"

#include <string.h>
#include <zlib.h>

static const char *jpegs = "tests/fixtures/jpegs.gz";
static size_t expected = 200;

/* The next file and what Pillow makes of it; false at the end. */
typedef struct jpeg_record {
    char kind[128];
    size_t width, height, channels, size;
    unsigned crc;
    uint8_t *bytes; /* to be freed by vit_free */
} jpeg_record;

static bool read_record(gzFile file, jpeg_record *r) {
    char line[256];
    if (!gzgets(file, line, sizeof line)) return false;
    assert_int_equal(sscanf(line, "%127s %zu %zu %zu %x %zu", r->kind, &r->width, &r->height,
                            &r->channels, &r->crc, &r->size),
                     6);
    r->bytes = vit_alloc(r->size, 1);
    assert_non_null(r->bytes);
    assert_int_equal(gzread(file, r->bytes, (unsigned)r->size), r->size);
    return true;
}

static void decodes_as_pillow_does(void **state) {
    jpeg_record r;
    size_t count = 0, different = 0;
    gzFile file = gzopen(jpegs, "rb");
    if (!file) fail_msg("%s cannot be opened", jpegs);
    for (; read_record(file, &r); count++) {
        vit_image image;
        vit_error error;
        if (vit_image_decode(&image, r.bytes, r.size, r.kind, &error)) {
            print_message("file %zu, %zu x %zu: %s\n", count, r.width, r.height, error.message);
            different++;
        } else if (image.width != r.width || image.height != r.height ||
                   image.channels != r.channels || picture_crc(&image) != r.crc) {
            print_message("file %zu, %s, %zu x %zu: not as Pillow decodes it\n", count, r.kind,
                          r.width, r.height);
            different++;
        }
        vit_image_free(&image);
        vit_free(r.bytes);
    }
    gzclose(file);
    print_message("# %zu of %zu files differ from Pillow\n", different, count);
    assert_int_equal(different, 0);
    if (expected) assert_int_equal(count, expected);
    assert_true(count > 0);
}

/* ---- rows that are prepared as they are decoded ---- */

#define GREYS "{\"op\": \"normalize\", \"mean\": [0.5], \"std\": [0.5]}]"
#define RESIZE "[{\"op\": \"rgb\"}, {\"op\": \"resize\", "
#define CROP(height, width) \
    "{\"op\": \"center_crop\", \"height\": " height ", \"width\": " width "}, " GREYS

/* Cropped and not, of either arithmetic; columns first, nearest, enlarged: by way of the whole.
 * Some are refused for some sizes. */
static const struct {
    const char *json;
    size_t height, width;
} preparations[] = {
    {RESIZE "\"shorter\": 40, \"filter\": \"bicubic\"}, " CROP("32", "32"), 32, 32},
    {RESIZE "\"shorter\": 9, \"filter\": \"lanczos\"}, " CROP("2", "9"), 2, 9},
    {RESIZE
     "\"shorter\": 150, \"filter\": \"bilinear\", \"arithmetic\": \"torch\"}, " CROP("150", "1"),
     150, 1},
    {RESIZE "\"height\": 31, \"width\": 17, \"filter\": \"box\"}, " CROP("3", "17"), 3, 17},
    {RESIZE "\"height\": 24, \"width\": 20, \"filter\": \"hamming\"}, " GREYS, 24, 20},
    {RESIZE "\"height\": 2, \"width\": 90, \"filter\": \"bicubic\"}, " CROP("1", "80"), 1, 80},
    {RESIZE "\"height\": 30, \"width\": 30, \"filter\": \"nearest\"}, " GREYS, 30, 30},
    {RESIZE "\"height\": 60, \"width\": 30, \"filter\": \"bicubic\"}, " CROP("70", "40"), 70, 40},
};
enum { PREPARATIONS = sizeof preparations / sizeof *preparations };

static vit_status prepare_bytes(vit_image *out, size_t i, const uint8_t *bytes, size_t size,
                                const char *name, vit_error *error) {
    vit_preprocessing list;
    assert_int_equal(vit_preprocessing_read(&list, preparations[i].json, "a test", error), VIT_OK);
    return vit_preprocess_bytes(out, bytes, size, name, &list, preparations[i].height,
                                preparations[i].width, 3, NULL, error);
}

static void assert_same_pixels(const jpeg_record *r, const vit_image *whole, size_t i) {
    vit_preprocessing list;
    vit_image want, got;
    vit_error error;
    const size_t height = preparations[i].height, width = preparations[i].width;
    assert_int_equal(vit_preprocessing_read(&list, preparations[i].json, "a test", &error), VIT_OK);
    const vit_status status = vit_preprocess(&want, whole, &list, height, width, 3, NULL, &error);
    assert_int_equal(prepare_bytes(&got, i, r->bytes, r->size, r->kind, &error), status);
    if (status == VIT_OK && memcmp(want.pixels, got.pixels, height * width * 3) != 0)
        fail_msg("%s, %zu x %zu, preparation %zu: other pixels than of the whole picture", r->kind,
                 r->width, r->height, i);
    vit_image_free(&want);
    vit_image_free(&got);
}

static void prepares_rows_as_the_whole(void **state) {
    jpeg_record r;
    gzFile file = gzopen(jpegs, "rb");
    if (!file) fail_msg("%s cannot be opened", jpegs);
    while (read_record(file, &r)) {
        vit_image whole;
        vit_error error;
        assert_int_equal(vit_image_decode(&whole, r.bytes, r.size, r.kind, &error), VIT_OK);
        for (size_t i = 0; i < PREPARATIONS; i++) assert_same_pixels(&r, &whole, i);
        vit_image_free(&whole);
        vit_free(r.bytes);
    }
    gzclose(file);
}

/* ---- damage ---- */

/* A copy of a file that is changed, with room for 32 bytes more. */
typedef struct changed {
    uint8_t *bytes; /* to be freed by vit_free */
    size_t size;
    size_t start; /* of the first scan's data */
    const char *kind;
} changed;

static changed copy_of(const uint8_t *bytes, size_t size, const char *kind) {
    changed c = {.bytes = vit_alloc(size + 32, 1), .size = size, .start = 2, .kind = kind};
    assert_non_null(c.bytes);
    memcpy(c.bytes, bytes, size);
    for (bool is_scan = false; !is_scan;
         c.start += 2U + 256U * bytes[c.start + 2] + bytes[c.start + 3])
        is_scan = bytes[c.start + 1] == 0xda;
    return c;
}

/* The file up to `size`, and an end marker. */
static void cut(changed *c, size_t size) {
    c->bytes[size] = 0xff;
    c->bytes[size + 1] = 0xd9;
    c->size = size + 2;
}

static void insert(changed *c, size_t at, const void *bytes, size_t count) {
    memmove(c->bytes + at + count, c->bytes + at, c->size - at);
    memcpy(c->bytes + at, bytes, count);
    c->size += count;
}

static vit_status decode(const changed *c, uint32_t *crc, vit_error *error) {
    vit_image image;
    vit_status status = vit_image_decode(&image, c->bytes, c->size, c->kind, error);
    if (status == VIT_OK && crc) *crc = picture_crc(&image);
    vit_image_free(&image);
    return status;
}

/* Frees the copy. */
static void assert_refused(changed *c, const char *how) {
    vit_error error = {0};
    const vit_status status = decode(c, NULL, &error);
    if (status != VIT_ERROR_FORMAT)
        fail_msg("%s, %zu bytes, %s: %s", c->kind, c->size, how, vit_status_name(status));
    if (!strstr(error.message, " JPEG: ")) fail_msg("%s: \"%s\"", how, error.message);
    vit_image prepared;
    vit_error same = {0};
    assert_int_equal(prepare_bytes(&prepared, 0, c->bytes, c->size, c->kind, &same), status);
    assert_string_equal(same.message, error.message);
    vit_free(c->bytes);
}

static void for_each_record(void (*run)(const jpeg_record *r)) {
    jpeg_record r;
    gzFile file = gzopen(jpegs, "rb");
    if (!file) fail_msg("%s cannot be opened", jpegs);
    while (read_record(file, &r)) {
        run(&r);
        vit_free(r.bytes);
    }
    gzclose(file);
}

static const double percents[] = {10, 50, 90, 99};

/* Any bytes are arithmetic code, and an end marker stands for zeros without end. */
static void cut_record(const jpeg_record *r) {
    for (size_t i = 0; i < 4 && !strstr(r->kind, "arithmetic"); i++) {
        changed c = copy_of(r->bytes, r->size, r->kind);
        cut(&c, c.start + (size_t)(percents[i] / 100 * (double)(c.size - 2 - c.start)));
        if (c.size < r->size)
            assert_refused(&c, "cut, with an end marker");
        else
            vit_free(c.bytes);
    }
}

static void refuses_cut_scans(void **state) {
    for_each_record(cut_record);
}

/* The last of several scans left out, its tables and all that follows. */
static void drop_scan(const jpeg_record *r) {
    size_t at = r->size - 2;
    changed c = copy_of(r->bytes, r->size, r->kind);
    while (memcmp(c.bytes + at, "\xff\xda", 2) != 0) at--;
    if (at > c.start) {
        cut(&c, at);
        assert_refused(&c, "without its last scan");
    } else {
        vit_free(c.bytes);
    }
}

static void refuses_missing_scans(void **state) {
    for_each_record(drop_scan);
}

static bool is_restart(const uint8_t *p) {
    return p[0] == 0xff && p[1] >= 0xd0 && p[1] <= 0xd7;
}

/* The first restart marker changed to another, or taken out. */
static void lose_restart(const jpeg_record *r) {
    for (int way = 0; way < 2; way++) {
        changed c = copy_of(r->bytes, r->size, r->kind);
        size_t at = c.start;
        while (at + 2 < c.size && !is_restart(c.bytes + at)) at++;
        if (at + 2 >= c.size) {
            vit_free(c.bytes);
            return;
        }
        if (way == 0) {
            c.bytes[at + 1] ^= 3;
        } else {
            memmove(c.bytes + at, c.bytes + at + 2, c.size - at - 2);
            c.size -= 2;
        }
        assert_refused(&c, way == 0 ? "another restart marker" : "a lost restart marker");
    }
}

static void refuses_lost_restarts(void **state) {
    for_each_record(lose_restart);
}

/* Parts of a photograph that a disk or a transfer gave back as zeros. */
static void refuses_zeros(void **state) {
    vit_bytes file;
    vit_error error;
    assert_int_equal(vit_read_file(&file, "examples/photographed-nine.jpg", 1 << 20, &error),
                     VIT_OK);
    for (size_t i = 0; i < 4; i++) {
        changed c = copy_of(file.data, file.size, "a photograph");
        const size_t end = c.size - 2, length = end - c.start;
        const size_t at = c.start + (size_t)(percents[i] / 100 * (double)length);
        memset(c.bytes + at, 0, end - at);
        assert_refused(&c, "a tail of zeros");
        c = copy_of(file.data, file.size, "a photograph");
        memset(c.bytes + at, 0, c.size - at);
        assert_refused(&c, "a tail of zeros without an end marker");
        for (size_t hole = 96; hole <= 6144; hole *= 4) {
            c = copy_of(file.data, file.size, "a photograph");
            memset(c.bytes + (at < end - hole ? at : end - hole), 0, hole);
            assert_refused(&c, "a hole of zeros");
        }
    }
    vit_free(file.data);
}

/* Before every segment but the first, and before the end. */
static void tolerates_stray_bytes(void **state) {
    static const char *const names[] = {"image_420_restart.jpg", "image_grey.jpg"};
    for (size_t i = 0; i < 2; i++) {
        vit_bytes file = read_fixture(names[i]);
        uint32_t whole = 0, crc = 1;
        vit_error error = {0};
        changed c = copy_of(file.data, file.size, names[i]);
        assert_int_equal(decode(&c, &whole, &error), VIT_OK);
        const size_t start = c.start;
        for (size_t at = 2; at < start;) {
            const size_t next = at + 2U + 256U * file.data[at + 2] + file.data[at + 3];
            vit_free(c.bytes);
            c = copy_of(file.data, file.size, names[i]);
            insert(&c, at > 2 ? at : file.size - 2, "stray bytes", 11);
            if (decode(&c, &crc, &error)) fail_msg("before byte %zu: %s", at, error.message);
            assert_int_equal(crc, whole);
            at = next;
        }
        vit_free(c.bytes);
        vit_free(file.data);
    }
}

/* Whatever comes after the last block of a file gives the same pixels: Pillow's. */
static void change_tail(const jpeg_record *r) {
    static const char trailer[] = "\0\0\1\x0a\x0e\0\0\0Image_UTC_Data\xff\xc0\0SEFHe\0\0\0\xff\xda";
    uint8_t stray[2000];
    /* any bytes are arithmetic code, of which the coder leaves out zeros at the end */
    if (strstr(r->kind, "arithmetic")) return;
    memset(stray, 0x5a, sizeof stray);
    const size_t counts[] = {0, 1, 16, 17, 65, sizeof stray, 0, 65};
    for (size_t i = 0; i < 8; i++) {
        changed c = {vit_alloc(r->size + 2100, 1), r->size - 2, 0, r->kind};
        uint32_t crc = 0;
        vit_error error = {0};
        assert_non_null(c.bytes);
        memcpy(c.bytes, r->bytes, r->size);
        if (i >= 4) memset(stray, i % 2 * 0x5a, sizeof stray);
        insert(&c, c.size, stray, counts[i]);
        if (i < 6)
            insert(&c, c.size, "\xff\xd9", 2);
        else
            insert(&c, c.size, trailer, sizeof trailer);
        if (decode(&c, &crc, &error)) fail_msg("%s, tail %zu: %s", r->kind, i, error.message);
        if (crc != r->crc) fail_msg("%s, tail %zu: other pixels", r->kind, i);
        vit_free(c.bytes);
    }
}

static void reads_whatever_the_tail(void **state) {
    for_each_record(change_tail);
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(decodes_as_pillow_does), cmocka_unit_test(prepares_rows_as_the_whole),
        cmocka_unit_test(refuses_cut_scans),      cmocka_unit_test(refuses_missing_scans),
        cmocka_unit_test(refuses_lost_restarts),  cmocka_unit_test(refuses_zeros),
        cmocka_unit_test(tolerates_stray_bytes),  cmocka_unit_test(reads_whatever_the_tail),
    };
    const struct CMUnitTest comparison[] = {cmocka_unit_test(decodes_as_pillow_does),
                                            cmocka_unit_test(prepares_rows_as_the_whole)};
    if (argc > 1) {
        jpegs = argv[1];
        expected = 0;
        return cmocka_run_group_tests(comparison, NULL, NULL);
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
