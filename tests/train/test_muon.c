/* Which tensors the optimiser Muon moves; its steps are compared with PyTorch in test_train.c. */
#include "tests/support/unit.h"
#include "vit/train/recipe/preset.h"
#include "vit/train/step/muon.h"

/* Muon moves the matrices of all blocks and of a stem's later layers, nothing that reads pictures
 * or words or answers. */
static void muon_moves_what_is_inside(void **unused) {
    vit_preset strips;
    vit_table table;
    assert_int_equal(vit_preset_load(&strips, "strips", NULL), VIT_OK);
    vit_config *c = &strips.config;
    c->height = c->width = 32;
    c->channels = c->classes = 1;
    c->decoder.vocabulary = c->decoder.length = 12;
    assert_int_equal(vit_table_new(&table, c, NULL), VIT_OK);
    size_t moved = 0;
    vit_recipe recipe = strips.recipe;
    recipe.optimizer = VIT_OPTIMIZER_MUON;
    for (size_t i = 0; i < table.count; i++) moved += vit_muon_moves(&recipe, &table, i);
    /* qkv, proj, fc1, fc2 of two and two blocks, q, kv and proj of cross-attention in the latter,
     * three of the four convolutions */
    assert_int_equal(moved, 4 * 4 + 2 * 3 + 3);
    static const char *const still[] = {"tokenizer.0.weight", "decoder.head.weight"};
    for (size_t i = 0; i < 2; i++) {
        const vit_parameter *row = vit_table_find(&table, still[i]);
        assert_non_null(row);
        assert_false(vit_muon_moves(&recipe, &table, (size_t)(row - table.rows)));
    }
    recipe.optimizer = VIT_OPTIMIZER_ADAMW;
    for (size_t i = 0; i < table.count; i++) assert_false(vit_muon_moves(&recipe, &table, i));
    vit_table_free(&table);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(muon_moves_what_is_inside)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
