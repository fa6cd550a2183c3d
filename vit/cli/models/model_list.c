#include "vit/cli/models/model_list.h"

#include <stdio.h>
#include <string.h>

#include "vit/base/size.h"
#include "vit/base/sys.h"
#include "vit/base/text.h"
#include "vit/cli/models/models.h"
#include "vit/cli/parts/program.h"
#include "vit/formats/json.h"
#include "vit/formats/sha256.h"

enum { CARD_LIMIT = 1 << 16, SHA256_DIGITS = 64 };
enum { ARCHITECTURE_WIDTH = 31, DATA_WIDTH = 17, RIGHT_WIDTH = 38 }; /* columns */

/* A line of the list. */
typedef struct entry {
    const char *name, *file;
    size_t classes;
    char architecture[64];
    json_t *recipe, *card; /* own the strings below */
    const char *data;      /* the data it was trained on; NULL: not known */
    const char *test_data; /* the data it was measured on; NULL: it was not */
    size_t test_images;
    double test_top1;
} entry;

/* What the values of a config's key are called; a value that is in no row keeps its own name. */
static const char *name_value(const json_t *config, const char *key, const char *const rows[][2]) {
    const char *value = json_string_value(json_object_get(config, key));
    for (size_t i = 0; value && rows[i][0]; i++)
        if (strcmp(value, rows[i][0]) == 0) return rows[i][1];
    return value ? value : "unknown";
}

/* "ViT, patches 4x4, class token", "CCT, sequence pooling": the stem, and what the head is given.
 */
static vit_status describe_architecture(entry *e, const vit_model_info *info, vit_error *error) {
    static const char *const stems[][2] = {
        {"linear", "ViT"}, {"conv", "ViT, convolutional stem"}, {"cct", "CCT"}, {NULL, NULL}};
    static const char *const pools[][2] = {
        {"class", "class token"}, {"seq", "sequence pooling"}, {NULL, NULL}};
    json_t *config;
    vit_status status = vit_json_parse(&config, info->config, strlen(info->config), e->file, error);
    if (status != VIT_OK) return status;
    const char *stem = name_value(config, "stem", stems), *pool = name_value(config, "pool", pools);
    char patches[48] = "";
    if (stem == stems[0][1])
        snprintf(patches, sizeof patches, ", patches %zux%zu", info->patch, info->patch);
    snprintf(e->architecture, sizeof e->architecture, "%s%s, %s", stem, patches, pool);
    json_decref(config);
    return VIT_OK;
}

/* Classes, architecture and training data, from the model file. */
static vit_status read_model(entry *e, vit_error *error) {
    vit_model *model;
    const vit_model_options opening = {.cpu = vit_chosen_cpu()};
    vit_status status = vit_model_load_with(&model, e->file, &opening, error);
    if (status != VIT_OK) return status;
    vit_model_info info = vit_model_describe(model);
    e->classes = info.classes;
    status = describe_architecture(e, &info, error);
    if (status == VIT_OK)
        status = vit_json_parse(&e->recipe, info.recipe, strlen(info.recipe), e->file, error);
    vit_model_free(model);
    e->data = json_string_value(json_object_get(e->recipe, "data"));
    return status;
}

/* Reads the measurement; *sha256: that of the model that was measured. */
static vit_status parse_card(entry *e, const char *path, const char **sha256, vit_error *error) {
    vit_bytes bytes;
    double top1 = -1;
    const vit_field fields[] = {{"data", VIT_FIELD_OTHER, NULL, NULL},
                                {"images", VIT_FIELD_SIZE, &e->test_images, NULL},
                                {"top1", VIT_FIELD_DOUBLE, &top1, NULL},
                                {"model_sha256", VIT_FIELD_OTHER, NULL, NULL}};
    vit_status status = vit_read_file(&bytes, path, CARD_LIMIT, error);
    if (status != VIT_OK) return status;
    status = vit_json_parse(&e->card, (const char *)bytes.data, bytes.size, path, error);
    vit_free(bytes.data);
    if (status == VIT_OK)
        status = vit_json_read(e->card, fields, sizeof fields / sizeof fields[0], path, error);
    if (status != VIT_OK) return status;
    const char *data = json_string_value(json_object_get(e->card, "data"));
    *sha256 = json_string_value(json_object_get(e->card, "model_sha256"));
    if (!data || !*sha256 || e->test_images == 0 || top1 < 0 || top1 > 1) {
        return vit_fail(error, VIT_ERROR_FORMAT,
                        "%s: expected \"data\", \"images\", \"top1\" (a fraction, 0 to 1) and "
                        "\"model_sha256\"",
                        path);
    }
    e->test_data = data;
    e->test_top1 = top1;
    return VIT_OK;
}

/* MISMATCH if the card is about another model than the one beside it. */
static vit_status check_card(const entry *e, const char *path, const char *sha256,
                             vit_error *error) {
    vit_bytes bytes;
    char hex[SHA256_DIGITS + 1];
    vit_status status = vit_map_file(&bytes, e->file, error);
    if (status != VIT_OK) return status;
    vit_sha256_of(hex, bytes.data, bytes.size);
    vit_unmap_file(&bytes);
    if (strcmp(hex, sha256) != 0) {
        return vit_fail(error, VIT_ERROR_MISMATCH,
                        "%s is about a model with the SHA-256 %s, but that of %s is %s; "
                        "scripts/evaluate measures it anew",
                        path, sha256, e->file, hex);
    }
    return VIT_OK;
}

