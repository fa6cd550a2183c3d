/* Calibrations: made from labelled pictures, and their file, docs/formats.md#calibration. The file
 * is JSON, its last value the SHA-256 of all bytes before it. */
#include "vit/base/error.h"
#include "vit/base/fpmode.h"
#include "vit/base/size.h"
#include "vit/base/sys.h"
#include "vit/base/text.h"
#include "vit/formats/json.h"
#include "vit/formats/json_out.h"
#include "vit/formats/sha256.h"
#include "vit/reliance/conformal.h"
#include "vit/reliance/stored.h"
#include <stddef.h>
#include <string.h>

/* Which pictures of a head that was computed from them. */
#define LEFT_OUT "all of them, each answered by a head computed without it"

#define BEGINS "{\"vit_calibration\": 1, "
#define ENDS ", \"sha256\": \""
enum { DIGITS = 64, FILE_LIMIT = 1 << 28, CLASSES_LIMIT = 1000000 };

void vit_calibration_free(vit_calibration *c) {
    if (!c) return;
    vit_free(c->data);
    vit_free(c->which);
    vit_free(c->pictures);
    vit_ood_clear(c);
    vit_free(c);
}

vit_calibration_info vit_calibration_describe(const vit_calibration *c) {
    vit_calibration_info info = {c->data,    c->which,  c->images,
                                 c->classes, c->images, strcmp(c->which, LEFT_OUT) == 0};
    for (size_t k = 0; k < c->classes; k++) {
        size_t count = 0;
        for (size_t i = 0; i < c->images; i++) count += c->pictures[i].label == k;
        info.fewest = vit_min(info.fewest, count);
    }
    return info;
}

/* ---- which model ---- */

/* hex: of the names of the classes and of the logits for a drawn picture, so that every difference
 * that could change a probability shows, and a model that was only renamed or converted is the
 * same. */
static vit_status identify(char hex[DIGITS + 1], const vit_model *model, vit_session *session,
                           vit_error *error) {
    enum { SIDE = 28, SEED = 2 };
    const vit_model_info info = vit_model_describe(model);
    uint8_t pixels[SIDE * SIDE];
    vit_sha256 hash;
    float *logits = vit_alloc(info.classes, sizeof *logits);
    if (!logits) return vit_fail_memory(error, "logits", info.classes * sizeof *logits);
    vit_draw_digit(pixels, SEED, 0);
    vit_status status = vit_classify_pixels(session, pixels, SIDE, SIDE, 1, SIDE, logits, error);
    vit_sha256_start(&hash);
    for (size_t k = 0; k < info.classes && status == VIT_OK; k++)
        vit_sha256_add(&hash, vit_model_label(model, k), strlen(vit_model_label(model, k)) + 1);
    vit_sha256_add(&hash, logits, info.classes * sizeof *logits);
    vit_sha256_add(&hash, &info.temperature, sizeof info.temperature);
    vit_sha256_hex(&hash, hex);
    vit_free(logits);
    return status;
}

/* ---- made ---- */

typedef struct collecting {
    vit_calibration *calibration;
    size_t *order; /* [classes] */
    double (*ood)[VIT_OOD_COUNT];
    size_t room;
    vit_status status;
    vit_error *error;
} collecting;

static void collect_picture(const vit_evaluated *picture, void *user) {
    collecting *to = user;
    vit_calibration *c = to->calibration;
    if (to->status == VIT_OK &&
        (!VIT_MAKE_ROOM(c->pictures, c->images, c->capacity, "calibration pictures", to->error) ||
         !VIT_MAKE_ROOM(to->ood, c->images, to->room, "scores", to->error)))
        to->status = VIT_ERROR_MEMORY;
    if (to->status != VIT_OK) return;
    vit_scored_picture *next = &c->pictures[c->images++];
    next->label = picture->label;
    next->answer = picture->answer;
    next->confidence = (double)picture->probabilities[picture->answer];
    vit_conformal_scores(next->scores, picture->probabilities, picture->label, to->order,
                         c->classes);
    vit_ood_scores(to->ood[c->images - 1], picture->logits, picture->probabilities, c->classes);
}

