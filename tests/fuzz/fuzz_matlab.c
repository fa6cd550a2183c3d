/* Any bytes as a MATLAB file: what comes out lies within it, or in the memory that was made. */
#include "vit/base/sys.h"
#include "vit/formats/matlab.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const char header[] = "MATLAB 5.0 MAT-file";
    vit_matlab_array array;
    vit_error error = {0};
    uint8_t *file = vit_alloc(128 + size, 1);
    if (!file) abort();
    memcpy(file, header, sizeof header);
    memcpy(file + 126, "IM", 2);
    if (size > 0) memcpy(file + 128, data, size);
    if (vit_matlab_find(&array, "X", file, 128 + size, "input", &error) == VIT_OK) {
        int64_t sum = 0, number;
        for (size_t i = 0; i < array.count; i++)
            if (vit_matlab_integer(&number, &array, i)) sum += number;
        if (sum == INT64_MIN) abort();
        vit_free(array.memory);
    } else if (error.status == VIT_OK) {
        abort();
    }
    vit_free(file);
    return 0;
}
