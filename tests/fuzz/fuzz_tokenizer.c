/* tokenizer.json and SentencePiece models; the first byte chooses. What was read decodes any ids.
 */
#include "vit/base/sys.h"
#include "vit/text/tokenizer.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    vit_tokenizer t;
    vit_error error;
    uint32_t ids[64];
    if (size == 0) return 0;
    const vit_status status = data[0] & 1
                                  ? vit_tokenizer_read_json(&t, data + 1, size - 1, "input", &error)
                                  : vit_tokenizer_read_sentencepiece(&t, data + 1, size - 1,
                                                                     data[0] & 2, "input", &error);
    if (status != VIT_OK) return 0;
    for (uint32_t i = 0; i < 64; i++) ids[i] = i;
    char *text = vit_tokenizer_decode(&t, ids, 64);
    if (text == NULL) abort();
    vit_free(text);
    vit_tokenizer_free(&t);
    return 0;
}
