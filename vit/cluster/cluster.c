#include "vit/cluster/cluster.h"
#include "vit/base/cpu.h"
#include "vit/base/fpmode.h"
#include "vit/base/size.h"
#include "vit/base/sys.h"
#include "vit/cluster/inside.h"
#include "vit/cluster/watch.h"

#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define NAME_SIZE 96

struct vit_cluster {
    int rank, size;
    bool agreed; /* the ranks have agreed on an error */
    bool broken; /* a rank was lost */
    atomic_bool computes;
    double computed; /* vit_clock() when it last ceased to */
    char (*names)[NAME_SIZE];
    int sharing;      /* ranks with the processors of this one */
    vit_watch *watch; /* NULL: none */
    vit_traffic traffic;
    double *room; /* of vit_cluster_sum */
    size_t room_count;
};

const char *vit_cluster_kind(void) {
    return vit_wire_kind();
}

int vit_cluster_rank(const vit_cluster *c) {
    return c ? c->rank : 0;
}

int vit_cluster_size(const vit_cluster *c) {
    return c ? c->size : 1;
}

int vit_cluster_sharing(const vit_cluster *c) {
    return c ? c->sharing : 1;
}

bool vit_cluster_one_machine(const vit_cluster *c) {
    bool same = true;
    for (int r = 1; c && r < c->size; r++)
        same = same && strcmp(strchr(c->names[r], '('), strchr(c->names[0], '(')) == 0;
    return same;
}

const char *vit_cluster_name(const vit_cluster *c, int rank) {
    return c->names[rank];
}

vit_traffic vit_cluster_traffic(const vit_cluster *c) {
    return c ? c->traffic : (vit_traffic){0};
}

void vit_cluster_computes(vit_cluster *c, bool computes) {
    c->computed = vit_clock();
    atomic_store(&c->computes, computes);
}

bool vit_cluster_reports(const vit_cluster *c) {
    return !c || c->rank == 0 || !c->agreed;
}

/* ---- single messages ---- */

vit_status vit_cluster_fail(vit_cluster *c, int peer, vit_error *error) {
    const int lost = vit_watch_lost(c->watch);
    c->broken = true;
    return vit_fail(error, VIT_ERROR_IO,
                    "the connection to %s is lost: its process has ended, or its machine or the "
                    "network failed; the last checkpoint is whole, --resume goes on from it",
                    c->names[lost >= 0 ? lost : peer]);
}

/* Polls without a pause first, then with its processor offered to others, then with a nap. */
enum { SPINS = 200, YIELDS = 2000 };
static const double nap = 5e-5;

vit_status vit_cluster_wait(vit_cluster *c, vit_message *m, int peer, vit_error *error) {
    bool complete = *m == 0;
    for (size_t polls = 0; !complete; polls++) {
        if (vit_watch_lost(c->watch) >= 0 || !vit_wire_test(m, &complete))
            return vit_cluster_fail(c, peer, error);
        if (complete || (polls < SPINS && !c->computes)) continue;
        if (polls < SPINS + YIELDS && !c->computes)
            vit_yield();
        else
            vit_nap(nap);
    }
    return VIT_OK;
}

vit_status vit_cluster_start_send(vit_cluster *c, vit_message *m, const void *data, size_t bytes,
                                  int to, vit_error *error) {
    c->traffic.sent += bytes;
    if (c->computes) c->traffic.beside += bytes;
    return vit_wire_send(m, data, bytes, to) ? VIT_OK : vit_cluster_fail(c, to, error);
}

vit_status vit_cluster_start_receive(vit_cluster *c, vit_message *m, void *data, size_t bytes,
                                     int from, vit_error *error) {
    c->traffic.received += bytes;
    return vit_wire_receive(m, data, bytes, from) ? VIT_OK : vit_cluster_fail(c, from, error);
}

void vit_cluster_count(vit_cluster *c, double since) {
    if (!c->computes) c->traffic.seconds += vit_clock() - fmax(since, c->computed);
}

