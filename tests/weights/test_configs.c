/* Configs of strangers: each value of each config of tests/fixtures/published, left out and of
 * every other kind, beside the weights that it belongs to. What is taken is a network that is
 * whole; what is refused, by a sentence that names the file. */
#include "tests/support/replaced.h"
#include "tests/support/spoiled.h"
#include "tests/support/unit.h"
#include "vit/base/sys.h"
#include "vit/base/text.h"
#include "vit/weights/published.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct beside {
    const vit_tensors *file;
    const char *name, *type; /* of the directory, and of its config */
    vit_string seen;         /* "\ntype/key\n" of all that were changed in one of this type */
    vit_configs configs;
    size_t taken, refused;
} beside;

static bool is_new(beside *b, const char *path) {
    char line[300];
    snprintf(line, sizeof line, "\n%.60s%.200s\n", b->type, path);
    if (b->seen.text && strstr(b->seen.text, line)) return false;
    vit_string_add(&b->seen, "%s", line);
    return true;
}

static bool build(void *context, const char *path, const char *value) {
    beside *b = context;
    if (!value) return is_new(b, path);
    vit_model_file model;
    vit_error error = {0};
    const vit_status status = vit_published_build(&model, b->file, &b->configs, &error);
    if (getenv("SHOW"))
        printf("# %s%s = %s: %s\n", b->name, path, value, status ? error.message : "taken");
    if (status == VIT_OK) {
        b->taken++;
        if (vit_config_check(&model.config, &error) != VIT_OK || model.preprocessing.count == 0)
            fail_msg("%s%s = %s: %s", b->name, path, value, error.message);
        vit_model_file_clear(&model);
        return strcmp(value, "\"x\"") != 0; /* what may be anything is not read */
    }
    b->refused++;
    if (error.status != status || !error.message[0] || strchr(error.message, '\n'))
        fail_msg("%s%s = %s: %s", b->name, path, value, error.message);
    return true;
}

static json_t *read_beside(const char *directory, const char *name) {
    char path[300];
    json_t *object = NULL;
    snprintf(path, sizeof path, "%s/%s", directory, name);
    if (vit_path_look(path) == VIT_PATH_FILE) object = json_load_file(path, 0, NULL);
    return object;
}

static void replace_in(beside *b, const char *name) {
    static char path[] = "config.json", processor_path[] = "preprocessor_config.json";
    char directory[200], weights[300];
    vit_tensors *file;
    snprintf(directory, sizeof directory, PUBLISHED "/%s", name);
    snprintf(weights, sizeof weights, "%s/model.safetensors", directory);
    if (vit_tensors_open(&file, weights, NULL) != VIT_OK) return;
    b->file = file;
    b->name = name;
    b->configs = (vit_configs){path, processor_path, read_beside(directory, path),
                               read_beside(directory, processor_path), .wanted = &(vit_wanted){0}};
    const json_t *type = json_object_get(b->configs.object, "model_type");
    b->type = json_is_string(type)       ? json_string_value(type)
              : strncmp(name, "timm", 4) ? name
                                         : "timm";
    if (b->configs.object) replace_each(b->configs.object, build, b);
    if (b->configs.processor) replace_each(b->configs.processor, build, b);
    json_decref(b->configs.object);
    json_decref(b->configs.processor);
    vit_tensors_close(file);
}

static void test_replaced(void **state) {
    char **names;
    size_t count;
    beside b = {0};
    (void)state;
    assert_int_equal(vit_list_directory(&names, &count, PUBLISHED, NULL), VIT_OK);
    for (size_t i = 0; i < count; i++) replace_in(&b, names[i]);
    vit_free(names);
    vit_string_free(&b.seen);
    printf("# %zu configs taken, %zu refused\n", b.taken, b.refused);
    assert_true(b.taken > 1000 && b.refused > 2000);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_replaced)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
