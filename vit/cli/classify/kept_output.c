#include "vit/cli/classify/kept_output.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "vit/base/sys.h"

vit_status vit_output_keep(vit_kept_output *kept, vit_error *error) {
    *kept = (vit_kept_output){.file = tmpfile()};
    fflush(stdout);
    if (kept->file) kept->standard = dup(STDOUT_FILENO);
    if (kept->standard > 0 && dup2(fileno(kept->file), STDOUT_FILENO) >= 0) return VIT_OK;
    return vit_fail_errno(error, errno, "a temporary file for the answers");
}

vit_status vit_output_end_part(vit_kept_output *kept, uint64_t pictures, vit_error *error) {
    if (!VIT_MAKE_ROOM(kept->parts, kept->count, kept->room, "answers", error))
        return VIT_ERROR_MEMORY;
    const bool is_written = fflush(stdout) == 0;
    const off_t end = is_written ? lseek(fileno(kept->file), 0, SEEK_END) : -1;
    if (end < 0) return vit_fail_errno(error, errno, "the file that keeps a rank's answers");
    kept->parts[kept->count++] = (vit_output_part){(uint64_t)end, pictures};
    return VIT_OK;
}

void vit_output_restore(vit_kept_output *kept) {
    fflush(stdout);
    if (kept->standard > 0) dup2(kept->standard, STDOUT_FILENO);
    if (kept->file) rewind(kept->file);
}

/* The next part goes to standard output on rank 0, to rank 0 from the others. */
static vit_status give(vit_kept_output *kept, vit_cluster *cluster, vit_error *error) {
    const size_t i = kept->given++;
    uint64_t length = kept->parts[i].end - (i > 0 ? kept->parts[i - 1].end : 0);
    const size_t size = (size_t)length;
    char *text = size == length ? vit_alloc_unset(size + 1, 1) : NULL;
    if (!text) return vit_fail_memory(error, "answers", size);
    vit_status status = VIT_OK;
    if (fread(text, 1, size, kept->file) != size)
        status = vit_fail_errno(error, errno, "the file that keeps a rank's answers");
    if (status == VIT_OK && vit_cluster_rank(cluster) == 0) {
        fwrite(text, 1, size, stdout);
    } else if (status == VIT_OK) {
        status = vit_cluster_send(cluster, &length, sizeof length, 0, error);
        if (status == VIT_OK) status = vit_cluster_send(cluster, text, size, 0, error);
    }
    vit_free(text);
    return status;
}

/* Another rank's next part goes to standard output. */
static vit_status take(vit_cluster *cluster, int rank, vit_error *error) {
    uint64_t length;
    vit_status status = vit_cluster_receive(cluster, &length, sizeof length, rank, error);
    if (status != VIT_OK) return status;
    const size_t size = (size_t)length;
    char *text = size == length ? vit_alloc_unset(size + 1, 1) : NULL;
    if (!text) return vit_fail_memory(error, "a rank's answers", size);
    status = vit_cluster_receive(cluster, text, size, rank, error);
    if (status == VIT_OK) fwrite(text, 1, size, stdout);
    vit_free(text);
    return status;
}

/* all: [total][width], or NULL; own: this rank's rows. */
static vit_status take_all(vit_kept_output *kept, vit_cluster *cluster, const vit_deal *deal,
                           uint64_t total, float *all, const float *own, size_t width,
                           vit_error *error) {
    vit_status status = VIT_OK;
    for (uint64_t next = 0; next < total && status == VIT_OK;) {
        float *rows = all ? all + next * width : NULL;
        const uint64_t first = next;
        const int owner = vit_deal_owner(deal, &next);
        const size_t size = (size_t)(next - first) * width * sizeof *rows;
        status = owner > 0 ? take(cluster, owner, error) : give(kept, cluster, error);
        if (status != VIT_OK || !all) continue;
        if (owner > 0) {
            status = vit_cluster_receive(cluster, rows, size, owner, error);
        } else {
            memcpy(rows, own, size);
            own += size / sizeof *own;
        }
    }
    return status;
}

static vit_status give_all(vit_kept_output *kept, vit_cluster *cluster, const float *rows,
                           size_t width, vit_error *error) {
    vit_status status = VIT_OK;
    for (size_t i = 0; i < kept->count && status == VIT_OK; i++) {
        const size_t size = (size_t)kept->parts[i].pictures * width;
        status = give(kept, cluster, error);
        if (status != VIT_OK || !rows) continue;
        status = vit_cluster_send(cluster, rows, size * sizeof *rows, 0, error);
        rows += size;
    }
    return status;
}

vit_status vit_output_join(vit_kept_output *kept, vit_cluster *cluster, const vit_deal *deal,
                           uint64_t total, float **rows, size_t width, vit_error *error) {
    float *own = rows ? *rows : NULL, *all = NULL;
    if (vit_cluster_rank(cluster) > 0) return give_all(kept, cluster, own, width, error);
    if (rows && !(all = vit_alloc_unset((size_t)total, width * sizeof *all)))
        return vit_fail_memory(error, "the embeddings", (size_t)total * width * sizeof *all);
    const vit_status status = take_all(kept, cluster, deal, total, all, own, width, error);
    if (!rows) return status;
    vit_free(own);
    *rows = all;
    return status;
}

void vit_output_close(vit_kept_output *kept) {
    if (kept->standard > 0) close(kept->standard);
    if (kept->file) fclose(kept->file);
    vit_free(kept->parts);
}
