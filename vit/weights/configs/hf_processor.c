/* Hugging Face: preprocessor_config.json, how pictures are prepared. */
#include "vit/base/size.h"
#include "vit/base/text.h"
#include "vit/weights/configs/their_config.h"
#include <stdlib.h>
#include <string.h>

/* The classes of processors that are read, and their defaults for keys that a file leaves out. */
typedef struct processor {
    const char *name;  /* before "ImageProcessor", "ImageProcessorFast", "FeatureExtractor" */
    bool square;       /* a number as "size" is both sides, else the shorter one */
    size_t size;       /* a number */
    bool stretches;    /* without "size" both sides become that number, else as `square` says */
    bool crops;        /* "do_center_crop" */
    bool has_crop_pct; /* up to 383 the shorter side becomes size / crop_pct, and the middle is cut
                          out; from 384 on pictures are stretched */
    vit_filter filter; /* "resample" */
    size_t means;      /* "image_mean" and "image_std": 0: .5, 1: CLIP's, 2: ImageNet's, 3: none, as
                          "do_normalize" is false */
    bool in_float;     /* pixels are rescaled before they are resized, and are not rounded then */
} processor;

static const processor processors[] = {
    {"ViT", true, 224, true, false, false, VIT_FILTER_BILINEAR, 0, false},
    {"DeiT", true, 256, true, true, false, VIT_FILTER_BICUBIC, 0, false},
    {"Beit", true, 224, true, false, false, VIT_FILTER_BICUBIC, 0, false},
    {"CLIP", false, 224, false, true, false, VIT_FILTER_BICUBIC, 1, false},
    {"Bit", false, 224, false, true, false, VIT_FILTER_BICUBIC, 1, false},
    {"ConvNext", false, 384, false, false, true, VIT_FILTER_BICUBIC, 0, false},
    {"Siglip", false, 224, true, false, false, VIT_FILTER_BICUBIC, 0, false},
    {"DINOv3ViT", true, 224, true, false, false, VIT_FILTER_BILINEAR, 2, true},
    {"Tipsv2", true, 448, true, false, false, VIT_FILTER_BILINEAR, 3, false},
};

/* The class that the file names, else the one that the library takes for the "model_type". */
static vit_status find_processor(const processor **found, const char **type,
                                 const vit_their_config *d, const char *usual, const json_t *object,
                                 vit_error *error) {
    static const char *const endings[] = {"ImageProcessor", "ImageProcessorFast",
                                          "ImageProcessorPil", "FeatureExtractor", ""};
    *type = usual;
    vit_status status = vit_read_text(type, d, object, "feature_extractor_type", error);
    if (status == VIT_OK) status = vit_read_text(type, d, object, "image_processor_type", error);
    if (status != VIT_OK) return status;
    vit_string known = {0};
    for (size_t i = 0; i < VIT_COUNT(processors); i++) {
        const size_t n = strlen(processors[i].name);
        *found = &processors[i];
        for (size_t k = 0; strncmp(*type, (*found)->name, n) == 0 && k < 5; k++)
            if (strcmp(*type + n, endings[k]) == 0) return VIT_OK;
    }
    for (size_t i = 0; i < VIT_COUNT(processors); i++)
        vit_string_add(&known, "%s%s", i > 0 ? ", " : "", processors[i].name);
    vit_fail(error, VIT_ERROR_UNSUPPORTED,
             "%s: pictures are prepared by \"%s\", which is not supported: expected the "
             "ImageProcessor of one of %s",
             d->name, *type, known.failed ? "..." : known.text);
    vit_string_free(&known);
    return VIT_ERROR_UNSUPPORTED;
}

/* Refuses keys that are not read below and could change a pixel. */
static vit_status check_keys(const vit_their_config *d, json_t *object, vit_error *error) {
    static const char *const read[] = {
        "size", "crop_size", "crop_pct", "default_to_square", "resample", "rescale_factor",
        "image_mean", "image_std", "do_resize", "do_center_crop", "do_rescale", "do_normalize",
        /* and those that change nothing here */
        "image_processor_type", "feature_extractor_type", "processor_class", "do_convert_rgb",
        "data_format", "input_data_format", "return_tensors", "device", "disable_grouping",
        "do_reduce_labels", "reduce_labels", "_valid_processor_keys", "model_input_names",
        "transformers_version", "preprocessing"};
    const char *key;
    json_t *value;
    json_object_foreach(object, key, value) {
        size_t i = 0;
        while (i < VIT_COUNT(read) && strcmp(read[i], key) != 0) i++;
        const json_type idle = strcmp(key, "antialias") == 0 ? JSON_TRUE : JSON_FALSE;
        if (i < VIT_COUNT(read) || json_typeof(value) == JSON_NULL || json_typeof(value) == idle)
            continue;
        return vit_fail(error, VIT_ERROR_UNSUPPORTED, "%s: \"%s\" is not supported", d->name, key);
    }
    return VIT_OK;
}

