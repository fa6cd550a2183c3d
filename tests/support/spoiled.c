#include "tests/support/spoiled.h"
#include "tests/support/fixture.h"
#include "tests/support/scratch.h"
#include "tests/support/unit.h"
#include "vit/tensors/safetensors.h"
#include "vit/vit.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

char project[4096];

void find_project(void) {
    if (!getcwd(project, sizeof project)) fail_msg("%s", "there is no working directory");
}

/* Tensors of an archive are where only its reader finds them. */
static void read_values(spoiled *s) {
    size_t count = 0;
    for (size_t i = 0; i < s->count; i++) count += s->tensors[i].count;
    float *at = s->values = malloc(count * sizeof *at);
    assert_non_null(at);
    for (size_t i = 0; i < s->count; i++) {
        vit_tensor *t = &s->tensors[i];
        if (t->data) continue;
        assert_int_equal(vit_tensors_read(s->file, vit_tensors_at(s->file, i), at, NULL), VIT_OK);
        t->dtype = VIT_F32;
        t->data = at;
        at += t->count;
    }
}

spoiled take(const char *name) {
    spoiled s = {0};
    char path[5000];
    vit_error error;
    snprintf(path, sizeof path, "%s/" PUBLISHED "/%s", project, name);
    if (vit_tensors_open(&s.file, path, &error) != VIT_OK) fail_msg("%s", error.message);
    s.count = vit_tensors_count(s.file);
    assert_true(s.count < 200);
    for (size_t i = 0; i < s.count; i++) s.tensors[i] = *vit_tensors_at(s.file, i);
    read_values(&s);
    snprintf(path, sizeof path, "%s/" PUBLISHED "/%s/config.json", project, name);
    s.config = access(path, R_OK) == 0 ? read_json(path) : NULL;
    return s;
}

vit_tensor *tensor_of(spoiled *s, const char *name) {
    for (size_t i = 0; i < s->count; i++)
        if (strcmp(s->tensors[i].name, name) == 0) return &s->tensors[i];
    fail_msg("there is no tensor %s", name);
    return NULL;
}

void drop(spoiled *s, const char *name) {
    *tensor_of(s, name) = s->tensors[s->count - 1];
    s->count--;
}

void put_spoiled(spoiled *s) {
    vit_error error;
    char *config = s->config ? json_dumps(s->config, 0) : NULL;
    if (config) put_file("config.json", config);
    if (vit_safetensors_write("model.safetensors", s->tensors, s->count, NULL, 0, &error) != VIT_OK)
        fail_msg("%s", error.message);
    free(config);
    free(s->values);
    json_decref(s->config);
    vit_tensors_close(s->file);
}

void refuse(spoiled *s, vit_status status, const char *a, const char *b) {
    vit_model *model;
    vit_error error = {0};
    put_spoiled(s);
    assert_int_equal(vit_model_load(&model, ".", &error), status);
    assert_null(model);
    assert_says(&error, status, a, b);
}
