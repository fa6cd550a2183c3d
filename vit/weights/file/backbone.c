#include "vit/weights/file/backbone.h"
#include "vit/base/size.h"
#include "vit/base/sys.h"
#include "vit/formats/json.h"
#include "vit/formats/json_out.h"
#include "vit/formats/sha256.h"
#include "vit/tensors/tensors.h"
#include "vit/tensors/weights_path.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME_SIZE 512

typedef struct reference {
    char file[NAME_SIZE], sha256[65];
} reference;

/* ---- writing ---- */

static vit_status check(const vit_tensors *file, const uint8_t *bytes, vit_error *error) {
    if (!bytes)
        return vit_fail(error, VIT_ERROR_UNSUPPORTED,
                        "%s: weights in several files have no checksum that a model file could "
                        "refer to: keep the backbone inside",
                        vit_tensors_name(file));
    if (!vit_tensors_metadata(file, "vit.backbone")) return VIT_OK;
    return vit_fail(error, VIT_ERROR_UNSUPPORTED,
                    "%s: refers to another file for its backbone: start from that file",
                    vit_tensors_name(file));
}

vit_status vit_backbone_refer(char **json, const char *path, vit_error *error) {
    vit_tensors *file;
    reference r = {0};
    size_t size, length = 0;
    *json = NULL;
    vit_status status = vit_tensors_open(&file, path, error);
    if (status != VIT_OK) return status;
    const uint8_t *bytes = vit_tensors_bytes(file, &size);
    status = check(file, bytes, error);
    if (status == VIT_OK) {
        if (vit_path_look(path) == VIT_PATH_DIRECTORY) {
            vit_path_name(r.file, sizeof r.file / 2, path);
            length = strlen(r.file);
            r.file[length++] = '/';
        }
        snprintf(r.file + length, sizeof r.file - length, "%s",
                 vit_path_last(vit_tensors_name(file)));
        vit_sha256_of(r.sha256, bytes, size);
        vit_json_out out = {0};
        vit_json_open(&out, NULL, '{');
        vit_json_text(&out, "file", r.file);
        vit_json_text(&out, "sha256", r.sha256);
        vit_json_close(&out, '}');
        *json = vit_json_take(&out);
        if (!*json) status = vit_fail_memory(error, "a reference", sizeof r);
    }
    vit_tensors_close(file);
    return status;
}

/* ---- reading ---- */

/* A name, or two with a '/' between them, none of which leads elsewhere. */
static bool is_near(const char *file) {
    const char *slash = strchr(file, '/'), *last = slash ? slash + 1 : file;
    return *file && *file != '/' && *file != '.' && *last && *last != '.' && !strchr(last, '/');
}

static vit_status parse(reference *r, const char *text, const char *name, vit_error *error) {
    json_t *object;
    const vit_status status = vit_json_parse(&object, text, strlen(text), "vit.backbone", error);
    if (status != VIT_OK) return vit_fail_prefix(error, status, name);
    const char *file = json_string_value(json_object_get(object, "file")),
               *sha256 = json_string_value(json_object_get(object, "sha256"));
    const bool fine = file && sha256 && json_object_size(object) == 2 &&
                      strlen(file) < sizeof r->file && strlen(sha256) == 64 && is_near(file);
    if (fine) {
        snprintf(r->file, sizeof r->file, "%s", file);
        snprintf(r->sha256, sizeof r->sha256, "%s", sha256);
    }
    json_decref(object);
    if (fine) return VIT_OK;
    return vit_fail(error, VIT_ERROR_FORMAT,
                    "%s: \"vit.backbone\" is %.200s, expected {\"file\": \"NAME\" or "
                    "\"DIRECTORY/NAME\", \"sha256\": 64 digits}",
                    name, text);
}

/* *same = whether the file has this checksum. */
static vit_status compare(bool *same, const char *path, const char *sha256, vit_error *error) {
    char hex[65];
    const vit_status status = vit_weights_hash(hex, path, error);
    *same = status == VIT_OK && strcmp(hex, sha256) == 0;
    return status;
}

static vit_status fail(const reference *r, const char *other, const char *name, vit_error *error) {
    if (other)
        return vit_fail(error, VIT_ERROR_MISMATCH,
                        "%s: its backbone is %s with the SHA-256 %s, and %s is another file", name,
                        r->file, r->sha256, other);
    return vit_fail(error, VIT_ERROR_IO,
                    "%s: its backbone, %s, is not there: looked beside it, in the working "
                    "directory and in $VIT_MODELS",
                    name, r->file);
}

vit_status vit_backbone_find(char **path, const char *json, const char *model, vit_error *error) {
    reference r;
    char *other = NULL;
    const char *models = getenv("VIT_MODELS");
    *path = NULL;
    vit_status status = parse(&r, json, model, error);
    if (status != VIT_OK) return status;
    char *places[] = {vit_path_beside(model, r.file), vit_strdup(r.file),
                      models && *models ? vit_path_join(models, r.file) : NULL};
    for (size_t i = 0; i < VIT_COUNT(places) && status == VIT_OK && !*path; i++) {
        bool same = false;
        if (!places[i] || vit_path_look(places[i]) != VIT_PATH_FILE) continue;
        status = compare(&same, places[i], r.sha256, error);
        char **found = same ? path : &other;
        if (status != VIT_OK || *found) continue;
        *found = places[i];
        places[i] = NULL;
    }
    if (status == VIT_OK && !*path) status = fail(&r, other, model, error);
    for (size_t i = 0; i < VIT_COUNT(places); i++) vit_free(places[i]);
    vit_free(other);
    return status;
}
