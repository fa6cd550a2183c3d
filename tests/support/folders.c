#include "tests/support/folders.h"
#include "tests/support/fault.h"
#include "tests/support/pictures.h"
#include "tests/support/scratch.h"
#include "tests/support/unit.h"
#include "vit/base/sys.h"

#include <string.h>

/* ---- files ---- */

void put_built_png(const char *path, png_builder *png) {
    put_bytes(path, png->bytes, png->size);
}

void put_png(const char *path, uint32_t width, uint32_t height, uint8_t red, uint8_t green,
             uint8_t blue) {
    static png_builder png;
    bool is_grey = red == green && green == blue;
    size_t samples = is_grey ? 1 : 3, row = 1 + samples * width;
    uint8_t *rows = vit_alloc(height, row);
    const uint8_t colour[3] = {red, green, blue};
    assert_non_null(rows);
    for (size_t y = 0; y < height; y++)
        for (size_t i = 0; i < samples * width; i++) rows[y * row + 1 + i] = colour[i % samples];
    png_begin(&png, width, height, 8, is_grey ? 0 : 2, 0);
    png_data(&png, rows, height * row);
    png_chunk(&png, "IEND", NULL, 0);
    put_built_png(path, &png);
    vit_free(rows);
}

void put_class(const char *directory, int count, uint32_t side, uint8_t shade) {
    char path[128];
    for (int i = 0; i < count; i++) {
        snprintf(path, sizeof path, "%s/%d.png", directory, i);
        put_png(path, side, side, shade, (uint8_t)i, 7);
    }
}

void put_hollow_png(const char *path) {
    static png_builder png;
    png_begin(&png, 32, 32, 8, 0, 0);
    png_chunk(&png, "IDAT", "no zlib data at all", 19);
    png_chunk(&png, "IEND", NULL, 0);
    put_built_png(path, &png);
}

/* ---- expectations ---- */

void open_set(vit_dataset *set, const char *data, const vit_dataset_options *options) {
    vit_error error = {0};
    if (vit_dataset_open(set, data, options, &error) != VIT_OK) fail_msg("%s", error.message);
}

void refuse_set(const char *data, const vit_dataset_options *options, vit_status status,
                const char *a, const char *b) {
    vit_dataset set, zero = {0};
    vit_error error = {0};
    vit_status got = vit_dataset_open(&set, data, options, &error);
    if (got != status) fail_msg("status %d, expected %d: %s", got, status, error.message);
    assert_says(&error, status, a, b);
    assert_null(strchr(error.message, '\n'));
    assert_memory_equal(&set, &zero, sizeof set);
}

vit_status open_with_fault(const char *data, const vit_dataset_options *options, long n,
                           void (*check)(const vit_dataset *set)) {
    vit_dataset set, zero = {0};
    vit_error error = {0};
    fault_arm(n);
    const vit_status status = vit_dataset_open(&set, data, options, &error);
    fault_disarm();
    if (status == VIT_OK) {
        if (check) check(&set);
        vit_dataset_close(&set);
    } else {
        assert_int_equal(error.status, status);
        assert_true(error.message[0] != 0);
    }
    assert_memory_equal(&set, &zero, sizeof set);
    return status;
}

bool has_note(const vit_dataset *set, const char *part) {
    for (size_t i = 0; i < set->note_count; i++)
        if (strstr(set->notes[i], part) != NULL) return true;
    return false;
}
