/* How mpirun, mpiexec and srun tell a process that it is one of several: by variables of the
 * environment. */
#ifndef VIT_CLUSTER_LAUNCHED_H
#define VIT_CLUSTER_LAUNCHED_H

/* How many processes were started together with this one, itself included; 1: it is alone. */
int vit_launched_size(void);

#endif
