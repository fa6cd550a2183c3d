/* Every matrix of the lecture's network for a drawn digit, forward, backward and of a step of AdamW
 * at learning rate 0.001: the block, the pass, the symbol, the shape, and the SHA-256 of the
 * numbers, which the page of `make lecture` shows, too.
 *
 * usage: lecture_digit MODEL [NUMBER]      a model of the preset "lecture"; NUMBER 0, 1, 2, ...
 */
#include "datasets/dataset.h"
#include "vit/base/sys.h"
#include "vit/formats/sha256.h"
#include "vit/lecture/lecture.h"
#include <stdio.h>
#include <stdlib.h>

enum { SIDE = 28, SEED = 3 };
static const double rate = .001;

static vit_status print(const vit_lecture_matrix *m, vit_error *error) {
    static const char *const passes[] = {"given", "forward", "backward", "step"};
    const size_t count = m->heads * m->rows * m->columns;
    float *values = vit_alloc(count, sizeof *values);
    vit_sha256 hash;
    char hex[65];
    if (!values) return vit_fail_memory(error, m->symbol, count * sizeof *values);
    vit_lecture_copy(m, values);
    vit_sha256_start(&hash);
    vit_sha256_add(&hash, values, count * sizeof *values);
    vit_sha256_hex(&hash, hex);
    printf("%zu\t%s\t%s\t%zux%zux%zu\t%s\n", m->block, passes[m->pass], m->symbol, m->heads,
           m->rows, m->columns, hex);
    vit_free(values);
    return VIT_OK;
}

static vit_status show(vit_lecture *lecture, uint32_t number, vit_error *error) {
    uint8_t pixels[SIDE * SIDE];
    const size_t label = vit_digits_draw(pixels, SEED, number);
    vit_status status = VIT_OK;
    vit_lecture_show(lecture, pixels, label);
    vit_lecture_run(lecture);
    vit_lecture_step(lecture, rate);
    for (size_t i = 0; i < vit_lecture_count(lecture) && status == VIT_OK; i++)
        status = print(vit_lecture_matrix_at(lecture, i), error);
    return status;
}

int main(int argc, char **argv) {
    vit_tensors *file = NULL;
    vit_model_file model = {0};
    vit_lecture *lecture = NULL;
    vit_error error;
    if (argc < 2 || argc > 3) {
        fprintf(stderr, "usage: lecture_digit MODEL [NUMBER]\n");
        return 2;
    }
    const uint32_t number = argc == 3 ? (uint32_t)strtoul(argv[2], NULL, 10) : 0;
    vit_status status = vit_tensors_open(&file, argv[1], &error);
    if (status == VIT_OK) status = vit_model_file_load(&model, file, NULL, 0, &error);
    if (status == VIT_OK) status = vit_lecture_new(&lecture, &model, &error);
    if (status == VIT_OK) status = show(lecture, number, &error);
    if (status != VIT_OK) fprintf(stderr, "lecture_digit: %s\n", error.message);
    vit_lecture_free(lecture);
    vit_model_file_clear(&model);
    if (file) vit_tensors_close(file);
    return status == VIT_OK ? 0 : 1;
}
