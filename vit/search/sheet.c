#include "vit/search/sheet.h"
#include "vit/base/parallel.h"
#include "vit/base/sys.h"
#include "vit/formats/base64.h"
#include "vit/formats/page.h"
#include "vit/image/codec/decode.h"
#include "vit/image/codec/png_write.h"
#include "vit/image/prepare/preprocess.h"

vit_status vit_thumbnail(uint8_t **png, size_t *size, const char *path, vit_error *error) {
    static const vit_preprocessing small = {
        .operations =
            {{.kind = VIT_OP_ORIENT},
             {.kind = VIT_OP_COMPOSITE, .background = {255, 255, 255}},
             {.kind = VIT_OP_RGB},
             {.kind = VIT_OP_RESIZE, .shorter = VIT_THUMBNAIL, .filter = VIT_FILTER_BILINEAR},
             {.kind = VIT_OP_CENTER_CROP, .height = VIT_THUMBNAIL, .width = VIT_THUMBNAIL}},
        .count = 5};
    vit_image image;
    vit_bytes bytes;
    *png = NULL;
    vit_status status = vit_read_regular(&bytes, path, VIT_IMAGE_MAX_FILE, error);
    if (status == VIT_OK)
        status = vit_preprocess_bytes(&image, bytes.data, bytes.size, path, &small, VIT_THUMBNAIL,
                                      VIT_THUMBNAIL, 3, NULL, error);
    vit_free(bytes.data);
    if (status != VIT_OK) return status;
    status = vit_png_write(&bytes, image.pixels, image.width, image.height, image.channels, error);
    vit_image_free(&image);
    if (status != VIT_OK) return status;
    *png = bytes.data;
    *size = bytes.size;
    return VIT_OK;
}

typedef struct sheet {
    const vit_sheet_item *items;
    vit_bytes *pictures;
} sheet;

static void make_one(size_t i, int thread, void *context) {
    const sheet *s = context;
    vit_error ignored;
    (void)thread;
    if (vit_thumbnail(&s->pictures[i].data, &s->pictures[i].size, s->items[i].path, &ignored) !=
        VIT_OK)
        s->pictures[i] = (vit_bytes){0};
}

static void add_item(vit_string *out, const vit_sheet_item *item, const vit_bytes *png) {
    char score[32];
    vit_string_add(out, "<figure>");
    if (png->data) {
        vit_string_add(out, "<img alt=\"\" src=\"data:image/png;base64,");
        vit_string_add_base64(out, png->data, png->size);
        vit_string_add(out, "\">");
    } else {
        vit_string_add(out, "<div>cannot be read</div>");
    }
    vit_string_add(out, "<figcaption><b>%s</b> ", vit_format_fixed(score, (double)item->score, 3));
    vit_string_add_html(out, item->path);
    vit_string_add(out, "</figcaption></figure>\n");
}

void vit_string_add_sheet(vit_string *out, const char *title, const vit_sheet_item *items,
                          size_t count, int threads) {
    sheet s = {items, vit_alloc(count, sizeof *s.pictures)};
    if (!s.pictures) {
        out->failed = true;
        return;
    }
    vit_parallel(threads, count, make_one, &s);
    vit_string_add(out, "<!doctype html>\n<html lang=\"en\"><meta charset=\"utf-8\">\n"
                        "<meta name=\"viewport\" content=\"width=device-width\">\n<title>");
    vit_string_add_html(out, title);
    vit_string_add(out,
                   "</title>\n<style>\n"
                   "body { font: 14px/1.4 system-ui, sans-serif; margin: 1.5em; }\n"
                   "main { display: grid; gap: 1em;\n"
                   "  grid-template-columns: repeat(auto-fill, minmax(%dpx, 1fr)); }\n"
                   "figure { margin: 0; overflow-wrap: anywhere; }\n"
                   "img, figure div { width: %dpx; height: %dpx; background: #8883; }\n"
                   "figcaption { font-size: 12px; }\n"
                   "@media (prefers-color-scheme: dark) { body { background: #111; color: #eee; } "
                   "}\n</style>\n<h1>",
                   VIT_THUMBNAIL, VIT_THUMBNAIL, VIT_THUMBNAIL);
    vit_string_add_html(out, title);
    vit_string_add(out, "</h1>\n<main>\n");
    for (size_t i = 0; i < count; i++) {
        add_item(out, &items[i], &s.pictures[i]);
        vit_free(s.pictures[i].data);
    }
    vit_string_add(out, "</main>\n</html>\n");
    vit_free(s.pictures);
}
