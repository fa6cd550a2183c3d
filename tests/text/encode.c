/* Encodes texts for scripts/check_tokenizers.py, which builds it: encode TOKENIZER [HOW] < TEXTS
 * > IDS. A text is its length in four bytes, the lowest first, and its bytes; ids are written in
 * the same way. HOW: texts are cleaned so, and CLIP's read as by OpenCLIP; -1 ids stand for one
 * that is refused. On standard error: the milliseconds that loading took. */
#include "vit/base/sys.h"
#include "vit/text/tokenizer/tokenizer.h"
#include "vit/text/unicode/clean.h"
#include <stdio.h>

static vit_status encode(vit_encoding *e, const vit_tokenizer *t, vit_cleaning how, char *text,
                         size_t length, vit_error *error) {
    vit_string clean = {0};
    *e = (vit_encoding){0};
    if (how == VIT_CLEAN_NONE) return vit_tokenizer_encode(e, t, text, length, 0, error);
    vit_status status = vit_text_clean(&clean, how, text, length, error);
    if (status == VIT_OK) status = vit_tokenizer_encode(e, t, clean.text, clean.length, 0, error);
    vit_string_free(&clean);
    return status;
}

int main(int argc, char **argv) {
    vit_tokenizer t;
    vit_error error;
    uint32_t length;
    const double start = vit_clock();
    vit_cleaning how = VIT_CLEAN_NONE;
    if (argc < 2 || (argc > 2 && !vit_cleaning_named(&how, argv[2]))) return 2;
    if (vit_tokenizer_load(&t, argv[1], &error) != VIT_OK) {
        fprintf(stderr, "%s\n", error.message);
        return 1;
    }
    if (how == VIT_CLEAN_LOWER && vit_tokenizer_read_as_open_clip(&t, argv[1], &error) != VIT_OK)
        return 1;
    fprintf(stderr, "%.1f\n", (vit_clock() - start) * 1e3);
    while (fread(&length, 4, 1, stdin) == 1) {
        char *text = vit_alloc_unset((size_t)length + 1, 1);
        vit_encoding e;
        if (!text || fread(text, 1, length, stdin) != length) return 1;
        const vit_status status = encode(&e, &t, how, text, length, &error);
        if (status != VIT_OK && how == VIT_CLEAN_NONE) {
            fprintf(stderr, "%s\n", error.message);
            return 1;
        }
        const uint32_t count = status == VIT_OK ? (uint32_t)e.count : UINT32_MAX;
        fwrite(&count, 4, 1, stdout);
        fwrite(e.ids, 4, e.count, stdout);
        vit_free(e.ids);
        vit_free(text);
    }
    vit_tokenizer_free(&t);
    return 0;
}