/* Sends and receives at the same time. */
static vit_status exchange(vit_cluster *c, const char *out, size_t out_bytes, int to, char *in,
                           size_t in_bytes, int from, vit_error *error) {
    vit_status status = VIT_OK;
    for (size_t at = 0; status == VIT_OK && at < vit_max(in_bytes, out_bytes);
         at += VIT_WIRE_MOST) {
        vit_message sending = 0, receiving = 0;
        if (at < in_bytes)
            status = vit_cluster_start_receive(c, &receiving, in + at,
                                               vit_min(in_bytes - at, VIT_WIRE_MOST), from, error);
        if (status == VIT_OK && at < out_bytes)
            status = vit_cluster_start_send(c, &sending, out + at,
                                            vit_min(out_bytes - at, VIT_WIRE_MOST), to, error);
        if (status == VIT_OK) status = vit_cluster_wait(c, &receiving, from, error);
        if (status == VIT_OK) status = vit_cluster_wait(c, &sending, to, error);
    }
    return status;
}

vit_status vit_cluster_send(vit_cluster *c, const void *data, size_t bytes, int to,
                            vit_error *error) {
    const double start = vit_clock();
    const vit_status status = exchange(c, data, bytes, to, NULL, 0, to, error);
    vit_cluster_count(c, start);
    return status;
}

vit_status vit_cluster_receive(vit_cluster *c, void *data, size_t bytes, int from,
                               vit_error *error) {
    const double start = vit_clock();
    const vit_status status = exchange(c, NULL, 0, from, data, bytes, from, error);
    vit_cluster_count(c, start);
    return status;
}

/* ---- all ranks ---- */

/* A binomial tree: rank r gets the data from r without its highest bit. */
vit_status vit_cluster_broadcast(vit_cluster *c, void *data, size_t bytes, vit_error *error) {
    vit_status status = VIT_OK;
    if (!c) return VIT_OK;
    int bit = 1;
    while (bit <= c->rank) bit <<= 1; /* above this rank's highest bit */
    if (c->rank > 0) status = vit_cluster_receive(c, data, bytes, c->rank - bit / 2, error);
    for (; status == VIT_OK && c->rank + bit < c->size; bit <<= 1)
        status = vit_cluster_send(c, data, bytes, c->rank + bit, error);
    return status;
}

static vit_status make_sum_room(vit_cluster *c, size_t count, vit_error *error) {
    if (count <= c->room_count) return VIT_OK;
    vit_free(c->room);
    c->room = vit_alloc(count, sizeof *c->room);
    c->room_count = c->room ? count : 0;
    return c->room ? VIT_OK : vit_fail_memory(error, "a sum over ranks", count * sizeof(double));
}

/* The same tree upwards, then the sum comes down. */
vit_status vit_cluster_sum(vit_cluster *c, double *values, size_t count, vit_error *error) {
    const size_t bytes = count * sizeof *values;
    if (!c) return VIT_OK;
    vit_status status = make_sum_room(c, count, error);
    int highest = 1;
    while (2 * highest < c->size) highest <<= 1;
    for (int bit = highest; status == VIT_OK && bit > 0 && c->rank < 2 * bit; bit >>= 1) {
        if (c->rank >= bit) {
            status = vit_cluster_send(c, values, bytes, c->rank - bit, error);
        } else if (c->rank + bit < c->size) {
            status = vit_cluster_receive(c, c->room, bytes, c->rank + bit, error);
            for (size_t i = 0; i < count; i++) values[i] += c->room[i];
        }
    }
    return status == VIT_OK ? vit_cluster_broadcast(c, values, bytes, error) : status;
}

vit_status vit_cluster_barrier(vit_cluster *c, vit_error *error) {
    double nothing = 0;
    return vit_cluster_sum(c, &nothing, 1, error);
}

vit_status vit_cluster_gather(vit_cluster *c, void *data, const size_t *at, vit_error *error) {
    char *bytes = data;
    vit_status status = VIT_OK;
    if (!c) return VIT_OK;
    if (c->rank > 0)
        return vit_cluster_send(c, bytes + at[c->rank], at[c->rank + 1] - at[c->rank], 0, error);
    for (int r = 1; r < c->size && status == VIT_OK; r++)
        status = vit_cluster_receive(c, bytes + at[r], at[r + 1] - at[r], r, error);
    return status;
}