static vit_status calibrate(vit_calibration *c, const vit_model *model,
                            const vit_evaluate_options *options, vit_error *error) {
    collecting to = {
        .calibration = c, .order = vit_alloc(c->classes, sizeof *to.order), .error = error};
    const vit_session_options own = {.threads = options->threads,
                                     .cpu = options->cpu,
                                     .precision = options->precision,
                                     .bf16 = options->bf16};
    vit_evaluate_options choice = *options;
    vit_evaluation result = {0};
    vit_session *session = NULL;
    if (!to.order) return vit_fail_memory(error, "calibration", c->classes * sizeof *to.order);
    choice.picture = collect_picture;
    choice.user = &to;
    vit_status status = vit_session_new(&session, model, &own, error);
    if (status == VIT_OK) status = identify(c->answers_sha256, model, session, error);
    vit_session_free(session);
    if (status == VIT_OK) status = vit_evaluate(model, &choice, &result, error);
    const bool seen = status == VIT_OK && result.seen && options->split != VIT_SPLIT_TRAIN;
    if (seen) {
        c->images = 0;
        to.status = VIT_OK;
        status = vit_evaluate_left_out(model, &choice, 0, NULL, error);
    }
    if (status == VIT_OK) {
        c->data = vit_strdup(result.data);
        c->which = vit_strdup(seen ? LEFT_OUT : result.which);
        status = to.status;
        if (status == VIT_OK && (!c->data || !c->which))
            status = vit_fail_memory(error, "calibration", sizeof result.data);
        vit_evaluation_clear(&result);
    }
    if (status == VIT_OK) status = vit_ood_keep(c, to.ood, c->images, error);
    vit_free(to.order);
    vit_free(to.ood);
    return status;
}

vit_status vit_calibration_new(vit_calibration **out, const vit_model *model,
                               const vit_evaluate_options *options, vit_error *error) {
    VIT_ENTRY;
    static const vit_evaluate_options none;
    const vit_model_info info = vit_model_describe(model);
    vit_calibration *c = NULL;
    vit_status status = VIT_OK;
    *out = NULL;
    if (info.scoring != VIT_SCORING_SOFTMAX || !info.has_head)
        status = vit_fail(error, VIT_ERROR_UNSUPPORTED,
                          "prediction sets are for models that name one class a picture, by "
                          "probabilities that sum to 1");
    if (status == VIT_OK && !(c = vit_alloc(1, sizeof *c)))
        status = vit_fail_memory(error, "calibration", sizeof *c);
    if (status == VIT_OK) {
        c->classes = info.classes;
        status = calibrate(c, model, options ? options : &none, error);
    }
    if (status == VIT_OK)
        *out = c;
    else
        vit_calibration_free(c);
    return status;
}

/* ---- read ---- */

/* The bytes of a whole calibration, freed by vit_free; FORMAT if it is none, or was changed. */
static vit_status read_whole(vit_bytes *bytes, const char *path, vit_error *error) {
    const size_t begin = strlen(BEGINS), end = strlen(ENDS) + DIGITS + strlen("\"}\n");
    char hex[DIGITS + 1];
    vit_status status = vit_read_stored(bytes, path, FILE_LIMIT, error);
    if (status != VIT_OK) return status;
    const char *text = (const char *)bytes->data;
    if (bytes->size < begin + end || memcmp(text, BEGINS, begin) != 0) {
        status = vit_fail(error, VIT_ERROR_FORMAT, "%s is no calibration, which begins with %s",
                          path, BEGINS);
    } else {
        const char *tail = text + bytes->size - end;
        vit_sha256_of(hex, text, bytes->size - end);
        if (memcmp(tail, ENDS, strlen(ENDS)) != 0 ||
            memcmp(tail + strlen(ENDS), hex, DIGITS) != 0 ||
            memcmp(tail + end - 3, "\"}\n", 3) != 0)
            status = vit_fail(error, VIT_ERROR_FORMAT,
                              "%s is damaged: its checksum is not that of its bytes; calibrate "
                              "again",
                              path);
    }
    if (status != VIT_OK) vit_free(bytes->data);
    return status;
}

/* The classes in the list `key`, one a picture, into this member of each. */
static vit_status read_classes(const vit_calibration *c, const json_t *object, const char *key,
                               size_t offset, const char *path, vit_error *error) {
    const json_t *list = json_object_get(object, key);
    if (json_array_size(list) != c->images)
        return vit_fail_stored(VIT_STORED_CALIBRATION, path, key, error);
    for (size_t i = 0; i < c->images; i++) {
        const json_t *value = json_array_get(list, i);
        const size_t class = (size_t)json_integer_value(value);
        if (!json_is_integer(value) || class >= c->classes)
            return vit_fail_stored(VIT_STORED_CALIBRATION, path, key, error);
        *(size_t *)(void *)((char *)&c->pictures[i] + offset) = class;
    }
    return VIT_OK;
}

