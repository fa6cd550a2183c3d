/* The pictures of KServe's V1 protocol and of TorchServe's JSON: files as base64, or arrays. */
#ifndef VIT_CLI_SERVE_ANSWER_INSTANCES_H
#define VIT_CLI_SERVE_ANSWER_INSTANCES_H

#include "vit/cli/serve/answer/tensors.h"

/* One of the two has pictures. */
typedef struct serve_instances {
    serve_pictures files;
    serve_tensor tensor;
} serve_instances;

/* `value` is a list of pictures, or one picture. A picture is a string (base64 or a data URL); an
 * array of numbers; or an object that has either under "b64", "data", "body", "image",
 * "image_bytes", "pixels" or "pixel_values". Arrays are [height, width, channels], pixels from 0 to
 * 255 (without the last side if it is 1), or [channels, height, width], normalised.
 *
 * False: `reply` is an error, and there is nothing to free. Else files and tensor are freed each by
 * its own function. */
bool serve_read_instances(serve_instances *out, const serve_request *request,
                          const serve_model *model, const json_t *value, bool is_list,
                          serve_reply *reply);

#endif
