#include "vit/cluster/launched.h"
#include "vit/base/text.h"

#include <stddef.h>
#include <stdlib.h>

/* Open MPI's mpirun, MPICH's (and every other one that speaks PMI), Slurm's srun. */
static const char *const sizes[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS"};

int vit_launched_size(void) {
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        const char *text = getenv(sizes[i]);
        uint64_t size;
        if (text && vit_parse_u64(text, &size) && size > 1 && size <= 1 << 20) return (int)size;
    }
    return 1;
}
