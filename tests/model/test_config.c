/* The description of a network: JSON there and back, and what is refused, in which words. */
#include "tests/support/scratch.h"
#include "tests/support/unit.h"
#include "vit/base/sys.h"
#include "vit/model/config.h"
#include <string.h>

static vit_config small(void) {
    vit_config c = vit_config_default();
    c.height = c.width = 28;
    c.channels = 1;
    c.patch = 7;
    c.dim = 64;
    c.depth = 6;
    c.heads = 8;
    c.mlp = 128;
    c.classes = 10;
    return c;
}

static void assert_equal(const vit_config *a, const vit_config *b) {
    const size_t x[] = {a->height, a->width, a->channels, a->patch,  a->dim,
                        a->depth,  a->heads, a->mlp,      a->classes};
    const size_t y[] = {b->height, b->width, b->channels, b->patch,  b->dim,
                        b->depth,  b->heads, b->mlp,      b->classes};
    assert_memory_equal(x, y, sizeof x);
    assert_memory_equal(&a->norm_eps, &b->norm_eps, sizeof a->norm_eps);
    assert_int_equal(a->patch_order, b->patch_order);
    assert_int_equal(a->qkv_bias, b->qkv_bias);
    assert_int_equal(a->attention_scale, b->attention_scale);
    assert_int_equal(a->final_norm, b->final_norm);
    assert_int_equal(a->stem, b->stem);
    assert_int_equal(a->positions, b->positions);
    assert_int_equal(a->norm, b->norm);
    assert_int_equal(a->activation, b->activation);
    assert_int_equal(a->pool, b->pool);
    assert_int_equal(a->head, b->head);
    assert_int_equal(a->init, b->init);
}

static void round_trip(const vit_config *c) {
    vit_error error;
    vit_config read = vit_config_default();
    char *text = vit_config_write(c);
    assert_non_null(text);
    assert_int_equal(vit_config_read(&read, text, "text", &error), VIT_OK);
    assert_equal(c, &read);
    char *again = vit_config_write(&read);
    assert_string_equal(text, again);
    vit_free(text);
    vit_free(again);
}

static void test_round_trip(void **state) {
    vit_config c = small();
    round_trip(&c);
    c.height = 4096;
    c.width = 12;
    c.patch = 4;
    c.channels = 3;
    c.patch_order = VIT_PATCH_PIXEL;
    c.qkv_bias = c.final_norm = false;
    c.attention_scale = VIT_SCALE_DIM;
    c.head = VIT_HEAD_MLP;
    c.stem = VIT_STEM_CONV;
    c.positions = VIT_POSITIONS_SINCOS2D;
    c.norm = VIT_NORM_POST;
    c.activation = VIT_RELU;
    c.pool = VIT_POOL_MEAN;
    c.class_token = false;
    c.init = VIT_INIT_TORCH;
    c.norm_eps = 0x1.23456789abcdep-20; /* every bit comes back */
    round_trip(&c);
    c.class_token = c.norm_pre = c.gated = c.qk_norm = c.layer_scale = true;
    c.patch_norm = c.norm_before_pool = c.pool_prefix = true;
    c.patch_bias = c.prefix_positions = c.head_bias = false;
    c.head_dim = 13;
    c.registers = 4;
    c.activation = VIT_SILU;
    round_trip(&c);
    c.pool = VIT_POOL_CLASS_DIST;
    round_trip(&c);
}

static void test_written_form(void **state) {
    const vit_config c = small();
    char *text = vit_config_write(&c);
    assert_string_equal(text, "{\"image\": [28, 28], \"channels\": 1, \"patch\": 7, \"dim\": 64, "
                              "\"depth\": 6, \"heads\": 8, \"mlp\": 128, \"classes\": 10, "
                              "\"stem\": \"linear\", \"patch_order\": \"conv\", \"positions\": "
                              "\"learned\", \"norm\": \"pre\", "
                              "\"activation\": \"gelu\", \"qkv_bias\": true, "
                              "\"attention_scale\": \"head_dim\", \"norm_eps\": 1e-06, "
                              "\"final_norm\": true, \"pool\": \"class\", \"head\": \"linear\", "
                              "\"init\": \"timm\"}");
    vit_free(text);
}

/* What is left out keeps its value. */
static void test_partial(void **state) {
    vit_config c = small(), want = small();
    want.dim = 32;
    want.head = VIT_HEAD_MLP;
    assert_int_equal(vit_config_read(&c, "{\"dim\": 32, \"head\": \"mlp\"}", "text", NULL), VIT_OK);
    assert_equal(&c, &want);
}

