/* A team: threads that share the tasks of one caller and sleep in between. It belongs to a session
 * or a trainer, so two of those have two teams, and when they are gone there are no threads.
 *
 * A thread that finds nothing to do looks again for some tens of microseconds, giving its processor
 * to whoever wants it, and then sleeps. The caller works on the tasks, too, and never waits for a
 * thread that has not begun: where other programs need the processors, it does the work alone.
 */
#ifndef VIT_BASE_TEAM_H
#define VIT_BASE_TEAM_H

#include "vit/base/error.h"

typedef struct vit_team vit_team;

/* `threads` with the caller. Fails with VIT_ERROR_MEMORY where the system has no room for a thread.
 */
vit_status vit_team_new(vit_team **out, int threads, vit_error *error);
void vit_team_free(vit_team *team); /* takes NULL */

/* Calls task(index, thread, context) once for every index < count, on at most `threads` threads of
 * the team, in any order; `thread` < threads is another one for each thread that takes part.
 * Returns when all are done. One caller at a time; a task does not use the team. */
typedef void vit_task(size_t index, int thread, void *context);
void vit_team_run(vit_team *team, int threads, size_t count, vit_task *task, void *context);

#endif
