/* Pictures of a request: prepared on its own thread, then computed in the queue. */
#ifndef VIT_CLI_SERVE_ANSWER_CLASSIFY_H
#define VIT_CLI_SERVE_ANSWER_CLASSIFY_H

#include "vit/cli/json_out.h"
#include "vit/cli/serve/answer/pictures.h"

typedef struct serve_answers {
    serve_model *model;
    size_t count;
    vit_answer *answers;  /* [count] */
    float *logits;        /* [count][classes]; unset where a picture failed */
    float *features;      /* [count][features], or NULL */
    float *probabilities; /* [classes], for whoever writes */
    size_t *best;         /* [classes], for whoever writes */
} serve_answers;

/* Prepares a picture on this thread, as soon as one of those that decode is free: out: [pixels of
 * the model]. The answer's error is VIT_OK where it could be read. */
void serve_prepare(const serve_model *model, serve_server *server, const vit_picture *picture,
                   uint8_t *out, vit_answer *answer);

/* Answers for pictures. False: `reply` says why not; nothing is left to free. Pictures
 * that cannot be read are among the answers, unless it is the only one. */
bool serve_answer_pictures(serve_answers *out, serve_request *request, const char *model,
                           const serve_pictures *pictures, bool features, serve_reply *reply);

/* The same for pictures that are prepared, `job` has their images and their count. Takes the job's
 * model over. */
bool serve_answer_prepared(serve_answers *out, serve_request *request, serve_job *job,
                           bool features, serve_reply *reply);

void serve_answers_free(serve_answers *answers, serve_server *server);

#endif
