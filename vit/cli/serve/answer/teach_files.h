/* What a teaching has learnt, as files: the model, ONNX, and a tar of the directory for PyTorch. */
#ifndef VIT_CLI_SERVE_ANSWER_TEACH_FILES_H
#define VIT_CLI_SERVE_ANSWER_TEACH_FILES_H

#include "vit/cli/serve/request.h"

/* request->version says which: "model", "onnx" or "pytorch". */
void serve_give(serve_teaching *one, serve_request *request, serve_reply *reply);

#endif
