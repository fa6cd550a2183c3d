/* The page, which is part of the program. */
#include "vit/cli/serve/route.h"
#include "vit/cli/serve/server.h"

extern const char *const serve_page_html[], *const serve_page_css[], *const serve_page_js[];
extern const char *const serve_search_html[], *const serve_search_js[];
extern const char *const serve_page_teach_js[];

/* The page may load only files of this server, has no inline scripts or styles, and cannot be put
 * into a frame. */
static const char policy[] = "default-src 'none'; script-src 'self'; style-src 'self'; "
                             "img-src 'self' blob: data:; connect-src 'self'; form-action 'none'; "
                             "base-uri 'none'; frame-ancestors 'none'";

static void reply_lines(serve_reply *reply, const char *type, const char *const *lines) {
    reply->type = type;
    reply->policy = policy;
    for (; *lines; lines++) vit_string_add(&reply->body, "%s", *lines);
}

void serve_page(serve_request *request, serve_reply *reply) {
    (void)request;
    reply_lines(reply, "text/html; charset=utf-8", serve_page_html);
}

void serve_page_style(serve_request *request, serve_reply *reply) {
    (void)request;
    reply_lines(reply, "text/css; charset=utf-8", serve_page_css);
}

void serve_page_script(serve_request *request, serve_reply *reply) {
    (void)request;
    reply_lines(reply, "text/javascript; charset=utf-8", serve_page_js);
}

void serve_search_page(serve_request *request, serve_reply *reply) {
    (void)request;
    reply_lines(reply, "text/html; charset=utf-8", serve_search_html);
}

void serve_search_script(serve_request *request, serve_reply *reply) {
    (void)request;
    reply_lines(reply, "text/javascript; charset=utf-8", serve_search_js);
}

/* The part of the page that teaches: nothing where the server does not. */
void serve_page_teach(serve_request *request, serve_reply *reply) {
    static const char *const nothing[] = {NULL};
    reply_lines(reply, "text/javascript; charset=utf-8",
                request->server->teachings ? serve_page_teach_js : nothing);
}
