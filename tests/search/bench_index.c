/* How long a search takes, for scripts/bench-search: bench INDEX ROWS WIDTH THREADS. Makes an index
 * of random features, unless the file exists, and searches it 21 times. */
#include "vit/base/sys.h"
#include "vit/search/index.h"
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static uint64_t state = 1;
static float draw(void) {
    float sum = 0;
    for (int i = 0; i < 4; i++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        sum += (float)(state >> 40) / (1 << 24) - 0.5f;
    }
    return sum;
}

static int fail(const vit_error *error) {
    fprintf(stderr, "%s\n", error->message);
    return 1;
}

static int make(const char *path, size_t rows, size_t width) {
    enum { TOGETHER = 256 };
    const vit_index_about about = {width, "random", "random"};
    vit_index_picture pictures[TOGETHER];
    float *features = vit_alloc(TOGETHER * width, sizeof *features);
    vit_index_writer *w;
    vit_error error;
    if (vit_index_writer_open(&w, path, &about, &error) != VIT_OK) return fail(&error);
    for (size_t at = 0; at < rows; at += TOGETHER) {
        for (size_t i = 0; i < TOGETHER * width; i++) features[i] = draw();
        for (size_t i = 0; i < TOGETHER; i++)
            pictures[i] = (vit_index_picture){"a/name/of/a/picture.jpg", {0}, features + i * width};
        if (vit_index_writer_put(w, pictures, TOGETHER, NULL, 0, &error) != VIT_OK)
            return fail(&error);
    }
    vit_index_writer_close(w);
    vit_free(features);
    return 0;
}

static int compare(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int main(int argc, char **argv) {
    vit_index *index;
    vit_error error;
    vit_hit hits[10];
    size_t count;
    if (argc != 5) return 2;
    const size_t width = strtoul(argv[3], NULL, 10);
    const int threads = atoi(argv[4]);
    if (vit_path_look(argv[1]) != VIT_PATH_FILE &&
        make(argv[1], strtoul(argv[2], NULL, 10), width) != 0)
        return 1;
    double start = vit_clock();
    if (vit_index_open(&index, argv[1], &error) != VIT_OK) return fail(&error);
    printf("opened %zu pictures in %.1f ms\n", vit_index_pictures(index),
           (vit_clock() - start) * 1e3);
    float *query = vit_alloc(width, sizeof *query);
    enum { TURNS = 21 };
    double walls[TURNS], least = 1e9;
    for (int k = 0; k < TURNS; k++) {
        for (size_t i = 0; i < width; i++) query[i] = draw();
        const clock_t used = clock();
        start = vit_clock();
        if (vit_index_find(hits, &count, index, query, 10, threads, VIT_CPU_COUNT, &error) !=
            VIT_OK)
            return fail(&error);
        const double cpu = (double)(clock() - used) / CLOCKS_PER_SEC;
        walls[k] = vit_clock() - start;
        if (cpu < least) least = cpu;
    }
    qsort(walls, TURNS, sizeof *walls, compare);
    printf("searched in %.1f ms (median of %d), at best %.1f; %.1f ms of processor time\n",
           walls[TURNS / 2] * 1e3, TURNS, walls[0] * 1e3, least * 1e3);
    vit_free(query);
    vit_index_free(index);
    return 0;
}