/* The same for numbers of 0 to `most`. */
static vit_status read_numbers(const vit_calibration *c, const json_t *object, const char *key,
                               size_t offset, double most, const char *path, vit_error *error) {
    const json_t *list = json_object_get(object, key);
    if (json_array_size(list) != c->images)
        return vit_fail_stored(VIT_STORED_CALIBRATION, path, key, error);
    for (size_t i = 0; i < c->images; i++) {
        const json_t *value = json_array_get(list, i);
        const double number = json_number_value(value);
        if (!json_is_number(value) || !(number >= 0 && number <= most))
            return vit_fail_stored(VIT_STORED_CALIBRATION, path, key, error);
        *(double *)(void *)((char *)&c->pictures[i] + offset) = number;
    }
    return VIT_OK;
}

static vit_status read_pictures(vit_calibration *c, const json_t *object, const char *path,
                                vit_error *error) {
    c->images = c->capacity = json_array_size(json_object_get(object, "labels"));
    c->pictures = vit_alloc(c->images, sizeof *c->pictures);
    if (!c->pictures)
        return vit_fail_memory(error, "calibration pictures", c->images * sizeof *c->pictures);
    vit_status status =
        read_classes(c, object, "labels", offsetof(vit_scored_picture, label), path, error);
    if (status == VIT_OK)
        status =
            read_classes(c, object, "answers", offsetof(vit_scored_picture, answer), path, error);
    if (status == VIT_OK)
        status = read_numbers(c, object, "confidence", offsetof(vit_scored_picture, confidence), 1,
                              path, error);
    for (vit_conformal_score score = 0; score < VIT_CONFORMAL_COUNT && status == VIT_OK; score++)
        status = read_numbers(c, object, vit_conformal_name(score),
                              offsetof(vit_scored_picture, scores) + score * sizeof(double),
                              (double)c->classes + 1, path, error);
    return status;
}

static vit_status read_object(vit_calibration *c, json_t *object, const char *path,
                              vit_error *error) {
    size_t version = 0;
    const vit_field fields[] = {{"vit_calibration", VIT_FIELD_SIZE, &version, NULL},
                                {"answers_sha256", VIT_FIELD_OTHER, NULL, NULL},
                                {"data", VIT_FIELD_OTHER, NULL, NULL},
                                {"which", VIT_FIELD_OTHER, NULL, NULL},
                                {"classes", VIT_FIELD_SIZE, &c->classes, NULL},
                                {"labels", VIT_FIELD_OTHER, NULL, NULL},
                                {"answers", VIT_FIELD_OTHER, NULL, NULL},
                                {"confidence", VIT_FIELD_OTHER, NULL, NULL},
                                {"lac", VIT_FIELD_OTHER, NULL, NULL},
                                {"aps", VIT_FIELD_OTHER, NULL, NULL},
                                {"raps", VIT_FIELD_OTHER, NULL, NULL},
                                {"ood", VIT_FIELD_OTHER, NULL, NULL},
                                {"sha256", VIT_FIELD_OTHER, NULL, NULL}};
    const vit_status status = vit_json_read(object, fields, VIT_COUNT(fields), path, error);
    if (status != VIT_OK) return status;
    const char *hex = json_string_value(json_object_get(object, "answers_sha256"));
    const char *data = json_string_value(json_object_get(object, "data"));
    const char *which = json_string_value(json_object_get(object, "which"));
    if (!hex || strlen(hex) != DIGITS)
        return vit_fail_stored(VIT_STORED_CALIBRATION, path, "answers_sha256", error);
    if (!data || !which)
        return vit_fail_stored(VIT_STORED_CALIBRATION, path, !data ? "data" : "which", error);
    if (c->classes == 0 || c->classes > CLASSES_LIMIT)
        return vit_fail_stored(VIT_STORED_CALIBRATION, path, "classes", error);
    memcpy(c->answers_sha256, hex, DIGITS + 1);
    c->data = vit_strdup(data);
    c->which = vit_strdup(which);
    if (!c->data || !c->which) return vit_fail_memory(error, "a calibration", strlen(data));
    const vit_status read = read_pictures(c, object, path, error);
    return read == VIT_OK ? vit_ood_read(c, json_object_get(object, "ood"), path, error) : read;
}