/* "resample", by the numbers that PIL gives the filters. */
static vit_status read_filter(vit_their_config *d, const processor *c, const json_t *object,
                              vit_error *error) {
    static const vit_filter filters[] = {VIT_FILTER_NEAREST,  VIT_FILTER_LANCZOS,
                                         VIT_FILTER_BILINEAR, VIT_FILTER_BICUBIC,
                                         VIT_FILTER_BOX,      VIT_FILTER_HAMMING};
    size_t number = 0;
    while (filters[number] != c->filter) number++;
    const vit_status status = vit_read_size(&number, d, object, "resample", error);
    if (status != VIT_OK) return status;
    if (number >= VIT_COUNT(filters) || (c->in_float && number != 2 && number != 3))
        return vit_fail(
            error, VIT_ERROR_UNSUPPORTED,
            "%s: \"resample\" %zu is not supported, expected %s: 2 is bilinear, 3 bicubic", d->name,
            number, c->in_float ? "2 or 3" : "0 to 5");
    d->prepare.filter = filters[number];
    return VIT_OK;
}

/* ConvNext's rule. */
static vit_status apply_crop_pct(vit_their_config *d, const json_t *object, vit_error *error) {
    vit_prepare *p = &d->prepare;
    double share = .875;
    const size_t side = p->resize[0];
    const vit_status status = vit_read_number(&share, d, object, "crop_pct", error);
    if (status != VIT_OK) return status;
    if (p->kind != VIT_PREPARE_SHORTER || !(share > 0 && share <= 1))
        return vit_fail(
            error, VIT_ERROR_FORMAT,
            "%s: expected \"size\" {\"shortest_edge\": pixels} and \"crop_pct\" above 0 "
            "to 1",
            d->name);
    if (side >= 384) {
        p->kind = VIT_PREPARE_STRETCH;
        p->resize[1] = side;
        return VIT_OK;
    }
    p->resize[0] = (size_t)((double)side / share);
    p->crop[0] = p->crop[1] = side;
    return VIT_OK;
}

/* "size": both sides, or {"shortest_edge": S}; a number is the one or the other. */
static vit_status read_size(vit_their_config *d, const processor *c, json_t *object,
                            vit_error *error) {
    static const char *const sides[] = {"height", "width", "shortest_edge"};
    vit_prepare *p = &d->prepare;
    json_t *size = vit_json_given(object, "size"), *value;
    int square = c->square;
    const char *key;
    vit_status status = vit_read_flag(&square, d, object, "default_to_square", error);
    if (status != VIT_OK) return status;
    json_object_foreach(size, key, value) {
        size_t i = 0;
        while (i < VIT_COUNT(sides) && strcmp(key, sides[i]) != 0) i++;
        if (i == VIT_COUNT(sides) && json_typeof(value) != JSON_NULL)
            return vit_fail(error, VIT_ERROR_UNSUPPORTED, "%s: \"%s\" in \"size\" is not supported",
                            d->name, key);
    }
    value = vit_json_given(size, "shortest_edge");
    const bool is_shorter = size ? value || (json_is_integer(size) && !square) : !c->stretches;
    p->resize[0] = p->resize[1] = c->size;
    if (value)
        status = vit_read_size(&p->resize[0], d, size, "shortest_edge", error);
    else
        status = vit_read_sides(p->resize, d, object, "size", error);
    p->kind = is_shorter ? VIT_PREPARE_SHORTER : VIT_PREPARE_STRETCH;
    return status == VIT_OK && c->has_crop_pct ? apply_crop_pct(d, object, error) : status;
}

static vit_status read_mean(vit_their_config *d, const processor *c, const json_t *object,
                            vit_error *error) {
    static const double usual[][2][3] = {
        {{.5, .5, .5}, {.5, .5, .5}},
        {{.48145466, .4578275, .40821073}, {.26862954, .26130258, .27577711}},
        {{.485, .456, .406}, {.229, .224, .225}},
        {{0, 0, 0}, {1, 1, 1}}};
    vit_prepare *p = &d->prepare;
    bool found;
    int normalizes = c->means < 3;
    for (size_t i = 0; i < 3; i++) {
        p->mean[i] = usual[c->means][0][i];
        p->std[i] = usual[c->means][1][i];
    }
    vit_status status = vit_read_flag(&normalizes, d, object, "do_normalize", error);
    if (status == VIT_OK) status = vit_read_triple(p->mean, &found, d, object, "image_mean", error);
    if (status == VIT_OK) status = vit_read_triple(p->std, &found, d, object, "image_std", error);
    for (size_t i = 0; i < 3 && !normalizes; i++) {
        p->mean[i] = 0;
        p->std[i] = 1;
    }
    p->has_mean = true;
    return status;
}