/* Reads the card, NAME.json beside NAME.safetensors, if there is one. */
static vit_status read_card(entry *e, vit_error *error) {
    vit_string path = {0};
    const char *sha256 = NULL;
    const int stem = (int)vit_stem_length(e->file, ".safetensors");
    vit_string_add(&path, "%.*s.json", stem, e->file);
    vit_status status = VIT_OK;
    if (path.failed) {
        status = vit_fail_memory(error, "the path of a card", strlen(e->file));
    } else if (vit_path_look(path.text) == VIT_PATH_FILE) {
        status = parse_card(e, path.text, &sha256, error);
        if (status == VIT_OK) status = check_card(e, path.text, sha256, error);
    }
    if (status != VIT_OK) e->test_data = NULL;
    vit_string_free(&path);
    return status;
}

static bool write_json(const vit_command *command, const entry *e) {
    vit_json_out json = {0};
    vit_json_open(&json, NULL, '{');
    vit_json_text(&json, "name", e->name);
    vit_json_text(&json, "file", e->file);
    vit_json_count(&json, "classes", e->classes);
    vit_json_text(&json, "architecture", e->architecture);
    vit_json_text(&json, "data", e->data);
    vit_json_text(&json, "test_data", e->test_data);
    if (e->test_data) {
        vit_json_count(&json, "test_images", e->test_images);
        vit_json_number(&json, "test_top1", e->test_top1);
    } else {
        vit_json_text(&json, "test_images", NULL);
        vit_json_text(&json, "test_top1", NULL);
    }
    vit_json_close(&json, '}');
    return vit_print_json(command, &json);
}

static bool write_line(const vit_command *command, const entry *e, size_t width) {
    char images[32], percent[32];
    vit_string text = {0}, right = {0};
    if (e->test_data) {
        vit_string_add(&right, "%6s %% of %s (%s)",
                       vit_format_fixed(percent, 100 * e->test_top1, 2),
                       vit_format_count(images, e->test_images), e->test_data);
    } else {
        vit_string_add(&right, "not measured");
    }
    vit_string_add_visible(&text, e->name, width);
    vit_string_add(&text, "   ");
    vit_string_add_visible(&text, e->architecture, ARCHITECTURE_WIDTH);
    vit_string_add(&text, "   ");
    vit_string_add_visible(&text, e->data ? e->data : "unknown", DATA_WIDTH);
    vit_string_add(&text, "   ");
    vit_string_add_visible(&text, right.text ? right.text : "", RIGHT_WIDTH);
    vit_string_add(&text, "   ");
    vit_string_add_visible(&text, e->file, 0);
    vit_string_add(&text, "\n");
    vit_string_free(&right);
    return vit_print(command, &text);
}

static int show(const vit_command *command, const vit_named_model *model, size_t width, bool json) {
    vit_error error;
    entry e = {.name = model->name, .file = model->path};
    int exit_status = VIT_EXIT_OK;
    bool readable = read_model(&e, &error) == VIT_OK;
    if (!readable || read_card(&e, &error) != VIT_OK) {
        vit_say(command, "%s", error.message);
        exit_status = VIT_EXIT_FAILED;
    }
    if (readable && !(json ? write_json(command, &e) : write_line(command, &e, width)))
        exit_status = VIT_EXIT_FAILED;
    json_decref(e.recipe);
    json_decref(e.card);
    return exit_status;
}

int vit_show_models(const vit_command *command, bool json) {
    vit_model_list list;
    vit_error error;
    vit_string heading = {0};
    size_t width = strlen("name");
    if (vit_list_models(&list, &error) != VIT_OK) return vit_say_error(command, &error);
    for (size_t i = 0; i < list.count; i++)
        width = vit_max(width, vit_display_columns(list.models[i].name));
    int exit_status = VIT_EXIT_OK;
    if (list.count == 0) {
        vit_say(command, "there are no models; $VIT_MODELS may name a directory of them");
    } else if (!json) {
        vit_string_add_visible(&heading, "name", width);
        vit_string_add(&heading, "   %-*s   %-*s   %-*s   file\n", ARCHITECTURE_WIDTH,
                       "architecture", DATA_WIDTH, "trained on", RIGHT_WIDTH,
                       "right on the test pictures");
        if (!vit_print(command, &heading)) exit_status = VIT_EXIT_FAILED;
    }
    for (size_t i = 0; i < list.count; i++) {
        int status = show(command, &list.models[i], width, json);
        exit_status = status != VIT_EXIT_OK ? status : exit_status;
    }
    vit_free_model_list(&list);
    return exit_status;
}

int vit_show_presets(const vit_command *command) {
    vit_string text = {0};
    const char *name, *json;
    for (size_t i = 0; (json = vit_preset_json(i, &name)) != NULL; i++)
        vit_string_add(&text, "%s%s\n%s", i > 0 ? "\n" : "", name, json);
    const bool fine = vit_print(command, &text);
    return vit_program_end(command, fine ? VIT_EXIT_OK : VIT_EXIT_FAILED);
}
