/* Any bytes as a sidecar, and as a picture that carries one: what is read can be edited, what was
 * edited can be read, has the keywords, and stays as it is when it is edited again. */
#include "vit/photos/embedded.h"
#include "vit/photos/xmp_edit.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds) {
    if (!holds) abort();
}

static void edit(const char *text, size_t size) {
    static const vit_xmp_answer answers[] = {{"Animals/Cat", 0.75f}, {"a & b", 0.5f}};
    const vit_xmp_answers some = {"model", answers, 2}, none = {"model", NULL, 0};
    vit_string once, twice, without;
    vit_error error;
    vit_xmp xmp;
    if (vit_xmp_edit(&once, text, size, "input", &some, &error) != VIT_OK) return;
    require(vit_xmp_read(&xmp, once.text, once.length, "edited", &error) == VIT_OK);
    require(vit_xmp_has(&xmp, VIT_XMP_SUBJECT, "Cat") &&
            vit_xmp_has(&xmp, VIT_XMP_SUBJECT, "a & b"));
    require(vit_xmp_has(&xmp, VIT_XMP_HIERARCHICAL, "Animals|Cat"));
    vit_xmp_free(&xmp);
    require(vit_xmp_edit(&twice, once.text, once.length, "edited", &some, &error) == VIT_OK);
    require(once.length == twice.length && memcmp(once.text, twice.text, once.length) == 0);
    require(vit_xmp_edit(&without, once.text, once.length, "edited", &none, &error) == VIT_OK);
    vit_string_free(&once);
    vit_string_free(&twice);
    vit_string_free(&without);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    vit_error error;
    vit_embedded carried;
    vit_xmp xmp;
    char *text = vit_alloc(1, size); /* without a zero byte behind it */
    require(text);
    if (size > 0) memcpy(text, data, size);
    if (vit_xmp_read(&xmp, text, size, "input", &error) == VIT_OK) edit(text, size);
    vit_xmp_free(&xmp);
    if (vit_embedded_find(&carried, (const uint8_t *)text, size, &error) == VIT_OK) {
        const char *keyword = carried.keywords.text;
        for (size_t i = 0; i < carried.keyword_count; i++) keyword += strlen(keyword) + 1;
        require(!keyword || keyword == carried.keywords.text + carried.keywords.length);
        vit_embedded_free(&carried);
    }
    vit_free(text);
    return 0;
}
