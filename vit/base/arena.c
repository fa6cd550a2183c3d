#include "vit/base/arena.h"

#include "vit/base/sys.h"

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(begin, bytes) ((void)(begin), (void)(bytes))
#define ASAN_UNPOISON_MEMORY_REGION(begin, bytes) ((void)(begin), (void)(bytes))
#endif

enum { ALIGNMENT = 64 };

vit_status vit_arena_init(vit_arena *arena, size_t bytes, const char *what, vit_error *error) {
    *arena = (vit_arena){.base = vit_alloc_unset(bytes, 1), .size = bytes};
    if (!arena->base) {
        *arena = (vit_arena){0};
        return vit_fail_memory(error, what, bytes);
    }
    ASAN_POISON_MEMORY_REGION(arena->base, bytes);
    return VIT_OK;
}

void vit_arena_free(vit_arena *arena) {
    ASAN_UNPOISON_MEMORY_REGION(arena->base, arena->size);
    vit_free(arena->base);
    *arena = (vit_arena){0};
}

vit_arena vit_arena_count(void) {
    return (vit_arena){.size = SIZE_MAX};
}

vit_status vit_arena_fit(vit_arena *arena, void (*carve)(vit_arena *arena, void *context),
                         void *context, const char *what, vit_error *error) {
    vit_arena counted = vit_arena_count();
    carve(&counted, context);
    const vit_status status = vit_arena_init(arena, counted.peak, what, error);
    if (status == VIT_OK) carve(arena, context);
    return status;
}

void *vit_arena_take(vit_arena *arena, size_t bytes) {
    size_t padded = bytes + (ALIGNMENT - bytes % ALIGNMENT) % ALIGNMENT + VIT_ARENA_GAP;
    size_t left = arena->size - arena->used;
    if (bytes > left || padded < bytes) {
        /* What does not even fit a size_t must not count as little: no arena will be that large. */
        if (!arena->base && arena->size == SIZE_MAX) arena->peak = SIZE_MAX;
        return NULL;
    }
    unsigned char *taken = !arena->base ? NULL : arena->base + arena->used;
    arena->used = padded > left ? arena->size : arena->used + padded;
    if (taken) ASAN_UNPOISON_MEMORY_REGION(taken, bytes);
    if (arena->used > arena->peak) arena->peak = arena->used;
    return taken;
}

float *vit_arena_floats(vit_arena *arena, size_t count) {
    size_t bytes;
    if (!vit_multiply(count, sizeof(float), &bytes)) bytes = SIZE_MAX;
    return vit_arena_take(arena, bytes);
}

void vit_arena_reset(vit_arena *arena) {
    ASAN_POISON_MEMORY_REGION(arena->base, arena->used);
    arena->used = 0;
}
