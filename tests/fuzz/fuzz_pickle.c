/* Any bytes as a pickle: what comes out lies within it, and its dictionaries end. */
#include "vit/tensors/pickle.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds) {
    if (!holds) abort();
}

static void use_value(const vit_pickle *pickle, vit_pickle_value value) {
    if (value.kind == VIT_PICKLE_TEXT) {
        volatile char ends = '\0';
        const char *text = vit_pickle_text(pickle, value);
        if (value.length > 0) ends = (char)(text[0] + text[value.length - 1]);
        (void)ends;
    } else if (value.kind == VIT_PICKLE_TENSOR) {
        const vit_pickle_tensor *t = vit_pickle_tensor_of(pickle, value);
        require(t->dims <= VIT_MAX_DIMS && t->storage.dtype <= VIT_BOOL);
    }
    vit_pickle_array array;
    if (vit_pickle_array_of(pickle, value, &array) && array.count > 0) {
        volatile uint8_t last = array.data[array.count - 1];
        (void)last;
    }
    require(value.kind != VIT_PICKLE_MARK);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    vit_pickle *pickle;
    vit_error error = {0};
    const vit_status status = vit_pickle_read(&pickle, data, size, &error);
    if (status != VIT_OK) {
        require(!pickle && error.status == status);
        return 0;
    }
    const vit_pickle_value root = vit_pickle_root(pickle);
    const vit_pickle_pair *pair = NULL;
    size_t pairs = 0;
    use_value(pickle, root);
    while (root.kind == VIT_PICKLE_DICT && (pair = vit_pickle_next(pickle, root, pair))) {
        require(pairs++ <= size);
        use_value(pickle, pair->key);
        use_value(pickle, pair->value);
    }
    vit_pickle_free(pickle);
    return 0;
}