/* A ring: in each round every rank hands on the block that it got in the one before. */
vit_status vit_cluster_share(vit_cluster *c, void *data, const size_t *at, vit_error *error) {
    char *bytes = data;
    vit_status status = VIT_OK;
    if (!c) return VIT_OK;
    const double start = vit_clock();
    const int to = (c->rank + 1) % c->size, from = (c->rank + c->size - 1) % c->size;
    for (int i = 0; i + 1 < c->size && status == VIT_OK; i++) {
        const int out = (c->rank + c->size - i) % c->size, in = (from + c->size - i) % c->size;
        status = exchange(c, bytes + at[out], at[out + 1] - at[out], to, bytes + at[in],
                          at[in + 1] - at[in], from, error);
    }
    vit_cluster_count(c, start);
    return status;
}

/* ---- agreement ---- */

typedef struct verdict {
    vit_status status;
    char message[sizeof((vit_error){0}.message)];
} verdict;

/* The verdict of rank `first`, for all. */
static vit_status take_verdict(vit_cluster *c, verdict *v, int first, vit_error *error) {
    vit_status status = VIT_OK;
    if (first > 0 && c->rank == first) status = vit_cluster_send(c, v, sizeof *v, 0, error);
    if (first > 0 && c->rank == 0) status = vit_cluster_receive(c, v, sizeof *v, first, error);
    return status == VIT_OK ? vit_cluster_broadcast(c, v, sizeof *v, error) : status;
}

vit_status vit_cluster_agree(vit_cluster *c, vit_status status, vit_error *error) {
    vit_error own;
    if (!c || c->broken || c->agreed) return status;
    double failed = status == VIT_OK ? 0 : 1;
    if (vit_cluster_sum(c, &failed, 1, &own) != VIT_OK)
        return status != VIT_OK ? status : vit_fail(error, own.status, "%s", own.message);
    if (!(failed > 0)) return VIT_OK;
    double *who = vit_alloc((size_t)c->size, sizeof *who);
    if (!who) return vit_fail_memory(error, "the ranks", (size_t)c->size * sizeof *who);
    who[c->rank] = status == VIT_OK ? 0 : 1;
    vit_status known = vit_cluster_sum(c, who, (size_t)c->size, &own);
    int first = 0;
    while (known == VIT_OK && first + 1 < c->size && !(who[first] > 0)) first++;
    vit_free(who);
    verdict v = {.status = status};
    if (status != VIT_OK && error) memcpy(v.message, error->message, sizeof v.message);
    if (known == VIT_OK) known = take_verdict(c, &v, first, &own);
    if (known != VIT_OK) return vit_fail(error, known, "%s", own.message);
    c->agreed = true;
    if ((int)failed == c->size) return vit_fail(error, v.status, "%s", v.message);
    return vit_fail(error, v.status, "%s: %s", c->names[first], v.message);
}

vit_status vit_cluster_follow(vit_cluster *c, vit_status status, vit_error *error) {
    vit_error own;
    verdict v = {.status = status};
    if (!c) return status;
    if (status != VIT_OK && error) memcpy(v.message, error->message, sizeof v.message);
    if (vit_cluster_broadcast(c, &v, sizeof v, &own) != VIT_OK)
        return vit_fail(error, own.status, "%s", own.message);
    return v.status == VIT_OK ? VIT_OK : vit_fail(error, v.status, "%s", v.message);
}

/* ---- the beginning and the end ---- */

