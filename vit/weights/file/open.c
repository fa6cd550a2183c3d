#include "vit/weights/file/open.h"

#include "vit/base/guests.h"
#include "vit/tensors/checksum.h"
#include "vit/weights/file/backbone.h"
#include "vit/weights/file/labels.h"

vit_status vit_refuse_as(const char *as, const char *name, vit_error *error) {
    if (!as) return VIT_OK;
    return vit_fail(error, VIT_ERROR_UNSUPPORTED,
                    "%s: as \"%s\" is a choice for published weights; this is a model file, or "
                    "writes texts, and has one answer",
                    name, as);
}

/* A model file of ours, or a checkpoint. */
static vit_status load_own(vit_model_file *m, const vit_tensors *file, const vit_wanted *wanted,
                           vit_error *error) {
    size_t size;
    if (!vit_tensors_bytes(file, &size))
        return vit_fail(error, VIT_ERROR_FORMAT,
                        "%s has the key \"vit.config\" of a model file, which is one file",
                        vit_tensors_name(file));
    return vit_model_file_load(m, file, wanted->packs, wanted->spare, error);
}

/* A model file of ours without its backbone, which is another file. path: as for load. */
static vit_status load_head(vit_model_file *m, const vit_tensors *file, const char *path,
                            const vit_exec *packs, vit_error *error) {
    const char *name = vit_tensors_name(file);
    const char *reference = vit_tensors_metadata(file, "vit.backbone");
    vit_model_file backbone = {0};
    vit_wanted whole = {.packs = packs};
    vit_tensors *other = NULL;
    char *place = NULL;
    size_t height, width;
    if (!path)
        return vit_fail(error, VIT_ERROR_UNSUPPORTED,
                        "%s: refers to another file for its backbone, which bytes in memory may "
                        "not: vit-convert makes a model file with all weights",
                        name);
    vit_status status = vit_backbone_find(&place, reference, path, error);
    if (status == VIT_OK) status = vit_tensors_open(&other, place, error);
    if (status == VIT_OK && vit_tensors_metadata(other, "vit.backbone"))
        status = vit_fail(error, VIT_ERROR_UNSUPPORTED,
                          "%s: its backbone, %s, refers to another file itself", name, place);
    vit_tensors_close(other);
    if (status == VIT_OK) status = vit_model_file_size(&height, &width, &whole.spare, file, error);
    if (status == VIT_OK) status = vit_model_file_open(&backbone, place, &whole, error);
    if (status == VIT_OK) status = vit_model_file_resize(&backbone, height, width, error);
    if (status == VIT_OK) status = vit_model_file_join(m, file, packs, &backbone, error);
    vit_model_file_clear(&backbone);
    vit_free(place);
    return status;
}

/* The model of another program, which a guest reads. */
static vit_status build_foreign(vit_model_file *m, vit_opened *opened, const vit_wanted *wanted,
                                vit_error *error) {
    char guest[VIT_GUEST_TEXT];
    if (vit_foreign_models) return vit_foreign_models->build(m, opened, wanted, error);
    return vit_fail(error, VIT_ERROR_UNSUPPORTED,
                    "%s: has no key \"vit.config\", so that it is no model file of vit%s",
                    vit_tensors_name(opened->file), vit_guests_for(guest, "vit_foreign_models"));
}

/* Compares the checksum of a file that has one, and refuses a checkpoint, or a head without its
 * backbone, that has none. */
static vit_status check_damage(const vit_tensors *file, vit_error *error) {
    size_t size = 0;
    const uint8_t *bytes = vit_tensors_bytes(file, &size);
    const bool needs = vit_model_file_is_checkpoint(file) ||
                       vit_tensors_metadata(file, "vit.backbone") ||
                       vit_tensors_metadata(file, VIT_CHECKSUM_KEY);
    return needs ? vit_checksum_verify(bytes, size, vit_tensors_name(file), error) : VIT_OK;
}

vit_status vit_model_file_read(vit_model_file *out, vit_opened *opened, const vit_wanted *wanted,
                               vit_error *error) {
    vit_tensors *file = opened->file;
    *out = (vit_model_file){0};
    vit_status status = check_damage(file, error);
    const bool is_head = vit_tensors_metadata(file, "vit.backbone") != NULL;
    const bool stays = wanted->in_place && !is_head && vit_packs_floats(wanted->packs, file);
    if (stays) vit_tensors_keep(file);
    if (status == VIT_OK && vit_tensors_metadata(file, "vit.config")) {
        status = vit_refuse_as(wanted->emulate, vit_tensors_name(file), error);
        if (status == VIT_OK && wanted->config)
            status = vit_fail(error, VIT_ERROR_ARGUMENT,
                              "%s: is a model file, which has its config in it: leave %s out",
                              vit_tensors_name(file), wanted->config);
        if (status == VIT_OK)
            status = is_head ? load_head(out, file, opened->path, wanted->packs, error)
                             : load_own(out, file, wanted, error);
    } else if (status == VIT_OK) {
        status = build_foreign(out, opened, wanted, error);
    }
    if (status == VIT_OK)
        status =
            vit_model_file_resize(out, wanted->height > 0 ? wanted->height : out->config.height,
                                  wanted->width > 0 ? wanted->width : out->config.width, error);
    if (stays && status == VIT_OK) {
        out->stays_in = file;
        opened->file = NULL;
        opened->path = NULL;
    }
    if (status == VIT_OK && wanted->labels) status = vit_labels_set(out, wanted->labels, error);
    if (status != VIT_OK) vit_model_file_clear(out);
    return status;
}

vit_status vit_opened_new(vit_opened *out, const char *path, vit_error *error) {
    *out = (vit_opened){0};
    const vit_status status = vit_tensors_open(&out->file, path, error);
    if (status == VIT_OK) out->path = vit_tensors_name(out->file);
    return status;
}

void vit_opened_close(vit_opened *opened) {
    json_decref(opened->config);
    vit_free(opened->config_path);
    vit_tensors_close(opened->file);
    *opened = (vit_opened){0};
}

vit_status vit_model_file_open(vit_model_file *out, const char *path, const vit_wanted *wanted,
                               vit_error *error) {
    vit_opened opened;
    *out = (vit_model_file){0};
    vit_status status = vit_opened_new(&opened, path, error);
    if (status == VIT_OK) status = vit_model_file_read(out, &opened, wanted, error);
    vit_opened_close(&opened);
    return status;
}
