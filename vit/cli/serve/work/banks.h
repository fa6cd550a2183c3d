/* The banks of good pictures that are served, by name, each with its model. Nothing changes after
 * serve_banks_load: any thread may look, and the queue's thread alone computes. */
#ifndef VIT_CLI_SERVE_WORK_BANKS_H
#define VIT_CLI_SERVE_WORK_BANKS_H

#include "vit/cli/models/models.h"
#include "vit/reliance.h"

typedef struct serve_bank {
    char *name;
    vit_bank *bank;
    vit_bank_info info;
    vit_model *model;
    vit_session *session;
    size_t channels;
} serve_bank;

typedef struct serve_banks {
    serve_bank *banks; /* [count] */
    size_t count;
} serve_banks;

typedef struct serve_banks_options {
    const vit_option_list *named, *models; /* FILE or NAME=FILE; those of --model */
    const vit_model_choice *from;
    uint64_t threads;
    const char *cpu;
} serve_banks_options;

/* Reads the banks, without a thread. ARGUMENT for two of one name. Freed by serve_banks_free. */
vit_status serve_banks_open(serve_banks *out, const serve_banks_options *options, vit_error *error);

/* Opens their models: the one that a bank was built with, or, if that is not there or answers
 * otherwise, one of --model. */
vit_status serve_banks_load(serve_banks *banks, const serve_banks_options *options,
                            vit_error *error);
void serve_banks_free(serve_banks *banks);

/* name "": the first. NULL: there is none. */
const serve_bank *serve_banks_find(const serve_banks *banks, const char *name);

#endif
