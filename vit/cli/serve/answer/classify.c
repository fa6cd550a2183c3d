#include "vit/cli/serve/answer/classify.h"

#include <string.h>

#include "vit/base/sys.h"

static bool allocate(serve_answers *a, size_t count, bool features, serve_reply *reply) {
    const size_t classes = a->model->info.classes, width = a->model->info.features;
    a->count = count;
    a->answers = vit_alloc(count, sizeof *a->answers);
    a->logits = vit_alloc(count, classes * sizeof *a->logits);
    a->features = features ? vit_alloc(count, width * sizeof *a->features) : NULL;
    a->probabilities = vit_alloc(classes, sizeof *a->probabilities);
    a->best = vit_alloc(classes, sizeof *a->best);
    a->set = vit_alloc(classes, sizeof *a->set);
    const bool fine = a->answers && a->logits && a->probabilities && a->best && a->set &&
                      (!features || a->features);
    if (fine) return true;
    return serve_fail(reply, 503, "no memory for the answer: try again later");
}

void serve_answers_free(serve_answers *a, serve_server *server) {
    serve_model_release(server->models, a->model);
    void *const arrays[] = {a->answers, a->logits, a->features, a->probabilities, a->best, a->set};
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++) vit_free(arrays[i]);
    *a = (serve_answers){0};
}

void serve_prepare(const serve_model *m, serve_server *server, const vit_picture *picture,
                   uint8_t *pixels, float *values, vit_answer *answer) {
    *answer = (vit_answer){0};
    answer->error.status = serve_gate_enter(&server->gate, &answer->error);
    if (answer->error.status != VIT_OK) return;
    const double start = vit_clock();
    answer->error.status = vit_prepare_values(m->session, picture, server->pixels, pixels, values,
                                              &answer->warning, &answer->error);
    const double seconds = vit_clock() - start;
    serve_gate_leave(&server->gate);
    serve_metrics_stage(server->metrics, m->place, SERVE_STAGE_DECODE, seconds);
    if (answer->error.status != VIT_OK) serve_metrics_failed(server->metrics, m->place);
}

void serve_add_input(vit_json_out *json, const serve_model *m, const uint8_t *pixels) {
    const size_t shape[] = {m->info.height, m->info.width, m->info.channels};
    vit_json_open(json, "input", '{');
    vit_json_counts(json, "shape", shape, 3);
    vit_json_base64(json, "data", pixels, m->pixels);
    vit_json_close(json, '}');
}

/* Moves the rows of logits and features, which are those of the `ready` pictures that could be
 * read, to the places of these pictures. */
static void spread(serve_answers *a, size_t ready) {
    const size_t classes = a->model->info.classes, width = a->model->info.features;
    for (size_t i = a->count; i-- > 0 && ready > 0;) {
        if (a->answers[i].error.status != VIT_OK) continue;
        ready--;
        memmove(a->logits + i * classes, a->logits + ready * classes, classes * sizeof *a->logits);
        if (a->features)
            memmove(a->features + i * width, a->features + ready * width,
                    width * sizeof *a->features);
    }
}

/* Has the job, whose images and count are set, computed in the queue. */
static bool compute(serve_answers *a, serve_server *server, serve_job *job, serve_reply *reply) {
    job->model = a->model;
    job->logits = a->logits;
    job->features = a->features;
    if (job->count == 0) return true;
    if (!serve_check_turn(reply, serve_queue_do(server->queue, job))) return false;
    serve_metrics_stage(server->metrics, a->model->place, SERVE_STAGE_WAIT, job->waited);
    serve_metrics_stage(server->metrics, a->model->place, SERVE_STAGE_COMPUTE, job->computed);
    if (job->error.status == VIT_OK) return true;
    return serve_fail_computed(reply, &job->error);
}

/* images: [*ready][pixels of the model] = those of the pictures that can be read. False: there is
 * no memory for one, its turn did not come in time, or the server ends and has no patience. */
static bool prepare_all(serve_answers *a, serve_server *server, const serve_pictures *pictures,
                        float *images, size_t *ready, serve_reply *reply) {
    for (size_t i = 0; i < pictures->count; i++) {
        vit_error *error = &a->answers[i].error;
        if (atomic_load(&server->impatient))
            return serve_fail(reply, 503,
                              "the server ends before these pictures would be answered");
        serve_prepare(a->model, server, &pictures->pictures[i], NULL,
                      images + *ready * a->model->pixels, &a->answers[i]);
        if (error->status == VIT_ERROR_MEMORY || error->status == VIT_ERROR_CANCELLED)
            return serve_fail_with(reply, error);
        *ready += error->status == VIT_OK;
    }
    return true;
}

bool serve_answer_pictures(serve_answers *out, serve_request *request, const char *model,
                           const serve_pictures *pictures, bool features, serve_reply *reply) {
    serve_server *server = request->server;
    const size_t count = pictures->count;
    *out = (serve_answers){.model = serve_model_take(server->models, model)};
    request->pictures = count;
    if (!out->model)
        return serve_fail(reply, 404, "no model is called \"%s\": GET /v2/models names them",
                          model);
    bool fine = allocate(out, count, features, reply);
    float *images = fine ? vit_alloc_unset(count, out->model->pixels * sizeof *images) : NULL;
    if (fine && !images)
        fine = serve_fail(reply, 503, "no memory for the pictures: try again later");
    size_t ready = 0; /* pictures that can be read, one after the other in `images` */
    fine = fine && prepare_all(out, server, pictures, images, &ready, reply);
    if (fine) {
        if (count == 1 && ready == 0 && !pictures->is_list)
            fine = serve_fail_with(reply, &out->answers[0].error);
        serve_job job = {.images = images, .count = ready, .normalised = true};
        fine = fine && compute(out, server, &job, reply);
        if (fine) spread(out, ready);
    }
    vit_free(images);
    if (!fine) serve_answers_free(out, server);
    return fine;
}

bool serve_answer_prepared(serve_answers *out, serve_request *request, serve_job *job,
                           bool features, serve_reply *reply) {
    *out = (serve_answers){.model = job->model};
    request->pictures = job->count;
    const bool fine =
        allocate(out, job->count, features, reply) && compute(out, request->server, job, reply);
    if (!fine) serve_answers_free(out, request->server);
    return fine;
}
