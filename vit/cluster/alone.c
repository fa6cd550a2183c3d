/* One process alone, where the guest cluster is not built: no cluster is ever opened, and of NULL
 * everything is known. What only ranks among others do is not asked. */
#include "vit/base/fpmode.h"
#include "vit/base/sys.h"
#include "vit/cluster/deal.h"
#include "vit/cluster/launched.h"

const char *vit_cluster_kind(void) {
    return "";
}

vit_status vit_cluster_open(vit_cluster **out, vit_error *error) {
    VIT_ENTRY;
    *out = NULL;
    if (vit_launched_size() < 2) return VIT_OK;
    return vit_fail(error, VIT_ERROR_UNSUPPORTED,
                    "this is one of %d processes that were started together, but it was built "
                    "without MPI: build with make MPI=1, or start one process",
                    vit_launched_size());
}

void vit_cluster_close(vit_cluster *c, vit_status status) {
    (void)c, (void)status;
}

int vit_cluster_rank(const vit_cluster *c) {
    (void)c;
    return 0;
}

int vit_cluster_size(const vit_cluster *c) {
    (void)c;
    return 1;
}

int vit_cluster_sharing(const vit_cluster *c) {
    (void)c;
    return 1;
}

bool vit_cluster_one_machine(const vit_cluster *c) {
    (void)c;
    return true;
}

bool vit_cluster_reports(const vit_cluster *c) {
    (void)c;
    return true;
}

vit_traffic vit_cluster_traffic(const vit_cluster *c) {
    (void)c;
    return (vit_traffic){0};
}

vit_status vit_cluster_agree(vit_cluster *c, vit_status status, vit_error *error) {
    (void)c, (void)error;
    return status;
}

vit_status vit_cluster_follow(vit_cluster *c, vit_status status, vit_error *error) {
    (void)c, (void)error;
    return status;
}

vit_status vit_cluster_broadcast(vit_cluster *c, void *data, size_t bytes, vit_error *error) {
    (void)c, (void)data, (void)bytes, (void)error;
    return VIT_OK;
}

vit_status vit_cluster_sum(vit_cluster *c, double *values, size_t count, vit_error *error) {
    (void)c, (void)values, (void)count, (void)error;
    return VIT_OK;
}

vit_status vit_cluster_share(vit_cluster *c, void *data, const size_t *at, vit_error *error) {
    (void)c, (void)data, (void)at, (void)error;
    return VIT_OK;
}

vit_status vit_cluster_gather(vit_cluster *c, void *data, const size_t *at, vit_error *error) {
    return vit_cluster_share(c, data, at, error);
}

/* ---- everything is dealt to it ---- */

struct vit_deal {
    uint64_t next, count;
};

vit_status vit_deal_open(vit_deal **out, vit_cluster *cluster, uint64_t count, vit_error *error) {
    (void)cluster;
    *out = vit_alloc(1, sizeof **out);
    if (!*out) return vit_fail_memory(error, "chunks of pictures", sizeof **out);
    **out = (vit_deal){0, count};
    return VIT_OK;
}

vit_status vit_deal_next(vit_deal *d, uint64_t *first, uint64_t *end, vit_error *error) {
    (void)error;
    *first = d->next;
    *end = d->next = d->count;
    return VIT_OK;
}

vit_status vit_deal_end(vit_deal *d, vit_status status, vit_error *error) {
    (void)error;
    d->next = d->count;
    return status;
}

int vit_deal_owner(const vit_deal *d, uint64_t *first) {
    *first = d->count;
    return 0;
}

vit_status vit_deal_unite(const vit_deal *d, void *data, size_t size, vit_error *error) {
    (void)d, (void)data, (void)size, (void)error;
    return VIT_OK;
}

void vit_deal_close(vit_deal *d) {
    vit_free(d);
}

/* ---- what is asked of ranks alone ---- */

static vit_status nobody(vit_error *error) {
    return vit_fail(error, VIT_ERROR_UNSUPPORTED, "there are no other ranks");
}

void vit_cluster_computes(vit_cluster *c, bool computes) {
    (void)c, (void)computes;
}

const char *vit_cluster_name(const vit_cluster *c, int rank) {
    (void)c, (void)rank;
    return "rank 0";
}

vit_status vit_cluster_send(vit_cluster *c, const void *data, size_t bytes, int to,
                            vit_error *error) {
    (void)c, (void)data, (void)bytes, (void)to;
    return nobody(error);
}

vit_status vit_cluster_receive(vit_cluster *c, void *data, size_t bytes, int from,
                               vit_error *error) {
    (void)c, (void)data, (void)bytes, (void)from;
    return nobody(error);
}

vit_status vit_fold_new(vit_fold **out, vit_cluster *c, size_t count, int meet, bool bf16,
                        vit_error *error) {
    (void)c, (void)count, (void)meet, (void)bf16;
    *out = NULL;
    return nobody(error);
}

void vit_fold_free(vit_fold *fold) {
    (void)fold;
}

vit_status vit_fold_begin(vit_fold *fold, float *result, vit_fold_add *add, void *context,
                          vit_error *error) {
    (void)fold, (void)result, (void)add, (void)context;
    return nobody(error);
}

bool vit_fold_next(const vit_fold *fold, size_t *first) {
    (void)fold, (void)first;
    return false;
}

vit_status vit_fold_piece(vit_fold *fold, vit_error *error) {
    (void)fold;
    return nobody(error);
}

vit_status vit_fold_end(vit_fold *fold, vit_error *error) {
    (void)fold;
    return nobody(error);
}
