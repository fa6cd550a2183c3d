#include "vit/base/sys.h"
#include "vit/image/codec/codecs.h"

#include <string.h>

/* stb_image allocates through macros that have no argument for a context, so the budget of a call
 * is a thread-local variable. It is set and cleared within vit_stb_decode; nothing outlives the
 * call. */
static _Thread_local struct budget {
    size_t left;
    size_t refused;    /* the bytes that the system could not allocate; 0: none */
    bool is_overdrawn; /* more was wanted than the picture can need */
} budget;

/* Freed memory does not return to the budget, which is for all allocations together. */
static bool spend(size_t bytes) {
    if (bytes > budget.left) {
        budget.is_overdrawn = true;
        return false;
    }
    budget.left -= bytes;
    return true;
}

/* Zeroed, so that pixels which a file leaves undefined are the same every time. */
static void *allocate(size_t bytes) {
    if (!spend(bytes)) return NULL;
    void *memory = vit_alloc(bytes, 1);
    if (!memory) budget.refused = bytes;
    return memory;
}

static void *reallocate(void *old, size_t old_bytes, size_t bytes) {
    if (!old) return allocate(bytes);
    if (!spend(bytes)) return NULL;
    void *memory = vit_realloc(old, old_bytes, bytes, 1);
    if (!memory) budget.refused = bytes;
    return memory;
}

#define STB_IMAGE_IMPLEMENTATION
#define STB_IMAGE_STATIC
#define STBI_ONLY_PNG
#define STBI_NO_STDIO
#define STBI_NO_FAILURE_STRINGS /* one of them is a buffer that threads share */
#define STBI_MAX_DIMENSIONS 65535
#define STBI_ASSERT(condition) ((void)0) /* the library never aborts */
#define STBI_MALLOC(bytes) allocate(bytes)
#define STBI_REALLOC_SIZED(memory, old_bytes, bytes) reallocate(memory, old_bytes, bytes)
#define STBI_FREE(memory) vit_free(memory)

/* This warning is reported at the end of the file, so that it cannot be switched on again. */
#pragma GCC diagnostic ignored "-Wunused-function"
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wsign-conversion"
#pragma GCC diagnostic ignored "-Wshadow"
#pragma GCC diagnostic ignored "-Wsign-compare"
#pragma GCC diagnostic ignored "-Wunused-parameter"
#pragma GCC diagnostic ignored "-Wunused-but-set-variable"
#pragma GCC diagnostic ignored "-Wmissing-prototypes"
#pragma GCC diagnostic ignored "-Wpedantic"
#include <stb_image.h>
#pragma GCC diagnostic pop

vit_status vit_stb_decode(vit_image *out, const uint8_t *bytes, size_t size, size_t limit,
                          const char *name, vit_error *error) {
    int width = 0, height = 0, channels = 0;
    *out = (vit_image){0};
    budget = (struct budget){.left = limit};
    uint8_t *pixels = stbi_load_from_memory(bytes, (int)size, &width, &height, &channels, 0);
    struct budget end = budget;
    budget = (struct budget){0};
    if (end.refused || end.is_overdrawn) vit_free(pixels);
    if (end.refused) return vit_fail_memory(error, name, end.refused);
    if (end.is_overdrawn)
        return vit_fail(error, VIT_ERROR_FORMAT,
                        "%s: its data unpack to far more than the picture needs", name);
    if (!pixels)
        return vit_fail(error, VIT_ERROR_FORMAT, "%s: its compressed pixels are corrupt", name);
    *out = (vit_image){.pixels = pixels,
                       .width = (size_t)width,
                       .height = (size_t)height,
                       .channels = (size_t)channels};
    return VIT_OK;
}
