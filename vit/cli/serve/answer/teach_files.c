#include "vit/cli/serve/answer/teach_files.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "datasets/shards/tar.h"
#include "vit/base/sys.h"

static const char *const names[] = {"model.safetensors", "config.json", "model.py"};
#define NAMES (sizeof names / sizeof names[0])
#define MOST ((size_t)4 << 30)

/* A directory of this request's own, and paths in it. */
typedef struct place {
    char directory[64], model[96], other[96];
} place;

static bool make_place(place *p, serve_reply *reply) {
    const char *temporary = getenv("TMPDIR");
    snprintf(p->directory, sizeof p->directory, "%.40s/vit-teach-XXXXXX",
             temporary && *temporary && strlen(temporary) < 40 ? temporary : "/tmp");
    if (!mkdtemp(p->directory))
        return serve_fail(reply, 500, "no directory for the file can be made");
    snprintf(p->model, sizeof p->model, "%s/%s", p->directory, names[0]);
    return true;
}

static void clear_place(const place *p) {
    char path[160];
    for (size_t i = 0; p->other[0] != '\0' && i < NAMES; i++) {
        snprintf(path, sizeof path, "%s/%s", p->other, names[i]);
        vit_remove_file(path, NULL);
    }
    if (p->other[0] != '\0' && vit_path_look(p->other) == VIT_PATH_DIRECTORY)
        vit_remove_directory(p->other, NULL);
    else if (p->other[0] != '\0')
        vit_remove_file(p->other, NULL);
    vit_remove_file(p->model, NULL);
    vit_remove_directory(p->directory, NULL);
}

static vit_status add_file(vit_string *out, const char *path, vit_error *error) {
    vit_bytes bytes;
    const vit_status status = vit_read_file(&bytes, path, MOST, error);
    if (status != VIT_OK) return status;
    vit_string_add_bytes(out, (const char *)bytes.data, bytes.size);
    vit_free(bytes.data);
    return out->failed ? vit_fail_memory(error, "a file", bytes.size) : VIT_OK;
}

/* A member of a tar archive. */
static vit_status add_member(vit_string *out, const char *directory, const char *name,
                             vit_error *error) {
    char path[160], inside[32], zeros[VIT_TAR_BLOCK] = {0};
    vit_string file = {0};
    snprintf(path, sizeof path, "%s/%s", directory, name);
    snprintf(inside, sizeof inside, "model/%s", name);
    const vit_status status = add_file(&file, path, error);
    if (status == VIT_OK) {
        vit_tar_put_header(out, inside, file.length);
        vit_string_add_bytes(out, file.text, file.length);
        vit_string_add_bytes(out, zeros, vit_tar_padding(file.length));
    }
    vit_string_free(&file);
    return status;
}

void serve_give(serve_teaching *one, serve_request *request, serve_reply *reply) {
    const char *layout = strcmp(request->version, "model") == 0 ? NULL : request->version;
    place p = {0};
    vit_error error;
    char zeros[1024] = {0};
    if (!make_place(&p, reply)) return;
    const bool is_onnx = layout && strcmp(layout, "onnx") == 0;
    if (layout)
        snprintf(p.other, sizeof p.other, "%s/%s", p.directory, is_onnx ? "model.onnx" : "model");
    const vit_convert_options converting = {.in = p.model, .out = p.other, .layout = layout};
    vit_status status = vit_few_shot_save(one->teaching, p.model, &error);
    if (status == VIT_OK && layout) status = vit_convert(&converting, &error);
    if (status == VIT_OK && (!layout || is_onnx))
        status = add_file(&reply->body, layout ? p.other : p.model, &error);
    for (size_t i = 0; i < NAMES && status == VIT_OK && layout && !is_onnx; i++)
        status = add_member(&reply->body, p.other, names[i], &error);
    if (status == VIT_OK && layout && !is_onnx)
        vit_string_add_bytes(&reply->body, zeros, sizeof zeros);
    clear_place(&p);
    if (status == VIT_OK) {
        reply->type = layout && !is_onnx ? "application/x-tar" : "application/octet-stream";
        return;
    }
    vit_string_free(&reply->body);
    reply->body = (vit_string){0};
    serve_fail_with(reply, &error);
}
