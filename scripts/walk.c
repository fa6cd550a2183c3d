/* Loaded into a program that was compiled with -finstrument-functions: writes to descriptor 9 the
 * functions, in the order of their first calls, that run from call number WALK_NTH of the function
 * at WALK_FROM until it returns, but not below that at WALK_SKIP: depth and offset in the program,
 * a line each (scripts/walk). */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#define PLAIN __attribute__((no_instrument_function))

enum { MOST = 4096 };
static struct {
    void *function;
    int depth;
} seen[MOST];
static int count, calls, depth, begin, skipping;
static void *from, *skip;
static char *base;
static bool is_over;

PLAIN static void *address(const char *name) {
    return base + strtoul(getenv(name), NULL, 16);
}

PLAIN void __cyg_profile_func_enter(void *function, void *caller) {
    Dl_info about;
    (void)caller;
    if (!base && dladdr(function, &about)) {
        base = about.dli_fbase;
        from = address("WALK_FROM");
        skip = address("WALK_SKIP");
        calls = atoi(getenv("WALK_NTH"));
    }
    depth++;
    if (function == from && !begin && --calls == 0) begin = depth;
    if (!begin || is_over || skipping) return;
    if (function == skip) skipping = depth;
    for (int i = 0; i < count; i++)
        if (seen[i].function == function) return;
    if (count == MOST || skipping) return;
    seen[count].function = function;
    seen[count++].depth = depth - begin;
}

PLAIN void __cyg_profile_func_exit(void *function, void *caller) {
    (void)function, (void)caller;
    if (skipping == depth) skipping = 0;
    if (begin == depth) is_over = true;
    depth--;
}

PLAIN __attribute__((destructor)) static void write_all(void) {
    FILE *file = fdopen(9, "w");
    for (int i = 0; i < count && file; i++)
        fprintf(file, "%d %lx\n", seen[i].depth, (unsigned long)((char *)seen[i].function - base));
    if (file) fclose(file);
}
