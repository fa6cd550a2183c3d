/* Classifies the pictures of a request: they are prepared on its own thread, then computed in the
 * queue. */
#ifndef VIT_CLI_SERVE_ANSWER_CLASSIFY_H
#define VIT_CLI_SERVE_ANSWER_CLASSIFY_H

#include "vit/cli/serve/answer/pictures.h"
#include "vit/formats/json_out.h"

typedef struct serve_answers {
    serve_model *model;
    size_t count;
    vit_answer *answers;  /* [count] */
    float *logits;        /* [count][classes]; not set for a picture that failed */
    float *features;      /* [count][features], or NULL */
    float *probabilities; /* [classes], scratch for the handler */
    size_t *best, *set;   /* [classes], scratch for the handler */
} serve_answers;

/* Prepares a picture on this thread, within the server's gate. pixels, values: [model->pixels], as
 * from vit_prepare_values, or NULL; answer->error says whether it could be read. */
void serve_prepare(const serve_model *model, serve_server *server, const vit_picture *picture,
                   uint8_t *pixels, float *values, vit_answer *answer);

/* Adds the member "input", the picture as the network sees it, to be shown under a map. pixels:
 * [model->pixels]. */
void serve_add_input(vit_json_out *json, const serve_model *model, const uint8_t *pixels);

/* Classifies pictures with the model of that name. False: `reply` is an error, and there is nothing
 * to free. A picture that cannot be read has its error among the answers, unless it was sent alone:
 * then that is the reply. Freed by serve_answers_free. */
bool serve_answer_pictures(serve_answers *out, serve_request *request, const char *model,
                           const serve_pictures *pictures, bool features, serve_reply *reply);

/* The same for pictures that are already prepared: job->images, count, normalised and model. Takes
 * ownership of the reference to the model. */
bool serve_answer_prepared(serve_answers *out, serve_request *request, serve_job *job,
                           bool features, serve_reply *reply);

void serve_answers_free(serve_answers *answers, serve_server *server);

#endif
