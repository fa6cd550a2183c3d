#include "tests/support/small_model.h"
#include "tests/support/unit.h"
#include "vit/base/sys.h"
#include <string.h>

vit_model_file small_model(const char *sizes, const char *changes, const char *preprocessing,
                           const char *const labels[3], const char *recipe) {
    vit_model_file m = {.config = vit_config_default()};
    vit_error error;
    if (vit_config_read(&m.config, sizes, "sizes", &error) != VIT_OK ||
        vit_config_read(&m.config, changes, "changes", &error) != VIT_OK ||
        vit_table_new(&m.table, &m.config, &error) != VIT_OK ||
        vit_preprocessing_read(&m.preprocessing, preprocessing, "preprocessing", &error) != VIT_OK)
        fail_msg("%s", error.message);
    m.values = vit_alloc(m.table.size, sizeof(float));
    m.recipe = vit_strdup(recipe);
    m.labels = labels ? vit_alloc(3, sizeof *m.labels) : NULL;
    assert_true(m.values && m.recipe && !m.labels == !labels);
    if (labels) memcpy(m.labels, labels, 3 * sizeof *labels);
    vit_table_init(1, m.values, &m.table, VIT_INIT_TORCH, 7);
    return m;
}
