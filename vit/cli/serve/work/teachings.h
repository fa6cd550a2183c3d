/* The teachings that a server keeps: each is known by a secret number alone, so that two people at
 * once do not mix. Functions may be called from any thread. */
#ifndef VIT_CLI_SERVE_WORK_TEACHINGS_H
#define VIT_CLI_SERVE_WORK_TEACHINGS_H

#include <pthread.h>

#include "vit/cli/serve/work/served.h"
#include "vit/few_shot.h"

enum { SERVE_TEACHING_ID = 32 }; /* hexadecimal digits */

typedef struct serve_teaching {
    char id[SERVE_TEACHING_ID + 1];
    vit_few_shot *teaching;
    serve_model *model;       /* a reference to the backbone */
    double used;              /* vit_clock() of the last request */
    size_t pictures, classes; /* when it was last given back */
    size_t users;             /* references to it, one of them the list's */
    pthread_mutex_t lock;     /* of the teaching */
} serve_teaching;

typedef struct serve_teachings serve_teachings;

/* Keeps at most `most` teachings of at most `pictures` pictures each. When one more is begun, the
 * one that was not used for the longest time goes, if that is more than `idle` seconds. */
typedef struct serve_teachings_options {
    const char *directory; /* each teaching is kept there, too, as ID.lessons, and is read again
                              when it is asked for; NULL: none is */
    size_t most, pictures, most_pixels;
    double idle;
    vit_few_shot_callback *goes_on; /* false: what is being learnt is cancelled */
    void *user;
    int threads;
    const char *cpu;
    vit_precision precision;
    vit_bf16 bf16;
} serve_teachings_options;

/* Errors: MEMORY; of options->directory also IO for one that cannot be made or written, or that
 * others may write, and FORMAT for a file in it that is called as one of ours and is none. */
vit_status serve_teachings_new(serve_teachings **out, const serve_teachings_options *options,
                               vit_error *error);
void serve_teachings_free(serve_teachings *t, serve_models *models);
const serve_teachings_options *serve_teachings_limits(const serve_teachings *t);

/* Begins one; takes over the reference to the model, also on failure. UNSUPPORTED if there are too
 * many. *out is given back by serve_teaching_release. */
vit_status serve_teaching_begin(serve_teaching **out, serve_teachings *t, serve_models *models,
                                serve_model *model, const char *head, size_t views,
                                vit_error *error);

/* *out = the one with that id, its lock held; NULL: there is none. Errors: of one that is kept in a
 * file, if that is damaged, or taught on a model that is not served. */
vit_status serve_teaching_take(serve_teaching **out, serve_teachings *t, serve_models *models,
                               const char *id, vit_error *error);

/* Writes it to its file, if teachings are kept; one without pictures has none. The lock is held. */
vit_status serve_teaching_keep(const serve_teachings *t, const serve_teaching *one,
                               vit_error *error);
void serve_teaching_release(serve_teachings *t, serve_models *models, serve_teaching *one);

/* False: there is none. */
bool serve_teaching_delete(serve_teachings *t, serve_models *models, const char *id);

/* Calls `show` for each, with the first 6 digits of its id, its pictures, classes and seconds since
 * it was used. */
typedef void serve_show_teaching(const char *beginning, size_t pictures, size_t classes,
                                 double idle, void *context);
void serve_teachings_list(serve_teachings *t, serve_show_teaching *show, void *context);

#endif
