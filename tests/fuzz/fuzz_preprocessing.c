/* Reads arbitrary bytes as a list of operations. What is read is written, read again (to the same
 * list), scaled to another size, and prepares a small picture.
 *
 *     make fuzz && build/fuzz/fuzz_preprocessing -max_len=2048 CORPUS
 */
#include "vit/base/sys.h"
#include "vit/image/prepare/preprocess.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The pixels that the list may make on its way, so that a run stays short. */
static bool is_small(const vit_preprocessing *p) {
    for (size_t i = 0; i < p->count; i++) {
        const vit_operation *op = &p->operations[i];
        if (op->height > 300 || op->width > 300 || op->shorter > 100) return false;
    }
    return true;
}

static void prepare(const vit_preprocessing *p) {
    static uint8_t pixels[7 * 5 * 3];
    const vit_image in = {.pixels = pixels, .width = 7, .height = 5, .channels = 3};
    vit_image out;
    if (is_small(p)) vit_preprocess(&out, &in, p, 28, 28, 3, NULL, NULL);
    if (is_small(p)) vit_image_free(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    vit_preprocessing list, again;
    char *text = vit_alloc(size + 1, 1);
    if (!text) return 0;
    memcpy(text, data, size);
    const vit_status status = vit_preprocessing_read(&list, text, "fuzz", NULL);
    vit_free(text);
    if (status) return 0;
    text = vit_preprocessing_write(&list);
    if (!text || vit_preprocessing_read(&again, text, "fuzz", NULL) ||
        memcmp(&list, &again, sizeof list) != 0)
        abort();
    vit_free(text);
    prepare(&list);
    if (vit_preprocessing_at(&again, 28, 28, 56, 20, NULL) == VIT_OK) prepare(&again);
    return 0;
}
