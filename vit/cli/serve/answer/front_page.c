/* The pages, which are part of the program. */
#include <string.h>

#include "vit/base/size.h"
#include "vit/cli/serve/route.h"

extern const char *const serve_page_html[], *const serve_page_css[], *const serve_page_js[];
extern const char *const serve_search_html[], *const serve_search_js[];
extern const char *const serve_page_teach_js[];

/* A page may load only files of this server, has no inline scripts or styles, and cannot be put
 * into a frame. */
static const char policy[] = "default-src 'none'; script-src 'self'; style-src 'self'; "
                             "img-src 'self' blob: data:; connect-src 'self'; form-action 'none'; "
                             "base-uri 'none'; frame-ancestors 'none'";

static const struct {
    const char *path, *type;
    const char *const *lines;
    bool teaches; /* empty where the server does not */
} files[] = {{"/", "text/html; charset=utf-8", serve_page_html, false},
             {"/page.css", "text/css; charset=utf-8", serve_page_css, false},
             {"/page.js", "text/javascript; charset=utf-8", serve_page_js, false},
             {"/teach.js", "text/javascript; charset=utf-8", serve_page_teach_js, true},
             {"/search", "text/html; charset=utf-8", serve_search_html, false},
             {"/search.js", "text/javascript; charset=utf-8", serve_search_js, false}};

void serve_page(serve_request *request, serve_reply *reply) {
    size_t i = 0;
    while (i + 1 < VIT_COUNT(files) && strcmp(files[i].path, request->path) != 0) i++;
    const bool is_empty = files[i].teaches && !request->server->teachings;
    reply->type = files[i].type;
    reply->policy = policy;
    for (const char *const *line = files[i].lines; *line && !is_empty; line++)
        vit_string_add(&reply->body, "%s", *line);
}