static vit_status read_rescale(vit_their_config *d, const json_t *object, vit_error *error) {
    int rescales = true;
    vit_status status = vit_read_flag(&rescales, d, object, "do_rescale", error);
    d->prepare.rescale = 1 / 255.0;
    if (status == VIT_OK)
        status = vit_read_number(&d->prepare.rescale, d, object, "rescale_factor", error);
    if (status != VIT_OK) return status;
    if (!rescales) d->prepare.rescale = 1;
    if (d->prepare.rescale > 0) return VIT_OK;
    return vit_fail(error, VIT_ERROR_FORMAT, "%s: \"rescale_factor\" is %g, expected above 0",
                    d->name, d->prepare.rescale);
}

/* The centre crop, which pictures that are resized by their shorter side need. */
static vit_status read_crop(vit_their_config *d, const processor *c, const json_t *object,
                            vit_error *error) {
    vit_prepare *p = &d->prepare;
    int crops = c->crops;
    size_t crop[2] = {224, 224};
    vit_status status = vit_read_flag(&crops, d, object, "do_center_crop", error);
    if (status == VIT_OK && crops) status = vit_read_sides(crop, d, object, "crop_size", error);
    if (status != VIT_OK) return status;
    for (size_t i = 0; i < 2 && crops; i++) {
        if (p->crop[i] > 0 && p->crop[i] != crop[i]) /* two crops: the second is of the first */
            return vit_fail(error, VIT_ERROR_UNSUPPORTED,
                            "%s: \"crop_size\" %zu besides \"size\" %zu is not supported", d->name,
                            crop[i], p->crop[i]);
        p->crop[i] = crop[i];
    }
    if (p->kind != VIT_PREPARE_SHORTER || p->crop[0] > 0) return VIT_OK;
    return vit_fail(error, VIT_ERROR_UNSUPPORTED,
                    "%s: \"shortest_edge\" without a crop leaves pictures of every shape, which is "
                    "not supported: add \"do_center_crop\": true and \"crop_size\"",
                    d->name);
}

static vit_status read_steps(vit_their_config *d, const processor *c, json_t *object,
                             vit_error *error) {
    int resizes = true;
    vit_status status = check_keys(d, object, error);
    if (status == VIT_OK) status = vit_read_flag(&resizes, d, object, "do_resize", error);
    if (status == VIT_OK) status = read_rescale(d, object, error);
    if (status != VIT_OK) return status;
    if (!resizes)
        return vit_fail(error, VIT_ERROR_UNSUPPORTED,
                        "%s: \"do_resize\" false is not supported: pictures of another size than "
                        "the network's could not be answered",
                        d->name);
    if (c->in_float && d->prepare.rescale == 1)
        return vit_fail(error, VIT_ERROR_UNSUPPORTED, "%s: \"do_rescale\" false is not supported",
                        d->name);
    status = read_size(d, c, object, error);
    if (status == VIT_OK) status = read_filter(d, c, object, error);
    if (status == VIT_OK) status = read_crop(d, c, object, error);
    return status == VIT_OK ? read_mean(d, c, object, error) : status;
}

/* Whether the processor computes as torchvision does, not as Pillow: where its name ends in "Fast",
 * and from version 5 on, unless it ends in "Pil". */
static bool is_on_torchvision(const char *type, const char *version) {
    static const char *const on_pillow[] = {"Pil", "FeatureExtractor"};
    if (vit_has_ending(type, "Fast")) return true;
    for (size_t i = 0; i < VIT_COUNT(on_pillow); i++)
        if (vit_has_ending(type, on_pillow[i])) return false;
    return version && strtol(version, NULL, 10) >= 5;
}

vit_status vit_read_hf_processor(vit_their_config *d, const char *usual, json_t *object,
                                 vit_error *error) {
    const processor *c;
    const char *type;
    vit_prepare *p = &d->prepare;
    vit_status status = find_processor(&c, &type, d, usual, object, error);
    if (status == VIT_OK) status = read_steps(d, c, object, error);
    p->turns = true; /* by the library's load_image(), not by the processor */
    p->rounding = VIT_ROUNDING_FLOOR;
    if (status != VIT_OK || !(c->in_float || is_on_torchvision(type, d->version))) return status;
    p->arithmetic = c->in_float ? VIT_ARITHMETIC_FLOAT : VIT_ARITHMETIC_TORCH;
    p->rounding = VIT_ROUNDING_ZERO;
    p->fused = !c->in_float;
    return status;
}
