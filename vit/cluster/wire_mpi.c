#include "vit/base/sys.h"
#include "vit/cluster/launched.h"
#include "vit/cluster/wire.h"

#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* MPI_Request is a pointer in Open MPI and a number in MPICH. */
_Static_assert(sizeof(MPI_Request) <= sizeof(vit_message), "a request fits a message");

#define TAG 7
#define SECONDS_TO_ABORT 10
#define SECONDS_TO_CLOSE 30

/* The first line of what the library says of itself, up to the second comma or the end: "Open MPI
 * v4.1.4, package: ..." and "MPICH Version:\t4.0.2\n...". */
const char *vit_wire_kind(void) {
#ifdef OMPI_MAJOR_VERSION
#define TEXT(x) #x
#define NUMBER(x) TEXT(x)
    return "Open MPI " NUMBER(OMPI_MAJOR_VERSION) "." NUMBER(OMPI_MINOR_VERSION) "." NUMBER(
        OMPI_RELEASE_VERSION);
#elif defined(MPICH_VERSION)
    return "MPICH " MPICH_VERSION;
#else
    return "MPI";
#endif
}

vit_status vit_wire_open(int *rank, int *size, vit_error *error) {
    int given;
    *rank = 0;
    *size = 1;
    if (vit_launched_size() < 2) return VIT_OK;
    if (MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &given) != MPI_SUCCESS ||
        given < MPI_THREAD_FUNNELED)
        return vit_fail(error, VIT_ERROR_UNSUPPORTED,
                        "MPI (%s) cannot be started in a process of several threads",
                        vit_wire_kind());
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_rank(MPI_COMM_WORLD, rank);
    MPI_Comm_size(MPI_COMM_WORLD, size);
    if (*size == vit_launched_size()) return VIT_OK;
    return vit_fail(error, VIT_ERROR_UNSUPPORTED,
                    "the launcher started %d processes, but %s, with which this program was built, "
                    "joins %d: start it with that MPI's mpirun, or with srun --mpi=pmix or pmi2",
                    vit_launched_size(), vit_wire_kind(), *size);
}

static volatile sig_atomic_t status_at_alarm;

static void leave(int signal) {
    (void)signal;
    _exit(status_at_alarm);
}

/* MPI's own calls at the end may wait for ever: after `seconds` the process ends without them. */
static void leave_after(unsigned seconds, int exit_status) {
    status_at_alarm = exit_status;
    fflush(NULL);
    signal(SIGALRM, leave);
    alarm(seconds);
}

/* MPICH 4.0 over UCX's TCP sometimes does not come out of MPI_Finalize. */
void vit_wire_close(void) {
    int begun = 0;
    MPI_Initialized(&begun);
    if (!begun) return;
    leave_after(SECONDS_TO_CLOSE, 0);
    MPI_Finalize();
    alarm(0);
}

/* The launcher ends this process, too; where the network is broken it cannot. */
void vit_wire_abort(int exit_status) {
    leave_after(SECONDS_TO_ABORT, exit_status);
    MPI_Abort(MPI_COMM_WORLD, exit_status);
    for (;;) vit_nap(.5);
}

static bool started(vit_message *out, int result, MPI_Request request) {
    *out = 0;
    memcpy(out, &request, sizeof request);
    return result == MPI_SUCCESS;
}

bool vit_wire_send(vit_message *out, const void *data, size_t bytes, int to) {
    MPI_Request request = MPI_REQUEST_NULL;
    const int result = MPI_Isend(data, (int)bytes, MPI_BYTE, to, TAG, MPI_COMM_WORLD, &request);
    return started(out, result, request);
}

bool vit_wire_receive(vit_message *out, void *data, size_t bytes, int from) {
    MPI_Request request = MPI_REQUEST_NULL;
    const int result = MPI_Irecv(data, (int)bytes, MPI_BYTE, from, TAG, MPI_COMM_WORLD, &request);
    return started(out, result, request);
}

bool vit_wire_test(vit_message *message, bool *complete) {
    MPI_Request request;
    int flag = 0;
    memcpy(&request, message, sizeof request);
    if (MPI_Test(&request, &flag, MPI_STATUS_IGNORE) != MPI_SUCCESS) return false;
    memcpy(message, &request, sizeof request);
    if (flag) *message = 0;
    *complete = flag != 0;
    return true;
}
