/* The models that are served, by name. A model can be read again while the server runs: requests
 * that use the old one keep it until they are done.
 *
 * Functions may be called from any thread. */
#ifndef VIT_CLI_SERVE_WORK_SERVED_H
#define VIT_CLI_SERVE_WORK_SERVED_H

#include <pthread.h>

#include "vit/cli/parts/options.h"
#include "vit/cli/serve/work/reliance.h"
#include "vit/zero_shot.h"

/* A model that was read. Only the queue's thread computes with its sessions; any thread may call
 * vit_prepare_values, which does not change a session. */
typedef struct serve_model {
    const char *name; /* lives as long as the list */
    size_t place;     /* index in the list */
    vit_model *model;
    vit_session *session; /* on all processors */
    vit_session *alone;   /* on one processor */
    vit_model_info info;
    size_t pixels;       /* bytes of a prepared picture: height x width x channels */
    size_t users;        /* references to it, one of them the list's; guarded by the list's lock */
    double pace;         /* seconds a picture, in the last batch; set and read by the queue */
    vit_embedder *words; /* its text encoder, used under words_lock; NULL: no_words says why */
    pthread_mutex_t words_lock;
    vit_error no_words;
    serve_reliance reliance;
} serve_model;

typedef struct serve_models serve_models;

typedef struct serve_models_options {
    const vit_option_list *named; /* NAME, FILE or NAME=FILE; empty: all named models */
    const char *labels;           /* as in vit_model_options, of models with a text encoder */
    const vit_option_list *templates;
    vit_orientation exif_orientation;
    const vit_command *command;
    const vit_coverage_choice *sets; /* of models that are calibrated */
    int threads;
    const char *cpu;
    vit_precision precision;
    vit_bf16 bf16;
} serve_models_options;

/* Finds and reads all models; freed by serve_models_free. */
vit_status serve_models_open(serve_models **out, const serve_models_options *options,
                             vit_error *error);
void serve_models_free(serve_models *models);

size_t serve_models_count(const serve_models *models);
const char *serve_models_name(const serve_models *models, size_t place);

bool serve_models_has(const serve_models *models, const char *name);

/* The model with that name (NULL: there is none), or at that place. Given back by
 * serve_model_release.
 */
serve_model *serve_model_take(serve_models *models, const char *name);
serve_model *serve_model_take_at(serve_models *models, size_t place);
void serve_model_release(serve_models *models, serve_model *model);

/* The session that is to compute this number of pictures. A few pictures of a small network are
 * computed on one processor before others could have begun, and then do not depend on others being
 * free. */
vit_session *serve_model_session(const serve_model *model, size_t pictures);

/* Makes a session on one processor, for computing outside of the queue; freed by vit_session_free.
 */
vit_status serve_model_session_aside(vit_session **out, const serve_models *models,
                                     const serve_model *model, vit_error *error);

/* Reads a model again. If that fails, the one in use stays. */
vit_status serve_model_reload(serve_models *models, size_t place, vit_error *error);

/* The file of a value NAME=FILE or FILE, of --model and --bank. */
const char *serve_named_file(const char *value);

#endif
