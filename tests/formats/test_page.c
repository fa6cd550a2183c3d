/* Pages: templates, JSON and JSON within a script, base64 (the vectors of RFC 4648), and PNG, read
 * back by our own decoder. */
#include "vit/explain/explain_page.h"
#include "vit/formats/base64.h"
#include "vit/formats/json_out.h"
#include "vit/formats/page.h"
#include "vit/image/codec/decode.h"
#include "vit/image/codec/png_write.h"

#include <math.h>
#include <string.h>

#include "tests/support/fault.h"
#include "tests/support/unit.h"

static void base64_is_rfc_4648s(void **state) {
    static const char *const rows[][2] = {{"", ""},
                                          {"f", "Zg=="},
                                          {"fo", "Zm8="},
                                          {"foo", "Zm9v"},
                                          {"foob", "Zm9vYg=="},
                                          {"fooba", "Zm9vYmE="},
                                          {"foobar", "Zm9vYmFy"},
                                          {"\xff\xfe\xfd", "//79"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        vit_string t = {0};
        vit_string_add(&t, "%s", "");
        vit_string_add_base64(&t, rows[i][0], strlen(rows[i][0]));
        assert_string_equal(t.text, rows[i][1]);
        vit_string_free(&t);
    }
}

static void places_are_filled(void **state) {
    static const char *const page[] = {"<a>\n", "@style@\n", "@data@\n", "@other@\n", "@\n", NULL};
    static const char *const style[] = {"b\n", "@data@\n", NULL};
    const vit_page_part parts[] = {{"style", style, NULL}, {"data", NULL, "{}\n"}};
    vit_string t = {0};
    vit_string_add_page(&t, page, parts, 2);
    assert_string_equal(t.text, "<a>\nb\n@data@\n{}\n@other@\n@\n");
    vit_string_free(&t);
}

static void json_cannot_end_a_script(void **state) {
    static const char *const page[] = {"@data@\n", NULL};
    const vit_page_part part = {"data", NULL, "{\"a\": \"</script><!--\"}"};
    vit_string t = {0};
    vit_string_add_page(&t, page, &part, 1);
    assert_string_equal(t.text, "{\"a\": \"\\u003c/script>\\u003c!--\"}");
    vit_string_free(&t);
}

/* The same values on one line, without spaces, and with lines of their own. */
static void add_values(vit_json_out *json, bool lines) {
    const size_t counts[] = {1, 2, 3};
    const float floats[] = {.1f, INFINITY};
    const char *const texts[] = {"a\"", NULL};
    (lines ? vit_json_open_lines : vit_json_open)(json, NULL, '{');
    vit_json_counts(json, "counts", counts, 3);
    (lines ? vit_json_open_lines : vit_json_open)(json, "in", '{');
    vit_json_floats(json, "floats", floats, 2);
    vit_json_texts(json, "texts", texts, 2);
    vit_json_close(json, '}');
    vit_json_open_lines(json, "none", '[');
    vit_json_close(json, ']');
    vit_json_fixed(json, "fixed", 2.0 / 3, 2);
    vit_json_base64(json, "bytes", "foob", 4);
    vit_json_close(json, '}');
}

static void json_has_three_forms(void **state) {
    static const char *const want[] = {
        "{\"counts\": [1, 2, 3], \"in\": {\"floats\": [0.1, null], \"texts\": [\"a\\\"\", null]}, "
        "\"none\": [], \"fixed\": 0.67, \"bytes\": \"Zm9vYg==\"}",
        "{\"counts\":[1,2,3],\"in\":{\"floats\":[0.1,null],\"texts\":[\"a\\\"\",null]},"
        "\"none\":[],\"fixed\":0.67,\"bytes\":\"Zm9vYg==\"}",
        "{\n  \"counts\": [1, 2, 3],\n  \"in\": {\n    \"floats\": [0.1, null],\n"
        "    \"texts\": [\"a\\\"\", null]\n  },\n  \"none\": [],\n  \"fixed\": 0.67,\n"
        "  \"bytes\": \"Zm9vYg==\"\n}"};
    for (size_t i = 0; i < 3; i++) {
        vit_json_out json = {.compact = i == 1};
        add_values(&json, i == 2);
        char *text = vit_json_take(&json);
        assert_string_equal(text, want[i]);
        vit_free(text);
    }
    vit_json_out json = {0};
    vit_json_raw(&json, NULL, NULL); /* no memory */
    assert_null(vit_json_take(&json));
}

static void png_reads_back(void **state) {
    for (size_t channels = 1; channels <= 4; channels++) {
        uint8_t pixels[7 * 5 * 4];
        for (size_t i = 0; i < sizeof pixels; i++) pixels[i] = (uint8_t)(i * i * 37 + 11 * i);
        vit_bytes png;
        vit_image image;
        vit_error error;
        assert_int_equal(vit_png_write(&png, pixels, 7, 5, channels, &error), VIT_OK);
        if (vit_image_decode(&image, png.data, png.size, "png", &error) != VIT_OK)
            fail_msg("%s", error.message);
        assert_int_equal(image.width, 7);
        assert_int_equal(image.height, 5);
        assert_int_equal(image.channels, channels);
        assert_memory_equal(image.pixels, pixels, 7 * 5 * channels);
        vit_image_free(&image);
        vit_free(png.data);
    }
}

static void no_png_of_nothing(void **state) {
    const uint8_t pixel[4] = {0};
    vit_bytes png;
    vit_error error;
    assert_int_equal(vit_png_write(&png, pixel, 0, 1, 1, &error), VIT_ERROR_ARGUMENT);
    assert_int_equal(vit_png_write(&png, pixel, 1, 1, 5, &error), VIT_ERROR_ARGUMENT);
    assert_int_equal(vit_png_write(&png, pixel, 1 << 20, 1 << 20, 3, &error),
                     VIT_ERROR_UNSUPPORTED);
    assert_null(png.data);
}

static void png_without_memory(void **state) {
    const uint8_t pixels[16] = {1, 2, 3};
    for (long n = 1;; n++) {
        vit_bytes png;
        vit_error error = {0};
        fault_arm(n);
        const vit_status status = vit_png_write(&png, pixels, 4, 4, 1, &error);
        fault_disarm();
        vit_free(png.data);
        if (fault_call() == NULL) break;
        assert_int_equal(status, VIT_ERROR_MEMORY);
        assert_null(png.data);
    }
}

/* Of ViT-B/16: four layers at 288 pixels, one at 384, a part of one at 448, none at 640. */
static void pages_too_large_say_what_fits(void **state) {
    const struct {
        size_t side;
        const char *part;
    } rows[] = {{288, "be of 22 MB, at most 8: with 12 heads 4 layers fit, as in --layers 0,11"},
                {384, "be of 67 MB, at most 8: with 12 heads 1 layer fits, as in --layers 11"},
                {448, "one layer and 4 of its heads fit, as in --layers 11 --heads 0"},
                {640, "no layer does; a smaller --size may"}};
    vit_network network = {.config = vit_config_default()};
    vit_config *c = &network.config;
    c->channels = 3, c->patch = 16, c->dim = 768, c->depth = c->heads = 12, c->classes = 1000;
    c->class_token = true;
    vit_explainer e = {.network = &network};
    const vit_page_options all = {0};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        vit_error error;
        vit_bytes html;
        c->height = c->width = rows[i].side;
        assert_int_equal(
            vit_page_make(&html, &(vit_page_call){.explainer = &e, .options = &all}, &error),
            VIT_ERROR_UNSUPPORTED);
        if (!strstr(error.message, rows[i].part))
            fail_msg("\"%s\" lacks \"%s\"", error.message, rows[i].part);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pages_too_large_say_what_fits),
        cmocka_unit_test(base64_is_rfc_4648s),
        cmocka_unit_test(places_are_filled),
        cmocka_unit_test(json_cannot_end_a_script),
        cmocka_unit_test(json_has_three_forms),
        cmocka_unit_test(png_reads_back),
        cmocka_unit_test(no_png_of_nothing),
        cmocka_unit_test(png_without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
