/* JPEG files of all kinds against Pillow, to the bit: tests/fixtures/make_jpegs.py. With the path
 * of another file that the script made as its argument, only that is compared
 * (scripts/compare-jpeg).
 */
#include "tests/pictures.h"
#include "vit/image/codec/decode.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>
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
    (void)state;
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

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(decodes_as_pillow_does),
    };
    if (argc > 1) {
        jpegs = argv[1];
        expected = 0;
        return cmocka_run_group_tests_name("comparison", tests, NULL, NULL);
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
