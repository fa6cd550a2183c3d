#include "vit/cli/parts/kept_output.h"

#include <errno.h>
#include <unistd.h>

#include "vit/base/sys.h"

FILE *vit_output_keep(void) {
    FILE *kept = tmpfile();
    fflush(stdout);
    if (kept && dup2(fileno(kept), STDOUT_FILENO) < 0) {
        fclose(kept);
        return NULL;
    }
    return kept;
}

vit_status vit_output_send(vit_cluster *cluster, FILE *kept, vit_error *error) {
    fflush(stdout);
    const off_t end = lseek(fileno(kept), 0, SEEK_END);
    uint64_t size = end > 0 ? (uint64_t)end : 0;
    char *text = vit_alloc_unset(size + 1, 1);
    if (!text) return vit_fail_memory(error, "answers", size);
    rewind(kept);
    vit_status status = VIT_OK;
    if (end < 0 || fread(text, 1, size, kept) != size)
        status = vit_fail_errno(error, errno, "the file that keeps a rank's answers");
    if (status == VIT_OK) status = vit_cluster_send(cluster, &size, sizeof size, 0, error);
    if (status == VIT_OK) status = vit_cluster_send(cluster, text, size, 0, error);
    vit_free(text);
    return status;
}

vit_status vit_output_take(vit_cluster *cluster, int rank, vit_error *error) {
    uint64_t size;
    vit_status status = vit_cluster_receive(cluster, &size, sizeof size, rank, error);
    if (status != VIT_OK) return status;
    char *text = vit_alloc_unset(size + 1, 1);
    if (!text) return vit_fail_memory(error, "a rank's answers", size);
    status = vit_cluster_receive(cluster, text, size, rank, error);
    if (status == VIT_OK) fwrite(text, 1, size, stdout);
    vit_free(text);
    return status;
}
