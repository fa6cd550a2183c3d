#include "vit/cluster/deal.h"
#include "vit/base/sys.h"
#include "vit/cluster/inside.h"

/* A rank gets about this many chunks, of at most MOST numbers. */
enum { CHUNKS = 16, MOST = 64 };

/* What rank 0 knows of another rank. */
typedef struct player {
    vit_message asks, told; /* its request, and the answer to the last one */
    uint64_t first;         /* the answer: where its next chunk begins; count: there is none */
    uint8_t request;
    bool is_done;
} player;

struct vit_deal {
    vit_cluster *cluster;
    uint64_t count, chunk;
    uint64_t next;          /* rank 0: what is dealt next; others: the chunk that was asked for */
    int *owners;            /* [chunks] ranks, on rank 0 of all chunks; NULL: a process alone */
    player *players;        /* rank 0: [size] */
    vit_message asks, told; /* the others: their request and its answer */
    uint8_t request;
};

/* Where the chunk that begins at `first` ends. */
static uint64_t end_of(const vit_deal *d, uint64_t first) {
    return d->count - first < d->chunk ? d->count : first + d->chunk;
}

/* ---- rank 0 ---- */

static uint64_t deal_to(vit_deal *d, int rank) {
    const uint64_t first = d->next;
    if (first == d->count) return first;
    if (d->owners) d->owners[first / d->chunk] = rank;
    d->next = end_of(d, first);
    return first;
}

static vit_status listen_to(vit_deal *d, int rank, vit_error *error) {
    player *p = &d->players[rank];
    return vit_cluster_start_receive(d->cluster, &p->asks, &p->request, sizeof p->request, rank,
                                     error);
}

/* Answers the request of a rank, which has come. */
static vit_status answer(vit_deal *d, int rank, vit_error *error) {
    player *p = &d->players[rank];
    vit_status status = vit_cluster_wait(d->cluster, &p->told, rank, error);
    if (status != VIT_OK) return status;
    p->first = deal_to(d, rank);
    p->is_done = p->first == d->count;
    status = vit_cluster_start_send(d->cluster, &p->told, &p->first, sizeof p->first, rank, error);
    return status == VIT_OK && !p->is_done ? listen_to(d, rank, error) : status;
}

/* Answers the requests that have come. */
static vit_status serve(vit_deal *d, vit_error *error) {
    vit_status status = VIT_OK;
    for (int r = 1; r < vit_cluster_size(d->cluster) && status == VIT_OK; r++) {
        bool has_come = false;
        if (d->players[r].is_done) continue;
        if (!vit_wire_test(&d->players[r].asks, &has_come))
            return vit_cluster_fail(d->cluster, r, error);
        if (has_come) status = answer(d, r, error);
    }
    return status;
}

/* Tells every rank that there is no more. */
static vit_status dismiss(vit_deal *d, vit_error *error) {
    vit_status status = VIT_OK;
    for (int r = 1; r < vit_cluster_size(d->cluster) && status == VIT_OK; r++) {
        player *p = &d->players[r];
        while (status == VIT_OK && !p->is_done) {
            status = vit_cluster_wait(d->cluster, &p->asks, r, error);
            if (status == VIT_OK) status = answer(d, r, error);
        }
        if (status == VIT_OK) status = vit_cluster_wait(d->cluster, &p->told, r, error);
    }
    return status;
}

/* ---- the others ---- */

static vit_status ask(vit_deal *d, vit_error *error) {
    vit_status status = vit_cluster_wait(d->cluster, &d->asks, 0, error);
    if (status == VIT_OK)
        status =
            vit_cluster_start_receive(d->cluster, &d->told, &d->next, sizeof d->next, 0, error);
    return status == VIT_OK ? vit_cluster_start_send(d->cluster, &d->asks, &d->request,
                                                     sizeof d->request, 0, error)
                            : status;
}

/* ---- all ---- */

