/* Proxies before the server: who asked them, by X-Forwarded-For. A connection from an address that
 * was not named as a proxy's is its client's own, whatever its header says. */
#ifndef VIT_CLI_SERVE_NET_PROXY_H
#define VIT_CLI_SERVE_NET_PROXY_H

#include <netinet/in.h>

#include "vit/base/error.h"
#include "vit/cli/parts/options.h"

/* The addresses of proxies; zeroed: there is none. */
typedef struct serve_proxies {
    struct serve_net *nets; /* [count], owned */
    size_t count;
} serve_proxies;

/* Reads addresses and nets, such as 10.0.0.0/8 or ::1. ARGUMENT, naming the text, for anything
 * else. Freed by serve_proxies_free, also on failure. */
vit_status serve_proxies_read(serve_proxies *out, const vit_option_list *texts, vit_error *error);
void serve_proxies_free(serve_proxies *proxies);

/* *out = an address as IPv6, of IPv4 the mapped one; false: it is of another family. */
bool serve_address_of(struct in6_addr *out, const struct sockaddr *address);

bool serve_proxies_has(const serve_proxies *proxies, const struct in6_addr *address);

/* *out = the last address in the value of X-Forwarded-For that is not a proxy's: each proxy adds
 * the address that it was asked by at the end, and what stands before the first of ours is
 * whatever the client sent. False: there is none, or it is no address. */
bool serve_proxies_client(struct in6_addr *out, const serve_proxies *proxies,
                          const char *forwarded);

#endif
