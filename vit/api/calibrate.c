#include "vit/api/calibrate.h"
#include "vit/api/internal.h"
#include "vit/base/size.h"
#include "vit/base/sys.h"
#include "vit/image/codec/decode.h"
#include "vit/model/run/migrate.h"
#include <stdio.h>

enum { USUAL_PICTURES = 64 };

typedef struct calibration {
    const vit_model_file *model;
    const vit_convert_options *options;
    const vit_kernels *kernels;
    int threads;
    vit_migration *migration;
    float table[3][256]; /* vit_normalize_table */
    float *image;        /* a picture as the network reads it */
    size_t seen, count;  /* pictures: those that were used, and all */
} calibration;

static vit_status check(const vit_model_file *m, const char *in, vit_error *error) {
    const vit_config *c = &m->config;
    if (vit_config_has_decoder(c) || !vit_config_takes_pictures(c))
        return vit_fail(error, VIT_ERROR_UNSUPPORTED,
                        "%s: reads or writes texts, and a calibration is for networks that answer "
                        "pictures: convert it without one (--calibrate)",
                        in);
    if (vit_migration_norms(c) == 0)
        return vit_fail(error, VIT_ERROR_UNSUPPORTED,
                        "%s: the norms of its blocks come after the sums or branches, where no "
                        "linear layer alone reads them, so that none can take a scale: convert it "
                        "without a calibration (--calibrate)",
                        in);
    for (size_t i = 0; m->scales && i < m->table.scale_size; i++)
        if (m->scales[i] >= 0)
            return vit_fail(error, VIT_ERROR_ARGUMENT,
                            "%s: its weights are in 8 bits already, and a calibration (--calibrate)"
                            " needs them as they were before: name the model in floats",
                            in);
    return VIT_OK;
}

/* The number of picture i of those that are used: they are spread evenly over all. */
static size_t place(const calibration *c, size_t i) {
    return i * c->count / c->seen;
}

static void choose_pictures(calibration *c, size_t count) {
    const size_t asked = c->options->calibrate_pictures;
    c->count = count;
    c->seen = vit_min(asked > 0 ? asked : USUAL_PICTURES, count);
}

/* ---- a folder of pictures ---- */

static vit_status see_file(calibration *c, const char *name, vit_error *error) {
    const vit_config *config = &c->model->config;
    const vit_preprocessing *p = &c->model->preprocessing;
    char *path = vit_path_join(c->options->calibrate, name);
    vit_image ready = {0};
    vit_bytes file;
    if (!path) return vit_fail_memory(error, "a path", 0);
    vit_status status = vit_read_file(&file, path, VIT_IMAGE_MAX_FILE, error);
    if (status == VIT_OK)
        status = vit_preprocess_bytes(&ready, file.data, file.size, path, p, config->height,
                                      config->width, config->channels, c->kernels, error);
    vit_free(file.data);
    if (status == VIT_OK) {
        vit_normalize_prepared(c->image, &ready, p, c->table[0]);
        status = vit_migration_see(c->migration, c->image, error);
    }
    vit_image_free(&ready);
    vit_free(path);
    return status;
}

/* names: those in the folder, replaced by the pictures' among them; *count how many these are. */
static vit_status list_pictures(char ***names, size_t *count, const char *folder,
                                vit_error *error) {
    size_t all = 0;
    *count = 0;
    *names = NULL;
    if (vit_path_look(folder) != VIT_PATH_DIRECTORY) return VIT_OK;
    const vit_status status = vit_list_directory(names, &all, folder, error);
    for (size_t i = 0; status == VIT_OK && i < all; i++) {
        char *name = (*names)[i];
        if (vit_name_is_wanted(name) && vit_ends_as_picture(name)) (*names)[(*count)++] = name;
    }
    return status;
}

/* ---- a data set ---- */

static vit_status see_records(calibration *c, const vit_dataset *d, vit_error *error) {
    const vit_records *records = d->train.count > 0 ? &d->train : &d->test;
    uint8_t *scratch = NULL;
    vit_status status = vit_model_takes(c->model, d, error);
    choose_pictures(c, records->count);
    for (size_t i = 0; i < c->seen && status == VIT_OK; i++) {
        status =
            vit_record_normalize(c->image, &scratch, d, records, place(c, i), c->table[0], error);
        if (status == VIT_OK) status = vit_migration_see(c->migration, c->image, error);
    }
    vit_free(scratch);
    return status;
}

static vit_status see_data(calibration *c, vit_error *error) {
    const vit_model_file *m = c->model;
    const vit_preparation preparation = vit_model_preparation(m);
    const vit_dataset_options options = {.want = VIT_PART_TRAIN | VIT_PART_TEST,
                                         .preparation = &preparation,
                                         .multi_label = m->scoring == VIT_SCORING_SIGMOID,
                                         .cache = 1, /* few are used */
                                         .threads = c->threads,
                                         .kernels = c->kernels};
    vit_dataset data;
    vit_status status = vit_dataset_open(&data, c->options->calibrate, &options, error);
    if (status != VIT_OK) return status;
    status = see_records(c, &data, error);
    vit_dataset_close(&data);
    return status;
}

/* ---- the whole ---- */

static vit_status see(calibration *c, vit_error *error) {
    char **names;
    size_t count;
    const char *data = c->options->calibrate;
    vit_status status = list_pictures(&names, &count, data, error);
    if (status == VIT_OK && count == 0) {
        status = see_data(c, error);
        if (status != VIT_OK && vit_path_look(data) == VIT_PATH_DIRECTORY)
            vit_fail_prefix(error, status, "there are no pictures to calibrate with");
    }
    if (count > 0) choose_pictures(c, count);
    for (size_t i = 0; count > 0 && i < c->seen && status == VIT_OK; i++)
        status = see_file(c, names[place(c, i)], error);
    vit_free(names);
    return status;
}

static void say(const calibration *c) {
    char text[256];
    if (!c->options->note) return;
    snprintf(text, sizeof text,
             "note: calibrated with %zu of the %zu pictures of %s: scales are in the norms",
             c->seen, c->count, c->options->calibrate);
    c->options->note(text, c->options->user);
    if (!vit_migration_is_whole(&c->model->config))
        c->options->note("note: norms after the sums, or after branches, have none: others than "
                         "linear layers read them",
                         c->options->user);
}

vit_status vit_migrate_outliers(vit_model_file *m, const vit_convert_options *options,
                                vit_error *error) {
    const vit_config *config = &m->config;
    calibration c = {.model = m, .options = options};
    vit_status status = check(m, options->in, error);
    if (status == VIT_OK)
        status = vit_choose(&c.kernels, &c.threads, options->cpu, 0, VIT_PRECISION_F32,
                            VIT_BF16_ANY, error);
    if (status != VIT_OK) return status;
    vit_normalize_table(c.table, &m->preprocessing, config->channels);
    c.image = vit_alloc(config->height * config->width, config->channels * sizeof *c.image);
    if (!c.image) return vit_fail_memory(error, "a picture", config->height * config->width);
    status =
        vit_migration_new(&c.migration, config, &m->table, m->values, c.kernels, c.threads, error);
    if (status == VIT_OK) status = see(&c, error);
    if (status == VIT_OK) vit_migration_fold(c.migration);
    if (status == VIT_OK) say(&c);
    vit_migration_free(c.migration);
    vit_free(c.image);
    return status;
}