static void test_refused_text(void **state) {
    static const struct {
        const char *text, *part;
    } cases[] = {
        {"", "line 1"},
        {"[1]", "{...}"},
        {"{\"dim\": 64", "line 1"},
        {"{\"dim\": 64} x", "line 1"},
        {"{\"dim\": 64, \"dim\": 64}", "duplicate"},
        {"{\"depht\": 6}", "did you mean \"depth\"?"},
        {"{\"Heads\": 6}", "\"heads\""},
        {"{\"dropout_probability\": 0}", "\"dropout_probability\""},
        {"{\"dim\": \"64\"}", "\"dim\" must be a whole number"},
        {"{\"dim\": 64.0}", "\"dim\" must be a whole number"},
        {"{\"dim\": -1}", "\"dim\" must be a whole number"},
        {"{\"dim\": null}", "\"dim\" must be a whole number"},
        {"{\"dim\": 9007199254740993}", "\"dim\" must be a whole number"},
        {"{\"dim\": 99999999999999999999}", "line 1"},
        {"{\"qkv_bias\": 1}", "\"qkv_bias\" must be true or false"},
        {"{\"norm_eps\": \"1e-6\"}", "\"norm_eps\" must be a number"},
        {"{\"norm_eps\": 1e999}", "line 1"},
        {"{\"norm_eps\": NaN}", "line 1"},
        {"{\"head\": \"mpl\"}", "\"head\" must be one of \"linear\", \"mlp\""},
        {"{\"head\": 1}", "\"head\" must be one of"},
        {"{\"patch_order\": \"row\"}", "one of \"conv\", \"pixel\""},
        {"{\"attention_scale\": true}", "one of \"head_dim\", \"dim\""},
        {"{\"stem\": \"cnn\"}", "one of \"linear\", \"conv\""},
        {"{\"norm\": \"after\"}", "one of \"pre\", \"post\""},
        {"{\"activation\": \"swish\"}", "one of \"gelu\", \"relu\", \"gelu_tanh\""},
        {"{\"positions\": \"rotary\"}", "one of \"learned\", \"sinusoidal\", \"sincos2d\""},
        {"{\"pool\": \"least\"}", "one of \"class\", \"mean\""},
        {"{\"position\": \"learned\"}", "did you mean \"positions\"?"},
        {"{\"init\": \"\"}", "one of \"timm\", \"torch\""},
        {"{\"image\": 28}", "\"image\" must be [height, width]"},
        {"{\"image\": [28]}", "\"image\" must be [height, width]"},
        {"{\"image\": [28, 28, 1]}", "\"image\" must be [height, width]"},
        {"{\"image\": [28, 0]}", "\"image\" must be [height, width]"},
        {"{\"image\": [4097, 28]}", "\"image\" must be [height, width]"},
        {"{\"image\": [28.0, 28]}", "\"image\" must be [height, width]"},
        {"{\"image\": {\"h\": 28, \"w\": 28}}", "\"image\" must be [height, width]"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        vit_error error = {0};
        vit_config c = small();
        if (vit_config_read(&c, cases[i].text, "preset.json", &error) == VIT_OK)
            fail_msg("%s was read", cases[i].text);
        assert_says(&error, VIT_ERROR_FORMAT, "preset.json", cases[i].part);
        assert_int_not_equal(vit_config_read(&c, cases[i].text, "preset.json", NULL), VIT_OK);
    }
}

static void refuse(vit_config c, const char *name, const char *value) {
    vit_error error = {0};
    if (vit_config_check(&c, &error) == VIT_OK) fail_msg("%s %s was accepted", name, value);
    assert_says(&error, VIT_ERROR_ARGUMENT, name, value);
}

/* refuse small() with one field changed. */
#define REFUSE(field, changed, name, text) \
    do {                                   \
        vit_config c = small();            \
        c.field = changed;                 \
        refuse(c, name, text);             \
    } while (0)

static void test_refused_values(void **state) {
    const vit_config good = small();
    assert_int_equal(vit_config_check(&good, NULL), VIT_OK);
    REFUSE(height, 0, "image height", "missing");
    REFUSE(width, 4097, "image width", "4097");
    REFUSE(patch, 0, "\"patch\"", "missing");
    REFUSE(patch, 5, "\"patch\" 5", "28 x 28");
    REFUSE(height, 30, "\"patch\" 7", "30 x 28");
    REFUSE(width, 30, "\"patch\" 7", "28 x 30");
    REFUSE(patch, 56, "\"patch\" 56", "28 x 28");
    REFUSE(channels, 2, "\"channels\"", "1 or 3");
    REFUSE(channels, 0, "\"channels\"", "0");
    REFUSE(dim, 65537, "\"dim\"", "65537");
    REFUSE(dim, SIZE_MAX, "\"dim\"", "1 to 65536");
    REFUSE(depth, 0, "\"depth\"", "1 to 256");
    REFUSE(depth, 257, "\"depth\"", "257");
    REFUSE(heads, 7, "\"heads\" 7", "\"dim\" 64");
    REFUSE(heads, 128, "\"heads\" 128", "\"dim\" 64");
    REFUSE(heads, 0, "\"heads\"", "missing");
    REFUSE(mlp, 0, "\"mlp\"", "missing");
    REFUSE(classes, 0, "\"classes\"", "1 to 1000000");
    REFUSE(classes, 1000001, "\"classes\"", "1000001");
    REFUSE(norm_eps, 0, "\"norm_eps\"", "0");
    REFUSE(norm_eps, 1, "\"norm_eps\"", "1");
    REFUSE(norm_eps, -1e-6, "\"norm_eps\"", "-1e-06");
    REFUSE(norm_eps, 0. / 0., "\"norm_eps\"", "nan");
}

static void test_refused_positions(void **state) {
    vit_config c = small();
    c.positions = VIT_POSITIONS_SINCOS2D;
    assert_int_equal(vit_config_check(&c, NULL), VIT_OK);
    c.dim = 66;
    c.heads = 2;
    refuse(c, "\"sincos2d\"", "66");
    c.positions = VIT_POSITIONS_SINUSOIDAL;
    assert_int_equal(vit_config_check(&c, NULL), VIT_OK);
    c.positions = VIT_POSITIONS_NONE;
    assert_int_equal(vit_config_check(&c, NULL), VIT_OK);
    round_trip(&c);
}

static void test_refused_stems(void **state) {
    vit_config c = small();
    c.stem = VIT_STEM_CONV;
    refuse(c, "\"stem\" \"conv\"", "7");
    c.patch = 1;
    refuse(c, "\"stem\" \"conv\"", "not 1");
    c.patch = 4;
    assert_int_equal(vit_config_check(&c, NULL), VIT_OK);
    c.dim = 63;
    c.heads = 1;
    refuse(c, "doubles its width 1 times", "63");
}

static void test_derived(void **state) {
    const vit_config c = small();
    assert_int_equal(vit_config_patches(&c), 16);
    assert_int_equal(vit_config_tokens(&c), 17);
    /* 16 patches of 49 x 64; six blocks of qkv and projection 4 x 17 x 64 x 64, scores and their
     * product with the values 2 x 17 x 17 x 64, MLP 2 x 17 x 64 x 128; 64 x 10. */
    const size_t block = 4 * 17 * 64 * 64 + 2 * 17 * 17 * 64 + 2 * 17 * 64 * 128;
    assert_int_equal(vit_config_multiply_adds(&c), 16 * 49 * 64 + 6 * block + 640);
    /* 14x14 pixels of 32 from one channel, 7x7 of 64, and the projection; 49 patches. */
    vit_config conv = c;
    conv.stem = VIT_STEM_CONV;
    conv.patch = 4;
    conv.depth = 0;
    assert_int_equal(vit_config_convs(&conv), 2);
    assert_int_equal(vit_config_conv_width(&conv, 0), 32);
    assert_int_equal(vit_config_conv_width(&conv, 1), 64);
    assert_int_equal(vit_config_multiply_adds(&conv),
                     196 * 9 * 32 + 49 * 9 * 32 * 64 + 49 * 64 * 64 + 640);
    vit_config mean = c;
    mean.pool = VIT_POOL_MEAN;
    mean.class_token = false;
    assert_int_equal(vit_config_patches(&mean), 16);
    assert_int_equal(vit_config_tokens(&mean), 16);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip),     cmocka_unit_test(test_written_form),
        cmocka_unit_test(test_partial),        cmocka_unit_test(test_refused_text),
        cmocka_unit_test(test_refused_values), cmocka_unit_test(test_refused_positions),
        cmocka_unit_test(test_refused_stems),  cmocka_unit_test(test_derived),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
