/* Zero-shot classification: the classes are texts of the request, for the clients of Hugging Face.
 */
#ifndef VIT_CLI_SERVE_ANSWER_ZERO_SHOT_H
#define VIT_CLI_SERVE_ANSWER_ZERO_SHOT_H

#include "vit/cli/serve/answer/pictures.h"

/* Answers pictures with {"label", "score"} of the `top` likeliest labels each; parameters:
 * {"candidate_labels": [TEXT, ...], "hypothesis_template": "a photo of a {}"}, where the template
 * is Hugging Face's unless it is given. */
void serve_zero_shot(serve_request *request, const serve_pictures *sent, const json_t *parameters,
                     size_t top, serve_reply *reply);

#endif