vit_status vit_deal_open(vit_deal **out, vit_cluster *cluster, uint64_t count, vit_error *error) {
    const size_t size = (size_t)vit_cluster_size(cluster);
    const uint64_t share = count / (size * CHUNKS);
    vit_deal *d = *out = vit_alloc(1, sizeof *d);
    if (!d) return vit_fail_memory(error, "chunks of pictures", sizeof *d);
    *d = (vit_deal){.cluster = cluster, .count = count, .chunk = count};
    vit_status status = VIT_OK;
    if (!cluster) return VIT_OK;
    d->chunk = share < 1 ? 1 : share > MOST ? MOST : share;
    const size_t chunks = (size_t)((count + d->chunk - 1) / d->chunk);
    d->owners = vit_alloc(chunks + 1, sizeof *d->owners);
    d->players = vit_alloc(size, sizeof *d->players);
    if (!d->owners || !d->players)
        status = vit_fail_memory(error, "chunks of pictures", chunks * sizeof *d->owners);
    else if (vit_cluster_rank(cluster) > 0)
        status = ask(d, error);
    else
        for (int r = 1; r < (int)size && status == VIT_OK; r++) status = listen_to(d, r, error);
    if (status == VIT_OK) return VIT_OK;
    vit_deal_close(d);
    *out = NULL;
    return status;
}

vit_status vit_deal_next(vit_deal *d, uint64_t *first, uint64_t *end, vit_error *error) {
    const double start = vit_clock();
    vit_status status = VIT_OK;
    if (vit_cluster_rank(d->cluster) == 0) {
        *first = deal_to(d, 0);
        if (d->cluster) status = *first == d->count ? dismiss(d, error) : serve(d, error);
    } else {
        status = vit_cluster_wait(d->cluster, &d->told, 0, error);
        *first = d->next;
        if (status == VIT_OK && *first < d->count) {
            d->owners[*first / d->chunk] = vit_cluster_rank(d->cluster);
            status = ask(d, error);
        }
    }
    *end = end_of(d, *first);
    if (d->cluster) vit_cluster_count(d->cluster, start);
    return status;
}

vit_status vit_deal_end(vit_deal *d, vit_status status, vit_error *error) {
    uint64_t first = 0, end = 1;
    vit_status ended = VIT_OK;
    vit_error second;
    if (status != VIT_OK) error = &second; /* the first stays */
    while (ended == VIT_OK && first < end) ended = vit_deal_next(d, &first, &end, error);
    if (ended == VIT_OK) ended = vit_cluster_wait(d->cluster, &d->asks, 0, error);
    return status != VIT_OK ? status : ended;
}

int vit_deal_owner(const vit_deal *d, uint64_t *first) {
    const int owner = d->owners[*first / d->chunk];
    *first = end_of(d, *first);
    return owner;
}

vit_status vit_deal_unite(const vit_deal *d, void *data, size_t size, vit_error *error) {
    const int rank = vit_cluster_rank(d->cluster);
    vit_status status = VIT_OK;
    if (!d->cluster) return VIT_OK;
    for (uint64_t next = 0; next < d->count && status == VIT_OK;) {
        char *chunk = (char *)data + next * size;
        const uint64_t first = next;
        const int owner = vit_deal_owner(d, &next);
        const size_t bytes = (size_t)(next - first) * size;
        if (owner == 0) continue;
        if (rank == 0)
            status = vit_cluster_receive(d->cluster, chunk, bytes, owner, error);
        else if (rank == owner)
            status = vit_cluster_send(d->cluster, chunk, bytes, 0, error);
    }
    if (status != VIT_OK) return status;
    return vit_cluster_broadcast(d->cluster, data, (size_t)d->count * size, error);
}

void vit_deal_close(vit_deal *d) {
    if (!d) return;
    vit_free(d->owners);
    vit_free(d->players);
    vit_free(d);
}
