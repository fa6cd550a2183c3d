#include "vit/cli/serve/net/check.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "vit/base/sys.h"

enum { SECONDS = 5, LONGEST_PATH = 256 };

/* The parts of a URL. */
typedef struct target {
    char host[64], port[8];
    const char *path;
} target;

static bool copy_part(char *out, size_t size, const char *from, size_t length) {
    if (length == 0 || length >= size) return false;
    memcpy(out, from, length);
    out[length] = '\0';
    return true;
}

static bool split_url(target *t, const char *url) {
    static const char scheme[] = "http://";
    if (strncasecmp(url, scheme, strlen(scheme)) != 0) return false;
    url += strlen(scheme);
    const bool bracketed = *url == '[';
    url += bracketed;
    const size_t host = strcspn(url, bracketed ? "]" : ":/");
    if (!copy_part(t->host, sizeof t->host, url, host)) return false;
    if (bracketed && url[host] != ']') return false;
    url += host + bracketed;
    copy_part(t->port, sizeof t->port, "80", 2);
    if (*url == ':') {
        const size_t digits = strspn(++url, "0123456789");
        if (!copy_part(t->port, sizeof t->port, url, digits)) return false;
        url += digits;
    }
    t->path = *url == '\0' || strcmp(url, "/") == 0 ? "/health" : url;
    return *t->path == '/' && !strpbrk(t->path, " \r\n") && strlen(t->path) < LONGEST_PATH;
}

/* A connection, or -1 with errno. Waiting for it, for sending and for receiving ends in time. */
static int connect_to(const struct addrinfo *address) {
    const struct timeval limit = {.tv_sec = SECONDS};
    const int opened = socket(address->ai_family, SOCK_STREAM, 0);
    if (opened < 0) return -1;
    setsockopt(opened, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    setsockopt(opened, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
    if (connect(opened, address->ai_addr, (socklen_t)address->ai_addrlen) == 0) return opened;
    const int number = errno;
    close(opened);
    errno = number;
    return -1;
}

/* The status of the answer; 0: there is none in time. */
static unsigned ask(int opened, const target *t) {
    char text[512];
    unsigned status = 0;
    size_t got = 0;
    const double end = vit_clock() + SECONDS;
    const bool is_v6 = strchr(t->host, ':') != NULL;
    const int length =
        snprintf(text, sizeof text, "GET %s HTTP/1.1\r\nHost: %s%s%s\r\nConnection: close\r\n\r\n",
                 t->path, is_v6 ? "[" : "", t->host, is_v6 ? "]" : "");
    if (send(opened, text, (size_t)length, MSG_NOSIGNAL) != length) return 0;
    while (got < 12 && vit_clock() < end) {
        const ssize_t n = recv(opened, text + got, sizeof text - 1 - got, 0);
        if (n <= 0) break;
        got += (size_t)n;
    }
    text[got] = '\0';
    return sscanf(text, "HTTP/1.%*1[01] %3u", &status) == 1 ? status : 0;
}

vit_status serve_check(const char *url, vit_error *error) {
    const struct addrinfo wanted = {.ai_family = AF_UNSPEC,
                                    .ai_socktype = SOCK_STREAM,
                                    .ai_flags = AI_NUMERICSERV | AI_NUMERICHOST};
    struct addrinfo *found = NULL;
    target t;
    if (!split_url(&t, url))
        return vit_fail(error, VIT_ERROR_ARGUMENT,
                        "--check: \"%s\", expected a URL such as http://127.0.0.1:8080", url);
    const bool is_local = strcmp(t.host, "localhost") == 0;
    if (getaddrinfo(is_local ? "127.0.0.1" : t.host, t.port, &wanted, &found) != 0)
        return vit_fail(error, VIT_ERROR_ARGUMENT,
                        "--check: \"%s\" is no address, expected one such as 127.0.0.1", t.host);
    const int opened = connect_to(found);
    const int number = errno;
    freeaddrinfo(found);
    if (opened < 0) return vit_fail_errno(error, number, "%s does not answer", url);
    const unsigned status = ask(opened, &t);
    close(opened);
    if (status == 200) return VIT_OK;
    if (status == 0)
        return vit_fail(error, VIT_ERROR_IO, "%s gives no answer within %d seconds", url, SECONDS);
    return vit_fail(error, VIT_ERROR_IO, "%s answers %u, expected 200", url, status);
}