/* c->sharing, from the hosts' names and the processors that each rank may use. */
static vit_status count_sharing(vit_cluster *c, size_t *at, vit_error *error) {
    uint64_t *places = vit_alloc((size_t)c->size, sizeof *places);
    if (!places) return vit_fail_memory(error, "the ranks", (size_t)c->size * sizeof *places);
    for (int r = 0; r <= c->size; r++) at[r] = (size_t)r * sizeof *places;
    places[c->rank] = vit_cpu_places();
    const vit_status status = vit_cluster_share(c, places, at, error);
    const char *host = strchr(c->names[c->rank], '(');
    for (int r = 0; r < c->size; r++)
        c->sharing += r == c->rank ||
                      (places[r] == places[c->rank] && strcmp(strchr(c->names[r], '('), host) == 0);
    vit_free(places);
    return status;
}

static vit_status name_ranks(vit_cluster *c, vit_error *error) {
    char host[NAME_SIZE / 2] = "?";
    size_t *at = vit_alloc((size_t)c->size + 1, sizeof *at);
    c->names = vit_alloc((size_t)c->size, sizeof *c->names);
    vit_status status = VIT_OK;
    if (!at || !c->names)
        status = vit_fail_memory(error, "the names of the ranks", (size_t)c->size * NAME_SIZE);
    gethostname(host, sizeof host - 1);
    for (int r = 0; r <= c->size && status == VIT_OK; r++) at[r] = (size_t)r * sizeof *c->names;
    for (int r = 0; r < c->size && status == VIT_OK; r++)
        snprintf(c->names[r], NAME_SIZE, "rank %d", r); /* until they are known */
    if (status == VIT_OK) {
        snprintf(c->names[c->rank], NAME_SIZE, "rank %d (%s)", c->rank, host);
        status = vit_cluster_share(c, c->names, at, error);
    }
    if (status == VIT_OK) status = count_sharing(c, at, error);
    vit_free(at);
    return status;
}

/* Where the ranks cannot connect beside MPI, there is no watch. */
static vit_status begin_watch(vit_cluster *c, vit_error *error) {
    vit_watch_place place;
    vit_watch *w = NULL;
    vit_error why;
    double failed = 0;
    if (c->rank == 0) failed = vit_watch_listen(&w, &place, c->size, &why) != VIT_OK;
    vit_status status = vit_cluster_broadcast(c, &place, sizeof place, error);
    if (status == VIT_OK && c->rank > 0)
        failed = vit_watch_join(&w, &place, c->rank, &why) != VIT_OK;
    else if (status == VIT_OK && failed < 1)
        failed = vit_watch_accept(w, &why) != VIT_OK;
    if (status == VIT_OK && failed < 1) failed = vit_watch_start(w, &why) != VIT_OK;
    if (status == VIT_OK) status = vit_cluster_sum(c, &failed, 1, error);
    if (status == VIT_OK && !(failed > 0))
        c->watch = w;
    else
        vit_watch_free(w);
    return status;
}

static void free_cluster(vit_cluster *c) {
    vit_watch_free(c->watch);
    vit_free(c->names);
    vit_free(c->room);
    vit_free(c);
}

vit_status vit_cluster_open(vit_cluster **out, vit_error *error) {
    VIT_ENTRY;
    int rank, size;
    *out = NULL;
    vit_status status = vit_wire_open(&rank, &size, error);
    if (status != VIT_OK || size == 1) return status;
    vit_cluster *c = vit_alloc(1, sizeof *c);
    if (!c) return vit_fail_memory(error, "the ranks", sizeof *c);
    *c = (vit_cluster){.rank = rank, .size = size};
    status = name_ranks(c, error);
    if (status == VIT_OK) status = begin_watch(c, error);
    if (status == VIT_OK)
        *out = c;
    else
        free_cluster(c);
    return status;
}

void vit_cluster_close(vit_cluster *c, vit_status status) {
    VIT_ENTRY;
    vit_error error;
    if (!c) return;
    if (c->broken || (status != VIT_OK && !c->agreed)) vit_wire_abort(1);
    bool all_are_there = vit_cluster_barrier(c, &error) == VIT_OK;
    vit_watch_leave(c->watch);
    all_are_there = all_are_there && vit_cluster_barrier(c, &error) == VIT_OK;
    if (!all_are_there) vit_wire_abort(1);
    free_cluster(c);
    vit_wire_close();
}
