#include "vit/train/measure/labels.h"

#include <math.h>
#include <stdlib.h>

/* The highest score first. */
static int compare(const void *a, const void *b) {
    const float x = ((const vit_scored *)a)->score, y = ((const vit_scored *)b)->score;
    return (x < y) - (x > y);
}

double vit_average_precision(vit_scored *scored, size_t count) {
    size_t seen = 0;
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        if (isnan(scored[i].score)) return NAN;
    qsort(scored, count, sizeof *scored, compare);
    for (size_t i = 0; i < count;) {
        size_t equal = 0, first = i; /* scores that are equal are one threshold */
        for (; i < count && scored[i].score == scored[first].score; i++)
            equal += scored[i].is_positive;
        seen += equal;
        sum += (double)equal * (double)seen / (double)i;
    }
    return seen > 0 ? sum / (double)seen : NAN;
}

double vit_f1(size_t right, size_t answered, size_t images) {
    return answered + images > 0 ? 2 * (double)right / (double)(answered + images) : 0;
}
