/* Pictures that are sent as arrays of numbers: they are prepared already. */
#ifndef VIT_CLI_SERVE_ANSWER_TENSORS_H
#define VIT_CLI_SERVE_ANSWER_TENSORS_H

#include "vit/cli/serve/answer/classify.h"
#include "vit/cli/serve/answer/numbers.h"

/* The forms in which pictures are sent, by their names in KServe's V2 protocol. */
typedef enum serve_input {
    SERVE_INPUT_PICTURES, /* BYTES [n], picture files */
    SERVE_INPUT_PIXELS,   /* UINT8 [n][height][width][channels], prepared */
    SERVE_INPUT_VALUES,   /* FP32 [n][channels][height][width], prepared and normalised */
    SERVE_INPUT_COUNT,
} serve_input;

extern const char *const serve_input_names[], *const serve_input_types[];

/* shape [3]: the dimensions after n of an input; returns how many these are, 3 or 0. */
size_t serve_input_shape(const serve_model *model, serve_input input, size_t *shape);

/* The numbers of pixels or values, as they were sent. */
typedef struct serve_tensor {
    serve_input input; /* PIXELS or VALUES */
    size_t count;      /* pictures; 0: there is no tensor */
    size_t size, at;   /* numbers, and those that were put so far */
    uint8_t *bytes;    /* [size]: of pixels, or */
    float *values;     /* [size]: of values */
    bool has_fraction; /* a number was not written as a whole one */
    float largest;     /* magnitude of the values */
} serve_tensor;

/* Memory for that many pictures. False: `reply` is an error. Freed by serve_tensor_free. */
bool serve_tensor_new(serve_tensor *out, const serve_request *request, const serve_model *model,
                      serve_input input, size_t count, serve_reply *reply);
void serve_tensor_free(serve_tensor *tensor);

/* *shape: that of an array of numbers in JSON, nested or not, of which long ones have stayed in the
 * body (numbers.h). False: it is none. */
bool serve_array_shape(serve_shape *shape, const serve_request *request, const json_t *array);

/* Appends the numbers of such an array. False: it is none, there are too many numbers, or one is
 * not of the kind that serve_tensor_expected names. */
bool serve_tensor_put(serve_tensor *tensor, const serve_request *request, const json_t *array,
                      serve_shape *shape);
const char *serve_tensor_expected(const serve_tensor *tensor);

/* Classifies the pictures of a full tensor; as serve_answer_prepared. */
bool serve_answer_tensor(serve_answers *out, serve_request *request, const serve_tensor *tensor,
                         serve_model *model, bool features, serve_reply *reply);

#endif
