/* The models that are served, by name. A model is read again while the server runs: who uses the
 * old one keeps it until he is done.
 *
 * Functions may be called from any thread. */
#ifndef VIT_CLI_SERVE_WORK_SERVED_H
#define VIT_CLI_SERVE_WORK_SERVED_H

#include "vit/cli/options.h"

/* A model that was read. Its sessions compute in the queue's thread alone; what does not change a
 * session (vit_prepare_memory) is done by any. */
typedef struct serve_model {
    const char *name; /* lives as long as the list */
    size_t place;     /* in the list */
    vit_model *model;
    vit_session *session, *alone; /* on all processors, and on one */
    vit_model_info info;
    size_t pixels; /* bytes of a prepared picture: height width channels */
    size_t users;  /* the list is one; guarded by the list */
    double pace;   /* seconds that a picture took in the last batch; the queue's */
} serve_model;

typedef struct serve_models serve_models;

typedef struct serve_models_options {
    const vit_option_list *named; /* NAME, FILE or NAME=FILE; none: all that have names */
    int threads;
    const char *cpu;
    vit_precision precision;
} serve_models_options;

vit_status serve_models_open(serve_models **out, const serve_models_options *options,
                             vit_error *error);
void serve_models_free(serve_models *models);

size_t serve_models_count(const serve_models *models);
const char *serve_models_name(const serve_models *models, size_t place);

bool serve_models_has(const serve_models *models, const char *name);

/* The model in use under a name, or at a place; NULL where there is none. Given back by
 * serve_model_release. */
serve_model *serve_model_take(serve_models *models, const char *name);
serve_model *serve_model_take_at(serve_models *models, size_t place);
/* Which session computes so many pictures: few of a small network are done on one processor before
 * others could have begun, and no other program can hold one up that they wait for. */
vit_session *serve_model_session(const serve_model *model, size_t pictures);

/* A session of one processor for whoever computes beside the queue; freed by vit_session_free. */
vit_status serve_model_session_aside(vit_session **out, const serve_models *models,
                                     const serve_model *model, vit_error *error);

void serve_model_release(serve_models *models, serve_model *model);

/* Reads a model again. Where that fails, the one in use stays. */
vit_status serve_model_reload(serve_models *models, size_t place, vit_error *error);

#endif
