#include "vit/cli/serve/work/banks.h"

#include <string.h>

#include "vit/base/sys.h"
#include "vit/cli/serve/work/served.h"

/* NAME of NAME=FILE; of FILE its name without folders and ending. */
static vit_status name_bank(serve_bank *b, const char *value, vit_error *error) {
    const char *file = serve_named_file(value), *last = vit_path_last(file);
    const char *from = file > value ? value : last, *dot = strrchr(last, '.');
    const size_t length = file > value        ? (size_t)(file - value) - 1
                          : dot && dot > last ? (size_t)(dot - last)
                                              : strlen(last);
    b->name = vit_strdup(from);
    if (!b->name) return vit_fail_memory(error, "a name", length);
    b->name[length] = 0;
    return length > 0
               ? VIT_OK
               : vit_fail(error, VIT_ERROR_ARGUMENT, "--bank %s: the name is missing", value);
}

vit_status serve_banks_open(serve_banks *out, const serve_banks_options *o, vit_error *error) {
    vit_status status = VIT_OK;
    if (o->named->count == 0) return VIT_OK;
    out->banks = vit_alloc(o->named->count, sizeof *out->banks);
    if (!out->banks) return vit_fail_memory(error, "banks", o->named->count * sizeof *out->banks);
    for (size_t i = 0; i < o->named->count && status == VIT_OK; i++) {
        serve_bank *b = &out->banks[out->count++];
        status = name_bank(b, o->named->values[i], error);
        for (size_t k = 0; k < i && status == VIT_OK; k++)
            if (strcmp(out->banks[k].name, b->name) == 0)
                status =
                    vit_fail(error, VIT_ERROR_ARGUMENT,
                             "two banks are called \"%s\": --bank NAME=FILE names one", b->name);
        if (status == VIT_OK)
            status = vit_bank_load(&b->bank, serve_named_file(o->named->values[i]), error);
        if (status == VIT_OK) b->info = vit_bank_describe(b->bank);
    }
    return status;
}

static void close_model(serve_bank *b) {
    vit_session_free(b->session);
    vit_model_free(b->model);
    b->session = NULL;
    b->model = NULL;
}

static vit_status open_model(serve_bank *b, const char *name, const serve_banks_options *o,
                             vit_error *error) {
    vit_model_choice from = *o->from;
    const vit_session_options choice = {.threads = (int)o->threads,
                                        .cpu = o->cpu,
                                        .precision = vit_chosen_precision(o->from),
                                        .bf16 = (vit_bf16)o->from->bf16};
    from.name = name;
    from.labels = from.labels_file = NULL;
    from.size = (vit_size){.height = b->info.height, .width = b->info.width};
    vit_status status = vit_load_chosen_model(&b->model, &from, o->threads, false, error);
    if (status == VIT_OK) status = vit_session_new(&b->session, b->model, &choice, error);
    if (status == VIT_OK) status = vit_bank_check(b->bank, b->model, b->session, error);
    if (status == VIT_OK) b->channels = vit_model_describe(b->model).channels;
    if (status != VIT_OK) close_model(b);
    return status;
}

vit_status serve_banks_load(serve_banks *banks, const serve_banks_options *o, vit_error *error) {
    for (size_t i = 0; i < banks->count; i++) {
        serve_bank *b = &banks->banks[i];
        vit_error own;
        vit_status status = open_model(b, b->info.model, o, error);
        for (size_t k = 0; k < o->models->count && status != VIT_OK; k++)
            if (open_model(b, serve_named_file(o->models->values[k]), o, &own) == VIT_OK)
                status = VIT_OK;
        if (status != VIT_OK) return vit_fail_prefix(error, status, b->name);
    }
    return VIT_OK;
}

void serve_banks_free(serve_banks *banks) {
    for (size_t i = 0; i < banks->count; i++) {
        close_model(&banks->banks[i]);
        vit_bank_free(banks->banks[i].bank);
        vit_free(banks->banks[i].name);
    }
    vit_free(banks->banks);
    *banks = (serve_banks){0};
}

const serve_bank *serve_banks_find(const serve_banks *banks, const char *name) {
    for (size_t i = 0; i < banks->count; i++)
        if (*name == 0 || strcmp(banks->banks[i].name, name) == 0) return &banks->banks[i];
    return NULL;
}
