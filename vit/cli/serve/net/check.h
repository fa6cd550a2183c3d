/* Asks a server whether it answers: what a container's health check needs, without another program.
 */
#ifndef VIT_CLI_SERVE_NET_CHECK_H
#define VIT_CLI_SERVE_NET_CHECK_H

#include "vit/base/error.h"

/* url: "http://ADDRESS:PORT", with a path or without one, /health. ARGUMENT for any other text; IO
 * if it does not answer with 200 within five seconds. */
vit_status serve_check(const char *url, vit_error *error);

#endif
