/* The functions of the library that the page of the lecture calls: page.html, steps.js. */
#include <emscripten.h>

#include "datasets/dataset.h"
#include "vit/formats/json_out.h"
#include "vit/lecture/lecture.h"

EMSCRIPTEN_KEEPALIVE const char *lecture_open(const uint8_t *bytes, size_t size);
EMSCRIPTEN_KEEPALIVE const char *lecture_describe(void);
EMSCRIPTEN_KEEPALIVE unsigned lecture_draw(uint8_t *pixels, unsigned seed, unsigned number);
EMSCRIPTEN_KEEPALIVE void lecture_show(const uint8_t *pixels, unsigned label);
EMSCRIPTEN_KEEPALIVE void lecture_run(void);
EMSCRIPTEN_KEEPALIVE void lecture_step(double lr);
EMSCRIPTEN_KEEPALIVE void lecture_reset(void);
EMSCRIPTEN_KEEPALIVE const char *lecture_set(unsigned index, unsigned head, unsigned i, unsigned j,
                                             float value);
EMSCRIPTEN_KEEPALIVE const float *lecture_attend(unsigned block, bool whole_width, bool causal);

static vit_lecture *lecture;
static vit_error error;

/* Opens a model file in memory; NULL, or what went wrong. */
const char *lecture_open(const uint8_t *bytes, size_t size) {
    vit_tensors *file;
    vit_model_file model = {0};
    vit_status status = vit_tensors_parse(&file, bytes, size, "the page's model", &error);
    if (status == VIT_OK) status = vit_model_file_load(&model, file, NULL, 0, &error);
    if (status == VIT_OK) status = vit_lecture_new(&lecture, &model, &error);
    vit_model_file_clear(&model);
    if (file) vit_tensors_close(file);
    return status == VIT_OK ? NULL : error.message;
}

static void describe_matrix(vit_json_out *json, const vit_lecture_matrix *m) {
    static const char *const passes[] = {"given", "forward", "backward", "step"};
    vit_json_open(json, NULL, '{');
    vit_json_text(json, "symbol", m->symbol);
    vit_json_text(json, "formula", m->formula);
    vit_json_text(json, "pass", passes[m->pass]);
    vit_json_count(json, "block", m->block);
    vit_json_count(json, "heads", m->heads);
    vit_json_count(json, "rows", m->rows);
    vit_json_count(json, "columns", m->columns);
    vit_json_count(json, "head", m->head);
    vit_json_count(json, "row", m->row);
    vit_json_count(json, "column", m->column);
    vit_json_count(json, "at", (uintptr_t)m->values / sizeof *m->values);
    vit_json_count(json, "products", m->products);
    vit_json_bool(json, "fixed", m->is_fixed);
    vit_json_open(json, "operands", '[');
    for (size_t i = 0; i < m->operand_count; i++) {
        vit_json_open(json, NULL, '{');
        vit_json_count(json, "index", m->operands[i].index);
        vit_json_bool(json, "turned", m->operands[i].transposed);
        vit_json_close(json, '}');
    }
    vit_json_close(json, ']');
    vit_json_close(json, '}');
}

/* All matrices as JSON; `at` is where values[0] is, in floats from the beginning of the memory. */
const char *lecture_describe(void) {
    vit_json_out json = {0};
    vit_json_open(&json, NULL, '[');
    for (size_t i = 0; i < vit_lecture_count(lecture); i++)
        describe_matrix(&json, vit_lecture_matrix_at(lecture, i));
    vit_json_close(&json, ']');
    return vit_json_take(&json);
}

unsigned lecture_draw(uint8_t *pixels, unsigned seed, unsigned number) {
    return vit_digits_draw(pixels, seed, number);
}

void lecture_show(const uint8_t *pixels, unsigned label) {
    vit_lecture_show(lecture, pixels, label);
}

void lecture_run(void) {
    vit_lecture_run(lecture);
}

void lecture_step(double lr) {
    vit_lecture_step(lecture, lr);
}

void lecture_reset(void) {
    vit_lecture_reset(lecture);
}

/* NULL, or what is wrong. */
const char *lecture_set(unsigned index, unsigned head, unsigned i, unsigned j, float value) {
    const vit_status status = vit_lecture_set(lecture, index, head, i, j, value, &error);
    return status == VIT_OK ? NULL : error.message;
}

const float *lecture_attend(unsigned block, bool whole_width, bool causal) {
    return vit_lecture_attend(lecture, block, whole_width, causal);
}
