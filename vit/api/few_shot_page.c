/* vit_few_shot_report: what was learnt, as a page that needs no other files. */
#include "vit/api/few_shot.h"
#include "vit/base/fpmode.h"
#include "vit/base/sys.h"
#include "vit/base/text.h"
#include "vit/formats/json_out.h"
#include "vit/formats/page.h"
#include "vit/image/codec/png_write.h"
#include <string.h>

extern const char *const vit_few_shot_html[]; /* vit/few_shot/page/teaching.html */

/* In the first bytes of every such page. */
static const char mark[] = "<meta name=\"generator\" content=\"vit teaching\">";
#define MOST_PAGE ((size_t)64 << 20)

static vit_status check_page(const char *path, vit_error *error) {
    vit_bytes bytes;
    bool exists = false, ours = false;
    vit_status status = vit_path_exists(&exists, path, error);
    if (status != VIT_OK || !exists) return status;
    status = vit_read_file(&bytes, path, MOST_PAGE, error);
    if (status != VIT_OK) return status;
    for (size_t i = 0; i + sizeof mark <= bytes.size && i < 256 && !ours; i++)
        ours = memcmp(bytes.data + i, mark, sizeof mark - 1) == 0;
    const bool empty = bytes.size == 0;
    vit_free(bytes.data);
    if (ours || empty) return VIT_OK;
    return vit_fail(error, VIT_ERROR_MISMATCH,
                    "%s is no page of this program, it is not replaced: name another file", path);
}

/* The picture as the network sees it: it is kept, or its file is read again. */
static void add_picture(vit_json_out *json, const vit_few_shot *t, size_t index) {
    const vit_config *c = &t->backbone->file.config;
    const vit_taught_picture *p = &t->pictures[index];
    const vit_picture file = {.name = p->name};
    vit_image ready = {0};
    vit_bytes png = {0};
    const uint8_t *pixels = p->thumb;
    if (!pixels && p->name && !p->is_kept &&
        vit_model_prepare(&ready, t->backbone, t->session->kernels, &file, 0, NULL) == VIT_OK)
        pixels = ready.pixels;
    if (pixels && vit_png_write(&png, pixels, c->width, c->height, c->channels, NULL) == VIT_OK)
        vit_json_base64(json, NULL, png.data, png.size);
    else
        vit_json_raw(json, NULL, "null");
    vit_free(png.data);
    vit_image_free(&ready);
}

vit_status vit_few_shot_report(const vit_few_shot *t, const char *path, vit_error *error) {
    VIT_ENTRY;
    vit_json_out pictures = {0};
    vit_string page = {0};
    vit_status status = vit_few_shot_needs_head(t, error);
    if (status == VIT_OK) status = check_page(path, error);
    if (status != VIT_OK) return status;
    vit_json_open(&pictures, NULL, '[');
    for (size_t i = 0; i < t->learnt.suspects; i++)
        add_picture(&pictures, t, t->learnt.suspect[i].index);
    vit_json_close(&pictures, ']');
    char *list = vit_json_take(&pictures);
    const vit_page_part parts[] = {{"learnt", NULL, t->json}, {"pictures", NULL, list}};
    vit_string_add_page(&page, vit_few_shot_html, parts, 2);
    if (page.failed) status = vit_fail_memory(error, "a page", page.length);
    if (status == VIT_OK) status = vit_write_file(path, page.text, page.length, error);
    vit_free(list);
    vit_string_free(&page);
    return status;
}
