/* What a teaching has learnt, as files: the model, ONNX, and a tar of the directory for PyTorch. */
#ifndef VIT_CLI_SERVE_ANSWER_TEACH_FILES_H
#define VIT_CLI_SERVE_ANSWER_TEACH_FILES_H

#include "vit/cli/serve/request.h"

void serve_give_model(serve_teaching *one, serve_request *request, serve_reply *reply);
void serve_give_onnx(serve_teaching *one, serve_request *request, serve_reply *reply);
void serve_give_pytorch(serve_teaching *one, serve_request *request, serve_reply *reply);

#endif
