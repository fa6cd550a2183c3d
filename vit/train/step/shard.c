#include "vit/train/step/shard.h"
#include "vit/base/sys.h"

/* A tensor belongs to the rank in whose share of all floats it begins. */
vit_status vit_shard_new(vit_shard *s, const vit_table *trained, vit_cluster *cluster,
                         vit_error *error) {
    const size_t ranks = (size_t)vit_cluster_size(cluster);
    const size_t rank = (size_t)vit_cluster_rank(cluster);
    const size_t first = trained->count > 0 ? trained->rows->offset : trained->size;
    *s = (vit_shard){.cluster = cluster, .end = trained->size};
    s->at = vit_alloc(ranks + 1, sizeof *s->at);
    if (!s->at) return vit_fail_memory(error, "the ranks' parts", (ranks + 1) * sizeof *s->at);
    for (size_t r = 0; r <= ranks; r++) s->at[r] = s->end * sizeof(float);
    for (size_t i = trained->count; i-- > 0;) {
        const size_t offset = trained->rows[i].offset;
        const size_t owner = (offset - first) * ranks / (s->end - first);
        for (size_t r = 0; r <= owner; r++) s->at[r] = offset * sizeof(float);
    }
    s->from = s->at[rank] / sizeof(float);
    s->to = s->at[rank + 1] / sizeof(float);
    return VIT_OK;
}

void vit_shard_free(vit_shard *s) {
    vit_free(s->at);
    *s = (vit_shard){0};
}

void vit_shard_drop(const vit_shard *s, float *array) {
    vit_clear(array, s->from * sizeof *array);
    vit_clear(array + s->to, (s->end - s->to) * sizeof *array);
}

vit_status vit_shard_share(const vit_shard *s, float *array, vit_error *error) {
    return vit_cluster_share(s->cluster, array, s->at, error);
}

vit_status vit_shard_gather(const vit_shard *s, float *array, vit_error *error) {
    return vit_cluster_gather(s->cluster, array, s->at, error);
}

vit_status vit_shard_deal(const vit_shard *s, float *array, vit_error *error) {
    const int rank = vit_cluster_rank(s->cluster), size = vit_cluster_size(s->cluster);
    char *bytes = (char *)array;
    vit_status status = VIT_OK;
    if (rank > 0)
        return vit_cluster_receive(s->cluster, bytes + s->at[rank], s->at[rank + 1] - s->at[rank],
                                   0, error);
    for (int r = 1; r < size && status == VIT_OK; r++)
        status = vit_cluster_send(s->cluster, bytes + s->at[r], s->at[r + 1] - s->at[r], r, error);
    return status;
}
