/* Encodes texts for scripts/check_tokenizers.py, which builds it: encode TOKENIZER < TEXTS > IDS.
 * A text is its length in four bytes, the lowest first, and its bytes; ids are written in the same
 * way. On standard error: the milliseconds that loading took. */
#include "vit/base/sys.h"
#include "vit/text/tokenizer.h"
#include <stdio.h>

int main(int argc, char **argv) {
    vit_tokenizer t;
    vit_error error;
    uint32_t length;
    const double start = vit_clock();
    if (argc != 2) return 2;
    if (vit_tokenizer_load(&t, argv[1], &error) != VIT_OK) {
        fprintf(stderr, "%s\n", error.message);
        return 1;
    }
    fprintf(stderr, "%.1f\n", (vit_clock() - start) * 1e3);
    while (fread(&length, 4, 1, stdin) == 1) {
        char *text = vit_alloc_unset((size_t)length + 1, 1);
        vit_encoding e;
        if (!text || fread(text, 1, length, stdin) != length) return 1;
        if (vit_tokenizer_encode(&e, &t, text, length, 0, &error) != VIT_OK) {
            fprintf(stderr, "%s\n", error.message);
            return 1;
        }
        const uint32_t count = (uint32_t)e.count;
        fwrite(&count, 4, 1, stdout);
        fwrite(e.ids, 4, e.count, stdout);
        vit_free(e.ids);
        vit_free(text);
    }
    vit_tokenizer_free(&t);
    return 0;
}
