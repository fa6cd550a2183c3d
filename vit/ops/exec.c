#include "vit/ops/exec.h"

/* Waking a thread costs some microseconds; so does this much work. */
#define WORTH_A_THREAD ((size_t)1 << 18)

/* Of each thread, and only while it is inside a session or a step of training. */
static _Thread_local vit_team *current;

vit_team *vit_parallel_use(vit_team *team) {
    vit_team *const before = current;
    current = team;
    return before;
}

void vit_parallel(int threads, size_t count, vit_task *task, void *context) {
    vit_team *team = current, *own = NULL;
    if (threads > 1 && (size_t)threads > count) threads = (int)count;
    if (threads > 1 && !team) vit_team_new(&own, threads, NULL); /* if not, one does it */
    if (threads <= 1 || (!team && !own)) {
        for (size_t i = 0; i < count; i++) task(i, 0, context);
        return;
    }
    current = NULL; /* a task that calls vit_parallel does not find a team at work */
    vit_team_run(team ? team : own, threads, count, task, context);
    current = team;
    vit_team_free(own);
}

int vit_exec_threads(const vit_exec *exec, size_t multiply_adds) {
    const size_t worth = multiply_adds / WORTH_A_THREAD;
    return worth < (size_t)exec->threads ? (worth > 0 ? (int)worth : 1) : exec->threads;
}