static vit_status check_model(const vit_calibration *c, const char *path, const vit_model *model,
                              vit_session *session, vit_error *error) {
    char hex[DIGITS + 1];
    const vit_status status = identify(hex, model, session, error);
    if (status != VIT_OK) return status;
    if (strcmp(hex, c->answers_sha256) != 0 || c->classes != vit_model_describe(model).classes)
        return vit_fail(error, VIT_ERROR_MISMATCH,
                        "%s was made with a model that answers otherwise: other weights, classes, "
                        "preprocessing or precision; calibrate this one "
                        "(vit-evaluate --calibrate)",
                        path);
    if (c->typical && c->typical->width != vit_model_describe(model).features)
        return vit_fail(error, VIT_ERROR_MISMATCH,
                        "%s: its training pictures have %zu features, the model's %zu", path,
                        c->typical->width, vit_model_describe(model).features);
    return VIT_OK;
}

vit_status vit_calibration_load(vit_calibration **out, const char *path, const vit_model *model,
                                vit_session *session, vit_error *error) {
    VIT_ENTRY;
    vit_bytes bytes;
    json_t *object = NULL;
    vit_calibration *c = NULL;
    *out = NULL;
    vit_status status = read_whole(&bytes, path, error);
    if (status == VIT_OK) {
        status = vit_json_parse(&object, (const char *)bytes.data, bytes.size, path, error);
        vit_free(bytes.data);
    }
    if (status == VIT_OK && !(c = vit_alloc(1, sizeof *c)))
        status = vit_fail_memory(error, "a calibration", sizeof *c);
    if (status == VIT_OK) status = read_object(c, object, path, error);
    json_decref(object);
    if (status == VIT_OK) status = check_model(c, path, model, session, error);
    if (status == VIT_OK)
        *out = c;
    else
        vit_calibration_free(c);
    return status;
}

/* ---- written ---- */

/* MISMATCH if another file stands there. */
static vit_status check_place(const char *path, vit_error *error) {
    vit_bytes bytes;
    if (vit_path_look(path) != VIT_PATH_FILE) return VIT_OK;
    const vit_status status = read_whole(&bytes, path, error);
    if (status == VIT_OK) vit_free(bytes.data);
    if (status != VIT_ERROR_FORMAT) return status;
    return vit_fail(error, VIT_ERROR_MISMATCH,
                    "%s exists and is no whole calibration: it is not replaced", path);
}

vit_status vit_calibration_save(const vit_calibration *c, const char *path, vit_error *error) {
    VIT_ENTRY;
    vit_json_out json = {0};
    char hex[DIGITS + 1];
    vit_json_open(&json, NULL, '{');
    vit_json_count(&json, "vit_calibration", 1);
    vit_json_text(&json, "answers_sha256", c->answers_sha256);
    vit_json_text(&json, "data", c->data);
    vit_json_text(&json, "which", c->which);
    vit_json_count(&json, "classes", c->classes);
    vit_json_open(&json, "labels", '[');
    for (size_t i = 0; i < c->images; i++) vit_json_count(&json, NULL, c->pictures[i].label);
    vit_json_close(&json, ']');
    vit_json_open(&json, "answers", '[');
    for (size_t i = 0; i < c->images; i++) vit_json_count(&json, NULL, c->pictures[i].answer);
    vit_json_close(&json, ']');
    vit_json_open(&json, "confidence", '[');
    for (size_t i = 0; i < c->images; i++) vit_json_number(&json, NULL, c->pictures[i].confidence);
    vit_json_close(&json, ']');
    for (vit_conformal_score score = 0; score < VIT_CONFORMAL_COUNT; score++) {
        vit_json_open(&json, vit_conformal_name(score), '[');
        for (size_t i = 0; i < c->images; i++)
            vit_json_number(&json, NULL, c->pictures[i].scores[score]);
        vit_json_close(&json, ']');
    }
    vit_ood_write(&json, c);
    if (json.text.text) vit_sha256_of(hex, json.text.text, json.text.length);
    vit_json_text(&json, "sha256", hex);
    vit_json_close(&json, '}');
    vit_string_add(&json.text, "\n");
    char *text = vit_json_take(&json);
    if (!text) return vit_fail_memory(error, "a calibration", c->images * sizeof *c->pictures);
    vit_status status = check_place(path, error);
    if (status == VIT_OK) status = vit_write_file(path, text, strlen(text), error);
    vit_free(text);
    return status;
}
