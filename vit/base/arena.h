/* Arenas: one allocation, carved from the front, given back all at once.
 *
 *     vit_arena arena;
 *     vit_arena_init(&arena, bytes, "a training slice", error);
 *     float *x = vit_arena_floats(&arena, rows * dim);   // NULL when it is full
 *     vit_arena_reset(&arena);                           // x is gone
 *     vit_arena_free(&arena);
 *
 * An arena that only counts (vit_arena_count) tells how much memory code will take from an arena:
 * run the code with it once, without using the pointers, which are NULL.
 */
#ifndef VIT_BASE_ARENA_H
#define VIT_BASE_ARENA_H

#include "vit/base/error.h"

/* Unused bytes between two takes in builds with AddressSanitizer, so that it reports writes past
 * the end of a take, which would otherwise overwrite the next one. */
#if defined(__SANITIZE_ADDRESS__)
#define VIT_ARENA_GAP ((size_t)64)
#else
#define VIT_ARENA_GAP ((size_t)0)
#endif

typedef struct vit_arena {
    unsigned char *base;
    size_t size, used, peak;
} vit_arena;

/* Allocates an arena of `bytes` bytes; messages call it `what`. Errors: MEMORY. */
vit_status vit_arena_init(vit_arena *arena, size_t bytes, const char *what, vit_error *error);
void vit_arena_free(vit_arena *arena);

/* An arena that only counts: vit_arena_take returns NULL and `peak` grows. */
vit_arena vit_arena_count(void);

/* Allocates an arena of the size that `carve` takes; calls it twice, first to count. */
vit_status vit_arena_fit(vit_arena *arena, void (*carve)(vit_arena *arena, void *context),
                         void *context, const char *what, vit_error *error);

/* `bytes` bytes aligned to 64, not cleared; NULL when counting or when they do not fit. */
void *vit_arena_take(vit_arena *arena, size_t bytes);
float *vit_arena_floats(vit_arena *arena, size_t count);

/* Everything that was taken is given back. */
void vit_arena_reset(vit_arena *arena);

#endif
