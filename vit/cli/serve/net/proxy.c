#include "vit/cli/serve/net/proxy.h"

#include <arpa/inet.h>
#include <string.h>
#include <sys/socket.h>

#include "vit/base/size.h"
#include "vit/base/sys.h"

struct serve_net {
    struct in6_addr address;
    unsigned bits; /* so many of which are the net's */
};

/* The address of IPv4 within IPv6: ::ffff:1.2.3.4. */
static struct in6_addr map_v4(const struct in_addr *v4) {
    struct in6_addr mapped = {.s6_addr = {[10] = 0xff, [11] = 0xff}};
    memcpy(&mapped.s6_addr[12], v4, sizeof *v4);
    return mapped;
}

bool serve_address_of(struct in6_addr *out, const struct sockaddr *address) {
    if (address->sa_family == AF_INET)
        *out = map_v4(&((const struct sockaddr_in *)(const void *)address)->sin_addr);
    else if (address->sa_family == AF_INET6)
        *out = ((const struct sockaddr_in6 *)(const void *)address)->sin6_addr;
    else
        return false;
    return true;
}

/* *bits: those of its family. */
static bool read_address(struct in6_addr *out, unsigned *bits, const char *text) {
    struct in_addr v4;
    const bool is_v4 = inet_pton(AF_INET, text, &v4) == 1;
    *bits = is_v4 ? 32 : 128;
    if (is_v4) *out = map_v4(&v4);
    return is_v4 || inet_pton(AF_INET6, text, out) == 1;
}

static bool read_net(struct serve_net *net, const char *text) {
    char address[INET6_ADDRSTRLEN];
    const size_t length = strcspn(text, "/");
    unsigned family;
    uint64_t bits;
    if (length >= sizeof address) return false;
    memcpy(address, text, length);
    address[length] = '\0';
    if (!read_address(&net->address, &family, address)) return false;
    bits = family;
    if (text[length] == '/' && (!vit_parse_u64(text + length + 1, &bits) || bits > family))
        return false;
    net->bits = 128 - family + (unsigned)bits;
    return true;
}

vit_status serve_proxies_read(serve_proxies *out, const vit_option_list *texts, vit_error *error) {
    *out = (serve_proxies){.nets = vit_alloc(texts->count, sizeof *out->nets)};
    if (!out->nets) return vit_fail_memory(error, "proxies", texts->count * sizeof *out->nets);
    for (; out->count < texts->count; out->count++)
        if (!read_net(&out->nets[out->count], texts->values[out->count]))
            return vit_fail(error, VIT_ERROR_ARGUMENT,
                            "--trusted-proxy: \"%s\" is no address and no net, expected one such "
                            "as 127.0.0.1, 10.0.0.0/8 or ::1",
                            texts->values[out->count]);
    return VIT_OK;
}

void serve_proxies_free(serve_proxies *proxies) {
    vit_free(proxies->nets);
    *proxies = (serve_proxies){0};
}

static bool is_within(const struct serve_net *net, const struct in6_addr *address) {
    const size_t whole = net->bits / 8, left = net->bits % 8;
    const unsigned mask = left > 0 ? 0xff00u >> left & 0xffu : 0;
    if (memcmp(net->address.s6_addr, address->s6_addr, whole) != 0) return false;
    return mask == 0 || ((net->address.s6_addr[whole] ^ address->s6_addr[whole]) & mask) == 0;
}

bool serve_proxies_has(const serve_proxies *proxies, const struct in6_addr *address) {
    for (size_t i = 0; i < proxies->count; i++)
        if (is_within(&proxies->nets[i], address)) return true;
    return false;
}

/* One of the list, "1.2.3.4", "1.2.3.4:56", "::1" or "[::1]:56". */
static bool read_hop(struct in6_addr *out, const char *text, size_t length) {
    char hop[INET6_ADDRSTRLEN + 8];
    unsigned bits;
    while (length > 0 && strchr(" \t", text[length - 1])) length--;
    while (length > 0 && strchr(" \t", *text)) text++, length--;
    if (length == 0 || length >= sizeof hop) return false;
    memcpy(hop, text, length);
    hop[length] = '\0';
    char *colon = strchr(hop, ':'), *bracket = strchr(hop, ']');
    if (*hop == '[' && bracket) {
        *bracket = '\0';
        return read_address(out, &bits, hop + 1);
    }
    if (colon && !strchr(colon + 1, ':')) *colon = '\0';
    return read_address(out, &bits, hop);
}

bool serve_proxies_client(struct in6_addr *out, const serve_proxies *proxies,
                          const char *forwarded) {
    for (size_t end = strlen(forwarded); end > 0;) {
        size_t begin = end;
        while (begin > 0 && forwarded[begin - 1] != ',') begin--;
        if (!read_hop(out, forwarded + begin, end - begin)) return false;
        if (!serve_proxies_has(proxies, out)) return true;
        end = begin > 0 ? begin - 1 : 0;
    }
    return false;
}
